#!/bin/sh
# bench/tables.sh — MPICH and Open MPI with a table of ours (coll select --as) against what they choose by themselves
#
#   bench/tables.sh [--ranks 4,8] [--launches 3] [--rounds 15] [--most 262144] [TABLE]
#
# Without TABLE the built-in rules are written. Launches with the table and without it take turns; a cell's time is
# the median over the launches. Writes BUILD/bench/tables.csv (library, ranks, collective, bytes, microseconds
# without and with the table, and their ratio), and prints the geometric mean over the cells for which the table has a
# rule, and those below 0.9. MPICH is given yield.c and session.c where there are more ranks than processors, as
# in bench/mpi.sh, and MPIR_CVAR_DEVICE_COLLECTIVES=none with the table alone. BUILD is ./build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
ranks=4,8 launches=3 rounds=15 most=262144
while [ $# -gt 1 ]; do
    case $1 in
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    --rounds) rounds=$2 ;;
    --most) most=$2 ;;
    *) break ;;
    esac
    shift 2
done
case ${1:-} in -*) echo "usage: bench/tables.sh [--ranks P,P] [--launches N] [--rounds N] [--most N] [TABLE]" >&2; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# play LIBRARY P [FILE]: the times of all cells.
play() {
    program=$build/mpi/$1/bench/tables
    case $1 in
    mpich)
        yield= session=
        [ "$2" -le "$(nproc)" ] || yield=$build/mpi/mpich/tests/yield.so session=$build/mpi/mpich/tests/session.so
        LD_PRELOAD=$session mpiexec.mpich -n "$2" env LD_PRELOAD="$yield" \
            ${3:+MPIR_CVAR_DEVICE_COLLECTIVES=none MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$3"} \
            "$program" "$rounds" "$most" </dev/null
        ;;
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi --oversubscribe --bind-to none \
            --mca btl self,vader ${3:+--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "$3"} \
            -n "$2" "$program" "$rounds" "$most" </dev/null
        ;;
    esac
}

for library in mpich openmpi; do
    [ -x "$build/mpi/$library/bench/tables" ] || { echo "bench/tables.sh: no program for $library was built" >&2; continue; }
    format=openmpi_rules
    [ $library = openmpi ] || format=mpich_json
    "$build/coll" select --as $format -p 16 ${1:+--table "$1"} -o "$work/$library" 2>"$work/notes"
    for p in $(echo "$ranks" | tr , ' '); do
        for launch in $(seq "$launches"); do
            echo "launch $launch of $launches: $library, $p ranks" >&2
            play $library "$p" | sed "s/^/$library,$p,/; s/\$/,0/" >>"$work/all"
            play $library "$p" "$work/$library" | sed "s/^/$library,$p,/; s/\$/,1/" >>"$work/all"
        done
    done
done
[ -s "$work/all" ] || exit 1

# ruled COLLECTIVE P BYTES: has the table a rule for that? Of the built-in rules there always is one.
sed 's/#.*//' ${1:+"$1"} </dev/null >"$work/bare"
: >"$work/ruled"
cut -d, -f2-4 "$work/all" | sort -u | while IFS=, read -r p collective bytes; do
    set -- "$collective" -p "$p" # its bytes behind it
    [ "$collective" = barrier ] || set -- "$@" --bytes "$bytes"
    [ -s "$work/bare" ] || { echo "$p,$collective,$bytes" >>"$work/ruled" && continue; }
    sed 's/ *$/ # of the table/' "$work/bare" | grep -v '^ *# of the table$' >"$work/marked"
    ! "$build/coll" select "$@" --table "$work/marked" | grep -q '^rule .*# of the table$' || echo "$p,$collective,$bytes" >>"$work/ruled"
done

mkdir -p "$build/bench"
awk -F, -v csv="$build/bench/tables.csv" -f "$here/bench/median.awk" -f "$here/bench/tables.awk" "$work/ruled" "$work/all"
