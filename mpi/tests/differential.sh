#!/bin/sh
# Random collectives by the layer and by the library itself, compared byte for byte.
#   differential.sh LIBRARY
# A case that differs is printed with what repeats it alone: --seed and --case.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
need "$differential"
need "$programs/tests/roomy.so"

# The rules for several nodes, on small ones, too.
need "$COLL_BUILD/coll"
"$COLL_BUILD/coll" select --print | sed '/^# built-in rules/,$d; s/ ppn [0-9]*\.\./ ppn 2../' >nodes.table

# Half of the buffers are memory of MPI_Alloc_mem. Messages go through memory, out of such buffers, through the library,
# by either way of long ones, and both: between "nodes".
# `roomy`: as if no rank shared a processor.
while read -r p by; do
    cases=1000
    [ "$p" -le 4 ] || cases=400
    layer=$programs/libcollmpi.so
    case $by in roomy*) layer=$layer:$programs/tests/roomy.so by=${by#roomy} ;; esac
    # Open MPI's vector operators saturate sums of short integers.
    # shellcheck disable=SC2086
    layered "$p" $by OMPI_MCA_op=^avx "$differential" --asked 50 --cases $cases --seed $((20 + p))
    ended 0
    prints "$cases cases on $p ranks, seed $((20 + p)): 0 differences"
done <<'T'
1 COLL_SHM=1
2 COLL_SHM=1
2 COLL_SHM=1 COLL_HUGE=0
2 COLL_ZERO_COPY=1
4 COLL_ZERO_COPY=1 COLL_HUGE=0
2 COLL_SHM=0 COLL_NEAR=0
2 COLL_SHM=0 COLL_NEAR=1
3 COLL_SHM=0
4 COLL_PPN=2 COLL_ZERO_COPY=1
5 COLL_SHM=0 COLL_NEAR=1
5 roomy COLL_PPN=2
7 COLL_PPN=3 COLL_TABLE=nodes.table
8 roomy COLL_PPN=3 COLL_TABLE=nodes.table
8 COLL_SHM=1
T
done_tests
