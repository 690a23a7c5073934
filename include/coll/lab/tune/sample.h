/* coll/lab/tune/sample.h — what repeated measurements say: a median, how sure it is, outliers
 *
 *   coll_sample sample;
 *   coll_sample_clear(&sample);
 *   do
 *       coll_sample_add(&sample, measure());
 *   while (!coll_estimate_is_precise(…, .02) && sample.n < 100);
 *   coll_estimate e = coll_sample_estimate(&sample);
 *
 * Times of messages have a long tail, so means and standard deviations tell little. The estimate is
 * the median, and its interval of confidence, which holds it in 95 of 100 cases, is between two
 * order statistics: no distribution is assumed. Outliers are beyond Tukey's fences, one and a half
 * interquartile ranges below the first quartile or above the third. They are counted, not dropped;
 * the median does not mind.
 *
 * Source: Le Boudec 2010, Performance Evaluation of Computer and Communication Systems, 2.2; Tukey 1977.
 * Hosted: libm and stdlib.
 */
#ifndef COLL_LAB_TUNE_SAMPLE_H
#define COLL_LAB_TUNE_SAMPLE_H

#include "../model/machine_file.h"

#include <math.h>
#include <stdlib.h>

enum { COLL_SAMPLE_MOST = 512 };

/* Values in the order in which they came, or, after coll_sample_estimate, by size. */
typedef struct coll_sample {
    double value[COLL_SAMPLE_MOST];
    uint32_t n; /* how many */
} coll_sample;

/* No values. */
COLL_INLINE void coll_sample_clear(coll_sample *sample)
{
    sample->n = 0;
}

/* One more, if there is room. */
COLL_INLINE void coll_sample_add(coll_sample *sample, double value)
{
    if (sample->n < COLL_SAMPLE_MOST)
        sample->value[sample->n++] = value;
}

COLL_INLINE int coll_i_sample_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value below which so large a part of the values is, 0 … 1; they are sorted, and there are some. */
COLL_INLINE double coll_i_sample_quantile(const coll_sample *sample, double part)
{
    const double at = part * (sample->n - 1.0);
    const uint32_t i = (uint32_t)at;
    if (i + 1 >= sample->n)
        return sample->value[sample->n - 1];
    return sample->value[i] + (at - i) * (sample->value[i + 1] - sample->value[i]);
}

/* The median with its interval of confidence: of less than six values all of them. Sorts the values. */
COLL_INLINE coll_estimate coll_sample_estimate(coll_sample *sample)
{
    const uint32_t n = sample->n;
    const double half = 0.98 * sqrt((double)n), low = floor(n / 2.0 - half),
                 high = ceil(n / 2.0 + half);
    coll_estimate e = {0, 0, 0, 0, 0};
    double first, third;
    if (n == 0)
        return e;
    qsort(sample->value, n, sizeof sample->value[0], coll_i_sample_order);
    first = coll_i_sample_quantile(sample, .25);
    third = coll_i_sample_quantile(sample, .75);
    e.median = coll_i_sample_quantile(sample, .5);
    e.low = sample->value[low >= 1 && n >= 6 ? (uint32_t)low - 1 : 0];
    e.high = sample->value[high < n && n >= 6 ? (uint32_t)high : n - 1];
    e.n = n;
    for (uint32_t i = 0; i < n; i++)
        e.outliers += sample->value[i] < first - 1.5 * (third - first) ||
                              sample->value[i] > third + 1.5 * (third - first)
                          ? 1
                          : 0;
    return e;
}

/* Is the interval within this part of the median, to either side in the mean? */
COLL_INLINE bool coll_estimate_is_precise(const coll_estimate *e, double part)
{
    return e->n > 0 && e->high - e->low <= 2 * part * fabs(e->median);
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* y = a + b x. */
typedef struct coll_line {
    double a, b;
} coll_line;

/* The line with a ≥ 0 and b ≥ 0 that is nearest to the points, by the squares of relative errors: a
 * point of 100 ns counts as much as one of 1 ms. y are not 0; n is 1 at least. */
COLL_INLINE coll_line coll_line_fit(const double *x, const double *y, uint32_t n)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;
    coll_line line;
    for (uint32_t i = 0; i < n; i++) {
        const double weight = 1 / (y[i] * y[i]);
        w += weight;
        wx += weight * x[i];
        wy += weight * y[i];
        wxx += weight * x[i] * x[i];
        wxy += weight * x[i] * y[i];
    }
    det = w * wxx - wx * wx;
    line.b = det > 1e-9 * w * wxx ? (w * wxy - wx * wy) / det : 0;
    line.a = (wy - line.b * wx) / w;
    if (line.a < 0 && wxx > 0) {
        line.a = 0;
        line.b = wxy / wxx;
    }
    if (line.b < 0) {
        line.b = 0;
        line.a = wy / w;
    }
    return line;
}

#endif /* COLL_LAB_TUNE_SAMPLE_H */
