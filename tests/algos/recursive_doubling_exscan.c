/* tests/algos/recursive_doubling_exscan.c — the laws of coll/algos/recursive_doubling_exscan.h */
#include "coll/algos/recursive_doubling_exscan.h"

#include "support/walk.h"

static const uint32_t inclusives[] = {0, 1, 2, 3, 4, 7, 32};
enum { INCLUSIVES = sizeof inclusives / sizeof *inclusives };

static coll_plan exscan(uint32_t p, size_t count, uint32_t flags, uint32_t inclusive)
{
    return plan_with(&coll_recursive_doubling_exscan, COLL_EXSCAN, p, count, flags, 0,
                     &inclusive);
}

/* The rounds by trial: how far each reaches, until all have their operands. */
typedef struct reaches {
    uint32_t rounds, reach[34], distance[34];
} reaches;

static reaches rounds_with(uint32_t p, uint32_t inclusive)
{
    reaches all;
    all.reach[0] = all.rounds = 0;
    for (uint32_t c = 0; c + 1 < p; all.reach[all.rounds] = c) {
        const uint32_t add = all.rounds < inclusive ? 1 : 0;
        all.distance[all.rounds++] = c + add;
        c = 2 * c + add;
    }
    return all;
}

static reaches rounds_of(uint32_t p, uint32_t inclusive)
{
    reaches all = rounds_with(p, inclusive == 0 ? 32 : inclusive);
    if (inclusive == 0) /* the fewest rounds, and in them the fewest inclusive ones */
        for (uint32_t n = 32; n > 0; n--) {
            const reaches fewer = rounds_with(p, n);
            if (fewer.rounds == all.rounds)
                all = fewer;
        }
    return all;
}

/* Law 1. */
TEST(what_goes_right_comes_from_the_left)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t n = 0; n < INCLUSIVES; n++) {
            const coll_plan plan = exscan(p, 1, 0, inclusives[n]);
            const reaches all = rounds_of(p, inclusives[n]);
            check_step_by_step(&plan);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                for (size_t i = 0; i < w->n; i++) {
                    if (!CHECK(w->step[i] < all.rounds))
                        continue;
                    if (is_send(&w->act[i]))
                        CHECK_EQ(w->act[i].peer, rank + all.distance[w->step[i]]);
                    if (is_receive(&w->act[i]))
                        CHECK_EQ(w->act[i].peer, rank - all.distance[w->step[i]]);
                }
            }
        }
}

/* Law 2: the first operand of every rank's sum, round by round; the last is the one before its
 * own. */
TEST(sums_reach_as_far_as_said)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t n = 0; n < INCLUSIVES; n++) {
            const coll_plan plan = exscan(p, 1, 0, inclusives[n]);
            const reaches all = rounds_of(p, inclusives[n]);
            uint32_t first[64], next[64];
            for (uint32_t rank = 0; rank < p; rank++)
                first[rank] = rank;
            for (uint32_t k = 0; k < all.rounds; k++) {
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    CHECK_EQ(first[rank], rank < all.reach[k] ? 0 : rank - all.reach[k]);
                    next[rank] = first[rank];
                    for (size_t i = 0; i < w->n; i++)
                        if (is_receive(&w->act[i]) && w->step[i] == k) {
                            const uint32_t from = w->act[i].peer;
                            const walk *theirs = walk_of(&plan, from);
                            bool own = k == 0;
                            for (size_t m = 0; m < theirs->n; m++)
                                own = own ||
                                      (is_send(&theirs->act[m]) && theirs->step[m] == k &&
                                       (coll_ref_space(theirs->act[m].src) == COLL_IN ||
                                        (m > 0 && theirs->act[m - 1].kind == COLL_DO_REDUCE &&
                                         theirs->act[m - 1].dst == theirs->act[m].src)));
                            CHECK_EQ(k == 0, w->act[i].kind == COLL_DO_RECV);
                            CHECK(k == 0 || w->act[i].flags & COLL_LEFT);
                            CHECK_EQ(from + (own ? 1 : 0), first[rank]); /* they meet */
                            next[rank] = first[from];
                        }
                }
                for (uint32_t rank = 0; rank < p; rank++)
                    first[rank] = next[rank];
            }
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(first[rank], 0);
        }
}

/* Law 3. */
TEST(rounds_write_where_they_do_not_read)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t n = 0; n < INCLUSIVES; n++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = exscan(p, 1, flags, inclusives[n]);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    coll_ref result = COLL_AT(COLL_OUT, 0);
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        if (!is_receive(a))
                            continue;
                        CHECK(a->kind != COLL_DO_RECV_REDUCE || a->dst != a->src);
                        if (i > 0 && is_send(&w->act[i - 1]) && w->step[i - 1] == w->step[i])
                            CHECK(w->act[i - 1].src != a->dst);
                        result = a->dst;
                    }
                    CHECK_EQ(result, COLL_AT(COLL_OUT, 0));
                }
            }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t n = 0; n < INCLUSIVES; n++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = exscan(p, count, flags, inclusives[n]);
                const coll_report cost = cost_of(&plan);
                const reaches all = rounds_of(p, inclusives[n]);
                size_t steps = 0;
                for (uint32_t rank = 0; rank < p; rank++) {
                    const size_t own = coll_plan_steps(&plan, rank);
                    uint32_t sends = 0, adds = 0, takes = 0;
                    bool adds_own = false;
                    for (uint32_t k = 0; k < all.rounds; k++) {
                        const bool own_too = all.distance[k] > all.reach[k];
                        if (all.distance[k] + rank < p && (rank > 0 || own_too)) {
                            sends++;
                            adds += rank > 0 && k > 0 && own_too ? 1 : 0;
                            adds_own = adds_own || (rank > 0 && k > 0 && own_too);
                        }
                        adds += k > 0 && all.reach[k] < rank ? 1 : 0;
                        takes += all.reach[k] < rank ? 1 : 0;
                    }
                    steps = own > steps ? own : steps;
                    CHECK_EQ(cost.ranks[rank].messages, sends);
                    CHECK_EQ(cost.ranks[rank].elements, sends * count);
                    CHECK_EQ(cost.ranks[rank].reduced, adds * count);
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             count * ((takes > 1 ? 1u : 0u) + (adds_own ? 1u : 0u) +
                                      (flags && rank > 0 && sends > 0 ? 1u : 0u)));
                }
                CHECK_EQ(steps, all.rounds); /* a round is a step, but a chain may skip some */
                CHECK(cost.rounds <= all.rounds);
                if (inclusives[n] == 0)
                    CHECK_EQ(all.rounds, coll_log2_ceil(p));
                if (inclusives[n] == 1 && p > 1)
                    CHECK_EQ(all.rounds, 1 + coll_log2_ceil(p - 1));
                if (inclusives[n] == 2 && p > 1) /* 2^rounds ≥ 4/3·(p − 1), and no fewer */
                    CHECK(((uint32_t)3 << all.rounds) >= 4 * (p - 1) &&
                          ((uint32_t)3 << all.rounds) < 8 * (p - 1));
            }
}

int main(void)
{
    RUN(what_goes_right_comes_from_the_left);
    RUN(sums_reach_as_far_as_said);
    RUN(rounds_write_where_they_do_not_read);
    RUN(costs);
    return check_done();
}
