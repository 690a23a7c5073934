#!/bin/sh
# bench/networks.sh — collectives over a network: coll's own transports beside MPICH and Open MPI over the same one, all in
# one run on this machine (loopback), none of them by shared memory: tables and pictures
#
#   bench/networks.sh [--transports tcp] [--ranks 2,4,8] [--launches 3] [--rounds 5] [COLLECTIVE…]
#
# Turns, ranks' processors, medians and heat maps are those of bench/peers.sh. For the transport
#   tcp    coll over transports/tcp.h, Open MPI over its own TCP (pml ob1, btl tcp,self), MPICH over that of UCX
#          (UCX_TLS=tcp,self, MPIR_CVAR_NOLOCAL=1; Debian's MPICH has no other over sockets)
# Writes BUILD/bench/networks_TRANSPORT.csv, networks_TRANSPORT_P_BUFFERS.svg and .pdf, and prints geometric means: how many
# times faster than each of the two libraries, and than the better one, and the cells in which coll is slower.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
transports=tcp passed=
while [ $# -gt 1 ]; do
    case $1 in
    --transports) transports=$2 ;;
    --ranks | --launches | --rounds) passed="$passed $1 $2" ;;
    *) break ;;
    esac
    shift 2
done
usage='usage: bench/networks.sh [--transports tcp] [--ranks P,P] [--launches N] [--rounds N] [COLLECTIVE...]'
case ${1:-} in -*) echo "$usage" >&2; exit 2 ;; esac
for transport in $(echo "$transports" | tr , ' '); do
    case $transport in
    tcp) ;;
    *) echo "bench/networks.sh: there is no transport '$transport' to be measured: give --transports tcp" >&2; exit 2 ;;
    esac
done

for transport in $(echo "$transports" | tr , ' '); do
    # shellcheck disable=SC2086
    BUILD=$build "$here/bench/peers.sh" --network "$transport" $passed "$@"
    awk -F, -v us="${transport}_us" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            for (k in at)
                if ((k == "mpich_us" || k == "openmpi_us") && $at[k] != "" && $at[us] != "") {
                    key = $1 " ranks, beside " substr(k, 1, length(k) - 3)
                    log_sum[key] += log($at[k] / $at[us]); n[key]++
                }
        }
        END {
            print "Times faster than each library, geometric means:"
            for (k in n) printf "    %-28s %5.2f over %3d cells\n", k, exp(log_sum[k] / n[k]), n[k] | "sort"
        }' "$build/bench/networks_$transport.csv"
done
