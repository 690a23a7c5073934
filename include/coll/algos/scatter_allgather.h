/* coll/algos/scatter_allgather.h — bcast as a scatter and an allgather
 *
 * A tree sends the whole vector over each of its edges, and the root sends it log p times. Here the
 * vector is cut into p parts. An f-nomial tree scatters them: a rank gets the parts of its subtree,
 * which are one run. Then the ranks hand each other what they lack, either multiplying what they
 * have by f in every round, or passing parts around a ring. So the root sends each element about
 * twice, and every rank gets each element exactly once: what it has from the scatter, it is not
 * sent again. The root is rank 0 after a cyclic renumbering.
 *
 * Multiplying goes around the ranks, as in Bruck's allgather: before the round of stride s = f^k a
 * rank v has the s parts from its own on, and rank v + i·s sends it those that follow i·s, for
 * i = 1 … f−1. So any p takes ⌈log_f p⌉ rounds, where an exchange with v xor 2^k would have to
 * fold. Parts stay at their place in the vector, so a run past part p−1 is two messages.
 *
 *   p = 6, f = 2: parts that a rank has, renumbered; in brackets from the scatter
 *       rank             0        1        2        3        4        5
 *       after scatter  [0-5]     [1]     [2 3]     [3]     [4 5]     [5]
 *       after s = 1    [0-5]     [1]2    [2 3]     [3]4    [4 5]     [5]0
 *       after s = 2    [0-5]     [1]2-4  [2 3]4 5  [3]4-0  [4 5]0 1  [5]0-2
 *       after s = 4    [0-5]     [1]2-0  [2 3]4-1  [3]4-2  [4 5]0-3  [5]0-4
 *
 * Laws (tests/algos/scatter_allgather.c)
 *   (1) in each round of the allgather a rank expects just what its peer sends it then
 *   (2) every element comes to every rank but the root exactly once, and to the root never
 * Cost    (p−1)·`count` elements in all; most are sent by the root, all but its part twice, so
 *         2·count·(p−1)/p; no scratch. m = ⌈log_f p⌉. scatter_allgather: f = 2: 2m − 1 rounds for p
 *         = 2^m or 2^m − 1, else 2m − 2; any f: at most f·m if messages go one by one (odd f: just
 *         so many for p = f^m; powers of two: one less); messages of a rank: one to each child, and
 *         for each distance e·f^t < p, 1 ≤ e < f, one where parts are missing, or two.
 *         scatter_ring: p−1 rounds; a rank sends one message to each child, and the parts that its
 *         neighbour has not got from the scatter
 * Source  Barnett, Shuler, van de Geijn, Gupta, Payne, Watts 1994 (scatter, then collect); Thakur,
 *         Rabenseifner, Gropp 2005, §4.2, doi:10.1177/1094342005051521; around the ranks: Bruck et
 *         al. 1997, doi:10.1109/71.642949
 */
#ifndef COLL_ALGOS_SCATTER_ALLGATHER_H
#define COLL_ALGOS_SCATTER_ALLGATHER_H

#include "../plan/topo/tree.h"
#include "kit/derived.h"
#include "fnomial.h"
#include "ring.h"

/* ---- both: the scatter --------------------------------------------------------------------- */

/* What a rank does: in the scatter receive and then send to each child, COLL_STEP_MAX actions a
 * step; then a step for each round of the allgather, the last of them with the root's copy. */
typedef struct coll_i_scatter_role {
    coll_i_fnomial place;
    uint32_t has;     /* parts that it has after the scatter, its own being the first */
    coll_ref from;    /* where the vector lies: on the root, the input */
    uint32_t actions; /* of the scatter */
    uint32_t steps;   /* of the scatter */
    bool copies;
} coll_i_scatter_role;

COLL_HOT_INLINE coll_i_scatter_role coll_i_scatter_role_of(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    coll_i_scatter_role role;
    role.place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    role.has =
        role.place.at.stride < p - role.place.v ? role.place.at.stride : p - role.place.v;
    role.from = role.place.v == 0 ? coll_input(plan) : COLL_AT(COLL_OUT, 0);
    role.actions = role.place.at.children + (role.place.v == 0 ? 0u : 1u);
    role.steps = (role.actions + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
    role.copies = role.from != COLL_AT(COLL_OUT, 0);
    return role;
}

/* The same of any renumbered rank. */
COLL_HOT_INLINE uint32_t coll_i_scatter_has(const coll_plan *plan, uint32_t v)
{
    const uint32_t left = plan->problem.p - v;
    const uint32_t stride = coll_fnomial_of(plan->problem.p, &plan->radix, v).stride;
    return stride < left ? stride : left;
}

/* Parts begin … end−1, as one run. */
COLL_HOT_INLINE coll_block coll_i_scatter_run(const coll_plan *plan, uint32_t begin,
                                              uint32_t end)
{
    coll_block run;
    run.offset = coll_part_offset(plan->cut, begin);
    run.count = coll_part_offset(plan->cut, end) - run.offset;
    return run;
}

/* Step s of the scatter; the largest subtree goes first. */
COLL_HOT_INLINE unsigned coll_i_scatter_step(const coll_plan *plan,
                                             const coll_i_scatter_role *role, uint32_t s,
                                             coll_action *out)
{
    const uint32_t p = plan->problem.p, v = role->place.v, root = plan->problem.root;
    unsigned n = 0;
    for (uint32_t i = s * COLL_STEP_MAX; i < role->actions && n < COLL_STEP_MAX; i++, n++) {
        if (i == 0 && v != 0) {
            const coll_block run = coll_i_scatter_run(plan, v, v + role->has);
            coll_act_recv(&out[n], coll_i_fnomial_parent(plan, &role->place),
                          COLL_AT(COLL_OUT, run.offset), run.count);
        } else {
            const uint32_t slot = role->actions - 1 - i;
            const coll_fnomial_phase phase = coll_fnomial_phase_of(plan->param[0], slot);
            const uint32_t child = v + (slot - phase.first + 1) * phase.stride;
            const uint32_t end = phase.stride < p - child ? child + phase.stride : p;
            const coll_block run = coll_i_scatter_run(plan, child, end);
            coll_act_send(&out[n], coll_mod_add(child, root, p), role->from + run.offset,
                          run.count);
        }
    }
    return n;
}

/* Appends the root's copy of the whole vector. */
COLL_HOT_INLINE unsigned coll_i_scatter_copy(const coll_plan *plan, coll_action *out)
{
    coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), plan->problem.count);
    return 1;
}

/* ---- scatter_allgather ----------------------------------------------------------------------- */

/* A round of stride s has a step for each i, as the root of the tree has children; alone, the root
 * has a step for its copy. */
COLL_INLINE size_t coll_i_scatter_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_scatter_role role = coll_i_scatter_role_of(plan, rank);
    const uint32_t slots = coll_fnomial_of(plan->problem.p, &plan->radix, 0).children;
    return role.steps + (size_t)slots + (slots == 0 && role.copies ? 1 : 0);
}

/* What a step hands around: parts `distance` … end−1 of every rank, counted from its own, come from
 * the rank that is `distance` further. */
typedef struct coll_i_scatter_slot {
    uint32_t distance, end;
} coll_i_scatter_slot;

/* The runs of these parts that rank v lacks if it has the first `has`: none, one, or two where they
 * pass part p−1. Returns how many. */
COLL_HOT_INLINE unsigned coll_i_scatter_lacks(const coll_plan *plan, coll_i_scatter_slot slot,
                                              uint32_t v, uint32_t has, coll_block run[2])
{
    const uint32_t p = plan->problem.p, begin = has < slot.distance ? slot.distance : has;
    const uint32_t first = coll_mod_add(v, begin < p ? begin : 0, p);
    if (begin >= slot.end)
        return 0;
    if (slot.end - begin <= p - first) {
        run[0] = coll_i_scatter_run(plan, first, first + (slot.end - begin));
        return 1;
    }
    run[0] = coll_i_scatter_run(plan, first, p);
    run[1] = coll_i_scatter_run(plan, 0, slot.end - begin - (p - first));
    return 2;
}

COLL_INLINE unsigned coll_i_scatter_allgather_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const coll_i_scatter_role role = coll_i_scatter_role_of(plan, rank);
    const uint32_t p = plan->problem.p, v = role.place.v;
    unsigned n = 0;
    if (s < role.steps)
        return coll_i_scatter_step(plan, &role, (uint32_t)s, out);
    if (p > 1) {
        const uint32_t number = (uint32_t)s - role.steps;
        const coll_fnomial_phase phase = coll_fnomial_phase_of(plan->param[0], number);
        coll_i_scatter_slot slot;
        coll_block run[2];
        uint32_t to;
        slot.distance = (number - phase.first + 1) * phase.stride;
        slot.end = phase.stride < p - slot.distance ? slot.distance + phase.stride : p;
        to = coll_mod_sub(v, slot.distance, p);
        for (unsigned i = 0, runs = coll_i_scatter_lacks(plan, slot, to,
                                                         coll_i_scatter_has(plan, to), run);
             i < runs; i++)
            coll_act_send(&out[n++], coll_mod_sub(rank, slot.distance, p),
                          role.from + run[i].offset, run[i].count);
        for (unsigned i = 0, runs = coll_i_scatter_lacks(plan, slot, v, role.has, run);
             i < runs; i++)
            coll_act_recv(&out[n++], coll_mod_add(rank, slot.distance, p),
                          role.from + run[i].offset, run[i].count);
        if (slot.end < p)
            return n;
    }
    if (role.copies)
        n += coll_i_scatter_copy(plan, &out[n]);
    return n;
}

COLL_ALGORITHM(coll_scatter_allgather_bcast, "scatter_allgather",
    "Barnett et al. 1994; Thakur, Rabenseifner, Gropp 2005, section 4.2; Bruck et al. 1997",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_scatter_allgather_steps, coll_i_scatter_allgather_step);

/* ---- scatter_ring ------------------------------------------------------------------------ */

/* A rank takes parts until it reaches those that it has; and so does the next one. */
COLL_INLINE size_t coll_i_scatter_ring_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_scatter_role role = coll_i_scatter_role_of(plan, rank);
    const uint32_t p = plan->problem.p;
    const uint32_t takes = p - role.has;
    const uint32_t gives = p - coll_i_scatter_has(plan, coll_i_ring_next(p, role.place.v));
    return role.steps + (size_t)(takes > gives ? takes : gives) +
           (p == 1 && role.copies ? 1 : 0);
}

COLL_INLINE unsigned coll_i_scatter_ring_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const coll_i_scatter_role role = coll_i_scatter_role_of(plan, rank);
    const uint32_t p = plan->problem.p, v = role.place.v;
    const uint32_t round = (uint32_t)(s - role.steps);
    unsigned n = 0;
    if (s < role.steps)
        return coll_i_scatter_step(plan, &role, (uint32_t)s, out);
    if (p - round > coll_i_scatter_has(plan, coll_i_ring_next(p, v))) {
        const coll_block give = coll_part_block(plan->cut, coll_i_ring_block(p, v, round));
        coll_act_send(&out[n++], coll_i_ring_next(p, rank), role.from + give.offset,
                      give.count);
    }
    if (p - round > role.has) {
        const coll_block take = coll_part_block(plan->cut, coll_i_ring_block(p, v, round + 1));
        coll_act_recv(&out[n++], coll_i_ring_previous(p, rank), role.from + take.offset,
                      take.count);
    }
    if (role.copies && round + 2 >= p)
        n += coll_i_scatter_copy(plan, &out[n]);
    return n;
}

COLL_ALGORITHM(coll_scatter_ring_bcast, "scatter_ring",
    "Barnett et al. 1994; Thakur, Rabenseifner, Gropp 2005, section 4.2",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_scatter_ring_steps, coll_i_scatter_ring_step);

#endif /* COLL_ALGOS_SCATTER_ALLGATHER_H */
