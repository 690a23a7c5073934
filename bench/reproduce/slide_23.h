/* bench/reproduce/slide_23.h — the measurements of Kumar 2004: nodes, and MB/s per node each way. k
 * is 8 (slide 29). */
#ifndef COLL_BENCH_REPRODUCE_SLIDE_23_H
#define COLL_BENCH_REPRODUCE_SLIDE_23_H

#include "coll/lab/model/kumar.h"

#include "quadrics.h"

static const struct {
    coll_kumar_algorithm algorithm;
    uint32_t P;
    double MB_per_s;
} slide_23[] = {{COLL_KUMAR_DIRECT, 64, 123},   {COLL_KUMAR_DIRECT, 128, 99},
                {COLL_KUMAR_DIRECT, 144, 94},   {COLL_KUMAR_DIRECT, 256, 95},
                {COLL_KUMAR_PREFIX, 64, 260},   {COLL_KUMAR_PREFIX, 128, 224},
                {COLL_KUMAR_PREFIX, 256, 215},  {COLL_KUMAR_KPREFIX, 64, 265},
                {COLL_KUMAR_KPREFIX, 128, 259}, {COLL_KUMAR_KPREFIX, 144, 261},
                {COLL_KUMAR_KPREFIX, 256, 256}};
enum { CELLS = sizeof slide_23 / sizeof slide_23[0] };

/* The row of the registry. */
static inline const char *row_of(coll_kumar_algorithm algorithm)
{
    return algorithm == COLL_KUMAR_DIRECT   ? "linear"
           : algorithm == COLL_KUMAR_RING   ? "ring"
           : algorithm == COLL_KUMAR_PREFIX ? "prefix"
                                            : "kprefix";
}

/* What leaves a node: MPI's messages are in main memory. */
static inline quadrics_from from_of(coll_kumar_algorithm algorithm)
{
    return algorithm == COLL_KUMAR_DIRECT ? QUADRICS_MAIN : QUADRICS_KEPT;
}

#endif /* COLL_BENCH_REPRODUCE_SLIDE_23_H */
