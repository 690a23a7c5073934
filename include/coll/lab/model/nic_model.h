/* coll/lab/model/nic_model.h — a network adapter with a memory, a processor and a bus to its
 * host, in words: `nic:elan3_f64_add,memory=64KiB`
 *
 * lab/sim/adapter.h simulates it. The costs of the network, of hosts and of links are those of
 * another model; L of that one is then from NIC to NIC, as the ways over the buses are added
 * here.
 *
 * Source: Moody 2003, sections 2.1.1, 3.3 and 4.1; Kumar 2004, slides 16, 19 and 23.
 */
#ifndef COLL_LAB_MODEL_NIC_MODEL_H
#define COLL_LAB_MODEL_NIC_MODEL_H

#include "moody.h"

/* A NIC as its parameters say it. */
typedef struct coll_nic_costs {
    double memory_bytes;
    double bus_us, take_us, down_ns_per_byte, up_ns_per_byte, shared, chunk_bytes; /* the bus */
    double keep, again_us;                   /* the memory */
    double post_us, tell_us;                 /* meetings with the host */
    double r_us, c1_us, c2_us, c4_us, c8_us; /* the processor; c as in moody.h */
} coll_nic_costs;

/* The memory of a NIC that does not say how much it has. */
#define COLL_NIC_MEMORY_ANY 1e18

COLL_TABLE(coll_parameter, coll_i_nic_parameters, {
    {"memory", "bytes", COLL_PARAMETER_WHOLE, offsetof(coll_nic_costs, memory_bytes), 1,
     COLL_NIC_MEMORY_ANY, COLL_NIC_MEMORY_ANY,
     "the NIC's memory for messages, partial results and kept blocks"},
    {"bus", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, bus_us), 0, COLL_PARAMETER_ANY,
     0, "the latency of a crossing between host and NIC"},
    {"take", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, take_us), 0,
     COLL_PARAMETER_ANY, 0, "how long a crossing takes the bus, besides its bytes"},
    {"down", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, down_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "a byte on the bus to the NIC"},
    {"up", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, up_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "a byte on the bus to the host"},
    {"shared", "", COLL_PARAMETER_WHOLE, offsetof(coll_nic_costs, shared), 0, 1, 0,
     "1: both directions take one bus (PCI); 0: each has its own (PCIe)"},
    {"chunk", "bytes", COLL_PARAMETER_WHOLE, offsetof(coll_nic_costs, chunk_bytes), 0, 1e15, 0,
     "what has crossed before a message goes on; 0: all of it"},
    {"keep", "", COLL_PARAMETER_WHOLE, offsetof(coll_nic_costs, keep), 0, 2, 0,
     "blocks that stay in the memory: 0 none; 1 those that were sent; 2 those that came, too"},
    {"again", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, again_us), 0,
     COLL_PARAMETER_ANY, 0, "from when there is room until a message that was refused is there"},
    {"post", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, post_us), 0,
     COLL_PARAMETER_ANY, 0, "what a NIC needs to begin once its host's words have crossed"},
    {"tell", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, tell_us), 0,
     COLL_PARAMETER_ANY, 0, "what a host needs to notice what has crossed"},
    {"r", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, r_us), 0, COLL_PARAMETER_ANY, 0,
     "the reception of a message by the NIC's processor"},
    {"c", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, c1_us), 0, COLL_PARAMETER_ANY, 0,
     "combining messages of one element there"},
    {"c2", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, c2_us), 0, COLL_PARAMETER_ANY,
     0, "of two elements (0: 2 c)"},
    {"c4", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, c4_us), 0, COLL_PARAMETER_ANY,
     0, "of four (0: 2 c2)"},
    {"c8", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nic_costs, c8_us), 0, COLL_PARAMETER_ANY,
     0, "of eight (0: 2 c4)"}});

/* Elan3, 64 MiB. The bus: half of the 0.80 us of section 5.3.1 each way, and no bytes, as up to
 * 64 are one packet. r and c: tables 4.2 and 4.3, floating point by software. post and tell are
 * together what C of a NIC is more than that of a host, 6.50 us, less two crossings; fitted is
 * how they share it (bench/reproduce/elan.h). again: a word back and the message once more, 2
 * L. */
COLL_CONST(coll_nic_costs, coll_nic_elan3_i32_max,
           {67108864, .40, 0, 0, 0, 1, 0, 0, 4.20, 5.20, .50, .42, .27, .46, .84, 1.60});
/* … sums of i32. */
COLL_CONST(coll_nic_costs, coll_nic_elan3_i32_add,
           {67108864, .40, 0, 0, 0, 1, 0, 0, 4.20, 5.20, .50, .42, .25, .44, .76, 1.44});
/* … maxima of f64. */
COLL_CONST(coll_nic_costs, coll_nic_elan3_f64_max,
           {67108864, .40, 0, 0, 0, 1, 0, 0, 4.20, 5.20, .50, .42, .67, 1.27, 2.44, 4.80});
/* … sums of f64. */
COLL_CONST(coll_nic_costs, coll_nic_elan3_f64_add,
           {67108864, .40, 0, 0, 0, 1, 0, 0, 4.20, 5.20, .50, .42, 1.50, 2.95, 5.80, 11.56});

/* Kumar's Elan3 as slides 14 to 16 have it: 128 MB/s out of main memory, and 320 MB/s else,
 * that is the network's. Nothing is fitted. Blocks that were sent stay in its 64 MiB. */
COLL_CONST(coll_nic_costs, coll_nic_lemieux,
           {67108864, .40, 0, 1000 / 128., 1000 / 320., 0, 320, 1, 0, 0, 0, 0, 0, 0, 0, 0});

COLL_TABLE(coll_preset, coll_i_nic_presets, {
    {"elan3_i32_max", &coll_nic_elan3_i32_max, "Moody's, maximum of 32-bit integers"},
    {"elan3_i32_add", &coll_nic_elan3_i32_add, "Moody's, sum of 32-bit integers"},
    {"elan3_f64_max", &coll_nic_elan3_f64_max, "Moody's, maximum of doubles by software"},
    {"elan3_f64_add", &coll_nic_elan3_f64_add, "Moody's, sum of doubles by software"},
    {"lemieux", &coll_nic_lemieux, "Kumar's, whose hosts compute"}});

COLL_CONST(coll_model, coll_nic_model, {
    "nic",
    "a network adapter with a memory, a processor, and a bus to its host",
    "Moody 2003, sections 2.1.1, 3.3 and 4.1; Kumar 2004, slides 16, 19 and 23",
    sizeof(coll_nic_costs),
    coll_i_nic_parameters,
    sizeof coll_i_nic_parameters / sizeof coll_i_nic_parameters[0],
    coll_i_nic_presets,
    sizeof coll_i_nic_presets / sizeof coll_i_nic_presets[0]});

/* What the NIC's processor takes to combine messages of so many elements, in us. */
COLL_INLINE double coll_nic_c_us(const coll_nic_costs *nic, double elements)
{
    coll_moody_costs m = {0, 0, 0, 0, 0, 0, 0};
    m.c1_us = nic->c1_us;
    m.c2_us = nic->c2_us;
    m.c4_us = nic->c4_us;
    m.c8_us = nic->c8_us;
    return coll_moody_c_us(&m, elements);
}

#endif /* COLL_LAB_MODEL_NIC_MODEL_H */
