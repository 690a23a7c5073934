/* examples/04_freestanding.c — no operating system, no C library
 *
 * Four ranks in one thread over the loopback transport: a plan, a request for each rank, and
 * memory that is all static. On a machine of one's own, a network's transport takes the place
 * of loopback. Everything in this file compiles for bare metal; main returns 0 if the sums are
 * right.
 *
 *   cc -ffreestanding -Iinclude examples/04_freestanding.c -o 04 && ./04
 *   make firmware                    an image of it for each of three boards, among others
 *   examples/firmware/qemu.sh mps2 build/firmware/mps2-alone.elf
 */
#include "coll/algos/ring.h"
#include "coll/executor.h"
#include "coll/transports/loopback.h"

enum { P = 4, COUNT = 37, WINDOW = 8 };

/* An operator: dst = a + b, element by element. */
static void add(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    int32_t *to = (int32_t *)dst;
    const int32_t *x = (const int32_t *)a, *y = (const int32_t *)b;
    (void)arg;
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] + y[i];
}

static int32_t in[P][COUNT], out[P][COUNT];
static unsigned char world_memory[COLL_LOOPBACK_BYTES(P * WINDOW)];
static coll_slot slots[P][WINDOW];
static coll_engine engine[P];
static coll_task run[P];
static coll_loopback_rank end[P];

/* An allreduce of P ranks, from the plan to the last message. */
static coll_status allreduce(void)
{
    static const coll_op op = COLL_OP(add, NULL, true, true); /* commutative, exact */
    static coll_loopback world;
    coll_engine *requests[P];
    coll_problem problem;
    coll_plan plan;
    coll_status status;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, COUNT, sizeof in[0][0]);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL);
    if (status != COLL_OK)
        return status;
    status = coll_loopback_init(&world, P, P * WINDOW, world_memory, sizeof world_memory);
    for (uint32_t r = 0; r < P && status == COLL_OK; r++) {
        status = coll_loopback_attach(&world, r, &end[r]);
        run[r].plan = &plan;
        run[r].transport = &coll_loopback_transport;
        run[r].ctx = &end[r];
        run[r].op = &op;
        run[r].in = in[r];
        run[r].out = out[r];
        run[r].rank = r;
        requests[r] = &engine[r];
        if (status == COLL_OK)
            status = coll_engine_init(&engine[r], slots[r], WINDOW);
        if (status == COLL_OK)
            status = coll_engine_start(&engine[r], &run[r]);
    }
    return status == COLL_OK ? coll_loopback_run(&world, requests, P) : status;
}

int main(void)
{
    for (int32_t r = 0; r < P; r++)
        for (int32_t i = 0; i < COUNT; i++)
            in[r][i] = (r + 1) * (i - 9);
    if (allreduce() != COLL_OK)
        return 1;
    for (int32_t r = 0; r < P; r++)
        for (int32_t i = 0; i < COUNT; i++)
            if (out[r][i] != P * (P + 1) / 2 * (i - 9))
                return 1;
    return 0;
}
