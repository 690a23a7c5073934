/* coll/algos/kprefix_lb.h — allgather(v): k-prefix whose ranks loose barriers keep in step
 *
 * The permutations of kprefix.h share no link only while all ranks are at the same one. So after
 * every few stages there is a barrier, and a loose one: its rounds ride on the stages that follow,
 * one on each. In the first, a rank tells its right neighbour when all that was to come before the
 * barrier is here. Who has heard of the s ranks to its left then tells the rank s further on, s =
 * 1, 2, 4 …, until all have heard of all others. What is sent after the last round waits for it.
 * Nobody stops for a barrier that everyone reaches in time, and nobody gets two intervals ahead of
 * another. An interval with fewer stages than the rounds is doubled until it has as many; a
 * barrier that would not end before the last stage is left out, and two ranks have none.
 *
 *   p = 16, k = 4, every = 5: a third barrier would need stages 15 … 19
 *       stage             0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
 *       round of kprefix  0           1           2           3
 *       to the right                     1  1  2  4  8  1  1  2  4  8
 *
 * For this, all partitions have the same stages: those of one that lacks lanes may be empty.
 *
 * Laws (tests/algos/kprefix_lb.c)
 *   (1) without its notifications it is kprefix, and the own block leaves from OUT
 *   (2) barrier b's round i is on stage b·interval + i of all ranks, and leads 2^max(i−1, 0) to
 *       the right
 *   (3) its first notification names all data, the others all tokens of its earlier rounds; the
 *       awaits follow each other, and the last one covers all data
 *   (4) what a rank sends after the last round follows everything that any rank had to receive
 *       before the first
 * Cost    that of kprefix.h, and ℓ = 1 + ⌈log2(p−1)⌉ messages of 0 bytes per rank and barrier, of
 *         which there are ⌊(stages − ℓ) / interval⌋: α_b each, if it is not hidden; ℓ rounds more
 *         for each if k = 2^i divides p and no node is missing, else less than two rounds a stage
 *         and these
 * Source  Kumar 2004 (k-prefix-lb)
 */
#ifndef COLL_ALGOS_KPREFIX_LB_H
#define COLL_ALGOS_KPREFIX_LB_H

#include "kit/derived.h"
#include "kprefix.h"

COLL_TABLE(coll_param, coll_i_kprefix_lb_params, {
    COLL_PARAM("k", "nodes of a partition", 1, 65536, 8, {3, 100, 3, 3}),
    COLL_PARAM("every", "stages from barrier to barrier", 1, UINT32_MAX, 16, {2, 3, 5, 2}),
    COLL_I_MACHINE_PARAM});

COLL_INLINE coll_status coll_i_kprefix_lb_check(const coll_plan *plan)
{
    return coll_i_machine_check(plan, plan->param[2]);
}

COLL_INLINE size_t coll_i_kprefix_lb_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_kprefix_count(plan, rank, plan->param[2], true);
}

/* Of a barrier: 0 where there is none. */
COLL_HOT_INLINE uint32_t coll_i_kprefix_lb_rounds(uint32_t p)
{
    return p > 2 ? 1 + coll_log2_ceil(p - 1) : 0;
}

/* Which barrier round rides on stage u of `stages`, counted through all rounds; `rounds`: none.
 * The last barrier is left out where its rounds do not fit. */
COLL_INLINE uint32_t coll_i_kprefix_lb_round(const coll_plan *plan, uint32_t stages,
                                             uint32_t rounds, uint32_t u)
{
    const uint32_t every = plan->param[1];
    const uint32_t doubled =
        every < rounds ? coll_log2_ceil(coll_divide(rounds - 1, &plan->second) + 1) : 0;
    const uint32_t barrier = coll_divide(u, &plan->second) >> doubled;
    const uint32_t start = (barrier * every) << doubled;
    return barrier > 0 && u - start < rounds && stages - start >= rounds ? u - start : rounds;
}

/* The tokens are elements of OUT behind all data, that of an earlier round further behind: an
 * await's one range reaches from its token down to the last, which keeps awaits in order, and the
 * last one's on to all data. A notification must not name what its own await covers, because it
 * may end only after that has begun: so its range has the tokens of earlier rounds alone, and
 * only the first one, for which later ones need not speak again, the data. */
COLL_INLINE unsigned coll_i_kprefix_lb_tokens(const coll_plan *plan, uint32_t rank,
                                              uint32_t rounds, uint32_t round, coll_action *out)
{
    const uint32_t p = plan->problem.p, distance = round == 0 ? 1 : (uint32_t)1 << (round - 1);
    const size_t room = COLL_REF_LIMIT / 4 - 64, mine = rounds - round;
    const coll_ref data = COLL_AT(COLL_OUT, 0), tokens = data + room;
    const bool last = round + 1 == rounds;
    coll_act_notify(&out[0], coll_mod_add(rank, distance, p),
                    round == 0 ? data : tokens + mine + 1, round == 0 ? room : round);
    coll_act_await(&out[1], coll_mod_sub(rank, distance, p), last ? data : tokens,
                   last ? room + mine + 1 : mine + 1);
    return 2;
}

/* The own block leaves from OUT, where a barrier can hold it back. */
COLL_HOT_INLINE unsigned coll_i_kprefix_lb_moves(const coll_plan *plan, uint32_t rank, size_t s,
                                                 uint32_t nodes, coll_action *out)
{
    const coll_i_kprefix it = coll_i_kprefix_of(plan, nodes, true);
    const coll_i_kprefix_part part = coll_i_kprefix_part_of(&it, rank);
    const coll_i_kprefix_bits bits = coll_i_kprefix_bits_of(&it, &part);
    const uint32_t rounds = coll_i_kprefix_lb_rounds(plan->problem.p);
    unsigned n = s == 0 ? coll_i_kprefix_own(plan, rank, out) : 0;
    if (rounds > 0 && (s & (((size_t)1 << bits.role) - 1)) == 0) {
        const uint32_t round = coll_i_kprefix_lb_round(plan, it.parts << bits.stage, rounds,
                                                       (uint32_t)(s >> bits.role));
        if (round < rounds)
            n += coll_i_kprefix_lb_tokens(plan, rank, rounds, round, &out[n]);
    }
    return n + coll_i_kprefix_moves(plan, rank, s, nodes, true, &out[n]);
}

COLL_INLINE unsigned coll_i_kprefix_lb_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const uint32_t nodes = plan->param[2];
    return nodes ? coll_i_kprefix_lb_moves(plan, rank, s, nodes, out)
                 : coll_i_kprefix_lb_moves(plan, rank, s, 0, out);
}

COLL_ALGORITHM(coll_kprefix_lb_allgather, "kprefix_lb", "Kumar 2004, k-prefix-lb",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_USES_GROUP,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(3, coll_i_kprefix_lb_params, coll_i_prepare_radixes),
    coll_i_kprefix_lb_steps, coll_i_kprefix_lb_step, NULL, coll_i_kprefix_lb_check);

#endif /* COLL_ALGOS_KPREFIX_LB_H */
