/* tests/support/play_world.h — what a player plays with: programs, memory, messages
 *
 * Use player.h.
 */
#ifndef COLL_TESTS_EXPORT_PLAY_WORLD_H
#define COLL_TESTS_EXPORT_PLAY_WORLD_H

#include "exported.h"

typedef struct play_action {
    coll_action act;
    uint32_t *after, *behind, *combine_after; /* actions of the same rank */
    uint32_t n_after, n_behind, n_combine_after;
    unsigned state;  /* 0: waits, 1: began, RECV_REDUCE 2: has it, 3: combines; 4: ended */
    uint64_t *early; /* what it computed, or sends, if it read at its beginning */
    uint32_t number; /* of its message: of all sent, or on its channel; of its meeting */
} play_action;

typedef struct play_rank {
    play_action *actions;
    uint32_t n;
    size_t extent[COLL_SPACES];
    uint64_t *at[COLL_SPACES]; /* the player's, but SHARED is that of the node */
    uint32_t node;
    uint32_t meetings[COLL_NETWORK_GROUPS]; /* to which it has come */
} play_rank;

typedef struct play_message {
    uint64_t *data; /* NULL: not yet */
    size_t count;
    uint32_t from, to;
} play_message;

typedef struct play {
    play_rank *ranks;
    uint32_t p, n_messages, *sent, *received; /* p × p */
    uint64_t **shared;                        /* of each node */
    play_message *messages;
    coll_combine combine;
    uint64_t seed;
    /* An action to come last, from a state on, and a younger one before it: as soon as it may,
     * or when nothing else can move. COLL_RANK_NONE: none. */
    uint32_t held_rank, held, younger;
    unsigned held_from;
    bool eager;
    bool broken; /* something was outside, or of the wrong size */
} play;

/* Memory of a player of which p, and the ranks' actions, extents and nodes, are set. */
static inline void play_init(play *g)
{
    g->sent = (uint32_t *)calloc((size_t)g->p * g->p, sizeof *g->sent);
    g->received = (uint32_t *)calloc((size_t)g->p * g->p, sizeof *g->received);
    g->shared = (uint64_t **)calloc(g->p, sizeof *g->shared);
    g->messages = NULL;
    g->n_messages = 0;
    g->held_rank = COLL_RANK_NONE;
    for (uint32_t r = 0; r < g->p; r++) {
        play_rank *me = &g->ranks[r];
        for (int space = COLL_IN; space < COLL_SHARED; space++)
            me->at[space] = (uint64_t *)calloc(me->extent[space] + 1, sizeof(uint64_t));
        if (!g->shared[me->node])
            g->shared[me->node] =
                (uint64_t *)calloc(me->extent[COLL_SHARED] + 1, sizeof(uint64_t));
        me->at[COLL_SHARED] = g->shared[me->node];
    }
}

static inline void play_forget(play *g)
{
    for (uint32_t i = 0; i < g->n_messages; i++)
        free(g->messages[i].data);
    free(g->messages);
    g->messages = NULL;
    g->n_messages = 0;
}

static inline void play_free(play *g)
{
    play_forget(g);
    for (uint32_t r = 0; r < g->p; r++) {
        for (uint32_t i = 0; i < g->ranks[r].n; i++) {
            free(g->ranks[r].actions[i].after);
            free(g->ranks[r].actions[i].behind);
            free(g->ranks[r].actions[i].combine_after);
            free(g->ranks[r].actions[i].early);
        }
        for (int space = COLL_IN; space < COLL_SHARED; space++)
            free(g->ranks[r].at[space]);
        free(g->shared[r]);
        free(g->ranks[r].actions);
    }
    free(g->shared);
    free(g->sent);
    free(g->received);
    free(g->ranks);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Where a range lies; what is outside is noted, and somewhere harmless. */
static inline uint64_t *play_at(play *g, uint32_t rank, coll_ref ref, size_t count)
{
    static uint64_t harmless[1 << 16];
    const play_rank *me = &g->ranks[rank];
    const coll_space space = coll_ref_space(ref);
    if (coll_ref_offset(ref) > me->extent[space] ||
        count > me->extent[space] - coll_ref_offset(ref)) {
        g->broken = true;
        return harmless;
    }
    return me->at[space] + coll_ref_offset(ref);
}

static inline void play_spoil(play *g, uint32_t rank, coll_ref ref, size_t count)
{
    uint64_t *at = play_at(g, rank, ref, count);
    for (size_t i = 0; i < count; i++)
        at[i] = RIG_POISON ^ chance_bits(&g->seed);
}

/* ---- messages ---------------------------------------------------------------------------- */

static inline play_message *play_message_of(play *g, uint32_t from, uint32_t to,
                                            uint32_t number)
{
    for (uint32_t i = 0; i < g->n_messages; i++)
        if (g->messages[i].from == from && g->messages[i].to == to && number-- == 0)
            return &g->messages[i];
    return NULL;
}

/* A message without its data yet. */
static inline void play_post(play *g, uint32_t from, uint32_t to)
{
    g->messages =
        (play_message *)realloc(g->messages, (g->n_messages + 1) * sizeof *g->messages);
    memset(&g->messages[g->n_messages], 0, sizeof *g->messages);
    g->messages[g->n_messages].from = from;
    g->messages[g->n_messages++].to = to;
    g->sent[from * g->p + to]++;
}

/* Gives a message its data, which become the player's. */
static inline void play_fill(play *g, uint32_t number, uint64_t *data, size_t count)
{
    g->messages[number].count = count;
    g->messages[number].data = data;
}

/* The message of a receive, once it is there. */
static inline const play_message *play_arrived(play *g, uint32_t rank, const play_action *x)
{
    const play_message *m = play_message_of(g, x->act.peer, rank, x->number);
    if (!m || !m->data)
        return NULL;
    if (m->count != (x->act.kind == COLL_DO_AWAIT ? 0 : x->act.count))
        g->broken = true;
    return m;
}

#endif /* COLL_TESTS_EXPORT_PLAY_WORLD_H */
