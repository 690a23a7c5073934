/* coll/transports/node/aborts.h — ranks that share memory: which tags are aborted, and until when
 *
 * Tags are looked at without their use (transport.h). Those of a root communicator that fails with all it has
 * are a bit in `whole`; parts of them are entries, of which there are few: with one more the whole
 * range is aborted. The last rank that unclaims a range forgets all that; where ranks never do,
 * whoever passes half way round to it does.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_ABORTS_H
#define COLL_TRANSPORTS_NODE_ABORTS_H

#include "world.h"

/* Is a tag aborted, in a world where some are? */
COLL_INLINE bool coll_i_node_among_aborted(const coll_i_node_world *world, uint32_t tag)
{
    const uint64_t whole = __atomic_load_n(&world->whole, __ATOMIC_RELAXED);
    const uint32_t at = coll_claim_tag(tag);
    if (whole >> coll_claim_range(tag) & 1)
        return true;
    for (uint32_t i = 0; i < COLL_NODE_ABORTS; i++) {
        const uint64_t its = __atomic_load_n(&world->aborted[i], __ATOMIC_RELAXED);
        if (at - (uint32_t)its < (uint32_t)(its >> 32))
            return true;
    }
    return false;
}

COLL_INLINE bool coll_i_node_aborted(const coll_i_node_rank *me, uint32_t tag)
{
    const uint32_t aborts = __atomic_load_n(&me->world->aborts, __ATOMIC_ACQUIRE);
    return aborts != 0 && (((aborts & COLL_I_NODE_ALL) != 0 &&
                            (me->outlives >> coll_claim_range(tag) & 1) == 0) ||
                           coll_i_node_among_aborted(me->world, tag));
}

/* An operation that all ranks take part in found nothing: is that as one was lost? */
COLL_INLINE coll_status coll_i_node_again(const coll_i_node_rank *me)
{
    const uint32_t aborts = __atomic_load_n(&me->world->aborts, __ATOMIC_RELAXED);
    return me->outlives != 0 && (aborts & COLL_I_NODE_ALL) != 0 ? COLL_ERR_IO : COLL_AGAIN;
}

/* The tags first … first + tags − 1, with all of their ranges, outlive the loss of a rank. */
COLL_INLINE void coll_i_node_outlive(void *ctx, uint32_t first, uint32_t tags)
{
    const uint32_t range = coll_claim_range(first);
    for (uint32_t i = range; i < COLL_CLAIMS && (i - range) * COLL_CLAIM_TAGS < tags; i++)
        ((coll_i_node_rank *)ctx)->outlives |= (uint64_t)1 << i;
}

COLL_INLINE void coll_i_node_abort_all(const coll_i_node_rank *me)
{
    (void)__atomic_fetch_or(&me->world->aborts, COLL_I_NODE_ALL, __ATOMIC_RELEASE);
}

/* Has this entry of the aborted tags these, too, or takes them? */
COLL_INLINE bool coll_i_node_notes(uint64_t *entry, uint32_t first, uint32_t tags)
{
    const uint64_t mine = (uint64_t)tags << 32 | first;
    uint64_t there = __atomic_load_n(entry, __ATOMIC_RELAXED);
    do {
        const uint32_t its_first = (uint32_t)there, its_tags = (uint32_t)(there >> 32);
        if (coll_i_tags_are_among(first, tags, its_first, its_tags))
            return true;
        if (there != 0 && !coll_i_tags_are_among(its_first, its_tags, first, tags))
            return false;
    } while (!__atomic_compare_exchange_n(entry, &there, mine, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    return true;
}

/* Forgets the entries of aborted tags of a range. */
COLL_INLINE void coll_i_node_drop_entries(coll_i_node_world *world, uint32_t range)
{
    for (uint32_t i = 0; i < COLL_NODE_ABORTS; i++) {
        uint64_t its = __atomic_load_n(&world->aborted[i], __ATOMIC_RELAXED);
        if (its != 0 && coll_claim_range((uint32_t)its) == range)
            (void)__atomic_compare_exchange_n(&world->aborted[i], &its, 0, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

COLL_INLINE void coll_i_node_abort(void *ctx, uint32_t first, uint32_t tags)
{
    coll_i_node_world *world = ((const coll_i_node_rank *)ctx)->world;
    const uint32_t at = coll_claim_tag(first), range = coll_claim_range(first);
    uint32_t i = 0;
    while (tags < COLL_CLAIM_TAGS && i < COLL_NODE_ABORTS &&
           !coll_i_node_notes(&world->aborted[i], at, tags))
        i++;
    if (tags >= COLL_CLAIM_TAGS || i == COLL_NODE_ABORTS)
        for (i = range; i < COLL_CLAIMS && (i - range) * COLL_CLAIM_TAGS < tags; i++) {
            (void)__atomic_fetch_or(&world->whole, (uint64_t)1 << i, __ATOMIC_SEQ_CST);
            coll_i_node_drop_entries(world, i);
        }
    /* another rank that noted them may not have told yet */
    (void)__atomic_fetch_or(&world->aborts, COLL_I_NODE_SOME, __ATOMIC_SEQ_CST);
}

/* Is no tag aborted? */
COLL_INLINE bool coll_i_node_is_well(const coll_i_node_world *world)
{
    bool well = __atomic_load_n(&world->whole, __ATOMIC_SEQ_CST) == 0;
    for (uint32_t i = 0; i < COLL_NODE_ABORTS; i++)
        well = well && __atomic_load_n(&world->aborted[i], __ATOMIC_SEQ_CST) == 0;
    return well;
}

/* Forgets the aborts of a range, and with the last one that there were any: whoever aborts meanwhile has
 * written which tags before it says so, or that is seen here. */
COLL_INLINE void coll_i_node_forgive(coll_i_node_world *world, uint32_t range)
{
    if (__atomic_load_n(&world->aborts, __ATOMIC_ACQUIRE) == 0)
        return;
    (void)__atomic_fetch_and(&world->whole, ~((uint64_t)1 << range), __ATOMIC_SEQ_CST);
    coll_i_node_drop_entries(world, range);
    if (coll_i_node_is_well(world)) {
        (void)__atomic_fetch_and(&world->aborts, ~(uint32_t)COLL_I_NODE_SOME, __ATOMIC_SEQ_CST);
        if (!coll_i_node_is_well(world))
            (void)__atomic_fetch_or(&world->aborts, COLL_I_NODE_SOME, __ATOMIC_SEQ_CST);
    }
}

#endif /* COLL_TRANSPORTS_NODE_ABORTS_H */
