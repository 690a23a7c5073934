/* examples/01_custom_transport.c — a transport of one's own: processes that talk through sockets
 *
 * Shows all that the library needs from a messaging layer: send, recv and test. Four processes, forked from
 * this one, run an allreduce and a barrier through Unix datagram sockets. Such a socket keeps messages
 * apart and in order, and what it cannot do at once is answered by COLL_AGAIN: the library asks again.
 *
 *   cc -Iinclude examples/01_custom_transport.c -o 01 && ./01
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/comm.h"

enum { P = 4, COUNT = 10000 };

/* ctx is a rank's sockets, one to each peer. A tag is not needed: with tags = 0 the library runs one collective at a time. */
static coll_status socket_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    (void)tag, (void)h;
    if (send(((int *)ctx)[peer], buf, bytes, MSG_DONTWAIT) >= 0)
        return COLL_OK; /* the system has copied it */
    return errno == EAGAIN || errno == ENOBUFS ? COLL_AGAIN : COLL_ERR_IO;
}

static coll_status socket_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                               coll_handle *h)
{
    (void)tag, (void)h;
    const ssize_t n = recv(((int *)ctx)[peer], buf, bytes, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0)
        return errno == EAGAIN ? COLL_AGAIN : COLL_ERR_IO;
    return (size_t)n == bytes ? COLL_OK : COLL_ERR_SIZE;
}

static coll_status socket_test(void *ctx, coll_handle *h)
{
    (void)ctx,
        (void)h; /* nothing is ever left in flight: the others never return COLL_STARTED */
    return COLL_OK;
}

static void socket_wait(void *ctx, uint32_t idle)
{
    (void)ctx, (void)idle;
    sched_yield();
}

static const coll_transport socket_transport = {.send = socket_send,
                                                .recv = socket_recv,
                                                .test = socket_test,
                                                .wait = socket_wait,   /* optional */
                                                .max_bytes = 1 << 14}; /* longer ones are cut */

/* One rank: the sum over all ranks of rank + i, element by element; 0 if it is right. */
static int rank_main(uint32_t rank, int *sockets)
{
    static double x[COUNT], memory[2 * COUNT + 16];
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, &socket_transport, sockets, rank, P, memory, sizeof memory);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = rank + (double)i;
    if (status == COLL_OK)
        status = coll_allreduce(&comm, COLL_IN_OUT, x, COUNT, COLL_F64, COLL_SUM);
    if (status == COLL_OK)
        status = coll_barrier(&comm);
    int wrong = status != COLL_OK;
    for (size_t i = 0; i < COUNT; i++)
        wrong |=
            x[i] < P * (P - 1) / 2 + P * (double)i || x[i] > P * (P - 1) / 2 + P * (double)i;
    printf("rank %u: %s%s\n", rank, coll_status_text(status), wrong ? ", wrong" : ", right");
    return wrong;
}

int main(void)
{
    int sockets[P][P], pair[2], failed = 0, end;
    for (int a = 0; a < P; a++)
        for (int b = a + 1; b < P; b++) {
            if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
                return perror("socketpair"), 1;
            sockets[a][b] = pair[0];
            sockets[b][a] = pair[1];
        }
    for (uint32_t rank = 0; rank < P; rank++)
        if (fork() == 0) {
            alarm(60); /* should a rank fail, the others do not wait for ever */
            return rank_main(rank, sockets[rank]);
        }
    for (int i = 0; i < P; i++)
        failed |= wait(&end) < 0 || end != 0;
    return failed;
}
