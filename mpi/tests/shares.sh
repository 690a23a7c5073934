#!/bin/sh
# Calls through the SHARED memory of a node: those of several communicators take it in turn, and only those that block.
#   shares.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/shares
need "$program"

for p in 5 8; do
    layered $p COLL_VERBOSE=1 "$program"
    ended 0
    prints "shares: $p ranks, checked, 0 failed"
    says "coll: alltoall, $p ranks, 516 bytes: shm_flat ("
    says "coll: reduce_scatter_block, $p ranks, 516 bytes: shm_flat ("
    says "coll: allgather, $p ranks, 516 bytes: multicast (" # the first one does not block
    says "coll: alltoall, $p ranks, 12 bytes: shm_flat (" # of a communicator made late: what numbers them is no call's
done
layered 5 "$program" threads
ended 0
prints "shares: 5 ranks, checked, 0 failed"

# Not between nodes.
layered 6 COLL_VERBOSE=1 COLL_PPN=3 "$program"
ended 0
prints "shares: 6 ranks, checked, 0 failed"
silent ': shm_flat ('
done_tests
