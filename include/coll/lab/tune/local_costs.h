/* coll/lab/tune/local_costs.h — what a rank does without others: copies, reductions; alone and at once;
 * what interrupts it; and serial reductions, of messages that have come
 *
 *   coll_tune_local(&bench, &machine);          // all ranks
 *
 *   copy.N     N ranks copy at the same time; copy.1 of all sizes, others of three
 *   combine    dst = dst ⊕ a: sums of f64 of all sizes, other operators and types of 32 KiB
 *   serial     rank 0 receives n messages of 8 bytes, which its children send at once: serial.0 alone,
 *              serial.1 combines each (Moody's serial reduction: C + L + n (r + c))
 *   noise      gaps in a row of readings of the clock: how many a second, and how long they are
 *
 * A transport that copies or combines (transport.h) does it here, too.
 *
 * Source: Moody 2003, section 4.1; Sottile, Minnich 2004 (fixed work quanta); Wu 2005, section 5.
 */
#ifndef COLL_LAB_TUNE_LOCAL_COSTS_H
#define COLL_LAB_TUNE_LOCAL_COSTS_H

#include "../../reduce.h"
#include "link_costs.h"

enum {
    COLL_TUNE_COPIED = 4096,      /* bytes of short copies in a row */
    COLL_TUNE_COMBINED = 1 << 15, /* bytes of vectors of other operators */
    COLL_TUNE_SERIAL = 8,         /* messages */
    COLL_TUNE_NOISE_MS = 40,      /* of a rank's time */
    COLL_TUNE_NOISE_RANKS = 8,
    COLL_I_TUNE_OPERATORS = 110 /* pairs of operators and types that exist, about */
};

/* ---- copies and reductions ------------------------------------------------------------------------- */

/* Waits for what the transport does. false: it does not do it. */
COLL_INLINE bool coll_i_tune_finish(coll_bench *b, coll_status status, coll_handle *h)
{
    if (status == COLL_ERR_CAPABILITY)
        return false;
    while (status == COLL_STARTED || status == COLL_AGAIN)
        status = b->transport->test(b->ctx, h) == COLL_OK ? COLL_OK : COLL_AGAIN;
    if (status < 0)
        coll_i_bench_fail(b, status);
    return true;
}

COLL_INLINE void coll_i_tune_copy(coll_bench *b, void *dst, const void *src, size_t bytes)
{
    coll_handle h = {{0, 0}};
    if (!b->transport->copy ||
        !coll_i_tune_finish(b, b->transport->copy(b->ctx, dst, src, bytes, &h), &h))
        memcpy(dst, src, bytes);
}

COLL_INLINE void coll_i_tune_combine(coll_bench *b, const coll_tune_how *how, void *dst,
                                     const void *a)
{
    coll_reduce_call call;
    coll_handle h = {{0, 0}};
    call.op = how->op;
    call.dst = dst;
    call.a = dst;
    call.b = a;
    call.elem_bytes = how->elem_bytes;
    call.count = how->bytes / how->elem_bytes;
    if (!b->transport->reduce ||
        !coll_i_tune_finish(b, b->transport->reduce(b->ctx, &call, &h), &h))
        how->op->combine(dst, dst, a, call.count, how->op->arg);
}

/* How many short ones in a row are measured together, so that the clock is fine enough. */
COLL_INLINE uint32_t coll_i_tune_in_row(size_t bytes)
{
    return bytes == 0 || bytes >= COLL_TUNE_COPIED ? 1 : (uint32_t)(COLL_TUNE_COPIED / bytes);
}

COLL_INLINE double coll_i_tune_copy_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const uint32_t row = coll_i_tune_in_row(how->bytes);
    double start;
    if (b->rank < how->n)
        coll_bench_prepare(b, b->out, how->bytes * row);
    if (how->n > 1)
        coll_bench_sync(b);
    if (b->rank >= how->n)
        return 0;
    start = coll_bench_now(b);
    for (uint32_t i = 0; i < row; i++)
        coll_i_tune_copy(b, b->in + i * how->bytes, b->out + i * how->bytes, how->bytes);
    return coll_bench_took(b, start, coll_bench_now(b)) / row;
}

/* n combinations of each vector. */
COLL_INLINE double coll_i_tune_combine_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const uint32_t row = coll_i_tune_in_row(how->bytes);
    double start;
    if (b->rank > 0)
        return 0;
    memset(b->in, 0x3f,
           how->bytes * row); /* products of what is left from others become tiny, and slow */
    coll_bench_prepare(b, b->out, how->bytes * row);
    start = coll_bench_now(b);
    for (uint32_t k = 0; k < how->n; k++)
        for (uint32_t i = 0; i < row; i++)
            coll_i_tune_combine(b, how, b->in + i * how->bytes, b->out + i * how->bytes);
    return coll_bench_took(b, start, coll_bench_now(b)) / row;
}

/* Measures combining, of `bytes`, if there is such an operator. */
COLL_INLINE void coll_i_tune_combining(coll_bench *b, coll_machine_file *m, coll_operator which,
                                       coll_type type, size_t bytes, uint32_t n)
{
    coll_tune_how how = coll_tune_how_of(bytes, n);
    char variant[64];
    coll_estimate e;
    coll_op op;
    if (coll_op_builtin(&op, which, type) != COLL_OK)
        return;
    how.op = &op;
    how.elem_bytes = coll_type_bytes(type);
    e = coll_bench_measure(b, coll_i_tune_combine_round, &how, COLL_BENCH_ROOT);
    snprintf(variant, sizeof variant, "%s%s_%s", n > 1 ? "twice_" : "",
             coll_operator_name(which), coll_type_name(type));
    coll_machine_add(m, COLL_MEASURED_COMBINE, variant, (double)bytes, &e);
}

/* ---- serial reductions ----------------------------------------------------------------------------- */

/* With op: each message is combined. */
COLL_INLINE double coll_i_tune_serial_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const uint32_t children = b->p - 1;
    double start;
    coll_bench_prepare(b, b->out, how->bytes);
    start = coll_bench_meet(b, how->wait_ns);
    for (uint32_t i = 0; i < how->n; i++) {
        const uint32_t child = 1 + i % children;
        if (b->rank == child)
            coll_bench_send(b, 0, b->out, how->bytes);
        if (b->rank > 0)
            continue;
        coll_bench_recv(b, child, b->in, how->bytes);
        if (how->op)
            coll_i_tune_combine(b, how, b->out, b->in);
    }
    return coll_bench_took(b, start, coll_bench_now(b));
}

COLL_INLINE void coll_i_tune_serials(coll_bench *b, coll_machine_file *m)
{
    coll_op op;
    if (b->p < 2 || coll_op_builtin(&op, COLL_SUM, COLL_F64) != COLL_OK)
        return;
    coll_bench_say(b, "serial reductions");
    for (int combines = 0; combines < 2; combines++)
        for (uint32_t n = 1; n <= COLL_TUNE_SERIAL; n++) {
            coll_tune_how how = coll_tune_how_of(sizeof(double), n);
            coll_estimate e;
            how.op = combines ? &op : NULL;
            how.elem_bytes = sizeof(double);
            how.wait_ns = coll_i_tune_margin(b, m);
            e = coll_bench_measure(b, coll_i_tune_serial_round, &how, COLL_BENCH_ROOT);
            coll_machine_add(m, COLL_MEASURED_SERIAL, combines ? "1" : "0", n, &e);
        }
}

/* ---- noise ----------------------------------------------------------------------------------------- */

/* What one rank's processor does besides, in numbers: interruptions a second, their mean in us, and how far
 * durations are from it (the coefficient of variation). */
typedef struct coll_tune_noise {
    double per_s, mean_us; /* how many a second, and how long */
    double variation;      /* standard deviation of durations, as a part of the mean */
} coll_tune_noise;

/* Reads the clock for some time. An interruption takes a microsecond at least, and ten times as long as
 * reading the clock. */
COLL_INLINE coll_tune_noise coll_i_tune_listen(coll_bench *b, coll_sample *durations)
{
    const double least = 10 * b->read_ns > 1000 ? 10 * b->read_ns : 1000;
    const double start = coll_bench_now(b), end = start + (double)COLL_TUNE_NOISE_MS * 1e6;
    double last = start, now = start, n = 0, sum = 0, squares = 0;
    coll_tune_noise is = {0, 0, 0};
    for (; now < end; last = now) {
        const double gap = (now = coll_bench_now(b)) - last - b->read_ns;
        if (gap < least)
            continue;
        n++;
        sum += gap;
        squares += gap * gap;
        coll_sample_add(durations, gap / 1000);
    }
    is.per_s = n / (now - start) * 1e9;
    is.mean_us = n > 0 ? sum / n / 1000 : 0;
    is.variation =
        n > 1 && sum > 0 ? sqrt(fabs(squares / n - sum / n * (sum / n))) / (sum / n) : 0;
    return is;
}

/* One rank after the other listens, up to COLL_TUNE_NOISE_RANKS of them. */
COLL_INLINE void coll_i_tune_noise(coll_bench *b, coll_machine_file *m)
{
    const uint32_t ranks =
        b->p < COLL_TUNE_NOISE_RANKS ? b->p : (uint32_t)COLL_TUNE_NOISE_RANKS;
    coll_tune_noise mean = {0, 0, 0};
    coll_bench_say(b, "noise");
    for (uint32_t rank = 0; rank < ranks && b->status == COLL_OK; rank++) {
        coll_sample durations;
        coll_estimate e = {0, 0, 0, 0, 0}, rate = {0, 0, 0, 1, 0};
        double news[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        coll_bench_sync(b);
        if (b->rank == rank) {
            coll_tune_noise is;
            coll_sample_clear(&durations);
            is = coll_i_tune_listen(b, &durations);
            e = coll_sample_estimate(&durations);
            news[0] = is.per_s;
            news[1] = is.mean_us;
            news[2] = is.variation;
            news[3] = e.median;
            news[4] = e.low;
            news[5] = e.high;
            news[6] = e.n;
            news[7] = e.outliers;
        }
        if (b->rank == rank && rank > 0)
            coll_bench_send(b, 0, news, sizeof news);
        if (b->rank == 0 && rank > 0)
            coll_bench_recv(b, rank, news, sizeof news);
        coll_bench_tell(b, news, 8);
        e.median = news[3];
        e.low = news[4];
        e.high = news[5];
        e.n = (uint32_t)news[6];
        e.outliers = (uint32_t)news[7];
        rate.median = rate.low = rate.high = news[0];
        coll_machine_add(m, COLL_MEASURED_NOISE, "per_s", rank, &rate);
        if (e.n > 0)
            coll_machine_add(m, COLL_MEASURED_NOISE, "us", rank, &e);
        mean.per_s += news[0] / ranks;
        mean.mean_us += news[0] * news[1] / ranks;
        mean.variation += news[2] / ranks;
    }
    if (!(mean.per_s > 0))
        return;
    m->noise.frequency_hz = mean.per_s;
    m->noise.duration_us = mean.mean_us / mean.per_s;
    snprintf(m->noise.distribution, sizeof m->noise.distribution, "%s",
             mean.variation < .3   ? "fixed"
             : mean.variation < .8 ? "uniform"
                                   : "exponential");
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* Sizes of copies at once. */
COLL_TABLE(size_t, coll_tune_copied, {1 << 12, 1 << 16, 1 << 20});
enum { COLL_I_TUNE_COPIED = sizeof coll_tune_copied / sizeof coll_tune_copied[0] };

COLL_INLINE void coll_i_tune_copies(coll_bench *b, coll_machine_file *m, uint32_t ranks,
                                    size_t bytes)
{
    const coll_tune_how how = coll_tune_how_of(bytes, ranks);
    const coll_estimate e = coll_bench_measure(
        b, coll_i_tune_copy_round, &how, ranks > 1 ? COLL_BENCH_SLOWEST : COLL_BENCH_ROOT);
    char variant[COLL_VARIANT_BYTES];
    snprintf(variant, sizeof variant, "%u", ranks);
    coll_machine_add(m, COLL_MEASURED_COPY, variant, (double)bytes, &e);
}

/* How many measurements coll_tune_local makes, at most. */
COLL_INLINE uint32_t coll_tune_local_count(const coll_bench *b)
{
    return 2 * coll_tune_sizes(b) + COLL_I_TUNE_COPIED * coll_tune_steps(2, b->p) +
           COLL_I_TUNE_OPERATORS + (b->p > 1 ? 2 * COLL_TUNE_SERIAL : 0);
}

/* Measures copies, reductions, serial reductions and noise, and adds them to *machine, on all ranks. */
COLL_INLINE void coll_tune_local(coll_bench *b, coll_machine_file *machine)
{
    coll_bench_say(b, "copies");
    for (size_t bytes = 8; bytes <= b->options.largest; bytes = coll_tune_next_size(bytes))
        coll_i_tune_copies(b, machine, 1, bytes);
    for (uint32_t n = 2; n <= b->p; n = coll_tune_next(n, b->p))
        for (int i = 0; i < COLL_I_TUNE_COPIED; i++)
            if (coll_tune_copied[i] <= b->options.largest)
                coll_i_tune_copies(b, machine, n, coll_tune_copied[i]);
    coll_bench_say(b, "reductions");
    for (size_t bytes = 8; bytes <= b->options.largest; bytes = coll_tune_next_size(bytes))
        coll_i_tune_combining(b, machine, COLL_SUM, COLL_F64, bytes, 1);
    coll_i_tune_combining(b, machine, COLL_SUM, COLL_F64, COLL_TUNE_COPIED, 2);
    for (coll_operator op = 0; op < COLL_OPERATORS; op++)
        for (coll_type type = 0; type < COLL_TYPES; type++)
            if (op != COLL_SUM || type != COLL_F64)
                coll_i_tune_combining(b, machine, op, type, COLL_TUNE_COMBINED, 1);
    coll_i_tune_serials(b, machine);
    coll_i_tune_noise(b, machine);
}

#endif /* COLL_LAB_TUNE_LOCAL_COSTS_H */
