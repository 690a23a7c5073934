/* coll/algos/kit/sized_route.h — a route of blocks of different sizes, which each rank knows
 *
 *   coll_sized_route sized;
 *   sized.route = &route;                                // whole blocks that move
 *   sized.at = NULL;                                     // sizes first: a word for each block
 *   status = coll_plan_by_sizes(&plan, &words, &sized);
 *   … the plan runs; SCRATCH then holds the sizes of all blocks that passed this rank …
 *   status = coll_sized_route_offsets(&route, scratch, at);
 *   sized.at = at;
 *   status = coll_plan_by_sizes(&plan, &problem, &sized);  // the blocks themselves
 *
 * The two ends of a block know its size; a rank that it passes does not. But where a block stays
 * on its way, its size stays when sizes travel by the same route: each place of SCRATCH is written
 * once. So an exchange of one word a block tells each rank how long all messages will be, and
 * where in SCRATCH each block will lie. No block is padded.
 *
 * The moves are those of combining.h, and no place of SCRATCH is the target of two of them. A move
 * of several blocks from IN, or to OUT, needs tables in which these lie one behind the other:
 * routes of mesh_combining.h and node_combining.h have such moves, those of tuna.h have not.
 */
#ifndef COLL_ALGOS_KIT_SIZED_ROUTE_H
#define COLL_ALGOS_KIT_SIZED_ROUTE_H

#include "combining.h"

/* What a rank does with blocks whose sizes it knows. The caller's memory. */
typedef struct coll_sized_route {
    const coll_route *route; /* of this rank */
    /* Elements before each block of SCRATCH, and of all: route->scratch + 1 entries. NULL: every
     * block has as many as the problem's `count`. */
    const size_t *at;
} coll_sized_route;

COLL_INLINE const coll_sized_route *coll_i_sized(const coll_plan *plan)
{
    return (const coll_sized_route *)plan->inner;
}

/* Writes where each block begins: the sum of the sizes before it. COLL_ERR_OVERFLOW: more elements
 * than can be addressed. O(blocks). */
COLL_INLINE coll_status coll_sized_route_offsets(const coll_route *route, const uint64_t *sizes,
                                                 size_t *at)
{
    size_t sum = 0;
    at[0] = 0;
    for (uint32_t i = 0; i < route->scratch; i++) {
        if (sizes[i] > COLL_REF_LIMIT / 4 - sum)
            return COLL_ERR_OVERFLOW;
        sum += (size_t)sizes[i];
        at[i + 1] = sum;
    }
    return COLL_OK;
}

/* Where block i of a space begins. */
COLL_INLINE coll_ref coll_i_sized_ref(const coll_plan *plan, uint32_t place)
{
    const coll_sized_route *of = coll_i_sized(plan);
    const uint32_t i = place & 0x3fffffffu;
    switch ((coll_space)(place >> 30)) {
    case COLL_IN:
        return COLL_AT(COLL_IN, coll_in_block(plan, i).offset);
    case COLL_OUT:
        return COLL_AT(COLL_OUT, coll_out_block(plan, i).offset);
    default:
        return COLL_AT(COLL_SCRATCH, of->at ? of->at[i] : i * plan->problem.count);
    }
}

/* Elements of so many blocks. */
COLL_INLINE size_t coll_i_sized_count(const coll_plan *plan, uint32_t place, uint32_t blocks)
{
    const coll_sized_route *of = coll_i_sized(plan);
    const uint32_t first = place & 0x3fffffffu, last = first + blocks - 1;
    switch ((coll_space)(place >> 30)) {
    case COLL_IN:
        return coll_in_block(plan, last).offset + coll_in_block(plan, last).count -
               coll_in_block(plan, first).offset;
    case COLL_OUT:
        return coll_out_block(plan, last).offset + coll_out_block(plan, last).count -
               coll_out_block(plan, first).offset;
    default:
        return of->at ? of->at[last + 1] - of->at[first] : blocks * plan->problem.count;
    }
}

COLL_INLINE size_t coll_i_sized_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return (coll_i_sized(plan)->route->n + (size_t)COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_sized_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    const coll_route *route = coll_i_sized(plan)->route;
    unsigned n = 0;
    (void)rank;
    for (size_t i = s * COLL_STEP_MAX; n < COLL_STEP_MAX && i < route->n; i++) {
        const coll_move *move = &route->moves[i];
        const bool sends = move->dst == COLL_RANK_NONE, copies = move->peer == COLL_RANK_NONE;
        if (sends)
            coll_act_send(&out[n++], move->peer, coll_i_sized_ref(plan, move->src),
                          coll_i_sized_count(plan, move->src, move->blocks));
        else if (copies)
            coll_act_copy(&out[n++], coll_i_sized_ref(plan, move->dst),
                          coll_i_sized_ref(plan, move->src),
                          coll_i_sized_count(plan, move->src, move->blocks));
        else
            coll_act_recv(&out[n++], move->peer, coll_i_sized_ref(plan, move->dst),
                          coll_i_sized_count(plan, move->dst, move->blocks));
    }
    return n;
}

COLL_INLINE size_t coll_i_sized_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_sized_route *of = coll_i_sized(plan);
    (void)rank;
    return of->at ? of->at[of->route->scratch] : of->route->scratch * plan->problem.count;
}

COLL_ALGORITHM(coll_i_by_sizes, "sized_route", "",
    COLL_BIT(COLL_ALLTOALL) | COLL_PAIRED | COLL_NEIGHBORLY, /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sized_steps, coll_i_sized_step, coll_i_sized_scratch);

/* Makes a rank's plan of a sized route, which stays the caller's. COLL_ERR_ROUTE: it has none;
 * COLL_ERR_OVERFLOW: SCRATCH is more than the machine can address; else as coll_plan_init. */
COLL_INLINE coll_status coll_plan_by_sizes(coll_plan *plan, const coll_problem *problem,
                                           const coll_sized_route *sized)
{
    coll_status status;
    if (!plan || !problem || !sized)
        return COLL_ERR_NULL;
    if (!sized->route)
        return COLL_ERR_ROUTE;
    status = coll_plan_init(plan, &coll_i_by_sizes, problem, NULL);
    plan->inner = sized;
    return status == COLL_OK &&
                   !coll_i_addressable(coll_i_sized_scratch(plan, 0), problem->elem_bytes)
               ? COLL_ERR_OVERFLOW
               : status;
}

#endif /* COLL_ALGOS_KIT_SIZED_ROUTE_H */
