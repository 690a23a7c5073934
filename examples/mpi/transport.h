/* examples/mpi/transport.h — coll over the point-to-point calls of any MPI library
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
 * Testing. A test that finds nothing is not cheap: it moves the whole library on, and where there
 * are more processes than processors it may give its own away. So all requests are tested
 * together, once for each round of tests of the operations in flight.
 *
 * Pieces. Libraries send a short message at once, through memory that both processes have; for
 * a longer one they first agree on a copy from one to the other, which takes a while. A message
 * that is not much longer is faster as several short ones, all started at once. Both ends know
 * its length, so both cut it alike.
 *
 * Where all ranks share the memory of a node (`near`), this holds for messages of any length: the
 * kernel, which makes that one copy, looks up every page, and one processor does all of it. Two
 * copies through the shared memory stay in the caches, and two processors make them, one behind
 * the other: 1 MiB takes a third of the time. MPICH is given all of a long message in pieces,
 * unless ranks share processors: then the turns that they take cost more. Open MPI has fragments
 * of its own for that way, longer than its short messages, and takes it for data that does not
 * lie in one run; so it is told that the first cache line of each block comes last.
 */
#ifndef COLL_EXAMPLES_MPI_TRANSPORT_H
#define COLL_EXAMPLES_MPI_TRANSPORT_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transport.h"

/* What is short; up to where messages are cut into pieces that are; the longest one of a context
 * that is near, so that no more pieces are in flight at once; and requests of a message: as
 * measured between two processes of one node, of Open MPI 4.1 with its shared memory, and MPICH
 * 4.0 over UCX. Blocks are Open MPI's, and what is left after them is pieces. */
#ifdef OPEN_MPI
enum {
    COLL_MPI_PIECE = 4032,
    COLL_MPI_CUT = 9 * COLL_MPI_PIECE,
    COLL_MPI_BLOCK = 16384,
    COLL_MPI_NEAR_MOST = 1 << 30,
    COLL_MPI_PIECES = COLL_MPI_CUT / COLL_MPI_PIECE
};
#else
enum {
    COLL_MPI_PIECE = 8192,
    COLL_MPI_CUT = 8 * COLL_MPI_PIECE,
    COLL_MPI_NEAR_MOST = 16 * COLL_MPI_PIECE,
    COLL_MPI_PIECES = COLL_MPI_NEAR_MOST / COLL_MPI_PIECE
};
#endif
enum { COLL_MPI_TRADED = 8 };

/* An operation in flight; a handle's first word is its number. */
typedef struct coll_mpi_operation {
    size_t bytes, received;
    uint32_t left;  /* requests that are not done */
    uint32_t round; /* of tests, in which it was last asked for */
    uint32_t next;  /* operation that is not in use */
    int error;
    bool receives;
} coll_mpi_operation;

typedef struct coll_mpi {
    MPI_Comm comm;
    uint32_t rank, p;
    bool near;      /* all ranks share the memory of a node */
    bool crowded;   /* there are more processes than processors */
    uint32_t spins; /* idle tests before it lets other processes run */
    int error;      /* MPI's code of the last error; MPI_SUCCESS: none */
    MPI_Request
        over;  /* what the library has for requests that are done; MPI_REQUEST_NULL: nothing */
    bool news; /* the last sweep found requests that are done */
    MPI_Request traded[COLL_MPI_TRADED]; /* sent by trades and not over */
    int n_traded;

    /* Requests lie in the first `used` places, MPI_REQUEST_NULL where there is none. */
    MPI_Request *request;
    uint32_t *owner; /* operations of the requests */
    int *indices;    /* what MPI_Testsome says is done, … */
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
    mpi->owner = (uint32_t *)moved;
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

/* ---- testing ----------------------------------------------------------------------------- */

/* A request of an operation is done, or failed. */
COLL_INLINE void coll_i_mpi_done(coll_mpi *mpi, int place, const MPI_Status *status, int error)
{
    coll_mpi_operation *operation = &mpi->operation[mpi->owner[place]];
    int bytes = 0;
    if (error == MPI_SUCCESS && operation->receives)
        error = PMPI_Get_count(status, MPI_BYTE, &bytes);
    mpi->news = true;
    operation->received += (size_t)bytes;
    operation->left--;
    if (error != MPI_SUCCESS)
        operation->error = error;
    mpi->flying--;
    while (mpi->used > 0 && mpi->request[mpi->used - 1] == MPI_REQUEST_NULL)
        mpi->used--;
}

/* Tests all requests, or waits for some of them. */
COLL_INLINE void coll_i_mpi_sweep(coll_mpi *mpi, bool waits)
{
    int done = 0, error;
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
    coll_mpi_operation *operation = &mpi->operation[number];
    if (operation->left > 0 && operation->round == mpi->round) {
        mpi->round++; /* all have been asked for since the last sweep */
        coll_i_mpi_sweep(mpi, false);
    }
    operation->round = mpi->round;
    if (operation->error != MPI_SUCCESS)
        return coll_i_mpi_failed(mpi, operation->error);
    if (operation->left > 0)
        return COLL_AGAIN;
    if (operation->receives && operation->received != operation->bytes)
        return COLL_ERR_SIZE;
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
    for (int place = 0; place < mpi->used; place++) {
        if (mpi->owner[place] != number || mpi->request[place] == MPI_REQUEST_NULL)
            continue;
        coll_i_mpi_drop(mpi->operation[number].receives, &mpi->request[place]);
        mpi->request[place] = MPI_REQUEST_NULL;
        mpi->flying--;
    }
    while (mpi->used > 0 && mpi->request[mpi->used - 1] == MPI_REQUEST_NULL)
        mpi->used--;
    coll_i_mpi_give(mpi, number);
}

/* ---- starting ---------------------------------------------------------------------------- */

/* What a message is: one that is received, one that goes through the memory of the node. */
enum { COLL_I_MPI_RECEIVED = 1, COLL_I_MPI_NEAR = 2 };

/* Bytes of the next request of a message of which `bytes` are left. */
COLL_INLINE size_t coll_i_mpi_next(unsigned how, size_t bytes)
{
#ifdef OPEN_MPI
    const bool cuts = bytes <= COLL_MPI_CUT;
    if ((how & COLL_I_MPI_NEAR) && bytes >= COLL_MPI_BLOCK)
        return bytes - bytes % COLL_MPI_BLOCK;
#else
    const bool cuts = bytes <= COLL_MPI_CUT || (how & COLL_I_MPI_NEAR);
#endif
    return cuts && bytes > COLL_MPI_PIECE ? COLL_MPI_PIECE : bytes;
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

/* An operation without requests. */
COLL_INLINE coll_status coll_i_mpi_begin(coll_mpi *mpi, bool receives, size_t bytes,
                                         coll_handle *h)
{
    const uint32_t number = coll_i_mpi_grow(mpi) ? coll_i_mpi_take(mpi) : UINT32_MAX;
    coll_mpi_operation *operation;
    if (number == UINT32_MAX)
        return COLL_ERR_MEMORY;
    operation = &mpi->operation[number];
    operation->bytes = bytes;
    operation->received = 0;
    operation->left = 0;
    operation->round = mpi->round - 1; /* it was just asked for, or started */
    operation->receives = receives;
    operation->error = MPI_SUCCESS;
    h->word[0] = number;
    return COLL_STARTED;
}

/* Takes a request into the operation of a handle. */
COLL_INLINE void coll_i_mpi_add(coll_mpi *mpi, const coll_handle *h, MPI_Request request)
{
    mpi->request[mpi->used] = request;
    mpi->owner[mpi->used++] = (uint32_t)h->word[0];
    mpi->flying++;
    mpi->operation[h->word[0]].left++;
}

/* Is what was just started over? Where there are more processes than processors it is asked for
 * without moving the library on, as that may give the processor away: MPICH's test always does, its
 * MPI_Request_get_status only if it is not over. A send that is over Open MPI told already, and of
 * what it is to receive it cannot be asked that way. */
COLL_INLINE int coll_i_mpi_over(const coll_mpi *mpi, bool receives, MPI_Request *request,
                                int *done, MPI_Status *status)
{
    int error;
    if (mpi->over != MPI_REQUEST_NULL && (!receives || mpi->crowded))
        return MPI_SUCCESS;
    if (!mpi->crowded)
        return PMPI_Test(request, done, status);
    error = PMPI_Request_get_status(*request, done, MPI_STATUS_IGNORE);
    return error == MPI_SUCCESS && *done ? PMPI_Wait(request, status) : error;
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
        return receives && (size_t)here != bytes ? COLL_ERR_SIZE : COLL_OK;
    if (coll_i_mpi_begin(mpi, receives, bytes, h) != COLL_STARTED) {
        coll_i_mpi_drop(receives, &request);
        return COLL_ERR_MEMORY;
    }
    coll_i_mpi_add(mpi, h, request);
    return COLL_STARTED;
}

/* `buf` of a send is only read. */
COLL_INLINE coll_status coll_i_mpi_move(coll_mpi *mpi, unsigned how, uint32_t peer,
                                        uint32_t tag, void *buf, size_t bytes, coll_handle *h)
{
    const bool receives = (how & COLL_I_MPI_RECEIVED) != 0;
    coll_status status;
    if (coll_i_mpi_next(how, bytes) == bytes) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int error = coll_i_mpi_start(mpi, how, peer, tag, buf, bytes, &request);
        if (error == MPI_SUCCESS && !receives && request == mpi->over)
            return COLL_OK;
        return coll_i_mpi_started(mpi, receives, bytes, error, request, h);
    }
    status = coll_i_mpi_begin(mpi, receives, bytes, h);
    for (size_t at = 0, piece; at < bytes && status == COLL_STARTED; at += piece) {
        MPI_Request request;
        int error;
        piece = coll_i_mpi_next(how, bytes - at);
        error =
            coll_i_mpi_start(mpi, how, peer, tag, (unsigned char *)buf + at, piece, &request);
        if (error == MPI_SUCCESS) {
            coll_i_mpi_add(mpi, h, request);
        } else {
            status = coll_i_mpi_failed(mpi, error);
            coll_i_mpi_cancel(mpi, h);
        }
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

/* A short message, for those who wait for the collective anyway: the library waits for what is
 * received. What is sent may be over only when it was received, even if it was sent at once. */
COLL_INLINE coll_status coll_i_mpi_trade(void *ctx, bool sends, uint32_t peer, uint32_t tag,
                                         void *buf, size_t bytes)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    int here = (int)bytes, error;
    if (bytes > COLL_MPI_PIECE || (sends && mpi->n_traded == COLL_MPI_TRADED))
        return COLL_AGAIN;
    if (sends) {
        MPI_Request *request = &mpi->traded[mpi->n_traded];
        error = PMPI_Isend(buf, here, MPI_BYTE, (int)peer, (int)tag, mpi->comm, request);
        if (error == MPI_SUCCESS) {
            mpi->n_traded += *request != mpi->over;
            return COLL_OK;
        }
    } else {
        MPI_Status status;
        error = PMPI_Recv(buf, here, MPI_BYTE, (int)peer, (int)tag, mpi->comm, &status);
        if (error == MPI_SUCCESS)
            error = PMPI_Get_count(&status, MPI_BYTE, &here);
        if (error == MPI_SUCCESS)
            return (size_t)here == bytes ? COLL_OK : COLL_ERR_SIZE;
    }
    return coll_i_mpi_failed(mpi, error);
}

COLL_INLINE coll_status coll_i_mpi_settle(void *ctx, bool give_up)
{
    coll_mpi *mpi = (coll_mpi *)ctx;
    const int n = mpi->n_traded;
    int error = MPI_SUCCESS;
    mpi->n_traded = 0;
    for (int i = 0; i < n && error == MPI_SUCCESS && !give_up; i++)
        error = PMPI_Wait(&mpi->traded[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        if (mpi->traded[i] != MPI_REQUEST_NULL)
            (void)PMPI_Request_free(&mpi->traded[i]);
    return error == MPI_SUCCESS ? COLL_OK : coll_i_mpi_failed(mpi, error);
}

/* ---- the transport ----------------------------------------------------------------------- */

COLL_INLINE void coll_i_mpi_wait(void *ctx, uint32_t idle)
{
    if (idle > ((const coll_mpi *)ctx)->spins)
        (void)sched_yield();
}

/* A vtable; ctx is a coll_mpi. MPI promises tags up to 32767. */
#define COLL_I_MPI_TRANSPORT(send, recv, max_bytes)                                            \
    {                                                                                          \
        send, recv, coll_i_mpi_test, coll_i_mpi_cancel, NULL /* abort */, coll_i_mpi_wait,     \
            NULL /* borrow */, NULL /* give_back */, NULL /* copy */, NULL /* reduce */,       \
            NULL /* multicast */, NULL /* fabric_reduce */, max_bytes, 32768 /* tags */, 0,    \
            NULL /* shared */, NULL /* enter */, NULL /* leave */, NULL /* trade */,           \
            NULL /* settle */                                                                  \
    }

/* For any context (counts are ints), and through the memory of the node for one that is near. */
static const coll_transport coll_mpi_transport =
    COLL_I_MPI_TRANSPORT(coll_i_mpi_send, coll_i_mpi_recv, (size_t)1 << 30);
static const coll_transport coll_mpi_near_transport =
    COLL_I_MPI_TRANSPORT(coll_i_mpi_send_near, coll_i_mpi_recv_near, COLL_MPI_NEAR_MOST);

/* The better one for a context. MPICH's pieces do not pay where ranks share processors, for the
 * turns that they take. */
COLL_INLINE const coll_transport *coll_mpi_table(const coll_mpi *mpi)
{
#ifdef OPEN_MPI
    const bool pays = true;
#else
    const bool pays = !mpi->crowded;
#endif
    return mpi->near && pays ? &coll_mpi_near_transport : &coll_mpi_transport;
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
    mpi->spins = 64;
    mpi->error = MPI_SUCCESS;
    mpi->unused = UINT32_MAX;
    mpi->over = MPI_REQUEST_NULL;
    mpi->block = MPI_DATATYPE_NULL;
#ifdef OPEN_MPI
    /* One request stands for all that were done at once, and is never freed: a send to nobody
     * gives it. */
    (void)PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &mpi->over);
#endif
}

/* All ranks of a new context share the memory of a node: to be said on all of them, or on none.
 * Returns MPI's error code. */
COLL_INLINE int coll_mpi_set_near(coll_mpi *mpi)
{
    int error = MPI_SUCCESS;
#ifdef OPEN_MPI
    const int line = 64, lengths[2] = {COLL_MPI_BLOCK - line, line}, at[2] = {line, 0};
    error = PMPI_Type_indexed(2, lengths, at, MPI_BYTE, &mpi->block);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&mpi->block);
#endif
    mpi->near = error == MPI_SUCCESS;
    return error;
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
            error = coll_mpi_set_near(mpi);
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

#endif /* COLL_EXAMPLES_MPI_TRANSPORT_H */
