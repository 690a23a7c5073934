/* coll/plan/compose.h — plans made of plans: one after the other, side by side, on some of the
 * ranks
 *
 *   // allreduce = reduce to rank 0, then bcast from it (both plans of the same p ranks)
 *   coll_phase phases[2];
 *   coll_phase_init(&phases[0], &reduce);
 *   coll_phase_init(&phases[1], &bcast);                    // in place: its data is in OUT
 *   coll_composition both;
 *   coll_composition_init(&both, phases, 2);
 *   coll_plan plan;
 *   status = coll_plan_compose(&plan, &coll_sequence, &problem, &both);
 *
 * A phase is an inner plan placed in an outer one. Its rank map says which outer ranks are its
 * ranks; a rank that is none of them skips the phase. For each of its spaces, `base` says where
 * in the outer plan the space begins: an inner OUT may so be a half of the outer OUT, or a
 * piece of SCRATCH that a later phase has as IN.
 *
 *   coll_sequence     phase 0, then phase 1, …        A A A B B
 *   coll_interleave   a step of each phase in turn    A B A B A
 *   embedding         a phase, of either, whose map has fewer ranks than p
 *
 * In a sequence, program order makes later phases wait for what they need, and only for that;
 * barriers in it are passed one after the other. An interleaving keeps the links of several
 * independent phases busy at once, say of k allreduces of k pieces of the vector. Phases of an
 * interleaving on disjoint ranks may be anything. Phases that share ranks must keep in step, or
 * ranks wait for each other in a circle: the same algorithm, parameters, root and ranks (any
 * counts), and one that sends each message at a step not after the one at which it is received,
 * as rings and recursive doubling do. Both kinds are ordinary algorithms with random access, in
 * time linear in the number of phases, and may be inner plans themselves.
 *
 * SCRATCH of the phases begins at base[COLL_SCRATCH]. In a sequence all phases use it again; in
 * an interleaving each phase's begins where that of the phase before ends. What a caller keeps in
 * SCRATCH between phases lies below these bases.
 *
 * Phases, inner plans and the composition are the caller's, the same on all ranks, and unchanged
 * while the plan is used. What a composition computes is up to its author, and lab/verify.h proves
 * it: that IN and OUT of the phases lie inside of the outer ones, and that operands keep their
 * order. Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_PLAN_COMPOSE_H
#define COLL_PLAN_COMPOSE_H

#include "phase.h"

/* Compositions in compositions: so many levels at most, which bounds the stack. */
#define COLL_COMPOSE_DEPTH 4

COLL_INLINE bool coll_i_is_composed(const coll_plan *plan)
{
    return (plan->algorithm->traits & COLL_I_COMPOSES) != 0;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Elements of SCRATCH up to the end of what any phase uses. */
COLL_INLINE size_t coll_i_compose_scratch(const coll_plan *plan, uint32_t outer)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0, skip = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_phase *phase = &of->phases[i];
        const uint32_t rank = coll_i_phase_seat(phase, outer).rank;
        size_t need[COLL_SHARED];
        coll_extents extents;
        if (rank == COLL_RANK_NONE)
            continue;
        extents = coll_plan_extents(phase->plan, rank);
        need[COLL_IN] = extents.in;
        need[COLL_OUT] = extents.out;
        need[COLL_SCRATCH] = coll_plan_scratch(phase->plan, rank);
        for (unsigned space = 0; space < COLL_SHARED; space++) {
            const size_t end = coll_ref_offset(phase->base[space]) + need[space] +
                               (space == COLL_SCRATCH ? skip : 0);
            if (need[space] != 0 && coll_ref_space(phase->base[space]) == COLL_SCRATCH &&
                most < end)
                most = end;
        }
        if (plan->algorithm->traits & COLL_I_SIDE_BY_SIDE)
            skip += need[COLL_SCRATCH];
    }
    return most;
}

COLL_INLINE size_t coll_i_compose_shared(const coll_plan *plan)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t shared = coll_plan_shared(of->phases[i].plan);
        const size_t end = coll_ref_offset(of->phases[i].base[COLL_SHARED]) + shared;
        if (shared != 0 && most < end)
            most = end;
    }
    return most;
}

/* ---- who meets in the network ------------------------------------------------------------ */

/* Is a rank of a composition in a phase that meets by this number? No deeper than compositions
 * are. */
COLL_INLINE bool coll_i_compose_in_group(const coll_plan *plan, uint32_t group, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_phase *phase = &of->phases[i];
        const uint32_t seat = coll_i_phase_seat(phase, rank).rank;
        const bool meets = phase->group == group; /* whoever has no other number yet */
        if (seat == COLL_RANK_NONE)
            continue;
        if (coll_i_is_composed(phase->plan)
                ? coll_i_compose_in_group(phase->plan, group, seat) ||
                      (meets && coll_i_compose_in_group(phase->plan, COLL_GROUP_ALL, seat))
                : meets && (phase->plan->traits & COLL_I_NEEDS_GROUP))
            return true;
    }
    return false;
}

COLL_INLINE bool coll_i_compose_is_member(const void *of, uint32_t group, uint32_t outer)
{
    const coll_plan *plan = (const coll_plan *)of;
    const uint32_t rank = coll_group_rank(&plan->group, plan->problem.p, outer);
    return rank != COLL_RANK_NONE && coll_i_compose_in_group(plan, group, rank);
}

/* ---- kinds ------------------------------------------------------------------------------- */

#define COLL_I_ALL_COLLECTIVES (COLL_BIT(COLL_COLLECTIVES) - 1)

COLL_ALGORITHM(coll_sequence, "sequence", "one plan after the other",
    COLL_I_ALL_COLLECTIVES, COLL_I_COMPOSES,
    /* window, sends: see coll_plan_compose */ 1, 1, COLL_NO_PARAMS,
    coll_i_sequence_steps, coll_i_sequence_step, coll_i_compose_scratch, NULL,
    coll_i_compose_shared, coll_i_compose_is_member);

/* Every phase has as many turns as the longest one has steps; the turns of shorter ones are
 * empty at the end. */
COLL_INLINE size_t coll_i_interleave_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t steps = coll_i_phase_steps(&of->phases[i], rank);
        if (most < steps)
            most = steps;
    }
    return most * of->n;
}

COLL_INLINE unsigned coll_i_interleave_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const coll_composition *of = coll_i_composition(plan);
    const size_t turn = coll_i_phase_divide(s, &of->by_n);
    const uint32_t i = (uint32_t)(s - turn * of->n);
    size_t skip = 0;
    if (turn >= coll_i_phase_steps(&of->phases[i], rank))
        return 0;
    for (uint32_t k = 0; k < i; k++) {
        const uint32_t before = coll_i_phase_seat(&of->phases[k], rank).rank;
        if (before != COLL_RANK_NONE)
            skip += coll_plan_scratch(of->phases[k].plan, before);
    }
    return coll_i_phase_step(&of->phases[i], rank, turn, skip, out);
}

COLL_ALGORITHM(coll_interleave, "interleave", "a step of each plan in turn",
    COLL_I_ALL_COLLECTIVES, COLL_I_COMPOSES | COLL_I_SIDE_BY_SIDE,
    /* window, sends: see coll_plan_compose */ 1, 1, COLL_NO_PARAMS,
    coll_i_interleave_steps, coll_i_interleave_step, coll_i_compose_scratch, NULL,
    coll_i_compose_shared, coll_i_compose_is_member);

/* ---- composing --------------------------------------------------------------------------- */

/* Do the rank map and the bases of a phase fit the outer plan? */
COLL_INLINE coll_status coll_i_compose_check(const coll_phase *phase, const coll_plan *outer)
{
    const unsigned whole =
        COLL_NEEDS_MULTICAST | (phase->group == COLL_GROUP_ALL ? COLL_I_NEEDS_GROUP : 0);
    const coll_plan *plan = phase->plan;
    coll_status status;
    if (!plan || !plan->algorithm)
        return COLL_ERR_NULL;
    if (plan->problem.elem_bytes != outer->problem.elem_bytes)
        return COLL_ERR_TYPE;
    status = coll_i_rank_map_check(&phase->map, plan->problem.p, outer->problem.p);
    if (status != COLL_OK)
        return status;
    /* these reach all ranks of the transport, in their order */
    if ((plan->traits & whole) && (phase->map.group.table || phase->map.group.base != 0 ||
                                   plan->problem.p != outer->problem.p))
        return COLL_ERR_GROUP;
    if ((plan->traits & COLL_NEEDS_COMMUTATIVE) &&
        !(outer->problem.flags & COLL_FLAG_COMMUTATIVE))
        return COLL_ERR_ORDER;
    for (unsigned space = 0; space < COLL_SPACES; space++) {
        const coll_space at = coll_ref_space(phase->base[space]);
        if ((at == COLL_IN && space != COLL_IN) ||
            (at == COLL_SHARED) != (space == COLL_SHARED))
            return COLL_ERR_PARAM;
        if (!coll_i_addressable(coll_ref_offset(phase->base[space]), outer->problem.elem_bytes))
            return COLL_ERR_OVERFLOW;
    }
    return COLL_OK;
}

/* Makes *plan, by `kind` (coll_sequence or coll_interleave), from phases that together solve
 * `problem`, and fills in what `composition` and its phases say is set then. What the phases need
 * of an operator and of the transport the plan needs; it promises nothing, so add to plan->traits
 * what lab/verify.h found to hold.
 *
 * Its least window is, in a sequence, the largest one of its phases: actions enter a window in
 * order, so as long as one of a phase is still to enter, no later phase occupies a slot. An
 * interleaving gets the sum of its phases' windows, which is enough where the phases keep pace
 * with each other, as pieces of one pattern do; where lab/verify.h finds that it is not, or that
 * less is, say so by composition->window. Its sends in flight likewise.
 *
 * Errors: COLL_ERR_GROUP a phase's ranks, COLL_ERR_PARAM no phases, or a base in a space where it
 * cannot be (IN is never written; SHARED is SHARED), COLL_ERR_TYPE elements of another size,
 * COLL_ERR_ORDER, COLL_ERR_WINDOW above 32, COLL_ERR_SHAPE nested too deeply,
 * COLL_ERR_OVERFLOW, and those of coll_plan_init. */
COLL_INLINE coll_status coll_plan_compose(coll_plan *plan, const coll_algorithm *kind,
                                          const coll_problem *problem,
                                          coll_composition *composition)
{
    const bool beside = kind && (kind->traits & COLL_I_SIDE_BY_SIDE);
    uint32_t window;
    coll_status status;
    if (!composition || !composition->phases)
        return COLL_ERR_NULL;
    status = coll_plan_init(plan, kind, problem, NULL);
    if (status != COLL_OK)
        return status;
    if (!coll_i_is_composed(plan) || composition->n == 0)
        return COLL_ERR_PARAM;
    plan->traits = plan->window = plan->sends = 0;
    composition->depth = 1;
    composition->tokens = 0;
    for (uint32_t i = 0; i < composition->n; i++) {
        coll_phase *phase = &composition->phases[i];
        status = coll_i_compose_check(phase, plan);
        if (status != COLL_OK)
            return status;
        plan->traits |= phase->plan->traits & COLL_NEEDS_COUNTS;
        coll_i_phase_needs(plan, phase->plan, 1, beside);
        coll_i_phase_follow(composition, phase);
        if (coll_i_is_composed(phase->plan) &&
            composition->depth <= coll_i_composition(phase->plan)->depth)
            composition->depth = coll_i_composition(phase->plan)->depth + 1;
    }
    window = composition->window ? composition->window : plan->window;
    if (window > 32)
        return COLL_ERR_WINDOW;
    plan->window = (uint16_t)window;
    if (composition->depth > COLL_COMPOSE_DEPTH)
        return COLL_ERR_SHAPE;
    if (composition->tokens > COLL_REF_LIMIT / 4)
        return COLL_ERR_OVERFLOW;
    composition->by_n = coll_fast_divisor_of(composition->n);
    plan->inner = composition;
    return COLL_OK;
}

#endif /* COLL_PLAN_COMPOSE_H */
