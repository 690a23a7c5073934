/* coll/sim/engine.h — runs the ranks of a plan through simulated time
 *
 * What happens to a rank happens in `settle`, whenever one of its events is due: actions that have
 * ended leave the window, those that waited for them begin, steps enter, and what waits for the
 * processor or a port gets it. Then the rank sleeps until the earliest end that matters to it. Ends
 * that nobody waits for have no event: most sends end unseen, and are found ended at the rank's next
 * event.
 */
#ifndef COLL_SIM_ENGINE_H
#define COLL_SIM_ENGINE_H

#include "inbox.h"

typedef struct coll_sim_options {
    const coll_cost_model *model;
    const coll_time *skew; /* when each rank begins; NULL: see below */
    coll_time skew_most;   /* ranks begin at random times up to this one */
    uint64_t seed;         /* of all that is random */
    uint32_t window;       /* slots of a rank, 1 … 32 */
} coll_sim_options;

typedef struct coll_sim {
    /* results */
    coll_time makespan; /* the last rank's end */
    uint64_t messages;  /* sent; a multicast is one */
    uint64_t bytes;     /* in them */
    uint64_t events;    /* that it took to find out */
    size_t memory;      /* bytes that it took */
    uint32_t stuck;     /* COLL_ERR_DEADLOCK, COLL_ERR_SIZE: a rank where it was seen */

    /* private */
    coll_sim_options options;
    const coll_plan *plans;
    bool per_rank;
    uint32_t p;
    coll_status status;
    coll_time now;
    coll_i_sim_rank *ranks;
    coll_time *busy;
    coll_i_queue *queue;
    coll_i_mail mail;
    coll_i_slots slots;
    coll_i_array meetings; /* of coll_i_meeting */
    uint32_t *attended;    /* COLL_TEAMS numbers a rank: FABRIC_REDUCEs it has come to */
} coll_sim;

/* A FABRIC_REDUCE: number k of a team is entry k·COLL_TEAMS + team. */
typedef struct coll_i_meeting {
    uint32_t members; /* list */
    uint32_t left;    /* how many are still to come */
} coll_i_meeting;

enum { COLL_I_START, COLL_I_WAKE, COLL_I_ARRIVE, COLL_I_RELEASE };
#define COLL_I_WHAT(kind, number) ((uint32_t)(kind) | (uint32_t)(number) << 4)

COLL_INLINE void coll_i_sim_fail(coll_sim *sim, coll_status status, uint32_t rank)
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
    return coll_group_outer(&coll_i_sim_plan(sim, rank)->group, rank);
}

COLL_INLINE void coll_i_sim_put(coll_sim *sim, coll_time time, uint32_t rank, uint32_t what)
{
    coll_i_queue_put(sim->queue, time, rank, what);
}

/* ---- ends -------------------------------------------------------------------------------- */

/* It is known now when the action of slot k ends, or its message is there. */
COLL_INLINE void coll_i_sim_ends(coll_i_sim_rank *at, uint32_t k, coll_time end)
{
    at->open &= ~((uint32_t)1 << k);
    coll_i_slot_set_time(&at->request.slots[k], end);
    at->finish = coll_later(at->finish, end);
}

/* Takes the processor for the time of an operation that starts now. Returns by how much longer
 * it takes than it should. */
COLL_INLINE coll_time coll_i_sim_occupy(coll_sim *sim, uint32_t rank, coll_time cpu)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    at->cpu = sim->now + cpu;
    sim->busy[rank] += cpu;
    return 0;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Sends slot k's message to `to`: it will arrive at `time`. */
COLL_INLINE void coll_i_sim_post(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t to,
                                 const coll_message *m, coll_time time, bool waits)
{
    const uint32_t i = coll_i_op_take(&sim->mail);
    coll_i_op *op;
    if (i == COLL_NOBODY)
        return;
    op = coll_i_op_at(&sim->mail, i);
    op->from = rank;
    op->to = to;
    op->slot = (uint8_t)k;
    op->flags = waits ? COLL_I_WAITS : 0;
    op->bytes = m->bytes;
    coll_i_sim_put(sim, time, to, COLL_I_WHAT(COLL_I_ARRIVE, i));
}

/* Bytes of an action's message. */
COLL_INLINE uint64_t coll_i_sim_bytes(const coll_sim *sim, const coll_action *a)
{
    return coll_i_has(COLL_I_TOKENS, a) ? 0 : a->count * sim->plans[0].problem.elem_bytes;
}

/* Slot k begins to send. */
COLL_INLINE void coll_i_sim_send(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *a = &at->request.slots[k].act;
    const bool all = a->kind == COLL_DO_MULTICAST;
    const uint32_t first = all ? 0 : a->peer, end = all ? sim->p : a->peer + 1;
    coll_cost cost = {0, 0, 0, 0};
    coll_message m;
    coll_time late;
    bool waits;
    m.from = coll_i_sim_outer(sim, rank);
    m.to = all ? COLL_NOBODY : coll_i_sim_outer(sim, a->peer);
    m.bytes = coll_i_sim_bytes(sim, a);
    model->send(model, &m, &cost);
    late = coll_i_sim_occupy(sim, rank, cost.cpu);
    at->out = sim->now + late + cost.port;
    waits = m.bytes > model->eager && sim->p > 1;
    sim->messages++;
    sim->bytes += m.bytes;
    if (waits) {
        at->open |= (uint32_t)1 << k;
        coll_i_slot_set_time(&at->request.slots[k], all ? sim->p - 1 : 1);
    } else {
        coll_i_sim_ends(at, k, sim->now + late + cost.done);
    }
    for (uint32_t to = first; to < end; to++)
        if (to != rank)
            coll_i_sim_post(sim, rank, k, to, &m, sim->now + late + cost.wire, waits);
}

/* The oldest receive that waits for a message of this rank; COLL_NOBODY: there is none. */
COLL_INLINE uint32_t coll_i_sim_receiver(const coll_i_sim_rank *at, uint32_t from)
{
    for (uint32_t left = at->open; left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_slot *slot = &at->request.slots[k];
        if (slot->act.peer == from && !(slot->order & at->open) &&
            coll_i_has(COLL_I_RECEIVES, &slot->act))
            return k;
    }
    return COLL_NOBODY;
}

/* A message and its receive have met: the data is there at `time`. */
COLL_INLINE void coll_i_sim_meet(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t i)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    if (op->bytes != coll_i_sim_bytes(sim, &at->request.slots[k].act))
        coll_i_sim_fail(sim, COLL_ERR_SIZE, rank);
    coll_i_sim_ends(at, k, coll_later(op->time, sim->now));
    if (op->flags & COLL_I_WAITS)
        coll_i_sim_put(sim, sim->now, op->from, COLL_I_WHAT(COLL_I_RELEASE, op->slot));
    coll_i_op_give(&sim->mail, i);
}

/* The rank begins to take in the message that has waited longest. */
COLL_INLINE void coll_i_sim_take(coll_sim *sim, uint32_t rank)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const uint32_t i = coll_i_list_take(&sim->mail, &at->arrived);
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_cost cost = {0, 0, 0, 0};
    coll_message m;
    coll_time late;
    uint32_t k;
    m.from = coll_i_sim_outer(sim, op->from);
    m.to = coll_i_sim_outer(sim, rank);
    m.bytes = op->bytes;
    model->receive(model, &m, &cost);
    late = coll_i_sim_occupy(sim, rank, cost.cpu);
    at->in = sim->now + late + cost.port;
    op->time = sim->now + late + cost.done;
    k = coll_i_sim_receiver(at, op->from);
    if (k != COLL_NOBODY)
        coll_i_sim_meet(sim, rank, k, i);
    else
        coll_i_inbox_put(&sim->mail, at, i);
}

/* Slot k waits for its message from now on. */
COLL_INLINE void coll_i_sim_receive(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const uint32_t i = coll_i_inbox_take(&sim->mail, at, at->request.slots[k].act.peer);
    if (i != COLL_NOBODY)
        coll_i_sim_meet(sim, rank, k, i);
    else
        at->open |= (uint32_t)1 << k;
}

/* ---- reductions by the network ----------------------------------------------------------- */

/* Slot k comes to the next reduction of its team; the last member ends it for all. */
COLL_INLINE void coll_i_sim_attend(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *a = &at->request.slots[k].act;
    const uint32_t i = coll_i_op_take(&sim->mail);
    coll_i_meeting *meeting;
    size_t number;
    coll_team team;
    team.number = a->peer;
    team.members = (uint32_t)a->stride;
    if (!model->fabric || team.number >= COLL_TEAMS) {
        coll_i_sim_fail(sim, COLL_ERR_CAPABILITY, rank);
        return;
    }
    if (!sim->attended)
        sim->attended = (uint32_t *)calloc(sim->p, COLL_TEAMS * sizeof(uint32_t));
    number = sim->attended ? sim->attended[(size_t)rank * COLL_TEAMS + team.number]++ : 0;
    number = number * COLL_TEAMS + team.number;
    if (!sim->attended || i == COLL_NOBODY ||
        !coll_i_array_reserve(&sim->meetings, number + 1, sizeof(coll_i_meeting))) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return;
    }
    for (; sim->meetings.n <= number; sim->meetings.n++) {
        meeting = (coll_i_meeting *)sim->meetings.at + sim->meetings.n;
        meeting->members = COLL_I_NONE_LISTED;
        meeting->left = 0;
    }
    meeting = (coll_i_meeting *)sim->meetings.at + number;
    if (meeting->members == COLL_I_NONE_LISTED)
        meeting->left = team.members;
    at->open |= (uint32_t)1 << k;
    coll_i_slot_set_time(&at->request.slots[k], 1);
    coll_i_op_at(&sim->mail, i)->from = rank;
    coll_i_op_at(&sim->mail, i)->slot = (uint8_t)k;
    coll_i_list_append(&sim->mail, &meeting->members, i);
    if (--meeting->left > 0)
        return;
    while (meeting->members != COLL_I_NONE_LISTED) {
        const uint32_t member = coll_i_list_take(&sim->mail, &meeting->members);
        const coll_i_op *op = coll_i_op_at(&sim->mail, member);
        coll_i_sim_put(sim,
                       sim->now + model->fabric(model, team, coll_i_sim_bytes(sim, a)),
                       op->from, COLL_I_WHAT(COLL_I_RELEASE, op->slot));
        coll_i_op_give(&sim->mail, member);
    }
}

/* ---- slots ------------------------------------------------------------------------------- */

/* Slot k begins to compute. */
COLL_INLINE void coll_i_sim_compute(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_cost cost = {0, 0, 0, 0};
    coll_time late;
    if (model->compute)
        model->compute(model, coll_i_sim_outer(sim, rank), &at->request.slots[k].act,
                       sim->plans[0].problem.elem_bytes, &cost);
    late = coll_i_sim_occupy(sim, rank, cost.cpu);
    coll_i_sim_ends(at, k, sim->now + late + cost.cpu);
}

/* Slot k is ready to send or to compute: it queues for the processor. */
COLL_INLINE void coll_i_sim_queue(coll_sim *sim, coll_i_sim_rank *at, uint32_t k)
{
    at->waits |= (uint32_t)1 << k;
    coll_i_slot_set_time(&at->request.slots[k], sim->now);
}

/* Begins what of slot k can begin: as coll_i_launch (request.h). */
COLL_INLINE void coll_i_sim_launch(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_request *r = &at->request;
    const uint32_t bit = (uint32_t)1 << k;
    const coll_slot *slot = &r->slots[k];
    r->ready &= ~bit;
    if (r->landed & bit) {
        if (slot->hold == 0 && !(r->flying & bit)) {
            r->flying |= bit;
            coll_i_sim_queue(sim, at, k);
        }
        return;
    }
    if (!coll_i_may_start(r, k))
        return;
    r->pending &= ~bit;
    r->flying |= bit;
    r->ready |= slot->dependents & ~r->free;
    if (coll_i_has(COLL_I_RECEIVES, &slot->act))
        coll_i_sim_receive(sim, rank, k);
    else if (slot->act.kind == COLL_DO_FABRIC_REDUCE)
        coll_i_sim_attend(sim, rank, k);
    else
        coll_i_sim_queue(sim, at, k);
}

/* The action of slot k has ended, or its message is there. */
COLL_INLINE void coll_i_sim_retire(coll_request *r, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    if (r->slots[k].act.kind != COLL_DO_RECV_REDUCE || (r->landed & bit)) {
        coll_i_finish(r, k);
        return;
    }
    r->flying &= ~bit;
    coll_i_land(r, k);
    r->ready |= bit;
}

/* Has twice the slots, if it may. */
COLL_INLINE bool coll_i_sim_widen(coll_sim *sim, uint32_t rank)
{
    coll_request *r = &sim->ranks[rank].request;
    const uint32_t most = sim->options.window, had = r->window;
    const uint32_t window = had == 0 ? (most < 2 ? most : 2) : 2 * had < most ? 2 * had : most;
    coll_slot *slots;
    if (had == most)
        return false;
    slots = coll_i_slots_take(&sim->slots, coll_log2_ceil(window));
    if (!slots) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return false;
    }
    if (had > 0) {
        memcpy(slots, r->slots, had * sizeof *slots);
        coll_i_slots_give(&sim->slots, r->slots, coll_log2_ceil(had));
    }
    r->slots = slots;
    r->window = (uint8_t)window;
    r->free |= coll_i_all(r) & ~(((uint32_t)1 << had) - 1);
    return true;
}

/* Takes steps into the window while there is room: as coll_i_fill (request.h). */
COLL_INLINE void coll_i_sim_fill(coll_sim *sim, uint32_t rank)
{
    const coll_plan *plan = coll_i_sim_plan(sim, rank);
    coll_request *r = &sim->ranks[rank].request;
    coll_action acts[COLL_STEP_MAX];
    while (r->step < r->steps && (r->free || coll_i_sim_widen(sim, rank))) {
        const uint32_t n = coll_plan_step(plan, rank, r->step, acts);
        uint32_t i = r->skip;
        for (; i < n && (r->free || coll_i_sim_widen(sim, rank)); i++) {
            if (acts[i].count == 0)
                continue;
            if (coll_i_has_peer(&acts[i]) && (acts[i].peer >= sim->p || acts[i].peer == rank)) {
                coll_i_sim_fail(sim, COLL_ERR_RANK, rank);
                return;
            }
            coll_i_sim_launch(sim, rank, coll_i_admit(r, &acts[i]));
        }
        r->skip = (uint8_t)(i < n ? i : 0);
        if (i < n)
            return;
        r->step++;
    }
}

/* Gives the processor and the ports to who has waited longest: among those of one time, sends
 * before messages before computations. Returns when there may be something to give again. */
COLL_INLINE coll_time coll_i_sim_give(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    while (at->waits != 0 || at->arrived != COLL_I_NONE_LISTED) {
        coll_time since = COLL_NEVER, again = COLL_NEVER; /* since: four times the time, and rank */
        uint32_t next = 0;
        bool message = false;
        for (uint32_t left = at->waits; left; left &= left - 1) {
            const uint32_t k = COLL_LOWEST_BIT(left);
            const coll_slot *slot = &at->request.slots[k];
            const bool sends = coll_i_has(COLL_I_SENDS, &slot->act);
            const coll_time free = sends ? coll_later(at->cpu, at->out) : at->cpu;
            const coll_time time = 4 * coll_i_slot_time(slot) + (sends ? 0 : 2);
            if (slot->order & at->waits)
                continue;
            if (free > sim->now) {
                again = free < again ? free : again;
            } else if (time < since) {
                since = time;
                next = k;
            }
        }
        if (at->arrived != COLL_I_NONE_LISTED) {
            const coll_i_op *last = coll_i_op_at(&sim->mail, at->arrived);
            const coll_time free = coll_later(at->cpu, at->in);
            if (free > sim->now) {
                again = free < again ? free : again;
            } else if (4 * coll_i_op_at(&sim->mail, last->next)->time + 1 < since) {
                since = 0;
                message = true;
            }
        }
        if (since == COLL_NEVER)
            return again;
        if (message) {
            coll_i_sim_take(sim, rank);
            continue;
        }
        at->waits &= ~((uint32_t)1 << next);
        if (coll_i_has(COLL_I_SENDS, &at->request.slots[next].act))
            coll_i_sim_send(sim, rank, next);
        else
            coll_i_sim_compute(sim, rank, next);
    }
    return COLL_NEVER;
}

/* The slots whose actions have ended by now; *next: when the next one does that something waits
 * for. Receives of one peer end in order. */
COLL_INLINE uint32_t coll_i_sim_ended(const coll_sim *sim, const coll_i_sim_rank *at,
                                      coll_time *next)
{
    const coll_request *r = &at->request;
    uint32_t ended = 0;
    *next = COLL_NEVER;
    for (uint32_t left = r->flying & ~at->open & ~at->waits; left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_slot *slot = &r->slots[k];
        const coll_time end = coll_i_slot_time(slot);
        if (end <= sim->now) {
            if (slot->order == 0 || !coll_i_has(COLL_I_RECEIVES, &slot->act) ||
                (r->landed & (uint32_t)1 << k))
                ended |= (uint32_t)1 << k;
        } else if (end < *next &&
                   (slot->dependents || slot->act.kind == COLL_DO_RECV_REDUCE ||
                    r->step < r->steps)) {
            *next = end;
        }
    }
    return ended;
}

/* Does all that can be done on a rank now. */
COLL_INLINE void coll_i_sim_settle(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_request *r = &at->request;
    coll_time next, again;
    uint32_t ended = coll_i_sim_ended(sim, at, &next);
    do {
        for (; ended; ended &= ended - 1)
            coll_i_sim_retire(r, COLL_LOWEST_BIT(ended));
        while (r->ready)
            coll_i_sim_launch(sim, rank, COLL_LOWEST_BIT(r->ready));
        if (r->step < r->steps)
            coll_i_sim_fill(sim, rank);
        again = coll_i_sim_give(sim, rank);
        ended = coll_i_sim_ended(sim, at, &next);
    } while ((ended | r->ready) && sim->status == COLL_OK);
    next = again < next ? again : next;
    if (next < at->timer) {
        at->timer = next;
        coll_i_sim_put(sim, next, rank, COLL_I_WHAT(COLL_I_WAKE, 0));
    }
}

/* ---- the simulation ---------------------------------------------------------------------- */

COLL_INLINE void coll_i_sim_start(coll_sim *sim, uint32_t rank)
{
    sim->ranks[rank].request.steps = coll_plan_steps(coll_i_sim_plan(sim, rank), rank);
    coll_i_sim_settle(sim, rank);
}

/* Ranks begin at once, in order, or when they are told to. */
COLL_INLINE void coll_i_sim_begin(coll_sim *sim)
{
    const coll_sim_options *o = &sim->options;
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        coll_i_sim_rank *at = &sim->ranks[rank];
        coll_time start = o->skew ? o->skew[rank] : 0;
        if (!o->skew && o->skew_most > 0)
            start = coll_time_of((double)o->skew_most *
                                 coll_i_fraction(coll_i_mixed(o->seed, rank, 0)));
        if (o->model->start)
            start += o->model->start(o->model, coll_i_sim_outer(sim, rank));
        memset(at, 0, sizeof *at);
        at->request.status = COLL_AGAIN;
        at->timer = COLL_NEVER;
        at->arrived = at->inbox = COLL_I_NONE_LISTED;
        at->cpu = at->finish = start;
        coll_i_sim_put(sim, start, rank, COLL_I_WHAT(COLL_I_START, 0));
    }
}

COLL_INLINE void coll_i_sim_event(coll_sim *sim, const coll_i_event *event)
{
    const uint32_t number = event->what >> 4;
    coll_i_sim_rank *at = &sim->ranks[event->rank];
    switch (event->what & 15u) {
    case COLL_I_START:
        coll_i_sim_start(sim, event->rank);
        return;
    case COLL_I_WAKE:
        if (at->timer != event->time)
            return; /* it has been looked at since */
        at->timer = COLL_NEVER;
        break;
    case COLL_I_ARRIVE:
        coll_i_op_at(&sim->mail, number)->time = event->time;
        coll_i_list_append(&sim->mail, &at->arrived, number);
        break;
    default: { /* COLL_I_RELEASE */
        coll_slot *slot = &at->request.slots[number];
        const coll_time left = coll_i_slot_time(slot) - 1;
        coll_i_slot_set_time(slot, left);
        if (left > 0)
            return;
        coll_i_sim_ends(at, number, event->time);
        break;
    }
    }
    coll_i_sim_settle(sim, event->rank);
}

/* Has the rank done all its actions? */
COLL_INLINE bool coll_i_sim_done(const coll_i_sim_rank *at)
{
    const coll_request *r = &at->request;
    return r->step == r->steps && !r->pending && !at->open && !at->waits &&
           !(r->landed & ~r->flying);
}

COLL_INLINE void coll_i_sim_release(coll_sim *sim)
{
    if (sim->queue)
        coll_i_queue_free(sim->queue);
    free(sim->queue);
    free(sim->attended);
    coll_i_array_free(&sim->meetings);
    coll_i_mail_free(&sim->mail);
    coll_i_slots_free(&sim->slots);
    sim->queue = NULL;
    sim->attended = NULL;
}

/* Sets the options to what is usual: the window of comm.h, no skew. */
COLL_INLINE void coll_sim_options_init(coll_sim_options *options, const coll_cost_model *model)
{
    memset(options, 0, sizeof *options);
    options->model = model;
    options->window = COLL_WINDOW;
    options->seed = 1;
}

/* When a rank ended; how long its processor was busy. */
COLL_INLINE coll_time coll_sim_finish(const coll_sim *sim, uint32_t rank)
{
    return sim->ranks[rank].finish;
}

COLL_INLINE coll_time coll_sim_busy(const coll_sim *sim, uint32_t rank)
{
    return sim->busy[rank];
}

/* Forgets the results and gives the memory back. */
COLL_INLINE void coll_sim_free(coll_sim *sim)
{
    coll_i_sim_release(sim);
    free(sim->ranks);
    free(sim->busy);
    memset(sim, 0, sizeof *sim);
}

COLL_INLINE size_t coll_i_sim_memory(const coll_sim *sim)
{
    return sim->p * (sizeof(coll_i_sim_rank) + sizeof(coll_time)) + sizeof(coll_i_queue) +
           sim->queue->chunks.room * sizeof(coll_i_chunk) +
           sim->mail.ops.room * sizeof(coll_i_op) + sim->slots.n_slabs * sizeof(coll_i_slab) +
           sim->meetings.room * sizeof(coll_i_meeting) +
           (sim->attended ? sim->p * COLL_TEAMS * sizeof(uint32_t) : 0);
}

/* Simulates all ranks of a collective: of one plan, or with `per_rank` of a plan for each. *sim
 * then holds the results, until coll_sim_free. COLL_OK; COLL_ERR_DEADLOCK: ranks wait for each
 * other, one of them is sim->stuck; COLL_ERR_WINDOW; COLL_ERR_CAPABILITY: the model has no
 * FABRIC_REDUCE; COLL_ERR_SIZE, COLL_ERR_RANK: the plan is wrong; COLL_ERR_MEMORY;
 * COLL_ERR_OVERFLOW: it takes longer than COLL_TIME_LIMIT. */
COLL_INLINE coll_status coll_sim_run(coll_sim *sim, const coll_plan *plans, bool per_rank,
                                     const coll_sim_options *options)
{
    coll_i_event event;
    memset(sim, 0, sizeof *sim);
    if (!plans || !options || !options->model)
        return COLL_ERR_NULL;
    if (options->window == 0 || options->window > 32)
        return COLL_ERR_WINDOW;
    sim->options = *options;
    sim->plans = plans;
    sim->per_rank = per_rank;
    sim->p = plans[0].problem.p;
    sim->status = COLL_OK;
    coll_i_mail_init(&sim->mail);
    sim->ranks = (coll_i_sim_rank *)malloc(sim->p * sizeof *sim->ranks);
    sim->busy = (coll_time *)calloc(sim->p, sizeof *sim->busy);
    sim->queue = (coll_i_queue *)malloc(sizeof *sim->queue);
    if (!sim->ranks || !sim->busy || !sim->queue) {
        free(sim->queue);
        sim->queue = NULL;
        coll_sim_free(sim);
        return COLL_ERR_MEMORY;
    }
    coll_i_queue_init(sim->queue);
    coll_i_sim_begin(sim);
    while (sim->status == COLL_OK && coll_i_queue_take(sim->queue, &event)) {
        const coll_i_event *soon = coll_i_queue_soon(sim->queue, 4);
        if (soon) {
            COLL_I_PREFETCH(&sim->ranks[soon->rank]);
            COLL_I_PREFETCH((const char *)&sim->ranks[soon->rank] + 64);
        }
        sim->now = event.time;
        coll_i_sim_event(sim, &event);
        if (event.time >= COLL_TIME_LIMIT)
            coll_i_sim_fail(sim, COLL_ERR_OVERFLOW, event.rank);
        if (sim->queue->out_of_memory || sim->mail.out_of_memory)
            coll_i_sim_fail(sim, COLL_ERR_MEMORY, event.rank);
    }
    sim->events = sim->queue->taken;
    sim->memory = coll_i_sim_memory(sim);
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        sim->makespan = coll_later(sim->makespan, sim->ranks[rank].finish);
        if (!coll_i_sim_done(&sim->ranks[rank]))
            coll_i_sim_fail(sim, COLL_ERR_DEADLOCK, rank);
    }
    coll_i_sim_release(sim);
    return sim->status;
}

#endif /* COLL_SIM_ENGINE_H */
