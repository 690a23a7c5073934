/* Tags of communicators, after failures and beside each other: two on one transport do not meet, one that
 * failed says so at its next call, a new one is not spoiled by it, and what was left over of a call is
 * never taken for data. Over loopback, threads and processes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/processes.h"
#include "coll/coll.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"

enum { RANKS = 3, MESSAGES = 256, ROUNDS = 300, MANY = 8192 };

/* ---- a world, one thread ------------------------------------------------------------------------- */

static coll_loopback loopback;
static coll_loopback_rank loop_ends[RANKS];
static coll_threads *threads;
static coll_shm *segment[RANKS];
static const coll_transport *t;
static void *memory, *ends[RANKS];
static coll_comm comms[RANKS][2];
static coll_request requests[RANKS][2];
static double in[RANKS][2], out[RANKS][2];

enum { LOOPBACK, THREADS, PROCESSES, WORLDS };

static void open_world(unsigned which)
{
    const size_t bytes = COLL_LOOPBACK_BYTES(MESSAGES);
    memory = malloc(bytes);
    CHECK_STATUS(coll_loopback_init(&loopback, RANKS, MESSAGES, memory, bytes), COLL_OK);
    threads = coll_threads_create(RANKS);
    CHECK(ends_make(segment, RANKS, 0, 0));
    t = which == LOOPBACK  ? &coll_loopback_transport
        : which == THREADS ? &coll_threads_transport
                           : coll_shm_transport(segment[0]);
    for (uint32_t r = 0; r < RANKS; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &loop_ends[r]), COLL_OK);
        ends[r] = which == LOOPBACK  ? (void *)&loop_ends[r]
                  : which == THREADS ? coll_threads_rank(threads, r)
                                     : (void *)segment[r];
    }
}

static void close_world(void)
{
    ends_free(segment, RANKS);
    coll_threads_destroy(threads);
    free(memory);
}

static void make(uint32_t k)
{
    static double arena[RANKS][2][64];
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_STATUS(
            coll_comm_init(&comms[r][k], t, ends[r], r, RANKS, arena[r][k], sizeof arena[r][k]),
            COLL_OK);
}

static void unmake(uint32_t k)
{
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_STATUS(coll_comm_free(&comms[r][k]), COLL_OK);
}

/* Starts a sum on one rank. */
static coll_status start(uint32_t r, coll_comm *comm, uint32_t k)
{
    in[r][k] = (k ? 1000 : 1) * (double)(r + 1);
    out[r][k] = 0;
    return coll_iallreduce(comm, &in[r][k], &out[r][k], 1, COLL_F64, COLL_SUM, &requests[r][k]);
}

/* How the request of a rank ends while those of the others move on, too. */
static coll_status ends_with(uint32_t r, uint32_t k)
{
    coll_status status = COLL_AGAIN;
    for (unsigned round = 0; status == COLL_AGAIN && round < 100000; round++) {
        for (uint32_t other = 0; other < RANKS; other++)
            for (uint32_t n = 0; n < 2; n++)
                if (requests[other][n].comm)
                    coll_progress(requests[other][n].comm);
        status = coll_test(&requests[r][k]);
    }
    return status;
}

/* A sum of all works. */
static bool works(uint32_t k)
{
    bool well = true;
    for (uint32_t r = 0; r < RANKS; r++)
        well = CHECK_STATUS(start(r, &comms[r][k], k), COLL_OK) && well;
    for (uint32_t r = 0; r < RANKS && well; r++) {
        well = CHECK_STATUS(ends_with(r, k), COLL_OK);
        well = CHECK(out[r][k] == (k ? 6000 : 6)) && well;
    }
    return well;
}

/* Two communicators, which ranks use in another order. */
TEST(two_on_one_transport)
{
    for (unsigned which = 0; which < WORLDS; which++) {
        open_world(which);
        memset(requests, 0, sizeof requests);
        make(0);
        make(1);
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint32_t i = 0; i < 2; i++) {
                const uint32_t k = r == 1 ? 1 - i : i;
                CHECK_STATUS(start(r, &comms[r][k], k), COLL_OK);
            }
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint32_t k = 0; k < 2; k++) {
                CHECK_STATUS(ends_with(r, k), COLL_OK);
                CHECK(out[r][k] == (k ? 6000 : 6));
            }
        unmake(0);
        unmake(1);
        close_world();
    }
}

/* A rank gives up a call: all of its communicator says so at once, on all ranks, a dup that was made before
 * goes on, and a new communicator works, however often that happens. */
TEST(after_a_failure)
{
    for (unsigned which = 0; which < WORLDS; which++) {
        bool well = true;
        open_world(which);
        memset(requests, 0, sizeof requests);
        make(1); /* it is there all the time */
        for (uint32_t i = 0; i < ROUNDS && well; i++) {
            coll_comm dup[RANKS];
            const uint32_t victim = i % RANKS;
            make(0);
            for (uint32_t k = 0; k < i % 40 && well; k++)
                well = works(0);
            for (uint32_t r = 0; r < RANKS; r++)
                well = CHECK_STATUS(coll_comm_dup(&dup[r], &comms[r][0], 10), COLL_OK) && well;
            for (uint32_t r = 0; r < RANKS; r++) /* none of the others has begun it */
                if (r == victim)
                    well = CHECK_STATUS(start(r, &comms[r][0], 0), COLL_OK) && well;
            well = CHECK_STATUS(coll_cancel(&requests[victim][0]), COLL_OK) && well;
            well = CHECK_STATUS(coll_wait(&requests[victim][0]), COLL_ERR_CANCELLED) && well;
            for (uint32_t r = 0; r < RANKS; r++) {
                coll_status status = start(r, &comms[r][0], 0);
                if (status == COLL_OK)
                    status = ends_with(r, 0);
                well = CHECK_STATUS(status, r == victim ? COLL_ERR_CANCELLED : COLL_ERR_PEER) &&
                       well;
                well = CHECK_STATUS(coll_barrier(&comms[r][0]), status) && well;
            }
            for (uint32_t r = 0; r < RANKS; r++)
                well = CHECK_STATUS(start(r, &dup[r], 0), COLL_OK) && well;
            for (uint32_t r = 0; r < RANKS && well; r++)
                well = CHECK_STATUS(ends_with(r, 0), COLL_OK);
            for (uint32_t r = 0; r < RANKS; r++)
                well = CHECK_STATUS(coll_comm_free(&dup[r]), COLL_OK) && well;
            unmake(0);
            make(0);
            well = well && works(0) && works(1);
            unmake(0);
        }
        unmake(1);
        close_world();
    }
}

/* Not more than there are tags for; and no part of the transport. */
TEST(how_many)
{
    for (unsigned which = 0; which < WORLDS; which++) {
        static coll_comm some[COLL_CLAIMS_MOST + 1];
        open_world(which);
        for (uint32_t round = 0; round < 3; round++) {
            for (uint32_t i = 0; i < COLL_CLAIMS_MOST; i++) {
                CHECK_STATUS(coll_comm_init(&some[i], t, ends[1], 1, RANKS, NULL, 0), COLL_OK);
                for (uint32_t k = 0; k < i; k++)
                    CHECK(some[k].first_tag != some[i].first_tag);
            }
            CHECK_STATUS(coll_comm_init(&some[COLL_CLAIMS_MOST], t, ends[1], 1, RANKS, NULL, 0),
                         COLL_ERR_TAG);
            for (uint32_t i = 0; i < COLL_CLAIMS_MOST; i++)
                CHECK_STATUS(coll_comm_free(&some[i]), COLL_OK);
        }
        CHECK_STATUS(coll_comm_init(&some[0], t, ends[0], 0, RANKS - 1, NULL, 0),
                     COLL_ERR_GROUP);
        close_world();
    }
}

/* ---- what was left over ------------------------------------------------------------------------- */

typedef struct mistake {
    size_t root, others; /* elements there */
} mistake;

/* A bcast of which ranks do not agree on the count, and then forty good ones: one of these says so, at
 * some rank, and none delivers anything else than what was sent. */
static int left_over(const coll_transport *transport, void *ctx, uint32_t rank,
                     const mistake *of)
{
    static double arena[RANKS][2 * MANY], data[RANKS][MANY];
    coll_comm comm;
    coll_status status;
    if (coll_comm_init(&comm, transport, ctx, rank, RANKS, arena[rank], sizeof arena[rank]) !=
        COLL_OK)
        return 2;
    for (size_t i = 0; i < MANY; i++)
        data[rank][i] = -5;
    status = coll_bcast(&comm, data[rank], rank == 0 ? of->root : of->others, COLL_F64, 0);
    for (int call = 1; call <= 40 && status == COLL_OK; call++) {
        for (size_t i = 0; i < MANY / 2; i++)
            data[rank][i] = rank == 0 ? call : 0;
        status = coll_bcast(&comm, data[rank], MANY / 2, COLL_F64, 0);
        for (size_t i = 0; i < MANY / 2 && status == COLL_OK; i++)
            if (data[rank][i] != call)
                return 3;
    }
    if (status == COLL_OK)
        return 4;
    if (status != COLL_ERR_SIZE && status != COLL_ERR_PEER)
        return 5;
    if (status ==
        COLL_ERR_SIZE) { /* it is known of which message; there is one such rank at least */
        const coll_misfit *its = coll_comm_misfit(&comm);
        const bool cut = of->root == 2;
        if (!its || its->peer >= RANKS || its->peer == rank ||
            (its->tag != its->its_tag) == cut ||
            (cut && (its->expected != 8 || its->bytes != 16)))
            return 9;
    } else if (coll_comm_misfit(&comm)) {
        return 10;
    }
    if (coll_barrier(&comm) != status || coll_comm_free(&comm) != COLL_OK ||
        coll_comm_init(&comm, transport, ctx, rank, RANKS, arena[rank], sizeof arena[rank]) !=
            COLL_OK)
        return 6;
    data[rank][0] = rank == 0 ? 42 : 0; /* a new one is fine */
    status = coll_bcast(&comm, data[rank], 1, COLL_F64, 0);
    if (status != COLL_OK || data[rank][0] != 42)
        return 7;
    return coll_barrier(&comm) == COLL_OK && coll_comm_free(&comm) == COLL_OK ? 0 : 8;
}

/* Messages are in the segment in pieces of COLL_SHM_SLOT; of threads the pieces are such that none
 * has to wait for its reader. */
enum { MISTAKES = 5, PIECE = 1024 };
static const mistake mistakes[2][MISTAKES] = {
    {{MANY, MANY / 2}, {MANY / 2, 0}, {4, 0}, {1024, 0}, {2, 1}},
    {{256, 128}, {512, 128}, {128, 0}, {4, 0}, {2, 1}}};

static int process_main(coll_shm *shm, void *arg)
{
    return left_over(coll_shm_transport(shm), shm, coll_shm_rank(shm), (const mistake *)arg);
}

TEST(left_over_in_processes)
{
    for (size_t i = 0; i < MISTAKES; i++) {
        pid_t pid[PROCESSES_MOST];
        processes_start(pid, RANKS, 0, 0, process_main, (void *)(uintptr_t)&mistakes[0][i]);
        CHECK(processes_end(pid, RANKS));
    }
}

typedef struct thread_of {
    uint32_t rank;
    const mistake *mistake;
    int code;
} thread_of;

static void *thread_main(void *arg)
{
    thread_of *of = (thread_of *)arg;
    coll_transport cuts = coll_threads_transport;
    cuts.max_bytes = PIECE;
    of->code = left_over(&cuts, coll_threads_rank(threads, of->rank), of->rank, of->mistake);
    return NULL;
}

TEST(left_over_in_threads)
{
    for (size_t i = 0; i < MISTAKES; i++) {
        pthread_t thread[RANKS];
        thread_of of[RANKS];
        threads = coll_threads_create(RANKS);
        for (uint32_t r = 0; r < RANKS; r++) {
            of[r].rank = r;
            of[r].mistake = &mistakes[1][i];
            if (pthread_create(&thread[r], NULL, thread_main, &of[r]) != 0)
                abort();
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            (void)pthread_join(thread[r], NULL);
            CHECK_EQ(of[r].code, 0);
        }
        coll_threads_destroy(threads);
    }
}

int main(void)
{
    RUN(two_on_one_transport);
    RUN(after_a_failure);
    RUN(how_many);
    RUN(left_over_in_processes);
    RUN(left_over_in_threads);
    return check_done();
}
