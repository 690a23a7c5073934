/* examples/relay.h — a schedule of one's own: a broadcast whose root has a helper
 *
 * The root sends to the rank behind it first, its relay. Then both serve the others, the root every
 * second one and the relay those between, so neither sends more than half of the messages.
 *
 *   p = 7, ranks counted from the root:   0 ──► 1, 2, 4, 6      1 ──► 3, 5
 *
 * Laws (08_testing_a_schedule.c)
 *   (1) every rank but the root receives once, from the rank that sends to it
 *   (2) no rank sends more than (p + 1)/2 messages
 * Cost    p−1 messages of `count` elements, (p + 1)/2 rounds at the root; no scratch
 */
#ifndef COLL_EXAMPLES_RELAY_H
#define COLL_EXAMPLES_RELAY_H

#include "coll/plan.h"

/* The rank that comes so many behind the root. */
static inline uint32_t relay_rank(const coll_plan *plan, uint32_t behind)
{
    return coll_mod_add(plan->problem.root, behind, plan->problem.p);
}

static inline size_t relay_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    if (rank == plan->problem.root) /* it copies, and sends to the relay and to 2, 4, … */
        return (size_t)1 + (p > 1) + (p - 1) / 2;
    if (rank == relay_rank(plan, 1)) /* it receives, and sends to 3, 5, … */
        return p / 2;
    return 1;
}

static inline unsigned relay_step(const coll_plan *plan, uint32_t rank, size_t s,
                                  coll_action *out)
{
    const uint32_t root = plan->problem.root, relay = relay_rank(plan, 1);
    const uint32_t behind = coll_mod_sub(rank, root, plan->problem.p), i = (uint32_t)s;
    const coll_ref result = COLL_AT(COLL_OUT, 0);
    const size_t count = plan->problem.count;
    if (rank == root && s == 0)
        coll_act_copy(out, result, coll_input(plan), coll_in_place(plan) ? 0 : count);
    else if (rank == root)
        coll_act_send(out, relay_rank(plan, i == 1 ? 1 : 2 * (i - 1)), coll_input(plan), count);
    else if (s == 0)
        coll_act_recv(out, rank == relay || behind % 2 == 0 ? root : relay, result, count);
    else
        coll_act_send(out, relay_rank(plan, 2 * i + 1), result, count);
    return 1;
}

COLL_STATIC_ALGORITHM(relay_bcast, "relay", "this file", COLL_BIT(COLL_BCAST),
                      COLL_GIVES_IDENTICAL,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, relay_steps, relay_step);

#endif /* COLL_EXAMPLES_RELAY_H */
