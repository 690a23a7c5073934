#!/bin/sh
# examples/nic.c: hosts and NICs, two processes a rank, over each transport of this machine.
. "$(dirname "$0")/../support/missing.sh"
program=$COLL_BUILD/examples/nic
patience=100
. "$(dirname "$0")/../support/says.sh"
export COLL_INTERFACES=127.0.0.0/8 # other tests make interfaces, and take them away

says 2 'usage: nic .*' "$program" nothing
says 2 'usage: nic .*' "$program" tcp 0
says 0 '1 rank over tcp: 24 calls of 8 collectives are right; .*' "$program" tcp 8
for transport in tcp shm; do
    for p in 2 4 5; do
        says 0 "$p ranks over $transport: 72 calls of 8 collectives are right; the host reduced and slept" \
            "$COLL_COMMAND" launch -n $p "$program" "$transport" 24
    done
    # A NIC dies: the call of every rank ends with an error, or its exit code is not 0.
    says 0 "4 ranks over $transport: the NIC of rank 2 died, and calls end" "$COLL_COMMAND" launch -n 4 "$program" "$transport" 24 2
done
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
