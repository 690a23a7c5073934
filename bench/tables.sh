#!/bin/sh
# bench/tables.sh — MPICH and Open MPI with a table of ours (coll select --as) against what they choose by themselves
#
#   bench/tables.sh [--ranks 4,8] [--launches 3] [--rounds 15] [--most 262144] [--make | TABLE]
#
# Without TABLE the built-in rules are written. With --make each algorithm that a library has is measured first (LAUNCHES
# times, in turns with the library's own choice), and BUILD/bench/tables.mpich and tables.openmpi get rules where one is
# better by a tenth (tables_make.awk): those are compared then, in launches of their own.
#
# Launches with the table and without it take turns; a cell's time is the median over the launches. Writes
# BUILD/bench/tables.csv (library, ranks, collective, bytes, microseconds without and with the table, and their ratio,
# and whether the table has a rule), and prints the geometric mean over the cells for which it has, and those below
# 0.9. MPICH is given yield.c and session.c where there are more ranks than processors, as in bench/mpi.sh, and the
# table for the collectives of its rules: the others stay with the device (MPIR_CVAR_DEVICE_COLLECTIVES=percoll), whose
# broadcast is faster than any algorithm that a table can name. BUILD is ./build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
ranks=4,8 launches=3 rounds=15 most=262144 make=
while [ $# -gt 0 ]; do
    case $1 in
    --make) make=1; shift; continue ;;
    -*) [ $# -gt 1 ] || break ;;
    esac
    case $1 in
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    --rounds) rounds=$2 ;;
    --most) most=$2 ;;
    *) break ;;
    esac
    shift 2
done
case "${1:-}${2+ }${make:+${1+ }}" in
-* | *" ") echo "usage: bench/tables.sh [--ranks P,P] [--launches N] [--rounds N] [--most N] [--make | TABLE]" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# play LIBRARY P [TABLE [COLLECTIVES]]: the times of all cells, by a table of ours in which these have rules.
play() {
    program=$build/mpi/$1/bench/tables
    format=openmpi_rules
    [ "$1" = openmpi ] || format=mpich_json
    file=
    if [ $# -gt 2 ]; then
        file=$work/theirs
        "$build/coll" select --as $format -p 16 ${3:+--table "$3"} -o "$file" 2>>"$work/notes"
    fi
    case $1 in
    mpich)
        yield= session= device=
        [ "$2" -le "$(nproc)" ] || yield=$build/mpi/mpich/tests/yield.so session=$build/mpi/mpich/tests/session.so
        for collective in ${4:-}; do
            device="$device MPIR_CVAR_$(echo "$collective" | tr a-z A-Z)_DEVICE_COLLECTIVE=0"
        done
        LD_PRELOAD=$session mpiexec.mpich -n "$2" env LD_PRELOAD="$yield" $device \
            ${file:+MPIR_CVAR_DEVICE_COLLECTIVES=percoll MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$file"} \
            "$program" "$rounds" "$most" </dev/null
        ;;
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi --oversubscribe --bind-to none \
            --mca btl self,vader ${file:+--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "$file"} \
            -n "$2" "$program" "$rounds" "$most" </dev/null
        ;;
    esac
}

# Collectives of the cells, and algorithms that a library has: in table I each has its I-th.
every="barrier bcast reduce allreduce gather scatter allgather allgatherv alltoall reduce_scatter_block"
tree="fnomial:f=2 fnomial:f=2,segment=8k chain:chains=1,segment=8k chain:chains=1,segment=32k"
algorithms_of() {
    case $1 in
    mpich) cat <<EOF ;;
barrier dissemination:f=2
bcast fnomial:f=2 scatter_allgather scatter_ring kary:k=2 kary:k=4 fnomial:f=4 chain:chains=1,segment=8k chain:chains=1,segment=32k
reduce fnomial:f=2 rabenseifner kary:k=2 kary:k=4 fnomial:f=4 chain:chains=1,segment=8k chain:chains=1,segment=32k
allreduce recursive_doubling rabenseifner ring kary:k=2 kary:k=4 recursive_multiplying:k=4 recursive_multiplying:k=8
gather,scatter fnomial:f=2
allgather,allgatherv recursive_doubling bruck:k=2 ring
alltoall bruck:k=2 pairwise throttled
reduce_scatter_block recursive_halving pairwise butterfly
EOF
    openmpi) cat <<EOF ;;
barrier linear fnomial:f=2 recursive_multiplying:k=2 dissemination:f=2
bcast linear scatter_allgather scatter_ring kary:k=2 fnomial:f=4 split_binary $tree
reduce linear rabenseifner kary:k=2 $tree
allreduce linear recursive_doubling ring rabenseifner fnomial
gather,scatter linear fnomial:f=2
allgather bruck:k=2 recursive_doubling ring neighbor_exchange
allgatherv bruck:k=2 ring neighbor_exchange
alltoall pairwise bruck:k=2 throttled:batch=4
reduce_scatter_block linear recursive_halving butterfly
EOF
    esac
}

# make_table LIBRARY: measures them. A cell without a rule keeps what the library chooses, but MPICH takes a whole
# collective from its device ("base"), so that a table must be worth it.
make_table() {
    : >"$work/tried"
    for p in $(echo "$ranks" | tr , ' '); do
        rm -f "$work"/try.*
        algorithms_of "$1" | awk -v p="$p" -v to="$work/try." '
            { for (i = 2; i <= NF; i++) print $1, "p", p ".." p, $i >(to (i - 1)) }'
        for launch in $(seq "$launches"); do
            echo "launch $launch of $launches: all algorithms of $1, $p ranks" >&2
            play "$1" "$p" | sed "s/^/$p,/; s/\$/,own/" >>"$work/tried"
            echo "barrier p 16..16 linear" >"$work/none"
            [ "$1" = openmpi ] || play "$1" "$p" "$work/none" "$every" | sed "s/^/$p,/; s/\$/,base/" >>"$work/tried"
            for try in "$work"/try.*; do
                play "$1" "$p" "$try" "$every" | awk -F, -v OFS=, -v p="$p" '
                    FILENAME != "-" { split($0, part, " "); n = split(part[1], c, ","); while (n) has[c[n--]] = part[4]; next }
                    $1 in has { print p, $0, has[$1] }' "$try" - >>"$work/tried"
            done
        done
    done
    awk -f "$here/bench/median.awk" -f "$here/bench/tables_make.awk" "$work/tried" >"$build/bench/tables.$1"
}

# ruled P CELLS [TABLE]: the COLLECTIVE,BYTES of the file for which the table has a rule; of the built-in rules all have one.
ruled() {
    sed 's/#.*//' ${3:+"$3"} </dev/null >"$work/bare"
    sed 's/ *$/ # of the table/' "$work/bare" | grep -v '^ *# of the table$' >"$work/marked" || true
    while IFS=, read -r collective bytes rest; do
        if [ -n "${3:-}" ]; then
            set -- "$1" "$2" "$3" "$collective" -p "$1" --bytes "$bytes"
            [ "$collective" != barrier ] || set -- "$1" "$2" "$3" "$collective" -p "$1"
            (shift 3; "$build/coll" select "$@" --table "$work/marked") 2>>"$work/notes" | grep -q '^rule .*# of the table$' || continue
        fi
        echo "$collective,$bytes"
    done <"$2"
}

mkdir -p "$build/bench"
for library in mpich openmpi; do
    [ -x "$build/mpi/$library/bench/tables" ] || { echo "bench/tables.sh: no program for $library was built" >&2; continue; }
    table=${1:-}
    if [ -n "$make" ]; then
        make_table $library
        table=$build/bench/tables.$library
        grep -q '^[a-z]' "$table" || { echo "$library: no algorithm is better than its own choice by a tenth" && continue; }
    fi
    for p in $(echo "$ranks" | tr , ' '); do
        for launch in $(seq "$launches"); do
            echo "launch $launch of $launches: $library, $p ranks" >&2
            play $library "$p" >"$work/cells"
            sed "s/^/$library,$p,/; s/\$/,0/" "$work/cells" >>"$work/all"
            if [ "$launch" = 1 ]; then
                ruled "$p" "$work/cells" ${table:+"$table"} >"$work/has"
                sed "s/^/$library,$p,/" "$work/has" >>"$work/ruled"
            fi
            play $library "$p" "$table" "$(cut -d, -f1 "$work/has" | sort -u)" | sed "s/^/$library,$p,/; s/\$/,1/" >>"$work/all"
        done
    done
done
[ -s "$work/all" ] || exit 1
awk -F, -v csv="$build/bench/tables.csv" -f "$here/bench/median.awk" -f "$here/bench/tables.awk" "$work/ruled" "$work/all"
