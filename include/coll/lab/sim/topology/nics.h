/* coll/lab/sim/topology/nics.h — the network adapters of nodes, one a rail
 *
 *   coll_topology_nics(&topology, &plan.problem.nodes, p);     // which stay the caller's
 *   topology.cost.message = …, topology.cost.byte_ps = …;
 *
 * Ranks of a node need no link. Messages to other nodes share, with all of the ranks of their node
 * that use the same rail (coll_beyond), a link out of the node and, at the other end, one into that
 * node, or as many as the rail has ports. Between nodes there is as much as the adapters can take. Nodes may have any sizes.
 *
 * Source  Bayatpour et al. 2017, section 3 (zones of concurrency)
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_NICS_H
#define COLL_LAB_SIM_TOPOLOGY_NICS_H

#include "../../../plan/topo/rails.h"
#include "../topology.h"

/* The node of an end. */
COLL_INLINE uint32_t coll_i_nics_node(const coll_topology *t, uint32_t end)
{
    return coll_node_of(t->nodes, t->ends, end).index;
}

COLL_INLINE uint32_t coll_i_nics_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    return coll_i_nics_node(t, from) != coll_i_nics_node(t, to) ? 2 : 0;
}

/* size: nodes, rails. Of each node and rail the way out, then the way in. */
COLL_INLINE uint32_t coll_i_nics_link(const coll_topology *t, uint32_t from, uint32_t to,
                                      uint32_t i)
{
    const uint32_t end = i == 0 ? from : to;
    return (2 * (coll_i_nics_node(t, end) * t->size[1] + coll_rail_of(t->nodes, end)) + i) *
           t->ports;
}

COLL_INLINE uint32_t coll_i_nics_parallel(const coll_topology *t, uint32_t link)
{
    (void)link;
    return t->ports;
}

COLL_INLINE void coll_i_nics_name(const coll_topology *t, uint32_t link, char *text,
                                  size_t bytes)
{
    const uint32_t rails = t->size[1], adapter = link / t->ports / 2;
    const char *way = link / t->ports & 1 ? "into" : "out of";
    const size_t n = coll_topology_port_name(t, link, text, bytes);
    if (rails == 1)
        snprintf(text + n, bytes - n, "%s node %u", way, adapter);
    else
        snprintf(text + n, bytes - n, "%s rail %u of node %u", way, adapter % rails,
                 adapter / rails);
}

/* The adapters of p ranks on nodes, with as many rails each as any of them has. Its links cost nothing
 * yet. O(p). */
COLL_INLINE void coll_topology_nics(coll_topology *t, const coll_nodes *nodes, uint32_t p)
{
    memset(t, 0, sizeof *t);
    t->nodes = nodes;
    t->size[0] = coll_nodes_count(nodes);
    t->size[1] = coll_rails_count(nodes, p);
    t->ends = p;
    t->ports = 1;
    t->links = 2 * t->size[0] * t->size[1];
    t->hops = coll_i_nics_hops;
    t->link = coll_i_nics_link;
    t->name = coll_i_nics_name;
    t->cost.byte_ps = -1;
}

/* Each rail of such a topology has so many ports, at least 1. */
COLL_INLINE void coll_topology_nics_ports(coll_topology *t, uint32_t ports)
{
    t->links = t->links / t->ports * ports;
    t->ports = ports;
    t->parallel = coll_i_nics_parallel;
}

#endif /* COLL_LAB_SIM_TOPOLOGY_NICS_H */
