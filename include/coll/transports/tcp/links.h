/* coll/transports/tcp/links.h — ranks joined by TCP: what a rank knows of the others, and its operations
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_LINKS_H
#define COLL_TRANSPORTS_TCP_LINKS_H

#include <stdlib.h>
#include <string.h>

#include "../../transport.h"
#include "../sleeper.h"

/* Bytes of messages that a rank which does not receive keeps, of all others together, … */
#ifndef COLL_TCP_KEEPS
#define COLL_TCP_KEEPS 1048576u
#endif
/* … but at least so many of each, and at most four times as many: a peer's credit. */
#ifndef COLL_TCP_CREDIT
#define COLL_TCP_CREDIT 65536u
#endif

enum {
    COLL_TCP_SECRET = 16,         /* bytes that the ranks of a job know, and nobody else */
    COLL_TCP_WHY = 200,           /* bytes of a sentence about what went wrong */
    COLL_I_TCP_HEAD = 32,         /* … of a frame's head */
    COLL_I_TCP_KEPT = 64,         /* … that a kept message counts for beside its own */
    COLL_I_TCP_CHUNK = 1 << 18,   /* … of a frame behind it */
    COLL_I_TCP_STAGING = 1 << 15, /* … that are read at once, but into receives */
    COLL_I_TCP_LONG =
        4096, /* … of a receive that is read into before its message is known, at least */
    COLL_I_TCP_TOGETHER = 512, /* … that are copied to be sent as one piece, at most */
    COLL_I_TCP_SHORT = 6,      /* … of an IPv4 address and a port */
    COLL_I_TCP_OPS = 64,       /* operations that are allocated at once */
    COLL_I_TCP_OPS_MOST = 1 << 16,
    COLL_I_TCP_STRANGERS = 32 /* connections that have not said yet who they are */
};

/* Where a rank listens. All numbers but the address itself are in the byte order of the machine: all ranks
 * have the same. */
typedef struct coll_tcp_address {
    uint8_t ip[16]; /* an IPv4 address in the first four */
    uint32_t
        scope; /* of a link-local IPv6 address: the number of its interface, this machine's */
    uint16_t port;    /* where it listens */
    uint16_t family;  /* 4 or 6; 0: none */
    uint64_t machine; /* coll_machine, to know who shares its processors; 0: unknown */
} coll_tcp_address;

typedef enum coll_i_tcp_state {
    COLL_I_TCP_QUEUED,  /* a send: its next frame waits for those before it */
    COLL_I_TCP_WAITING, /* … has announced itself, and waits for its receive */
    COLL_I_TCP_POSTED,  /* a receive: no message yet */
    COLL_I_TCP_ARRIVING,
    COLL_I_TCP_OVER, /* by its status */
    COLL_I_TCP_FREE
} coll_i_tcp_state;

typedef struct coll_i_tcp_op {
    struct coll_i_tcp_op *next; /* in the list that it is in */
    struct coll_i_tcp_link *link;
    unsigned char *buf; /* of a send it is only read */
    size_t bytes, done; /* done: written to the connection, or arrived */
    uint32_t tag;
    uint32_t id;    /* its number in frames: index, and how often that was used */
    uint32_t other; /* a send: the receive's number; a receive: the send's */
    uint32_t round; /* of tests, in which it was last asked for */
    uint8_t state;
    bool sends, begun; /* begun: a send's first frame was written */
    bool called;       /* a send: its receive is there, and its first frame not yet written */
    bool given_up;     /* a receive: what is still to come is dropped */
    coll_status status;
} coll_i_tcp_op;

/* A message that came before its receive: all of it, or its beginning. */
typedef struct coll_i_tcp_unexpected {
    struct coll_i_tcp_unexpected *next;
    size_t bytes;        /* of the message */
    uint32_t part, have; /* that come before its receive, and that have come */
    uint32_t tag, id;    /* the send's number */
    bool waits;          /* its send waits for a receive … */
    bool given_up;       /* … or does no more */
} coll_i_tcp_unexpected;

COLL_INLINE unsigned char *coll_i_tcp_unexpected_data(coll_i_tcp_unexpected *one)
{
    return (unsigned char *)(one + 1);
}

/* How far the connection with a peer is. */
typedef enum coll_i_tcp_stage {
    COLL_I_TCP_AWAY, /* there is none: this rank makes one, or waits for the peer's, until … */
    COLL_I_TCP_CONNECTING, /* the system is at it */
    COLL_I_TCP_CHALLENGED, /* connected: the peer's challenge is to come */
    COLL_I_TCP_GREETED,    /* … was answered: the peer's welcome is to come */
    COLL_I_TCP_UP,
    COLL_I_TCP_LEFT, /* the peer said that it is done; nothing more comes */
    COLL_I_TCP_DEAD
} coll_i_tcp_stage;

/* What was read of a greeting, of at most 40 bytes. */
typedef struct coll_i_tcp_greeting {
    unsigned char bytes[40];
    unsigned char nonce[16], challenge[16]; /* this side's, and the other's */
    uint32_t have;
} coll_i_tcp_greeting;

/* A list that is added to at its end. */
typedef struct coll_i_tcp_queue {
    coll_i_tcp_op *first, **end;
} coll_i_tcp_queue;

typedef struct coll_i_tcp_link {
    uint32_t peer;
    int fd; /* −1: none */
    coll_i_tcp_stage stage;
    uint32_t
        watched; /* for what fd is in the sleeper's set: 1: reading, 2: writing, too; 0: it is not */
    uint32_t ended; /* operations that are over, which nobody was told yet */
    uint64_t
        deadline;  /* ms: of the stage; AWAY: when this rank connects, if the peer has not */
    bool expected; /* the peer says that its own connection comes */

    coll_i_tcp_greeting greeting;

    /* Writing: the frame that is on its way, and what goes before the next one. */
    unsigned char head[COLL_I_TCP_HEAD];
    uint32_t head_left;        /* bytes of it that are not written … */
    const unsigned char *body; /* … and behind it */
    size_t body_left;
    bool middle;            /* the frame was begun */
    bool blocked;           /* the connection took less than it was given */
    coll_i_tcp_op *writing; /* whose frame it is; NULL: nobody's, the body is `copy` */
    unsigned char *copy;    /* of the rest of a frame whose send was given up */
    unsigned char *control; /* frames without bodies, … */
    uint32_t control_from, control_to, control_room; /* … those that are not written */
    coll_i_tcp_queue sending;                        /* sends with a frame to write */
    coll_i_tcp_queue waiting;                        /* … that wait for their receives */
    size_t credit;  /* bytes that may be sent before they are received … */
    size_t allowed; /* … if all that was sent is received */

    /* Reading */
    coll_i_tcp_queue receiving; /* receives, in the order in which they were started */
    coll_i_tcp_unexpected *kept, **kept_end;
    unsigned char in_head[COLL_I_TCP_HEAD];
    uint32_t in_have;               /* bytes of it */
    size_t in_left;                 /* bytes of the frame that are still to come … */
    unsigned char *into;            /* … for this address; NULL: they are dropped */
    coll_i_tcp_op *in_op;           /* whose they are, … */
    coll_i_tcp_unexpected *in_kept; /* … or this one's, or nobody's */
    size_t in_credit;               /* given back when the frame has come */
    size_t owed;                    /* bytes of credit that the peer has not been told of */
    size_t taken;                   /* … and that it uses */
} coll_i_tcp_link;

/* Somebody who has connected, and is still to say who that is. */
typedef struct coll_i_tcp_stranger {
    int fd;           /* −1: none */
    uint32_t watched; /* as of a link */
    uint64_t deadline;
    coll_i_tcp_greeting greeting;
} coll_i_tcp_stranger;

/* Tags that were aborted. */
typedef struct coll_i_tcp_aborted {
    uint32_t first, tags;
} coll_i_tcp_aborted;

/* What may be asked of coll_tcp_open; zeroed is well. */
typedef struct coll_tcp_options {
    /* Where to listen: names of interfaces or prefixes, with commas between them, of which the first
     * that this machine has is taken: "eth0", "10.1.0.0/16,fd00::/8". NULL: the first that is up and is
     * not loopback, else loopback. */
    const char *interfaces;
    uint16_t port; /* 0: any that is free */
    const unsigned char
        *secret; /* COLL_TCP_SECRET bytes; NULL: zeros, and whoever can connect may */
    uint32_t
        patience; /* ms until a connection must be there, or a lost peer is noticed; 0: 10000 */
    uint32_t
        ranks_here; /* ranks on this machine; 0: those that say they are, or have the same address */
} coll_tcp_options;

/* A rank's end; all of it is private. */
typedef struct coll_tcp {
    uint32_t rank, p;
    int listener;
    uint32_t patience, ranks_here; /* as in the options */
    unsigned char secret[COLL_TCP_SECRET];
    coll_tcp_address own;
    unsigned char *addresses; /* of all ranks; NULL before coll_tcp_join … */
    uint32_t address_bytes;   /* … of each: COLL_I_TCP_SHORT, if all have IPv4 */
    coll_i_tcp_link **links;  /* by rank; NULL: this rank has nothing to do with it */
    coll_i_tcp_link **list;   /* those that there are */
    uint32_t n_links;
    void *polled; /* struct pollfd of each of them, of strangers and of the listener */
    coll_i_tcp_stranger strangers[COLL_I_TCP_STRANGERS];
    uint32_t n_strangers, turned_away; /* connections that were not one of the job's ranks */
    coll_i_tcp_op **ops;               /* all of them, COLL_I_TCP_OPS together */
    uint32_t n_ops;
    coll_i_tcp_op *unused;
    uint32_t round, sweeps;
    coll_i_tcp_aborted *aborted;
    uint32_t n_aborted, aborted_room;
    coll_claims claims;
    coll_misfit misfit;
    coll_idle idle;
    coll_sleeper sleeper; /* of who sleeps (descriptor.h) */
    bool news;   /* tags were aborted, or there was no memory, since arm was last called */
    size_t kept; /* bytes of messages that are kept for their receives */
    unsigned char *staging;
} coll_tcp;

/* Bytes of messages to a peer that may be on their way or kept for its receives, in a job of p ranks: what a
 * rank that does not receive keeps of each other one. */
COLL_INLINE uint32_t coll_tcp_credit(uint32_t p)
{
    const uint32_t share = p ? COLL_TCP_KEEPS / p : COLL_TCP_KEEPS;
    if (share < COLL_TCP_CREDIT)
        return COLL_TCP_CREDIT;
    return share < 4 * COLL_TCP_CREDIT ? share : 4 * COLL_TCP_CREDIT;
}

/* ---- lists ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_tcp_queue_init(coll_i_tcp_queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

COLL_INLINE void coll_i_tcp_append(coll_i_tcp_queue *queue, coll_i_tcp_op *op)
{
    op->next = NULL;
    *queue->end = op;
    queue->end = &op->next;
}

/* Takes an operation out, if it is there. */
COLL_INLINE bool coll_i_tcp_remove(coll_i_tcp_queue *queue, coll_i_tcp_op *op)
{
    coll_i_tcp_op **at = &queue->first;
    while (*at && *at != op)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = op->next;
    if (queue->end == &op->next)
        queue->end = at;
    return true;
}

/* ---- operations -------------------------------------------------------------------------- */

/* One that is free; NULL: there is no memory. */
COLL_INLINE coll_i_tcp_op *coll_i_tcp_op_take(coll_tcp *tcp, coll_i_tcp_link *link, bool sends,
                                              uint32_t tag, void *buf, size_t bytes)
{
    coll_i_tcp_op *op = tcp->unused;
    if (!op) {
        const uint32_t chunks = tcp->n_ops / COLL_I_TCP_OPS;
        void *table, *more;
        if (tcp->n_ops == COLL_I_TCP_OPS_MOST)
            return NULL;
        table = realloc(tcp->ops, (chunks + 1) * sizeof *tcp->ops);
        if (!table)
            return NULL;
        tcp->ops = (coll_i_tcp_op **)table;
        more = malloc(COLL_I_TCP_OPS * sizeof **tcp->ops);
        if (!more)
            return NULL;
        tcp->ops[chunks] = (coll_i_tcp_op *)more;
        for (uint32_t i = COLL_I_TCP_OPS; i-- > 0;) {
            op = &tcp->ops[chunks][i];
            op->id = tcp->n_ops + i;
            op->state = COLL_I_TCP_FREE;
            op->next = tcp->unused;
            tcp->unused = op;
        }
        tcp->n_ops += COLL_I_TCP_OPS;
    }
    op = tcp->unused;
    tcp->unused = op->next;
    op->id += COLL_I_TCP_OPS_MOST;
    op->link = link;
    op->sends = sends;
    op->begun = op->called = op->given_up = false;
    op->state = sends ? COLL_I_TCP_QUEUED : COLL_I_TCP_POSTED;
    op->tag = tag;
    op->buf = (unsigned char *)buf;
    op->bytes = bytes;
    op->done = 0;
    op->other = 0;
    op->round = tcp->round - 1;
    op->status = COLL_AGAIN;
    return op;
}

COLL_INLINE void coll_i_tcp_op_give(coll_tcp *tcp, coll_i_tcp_op *op)
{
    op->link->ended -= op->state == COLL_I_TCP_OVER;
    op->state = COLL_I_TCP_FREE;
    op->next = tcp->unused;
    tcp->unused = op;
}

/* The operation of a number that came from a peer; NULL: it has none such. */
COLL_INLINE coll_i_tcp_op *coll_i_tcp_op_of(const coll_tcp *tcp, const coll_i_tcp_link *link,
                                            uint32_t id, bool sends)
{
    const uint32_t index = id % COLL_I_TCP_OPS_MOST;
    coll_i_tcp_op *op;
    if (index >= tcp->n_ops)
        return NULL;
    op = &tcp->ops[index / COLL_I_TCP_OPS][index % COLL_I_TCP_OPS];
    return op->id == id && op->link == link && op->sends == sends &&
                   op->state != COLL_I_TCP_FREE
               ? op
               : NULL;
}

COLL_INLINE void coll_i_tcp_end(coll_i_tcp_op *op, coll_status status)
{
    op->link->ended += op->state != COLL_I_TCP_OVER;
    op->state = COLL_I_TCP_OVER;
    op->status = status;
}

/* ---- tags -------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_tcp_is_aborted(const coll_tcp *tcp, uint32_t tag)
{
    for (uint32_t i = 0; i < tcp->n_aborted; i++)
        if (coll_i_tags_are_among(coll_claim_tag(tag), 1, tcp->aborted[i].first,
                                  tcp->aborted[i].tags))
            return true;
    return false;
}

/* Are two tags the same channel? */
COLL_INLINE bool coll_i_tcp_same_channel(uint32_t a, uint32_t b)
{
    return coll_claim_tag(a) == coll_claim_tag(b);
}

#endif /* COLL_TRANSPORTS_TCP_LINKS_H */
