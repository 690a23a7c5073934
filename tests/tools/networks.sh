#!/bin/sh
# coll run over UCX and libfabric, a process a rank: all algorithms that need nothing but messages are right; the command
# that was built without them says so.
set -u
networks=$COLL_BUILD/tests/coll-networks
coll=$COLL_COMMAND sub=
. "$(dirname "$0")/run/command.sh"
. "$(dirname "$0")/../support/missing.sh"
[ -x "$networks" ] || missing 'UCX and libfabric are not installed; on Debian: apt-get install libucx-dev libfabric-dev'
refuses 'coll run: this command was built without UCX: cmake -DCOLL_WITH_UCX=ON builds it with that' \
    run allreduce ring -p 2 --transport ucx
refuses 'coll run: this command was built without libfabric: cmake -DCOLL_WITH_OFI=ON builds it with that' \
    run allreduce ring -p 2 --transport ofi
for transport in ucx ofi; do
    coll=$networks
    refuses "coll run: by $transport each rank is a process: coll launch -n P coll run …, mpiexec or srun" \
        run allreduce ring -p 2 --transport $transport
    coll=$COLL_COMMAND
    for ranks in 2 5; do
        run 0 launch -n $ranks "$networks" run all all --repeat 2 --transport $transport
        grep -q '^1[89][0-9] right, 0 wrong, ' "$scratch/out" || fail "$transport, $ranks ranks"
    done
    run 0 launch -n 3 "$networks" run bcast binomial --count 400k --repeat 3 --transport $transport
    grep -q '^result     right on all ranks' "$scratch/out" || fail "$transport, long messages"
done
done_checks
