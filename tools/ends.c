/* tools/ends.c — see ends.h */
#include "ends.h"

#include <stdlib.h>

#include "memory.h"
#include "options.h"

/* Ranks that reach each other through the loopback interface. */
static void open_tcp(struct ends *e)
{
    coll_tcp_options options = {.interfaces = "127.0.0.0/8", .ranks_here = e->p};
    coll_tcp_address *all = memory_of(e->p, sizeof *all);
    char why[COLL_TCP_WHY];
    e->tcp = memory_of(e->p, sizeof *e->tcp);
    for (uint32_t rank = 0; rank < e->p; rank++) {
        e->tcp[rank] = coll_tcp_open(rank, e->p, &options, why);
        if (!e->tcp[rank])
            refuse("%s", why);
        all[rank] = coll_tcp_own_address(e->tcp[rank]);
    }
    for (uint32_t rank = 0; rank < e->p; rank++)
        if (!coll_tcp_join(e->tcp[rank], all, why))
            refuse("%s", why);
    free(all);
}

/* Ranks of a node reach each other through its memory, those of other nodes by TCP. */
static void join_nodes(struct ends *e)
{
    const coll_nodes *nodes = e->of;
    open_tcp(e);
    e->nodes = memory_of(coll_nodes_count(nodes), sizeof *e->nodes);
    e->joins = memory_of(e->p, sizeof *e->joins);
    for (uint32_t i = 0; i < coll_nodes_count(nodes); i++) {
        e->nodes[i] = coll_threads_create(coll_node_at(nodes, e->p, i, 0).ranks);
        if (!e->nodes[i])
            refuse("there is not enough memory for %u threads", e->p);
    }
    for (uint32_t rank = 0; rank < e->p; rank++) {
        const coll_node at = coll_node_of(nodes, e->p, rank);
        const coll_status status = coll_join_init(
            &e->joins[rank], rank, e->p, nodes, &coll_threads_transport,
            coll_threads_rank(e->nodes[at.index], at.local), &coll_tcp_transport, e->tcp[rank]);
        if (status != COLL_OK)
            refuse("%s", coll_status_text(status));
    }
}

void ends_make(struct ends *e, enum ends_kind kind, uint32_t p, const coll_nodes *nodes)
{
    e->p = p;
    e->of = nodes;
    e->threads = NULL;
    e->tcp = NULL;
    e->nodes = NULL;
    e->joins = NULL;
    if (kind == ENDS_JOIN)
        join_nodes(e);
    else if (kind == ENDS_TCP)
        open_tcp(e);
    else
        e->threads = coll_threads_create(p);
    if (!(e->threads || e->tcp))
        refuse("there is not enough memory for %u threads", p);
}

const coll_transport *ends_of(const struct ends *e, uint32_t rank, void **ctx)
{
    if (e->joins) {
        *ctx = &e->joins[rank];
        return coll_join_transport(&e->joins[rank]);
    }
    *ctx = e->tcp ? (void *)e->tcp[rank] : coll_threads_rank(e->threads, rank);
    return e->tcp ? &coll_tcp_transport : &coll_threads_transport;
}

void ends_free(struct ends *e)
{
    if (e->threads)
        coll_threads_destroy(e->threads);
    for (uint32_t rank = 0; e->tcp && rank < e->p; rank++)
        coll_tcp_close(e->tcp[rank]);
    for (uint32_t i = 0; e->nodes && i < coll_nodes_count(e->of); i++)
        coll_threads_destroy(e->nodes[i]);
    free(e->tcp);
    free(e->nodes);
    free(e->joins);
}
