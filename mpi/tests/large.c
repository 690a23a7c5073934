/* mpi/tests/large.c — counts near 2³¹ and above, displacements and extents far beyond
 *
 *   mpiexec -n 2 large
 *
 * Buffers are maps of which few pages are ever written: zeros cost nothing to send. What is checked are
 * marks here and there, at the ends of blocks above all.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/check.h"

static int rank;

static const size_t giga = (size_t)1 << 30, page = 4096;

static unsigned char *map(size_t bytes)
{
    void *at = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("large: mmap");
        exit(1);
    }
    return at;
}

static void unmap(unsigned char *at, size_t bytes)
{
    munmap(at, bytes + page);
}

/* Marks of a block: its first and last byte, and some between. */
enum { MARKS = 9 };

static size_t place(size_t bytes, int i)
{
    return i == MARKS - 1 ? bytes - 1 : bytes / (MARKS - 1) * (size_t)i;
}

static unsigned char mark(int of, int i)
{
    return (unsigned char)(1 + of * MARKS + i);
}

static void write_marks(unsigned char *block, size_t bytes, int of)
{
    for (int i = 0; i < MARKS; i++)
        block[place(bytes, i)] = mark(of, i);
}

static void check_marks(const unsigned char *block, size_t bytes, int of)
{
    for (int i = 0; i < MARKS; i++)
        CHECK_EQ(block[place(bytes, i)], mark(of, i));
}

TEST(bcast_of_int_max)
{
    const size_t bytes = INT_MAX;
    unsigned char *data = map(bytes);
    if (rank == 0)
        write_marks(data, bytes, 0);
    CHECK_EQ(MPI_Bcast(data, INT_MAX, MPI_CHAR, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    check_marks(data, bytes, 0);
    CHECK_EQ(data[bytes], 0);
    unmap(data, bytes);
}

/* Together more than 2³¹ bytes. */
TEST(allgather_of_more_than_2_31)
{
    const size_t bytes = giga + 5;
    unsigned char *all = map(2 * bytes);
    write_marks(all + (size_t)rank * bytes, bytes, rank);
    CHECK_EQ(
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD),
        MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        check_marks(all + (size_t)i * bytes, bytes, i);
    CHECK_EQ(all[2 * bytes], 0);
    unmap(all, 2 * bytes);
}

TEST(reduce_scatter_of_more_than_2_31)
{
    const int counts[2] = {1 << 30, (1 << 30) + 7};
    const size_t first = (size_t)counts[0], second = (size_t)counts[1];
    unsigned char *in = map(first + second), *out = map(second);
    write_marks(in, first, 0);
    write_marks(in + first, second, 1);
    CHECK_EQ(MPI_Reduce_scatter(in, out, counts, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD),
             MPI_SUCCESS);
    check_marks(out, rank == 0 ? first : second, rank);
    CHECK_EQ(out[rank == 0 ? first : second], 0);
    unmap(in, first + second);
    unmap(out, second);
}

/* Blocks are short and lie far away from each other. */
TEST(displacements_near_int_max)
{
    enum { SHORT = 300 };
    const size_t bytes = (size_t)INT_MAX * sizeof(int);
    const int counts[2] = {SHORT, SHORT}, displs[2] = {INT_MAX - SHORT, 3};
    unsigned char *in = map(bytes), *out = map(bytes);
    for (int i = 0; i < 2; i++)
        write_marks(in + (size_t)displs[i] * sizeof(int), SHORT * sizeof(int), 2 * rank + i);
    CHECK_EQ(MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT,
                           MPI_COMM_WORLD),
             MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        check_marks(out + (size_t)displs[i] * sizeof(int), SHORT * sizeof(int), 2 * i + rank);
    CHECK_EQ(MPI_Allgatherv(in + 3 * sizeof(int), SHORT, MPI_INT, out, counts, displs, MPI_INT,
                            MPI_COMM_WORLD),
             MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        check_marks(out + (size_t)displs[i] * sizeof(int), SHORT * sizeof(int), 2 * i + 1);
    unmap(in, bytes);
    unmap(out, bytes);
}

/* A few bytes each, gigabytes apart. */
TEST(extents_of_gigabytes)
{
    enum { COUNT = 3 };
    const size_t extent = 3 * giga;
    MPI_Datatype far;
    unsigned char *in = map(COUNT * extent), *out = map(2 * COUNT * extent);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)extent, &far);
    MPI_Type_commit(&far);
    for (int i = 0; i < COUNT; i++)
        memcpy(in + (size_t)i * extent, &(int){rank * COUNT + i + 1}, sizeof(int));
    CHECK_EQ(MPI_Allgather(in, COUNT, far, out, COUNT, far, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < 2 * COUNT; i++) {
        int is;
        memcpy(&is, out + (size_t)i * extent, sizeof is);
        CHECK_EQ(is, i + 1);
    }
    MPI_Type_free(&far);
    unmap(in, COUNT * extent);
    unmap(out, 2 * COUNT * extent);
}

TEST(counts_of_more_than_ints)
{
#if MPI_VERSION >= 4
    const size_t bytes = 2 * giga + 9;
    unsigned char *data = map(bytes);
    if (rank == 1)
        write_marks(data, bytes, 3);
    CHECK_EQ(MPI_Bcast_c(data, (MPI_Count)bytes, MPI_BYTE, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    check_marks(data, bytes, 3);
    CHECK_EQ(data[bytes], 0);
    unmap(data, bytes);

    enum { SHORT = 100 };
    const MPI_Count counts[2] = {SHORT, SHORT};
    const MPI_Aint displs[2] = {0, (MPI_Aint)(5 * giga)};
    MPI_Request request;
    unsigned char *out = map(6 * giga), in[SHORT];
    memset(in, 0, sizeof in);
    write_marks(in, SHORT, rank);
    CHECK_EQ(MPI_Iallgatherv_c(in, SHORT, MPI_BYTE, out, counts, displs, MPI_BYTE,
                               MPI_COMM_WORLD, &request),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        check_marks(out + displs[i], SHORT, i);
    unmap(out, 6 * giga);
#else
    CHECK(MPI_VERSION < 4); /* there are none */
#endif
}

int main(int argc, char **argv)
{
    int p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (p != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    RUN(displacements_near_int_max);
    RUN(extents_of_gigabytes);
    RUN(bcast_of_int_max);
    RUN(allgather_of_more_than_2_31);
    RUN(reduce_scatter_of_more_than_2_31);
    RUN(counts_of_more_than_ints);
    MPI_Finalize();
    return check_done();
}
