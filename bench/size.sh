#!/bin/sh
# bench/size.sh — bytes of code of an allreduce on a microcontroller
#
#   bench/size.sh                     Cortex-M0+ and M4, -Os, arm-none-eabi-gcc
#   bench/size.sh CC FLAGS...         any other compiler
#
# One translation unit holds an engine of the executor, one algorithm, one operator, and a function that
# starts and progresses an allreduce; everything is linked at once, unused functions removed, nothing but
# the compiler's own runtime resolved. CSV on stdout: with the window engine (8 slots) and the in-order
# engine (one send in flight), with and without the checks of what is asked for (COLL_CHECKS in config.h).
# `bss` is what one running allreduce keeps: engine, plan and operations; the buffers are the caller's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/allreduce.c" <<'C'
#include HEADER
#if IN_ORDER
#include "coll/executor/in_order.h"
typedef coll_in_order engine_type;
#define MEMORY(memory) coll_outstanding memory[2]
#define INIT           coll_in_order_init(&coll_size_engine, coll_size_memory, 2)
#define START          coll_in_order_start
#define WAIT           coll_in_order_wait
#else
#include "coll/executor.h"
typedef coll_engine engine_type;
#define MEMORY(memory) coll_slot memory[8]
#define INIT           coll_engine_init(&coll_size_engine, coll_size_memory, 8)
#define START          coll_engine_start
#define WAIT           coll_engine_wait
#endif

extern engine_type coll_size_engine;
extern MEMORY(coll_size_memory);
extern coll_plan coll_size_plan;

static void sum(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)dst)[i] = ((const int32_t *)a)[i] + ((const int32_t *)b)[i];
}

/* The caller's side: a plan for any p and count, run to its end. */
coll_status coll_size_allreduce(coll_task *task, uint32_t p, size_t count)
{
    static const coll_op op = COLL_OP(sum, NULL, true, true);
    coll_problem problem;
    coll_status status;
    coll_problem_init(&problem, COLL_ALLREDUCE, p, count, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(&coll_size_plan, &ALGORITHM, &problem, NULL);
    if (status != COLL_OK)
        return status;
    task->plan = &coll_size_plan;
    task->op = &op;
    (void)INIT;
    status = START(&coll_size_engine, task);
    return status == COLL_OK ? WAIT(&coll_size_engine) : status;
}

engine_type coll_size_engine;
MEMORY(coll_size_memory);
coll_plan coll_size_plan;
C

# one LABEL ALGORITHM HEADER CC FLAGS...
one()
{
    label=$1 algorithm=$2 header=$3 checks=$4 engine=$5
    shift 5
    "$@" -std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections \
        -DCOLL_CHECKS="$checks" -DIN_ORDER="$([ "$engine" = in_order ] && echo 1 || echo 0)" -DALGORITHM="$algorithm" -DHEADER="\"$header\"" -I"$here/../include" \
        -c "$work/allreduce.c" -o "$work/allreduce.o"
    "$@" -nostdlib -Wl,--gc-sections -Wl,-e,coll_size_allreduce -Wl,-u,coll_size_allreduce \
        "$work/allreduce.o" -lgcc -o "$work/allreduce.elf"
    set -- $("${SIZE:-$SIZE_DEFAULT}" "$work/allreduce.o" | tail -1) \
        $("${SIZE:-$SIZE_DEFAULT}" "$work/allreduce.elf" | tail -1)
    echo "$label,$engine,$algorithm,$checks,$1,$7,$2,$3"
}

echo "target,engine,algorithm,checks,text_bytes,text_bytes_linked_with_runtime,data_bytes,bss_bytes"
for pair in coll_recursive_doubling_allreduce:coll/algos/recursive_multiplying.h \
    coll_ring_allreduce:coll/algos/ring.h coll_fnomial_allreduce:coll/algos/fnomial.h; do
    algorithm=${pair%%:*} header=${pair#*:}
    if [ ! -f "$here/../include/$header" ]; then
        echo "size.sh: no $header" >&2
        exit 1
    fi
    for engine in window in_order; do
        for checks in 1 0; do
            if [ $# -gt 0 ]; then
                SIZE_DEFAULT=size
                one "$(basename "$1")" "$algorithm" "$header" "$checks" "$engine" "$@"
                continue
            fi
            if ! command -v arm-none-eabi-gcc >/dev/null; then
                echo "size.sh: arm-none-eabi-gcc is missing; apt-get install gcc-arm-none-eabi" >&2
                exit 2
            fi
            SIZE_DEFAULT=arm-none-eabi-size
            for cpu in cortex-m0plus cortex-m4; do
                one "$cpu" "$algorithm" "$header" "$checks" "$engine" arm-none-eabi-gcc -mcpu="$cpu" -mthumb
            done
        done
    done
done
