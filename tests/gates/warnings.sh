#!/bin/sh
# Tests, tools, examples and benchmarks compile without a warning of clang; the ordinary build shows the
# warnings of its own compiler. What is for MPI is compiled with the mpi.h of each
# library, whose folders COLL_MPI_H names. What needs a header that the build writes is gates/library's.
. "$(dirname "$0")/gate.sh"
need clang clang

# check OPTION… -- FILE…
check() {
    syntax clang -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
        -I"$COLL_SOURCE/include" -I"$COLL_SOURCE/tests" "$@"
}

find "$COLL_SOURCE/tests" "$COLL_SOURCE/tools" "$COLL_SOURCE/examples" "$COLL_SOURCE/bench" "$COLL_SOURCE/mpi" \
    \( -path "$gate_bad" -o -path "$COLL_SOURCE/tests/fuzz" -o -path "$COLL_SOURCE/tests/gates/modes" -o -path "$COLL_SOURCE/tests/gates/consumer/linked.c" \
    -o -path "$COLL_SOURCE/examples/firmware" -o -path "$COLL_SOURCE/tests/mutation/fixture" \) -prune -o -name '*.c' -print | sed "s,^$COLL_SOURCE/,," | sort >files
cd "$COLL_SOURCE" || exit 1
# shellcheck disable=SC2046
accept check -- $(grep -v -E '(^|/)mpi/' "$gate_scratch/files")
for folder in ${COLL_MPI_H:-}; do
    # shellcheck disable=SC2046
    accept check -isystem "$folder" -I"$COLL_SOURCE/mpi" -- $(grep -E '(^|/)mpi/' "$gate_scratch/files")
done
reject 'unused variable' check -- "$gate_bad/warnings/unused.c"
done_gate
