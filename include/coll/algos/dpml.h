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

#include "../plan/composite.h"
#include "recursive_multiplying.h"

/* ---- within a node ----------------------------------------------------------------------- */

/* The two phases within a node are plans of the node's ranks. Of them every radix.by-th leads,
 * until there are L; rank y·apart takes care of the block of partitions for which it is the
 * leader. Block y has a region of SHARED with a slot for each rank; its result lies in the
 * first one. */
COLL_HOT_INLINE uint32_t coll_i_dpml_leading(const coll_plan *plan)
{
    const uint32_t l = coll_i_workspace(plan)->leaders.by, m = plan->problem.p;
    return l < m ? l : m;
}

/* The first partition of block y. */
COLL_HOT_INLINE size_t coll_i_dpml_begin(const coll_plan *plan, uint32_t y)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    const uint32_t l = workspace->leaders.by, m = plan->problem.p;
    const size_t n = plan->problem.count;
    const size_t at =
        workspace->part * (m >= l ? y : coll_divide(y * l + m - 1, &plan->second));
    return at < n ? at : n;
}

COLL_HOT_INLINE coll_block coll_i_dpml_block(const coll_plan *plan, uint32_t y)
{
    coll_block block;
    block.offset = coll_i_dpml_begin(plan, y);
    block.count = coll_i_dpml_begin(plan, y + 1) - block.offset;
    return block;
}

COLL_HOT_INLINE coll_ref coll_i_dpml_slot(const coll_plan *plan, coll_block block,
                                          uint32_t rank)
{
    return COLL_AT(COLL_SHARED, plan->problem.p * block.offset + rank * block.count);
}

/* The number of the block that a rank takes care of; COLL_RANK_NONE: it does not lead. */
COLL_HOT_INLINE uint32_t coll_i_dpml_number(const coll_plan *plan, uint32_t rank)
{
    const uint32_t y = coll_divide(rank, &plan->radix);
    return y * plan->radix.by == rank && y < coll_i_dpml_leading(plan) ? y : COLL_RANK_NONE;
}

/* Steps in which a leading rank meets all that do not lead, four a step; those that lead are
 * skipped. */
COLL_HOT_INLINE size_t coll_i_dpml_others(const coll_plan *plan)
{
    return coll_i_dpml_leading(plan) == plan->problem.p
               ? 0
               : (plan->problem.p + (size_t)COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

/* Does the sum of a block go to SCRATCH, where the leaders' allreduce reads it? Else it stays
 * in OUT: there is only one node. */
COLL_HOT_INLINE bool coll_i_dpml_aside(const coll_plan *plan)
{
    return plan->param[0] != 0;
}

/* Collecting. A leading rank: the own operand; rounds among those that lead; the others; the
 * reduction. Another: two blocks a step. */
COLL_INLINE size_t coll_i_dpml_collect_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t leading = coll_i_dpml_leading(plan);
    if (plan->problem.p == 1)
        return coll_i_dpml_aside(plan) && coll_in_place(plan) ? 1 : 0;
    return coll_i_dpml_number(plan, rank) == COLL_RANK_NONE
               ? (leading + (size_t)1) / 2
               : leading + coll_i_dpml_others(plan) + 1;
}

/* Puts the operand of block y into its slot, and says so. */
COLL_HOT_INLINE unsigned coll_i_dpml_put(const coll_plan *plan, uint32_t rank, uint32_t y,
                                         coll_action *out)
{
    const coll_block block = coll_i_dpml_block(plan, y);
    const coll_ref slot = coll_i_dpml_slot(plan, block, rank);
    coll_act_copy(&out[0], slot, coll_input(plan) + block.offset, block.count);
    if (y * plan->radix.by == rank)
        return 1;
    coll_act_notify(&out[1], y * plan->radix.by, slot, block.count);
    return 2;
}

COLL_INLINE unsigned coll_i_dpml_collect_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const uint32_t leading = coll_i_dpml_leading(plan), m = plan->problem.p;
    const uint32_t own = coll_i_dpml_number(plan, rank);
    coll_block block;
    unsigned n = 0;
    if (m == 1) {
        coll_act_copy(out, COLL_AT(COLL_SCRATCH, 0), COLL_AT(COLL_OUT, 0), plan->problem.count);
        return 1;
    }
    if (own == COLL_RANK_NONE) {
        const uint32_t y = (uint32_t)s * 2;
        n = coll_i_dpml_put(plan, rank, y, out);
        return y + 1 < leading ? n + coll_i_dpml_put(plan, rank, y + 1, out + n) : n;
    }
    block = coll_i_dpml_block(plan, own);
    if (s < leading) {
        const uint32_t x = (uint32_t)s;
        const uint32_t from = coll_mod_sub(own, x, leading) * plan->radix.by;
        n = coll_i_dpml_put(plan, rank, coll_mod_add(own, x, leading), out);
        if (x > 0)
            coll_act_await(&out[n++], from, coll_i_dpml_slot(plan, block, from), block.count);
        return n;
    }
    s -= leading;
    if (s < coll_i_dpml_others(plan)) {
        const uint32_t first = (uint32_t)s * COLL_STEP_MAX;
        for (uint32_t i = first; i < m && i < first + COLL_STEP_MAX; i++)
            if (coll_i_dpml_number(plan, i) == COLL_RANK_NONE)
                coll_act_await(&out[n++], i, coll_i_dpml_slot(plan, block, i), block.count);
        return n;
    }
    coll_act_reduce(
        out,
        coll_i_dpml_aside(plan) ? COLL_AT(COLL_SCRATCH, 0) : COLL_AT(COLL_OUT, block.offset),
        coll_i_dpml_slot(plan, block, 0), coll_i_dpml_slot(plan, block, 1), block.count);
    out->inputs = (uint16_t)(m - 1);
    out->stride = block.count;
    return 1;
}

/* Spreading. A leading rank: its result to SHARED; the others, which need not wait until it has
 * fetched what it wants itself; rounds among those that lead. Another: two blocks a step. */
COLL_INLINE size_t coll_i_dpml_spread_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t leading = coll_i_dpml_leading(plan);
    if (plan->problem.p == 1)
        return 0;
    return coll_i_dpml_number(plan, rank) == COLL_RANK_NONE
               ? (leading + (size_t)1) / 2
               : leading + coll_i_dpml_others(plan);
}

/* Waits for the result of block y, and copies it. */
COLL_HOT_INLINE void coll_i_dpml_fetch(const coll_plan *plan, uint32_t y, coll_action *out)
{
    const coll_block block = coll_i_dpml_block(plan, y);
    const coll_ref result = coll_i_dpml_slot(plan, block, 0);
    coll_act_await(&out[0], y * plan->radix.by, result, block.count);
    coll_act_copy(&out[1], COLL_AT(COLL_OUT, block.offset), result, block.count);
}

COLL_INLINE unsigned coll_i_dpml_spread_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const uint32_t leading = coll_i_dpml_leading(plan), m = plan->problem.p;
    const uint32_t own = coll_i_dpml_number(plan, rank);
    coll_block block;
    coll_ref result;
    unsigned n = 0;
    if (own == COLL_RANK_NONE) {
        const uint32_t y = (uint32_t)s * 2;
        coll_i_dpml_fetch(plan, y, out);
        if (y + 1 == leading)
            return 2;
        coll_i_dpml_fetch(plan, y + 1, out + 2);
        return 4;
    }
    block = coll_i_dpml_block(plan, own);
    result = coll_i_dpml_slot(plan, block, 0);
    if (s == 0) {
        coll_act_copy(out, result, COLL_AT(COLL_OUT, block.offset), block.count);
        return 1;
    }
    if (s > coll_i_dpml_others(plan)) {
        const uint32_t x = (uint32_t)(s - coll_i_dpml_others(plan));
        coll_act_notify(out, coll_mod_add(own, x, leading) * plan->radix.by, result,
                        block.count);
        coll_i_dpml_fetch(plan, coll_mod_sub(own, x, leading), out + 1);
        return 3;
    }
    for (uint32_t i = ((uint32_t)s - 1) * COLL_STEP_MAX, end = i + COLL_STEP_MAX;
         i < m && i < end; i++)
        if (coll_i_dpml_number(plan, i) == COLL_RANK_NONE)
            coll_act_notify(&out[n++], i, result, block.count);
    return n;
}

COLL_ALGORITHM(coll_i_dpml_collect, "dpml collect", "Bayatpour et al. 2017, phases 1 and 2",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_dpml_collect_steps, coll_i_dpml_collect_step);

COLL_ALGORITHM(coll_i_dpml_spread, "dpml spread", "Bayatpour et al. 2017, phase 4",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_dpml_spread_steps, coll_i_dpml_spread_step);

/* ---- across the nodes -------------------------------------------------------------------- */

/* Cuts the vector for l leaders with k pieces each: into l·k pieces of equal size, but for the
 * last one that has elements. k pieces are a partition. */
COLL_INLINE void coll_i_leaders_cut(const coll_plan *plan, coll_workspace *workspace,
                                    uint32_t l, uint32_t k)
{
    const size_t n = plan->problem.count, pieces = (size_t)l * k;
    workspace->leaders = coll_fast_divisor_of(l);
    workspace->part = (n / pieces + (n % pieces != 0 ? 1 : 0)) * k;
}

/* Adds the phases of this rank's partitions across the nodes, k pieces each. `of` is the
 * problem that the leaders of one number solve, without its count; IN and OUT of this rank's
 * first partition begin at `in` and `out`, SCRATCH at `scratch`. */
COLL_INLINE coll_status coll_i_leaders_inter(coll_plan *plan, coll_workspace *workspace,
                                             coll_problem *of, uint32_t k, coll_ref in,
                                             coll_ref out, size_t scratch)
{
    const uint32_t l = workspace->leaders.by;
    const uint32_t first = coll_leaders_below(workspace->at.ranks, workspace->at.local, l);
    const uint32_t end = coll_leaders_below(workspace->at.ranks, workspace->at.local + 1, l);
    const size_t n = plan->problem.count, piece = workspace->part / k;
    const size_t whole = piece ? n / piece : 0, begin = (size_t)first * k;
    const size_t last = (size_t)end * k < whole ? (size_t)end * k : whole;
    for (uint32_t shorter = 0; shorter < (whole * piece < n ? 2u : 1u); shorter++) {
        const uint32_t part = shorter ? (uint32_t)(whole / k) : first;
        const size_t skip = shorter ? (whole - begin) * piece : 0;
        uint32_t batch;
        coll_plan *inner;
        coll_phase *phase;
        coll_status status;
        of->count = shorter ? n - whole * piece : piece;
        status = coll_i_composite_play(plan, workspace, COLL_INTER, of, l == 1, &inner);
        if (status != COLL_OK)
            return status;
        batch = shorter ? 1 : coll_i_composite_batch(plan, inner, k);
        if (part < first || part >= end)
            continue;
        phase =
            coll_i_composite_phase(workspace, inner, workspace->at.index, COLL_I_LEADERS, 0);
        phase->team = l == 1 ? COLL_TEAM_NODES : COLL_TEAM_ALL;
        phase->part = part;
        phase->all = shorter ? 1 : last > begin ? last - begin : 0;
        phase->pieces = k;
        phase->piece = piece;
        phase->batch = batch;
        phase->base[COLL_IN] = in + skip;
        phase->base[COLL_OUT] = out + skip;
        phase->base[COLL_SCRATCH] += scratch;
    }
    return COLL_OK;
}

/* ---- allreduce --------------------------------------------------------------------------- */

#define COLL_I_DPML_LEADERS                                                                    \
    "leaders", "leaders of a node, of a partition each", 1, COLL_LEADERS_MOST, 4
COLL_TABLE(coll_param, coll_i_dpml_params, {{COLL_I_DPML_LEADERS, {2, 3, 2, 2}}});
COLL_TABLE(coll_param, coll_i_dpml_pipelined_params, {
    {COLL_I_DPML_LEADERS, {2, 3, 2, 2}},
    {"pieces", "of each partition, allreduced side by side", 1, 4096, 4, {2, 3, 5, 9}}});

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
    (void)coll_i_composite_phase(workspace, inner, workspace->at.local, COLL_I_RUN,
                                 workspace->at.first);
    return COLL_OK;
}

/* Elements of the partitions before those of a local rank. */
COLL_INLINE size_t coll_i_leaders_begin(const coll_plan *plan, const coll_workspace *workspace,
                                        uint32_t local)
{
    const size_t n = plan->problem.count;
    const size_t at =
        workspace->part * coll_leaders_below(workspace->at.ranks, local, workspace->leaders.by);
    return at < n ? at : n;
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
