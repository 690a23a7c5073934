/* mpi/layer/ulfm.c — User-Level Failure Mitigation: MPIX_Comm_revoke, agree, shrink, and who has
 * failed
 *
 * For communicators of one node, by failures.c. Others are the library's, where it has such
 * calls (MPICH), which do not notice that a rank died; over Open MPI 4.1 an error says why.
 */
#include <stdlib.h>

#include "coll_ulfm.h"
#include "layer.h"

#ifdef MPICH_VERSION
#define LIBRARY_HAS(call) call
#else
#define LIBRARY_HAS(call) (refuse(comm))
#endif

/* What a rank with calls of ours says of a communicator that they do not serve. */
static int refuse(MPI_Comm comm)
{
    const int error = comm == MPI_COMM_NULL
                          ? MPI_ERR_COMM
                          : sentence_code("the layer can only recover communicators that it "
                                          "runs, whose ranks are all on one "
                                          "node and talk through its memory: leave COLL_SHM "
                                          "and COLL_PPN unset, or split "
                                          "the communicator by nodes first");
    (void)PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, error);
    return error;
}

/* The record of a communicator that failures.c knows, with the lock taken; otherwise NULL,
 * without it. */
static struct comm *enter(MPI_Comm handle)
{
    struct comm *comm;
    if (!settings.ready)
        return NULL;
    lock();
    comm = comm_of(handle, false);
    if (comm && comm->pact)
        return comm;
    unlock();
    return NULL;
}

static int leave(MPI_Comm handle, int error)
{
    unlock();
    if (error != MPI_SUCCESS)
        (void)PMPI_Comm_call_errhandler(handle, error);
    return error;
}

/* ---- revoke, agree ----------------------------------------------------------------------- */

EXPORT int MPIX_Comm_revoke(MPI_Comm comm)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_revoke(comm));
    failures_revoke(its);
    return leave(comm, MPI_SUCCESS);
}

EXPORT int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
    struct comm *its = enter(comm);
    if (!its)
        return refuse(comm);
    if (flag)
        *flag = failures_is_revoked(its);
    return leave(comm, flag ? MPI_SUCCESS : MPI_ERR_ARG);
}

EXPORT int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    struct comm *its = enter(comm);
    uint64_t flags;
    bool all_knew;
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_agree(comm, flag));
    flags = flag ? (unsigned)*flag : 0;
    all_knew = failures_agree(its, &flags);
    if (flag)
        *flag = (int)(unsigned)flags;
    return leave(comm, !flag ? MPI_ERR_ARG : all_knew ? MPI_SUCCESS : failures_error());
}

/* ---- groups ------------------------------------------------------------------------------ */

/* The members of which `is` holds, or all others. */
static int group_of(const struct comm *comm, bool (*is)(const struct comm *, uint32_t),
                    bool others, MPI_Group *group)
{
    int *ranks = malloc(comm->p * sizeof *ranks), n = 0, error;
    MPI_Group all;
    if (!ranks || !group) {
        free(ranks);
        return group ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
    }
    for (uint32_t i = 0; i < comm->p; i++)
        if (is(comm, i) != others)
            ranks[n++] = (int)i;
    error = PMPI_Comm_group(comm->handle, &all);
    if (error == MPI_SUCCESS) {
        error = PMPI_Group_incl(all, n, ranks, group);
        PMPI_Group_free(&all);
    }
    free(ranks);
    return error;
}

EXPORT int MPIX_Comm_failure_ack(MPI_Comm comm)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_failure_ack(comm));
    failures_acknowledge(its);
    return leave(comm, MPI_SUCCESS);
}

EXPORT int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failed)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_failure_get_acked(comm, failed));
    return leave(comm, group_of(its, failures_is_acknowledged, false, failed));
}

EXPORT int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed)
{
    struct comm *its = enter(comm);
    if (!its)
        return refuse(comm);
    return leave(comm, group_of(its, failures_is_dead, false, failed));
}

/* ---- shrink ------------------------------------------------------------------------------ */

/* A communicator of those that the last agreement did not find gone. The library's own errors
 * return. */
static int make(struct comm *comm, MPI_Comm *made)
{
    MPI_Errhandler handler;
    MPI_Group group;
    int error = group_of(comm, failures_is_lost, true, &group);
    if (error != MPI_SUCCESS)
        return error;
    PMPI_Comm_get_errhandler(comm->handle, &handler);
    PMPI_Comm_set_errhandler(comm->handle, MPI_ERRORS_RETURN);
    error = PMPI_Comm_create_group(comm->handle, group, 0, made);
    PMPI_Comm_set_errhandler(comm->handle, handler);
    if (error == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*made, handler);
    if (handler != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&handler);
    PMPI_Group_free(&group);
    return error;
}

EXPORT int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *its = enter(comm);
    MPI_Comm made = MPI_COMM_NULL;
    uint64_t able = newcomm != NULL;
    int error = MPI_SUCCESS;
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_shrink(comm, newcomm));
    for (uint32_t turn = 0; turn < its->p; turn++) {
        (void)failures_agree(its, &able);
        if (able == 0)
            return leave(comm, MPI_ERR_ARG);
        error = make(its, &made);
        able = error == MPI_SUCCESS;
        (void)failures_agree(its, &able);
        if (able != 0)
            break;
        if (error == MPI_SUCCESS)
            PMPI_Comm_free(&made);
        able = 1;
    }
    if (able == 0)
        return leave(comm, error != MPI_SUCCESS ? error : MPI_ERR_OTHER);
    comm_made(made);
    *newcomm = made;
    return leave(comm, MPI_SUCCESS);
}
