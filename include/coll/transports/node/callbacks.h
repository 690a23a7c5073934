/* coll/transports/node/callbacks.h — ranks that share memory: the callbacks of their transports
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_CALLBACKS_H
#define COLL_TRANSPORTS_NODE_CALLBACKS_H

#include "multicast_buffer.h"
#include "reduction.h"
#include "regions.h"
#include "shared.h"

/* Handles of reductions are marked by word[1]; those of messages in flight have 0 there. */
COLL_INLINE coll_status coll_i_node_test_any(void *ctx, coll_handle *h)
{
    return h->word[1] ? coll_i_node_test_brought((coll_i_node_rank *)ctx,
                                                 (coll_i_node_brought *)h->word[0])
                      : coll_i_node_test(ctx, h);
}

COLL_INLINE void coll_i_node_cancel_any(void *ctx, coll_handle *h)
{
    if (h->word[1])
        coll_i_node_cancel_brought((coll_i_node_rank *)ctx, (coll_i_node_brought *)h->word[0]);
    else
        coll_i_node_cancel(ctx, h);
}

COLL_INLINE uint32_t coll_i_node_ranks(void *ctx)
{
    return ((const coll_i_node_rank *)ctx)->p;
}

COLL_INLINE void coll_i_node_misfit(void *ctx, coll_misfit *its)
{
    *its = ((const coll_i_node_rank *)ctx)->misfit;
}

COLL_INLINE bool coll_i_node_dead(void *ctx, uint32_t peer)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    return peer != me->rank && me->is_dead && me->is_dead(me, peer);
}

/* The records; what threads and processes do differently is of their own. */
COLL_CONST(coll_failure, coll_i_node_failure,
           {coll_i_node_cancel_any, coll_i_node_abort, coll_i_node_dead, coll_i_node_outlive});
COLL_CONST(coll_node_memory, coll_i_node_memory,
           {coll_i_node_part, coll_i_node_enter, coll_i_node_leave, NULL /* nodes: one */});
COLL_CONST(coll_tag_ranges, coll_i_node_tag_ranges,
           {coll_i_node_claim_tags, coll_i_node_unclaim_tags, COLL_CLAIM_ALL,
            coll_i_node_misfit});
#define COLL_I_NODE_ZERO_COPY(max_bytes)                                                       \
    {                                                                                          \
        coll_i_node_acquire, coll_i_node_release_message, max_bytes, NULL /* read */, 0, 0     \
    }
#define COLL_I_NODE_NETWORK(max_bytes)                                                         \
    {                                                                                          \
        coll_i_node_multicast, coll_i_node_network_reduce, max_bytes, coll_i_node_ranks        \
    }
#define COLL_I_NODE_TRANSPORT(max_bytes, unsegmented, zero_copy, network)                      \
    {                                                                                          \
        coll_i_node_send, coll_i_node_recv, coll_i_node_test_any,                              \
            coll_i_node_local /* copy */, NULL /* reduce */, coll_i_node_wait,                 \
            NULL /* progress */, COLL_CLAIM_ALL /* tags */, max_bytes, unsegmented, zero_copy, \
            NULL /* arrival */, &coll_i_node_failure, network, &coll_i_node_memory,            \
            &coll_i_node_tag_ranges, NULL /* routes */, NULL /* events */,                     \
            NULL /* registration */, NULL /* whole from */, &coll_i_node_one_sided             \
    }

#endif /* COLL_TRANSPORTS_NODE_CALLBACKS_H */
