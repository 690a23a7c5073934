/* coll/transports/ethernet.h — ranks on one Ethernet, by raw frames; for firmware, too
 *
 *   static unsigned char memory[COLL_ETHERNET_BYTES(P, OPS, EARLY)];
 *   const coll_ethernet_options options = {&driver, &nic,  rank,     P,   session,
 *                                          retry,   patience, OPS, EARLY};
 *   coll_ethernet eth;
 *   coll_ethernet_address(session, rank, mac);              // what the card listens to; and to
 *   coll_ethernet_address(session, COLL_ETHERNET_ALL, all); // this multicast address
 *   status = coll_ethernet_init(&eth, &options, memory, sizeof memory);
 *   … task.transport = &coll_ethernet_transport; task.ctx = &eth; …
 *   while (coll_ethernet_leave(&eth) == COLL_AGAIN)         // others may still need an answer
 *       …
 *
 * A message is one frame. The messages of a channel (sender, receiver, tag) are numbered, and so are its receives, as
 * they are started. So each frame belongs to one receive, in whatever order frames come. It is acknowledged
 * when it is in the buffer of that receive. Until then its sender sends it again, from the caller's
 * buffer: after `retry` ticks, then after twice as many, and so on. Thus frames may be lost, repeated and
 * reordered, and nothing can overflow. A message that comes before its receive is started is kept if one
 * of `early` buffers is free, else dropped, and asked for by that receive.
 *
 * A multicast is one frame to the multicast address; a rank that misses it is sent its own copy.
 *
 * A peer of which nothing was heard for `patience` ticks while this rank waited for it is dead
 * (COLL_ERR_IO). Ranks answer each other in send, recv, test and progress: one that computes for longer than
 * the patience calls progress meanwhile, or is taken for dead. An abort goes to all at once; who hears of
 * it for the first time says it again, and who waits in vain is told. Aborted tags stay so: to begin anew
 * all ranks take another session, as frames of other sessions are ignored.
 *
 * Elements travel as they lie in memory. The check sequence of frames is the hardware's.
 *
 * Memory: the caller's; nothing is allocated. One thread at a time may use a rank, and no interrupt handler:
 * such a handler moves frames between card and memory, if at all. The transport has no wait; copy the record to
 * give it one that sleeps until a frame comes, for a part of `retry` at most.
 */
#ifndef COLL_TRANSPORTS_ETHERNET_H
#define COLL_TRANSPORTS_ETHERNET_H

#include "ethernet/ethernet_arrivals.h"

/* ---- operations -------------------------------------------------------------------------- */

/* May an operation with this peer be started? */
COLL_INLINE coll_status coll_i_eth_check(const coll_ethernet *eth, uint32_t peer, uint32_t tag,
                                         size_t bytes)
{
    if (COLL_CHECKS && tag >= COLL_ETHERNET_TAGS)
        return COLL_ERR_TAG;
    if (COLL_CHECKS && (peer >= eth->options.p || peer == eth->options.rank))
        return COLL_ERR_RANK;
    if (COLL_CHECKS && bytes > COLL_ETHERNET_MOST)
        return COLL_ERR_SIZE;
    if (eth->aborted >> tag & 1)
        return COLL_ERR_PEER;
    return eth->peers[peer].flags & COLL_I_ETH_DEAD ? COLL_ERR_IO : COLL_OK;
}

COLL_INLINE uint32_t coll_i_eth_room(const coll_ethernet *eth)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < eth->options.ops; i++)
        room += eth->ops[i].state == COLL_I_ETH_FREE;
    return room;
}

/* A free operation, made one. NULL: there is none; sends leave one for receives, which end them. */
COLL_INLINE coll_i_eth_op *coll_i_eth_take(coll_ethernet *eth, unsigned state, uint32_t peer,
                                           uint32_t tag, size_t bytes)
{
    const coll_ethernet_options *o = &eth->options;
    const bool sends = state == COLL_I_ETH_SENDS;
    coll_i_eth_op *op = NULL;
    if (coll_i_eth_room(eth) < (sends ? 2 : 1)) {
        coll_i_eth_progress(eth);
        return NULL;
    }
    for (op = eth->ops; op->state != COLL_I_ETH_FREE;)
        op++;
    op->from = op->to = NULL;
    op->number = sends ? eth->peers[peer].sent[tag]++ : eth->peers[peer].received[tag]++;
    op->since = o->driver->now(o->nic);
    op->bytes = (uint16_t)bytes;
    op->peer = (uint16_t)peer;
    op->chain = COLL_ETHERNET_ALL;
    op->tag = (uint8_t)tag;
    op->state = (uint8_t)state;
    op->tries = 0;
    return op;
}

COLL_INLINE coll_status coll_i_eth_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_ethernet *eth = (coll_ethernet *)ctx;
    const coll_status status = coll_i_eth_check(eth, peer, tag, bytes);
    coll_i_eth_op *op;
    if (status != COLL_OK)
        return status;
    op = coll_i_eth_take(eth, COLL_I_ETH_SENDS, peer, tag, bytes);
    if (!op)
        return COLL_AGAIN;
    op->from = buf;
    coll_i_eth_tell(eth, op, op->since);
    h->word[0] = (uintptr_t)(op - eth->ops);
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_eth_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_ethernet *eth = (coll_ethernet *)ctx;
    const coll_status status = coll_i_eth_check(eth, peer, tag, bytes);
    coll_i_eth_op *op;
    coll_i_eth_early *kept;
    if (status != COLL_OK)
        return status;
    op = coll_i_eth_take(eth, COLL_I_ETH_RECEIVES, peer, tag, bytes);
    if (!op)
        return COLL_AGAIN;
    op->to = buf;
    h->word[0] = (uintptr_t)(op - eth->ops);
    kept = coll_i_eth_kept(eth, peer, tag, op->number);
    if (kept && kept->peer != COLL_ETHERNET_ALL) {
        coll_i_eth_fill(eth, op, kept->data, kept->bytes);
        kept->peer = COLL_ETHERNET_ALL;
        op->state = COLL_I_ETH_FREE;
        return (coll_status)op->status;
    }
    op->tries = 32; /* its sender sends again; this one asks whether that lives */
    if (eth->peers[peer].flags & COLL_I_ETH_DROPPED)
        coll_i_eth_tell(eth, op, op->since);
    else
        coll_i_eth_later(eth, op, op->since);
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_eth_multicast(void *ctx, uint32_t tag, const void *buf,
                                             size_t bytes, coll_handle *h)
{
    coll_ethernet *eth = (coll_ethernet *)ctx;
    const uint32_t p = eth->options.p, rank = eth->options.rank;
    coll_status status;
    uint32_t chain = COLL_ETHERNET_ALL;
    if (p == 1)
        return COLL_OK;
    status = coll_i_eth_check(eth, rank == 0 ? 1 : 0, tag, bytes);
    if (status == COLL_OK && coll_i_eth_room(eth) < p) {
        coll_i_eth_progress(eth);
        status = COLL_AGAIN;
    }
    for (uint32_t peer = 0; peer < p && status == COLL_OK; peer++) {
        uint32_t number = 0;
        if (peer != rank) {
            coll_i_eth_op *op = coll_i_eth_take(eth, COLL_I_ETH_SENDS, peer, tag, bytes);
            op->from = buf;
            op->chain = (uint16_t)chain;
            coll_i_eth_later(eth, op, op->since);
            number = op->number;
            chain = (uint32_t)(op - eth->ops);
        }
        coll_i_eth_write(eth->head + COLL_I_ETH_HEAD + 4 * peer, number);
    }
    if (status != COLL_OK)
        return status;
    (void)coll_i_eth_put(eth, COLL_I_ETH_CAST, COLL_ETHERNET_ALL, tag, 0, buf, bytes);
    h->word[0] = chain;
    return COLL_STARTED;
}

/* Gives an operation back, or the messages of a multicast. */
COLL_INLINE void coll_i_eth_cancel(void *ctx, coll_handle *h)
{
    coll_ethernet *eth = (coll_ethernet *)ctx;
    for (uintptr_t i = h->word[0]; i != COLL_ETHERNET_ALL; i = eth->ops[i].chain)
        eth->ops[i].state = COLL_I_ETH_FREE;
}

COLL_INLINE coll_status coll_i_eth_test(void *ctx, coll_handle *h)
{
    coll_ethernet *eth = (coll_ethernet *)ctx;
    coll_status status = COLL_OK;
    coll_i_eth_progress(eth);
    for (uintptr_t i = h->word[0]; i != COLL_ETHERNET_ALL && status >= 0;
         i = eth->ops[i].chain) {
        const coll_i_eth_op *op = &eth->ops[i];
        if (op->state != COLL_I_ETH_DONE)
            status = eth->aborted >> op->tag & 1                    ? COLL_ERR_PEER
                     : eth->peers[op->peer].flags & COLL_I_ETH_DEAD ? COLL_ERR_IO
                                                                    : COLL_AGAIN;
        else if (op->status < 0)
            status = (coll_status)op->status;
    }
    if (status == COLL_OK)
        coll_i_eth_cancel(eth, h);
    return status;
}

COLL_INLINE void coll_i_eth_abort(void *ctx, uint32_t first, uint32_t tags)
{
    uint32_t mask = 0;
    for (uint32_t tag = first; tag < COLL_ETHERNET_TAGS && tag - first < tags; tag++)
        mask |= (uint32_t)1 << tag;
    coll_i_eth_spread((coll_ethernet *)ctx, mask);
}

COLL_INLINE bool coll_i_eth_dead(void *ctx, uint32_t peer)
{
    return (((const coll_ethernet *)ctx)->peers[peer].flags &
            (COLL_I_ETH_DEAD | COLL_I_ETH_LEFT)) != 0;
}

COLL_INLINE uint32_t coll_i_eth_ranks(void *ctx)
{
    return ((const coll_ethernet *)ctx)->options.p;
}

COLL_CONST(coll_failure, coll_i_eth_failure,
           {coll_i_eth_cancel, coll_i_eth_abort, coll_i_eth_dead, NULL /* outlive: all do */});
COLL_CONST(coll_in_network, coll_i_eth_network,
           {coll_i_eth_multicast, NULL /* reduce */, 0, coll_i_eth_ranks});
/* The transport; its ctx is a coll_ethernet. Without COLL_IN_NETWORK it does not multicast. */
COLL_CONST(coll_transport, coll_ethernet_transport,
           {coll_i_eth_send, coll_i_eth_recv, coll_i_eth_test, NULL /* copy */,
            NULL /* reduce */, NULL /* wait */, coll_i_eth_progress,
            COLL_ETHERNET_TAGS /* tags */, COLL_ETHERNET_MOST /* max_bytes */,
            0 /* unsegmented */, NULL /* zero copy */, NULL /* arrival */,
            &coll_i_eth_failure, COLL_IN_NETWORK ? &coll_i_eth_network : NULL,
            NULL /* node memory */, NULL /* tag ranges */, NULL /* routes */, NULL /* events */,
            NULL /* registration */, NULL /* whole from */, NULL /* one sided */});

/* ---- a rank ------------------------------------------------------------------------------ */

COLL_INLINE coll_status coll_i_eth_check_options(const coll_ethernet_options *o, size_t bytes)
{
    if (o->p == 0 || o->p > (COLL_ETHERNET_FRAME - COLL_I_ETH_HEAD - COLL_ETHERNET_MOST) / 4)
        return COLL_ERR_RANKS;
    if (o->rank >= o->p)
        return COLL_ERR_RANK;
    if (o->session > 0xffff || o->patience >> 31 != 0 || o->retry == 0 ||
        o->retry > o->patience / COLL_I_ETH_PROBES || o->ops < 2 || o->ops >= COLL_ETHERNET_ALL)
        return COLL_ERR_PARAM;
    return o->early > 0xffff || bytes < COLL_ETHERNET_BYTES(o->p, o->ops, o->early)
               ? COLL_ERR_MEMORY
               : COLL_OK;
}

/* Makes a rank in the caller's memory, of any alignment, which it keeps. COLL_ERR_RANKS: there are more ranks than a
 * multicast frame has room for. COLL_ERR_PARAM: session, retry, patience or ops are out of their range.
 * COLL_ERR_MEMORY: it is less than COLL_ETHERNET_BYTES says. */
COLL_INLINE coll_status coll_ethernet_init(coll_ethernet *eth,
                                           const coll_ethernet_options *options, void *memory,
                                           size_t bytes)
{
    const coll_ethernet_options *o = options;
    unsigned char *at = (unsigned char *)memory;
    coll_status status = COLL_OK;
    if (!eth || !o || !o->driver || !memory)
        return COLL_ERR_NULL;
    if (COLL_CHECKS)
        status = coll_i_eth_check_options(o, bytes);
    if (status != COLL_OK)
        return status;
    at += (sizeof(void *) - (uintptr_t)at % sizeof(void *)) % sizeof(void *);
    eth->options.driver = o->driver;
    eth->options.nic = o->nic;
    eth->options.rank = o->rank;
    eth->options.p = o->p;
    eth->options.session = o->session;
    eth->options.retry = o->retry;
    eth->options.patience = o->patience;
    eth->options.ops = o->ops;
    eth->options.early = o->early;
    eth->ops = (coll_i_eth_op *)(void *)at;
    eth->peers = (coll_i_eth_peer *)(void *)(eth->ops + o->ops);
    eth->early = (coll_i_eth_early *)(void *)(eth->peers + o->p);
    eth->head = (unsigned char *)(eth->early + o->early);
    coll_i_eth_begin(eth);
    eth->aborted = 0;
    eth->looked = o->driver->now(o->nic);
    eth->stuck = eth->leaves = false;
    for (uint32_t i = 0; i < o->ops; i++)
        eth->ops[i].state = COLL_I_ETH_FREE;
    for (uint32_t i = 0; i < o->early; i++)
        eth->early[i].peer = COLL_ETHERNET_ALL;
    for (uint32_t i = 0; i < o->p; i++) {
        eth->peers[i].heard = eth->looked;
        eth->peers[i].flags = 0;
        for (uint32_t tag = 0; tag < COLL_ETHERNET_TAGS; tag++)
            eth->peers[i].sent[tag] = eth->peers[i].received[tag] = 0;
    }
    return COLL_OK;
}

/* Leaves, when no operation is in flight: call it until it is not COLL_AGAIN any more. It answers those who still
 * ask, and is done some time after all others have begun to leave, or after the patience. */
COLL_INLINE coll_status coll_ethernet_leave(coll_ethernet *eth)
{
    enum { ROUNDS = 4 }; /* of saying so, when all have begun to */
    const coll_ethernet_options *o = &eth->options;
    const uint32_t now = o->driver->now(o->nic);
    bool all = true;
    if (!eth->leaves) {
        eth->leaves = true;
        eth->leaving = eth->quiet = now;
        eth->said = now - o->retry;
    }
    coll_i_eth_progress(eth);
    if (now - eth->said >= o->retry) {
        eth->said = now;
        coll_i_eth_say(eth, COLL_I_ETH_LEAVE, COLL_ETHERNET_ALL, 0, 0);
    }
    for (uint32_t i = 0; i < o->p; i++)
        all = all && (i == o->rank || coll_i_eth_dead(eth, i));
    if (!all)
        eth->quiet = now;
    return o->p > 1 && now - eth->quiet < ROUNDS * o->retry && now - eth->leaving < o->patience
               ? COLL_AGAIN
               : COLL_OK;
}

#endif /* COLL_TRANSPORTS_ETHERNET_H */
