/* coll/nic/nic_program.h — one rank's part of a collective as operations of a NIC that counters trigger
 *
 * An operation starts when its trigger counter has reached its threshold, and adds 1 to its done
 * counter when it is complete. Counters only count up. A threshold says how many events there were,
 * not which; so the events of a counter come in groups, none of which begins before the one ahead of it
 * is complete, and a threshold is reached if and only if all events of the groups up to it have happened.
 *
 *   kind      reads        writes  what happens
 *   SEND      src          –       count elements to peer: message `number` of this rank to it
 *   RECV      –            dst     message `number` of peer to this rank
 *   COPY      src          dst     dst = src
 *   REDUCE    src, via…    dst     dst = src ⊕ via_0 ⊕ … ⊕ via_(inputs−1), as of COLL_DO_REDUCE
 *   NETWORK   src          dst     meeting `number` with group peer, of stride ranks: COLL_DO_NETWORK_REDUCE
 *   SIGNAL    –            –       adds 1 to the counter that peer keeps of this rank's signals: the RECV
 *                                  right before it is posted
 *   PUT       src          –       count elements to dst of the peer, whose counter of this rank's puts then counts 1
 *   ARRIVE    –            dst     message `number` of peer is put here: nothing, as ADD
 *   ADD       –            –       nothing: the done counter is all that it is for
 *   END       –            –       the host is told
 *
 * A COPY or a REDUCE may be placed on the host (COLL_NIC_BY_HOST): the NIC has it do that, and goes on when it is
 * told that it is done. Whoever runs a program without a host does it itself.
 *
 * Programs that put (put.h) post no receives. A SIGNAL says that the memory of the ARRIVE right after it is free; so a
 * message lands between these two.
 *
 * Messages are matched by peer, epoch and number, and need no order. An operation reads and writes
 * between its start and its completion. Operations of one trigger and threshold start in the order
 * of the list. The next epoch needs no new counters: its thresholds are higher by what each counter counts in
 * one epoch (coll_nic_program.counts). Peers are ranks of the plan's group; refs are those of actions.
 */
#ifndef COLL_NIC_NIC_PROGRAM_H
#define COLL_NIC_NIC_PROGRAM_H

#include "../plan.h"

/* What an operation does; the table above. */
typedef enum coll_nic_kind {
    COLL_NIC_SEND,
    COLL_NIC_RECV,
    COLL_NIC_COPY,
    COLL_NIC_REDUCE,
    COLL_NIC_NETWORK,
    COLL_NIC_SIGNAL,
    COLL_NIC_ADD,
    COLL_NIC_END,
    COLL_NIC_PUT,
    COLL_NIC_ARRIVE,
    COLL_NIC_KINDS /* how many there are */
} coll_nic_kind;

/* No counter. */
#define COLL_NIC_NONE UINT16_MAX

/* Of a COPY or a REDUCE: who does it, in place of a peer. */
enum { COLL_NIC_BY_NIC, COLL_NIC_BY_HOST };

/* An operation. What a kind does not have is 0. */
typedef struct coll_nic_op {
    uint8_t kind;     /* coll_nic_kind */
    uint8_t token;    /* a message, or a meeting, of 0 bytes */
    uint16_t inputs;  /* REDUCE: operands at via */
    uint16_t trigger; /* counter that it waits for; COLL_NIC_NONE: it starts with the program */
    uint16_t done;    /* counter that it adds 1 to; COLL_NIC_NONE: END */
    uint32_t threshold; /* of its trigger, in the first epoch */
    uint32_t
        peer; /* the other end; NETWORK: number of the group; COPY, REDUCE: COLL_NIC_BY_… */
    uint32_t number; /* of a message between two ranks in one direction, or of a meeting */
    size_t count;    /* elements */
    coll_ref dst;    /* where it writes (PUT: of the peer), … */
    coll_ref src;    /* … reads, … */
    coll_ref via;    /* … and finds more operands */
    size_t stride;   /* as of coll_action */
} coll_nic_op;

/* What a rank's program takes of its NIC, all of it known before anything starts. */
typedef struct coll_nic_needs {
    uint32_t ops;      /* operations, END too */
    uint32_t counters; /* those of signals too */
    uint32_t receives; /* at most so many are posted at one time */
    uint32_t actions;  /* of the plan */
} coll_nic_needs;

/* What a NIC has. Zero is none: set all by coll_nic_limits_init. */
typedef struct coll_nic_limits {
    uint32_t ops, counters, receives; /* at most, each as in coll_nic_needs */
    /* It keeps a message that meets no posted receive until there is one. Else a message is sent only
     * after its receiver has signalled that the receive is posted. */
    bool unexpected;
    /* Messages are to be put (coll_nic_puts): each waits for its receiver's signal, and for the one before it. */
    bool puts;
} coll_nic_limits;

/* One rank's program: operations in an order in which they may be done one after the other. */
typedef struct coll_nic_program {
    const coll_nic_op *ops; /* needs.ops of them, the caller's */
    const uint32_t *counts; /* of each counter: what it counts in one epoch; the caller's */
    const uint32_t *signal_peers; /* whose signals the first counters count … */
    uint32_t signals;             /* … and how many such counters there are */
    uint32_t
        arrivals; /* so many last counters count puts of the peers behind those in signal_peers */
    uint32_t rank;        /* whose it is */
    coll_nic_needs needs; /* of a NIC */
} coll_nic_program;

/* A NIC without limits, which keeps unexpected messages. */
COLL_INLINE void coll_nic_limits_init(coll_nic_limits *limits)
{
    limits->ops = limits->counters = limits->receives = UINT32_MAX;
    limits->unexpected = true;
    limits->puts = false;
}

/* Why a program cannot run on a NIC, as a sentence that tells what to do; NULL: it can. Static storage. */
COLL_INLINE const char *coll_nic_refusal(const coll_nic_needs *needs,
                                         const coll_nic_limits *limits)
{
    if (needs->ops > limits->ops)
        return "the program has more operations than the NIC holds: take an algorithm with "
               "fewer "
               "messages, or larger segments";
    if (needs->counters > limits->counters)
        return "the program needs more counters than the NIC has: take an algorithm with fewer "
               "messages that come in any order, or a NIC that keeps unexpected messages";
    if (needs->receives > limits->receives)
        return "the program posts more receives at one time than the NIC holds: it must hold "
               "at "
               "least one";
    return NULL;
}

/* The name of a kind, in small letters, never NULL; static storage. */
COLL_INLINE const char *coll_nic_kind_name(coll_nic_kind kind)
{
    switch (kind) {
    case COLL_NIC_SEND:
        return "send";
    case COLL_NIC_RECV:
        return "recv";
    case COLL_NIC_COPY:
        return "copy";
    case COLL_NIC_REDUCE:
        return "reduce";
    case COLL_NIC_NETWORK:
        return "network";
    case COLL_NIC_SIGNAL:
        return "signal";
    case COLL_NIC_ADD:
        return "add";
    case COLL_NIC_END:
        return "end";
    case COLL_NIC_PUT:
        return "put";
    case COLL_NIC_ARRIVE:
        return "arrive";
    case COLL_NIC_KINDS:
        break;
    }
    return "unknown kind";
}

/* Does an operation read src? Tokens touch no memory, though their refs order them. */
COLL_INLINE bool coll_i_nic_reads(const coll_nic_op *op)
{
    return op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_COPY ||
           op->kind == COLL_NIC_REDUCE || op->kind == COLL_NIC_NETWORK ||
           op->kind == COLL_NIC_PUT;
}

/* Does it write dst, of this rank? */
COLL_INLINE bool coll_i_nic_writes(const coll_nic_op *op)
{
    return op->kind == COLL_NIC_RECV || op->kind == COLL_NIC_COPY ||
           op->kind == COLL_NIC_REDUCE || op->kind == COLL_NIC_NETWORK ||
           op->kind == COLL_NIC_ARRIVE;
}

/* The counter of a peer's puts; COLL_NIC_NONE: it puts nothing. */
COLL_INLINE uint32_t coll_i_nic_arrivals_of(const coll_nic_program *program, uint32_t peer)
{
    for (uint32_t c = 0; c < program->arrivals; c++)
        if (program->signal_peers[program->signals + c] == peer)
            return program->needs.counters - program->arrivals + c;
    return COLL_NIC_NONE;
}

/* Elements that the operands at via span. */
COLL_INLINE size_t coll_i_nic_span(const coll_nic_op *op)
{
    return (size_t)(op->inputs - 1) * op->stride + op->count;
}

/* Does a write what b reads or writes? */
COLL_INLINE bool coll_i_nic_spoils(const coll_nic_op *a, const coll_nic_op *b)
{
    return coll_i_nic_writes(a) &&
           ((coll_i_nic_writes(b) && coll_i_overlap(a->dst, a->count, b->dst, b->count)) ||
            (coll_i_nic_reads(b) && coll_i_overlap(a->dst, a->count, b->src, b->count)) ||
            (b->kind == COLL_NIC_REDUCE &&
             coll_i_overlap(a->dst, a->count, b->via, coll_i_nic_span(b))));
}

/* Must two operations of a rank not run at the same time? */
COLL_INLINE bool coll_i_nic_conflict(const coll_nic_op *a, const coll_nic_op *b)
{
    return coll_i_nic_spoils(a, b) || coll_i_nic_spoils(b, a);
}

/* Field by field: on bare metal, compilers call memcpy for the assignment of the whole. */
COLL_INLINE void coll_i_nic_op_assign(coll_nic_op *to, const coll_nic_op *from)
{
    to->kind = from->kind;
    to->token = from->token;
    to->inputs = from->inputs;
    to->trigger = from->trigger;
    to->done = from->done;
    to->threshold = from->threshold;
    to->peer = from->peer;
    to->number = from->number;
    to->count = from->count;
    to->dst = from->dst;
    to->src = from->src;
    to->via = from->via;
    to->stride = from->stride;
}

#endif /* COLL_NIC_NIC_PROGRAM_H */
