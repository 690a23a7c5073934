#!/bin/sh
# bench/papers.sh — tables of rules for the machines of the papers, by simulation: examples/tables/NAME.table
#
#   bench/papers.sh make [NAME…]     writes them again; some minutes each
#   bench/papers.sh print NAME       one of them, on the standard output
#
# The machines are those of bench/reproduce, with the words of coll sim. Simulations give the same on every machine.
# Needs build/coll.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
coll=${COLL_COMMAND:-${BUILD:-$here/build}/coll}
names='delta elan3 omni_path infiniband lemieux ibm_smp'

# machine NAME: the options of coll tune.
machine() {
    case $1 in
    delta) # Littlefield 1992: a mesh whose nodes move less than their links
        set -- --model nbl:delta --topology mesh:16x32 --ranks 512 --collectives bcast,reduce,allreduce --largest 4M ;;
    elan3) # Moody 2003: NICs with a memory, a processor and a slow bus
        set -- --model moody:host_f64_add,L=2.1 --nic nic:elan3_f64_add,memory=64KiB --ranks 32,256 \
            --collectives barrier,bcast,reduce,allreduce --largest 2k ;;
    omni_path | infiniband) # Bayatpour et al. 2017: many ranks a node
        set -- --model "dpml:$1" --nodes 28 --ranks 448 --collectives allreduce ;;
    lemieux) # Kumar 2004: a 4-ary fat tree with multicasts, and NICs that keep what they have sent
        set -- --model hockney:alpha=9us,beta=3.125 --topology fattree:k=4,n=3,packet=320,ack=736,hop=48,byte=3.125 \
            --nic nic:lemieux,keep=1 --placement host --multicast --ranks 60,64 --collectives bcast,allgather,alltoall --largest 1M ;;
    ibm_smp) # Wu 2005: nodes of 16 processors
        set -- --model plogp:table=ibm --memory shm:a=5us,b=1.6,node=0.4,sync=0.5 --nodes 16 --ranks 128 \
            --collectives bcast,reduce,allreduce,gather,scatter,allgather,alltoall --largest 4M ;;
    *) echo "bench/papers.sh: there is no machine \"$1\"; there are $names" >&2; exit 2 ;;
    esac
    "$coll" tune --simulate "$@"
}

case ${1-} in
make)
    shift
    for name in ${*:-$names}; do
        machine "$name" >"$here/examples/tables/$name.table.new"
        mv "$here/examples/tables/$name.table.new" "$here/examples/tables/$name.table"
    done
    ;;
print) machine "${2-}" ;;
*)
    sed -n '2,/^set/{s/^# \{0,1\}//p;}' "$0" >&2
    exit 2
    ;;
esac
