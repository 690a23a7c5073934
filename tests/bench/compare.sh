#!/bin/sh
# bench/compare.sh: ratios, means and exit codes of two trees whose benchmarks print what they are told; sentences.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
compare=$COLL_SOURCE/bench/compare.sh
PATH=$(dirname "$COLL_CMAKE"):$PATH
export CC="$COLL_CC"
checks=0 failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    cat out err
}

# ends CODE ARGUMENT…
ends() {
    code=$1
    shift
    checks=$((checks + 1))
    sh "$compare" "$@" >out 2>err
    is=$?
    [ $is -eq "$code" ] || fail "compare.sh $* ends with $is instead of $code"
}

# says PATTERN: the last run printed a line that matches.
says() {
    checks=$((checks + 1))
    grep -q -e "$1" out || fail "there is no line $1"
}

# tree NAME: a tree whose benchmarks print NAME/bench/WHICH.csv, and their arguments on stderr.
tree() {
    mkdir -p "$1/bench"
    cat >"$1/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.16)
project(fixture LANGUAGES C)
foreach(name executor steps simulator)
  add_executable(bench_${name} bench/print.c)
  target_compile_definitions(bench_${name} PRIVATE "FILE_NAME=\"${PROJECT_SOURCE_DIR}/bench/${name}.csv\"")
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
endforeach()
C
    cat >"$1/bench/print.c" <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(FILE_NAME, "r");
    int c;
    if (!file || (argc > 1 && argv[1][0] == '!'))
        return 3;
    while ((c = getc(file)) != EOF)
        putchar(c);
    return 0;
}
C
    cat >"$1/bench/steps.csv" <<C
collective,algorithm,parameters,p,actions,actions_per_step,ns_per_action,ns_per_action_least
bcast,ring,,4,8,2.00,$2,1.00
bcast,tree,k=2 segment=3,4,8,2.00,$3,1.00
bcast,only_$1,,4,8,2.00,5.00,1.00
mean of 3 rows,,,,,,99.00,1.00
worst,bcast,tree,k=2,9,9.00,99.00
C
    cat >"$1/bench/simulator.csv" <<C
collective,algorithm,p,messages,events,makespan_us,best_million_per_s,median_million_per_s,first_million_per_s,first_s,bytes_per_rank
bcast,ring,4,8,9,1.000,9.00,$4,9.00,0.100,99
C
}
tree first 8.00 6.00 5.00
tree second 4.00 6.25 6.00

ends 0 --launches 2 --scratch kept first second steps simulator
says '^old        first ('
says '^processor  ..*, [0-9]* of them$'
says '^compiler   ..*[0-9]'
says '^launches   2 of each, in turns$'
says '^steps: old/new 1.386 in the geometric mean of 2 cells; 0 below 0.92$'
says '^    1 cells are in old alone, 1 in new alone$'
says '^     0.960  bcast tree k=2 segment=3 4: time 6, then 6.25$'
says '^     2.000  bcast ring 4: time 8, then 4$'
says '^simulator: old/new 1.200 in the geometric mean of 1 cells'
says 'bcast ring 4: rate 5, then 6$'
ends 0 --launches 1 --scratch kept --worst 1 --csv cells.csv first second steps
[ "$(grep -c '^     *[0-9]\.' out)" -eq 1 ] || fail 'more than the worst cell is printed'
[ "$(tail -1 cells.csv)" = 'steps,bcast tree k=2 segment=3 4,6,6.25,0.9600' ] || fail 'the CSV has another line'
ends 1 --launches 1 --scratch kept --cell 0.97 first second steps
says '^NEW is slower: a mean below 0.98 or a cell below 0.97$'
ends 1 --launches 1 --scratch back second first steps
says '^steps: old/new 0.722 in the geometric mean of 2 cells; 1 below 0.92$'
ends 1 --launches 1 --scratch back --cell 0 second first simulator
ends 0 --launches 1 --scratch back --cell 0 --mean .7 second first steps simulator

# sentence SENTENCE ARGUMENT…
sentence() {
    wanted="bench/compare.sh: $1"
    shift
    ends 2 "$@"
    [ "$(tail -1 err)" = "$wanted" ] || fail "compare.sh $* does not say: $wanted"
}
usage='usage: bench/compare.sh [--launches N] [--mean R] [--cell R] [--worst N|all] [--csv FILE] [--scratch FOLDER] OLD NEW [BENCHMARK...]'
sentence "$usage"
sentence "$usage" first
sentence "$usage" --fast first second
sentence '--launches needs a value' --launches
sentence '--launches is a number, not "0"' --launches 0 first second
sentence '--cell is a number, not "most"' --cell most first second
sentence 'there is no benchmark "speed"; there are executor, steps, simulator, peers, mpi' first second speed
sentence "nothing is neither a folder with CMakeLists.txt nor a revision of $COLL_SOURCE" nothing second steps
sentence "steps:!,x of first (no revision) fails" --scratch kept first second 'steps:!,x'
rm second/bench/print.c
sentence 'second (no revision) cannot be built, see above' first second steps
ends 0 --help

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
