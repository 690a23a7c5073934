#!/bin/sh
# The link of a node is taken down while all ranks are in their calls: each of them ends with an error, in
# bounded time, those of that node and the others.
#   link.sh [TRANSPORT]           of coll run; tcp if nothing is said
transport=${1:-tcp}
coll=$COLL_COMMAND
. "$(dirname "$0")/lib/cluster.sh"
cluster_begin
cluster_make 3 1gbit
export COLL_PATIENCE=2000

# taken_down NODE SECONDS ARGUMENT…: so long after rank 0 has found the others
taken_down() {
    node=$1 seconds=$2
    shift 2
    cluster_start 2 "$coll" run "$@" --transport "$transport" --repeat 9M
    tenths=100 # until rank 0 has printed what it runs, as it has found the others then
    while [ ! -s "$scratch/rank.0" ] && [ $tenths -gt 0 ]; do
        sleep 0.1
        tenths=$((tenths - 1))
    done
    sleep "$seconds" # a rank that is not in its calls by then fails, too
    cluster_link "$node" down
    cluster_wait 25
    all_end "coll run $* without the link of node $node" 1 2
    rank=0
    while [ $rank -lt $cluster_ranks ]; do
        says $rank 'failed in repetition\|does not learn the addresses'
        rank=$((rank + 1))
    done
    cluster_link "$node" up
}

taken_down 1 1 allreduce recursive_doubling --count 1 # they wait for short messages …
taken_down 0 1 allreduce ring --count 100k            # … are in the middle of long ones …
taken_down 2 1 bcast fnomial --count 3
taken_down 0 0 allreduce ring --count 100k # … or still make connections
cluster_done
