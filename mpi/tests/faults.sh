#!/bin/sh
# Errors of collectives reach the program, in bounded time.
#   faults.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/faults
need "$program"
seconds=30
for by in COLL_SHM=1 COLL_ZERO_COPY=1 COLL_SHM=0; do # messages through memory, and through the library
    layered 2 $by COLL_VERBOSE=1 "$program"
    ended 0
    says 'coll: rank 0'
done
done_tests
