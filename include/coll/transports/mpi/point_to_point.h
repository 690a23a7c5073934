/* coll/transports/mpi/point_to_point.h — coll over MPI: how messages are sent and received
 *
 * Use ../mpi.h.
 */
#ifndef COLL_TRANSPORTS_MPI_POINT_TO_POINT_H
#define COLL_TRANSPORTS_MPI_POINT_TO_POINT_H

#include "completion.h"

/* ---- messages ---------------------------------------------------------------------------- */

/* An operation without requests. */
COLL_INLINE coll_status coll_i_mpi_begin(coll_mpi *mpi, bool receives, coll_handle *h)
{
    const uint32_t number = coll_i_mpi_grow(mpi) ? coll_i_mpi_take(mpi) : UINT32_MAX;
    coll_mpi_operation *operation;
    if (number == UINT32_MAX)
        return COLL_ERR_MEMORY;
    operation = &mpi->operation[number];
    operation->fits = COLL_OK;
    operation->left = 0;
    operation->round = mpi->round - 1; /* it was just asked for, or started */
    operation->receives = receives;
    operation->error = MPI_SUCCESS;
    h->word[0] = number;
    return COLL_STARTED;
}

/* One request stands for all sends that were done at once, and is never freed: a send to nobody
 * gives it. Before 4.0 MPICH counts who has it; since then its handle is a constant's. */
COLL_INLINE void coll_i_mpi_learn_over(coll_mpi *mpi)
{
    mpi->over = MPI_REQUEST_NULL;
#if defined OPEN_MPI || defined MPICH_NUMVERSION
    (void)PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, mpi->comm, &mpi->over);
#endif
#ifdef MPICH_NUMVERSION
    if ((unsigned)mpi->over >> 30 != (unsigned)MPI_BYTE >> 30)
        (void)PMPI_Wait(&mpi->over, MPI_STATUS_IGNORE);
#endif
}

/* Is what was just started over? Where there are more processes than processors it is asked for
 * without moving the library on, as that may give the processor away: MPICH's test always does, its
 * MPI_Request_get_status only if it is not over, and Open MPI cannot be asked that way. So it is
 * asked for only if nothing else is in flight: a receive that is started early would give the
 * processor away while what the rank needs first may be here. Of a send that is over we mostly know
 * already. */
COLL_INLINE int coll_i_mpi_over(const coll_mpi *mpi, bool receives, MPI_Request *request,
                                int *done, MPI_Status *status)
{
    int error;
    if (!receives && mpi->over != MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (!mpi->oversubscribed)
        return PMPI_Test(request, done, status);
#ifdef OPEN_MPI
    error = MPI_SUCCESS;
#else
    if (mpi->flying > 0)
        return MPI_SUCCESS;
    error = PMPI_Request_get_status(*request, done, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && *done)
        error = PMPI_Wait(request, status);
#endif
    return error;
}

/* A message was started as it is. A send is mostly over then, and what is to be received may be
 * here: then there is nothing to remember. */
COLL_INLINE coll_status coll_i_mpi_started(coll_mpi *mpi, bool receives, size_t bytes,
                                           int error, MPI_Request request, coll_handle *h)
{
    MPI_Status status;
    int done = 0, here = 0;
    if (error == MPI_SUCCESS)
        error = coll_i_mpi_over(mpi, receives, &request, &done, &status);
    if (error == MPI_SUCCESS && done && receives)
        error = PMPI_Get_count(&status, MPI_BYTE, &here);
    if (error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, error);
    if (done)
        return receives ? coll_i_mpi_fits(mpi, (size_t)here, bytes) : COLL_OK;
    if (coll_i_mpi_begin(mpi, receives, h) != COLL_STARTED) {
        coll_i_mpi_drop(receives, &request);
        return COLL_ERR_MEMORY;
    }
    coll_i_mpi_add(mpi, (uint32_t)h->word[0], request, bytes);
    return COLL_STARTED;
}

/* `buf` of a send is only read. */
COLL_INLINE coll_status coll_i_mpi_move(coll_mpi *mpi, unsigned how, uint32_t peer,
                                        uint32_t tag, void *buf, size_t bytes, coll_handle *h)
{
    const bool receives = (how & COLL_I_MPI_RECEIVED) != 0;
    coll_status status;
    coll_i_mpi_send_held(mpi);
    if (coll_i_mpi_next(mpi, how, bytes) == bytes) {
        MPI_Request request = MPI_REQUEST_NULL;
        int error;
        if (how == 0 && bytes > mpi->cut && mpi->pages)
            coll_huge_sends(mpi->pages, buf, bytes);
        error = coll_i_mpi_start(mpi, how, peer, tag, buf, bytes, &request);
        if (error == MPI_SUCCESS && !receives && request == mpi->over)
            return COLL_OK;
        return coll_i_mpi_started(mpi, receives, bytes, error, request, h);
    }
    status = coll_i_mpi_begin(mpi, receives, h);
    for (size_t at = 0, piece; at < bytes && status == COLL_STARTED; at += piece) {
        MPI_Request request;
        int error;
        piece = coll_i_mpi_next(mpi, how, bytes - at);
        error =
            coll_i_mpi_start(mpi, how, peer, tag, (unsigned char *)buf + at, piece, &request);
        if (error != MPI_SUCCESS) {
            status = coll_i_mpi_failed(mpi, error);
            coll_i_mpi_cancel(mpi, h);
        } else if (receives || request != mpi->over) {
            coll_i_mpi_add(mpi, (uint32_t)h->word[0], request, piece);
        }
    }
    if (status == COLL_STARTED && mpi->operation[h->word[0]].left == 0) {
        coll_i_mpi_give(mpi, (uint32_t)h->word[0]);
        return COLL_OK;
    }
    return status;
}

COLL_INLINE coll_status coll_i_mpi_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                        size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, 0, peer, tag, (void *)(uintptr_t)buf, bytes, h);
}

COLL_INLINE coll_status coll_i_mpi_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                        size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, COLL_I_MPI_RECEIVED, peer, tag, buf, bytes, h);
}

COLL_INLINE coll_status coll_i_mpi_send_near(void *ctx, uint32_t peer, uint32_t tag,
                                             const void *buf, size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, COLL_I_MPI_NEAR, peer, tag, (void *)(uintptr_t)buf,
                           bytes, h);
}

COLL_INLINE coll_status coll_i_mpi_recv_near(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                             size_t bytes, coll_handle *h)
{
    return coll_i_mpi_move((coll_mpi *)ctx, COLL_I_MPI_RECEIVED | COLL_I_MPI_NEAR, peer, tag,
                           buf, bytes, h);
}

/* ---- of those who block ------------------------------------------------------------------ */

/* What the library says of a message that was received. */
COLL_HOT_INLINE coll_status coll_i_mpi_came(coll_mpi *mpi, int error, const MPI_Status *status,
                                            size_t bytes)
{
    int here = 0;
    if (COLL_LIKELY(error == MPI_SUCCESS))
        error = PMPI_Get_count(status, MPI_BYTE, &here);
    if (COLL_LIKELY(error == MPI_SUCCESS))
        return coll_i_mpi_fits(mpi, (size_t)here, bytes);
    return coll_i_mpi_failed(mpi, error);
}

/* Sends the first piece of a message, and holds the others back until what is received next is
 * expected, or something else happens: over MPICH it takes longer to start to receive behind the
 * last piece that is sent than before it, as what that one wrote is then still on its way. */
COLL_INLINE coll_status coll_i_mpi_send_pieces(coll_mpi *mpi, uint32_t peer, uint32_t tag,
                                               void *buf, size_t bytes, coll_handle *h)
{
    const size_t first = coll_i_mpi_next(mpi, 0, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    int error;
    if (bytes > COLL_MPI_SHORT || first == bytes)
        return coll_i_mpi_move(mpi, 0, peer, tag, buf, bytes, h);
    coll_i_mpi_send_held(mpi);
    if (coll_i_mpi_begin(mpi, false, h) != COLL_STARTED)
        return COLL_ERR_MEMORY;
    error = coll_i_mpi_start(mpi, 0, peer, tag, buf, first, &request);
    if (error != MPI_SUCCESS) {
        coll_i_mpi_give(mpi, (uint32_t)h->word[0]);
        return coll_i_mpi_failed(mpi, error);
    }
    if (request != mpi->over)
        coll_i_mpi_add(mpi, (uint32_t)h->word[0], request, first);
    mpi->operation[h->word[0]].left++;
    mpi->held = (unsigned char *)buf + first;
    mpi->held_bytes = bytes - first;
    mpi->held_peer = peer;
    mpi->held_tag = tag;
    mpi->held_by = (uint32_t)h->word[0];
    return COLL_STARTED;
}

/* As coll_i_mpi_send, for those who block. */
COLL_HOT_INLINE coll_status coll_i_mpi_send_now(void *ctx, uint32_t peer, uint32_t tag,
                                                const void *buf, size_t bytes, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Request request;
    int error;
    if (!COLL_LIKELY((bytes <= COLL_MPI_PIECE) & (mpi->held_bytes == 0)))
        return coll_i_mpi_send_pieces(mpi, peer, tag, (void *)(uintptr_t)buf, bytes, h);
    error = PMPI_Isend(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, &request);
    return COLL_LIKELY(error == MPI_SUCCESS && request == mpi->over)
               ? COLL_OK
               : coll_i_mpi_started(mpi, false, bytes, error, request, h);
}

/* Receives a message of several pieces, and sends what is held once all of them are expected. */
COLL_INLINE coll_status coll_i_mpi_recv_pieces(coll_mpi *mpi, uint32_t peer, uint32_t tag,
                                               unsigned char *buf, size_t bytes)
{
    MPI_Request request[COLL_MPI_SHORT_PIECES];
    size_t piece[COLL_MPI_SHORT_PIECES];
    coll_status status = COLL_OK;
    int n = 0, error;
    for (size_t at = 0; (at < bytes || n == 0) && status == COLL_OK; at += piece[n++]) {
        piece[n] = coll_i_mpi_next(mpi, 0, bytes - at);
        request[n] = MPI_REQUEST_NULL;
        error = coll_i_mpi_start(mpi, COLL_I_MPI_RECEIVED, peer, tag, buf + at, piece[n],
                                 &request[n]);
        status = error == MPI_SUCCESS ? COLL_OK : coll_i_mpi_failed(mpi, error);
    }
    coll_i_mpi_send_held(mpi);
    for (int i = 0; i < n; i++) {
        MPI_Status its;
        if (status == COLL_OK) {
            error = PMPI_Wait(&request[i], &its);
            status = coll_i_mpi_came(mpi, error, &its, piece[i]);
        } else if (request[i] != MPI_REQUEST_NULL) {
            coll_i_mpi_drop(true, &request[i]);
        }
    }
    return status;
}

/* As coll_i_mpi_recv, but the library waits for a short message, and moves on meanwhile what is
 * sent: for those who block (coll_in_order_restart_with). */
COLL_HOT_INLINE coll_status coll_i_mpi_recv_now(void *ctx, uint32_t peer, uint32_t tag,
                                                void *buf, size_t bytes, coll_handle *h)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    MPI_Status status;
    int error;
    if (!COLL_LIKELY((bytes <= COLL_MPI_PIECE) & (mpi->held_bytes == 0)))
        return bytes <= COLL_MPI_SHORT
                   ? coll_i_mpi_recv_pieces(mpi, peer, tag, (unsigned char *)buf, bytes)
                   : coll_i_mpi_recv(ctx, peer, tag, buf, bytes, h);
    error = PMPI_Recv(buf, (int)bytes, MPI_BYTE, (int)peer, (int)tag, mpi->comm, &status);
    return coll_i_mpi_came(mpi, error, &status, bytes);
}

#endif /* COLL_TRANSPORTS_MPI_POINT_TO_POINT_H */
