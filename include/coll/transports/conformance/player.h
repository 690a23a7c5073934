/* coll/transports/conformance/player.h — the conformance kit: how it starts, tests and ends operations
 *
 * A phase of a check is a list of operations, of which each is started, in the order of its channel,
 * as soon as its flags allow, and tested once a round until it is done.
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_PLAYER_H
#define COLL_TRANSPORTS_CONFORMANCE_PLAYER_H

#include "contents.h"

/* ---- how operations end ------------------------------------------------------------------ */

enum { COLL_I_CONFORMANCE_WORD = 0x5A5A }; /* what handles hold that are over */

/* An operation is over, and its handle is the kit's again. */
COLL_INLINE void coll_i_conformance_over(coll_conformance *kit, coll_i_conformance_op *op)
{
    op->state = COLL_I_CONFORMANCE_ENDED;
    op->handle.word[0] = op->handle.word[1] = COLL_I_CONFORMANCE_WORD;
    if (coll_i_conformance_is_sent(op) && kit->spent && op->buf) {
        coll_i_conformance_write(op->buf, op->bytes, COLL_I_CONFORMANCE_SPENT_KEY, 0);
        op->holds = COLL_I_CONFORMANCE_SPENT;
    }
}

/* It went well, says the transport. */
COLL_INLINE bool coll_i_conformance_went_well(coll_conformance *kit, coll_i_conformance_op *op)
{
    switch ((coll_i_conformance_kind)op->kind) {
    case COLL_I_CONFORMANCE_RECEIVES:
        op->holds = COLL_I_CONFORMANCE_MESSAGE;
        return coll_i_conformance_came(kit, op, op->buf);
    case COLL_I_CONFORMANCE_ACQUIRES:
        return coll_i_conformance_came(kit, op, coll_i_conformance_acquired(kit, op));
    case COLL_I_CONFORMANCE_COPIES:
        op->holds = COLL_I_CONFORMANCE_MESSAGE;
        return coll_i_conformance_came(kit, op, op->buf);
    case COLL_I_CONFORMANCE_REDUCES:
        return coll_i_conformance_reduced(kit, op, 2);
    case COLL_I_CONFORMANCE_ARRIVES:
        return coll_i_conformance_arrived(kit, op);
    case COLL_I_CONFORMANCE_MEETS:
        return coll_i_conformance_reduced(kit, op, kit->task.p);
    default:
        return coll_i_conformance_is_whole(kit, op);
    }
}

/* The transport has said how an operation ends: COLL_OK or an error. */
COLL_INLINE void coll_i_conformance_end(coll_conformance *kit, coll_i_conformance_op *op,
                                        coll_status status)
{
    const unsigned how = status == COLL_OK               ? COLL_I_CONFORMANCE_WELL
                         : status == COLL_ERR_SIZE       ? COLL_I_CONFORMANCE_BY_SIZE
                         : status == COLL_ERR_PEER       ? COLL_I_CONFORMANCE_BY_PEER
                         : status == COLL_ERR_CAPABILITY ? COLL_I_CONFORMANCE_REFUSED
                                                         : 0;
    if (!(op->ends & (how | COLL_I_CONFORMANCE_ANYHOW))) {
        coll_i_conformance_fail_op(kit, op);
        coll_i_conformance_say_status(kit, "it ended with ", status);
        coll_i_conformance_say_status(kit, " instead of ",
                                      op->ends & COLL_I_CONFORMANCE_WELL      ? COLL_OK
                                      : op->ends & COLL_I_CONFORMANCE_BY_SIZE ? COLL_ERR_SIZE
                                                                              : COLL_ERR_PEER);
        return;
    }
    if (status == COLL_OK) {
        kit->done++;
        if (!coll_i_conformance_went_well(kit, op))
            return;
        if (op->kind == COLL_I_CONFORMANCE_ACQUIRES) { /* held for some rounds */
            enum { HELD = 4 };
            op->state = COLL_I_CONFORMANCE_FLYING;
            op->after = kit->round + HELD;
            return;
        }
    } else {
        if (status == COLL_ERR_PEER && kit->task.transport->routes &&
            coll_i_conformance_has(kit, COLL_I_CONFORMANCE_ABORTS)) /* as the library does */
            coll_i_conformance_abort(kit, op->tag, op->count ? op->count : 1);
        kit->refused += how == COLL_I_CONFORMANCE_REFUSED;
        if (how == COLL_I_CONFORMANCE_BY_SIZE && op->ends == COLL_I_CONFORMANCE_BY_SIZE &&
            !coll_i_conformance_knows_misfit(kit, op))
            return;
        if (op->state == COLL_I_CONFORMANCE_FLYING) /* after an error it still is */
            coll_i_conformance_cancel(kit, op);
        if (coll_i_conformance_receives(op)) /* part of it may have come */
            op->holds = COLL_I_CONFORMANCE_ANYTHING;
    }
    coll_i_conformance_over(kit, op);
}

/* Gives up an operation in flight: from now on its buffer holds what it does. */
COLL_INLINE void coll_i_conformance_give_up(coll_conformance *kit, coll_i_conformance_op *op)
{
    if (op->state == COLL_I_CONFORMANCE_FLYING)
        coll_i_conformance_cancel(kit, op);
    coll_i_conformance_over(kit, op);
}

COLL_INLINE void coll_i_conformance_fail_status(coll_conformance *kit,
                                                const coll_i_conformance_op *op,
                                                const char *callback, coll_status status)
{
    coll_i_conformance_fail_op(kit, op);
    coll_i_conformance_say(kit, callback);
    coll_i_conformance_say_number(kit, " returned ", (size_t)status);
    coll_i_conformance_say(kit, ", which it never does");
}

/* ---- starting and testing ---------------------------------------------------------------- */

/* Starts what the transport does; whether that moved. */
COLL_INLINE bool coll_i_conformance_start(coll_conformance *kit, coll_i_conformance_op *op)
{
    const bool may_start =
        op->kind != COLL_I_CONFORMANCE_ACQUIRES && op->kind != COLL_I_CONFORMANCE_ENTERS;
    const coll_status status = coll_i_conformance_call(kit, op);
    coll_i_conformance_mark(op, COLL_I_CONFORMANCE_TRIED);
    if (status == COLL_AGAIN) {
        op->refusals++;
        kit->again += op->kind == COLL_I_CONFORMANCE_SENDS;
        return false;
    }
    if (status == COLL_STARTED && may_start) {
        op->state = COLL_I_CONFORMANCE_FLYING;
    } else if (status == COLL_ERR_CAPABILITY && (op->kind == COLL_I_CONFORMANCE_ACQUIRES ||
                                                 op->kind == COLL_I_CONFORMANCE_ARRIVES)) {
        kit->refused++;
        op->kind = COLL_I_CONFORMANCE_RECEIVES;
    } else if (status <= 0) {
        coll_i_conformance_end(kit, op, status);
    } else {
        coll_i_conformance_fail_status(kit, op, "it", status);
    }
    return true;
}

/* SHARED: the first word of a part is that of whoever's turn it is. */
COLL_INLINE bool coll_i_conformance_enter(coll_conformance *kit, coll_i_conformance_op *op)
{
    if (!op->a) {
        void *memory;
        (void)coll_i_conformance_part(kit, true, &op->count, &memory);
        op->a = (const unsigned char *)memory;
        if (!memory) {
            coll_i_conformance_fail_op(kit, op);
            coll_i_conformance_say(kit, "shared gives no address");
            return true;
        }
    }
    if (!coll_i_conformance_start(kit, op))
        return false;
    if (kit->status >= 0 && op->bytes)
        ((uint32_t *)(uintptr_t)op->a)[op->peer] = op->number;
    return true;
}

COLL_INLINE void coll_i_conformance_look(coll_conformance *kit, coll_i_conformance_op *op)
{
    const uint32_t came = ((const uint32_t *)(const void *)op->of->a)[op->peer];
    if (came != op->number) {
        coll_i_conformance_fail_op(kit, op);
        coll_i_conformance_say_number(kit, "word ", op->peer);
        coll_i_conformance_say_number(kit, " of use ", op->of->count);
        coll_i_conformance_say_number(kit, " is ", came);
        coll_i_conformance_say_number(kit, " instead of ", op->number);
        return;
    }
    op->state = COLL_I_CONFORMANCE_ENDED;
}

/* Starts an operation, or does at once what is the kit's; whether anything moved. */
COLL_INLINE bool coll_i_conformance_begin(coll_conformance *kit, coll_i_conformance_op *op)
{
    switch ((coll_i_conformance_kind)op->kind) {
    case COLL_I_CONFORMANCE_PAUSES:
        op->after += kit->round;
        op->state = COLL_I_CONFORMANCE_FLYING;
        return true;
    case COLL_I_CONFORMANCE_SLEEPS:
    case COLL_I_CONFORMANCE_LANDS:
        op->state = COLL_I_CONFORMANCE_FLYING;
        return true;
    case COLL_I_CONFORMANCE_KEEPS:
        op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    case COLL_I_CONFORMANCE_CANCELS:
        coll_i_conformance_give_up(kit, op->of);
        op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    case COLL_I_CONFORMANCE_ABORTS:
        coll_i_conformance_abort(kit, op->tag, op->count);
        op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    case COLL_I_CONFORMANCE_FORGETS:
        coll_i_conformance_forget(kit, op);
        op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    case COLL_I_CONFORMANCE_ENTERS:
        return coll_i_conformance_enter(kit, op);
    case COLL_I_CONFORMANCE_LOOKS:
        coll_i_conformance_look(kit, op);
        return true;
    case COLL_I_CONFORMANCE_LEAVES:
        coll_i_conformance_leave(kit, op->of->count);
        op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    default:
        return coll_i_conformance_start(kit, op);
    }
}

/* Asks the transport about an operation in flight; whether it moved. */
COLL_INLINE bool coll_i_conformance_ask(coll_conformance *kit, coll_i_conformance_op *op)
{
    const coll_status status = coll_i_conformance_test(kit, op);
    if (status == COLL_AGAIN)
        return false;
    if (status > 0)
        coll_i_conformance_fail_status(kit, op, "test", status);
    else
        coll_i_conformance_end(kit, op, status);
    return true;
}

/* A sleeper's round: arms, looks at the descriptor while he is armed, and tests his receive when he is
 * awake. If the descriptor is silent he wakes of himself after a while; that the message is there then may be
 * chance once, but not three times in a row. */
COLL_INLINE bool coll_i_conformance_sleep(coll_conformance *kit, coll_i_conformance_op *op)
{
    enum { IN_A_ROW = 3 };
    coll_i_conformance_op *of = op->of;
    bool silent = false, moved = true;
    if (!kit->asleep) {
        const coll_status status = coll_i_conformance_arm(kit);
        if (status != COLL_OK && status != COLL_AGAIN) {
            coll_i_conformance_fail_op(kit, of);
            coll_i_conformance_say_status(kit, "arm, while it is in flight, returned ", status);
            return true;
        }
        silent = status == COLL_OK;
        if (silent && kit->readable) {
            kit->asleep = true;
            op->count = 0;
            return false;
        }
    } else if (!kit->readable(coll_i_conformance_descriptor(kit))) {
        silent = true;
        if (op->count++ < kit->task.patience / 4)
            return false;
    }
    kit->asleep = false;
    if (of->state == COLL_I_CONFORMANCE_FLYING)
        moved = coll_i_conformance_ask(kit, of);
    if (of->state != COLL_I_CONFORMANCE_ENDED)
        return moved;
    op->state = COLL_I_CONFORMANCE_ENDED;
    kit->missed = silent ? kit->missed + 1 : 0;
    if (kit->missed == IN_A_ROW && kit->status >= 0) {
        coll_i_conformance_fail_op(kit, of);
        coll_i_conformance_say(kit, kit->readable
                                        ? "it had come, arm said COLL_OK, and the descriptor "
                                          "was not readable"
                                        : "it had come, and arm said COLL_OK");
    }
    return true;
}

/* Has a put come that is due? It is in its landing then. Whether it, or an error, has. */
COLL_INLINE bool coll_i_conformance_land(coll_conformance *kit, coll_i_conformance_op *op)
{
    uint32_t value = 0;
    const coll_status status = coll_i_conformance_count(kit, op->count, &value);
    if (status == COLL_OK && value <= op->number)
        return false;
    op->state = COLL_I_CONFORMANCE_PENDING; /* the transport has nothing of it */
    op->holds = COLL_I_CONFORMANCE_MESSAGE;
    if (status == COLL_OK && !coll_i_conformance_came(kit, op, op->buf))
        return true;
    if (status < 0)
        op->holds = COLL_I_CONFORMANCE_ANYTHING;
    coll_i_conformance_end(kit, op, status);
    return true;
}

/* Goes on with an operation in flight; whether it moved. */
COLL_INLINE bool coll_i_conformance_go_on(coll_conformance *kit, coll_i_conformance_op *op)
{
    if (op->kind == COLL_I_CONFORMANCE_SLEEPS)
        return coll_i_conformance_sleep(kit, op);
    if (op->kind == COLL_I_CONFORMANCE_LANDS)
        return coll_i_conformance_land(kit, op);
    if (op->kind == COLL_I_CONFORMANCE_PAUSES) {
        if (kit->round >= op->after)
            op->state = COLL_I_CONFORMANCE_ENDED;
        return true;
    }
    if (op->kind == COLL_I_CONFORMANCE_ACQUIRES) {
        if (kit->round >= op->after &&
            coll_i_conformance_came(kit, op, coll_i_conformance_acquired(kit, op))) {
            coll_i_conformance_release(kit, op);
            coll_i_conformance_over(kit, op);
        }
        return true;
    }
    return coll_i_conformance_ask(kit, op);
}

/* Nothing has moved for too long: blames the first operation that could have, and is waited for. */
COLL_INLINE void coll_i_conformance_hangs(coll_conformance *kit)
{
    const coll_i_conformance_op *op = NULL;
    for (uint32_t k = 0; k < 2 * kit->n_ops && !op; k++) {
        const uint32_t i = k < kit->n_ops ? k : k - kit->n_ops;
        if (k < kit->n_ops &&
            coll_i_conformance_is_marked(&kit->ops[i], COLL_I_CONFORMANCE_ASIDE))
            continue;
        if (kit->ops[i].state == COLL_I_CONFORMANCE_FLYING ||
            (kit->ops[i].state == COLL_I_CONFORMANCE_PENDING &&
             coll_i_conformance_may_start(kit, i)))
            op = &kit->ops[i];
    }
    coll_i_conformance_fail_op(kit, op ? op : &kit->ops[0]);
    if (op && op->state == COLL_I_CONFORMANCE_PENDING) {
        coll_i_conformance_say_number(kit, "was told COLL_AGAIN ", op->refusals);
        coll_i_conformance_say(kit, " times, and ");
    }
    coll_i_conformance_say_number(kit, "nothing has moved for ", kit->idle);
    coll_i_conformance_say(kit, " rounds");
}

/* Is it not asked about, until another one was started? */
COLL_INLINE bool coll_i_conformance_is_let_be(const coll_i_conformance_op *op)
{
    return op->kind == COLL_I_CONFORMANCE_RECEIVES && op->of &&
           op->of->state == COLL_I_CONFORMANCE_PENDING;
}

/* One round of a phase; whether it is over. */
COLL_INLINE bool coll_i_conformance_round(coll_conformance *kit)
{
    bool moved = false, over = true;
    for (uint32_t i = 0; i < kit->n_ops && kit->status >= 0; i++) {
        coll_i_conformance_op *op = &kit->ops[i];
        if (op->state == COLL_I_CONFORMANCE_PENDING) {
            if (coll_i_conformance_may_start(kit, i))
                moved = coll_i_conformance_begin(kit, op) || moved;
        } else if (op->state == COLL_I_CONFORMANCE_FLYING &&
                   coll_i_conformance_is_next(kit, i) && !coll_i_conformance_is_let_be(op)) {
            moved = coll_i_conformance_go_on(kit, op) || moved;
        }
        over = over && (op->state == COLL_I_CONFORMANCE_ENDED ||
                        coll_i_conformance_is_marked(op, COLL_I_CONFORMANCE_MAY_STAY));
    }
    kit->round++;
    kit->idle = moved ? 0 : kit->idle + 1;
    if (kit->status >= 0 && !over && kit->idle > kit->task.patience)
        coll_i_conformance_hangs(kit);
    return kit->status >= 0 && over;
}

/* The phase is over: gives up what may be in flight, and looks at all that must not have changed. */
COLL_INLINE void coll_i_conformance_close(coll_conformance *kit)
{
    for (uint32_t i = 0; i < kit->n_ops; i++)
        if (kit->ops[i].state != COLL_I_CONFORMANCE_ENDED)
            coll_i_conformance_give_up(kit, &kit->ops[i]);
    for (uint32_t i = 0; i < kit->n_ops && kit->status >= 0; i++) {
        const coll_i_conformance_op *op = &kit->ops[i];
        if (!coll_i_conformance_is_whole(kit, op))
            return;
        if (coll_i_conformance_is_marked(op, COLL_I_CONFORMANCE_TRIED) && kit->spent &&
            (op->handle.word[0] != COLL_I_CONFORMANCE_WORD ||
             op->handle.word[1] != COLL_I_CONFORMANCE_WORD)) {
            coll_i_conformance_fail_op(kit, op);
            coll_i_conformance_say(kit, "its handle was written after it was over");
        }
    }
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_PLAYER_H */
