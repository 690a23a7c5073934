#!/bin/sh
# bench/measurements.sh — measures what docs/measurements.md says, and writes that page on stdout
#
#   make && bench/measurements.sh >new.md && mv new.md docs/measurements.md
#   bench/measurements.sh --long            also the whole proof, minutes of all processors
#
# BUILD is ./build: a Release build of the command and of the benchmarks. Times are the least of the rounds where a
# benchmark prints them, which other programs disturb least; the page says how busy the machine was. What a tool is
# missing for is said on stderr and left out. Takes some minutes.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
for program in coll bench/steps bench/executor bench/collectives; do
    [ -x "$build/$program" ] || { echo "measurements.sh: no $build/$program; make builds it" >&2; exit 2; }
done
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)

# ---- measuring

echo "measurements.sh: steps" >&2
"$build/bench/steps" >"$work/steps" 2>/dev/null
echo "measurements.sh: executor" >&2
"$build/bench/executor" null >"$work/executor" 2>/dev/null
"$build/bench/executor" loopback >>"$work/executor" 2>/dev/null
echo "measurements.sh: collectives" >&2
"$build/bench/collectives" allreduce >"$work/collectives" 2>/dev/null
echo "measurements.sh: proof" >&2
proof='coll verify -p 1..16'
[ "${1:-}" != --long ] || proof='coll verify'
begin=$(date +%s)
(cd "$build" && ./$proof) >"$work/proof" 2>/dev/null
tail -n 1 "$work/proof" | sed 's/ in [0-9.]* s$//' >"$work/plans"
seconds=$(($(date +%s) - begin))
if command -v arm-none-eabi-gcc >/dev/null; then
    echo "measurements.sh: size" >&2
    sh bench/size.sh >"$work/size"
else
    echo "measurements.sh: arm-none-eabi-gcc is missing, so sizes on a Cortex-M0+ are left out" >&2
    : >"$work/size"
fi

# What structures take, as the lengths of arrays: a compiler's nm says those, of a target that cannot run here, too.
cat >"$work/memory.c" <<'C'
#include "coll/coll.h"
#include "coll/executor/in_order.h"
char window_engine[sizeof(coll_engine) + 8 * sizeof(coll_slot)];
char in_order_engine[sizeof(coll_in_order) + 2 * sizeof(coll_outstanding)];
char plan[sizeof(coll_plan)];
char communicator[sizeof(coll_comm)];
char request[sizeof(coll_request)];
char cached_call[COLL_CACHE_BYTES(2) - COLL_CACHE_BYTES(1)];
C

# memory NM CC FLAGS…: names and bytes.
memory() {
    nm=$1
    shift
    "$@" -std=c99 -Iinclude -c "$work/memory.c" -o "$work/memory.o" && "$nm" -S -t d "$work/memory.o" |
        awk '$3 ~ /[BCD]/ { sub(/^0+/, "", $2); print $4, $2 }'
}
memory nm cc >"$work/memory64"
if [ -s "$work/size" ]; then
    memory arm-none-eabi-nm arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -ffreestanding -DCOLL_IRREGULAR=1 >"$work/memory32"
else
    : >"$work/memory32"
fi

# ---- writing

bytes() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }
column() { awk -F , "$1" "$2"; }
sizes() {
    awk -F , -v engine="$1" -v checks="$2" '
        $1 == "cortex-m0plus" && $3 == "coll_ring_allreduce" && $2 == engine && $4 == checks { print $6 }' "$work/size"
}
us() { # P BYTES COLUMN
    awk -F , -v p="$1" -v bytes="$2" -v c="$3" '$1 == "allreduce" && $3 == p && $4 == bytes { printf "%.2f", $c }' "$work/collectives"
}
additions() { awk -F , -v bytes="$1" '$1 == "allreduce" && $3 == 2 && $4 == bytes { printf "%.2f", $6 / $9 }' "$work/collectives"; }

cat <<EOF2
# Measurements

\`bench/measurements.sh\` measured this and wrote this page. Run it on your machine; absolute times say
little about another one. \`bench/compare.sh OLD NEW\` says whether a change costs time: it builds two
trees or revisions, runs them in turns, prints the ratio of each cell, and ends with exit code 1 if
one is slower. \`bench/peers.sh\` and \`bench/mpi.sh\` compare with MPI libraries,
\`bench/networks.sh\` with the same over TCP, UCX, libfabric, and nodes
joined by a bridge; \`bench/osu.sh\` runs the OSU micro-benchmarks, as shipped, under the layer;
\`bench/by_hand\` compares with schedules that are written by hand.

| | |
|---|---|
| date | $(date -u +%Y-%m-%d) |
| version | $("$build/coll" --version) |
| machine | $(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1) |
| system | $(uname -s) $(uname -r | sed 's/-.*//'), load $load when it began |
| compiler | $(cc --version | head -n 1), flags of a Release build |

Times are the least of several rounds.

## Step functions

    bench/steps

- mean over the rows of the table: $(column '/^mean of .* lines/ { print $8 }' "$work/steps") ns an action
- slowest row: $(column '/^worst/ { print $(NF) }' "$work/steps") ns an action

## Executor

    bench/executor null
    bench/executor loopback

- over a transport that completes everything at once, without the step function:
  $(column '/^mean of null/ { print $10 }' "$work/executor") ns an action
- over loopback, with the transport's own work: $(column '/^mean of loopback/ { print $10 }' "$work/executor") ns an action

## Memory

    bench/measurements.sh        # sizeof, by the compiler

| bytes, whatever the number of ranks | 64 bit | Cortex-M0+ |
|---|---|---|
| window engine with 8 slots | $(bytes window_engine "$work/memory64") | $(bytes window_engine "$work/memory32") |
| in-order engine with one send in flight | $(bytes in_order_engine "$work/memory64") | $(bytes in_order_engine "$work/memory32") |
| \`coll_plan\` | $(bytes plan "$work/memory64") | $(bytes plan "$work/memory32") |
| \`coll_comm\` | $(bytes communicator "$work/memory64") | $(bytes communicator "$work/memory32") |
| \`coll_request\` | $(bytes request "$work/memory64") | $(bytes request "$work/memory32") |
| a call in the cache | $(bytes cached_call "$work/memory64") | $(bytes cached_call "$work/memory32") |

EOF2
[ ! -s "$work/size" ] || cat <<EOF2
## Code on a Cortex-M0+

    bench/size.sh                # $(arm-none-eabi-gcc --version | head -n 1 | sed 's/ (.*) / /'), -Os

| executor, plan and ring allreduce, linked, bytes | with checks | \`-DCOLL_CHECKS=0\` |
|---|---|---|
| window engine | $(sizes window 1) | $(sizes window 0) |
| in-order engine | $(sizes in_order 1) | $(sizes in_order 0) |

EOF2
cat <<EOF2
## Allreduce of doubles among threads

    bench/collectives allreduce

| | 2 threads | of one thread's addition |
|---|---|---|
| 8 bytes | $(us 2 8 6) µs | |
| 32 KiB | $(us 2 32768 6) µs | $(additions 32768) |
| 4 MiB | $(us 2 4194304 6) µs | $(additions 4194304) |

## Proof

- \`$proof\`: $(cat "$work/plans") in $seconds s on $(nproc) processors
EOF2
