# What tests of example programs share: sourced with $patience, seconds that a program may take. Leaves $scratch, which
# is removed at the end, $checks and $failed.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
checks=0 failed=0

# says CODE PATTERN COMMAND…: it ends with this code, and prints a line that is this pattern.
says() {
    code=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    timeout "$patience" "$@" >"$scratch/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$code" ] && grep -q -x -e "$pattern" "$scratch/out" && return
    failed=$((failed + 1))
    echo "FAILED: $* ends with $got, and should with $code, and say: $pattern"
    tail -5 "$scratch/out"
}
