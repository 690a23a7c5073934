#!/bin/sh
# bench/start.sh — from exec to the first allreduce of 8 bytes over TCP, of many processes on this machine: a table
#
#   bench/start.sh [--ranks 2,64,250,1000] [--launches 3]
#
# Runs BUILD/bench/start under `coll launch`, each number of ranks several times, and prints the line of the
# fastest launch of each as CSV (what the columns are stands in start.c). With far fewer processors than ranks the
# time that these work is most of what there is to wait for. Raises the limits of descriptors and processes as far
# as this user may. BUILD is ./build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
ranks=2,64,250,1000 launches=3
while [ $# -gt 1 ]; do
    case $1 in
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# -eq 0 ] || { echo "usage: bench/start.sh [--ranks P,P] [--launches N]" >&2; exit 2; }
for limit in n u; do # descriptors, processes
    hard=$(ulimit -H -$limit 2>/dev/null) && ulimit -S -$limit "$hard" 2>/dev/null || true
done

echo "ranks,first_main_ms,last_main_ms,joined_ms,allreduce_ms,connections,bytes,bytes_most,processors_ms"
for p in $(echo "$ranks" | tr , ' '); do
    i=0
    while [ $i -lt "$launches" ]; do
        "$build/coll" launch -n "$p" "$build/bench/start" "$(date +%s%N)"
        i=$((i + 1))
    done | sort -t, -k5,5n | head -1
done
