/* coll/lab/model/shm_model.h — copies through the memory of a node, which its ranks share
 *
 * A copy of m bytes takes a + b m; all copies of a node together move a byte in `node` at best. A
 * notification is seen `sync` later. lab/sim/shm_costs.h simulates it.
 *
 * Source: Bayatpour et al. 2017, sections 3, 5; Wu 2005, section 2.4.
 */
#ifndef COLL_LAB_MODEL_SHM_MODEL_H
#define COLL_LAB_MODEL_SHM_MODEL_H

#include "parameters.h"

/* What copies through the memory of a node take. */
typedef struct coll_shm_costs {
    double a_us, b_ns_per_byte, node_ns_per_byte, sync_us;
    double c_ns_per_byte;                     /* COLL_SHM_AS_BETWEEN: not given */
    double a_fabric_us, b_fabric_ns_per_byte; /* a_fabric 0: the network reduces nothing */
    double once_bytes;                        /* 0: all messages are copied twice */
    double c_once_ns_per_byte;                /* COLL_SHM_AS_BETWEEN: not given */
} coll_shm_costs;

/* The cost of combining that is not given. */
#define COLL_SHM_AS_BETWEEN 1e299

COLL_TABLE(coll_parameter, coll_i_shm_parameters, {
    {"a", "us", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, a_us), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "the start-up of a copy"},
    {"b", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, b_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "copying a byte"},
    {"node", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, node_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "a byte of all copies of a node together"},
    {"sync", "us", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, sync_us), 0,
     COLL_PARAMETER_ANY, 0, "the time until a notification is seen"},
    {"c", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, c_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_SHM_AS_BETWEEN,
     "combining a byte; if it is not given, what the model says"},
    {"a_fabric", "us", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, a_fabric_us), 0,
     COLL_PARAMETER_ANY, 0, "the start-up of a reduction by the network (0: there is none)"},
    {"b_fabric", "ns/byte", COLL_PARAMETER_NUMBER,
     offsetof(coll_shm_costs, b_fabric_ns_per_byte), 0, COLL_PARAMETER_ANY, 0,
     "the reduction of a byte by the network"},
    {"once", "bytes", COLL_PARAMETER_WHOLE, offsetof(coll_shm_costs, once_bytes), 0,
     COLL_PARAMETER_ANY, 0, "messages from this size on are copied once (0: none is)"},
    {"c_once", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_shm_costs, c_once_ns_per_byte), 0,
     COLL_PARAMETER_ANY, COLL_SHM_AS_BETWEEN,
     "combining a byte of those as it is copied; if it is not given, c"}});

COLL_CONST(coll_model, coll_shm_model, {
    "shm",
    "copies through the memory of a node, which they share",
    "Bayatpour et al. 2017, section 5",
    sizeof(coll_shm_costs),
    coll_i_shm_parameters,
    sizeof coll_i_shm_parameters / sizeof coll_i_shm_parameters[0],
    NULL,
    0});

#endif /* COLL_LAB_MODEL_SHM_MODEL_H */
