/* coll/algos/kit/bine_rounds.h — rounds of the Bine butterfly: whom a rank meets, with what
 *
 * All ranks at once grow the runs of a Bine tree. In round t even ranks meet the rank ρ(t) = 1 − 2
 * + 4 − … ± 2^t above theirs, odd ones the rank ρ(t) below. What a rank has is a run of blocks
 * around the ring, and what it gets lies at one end of it: after it, before it, and so on. The last
 * round takes no more than is missing. Where a run passes the last rank, it is two pieces. If p is
 * odd, rank p−1 is extra, and the one before its proxy.
 *
 * Laws (tests/algos/bine_butterfly.c): (1) to (4) of bine_butterfly.h
 * Source  De Sensi et al. 2025, doi:10.1145/3712285.3759835
 */
#ifndef COLL_ALGOS_KIT_BINE_ROUNDS_H
#define COLL_ALGOS_KIT_BINE_ROUNDS_H

#include "../../plan.h"

/* ---- rounds ------------------------------------------------------------------------------ */

/* A rank's part. */
typedef struct coll_i_bine_member {
    uint32_t size;   /* the ranks that take part in rounds: p, or p−1 where that is odd */
    uint32_t rounds; /* ⌈log2 size⌉ */
    bool extra;      /* rank p−1, where p is odd: hands over and is handed */
    bool proxy;      /* the one before: has a step before the rounds and one after */
} coll_i_bine_member;

COLL_HOT_INLINE coll_i_bine_member coll_i_bine_member_of(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    coll_i_bine_member me;
    me.size = p & ~(uint32_t)1;
    me.rounds = coll_log2_ceil(me.size);
    me.extra = rank == me.size;
    me.proxy = (p & 1u) && rank + 2 == p;
    return me;
}

/* Runs of ranks around the ring of `size`: `ranks` from a first one on. */
typedef struct coll_i_bine_round {
    uint32_t partner;
    uint32_t give, take; /* the first rank of what is given and taken, as in an allgather */
    uint32_t ranks;      /* of each of them */
    uint32_t rest;       /* the first of what the rank has and does not give … */
    uint32_t rests;      /* … and how many that are: none but, perhaps, in the last round */
} coll_i_bine_round;

COLL_HOT_INLINE coll_i_bine_round coll_i_bine_round_of(const coll_i_bine_member *me,
                                                       uint32_t rank, uint32_t t)
{
    const uint32_t has = (uint32_t)1 << t, size = me->size;
    const uint32_t reach = (0xaaaaaaaau >> (~t & 1u)) & (has - 1); /* of it on this side */
    coll_i_bine_round x;
    x.ranks = has < size - has ? has : size - has;
    x.rests = has - x.ranks;
    if (((rank ^ t) & 1u) == 0) { /* the partner is above */
        x.partner = coll_mod_add(rank, 2 * reach + 1, size);
        x.take = coll_mod_add(rank, reach + 1, size);
        x.give = coll_mod_sub(x.take, x.ranks, size);
        x.rest = coll_mod_sub(x.give, x.rests, size);
    } else {
        x.partner = coll_mod_sub(rank, 2 * reach + 1, size);
        x.give = coll_mod_sub(rank, reach, size);
        x.take = coll_mod_sub(x.give, x.ranks, size);
        x.rest = coll_mod_add(x.give, x.ranks, size);
    }
    return x;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Where the block of a rank, or its part of the vector, begins; of `size`, where all ends. */
COLL_HOT_INLINE size_t coll_i_bine_at(const coll_plan *plan, const coll_i_bine_member *me,
                                      uint32_t rank)
{
    const uint32_t p = plan->problem.p, i = rank < me->size ? rank : p;
    if (plan->problem.collective == COLL_ALLREDUCE)
        return coll_part_offset(plan->cut, i);
    return coll_i_layout_at(
        coll_is(COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), plan->problem.collective)
            ? &plan->problem.out
            : &plan->problem.in,
        plan->problem.count, p, i);
}

/* Piece 0 or 1 of a run: up to the end of the ring, and from its begin. */
COLL_HOT_INLINE coll_block coll_i_bine_piece(const coll_plan *plan,
                                             const coll_i_bine_member *me, uint32_t first,
                                             uint32_t ranks, unsigned i)
{
    const uint32_t straight = me->size - first;
    const uint32_t begin = i == 0 ? first : 0;
    const uint32_t end = i == 0 ? (ranks < straight ? first + ranks : me->size)
                                : (ranks < straight ? 0 : ranks - straight);
    coll_block piece;
    piece.offset = coll_i_bine_at(plan, me, begin);
    piece.count = coll_i_bine_at(plan, me, end) - piece.offset;
    return piece;
}

/* Elements of a run. */
COLL_HOT_INLINE size_t coll_i_bine_elements(const coll_plan *plan, const coll_i_bine_member *me,
                                            uint32_t first, uint32_t ranks)
{
    return coll_i_bine_piece(plan, me, first, ranks, 0).count +
           coll_i_bine_piece(plan, me, first, ranks, 1).count;
}

COLL_HOT_INLINE size_t coll_i_bine_all(const coll_plan *plan, const coll_i_bine_member *me)
{
    return coll_i_bine_at(plan, me, me->size);
}

/* ---- gathering --------------------------------------------------------------------------- */

/* Round t; `from` holds what is given. Messages of no elements are none. */
COLL_HOT_INLINE unsigned coll_i_bine_gather(const coll_plan *plan, const coll_i_bine_member *me,
                                            uint32_t rank, uint32_t t, coll_ref from,
                                            coll_action *out)
{
    const coll_i_bine_round x = coll_i_bine_round_of(me, rank, t);
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        const coll_block give = coll_i_bine_piece(plan, me, x.give, x.ranks, i);
        if (give.count > 0)
            coll_act_send(&out[n++], x.partner, from + give.offset, give.count);
    }
    for (unsigned i = 0; i < 2; i++) {
        const coll_block take = coll_i_bine_piece(plan, me, x.take, x.ranks, i);
        if (take.count > 0)
            coll_act_recv(&out[n++], x.partner, COLL_AT(COLL_OUT, take.offset), take.count);
    }
    return n;
}

#endif /* COLL_ALGOS_KIT_BINE_ROUNDS_H */
