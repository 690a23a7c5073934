#!/bin/sh
# bench/peers.sh — collectives on one node: coll as threads, as processes, as processes whose buffers lie in memory
# that they share (`segment`: coll_shm_alloc), and in programs of MPICH and Open MPI through the layer, also with
# libcollheap.so and COLL_ZERO_COPY=1 (`_segment`), beside the two libraries' own, in one run: tables and pictures
#
#   bench/peers.sh [--ranks 2,4,8] [--launches 3] [--rounds 5] [COLLECTIVE…]
#   bench/peers.sh --network tcp …       over a network instead: see bench/networks.sh, which calls this; also ucx, ofi,
#                                        and join, whose links --rate shapes
#
# All programs run at once and sleep but for the one whose turn it is (bench/peers/board.h). Where there are no
# more ranks than processors, each rank has one to itself, and the libraries wait as they do by themselves. Of
# more ranks each processor gets as many, in every program alike (the libraries are as fast as when the system
# moves their ranks), and the libraries are given their best setting: Open MPI --oversubscribe, and MPICH, which
# has none, yield.c and session.c of mpi/tests/preload. MPICH's malloc keeps its memory in any case.
# Before its first turn each contestant sends all of its memory a few times: the layer and coll's processes move
# what they send from to huge pages (coll/transports/huge.h), which happens once. The libraries' own memory stays
# as it is.
# Writes BUILD/bench/peers.csv (medians over the launches; times of a call on the slowest rank, and `_x`, how many
# times faster than the better of the two libraries; `floor_us` of a collective of 8 bytes is the time of a cache
# line one way, measured beside it) and heat maps, BUILD/bench/peers_P_BUFFERS.svg and .pdf, and prints geometric means, the
# shortest calls in lines, and the cells in which coll is slower. BUILD is ./build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
ranks=2,4,8 launches=3 rounds=5 network= name=peers rate=
while [ $# -gt 1 ]; do
    case $1 in
    --ranks) ranks=$2 ;;
    --launches) launches=$2 ;;
    --rounds) rounds=$2 ;;
    --network) network=$2 name=networks_$2 ;;
    --rate) rate=$2 ;;
    *) break ;;
    esac
    shift 2
done
case ${1:-} in -*) echo "usage: bench/peers.sh [--ranks P,P] [--launches N] [--rounds N] [COLLECTIVE...]" >&2; exit 2 ;; esac

# openmpi_has FRAMEWORK COMPONENT
openmpi_has() { ompi_info --parsable 2>/dev/null | grep -q "^mca:$1:$2:version:"; }
stop() { echo "bench/peers.sh: $1" >&2; exit 1; }
peers=$build/bench/peers
[ -x "$peers" ] || stop "$peers was not built: make build"
contestants=threads,processes,segment,floor
[ -z "$network" ] || contestants=$network
[ "$network" != join ] || contestants=join,flat,dpml,mixed
for library in mpich openmpi; do
    [ -x "$build/mpi/$library/bench/peers" ] || continue
    if [ "$library $network" = 'openmpi ucx' ] && ! openmpi_has pml ucx; then
        echo "Open MPI has no pml ucx, and is left out" >&2
        continue
    fi
    contestants=$contestants,$library
    [ -n "$network" ] || contestants=$contestants,${library}_layer,${library}_segment
done
for old in /dev/shm/coll-peers-*-*; do # of runs that were killed
    pid=${old#*/coll-peers-}
    kill -0 "${pid%%-*}" 2>/dev/null || rm -rf "$old"
done
work=$(mktemp -d "/dev/shm/coll-peers-$$-XXXXXX")
start=play jobs=
leave() {
    set +e
    [ -z "$jobs" ] || { kill $jobs 2>/dev/null; sleep 1; } # in which mpiexec removes what ranks have left
    [ -z "${cluster_name:-}" ] || cluster_end
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' INT TERM

# best_mpich P: where ranks share processors, MPICH's best setting (mpi/tests/preload): sets what ranks preload.
best_mpich() {
    yield=
    [ "$1" -gt "$(nproc)" ] || return 0
    yield=$build/mpi/mpich/tests/yield.so
    export LD_PRELOAD="$build/mpi/mpich/tests/session.so"
}

# ---- over a network ---------------------------------------------------------------------------

# How the libraries are told to use it, and what runs their mpiexec.
mpich_over='-env MPIR_CVAR_NOLOCAL 1' openmpi_over= on=
case $network in
'') ;;
tcp | ofi)
    export COLL_INTERFACES="${COLL_INTERFACES:-127.0.0.0/8}" COLL_OFI_PROVIDER="${COLL_OFI_PROVIDER:-tcp;ofi_rxm}"
    mpich_over="$mpich_over -env UCX_TLS tcp,self -env UCX_NET_DEVICES lo"
    openmpi_over='--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo'
    if [ "$network" = ofi ] && openmpi_has mtl ofi; then
        openmpi_over="--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include $COLL_OFI_PROVIDER"
    elif [ "$network" = ofi ]; then
        echo "Open MPI has no mtl ofi, and uses its own TCP" >&2
    fi
    ;;
ucx) # by themselves pml ucx and UCX's other users in Open MPI want InfiniBand
    openmpi_over='--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any'
    ;;
join) # nodes of two ranks
    cluster_lib=$here/tests/cluster/lib nodes=0
    # shellcheck source=../tests/cluster/lib/cluster.sh
    . "$cluster_lib/cluster.sh"
    trap leave EXIT
    missing() { stop "$1"; }
    for p in $(echo "$ranks" | tr , ' '); do
        [ $((p % 2)) -eq 0 ] || stop "nodes have two ranks each: --ranks wants even numbers, not $p"
        [ $((p / 2)) -le $nodes ] || nodes=$((p / 2))
    done
    { cluster_begin && cluster_make $nodes "$rate"; } || exit 1
    on="$scratch/bin/host 1"
    mpich_over='-iface net0 -env UCX_TLS tcp,self -env UCX_NET_DEVICES net0'
    openmpi_over='--mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include net0'
    ;;
*) stop "there is no network '$network': give tcp, ucx, ofi or join" ;;
esac
[ -z "$network" ] || start=connect

# hosts P: those of a join, as the libraries' mpiexec want them behind this option.
hosts() {
    [ "$network" = join ] || return 0
    echo "$1 $(seq -s, -f 'host%g:2' $(($2 / 2)))"
}

# connect NAME P: one program to its end, whose ranks reach each other by the network.
connect() {
    program=$build/mpi/$1/bench/peers
    case $1 in
    join)
        set +e # cluster.sh looks at codes itself
        cluster_nodes=$(($2 / 2)) cluster_port=$((5000 + launch))
        cluster_start 2 "$build/bench/networks" join "$work/board"
        cluster_wait 36000
        case $cluster_codes in *[!\ 0]*) cat "$scratch"/rank.* >&2; echo "coll's ranks end with$cluster_codes" >&2; exit 1 ;; esac
        ;;
    mpich)
        best_mpich "$2"
        # shellcheck disable=SC2046,SC2086
        exec $on mpiexec.mpich $(hosts -hosts "$2") -n "$2" $mpich_over -env LD_PRELOAD "$yield" \
            "$program" "$work/board" </dev/null
        ;;
    openmpi)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        [ "$2" -le "$(nproc)" ] || openmpi_over="$openmpi_over --mca mpi_yield_when_idle 1" # hosts know of their own ranks alone
        # shellcheck disable=SC2046,SC2086
        exec $on mpiexec.openmpi --oversubscribe --bind-to none $(hosts -H "$2") -n "$2" $openmpi_over \
            "$program" "$work/board" </dev/null
        ;;
    *) exec "$build/coll" launch -n "$2" "$build/bench/networks" "$1" "$work/board" ;;
    esac
}

# ---- on one node ------------------------------------------------------------------------------

# play NAME P: one program to its end.
play() {
    library=${1%_segment} kind=
    [ "$library" = "$1" ] || kind=segment
    layer=${kind:+$build/mpi/$library/libcollheap.so:}$build/mpi/$library/libcollmpi.so program=$build/mpi/$library/bench/peers
    export COLL_ZERO_COPY=${kind:+1}
    case $1 in
    threads | processes | segment) exec "$peers" "$1" "$work/board" ;;
    mpich*)
        best_mpich "$2"
        exec mpiexec.mpich -n "$2" -env LD_PRELOAD "$layer:$yield" -env MALLOC_MMAP_THRESHOLD_ 1073741824 \
            -env MALLOC_TRIM_THRESHOLD_ 1073741824 "$program" "$work/board" $kind </dev/null
        ;;
    openmpi*)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        exec mpiexec.openmpi --oversubscribe --bind-to none --mca btl self,vader -n "$2" -x LD_PRELOAD="$layer" \
            -x COLL_ZERO_COPY "$program" "$work/board" $kind </dev/null
        ;;
    esac
}

# ---- turns --------------------------------------------------------------------------------------

for launch in $(seq "$launches"); do
    for p in $(echo "$ranks" | tr , ' '); do
        echo "launch $launch of $launches: $p ranks" >&2
        "$peers" create "$work/board" "$p" "$rounds" "$contestants" "$@"
        jobs=
        for one in threads processes segment mpich mpich_segment openmpi openmpi_segment tcp ucx ofi join; do
            case ,$contestants, in *,$one,*) ;; *) continue ;; esac
            $start "$one" "$p" &
            jobs="$jobs $!"
        done
        left=$jobs
        while [ -n "$left" ]; do # if one fails, the others would wait for it
            sleep 1
            for pid in $left; do
                kill -0 "$pid" 2>/dev/null && continue
                wait "$pid" || { echo "bench/peers.sh: a program failed, see above" >&2; exit 1; }
                left=$(echo " $left " | sed "s/ $pid / /; s/^ *//; s/ *$//")
            done
        done
        jobs=
        "$peers" report "$work/board" >"$work/launch"
        head -1 "$work/launch" >"$work/head"
        tail -n +2 "$work/launch" >>"$work/all"
    done
done

# The median of each column over the launches.
mkdir -p "$build/bench"
csv=$build/bench/$name.csv
{
    cat "$work/head"
    awk -f "$here/bench/median.awk" -f "$here/bench/medians.awk" "$work/all"
} >"$csv"

awk -F, '
    NR == 1 {
        for (i = 1; i <= NF; i++) {
            if ($i ~ /_x$/) ratio[i] = substr($i, 1, length($i) - 2)
            if ($i ~ /_us$/) time[i] = substr($i, 1, length($i) - 3)
            if ($i == "floor_us") floor = i
        }
        next
    }
    $2 ~ /^(barrier|bcast|allreduce)$/ && $3 <= 8 && $4 == "reused" && floor && $floor > 0 {
        short = short sprintf("    %s ranks, %-10s %.3f us a line:", $1, $2, $floor)
        for (i = 1; i <= NF; i++)
            if (i in time && i != floor && $i != "") short = short sprintf("  %s %.1f", time[i], $i / $floor)
        short = short "\n"
    }
    { for (i in ratio) if ($i != "") {
          k = $1 " ranks, " ratio[i]; log_sum[k] += log($i); n[k]++
          if ($2 ~ /reduce|scan/ && $3 >= 16384) { large[k] += log($i); m[k]++ }
          if ($i < 0.9) slow[++slower] = sprintf("    %s: %s, %d bytes, %s: %.2f", k, $2, $3, $4, $i) } }
    END {
        print "Times faster than the better of the libraries, geometric means (and of reductions from 16 KiB on):"
        for (k in n) printf "    %-28s %5.2f over %3d cells (%.2f over %d)\n", k, exp(log_sum[k] / n[k]), n[k], m[k] ? exp(large[k] / m[k]) : 0, m[k] | "sort"
        close("sort")
        printf "%s%s", short == "" ? "" : "Calls of 8 bytes, in cache lines one way:\n", short
        print "Cells below 0.9: " slower + 0
        for (i = 1; i <= slower; i++) print slow[i]
    }' "$csv"

for p in $(echo "$ranks" | tr , ' '); do
    for buffers in reused rotated; do
        awk -F, -v p="$p" -v buffers="$buffers" '
            BEGIN {
                name["threads_x"] = "threads"; name["processes_x"] = "processes"
                name["tcp_x"] = "coll over TCP"; name["ucx_x"] = "coll over UCX"; name["ofi_x"] = "coll over libfabric"
                name["join_x"] = "coll: shared memory and TCP"; name["flat_x"] = "… nodes unknown"
                name["dpml_x"] = "… DPML"; name["mixed_x"] = "… mixed"
                name["segment_x"] = "processes: buffers in shared memory"
                name["mpich_layer_x"] = "MPICH: layer"; name["mpich_segment_x"] = "MPICH: layer and zero copy"
                name["openmpi_layer_x"] = "Open MPI: layer"; name["openmpi_segment_x"] = "Open MPI: layer and zero copy"
            }
            NR == 1 { n = split($0, column); next }
            $1 == p && $4 == buffers { for (i = 5; i <= n; i++) if (column[i] in name) print name[column[i]] "," $2 "," $3 "," $i }
        ' "$csv" >"$work/maps"
        # Of a barrier no buffer is rotated; without the MPI libraries there are no ratios.
        grep -q '[0-9]$' "$work/maps" || continue
        "$here/bench/heat.sh" "$build/bench/${name}_${p}_$buffers" 4 \
            "$p ranks, buffers $buffers: times as fast as the better of the MPI libraries" <"$work/maps"
    done
done
echo "$csv written"
