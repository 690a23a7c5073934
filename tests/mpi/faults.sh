#!/bin/sh
# Errors of collectives reach the program, in bounded time.
#   faults.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/faults
need "$program"
seconds=30
# Over the library: what an error leaves behind in memory is not settled yet.
layered 2 COLL_SHM=0 COLL_VERBOSE=1 "$program"
ended 0
says 'coll: rank 0'
done_tests
