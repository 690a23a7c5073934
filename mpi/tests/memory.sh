#!/bin/sh
# With COLL_ZERO_COPY=1, and where there is such memory, MPI_Alloc_mem gives memory that all ranks of the node read
# where it lies, and with libcollheap.so so does malloc for long blocks; elsewhere both give the library's own.
#   memory.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
one=$layer heap=$programs/libcollheap.so
need "$heap"
need "$programs/tests/alloc"
need "$programs/tests/heap"
while read -r program p whose settings; do
    case $program in
    alloc) layer=$one who=MPI_Alloc_mem blocks='' gives='MPI_Alloc_mem gives memory of the node, which all of its ranks can read' ;;
    heap) layer=$heap:$one who=malloc blocks=' long blocks' gives='so does malloc, from 131072 bytes on' ;;
    esac
    [ "$settings" != alone ] || layer=$heap settings=COLL_ZERO_COPY=1
    # shellcheck disable=SC2086
    layered "$p" $settings COLL_VERBOSE=1 "$programs/tests/$program"
    ended 0
    prints ' checks, 0 failed; '
    prints "$blocks the node's: $whose"
    case $program,$whose,$settings in
    *,all,*)
        says "coll: $gives"
        check 'it counts the memory' grep -q -E "^coll: $who, the node's +[0-9]+ +[0-9]+$" "$work/err"
        ;;
    alloc,*COLL_SHM=0) says "coll: MPI_Alloc_mem gives memory of the library, as messages within a node are the library's" ;;
    *) silent "$who" ;;
    esac
done <<'T'
alloc 2 all COLL_ZERO_COPY=1
alloc 4 all COLL_ZERO_COPY=1
alloc 2 all COLL_ZERO_COPY=1 COLL_HUGE=0
alloc 4 all COLL_ZERO_COPY=1 COLL_PPN=2
alloc 2 none COLL_ZERO_COPY=1 COLL_SHM=0
alloc 2 none COLL_ZERO_COPY=0
heap 1 none COLL_ZERO_COPY=1
heap 2 all COLL_ZERO_COPY=1
heap 4 all COLL_ZERO_COPY=1
heap 4 all COLL_ZERO_COPY=1 COLL_PPN=2
heap 2 none COLL_ZERO_COPY=1 COLL_SHM=0
heap 2 none COLL_ZERO_COPY=0
heap 2 none alone
T
done_tests
