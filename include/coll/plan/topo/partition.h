/* coll/plan/topo/partition.h — vectors cut into parts and segments
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_PARTITION_H
#define COLL_PLAN_TOPO_PARTITION_H

#include "integers.h"

/* A run of elements. */
typedef struct coll_block {
    size_t offset, count;
} coll_block;

/* A vector cut into parts whose sizes differ by at most one, the larger ones first. */
typedef struct coll_partition {
    size_t base;    /* elements of every part … */
    uint32_t extra; /* … and the first `extra` parts have one more */
} coll_partition;

/* `count` elements in so many parts, the first ones longer by one element. */
COLL_INLINE coll_partition coll_partition_of(size_t count, uint32_t parts)
{
    coll_partition cut;
    cut.base = coll_i_quotient(count, parts);
    cut.extra = (uint32_t)(count - cut.base * parts);
    return cut;
}

/* Where part i begins. */
COLL_HOT_INLINE size_t coll_part_offset(coll_partition cut, uint32_t i)
{
    return cut.base * i + (i < cut.extra ? i : cut.extra);
}

/* Part i. */
COLL_HOT_INLINE coll_block coll_part_block(coll_partition cut, uint32_t i)
{
    coll_block block;
    block.offset = coll_part_offset(cut, i);
    block.count = cut.base + (i < cut.extra ? 1u : 0u);
    return block;
}

/* The part, of `parts` in all, that holds element i of the vector. O(log parts). */
COLL_HOT_INLINE uint32_t coll_part_of(coll_partition cut, uint32_t parts, size_t i)
{
    uint32_t first = 0;
    while (parts > 1) { /* it is one of `parts` parts from `first` on */
        const uint32_t half = parts / 2;
        const bool above = coll_part_offset(cut, first + half) <= i;
        first += above ? half : 0;
        parts = above ? parts - half : half;
    }
    return first;
}

/* A vector of count elements cut into segments of `segment` (0: one segment, the whole vector).
 * There is always at least one segment, so that an empty vector has an empty one. */
COLL_HOT_INLINE size_t coll_segments(size_t count, size_t segment)
{
    return segment == 0 || count <= segment ? 1 : coll_i_quotient(count - 1, segment) + 1;
}

/* Segment i of `count` elements in segments of one length; the last may be shorter. */
COLL_HOT_INLINE coll_block coll_segment_block(size_t count, size_t segment, size_t i)
{
    coll_block block;
    block.offset = segment * i;
    block.count =
        segment == 0 || count - block.offset < segment ? count - block.offset : segment;
    return block;
}

#endif /* COLL_PLAN_TOPO_PARTITION_H */
