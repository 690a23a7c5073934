/* coll/algos/swing_torus.h — allreduce, reduce_scatter(_block): swing to and fro on a torus
 *
 * What swing.h does on a ring, on a torus of two dimensions: rounds alternate between rows and columns
 * (kit/torus_swing.h), so that partners are nearer, at about the root of the distances on a ring, and
 * the longest messages use the links of both dimensions. p and the width are powers of two. Width 1, or
 * p, is a single ring: swing.h.
 *
 *   width 4, p = 8, pieces (slots) that a rank keeps
 *       rank                 0    1    2    3    4    5    6    7
 *       round 0, along rows  0–3  4–7  4–7  0–3  0–3  4–7  4–7  0–3     0 ↔ 1, 2 ↔ 3, 4 ↔ 5, 6 ↔ 7
 *       round 1, columns     0–1  4–5  4–5  0–1  2–3  6–7  6–7  2–3     0 ↔ 4, 1 ↔ 5, 2 ↔ 6, 3 ↔ 7
 *       round 2, along rows   0    4    5    1    2    6    7    3      0 ↔ 3, 1 ↔ 2, 4 ↔ 7, 5 ↔ 6
 *
 * swing_torus halves the vector and gathers the pieces; swing_torus_latency sends whole vectors, in
 * half of the rounds. The paper cuts the vector into as many parts as a node has links, which start in
 * other dimensions and directions; here each link of a rank has its turn.
 *
 * Bits: as in swing.h.
 *
 * Laws (tests/algos/swing_torus.c)
 *   (1) in each round partners are in one row or one column, swing.h's partners there; rows and columns
 *       take turns, rows first, while both have rounds left
 *   (2) what a rank gives in round t is what its partner is to have, or passes on after that round
 *   (3) elements · links crossed on the torus: less than swing.h's, where both dimensions are above 2
 * Cost    as swing.h for a power of two
 * Source  De Sensi, Bonato, Saam, Hoefler 2024, arXiv:2401.09356 (tori of several dimensions)
 */
#ifndef COLL_ALGOS_SWING_TORUS_H
#define COLL_ALGOS_SWING_TORUS_H

#include "kit/derived.h"
#include "rabenseifner.h"
#include "recursive_multiplying.h"

COLL_TABLE(coll_param, coll_i_swing_torus_params, {
    COLL_PARAM("width", "columns of the torus; rank y*width + x is in column x of row y",
               1, UINT32_MAX, 1, {1, 2, 3, 4})});

/* radix of the width, fold and pieces. */
COLL_INLINE void coll_i_prepare_torus(coll_plan *plan)
{
    coll_i_prepare_radix(plan);
    coll_i_prepare_pieces(plan);
}

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_swing_torus_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_steps(plan, COLL_I_TORUS, rank);
}

COLL_INLINE unsigned coll_i_swing_torus_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    return coll_i_halved_allreduce_step(plan, COLL_I_TORUS, rank, s, out);
}

COLL_INLINE size_t coll_i_swing_torus_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_scratch(plan, COLL_I_TORUS, rank);
}

COLL_ALGORITHM(coll_swing_torus_allreduce, "swing_torus",
    "De Sensi, Bonato, Saam, Hoefler 2024",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_POWER_OF_TWO | COLL_NEEDS_FULL_ROWS | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_swing_torus_params, coll_i_prepare_torus),
    coll_i_swing_torus_allreduce_steps, coll_i_swing_torus_allreduce_step,
    coll_i_swing_torus_allreduce_scratch, coll_i_mesh_check);

/* Of whole vectors. */
COLL_INLINE unsigned coll_i_swing_torus_latency_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    return coll_i_multiplying_allreduce(plan, rank, s, COLL_I_TORUS, &coll_fast_divisor_two,
                                        out);
}

COLL_ALGORITHM(coll_swing_torus_latency_allreduce, "swing_torus_latency",
    "De Sensi, Bonato, Saam, Hoefler 2024",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_POWER_OF_TWO | COLL_NEEDS_FULL_ROWS,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_swing_torus_params, coll_i_prepare_torus),
    coll_i_doubling_steps, coll_i_swing_torus_latency_step, coll_i_doubling_allreduce_scratch,
    coll_i_mesh_check);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_swing_torus_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_butterfly_steps(plan, COLL_I_TORUS, rank);
}

COLL_INLINE unsigned coll_i_swing_torus_reduce_scatter_step(const coll_plan *plan,
                                                            uint32_t rank, size_t s,
                                                            coll_action *out)
{
    return coll_i_butterfly_step(plan, COLL_I_TORUS, rank, s, out);
}

COLL_INLINE size_t coll_i_swing_torus_reduce_scatter_scratch(const coll_plan *plan,
                                                             uint32_t rank)
{
    return coll_i_butterfly_scratch(plan, COLL_I_TORUS, rank);
}

COLL_ALGORITHM(coll_swing_torus_reduce_scatter, "swing_torus",
    "De Sensi, Bonato, Saam, Hoefler 2024",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED | COLL_NEEDS_POWER_OF_TWO | COLL_NEEDS_FULL_ROWS,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_swing_torus_params, coll_i_prepare_torus),
    coll_i_swing_torus_reduce_scatter_steps, coll_i_swing_torus_reduce_scatter_step,
    coll_i_swing_torus_reduce_scatter_scratch, coll_i_mesh_check);

#endif /* COLL_ALGOS_SWING_TORUS_H */
