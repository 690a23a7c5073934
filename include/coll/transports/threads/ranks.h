/* coll/transports/threads/ranks.h — the threads transport: its ranks and their memory
 *
 * Use threads.h.
 */
#ifndef COLL_TRANSPORTS_THREADS_RANKS_H
#define COLL_TRANSPORTS_THREADS_RANKS_H

#include "../node/callbacks.h"
#include "../node/find_costs.h"

/* Bytes of the longest message that is copied twice, so that its sender need not wait. With a
 * processor for each rank one copy is faster from some 3 KiB on; with less, two are at 4 KiB too. */
#ifndef COLL_THREADS_SLOT
#define COLL_THREADS_SLOT 2048
#endif

struct coll_threads;

/* One rank, the ctx of its transport: touched by its thread alone. */
typedef struct coll_i_threads_rank {
    coll_i_node_rank node; /* the first member: this is the ctx of messages too */
    struct coll_threads *threads;
    unsigned char pad[COLL_NODE_LINE];
} coll_i_threads_rank;

/* A group of threads; all of it is private. */
typedef struct coll_threads {
    coll_i_node_world world;
    coll_i_threads_rank *ranks;
    uint64_t *channels;   /* that from s to d is channels[s·p + d], 0 until they talk */
    uint32_t *cpus;       /* processors of the ranks */
    void *watches;        /* what each rank waits for */
    void *shared, *turns; /* SHARED and who is done with which use of it, or NULL */
    uint64_t *operands;   /* of all ranks, or 0: node/reduction.h */
    uint64_t *regions;    /* … or 0: node/regions.h */
    uint32_t p;
} coll_threads;

/* In one address space, shared memory is what any rank has allocated. */
COLL_INLINE uint64_t coll_i_threads_carve(coll_i_node_rank *me, size_t bytes)
{
    return (uintptr_t)coll_i_node_new(me, bytes);
}

/* Frees the world, which no thread may use any more. NULL is fine. */
COLL_INLINE void coll_threads_destroy(coll_threads *threads)
{
    if (!threads)
        return;
    for (uint32_t r = 0; threads->ranks && r < threads->p; r++)
        coll_i_node_free(&threads->ranks[r].node);
    free(threads->ranks);
    free(threads->channels);
    free(threads->operands);
    free(threads->regions);
    free(threads->cpus);
    free(threads->watches);
    free(threads->shared);
    free(threads->turns);
    free(threads);
}

/* Makes a world of p ranks; NULL if there is no memory, p is 0, or COLL_MACHINE names no file of a machine's
 * costs (node/find_costs.h, which may measure). */
COLL_INLINE coll_threads *coll_threads_create(uint32_t p)
{
    uint64_t processors[COLL_PROCESSORS_WORDS] = {0};
    size_t pairs, bytes;
    coll_node_costs costs;
    coll_threads *threads;
    if (p == 0 || !coll_node_costs_find(&costs, NULL) || !coll_multiply(p, p, &pairs) ||
        !coll_multiply(pairs, sizeof(uint64_t), &bytes))
        return NULL;
    threads = (coll_threads *)calloc(1, sizeof *threads);
    if (!threads)
        return NULL;
    coll_processors_add(processors);
    threads->p = p;
    threads->ranks = (coll_i_threads_rank *)calloc(p, sizeof *threads->ranks);
    threads->channels = (uint64_t *)calloc(pairs, sizeof *threads->channels);
    threads->operands = (uint64_t *)calloc(p, sizeof *threads->operands);
    threads->regions = (uint64_t *)calloc(p, sizeof *threads->regions);
    threads->cpus = (uint32_t *)calloc(p, sizeof *threads->cpus);
    threads->watches = calloc((size_t)p + 1, sizeof(coll_i_node_watch));
    for (uint32_t r = 0; threads->ranks && threads->channels && threads->operands &&
                         threads->regions && threads->cpus && threads->watches && r < p;
         r++) {
        coll_i_node_rank *node = &threads->ranks[r].node;
        threads->ranks[r].threads = threads;
        node->world = &threads->world;
        node->channels = threads->channels;
        node->operands = threads->operands;
        node->regions = threads->regions;
        node->cpus = threads->cpus;
        node->watches = (coll_i_node_watch *)coll_i_node_line(threads->watches);
        node->end = UINTPTR_MAX;
        node->carve = coll_i_threads_carve;
        coll_i_node_set_slots(node, COLL_THREADS_SLOT, COLL_THREADS_SLOT);
        if (coll_i_node_rank_init(node, r, p) != COLL_OK)
            break;
        coll_i_node_settle(node, processors, &costs);
        if (r + 1 == p)
            return threads;
    }
    coll_threads_destroy(threads);
    return NULL;
}

/* The ctx of a rank for coll_threads_transport; NULL if there is no such rank. */
COLL_INLINE void *coll_threads_rank(coll_threads *threads, uint32_t rank)
{
    return threads && rank < threads->p ? &threads->ranks[rank] : NULL;
}

/* For coll_node_rules (select/intra_node.h): are there more ranks than processors that the thread which
 * made the world could run on? */
COLL_INLINE bool coll_threads_is_oversubscribed(const coll_threads *threads)
{
    return threads->ranks[0].node.oversubscribed;
}

/* Gives the world so many bytes of SHARED memory, before any rank uses it. COLL_ERR_STATE: it has
 * some. COLL_ERR_MEMORY. */
COLL_INLINE coll_status coll_threads_share(coll_threads *threads, size_t bytes)
{
    if (threads->shared)
        return COLL_ERR_STATE;
    if (bytes > SIZE_MAX - COLL_NODE_LINE)
        return COLL_ERR_MEMORY;
    threads->shared = calloc(1, bytes + COLL_NODE_LINE);
    threads->turns = calloc((size_t)threads->p + 1, sizeof(coll_i_node_turn));
    if (!threads->shared || !threads->turns) {
        free(threads->shared);
        free(threads->turns);
        threads->shared = threads->turns = NULL;
        return COLL_ERR_MEMORY;
    }
    for (uint32_t r = 0; r < threads->p; r++)
        coll_i_node_share(&threads->ranks[r].node,
                          (coll_i_node_turn *)coll_i_node_line(threads->turns),
                          coll_i_node_line(threads->shared), bytes);
    return COLL_OK;
}

/* Drops all messages, and makes the tags of failed collectives usable again. Call it when no
 * request is running and no other thread uses the world; communicators are made anew. */
COLL_INLINE void coll_threads_recover(coll_threads *threads)
{
    for (uint32_t r = 0; r < threads->p; r++) {
        coll_i_threads_rank *rank = &threads->ranks[r];
        coll_i_node_forget(&rank->node);
        coll_i_node_share_anew(&rank->node);
        coll_i_node_forget_brought(&rank->node);
        coll_claims_init(&rank->node.claims);
    }
    memset(&threads->world, 0, sizeof threads->world);
}

#endif /* COLL_TRANSPORTS_THREADS_RANKS_H */
