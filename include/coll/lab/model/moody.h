/* coll/lab/model/moody.h — reductions whose root receives and combines one message after the other
 *
 * L is the latency of a message, r what its reception costs, c what combining its elements costs,
 * C the start-up of the whole operation. A LogP whose gap is r + c, and whose overhead at the
 * sender is hidden in L.
 *
 * Source: Moody 2003, NIC-based reduction on large-scale Quadrics clusters, chapter 4.
 */
#ifndef COLL_LAB_MODEL_MOODY_H
#define COLL_LAB_MODEL_MOODY_H

#include "hockney.h"

/* The letters of the thesis: latency, receive, start-up, combining. */
typedef struct coll_moody_costs {
    double L_us, r_us, C_us;
    double c1_us, c2_us, c4_us, c8_us; /* combining messages of 1, 2, 4 and 8 elements */
} coll_moody_costs;

/* c(M), table 4.3: on straight lines between 1, 2, 4 and 8 elements, and beyond 8 along the last
 * one. A value that is 0 is not known: then as much an element as in the message before it. */
COLL_INLINE double coll_moody_c_us(const coll_moody_costs *m, double elements)
{
    const double c2 = m->c2_us > 0 ? m->c2_us : 2 * m->c1_us;
    const double c4 = m->c4_us > 0 ? m->c4_us : 2 * c2;
    const double c8 = m->c8_us > 0 ? m->c8_us : 2 * c4;
    if (elements <= 1)
        return elements * m->c1_us;
    if (elements <= 2)
        return m->c1_us + (elements - 1) * (c2 - m->c1_us);
    if (elements <= 4)
        return c2 + (elements - 2) * (c4 - c2) / 2;
    return c4 + (elements - 4) * (c8 - c4) / 4;
}

COLL_TABLE(coll_parameter, coll_i_moody_parameters, {
    {"L", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, L_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the latency of a message"},
    {"r", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, r_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the reception of a message"},
    {"C", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, C_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the start-up of the reduction"},
    {"c", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, c1_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "combining messages of one element"},
    {"c2", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, c2_us), 0,
     COLL_PARAMETER_ANY, 0, "of two elements (0: 2 c)"},
    {"c4", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, c4_us), 0,
     COLL_PARAMETER_ANY, 0, "of four (0: 2 c2)"},
    {"c8", "us", COLL_PARAMETER_NUMBER, offsetof(coll_moody_costs, c8_us), 0,
     COLL_PARAMETER_ANY, 0, "of eight (0: 2 c4)"}});

/* Tables 4.2 and 4.3: Elan3 and Pentium III at 1 GHz. */
COLL_CONST(coll_moody_costs, coll_moody_host_i32_max, {2.90, .42, 2.70, .03, .03, .07, .13});
/* … hosts, sums of i32. */
COLL_CONST(coll_moody_costs, coll_moody_host_i32_add, {2.90, .42, 2.70, .02, .03, .06, .13});
/* … hosts, maxima of f64. */
COLL_CONST(coll_moody_costs, coll_moody_host_f64_max, {2.90, .42, 2.70, .04, .07, .14, .28});
/* … hosts, sums of f64. */
COLL_CONST(coll_moody_costs, coll_moody_host_f64_add, {2.90, .42, 2.70, .02, .06, .12, .16});
/* … NICs, maxima of i32. */
COLL_CONST(coll_moody_costs, coll_moody_nic_i32_max, {2.10, .42, 9.20, .27, .46, .84, 1.60});
/* … NICs, sums of i32. */
COLL_CONST(coll_moody_costs, coll_moody_nic_i32_add, {2.10, .42, 9.20, .25, .44, .76, 1.44});
/* … NICs, maxima of f64. */
COLL_CONST(coll_moody_costs, coll_moody_nic_f64_max, {2.10, .42, 9.20, .67, 1.27, 2.44, 4.80});
/* … NICs, sums of f64. */
COLL_CONST(coll_moody_costs, coll_moody_nic_f64_add, {
    2.10, .42,  9.20, 1.50,
    2.95, 5.80, 11.56});

COLL_TABLE(coll_preset, coll_i_moody_presets, {
    {"host_i32_max", &coll_moody_host_i32_max, "maximum of 32-bit integers by the host"},
    {"host_i32_add", &coll_moody_host_i32_add, "sum of 32-bit integers by the host"},
    {"host_f64_max", &coll_moody_host_f64_max, "maximum of doubles by the host"},
    {"host_f64_add", &coll_moody_host_f64_add, "sum of doubles by the host"},
    {"nic_i32_max", &coll_moody_nic_i32_max, "maximum of 32-bit integers by the NIC"},
    {"nic_i32_add", &coll_moody_nic_i32_add, "sum of 32-bit integers by the NIC"},
    {"nic_f64_max", &coll_moody_nic_f64_max, "maximum of doubles by the NIC"},
    {"nic_f64_add", &coll_moody_nic_f64_add, "sum of doubles by the NIC"}});

COLL_CONST(coll_model, coll_moody_model, {
    "moody",
    "a parent receives and combines its children's messages one after the other",
    "Moody 2003, section 4.1",
    sizeof(coll_moody_costs),
    coll_i_moody_parameters,
    sizeof coll_i_moody_parameters / sizeof coll_i_moody_parameters[0],
    coll_i_moody_presets,
    sizeof coll_i_moody_presets / sizeof coll_i_moody_presets[0]});

/* ---- formulas: P ≥ 2 nodes, degree f ≥ 2, vectors of M elements -------------------------- */

/* r + c(M): a message at its receiver. */
COLL_INLINE double coll_moody_child_us(const coll_moody_costs *m, double elements)
{
    return m->r_us + coll_moody_c_us(m, elements);
}

/* Section 4.1: all send to the root at once, C + L + (P − 1)(r + c). */
COLL_INLINE double coll_moody_serial_us(const coll_moody_costs *m, uint32_t P, double elements)
{
    return m->C_us + m->L_us + (P - 1.0) * coll_moody_child_us(m, elements);
}

/* Section 4.2.1, full trees: C + [L + (f − 1)(r + c)] log_f P, for any real f > 1. */
COLL_INLINE double coll_moody_full_us(const coll_moody_costs *m, uint32_t P, double f,
                                      double elements)
{
    return m->C_us +
           (m->L_us + (f - 1) * coll_moody_child_us(m, elements)) * log((double)P) / log(f);
}

/* Section 4.2.3, any P: C + L ⌈log_f P⌉ + (r + c)(f − 1)⌊log_f P⌋ + (r + c)⌈P/f^⌊log_f P⌋ − 1⌉. */
COLL_INLINE double coll_moody_fnomial_us(const coll_moody_costs *m, uint32_t P, uint32_t f,
                                         double elements)
{
    const uint32_t full = coll_log_floor(f, P), phases = coll_log_ceil(f, P);
    uint64_t last = P; /* ⌈P / f^full⌉ */
    for (uint32_t i = 0; i < full; i++)
        last = (last + f - 1) / f;
    return m->C_us + m->L_us * phases +
           coll_moody_child_us(m, elements) * ((f - 1.0) * full + (double)(last - 1));
}

/* The degree from 2 to P that makes it fastest; the smallest of several. From some degree on the
 * root's children of the first phase alone take longer than the best so far. */
COLL_INLINE uint32_t coll_moody_best_degree(const coll_moody_costs *m, uint32_t P,
                                            double elements)
{
    const double child = coll_moody_child_us(m, elements);
    uint32_t best = 2;
    double least = coll_moody_fnomial_us(m, P, 2, elements);
    if (!(child > 0))
        return m->L_us > 0 ? P : 2;
    for (uint32_t f = 3; f <= P && m->C_us + m->L_us + (f - 1.0) * child < least; f++) {
        const double us = coll_moody_fnomial_us(m, P, f, elements);
        if (us < least) {
            least = us;
            best = f;
        }
    }
    return best;
}

/* Section 4.2.2: the real f > 1 with f (ln f − 1) = L/(r + c) − 1, the best degree of full trees.
 * The left side grows with f, and is −1 at 1. */
COLL_INLINE double coll_moody_real_degree(const coll_moody_costs *m, double elements)
{
    const double wanted = m->L_us / coll_moody_child_us(m, elements) - 1;
    double low = 1, high = 3;
    while (high * (log(high) - 1) < wanted)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        const double f = low + (high - low) / 2;
        if (f * (log(f) - 1) < wanted)
            low = f;
        else
            high = f;
    }
    return low + (high - low) / 2;
}

/* Section 3.2.4: the vector is halved `splits` times, each time for one message of what is left;
 * trees over P/2^splits nodes reduce the pieces; 2^splits − 1 roots send theirs to the root, which
 * combines nothing any more. The thesis has no formula for it; this one is put together from the
 * costs of section 4.1. */
COLL_INLINE double coll_moody_split_us(const coll_moody_costs *m, uint32_t P, uint32_t f,
                                       double elements, uint32_t splits)
{
    double us = m->C_us, groups = 1;
    for (uint32_t i = 0; i < splits && P > 1; i++) {
        P = (P + 1) / 2;
        elements /= 2;
        groups *= 2;
        us += m->L_us + coll_moody_child_us(m, elements);
    }
    if (P > 1)
        us += coll_moody_fnomial_us(m, P, f, elements) - m->C_us;
    return us + (groups > 1 ? m->L_us + (groups - 1) * m->r_us : 0);
}

/* Is there a node with a parent and children? Rank f + 1 is the first child of such a one. */
COLL_INLINE bool coll_moody_has_intermediate(uint32_t P, uint32_t f)
{
    return P >= (uint64_t)f + 2;
}

/* Section 3.3.2: only nodes with a parent and children use their NICs. Without such nodes that is
 * the host's reduction, and with them half of what host and NIC need to meet is hidden (section
 * 5.2.2, figure 5.2); the thesis has no formula for it. */
COLL_INLINE double coll_moody_hybrid_us(const coll_moody_costs *host,
                                        const coll_moody_costs *nic, uint32_t P, uint32_t f,
                                        double elements)
{
    if (!coll_moody_has_intermediate(P, f))
        return coll_moody_fnomial_us(host, P, f, elements);
    return coll_moody_fnomial_us(nic, P, f, elements) - (nic->C_us - host->C_us) / 2;
}

/* A reduction that the NIC has its host do: c of the host, and to ask it and to be told, which is what the start-up of a
 * NIC's reduction has more than that of a host's. */
COLL_INLINE double coll_moody_asked_us(const coll_moody_costs *host,
                                       const coll_moody_costs *nic, double elements)
{
    const double more = nic->C_us - host->C_us;
    return coll_moody_c_us(host, elements) + (more > 0 ? more : 0);
}

/* Does a NIC take longer to reduce so many elements than to have its host do it? */
COLL_INLINE bool coll_moody_host_reduces(const coll_moody_costs *host,
                                         const coll_moody_costs *nic, double elements)
{
    return coll_moody_asked_us(host, nic, elements) < coll_moody_c_us(nic, elements);
}

/* The fewest elements, up to `most`, that the host reduces; 0: the NIC reduces all. */
COLL_INLINE uint32_t coll_moody_host_elements(const coll_moody_costs *host,
                                              const coll_moody_costs *nic, uint32_t most)
{
    uint32_t elements = 1;
    while (elements <= most && !coll_moody_host_reduces(host, nic, elements))
        elements++;
    return elements <= most ? elements : 0;
}

/* The NIC's tree where each reduction is done where that is faster (nic/nic_place.h): where the host does it, the NIC
 * receives meanwhile, so that of a phase only the first message's r is seen. The thesis leaves it to
 * future work (6.2) and has no formula. */
COLL_INLINE double coll_moody_placed_us(const coll_moody_costs *host,
                                        const coll_moody_costs *nic, uint32_t P, uint32_t f,
                                        double elements)
{
    const uint32_t full = coll_log_floor(f, P), phases = coll_log_ceil(f, P);
    const double asked = coll_moody_asked_us(host, nic, elements);
    const double each = asked > nic->r_us ? asked : nic->r_us;
    uint64_t last = P; /* ⌈P / f^full⌉ */
    double us;
    if (!coll_moody_host_reduces(host, nic, elements))
        return coll_moody_fnomial_us(nic, P, f, elements);
    for (uint32_t i = 0; i < full; i++)
        last = (last + f - 1) / f;
    us = nic->C_us + nic->L_us * phases + full * (nic->r_us + asked + (f - 2.0) * each);
    return last > 1 ? us + nic->r_us + asked + (double)(last - 2) * each : us;
}

/* Section 5.3.1: the c of a NIC below which its trees grow less with every phase than the host's:
 * c_host + (L_host − L_nic + (f − 1)(r_host − r_nic)) / (f − 1). 0.80 us there, with c_host = 0. */
COLL_INLINE double coll_moody_crossing_c_us(const coll_moody_costs *host,
                                            const coll_moody_costs *nic, uint32_t f,
                                            double elements)
{
    return coll_moody_child_us(host, elements) - nic->r_us +
           (host->L_us - nic->L_us) / (f - 1.0);
}

/* The fewest nodes, from 2 to `most`, from which on the NIC's tree is always the faster one; 0: it
 * is slower at `most`. */
COLL_INLINE uint32_t coll_moody_crossing_nodes(const coll_moody_costs *host,
                                               const coll_moody_costs *nic, uint32_t f,
                                               double elements, uint32_t most)
{
    uint32_t P = most;
    while (P >= 2 && coll_moody_fnomial_us(nic, P, f, elements) <
                         coll_moody_fnomial_us(host, P, f, elements))
        P--;
    return P == most ? 0 : P + 1;
}

#endif /* COLL_LAB_MODEL_MOODY_H */
