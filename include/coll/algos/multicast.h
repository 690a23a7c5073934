/* coll/algos/multicast.h — bcast, reduce, allreduce that end in one multicast by the network
 *
 * Many networks deliver one message to all ranks in about the time of one. So a broadcast is a
 * multicast, and an allreduce needs only a way up: straight to rank 0 (serial: everyone sends at
 * once, each to a slot of its own, and rank 0 combines them in rank order), or up an f-nomial
 * tree (fnomial_multicast). In a serial reduction, too, a multicast of an element ends the
 * collective: nobody leaves before the root has taken everything, so the slots are free for the
 * next.
 *
 *   p = 4, serial allreduce:   1 ──┐
 *                              2 ──┼─► 0  x0 ⊕ x1 ⊕ x2 ⊕ x3  ══►  1, 2, 3
 *                              3 ──┘
 *
 * Laws (tests/algos/multicast.c)
 *   (1) there is one multicast, the last message of all: the ranks that it comes to send nothing
 *       after it
 *   (2) in a serial reduction every other rank sends to the root once, and the root combines in
 *       rank order
 *   (3) in fnomial_multicast the messages before it are those of the f-nomial reduction to rank 0
 * Cost    bcast: one multicast, of `count` elements. serial: every other rank sends `count`
 *         elements to the root, which multicasts 1 element in a reduce, `count` in an allreduce;
 *         2 rounds. fnomial_multicast: every other rank sends `count` elements to its parent, in
 *         segments, and rank 0 multicasts as many; the tree's height ≤ ⌈log_f p⌉ and 1 rounds.
 *         scratch as of linear.h and kit/tree_walk.h, and 1 element of the others in a serial
 *         reduce
 * Source  Moody 2003, §3.2.1
 */
#ifndef COLL_ALGOS_MULTICAST_H
#define COLL_ALGOS_MULTICAST_H

#include "kit/derived.h"
#include "fnomial.h"
#include "linear.h"

/* ---- bcast ------------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_multicast_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 1;
}

COLL_INLINE unsigned coll_i_multicast_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_problem *of = &plan->problem;
    (void)s;
    if (rank != of->root) {
        coll_act_recv(out, of->root, COLL_AT(COLL_OUT, 0), of->count);
        return 1;
    }
    coll_act_multicast(&out[0], coll_input(plan), of->count);
    coll_act_copy(&out[1], COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), of->count);
    return coll_in_place(plan) ? 1 : 2;
}

COLL_ALGORITHM(coll_multicast_bcast, "multicast", "Moody 2003, section 2.1",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_MULTICAST | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_multicast_bcast_steps, coll_i_multicast_bcast_step);

/* ---- serial ------------------------------------------------------------------------------ */

COLL_TABLE(coll_param, coll_i_serial_params, {
    COLL_PARAM("slots", "messages that can wait at the root", 1, 65536, 65536, {3, 3, 3, 3})});

/* The linear reduction, and the multicast of the result, or of an element of it. */
COLL_INLINE size_t coll_i_serial_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_linear_reduce_steps(plan, rank) + 1;
}

COLL_INLINE unsigned coll_i_serial_step(const coll_plan *plan, uint32_t rank, size_t s,
                                        coll_action *out)
{
    const coll_problem *of = &plan->problem;
    const bool spreads = of->collective == COLL_ALLREDUCE;
    const size_t count = spreads || of->count == 0 ? of->count : 1;
    if (s < coll_i_linear_reduce_steps(plan, rank)) {
        const unsigned n = coll_i_linear_reduce_step(plan, rank, s, out);
        if (rank != of->root && spreads)
            out->src = coll_input(plan);
        return n;
    }
    if (rank == of->root)
        coll_act_multicast(out, COLL_AT(COLL_OUT, 0), count);
    else
        coll_act_recv(out, of->root, COLL_AT(spreads ? COLL_OUT : COLL_SCRATCH, 0), count);
    return 1;
}

COLL_INLINE size_t coll_i_serial_scratch(const coll_plan *plan, uint32_t rank)
{
    if (rank != plan->problem.root)
        return plan->problem.collective == COLL_REDUCE && plan->problem.count > 0 ? 1 : 0;
    return coll_i_linear_reduce_scratch(plan, rank);
}

COLL_ALGORITHM(coll_serial_reduce, "serial", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_MULTICAST | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_serial_params, coll_i_prepare_radix),
    coll_i_serial_steps, coll_i_serial_step, coll_i_serial_scratch, coll_i_linear_reduce_check);

COLL_ALGORITHM(coll_serial_allreduce, "serial", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_MULTICAST | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_serial_params, coll_i_prepare_radix),
    coll_i_serial_steps, coll_i_serial_step, coll_i_serial_scratch, coll_i_linear_reduce_check);

/* ---- fnomial_multicast ------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_fnomial_multicast_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_FNOMIAL, COLL_REDUCE, false, rank) + 1;
}

COLL_INLINE unsigned coll_i_fnomial_multicast_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const coll_ref result = COLL_AT(COLL_OUT, 0);
    if (s < coll_i_walk_steps(plan, COLL_I_FNOMIAL, COLL_REDUCE, false, rank))
        return coll_i_walk_step(plan, COLL_I_FNOMIAL, COLL_REDUCE, false, rank, s, out);
    if (rank == 0)
        coll_act_multicast(out, result, plan->problem.count);
    else
        coll_act_recv(out, 0, result, plan->problem.count);
    return 1;
}

COLL_INLINE size_t coll_i_fnomial_multicast_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_FNOMIAL, COLL_REDUCE, false, rank);
}

COLL_ALGORITHM(coll_fnomial_multicast_allreduce, "fnomial_multicast",
    "Moody 2003, sections 2.1, 3.2.3",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_MULTICAST | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_multicast_steps, coll_i_fnomial_multicast_step,
    coll_i_fnomial_multicast_scratch, coll_i_fnomial_check);

#endif /* COLL_ALGOS_MULTICAST_H */
