#!/bin/sh
# Where calls are remembered that were made before.
#   repeats.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/repeats
need "$program"
plain 1 "$program"
ended 0
prints ' checks, 0 failed'
done_tests
