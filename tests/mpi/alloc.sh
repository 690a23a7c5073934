#!/bin/sh
# MPI_Alloc_mem gives memory that all ranks of the node read where it lies, with COLL_IN_PLACE=1 and where there is
# such memory; and the library's own elsewhere.
#   alloc.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/alloc
need "$program"
while read -r p whose settings; do
    # shellcheck disable=SC2086
    layered "$p" $settings COLL_VERBOSE=1 "$program"
    ended 0
    prints ' checks, 0 failed; '
    prints " the node's: $whose"
    case $settings in
    *COLL_SHM=0*) says "coll: MPI_Alloc_mem gives memory of the library, as messages within a node are the library's" ;;
    *IN_PLACE=1*)
        says 'coll: MPI_Alloc_mem gives memory of the node, which all of its ranks can read'
        check 'it counts the memory' grep -q -E "^coll: MPI_Alloc_mem, the node's +[0-9]+ +[0-9]+$" "$work/err"
        ;;
    *) silent 'MPI_Alloc_mem' ;;
    esac
done <<'T'
2 all COLL_IN_PLACE=1
4 all COLL_IN_PLACE=1
2 all COLL_IN_PLACE=1 COLL_HUGE=0
4 all COLL_IN_PLACE=1 COLL_PPN=2
2 none COLL_IN_PLACE=1 COLL_SHM=0
2 none COLL_IN_PLACE=0
T
done_tests
