/* coll/transports/ethernet/ethernet_frames.h — ranks on one Ethernet: their memory, and the frames that they send
 *
 * A frame is 6 bytes of destination, 6 of source, 2 of EtherType, and then, of several bytes the lowest first:
 *
 *   kind 1 · tag 1 · session 2 · rank of the sender 2 · of the receiver 2 · bytes 2 · number 4 · data
 *
 * Use ../ethernet.h.
 */
#ifndef COLL_TRANSPORTS_ETHERNET_ETHERNET_FRAMES_H
#define COLL_TRANSPORTS_ETHERNET_ETHERNET_FRAMES_H

#include "../../transport.h"

/* Bytes of the longest message; longer ones are cut. The same on all ranks, a multiple of an element's. */
#ifndef COLL_ETHERNET_MOST
#define COLL_ETHERNET_MOST 1024
#endif

/* Tags: collectives that may run at once; 1 to 32. A channel of each tag takes 8 bytes a peer. */
#ifndef COLL_ETHERNET_TAGS
#define COLL_ETHERNET_TAGS (__STDC_HOSTED__ ? 32 : 4)
#endif

#if COLL_ETHERNET_TAGS < 1 || COLL_ETHERNET_TAGS > 32 || COLL_ETHERNET_MOST < 1 ||             \
    COLL_ETHERNET_MOST > 1478
#error "COLL_ETHERNET_TAGS is 1 to 32, COLL_ETHERNET_MOST 1 to 1478"
#endif

enum {
    COLL_ETHERNET_ALL = 0xffff,  /* in place of a rank: all of them */
    COLL_ETHERNET_TYPE = 0x88b5, /* EtherType: the first of IEEE 802 for local experiments */
    COLL_ETHERNET_FRAME = 1514,  /* bytes of the longest frame, without its check sequence */
    COLL_I_ETH_HEAD = 28,        /* bytes before the data */
    COLL_I_ETH_PROBES = 32 /* a peer that is waited for is asked so often before it is dead */
};

/* A network card. No call waits. */
typedef struct coll_ethernet_driver {
    /* Sends a frame that is given in two parts, the second of 0 bytes or more. The parts are the caller's again
     * when it returns. Frames of less than 60 bytes are padded here. False: there is no room now. */
    bool (*send)(void *nic, const void *head, size_t head_bytes, const void *data,
                 size_t data_bytes);
    /* Takes the next frame that has come: where it is until the next take, whatever is sent meanwhile, and
     * how long. NULL: there is none. */
    const void *(*take)(void *nic, size_t *bytes);
    /* A clock of any unit, which goes on with 0 after 2³² − 1. */
    uint32_t (*now)(void *nic);
} coll_ethernet_driver;

/* A rank's place and limits. */
typedef struct coll_ethernet_options {
    const coll_ethernet_driver *driver; /* stays the caller's, and as it is */
    void *nic;                          /* handed to the driver */
    uint32_t rank, p;
    uint32_t session; /* below 2¹⁶; the same on all ranks, and of nobody else on this network */
    uint32_t retry;    /* ticks until a message is sent again */
    uint32_t patience; /* ticks after which a silent peer is dead: 32 · retry … 2³¹ − 1 */
    uint32_t
        ops; /* operations in flight, 2 … 2¹⁶ − 2: slots of all engines, p − 1 for one that multicasts,
                        * and one more, which sends leave to receives */
    uint32_t early; /* messages that are kept before their receives are started; may be 0 */
} coll_ethernet_options;

/* What a frame is. */
typedef enum coll_i_eth_kind {
    COLL_I_ETH_DATA,
    COLL_I_ETH_CAST,  /* data for all, after the number that it has for each */
    COLL_I_ETH_ACK,   /* the message is in the buffer of its receive */
    COLL_I_ETH_WANT,  /* its receive waits */
    COLL_I_ETH_HERE,  /* the sender lives, and has nothing else to say */
    COLL_I_ETH_ABORT, /* the number is a mask of tags */
    COLL_I_ETH_LEAVE,
    COLL_I_ETH_AGAIN = 0x80 /* is added to data that may have come before */
} coll_i_eth_kind;

/* States of an operation; flags of a peer. */
enum { COLL_I_ETH_FREE, COLL_I_ETH_SENDS, COLL_I_ETH_RECEIVES, COLL_I_ETH_DONE };
enum { COLL_I_ETH_DEAD = 1, COLL_I_ETH_LEFT = 2, COLL_I_ETH_DROPPED = 4 };

typedef struct coll_i_eth_op {
    const void *from;
    void *to;
    uint32_t number;     /* of its message */
    uint32_t since, due; /* when it was started, and when its peer is told again */
    uint16_t bytes, peer;
    uint16_t chain; /* the next message of a multicast, or COLL_ETHERNET_ALL */
    uint8_t tag, state, tries;
    int8_t status; /* of one that is done */
} coll_i_eth_op;

typedef struct coll_i_eth_peer {
    uint32_t heard, flags;                 /* when anything came from it */
    uint32_t sent[COLL_ETHERNET_TAGS];     /* messages started */
    uint32_t received[COLL_ETHERNET_TAGS]; /* receives started */
} coll_i_eth_peer;

/* A message that came before its receive. */
typedef struct coll_i_eth_early {
    uint32_t number, tag;
    uint16_t peer, bytes; /* peer: COLL_ETHERNET_ALL if it is free */
    unsigned char data[COLL_ETHERNET_MOST];
} coll_i_eth_early;

/* A rank: the ctx of its transport. */
typedef struct coll_ethernet {
    coll_ethernet_options options; /* its place and limits */
    coll_i_eth_peer *peers;
    coll_i_eth_op *ops;
    coll_i_eth_early *early;
    unsigned char *head; /* of the frame that is made */
    uint32_t aborted;    /* mask of tags */
    uint32_t looked;     /* when it was last looked at what is due */
    uint32_t leaving, said,
        quiet;          /* when it began to leave, last said so, and missed somebody */
    bool stuck, leaves; /* there was no room for a frame; this rank leaves */
} coll_ethernet;

/* Bytes of memory for p ranks, `ops` operations in flight and `early` messages that come before their receives, at
 * any alignment: a constant expression. */
#define COLL_ETHERNET_BYTES(p, ops, early)                                                     \
    ((size_t)(p) * (sizeof(coll_i_eth_peer) + 4) + (size_t)(ops) * sizeof(coll_i_eth_op) +     \
     (size_t)(early) * sizeof(coll_i_eth_early) + COLL_I_ETH_HEAD + sizeof(void *))

/* The address of a rank, or with COLL_ETHERNET_ALL the multicast address: 6 bytes. */
COLL_INLINE void coll_ethernet_address(uint32_t session, uint32_t rank, unsigned char *address)
{
    address[0] =
        rank == COLL_ETHERNET_ALL ? 3 : 2; /* locally administered; the lowest bit: of many */
    address[1] = 0;
    address[2] = (unsigned char)(session >> 8);
    address[3] = (unsigned char)session;
    address[4] = (unsigned char)(rank >> 8);
    address[5] = (unsigned char)rank;
}

/* Four bytes, the lowest first. */
COLL_INLINE void coll_i_eth_write(unsigned char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++, value >>= 8)
        at[i] = (unsigned char)value;
}

COLL_INLINE uint32_t coll_i_eth_read(const unsigned char *at)
{
    uint32_t value = 0;
    for (unsigned i = 4; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* What is the same in all frames of a rank. */
COLL_INLINE void coll_i_eth_begin(coll_ethernet *eth)
{
    const coll_ethernet_options *o = &eth->options;
    coll_ethernet_address(o->session, o->rank, eth->head + 6);
    eth->head[12] = COLL_ETHERNET_TYPE >> 8;
    eth->head[13] = COLL_ETHERNET_TYPE & 0xff;
    coll_i_eth_write(eth->head + 16, o->session | o->rank << 16);
}

/* Sends a frame. False: there is no room, and it is lost. */
COLL_INLINE bool coll_i_eth_put(coll_ethernet *eth, unsigned kind, uint32_t peer, uint32_t tag,
                                uint32_t number, const void *data, size_t bytes)
{
    const coll_ethernet_options *o = &eth->options;
    const size_t numbers = kind == COLL_I_ETH_CAST ? 4 * (size_t)o->p : 0;
    unsigned char *head = eth->head;
    coll_ethernet_address(o->session, peer, head);
    head[14] = (unsigned char)kind;
    head[15] = (unsigned char)tag;
    coll_i_eth_write(head + 20, peer | (uint32_t)bytes << 16);
    coll_i_eth_write(head + 24, number);
    return o->driver->send(o->nic, head, COLL_I_ETH_HEAD + numbers, data, bytes);
}

/* An acknowledgement, or another word on a message. */
COLL_INLINE void coll_i_eth_say(coll_ethernet *eth, unsigned kind, uint32_t peer, uint32_t tag,
                                uint32_t number)
{
    (void)coll_i_eth_put(eth, kind, peer, tag, number, NULL, 0);
}

/* When an operation is due: in retry · 2^tries ticks, but a part of the patience at most. */
COLL_INLINE void coll_i_eth_later(const coll_ethernet *eth, coll_i_eth_op *op, uint32_t now)
{
    const uint32_t most = eth->options.patience / COLL_I_ETH_PROBES;
    uint32_t ticks = eth->options.retry;
    for (uint32_t i = 0; i < op->tries && ticks < most; i++)
        ticks *= 2;
    op->due = now + (ticks < most ? ticks : most);
    op->tries = (uint8_t)(op->tries < 32 ? op->tries + 1 : 32);
}

/* Sends the message of an operation, or asks for it. */
COLL_INLINE void coll_i_eth_tell(coll_ethernet *eth, coll_i_eth_op *op, uint32_t now)
{
    const bool sends = op->state == COLL_I_ETH_SENDS;
    unsigned kind = sends ? COLL_I_ETH_DATA : COLL_I_ETH_WANT;
    if (sends && op->tries != 0)
        kind |= COLL_I_ETH_AGAIN;
    if (coll_i_eth_put(eth, kind, op->peer, op->tag, op->number, op->from,
                       sends ? op->bytes : 0)) {
        coll_i_eth_later(eth, op, now);
    } else {
        op->due = now;
        eth->stuck = true;
    }
}

#endif /* COLL_TRANSPORTS_ETHERNET_ETHERNET_FRAMES_H */
