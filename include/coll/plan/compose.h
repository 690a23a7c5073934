/* coll/plan/compose.h — plans made of plans: one after the other, side by side, on some of the
 * ranks
 *
 *   // allreduce = reduce to rank 0, then bcast from it (both plans of the same p ranks)
 *   coll_part parts[2];
 *   coll_part_init(&parts[0], &reduce);
 *   coll_part_init(&parts[1], &bcast);                      // in place: its data is in OUT
 *   coll_composition both;
 *   coll_composition_init(&both, parts, 2);
 *   coll_plan plan;
 *   status = coll_plan_compose(&plan, &coll_sequence, &problem, &both);
 *
 * A part is an inner plan placed in an outer one. Its group says which outer ranks are its
 * ranks; a rank that is none of them skips the part. For each of its spaces, `base` says where
 * in the outer plan the space begins: an inner OUT may so be a half of the outer OUT, or a
 * piece of SCRATCH that a later part has as IN.
 *
 *   coll_sequence     part 0, then part 1, …              A A A B B
 *   coll_interleave   a step of each part in turn         A B A B A
 *   embedding         a part, of either, whose group is smaller than p
 *
 * In a sequence, program order makes later parts wait for what they need, and only for that;
 * barriers in it are passed one after the other. An interleaving keeps the links of several
 * independent parts busy at once, say of k allreduces of k pieces of the vector. Parts of an
 * interleaving on disjoint groups may be anything. Parts that share ranks must keep in step, or
 * ranks wait for each other in a circle: the same algorithm, parameters, root and ranks (any
 * counts), and one that sends each message at a step not after the one at which it is received,
 * as rings and recursive doubling do. Both kinds are ordinary algorithms with random access, in
 * time linear in the number of parts, and may be parts themselves.
 *
 * SCRATCH of the parts begins at base[COLL_SCRATCH]. In a sequence all parts use it again; in
 * an interleaving each part's begins where that of the part before ends. What a caller keeps in
 * SCRATCH between parts lies below these bases.
 *
 * Parts, inner plans and the composition are the caller's, the same on all ranks, and unchanged
 * while the plan is used. What a composition computes is up to its author, and lab/verify.h proves
 * it: that IN and OUT of the parts lie inside of the outer ones, and that operands keep their
 * order. Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_PLAN_COMPOSE_H
#define COLL_PLAN_COMPOSE_H

#include "../plan.h"

/* Compositions in compositions: so many levels at most, which bounds the stack. */
#define COLL_COMPOSE_DEPTH 4

/* Private traits of the kinds of composition; their plans do not have them. */
enum { COLL_I_COMPOSES = 1 << 29, COLL_I_SIDE_BY_SIDE = 1 << 30 };

/* An inner plan placed in an outer one. More than one copy: that many groups, each `spacing` ranks
 * after the one before, run the part at once, each on its own data (the nodes of a machine). */
typedef struct coll_part {
    const coll_plan *plan;      /* its own group is not used */
    coll_group group;           /* of the first copy, in outer ranks; a table has an inverse */
    uint32_t copies, spacing;   /* a table has one copy */
    coll_ref base[COLL_SPACES]; /* where its spaces begin in the outer plan's */
    uint32_t team; /* number of the team that its ranks are, where they reduce in the network */
} coll_part;

typedef struct coll_composition {
    const coll_part *parts;
    uint32_t n;      /* how many */
    uint32_t window; /* least window; 0: that of the kind, see coll_plan_compose */
    /* set by coll_plan_compose */
    uint32_t depth;  /* 1, and more if parts are compositions */
    uint64_t tokens; /* at least as many as its barriers name */
    coll_fast_divisor by_n;
} coll_composition;

/* A part of all ranks, in order, whose spaces are those of the outer plan. Change what is
 * different. */
COLL_INLINE void coll_part_init(coll_part *part, const coll_plan *plan)
{
    part->plan = plan;
    coll_group_identity(&part->group);
    part->copies = 1;
    part->spacing = 0;
    part->team = COLL_TEAM_ALL;
    for (unsigned space = 0; space < COLL_SPACES; space++)
        part->base[space] = COLL_AT(space, 0);
}

COLL_INLINE void coll_composition_init(coll_composition *composition, const coll_part *parts,
                                       uint32_t n)
{
    composition->parts = parts;
    composition->n = n;
    composition->window = 0;
    composition->depth = 0;
    composition->tokens = 0;
    composition->by_n = coll_fast_divisor_of(1);
}

/* ---- ranks ------------------------------------------------------------------------------- */

/* Where an outer rank is in a part: in the copy that begins `shift` ranks on, with this inner
 * rank, or nowhere. */
typedef struct coll_i_seat {
    uint32_t rank; /* COLL_RANK_NONE: nowhere */
    uint32_t shift;
} coll_i_seat;

/* Ranks from the first to the last of a part's group. */
COLL_INLINE uint64_t coll_i_part_length(const coll_part *part)
{
    return (uint64_t)(part->plan->problem.p - 1) * part->group.stride + 1;
}

/* Copies lie one after the other, each as far on as a group is long or further, or side by
 * side, all of them between two ranks of a group: coll_i_part_group_check sees to that. */
COLL_INLINE coll_i_seat coll_i_part_seat(const coll_part *part, uint32_t outer)
{
    coll_i_seat seat;
    seat.shift = 0;
    if (part->copies > 1 && outer >= part->group.base) {
        const uint32_t at = outer - part->group.base;
        const bool side_by_side = part->spacing < coll_i_part_length(part);
        const uint32_t copy = (side_by_side ? at % part->group.stride : at) / part->spacing;
        seat.shift = (copy < part->copies ? copy : part->copies - 1) * part->spacing;
    }
    seat.rank = coll_group_rank(&part->group, part->plan->problem.p, outer - seat.shift);
    return seat;
}

COLL_INLINE coll_status coll_i_part_group_check(const coll_part *part, uint32_t outer_p)
{
    const coll_group *group = &part->group;
    const uint64_t shift = (uint64_t)(part->copies - 1) * part->spacing;
    if (part->copies == 0 || (group->table ? !group->inverse : group->stride == 0))
        return COLL_ERR_GROUP;
    if (part->copies == 1)
        return coll_group_check(group, part->plan->problem.p, outer_p);
    if (group->table || part->spacing == 0 || shift >= outer_p ||
        (part->spacing < coll_i_part_length(part) && shift >= group->stride))
        return COLL_ERR_GROUP;
    return coll_group_check(group, part->plan->problem.p, outer_p - (uint32_t)shift);
}

/* ---- steps ------------------------------------------------------------------------------- */

COLL_INLINE const coll_composition *coll_i_composition(const coll_plan *plan)
{
    return (const coll_composition *)plan->inner;
}

COLL_INLINE size_t coll_i_part_steps(const coll_part *part, uint32_t outer)
{
    const uint32_t rank = coll_i_part_seat(part, outer).rank;
    return rank == COLL_RANK_NONE ? 0 : coll_plan_steps(part->plan, rank);
}

COLL_INLINE size_t coll_i_part_scratch(const coll_part *part, uint32_t outer)
{
    const uint32_t rank = coll_i_part_seat(part, outer).rank;
    return rank == COLL_RANK_NONE ? 0 : coll_plan_scratch(part->plan, rank);
}

/* Tokens of SCRATCH that a part names, at most; only barriers name any. Known kinds of barrier
 * have one for each rank. */
COLL_INLINE uint64_t coll_i_part_tokens(const coll_part *part)
{
    if (part->plan->problem.collective != COLL_BARRIER)
        return 0;
    return part->plan->algorithm->traits & COLL_I_COMPOSES
               ? coll_i_composition(part->plan)->tokens
               : part->plan->problem.p;
}

/* Step s of a part in the words of the outer plan; the part's SCRATCH begins `skip` elements
 * behind its base. A barrier's notification also names all tokens below its own: those of the
 * barriers before it in a sequence, which so come first. */
COLL_INLINE unsigned coll_i_part_step(const coll_part *part, uint32_t outer, size_t s,
                                      size_t skip, coll_action *out)
{
    const coll_i_seat seat = coll_i_part_seat(part, outer);
    const unsigned n = coll_plan_step(part->plan, seat.rank, s, out);
    coll_ref base[COLL_SPACES];
    for (unsigned space = 0; space < COLL_SPACES; space++)
        base[space] = part->base[space];
    base[COLL_SCRATCH] += skip;
    for (unsigned i = 0; i < n; i++) {
        coll_action *a = &out[i];
        if (coll_i_has_peer(a))
            a->peer = coll_group_outer(&part->group, a->peer) + seat.shift;
        if (a->kind == COLL_DO_NETWORK_REDUCE && a->peer == COLL_TEAM_ALL)
            a->peer = part->team;
        coll_i_action_place(a, base);
        if (part->plan->problem.collective == COLL_BARRIER)
            coll_i_name_tokens(a, part->base[COLL_SCRATCH]);
    }
    return n;
}

/* Elements up to the end of what a part places in a space of the outer plan. */
COLL_INLINE size_t coll_i_part_reach(const coll_part *part, coll_space outer, coll_space inner,
                                     size_t elements)
{
    return elements != 0 && coll_ref_space(part->base[inner]) == outer
               ? coll_ref_offset(part->base[inner]) + elements
               : 0;
}

/* Elements of SCRATCH up to the end of what the part uses, its own SCRATCH beginning `skip`
 * behind its base. */
COLL_INLINE size_t coll_i_part_extent(const coll_part *part, uint32_t outer, size_t skip)
{
    const uint32_t rank = coll_i_part_seat(part, outer).rank;
    size_t in, out, own;
    coll_extents need;
    if (rank == COLL_RANK_NONE)
        return 0;
    need = coll_plan_extents(part->plan, rank);
    in = coll_i_part_reach(part, COLL_SCRATCH, COLL_IN, need.in);
    out = coll_i_part_reach(part, COLL_SCRATCH, COLL_OUT, need.out);
    own = coll_i_part_reach(part, COLL_SCRATCH, COLL_SCRATCH,
                            coll_plan_scratch(part->plan, rank));
    if (own != 0)
        own += skip;
    if (in < out)
        in = out;
    return in < own ? own : in;
}

COLL_INLINE size_t coll_i_composed_shared(const coll_plan *plan)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t reach = coll_i_part_reach(&of->parts[i], COLL_SHARED, COLL_SHARED,
                                               coll_plan_shared(of->parts[i].plan));
        if (most < reach)
            most = reach;
    }
    return most;
}

/* ---- who meets in the network ------------------------------------------------------------ */

COLL_INLINE bool coll_i_is_composed(const coll_plan *plan)
{
    return (plan->algorithm->traits & COLL_I_COMPOSES) != 0;
}

/* Is a rank of a composition in a part that meets by this number? No deeper than compositions are. */
COLL_INLINE bool coll_i_composed_in_team(const coll_plan *plan, uint32_t team, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_part *part = &of->parts[i];
        const uint32_t seat = coll_i_part_seat(part, rank).rank;
        const bool meets = part->team == team; /* whoever has no other number yet */
        if (seat == COLL_RANK_NONE)
            continue;
        if (coll_i_is_composed(part->plan)
                ? coll_i_composed_in_team(part->plan, team, seat) ||
                      (meets && coll_i_composed_in_team(part->plan, COLL_TEAM_ALL, seat))
                : meets && (part->plan->traits & COLL_I_NEEDS_TEAM))
            return true;
    }
    return false;
}

COLL_INLINE bool coll_i_composed_is_member(const void *of, uint32_t team, uint32_t outer)
{
    const coll_plan *plan = (const coll_plan *)of;
    const uint32_t rank = coll_group_rank(&plan->group, plan->problem.p, outer);
    return rank != COLL_RANK_NONE && coll_i_composed_in_team(plan, team, rank);
}

/* ---- sequence ---------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_sequence_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t steps = 0;
    for (uint32_t i = 0; i < of->n; i++)
        steps += coll_i_part_steps(&of->parts[i], rank);
    return steps;
}

COLL_INLINE unsigned coll_i_sequence_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          coll_action *out)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t tokens = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_part *part = &of->parts[i];
        const bool barrier = part->plan->problem.collective == COLL_BARRIER;
        const size_t steps = coll_i_part_steps(part, rank);
        if (s < steps)
            return coll_i_part_step(part, rank, s, barrier ? tokens : 0, out);
        s -= steps;
        tokens += (size_t)coll_i_part_tokens(part);
    }
    return 0;
}

COLL_INLINE size_t coll_i_sequence_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t extent = coll_i_part_extent(&of->parts[i], rank, 0);
        if (most < extent)
            most = extent;
    }
    return most;
}

#define COLL_I_ALL_COLLECTIVES (COLL_BIT(COLL_COLLECTIVES) - 1)

COLL_ALGORITHM(coll_sequence, "sequence", "one plan after the other",
    COLL_I_ALL_COLLECTIVES, COLL_I_COMPOSES,
    /* window, sends: see coll_plan_compose */ 1, 1, COLL_NO_PARAMS,
    coll_i_sequence_steps, coll_i_sequence_step, coll_i_sequence_scratch, NULL,
    coll_i_composed_shared, coll_i_composed_is_member);

/* ---- interleaving ------------------------------------------------------------------------ */

/* Every part has as many turns as the longest one has steps; the turns of shorter ones are
 * empty at the end. */
COLL_INLINE size_t coll_i_interleave_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t steps = coll_i_part_steps(&of->parts[i], rank);
        if (most < steps)
            most = steps;
    }
    return most * of->n;
}

COLL_INLINE unsigned coll_i_interleave_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const coll_composition *of = coll_i_composition(plan);
    const size_t turn = s <= UINT32_MAX ? coll_divide((uint32_t)s, &of->by_n) : s / of->n;
    const uint32_t i = (uint32_t)(s - turn * of->n);
    size_t skip = 0;
    if (turn >= coll_i_part_steps(&of->parts[i], rank))
        return 0;
    for (uint32_t k = 0; k < i; k++)
        skip += coll_i_part_scratch(&of->parts[k], rank);
    return coll_i_part_step(&of->parts[i], rank, turn, skip, out);
}

COLL_INLINE size_t coll_i_interleave_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    size_t most = 0, skip = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t extent = coll_i_part_extent(&of->parts[i], rank, skip);
        if (most < extent)
            most = extent;
        skip += coll_i_part_scratch(&of->parts[i], rank);
    }
    return most;
}

COLL_ALGORITHM(coll_interleave, "interleave", "a step of each plan in turn",
    COLL_I_ALL_COLLECTIVES, COLL_I_COMPOSES | COLL_I_SIDE_BY_SIDE,
    /* window, sends: see coll_plan_compose */ 1, 1, COLL_NO_PARAMS,
    coll_i_interleave_steps, coll_i_interleave_step, coll_i_interleave_scratch, NULL,
    coll_i_composed_shared, coll_i_composed_is_member);

/* ---- composing --------------------------------------------------------------------------- */

/* Do the group and the bases of a part fit the outer plan? */
COLL_INLINE coll_status coll_i_part_check(const coll_part *part, const coll_plan *outer)
{
    const unsigned whole =
        COLL_NEEDS_MULTICAST | (part->team == COLL_TEAM_ALL ? COLL_I_NEEDS_TEAM : 0);
    const coll_plan *plan = part->plan;
    coll_status status;
    if (!plan || !plan->algorithm)
        return COLL_ERR_NULL;
    if (plan->problem.elem_bytes != outer->problem.elem_bytes)
        return COLL_ERR_TYPE;
    status = coll_i_part_group_check(part, outer->problem.p);
    if (status != COLL_OK)
        return status;
    /* these reach all ranks of the transport, in their order */
    if ((plan->traits & whole) &&
        (part->group.table || part->group.base != 0 || plan->problem.p != outer->problem.p))
        return COLL_ERR_GROUP;
    if ((plan->traits & COLL_NEEDS_COMMUTATIVE) &&
        !(outer->problem.flags & COLL_FLAG_COMMUTATIVE))
        return COLL_ERR_ORDER;
    for (unsigned space = 0; space < COLL_SPACES; space++) {
        const coll_space at = coll_ref_space(part->base[space]);
        if ((at == COLL_IN && space != COLL_IN) ||
            (at == COLL_SHARED) != (space == COLL_SHARED))
            return COLL_ERR_PARAM;
        if (!coll_i_addressable(coll_ref_offset(part->base[space]), outer->problem.elem_bytes))
            return COLL_ERR_OVERFLOW;
    }
    return COLL_OK;
}

/* Makes *plan, by `kind` (coll_sequence or coll_interleave), from parts that together solve
 * `problem`, and fills in composition->depth. What the parts need of an operator and of the
 * transport the plan needs; it promises nothing, so add to plan->traits what lab/verify.h found to
 * hold.
 *
 * Its least window is, in a sequence, the largest one of its parts: actions enter a window in
 * order, so as long as one of a part is still to enter, no later part occupies a slot. An
 * interleaving gets the sum of its parts' windows, which is enough where the parts keep pace
 * with each other, as pieces of one pattern do; where lab/verify.h finds that it is not, or that
 * less is, say so by composition->window. Its sends in flight likewise.
 *
 * Errors: COLL_ERR_GROUP a part's ranks, COLL_ERR_PARAM no parts, or a base in a space where it
 * cannot be (IN is never written; SHARED is SHARED), COLL_ERR_TYPE elements of another size,
 * COLL_ERR_ORDER, COLL_ERR_WINDOW above 32, COLL_ERR_SHAPE nested too deeply,
 * COLL_ERR_OVERFLOW, and those of coll_plan_init. */
COLL_INLINE coll_status coll_plan_compose(coll_plan *plan, const coll_algorithm *kind,
                                          const coll_problem *problem,
                                          coll_composition *composition)
{
    const unsigned needs = COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_COUNTS | COLL_NEEDS_SHARED |
                           COLL_NEEDS_MULTICAST | COLL_I_NEEDS_TEAM;
    uint32_t largest = 1, sends = 1, depth = 1;
    uint64_t sum = 0, sum_sends = 0, tokens = 0;
    coll_status status;
    if (!composition || !composition->parts)
        return COLL_ERR_NULL;
    status = coll_plan_init(plan, kind, problem, NULL);
    if (status != COLL_OK)
        return status;
    if (!coll_i_is_composed(plan) || composition->n == 0)
        return COLL_ERR_PARAM;
    plan->traits = 0;
    for (uint32_t i = 0; i < composition->n; i++) {
        const coll_part *part = &composition->parts[i];
        status = coll_i_part_check(part, plan);
        if (status != COLL_OK)
            return status;
        plan->traits |= part->plan->traits & needs;
        sum += part->plan->window;
        sum_sends += part->plan->sends;
        tokens += coll_i_part_tokens(part);
        if (largest < part->plan->window)
            largest = part->plan->window;
        if (sends < part->plan->sends)
            sends = part->plan->sends;
        if (coll_i_is_composed(part->plan) && depth <= coll_i_composition(part->plan)->depth)
            depth = coll_i_composition(part->plan)->depth + 1;
    }
    if (kind->traits & COLL_I_SIDE_BY_SIDE) {
        largest = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
        sends = sum_sends < 32 ? (uint32_t)sum_sends : 32; /* more no engine has */
    }
    if (composition->window)
        largest = composition->window;
    if (largest > 32)
        return COLL_ERR_WINDOW;
    plan->window = (uint16_t)largest;
    plan->sends = (uint16_t)sends;
    if (depth > COLL_COMPOSE_DEPTH)
        return COLL_ERR_SHAPE;
    if (tokens > COLL_REF_LIMIT / 4)
        return COLL_ERR_OVERFLOW;
    composition->depth = depth;
    composition->tokens = tokens;
    composition->by_n = coll_fast_divisor_of(composition->n);
    plan->inner = composition;
    return COLL_OK;
}

#endif /* COLL_PLAN_COMPOSE_H */
