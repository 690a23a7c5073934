/* tools/rounds.c — see rounds.h */
#include "rounds.h"

#include <stdlib.h>

#include "memory.h"

/* What a rank waits for, besides the message of a rank. */
static const uint32_t NONE = UINT32_MAX;    /* nothing: it has ended */
static const uint32_t ALL = UINT32_MAX - 1; /* its group, for a network reduction */
static const uint32_t SERVED =
    UINT32_MAX - 2; /* the end of the round in which it got its struct message */
enum { RANKS_MAX = 4096 };

/* Where a rank's program stands. */
struct player {
    const coll_plan *plan;
    size_t step, steps;
    unsigned n, at;       /* actions of the step before `step`, and the one that is next */
    uint32_t waits;       /* for a message of this rank, or one of the above */
    uint32_t chain;       /* the longest chain of messages so far */
    uint32_t first, last; /* messages that have not left yet */
    size_t messages, elements;
    coll_action acts[COLL_STEP_MAX];
};

struct game {
    struct rounds *rounds;
    struct player *players;
    size_t room, limit, meetings_room;
    uint32_t p;
};

/* ---- one rank ---------------------------------------------------------------------------- */

/* Adds, and stays at the most there is. */
static void add_up(size_t *sum, size_t count)
{
    *sum = count > SIZE_MAX - *sum ? SIZE_MAX : *sum + count;
}

static void post(struct game *g, uint32_t from, uint32_t to, const coll_action *a, bool more)
{
    struct rounds *r = g->rounds;
    struct player *me = &g->players[from];
    struct message *m;
    if (r->n == g->room) {
        g->room = g->room ? 2 * g->room : 1024;
        r->list = memory_must(realloc(r->list, g->room * sizeof *r->list));
    }
    m = &r->list[r->n];
    *m = (struct message){.from = from, .to = to, .more = more, .next = NONE};
    m->token = a->kind == COLL_DO_NOTIFY;
    m->count = m->token ? 0 : a->count;
    m->chain = me->chain + 1;
    if (me->first == NONE)
        me->first = (uint32_t)r->n;
    else
        r->list[me->last].next = (uint32_t)r->n;
    me->last = (uint32_t)r->n++;
    if (!more) {
        me->messages++;
        add_up(&me->elements, m->count);
    }
}

/* Has the action a peer? */
static bool talks(const coll_action *a)
{
    return a->kind != COLL_DO_MULTICAST &&
           coll_i_has((unsigned)COLL_I_SENDS | (unsigned)COLL_I_RECEIVES, a);
}

/* Runs a rank's program up to the next receive. */
static void advance(struct game *g, uint32_t rank)
{
    struct player *me = &g->players[rank];
    for (;;) {
        const coll_action *a = &me->acts[me->at];
        if (me->at == me->n) {
            if (me->step == me->steps || g->rounds->n > g->limit)
                break;
            me->n = job_step(me->plan, rank, me->step++, me->acts);
            me->at = 0;
            continue;
        }
        if (a->count != 0 && talks(a) && (a->peer >= g->p || a->peer == rank))
            refuse("rank %u names rank %u as its peer in step %zu, and there are %u ranks",
                   rank, a->peer, me->step - 1, g->p);
        if (a->count == 0) {
            me->at++;
        } else if (a->kind == COLL_DO_SEND || a->kind == COLL_DO_NOTIFY) {
            post(g, rank, a->peer, a, false);
            me->at++;
        } else if (a->kind == COLL_DO_MULTICAST) {
            for (uint32_t to = 0, n = 0; to < g->p; to++)
                if (to != rank)
                    post(g, rank, to, a, n++ > 0);
            me->at++;
        } else if (coll_i_has(COLL_I_RECEIVES, a)) {
            me->waits = a->peer;
            return;
        } else if (a->kind == COLL_DO_NETWORK_REDUCE) {
            me->waits = ALL;
            return;
        } else {
            me->at++;
        }
    }
    me->waits = NONE;
}

/* ---- a round ----------------------------------------------------------------------------- */

static void deliver(struct game *g, struct message *m)
{
    struct player *to = &g->players[m->to];
    m->round = g->rounds->rounds;
    m->left = true;
    m->combined = to->acts[to->at].kind == COLL_DO_RECV_REDUCE;
    if (to->chain < m->chain)
        to->chain = m->chain;
    if (g->rounds->chain < m->chain)
        g->rounds->chain = m->chain;
    to->waits = SERVED;
}

/* Lets `from` send the oldest message whose receiver waits. Returns whether there was one. */
static bool send_one(struct game *g, uint32_t from)
{
    struct player *me = &g->players[from];
    struct message *list = g->rounds->list;
    bool sent = false;
    uint32_t before = NONE;
    for (uint32_t i = me->first, next; i != NONE; i = next) {
        struct message *m = &list[i];
        next = m->next;
        if (sent && !m->more)
            break; /* the rest of a multicast goes along, and nothing else */
        if (g->players[m->to].waits == from) {
            deliver(g, m);
            sent = true;
            if (before == NONE)
                me->first = next;
            else
                list[before].next = next;
            if (me->last == i)
                me->last = before;
        } else {
            before = i;
        }
    }
    return sent;
}

/* The group of the network reduction that a rank waits for. */
static uint32_t group_of(const struct player *me)
{
    const uint32_t group = me->acts[me->at].peer;
    if (group >= COLL_NETWORK_GROUPS)
        refuse("a network reduction names group %u, and there are %d", group,
               COLL_NETWORK_GROUPS);
    return group;
}

/* A rank meets its group, for the `*at`th meeting of all; 0: it is the first one there. */
static void note_meeting(struct game *g, uint32_t rank, size_t *at)
{
    struct rounds *r = g->rounds;
    if (*at == 0) {
        if (r->n_meetings == g->meetings_room) {
            g->meetings_room = g->meetings_room ? 2 * g->meetings_room : 64;
            r->meetings =
                memory_must(realloc(r->meetings, g->meetings_room * sizeof *r->meetings));
        }
        r->meetings[r->n_meetings] = (struct meeting){.round = r->rounds};
        *at = ++r->n_meetings;
    }
    if (rank < 64)
        r->meetings[*at - 1].ranks |= (uint64_t)1 << rank;
}

/* One round. Returns whether anything moved. `wanted` has an entry a rank. */
static bool play_round(struct game *g, bool *wanted)
{
    uint32_t met[COLL_NETWORK_GROUPS] = {0}; /* ranks of each group that are waiting */
    size_t meeting[COLL_NETWORK_GROUPS] = {0};
    bool any = false;
    g->rounds->rounds++;
    for (uint32_t r = 0; r < g->p; r++)
        wanted[r] = false;
    for (uint32_t r = 0; r < g->p; r++) {
        const uint32_t from = g->players[r].waits;
        if (from < g->p)
            wanted[from] = true;
        if (from == ALL)
            met[group_of(&g->players[r])]++;
    }
    for (uint32_t r = 0; r < g->p; r++)
        if (wanted[r])
            any = send_one(g, r) || any;
    for (uint32_t r = 0; r < g->p; r++) {
        struct player *me = &g->players[r];
        const bool meets =
            me->waits == ALL && met[group_of(me)] == me->acts[me->at].stride; /* its members */
        if (me->waits != SERVED && !meets)
            continue;
        any = true;
        if (meets)
            note_meeting(g, r, &meeting[group_of(me)]);
        me->at++;
        advance(g, r);
    }
    return any;
}

static bool all_ended(const struct game *g)
{
    for (uint32_t r = 0; r < g->p; r++)
        if (g->players[r].waits != NONE || g->players[r].first != NONE)
            return false;
    return true;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Brings the messages in the order of their rounds. */
static void sort(struct rounds *r)
{
    struct message *sorted = memory_of(r->n, sizeof *sorted);
    size_t *at = memory_of((size_t)r->rounds + 2, sizeof *at);
    for (size_t i = 0; i < r->n; i++)
        at[r->list[i].round + 1]++;
    for (uint32_t k = 0; k <= r->rounds; k++)
        at[k + 1] += at[k];
    for (size_t i = 0; i < r->n; i++)
        sorted[at[r->list[i].round]++] = r->list[i];
    free(at);
    free(r->list);
    r->list = sorted;
}

void rounds_play(struct rounds *r, const struct job *job, size_t limit)
{
    struct game g = {.rounds = r, .limit = limit, .p = job->p};
    bool *wanted;
    *r = (struct rounds){.list = NULL};
    if (job->p > RANKS_MAX)
        return;
    g.players = memory_of(job->p, sizeof *g.players);
    wanted = memory_of(job->p, sizeof *wanted);
    for (uint32_t rank = 0; rank < job->p; rank++) {
        struct player *me = &g.players[rank];
        me->plan = job_plan(job, rank);
        me->steps = coll_plan_steps(me->plan, rank);
        me->first = me->last = NONE;
        advance(&g, rank);
    }
    while (r->n <= limit && !all_ended(&g))
        if (!play_round(&g, wanted)) {
            r->rounds--;
            r->stuck = r->n <= limit;
            break;
        }
    r->complete = r->n <= limit && all_ended(&g);
    for (uint32_t rank = 0; rank < job->p; rank++) {
        const struct player *me = &g.players[rank];
        if (r->stuck && me->waits < job->p) {
            r->waits = rank;
            r->awaited = me->waits;
        }
        add_up(&r->elements, me->elements);
        if (r->most_messages < me->messages)
            r->most_messages = me->messages;
        if (r->most_elements < me->elements)
            r->most_elements = me->elements;
    }
    if (r->complete)
        sort(r);
    free(wanted);
    free(g.players);
}

void rounds_free(struct rounds *r)
{
    free(r->list);
    free(r->meetings);
}
