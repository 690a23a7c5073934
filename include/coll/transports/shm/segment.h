/* coll/transports/shm/segment.h — the shared memory of processes: how it is laid out, made,
 * found and proven to be alive
 *
 *   header │ members, turns, watches │ where the channels are, 8 bytes a pair │ SHARED │ heap │ space
 *
 * From the heap channels and long messages' lines are carved when a pair first talks, from the
 * space what programs ask for. Both are only as large as what is used of them. Memory is reserved
 * before it is touched, so a full machine is an error and not a signal.
 *
 * Each rank holds a lock on a byte of its own far behind the contents, and so does, on another,
 * who made a segment with a name. The kernel lets go of a lock as soon as its holder ends in
 * whatever way. A segment on which nobody holds a lock is what a crashed run left behind.
 *
 * Use shm.h. For 64-bit Linux.
 */
#ifndef COLL_TRANSPORTS_SHM_SEGMENT_H
#define COLL_TRANSPORTS_SHM_SEGMENT_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "../huge.h"
#include "../liveness.h"
#include "../node/find_costs.h"
#include "../node/shared.h"

/* Bytes of addresses, a rank, from which coll_shm_alloc takes: the same in all programs of a run. */
#ifndef COLL_SHM_SPACE
#define COLL_SHM_SPACE (1u << 30)
#endif

enum {
    COLL_SHM_WHY = 400, /* bytes of a sentence about an error, whatever name it has */
    COLL_SHM_SLOT =
        32768, /* bytes of the longest message that the segment holds in one piece */
    COLL_I_IPC_LAYOUT = 16, /* changes with whatever two ranks must agree on */
    COLL_I_IPC_PAGE = 4096
};

COLL_CONST(uint64_t, COLL_I_IPC_MAGIC, 0x6d68736c6c6f63u); /* "collshm" */

/* How far a rank has come. */
enum { COLL_I_IPC_AWAY, COLL_I_IPC_ATTACHED, COLL_I_IPC_JOINED, COLL_I_IPC_LEFT };

/* How long messages may travel, as far as a rank that has joined wants, and can. */
enum {
    COLL_I_IPC_DIRECT = 1,   /* it has the kernel read the memory of the others, always … */
    COLL_I_IPC_IN_PLACE = 2, /* what it sends lies in the segment */
    COLL_I_IPC_WHOLE = 4,    /* … or where that is the faster way … */
    COLL_I_IPC_FROM_HUGE = 8 /* … and its own memory can have huge pages */
};

typedef struct coll_i_ipc_member {
    uint32_t state;
    int32_t pid;
    uint64_t probe; /* address of a word in its memory that holds coll_i_ipc_word */
    uint32_t ways;  /* of long messages, COLL_I_IPC_… */
    unsigned char pad[COLL_NODE_LINE - 20];
} coll_i_ipc_member;

typedef struct coll_i_ipc_segment {
    uint64_t magic; /* the last thing that is written */
    uint32_t layout, p, cells, slot;
    uint64_t shared_bytes, space_bytes;
    unsigned char pad[COLL_NODE_LINE - 40];
    uint64_t heap, space; /* where the free part of each begins */
    uint32_t lost;        /* a rank that is gone, + 1 */
    unsigned char pad2[COLL_NODE_LINE - 20];
    uint64_t processors[COLL_PROCESSORS_WORDS]; /* of all ranks, when they are attached */
    coll_node_costs costs;                      /* of the machine, the same for all ranks */
    unsigned char pad3[COLL_NODE_LINE - sizeof(coll_node_costs)];
    coll_i_node_world world;
} coll_i_ipc_segment;

/* Where things lie: distances from the beginning. */
typedef struct coll_i_ipc_map {
    uint64_t members, turns, watches, cpus, operands, regions, channels, shared, heap, space,
        end;
} coll_i_ipc_map;

COLL_INLINE uint64_t coll_i_ipc_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Writes the map; false: it is larger than what can be addressed. */
COLL_INLINE bool coll_i_ipc_map_of(uint32_t p, uint64_t shared_bytes, coll_i_ipc_map *map)
{
    const uint64_t most = (uint64_t)1 << 46, pairs = (uint64_t)p * p;
    const uint64_t slots = (uint64_t)COLL_SHM_SLOT + COLL_NODE_NARROW + 2 * COLL_NODE_LINE;
    const uint64_t channel = sizeof(coll_i_node_channel) + slots * COLL_NODE_SLOTS;
    memset(map, 0, sizeof *map);
    if (p == 0 || p > 1 << 16 || shared_bytes > most)
        return false;
    map->members = sizeof(coll_i_ipc_segment);
    map->turns = map->members + (uint64_t)p * sizeof(coll_i_ipc_member);
    map->watches = map->turns + (uint64_t)p * sizeof(coll_i_node_turn);
    map->cpus = map->watches + (uint64_t)p * sizeof(coll_i_node_watch);
    map->operands = coll_i_ipc_up(map->cpus + p * sizeof(uint32_t), COLL_NODE_LINE);
    map->regions = coll_i_ipc_up(map->operands + p * sizeof(uint64_t), COLL_NODE_LINE);
    map->channels = coll_i_ipc_up(map->regions + p * sizeof(uint64_t), COLL_NODE_LINE);
    map->shared = coll_i_ipc_up(map->channels + pairs * sizeof(uint64_t), COLL_I_IPC_PAGE);
    map->heap = coll_i_ipc_up(map->shared + shared_bytes, COLL_I_IPC_PAGE);
    map->space =
        coll_i_ipc_up(map->heap + (pairs + p) * channel + ((uint64_t)p << 20), COLL_HUGE_PAGE);
    map->end = map->space + coll_i_ipc_up(COLL_SHM_SPACE, COLL_I_IPC_PAGE) * p;
    return map->end < most;
}

/* ---- sentences --------------------------------------------------------------------------- */

/* Writes a sentence about an error, if somebody wants it. */
COLL_INLINE COLL_I_PRINTF(2, 3) void coll_i_ipc_say(char *why, const char *format, ...)
{
    va_list list;
    if (!why)
        return;
    va_start(list, format);
    (void)vsnprintf(why, COLL_SHM_WHY, format, list);
    va_end(list);
}

/* ---- open files -------------------------------------------------------------------------- */

/* This open file, or one in its place that is no standard stream: where a program has closed those,
 * what it prints is not to get into the segment. `inherited`: by the programs that it executes. */
COLL_INLINE int coll_i_ipc_file(int fd, bool inherited)
{
    int other = fd;
    if (fd >= 0 && fd <= STDERR_FILENO) {
        other = fcntl(fd, F_DUPFD, STDERR_FILENO + 1);
        (void)close(fd);
    }
    if (other >= 0 && !inherited)
        (void)fcntl(other, F_SETFD, FD_CLOEXEC);
    return other;
}

/* Closes a file that is not a segment after all. */
COLL_INLINE int coll_i_ipc_refuse(int fd)
{
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* ---- locks ------------------------------------------------------------------------------- */

/* The byte of rank r is number r; of the maker, COLL_I_IPC_MAKER; and of who looks whether a crashed run left
 * the segment, which is in nobody's use, COLL_I_IPC_CLEANER. */
COLL_CONST(uint64_t, COLL_I_IPC_MAKER, 0xFFFFFFFFu);
COLL_CONST(uint64_t, COLL_I_IPC_CLEANER, 0x100000000u);

COLL_INLINE bool coll_i_ipc_in_use(int fd)
{
    return coll_liveness_is_held(fd, 0, COLL_I_IPC_MAKER + 1);
}

/* ---- making ------------------------------------------------------------------------------ */

/* Does the name still name this open file? */
COLL_INLINE bool coll_i_ipc_is_named(int fd, const char *name)
{
    struct stat mine, its;
    const int other = shm_open(name, O_RDWR, 0);
    const bool same = other >= 0 && fstat(fd, &mine) == 0 && fstat(other, &its) == 0 &&
                      mine.st_ino == its.st_ino && mine.st_dev == its.st_dev;
    if (other >= 0)
        (void)close(other);
    return same;
}

/* Is the open file a segment, or one that its maker did not finish? */
COLL_INLINE bool coll_i_ipc_is_segment(int fd)
{
    uint64_t magic = 0;
    return read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic &&
           (magic == COLL_I_IPC_MAGIC || magic == 0);
}

/* Opens an empty segment of this name that nobody else has, after removing what a crashed run
 * left of that name; −1: `why` says. */
COLL_INLINE int coll_i_ipc_claim(const char *name, char *why)
{
    for (int tries = 0; tries < 100; tries++) {
        struct stat its;
        const int fd = coll_i_ipc_file(shm_open(name, O_RDWR | O_CREAT, 0600), false);
        if (fd < 0) {
            coll_i_ipc_say(why, "the segment %s cannot be made: %s", name, strerror(errno));
            return -1;
        }
        if (!coll_liveness_hold(fd, COLL_I_IPC_CLEANER) || coll_i_ipc_in_use(fd)) {
            coll_i_ipc_say(why, "the segment %s is in use: choose another name", name);
            return coll_i_ipc_refuse(fd);
        }
        if (fstat(fd, &its) != 0 || its.st_uid != geteuid()) { /* locked, it stays as it is */
            coll_i_ipc_say(why, "the segment %s belongs to another user: choose another name",
                           name);
            return coll_i_ipc_refuse(fd);
        }
        if (!S_ISREG(its.st_mode) || (its.st_size != 0 && !coll_i_ipc_is_segment(fd))) {
            coll_i_ipc_say(why, "%s is no segment, and stays: choose another name", name);
            return coll_i_ipc_refuse(fd);
        }
        if (!coll_i_ipc_is_named(fd, name)) {
            (void)close(fd); /* removed a moment ago by another that wants the name */
            continue;
        }
        if (its.st_size == 0 && coll_liveness_hold(fd, COLL_I_IPC_MAKER))
            return fd;
        (void)shm_unlink(name); /* of a run that is over */
        (void)close(fd);
    }
    coll_i_ipc_say(why, "the segment %s is made and removed all the time by others", name);
    return -1;
}

/* Reserves memory for a part of the segment. */
COLL_INLINE bool coll_i_ipc_reserve(int fd, uint64_t at, uint64_t bytes)
{
    struct rlimit most;
    long got;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && at + bytes > most.rlim_cur) {
        errno = EFBIG; /* and no signal, which would end the process */
        return false;
    }
    do {
        got = syscall(SYS_fallocate, fd, 0, at, bytes);
    } while (got != 0 && errno == EINTR);
    return got == 0;
}

/* Makes a segment for p ranks with shared_bytes of SHARED memory, and returns an open file of it,
 * the caller's; or −1, and writes to `why`, COLL_SHM_WHY bytes or NULL, a sentence that says what
 * is wrong.
 *   name   "/word", a name for shm_open: others find the segment by it until
 *          coll_shm_unlink. Keep the file open until a rank is attached. A segment of that name
 *          that a crashed run left is replaced; one that is in use is an error.
 *          NULL: no name; others inherit the file or are sent it, and nothing can be left behind.
 * Whoever makes a segment finds out what the machine's copies take (node/find_costs.h), for all ranks;
 * the first time on a machine it measures, a tenth of a second. */
COLL_INLINE int coll_shm_create(const char *name, uint32_t p, size_t shared_bytes, char *why)
{
    coll_i_ipc_map map;
    coll_i_ipc_segment *segment;
    coll_node_costs costs;
    int fd;
    if (!coll_node_costs_find(&costs, why))
        return -1;
    if (!coll_i_ipc_map_of(p, shared_bytes, &map)) {
        coll_i_ipc_say(why, "a segment has 1 to 65536 ranks, and less than 64 TB; not %u, %zu",
                       p, shared_bytes);
        return -1;
    }
    if (map.heap / COLL_I_IPC_PAGE > (uint64_t)sysconf(_SC_PHYS_PAGES)) {
        coll_i_ipc_say(why, "this machine has no %zu bytes of memory to share", shared_bytes);
        return -1;
    }
    fd = name ? coll_i_ipc_claim(name, why)
              : coll_i_ipc_file((int)syscall(SYS_memfd_create, "coll", 0u), true);
    if (fd < 0) {
        if (!name)
            coll_i_ipc_say(why, "no segment can be made: %s", strerror(errno));
        return -1;
    }
    if (!coll_i_ipc_reserve(fd, 0, map.heap)) {
        coll_i_ipc_say(why, "there is no space for a segment of %llu bytes: %s",
                       (unsigned long long)map.heap, strerror(errno));
        if (name)
            (void)shm_unlink(name);
        return coll_i_ipc_refuse(fd);
    }
    segment = (coll_i_ipc_segment *)mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE,
                                         MAP_SHARED, fd, 0);
    if (segment == MAP_FAILED) {
        coll_i_ipc_say(why, "the segment cannot be mapped: %s", strerror(errno));
        if (name)
            (void)shm_unlink(name);
        return coll_i_ipc_refuse(fd);
    }
    segment->layout = COLL_I_IPC_LAYOUT;
    segment->p = p;
    segment->cells = COLL_NODE_CELLS;
    segment->slot = COLL_SHM_SLOT;
    segment->shared_bytes = shared_bytes;
    segment->heap = map.heap;
    segment->space = map.space;
    segment->space_bytes = COLL_SHM_SPACE;
    segment->costs = costs;
    __atomic_store_n(&segment->magic, COLL_I_IPC_MAGIC, __ATOMIC_RELEASE);
    (void)munmap(segment, sizeof *segment);
    return fd;
}

/* ---- finding ----------------------------------------------------------------------------- */

COLL_INLINE uint64_t coll_i_ipc_milliseconds(void)
{
    return coll_i_node_microseconds() / 1000;
}

/* Opens a segment by its name, waiting up to so many milliseconds until somebody has made it.
 * Returns an open file, the caller's, or −1 and a sentence in `why`. */
COLL_INLINE int coll_shm_open(const char *name, uint32_t milliseconds, char *why)
{
    const uint64_t until = coll_i_ipc_milliseconds() + milliseconds;
    bool stale = false;
    for (;;) {
        struct stat its;
        const int fd = coll_i_ipc_file(shm_open(name, O_RDWR, 0), false);
        if (fd < 0 && errno != ENOENT) {
            coll_i_ipc_say(why, "the segment %s cannot be opened: %s", name, strerror(errno));
            return -1;
        }
        if (fd >= 0) {
            uint64_t magic = 0;
            const bool file = fstat(fd, &its) == 0 && S_ISREG(its.st_mode);
            stale = file && its.st_size != 0 && !coll_i_ipc_in_use(fd);
            if (file && !stale && read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic &&
                magic == COLL_I_IPC_MAGIC)
                return fd;
            (void)close(fd);
        }
        if (coll_i_ipc_milliseconds() >= until)
            break;
        (void)poll(NULL, 0, 1);
    }
    coll_i_ipc_say(why,
                   stale ? "the segment %s was left by a run that crashed, and nobody makes it "
                           "anew"
                         : "nobody has made the segment %s",
                   name);
    return -1;
}

/* Removes the name of a segment, which lives on as long as ranks are attached. Do it when all
 * are: then nothing is left behind whatever happens. */
COLL_INLINE void coll_shm_unlink(const char *name)
{
    (void)shm_unlink(name);
}

#endif /* COLL_TRANSPORTS_SHM_SEGMENT_H */
