/* bench/start.c — how long ranks take from exec to the first allreduce, and what a rank has then
 *
 *   start BEGUN           BEGUN: `date +%s%N` when the launcher was started; under coll launch, mpiexec or srun
 *
 * Rank 0 prints a line of CSV: ranks; ms after BEGUN until the first and the last one were in main, the last had
 * found the others, and the last had the sum of 8 bytes; most connections of a rank; most bytes that the library
 * has allocated there, at the end and at any time; ms that processors have worked for all ranks together, without their fork.
 */
#include "../tests/support/counted.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "coll/comm.h"
#include "coll/transports/bootstrap.h"

static double since(double begun)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 - begun;
}

/* Milliseconds that this process has had a processor. */
static double busy(void)
{
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
    static unsigned char memory[1 << 14]; /* scratch of running calls */
    const double begun = argc > 1 ? strtod(argv[1], NULL) / 1e6 : 0;
    const double started = since(begun);
    double mine[7], most[7], work, works = 0;
    int64_t one = 1, sum = 0;
    char why[COLL_TCP_WHY];
    coll_comm comm;
    coll_status status;
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    if (!tcp) {
        fprintf(stderr, "start: %s\n", why);
        return 1;
    }
    mine[0] = -started;
    mine[1] = started;
    mine[2] = since(begun);
    status = coll_comm_init(&comm, &coll_tcp_transport, tcp, coll_tcp_rank(tcp),
                            coll_tcp_size(tcp), memory, sizeof memory);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, &one, &sum, 1, COLL_I64, COLL_SUM);
    mine[3] = since(begun);
    mine[4] = (double)tcp->n_links;
    mine[5] = (double)counted_now;
    mine[6] = (double)counted_most;
    work = busy();
    if (status == COLL_OK && sum != (int64_t)coll_tcp_size(tcp))
        status = COLL_ERR_IO;
    if (status == COLL_OK)
        status = coll_allreduce(&comm, mine, most, 7, COLL_F64, COLL_MAX);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, &work, &works, 1, COLL_F64, COLL_SUM);
    if (status != COLL_OK)
        fprintf(stderr, "start: rank %u: %s\n", coll_tcp_rank(tcp), coll_status_text(status));
    else if (coll_tcp_rank(tcp) == 0)
        printf("%u,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", coll_tcp_size(tcp), -most[0],
               most[1], most[2], most[3], most[4], most[5], most[6], works);
    coll_tcp_close(tcp);
    return status == COLL_OK ? 0 : 1;
}
