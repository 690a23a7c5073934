/* tests/algos/recursive_multiplying_exscan.c — the laws of coll/algos/recursive_multiplying_exscan.h */
#include "coll/algos/recursive_multiplying_exscan.h"

#include "support/walk.h"

static const uint32_t radices[] = {2, 3, 4, 5, 8, 63, 64, 1000};
enum { RADICES = sizeof radices / sizeof *radices, COUNT = 2 };

static coll_plan exscan(uint32_t p, uint32_t k, uint32_t flags)
{
    return plan_with(&coll_recursive_multiplying_exscan, COLL_EXSCAN, p, COUNT, flags, 0, &k);
}

/* Operands before a rank's own that its sum has before a round, if there are so many. */
static uint64_t before_round(uint32_t k, uint32_t t)
{
    uint64_t c = t == 0 ? 0 : k - 1;
    for (uint32_t i = 1; i < t; i++)
        c *= k;
    return c;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Messages that a rank sends, or receives, in a round, by definition. */
static uint32_t messages(uint32_t p, uint32_t k, uint32_t rank, uint32_t t, bool send)
{
    const uint64_t c = before_round(k, t);
    const uint32_t others = send ? p - 1 - rank : rank;
    if (t == 0)
        return least(k - 1, others);
    return rank == 0 ? 0 : least(k - 1, (send ? others : others - 1) / c);
}

/* Laws 1 and 2: rounds, found by the distances that there may be, and what ranks have after them. */
TEST(sums_grow_k_fold)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++) {
            const uint32_t k = radices[i];
            const coll_plan plan = exscan(p, k, 0);
            uint64_t has[64] = {0}, next[64] = {0}; /* bit o: operand o */
            size_t done[64][2] = {{0}};             /* messages of earlier rounds */
            for (uint32_t t = 0; t == 0 || before_round(k, t) < p; t++) {
                const uint64_t stride = t == 0 ? 1 : before_round(k, t);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    size_t seen[2] = {0, 0};
                    for (size_t a = 0; a < w->n; a++) {
                        const bool send = is_send(&w->act[a]);
                        if (!send && !is_receive(&w->act[a]))
                            continue;
                        const size_t number = seen[send]++; /* of all messages of the kind */
                        if (number < done[rank][send] ||
                            number >= done[rank][send] + messages(p, k, rank, t, send))
                            continue;
                        const uint64_t distance = (number - done[rank][send] + 1) * stride;
                        CHECK_EQ(w->act[a].peer, send ? rank + distance : rank - distance);
                        if (!send) {
                            const uint64_t theirs =
                                t == 0 ? (uint64_t)1 << w->act[a].peer : has[w->act[a].peer];
                            CHECK_EQ(next[rank] & theirs, 0);
                            next[rank] |= theirs;
                        }
                    }
                }
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t n = least(before_round(k, t + 1), rank);
                    CHECK_EQ(next[rank], n == 0 ? 0 : (UINT64_MAX >> (64 - n)) << (rank - n));
                    has[rank] = next[rank];
                    done[rank][0] += messages(p, k, rank, t, false);
                    done[rank][1] += messages(p, k, rank, t, true);
                }
            }
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                size_t all[2] = {0, 0};
                for (size_t a = 0; a < w->n; a++)
                    if (is_send(&w->act[a]) || is_receive(&w->act[a]))
                        all[is_send(&w->act[a])]++;
                CHECK_EQ(all[0], done[rank][0]);
                CHECK_EQ(all[1], done[rank][1]);
                CHECK_EQ(has[rank], rank == 0 ? 0 : UINT64_MAX >> (64 - rank));
            }
        }
}

/* Law 3: what is sent from a place is sent before anything is written there in a later round, and in
 * a round nothing is written there at all. */
TEST(no_round_writes_where_its_messages_are_read)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t k = radices[i];
                const coll_plan plan = exscan(p, k, flags);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    size_t step = 0;
                    for (uint32_t t = 0; t == 0 || before_round(k, t) < p; t++) {
                        const uint32_t gives = messages(p, k, rank, t, true);
                        const uint32_t takes = messages(p, k, rank, t, false);
                        const size_t end =
                            step + (gives > takes ? gives : takes) + (takes > 1 ? 1 : 0);
                        for (size_t a = 0; a < w->n; a++)
                            for (size_t b = 0; b < w->n; b++)
                                if (w->step[a] >= step && w->step[a] < end &&
                                    w->step[b] >= step && w->step[b] < end &&
                                    is_send(&w->act[a]) && !is_send(&w->act[b]) &&
                                    w->act[b].kind != COLL_DO_COPY)
                                    CHECK(w->act[a].src != w->act[b].dst);
                        step = end;
                    }
                }
            }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t k = radices[i];
                const coll_plan plan = exscan(p, k, flags);
                const coll_report cost = cost_of(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    uint32_t sent = 0, rounds = 0;
                    const uint32_t first = messages(p, k, rank, 0, false);
                    for (uint32_t t = 0; t == 0 || before_round(k, t) < p; t++) {
                        sent += messages(p, k, rank, t, true);
                        rounds += messages(p, k, rank, t, false) > 0 ? 1 : 0;
                    }
                    CHECK_EQ(cost.ranks[rank].messages, sent);
                    CHECK_EQ(cost.ranks[rank].elements, sent * (size_t)COUNT);
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             COUNT * ((rounds > 1 ? 1u : 0u) +
                                      (flags && rank > 0 && sent > 0 ? 1u : 0u) +
                                      (first > 1 ? first : 0u)));
                }
            }
}

int main(void)
{
    RUN(sums_grow_k_fold);
    RUN(no_round_writes_where_its_messages_are_read);
    RUN(costs);
    return check_done();
}
