/* tests/support/kinds.h — allreduce algorithms that use the actions which no row of the registry
 * uses
 *
 * hub: REDUCE of many inputs, MULTICAST; network: NETWORK_REDUCE; shared: NOTIFY, AWAIT and
 * SHARED; swap: two ranks that overwrite what they send each other. `kinds` lists them.
 */
#ifndef COLL_TESTS_KINDS_H
#define COLL_TESTS_KINDS_H

#include "coll/plan.h"

/* Allreduce at a hub: rank 0 collects all vectors and adds them up in one pass. It sends one
 * half of the sum to each, the other to all at once, and the first element once more to each;
 * nothing may pass the other. */
static size_t hub_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? 3 * (plan->problem.p - (size_t)1) + 2 : 4;
}

static unsigned hub_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t n = plan->problem.count, half = n / 2, others = p - (size_t)1;
    const coll_ref sum = COLL_AT(COLL_OUT, 0);
    if (rank != 0 && s == 0)
        coll_act_send(out, 0, coll_input(plan), n);
    else if (rank != 0)
        coll_act_recv(out, 0, s == 2 ? sum + half : sum,
                      s == 1   ? half
                      : s == 2 ? n - half
                               : n > 0);
    else if (s < others)
        coll_act_recv(out, (uint32_t)s + 1, COLL_AT(COLL_SCRATCH, s * (n + 1)), n);
    else if (s == others && p == 1)
        coll_act_copy(out, sum, coll_input(plan), n);
    else if (s == others)
        coll_act_reduce(out, sum, coll_input(plan), COLL_AT(COLL_SCRATCH, 0), n);
    else if (s <= 2 * others)
        coll_act_send(out, (uint32_t)(s - others), sum, half);
    else if (s == 2 * others + 1)
        coll_act_multicast(out, sum + half, n - half);
    else
        coll_act_send(out, (uint32_t)(s - 2 * others - 1), sum, n > 0);
    if (out->kind == COLL_DO_REDUCE) {
        out->inputs = (uint16_t)others;
        out->stride = n + 1;
    }
    return 1;
}

static size_t hub_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? (plan->problem.p - (size_t)1) * (plan->problem.count + 1) : 0;
}

COLL_STATIC_ALGORITHM(hub, "hub", "", COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_MULTICAST,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, hub_steps, hub_step,
                      hub_scratch);

/* Allreduce by the network, the vector in two halves. */
static size_t fabric_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 2;
}

static unsigned fabric_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const size_t half = plan->problem.count / 2;
    (void)rank;
    coll_network_group all;
    all.number = COLL_GROUP_ALL;
    all.members = plan->problem.p;
    coll_act_network_reduce(out, all, COLL_AT(COLL_OUT, s * half), coll_input(plan) + s * half,
                            s == 0 ? half : plan->problem.count - half);
    return 1;
}

COLL_STATIC_ALGORITHM(in_network, "in_network", "", COLL_BIT(COLL_ALLREDUCE),
                      COLL_NEEDS_NETWORK_REDUCE,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, fabric_steps, fabric_step);

/* Allreduce in shared memory: each rank puts its vector there and tells rank 0, which adds them
 * up there and tells all. Block r of SHARED is rank r's, block p the sum. */
static size_t shared_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? 2 * (size_t)plan->problem.p + 1 : 4;
}

static unsigned shared_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t n = plan->problem.count;
    const coll_ref sum = COLL_AT(COLL_SHARED, p * n), mine = COLL_AT(COLL_SHARED, rank * n);
    if (s == 0) {
        coll_act_copy(out, mine, coll_input(plan), n);
    } else if (rank != 0) {
        if (s == 1)
            coll_act_notify(out, 0, mine, n);
        else if (s == 2)
            coll_act_await(out, 0, sum, n);
        else
            coll_act_copy(out, COLL_AT(COLL_OUT, 0), sum, n);
    } else if (s < p) {
        coll_act_await(out, (uint32_t)s, COLL_AT(COLL_SHARED, s * n), n);
    } else if (s == p && p > 1) {
        coll_act_reduce(out, sum, COLL_AT(COLL_SHARED, 0), COLL_AT(COLL_SHARED, n), n);
        out->inputs = (uint16_t)(p - 1);
        out->stride = n;
    } else if (s == p) {
        coll_act_copy(out, sum, mine, n);
    } else if (s < 2 * (size_t)p) {
        coll_act_notify(out, (uint32_t)(s - p), sum, n);
    } else {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), sum, n);
    }
    return 1;
}

static size_t shared_elements(const coll_plan *plan)
{
    return (plan->problem.p + (size_t)1) * plan->problem.count;
}

COLL_STATIC_ALGORITHM(shared, "shared", "", COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, shared_steps, shared_step,
                      NULL, NULL, shared_elements);

/* Two ranks swap what both then overwrite: with sends that wait for their receiver, each must
 * take the other's message before it may combine it. The second message waits for the first to
 * be combined. */
static size_t swap_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 2 ? 3 : 1;
}

static unsigned swap_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const size_t n = plan->problem.count, half = n / 2;
    const coll_ref sum = COLL_AT(COLL_OUT, 0);
    coll_act_copy(out, sum, coll_input(plan), n);
    if (s == 0)
        return 1;
    coll_act_send(out, 1 - rank, sum, half);
    coll_act_recv_reduce(out + 1, 1 - rank, sum, sum, COLL_AT(COLL_SCRATCH, 0), half);
    if (s == 2) {
        coll_act_send(out, 1 - rank, sum + half, n - half);
        coll_act_recv_reduce(out + 1, 1 - rank, sum + half, sum + half,
                             COLL_AT(COLL_SCRATCH, half), n - half);
    }
    out[1].flags = rank == 0 ? 0 : COLL_LEFT;
    return 2;
}

static size_t swap_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.count;
}

static coll_status swap_check(const coll_plan *plan)
{
    return plan->problem.p <= 2 ? COLL_OK : COLL_ERR_SHAPE;
}

COLL_STATIC_ALGORITHM(swap, "swap", "", COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
                      /* window */ 2, /* sends */ 1, COLL_NO_PARAMS, swap_steps, swap_step,
                      swap_scratch, swap_check);

static const coll_algorithm *const kinds[] = {&hub, &in_network, &shared, &swap};

/* The ranks with which each is tested: 1 … this. */
static inline uint32_t kinds_ranks(const coll_algorithm *kind)
{
    return kind == &swap ? 2 : 7;
}

enum { KINDS = sizeof kinds / sizeof kinds[0] };

#endif /* COLL_TESTS_KINDS_H */
