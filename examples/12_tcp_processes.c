/* examples/12_tcp_processes.c — ranks that are processes, on one machine or several, joined by TCP
 *
 *   coll launch -n 4 build/examples/12_tcp_processes
 *   mpiexec.mpich -n 4 build/examples/12_tcp_processes
 *
 * On two machines, of which the first has the address 10.0.0.1:
 *
 *   COLL_RANK=0 COLL_SIZE=2 COLL_RENDEZVOUS=10.0.0.1:5000 COLL_SECRET=… build/examples/12_tcp_processes
 *   COLL_RANK=1 COLL_SIZE=2 COLL_RENDEZVOUS=10.0.0.1:5000 COLL_SECRET=… build/examples/12_tcp_processes
 *
 * with 32 hexadecimal digits as the secret. The ranks exchange what they have to say, and rank 0 says it.
 * Started by itself, the program is the only rank.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coll/comm.h"
#include "coll/transports/bootstrap.h"

enum { MOST = 64, WORDS = 64 };

int main(void)
{
    static unsigned char memory[1 << 16]; /* scratch of running calls */
    static char all[MOST * WORDS];
    char why[COLL_TCP_WHY], mine[WORDS] = "", host[40] = "a machine";
    coll_comm comm;
    coll_status status;
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    if (!tcp) {
        fprintf(stderr, "12_tcp_processes: %s\n", why);
        return 1;
    }
    const uint32_t rank = coll_tcp_rank(tcp), p = coll_tcp_size(tcp);
    (void)gethostname(host, sizeof host - 1);
    snprintf(mine, sizeof mine, "rank %u of %u on %s", rank, p, host);
    status = coll_comm_init(&comm, &coll_tcp_transport, tcp, rank, p, memory, sizeof memory);
    if (status == COLL_OK && p <= MOST)
        status = coll_allgather(&comm, mine, all, WORDS, COLL_U8);
    if (status == COLL_OK)
        status = coll_comm_free(&comm);
    if (status != COLL_OK)
        fprintf(stderr, "rank %u: %s\n", rank, coll_status_text(status));
    for (uint32_t r = 0; rank == 0 && status == COLL_OK && r < p && r < MOST; r++)
        puts(all + r * WORDS);
    coll_tcp_close(tcp);
    return status == COLL_OK ? 0 : 1;
}
