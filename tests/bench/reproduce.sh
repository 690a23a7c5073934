#!/bin/sh
# bench/reproduce: a paper's numbers are within their tolerances, its sums are printed and in the report, and wrong
# arguments get a sentence.
set -u
program=$COLL_BUILD/bench/reproduce
if [ ! -x "$program" ]; then
    echo "skipped: $program is not built; COLL_BUILD_BENCH builds it"
    exit 77
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir report
checks=0 failed=0

# ends CODE COMMAND…
ends() {
    code=$1
    shift
    checks=$((checks + 1))
    "$@" >out 2>err
    is=$?
    [ $is -eq "$code" ] && return
    failed=$((failed + 1))
    echo "FAILED: $* ends with $is instead of $code"
    cat out err
}

# says FILE PATTERN
says() {
    checks=$((checks + 1))
    grep -q -E -e "$2" "$1" && return
    failed=$((failed + 1))
    echo "FAILED: $1 has no line with $2"
    cat "$1"
}

ends 2 "$program"
says err 'the folder of the report is missing'
ends 2 "$program" report wu
says err 'there is no paper "wu"; there are moody, .*atcom'
ends 2 "$program" nowhere atcom
says err 'nowhere cannot be entered'
ends 0 "$program" report atcom
says out '^Wu 2005: ATCOM$'
says out '^  predicted  numbers: [0-9]+ of [0-9]+ within their tolerances, off by [0-9.]+ % in the median'
says out '^  parameters .*Myrinet: chosen'
says out '^0 numbers and statements are not as they should be'
says report/report.md '^\| of them measured \| 4 \| 4 \| \+0\.0 % \| within 0 % \| assumed \|$'
says report/report.md '\| not reproduced \| predicted \|$'
says report/report.md '^### What of it is reproduced$'
says report/report.md '^\| parameters that are not the paper.s \| fitted to, or chosen by \|$'
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
