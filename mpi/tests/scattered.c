/* mpi/tests/scattered.c — collectives whose result does not depend on the order of the ranks, and
 * the same with operators that do, on a communicator whose ranks are dealt out to nodes in turn
 *
 *   mpiexec -n 8 env COLL_PPN=4 LD_PRELOAD=… scattered 4
 *
 * Nodes are of so many ranks of MPI_COMM_WORLD that follow each other; with 1, the communicator's ranks
 * are the world's. It is the only one with collectives. Elements of what does not commute, of sums of
 * floats, and of the rest, have different sizes, so that the layer tells what it chose for each. Rank 0
 * prints the bits of a sum that depends on its parentheses.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 3, LONG = 3000 };

static MPI_Comm comm;
static int rank, p;
static long checks, failures;

static void check(uint64_t is, uint64_t wanted, const char *what, int number)
{
    checks++;
    if (is != wanted && failures++ < 10)
        printf("rank %d: %s %d: %llx is not %llx\n", rank, what, number, (unsigned long long)is,
               (unsigned long long)wanted);
}

/* ---- operators --------------------------------------------------------------------------- */

/* x → a·x + b, one after the other: in the order of the ranks. */
struct map {
    uint64_t a, b;
};

static struct map map_of(int r)
{
    const uint64_t number = (uint64_t)r;
    return (struct map){2 * number + 3, number * number + 1};
}

static struct map both(struct map first, struct map second)
{
    return (struct map){second.a * first.a, second.a * first.b + second.b};
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *second = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        second[i] = both(first[i], second[i]);
}

static struct map of_ranks_up_to(int last)
{
    struct map all = map_of(0);
    for (int r = 1; r <= last; r++)
        all = both(all, map_of(r));
    return all;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* At last two at a time. */
static void bcasts(int count)
{
    int *data = malloc(2 * (size_t)count * sizeof *data);
    MPI_Request requests[2];
    for (int root = 0; root < p; root++)
        for (int time = 0; time < TIMES; time++) {
            const int n = time < TIMES - 1 ? count : 2 * count;
            for (int i = 0; i < n; i++)
                data[i] = rank == root ? 1000 * root + time + i : -1;
            for (int k = 0; n > count && k < 2; k++)
                MPI_Ibcast(data + k * count, count, MPI_INT, root, comm, &requests[k]);
            for (int k = 0; n > count && k < 2; k++)
                MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
            if (n == count)
                MPI_Bcast(data, count, MPI_INT, root, comm);
            for (int i = 0; i < n; i += count < 10 ? 1 : 371)
                check((uint64_t)data[i], (uint64_t)(1000 * root + time + i), "bcast from",
                      root);
        }
    free(data);
}

static void sums(int count)
{
    int *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    MPI_Request request;
    for (int root = -1; root < p; root++)
        for (int time = 0; time < TIMES; time++) {
            for (int i = 0; i < count; i++) {
                in[i] = rank * rank + time + i;
                out[i] = -1;
            }
            if (root < 0)
                MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
            else if (time < TIMES - 1)
                MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
            else
                MPI_Ireduce(in, out, count, MPI_INT, MPI_SUM, root, comm, &request);
            if (root >= 0 && time == TIMES - 1)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < count && (root < 0 || rank == root);
                 i += count < 10 ? 1 : 371) {
                const int sum = (p - 1) * p * (2 * p - 1) / 6 + p * (time + i);
                check((uint64_t)out[i], (uint64_t)sum, "sum at", root);
            }
        }
    free(in);
    free(out);
}

static void maps(void)
{
    MPI_Datatype type;
    MPI_Op op;
    struct map mine = map_of(rank), out, wanted = of_ranks_up_to(p - 1);
    MPI_Type_contiguous(sizeof mine, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    for (int root = 0; root < p; root++) {
        memset(&out, 0, sizeof out);
        MPI_Reduce(&mine, &out, 1, type, op, root, comm);
        if (rank == root) {
            check(out.a, wanted.a, "maps' a at", root);
            check(out.b, wanted.b, "maps' b at", root);
        }
    }
    MPI_Allreduce(&mine, &out, 1, type, op, comm);
    check(out.b, wanted.b, "all maps' b", p);
    MPI_Scan(&mine, &out, 1, type, op, comm);
    check(out.b, of_ranks_up_to(rank).b, "scanned maps' b", rank);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void allreduced_floats(void)
{
    const double mine[2] = {rank % 3 == 1   ? 1e16
                            : rank % 3 == 2 ? -1e16
                                            : 1.0 + rank / 7.0,
                            1.0 / (rank + 3)};
    double sum[2], root[2];
    uint64_t bits[4];
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(root, sum, sizeof root);
    PMPI_Bcast(root, 2, MPI_DOUBLE, 0, comm);
    memcpy(bits, sum, sizeof sum);
    memcpy(bits + 2, root, sizeof root);
    check(bits[0], bits[2], "bits", 0);
    check(bits[1], bits[3], "bits", 1);
    if (rank == 0)
        printf("bits %016llx %016llx\n", (unsigned long long)bits[0],
               (unsigned long long)bits[1]);
}

int main(int argc, char **argv)
{
    int ppn, in_world, world;
    long mine[2], all[2];
    MPI_Init(&argc, &argv);
    ppn = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &in_world);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, in_world % ppn * world + in_world / ppn, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    for (int time = 0; time < TIMES; time++)
        MPI_Barrier(comm);
    bcasts(1);
    bcasts(LONG);
    sums(1);
    sums(LONG);
    maps();
    allreduced_floats();
    mine[0] = checks;
    mine[1] = failures;
    PMPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, comm);
    if (rank == 0)
        printf("scattered: %d ranks, %s, %ld failed\n", p, all[0] > 0 ? "checked" : "no checks",
               all[1]);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures != 0;
}
