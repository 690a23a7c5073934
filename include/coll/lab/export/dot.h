/* coll/lab/export/dot.h — a plan as a drawing for Graphviz
 *
 *   result = coll_export_dot(&job);             // then: dot -Tsvg
 *
 * A node is an action, in words; the actions of a rank stand in a box. Edges:
 *
 *   bold     a message, from its send to its receive
 *   plain    the later action starts after the earlier one has ended (program.h)
 *   empty    … or, receiving and combining, combines after that
 *   dashed   it starts after the earlier one has started: messages of one channel
 *
 * A node is named r2_5, action 5 of rank 2, numbered as in JSON. A reduction by the network is an
 * ellipse that its ranks share. Any plan can be drawn, but a drawing of more than some hundred
 * actions is of no use to anybody. Allocates a word or two for each message.
 */
#ifndef COLL_LAB_EXPORT_DOT_H
#define COLL_LAB_EXPORT_DOT_H

#include "action_words.h"
#include "program.h"

/* Receives of a channel that have not met their send, in a list. */
typedef struct coll_i_receive {
    uint32_t action, next;
} coll_i_receive;

typedef struct coll_i_drawing {
    coll_i_channels channels; /* head, tail: receives */
    coll_i_memory receives;
    uint32_t n_receives;
    uint32_t meetings[COLL_NETWORK_GROUPS]; /* drawn so far */
} coll_i_drawing;

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_receive_add(coll_i_drawing *d, uint32_t from, uint32_t to,
                                    uint32_t action)
{
    const uint32_t c = coll_i_channel_of(&d->channels, from, to);
    coll_i_receive *list = (coll_i_receive *)coll_i_reserve(
        &d->receives, (d->n_receives + (size_t)1) * sizeof *list);
    coll_i_channel *channel;
    if (c == COLL_I_NONE || !list)
        return false;
    channel = coll_i_channel_at(&d->channels, c);
    list[d->n_receives].action = action;
    list[d->n_receives].next = COLL_I_NONE;
    if (channel->head == COLL_I_NONE)
        channel->head = d->n_receives;
    else
        list[channel->tail].next = d->n_receives;
    channel->tail = d->n_receives++;
    return true;
}

/* Notes all receives, in the order of each channel. */
COLL_INLINE bool coll_i_receives_find(coll_i_drawing *d, const coll_export *job, uint32_t p)
{
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_plan *plan = coll_i_export_plan(job, rank);
        const size_t steps = coll_plan_steps(plan, rank);
        uint32_t action = 0;
        for (size_t s = 0; s < steps; s++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(plan, rank, s, acts);
            for (unsigned i = 0; i < n; i++) {
                if (acts[i].count == 0)
                    continue;
                if (coll_i_has(COLL_I_RECEIVES, &acts[i]) &&
                    !coll_i_receive_add(d, acts[i].peer, rank, action))
                    return false;
                action++;
            }
        }
    }
    return true;
}

/* Draws the next message of a channel; nothing, if nobody receives it. False: no memory. */
COLL_INLINE bool coll_i_draw_message(coll_i_drawing *d, coll_writer *to, uint32_t rank,
                                     uint32_t action, uint32_t peer)
{
    const uint32_t c = coll_i_channel_of(&d->channels, rank, peer);
    const coll_i_receive *receive;
    coll_i_channel *channel;
    if (c == COLL_I_NONE)
        return false;
    channel = coll_i_channel_at(&d->channels, c);
    if (channel->head == COLL_I_NONE)
        return true;
    receive = (const coll_i_receive *)d->receives.at + channel->head;
    coll_i_write(to, "  r%u_%u -> r%u_%u [style=bold, color=blue]\n", rank, action, peer,
                 receive->action);
    channel->head = receive->next;
    return true;
}

/* ---- ranks ------------------------------------------------------------------------------- */

/* The edges that lead to a node of a program. */
COLL_INLINE void coll_i_draw_edges(coll_writer *to, const coll_i_program *g,
                                   const coll_i_task *node, uint32_t rank)
{
    const uint32_t *edges = coll_i_edges_of(g, node);
    for (uint32_t k = 0; k < node->n; k++) {
        const uint32_t older = coll_i_task_at(g, edges[k] / 2)->action;
        if (older == node->action) /* receiving and combining are one here */
            continue;
        coll_i_write(to, "    r%u_%u -> r%u_%u%s\n", rank, older, rank, node->action,
                     edges[k] & COLL_I_BEHIND      ? " [style=dashed]"
                     : node->half == COLL_I_MERGES ? " [arrowhead=empty]"
                                                   : "");
    }
}

/* The box of a rank. */
COLL_INLINE void coll_i_draw_rank(coll_writer *to, const coll_i_program *g, uint32_t rank)
{
    coll_i_write(to, "  subgraph cluster_%u {\n    label=\"rank %u\"\n", rank, rank);
    for (uint32_t i = 0; i < g->n; i++) {
        const coll_i_task *node = coll_i_task_at(g, i);
        if (node->half != COLL_I_MERGES) {
            coll_i_write(to, "    r%u_%u [label=\"", rank, node->action);
            coll_write_action(to, &node->act);
            coll_i_write_text(to, "\"]\n");
        }
        coll_i_draw_edges(to, g, node, rank);
    }
    coll_i_write_text(to, "  }\n");
}

/* A reduction by the network, which the first rank of those that meet draws. */
COLL_INLINE void coll_i_draw_meeting(coll_i_drawing *d, coll_writer *to, uint32_t rank,
                                     const coll_i_task *node, uint32_t number)
{
    const uint32_t group = node->act.peer;
    if (number == d->meetings[group]) {
        coll_i_write(to, "  network_%u_%u [shape=ellipse, label=\"%s %u by the network", group,
                     number, node->act.flags & COLL_NETWORK_BARRIER ? "barrier" : "reduction",
                     number + 1);
        coll_i_write(to, "\\n%zu ranks\"]\n", node->act.stride);
        d->meetings[group]++;
    }
    coll_i_write(to, "  r%u_%u -> network_%u_%u [style=bold, color=blue, dir=both]\n", rank,
                 node->action, group, number);
}

/* What a rank sends, and what the network does for it. */
COLL_INLINE bool coll_i_draw_messages(coll_i_drawing *d, coll_writer *to,
                                      const coll_i_program *g, uint32_t rank, uint32_t p)
{
    uint32_t met[COLL_NETWORK_GROUPS] = {0, 0, 0};
    for (uint32_t i = 0; i < g->n; i++) {
        const coll_i_task *node = coll_i_task_at(g, i);
        const bool all = node->act.kind == COLL_DO_MULTICAST;
        if (node->act.kind == COLL_DO_NETWORK_REDUCE)
            coll_i_draw_meeting(d, to, rank, node, met[node->act.peer]++);
        if (!coll_i_has(COLL_I_SENDS, &node->act))
            continue;
        for (uint32_t peer = all ? 0 : node->act.peer; peer <= (all ? p - 1 : node->act.peer);
             peer++)
            if (peer != rank && !coll_i_draw_message(d, to, rank, node->action, peer))
                return false;
    }
    return true;
}

/* Writes DOT. */
COLL_INLINE coll_export_result coll_export_dot(coll_export *job)
{
    const coll_plan *first = coll_i_export_plan(job, 0);
    const uint32_t p = first->problem.p;
    coll_i_program program;
    coll_i_drawing drawing;
    bool memory;
    if (coll_i_export_ask(job, NULL, NULL) != COLL_EXPORTED)
        return COLL_EXPORT_REFUSED;
    memset(&program, 0, sizeof program);
    memset(&drawing, 0, sizeof drawing);
    coll_i_channels_clear(&drawing.channels);
    memory = coll_i_receives_find(&drawing, job, p);
    coll_i_write_text(&job->to, "digraph ");
    coll_write_quoted(&job->to, first->algorithm->name);
    coll_i_write_text(&job->to, " {\n  newrank=true\n"
                                "  node [shape=box, fontname=\"sans-serif\"]\n"
                                "  graph [fontname=\"sans-serif\"]\n");
    for (uint32_t rank = 0; rank < p && memory && !job->to.failed; rank++) {
        memory = coll_i_program_make(&program, coll_i_export_plan(job, rank), rank, true);
        if (memory)
            coll_i_draw_rank(&job->to, &program, rank);
        memory = memory && coll_i_draw_messages(&drawing, &job->to, &program, rank, p);
    }
    coll_i_write_text(&job->to, "}\n");
    coll_i_program_release(&program);
    coll_i_channels_release(&drawing.channels);
    coll_i_release(&drawing.receives);
    return coll_i_export_end(job, memory);
}

#endif /* COLL_LAB_EXPORT_DOT_H */
