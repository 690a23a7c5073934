/* coll/transports/shm/space.h — the shared memory of processes: memory that programs ask for
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_SPACE_H
#define COLL_TRANSPORTS_SHM_SPACE_H

#include "rank.h"

/* Memory of the segment, zeroed, from a page on, for buffers that other ranks read where they lie
 * (coll_shm_ask_in_place). It is the caller's until all ranks have detached, and is not given back
 * before: take all at the start. NULL: bytes is 0, or there is no more; all ranks together have
 * COLL_SHM_SPACE bytes a rank, and what the machine has. Any attached rank, at any time. */
COLL_INLINE void *coll_shm_alloc(coll_shm *shm, size_t bytes)
{
    uint64_t *const free_at = &shm->segment->space;
    const uint64_t most = shm->mapped - shm->space;
    const uint64_t whole = bytes > most ? most + 1 : coll_i_ipc_up(bytes, COLL_I_IPC_PAGE);
    uint64_t at = __atomic_load_n(free_at, __ATOMIC_RELAXED), next;
    do {
        if (whole == 0 || at < shm->space || at > shm->mapped || shm->mapped - at < whole)
            return NULL;
        next = at + whole;
    } while (!__atomic_compare_exchange_n(free_at, &at, next, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (coll_i_ipc_reserve(shm->fd, at, whole))
        return (unsigned char *)shm->segment + at;
    (void)__atomic_compare_exchange_n(free_at, &next, at, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED); /* unless others took what follows */
    return NULL;
}

#endif /* COLL_TRANSPORTS_SHM_SPACE_H */
