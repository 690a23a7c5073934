/* mpi/tests/differential/messages.c — ordinary messages among the collectives */
#include <stdlib.h>

#include "differential.h"

static int content(const struct message *m, int sender, int i)
{
    return (sender * 31 + m->tag * 7 + i) ^ 0x5a5a;
}

void message_make(struct message *m, const struct communicator *on, int tag, struct stream *s)
{
    const int shift = below(s, on->size);
    m->comm = on->comm;
    m->tag = tag;
    m->n = chance(s, 30) ? 20000 + below(s, 5000) : below(s, 100);
    m->persistent = chance(s, 30);
    m->synchronous = chance(s, 20);
    m->to = (on->rank + shift) % on->size;
    m->from = (on->rank + on->size - shift) % on->size;
    m->sent = malloc((size_t)(2 * m->n + 1) * sizeof(int));
    m->received = m->sent + m->n;
    for (int i = 0; i < m->n; i++) {
        m->sent[i] = content(m, on->rank, i);
        m->received[i] = -1;
    }
}

/* Both ends; persistent ones are not started yet. */
void message_begin(const struct message *m, MPI_Request *send, MPI_Request *recv)
{
    if (m->persistent) {
        MPI_Recv_init(m->received, m->n, MPI_INT, m->from, m->tag, m->comm, recv);
        (m->synchronous ? MPI_Ssend_init : MPI_Send_init)(m->sent, m->n, MPI_INT, m->to, m->tag,
                                                          m->comm, send);
    } else {
        MPI_Irecv(m->received, m->n, MPI_INT, m->from, m->tag, m->comm, recv);
        (m->synchronous ? MPI_Issend : MPI_Isend)(m->sent, m->n, MPI_INT, m->to, m->tag,
                                                  m->comm, send);
    }
}

void message_check(const struct message *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->received[i] != content(m, m->from, i)) {
            complain("an ordinary message of %d ints with tag %d: element %d is %d", m->n,
                     m->tag, i, m->received[i]);
            return;
        }
}

void message_free(struct message *m)
{
    free(m->sent);
}

void exchange(enum exchange kind, bool first, const struct communicator *on, int tag)
{
    enum { LONG = 30000 };
    static int a[LONG], b[LONG];
    const int with = on->rank ^ 1, me = on->rank;
    const bool even = me % 2 == 0;
    MPI_Status status;
    MPI_Comm comm;
    int flag = 0, sum = 0;
    if (kind == BY_BARRIER && first == even)
        MPI_Barrier(on->comm);
    if (kind == BY_DUP && first == even) {
        MPI_Comm_dup(on->comm, &comm);
        MPI_Comm_free(&comm);
    }
    if (kind == BY_SPLIT && first == even) {
        MPI_Comm_split(on->comm, me % 2, me, &comm);
        MPI_Comm_free(&comm);
    }
    if (kind == BY_ALLREDUCE && first == even) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, on->comm);
        if (sum != on->size * (on->size - 1) / 2)
            complain("an allreduce between others says %d", sum);
    }
    if (first != even || with >= on->size)
        return;
    switch (kind) {
    case BY_PROBE:
    case BY_IPROBE:
    case BY_MPROBE:
    case BY_RECV:
        if (even) {
            if (kind == BY_PROBE)
                MPI_Probe(with, tag, on->comm, &status);
            while (kind == BY_IPROBE && !flag)
                MPI_Iprobe(with, tag, on->comm, &flag, &status);
            if (kind == BY_MPROBE) {
                MPI_Message message;
                MPI_Mprobe(with, tag, on->comm, &message, &status);
                MPI_Mrecv(a, LONG, MPI_INT, &message, &status);
            } else {
                MPI_Recv(a, LONG, MPI_INT, with, tag, on->comm, &status);
            }
            if (a[0] != with)
                complain("a message while collectives are under way says %d, not %d", a[0],
                         with);
        } else {
            a[0] = me;
            MPI_Send(a, 5, MPI_INT, with, tag, on->comm);
        }
        break;
    case BY_SEND:
    case BY_SSEND:
        if (even && kind == BY_SEND)
            MPI_Send(a, LONG, MPI_INT, with, tag, on->comm);
        else if (even)
            MPI_Ssend(a, 1, MPI_INT, with, tag, on->comm);
        else
            MPI_Recv(a, LONG, MPI_INT, with, tag, on->comm, &status);
        break;
    case BY_SENDRECV:
        a[0] = me;
        MPI_Sendrecv(a, LONG, MPI_INT, with, tag, b, LONG, MPI_INT, with, tag, on->comm,
                     &status);
        if (b[0] != with)
            complain("MPI_Sendrecv while collectives are under way says %d, not %d", b[0],
                     with);
        break;
    case BY_REPLACE:
        a[0] = me;
        MPI_Sendrecv_replace(a, LONG, MPI_INT, with, tag, with, tag, on->comm, &status);
        if (a[0] != with)
            complain("MPI_Sendrecv_replace while collectives are under way says %d, not %d",
                     a[0], with);
        break;
    default:
        break;
    }
}
