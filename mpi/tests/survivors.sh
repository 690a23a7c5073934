#!/bin/sh
# Ranks die in each kind of call; the others learn of it, agree, shrink, and go on with right results.
#   survivors.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/survivors
need "$program"
seconds=60
outlive

# Each of three rounds loses a rank: the last one, or the root.
for call in barrier bcast reduce allreduce long_allreduce alltoall scan iallreduce several tested; do
    for victim in 3 0; do
        layered 4 "$program" $call $victim
        prints ' is left'
        check "no check of $call failed" grep -qE -e '[0-9] checks, 0 failed' "$work/out"
        check "… on any rank" sh -c '! grep -qF "does not hold" "$1"' sh "$work/out"
    done
done

# The layer cannot recover what goes through the library.
layered 2 COLL_SHM=0 "$program" refused 0
ended 0
prints 'the layer can only recover communicators that it runs'

# Without the layer a program can ask.
plain 2 "$program" barrier 0
ended 0
prints 'there is no layer'
done_tests
