/* tests/support/comm_loopback.h — three communicators over loopback in one thread, for tests that
 * look at each call
 *
 *   enum { MESSAGES = 64 };
 *   loopback_begin(MESSAGES, coll_loopback_transport.tags, 0xA5);
 *   … comms[r] …
 *   loopback_end();     // nothing is left in the arenas, and no message
 */
#ifndef COLL_TESTS_COMM_LOOPBACK_H
#define COLL_TESTS_COMM_LOOPBACK_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/coll.h"
#include "coll/transports/loopback.h"
#include "records.h"

enum { P = 3, ARENA = 4096 };

static coll_transport transport; /* loopback, perhaps with other tags, or less that it can do */
static records own;              /* its records */
static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_comm comms[P];
static unsigned char arenas[P][ARENA], caches[P][COLL_CACHE_BYTES(8)];
static void *messages;
static uint32_t n_messages;

/* Room for n messages, and communicators in memory that holds `fill`. */
static inline void loopback_begin(uint32_t n, uint32_t tags, int fill)
{
    const size_t bytes = COLL_LOOPBACK_BYTES(n);
    transport = coll_loopback_transport;
    transport.tags = tags; /* the communicators' own, one on each end */
    transport.tag_ranges = NULL;
    records_of(&own, &transport);
    own.in_network.ranks = NULL; /* and some of less ranks */
    records_use(&own, &transport);
    n_messages = n;
    messages = malloc(bytes);
    memset(comms, fill, sizeof comms);
    CHECK_STATUS(coll_loopback_init(&loopback, P, n, messages, bytes), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(
            coll_comm_init(&comms[r], &transport, &ends[r], r, P, arenas[r], sizeof arenas[r]),
            COLL_OK);
        CHECK_STATUS(coll_comm_set_cache(&comms[r], caches[r], sizeof caches[r]), COLL_OK);
    }
}

static inline void loopback_end(void)
{
    for (uint32_t r = 0; r < P; r++) {
        CHECK(comms[r].requests == NULL && comms[r].arena.units.first == NULL);
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
    }
    CHECK_EQ(loopback.n_free, n_messages);
    free(messages);
}

#endif /* COLL_TESTS_COMM_LOOPBACK_H */
