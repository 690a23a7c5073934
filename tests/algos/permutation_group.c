/* tests/algos/permutation_group.c — the laws of coll/algos/permutation_group.h */
#include "coll/algos/permutation_group.h"

#include "support/walk.h"

enum { COUNT = 3 }; /* elements of a block */

static const uint32_t all_removed[] = {0, 1, 2, 3, 32};

static coll_plan permutation(uint32_t p, uint32_t removed, uint32_t flags)
{
    return plan_with(&coll_permutation_group_allreduce, COLL_ALLREDUCE, p, COUNT * p,
                     flags | COLL_FLAG_COMMUTATIVE, 0, &removed);
}

/* p halved k times, rounding up. */
static uint32_t halved(uint32_t p, uint32_t k)
{
    for (; k > 0; k--)
        p = p / 2 + p % 2;
    return p;
}

static uint32_t gathering_of(uint32_t p, uint32_t removed)
{
    const uint32_t rounds = coll_log2_ceil(p);
    return removed < rounds ? rounds - removed : 0;
}

/* Blocks in the message of reducing round k. */
static uint32_t sent_in(uint32_t p, uint32_t width, uint32_t k)
{
    const uint32_t blocks = width - 1 + halved(p, k) / 2;
    return blocks < p ? blocks : p;
}

/* Is what comes in round k combined in a step of its own? */
static bool waits(const coll_plan *plan, uint32_t k)
{
    const uint32_t p = plan->problem.p;
    const bool in_out = plan->problem.flags & COLL_FLAG_IN_PLACE || k > 0;
    return in_out && p % (2u << k) == 0;
}

/* Law 1, and what the rank to the right takes: the same blocks. */
TEST(messages_of_reducing_rounds)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < sizeof all_removed / sizeof all_removed[0]; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = permutation(p, all_removed[i], flags);
                const uint32_t width = halved(p, gathering_of(p, all_removed[i]));
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    size_t given[32] = {0}, taken[32] = {0};
                    uint32_t k = 0;
                    for (size_t a = 0; a < w->n && k < coll_log2_ceil(p); a++) {
                        const coll_action *act = &w->act[a];
                        const uint32_t s = halved(p, k), c = halved(p, k + 1);
                        const uint32_t distance = s % 2 ? c - 1 : c;
                        const uint32_t first = sent_in(p, width, k) == p ? 0 : (rank + c) % p;
                        const uint32_t second =
                            sent_in(p, width, k) == p ? 0 : (rank + c - distance) % p;
                        if (is_send(act)) {
                            CHECK_EQ(act->peer, (rank + distance) % p);
                            if (coll_ref_space(act->src) != COLL_SCRATCH)
                                CHECK_EQ(coll_ref_offset(act->src),
                                         (first * COUNT + given[k]) % (p * COUNT));
                            given[k] += act->count;
                        } else if (is_receive(act)) {
                            CHECK_EQ(act->peer, (rank + p - distance) % p);
                            if (coll_ref_space(act->dst) == COLL_OUT)
                                CHECK_EQ(coll_ref_offset(act->dst),
                                         (second * COUNT + taken[k]) % (p * COUNT));
                            CHECK_EQ(coll_ref_space(act->dst) == COLL_OUT,
                                     s % 2 == 0 && !waits(&plan, k));
                            taken[k] += act->count;
                        }
                        if (a + 1 < w->n && w->step[a + 1] != w->step[a] && given[k] > 0 &&
                            (!waits(&plan, k) || act->kind == COLL_DO_REDUCE))
                            k++;
                    }
                    for (k = 0; k < coll_log2_ceil(p); k++) {
                        CHECK_EQ(given[k], sent_in(p, width, k) * COUNT);
                        CHECK_EQ(taken[k], given[k]);
                    }
                }
            }
}

/* Law 2: its last steps are those of circulant.h. */
TEST(the_allgather_is_that_of_circulant_graphs)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < sizeof all_removed / sizeof all_removed[0]; i++) {
            const coll_plan plan = permutation(p, all_removed[i], 0);
            const coll_plan circulant = plan_of(&coll_circulant_allreduce, COLL_ALLREDUCE, p,
                                                COUNT * p, COLL_FLAG_COMMUTATIVE);
            for (uint32_t rank = 0; rank < p; rank++)
                for (uint32_t k = 1; k <= gathering_of(p, all_removed[i]); k++) {
                    coll_action one[COLL_STEP_MAX], other[COLL_STEP_MAX];
                    const unsigned n =
                        coll_plan_step(&plan, rank, coll_plan_steps(&plan, rank) - k, one);
                    if (!CHECK_EQ(coll_plan_step(&circulant, rank,
                                                 coll_plan_steps(&circulant, rank) - k, other),
                                  n))
                        return;
                    for (unsigned a = 0; a < n; a++) {
                        CHECK_EQ(one[a].kind, other[a].kind);
                        CHECK_EQ(one[a].peer, other[a].peer);
                        CHECK_EQ(one[a].count, other[a].count);
                        CHECK_EQ(is_send(&one[a]) ? one[a].src : one[a].dst,
                                 is_send(&one[a]) ? other[a].src : other[a].dst);
                    }
                }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < sizeof all_removed / sizeof all_removed[0]; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = permutation(p, all_removed[i], flags);
                const uint32_t rounds = coll_log2_ceil(p),
                               gathering = gathering_of(p, all_removed[i]),
                               width = halved(p, gathering), single = COLL_LOWEST_BIT(p);
                const coll_report cost = cost_of(&plan);
                size_t blocks = p - width, reduced = 0;
                for (uint32_t k = 0; k < rounds; k++) {
                    blocks += sent_in(p, width, k);
                    reduced += sent_in(p, width, k) * ((k == single ? 0u : 1u) + (k > single));
                }
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * blocks);
                    CHECK(cost.ranks[rank].messages <= 2 * (rounds + gathering));
                    if (gathering == 0) {
                        /* of whole vectors: B, A ⊕ B, and what comes while A is in OUT or into B ⊕ */
                        const bool odd = single < rounds, sums = single + 1 < rounds;
                        const bool via = rounds > 0 && (flags || rounds > (odd ? 2u : 1u));
                        CHECK_EQ(cost.ranks[rank].messages, rounds);
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 (size_t)COUNT * p *
                                     ((odd ? 1u : 0u) + (sums ? 1u : 0u) + (via ? 1u : 0u)));
                    }
                }
                CHECK_EQ(cost.total.reduced, COUNT * p * reduced);
                if (gathering == 0)
                    CHECK_EQ(cost.rounds, rounds);
            }
}

int main(void)
{
    RUN(messages_of_reducing_rounds);
    RUN(the_allgather_is_that_of_circulant_graphs);
    RUN(costs);
    return check_done();
}
