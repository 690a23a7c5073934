/* coll/lab/certify/local_memory.h — one rank of a plan, alone: what is to be proven of it, and what its
 * memory holds as its program goes on
 *
 * Use local_proof.h.
 */
#ifndef COLL_LAB_CERTIFY_LOCAL_MEMORY_H
#define COLL_LAB_CERTIFY_LOCAL_MEMORY_H

#include "../verify/report.h"
#include "held.h"

enum { COLL_I_LEARNED_MOST = 128, COLL_I_CLASSES_MOST = 96, COLL_I_PEERS_MOST = 128 };

/* A message, all pieces of it: `count` elements that are *is. */
typedef struct coll_i_claim {
    coll_contributions is;
    size_t count;
} coll_i_claim;

struct coll_i_claims;

/* What is to be proven: a plan, and what is claimed of it. */
typedef struct coll_i_theorem {
    const coll_plan *plan;
    const struct coll_i_claims *claims;
    coll_i_inputs in;
    uint64_t digest;  /* the sum of what was claimed, a number a message */
    uint32_t learned; /* messages of rank 0, by step: of a rotation */
    coll_i_claim learn[COLL_I_LEARNED_MOST];
} coll_i_theorem;

/* A family's claims. Steps and ranks are those of the plan; `a` is an action of the step. */
typedef struct coll_i_claims {
    /* What `from` sends to `to` at its step `step`; false: no such message is claimed. */
    bool (*message)(const coll_i_theorem *of, uint32_t from, uint32_t to, size_t step,
                    coll_i_claim *claimed);
    /* The peer's step in which the other end of the message is. NULL: the only one between the two in that
     * direction; the peer's program is searched. */
    size_t (*there)(const coll_i_theorem *of, uint32_t rank, size_t step, const coll_action *a);
    /* The level. */
    uint64_t (*when)(const coll_i_theorem *of, uint32_t rank, size_t step,
                     const coll_action *a);
    /* A level above all before a step, and not above any from that step on. NULL: there is none. */
    uint64_t (*since)(const coll_i_theorem *of, uint32_t rank, size_t step);
    /* Writes what a rank holds before a step, beside its input. NULL: it is followed from step 0; others have
     * `since`, too. */
    bool (*before)(const coll_i_theorem *of, uint32_t rank, size_t step, coll_i_held *held);
    /* The ranks that stand for all, at most COLL_I_CLASSES_MOST. */
    unsigned (*classes)(const coll_i_theorem *of, uint32_t *rank);
    bool rotates; /* messages are those of rank 0, learned */
} coll_i_claims;

/* What was found. */
typedef struct coll_certificate_report {
    bool ok; /* it is proven */
    uint32_t p, rank;
    size_t step;
    const char *what; /* static storage */
} coll_certificate_report;

/* One rank's proof. */
typedef struct coll_i_local {
    coll_i_theorem *of;
    coll_certificate_report *report;
    bool learns; /* this rank, 0, makes the claims */
    uint32_t rank;
    size_t step;
    uint64_t level;
    size_t steps, out, scratch; /* elements of OUT and SCRATCH that it has */
    coll_i_held held;
    const coll_action *own; /* the actions of the present step */
    unsigned n_own;
    uint32_t
        peer; /* the actions of its step `peer_step`, of which n_peer_step; COLL_RANK_NONE: of none */
    unsigned n_peer_step;
    size_t peer_step;
    coll_action other[COLL_STEP_MAX];
    coll_ref named; /* the tokens of the last notification, and who is behind them */
    size_t n_named;
    coll_contributions named_are;
    unsigned n_peers;
    struct {
        uint32_t peer;
        bool receives;
        size_t there;
    } met[COLL_I_PEERS_MOST];
} coll_i_local;

COLL_INLINE bool coll_i_refute(coll_i_local *l, const char *what)
{
    if (l->report->ok) {
        l->report->ok = false;
        l->report->p = l->of->plan->problem.p;
        l->report->rank = l->rank;
        l->report->step = l->step;
        l->report->what = what;
    }
    return false;
}

/* Number i of those at random that belong to p, below `end`: the same for whoever checks again. */
COLL_INLINE uint32_t coll_i_drawn(uint32_t p, uint32_t i, uint32_t end)
{
    uint64_t state = (uint64_t)i << 32 | p;
    return coll_i_random_below(&state, end);
}

/* ---- inputs and results ------------------------------------------------------------------ */

/* What a rank gives. */
COLL_INLINE coll_contributions coll_i_given(const coll_i_theorem *of, uint32_t rank,
                                            size_t elements)
{
    const coll_fold *fold = &of->plan->fold;
    coll_contributions c;
    c.element = 0;
    c.element_moves = elements > 1;
    c.first = rank;
    c.ranks = 1;
    c.stride = 0;
    c.first_moves = 0;
    if (of->in.core > 0) {
        c.first = coll_fold_is_extra(fold, rank) ? rank / 2 : coll_fold_number(fold, rank);
        c.stride = of->in.core;
        c.ranks = rank >= 2 * fold->extra ? COLL_I_HALF_BOTH
                  : rank % 2              ? COLL_I_HALF_UPPER
                                          : COLL_I_HALF_LOWER;
    }
    coll_i_contributions_tidy(&of->in, &c);
    return c;
}

/* All ranks, or all of the core and who folds to it. */
COLL_INLINE coll_contributions coll_i_complete(const coll_i_theorem *of)
{
    coll_contributions c = coll_i_given(of, 0, 1);
    c.first = 0;
    c.ranks = of->in.core > 0 ? (uint32_t)COLL_I_HALF_BOTH : of->in.p;
    c.stride = of->in.core > 0;
    return c;
}

/* What OUT must be on a rank, and how many elements; 0: nothing. */
COLL_INLINE size_t coll_i_wanted(const coll_i_theorem *of, uint32_t rank,
                                 coll_contributions *is)
{
    const coll_problem *problem = &of->plan->problem;
    const coll_collective c = problem->collective;
    size_t count = problem->count;
    *is = coll_is(COLL_REDUCING, c) ? coll_i_complete(of) : coll_i_given(of, problem->root, 1);
    if (coll_is(COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_GATHER), c) && rank != problem->root)
        return 0;
    if (coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL),
                c)) {
        *is = coll_i_given(of, 0, 1); /* of every rank in turn */
        is->first_moves = of->in.p > 1;
        count *= of->in.p;
    } else {
        is->element_moves = count > 1;
    }
    if (coll_is(COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLTOALL) |
                    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                c))
        is->element = rank;
    return count;
}

/* The rank's memory before step 0. */
COLL_INLINE void coll_i_local_begin(coll_i_local *l)
{
    const coll_plan *plan = l->of->plan;
    const coll_extents has = coll_plan_extents(plan, l->rank);
    l->steps = plan->algorithm->steps(plan, l->rank);
    l->out = has.out;
    l->scratch = plan->problem.collective == COLL_BARRIER ? COLL_REF_LIMIT /* of tokens */
                 : plan->algorithm->scratch ? plan->algorithm->scratch(plan, l->rank)
                                            : 0;
    l->held.in = l->of->in;
    l->held.n = 0;
    l->n_named = 0;
    l->peer = COLL_RANK_NONE;
    l->level = 0;
    l->n_peers = 0;
    if (has.in > 0) {
        l->held.n = 1;
        l->held.piece[0].at = COLL_AT(COLL_IN, 0);
        l->held.piece[0].count = has.in;
        l->held.piece[0].is = coll_i_given(l->of, l->rank, has.in);
    }
}

/* Adds to *is who is behind `count` tokens, in any order: what lies between two runs may come later. False:
 * together they are no run. */
COLL_INLINE bool coll_i_local_tokens(const coll_i_local *l, coll_ref at, size_t count,
                                     coll_contributions *is)
{
    size_t left = SIZE_MAX, before;
    do {
        before = left;
        left = 0;
        for (size_t i = 0; i < count; i++) {
            coll_contributions token;
            if (coll_i_held_read(&l->held, at + i, 1, &token) &&
                !coll_i_contributions_add(&l->of->in, is, &token, 1))
                left++;
        }
    } while (left > 0 && left < before);
    return left == 0;
}

COLL_INLINE bool coll_i_local_end(coll_i_local *l)
{
    coll_contributions wanted, is;
    size_t count, tokens = 0;
    if (l->of->plan->problem.collective == COLL_BARRIER) {
        is = coll_i_given(l->of, l->rank, 1);
        for (unsigned i = 0; i < l->held.n; i++)
            tokens += l->held.piece[i].count;
        (void)coll_i_local_tokens(l, COLL_AT(COLL_SCRATCH, 0), tokens + 1, &is);
        return is.ranks == l->of->in.p ||
               coll_i_refute(l, "the rank ends its barrier, and has not heard of all ranks");
    }
    count = coll_i_wanted(l->of, l->rank, &wanted);
    if (count == 0)
        return true;
    if (!coll_i_held_read(&l->held, COLL_AT(COLL_OUT, 0), count, &is))
        return coll_i_refute(l,
                             "elements of the result were never written, or belong elsewhere");
    return coll_i_contributions_same(&is, &wanted, count) ||
           coll_i_refute(l, "the result is not that of all ranks");
}

/* ---- memory ------------------------------------------------------------------------------ */

COLL_INLINE bool coll_i_local_read(coll_i_local *l, coll_ref at, size_t count,
                                   coll_contributions *is)
{
    return coll_i_held_read(&l->held, at, count, is) ||
           coll_i_refute(l, "it reads what nobody wrote, or what no one record says");
}

COLL_INLINE bool coll_i_local_has(coll_i_local *l, coll_ref at, size_t count)
{
    const coll_space space = coll_ref_space(at);
    const size_t room = space == COLL_OUT ? l->out : space == COLL_SCRATCH ? l->scratch : 0;
    return (coll_ref_offset(at) <= room && count <= room - coll_ref_offset(at)) ||
           coll_i_refute(l, "it writes outside of OUT and SCRATCH");
}

/* The rules of plan/action.h on operands: dst may be src exactly, and via too where that is one operand. */
COLL_INLINE bool coll_i_local_apart(coll_i_local *l, const coll_action *a)
{
    const bool copies = a->kind == COLL_DO_COPY, one = a->inputs <= 1;
    const size_t span = coll_i_action_via_span(a);
    if (((copies || a->dst != a->src) && coll_i_overlap(a->dst, a->count, a->src, a->count)) ||
        (!copies &&
         ((!(one && a->dst == a->via) && coll_i_overlap(a->dst, a->count, a->via, span)) ||
          (a->kind == COLL_DO_RECV_REDUCE && coll_i_overlap(a->src, a->count, a->via, span)))))
        return coll_i_refute(l, "operands overlap that must not");
    return true;
}

COLL_INLINE bool coll_i_local_write(coll_i_local *l, coll_ref at, size_t count,
                                    const coll_contributions *is)
{
    if (!coll_i_local_has(l, at, count))
        return false;
    if (at - l->named < l->n_named)
        l->n_named = 0;
    return coll_i_held_write(&l->held, at, count, is) ||
           coll_i_refute(l, "too many pieces: this family cannot be certified so");
}

/* dst = src ⊕ operand, or operand ⊕ src. */
COLL_INLINE bool coll_i_local_combine(coll_i_local *l, const coll_action *a,
                                      coll_contributions *operand, bool left)
{
    coll_contributions own;
    if (!coll_i_local_read(l, a->src, a->count, &own))
        return false;
    if (!coll_i_contributions_add(&l->of->in, left ? operand : &own, left ? &own : operand,
                                  a->count))
        return coll_i_refute(l, "it combines what does not belong together");
    if (left)
        own = *operand;
    return coll_i_local_write(l, a->dst, a->count, &own);
}

COLL_INLINE bool coll_i_local_reduce(coll_i_local *l, const coll_action *a)
{
    coll_contributions sum;
    if (!coll_i_local_apart(l, a) || !coll_i_local_read(l, a->src, a->count, &sum))
        return false;
    for (uint32_t i = 0; i < a->inputs; i++) {
        coll_contributions operand;
        if (!coll_i_local_read(l, a->via + i * a->stride, a->count, &operand))
            return false;
        if (!coll_i_contributions_add(&l->of->in, &sum, &operand, a->count))
            return coll_i_refute(l, "it combines what does not belong together");
    }
    return coll_i_local_write(l, a->dst, a->count, &sum);
}

#endif /* COLL_LAB_CERTIFY_LOCAL_MEMORY_H */
