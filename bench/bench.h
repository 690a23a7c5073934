/* bench/bench.h — what the benchmarks share: a clock, medians, a sink, CSV
 *
 * A benchmark prints one CSV table on stdout, its header naming the unit of every column, and
 * progress on stderr. Things that are compared are measured in turn, round after round, so that
 * a change of clock speed or another program hits all of them; the median of the rounds is
 * reported, and the least where it helps to tell noise from cost.
 */
#ifndef COLL_BENCH_H
#define COLL_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_ROUNDS = 7 };

/* Nanoseconds of a clock that only goes forward. */
static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds that this thread has had a processor, which other programs on the machine do not
 * prolong. */
static inline double bench_busy(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The compiler must assume that memory at p is read and written here. */
static inline void bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the n ≥ 1 values. */
static inline double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, bench_compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Memory that is there, or the end. */
static inline void *bench_memory(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!memory) {
        fprintf(stderr, "no memory: %zu bytes\n", bytes);
        exit(1);
    }
    memset(memory, 0, (bytes + 127) / 64 * 64);
    return memory;
}

/* A generator of numbers that is the same on every machine; *state is anything. */
static inline uint32_t bench_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif /* COLL_BENCH_H */
