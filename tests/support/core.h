/* tests/support/core.h — a folded core of ranks, its digits and mirrors, by definition
 *
 *   const core of = core_of(p, k);
 *   for (uint32_t t = 0; t < of.rounds; t++)
 *       … of.radix[t], core_digit(&of, number, t) …
 *
 * For tests of what is built on the folds and exchanges of plan/topo.h.
 */
#ifndef COLL_TESTS_ALGOS_CORE_H
#define COLL_TESTS_ALGOS_CORE_H

#include "walk.h"

/* Radices with which cores of p ≤ 64 have all kinds of highest digits. */
static const uint32_t core_radices[] = {2, 3, 4, 5, 8, 63, 64};
enum { CORE_RADICES = sizeof core_radices / sizeof *core_radices };

typedef struct core {
    uint32_t p, k, size, extra, rounds;
    uint32_t radix[7], stride[7]; /* of each round */
    uint32_t messages;            /* of the rounds, that each rank of the core sends */
} core;

static inline core core_of(uint32_t p, uint32_t k)
{
    core of;
    uint32_t power = 1;
    memset(&of, 0, sizeof of);
    of.p = p;
    of.k = k;
    for (; power <= p / k; power *= k) {
        of.stride[of.rounds] = power;
        of.radix[of.rounds++] = k;
    }
    if (p / power > 1) {
        of.stride[of.rounds] = power;
        of.radix[of.rounds++] = p / power;
    }
    of.extra = p % power;
    of.size = p - of.extra;
    for (uint32_t t = 0; t < of.rounds; t++)
        of.messages += of.radix[t] - 1;
    return of;
}

/* Hands its data over, and waits. */
static inline bool core_idle(const core *of, uint32_t rank)
{
    return rank < 2 * of->extra && rank % 2 == 0;
}

/* Has a step before the rounds. */
static inline bool core_folded(const core *of, uint32_t rank)
{
    return rank < 2 * of->extra && rank % 2 == 1;
}

static inline uint32_t core_number(const core *of, uint32_t rank)
{
    uint32_t number = 0;
    for (uint32_t r = 0; r < rank; r++)
        number += core_idle(of, r) ? 0 : 1;
    return number;
}

static inline uint32_t core_rank(const core *of, uint32_t number)
{
    uint32_t rank = 0;
    while (core_idle(of, rank) || core_number(of, rank) != number)
        rank++;
    return rank;
}

/* Steps of the rounds; `combines`: those of more than two ranks end with one in which nothing is
 * sent. */
static inline size_t core_steps(const core *of, bool combines)
{
    size_t steps = of->messages;
    for (uint32_t t = 0; combines && t < of->rounds; t++)
        steps += of->radix[t] > 2 ? 1 : 0;
    return steps;
}

static inline uint32_t core_digit(const core *of, uint32_t number, uint32_t t)
{
    return number / of->stride[t] % of->radix[t];
}

/* The interval of mirrors that a number's lowest `rounds` digits tell. */
static inline coll_mirrors core_mirrors(const core *of, uint32_t number, uint32_t rounds)
{
    coll_mirrors m = {0, of->size};
    for (uint32_t t = 0; t < rounds; t++) {
        m.span /= of->radix[t];
        m.first += core_digit(of, number, t) * m.span;
    }
    return m;
}

/* Ranks for which `span` numbers from `first` on stand: those below `first + span` without those
 * below `first`. */
static inline uint32_t core_ranks(const core *of, uint32_t first, uint32_t span)
{
    const uint32_t end = first + span;
    return span + (end < of->extra ? end : of->extra) - (first < of->extra ? first : of->extra);
}

/* Step `step` of a rank of the core without the one that folding puts before. */
static inline unsigned core_step(const coll_plan *plan, const core *of, uint32_t rank,
                                 size_t step, coll_action *out)
{
    return coll_plan_step(plan, rank, step + (core_folded(of, rank) ? 1 : 0), out);
}

/* The send, or the receive, of a step, if it has one. */
static inline const coll_action *core_message(const coll_action *acts, unsigned n, bool send)
{
    for (unsigned i = 0; i < n; i++)
        if (send ? is_send(&acts[i]) : is_receive(&acts[i]))
            return &acts[i];
    return NULL;
}

/* Where the longest way through the rounds ends that begins at a number: in a round of r members it
 * goes 1, 2 … r−1 of them on. */
static inline uint32_t core_end(const core *of, uint32_t number)
{
    uint32_t end = 0;
    for (uint32_t t = 0; t < of->rounds; t++) {
        const uint32_t r = of->radix[t];
        end += (core_digit(of, number, t) + r * (r - 1) / 2) % r * of->stride[t];
    }
    return end;
}

/* How many messages of folding are on the longest way through all: two, if it begins and ends at
 * ranks into which others are folded. */
static inline uint32_t core_folds(const core *of)
{
    uint32_t folds = 0;
    for (uint32_t number = 0; number < of->extra; number++)
        folds = core_end(of, number) < of->extra ? 2 : folds > 0 ? folds : 1;
    return folds;
}

/* In the first `steps` steps of the core's ranks, whom one sends to receives that from it in the
 * same step. */
static inline void core_check_partners(const coll_plan *plan, const core *of, size_t steps)
{
    for (uint32_t rank = 0; rank < of->p; rank++)
        for (size_t s = 0; s < steps && !core_idle(of, rank); s++) {
            coll_action mine[COLL_STEP_MAX], theirs[COLL_STEP_MAX];
            const unsigned n = core_step(plan, of, rank, s, mine);
            const coll_action *send = core_message(mine, n, true), *recv;
            CHECK_EQ(send != NULL, core_message(mine, n, false) != NULL);
            if (!send || !CHECK(send->peer < of->p && !core_idle(of, send->peer)))
                continue;
            recv = core_message(theirs, core_step(plan, of, send->peer, s, theirs), false);
            CHECK(recv && recv->peer == rank &&
                  (recv->count == send->count || send->kind == COLL_DO_NOTIFY));
        }
}

/* Where rounds go from the nearest partners to the farthest, what a rank of the core stands for: itself
 * and who is folded into it, then also what those stand for from whom it receives. That is always a
 * run of ranks, of as many core numbers as the rounds so far can reach, and in the end all. */
static inline void core_check_runs(const coll_plan *plan, const core *of, bool combines)
{
    uint64_t has[64], next[64]; /* bit r: rank r */
    size_t step = 0;
    for (uint32_t rank = 0; rank < of->p; rank++)
        next[rank] = (uint64_t)(core_folded(of, rank) ? 3 : 1)
                     << (core_folded(of, rank) ? rank - 1 : rank);
    for (uint32_t t = 0; t < of->rounds; t++) {
        const uint32_t reach = of->stride[t] * of->radix[t];
        memcpy(has, next, sizeof has);
        for (uint32_t rank = 0; rank < of->p; rank++) {
            const uint32_t number = core_number(of, rank);
            if (core_idle(of, rank))
                continue;
            for (uint32_t turn = 0; turn + 1 < of->radix[t]; turn++) {
                coll_action acts[COLL_STEP_MAX];
                const unsigned n = core_step(plan, of, rank, step + turn, acts);
                const coll_action *recv = core_message(acts, n, false);
                CHECK_EQ(next[rank] & has[recv->peer], 0);
                next[rank] |= has[recv->peer];
            }
            /* one run: adding its lowest bit leaves a single one */
            CHECK_EQ((next[rank] + (next[rank] & (0 - next[rank]))) & next[rank], 0);
            CHECK_EQ((uint32_t)__builtin_popcountll(next[rank]),
                     core_ranks(of, number - number % reach, reach));
        }
        step += of->radix[t] - 1 + (combines && of->radix[t] > 2 ? 1 : 0);
    }
    for (uint32_t rank = 0; rank < of->p; rank++)
        if (!core_idle(of, rank))
            CHECK_EQ(next[rank], UINT64_MAX >> (64 - of->p));
}

#endif /* COLL_TESTS_ALGOS_CORE_H */
