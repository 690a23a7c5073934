/* examples/07_tcp_transport.c — processes that talk over TCP
 *
 * Four processes add up vectors over tcp.h. They are of one machine here, and so are connected before
 * they are started; ranks of several hosts would be connected by their launcher, and nothing else
 * would change.
 *
 *   cc -O2 -Iinclude examples/07_tcp_transport.c -o 07 && ./07
 */
#include <stdio.h>
#include <sys/wait.h>

#include "coll/comm.h"
#include "tcp.h"

enum { P = 4, COUNT = 100000 };

int main(void)
{
    static double x[COUNT], memory[2 * COUNT + 16];
    static int fd[P * P];
    static tcp me;
    coll_comm comm;
    uint32_t rank = 0, wrong = 0;
    int child = 0;
    if (!tcp_connect_all(P, fd)) {
        perror("07_tcp_transport");
        return 1;
    }
    while (rank < P - 1 && fork() == 0)
        rank++; /* the child goes on as the next rank */
    for (uint32_t a = 0; a < P; a++)
        for (uint32_t b = 0; b < P; b++)
            if (a != rank && a != b)
                (void)close(fd[a * P + b]); /* or nobody would notice that its rank has ended */
    coll_status status = tcp_init(&me, rank, P, &fd[rank * P]) ? COLL_OK : COLL_ERR_IO;
    if (status == COLL_OK)
        status = coll_comm_init(&comm, &tcp_transport, &me, rank, P, memory, sizeof memory);
    for (int i = 0; i < COUNT; i++)
        x[i] = rank + (double)i;
    if (status == COLL_OK)
        status = coll_allreduce(&comm, COLL_IN_PLACE, x, COUNT, COLL_F64, COLL_SUM);
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 6 + 4.0 * i; /* 0 + 1 + 2 + 3 and 4 i, exact */
    printf("rank %u: %s, %u wrong\n", rank, coll_status_text(status), wrong);
    tcp_close(&me);
    (void)wait(&child); /* the next rank, if there is one */
    return status != COLL_OK || wrong || child != 0;
}
