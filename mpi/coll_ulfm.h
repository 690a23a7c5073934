/* mpi/coll_ulfm.h — for MPI programs that survive the death of ranks: what the layer offers of
 * User-Level Failure Mitigation (ULFM), where the MPI library's mpi.h has not declared it
 *
 *   #include <mpi.h>
 *   #include "coll_ulfm.h"
 *   …
 *   MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
 *   error = MPI_Allreduce(…, comm);
 *   if (error != MPI_SUCCESS)
 *       MPIX_Comm_revoke(comm);                    // so that nobody waits in a call of it
 *   well = error == MPI_SUCCESS;
 *   MPIX_Comm_failure_ack(comm);
 *   MPIX_Comm_agree(comm, &well);                  // the same on all survivors
 *   if (!well)
 *       MPIX_Comm_shrink(comm, &survivors);
 *
 * The functions are in libcollmpi.so: preload it, or link the program with it before the MPI
 * library. Without it they are NULL where the MPI library has none (MPIX_Comm_is_revoked over
 * MPICH 4.0, all over Open MPI 4.1), which a program can ask for: if (MPIX_Comm_shrink) … They
 * serve communicators whose ranks are all on one node and talk through its memory; docs/mpi.md
 * says how to start a job so that it survives. Errors are MPI's codes, and go to the
 * communicator's error handler.
 */
#ifndef COLL_ULFM_H
#define COLL_ULFM_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MPIX_ERR_PROC_FAILED
/* Classes of errors, of a call of a communicator of which a process has failed, and of one
 * that has been revoked. The layer adds them to those of the library in MPI_Init. */
#define MPIX_ERR_PROC_FAILED (MPI_ERR_LASTCODE + 1)
#define MPIX_ERR_REVOKED     (MPI_ERR_LASTCODE + 2)
#endif

#define COLL_ULFM_WEAK __attribute__((weak))

/* Ends all calls of the communicator on all ranks, with MPIX_ERR_REVOKED, and all later ones
 * but those below. Local. */
COLL_ULFM_WEAK int MPIX_Comm_revoke(MPI_Comm comm);
/* Has it been revoked, as far as this rank knows? Local. */
COLL_ULFM_WEAK int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
/* Gives all survivors the bitwise AND of their flags. MPIX_ERR_PROC_FAILED, on all of them:
 * there are dead ranks that not all have acknowledged; the flag is agreed on all the same.
 * Collective over the survivors. */
COLL_ULFM_WEAK int MPIX_Comm_agree(MPI_Comm comm, int *flag);
/* The same without waiting: *flag, which the caller leaves alone meanwhile, is agreed on once the request is done.
 * This rank's flag counts as it is now. Agreements and shrinks of a communicator begin in the order of their calls,
 * which is the same on all survivors. */
COLL_ULFM_WEAK int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
/* Makes a communicator of the survivors, in the order of their ranks, with the same error
 * handler. Collective over the survivors. */
COLL_ULFM_WEAK int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
/* The same without waiting: *newcomm is there once the request is done, until then MPI_COMM_NULL. Its last step
 * waits, in whatever call of MPI's the caller then is, for survivors that have all called it, too. */
COLL_ULFM_WEAK int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
/* Acknowledges the dead ranks that there are now. Local. */
COLL_ULFM_WEAK int MPIX_Comm_failure_ack(MPI_Comm comm);
/* Acknowledges the first num_to_ack ranks of the group that MPIX_Comm_get_failed gives, beside those that were
 * acknowledged before, and says how many are; 0 asks for that alone. Local. */
COLL_ULFM_WEAK int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
/* The group of those that were acknowledged, which the caller frees. Local. */
COLL_ULFM_WEAK int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failed);
/* The group of those that are dead now, which the caller frees. A later one begins with the same ranks, in the
 * same order. Local. */
COLL_ULFM_WEAK int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed);

#ifdef __cplusplus
}
#endif

#endif /* COLL_ULFM_H */
