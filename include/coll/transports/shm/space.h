/* coll/transports/shm/space.h — the shared memory of processes: memory that programs ask for
 *
 * Each rank has a list of what it took from the space, in its own memory, by address: blocks that are
 * in use, and free ones, which it gives out again. Neighbours that are free are one block. Others may
 * have the last block of the space again, and the system the pages of long ones.
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_SPACE_H
#define COLL_TRANSPORTS_SHM_SPACE_H

#include <sys/statvfs.h>

#include "rank.h"

enum {
    COLL_SHM_KEPT = 1 << 25 /* bytes of the longest free block whose pages the rank keeps */
};

/* Moves the beginning of what nobody has taken, if it is still there. */
COLL_INLINE bool coll_i_ipc_space_from(coll_shm *shm, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&shm->segment->space, &from, to, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/* Takes pages that nobody has, behind all blocks; NULL: there are none. */
COLL_INLINE coll_i_ipc_block *coll_i_ipc_take(coll_shm *shm, coll_i_ipc_block *last,
                                              uint64_t bytes)
{
    const uint64_t least = last ? last->at + last->bytes : shm->space;
    coll_i_ipc_block *block;
    uint64_t at;
    if (last && !last->used && last->at + bytes <= shm->mapped &&
        coll_i_ipc_space_from(shm, least, last->at + bytes)) {
        last->bytes = bytes; /* it was too short */
        last->reserved = false;
        return last;
    }
    block = (coll_i_ipc_block *)calloc(1, sizeof *block);
    if (!block)
        return NULL;
    do {
        at = __atomic_load_n(&shm->segment->space, __ATOMIC_RELAXED);
        if (at < least || at > shm->mapped || shm->mapped - at < bytes) {
            free(block);
            return NULL;
        }
    } while (!coll_i_ipc_space_from(shm, at, at + bytes));
    block->at = at;
    block->bytes = bytes;
    *(last ? &last->next : &shm->blocks) = block;
    return block;
}

/* Gives the pages of a free block to the system, and, if nobody has taken what follows it, its
 * addresses to all ranks. */
COLL_INLINE void coll_i_ipc_give_back(coll_shm *shm, coll_i_ipc_block *block)
{
    enum { KEEP_SIZE = 1, PUNCH_HOLE = 2 };
    coll_i_ipc_block **link = &shm->blocks;
    if (syscall(SYS_fallocate, shm->fd, KEEP_SIZE | PUNCH_HOLE, block->at, block->bytes) == 0)
        block->reserved = false;
    if (block->next || !coll_i_ipc_space_from(shm, block->at + block->bytes, block->at))
        return;
    while (*link != block)
        link = &(*link)->next;
    *link = NULL;
    free(block);
}

/* Is there as much memory left as messages may take? Where the segment is a file of a system that is
 * only so large, they would else fail later. */
COLL_INLINE bool coll_i_ipc_is_roomy(const coll_shm *shm)
{
    const uint64_t heap = __atomic_load_n(&shm->segment->heap, __ATOMIC_RELAXED);
    struct statvfs its;
    return fstatvfs(shm->fd, &its) != 0 || its.f_blocks == 0 || heap > shm->space ||
           its.f_bavail * its.f_bsize >= shm->space - heap;
}

/* Reserves the pages of a block, and parts from it what follows them. */
COLL_INLINE bool coll_i_ipc_cut(coll_shm *shm, coll_i_ipc_block *block, uint64_t bytes)
{
    if (block->bytes > bytes) {
        coll_i_ipc_block *rest = (coll_i_ipc_block *)malloc(sizeof *rest);
        if (!rest)
            return false;
        *rest = *block;
        rest->at += bytes;
        rest->bytes -= bytes;
        block->bytes = bytes;
        block->next = rest;
    }
    if (!block->reserved && coll_i_ipc_reserve(shm->fd, block->at, bytes))
        block->reserved = coll_i_ipc_is_roomy(shm);
    return block->reserved;
}

/* A free block and the one behind it become one, if that is free, too, and begins where it ends. */
COLL_INLINE void coll_i_ipc_merge(coll_i_ipc_block *block)
{
    coll_i_ipc_block *next = block->next;
    if (block->used || !next || next->used || block->at + block->bytes != next->at)
        return;
    block->bytes += next->bytes;
    block->reserved = block->reserved && next->reserved;
    block->next = next->next;
    free(next);
}

/* Memory of the segment, from a page on, for buffers that other ranks read where they lie
 * (coll_shm_ask_in_place). What it holds is not defined. It is the caller's until coll_shm_free, or,
 * without that, until its process ends. NULL: bytes is 0, or there is no more; all ranks together have
 * COLL_SHM_SPACE bytes a rank, and what the machine has beyond what messages may need. Any attached
 * rank, at any time. It takes whole pages, which are there from the beginning. */
COLL_INLINE void *coll_shm_alloc(coll_shm *shm, size_t bytes)
{
    const uint64_t most = shm->mapped - shm->space;
    const uint64_t whole = bytes > most ? most + 1 : coll_i_ipc_up(bytes, COLL_I_IPC_PAGE);
    coll_i_ipc_block *block = shm->blocks, *last = NULL;
    if (whole == 0 || whole > most)
        return NULL;
    for (; block && (block->used || block->bytes < whole); block = block->next)
        last = block;
    if (!block)
        block = coll_i_ipc_take(shm, last, whole);
    if (block && coll_i_ipc_cut(shm, block, whole)) {
        block->used = true;
        return (unsigned char *)shm->segment + block->at;
    }
    if (block) {
        coll_i_ipc_merge(block);
        coll_i_ipc_give_back(shm, block);
    }
    return NULL;
}

/* Gives back what coll_shm_alloc gave to this rank; NULL is fine. No call that uses the memory may be
 * running, on any rank. The rank may be given it again; the pages of more than COLL_SHM_KEPT bytes
 * that are free in a row go back to the system. False, and nothing happens: this rank has no such
 * memory. */
COLL_INLINE bool coll_shm_free(coll_shm *shm, void *memory)
{
    const uint64_t at = (uintptr_t)memory - (uintptr_t)shm->segment;
    coll_i_ipc_block *block = shm->blocks, *before = NULL;
    if (!memory)
        return true;
    for (; block && block->at < at; block = block->next)
        before = block;
    if (!block || block->at != at || !block->used)
        return false;
    block->used = false;
    coll_i_ipc_merge(block);
    if (before && !before->used && before->at + before->bytes == at) {
        coll_i_ipc_merge(before);
        block = before;
    }
    if (block->bytes > COLL_SHM_KEPT)
        coll_i_ipc_give_back(shm, block);
    return true;
}

#endif /* COLL_TRANSPORTS_SHM_SPACE_H */
