/* coll/transports/mpi.h — coll over the point-to-point calls of any MPI library
 *
 *   coll_mpi mpi;
 *   coll_mpi_open(&mpi, MPI_COMM_WORLD);            // collective; a private communicator
 *   coll_comm comm;
 *   coll_comm_init(&comm, coll_mpi_table(&mpi), &mpi, mpi.rank, mpi.p, memory, sizeof memory);
 *   … coll_allreduce(&comm, …) …
 *   coll_comm_free(&comm);
 *   coll_mpi_close(&mpi);
 *
 * Calls are those of the profiling interface: tools between the program and the library do not
 * see them. MPI has no way to tell other ranks of a failure, so there is no abort; an error ends
 * the collective on its own rank.
 *
 * Of the contract of coll/transport.h three points are MPI's to keep, and it does not:
 *   - A send that is cancelled is left to the library, which may still read its buffer.
 *   - A message of another size than expected is COLL_ERR_SIZE if it is one piece or shorter than
 *     expected. Pieces too many are not noticed; and where the receiver copies from the sender's
 *     memory, Open MPI 4.1 writes all of a message that is too long.
 *   - Over MPICH, such an error may go to the error handler of MPI_COMM_WORLD, which ends the program,
 *     and not to that of the communicator.
 */
#ifndef COLL_TRANSPORTS_MPI_H
#define COLL_TRANSPORTS_MPI_H

#include <sched.h>
#include <string.h>

#include "mpi/ways.h"

COLL_INLINE void coll_i_mpi_wait(void *ctx, uint32_t idle)
{
    if (idle > ((const coll_mpi *)ctx)->spins)
        (void)sched_yield();
}

/* The library moves what it has whenever it is asked for anything. */
COLL_INLINE void coll_i_mpi_progress(void *ctx)
{
    int found;
    (void)PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ((const coll_mpi *)ctx)->comm, &found,
                      MPI_STATUS_IGNORE);
}

COLL_INLINE uint32_t coll_i_mpi_ranks(void *ctx)
{
    return ((const coll_mpi *)ctx)->p;
}

/* A vtable; ctx is a coll_mpi. MPI promises tags up to 32767. Its network does nothing, but how many ranks
 * there are is known. */
static const coll_failure coll_i_mpi_failure = {coll_i_mpi_cancel, NULL /* abort */,
                                                NULL /* dead */, NULL /* outlive */};
static const coll_in_network coll_i_mpi_network = {NULL, NULL, 0, coll_i_mpi_ranks};
#define COLL_I_MPI_TRANSPORT(send, recv, max_bytes)                                            \
    {                                                                                          \
        send, recv, coll_i_mpi_test, NULL /* copy */, NULL /* reduce */, coll_i_mpi_wait,      \
            coll_i_mpi_progress, 32768 /* tags */, max_bytes, 0 /* unsegmented */,             \
            NULL /* zero copy */, NULL /* arrival */, &coll_i_mpi_failure,                     \
            &coll_i_mpi_network, NULL /* node memory */, NULL /* tag ranges */,                \
            NULL /* routes */, NULL /* events */, NULL /* registration */,                     \
            NULL /* whole from */, NULL /* one sided */                                        \
    }

/* For any context (counts are ints). */
static const coll_transport coll_mpi_transport =
    COLL_I_MPI_TRANSPORT(coll_i_mpi_send, coll_i_mpi_recv, (size_t)1 << 30);
/* For one that is near: through the memory of the node. */
static const coll_transport coll_mpi_near_transport =
    COLL_I_MPI_TRANSPORT(coll_i_mpi_send_near, coll_i_mpi_recv_near, COLL_MPI_NEAR_MOST);

/* The better one for a context. */
COLL_INLINE const coll_transport *coll_mpi_table(const coll_mpi *mpi)
{
    return mpi->near ? &coll_mpi_near_transport : &coll_mpi_transport;
}

/* Makes a context on a communicator in which nobody else sends messages, and whose errors are
 * returned; it stays the caller's. */
COLL_INLINE void coll_mpi_init(coll_mpi *mpi, MPI_Comm comm)
{
    int rank, p;
    memset(mpi, 0, sizeof *mpi);
    (void)PMPI_Comm_rank(comm, &rank);
    (void)PMPI_Comm_size(comm, &p);
    mpi->comm = comm;
    mpi->rank = (uint32_t)rank;
    mpi->p = (uint32_t)p;
    mpi->cut = COLL_MPI_CUT;
    mpi->spins = 64;
    mpi->error = MPI_SUCCESS;
    mpi->unused = UINT32_MAX;
    mpi->over = MPI_REQUEST_NULL;
    mpi->block = MPI_DATATYPE_NULL;
    coll_i_mpi_learn_over(mpi);
}

/* Blocks until some message moves on. For a caller who has just moved on all that is in flight
 * here, without effect, and has nothing else to do: then nothing else can help. */
COLL_INLINE void coll_mpi_block(coll_mpi *mpi)
{
    if (mpi->flying > 0 && !mpi->news)
        coll_i_mpi_sweep(mpi, true);
}

/* Blocks until all messages in flight are done. For a caller who has started all that there is to
 * start here, and whom nobody waits for. */
COLL_INLINE void coll_mpi_block_all(coll_mpi *mpi)
{
    const int used = mpi->used;
    int error;
    if (mpi->flying == 0)
        return;
    for (int i = 0; i < used; i++)
        mpi->indices[i] = mpi->request[i] != MPI_REQUEST_NULL; /* afterwards they all are */
    error = PMPI_Waitall(used, mpi->request, mpi->statuses);
    for (int i = 0; i < used; i++) {
        const int its = error == MPI_ERR_IN_STATUS ? mpi->statuses[i].MPI_ERROR : error;
        if (!mpi->indices[i] || its == MPI_ERR_PENDING) /* another one failed before it */
            continue;
        mpi->request[i] = MPI_REQUEST_NULL;
        coll_i_mpi_done(mpi, i, &mpi->statuses[i], its);
    }
}

/* Frees a context's memory. Nothing may be running over it. */
COLL_INLINE void coll_mpi_free(coll_mpi *mpi)
{
    free(mpi->request);
    free(mpi->owner);
    free(mpi->indices);
    free(mpi->statuses);
    free(mpi->operation);
    if (mpi->block != MPI_DATATYPE_NULL)
        (void)PMPI_Type_free(&mpi->block);
}

/* Makes a context of all ranks of a communicator, on a duplicate of it. Collective. Returns
 * MPI's error code. */
COLL_INLINE int coll_mpi_open(coll_mpi *mpi, MPI_Comm comm)
{
    MPI_Comm mine, node;
    int ranks = 0, error = PMPI_Comm_dup(comm, &mine);
    if (error != MPI_SUCCESS)
        return error;
    (void)PMPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    coll_mpi_init(mpi, mine);
    error = PMPI_Comm_split_type(mine, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (error == MPI_SUCCESS) {
        (void)PMPI_Comm_size(node, &ranks);
        (void)PMPI_Comm_free(&node);
        if ((uint32_t)ranks == mpi->p)
            (void)coll_mpi_find_ways(mpi);
    }
    if (error != MPI_SUCCESS)
        (void)PMPI_Comm_free(&mine);
    return error;
}

/* Ends such a context; collective. */
COLL_INLINE int coll_mpi_close(coll_mpi *mpi)
{
    coll_mpi_free(mpi);
    return PMPI_Comm_free(&mpi->comm);
}

#endif /* COLL_TRANSPORTS_MPI_H */
