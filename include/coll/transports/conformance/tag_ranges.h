/* coll/transports/conformance/tag_ranges.h — the conformance kit: checks of tags that have uses, and are claimed
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_TAG_RANGES_H
#define COLL_TRANSPORTS_CONFORMANCE_TAG_RANGES_H

#include "exchanges.h"

enum { /* tags of what spoils them, counted from the highest */
       COLL_I_CONFORMANCE_SIZE_TAGS = 6,
       COLL_I_CONFORMANCE_RECV_TAG = 6,
       COLL_I_CONFORMANCE_SEND_TAG = 7,
       COLL_I_CONFORMANCE_ABORT_TAG = 11, /* the lowest of four */
       COLL_I_CONFORMANCE_ACQUIRE_TAG = 12,
       COLL_I_CONFORMANCE_ARRIVE_TAG = 13,
       COLL_I_CONFORMANCE_USE_TAG = 14
};

/* A rank that has heard of its misfit tells the sender, which may give up what it sent. */
COLL_INLINE void coll_i_conformance_heard_misfit(coll_conformance *kit)
{
    coll_i_conformance_tell(kit, coll_i_conformance_before(kit, 1),
                            COLL_I_CONFORMANCE_AFTER_DONE);
    coll_i_conformance_hear(kit, coll_i_conformance_after(kit, 1), 0);
}

/* Messages of several uses of a tag, the last use among them, which are received in the order in which they
 * were sent; then one whose receiver is a use ahead. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_uses(coll_conformance *kit)
{
    const uint32_t step = coll_i_conformance_use_step(kit),
                   tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_USE_TAG);
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1);
    const size_t bytes = coll_i_conformance_short(kit);
    coll_i_conformance_op *op;
    if (step == 0 || !tag)
        return COLL_I_CONFORMANCE_NOTHING;
    switch (kit->phase) {
    case 0:
        for (uint32_t i = 0; i < 4; i++)
            (void)coll_i_conformance_send(kit, next, tag + (i - 1) * step, i, bytes);
        for (uint32_t i = 0; i < 4; i++) {
            op = coll_i_conformance_recv(kit, last, tag + (i - 1) * step, i, bytes);
            coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_STARTED);
        }
        return COLL_I_CONFORMANCE_PHASE;
    case 1:
        op = coll_i_conformance_send(kit, next, tag + 5 * step, 0, bytes);
        op->ends = COLL_I_CONFORMANCE_ANYHOW;
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE | COLL_I_CONFORMANCE_MAY_STAY);
        op = coll_i_conformance_recv(kit, last, tag + 6 * step, 0, bytes);
        op->ends = COLL_I_CONFORMANCE_BY_SIZE;
        op->its_bytes = (uint32_t)bytes;
        op->its_tag = tag + 5 * step;
        coll_i_conformance_heard_misfit(kit);
        return COLL_I_CONFORMANCE_PHASE;
    default:
        return COLL_I_CONFORMANCE_NO_MORE;
    }
}

/* Claims tags. False: they are not to be had, or not what they should be. */
COLL_INLINE bool coll_i_conformance_claim_well(coll_conformance *kit, uint32_t i)
{
    const coll_status status = coll_i_conformance_claim(kit, i);
    const uint32_t *its = kit->claim[i], *other = kit->claim[0];
    if (status != COLL_OK) {
        coll_i_conformance_fail(kit);
        coll_i_conformance_say_number(kit, ": claim ", kit->phase);
        coll_i_conformance_say_status(kit, " ended with ", status);
    } else if (its[1] == 0) {
        coll_i_conformance_fail(kit);
        coll_i_conformance_say_number(kit, ": there are no tags in claim ", kit->phase);
    } else if (i > 0 && its[0] < other[0] + other[1] && other[0] < its[0] + its[1]) {
        coll_i_conformance_fail(kit);
        coll_i_conformance_say_number(kit, ": claim ", kit->phase);
        coll_i_conformance_say_number(kit, " has tag ", its[0] > other[0] ? its[0] : other[0]);
        coll_i_conformance_say(kit, ", which is claimed already");
    }
    return kit->status >= 0;
}

/* Tags are claimed and given back, more often than there are of them, while others are held, by whose first
 * one the ranks keep in step. The first one of each is used, where all have the same, and aborted. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_claims(coll_conformance *kit)
{
    enum { CLAIMS = 2 * COLL_CLAIMS + 2 };
    const size_t bytes = coll_i_conformance_short(kit);
    coll_i_conformance_op *op;
    uint32_t tag;
    if (!coll_i_conformance_claims(kit))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == 0) {
        if (!coll_i_conformance_claim_well(kit, 0))
            return COLL_I_CONFORMANCE_NO_MORE;
        if (!coll_i_tags_are_among(kit->claim[0][0], kit->claim[0][1], 0,
                                   coll_i_conformance_tags(kit))) {
            coll_i_conformance_unclaim(kit, 0); /* the transport's tags were made less */
            return COLL_I_CONFORMANCE_NOTHING;
        }
        kit->home = kit->claim[0][0];
    } else {
        coll_i_conformance_unclaim(kit, 1);
    }
    if (kit->phase == CLAIMS) {
        coll_i_conformance_unclaim(kit, 0);
        kit->home = 0;
        return COLL_I_CONFORMANCE_NO_MORE;
    }
    if (!coll_i_conformance_claim_well(kit, 1))
        return COLL_I_CONFORMANCE_NO_MORE;
    tag = kit->claim[1][0];
    op = coll_i_conformance_send(kit, coll_i_conformance_after(kit, 1), tag, kit->phase, bytes);
    op =
        coll_i_conformance_recv(kit, coll_i_conformance_before(kit, 1), tag, kit->phase, bytes);
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_STARTED);
    coll_i_conformance_barrier(kit, 0);
    if (kit->task.rank == 0 && coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ABORTS)) {
        op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_ABORTS, 0, 0);
        op->tag = tag;
        op->count = 1;
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    }
    return COLL_I_CONFORMANCE_PHASE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_TAG_RANGES_H */
