/* coll/transports/shm/rank.h — the shared memory of processes: a rank that is attached, and its
 * eye on the others
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_RANK_H
#define COLL_TRANSPORTS_SHM_RANK_H

#include "../node/callbacks.h"
#include "segment.h"

/* Pages of the space that are this rank's: space.h. */
typedef struct coll_i_ipc_block {
    uint64_t at, bytes;            /* of the segment */
    bool used;                     /* by the caller; else it is free again */
    bool reserved;                 /* its pages are there */
    struct coll_i_ipc_block *next; /* behind it */
} coll_i_ipc_block;

/* What a rank knows of another one. */
typedef struct coll_i_ipc_other {
    uint64_t lived; /* when it was read from, and there, last; in milliseconds */
    bool left;      /* it has left in peace */
} coll_i_ipc_other;

/* A rank's end of a segment; all of it is private. */
typedef struct coll_shm {
    coll_i_node_rank node; /* the first member: the ctx of the transport */
    coll_i_ipc_segment *segment;
    coll_i_ipc_member *members;
    unsigned char *shared; /* SHARED of all ranks */
    size_t shared_bytes;
    uint64_t space, mapped; /* where the space begins, and all ends */
    uint64_t probe;         /* what others read, to see whether they can */
    uint64_t looked;        /* when the others were looked after last, in milliseconds */
    uint32_t next;          /* whom to look after next */
    int fd;                 /* an open file of this rank alone: its lock's */
    uint32_t ways; /* of long messages: what this rank asks for; then, what all agree on */
    coll_i_ipc_other *others; /* all ranks */
    coll_huge *pages;         /* of memory that messages were sent from; NULL: of none so far */
    coll_i_ipc_block *blocks; /* by address */
    /* How it talks, when it has joined (vtable.h). */
    coll_transport transport;
    coll_zero_copy zero_copy;
    size_t whole_from[COLL_COLLECTIVES];
} coll_shm;

/* What lies at a member's probe. */
COLL_INLINE uint64_t coll_i_ipc_word(uint32_t rank, int32_t pid)
{
    return COLL_I_IPC_MAGIC ^ (uint64_t)rank << 32 ^ (uint64_t)pid;
}

COLL_INLINE uint32_t coll_i_ipc_state(const coll_shm *shm, uint32_t rank)
{
    return __atomic_load_n(&shm->members[rank].state, __ATOMIC_ACQUIRE);
}

/* ---- what messages ask for --------------------------------------------------------------- */

COLL_INLINE uint64_t coll_i_ipc_carve(coll_i_node_rank *me, size_t bytes)
{
    coll_shm *shm = (coll_shm *)me;
    const uint64_t whole = coll_i_ipc_up(bytes, COLL_NODE_LINE);
    const uint64_t at = __atomic_fetch_add(&shm->segment->heap, whole, __ATOMIC_RELAXED);
    const bool fits = at <= shm->space && shm->space - at >= whole;
    return fits && coll_i_ipc_reserve(shm->fd, at, whole) ? at : 0;
}

/* One copy, by the kernel, from the memory of another process. */
COLL_INLINE coll_status coll_i_ipc_read(const coll_shm *shm, uint32_t peer, void *into,
                                        uint64_t from, size_t bytes)
{
    const long pid = shm->members[peer].pid;
    size_t done = 0;
    while (done < bytes) {
        struct iovec to, its;
        long got;
        to.iov_base = (unsigned char *)into + done;
        its.iov_base = (void *)((uintptr_t)from + done);
        to.iov_len = its.iov_len = bytes - done;
        got = syscall(SYS_process_vm_readv, pid, &to, 1ul, &its, 1ul, 0ul);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            return COLL_ERR_IO;
    }
    return COLL_OK;
}

/* Has a rank ended without a word? */
COLL_INLINE bool coll_i_ipc_died(const coll_shm *shm, uint32_t rank)
{
    return rank != shm->node.rank && !coll_liveness_is_held(shm->fd, rank, 1) &&
           coll_i_ipc_state(shm, rank) != COLL_I_IPC_LEFT;
}

/* Everybody learns that a rank is gone. */
COLL_INLINE void coll_i_ipc_lose(coll_shm *shm, uint32_t rank)
{
    uint32_t there = 0;
    (void)__atomic_compare_exchange_n(&shm->segment->lost, &there, rank + 1, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (shm->node.links[rank])
        shm->node.links[rank]->lost = true;
    coll_i_node_abort_all(&shm->node);
}

COLL_INLINE bool coll_i_ipc_is_dead(coll_i_node_rank *me, uint32_t peer)
{
    coll_shm *shm = (coll_shm *)me;
    return coll_i_ipc_state(shm, peer) == COLL_I_IPC_LEFT || coll_i_ipc_died(shm, peer);
}

/* Is a rank there whose memory was just read? Asked once in a millisecond: so soon no other process has
 * its number. */
COLL_INLINE bool coll_i_ipc_lives(coll_shm *shm, uint32_t rank)
{
    const uint64_t now = coll_i_ipc_milliseconds();
    if (shm->others[rank].lived != now && coll_i_ipc_is_dead(&shm->node, rank))
        return false;
    shm->others[rank].lived = now;
    return true;
}

COLL_INLINE coll_status coll_i_ipc_pull(coll_i_node_rank *me, uint32_t peer, void *into,
                                        uint64_t from, size_t bytes)
{
    coll_shm *shm = (coll_shm *)me;
    const coll_status status = coll_i_ipc_read(shm, peer, into, from, bytes);
    /* a process that ends gives up its memory (ESRCH) before its lock */
    if (status == COLL_OK ? coll_i_ipc_lives(shm, peer)
                          : errno != ESRCH && !coll_i_ipc_is_dead(me, peer))
        return status;
    coll_i_ipc_lose(shm, peer);
    return me->outlives != 0 ? COLL_ERR_IO
                             : COLL_ERR_PEER; /* of some tags, the others do not hear */
}

COLL_INLINE void coll_i_ipc_offer(coll_i_node_rank *me, const void *message, size_t bytes)
{
    coll_shm *shm = (coll_shm *)me;
    if (!shm->pages) {
        shm->pages = (coll_huge *)coll_i_node_new(me, sizeof *shm->pages);
        if (shm->pages)
            coll_huge_init(shm->pages, coll_node_huge_gain_ps(&shm->segment->costs),
                           shm->segment->costs.move_ns);
    }
    if (shm->pages)
        coll_huge_sends(shm->pages, message, bytes);
}

/* Looks after a few of the others, at most once in a millisecond. One that left in peace is
 * missed only if, after that was seen, something that it should have sent or taken was still
 * looked for. */
COLL_INLINE void coll_i_ipc_check_liveness(coll_i_node_rank *me)
{
    enum { AT_ONCE = 16 };
    coll_shm *shm = (coll_shm *)me;
    const uint64_t now = coll_i_ipc_milliseconds();
    if (now == shm->looked)
        return;
    shm->looked = now;
    for (uint32_t i = 0; i < AT_ONCE && i < me->p; i++) {
        const uint32_t rank = shm->next;
        coll_i_node_link *link = me->links[rank];
        shm->next = rank + 1 < me->p ? rank + 1 : 0;
        if (rank == me->rank)
            continue;
        if (coll_i_ipc_state(shm, rank) == COLL_I_IPC_LEFT) {
            if (shm->others[rank].left && link && link->missed)
                coll_i_ipc_lose(shm, rank);
            shm->others[rank].left = true;
            if (link)
                link->missed = false;
        } else if (coll_i_ipc_died(shm, rank)) {
            coll_i_ipc_lose(shm, rank);
        }
    }
}

/* The records before a rank has joined, from which vtable.h goes on. */
COLL_CONST(coll_zero_copy, coll_i_ipc_acquires, COLL_I_NODE_ZERO_COPY(0));
COLL_CONST(coll_in_network, coll_i_ipc_network, COLL_I_NODE_NETWORK(COLL_NODE_REDUCE));
COLL_CONST(coll_transport, coll_i_ipc_transport,
           COLL_I_NODE_TRANSPORT(COLL_SHM_SLOT, 0, &coll_i_ipc_acquires, &coll_i_ipc_network));

/* ---- attaching --------------------------------------------------------------------------- */

/* Unmaps a part of the segment. `hold`: nobody reads or writes there, and nothing else is mapped. */
COLL_INLINE void coll_i_ipc_unmap(coll_shm *shm, uint64_t from, uint64_t to, bool hold)
{
    unsigned char *at = (unsigned char *)shm->segment + from;
    if (from < to && hold)
        (void)mmap(at, to - from, PROT_NONE, MAP_PRIVATE | MAP_FIXED, shm->fd, (off_t)from);
    else if (from < to)
        (void)munmap(at, to - from);
}

COLL_INLINE void coll_i_ipc_free(coll_shm *shm)
{
    uint64_t from = 0;
    bool used = false;
    while (shm->blocks) { /* those in use stay the caller's */
        coll_i_ipc_block *block = shm->blocks;
        if (block->used) {
            coll_i_ipc_unmap(shm, from, block->at, true);
            used = true;
            from = block->at + block->bytes;
        }
        shm->blocks = block->next;
        free(block);
    }
    if (shm->segment)
        coll_i_ipc_unmap(shm, from, shm->mapped, used);
    if (shm->fd >= 0)
        (void)close(shm->fd);
    coll_i_node_free(&shm->node);
    free(shm->others);
    free(shm);
}

/* Is this file a segment that this program understands, for p ranks? */
COLL_INLINE bool coll_i_ipc_fits(int fd, uint32_t p, size_t shared_bytes, coll_i_ipc_map *map,
                                 char *why)
{
    struct stat its;
    coll_i_ipc_segment *segment;
    bool fits = false;
    if (fstat(fd, &its) != 0 || !S_ISREG(its.st_mode) || its.st_size < (off_t)sizeof *segment) {
        coll_i_ipc_say(why, "the file is not a segment");
        return false;
    }
    segment = (coll_i_ipc_segment *)mmap(NULL, sizeof *segment, PROT_READ, MAP_SHARED, fd, 0);
    if (segment == MAP_FAILED) {
        coll_i_ipc_say(why, "the segment cannot be mapped: %s", strerror(errno));
        return false;
    }
    if (__atomic_load_n(&segment->magic, __ATOMIC_ACQUIRE) != COLL_I_IPC_MAGIC)
        coll_i_ipc_say(why, "the file is not a segment");
    else if (segment->layout != COLL_I_IPC_LAYOUT || segment->cells != COLL_NODE_CELLS ||
             segment->slot != COLL_SHM_SLOT || segment->space_bytes != COLL_SHM_SPACE)
        coll_i_ipc_say(why, "the segment was made by another version of the library: build all "
                            "programs of a run alike");
    else if (segment->p != p)
        coll_i_ipc_say(why, "the segment is for %u ranks, not for %u", segment->p, p);
    else if (segment->shared_bytes != shared_bytes)
        coll_i_ipc_say(why, "the segment has %llu shared bytes, not %zu",
                       (unsigned long long)segment->shared_bytes, shared_bytes);
    else if (!coll_i_ipc_map_of(p, shared_bytes, map) || its.st_size < (off_t)map->heap)
        coll_i_ipc_say(why, "the segment is damaged");
    else
        fits = true;
    (void)munmap(segment, sizeof *segment);
    return fits;
}

/* Takes the rank's byte, in an open file that no other process inherits; false: `why` says. */
COLL_INLINE bool coll_i_ipc_enter(coll_shm *shm, int fd, uint32_t rank, char *why)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    shm->fd = coll_i_ipc_file(open(path, O_RDWR), false);
    if (shm->fd < 0) {
        coll_i_ipc_say(why, "the segment cannot be opened through %s: %s", path,
                       strerror(errno));
        return false;
    }
    if (!coll_liveness_hold(shm->fd, rank)) {
        coll_i_ipc_say(why, "rank %u of the segment is attached already", rank);
        return false;
    }
    return true;
}

/* Maps the segment to where a huge page may begin; NULL: errno says why not. */
COLL_INLINE coll_i_ipc_segment *coll_i_ipc_map_whole(int fd, uint64_t bytes)
{
    const uint64_t huge = COLL_HUGE_PAGE;
    void *const room = mmap(NULL, bytes + huge, PROT_NONE, MAP_SHARED, fd, 0);
    const uint64_t before = (huge - (uintptr_t)room % huge) % huge;
    unsigned char *const at = (unsigned char *)room + before;
    if (room == MAP_FAILED)
        return NULL;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        (void)munmap(room, bytes + huge);
        return NULL;
    }
    if (before > 0)
        (void)munmap(room, before);
    (void)munmap(at + bytes, huge - before);
    return (coll_i_ipc_segment *)(void *)at;
}

/* Attaches a rank to the segment that fd is an open file of; fd stays the caller's, and may be
 * closed. All ranks name the same p and shared_bytes. NULL: `why`, COLL_SHM_WHY bytes or NULL,
 * holds a sentence. Any number of segments may be attached, and any number of ranks by one
 * process. */
COLL_INLINE coll_shm *coll_shm_attach(int fd, uint32_t rank, uint32_t p, size_t shared_bytes,
                                      char *why)
{
    coll_i_ipc_map map;
    coll_shm *shm;
    coll_i_ipc_member *me;
    if (rank >= p) {
        coll_i_ipc_say(why, "rank %u is not below the number of ranks, %u", rank, p);
        return NULL;
    }
    if (!coll_i_ipc_fits(fd, p, shared_bytes, &map, why))
        return NULL;
    shm = (coll_shm *)calloc(1, sizeof *shm);
    if (!shm) {
        coll_i_ipc_say(why, "there is not enough memory");
        return NULL;
    }
    shm->fd = -1;
    if (!coll_i_ipc_enter(shm, fd, rank, why)) {
        coll_i_ipc_free(shm);
        return NULL;
    }
    shm->space = map.space;
    shm->mapped = map.end;
    shm->segment = coll_i_ipc_map_whole(shm->fd, map.end);
    if (!shm->segment) {
        coll_i_ipc_say(why, "the segment cannot be mapped: %s", strerror(errno));
        coll_i_ipc_free(shm);
        return NULL;
    }
    shm->members = (coll_i_ipc_member *)((unsigned char *)shm->segment + map.members);
    shm->shared = (unsigned char *)shm->segment + map.shared;
    shm->shared_bytes = shared_bytes;
    shm->others = (coll_i_ipc_other *)calloc(p, sizeof *shm->others);
    shm->node.world = &shm->segment->world;
    shm->node.channels = (uint64_t *)((unsigned char *)shm->segment + map.channels);
    shm->node.base = (uintptr_t)shm->segment;
    coll_i_node_share(&shm->node,
                      (coll_i_node_turn *)((unsigned char *)shm->segment + map.turns),
                      shm->shared, shared_bytes);
    shm->node.watches = (coll_i_node_watch *)((unsigned char *)shm->segment + map.watches);
    shm->node.cpus = (uint32_t *)((unsigned char *)shm->segment + map.cpus);
    shm->node.operands = (uint64_t *)((unsigned char *)shm->segment + map.operands);
    shm->node.regions = (uint64_t *)((unsigned char *)shm->segment + map.regions);
    shm->node.end = map.end;
    coll_i_node_set_slots(&shm->node, COLL_SHM_SLOT, COLL_SHM_SLOT);
    shm->node.carve = coll_i_ipc_carve;
    shm->node.check_liveness = coll_i_ipc_check_liveness;
    shm->node.is_dead = coll_i_ipc_is_dead;
    shm->ways = COLL_I_IPC_WHOLE;
    shm->transport = coll_i_ipc_transport;
    me = &shm->members[rank];
    if (!shm->others || coll_i_node_rank_init(&shm->node, rank, p) != COLL_OK) {
        coll_i_ipc_say(why, "there is not enough memory");
        coll_i_ipc_free(shm);
        return NULL;
    }
    if (coll_i_ipc_state(shm, rank) != COLL_I_IPC_AWAY) {
        coll_i_ipc_say(why, "rank %u of the segment was attached before, and has ended", rank);
        coll_i_ipc_free(shm);
        return NULL;
    }
    coll_processors_add(shm->segment->processors);
    shm->probe = coll_i_ipc_word(rank, (int32_t)getpid());
    me->pid = (int32_t)getpid();
    me->probe = (uintptr_t)&shm->probe;
    __atomic_store_n(&me->state, COLL_I_IPC_ATTACHED, __ATOMIC_RELEASE);
    return shm;
}

/* Leaves. The others may go on with what needs this rank no more. Memory of coll_shm_alloc that was not
 * freed stays where it is until the process ends, and nothing else comes to lie where the segment was.
 * NULL is fine. */
COLL_INLINE void coll_shm_detach(coll_shm *shm)
{
    if (!shm)
        return;
    __atomic_store_n(&shm->members[shm->node.rank].state, COLL_I_IPC_LEFT, __ATOMIC_RELEASE);
    coll_i_ipc_free(shm);
}

#endif /* COLL_TRANSPORTS_SHM_RANK_H */
