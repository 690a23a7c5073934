/* coll/plan/topo/mesh.h — ranks on a mesh
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_MESH_H
#define COLL_PLAN_TOPO_MESH_H

#include "integers.h"

/* ---- meshes --------------------------------------------------------------------------- Ranks
 * row by row on a mesh of `width` columns, a divisor: rank y·width + x is in column x of row y.
 * Along a boustrophedon line, which turns back at the end of every row, neighbours on the line
 * are neighbours on the mesh.
 *
 *   width = 4, p = 12:   y = 2   8  9 10 11      the line:   8→ 9→10→11
 *                        y = 1   4  5  6  7                  4← 5← 6← 7
 *                        y = 0   0  1  2  3                  0→ 1→ 2→ 3
 */
typedef struct coll_mesh_place {
    uint32_t x, y; /* the column, and the row */
} coll_mesh_place;

/* The place of a rank, whose mesh is numbered row by row. */
COLL_HOT_INLINE coll_mesh_place coll_mesh_place_of(const coll_fast_divisor *width,
                                                   uint32_t rank)
{
    coll_mesh_place at;
    at.y = coll_divide(rank, width);
    at.x = rank - at.y * width->by;
    return at;
}

/* Where on the line a rank is, and which rank is there: the same function, as it only turns the
 * odd rows round. The last row must be full. */
COLL_HOT_INLINE uint32_t coll_mesh_snake(const coll_fast_divisor *width, uint32_t rank)
{
    const coll_mesh_place at = coll_mesh_place_of(width, rank);
    return at.y & 1u ? rank + (width->by - 1) - 2 * at.x : rank;
}

/* The width of the mesh of p ranks that is nearest to a square, no wider than high. O(√p): to
 * make plans, not in them. */
COLL_INLINE uint32_t coll_mesh_width(uint32_t p)
{
    uint32_t width = 1;
    for (uint32_t w = 2; w <= p / w; w++)
        if (p % w == 0)
            width = w;
    return width;
}

/* Where a rank of a mesh of p ranks is if columns and rows are counted, cyclically, from those of
 * `root` on: as a rank, 0 for the root itself. And back. */
COLL_HOT_INLINE uint32_t coll_mesh_from(const coll_fast_divisor *width, uint32_t p,
                                        uint32_t root, uint32_t rank)
{
    const coll_mesh_place at = coll_mesh_place_of(width, rank);
    const coll_mesh_place zero = coll_mesh_place_of(width, root);
    return coll_mod_sub(at.y, zero.y, coll_divide(p, width)) * width->by +
           coll_mod_sub(at.x, zero.x, width->by);
}

/* The rank that coll_mesh_from puts at v. */
COLL_HOT_INLINE uint32_t coll_mesh_back(const coll_fast_divisor *width, uint32_t p,
                                        uint32_t root, uint32_t v)
{
    const coll_mesh_place at = coll_mesh_place_of(width, v);
    const coll_mesh_place zero = coll_mesh_place_of(width, root);
    return coll_mod_add(at.y, zero.y, coll_divide(p, width)) * width->by +
           coll_mod_add(at.x, zero.x, width->by);
}

/* Binary trees on a mesh: one along each row, from column 0, and one along column 0. The parent
 * of column x is x without its lowest bit, so is that of a row. Every subtree is a run of ranks,
 * the children's in order.
 *
 *   width = 4, p = 12:   0 ─ 1                    along the rows
 *                        ├ 2 ─ 3
 *                        ├ 4 ─ 5, 6 ─ 7           along column 0
 *                        └ 8 ─ 9, 10 ─ 11
 */
typedef struct coll_mesh_branch {
    uint32_t parent;   /* the rank itself at the root, 0 */
    uint32_t children; /* how many */
} coll_mesh_branch;

/* Children of i on a line of n: at distances 1, 2, 4 … */
COLL_HOT_INLINE uint32_t coll_i_mesh_children(uint32_t n, uint32_t i)
{
    const uint32_t most = coll_log2_ceil(n - i);
    return i == 0 || most < COLL_LOWEST_BIT(i) ? most : COLL_LOWEST_BIT(i);
}

/* v's place in the tree of p ranks. O(1). */
COLL_HOT_INLINE coll_mesh_branch coll_mesh_tree(const coll_fast_divisor *width, uint32_t p,
                                                uint32_t v)
{
    const coll_mesh_place at = coll_mesh_place_of(width, v);
    coll_mesh_branch branch;
    branch.children = coll_i_mesh_children(width->by, at.x);
    branch.parent = v - (at.x & (0 - at.x));
    if (at.x == 0) {
        branch.children += coll_i_mesh_children(coll_divide(p, width), at.y);
        branch.parent = v - (at.y & (0 - at.y)) * width->by;
    }
    return branch;
}

/* Child number i of v, which exists: those in its row come first. */
COLL_HOT_INLINE uint32_t coll_mesh_child(const coll_fast_divisor *width, uint32_t v, uint32_t i)
{
    const uint32_t most = coll_log2_ceil(width->by); /* a rank beyond column 0 has fewer */
    return i < most ? v + ((uint32_t)1 << i) : v + (width->by << (i - most));
}

#endif /* COLL_PLAN_TOPO_MESH_H */
