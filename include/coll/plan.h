/* coll/plan.h — a problem, an algorithm that solves it, and both together: the plan
 *
 *   coll_problem problem;
 *   coll_problem_init(&problem, COLL_ALLREDUCE, p, count, sizeof(double));
 *   problem.flags |= COLL_COMMUTATIVE;
 *   coll_plan plan;
 *   coll_status status = coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL);
 *
 * A plan is plain data, made from the same numbers on every rank of the group; the pointers in it
 * (algorithm, tables) are read only and stay the caller's. All that can be wrong with a request is
 * found by coll_plan_init, or by coll_plan_check_rank where it concerns one rank. Nothing here
 * allocates, blocks or communicates.
 *
 * What IN and OUT hold, in elements (blocks are those of coll_in_block and coll_out_block):
 *
 *   collective             IN                          OUT
 *   barrier                –                           –
 *   bcast                  count at the root           count
 *   reduce                 count                       count at the root
 *   allreduce, scan        count                       count
 *   exscan                 count                       count, untouched at rank 0
 *   gather(v)              one block                   p blocks at the root
 *   scatter(v)             p blocks at the root        one block
 *   allgather(v)           one block                   p blocks
 *   alltoall(v,w)          p blocks                    p blocks
 *   reduce_scatter(_block) p blocks                    one block
 *   neighbor_allgather(v)  count                       a block for each source
 *   neighbor_alltoall(v,w) a block for each destination  likewise
 *
 * COLL_IN_PLACE has MPI's meaning: the input is found in OUT (bcast: at the root; reduce: at
 * the root; gather(v): the root's own block, at its place; allgather(v): every rank's own
 * block, at its place; reduce_scatter: all p blocks, the result then replaces the first
 * elements; alltoall(v,w): the p blocks, laid out as OUT), and IN is not used there. scatter(v)
 * in place leaves the root's block where it is. Neighbour collectives are never in place; their
 * neighbours are those of a graph (graph.h).
 */
#ifndef COLL_PLAN_H
#define COLL_PLAN_H

#include "action.h"
#include "graph.h"

/* ---- problem ----------------------------------------------------------------------------- */

/* Where the p blocks of a buffer lie, in elements. Both tables have p entries and are the caller's;
 * NULL means p blocks of `count` elements, one after the other. Neighbour collectives have as many
 * blocks as neighbours instead. */
typedef struct coll_layout {
    const size_t *counts, *displs;
} coll_layout;

enum {
    COLL_IN_PLACE = 1,   /* see above */
    COLL_COMMUTATIVE = 2 /* the operator may be applied in any order */
};

typedef struct coll_problem {
    coll_collective collective;
    uint32_t p;        /* ranks */
    uint32_t root;     /* of a rooted collective */
    uint32_t flags;    /* COLL_IN_PLACE | COLL_COMMUTATIVE */
    size_t count;      /* elements of the vector, or of one block */
    size_t elem_bytes; /* bytes of an element */
    coll_layout in;    /* scatterv, alltoallv, alltoallw, reduce_scatter: blocks of IN */
    coll_layout out;   /* gatherv, allgatherv, alltoallv, alltoallw: blocks of OUT */
    coll_nodes nodes;  /* which ranks share SHARED; at first all: coll_nodes_even, …_table */
    const coll_graph *graph; /* neighbour collectives: the neighbours; others: NULL */
} coll_problem;

COLL_INLINE void coll_problem_init(coll_problem *problem, coll_collective collective,
                                   uint32_t p, size_t count, size_t elem_bytes)
{
    problem->collective = collective;
    problem->p = p;
    problem->root = 0;
    problem->flags = 0;
    problem->count = count;
    problem->elem_bytes = elem_bytes;
    problem->in.counts = problem->in.displs = NULL;
    problem->out.counts = problem->out.displs = NULL;
    problem->nodes.count = problem->nodes.ppn = problem->nodes.most = 0;
    problem->nodes.by_ppn = coll_divider_of(1);
    problem->nodes.first = problem->nodes.of = NULL;
    problem->graph = NULL;
}

/* How many blocks IN has, as far as it has blocks, and OUT. */
COLL_INLINE uint32_t coll_in_blocks(const coll_problem *problem)
{
    return problem->graph ? problem->graph->n_out : problem->p;
}

COLL_INLINE uint32_t coll_out_blocks(const coll_problem *problem)
{
    return problem->graph ? problem->graph->n_in : problem->p;
}

/* ---- group ------------------------------------------------------------------------------- */

/* How the ranks of a plan map to ranks outside: base + rank·stride, or a table. */
typedef struct coll_group {
    uint32_t base, stride;
    const uint32_t *table;   /* p outer ranks, the caller's; NULL: affine */
    const uint32_t *inverse; /* rank of an outer rank or COLL_NOBODY; needed to embed a table */
} coll_group;

COLL_INLINE void coll_group_affine(coll_group *group, uint32_t base, uint32_t stride)
{
    group->base = base;
    group->stride = stride;
    group->table = group->inverse = NULL;
}

/* *to = *from, without a call of memcpy on bare metal. */
COLL_INLINE void coll_group_assign(coll_group *to, const coll_group *from)
{
    to->base = from->base;
    to->stride = from->stride;
    to->table = from->table;
    to->inverse = from->inverse;
}

COLL_INLINE void coll_group_identity(coll_group *group)
{
    coll_group_affine(group, 0, 1);
}

COLL_INLINE void coll_group_table(coll_group *group, const uint32_t *table,
                                  const uint32_t *inverse)
{
    group->base = 0;
    group->stride = 0;
    group->table = table;
    group->inverse = inverse;
}

/* The outer rank of a rank. */
COLL_INLINE uint32_t coll_group_outer(const coll_group *group, uint32_t rank)
{
    return group->table ? group->table[rank] : group->base + rank * group->stride;
}

/* The rank, below p, of an outer rank; COLL_NOBODY if it is no member. */
COLL_INLINE uint32_t coll_group_rank(const coll_group *group, uint32_t p, uint32_t outer)
{
    uint32_t rank;
    if (group->inverse)
        return group->inverse[outer];
    if (group->table || outer < group->base)
        return COLL_NOBODY;
    rank = outer - group->base;
    if (group->stride != 1) {
        if (rank % group->stride != 0)
            return COLL_NOBODY;
        rank /= group->stride;
    }
    return rank < p ? rank : COLL_NOBODY;
}

/* Are the p ranks of the group different, and all below `outer_p`? O(p) for affine, O(p²) for a
 * table. */
COLL_INLINE coll_status coll_group_check(const coll_group *group, uint32_t p, uint32_t outer_p)
{
    if (p == 0)
        return COLL_ERR_GROUP;
    if (!group->table)
        return group->stride > 0 && group->base + (uint64_t)(p - 1) * group->stride < outer_p
                   ? COLL_OK
                   : COLL_ERR_GROUP;
    for (uint32_t i = 0; i < p; i++) {
        if (group->table[i] >= outer_p ||
            (group->inverse && group->inverse[group->table[i]] != i))
            return COLL_ERR_GROUP;
        for (uint32_t k = 0; !group->inverse && k < i; k++)
            if (group->table[k] == group->table[i])
                return COLL_ERR_GROUP;
    }
    return COLL_OK;
}

/* Do the outer ranks, all below `outer_p`, grow with the rank? O(1) for affine, O(p) for a
 * table. */
COLL_INLINE bool coll_group_ascends(const coll_group *group, uint32_t p, uint32_t outer_p)
{
    if (!group->table)
        return coll_group_check(group, p, outer_p) == COLL_OK;
    for (uint32_t i = 1; i < p; i++)
        if (group->table[i - 1] >= group->table[i])
            return false;
    return p > 0 && group->table[p - 1] < outer_p;
}

/* How many of the p ranks have an outer rank below `outer`, which is at most `outer_p`. The group
 * ascends. O(log(outer_p − p)). */
COLL_HOT_INLINE uint32_t coll_group_below(const coll_group *group, uint32_t p, uint32_t outer_p,
                                          uint32_t outer)
{
    const uint32_t missing = outer_p - p;
    uint32_t low = outer > missing ? outer - missing : 0, high = outer < p ? outer : p;
    if (!group->table && group->stride == 1) {
        low = outer > group->base ? outer - group->base : 0;
        return low < p ? low : p;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (coll_group_outer(group, middle) < outer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- algorithm --------------------------------------------------------------------------- */

struct coll_plan;

/* A parameter of an algorithm, and the values for which the verifier proves it. */
typedef struct coll_param {
    const char *name, *meaning;
    uint32_t least, most, usual;
    uint32_t
        grid[4]; /* proven values; entries after the first repetition of the first are unused */
} coll_param;

/* What an algorithm needs and what it guarantees. */
enum {
    COLL_NEEDS_COMMUTATIVE = 1,    /* reorders operands */
    COLL_NEEDS_POWER_OF_TWO = 2,   /* of p */
    COLL_NEEDS_OUT_OF_PLACE = 4,   /* refuses COLL_IN_PLACE */
    COLL_NEEDS_COUNTS = 8,         /* every rank must have the tables of a v-collective */
    COLL_NEEDS_SHARED = 16,        /* SHARED memory */
    COLL_NEEDS_MULTICAST = 32,     /* of the transport */
    COLL_NEEDS_FABRIC_REDUCE = 64, /* of the transport */
    COLL_GIVES_SAME_BITS = 128,   /* every rank gets the same bits, even of inexact operators */
    COLL_GIVES_FIXED_ORDER = 256, /* the parenthesisation depends on p alone */
    COLL_NEEDS_PACKED = 512, /* tables, if any, with each block right behind the one before */
    COLL_USES_NODES = 1024,  /* does its work by nodes; others with SHARED need a single one */
    COLL_USES_GROUP =
        2048, /* its parameters may make it compute on the ranks of the transport */
    COLL_USES_PADDING =
        4096, /* may send and copy what nobody wrote, for even sizes; not to OUT */
    COLL_NEEDS_ROUTE = 8192, /* of the graph: algos/combining.h */
    COLL_NEEDS_BUILD = 16384 /* is made of other algorithms: build.h */
};
#define COLL_TRAIT_LIST(X)                                                                     \
    X(COLL_NEEDS_COMMUTATIVE, "needs-commutative")                                             \
    X(COLL_NEEDS_POWER_OF_TWO, "needs-power-of-two")                                           \
    X(COLL_NEEDS_OUT_OF_PLACE, "needs-out-of-place")                                           \
    X(COLL_NEEDS_COUNTS, "needs-counts")                                                       \
    X(COLL_NEEDS_PACKED, "needs-packed")                                                       \
    X(COLL_NEEDS_BUILD, "needs-build")                                                         \
    X(COLL_NEEDS_SHARED, "needs-shared")                                                       \
    X(COLL_NEEDS_MULTICAST, "needs-multicast")                                                 \
    X(COLL_NEEDS_FABRIC_REDUCE, "needs-fabric-reduce")                                         \
    X(COLL_NEEDS_ROUTE, "needs-route")                                                         \
    X(COLL_USES_NODES, "uses-nodes")                                                           \
    X(COLL_USES_GROUP, "uses-group")                                                           \
    X(COLL_USES_PADDING, "uses-padding")                                                       \
    X(COLL_GIVES_SAME_BITS, "same-bits")                                                       \
    X(COLL_GIVES_FIXED_ORDER, "fixed-order")

/* One algorithm for one pattern. All functions are pure: they depend on their arguments alone,
 * and neither allocate nor keep state. `rank` is below p.
 * Records are static: each translation unit has its own copy, so they are told apart by name, not
 * by address. */
typedef struct coll_algorithm {
    const char *name;
    const char *source;   /* author year, section or equation */
    uint32_t collectives; /* mask of COLL_BIT */
    uint32_t traits;
    uint32_t window; /* least window with which it ends if sends wait for receivers */
    uint32_t n_params;
    const coll_param *params;
    /* Are p and the parameters legal together, and with the group if it is used? NULL: always,
     * within the ranges of `params`. */
    coll_status (*check)(const struct coll_plan *plan);
    /* Number of steps of a rank. */
    size_t (*steps)(const struct coll_plan *plan, uint32_t rank);
    /* Writes the actions of step s < steps to `out` and returns how many; any s, in any order. */
    unsigned (*step)(const struct coll_plan *plan, uint32_t rank, size_t s, coll_action *out);
    /* Elements of SCRATCH; NULL: none. */
    size_t (*scratch)(const struct coll_plan *plan, uint32_t rank);
    /* Elements of SHARED, for the whole node; NULL: none. */
    size_t (*shared)(const struct coll_plan *plan);
} coll_algorithm;

/* ---- plan -------------------------------------------------------------------------------- */

typedef struct coll_plan {
    const coll_algorithm *algorithm;
    coll_problem problem;
    uint32_t param[COLL_PARAM_MAX];
    uint32_t traits;    /* of the algorithm and, in a composition, of what it is made of */
    uint32_t window;    /* least window of a request that runs it */
    coll_partition cut; /* the vector of `count` elements in p parts */
    coll_divider
        radix; /* division by param[0], which is the radix of algorithms that have one */
    coll_divider second;   /* division by param[1] */
    coll_fold fold;        /* the ranks, k = param[0], or 2 for an algorithm without a radix */
    coll_partition pieces; /* the vector in fold.core parts */
    size_t largest;        /* elements of the largest block of the layouts that this rank has */
    coll_group group;  /* its ranks as ranks of the transport; identity until coll_plan_place */
    const void *inner; /* what the plan is made of (compose.h, build.h, schedule.h), or NULL */
} coll_plan;

COLL_INLINE bool coll_in_place(const coll_plan *plan)
{
    return (plan->problem.flags & COLL_IN_PLACE) != 0;
}

/* Where a rank's input begins: IN, or OUT in place. */
COLL_INLINE coll_ref coll_input(const coll_plan *plan)
{
    return coll_in_place(plan) ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_IN, 0);
}

COLL_INLINE coll_block coll_i_layout_block(const coll_layout *layout, size_t count, uint32_t i)
{
    coll_block block;
    block.offset = layout->counts ? layout->displs[i] : count * i;
    block.count = layout->counts ? layout->counts[i] : count;
    return block;
}

/* Block i of the p blocks of IN (scatter, alltoall, reduce_scatter and their kin). */
COLL_INLINE coll_block coll_in_block(const coll_plan *plan, uint32_t i)
{
    return coll_i_layout_block(&plan->problem.in, plan->problem.count, i);
}

/* Block i of the p blocks of OUT (gather, allgather, alltoall and their kin). */
COLL_INLINE coll_block coll_out_block(const coll_plan *plan, uint32_t i)
{
    return coll_i_layout_block(&plan->problem.out, plan->problem.count, i);
}

/* Where block i of a packed layout begins; for i = p, where the last one ends. */
COLL_HOT_INLINE size_t coll_i_layout_at(const coll_layout *layout, size_t count, uint32_t p,
                                        uint32_t i)
{
    if (!layout->counts)
        return count * i;
    return i < p ? layout->displs[i] : layout->displs[p - 1] + layout->counts[p - 1];
}

/* Elements of a rank's single block: gather(v) and allgather(v) IN, scatter(v) and
 * reduce_scatter OUT. From the table where this rank has it, else `count`, which a v-collective
 * then sets to its own. */
COLL_INLINE size_t coll_own_count(const coll_plan *plan, uint32_t rank)
{
    const size_t *counts =
        plan->problem.out.counts ? plan->problem.out.counts : plan->problem.in.counts;
    return counts ? counts[rank] : plan->problem.count;
}

COLL_INLINE size_t coll_i_layout_largest(const coll_layout *layout, size_t count, uint32_t p)
{
    size_t largest = layout->counts ? 0 : count;
    for (uint32_t i = 0; layout->counts && i < p; i++)
        if (largest < layout->counts[i])
            largest = layout->counts[i];
    return largest;
}

/* Does each block begin where the one before ends, the first at 0? Then blocks i … k−1 are one
 * run of displs[k] − displs[i] elements. */
COLL_INLINE bool coll_i_layout_packed(const coll_layout *layout, uint32_t p)
{
    size_t at = 0;
    for (uint32_t i = 0; layout->counts && i < p; i++) {
        if (layout->displs[i] != at)
            return false;
        at += layout->counts[i];
    }
    return true;
}

/* Elements from the start of the buffer to the end of its last block; false if that overflows. */
COLL_INLINE bool coll_i_layout_extent(const coll_layout *layout, size_t count, uint32_t p,
                                      size_t *extent)
{
    *extent = 0;
    if (!layout->counts)
        return coll_multiply(count, p, extent);
    for (uint32_t i = 0; i < p; i++) {
        if (layout->counts[i] > SIZE_MAX - layout->displs[i])
            return false;
        if (layout->counts[i] > 0 && *extent < layout->displs[i] + layout->counts[i])
            *extent = layout->displs[i] + layout->counts[i];
    }
    return true;
}

/* Elements that the caller's IN and OUT must have on a rank. O(p) for a v-collective, O(1)
 * otherwise. */
typedef struct coll_extents {
    size_t in, out;
    bool fits; /* false: they overflow */
} coll_extents;

COLL_INLINE coll_extents coll_plan_extents(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool root = rank == of->root, in_place = coll_in_place(plan);
    size_t in_blocks = 0, out_blocks = 0;
    const bool in_fits =
        coll_i_layout_extent(&of->in, of->count, coll_in_blocks(of), &in_blocks);
    const bool out_fits =
        coll_i_layout_extent(&of->out, of->count, coll_out_blocks(of), &out_blocks);
    coll_extents extents;
    extents.in = extents.out = of->count;
    extents.fits = true;
    switch (of->collective) {
    case COLL_BCAST:
        extents.in = root ? of->count : 0;
        break;
    case COLL_REDUCE:
        extents.out = root ? of->count : 0;
        break;
    case COLL_GATHER:
    case COLL_GATHERV:
        extents.in = coll_own_count(plan, rank);
        extents.out = root ? out_blocks : 0;
        extents.fits = out_fits || !root;
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        extents.in = root ? in_blocks : 0;
        extents.out = root && in_place ? 0 : coll_own_count(plan, rank);
        extents.fits = in_fits || !root;
        return extents; /* in place concerns OUT, not IN */
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        extents.in = coll_own_count(plan, rank);
        extents.out = out_blocks;
        extents.fits = out_fits;
        break;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
        extents.out = out_blocks;
        extents.fits = out_fits;
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        extents.in = in_blocks;
        extents.out = out_blocks;
        extents.fits = in_fits && out_fits;
        break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        extents.in = in_blocks;
        extents.out = in_place ? in_blocks : coll_own_count(plan, rank);
        extents.fits = in_fits;
        break;
    case COLL_BARRIER:
        extents.in = extents.out = 0;
        break;
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
    case COLL_COLLECTIVES:
        break;
    }
    if (in_place && (root || !coll_is(COLL_ROOTED, of->collective)))
        extents.in = 0;
    return extents;
}

/* Do `elements` and a small multiple of them, as scratch, fit the machine? */
COLL_INLINE bool coll_i_addressable(size_t elements, size_t elem_bytes)
{
    return elements <= COLL_REF_LIMIT / 4 && elements <= SIZE_MAX / 4 / elem_bytes;
}

/* Field by field: on bare metal, compilers call memcpy for the assignment of structures this
 * large. */
COLL_INLINE void coll_i_nodes_assign(coll_nodes *to, const coll_nodes *from)
{
    to->count = from->count;
    to->ppn = from->ppn;
    to->most = from->most;
    to->by_ppn.by = from->by_ppn.by;
    to->by_ppn.multiplier = from->by_ppn.multiplier;
    to->by_ppn.shift1 = from->by_ppn.shift1;
    to->by_ppn.shift2 = from->by_ppn.shift2;
    to->first = from->first;
    to->of = from->of;
}

COLL_INLINE void coll_i_problem_assign(coll_problem *to, const coll_problem *from)
{
    to->collective = from->collective;
    to->p = from->p;
    to->root = from->root;
    to->flags = from->flags;
    to->count = from->count;
    to->elem_bytes = from->elem_bytes;
    to->in = from->in;
    to->out = from->out;
    coll_i_nodes_assign(&to->nodes, &from->nodes);
    to->graph = from->graph;
}

/* coll_plan_init, of an algorithm that may be made of others. */
COLL_INLINE coll_status coll_i_plan_init(coll_plan *plan, const coll_algorithm *algorithm,
                                         const coll_problem *problem, const uint32_t *params)
{
    if (!plan || !algorithm || !problem)
        return COLL_ERR_NULL;
    if (problem->p == 0)
        return COLL_ERR_RANKS;
    if ((unsigned)problem->collective >= COLL_COLLECTIVES ||
        !coll_is(algorithm->collectives, problem->collective))
        return COLL_ERR_COLLECTIVE;
    if (coll_is(COLL_ROOTED, problem->collective) && problem->root >= problem->p)
        return COLL_ERR_ROOT;
    if (problem->elem_bytes == 0)
        return COLL_ERR_TYPE;
    if (!problem->in.counts != !problem->in.displs ||
        !problem->out.counts != !problem->out.displs)
        return COLL_ERR_COUNTS;
    if (coll_is(COLL_NEIGHBORLY, problem->collective)
            ? coll_graph_check(problem->graph, problem->p) != COLL_OK
            : problem->graph != NULL)
        return COLL_ERR_GRAPH;
    if (problem->graph && (problem->flags & COLL_IN_PLACE))
        return COLL_ERR_IN_PLACE;
    if ((algorithm->traits & COLL_NEEDS_COMMUTATIVE) && !(problem->flags & COLL_COMMUTATIVE))
        return COLL_ERR_ORDER;
    if ((algorithm->traits & COLL_NEEDS_OUT_OF_PLACE) && (problem->flags & COLL_IN_PLACE))
        return COLL_ERR_IN_PLACE;
    if ((algorithm->traits & COLL_NEEDS_POWER_OF_TWO) && (problem->p & (problem->p - 1)) != 0)
        return COLL_ERR_SHAPE;
    if ((algorithm->traits & COLL_NEEDS_PACKED) &&
        !(coll_i_layout_packed(&problem->in, coll_in_blocks(problem)) &&
          coll_i_layout_packed(&problem->out, coll_out_blocks(problem))))
        return COLL_ERR_LAYOUT;
    if (!coll_nodes_check(&problem->nodes, problem->p) ||
        ((algorithm->traits & COLL_NEEDS_SHARED) && !(algorithm->traits & COLL_USES_NODES) &&
         coll_nodes_count(&problem->nodes) > 1))
        return COLL_ERR_NODES;
    if (algorithm->n_params > COLL_PARAM_MAX)
        return COLL_ERR_PARAM;
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        plan->param[i] = 0;
        if (i >= algorithm->n_params)
            continue;
        plan->param[i] = params ? params[i] : algorithm->params[i].usual;
        if (plan->param[i] < algorithm->params[i].least ||
            plan->param[i] > algorithm->params[i].most)
            return COLL_ERR_PARAM;
    }
    plan->algorithm = algorithm;
    coll_i_problem_assign(&plan->problem, problem);
    if (!coll_is(COLL_ROOTED, problem->collective))
        plan->problem.root = 0; /* so that an algorithm may build on rooted ones */
    plan->traits = algorithm->traits;
    plan->window = algorithm->window;
    plan->cut = coll_partition_of(problem->count, problem->p);
    plan->radix = coll_divider_of(plan->param[0] ? plan->param[0] : 1);
    plan->second = coll_divider_of(plan->param[1] ? plan->param[1] : 1);
    {
        const coll_fold fold =
            coll_fold_of(problem->p, plan->radix.by > 1 ? &plan->radix : &coll_divider_two);
        plan->fold.core = fold.core; /* by field: some compilers call memcpy for all */
        plan->fold.extra = fold.extra;
        plan->fold.rounds = fold.rounds;
        plan->fold.top = fold.top;
    }
    plan->pieces = coll_partition_of(problem->count, plan->fold.core);
    {
        const size_t in =
            coll_i_layout_largest(&problem->in, problem->count, coll_in_blocks(problem));
        const size_t out =
            coll_i_layout_largest(&problem->out, problem->count, coll_out_blocks(problem));
        plan->largest = problem->in.counts && (!problem->out.counts || in > out) ? in : out;
    }
    plan->inner = NULL;
    coll_group_identity(&plan->group);
    if (COLL_CHECKS) {
        const coll_extents extents = coll_plan_extents(plan, plan->problem.root);
        if (!extents.fits || !coll_i_addressable(extents.in, problem->elem_bytes) ||
            !coll_i_addressable(extents.out, problem->elem_bytes))
            return COLL_ERR_OVERFLOW;
    }
    return algorithm->check ? algorithm->check(plan) : COLL_OK;
}

/* Makes *plan from an algorithm, a problem and the algorithm's parameters in its order (NULL:
 * the usual ones). Every rank must call it with the same numbers; tables of counts may be
 * missing where the algorithm does not need them. Returns COLL_OK, or what is wrong with the
 * request; *plan is then unusable. COLL_ERR_BUILD: this algorithm needs coll_plan_build. */
COLL_INLINE coll_status coll_plan_init(coll_plan *plan, const coll_algorithm *algorithm,
                                       const coll_problem *problem, const uint32_t *params)
{
    return algorithm && (algorithm->traits & COLL_NEEDS_BUILD)
               ? COLL_ERR_BUILD
               : coll_i_plan_init(plan, algorithm, problem, params);
}

/* Says which ranks of the transport the plan's ranks are. COLL_OK, or what the algorithm has
 * against it; *plan is then unusable. The group's tables stay the caller's. */
COLL_INLINE coll_status coll_plan_place(coll_plan *plan, const coll_group *group)
{
    coll_group_assign(&plan->group, group);
    return plan->traits & COLL_USES_GROUP ? plan->algorithm->check(plan) : COLL_OK;
}

/* What only one rank can get wrong: its number, and its tables. */
COLL_INLINE coll_status coll_plan_check_rank(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool everywhere = (plan->traits & COLL_NEEDS_COUNTS) != 0;
    bool in = false, out = false;
    if (rank >= of->p)
        return COLL_ERR_RANK;
    switch (of->collective) {
    case COLL_GATHERV:
        out = everywhere || rank == of->root;
        break;
    case COLL_SCATTERV:
        in = everywhere || rank == of->root;
        break;
    case COLL_ALLGATHERV:
        out = true;
        break;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        in = !coll_in_place(plan);
        out = true;
        break;
    case COLL_REDUCE_SCATTER:
        in = true;
        break;
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        in = of->graph->n_out > 0;
        out = of->graph->n_in > 0;
        break;
    case COLL_NEIGHBOR_ALLGATHERV:
        out = of->graph->n_in > 0;
        break;
    default:
        break;
    }
    if (of->graph && of->graph->rank != COLL_NOBODY && of->graph->rank != rank)
        return COLL_ERR_GRAPH;
    if ((in && !of->in.counts) || (out && !of->out.counts))
        return COLL_ERR_COUNTS;
    return COLL_OK;
}

COLL_INLINE size_t coll_plan_steps(const coll_plan *plan, uint32_t rank)
{
    return plan->algorithm->steps(plan, rank);
}

COLL_INLINE unsigned coll_plan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                    coll_action *out)
{
    return plan->algorithm->step(plan, rank, s, out);
}

/* Elements of SCRATCH that this rank needs. */
COLL_INLINE size_t coll_plan_scratch(const coll_plan *plan, uint32_t rank)
{
    return plan->algorithm->scratch ? plan->algorithm->scratch(plan, rank) : 0;
}

/* Elements of SHARED that the ranks of a node need together. */
COLL_INLINE size_t coll_plan_shared(const coll_plan *plan)
{
    return plan->algorithm->shared ? plan->algorithm->shared(plan) : 0;
}

#endif /* COLL_PLAN_H */
