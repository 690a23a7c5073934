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

/* Where in a block so many bytes may begin: those that fill huge pages, where such a page does. */
COLL_INLINE uint64_t coll_i_ipc_start(uint64_t at, uint64_t bytes)
{
    const uint64_t page = COLL_HUGE_PAGE;
    return bytes < page ? at : coll_i_ipc_up(at, page);
}

COLL_INLINE bool coll_i_ipc_holds(const coll_i_ipc_block *block, uint64_t bytes)
{
    const uint64_t start = coll_i_ipc_start(block->at, bytes);
    return start + bytes <= block->at + block->bytes;
}

/* Takes pages that nobody has, behind all blocks; NULL: there are none. */
COLL_INLINE coll_i_ipc_block *coll_i_ipc_take(coll_shm *shm, coll_i_ipc_block *last,
                                              uint64_t bytes)
{
    const uint64_t least = last ? last->at + last->bytes : shm->space;
    coll_i_ipc_block *block;
    uint64_t at, end;
    if (last && !last->used) {
        end = coll_i_ipc_start(last->at, bytes) + bytes;
        if (end <= shm->mapped && coll_i_ipc_space_from(shm, least, end)) {
            last->bytes = end - last->at; /* it was too short */
            last->reserved = false;
            return last;
        }
    }
    block = (coll_i_ipc_block *)calloc(1, sizeof *block);
    if (!block)
        return NULL;
    do {
        at = __atomic_load_n(&shm->segment->space, __ATOMIC_RELAXED);
        end = coll_i_ipc_start(at, bytes) + bytes;
        if (at < least || at > shm->mapped || end > shm->mapped) {
            free(block);
            return NULL;
        }
    } while (!coll_i_ipc_space_from(shm, at, end));
    block->at = at;
    block->bytes = end - at;
    *(last ? &last->next : &shm->blocks) = block;
    return block;
}

/* Gives the pages of a free block to the system, and, if nobody has taken what follows it, its
 * addresses to all ranks. */
COLL_INLINE void coll_i_ipc_release_message(coll_shm *shm, coll_i_ipc_block *block)
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
COLL_INLINE bool coll_i_ipc_is_dedicated(const coll_shm *shm)
{
    const uint64_t heap = __atomic_load_n(&shm->segment->heap, __ATOMIC_RELAXED);
    struct statvfs its;
    return fstatvfs(shm->fd, &its) != 0 || its.f_blocks == 0 || heap > shm->space ||
           its.f_bavail * its.f_bsize >= shm->space - heap;
}

/* Reserves the pages of a block, huge ones where there can be such. */
COLL_INLINE bool coll_i_ipc_fill(coll_shm *shm, coll_i_ipc_block *block)
{
    const uint64_t huge = COLL_HUGE_PAGE, end = block->at + block->bytes;
    uint64_t at = coll_i_ipc_up(block->at, huge);
    if (block->reserved)
        return true;
    for (; shm->ways & COLL_I_IPC_FROM_HUGE && at + huge <= end; at += huge)
        if (!coll_i_ipc_reserve(shm->fd, at, COLL_I_IPC_PAGE) || /* an empty one cannot move */
            !coll_huge_move((unsigned char *)shm->segment + at))
            break;
    if (coll_i_ipc_reserve(shm->fd, block->at, block->bytes))
        block->reserved = coll_i_ipc_is_dedicated(shm);
    return block->reserved;
}

/* Makes two free blocks of one, and returns the second; NULL: no memory. */
COLL_INLINE coll_i_ipc_block *coll_i_ipc_cut(coll_i_ipc_block *block, uint64_t at)
{
    coll_i_ipc_block *rest = (coll_i_ipc_block *)malloc(sizeof *rest);
    if (!rest)
        return NULL;
    *rest = *block;
    rest->at = at;
    rest->bytes = block->at + block->bytes - at;
    block->bytes = at - block->at;
    block->next = rest;
    return rest;
}

/* A free block and the one behind it become one, if that is free, too, and begins where it ends. */
COLL_INLINE bool coll_i_ipc_merge(coll_i_ipc_block *block)
{
    coll_i_ipc_block *next = block->next;
    if (block->used || !next || next->used || block->at + block->bytes != next->at)
        return false;
    block->bytes += next->bytes;
    block->reserved = block->reserved && next->reserved;
    block->next = next->next;
    free(next);
    return true;
}

/* Memory of the segment, from a page on, for buffers that other ranks read where they lie
 * (coll_shm_ask_zero_copy). What it holds is not defined. It is the caller's until coll_shm_free,
 * or, without that, until its process ends. NULL: bytes is 0, or there is no more; all ranks
 * together have COLL_SHM_SPACE bytes a rank, and what the machine has beyond what messages may
 * need. Any attached rank, at any time. It takes whole pages, which are there from the beginning;
 * from COLL_HUGE_PAGE bytes on huge ones, if the system has them, the ranks have joined, and none
 * of them asked for slots: a copy of 4 MiB that are in no cache takes 0.65 to 0.9 of the time
 * then. */
COLL_INLINE void *coll_shm_alloc(coll_shm *shm, size_t bytes)
{
    const uint64_t most = shm->mapped - shm->space;
    const uint64_t whole = bytes > most ? 0 : coll_i_ipc_up(bytes, COLL_I_IPC_PAGE);
    coll_i_ipc_block *block = shm->blocks, *last = NULL, *its;
    uint64_t start;
    if (whole == 0)
        return NULL;
    for (; block && (block->used || !coll_i_ipc_holds(block, whole)); block = block->next)
        last = block;
    if (!block)
        block = coll_i_ipc_take(shm, last, whole);
    if (!block)
        return NULL;
    start = coll_i_ipc_start(block->at, whole);
    its = start > block->at ? coll_i_ipc_cut(block, start) : block;
    if (its && (its->bytes == whole || coll_i_ipc_cut(its, start + whole)) &&
        coll_i_ipc_fill(shm, its)) {
        its->used = true;
        return (unsigned char *)shm->segment + start;
    }
    while (coll_i_ipc_merge(block)) {
    }
    coll_i_ipc_release_message(shm, block);
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
    (void)coll_i_ipc_merge(block);
    if (before && !before->used && before->at + before->bytes == at) {
        (void)coll_i_ipc_merge(before);
        block = before;
    }
    if (block->bytes > COLL_SHM_KEPT)
        coll_i_ipc_release_message(shm, block);
    return true;
}

/* For the child of a process that forks: what the rank took is the child's own from now on, as its other
 * memory is; but on pages that it has not written to it sees what the parent writes. The rank stays the
 * parent's: the child neither asks for such memory nor frees it. False: some of it stays shared. */
COLL_INLINE bool coll_shm_part(const coll_shm *shm)
{
    bool parted = true;
    for (const coll_i_ipc_block *block = shm->blocks; block; block = block->next)
        if (block->used && mmap((unsigned char *)shm->segment + block->at, block->bytes,
                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, shm->fd,
                                (off_t)block->at) == MAP_FAILED)
            parted = false;
    return parted;
}

#endif /* COLL_TRANSPORTS_SHM_SPACE_H */
