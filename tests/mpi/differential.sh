#!/bin/sh
# Random collectives by the layer and by the library itself, compared byte for byte.
#   differential.sh LIBRARY
# A case that differs is printed with what repeats it alone: --seed and --case.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
need "$differential"

# Messages go through memory, through the library, and both: between "nodes".
for run in 1,SHM=1 2,SHM=1 2,SHM=0 3,SHM=0 4,PPN=2 5,SHM=0 7,PPN=3 8,SHM=1; do
    p=${run%,*} by=COLL_${run#*,}
    cases=1000
    [ $p -le 4 ] || cases=400
    # Open MPI's vector operators saturate sums of short integers.
    layered $p $by OMPI_MCA_op=^avx "$differential" --cases $cases --seed $((20 + p))
    ended 0
    prints "$cases cases on $p ranks, seed $((20 + p)): 0 differences"
done
done_tests
