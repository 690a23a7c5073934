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
    -o -path "$COLL_SOURCE/examples/firmware" -o -path "$COLL_SOURCE/examples/boards" -o -path "$COLL_SOURCE/tests/mutation/fixture" -o -path "$COLL_SOURCE/tests/tools/run" \) -prune -o -name '*.c' -print | sed "s,^$COLL_SOURCE/,," | sort >files
# Tests of headers of another library, where that is missing.
pkg-config --exists ucx 2>/dev/null || sed -i '/^tests\/transports\/ucx/d' files
pkg-config --exists libfabric 2>/dev/null || sed -i '/^tests\/transports\/ofi/d' files
cd "$COLL_SOURCE" || exit 1

# Most files are read behind a precompiled header of the library, in a tenth of the time: all but those that define
# something before they include it. That a file includes what it needs, the ordinary build shows. Headers that include
# those of the system, whose names tests may have, are left out.
(cd include && find coll -name '*.h' ! -path 'coll/transports/*' ! -name published.h) | sort | sed 's/.*/#include "&"/' >"$gate_scratch/library.h"
xargs awk -v listed="$gate_scratch" '
    function end() { if (file != "") print file >(listed (file ~ /(^|\/)mpi\// ? "/mpi." : "/") (apart ? "apart" : "behind")) }
    FNR == 1 { end(); file = FILENAME; defines = apart = 0 }
    /^ *# *(define|undef)/ { defines = 1 }
    /^ *# *include/ && defines { apart = 1 }
    END { end() }' <"$gate_scratch/files"
precompile() {
    clang -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$COLL_SOURCE/include" -I"$COLL_SOURCE/tests" -x c-header \
        "$gate_scratch/library.h" -o "$gate_scratch/library.pch"
}
accept precompile
# shellcheck disable=SC2046
accept check -include-pch "$gate_scratch/library.pch" -- $(cat "$gate_scratch/behind")
# shellcheck disable=SC2046
accept check -- $(cat "$gate_scratch/apart")
for folder in ${COLL_MPI_H:-}; do
    # shellcheck disable=SC2046
    accept check -isystem "$folder" -I"$COLL_SOURCE/mpi" -include-pch "$gate_scratch/library.pch" -- $(cat "$gate_scratch/mpi.behind")
    # shellcheck disable=SC2046
    accept check -isystem "$folder" -I"$COLL_SOURCE/mpi" -- $(cat "$gate_scratch/mpi.apart")
done
reject 'unused variable' check -- "$gate_bad/warnings/unused.c"
# shellcheck disable=SC2046
reject 'unused variable' check -include-pch "$gate_scratch/library.pch" -- $(head -n 5 "$gate_scratch/behind") \
    "$gate_bad/warnings/unused.c"
done_gate
