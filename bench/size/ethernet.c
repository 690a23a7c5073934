/* bench/size/ethernet.c — what a board on an Ethernet has of the library: the transport, and with COLLECTIVES three collectives
 * with the in-order engine: a barrier, a broadcast by multicast, and an allreduce of f64 without floating point;
 * for bench/size.sh
 *
 * Memory for 8 boards, a collective at a time, messages of at most 256 bytes, of which two may come early.
 */
#define COLL_ETHERNET_MOST 256
#define COLL_ETHERNET_TAGS 1
#include "coll/transports/ethernet.h"
#if COLLECTIVES
#include "coll/algos/linear.h"
#include "coll/algos/multicast.h"
#include "coll/algos/ring.h"
#include "coll/executor/in_order.h"
#include "coll/reduce.h"
#endif

enum { BOARDS = 8, SLOTS = 2, OPS = SLOTS + BOARDS, EARLY = 2 };

coll_status coll_size_ethernet(const coll_ethernet_options *options, coll_transport const **to,
                               size_t count, const void *in, void *out);

static coll_ethernet eth;
static unsigned char memory[COLL_ETHERNET_BYTES(BOARDS, OPS, EARLY)];

#if COLLECTIVES
static coll_in_order engine;
static coll_outstanding slots[SLOTS];
static coll_plan plans[3]; /* barrier, broadcast, allreduce */

static coll_status make_plans(uint32_t p, size_t count)
{
    coll_problem problem;
    coll_status status;
    coll_problem_init(&problem, COLL_BARRIER, p, 0, 1);
    status = coll_plan_init(&plans[0], &coll_linear_barrier, &problem, NULL);
    coll_problem_init(&problem, COLL_BCAST, p, count, 8);
    if (status == COLL_OK)
        status = coll_plan_init(&plans[1], &coll_multicast_bcast, &problem, NULL);
    problem.collective = COLL_ALLREDUCE;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    if (status == COLL_OK)
        status = coll_plan_init(&plans[2], &coll_ring_allreduce, &problem, NULL);
    return status;
}

static coll_status run(const coll_plan *plan, uint32_t rank, const void *in, void *out)
{
    static const coll_op add = COLL_OP(coll_sum_f64, NULL, true, false);
    coll_task task;
    coll_status status;
    coll_task_init(&task, plan, rank, &coll_ethernet_transport, &eth);
    task.op = &add;
    task.in = in;
    task.out = out;
    (void)coll_in_order_init(&engine, slots, SLOTS);
    status = coll_in_order_start(&engine, &task);
    return status == COLL_OK ? coll_in_order_wait(&engine) : status;
}
#endif

coll_status coll_size_ethernet(const coll_ethernet_options *options, coll_transport const **to,
                               size_t count, const void *in, void *out)
{
    coll_status status = coll_ethernet_init(&eth, options, memory, sizeof memory);
    *to = &coll_ethernet_transport;
#if COLLECTIVES
    if (status == COLL_OK)
        status = make_plans(options->p, count);
    for (uint32_t i = 0; i < 3 && status == COLL_OK; i++)
        status = run(&plans[i], options->rank, in, out);
#else
    (void)count, (void)in, (void)out;
#endif
    while (status == COLL_OK && coll_ethernet_leave(&eth) == COLL_AGAIN)
        ;
    return status;
}
