/* coll/algos/kit/ring_lanes.h — several rings of the same ranks at once, and which step sends what on which
 *
 * Ring i goes up if i is even, else down, in steps of a stride that has no factor in common with p: so
 * it comes to all ranks. A phase of an algorithm is p−1 rounds, in each of which every ring passes on
 * the piece that it got in the round before, segment by segment. Steps are numbered by round, ring,
 * segment. The caller's plan has `rings` and `segment` as param[0] and param[1], which is 0 where there
 * is none.
 *
 *   p = 9:   ring      0    1    2    3    4    5    6
 *            to      r+1  r−1  r+2  r−2  r+4  r−4  r+1
 *
 * Laws (tests/algos/multi_ring.c): those of multi_ring.h
 */
#ifndef COLL_ALGOS_KIT_RING_LANES_H
#define COLL_ALGOS_KIT_RING_LANES_H

#include "../../plan.h"

/* Have they no factor in common? b > 0. */
COLL_HOT_INLINE bool coll_i_coprime(uint32_t a, uint32_t b)
{
    while (b > 0) {
        const uint32_t rest = a - (uint32_t)coll_i_quotient(a, b) * b;
        a = b;
        b = rest;
    }
    return a == 1;
}

/* How far a ring goes at a step: law 1. */
COLL_HOT_INLINE uint32_t coll_i_ring_stride(uint32_t p, uint32_t ring)
{
    uint32_t stride = 1;
    for (uint32_t i = ring >> 1; i > 0; i--) {
        do
            stride = stride >= p / 2 ? 1 : stride + 1;
        while (!coll_i_coprime(p, stride));
    }
    return stride;
}

/* A step: a piece, or a segment of one, goes on. */
typedef struct coll_i_ring_lane {
    uint32_t rings, ring;
    uint32_t to, from;
    uint32_t give, take; /* blocks */
    size_t round;
    size_t segment, segments; /* of a piece */
} coll_i_ring_lane;

/* The rank `rounds` ≤ p rounds back on the ring, or on. */
COLL_HOT_INLINE uint32_t coll_i_lane_rank(uint32_t p, uint32_t rank,
                                          const coll_i_ring_lane *lane, size_t rounds,
                                          bool back)
{
    uint32_t term = rounds < p ? (uint32_t)rounds : 0, distance = 0;
    for (uint32_t stride = coll_i_ring_stride(p, lane->ring); stride > 0; stride >>= 1) {
        if (stride & 1)
            distance = coll_mod_add(distance, term, p);
        term = coll_mod_add(term, term, p);
    }
    return back == ((lane->ring & 1) == 0) ? coll_mod_sub(rank, distance, p)
                                           : coll_mod_add(rank, distance, p);
}

/* The segments of the largest piece, of blocks of up to `largest` elements. */
COLL_HOT_INLINE size_t coll_i_lane_segments(const coll_plan *plan, size_t largest)
{
    const uint32_t rings = plan->param[0];
    return coll_segments(coll_i_quotient(largest + rings - 1, rings), plan->param[1]);
}

/* Step s; the block that is sent in round t of a phase of p−1 rounds began `skew` + t ranks back on
 * the ring. p > 1 */
COLL_HOT_INLINE void coll_i_lane_at(const coll_plan *plan, uint32_t rank, size_t s,
                                    size_t segments, coll_i_ring_lane *lane)
{
    const uint32_t p = plan->problem.p;
    const size_t messages = coll_i_quotient(s, segments);
    size_t t, skew;
    lane->segments = segments;
    lane->segment = s - messages * segments;
    lane->rings = plan->param[0];
    lane->round = coll_i_quotient(messages, lane->rings);
    lane->ring = (uint32_t)(messages - lane->round * lane->rings);
    t = lane->round < p - 1 ? lane->round : lane->round - (p - 1);
    skew = coll_is(COLL_REDUCING, plan->problem.collective) && lane->round < p - 1 ? 1 : 0;
    lane->to = coll_i_lane_rank(p, rank, lane, 1, false);
    lane->from = coll_i_lane_rank(p, rank, lane, 1, true);
    lane->give = coll_i_lane_rank(p, rank, lane, t + skew, true);
    lane->take = coll_i_lane_rank(p, rank, lane, t + skew + 1, true);
}

/* What of a block goes by a step's message, from the block's beginning on. */
COLL_HOT_INLINE coll_block coll_i_lane_piece(const coll_plan *plan,
                                             const coll_i_ring_lane *lane, size_t count)
{
    const coll_partition cut = coll_partition_of(count, lane->rings);
    const size_t segment = plan->param[1];
    coll_block piece;
    piece.offset = coll_part_offset(cut, lane->ring);
    piece.count = coll_part_offset(cut, lane->ring + 1) - piece.offset;
    if (lane->segments > 1) {
        const size_t before =
            segment * lane->segment < piece.count ? segment * lane->segment : piece.count;
        piece.offset += before;
        piece.count -= before;
        piece.count = piece.count > segment ? segment : piece.count;
    }
    return piece;
}

#endif /* COLL_ALGOS_KIT_RING_LANES_H */
