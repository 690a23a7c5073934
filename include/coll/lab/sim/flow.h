/* coll/lab/sim/flow.h — data that moves through something shared: slower the more there is
 *
 * A flow has so much time left as it would take alone, and a pace. Whenever the number of flows in
 * its share changes, or, where ranks work in steps, the processor of its rank starts to work, what
 * is left is counted anew from there on. A share has few flows: a node's links, the copies of the
 * ranks of a node. A message flows twice, out of its sender's share and into its receiver's, at the
 * same time if both can, and is there when both have ended: what lies between the two buffers it.
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_FLOW_H
#define COLL_LAB_SIM_FLOW_H

#include "simulation.h"

typedef struct coll_i_sim_flow_state {
    coll_time due;     /* its event; others are old */
    coll_time since;   /* `left` is of this time */
    coll_time start;   /* when the processor began to compute */
    double left, pace; /* ps alone, and how many of them a ps; 0: it stands still */
    uint32_t next;     /* in the list of its share, or of those that are free */
    uint32_t share, rank;
    uint32_t message; /* or COLL_RANK_NONE: slot `slot` computes */
    uint8_t slot;
    bool begun, moved;
} coll_i_sim_flow_state;

typedef struct coll_i_sim_share {
    uint32_t first; /* flow */
    coll_flowing all;
} coll_i_sim_share;

COLL_INLINE coll_i_sim_flow_state *coll_i_sim_flow_at(const coll_sim *sim, uint32_t i)
{
    return (coll_i_sim_flow_state *)sim->flows.at + i;
}

COLL_INLINE coll_i_sim_share *coll_i_sim_share_at(const coll_sim *sim, uint32_t share)
{
    return (coll_i_sim_share *)sim->shares.at + share;
}

/* Counts flow i anew from now on. */
COLL_INLINE void coll_i_sim_recount(coll_sim *sim, uint32_t i)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
    const bool message = flow->message != COLL_RANK_NONE;
    const coll_time still = model->step > 0 && message ? sim->ranks[flow->rank].cpu : 0;
    coll_time due = still;
    flow->moved = flow->moved || (flow->pace > 0 && flow->since < sim->now);
    flow->left -= (double)(sim->now - flow->since) * flow->pace;
    flow->left = flow->left > 0 ? flow->left : 0;
    flow->since = sim->now;
    flow->pace = 0;
    if (still <= sim->now) {
        const uint64_t bytes = message ? coll_i_op_at(&sim->mail, flow->message)->bytes : 0;
        flow->pace = 1 / model->slow(model, &coll_i_sim_share_at(sim, flow->share)->all, bytes);
        due = flow->pace > 0 ? sim->now + coll_time_of(flow->left / flow->pace) : COLL_NEVER;
    }
    if (due != flow->due) {
        flow->due = due;
        if (due != COLL_NEVER)
            coll_i_sim_put(sim, due, flow->rank, COLL_I_SIM_WHAT(COLL_I_SIM_FLOW, i));
    }
}

/* Counts all flows of a share anew. */
COLL_I_RARE void coll_i_sim_pace(coll_sim *sim, uint32_t share)
{
    uint32_t i =
        share < sim->shares.n ? coll_i_sim_share_at(sim, share)->first : COLL_RANK_NONE;
    for (; i != COLL_RANK_NONE; i = coll_i_sim_flow_at(sim, i)->next)
        coll_i_sim_recount(sim, i);
}

/* Makes room for a share. */
COLL_INLINE bool coll_i_sim_has_share(coll_sim *sim, uint32_t share)
{
    if (!coll_i_array_reserve(&sim->shares, share + (size_t)1, sizeof(coll_i_sim_share)))
        return false;
    for (; sim->shares.n <= share; sim->shares.n++) {
        coll_i_sim_share *at = coll_i_sim_share_at(sim, (uint32_t)sim->shares.n);
        at->first = COLL_RANK_NONE;
        at->all.messages = at->all.computations = 0;
    }
    return true;
}

/* How many flows of the kind of this one are in its share. */
COLL_INLINE uint32_t *coll_i_sim_kind(const coll_sim *sim, const coll_i_sim_flow_state *flow)
{
    coll_flowing *all = &coll_i_sim_share_at(sim, flow->share)->all;
    return flow->message != COLL_RANK_NONE ? &all->messages : &all->computations;
}

/* A flow of `rank` that will begin at `time`: of a message, or COLL_RANK_NONE. Its number;
 * COLL_RANK_NONE: there is no memory. */
COLL_I_RARE uint32_t coll_i_sim_flow(coll_sim *sim, uint32_t rank, uint32_t message,
                                     coll_time alone, coll_time time)
{
    const coll_cost_model *model = sim->options.model;
    const uint32_t share = model->share(model, coll_i_sim_outer(sim, rank));
    uint32_t i = sim->free_flow;
    coll_i_sim_flow_state *flow;
    if (i != COLL_RANK_NONE) {
        sim->free_flow = coll_i_sim_flow_at(sim, i)->next;
    } else if (coll_i_array_reserve(&sim->flows, sim->flows.n + 1, sizeof *flow)) {
        i = (uint32_t)sim->flows.n++;
    }
    if (i == COLL_RANK_NONE || !coll_i_sim_has_share(sim, share)) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return COLL_RANK_NONE;
    }
    flow = coll_i_sim_flow_at(sim, i);
    memset(flow, 0, sizeof *flow);
    flow->left = (double)alone;
    flow->share = share;
    flow->rank = rank;
    flow->message = message;
    flow->due = time;
    coll_i_sim_put(sim, time, rank, COLL_I_SIM_WHAT(COLL_I_SIM_FLOW, i));
    return i;
}

/* Flow i joins those of its share. */
COLL_INLINE void coll_i_sim_join(coll_sim *sim, uint32_t i)
{
    coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
    coll_i_sim_share *share = coll_i_sim_share_at(sim, flow->share);
    flow->begun = true;
    flow->since = sim->now;
    flow->next = share->first;
    share->first = i;
    ++*coll_i_sim_kind(sim, flow);
    coll_i_sim_pace(sim, flow->share);
}

/* Flow i ends, and is free. */
COLL_INLINE void coll_i_sim_leave(coll_sim *sim, uint32_t i)
{
    coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
    coll_i_sim_share *share = coll_i_sim_share_at(sim, flow->share);
    uint32_t *link = &share->first;
    while (*link != i)
        link = &coll_i_sim_flow_at(sim, *link)->next;
    *link = flow->next;
    --*coll_i_sim_kind(sim, flow);
    flow->due = COLL_NEVER;
    flow->next = sim->free_flow;
    sim->free_flow = i;
    coll_i_sim_pace(sim, flow->share);
}

/* An event of flow i: true if it has ended; it is free then, and as it was. */
COLL_INLINE bool coll_i_sim_flows(coll_sim *sim, uint32_t i)
{
    coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
    if (flow->due != sim->now)
        return false; /* counted anew since */
    if (flow->begun && flow->pace > 0) {
        coll_i_sim_leave(sim, i);
        return true;
    }
    flow->due = COLL_NEVER;
    if (flow->begun)
        coll_i_sim_recount(sim, i);
    else
        coll_i_sim_join(sim, i);
    return false;
}

/* Does a rank that works in steps move data that a start would hold up? What has only begun to flow
 * does not count: other messages may still start with it. */
COLL_INLINE bool coll_i_sim_moves(const coll_sim *sim, uint32_t rank)
{
    const coll_cost_model *model = sim->options.model;
    const uint32_t share =
        model->step > 0 ? model->share(model, coll_i_sim_outer(sim, rank)) : 0;
    uint32_t i = COLL_RANK_NONE;
    if (model->step > 0 && share < sim->shares.n)
        i = coll_i_sim_share_at(sim, share)->first;
    for (; i != COLL_RANK_NONE; i = coll_i_sim_flow_at(sim, i)->next) {
        const coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
        if (flow->rank == rank && flow->due <= sim->now + model->step &&
            (flow->moved || (flow->pace > 0 && flow->since < sim->now)))
            return true;
    }
    return false;
}

/* Where ranks work in steps: the messages of this one stand still or flow, as its processor does
 * something or nothing. */
COLL_INLINE void coll_i_sim_hold(coll_sim *sim, uint32_t rank)
{
    const coll_cost_model *model = sim->options.model;
    if (model->step > 0 && sim->shares.n > 0)
        coll_i_sim_pace(sim, model->share(model, coll_i_sim_outer(sim, rank)));
}

/* Takes the processor for the time of an operation that starts at `start`, in the past if it has
 * ended now. Returns by how much longer it takes than it should. */
COLL_HOT_INLINE coll_time coll_i_sim_occupy(coll_sim *sim, uint32_t rank, coll_time start,
                                            coll_time cpu)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    at->cpu = start + cpu;
    sim->busy[rank] += cpu;
    if (sim->options.noise) {
        const uint32_t outer = coll_i_sim_outer(sim, rank);
        if (!model->on_nic || !model->on_nic(model, outer))
            at->cpu = coll_noise_end(sim->options.noise, outer, start, cpu);
    }
    if (cpu > 0)
        coll_i_sim_hold(sim, rank);
    return at->cpu - start - cpu;
}

#endif /* COLL_LAB_SIM_FLOW_H */
