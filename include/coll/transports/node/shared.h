/* coll/transports/node/shared.h — ranks that share memory: whose turn it is to use SHARED
 *
 * SHARED has COLL_NODE_PARTS parts. The uses of it are numbered, in the order in which calls are
 * made, which is the same on all ranks; use u has part u mod COLL_NODE_PARTS, as soon as all ranks
 * are done with the uses up to u − COLL_NODE_PARTS. Each rank says on a line of its own up to
 * which use it is done. What was read there is remembered, so that ranks in step read a line of
 * each other once in COLL_NODE_PARTS − 1 uses, and write one each time. A call that is cancelled
 * in its queue may be up to 63 uses ahead of the oldest that has not ended; that of a use further ahead,
 * which is never done, aborts all tags.
 *
 *   use       0    1    2    3    4               5 …
 *   part      0    1    2    3    0               1
 *   begins    when it likes       when all are    when all are
 *                                 done with 0     done with 0 and 1
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_SHARED_H
#define COLL_TRANSPORTS_NODE_SHARED_H

#include "messages.h"

/* Gives a rank its SHARED: `bytes` of memory on a line, and p lines, zeroed, that all ranks see. */
COLL_INLINE void coll_i_node_share(coll_i_node_rank *me, coll_i_node_turn *turns, void *memory,
                                   size_t bytes)
{
    me->turns = turns;
    me->shared = (unsigned char *)memory;
    me->part_bytes = bytes / COLL_NODE_PARTS / COLL_NODE_LINE * COLL_NODE_LINE;
}

COLL_INLINE size_t coll_i_node_part(void *ctx, bool take, uint32_t *use, void **memory)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    *use = me->uses;
    *memory = me->part_bytes ? me->shared + me->uses % COLL_NODE_PARTS * me->part_bytes : NULL;
    if (take)
        me->uses++;
    return me->part_bytes;
}

COLL_INLINE coll_status coll_i_node_enter(void *ctx, uint32_t tag, uint32_t use)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const uint32_t needed = use - (COLL_NODE_PARTS - 1);
    uint32_t least = me->done;
    bool waits = false;
    if (coll_i_node_aborted(me, tag))
        return COLL_ERR_PEER;
    if ((int32_t)(me->all_done - needed) >= 0)
        return COLL_OK;
    for (uint32_t r = 0; r < me->p; r++) {
        const uint32_t done =
            r == me->rank ? me->done : __atomic_load_n(&me->turns[r].done, __ATOMIC_ACQUIRE);
        if ((int32_t)(done - least) < 0)
            least = done;
        if ((int32_t)(done - needed) < 0 && r != me->rank) {
            coll_i_node_link *link = me->links[r] ? me->links[r] : coll_i_node_link_new(me, r);
            if (!link)
                return COLL_ERR_MEMORY;
            if (!waits)
                (void)coll_i_node_miss(me, link, &me->turns[r].done, done);
            if (!coll_i_node_misses_all(me))
                return coll_i_node_again(me);
            link->missed = waits = true;
        }
    }
    me->all_done = least;
    return (int32_t)(least - needed) >= 0 ? COLL_OK : COLL_AGAIN;
}

COLL_INLINE void coll_i_node_leave(void *ctx, uint32_t use)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const uint32_t ahead = use - me->done;
    if (ahead < 64)
        me->ended |= (uint64_t)1 << ahead;
    else
        coll_i_node_abort_all(me);
    for (; me->ended & 1; me->ended >>= 1)
        me->done++;
    __atomic_store_n(&me->turns[me->rank].done, me->done, __ATOMIC_RELEASE);
}

/* Forgets all uses, on all ranks. */
COLL_INLINE void coll_i_node_share_anew(coll_i_node_rank *me)
{
    me->uses = me->done = me->all_done = 0;
    me->ended = 0;
    if (me->turns)
        me->turns[me->rank].done = 0;
}

#endif /* COLL_TRANSPORTS_NODE_SHARED_H */
