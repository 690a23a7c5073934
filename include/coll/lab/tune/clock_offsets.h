/* coll/lab/tune/clock_offsets.h — what a rank's clock shows when rank 0's shows something else
 *
 *   coll_bench_clocks(&bench, &machine);
 *   coll_bench_meet(&bench, 50e3);       // all ranks go on at the same time, 50 us from now at rank 0
 *
 * Rank 0 asks each rank for the time, again and again; the answer that came back soonest tells most: it
 * was given half of the round trip ago, or at most that half earlier or later. It does so twice, some time
 * apart, for the clocks' drift.
 *
 * Source: Cristian 1989; Hunold, Carpen-Amarie 2015, arXiv:1505.07734.
 */
#ifndef COLL_LAB_TUNE_CLOCK_OFFSETS_H
#define COLL_LAB_TUNE_CLOCK_OFFSETS_H

#include "measure.h"

enum { COLL_BENCH_ASKED = 40 };

/* What rank 0 knows of another clock: that is `ahead` of its own, or `unsure` more or less, at its `when`. */
typedef struct coll_bench_offset {
    double ahead, unsure, when;
} coll_bench_offset;

/* Rank 0 asks `peer`, which answers; all others do nothing. */
COLL_INLINE coll_bench_offset coll_i_bench_ask(coll_bench *b, uint32_t peer)
{
    coll_bench_offset is = {0, 1e18, 0};
    for (int i = 0; i < COLL_BENCH_ASKED && b->status == COLL_OK; i++) {
        double its = 0;
        if (b->rank == 0) {
            const double start = coll_bench_now(b);
            double end;
            coll_bench_send(b, peer, NULL, 0);
            coll_bench_recv(b, peer, &its, sizeof its);
            end = coll_bench_now(b);
            if (end - start < 2 * is.unsure) {
                is.unsure = (end - start) / 2;
                is.when = start + is.unsure;
                is.ahead = its - is.when;
            }
        } else if (b->rank == peer) {
            coll_bench_recv(b, 0, NULL, 0);
            its = coll_bench_now(b);
            coll_bench_send(b, 0, &its, sizeof its);
        }
    }
    return is;
}

/* What is not surely anything else is 0: clocks of one machine are one, and a drift that is guessed from two
 * guesses would be worse than none. */
COLL_INLINE double coll_i_bench_surely(double value, double unsure)
{
    return fabs(value) > unsure ? value : 0;
}

/* Compares all clocks with rank 0's, twice, `apart` ns from each other. Adds to `machine`, unless it is NULL, on
 * rank 0, how far from the truth each rank's offset may be, and how much its clock drifts. */
COLL_INLINE void coll_bench_clocks(coll_bench *b, coll_machine_file *machine, double apart)
{
    coll_bench_sync(b);
    for (uint32_t peer = 1; peer < b->p && b->status == COLL_OK; peer++) {
        const coll_bench_offset first = coll_i_bench_ask(b, peer);
        double news[3], moved;
        coll_bench_offset second;
        if (b->rank == 0)
            coll_bench_until(b, first.when + apart);
        second = coll_i_bench_ask(b, peer);
        moved = coll_i_bench_surely(second.ahead - first.ahead, first.unsure + second.unsure);
        news[0] = coll_i_bench_surely(second.ahead, second.unsure);
        news[1] = second.when > first.when ? moved / (second.when - first.when) : 0;
        news[2] = second.when;
        if (b->rank == 0)
            coll_bench_send(b, peer, news, sizeof news);
        else if (b->rank == peer)
            coll_bench_recv(b, 0, news, sizeof news);
        if (b->rank == peer && b->status == COLL_OK) {
            b->ahead = news[0];
            b->drift = news[1];
            b->since = news[2];
        }
        if (b->rank == 0 && machine) {
            const double drift = fabs(news[1]) * 1e6;
            coll_estimate is = {0, 0, 0, COLL_BENCH_ASKED, 0};
            is.median = is.high = second.unsure;
            coll_machine_add(machine, COLL_MEASURED_CLOCK, "unsure_ns", peer, &is);
            is.median = is.low = is.high = drift;
            is.n = 2;
            coll_machine_add(machine, COLL_MEASURED_CLOCK, "drift_ppm", peer, &is);
        }
    }
}

/* What this rank's clock shows when rank 0's shows `ns`. */
COLL_INLINE double coll_bench_here(const coll_bench *b, double ns)
{
    return ns + b->ahead + b->drift * (ns - b->since);
}

/* All ranks return at the same time, as well as clocks allow, after a barrier and `margin` ns. Returns
 * that time by this rank's clock. */
COLL_INLINE double coll_bench_meet(coll_bench *b, double margin)
{
    double at = 0;
    coll_bench_sync(b);
    if (b->rank == 0)
        at = coll_bench_now(b) + margin;
    coll_bench_tell(b, &at, 1);
    at = coll_bench_here(b, at);
    if (b->status == COLL_OK)
        coll_bench_until(b, at);
    return at;
}

#endif /* COLL_LAB_TUNE_CLOCK_OFFSETS_H */
