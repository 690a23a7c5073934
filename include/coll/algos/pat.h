/* coll/algos/pat.h — allgather(v) on parallel aggregated trees
 *
 * Each block has a binomial tree, that of rank r rooted there: rank r + x is its vertex x, whose
 * parent is x without its lowest bit. The block goes down the tree, far ranks first, as in
 * sparbit.h. As all ranks do the same for all trees, an edge from x to x + d is a message of a
 * block from every rank to the one d to its right. Messages of edges that are δ vertices apart go
 * the same way and are put together, up to `aggregate` blocks: first the top of the tree, the
 * multiples of δ, with 1, 2, 4 … blocks at a time; then the trees below these, all alike, an edge
 * of every one at a time, in the order of vertices 1 … δ−1. So few blocks go far at once, and a
 * message is as long as is worth the copies that put it together; with `aggregate` = 1, which
 * needs none, it is a linear number of messages, and with p/2 a logarithmic one.
 * pat_reduce_scatter.h does all this backwards.
 *
 *   p = 8, aggregate = 2, so δ = 4:  vertex x, from vertex
 *       4 from 0    1 from 0    2 from 0    3 from 2
 *                   5 from 4    6 from 4    7 from 6
 *       r to r+4    r to r+1    r to r+2    r to r+1
 *
 * Laws (tests/algos/pat.c)
 *   (1) what r sends in a message is what its peer receives in it
 *   (2) a message has at most `aggregate` blocks, of vertices that are δ (at the top: 2d) apart
 *   (3) every vertex but 0 is in one message, after that of its parent
 * Cost    2^a: the largest power of two ≤ aggregate and < p; δ = 2^(⌈log2 p⌉ − a):
 *         a + min(δ, p) − 1 rounds, each a message per rank, of p−1 blocks together; in messages of
 *         several, each as large as the largest. scratch: 4⌈p/δ⌉ blocks if δ < p
 * Source  Jeaugey 2025, arXiv:2506.20252 (NCCL 2.23)
 */
#ifndef COLL_ALGOS_PAT_H
#define COLL_ALGOS_PAT_H

#include "../plan.h"

COLL_TABLE(coll_param, coll_i_pat_params, {
    COLL_PARAM("aggregate", "blocks of a message", 1, UINT32_MAX / 2, 8, {8, 1, 2, 8})});

/* ---- messages ---------------------------------------------------------------------------- */

/* The shape of the trees. */
typedef struct coll_i_pat {
    uint32_t height, top; /* log2 of the vertices, rounded up; of the multiples of δ */
    uint32_t below;       /* trees below, without that of vertex 0 */
    uint32_t more;        /* vertices 1 … more are in all of them, others not in the last */
    size_t slot;          /* elements of a block in SCRATCH */
} coll_i_pat;

COLL_HOT_INLINE coll_i_pat coll_i_pat_of(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p, most = COLL_HIGHEST_BIT(plan->param[0]);
    coll_i_pat trees;
    trees.height = coll_log2_ceil(p);
    trees.top = trees.height == 0 ? 0 : most < trees.height ? most : trees.height - 1;
    trees.below = (uint32_t)((uint64_t)(p - 1) >> (trees.height - trees.top));
    trees.more = p - 1 - (uint32_t)((uint64_t)trees.below << (trees.height - trees.top));
    trees.slot = plan->largest;
    return trees;
}

/* A message to the rank `distance` away: vertices x, x + 2^stride … , `blocks` of them. Its list:
 * if they are several, to pack each; to send, to receive; if they are several, to unpack each. */
typedef struct coll_i_pat_message {
    uint32_t number; /* in the order of an allgather */
    uint32_t x, distance, stride, blocks;
    uint32_t packs; /* entries before the send, and after the receive */
    uint32_t at;    /* an entry of the list */
} coll_i_pat_message;

COLL_HOT_INLINE size_t coll_i_pat_entries(uint32_t blocks)
{
    return 2 + (blocks > 1 ? 2 * (size_t)blocks : 0);
}

/* Entries before the message of vertex x below the multiples of δ, from that of vertex 1 on. */
COLL_HOT_INLINE size_t coll_i_pat_before(const coll_i_pat *trees, uint32_t x)
{
    const size_t large = x - 1 < trees->more ? x - 1 : trees->more;
    return large * coll_i_pat_entries(trees->below + 1) +
           (x - 1 - large) * coll_i_pat_entries(trees->below);
}

/* The last vertex of the tree below vertex 0. */
COLL_HOT_INLINE uint32_t coll_i_pat_last(const coll_i_pat *trees)
{
    return trees->below == 0 ? trees->more : ((uint32_t)1 << (trees->height - trees->top)) - 1;
}

/* Entries before the first message below the multiples of δ. */
COLL_HOT_INLINE size_t coll_i_pat_above(const coll_plan *plan, const coll_i_pat *trees)
{
    size_t entries = 0;
    for (uint32_t k = 1; k <= trees->top; k++) {
        const uint32_t has = (plan->problem.p - 1) >> (trees->height - k);
        entries += coll_i_pat_entries(has - (has >> 1));
    }
    return entries;
}

/* Entries of all messages. */
COLL_HOT_INLINE size_t coll_i_pat_all(const coll_plan *plan, const coll_i_pat *trees)
{
    return coll_i_pat_above(plan, trees) + coll_i_pat_before(trees, coll_i_pat_last(trees) + 1);
}

/* Writes the message that entry n of an allgather belongs to. */
COLL_HOT_INLINE void coll_i_pat_find(coll_i_pat_message *message, const coll_plan *plan,
                                     const coll_i_pat *trees, size_t n)
{
    uint32_t k;
    for (k = 1; k <= trees->top; k++) { /* distance 2^(height − k) */
        const uint32_t has = (plan->problem.p - 1) >> (trees->height - k);
        message->blocks = has - (has >> 1);
        if (n < coll_i_pat_entries(message->blocks))
            break;
        n -= coll_i_pat_entries(message->blocks);
    }
    if (k <= trees->top) {
        message->number = k - 1;
        message->x = message->distance = (uint32_t)1 << (trees->height - k);
        message->stride = trees->height - k + 1;
    } else {
        uint32_t beyond = coll_i_pat_last(trees) + 1;
        message->x = trees->below == 0 ? (uint32_t)(n >> 1) + 1 : 1;
        while (trees->below > 0 && beyond - message->x > 1) {
            const uint32_t middle = message->x + (beyond - message->x) / 2;
            if (coll_i_pat_before(trees, middle) <= n)
                message->x = middle;
            else
                beyond = middle;
        }
        n -= coll_i_pat_before(trees, message->x);
        message->number = trees->top + message->x - 1;
        message->distance = message->x & (0 - message->x);
        message->stride = trees->height - trees->top;
        message->blocks = trees->below + (message->x <= trees->more ? 1 : 0);
    }
    message->packs = message->blocks > 1 ? message->blocks : 0;
    message->at = (uint32_t)n;
}

/* Vertex number i of a message. */
COLL_HOT_INLINE uint32_t coll_i_pat_vertex(const coll_i_pat_message *message, uint32_t i)
{
    return message->x + (uint32_t)((uint64_t)i << message->stride);
}

/* Blocks of a message at most. */
COLL_HOT_INLINE uint32_t coll_i_pat_most(const coll_i_pat *trees)
{
    return trees->below + 1;
}

/* Where messages are put together (from 0) and where they arrive (from 2), in turn. */
COLL_HOT_INLINE coll_ref coll_i_pat_stage(const coll_i_pat *trees,
                                          const coll_i_pat_message *message, uint32_t from,
                                          uint32_t i)
{
    return COLL_AT(COLL_SCRATCH,
                   ((from + (message->number & 1)) * (size_t)coll_i_pat_most(trees) + i) *
                       trees->slot);
}

/* SCRATCH must fit the machine. */
COLL_INLINE coll_status coll_i_pat_check(const coll_plan *plan)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    size_t elements;
    return coll_multiply((trees.height + (size_t)4) * coll_i_pat_most(&trees), trees.slot,
                         &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* Where a rank has, or gets, the block of the rank x to its left. */
COLL_HOT_INLINE coll_block coll_i_pat_block(const coll_plan *plan, uint32_t rank, uint32_t x)
{
    return coll_out_block(plan, coll_mod_sub(rank, x, plan->problem.p));
}

COLL_HOT_INLINE void coll_i_pat_gather(const coll_plan *plan, const coll_i_pat *trees,
                                       uint32_t rank, const coll_i_pat_message *message,
                                       coll_action *out)
{
    const uint32_t p = plan->problem.p, at = message->at, packs = message->packs;
    const bool sends = at <= packs, packed = packs > 0;
    const uint32_t i = at < packs ? at : at > packs + 1 ? at - packs - 2 : 0;
    const uint32_t x = coll_i_pat_vertex(message, i) - (sends ? message->distance : 0);
    const coll_block block = coll_i_pat_block(plan, rank, x);
    const coll_ref stage = coll_i_pat_stage(trees, message, sends ? 0 : 2, i);
    const coll_ref place = sends && x == 0 && !coll_in_place(plan)
                               ? COLL_AT(COLL_IN, 0)
                               : COLL_AT(COLL_OUT, block.offset);
    const coll_ref moved = packed ? stage : place;
    const size_t count = packed ? message->blocks * trees->slot : block.count;
    if (at < packs)
        coll_act_copy(out, stage, place, block.count);
    else if (at == packs)
        coll_act_send(out, coll_mod_add(rank, message->distance, p), moved, count);
    else if (at == packs + 1)
        coll_act_recv(out, coll_mod_sub(rank, message->distance, p), moved, count);
    else
        coll_act_copy(out, place, stage, block.count);
}

/* All messages, and the copy of the own block. */
COLL_INLINE size_t coll_i_pat_gather_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    const size_t entries = coll_i_pat_all(plan, &trees) + (coll_in_place(plan) ? 0u : 1u);
    (void)rank;
    return (entries + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_pat_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    const size_t all = coll_i_pat_all(plan, &trees), first = s * COLL_STEP_MAX;
    coll_i_pat_message message;
    unsigned n = 0;
    message.at = message.packs = message.blocks = 0; /* none yet */
    for (; n < COLL_STEP_MAX && first + n < all; n++) {
        if (message.blocks == 0 || message.at == 2 * message.packs + 2)
            coll_i_pat_find(&message, plan, &trees, first + n);
        coll_i_pat_gather(plan, &trees, rank, &message, &out[n]);
        message.at++;
    }
    if (n < COLL_STEP_MAX && !coll_in_place(plan)) {
        const coll_block own = coll_out_block(plan, rank);
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_pat_gather_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    (void)rank;
    return trees.below > 0 ? (size_t)4 * coll_i_pat_most(&trees) * trees.slot : 0;
}

COLL_ALGORITHM(coll_pat_allgather, "pat", "Jeaugey 2025",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_USES_PADDING,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_pat_params),
    coll_i_pat_gather_steps, coll_i_pat_gather_step, coll_i_pat_gather_scratch,
    coll_i_pat_check);

#endif /* COLL_ALGOS_PAT_H */
