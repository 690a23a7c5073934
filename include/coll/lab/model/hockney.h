/* coll/lab/model/hockney.h — a message costs a start-up and so much a byte: T = α + n β
 *
 * Combining costs γ a byte. A rank sends one message and receives one at a time. P ranks, vectors
 * of n bytes; the formulas of section 4 of Thakur et al. are for P that are powers of two, and
 * with rounds rounded up they are the usual estimate for others.
 *
 * Source: Hockney 1994; Thakur, Rabenseifner, Gropp 2005 (TRG), sections 3 and 4; Wu 2005, section
 * 4.2.1; Kumar 2004, slide 3.
 */
#ifndef COLL_LAB_MODEL_HOCKNEY_H
#define COLL_LAB_MODEL_HOCKNEY_H

#include "parameters.h"

#include <math.h>

/* A start-up, so much a byte, so much to combine a byte. */
typedef struct coll_hockney_costs {
    double alpha_us, beta_ns_per_byte, gamma_ns_per_byte;
} coll_hockney_costs;

COLL_TABLE(coll_parameter, coll_i_hockney_parameters, {
    {"alpha", "us", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, alpha_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the start-up of a message"},
    {"beta", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, beta_ns_per_byte),
     0, COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the transfer of a byte"},
    {"gamma", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, gamma_ns_per_byte),
     0, COLL_PARAMETER_ANY, 0, "combining a byte with another one"}});

COLL_CONST(coll_model, coll_hockney_model, {
    "hockney",
    "a message costs a start-up and so much a byte",
    "Hockney 1994",
    sizeof(coll_hockney_costs),
    coll_i_hockney_parameters,
    sizeof coll_i_hockney_parameters /
        sizeof coll_i_hockney_parameters[0],
    NULL,
    0});

/* ---- formulas ---------------------------------------------------------------------------- */

/* ⌈log_f P⌉: the least k with f^k ≥ P; f ≥ 2. */
COLL_INLINE uint32_t coll_log_ceil(uint32_t f, uint64_t P)
{
    uint32_t k = 0;
    for (uint64_t rest = P > 0 ? P - 1 : 0; rest > 0; rest /= f)
        k++;
    return k;
}

/* ⌊log_f P⌋: the most k with f^k ≤ P; f ≥ 2, P ≥ 1. */
COLL_INLINE uint32_t coll_log_floor(uint32_t f, uint64_t P)
{
    uint32_t k = 0;
    for (; P >= f; P /= f)
        k++;
    return k;
}

/* α + n β. */
COLL_INLINE double coll_hockney_message_us(const coll_hockney_costs *m, double bytes)
{
    return m->alpha_us + bytes * m->beta_ns_per_byte / 1000;
}

/* Broadcast by the root itself: Wu 4.2.1. */
COLL_INLINE double coll_hockney_flat_us(const coll_hockney_costs *m, uint32_t P, double bytes)
{
    return (P - 1.0) * coll_hockney_message_us(m, bytes);
}

/* Broadcast down a binomial tree: Wu 4.2.1. */
COLL_INLINE double coll_hockney_binomial_us(const coll_hockney_costs *m, uint32_t P,
                                            double bytes)
{
    return coll_log_ceil(2, P) * coll_hockney_message_us(m, bytes);
}

/* Broadcast by scatter and allgather in a ring, TRG 4.2: (lg P + P − 1) α + 2 (P−1)/P n β. */
COLL_INLINE double coll_hockney_scatter_ring_us(const coll_hockney_costs *m, uint32_t P,
                                                double bytes)
{
    return (coll_log_ceil(2, P) + P - 1.0) * m->alpha_us +
           2 * (P - 1.0) / P * bytes * m->beta_ns_per_byte / 1000;
}

/* Broadcast down a chain in segments of s bytes: (P − 2 + ⌈n/s⌉)(α + s β), P ≥ 2. */
COLL_INLINE double coll_hockney_chain_us(const coll_hockney_costs *m, uint32_t P, double bytes,
                                         double segment)
{
    return (P - 2.0 + ceil(bytes / segment)) * coll_hockney_message_us(m, segment);
}

/* The segment that makes it fastest, d/ds = 0 with n/s not rounded: √(n α / ((P − 2) β)). */
COLL_INLINE double coll_hockney_chain_segment_bytes(const coll_hockney_costs *m, uint32_t P,
                                                    double bytes)
{
    const double best = sqrt(bytes * m->alpha_us / ((P - 2.0) * m->beta_ns_per_byte / 1000));
    return best < bytes ? best : bytes;
}

/* Allgather of n bytes in all by dissemination (Bruck): TRG 4.1, ⌈lg P⌉ α + (P−1)/P n β. */
COLL_INLINE double coll_hockney_bruck_us(const coll_hockney_costs *m, uint32_t P, double bytes)
{
    return coll_log_ceil(2, P) * m->alpha_us +
           (P - 1.0) / P * bytes * m->beta_ns_per_byte / 1000;
}

/* Allgather of n bytes in all in a ring: TRG 4.1, (P − 1) α + (P−1)/P n β. */
COLL_INLINE double coll_hockney_ring_us(const coll_hockney_costs *m, uint32_t P, double bytes)
{
    return (P - 1.0) * m->alpha_us + (P - 1.0) / P * bytes * m->beta_ns_per_byte / 1000;
}

/* Allreduce by recursive doubling: TRG 4.5, lg P (α + n β + n γ); Bayatpour 2017, equation 1. */
COLL_INLINE double coll_hockney_recursive_doubling_us(const coll_hockney_costs *m, uint32_t P,
                                                      double bytes)
{
    return coll_log_ceil(2, P) *
           (coll_hockney_message_us(m, bytes) + bytes * m->gamma_ns_per_byte / 1000);
}

/* Allreduce by recursive halving and doubling: TRG 4.5, 2 lg P α + (P−1)/P n (2 β + γ). */
COLL_INLINE double coll_hockney_rabenseifner_us(const coll_hockney_costs *m, uint32_t P,
                                                double bytes)
{
    return 2 * coll_log_ceil(2, P) * m->alpha_us +
           (P - 1.0) / P * bytes * (2 * m->beta_ns_per_byte + m->gamma_ns_per_byte) / 1000;
}

/* Allreduce in a ring: 2 (P − 1) α + (P−1)/P n (2 β + γ). */
COLL_INLINE double coll_hockney_ring_allreduce_us(const coll_hockney_costs *m, uint32_t P,
                                                  double bytes)
{
    return 2 * (P - 1.0) * m->alpha_us +
           (P - 1.0) / P * bytes * (2 * m->beta_ns_per_byte + m->gamma_ns_per_byte) / 1000;
}

/* Allreduce by permutation groups, with L = ⌈lg P⌉, R ≤ L rounds left out and w = ⌈P/2^(L−R)⌉: as
 * algos/permutation_group.h counts. Round k of L has min(P, w − 1 + ⌊⌈P/2^k⌉/2⌋) blocks of n/P
 * bytes, of which each costs β and γ, the others P − w in all. For P a power of two and small R
 * (2 L − R) α + (2 (P−1) + (L−1)(2^R−1))/P n β + (P−1 + L (2^R−1))/P n γ; of other P, γ is a lower
 * bound. */
COLL_INLINE double coll_hockney_permutation_us(const coll_hockney_costs *m, uint32_t P,
                                               double bytes, uint32_t removed)
{
    const uint32_t L = coll_log_ceil(2, P), R = removed < L ? removed : L;
    const double w = P > 0 ? ((P - 1) >> (L - R)) + 1.0 : 1, block = bytes / P;
    double us = (2.0 * L - R) * m->alpha_us + (P - w) * block * m->beta_ns_per_byte / 1000;
    for (uint32_t k = 0; k < L; k++) {
        const double blocks = w - 1 + floor((((P - 1) >> k) + 1.0) / 2);
        us += (blocks < P ? blocks : P) * block * (m->beta_ns_per_byte + m->gamma_ns_per_byte) /
              1000;
    }
    return us;
}

/* Barrier twice round a ring: (2 P − 1) α. */
COLL_INLINE double coll_hockney_double_ring_us(const coll_hockney_costs *m, uint32_t P)
{
    return (2.0 * P - 1) * m->alpha_us;
}

#endif /* COLL_LAB_MODEL_HOCKNEY_H */
