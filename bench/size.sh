#!/bin/sh
# bench/size.sh — bytes of code of an allreduce on a microcontroller
#
#   bench/size.sh                     Cortex-M0+ and M4, -Os, arm-none-eabi-gcc
#   bench/size.sh CC FLAGS...         any other compiler
#
# One translation unit holds the executor, one algorithm, one operator, and a function that starts and
# progresses an allreduce; everything is linked at once, unused functions removed, nothing but the
# compiler's own runtime resolved. CSV on stdout, with and without the checks of requests and what only
# callers who block make use of (COLL_CHECKS and COLL_TRADES in config.h).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/allreduce.c" <<'C'
#include "coll/executor.h"
#include HEADER

extern coll_engine coll_size_request;
extern coll_slot coll_size_slots[8];

static void sum(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)dst)[i] = ((const int32_t *)a)[i] + ((const int32_t *)b)[i];
}

/* The caller's side: a plan for any p and count, run to its end. */
coll_status coll_size_allreduce(coll_plan *plan, coll_task *run, uint32_t p, size_t count)
{
    static const coll_op op = {sum, NULL, true, true};
    coll_problem problem;
    coll_status status;
    coll_problem_init(&problem, COLL_ALLREDUCE, p, count, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(plan, &ALGORITHM, &problem, NULL);
    if (status != COLL_OK)
        return status;
    run->plan = plan;
    run->op = &op;
    coll_engine_init(&coll_size_request, coll_size_slots, 8);
    status = coll_engine_start(&coll_size_request, run);
    return status == COLL_OK ? coll_engine_wait(&coll_size_request) : status;
}

/* The memory of a request with 8 slots. */
coll_engine coll_size_request;
coll_slot coll_size_slots[8];
C

# one LABEL ALGORITHM HEADER CC FLAGS...
one()
{
    label=$1 algorithm=$2 header=$3 checks=$4
    shift 4
    "$@" -std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections \
        -DCOLL_CHECKS="$checks" -DCOLL_TRADES="$checks" -DALGORITHM="$algorithm" -DHEADER="\"$header\"" -I"$here/../include" \
        -c "$work/allreduce.c" -o "$work/allreduce.o"
    "$@" -nostdlib -Wl,--gc-sections -Wl,-e,coll_size_allreduce -Wl,-u,coll_size_allreduce \
        "$work/allreduce.o" -lgcc -o "$work/allreduce.elf"
    set -- $("${SIZE:-$SIZE_DEFAULT}" "$work/allreduce.o" | tail -1) \
        $("${SIZE:-$SIZE_DEFAULT}" "$work/allreduce.elf" | tail -1)
    echo "$label,$algorithm,$checks,$1,$7,$2,$3"
}

echo "target,algorithm,checks,text_bytes,text_bytes_linked_with_runtime,data_bytes,bss_bytes_request_of_8_slots"
for pair in coll_recursive_doubling_allreduce:coll/algos/recursive_multiplying.h \
    coll_ring_allreduce:coll/algos/ring.h coll_fnomial_allreduce:coll/algos/fnomial.h; do
    algorithm=${pair%%:*} header=${pair#*:}
    if [ ! -f "$here/../include/$header" ]; then
        echo "size.sh: no $header" >&2
        exit 1
    fi
    for checks in 1 0; do
        if [ $# -gt 0 ]; then
            SIZE_DEFAULT=size
            one "$(basename "$1")" "$algorithm" "$header" "$checks" "$@"
            continue
        fi
        if ! command -v arm-none-eabi-gcc >/dev/null; then
            echo "size.sh: arm-none-eabi-gcc is missing; apt-get install gcc-arm-none-eabi" >&2
            exit 2
        fi
        SIZE_DEFAULT=arm-none-eabi-size
        for cpu in cortex-m0plus cortex-m4; do
            one "$cpu" "$algorithm" "$header" "$checks" arm-none-eabi-gcc -mcpu="$cpu" -mthumb
        done
    done
done
