/* tests/support/player.h — runs programs of which nothing is known but their actions and what
 * each must come after, on data, in any order that is allowed
 *
 * Every action begins and ends at two moments, between which others may run. It reads at the
 * one or at the other, writes at the end, and spoils at the beginning what it will write; so an
 * order that lets two actions overlap which must not will be seen in the result. Who comes next is drawn at random; but one
 * action may be held back so that a younger one passes it. Messages of one rank to another are
 * matched in the order in which sends and receives begin.
 */
#ifndef COLL_TESTS_EXPORT_PLAYER_H
#define COLL_TESTS_EXPORT_PLAYER_H

#include "play_world.h"

/* ---- actions ----------------------------------------------------------------------------- */

/* What an action sends or writes, from what memory holds now; the caller frees it. */
static inline uint64_t *play_compute(play *g, uint32_t rank, const coll_action *a)
{
    const size_t count = a->kind == COLL_DO_NOTIFY ? 0 : a->count;
    uint64_t *result = (uint64_t *)malloc((count + 1) * sizeof *result);
    const uint64_t *src = play_at(g, rank, a->src, count);
    memcpy(result, src, count * sizeof *result);
    if (a->kind == COLL_DO_RECV_REDUCE) {
        const uint64_t *via = play_at(g, rank, a->via, count);
        const bool left = (a->flags & COLL_LEFT) != 0;
        g->combine(result, left ? via : src, left ? src : via, count, NULL);
    }
    for (uint32_t i = 0; a->kind == COLL_DO_REDUCE && i < a->inputs; i++)
        g->combine(result, result, play_at(g, rank, a->via + i * a->stride, count), count,
                   NULL);
    return result;
}

/* Is the range one that the action reads? */
static inline bool play_reads(const coll_action *a, coll_ref at)
{
    return at == a->src || (a->kind != COLL_DO_COPY && at == a->via);
}

/* An action that computes, or sends, begins: it reads now or later. */
static inline void play_read(play *g, uint32_t rank, play_action *x)
{
    const coll_action *a = &x->act;
    if (chance_of(&g->seed, 2))
        x->early = play_compute(g, rank, a);
    if (coll_i_has(COLL_I_WRITES_DST, a) && (x->early || !play_reads(a, a->dst)))
        play_spoil(g, rank, a->dst, a->count);
}

/* … and ends. */
static inline uint64_t *play_result(play *g, uint32_t rank, play_action *x)
{
    uint64_t *result = x->early ? x->early : play_compute(g, rank, &x->act);
    x->early = NULL;
    return result;
}

static inline void play_begin(play *g, uint32_t rank, play_action *x)
{
    const coll_action *a = &x->act;
    x->state = 1;
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
    case COLL_DO_NOTIFY:
    case COLL_DO_MULTICAST:
        x->number = g->n_messages;
        for (uint32_t to = 0; to < g->p; to++)
            if (to != rank && (a->kind == COLL_DO_MULTICAST || to == a->peer))
                play_post(g, rank, to);
        play_read(g, rank, x);
        break;
    case COLL_DO_RECV:
    case COLL_DO_AWAIT:
    case COLL_DO_RECV_REDUCE:
        x->number = g->received[a->peer * g->p + rank]++;
        if (a->kind != COLL_DO_AWAIT)
            play_spoil(g, rank, a->kind == COLL_DO_RECV ? a->dst : a->via, a->count);
        break;
    case COLL_DO_NETWORK_REDUCE:
        x->number = g->ranks[rank].meetings[a->peer]++;
        break;
    case COLL_DO_COPY:
    case COLL_DO_REDUCE:
        play_read(g, rank, x);
        break;
    case COLL_KINDS:
        break;
    }
}

/* Ranks that are to be at a meeting, and whether all have come. */
static inline bool play_met(play *g, const play_action *x)
{
    uint32_t come = 0;
    for (uint32_t r = 0; r < g->p; r++)
        come += g->ranks[r].meetings[x->act.peer] > x->number;
    return come == x->act.stride;
}

/* The action of a rank that is at a meeting, or NULL. */
static inline play_action *play_at_meeting(play *g, uint32_t rank, const play_action *x)
{
    for (uint32_t i = 0; i < g->ranks[rank].n; i++) {
        play_action *o = &g->ranks[rank].actions[i];
        if (o->act.kind == COLL_DO_NETWORK_REDUCE && o->act.peer == x->act.peer &&
            o->number == x->number && o->state == 1)
            return o;
    }
    return NULL;
}

/* All that meet get the sum, and end. */
static inline void play_meet(play *g, const play_action *x)
{
    const size_t count = coll_i_is_token(&x->act) ? 0 : x->act.count;
    uint64_t *sum = (uint64_t *)calloc(count + 1, sizeof *sum);
    uint32_t come = 0;
    for (uint32_t r = 0; r < g->p; r++) {
        const play_action *o = play_at_meeting(g, r, x);
        const uint64_t *src = o ? play_at(g, r, o->act.src, count) : NULL;
        if (o && come++ == 0)
            memcpy(sum, src, count * sizeof *sum);
        else if (o)
            g->combine(sum, sum, src, count, NULL);
    }
    for (uint32_t r = 0; r < g->p; r++) {
        play_action *o = play_at_meeting(g, r, x);
        if (o) {
            memcpy(play_at(g, r, o->act.dst, count), sum, count * sizeof *sum);
            o->state = 4;
        }
    }
    free(sum);
}

/* Takes the message of a receive; false: it is not there yet. */
static inline bool play_take(play *g, uint32_t rank, play_action *x)
{
    const coll_action *a = &x->act;
    const play_message *m = play_arrived(g, rank, x);
    if (!m)
        return false;
    if (m->count > 0)
        memcpy(play_at(g, rank, a->kind == COLL_DO_RECV ? a->dst : a->via, m->count), m->data,
               m->count * sizeof(uint64_t));
    x->state = a->kind == COLL_DO_RECV_REDUCE ? 2 : 4;
    return true;
}

/* Ends an action, or the part of it that runs; false: it cannot yet. */
static inline bool play_end(play *g, uint32_t rank, play_action *x)
{
    const coll_action *a = &x->act;
    uint64_t *result;
    if (a->kind == COLL_DO_NETWORK_REDUCE) {
        if (!play_met(g, x))
            return false;
        play_meet(g, x);
        return true;
    }
    if (coll_i_has(COLL_I_RECEIVES, a) && x->state == 1)
        return play_take(g, rank, x);
    result = play_result(g, rank, x);
    if (coll_i_has(COLL_I_SENDS, a)) {
        const size_t count = a->kind == COLL_DO_NOTIFY ? 0 : a->count;
        const uint32_t messages = a->kind == COLL_DO_MULTICAST ? g->p - 1 : 1;
        for (uint32_t i = 0; i < messages; i++) {
            uint64_t *copy = (uint64_t *)malloc((count + 1) * sizeof *copy);
            memcpy(copy, result, count * sizeof *copy);
            play_fill(g, x->number + i, copy, count);
        }
    } else {
        memcpy(play_at(g, rank, a->dst, a->count), result, a->count * sizeof *result);
    }
    free(result);
    x->state = 4;
    return true;
}

static inline bool play_all(const play_rank *me, const uint32_t *actions, uint32_t n,
                            unsigned state)
{
    for (uint32_t i = 0; i < n; i++)
        if (me->actions[actions[i]].state < state)
            return false;
    return true;
}

/* Moves an action on if the order allows it. */
static inline bool play_move(play *g, uint32_t rank, uint32_t i)
{
    const play_rank *me = &g->ranks[rank];
    play_action *x = &me->actions[i];
    switch (x->state) {
    case 0:
        if (!play_all(me, x->after, x->n_after, 4) || !play_all(me, x->behind, x->n_behind, 1))
            return false;
        play_begin(g, rank, x);
        return true;
    case 2:
        if (!play_all(me, x->combine_after, x->n_combine_after, 4))
            return false;
        play_read(g, rank, x);
        x->state = 3;
        return true;
    case 4:
        return false;
    default:
        return play_end(g, rank, x);
    }
}

/* ---- running ----------------------------------------------------------------------------- */

static inline bool play_holds(const play *g, uint32_t rank, uint32_t i)
{
    return rank == g->held_rank &&
           (i == g->younger ||
            (i == g->held && g->ranks[rank].actions[i].state >= g->held_from));
}

/* Moves something: from a place at random on, what is found first. */
static inline bool play_any(play *g)
{
    const uint32_t first = chance_of(&g->seed, g->p);
    if (g->held_rank != COLL_RANK_NONE && g->eager && play_move(g, g->held_rank, g->younger))
        return true;
    for (uint32_t k = 0; k < g->p; k++) {
        const uint32_t rank = (first + k) % g->p, n = g->ranks[rank].n;
        const uint32_t from = chance_of(&g->seed, n);
        for (uint32_t i = 0; i < n; i++)
            if (!play_holds(g, rank, (from + i) % n) && play_move(g, rank, (from + i) % n))
                return true;
    }
    return g->held_rank != COLL_RANK_NONE &&
           (play_move(g, g->held_rank, g->younger) || play_move(g, g->held_rank, g->held));
}

/* Runs all programs; false: not all of them end, or one does what it must not. */
static inline bool play_run(play *g)
{
    bool all = true;
    play_forget(g);
    memset(g->sent, 0, (size_t)g->p * g->p * sizeof *g->sent);
    memset(g->received, 0, (size_t)g->p * g->p * sizeof *g->received);
    g->broken = false;
    for (uint32_t r = 0; r < g->p; r++) {
        memset(g->ranks[r].meetings, 0, sizeof g->ranks[r].meetings);
        for (uint32_t i = 0; i < g->ranks[r].n; i++) {
            g->ranks[r].actions[i].state = 0;
            free(g->ranks[r].actions[i].early);
            g->ranks[r].actions[i].early = NULL;
        }
        for (int space = COLL_SCRATCH; space <= COLL_SHARED; space++)
            play_spoil(g, r, COLL_AT(space, 0), g->ranks[r].extent[space]);
    }
    while (play_any(g))
        ;
    for (uint32_t r = 0; r < g->p; r++) {
        for (uint32_t i = 0; i < g->ranks[r].n; i++)
            all = all && g->ranks[r].actions[i].state == 4;
        for (uint32_t k = 0; k < g->p; k++)
            all = all && g->sent[r * g->p + k] == g->received[r * g->p + k];
    }
    return all && !g->broken;
}

/* Runs all programs on a rig's data; is the result right? */
static inline bool play_rig(play *g, rig *it)
{
    bool well = true;
    rig_fill(it);
    for (uint32_t r = 0; r < it->p && well; r++) {
        const rig_rank *me = &it->ranks[r];
        well = g->ranks[r].extent[COLL_IN] == me->in.count &&
               g->ranks[r].extent[COLL_OUT] == me->out.count;
        if (well && me->in.count)
            memcpy(g->ranks[r].at[COLL_IN], me->in.raw + RIG_GUARD, me->in.count * 8);
        if (well && me->out.count)
            memcpy(g->ranks[r].at[COLL_OUT], me->out.raw + RIG_GUARD, me->out.count * 8);
    }
    g->combine = it->op.combine;
    well = well && play_run(g);
    for (uint32_t r = 0; r < it->p && well; r++) {
        const rig_rank *me = &it->ranks[r];
        if (me->in.count)
            memcpy(me->in.raw + RIG_GUARD, g->ranks[r].at[COLL_IN], me->in.count * 8);
        if (me->out.count)
            memcpy(me->out.raw + RIG_GUARD, g->ranks[r].at[COLL_OUT], me->out.count * 8);
    }
    return well && rig_right(it);
}

#endif /* COLL_TESTS_EXPORT_PLAYER_H */
