/* coll/lab/tune/measure.h — one measurement: repeated by all ranks until the median is sure enough
 *
 *   static double round_trip(coll_bench *b, const void *how) { … return coll_bench_took(b, start, end); }
 *   coll_estimate e = coll_bench_measure(&bench, round_trip, &how, COLL_BENCH_ROOT);
 *
 * `round` does once on each rank what is measured, and returns how many nanoseconds it took there. It is done
 * twice to warm up, and then in batches, until the median is as precise as is wanted, or its share of the time is
 * over: rank 0 decides, and tells the others, so all have the result.
 */
#ifndef COLL_LAB_TUNE_MEASURE_H
#define COLL_LAB_TUNE_MEASURE_H

#include "bench_messages.h"

enum {
    COLL_BENCH_INNER = 4096, /* repetitions that are one value, at most */
    COLL_I_BENCH_NEWS = 6    /* numbers that a decision has */
};

/* Says on rank 0 what is measured now. */
COLL_INLINE void coll_bench_say(const coll_bench *b, const char *what)
{
    if (b->rank == 0 && b->options.say)
        b->options.say(b->options.arg, what);
}

/* Does once what is measured, and returns the nanoseconds that it took this rank. */
typedef double coll_bench_round(coll_bench *b, const void *how);

/* Whose time counts. */
typedef enum coll_bench_of { COLL_BENCH_ROOT, COLL_BENCH_SLOWEST } coll_bench_of;

/* The mean of so many rounds. */
COLL_INLINE double coll_i_bench_rounds(coll_bench *b, coll_bench_round *round, const void *how,
                                       uint32_t inner)
{
    double sum = 0;
    for (uint32_t i = 0; i < inner && b->status == COLL_OK; i++)
        sum += round(b, how);
    return sum / inner;
}

/* On rank 0: how many rounds are one value, so that the clock is fine enough; of rounds of so many ns,
 * of which the whole takes `all`. */
COLL_INLINE uint32_t coll_i_bench_inner(const coll_bench *b, double ns, double all)
{
    const double wanted = 40 * b->read_ns, most = 100 * wanted;
    double inner = 1;
    while (inner * ns < wanted && 2 * inner * all <= most &&
           2 * inner <= (double)COLL_BENCH_INNER)
        inner *= 2;
    return (uint32_t)inner;
}

/* Repeats a round on all ranks until rank 0 finds that it is enough. All ranks have the result. */
COLL_INLINE coll_estimate coll_bench_measure(coll_bench *b, coll_bench_round *round,
                                             const void *how, coll_bench_of whose)
{
    const double start = coll_bench_now(b);
    const double end =
        start + (b->deadline > start ? (b->deadline - start) / (b->left ? b->left : 1) : 0);
    double news[COLL_I_BENCH_NEWS] = {0, 0, 0, 0, 0, 0}, batch[COLL_BENCH_BATCH], warm;
    coll_estimate e = {0, 0, 0, 0, 0};
    coll_sample sample;
    uint32_t inner;
    coll_sample_clear(&sample);
    b->left -= b->left > 1 ? 1 : 0;
    coll_bench_sync(b);
    (void)round(b, how);
    warm = coll_bench_now(b);
    news[0] = round(b, how);
    warm = coll_bench_now(b) - warm;
    if (whose == COLL_BENCH_SLOWEST)
        coll_bench_largest(b, news, 1);
    news[0] = coll_i_bench_inner(b, news[0], warm);
    coll_bench_tell(b, news, 1);
    inner = (uint32_t)news[0];
    news[0] = 0;
    while (b->status == COLL_OK && news[0] < 1) {
        for (uint32_t i = 0; i < COLL_BENCH_BATCH; i++)
            batch[i] = coll_i_bench_rounds(b, round, how, inner);
        if (whose == COLL_BENCH_SLOWEST)
            coll_bench_largest(b, batch, COLL_BENCH_BATCH);
        for (uint32_t i = 0; i < COLL_BENCH_BATCH && b->rank == 0; i++)
            coll_sample_add(&sample, batch[i]);
        if (b->rank == 0) {
            e = coll_sample_estimate(&sample);
            news[0] = e.n + COLL_BENCH_BATCH > COLL_SAMPLE_MOST || e.n >= b->options.most ||
                      (e.n >= b->options.least &&
                       coll_estimate_is_precise(&e, b->options.precision)) ||
                      coll_bench_now(b) >= end;
            news[1] = e.median;
            news[2] = e.low;
            news[3] = e.high;
            news[4] = e.n;
            news[5] = e.outliers;
        }
        coll_bench_tell(b, news, COLL_I_BENCH_NEWS);
    }
    if (b->status == COLL_OK && b->rank > 0) {
        e.median = news[1];
        e.low = news[2];
        e.high = news[3];
        e.n = (uint32_t)news[4];
        e.outliers = (uint32_t)news[5];
    }
    return e;
}

#endif /* COLL_LAB_TUNE_MEASURE_H */
