/* examples/05_processes.c — ranks that are processes of one machine, over shared memory
 *
 *   coll launch -n 4 build/examples/05_processes
 *
 * Each rank makes up a part of a vector, all of them add it up and look for its largest element,
 * and rank 0 says what they found. Started by itself, the program is the only rank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/comm.h"
#include "coll/transports/shm.h"

enum { N = 100000 };

/* A number in 0 … 999 for each element, the same however many ranks there are. */
static double element(size_t i)
{
    return (double)(i * 7919 % 1000);
}

int main(void)
{
    static double memory[2 * N]; /* scratch of running calls */
    char why[COLL_SHM_WHY];
    coll_shm *shm = coll_shm_launched(10000, why);
    double mine[2] = {0, 0}, sum, most, wanted = 0;
    coll_comm comm;
    coll_status status;
    if (!shm) {
        fprintf(stderr, "05_processes: %s\n", why);
        return 1;
    }
    const uint32_t rank = coll_shm_rank(shm), p = coll_shm_size(shm);
    status =
        coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, memory, sizeof memory);
    for (size_t i = rank; i < N; i += p) {
        mine[0] += element(i);
        mine[1] = element(i) > mine[1] ? element(i) : mine[1];
    }
    if (status == COLL_OK)
        status = coll_allreduce(&comm, &mine[0], &sum, 1, COLL_F64, COLL_SUM);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, &mine[1], &most, 1, COLL_F64, COLL_MAX);
    if (status != COLL_OK) {
        fprintf(stderr, "rank %u: %s", rank, coll_status_text(status));
        if (coll_shm_lost(shm) != COLL_RANK_NONE)
            fprintf(stderr, ", rank %u is gone", coll_shm_lost(shm));
        fputc('\n', stderr);
        return 1;
    }
    for (size_t i = 0; i < N; i++)
        wanted += element(i);
    if (rank == 0)
        printf("%u rank%s: the sum is %.0f, the largest %.0f\n", p, p == 1 ? "" : "s", sum,
               most);
    coll_comm_free(&comm);
    coll_shm_detach(shm);
    return sum == wanted && most == 999 ? 0 : 1;
}
