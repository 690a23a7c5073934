/* coll/lab/sim/topology/sockets.h — nodes of sockets of ranks, and what they share
 *
 *   nodes:8x2x16                       8 nodes of 2 sockets of 16 ranks
 *   nodes:64x2x14,message=10ns,byte=0.1,socket=0.05
 *   nodes:64x2x14,ports=2              two links out of each node, and two into it
 *
 * Ranks of a socket need no link. Those of two sockets of a node share a link out of each socket,
 * whose byte takes `socket`. Messages between nodes share the link out of the node and the link
 * into the other one, its NIC: `message` is the time of the NIC for a message, `byte` for a byte. Of
 * several ports a message takes the one that is free first, at each end.
 * Between nodes there is as much as the NICs can take.
 *
 * Source  Bayatpour et al. 2017, section 3 (zones of concurrency)
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_SOCKETS_H
#define COLL_LAB_SIM_TOPOLOGY_SOCKETS_H

#include "../outages.h"

/* size: nodes, sockets of a node, ranks of a socket. Links out of sockets come first, then the
 * nodes' out and in. */
COLL_INLINE uint32_t coll_topology_node(const coll_topology *t, uint32_t end)
{
    return end / (t->size[1] * t->size[2]);
}

COLL_INLINE uint32_t coll_i_nodes_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    if (coll_topology_node(t, from) != coll_topology_node(t, to))
        return 2;
    return from / t->size[2] != to / t->size[2] ? 1 : 0;
}

COLL_INLINE uint32_t coll_i_nodes_link(const coll_topology *t, uint32_t from, uint32_t to,
                                       uint32_t i)
{
    const uint32_t sockets = t->size[0] * t->size[1];
    const uint32_t out = coll_topology_node(t, from), in = coll_topology_node(t, to);
    if (out == in)
        return from / t->size[2];
    return sockets + (i == 0 ? 2 * out : 2 * in + 1) * t->ports;
}

COLL_INLINE uint32_t coll_i_nodes_parallel(const coll_topology *t, uint32_t link)
{
    return link < t->size[0] * t->size[1] ? 1 : t->ports;
}

COLL_INLINE void coll_i_nodes_name(const coll_topology *t, uint32_t link, char *text,
                                   size_t bytes)
{
    const uint32_t sockets = t->size[0] * t->size[1];
    if (link < sockets) {
        snprintf(text, bytes, "out of socket %u of node %u", link % t->size[1],
                 link / t->size[1]);
    } else {
        const uint32_t way = (link - sockets) / t->ports;
        const size_t n = coll_topology_port_name(t, link - sockets, text, bytes);
        snprintf(text + n, bytes - n, "%s node %u", way & 1 ? "into" : "out of", way / 2);
    }
}

COLL_INLINE coll_link_cost coll_i_nodes_costs(const coll_topology *t, uint32_t link)
{
    return link < t->size[0] * t->size[1] ? t->inner : t->cost;
}

/* Nodes of so many sockets of so many ranks each. */
COLL_INLINE void coll_topology_nodes(coll_topology *t, uint32_t nodes, uint32_t sockets,
                                     uint32_t ranks)
{
    memset(t, 0, sizeof *t);
    t->size[0] = nodes;
    t->size[1] = sockets;
    t->size[2] = ranks;
    t->ends = nodes * sockets * ranks;
    t->ports = 1;
    t->links = nodes * (sockets + 2);
    t->hops = coll_i_nodes_hops;
    t->link = coll_i_nodes_link;
    t->name = coll_i_nodes_name;
    t->costs = coll_i_nodes_costs;
    t->cost.byte_ps = -1;
}

/* Each node of such a topology has so many ports, at least 1. */
COLL_INLINE void coll_topology_nodes_ports(coll_topology *t, uint32_t ports)
{
    t->links = t->size[0] * (t->size[1] + 2 * ports);
    t->ports = ports;
    t->parallel = coll_i_nodes_parallel;
}

/* ---- in words ---------------------------------------------------------------------------- */

COLL_TABLE(coll_parameter, coll_i_nodes_parameters, {
    {"socket", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_topology_words, socket_ns), 0,
     COLL_PARAMETER_ANY, 0, "the time a byte takes of a link out of a socket"},
    {"ports", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, ports), 1, 64, 1,
     "links out of a node, and as many into it"},
    {"missing", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, missing), 0, 0, 0,
     "places without a rank, such as 5/9"},
    COLL_I_LINK_PARAMETERS});

COLL_CONST(coll_model, coll_nodes_topology, {
    "nodes",
    "NODESxSOCKETSxRANKS: nodes of sockets of ranks",
    "Bayatpour et al. 2017",
    sizeof(coll_topology_words),
    coll_i_nodes_parameters,
    sizeof coll_i_nodes_parameters /
        sizeof coll_i_nodes_parameters[0],
    NULL,
    0});

/* Reads the words of such a topology. false: `why` is a sentence. */
COLL_INLINE bool coll_nodes_topology_read(coll_topology *t, const char *text,
                                          coll_sentence *why)
{
    uint32_t size[3];
    coll_topology_words words;
    char rest[512];
    if (coll_topology_sizes(text, "8x2x16", 3, 3, size, rest, why) == 0 ||
        !coll_parameters_read(&coll_nodes_topology, rest, &words, why))
        return false;
    if ((uint64_t)size[0] * (size[1] + 2 * (uint64_t)words.ports) > UINT32_MAX)
        return coll_refuse(why, "%.60s has more links than can be simulated", text);
    coll_topology_nodes(t, size[0], size[1], size[2]);
    coll_topology_nodes_ports(t, (uint32_t)words.ports);
    coll_topology_costs(t, &words);
    t->inner.byte_ps = words.socket_ns * 1000;
    return coll_topology_missing(t, words.missing, why);
}

#endif /* COLL_LAB_SIM_TOPOLOGY_SOCKETS_H */
