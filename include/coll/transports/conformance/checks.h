/* coll/transports/conformance/checks.h — the conformance kit: checks of what may be there, and of failures
 *
 * Checks after which messages may be left over, or tags unusable, come last and have tags of their
 * own, counted from the highest downwards.
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_CHECKS_H
#define COLL_TRANSPORTS_CONFORMANCE_CHECKS_H

#include "landings.h"

/* ---- what may be there ------------------------------------------------------------------- */

COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_copy(coll_conformance *kit)
{
    const size_t bytes = coll_i_conformance_size(kit, kit->phase);
    const uint32_t key = coll_i_conformance_key(kit->task.rank, 0, 0, kit->phase);
    coll_i_conformance_op *op;
    const coll_i_conformance_op *from;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_COPIES))
        return COLL_I_CONFORMANCE_NOTHING;
    if (!coll_i_conformance_has_size(kit, kit->phase))
        return COLL_I_CONFORMANCE_NO_MORE;
    from = coll_i_conformance_keep(kit, key, bytes);
    op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_COPIES, bytes, 0);
    op->a = from->buf;
    op->key = key;
    coll_i_conformance_write(op->buf, op->bytes, key, 255);
    return COLL_I_CONFORMANCE_PHASE;
}

/* A buffer of operands, of some rank. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_operands(coll_conformance *kit,
                                                               coll_i_conformance_kind kind,
                                                               uint32_t rank, uint32_t number,
                                                               uint32_t count)
{
    coll_i_conformance_op *op =
        coll_i_conformance_add(kit, kind, count * sizeof(coll_i_conformance_element), 0);
    op->number = number;
    for (uint32_t i = 0; i < count && op->bytes; i++)
        coll_i_conformance_operand((coll_i_conformance_element *)(void *)op->buf + i, rank,
                                   number, i);
    return op;
}

/* dst is neither operand, the first, the second; by two operators. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_reduce(coll_conformance *kit)
{
    const uint32_t where = kit->phase % 3, number = kit->phase / 3 % 2;
    const uint32_t count = kit->phase / 6 ? 9 : 1;
    coll_i_conformance_op *op, *other;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_REDUCES))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == 12)
        return kit->done ? COLL_I_CONFORMANCE_NO_MORE : COLL_I_CONFORMANCE_NOTHING;
    op =
        coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_REDUCES, where == 2, number, count);
    other =
        coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_KEEPS, where != 2, number, count);
    op->count = count;
    op->a = where == 2 ? other->buf : op->buf;
    op->b = where == 2 ? op->buf : other->buf;
    if (where == 0)
        op->a =
            coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_KEEPS, 0, number, count)->buf;
    op->ends |= COLL_I_CONFORMANCE_REFUSED;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    return COLL_I_CONFORMANCE_PHASE;
}

/* Messages that are acquired and received in turns; of the third length the first is received. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_acquire(coll_conformance *kit)
{
    enum { MESSAGES = 3 };
    const size_t most = coll_i_conformance_acquires_most(kit);
    const size_t bytes =
        kit->phase < 2 ? coll_i_conformance_at_most(kit->phase ? 100 : 8, most) : most;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ACQUIRES))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == 3) {
        const bool none = kit->refused >= 5; /* of 5 */
        return none ? COLL_I_CONFORMANCE_NOTHING : COLL_I_CONFORMANCE_NO_MORE;
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        (void)coll_i_conformance_send(kit, coll_i_conformance_after(kit, 1), 0, i, bytes);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        coll_i_conformance_op *op =
            coll_i_conformance_recv(kit, coll_i_conformance_before(kit, 1), 0, i, bytes);
        if (i % 2 == kit->phase / 2)
            op->kind = COLL_I_CONFORMANCE_ACQUIRES;
    }
    return COLL_I_CONFORMANCE_PHASE;
}

/* Messages that are combined as they arrive, and received between those; where the operand is, and
 * elsewhere; by two operators, on either side, which their numbers say; of one element and several. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_arrival(coll_conformance *kit)
{
    enum { MESSAGES = 8, PHASES = 4, ARRIVALS = 6 * PHASES };
    const size_t element = sizeof(coll_i_conformance_element), most = kit->longest / element;
    const uint32_t rank = kit->task.rank, wanted = kit->phase < 2 ? 1 : 9;
    const uint32_t count = wanted < most ? wanted : (uint32_t)most;
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1);
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ARRIVES) || most == 0)
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == PHASES)
        return kit->refused < ARRIVALS ? COLL_I_CONFORMANCE_NO_MORE
                                       : COLL_I_CONFORMANCE_NOTHING;
    for (uint32_t i = 0; i < MESSAGES; i++)
        (void)coll_i_conformance_send(kit, next, 0, i, count * element);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        coll_i_conformance_op *op = coll_i_conformance_recv(kit, last, 0, i, count * element);
        const coll_i_conformance_op *operand = op;
        if (i % 3 == 2)
            continue;
        op->kind = COLL_I_CONFORMANCE_ARRIVES;
        op->count = count;
        op->holds = COLL_I_CONFORMANCE_ANYTHING;
        if (kit->phase % 2)
            operand =
                coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_KEEPS, rank, i, count);
        for (uint32_t k = 0; k < count && operand == op && op->bytes; k++)
            coll_i_conformance_operand((coll_i_conformance_element *)(void *)op->buf + k, rank,
                                       i, k);
        op->a = operand->buf;
    }
    return COLL_I_CONFORMANCE_PHASE;
}

/* Each of some ranks sends to the next one, to all, and to the next one again. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_multicast(coll_conformance *kit)
{
    enum { LENGTHS = 3 };
    const uint32_t p = kit->task.p, rank = kit->task.rank, at = kit->phase / LENGTHS;
    const uint32_t roots = p < 4 ? p : 4; /* the first ranks and the last one */
    const uint32_t root = at + 1 < roots ? at : p - 1, next = (root + 1) % p;
    const size_t bytes = kit->phase % LENGTHS == 0   ? coll_i_conformance_short(kit)
                         : kit->phase % LENGTHS == 1 ? 0
                                                     : kit->longest;
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_MULTICASTS))
        return COLL_I_CONFORMANCE_NOTHING;
    if (at >= roots)
        return COLL_I_CONFORMANCE_NO_MORE;
    if (rank == root)
        (void)coll_i_conformance_send(kit, next, 0, 0, coll_i_conformance_short(kit));
    if (rank == next)
        (void)coll_i_conformance_recv(kit, root, 0, 0, coll_i_conformance_short(kit));
    op = rank == root ? coll_i_conformance_send(kit, UINT32_MAX, 0, 1, bytes)
                      : coll_i_conformance_recv(kit, root, 0, 1, bytes);
    op->key = coll_i_conformance_key(root, UINT32_MAX, 0, 1);
    coll_i_conformance_write(op->buf, op->bytes, op->key, rank == root ? 0 : 255);
    if (rank == root)
        op->kind = COLL_I_CONFORMANCE_MULTICASTS;
    if (rank == root)
        (void)coll_i_conformance_send(kit, next, 0, 2, coll_i_conformance_short(kit));
    if (rank == next)
        (void)coll_i_conformance_recv(kit, root, 0, 2, coll_i_conformance_short(kit));
    return COLL_I_CONFORMANCE_PHASE;
}

/* All ranks reduce, by two operators, in place and not, several elements, one and none. */
COLL_INLINE coll_i_conformance_turn
coll_i_conformance_check_network_reduce(coll_conformance *kit)
{
    const size_t most = coll_i_conformance_meets_most(kit) / sizeof(coll_i_conformance_element);
    const uint32_t number = kit->phase % 2, wanted = kit->phase < 4   ? 1
                                                     : kit->phase < 8 ? 5
                                                                      : 0;
    const uint32_t count = wanted < most ? wanted : (uint32_t)most;
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_MEETS) ||
        (kit->phase > 0 && kit->refused == kit->phase))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == 9)
        return COLL_I_CONFORMANCE_NO_MORE;
    op = coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_MEETS, kit->task.rank, number,
                                     count);
    op->count = count;
    op->ends |= COLL_I_CONFORMANCE_REFUSED;
    op->a = op->buf;
    if (count == 0)
        op->buf = NULL, op->a = NULL;
    else if (kit->phase / 2 % 2)
        op->a = coll_i_conformance_operands(kit, COLL_I_CONFORMANCE_KEEPS, kit->task.rank,
                                            number, count)
                    ->buf;
    return COLL_I_CONFORMANCE_PHASE;
}

/* ---- SHARED ------------------------------------------------------------------------------ */

/* Is there a part with so many words? */
COLL_INLINE bool coll_i_conformance_has_words(coll_conformance *kit, uint32_t words)
{
    uint32_t use;
    void *memory;
    return coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ENTERS) &&
           coll_i_conformance_part(kit, false, &use, &memory) / sizeof(uint32_t) >= words;
}

/* Takes a use, enters, and, if it is to, writes a word of it. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_enters(coll_conformance *kit, bool writes,
                                                             uint32_t word, uint32_t value)
{
    coll_i_conformance_op *op =
        coll_i_conformance_add(kit, COLL_I_CONFORMANCE_ENTERS, writes, 0);
    op->peer = word;
    op->number = value;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    return op;
}

COLL_INLINE void coll_i_conformance_looks(coll_conformance *kit, coll_i_conformance_op *of,
                                          uint32_t word, uint32_t value)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_LOOKS, 0, 0);
    op->peer = word;
    op->number = value;
    op->of = of;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
}

COLL_INLINE void coll_i_conformance_leaves(coll_conformance *kit, coll_i_conformance_op *of)
{
    coll_i_conformance_op *op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_LEAVES, 0, 0);
    op->of = of;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
}

/* Each rank writes a word, with how long the part is and its number, and reads those of its
 * neighbours. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_shared(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1), p = kit->task.p;
    coll_i_conformance_op *enters;
    uint32_t use, value;
    void *memory;
    if (!coll_i_conformance_has_words(kit, p))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == 3)
        return COLL_I_CONFORMANCE_NO_MORE;
    value = (uint32_t)coll_i_conformance_part(kit, false, &use, &memory) * 1024 + use;
    enters = coll_i_conformance_enters(kit, true, kit->task.rank, value);
    coll_i_conformance_barrier(kit, 0);
    coll_i_conformance_looks(kit, enters, next, value);
    coll_i_conformance_looks(kit, enters, last, value);
    coll_i_conformance_leaves(kit, enters);
    return COLL_I_CONFORMANCE_PHASE;
}

/* Rank 0 stays in a part for a while; the others go on to later uses, in each of which one of them
 * writes the first word, where rank 0 finds what it wrote if none was let in too early. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_turns(coll_conformance *kit)
{
    enum { USES = 16, STAYS = 64 };
    const uint32_t rank = kit->task.rank, p = kit->task.p;
    const uint32_t writer = kit->phase == 0 ? 0 : 1 + kit->phase % (p - 1);
    coll_i_conformance_op *enters;
    if (!coll_i_conformance_has_words(kit, p))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase == USES)
        return COLL_I_CONFORMANCE_NO_MORE;
    enters = coll_i_conformance_enters(kit, rank == writer, 0, 1000 + kit->phase);
    if (rank == 0 && kit->phase == 0)
        (void)coll_i_conformance_pause(kit, STAYS);
    if (rank == writer)
        coll_i_conformance_looks(kit, enters, 0, 1000 + kit->phase);
    coll_i_conformance_leaves(kit, enters);
    return COLL_I_CONFORMANCE_PHASE;
}

/* ---- failures ---------------------------------------------------------------------------- */

enum {
    COLL_I_CONFORMANCE_PATIENT = 32 /* rounds in which a message may still come */
};

/* All are alive: they run this. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_dead(coll_conformance *kit)
{
    if (!kit->task.transport->failure || !kit->task.transport->failure->dead)
        return COLL_I_CONFORMANCE_NOTHING;
    for (uint32_t peer = 0; peer < kit->task.p && kit->phase == 0 && kit->status >= 0; peer++)
        if (coll_i_conformance_is_dead(kit, peer)) {
            coll_i_conformance_fail(kit);
            coll_i_conformance_say_number(kit, ": dead says so of rank ", peer);
        }
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    coll_i_conformance_barrier(kit, 0); /* before anybody may leave */
    return COLL_I_CONFORMANCE_PHASE;
}

/* A receive is cancelled before its message is sent. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_cancel_recv(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1),
                   tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_RECV_TAG);
    const unsigned done = COLL_I_CONFORMANCE_AFTER_DONE;
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_CANCELS) || !tag)
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    op = coll_i_conformance_recv(kit, last, tag, 0, coll_i_conformance_short(kit));
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
    coll_i_conformance_give(kit, op, COLL_I_CONFORMANCE_AFTER_STARTED);
    coll_i_conformance_tell(kit, last, done);
    coll_i_conformance_hear(kit, next, 0);
    op = coll_i_conformance_send(kit, next, tag, 0, coll_i_conformance_short(kit));
    op->ends = COLL_I_CONFORMANCE_ANYHOW;
    coll_i_conformance_mark(op, done | COLL_I_CONFORMANCE_ASIDE | COLL_I_CONFORMANCE_MAY_STAY);
    coll_i_conformance_tell(kit, next, COLL_I_CONFORMANCE_AFTER_STARTED);
    coll_i_conformance_hear(kit, last, 0);
    (void)coll_i_conformance_pause(kit, COLL_I_CONFORMANCE_PATIENT);
    return COLL_I_CONFORMANCE_PHASE;
}

/* A send is cancelled, if it is still in flight, before it is received. What comes, if anything
 * does, is what its buffer held before. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_cancel_send(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1),
                   tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_SEND_TAG);
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_CANCELS) || !tag)
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    op = coll_i_conformance_send(kit, next, tag, 0, kit->longest);
    op->ends = COLL_I_CONFORMANCE_ANYHOW;
    coll_i_conformance_give(kit, op, COLL_I_CONFORMANCE_AFTER_STARTED);
    coll_i_conformance_tell(kit, next, COLL_I_CONFORMANCE_AFTER_DONE);
    coll_i_conformance_hear(kit, last, 0);
    op = coll_i_conformance_recv(kit, last, tag, 0, kit->longest);
    op->ends = COLL_I_CONFORMANCE_ANYHOW;
    op->holds = COLL_I_CONFORMANCE_ANYTHING; /* a part of it may come */
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE | COLL_I_CONFORMANCE_ASIDE |
                                    COLL_I_CONFORMANCE_MAY_STAY);
    (void)coll_i_conformance_pause(kit, COLL_I_CONFORMANCE_PATIENT);
    return COLL_I_CONFORMANCE_PHASE;
}

/* When all have receives in flight that nobody sends to, rank 0 aborts two tags of four. Then what
 * was in flight has ended, what is started later ends too, and the tags on either side go on. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_abort(coll_conformance *kit)
{
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1),
                   tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_ABORT_TAG);
    const size_t bytes = coll_i_conformance_short(kit);
    coll_i_conformance_op *op, *given[3];
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ABORTS) ||
        !coll_i_conformance_has(kit, COLL_I_CONFORMANCE_CANCELS) || !tag)
        return COLL_I_CONFORMANCE_NOTHING;
    switch (kit->phase) {
    case 0:
        given[0] = coll_i_conformance_recv(kit, last, tag + 1, 0, bytes);
        given[1] = coll_i_conformance_recv(kit, last, tag + 1, 1, bytes);
        given[2] = coll_i_conformance_send(kit, next, tag + 2, 0, kit->longest);
        given[0]->ends = given[1]->ends = COLL_I_CONFORMANCE_BY_PEER;
        given[0]->count = given[1]->count =
            2; /* a send may have ended well where another one waits */
        given[2]->ends = COLL_I_CONFORMANCE_BY_PEER | COLL_I_CONFORMANCE_WELL;
        for (uint32_t i = 0; i < 3; i++)
            coll_i_conformance_mark(given[i], COLL_I_CONFORMANCE_ASIDE);
        for (uint32_t i = 0; i < 4; i += 3)
            coll_i_conformance_mark(coll_i_conformance_recv(kit, last, tag + i, 0, bytes),
                                    COLL_I_CONFORMANCE_ASIDE);
        coll_i_conformance_barrier(kit, COLL_I_CONFORMANCE_AFTER_STARTED);
        if (kit->task.rank == 0) {
            coll_i_conformance_spoil(kit, tag + 1, 1);
            coll_i_conformance_spoil(kit, tag + 1, 2);
            for (uint32_t i = 0; i < 3; i++)
                coll_i_conformance_give(kit, given[i], COLL_I_CONFORMANCE_AFTER_DONE);
        }
        for (uint32_t i = 0; i < 4; i += 3)
            coll_i_conformance_mark(coll_i_conformance_send(kit, next, tag + i, 0, bytes),
                                    COLL_I_CONFORMANCE_AFTER_DONE);
        return COLL_I_CONFORMANCE_PHASE;
    case 1:
        coll_i_conformance_recv(kit, last, tag + 1, 2, bytes)->ends =
            COLL_I_CONFORMANCE_BY_PEER;
        coll_i_conformance_send(kit, next, tag + 1, 2, bytes)->ends =
            COLL_I_CONFORMANCE_BY_PEER;
        op = coll_i_conformance_send(kit, next, tag, 3, bytes);
        op = coll_i_conformance_recv(kit, last, tag, 3, bytes);
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_STARTED);
        return COLL_I_CONFORMANCE_PHASE;
    default:
        return COLL_I_CONFORMANCE_NO_MORE;
    }
}

/* A message that is a byte short for an element to be combined with. Refused, it is received. */
COLL_INLINE void coll_i_conformance_arrives_short(coll_conformance *kit, size_t element)
{
    const uint32_t tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_ARRIVE_TAG);
    coll_i_conformance_op *op;
    if (!tag)
        return;
    op = coll_i_conformance_send(kit, coll_i_conformance_after(kit, 1), tag, 0, element - 1);
    op->ends = COLL_I_CONFORMANCE_ANYHOW;
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE | COLL_I_CONFORMANCE_MAY_STAY);
    op = coll_i_conformance_recv(kit, coll_i_conformance_before(kit, 1), tag, 0, element);
    op->kind = COLL_I_CONFORMANCE_ARRIVES;
    op->ends = COLL_I_CONFORMANCE_BY_SIZE;
    op->count = 1;
    op->its_bytes = (uint32_t)element - 1;
    op->a = op->buf;
}

/* Messages of other sizes than their receivers expect, each of a tag of its own, all at once. When a
 * rank has heard of all of its own, it tells the sender, which may give up what it sent. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_size_error(coll_conformance *kit)
{
    const size_t most = coll_i_conformance_short(kit), all = kit->longest;
    const size_t sizes[COLL_I_CONFORMANCE_SIZE_TAGS + 1][2] = {
        {most, most - 1}, {most - 1, most}, {most, 0},       {0, most},
        {all, all - 1},   {most, all},      {most - 1, most}}; /* the last one is acquired */
    const size_t element = sizeof(coll_i_conformance_element);
    const bool acquires = coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ACQUIRES) &&
                          coll_i_conformance_acquires_most(kit) >= most;
    const uint32_t next = coll_i_conformance_after(kit, 1),
                   last = coll_i_conformance_before(kit, 1);
    const unsigned aside = COLL_I_CONFORMANCE_ASIDE | COLL_I_CONFORMANCE_MAY_STAY;
    if (!coll_i_conformance_spoilt(kit, 0))
        return COLL_I_CONFORMANCE_NOTHING;
    if (kit->phase > 0)
        return COLL_I_CONFORMANCE_NO_MORE;
    for (uint32_t i = 0; i <= COLL_I_CONFORMANCE_SIZE_TAGS; i++) {
        const bool last_one = i == COLL_I_CONFORMANCE_SIZE_TAGS;
        const uint32_t tag = coll_i_conformance_spoilt(
            kit, last_one ? (uint32_t)COLL_I_CONFORMANCE_ACQUIRE_TAG : i);
        coll_i_conformance_op *op;
        if (!tag || sizes[i][0] == sizes[i][1] || (last_one && !acquires))
            continue;
        op = coll_i_conformance_send(kit, next, tag, 0, sizes[i][0]);
        op->ends = COLL_I_CONFORMANCE_ANYHOW;
        coll_i_conformance_mark(op, aside);
        op = coll_i_conformance_recv(kit, last, tag, 0, sizes[i][1]);
        op->ends = COLL_I_CONFORMANCE_BY_SIZE;
        op->after = i % 2 * 8;
        op->its_bytes = (uint32_t)sizes[i][0];
        if (last_one)
            op->kind = COLL_I_CONFORMANCE_ACQUIRES;
    }
    if (coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ARRIVES) && most >= element)
        coll_i_conformance_arrives_short(kit, element);
    coll_i_conformance_tell(kit, last, COLL_I_CONFORMANCE_AFTER_DONE);
    coll_i_conformance_hear(kit, next, 0);
    return COLL_I_CONFORMANCE_PHASE;
}

/* Adds a phase of the check that runs. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_next_phase(coll_conformance *kit)
{
#define COLL_I_CONFORMANCE_PHASE_OF(name, word, text)                                          \
    case COLL_CONFORMANCE_##name:                                                              \
        return coll_i_conformance_check_##word(kit);
    switch ((coll_conformance_check)kit->check) {
        COLL_CONFORMANCE_LIST(COLL_I_CONFORMANCE_PHASE_OF)
    case COLL_CONFORMANCE_CHECKS:
        break;
    }
    return COLL_I_CONFORMANCE_NO_MORE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_CHECKS_H */
