# tests/launchers/lib/launchers.sh — what tests of other people's launchers share: sourced, never run. Leaves
# $scratch, and in it `with` and `without`, examples/12_tcp_processes with PMIx and without.
set -u
. "$(dirname "$0")/../support/missing.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
checks=0 failed=0
unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE COLL_RANK COLL_SIZE COLL_RENDEZVOUS COLL_SECRET

compile() {
    need pkg-config pkg-config
    pkg-config --exists pmix || missing "there is no library of PMIx; on Debian: apt-get install libpmix-dev"
    set -- "${COLL_CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 -I"$COLL_SOURCE/include" "$COLL_SOURCE/examples/12_tcp_processes.c"
    # shellcheck disable=SC2046
    "$@" -o "$scratch/with" -DCOLL_PMIX $(pkg-config --cflags --libs pmix) -lpthread -lm || exit 1
    "$@" -o "$scratch/without" -lpthread -lm || exit 1
}

# joins P COMMAND…: this starts P ranks, which find each other.
joins() {
    p=$1
    shift
    checks=$((checks + 1))
    timeout 60 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    rank=0
    while [ $rank -lt "$p" ]; do
        grep -q "^rank $rank of $p on " "$scratch/out" || code="$code, without rank $rank"
        rank=$((rank + 1))
    done
    [ "$code" = 0 ] && return
    failed=$((failed + 1))
    echo "FAILED: $* ends with $code"
    tail -20 "$scratch/out" "$scratch/err"
}

# refused PATTERN COMMAND…: the ranks do not start, and say why.
refused() {
    pattern=$1
    shift
    checks=$((checks + 1))
    timeout 60 "$@" >"$scratch/out" 2>&1 </dev/null
    code=$?
    [ $code -ne 0 ] && [ $code -ne 124 ] && grep -q -e "$pattern" "$scratch/out" && return
    failed=$((failed + 1))
    echo "FAILED: $* ends with $code, and should say: $pattern"
    tail -20 "$scratch/out"
}

done_launchers() {
    echo "$checks checks, $failed failed"
    [ $failed -eq 0 ]
    exit
}
