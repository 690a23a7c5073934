/* mpi/layer/waits.c — the calls in which a program waits
 *
 * While jobs run, whatever the program waits for may need them to move on, here or, through the
 * messages that they send, on other ranks. So each call that waits is then made of one that
 * tests, in turn with the jobs. Without running jobs, and other threads, it is the library's.
 */
#include <stdlib.h>

#include "layer.h"

/* Other threads may start jobs while this one waits, and then wait for it themselves. */
static bool busy(void)
{
    return settings.threads || jobs_running != 0;
}

/* Helps the jobs along; the round's number when nothing happens, else 0. */
static void help(uint32_t *idle)
{
    bool moved;
    lock();
    moved = jobs_progress();
    unlock();
    *idle = moved ? 0 : *idle + 1;
    if (*idle > 0)
        jobs_idle(*idle);
}

/* Repeats a call that tests until `done` or an error; once no job runs, `blocking` is called. */
#define TEST_UNTIL(done, testing, blocking)                                                    \
    uint32_t idle = 0;                                                                         \
    while (busy()) {                                                                           \
        const int error = testing;                                                             \
        if (error != MPI_SUCCESS || (done))                                                    \
            return error;                                                                      \
        help(&idle);                                                                           \
    }                                                                                          \
    return blocking;

/* A round for jobs before a call that does not wait: programs call it until it succeeds. */
static void once(void)
{
    uint32_t idle = 0;
    if (busy())
        help(&idle);
}

/* ---- requests that ended with an error ---------------------------------------------------- */

/* What the program is told in place of the library's error: that of the job behind this request. `told`: the
 * request is over. */
static int mended(int error, MPI_Request request, bool told)
{
    int its;
    if (error == MPI_SUCCESS || !tokens_failed())
        return error;
    lock();
    its = token_error(request, told);
    unlock();
    return its != MPI_SUCCESS ? its : error;
}

static MPI_Request named(const MPI_Request *request)
{
    return request ? *request : MPI_REQUEST_NULL;
}

/* The requests of a call with several, which overwrites those that are done. */
struct given {
    MPI_Request few[32];
    MPI_Request *all; /* NULL: none can fail that is the layer's, or there is no memory */
};

static void give(struct given *given, int count, const MPI_Request requests[])
{
    const size_t n = count > 0 ? (size_t)count : 0;
    given->all = NULL;
    if (n == 0 || !requests || (!busy() && !tokens_failed()))
        return;
    given->all = n <= sizeof given->few / sizeof *given->few ? given->few
                                                             : malloc(n * sizeof *given->all);
    for (size_t i = 0; given->all && i < n; i++)
        given->all[i] = requests[i];
}

static void take_back(const struct given *given)
{
    if (given->all != given->few)
        free(given->all);
}

/* One of them: the call is over with this error, for the request of this index. */
static int mended_any(const struct given *given, int count, int error, const int *index)
{
    const bool one =
        given->all && error != MPI_SUCCESS && index && *index >= 0 && *index < count;
    if (one)
        error = mended(error, given->all[*index], true);
    take_back(given);
    return error;
}

/* Several: the n statuses are of those requests, or of the first ones where `indices` is NULL. */
static int mended_several(const struct given *given, int n, int error, const int indices[],
                          const MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; error != MPI_SUCCESS && given->all && i < n; i++) {
        const int k = indices ? indices[i] : i;
        if (statuses == MPI_STATUSES_IGNORE) {
            if (requests[k] != given->all[k])
                (void)mended(error, given->all[k], true);
        } else if (statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
            statuses[i].MPI_ERROR = mended(statuses[i].MPI_ERROR, given->all[k], true);
        }
    }
    take_back(given);
    return error;
}

/* ---- requests ---------------------------------------------------------------------------- */

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    int done = 0;
    TEST_UNTIL(done, PMPI_Test(request, &done, status), PMPI_Wait(request, status))
}

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int done = 0;
    TEST_UNTIL(done, PMPI_Testall(count, requests, &done, statuses),
               PMPI_Waitall(count, requests, statuses))
}

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    int done = 0;
    TEST_UNTIL(done, PMPI_Testany(count, requests, index, &done, status),
               PMPI_Waitany(count, requests, index, status))
}

static int wait_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[]){
    TEST_UNTIL(*outcount != 0, PMPI_Testsome(incount, requests, outcount, indices, statuses),
               PMPI_Waitsome(incount, requests, outcount, indices, statuses))}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const MPI_Request given = named(request);
    return mended(wait_one(request, status), given, true);
}

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    const MPI_Request given = named(request);
    once();
    return mended(PMPI_Test(request, flag, status), given, true);
}

EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    int error;
    once();
    error = PMPI_Request_get_status(request, flag, status);
    if (flag && *flag && status && status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = mended(status->MPI_ERROR, request, false);
    return mended(error, request, false);
}

EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct given given;
    int error;
    give(&given, count, requests);
    error = wait_all(count, requests, statuses);
    return mended_several(&given, count, error, NULL, requests, statuses);
}

EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct given given;
    int error;
    once();
    give(&given, count, requests);
    error = PMPI_Testall(count, requests, flag, statuses);
    return mended_several(&given, count, error, NULL, requests, statuses);
}

EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct given given;
    int error;
    give(&given, count, requests);
    error = wait_any(count, requests, index, status);
    return mended_any(&given, count, error, index);
}

EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                       MPI_Status *status)
{
    struct given given;
    int error;
    once();
    give(&given, count, requests);
    error = PMPI_Testany(count, requests, index, flag, status);
    return mended_any(&given, count, error, index);
}

EXPORT int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                        MPI_Status statuses[])
{
    struct given given;
    int error;
    give(&given, incount, requests);
    error = wait_some(incount, requests, outcount, indices, statuses);
    return mended_several(&given, outcount ? *outcount : 0, error, indices, requests, statuses);
}

EXPORT int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                        MPI_Status statuses[])
{
    struct given given;
    int error;
    once();
    give(&given, incount, requests);
    error = PMPI_Testsome(incount, requests, outcount, indices, statuses);
    return mended_several(&given, outcount ? *outcount : 0, error, indices, requests, statuses);
}

/* ---- persistent requests ----------------------------------------------------------------- */

EXPORT int MPI_Start(MPI_Request *request)
{
    struct job *job = NULL;
    int error;
    if (!settings.ready || !request)
        return PMPI_Start(request);
    lock();
    job = job_behind(*request);
    unlock();
    error = PMPI_Start(request);
    if (job && error == MPI_SUCCESS) {
        lock();
        job_start(job);
        unlock();
    }
    return error;
}

EXPORT int MPI_Startall(int count, MPI_Request requests[])
{
    int error = MPI_SUCCESS;
    if (!settings.ready || count < 0 || !requests)
        return PMPI_Startall(count, requests);
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = MPI_Start(&requests[i]);
    return error;
}

EXPORT int MPI_Request_free(MPI_Request *request)
{
    struct job *job;
    if (settings.ready && request) {
        lock();
        job = job_behind(*request);
        if (job && job->running) {
            job->freed = true;
            job->token = MPI_REQUEST_NULL; /* the library may give the handle to another */
        } else if (job) {
            job_free(job);
        }
        (void)token_error(*request, true); /* nobody asks for it any more */
        unlock();
    }
    return PMPI_Request_free(request);
}

/* ---- messages ---------------------------------------------------------------------------- */

EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int done = 0;
    TEST_UNTIL(done, PMPI_Iprobe(source, tag, comm, &done, status),
               PMPI_Probe(source, tag, comm, status))
}

EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                      MPI_Status *status)
{
    int done = 0;
    TEST_UNTIL(done, PMPI_Improbe(source, tag, comm, &done, message, status),
               PMPI_Mprobe(source, tag, comm, message, status))
}

EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    once();
    return PMPI_Iprobe(source, tag, comm, flag, status);
}

EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                       MPI_Status *status)
{
    once();
    return PMPI_Improbe(source, tag, comm, flag, message, status);
}

/* A call with a message, as one that starts and one that waits. */
#define MESSAGE(call, start, status)                                                           \
    MPI_Request request;                                                                       \
    int begun;                                                                                 \
    if (!busy())                                                                               \
        return call;                                                                           \
    begun = start;                                                                             \
    return begun == MPI_SUCCESS ? MPI_Wait(&request, status) : begun;

/* The receive of a pair was started, and the send, or not: waits for both. */
static int wait_both(int begun, MPI_Request *recv, MPI_Request *send, MPI_Status *status)
{
    int error;
    if (begun != MPI_SUCCESS) {
        (void)PMPI_Cancel(recv);
        (void)PMPI_Wait(recv, MPI_STATUS_IGNORE);
        return begun;
    }
    error = MPI_Wait(send, MPI_STATUS_IGNORE);
    begun = MPI_Wait(recv, status);
    return error != MPI_SUCCESS ? error : begun;
}

static void *take_room(size_t bytes)
{
    void *room;
    lock();
    room = pool_take(bytes);
    unlock();
    return room;
}

static void give_room(void *room)
{
    lock();
    pool_give(room);
    unlock();
}

/* The calls with one width of counts, C; `c` ends their names. What MPI_Sendrecv_replace sends is packed
 * first, as the buffer is to be overwritten. */
#define MESSAGES(C, c)                                                                         \
    EXPORT int MPI_Recv##c(void *buf, C count, MPI_Datatype datatype, int source, int tag,     \
                           MPI_Comm comm, MPI_Status *status){                                 \
        MESSAGE(PMPI_Recv##c(buf, count, datatype, source, tag, comm, status),                 \
                PMPI_Irecv##c(buf, count, datatype, source, tag, comm, &request), status)}     \
                                                                                               \
    EXPORT int MPI_Mrecv##c(void *buf, C count, MPI_Datatype datatype, MPI_Message *message,   \
                            MPI_Status *status){                                               \
        MESSAGE(PMPI_Mrecv##c(buf, count, datatype, message, status),                          \
                PMPI_Imrecv##c(buf, count, datatype, message, &request), status)}              \
                                                                                               \
    EXPORT int MPI_Send##c(const void *buf, C count, MPI_Datatype datatype, int dest, int tag, \
                           MPI_Comm comm){MESSAGE(                                             \
        PMPI_Send##c(buf, count, datatype, dest, tag, comm),                                   \
        PMPI_Isend##c(buf, count, datatype, dest, tag, comm, &request), MPI_STATUS_IGNORE)}    \
                                                                                               \
    EXPORT int MPI_Ssend##c(const void *buf, C count, MPI_Datatype datatype, int dest,         \
                            int tag, MPI_Comm comm){MESSAGE(                                   \
        PMPI_Ssend##c(buf, count, datatype, dest, tag, comm),                                  \
        PMPI_Issend##c(buf, count, datatype, dest, tag, comm, &request), MPI_STATUS_IGNORE)}   \
                                                                                               \
    EXPORT int MPI_Rsend##c(const void *buf, C count, MPI_Datatype datatype, int dest,         \
                            int tag, MPI_Comm comm){MESSAGE(                                   \
        PMPI_Rsend##c(buf, count, datatype, dest, tag, comm),                                  \
        PMPI_Irsend##c(buf, count, datatype, dest, tag, comm, &request), MPI_STATUS_IGNORE)}   \
                                                                                               \
    EXPORT int MPI_Sendrecv##c(const void *sendbuf, C sendcount, MPI_Datatype sendtype,        \
                               int dest, int sendtag, void *recvbuf, C recvcount,              \
                               MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,  \
                               MPI_Status *status)                                             \
    {                                                                                          \
        MPI_Request send, recv;                                                                \
        int error;                                                                             \
        if (!busy())                                                                           \
            return PMPI_Sendrecv##c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,      \
                                    recvcount, recvtype, source, recvtag, comm, status);       \
        error = PMPI_Irecv##c(recvbuf, recvcount, recvtype, source, recvtag, comm, &recv);     \
        if (error != MPI_SUCCESS)                                                              \
            return error;                                                                      \
        error = PMPI_Isend##c(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);       \
        return wait_both(error, &recv, &send, status);                                         \
    }                                                                                          \
                                                                                               \
    EXPORT int MPI_Sendrecv_replace##c(void *buf, C count, MPI_Datatype datatype, int dest,    \
                                       int sendtag, int source, int recvtag, MPI_Comm comm,    \
                                       MPI_Status *status)                                     \
    {                                                                                          \
        MPI_Request send, recv;                                                                \
        void *copy;                                                                            \
        C bytes = 0, at = 0;                                                                   \
        int error;                                                                             \
        if (!busy() || count < 0 ||                                                            \
            PMPI_Pack_size##c(count, datatype, comm, &bytes) != MPI_SUCCESS)                   \
            return PMPI_Sendrecv_replace##c(buf, count, datatype, dest, sendtag, source,       \
                                            recvtag, comm, status);                            \
        copy = take_room((size_t)bytes);                                                       \
        if (!copy)                                                                             \
            return MPI_ERR_NO_MEM;                                                             \
        error = PMPI_Pack##c(buf, count, datatype, copy, bytes, &at, comm);                    \
        if (error == MPI_SUCCESS)                                                              \
            error = PMPI_Irecv##c(buf, count, datatype, source, recvtag, comm, &recv);         \
        if (error == MPI_SUCCESS) {                                                            \
            error = PMPI_Isend##c(copy, at, MPI_PACKED, dest, sendtag, comm, &send);           \
            error = wait_both(error, &recv, &send, status);                                    \
        }                                                                                      \
        give_room(copy);                                                                       \
        return error;                                                                          \
    }

MESSAGES(int, )
#if MPI_VERSION >= 4
MESSAGES(MPI_Count, _c)
#endif
