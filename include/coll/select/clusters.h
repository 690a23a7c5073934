/* coll/select/clusters.h — rules for several nodes by what the machine is
 *
 *   const coll_cluster machine = {3900, 100};            // ns, ns; or comm/find_cluster.h finds them
 *   coll_comm_nodes(&comm, &nodes);                      // comm/multi_node.h
 *   coll_comm_rules(&comm, coll_cluster_rules(&machine, coll_nodes_largest(&nodes, p)));
 *
 * What is the fastest between nodes depends on what a message costs there. Four lists are made by the
 * simulator (bench/clusters.c says for which machines, and how), for nodes of 1 to 96 ranks:
 *
 *   ethernet     TCP over 10 Gbit/s: tens of microseconds, one link a node
 *   roce         RDMA over 25 to 100 Gbit/s Ethernet
 *   infiniband   200 Gbit/s, a microsecond, and a NIC that takes many messages at once
 *   crowded      nodes of very many ranks whose NIC takes one message after the other
 *
 * A program that names one list, coll_cluster_roce say, has the rules and algorithms of that one alone,
 * by including its header; coll_cluster_rules brings all four. What a list leaves open the built-in
 * rules say. The lists suffice with messages: algorithms that use memory which the ranks of a node
 * share are in select/inter_node.h, which knows no cluster. docs/selection.md has what they lose
 * against the best algorithm.
 */
#ifndef COLL_SELECT_CLUSTERS_H
#define COLL_SELECT_CLUSTERS_H

#include "cluster_crowded.h"
#include "cluster_ethernet.h"
#include "cluster_infiniband.h"
#include "cluster_roce.h"

/* What tells one machine from another. */
typedef struct coll_cluster {
    uint32_t message_ns; /* from the send to the receive of 4 KiB in another node, alone */
    uint32_t gap_ns; /* between two short messages that leave a node; 0: not known, and short */
} coll_cluster;

/* The list for such a machine, whose largest node has `ppn` ranks (coll_nodes_largest): the nearest by
 * the ratio of what a message takes. Nodes are crowded if all their ranks' messages, one after the other,
 * take more than twice as long as one to another node. The same on all ranks, if the numbers are. */
COLL_INLINE const coll_rule_list *coll_cluster_rules(const coll_cluster *machine, uint32_t ppn)
{
    enum { TCP_NS = 9500, RDMA_NS = 2700 };
    if (machine->message_ns >= TCP_NS)
        return &coll_cluster_ethernet;
    if (machine->gap_ns > 0 && machine->gap_ns >= 2 * machine->message_ns / (ppn > 0 ? ppn : 1))
        return &coll_cluster_crowded;
    return machine->message_ns >= RDMA_NS ? &coll_cluster_roce : &coll_cluster_infiniband;
}

#endif /* COLL_SELECT_CLUSTERS_H */
