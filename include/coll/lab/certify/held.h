/* coll/lab/certify/held.h — the memory of one rank: which places hold what
 *
 * A list of pieces, each a run of elements of which one record says all
 * (certify/contributions.h). What is written next to a piece that goes on with it becomes part of
 * it, so an allgather among a million ranks has a piece or two; what nobody wrote is in none.
 */
#ifndef COLL_LAB_CERTIFY_HELD_H
#define COLL_LAB_CERTIFY_HELD_H

#include "contributions.h"

enum { COLL_I_HELD_MOST = 96 };

typedef struct coll_i_piece {
    coll_ref at;
    size_t count;
    coll_contributions is;
} coll_i_piece;

typedef struct coll_i_held {
    coll_i_inputs in;
    unsigned n;
    coll_i_piece piece[COLL_I_HELD_MOST];
} coll_i_held;

/* Nothing lies at [at, at + count) any more. False: there are too many pieces. */
COLL_INLINE bool coll_i_held_erase(coll_i_held *h, coll_ref at, size_t count)
{
    for (unsigned i = 0; i < h->n;) {
        coll_i_piece *piece = &h->piece[i];
        const coll_i_piece old = *piece;
        if (!coll_i_overlap(old.at, old.count, at, count)) {
            i++;
            continue;
        }
        *piece = h->piece[--h->n];
        if (h->n + 2 > COLL_I_HELD_MOST)
            return false;
        if (at > old.at) { /* what is before, and behind; both lie apart from what is erased */
            h->piece[h->n] = old;
            h->piece[h->n++].count = at - old.at;
        }
        if (at + count < old.at + old.count) {
            const size_t skipped = at + count - old.at;
            h->piece[h->n] = old;
            h->piece[h->n].at = at + count;
            h->piece[h->n].count = old.count - skipped;
            h->piece[h->n++].is = coll_i_contributions_at(&h->in, &old.is, skipped);
        }
    }
    return true;
}

/* `count` elements at `at` are *is. False: there are too many pieces. */
COLL_INLINE bool coll_i_held_write(coll_i_held *h, coll_ref at, size_t count,
                                   const coll_contributions *is)
{
    coll_i_piece new_piece;
    if (!coll_i_held_erase(h, at, count) || h->n == COLL_I_HELD_MOST)
        return false;
    new_piece.at = at;
    new_piece.count = count;
    new_piece.is = *is;
    for (unsigned i = 0; i < h->n;) {
        coll_i_piece *old = &h->piece[i];
        bool joined = false;
        if (old->at + old->count == new_piece.at &&
            coll_i_contributions_append(&h->in, &old->is, old->count, &new_piece.is,
                                        new_piece.count)) {
            old->count += new_piece.count;
            new_piece = *old;
            joined = true;
        } else if (new_piece.at + new_piece.count == old->at &&
                   coll_i_contributions_append(&h->in, &new_piece.is, new_piece.count, &old->is,
                                               old->count)) {
            new_piece.count += old->count;
            joined = true;
        }
        if (joined)
            *old = h->piece[--h->n];
        else
            i++;
    }
    h->piece[h->n++] = new_piece;
    return true;
}

/* What `count` elements at `at` are. False: nobody wrote some of them, or no one record says it. */
COLL_INLINE bool coll_i_held_read(const coll_i_held *h, coll_ref at, size_t count,
                                  coll_contributions *is)
{
    for (unsigned i = 0; i < h->n; i++) {
        const coll_i_piece *piece = &h->piece[i];
        if (at >= piece->at && at - piece->at < piece->count &&
            count <= piece->count - (at - piece->at)) {
            *is = coll_i_contributions_at(&h->in, &piece->is, at - piece->at);
            return true;
        }
    }
    return false;
}

#endif /* COLL_LAB_CERTIFY_HELD_H */
