/* coll/lab/tune/message_costs.h — P-LogP of messages between rank 0 and its peer, by Kielmann's method
 *
 *   coll_tune_messages(&bench, &machine);      // all ranks; two at least
 *
 * Of each size, on rank 0:
 *
 *   roundtrip  a message there, and an empty one back: RTT(m)
 *   os         the call that sends it, until it returns
 *   or         receiving a message that has been asked for, and has come: rank 0 waits for twice a round
 *              trip in between
 *   gap        what one more message takes of many that are sent in a row, eight at a time: half of what
 *              32 take more than 16 … of short ones; of long ones fewer
 *
 * As RTT(m) = L + g(m) + L + g(0): g(m) = RTT(m) − RTT(0) + g(0), with g(0) of the saturated network, and
 * L = RTT(0)/2 − g(0). A gap that is measured alone would leave out what hides in the latency.
 *
 * Source: Kielmann, Bal, Verstoep 2000, Fast measurement of LogP parameters for message passing platforms.
 */
#ifndef COLL_LAB_TUNE_MESSAGE_COSTS_H
#define COLL_LAB_TUNE_MESSAGE_COSTS_H

#include "clock_offsets.h"

/* What a round does: of which size, and how many messages, or how long to wait before. */
typedef struct coll_tune_how {
    size_t bytes;
    uint32_t n;     /* messages, links, pairs, or a distance */
    double wait_ns; /* until a message has come */
    const coll_op *op;
    size_t elem_bytes;
} coll_tune_how;

/* A round of this size. */
COLL_INLINE coll_tune_how coll_tune_how_of(size_t bytes, uint32_t n)
{
    coll_tune_how how = {0, 0, 0, NULL, 1};
    how.bytes = bytes;
    how.n = n;
    return how;
}

/* The sizes that are measured: 0, 8, 16 … up to the longest message. The first, and the next of one. */
COLL_INLINE size_t coll_tune_next_size(size_t bytes)
{
    return bytes == 0 ? 8 : 2 * bytes;
}

/* How many they are. */
COLL_INLINE uint32_t coll_tune_sizes(const coll_bench *b)
{
    uint32_t n = 1;
    for (size_t bytes = 8; bytes <= b->options.largest; bytes = coll_tune_next_size(bytes))
        n++;
    return n;
}

/* Between writing a message and sending it, as between a rank's data and a collective's beginning: what another
 * processor reads at once is still on its way out of the writer, which takes half as long again. */
enum { COLL_BENCH_SETTLE_NS = 5000 };

/* The peer receives a message and answers; rank 0 writes it. True: it is to send it now. */
COLL_INLINE bool coll_i_tune_sends(coll_bench *b, size_t bytes)
{
    if (b->rank == b->options.peer) {
        coll_bench_recv(b, 0, b->in, bytes);
        coll_bench_send(b, 0, NULL, 0);
    }
    if (b->rank == 0) {
        coll_bench_prepare(b, b->out, bytes);
        coll_bench_until(b, coll_bench_now(b) + (double)COLL_BENCH_SETTLE_NS);
    }
    return b->rank == 0;
}

COLL_INLINE double coll_i_tune_roundtrip(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    double start;
    if (!coll_i_tune_sends(b, how->bytes))
        return 0;
    start = coll_bench_now(b);
    coll_bench_send(b, b->options.peer, b->out, how->bytes);
    coll_bench_recv(b, b->options.peer, NULL, 0);
    return coll_bench_took(b, start, coll_bench_now(b));
}

/* The call that sends: of a message that is cut, all calls together. */
COLL_INLINE double coll_i_tune_os(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    coll_bench_message m = coll_bench_to(b->options.peer, b->out, how->bytes);
    double took = 0;
    if (!coll_i_tune_sends(b, how->bytes))
        return 0;
    while (!m.done && b->status == COLL_OK) {
        const bool asks = m.started;
        const double start = coll_bench_now(b);
        const coll_status status = coll_i_bench_move(b, &m);
        if (status < 0) {
            coll_i_bench_fail(b, status);
            coll_i_bench_cancel(b, &m, 1);
        } else if (status == COLL_AGAIN && b->transport->wait) {
            b->transport->wait(b->ctx, 1);
        } else if (!asks) {
            took += coll_bench_took(b, start, coll_bench_now(b));
        }
    }
    coll_bench_recv(b, b->options.peer, NULL, 0);
    return took;
}

COLL_INLINE double coll_i_tune_or(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    double start;
    if (b->rank == b->options.peer) {
        coll_bench_prepare(b, b->out, how->bytes);
        coll_bench_recv(b, 0, NULL, 0);
        coll_bench_send(b, 0, b->out, how->bytes);
    }
    if (b->rank > 0)
        return 0;
    coll_bench_send(b, b->options.peer, NULL, 0);
    coll_bench_until(b, coll_bench_now(b) + how->wait_ns);
    start = coll_bench_now(b);
    coll_bench_recv(b, b->options.peer, b->in, how->bytes);
    return coll_bench_took(b, start, coll_bench_now(b));
}

/* n messages to or from a peer, COLL_BENCH_FLIGHT at a time, each in memory of its own if it fits. */
COLL_INLINE void coll_i_tune_stream(coll_bench *b, uint32_t peer, bool sends, size_t bytes,
                                    uint32_t n)
{
    coll_bench_message m[COLL_BENCH_FLIGHT];
    const size_t apart = bytes * COLL_BENCH_FLIGHT <= b->options.largest ? bytes : 0;
    uint32_t first = 0, started = 0, most = COLL_BENCH_FLIGHT;
    m[0] = coll_bench_to(peer, NULL, bytes);
    if ((apart == 0 && bytes > 0) || coll_i_bench_piece(b, &m[0]) < bytes)
        most = 1; /* one place for all, or pieces of two messages could mix */
    while (first < n && b->status == COLL_OK) {
        while (started < n && started - first < most) {
            unsigned char *at =
                (sends ? b->out : b->in) + apart * (started % COLL_BENCH_FLIGHT);
            coll_bench_message *to = &m[started++ % COLL_BENCH_FLIGHT];
            *to = sends ? coll_bench_to(peer, at, bytes) : coll_bench_from(peer, at, bytes);
            (void)coll_i_bench_step(b, to);
        }
        coll_bench_wait(b, &m[first++ % COLL_BENCH_FLIGHT], 1);
    }
    for (; first < started; first++)
        coll_i_bench_cancel(b, &m[first % COLL_BENCH_FLIGHT], 1);
}

COLL_INLINE double coll_i_tune_stream_of(coll_bench *b, size_t bytes, uint32_t n)
{
    double start;
    if (b->rank == b->options.peer) {
        coll_i_tune_stream(b, 0, false, bytes, n);
        coll_bench_send(b, 0, NULL, 0);
    }
    if (b->rank > 0)
        return 0;
    start = coll_bench_now(b);
    coll_i_tune_stream(b, b->options.peer, true, bytes, n);
    coll_bench_recv(b, b->options.peer, NULL, 0);
    return coll_bench_took(b, start, coll_bench_now(b));
}

COLL_INLINE double coll_i_tune_gap(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const double few = coll_i_tune_stream_of(b, how->bytes, how->n);
    const double many = coll_i_tune_stream_of(b, how->bytes, 2 * how->n);
    return many > few ? (many - few) / how->n : 0;
}

/* Messages in a row from which the gap is read. */
COLL_INLINE uint32_t coll_i_tune_row(size_t bytes)
{
    return bytes <= 65536 ? 16 : bytes <= (size_t)1 << 20 ? 4 : 2;
}

/* Measures all sizes, and adds to *machine, on all ranks, what was measured. Nothing if there is but
 * one rank. */
COLL_INLINE void coll_tune_messages(coll_bench *b, coll_machine_file *machine)
{
    static coll_bench_round *const rounds[] = {coll_i_tune_roundtrip, coll_i_tune_os,
                                               coll_i_tune_or, coll_i_tune_gap};
    static const coll_quantity quantities[] = {COLL_MEASURED_ROUNDTRIP, COLL_MEASURED_OS,
                                               COLL_MEASURED_OR, COLL_MEASURED_GAP};
    for (size_t bytes = 0; b->p > 1 && bytes <= b->options.largest;
         bytes = coll_tune_next_size(bytes)) {
        coll_tune_how how = coll_tune_how_of(bytes, coll_i_tune_row(bytes));
        coll_bench_say(b, "messages");
        for (int i = 0; i < 4 && b->status == COLL_OK; i++) {
            const coll_estimate e = coll_bench_measure(b, rounds[i], &how, COLL_BENCH_ROOT);
            coll_machine_add(machine, quantities[i], "", (double)bytes, &e);
            if (i == 0)
                how.wait_ns = 2 * e.high + 2000;
        }
    }
}

/* ---- what follows from it -------------------------------------------------------------------------- */

COLL_INLINE double coll_i_tune_ns(const coll_machine_file *m, coll_quantity quantity, double at)
{
    const coll_estimate *e = coll_machine_find(m, quantity, "", at);
    return e ? e->median : 0;
}

/* At most `most`. */
COLL_INLINE double coll_i_tune_least(double value, double most)
{
    return value < most ? value : most;
}

/* Fills in the table of P-LogP, L and the columns os, or and g. The model has g(m) ≥ os(m) and or(m): the gap is
 * that of the slowest part, and no part is longer than the whole. */
COLL_INLINE void coll_tune_plogp(coll_machine_file *m)
{
    const double rtt = coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 0);
    double g0 = coll_i_tune_ns(m, COLL_MEASURED_GAP, 0);
    g0 = fmax(g0, fmax(coll_i_tune_ns(m, COLL_MEASURED_OS, 0),
                       coll_i_tune_ns(m, COLL_MEASURED_OR, 0)));
    g0 = coll_i_tune_least(g0, rtt / 2); /* L is not less than nothing */
    m->plogp.L_us = (rtt / 2 - g0) / 1000;
    m->plogp.n = 0;
    for (uint32_t i = 0; i < m->n && m->plogp.n < COLL_PLOGP_ROWS; i++) {
        coll_plogp_row *row = &m->plogp.row[m->plogp.n];
        const double at = m->measured[i].at, more = m->measured[i].is.median - rtt;
        const double g = fmax(more, 0) + g0;
        if (m->measured[i].quantity != COLL_MEASURED_ROUNDTRIP)
            continue;
        row->bytes = at;
        row->us[COLL_PLOGP_OS] =
            coll_i_tune_least(coll_i_tune_ns(m, COLL_MEASURED_OS, at), g) / 1000;
        row->us[COLL_PLOGP_OR] =
            coll_i_tune_least(coll_i_tune_ns(m, COLL_MEASURED_OR, at), g) / 1000;
        row->us[COLL_PLOGP_G] = g / 1000;
        m->plogp.n++;
    }
}

/* The values that were measured of a quantity and variant, and where: at most `most`. Returns how many. */
COLL_INLINE uint32_t coll_tune_points(const coll_machine_file *m, coll_quantity quantity,
                                      const char *variant, double *x, double *y, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n && n < most; i++)
        if (m->measured[i].quantity == quantity &&
            strcmp(m->measured[i].variant, variant) == 0 && m->measured[i].is.median > 0) {
            x[n] = m->measured[i].at;
            y[n++] = m->measured[i].is.median;
        }
    return n;
}

/* Fits LogGP and Hockney to the round trips: α + β m is the way there, by least squares of relative
 * errors; o is the mean of both overheads of an empty message, g the gap between such, and L the rest. */
COLL_INLINE void coll_tune_loggp(coll_machine_file *m)
{
    double x[64], y[64];
    const double back = coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 0) / 2;
    const double os = coll_i_tune_ns(m, COLL_MEASURED_OS, 0);
    const double o_receive = coll_i_tune_ns(m, COLL_MEASURED_OR, 0);
    const uint32_t n = coll_tune_points(m, COLL_MEASURED_ROUNDTRIP, "", x, y, 64);
    coll_line line;
    double o = (os + o_receive) / 2;
    for (uint32_t i = 0; i < n; i++)
        y[i] = y[i] > back ? y[i] - back : back;
    if (n == 0)
        return;
    line = coll_line_fit(x, y, n);
    o = 2 * o < back ? o : back / 2;
    m->hockney.alpha_us = line.a / 1000;
    m->hockney.beta_ns_per_byte = line.b;
    m->loggp.o_ns = o;
    m->loggp.L_ns = back - 2 * o;
    m->loggp.g_ns = coll_i_tune_ns(m, COLL_MEASURED_GAP, 0);
    m->loggp.G_ns_per_byte = line.b;
}

#endif /* COLL_LAB_TUNE_MESSAGE_COSTS_H */
