#!/bin/sh
# bench/osu.sh — the OSU micro-benchmarks of collectives, as shipped, with the layer and without it in turns
#
#   OSU=FOLDER bench/osu.sh [--libraries mpich,openmpi] [--ranks 2,4] [--launches 3] [--iterations 1000]
#              [--kinds blocking] [--only allreduce,bcast] [--most 1048576]
#
# FOLDER holds a build of the benchmarks for each library, made in FOLDER/mpich and FOLDER/openmpi:
#
#   mkdir mpich && cd mpich && CC=mpicc.mpich CXX=mpicxx.mpich ../osu-micro-benchmarks-7.4/configure && make
#
# Kinds are the folders of the benchmarks: blocking, non_blocking, persistent, neighborhood. Each program runs
# LAUNCHES times with LD_PRELOAD=libcollmpi.so and as often without, in turns. Writes BUILD/bench/osu.csv
# (medians over the launches, in microseconds) and prints the geometric mean of library/layer for each library
# and number of ranks, and every cell in which the layer is behind. BUILD is ./build.
#
# A program that the library itself does not end in two minutes is left out, with a line that says so.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
libraries=mpich,openmpi ranks=2,4 launches=3 iterations=1000 kinds=blocking only= most=1048576
while [ $# -gt 1 ]; do
    case $1 in
    --libraries) libraries=$2 ;;
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    --iterations) iterations=$2 ;;
    --kinds) kinds=$2 ;;
    --only) only=$2 ;;
    --most) most=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# -eq 0 ] && [ -d "${OSU:-}" ] || {
    echo "usage: OSU=FOLDER bench/osu.sh [--libraries mpich,openmpi] [--ranks P,P] [--launches N] [--iterations N]" \
        "[--kinds KIND,KIND] [--only NAME,NAME] [--most BYTES]; FOLDER/mpich and FOLDER/openmpi are builds of the benchmarks" >&2
    exit 2
}

# run LIBRARY P LAYER PROGRAM: one launch; LAYER is the file to preload, or empty.
run() {
    library=$1 p=$2 layer=$3
    shift 3
    if [ "$library" = mpich ]; then
        timeout 120 mpiexec.mpich -n "$p" ${layer:+-env LD_PRELOAD "$layer"} "$@"
    else
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpiexec.openmpi --oversubscribe \
            --bind-to none --mca btl self,vader -n "$p" ${layer:+-x LD_PRELOAD="$layer"} "$@"
    fi
}

# cells LIBRARY P KIND PROGRAM LAYER: a launch, as lines of library,ranks,program,bytes and a time in the first
# column with the layer, in the second without it.
cells() {
    file=$OSU/$1/c/mpi/collective/$3/$4
    sizes="-m 8:$most"
    case $4 in *barrier*) sizes= ;; esac
    # shellcheck disable=SC2086 # the sizes are words
    run "$1" "$2" "$5" "$file" $sizes -i "$iterations" -x $((iterations / 10)) >"$text" 2>&1 || {
        echo "$4 of $1, $2 ranks, $([ "$5" ] && echo with || echo without) the layer: not ended: $(tail -n 1 "$text")" >&2
        return 1
    }
    awk -v head="$1,$2,$4" -v with="$5" '
        /^ *[0-9.]+( |$)/ { print head "," (NF > 1 ? $1 : 0) "," (with ? $NF "," : "," $NF) }' "$text" >>"$all"
}

all=$(mktemp) text=$(mktemp)
trap 'rm -f "$all" "$text"' EXIT
for launch in $(seq "$launches"); do
    for p in $(echo "$ranks" | tr , ' '); do
        for library in $(echo "$libraries" | tr , ' '); do
            for kind in $(echo "$kinds" | tr , ' '); do
                for file in "$OSU/$library/c/mpi/collective/$kind"/osu_*; do
                    program=${file##*/}
                    name=${program#osu_}
                    case $program in *.o) continue ;; esac
                    case ,$only, in ,, | *",$name,"*) ;; *) continue ;; esac
                    echo "launch $launch of $launches: $library, $p ranks, $program" >&2
                    cells "$library" "$p" "$kind" "$program" "" &&
                        cells "$library" "$p" "$kind" "$program" "$build/mpi/$library/libcollmpi.so" || true
                done
            done
        done
    done
done
[ -s "$all" ] || { echo "bench/osu.sh: nothing ran: is $OSU/mpich or $OSU/openmpi a build of the benchmarks?" >&2; exit 1; }

mkdir -p "$build/bench"
csv=$build/bench/osu.csv
{
    echo library,ranks,program,bytes,layer_us,library_us,ratio
    awk -f "$here/bench/median.awk" -f "$here/bench/medians.awk" "$all" |
        awk -F, '$5 > 0 && $6 > 0 { printf "%s,%.3f\n", $0, $6 / $5 }' | sort -t , -k 1,1 -k 2,2n -k 3,3 -k 4,4n
} >"$csv"
awk -F, 'NR > 1 { k = $1 ", " $2 " ranks"; s[k] += log($7); n[k]++; if ($7 < 0.95) b[k]++ }
    END { for (k in n) printf "%s: library/layer %.2f in geometric mean over %d cells, %d below 0.95\n", k, exp(s[k] / n[k]), n[k], b[k] }' "$csv" | sort
awk -F, 'NR > 1 && $7 < 0.95 { printf "    %-8s %d ranks %-24s %8d bytes: %9.2f us with, %9.2f without, %.2f\n", $1, $2, $3, $4, $5, $6, $7 }' "$csv"
echo "$csv written"
