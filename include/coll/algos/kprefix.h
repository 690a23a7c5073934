/* coll/algos/kprefix.h — allgather(v): prefix permutations near by, a ring between partitions
 *
 * The nodes of the machine form partitions of k consecutive numbers, best a subtree of the
 * network. A rank forwards every block that it holds once, to its like in the next partition, k
 * nodes on, and sends it to all others of its own partition in the order of prefix.h. So only one
 * message in k leaves a partition, and a block that a rank holds is sent k times in a row from one
 * place. In round t a partition hands out the blocks that come from the one t before it, while it
 * takes in those of the next round.
 *
 *   p = 8, k = 4: what rank 5 does, lane 1 of partition 1
 *       round 0   sends block 5 to 1, 4, 7, 6    receives 1 from 1, 4 from 4, 7 from 7, 6 from 6
 *       round 1   sends block 1 to    4, 7, 6    receives           0 from 4, 3 from 7, 2 from 6
 *
 * A partition may lack lanes: those beyond the last node, and those of missing nodes (prefix.h
 * has what `machine` means). In the ring a substitute plays a lane that is not there: a
 * partition's missing lanes fall in turn to the first 2^e of its n members, 2^e ≤ n < 2^(e+1).
 *
 * Laws (tests/algos/kprefix.c)
 *   (1) what r sends in stage j of round t is what its peer receives in stage j of round t
 *   (2) j = 0 leads to the player of the lane in the next partition with members, j > 0 to lane
 *       XOR j of the own one
 *   (3) the lanes of a partition have one player each, a member plays its own and at most
 *       ⌈(k−n)/2^e⌉ others
 *   (4) if k is a power of two, the messages of a stage j > 0 share no link of a fat tree of power
 *       of two arity, whatever is missing; those of a stage 0, if all nodes of the tree are there
 * Cost    a block is sent n−1 times by its player in a partition of n, and once more unless it
 *         comes from the next partition. If k divides p and no node is missing, that is p−1
 *         messages and blocks per rank, p/k−1 of them in the ring, in p stages for k = 2^i, and
 *         ⌈p/k⌉ different blocks: time (p−1)(α + mβ) + (p/k)mδ where each is copied to the
 *         network processor once; p−1 rounds. p(p−1) messages in all in any case, and less than
 *         two rounds a stage; of these there are ⌈nodes/k⌉·2^⌈log2 k⌉, 2^⌈log2 nodes⌉ for k > nodes
 * Source  Kumar 2004 (k-prefix)
 */
#ifndef COLL_ALGOS_KPREFIX_H
#define COLL_ALGOS_KPREFIX_H

#include "kit/derived.h"
#include "kit/kprefix_partitions.h"

/* ---- steps ------------------------------------------------------------------------------- */

/* Of a rank's step number, the low bits are the role, the next ones the stage, then the round. */
typedef struct coll_i_kprefix_bits {
    uint32_t role, stage;
} coll_i_kprefix_bits;

COLL_HOT_INLINE coll_i_kprefix_bits coll_i_kprefix_bits_of(const coll_i_kprefix *it,
                                                           const coll_i_kprefix_part *part)
{
    coll_i_kprefix_bits bits;
    bits.role = 0;
    bits.stage = coll_log2_ceil(it->parts > 1 ? it->k : it->machine.nodes);
    if (part->missing > 0) {
        bits.role = coll_log2_ceil(((part->missing - 1) >> part->turns) + 2);
        if (!it->even)
            bits.stage = coll_log2_ceil((coll_i_kprefix_lane(it, part, 0) ^
                                         coll_i_kprefix_lane(it, part, part->n - 1)) +
                                        1);
    }
    return bits;
}

COLL_INLINE size_t coll_i_kprefix_count(const coll_plan *plan, uint32_t rank, uint32_t nodes,
                                        bool even)
{
    const coll_i_kprefix it = coll_i_kprefix_of(plan, nodes, even);
    const coll_i_kprefix_part part = coll_i_kprefix_part_of(&it, rank);
    const coll_i_kprefix_bits bits = coll_i_kprefix_bits_of(&it, &part);
    return (size_t)it.parts << (bits.role + bits.stage);
}

/* The owner of the block that came from a lane of partition `index`; COLL_RANK_NONE. */
COLL_HOT_INLINE uint32_t coll_i_kprefix_owner(const coll_i_kprefix *it, uint32_t index,
                                              uint32_t lane)
{
    return lane == COLL_RANK_NONE ? COLL_RANK_NONE
                                  : coll_i_machine_rank(&it->machine, index * it->k + lane);
}

/* Where a rank has a block that it sends: the own one in IN, where `fresh`. */
COLL_HOT_INLINE unsigned coll_i_kprefix_send(const coll_plan *plan, bool fresh, uint32_t to,
                                             uint32_t owner, coll_action *out)
{
    const coll_block block = coll_out_block(plan, owner);
    coll_act_send(out, to, fresh ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, block.offset),
                  block.count);
    return 1;
}

COLL_HOT_INLINE unsigned coll_i_kprefix_recv(const coll_plan *plan, uint32_t from,
                                             uint32_t owner, coll_action *out)
{
    const coll_block block = coll_out_block(plan, owner);
    coll_act_recv(out, from, COLL_AT(COLL_OUT, block.offset), block.count);
    return 1;
}

/* Stage 0 of a round: what the lane holds goes on, unless it is at home again in the next
 * partition, and what the one before holds comes, unless this was its home. */
COLL_INLINE unsigned coll_i_kprefix_ring(const coll_plan *plan, const coll_i_kprefix *it,
                                         const coll_i_kprefix_part *part, uint32_t lane,
                                         uint32_t round, bool fresh, coll_action *out)
{
    const uint32_t p = it->machine.p, beyond = part->first + part->n;
    const coll_i_kprefix_part next = coll_i_kprefix_part_of(it, beyond == p ? 0 : beyond);
    const coll_i_kprefix_part last =
        coll_i_kprefix_part_of(it, (part->first == 0 ? p : part->first) - 1);
    const uint32_t give = coll_mod_sub(part->index, round, it->parts);
    const uint32_t take = coll_mod_sub(last.index, round, it->parts);
    const uint32_t given = coll_i_kprefix_owner(it, give, lane);
    const uint32_t taken = coll_i_kprefix_owner(it, take, lane);
    unsigned n = 0;
    if (given != COLL_RANK_NONE && give != next.index)
        n += coll_i_kprefix_send(plan, fresh, coll_i_kprefix_player(it, &next, lane), given,
                                 &out[n]);
    if (taken != COLL_RANK_NONE && take != part->index)
        n += coll_i_kprefix_recv(plan, coll_i_kprefix_player(it, &last, lane), taken, &out[n]);
    return n;
}

/* A step's sends and receives. `even`: and the own block leaves from OUT. */
COLL_HOT_INLINE unsigned coll_i_kprefix_moves(const coll_plan *plan, uint32_t rank, size_t s,
                                              uint32_t nodes, bool even, coll_action *out)
{
    const coll_i_kprefix it = coll_i_kprefix_of(plan, nodes, even);
    const coll_i_kprefix_part part = coll_i_kprefix_part_of(&it, rank);
    const coll_i_kprefix_bits bits = coll_i_kprefix_bits_of(&it, &part);
    const uint32_t member = rank - part.first;
    const uint32_t a = (uint32_t)s & (((uint32_t)1 << bits.role) - 1);
    const uint32_t stage = (uint32_t)(s >> bits.role) & (((uint32_t)1 << bits.stage) - 1);
    const uint32_t round = (uint32_t)(s >> (bits.role + bits.stage));
    const bool fresh = !even && round == 0 && !coll_in_place(plan);
    const uint32_t lane = coll_i_kprefix_role(&it, &part, member, a);
    unsigned n = 0;
    if (stage == 0) {
        if (it.parts > 1 && lane != COLL_RANK_NONE)
            n = coll_i_kprefix_ring(plan, &it, &part, lane, round, fresh, out);
    } else {
        const uint32_t index = coll_mod_sub(part.index, round, it.parts);
        const uint32_t like = coll_i_kprefix_lane(&it, &part, member) ^ stage;
        const uint32_t partner =
            like < it.k ? coll_i_machine_rank(&it.machine, part.at + like) : COLL_RANK_NONE;
        uint32_t given, taken;
        if (partner == COLL_RANK_NONE)
            return 0;
        given = coll_i_kprefix_owner(&it, index, lane);
        taken = coll_i_kprefix_owner(&it, index,
                                     coll_i_kprefix_role(&it, &part, partner - part.first, a));
        if (given != COLL_RANK_NONE)
            n += coll_i_kprefix_send(plan, fresh, partner, given, &out[n]);
        if (taken != COLL_RANK_NONE)
            n += coll_i_kprefix_recv(plan, partner, taken, &out[n]);
    }
    return n;
}

COLL_INLINE unsigned coll_i_kprefix_own(const coll_plan *plan, uint32_t rank, coll_action *out)
{
    const coll_block own = coll_out_block(plan, rank);
    if (coll_in_place(plan))
        return 0;
    coll_act_copy(out, COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
    return 1;
}

/* ---- kprefix ----------------------------------------------------------------------------- */

COLL_TABLE(coll_param, coll_i_kprefix_params, {
    COLL_PARAM("k", "nodes of a partition",
               1, 65536, 8, {8, 1, 3, 100}), COLL_I_MACHINE_PARAM});

COLL_INLINE coll_status coll_i_kprefix_check(const coll_plan *plan)
{
    return coll_i_machine_check(plan, plan->param[1]);
}

COLL_INLINE size_t coll_i_kprefix_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_kprefix_count(plan, rank, plan->param[1], false);
}

/* Where the ranks are the nodes, in code of its own, which has nothing to search. */
COLL_INLINE unsigned coll_i_kprefix_step(const coll_plan *plan, uint32_t rank, size_t s,
                                         coll_action *out)
{
    const uint32_t nodes = plan->param[1];
    const unsigned n = nodes ? coll_i_kprefix_moves(plan, rank, s, nodes, false, out)
                             : coll_i_kprefix_moves(plan, rank, s, 0, false, out);
    return n + (s == 0 ? coll_i_kprefix_own(plan, rank, &out[n]) : 0);
}

COLL_ALGORITHM(coll_kprefix_allgather, "kprefix", "Kumar 2004, k-prefix",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_USES_GROUP,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(2, coll_i_kprefix_params, coll_i_prepare_radix),
    coll_i_kprefix_steps, coll_i_kprefix_step, NULL, coll_i_kprefix_check);

#endif /* COLL_ALGOS_KPREFIX_H */
