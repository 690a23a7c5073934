#!/bin/sh
# Bad arguments are refused as without the layer, and told to the same error handler.
#   refusals.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/refusals
need "$program"
seconds=60
layered 2 COLL_VERBOSE=1 "$program"
ended 0
prints ' checks, 0 failed'
says 'coll: rank 0'
done_tests
