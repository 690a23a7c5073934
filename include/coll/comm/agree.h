/* coll/comm/agree.h — the survivors of a communicator agree, whoever of them dies meanwhile
 *
 * An agreement yields flags, the bitwise AND of what the ranks brought, and a set of lost ranks. It goes
 * through *views*. A view is a set of ranks that are known to be dead; the others are its members. In
 * each view there are two phases:
 *
 *   A   every member learns what all members brought to the view, and combines it: that is locked
 *   B   every member learns that all members have locked it: that is decided, and is returned
 *
 * A rank that learns of another death takes the larger view, and begins with phase A again; it brings what it
 * has locked last, or else its flags. Of what the members bring, that of the largest view counts; if
 * none has locked anything, the AND of their flags with the view as the lost ranks.
 *
 * Two ranks that return do not differ, even if they die then, if no rank is taken for dead that is not:
 *   - A phase A of a view ends with the same on all ranks where it ends, as all combine the same.
 *   - The views whose phase A ended somewhere contain each other. Let F and G be two of them, without
 *     this; they have no member in common, as a rank's own views only grow. So each member of F was dead
 *     before phase A of G ended somewhere, and each member of G before that of F did: but that end was at a
 *     member. Of the two ends, the member of the later one was dead before the earlier one.
 *   - If a rank decides in view F, all members of F have locked what it decides, each before it took a
 *     larger view. In the next view whose phase A ends, all members are members of F, and bring that lock
 *     or one that is not of a larger view: the same is locked, and so on in each that follows.
 * Two ranks that stay alive both return: each death is noticed by all, as they all wait for each other, views
 * grow p times at most, and phases of the last view end.
 *
 * The first view, in which nobody is dead, is *brief*: both phases are dissemination barriers that carry
 * what was combined so far, 2 · ⌈log₂ p⌉ rounds, as combining once more does not change anything. A rank that
 * misses somebody has the transport abort the brief tag, so that all hear of it, and goes on with the
 * *long* form: it tells all others each time what it knows, and receives from all. Two phases A
 * of the first view, brief and long, lock the same: the AND of all flags.
 *
 * A rank that has returned from a brief agreement *owes* an answer to those that have not, and are in the long
 * form: it notices that the brief tag is aborted by a receive that nothing is sent to (`watch`), and then
 * tells all what was decided. Whoever hears from a rank that this is in a later agreement knows that it has
 * returned, and from a brief agreement, as ranks return from a long one when they have told all; then the
 * lock is what was decided, as phase A of the first view had ended on all ranks. A rank closes
 * by one phase A more (coll_i_agree_close): then nobody waits for an answer. If that fails, it tells all.
 *
 * Messages from ranks that died are not counted on: what a dead rank sent last may be lost or not.
 *
 * Use recover.h.
 */
#ifndef COLL_COMM_AGREE_H
#define COLL_COMM_AGREE_H

#include "agree_rank.h"

/* ---- the long form ----------------------------------------------------------------------------- */

/* All others are to be told what this rank says now. */
COLL_INLINE void coll_i_agree_tell(coll_i_agree *a, coll_i_agree_state state)
{
    a->state = state;
    a->moved = true;
    for (uint32_t i = 0; i < a->p; i++)
        a->peers[i].stale = true;
}

/* It is decided what this rank has locked. */
COLL_INLINE void coll_i_agree_decide(coll_i_agree *a)
{
    a->mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_DECIDED;
    a->owes = false;
    coll_i_agree_tell(a, COLL_I_AGREE_TELLING);
}

/* A message has come from a peer. Ones of earlier agreements were left over. */
COLL_INLINE void coll_i_agree_hear(coll_i_agree *a, uint32_t rank)
{
    coll_i_agree_peer *peer = &a->peers[rank];
    const uint64_t *message = peer->in;
    if (message[COLL_I_AGREE_NUMBER] < a->mine[COLL_I_AGREE_NUMBER])
        return;
    COLL_COPY(peer->heard, peer->in, coll_i_agree_bytes(a));
    if (a->state != COLL_I_AGREE_LONG)
        return;
    if (message[COLL_I_AGREE_NUMBER] > a->mine[COLL_I_AGREE_NUMBER]) {
        if (a->mine[COLL_I_AGREE_LOCK] == 0)
            a->status = COLL_ERR_STATE; /* the ranks did not agree equally often */
        else
            coll_i_agree_decide(a);
    } else if (message[COLL_I_AGREE_PHASE] == COLL_I_AGREE_DECIDED) {
        a->mine[COLL_I_AGREE_LOCK] = 0; /* whatever it was, that is what counts */
        coll_i_agree_combine(a, message);
        coll_i_agree_decide(a);
    }
}

/* Moves the messages with a peer on. `listens`: receives, too. */
COLL_INLINE void coll_i_agree_exchange(coll_i_agree *a, uint32_t rank, bool listens)
{
    coll_i_agree_peer *peer = &a->peers[rank];
    coll_status status = COLL_OK;
    while (listens && status == COLL_OK && a->status == COLL_OK && !peer->dead) {
        const bool posted = peer->receiving;
        status = posted ? coll_i_agree_test(a, &peer->receive, &peer->receiving)
                        : coll_i_agree_receive(a, rank, COLL_I_AGREE_LONG_TAG);
        if (status == COLL_OK)
            coll_i_agree_hear(a, rank);
        else if (status == COLL_STARTED)
            status = COLL_OK;
        else if (status < 0)
            coll_i_agree_miss(a, rank, status);
    }
    if (peer->dead || a->status != COLL_OK)
        return;
    status = coll_i_agree_test(a, &peer->send, &peer->sending);
    if (status == COLL_OK && peer->stale) {
        status = coll_i_agree_send(a, rank, COLL_I_AGREE_LONG_TAG);
        if (status == COLL_OK || status == COLL_STARTED) {
            peer->stale = false;
            a->moved = true;
        }
    } else if (status < 0) {
        peer->stale = true; /* it is told once more */
    }
    if (status < 0)
        coll_i_agree_miss(a, rank, status);
}

/* Takes over what others know of the dead. A rank that others take for dead cannot go on. */
COLL_INLINE void coll_i_agree_widen(coll_i_agree *a)
{
    for (uint32_t i = 0; i < a->p; i++) {
        const uint64_t *view = a->peers[i].heard + COLL_I_AGREE_VIEW;
        if (i == a->rank || a->peers[i].dead || !coll_i_agree_is_heard(a, &a->peers[i]))
            continue;
        if (coll_i_agree_has(view, a->rank))
            a->status = COLL_ERR_PEER;
        for (uint32_t k = 0; k < a->p && a->status == COLL_OK; k++)
            if (coll_i_agree_has(view, k) && !a->peers[k].dead)
                coll_i_agree_bury(a, k);
    }
}

/* Have all members of the view come so far in it? */
COLL_INLINE bool coll_i_agree_all_are(const coll_i_agree *a, uint64_t phase)
{
    for (uint32_t i = 0; i < a->p; i++) {
        const coll_i_agree_peer *peer = &a->peers[i];
        if (i != a->rank && !peer->dead &&
            (!coll_i_agree_is_heard(a, peer) || peer->heard[COLL_I_AGREE_PHASE] < phase ||
             !coll_i_agree_same_view(a, peer->heard)))
            return false;
    }
    return true;
}

/* Ends phases that have come to their end. */
COLL_INLINE void coll_i_agree_advance(coll_i_agree *a)
{
    coll_i_agree_widen(a);
    if (a->status != COLL_OK)
        return;
    if (a->mine[COLL_I_AGREE_PHASE] == COLL_I_AGREE_A &&
        coll_i_agree_all_are(a, COLL_I_AGREE_A)) {
        for (uint32_t i = 0; i < a->p; i++)
            if (i != a->rank && !a->peers[i].dead)
                coll_i_agree_combine(a, a->peers[i].heard);
        coll_i_agree_lock(a);
        coll_i_agree_tell(a, COLL_I_AGREE_LONG);
    }
    if (a->mine[COLL_I_AGREE_PHASE] == COLL_I_AGREE_B &&
        coll_i_agree_all_are(a, COLL_I_AGREE_B))
        coll_i_agree_decide(a);
}

/* Has a peer what this rank says, or does not need it: it is dead, or has decided, too? */
COLL_INLINE bool coll_i_agree_is_told(const coll_i_agree *a, const coll_i_agree_peer *peer)
{
    return peer->dead || (!peer->sending && !peer->stale) ||
           peer->heard[COLL_I_AGREE_NUMBER] > a->mine[COLL_I_AGREE_NUMBER] ||
           (coll_i_agree_is_heard(a, peer) &&
            peer->heard[COLL_I_AGREE_PHASE] == COLL_I_AGREE_DECIDED);
}

COLL_INLINE void coll_i_agree_long(coll_i_agree *a)
{
    bool told = true;
    for (uint32_t i = 0; i < a->p; i++)
        if (i != a->rank)
            coll_i_agree_exchange(a, i, !a->closing);
    a->next = a->next + 1 < a->p ? a->next + 1 : 0;
    (void)coll_i_agree_look(a, a->next);
    if (a->state == COLL_I_AGREE_LONG && a->status == COLL_OK)
        coll_i_agree_advance(a);
    if (a->state != COLL_I_AGREE_TELLING)
        return;
    for (uint32_t i = 0; i < a->p; i++)
        told = told && (i == a->rank || coll_i_agree_is_told(a, &a->peers[i]));
    if (!told)
        return;
    a->state = COLL_I_AGREE_IDLE;
    for (uint32_t i = 0; i < a->p; i++) {
        coll_i_agree_cancel(a, &a->peers[i].send, &a->peers[i].sending);
        a->peers[i].stale = false;
    }
}

/* The brief form is over for good, on all ranks, as its tag and that of the watch are aborted. */
COLL_INLINE void coll_i_agree_give_up_brief(coll_i_agree *a)
{
    if (a->brief)
        a->transport->failure->abort(a->ctx, a->first + COLL_I_AGREE_BRIEF_TAG,
                                     COLL_I_AGREE_LONG_TAG);
    a->brief = false;
    coll_i_agree_cancel(a, &a->watch, &a->watching);
}

/* Goes on with the long form. What is in flight is cancelled when the tag is aborted: so nobody takes the
 * message after it for it. */
COLL_INLINE void coll_i_agree_lengthen(coll_i_agree *a)
{
    coll_i_agree_give_up_brief(a);
    for (uint32_t i = 0; i < a->p && a->state == COLL_I_AGREE_BRIEF; i++) {
        coll_i_agree_cancel(a, &a->peers[i].receive, &a->peers[i].receiving);
        coll_i_agree_cancel(a, &a->peers[i].send, &a->peers[i].sending);
    }
    a->started = false;
    for (uint32_t i = 0; i < a->p && !a->closing; i++)
        (void)coll_i_agree_look(a, i);
    coll_i_agree_tell(a, a->closing ? COLL_I_AGREE_TELLING : COLL_I_AGREE_LONG);
}

/* ---- the brief form ---------------------------------------------------------------------------- */

/* Moves one round on. COLL_AGAIN: it is not over. */
COLL_INLINE coll_status coll_i_agree_round(coll_i_agree *a)
{
    const uint32_t way = (uint32_t)1 << (a->round % a->rounds);
    const uint32_t to = (a->rank + way) % a->p, from = (a->rank + a->p - way) % a->p;
    coll_i_agree_peer *source = &a->peers[from], *target = &a->peers[to];
    coll_status received = COLL_OK, sent = COLL_OK;
    if (!a->started) {
        received = coll_i_agree_receive(a, from, COLL_I_AGREE_BRIEF_TAG);
        if (received != COLL_OK && received != COLL_STARTED)
            return received;
        a->started = target->stale = true;
    }
    if (target->stale) {
        sent = coll_i_agree_send(a, to, COLL_I_AGREE_BRIEF_TAG);
        if (sent == COLL_OK || sent == COLL_STARTED) {
            target->stale = false;
            a->moved = true;
        } else if (sent < 0) {
            return sent;
        }
    }
    received = coll_i_agree_test(a, &source->receive, &source->receiving);
    if (received < 0)
        return received;
    sent = coll_i_agree_test(a, &target->send, &target->sending);
    if (sent < 0)
        return sent;
    if (received == COLL_AGAIN || sent == COLL_AGAIN || target->stale)
        return COLL_AGAIN;
    if (source->in[COLL_I_AGREE_NUMBER] != a->mine[COLL_I_AGREE_NUMBER])
        return COLL_ERR_STATE;
    coll_i_agree_combine(a, source->in);
    a->started = false;
    a->round++;
    return COLL_OK;
}

/* Others need an answer, or will. */
COLL_INLINE void coll_i_agree_answer(coll_i_agree *a)
{
    coll_i_agree_give_up_brief(a);
    coll_i_agree_decide(a);
}

/* From now on, this rank notices whether others need an answer. */
COLL_INLINE void coll_i_agree_watch(coll_i_agree *a)
{
    const uint32_t peer = a->rank == 0 ? a->p - 1 : a->rank - 1;
    coll_status status;
    a->owes = true;
    if (a->watching || a->p == 1)
        return;
    a->watch.word[0] = a->watch.word[1] = 0;
    status = a->transport->recv(a->ctx, coll_group_outer(a->group, peer),
                                a->tag + COLL_I_AGREE_WATCH_TAG, NULL, 0, &a->watch);
    a->watching = status == COLL_STARTED;
    if (status < 0)
        coll_i_agree_answer(a);
}

COLL_INLINE void coll_i_agree_brief(coll_i_agree *a)
{
    coll_status status = COLL_OK;
    while (status == COLL_OK && a->state == COLL_I_AGREE_BRIEF) {
        if (a->round == a->rounds && a->mine[COLL_I_AGREE_PHASE] == COLL_I_AGREE_A)
            coll_i_agree_lock(a);
        if (a->round == (a->closing ? 1u : 2u) * a->rounds) {
            a->mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_DECIDED;
            a->state = COLL_I_AGREE_IDLE;
            a->moved = true;
            if (a->closing)
                a->owes = false;
            else
                coll_i_agree_watch(a);
            return;
        }
        status = coll_i_agree_round(a);
    }
    if (status == COLL_ERR_STATE)
        a->status = status;
    else if (status < 0)
        coll_i_agree_lengthen(a);
}

/* ---- an agreement ------------------------------------------------------------------------------ */

/* Begins an agreement. `looks`: asks the transport who is dead first. */
COLL_INLINE void coll_i_agree_begin(coll_i_agree *a, uint64_t flags, bool looks)
{
    a->mine[COLL_I_AGREE_NUMBER]++;
    a->mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_A;
    a->mine[COLL_I_AGREE_LOCK] = 0;
    a->mine[COLL_I_AGREE_FLAGS] = flags;
    a->round = 0;
    a->started = false;
    a->state = a->brief ? COLL_I_AGREE_BRIEF : COLL_I_AGREE_LONG;
    for (uint32_t i = 0; i < a->set; i++)
        coll_i_agree_view(a)[i] = coll_i_agree_lost(a)[i] = 0;
    for (uint32_t i = 0; i < a->p; i++)
        if (a->peers[i].dead || (looks && coll_i_agree_look(a, i)))
            coll_i_agree_view(a)[i / 64] |= (uint64_t)1 << i % 64;
    for (uint32_t i = 0; i < a->set; i++)
        if (coll_i_agree_view(a)[i] != 0 && a->state == COLL_I_AGREE_BRIEF)
            coll_i_agree_lengthen(a);
    if (!a->brief)
        coll_i_agree_tell(a, COLL_I_AGREE_LONG);
}

/* Moves an agreement on. COLL_AGAIN: it is under way; an error: this rank cannot take part any more. */
COLL_INLINE coll_status coll_i_agree_progress(coll_i_agree *a)
{
    if (a->state == COLL_I_AGREE_BRIEF && a->status == COLL_OK)
        coll_i_agree_brief(a);
    if ((a->state == COLL_I_AGREE_LONG || a->state == COLL_I_AGREE_TELLING) &&
        a->status == COLL_OK)
        coll_i_agree_long(a);
    if (a->status != COLL_OK)
        a->state = COLL_I_AGREE_IDLE;
    return a->status != COLL_OK            ? a->status
           : a->state == COLL_I_AGREE_IDLE ? COLL_OK
                                           : COLL_AGAIN;
}

/* Between agreements: answers others that need it. */
COLL_INLINE void coll_i_agree_serve(coll_i_agree *a)
{
    enum { PASSES = 8 }; /* so that those who wait for something else hardly notice */
    if (a->status != COLL_OK)
        return;
    if (a->state == COLL_I_AGREE_IDLE && a->owes && ++a->passes % PASSES == 0) {
        coll_i_agree_watch(a);
        if (a->watching && coll_i_agree_test(a, &a->watch, &a->watching) < 0)
            coll_i_agree_answer(a);
    }
    if (a->state == COLL_I_AGREE_TELLING)
        coll_i_agree_long(a);
}

/* Begins this rank's end: when coll_i_agree_progress is done, nobody needs it any more. */
COLL_INLINE void coll_i_agree_close(coll_i_agree *a)
{
    const bool owes = a->owes;
    a->closing = true;
    if (!owes)
        return; /* what it has still to tell, coll_i_agree_progress tells */
    a->mine[COLL_I_AGREE_NUMBER]++;
    a->mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_A;
    a->mine[COLL_I_AGREE_LOCK] = 0;
    a->round = 0;
    a->started = false;
    a->state = COLL_I_AGREE_BRIEF;
    if (!a->brief)
        coll_i_agree_lengthen(a);
}

#endif /* COLL_COMM_AGREE_H */
