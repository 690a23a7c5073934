/* coll/algos/kit/leaders.h — several leaders a node, each of a partition of the vector
 *
 * The vector is cut into l partitions. On every node l ranks lead, each one partition, or, where a
 * node has fewer ranks, several. Leaders of equal number, one a node, work together across the
 * nodes: a phase of as many parts as a rank has partitions, each of k pieces that run side by side.
 *
 *   l = 3, k = 2, 12 elements     partition 0        1          2
 *                                 piece     0 0 1 1  0 0 1 1    0 0 1 1
 *   a node of 2 ranks             leader    rank 0   rank 0     rank 1
 *
 * Where the rails of ranks are known (coll_beyond), leaders are spread over them: topo/rails.h.
 */
#ifndef COLL_ALGOS_KIT_LEADERS_H
#define COLL_ALGOS_KIT_LEADERS_H

#include "../../plan/composite.h"

#define COLL_I_LEADERS_PARAM                                                                   \
    "leaders", "leaders of a node, of a partition each", 1, COLL_LEADERS_MOST, 4

/* Sets the number of leaders and, where rails are known, chooses them by these. One leader is the first
 * rank of its node in any case. O(p) for each rail. */
COLL_INLINE void coll_i_leaders_choose(const coll_plan *plan, coll_workspace *workspace,
                                       uint32_t l)
{
    const uint8_t *rail = coll_nodes_rails(&workspace->nodes);
    const uint32_t p = workspace->p;
    size_t *below = workspace->tables + coll_workspace_tables(&plan->problem);
    workspace->leaders = coll_fast_divisor_of(l);
    workspace->below = NULL;
    if (!rail || l == 1)
        return;
    below -= p;
    for (uint32_t i = 0; i < coll_nodes_count(&workspace->nodes); i++) {
        const uint32_t first = coll_nodes_first(&workspace->nodes, p, i);
        coll_i_rails_leaders(rail + first,
                             coll_nodes_first(&workspace->nodes, p, i + 1) - first, l,
                             below + first);
    }
    workspace->below = below;
}

/* How many leaders of this rank's node have a lower local rank. */
COLL_HOT_INLINE uint32_t coll_i_leaders_before(const coll_workspace *workspace, uint32_t local)
{
    const uint32_t l = workspace->leaders.by, m = workspace->at.ranks;
    if (!workspace->below)
        return coll_leaders_below(m, local, l);
    return local < m ? (uint32_t)workspace->below[workspace->at.first + local] : l;
}

/* Cuts the vector for l leaders with k pieces each: into l·k pieces of equal size, but for the
 * last one that has elements. k pieces are a partition. */
COLL_INLINE void coll_i_leaders_cut(const coll_plan *plan, coll_workspace *workspace,
                                    uint32_t l, uint32_t k)
{
    const size_t n = plan->problem.count, pieces = (size_t)l * k;
    coll_i_leaders_choose(plan, workspace, l);
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
    const uint32_t first = coll_i_leaders_before(workspace, workspace->at.local);
    const uint32_t end = coll_i_leaders_before(workspace, workspace->at.local + 1);
    const size_t n = plan->problem.count, piece = workspace->part / k;
    const size_t whole = piece ? n / piece : 0, begin = (size_t)first * k;
    const size_t last = (size_t)end * k < whole ? (size_t)end * k : whole;
    for (uint32_t shorter = 0; shorter < (whole * piece < n ? 2u : 1u); shorter++) {
        const uint32_t part = shorter ? (uint32_t)(whole / k) : first;
        const size_t skip = shorter ? (whole - begin) * piece : 0;
        uint32_t batch;
        coll_plan *inner = NULL;
        coll_phase *phase;
        coll_status status;
        of->count = shorter ? n - whole * piece : piece;
        status = coll_i_composite_play(plan, workspace, COLL_INTER, of, l == 1, &inner);
        if (status != COLL_OK)
            return status;
        batch = shorter ? 1 : coll_i_composite_batch(plan, inner, k);
        if (part < first || part >= end)
            continue;
        phase = coll_i_composite_leaders(workspace, inner, workspace->at.index, part);
        phase->group = l == 1 ? COLL_GROUP_NODES : COLL_GROUP_ALL;
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

/* Elements of the partitions before those of a local rank. */
COLL_INLINE size_t coll_i_leaders_begin(const coll_plan *plan, const coll_workspace *workspace,
                                        uint32_t local)
{
    const size_t n = plan->problem.count;
    const size_t at = workspace->part * coll_i_leaders_before(workspace, local);
    return at < n ? at : n;
}

#endif /* COLL_ALGOS_KIT_LEADERS_H */
