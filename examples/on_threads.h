/* examples/on_threads.h — runs one function on P ranks, each a thread with a communicator
 *
 *   static int rank_main(coll_comm *comm) { … return 0; }
 *   int main(void) { return on_threads(4, rank_main); }
 */
#ifndef COLL_EXAMPLES_ON_THREADS_H
#define COLL_EXAMPLES_ON_THREADS_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "coll/comm.h"
#include "coll/transports/threads.h"

enum { ON_THREADS_MOST = 64 }; /* ranks */

typedef struct on_threads_rank {
    coll_threads *world;
    int (*rank_main)(coll_comm *comm);
    uint32_t rank, p;
    int result;
} on_threads_rank;

/* Memory for calls, as much as they need: of the C library. */
static inline void *on_threads_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, bytes);
}

static inline void on_threads_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx, (void)bytes;
    free(memory);
}

static inline void *on_threads_start(void *arg)
{
    const coll_allocator heap = {on_threads_alloc, on_threads_free, NULL};
    on_threads_rank *me = (on_threads_rank *)arg;
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(me->world, me->rank),
                       me->rank, me->p, NULL, 0);
    if (status == COLL_OK)
        status = coll_comm_set_allocator(&comm, &heap);
    if (status == COLL_OK) {
        me->result = me->rank_main(&comm);
        coll_comm_free(&comm);
    } else {
        fprintf(stderr, "rank %u: %s\n", me->rank, coll_status_text(status));
        exit(1); /* the other ranks would wait */
    }
    return NULL;
}

/* Runs rank_main on p ≤ 64 ranks; returns 0 if it returned 0 on all of them, else 1. */
static inline int on_threads(uint32_t p, int (*rank_main)(coll_comm *comm))
{
    on_threads_rank rank[ON_THREADS_MOST];
    pthread_t thread[ON_THREADS_MOST];
    coll_threads *world = p <= ON_THREADS_MOST ? coll_threads_create(p) : NULL;
    int failed = 0;
    if (!world)
        return 1;
    for (uint32_t r = 0; r < p; r++) {
        rank[r].world = world;
        rank[r].rank_main = rank_main;
        rank[r].rank = r;
        rank[r].p = p;
        rank[r].result = 1;
        if (pthread_create(&thread[r], NULL, on_threads_start, &rank[r]) != 0)
            exit(1);
    }
    for (uint32_t r = 0; r < p; r++) {
        pthread_join(thread[r], NULL);
        failed |= rank[r].result != 0;
    }
    coll_threads_destroy(world);
    return failed;
}

/* Seconds of a clock that only goes forward. */
static inline double on_threads_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif /* COLL_EXAMPLES_ON_THREADS_H */
