/* coll/comm/find_cluster.h — what messages between nodes cost here, as the ranks themselves find out
 *
 *   static uint64_t nanoseconds(void *arg) …
 *   const coll_clock clock = {nanoseconds, NULL};
 *   coll_cluster machine;
 *   coll_comm_nodes(&comm, &nodes);                      // multi_node.h
 *   status = coll_comm_find_cluster(&comm, &clock, &machine);
 *   if (status == COLL_OK)
 *       status = coll_comm_rules(&comm, coll_cluster_rules(&machine, coll_nodes_largest(&nodes, p)));
 *
 * Takes some hundred messages, once, at the start. Ranks of the first two nodes measure, in pairs of one rank of
 * each: the first pair sends 4 KiB to and fro, and half of the shortest round trip is what a message takes. Then
 * the first node's ranks all send short messages at once, each to the other one of its pair, and the time is
 * divided among all: what a NIC needs between two messages, or else the ranks' processors, of which
 * coll_cluster_rules makes nothing. A node's ranks that share processors are slower than the NIC.
 *
 * Times are those of these two nodes, at this moment: others may differ where a network has levels.
 */
#ifndef COLL_COMM_FIND_CLUSTER_H
#define COLL_COMM_FIND_CLUSTER_H

#include "../comm.h"
#include "../select/clusters.h"

enum {
    COLL_I_FIND_BYTES = 4096, /* as coll_cluster.message_ns says */
    COLL_I_FIND_TRIPS = 16,   /* to and fro; the first one may make the connection */
    COLL_I_FIND_SHORT = 32    /* short messages of a rank */
};

/* The rank's pair, and what it found. */
typedef struct coll_i_find {
    coll_comm pair;
    const coll_clock *clock;
    uint32_t pairs, own; /* how many, and which is this rank's; own == pairs: none */
    uint64_t message,
        all; /* from send to receive; for all short messages of a rank, and an answer */
    unsigned char bytes[COLL_I_FIND_BYTES];
} coll_i_find;

/* The first rank of the pair sends, and then the other one. */
COLL_INLINE coll_status coll_i_find_trip(coll_i_find *find, size_t there, size_t back)
{
    const coll_status status = coll_bcast(&find->pair, find->bytes, there, COLL_U8, 0);
    return status == COLL_OK ? coll_bcast(&find->pair, find->bytes, back, COLL_U8, 1) : status;
}

/* The first pair measures what one message takes. */
COLL_INLINE coll_status coll_i_find_message(coll_i_find *find)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < COLL_I_FIND_TRIPS; i++) {
        const uint64_t start = find->clock->now(find->clock->arg);
        const coll_status status = coll_i_find_trip(find, COLL_I_FIND_BYTES, COLL_I_FIND_BYTES);
        const uint64_t took = find->clock->now(find->clock->arg) - start;
        if (status != COLL_OK)
            return status;
        if (i > 0 && took < least)
            least = took;
    }
    find->message = least / 2;
    return COLL_OK;
}

/* All pairs at once: many short messages one way. */
COLL_INLINE coll_status coll_i_find_short(coll_i_find *find)
{
    const uint64_t start = find->clock->now(find->clock->arg);
    coll_status status = COLL_OK;
    for (uint32_t i = 1; i < COLL_I_FIND_SHORT && status == COLL_OK; i++)
        status = coll_bcast(&find->pair, find->bytes, 8, COLL_U8, 0);
    if (status == COLL_OK)
        status = coll_i_find_trip(find, 8, 8);
    find->all = find->clock->now(find->clock->arg) - start;
    return status;
}

/* Measures, between calls of all ranks; an error of the pair is one of all. */
COLL_INLINE coll_status coll_i_find_measure(coll_i_find *find, coll_comm *comm)
{
    coll_status status = COLL_OK;
    if (find->own == 0)
        status = coll_i_find_message(find);
    if (status == COLL_OK)
        status = coll_barrier(comm);
    if (status == COLL_OK && find->own < find->pairs)
        status = coll_i_find_short(find);
    if (status != COLL_OK) { /* wherever the others wait */
        (void)coll_comm_abort(&find->pair, status);
        (void)coll_comm_abort(comm, status);
    }
    return status;
}

COLL_INLINE uint32_t coll_i_find_ns(uint64_t ns)
{
    return ns == 0 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Finds what tells this machine from others, the same on all ranks, which make the same call at the same place
 * among their calls, after coll_comm_nodes. `clock` is in nanoseconds; those of ranks need not agree. Takes two
 * of the communicator's tags meanwhile, and some 8 KiB of the stack. Both numbers are 0 where there is one node
 * only. An error is that of the communicator, which has failed then, except COLL_ERR_TAG: it has no two tags
 * left. */
COLL_INLINE coll_status coll_comm_find_cluster(coll_comm *comm, const coll_clock *clock,
                                               coll_cluster *found)
{
    coll_i_find find;
    coll_group group;
    coll_status status;
    uint32_t first, second, last;
    uint64_t both[2];
    if (!comm || !clock || !clock->now || !found)
        return COLL_ERR_NULL;
    found->message_ns = found->gap_ns = 0;
    if (!comm->nodes)
        return comm->status < 0 ? comm->status : COLL_OK;
    first = coll_nodes_first(comm->nodes, comm->p, 0);
    second = coll_nodes_first(comm->nodes, comm->p, 1);
    last = coll_nodes_first(comm->nodes, comm->p, 2);
    find.clock = clock;
    find.pairs = second - first < last - second ? second - first : last - second;
    find.own = comm->rank < second ? comm->rank - first : comm->rank - second;
    if (find.own > find.pairs)
        find.own = find.pairs;
    find.message = find.all = 0;
    for (uint32_t i = 0; i < COLL_I_FIND_BYTES; i++)
        find.bytes[i] = 0;
    coll_group_affine(&group, first + (find.own < find.pairs ? find.own : 0), second - first);
    status = coll_comm_create(&find.pair, comm, &group, 2, 2);
    if (status != COLL_OK)
        return status;
    status = coll_i_find_measure(&find, comm);
    if (status != COLL_OK)
        return status;
    both[0] = find.message;
    both[1] = find.all;
    status = coll_allreduce(comm, COLL_IN_PLACE, both, 2, COLL_U64, COLL_MAX);
    if (status == COLL_OK)
        status = coll_comm_free(&find.pair);
    if (status != COLL_OK)
        return status;
    found->message_ns = coll_i_find_ns(both[0]);
    found->gap_ns = coll_i_find_ns(both[1] / COLL_I_FIND_SHORT / find.pairs);
    return COLL_OK;
}

#endif /* COLL_COMM_FIND_CLUSTER_H */
