/* coll/lab/verify/window_bound.h — runs both engines over a transport that only counts messages: the
 * least window, the least sends in flight
 *
 * The engines are the real ones (executor.h); no data moves. Sends wait until the receiver has
 * started to receive, or until at most `capacity` messages lie in the channel. Whether a plan
 * ends does not depend on who runs when, and a larger window or capacity only ever helps: an
 * operation that can start can still start later. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_WINDOW_BOUND_H
#define COLL_LAB_VERIFY_WINDOW_BOUND_H

#include "../../executor.h"
#include "../../executor/in_order.h"
#include "data.h"

typedef struct coll_i_world {
    coll_i_channels channels;
    coll_i_channels seats; /* number r is the outer rank of rank r, if the plan is placed */
    bool placed;
    coll_i_memory endpoints, engines, in_order, slots, ready, queued, plans, dummy, copies, met;
    uint32_t p, n_ready, capacity;
    uint32_t n_copies; /* multicasts under way, p sequence numbers each */
    uint32_t
        meetings; /* how many NETWORK_REDUCEs there are in `met`, COLL_NETWORK_GROUPS words each … */
} coll_i_world;

typedef struct coll_i_endpoint {
    coll_i_world *world;
    uint32_t rank;
    uint32_t meetings[COLL_NETWORK_GROUPS]; /* … to which it has come */
} coll_i_endpoint;

COLL_INLINE void coll_i_wake(coll_i_world *w, uint32_t rank)
{
    unsigned char *queued = (unsigned char *)w->queued.at;
    if (!queued[rank]) {
        queued[rank] = 1;
        ((uint32_t *)w->ready.at)[w->n_ready++] = rank;
    }
}

/* Counts a message in; its number in the channel. */
COLL_INLINE uint32_t coll_i_count_send(coll_i_world *w, uint32_t c)
{
    coll_i_channel *channel = coll_i_channel_at(&w->channels, c);
    coll_i_wake(w, channel->to);
    return channel->sent++;
}

/* The rank that is an outer rank, or COLL_I_NONE. */
COLL_INLINE uint32_t coll_i_world_seat(const coll_i_world *w, uint32_t outer)
{
    const coll_i_channel_key *slot;
    if (!w->placed)
        return outer;
    slot = coll_i_channel_slot(&w->seats, (uint64_t)outer << 32);
    return slot->epoch == w->seats.epoch ? slot->index : COLL_I_NONE;
}

COLL_INLINE bool coll_i_is_taken(coll_i_world *w, uint32_t c, uint32_t number)
{
    return number < coll_i_channel_at(&w->channels, c)->received + w->capacity;
}

COLL_INLINE coll_status coll_i_world_send(void *ctx, uint32_t peer, uint32_t tag,
                                          const void *buf, size_t bytes, coll_handle *h)
{
    const coll_i_endpoint *me = (const coll_i_endpoint *)ctx;
    const uint32_t to = coll_i_world_seat(me->world, peer);
    const uint32_t c = coll_i_channel_of(&me->world->channels, me->rank, to);
    (void)tag, (void)buf, (void)bytes;
    if (to == COLL_I_NONE)
        return COLL_ERR_RANK;
    if (c == COLL_I_NONE)
        return COLL_ERR_MEMORY;
    h->word[0] = (uintptr_t)c * 4 + 0;
    h->word[1] = coll_i_count_send(me->world, c);
    return coll_i_is_taken(me->world, c, (uint32_t)h->word[1]) ? COLL_OK : COLL_STARTED;
}

COLL_INLINE coll_status coll_i_world_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                          size_t bytes, coll_handle *h)
{
    const coll_i_endpoint *me = (const coll_i_endpoint *)ctx;
    const uint32_t from = coll_i_world_seat(me->world, peer);
    const uint32_t c = coll_i_channel_of(&me->world->channels, from, me->rank);
    coll_i_channel *channel;
    (void)tag, (void)buf, (void)bytes;
    if (from == COLL_I_NONE)
        return COLL_ERR_RANK;
    if (c == COLL_I_NONE)
        return COLL_ERR_MEMORY;
    channel = coll_i_channel_at(&me->world->channels, c);
    h->word[0] = (uintptr_t)c * 4 + 1;
    h->word[1] = channel->received++;
    if (h->word[1] >= channel->sent)
        return COLL_STARTED;
    coll_i_wake(me->world, from);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_world_acquire(void *ctx, uint32_t peer, uint32_t tag,
                                             size_t bytes, const void **message, coll_handle *h)
{
    const coll_i_endpoint *me = (const coll_i_endpoint *)ctx;
    const uint32_t from = coll_i_world_seat(me->world, peer);
    const uint32_t c = coll_i_channel_of(&me->world->channels, from, me->rank);
    (void)tag, (void)bytes, (void)h;
    if (from == COLL_I_NONE)
        return COLL_ERR_RANK;
    if (c == COLL_I_NONE)
        return COLL_ERR_MEMORY;
    if (coll_i_channel_at(&me->world->channels, c)->received >=
        coll_i_channel_at(&me->world->channels, c)->sent)
        return COLL_AGAIN;
    coll_i_channel_at(&me->world->channels, c)->received++;
    coll_i_wake(me->world, from);
    *message = me->world->dummy.at;
    return COLL_OK;
}

COLL_INLINE void coll_i_world_release_message(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
}

/* A multicast is a send to each; it is done when all of them are. */
COLL_INLINE coll_status coll_i_world_multicast(void *ctx, uint32_t tag, const void *buf,
                                               size_t bytes, coll_handle *h)
{
    const coll_i_endpoint *me = (const coll_i_endpoint *)ctx;
    coll_i_world *w = me->world;
    const size_t at = (size_t)w->n_copies * w->p * 2;
    uint32_t *copies =
        (uint32_t *)coll_i_reserve(&w->copies, (at + w->p * 2) * sizeof(uint32_t));
    (void)tag, (void)buf, (void)bytes;
    if (!copies)
        return COLL_ERR_MEMORY;
    for (uint32_t to = 0; to < w->p; to++) {
        const uint32_t c = to == me->rank ? 0 : coll_i_channel_of(&w->channels, me->rank, to);
        if (c == COLL_I_NONE)
            return COLL_ERR_MEMORY;
        copies[at + 2 * to] = c;
        copies[at + 2 * to + 1] = to == me->rank ? 0 : coll_i_count_send(w, c);
    }
    h->word[0] = 2;
    h->word[1] = w->n_copies++;
    return COLL_STARTED;
}

/* Meeting number k of a group is word k·COLL_NETWORK_GROUPS + group of `met`: how many are still to come. */
COLL_INLINE coll_status coll_i_world_meet(void *ctx, const coll_network_call *call,
                                          coll_handle *h)
{
    const coll_network_group group = call->group;
    coll_i_endpoint *me = (coll_i_endpoint *)ctx;
    coll_i_world *w = me->world;
    const uint32_t k = me->meetings[group.number]++;
    uint32_t *met = (uint32_t *)coll_i_reserve(&w->met, (k + (size_t)1) * COLL_NETWORK_GROUPS *
                                                            sizeof(uint32_t));
    if (!met)
        return COLL_ERR_MEMORY;
    for (; w->meetings <= k; w->meetings++)
        for (uint32_t t = 0; t < COLL_NETWORK_GROUPS; t++)
            met[w->meetings * COLL_NETWORK_GROUPS + t] = COLL_I_NONE;
    met += k * COLL_NETWORK_GROUPS + group.number;
    if (*met == COLL_I_NONE)
        *met = group.members;
    h->word[0] = 3;
    h->word[1] = k * COLL_NETWORK_GROUPS + group.number;
    if (--*met > 0)
        return COLL_STARTED;
    for (uint32_t r = 0; r < w->p; r++)
        coll_i_wake(w, r);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_world_test(void *ctx, coll_handle *h)
{
    const coll_i_endpoint *me = (const coll_i_endpoint *)ctx;
    coll_i_world *w = me->world;
    const uint32_t c = (uint32_t)(h->word[0] / 4), number = (uint32_t)h->word[1];
    bool done = true;
    switch (h->word[0] & 3u) {
    case 0:
        done = coll_i_is_taken(w, c, number);
        break;
    case 1:
        done = number < coll_i_channel_at(&w->channels, c)->sent;
        break;
    case 2: {
        const uint32_t *copies = (const uint32_t *)w->copies.at + (size_t)number * w->p * 2;
        for (uint32_t to = 0; to < w->p && done; to++)
            done = to == me->rank || coll_i_is_taken(w, copies[2 * to], copies[2 * to + 1]);
        break;
    }
    default:
        done = ((const uint32_t *)w->met.at)[number] == 0;
        break;
    }
    return done ? COLL_OK : COLL_AGAIN;
}

COLL_INLINE coll_status coll_i_world_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                          coll_handle *h)
{
    (void)ctx, (void)dst, (void)src, (void)bytes, (void)h;
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_world_reduce(void *ctx, const coll_reduce_call *call,
                                            coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    return COLL_OK;
}

COLL_INLINE void coll_i_world_combine(void *dst, const void *a, const void *b, size_t count,
                                      void *arg)
{
    (void)dst, (void)a, (void)b, (void)count, (void)arg;
}

/* A plan without window limits: the steps are those of the plan at `inner`. */
COLL_INLINE size_t coll_i_world_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_plan_steps((const coll_plan *)plan->inner, rank);
}

COLL_INLINE unsigned coll_i_world_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    return coll_plan_step((const coll_plan *)plan->inner, rank, s, out);
}

COLL_ALGORITHM(coll_i_world_algorithm, "world", "",
    /* collectives */ 0, /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_world_steps, coll_i_world_step);

/* Has the ranks meet under the outer ranks that the plans' group gives them. False: some rank has
 * that of another, or another rank has its own. */
COLL_INLINE bool coll_i_world_place(coll_i_world *w, const coll_i_data *d, coll_report *report)
{
    const coll_group *group = &coll_i_rank_at(d, 0)->plan->group;
    w->placed = group->table || group->base != 0 || group->stride != 1;
    coll_i_channels_clear(&w->seats);
    for (uint32_t rank = 0; w->placed && rank < w->p; rank++) {
        const uint32_t outer = coll_group_outer(group, rank);
        const uint32_t seat = coll_i_channel_of(&w->seats, outer, 0);
        if (seat == COLL_I_NONE)
            return coll_i_no_memory(report);
        if (seat != rank)
            return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                "its rank outside, %u, is that of rank %u, too", outer, seat);
        if (coll_group_rank(group, w->p, outer) != rank)
            return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                "its rank outside is %u, and the group knows that as another",
                                outer);
    }
    return true;
}

/* What the runs over one plan have in common: plans without window limits, and memory that nobody
 * touches. */
COLL_INLINE bool coll_i_world_begin(coll_i_world *w, const coll_i_data *d, coll_report *report)
{
    const uint32_t p = w->p = d->p;
    size_t largest = 1;
    coll_plan *plans = (coll_plan *)coll_i_reserve_new(&w->plans, p * sizeof(coll_plan));
    if (!plans || !coll_i_reserve_new(&w->endpoints, p * sizeof(coll_i_endpoint)) ||
        !coll_i_reserve_new(&w->engines, p * sizeof(coll_engine)) ||
        !coll_i_reserve_new(&w->in_order, p * sizeof(coll_in_order)) ||
        !coll_i_reserve_new(&w->ready, p * sizeof(uint32_t)) ||
        !coll_i_reserve_new(&w->queued, p))
        return coll_i_no_memory(report);
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_i_rank *at = coll_i_rank_at(d, rank);
        plans[rank] = *at->plan;
        plans[rank].algorithm = &coll_i_world_algorithm;
        plans[rank].inner = at->plan;
        plans[rank].window = plans[rank].sends = 1;
        for (int space = 0; space < COLL_SPACES; space++)
            largest = at->extent[space] > largest ? at->extent[space] : largest;
    }
    if (!coll_i_reserve_new(&w->dummy, largest * plans[0].problem.elem_bytes))
        return coll_i_no_memory(report);
    return coll_i_world_place(w, d, report);
}

/* How the ranks run: by the window engine, over a transport that lends messages too, or in order. */
typedef enum coll_i_world_way {
    COLL_I_WORLD_WINDOW,
    COLL_I_WORLD_ZERO_COPY,
    COLL_I_WORLD_IN_ORDER
} coll_i_world_way;

/* Starts a rank with `room` slots, or sends in flight. */
COLL_INLINE coll_status coll_i_world_start(coll_i_world *w, uint32_t rank,
                                           const coll_task *task, uint32_t room,
                                           coll_i_world_way how)
{
    coll_engine *engine = (coll_engine *)w->engines.at + rank;
    coll_in_order *in_order = (coll_in_order *)w->in_order.at + rank;
    coll_status status;
    if (how == COLL_I_WORLD_IN_ORDER) {
        coll_outstanding *ops = (coll_outstanding *)w->slots.at + (size_t)rank * (room + 1);
        status = coll_in_order_init(in_order, ops, room + 1);
        return status == COLL_OK ? coll_in_order_start(in_order, task) : status;
    }
    status = coll_engine_init(engine, (coll_slot *)w->slots.at + (size_t)rank * room, room);
    return status == COLL_OK ? coll_engine_start(engine, task) : status;
}

/* Moves a rank on; its status, and whether anything happened. */
COLL_INLINE coll_status coll_i_world_move(coll_i_world *w, uint32_t rank, coll_i_world_way how,
                                          bool *moved)
{
    coll_engine *engine = (coll_engine *)w->engines.at + rank;
    coll_in_order *in_order = (coll_in_order *)w->in_order.at + rank;
    const coll_status status = how == COLL_I_WORLD_IN_ORDER ? coll_in_order_progress(in_order)
                                                            : coll_engine_progress(engine);
    *moved = (how == COLL_I_WORLD_IN_ORDER ? in_order->idle : engine->window.idle) == 0;
    return status;
}

COLL_INLINE coll_status coll_i_world_status(const coll_i_world *w, uint32_t rank,
                                            coll_i_world_way how)
{
    return how == COLL_I_WORLD_IN_ORDER ? ((const coll_in_order *)w->in_order.at)[rank].status
                                        : ((const coll_engine *)w->engines.at)[rank].status;
}

/* What a rank runs: its plan without window limits, on memory that nobody touches. */
COLL_INLINE void coll_i_world_task(const coll_i_world *w, const coll_i_data *d, uint32_t rank,
                                   const coll_transport *transport, void *ctx, coll_task *task)
{
    static const coll_op op = COLL_OP(coll_i_world_combine, NULL, true, true);
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_plan *plan = (const coll_plan *)w->plans.at + rank;
    coll_task_init(task, plan, rank, transport, ctx);
    task->op = &op;
    task->in = task->out = task->scratch = task->shared = w->dummy.at;
    task->scratch_bytes = at->extent[COLL_SCRATCH] * plan->problem.elem_bytes;
    task->shared_bytes = at->extent[COLL_SHARED] * plan->problem.elem_bytes;
}

/* Bytes of a rank's slots, or of its sends in flight and the action that blocks. */
COLL_INLINE size_t coll_i_world_room(uint32_t room, coll_i_world_way how)
{
    return how == COLL_I_WORLD_IN_ORDER ? (room + 1) * sizeof(coll_outstanding)
                                        : room * sizeof(coll_slot);
}

/* Runs all ranks with so much room and a channel capacity. COLL_OK: it ended; COLL_AGAIN: it never
 * does. */
COLL_INLINE coll_status coll_i_world_run(coll_i_world *w, const coll_i_data *d, uint32_t room,
                                         uint32_t capacity, coll_i_world_way how)
{
    static const coll_zero_copy zero_copy = {
        coll_i_world_acquire, coll_i_world_release_message, 0, NULL, 0, 0};
    static const coll_in_network network = {coll_i_world_multicast, coll_i_world_meet, 0, NULL};
    coll_transport transport;
    uint32_t *ready = (uint32_t *)w->ready.at, left = w->p;
    if (!coll_i_reserve_new(&w->slots, w->p * coll_i_world_room(room, how)))
        return COLL_ERR_MEMORY;
    memset(&transport, 0, sizeof transport);
    transport.send = coll_i_world_send;
    transport.recv = coll_i_world_recv;
    transport.test = coll_i_world_test;
    transport.copy = coll_i_world_copy;
    transport.in_network = &network;
    if (how == COLL_I_WORLD_ZERO_COPY)
        transport.zero_copy = &zero_copy;
    else
        transport.reduce = coll_i_world_reduce;
    coll_i_channels_clear(&w->channels);
    w->capacity = capacity;
    w->n_copies = w->meetings = w->n_ready = 0;
    memset(w->queued.at, 1, w->p); /* nobody is woken before everybody has started */
    for (uint32_t rank = 0; rank < w->p; rank++) {
        coll_i_endpoint *me = (coll_i_endpoint *)w->endpoints.at + rank;
        coll_task task;
        coll_status status;
        me->world = w;
        me->rank = rank;
        memset(me->meetings, 0, sizeof me->meetings);
        coll_i_world_task(w, d, rank, &transport, me, &task);
        status = coll_i_world_start(w, rank, &task, room, how);
        if (status != COLL_OK)
            return status;
    }
    /* A rank that nobody woke may still lose patience (executor.h), so all are asked that often
     * before it counts as stuck. */
    for (uint32_t quiet = 0; left > 0 && quiet <= COLL_I_WINDOW_PATIENCE; quiet++) {
        w->n_ready = 0;
        for (uint32_t rank = w->p; rank-- > 0;)
            if (coll_i_world_status(w, rank, how) == COLL_AGAIN)
                ready[w->n_ready++] = rank;
        memset(w->queued.at, 1, w->p);
        left = w->n_ready;
        while (w->n_ready > 0) {
            const uint32_t rank = ready[--w->n_ready];
            bool moved;
            ((unsigned char *)w->queued.at)[rank] = 0;
            if (coll_i_world_move(w, rank, how, &moved) < 0)
                return coll_i_world_status(w, rank, how);
            if (moved)
                quiet = 0;
        }
    }
    return left == 0 ? COLL_OK : COLL_AGAIN;
}

/* Does it end with this window, whether or not the transport lends its messages? */
COLL_INLINE coll_status coll_i_world_ends(coll_i_world *w, const coll_i_data *d,
                                          uint32_t window, uint32_t capacity)
{
    const coll_status status = coll_i_world_run(w, d, window, capacity, COLL_I_WORLD_WINDOW);
    return status == COLL_OK && ((d->kinds >> COLL_DO_RECV_REDUCE) & 1u) != 0
               ? coll_i_world_run(w, d, window, capacity, COLL_I_WORLD_ZERO_COPY)
               : status;
}

/* Writes what a rank's executor is stuck in, and that of the other rank, and so on: the first
 * message of each that has started and cannot end. */
COLL_INLINE void coll_i_stuck_words(const coll_engine *engines, uint32_t rank, char *text,
                                    size_t bytes)
{
    const uint32_t first = rank;
    size_t used = (size_t)snprintf(text, bytes, "it");
    for (int hops = 0; hops < 4; hops++) {
        const coll_engine *r = &engines[rank];
        const coll_window *window = &r->window;
        const uint32_t flying = r->status == COLL_AGAIN ? window->flying : 0;
        const coll_action *a = flying ? &window->slots[COLL_LOWEST_BIT(flying)].act : NULL;
        const bool sends = a && coll_i_has(COLL_I_SENDS, a);
        if (!a || !coll_i_has_peer(a)) {
            snprintf(text + used, bytes - used, " is in step %zu", window->step - 1);
            return;
        }
        used += (size_t)snprintf(text + used, bytes - used, " %s rank %u%s",
                                 sends ? "sends to" : "receives of", a->peer,
                                 a->peer == first ? "" : ", which");
        rank = a->peer;
        if (rank == first) {
            snprintf(text + used, bytes - used,
                     "; none of them can begin to receive before that");
            return;
        }
    }
    snprintf(text + used, bytes - used, " ...");
}

/* Says that no window suffices, and why. */
COLL_INLINE bool coll_i_found_no_window(coll_i_world *w, const coll_i_data *d,
                                        coll_report *report)
{
    const coll_engine *engines = (const coll_engine *)w->engines.at;
    const coll_status status = coll_i_world_ends(w, d, 32, 1);
    uint32_t stuck = 0;
    char words[256];
    if (status == COLL_ERR_MEMORY ||
        (status == COLL_OK && coll_i_world_ends(w, d, 32, 0) == COLL_ERR_MEMORY))
        return coll_i_no_memory(report);
    while (engines[stuck].status == COLL_OK)
        stuck++;
    coll_i_stuck_words(engines, stuck, words, sizeof words);
    return coll_i_found(
        report,
        status == COLL_OK ? COLL_FOUND_DEADLOCK_SYNCHRONOUS : COLL_FOUND_DEADLOCK_BOUNDED,
        stuck, engines[stuck].window.step - 1, "never ends, whatever the window, if %s: %s",
        status == COLL_OK ? "sends wait for the receiver"
                          : "a channel holds no more than one message",
        words);
}

/* Finds the least sends in flight, from `least` on, with which it ends in order if sends wait for the
 * receiver; they must be the plan's or fewer. */
COLL_INLINE bool coll_i_check_sends(coll_i_world *w, const coll_i_data *d, uint32_t least,
                                    coll_report *report)
{
    const uint32_t promised = coll_i_rank_at(d, 0)->plan->sends;
    uint32_t sends = least > promised ? promised : least > 0 ? least : 1;
    coll_status status = COLL_AGAIN;
    for (; sends < 32 && status == COLL_AGAIN; sends++)
        status = coll_i_world_run(w, d, sends, 0, COLL_I_WORLD_IN_ORDER);
    if (status == COLL_ERR_MEMORY)
        return coll_i_no_memory(report);
    if (status < 0)
        return coll_i_found(report, COLL_FOUND_PLAN, 0, COLL_NO_STEP,
                            "the in-order engine says: %s", coll_status_text(status));
    report->sends = sends - 1;
    if (status == COLL_OK && report->sends <= promised)
        return true;
    return coll_i_found(
        report, COLL_FOUND_SENDS, 0, COLL_NO_STEP,
        "in order, with sends that wait for the receiver, it needs %s%u sends in "
        "flight; it says %u",
        status == COLL_OK ? "" : "more than ", report->sends, promised);
}

/* Finds the least window, from `least` on, that suffices for synchronous sends; it must be the
 * plan's or less. And the same of sends in flight. */
COLL_INLINE bool coll_i_check_window(coll_i_world *w, const coll_i_data *d, uint32_t least,
                                     uint32_t least_sends, coll_report *report)
{
    const uint32_t promised = coll_i_rank_at(d, 0)->plan->window;
    coll_status status = COLL_AGAIN;
    uint32_t window = least > promised ? promised : least > 0 ? least : 1;
    if (!coll_i_world_begin(w, d, report))
        return false;
    for (; window <= 32; window++) {
        status = coll_i_world_ends(w, d, window, 0);
        if (status != COLL_AGAIN)
            break;
    }
    if (status == COLL_ERR_MEMORY)
        return coll_i_no_memory(report);
    if (status < 0)
        return coll_i_found(report, COLL_FOUND_PLAN, 0, COLL_NO_STEP, "the executor says: %s",
                            coll_status_text(status));
    if (status == COLL_AGAIN)
        return coll_i_found_no_window(w, d, report);
    report->window = window;
    if (window > promised)
        return coll_i_found(report, COLL_FOUND_WINDOW, 0, COLL_NO_STEP,
                            "with sends that wait for the receiver it needs a window of %u "
                            "slots; it says %u",
                            window, promised);
    return coll_i_check_sends(w, d, least_sends, report);
}

COLL_INLINE void coll_i_world_release(coll_i_world *w)
{
    coll_i_channels_release(&w->channels);
    coll_i_channels_release(&w->seats);
    coll_i_release(&w->endpoints);
    coll_i_release(&w->engines);
    coll_i_release(&w->in_order);
    coll_i_release(&w->slots);
    coll_i_release(&w->ready);
    coll_i_release(&w->queued);
    coll_i_release(&w->plans);
    coll_i_release(&w->dummy);
    coll_i_release(&w->copies);
    coll_i_release(&w->met);
}

#endif /* COLL_LAB_VERIFY_WINDOW_BOUND_H */
