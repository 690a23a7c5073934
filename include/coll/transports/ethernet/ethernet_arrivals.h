/* coll/transports/ethernet/ethernet_arrivals.h — ranks on one Ethernet: frames that come, and what is due
 *
 * Use ../ethernet.h.
 */
#ifndef COLL_TRANSPORTS_ETHERNET_ETHERNET_ARRIVALS_H
#define COLL_TRANSPORTS_ETHERNET_ETHERNET_ARRIVALS_H

#include "ethernet_frames.h"

/* The operation of a message; NULL: there is none. */
COLL_INLINE coll_i_eth_op *coll_i_eth_find(const coll_ethernet *eth, unsigned state,
                                           uint32_t peer, uint32_t tag, uint32_t number)
{
    for (uint32_t i = 0; i < eth->options.ops; i++) {
        coll_i_eth_op *op = &eth->ops[i];
        if (op->state == state && op->number == number && op->peer == peer && op->tag == tag)
            return op;
    }
    return NULL;
}

/* The buffer of a message that came early, or else a free one; NULL: there is neither. */
COLL_INLINE coll_i_eth_early *coll_i_eth_kept(const coll_ethernet *eth, uint32_t peer,
                                              uint32_t tag, uint32_t number)
{
    coll_i_eth_early *room = NULL;
    for (uint32_t i = 0; i < eth->options.early; i++) {
        coll_i_eth_early *one = &eth->early[i];
        if (one->number == number && one->peer == peer && one->tag == tag)
            return one;
        if (one->peer == COLL_ETHERNET_ALL)
            room = one;
    }
    return room;
}

/* Ends a receive with its message. */
COLL_INLINE void coll_i_eth_fill(coll_ethernet *eth, coll_i_eth_op *op,
                                 const unsigned char *data, size_t bytes)
{
    const bool fits = bytes == op->bytes;
    if (fits && bytes != 0)
        COLL_COPY(op->to, data, bytes);
    op->status = (int8_t)(fits ? COLL_OK : COLL_ERR_SIZE);
    op->state = COLL_I_ETH_DONE;
    coll_i_eth_say(eth, COLL_I_ETH_ACK, op->peer, op->tag, op->number);
}

COLL_INLINE void coll_i_eth_arrive(coll_ethernet *eth, uint32_t from, uint32_t tag,
                                   uint32_t number, const unsigned char *data, size_t bytes,
                                   bool again)
{
    coll_i_eth_op *op = coll_i_eth_find(eth, COLL_I_ETH_RECEIVES, from, tag, number);
    coll_i_eth_early *room;
    if (op) {
        if (!again)
            eth->peers[from].flags &= ~(uint32_t)COLL_I_ETH_DROPPED;
        coll_i_eth_fill(eth, op, data, bytes);
        return;
    }
    if ((int32_t)(number - eth->peers[from].received[tag]) < 0) { /* that was lost last time */
        coll_i_eth_say(eth, COLL_I_ETH_ACK, from, tag, number);
        return;
    }
    room = bytes > COLL_ETHERNET_MOST ? NULL : coll_i_eth_kept(eth, from, tag, number);
    if (!room) { /* a longer one is of a rank that cuts in another way: its receive says so */
        eth->peers[from].flags |= COLL_I_ETH_DROPPED;
    } else if (room->peer == COLL_ETHERNET_ALL) {
        room->peer = (uint16_t)from;
        room->tag = tag;
        room->number = number;
        room->bytes = (uint16_t)bytes;
        if (bytes != 0)
            COLL_COPY(room->data, data, bytes);
    }
    if (again)
        coll_i_eth_say(eth, COLL_I_ETH_HERE, from, tag, number);
}

/* Marks tags as aborted, and says so to all if that is news. */
COLL_INLINE void coll_i_eth_spread(coll_ethernet *eth, uint32_t tags)
{
    const bool news = (tags & ~eth->aborted) != 0;
    eth->aborted |= tags;
    if (news)
        coll_i_eth_say(eth, COLL_I_ETH_ABORT, COLL_ETHERNET_ALL, 0, eth->aborted);
}

/* A frame has come, from whomever. */
COLL_INLINE void coll_i_eth_hear(coll_ethernet *eth, const unsigned char *frame, size_t length,
                                 uint32_t now)
{
    const coll_ethernet_options *o = &eth->options;
    const bool cast = length > 14 && frame[14] == COLL_I_ETH_CAST;
    const size_t data = COLL_I_ETH_HEAD + (cast ? 4 * (size_t)o->p : 0);
    uint32_t kind, tag, from, to, bytes, number;
    coll_i_eth_op *op;
    if (length < data || frame[12] != COLL_ETHERNET_TYPE >> 8 ||
        frame[13] != (COLL_ETHERNET_TYPE & 0xff))
        return;
    kind = frame[14] & ~(uint32_t)COLL_I_ETH_AGAIN;
    tag = frame[15];
    from = coll_i_eth_read(frame + 16) ^ o->session; /* the lower half of it is 0, then */
    to = coll_i_eth_read(frame + 20);
    bytes = to >> 16;
    to &= 0xffff;
    number = coll_i_eth_read(frame + (cast ? COLL_I_ETH_HEAD + 4 * o->rank : 24));
    if ((from & 0xffff) != 0 || from >> 16 >= o->p || from >> 16 == o->rank ||
        (to != o->rank && to != COLL_ETHERNET_ALL) || tag >= COLL_ETHERNET_TAGS ||
        length - data < bytes)
        return;
    from >>= 16;
    eth->peers[from].heard = now;
    if ((eth->aborted >> tag & 1) && kind <= COLL_I_ETH_WANT) {
        coll_i_eth_say(eth, COLL_I_ETH_ABORT, from, 0, eth->aborted);
        return;
    }
    switch ((coll_i_eth_kind)kind) {
    case COLL_I_ETH_DATA:
    case COLL_I_ETH_CAST:
        coll_i_eth_arrive(eth, from, tag, number, frame + data, bytes, kind != frame[14]);
        break;
    case COLL_I_ETH_ACK:
    case COLL_I_ETH_WANT:
        op = coll_i_eth_find(eth, COLL_I_ETH_SENDS, from, tag, number);
        if (kind == COLL_I_ETH_WANT && op) {
            coll_i_eth_tell(eth, op, now);
        } else if (kind == COLL_I_ETH_WANT) {
            coll_i_eth_say(eth, COLL_I_ETH_HERE, from, tag, number);
        } else if (op) {
            op->status = COLL_OK;
            op->state = COLL_I_ETH_DONE;
        }
        break;
    case COLL_I_ETH_ABORT:
        coll_i_eth_spread(eth, number);
        break;
    case COLL_I_ETH_LEAVE:
        eth->peers[from].flags |= COLL_I_ETH_LEFT;
        break;
    case COLL_I_ETH_HERE:
    case COLL_I_ETH_AGAIN:
        break;
    }
}

/* Takes frames, some at a time, and sees to what is due. */
COLL_INLINE void coll_i_eth_progress(void *ctx)
{
    enum { SOME = 32 };
    coll_ethernet *eth = (coll_ethernet *)ctx;
    const coll_ethernet_options *o = &eth->options;
    const uint32_t now = o->driver->now(o->nic);
    const bool away = now - eth->looked > o->patience / 2; /* this rank itself was silent */
    const void *frame = NULL;
    size_t length;
    for (uint32_t i = 0; i < SOME && (frame = o->driver->take(o->nic, &length)) != NULL; i++)
        coll_i_eth_hear(eth, (const unsigned char *)frame, length, now);
    if (!eth->stuck && now - eth->looked < o->retry / 4)
        return;
    eth->looked = now;
    eth->stuck = false;
    for (uint32_t i = 0; i < o->ops; i++) {
        coll_i_eth_op *op = &eth->ops[i];
        if (op->state != COLL_I_ETH_SENDS && op->state != COLL_I_ETH_RECEIVES)
            continue;
        if (away)
            op->since = now;
        else if (frame == NULL /* all that came was taken */ && now - op->since > o->patience &&
                 now - eth->peers[op->peer].heard > o->patience)
            eth->peers[op->peer].flags |= COLL_I_ETH_DEAD;
        if ((int32_t)(now - op->due) >= 0)
            coll_i_eth_tell(eth, op, now);
    }
}

#endif /* COLL_TRANSPORTS_ETHERNET_ETHERNET_ARRIVALS_H */
