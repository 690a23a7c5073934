#!/bin/sh
# The plans of the calls of the layer are proven, by whatever rules and wherever the ranks are.
#   plans.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/plans
need "$program"
plain 1 "$program"
ended 0
prints ' checks, 0 failed'
done_tests
