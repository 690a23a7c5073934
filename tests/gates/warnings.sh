#!/bin/sh
# Tests, tools, examples and benchmarks compile without a warning of clang; the ordinary build shows the
# warnings of its own compiler.
. "$(dirname "$0")/gate.sh"
need clang clang

check() {
    clang -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only \
        -I"$COLL_SOURCE/include" -I"$COLL_SOURCE/tests" "$1"
}

find "$COLL_SOURCE/tests" "$COLL_SOURCE/tools" "$COLL_SOURCE/examples" "$COLL_SOURCE/bench" \
    -path "$gate_bad" -prune -o -name '*.c' -print | sort >files
while read -r file; do
    accept check "$file"
done <files
reject 'unused variable' check "$gate_bad/warnings/unused.c"
done_gate
