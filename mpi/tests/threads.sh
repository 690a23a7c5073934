#!/bin/sh
# Thread levels are those of plain MPI, and threads run collectives side by side.
#   threads.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/threads
need "$program"

for level in single funneled serialized multiple; do
    plain 2 "$program" $level 0
    ended 0
    cp "$work/out" "$work/wanted"
    layered 2 "$program" $level 0
    ended 0
    check "$level gives the level of plain MPI" cmp -s "$work/wanted" "$work/out"
    prints "asked for $level: "
done
grep -q 'asked for multiple: multiple' "$work/out" || missing "$library has no MPI_THREAD_MULTIPLE"
for ranks in 2 3; do
    for in_place in 0 1; do
        layered $ranks MALLOC_PERTURB_=85 COLL_VERBOSE=1 COLL_ZERO_COPY=$in_place "$program" multiple 20
        ended 0
        prints ' checks, 0 failed'
        says 'coll: rank 0'
    done
done
done_tests
