/* coll/transports/node/waiting.h — ranks that share memory: who waits for what, and how
 *
 * With a processor for each rank, a rank that waits spins, and yields when nothing has come for long,
 * or another rank is on its processor. If other programs run there, to yield lets them do so for
 * milliseconds. Who comes back from that spins as long again: so ranks that wait for each other come
 * to run at the same times, as the one that finds the other away goes too.
 *
 * Measurements: docs/internals/shared-memory.md.
 *
 * Where ranks share processors, a yield takes as long as twenty messages. A rank yields in vain if no
 * other rank of its processor can go on, and spins in vain if one can. So each rank
 * says which processor it runs on, and which word in shared memory it looks at, what it found there
 * and who is to change it. A rank that waits looks at what those on its processor say. It keeps the
 * processor
 *
 *   no   if it waits for one of them: that one is to run, or to spin
 *   no   if one can go on, as its word has changed, and some rank that cannot waits for it
 *   no   if one can go on and waited for this rank: it has nothing to do before this one has again
 *   ?    if one can go on, but nobody needs it yet, as ranks that a root does not wait for: a bet,
 *        made as long as those before were won: something came before the processor was left
 *   yes  if none can go on
 *
 * but not longer than a switch there and back takes. All that is a hint, and may be old or even
 * nonsense: then a rank spins, or yields, in vain. Of the words that a rank waits for only one is
 * known: the one of a rank on another processor that it looked at last, or of its own if there is
 * none. For those of its own run before it does, and then it still waits for the others.
 *
 * With more than two ranks to a processor it matters in which order the system gives it to them:
 * node/turns.h. To wake a sleeping rank of this processor takes twice as long as a yield, so nobody is woken
 * here.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_WAITING_H
#define COLL_TRANSPORTS_NODE_WAITING_H

#include "turns.h"

#if defined(__linux__) && !defined(__cplusplus) /* strict C99 hides what C++ always sees */
extern int sched_getcpu(void);
#endif

enum {
    COLL_I_NODE_GLANCES = 8, /* at words, between looks at all that a rank waits for */
    COLL_I_NODE_LUCK = 16,   /* bets won that are remembered at most */
    COLL_I_NODE_LOSS = 4,    /* bets won that one that is lost outweighs */
    COLL_I_NODE_TRY = 32,    /* refused bets until one is made without luck */
    COLL_I_NODE_AWAY = 100,  /* µs of a yield: another program runs on this processor */
    COLL_I_NODE_TURNS = 16,  /* that are given away between looks after peers */
    COLL_I_NODE_ABSENT = 64  /* tests until a rank looks who is still missing */
};

/* ---- what a rank waits for --------------------------------------------------------------- */

/* `word`, at the beginning of a line of shared memory, is still `seen`; `peer` is to change it. */
COLL_INLINE void coll_i_node_watch_word(coll_i_node_rank *me, const uint32_t *word,
                                        uint32_t seen, uint32_t peer)
{
    me->watch.at = (uint64_t)((uintptr_t)word - me->base);
    me->watch.seen = seen;
    me->watch.peer = peer;
}

/* A test has found nothing that the other end of the link is to bring. */
COLL_INLINE coll_status coll_i_node_miss(coll_i_node_rank *me, coll_i_node_link *link,
                                         const uint32_t *word, uint32_t seen)
{
    link->missed = true;
    if (me->oversubscribed) {
        const bool near =
            __atomic_load_n(&me->cpus[link->peer], __ATOMIC_RELAXED) == me->cpus[me->rank];
        if (!near || !me->far)
            coll_i_node_watch_word(me, word, seen, link->peer);
        me->near |= near;
        me->far |= !near;
    }
    if (me->check_liveness && ++me->misses % COLL_NODE_MISSES == 0)
        me->check_liveness(me);
    return COLL_AGAIN;
}

/* Is an operation that waits for several ranks to look for all that are not ready, not only for the
 * first? Another one may have left. One test in COLL_I_NODE_ABSENT, which is the turn of every
 * operation, however many are tested one after the other. */
COLL_INLINE bool coll_i_node_misses_all(const coll_i_node_rank *me)
{
    return me->check_liveness && me->misses * 2654435769u < UINT32_MAX / COLL_I_NODE_ABSENT;
}

/* Tells the others. */
COLL_INLINE void coll_i_node_tell_watch(coll_i_node_rank *me)
{
    coll_i_node_watch *told = &me->watches[me->rank];
    if (told->at != me->watch.at || told->seen != me->watch.seen ||
        told->peer != me->watch.peer) {
        __atomic_store_n(&told->peer, me->watch.peer, __ATOMIC_RELAXED);
        __atomic_store_n(&told->seen, me->watch.seen, __ATOMIC_RELAXED);
        __atomic_store_n(&told->at, me->watch.at, __ATOMIC_RELEASE);
    }
}

/* The processor that this rank runs on, counted from 1; 0: nobody knows. */
COLL_INLINE uint32_t coll_i_node_processor(void)
{
#if defined(__linux__)
    return (uint32_t)sched_getcpu() + 1;
#else
    return 0;
#endif
}

/* ---- what the others wait for ------------------------------------------------------------ */

/* Can the rank go on, as far as can be told? */
COLL_INLINE bool coll_i_node_can_go_on(const coll_i_node_rank *me, uint32_t rank)
{
    const coll_i_node_watch *its = &me->watches[rank];
    const uint64_t at = __atomic_load_n(&its->at, __ATOMIC_ACQUIRE);
    const uint32_t *word = (const uint32_t *)coll_i_node_shared(me, at, sizeof *word);
    return !word || __atomic_load_n(word, __ATOMIC_RELAXED) !=
                        __atomic_load_n(&its->seen, __ATOMIC_RELAXED);
}

/* Whom the rank waits for. */
COLL_INLINE uint32_t coll_i_node_wants(const coll_i_node_rank *me, uint32_t rank)
{
    return __atomic_load_n(&me->watches[rank].peer, __ATOMIC_RELAXED);
}

/* Does any rank wait for this one, in vain so far? */
COLL_INLINE bool coll_i_node_is_wanted(const coll_i_node_rank *me, uint32_t rank)
{
    for (uint32_t r = 0; r < me->p; r++) {
        const uint32_t peer = coll_i_node_wants(me, r);
        if (r != rank && (peer == rank || peer == COLL_RANK_NONE) &&
            !coll_i_node_can_go_on(me, r))
            return true;
    }
    return false;
}

/* Should this rank, which waits, keep its processor? */
COLL_INLINE bool coll_i_node_stays(coll_i_node_rank *me)
{
    const uint32_t here = me->cpus[me->rank];
    bool some = false;
    if (here == 0 || me->near)
        return false;
    for (uint32_t r = 0; r < me->p; r++) {
        if (r == me->rank || __atomic_load_n(&me->cpus[r], __ATOMIC_RELAXED) != here ||
            !coll_i_node_can_go_on(me, r))
            continue;
        if (coll_i_node_wants(me, r) == me->rank || coll_i_node_is_wanted(me, r))
            return false;
        some = true;
    }
    if (some && !me->bets)
        me->bets = me->luck > 0 || ++me->refused % COLL_I_NODE_TRY == 0;
    return !some || me->bets;
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* Something came while the rank kept its processor. */
COLL_INLINE void coll_i_node_has_waited(coll_i_node_rank *me)
{
    if (me->bets && me->luck < COLL_I_NODE_LUCK)
        me->luck++;
    me->bets = false;
    me->spun = 0;
}

/* Says where this rank runs. */
COLL_INLINE void coll_i_node_tell_processor(coll_i_node_rank *me)
{
    const uint32_t here = coll_i_node_processor();
    if (me->cpus[me->rank] != here)
        __atomic_store_n(&me->cpus[me->rank], here, __ATOMIC_RELAXED);
}

COLL_INLINE void coll_i_node_yield(coll_i_node_rank *me)
{
    if (me->bets)
        me->luck = me->luck > COLL_I_NODE_LOSS ? me->luck - COLL_I_NODE_LOSS : 0;
    me->bets = me->near = false;
    me->spun = 0;
    coll_i_node_take_turn(me);
    coll_i_node_tell_processor(me);
    /* beside other programs a turn may take milliseconds, and many misses seconds */
    if (me->check_liveness && ++me->yields % COLL_I_NODE_TURNS == 0)
        me->check_liveness(me);
}

/* Where ranks share processors: waits until the word that was looked at last changes, for a few
 * glances at most, or yields. */
COLL_INLINE void coll_i_node_take_turns(coll_i_node_rank *me)
{
    const bool watches = me->watch.at != 0;
    coll_i_node_tell_watch(me);
    me->watch.at = 0; /* if there is nothing to look at the next time */
    me->far = false;
    for (uint32_t i = 0; i < COLL_I_NODE_GLANCES; i++) {
        const bool stays = ++me->spun <= me->spins && coll_i_node_stays(me);
        if (stays)
            coll_pause();
        if (watches && coll_i_node_can_go_on(me, me->rank))
            return; /* even if it was to leave: what others wait for often comes to all at once */
        if (!stays) {
            coll_i_node_yield(me);
            return;
        }
    }
}

/* Is another rank on this processor, as far as it has told? */
COLL_INLINE bool coll_i_node_is_near(const coll_i_node_rank *me)
{
    const uint32_t here = me->cpus[me->rank];
    for (uint32_t r = 0; here != 0 && r < me->p; r++)
        if (r != me->rank && __atomic_load_n(&me->cpus[r], __ATOMIC_RELAXED) == here)
            return true;
    return false;
}

/* With a processor for each rank: should this one, which waits, keep its own? */
COLL_INLINE bool coll_i_node_persists(coll_i_node_rank *me)
{
    if (me->spun == me->spins) {
        coll_i_node_tell_processor(me);
        me->near = coll_i_node_is_near(me);
        if (me->near)
            coll_i_node_spread(me);
    }
    if (me->spun >= (me->near ? me->spins : me->patience))
        return false;
    me->spun++;
    return true;
}

/* … and how long it spins again after it had none for so many microseconds. */
COLL_INLINE void coll_i_node_was_away(coll_i_node_rank *me, uint64_t microseconds)
{
    if (microseconds < COLL_I_NODE_AWAY)
        return;
    me->spun = 0;
    if (me->check_liveness)
        me->check_liveness(me);
}

COLL_INLINE void coll_i_node_persist(coll_i_node_rank *me)
{
    uint64_t before;
    if (coll_i_node_persists(me)) {
        coll_pause();
        return;
    }
    before = coll_i_node_microseconds();
    (void)sched_yield();
    coll_i_node_was_away(me, coll_i_node_microseconds() - before);
}

COLL_INLINE void coll_i_node_wait(void *ctx, uint32_t idle)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    if (idle <= 1)
        coll_i_node_has_waited(me);
    if (idle > COLL_NODE_YIELDS) {
        if (me->check_liveness)
            me->check_liveness(me);
        (void)poll(NULL, 0, 1);
    } else if (me->oversubscribed) {
        coll_i_node_take_turns(me);
    } else {
        coll_i_node_persist(me);
    }
}

#endif /* COLL_TRANSPORTS_NODE_WAITING_H */
