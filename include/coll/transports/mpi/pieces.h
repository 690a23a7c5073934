/* coll/transports/mpi/pieces.h — coll over MPI: into which requests a message is cut
 *
 * Libraries send a short message at once, through memory that both processes have; for a longer one
 * they first agree on a copy from one to the other, which takes a while. A message that is not much
 * longer is faster as several short ones, all started at once. Both ends know its length, so both
 * cut it alike.
 *
 * Where all ranks share the memory of a node, this may hold for messages of any length (`near`): the
 * kernel, which makes that one copy, looks up every page, and one processor does all of it. Of two
 * copies through the shared memory two processors make one each, one behind the other; whether that
 * is faster ways.h finds out. MPICH is given all of a long message in pieces, unless ranks share
 * processors: then the turns that they take cost more. Open MPI has fragments of its own for that
 * way, longer than its short messages, and takes it for data that does not lie in one run; so it is
 * told that the first cache line of each block comes last. Memory that the kernel copies from again
 * and again may be moved to huge pages, which it finds sooner (coll/transports/huge.h).
 *
 * Use ../mpi.h.
 */
#ifndef COLL_TRANSPORTS_MPI_PIECES_H
#define COLL_TRANSPORTS_MPI_PIECES_H

#include "context.h"

/* What a message is: one that is received, one that goes through the memory of the node. */
enum { COLL_I_MPI_RECEIVED = 1, COLL_I_MPI_NEAR = 2 };

/* Bytes of the next request of a message of which `bytes` are left. MPICH's pieces are equally long,
 * in cache lines: a third one of a few bytes took up to half as long again. Open MPI's are as
 * long as may be: of 8 KiB, equal ones took up to a fifth longer. */
COLL_INLINE size_t coll_i_mpi_next(const coll_mpi *mpi, unsigned how, size_t bytes)
{
#ifdef OPEN_MPI
    const size_t few = COLL_MPI_SHORT, most = mpi->cut < few ? mpi->cut : few; /* in pieces */
    if ((how & COLL_I_MPI_NEAR) && bytes >= COLL_MPI_BLOCK && bytes > most)
        return bytes - bytes % COLL_MPI_BLOCK;
    return bytes <= mpi->cut && bytes > COLL_MPI_PIECE ? (size_t)COLL_MPI_PIECE : bytes;
#else
    const size_t pieces = (bytes + COLL_MPI_PIECE - 1) / COLL_MPI_PIECE;
    if (pieces < 2 || (bytes > mpi->cut && !(how & COLL_I_MPI_NEAR)))
        return bytes;
    return ((bytes + pieces - 1) / pieces + 63) / 64 * 64;
#endif
}

/* Starts to send, or to receive, what coll_i_mpi_next said. */
COLL_INLINE int coll_i_mpi_start(const coll_mpi *mpi, unsigned how, uint32_t peer, uint32_t tag,
                                 void *buf, size_t bytes, MPI_Request *request)
{
    MPI_Datatype type = MPI_BYTE;
    int n = (int)bytes;
#ifdef OPEN_MPI
    if ((how & COLL_I_MPI_NEAR) && bytes >= COLL_MPI_BLOCK) {
        type = mpi->block;
        n = (int)(bytes / COLL_MPI_BLOCK);
    }
#endif
    return how & COLL_I_MPI_RECEIVED
               ? PMPI_Irecv(buf, n, type, (int)peer, (int)tag, mpi->comm, request)
               : PMPI_Isend(buf, n, type, (int)peer, (int)tag, mpi->comm, request);
}

/* Takes the request of a piece into an operation. */
COLL_INLINE void coll_i_mpi_add(coll_mpi *mpi, uint32_t number, MPI_Request request,
                                size_t bytes)
{
    mpi->request[mpi->used] = request;
    mpi->owner[mpi->used].bytes = bytes;
    mpi->owner[mpi->used++].operation = number;
    mpi->flying++;
    mpi->operation[number].left++;
}

/* Sends what is held, if anything is. */
COLL_INLINE void coll_i_mpi_send_held(coll_mpi *mpi)
{
    if (mpi->held_bytes > 0)
        mpi->operation[mpi->held_by].left--;
    while (mpi->held_bytes > 0) {
        const size_t piece = coll_i_mpi_next(mpi, 0, mpi->held_bytes);
        MPI_Request request = MPI_REQUEST_NULL;
        const int error = coll_i_mpi_grow(mpi)
                              ? coll_i_mpi_start(mpi, 0, mpi->held_peer, mpi->held_tag,
                                                 mpi->held, piece, &request)
                              : MPI_ERR_NO_MEM;
        mpi->held += piece;
        mpi->held_bytes -= piece;
        if (error != MPI_SUCCESS) {
            mpi->operation[mpi->held_by].error = error;
            mpi->held_bytes = 0;
        } else if (request != mpi->over) {
            coll_i_mpi_add(mpi, mpi->held_by, request, piece);
        }
    }
}

#endif /* COLL_TRANSPORTS_MPI_PIECES_H */
