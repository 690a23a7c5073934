/* coll/lab/export/msccl/ends.h — do the ranks' thread blocks come to their ends?
 *
 * A step of a block begins when the one before has ended, and the one that it waits for. A
 * connection holds two chunks, the least that the executors' buffers have room for; who sends
 * waits for room, who receives for a chunk. What can move once can still move later, so in
 * whatever order blocks move, they come equally far. Private; use msccl.h.
 */
#ifndef COLL_LAB_EXPORT_MSCCL_ENDS_H
#define COLL_LAB_EXPORT_MSCCL_ENDS_H

#include "blocks.h"

enum { COLL_I_MSCCL_ROOM = 2 };

typedef struct coll_i_in_network {
    const coll_i_blocks *ranks;
    coll_i_channels connections; /* sent, received: chunks */
    size_t chunk;
    uint32_t channels;
} coll_i_in_network;

/* The connection from one rank to another over a channel; COLL_I_NONE: no memory. */
COLL_INLINE uint32_t coll_i_connection_of(coll_i_in_network *f, uint32_t from, uint32_t to,
                                          uint32_t channel)
{
    return coll_i_channel_of(&f->connections, from * f->channels + channel, to);
}

COLL_INLINE bool coll_i_step_sends(const coll_i_step *step)
{
    return step->type == COLL_I_MSCCL_S || step->type == COLL_I_MSCCL_RCS ||
           step->type == COLL_I_MSCCL_RRS || step->type == COLL_I_MSCCL_RRCS;
}

COLL_INLINE bool coll_i_step_receives(const coll_i_step *step)
{
    return step->type == COLL_I_MSCCL_R || step->type == COLL_I_MSCCL_RRC ||
           (coll_i_step_sends(step) && step->type != COLL_I_MSCCL_S);
}

/* Moves a chunk of a step, or ends one that moves none; false: it has to wait. */
COLL_INLINE bool coll_i_chunk_move(coll_i_in_network *f, uint32_t rank, coll_i_block *block,
                                   const coll_i_step *step)
{
    coll_i_channel *in = NULL, *out = NULL;
    if (coll_i_step_receives(step))
        in = coll_i_channel_at(&f->connections,
                               coll_i_connection_of(f, block->recv, rank, block->channel));
    if (coll_i_step_sends(step))
        out = coll_i_channel_at(&f->connections,
                                coll_i_connection_of(f, rank, block->send, block->channel));
    if ((in && in->received == in->sent) ||
        (out && out->sent - out->received >= COLL_I_MSCCL_ROOM))
        return false;
    if (in)
        in->received++;
    if (out)
        out->sent++;
    block->moved++;
    if ((!in && !out) || block->moved * f->chunk == step->count) {
        block->moved = 0;
        block->at++;
    }
    return true;
}

/* Moves a block as far as it comes; false: not at all. */
COLL_INLINE bool coll_i_block_move(coll_i_in_network *f, uint32_t rank, coll_i_block *block)
{
    const coll_i_blocks *blocks = &f->ranks[rank];
    bool moved = false;
    while (block->at < block->n) {
        const coll_i_step *step = coll_i_step_at(block, block->at);
        if ((step->block != COLL_I_NONE &&
             coll_i_block_at(blocks, step->block)->at <= step->after) ||
            !coll_i_chunk_move(f, rank, block, step))
            break;
        moved = true;
    }
    return moved;
}

/* Do all blocks of all p ranks end? Of no memory, *memory is told. */
COLL_INLINE bool coll_i_blocks_end(const coll_i_blocks *ranks, uint32_t p, size_t chunk,
                                   bool *memory)
{
    coll_i_in_network f;
    bool moved = true, all = true;
    memset(&f, 0, sizeof f);
    f.ranks = ranks;
    f.chunk = chunk;
    f.channels = 1;
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t i = 0; i < ranks[rank].n; i++)
            if (f.channels <= coll_i_block_at(&ranks[rank], i)->channel)
                f.channels = coll_i_block_at(&ranks[rank], i)->channel + 1;
    coll_i_channels_clear(&f.connections);
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t i = 0; i < ranks[rank].n; i++) {
            coll_i_block *block = coll_i_block_at(&ranks[rank], i);
            block->at = block->moved = 0;
            if ((block->send != COLL_RANK_NONE &&
                 coll_i_connection_of(&f, rank, block->send, block->channel) == COLL_I_NONE) ||
                (block->recv != COLL_RANK_NONE &&
                 coll_i_connection_of(&f, block->recv, rank, block->channel) == COLL_I_NONE))
                *memory = false;
        }
    while (moved && *memory) {
        moved = false;
        all = true;
        for (uint32_t rank = 0; rank < p; rank++)
            for (uint32_t i = 0; i < ranks[rank].n; i++) {
                coll_i_block *block = coll_i_block_at(&ranks[rank], i);
                moved = coll_i_block_move(&f, rank, block) || moved;
                all = all && block->at == block->n;
            }
    }
    coll_i_channels_release(&f.connections);
    return all;
}

#endif /* COLL_LAB_EXPORT_MSCCL_ENDS_H */
