#!/bin/sh
# bench/compare.sh — is one state of the library faster than another? Both are built and run in turns
#
#   bench/compare.sh [option…] OLD NEW [BENCHMARK…]
#   bench/compare.sh 1c9335a HEAD executor:null,allreduce steps
#
# OLD and NEW are folders with a tree, or revisions of this repository. BENCHMARK is executor, steps, simulator (these three
# if none is given), peers or mpi; behind a colon stand its arguments, with commas between them: what bench/executor.c … say, or
# options of peers.sh and mpi.sh, which want the MPI libraries.
#
#   --launches N       so many runs of each (5)
#   --mean R           least geometric mean of a benchmark (0.98)
#   --cell R           least ratio of a cell (0.92)
#   --worst N          cells that are printed of each benchmark, the worst first (10); all: every one
#   --csv FILE         writes all cells there
#   --scratch FOLDER   builds there and leaves it, so that the next comparison need not build; else in one that is removed
#
# A cell is a line of a benchmark's CSV: a collective, an algorithm, a size. In each launch both run side by side, OLD first in
# every other one. The ratio of a cell is the time of OLD over that of NEW, so above 1 NEW is faster: the median over the
# launches, of the two runs of each. Times are medians, too. Of peers and mpi what is compared is how many times faster than the
# MPI libraries' own calls, measured in the same run, each is: a run takes a minute, and machines drift by a third
# meanwhile. Ends with 1 if a mean or a cell is below its least.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
launches=5 mean=0.98 cell=0.92 worst=10 csv= scratch=

stop() {
    echo "bench/compare.sh: $*" >&2
    exit 2
}

usage() {
    stop "usage: bench/compare.sh [--launches N] [--mean R] [--cell R] [--worst N|all] [--csv FILE] [--scratch FOLDER] OLD NEW [BENCHMARK...]"
}

# number NAME TEXT PATTERN
number() {
    echo "$2" | grep -q -x -E "$3" || stop "$1 is a number, not \"$2\""
}

while [ $# -gt 0 ]; do
    case $1 in
    --launches | --mean | --cell | --worst | --csv | --scratch) [ $# -gt 1 ] || stop "$1 needs a value" ;;
    esac
    case $1 in
    --launches) number "$1" "$2" '[1-9][0-9]*' && launches=$2 ;;
    --mean) number "$1" "$2" '[0-9]*\.?[0-9]+' && mean=$2 ;;
    --cell) number "$1" "$2" '[0-9]*\.?[0-9]+' && cell=$2 ;;
    --worst) number "$1" "$2" 'all|[0-9]+' && worst=$2 ;;
    --csv) csv=$2 ;;
    --scratch) scratch=$2 ;;
    --help | -h) sed -n '2,/^set/{s/^# \{0,1\}//p;}' "$0" && exit 0 ;;
    -*) usage ;;
    *) break ;;
    esac
    shift 2
done
[ $# -ge 2 ] || usage
old=$1 new=$2
shift 2
[ $# -gt 0 ] || set -- executor steps simulator

# columns BENCHMARK: the columns that name a cell, the columns that are compared (* stands for any beginning), and what these are.
columns() {
    case $1 in
    executor) echo 'transport,collective,algorithm,p,window ns_per_action time' ;;
    steps) echo 'collective,algorithm,parameters,p ns_per_action time' ;;
    simulator) echo 'collective,algorithm,p median_million_per_s rate' ;;
    peers) echo 'ranks,work,bytes,buffers threads_x,processes_x,segment_x,*_layer_x,*_segment_x rate' ;;
    mpi) echo 'library,ranks,collective,bytes ratio rate' ;;
    *) stop "there is no benchmark \"$1\"; there are executor, steps, simulator, peers, mpi" ;;
    esac
}
targets= layer=OFF
for benchmark in "$@"; do
    columns "${benchmark%%:*}" >/dev/null
    case ${benchmark%%:*} in
    peers) layer=ON ;;
    mpi) layer=ON ;;
    *) targets="$targets bench_${benchmark%%:*}" ;;
    esac
done

if [ -n "$scratch" ]; then
    mkdir -p "$scratch"
    work=$(cd "$scratch" && pwd)
    rm -f "$work"/*.csv
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM HUP
fi

# tree NAME WHAT: the source of old or new, as $work/NAME.tree, which is a link where it is a folder. What was built of another
# one is removed: its files may be younger.
tree() {
    rm -rf "$work/$1.tree"
    before=$(cat "$work/$1.name" 2>/dev/null || :)
    if [ -f "$2/CMakeLists.txt" ]; then
        ln -s "$(cd "$2" && pwd)" "$work/$1.tree"
        commit=$(git -C "$2" describe --always --dirty 2>/dev/null || echo 'no revision')
        echo "$2 ($commit)" >"$work/$1.name"
    elif commit=$(git -C "$here" rev-parse --verify --quiet --short "$2^{commit}"); then
        mkdir "$work/$1.tree"
        git -C "$here" archive "$commit" | tar -x -C "$work/$1.tree"
        [ "$commit" = "$2" ] && echo "$2" >"$work/$1.name" || echo "$2 ($commit)" >"$work/$1.name"
    else
        stop "$2 is neither a folder with CMakeLists.txt nor a revision of $here"
    fi
    [ "$before" = "$(cat "$work/$1.name")" ] || rm -rf "${work:?}/$1"
}

# build NAME: its benchmarks, in $work/NAME.
build() {
    echo "building $(cat "$work/$1.name")" >&2
    # shellcheck disable=SC2086
    {
        cmake -S "$work/$1.tree" -B "$work/$1" -DCMAKE_BUILD_TYPE=Release -DCOLL_BUILD_TESTS=OFF -DCOLL_BUILD_EXAMPLES=OFF \
            -DCOLL_BUILD_BENCH=ON -DCOLL_BUILD_TOOLS=$layer -DCOLL_BUILD_MPI=$layer &&
            if [ $layer = ON ]; then
                cmake --build "$work/$1" --parallel "$(nproc)"
            else
                cmake --build "$work/$1" --parallel "$(nproc)" --target $targets
            fi
    } >"$work/$1.log" 2>&1 || { tail -20 "$work/$1.log" >&2 && stop "$(cat "$work/$1.name") cannot be built, see above"; }
}

# play NAME BENCHMARK [ARGUMENT…]: one run, CSV with a head on stdout.
play() {
    name=$1 which=$2
    shift 2
    case $which in
    peers | mpi)
        BUILD=$work/$name sh "$work/$name.tree/bench/$which.sh" --launches 1 "$@" >&2
        cat "$work/$name/bench/$which.csv"
        ;;
    *) "$work/$name/bench/$which" "$@" 2>/dev/null ;;
    esac
}

tree old "$old"
tree new "$new"
build old
build new

compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$work/new/CMakeCache.txt")
echo "old        $(cat "$work/old.name")"
echo "new        $(cat "$work/new.name")"
echo "processor  $(sed -n 's/^model name[^:]*: *//p; s/^CPU part[^:]*: */ARM part /p' /proc/cpuinfo | head -1), $(nproc) of them"
echo "system     $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
echo "compiler   $("$compiler" --version | head -1), $(sed -n 's/^CMAKE_C_FLAGS_RELEASE:[^=]*=//p' "$work/new/CMakeCache.txt")"
echo "launches   $launches of each, in turns"

# The lines of a launch: launch, old or new, and the CSV.
at=0
for benchmark in "$@"; do
    at=$((at + 1))
    which=${benchmark%%:*}
    arguments=$(case $benchmark in *:*) echo "${benchmark#*:}" | tr , ' ' ;; esac)
    : >"$work/$at.csv"
    for launch in $(seq "$launches"); do
        order='old new'
        [ $((launch % 2)) -eq 1 ] || order='new old'
        for name in $order; do
            echo "launch $launch of $launches: $benchmark, $name" >&2
            # shellcheck disable=SC2086
            play "$name" "$which" $arguments >"$work/run" || stop "$benchmark of $(cat "$work/$name.name") fails"
            sed "s/^/$launch,$name,/" "$work/run" >>"$work/$at.csv"
        done
    done
done

[ -z "$csv" ] || echo 'benchmark,cell,old,new,ratio' >"$csv"
status=0 at=0
for benchmark in "$@"; do
    at=$((at + 1))
    # shellcheck disable=SC2046
    set -- $(columns "${benchmark%%:*}")
    awk -F, -v benchmark="$benchmark" -v keys="$1" -v values="$2" -v kind="$3" -v mean="$mean" -v cell="$cell" -v worst="$worst" \
        -v csv="$csv" -f "$here/bench/median.awk" -f "$here/bench/compare.awk" "$work/$at.csv" || status=1
done
[ $status -eq 0 ] || echo "
NEW is slower: a mean below $mean or a cell below $cell"
exit $status
