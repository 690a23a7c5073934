/* coll/plan.h — a problem, an algorithm that solves it, and both together: the plan
 *
 *   coll_problem problem;
 *   coll_problem_init(&problem, COLL_ALLREDUCE, p, count, sizeof(double));
 *   problem.flags |= COLL_FLAG_COMMUTATIVE;
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
 * COLL_FLAG_IN_PLACE has MPI's meaning: the input is found in OUT (bcast: at the root; reduce: at
 * the root; gather(v): the root's own block, at its place; allgather(v): every rank's own
 * block, at its place; reduce_scatter: all p blocks, the result then replaces the first
 * elements; alltoall(v,w): the p blocks, laid out as OUT), and IN is not used there. scatter(v)
 * in place leaves the root's block where it is. Neighbour collectives are never in place; their
 * neighbours are those of a graph (plan/graph.h).
 *
 *   plan/problem.h     what is to be done: collective, ranks, sizes, blocks
 *   plan/group.h       which ranks outside the plan's ranks are
 *   plan/algorithm.h   an algorithm's record: parameters, traits, functions
 */
#ifndef COLL_PLAN_H
#define COLL_PLAN_H

#include "plan/action.h"
#include "plan/algorithm.h"
#include "plan/group.h"
#include "plan/problem.h"
#include "plan/topo/fold.h"
#include "plan/topo/partition.h"

/* A problem, an algorithm and parameters, validated: read only. */
typedef struct coll_plan {
    const coll_algorithm *algorithm;
    coll_problem problem; /* what is solved */
    uint32_t param[COLL_PARAM_MAX];
    uint32_t traits;    /* of the algorithm and, in a composition, of what it is made of */
    uint16_t window;    /* least window of an engine that runs it */
    uint16_t sends;     /* … and, of an in-order engine, the least sends in flight */
    coll_partition cut; /* the vector of `count` elements in p parts */
    size_t largest;     /* elements of the largest block of the layouts that this rank has */
    coll_group group; /* its ranks as ranks of the transport; identity until coll_plan_place */
    /* Made by the algorithm's `prepare` (algos/kit/derived.h), those that it needs: */
    coll_fast_divisor radix, second; /* division by param[0], by param[1] */
    coll_fold fold;                  /* the ranks folded to a core */
    coll_partition pieces;           /* the vector in fold.core parts */
    /* What the plan is made of (plan/compose.h, plan/composite.h, executor/schedule.h), or NULL. */
    const void *inner;
} coll_plan;

/* Does the plan work in place? */
COLL_INLINE bool coll_in_place(const coll_plan *plan)
{
    return (plan->problem.flags & COLL_FLAG_IN_PLACE) != 0;
}

/* Where a rank's input begins: IN, or OUT in place. */
COLL_INLINE coll_ref coll_input(const coll_plan *plan)
{
    return coll_in_place(plan) ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_IN, 0);
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

/* Elements of a rank's single block: gather(v) and allgather(v) IN, scatter(v) and
 * reduce_scatter OUT. From the table where this rank has it, else `count`, which a v-collective
 * then sets to its own. */
COLL_INLINE size_t coll_own_count(const coll_plan *plan, uint32_t rank)
{
    const size_t *out = coll_i_counts(&plan->problem.out);
    const size_t *counts = out ? out : coll_i_counts(&plan->problem.in);
    return counts ? counts[rank] : plan->problem.count;
}

/* Elements that the caller's IN and OUT must have on a rank. O(p) for a v-collective, O(1)
 * otherwise. */
typedef struct coll_extents {
    size_t in, out;
    bool fits; /* false: they overflow */
} coll_extents;

/* What IN and OUT of a collective hold: nothing, `count` elements, a rank's single block, or all blocks, in two
 * bits each; and which of them ranks beside the root have. */
enum {
    COLL_I_HOLDS_NOTHING,
    COLL_I_HOLDS_VECTOR,
    COLL_I_HOLDS_OWN,
    COLL_I_HOLDS_BLOCKS,
    COLL_I_ALL_IN = 16,
    COLL_I_ALL_OUT = 32,
    COLL_I_ALL = COLL_I_ALL_IN | COLL_I_ALL_OUT
};
#define COLL_I_HOLDS(in, out, all)                                                             \
    (uint8_t)(COLL_I_HOLDS_##in | COLL_I_HOLDS_##out << 2 | COLL_I_ALL##all)

/* Of each collective, in the order of COLL_COLLECTIVE_LIST. */
COLL_TABLE(uint8_t, coll_i_holds, {
    0,                                    /* barrier: neither */
    COLL_I_HOLDS(VECTOR, VECTOR, _OUT),   /* bcast */
    COLL_I_HOLDS(VECTOR, VECTOR, _IN),    /* reduce */
    COLL_I_HOLDS(VECTOR, VECTOR, ),       /* allreduce */
    COLL_I_HOLDS(OWN, BLOCKS, _IN),       /* gather */
    COLL_I_HOLDS(OWN, BLOCKS, _IN),       /* gatherv */
    COLL_I_HOLDS(BLOCKS, OWN, _OUT),      /* scatter */
    COLL_I_HOLDS(BLOCKS, OWN, _OUT),      /* scatterv */
    COLL_I_HOLDS(OWN, BLOCKS, ),          /* allgather */
    COLL_I_HOLDS(OWN, BLOCKS, ),          /* allgatherv */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* alltoall */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* alltoallv */
    COLL_I_HOLDS(BLOCKS, OWN, ),          /* reduce_scatter */
    COLL_I_HOLDS(BLOCKS, OWN, ),          /* reduce_scatter_block */
    COLL_I_HOLDS(VECTOR, VECTOR, ),       /* scan */
    COLL_I_HOLDS(VECTOR, VECTOR, ),       /* exscan */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* alltoallw */
    COLL_I_HOLDS(VECTOR, BLOCKS, ),       /* neighbor_allgather */
    COLL_I_HOLDS(VECTOR, BLOCKS, ),       /* neighbor_allgatherv */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* neighbor_alltoall */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* neighbor_alltoallv */
    COLL_I_HOLDS(BLOCKS, BLOCKS, ),       /* neighbor_alltoallw */
});
#undef COLL_I_HOLDS

/* Which buffers a rank has: 1: IN, 2: OUT. In place is IN in OUT: of a scatter, the other way round. */
COLL_INLINE unsigned coll_i_plan_buffers(const coll_plan *plan, uint32_t rank)
{
    const unsigned scatters = COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV);
    const coll_problem *of = &plan->problem;
    const unsigned holds = coll_i_holds[of->collective];
    unsigned buffers = holds == 0 ? 0u : 3u; /* all but a barrier have both */
    if (coll_is(COLL_ROOTED, of->collective) && rank != of->root)
        return buffers & holds >> 4;
    if (coll_in_place(plan))
        buffers &= coll_is(scatters, of->collective) ? 1u : 2u;
    return buffers;
}

/* Elements of IN and OUT that a rank has. */
COLL_INLINE coll_extents coll_plan_extents(const coll_plan *plan, uint32_t rank)
{
    const unsigned reduce_scatters =
        COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK);
    const coll_problem *of = &plan->problem;
    const bool replaces = coll_in_place(plan) && coll_is(reduce_scatters, of->collective);
    const unsigned buffers = coll_i_plan_buffers(plan, rank),
                   holds = coll_i_holds[of->collective];
    size_t elements[2];
    coll_extents
        extents; /* nothing points into it, or RISC-V's gcc calls memcpy to return it */
    extents.fits = true;
    for (unsigned side = 0; side < 2; side++) {
        const bool as_in = side == 0 || replaces; /* all blocks are in OUT at first */
        const unsigned what = (as_in ? holds : holds >> 2) & 3;
        elements[side] = 0;
        if (!(buffers >> side & 1))
            continue;
        if (what == COLL_I_HOLDS_BLOCKS)
            extents.fits &= coll_i_layout_extent(
                as_in ? &of->in : &of->out, of->count,
                as_in ? coll_in_blocks(of) : coll_out_blocks(of), &elements[side]);
        else
            elements[side] = what == COLL_I_HOLDS_OWN ? coll_own_count(plan, rank) : of->count;
    }
    extents.in = elements[0];
    extents.out = elements[1];
    return extents;
}

/* Do `elements` and a small multiple of them, as scratch, fit the machine? */
COLL_INLINE bool coll_i_addressable(size_t elements, size_t elem_bytes)
{
    size_t bytes;
    return elements <= COLL_REF_LIMIT / 4 && coll_multiply(elements, elem_bytes, &bytes) &&
           bytes <= SIZE_MAX / 4;
}

/* Does SCRATCH of so many vectors of `count` elements fit the machine? */
COLL_INLINE coll_status coll_i_vectors_check(const coll_plan *plan, size_t vectors)
{
    size_t elements;
    return coll_multiply(vectors, plan->problem.count, &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

/* What is wrong with a problem's tables of counts, and its graph? */
COLL_HOT_INLINE coll_status coll_i_tables_check(const coll_problem *problem,
                                                const coll_algorithm *algorithm)
{
    const unsigned tables_in = COLL_IRREGULAR ? COLL_TABLES_IN : 0u,
                   tables_out = COLL_IRREGULAR ? COLL_TABLES_OUT : 0u;
    if ((COLL_IRREGULAR && (!problem->in.counts != !problem->in.displs ||
                            !problem->out.counts != !problem->out.displs)) ||
        (problem->in.counts && !coll_is(tables_in, problem->collective)) ||
        (problem->out.counts && !coll_is(tables_out, problem->collective)))
        return COLL_ERR_COUNTS;
    if (!COLL_IRREGULAR) {
        if (coll_is(COLL_NEIGHBORLY, problem->collective) || problem->graph)
            return COLL_ERR_GRAPH;
        return coll_is(COLL_TABLES_IN | COLL_TABLES_OUT, problem->collective) ? COLL_ERR_COUNTS
                                                                              : COLL_OK;
    }
    if (coll_is(COLL_NEIGHBORLY, problem->collective)
            ? coll_graph_check(problem->graph, problem->p) != COLL_OK
            : problem->graph != NULL)
        return COLL_ERR_GRAPH;
    if ((algorithm->traits & COLL_NEEDS_CARTESIAN) && problem->graph->n_dims == 0)
        return COLL_ERR_ROUTE; /* of its kind there is none */
    return problem->graph && (problem->flags & COLL_FLAG_IN_PLACE) ? COLL_ERR_IN_PLACE
                                                                   : COLL_OK;
}

/* What is wrong with a problem, and with this algorithm for it, whatever its parameters are. */
COLL_INLINE coll_status coll_i_problem_check(const coll_problem *problem,
                                             const coll_algorithm *algorithm)
{
    coll_status status;
    if (problem->p == 0)
        return COLL_ERR_RANKS;
    if ((unsigned)problem->collective >= COLL_COLLECTIVES ||
        !coll_is(algorithm->collectives, problem->collective))
        return COLL_ERR_COLLECTIVE;
    if (coll_is(COLL_ROOTED, problem->collective) && problem->root >= problem->p)
        return COLL_ERR_ROOT;
    if (problem->elem_bytes == 0)
        return COLL_ERR_TYPE;
    status = coll_i_tables_check(problem, algorithm);
    if (status != COLL_OK)
        return status;
    if ((algorithm->traits & COLL_NEEDS_COMMUTATIVE) &&
        !(problem->flags & COLL_FLAG_COMMUTATIVE))
        return COLL_ERR_ORDER;
    if ((algorithm->traits & COLL_NEEDS_OUT_OF_PLACE) && (problem->flags & COLL_FLAG_IN_PLACE))
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
    return COLL_OK;
}

/* coll_plan_init, of an algorithm that may be composite. */
COLL_INLINE coll_status coll_i_plan_init(coll_plan *plan, const coll_algorithm *algorithm,
                                         const coll_problem *problem, const uint32_t *params)
{
    coll_status status;
    if (!plan || !algorithm || !problem)
        return COLL_ERR_NULL;
    status = coll_i_problem_check(problem, algorithm);
    if (status != COLL_OK)
        return status;
    if (algorithm->n_params > COLL_PARAM_MAX)
        return COLL_ERR_PARAM;
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        plan->param[i] = 0;
        if (i >= algorithm->n_params)
            continue;
        plan->param[i] = params ? params[i] : algorithm->params[i].default_value;
        if (plan->param[i] < algorithm->params[i].least ||
            plan->param[i] > algorithm->params[i].most)
            return COLL_ERR_PARAM;
    }
    plan->algorithm = algorithm;
    coll_i_problem_assign(&plan->problem, problem);
    problem = &plan->problem;
    if (!coll_is(COLL_ROOTED, problem->collective))
        plan->problem.root = 0; /* so that an algorithm may build on rooted ones */
    if (coll_is(COLL_PAIRED, problem->collective) && coll_in_place(plan))
        plan->problem.in = plan->problem.out;
    plan->traits = algorithm->traits;
    plan->window = (uint16_t)algorithm->window;
    plan->sends = (uint16_t)algorithm->sends;
    plan->cut = coll_partition_of(problem->count, problem->p);
    if (algorithm->prepare)
        algorithm->prepare(plan);
    {
        const size_t *counts = coll_i_counts(&problem->in);
        const size_t in =
            coll_i_layout_largest(&problem->in, problem->count, coll_in_blocks(problem));
        const size_t out =
            coll_i_layout_largest(&problem->out, problem->count, coll_out_blocks(problem));
        plan->largest = counts && (!problem->out.counts || in > out) ? in : out;
    }
    plan->inner = NULL;
    coll_group_identity(&plan->group);
    if (COLL_CHECKS && !COLL_IRREGULAR) { /* no rank has more */
        const unsigned holds = coll_i_holds[problem->collective];
        size_t elements = holds == 0 ? problem->p : problem->count; /* tokens of a barrier */
        if (((holds & 3) == COLL_I_HOLDS_BLOCKS || (holds & 12) == COLL_I_HOLDS_BLOCKS << 2) &&
            !coll_multiply(problem->count, problem->p, &elements))
            return COLL_ERR_OVERFLOW;
        if (!coll_i_addressable(elements, problem->elem_bytes))
            return COLL_ERR_OVERFLOW;
    } else if (COLL_CHECKS) {
        const coll_extents extents = coll_plan_extents(plan, plan->problem.root);
        if (!extents.fits || !coll_i_addressable(extents.in, problem->elem_bytes) ||
            !coll_i_addressable(extents.out, problem->elem_bytes) ||
            (problem->collective == COLL_BARRIER && !coll_i_addressable(problem->p, 1)))
            return COLL_ERR_OVERFLOW; /* a barrier has a token for each rank */
    }
    return algorithm->check ? algorithm->check(plan) : COLL_OK;
}

/* Makes *plan from an algorithm, a problem and the algorithm's parameters in its order (NULL:
 * the default ones). Every rank must call it with the same numbers. Tables of counts may be
 * missing where the algorithm does not need them; those that the collective does not have
 * (COLL_TABLES_IN, COLL_TABLES_OUT) are refused. Returns COLL_OK, or what is wrong with the
 * request; *plan is then unusable. COLL_ERR_BUILD: this algorithm needs coll_plan_build. */
COLL_INLINE coll_status coll_plan_init(coll_plan *plan, const coll_algorithm *algorithm,
                                       const coll_problem *problem, const uint32_t *params)
{
    return algorithm && (algorithm->traits & COLL_NEEDS_BUILD)
               ? COLL_ERR_BUILD
               : coll_i_plan_init(plan, algorithm, problem, params);
}

/* Does the plan do what all ranks of the transport take part in: multicast, meet, or (`reduces`: in their
 * order) reduce in the network, without groups of its own? */
COLL_INLINE bool coll_i_plan_needs_all(const coll_plan *plan, bool *reduces)
{
    const bool meets = (plan->traits & COLL_I_NEEDS_GROUP) && !plan->inner;
    *reduces = meets && (plan->traits & COLL_NEEDS_NETWORK_REDUCE);
    return meets || (plan->traits & COLL_NEEDS_MULTICAST);
}

/* Says which ranks of the transport the plan's ranks are. COLL_OK, or what the algorithm has
 * against it; *plan is then unusable. COLL_ERR_GROUP: it multicasts, or reduces in the network, and
 * these are not the first ranks of the transport. The group's tables stay the caller's. */
COLL_INLINE coll_status coll_plan_place(coll_plan *plan, const coll_group *group)
{
    bool reduces;
    coll_group_assign(&plan->group, group);
    if (coll_i_plan_needs_all(plan, &reduces) &&
        !coll_group_is_whole(group, plan->problem.p, reduces))
        return COLL_ERR_GROUP;
    return plan->traits & COLL_USES_GROUP ? plan->algorithm->check(plan) : COLL_OK;
}

/* Is each block that a rank has for itself as long in IN as in OUT? Nobody else would notice: it is
 * copied. O(1), or of neighbour collectives O(n_in · loops) for a mesh and O(loops) for lists. */
COLL_INLINE bool coll_i_own_blocks_agree(const coll_problem *of, uint32_t rank)
{
    uint32_t in, out;
    if (!coll_i_counts(&of->out))
        return true;
    if (!coll_i_graph(of))
        return !of->in.counts || of->in.counts[rank] == of->out.counts[rank];
    for (uint32_t k = 0; of->graph->loop(of->graph, rank, k, &in, &out); k++)
        if ((of->in.counts ? of->in.counts[in] : of->count) != of->out.counts[out])
            return false;
    return true;
}

/* What only one rank can get wrong: its number, its tables, and what it has for itself
 * (COLL_ERR_SIZE). */
COLL_INLINE coll_status coll_plan_check_rank(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool all = !coll_is(COLL_ROOTED, of->collective) || rank == of->root ||
                     (plan->traits & COLL_NEEDS_COUNTS) != 0;
    if (rank >= of->p)
        return COLL_ERR_RANK;
    if (coll_i_graph(of) && of->graph->rank != COLL_RANK_NONE && of->graph->rank != rank)
        return COLL_ERR_GRAPH;
    if (COLL_IRREGULAR && all &&
        ((!of->in.counts && coll_is(COLL_TABLES_IN, of->collective) &&
          coll_in_blocks(of) != 0) ||
         (!of->out.counts && coll_is(COLL_TABLES_OUT, of->collective) &&
          coll_out_blocks(of) != 0)))
        return COLL_ERR_COUNTS;
    return coll_i_own_blocks_agree(of, rank) ? COLL_OK : COLL_ERR_SIZE;
}

/* How many steps a rank has, and the actions of step s: writes at most COLL_STEP_MAX, and returns how
 * many. Any s below the number of steps, in any order. */
COLL_INLINE size_t coll_plan_steps(const coll_plan *plan, uint32_t rank)
{
    return plan->algorithm->steps(plan, rank);
}

/* Writes the actions of step s of a rank; returns how many, at most COLL_STEP_MAX. */
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

/* Are so many bytes of SHARED enough for the plan? All ranks say the same. */
COLL_INLINE bool coll_plan_fits_shared(const coll_plan *plan, size_t bytes)
{
    size_t needed;
    return coll_multiply(coll_plan_shared(plan), plan->problem.elem_bytes, &needed) &&
           needed <= bytes;
}

#endif /* COLL_PLAN_H */
