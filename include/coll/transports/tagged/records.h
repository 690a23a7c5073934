/* coll/transports/tagged/records.h — ranks joined by a library with tagged messages: what a rank knows
 *
 * libfabric (../ofi.h) and UCX (../ucx.h) match messages themselves, by a tag of 64 bits. What they do not
 * have is here, once for both: bounded memory at the receiver, aborts, dead processes, tags with uses. A
 * library is a record of functions (coll_i_tagged_library).
 *
 * A tag of the library, from its lowest bit on, in as many bits as the library has:
 *
 *   tag 22 · use up to 10 · kind 2 · credit up to 6 · source rank, as many as p needs
 *
 * A receive names the tag, the source and the kind, and ignores use and credit: it looks at these when
 * the message has come. The credit that a message carries is what its sender has consumed of what came the
 * other way, so ranks that exchange messages send no others for it.
 *
 * Kinds: a short message (at most COLL_I_TAGGED_EAGER bytes) is SHORT as long as the receiver has room for it
 * (COLL_TAGGED_CREDIT), whether or not there is a receive. Otherwise the sender sends an ANNOUNCEMENT of
 * COLL_I_TAGGED_HEAD bytes in its place. Its receive answers with GO (notices.h) when the buffer is handed
 * to the library, and then the message comes as DATA, straight into it. So a send that nobody receives has
 * not been handed to the library, and can be cancelled.
 */
#ifndef COLL_TRANSPORTS_TAGGED_RECORDS_H
#define COLL_TRANSPORTS_TAGGED_RECORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bootstrap.h"

/* Bytes of short messages to a peer that have no receive yet. What is kept for it by a rank that
 * does not receive: of each other rank COLL_TAGGED_CREDIT / 1024 messages at most. */
#ifndef COLL_TAGGED_CREDIT
#define COLL_TAGGED_CREDIT 65536u
#endif

enum {
    COLL_I_TAGGED_EAGER =
        1 << 14,                  /* the most of a message that does not wait for its receive */
    COLL_I_TAGGED_UNIT = 1 << 10, /* of credit; a message counts for one more than it fills */
    COLL_I_TAGGED_UNITS = COLL_TAGGED_CREDIT / COLL_I_TAGGED_UNIT,
    COLL_I_TAGGED_HEAD = 16,   /* bytes of an announcement */
    COLL_I_TAGGED_NOTICE = 24, /* … of a notice */
    COLL_I_TAGGED_OPS = 64,    /* operations that are allocated at once */
    COLL_I_TAGGED_OPS_MOST = 1 << 16,
    COLL_I_TAGGED_TAG_BITS = 22, /* of COLL_CLAIM_ALL tags */
    COLL_I_TAGGED_USE_BITS = 10,
    COLL_I_TAGGED_CREDIT_BITS = 6,
    COLL_I_TAGGED_LATE = 64,   /* tests of an operation with a lost peer, … */
    COLL_I_TAGGED_LATE_MS = 50 /* … and ms of them, in which what it has sent was found */
};

/* Kinds of messages; a receive of one of the first two takes the other, too. */
enum {
    COLL_I_TAGGED_SHORT,
    COLL_I_TAGGED_ANNOUNCEMENT,
    COLL_I_TAGGED_DATA, /* of a message that was announced; its tag is the receive's number */
    COLL_I_TAGGED_IS_NOTICE
};

/* What an operation is for. */
typedef enum coll_i_tagged_kind {
    COLL_I_TAGGED_SEND,
    COLL_I_TAGGED_RECV,      /* of what comes first: a short message, or an announcement */
    COLL_I_TAGGED_RECV_DATA, /* … of the message that was announced */
    COLL_I_TAGGED_HEAR,      /* a notice */
    COLL_I_TAGGED_DRAIN      /* a message that nobody receives any more */
} coll_i_tagged_kind;

typedef enum coll_i_tagged_state {
    COLL_I_TAGGED_FREE,
    COLL_I_TAGGED_FLYING,    /* the library has it */
    COLL_I_TAGGED_ANNOUNCED, /* a send that waits for its receive */
    COLL_I_TAGGED_STUCK,     /* to be handed to the library as soon as that takes it */
    COLL_I_TAGGED_DUE,       /* the library is done, this rank is not */
    COLL_I_TAGGED_OVER       /* by its status */
} coll_i_tagged_state;

/* How the library ended an operation. */
typedef enum coll_i_tagged_end {
    COLL_I_TAGGED_WELL,
    COLL_I_TAGGED_CUT, /* the message is longer than the receive */
    COLL_I_TAGGED_TAKEN_BACK,
    COLL_I_TAGGED_FAILED
} coll_i_tagged_end;

typedef struct coll_i_tagged_op {
    void *context[8];              /* the library's own, while it has the operation */
    struct coll_i_tagged_op *next; /* in the list that it is in */
    struct coll_i_tagged_link *link;
    unsigned char *buf; /* of a send it is only read */
    size_t bytes;
    unsigned char *into; /* where the library receives: buf, head or bounce */
    uint64_t its_tag;    /* of the message that came … */
    size_t its_bytes;
    void *request;    /* the library's name for it */
    void *registered; /* the caller's buffer, as the library knows it, */
    struct coll_i_tagged_kept
        *kept;             /* … as part of this range; NULL: for this operation alone */
    void *own;             /* this structure, … */
    void *bounce_own;      /* … and the bounce buffer, likewise */
    unsigned char *bounce; /* COLL_I_TAGGED_EAGER bytes; NULL: none yet */
    unsigned char head[COLL_I_TAGGED_NOTICE];
    uint32_t tag;
    uint32_t id;         /* its number: index, and how often that was used */
    uint32_t other;      /* the number of the peer's operation */
    uint32_t round;      /* of tests, in which it was last asked for */
    uint32_t late;       /* tests since its peer is lost, … */
    uint64_t late_since; /* … the first of them, in ms */
    uint8_t kind, state, end;
    bool has;       /* the library has it */
    bool given_up;  /* nobody waits for it; it is free when the library is done */
    bool sunk;      /* … and buf is to be freed */
    bool by_bounce; /* a send from the bounce buffer */
    coll_status status;
    coll_status refused; /* the peer has given up its part; COLL_OK: not */
} coll_i_tagged_op;

/* What a rank has with a peer. */
typedef struct coll_i_tagged_link {
    uint32_t peer;
    uint32_t credit; /* units that may be sent */
    uint32_t owed;   /* units that were consumed, and that the peer has not been told of */
    uint32_t ops;    /* operations with it */
    uint64_t
        since; /* ms: since then there are operations in flight, and none has ended; 0: not */
    uint64_t refused; /* ms: since then the library takes nothing for it; 0: it does */
    void *end;        /* the library's */
    struct coll_i_tagged_link *next_owing;
    bool owing;         /* is in that list */
    bool lost;          /* it is dead, has left, or its connection is broken */
    bool left;          /* … it said so */
    bool asked;         /* it was sent a ping, and has not answered */
    bool heard;         /* … that this rank leaves, and has answered */
    bool watched, seen; /* watch.h: there is a connection, and it was made */
    int watch;
    uint64_t watched_since; /* ms */
} coll_i_tagged_link;

/* A process, as its address says; by it others of the same machine see whether it lives. */
typedef struct coll_i_tagged_process {
    uint64_t processors; /* coll_machine of those that it shares; 0: unknown */
    uint64_t machine;    /* … and the name spaces of its processes and its network */
    uint64_t start;      /* when it was started, in ticks since the machine was */
    uint64_t number;
    coll_tcp_address watched; /* where it listens; family 0: nowhere */
} coll_i_tagged_process;

typedef struct coll_i_tagged_aborted {
    uint32_t first, tags;
} coll_i_tagged_aborted;

/* A notice that waits for the library to take it. */
typedef struct coll_i_tagged_waiting {
    uint32_t to;
    uint32_t words[COLL_I_TAGGED_NOTICE / 4];
} coll_i_tagged_waiting;

/* A range of memory that is kept (coll_registration), */
typedef struct coll_i_tagged_kept {
    uint32_t keeps;   /* so often, */
    uint32_t users;   /* and in which so many operations are in flight */
    bool writes;      /* may be received into */
    void *registered; /* the library's; NULL: it could not */
} coll_i_tagged_kept;

/* … and its place in a table by address. */
typedef struct coll_i_tagged_kept_at {
    uintptr_t first, end; /* from its first byte to behind its last one */
    uintptr_t reach;      /* the furthest end in the table up to here */
    coll_i_tagged_kept *its;
} coll_i_tagged_kept_at;

struct coll_i_tagged;

/* What a library does. `registered` is what pin said of the buffer. */
typedef struct coll_i_tagged_library {
    size_t bytes; /* of what a rank has, which begins with a coll_i_tagged */
    /* Opens the library as its options say (NULL: they are zeroed), and sets the rank's address. False: `why`
     * says why. */
    bool (*open)(struct coll_i_tagged *net, const void *options, char *why);
    /* Takes the addresses of all ranks, each in `bytes` bytes. False: `why` says why. */
    bool (*join)(struct coll_i_tagged *net, const unsigned char *all, size_t bytes, char *why);
    /* Frees all that the library has, after shut, or when open has failed half-way. */
    void (*release)(struct coll_i_tagged *net);
    /* COLL_OK: done, the buffer is free. op NULL: less than inject_end bytes; COLL_STARTED is none then. */
    coll_status (*send)(struct coll_i_tagged *net, coll_i_tagged_link *link, uint64_t tag,
                        const void *buf, size_t bytes, coll_i_tagged_op *op, void *registered);
    /* Of any source if link is NULL. May end at once: coll_i_tagged_done was called then. */
    coll_status (*recv)(struct coll_i_tagged *net, coll_i_tagged_link *link, uint64_t tag,
                        uint64_t ignore, void *buf, size_t bytes, coll_i_tagged_op *op,
                        void *registered);
    /* Moves all on, and calls coll_i_tagged_done of what is done. */
    void (*progress)(struct coll_i_tagged *net);
    /* Takes an operation back, if it can be; that is said by coll_i_tagged_done, at once or later. */
    void (*cancel)(struct coll_i_tagged *net, coll_i_tagged_op *op);
    /* The peer is lost: ends what is in flight with it, if that can be. */
    void (*lose)(struct coll_i_tagged *net, coll_i_tagged_link *link);
    /* Registers memory, to be sent from and, if it `writes`, received into; NULL: it could not. Unpin undoes
     * it. Only called if net->registers or net->keeps. */
    void *(*pin)(struct coll_i_tagged *net, void *memory, size_t bytes, bool writes);
    void (*unpin)(struct coll_i_tagged *net, void *registered);
    /* Ends all operations: no buffer is touched any more. Only unpin and release are called after it. */
    void (*shut)(struct coll_i_tagged *net);
    /* A descriptor that is readable when there is something to do, if arm has said COLL_OK; −1: there is
     * none. COLL_AGAIN: there is something to do already. */
    int (*descriptor)(struct coll_i_tagged *net);
    coll_status (*arm)(struct coll_i_tagged *net);
} coll_i_tagged_library;

typedef struct coll_i_tagged_list {
    coll_i_tagged_op *first, **end;
} coll_i_tagged_list;

/* A rank's end, at the head of what a library has. */
typedef struct coll_i_tagged {
    const coll_i_tagged_library *library;
    uint32_t rank, p;
    uint32_t patience;
    uint32_t posted;   /* receives of notices */
    size_t inject_end; /* shorter messages are sent without an operation, where that can be */
    /* The library copies short messages, so they are sent from the caller's buffer; it keeps one that it cannot
     * send at once, with an operation. */
    bool direct;
    /* What comes first is received into a bounce buffer that is long enough for all that may come: providers of
     * libfabric lose the connection, hang or say nothing when a message is longer than its receive. */
    bool bounces;
    bool registers;              /* buffers are registered, all of them, … */
    bool keeps;                  /* … or those that are kept (registered.h) */
    uint32_t pins;               /* times that the caller's memory was registered … */
    uint32_t pinned;             /* … and what is so now */
    coll_i_tagged_kept_at *kept; /* by address (registered.h) */
    uint32_t n_kept, kept_room;
    bool closing; /* all that is sent is waited for */
    bool broken;  /* the library was ended */

    /* the parts of a tag */
    uint32_t use_mask, credit_mask, kind_shift, credit_shift, source_shift;
    uint64_t all_bits, recv_ignore, data_ignore, notice_ignore;

    coll_i_tagged_link **links; /* by rank; NULL: this rank has nothing to do with it */
    coll_i_tagged_link **list;  /* those that there are */
    uint32_t n_links;
    coll_i_tagged_link *owing;

    coll_i_tagged_op **ops; /* all of them, COLL_I_TAGGED_OPS together */
    uint32_t n_ops;
    coll_i_tagged_op *unused;
    coll_i_tagged_list due, stuck;
    uint32_t orphans; /* messages of this rank's own that the library has */

    coll_i_tagged_waiting *waiting;
    uint32_t n_waiting, waiting_room;

    uint32_t round, next_look;
    uint64_t looked; /* ms: when the peers were last looked after */
    coll_sleeper sleeper;
    bool news;           /* since arm was last called, something was aborted, lost or done */
    int listener, probe; /* watch.h; −1: none */
    bool watches;        /* ranks of other machines can be watched */
    coll_i_tagged_aborted *aborted;
    uint32_t n_aborted, aborted_room;
    coll_claims claims;
    coll_misfit misfit;
    coll_idle idle;
    uint32_t ranks_here;
    coll_i_tagged_process self, *processes; /* of all ranks, from coll_i_tagged_join on */
    unsigned char *address;                 /* own: the process, then the library's */
    uint32_t address_bytes;
} coll_i_tagged;

/* ---- lists ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_tagged_list_init(coll_i_tagged_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

COLL_INLINE void coll_i_tagged_append(coll_i_tagged_list *list, coll_i_tagged_op *op)
{
    op->next = NULL;
    *list->end = op;
    list->end = &op->next;
}

COLL_INLINE void coll_i_tagged_remove(coll_i_tagged_list *list, coll_i_tagged_op *op)
{
    coll_i_tagged_op **at = &list->first;
    while (*at && *at != op)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = op->next;
    if (list->end == &op->next)
        list->end = at;
}

/* ---- tags of the library ----------------------------------------------------------------- */

/* Divides `bits` of a tag. False: they are too few for so many ranks. */
COLL_INLINE bool coll_i_tagged_divide(coll_i_tagged *net, uint32_t bits)
{
    const uint64_t all = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    uint32_t source = 1, use = COLL_I_TAGGED_USE_BITS, credit = COLL_I_TAGGED_CREDIT_BITS;
    while (source < 32 && (net->p - 1) >> source != 0)
        source++;
    if (bits < COLL_I_TAGGED_TAG_BITS + 2 + 4 + source)
        return false;
    bits -= COLL_I_TAGGED_TAG_BITS + 2 + source;
    use = bits < use ? bits : use;
    bits -= use;
    credit = bits < credit ? bits : credit;
    net->use_mask = ((uint32_t)1 << use) - 1;
    net->credit_mask = ((uint32_t)1 << credit) - 1;
    net->kind_shift = COLL_I_TAGGED_TAG_BITS + use;
    net->credit_shift = net->kind_shift + 2;
    net->source_shift = net->credit_shift + credit;
    net->data_ignore = (uint64_t)net->credit_mask << net->credit_shift;
    net->recv_ignore = net->data_ignore |
                       (uint64_t)COLL_I_TAGGED_ANNOUNCEMENT << net->kind_shift |
                       (uint64_t)net->use_mask << COLL_I_TAGGED_TAG_BITS;
    net->all_bits = all;
    net->notice_ignore = all & ~((uint64_t)3 << net->kind_shift);
    return true;
}

/* Of a message of this kind from this source; `tag` with its use, or the number of a receive. */
COLL_INLINE uint64_t coll_i_tagged_tag(const coll_i_tagged *net, uint32_t source, uint32_t kind,
                                       uint32_t tag, uint32_t credit)
{
    return (uint64_t)coll_claim_tag(tag) |
           (uint64_t)(tag >> COLL_I_TAGGED_TAG_BITS & net->use_mask) << COLL_I_TAGGED_TAG_BITS |
           (uint64_t)kind << net->kind_shift | (uint64_t)credit << net->credit_shift |
           (uint64_t)source << net->source_shift;
}

COLL_INLINE uint32_t coll_i_tagged_kind_of(const coll_i_tagged *net, uint64_t tag)
{
    return (uint32_t)(tag >> net->kind_shift) & 3;
}

COLL_INLINE uint32_t coll_i_tagged_credit_of(const coll_i_tagged *net, uint64_t tag)
{
    return (uint32_t)(tag >> net->credit_shift) & net->credit_mask;
}

/* What a message of so many bytes takes of the credit. */
COLL_INLINE uint32_t coll_i_tagged_units(size_t bytes)
{
    return 1 + (uint32_t)(bytes / COLL_I_TAGGED_UNIT);
}

/* ---- links ------------------------------------------------------------------------------- */

/* What this rank has with a peer; NULL: there is no memory. */
COLL_INLINE coll_i_tagged_link *coll_i_tagged_link_of(coll_i_tagged *net, uint32_t peer)
{
    coll_i_tagged_link *link = net->links[peer];
    void *moved;
    if (link)
        return link;
    moved = realloc(net->list, (net->n_links + 1) * sizeof *net->list);
    if (!moved)
        return NULL;
    net->list = (coll_i_tagged_link **)moved;
    link = (coll_i_tagged_link *)calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->peer = peer;
    link->credit = COLL_I_TAGGED_UNITS;
    net->links[peer] = link;
    net->list[net->n_links++] = link;
    return link;
}

#endif /* COLL_TRANSPORTS_TAGGED_RECORDS_H */
