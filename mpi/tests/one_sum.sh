#!/bin/sh
# COLL_ONE_SUM=1: sums of floats are rounded once, on any number of ranks, through any messages; without it they are not.
#   one_sum.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/one_sum
need "$program"
for p in 1 2 3 4; do
    for by in COLL_SHM=1 COLL_SHM=0 COLL_PPN=2; do
        layered $p COLL_ONE_SUM=1 $by "$program"
        ended 0
        prints ' checks, 0 failed'
    done
done
# The library adds the words; but for reduce, as that of MPICH 4.0 crashes in this test without a layer, too.
layered 3 COLL_ONE_SUM=1 COLL_OFF=allreduce,scan,exscan,reduce_scatter_block "$program"
ended 0
prints ' checks, 0 failed'
layered 4 COLL_ONE_SUM=0 "$program"
ended 0
check 'ordinary sums are rounded more than once' grep -q ' checks, [1-9][0-9]* failed' "$work/out"
layered 2 COLL_ONE_SUM=yes "$program"
ended 2
says 'COLL_ONE_SUM is 0 or 1, not "yes"'
done_tests
