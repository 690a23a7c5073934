#!/bin/sh
# Ranks that are started by srun, with PMIx and with its PMI-2 plug-in, which answers PMI-1, too: a Slurm of one
# machine, with a configuration of its own in a temporary folder, that ends with this script, or after some minutes.
. "$(dirname "$0")/lib/launchers.sh"
PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd srun; do need $tool "slurmctld slurmd slurm-client slurm-wlm-basic-plugins"; done
need munged munge
compile
daemons=
slurm_end() {
    trap '' INT TERM HUP
    for step in $(ps -e -o pid= -o comm= | awk '$2 == "slurmstepd" { print $1 }'); do
        grep -q "$scratch" "/proc/$step/environ" 2>/dev/null && kill -9 "$step" # which slurmd waits for
    done
    for pid in $daemons; do kill "$pid" 2>/dev/null; done
    for pid in $daemons; do wait "$pid" 2>/dev/null; done
    rm -rf "$scratch"
}
trap slurm_end EXIT
trap 'exit 1' INT TERM HUP

# daemon COMMAND…
daemon() {
    timeout -k 3 240 "$@" >"$scratch/${1##*/}.out" 2>&1 </dev/null &
    daemons="$! $daemons"
}

user=$(id -un) host=$(uname -n)
host=${host%%.*}
port=$((20000 + $$ % 20000))
mkdir "$scratch/state" "$scratch/spool"
chmod 755 "$scratch"
(umask 077 && mkdir "$scratch/munge" && dd if=/dev/urandom of="$scratch/munge/key" bs=1024 count=1 2>/dev/null)
daemon munged --foreground --force --key-file="$scratch/munge/key" --socket="$scratch/munge/socket" \
    --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed"
cat >"$scratch/slurm.conf" <<END
ClusterName=coll
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$scratch/munge/socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
END
export SLURM_CONF="$scratch/slurm.conf"
tenths=50
while [ ! -S "$scratch/munge/socket" ] && [ $tenths -gt 0 ]; do
    sleep 0.1
    tenths=$((tenths - 1))
done
daemon slurmctld -D -c
daemon slurmd -D -c
tenths=200
until sinfo -h -o %T 2>/dev/null | grep -q '^idle' || [ $tenths -eq 0 ]; do
    sleep 0.1
    tenths=$((tenths - 1))
done
if [ $tenths -eq 0 ]; then
    echo "FAILED: Slurm does not start"
    tail -5 "$scratch"/*.out "$scratch/munge/log"
    exit 1
fi
for p in 1 2 5; do
    joins $p srun --mpi=pmix -n $p "$scratch/with"
    joins $p srun --mpi=pmi2 -n $p "$scratch/with"
    joins $p srun --mpi=pmi2 -n $p "$scratch/without"
done
done_launchers
