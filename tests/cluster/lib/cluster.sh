# tests/cluster/lib/cluster.sh — a cluster on one machine: network namespaces that are its nodes, joined by a
# bridge; sourced, never run
#
#   cluster_begin                     makes sure that it can, and removes what killed runs have left
#   cluster_make 3 1gbit              nodes 0 … 2, each with a link of that rate; '': as fast as it is
#   cluster_start 2 PROGRAM ARG…      two ranks on each node run it, in the background: node by node
#   cluster_wait 60                   until all have ended, for so many seconds; sets cluster_codes
#   cluster_link 1 down               the link of node 1: down, or up
#   cluster_on 1 COMMAND…             runs it on node 1
#   cluster_host 1 COMMAND…           … as if that were a machine: its name is host2, and it knows host1 … by
#                                     name, and reaches them by ssh (this library's; there are no passwords)
#   cluster_done                      says how many checks there were, and ends
#
# Node n is 10.77.0.(n + 1), and fd77::(n + 1); its link is called net0. What rank r prints is in
# $scratch/rank.r. COLL_INTERFACES and what else is exported holds for the ranks. All is removed when the
# script ends, in whatever way. Needs root's rights over the network (CAP_NET_ADMIN) and iproute2. A script
# that is not in tests/cluster says in cluster_lib where this is.
set -u
. "${cluster_lib:-$(dirname "$0")/lib}/../../support/missing.sh"
scratch=$(mktemp -d) || exit 1
cluster_name=cct$$
cluster_nodes=0 cluster_ranks=0 cluster_pids=
checks=0 failed=0

cluster_end() {
    trap '' INT TERM HUP
    for pid in $cluster_pids; do kill -9 "$pid" 2>/dev/null; done
    cluster_remove "$cluster_name"
    rm -rf "$scratch"
}
trap cluster_end EXIT
trap 'exit 1' INT TERM HUP

# cluster_links NAME: those of the bridge, and it.
cluster_links() {
    ip -o link show 2>/dev/null | sed -n "s/^[0-9]*: \($1[vb][0-9]*\)[@:].*/\1/p"
}

# cluster_remove NAME: links, with what is at their other ends, the bridge and the namespaces.
cluster_remove() {
    for link in $(cluster_links "$1"); do ip link del "$link" 2>/dev/null; done
    for namespace in $(ip netns list 2>/dev/null | sed -n "s/^\($1n[0-9]*\)\( .*\)*\$/\1/p"); do
        for pid in $(ip netns pids "$namespace" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
        ip netns del "$namespace" 2>/dev/null
    done
}

cluster_begin() {
    PATH=$PATH:/usr/sbin:/sbin
    for tool in ip tc; do need $tool iproute2; done
    need unshare util-linux
    # A name has the number of the process that made it, of which there is none any more.
    for left in $({ cluster_links 'cct[0-9]*' && ip netns list; } 2>/dev/null |
        sed -n 's/^\(cct[0-9]*\)[bnv].*/\1/p' | sort -u); do
        [ -d "/proc/${left#cct}" ] || cluster_remove "$left"
    done
    ip netns add "${cluster_name}n0" 2>"$scratch/why" ||
        missing "network namespaces cannot be made, which takes root's rights (CAP_NET_ADMIN): $(cat "$scratch/why")"
    ip netns del "${cluster_name}n0"
}

# must COMMAND…: a step of making the cluster.
must() {
    "$@" >"$scratch/why" 2>&1 || { echo "FAILED: $*: $(cat "$scratch/why")" && exit 1; }
}

cluster_make() {
    cluster_nodes=$1
    must ip link add "${cluster_name}b" type bridge
    must ip link set "${cluster_name}b" up
    node=0
    while [ "$node" -lt "$cluster_nodes" ]; do
        namespace=${cluster_name}n$node link=${cluster_name}v$node
        must ip netns add "$namespace"
        must ip -n "$namespace" link set lo up
        must ip link add "$link" type veth peer name net0 netns "$namespace"
        must ip link set "$link" master "${cluster_name}b" up
        must ip -n "$namespace" addr add "10.77.0.$((node + 1))/24" dev net0
        must ip -n "$namespace" addr add "fd77::$((node + 1))/64" dev net0 nodad
        must ip -n "$namespace" link set net0 up
        if [ -n "$2" ]; then
            must tc qdisc add dev "$link" root tbf rate "$2" burst 64kb latency 50ms
            must tc -n "$namespace" qdisc add dev net0 root tbf rate "$2" burst 64kb latency 50ms
        fi
        node=$((node + 1))
        echo "10.77.0.$node host$node" >>"$scratch/hosts"
    done
    cluster_commands
}

# What runs commands on hosts: host NUMBER COMMAND…, and ssh, which process managers call. A host has a name and a
# list of names of its own; its files are this machine's.
cluster_commands() {
    mkdir "$scratch/bin"
    cat >"$scratch/bin/host" <<HOST
#!/bin/sh
number=\$1
shift
exec ip netns exec "${cluster_name}n\$((number - 1))" unshare --uts sh -c 'hostname "\$1"
    mount --bind "\$2/hosts" /etc/hosts
    PATH=\$2/bin:\$PATH
    shift 2
    exec "\$@"' sh "host\$number" "$scratch" "\$@"
HOST
    cat >"$scratch/bin/ssh" <<SSH
#!/bin/sh
while case \$1 in -*) ;; *) false ;; esac do shift; done
name=\$1
shift
exec "$scratch/bin/host" "\${name##*[!0-9]}" sh -c "\$*"
SSH
    chmod +x "$scratch/bin/host" "$scratch/bin/ssh"
}

# cluster_host NODE COMMAND…
cluster_host() {
    on=$1
    shift
    "$scratch/bin/host" $((on + 1)) "$@"
}

# cluster_on NODE COMMAND…
cluster_on() {
    on=$1
    shift
    ip netns exec "${cluster_name}n$on" "$@"
}

cluster_link() {
    must ip link set "${cluster_name}v$1" "$2"
}

# cluster_start RANKS-PER-NODE PROGRAM ARGUMENT…: they meet at $cluster_where, node 0's address with a new
# port if that is empty.
cluster_start() {
    per_node=$1
    shift
    cluster_pids= cluster_ranks=$((per_node * cluster_nodes))
    cluster_port=$((${cluster_port:-5000} + 1))
    where=${cluster_where:-10.77.0.1:$cluster_port}
    secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    rank=0
    while [ $rank -lt $cluster_ranks ]; do
        COLL_RANK=$rank COLL_SIZE=$cluster_ranks COLL_RENDEZVOUS=$where COLL_SECRET=$secret \
            ip netns exec "${cluster_name}n$((rank / per_node))" "$@" \
            >"$scratch/rank.$rank" 2>&1 </dev/null &
        cluster_pids="$cluster_pids $!"
        rank=$((rank + 1))
    done
}

# cluster_wait SECONDS: the exit codes of the ranks are in $cluster_codes; of one that had to be ended it is
# "late".
cluster_wait() {
    cluster_codes=
    tenths=$((10 * $1))
    for pid in $cluster_pids; do
        while kill -0 "$pid" 2>/dev/null && [ $tenths -gt 0 ]; do
            sleep 0.1
            tenths=$((tenths - 1))
        done
        if kill -9 "$pid" 2>/dev/null; then
            wait "$pid" 2>/dev/null
            cluster_codes="$cluster_codes late"
        else
            wait "$pid" 2>/dev/null
            cluster_codes="$cluster_codes $?"
        fi
    done
    cluster_pids=
}

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    for said in "$scratch"/rank.*; do tail -2 "$said" | sed "s|^|    ${said##*/}: |"; done
}

# all_end WHAT CODES…: each rank ended with one of these codes.
all_end() {
    what=$1
    shift
    checks=$((checks + 1))
    for code in $cluster_codes; do
        case " $* " in
        *" $code "*) ;;
        *) fail "$what: the ranks end with$cluster_codes" && return 1 ;;
        esac
    done
}

# says RANK PATTERN: a rank printed a line that matches.
says() {
    checks=$((checks + 1))
    grep -q -e "$2" "$scratch/rank.$1" || fail "rank $1 does not say: $2"
}

cluster_done() {
    echo "$checks checks, $failed failed"
    [ $failed -eq 0 ]
    exit
}
