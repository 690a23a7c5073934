/* coll/transports/conformance/exchanges.h — the conformance kit: checks of messages and their tags
 *
 * A check is a function that adds the operations of phase kit->phase. Ranks stand in a ring: a rank
 * sends to the one `distance` after it, and receives from the one as far before. Nothing but the
 * messages themselves keeps them in step, so the phases of all ranks send and receive the same
 * messages on each channel. Tag 0 is never spoilt: ranks tell each other there how far they are.
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_EXCHANGES_H
#define COLL_TRANSPORTS_CONFORMANCE_EXCHANGES_H

#include "player.h"

/* What a script says: the phase was added; there are no more; there is nothing to be checked. */
typedef enum coll_i_conformance_turn {
    COLL_I_CONFORMANCE_PHASE,
    COLL_I_CONFORMANCE_NO_MORE,
    COLL_I_CONFORMANCE_NOTHING
} coll_i_conformance_turn;

enum { COLL_I_CONFORMANCE_FEW = 8, COLL_I_CONFORMANCE_SHORT = 16 };

/* ---- who and how much -------------------------------------------------------------------- */

COLL_INLINE uint32_t coll_i_conformance_after(const coll_conformance *kit, uint32_t distance)
{
    return (kit->task.rank + distance) % kit->task.p;
}

COLL_INLINE uint32_t coll_i_conformance_before(const coll_conformance *kit, uint32_t distance)
{
    return (kit->task.rank + kit->task.p - distance) % kit->task.p;
}

/* Distances 1, 2, 4 … below p; 0: no more. */
COLL_INLINE uint32_t coll_i_conformance_distance(const coll_conformance *kit, uint32_t phase)
{
    return phase < 31 && (uint32_t)1 << phase < kit->task.p ? (uint32_t)1 << phase : 0;
}

COLL_INLINE size_t coll_i_conformance_at_most(size_t bytes, size_t most)
{
    return bytes < most ? bytes : most;
}

/* A short message; one of few. */
COLL_INLINE size_t coll_i_conformance_short(const coll_conformance *kit)
{
    return coll_i_conformance_at_most(COLL_I_CONFORMANCE_SHORT, kit->longest);
}

COLL_INLINE uint32_t coll_i_conformance_few(const coll_conformance *kit)
{
    const uint32_t few = COLL_I_CONFORMANCE_FEW;
    return kit->task.depth < few ? kit->task.depth : few;
}

/* Sizes up to the longest, round powers of two, where limits between ways of sending may be. */
COLL_INLINE size_t coll_i_conformance_size(const coll_conformance *kit, uint32_t i)
{
    size_t power = 8;
    if (i < 4)
        return coll_i_conformance_at_most(i, kit->longest);
    for (i -= 4; i >= 3 && power < kit->longest; i -= 3)
        power *= 2;
    return coll_i_conformance_at_most(power + i - 1, kit->longest);
}

/* Is there a size of this number, different from the one before? */
COLL_INLINE bool coll_i_conformance_has_size(const coll_conformance *kit, uint32_t i)
{
    return i == 0 || coll_i_conformance_size(kit, i) != coll_i_conformance_size(kit, i - 1);
}

/* The tag of a check that spoils it; 0: there are too few. */
COLL_INLINE uint32_t coll_i_conformance_spoilt(const coll_conformance *kit, uint32_t i)
{
    const uint32_t tags = coll_i_conformance_tags(kit);
    return i + 1 < tags ? tags - 1 - i : 0;
}

/* ---- what several checks do -------------------------------------------------------------- */

/* Tells a rank how far this one is, when all is done but what stands aside; and hears it. */
COLL_INLINE void coll_i_conformance_tell(coll_conformance *kit, uint32_t peer, unsigned flags)
{
    coll_i_conformance_mark(
        coll_i_conformance_send(kit, peer, kit->home, 0,
                                coll_i_conformance_at_most(1, kit->longest)),
        flags);
}

COLL_INLINE void coll_i_conformance_hear(coll_conformance *kit, uint32_t peer, unsigned flags)
{
    coll_i_conformance_mark(
        coll_i_conformance_recv(kit, peer, kit->home, 0,
                                coll_i_conformance_at_most(1, kit->longest)),
        flags);
}

/* All ranks come here before any goes on: a dissemination barrier. */
COLL_INLINE void coll_i_conformance_barrier(coll_conformance *kit, unsigned flags)
{
    for (uint32_t distance = 1; distance < kit->task.p; distance *= 2) {
        coll_i_conformance_tell(kit, coll_i_conformance_after(kit, distance),
                                flags | COLL_I_CONFORMANCE_AFTER_DONE);
        coll_i_conformance_hear(kit, coll_i_conformance_before(kit, distance), flags);
        if (distance > kit->task.p / 2)
            break;
    }
}

COLL_INLINE coll_i_conformance_op *coll_i_conformance_pause(coll_conformance *kit,
                                                            uint32_t rounds)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_PAUSES, 0, 0);
    op->after = rounds;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    return op;
}

COLL_INLINE void coll_i_conformance_give(coll_conformance *kit, coll_i_conformance_op *of,
                                         unsigned flags)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_CANCELS, 0, 0);
    op->of = of;
    coll_i_conformance_mark(op, flags);
}

COLL_INLINE void coll_i_conformance_spoil(coll_conformance *kit, uint32_t first, uint32_t tags)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_ABORTS, 0, 0);
    op->tag = first;
    op->count = tags;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
}

/* A buffer with the content of a message, to be read. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_keep(coll_conformance *kit, uint32_t key,
                                                           size_t bytes)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_KEEPS, bytes, 0);
    op->key = key;
    op->holds = COLL_I_CONFORMANCE_MESSAGE;
    coll_i_conformance_write(op->buf, op->bytes, key, 0);
    return op;
}

/* Messages number 0 … n − 1 to a rank, which are sent whatever is received. */
COLL_INLINE void coll_i_conformance_stream(coll_conformance *kit, uint32_t peer, uint32_t tag,
                                           uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        coll_i_conformance_mark(
            coll_i_conformance_send(kit, peer, tag, i, coll_i_conformance_short(kit)),
            COLL_I_CONFORMANCE_ASIDE);
}

/* … are received, one after the other, not before a round. */
COLL_INLINE void coll_i_conformance_drain(coll_conformance *kit, uint32_t peer, uint32_t tag,
                                          uint32_t n, uint32_t after)
{
    for (uint32_t i = 0; i < n; i++) {
        coll_i_conformance_op *op =
            coll_i_conformance_recv(kit, peer, tag, i, coll_i_conformance_short(kit));
        op->after = after;
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_callbacks(coll_conformance *kit)
{
    const coll_status status = coll_transport_check(kit->task.transport);
    if (status != COLL_OK) {
        coll_i_conformance_fail(kit);
        coll_i_conformance_say_status(kit, ": coll_transport_check says ", status);
    }
    return COLL_I_CONFORMANCE_NO_MORE;
}

/* One message to each distance, and one from it. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_delivery(coll_conformance *kit)
{
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase);
    if (!distance)
        return COLL_I_CONFORMANCE_NO_MORE;
    (void)coll_i_conformance_send(kit, coll_i_conformance_after(kit, distance), 0, 0,
                                  coll_i_conformance_short(kit));
    (void)coll_i_conformance_recv(kit, coll_i_conformance_before(kit, distance), 0, 0,
                                  coll_i_conformance_short(kit));
    return COLL_I_CONFORMANCE_PHASE;
}

/* Messages that are received when several of them are there. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_order(coll_conformance *kit)
{
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase);
    const uint32_t n = coll_i_conformance_few(kit);
    if (!distance)
        return COLL_I_CONFORMANCE_NO_MORE;
    coll_i_conformance_stream(kit, coll_i_conformance_after(kit, distance), 0, n);
    coll_i_conformance_drain(kit, coll_i_conformance_before(kit, distance), 0, n, 4);
    return COLL_I_CONFORMANCE_PHASE;
}

/* Receives that are all there before their messages are sent. */
COLL_INLINE void coll_i_conformance_matches_early(coll_conformance *kit, uint32_t next,
                                                  uint32_t last, bool tells)
{
    const uint32_t n = coll_i_conformance_few(kit);
    const size_t bytes = coll_i_conformance_short(kit);
    for (uint32_t i = 0; i < n; i++)
        coll_i_conformance_mark(coll_i_conformance_recv(kit, last, tells, i, bytes),
                                COLL_I_CONFORMANCE_ASIDE);
    if (tells) {
        coll_i_conformance_tell(kit, last, COLL_I_CONFORMANCE_AFTER_STARTED);
        coll_i_conformance_hear(kit, next, 0);
    }
    for (uint32_t i = 0; i < n; i++)
        coll_i_conformance_mark(coll_i_conformance_send(kit, next, tells, i, bytes),
                                COLL_I_CONFORMANCE_AFTER_DONE | COLL_I_CONFORMANCE_ASIDE);
}

/* Two messages are there, and a receive in flight, which nobody has asked about since, when a second one is
 * started: the first message is not that one's. */
COLL_INLINE void coll_i_conformance_matches_late(coll_conformance *kit, uint32_t next,
                                                 uint32_t last)
{
    const size_t bytes = coll_i_conformance_short(kit);
    coll_i_conformance_op *first = coll_i_conformance_recv(kit, last, 1, 0, bytes), *second;
    coll_i_conformance_mark(first, COLL_I_CONFORMANCE_ASIDE);
    for (uint32_t i = 0; i < 2; i++)
        coll_i_conformance_mark(coll_i_conformance_send(kit, next, 1, i, bytes),
                                COLL_I_CONFORMANCE_AFTER_STARTED | COLL_I_CONFORMANCE_ASIDE);
    coll_i_conformance_tell(kit, next, COLL_I_CONFORMANCE_AFTER_STARTED);
    coll_i_conformance_hear(kit, last, 0);
    (void)coll_i_conformance_pause(kit, 4);
    second = coll_i_conformance_recv(kit, last, 1, 1, bytes);
    coll_i_conformance_mark(second, COLL_I_CONFORMANCE_AFTER_DONE);
    first->of = second;
}

COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_matching(coll_conformance *kit)
{
    const bool tells = coll_i_conformance_tags(kit) > 1;
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase / (tells ? 2 : 1));
    const uint32_t next = coll_i_conformance_after(kit, distance),
                   last = coll_i_conformance_before(kit, distance);
    if (!distance)
        return COLL_I_CONFORMANCE_NO_MORE;
    if (tells && kit->phase % 2 != 0)
        coll_i_conformance_matches_late(kit, next, last);
    else
        coll_i_conformance_matches_early(kit, next, last, tells);
    return COLL_I_CONFORMANCE_PHASE;
}

/* A message of each size, received at once and late, from any address. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_sizes(coll_conformance *kit)
{
    const uint32_t i = kit->phase / 2;
    const uint32_t distance = 1 + i % (kit->task.p - 1);
    if (!coll_i_conformance_has_size(kit, i))
        return COLL_I_CONFORMANCE_NO_MORE;
    (void)coll_i_conformance_message(kit, true, coll_i_conformance_after(kit, distance), 0, i,
                                     coll_i_conformance_size(kit, i), i / 3);
    coll_i_conformance_message(kit, false, coll_i_conformance_before(kit, distance), 0, i,
                               coll_i_conformance_size(kit, i), kit->phase)
        ->after = kit->phase % 2 * 8;
    return COLL_I_CONFORMANCE_PHASE;
}

/* Messages of 0 bytes, before and after one that has some. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_empty(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1);
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    for (uint32_t i = 0; i < 6; i++) {
        const size_t bytes = i / 2 == 1 ? coll_i_conformance_short(kit) : 0;
        coll_i_conformance_op *op = i % 2 ? coll_i_conformance_recv(kit, last, 0, i / 2, bytes)
                                          : coll_i_conformance_send(kit, next, 0, i / 2, bytes);
        if (bytes == 0)
            op->buf = NULL;
    }
    return COLL_I_CONFORMANCE_PHASE;
}

/* From here on guards are looked at; from the next check on, buffers are used again. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_exchange(coll_conformance *kit)
{
    static const uint8_t sizes[] = {16, 0, 1, 7, 33, 100};
    const uint32_t n = sizeof sizes / sizeof sizes[0], i = kit->phase / 2;
    const size_t bytes =
        i < n ? coll_i_conformance_at_most(sizes[i], kit->longest) : kit->longest;
    if (i > n)
        return COLL_I_CONFORMANCE_NO_MORE;
    (void)coll_i_conformance_send(kit, coll_i_conformance_after(kit, 1), 0, i, bytes);
    coll_i_conformance_recv(kit, coll_i_conformance_before(kit, 1), 0, i, bytes)->after =
        kit->phase % 2 * 8;
    return COLL_I_CONFORMANCE_PHASE;
}

COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_buffers(coll_conformance *kit)
{
    kit->guarded = true;
    return coll_i_conformance_exchange(kit);
}

COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_reuse(coll_conformance *kit)
{
    kit->spent = true;
    return coll_i_conformance_exchange(kit);
}

/* All ranks receive only when what they send was taken. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_send_first(coll_conformance *kit)
{
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase / 2);
    const size_t bytes = kit->phase % 2 ? kit->longest : coll_i_conformance_short(kit);
    if (!distance)
        return COLL_I_CONFORMANCE_NO_MORE;
    (void)coll_i_conformance_send(kit, coll_i_conformance_after(kit, distance), 0, 0, bytes);
    coll_i_conformance_mark(
        coll_i_conformance_recv(kit, coll_i_conformance_before(kit, distance), 0, 0, bytes),
        COLL_I_CONFORMANCE_AFTER_STARTED);
    return COLL_I_CONFORMANCE_PHASE;
}

/* More and more messages, until the transport has no room for some time. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_refusal(coll_conformance *kit)
{
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase);
    const uint32_t n = kit->task.depth;
    if (!distance)
        return kit->again ? COLL_I_CONFORMANCE_NO_MORE : COLL_I_CONFORMANCE_NOTHING;
    coll_i_conformance_stream(kit, coll_i_conformance_after(kit, distance), 0, n);
    coll_i_conformance_drain(kit, coll_i_conformance_before(kit, distance), 0, n, 16);
    return COLL_I_CONFORMANCE_PHASE;
}

/* Messages of several tags and lengths, all at once; those of the last tag are received first. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_depth(coll_conformance *kit)
{
    const uint32_t distance = coll_i_conformance_distance(kit, kit->phase);
    const uint32_t n = kit->task.depth,
                   tags = coll_i_conformance_tags(kit) < 4 ? coll_i_conformance_tags(kit) : 4;
    if (!distance)
        return COLL_I_CONFORMANCE_NO_MORE;
    for (uint32_t i = 0; i < n; i++)
        (void)coll_i_conformance_send(kit, coll_i_conformance_after(kit, distance), i % tags, i,
                                      coll_i_conformance_at_most(8 + i % 17, kit->longest));
    for (uint32_t tag = tags; tag-- > 0;)
        for (uint32_t i = tag; i < n; i += tags)
            (void)coll_i_conformance_recv(kit, coll_i_conformance_before(kit, distance), tag, i,
                                          coll_i_conformance_at_most(8 + i % 17, kit->longest));
    return COLL_I_CONFORMANCE_PHASE;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* A message of each of some tags, the last one received first. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_tags(coll_conformance *kit)
{
    const uint32_t tags = coll_i_conformance_tags(kit);
    const uint32_t tag[] = {0, 1, 2, tags / 2, tags - 1};
    const uint32_t n = sizeof tag / sizeof tag[0];
    if (tags < 2)
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    for (uint32_t k = 0; k < 2 * n; k++) {
        const uint32_t i = k < n ? k : 2 * n - 1 - k;
        if (tags < 6 && i != 0 && i != n - 1) /* they may be the same */
            continue;
        if (k < n)
            coll_i_conformance_mark(
                coll_i_conformance_send(kit, coll_i_conformance_after(kit, 1), tag[i], 0,
                                        coll_i_conformance_short(kit)),
                COLL_I_CONFORMANCE_ASIDE);
        else
            coll_i_conformance_drain(kit, coll_i_conformance_before(kit, 1), tag[i], 1, 4);
    }
    return COLL_I_CONFORMANCE_PHASE;
}

/* A message passes those of a lower tag that nobody receives yet, then one of a higher tag; and then
 * receives of those tags that nobody sends to yet. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_tags_apart(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1), few = coll_i_conformance_few(kit);
    const uint32_t held = kit->phase % 2, free = 1 - held;
    coll_i_conformance_op *op;
    if (coll_i_conformance_tags(kit) < 2)
        return COLL_I_CONFORMANCE_NOTHING;
    switch (kit->phase) {
    case 0:
    case 1:
        coll_i_conformance_stream(kit, next, held, few);
        op = coll_i_conformance_send(kit, next, held, few, kit->longest);
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
        op = coll_i_conformance_send(kit, next, free, 0, coll_i_conformance_short(kit));
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
        coll_i_conformance_drain(kit, last, free, 1, 4);
        coll_i_conformance_drain(kit, last, held, few, 0);
        op = coll_i_conformance_recv(kit, last, held, few, kit->longest);
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
        return COLL_I_CONFORMANCE_PHASE;
    case 2:
    case 3:
        op = coll_i_conformance_recv(kit, last, held, 0, coll_i_conformance_short(kit));
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
        op = coll_i_conformance_send(kit, next, free, 0, coll_i_conformance_short(kit));
        op = coll_i_conformance_recv(kit, last, free, 0, coll_i_conformance_short(kit));
        op = coll_i_conformance_send(kit, next, held, 0, coll_i_conformance_short(kit));
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
        return COLL_I_CONFORMANCE_PHASE;
    default:
        return COLL_I_CONFORMANCE_NO_MORE;
    }
}

/* Rank 0 calls nothing for a while. Meanwhile the others, two of which send to it, talk among
 * themselves, round a ring of their own; then they wait until it must be back. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_slow_peer(coll_conformance *kit)
{
    const uint32_t p = kit->task.p, rank = kit->task.rank, few = coll_i_conformance_few(kit);
    if (p < 3)
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    if (rank == 0) {
        (void)coll_i_conformance_pause(kit, kit->silence);
        for (uint32_t peer = 1; peer <= 2; peer++) {
            coll_i_conformance_drain(kit, peer, 0, 1, 0);
            coll_i_conformance_tell(kit, peer, COLL_I_CONFORMANCE_AFTER_DONE);
        }
        return COLL_I_CONFORMANCE_PHASE;
    }
    if (rank <= 2)
        coll_i_conformance_stream(kit, 0, 0, 1);
    for (uint32_t i = 0; i < few; i++) {
        (void)coll_i_conformance_send(kit, rank % (p - 1) + 1, 0, i,
                                      coll_i_conformance_short(kit));
        (void)coll_i_conformance_recv(kit, (rank + p - 3) % (p - 1) + 1, 0, i,
                                      coll_i_conformance_short(kit));
    }
    (void)coll_i_conformance_pause(kit, kit->silence + kit->silence / 4);
    if (rank <= 2)
        coll_i_conformance_hear(kit, 0, COLL_I_CONFORMANCE_AFTER_DONE);
    return COLL_I_CONFORMANCE_PHASE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_EXCHANGES_H */
