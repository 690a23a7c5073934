/* coll/algos/dpml.h — allreduce by several leaders a node, through shared memory (DPML)
 *
 * The vector is cut into l partitions, and on every node l ranks are leaders of one partition
 * each. All ranks of a node put each partition where its leader finds it, in memory that the
 * node shares; the leader reduces what lies there in one sweep; the leaders of equal number, one
 * a node, allreduce their partition across the nodes, all l groups at once; and everyone copies
 * the l results out. So a node's processors share the reduction, and its network adapter has l
 * messages at a time. Pipelined, a partition is cut into pieces whose allreduces run side by
 * side. Across the nodes any allreduce will do.
 *
 *   2 nodes of 3 ranks, l = 2        rank     0    1    2  |  3    4    5
 *     leader of partition                     0    1       |  0    1
 *     (1) puts partition 0, 1 for             0,1  0,1  0,1|  3,4  3,4  3,4
 *     (2) reduces 3 operands of partition     0    1       |  0    1
 *     (3) allreduces with rank                3    4       |  0    1
 *     (4) copies partition 0, 1 from          ·,1  0,· 0,1 |  ·,4  3,· 3,4
 *
 * A node with fewer than l ranks has ranks that are several leaders; a vector of fewer elements,
 * partitions that are empty. Operands stay in rank order as nodes are runs of ranks.
 * Where ranks have rails (coll_beyond), the leaders of a node are spread over them.
 *
 * Laws (tests/algos/dpml.c), on a node of m ranks, with L = min(l, m) ranks that lead
 *   (1) the partitions tile the vector, and each has one leader on every node
 *   (2) leaders of one number on all nodes run the same inner allreduce of their partition
 *   (3) who is told and who waits matches, and leaders meet in rounds: in round x number y notifies
 *       y + x and awaits y − x
 * Cost    within a node of m > 1: a rank that leads notifies L−1 others and then m−1, any other one
 *         L; copies of 2·count elements; m−1 combinations of each partition. Across: what the inner
 *         allreduces of a leader's pieces cost. Rounds on nodes of one size with a piece for each
 *         leader: max(L−1, 1), those across, and max(L−1, 1); else at most so many for the largest
 *         L, those across once for each batch of pieces (plan/composite.h): of a leader on nodes
 *         of one size, of all leaders on others. shared: m·count for the largest node. scratch of
 *         a leader: its partitions besides
 * Source  Bayatpour et al. 2017, sections 4 and 5, doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_DPML_H
#define COLL_ALGOS_DPML_H

#include "kit/dpml_phases.h"
#include "kit/leaders.h"
#include "recursive_multiplying.h"

COLL_TABLE(coll_param, coll_i_dpml_params, {COLL_PARAM(COLL_I_LEADERS_PARAM, {2, 3, 2, 2})});
COLL_TABLE(coll_param, coll_i_dpml_pipelined_params, {
    COLL_PARAM(COLL_I_LEADERS_PARAM, {2, 3, 2, 2}),
    COLL_PARAM("pieces", "of each partition, allreduced side by side",
               1, 4096, 4, {2, 3, 5, 9})});

/* One of the two phases within a node. */
COLL_INLINE coll_status coll_i_dpml_intra(coll_plan *plan, coll_workspace *workspace,
                                          const coll_algorithm *half)
{
    const uint32_t m = workspace->at.ranks, l = workspace->leaders.by;
    coll_problem node;
    coll_plan *inner;
    coll_status status;
    coll_i_composite_problem(plan, COLL_INTRA, COLL_ALLREDUCE, m, plan->problem.count, &node);
    node.flags = plan->problem.flags;
    status = coll_i_composite_make(plan, workspace, half, NULL, &node, &inner);
    if (status != COLL_OK)
        return status;
    inner->inner = workspace;
    inner->radix = coll_fast_divisor_of(m >= l ? m / l : 1);
    inner->second = coll_fast_divisor_of(m);
    inner->param[0] = coll_nodes_count(&workspace->nodes) > 1;
    (void)coll_i_composite_phase(workspace, inner, workspace->at.local, workspace->at.first);
    return COLL_OK;
}

/* Where every node has one rank, there is no more than the allreduce across the nodes, and on one
 * node none. Otherwise its input is the sum in SCRATCH, or that of a rank alone on its node. */
COLL_INLINE coll_status coll_i_dpml_build(coll_plan *plan, coll_workspace *workspace)
{
    const uint32_t k = plan->algorithm->n_params > 1 ? plan->param[1] : 1;
    const uint32_t largest = coll_nodes_largest(&workspace->nodes, workspace->p);
    const uint32_t nodes = coll_nodes_count(&workspace->nodes);
    const bool in_place = coll_in_place(plan), flat = coll_i_composite_flat(workspace);
    coll_problem inter;
    coll_status status = COLL_OK;
    size_t begin, held = 0;
    coll_ref in;
    if (largest > UINT16_MAX)
        return COLL_ERR_SHAPE; /* more operands than one REDUCE takes */
    if (!coll_multiply(plan->problem.count, flat ? 0 : largest, &workspace->shared) ||
        !coll_i_addressable(workspace->shared, plan->problem.elem_bytes))
        return COLL_ERR_OVERFLOW;
    coll_i_leaders_cut(plan, workspace, plan->param[0], k);
    begin = coll_i_leaders_begin(plan, workspace, workspace->at.local);
    coll_i_composite_problem(plan, COLL_INTER, COLL_ALLREDUCE, nodes, 0, &inter);
    inter.flags |= (flat ? in_place : nodes == 1) ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
    in = COLL_AT(COLL_IN, begin);
    if (!flat && nodes > 1 && (in_place || workspace->at.ranks > 1)) {
        in = COLL_AT(COLL_SCRATCH, 0);
        held = coll_i_leaders_begin(plan, workspace, workspace->at.local + 1) - begin;
    }
    workspace->scratch = held;
    if (!flat)
        status = coll_i_dpml_intra(plan, workspace, &coll_i_dpml_collect);
    if (status == COLL_OK)
        status = coll_i_leaders_inter(plan, workspace, &inter, k, in, COLL_AT(COLL_OUT, begin),
                                      held);
    if (status == COLL_OK && !flat)
        status = coll_i_dpml_intra(plan, workspace, &coll_i_dpml_spread);
    if (status == COLL_OK)
        plan->traits |= workspace->plans[flat ? 0 : 1].traits & COLL_GIVES_IDENTICAL;
    return status;
}

COLL_TABLE(coll_binding, coll_i_dpml_defaults, {
    {COLL_INTER, &coll_recursive_doubling_allreduce, NULL}});

COLL_COMPOSITE(coll_dpml_allreduce, "dpml", "Bayatpour et al. 2017, section 4.1",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_dpml_params),
    coll_i_dpml_build, COLL_BINDINGS(1, coll_i_dpml_defaults));

COLL_COMPOSITE(coll_dpml_pipelined_allreduce, "dpml_pipelined",
    "Bayatpour et al. 2017, section 4.2",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED | COLL_GIVES_IDENTICAL,
    /* window */ 8, /* sends */ 1, COLL_PARAMS(2, coll_i_dpml_pipelined_params),
    coll_i_dpml_build, COLL_BINDINGS(1, coll_i_dpml_defaults));

#endif /* COLL_ALGOS_DPML_H */
