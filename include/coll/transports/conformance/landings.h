/* coll/transports/conformance/landings.h — the conformance kit: memory that peers write to, and counters that tell of it
 *
 * Each rank exposes its landings, one beside the other, and puts into those of the next rank. They lie alike on all ranks, as all
 * add the same operations; what lies between them is guarded.
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_LANDINGS_H
#define COLL_TRANSPORTS_CONFORMANCE_LANDINGS_H

#include "registration.h"

enum {
    COLL_I_CONFORMANCE_ALOUD = 0, /* the counter of puts … */
    COLL_I_CONFORMANCE_STILL = 1, /* … one that nobody puts to … */
    COLL_I_CONFORMANCE_NO_COUNTER = 7,
    COLL_I_CONFORMANCE_PUT_TAG = 15 /* counted from the highest */
};

/* Adds landings for n messages of the rank before this one, and exposes them. False: that did not work. */
COLL_INLINE bool coll_i_conformance_expose_landings(coll_conformance *kit, uint32_t n,
                                                    size_t bytes, uint32_t tag,
                                                    coll_status *status)
{
    const uint32_t last = coll_i_conformance_before(kit, 1), rank = kit->task.rank;
    for (uint32_t i = 0; i < n; i++) {
        coll_i_conformance_op *op =
            coll_i_conformance_add(kit, COLL_I_CONFORMANCE_LANDS, bytes, 0);
        op->peer = last;
        op->number = i;
        op->key = coll_i_conformance_key(last, rank, 0, i);
        op->holds = COLL_I_CONFORMANCE_BLANK;
        coll_i_conformance_write(op->buf, op->bytes, op->key, 255);
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_ASIDE);
    }
    kit->region.memory = kit->ops[0].buf;
    kit->region.bytes = (size_t)(kit->ops[n - 1].buf - kit->ops[0].buf) + kit->ops[n - 1].bytes;
    kit->region.counters = kit->counters;
    kit->region.n = 2;
    kit->region.tag = tag;
    kit->puts = n;
    if (kit->status < 0)
        return false;
    *status = coll_i_conformance_expose(kit);
    return *status == COLL_OK;
}

/* A put of message `number` to the next rank, where that has its landing. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_put(coll_conformance *kit,
                                                          uint32_t number, size_t bytes)
{
    const uint32_t next = coll_i_conformance_after(kit, 1), rank = kit->task.rank;
    coll_i_conformance_op *op =
        coll_i_conformance_add(kit, COLL_I_CONFORMANCE_PUTS, bytes, number);
    op->peer = next;
    op->number = number;
    op->key = coll_i_conformance_key(rank, next, 0, number);
    op->holds = COLL_I_CONFORMANCE_MESSAGE;
    op->count = COLL_I_CONFORMANCE_ALOUD;
    op->its_bytes = (uint32_t)(kit->ops[number].buf - kit->ops[0].buf); /* where it goes */
    coll_i_conformance_write(op->buf, op->bytes, op->key, 0);
    return op;
}

/* Puts that lead where nothing is exposed: behind the region, to a counter or a region that is not there. */
COLL_INLINE void coll_i_conformance_put_astray(coll_conformance *kit, size_t bytes)
{
    for (uint32_t i = 0; i < 3; i++) {
        coll_i_conformance_op *op = coll_i_conformance_put(kit, 0, bytes);
        op->ends = COLL_I_CONFORMANCE_ANYHOW;
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
        if (i == 0)
            op->its_bytes = (uint32_t)kit->region.bytes;
        if (i == 1)
            op->count = COLL_I_CONFORMANCE_NO_COUNTER;
        if (i == 2)
            op->its_tag = 1; /* the region */
    }
}

/* The last phase is over: have the counters counted all puts, once, and nothing else? Takes the region back. */
COLL_INLINE bool coll_i_conformance_puts_are_over(coll_conformance *kit, bool aborted)
{
    for (uint32_t counter = 0; counter < 2 && !aborted; counter++) {
        const uint32_t wanted = counter == COLL_I_CONFORMANCE_ALOUD ? kit->puts : 0;
        uint32_t value = 0;
        const coll_status status = coll_i_conformance_count(kit, counter, &value);
        if (status == COLL_OK && value == wanted)
            continue;
        coll_i_conformance_fail(kit);
        coll_i_conformance_say_number(kit, ": counter ", counter);
        if (status != COLL_OK) {
            coll_i_conformance_say_status(kit, " ended with ", status);
        } else {
            coll_i_conformance_say_number(kit, " is ", value);
            coll_i_conformance_say_number(kit, " after ", wanted);
            coll_i_conformance_say(kit, " puts to it");
        }
        return false;
    }
    coll_i_conformance_withdraw(kit);
    return true;
}

/* A few messages, a long one, empty ones, such as lead astray; and at last the tag of the region is aborted. */
COLL_INLINE coll_i_conformance_turn coll_i_conformance_check_puts(coll_conformance *kit)
{
    enum { SOME, LONG, EMPTY, ASTRAY, ABORTED, PHASES };
    const uint32_t phase = kit->phase,
                   tag = coll_i_conformance_spoilt(kit, COLL_I_CONFORMANCE_PUT_TAG);
    const uint32_t n = phase == SOME ? coll_i_conformance_few(kit) : phase == EMPTY ? 2 : 1;
    const size_t bytes = phase == LONG    ? kit->longest
                         : phase == EMPTY ? 0
                                          : coll_i_conformance_short(kit);
    coll_status status = COLL_OK;
    coll_i_conformance_op *op;
    if (!coll_i_conformance_has(kit, COLL_I_CONFORMANCE_PUTS))
        return COLL_I_CONFORMANCE_NOTHING;
    if (phase > 0 && !coll_i_conformance_puts_are_over(kit, phase > ABORTED))
        return COLL_I_CONFORMANCE_NO_MORE;
    if (phase == PHASES ||
        (phase == ABORTED && (!tag || !coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ABORTS))))
        return COLL_I_CONFORMANCE_NO_MORE;
    if (!coll_i_conformance_expose_landings(kit, n, bytes, phase == ABORTED ? tag : 0,
                                            &status)) {
        if (phase == 0 && (status == COLL_ERR_PLACE || status == COLL_ERR_CAPABILITY))
            return COLL_I_CONFORMANCE_NOTHING; /* not in such memory, or not here */
        if (kit->status >= 0) {
            coll_i_conformance_fail(kit);
            coll_i_conformance_say_status(kit, ": expose ended with ", status);
        }
        return COLL_I_CONFORMANCE_NO_MORE;
    }
    coll_i_conformance_barrier(kit, 0);
    if (phase == ASTRAY)
        coll_i_conformance_put_astray(kit, bytes);
    if (phase == ABORTED) {
        kit->ops[0].ends = COLL_I_CONFORMANCE_BY_PEER;
        if (kit->task.rank != 0)
            return COLL_I_CONFORMANCE_PHASE;
        op = coll_i_conformance_add(kit, COLL_I_CONFORMANCE_ABORTS, 0, 0);
        op->tag = tag;
        op->count = 1;
        coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
    }
    for (uint32_t i = 0; i < n; i++) {
        op = coll_i_conformance_put(kit, i, bytes);
        if (i == 0)
            coll_i_conformance_mark(op, COLL_I_CONFORMANCE_AFTER_DONE);
        if (phase == ABORTED)
            op->ends = COLL_I_CONFORMANCE_BY_PEER;
    }
    if (phase != ABORTED) /* nobody withdraws while another one puts */
        coll_i_conformance_barrier(kit, 0);
    return COLL_I_CONFORMANCE_PHASE;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_LANDINGS_H */
