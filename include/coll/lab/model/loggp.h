/* coll/lab/model/loggp.h — LogGP(S): latency, overhead and gap of a message, and what a byte adds
 *
 * The letters are those of the papers. A message of s bytes costs its sender and its receiver o +
 * (s−1) O, occupies their NICs for g + (s−1) G, and is at its receiver o + L after it was sent.
 * Combining costs nothing in these formulas, as in LogGOPSim, whose numbers they give to the
 * nanosecond; messages are eager (s ≤ S) and of at least a byte.
 *
 * Source: Culler et al. 1993; Alexandrov et al. 1995; Hoefler, Schneider, Lumsdaine 2010.
 */
#ifndef COLL_LAB_MODEL_LOGGP_H
#define COLL_LAB_MODEL_LOGGP_H

#include "hockney.h"

/* The letters of the papers, with their units. */
typedef struct coll_loggp_costs {
    double L_ns, o_ns, g_ns, G_ns_per_byte, O_ns_per_byte;
    double S_bytes;       /* longer messages wait for their receiver */
    double c_ns_per_byte; /* combining a byte with another one */
} coll_loggp_costs;

COLL_TABLE(coll_parameter, coll_i_loggp_parameters, {
    {"L", "ns", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, L_ns), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the latency of the network"},
    {"o", "ns", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, o_ns), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the time a processor spends on a message"},
    {"g", "ns", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, g_ns), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the time between messages of one NIC"},
    {"G", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, G_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED,
     "the time of a NIC for each byte after the first"},
    {"O", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, O_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "the time of a processor for each byte after the first"},
    {"S", "bytes", COLL_PARAMETER_WHOLE, offsetof(coll_loggp_costs, S_bytes), 0, 1e18, 1e18,
     "the longest message that does not wait for its receiver"},
    {"c", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_loggp_costs, c_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "combining a byte with another one"}});

/* What LogGOPSim assumes if it is told nothing. */
COLL_CONST(coll_loggp_costs, coll_loggp_loggopsim, {2500, 1500, 1000, 6, 0, 65535, 0});

COLL_TABLE(coll_preset, coll_i_loggp_presets, {
    {"loggopsim", &coll_loggp_loggopsim, "what LogGOPSim assumes if it is told nothing"}});

COLL_CONST(coll_model, coll_loggp_model, {
    "loggp",
    "latency, overhead and gap of a message, and what a byte adds",
    "Alexandrov et al. 1995; Hoefler, Schneider, Lumsdaine 2010",
    sizeof(coll_loggp_costs),
    coll_i_loggp_parameters,
    sizeof coll_i_loggp_parameters / sizeof coll_i_loggp_parameters[0],
    coll_i_loggp_presets,
    sizeof coll_i_loggp_presets / sizeof coll_i_loggp_presets[0]});

/* ---- formulas ---------------------------------------------------------------------------- */

/* From the sender's start to the receiver's end: 2 o + L + max(O, G)(s − 1). */
COLL_INLINE double coll_loggp_message_ns(const coll_loggp_costs *m, double bytes)
{
    const double each =
        m->O_ns_per_byte > m->G_ns_per_byte ? m->O_ns_per_byte : m->G_ns_per_byte;
    return 2 * m->o_ns + m->L_ns + each * (bytes - 1);
}

/* Between the starts of two messages of one sender: the longer one of NIC and processor. */
COLL_INLINE double coll_loggp_gap_ns(const coll_loggp_costs *m, double bytes)
{
    const double nic = m->g_ns + m->G_ns_per_byte * (bytes - 1);
    const double processor = m->o_ns + m->O_ns_per_byte * (bytes - 1);
    return nic > processor ? nic : processor;
}

/* Broadcast or reduction over a binomial tree, barrier or allgather-like dissemination of s bytes
 * a message, P = 2^k: with messages H long and a gap h apart, k H if H ≥ h, and else (k − 1) h + H.
 * Other P: the tree of the next power of two. */
COLL_INLINE double coll_loggp_binomial_ns(const coll_loggp_costs *m, uint32_t P, double bytes)
{
    const double H = coll_loggp_message_ns(m, bytes), h = coll_loggp_gap_ns(m, bytes);
    const uint32_t k = coll_log_ceil(2, P);
    if (k == 0)
        return 0;
    return H >= h ? k * H : (k - 1) * h + H;
}

/* Allreduce by recursive halving and doubling, P = 2^k, n bytes, O = 0 and no gaps that bind:
 * 2 Σ_{i=1…k} (2 o + L + G (n/2^i − 1)). */
COLL_INLINE double coll_loggp_halving_doubling_ns(const coll_loggp_costs *m, uint32_t P,
                                                  double bytes)
{
    double sum = 0;
    for (uint32_t k = coll_log_ceil(2, P); k > 0; k--) {
        bytes /= 2;
        sum += 2 * coll_loggp_message_ns(m, bytes);
    }
    return sum;
}

/* Allreduce in a ring, P divides n: 2 (P − 1)(2 o + L + G (n/P − 1)). */
COLL_INLINE double coll_loggp_ring_allreduce_ns(const coll_loggp_costs *m, uint32_t P,
                                                double bytes)
{
    return 2 * (P - 1.0) * coll_loggp_message_ns(m, bytes / P);
}

#endif /* COLL_LAB_MODEL_LOGGP_H */
