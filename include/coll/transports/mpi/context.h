/* coll/transports/mpi/context.h — coll over MPI: a rank's communicator, and its operations in flight
 *
 * Use ../mpi.h.
 */
#ifndef COLL_TRANSPORTS_MPI_CONTEXT_H
#define COLL_TRANSPORTS_MPI_CONTEXT_H

#include <mpi.h>
#include <stdlib.h>

#include "../../transport.h"
#include "../huge.h"

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
    uint32_t operation; /* its number */
} coll_mpi_owner;

/* An operation in flight; a handle's first word is its number. */
typedef struct coll_mpi_operation {
    uint32_t left;    /* requests that are not done, or are held back */
    uint32_t round;   /* of tests, in which it was last asked for */
    uint32_t next;    /* operation that is not in use */
    int error;        /* MPI's code; MPI_SUCCESS: none */
    bool receives;    /* otherwise it sends */
    coll_status fits; /* an error: a piece of another length has come */
} coll_mpi_operation;

/* A rank on a communicator; its ctx. Read rank and p; the rest is private. */
typedef struct coll_mpi {
    MPI_Comm comm; /* in which nobody else sends */
    uint32_t rank, p;
    bool near; /* all ranks share a node, and long messages go through its memory */
    bool
        oversubscribed; /* there are more processes than processors; all ranks say the same … */
    bool turns;         /* … and the library does not let others run while it waits */
    bool empty_tells; /* a rank that fails sends an empty message in the place of one of data */
    size_t cut; /* up to so many bytes they go in pieces, COLL_MPI_PIECE … COLL_MPI_CUT */
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
    coll_mpi_owner *owner;         /* of the requests */
    int *indices;                  /* what MPI_Testsome says is done, … */
    MPI_Status *statuses;          /* … and how they ended */
    int used, flying, room;        /* … `flying` of the first `used` are requests */
    coll_mpi_operation *operation; /* by number */
    uint32_t operations, unused;   /* how many there are; the first not in use, or UINT32_MAX */
    uint32_t round;                /* of tests */
    MPI_Datatype block;            /* of COLL_MPI_BLOCK bytes, the first ones last; or none */
} coll_mpi;

COLL_INLINE coll_status coll_i_mpi_failed(coll_mpi *mpi, int error)
{
    int kind = MPI_ERR_OTHER;
    mpi->error = error;
    (void)PMPI_Error_class(error, &kind);
    return kind == MPI_ERR_TRUNCATE ? COLL_ERR_SIZE : COLL_ERR_IO;
}

/* What a message of so many bytes is to a receive of `bytes`. */
COLL_INLINE coll_status coll_i_mpi_fits(const coll_mpi *mpi, size_t here, size_t bytes)
{
    return COLL_LIKELY(here == bytes)      ? COLL_OK
           : here == 0 && mpi->empty_tells ? COLL_ERR_PEER
                                           : COLL_ERR_SIZE;
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

#endif /* COLL_TRANSPORTS_MPI_CONTEXT_H */
