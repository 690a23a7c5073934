/* bench/cluster_machines.h — the machines for which select/cluster_*.h are made, as the simulator takes them, and
 * the collectives that have rules there: for clusters.c, and for tests/select/clusters.c */
#ifndef COLL_BENCH_CLUSTER_MACHINES_H
#define COLL_BENCH_CLUSTER_MACHINES_H

#include "coll/select/clusters.h"

static const struct cluster_machine {
    const char *name, *model, *memory;
    double message_us, byte_ns; /* of a NIC */
    const coll_rule_list *list;
} cluster_machines[] = {
    {"ethernet", "loggp:L=12us,o=4us,g=4us,G=0.8,c=0.1", "shm:a=0.2us,b=0.1,node=0.02", 1, .8,
     &coll_cluster_ethernet},
    {"roce", "loggp:L=2.5us,o=0.5us,g=0.5us,G=0.1,c=0.1", "shm:a=0.2us,b=0.1,node=0.02", .1, .1,
     &coll_cluster_roce},
    {"infiniband", "loggp:L=1.2us,o=0.25us,g=0.2us,G=0.05,c=0.1",
     "shm:a=0.15us,b=0.08,node=0.01", .01, .042, &coll_cluster_infiniband},
    {"crowded", "loggp:L=1.5us,o=0.3us,g=0.3us,G=0.05,c=0.1", "shm:a=0.15us,b=0.08,node=0.01",
     .15, .08, &coll_cluster_crowded},
};
enum { CLUSTERS = sizeof cluster_machines / sizeof cluster_machines[0] };

static const coll_collective cluster_collectives[] = {
    COLL_BARRIER,  COLL_ALLREDUCE, COLL_BCAST,
    COLL_REDUCE,   COLL_ALLGATHER, COLL_REDUCE_SCATTER_BLOCK,
    COLL_ALLTOALL, COLL_GATHER,    COLL_SCATTER,
    COLL_SCAN,     COLL_EXSCAN};
enum { CLUSTER_COLLECTIVES = sizeof cluster_collectives / sizeof cluster_collectives[0] };

#endif /* COLL_BENCH_CLUSTER_MACHINES_H */
