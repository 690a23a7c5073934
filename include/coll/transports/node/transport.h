/* coll/transports/node/transport.h — ranks that share memory: the callbacks of their transports
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_TRANSPORT_H
#define COLL_TRANSPORTS_NODE_TRANSPORT_H

#include "multicast.h"
#include "shared.h"

/* A coll_transport; the arguments are what threads and processes do differently. */
#define COLL_I_NODE_TRANSPORT(test, cancel, fabric_reduce, max_bytes, max_lent, whole)         \
    {                                                                                          \
        coll_i_node_send, coll_i_node_recv, test, cancel, coll_i_node_abort, coll_i_node_wait, \
            coll_i_node_borrow, coll_i_node_give_back, coll_i_node_local, NULL /* reduce */,   \
            coll_i_node_multicast, fabric_reduce, max_bytes, UINT32_MAX /* tags */, max_lent,  \
            coll_i_node_part, coll_i_node_enter, coll_i_node_leave, NULL /* trade */,          \
            NULL /* settle */, whole                                                           \
    }

#endif /* COLL_TRANSPORTS_NODE_TRANSPORT_H */
