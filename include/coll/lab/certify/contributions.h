/* coll/lab/certify/contributions.h — what an element is a sum of, for many elements in one record
 *
 * An element that a rank holds is a sum of element e of the inputs of some ranks; where nothing is
 * reduced, of one. So a value is a number e and a set of ranks. The sets of certified algorithms are
 * runs of ranks, past rank p−1 to rank 0; of recursive halving they are the ranks of all core numbers
 * that are equal modulo a stride. Then one record of a few integers says what a whole run of elements
 * is: from one to the next, e or the set moves on by one, or stays.
 *
 *   OUT of rank 2 after a gather among 4   e = 0, set {0} moves      4 elements, one of each rank
 *   a partial sum in a ring of 4           e = 3, set {3, 0, 1}      IN[3] of ranks 3, 0, 1
 *   IN of an alltoall on rank 1            e = 0 moves, set {1}      4 elements for 4 ranks
 */
#ifndef COLL_LAB_CERTIFY_CONTRIBUTIONS_H
#define COLL_LAB_CERTIFY_CONTRIBUTIONS_H

#include "../../plan.h"

/* What an element is, and those after it. */
typedef struct coll_contributions {
    uint32_t element;      /* of the inputs, in elements */
    uint32_t first, ranks; /* a run: `ranks` ranks from `first` on, past rank p−1 to rank 0 */
    uint32_t stride;       /* not 0: all ranks of core numbers that are `first` modulo it */
    uint8_t element_moves; /* 1: the next element is the next one of the inputs */
    uint8_t first_moves;   /* 1: … and is of the next rank */
} coll_contributions;

/* Halves of a core number to which a rank is folded: `ranks` where stride is not 0. */
enum { COLL_I_HALF_LOWER = 1, COLL_I_HALF_UPPER = 2, COLL_I_HALF_BOTH = 3 };

/* In which problem they are compared. */
typedef struct coll_i_inputs {
    uint32_t p, core;  /* ranks, and of halving the ranks of the core */
    uint32_t elements; /* of an input: their numbers end there, and begin again */
    bool commutes;     /* sets have no order */
    bool merges;       /* of a barrier: a set may have ranks of another one */
} coll_i_inputs;

COLL_INLINE uint32_t coll_i_next_of(uint32_t x, size_t steps, uint32_t end)
{
    return (uint32_t)(((uint64_t)x + steps) % end);
}

/* A set of all has no first rank, where there is no order. */
COLL_INLINE void coll_i_contributions_tidy(const coll_i_inputs *in, coll_contributions *c)
{
    if (c->stride == 0 && c->ranks == in->p) {
        c->first = in->commutes || in->merges ? 0 : c->first;
        c->first_moves = 0;
    }
}

/* The value `steps` elements on. */
COLL_INLINE coll_contributions coll_i_contributions_at(const coll_i_inputs *in,
                                                       const coll_contributions *c,
                                                       size_t steps)
{
    coll_contributions at = *c;
    if (c->element_moves)
        at.element = coll_i_next_of(c->element, steps, in->elements);
    if (c->first_moves)
        at.first = coll_i_next_of(c->first, steps, in->p);
    return at;
}

/* Are `count` elements the same? */
COLL_INLINE bool coll_i_contributions_same(const coll_contributions *a,
                                           const coll_contributions *b, size_t count)
{
    return a->element == b->element && a->first == b->first && a->ranks == b->ranks &&
           a->stride == b->stride &&
           (count == 1 ||
            (a->element_moves == b->element_moves && a->first_moves == b->first_moves));
}

/* Makes one run of two that follow each other, of a_count and b_count elements, in *a; or not. */
COLL_INLINE bool coll_i_contributions_append(const coll_i_inputs *in, coll_contributions *a,
                                             size_t a_count, const coll_contributions *b,
                                             size_t b_count)
{
    coll_contributions all = *a, after;
    if (a_count == 1 && b_count > 1) {
        all.element_moves = b->element_moves;
        all.first_moves = b->first_moves;
    } else if (a_count == 1) {
        all.element_moves = in->elements > 1 && a->element != b->element;
        all.first_moves = a->first != b->first;
    } else if (b_count > 1 &&
               (a->element_moves != b->element_moves || a->first_moves != b->first_moves)) {
        return false;
    }
    after = coll_i_contributions_at(in, &all, a_count);
    if (!coll_i_contributions_same(&after, b, 1))
        return false;
    *a = all;
    return true;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* The residue classes of core numbers: two halves of one number, or two classes of twice a stride. */
COLL_INLINE bool coll_i_classes_join(coll_contributions *a, const coll_contributions *b)
{
    const uint32_t half = a->stride / 2, low = a->first < b->first ? a->first : b->first;
    if (a->stride != b->stride)
        return false;
    if (a->first == b->first && (a->ranks & b->ranks) == 0) {
        a->ranks |= b->ranks;
        return a->ranks == COLL_I_HALF_BOTH;
    }
    if (a->ranks != COLL_I_HALF_BOTH || b->ranks != COLL_I_HALF_BOTH || a->stride % 2 != 0 ||
        a->first - low + (b->first - low) != half)
        return false;
    a->first = low;
    a->stride = half;
    return true;
}

/* Adds *right to *left, over `count` elements: the same elements of other ranks, in the order of the
 * ranks where the operator does not commute. False: it is no such sum. */
COLL_INLINE bool coll_i_contributions_add(const coll_i_inputs *in, coll_contributions *left,
                                          const coll_contributions *right, size_t count)
{
    uint32_t gap;
    if (left->element != right->element ||
        (count > 1 && (left->element_moves != right->element_moves || left->first_moves ||
                       right->first_moves)))
        return false;
    if (left->stride != 0 || right->stride != 0)
        return in->commutes && coll_i_classes_join(left, right);
    gap = coll_mod_sub(right->first, left->first, in->p);
    if (in->merges) { /* a barrier: heard of by both */
        const uint32_t back = coll_mod_sub(left->first, right->first, in->p);
        uint32_t ranks = left->ranks > gap + right->ranks ? left->ranks : gap + right->ranks;
        if (gap > left->ranks) {
            if (back > right->ranks)
                return false;
            ranks = right->ranks > back + left->ranks ? right->ranks : back + left->ranks;
            left->first = right->first;
        }
        left->ranks = ranks < in->p ? ranks : in->p;
    } else {
        if (right->ranks > in->p - left->ranks)
            return false;
        if (gap != left->ranks % in->p) {
            if (!in->commutes ||
                coll_mod_sub(left->first, right->first, in->p) != right->ranks % in->p)
                return false;
            left->first = right->first;
        }
        left->ranks += right->ranks;
    }
    coll_i_contributions_tidy(in, left);
    return true;
}

#endif /* COLL_LAB_CERTIFY_CONTRIBUTIONS_H */
