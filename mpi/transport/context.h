/* mpi/transport/context.h — coll over MPI: operations in flight, and how they are tested
 *
 * A test that finds nothing is not cheap: it moves the whole library on, and where there are more
 * processes than processors it may give its own away. So all requests are tested together, once for
 * each round of tests of the operations in flight.
 *
 * Use ../transport.h.
 */
#ifndef COLL_EXAMPLES_MPI_TRANSPORT_CONTEXT_H
#define COLL_EXAMPLES_MPI_TRANSPORT_CONTEXT_H

#include <mpi.h>
#include <stdlib.h>

#include "coll/transport.h"
#include "coll/transports/huge.h"

/* What is short; pieces of a message that those who block wait for in it; up to where messages are cut into pieces that are
 * short; the longest one of a context that is near, so that no more pieces are in flight at once; and
 * requests of a message: as measured between two processes of one node, of Open MPI 4.1 with its
 * shared memory, and MPICH 4.0 over UCX. Blocks are Open MPI's, and what is left after them is
 * pieces. */
#ifdef OPEN_MPI
enum {
    COLL_MPI_PIECE = 4032,
    COLL_MPI_SHORT_PIECES = 5,
    COLL_MPI_CUT = 9 * COLL_MPI_PIECE,
    COLL_MPI_BLOCK = 16384,
    COLL_MPI_NEAR_MOST = 1 << 30,
    COLL_MPI_PIECES = COLL_MPI_CUT / COLL_MPI_PIECE
};
#else
enum {
    COLL_MPI_PIECE = 8192,
    COLL_MPI_SHORT_PIECES = 2,
    COLL_MPI_CUT = 8 * COLL_MPI_PIECE,
    COLL_MPI_NEAR_MOST = 16 * COLL_MPI_PIECE,
    COLL_MPI_PIECES = COLL_MPI_NEAR_MOST / COLL_MPI_PIECE
};
#endif
/* Bytes of a message of few pieces, which those who block wait for in the library. */
enum { COLL_MPI_SHORT = COLL_MPI_SHORT_PIECES * COLL_MPI_PIECE };

/* Whose a request is, and how long its piece of the message. */
typedef struct coll_mpi_owner {
    size_t bytes;
    uint32_t operation;
} coll_mpi_owner;

/* An operation in flight; a handle's first word is its number. */
typedef struct coll_mpi_operation {
    uint32_t left;  /* requests that are not done, or are held back */
    uint32_t round; /* of tests, in which it was last asked for */
    uint32_t next;  /* operation that is not in use */
    int error;
    bool receives, misfits; /* a piece of another length has come */
} coll_mpi_operation;

typedef struct coll_mpi {
    MPI_Comm comm;
    uint32_t rank, p;
    bool near; /* all ranks share a node, and long messages go through its memory */
    bool
        oversubscribed; /* there are more processes than processors; all ranks say the same … */
    bool turns;         /* … and the library does not let others run while it waits */
    size_t cut; /* up to so many bytes they go in pieces, COLL_MPI_SHORT … COLL_MPI_CUT */
    /* Of the process's memory that the kernel copies from; NULL: they stay as they are. */
    coll_huge *pages;
    uint32_t spins; /* idle tests before it lets other processes run */
    int error;      /* MPI's code of the last error; MPI_SUCCESS: none */
    MPI_Request
        over;  /* what the library has for sends that were done at once, or MPI_REQUEST_NULL */
    bool news; /* the last sweep found requests that are done */
    unsigned char *held;                   /* what is left of a message that is sent, … */
    size_t held_bytes;                     /* … 0: nothing … */
    uint32_t held_peer, held_tag, held_by; /* … in the operation of this number */

    /* Requests lie in the first `used` places, MPI_REQUEST_NULL where there is none. */
    MPI_Request *request;
    coll_mpi_owner *owner; /* of the requests */
    int *indices;          /* what MPI_Testsome says is done, … */
    MPI_Status *statuses;
    int used, flying, room;
    coll_mpi_operation *operation;
    uint32_t operations, unused; /* how many there are; the first not in use, or UINT32_MAX */
    uint32_t round;
    MPI_Datatype block; /* of COLL_MPI_BLOCK bytes, the first ones last; or none */
} coll_mpi;

COLL_INLINE coll_status coll_i_mpi_failed(coll_mpi *mpi, int error)
{
    int kind = MPI_ERR_OTHER;
    mpi->error = error;
    (void)PMPI_Error_class(error, &kind);
    return kind == MPI_ERR_TRUNCATE ? COLL_ERR_SIZE : COLL_ERR_IO;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* Makes room for the requests of one more operation. */
COLL_INLINE bool coll_i_mpi_grow(coll_mpi *mpi)
{
    const int room = 2 * mpi->room + 2 * COLL_MPI_PIECES;
    void *moved;
    if (mpi->used + COLL_MPI_PIECES <= mpi->room)
        return true;
    /* Each table as it comes: what has moved stays usable if the next one does not. */
    if (!(moved = realloc(mpi->request, (size_t)room * sizeof *mpi->request)))
        return false;
    mpi->request = (MPI_Request *)moved;
    if (!(moved = realloc(mpi->owner, (size_t)room * sizeof *mpi->owner)))
        return false;
    mpi->owner = (coll_mpi_owner *)moved;
    if (!(moved = realloc(mpi->indices, (size_t)room * sizeof *mpi->indices)))
        return false;
    mpi->indices = (int *)moved;
    if (!(moved = realloc(mpi->statuses, (size_t)room * sizeof *mpi->statuses)))
        return false;
    mpi->statuses = (MPI_Status *)moved;
    mpi->room = room;
    return true;
}

/* The number of an operation that is not in use; UINT32_MAX: there is no memory. */
COLL_INLINE uint32_t coll_i_mpi_take(coll_mpi *mpi)
{
    uint32_t number = mpi->unused;
    if (number == UINT32_MAX) {
        const uint32_t more = mpi->operations ? 2 * mpi->operations : 16;
        void *moved = realloc(mpi->operation, more * sizeof *mpi->operation);
        if (!moved)
            return UINT32_MAX;
        mpi->operation = (coll_mpi_operation *)moved;
        for (uint32_t i = mpi->operations; i < more; i++)
            mpi->operation[i].next = i + 1 < more ? i + 1 : UINT32_MAX;
        number = mpi->operations;
        mpi->operations = more;
    }
    mpi->unused = mpi->operation[number].next;
    return number;
}

COLL_INLINE void coll_i_mpi_give(coll_mpi *mpi, uint32_t number)
{
    mpi->operation[number].next = mpi->unused;
    mpi->unused = number;
}

/* ---- pieces ------------------------------------------------------------------------------ */

/* What a message is: one that is received, one that goes through the memory of the node. */
enum { COLL_I_MPI_RECEIVED = 1, COLL_I_MPI_NEAR = 2 };

/* Bytes of the next request of a message of which `bytes` are left. MPICH's pieces are equally long,
 * in cache lines: a third one of a few bytes took up to half as long again. Open MPI's are as
 * long as may be: of 8 KiB, equal ones took up to a fifth longer. */
COLL_INLINE size_t coll_i_mpi_next(const coll_mpi *mpi, unsigned how, size_t bytes)
{
#ifdef OPEN_MPI
    if ((how & COLL_I_MPI_NEAR) && bytes > COLL_MPI_SHORT)
        return bytes - bytes % COLL_MPI_BLOCK;
    return bytes <= mpi->cut && bytes > COLL_MPI_PIECE ? COLL_MPI_PIECE : bytes;
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

/* ---- testing ----------------------------------------------------------------------------- */

/* A request of an operation is done, or failed. */
COLL_INLINE void coll_i_mpi_done(coll_mpi *mpi, int place, const MPI_Status *status, int error)
{
    coll_mpi_operation *operation = &mpi->operation[mpi->owner[place].operation];
    int bytes = 0;
    if (error == MPI_SUCCESS && operation->receives)
        error = PMPI_Get_count(status, MPI_BYTE, &bytes);
    mpi->news = true;
    if (operation->receives && (size_t)bytes != mpi->owner[place].bytes)
        operation->misfits = true;
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
    if (operation->misfits) /* what is left may never come */
        return COLL_ERR_SIZE;
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

#endif /* COLL_EXAMPLES_MPI_TRANSPORT_CONTEXT_H */
