/* coll/algos/multi_leader.h — bcast, reduce, allreduce by several leaders a node, with messages
 *
 * DPML (dpml.h) without shared memory, and for bcast and reduce too. The vector is cut into l
 * partitions, of which every node has a leader each. Within a node, a reduce_scatter, or from the
 * root a scatter, brings the partitions to their leaders; leaders of equal number deal with theirs
 * across the nodes, all l groups at once; and within the nodes an allgather, or to the root a
 * gather, brings the partitions together. So l adapters, or l queues of one, work at a time. A
 * leader for each rank gives every rank its own rail; fewer are spread over the rails that are
 * known (coll_beyond). A partition may be cut into pieces that go across side by side.
 *
 *   2 nodes of 3 ranks, l = 2        rank     0    1    2  |  3    4    5
 *     leader of partition                     0    1       |  0    1
 *     allreduce: reduce_scatter               0    1       |  0    1
 *                allreduce, with rank         3    4       |  0    1
 *                allgather                    0,1  0,1  0,1|  0,1  0,1  0,1
 *
 * Laws (tests/algos/multi_leader.c)
 *   (1) messages to other nodes are those of the inner algorithm, of as many ranks as there are
 *       nodes, of each partition; each of its leader
 *   (2) blocks within a node are the partitions that a rank leads, packed
 * Cost    messages, elements and combinations of the inner algorithms: within a node, of the
 *         reduce_scatter or scatter and of the allgather or gather of the partitions; at a leader,
 *         besides, of the one across, for each piece of each of its partitions. Rounds: at most
 *         those of the levels one after the other, in an allreduce those across once for each batch
 *         of pieces (plan/composite.h): of a leader on nodes of one size, of all leaders on others.
 *         Just that on nodes of one size with a piece for each leader, but for a reduce. scratch of
 *         a leader in reduce and allreduce: its partitions besides
 * Source  Bayatpour et al. 2017, sections 4.1, 4.2 and 8 (other collectives),
 *         doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_MULTI_LEADER_H
#define COLL_ALGOS_MULTI_LEADER_H

#include "fnomial.h"
#include "kit/leaders.h"
#include "kit/levels.h"
#include "linear_gather.h"
#include "pairwise.h"
#include "recursive_multiplying.h"
#include "ring.h"

/* ---- within a node ----------------------------------------------------------------------- */

/* The problem of a level within: a block of a rank are the partitions that it leads. */
COLL_INLINE void coll_i_leaders_problem(const coll_plan *plan, coll_workspace *workspace,
                                        coll_collective collective, uint32_t root,
                                        coll_problem *of)
{
    const uint32_t m = workspace->at.ranks;
    size_t *counts = workspace->tables, *displs = counts + m;
    coll_i_composite_problem(plan, COLL_INTRA, collective, m, 0, of);
    of->root = root;
    for (uint32_t local = 0; local < m; local++) {
        displs[local] = coll_i_leaders_begin(plan, workspace, local);
        counts[local] = coll_i_leaders_begin(plan, workspace, local + 1) - displs[local];
    }
    if (collective == COLL_SCATTERV || collective == COLL_REDUCE_SCATTER) {
        of->in.counts = counts;
        of->in.displs = displs;
    } else {
        of->out.counts = counts;
        of->out.displs = displs;
    }
    of->count = counts[workspace->at.local];
}

/* A phase within. It is left out on nodes where it is not `wanted`. */
COLL_INLINE coll_status coll_i_leaders_intra(coll_plan *plan, coll_workspace *workspace,
                                             coll_problem *of, bool wanted, coll_ref in,
                                             coll_ref out, size_t scratch)
{
    coll_phase *phase;
    const coll_status status = coll_i_composite_intra(plan, workspace, of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = in;
    phase->base[COLL_OUT] = out;
    phase->base[COLL_SCRATCH] += scratch;
    if (!wanted)
        workspace->sequence.n--;
    return COLL_OK;
}

/* What all have in common. */
typedef struct coll_i_leaders {
    coll_i_levels at;
    uint32_t k;        /* pieces of a partition */
    size_t begin, own; /* where this rank's partitions begin, and their elements */
} coll_i_leaders;

COLL_INLINE void coll_i_leaders_of(const coll_plan *plan, coll_workspace *workspace,
                                   coll_i_leaders *my)
{
    coll_i_levels_of(plan, workspace, &my->at);
    my->k = plan->param[1];
    coll_i_leaders_cut(plan, workspace, plan->param[0], my->k);
    my->begin = coll_i_leaders_begin(plan, workspace, workspace->at.local);
    my->own = coll_i_leaders_begin(plan, workspace, workspace->at.local + 1) - my->begin;
}

/* ---- bcast ------------------------------------------------------------------------------- */

/* The root scatters within its node, into the leaders' OUT. */
COLL_INLINE coll_status coll_i_multi_leader_bcast(coll_plan *plan, coll_workspace *workspace)
{
    const coll_ref out = COLL_AT(COLL_OUT, 0);
    coll_i_leaders my;
    coll_problem of;
    coll_status status = COLL_OK;
    coll_i_leaders_of(plan, workspace, &my);
    plan->traits |= COLL_GIVES_IDENTICAL;
    if (my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_SCATTERV,
                               my.at.here ? my.at.root.local : 0, &of);
        of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_leaders_intra(plan, workspace, &of, my.at.here, coll_input(plan),
                                      out + my.begin, 0);
    }
    if (status == COLL_OK) {
        coll_i_composite_problem(plan, COLL_INTER, COLL_BCAST, my.at.nodes, 0, &of);
        of.root = my.at.root.index;
        of.flags |= my.at.intra ? (uint32_t)COLL_FLAG_IN_PLACE
                                : plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_leaders_inter(plan, workspace, &of, my.k, COLL_AT(COLL_IN, my.begin),
                                      out + my.begin, 0);
    }
    if (status == COLL_OK && my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_ALLGATHERV, 0, &of);
        of.flags |= COLL_FLAG_IN_PLACE;
        status = coll_i_leaders_intra(plan, workspace, &of, true, COLL_AT(COLL_IN, 0), out, 0);
    }
    return status;
}

/* ---- reduce ------------------------------------------------------------------------------ */

/* Leaders have the sums of their partitions in SCRATCH. */
COLL_INLINE coll_status coll_i_multi_leader_reduce(coll_plan *plan, coll_workspace *workspace)
{
    const coll_ref out = COLL_AT(COLL_OUT, 0), sums = COLL_AT(COLL_SCRATCH, 0);
    const coll_ref in =
        workspace->rank == plan->problem.root ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    coll_i_leaders my;
    coll_problem of;
    coll_status status = COLL_OK;
    size_t held;
    coll_i_leaders_of(plan, workspace, &my);
    held = my.at.intra ? my.own : 0;
    workspace->scratch = held;
    if (my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_REDUCE_SCATTER, 0, &of);
        status = coll_i_leaders_intra(plan, workspace, &of, true, in, sums, held);
    }
    if (status == COLL_OK) {
        coll_i_composite_problem(plan, COLL_INTER, COLL_REDUCE, my.at.nodes, 0, &of);
        of.root = my.at.root.index;
        of.flags |= my.at.intra ? (uint32_t)COLL_FLAG_IN_PLACE
                                : plan->problem.flags & COLL_FLAG_IN_PLACE;
        /* A node's only rank has partitions from 0 on. */
        status = coll_i_leaders_inter(plan, workspace, &of, my.k,
                                      my.at.intra ? sums : COLL_AT(COLL_IN, 0),
                                      my.at.intra ? sums : out, held);
    }
    if (status == COLL_OK && my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_GATHERV, my.at.here ? my.at.root.local : 0,
                               &of);
        status = coll_i_leaders_intra(plan, workspace, &of, my.at.here, sums, out, held);
    }
    return status;
}

/* ---- allreduce --------------------------------------------------------------------------- */

/* Sums go by way of SCRATCH, unless there is one node, and OUT free at once. */
COLL_INLINE coll_status coll_i_multi_leader_allreduce(coll_plan *plan,
                                                      coll_workspace *workspace)
{
    const coll_ref out = COLL_AT(COLL_OUT, 0), sums = COLL_AT(COLL_SCRATCH, 0);
    coll_i_leaders my;
    coll_problem of;
    coll_status status = COLL_OK;
    size_t held;
    bool aside;
    coll_i_leaders_of(plan, workspace, &my);
    aside = my.at.intra && (my.at.inter || coll_in_place(plan));
    held = aside ? my.own : 0;
    workspace->scratch = held;
    if (my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_REDUCE_SCATTER, 0, &of);
        status = coll_i_leaders_intra(plan, workspace, &of, true, coll_input(plan),
                                      aside ? sums : out + my.begin, held);
    }
    if (status == COLL_OK) {
        coll_i_composite_problem(plan, COLL_INTER, COLL_ALLREDUCE, my.at.nodes, 0, &of);
        if (!my.at.intra)
            of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        else if (!aside)
            of.flags |= COLL_FLAG_IN_PLACE;
        status = coll_i_leaders_inter(plan, workspace, &of, my.k,
                                      aside ? sums : COLL_AT(COLL_IN, my.begin), out + my.begin,
                                      held);
    }
    if (status == COLL_OK)
        plan->traits |= workspace->plans[my.at.intra ? 1 : 0].traits & COLL_GIVES_IDENTICAL;
    if (status == COLL_OK && my.at.intra) {
        coll_i_leaders_problem(plan, workspace, COLL_ALLGATHERV, 0, &of);
        of.flags |= COLL_FLAG_IN_PLACE;
        status =
            coll_i_leaders_intra(plan, workspace, &of, true, COLL_AT(COLL_IN, 0), out, held);
    }
    return status;
}

/* ---- records ----------------------------------------------------------------------------- */

COLL_TABLE(coll_param, coll_i_multi_leader_params, {
    COLL_PARAM(COLL_I_LEADERS_PARAM, {2, 3, 2, 2}),
    COLL_PARAM("pieces", "of each partition, side by side across", 1, 4096, 1, {2, 4, 5, 2})});

COLL_TABLE(coll_binding, coll_i_multi_leader_bcast_defaults, {
    {COLL_INTRA, &coll_linear_scatter, NULL},
    {COLL_INTRA, &coll_ring_allgather, NULL},
    {COLL_INTER, &coll_fnomial_bcast, NULL}});
COLL_COMPOSITE(coll_multi_leader_bcast, "multi_leader",
    "Bayatpour et al. 2017, sections 4.1, 4.2",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(2, coll_i_multi_leader_params),
    coll_i_multi_leader_bcast, COLL_BINDINGS(3, coll_i_multi_leader_bcast_defaults));

COLL_TABLE(coll_binding, coll_i_multi_leader_reduce_defaults, {
    {COLL_INTRA, &coll_pairwise_reduce_scatter, NULL},
    {COLL_INTRA, &coll_linear_gather, NULL},
    {COLL_INTER, &coll_fnomial_reduce, NULL}});
COLL_COMPOSITE(coll_multi_leader_reduce, "multi_leader",
    "Bayatpour et al. 2017, sections 4.1, 4.2",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(2, coll_i_multi_leader_params),
    coll_i_multi_leader_reduce, COLL_BINDINGS(3, coll_i_multi_leader_reduce_defaults));

COLL_TABLE(coll_binding, coll_i_multi_leader_allreduce_defaults, {
    {COLL_INTRA, &coll_pairwise_reduce_scatter, NULL},
    {COLL_INTRA, &coll_ring_allgather, NULL},
    {COLL_INTER, &coll_recursive_doubling_allreduce, NULL}});
COLL_COMPOSITE(coll_multi_leader_allreduce, "multi_leader",
    "Bayatpour et al. 2017, sections 4.1, 4.2",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL,
    /* window */ 4, /* sends */ 1, COLL_PARAMS(2, coll_i_multi_leader_params),
    coll_i_multi_leader_allreduce, COLL_BINDINGS(3, coll_i_multi_leader_allreduce_defaults));

#endif /* COLL_ALGOS_MULTI_LEADER_H */
