/* coll/algos/permutation_group.h — allreduce for any p, in ⌈log2 p⌉ to 2⌈log2 p⌉ rounds
 *
 * Ranks move data by the powers of one cyclic permutation. As in circulant.h the vector is cut into p
 * blocks, and the distances come of halving p. But rank r does not reduce block r alone, but w blocks,
 * r … r+w−1, and as many rounds of the allgather are left out as w has bits. `removed` says how many:
 * 0 (w = 1) moves the least, as circulant.h does; from ⌈log2 p⌉ on (w = p) nothing is gathered, as in
 * recursive doubling. In between, a round less is paid with longer messages of the others.
 *
 * A rank has two partial sums of a block. With s left, its result is A of the ranks 0 … s−1 to the
 * left of who reduces it, and B of those 1 … s−1 to the left. So each round halves s, for all
 * blocks alike: a rank sends A ⊕ B, and adds what comes to A, or, if s is odd, to B.
 *
 *   p = 5, removed = 1 (w = 2): s, blocks from r on of which A, B are needed, and what rank 0 does
 *       s = 5   A 0–4           sends A 3 … 5 = 3 4 0 to rank 2, B 1–3 = what comes from rank 3
 *       s = 3   A 0–3  B 1–3    sends A ⊕ B 2 3 to rank 1, B 1–2 ⊕= what comes from rank 4
 *       s = 2   A 0–2  B 1–2    sends A ⊕ B 1 2 to rank 1, A 0–1 ⊕= what comes from rank 4
 *       s = 1   A 0–1           gathers 1, then 2 blocks
 *
 * Bits: up to w ranks reduce a block, each in an order of its own.
 *
 * Laws (tests/algos/permutation_group.c)
 *   (1) in reducing round k, with s = ⌈p/2^k⌉ and c = ⌈s/2⌉, r sends min(p, w−1+⌊s/2⌋) blocks from
 *       r+c on: to rank r+c, which adds them to A, if s is even, else to rank r+c−1 and its B
 *   (2) the allgather is the last rounds of circulant.h, from w blocks on
 * Cost    L = ⌈log2 p⌉, w = ⌈p/2^(L−R)⌉, R = min(removed, L): L rounds of the blocks of (1), then
 *         L − R of p − w blocks together. A message a round, or two where its blocks go on from
 *         block p−1 to block 0 and are not all. What comes in the L rounds is combined, but for the
 *         first into B; then A ⊕ B in each round. scratch: the longest message into A in OUT or
 *         into B, but for the first; if p is no power of two, that first, and the longest A ⊕ B
 * Source  Kolmakov, Zhang 2020, arXiv:2004.09362 (permutations; rounds traded for volume); two sums
 *         for any p: after Bar-Noy, Kipnis, Schieber (census functions)
 */
#ifndef COLL_ALGOS_PERMUTATION_GROUP_H
#define COLL_ALGOS_PERMUTATION_GROUP_H

#include "circulant.h"

COLL_TABLE(coll_param, coll_i_permutation_params, {
    COLL_PARAM("removed", "rounds of the allgather left out, at most all", 0, 32, 1,
     {1, 0, 2, 32})});

/* How many blocks a rank reduces, and the rounds. */
typedef struct coll_i_permutation_shape {
    uint32_t width, reducing, gathering;
    uint32_t single; /* reducing rounds before there is a B, with the one that makes it */
    uint32_t apart,
        twice;     /* rounds from apart on, where A is in OUT, in two steps each: so many */
    uint32_t sums; /* steps of the reducing rounds */
} coll_i_permutation_shape;

COLL_HOT_INLINE coll_i_permutation_shape coll_i_permutation_shape_of(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p, rounds = coll_log2_ceil(p);
    coll_i_permutation_shape shape;
    shape.reducing = rounds;
    shape.gathering = plan->param[0] < rounds ? rounds - plan->param[0] : 0;
    shape.width = coll_i_circulant_skip(p, shape.gathering);
    shape.twice = COLL_LOWEST_BIT(p) < rounds ? COLL_LOWEST_BIT(p) : rounds;
    shape.single = shape.twice < rounds ? shape.twice + 1 : rounds;
    shape.apart = shape.twice > 0 && !coll_in_place(plan) ? 1 : 0;
    shape.twice -= shape.apart;
    shape.sums = 2 * rounds - shape.single + shape.twice;
    return shape;
}

/* A reducing round: which blocks, from the sender's on and from the receiver's on. */
typedef struct coll_i_permutation_round {
    bool into_b;     /* else into A */
    bool has_b;      /* A ⊕ B is sent, else A */
    bool in_out;     /* A is in OUT, else in the input */
    uint32_t give;   /* first block sent, less the rank */
    uint32_t blocks; /* in the message */
} coll_i_permutation_round;

COLL_HOT_INLINE void coll_i_permutation_round_of(const coll_plan *plan,
                                                 const coll_i_permutation_shape *shape,
                                                 uint32_t k, coll_i_permutation_round *round)
{
    const uint32_t p = plan->problem.p, s = coll_i_circulant_skip(p, k), half = s >> 1;
    const uint32_t more = shape->width - 1, before = ((uint32_t)1 << k) - 1;
    round->into_b = (s & 1) != 0;
    round->has_b = k >= shape->single;
    round->in_out = coll_in_place(plan) || ((p - 1) & before) != 0; /* an even s before */
    round->give = s - half;
    round->blocks = more < p - half ? half + more : p;
}

/* SCRATCH: B, A ⊕ B to be sent, and messages to be combined. */
typedef struct coll_i_permutation_scratch {
    uint32_t b_first; /* the block at which B begins */
    size_t sum, via, end;
} coll_i_permutation_scratch;

COLL_INLINE void coll_i_permutation_scratch_of(const coll_plan *plan,
                                               const coll_i_permutation_shape *shape,
                                               uint32_t rank,
                                               coll_i_permutation_scratch *scratch)
{
    const uint32_t p = plan->problem.p;
    size_t b = 0, sums = 0, vias = 0;
    scratch->b_first = 0;
    for (uint32_t k = 0; k < shape->reducing; k++) {
        coll_i_permutation_round round;
        uint32_t taken;
        size_t sent, received;
        coll_i_permutation_round_of(plan, shape, k, &round);
        taken = coll_mod_add(rank, round.into_b ? 1 : 0, p);
        sent = coll_i_circulant_elements(plan, coll_mod_add(rank, round.give, p), round.blocks);
        received = coll_i_circulant_elements(plan, taken, round.blocks);
        if (round.has_b && sent > sums)
            sums = sent;
        if (round.into_b && !round.has_b) {
            b = received;
            scratch->b_first = round.blocks == p ? 0 : taken;
        } else if ((round.into_b || round.in_out) && received > vias)
            vias = received;
    }
    scratch->sum = b;
    scratch->via = b + sums;
    scratch->end = b + sums + vias;
}

/* Where B of a block is. */
COLL_HOT_INLINE coll_ref coll_i_permutation_b(const coll_plan *plan,
                                              const coll_i_permutation_scratch *scratch,
                                              uint32_t block)
{
    const uint32_t from = coll_mod_sub(block, scratch->b_first, plan->problem.p);
    return COLL_AT(COLL_SCRATCH, coll_i_circulant_elements(plan, scratch->b_first, from));
}

/* A ⊕ B of what is sent in the round; without a B, A ⊕ what has come. */
COLL_HOT_INLINE unsigned coll_i_permutation_add(const coll_plan *plan, uint32_t rank,
                                                const coll_i_permutation_round *round,
                                                const coll_i_permutation_scratch *scratch,
                                                coll_action *out)
{
    const coll_ref a = round->in_out ? COLL_AT(COLL_OUT, 0) : coll_input(plan);
    const bool sum = round->has_b;
    coll_i_circulant_run run;
    unsigned n = 0;
    coll_i_circulant_begin(plan, coll_mod_add(rank, sum ? round->give : 0, plan->problem.p),
                           round->blocks, &run);
    for (; run.left > 0; coll_i_circulant_next(plan, &run)) {
        const coll_ref via =
            COLL_AT(COLL_SCRATCH, (sum ? scratch->sum : scratch->via) + run.before);
        coll_act_reduce(&out[n++], sum ? via : a + run.at, a + run.at,
                        sum ? coll_i_permutation_b(plan, scratch, run.first) : via, run.count);
    }
    return n;
}

/* What comes to where something is still sent from is not combined at once: that would wait for the
 * send, and so would messages behind it that another rank waits for, where plans run side by side. */
COLL_HOT_INLINE unsigned coll_i_permutation_exchange(const coll_plan *plan, uint32_t rank,
                                                     const coll_i_permutation_round *round,
                                                     const coll_i_permutation_scratch *scratch,
                                                     coll_action *out)
{
    const uint32_t p = plan->problem.p, behind = round->into_b ? 1 : 0;
    const uint32_t distance = round->give - behind;
    const coll_ref a = round->in_out ? COLL_AT(COLL_OUT, 0) : coll_input(plan);
    const bool apart = round->in_out && !round->has_b && !round->into_b;
    coll_i_circulant_run run;
    unsigned n = 0;
    coll_i_circulant_begin(plan, coll_mod_add(rank, round->give, p), round->blocks, &run);
    for (; run.left > 0; coll_i_circulant_next(plan, &run))
        coll_act_send(&out[n++], coll_mod_add(rank, distance, p),
                      round->has_b ? COLL_AT(COLL_SCRATCH, scratch->sum + run.before)
                                   : a + run.at,
                      run.count);
    coll_i_circulant_begin(plan, coll_mod_add(rank, behind, p), round->blocks, &run);
    for (; run.left > 0; coll_i_circulant_next(plan, &run)) {
        const uint32_t peer = coll_mod_sub(rank, distance, p);
        const coll_ref via = COLL_AT(COLL_SCRATCH, scratch->via + run.before);
        const coll_ref to = round->into_b ? coll_i_permutation_b(plan, scratch, run.first)
                                          : COLL_AT(COLL_OUT, run.at);
        if (apart || (round->into_b && !round->has_b))
            coll_act_recv(&out[n++], peer, apart ? via : to, run.count);
        else
            coll_act_recv_reduce(&out[n++], peer, to, round->into_b ? to : a + run.at,
                                 round->into_b || round->in_out ? via : to, run.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_permutation_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_permutation_shape shape = coll_i_permutation_shape_of(plan);
    (void)rank;
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return (size_t)shape.sums + shape.gathering;
}

COLL_INLINE unsigned coll_i_permutation_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const coll_i_permutation_shape shape = coll_i_permutation_shape_of(plan);
    const uint32_t step = (uint32_t)s,
                   behind = step - shape.twice; /* the steps that are second */
    const bool apart = step >= shape.apart && step - shape.apart < 2 * shape.twice;
    const bool alone = !apart && (step < shape.apart || behind < shape.single);
    const uint32_t first = apart ? shape.apart : shape.single;
    const uint32_t in = (apart ? step : behind) - first; /* step of its rounds of two */
    const uint32_t k = !alone ? first + (in >> 1) : step < shape.apart ? step : behind;
    coll_i_permutation_round round;
    coll_i_permutation_scratch scratch;
    if (plan->problem.p == 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), plan->problem.count);
        return 1;
    }
    if (step >= shape.sums)
        return coll_i_circulant_gather(plan, rank, shape.gathering - 1 - (step - shape.sums),
                                       out);
    coll_i_permutation_round_of(plan, &shape, k, &round);
    coll_i_permutation_scratch_of(plan, &shape, rank, &scratch);
    if (!alone && (in & 1) == (apart ? 1 : 0))
        return coll_i_permutation_add(plan, rank, &round, &scratch, out);
    return coll_i_permutation_exchange(plan, rank, &round, &scratch, out);
}

COLL_INLINE size_t coll_i_permutation_scratch_elements(const coll_plan *plan, uint32_t rank)
{
    const coll_i_permutation_shape shape = coll_i_permutation_shape_of(plan);
    coll_i_permutation_scratch scratch;
    coll_i_permutation_scratch_of(plan, &shape, rank, &scratch);
    return scratch.end;
}

COLL_ALGORITHM(coll_permutation_group_allreduce, "permutation_group", "Kolmakov, Zhang 2020",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE,
    /* window */ 3, /* sends */ 2, COLL_PARAMS(1, coll_i_permutation_params),
    coll_i_permutation_steps, coll_i_permutation_step, coll_i_permutation_scratch_elements);

#endif /* COLL_ALGOS_PERMUTATION_GROUP_H */
