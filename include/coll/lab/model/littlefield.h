/* coll/lab/model/littlefield.h — nodes whose links share what the node can move (NBL)
 *
 * T(L) = L α + f(L) β S: L messages of S elements on L links of a node at a time. f(L) = 1 is the
 * standard model, f(L) = L the nominal NBL model. Vector combining is an allreduce of N elements on
 * a mesh of W × H = P nodes, in B = ⌈N/S⌉ blocks of S: tree, snake and fence, of algos/mesh_tree.h,
 * snake.h and fence.h. Steps are in lockstep, and as long as the busiest node is busy.
 *
 * Source: Littlefield 1992, PNL-SA-20425.
 */
#ifndef COLL_LAB_MODEL_LITTLEFIELD_H
#define COLL_LAB_MODEL_LITTLEFIELD_H

#include "hockney.h"

/* An element is a double in the paper. */
typedef struct coll_nbl_costs {
    double alpha_us, beta_us_per_element;
    double f2, f3, f4, f6;    /* f(1) is 1 */
    double c2_us_per_element; /* combining two vectors */
    double c3_us_per_element; /* combining three in one pass */
} coll_nbl_costs;

/* f(L). The paper has no other L than 1, 2, 3, 4 and 6: between them, and beyond 6 in proportion,
 * f is a straight line. */
COLL_INLINE double coll_nbl_f(const coll_nbl_costs *m, unsigned links)
{
    switch (links) {
    case 0:
    case 1:
        return 1;
    case 2:
        return m->f2;
    case 3:
        return m->f3;
    case 4:
        return m->f4;
    case 5:
        return (m->f4 + m->f6) / 2;
    default:
        return m->f6 * links / 6;
    }
}

COLL_TABLE(coll_parameter, coll_i_nbl_parameters, {
    {"alpha", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, alpha_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the start-up of a message"},
    {"beta", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, beta_us_per_element),
     0, COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the transfer of an element on one link"},
    {"f2", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f2), 0, COLL_PARAMETER_ANY, 2,
     "how much slower a link is if two are active"},
    {"f3", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f3), 0, COLL_PARAMETER_ANY, 3,
     "the same of three"},
    {"f4", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f4), 0, COLL_PARAMETER_ANY, 4,
     "of four"},
    {"f6", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f6), 0, COLL_PARAMETER_ANY, 6,
     "of six"},
    {"c2", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, c2_us_per_element), 0,
     COLL_PARAMETER_ANY, 0, "combining two vectors"},
    {"c3", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, c3_us_per_element), 0,
     COLL_PARAMETER_ANY, 0, "combining three vectors in one pass"}});

/* Section 7.2; f of section 4.2, of the standard model, and of the nominal NBL model. */
COLL_CONST(coll_nbl_costs, coll_nbl_delta, {54, 1.54, 1.1, 1.3, 3.9, 5.1, .25, .37});
/* The same machine, as if links shared nothing. */
COLL_CONST(coll_nbl_costs, coll_nbl_delta_standard, {54, 1.54, 1, 1, 1, 1, .25, .37});
/* The same machine, as if f(L) = L. */
COLL_CONST(coll_nbl_costs, coll_nbl_delta_nominal, {54, 1.54, 2, 3, 4, 6, .25, .37});

COLL_TABLE(coll_preset, coll_i_nbl_presets, {
    {"delta", &coll_nbl_delta, "Intel Touchstone DELTA, f fitted to its vector combining"},
    {"delta_standard", &coll_nbl_delta_standard, "the same with f(L) = 1"},
    {"delta_nominal", &coll_nbl_delta_nominal, "the same with f(L) = L"}});

COLL_CONST(coll_model, coll_nbl_model, {
    "nbl",
    "links of a node share what the node can move",
    "Littlefield 1992, section 2",
    sizeof(coll_nbl_costs),
    coll_i_nbl_parameters,
    sizeof coll_i_nbl_parameters / sizeof coll_i_nbl_parameters[0],
    coll_i_nbl_presets,
    sizeof coll_i_nbl_presets / sizeof coll_i_nbl_presets[0]});

/* ---- steps of the pipelines -------------------------------------------------------------- */

/* So many steps in which the busiest node has `links` active links, and combines S elements. */
typedef struct coll_nbl_phase {
    double steps;
    unsigned links;
    double combine_us_per_element; /* 0: it does not combine */
} coll_nbl_phase;

enum { COLL_NBL_PHASES = 9 }; /* at most */

COLL_INLINE void coll_i_nbl_phase(coll_nbl_phase *phases, size_t *n, double steps,
                                  unsigned links, double combine_us_per_element)
{
    phases[*n].steps = steps;
    phases[*n].links = links;
    phases[*n].combine_us_per_element = combine_us_per_element;
    (*n)++;
}

/* Section 7.1: snake through P ≥ 2 nodes in B ≥ 3 blocks. Returns the number of phases. With two
 * nodes there are never more than two links. */
COLL_INLINE size_t coll_nbl_snake_phases(const coll_nbl_costs *m, uint32_t P, double B,
                                         coll_nbl_phase phases[COLL_NBL_PHASES])
{
    const double c2 = m->c2_us_per_element;
    size_t n = 0;
    coll_i_nbl_phase(phases, &n, 1, 1, c2);
    if (P == 2) {
        coll_i_nbl_phase(phases, &n, B - 1, 2, c2);
    } else {
        coll_i_nbl_phase(phases, &n, P - 2.0, 2, c2);
        coll_i_nbl_phase(phases, &n, 1, 3, c2);
        coll_i_nbl_phase(phases, &n, B - 3, 4, c2);
        coll_i_nbl_phase(phases, &n, 1, 3, c2);
        coll_i_nbl_phase(phases, &n, P - 2.0, 2, 0);
    }
    coll_i_nbl_phase(phases, &n, 1, 1, 0);
    return n;
}

/* Section 7.1: fence on W × H nodes, W ≥ 2, H ≥ 2, in B ≥ 3 blocks. In two columns no node has more
 * than four links. Where steps are not in lockstep, as simulated, one of the steps of the most
 * links has one link less, as the column beside the root is a block ahead of the row; and one
 * combination by two is hidden, as the root's last is (tests/lab/sim/models.c). */
COLL_INLINE size_t coll_nbl_fence_phases(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                         double B, coll_nbl_phase phases[COLL_NBL_PHASES])
{
    const double c2 = m->c2_us_per_element, c3 = m->c3_us_per_element;
    size_t n = 0;
    coll_i_nbl_phase(phases, &n, 1, 1, c2);
    coll_i_nbl_phase(phases, &n, H - 1.0, 2, c2);
    coll_i_nbl_phase(phases, &n, W - 2.0, 3, c3);
    coll_i_nbl_phase(phases, &n, 1, 4, c3);
    coll_i_nbl_phase(phases, &n, B - 3, W == 2 ? 4 : 6, c3);
    coll_i_nbl_phase(phases, &n, 1, 4, c3);
    coll_i_nbl_phase(phases, &n, W - 2.0, 3, 0);
    coll_i_nbl_phase(phases, &n, H - 1.0, 2, 0);
    coll_i_nbl_phase(phases, &n, 1, 1, 0);
    return n;
}

/* ---- times ------------------------------------------------------------------------------- */

/* Section 2: L messages of S elements at a time, L α + f(L) β S. */
COLL_INLINE double coll_nbl_message_us(const coll_nbl_costs *m, unsigned links, double S)
{
    return links * m->alpha_us + coll_nbl_f(m, links) * m->beta_us_per_element * S;
}

/* The sum over phases: steps · (L α + f(L) β S + c S). The appendix prints L (α + f(L) β S) in each
 * line, which is neither section 2 nor what its block sizes follow from. */
COLL_INLINE double coll_nbl_phases_us(const coll_nbl_costs *m, const coll_nbl_phase *phases,
                                      size_t n, double S)
{
    double us = 0;
    for (size_t i = 0; i < n; i++)
        us += phases[i].steps * (coll_nbl_message_us(m, phases[i].links, S) +
                                 phases[i].combine_us_per_element * S);
    return us;
}

/* Section 7.1: (log2 W + log2 H)(2 (α + f(1) β N) + c2 N), where W and H are powers of two; else
 * logarithms are rounded up. */
COLL_INLINE double coll_nbl_tree_us(const coll_nbl_costs *m, uint32_t W, uint32_t H, double N)
{
    return (coll_log_ceil(2, W) + coll_log_ceil(2, H)) *
           (2 * coll_nbl_message_us(m, 1, N) + m->c2_us_per_element * N);
}

/* Snake of N elements in B = ⌈N/S⌉ blocks of S; infinite unless P ≥ 2 and B ≥ 3. */
COLL_INLINE double coll_nbl_snake_us(const coll_nbl_costs *m, uint32_t P, double N, double S)
{
    coll_nbl_phase phases[COLL_NBL_PHASES];
    const double B = ceil(N / S);
    if (P < 2 || B < 3)
        return HUGE_VAL;
    return coll_nbl_phases_us(m, phases, coll_nbl_snake_phases(m, P, B, phases), S);
}

/* Fence of N elements in B = ⌈N/S⌉ blocks of S; infinite unless W ≥ 2, H ≥ 2 and B ≥ 3. */
COLL_INLINE double coll_nbl_fence_us(const coll_nbl_costs *m, uint32_t W, uint32_t H, double N,
                                     double S)
{
    coll_nbl_phase phases[COLL_NBL_PHASES];
    const double B = ceil(N / S);
    if (W < 2 || H < 2 || B < 3)
        return HUGE_VAL;
    return coll_nbl_phases_us(m, phases, coll_nbl_fence_phases(m, W, H, B, phases), S);
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Where dT/dS = 0 with B = N/S not rounded, P ≥ 3:
 * √(4 N α / [(P−2)(c2 + 2 β f(2)) + 2 β f(1) + 2 β f(3) − 3 β f(4)]).
 * The appendix prints it without the factor 4 and without 2 β f(1). */
COLL_INLINE double coll_nbl_snake_block(const coll_nbl_costs *m, uint32_t P, double N)
{
    const double b = m->beta_us_per_element;
    const double below = (P - 2.0) * (m->c2_us_per_element + 2 * b * m->f2) + 2 * b +
                         2 * b * m->f3 - 3 * b * m->f4;
    return sqrt(4 * N * m->alpha_us / below);
}

/* The same, W ≥ 3, as printed (equation 1): √(6 N α / [H (c2 + 2 β f(2)) + W (c3 + 2 β f(3)) − 3 c3
 * + β (2 f(1) − 2 f(2) − 4 f(3) + 2 f(4) − 3 f(6))]). */
COLL_INLINE double coll_nbl_fence_block(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                        double N)
{
    const double b = m->beta_us_per_element;
    const double below = H * (m->c2_us_per_element + 2 * b * m->f2) +
                         W * (m->c3_us_per_element + 2 * b * m->f3) - 3 * m->c3_us_per_element +
                         b * (2 - 2 * m->f2 - 4 * m->f3 + 2 * m->f4 - 3 * m->f6);
    return sqrt(6 * N * m->alpha_us / below);
}

/* The time of snake (H = 0, W = P) or fence. */
COLL_INLINE double coll_i_nbl_pipeline_us(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                          double N, double S)
{
    return H == 0 ? coll_nbl_snake_us(m, W, N, S) : coll_nbl_fence_us(m, W, H, N, S);
}

/* The whole block that makes it fastest; 0: there are fewer than three elements. With B blocks the
 * smallest ⌈N/B⌉ is the best, so O(√N) sizes are tried. */
COLL_INLINE uint64_t coll_i_nbl_best_block(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                           uint64_t N)
{
    uint64_t best = 0;
    double least = HUGE_VAL;
    for (uint64_t i = 1; i <= N; i = i * i < N ? i + 1 : N + 1) {
        const uint64_t sizes[2] = {i, (N + i - 1) / i};
        for (unsigned k = 0; k < 2; k++) {
            const double us = coll_i_nbl_pipeline_us(m, W, H, (double)N, (double)sizes[k]);
            if (us < least) {
                least = us;
                best = sizes[k];
            }
        }
    }
    return best;
}

/* Elements of the block with which a snake is the fastest. */
COLL_INLINE uint64_t coll_nbl_snake_best_block(const coll_nbl_costs *m, uint32_t P, uint64_t N)
{
    return coll_i_nbl_best_block(m, P, 0, N);
}

/* Elements of the block with which a fence is the fastest. */
COLL_INLINE uint64_t coll_nbl_fence_best_block(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                               uint64_t N)
{
    return coll_i_nbl_best_block(m, W, H, N);
}

/* ---- regimes ----------------------------------------------------------------------------- */

/* The algorithms of the report. */
typedef enum coll_nbl_algorithm {
    COLL_NBL_TREE,
    COLL_NBL_SNAKE,
    COLL_NBL_FENCE
} coll_nbl_algorithm;

/* The fastest algorithm, and what it takes. */
typedef struct coll_nbl_choice {
    coll_nbl_algorithm algorithm;
    uint64_t block; /* elements: the best one; of tree, all */
    double us;      /* microseconds */
} coll_nbl_choice;

/* The fastest of the three over N elements on a mesh: a point of figure 5. */
COLL_INLINE coll_nbl_choice coll_nbl_fastest(const coll_nbl_costs *m, uint32_t W, uint32_t H,
                                             uint64_t N)
{
    const uint64_t snake = coll_nbl_snake_best_block(m, W * H, N);
    const uint64_t fence = coll_nbl_fence_best_block(m, W, H, N);
    coll_nbl_choice best;
    best.algorithm = COLL_NBL_TREE;
    best.block = N;
    best.us = coll_nbl_tree_us(m, W, H, (double)N);
    if (snake > 0 && coll_nbl_snake_us(m, W * H, (double)N, (double)snake) < best.us) {
        best.algorithm = COLL_NBL_SNAKE;
        best.block = snake;
        best.us = coll_nbl_snake_us(m, W * H, (double)N, (double)snake);
    }
    if (fence > 0 && coll_nbl_fence_us(m, W, H, (double)N, (double)fence) < best.us) {
        best.algorithm = COLL_NBL_FENCE;
        best.block = fence;
        best.us = coll_nbl_fence_us(m, W, H, (double)N, (double)fence);
    }
    return best;
}

#endif /* COLL_LAB_MODEL_LITTLEFIELD_H */
