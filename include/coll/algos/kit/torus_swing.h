/* coll/algos/kit/torus_swing.h — swinging exchanges on a torus of two dimensions, one after the other
 *
 * Rank y·width + x, p and width powers of two, param[0] the width. Rounds alternate between rows and
 * columns, rows first, until one of them has had all its rounds; then the other goes on. In its σ-th
 * round a dimension's partners are those of round σ on a ring (plan/topo/fold.h). So the distances of
 * the first rounds are 1, 1, 1, 1, 3, 3 where those on one ring of all ranks are 1, 1, 3, 5, 11, 21.
 * The digits of a rank's slot, from the highest, are those of its column's and its row's slot in the
 * order of the rounds.
 *
 *   width 4, p = 8:   round      0    1    2
 *                     along     row  col  row
 *                     rank 0 ↔   1    4    3       rank 5 ↔  4  1  6
 *
 * Laws (tests/algos/swing_torus.c): those of swing_torus.h
 */
#ifndef COLL_ALGOS_KIT_TORUS_SWING_H
#define COLL_ALGOS_KIT_TORUS_SWING_H

#include "../../plan.h"

/* A dimension, and its round. */
typedef struct coll_i_torus_round {
    bool across; /* from row to row */
    uint32_t t;
} coll_i_torus_round;

/* Rounds along a row; those along a column are the others. Without the traits, as the verifier tries
 * it, a row may be longer than there are ranks. */
COLL_HOT_INLINE uint32_t coll_i_torus_row_rounds(const coll_plan *plan)
{
    const uint32_t rows = COLL_HIGHEST_BIT(plan->param[0]);
    return rows < plan->fold.rounds ? rows : plan->fold.rounds;
}

COLL_HOT_INLINE void coll_i_torus_round_of(const coll_plan *plan, uint32_t t,
                                           coll_i_torus_round *at)
{
    const uint32_t rows = coll_i_torus_row_rounds(plan), columns = plan->fold.rounds - rows;
    const uint32_t both = rows < columns ? rows : columns;
    at->across = t < 2 * both ? (t & 1) != 0 : rows < columns;
    at->t = t < 2 * both ? t >> 1 : t - both;
}

/* The ring of a dimension, as a core. */
COLL_HOT_INLINE void coll_i_torus_ring(const coll_plan *plan, bool across, coll_fold *ring)
{
    const uint32_t rows = coll_i_torus_row_rounds(plan);
    ring->rounds = across ? plan->fold.rounds - rows : rows;
    ring->core = (uint32_t)1 << ring->rounds;
    ring->extra = 0;
    ring->top = 2;
}

/* The number's place in the ring of a dimension. */
COLL_HOT_INLINE uint32_t coll_i_torus_place(const coll_plan *plan, bool across, uint32_t number)
{
    return across ? number >> coll_i_torus_row_rounds(plan) : number & (plan->param[0] - 1);
}

/* The slot of a number. O(log p) */
COLL_HOT_INLINE uint32_t coll_i_torus_slot(const coll_plan *plan, uint32_t number)
{
    uint32_t slots[2], slot = 0;
    coll_fold ring;
    for (uint32_t across = 0; across < 2; across++) {
        coll_i_torus_ring(plan, across == 1, &ring);
        slots[across] = coll_swing_slot(&ring, coll_i_torus_place(plan, across == 1, number));
    }
    for (uint32_t t = 0; t < plan->fold.rounds; t++) {
        coll_i_torus_round at;
        coll_i_torus_round_of(plan, t, &at);
        coll_i_torus_ring(plan, at.across, &ring);
        slot = slot << 1 | (slots[at.across ? 1 : 0] >> (ring.rounds - 1 - at.t) & 1u);
    }
    return slot;
}

/* The number that has a slot. O(log p) */
COLL_HOT_INLINE uint32_t coll_i_torus_number(const coll_plan *plan, uint32_t slot)
{
    uint32_t slots[2], number = 0;
    slots[0] = slots[1] = 0;
    for (uint32_t t = 0; t < plan->fold.rounds; t++) {
        coll_i_torus_round at;
        coll_i_torus_round_of(plan, t, &at);
        slots[at.across ? 1 : 0] =
            slots[at.across ? 1 : 0] << 1 | (slot >> (plan->fold.rounds - 1 - t) & 1u);
    }
    for (uint32_t across = 2; across-- > 0;) {
        coll_fold ring;
        coll_i_torus_ring(plan, across == 1, &ring);
        number = number << ring.rounds | coll_swing_number(&ring, slots[across]);
    }
    return number;
}

/* Like coll_swing_slots. */
COLL_HOT_INLINE coll_mirrors coll_i_torus_slots(const coll_plan *plan, uint32_t number,
                                                uint32_t t)
{
    coll_mirrors m;
    m.span = plan->fold.core >> t;
    m.first = coll_i_torus_slot(plan, number) & ~(m.span - 1);
    return m;
}

/* Like coll_swing_exchange. */
COLL_HOT_INLINE coll_exchange coll_i_torus_exchange(const coll_plan *plan, uint32_t number,
                                                    uint32_t t)
{
    const uint32_t rows = coll_i_torus_row_rounds(plan);
    coll_i_torus_round at;
    coll_fold ring;
    coll_exchange x;
    uint32_t place, partner;
    coll_i_torus_round_of(plan, t, &at);
    coll_i_torus_ring(plan, at.across, &ring);
    place = coll_i_torus_place(plan, at.across, number);
    partner = number + ((coll_swing_partner(ring.core, place, at.t) - place)
                        << (at.across ? rows : 0)); /* modulo 2^32 */
    x.radix = 2;
    x.digit = coll_swing_slot(&ring, place) >> (ring.rounds - 1 - at.t) & 1u;
    x.first = x.digit ? partner : number;
    x.stride = x.digit ? number - partner : partner - number;
    x.below = 0;
    return x;
}

#endif /* COLL_ALGOS_KIT_TORUS_SWING_H */
