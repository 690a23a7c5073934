/* coll/comm/reliable_rank.h — collectives that survive f crashes: a rank, and its messages
 *
 * Use reliable.h, which says what for. A message is a head, which says what the call is and whether
 * a value comes, and the value: in the same message if it is short, else in messages behind it.
 * Between two ranks all go by one tag, in the order in which both have them to do; each that a rank
 * expects is sent, unless its sender is dead. So nothing is left over.
 */
#ifndef COLL_COMM_RELIABLE_RANK_H
#define COLL_COMM_RELIABLE_RANK_H

#include "recover.h"
#include "reliable_tree.h"

/* The head, in words of 64 bits. Behind it is the set of ranks that are in the value. */
enum {
    COLL_I_RELIABLE_NUMBER, /* which attempt, counted from 1 */
    COLL_I_RELIABLE_WHAT,   /* collective, root, and part of the call */
    COLL_I_RELIABLE_LENGTH, /* bytes of the value */
    COLL_I_RELIABLE_HAS,    /* 1: the value comes, or is asked for */
    COLL_I_RELIABLE_WHO
};

enum {
    COLL_I_RELIABLE_SHORT = 64, /* values of up to so many bytes go with the head */
    COLL_I_RELIABLE_ALIGN = 16, /* of values */
    COLL_I_RELIABLE_ERRORS =
        100 /* of operations with ranks that live, before a call is given up */
};

/* What a rank is at, in this order; the first six are parts of a call that messages belong to, too. */
typedef enum coll_i_reliable_part {
    COLL_I_RELIABLE_GROUP,  /* contributions go round in the group */
    COLL_I_RELIABLE_UP,     /* … and up the tree */
    COLL_I_RELIABLE_DOWN,   /* the value goes down */
    COLL_I_RELIABLE_ASK,    /* who has it is asked … */
    COLL_I_RELIABLE_ANSWER, /* … and answers */
    COLL_I_RELIABLE_FLUSH,  /* what was sent is on its way */
    COLL_I_RELIABLE_AGREE,  /* the survivors agree whether it went well */
    COLL_I_RELIABLE_IDLE    /* no call is under way */
} coll_i_reliable_part;

/* A message that is sent. */
typedef struct coll_i_reliable_send {
    uint64_t *head;             /* and a short value */
    const unsigned char *value; /* what is left of a long one … */
    size_t left;                /* … so many bytes, … */
    size_t piece;               /* … of which these are in flight */
    coll_handle handle;
    uint32_t to;
    bool headed; /* the head is sent */
    bool in_flight;
} coll_i_reliable_send;

/* A rank's part in collectives that survive crashes. The caller's memory, at a fixed place.
 * Private. */
typedef struct coll_reliable {
    coll_recovery *recovery; /* whose ranks, and agreement, these are */
    coll_span span;          /* its tag, among those of the recovery … */
    uint32_t first;          /* … without its use … */
    uint32_t tag;            /* … and with it */
    uint32_t f;              /* crashes survived */
    uint32_t set;            /* words of a set of ranks */
    coll_status status;      /* not COLL_OK: no call is possible any more */
    uint64_t number;         /* attempts so far */
    size_t room;             /* bytes of `sum` and of `came` */
    unsigned char *sum;      /* contributions combined so far */
    unsigned char *came;     /* another one */
    uint64_t *who;           /* the ranks that are in the value */
    uint64_t *heard;         /* the message that comes, or came last */
    uint32_t *member;        /* ranks that were not lost before the attempt */
    bool *gone;              /* of each rank: it is known to be dead */
    coll_i_reliable_send *sends;
    uint32_t n_sends;

    /* the call */
    coll_i_reliable_part part;
    coll_collective collective;
    coll_op op;
    const void *in;
    void *out;
    size_t count, bytes;
    uint32_t root;   /* a rank of the communicator; of an allreduce, this attempt's */
    uint32_t before; /* ranks that were lost before the call */
    /* the attempt */
    coll_i_reliable_tree tree;
    uint32_t x;           /* own position */
    uint32_t at;          /* of the root among the members */
    uint32_t i;           /* how far it is in this part */
    uint32_t error;       /* operations that failed */
    uint32_t waits;       /* tests that found nothing */
    bool whole;           /* `sum` lacks nobody that it should have */
    bool has;             /* `out` has the value */
    bool asked;           /* it had none when it asked */
    bool misses;          /* it noticed a death */
    coll_status given_up; /* this attempt, for that reason */
    /* the message that comes */
    coll_handle receive;
    size_t got, piece;      /* bytes of the value that are here; that are in flight */
    bool receiving, headed; /* it is in flight; its head is here */
    bool moved;             /* something happened since this was last set to false */
} coll_reliable;

/* Words of a message; messages that a rank sends in an attempt, at most: constant expressions. */
#define COLL_I_RELIABLE_WORDS(p)                                                               \
    ((size_t)COLL_I_RELIABLE_WHO + COLL_I_AGREE_SET(p) +                                       \
     COLL_I_RELIABLE_SHORT / sizeof(uint64_t))
#define COLL_I_RELIABLE_SENDS(f) (5 * (size_t)(f) + 34)
#define COLL_I_RELIABLE_ROUND(bytes)                                                           \
    (((size_t)(bytes) + COLL_I_RELIABLE_ALIGN - 1) / COLL_I_RELIABLE_ALIGN *                   \
     COLL_I_RELIABLE_ALIGN)
#define COLL_I_RELIABLE_FIXED(p, f)                                                            \
    (COLL_I_RELIABLE_ROUND(COLL_I_RELIABLE_SENDS(f) * sizeof(coll_i_reliable_send)) +          \
     ((COLL_I_RELIABLE_SENDS(f) + 1) * COLL_I_RELIABLE_WORDS(p) + COLL_I_AGREE_SET(p)) *       \
         sizeof(uint64_t) +                                                                    \
     (size_t)(p) * (sizeof(uint32_t) + sizeof(bool)) + 2 * COLL_I_RELIABLE_ALIGN)

/* ---- ranks ----------------------------------------------------------------------------------- */

COLL_INLINE coll_comm *coll_i_reliable_comm(const coll_reliable *r)
{
    return r->recovery->comm;
}

COLL_INLINE const coll_transport *coll_i_reliable_transport(const coll_reliable *r)
{
    return r->recovery->comm->transport;
}

/* The rank at a position. */
COLL_INLINE uint32_t coll_i_reliable_at(const coll_reliable *r, uint32_t x)
{
    return r->member[coll_mod_add(r->at, x, r->tree.q)];
}

COLL_INLINE uint32_t coll_i_reliable_outer(const coll_reliable *r, uint32_t rank)
{
    return coll_group_outer(&coll_i_reliable_comm(r)->group, rank);
}

/* Asks the transport whether a rank is dead. */
COLL_INLINE bool coll_i_reliable_is_dead(coll_reliable *r, uint32_t rank)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    if (!r->gone[rank] &&
        comm->transport->failure->dead(comm->ctx, coll_i_reliable_outer(r, rank)))
        r->gone[rank] = r->misses = r->moved = true;
    return r->gone[rank];
}

/* A test of an operation with a rank found nothing: now and then the transport is asked. */
COLL_INLINE bool coll_i_reliable_look(coll_reliable *r, uint32_t rank)
{
    enum { TESTS = 16 };
    return ++r->waits % TESTS == 0 && coll_i_reliable_is_dead(r, rank);
}

/* Bytes of a message that go at once, to or from a rank. */
COLL_INLINE size_t coll_i_reliable_piece(const coll_reliable *r, uint32_t rank, size_t bytes)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    const coll_transport *way = comm->transport;
    if (COLL_ROUTES && way->routes)
        way = way->routes->to(comm->ctx, coll_i_reliable_outer(r, rank));
    return way && way->max_bytes != 0 && way->max_bytes < bytes ? way->max_bytes : bytes;
}

/* Does the value go with the head? */
COLL_INLINE bool coll_i_reliable_is_short(const coll_reliable *r)
{
    return r->bytes <= COLL_I_RELIABLE_SHORT;
}

/* Words of a head with its set. */
COLL_INLINE size_t coll_i_reliable_head(const coll_reliable *r)
{
    return (size_t)COLL_I_RELIABLE_WHO + r->set;
}

/* Bytes of a message of this part, without a long value. */
COLL_INLINE size_t coll_i_reliable_message(const coll_reliable *r, coll_i_reliable_part part)
{
    const size_t head = coll_i_reliable_head(r) * sizeof(uint64_t);
    return part != COLL_I_RELIABLE_ASK && coll_i_reliable_is_short(r) ? head + r->bytes : head;
}

COLL_INLINE uint64_t coll_i_reliable_what(const coll_reliable *r, coll_i_reliable_part part)
{
    return (uint64_t)r->root << 32 | (uint64_t)r->collective << 8 | (uint64_t)part;
}

COLL_INLINE void coll_i_reliable_copy(void *to, const void *from, size_t bytes)
{
    if (bytes != 0)
        COLL_COPY(to, from, bytes);
}

/* ---- giving up ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_reliable_cancel(coll_reliable *r, coll_handle *h, bool *in_flight)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    if (*in_flight)
        comm->transport->failure->cancel(comm->ctx, h);
    *in_flight = false;
}

COLL_INLINE void coll_i_reliable_cancel_all(coll_reliable *r)
{
    coll_i_reliable_cancel(r, &r->receive, &r->receiving);
    for (uint32_t i = 0; i < r->n_sends; i++)
        coll_i_reliable_cancel(r, &r->sends[i].handle, &r->sends[i].in_flight);
    r->n_sends = 0;
}

/* This rank cannot end the attempt. All others are told, and agree that it failed. */
COLL_INLINE void coll_i_reliable_give_up(coll_reliable *r, coll_status status)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    r->given_up = status;
    comm->transport->failure->abort(comm->ctx, r->first, 1);
    coll_i_reliable_cancel_all(r);
    r->part = COLL_I_RELIABLE_FLUSH;
    r->moved = true;
}

/* An operation with a rank ended with an error. Either the rank is dead, or the operation is tried
 * again, or, after many, the attempt is given up. */
COLL_INLINE void coll_i_reliable_miss(coll_reliable *r, uint32_t rank, coll_status status)
{
    if (!coll_i_reliable_is_dead(r, rank) &&
        (status == COLL_ERR_SIZE || ++r->error > COLL_I_RELIABLE_ERRORS))
        coll_i_reliable_give_up(r, status);
}

/* How an operation ended, or stands: COLL_AGAIN while it is in flight. After an error it is
 * over. */
COLL_INLINE coll_status coll_i_reliable_poll(coll_reliable *r, coll_handle *h, bool *in_flight)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    const coll_status status = comm->transport->test(comm->ctx, h);
    if (status == COLL_OK)
        *in_flight = false;
    else if (status < 0)
        coll_i_reliable_cancel(r, h, in_flight);
    return status;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Sends the value, or that there is none, to a position: from now on until coll_i_reliable_flush is
 * done, it does not change. */
COLL_INLINE void coll_i_reliable_tell(coll_reliable *r, uint32_t x, coll_i_reliable_part part,
                                      const void *value, bool has)
{
    coll_i_reliable_send *send = &r->sends[r->n_sends++];
    uint64_t *head = send->head;
    const bool brief = coll_i_reliable_is_short(r);
    head[COLL_I_RELIABLE_NUMBER] = r->number;
    head[COLL_I_RELIABLE_WHAT] = coll_i_reliable_what(r, part);
    head[COLL_I_RELIABLE_LENGTH] = r->bytes;
    head[COLL_I_RELIABLE_HAS] = has;
    for (uint32_t i = 0; i < r->set; i++)
        head[COLL_I_RELIABLE_WHO + i] = r->who[i];
    has = has && part != COLL_I_RELIABLE_ASK;
    if (has && brief)
        coll_i_reliable_copy(head + coll_i_reliable_head(r), value, r->bytes);
    send->value = (const unsigned char *)value;
    send->left = has && !brief ? r->bytes : 0;
    send->piece = coll_i_reliable_message(r, part);
    send->to = coll_i_reliable_at(r, x);
    send->headed = send->in_flight = false;
}

/* Moves a message on. True: it is on its way, or its receiver is dead. */
COLL_INLINE bool coll_i_reliable_send_on(coll_reliable *r, coll_i_reliable_send *send)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    while (!send->headed || send->left != 0) {
        coll_status status;
        if (r->gone[send->to]) {
            coll_i_reliable_cancel(r, &send->handle, &send->in_flight);
            send->headed = true;
            send->left = 0;
            return true;
        }
        if (send->in_flight) {
            status = coll_i_reliable_poll(r, &send->handle, &send->in_flight);
        } else {
            if (send->headed)
                send->piece = coll_i_reliable_piece(r, send->to, send->left);
            send->handle.word[0] = send->handle.word[1] = 0;
            status = comm->transport->send(
                comm->ctx, coll_i_reliable_outer(r, send->to), r->tag,
                send->headed ? (const void *)send->value : (const void *)send->head,
                send->piece, &send->handle);
            send->in_flight = status == COLL_STARTED;
        }
        if (status < 0)
            coll_i_reliable_miss(r, send->to, status);
        else if (status == COLL_AGAIN)
            coll_i_reliable_look(r, send->to);
        if (status != COLL_OK)
            return false;
        r->moved = true;
        if (send->headed) {
            send->value += send->piece;
            send->left -= send->piece;
        }
        send->headed = true;
    }
    return true;
}

/* Is a message on its way, or its receiver dead? */
COLL_INLINE bool coll_i_reliable_is_sent(const coll_i_reliable_send *send)
{
    return send->headed && send->left == 0;
}

/* Moves all messages on; those to one rank go one after the other. True: all are on their way. */
COLL_INLINE bool coll_i_reliable_flush(coll_reliable *r)
{
    bool all = true;
    for (uint32_t i = 0; i < r->n_sends; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i && first && !coll_i_reliable_is_sent(&r->sends[i]); k++)
            first = r->sends[k].to != r->sends[i].to || coll_i_reliable_is_sent(&r->sends[k]);
        all = first && coll_i_reliable_send_on(r, &r->sends[i]) && all;
    }
    return all;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The message is over, and the next one may come. */
COLL_INLINE coll_status coll_i_reliable_over(coll_reliable *r, bool has)
{
    r->heard[COLL_I_RELIABLE_HAS] = has;
    r->headed = false;
    r->moved = true;
    return COLL_OK;
}

/* Is the head that came the one that this part of the call has? */
COLL_INLINE coll_status coll_i_reliable_fits(const coll_reliable *r, coll_i_reliable_part part)
{
    if (r->heard[COLL_I_RELIABLE_NUMBER] != r->number ||
        r->heard[COLL_I_RELIABLE_WHAT] != coll_i_reliable_what(r, part))
        return COLL_ERR_STATE; /* the ranks called something else */
    return r->heard[COLL_I_RELIABLE_LENGTH] == r->bytes ? COLL_OK : COLL_ERR_SIZE;
}

/* Starts to receive a head, or what of a value comes next. */
COLL_INLINE coll_status coll_i_reliable_listen(coll_reliable *r, uint32_t rank,
                                               coll_i_reliable_part part, void *into)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    coll_status status;
    void *to = r->heard;
    r->piece = coll_i_reliable_message(r, part);
    if (r->headed) {
        to = (unsigned char *)into + r->got;
        r->piece = coll_i_reliable_piece(r, rank, r->bytes - r->got);
    }
    r->receive.word[0] = r->receive.word[1] = 0;
    status = comm->transport->recv(comm->ctx, coll_i_reliable_outer(r, rank), r->tag, to,
                                   r->piece, &r->receive);
    r->receiving = status == COLL_STARTED;
    return status;
}

/* Receives what a position has to say in this part, and its value, if it has one, into memory.
 * COLL_OK: `heard` says whether; a rank that is dead has none. COLL_AGAIN: it is not here yet, or
 * the attempt was given up. */
COLL_INLINE coll_status coll_i_reliable_hear(coll_reliable *r, uint32_t x,
                                             coll_i_reliable_part part, void *into)
{
    const uint32_t rank = coll_i_reliable_at(r, x);
    for (;;) {
        coll_status status;
        if (r->gone[rank]) {
            coll_i_reliable_cancel(r, &r->receive, &r->receiving);
            return coll_i_reliable_over(r, false);
        }
        status = r->receiving ? coll_i_reliable_poll(r, &r->receive, &r->receiving)
                              : coll_i_reliable_listen(r, rank, part, into);
        if (status < 0) {
            coll_i_reliable_miss(r, rank, status);
            if (r->gone[rank])
                continue;
            return COLL_AGAIN;
        }
        if (status == COLL_STARTED)
            continue;
        if (status == COLL_AGAIN) {
            if (coll_i_reliable_look(r, rank))
                continue;
            return COLL_AGAIN;
        }
        r->moved = true;
        if (r->headed) {
            r->got += r->piece;
        } else {
            status = coll_i_reliable_fits(r, part);
            if (status != COLL_OK) {
                coll_i_reliable_give_up(r, status);
                return COLL_AGAIN;
            }
            if (r->heard[COLL_I_RELIABLE_HAS] == 0 || part == COLL_I_RELIABLE_ASK)
                return coll_i_reliable_over(r, r->heard[COLL_I_RELIABLE_HAS] != 0);
            if (coll_i_reliable_is_short(r)) {
                coll_i_reliable_copy(into, r->heard + coll_i_reliable_head(r), r->bytes);
                return coll_i_reliable_over(r, true);
            }
            r->headed = true;
            r->got = 0;
        }
        if (r->got == r->bytes)
            return coll_i_reliable_over(r, true);
    }
}

#endif /* COLL_COMM_RELIABLE_RANK_H */
