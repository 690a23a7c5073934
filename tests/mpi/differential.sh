#!/bin/sh
# Random collectives by the layer and by the library itself, compared byte for byte.
#   differential.sh LIBRARY
# A case that differs is printed with what repeats it alone: --seed and --case.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
need "$differential"

for p in 1 2 3 4 5 7 8; do
    cases=1000
    [ $p -le 4 ] || cases=400
    case $p in # messages through memory, through the library, and both: between "nodes"
    3 | 5) by=COLL_SHM=0 ;;
    4 | 7) by=COLL_PPN=$((p / 2)) ;;
    *) by=COLL_SHM=1 ;;
    esac
    # Open MPI's vector operators saturate sums of short integers.
    layered $p $by OMPI_MCA_op=^avx "$differential" --cases $cases --seed $((20 + p))
    ended 0
    prints "$cases cases on $p ranks, seed $((20 + p)): 0 differences"
done
done_tests
