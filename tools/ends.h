/* tools/ends.h — ranks of this process that are threads: what each has of a transport
 *
 *   struct ends ends;
 *   ends_make(&ends, ENDS_TCP, p, &nodes);
 *   transport = ends_of(&ends, rank, &ctx);      // in the thread of a rank, or before it
 *   ends_free(&ends);                            // when all threads are done
 */
#ifndef COLL_TOOLS_ENDS_H
#define COLL_TOOLS_ENDS_H

#include "coll/transports/join.h"
#include "coll/transports/tcp.h"
#include "coll/transports/threads.h"

/* Over their memory, over TCP, or over TCP between nodes. */
enum ends_kind { ENDS_THREADS, ENDS_TCP, ENDS_JOIN };

struct ends {
    uint32_t p;
    const coll_nodes *of;  /* the caller's */
    coll_threads *threads; /* or … */
    coll_tcp **tcp;
    coll_threads **nodes; /* each one's, and … */
    coll_join *joins;     /* … each rank's of it and TCP */
};

/* Makes the ends of p ranks, or refuses. Nodes are for ENDS_JOIN, and must stay. */
void ends_make(struct ends *ends, enum ends_kind kind, uint32_t p, const coll_nodes *nodes);

/* The transport of a rank, and its ctx. */
const coll_transport *ends_of(const struct ends *ends, uint32_t rank, void **ctx);

void ends_free(struct ends *ends);

#endif /* COLL_TOOLS_ENDS_H */
