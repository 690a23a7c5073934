/* tests/support/timed.h — how long a plan takes where every link carries one message at a time
 *
 *   CHECK_EQ(time_of(&plan), p + segments - 2);
 */
#ifndef COLL_TESTS_ALGOS_TIMED_H
#define COLL_TESTS_ALGOS_TIMED_H

#include "walk.h"

/* Time until all have ended if a message takes one, each direction of each link carries one at a
 * time, and a rank's actions are done in order: sends do not block, receives do. */
enum { TIMED_RANKS = WALK_RANKS, TIMED_MESSAGES = 128 };

static inline size_t time_of(const coll_plan *plan)
{
    static size_t taken[TIMED_RANKS][TIMED_RANKS];
    static size_t arrival[TIMED_RANKS][TIMED_RANKS][TIMED_MESSAGES],
        n[TIMED_RANKS][TIMED_RANKS];
    const walk *walks[TIMED_RANKS];
    size_t at[TIMED_RANKS] = {0}, left = plan->problem.p;
    memset(n, 0, sizeof n);
    memset(taken, 0, sizeof taken);
    for (uint32_t rank = 0; rank < plan->problem.p; rank++)
        walks[rank] = walk_of(plan, rank);
    for (size_t now = 0; now < 100000; now++) {
        for (uint32_t rank = 0; rank < plan->problem.p; rank++) {
            const walk *w = walks[rank];
            if (at[rank] == w->n)
                continue;
            for (; at[rank] < w->n; at[rank]++) {
                const coll_action *a = &w->act[at[rank]];
                if (is_send(a)) {
                    size_t *link = arrival[rank][a->peer], *k = &n[rank][a->peer];
                    link[*k] = *k > 0 && link[*k - 1] > now ? link[*k - 1] + 1 : now + 1;
                    ++*k;
                } else if (is_receive(a)) {
                    const size_t k = taken[a->peer][rank];
                    if (k == n[a->peer][rank] || arrival[a->peer][rank][k] > now)
                        break;
                    taken[a->peer][rank]++;
                }
            }
            if (at[rank] == w->n && --left == 0)
                return now;
        }
    }
    return 0;
}

#endif /* COLL_TESTS_ALGOS_TIMED_H */
