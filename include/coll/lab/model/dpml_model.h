/* coll/lab/model/dpml_model.h — allreduce by l leaders a node, each of a part of the vector
 *
 * h nodes of ppn processes, l ≤ ppn leaders a node, vectors of n bytes. a, b: start-up and byte of
 * a message between nodes; a', b' (a_shm, b_shm): of a copy through shared memory; c: combining a
 * byte.
 *
 * The formulas of the paper let any number of leaders send at full speed; its figure 1 shows what
 * limits them. `gap` is the time of a NIC for a message (zone A: so many messages a second) and
 * `wire` that for a byte (zone C: so many bytes a second, whoever sends them). With both 0 the
 * formulas are the paper's.
 *
 * Source: Bayatpour et al. 2017, section 5, doi:10.1145/3126908.3126954
 */
#ifndef COLL_LAB_MODEL_DPML_MODEL_H
#define COLL_LAB_MODEL_DPML_MODEL_H

#include "hockney.h"

/* The costs of section 5: between nodes, and in shared memory (shm). */
typedef struct coll_dpml_costs {
    double a_us, b_ns_per_byte, a_shm_us, b_shm_ns_per_byte, c_ns_per_byte;
    double gap_us, wire_ns_per_byte;
    double a_fabric_us, b_fabric_ns_per_byte; /* of a reduction by the network */
} coll_dpml_costs;

COLL_TABLE(coll_parameter, coll_i_dpml_parameters, {
    {"a", "us", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, a_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the start-up of a message between nodes"},
    {"b", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, b_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the transfer of a byte by one process"},
    {"a_shm", "us", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, a_shm_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the start-up of a copy through shared memory"},
    {"b_shm", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, b_shm_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "copying a byte"},
    {"c", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, c_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "combining a byte with another one"},
    {"gap", "us", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, gap_us), 0,
     COLL_PARAMETER_ANY, 0, "the time of a NIC for a message"},
    {"wire", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, wire_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "the time of a NIC for a byte"},
    {"a_fabric", "us", COLL_PARAMETER_NUMBER, offsetof(coll_dpml_costs, a_fabric_us), 0,
     COLL_PARAMETER_ANY, 0, "the start-up of a reduction by the network"},
    {"b_fabric", "ns/byte", COLL_PARAMETER_NUMBER,
     offsetof(coll_dpml_costs, b_fabric_ns_per_byte), 0, COLL_PARAMETER_ANY, 0,
     "the reduction of a byte by the network"}});

/* The paper prints no values. These are ours: chosen of the size of such machines, so that the
 * formulas show what figures 1 and 4 to 8 show. On InfiniBand processes do not get into each
 * other's way; on Omni-Path one process fills the wire with long messages. */
COLL_CONST(coll_dpml_costs, coll_dpml_infiniband, {1.3, .1, .5, .29, .09, 0, 0, 2.1, 2.2});
/* Xeon and Omni-Path, likewise. */
COLL_CONST(coll_dpml_costs, coll_dpml_omni_path, {1.5, .1, .17, .25, .15, .01, .1, 0, 0});
/* Many slow cores on Omni-Path, likewise. */
COLL_CONST(coll_dpml_costs, coll_dpml_knl_omni_path, {2.5, .15, .3, .4, .25, .01, .1, 0, 0});

COLL_TABLE(coll_preset, coll_i_dpml_presets, {
    {"infiniband", &coll_dpml_infiniband, "like clusters A and B, Xeon and InfiniBand"},
    {"omni_path", &coll_dpml_omni_path, "like cluster C, Xeon and Omni-Path"},
    {"knl_omni_path", &coll_dpml_knl_omni_path, "like cluster D, Xeon Phi and Omni-Path"}});

COLL_CONST(coll_model, coll_dpml_model, {
    "dpml",
    "several leaders a node reduce a part of the vector each",
    "Bayatpour et al. 2017, section 5",
    sizeof(coll_dpml_costs),
    coll_i_dpml_parameters,
    sizeof coll_i_dpml_parameters / sizeof coll_i_dpml_parameters[0],
    coll_i_dpml_presets,
    sizeof coll_i_dpml_presets / sizeof coll_i_dpml_presets[0]});

/* ---- processes of a node that send at once: figure 1 ------------------------------------- */

/* Between two messages of n bytes of each of l processes of a node: what the process, the NIC's
 * message rate and its bandwidth allow. */
COLL_INLINE double coll_dpml_interval_us(const coll_dpml_costs *m, uint32_t l, double n)
{
    const double alone = m->a_us + n * m->b_ns_per_byte / 1000;
    const double rate = l * m->gap_us, bandwidth = l * n * m->wire_ns_per_byte / 1000;
    const double nic = rate > bandwidth ? rate : bandwidth;
    return alone > nic ? alone : nic;
}

/* How much more l pairs of processes move than one. */
COLL_INLINE double coll_dpml_relative_throughput(const coll_dpml_costs *m, uint32_t l, double n)
{
    return l * coll_dpml_interval_us(m, 1, n) / coll_dpml_interval_us(m, l, n);
}

/* Section 4.2. In zone A l > 1 pairs move nearly l times as much as one, in C hardly more; B lies
 * between. */
COLL_INLINE char coll_dpml_zone(const coll_dpml_costs *m, uint32_t l, double n)
{
    const double more = (coll_dpml_relative_throughput(m, l, n) - 1) / (l - 1.0);
    return more >= .9 ? 'A' : more <= .1 ? 'C' : 'B';
}

/* ---- phases ------------------------------------------------------------------------------ */

/* Equations 2 and 6, copying in, and out: l (a' + b' n/l). */
COLL_INLINE double coll_dpml_copy_us(const coll_dpml_costs *m, uint32_t l, double n)
{
    return l * (m->a_shm_us + n / l * m->b_shm_ns_per_byte / 1000);
}

/* Equation 3, what lies in shared memory is combined: (ppn − 1)(n/l) c. The paper prints
 * (p/(h l) − 1) n c; but its text has ppn − 1 reductions of n/l bytes. */
COLL_INLINE double coll_dpml_compute_us(const coll_dpml_costs *m, uint32_t ppn, uint32_t l,
                                        double n)
{
    return (ppn - 1.0) * (n / l) * m->c_ns_per_byte / 1000;
}

/* Equation 4, recursive doubling between nodes: ⌈lg h⌉ (a + n b/l + n c/l). In k pieces, equation
 * 5: ⌈lg h⌉ (a k + n b/l + n c/l). */
COLL_INLINE double coll_dpml_exchange_us(const coll_dpml_costs *m, uint32_t h, uint32_t l,
                                         double n, uint32_t k)
{
    return coll_log_ceil(2, h) *
           (k * coll_dpml_interval_us(m, l, n / l / k) + n / l * m->c_ns_per_byte / 1000);
}

/* Equation 7: all phases; k is 1 but for dpml_pipelined. */
COLL_INLINE double coll_dpml_us(const coll_dpml_costs *m, uint32_t h, uint32_t ppn, uint32_t l,
                                double n, uint32_t k)
{
    return 2 * coll_dpml_copy_us(m, l, n) + coll_dpml_compute_us(m, ppn, l, n) +
           coll_dpml_exchange_us(m, h, l, n, k);
}

/* Equation 1: recursive doubling of p processes with a node each, ⌈lg p⌉ (a + n b + n c). */
COLL_INLINE double coll_dpml_recursive_doubling_us(const coll_dpml_costs *m, uint64_t p,
                                                   double n)
{
    return coll_log_ceil(2, p) * (m->a_us + n * (m->b_ns_per_byte + m->c_ns_per_byte) / 1000);
}

/* ---- leaders ----------------------------------------------------------------------------- */

/* The number of leaders that makes it fastest, the least of several: of 1 to `most`, or, as the
 * paper tries them, of the powers of two among these. */
COLL_INLINE uint32_t coll_dpml_best_leaders(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                            double n, uint32_t most, bool powers)
{
    uint32_t best = 1;
    double least = coll_dpml_us(m, h, ppn, 1, n, 1);
    for (uint64_t l = 2; l <= most && l <= ppn; l = powers ? 2 * l : l + 1) {
        const double us = coll_dpml_us(m, h, ppn, (uint32_t)l, n, 1);
        if (us < least) {
            least = us;
            best = (uint32_t)l;
        }
    }
    return best;
}

/* Where dT/dl = 0 in equation 7: √(n [(ppn − 1) c + ⌈lg h⌉ (b + c)] / (2 a')). */
COLL_INLINE double coll_dpml_real_leaders(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                          double n)
{
    const double shared = (ppn - 1.0) * m->c_ns_per_byte +
                          coll_log_ceil(2, h) * (m->b_ns_per_byte + m->c_ns_per_byte);
    return sqrt(n * shared / 1000 / (2 * m->a_shm_us));
}

/* ---- reductions by the network ----------------------------------------------------------- */

/* The sockets of a node, and how many times as long copies between them take. They are no costs of
 * the machine, as the simulator does not know them: an action does not say in the memory of which
 * socket the part of SHARED lies that it uses. */
typedef struct coll_dpml_sockets {
    uint32_t n;   /* sockets of a node */
    double cross; /* how many times as long a copy to another socket takes */
} coll_dpml_sockets;

/* Two sockets: ours, as the costs above. */
COLL_CONST(coll_dpml_sockets, coll_dpml_two_sockets, {2, 1.5});

/* Section 4.3: a node's processes copy to its leader, or to that of their socket; it combines
 * them, the network combines those of all leaders, and the result is copied out. With fewer leaders
 * than sockets the slowest copies cross. The paper has no formula; this one is put together from
 * the same phases. */
COLL_INLINE double coll_dpml_fabric_us(const coll_dpml_costs *m, uint32_t ppn,
                                       const coll_dpml_sockets *sockets, uint32_t leaders,
                                       double n)
{
    const uint32_t each = (ppn + leaders - 1) / leaders; /* processes of a leader */
    const double copy = each > 1 ? coll_dpml_copy_us(m, 1, n) : 0;
    return 2 * copy * (leaders < sockets->n ? sockets->cross : 1) +
           coll_dpml_compute_us(m, each, 1, n) + m->a_fabric_us +
           n * m->b_fabric_ns_per_byte / 1000;
}

#endif /* COLL_LAB_MODEL_DPML_MODEL_H */
