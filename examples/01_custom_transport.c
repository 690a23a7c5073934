/* examples/01_custom_transport.c — a transport of one's own: processes that talk through sockets
 *
 * All that the library needs is send, recv and test. Four processes run an allreduce through Unix
 * datagram sockets, which keep messages apart and in order. What a socket cannot do at once is
 * answered by COLL_AGAIN: the library asks again.
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
static int sockets[P][P]; /* sockets[a][b] is a's end of the pair between a and b */

/* ctx is this rank's row of sockets. They have no tags, so one collective runs at a time. */
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
    (void)ctx, (void)h;
    return COLL_OK; /* never asked: the others do not return COLL_STARTED */
}

static void socket_wait(void *ctx, uint32_t idle) /* optional: between tries, let others run */
{
    (void)ctx, (void)idle;
    sched_yield();
}

static const coll_transport transport = {.send = socket_send,
                                         .recv = socket_recv,
                                         .test = socket_test,
                                         .wait = socket_wait,
                                         .max_bytes = 1 << 14};

int main(void)
{
    static double x[COUNT], memory[2 * COUNT + 16];
    uint32_t rank = 0, wrong = 0;
    for (int a = 0, pair[2]; a < P; a++)
        for (int b = a + 1; b < P && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0; b++)
            sockets[a][b] = pair[0], sockets[b][a] = pair[1];
    while (rank < P - 1 && fork() == 0)
        rank++; /* the child goes on as the next rank */
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, &transport, sockets[rank], rank, P, memory, sizeof memory);
    for (int i = 0; i < COUNT; i++)
        x[i] = rank + (double)i;
    if (status == COLL_OK)
        status = coll_allreduce(&comm, COLL_IN_PLACE, x, COUNT, COLL_F64, COLL_SUM);
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 6 + 4.0 * i; /* 0 + 1 + 2 + 3 and 4 i, exact */
    printf("rank %u: %s, %u wrong\n", rank, coll_status_text(status), wrong);
    int child = 0;
    wait(&child); /* the next rank, if there is one */
    return status != COLL_OK || wrong || child != 0;
}
