/* coll/transports/conformance/registration.h — the conformance kit: memory that is kept
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_REGISTRATION_H
#define COLL_TRANSPORTS_CONFORMANCE_REGISTRATION_H

#include "sleepers.h"

/* Keeps a range now, and adds an operation that forgets it. */
COLL_INLINE void coll_i_conformance_keep_range(coll_conformance *kit, const unsigned char *at,
                                               size_t bytes, bool writes, unsigned flags)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_FORGETS, 0, 0);
    coll_i_conformance_register(kit, at, bytes, writes);
    op->a = at;
    op->bytes = bytes;
    op->count = writes;
    coll_i_conformance_mark(op, flags);
}

/* A short and a long message, whose buffers are kept, one of them twice, and all memory of the kit's, too. All
 * is forgotten while they are in flight, or when they are done; and then another one is sent. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_kept(coll_conformance *kit)
{
    enum { PHASES = 4 };
    const size_t bytes = kit->phase % 2 ? kit->longest : coll_i_conformance_short(kit);
    const unsigned when =
        kit->phase / 2 ? COLL_I_CONFORMANCE_AFTER_DONE : COLL_I_CONFORMANCE_AFTER_STARTED;
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1);
    const coll_i_conformance_op *sent, *received;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_FORGETS))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == PHASES)
        return COLL_I_CONFORMANCE_NO_MORE;
    sent = coll_i_conformance_send(kit, next, 0, 0, bytes);
    received = coll_i_conformance_recv(kit, last, 0, 0, bytes);
    if (sent->bytes && received->bytes) {
        coll_i_conformance_keep_range(kit, received->buf, bytes, true, when);
        coll_i_conformance_keep_range(kit, kit->arena, kit->room, true, when);
        coll_i_conformance_keep_range(kit, sent->buf, bytes, false, when);
        coll_i_conformance_keep_range(kit, received->buf, bytes, true,
                                      COLL_I_CONFORMANCE_AFTER_DONE);
    }
    coll_i_conformance_mark(coll_i_conformance_send(kit, next, 0, 1, bytes),
                            COLL_I_CONFORMANCE_AFTER_DONE);
    coll_i_conformance_mark(coll_i_conformance_recv(kit, last, 0, 1, bytes),
                            COLL_I_CONFORMANCE_AFTER_STARTED);
    return COLL_I_CONFORMANCE_PHASE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_REGISTRATION_H */
