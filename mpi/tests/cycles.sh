#!/bin/sh
# Ten thousand communicators made and freed: nothing runs out, and memory grows no more than that of plain MPI.
#   cycles.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/cycles
need "$program"
slack=1024 # kB; a record of a communicator that was left behind 8,000 times is more

grown() {
    sed -n 's/.*grown by //p' "$work/out"
}
plain 2 "$program" 10000 --plain
ended 0
prints 'cycles: 10000, 0 failed'
before=$(grown)
layered 2 COLL_VERBOSE=1 "$program" 10000
ended 0
prints 'cycles: 10000, 0 failed'
says 'coll: rank 0'
after=$(grown)
echo "grown by ${before:=0} kB without the layer, ${after:=999999} kB with it"
check "memory grows by at most $slack kB more than without the layer" [ "$after" -le $((before + slack)) ]
done_tests
