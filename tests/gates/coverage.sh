#!/bin/sh
# The proof executes every line of algos/ and topo/ but for those of coverage/unproven, which says why. Counted
# without optimization, functions that nobody calls included, and nothing else is counted; few ranks suffice.
. "$(dirname "$0")/gate.sh"
need gcc gcc
need gcov gcc

here=$COLL_SOURCE/tests/gates/coverage
flags="-std=gnu11 -g1 -pthread --coverage -O0 -fprofile-filter-files=coll/(algos|plan/topo)/
    -DCOLL_ONE_REGISTRY=1 -I$COLL_SOURCE/include"

# shellcheck disable=SC2086
build() {
    gcc $flags -fkeep-inline-functions -fkeep-static-functions -c "$COLL_SOURCE/cmake/registry.c" -o registry.o &
    gcc $flags -c "$here/proof.c" -o proof.o && wait $! &&
        gcc $flags proof.o registry.o -o proof
}

# prove A B N: lines that this proof executes are in proof.gcov
prove() {
    rm -f ./*.gcda
    ./proof "$1" "$2" "$3" && gcov --stdout proof.gcda registry.gcda >proof.gcov
}

# check LIST GCOV
check() {
    awk -f "$here/unlisted.awk" "$1" "$2"
}

accept build
[ $gate_failed -eq 0 ] || done_gate

# What one rank alone does is not much.
accept prove 1 1 0
reject 'never executed by the proof: algos/linear_scan.h' check "$here/unproven" proof.gcov
accept prove 1 8 0
accept check "$here/unproven" proof.gcov
tail -n 1 "$gate_log"

: >nothing
reject 'never executed by the proof: plan/topo/' check nothing proof.gcov
{
    cat "$here/unproven"
    echo 'algos/ring.h: no such line'
} >more
reject 'listed, but executed or gone: algos/ring.h: no such line' check more proof.gcov
done_gate
