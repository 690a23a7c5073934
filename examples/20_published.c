/* examples/20_published.c — a job that `coll top` shows: its last rank is late
 *
 *   coll launch --top -n 4 build/examples/20_published 20 &
 *   coll top --once
 *
 * The ranks add up a number, the last one so many seconds after the others (0), and rank 0 prints the sum.
 * Without --top nothing is published.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/comm.h"
#include "coll/comm/published.h"
#include "coll/transports/shm.h"

int main(int argc, char **argv)
{
    static double memory[4096]; /* scratch of running calls */
    static coll_published published;
    const unsigned late = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    const bool publishes = getenv("COLL_TOP") != NULL;
    char why[COLL_SHM_WHY];
    coll_shm *shm = coll_shm_launched(10000, why);
    double one = 1, sum = 0;
    coll_comm comm;
    coll_status status;
    if (!shm) {
        fprintf(stderr, "20_published: %s\n", why);
        return 1;
    }
    const uint32_t rank = coll_shm_rank(shm), p = coll_shm_size(shm);
    status =
        coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, memory, sizeof memory);
    if (status == COLL_OK && publishes)
        status = coll_comm_publish(&comm, &published);
    if (status == COLL_OK)
        status = coll_bcast(&comm, &one, 1, COLL_F64, 0);
    if (rank + 1 == p)
        sleep(late);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, &one, &sum, 1, COLL_F64, COLL_SUM);
    if (rank == 0 || status != COLL_OK)
        printf("rank %u of %u: %s, the sum is %g\n", rank, p, coll_status_text(status), sum);
    (void)coll_comm_free(&comm);
    if (publishes)
        coll_unpublish(&published);
    coll_shm_detach(shm);
    return status == COLL_OK ? 0 : 1;
}
