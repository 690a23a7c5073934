#!/bin/sh
# Collectives whose lengths differ between ranks, or between what a rank sends and receives, end everywhere.
#   lengths.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/lengths
need "$program"
seconds=60
for p in 2 3 4; do
    layered $p COLL_VERBOSE=1 "$program"
    ended 0
    prints ' checks, 0 failed'
    says 'coll: rank 0'
    for by in COLL_SHM=0 COLL_PPN=2; do # messages of the library, too
        layered $p $by "$program" short
        ended 0
        prints ' checks, 0 failed'
    done
done
done_tests
