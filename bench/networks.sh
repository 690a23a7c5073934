#!/bin/sh
# bench/networks.sh — collectives over a network: coll's own transports beside MPICH and Open MPI over the same one, all in
# one run on this machine: tables and pictures
#
#   bench/networks.sh [--transports tcp,ucx,ofi,join] [--ranks 2,4,8] [--rate 1gbit] [--launches 3] [--rounds 5] [COLLECTIVE…]
#
# Turns, ranks' processors, medians and heat maps are those of bench/peers.sh. For the transport
#   tcp    coll over transports/tcp.h, Open MPI over its own TCP (pml ob1, btl tcp,self), MPICH over that of UCX
#          (UCX_TLS=tcp,self, MPIR_CVAR_NOLOCAL=1; Debian's MPICH has no other over sockets)
#   ucx    coll over transports/ucx.h, Open MPI by pml ucx, MPICH (ch4:ucx) with MPIR_CVAR_NOLOCAL=1: all with the
#          UCX_TLS of the environment, by default what UCX chooses
#   ofi    coll over transports/ofi.h, Open MPI by pml cm, mtl ofi, both with the provider COLL_OFI_PROVIDER
#          (tcp;ofi_rxm); MPICH as for tcp
#   join   nodes that are network namespaces joined by a bridge, with two ranks each and links of a rate (--rate, as
#          tc has it; none if nothing is said): coll over transports/join.h, shared memory within a node and TCP
#          between, and Open MPI (btl tcp,vader,self) and MPICH (UCX between) started on them as on hosts. Also coll
#          over the same without a word about nodes (`flat`), with allreduce by dpml and with bcast and allgather by
#          mixed. --ranks is 8 then. Needs root's rights over the network, and iproute2.
# tcp and join alone need nothing but sockets; coll's program has ucx and ofi where their libraries were there when it
# was compiled. Writes BUILD/bench/networks_TRANSPORT.csv, networks_TRANSPORT_P_BUFFERS.svg and .pdf, and prints
# geometric means: how many times faster than each of the two libraries, and than the better one, and the cells in
# which coll is slower; of join also how dpml and mixed compare with flat algorithms.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
transports=tcp passed= ranks=
while [ $# -gt 1 ]; do
    case $1 in
    --transports) transports=$2 ;;
    --ranks) ranks=$2 ;;
    --launches | --rounds | --rate) passed="$passed $1 $2" ;;
    *) break ;;
    esac
    shift 2
done
usage='usage: bench/networks.sh [--transports T,T] [--ranks P,P] [--rate RATE] [--launches N] [--rounds N] [COLLECTIVE...]'
case ${1:-} in -*) echo "$usage" >&2; exit 2 ;; esac
stop() { echo "bench/networks.sh: $1" >&2; exit "${2:-1}"; }
[ -x "$build/bench/networks" ] || stop "$build/bench/networks was not built: make build"
for transport in $(echo "$transports" | tr , ' '); do
    case $transport in
    tcp | join) ;;
    ucx | ofi)
        "$build/bench/networks" has "$transport" ||
            stop "coll has no transport $transport here: install libucx-dev and libfabric-dev, and build again"
        ;;
    *) stop "there is no transport '$transport' to be measured: give tcp, ucx, ofi or join" 2 ;;
    esac
done

for transport in $(echo "$transports" | tr , ' '); do
    usual=2,4,8
    [ "$transport" != join ] || usual=8
    # shellcheck disable=SC2086
    BUILD=$build "$here/bench/peers.sh" --network "$transport" --ranks "${ranks:-$usual}" $passed "$@"
    awk -F, -v us="${transport}_us" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            for (k in at)
                if ((k == "mpich_us" || k == "openmpi_us") && $at[k] != "" && $at[us] != "") {
                    key = $1 " ranks, beside " substr(k, 1, length(k) - 3)
                    log_sum[key] += log($at[k] / $at[us]); n[key]++
                }
            for (k in at)
                if ((k == "dpml_us" || k == "mixed_us") && $at[k] != "")
                    line[++lines] = sprintf("    %s ranks, %-9s %8d bytes, %s: flat %10.1f, %-5s %10.1f: %.2f", $1, $2, $3, $4,
                        $at["flat_us"], substr(k, 1, length(k) - 3), $at[k], $at["flat_us"] / $at[k])
        }
        END {
            print "Times faster than each library, geometric means:"
            for (k in n) printf "    %-28s %5.2f over %3d cells\n", k, exp(log_sum[k] / n[k]), n[k] | "sort"
            close("sort")
            if (lines) print "Algorithms that use the memory of the nodes, and flat ones, in us, and how many times faster:"
            for (i = 1; i <= lines; i++) print line[i]
        }' "$build/bench/networks_$transport.csv"
done
