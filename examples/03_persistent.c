/* examples/03_persistent.c — plan once, run many times
 *
 * A solver's loop needs the same small allreduce over and over. A persistent call checks its
 * arguments, chooses the algorithm and takes its memory once; coll_start then only runs it, on
 * whatever the buffers hold at the time. Two of them, on different tags, are started in one
 * order and waited for in the other.
 *
 *   cc -O2 -Iinclude examples/03_persistent.c -o 03 -lpthread && ./03
 */
#include "on_threads.h"

enum { ROUNDS = 1000 };

static int rank_main(coll_comm *comm)
{
    int64_t sum[3], most, expected;
    coll_request add, compare;
    int failed =
        coll_allreduce_init(comm, COLL_IN_PLACE, sum, 3, COLL_I64, COLL_SUM, &add) != COLL_OK ||
        coll_allreduce_init(comm, COLL_IN_PLACE, &most, 1, COLL_I64, COLL_MAX, &compare) !=
            COLL_OK;
    const int64_t p = comm->p, rank = comm->rank,
                  ranks = p * (p - 1) / 2; /* 0 + 1 + … + (p − 1) */

    double start = on_threads_now();
    for (int64_t i = 0; i < ROUNDS && !failed; i++) {
        sum[0] = 1;
        sum[1] = rank;
        sum[2] = rank * i;
        most = (rank * 7 + i) % p; /* the largest is p − 1: 7 and p have no common divisor */
        failed |= coll_start(&add) != COLL_OK || coll_start(&compare) != COLL_OK;
        failed |= coll_wait(&compare) != COLL_OK || coll_wait(&add) != COLL_OK;
        failed |= sum[0] != p || sum[1] != ranks || sum[2] != ranks * i || most != p - 1;
    }
    const double persistent = (on_threads_now() - start) / ROUNDS;

    start = on_threads_now();
    for (int64_t i = 0; i < ROUNDS && !failed; i++) {
        expected = (rank * 7 + i) % p;
        sum[0] = 1;
        failed |= coll_allreduce(comm, COLL_IN_PLACE, sum, 1, COLL_I64, COLL_SUM) != COLL_OK;
        failed |= coll_allreduce(comm, &expected, &most, 1, COLL_I64, COLL_MAX) != COLL_OK;
        failed |= sum[0] != p || most != p - 1;
    }
    const double blocking = (on_threads_now() - start) / ROUNDS;

    failed |= coll_request_free(&compare) != COLL_OK || coll_request_free(&add) != COLL_OK;
    if (comm->rank == 0)
        printf("two allreduces on %u ranks: persistent %.2f us, one blocking after the other "
               "%.2f us; %s\n",
               comm->p, persistent * 1e6, blocking * 1e6, failed ? "WRONG" : "right");
    return failed;
}

int main(void)
{
    return on_threads(4, rank_main);
}
