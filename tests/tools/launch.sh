#!/bin/sh
# coll launch: what ranks find, exit codes, signals, what is left behind, sentences.
#   launch.sh [COLL [EXAMPLE]]   the command, $COLL_COMMAND by default; examples/05_processes of the build
set -u
coll=${1:-$COLL_COMMAND}
example=${2:-${COLL_BUILD:-.}/examples/05_processes}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
checks=0 failures=0

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    sed 's/^/    /' "$work/out" "$work/err" | head -20
}

# ends CODE ARGUMENT…: coll launch ends with this code.
ends() {
    wanted=$1
    shift
    checks=$((checks + 1))
    timeout 60 "$coll" launch "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code -eq "$wanted" ] || fail "coll launch $* ends with $code instead of $wanted"
}

# has FILE TEXT: the last run wrote this line there.
has() {
    checks=$((checks + 1))
    grep -qxF -- "$2" "$work/$1" || fail "$1 has the line \"$2\""
}

# empty FILE
empty() {
    checks=$((checks + 1))
    [ ! -s "$work/$1" ] || fail "$1 is empty"
}

# ---- what ranks find ---------------------------------------------------------------------------
ends 0 -n 3 sh -c 'echo "rank $COLL_RANK of $COLL_SIZE, $COLL_SHARED bytes, $1"' sh --help
for rank in 0 1 2; do has out "rank $rank of 3, 16777216 bytes, --help"; done
empty err
ends 0 -n 2 --shared 4k -- sh -c 'echo "$COLL_SHARED"; [ -e /proc/self/fd/$COLL_SEGMENT ] || exit 1'
has out 4096
echo input | timeout 60 "$coll" launch -n 3 sh -c 'echo "$COLL_RANK $(cat)"' >"$work/out" 2>"$work/err"
has out '0 input'
has out '1 '
ends 0 --help
ends 0 --bind -n 2 sh -c 'true'

# ---- a program ---------------------------------------------------------------------------------
if [ -x "$example" ]; then
    for p in 1 2 5; do
        ends 0 -n $p "$example"
        has out "$p rank$([ $p = 1 ] || echo s): the sum is 49950000, the largest 999"
    done
    COLL_RANK=x COLL_SIZE=2 "$example" >"$work/out" 2>"$work/err"
    has err '05_processes: COLL_RANK is not what coll launch sets: "x"'
    # A rank that never attaches fails; the others are told, and say so.
    ends 3 -n 3 sh -c '[ $COLL_RANK != 1 ] || exit 3; exec "$0"' "$example"
    has err 'coll launch: rank 1 ended with exit code 3'
elif [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    fail "$example is not there"
fi

# ---- failures and signals ----------------------------------------------------------------------
ends 7 -n 3 sh -c '[ $COLL_RANK != 2 ] || exit 7; exec sleep 30'
has err 'coll launch: rank 2 ended with exit code 7'
ends 137 -n 2 sh -c '[ $COLL_RANK != 1 ] || kill -9 $$; exec sleep 30'
has err 'coll launch: rank 1 was ended by signal 9, Killed'
# One that does not want to end is killed.
ends 5 -n 2 sh -c '[ $COLL_RANK != 1 ] || exit 5; trap "" TERM; while :; do sleep 1; done'

# A signal reaches all ranks, and they may handle it.
"$coll" launch -n 2 sh -c 'trap "echo got $COLL_RANK; exit 0" USR1; echo up; while :; do sleep 0.1; done' \
    >"$work/out" 2>"$work/err" &
launcher=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(grep -c up "$work/out")" = 2 ] && break
    sleep 0.2
done
kill -USR1 $launcher
wait $launcher
code=$?
checks=$((checks + 1))
[ $code -eq 0 ] || fail "after a signal that ranks handle the code is 0, not $code"
has out 'got 0'
has out 'got 1'

# Ranks do not outlive a launcher that is killed.
"$coll" launch -n 2 sh -c 'echo $$; exec sleep 40' >"$work/out" 2>"$work/err" &
launcher=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(wc -l <"$work/out")" -eq 2 ] && break
    sleep 0.2
done
kill -KILL $launcher
wait $launcher 2>/dev/null
sleep 0.5
for rank in $(cat "$work/out"); do
    checks=$((checks + 1))
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$rank/status" 2>/dev/null)
    case $state in '' | Z) ;; *) fail "rank $rank lives on, $state" ;; esac
done

# It does not matter what it is started with: signals that are ignored, children of another, streams that are closed.
checks=$((checks + 3))
timeout -k 1 20 env --ignore-signal=CHLD "$coll" launch -n 2 true >"$work/out" 2>"$work/err"
code=$?
[ $code -eq 0 ] || fail "where SIGCHLD is ignored the code is 0, not $code"
timeout -k 1 20 sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >"$1/pid"; shift; exec "$@"' sh "$work" \
    "$coll" launch -n 2 /no/such/program >"$work/out" 2>"$work/err"
code=$?
kill "$(cat "$work/pid")"
[ $code -eq 2 ] || fail "where the process has another child the code is 2, not $code"
timeout -k 1 20 "$coll" launch -n 2 sh -c 'echo out; [ $COLL_SEGMENT -gt 2 ] && [ -e /proc/self/fd/$COLL_SEGMENT ]' \
    <&- >&- 2>&-
code=$?
[ $code -eq 0 ] || fail "without standard streams the code is 0, not $code"

# ---- TCP ---------------------------------------------------------------------------------------
ends 0 -n 5 "${example%/*}/12_tcp_processes"
[ "$(sed 's/ on .*//' "$work/out")" = "$(for r in 0 1 2 3 4; do echo "rank $r of 5"; done)" ] || fail "ranks find each other"
ends 0 -n 3 sh -c '[ -z "${COLL_RENDEZVOUS_FD:-}" ] || [ -e "/proc/self/fd/$COLL_RENDEZVOUS_FD" ]'
ends 1 -n 2 sh -c '[ $COLL_RANK -eq 1 ] || COLL_SECRET=00112233445566778899aabbccddeeff; exec "$0"' \
    "${example%/*}/12_tcp_processes"
grep -q 'has another secret' "$work/err" || fail "the secret is not asked for"

# ---- sentences ---------------------------------------------------------------------------------
ends 2 -n 2
has err 'coll launch: PROGRAM is missing; coll launch --help shows the usage'
ends 2 -n 2 /no/such/program
has err 'coll launch: /no/such/program cannot be started: No such file or directory'
ends 2 -n 0 true
has err 'coll launch: -n is a whole number from 1 to 1024, not "0"'
ends 2 --shared 8192G true
has err 'coll launch: this machine has no 8796093022208 bytes of memory to share'
ends 2 --sharde 1 true
has err 'coll launch: there is no option --sharde; did you mean --shared?'

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
