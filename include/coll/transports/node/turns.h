/* coll/transports/node/turns.h — ranks that share memory: in which order those of a processor have
 * their turns
 *
 * Where ranks share processors, the system gives a processor to those that yield it one after the
 * other, in an order that stays what it was by chance. What goes from rank to rank, as calls whose
 * root moves on, then takes up to as many rounds as a processor has ranks. So the ranks of a
 * processor line up: each looks who had the turn before it, and if that was not the next lower rank (of
 * the lowest one, the highest), it moves, by a turn that counts less. Linux, from 6.12 on, lets a
 * thread say how long its turns are, and puts it before those who have had more since; elsewhere the
 * order stays. Ranks that have just woken up all have the same place in that order, so each first moves
 * by its share of a turn; a rank that is out of order after that tries turns of other lengths.
 *
 * Ranks that exchange with neighbours, all at the same time, do worse in order, as what goes down a ring
 * then takes a round for each rank. So only those line up that have something from all others of their
 * processor. In order, a call whose root moves on costs each rank one switch, not two or three
 * (docs/internals/shared-memory.md).
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_TURNS_H
#define COLL_TRANSPORTS_NODE_TURNS_H

#include "spread.h"

/* 0: the order stays, and sched_setattr is never called. */
#ifndef COLL_NODE_ORDER
#define COLL_NODE_ORDER 1
#endif

enum {
    COLL_I_NODE_TRIES = 16, /* moves at most, one after the other … */
    COLL_I_NODE_REST = 6,   /* … so many turns later, when the others have moved … */
    COLL_I_NODE_ROUND = 16, /* … and one more after so many; then it looks who is here, too */
    COLL_I_NODE_PARTS = 8   /* of a turn */
};

/* How the system schedules a thread: its struct sched_attr. */
typedef struct coll_i_node_schedule {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period; /* nanoseconds */
} coll_i_node_schedule;

/* Has the next turn of this thread count `slice` nanoseconds; false: it cannot. */
COLL_INLINE bool coll_i_node_set_slice(coll_i_node_schedule *its, uint64_t slice)
{
#if defined(SYS_sched_setattr)
    its->size = sizeof *its;
    its->slice = slice;
    return syscall(SYS_sched_setattr, 0l, its, 0l) == 0;
#else
    (void)its, (void)slice;
    return false;
#endif
}

/* How long this thread's turns are, if it is scheduled as usual; 0: not, or nobody knows. */
COLL_INLINE uint64_t coll_i_node_slice(coll_i_node_schedule *its)
{
    memset(its, 0, sizeof *its);
#if defined(SYS_sched_getattr)
    enum { USUAL = 0 }; /* SCHED_OTHER */
    if (syscall(SYS_sched_getattr, 0l, its, sizeof *its, 0l) == 0 && its->policy == USUAL)
        return its->slice;
#endif
    return 0;
}

/* Yields the processor for a turn of this rank's part of a default one; if it was out of order
 * all the same after that, of some other part. */
COLL_INLINE void coll_i_node_move(const coll_i_node_rank *me, bool first)
{
    const coll_i_node_order *order = &me->order;
    const uint32_t other = (order->turn + me->rank) * 2654435761u % 1021;
    coll_i_node_schedule its;
    const uint64_t slice = coll_i_node_slice(&its);
    const uint64_t part =
        first ? slice * order->place / order->company
              : slice / COLL_I_NODE_PARTS * (1 + other % (COLL_I_NODE_PARTS - 1));
    const bool moves = part != 0 && coll_i_node_set_slice(&its, part);
    (void)sched_yield();
    if (moves)
        (void)coll_i_node_set_slice(&its, slice);
}

/* Did a rank have a message for this one lately? */
COLL_INLINE bool coll_i_node_is_heard(const coll_i_node_rank *me, uint32_t rank)
{
    const coll_i_node_link *link = me->links[rank];
    return link && me->order.n_turns - link->heard <= COLL_I_NODE_ROUND;
}

/* Looks which ranks are on this processor, and whether it has to do with all of them. */
COLL_INLINE void coll_i_node_look_around(coll_i_node_rank *me)
{
    coll_i_node_order *order = &me->order;
    uint32_t highest = me->rank;
    order->lowest = order->before = me->rank;
    order->place = order->company = 0;
    order->heard_all = true;
    for (uint32_t r = 0; r < me->p; r++) {
        if (__atomic_load_n(&me->cpus[r], __ATOMIC_RELAXED) != me->cpus[me->rank])
            continue;
        if (order->company++ == 0)
            order->lowest = r;
        if (r < me->rank) {
            order->before = r;
            order->place++;
        }
        if (r != me->rank && !coll_i_node_is_heard(me, r))
            order->heard_all = false;
        highest = r;
    }
    if (order->place == 0)
        order->before = highest;
}

/* This rank's turn begins. Did the one that is to come before it have one since its last, but not just
 * now? */
COLL_INLINE bool coll_i_node_is_out_of_order(coll_i_node_rank *me)
{
    coll_i_node_order *order = &me->order;
    uint32_t *turns = &me->watches[order->lowest].turns;
    const uint32_t now = __atomic_load_n(turns, __ATOMIC_RELAXED) + 1, last = order->turn;
    const uint32_t before = __atomic_load_n(&me->watches[order->before].turn, __ATOMIC_RELAXED);
    __atomic_store_n(turns, now, __ATOMIC_RELAXED);
    __atomic_store_n(&me->watches[me->rank].turn, now, __ATOMIC_RELAXED);
    order->turn = now;
    return (int32_t)(before - last) > 0 && (int32_t)(now - 1 - before) > 0;
}

/* Yields the processor to the others in turn. */
COLL_INLINE void coll_i_node_take_turn(coll_i_node_rank *me)
{
    coll_i_node_order *order = &me->order;
    if (COLL_NODE_ORDER && order->moves && order->heard_all && order->rest == 0 &&
        order->tries > 0) {
        order->rest = COLL_I_NODE_REST;
        coll_i_node_move(me, order->tries-- == COLL_I_NODE_TRIES);
    } else {
        order->rest -= order->rest > 0;
        (void)sched_yield();
    }
    order->moves = coll_i_node_is_out_of_order(me);
    if (order->n_turns++ % COLL_I_NODE_ROUND == 0) {
        coll_i_node_spread(me);
        coll_i_node_look_around(me);
        order->tries += order->tries < COLL_I_NODE_TRIES;
    }
}

#endif /* COLL_TRANSPORTS_NODE_TURNS_H */
