/* coll/lab/tune/bench_messages.h — messages of the bench, one or several at a time; and what all ranks do
 * together: a barrier, numbers that are told, and the largest of them
 *
 *   coll_bench_message m[2];
 *   m[0] = coll_bench_from(left, in, bytes);
 *   m[1] = coll_bench_to(right, out, bytes);
 *   coll_bench_wait(&bench, m, 2);
 *
 * Messages that are longer than the transport takes are cut, as the executor does.
 */
#ifndef COLL_LAB_TUNE_BENCH_MESSAGES_H
#define COLL_LAB_TUNE_BENCH_MESSAGES_H

#include "bench.h"

/* A message under way: in pieces, where the transport takes none so long. */
typedef struct coll_bench_message {
    uint32_t peer;
    bool sends;       /* or receives */
    bool started;     /* a piece is under way */
    void *buf;        /* the caller's */
    size_t bytes, at; /* at: bytes in pieces that are done */
    bool done;        /* all of it */
    coll_handle handle;
} coll_bench_message;

/* ---- messages ----------------------------------------------------------------------------------- */

/* A message to a peer, or from one. */
COLL_INLINE coll_bench_message coll_bench_to(uint32_t peer, void *buf, size_t bytes)
{
    coll_bench_message m;
    memset(&m, 0, sizeof m);
    m.peer = peer;
    m.sends = true;
    m.buf = buf;
    m.bytes = bytes;
    return m;
}

/* … from one. */
COLL_INLINE coll_bench_message coll_bench_from(uint32_t peer, void *buf, size_t bytes)
{
    coll_bench_message m = coll_bench_to(peer, buf, bytes);
    m.sends = false;
    return m;
}

COLL_INLINE size_t coll_i_bench_piece(const coll_bench *b, const coll_bench_message *m)
{
    const coll_transport *t =
        b->transport->routes ? b->transport->routes->to(b->ctx, m->peer) : b->transport;
    const size_t left = m->bytes - m->at;
    return t->max_bytes && left > t->max_bytes ? t->max_bytes : left;
}

/* Starts the next piece, or asks whether it is done. COLL_OK: something moved. */
COLL_INLINE coll_status coll_i_bench_move(coll_bench *b, coll_bench_message *m)
{
    const size_t piece = coll_i_bench_piece(b, m);
    char *at = m->buf ? (char *)m->buf + m->at : NULL;
    coll_status status;
    if (m->started)
        status = b->transport->test(b->ctx, &m->handle);
    else
        status = m->sends ? b->transport->send(b->ctx, m->peer, b->tag, at, piece, &m->handle)
                          : b->transport->recv(b->ctx, m->peer, b->tag, at, piece, &m->handle);
    if (status == COLL_STARTED) {
        m->started = true;
        return COLL_OK;
    }
    if (status != COLL_OK)
        return status;
    m->started = false;
    m->at += piece;
    m->done = m->at == m->bytes;
    memset(&m->handle, 0, sizeof m->handle);
    return COLL_OK;
}

/* The first error ends it, here and, if the transport can, on all ranks. */
COLL_INLINE void coll_i_bench_fail(coll_bench *b, coll_status status)
{
    const coll_failure *failure = b->transport->failure;
    b->status = status;
    if (failure && failure->abort && coll_i_abort_is_news(b->transport, status))
        failure->abort(b->ctx, b->tag, 1);
}

/* Gives up messages that are under way, after an error. */
COLL_INLINE void coll_i_bench_cancel(coll_bench *b, coll_bench_message *m, uint32_t n)
{
    const coll_failure *failure = b->transport->failure;
    for (uint32_t i = 0; failure && failure->cancel && i < n; i++)
        if (m[i].started && !m[i].done)
            failure->cancel(b->ctx, &m[i].handle);
}

/* Moves a message on, if it can be. COLL_OK: it was. */
COLL_INLINE coll_status coll_i_bench_step(coll_bench *b, coll_bench_message *m)
{
    const coll_status status =
        m->done || b->status != COLL_OK ? COLL_AGAIN : coll_i_bench_move(b, m);
    if (status < 0)
        coll_i_bench_fail(b, status);
    return status;
}

/* Moves messages, in order, until all are done. */
COLL_INLINE void coll_bench_wait(coll_bench *b, coll_bench_message *m, uint32_t n)
{
    uint32_t idle = 0, done = 0;
    while (b->status == COLL_OK && done < n) {
        bool moved = false;
        for (uint32_t i = done; i < n; i++)
            moved = coll_i_bench_step(b, &m[i]) == COLL_OK || moved;
        while (done < n && m[done].done)
            done++;
        idle = moved ? 0 : idle + 1;
        if (idle && b->transport->wait)
            b->transport->wait(b->ctx, idle);
    }
    if (b->status != COLL_OK)
        coll_i_bench_cancel(b, m, n);
}

/* Sends, and returns when the buffer is free. */
COLL_INLINE void coll_bench_send(coll_bench *b, uint32_t peer, void *buf, size_t bytes)
{
    coll_bench_message m = coll_bench_to(peer, buf, bytes);
    coll_bench_wait(b, &m, 1);
}

/* Receives. */
COLL_INLINE void coll_bench_recv(coll_bench *b, uint32_t peer, void *buf, size_t bytes)
{
    coll_bench_message m = coll_bench_from(peer, buf, bytes);
    coll_bench_wait(b, &m, 1);
}

/* ---- all ranks ---------------------------------------------------------------------------------- */

/* None of the first n ranks leaves before all of them have come: a dissemination barrier of empty
 * messages. Others do nothing. */
COLL_INLINE void coll_bench_sync_of(coll_bench *b, uint32_t n)
{
    for (uint32_t k = 1; b->rank < n && k < n && b->status == COLL_OK;
         k = k > n / 2 ? n : 2 * k) {
        coll_bench_message m[2];
        m[0] = coll_bench_from((b->rank + n - k) % n, NULL, 0);
        m[1] = coll_bench_to((b->rank + k) % n, NULL, 0);
        coll_bench_wait(b, m, 2);
    }
}

/* A barrier of all ranks. */
COLL_INLINE void coll_bench_sync(coll_bench *b)
{
    coll_bench_sync_of(b, b->p);
}

/* Gives all ranks rank 0's numbers: along a binomial tree. */
COLL_INLINE void coll_bench_tell(coll_bench *b, double *numbers, uint32_t n)
{
    uint32_t k = 1;
    while (k < b->p && !(b->rank & k))
        k *= 2;
    if (b->rank > 0)
        coll_bench_recv(b, b->rank - k, numbers, n * sizeof *numbers);
    for (k /= 2; k > 0; k /= 2)
        if (b->rank + k < b->p)
            coll_bench_send(b, b->rank + k, numbers, n * sizeof *numbers);
}

/* Gives rank 0 the largest of all ranks' numbers, of COLL_BENCH_BATCH at most. */
COLL_INLINE void coll_bench_largest(coll_bench *b, double *numbers, uint32_t n)
{
    double other[COLL_BENCH_BATCH];
    for (uint32_t k = 1; k < b->p; k *= 2) {
        if (b->rank & k) {
            coll_bench_send(b, b->rank - k, numbers, n * sizeof *numbers);
            return;
        }
        if (b->rank + k >= b->p)
            continue;
        coll_bench_recv(b, b->rank + k, other, n * sizeof *numbers);
        for (uint32_t i = 0; i < n && b->status == COLL_OK; i++)
            numbers[i] = other[i] > numbers[i] ? other[i] : numbers[i];
    }
}

#endif /* COLL_LAB_TUNE_BENCH_MESSAGES_H */
