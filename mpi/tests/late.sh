#!/bin/sh
# COLL_DEADLINE: ranks that wait say for whom, and why.
#   late.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
late=$programs/tests/late
need "$late"

# Who is late is named, and the program goes on.
seconds=30
layered 4 COLL_DEADLINE=200ms "$late" absent
ended 0
prints 'the sum is 4'
says 'coll: rank 0 has waited 0.'
says 'rank 3 has not called it: its last call was number 1, bcast'
layered 4 COLL_DEADLINE=200ms COLL_SHM=0 "$late" absent
ended 0
says 'in call 2 of its communicator of 4 ranks, allreduce by'
says 'for a message of 4 bytes from rank 3'
layered 4 COLL_DEADLINE=1m "$late" absent
ended 0
silent 'has waited'

# These wait for ever; each sentence names what differs.
seconds=4
layered 4 COLL_DEADLINE=200ms "$late" other
check 'it was ended' [ "$code" -ne 0 ]
says 'rank 3 called bcast instead'
layered 4 COLL_DEADLINE=200ms "$late" root
check 'it was ended' [ "$code" -ne 0 ]
says 'rank 0 gives root 3, this one 0'

seconds=30
for word in soon 0s 30 -1s; do
    layered 2 COLL_DEADLINE=$word "$late" absent
    check 'it ends with an error' [ "$code" -ne 0 ]
    says "COLL_DEADLINE is a time such as 30s, 500ms or 2m, not \"$word\""
done
done_tests
