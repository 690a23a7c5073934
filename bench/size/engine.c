/* bench/size/engine.c — instructions and stack of an engine, on a board of examples/firmware in QEMU; for
 * bench/size.sh
 *
 * One rank of four runs a ring over a transport that completes everything at once or, with LATER, at the
 * first test. IN_ORDER: the engine. QEMU is started with -icount shift=0: an instruction takes 1 ns.
 * Prints instructions an action, and bytes of stack of the deepest call.
 */
#include "coll/algos/ring.h"
#include "coll/executor.h"
#include "coll/executor/in_order.h"

#include "../../examples/firmware/board.h"

#ifndef LATER
#define LATER 0
#endif

enum { P = 4, COUNT = 64, WINDOW = 8, RUNS = 100 };

static coll_status put(void *ctx, uint32_t peer, uint32_t tag, const void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return LATER ? COLL_STARTED : COLL_OK;
}

static coll_status get(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return LATER ? COLL_STARTED : COLL_OK;
}

static coll_status test(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    return COLL_OK;
}

static void nothing(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)dst, (void)a, (void)b, (void)count, (void)arg;
}

#if IN_ORDER
static coll_in_order engine;
static coll_outstanding memory[2];
#define INIT  coll_in_order_init(&engine, memory, 2)
#define START coll_in_order_start
#define WAIT  coll_in_order_wait
#else
static coll_engine engine;
static coll_slot memory[WINDOW];
#define INIT  coll_engine_init(&engine, memory, WINDOW)
#define START coll_engine_start
#define WAIT  coll_engine_wait
#endif

int main(void)
{
    static const coll_transport transport = {.send = put, .recv = get, .test = test};
    static const coll_op op = COLL_OP(nothing, NULL, true, true);
    static int32_t in[COUNT], out[COUNT];
    static coll_plan plan;
    static coll_task task;
    coll_action acts[COLL_STEP_MAX];
    coll_problem problem;
    uint32_t actions = 0;
    uint64_t began;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, COUNT, sizeof in[0]);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    if (coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL) != COLL_OK ||
        INIT != COLL_OK)
        return 1;
    coll_task_init(&task, &plan, 0, &transport, NULL);
    task.op = &op;
    task.in = in;
    task.out = out;
    for (size_t s = 0; s < coll_plan_steps(&plan, 0); s++)
        actions += coll_plan_step(&plan, 0, s, acts);
    began = board_now();
    for (int i = 0; i < RUNS; i++)
        if (START(&engine, &task) != COLL_OK || WAIT(&engine) != COLL_OK)
            return 1;
    board_print_number(
        (uint32_t)((board_now() - began) * 1000 / (board_hz / 1000000) / (RUNS * actions)));
    board_print(" ");
    board_print_number(board_stack_used());
    board_print("\n");
    return 0;
}
