#!/bin/sh
# COLL_TOP: coll top shows the ranks of a program under the layer, and names the late one.
#   top.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
late=$programs/tests/late
need "$late"
need "$COLL_COMMAND"
[ -d /dev/shm ] || missing 'there is no /dev/shm'
seconds=60
layered 4 COLL_TOP=yes "$late" absent
says 'coll: COLL_TOP is 0 or 1, not "yes"'

# The last rank calls a second after the others.
layered 4 COLL_TOP=1 "$late" absent &
while kill -0 $! 2>/dev/null; do
    "$COLL_COMMAND" top --once >"$work/now" && grep -q 'rank 3 has not called it' "$work/now" && cp "$work/now" "$work/table"
    sleep 0.1
done
wait $!
last="coll top"
code=0
check 'the job was shown while a rank was late' [ -s "$work/table" ]
if [ -s "$work/table" ]; then
    cp "$work/table" "$work/out"
    prints ', 4 ranks, MPI'
    prints 'call 2, allreduce: rank 3 has not called it; its last call was number 1, bcast'
    check 'rank 0 waits' grep -q -E '^ +0 +[0-9]+ +2  allreduce +4  for [0-9.]+ s' "$work/out"
    check 'the last call of rank 3 is over' grep -q -E '^ +3 +[0-9]+ +1  bcast +4  is over$' "$work/out"
fi
done_tests
