/* examples/mpi/transport.h — coll over the point-to-point calls of any MPI library
 *
 *   coll_mpi mpi;
 *   coll_mpi_open(&mpi, MPI_COMM_WORLD);            // collective; a private communicator
 *   coll_comm comm;
 *   coll_comm_init(&comm, &coll_mpi_transport, &mpi, mpi.rank, mpi.p, memory, sizeof memory);
 *   … coll_allreduce(&comm, …) …
 *   coll_comm_free(&comm);
 *   coll_mpi_close(&mpi);
 *
 * A handle is an MPI_Request. An operation is tested once as soon as it is started, as short
 * messages are mostly gone, or here, by then. Calls are those of the profiling interface: tools
 * between the program and the library do not see them. MPI has no way to tell other ranks of a
 * failure, so there is no abort; an error ends the collective on its own rank.
 */
#ifndef COLL_EXAMPLES_MPI_TRANSPORT_H
#define COLL_EXAMPLES_MPI_TRANSPORT_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

#include "coll/transport.h"

typedef struct coll_mpi {
    MPI_Comm comm;
    uint32_t rank, p;
    uint32_t spins; /* idle tests before it lets other processes run */
    int error;      /* MPI's code of the last error; MPI_SUCCESS: none */
} coll_mpi;

/* In the second word of a handle: it is a send. A receive has the bytes that it expects. */
#define COLL_I_MPI_SEND UINTPTR_MAX

COLL_INLINE coll_status coll_i_mpi_failed(coll_mpi *mpi, int error)
{
    int kind = MPI_ERR_OTHER;
    mpi->error = error;
    (void)PMPI_Error_class(error, &kind);
    return kind == MPI_ERR_TRUNCATE ? COLL_ERR_SIZE : COLL_ERR_IO;
}

COLL_INLINE coll_status coll_i_mpi_test(void *ctx, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Request request;
    MPI_Status status;
    int done = 0, bytes, error;
    memcpy(&request, &h->word[0], sizeof request);
    error = PMPI_Test(&request, &done, &status);
    memcpy(&h->word[0], &request, sizeof request);
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    if (!done)
        return COLL_AGAIN;
    if (h->word[1] == COLL_I_MPI_SEND)
        return COLL_OK;
    error = PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    return (uintptr_t)bytes == h->word[1] ? COLL_OK : COLL_ERR_SIZE;
}

/* An operation was started, or not. */
COLL_INLINE coll_status coll_i_mpi_started(coll_mpi *mpi, int error, MPI_Request request,
                                           uintptr_t what, coll_handle *h)
{
    coll_status status;
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    memcpy(&h->word[0], &request, sizeof request);
    h->word[1] = what;
    status = coll_i_mpi_test(mpi, h);
    return status == COLL_AGAIN ? COLL_STARTED : status;
}

COLL_INLINE coll_status coll_i_mpi_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Request request;
    const int error =
        PMPI_Isend(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, &request);
    return coll_i_mpi_started(mpi, error, request, COLL_I_MPI_SEND, h);
}

COLL_INLINE coll_status coll_i_mpi_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Request request;
    const int error =
        PMPI_Irecv(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, &request);
    return coll_i_mpi_started(mpi, error, request, (uintptr_t)bytes, h);
}

COLL_INLINE void coll_i_mpi_cancel(void *ctx, coll_handle *h)
{
    MPI_Request request;
    (void)ctx;
    memcpy(&request, &h->word[0], sizeof request);
    if (request == MPI_REQUEST_NULL)
        return; /* the test that failed took it */
    if (h->word[1] == COLL_I_MPI_SEND) {
        (void)PMPI_Request_free(&request); /* sends cannot be given up everywhere */
        return;
    }
    (void)PMPI_Cancel(&request);
    (void)PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

COLL_INLINE void coll_i_mpi_wait(void *ctx, uint32_t idle)
{
    if (idle > ((const coll_mpi *)ctx)->spins)
        (void)sched_yield();
}

/* The vtable; ctx is a coll_mpi. MPI promises tags up to 32767. */
static const coll_transport coll_mpi_transport = {coll_i_mpi_send,
                                                  coll_i_mpi_recv,
                                                  coll_i_mpi_test,
                                                  coll_i_mpi_cancel,
                                                  NULL, /* abort */
                                                  coll_i_mpi_wait,
                                                  NULL,            /* borrow */
                                                  NULL,            /* give_back */
                                                  NULL,            /* copy */
                                                  NULL,            /* reduce */
                                                  NULL,            /* multicast */
                                                  NULL,            /* fabric_reduce */
                                                  (size_t)1 << 30, /* counts are ints */
                                                  32768};

/* Makes a context of all ranks of a communicator, on a duplicate of it. Collective. Returns
 * MPI's error code. */
COLL_INLINE int coll_mpi_open(coll_mpi *mpi, MPI_Comm comm)
{
    int rank, p, error = PMPI_Comm_dup(comm, &mpi->comm);
    if (error != MPI_SUCCESS)
        return error;
    (void)PMPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
    (void)PMPI_Comm_rank(mpi->comm, &rank);
    (void)PMPI_Comm_size(mpi->comm, &p);
    mpi->rank = (uint32_t)rank;
    mpi->p = (uint32_t)p;
    mpi->spins = 64;
    mpi->error = MPI_SUCCESS;
    return MPI_SUCCESS;
}

/* Ends a context; collective, and nothing may be running over it. */
COLL_INLINE int coll_mpi_close(coll_mpi *mpi)
{
    return PMPI_Comm_free(&mpi->comm);
}

#endif /* COLL_EXAMPLES_MPI_TRANSPORT_H */
