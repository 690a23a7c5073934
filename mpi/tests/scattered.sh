#!/bin/sh
# Communicators whose ranks are dealt out to nodes in turn: what does not depend on the order of the ranks is done in two levels,
# all else in the order of the ranks.
#   scattered.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/scattered
need "$program"
need "$programs/tests/roomy.so"
need "$COLL_BUILD/coll"

# The rules for several nodes, on small ones, too.
"$COLL_BUILD/coll" select --print | sed '/^# built-in rules/,$d; s/ ppn [0-9]*\.\./ ppn 2../' >nodes.table
grep -v -E ' (mixed|dpml)' nodes.table >messages.table # of nodes whose ranks share no memory

# scattered P PPN [NAME=VALUE…]: on nodes of PPN ranks.
scattered() {
    ranks=$1 ppn=$2
    shift 2
    layered "$ranks" COLL_VERBOSE=1 COLL_PPN="$ppn" "$@" "$program" "$ppn"
    ended 0
    prints "scattered: $ranks ranks, checked, 0 failed"
}

# One integer has 4 bytes, and what does not commute 16.
roomy=$layer:$programs/tests/roomy.so
layer=$roomy
while read -r p ppn by; do
    # shellcheck disable=SC2086
    scattered "$p" "$ppn" $by
    says "coll: barrier, $p ranks, 0 bytes: two_level ("
    case $by in
    *TABLE*SHM=0*) bcast=two_level allreduce=two_level ;;
    *TABLE*) bcast=mixed:k=0,segment=0 allreduce=dpml:leaders=1 ;; # as its nodes have memory
    *) bcast=two_level allreduce= ;;
    esac
    says "coll: bcast, $p ranks, 4 bytes: $bcast ("
    says "coll: reduce, $p ranks, 4 bytes: two_level ("
    check 'what does not commute is not done in two levels' sh -c '! grep -q -E "^coll: (reduce|scan), .* 16 bytes: two_level" "$1"' sh "$work/err"
    [ -z "$allreduce" ] || says "coll: allreduce, $p ranks, 4 bytes: $allreduce ("
done <<'T'
4 2 COLL_SHM=1
5 2 COLL_SHM=0
8 4 COLL_TABLE=nodes.table
8 3 COLL_TABLE=messages.table COLL_SHM=0
7 3 COLL_TABLE=nodes.table
T

# Where ranks share processors, as here, one level, and what is asked for.
layer=$programs/libcollmpi.so
scattered 5 2
silent two_level
scattered 6 3 COLL_ALGORITHM=allreduce,reduce,bcast:two_level
says 'coll: allreduce, 6 ranks, 4 bytes: two_level (COLL_ALGORITHM)'
says 'coll: reduce, 6 ranks, 4 bytes: two_level (COLL_ALGORITHM)'
says 'coll: bcast, 6 ranks, 4 bytes: two_level (COLL_ALGORITHM)'

# A sum whose parentheses the user chose has them wherever the ranks are.
bits() {
    sed -n 's/^bits //p' "$work/out"
}
layer=$roomy
for algorithm in fnomial rabenseifner; do
    plain 7 "$program" 1
    ended 0
    layered 7 COLL_ALGORITHM=allreduce:$algorithm "$program" 1
    ended 0
    together=$(bits)
    scattered 7 3 COLL_ALGORITHM=allreduce:$algorithm
    says "coll: allreduce, 7 ranks, 16 bytes: $algorithm"
    check "$algorithm: $(bits) is $together" [ "$(bits)" = "${together:-none}" ]
done
done_tests
