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
 *
 * Libraries send a short message at once, through memory that both processes have; for a longer
 * one they first agree on a copy from one to the other, which takes a while. A message that is
 * not much longer is faster as several short ones, all started at once. Both ends know its
 * length, so both cut it alike.
 */
#ifndef COLL_EXAMPLES_MPI_TRANSPORT_H
#define COLL_EXAMPLES_MPI_TRANSPORT_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transport.h"

/* What is short, and up to where messages are cut into pieces that are: as measured between two
 * processes of one node, of Open MPI 4.1 with its shared memory, and MPICH 4.0 over UCX. */
#ifdef OPEN_MPI
enum { COLL_MPI_PIECE = 4032, COLL_MPI_CUT = 4 * COLL_MPI_PIECE };
#else
enum { COLL_MPI_PIECE = 8192, COLL_MPI_CUT = 8 * COLL_MPI_PIECE };
#endif
enum { COLL_MPI_PIECES = COLL_MPI_CUT / COLL_MPI_PIECE };

/* The requests of a message in pieces. */
typedef struct coll_mpi_bundle {
    struct coll_mpi_bundle *next; /* of those that are not in use */
    int n;
    MPI_Request request[COLL_MPI_PIECES];
} coll_mpi_bundle;

typedef struct coll_mpi {
    MPI_Comm comm;
    uint32_t rank, p;
    uint32_t spins; /* idle tests before it lets other processes run */
    int error;      /* MPI's code of the last error; MPI_SUCCESS: none */
    coll_mpi_bundle *unused;
} coll_mpi;

/* The second word of a handle has the bytes of the message, and this if it is received. The
 * first is a request, or, if the message is in pieces, a bundle. */
#define COLL_I_MPI_RECEIVED ((uintptr_t)1 << (sizeof(uintptr_t) * CHAR_BIT - 1))

COLL_INLINE bool coll_i_mpi_is_cut(size_t bytes)
{
    return bytes > COLL_MPI_PIECE && bytes <= COLL_MPI_CUT;
}

COLL_INLINE coll_status coll_i_mpi_failed(coll_mpi *mpi, int error)
{
    int kind = MPI_ERR_OTHER;
    mpi->error = error;
    (void)PMPI_Error_class(error, &kind);
    return kind == MPI_ERR_TRUNCATE ? COLL_ERR_SIZE : COLL_ERR_IO;
}

/* Is what was received as long as it should be? */
COLL_INLINE coll_status coll_i_mpi_received(coll_mpi *mpi, MPI_Status *statuses, int n,
                                            size_t expected)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++) {
        int count;
        const int error = PMPI_Get_count(&statuses[i], MPI_BYTE, &count);
        if (error != MPI_SUCCESS)
            return coll_i_mpi_failed(mpi, error);
        bytes += (size_t)count;
    }
    return bytes == expected ? COLL_OK : COLL_ERR_SIZE;
}

COLL_INLINE coll_status coll_i_mpi_test_bundle(coll_mpi *mpi, coll_handle *h)
{
    coll_mpi_bundle *bundle = (coll_mpi_bundle *)h->word[0];
    MPI_Status statuses[COLL_MPI_PIECES];
    int done = 0;
    int error = PMPI_Testall(bundle->n, bundle->request, &done, statuses);
    for (int i = 0; error == MPI_ERR_IN_STATUS && i < bundle->n; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            error = statuses[i].MPI_ERROR;
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    if (!done)
        return COLL_AGAIN;
    bundle->next = mpi->unused;
    mpi->unused = bundle;
    return h->word[1] & COLL_I_MPI_RECEIVED
               ? coll_i_mpi_received(mpi, statuses, bundle->n,
                                     h->word[1] & ~COLL_I_MPI_RECEIVED)
               : COLL_OK;
}

COLL_INLINE coll_status coll_i_mpi_test(void *ctx, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Request request;
    MPI_Status status;
    int done = 0, error;
    if (coll_i_mpi_is_cut(h->word[1] & ~COLL_I_MPI_RECEIVED))
        return coll_i_mpi_test_bundle(mpi, h);
    memcpy(&request, &h->word[0], sizeof request);
    error = PMPI_Test(&request, &done, &status);
    memcpy(&h->word[0], &request, sizeof request);
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    if (!done)
        return COLL_AGAIN;
    return h->word[1] & COLL_I_MPI_RECEIVED
               ? coll_i_mpi_received(mpi, &status, 1, h->word[1] & ~COLL_I_MPI_RECEIVED)
               : COLL_OK;
}

/* Starts to send, or to receive, a message or a piece of one. */
COLL_INLINE int coll_i_mpi_start(const coll_mpi *mpi, bool receive, uint32_t peer, uint32_t tag,
                                 void *buf, size_t bytes, MPI_Request *request)
{
    return receive
               ? PMPI_Irecv(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, request)
               : PMPI_Isend(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, request);
}

COLL_INLINE int coll_i_mpi_start_bundle(coll_mpi *mpi, bool receive, uint32_t peer,
                                        uint32_t tag, unsigned char *buf, size_t bytes,
                                        coll_handle *h)
{
    coll_mpi_bundle *bundle = mpi->unused;
    int error = MPI_SUCCESS;
    if (bundle)
        mpi->unused = bundle->next;
    else
        bundle = (coll_mpi_bundle *)malloc(sizeof *bundle);
    if (!bundle)
        return MPI_ERR_NO_MEM;
    bundle->n = 0;
    for (size_t at = 0; at < bytes && error == MPI_SUCCESS; at += COLL_MPI_PIECE) {
        const size_t piece = bytes - at < COLL_MPI_PIECE ? bytes - at : COLL_MPI_PIECE;
        error = coll_i_mpi_start(mpi, receive, peer, tag, buf + at, piece,
                                 &bundle->request[bundle->n]);
        bundle->n += error == MPI_SUCCESS;
    }
    h->word[0] = (uintptr_t)bundle;
    return error;
}

/* `buf` of a send is only read. */
COLL_INLINE coll_status coll_i_mpi_move(coll_mpi *mpi, bool receive, uint32_t peer,
                                        uint32_t tag, void *buf, size_t bytes, coll_handle *h)
{
    coll_status status;
    int error;
    h->word[1] = bytes | (receive ? COLL_I_MPI_RECEIVED : 0);
    if (coll_i_mpi_is_cut(bytes)) {
        error =
            coll_i_mpi_start_bundle(mpi, receive, peer, tag, (unsigned char *)buf, bytes, h);
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        error = coll_i_mpi_start(mpi, receive, peer, tag, buf, bytes, &request);
        memcpy(&h->word[0], &request, sizeof request);
    }
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    status = coll_i_mpi_test(mpi, h);
    return status == COLL_AGAIN ? COLL_STARTED : status;
}

COLL_INLINE coll_status coll_i_mpi_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                        size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, false, peer, tag, (void *)(uintptr_t)buf, bytes, h);
}

COLL_INLINE coll_status coll_i_mpi_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                        size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, true, peer, tag, buf, bytes, h);
}

COLL_INLINE void coll_i_mpi_cancel_one(bool received, MPI_Request request)
{
    if (request == MPI_REQUEST_NULL)
        return; /* the test that failed took it */
    if (!received) {
        (void)PMPI_Request_free(&request); /* sends cannot be given up everywhere */
        return;
    }
    (void)PMPI_Cancel(&request);
    (void)PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

COLL_INLINE void coll_i_mpi_cancel(void *ctx, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    const bool received = (h->word[1] & COLL_I_MPI_RECEIVED) != 0;
    if (coll_i_mpi_is_cut(h->word[1] & ~COLL_I_MPI_RECEIVED)) {
        coll_mpi_bundle *bundle = (coll_mpi_bundle *)h->word[0];
        for (int i = 0; i < bundle->n; i++)
            coll_i_mpi_cancel_one(received, bundle->request[i]);
        bundle->next = mpi->unused;
        mpi->unused = bundle;
    } else {
        MPI_Request request;
        memcpy(&request, &h->word[0], sizeof request);
        coll_i_mpi_cancel_one(received, request);
    }
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
    mpi->unused = NULL;
    return MPI_SUCCESS;
}

/* Frees a context's memory. */
COLL_INLINE void coll_mpi_free(coll_mpi *mpi)
{
    while (mpi->unused) {
        coll_mpi_bundle *bundle = mpi->unused;
        mpi->unused = bundle->next;
        free(bundle);
    }
}

/* Ends a context; collective, and nothing may be running over it. */
COLL_INLINE int coll_mpi_close(coll_mpi *mpi)
{
    coll_mpi_free(mpi);
    return PMPI_Comm_free(&mpi->comm);
}

#endif /* COLL_EXAMPLES_MPI_TRANSPORT_H */
