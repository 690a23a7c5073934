/* mpi/tests/tables.c — collectives of the MPI library, by whatever table it reads (tables.sh)
 *
 *   tables            all, of several lengths, also with operators that do not commute: results
 *   tables allreduce  one call; it says whether the library refused it */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 16, LONGEST = 70000 };

static int rank, p;
static long checks, failures;
static int *in, *out;

static void holds(int yes, const char *what, int n)
{
    checks++;
    if (!yes && failures++ < 10)
        printf("rank %d: wrong: %s of %d\n", rank, what, n);
}

/* Element i of what rank r has for rank q. */
static int value(int r, int q, int i)
{
    return 1000 * r + 100 * q + i % 97;
}

static int sum(int i)
{
    int all = 0;
    for (int r = 0; r < p; r++)
        all += value(r, 0, i);
    return all;
}

/* The last operand that is not 0: associative, and does not commute. */
static void last(void *a, void *b, int *n, MPI_Datatype *type)
{
    const int *from = a;
    int *to = b;
    (void)type;
    for (int i = 0; i < *n; i++)
        if (to[i] == 0)
            to[i] = from[i];
}

static void fill(int blocks, int n)
{
    for (int q = 0; q < blocks; q++)
        for (int i = 0; i < n; i++)
            in[q * n + i] = value(rank, q, i);
    memset(out, 0xff, (size_t)p * (size_t)n * sizeof *out);
}

/* Is block q of `out` what rank r has for rank `of`? */
static int is_block(int q, int r, int of, int n)
{
    for (int i = 0; i < n; i++)
        if (out[q * n + i] != value(r, of, i))
            return 0;
    return 1;
}

static int is_sum(int n, int first)
{
    for (int i = 0; i < n; i++)
        if (out[i] != sum(first + i))
            return 0;
    return 1;
}

static int are_all(int n, int want)
{
    for (int i = 0; i < n; i++)
        if (out[i] != want)
            return 0;
    return 1;
}

static void vectors(int n, MPI_Comm comm)
{
    MPI_Request request;
    const int root = p - 1;
    int good = 1;
    fill(1, n);
    memcpy(out, in, (size_t)n * sizeof *in);
    MPI_Bcast(out, n, MPI_INT, root, comm);
    holds(is_block(0, root, 0, n), "bcast", n);
    memcpy(out, in, (size_t)n * sizeof *in);
    MPI_Ibcast(out, n, MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    holds(is_block(0, 0, 0, n), "ibcast", n);
    fill(1, n);
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, comm);
    holds(rank != root || is_sum(n, 0), "reduce", n);
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    holds(is_sum(n, 0), "allreduce", n);
    memset(out, 0, (size_t)n * sizeof *out);
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    holds(is_sum(n, 0), "iallreduce", n);
    memcpy(out, in, (size_t)n * sizeof *in);
    MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm);
    holds(is_sum(n, 0), "allreduce in place", n);
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++) {
        int all = 0;
        for (int r = 0; r <= rank; r++)
            all += value(r, 0, i);
        good = good && out[i] == all;
    }
    holds(good, "scan", n);
    MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, comm);
    good = 1;
    for (int i = 0; i < n && rank > 0; i++) {
        int all = 0;
        for (int r = 0; r < rank; r++)
            all += value(r, 0, i);
        good = good && out[i] == all;
    }
    holds(good, "exscan", n);
}

static void in_order(int n, MPI_Comm comm)
{
    MPI_Op op;
    MPI_Op_create(last, 0, &op);
    for (int i = 0; i < n * p; i++)
        in[i] = rank + 1;
    MPI_Allreduce(in, out, n, MPI_INT, op, comm);
    holds(are_all(n, p), "allreduce in order", n);
    MPI_Reduce(in, out, n, MPI_INT, op, 0, comm);
    holds(rank != 0 || are_all(n, p), "reduce in order", n);
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, op, comm);
    holds(are_all(n, p), "reduce_scatter_block in order", n);
    MPI_Op_free(&op);
}

static void blocks(int n, MPI_Comm comm)
{
    int counts[RANKS], displs[RANKS], good = 1;
    for (int r = 0; r < p; r++) {
        counts[r] = n;
        displs[r] = n * r;
    }
    fill(1, n);
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int r = 0; r < p; r++)
        good = good && is_block(r, r, 0, n);
    holds(good, "allgather", n);
    fill(1, n);
    MPI_Allgatherv(in, n, MPI_INT, out, counts, displs, MPI_INT, comm);
    for (int r = 0; r < p; r++)
        good = good && is_block(r, r, 0, n);
    holds(good, "allgatherv", n);
    fill(1, n);
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, p / 2, comm);
    for (int r = 0; r < p && rank == p / 2; r++)
        good = good && is_block(r, r, 0, n);
    holds(good, "gather", n);
    fill(p, n);
    MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, p / 2, comm);
    holds(is_block(0, p / 2, rank, n), "scatter", n);
    fill(p, n);
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int r = 0; r < p; r++)
        good = good && is_block(r, r, rank, n);
    holds(good, "alltoall", n);
    fill(p, n);
    MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm);
    for (int r = 0; r < p; r++)
        good = good && is_block(r, r, rank, n);
    holds(good, "alltoallv", n);
    for (int q = 0; q < p; q++)
        for (int i = 0; i < n; i++)
            in[q * n + i] = value(rank, 0, q * n + i);
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm);
    holds(is_sum(n, rank * n), "reduce_scatter_block", n);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
    holds(is_sum(n, rank * n), "reduce_scatter", n);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 3, 64, 1000, 5000, LONGEST};
    MPI_Comm comm;
    long mine[2], all[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    in = malloc((size_t)p * LONGEST * sizeof *in);
    out = malloc((size_t)p * LONGEST * sizeof *out);
    if (!in || !out || p > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 1) {
        int error;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        fill(1, 1);
        error = MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("allreduce: %s\n", error ? "refused" : is_sum(1, 0) ? "right" : "wrong");
        fflush(stdout);
        if (error) { /* MPI_Finalize may need what was refused; who ends first, rank 0, ends all */
            if (rank != 0)
                (void)sleep(30);
            _Exit(0);
        }
        MPI_Finalize();
        return 0;
    }
    for (int part = 0; part < 2; part++) { /* all ranks, and all but one beside that one */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &p);
        MPI_Comm_split(MPI_COMM_WORLD, part && rank == p - 1, rank, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &p);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            vectors(lengths[i], comm);
            blocks(lengths[i], comm);
            in_order(lengths[i], comm);
            MPI_Barrier(comm);
        }
        MPI_Comm_free(&comm);
    }
    mine[0] = checks;
    mine[1] = failures;
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("tables: %ld checks, %ld failed\n", all[0], all[1]);
    free(in);
    free(out);
    MPI_Finalize();
    return all[1] > 0;
}
