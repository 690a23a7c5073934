#!/bin/sh
# Messages of every length over the transport of coll/transports/mpi.h.
#   transport.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/transport
need "$program"
seconds=60
plain 2 "$program"
ended 0
prints ' checks, 0 failed'
done_tests
