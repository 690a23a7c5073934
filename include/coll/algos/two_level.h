/* coll/algos/two_level.h — barrier, bcast, reduce, allreduce in two levels: within nodes, across
 *
 * Ranks of a node talk to each other faster than to those of other nodes. So each node has a
 * leader, its first rank, or the root on the root's own node; what nodes have to tell each other
 * goes through leaders alone, once, and within a node everybody talks to the leader. Which
 * algorithms
 * are used for the levels is open. Nodes of any sizes; operands stay in rank order as nodes are
 * runs of ranks.
 *
 *   2 nodes of 3 ranks, root 4:      0  1  2  |  3 (4) 5
 *     bcast     across               0 ◄──────────── 4
 *               within               0 ► 1 2      3 ◄ 4 ► 5
 *     reduce    within               0 ◄ 1 2      3 ► 4 ◄ 5
 *               across               0 ──────────────► 4
 *     allreduce within up, across 0 and 3, within down
 *     barrier   within, across, within again, which lets the ranks go
 *
 * The node leader of the in-network reduction is the leader here, where the allreduce across is
 * one of the network itself. With sockets, the runs of ranks that have a leader are parts of nodes.
 *
 * Laws (tests/algos/two_level.c)
 *   (1) only leaders have messages to other nodes (or sockets), and these are those of the inner
 *       algorithm of as many ranks as there are nodes
 *   (2) a node has one leader, and it is the root if the root is there
 * Cost    a rank: what the inner algorithms cost within its node; a leader: besides, what the one
 * across costs
 *         scratch: of a leader that is not the root of a reduce, `count` besides
 * Source  Bayatpour et al. 2017, sections 2.1 and 4.3, doi:10.1145/3126908.3126954; Wu 2005,
 * chapter 3
 */
#ifndef COLL_ALGOS_TWO_LEVEL_H
#define COLL_ALGOS_TWO_LEVEL_H

#include "../build.h"
#include "dissemination.h"
#include "fabric.h"
#include "fnomial.h"
#include "recursive_multiplying.h"

/* ---- levels ------------------------------------------------------------------------------ */

/* This rank's place in both. */
typedef struct coll_i_levels {
    uint32_t nodes, index; /* how many; the number of this rank's */
    coll_node root;        /* the root's place; rank 0's, where there is none */
    uint32_t lead;         /* local rank of this node's leader */
    uint32_t team;         /* number of the team of leaders */
    bool leads;            /* this rank is its node's leader */
    bool here;             /* the root is on this node */
    bool within;           /* nodes have several ranks, and … */
    bool across;           /* … there are several nodes */
} coll_i_levels;

COLL_INLINE void coll_i_levels_of(const coll_plan *plan, const coll_kit *kit, coll_i_levels *at)
{
    at->nodes = coll_nodes_count(&kit->nodes);
    at->index = kit->at.index;
    at->team = COLL_TEAM_NODES;
    at->root = coll_node_of(&kit->nodes, kit->p, plan->problem.root);
    at->here = kit->at.index == at->root.index;
    at->lead = at->here ? at->root.local : 0;
    at->leads = kit->at.local == at->lead;
    at->within = !coll_i_kit_flat(kit);
    at->across = at->nodes > 1;
}

/* The problem of a level. Where it is the only one, it is that of all. */
COLL_INLINE void coll_i_levels_problem(const coll_plan *plan, const coll_kit *kit,
                                       const coll_i_levels *at, coll_role role,
                                       coll_collective collective, coll_problem *of)
{
    const bool across = role == COLL_ACROSS;
    coll_i_kit_problem(plan, role, collective, across ? at->nodes : kit->at.ranks,
                       plan->problem.count, of);
    of->root = across ? at->root.index : at->lead;
    if (across ? !at->within : !at->across)
        of->flags |= plan->problem.flags & COLL_IN_PLACE;
}

/* A stage among the leaders. On any other rank nothing comes of it but errors and traits. */
COLL_INLINE coll_status coll_i_kit_across(coll_plan *plan, coll_kit *kit,
                                          const coll_i_levels *at, const coll_problem *of,
                                          coll_stage **stage)
{
    coll_plan *inner;
    const coll_status status =
        coll_i_kit_play(plan, kit, COLL_ACROSS, of, plan->problem.root == 0, &inner);
    if (status != COLL_OK)
        return status;
    if (at->team == COLL_TEAM_SOCKETS && !(inner->traits & COLL_NEEDS_FABRIC_REDUCE))
        return COLL_ERR_GROUP; /* only the network finds the leaders of sockets */
    *stage = coll_i_kit_stage(kit, inner, at->index, COLL_I_FIRSTS, plan->problem.root);
    (*stage)->node = at->root.index;
    (*stage)->team = at->team;
    if (!at->leads)
        kit->n_stages--;
    return COLL_OK;
}

/* ---- barrier ----------------------------------------------------------------------------- */

/* Each barrier's tokens lie behind those of the one before. */
COLL_INLINE coll_status coll_i_two_level_barrier(coll_plan *plan, coll_kit *kit)
{
    coll_i_levels at;
    coll_status status = COLL_OK;
    size_t tokens = 0;
    coll_i_levels_of(plan, kit, &at);
    for (uint32_t i = 0; i < 3 && status == COLL_OK; i++) {
        const coll_role role = i == 1 ? COLL_ACROSS : COLL_WITHIN;
        coll_problem of;
        coll_stage *stage;
        if (i == 1 ? !at.across : !at.within || (i == 2 && !at.across))
            continue;
        coll_i_levels_problem(plan, kit, &at, role, COLL_BARRIER, &of);
        status = i == 1 ? coll_i_kit_across(plan, kit, &at, &of, &stage)
                        : coll_i_kit_within(plan, kit, &of, &stage);
        if (status != COLL_OK)
            return status;
        stage->barrier = true;
        stage->base[COLL_SCRATCH] += tokens;
        tokens += of.p;
    }
    return status;
}

/* ---- bcast ------------------------------------------------------------------------------- */

/* Across the leaders from the root, then within each node, where the vector is in the leader's OUT. */
COLL_INLINE coll_status coll_i_two_level_bcast(coll_plan *plan, coll_kit *kit)
{
    coll_i_levels at;
    coll_problem of;
    coll_stage *stage;
    coll_status status = COLL_OK;
    coll_i_levels_of(plan, kit, &at);
    if (at.across || !at.within) {
        coll_i_levels_problem(plan, kit, &at, COLL_ACROSS, COLL_BCAST, &of);
        of.flags |= plan->problem.flags & COLL_IN_PLACE;
        status = coll_i_kit_across(plan, kit, &at, &of, &stage);
    }
    if (status == COLL_OK && at.within) {
        coll_i_levels_problem(plan, kit, &at, COLL_WITHIN, COLL_BCAST, &of);
        of.flags |= at.across ? (uint32_t)COLL_IN_PLACE : 0;
        status = coll_i_kit_within(plan, kit, &of, &stage);
    }
    return status;
}

/* ---- reduce ------------------------------------------------------------------------------ */

/* Within each node to its leader, whose sum is in SCRATCH, or in OUT if it is the root; then across. */
COLL_INLINE coll_status coll_i_two_level_reduce(coll_plan *plan, coll_kit *kit)
{
    coll_i_levels at;
    coll_problem of;
    coll_stage *stage;
    coll_status status = COLL_OK;
    size_t held;
    bool sums;
    coll_i_levels_of(plan, kit, &at);
    sums = at.within && at.across && !at.here && kit->at.ranks > 1;
    held = sums && at.leads ? plan->problem.count : 0;
    kit->scratch = held;
    if (at.within) {
        coll_i_levels_problem(plan, kit, &at, COLL_WITHIN, COLL_REDUCE, &of);
        if (at.here)
            of.flags |= plan->problem.flags & COLL_IN_PLACE;
        status = coll_i_kit_within(plan, kit, &of, &stage);
        if (status != COLL_OK)
            return status;
        if (!at.here)
            stage->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        if (!at.here && !sums) /* the sum is the rank's own operand */
            kit->n_stages--;
        stage->base[COLL_SCRATCH] += held;
    }
    if (at.across || !at.within) {
        coll_i_levels_problem(plan, kit, &at, COLL_ACROSS, COLL_REDUCE, &of);
        of.flags |= at.within ? (uint32_t)COLL_IN_PLACE : 0;
        status = coll_i_kit_across(plan, kit, &at, &of, &stage);
        if (status != COLL_OK)
            return status;
        if (sums)
            stage->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
        stage->base[COLL_SCRATCH] += held;
    }
    return status;
}

/* ---- allreduce --------------------------------------------------------------------------- */

/* Within each node to its leader, whose sum is in SCRATCH; across; within from its OUT. */
COLL_INLINE coll_status coll_i_levels_allreduce(coll_plan *plan, coll_kit *kit,
                                                const coll_i_levels *at)
{
    const bool in_place = coll_in_place(plan);
    coll_problem of;
    coll_stage *stage;
    coll_status status = COLL_OK;
    size_t held;
    bool sums;
    sums = at->within && at->across && (kit->at.ranks > 1 || in_place);
    held = sums && at->leads ? plan->problem.count : 0;
    kit->scratch = held;
    if (at->within) {
        coll_i_levels_problem(plan, kit, at, COLL_WITHIN, COLL_REDUCE, &of);
        status = coll_i_kit_within(plan, kit, &of, &stage);
        if (status != COLL_OK)
            return status;
        if (in_place)
            stage->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
        if (at->across)
            stage->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        if (at->across && !sums) /* the sum is the rank's own operand */
            kit->n_stages--;
        stage->base[COLL_SCRATCH] += held;
    }
    if (at->across || !at->within) {
        coll_i_levels_problem(plan, kit, at, COLL_ACROSS, COLL_ALLREDUCE, &of);
        status = coll_i_kit_across(plan, kit, at, &of, &stage);
        if (status != COLL_OK)
            return status;
        plan->traits |= stage->plan->traits & COLL_GIVES_SAME_BITS;
        if (sums)
            stage->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
        stage->base[COLL_SCRATCH] += held;
    } else {
        plan->traits |= COLL_GIVES_SAME_BITS; /* all get what rank 0 has */
    }
    if (at->within) {
        coll_i_levels_problem(plan, kit, at, COLL_WITHIN, COLL_BCAST, &of);
        of.flags |= COLL_IN_PLACE;
        status = coll_i_kit_within(plan, kit, &of, &stage);
    }
    return status;
}

COLL_INLINE coll_status coll_i_two_level_allreduce(coll_plan *plan, coll_kit *kit)
{
    coll_i_levels at;
    coll_i_levels_of(plan, kit, &at);
    return coll_i_levels_allreduce(plan, kit, &at);
}

/* ---- sockets ----------------------------------------------------------------------------- */

static const coll_param coll_i_socket_params[] = {
    {"sockets", "of a node: runs of ranks of nearly equal length", 1, 4096, 2, {2, 3, 2, 2}}};

/* Numbers the sockets of all nodes through, and makes this rank's its node; which of its node's it
 * is. O(nodes). */
COLL_INLINE uint32_t coll_i_sockets_of(const coll_plan *plan, coll_kit *kit, coll_i_levels *at)
{
    const uint32_t most = plan->param[0], m = kit->at.ranks, nodes = at->nodes;
    const coll_partition cut = coll_partition_of(m, most < m ? most : m);
    coll_block run = coll_part_block(cut, 0);
    uint32_t own = 0;
    while (kit->at.local >= run.offset + run.count)
        run = coll_part_block(cut, ++own);
    at->nodes = 0;
    at->within = false;
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t ranks = coll_node_at(&kit->nodes, kit->p, node, 0).ranks;
        if (node == kit->at.index)
            at->index = at->nodes + own;
        at->nodes += ranks < most ? ranks : most;
        at->within = at->within || ranks > most;
    }
    at->across = at->nodes > 1;
    at->team = COLL_TEAM_SOCKETS;
    kit->at.first += (uint32_t)run.offset;
    kit->at.ranks = (uint32_t)run.count;
    kit->at.local -= (uint32_t)run.offset;
    at->lead = 0;
    at->leads = kit->at.local == 0;
    return own;
}

COLL_INLINE coll_status coll_i_socket_leader_build(coll_plan *plan, coll_kit *kit)
{
    coll_i_levels at;
    coll_status status;
    size_t own;
    coll_i_levels_of(plan, kit, &at);
    own = coll_i_sockets_of(plan, kit, &at);
    status = coll_i_levels_allreduce(plan, kit, &at);
    for (uint32_t i = 0; i < kit->n_stages;
         i++) /* sockets of a node have SHARED of their own */
        kit->stages[i].base[COLL_SHARED] += own * kit->shared;
    if (status == COLL_OK && (!coll_multiply(kit->shared, plan->param[0], &kit->shared) ||
                              !coll_i_addressable(kit->shared, plan->problem.elem_bytes)))
        status = COLL_ERR_OVERFLOW;
    return status;
}

/* ---- records ----------------------------------------------------------------------------- */

#define COLL_I_TWO_LEVEL(name, collective, traits, window)                                     \
    {                                                                                          \
        name, "Bayatpour et al. 2017, section 2.1", COLL_BIT(collective),                      \
            COLL_NEEDS_BUILD | COLL_USES_NODES | (traits), window, 0, NULL, NULL,              \
            coll_i_kit_steps, coll_i_kit_step, coll_i_kit_scratch, coll_i_kit_shared           \
    }

static const coll_use coll_i_two_level_barrier_usual[] = {
    {COLL_WITHIN, &coll_dissemination_barrier, NULL},
    {COLL_ACROSS, &coll_dissemination_barrier, NULL}};
static const coll_recipe coll_two_level_barrier = {
    COLL_I_TWO_LEVEL("two_level", COLL_BARRIER, 0, 2), coll_i_two_level_barrier,
    coll_i_two_level_barrier_usual, 2};

static const coll_use coll_i_two_level_bcast_usual[] = {
    {COLL_WITHIN, &coll_fnomial_bcast, NULL}, {COLL_ACROSS, &coll_fnomial_bcast, NULL}};
static const coll_recipe coll_two_level_bcast = {
    COLL_I_TWO_LEVEL("two_level", COLL_BCAST, COLL_GIVES_SAME_BITS, 1), coll_i_two_level_bcast,
    coll_i_two_level_bcast_usual, 2};

static const coll_use coll_i_two_level_reduce_usual[] = {
    {COLL_WITHIN, &coll_fnomial_reduce, NULL}, {COLL_ACROSS, &coll_fnomial_reduce, NULL}};
static const coll_recipe coll_two_level_reduce = {
    COLL_I_TWO_LEVEL("two_level", COLL_REDUCE, 0, 1), coll_i_two_level_reduce,
    coll_i_two_level_reduce_usual, 2};

static const coll_use coll_i_two_level_allreduce_usual[] = {
    {COLL_WITHIN, &coll_fnomial_reduce, NULL},
    {COLL_WITHIN, &coll_fnomial_bcast, NULL},
    {COLL_ACROSS, &coll_recursive_doubling_allreduce, NULL}};
static const coll_recipe coll_two_level_allreduce = {
    COLL_I_TWO_LEVEL("two_level", COLL_ALLREDUCE, COLL_GIVES_SAME_BITS, 2),
    coll_i_two_level_allreduce, coll_i_two_level_allreduce_usual, 3};

static const coll_use coll_i_node_leader_usual[] = {
    {COLL_WITHIN, &coll_fnomial_reduce, NULL},
    {COLL_WITHIN, &coll_fnomial_bcast, NULL},
    {COLL_ACROSS, &coll_fabric_allreduce, NULL}};
static const coll_recipe coll_node_leader_allreduce = {
    COLL_I_TWO_LEVEL("node_leader", COLL_ALLREDUCE,
                     COLL_GIVES_SAME_BITS | COLL_NEEDS_FABRIC_REDUCE, 1),
    coll_i_two_level_allreduce, coll_i_node_leader_usual, 3};

static const coll_recipe coll_socket_leader_allreduce = {
    {"socket_leader", "Bayatpour et al. 2017, section 4.3", COLL_BIT(COLL_ALLREDUCE),
     COLL_NEEDS_BUILD | COLL_USES_NODES | COLL_NEEDS_FABRIC_REDUCE | COLL_GIVES_SAME_BITS,
     /* window */ 1,
     /* parameters */ 1, coll_i_socket_params,
     /* check */ NULL, coll_i_kit_steps, coll_i_kit_step, coll_i_kit_scratch,
     coll_i_kit_shared},
    coll_i_socket_leader_build,
    coll_i_node_leader_usual,
    3};

#endif /* COLL_ALGOS_TWO_LEVEL_H */
