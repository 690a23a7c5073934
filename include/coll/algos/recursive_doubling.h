/* coll/algos/recursive_doubling.h — allreduce, allgather: exchange with partners 1, 2, 4 … apart
 *
 * In round k a rank exchanges all it has with the rank whose number differs in bit k. Sets of
 * 2^k ranks that have the same become sets of 2^(k+1), so ⌈log2 p⌉ rounds suffice, the fewest
 * possible. Off powers of two, p − 2^⌊log2 p⌋ pairs of neighbours fold first: the even rank
 * hands its data to the odd one, waits, and is handed the result. Neighbours, so that a set is
 * always a run of consecutive ranks: operands stay in rank order, and both partners compute
 * lower ⊕ upper, hence the same bits; blocks stay in one piece.
 *
 *   p = 6, core = 4:   rank      0  1  2  3  4  5
 *                      fold      └─►1  └─►3
 *                      number       0     1  2  3
 *                      round 0      └─────┘  └──┘       sets {0 1 2 3} {4 5}
 *                      round 1      └────────┘          (and rank 3 with rank 5)
 *                      unfold    0◄─┘  2◄─┘
 *
 * Laws (tests/algos/recursive_doubling.c)
 *   (1) the partner in round k has this rank as its partner in round k
 *   (2) before round k a rank stands for the run of ranks of its 2^k core numbers, and the
 *       partner's run is next to it
 *   (3) no message of an allreduce is read from where the same round writes
 * Cost    ⌊log2 p⌋ rounds, and two more off powers of two. allreduce: at most ⌊log2 p⌋ + 1 messages of `count` per
 *         rank, scratch at most `count`; allgather: every block comes once (to an idle rank its own too)
 * Source  Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_RECURSIVE_DOUBLING_H
#define COLL_ALGOS_RECURSIVE_DOUBLING_H

#include "../plan.h"

/* A rank's part. */
typedef struct coll_i_doubling {
    coll_fold fold;
    uint32_t rounds;
    bool idle;   /* the even rank of a pair, which only hands over and is handed */
    bool folded; /* the odd one, which has a step before the rounds and one after */
} coll_i_doubling;

COLL_INLINE coll_i_doubling coll_i_doubling_of(const coll_plan *plan, uint32_t rank)
{
    coll_i_doubling part;
    part.fold = coll_fold_of(plan->problem.p);
    part.rounds = COLL_HIGHEST_BIT(part.fold.core);
    part.idle = coll_fold_idle(part.fold, rank);
    part.folded = rank < 2 * part.fold.extra && !part.idle;
    return part;
}

/* Both algorithms: the rounds and what folding adds; alone, the copy. */
COLL_INLINE size_t coll_i_doubling_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_doubling part = coll_i_doubling_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return part.idle ? 2 : part.rounds + (part.folded ? (size_t)2 : 0);
}

/* ---- allreduce --------------------------------------------------------------------------- */

/* Where the sum lies before round k: in OUT and SCRATCH in turn, after the last round in
 * OUT. So a round writes where it does not read, and nobody waits for its own message to be
 * taken. */
COLL_INLINE coll_ref coll_i_doubling_sum(uint32_t rounds, uint32_t k)
{
    return ((rounds - k) & 1) == 0 ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
}

COLL_INLINE unsigned coll_i_doubling_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    const coll_i_doubling part = coll_i_doubling_of(plan, rank);
    const size_t count = plan->problem.count;
    const coll_ref input = coll_input(plan), result = COLL_AT(COLL_OUT, 0);
    const uint32_t k = (uint32_t)s - (part.folded ? 1 : 0); /* wraps in the folding step */
    coll_ref sum = coll_i_doubling_sum(part.rounds, k);
    unsigned n = 0;
    if (part.idle && s == 0) {
        coll_act_send(out, rank + 1, input, count);
        return 1;
    }
    if (part.idle) {
        coll_act_recv(out, rank + 1, result, count);
        return 1;
    }
    if (part.folded && s == 0) {
        sum = coll_i_doubling_sum(part.rounds, 0);
        coll_act_recv_reduce(out, rank - 1, sum, input,
                             sum == input ? COLL_AT(COLL_SCRATCH, 0) : sum, count);
        out->flags = COLL_LEFT;
        return 1;
    }
    if (k == part.rounds) {
        if (part.folded)
            coll_act_send(out, rank - 1, result, count);
        else
            coll_act_copy(out, result, input, count);
        return 1;
    }
    if (s == 0 && !coll_in_place(plan))
        sum = input;
    else if (s == 0 && sum != input)
        coll_act_copy(&out[n++], sum, input, count);
    else if (s == 0)
        sum = input;
    {
        const uint32_t number = coll_fold_number(part.fold, rank) ^ ((uint32_t)1 << k);
        const uint32_t partner = coll_fold_rank(part.fold, number);
        const coll_ref next = coll_i_doubling_sum(part.rounds, k + 1);
        coll_act_send(&out[n++], partner, sum, count);
        coll_act_recv_reduce(&out[n], partner, next, sum, next, count);
        out[n++].flags = partner < rank ? COLL_LEFT : 0;
    }
    return n;
}

/* None if the only round goes from IN to OUT. */
COLL_INLINE size_t coll_i_doubling_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_doubling part = coll_i_doubling_of(plan, rank);
    const bool direct = part.rounds == 1 && !part.folded && !coll_in_place(plan);
    return part.idle || part.rounds == 0 || direct ? 0 : plan->problem.count;
}

static const coll_algorithm coll_recursive_doubling_allreduce = {
    "recursive_doubling",
    "Thakur, Rabenseifner, Gropp 2005",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_GIVES_SAME_BITS | COLL_GIVES_FIXED_ORDER,
    /* window */ 2,
    /* parameters */ 0,
    NULL,
    /* check */ NULL,
    coll_i_doubling_steps,
    coll_i_doubling_allreduce_step,
    coll_i_doubling_allreduce_scratch,
    /* shared */ NULL,
};

/* ---- allgather --------------------------------------------------------------------------- */

/* The blocks for which 2^k core numbers stand, from number `first` on. */
COLL_INLINE coll_block coll_i_doubling_run(const coll_plan *plan, coll_fold fold,
                                           uint32_t first, uint32_t k)
{
    const uint32_t begin = coll_fold_first(fold, first);
    const uint32_t end = coll_fold_first(fold, first + ((uint32_t)1 << k));
    coll_block run;
    run.offset = plan->problem.count * begin;
    run.count = plan->problem.count * (end - begin);
    return run;
}

COLL_INLINE unsigned coll_i_doubling_allgather_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    const coll_i_doubling part = coll_i_doubling_of(plan, rank);
    const size_t count = plan->problem.count, all = count * plan->problem.p;
    const coll_ref blocks = COLL_AT(COLL_OUT, 0), place = blocks + count * rank;
    const coll_ref own = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    const uint32_t k = (uint32_t)s - (part.folded ? 1 : 0); /* wraps in the folding step */
    unsigned n = 0;
    if (part.idle && s == 0) {
        coll_act_send(&out[n++], rank + 1, own, count);
    } else if (part.idle) { /* its own block comes back with the others */
        coll_act_recv(&out[n++], rank + 1, blocks, all);
    } else if (part.folded && s == 0) {
        coll_act_recv(&out[n++], rank - 1, place - count, count);
    } else if (k < part.rounds) {
        const uint32_t bit = (uint32_t)1 << k;
        const uint32_t number = coll_fold_number(part.fold, rank);
        const uint32_t first = number & ~(bit - 1); /* of the 2^k numbers that have the same */
        const uint32_t partner = coll_fold_rank(part.fold, number ^ bit);
        const coll_block mine = coll_i_doubling_run(plan, part.fold, first, k);
        const coll_block theirs = coll_i_doubling_run(plan, part.fold, first ^ bit, k);
        coll_act_send(&out[n++], partner, s == 0 ? own : blocks + mine.offset, mine.count);
        coll_act_recv(&out[n++], partner, blocks + theirs.offset, theirs.count);
    } else if (part.folded) {
        coll_act_send(&out[n++], rank - 1, blocks, all);
    }
    if (s == 0 && !part.idle && !coll_in_place(plan))
        coll_act_copy(&out[n++], place, own, count);
    return n;
}

static const coll_algorithm coll_recursive_doubling_allgather = {
    "recursive_doubling",
    "Thakur, Rabenseifner, Gropp 2005",
    COLL_BIT(COLL_ALLGATHER),
    COLL_GIVES_SAME_BITS,
    /* window */ 2,
    /* parameters */ 0,
    NULL,
    /* check */ NULL,
    coll_i_doubling_steps,
    coll_i_doubling_allgather_step,
    /* scratch */ NULL,
    /* shared */ NULL,
};

#endif /* COLL_ALGOS_RECURSIVE_DOUBLING_H */
