/* coll/algos/trivance_blocks.h — reduce_scatter(_block), allgather(v): by thirds on a ring, for any p
 *
 * What a rank has is an interval of blocks about its own. In a reduce_scatter it is all p of them at
 * first: the rank keeps the middle third, and gives the upper third to the rank as far above as the
 * third is long, the lower one to the rank as far below. So it takes ⌈log3 p⌉ rounds, both
 * directions of a ring are used, and no rank folds: where thirds are not equal, the lower one is
 * shorter. For p = 3^m the distances are powers of three, as in trivance.h. An allgather is the same
 * backwards: the interval triples.
 *
 *   p = 7, reduce_scatter:  blocks that rank r has, keeps, and gives
 *       round 0     r−2 … r+4    r−1 … r+1       r+2 … r+4 to rank r+3, r−2 to rank r−3
 *       round 1     r−1 … r+1    r               r+1 to rank r+1,       r−1 to rank r−1
 *
 * Laws (tests/algos/trivance_blocks.c)
 *   (1) before round k of a reduce_scatter a rank has ⌈p/3^k⌉ blocks; it sends the last ⌈p/3^(k+1)⌉
 *       of them so far up, and the first ones, but as many again for itself, so far down
 *   (2) the turns of an allgather are those of a reduce_scatter backwards, the other way
 *   (3) each block of a reduce_scatter is sent once by every rank but its own
 * Cost    ⌈log3 p⌉ rounds of two messages, of one the last where 3^m < p ≤ 2·3^m, and that before it
 *         too where p ≤ 4·3^(m−1); p−1 blocks sent by a rank. A message whose blocks go on from block
 *         p−1 to block 0 is two, of a reduce_scatter in round 0 only.
 *         scratch of a reduce_scatter: ⌈p/3⌉ blocks, and as messages come into them ⌈p/9⌉ and what
 *         comes from above at the most
 * Source  Juerss, Addanki, Schmid 2026, arXiv:2602.17254; thirds of any p: after Träff 2025,
 *         doi:10.34726/10760
 */
#ifndef COLL_ALGOS_TRIVANCE_BLOCKS_H
#define COLL_ALGOS_TRIVANCE_BLOCKS_H

#include "circulant.h"
#include "kit/thirds.h"
#include "trivance.h"

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* A rank's sums are in SCRATCH, from the first block that it keeps in round 0 on, and behind them
 * the messages of first turns, and those of second turns, that come to where sums are. */
typedef struct coll_i_thirds_sums {
    uint32_t first;        /* block; */
    uint32_t kept, second; /* blocks kept in round 0, in round 1 */
    coll_ref up, down;     /* staging */
    coll_ref home;         /* of the result */
    bool direct;           /* it is in OUT */
} coll_i_thirds_sums;

COLL_HOT_INLINE void coll_i_thirds_sums_of(const coll_plan *plan, uint32_t rank,
                                           coll_i_thirds_sums *sums)
{
    const uint32_t p = plan->problem.p;
    coll_i_thirds at;
    coll_i_thirds_at(plan, 0, &at);
    sums->first = coll_mod_sub(rank, at.lower, p);
    sums->kept = at.keep;
    sums->second = at.keep > 1 ? coll_i_third(plan, at.keep) : 0;
    sums->direct = at.keep > 1 || !coll_in_place(plan);
    sums->home = COLL_AT(sums->direct ? COLL_OUT : COLL_SCRATCH, 0);
    sums->up = COLL_AT(COLL_SCRATCH, 0);
    if (at.keep > 1 || !sums->direct)
        sums->up += coll_i_circulant_elements(plan, sums->first, sums->kept);
    sums->down = sums->up;
    if (sums->second > 1) { /* else the only message into the sums comes from above */
        coll_i_thirds_at(plan, at.below > 0 ? 2 : 1, &at);
        sums->down += coll_i_circulant_elements(plan, coll_mod_sub(rank, at.lower, p), at.keep);
    }
}

COLL_INLINE size_t coll_i_thirds_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    if (p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return coll_i_thirds_turns(plan) + (size_t)(p <= 3 && coll_in_place(plan) ? 1 : 0);
}

/* Where the sum of a block that the rank keeps in round 0 lies, or of a run from it on. */
COLL_HOT_INLINE coll_ref coll_i_thirds_sum(const coll_plan *plan,
                                           const coll_i_thirds_sums *sums, uint32_t block)
{
    return COLL_AT(COLL_SCRATCH,
                   coll_i_circulant_elements(
                       plan, sums->first, coll_mod_sub(block, sums->first, plan->problem.p)));
}

/* Round 0 takes from the input: two messages for what goes on from block p−1 to block 0. */
COLL_HOT_INLINE unsigned coll_i_thirds_first(const coll_plan *plan,
                                             const coll_i_thirds_sums *sums,
                                             const coll_i_thirds *at,
                                             const coll_i_thirds_move *move, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_ref input = coll_input(plan);
    coll_ref sum = at->keep == 1 ? sums->home : coll_i_thirds_sum(plan, sums, move->take);
    coll_ref staging = sums->down;
    unsigned n = 0;
    for (uint32_t i = 0, first = move->give, run; i < move->blocks; i += run, first = 0) {
        const size_t begin = coll_i_circulant_at(plan, first);
        run = move->blocks - i < p - first ? move->blocks - i : p - first;
        coll_act_send(&out[n++], move->to, input + begin,
                      coll_i_circulant_at(plan, first + run) - begin);
    }
    for (uint32_t i = 0, first = move->take, run; i < move->blocks; i += run, first = 0) {
        const size_t begin = coll_i_circulant_at(plan, first);
        size_t count;
        run = move->blocks - i < p - first ? move->blocks - i : p - first;
        count = coll_i_circulant_at(plan, first + run) - begin;
        coll_act_recv_reduce(&out[n++], move->from, sum, at->down ? sum : input + begin,
                             at->down ? staging : sum, count);
        sum += count;
        staging += count;
    }
    return n;
}

COLL_INLINE unsigned coll_i_thirds_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t own = coll_i_circulant_elements(plan, rank, 1);
    coll_i_thirds_sums sums;
    coll_i_thirds at;
    coll_i_thirds_move move;
    coll_ref sum, home;
    size_t count;
    if (p == 1 || (p <= 3 && s == coll_i_thirds_turns(plan))) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(p == 1 ? COLL_IN : COLL_SCRATCH, 0),
                      own);
        return 1;
    }
    coll_i_thirds_sums_of(plan, rank, &sums);
    coll_i_thirds_at(plan, (uint32_t)s, &at);
    coll_i_thirds_move_of(plan, rank, &at, &move);
    if (at.round == 0)
        return coll_i_thirds_first(plan, &sums, &at, &move, out);
    coll_act_send(&out[0], move.to, coll_i_thirds_sum(plan, &sums, move.give),
                  coll_i_circulant_elements(plan, move.give, move.blocks));
    sum = coll_i_thirds_sum(plan, &sums, move.take);
    home = at.keep == 1 ? sums.home : sum;
    count = coll_i_circulant_elements(plan, move.take, move.blocks);
    if (at.down)
        coll_act_recv_reduce(&out[1], move.from, home, home, sums.down, count);
    else
        coll_act_recv_reduce(&out[1], move.from, home, sum, home == sum ? sums.up : home,
                             count);
    return 2;
}

COLL_INLINE size_t coll_i_thirds_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t turns = coll_i_thirds_turns(plan);
    coll_i_thirds_sums sums;
    size_t most = 0;
    if (plan->problem.p == 1)
        return 0;
    coll_i_thirds_sums_of(plan, rank, &sums);
    for (uint32_t turn = 0; turn < turns; turn++) {
        coll_i_thirds at;
        coll_i_thirds_move move;
        coll_i_thirds_at(plan, turn, &at);
        coll_i_thirds_move_of(plan, rank, &at, &move);
        if (at.down) {
            const size_t count = coll_i_circulant_elements(plan, move.take, move.blocks);
            most = count > most ? count : most;
        }
    }
    return coll_ref_offset(sums.down) + most;
}

COLL_ALGORITHM(coll_trivance_reduce_scatter, "trivance", "Juerss, Addanki, Schmid 2026",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_thirds),
    coll_i_thirds_reduce_scatter_steps, coll_i_thirds_reduce_scatter_step, coll_i_thirds_scratch);

/* ---- allgather --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_thirds_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 ? (coll_in_place(plan) ? 0 : 1) : coll_i_thirds_turns(plan);
}

/* What a turn of a reduce_scatter takes goes back to where that came from. */
COLL_INLINE unsigned coll_i_thirds_allgather_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    unsigned n = 0;
    coll_i_thirds at;
    at.round = at.keep = 0;
    if (p > 1) {
        coll_i_thirds_move move;
        coll_i_thirds_at(plan, coll_i_thirds_turns(plan) - 1 - (uint32_t)s, &at);
        coll_i_thirds_move_of(plan, rank, &at, &move);
        n = coll_i_circulant_move(plan, true, move.from, move.take, move.blocks, out);
        n += coll_i_circulant_move(plan, false, move.to, move.give, move.blocks, &out[n]);
        if (at.keep == 1 && !coll_in_place(plan))
            out[0].src = COLL_AT(COLL_IN, 0);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, coll_i_circulant_at(plan, rank)),
                      COLL_AT(COLL_IN, 0), coll_own_count(plan, rank));
    return n;
}

COLL_ALGORITHM(coll_trivance_allgather, "trivance", "Juerss, Addanki, Schmid 2026",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_thirds),
    coll_i_thirds_allgather_steps, coll_i_thirds_allgather_step);

#endif /* COLL_ALGOS_TRIVANCE_BLOCKS_H */
