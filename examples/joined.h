/* examples/joined.h — processes of several machines: shared memory within each, TCP between them
 *
 *   static joined me;                                  // at a fixed place
 *   char why[JOINED_WHY];
 *   if (!joined_launched(&me, 16 << 20, why)) …        // `why` is a sentence
 *   coll_comm_init(&comm, coll_join_transport(&me.join), &me.join, me.rank, me.p, memory, bytes);
 *   coll_comm_nodes(&comm, &me.nodes);                 // comm/multi_node.h: calls in levels
 *   …
 *   joined_close(&me);
 *
 * Ranks that listen at the same address share a machine. They follow each other, and make a segment whose
 * name is that of the job and of the machine's first rank. Linux.
 */
#ifndef COLL_EXAMPLES_JOINED_H
#define COLL_EXAMPLES_JOINED_H

#include "coll/comm.h"
#include "coll/transports/bootstrap.h"
#include "coll/transports/join.h"
#include "coll/transports/shm.h"

enum { JOINED_WHY = COLL_SHM_WHY }; /* bytes of a sentence about what went wrong */

typedef struct joined {
    uint32_t rank, p;
    coll_tcp *tcp;   /* of all ranks */
    coll_shm *shm;   /* of this machine's */
    uint32_t *first; /* rank of each machine, and p */
    coll_nodes nodes;
    coll_join join;
} joined;

/* Do two ranks listen at the same address? */
static inline bool joined_is_near(const joined *me, uint32_t a, uint32_t b)
{
    const coll_tcp_address one = coll_tcp_address_of(me->tcp, a);
    const coll_tcp_address other = coll_tcp_address_of(me->tcp, b);
    return one.family == other.family && memcmp(one.ip, other.ip, sizeof one.ip) == 0;
}

/* Which ranks share a machine. False: those of one do not follow each other. */
static inline bool joined_find_nodes(joined *me, char *why)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < me->p; r++) {
        if (r > 0 && joined_is_near(me, r, r - 1))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (joined_is_near(me, r, me->first[k])) {
                (void)snprintf(
                    why, JOINED_WHY,
                    "rank %u is on the machine of rank %u, and rank %u is not: start "
                    "the ranks of a machine one after the other",
                    (unsigned)r, (unsigned)me->first[k], (unsigned)r - 1);
                return false;
            }
        me->first[n++] = r;
    }
    me->first[n] = me->p;
    coll_nodes_table(&me->nodes, n, me->first, NULL);
    return true;
}

/* The ranks of a machine make a segment. No other job has rank 0 at the same address and port now. */
static inline bool joined_share(joined *me, size_t shared_bytes, char *why)
{
    const coll_tcp_address rank_0 = coll_tcp_address_of(me->tcp, 0);
    const coll_node at = coll_node_of(&me->nodes, me->p, me->rank);
    char name[80] = "/coll-";
    int fd;
    for (uint32_t i = 0; i < (rank_0.family == 6 ? 16u : 4u); i++)
        (void)snprintf(name + strlen(name), 3, "%02x", rank_0.ip[i]);
    (void)snprintf(name + strlen(name), 30, "-%u-%u", (unsigned)rank_0.port,
                   (unsigned)at.first);
    fd = at.local == 0 ? coll_shm_create(name, at.ranks, shared_bytes, why)
                       : coll_shm_open(name, 10000, why);
    if (fd < 0)
        return false;
    me->shm = coll_shm_attach(fd, at.local, at.ranks, shared_bytes, why);
    const bool well = me->shm && coll_shm_join(me->shm, 10000, why);
    (void)close(fd);
    if (at.local == 0)
        coll_shm_unlink(name);
    return well;
}

/* All must be done with their calls. */
static inline void joined_close(joined *me)
{
    coll_shm_detach(me->shm);
    coll_tcp_close(me->tcp);
    free(me->first);
}

/* Joins the rank that this process was started as (transports/bootstrap.h), with so many bytes of memory that
 * the ranks of a machine have in common (SHARED). False: `why`, of JOINED_WHY bytes, says why. */
static inline bool joined_launched(joined *me, size_t shared_bytes, char *why)
{
    coll_status status = COLL_ERR_MEMORY;
    memset(me, 0, sizeof *me);
    me->tcp = coll_tcp_launched(NULL, why);
    if (!me->tcp)
        return false;
    me->rank = coll_tcp_rank(me->tcp);
    me->p = coll_tcp_size(me->tcp);
    me->first = (uint32_t *)malloc((me->p + 1) * sizeof *me->first);
    *why = 0;
    if (me->first && joined_find_nodes(me, why) && joined_share(me, shared_bytes, why))
        status =
            coll_join_init(&me->join, me->rank, me->p, &me->nodes, coll_shm_transport(me->shm),
                           me->shm, &coll_tcp_transport, me->tcp);
    if (status == COLL_OK)
        return true;
    if (*why == 0)
        (void)snprintf(why, JOINED_WHY, "%s", coll_status_text(status));
    coll_shm_detach(me->shm);
    coll_tcp_abandon(me->tcp);
    free(me->first);
    return false;
}

#endif /* COLL_EXAMPLES_JOINED_H */
