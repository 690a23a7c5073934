#!/bin/sh
# Two hosts, one command: what the documents tell to type starts ranks on both, over each transport. A command that is
# shown below <!-- run by tests/cluster/hosts.sh --> runs here as it stands, on the first of two hosts that are network
# namespaces; where they share what real hosts do not, UCX is told to use its TCP.
program=$COLL_BUILD/examples/13_any_network
. "$(dirname "$0")/lib/cluster.sh"
need mpiexec.hydra mpich
need mpiexec.openmpi openmpi-bin
need openssl openssl
need pkg-config pkg-config
pkg-config --exists pmix || missing "there is no library of PMIx; on Debian: apt-get install libpmix-dev"
"$program" nothing 2>&1 | grep -q ' ucx ofi ' || missing 'UCX and libfabric were not there at compile time; on Debian: apt-get install libucx-dev libfabric-dev'
cluster_begin
cluster_make 2 1gbit
mkdir "$scratch/here"
cd "$scratch/here" || exit 1
ln -s "$COLL_BUILD" build
# shellcheck disable=SC2046
"${COLL_CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 -I"$COLL_SOURCE/include" "$COLL_SOURCE/examples/13_any_network.c" \
    -o 13_with_pmix -DCOLL_PMIX $(pkg-config --cflags --libs pmix) -lpthread -lm || exit 1
unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE COLL_RANK COLL_SIZE COLL_RENDEZVOUS COLL_SECRET
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=tcp,self COLL_OFI_PROVIDER='tcp;ofi_rxm'

# commands FILE: those of a document, each on a line.
commands() {
    awk -v marker='<!-- run by tests/cluster/hosts.sh -->' '
        $0 == marker { marked = 1; next }
        marked && /^    / { sub(/^ +/, ""); printf "%s", sub(/\\$/, "") ? $0 : $0 "\n"; seen = 1; next }
        seen { marked = seen = 0 }' "$1"
}

for document in getting-started several-nodes; do
    commands "$COLL_SOURCE/docs/$document.md"
done | sed 's/10\.0\.0\.1:/10.77.0.1:/' | sort -u >"$scratch/commands"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/commands")" -ge 7 ] || fail 'the documents have seven commands or more'
while read -r command; do
    wanted='^8 ranks over [a-z]*: the sums are 28 and 8$'
    case $command in
    *' join') wanted='^8 ranks over join on 2 hosts: the sums are 28 and 8$' ;;
    *ssh*) wanted='^2 ranks over tcp: the sums are 1 and 2$' ;;
    *' all '*) wanted=' right, 0 wrong' ;;
    esac
    cluster_host 0 timeout 100 sh -c "$command" >"$scratch/rank.0" 2>&1 </dev/null
    code=$?
    checks=$((checks + 1))
    [ $code -eq 0 ] && grep -q -e "$wanted" "$scratch/rank.0" || fail "$command: ends with $code"
done <"$scratch/commands"

# Ranks of a host that do not follow each other cannot share memory by their place in line.
checks=$((checks + 1))
cluster_host 0 timeout 60 mpiexec.hydra -hosts host1,host2 -n 4 "$program" join >"$scratch/rank.0" 2>&1 </dev/null &&
    fail 'ranks of two hosts in turn are joined'
says 0 'rank 2 is on the machine of rank 0, and rank 1 is not: start the ranks of a machine one after the other'
cluster_done
