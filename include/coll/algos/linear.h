/* coll/algos/linear.h — barrier, bcast, reduce, allreduce: everyone with the root
 *
 * The root talks to every other rank itself, one after the other; the others talk to nobody
 * else. That is the fastest way among a few ranks, and the order of operands is plain: in a
 * reduction all others send at once, and the root adds ((x0 ⊕ x1) ⊕ x2) ⊕ …, in rank order,
 * whichever rank it is. Messages that arrive before their turn wait in `slots` staging slots,
 * used in turn. An allreduce is a reduction to rank 0 and a broadcast from it; a barrier is the
 * same without data.
 *
 *   p = 4, reduce to rank 1, own operand in IN (in place: A is in SCRATCH)
 *       rank 0 ──► A = x0         step 0
 *                  A = A ⊕ x1     step 1, its own
 *       rank 2 ──► A = A ⊕ x2     step 2
 *       rank 3 ──► A = A ⊕ x3     step 3
 *
 * Laws (tests/algos/linear.c)
 *   (1) every other rank sends to the root, or receives from it, exactly once
 *   (2) the root of a reduction takes operand i after operand i−1
 *   (3) operands i and i + slots share a staging slot, and no others do
 * Cost    p−1 messages of `count` elements, all of them at the root, in one round; allreduce,
 *         barrier: 2(p−1) in two. scratch at the root of a reduction: min(slots, p−1) vectors, in
 *         place above rank 0 one more
 * Source  Moody 2003, §3.2.1 (serial)
 */
#ifndef COLL_ALGOS_LINEAR_H
#define COLL_ALGOS_LINEAR_H

#include "../plan.h"
#include "kit/derived.h"

/* ---- bcast ------------------------------------------------------------------------------- */

/* The root has one step for each other rank, and one to copy to OUT what was in IN. */
COLL_INLINE size_t coll_i_linear_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    if (rank != plan->problem.root)
        return 1;
    return plan->problem.p - (size_t)1 + (coll_in_place(plan) ? 0 : 1);
}

COLL_INLINE unsigned coll_i_linear_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const coll_problem *of = &plan->problem;
    if (rank != of->root)
        coll_act_recv(out, of->root, COLL_AT(COLL_OUT, 0), of->count);
    else if (s < of->p - 1)
        coll_act_send(out, coll_mod_add(rank, (uint32_t)s + 1, of->p), coll_input(plan),
                      of->count);
    else
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), of->count);
    return 1;
}

COLL_ALGORITHM(coll_linear_bcast, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_bcast_steps, coll_i_linear_bcast_step);

/* ---- reduce ------------------------------------------------------------------------------ */

COLL_TABLE(coll_param, coll_i_linear_params, {
    COLL_PARAM("slots", "messages that can wait at the root", 1, 65536, 4, {4, 1, 3, 64})});

COLL_INLINE uint32_t coll_i_linear_slots(const coll_plan *plan)
{
    const uint32_t others = plan->problem.p - 1;
    return plan->param[0] < others ? plan->param[0] : others;
}

/* The staging slots, and an accumulator more, must fit the machine. */
COLL_INLINE coll_status coll_i_linear_reduce_check(const coll_plan *plan)
{
    return coll_i_vectors_check(plan, (size_t)coll_i_linear_slots(plan) + 1);
}

/* In place, the root must keep its own operand until those of the ranks below are summed, in
 * SCRATCH. */
COLL_INLINE bool coll_i_linear_apart(const coll_plan *plan)
{
    return coll_in_place(plan) && plan->problem.root > 0;
}

/* The root's step s takes operand s, but root 0 begins with operand 1 if there is one. */
COLL_INLINE uint32_t coll_i_linear_first(const coll_plan *plan)
{
    return plan->problem.root == 0 && plan->problem.p > 1 ? 1 : 0;
}

COLL_INLINE size_t coll_i_linear_reduce_steps(const coll_plan *plan, uint32_t rank)
{
    if (rank != plan->problem.root)
        return 1;
    return plan->problem.p - coll_i_linear_first(plan);
}

COLL_INLINE unsigned coll_i_linear_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const coll_problem *of = &plan->problem;
    if (rank != of->root) {
        coll_act_send(out, of->root, COLL_AT(COLL_IN, 0), of->count);
        return 1;
    }
    {
        const uint32_t i = (uint32_t)s + coll_i_linear_first(plan);
        const uint32_t turn = i == 0 ? 0 : i - 1; /* operand 0 is never staged */
        const uint32_t slot = turn - coll_divide(turn, &plan->radix) * plan->param[0];
        const bool apart = coll_i_linear_apart(plan);
        const coll_ref sum = COLL_AT(COLL_OUT, 0), input = coll_input(plan);
        const coll_ref below = apart ? COLL_AT(COLL_SCRATCH, 0) : sum;
        const coll_ref via =
            COLL_AT(COLL_SCRATCH, (slot + (apart ? (size_t)1 : 0)) * of->count);
        if (i > rank)
            coll_act_recv_reduce(out, i, sum, i == 1 ? input : sum, via, of->count);
        else if (i == rank && i > 0)
            coll_act_reduce(out, sum, below, input, of->count);
        else if (i == rank)
            coll_act_copy(out, sum, input, of->count);
        else if (i == 0)
            coll_act_recv(out, i, below, of->count);
        else
            coll_act_recv_reduce(out, i, below, below, via, of->count);
    }
    return 1;
}

COLL_INLINE size_t coll_i_linear_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    if (rank != plan->problem.root)
        return 0;
    return (coll_i_linear_slots(plan) + (coll_i_linear_apart(plan) ? (size_t)1 : 0)) *
           plan->problem.count;
}

COLL_ALGORITHM(coll_linear_reduce, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_REDUCE), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_linear_params, coll_i_prepare_radix),
    coll_i_linear_reduce_steps, coll_i_linear_reduce_step, coll_i_linear_reduce_scratch,
    coll_i_linear_reduce_check);

/* ---- allreduce: reduce to rank 0, then send the result to everyone ----------------------- */

COLL_INLINE size_t coll_i_linear_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return rank != 0 ? 2 : coll_i_linear_reduce_steps(plan, 0) + (plan->problem.p - (size_t)1);
}

COLL_INLINE unsigned coll_i_linear_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const size_t count = plan->problem.count;
    const coll_ref result = COLL_AT(COLL_OUT, 0);
    if (rank != 0 && s == 0)
        coll_act_send(out, 0, coll_input(plan), count);
    else if (rank != 0)
        coll_act_recv(out, 0, result, count);
    else {
        const size_t reducing = coll_i_linear_reduce_steps(plan, 0);
        if (s < reducing)
            return coll_i_linear_reduce_step(plan, 0, s, out);
        coll_act_send(out, (uint32_t)(s - reducing) + 1, result, count);
    }
    return 1;
}

COLL_ALGORITHM(coll_linear_allreduce, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_linear_params, coll_i_prepare_radix),
    coll_i_linear_allreduce_steps, coll_i_linear_allreduce_step, coll_i_linear_reduce_scratch,
    coll_i_linear_reduce_check);

/* ---- barrier: notifications to rank 0, then from it -------------------------------------- */

COLL_INLINE size_t coll_i_linear_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    return rank != 0 ? 2 : 2 * ((size_t)plan->problem.p - 1);
}

/* Token i at rank 0: rank i is there. Token 0 elsewhere: its own arrival, then the release. */
COLL_INLINE unsigned coll_i_linear_barrier_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    if (rank != 0 && s == 0)
        coll_act_notify(out, 0, token, 1);
    else if (rank != 0)
        coll_act_await(out, 0, token, 1);
    else if (s < p - 1)
        coll_act_await(out, (uint32_t)s + 1, token + s + 1, 1);
    else
        coll_act_notify(out, (uint32_t)(s - (p - 1)) + 1, token, p);
    return 1;
}

COLL_ALGORITHM(coll_linear_barrier, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_barrier_steps, coll_i_linear_barrier_step);

#endif /* COLL_ALGOS_LINEAR_H */
