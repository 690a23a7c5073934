/* coll/algos/prefix.h — allgather(v), alltoall(v) by prefix permutations of a machine's nodes
 *
 * In stage j node x exchanges messages with node x XOR j: a permutation that on a fat tree uses
 * no link twice (tests/support/fattree.h), because a subtree's nodes trade places with those of
 * one other subtree. A stage whose partner does not exist is skipped. In an allgather a rank
 * sends one block, its own, p−1 times: on a network processor it is copied to the processor's
 * memory once, whereas a ring sends p−1 different blocks. Half of the messages go to the
 * machine's far half.
 *
 *   p = 6, partner of rank r           machine = 8, nodes 0 1 3 4 6 7
 *       rank   0  1  2  3  4  5            node   0  1  3  4  6  7
 *       j = 1  1  0  3  2  5  4            j = 1  1  0  ·  ·  7  6
 *       j = 2  2  3  0  1  ·  ·            j = 2  ·  3  1  6  4  ·
 *       j = 3  3  2  1  0  ·  ·            j = 3  3  ·  0  7  ·  4
 *       j = 4  4  5  ·  ·  0  1            j = 4  4  ·  7  0  ·  3
 *       j = 5  5  4  ·  ·  1  0            j = 5  ·  4  6  1  3  ·
 *       j = 6  ·  ·  4  5  2  3            j = 6  6  7  ·  ·  0  1
 *       j = 7  ·  ·  5  4  3  2            j = 7  7  6  4  3  1  0
 *
 * Where nodes are missing, `machine` says how many the whole machine has, and the plan's group
 * (coll_plan_place) on which of them the ranks live, in ascending order: partners are then
 * computed on the nodes' numbers, and any part of a permutation without contention has none.
 * 0: the ranks are the numbers, whatever the group is.
 *
 * Laws (tests/algos/prefix.c)
 *   (1) what r sends at step s is what its peer receives at step s, and goes to node x XOR (s+1)
 *   (2) the peers of a rank's steps are all other ranks, each once
 *   (3) in an allgather a rank sends from one place alone
 *   (4) the messages of a step have no link of a k-ary n-tree in common, k a power of two
 * Cost    p−1 messages and blocks per rank, in 2^⌈log2 n⌉ − 1 stages, n = p or machine, and at most
 *         as many rounds: for n = p and q = 2^⌈log2 p⌉, q − 1 if p ≥ q − 1, p if p = q/2 + 1, else
 *         q − 2. Time of an allgather, where a rank copies what it sends to its network processor:
 *         (p−1)(α + mβ) + mδ. scratch: alltoall in place two of the largest blocks
 * Source  Kumar 2004 (prefix send); Heller 1994, doi:10.1007/3-540-58429-3_36
 */
#ifndef COLL_ALGOS_PREFIX_H
#define COLL_ALGOS_PREFIX_H

#include "pairwise.h"

/* ---- the machine ------------------------------------------------------------------------- */

/* Nodes of which `p` have a rank. */
typedef struct coll_i_machine {
    const coll_group *group; /* a rank's node is its outer rank; NULL: itself */
    uint32_t p, nodes;
} coll_i_machine;

/* With `nodes` = 0, each rank is its own node. */
COLL_HOT_INLINE coll_i_machine coll_i_machine_of(const coll_plan *plan, uint32_t nodes)
{
    coll_i_machine machine;
    machine.group = nodes ? &plan->group : NULL;
    machine.p = plan->problem.p;
    machine.nodes = nodes ? nodes : plan->problem.p;
    return machine;
}

COLL_HOT_INLINE uint32_t coll_i_machine_node(const coll_i_machine *machine, uint32_t rank)
{
    return machine->group ? coll_group_outer(machine->group, rank) : rank;
}

/* How many ranks live on the nodes below `node`, which is at most machine->nodes. */
COLL_HOT_INLINE uint32_t coll_i_machine_below(const coll_i_machine *machine, uint32_t node)
{
    return machine->group ? coll_group_below(machine->group, machine->p, machine->nodes, node)
                          : node;
}

/* The rank on a node; COLL_RANK_NONE where there is none, or no such node. */
COLL_HOT_INLINE uint32_t coll_i_machine_rank(const coll_i_machine *machine, uint32_t node)
{
    uint32_t rank = node;
    if (node >= machine->nodes)
        return COLL_RANK_NONE;
    if (machine->group) {
        rank = coll_i_machine_below(machine, node);
        if (rank == machine->p || coll_i_machine_node(machine, rank) != node)
            return COLL_RANK_NONE;
    }
    return rank;
}

/* Steps are numbers of stages on the nodes: more nodes than these have too many for 32 bits. */
enum { COLL_I_MACHINE_MOST = 1 << 30 };

COLL_INLINE coll_status coll_i_machine_check(const coll_plan *plan, uint32_t nodes)
{
    if (nodes == 0)
        return plan->problem.p <= COLL_I_MACHINE_MOST ? COLL_OK : COLL_ERR_SHAPE;
    return coll_group_ascends(&plan->group, plan->problem.p, nodes) ? COLL_OK : COLL_ERR_GROUP;
}

#define COLL_I_MACHINE_PARAM                                                                   \
    COLL_PARAM("machine", "nodes, numbered as in the group; 0: the ranks are", 0,              \
               COLL_I_MACHINE_MOST, 0, {0, 0, 0, 0})

/* ---- stages ------------------------------------------------------------------------------ */

COLL_TABLE(coll_param, coll_i_prefix_params, {COLL_I_MACHINE_PARAM});

COLL_INLINE coll_status coll_i_prefix_check(const coll_plan *plan)
{
    return coll_i_machine_check(plan, plan->param[0]);
}

/* Stages 1 … 2^⌈log2 nodes⌉ − 1; the copy of the own block rides on the first (alone, it is the
 * only step). */
COLL_INLINE size_t coll_i_prefix_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t nodes = plan->param[0] ? plan->param[0] : plan->problem.p;
    (void)rank;
    return ((size_t)1 << coll_log2_ceil(nodes)) - 1 +
           (nodes == 1 && !coll_in_place(plan) ? 1 : 0);
}

/* The rank with which a rank exchanges messages at step s; COLL_RANK_NONE: it is skipped. */
COLL_HOT_INLINE uint32_t coll_i_prefix_partner(const coll_plan *plan, uint32_t rank, size_t s)
{
    const coll_i_machine machine = coll_i_machine_of(plan, plan->param[0]);
    return coll_i_machine_rank(&machine,
                               coll_i_machine_node(&machine, rank) ^ ((uint32_t)s + 1));
}

/* ---- allgather --------------------------------------------------------------------------- */

COLL_INLINE unsigned coll_i_prefix_allgather_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const uint32_t partner = coll_i_prefix_partner(plan, rank, s);
    const coll_block own = coll_out_block(plan, rank);
    const coll_ref place = COLL_AT(COLL_OUT, own.offset);
    const coll_ref from = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    unsigned n = 0;
    if (partner != COLL_RANK_NONE) {
        const coll_block theirs = coll_out_block(plan, partner);
        coll_act_send(&out[n++], partner, from, own.count);
        coll_act_recv(&out[n++], partner, COLL_AT(COLL_OUT, theirs.offset), theirs.count);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], place, from, own.count);
    return n;
}

COLL_ALGORITHM(coll_prefix_allgather, "prefix", "Kumar 2004, prefix send",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_USES_GROUP,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_prefix_params),
    coll_i_prefix_steps, coll_i_prefix_allgather_step, NULL, coll_i_prefix_check);

/* ---- alltoall ---------------------------------------------------------------------------- */

COLL_INLINE unsigned coll_i_prefix_alltoall_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const uint32_t partner = coll_i_prefix_partner(plan, rank, s);
    unsigned n = 0;
    if (partner != COLL_RANK_NONE)
        n = coll_in_place(plan) ? coll_i_pairwise_trade(plan, partner, s, out)
                                : coll_i_pairwise_exchange(plan, partner, partner, out);
    return n + (s == 0 ? coll_i_pairwise_own(plan, rank, &out[n]) : 0);
}

COLL_ALGORITHM(coll_prefix_alltoall, "prefix", "Kumar 2004, prefix send",
    COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_ALLTOALLV), COLL_USES_GROUP,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_prefix_params),
    coll_i_prefix_steps, coll_i_prefix_alltoall_step, coll_i_pairwise_alltoall_scratch,
    coll_i_prefix_check);

#endif /* COLL_ALGOS_PREFIX_H */
