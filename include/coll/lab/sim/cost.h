/* coll/lab/sim/cost.h — what a cost model is to the simulator: a few functions that say what an
 * operation takes
 *
 *   static void mine_send(const coll_cost_model *model, const coll_message *m, coll_cost *cost)
 *   {
 *       const struct mine *my = (const struct mine *)model->data;
 *       cost->cpu = cost->done = my->overhead;
 *       cost->wire = my->overhead + my->latency;
 *   }
 *
 * All costs begin as 0 and count from the time at which the operation starts. It starts as soon
 * as it is its turn on the processor of its rank and, a message, on the port: a rank has one
 * processor, and `ports` for sending and as many for receiving, mostly one, each used by one
 * operation at a time: a message takes the port that is free first, and has the bandwidth of one.
 *
 *   send      cpu      the processor is busy                           (LogGP: o)
 *             port     the sending port is; COLL_NEVER: until its flow ends   (g)
 *             done     from here on the sender may write to its buffer, if the message is eager
 *             wire     the message begins to arrive, if no link is contended; of all messages
 *                      from one rank to another the same, or they pass each other   (o + L)
 *   receive   cpu      of the message, when it arrives, whether or not it is expected
 *             port     the receiving port
 *             done     the data is there
 *   compute   cpu      of a COPY, a REDUCE, or of combining a received message
 *             done     of what somebody else does; at least `cpu`
 *   receive,  flow     data that moves through something shared, after `cpu`: the time that takes
 *   compute            if nothing else does. A message's ends with its flow, and so does its send
 *                      (which says the same flow); a computation's processor is busy until then.
 *
 * A message longer than `eager` bytes keeps its sender's buffer until it meets its receive.
 *
 * What is shared, the memory of a node, say, has a number, `share` of the end; a message flows out
 * of the share of the one end and into that of the other. By how much flows of a share slow each
 * other down is what `slow` says (flow.h).
 *
 * A rank that works in steps starts what it can, with at most one message of each channel, and
 * then moves the data of these messages. Nothing moves while the processor is busy, so nothing
 * starts while data moves that would be there before the start is over. A message is taken in once
 * its receive has begun.
 */
#ifndef COLL_LAB_SIM_COST_H
#define COLL_LAB_SIM_COST_H

#include "../../plan.h"
#include "basics.h"

/* What an operation takes of one of its ends, in picoseconds, see above. */
typedef struct coll_cost {
    coll_time cpu, port, done, wire, flow; /* see above */
    bool held; /* send: the buffer is kept until the data is there, however short it is */
} coll_cost;

COLL_INLINE void coll_i_cost_clear(coll_cost *cost)
{
    cost->cpu = cost->port = cost->done = cost->wire = cost->flow = 0;
    cost->held = false;
}

/* Ends are the ranks' numbers outside of the plan (coll_group). */
typedef struct coll_message {
    uint32_t from, to;
    uint64_t bytes; /* 0: a NOTIFY */
    bool written;   /* of OUT, SCRATCH or SHARED: its sender has just written it; not IN */
} coll_message;

/* What flows in a share. */
typedef struct coll_flowing {
    uint32_t messages, computations; /* how many of each are under way */
} coll_flowing;

/* What messages and computations cost: callbacks without state. */
typedef struct coll_cost_model {
    const void *data; /* the model's own */
    /* What a message takes of its sender. */
    void (*send)(const struct coll_cost_model *model, const coll_message *m, coll_cost *cost);
    /* What a message takes of its receiver. */
    void (*receive)(const struct coll_cost_model *model, const coll_message *m,
                    coll_cost *cost);
    /* COPY, REDUCE; RECV_REDUCE: combining alone, and its peer is a number outside of the plan.
     * NULL: computing costs nothing. */
    void (*compute)(const struct coll_cost_model *model, uint32_t rank, const coll_action *a,
                    size_t elem_bytes, coll_cost *cost);
    /* NETWORK_REDUCE: from the arrival of the last member to the result. NULL: there is none. */
    coll_time (*in_network)(const struct coll_cost_model *model, coll_network_group group,
                            uint64_t bytes);
    /* When a rank begins, besides its skew. NULL: at once. */
    coll_time (*start)(const struct coll_cost_model *model, uint32_t rank);
    /* How long after its last action it has ended. NULL: not at all. */
    coll_time (*end)(const struct coll_cost_model *model, uint32_t rank);
    /* Is the rank's processor in the network adapter, where nothing disturbs it? NULL: no. */
    bool (*on_nic)(const struct coll_cost_model *model, uint32_t rank);
    /* Of a model with flows; else NULL. slow: how many times as long as alone a message of so many
     * bytes takes, or, with 0 bytes, a computation; HUGE_VAL: it stands still. */
    uint32_t (*share)(const struct coll_cost_model *model, uint32_t rank);
    /* See share. */
    double (*slow)(const struct coll_cost_model *model, const coll_flowing *all,
                   uint64_t bytes);
    /* How long a start takes where ranks work in steps, see above; 0: they do not. */
    coll_time step;
    uint32_t ports; /* a rank sends so many messages at once, and receives so many */
    double byte_ps; /* what a byte takes on a link of a topology that does not say so itself */
    uint64_t eager; /* UINT64_MAX: all messages are */
} coll_cost_model;

/* Of nothing but data; messages of any size are eager. */
COLL_INLINE void coll_cost_model_init(coll_cost_model *model, const void *data)
{
    memset(model, 0, sizeof *model);
    model->data = data;
    model->ports = 1;
    model->eager = UINT64_MAX;
}

/* Bytes that a REDUCE or the combining of a RECV_REDUCE takes in, besides those of dst = src. */
COLL_INLINE uint64_t coll_combined_bytes(const coll_action *a, size_t elem_bytes)
{
    return (uint64_t)a->count * elem_bytes * (a->kind == COLL_DO_REDUCE ? a->inputs : 1);
}

#endif /* COLL_LAB_SIM_COST_H */
