/* mpi/tests/transport.c — messages of every length over coll/transports/mpi.h
 *
 *   mpiexec -n 2 transport
 *
 * Lengths are around those at which messages are cut, or sent otherwise, and several are in flight
 * at once, so that what belongs to one could land in another. By all ways: as measured, through the
 * memory of the node, in a context that knows of none, and in few pieces; and where ranks share
 * processors. And of those who block, with and without messages of those who do not.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transports/mpi.h"

#include "support/check.h"

enum { MOST = 1 << 18, TOGETHER = 3, TAG = 5, GUARD = 64 };

static coll_mpi mpi;
static unsigned char *ours[TOGETHER], *theirs[TOGETHER];

static unsigned char value(uint32_t rank, size_t bytes, size_t at)
{
    return (unsigned char)(at * 31 + at / 4032 * 7 + at / 16384 * 13 + bytes + rank * 101);
}

/* Message i of so many bytes is ready to be sent, and its memory to receive the other rank's. */
static void prepare(size_t i, size_t bytes)
{
    memset(theirs[i], 0xEE, bytes + GUARD);
    for (size_t at = 0; at < bytes; at++)
        ours[i][at] = value(mpi.rank, bytes, at);
}

static bool came(size_t i, size_t bytes)
{
    bool good = true;
    for (size_t at = 0; at < bytes + GUARD; at++)
        good = good && theirs[i][at] == (at < bytes ? value(1 - mpi.rank, bytes, at) : 0xEE);
    return good;
}

/* Starts to send message i, or to receive it. */
static coll_status start(bool sends, size_t i, size_t bytes, coll_handle *handle)
{
    const coll_transport *t = coll_mpi_table(&mpi);
    handle->word[0] = handle->word[1] = 0;
    return sends ? t->send(&mpi, 1 - mpi.rank, TAG, ours[i], bytes, handle)
                 : t->recv(&mpi, 1 - mpi.rank, TAG, theirs[i], bytes, handle);
}

/* Sends and receives messages of so many bytes, and one less and one more, at once. */
static bool exchange(size_t bytes)
{
    coll_handle handle[2 * TOGETHER];
    bool running[2 * TOGETHER], good = true;
    unsigned left = 2 * TOGETHER;
    for (size_t i = 0; i < TOGETHER; i++)
        prepare(i, bytes + i - 1);
    for (size_t k = 0; k < 2 * TOGETHER; k++) {
        const coll_status status = start(k % 2 == 1, k / 2, bytes + k / 2 - 1, &handle[k]);
        running[k] = status == COLL_STARTED;
        left -= !running[k];
        good = good && status >= COLL_OK && mpi.used <= mpi.room;
    }
    while (left > 0 && good) {
        for (size_t k = 0; k < 2 * TOGETHER; k++) {
            const coll_status status =
                running[k] ? coll_i_mpi_test(&mpi, &handle[k]) : COLL_AGAIN;
            good = good && status >= COLL_OK;
            running[k] = running[k] && status == COLL_AGAIN;
            left -= status == COLL_OK;
        }
    }
    for (size_t i = 0; good && i < TOGETHER; i++)
        good = came(i, bytes + i - 1);
    return good;
}

/* Follows a program of words of two characters each: S or R sends or receives message i as those who
 * block do, s and r as others. The last message is of `few` bytes. What is received is waited for, what
 * is sent at the end, or given up then. */
static bool follow(const char *program, size_t bytes, size_t few, bool give_up)
{
    const size_t lengths[TOGETHER] = {bytes - 1, bytes, few};
    coll_handle sent[16];
    unsigned n_sent = 0;
    bool good = true;
    for (size_t i = 0; i < TOGETHER; i++)
        prepare(i, lengths[i]);
    for (const char *word = program; *word && good; word += 2) {
        const bool sends = word[0] == 'S' || word[0] == 's';
        const size_t i = (size_t)(word[1] - '0'), length = lengths[i];
        coll_status status;
        coll_handle handle = {{0, 0}};
        if (word[0] == 'S')
            status = coll_i_mpi_send_now(&mpi, 1 - mpi.rank, TAG, ours[i], length, &handle);
        else if (word[0] == 'R')
            status = coll_i_mpi_recv_now(&mpi, 1 - mpi.rank, TAG, theirs[i], length, &handle);
        else
            status = start(sends, i, length, &handle);
        if (sends && status == COLL_STARTED) {
            sent[n_sent++] = handle;
            continue;
        }
        if (word[0] == 'R' && length <= COLL_MPI_SHORT)
            good = good && status == COLL_OK;
        while (status > COLL_OK)
            status = coll_i_mpi_test(&mpi, &handle);
        good = good && status == COLL_OK && (sends || came(i, length));
    }
    for (unsigned k = 0; k < n_sent; k++) {
        coll_status status = COLL_STARTED;
        if (give_up)
            coll_i_mpi_cancel(&mpi, &sent[k]);
        else
            while (status > COLL_OK)
                status = coll_i_mpi_test(&mpi, &sent[k]);
        good = good && status >= COLL_OK;
    }
    if (give_up) /* what was sent may still be read, until the other rank has all */
        MPI_Barrier(MPI_COMM_WORLD);
    return good;
}

static void every_length(void)
{
    static const size_t units[] = {COLL_MPI_PIECE, COLL_MPI_CUT, 8192, 16384, 32768};
    const size_t most = coll_mpi_table(&mpi)->max_bytes;
    CHECK(exchange(1));
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (size_t n = 1; n * units[u] <= MOST; n = n < 5 ? n + 1 : 2 * n - 1)
            for (size_t odd = 0; odd < 20000; odd = 3 * odd + 1000)
                if (n * units[u] + odd + 1 <= (most < MOST ? most : MOST))
                    CHECK(exchange(n * units[u] + odd));
}

static void open_by(const coll_mpi_ways *ways)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    coll_mpi_init(&mpi, comm);
    CHECK(!mpi.near);
    if (ways)
        CHECK(coll_mpi_set_ways(&mpi, ways) == MPI_SUCCESS);
}

TEST(measured)
{
    const coll_mpi_ways any = coll_mpi_usual_ways(false, false);
    coll_mpi_ways ways, others;
    CHECK(coll_mpi_open(&mpi, MPI_COMM_WORLD) == MPI_SUCCESS);
    every_length();
    ways = coll_mpi_find_ways(&mpi);
    CHECK(ways.near == mpi.near && ways.cut == mpi.cut);
    CHECK(ways.cut >= COLL_MPI_PIECE && ways.cut <= any.cut);
    CHECK((ways.times[0] > 0) == (ways.times[1] > 0));
    others = ways; /* what is measured differs, but not what follows */
    MPI_Bcast(&others, sizeof others, MPI_BYTE, 1, MPI_COMM_WORLD);
    CHECK(ways.near == others.near && ways.cut == others.cut);
    every_length();
    CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
}

TEST(near)
{
    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        const coll_mpi_ways ways = coll_mpi_usual_ways(true, oversubscribed);
        open_by(&ways);
        CHECK(mpi.near);
        mpi.oversubscribed = oversubscribed;
        every_length();
        CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
    }
}

TEST(anywhere)
{
    open_by(NULL);
    every_length();
    CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
}

TEST(few_pieces)
{
    coll_mpi_ways ways = coll_mpi_usual_ways(false, false);
    for (int way = 0; way < 4; way++) {
        ways.near = way % 2;
        ways.cut = way < 2 ? COLL_MPI_SHORT : COLL_MPI_PIECE;
        open_by(&ways);
        every_length();
        CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
    }
}

TEST(blocking)
{
    static const char *programs[][2] = {
        {"S0R0", "S0R0"},
        {"S0S1R0R1", "S0S1R0R1"},
        {"S0S1S2", "R0R1R2"},
        {"S0R2", "R0S2"},
        {"S0S2R0R2", "S0S2R0R2"},
        {"S0R0S1R1S2R2", "R0S0R1S1R2S2"},
        {"S0r0", "S0R0"},
        {"S0s1R0r1", "S0S1R0R1"},
        {"S0r2", "R0S2"},
        {"S0S1S0S1S0S1S0S1S0S1S0S1S0S1S0S1", "R0R1R0R1R0R1R0R1R0R1R0R1R0R1R0R1"}};
    enum { PROGRAMS = sizeof programs / sizeof *programs };
    open_by(NULL);
    for (size_t pieces = 1; pieces <= COLL_MPI_SHORT_PIECES + 1; pieces++) {
        for (size_t k = 0; k < 3 * PROGRAMS; k++) {
            const char *mine = programs[k / 3][mpi.rank];
            const size_t bytes = pieces * COLL_MPI_PIECE - 700 * (k % 3) - (k % 3 > 0);
            CHECK(follow(mine, bytes, 4 * (k % 2), pieces % 2));
            CHECK(mpi.held_bytes == 0 && mpi.flying == 0);
        }
    }
    CHECK(follow(mpi.rank ? "R0" : "S0", COLL_MPI_SHORT + 2, 0, false));
    CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
}

/* The second piece is too short. */
TEST(received_short)
{
    const int piece = COLL_MPI_PIECE;
    open_by(NULL);
    if (mpi.rank == 0) {
        coll_handle h = {{0, 0}};
        CHECK_STATUS(coll_i_mpi_recv_now(&mpi, 1, TAG, theirs[0], 2 * COLL_MPI_PIECE, &h),
                     COLL_ERR_SIZE);
    } else {
        MPI_Send(ours[0], piece, MPI_BYTE, 0, TAG, mpi.comm);
        MPI_Send(ours[0], piece - 1, MPI_BYTE, 0, TAG, mpi.comm);
    }
    CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int failed, any;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < TOGETHER; i++) {
        ours[i] = malloc(MOST + 1 + GUARD);
        theirs[i] = malloc(MOST + 1 + GUARD);
    }
    RUN(measured);
    RUN(near);
    RUN(anywhere);
    RUN(few_pieces);
    RUN(blocking);
    RUN(received_short);
    failed = check_done();
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < TOGETHER; i++) {
        free(ours[i]);
        free(theirs[i]);
    }
    MPI_Finalize();
    return any;
}
