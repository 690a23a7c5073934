#!/bin/sh
# The conformance kit over the transport of coll/transports/mpi.h, for 2 and 4 ranks.
#   conformance.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/conformance
need "$program"
for ranks in 2 4; do
    plain $ranks "$program"
    ended 0
    prints ' checks, 0 failed'
done
done_tests
