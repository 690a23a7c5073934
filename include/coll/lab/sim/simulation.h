/* coll/lab/sim/simulation.h — a simulation: what is given, what comes out, and what its parts share
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_SIMULATION_H
#define COLL_LAB_SIM_SIMULATION_H

#include "adapter.h"
#include "admit.h"
#include "noise.h"
#include "topology.h"
#include "unexpected.h"

/* What an observer is told, in the order of `now`. */
typedef enum coll_sim_sight {
    COLL_SEEN_BEGIN,   /* an action begins: nothing in the window holds it any longer */
    COLL_SEEN_SEND,    /* the processor sends, from start to end; to = COLL_RANK_NONE: to all */
    COLL_SEEN_LEAVE,   /* a message of that sets out; it arrives at `end` if no link is busy */
    COLL_SEEN_RECEIVE, /* the processor takes a message in */
    COLL_SEEN_COMPUTE  /* the processor copies, reduces or combines */
} coll_sim_sight;

/* What an observer is told. */
typedef struct coll_seen {
    coll_sim_sight what; /* what happens */
    uint32_t rank;
    uint32_t from, to; /* of SEND, LEAVE, RECEIVE: ranks */
    uint32_t message;  /* of LEAVE, RECEIVE: a number that no other message under way has */
    uint64_t bytes;    /* of SEND, LEAVE, RECEIVE */
    coll_time start, end;
    const coll_action *action; /* of BEGIN, SEND, COMPUTE; else NULL */
} coll_seen;

typedef struct coll_traffic coll_traffic; /* traffic.h */

/* On which machine, and with what chance. */
typedef struct coll_sim_options {
    const coll_cost_model *model;
    const coll_topology *topology;   /* NULL: nothing is in the way of a message */
    const coll_sim_adapter *adapter; /* of whose NICs `model` is; NULL: there are none */
    const coll_noise *noise;         /* or NULL */
    const coll_traffic *traffic;     /* on the links of the topology; or NULL */
    const coll_time *skew;           /* when each rank begins; NULL: see below */
    coll_time skew_most;             /* ranks begin at random times up to this one */
    uint64_t seed;                   /* of all that is random */
    uint32_t window;                 /* slots of a rank, 1 … 32 */
    coll_time most;                  /* it gives up at this time; 0: never */
    void (*see)(void *arg, const coll_seen *seen); /* an observer, or NULL */
    void *arg;
} coll_sim_options;

/* A NETWORK_REDUCE: number k of a group is entry k·COLL_NETWORK_GROUPS + group. */
typedef struct coll_i_sim_meeting {
    uint32_t members; /* list */
    uint32_t left;    /* how many are still to come */
} coll_i_sim_meeting;

/* A simulation: results, and what is private. */
typedef struct coll_sim {
    /* results */
    coll_time makespan; /* the last rank's end */
    uint64_t messages;  /* sent; a multicast is one */
    uint64_t bytes;     /* in them */
    uint64_t events;    /* that it took to find out */
    uint64_t hops;      /* links that messages went over, in all */
    uint32_t hops_most; /* … and one of them */
    size_t memory;      /* bytes that it took */
    uint32_t stuck;     /* after an error: a rank where it was seen */
    uint32_t cut_off;   /* after COLL_ERR_PEER: the rank to which no way leads from there */
    uint32_t nic_count; /* NICs, of coll_sim_nic */
    uint64_t nic_needs; /* bytes that a NIC must have: its operands and its longest message */

    /* private */
    coll_sim_options options;
    const coll_plan *plans;
    bool per_rank;
    bool outside;     /* have ranks other numbers outside of the plan? */
    uint32_t p, room; /* ranks, and for how many there is memory */
    coll_status status;
    coll_time now;
    coll_i_sim_rank *ranks;
    void *rank_memory; /* in which they lie */
    coll_time *busy;
    coll_i_queue *queue;
    coll_i_mail mail;
    coll_i_pool pool;
    coll_time *ports;      /* of ranks that have several (ports.h), or NULL */
    coll_link_load *loads; /* of the topology's links, or NULL */
    uint32_t links;
    uint64_t *others;    /* of each link, a period of its traffic (traffic.h), or NULL */
    uint32_t *flights;   /* of each rank, a message that is under way (routing.h), or NULL */
    coll_i_array flows;  /* of coll_i_sim_flow_state */
    coll_i_array shares; /* of coll_i_sim_share */
    uint32_t free_flow;
    coll_i_array travels;         /* of coll_i_sim_travel, by the messages' numbers */
    coll_i_array meetings;        /* of coll_i_sim_meeting */
    struct coll_i_sim_nics *nics; /* or NULL (adapter_state.h) */
    uint32_t *
        attended; /* COLL_NETWORK_GROUPS numbers a rank: NETWORK_REDUCEs it has come to; or NULL */
} coll_sim;

/* Events. Of the number: RELEASE, END, HOST, TOLD: a slot; HOP, ARRIVE, CROSS, COME, BACK: a
 * message; FLOW: a flow; FREE: a room; START: 1 if the NIC has been told. */
enum {
    COLL_I_SIM_START,   /* the rank begins */
    COLL_I_SIM_HOP,     /* a message to it reaches its next link, or has passed the last */
    COLL_I_SIM_ARRIVE,  /* a message reaches it */
    COLL_I_SIM_RELEASE, /* one of those that a slot waits for has come */
    COLL_I_SIM_FLOW,    /* a flow begins, ends, or goes on */
    COLL_I_SIM_END,     /* the action of a slot ends, or its message is there */
    COLL_I_SIM_GIVE,    /* the processor or a port gets free */
    COLL_I_SIM_CROSS,   /* a message may go to its NIC */
    COLL_I_SIM_COME,    /* it has crossed to its rank's host */
    COLL_I_SIM_BACK,    /* it was refused, and has come again */
    COLL_I_SIM_FREE,    /* a room of a NIC's memory is free */
    COLL_I_SIM_HOST,    /* a host begins what its NIC has asked for */
    COLL_I_SIM_TOLD     /* … and has done it */
};
#define COLL_I_SIM_WHAT(kind, number) ((uint32_t)(kind) | (uint32_t)(number) << 4)

COLL_I_RARE void coll_i_sim_fail(coll_sim *sim, coll_status status, uint32_t rank)
{
    if (sim->status == COLL_OK) {
        sim->status = status;
        sim->stuck = rank;
    }
}

COLL_INLINE const coll_plan *coll_i_sim_plan(const coll_sim *sim, uint32_t rank)
{
    return &sim->plans[sim->per_rank ? rank : 0];
}

/* The number of a rank outside of the plan. */
COLL_INLINE uint32_t coll_i_sim_outer(const coll_sim *sim, uint32_t rank)
{
    return sim->outside ? coll_group_outer(&coll_i_sim_plan(sim, rank)->group, rank) : rank;
}

COLL_INLINE void coll_i_sim_put(coll_sim *sim, coll_time time, uint32_t rank, uint32_t what)
{
    coll_i_queue_put(sim->queue, time, rank, what);
}

/* Tells the observer, if there is one. */
COLL_I_RARE void coll_i_sim_show(const coll_sim *sim, coll_sim_sight what, uint32_t rank,
                                 coll_time end, const coll_action *a)
{
    coll_seen seen;
    seen.what = what;
    seen.rank = seen.from = seen.to = rank;
    seen.message = COLL_RANK_NONE;
    seen.bytes = 0;
    seen.start = sim->now;
    seen.end = end;
    seen.action = a;
    sim->options.see(sim->options.arg, &seen);
}

COLL_HOT_INLINE void coll_i_sim_see(const coll_sim *sim, coll_sim_sight what, uint32_t rank,
                                    coll_time end, const coll_action *a)
{
    if (sim->options.see)
        coll_i_sim_show(sim, what, rank, end, a);
}

COLL_I_RARE void coll_i_sim_show_message(const coll_sim *sim, coll_sim_sight what,
                                         uint32_t rank, coll_time end, const coll_i_op *op,
                                         uint32_t number)
{
    coll_seen seen;
    seen.what = what;
    seen.rank = rank;
    seen.from = op->from;
    seen.to = op->to;
    seen.message = number;
    seen.bytes = op->bytes;
    seen.start = sim->now;
    seen.end = end;
    seen.action = NULL;
    sim->options.see(sim->options.arg, &seen);
}

COLL_HOT_INLINE void coll_i_sim_see_message(const coll_sim *sim, coll_sim_sight what,
                                            uint32_t rank, coll_time end, const coll_i_op *op,
                                            uint32_t number)
{
    if (sim->options.see)
        coll_i_sim_show_message(sim, what, rank, end, op, number);
}

/* Bytes of an action's message. */
COLL_INLINE uint64_t coll_i_sim_bytes(const coll_sim *sim, const coll_action *a)
{
    return coll_i_is_token(a) ? 0 : a->count * sim->plans[0].problem.elem_bytes;
}

/* ---- ends -------------------------------------------------------------------------------- */

/* The action of slot k has ended, or its message is there. */
COLL_INLINE void coll_i_sim_retire(coll_i_sim_rank *at, uint32_t k)
{
    coll_window *w = &at->window;
    const uint32_t bit = (uint32_t)1 << k;
    const coll_slot *slot = &w->slots[k];
    const bool lands = slot->act.kind == COLL_DO_RECV_REDUCE && !(w->staged & bit);
    at->watched &= ~bit;
    if (slot->order != 0 && coll_i_has(COLL_I_RECEIVES, &slot->act) && !(w->staged & bit))
        return; /* receives of one peer end in order: when the one before does, it is ready */
    if (!lands) {
        coll_i_window_retire(w, k);
        return;
    }
    w->flying &= ~bit;
    coll_i_window_stage(w, k);
    w->ready |= bit;
}

/* Something waits for the end of slot k, which is known. */
COLL_INLINE void coll_i_sim_watch(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_time end = coll_i_slot_time(&at->window.slots[k]);
    if (end <= sim->now) {
        coll_i_sim_retire(at, k);
        return;
    }
    at->watched |= (uint32_t)1 << k;
    coll_i_sim_put(sim, end, rank, COLL_I_SIM_WHAT(COLL_I_SIM_END, k));
}

/* Slots whose end is known, and has no event. */
COLL_INLINE uint32_t coll_i_sim_unwatched(const coll_i_sim_rank *at)
{
    return at->window.flying & ~(at->open | at->waits | at->watched);
}

/* It is known now when the action of slot k ends, or its message is there. */
COLL_INLINE void coll_i_sim_ends(coll_sim *sim, uint32_t rank, uint32_t k, coll_time end)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_slot *slot = &at->window.slots[k];
    at->open &= ~((uint32_t)1 << k);
    coll_i_slot_set_time(slot, end);
    at->finish = coll_later(at->finish, end);
    if (slot->dependents || slot->act.kind == COLL_DO_RECV_REDUCE || end <= sim->now ||
        (at->window.free == 0 && at->window.size == sim->options.window &&
         at->window.step < at->window.steps))
        coll_i_sim_watch(sim, rank, k);
}

#endif /* COLL_LAB_SIM_SIMULATION_H */
