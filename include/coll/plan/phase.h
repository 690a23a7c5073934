/* coll/plan/phase.h — an inner plan placed in an outer one, and phases one after the other
 *
 * What compose.h and composite.h have in common: a phase says which outer ranks an inner plan's
 * ranks are, and where its spaces begin in the outer plan's. Phases are of all ranks, which find
 * their seats in the rank map, or of one rank, which knows its seat and its steps.
 */
#ifndef COLL_PLAN_PHASE_H
#define COLL_PLAN_PHASE_H

#include "../plan.h"
#include "rank_map.h"

enum {
    COLL_I_BATCH = 4,        /* pieces side by side at most, … */
    COLL_I_BATCH_WINDOW = 16 /* … as long as they need no larger window */
};

/* Private traits of the kinds of composition; their plans do not have them. */
enum { COLL_I_COMPOSES = 1 << 29, COLL_I_SIDE_BY_SIDE = 1 << 30 };

/* A phase of one rank may run several copies of its map one after the other, and each of them in
 * pieces of equal size, which run side by side in batches: the first action of all pieces of a
 * batch, then the second … A rank's action in one piece so comes when it comes in any other, so
 * messages match as they do in one piece alone, whatever the algorithm. */
typedef struct coll_phase {
    const coll_plan *plan; /* its own group is not used. Of one rank, NULL: `act` */
    coll_rank_map map;
    coll_ref base[COLL_SPACES]; /* where its spaces begin in the outer plan's */
    uint32_t
        group; /* number of the group that its ranks are, where they reduce in the network */
    /* Of one rank (plan/composite.h): */
    uint32_t pieces;  /* of a copy … */
    coll_i_seat seat; /* its rank, or COLL_RANK_NONE: of all ranks; the first copy */
    size_t steps;     /* in all */
    size_t all;       /* pieces of all copies: the last may have fewer */
    /* Of a barrier in a sequence, where the tokens of the first one begin, or 0; and tokens of
     * those before this one. */
    coll_ref tokens;
    size_t skip; /* tokens of the barriers before this one */
    /* Of one rank, again: */
    size_t piece,
        slot;       /* elements of IN and OUT from one piece to the next; SCRATCH of a piece */
    uint32_t batch; /* pieces of a batch, 1 to COLL_I_BATCH */
    coll_fast_divisor by_copy, by_batch; /* division by the steps of a copy, and of a batch */
    coll_action act;                     /* of one rank: instead of a plan */
} coll_phase;

/* A plan's phases. */
typedef struct coll_composition {
    coll_phase *phases;
    uint32_t n;      /* how many */
    uint32_t window; /* least window; 0: that of the kind, see coll_plan_compose */
    /* set when the plan is made */
    uint32_t rank;          /* the only one that has steps; COLL_RANK_NONE: all have */
    uint32_t depth;         /* 1, and more if phases are compositions */
    uint64_t tokens;        /* at least as many as its barriers name */
    coll_fast_divisor by_n; /* division by n */
} coll_composition;

/* A phase of all ranks, in order, whose spaces are those of the outer plan. Change what is
 * different. */
COLL_INLINE void coll_phase_init(coll_phase *phase, const coll_plan *plan)
{
    phase->plan = plan;
    coll_rank_map_init(&phase->map);
    for (unsigned space = 0; space < COLL_SPACES; space++)
        phase->base[space] = COLL_AT(space, 0);
    phase->group = COLL_GROUP_ALL;
    phase->seat.rank = COLL_RANK_NONE;
    phase->seat.copy = 0;
    phase->pieces = phase->batch = 1;
    phase->all = 1;
    phase->piece = 0;
}

/* A composition of n phases, which stay the caller's; set window if it is known. */
COLL_INLINE void coll_composition_init(coll_composition *composition, coll_phase *phases,
                                       uint32_t n)
{
    composition->phases = phases;
    composition->n = n;
    composition->window = 0;
    composition->rank = COLL_RANK_NONE;
    composition->tokens = 0;
}

/* The phases of a plan; NULL: it has none. */
COLL_INLINE const coll_composition *coll_i_composition(const coll_plan *plan)
{
    const uint32_t composes = COLL_I_COMPOSES;
    return plan->algorithm->traits & (composes | COLL_NEEDS_BUILD)
               ? (const coll_composition *)plan->inner
               : NULL;
}

/* ---- making ------------------------------------------------------------------------------ */

/* What an inner plan needs of the operator and of the transport the outer one needs; and of an
 * engine, for `n` of it at a time, which run `beside` all those before, or not. */
COLL_INLINE void coll_i_phase_needs(coll_plan *plan, const coll_plan *inner, uint32_t n,
                                    bool beside)
{
    const unsigned needs = COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST |
                           COLL_I_NEEDS_GROUP | COLL_USES_PADDING;
    const uint32_t window = n * inner->window + (beside ? plan->window : 0);
    const uint32_t sends = n * inner->sends + (beside ? plan->sends : 0);
    plan->traits |= inner->traits & needs;
    if (plan->window < window)
        plan->window = (uint16_t)(window < UINT16_MAX ? window : UINT16_MAX);
    if (plan->sends < sends)
        plan->sends = (uint16_t)(sends < 32 ? sends : 32); /* more no engine has */
}

/* Puts a phase behind those that `composition` has counted: tokens of a barrier begin behind those
 * of the barriers before it. Only barriers name any; known kinds of barrier one for each rank. */
COLL_INLINE void coll_i_phase_follow(coll_composition *composition, coll_phase *phase)
{
    const coll_composition *of;
    phase->tokens = 0;
    phase->skip = 0;
    if (!phase->plan || phase->plan->problem.collective != COLL_BARRIER)
        return;
    of = coll_i_composition(phase->plan);
    phase->tokens = phase->base[COLL_SCRATCH];
    phase->skip = (size_t)composition->tokens;
    composition->tokens += of ? of->tokens : phase->plan->problem.p;
}

/* ---- steps ------------------------------------------------------------------------------- */

COLL_INLINE coll_i_seat coll_i_phase_seat(const coll_phase *phase, uint32_t outer)
{
    return phase->seat.rank != COLL_RANK_NONE
               ? phase->seat
               : coll_i_rank_map_seat(&phase->map, phase->plan->problem.p, outer);
}

COLL_INLINE size_t coll_i_phase_steps(const coll_phase *phase, uint32_t outer)
{
    uint32_t rank;
    if (phase->seat.rank != COLL_RANK_NONE)
        return phase->steps;
    rank = coll_i_phase_seat(phase, outer).rank;
    return rank == COLL_RANK_NONE ? 0 : coll_plan_steps(phase->plan, rank);
}

/* One inner action in the words of the outer plan; base: where the spaces begin. A barrier's
 * notification also names all tokens below its own: those of the barriers before it, which so
 * come first. */
COLL_HOT_INLINE void coll_i_phase_translate(const coll_phase *phase, uint32_t copy,
                                            const coll_ref base[COLL_SPACES], coll_action *a)
{
    if (coll_i_has_peer(a))
        a->peer = coll_i_rank_map_outer(&phase->map, copy, a->peer);
    if (a->kind == COLL_DO_NETWORK_REDUCE && a->peer == COLL_GROUP_ALL)
        a->peer = phase->group;
    coll_i_action_place(a, base);
    if (phase->tokens)
        coll_i_name_tokens(a, phase->tokens);
}

/* x / d.by for any x. */
COLL_HOT_INLINE size_t coll_i_phase_divide(size_t x, const coll_fast_divisor *d)
{
    return x <= UINT32_MAX ? coll_divide((uint32_t)x, d) : x / d->by;
}

/* Step s of a phase in pieces. Of a batch of b pieces b steps yield what one inner step has for
 * each of them: its actions, each b times. */
COLL_INLINE unsigned coll_i_phase_pieces(const coll_phase *phase, size_t s, coll_action *out)
{
    static const uint32_t inverse[COLL_I_BATCH + 1] = {0, 256, 128, 86,
                                                       64}; /* of b, times 256 */
    const size_t copy = coll_i_phase_divide(s, &phase->by_copy);
    const size_t in_copy = s - copy * phase->by_copy.by;
    const size_t batch = coll_i_phase_divide(in_copy, &phase->by_batch);
    const size_t in_batch = in_copy - batch * phase->by_batch.by;
    const size_t first = copy * phase->pieces + batch * phase->batch; /* piece of the batch */
    const size_t in_this = phase->all - copy * phase->pieces;
    const size_t pieces = in_this < phase->pieces ? in_this : phase->pieces;
    const size_t rest = pieces - batch * phase->batch;
    const uint32_t b = rest < phase->batch ? (uint32_t)rest : phase->batch;
    const size_t inner = b == 4   ? in_batch >> 2
                         : b == 2 ? in_batch >> 1
                         : b == 1 ? in_batch
                                  : in_batch / 3;
    coll_action acts[COLL_STEP_MAX];
    const unsigned n = coll_plan_step(phase->plan, phase->seat.rank, inner, acts);
    uint32_t i = (uint32_t)(in_batch - inner * b) * n; /* of the n·b actions */
    for (unsigned k = 0; k < n; k++, i++) {
        const uint32_t which = (i * inverse[b]) >> 8, piece = i - which * b;
        coll_ref base[COLL_SPACES];
        base[COLL_IN] = phase->base[COLL_IN] + (first + piece) * phase->piece;
        base[COLL_OUT] = phase->base[COLL_OUT] + (first + piece) * phase->piece;
        base[COLL_SCRATCH] = phase->base[COLL_SCRATCH] + piece * phase->slot;
        base[COLL_SHARED] = phase->base[COLL_SHARED];
        coll_i_action_assign(&out[k], &acts[which]);
        coll_i_phase_translate(phase, phase->seat.copy + (uint32_t)copy, base, &out[k]);
    }
    return n;
}

/* Step s of a phase; its SCRATCH begins `skip` elements behind its base. */
COLL_INLINE unsigned coll_i_phase_step(const coll_phase *phase, uint32_t outer, size_t s,
                                       size_t skip, coll_action *out)
{
    const coll_ref *base = phase->base;
    coll_ref behind[COLL_SPACES];
    coll_i_seat seat;
    unsigned n;
    if (!phase->plan) {
        coll_i_action_assign(out, &phase->act);
        return 1;
    }
    if (phase->all > 1)
        return coll_i_phase_pieces(phase, s, out);
    seat = coll_i_phase_seat(phase, outer);
    n = coll_plan_step(phase->plan, seat.rank, s, out);
    if (skip > 0) {
        for (unsigned space = 0; space < COLL_SPACES; space++)
            behind[space] = base[space];
        behind[COLL_SCRATCH] += skip;
        base = behind;
    }
    for (unsigned i = 0; i < n; i++)
        coll_i_phase_translate(phase, seat.copy, base, &out[i]);
    return n;
}

/* ---- sequence ---------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_sequence_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_composition *of = (const coll_composition *)plan->inner;
    size_t steps = 0;
    if (of->rank != COLL_RANK_NONE && of->rank != rank)
        return 0;
    for (uint32_t i = 0; i < of->n; i++)
        steps += coll_i_phase_steps(&of->phases[i], rank);
    return steps;
}

/* The phase that a rank's step *s is of; *s becomes its step there. */
COLL_HOT_INLINE const coll_phase *coll_i_sequence_find(const coll_plan *plan, uint32_t rank,
                                                       size_t *s)
{
    const coll_phase *phase = ((const coll_composition *)plan->inner)->phases;
    size_t steps;
    while (*s >= (steps = coll_i_phase_steps(phase, rank))) {
        *s -= steps;
        phase++;
    }
    return phase;
}

COLL_INLINE unsigned coll_i_sequence_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          coll_action *out)
{
    const coll_phase *phase = coll_i_sequence_find(plan, rank, &s);
    return coll_i_phase_step(phase, rank, s, phase->skip, out);
}

#endif /* COLL_PLAN_PHASE_H */
