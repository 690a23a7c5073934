/* coll/comm/agree_rank.h — the survivors of a communicator agree: what a rank knows, and its messages
 *
 * Use recover.h; agree.h says what for.
 */
#ifndef COLL_COMM_AGREE_RANK_H
#define COLL_COMM_AGREE_RANK_H

#include "request.h"

/* Tags, from the first one on: of the brief form, of the receive that notices its end, and of the long one. */
enum {
    COLL_I_AGREE_BRIEF_TAG,
    COLL_I_AGREE_WATCH_TAG,
    COLL_I_AGREE_LONG_TAG,
    COLL_I_AGREE_TAGS
};

/* What a rank says, in words of 64 bits. Behind them are its view, and the lost ranks of its lock. */
enum {
    COLL_I_AGREE_NUMBER, /* which agreement, counted from 1 */
    COLL_I_AGREE_PHASE,
    COLL_I_AGREE_LOCK, /* 1 + ranks of the view in which it locked last; 0: it has not */
    COLL_I_AGREE_FLAGS,
    COLL_I_AGREE_VIEW
};

enum { COLL_I_AGREE_A, COLL_I_AGREE_B, COLL_I_AGREE_DECIDED }; /* phases */

typedef enum coll_i_agree_state {
    COLL_I_AGREE_IDLE,   /* no agreement is under way */
    COLL_I_AGREE_BRIEF,  /* the first view, by dissemination */
    COLL_I_AGREE_LONG,   /* views by messages from all to all */
    COLL_I_AGREE_TELLING /* it is decided, or of no interest, and the others are told */
} coll_i_agree_state;

/* What a rank knows of another one. */
typedef struct coll_i_agree_peer {
    uint64_t *heard; /* its last message; number 0: none */
    uint64_t *in;    /* what is received from it */
    uint64_t *out;   /* what is sent to it */
    coll_handle receive, send;
    bool receiving, sending; /* these are in flight */
    bool stale;              /* it has not been sent what this rank says now */
    bool dead;
    uint8_t errors; /* of operations with it, while it was not dead */
} coll_i_agree_peer;

/* A rank's part in the agreements of a communicator. Private. */
typedef struct coll_i_agree {
    const coll_transport *transport;
    void *ctx;
    const coll_group *group;
    uint32_t rank, p;
    uint32_t set;   /* words of a set of ranks */
    uint32_t first; /* tag, without its use … */
    uint32_t tag;   /* … and with it */
    coll_i_agree_state state;
    coll_status status; /* not COLL_OK: this rank cannot take part any more */
    uint64_t *mine;     /* what it says */
    coll_i_agree_peer *peers;
    uint32_t round;  /* of the brief form: 0 … 2 · ⌈log₂ p⌉ − 1, or half of it … */
    uint32_t rounds; /* … to close */
    uint32_t next;   /* whom to look after next */
    uint32_t passes; /* of progress between agreements, in which it may look at `watch` */
    bool brief;      /* nobody has aborted the brief tag, as far as this rank knows */
    bool owes;       /* it returned from a brief agreement */
    bool started;    /* the messages of this round are */
    bool watching; /* the receive by which it notices that others need an answer is in flight */
    bool closing;
    bool moved; /* something happened since this was last set to false */
    coll_handle watch;
} coll_i_agree;

/* Words of a message, and the set behind its head: constant expressions of p. */
#define COLL_I_AGREE_SET(p)   (((size_t)(p) + 63) / 64)
#define COLL_I_AGREE_WORDS(p) ((size_t)COLL_I_AGREE_VIEW + 2 * COLL_I_AGREE_SET(p))
#define COLL_I_AGREE_ALIGN                                                                     \
    (sizeof(void *) > sizeof(uint64_t) ? sizeof(void *) : sizeof(uint64_t))
#define COLL_I_AGREE_BYTES(p)                                                                  \
    ((size_t)(p) * sizeof(coll_i_agree_peer) +                                                 \
     (3 * (size_t)(p) + 1) * COLL_I_AGREE_WORDS(p) * sizeof(uint64_t))

/* ---- sets and messages ------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_agree_has(const uint64_t *set, uint32_t rank)
{
    return (set[rank / 64] >> rank % 64 & 1) != 0;
}

COLL_INLINE size_t coll_i_agree_bytes(const coll_i_agree *a)
{
    return (COLL_I_AGREE_VIEW + 2 * (size_t)a->set) * sizeof(uint64_t);
}

COLL_INLINE uint64_t *coll_i_agree_view(const coll_i_agree *a)
{
    return a->mine + COLL_I_AGREE_VIEW;
}

/* The lost ranks of what this rank has locked. */
COLL_INLINE uint64_t *coll_i_agree_lost(const coll_i_agree *a)
{
    return a->mine + COLL_I_AGREE_VIEW + a->set;
}

COLL_INLINE bool coll_i_agree_same_view(const coll_i_agree *a, const uint64_t *message)
{
    for (uint32_t i = 0; i < a->set; i++)
        if (message[COLL_I_AGREE_VIEW + i] != a->mine[COLL_I_AGREE_VIEW + i])
            return false;
    return true;
}

/* Has a peer told this rank anything in this agreement? */
COLL_INLINE bool coll_i_agree_is_heard(const coll_i_agree *a, const coll_i_agree_peer *peer)
{
    return peer->heard[COLL_I_AGREE_NUMBER] == a->mine[COLL_I_AGREE_NUMBER];
}

/* Combines what another rank brings with what this one does. */
COLL_INLINE void coll_i_agree_combine(coll_i_agree *a, const uint64_t *message)
{
    uint64_t *mine = a->mine;
    if (message[COLL_I_AGREE_LOCK] > mine[COLL_I_AGREE_LOCK]) {
        mine[COLL_I_AGREE_LOCK] = message[COLL_I_AGREE_LOCK];
        mine[COLL_I_AGREE_FLAGS] = message[COLL_I_AGREE_FLAGS];
        for (uint32_t i = 0; i < a->set; i++)
            coll_i_agree_lost(a)[i] = message[COLL_I_AGREE_VIEW + a->set + i];
    } else if (mine[COLL_I_AGREE_LOCK] == 0) {
        mine[COLL_I_AGREE_FLAGS] &= message[COLL_I_AGREE_FLAGS];
    }
}

/* Locks what the members of this view have brought, and goes on with phase B. */
COLL_INLINE void coll_i_agree_lock(coll_i_agree *a)
{
    uint64_t *mine = a->mine;
    uint64_t lock = 1;
    for (uint32_t i = 0; i < a->set; i++)
        for (uint64_t its = coll_i_agree_view(a)[i]; its != 0; its &= its - 1)
            lock++;
    for (uint32_t i = 0; mine[COLL_I_AGREE_LOCK] == 0 && i < a->set; i++)
        coll_i_agree_lost(a)[i] = coll_i_agree_view(a)[i];
    mine[COLL_I_AGREE_LOCK] = lock;
    mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_B;
}

/* ---- peers ------------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_agree_cancel(coll_i_agree *a, coll_handle *h, bool *in_flight)
{
    if (*in_flight)
        a->transport->failure->cancel(a->ctx, h);
    *in_flight = false;
}

/* A rank is dead: the view grows, and phase A begins again. */
COLL_INLINE void coll_i_agree_bury(coll_i_agree *a, uint32_t rank)
{
    coll_i_agree_peer *peer = &a->peers[rank];
    coll_i_agree_cancel(a, &peer->receive, &peer->receiving);
    coll_i_agree_cancel(a, &peer->send, &peer->sending);
    peer->dead = a->moved = true;
    if (a->state == COLL_I_AGREE_TELLING || coll_i_agree_has(coll_i_agree_view(a), rank))
        return;
    coll_i_agree_view(a)[rank / 64] |= (uint64_t)1 << rank % 64;
    a->mine[COLL_I_AGREE_PHASE] = COLL_I_AGREE_A;
    for (uint32_t i = 0; i < a->p; i++)
        a->peers[i].stale = true;
}

/* Asks the transport whether a rank is dead. */
COLL_INLINE bool coll_i_agree_look(coll_i_agree *a, uint32_t rank)
{
    if (rank == a->rank)
        return false;
    if (!a->peers[rank].dead &&
        a->transport->failure->dead(a->ctx, coll_group_outer(a->group, rank)))
        coll_i_agree_bury(a, rank);
    return a->peers[rank].dead;
}

/* An operation with a peer ended with an error. Either the peer is dead, or was given up by it and is
 * tried again, or, after many, this rank cannot go on. */
COLL_INLINE void coll_i_agree_miss(coll_i_agree *a, uint32_t rank, coll_status status)
{
    enum { MOST = 100 };
    if (!coll_i_agree_look(a, rank) && ++a->peers[rank].errors > MOST && a->status == COLL_OK)
        a->status = status;
}

COLL_INLINE coll_status coll_i_agree_receive(coll_i_agree *a, uint32_t rank, uint32_t tag)
{
    coll_i_agree_peer *peer = &a->peers[rank];
    coll_status status;
    peer->receive.word[0] = peer->receive.word[1] = 0;
    status = a->transport->recv(a->ctx, coll_group_outer(a->group, rank), a->tag + tag,
                                peer->in, coll_i_agree_bytes(a), &peer->receive);
    peer->receiving = status == COLL_STARTED;
    return status;
}

COLL_INLINE coll_status coll_i_agree_send(coll_i_agree *a, uint32_t rank, uint32_t tag)
{
    coll_i_agree_peer *peer = &a->peers[rank];
    coll_status status;
    COLL_COPY(peer->out, a->mine, coll_i_agree_bytes(a));
    peer->send.word[0] = peer->send.word[1] = 0;
    status = a->transport->send(a->ctx, coll_group_outer(a->group, rank), a->tag + tag,
                                peer->out, coll_i_agree_bytes(a), &peer->send);
    peer->sending = status == COLL_STARTED;
    return status;
}

/* How an operation in flight stands: COLL_OK if there is none. */
COLL_INLINE coll_status coll_i_agree_test(coll_i_agree *a, coll_handle *h, bool *in_flight)
{
    coll_status status = COLL_OK;
    if (*in_flight) {
        status = a->transport->test(a->ctx, h);
        if (status == COLL_OK) {
            *in_flight = false;
            a->moved = true;
        } else if (status < 0) {
            coll_i_agree_cancel(a, h, in_flight);
        }
    }
    return status;
}

/* ---- beginning and end ------------------------------------------------------------------------- */

/* Makes the part of a rank, in memory of COLL_I_AGREE_BYTES(p), aligned to COLL_I_AGREE_ALIGN. */
COLL_INLINE void coll_i_agree_init(coll_i_agree *a, const coll_comm *comm, uint32_t first_tag,
                                   uint32_t use, void *memory)
{
    coll_i_agree_peer *const peers = (coll_i_agree_peer *)memory;
    uint64_t *words = (uint64_t *)(void *)(peers + comm->p);
    const size_t message = COLL_I_AGREE_WORDS(comm->p);
    a->transport = comm->transport;
    a->ctx = comm->ctx;
    a->group = &comm->group;
    a->rank = comm->rank;
    a->p = comm->p;
    a->set = (uint32_t)COLL_I_AGREE_SET(comm->p);
    a->first = first_tag;
    a->tag = first_tag + use;
    a->state = COLL_I_AGREE_IDLE;
    a->status = COLL_OK;
    a->round = a->rounds = a->next = a->passes = 0;
    while ((uint64_t)1 << a->rounds < a->p)
        a->rounds++;
    a->brief = true;
    a->owes = a->started = a->watching = a->closing = a->moved = false;
    a->mine = words;
    a->peers = peers;
    words += message;
    for (uint32_t i = 0; i < a->p; i++, words += 3 * message) {
        coll_i_agree_peer *peer = &a->peers[i];
        peer->heard = words;
        peer->in = words + message;
        peer->out = words + 2 * message;
        peer->receiving = peer->sending = peer->stale = peer->dead = false;
        peer->errors = 0;
        peer->heard[COLL_I_AGREE_NUMBER] = 0;
    }
    for (size_t i = 0; i < message; i++)
        a->mine[i] = 0;
}

/* Gives up what is in flight. */
COLL_INLINE void coll_i_agree_end(coll_i_agree *a)
{
    coll_i_agree_cancel(a, &a->watch, &a->watching);
    for (uint32_t i = 0; i < a->p; i++) {
        coll_i_agree_cancel(a, &a->peers[i].receive, &a->peers[i].receiving);
        coll_i_agree_cancel(a, &a->peers[i].send, &a->peers[i].sending);
    }
}

#endif /* COLL_COMM_AGREE_RANK_H */
