/* coll/one_sided.h — a capability of transports: memory that peers write to, and counters that tell of it
 *
 * Use transport.h, whose coll_transport.one_sided it is. A receiver posts nothing. It exposes memory, its peers put into it,
 * and each put counts on a counter beside that memory when its bytes are there:
 *
 *   uint32_t counters[2];
 *   coll_region region = {window, sizeof window, counters, 2, tag, {0, 0}};
 *   status = t->one_sided->expose(ctx, 0, &region);
 *   … a barrier: all ranks have exposed theirs …
 *   const coll_put_call call = {peer, 0, offset, 1, data, bytes};
 *   status = t->one_sided->put(ctx, &call, &handle);            // then test, as of a send
 *   while (t->one_sided->count(ctx, 0, 1, &value) == COLL_OK && value - seen < wanted)
 *       …                                                        // wait, if there is one
 *   t->one_sided->withdraw(ctx, 0);
 *
 * Contract
 *   - A region has a number, below `regions`. Ranks that put into each other's region of a number all have exposed one
 *     of that number, with as many bytes and counters, and the same tag. How they know that is their affair: a put
 *     comes after something that the peer did after its expose, such as a message or a barrier.
 *   - Between expose and withdraw *region, its memory and its counters belong to the transport. Of the memory the caller
 *     reads what counters say is there, and writes what no put on its way covers.
 *   - Puts of one rank to one peer take effect in the order in which they were started, in whichever region: when a
 *     counter has counted one, its bytes and those of all before it are there, for this processor. Puts of
 *     several ranks have no order.
 *   - A put of 0 bytes only counts. A counter begins with 0 at expose, counts 1 for each put, and goes on with 0
 *     behind 2³² − 1.
 *   - put returns what send does. COLL_OK, also of test, says that call->from is the caller's again, and nothing of the peer.
 *   - A put that leads beyond the peer's region, to a counter that is not there, or to a region that is not exposed,
 *     writes and counts nothing. It ends with COLL_ERR_PLACE, at once or by test, or, where the network does not
 *     tell, as if it were well.
 *   - A put, or a count, of a region whose tag is aborted ends with COLL_ERR_PEER (coll_failure.abort, within bounded time). A
 *     put to a rank that is dead ends as a send to it does. Who waits for a counter asks coll_failure.dead.
 *   - After cancel, call->from is not read any more; the put may have taken effect.
 *   - After withdraw, nothing is written: withdraw waits for the bytes that a peer is writing at that moment, and for
 *     nothing else. A region is withdrawn before its ctx ends.
 *   - A rank that waits for a counter polls: coll_events does not tell of it.
 *   - Puts and counts move on in put, test and count. Messages and puts have no order among each other.
 */
#ifndef COLL_ONE_SIDED_H
#define COLL_ONE_SIDED_H

#include "types.h"

struct coll_handle;

/* Memory of this rank that peers may put into. */
typedef struct coll_region {
    void *memory;       /* the caller's, of any alignment; NULL where it has 0 bytes */
    size_t bytes;       /* the same on all ranks */
    uint32_t *counters; /* the caller's, room for so many … */
    uint32_t n;   /* … counters; the transport may keep them elsewhere, so only count tells */
    uint32_t tag; /* whose abort ends puts and counts */
    uintptr_t own[2]; /* the transport's */
} coll_region;

/* Writes to a peer's region. */
typedef struct coll_put_call {
    uint32_t peer, region; /* whose region, and which … */
    size_t offset;         /* … where in it, in bytes … */
    uint32_t counter;      /* … and which of its counters then counts 1 */
    const void *from;      /* unchanged until the put is done; NULL where it has 0 bytes */
    size_t bytes;
} coll_put_call;

/* Puts into memory of peers, and counters that tell of them. All four callbacks are there. */
typedef struct coll_one_sided {
    /* Exposes memory as region `number`. It is seen by peers from then on. COLL_ERR_STATE: that number is exposed;
     * COLL_ERR_PLACE: peers cannot write to such memory (a transport says where else); COLL_ERR_COUNTS: there
     * are less regions or counters; COLL_ERR_MEMORY. */
    coll_status (*expose)(void *ctx, uint32_t number, coll_region *region);
    /* Takes a region back, which is the caller's again; nothing if there is none. */
    void (*withdraw)(void *ctx, uint32_t number);
    /* Starts a put, of bytes that the structure names, which may be gone when it returns. COLL_ERR_STATE: this rank has no
     * region of that number. */
    coll_status (*put)(void *ctx, const coll_put_call *call, struct coll_handle *h);
    /* *value: what a counter of this rank's region has counted so far. COLL_ERR_STATE: there is no such region, or
     * counter. */
    coll_status (*count)(void *ctx, uint32_t number, uint32_t counter, uint32_t *value);
    uint32_t regions;  /* of a rank at one time … */
    uint32_t counters; /* … and of each of them, at most; 0: any number */
} coll_one_sided;

/* Are these bytes all in a region of so many? */
COLL_INLINE bool coll_region_covers(size_t region_bytes, size_t offset, size_t bytes)
{
    return offset <= region_bytes && bytes <= region_bytes - offset;
}

#endif /* COLL_ONE_SIDED_H */
