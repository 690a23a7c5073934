/* coll/transports/conformance/sleepers.h — the conformance kit: ranks that sleep on a descriptor
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_SLEEPERS_H
#define COLL_TRANSPORTS_CONFORMANCE_SLEEPERS_H

#include "tag_ranges.h"

/* Some ranks sleep until a message comes, one at a time, each six times: three times the message is sent while
 * he sleeps; three times, if there are two tags, it has come before he arms, in a test of another message. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_events(coll_conformance *kit)
{
    enum { TIMES = 6, EARLY = 3, PAUSE = 32 };
    const uint32_t p = kit->task.p, rank = kit->task.rank, at = kit->phase / TIMES;
    const uint32_t sleepers = p < 4 ? p : 4; /* the first ranks and the last one */
    const uint32_t sleeper = at + 1 < sleepers ? at : p - 1, sender = (sleeper + 1) % p;
    const bool early = kit->phase % TIMES >= EARLY && coll_i_conformance_tags(kit) > 1;
    const uint32_t tag =
        coll_i_conformance_tags(kit) > 1; /* not that by which ranks tell each other */
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_SLEEPS) ||
        coll_i_conformance_descriptor(kit) < 0)
        return COLL_I_CONFORMANCE_NOTHING;
    if (at >= sleepers)
        return COLL_I_CONFORMANCE_NO_MORE;
    if (kit->phase % EARLY == 0)
        kit->missed = 0;
    if (rank == sleeper) {
        coll_i_conformance_op *sleeps;
        op = coll_i_conformance_recv(kit, sender, tag, 0, coll_i_conformance_short(kit));
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
        coll_i_conformance_tell(kit, sender, COLL_I_CONFORMANCE_AFTER_STARTED);
        if (early)
            coll_i_conformance_hear(kit, sender, 0);
        sleeps = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_SLEEPS, 0, 0);
        sleeps->of = op;
        coll_i_conformance_mark(sleeps, COLL_I_CONFORMANCE_AFTER_DONE);
    } else if (rank == sender) {
        coll_i_conformance_hear(kit, sleeper, 0);
        if (!early)
            (void)coll_i_conformance_pause(kit, PAUSE);
        op = coll_i_conformance_send(kit, sleeper, tag, 0, coll_i_conformance_short(kit));
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE | COLL_I_CONFORMANCE_ASIDE);
        if (early)
            coll_i_conformance_tell(kit, sleeper, COLL_I_CONFORMANCE_AFTER_STARTED);
    }
    return COLL_I_CONFORMANCE_PHASE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_SLEEPERS_H */
