#!/bin/sh
# examples/13_any_network.c and 14_sleeping.c: over each transport, on this machine.
. "$(dirname "$0")/../support/missing.sh"
program=$COLL_BUILD/examples/13_any_network
sleeper=$COLL_BUILD/examples/14_sleeping
patience=60
. "$(dirname "$0")/../support/says.sh"
# Other tests make interfaces, and take them away.
export COLL_INTERFACES=127.0.0.0/8 UCX_NET_DEVICES=lo COLL_OFI_SOURCE=127.0.0.1

says 2 '13_any_network: there is no transport nothing here; there are tcp .*shm join' "$program" nothing
says 0 '1 rank over tcp: the sums are 0 and 1' "$program"
says 2 '14_sleeping: there is no transport nothing here; there are tcp .*shm join' "$sleeper" nothing
for transport in $("$program" nothing 2>&1 | sed 's/.* there are//'); do
    on=
    [ "$transport" != join ] || on=' on 1 host'
    descriptor='a descriptor'
    case $transport in shm | join) descriptor='no descriptor' ;; esac
    for p in 1 2 5; do
        ranks=ranks
        [ $p -ne 1 ] || ranks=rank
        [ $p -eq 5 ] || says 0 "$p $ranks over $transport: 10 sums are right; there is $descriptor to sleep on" \
            "$COLL_COMMAND" launch -n $p "$sleeper" "$transport"
        says 0 "$p $ranks over $transport$on: the sums are $((p * (p - 1) / 2)) and $p" "$COLL_COMMAND" launch -n $p "$program" "$transport"
    done
done
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
