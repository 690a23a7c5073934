/* coll/algos/kit/mixed_passes.h — segments between nodes, and their parts within nodes
 *
 * A segment that comes from another node passes the node's pipeline buffers in two parts: the first
 * `overlap` elements while the next segment is under way, and what is left at the end. Each part is
 * a stage of kit/shared_buffers.h.
 *
 *   3 segments, overlap of a half:   0a │ 1a │ 2a │ 0b 1b 2b
 *
 * Laws (tests/algos/mixed.c): (2) and (3) of mixed.h
 * Source  Wu 2005, sections 3.3 and 3.4
 */
#ifndef COLL_ALGOS_KIT_MIXED_PASSES_H
#define COLL_ALGOS_KIT_MIXED_PASSES_H

#include "shared_buffers.h"

/* How segments of up to `segment` elements go through the buffers: the first part of each, then
 * the rest of each. Tokens are never empty, so that empty parts need no care. */
typedef struct coll_i_mixed_cut {
    size_t segment, overlap; /* elements; overlap ≤ segment */
    size_t segments;         /* in all, of all blocks */
    size_t piece;            /* elements of a buffer */
    bool early, late;        /* are there first parts, and rests? */
} coll_i_mixed_cut;

/* `longest`: elements of the longest block, at least 1. */
COLL_HOT_INLINE void coll_i_mixed_cut_of(const coll_plan *plan, size_t longest,
                                         coll_i_mixed_cut *cut)
{
    const size_t wanted = plan->param[2], overlap = plan->param[3];
    cut->segment = wanted == 0 || wanted > longest ? longest : wanted;
    cut->overlap = overlap < cut->segment ? overlap : cut->segment;
    cut->segments = coll_segments(longest, cut->segment);
    cut->early = cut->overlap > 0;
    cut->late = cut->overlap < cut->segment;
    cut->piece =
        cut->overlap > cut->segment - cut->overlap ? cut->overlap : cut->segment - cut->overlap;
}

/* Stages in which something goes through a buffer. */
COLL_INLINE size_t coll_i_mixed_passes(const coll_i_mixed_cut *cut)
{
    return (cut->early ? cut->segments : 0) + (cut->late ? cut->segments : 0);
}

/* Segment i of a block; empty if it has fewer. */
COLL_HOT_INLINE coll_block coll_i_mixed_segment(const coll_i_mixed_cut *cut, coll_block block,
                                                size_t i)
{
    const size_t begin = i * cut->segment;
    coll_block segment;
    segment.offset = block.offset + begin;
    segment.count = begin >= block.count                 ? 0
                    : block.count - begin < cut->segment ? block.count - begin
                                                         : cut->segment;
    return segment;
}

/* The first part of a segment, or its rest. */
COLL_HOT_INLINE coll_block coll_i_mixed_part(const coll_i_mixed_cut *cut, coll_block segment,
                                             bool late)
{
    const size_t first = segment.count < cut->overlap ? segment.count : cut->overlap;
    coll_block part;
    part.offset = segment.offset + (late ? first : 0);
    part.count = late ? segment.count - first : first;
    return part;
}

/* Stage `stage` of `stages`, in which `part` goes through a buffer, and `before` went through the
 * one that the next stage uses. */
COLL_HOT_INLINE coll_i_shm_pass coll_i_mixed_pass(const coll_plan *plan,
                                                  const coll_i_mixed_cut *cut, size_t stage,
                                                  size_t stages, coll_block part,
                                                  coll_block before)
{
    const bool wanted = stage + 1 >= plan->param[1] && stage + 1 < stages;
    coll_i_shm_pass pass;
    pass.part = part;
    pass.buffer = COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, stage) * cut->piece);
    pass.full = cut->piece;
    pass.waits = coll_i_shm_waits(plan, stage) ? cut->piece : 0;
    pass.freed = COLL_AT(COLL_OUT, before.offset);
    pass.frees = !wanted ? 0 : before.count ? before.count : 1;
    return pass;
}

/* The stage whose buffer the next one uses; 0 if there is none. */
COLL_HOT_INLINE size_t coll_i_mixed_before(const coll_plan *plan, size_t stage)
{
    return stage + 1 >= plan->param[1] ? stage + 1 - plan->param[1] : 0;
}

COLL_INLINE coll_status coll_i_mixed_check_size(const coll_plan *plan, size_t longest,
                                                size_t blocks)
{
    size_t stages, elements;
    if (longest == 0)
        return COLL_OK;
    {
        coll_i_mixed_cut cut;
        coll_i_mixed_cut_of(plan, longest, &cut);
        if (!coll_i_shm_counts(plan, coll_i_mixed_passes(&cut), blocks, &stages))
            return COLL_ERR_PARAM;
        if (!coll_multiply(cut.piece, plan->param[1] + (size_t)plan->problem.p, &elements) ||
            !coll_i_addressable(elements, plan->problem.elem_bytes))
            return COLL_ERR_OVERFLOW;
    }
    return COLL_OK;
}

#endif /* COLL_ALGOS_KIT_MIXED_PASSES_H */
