/* coll/model/moody.h — reductions whose root receives and combines one message after the other
 *
 * L is the latency of a message, r what its reception costs, c what combining its elements costs,
 * C the start-up of the whole operation. A LogP whose gap is r + c, and whose overhead at the
 * sender is hidden in L.
 *
 * Source: Moody 2003, NIC-based reduction on large-scale Quadrics clusters, chapter 4.
 */
#ifndef COLL_MODEL_MOODY_H
#define COLL_MODEL_MOODY_H

#include "parameters.h"

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

static const coll_parameter coll_i_moody_parameters[] = {
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
     COLL_PARAMETER_ANY, 0, "of eight (0: 2 c4)"}};

/* Tables 4.2 and 4.3: Elan3 and Pentium III at 1 GHz. */
static const coll_moody_costs coll_moody_host_i32_max = {2.90, .42, 2.70, .03, .03, .07, .13};
static const coll_moody_costs coll_moody_host_i32_add = {2.90, .42, 2.70, .02, .03, .06, .13};
static const coll_moody_costs coll_moody_host_f64_max = {2.90, .42, 2.70, .04, .07, .14, .28};
static const coll_moody_costs coll_moody_host_f64_add = {2.90, .42, 2.70, .02, .06, .12, .16};
static const coll_moody_costs coll_moody_nic_i32_max = {2.10, .42, 9.20, .27, .46, .84, 1.60};
static const coll_moody_costs coll_moody_nic_i32_add = {2.10, .42, 9.20, .25, .44, .76, 1.44};
static const coll_moody_costs coll_moody_nic_f64_max = {2.10, .42, 9.20, .67, 1.27, 2.44, 4.80};
static const coll_moody_costs coll_moody_nic_f64_add = {2.10, .42,  9.20, 1.50,
                                                        2.95, 5.80, 11.56};

static const coll_preset coll_i_moody_presets[] = {
    {"host_i32_max", &coll_moody_host_i32_max, "maximum of 32-bit integers by the host"},
    {"host_i32_add", &coll_moody_host_i32_add, "sum of 32-bit integers by the host"},
    {"host_f64_max", &coll_moody_host_f64_max, "maximum of doubles by the host"},
    {"host_f64_add", &coll_moody_host_f64_add, "sum of doubles by the host"},
    {"nic_i32_max", &coll_moody_nic_i32_max, "maximum of 32-bit integers by the NIC"},
    {"nic_i32_add", &coll_moody_nic_i32_add, "sum of 32-bit integers by the NIC"},
    {"nic_f64_max", &coll_moody_nic_f64_max, "maximum of doubles by the NIC"},
    {"nic_f64_add", &coll_moody_nic_f64_add, "sum of doubles by the NIC"}};

static const coll_model coll_moody_model = {
    "moody",
    "a parent receives and combines its children's messages one after the other",
    "Moody 2003, section 4.1",
    sizeof(coll_moody_costs),
    coll_i_moody_parameters,
    sizeof coll_i_moody_parameters / sizeof coll_i_moody_parameters[0],
    coll_i_moody_presets,
    sizeof coll_i_moody_presets / sizeof coll_i_moody_presets[0]};

#endif /* COLL_MODEL_MOODY_H */
