#!/bin/sh
# Where ranks listen: IPv6 alone, and an interface chosen by its name or by a prefix, of several that a node has; and
# where they meet, at a root or at several.
#   interfaces.sh [TRANSPORT]     of coll run; tcp if nothing is said
transport=${1:-tcp}
coll=$COLL_COMMAND
. "$(dirname "$0")/lib/cluster.sh"
cluster_begin
cluster_make 2 1gbit
for node in 0 1; do # an interface that leads nowhere, with one address on all nodes
    must cluster_on $node ip link add decoy type bridge
    must cluster_on $node ip addr add 10.99.0.1/24 dev decoy
    must cluster_on $node ip link set decoy up
done

# with INTERFACES CODE
with() {
    export COLL_INTERFACES="$1" COLL_PATIENCE=3000
    cluster_start 2 "$coll" run allreduce ring --count 5k --repeat 3 --transport "$transport"
    cluster_wait 30
    all_end "with COLL_INTERFACES=$1" "$2"
}

with net0 0
says 0 '^result     right on all ranks'
with eth7,net0 0
with 10.77.0.0/16 0
with fd77::/16 0
with decoy 1
says 2 'failed in repetition 1'
with 10.99.0.0/24 1
with eth7,10.66.0.0/16 2
says 3 'this machine has no interface that is up of eth7,10.66.0.0/16'

cluster_where=10.77.0.1:6002,10.77.0.2:6002 # a root on each node
with net0 0
says 0 '^result     right on all ranks'
cluster_where=10.77.0.2:6003,10.77.0.1:6003 # … but not these
with net0 2
says 0 'rank 0 cannot listen at address 1 of COLL_RENDEZVOUS'
for node in 0 1; do must cluster_on $node ip -4 addr flush dev net0; done
cluster_where="[fd77::1]:6001"
with fd77::/16 0
says 0 '^result     right on all ranks'
cluster_done
