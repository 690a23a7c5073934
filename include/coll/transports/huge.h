/* coll/transports/huge.h — larger pages for memory that the kernel copies messages from (hosted)
 *
 *   static coll_huge pages;                  // of this process; zeroed, or coll_huge_init
 *   if (coll_huge_is_possible()) …           // once
 *   coll_huge_sends(&pages, buf, bytes);     // before a message that another process reads
 *
 * A process that reads another one's memory (process_vm_readv, as shm.h and the MPI libraries do) has
 * the kernel find its pages one by one. Where they are small that takes longer than the copying; a
 * huge one is found at once (docs/internals/shared-memory.md). So memory that messages are sent
 * from again and again is moved to huge pages (MADV_COLLAPSE, Linux 6.1), once to read it has taken
 * about as long as that takes: 0.5 to 1 ms for 2 MiB, ten times that where the machine itself is a
 * virtual one that is given the memory only then, which the moves themselves show. The contents stay what they are. Where a
 * program has touched only a part of an extent of 2 MiB the rest takes memory then, too. So it does in
 * files that are mapped and in memory that processes share, whose pages may move as well. An extent
 * that is not all mapped, or not in one piece, stays as it is.
 *
 * One thread at a time.
 */
#ifndef COLL_TRANSPORTS_HUGE_H
#define COLL_TRANSPORTS_HUGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../config.h"
#include "clock.h"

#if defined(__linux__) && !defined(__cplusplus) /* strict C99 hides what C++ always sees */
extern int madvise(void *addr, size_t length, int advice);
#endif

enum {
    COLL_HUGE_PAGE = 1 << 21,   /* bytes of a huge page, and of an extent that may become one */
    COLL_HUGE_EXTENTS = 512,    /* so many are remembered */
    COLL_HUGE_EARNED = 8 << 20, /* bytes that were sent from an extent before it is moved, … */
    COLL_HUGE_LEAST =
        4 << 20, /* … at least, where that is computed: a measurement may be wrong; … */
    COLL_HUGE_SOON = 2 << 20, /* … again, if a peer was reading there; then twice as many, … */
    COLL_HUGE_LATER = 256 << 20, /* … and in all other cases: it may be other memory by then */
    COLL_I_HUGE_REFUSALS = 7,    /* after so many that is another case */
    COLL_I_HUGE_COLLAPSE = 25    /* MADV_COLLAPSE, which not all headers have */
};

/* An extent of memory that messages were sent from. */
typedef struct coll_huge_extent {
    uintptr_t number; /* its address in extents; 0: none */
    uint32_t sent;    /* bytes of messages since it was tried last … */
    uint32_t most;    /* … and how many before it is again; 0: it never was */
    uint32_t refused; /* how often a peer was reading there */
} coll_huge_extent;

/* Memory of a process that messages were sent from lately. */
typedef struct coll_huge {
    uint32_t
        gain_ps; /* by so many picoseconds a byte is read faster then; 0: it was not measured */
    uint32_t earned; /* in place of COLL_HUGE_EARNED, by what the last move took; 0: the same */
    coll_huge_extent extents[COLL_HUGE_EXTENTS]; /* by their numbers, hashed */
} coll_huge;

/* Can memory be moved to huge pages of this size, as far as can be told? */
COLL_INLINE bool coll_huge_is_possible(void)
{
    static const char *const files[2] = {"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
                                         "/sys/kernel/mm/transparent_hugepage/enabled"};
    char said[2][64];
    for (int i = 0; i < 2; i++) {
        const int fd = open(files[i], O_RDONLY);
        const ssize_t n = fd < 0 ? -1 : read(fd, said[i], sizeof said[i] - 1);
        if (fd >= 0)
            (void)close(fd);
        if (n < 0)
            return false;
        said[i][n] = '\0';
    }
    return strtoul(said[0], NULL, 10) == COLL_HUGE_PAGE && !strstr(said[1], "[never]") &&
           madvise(NULL, 0, COLL_I_HUGE_COLLAPSE) == 0; /* an advice that the kernel knows */
}

/* Moves the extent that begins here to a huge page; false: errno says why not, EAGAIN if a peer was
 * reading there. */
COLL_INLINE bool coll_huge_move(void *extent)
{
    return madvise(extent, COLL_HUGE_PAGE, COLL_I_HUGE_COLLAPSE) == 0;
}

/* Bytes that were sent out of an extent before it is moved to a huge page: until then to read them out of
 * small pages has taken so much longer than out of a huge one as it takes to move it. */
COLL_INLINE uint32_t coll_huge_earns(uint64_t move_ns, uint32_t gain_ps)
{
    const uint64_t least = COLL_HUGE_LEAST, most = COLL_HUGE_LATER;
    const uint64_t bytes = move_ns * 1000 / gain_ps;
    return (uint32_t)(bytes < least ? least : bytes < most ? bytes : most);
}

/* What was measured: by so many picoseconds a byte is read faster out of a huge page (0: unknown, or it
 * is not), and nanoseconds that a move takes. */
COLL_INLINE void coll_huge_init(coll_huge *pages, uint32_t gain_ps, uint64_t move_ns)
{
    memset(pages, 0, sizeof *pages);
    pages->gain_ps = gain_ps;
    if (gain_ps)
        pages->earned = coll_huge_earns(move_ns, gain_ps);
}

/* What the next move will take is what this one took: ten times as long where a virtual machine is
 * given the memory only now. */
COLL_INLINE void coll_i_huge_try(coll_huge *pages, coll_huge_extent *extent)
{
    const uint64_t begin = coll_clock_ns();
    const bool first = extent->most == 0; /* later it may be there already */
    const bool moved = coll_huge_move((void *)(extent->number * COLL_HUGE_PAGE));
    if (moved && first && pages->gain_ps)
        pages->earned = coll_huge_earns(coll_clock_ns() - begin, pages->gain_ps);
    extent->sent = 0;
    extent->most = COLL_HUGE_LATER;
    if (!moved && errno == EAGAIN && extent->refused < COLL_I_HUGE_REFUSALS)
        extent->most = (uint32_t)COLL_HUGE_SOON << extent->refused++;
}

/* A message is about to be sent, which another process will read from here. */
COLL_INLINE void coll_huge_sends(coll_huge *pages, const void *message, size_t bytes)
{
    uintptr_t at = (uintptr_t)message;
    while (bytes > 0) {
        const uintptr_t number = at / COLL_HUGE_PAGE;
        const size_t left = COLL_HUGE_PAGE - at % COLL_HUGE_PAGE;
        const size_t part = bytes < left ? bytes : left;
        const uint32_t earned = pages->earned ? pages->earned : (uint32_t)COLL_HUGE_EARNED;
        coll_huge_extent *extent = &pages->extents[number % COLL_HUGE_EXTENTS];
        if (extent->number != number) {
            extent->number = number;
            extent->sent = extent->refused = extent->most = 0;
        }
        extent->sent += (uint32_t)part;
        if (extent->sent >= (extent->most ? extent->most : earned))
            coll_i_huge_try(pages, extent);
        at += part;
        bytes -= part;
    }
}

#endif /* COLL_TRANSPORTS_HUGE_H */
