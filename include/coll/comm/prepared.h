/* coll/comm/prepared.h — a prepared call: a plan, its operator, what it takes; and a cache of
 * them
 *
 *   static unsigned char memory[COLL_CACHE_BYTES(8)];
 *   coll_comm_set_cache(&comm, memory, sizeof memory);     // communicator.h
 *
 * A persistent call, and one that is made for the first time, runs by a prepared call of its own.
 * Any other finds in the cache what was prepared for an earlier one with its arguments, but for
 * buffers. An entry stands on its own: its tables and its graph are copies, as the caller's may
 * change. Where the cache is full, new calls replace old ones.
 */
#ifndef COLL_COMM_PREPARED_H
#define COLL_COMM_PREPARED_H

#include "../executor/schedule.h"
#include "../plan.h"
#include "../plan/graph.h"
#include "../reduce.h"
#include "arena.h"

/* What makes two calls the same, beside the contents of tables. */
typedef struct coll_i_call_key {
    const void *comm; /* whose call it is; NULL: nobody's, the entry is free */
    size_t count, shared_bytes;
    uint32_t collective, type, op, root; /* collective: from bit 8 on a candidate of settle.h */
    bool in_is_out, out_is_in;           /* in place */
} coll_i_call_key;

/* A prepared call: all that calls with its arguments need, but buffers. */
typedef struct coll_prepared {
    coll_plan plan;
    coll_op op;             /* of a reducing collective */
    size_t scratch;         /* bytes */
    coll_schedule schedule; /* what this rank does, if it is `written` */
    uint32_t users;         /* calls that run by it */
    bool written;           /* is there a schedule? */
    bool in, out;           /* has this rank elements of IN, of OUT? */
} coll_prepared;

/* A prepared call in a cache, with memory for all that it points to. */
typedef struct coll_cache_entry {
    coll_i_call_key key;
    coll_prepared call; /* what was prepared */
    coll_graph mesh;    /* of neighbours */
#if COLL_CACHED_ACTIONS
    coll_action actions[COLL_CACHED_ACTIONS]; /* of the schedule */
#endif
    /* Counts and displacements of IN, then of OUT; of those of the caller's that `given` has the
     * bits of, so many are compared. */
    size_t tables[4][COLL_CACHED_BLOCKS];
    uint32_t blocks[4]; /* how many each table has */
    uint32_t given;     /* bit i: table i is the caller's */
    bool again; /* it was used again: then it is written out, if it is no more than fits */
} coll_cache_entry;

/* Bytes of memory for a cache of n calls, at any alignment: a constant expression. Each takes
 * some 1,800 with 64-bit pointers: 48 for each of COLL_CACHED_ACTIONS, 32 for each of
 * COLL_CACHED_BLOCKS, and 800. */
#define COLL_CACHE_BYTES(n) ((size_t)(n) * sizeof(coll_cache_entry) + COLL_ARENA_ALIGN - 1)

/* Communicators that share a cache have it each. */
typedef struct coll_cache {
    coll_cache_entry *entries;
    uint32_t n, mask; /* 2^k - 1 < n */
    uint32_t way; /* from which entry on it looks for one to replace, from a call's place on */
} coll_cache;

/* Makes an empty cache of so many calls as fit; NULL and 0: of none. */
COLL_INLINE void coll_i_cache_init(coll_cache *cache, void *memory, size_t bytes)
{
    const uint32_t most = 1u << 15;
    const size_t odd = (size_t)((uintptr_t)memory % COLL_ARENA_ALIGN);
    const size_t skip = odd == 0 ? 0 : COLL_ARENA_ALIGN - odd;
    const size_t fit = skip < bytes ? (bytes - skip) / sizeof(coll_cache_entry) : 0;
    cache->n = fit < most ? (uint32_t)fit : most;
    cache->entries = fit ? (coll_cache_entry *)(void *)((unsigned char *)memory + skip) : NULL;
    cache->way = cache->mask = 0;
    while (2 * cache->mask + 1 < cache->n)
        cache->mask = 2 * cache->mask + 1;
    for (uint32_t i = 0; i < cache->n; i++) {
        cache->entries[i].key.comm = NULL;
        cache->entries[i].call.users = 0;
    }
}

/* Is any entry in use? */
COLL_INLINE bool coll_i_cache_busy(const coll_cache *cache)
{
    for (uint32_t i = 0; i < cache->n; i++)
        if (cache->entries[i].call.users != 0)
            return true;
    return false;
}

/* Forgets the calls of a communicator. Those that run by an entry go on. */
COLL_INLINE void coll_i_cache_forget(coll_cache *cache, const void *comm)
{
    for (uint32_t i = 0; i < cache->n; i++)
        if (cache->entries[i].key.comm == comm)
            cache->entries[i].key.comm = NULL;
}

/* An entry is at the place that its key gives, or at one of a few behind that. */
COLL_HOT_INLINE uint32_t coll_i_cache_home(const coll_cache *cache, const coll_i_call_key *key)
{
    const uint32_t mixed =
        (uint32_t)key->count + key->collective + 2 * key->type + 4 * key->op + 8 * key->root;
    return (mixed * 0x9E3779B9u >> 16) & cache->mask;
}

COLL_HOT_INLINE uint32_t coll_i_cache_ways(const coll_cache *cache)
{
    const uint32_t ways = 4;
    return cache->n < ways ? cache->n : ways;
}

COLL_HOT_INLINE bool coll_i_call_same(const coll_i_call_key *a, const coll_i_call_key *b)
{
    return a->comm == b->comm && a->count == b->count && a->collective == b->collective &&
           a->type == b->type && a->op == b->op && a->root == b->root &&
           a->in_is_out == b->in_is_out && a->out_is_in == b->out_is_in &&
           a->shared_bytes == b->shared_bytes;
}

/* Have the caller's tables the contents that they had? */
COLL_INLINE bool coll_i_cache_same_tables(const coll_cache_entry *entry,
                                          const size_t *const tables[4])
{
    for (unsigned k = 0; k < 4; k++)
        if (entry->given >> k & 1) {
            if (!tables[k])
                return false;
            for (uint32_t i = 0; i < entry->blocks[k]; i++)
                if (entry->tables[k][i] != tables[k][i])
                    return false;
        }
    return true;
}

/* The entry for a new call: one that is free, or else one that no call runs by; NULL: there is
 * none. */
COLL_INLINE coll_cache_entry *coll_i_cache_take(coll_cache *cache, const coll_i_call_key *key)
{
    const uint32_t ways = coll_i_cache_ways(cache);
    const uint32_t home = coll_i_cache_home(cache, key);
    coll_cache_entry *oldest = NULL;
    for (uint32_t i = 0, way = cache->way; i < ways; i++) {
        const uint32_t at = home + way;
        coll_cache_entry *entry = &cache->entries[at < cache->n ? at : at - cache->n];
        way = way + 1 < ways ? way + 1 : 0;
        if (entry->call.users != 0)
            continue;
        if (!entry->key.comm)
            return entry;
        if (!oldest)
            oldest = entry;
    }
    cache->way = cache->way + 1 < ways ? cache->way + 1 : 0;
    return oldest;
}

/* Has it a reduce_scatter's blocks, which lie one after the other without a table that says so? */
COLL_INLINE bool coll_i_cache_packed(const coll_cache_entry *entry)
{
    return entry->call.plan.problem.collective == COLL_REDUCE_SCATTER &&
           !(entry->given >> 1 & 1);
}

/* Copies a layout's tables to the entry's, from table `first` on, and has it point to the
 * copies. */
COLL_INLINE void coll_i_cache_layout(coll_cache_entry *entry, coll_layout *layout,
                                     unsigned first, uint32_t n)
{
    entry->blocks[first] = entry->blocks[first + 1] = n;
    if (!layout->counts)
        return;
    for (uint32_t i = 0; i < n; i++) {
        entry->tables[first][i] = layout->counts[i];
        entry->tables[first + 1][i] = layout->displs[i];
    }
    layout->counts = entry->tables[first];
    layout->displs = entry->tables[first + 1];
}

/* What a rank does in a call whose plan is in the cache, written out; NULL: it does more than
 * fits. */
COLL_INLINE const coll_schedule *coll_i_cache_schedule(coll_cache_entry *entry, uint32_t rank)
{
#if COLL_CACHED_ACTIONS
    if (!entry->again) {
        entry->again = true;
        entry->call.written =
            coll_schedule_write(&entry->call.schedule, &entry->call.plan, rank, entry->actions,
                                COLL_CACHED_ACTIONS) == COLL_OK;
    }
#else
    (void)rank;
#endif
    return entry->call.written ? &entry->call.schedule : NULL;
}

/* Writes a call that can be started to the cache, unless it has long tables, or lists of
 * neighbours. One that is composite has its plan in memory of its own, so it is there if what the
 * rank does fits. */
COLL_INLINE void coll_i_cache_keep(coll_cache *cache, const coll_prepared *call,
                                   const coll_i_call_key *key, const size_t *const tables[4],
                                   uint32_t rank)
{
    const coll_problem *problem = &call->plan.problem;
    const uint32_t n_in = problem->in.counts ? coll_in_blocks(problem) : 0;
    const uint32_t n_out = problem->out.counts ? coll_out_blocks(problem) : 0;
    coll_cache_entry *entry = NULL;
    coll_problem *its;
    if (n_in <= COLL_CACHED_BLOCKS && n_out <= COLL_CACHED_BLOCKS &&
        (!problem->graph || coll_graph_same_mesh(problem->graph, problem->graph)))
        entry = coll_i_cache_take(cache, key);
    if (!entry)
        return;
    its = &entry->call.plan.problem;
    COLL_COPY(&entry->call, call, sizeof *call);
    entry->call.users = 0;
    entry->call.written = false;
    entry->again = false;
    entry->given = 0;
    if (problem->graph) {
        COLL_COPY(&entry->mesh, problem->graph, sizeof entry->mesh);
        its->graph = &entry->mesh;
    }
    coll_i_cache_layout(entry, &its->in, 0, n_in);
    coll_i_cache_layout(entry, &its->out, 2, n_out);
    for (unsigned k = 0; k < 4; k++)
        if (tables[k] && (k < 2 ? n_in : n_out) != 0)
            entry->given |= 1u << k;
    COLL_COPY(&entry->key, key, sizeof *key);
    if ((call->plan.traits & COLL_NEEDS_BUILD) && !coll_i_cache_schedule(entry, rank))
        entry->key.comm = NULL;
    entry->call.plan.inner = NULL;
}

#endif /* COLL_COMM_PREPARED_H */
