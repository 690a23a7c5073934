/* coll/comm/published.h — what the ranks of a job tell of themselves, in a file that `coll top` shows
 *
 *   static coll_published published;                       // at a fixed place, as long as the communicator
 *   if (getenv("COLL_TOP"))                                // coll launch --top sets it, for all ranks
 *       status = coll_comm_publish(&comm, &published);     // before its other calls
 *   …
 *   coll_comm_free(&comm);
 *   coll_unpublish(&published);
 *
 * The ranks of a machine share one file in /dev/shm, a page: 64 bytes for the job, and for each rank a line of
 * 64 bytes (board.h) and 4 for its process. Writing a line takes some stores; nothing waits for those who read. Whoever
 * dies leaves its line, and the last one that ends removes the file.
 *
 * A page is for other runtimes, too (coll_page_open): the MPI layer has one with lines of its own. Hosted, for Linux, as
 * who looks is another program there; no other header includes it. Needs the __atomic functions of gcc or clang.
 */
#ifndef COLL_COMM_PUBLISHED_H
#define COLL_COMM_PUBLISHED_H

#include <fcntl.h>
#include <pthread.h> /* struct timespec, which strict C99 hides */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"
#include "move.h"

#if defined(__linux__) && !defined(__cplusplus) /* strict C99 hides what C++ always sees */
extern int clock_gettime(int clock, struct timespec *now); /* clockid_t, which it hides, too */
extern long syscall(long number, ...);
#endif

#if defined(O_NOFOLLOW) && defined(O_CLOEXEC) /* strict C99 hides them */
#define COLL_I_PAGE_NO_LINK (O_NOFOLLOW | O_CLOEXEC)
#else
#define COLL_I_PAGE_NO_LINK 0
#endif

/* Where pages are. */
#define COLL_PAGE_FOLDER "/dev/shm"
/* How their names begin. */
#define COLL_PAGE_PREFIX "coll-top."

enum { COLL_PAGE_MAGIC = 0x636f6c31, COLL_PAGE_HEAD = 64, COLL_PAGE_PATH = 64 };

/* What the lines of a page say. */
typedef enum coll_page_format {
    COLL_PAGE_COMM, /* one communicator: as of explain.h, with times in ns of CLOCK_MONOTONIC */
    COLL_PAGE_MPI,  /* MPI's, of several: mpi/layer/late.c */
    COLL_PAGE_FORMATS
} coll_page_format;

/* The first 64 bytes of a page. */
typedef struct coll_page_head {
    uint32_t magic, format; /* COLL_PAGE_MAGIC once it is whole */
    uint32_t p;             /* ranks of the job, on all machines */
    uint32_t users;         /* that have it open */
    uint64_t job;           /* its number */
} coll_page_head;

/* A page that is open. Read board; the rest is private. */
typedef struct coll_page {
    coll_board board; /* of all ranks; lines of other machines stay empty */
    unsigned char *memory;
    size_t bytes;
    uint32_t rank;
    char path[COLL_PAGE_PATH];
} coll_page;

/* Bytes of a page of p ranks. */
COLL_INLINE size_t coll_page_bytes(uint32_t p)
{
    return COLL_PAGE_HEAD +
           (size_t)p * (COLL_BOARD_WORDS * sizeof(uint64_t) + sizeof(uint32_t));
}

/* The processes of its ranks, 0 where there is none. */
COLL_INLINE uint32_t *coll_page_processes(unsigned char *memory, uint32_t p)
{
    return (uint32_t *)(void *)(memory + COLL_PAGE_HEAD +
                                (size_t)p * COLL_BOARD_WORDS * sizeof(uint64_t));
}

/* Opens the page of a job on this machine, which is made if there is none: for a rank of p, with a number that
 * all ranks of the job have, and others do not. After that the ranks meet before one of them closes it. False: it
 * cannot be (errno), as there is no such folder, or no room. */
COLL_INLINE bool coll_page_open(coll_page *page, uint64_t job, uint32_t rank, uint32_t p,
                                coll_page_format format)
{
    const size_t bytes = coll_page_bytes(p);
    struct stat state;
    coll_page_head *head;
    void *memory = MAP_FAILED;
    int fd;
    page->memory = NULL;
    (void)snprintf(page->path, sizeof page->path,
                   COLL_PAGE_FOLDER "/" COLL_PAGE_PREFIX "%016llx", (unsigned long long)job);
    fd = open(page->path, O_RDWR | O_CREAT | COLL_I_PAGE_NO_LINK, 0600);
    if (fd < 0)
        return false;
    if (fstat(fd, &state) == 0 && state.st_uid == geteuid() &&
        ((size_t)state.st_size >= bytes || syscall(SYS_ftruncate, fd, bytes) == 0))
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (memory == MAP_FAILED)
        return false;
    page->memory = (unsigned char *)memory;
    page->bytes = bytes;
    page->rank = rank;
    head = (coll_page_head *)memory;
    head->format = (uint32_t)format;
    head->p = p;
    head->job = job;
    (void)__atomic_fetch_add(&head->users, 1, __ATOMIC_ACQ_REL);
    coll_page_processes(page->memory, p)[rank] = (uint32_t)getpid();
    coll_board_init(&page->board, (uint64_t *)(void *)(page->memory + COLL_PAGE_HEAD), rank, p);
    __atomic_store_n(&head->magic, COLL_PAGE_MAGIC, __ATOMIC_RELEASE);
    return true;
}

/* This rank tells no more; the last one removes the file. */
COLL_INLINE void coll_page_close(coll_page *page)
{
    coll_page_head *head = (coll_page_head *)(void *)page->memory;
    if (!page->memory)
        return;
    coll_page_processes(page->memory, page->board.p)[page->rank] = 0;
    if (__atomic_sub_fetch(&head->users, 1, __ATOMIC_ACQ_REL) == 0)
        (void)unlink(page->path);
    (void)munmap(page->memory, page->bytes);
    page->memory = NULL;
}

/* Nanoseconds of the clock of a page. */
COLL_INLINE uint64_t coll_page_now(void *unused)
{
    enum { MONOTONIC = 1 }; /* CLOCK_MONOTONIC, which strict C99 hides */
    struct timespec now;
    (void)unused;
    (void)clock_gettime(MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- a communicator ---------------------------------------------------------------------- */

/* What a communicator needs to be shown. Private. */
typedef struct coll_published {
    coll_page page;       /* where its ranks tell … */
    coll_explain explain; /* … by this */
} coll_published;

/* Has the calls of a communicator shown, until it is freed: collective, where coll_comm_explain may be called, whose
 * one deadline this takes. `published` stays the caller's, in place, until coll_unpublish. COLL_ERR_CAPABILITY: there
 * is no page to be had, on this machine; or as coll_comm_explain, coll_bcast and coll_barrier. */
COLL_INLINE coll_status coll_comm_publish(coll_comm *comm, coll_published *published)
{
    coll_explain_options options;
    coll_status status;
    uint64_t job = coll_page_now(NULL) << 16 ^ (uint64_t)getpid();
    bool open;
    if (!comm || !published)
        return COLL_ERR_NULL;
    published->page.memory = NULL;
    status = coll_bcast(comm, &job, 1, COLL_U64, 0);
    if (status != COLL_OK)
        return status;
    open = coll_page_open(&published->page, job, comm->rank, comm->p, COLL_PAGE_COMM);
    status = coll_barrier(comm);
    if (status != COLL_OK || !open)
        return status != COLL_OK ? status : COLL_ERR_CAPABILITY;
    options.clock.now = coll_page_now;
    options.clock.arg = NULL;
    options.within = UINT64_MAX / 2; /* nobody is told here */
    options.stopped = UINT64_MAX / 2;
    options.unit = "ns";
    options.late = NULL;
    options.arg = NULL;
    return coll_comm_explain(comm, &published->explain, &published->page.board, &options);
}

/* After the communicator was freed. */
COLL_INLINE void coll_unpublish(coll_published *published)
{
    coll_page_close(&published->page);
}

#endif /* COLL_COMM_PUBLISHED_H */
