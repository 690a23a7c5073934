/* coll/algos/fnomial_split.h — reduce, allreduce: split the vector, then f-nomial trees on pieces
 *
 * On the way up a tree one rank combines after the other. Where combining is slow, a vector is
 * sooner combined in pieces, by more ranks at a time. The ranks pair up; each hands one half of
 * the vector to its partner and combines the other half, so that the even ranks hold the first
 * half for all and the odd ranks the second. Both groups go on like this, `splits` times or until
 * a group is a single rank. Then an f-nomial tree in each group reduces its piece, and the groups'
 * roots send theirs to the root; in an allreduce, all goes back the way it came instead.
 *
 * Partners are neighbours in their group: what a member holds is always of a run of ranks, and
 * operands keep their order. The last member of an odd group has no partner. It hands its second
 * half to the neighbour before it, who combines it behind that of his partner.
 *
 *   p = 7, splits = 2:   0 1 2 3 4 5 6         0–1 2–3 4–5 exchange halves, 6 hands one to 5
 *                        0 2 4 6 │ 1 3 5       0–2 4–6 1–3 exchange quarters, 5 hands one to 3
 *                        0 4 │ 2 6 │ 1 5 │ 3   trees on a quarter each: 4→0, 6→2, 5→1
 *                                              1, 2, 3 send their quarters to 0
 *
 * Laws (tests/algos/fnomial_split.c), ranks counted from the root
 *   (1) after d splits, ranks of equal d lowest bits are a group, and the groups' pieces tile the
 *       vector
 *   (2) what the members of a group hold is of consecutive runs of ranks, in the members' order
 *   (3) the roots of the groups are ranks 0 … G−1, G = min(2^splits, p)
 * Cost    of a rank whose group is split k ≤ ⌈log2 p⌉ times, into n members in the end: at split d
 *         a message of half a piece, count/2^(d+1) elements. reduce: besides, a message of the last
 *         piece, but for the root; ≤ k + ⌈log_f n⌉ + 1 rounds. allreduce: besides, that piece up
 *         and down the tree, and at split d a message back for each that came; ≤ 2k + 2⌈log_f n⌉
 *         rounds. scratch in halves of the first split: 1 for the sum where there is no OUT, and 1
 *         for each operand that comes, two at most, but the first unless the sum is where the own
 *         one is
 * Source  Moody 2003, §3.2.4, after van de Geijn 1991
 */
#ifndef COLL_ALGOS_FNOMIAL_SPLIT_H
#define COLL_ALGOS_FNOMIAL_SPLIT_H

#include "../plan/topo/tree.h"
#include "kit/derived.h"
#include "kit/split_groups.h"

COLL_TABLE(coll_param, coll_i_split_params, {
    COLL_PARAM("f", "degree of the trees: f-1 children a phase",
               2, UINT32_MAX / 2, 2, {2, 3, 2, 2}),
    COLL_PARAM("splits", "how many times the vector is halved", 0, 32, 3, {2, 9, 2, 2})});

/* `depth` splits, a step each; then a list of actions, COLL_STEP_MAX a step: up and down the tree,
 * or, at the root, the pieces; then, of an allreduce, the splits backwards. */
typedef struct coll_i_split {
    uint32_t top, v, depth; /* v: the rank, counted from the top */
    bool has_out;           /* the rank has OUT, and sums there */
    uint32_t index;         /* in its group, in the end */
    uint32_t parent, children;
    uint32_t up, down, pieces; /* actions of the list */
    coll_ref input, sum;       /* where element 0 of the vector is, or would be */
    coll_block kept;           /* all that it ever combines lies in this */
} coll_i_split;

COLL_HOT_INLINE void coll_i_split_of(const coll_plan *plan, uint32_t rank, coll_i_split *split)
{
    const coll_problem *of = &plan->problem;
    const bool spreads = of->collective == COLL_ALLREDUCE, root = rank == of->root;
    const bool has_out = spreads || root;
    const uint32_t groups = coll_i_split_groups(plan);
    coll_i_split_place at;
    split->has_out = has_out;
    split->top = coll_i_split_top(plan);
    split->v = coll_mod_sub(rank, split->top, of->p);
    split->depth = coll_i_split_depth(plan, split->v);
    split->kept = coll_i_split_piece(plan, split->v, split->depth > 0 ? 1 : 0);
    split->input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    split->sum = has_out ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0) - split->kept.offset;
    at = coll_i_split_place_of(plan, split->v, split->depth);
    split->index = at.index;
    {
        const coll_fnomial node = coll_fnomial_of(at.members, &plan->radix, at.index);
        split->parent = node.parent;
        split->children = node.children;
    }
    split->up = split->children;
    if (at.index > 0 || !has_out)
        split->up++; /* the sum goes on */
    else if (of->p == 1 && split->input != split->sum)
        split->up++; /* a copy */
    split->down = spreads ? split->children + (at.index > 0 ? 1u : 0u) : 0;
    split->pieces = root && !spreads ? groups - (split->v < groups ? 1u : 0u) : 0;
}

/* The rank of a member of this rank's group, which is split d times. */
COLL_HOT_INLINE uint32_t coll_i_split_member(const coll_plan *plan, const coll_i_split *split,
                                             uint32_t d, uint32_t index)
{
    const uint64_t tail = split->v & (((uint64_t)1 << d) - 1);
    return coll_mod_add((uint32_t)(((uint64_t)index << d) + tail), split->top, plan->problem.p);
}

/* The rank's combining number n: from `peer`, of a block. Only the first finds its operand in the
 * input; then the message may be staged where the sum forms. Two other slots are used in turn. */
COLL_HOT_INLINE void coll_i_split_combine(const coll_i_split *split, uint32_t n, uint32_t peer,
                                          coll_block block, bool left, coll_action *out)
{
    const coll_ref src = n == 0 ? split->input : split->sum, own = split->sum + block.offset;
    const size_t sums = split->has_out ? 0 : 1;
    const size_t turn = (n + (split->input == split->sum ? 0 : 1)) & 1;
    coll_act_recv_reduce(
        out, peer, own, src + block.offset,
        src != split->sum ? own : COLL_AT(COLL_SCRATCH, (sums + turn) * split->kept.count),
        block.count);
    out->flags = left ? COLL_LEFT : 0;
}

/* Split d: hands over one half of the group's piece, and combines the other. */
COLL_HOT_INLINE unsigned coll_i_split_halve(const coll_plan *plan, const coll_i_split *split,
                                            uint32_t d, coll_action *out)
{
    const coll_i_split_place at = coll_i_split_place_of(plan, split->v, d);
    const coll_block mine = coll_i_split_piece(plan, split->v, d + 1);
    const coll_block theirs = coll_i_split_piece(plan, split->v ^ (uint32_t)1 << d, d + 1);
    const uint32_t combined = coll_i_split_combined(plan, split->v, d);
    const uint32_t partner =
        coll_i_split_member(plan, split, d, at.paired ? at.index ^ 1 : at.index - 1);
    unsigned n = 0;
    coll_act_send(&out[n++], partner,
                  (combined == 0 ? split->input : split->sum) + theirs.offset, theirs.count);
    if (at.paired)
        coll_i_split_combine(split, combined, partner, mine, (at.index & 1) != 0, &out[n++]);
    if (at.extra)
        coll_i_split_combine(split, combined + 1,
                             coll_i_split_member(plan, split, d, at.index + 1), mine, false,
                             &out[n++]);
    return n;
}

/* … and backwards, with results. */
COLL_HOT_INLINE unsigned coll_i_split_join(const coll_plan *plan, const coll_i_split *split,
                                           uint32_t d, coll_action *out)
{
    const coll_i_split_place at = coll_i_split_place_of(plan, split->v, d);
    const coll_block mine = coll_i_split_piece(plan, split->v, d + 1);
    const coll_block theirs = coll_i_split_piece(plan, split->v ^ (uint32_t)1 << d, d + 1);
    const uint32_t partner =
        coll_i_split_member(plan, split, d, at.paired ? at.index ^ 1 : at.index - 1);
    unsigned n = 0;
    if (at.paired)
        coll_act_send(&out[n++], partner, COLL_AT(COLL_OUT, mine.offset), mine.count);
    if (at.extra)
        coll_act_send(&out[n++], coll_i_split_member(plan, split, d, at.index + 1),
                      COLL_AT(COLL_OUT, mine.offset), mine.count);
    coll_act_recv(&out[n++], partner, COLL_AT(COLL_OUT, theirs.offset), theirs.count);
    return n;
}

/* Action j of the list. */
COLL_HOT_INLINE void coll_i_split_action(const coll_plan *plan, const coll_i_split *split,
                                         uint32_t j, coll_action *out)
{
    const uint32_t m = split->children;
    const coll_block piece = coll_i_split_piece(plan, split->v, split->depth);
    const coll_ref here = COLL_AT(COLL_OUT, piece.offset);
    if (j < split->up) {
        const uint32_t combined = coll_i_split_combined(plan, split->v, split->depth);
        const coll_ref from = combined + m == 0 ? split->input : split->sum;
        if (j < m)
            coll_i_split_combine(
                split, combined + j,
                coll_i_split_member(plan, split, split->depth,
                                    coll_fnomial_child(plan->param[0], split->index, j)),
                piece, false, out);
        else if (plan->problem.p == 1)
            coll_act_copy(out, split->sum, split->input, piece.count);
        else
            coll_act_send(out,
                          split->index > 0
                              ? coll_i_split_member(plan, split, split->depth, split->parent)
                              : plan->problem.root,
                          from + piece.offset, piece.count);
        return;
    }
    j -= split->up;
    if (j >= split->down) { /* the root collects the others' pieces */
        const uint32_t k = j - split->down, v = k + (k >= split->v ? 1 : 0);
        const coll_block other = coll_i_split_piece(plan, v, coll_i_split_depth(plan, v));
        coll_act_recv(out, coll_mod_add(v, split->top, plan->problem.p),
                      COLL_AT(COLL_OUT, other.offset), other.count);
    } else if (j == 0 && split->index > 0) {
        coll_act_recv(out, coll_i_split_member(plan, split, split->depth, split->parent), here,
                      piece.count);
    } else { /* largest subtree first */
        coll_act_send(out,
                      coll_i_split_member(plan, split, split->depth,
                                          coll_fnomial_child(plan->param[0], split->index,
                                                             split->down - 1 - j)),
                      here, piece.count);
    }
}

COLL_INLINE size_t coll_i_split_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_split split;
    coll_i_split_of(plan, rank, &split);
    const size_t list = (size_t)split.up + split.down + split.pieces;
    return split.depth + (list + COLL_STEP_MAX - 1) / COLL_STEP_MAX +
           (plan->problem.collective == COLL_ALLREDUCE ? split.depth : 0);
}

COLL_INLINE unsigned coll_i_split_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    coll_i_split split;
    coll_i_split_of(plan, rank, &split);
    const size_t list = (size_t)split.up + split.down + split.pieces;
    const size_t end = split.depth + (list + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
    unsigned n = 0;
    if (s < split.depth)
        return coll_i_split_halve(plan, &split, (uint32_t)s, out);
    if (s >= end)
        return coll_i_split_join(plan, &split, split.depth - 1 - (uint32_t)(s - end), out);
    for (size_t j = (s - split.depth) * COLL_STEP_MAX; n < COLL_STEP_MAX && j < list; j++)
        coll_i_split_action(plan, &split, (uint32_t)j, &out[n++]);
    return n;
}

/* The sum where there is no OUT, and at most two slots for the messages. */
COLL_INLINE size_t coll_i_split_scratch(const coll_plan *plan, uint32_t rank)
{
    coll_i_split split;
    coll_i_split_of(plan, rank, &split);
    const uint32_t n = coll_i_split_combined(plan, split.v, split.depth) + split.children;
    const uint32_t staged = n - (n > 0 && split.input != split.sum ? 1 : 0);
    const bool apart = n > 0 && !split.has_out;
    return ((apart ? (size_t)1 : 0) + (staged < 2 ? staged : 2)) * split.kept.count;
}

COLL_ALGORITHM(coll_fnomial_split_reduce, "fnomial_split", "Moody 2003, section 3.2.4",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(2, coll_i_split_params, coll_i_prepare_radix),
    coll_i_split_steps, coll_i_split_step, coll_i_split_scratch);

COLL_ALGORITHM(coll_fnomial_split_allreduce, "fnomial_split", "Moody 2003, section 3.2.4",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(2, coll_i_split_params, coll_i_prepare_radix),
    coll_i_split_steps, coll_i_split_step, coll_i_split_scratch);

#endif /* COLL_ALGOS_FNOMIAL_SPLIT_H */
