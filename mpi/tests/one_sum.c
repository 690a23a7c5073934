/* mpi/tests/one_sum.c — COLL_ONE_SUM=1: each sum of floats is the one nearest to the exact sum of the operands
 *
 *   mpiexec -n 4 one_sum
 *
 * Operands are integers times powers of two, of which 128 bits hold any sum here, and the compiler rounds that. Each
 * collective runs with its operands on other ranks, too.
 */
#include <mpi.h>
#include <string.h>

#include "support/check.h"

enum { MOST = 1500, RANKS = 8 };

static int rank, p;
static double in[RANKS * MOST], out[RANKS * MOST];
static float in32[RANKS * MOST], out32[RANKS * MOST];

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return x ^ (x >> 32);
}

__extension__ typedef __int128 whole;

/* Up to 24 bits at one of 60 places, with a sign: an f32, too. */
static whole operand(int of, size_t i)
{
    const uint64_t random = mixed((uint64_t)of * 1000003u + i + 1);
    const whole size = (whole)(random & 0xffffff) << (random >> 32) % 60;
    return random >> 63 ? -size : size;
}

/* Whose operands a rank has in a turn. */
static int owned(int of, int turn)
{
    return (of + turn) % p;
}

static whole sum_of(int first, int end, int turn, size_t i)
{
    whole sum = 0;
    for (int r = first; r < end; r++)
        sum += operand(owned(r, turn), i);
    return sum;
}

static void fill(void *to, bool single, size_t count, int turn)
{
    for (size_t i = 0; i < count; i++) {
        const whole x = operand(owned(rank, turn), i);
        if (single)
            ((float *)to)[i] = (float)x;
        else
            ((double *)to)[i] = (double)x;
    }
}

static int call(int which, const void *from, void *to, int n, MPI_Datatype type)
{
    switch (which) {
    case 0:
        return MPI_Allreduce(from, to, n, type, MPI_SUM, MPI_COMM_WORLD);
    case 1:
        return MPI_Reduce(from == MPI_IN_PLACE && rank != p - 1 ? to : from, to, n, type,
                          MPI_SUM, p - 1, MPI_COMM_WORLD);
    case 2:
        return MPI_Scan(from, to, n, type, MPI_SUM, MPI_COMM_WORLD);
    case 3:
        return MPI_Exscan(from, to, n, type, MPI_SUM, MPI_COMM_WORLD);
    default:
        return MPI_Reduce_scatter_block(from, to, n, type, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Does a rank's result have the right bits? */
static bool right(int which, bool single, int n, int turn)
{
    const int first = 0, end = which == 2 ? rank + 1 : which == 3 ? rank : p;
    if ((which == 1 && rank != p - 1) || (which == 3 && rank == 0))
        return true;
    for (int i = 0; i < n; i++) {
        const size_t at = which == 4 ? (size_t)(rank * n + i) : (size_t)i;
        const whole sum = sum_of(first, end, turn, at);
        const float single_sum = (float)sum;
        const double sum64 = (double)sum;
        if (single ? memcmp(&out32[i], &single_sum, sizeof single_sum) != 0
                   : memcmp(&out[i], &sum64, sizeof sum64) != 0)
            return false;
    }
    return true;
}

TEST(every_collective)
{
    static const int counts[] = {0, 1, 5, 700, MOST};
    for (int which = 0; which < 5; which++)
        for (int c = 0; c < 5; c++)
            for (int how = 0; how < 8; how++) {
                const bool single = how & 1, in_place = how & 2;
                const int n = counts[c], turn = how >> 2;
                const size_t count = (size_t)n * (size_t)(which == 4 ? p : 1);
                void *const to = single ? (void *)out32 : (void *)out;
                void *const from = single ? (void *)in32 : (void *)in;
                fill(in_place ? to : from, single, count, turn);
                CHECK_EQ(call(which, in_place ? MPI_IN_PLACE : from, to, n,
                              single ? MPI_FLOAT : MPI_DOUBLE),
                         MPI_SUCCESS);
                CHECK(right(which, single, n, turn));
            }
}

/* Other operators, types and integers go the usual way. */
TEST(others)
{
    double x[2] = {rank + 1.0, -1}, y[2];
    int n = 1, sum = 0;
    CHECK_EQ(MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(y[0] > p - 0.5 && y[1] < 0);
    CHECK_EQ(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(sum, p);
}

int main(int argc, char **argv)
{
    unsigned long mine[2], all[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    every_collective();
    others();
    mine[0] = check_count;
    mine[1] = check_failures;
    PMPI_Reduce(mine, all, 2, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%lu checks, %lu failed\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
