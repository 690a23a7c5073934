#!/bin/sh
# bench/mpi.sh — MPI's collectives through the layer against the libraries' own: a table and a picture
#
#   bench/mpi.sh [--ranks 2,4,8] [--launches 3] [--rounds 9] [--only allreduce,bcast] [--shm 0]
#                [--most 4194304]
#
# Messages are the library's, unless --shm 1 has the layer send them through the memory of the node.
# For each library that was built (MPICH, Open MPI), each number of ranks and several launches, it runs
# mpi/bench/collectives under the layer, in which calls of the layer and of the library take turns. Writes
# BUILD/bench/mpi.csv (medians over the launches) and heat maps of the ratios, BUILD/bench/mpi.svg and .pdf,
# and prints every cell in which the layer takes more than 1.15 times the library's time. BUILD is ./build.
#
# With more ranks than processors MPICH's own waits do not yield, and its calls take milliseconds; it is then
# given mpi/tests/preload/yield.c, which lets it yield, and its launcher session.c, without which yielding is in
# vain: its best setting.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
ranks=2,4,8 launches=3 rounds=9 only= shm=0 most=4194304
while [ $# -gt 1 ]; do
    case $1 in
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    --rounds) rounds=$2 ;;
    --only) only=$2 ;;
    --shm) shm=$2 ;;
    --most) most=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# -eq 0 ] || { echo "usage: bench/mpi.sh [--ranks P,P] [--launches N] [--rounds N] [--only NAME,NAME] [--shm 0|1] [--most BYTES]" >&2; exit 2; }

# run LIBRARY P: one launch, as CSV.
run() {
    layer=$build/mpi/$1/libcollmpi.so program=$build/mpi/$1/bench/collectives
    set -- "$1" "$2" --rounds "$rounds" --most "$most" ${only:+--only "$only"}
    library=$1 p=$2
    shift 2
    if [ "$library" = mpich ]; then
        together=
        [ "$p" -le "$(nproc)" ] || { layer=$layer:$build/mpi/mpich/tests/yield.so together=$build/mpi/mpich/tests/session.so; }
        LD_PRELOAD=$together mpiexec.mpich -n "$p" -env LD_PRELOAD "$layer" -env COLL_SHM "$shm" "$program" "$@"
    else
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi --oversubscribe --bind-to none \
            --mca btl self,vader -n "$p" -x LD_PRELOAD="$layer" -x COLL_SHM="$shm" "$program" "$@"
    fi
}

all=$(mktemp)
trap 'rm -f "$all"' EXIT
for launch in $(seq "$launches"); do
    for p in $(echo "$ranks" | tr , ' '); do
        for library in mpich openmpi; do
            [ -x "$build/mpi/$library/bench/collectives" ] || continue
            echo "launch $launch of $launches: $library, $p ranks" >&2
            run "$library" "$p" | grep -v '^library,' >>"$all"
        done
    done
done
[ -s "$all" ] || { echo "bench/mpi.sh: nothing was built for MPI in $build: make build" >&2; exit 1; }

# The median of each column over the launches.
mkdir -p "$build/bench"
csv=$build/bench/mpi.csv
{
    echo library,ranks,collective,bytes,layer_us,library_us,ratio,by_hand_us
    awk -f "$here/bench/median.awk" -f "$here/bench/medians.awk" "$all"
} >"$csv"

echo "Cells in which the layer takes more than 1.15 times the library's time, of $(($(wc -l <"$csv") - 1)):"
awk -F, 'NR > 1 && $7 < 1 / 1.15 { printf "    %-8s %d ranks %-22s %8d bytes: %9.2f us with, %9.2f without, %.2f times\n", $1, $2, $3, $4, $5, $6, 1 / $7 }' "$csv"
awk -F, 'NR > 1 && $7 > 0 { k = $1 ", " $2 " ranks"; s[k] += log($7); n[k]++ } END { for (k in n) printf "%s: geometric mean of library/layer %.2f over %d cells\n", k, exp(s[k] / n[k]), n[k] }' "$csv" | sort
echo "Reductions of two ranks written by hand over the same messages (mpi/bench/exchange.h):"
awk -F, 'NR > 1 && $8 > 0 && $4 >= 16384 { printf "    %-8s %-20s %8d bytes: library/by hand %.2f, library/layer %.2f\n", $1, $3, $4, $6 / $8, $7 }' "$csv"

awk -F, 'NR > 1 { print ($1 == "mpich" ? "MPICH" : "Open MPI") ": " $2 " ranks," $3 "," $4 "," $7 }' "$csv" | sort -s -t : -k 1,1 |
    "$here/bench/heat.sh" "$build/bench/mpi" "$(echo "$ranks" | tr , '\n' | wc -l)" "The layer: times as fast as the MPI library's own collectives"
echo "$csv written"
