#!/bin/sh
# Ranks that are started by mpiexec of MPICH (Hydra, PMI-1) and of Open MPI (PMIx), and by coll launch, in one binary.
. "$(dirname "$0")/lib/launchers.sh"
need mpiexec.hydra mpich
need mpiexec.openmpi openmpi-bin
compile
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for p in 1 2 7; do
    joins $p mpiexec.openmpi --oversubscribe -n $p "$scratch/with"
    joins $p mpiexec.hydra -n $p "$scratch/with"
    joins $p mpiexec.hydra -n $p "$scratch/without"
    joins $p "$COLL_COMMAND" launch -n $p "$scratch/with"
done
joins 1 "$scratch/with"
joins 3 mpiexec.openmpi -n 1 "$COLL_COMMAND" launch -n 3 "$scratch/with" # the launcher within is meant
refused 'started by PMIx, for which it must be compiled with COLL_PMIX' mpiexec.openmpi -n 1 "$scratch/without"
refused 'COLL_PATIENCE is not a number: "soon"' env COLL_PATIENCE=soon mpiexec.openmpi -n 1 "$scratch/with"
refused 'does not answer by PMIx' env PMIX_NAMESPACE=1 PMIX_RANK=0 "$scratch/with"
done_launchers
