#!/bin/sh
# tests/examples/cg.sh — the conjugate-gradient example: its answers, and every sentence about bad input
#
#   tests/examples/cg.sh [CG]        CG: the program; by default that of the build directory. Without it
#                                    the test is skipped, or fails where COLL_REQUIRE_ALL=1
set -u
here=$(cd "$(dirname "$0")" && pwd)
cg=${1:-${COLL_BUILD:-$here/../../build}/examples/cg}
if [ ! -x "$cg" ]; then
    echo "cg.sh: $cg is not there; the examples were not built"
    [ "${COLL_REQUIRE_ALL:-}" = 1 ] && exit 1
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0 failures=0

# fail WHAT: a check does not hold; shows what the program said.
fail()
{
    echo "does not hold: $*"
    sed 's/^/    /' "$work/out" "$work/err" | head -20
    failures=$((failures + 1))
}

# run EXIT-CODE ARGUMENTS...: runs the program and checks how it ends.
run()
{
    wanted=$1
    shift
    timeout 60 "$cg" "$@" >"$work/out" 2>"$work/err"
    code=$?
    checks=$((checks + 1))
    [ $code -eq "$wanted" ] || fail "cg $* ends with $wanted (it was $code)"
}

# says TEXT: the last run printed it.
says()
{
    checks=$((checks + 1))
    grep -qF -- "$1" "$work/out" || fail "the output has \"$1\""
}

# silent TEXT: it did not.
silent()
{
    checks=$((checks + 1))
    ! grep -qF -- "$1" "$work/out" || fail "the output lacks \"$1\""
}

# refused SENTENCE: the last run printed exactly this on stderr.
refused()
{
    checks=$((checks + 1))
    [ "$(cat "$work/err")" = "cg: $1" ] || fail "the complaint is \"cg: $1\""
}

# ---- answers ------------------------------------------------------------------------------

# Few ranks, many, and more than rows: the operator order is checked bit by bit by --check.
for ranks in 1 2 3 4 7 13; do
    run 0 "$here/data/laplace.mtx" --ranks $ranks --check --tolerance 1e-12
    says "10 rows, 28 entries"
    says "converged after 5 iterations"
    says "one thread, same operator order: 5 iterations, here 5; all 10 numbers have the same bits"
    silent FAILED
done
run 0 "$here/data/general_crlf.mtx" --ranks 3 --check --tolerance=1e-12
says "4 rows, 9 entries"
says "converged after"
says "same bits"
for ranks in 1 2 5 70; do
    run 0 --grid 7,6,5 --ranks $ranks --reproducible --check
    says "210 rows, 3952 entries"
    says "one rank: 14 iterations, here 14; all 210 numbers have the same bits"
done

# Printed with all digits, the residuals are the same for any number of ranks.
for ranks in 1 2 3 4 5 6 7 8; do
    run 0 --grid 7,6,5 --ranks $ranks --reproducible
    grep -E '^ +[0-9]+  [0-9]\.[0-9]{16}e[-+][0-9]+$' "$work/out" >"$work/residuals.$ranks"
    checks=$((checks + 2))
    [ "$(wc -l <"$work/residuals.$ranks")" -eq 15 ] || fail "15 residuals of 14 iterations"
    cmp "$work/residuals.1" "$work/residuals.$ranks" || fail "$ranks ranks have the residuals of one"
done

# The error is of the size of the tolerance.
error=$(sed -n 's/.*largest error //p' "$work/out")
checks=$((checks + 1))
echo "$error" | grep -Eq '^[0-9.]+e-(09|[1-9][0-9])$' || fail "the error $error is below 1e-8"

# Every algorithm gives the answer; those that the report names are the ones that were asked for.
for choice in allreduce=ring allreduce=fnomial:f=3 allreduce=linear allreduce=recursive_doubling \
    allgatherv=linear allgatherv=ring; do
    run 0 --grid 5,5,5 --ranks 5 --check --algorithm $choice
    says "all 125 numbers have the same bits"
    name=${choice#*=}
    says "coll show ${choice%%=*} ${name%%:*} -p 5 --count"
done
run 0 --grid 5,5,5 --ranks 3 --algorithm allreduce=fnomial:f=4,segment=1
says "coll show allreduce fnomial -p 3 --count 1 --param f=4 --param segment=1"

# The commands at the end are right.
if [ -x "${COLL_COMMAND:-/nonexistent}" ]; then
    sed -n 's/^ *coll \(show .*\)/\1/p' "$work/out" >"$work/commands"
    checks=$((checks + 1))
    [ "$(wc -l <"$work/commands")" -eq 4 ] || fail "four commands"
    while read -r line; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086
        "$COLL_COMMAND" $line >"$work/out" 2>"$work/err" </dev/null || fail "coll $line"
    done <"$work/commands"
fi

# ---- no answer ----------------------------------------------------------------------------

run 1 --grid 9,9,9 --max-iterations 2
says "not converged after 2 iterations"
run 0 --help
says "usage: cg"

# matrix SYMMETRY LINES...: writes one.
matrix()
{
    printf '%%%%MatrixMarket matrix coordinate real %s\n' "$1" >"$work/m"
    shift
    printf '%s\n' "$@" >>"$work/m"
}

matrix symmetric '2 2 3' '1 1 1' '2 1 2' '2 2 1.5'
run 1 "$work/m" --ranks 2
says "the matrix is not positive definite: p.Ap <= 0 after 1 iteration"
matrix symmetric '2 2 3' '1 1 1' '2 1 -1' '2 2 1'
run 1 "$work/m"
says "the matrix is not positive definite: p.Ap <= 0 after 0 iterations"
matrix symmetric '2 2 2' '1 1 1e300' '2 2 1e300'
run 1 "$work/m"
says "the numbers overflow after 0 iterations"

# ---- bad files ----------------------------------------------------------------------------

# bad PLACE SENTENCE TEXT: the file of this text, in printf's words, is refused for this reason.
bad()
{
    # shellcheck disable=SC2059
    printf "$3" >"$work/m"
    run 2 "$work/m"
    refused "$work/m$1: $2"
}
head='%%%%MatrixMarket matrix coordinate real'

run 2 "$work/none"
refused "$work/none: cannot open: No such file or directory"
run 2 "$work"
refused "$work:1: cannot read: Is a directory"
bad :1 'the file is empty' ''
bad :1 'the file does not begin with %%MatrixMarket' '3 3 3\n1 1 1\n'
bad :1 'object "vector" is not supported, only matrix' '%%%%MatrixMarket vector coordinate real general\n'
bad :1 'format "array" is not supported, only coordinate' '%%%%MatrixMarket matrix array real general\n2 2\n'
bad :1 'field "complex" is not supported, only real and integer' '%%%%MatrixMarket matrix coordinate complex general\n'
bad :1 'field "pattern" is not supported, only real and integer' '%%%%MatrixMarket matrix coordinate pattern symmetric\n'
bad :1 'symmetry "skew-symmetric" is not supported, only symmetric and general' "$head skew-symmetric\n"
bad :1 'symmetry "hermitian" is not supported, only symmetric and general' "$head hermitian\n"
bad :1 'symmetry "" is not supported, only symmetric and general' "$head\n"
bad :1 'the first line has more than five words' "$head general indeed\n"
bad :3 'the line of sizes is missing' "$head general\n%% nothing\n"
bad :2 'expected three numbers: rows, columns, entries' "$head general\n2 2\n"
bad :2 'expected three numbers: rows, columns, entries' "$head general\n2 2 2 2\n"
bad :2 'expected three numbers: rows, columns, entries' "$head general\n2 2 -2\n"
bad :2 'expected three numbers: rows, columns, entries' "$head general\n2 2 99999999999999999999\n"
bad :2 'the matrix has 3 rows and 4 columns; it must be square' "$head general\n3 4 1\n1 1 1\n"
bad :2 'the matrix has no rows' "$head general\n0 0 0\n"
bad :2 'the matrix is too large' "$head general\n5000000000 5000000000 5000000000\n"
bad :2 'not positive definite: 1 entries cannot fill a diagonal of 2' "$head general\n2 2 1\n1 1 1\n"
bad :3 'expected row, column and value' "$head general\n1 1 1\n1 1\n"
bad :3 'more than row, column and value' "$head general\n1 1 1\n1 1 1 0\n"
bad :3 'row "2" is not a number from 1 to 1' "$head general\n1 1 1\n2 1 1\n"
bad :3 'row "0" is not a number from 1 to 1' "$head general\n1 1 1\n0 1 1\n"
bad :3 'row "1.5" is not a number from 1 to 1' "$head general\n1 1 1\n1.5 1 1\n"
bad :4 'column "3" is not a number from 1 to 2' "$head general\n2 2 2\n1 1 1\n1 3 1\n"
bad :3 'column "-1" is not a number from 1 to 1' "$head general\n1 1 1\n1 -1 1\n"
bad :3 'value "one" is not a number' "$head general\n1 1 1\n1 1 one\n"
bad :3 'value "1.0D0" is not a number' "$head general\n1 1 1\n1 1 1.0D0\n"
bad :3 'value "nan" is not finite' "$head general\n1 1 1\n1 1 nan\n"
bad :3 'value "-inf" is not finite' "$head general\n1 1 1\n1 1 -inf\n"
bad :3 'value "1e999" is not finite' "$head general\n1 1 1\n1 1 1e999\n"
bad :4 'the file ends after 1 of 2 entries' "$head general\n2 2 2\n1 1 1\n"
bad :6 'more than the 2 entries that the line of sizes says' "$head general\n2 2 2\n1 1 1\n2 2 1\n\n1 2 1\n"
bad :3 'the line holds a zero byte; this is not a text file' "$head general\n1 1 1\n1 1 \0001\n"
bad :4 'the values at (1, 1) add up to more than a double' "$head general\n1 1 2\n1 1 1e308\n1 1 1e308\n"
bad :4 'not positive definite: diagonal entry (2, 2) is 0' "$head general\n2 2 2\n1 1 1\n2 2 0\n"
bad :3 'not positive definite: diagonal entry (1, 1) is -4' "$head symmetric\n2 2 2\n1 1 -4\n2 2 1\n"
bad '' 'not positive definite: row 2 has no diagonal entry' "$head symmetric\n3 3 3\n1 1 1\n2 1 0.5\n3 3 1\n"
bad '' 'not positive definite: row 3 has no diagonal entry' "$head symmetric\n3 3 3\n1 1 1\n2 1 0.5\n2 2 1\n"
bad :4 'not symmetric: (1, 2) is 0.5, but (2, 1) is 0' "$head general\n2 2 3\n1 1 1\n1 2 0.5\n2 2 1\n"
bad :5 'not symmetric: (1, 2) is 0.5, but (2, 1) is 0.25' "$head general\n2 2 4\n1 1 1\n2 1 0.25\n1 2 0.5\n2 2 1\n"

# ---- bad arguments ------------------------------------------------------------------------

# usage SENTENCE ARGUMENTS...
usage()
{
    sentence=$1
    shift
    run 2 "$@"
    refused "$sentence"
}
none='give a matrix: a Matrix Market file or --grid NX,NY,NZ, one of them; --help explains'
usage "$none"
usage "$none" --grid 2,2,2 "$here/data/laplace.mtx"
usage 'one matrix at a time: a or b' a b
usage 'unknown option --fast; --help lists them' --fast
usage '--ranks wants a value; --help explains' --grid 2,2,2 --ranks
usage '--ranks wants a number from 1 to 1024, not "0"' --grid 2,2,2 --ranks 0
usage '--ranks wants a number from 1 to 1024, not "4x"' --grid 2,2,2 --ranks=4x
usage '--grid wants a number from 1 to 65535, not "0,1,1"' --grid 0,1,1
usage '--grid wants three numbers, such as 32,32,32' --grid 4,4
usage '--grid wants a number from 1 to 65535, not "4,4"' --grid 4,4,4,4
usage '--grid 65535,65535,2 has more than 4294967294 points' --grid 65535,65535,2
usage '--tolerance wants a number from 0 to 1, not "small"' --tolerance small
usage '--max-iterations wants a number from 0 to 1000000000, not "-1"' --max-iterations -1
usage '--algorithm wants allreduce=NAME or allgatherv=NAME, not "bcast=fnomial"' --algorithm bcast=fnomial
usage 'there is no allreduce algorithm "magic"; coll list shows all' --algorithm allreduce=magic
usage 'there is no allgatherv algorithm "fnomial"; coll list shows all' --algorithm allgatherv=fnomial
usage 'fnomial has no parameter "g"' --algorithm allreduce=fnomial:g=2
usage 'f of fnomial wants a value, as in f=2' --algorithm allreduce=fnomial:f

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
