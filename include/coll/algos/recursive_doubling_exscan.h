/* coll/algos/recursive_doubling_exscan.h — exscan: distances 1, 2, 3, 6, 12 … to the right
 *
 * A rank keeps w, the sum of the c operands before its own. If it sends w to the rank c to its
 * right, c doubles; if it sends w ⊕ x, x being its own operand, to the rank c + 1 to its right, c
 * becomes 2c + 1, for one application of ⊕ more. The first round, with c = 0 and w empty, is of
 * the second kind. `inclusive` says how many rounds are, before those of the first kind. With 1
 * the operands are shifted and then summed up: 1 + ⌈log2(p−1)⌉ rounds. With 2, c goes 0, 1, 3, 6,
 * 12 …, for many p in a round less. 0 stands for as many as it takes to do with ⌈log2 p⌉ rounds.
 *
 *   p = 8, inclusive = 2: first … last operand of the sum that a rank has
 *       rank                         0    1    2    3    4    5    6    7
 *       after round 0, distance 1    –   0-0  1-1  2-2  3-3  4-4  5-5  6-6
 *       after round 1, distance 2    –   0-0  0-1  0-2  1-3  2-4  3-5  4-6
 *       after round 2, distance 3    –   0-0  0-1  0-2  0-3  0-4  0-5  1-6
 *       after round 3, distance 6    –   0-0  0-1  0-2  0-3  0-4  0-5  0-6
 *
 * Laws (tests/algos/recursive_doubling_exscan.c)
 *   (1) whom r sends to in round k receives from r in round k
 *   (2) before round k rank r has the sum of the c operands before its own, or all of them
 *   (3) no round writes where its own message is read
 * Cost    inclusive = 2: ⌈log2(p−1) + log2(4/3)⌉ rounds for p > 2; 0: ⌈log2 p⌉. A rank sends a
 *         message of `count` a round at most, and applies ⊕ in each round but the first at most
 *         once, in an inclusive one twice. scratch in vectors, but at rank 0: 1 if it receives in
 *         more than one round, 1 if it sends its own operand with the sum in any but the first, in
 *         place 1 if it sends
 * Source  Träff 2025, arXiv:2507.04785 (inclusive = 2); Träff 2026, arXiv:2604.25667 (0);
 *         Hillis, Steele 1986, doi:10.1145/7902.7903 (sums over 2^k)
 */
#ifndef COLL_ALGOS_RECURSIVE_DOUBLING_EXSCAN_H
#define COLL_ALGOS_RECURSIVE_DOUBLING_EXSCAN_H

#include "../plan.h"

COLL_TABLE(coll_param, coll_i_doubling_exscan_params, {
    COLL_PARAM("inclusive",
     "first rounds in which ranks send their own operand too; 0: the fewest rounds", 0, 32, 2,
     {2, 1, 0, 32})});

/* How many rounds it takes to sum up r operands, and how many of these are inclusive: as many as
 * there are to be, or, if that is 0, the fewest with which ⌈log2(r+1)⌉ rounds are enough. */
typedef struct coll_i_exscan_rounds {
    uint32_t inclusive, all;
} coll_i_exscan_rounds;

COLL_HOT_INLINE coll_i_exscan_rounds coll_i_exscan_rounds_of(uint32_t r, uint32_t inclusive)
{
    /* i inclusive ones among `fewest` are enough if (2^i − 1)·2^(fewest − i) ≥ r, which is to say
     * 2^(fewest − i) ≤ 2^fewest − r. */
    const uint32_t fewest = r == 0 ? 0 : COLL_HIGHEST_BIT(r) + 1;
    const uint32_t spare =
        (uint32_t)((uint64_t)1 << fewest) - r; /* below 2^32, so it may wrap */
    const uint32_t least = fewest - COLL_HIGHEST_BIT(spare);
    coll_i_exscan_rounds rounds;
    rounds.inclusive = inclusive == 0 ? least : inclusive;
    rounds.all = fewest + (rounds.inclusive < least ? 1 : 0);
    return rounds;
}

/* A rank's part: rounds in which it receives, and in which it sends; both are the first ones. */
typedef struct coll_i_exscan_part {
    uint32_t inclusive, takes, gives;
    bool adds; /* sends w ⊕ x */
} coll_i_exscan_part;

COLL_HOT_INLINE coll_i_exscan_part coll_i_exscan_part_of(const coll_plan *plan, uint32_t rank)
{
    const uint32_t after = plan->problem.p - 1 - rank; /* ranks after this one */
    coll_i_exscan_part part;
    part.inclusive = coll_i_exscan_rounds_of(plan->problem.p - 1, plan->param[0]).inclusive;
    part.takes = coll_i_exscan_rounds_of(rank, part.inclusive).all;
    part.gives = after == 0 ? 0 : COLL_HIGHEST_BIT(after) + 1;
    if (part.gives >= part.inclusive) /* inclusive rounds reach 1, 2, 4 … ranks, others more */
        part.gives =
            rank == 0 ? part.inclusive : coll_i_exscan_rounds_of(after + 1, part.inclusive).all;
    part.adds = rank > 0 && part.gives > 1 && part.inclusive > 1;
    return part;
}

/* Round k: how far a message goes. */
COLL_HOT_INLINE uint32_t coll_i_exscan_distance(uint32_t inclusive, uint32_t k)
{
    if (k < inclusive)
        return (uint32_t)1 << k;
    return (uint32_t)((((uint64_t)1 << inclusive) - 1) << (k - inclusive));
}

/* Where w lies before round k > 0: in OUT and SCRATCH in turn, when it is complete in OUT. So a
 * round writes where it does not read, and nobody waits for its own message to be taken. */
COLL_HOT_INLINE coll_ref coll_i_exscan_sum(const coll_i_exscan_part *part, uint32_t k)
{
    return k >= part->takes || ((part->takes - k) & 1) == 0 ? COLL_AT(COLL_OUT, 0)
                                                            : COLL_AT(COLL_SCRATCH, 0);
}

COLL_INLINE size_t coll_i_doubling_exscan_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_exscan_part part = coll_i_exscan_part_of(plan, rank);
    return part.takes > part.gives ? part.takes : part.gives;
}

/* SCRATCH holds w at times, w ⊕ x, and in place, where OUT will be overwritten, x. */
COLL_INLINE unsigned coll_i_doubling_exscan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_i_exscan_part part = coll_i_exscan_part_of(plan, rank);
    const size_t count = plan->problem.count;
    const uint32_t k = (uint32_t)s, distance = coll_i_exscan_distance(part.inclusive, k);
    const coll_ref sum = coll_i_exscan_sum(&part, k), next = coll_i_exscan_sum(&part, k + 1);
    const coll_ref with_own = COLL_AT(COLL_SCRATCH, part.takes > 1 ? count : 0);
    coll_ref own = coll_input(plan);
    unsigned n = 0;
    if (coll_in_place(plan) && rank > 0) {
        own = with_own + (part.adds ? count : 0);
        if (k == 0 && part.gives > 0)
            coll_act_copy(&out[n++], own, coll_input(plan), count);
    }
    if (k < part.gives) {
        const bool adds = rank > 0 && k > 0 && k < part.inclusive;
        if (adds)
            coll_act_reduce(&out[n++], with_own, sum, own, count);
        coll_act_send(&out[n++], rank + distance,
                      adds                  ? with_own
                      : rank == 0 || k == 0 ? own
                                            : sum,
                      count);
    }
    if (k < part.takes && k == 0) {
        coll_act_recv(&out[n++], rank - distance, next, count);
    } else if (k < part.takes) {
        coll_act_recv_reduce(&out[n], rank - distance, next, sum, next, count);
        out[n++].flags = COLL_LEFT;
    }
    return n;
}

COLL_INLINE size_t coll_i_doubling_exscan_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_exscan_part part = coll_i_exscan_part_of(plan, rank);
    return ((part.takes > 1 ? 1u : 0u) + (part.adds ? 1u : 0u) +
            (coll_in_place(plan) && rank > 0 && part.gives > 0 ? 1u : 0u)) *
           plan->problem.count;
}

COLL_ALGORITHM(coll_recursive_doubling_exscan, "recursive_doubling",
    "Traeff 2025; Traeff 2026; Hillis, Steele 1986",
    COLL_BIT(COLL_EXSCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_doubling_exscan_params),
    coll_i_doubling_exscan_steps, coll_i_doubling_exscan_step, coll_i_doubling_exscan_scratch);

#endif /* COLL_ALGOS_RECURSIVE_DOUBLING_EXSCAN_H */
