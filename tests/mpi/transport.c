/* tests/mpi/transport.c — messages of every length over examples/mpi/transport.h
 *
 *   mpiexec -n 2 transport
 *
 * Lengths are around those at which messages are cut, or sent otherwise, and several are in flight
 * at once, so that what belongs to one could land in another. By all ways: as measured, through the
 * memory of the node, in a context that knows of none, and without pieces; and where ranks share
 * processors.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

#include "check.h"

enum { MOST = 1 << 18, TOGETHER = 3, TAG = 5, GUARD = 64 };

static coll_mpi mpi;
static unsigned char *ours[TOGETHER], *theirs[TOGETHER];

static unsigned char value(uint32_t rank, size_t bytes, size_t at)
{
    return (unsigned char)(at * 31 + at / 4032 * 7 + at / 16384 * 13 + bytes + rank * 101);
}

/* Sends and receives messages of so many bytes, and one less and one more, at once. */
static bool exchange(size_t bytes)
{
    const coll_transport *t = coll_mpi_table(&mpi);
    coll_handle handle[2 * TOGETHER];
    bool running[2 * TOGETHER], good = true;
    unsigned left = 2 * TOGETHER;
    for (size_t k = 0; k < 2 * TOGETHER; k++) {
        const size_t i = k / 2, length = bytes + i - 1;
        coll_status status;
        handle[k].word[0] = handle[k].word[1] = 0;
        if (k % 2 == 0) {
            memset(theirs[i], 0xEE, length + GUARD);
            status = t->recv(&mpi, 1 - mpi.rank, TAG, theirs[i], length, &handle[k]);
        } else {
            for (size_t at = 0; at < length; at++)
                ours[i][at] = value(mpi.rank, length, at);
            status = t->send(&mpi, 1 - mpi.rank, TAG, ours[i], length, &handle[k]);
        }
        running[k] = status == COLL_STARTED;
        left -= !running[k];
        good = good && status >= COLL_OK && mpi.used <= mpi.room;
    }
    while (left > 0 && good) {
        for (size_t k = 0; k < 2 * TOGETHER; k++) {
            const coll_status status = running[k] ? t->test(&mpi, &handle[k]) : COLL_AGAIN;
            good = good && status >= COLL_OK;
            running[k] = running[k] && status == COLL_AGAIN;
            left -= status == COLL_OK;
        }
    }
    for (size_t i = 0; good && i < TOGETHER; i++) {
        const size_t length = bytes + i - 1;
        for (size_t at = 0; at < length + GUARD; at++)
            good =
                good && theirs[i][at] == (at < length ? value(1 - mpi.rank, length, at) : 0xEE);
    }
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
    for (int crowded = 0; crowded < 2; crowded++) {
        const coll_mpi_ways ways = coll_mpi_usual_ways(true, crowded);
        open_by(&ways);
        CHECK(mpi.near);
        mpi.crowded = crowded;
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

TEST(whole)
{
    coll_mpi_ways ways = coll_mpi_usual_ways(false, false);
    for (int near = 0; near < 2; near++) {
        ways.near = near;
        ways.cut = COLL_MPI_PIECE;
        open_by(&ways);
        every_length();
        CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
    }
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
    RUN(whole);
    failed = check_done();
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < TOGETHER; i++) {
        free(ours[i]);
        free(theirs[i]);
    }
    MPI_Finalize();
    return any;
}
