#!/bin/sh
# The layer beside tools that are preloaded, and beside the other MPI library: it works, or ends with a sentence.
#   tools.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
cpi=$programs/cpi waits=$programs/tests/waits.so inits=$programs/tests/inits.so
need "$cpi"
need "$waits"
need "$inits"
seconds=30

# A tool behind the layer does not see what the layer does, and nothing hangs.
launch 2 env LD_PRELOAD="$layer:$waits" COLL_VERBOSE=1 "$cpi" 1000
ended 0
prints 'pi is about 3.14'
says 'coll: rank 0'

# In front of it, it would keep the collectives from moving on.
launch 2 env LD_PRELOAD="$waits:$layer" "$cpi" 1000
check 'it ends with an error' [ "$code" -ne 0 ] && check 'and not by its time' [ "$code" -ne 124 ]
says 'takes MPI_Wait before the layer'
says 'preload libcollmpi.so before it'

# One that takes MPI_Init leaves the layer off, and that is said.
launch 2 env LD_PRELOAD="$inits:$layer" "$cpi" 1000
ended 0
prints 'pi is about 3.14'
says 'coll: the layer is off, as MPI_Init did not come through it'
launch 2 env LD_PRELOAD="$layer:$inits" COLL_VERBOSE=1 "$cpi" 1000
ended 0
says 'coll: rank 0'

# The layer of the other library.
case $library in mpich) other=openmpi ;; *) other=mpich ;; esac
if [ -e "$COLL_BUILD/mpi/$other/libcollmpi.so" ]; then
    launch 2 env LD_PRELOAD="$COLL_BUILD/mpi/$other/libcollmpi.so" "$cpi" 1000
    check 'it ends with an error' [ "$code" -ne 0 ] && check 'and not by its time' [ "$code" -ne 124 ]
    says "preload mpi/$library/libcollmpi.so in place of mpi/$other/libcollmpi.so"
fi
done_tests
