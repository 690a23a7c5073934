/* coll/model/loggp.h — LogGP(S): latency, overhead and gap of a message, and what a byte adds
 *
 * The letters are those of the papers, and of LogGOPSim, whose numbers the formulas give exactly.
 *
 * Source: Culler et al. 1993; Alexandrov et al. 1995; Hoefler, Schneider, Lumsdaine 2010.
 */
#ifndef COLL_MODEL_LOGGP_H
#define COLL_MODEL_LOGGP_H

#include "parameters.h"

typedef struct coll_loggp_costs {
    double L_ns, o_ns, g_ns, G_ns_per_byte, O_ns_per_byte;
    double S_bytes;       /* longer messages wait for their receiver */
    double c_ns_per_byte; /* combining a byte with another one */
} coll_loggp_costs;

static const coll_parameter coll_i_loggp_parameters[] = {
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
     COLL_PARAMETER_ANY, 0, "combining a byte with another one"}};

static const coll_loggp_costs coll_loggp_loggopsim = {2500, 1500, 1000, 6, 0, 65535, 0};

static const coll_preset coll_i_loggp_presets[] = {
    {"loggopsim", &coll_loggp_loggopsim, "what LogGOPSim assumes if it is told nothing"}};

static const coll_model coll_loggp_model = {
    "loggp",
    "latency, overhead and gap of a message, and what a byte adds",
    "Alexandrov et al. 1995; Hoefler, Schneider, Lumsdaine 2010",
    sizeof(coll_loggp_costs),
    coll_i_loggp_parameters,
    sizeof coll_i_loggp_parameters / sizeof coll_i_loggp_parameters[0],
    coll_i_loggp_presets,
    sizeof coll_i_loggp_presets / sizeof coll_i_loggp_presets[0]};

#endif /* COLL_MODEL_LOGGP_H */
