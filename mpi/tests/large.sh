#!/bin/sh
# Counts near 2³¹ and above, displacements and extents of gigabytes.
#   large.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/large
need "$program"
free=$(awk '$1 == "MemAvailable:" { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null)
[ "${free:-0}" -ge 6 ] || missing 'less than 6 GiB of memory are free'
seconds=280
layered 2 COLL_VERBOSE=1 "$program"
ended 0
prints ' checks, 0 failed'
says 'coll: rank 0'
silent "the library's own"
done_tests
