#!/bin/sh
# Long blocks of malloc are memory of the node with libcollheap.so and COLL_IN_PLACE=1, and the C library's elsewhere.
#   heap.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/heap
heap=$programs/libcollheap.so
need "$program"
need "$heap"
while read -r p whose settings; do
    layer=$heap:$programs/libcollmpi.so
    [ "$settings" != alone ] || layer=$heap settings=COLL_IN_PLACE=1
    # shellcheck disable=SC2086
    layered "$p" $settings COLL_VERBOSE=1 "$program"
    ended 0
    prints ' checks, 0 failed; '
    prints " long blocks the node's: $whose"
    case $whose in
    all)
        says 'coll: so does malloc, from 131072 bytes on'
        check 'it counts the memory' grep -q -E "^coll: malloc, the node's +[0-9]+ +[0-9]+$" "$work/err"
        ;;
    *) silent 'malloc' ;;
    esac
done <<'T'
1 none COLL_IN_PLACE=1
2 all COLL_IN_PLACE=1
4 all COLL_IN_PLACE=1
4 all COLL_IN_PLACE=1 COLL_PPN=2
2 none COLL_IN_PLACE=1 COLL_SHM=0
2 none COLL_IN_PLACE=0
2 none alone
T
done_tests
