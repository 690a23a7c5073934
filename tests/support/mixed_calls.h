/* tests/support/mixed_calls.h — back-to-back collectives of any mix through comm.h, on every rank
 * the same and at random, with results that are checked
 *
 *   CHECK_EQ(mixed_calls(&comm, 1, 100000), 0);   // else the number of the call that went wrong
 */
#ifndef COLL_TESTS_MIXED_CALLS_H
#define COLL_TESTS_MIXED_CALLS_H

#include <string.h>

#include "chance.h"
#include "coll/comm.h"
#include "coll/algos/registry.h"

enum { MIXED_MOST = 18000, MIXED_RANKS = 8, MIXED_CALLS = 3 };

/* The memory of a rank. */
typedef struct mixed_memory {
    uint64_t in[MIXED_CALLS][MIXED_MOST], out[MIXED_CALLS][MIXED_MOST];
    uint64_t scratch[8 * MIXED_MOST];
} mixed_memory;

/* One collective of the mix. */
typedef struct mixed_call {
    coll_args args;
    uint32_t number;
    uint64_t *in, *out;
} mixed_call;

/* Element i that a rank has for rank `to`, in a call. */
static inline uint64_t mixed_value(const mixed_call *it, uint32_t rank, uint32_t to, size_t i)
{
    return (uint64_t)it->number << 32 ^ (uint64_t)(rank + 1) << 24 ^ (uint64_t)to << 16 ^ i;
}

/* One of the rows that do a collective in SHARED, or NULL; on several nodes, of those that work by nodes. */
static inline const coll_algorithm *mixed_shared(coll_collective kind, bool nodes,
                                                 uint64_t *random)
{
    const coll_algorithm *chosen = NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, kind) &&
            (coll_registry[i]->traits & COLL_NEEDS_SHARED) &&
            (!nodes || (coll_registry[i]->traits & COLL_USES_NODES)) &&
            (nodes || !(coll_registry[i]->traits & COLL_USES_NODES)) &&
            chance_of(random, ++n) == 0)
            chosen = coll_registry[i];
    return chosen;
}

/* Makes up a call and writes its input. Where the transport has SHARED, half of the calls use it. */
static inline void mixed_make(mixed_call *it, coll_comm *comm, uint32_t number,
                              uint64_t *random)
{
    static const coll_collective kinds[] = {COLL_BARRIER,   COLL_BCAST,    COLL_REDUCE,
                                            COLL_ALLREDUCE, COLL_GATHER,   COLL_SCATTER,
                                            COLL_ALLGATHER, COLL_ALLTOALL, COLL_SCAN};
    const coll_collective kind = kinds[chance_of(random, sizeof kinds / sizeof *kinds)];
    const uint32_t size = chance_of(random, 100), p = comm->p;
    const size_t most = size < 60 ? 8 : size < 97 ? 200 : MIXED_MOST;
    const size_t count = chance_of(random, (uint32_t)(most / p)) + (kind == COLL_BCAST);
    const bool shared = chance_of(random, 2) != 0 && coll_i_comm_shared(comm) > 0;
    (void)coll_comm_set_algorithm(
        comm, kind, shared ? mixed_shared(kind, comm->nodes != NULL, random) : NULL, NULL);
    coll_args_init(&it->args, kind);
    it->number = number;
    it->args.root = chance_of(random, p);
    it->args.in = it->in;
    it->args.out = it->out;
    it->args.count = count;
    it->args.type = COLL_U64;
    it->args.op = COLL_SUM;
    for (uint32_t to = 0; to < p; to++)
        for (size_t i = 0; i < count; i++)
            it->in[to * count + i] = mixed_value(it, comm->rank, to, i);
    memset(it->out, 0xA5, p * count * sizeof(uint64_t));
    if (kind == COLL_BCAST && comm->rank == it->args.root)
        memcpy(it->out, it->in, count * sizeof(uint64_t));
}

/* Is element i of block `from` of the output right? */
static inline bool mixed_is(const mixed_call *it, const coll_comm *comm, uint32_t from,
                            size_t i)
{
    const uint64_t is = it->out[from * it->args.count + i];
    uint64_t sum = 0;
    const uint32_t last = it->args.collective == COLL_SCAN ? comm->rank : comm->p - 1;
    switch (it->args.collective) {
    case COLL_BCAST:
        return from > 0 || is == mixed_value(it, it->args.root, 0, i);
    case COLL_SCATTER:
        return from > 0 || is == mixed_value(it, it->args.root, comm->rank, i);
    case COLL_GATHER:
        return comm->rank != it->args.root || is == mixed_value(it, from, 0, i);
    case COLL_ALLGATHER:
        return is == mixed_value(it, from, 0, i);
    case COLL_ALLTOALL:
        return is == mixed_value(it, from, comm->rank, i);
    case COLL_BARRIER:
        return true;
    default:
        for (uint32_t r = 0; r <= last; r++)
            sum += mixed_value(it, r, 0, i);
        return from > 0 || is == sum ||
               (it->args.collective == COLL_REDUCE && comm->rank != it->args.root);
    }
}

static inline bool mixed_right(const mixed_call *it, const coll_comm *comm)
{
    for (uint32_t from = 0; from < comm->p; from++)
        for (size_t i = 0; i < it->args.count; i++)
            if (!mixed_is(it, comm, from, i))
                return false;
    return true;
}

/* Runs so many calls, up to MIXED_CALLS at once. Returns 0, or 1 + the number of the call that
 * failed or has a wrong result. */
static inline uint32_t mixed_calls(coll_comm *comm, mixed_memory *memory, uint64_t seed,
                                   uint32_t requests)
{
    uint64_t random = seed;
    for (uint32_t number = 0; number < requests;) {
        const uint32_t n = 1 + chance_of(&random, 4 * MIXED_CALLS) % MIXED_CALLS;
        mixed_call it[MIXED_CALLS];
        coll_request request[MIXED_CALLS];
        uint32_t begun = 0, failed = 0;
        while (begun < n && failed == 0) {
            it[begun].in = memory->in[begun];
            it[begun].out = memory->out[begun];
            mixed_make(&it[begun], comm, number + begun, &random);
            if (coll_post(comm, &it[begun].args, &request[begun]) == COLL_OK)
                begun++;
            else
                failed = number + begun + 1;
        }
        for (uint32_t k = begun; k-- > 0;) /* all of them, as they lie on the stack */
            if ((coll_wait(&request[k]) != COLL_OK || !mixed_right(&it[k], comm)) &&
                failed == 0)
                failed = number + k + 1;
        if (failed != 0)
            return failed;
        number += n;
    }
    return 0;
}

#endif /* COLL_TESTS_MIXED_CALLS_H */
