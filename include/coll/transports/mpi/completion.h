/* coll/transports/mpi/completion.h — coll over MPI: how operations end: tested, or given up
 *
 * A test that finds nothing is not cheap: it moves the whole library on, and where there are more
 * processes than processors it may give its own away. So all requests are tested together, once for
 * each round of tests of the operations in flight.
 *
 * Use ../mpi.h.
 */
#ifndef COLL_TRANSPORTS_MPI_COMPLETION_H
#define COLL_TRANSPORTS_MPI_COMPLETION_H

#include "pieces.h"

/* A request of an operation is done, or failed. */
COLL_INLINE void coll_i_mpi_done(coll_mpi *mpi, int place, const MPI_Status *status, int error)
{
    coll_mpi_operation *operation = &mpi->operation[mpi->owner[place].operation];
    int bytes = 0;
    if (error == MPI_SUCCESS && operation->receives)
        error = PMPI_Get_count(status, MPI_BYTE, &bytes);
    mpi->news = true;
    if (operation->receives && (size_t)bytes != mpi->owner[place].bytes)
        operation->fits = coll_i_mpi_fits(mpi, (size_t)bytes, mpi->owner[place].bytes);
    operation->left--;
    if (error != MPI_SUCCESS)
        operation->error = error;
    mpi->flying--;
    while (mpi->used > 0 && mpi->request[mpi->used - 1] == MPI_REQUEST_NULL)
        mpi->used--;
}

/* Tests all requests, or waits for some of them: a round begins, in which each operation may be
 * asked for once before the next sweep. */
COLL_INLINE void coll_i_mpi_sweep(coll_mpi *mpi, bool waits)
{
    int done = 0, error;
    mpi->round++;
    mpi->news = false;
    if (mpi->flying == 1) { /* it is the last, as places behind the last are free */
        const int place = mpi->used - 1;
        done = waits;
        error = waits ? PMPI_Wait(&mpi->request[place], &mpi->statuses[0])
                      : PMPI_Test(&mpi->request[place], &done, &mpi->statuses[0]);
        if (done || error != MPI_SUCCESS) {
            mpi->request[place] = MPI_REQUEST_NULL;
            coll_i_mpi_done(mpi, place, &mpi->statuses[0], error);
        }
        return;
    }
    error = (waits ? PMPI_Waitsome : PMPI_Testsome)(mpi->used, mpi->request, &done,
                                                    mpi->indices, mpi->statuses);
    for (int i = 0; i < done && done != MPI_UNDEFINED; i++) {
        mpi->request[mpi->indices[i]] = MPI_REQUEST_NULL;
        coll_i_mpi_done(mpi, mpi->indices[i], &mpi->statuses[i],
                        error == MPI_ERR_IN_STATUS ? mpi->statuses[i].MPI_ERROR : error);
    }
}

COLL_INLINE coll_status coll_i_mpi_test(void *ctx, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    const uint32_t number = (uint32_t)h->word[0];
    coll_mpi_operation *operation;
    if (mpi->held_bytes > 0)
        coll_i_mpi_send_held(mpi);
    operation = &mpi->operation[number];
    if (operation->left > 0 && operation->round == mpi->round)
        coll_i_mpi_sweep(mpi, false); /* all have been asked for since the last one */
    operation->round = mpi->round;
    if (operation->error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, operation->error);
    if (operation->fits != COLL_OK) /* what is left may never come */
        return operation->fits;
    if (operation->left > 0)
        return COLL_AGAIN;
    coll_i_mpi_give(mpi, number);
    return COLL_OK;
}

/* Gives up a request, which is not null. */
COLL_INLINE void coll_i_mpi_drop(bool receives, MPI_Request *request)
{
    if (receives) {
        (void)PMPI_Cancel(request);
        (void)PMPI_Wait(request, MPI_STATUS_IGNORE);
    } else {
        (void)PMPI_Request_free(request); /* sends cannot be given up everywhere */
    }
}

COLL_INLINE void coll_i_mpi_cancel(void *ctx, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    const uint32_t number = (uint32_t)h->word[0];
    if (mpi->held_bytes > 0 && mpi->held_by == number) /* the others may wait for it */
        coll_i_mpi_send_held(mpi);
    for (int place = 0; place < mpi->used; place++) {
        if (mpi->owner[place].operation != number || mpi->request[place] == MPI_REQUEST_NULL)
            continue;
        coll_i_mpi_drop(mpi->operation[number].receives, &mpi->request[place]);
        mpi->request[place] = MPI_REQUEST_NULL;
        mpi->flying--;
    }
    while (mpi->used > 0 && mpi->request[mpi->used - 1] == MPI_REQUEST_NULL)
        mpi->used--;
    coll_i_mpi_give(mpi, number);
}

#endif /* COLL_TRANSPORTS_MPI_COMPLETION_H */
