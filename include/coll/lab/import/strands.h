/* coll/lab/import/strands.h — thread blocks that run side by side: what comes before what, and the races between them
 *
 * Each step of a block is a node. It comes after the one before it in its block, after the step of another block that
 * it waits for, and after the step that sends what it receives: the k-th receive of a connection takes its k-th
 * message. That is all the order there is. If any two steps of a rank that touch a chunk, one of them writing, are
 * ordered by it, then every interleaving of the blocks computes the same as any one of them (and a circle is a
 * deadlock). The nodes are levelled, each one above all that it comes after; level by level they are a sequence for
 * each rank, in which all blocks go on side by side.
 *
 *   coll_i_strands_make(&s, ranks, p, &report)    // nodes, levels; or what does not match
 *   coll_i_strands_races(&s, chunks, &report)     // a finding, or none
 *   coll_i_strands_sort(&s)                       // s.sorted: nodes, level by level
 *
 * Private.
 */
#ifndef COLL_LAB_IMPORT_STRANDS_H
#define COLL_LAB_IMPORT_STRANDS_H

#include "../export/msccl/ends.h"
#include "imported.h"

enum { COLL_I_STRAND_BEFORE = 5 };

typedef struct coll_i_strand_node {
    uint32_t rank, block, step, line;
    /* Nodes, or COLL_I_NONE: the step that it waits for, the sender, and, in the order of the sequences, the send and
     * receive of the same two ranks before it. */
    uint32_t waits, from, sent, received;
    uint32_t level; /* 0: not known yet; COLL_I_NONE: being looked for */
    uint32_t seen;  /* by the search of this number */
    uint32_t turn;  /* of `before`, while levels are looked for */
} coll_i_strand_node;

typedef struct coll_i_strands {
    const coll_i_blocks *ranks;
    uint32_t p, n, channels;
    coll_i_memory nodes, first,
        blocks; /* first: of a rank in `blocks`, where its blocks' first nodes are */
    coll_i_memory stack, sorted, counts, senders, touched, notes;
    coll_i_channels connections;
    uint32_t query;
} coll_i_strands;

COLL_INLINE void coll_i_strands_release(coll_i_strands *s)
{
    coll_i_release(&s->nodes);
    coll_i_release(&s->first);
    coll_i_release(&s->blocks);
    coll_i_release(&s->stack);
    coll_i_release(&s->sorted);
    coll_i_release(&s->counts);
    coll_i_release(&s->senders);
    coll_i_release(&s->touched);
    coll_i_release(&s->notes);
    coll_i_channels_release(&s->connections);
}

COLL_INLINE coll_i_strand_node *coll_i_strand_at(const coll_i_strands *s, uint32_t node)
{
    return (coll_i_strand_node *)s->nodes.at + node;
}

COLL_INLINE const coll_i_step *coll_i_strand_step(const coll_i_strands *s,
                                                  const coll_i_strand_node *node)
{
    return coll_i_step_at(coll_i_block_at(&s->ranks[node->rank], node->block), node->step);
}

COLL_INLINE const coll_i_block *coll_i_strand_block(const coll_i_strands *s,
                                                    const coll_i_strand_node *node)
{
    return coll_i_block_at(&s->ranks[node->rank], node->block);
}

/* The node of a step. */
COLL_INLINE uint32_t coll_i_strand_of(const coll_i_strands *s, uint32_t rank, uint32_t block,
                                      uint32_t step)
{
    const uint32_t *first = (const uint32_t *)s->first.at,
                   *blocks = (const uint32_t *)s->blocks.at;
    return blocks[first[rank] + block] + step;
}

/* The i-th node that it comes after, or COLL_I_NONE. */
COLL_INLINE uint32_t coll_i_strand_before(const coll_i_strand_node *node, uint32_t index,
                                          uint32_t i)
{
    return i == 0   ? (node->step > 0 ? index - 1 : COLL_I_NONE)
           : i == 1 ? node->waits
           : i == 2 ? node->from
           : i == 3 ? node->sent
                    : node->received;
}

COLL_INLINE COLL_I_PRINTF(5, 6) bool coll_i_strand_found(const coll_i_strands *s,
                                                         coll_report *report,
                                                         coll_finding finding, uint32_t index,
                                                         const char *format, ...)
{
    const coll_i_strand_node *node = coll_i_strand_at(s, index);
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return coll_i_found(report, finding, node->rank, node->step,
                        "thread block %" PRIu32 " (line %" PRIu32 ") %s", node->block,
                        node->line, text);
}

/* ---- nodes and messages ------------------------------------------------------------------ */

/* The number of a connection's end for coll_i_channels. */
COLL_INLINE uint32_t coll_i_strand_connection(coll_i_strands *s, uint32_t from, uint32_t to,
                                              uint32_t channel)
{
    return coll_i_channel_of(&s->connections, from * s->channels + channel, to);
}

COLL_INLINE bool coll_i_strands_nodes(coll_i_strands *s, const uint32_t *const *lines)
{
    uint32_t *first, *blocks, n = 0, n_blocks = 0;
    first = (uint32_t *)coll_i_reserve_new(&s->first, s->p * sizeof *first);
    for (uint32_t rank = 0; rank < s->p; rank++)
        n_blocks += s->ranks[rank].n;
    blocks =
        (uint32_t *)coll_i_reserve_new(&s->blocks, (n_blocks + (size_t)1) * sizeof *blocks);
    if (!first || !blocks)
        return false;
    n_blocks = 0;
    for (uint32_t rank = 0; rank < s->p; rank++) {
        first[rank] = n_blocks;
        for (uint32_t i = 0; i < s->ranks[rank].n; i++) {
            blocks[n_blocks++] = n;
            n += coll_i_block_at(&s->ranks[rank], i)->n;
        }
    }
    s->n = n;
    if (!coll_i_reserve_new(&s->nodes, (n + (size_t)1) * sizeof(coll_i_strand_node)))
        return false;
    n = 0;
    for (uint32_t rank = 0; rank < s->p; rank++) {
        uint32_t of_rank = 0;
        for (uint32_t i = 0; i < s->ranks[rank].n; i++) {
            const coll_i_block *block = coll_i_block_at(&s->ranks[rank], i);
            for (uint32_t k = 0; k < block->n; k++) {
                coll_i_strand_node *node = coll_i_strand_at(s, n++);
                memset(node, 0, sizeof *node);
                node->rank = rank;
                node->block = i;
                node->step = k;
                node->line = lines[rank][of_rank++];
                node->waits = node->from = node->sent = node->received = COLL_I_NONE;
            }
        }
    }
    return true;
}

/* Does each step wait for one that there is, and that tells when it has ended? */
COLL_INLINE bool coll_i_strands_waits(coll_i_strands *s, coll_report *report)
{
    for (uint32_t i = 0; i < s->n; i++) {
        coll_i_strand_node *node = coll_i_strand_at(s, i);
        const coll_i_step *step = coll_i_strand_step(s, node);
        const coll_i_blocks *blocks = &s->ranks[node->rank];
        if (step->block == COLL_I_NONE)
            continue;
        if (step->block >= blocks->n || step->after >= coll_i_block_at(blocks, step->block)->n)
            return coll_i_strand_found(s, report, COLL_FOUND_DEADLOCK, i,
                                       "waits for step %" PRIu32 " of block %" PRIu32
                                       ", and there is none",
                                       step->after, step->block);
        node->waits = coll_i_strand_of(s, node->rank, step->block, step->after);
        if (!coll_i_strand_step(s, coll_i_strand_at(s, node->waits))->awaited)
            return coll_i_strand_found(s, report, COLL_FOUND_DEADLOCK, i,
                                       "waits for step %" PRIu32 " of block %" PRIu32
                                       ", which does not say hasdep=\"1\" and so never tells",
                                       step->after, step->block);
    }
    return true;
}

/* The messages of each connection: sent, then received, in the order of one block at either end. */
COLL_INLINE bool coll_i_strands_match(coll_i_strands *s, coll_report *report)
{
    uint32_t *senders =
        (uint32_t *)coll_i_reserve_new(&s->senders, (s->n + (size_t)1) * sizeof *senders);
    if (!senders)
        return coll_i_no_memory(report);
    coll_i_channels_clear(&s->connections);
    for (uint32_t i = 0; i < s->n; i++) { /* a list of the sends of each */
        const coll_i_strand_node *node = coll_i_strand_at(s, i);
        const coll_i_block *block = coll_i_strand_block(s, node);
        coll_i_channel *channel;
        uint32_t c;
        if (!coll_i_step_sends(coll_i_strand_step(s, node)))
            continue;
        c = coll_i_strand_connection(s, node->rank, block->send, block->channel);
        if (c == COLL_I_NONE)
            return coll_i_no_memory(report);
        channel = coll_i_channel_at(&s->connections, c);
        senders[i] = COLL_I_NONE;
        if (channel->head == COLL_I_NONE)
            channel->head = i;
        else
            senders[channel->tail] = i;
        channel->tail = i;
        channel->sent++;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        coll_i_strand_node *node = coll_i_strand_at(s, i);
        const coll_i_block *block = coll_i_strand_block(s, node);
        const coll_i_step *step = coll_i_strand_step(s, node);
        coll_i_channel *channel;
        uint32_t c;
        if (!coll_i_step_receives(step))
            continue;
        c = coll_i_strand_connection(s, block->recv, node->rank, block->channel);
        if (c == COLL_I_NONE)
            return coll_i_no_memory(report);
        channel = coll_i_channel_at(&s->connections, c);
        if (channel->head == COLL_I_NONE)
            return coll_i_strand_found(s, report, COLL_FOUND_UNSENT, i,
                                       "waits for a message of rank %" PRIu32
                                       " over channel %" PRIu32 ", which sends %" PRIu32
                                       " there",
                                       block->recv, block->channel, channel->sent);
        node->from = channel->head;
        channel->head = senders[channel->head];
        channel->received++;
    }
    for (uint32_t c = 0; c < s->connections.n; c++) {
        const coll_i_channel *channel = coll_i_channel_at(&s->connections, c);
        if (channel->head != COLL_I_NONE)
            return coll_i_strand_found(s, report, COLL_FOUND_UNRECEIVED, channel->head,
                                       "sends rank %" PRIu32 " over channel %" PRIu32
                                       " a message that nobody receives: of %" PRIu32
                                       " messages %" PRIu32 " are received",
                                       channel->to, channel->from % s->channels, channel->sent,
                                       channel->received);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const coll_i_strand_node *node = coll_i_strand_at(s, i);
        const coll_i_step *step = coll_i_strand_step(s, node), *other;
        if (node->from == COLL_I_NONE)
            continue;
        other = coll_i_strand_step(s, coll_i_strand_at(s, node->from));
        if (other->count != step->count)
            return coll_i_strand_found(
                s, report, COLL_FOUND_SIZE, i,
                "expects %zu elements of rank %" PRIu32 ", which sends %zu in step %" PRIu32
                " of its thread block %" PRIu32,
                step->count, coll_i_strand_at(s, node->from)->rank, other->count,
                coll_i_strand_at(s, node->from)->step, coll_i_strand_at(s, node->from)->block);
    }
    return true;
}

/* ---- levels ------------------------------------------------------------------------------ */

/* The nodes from `at` on the stack on wait for each other in a circle. */
COLL_INLINE bool coll_i_strands_circle(const coll_i_strands *s, uint32_t top, uint32_t node,
                                       coll_report *report)
{
    const uint32_t *stack = (const uint32_t *)s->stack.at;
    char circle[320];
    size_t used = 0;
    uint32_t i = top - 1;
    circle[0] = '\0';
    while (i > 0 && stack[i] != node)
        i--;
    for (uint32_t k = i + 1; k <= top && used + 64 < sizeof circle; k++) {
        const coll_i_strand_node *at = coll_i_strand_at(s, k == top ? node : stack[k]);
        used += (size_t)snprintf(circle + used, sizeof circle - used,
                                 "%s rank %" PRIu32 ", block %" PRIu32 ", step %" PRIu32,
                                 k > i + 1 ? ", which waits for" : "waits for", at->rank,
                                 at->block, at->step);
    }
    return coll_i_strand_found(s, report, COLL_FOUND_DEADLOCK, node, "%s", circle);
}

/* Finds the level of a node, and of all that it comes after. */
COLL_INLINE bool coll_i_strand_level(coll_i_strands *s, uint32_t node, coll_report *report)
{
    uint32_t *stack = (uint32_t *)s->stack.at, top = 0;
    stack[top++] = node;
    coll_i_strand_at(s, node)->level = COLL_I_NONE;
    while (top > 0) {
        const uint32_t index = stack[top - 1];
        coll_i_strand_node *at = coll_i_strand_at(s, index);
        uint32_t level = 1;
        for (; at->turn < COLL_I_STRAND_BEFORE; at->turn++) {
            const uint32_t before = coll_i_strand_before(at, index, at->turn);
            coll_i_strand_node *other;
            if (before == COLL_I_NONE)
                continue;
            other = coll_i_strand_at(s, before);
            if (other->level == COLL_I_NONE)
                return coll_i_strands_circle(s, top, before, report);
            if (other->level == 0) {
                other->level = COLL_I_NONE;
                stack[top++] = before;
                break;
            }
        }
        if (at->turn < COLL_I_STRAND_BEFORE)
            continue;
        for (uint32_t i = 0; i < COLL_I_STRAND_BEFORE; i++) {
            const uint32_t before = coll_i_strand_before(at, index, i);
            if (before != COLL_I_NONE && coll_i_strand_at(s, before)->level >= level)
                level = coll_i_strand_at(s, before)->level + 1;
        }
        at->level = level;
        top--;
    }
    return true;
}

COLL_INLINE bool coll_i_strands_levels(coll_i_strands *s, coll_report *report)
{
    if (!coll_i_reserve_new(&s->stack, (s->n + (size_t)1) * sizeof(uint32_t)))
        return coll_i_no_memory(report);
    for (uint32_t i = 0; i < s->n; i++)
        coll_i_strand_at(s, i)->level = coll_i_strand_at(s, i)->turn = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (coll_i_strand_at(s, i)->level == 0 && !coll_i_strand_level(s, i, report))
            return false;
    return true;
}

/* Sorts the nodes by level, and otherwise as they are numbered. */
COLL_INLINE bool coll_i_strands_sort(coll_i_strands *s)
{
    uint32_t *sorted =
        (uint32_t *)coll_i_reserve_new(&s->sorted, (s->n + (size_t)1) * sizeof *sorted);
    uint32_t *counts =
        (uint32_t *)coll_i_reserve_new(&s->counts, (s->n + (size_t)3) * sizeof *counts);
    if (!sorted || !counts)
        return false;
    memset(counts, 0, (s->n + (size_t)3) * sizeof *counts);
    for (uint32_t i = 0; i < s->n; i++)
        counts[coll_i_strand_at(s, i)->level + 1]++;
    for (uint32_t level = 1; level < s->n + 2; level++)
        counts[level] += counts[level - 1];
    for (uint32_t i = 0; i < s->n; i++)
        sorted[counts[coll_i_strand_at(s, i)->level]++] = i;
    return true;
}

/* Moves the nodes apart so that each rank sends one message and receives one at a time, in the order of the levels: a
 * sequence of the nodes then needs few sends in flight. False: no memory. */
COLL_INLINE bool coll_i_strands_ports(coll_i_strands *s)
{
    const uint32_t *sorted = (const uint32_t *)s->sorted.at;
    uint32_t *ports = (uint32_t *)coll_i_reserve_new(&s->stack, ((size_t)s->n + 2 * s->p + 1) *
                                                                    sizeof *ports);
    if (!ports)
        return false;
    memset(ports, 0, 2 * (size_t)s->p * sizeof *ports);
    for (uint32_t i = 0; i < s->n; i++) {
        coll_i_strand_node *node = coll_i_strand_at(s, sorted[i]);
        const coll_i_step *step = coll_i_strand_step(s, node);
        uint32_t *free = ports + 2 * (size_t)node->rank, level = 1;
        for (uint32_t k = 0; k < COLL_I_STRAND_BEFORE; k++) {
            const uint32_t before = coll_i_strand_before(node, sorted[i], k);
            if (before != COLL_I_NONE && coll_i_strand_at(s, before)->level >= level)
                level = coll_i_strand_at(s, before)->level + 1;
        }
        for (unsigned way = 0; way < 2; way++)
            if ((way ? coll_i_step_receives(step) : coll_i_step_sends(step)) &&
                level <= free[way])
                level = free[way] + 1;
        for (unsigned way = 0; way < 2; way++)
            if (way ? coll_i_step_receives(step) : coll_i_step_sends(step))
                free[way] = level;
        node->level = level;
    }
    return coll_i_strands_sort(s);
}

/* A plan has one channel between two ranks: has the messages of all their connections follow each other as they are
 * sorted, at both ends. False: they cannot, or there is no memory. */
COLL_INLINE bool coll_i_strands_in_line(coll_i_strands *s, coll_report *report)
{
    const uint32_t *sorted = (const uint32_t *)s->sorted.at;
    uint32_t *senders = (uint32_t *)s->senders.at; /* of each send its receive */
    if (s->channels == 1)
        return coll_i_strands_ports(s) || coll_i_no_memory(report);
    for (uint32_t i = 0; i < s->n; i++)
        if (coll_i_strand_at(s, i)->from != COLL_I_NONE)
            senders[coll_i_strand_at(s, i)->from] = i;
    coll_i_channels_clear(&s->connections);
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t index = sorted[i];
        coll_i_strand_node *node = coll_i_strand_at(s, index);
        coll_i_channel *channel;
        uint32_t c;
        if (!coll_i_step_sends(coll_i_strand_step(s, node)))
            continue;
        c = coll_i_channel_of(&s->connections, node->rank, coll_i_strand_block(s, node)->send);
        if (c == COLL_I_NONE)
            return coll_i_no_memory(report);
        channel = coll_i_channel_at(&s->connections, c);
        if (channel->tail != COLL_I_NONE) {
            node->sent = channel->tail;
            coll_i_strand_at(s, senders[index])->received = senders[channel->tail];
        }
        channel->tail = index;
    }
    return coll_i_strands_levels(s, report) &&
           ((coll_i_strands_sort(s) && coll_i_strands_ports(s)) || coll_i_no_memory(report));
}

/* ---- races ------------------------------------------------------------------------------- */

/* What a step touches: a range that it reads and one that it writes. */
typedef struct coll_i_strand_touch {
    coll_ref at[2]; /* read, written */
    size_t count[2];
} coll_i_strand_touch;

COLL_INLINE coll_i_strand_touch coll_i_strand_touches(const coll_i_step *step)
{
    const coll_i_msccl_type type = step->type;
    const bool nop = type == COLL_I_MSCCL_NOP;
    coll_i_strand_touch touch;
    touch.at[0] = step->src;
    touch.at[1] = step->dst;
    touch.count[0] =
        type == COLL_I_MSCCL_R || type == COLL_I_MSCCL_RCS || nop ? 0 : step->count;
    touch.count[1] =
        type == COLL_I_MSCCL_S || type == COLL_I_MSCCL_RRS || nop ? 0 : step->count;
    return touch;
}

/* Marks what comes before a node: at its own rank alone, or everywhere, from the level `least` on. */
COLL_INLINE void coll_i_strand_search(coll_i_strands *s, uint32_t index, bool local,
                                      uint32_t least)
{
    uint32_t *stack = (uint32_t *)s->stack.at, top = 0;
    s->query++;
    stack[top++] = index;
    while (top > 0) {
        const uint32_t at = stack[--top];
        for (uint32_t i = 0; i < (local ? 2u : 3u); i++) {
            const uint32_t before = coll_i_strand_before(coll_i_strand_at(s, at), at, i);
            coll_i_strand_node *other;
            if (before == COLL_I_NONE)
                continue;
            other = coll_i_strand_at(s, before);
            if (other->seen == s->query || other->level < least)
                continue;
            other->seen = s->query;
            stack[top++] = before;
        }
    }
}

/* Whose search was done last, and how far. */
typedef struct coll_i_strand_sought {
    uint32_t node, least;
    bool local;
} coll_i_strand_sought;

/* Does `older` come before the node in all interleavings? Most often its own rank's steps tell. */
COLL_INLINE bool coll_i_strand_is_before(coll_i_strands *s, uint32_t older, uint32_t node,
                                         coll_i_strand_sought *sought)
{
    const coll_i_strand_node *a = coll_i_strand_at(s, older), *b = coll_i_strand_at(s, node);
    if (older == node || a->block == b->block)
        return true;
    if (sought->node != node || sought->least > a->level) {
        coll_i_strand_search(s, node, true, a->level);
        sought->node = node;
        sought->least = a->level;
        sought->local = true;
    }
    if (a->seen == s->query || !sought->local)
        return a->seen == s->query;
    coll_i_strand_search(s, node, false, a->level);
    sought->least = a->level;
    sought->local = false;
    return a->seen == s->query;
}

/* Who touched an element: the last writer, and notes of the readers since. */
typedef struct coll_i_strand_cell {
    uint32_t writer, readers;
} coll_i_strand_cell;

COLL_INLINE bool coll_i_strand_race(const coll_i_strands *s, uint32_t node, uint32_t other,
                                    bool writes, coll_ref at, coll_report *report)
{
    const coll_i_strand_node *o = coll_i_strand_at(s, other);
    return coll_i_strand_found(s, report, COLL_FOUND_RACE, node,
                               "%s %s[%zu] in no order with step %" PRIu32
                               " of thread block %" PRIu32 " (line %" PRIu32
                               "): no dependence leads from one to the other",
                               writes ? "writes" : "reads", coll_space_name(coll_ref_space(at)),
                               coll_ref_offset(at), o->step, o->block, o->line);
}

/* Looks for races of one rank's steps, which come level by level; `extent`: chunks of its spaces. */
COLL_INLINE bool coll_i_strands_race(coll_i_strands *s, const uint32_t *nodes, uint32_t n,
                                     const size_t extent[COLL_SPACES], size_t chunk,
                                     coll_report *report)
{
    const size_t cells = extent[COLL_IN] + extent[COLL_OUT] + extent[COLL_SCRATCH];
    const size_t base[COLL_SPACES] = {0, extent[COLL_IN], extent[COLL_IN] + extent[COLL_OUT],
                                      0};
    coll_i_strand_cell *touched =
        (coll_i_strand_cell *)coll_i_reserve_new(&s->touched, (cells + 1) * sizeof *touched);
    coll_i_reader *notes;
    uint32_t n_notes = 0;
    if (!touched)
        return coll_i_no_memory(report);
    for (size_t i = 0; i < cells; i++)
        touched[i].writer = touched[i].readers = COLL_I_NONE;
    for (uint32_t k = 0; k < n; k++) {
        const coll_i_strand_touch touch =
            coll_i_strand_touches(coll_i_strand_step(s, coll_i_strand_at(s, nodes[k])));
        coll_i_strand_sought sought = {COLL_I_NONE, 0, false};
        for (unsigned w = 0; w < 2; w++)
            for (size_t i = 0; i < touch.count[w]; i += chunk) {
                const coll_ref at = touch.at[w] + i;
                coll_i_strand_cell *cell =
                    &touched[base[coll_ref_space(at)] + coll_ref_offset(at) / chunk];
                if (cell->writer != COLL_I_NONE &&
                    !coll_i_strand_is_before(s, cell->writer, nodes[k], &sought))
                    return coll_i_strand_race(s, nodes[k], cell->writer, w, at, report);
                for (uint32_t r = w ? cell->readers : COLL_I_NONE; r != COLL_I_NONE;) {
                    const coll_i_reader *reader = (const coll_i_reader *)s->notes.at + r;
                    if (!coll_i_strand_is_before(s, reader->node, nodes[k], &sought))
                        return coll_i_strand_race(s, nodes[k], reader->node, true, at, report);
                    r = reader->next;
                }
                if (w) {
                    cell->writer = nodes[k];
                    cell->readers = COLL_I_NONE;
                    continue;
                }
                notes = (coll_i_reader *)coll_i_reserve(&s->notes,
                                                        (n_notes + (size_t)1) * sizeof *notes);
                if (!notes)
                    return coll_i_no_memory(report);
                notes[n_notes].node = nodes[k];
                notes[n_notes].next = cell->readers;
                cell->readers = n_notes++;
            }
    }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Nodes of all blocks, their messages and levels. `lines` of each rank's steps, block by block. */
COLL_INLINE bool coll_i_strands_make(coll_i_strands *s, const coll_i_blocks *ranks, uint32_t p,
                                     const uint32_t *const *lines, coll_report *report)
{
    s->ranks = ranks;
    s->p = p;
    s->channels = 1;
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t i = 0; i < ranks[rank].n; i++)
            if (s->channels <= coll_i_block_at(&ranks[rank], i)->channel)
                s->channels = coll_i_block_at(&ranks[rank], i)->channel + 1;
    if (!coll_i_strands_nodes(s, lines))
        return coll_i_no_memory(report);
    return coll_i_strands_waits(s, report) && coll_i_strands_match(s, report) &&
           coll_i_strands_levels(s, report) &&
           (coll_i_strands_sort(s) || coll_i_no_memory(report));
}

#endif /* COLL_LAB_IMPORT_STRANDS_H */
