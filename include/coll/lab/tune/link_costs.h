/* coll/lab/tune/link_costs.h — what messages share: links of a rank, pairs of ranks, permutations; barriers
 *
 *   coll_tune_links(&bench, &machine);         // all ranks
 *
 *   links      rank 0 has L links busy: it sends to ⌈L/2⌉ ranks and receives from ⌊L/2⌋, a message on each,
 *              and all start at the same time; over when all is received, here and there. f(L) is how
 *              much longer the bytes take than on one link: Littlefield's NBL. L up to 8, as ranks allow
 *   pairs      the first n ranks of the lower half send to as many of the upper one, eight messages each,
 *              and wait for an answer: what a pair alone has, and what many have of what they share. Where
 *              n pairs take as long as one, nothing is shared (DPML's zone A); where n times as long, all
 *   distance   each rank sends to the one k ranks on, and receives from the one k before: Kumar's permutations
 *   barrier    dissemination, of so many ranks
 *
 * Source: Littlefield 1992, section 2; Bayatpour et al. 2017, figure 1; Kumar 2004, slide 13.
 */
#ifndef COLL_LAB_TUNE_LINK_COSTS_H
#define COLL_LAB_TUNE_LINK_COSTS_H

#include "message_costs.h"

enum {
    COLL_TUNE_LINKS = 8,
    COLL_TUNE_SHORT = 8,      /* bytes of short messages, and */
    COLL_TUNE_LONG = 1 << 16, /* of long ones */
    COLL_TUNE_ROW = 8         /* messages of a pair */
};

/* Time for all ranks to hear when they begin. */
COLL_INLINE double coll_i_tune_margin(const coll_bench *b, const coll_machine_file *m)
{
    return (b->p + 2) * coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 0) + 5000;
}

COLL_INLINE double coll_i_tune_link_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const uint32_t out = (how->n + 1) / 2, in = how->n / 2;
    coll_bench_message m[2 * COLL_TUNE_LINKS];
    uint32_t n = 0;
    double start;
    if (b->rank == 0)
        coll_bench_prepare(b, b->out, how->bytes * out);
    else if (b->rank <= in)
        coll_bench_prepare(b, b->out, how->bytes);
    start = coll_bench_meet(b, how->wait_ns);
    if (b->rank == 0) {
        for (uint32_t i = 0; i < in; i++)
            m[n++] = coll_bench_from(1 + i, b->in + i * how->bytes, how->bytes);
        for (uint32_t i = 0; i < out; i++)
            m[n++] = coll_bench_to(1 + i, b->out + i * how->bytes, how->bytes);
        coll_bench_wait(b, m, n);
        for (uint32_t i = 0; i < out; i++)
            coll_bench_recv(b, 1 + i, NULL, 0);
    } else if (b->rank <= out) {
        m[n++] = coll_bench_from(0, b->in, how->bytes);
        if (b->rank <= in)
            m[n++] = coll_bench_to(0, b->out, how->bytes);
        coll_bench_wait(b, m, n);
        coll_bench_send(b, 0, NULL, 0);
    }
    return coll_bench_took(b, start, coll_bench_now(b));
}

COLL_INLINE double coll_i_tune_pair_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    const uint32_t half = b->p / 2;
    const bool sends = b->rank < how->n, receives = b->rank >= half && b->rank - half < how->n;
    double start;
    if (sends)
        coll_bench_prepare(b, b->out, how->bytes * COLL_TUNE_ROW);
    start = coll_bench_meet(b, how->wait_ns);
    if (sends) {
        coll_i_tune_stream(b, b->rank + half, true, how->bytes, COLL_TUNE_ROW);
        coll_bench_recv(b, b->rank + half, NULL, 0);
    } else if (receives) {
        coll_i_tune_stream(b, b->rank - half, false, how->bytes, COLL_TUNE_ROW);
        coll_bench_send(b, b->rank - half, NULL, 0);
    }
    return sends ? coll_bench_took(b, start, coll_bench_now(b)) / (double)COLL_TUNE_ROW : 0;
}

COLL_INLINE double coll_i_tune_distance_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    coll_bench_message m[2];
    double start;
    coll_bench_prepare(b, b->out, how->bytes);
    m[0] = coll_bench_from((b->rank + b->p - how->n) % b->p, b->in, how->bytes);
    m[1] = coll_bench_to((b->rank + how->n) % b->p, b->out, how->bytes);
    start = coll_bench_meet(b, how->wait_ns);
    coll_bench_wait(b, m, 2);
    return coll_bench_took(b, start, coll_bench_now(b));
}

COLL_INLINE double coll_i_tune_barrier_round(coll_bench *b, const void *arg)
{
    const coll_tune_how *how = (const coll_tune_how *)arg;
    double start;
    coll_bench_sync_of(b, how->n);
    start = coll_bench_now(b);
    coll_bench_sync_of(b, how->n);
    return coll_bench_took(b, start, coll_bench_now(b));
}

/* Doubles a number of ranks, but for the last step, which ends at `most`; above it when it was there. */
COLL_INLINE uint32_t coll_tune_next(uint32_t n, uint32_t most)
{
    return n >= most ? most + 1 : n > most / 2 ? most : 2 * n;
}

/* How many numbers coll_tune_next passes. */
COLL_INLINE uint32_t coll_tune_steps(uint32_t first, uint32_t most)
{
    uint32_t steps = 0;
    for (uint32_t n = first; n <= most; n = coll_tune_next(n, most))
        steps++;
    return steps;
}

/* Links that rank 0 can have busy. */
COLL_INLINE uint32_t coll_i_tune_links_most(const coll_bench *b)
{
    const uint32_t most = 2 * (b->p - 1);
    return most < COLL_TUNE_LINKS ? most : (uint32_t)COLL_TUNE_LINKS;
}

/* Measures one quantity of a size and a number. */
COLL_INLINE void coll_i_tune_one(coll_bench *b, coll_machine_file *m, coll_quantity quantity,
                                 coll_bench_round *round, size_t bytes, uint32_t n)
{
    coll_tune_how how = coll_tune_how_of(bytes, n);
    char variant[COLL_VARIANT_BYTES];
    coll_estimate e;
    how.wait_ns = coll_i_tune_margin(b, m);
    e = coll_bench_measure(
        b, round, &how, quantity == COLL_MEASURED_LINKS ? COLL_BENCH_ROOT : COLL_BENCH_SLOWEST);
    snprintf(variant, sizeof variant, "%lu", (unsigned long)bytes);
    coll_machine_add(m, quantity, quantity == COLL_MEASURED_BARRIER ? "" : variant, n, &e);
}

/* How many measurements coll_tune_links makes. */
COLL_INLINE uint32_t coll_tune_links_count(const coll_bench *b)
{
    if (b->p < 2)
        return 0;
    return 2 * (coll_i_tune_links_most(b) + coll_tune_steps(1, b->p / 2) +
                coll_tune_steps(1, b->p / 2)) +
           coll_tune_steps(2, b->p);
}

/* Measures links, pairs, distances and barriers, and adds them to *machine, on all ranks. After
 * coll_tune_messages. */
COLL_INLINE void coll_tune_links(coll_bench *b, coll_machine_file *machine)
{
    static const size_t sizes[] = {COLL_TUNE_SHORT, COLL_TUNE_LONG};
    if (b->p < 2)
        return;
    coll_bench_say(b, "links");
    for (int s = 0; s < 2; s++)
        for (uint32_t n = 1; n <= coll_i_tune_links_most(b); n++)
            coll_i_tune_one(b, machine, COLL_MEASURED_LINKS, coll_i_tune_link_round, sizes[s],
                            n);
    coll_bench_say(b, "pairs");
    for (int s = 0; s < 2; s++)
        for (uint32_t n = 1; n <= b->p / 2; n = coll_tune_next(n, b->p / 2))
            coll_i_tune_one(b, machine, COLL_MEASURED_PAIRS, coll_i_tune_pair_round, sizes[s],
                            n);
    coll_bench_say(b, "distances");
    for (int s = 0; s < 2; s++)
        for (uint32_t n = 1; n <= b->p / 2; n = coll_tune_next(n, b->p / 2))
            coll_i_tune_one(b, machine, COLL_MEASURED_DISTANCE, coll_i_tune_distance_round,
                            sizes[s], n);
    coll_bench_say(b, "barriers");
    for (uint32_t n = 2; n <= b->p; n = coll_tune_next(n, b->p))
        coll_i_tune_one(b, machine, COLL_MEASURED_BARRIER, coll_i_tune_barrier_round, 0, n);
}

/* ---- what follows from it -------------------------------------------------------------------------- */

COLL_INLINE double coll_i_tune_of(const coll_machine_file *m, coll_quantity quantity,
                                  const char *variant, double at)
{
    const coll_estimate *e = coll_machine_find(m, quantity, variant, at);
    return e ? e->median : 0;
}

/* f(L), from what long messages take more than short ones; 0: it was not measured. */
COLL_INLINE double coll_tune_f(const coll_machine_file *m, uint32_t links)
{
    const double one = coll_i_tune_of(m, COLL_MEASURED_LINKS, "65536", 1) -
                       coll_i_tune_of(m, COLL_MEASURED_LINKS, "8", 1);
    const double all = coll_i_tune_of(m, COLL_MEASURED_LINKS, "65536", links) -
                       coll_i_tune_of(m, COLL_MEASURED_LINKS, "8", links);
    return one > 0 && all > 0 ? all / one : 0;
}

#endif /* COLL_LAB_TUNE_LINK_COSTS_H */
