/* coll/lab/export/msccl/blocks.h — a rank's program as thread blocks, each with steps in order
 *
 * A block has at most one rank that it sends to and one that it receives from, and each pair of
 * ranks has one block at either end, so messages keep their order. Copies and reductions have a
 * block of their own. Where a message is received and at once passed on, both are one step of
 * one block, if these two ranks so share it. A step that must come after steps of other blocks
 * waits for them, one a step: all but the last are waited for by steps that do nothing else.
 * Private; use msccl.h.
 */
#ifndef COLL_LAB_EXPORT_MSCCL_BLOCKS_H
#define COLL_LAB_EXPORT_MSCCL_BLOCKS_H

#include "../program.h"

enum {
    COLL_I_MSCCL_BLOCKS = 128, /* of a rank: their numbers are bytes with a sign */
    COLL_I_MSCCL_PEERS = 32,   /* that a channel sends to, or receives from */
    COLL_I_MSCCL_COUNT = 71    /* chunks of a step */
};

typedef enum coll_i_msccl_type {
    COLL_I_MSCCL_S,
    COLL_I_MSCCL_R,
    COLL_I_MSCCL_RCS,
    COLL_I_MSCCL_RRC,
    COLL_I_MSCCL_RRS,
    COLL_I_MSCCL_RRCS,
    COLL_I_MSCCL_CPY,
    COLL_I_MSCCL_RE,
    COLL_I_MSCCL_NOP
} coll_i_msccl_type;

typedef struct coll_i_step {
    coll_i_msccl_type type;
    coll_ref src, dst;     /* as far as the type has them */
    size_t count;          /* elements */
    uint32_t block, after; /* the step that it waits for; COLL_I_NONE: no block */
    bool awaited;          /* some step waits for it */
} coll_i_step;

typedef struct coll_i_block {
    coll_i_memory steps;
    uint32_t n;
    uint32_t send, recv; /* ranks, or COLL_RANK_NONE */
    uint32_t channel;
    uint32_t at, moved; /* ends.h: the step that runs, and how many of its chunks have moved */
} coll_i_block;

/* A rank's blocks. */
typedef struct coll_i_blocks {
    coll_i_memory list;
    uint32_t n;
} coll_i_blocks;

/* Where a node of the program is in the blocks. */
typedef struct coll_i_seat_of {
    uint32_t block, last; /* its last step */
    uint32_t partner;     /* a receive: the send that is one with it; that send: COLL_I_FUSED */
} coll_i_seat_of;

#define COLL_I_FUSED (COLL_I_NONE - 1)

/* What the making of a rank's blocks needs. Zeroed, `pairs` says whether two ranks may share a
 * block, `chunk` how many elements a chunk has. */
typedef struct coll_i_builder {
    coll_i_program program;
    coll_i_memory seats, sends, receives;
    coll_i_memory
        known; /* of each node: steps of each block, + 1, that have ended when it has */
    coll_i_channels pairs_found; /* from: received from, to: sent to, sent: how often */
    uint32_t ended[COLL_I_MSCCL_BLOCKS][COLL_I_MSCCL_BLOCKS]; /* the same at a block's end */
    uint32_t rank, p;
    size_t chunk;
    bool pairs;
} coll_i_builder;

COLL_INLINE coll_i_block *coll_i_block_at(const coll_i_blocks *blocks, uint32_t i)
{
    return (coll_i_block *)blocks->list.at + i;
}

COLL_INLINE coll_i_step *coll_i_step_at(const coll_i_block *block, uint32_t i)
{
    return (coll_i_step *)block->steps.at + i;
}

COLL_INLINE coll_i_seat_of *coll_i_seat_at(const coll_i_builder *b, uint32_t node)
{
    return (coll_i_seat_of *)b->seats.at + node;
}

COLL_INLINE void coll_i_blocks_release(coll_i_blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->n; i++)
        coll_i_release(&coll_i_block_at(blocks, i)->steps);
    coll_i_release(&blocks->list);
    blocks->n = 0;
}

COLL_INLINE void coll_i_builder_release(coll_i_builder *b)
{
    coll_i_program_release(&b->program);
    coll_i_release(&b->seats);
    coll_i_release(&b->known);
    coll_i_release(&b->sends);
    coll_i_release(&b->receives);
    coll_i_channels_release(&b->pairs_found);
}

/* ---- which ranks share a block ----------------------------------------------------------- */

/* The channel from one rank to another: by the distance, so that no rank has too many peers. */
COLL_INLINE uint32_t coll_i_msccl_channel(uint32_t from, uint32_t to, uint32_t p)
{
    return (to > from ? to - from - 1 : to + p - from - 1) / COLL_I_MSCCL_PEERS;
}

/* The receive whose message a send passes on, all of it and with nothing to wait for since; or
 * COLL_I_NONE. The first edge leads to the youngest node. */
COLL_INLINE uint32_t coll_i_passed_on(const coll_i_program *g, const coll_i_task *send)
{
    const uint32_t first = send->n ? coll_i_edges_of(g, send)[0] : (uint32_t)COLL_I_BEHIND;
    const coll_action *a = &coll_i_task_at(g, first / 2)->act;
    return !(first & COLL_I_BEHIND) && send->act.kind == COLL_DO_SEND &&
                   (a->kind == COLL_DO_RECV || a->kind == COLL_DO_RECV_REDUCE) &&
                   a->dst == send->act.src && a->count == send->act.count
               ? first / 2
               : COLL_I_NONE;
}

COLL_INLINE bool coll_i_pairs_count(coll_i_builder *b)
{
    const coll_i_program *g = &b->program;
    coll_i_channels_clear(&b->pairs_found);
    for (uint32_t i = 0; i < g->n && b->pairs; i++) {
        const coll_i_task *send = coll_i_task_at(g, i);
        const uint32_t receive = coll_i_passed_on(g, send);
        uint32_t from, pair;
        if (receive == COLL_I_NONE)
            continue;
        from = coll_i_task_at(g, receive)->act.peer;
        if (coll_i_msccl_channel(from, b->rank, b->p) !=
            coll_i_msccl_channel(b->rank, send->act.peer, b->p))
            continue;
        pair = coll_i_channel_of(&b->pairs_found, from, send->act.peer);
        if (pair == COLL_I_NONE)
            return false;
        coll_i_channel_at(&b->pairs_found, pair)->sent++;
    }
    return true;
}

/* Lets those two share a block that have most to pass on, then the next two, … */
COLL_INLINE void coll_i_pairs_choose(coll_i_builder *b)
{
    uint32_t *sends = (uint32_t *)b->sends.at, *receives = (uint32_t *)b->receives.at;
    for (;;) {
        const coll_i_channel *best = NULL;
        for (uint32_t i = 0; i < b->pairs_found.n; i++) {
            const coll_i_channel *pair = coll_i_channel_at(&b->pairs_found, i);
            if (sends[pair->to] == COLL_RANK_NONE && receives[pair->from] == COLL_RANK_NONE &&
                (!best || pair->sent > best->sent))
                best = pair;
        }
        if (!best)
            return;
        sends[best->to] = best->from;
        receives[best->from] = best->to;
    }
}

/* Makes receives and the sends that pass them on one. */
COLL_INLINE void coll_i_pairs_fuse(coll_i_builder *b)
{
    const uint32_t *receives = (const uint32_t *)b->receives.at;
    const coll_i_program *g = &b->program;
    for (uint32_t i = 0; i < g->n && b->pairs; i++) {
        const coll_i_task *send = coll_i_task_at(g, i);
        const uint32_t receive = coll_i_passed_on(g, send);
        if (receive != COLL_I_NONE &&
            receives[coll_i_task_at(g, receive)->act.peer] == send->act.peer &&
            coll_i_seat_at(b, receive)->partner == COLL_I_NONE) {
            coll_i_seat_at(b, receive)->partner = i;
            coll_i_seat_at(b, i)->partner = COLL_I_FUSED;
        }
    }
}

/* Does nobody read what an action wrote, once a send has passed it on? */
COLL_INLINE bool coll_i_is_dead(const coll_i_program *g, uint32_t receive, uint32_t send)
{
    const coll_action *a = &coll_i_task_at(g, receive)->act;
    for (uint32_t i = receive + 1; i < g->n; i++) {
        coll_i_access accesses[3];
        const uint32_t n = coll_i_task_accesses(coll_i_task_at(g, i), accesses);
        for (uint32_t k = 0; k < n && i != send; k++) {
            const coll_i_access *x = &accesses[k];
            if (!coll_i_overlap(a->dst, a->count, x->at, x->count))
                continue;
            return x->writes && a->dst - x->at <= x->count &&
                   a->count <= x->count - (a->dst - x->at);
        }
    }
    return coll_ref_space(a->dst) == COLL_SCRATCH;
}

/* ---- blocks and steps -------------------------------------------------------------------- */

/* The block of this kind, made where there is none; COLL_I_NONE: no memory, or too many. */
COLL_INLINE uint32_t coll_i_block_of(coll_i_builder *b, coll_i_blocks *blocks, uint32_t send,
                                     uint32_t recv)
{
    coll_i_block *block;
    for (uint32_t i = 0; i < blocks->n; i++)
        if (coll_i_block_at(blocks, i)->send == send &&
            coll_i_block_at(blocks, i)->recv == recv)
            return i;
    if (blocks->n == COLL_I_MSCCL_BLOCKS ||
        !coll_i_reserve(&blocks->list, (blocks->n + (size_t)1) * sizeof(coll_i_block)))
        return COLL_I_NONE;
    block = coll_i_block_at(blocks, blocks->n);
    memset(block, 0, sizeof *block);
    block->send = send;
    block->recv = recv;
    if (send != COLL_RANK_NONE)
        block->channel = coll_i_msccl_channel(b->rank, send, b->p);
    else if (recv != COLL_RANK_NONE)
        block->channel = coll_i_msccl_channel(recv, b->rank, b->p);
    return blocks->n++;
}

/* The block of an action. */
COLL_INLINE uint32_t coll_i_block_for(coll_i_builder *b, coll_i_blocks *blocks,
                                      const coll_action *a)
{
    const uint32_t *sends = (const uint32_t *)b->sends.at,
                   *receives = (const uint32_t *)b->receives.at;
    if (a->kind == COLL_DO_SEND)
        return coll_i_block_of(b, blocks, a->peer, sends[a->peer]);
    if (coll_i_has(COLL_I_RECEIVES, a))
        return coll_i_block_of(b, blocks, receives[a->peer], a->peer);
    return coll_i_block_of(b, blocks, COLL_RANK_NONE, COLL_RANK_NONE);
}

COLL_INLINE coll_i_step *coll_i_step_new(coll_i_block *block, coll_i_msccl_type type)
{
    coll_i_step *step;
    if (block->n == UINT32_MAX / 2 ||
        !coll_i_reserve(&block->steps, (block->n + (size_t)1) * sizeof *step))
        return NULL;
    step = coll_i_step_at(block, block->n++);
    memset(step, 0, sizeof *step);
    step->type = type;
    step->block = COLL_I_NONE;
    return step;
}

/* Adds a step, cut where it has too many chunks. */
COLL_INLINE bool coll_i_step_add(const coll_i_builder *b, coll_i_block *block,
                                 coll_i_msccl_type type, coll_ref src, coll_ref dst,
                                 size_t count)
{
    const size_t most = COLL_I_MSCCL_COUNT * b->chunk;
    for (size_t done = 0; done < count; done += most) {
        coll_i_step *step = coll_i_step_new(block, type);
        if (!step)
            return false;
        step->src = src + done;
        step->dst = dst + done;
        step->count = count - done < most ? count - done : most;
    }
    return true;
}

/* The row of a node in `known`. */
COLL_INLINE uint32_t *coll_i_known_at(const coll_i_builder *b, uint32_t node)
{
    return (uint32_t *)b->known.at + (size_t)node * COLL_I_MSCCL_BLOCKS;
}

/* Lets the next step of a block come after what a node has edges to, unless that is known to have
 * ended by then. `*last` is the last one found, for which the next step is to wait itself. */
COLL_INLINE bool coll_i_wait_for(coll_i_builder *b, coll_i_blocks *blocks, uint32_t own,
                                 uint32_t node, coll_i_seat_of *last)
{
    const coll_i_task *task = coll_i_task_at(&b->program, node);
    const uint32_t *edges = coll_i_edges_of(&b->program, task);
    for (uint32_t k = 0; k < task->n; k++) {
        const coll_i_seat_of *seat = coll_i_seat_at(b, edges[k] / 2);
        const uint32_t *known = coll_i_known_at(b, edges[k] / 2);
        if ((edges[k] & COLL_I_BEHIND) || seat->block == own ||
            seat->block == COLL_I_NONE || /* the receive that the send is one with */
            b->ended[own][seat->block] > seat->last)
            continue;
        if (last->block != COLL_I_NONE) {
            coll_i_step *nop = coll_i_step_new(coll_i_block_at(blocks, own), COLL_I_MSCCL_NOP);
            if (!nop)
                return false;
            nop->block = last->block;
            nop->after = last->last;
        }
        for (uint32_t i = 0; i < blocks->n; i++)
            if (b->ended[own][i] < known[i])
                b->ended[own][i] = known[i];
        coll_i_step_at(coll_i_block_at(blocks, seat->block), seat->last)->awaited = true;
        *last = *seat;
    }
    return true;
}

/* The steps of an action, that of `partner` with it. */
COLL_INLINE bool coll_i_steps_of(coll_i_builder *b, coll_i_block *block, uint32_t node,
                                 uint32_t partner)
{
    const coll_action *a = &coll_i_task_at(&b->program, node)->act;
    const bool passes = partner != COLL_I_NONE;
    bool well = true;
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
        return coll_i_step_add(b, block, COLL_I_MSCCL_S, a->src, 0, a->count);
    case COLL_DO_RECV:
        return coll_i_step_add(b, block, passes ? COLL_I_MSCCL_RCS : COLL_I_MSCCL_R, 0, a->dst,
                               a->count);
    case COLL_DO_RECV_REDUCE:
        return coll_i_step_add(b, block,
                               !passes                                      ? COLL_I_MSCCL_RRC
                               : coll_i_is_dead(&b->program, node, partner) ? COLL_I_MSCCL_RRS
                                                                            : COLL_I_MSCCL_RRCS,
                               a->src, a->dst, a->count);
    case COLL_DO_REDUCE:
        if (a->inputs == 1 && a->dst == a->via && a->dst != a->src)
            return coll_i_step_add(b, block, COLL_I_MSCCL_RE, a->src, a->dst, a->count);
        if (a->dst != a->src)
            well = coll_i_step_add(b, block, COLL_I_MSCCL_CPY, a->src, a->dst, a->count);
        for (uint32_t i = 0; i < a->inputs && well; i++)
            well = coll_i_step_add(b, block, COLL_I_MSCCL_RE, a->via + i * a->stride, a->dst,
                                   a->count);
        return well;
    default:
        return coll_i_step_add(b, block, COLL_I_MSCCL_CPY, a->src, a->dst, a->count);
    }
}

/* Adds a node to the blocks. False: no memory, or too many blocks. */
COLL_INLINE bool coll_i_node_build(coll_i_builder *b, coll_i_blocks *blocks, uint32_t node)
{
    const coll_action *a = &coll_i_task_at(&b->program, node)->act;
    coll_i_seat_of *seat = coll_i_seat_at(b, node);
    const uint32_t partner = seat->partner, own = coll_i_block_for(b, blocks, a);
    coll_i_seat_of last;
    uint32_t first;
    last.block = COLL_I_NONE;
    if (own == COLL_I_NONE)
        return false;
    if (!coll_i_wait_for(b, blocks, own, node, &last) ||
        (partner != COLL_I_NONE && !coll_i_wait_for(b, blocks, own, partner, &last)))
        return false;
    first = coll_i_block_at(blocks, own)->n;
    if (!coll_i_steps_of(b, coll_i_block_at(blocks, own), node, partner))
        return false;
    coll_i_step_at(coll_i_block_at(blocks, own), first)->block = last.block;
    coll_i_step_at(coll_i_block_at(blocks, own), first)->after = last.last;
    seat->block = own;
    seat->last = coll_i_block_at(blocks, own)->n - 1;
    b->ended[own][own] = seat->last + 1;
    memcpy(coll_i_known_at(b, node), b->ended[own], sizeof b->ended[own]);
    if (partner != COLL_I_NONE) {
        coll_i_seat_at(b, partner)->block = own;
        coll_i_seat_at(b, partner)->last = seat->last;
        memcpy(coll_i_known_at(b, partner), b->ended[own], sizeof b->ended[own]);
    }
    return true;
}

/* Makes the blocks of a rank, of which there are none yet. False: no memory, or too many
 * blocks. */
COLL_INLINE bool coll_i_blocks_make(coll_i_builder *b, coll_i_blocks *blocks,
                                    const coll_plan *plan, uint32_t rank)
{
    uint32_t *sends, *receives;
    b->rank = rank;
    b->p = plan->problem.p;
    memset(b->ended, 0, sizeof b->ended);
    sends = (uint32_t *)coll_i_reserve(&b->sends, b->p * sizeof *sends);
    receives = (uint32_t *)coll_i_reserve(&b->receives, b->p * sizeof *receives);
    if (!sends || !receives || !coll_i_program_make(&b->program, plan, rank, false) ||
        !coll_i_reserve(&b->seats, (b->program.n + (size_t)1) * sizeof(coll_i_seat_of)) ||
        !coll_i_reserve(&b->known, (b->program.n + (size_t)1) * sizeof b->ended[0]))
        return false;
    for (uint32_t i = 0; i < b->p; i++)
        sends[i] = receives[i] = COLL_RANK_NONE;
    for (uint32_t i = 0; i < b->program.n; i++)
        coll_i_seat_at(b, i)->block = coll_i_seat_at(b, i)->partner = COLL_I_NONE;
    if (!coll_i_pairs_count(b))
        return false;
    coll_i_pairs_choose(b);
    coll_i_pairs_fuse(b);
    for (uint32_t i = 0; i < b->program.n; i++)
        if (coll_i_seat_at(b, i)->partner != COLL_I_FUSED && !coll_i_node_build(b, blocks, i))
            return false;
    return true;
}

#endif /* COLL_LAB_EXPORT_MSCCL_BLOCKS_H */
