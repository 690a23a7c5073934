/* coll/transports/loopback/aborted.h — all ranks in one thread: which tags are aborted
 *
 * Tags are looked at without their use (transport.h).
 *
 * Use loopback.h.
 */
#ifndef COLL_TRANSPORTS_LOOPBACK_ABORTED_H
#define COLL_TRANSPORTS_LOOPBACK_ABORTED_H

#include "../../transport.h"

/* Tags, or ranges of tags, less than a root communicator's, that may be aborted; one more, and all tags of
 * that communicator are. */
#ifndef COLL_LOOPBACK_ABORTS
#define COLL_LOOPBACK_ABORTS 8
#endif

typedef struct coll_i_loop_tags {
    uint32_t first, tags;
} coll_i_loop_tags;

typedef struct coll_i_loop_aborts {
    uint32_t n;
    coll_i_loop_tags some[COLL_LOOPBACK_ABORTS];
    bool whole[COLL_CLAIMS];    /* all tags of a range are aborted */
    uint32_t left[COLL_CLAIMS]; /* ranks that have claimed it and do so no more */
} coll_i_loop_aborts;

COLL_INLINE bool coll_i_loop_is_aborted(const coll_i_loop_aborts *aborts, uint32_t tag)
{
    const uint32_t at = coll_claim_tag(tag);
    for (uint32_t i = 0; i < aborts->n; i++)
        if (at - aborts->some[i].first < aborts->some[i].tags)
            return true;
    return aborts->whole[coll_claim_range(tag)];
}

/* All tags of a range are aborted, or (`whole` false) none. */
COLL_INLINE void coll_i_loop_set_range(coll_i_loop_aborts *aborts, uint32_t range, bool whole)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < aborts->n; i++)
        if (coll_claim_range(aborts->some[i].first) != range) {
            aborts->some[n].first = aborts->some[i].first;
            aborts->some[n++].tags = aborts->some[i].tags;
        }
    aborts->n = n;
    aborts->whole[range] = whole;
}

/* No tag of the range is aborted, and no rank has left it: it may be claimed anew. */
COLL_INLINE void coll_i_loop_forgive(coll_i_loop_aborts *aborts, uint32_t range)
{
    aborts->left[range] = 0;
    coll_i_loop_set_range(aborts, range, false);
}

COLL_INLINE void coll_i_loop_forgive_all(coll_i_loop_aborts *aborts)
{
    aborts->n = 0;
    for (uint32_t range = 0; range < COLL_CLAIMS; range++)
        coll_i_loop_forgive(aborts, range);
}

/* Notes aborted tags; those of a range or more, or for which there is no room, as all of it. */
COLL_INLINE void coll_i_loop_note(coll_i_loop_aborts *aborts, uint32_t first, uint32_t tags)
{
    const uint32_t at = coll_claim_tag(first), range = coll_claim_range(first);
    uint32_t i = 0;
    if (aborts->whole[range] && tags <= COLL_CLAIM_TAGS)
        return;
    for (; tags < COLL_CLAIM_TAGS && i < aborts->n; i++) {
        const coll_i_loop_tags *its = &aborts->some[i];
        if (coll_i_tags_are_among(at, tags, its->first, its->tags))
            return;
        if (coll_i_tags_are_among(its->first, its->tags, at, tags))
            break; /* these are more */
    }
    if (tags < COLL_CLAIM_TAGS && i < COLL_LOOPBACK_ABORTS) {
        aborts->some[i].first = at;
        aborts->some[i].tags = tags;
        aborts->n += i == aborts->n;
    } else {
        for (i = range; i < COLL_CLAIMS && (i - range) * COLL_CLAIM_TAGS < tags; i++)
            coll_i_loop_set_range(aborts, i, true);
    }
}

#endif /* COLL_TRANSPORTS_LOOPBACK_ABORTED_H */
