/* bench/size/collective.c — instructions, stack and RAM of a collective on a board of examples/firmware in QEMU; for
 * bench/size.sh
 *
 * Of P ranks the one with the most actions runs ALGORITHM, of HEADER, for COLLECTIVE with the in-order engine, over
 * a transport that completes everything at the first test, without data. QEMU is started with -icount shift=0: an
 * instruction takes 1 ns. Prints actions; instructions of a call, of an action in it, and of a plan; bytes of stack
 * of the deepest call; and bytes that the caller keeps: engine, operations, plan and scratch.
 */
#ifndef HEADER
#define HEADER     "coll/algos/recursive_multiplying.h"
#define ALGORITHM  coll_recursive_doubling_allreduce
#define COLLECTIVE COLL_ALLREDUCE
#endif
#include HEADER

#include "coll/executor/in_order.h"

#include "../../examples/firmware/board.h"

enum { P = 8, COUNT = 16, RUNS = 200, OPS = 6, MOST = P * COUNT };

static coll_status put(void *ctx, uint32_t peer, uint32_t tag, const void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_STARTED;
}

static coll_status get(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_STARTED;
}

static coll_status test(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    return COLL_OK;
}

/* Copies and sums are not counted: their time is that of a loop, and DMA may do it. */
static coll_status copy(void *ctx, void *dst, const void *src, size_t bytes, coll_handle *h)
{
    (void)ctx, (void)dst, (void)src, (void)bytes, (void)h;
    return COLL_OK;
}

static void nothing(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)dst, (void)a, (void)b, (void)count, (void)arg;
}

static coll_plan plan;

static uint32_t actions_of(uint32_t rank)
{
    coll_action acts[COLL_STEP_MAX];
    uint32_t actions = 0;
    for (size_t s = 0; s < coll_plan_steps(&plan, rank); s++) {
        const unsigned n = coll_plan_step(&plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++)
            actions += acts[i].count != 0 ? 1 : 0;
    }
    return actions;
}

static uint32_t each(uint64_t began, uint32_t times)
{
    return (uint32_t)((board_now() - began) * 1000 / (board_hz / 1000000) / times);
}

static void say(uint32_t number)
{
    board_print_number(number);
    board_print(" ");
}

int main(void)
{
    static const coll_transport transport = {
        .send = put, .recv = get, .test = test, .copy = copy};
    static const coll_op op = COLL_OP(nothing, NULL, true, true);
    static int32_t in[MOST], out[MOST], scratch[4 * MOST];
    static coll_in_order engine;
    static coll_outstanding ops[OPS];
    coll_task task;
    coll_problem problem;
    uint32_t rank = 0, actions, call;
    size_t kept;
    uint64_t began;
    coll_problem_init(&problem, COLLECTIVE, P, COUNT, sizeof in[0]);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    if (coll_plan_init(&plan, &ALGORITHM, &problem, NULL) != COLL_OK)
        return 1;
    for (uint32_t r = 1; r < P; r++)
        if (actions_of(r) > actions_of(rank))
            rank = r;
    actions = actions_of(rank);
    coll_task_init(&task, &plan, rank, &transport, NULL);
    task.op = &op;
    task.in = in;
    task.out = out;
    task.scratch = scratch;
    task.scratch_bytes = sizeof scratch;
    kept = sizeof engine + (plan.sends + (size_t)1) * sizeof ops[0] + sizeof plan +
           coll_plan_scratch(&plan, rank) * sizeof scratch[0];
    if (coll_in_order_init(&engine, ops, OPS) != COLL_OK)
        return 1;
    began = board_now();
    for (int i = 0; i < RUNS; i++)
        if (coll_in_order_start(&engine, &task) != COLL_OK ||
            coll_in_order_wait(&engine) != COLL_OK)
            return 1;
    call = each(began, RUNS);
    say(actions);
    say(call);
    say(call / actions);
    began = board_now();
    for (int i = 0; i < RUNS; i++)
        if (coll_plan_init(&plan, &ALGORITHM, &problem, NULL) != COLL_OK)
            return 1;
    say(each(began, RUNS));
    say(board_stack_used());
    board_print_number((uint32_t)kept);
    board_print("\n");
    return 0;
}
