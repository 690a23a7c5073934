/* examples/networks.h — the rank that this process is, over a transport that is named
 *
 *   static end me;
 *   char why[JOINED_WHY];
 *   const struct network *its = network_named("14_sleeping", "tcp");  // NULL: what there is was said
 *   if (!its || !its->open(&me, why)) …                // `why` is a sentence
 *   coll_comm_init(&comm, me.transport, me.ctx, me.rank, me.p, memory, bytes);
 *   …
 *   its->close(me.ctx);
 *
 * ucx and ofi are there where COLL_WITH_UCX and COLL_WITH_OFI say so.
 */
#ifndef COLL_EXAMPLES_NETWORKS_H
#define COLL_EXAMPLES_NETWORKS_H

#include <stdio.h>
#include <string.h>

#include "joined.h"
#if COLL_WITH_UCX
#include "coll/transports/ucx.h"
#endif
#if COLL_WITH_OFI
#include "coll/transports/ofi.h"
#endif

/* A rank of a transport, as a communicator wants it. */
typedef struct end {
    const coll_transport *transport;
    void *ctx;
    uint32_t rank, p;
    const coll_nodes *nodes; /* which ranks share a host; NULL: the transport does not say */
} end;

/* ---- one of each ------------------------------------------------------------------------- */

#define NETWORK(network)                                                                       \
    static bool open_##network(end *me, char *why)                                             \
    {                                                                                          \
        coll_##network *its = coll_##network##_launched(NULL, why);                            \
        if (!its)                                                                              \
            return false;                                                                      \
        me->transport = &coll_##network##_transport;                                           \
        me->ctx = its;                                                                         \
        me->rank = coll_##network##_rank(its);                                                 \
        me->p = coll_##network##_size(its);                                                    \
        return true;                                                                           \
    }                                                                                          \
    static void close_##network(void *ctx)                                                     \
    {                                                                                          \
        coll_##network##_close((coll_##network *)ctx);                                         \
    }

NETWORK(tcp)
#if COLL_WITH_UCX
NETWORK(ucx)
#endif
#if COLL_WITH_OFI
NETWORK(ofi)
#endif

static bool open_shm(end *me, char *why)
{
    coll_shm *shm = coll_shm_launched(10000, why);
    if (!shm)
        return false;
    me->transport = coll_shm_transport(shm);
    me->ctx = shm;
    me->rank = coll_shm_rank(shm);
    me->p = coll_shm_size(shm);
    return true;
}

static void close_shm(void *ctx)
{
    coll_shm_detach((coll_shm *)ctx);
}

static joined both;

static bool open_join(end *me, char *why)
{
    if (!joined_launched(&both, 16 << 20, why))
        return false;
    me->transport = coll_join_transport(&both.join);
    me->ctx = &both.join;
    me->rank = both.rank;
    me->p = both.p;
    me->nodes = &both.nodes;
    return true;
}

static void close_join(void *ctx)
{
    (void)ctx;
    joined_close(&both);
}

static const struct network {
    const char *name;
    bool (*open)(end *me, char *why);
    void (*close)(void *ctx);
} networks[] = {
    {"tcp", open_tcp, close_tcp},
#if COLL_WITH_UCX
    {"ucx", open_ucx, close_ucx},
#endif
#if COLL_WITH_OFI
    {"ofi", open_ofi, close_ofi},
#endif
    {"shm", open_shm, close_shm}, {"join", open_join, close_join},
};

/* The one of this name; NULL: there is none, as it says for the program. */
static const struct network *network_named(const char *program, const char *name)
{
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (strcmp(name, networks[i].name) == 0)
            return &networks[i];
    fprintf(stderr, "%s: there is no transport %s here; there are", program, name);
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        fprintf(stderr, " %s", networks[i].name);
    fputc('\n', stderr);
    return NULL;
}

#endif /* COLL_EXAMPLES_NETWORKS_H */
