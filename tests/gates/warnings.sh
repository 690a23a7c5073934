#!/bin/sh
# Tests, tools, examples and benchmarks compile without a warning of clang; the ordinary build shows the
# warnings of its own compiler. What is for MPI is compiled with the mpi.h of each
# library, whose folders COLL_MPI_H names.
. "$(dirname "$0")/gate.sh"
need clang clang

# check FILE [OPTION…]
check() {
    clang -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only \
        -I"$COLL_SOURCE/include" -I"$COLL_SOURCE/tests" "$@"
}

find "$COLL_SOURCE/tests" "$COLL_SOURCE/tools" "$COLL_SOURCE/examples" "$COLL_SOURCE/bench" "$COLL_SOURCE/mpi" \
    \( -path "$gate_bad" -o -path "$COLL_SOURCE/tests/fuzz" -o -path "$COLL_SOURCE/tests/gates/modes" \
    -o -path "$COLL_SOURCE/tests/mutation/fixture" \) -prune -o -name '*.c' -print | sort >files
while read -r file; do
    case $file in
    "$COLL_SOURCE"/mpi/* | "$COLL_SOURCE"/*/mpi/*)
        for folder in ${COLL_MPI_H:-}; do
            accept check "$file" -isystem "$folder" -I"$COLL_SOURCE/mpi"
        done
        ;;
    *) accept check "$file" ;;
    esac
done <files
reject 'unused variable' check "$gate_bad/warnings/unused.c"
done_gate
