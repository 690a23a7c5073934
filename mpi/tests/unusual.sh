#!/bin/sh
# What programs seldom do, but may, is done as without the layer.
#   unusual.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/unusual
need "$program"
seconds=60
for p in 1 2 3 5; do
    layered $p COLL_VERBOSE=1 "$program"
    ended 0
    prints ' checks, 0 failed'
    says 'coll: rank 0'
    says "coll: allreduce, $p ranks, 1009 bytes"
done
for setting in COLL_SHM=0 COLL_ZERO_COPY=1 COLL_PPN=2; do
    layered 3 $setting "$program"
    ended 0
    prints ' checks, 0 failed'
done
done_tests
