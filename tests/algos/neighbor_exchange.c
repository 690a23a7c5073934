/* tests/algos/neighbor_exchange.c — the laws of coll/algos/neighbor_exchange.h */
#include "coll/algos/neighbor_exchange.h"

#include "support/walk.h"

enum { COUNT = 2 }; /* elements of a block */

static coll_plan exchange(uint32_t p, uint32_t flags)
{
    return plan_of(&coll_neighbor_exchange_allgather, COLL_ALLGATHER, p, COUNT, flags);
}

/* The round of an action; rank p−1 of odd p has every other one. */
static uint32_t round_of(const walk *w, size_t a, uint32_t p, uint32_t rank)
{
    return (uint32_t)w->step[a] * (p % 2 == 1 && rank == p - 1 ? 2 : 1) +
           (p % 2 == 1 && rank == p - 1 ? 1 : 0);
}

/* Law 1. */
TEST(both_ends_agree)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const coll_plan plan = exchange(p, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *mine = walk_of(&plan, rank);
            for (size_t a = 0; a < mine->n; a++) {
                const coll_action *act = &mine->act[a];
                const walk *theirs = walk_of(&plan, act->peer);
                unsigned matches = 0;
                CHECK((rank + 1) % p == act->peer || (act->peer + 1) % p == rank);
                for (size_t b = 0; b < theirs->n; b++)
                    matches += theirs->act[b].peer == rank &&
                               theirs->act[b].count == act->count &&
                               is_send(&theirs->act[b]) != is_send(act) &&
                               round_of(theirs, b, p, act->peer) == round_of(mine, a, p, rank);
                CHECK_EQ(matches, 1);
            }
        }
    }
}

/* Law 2, of the ranks that play one place. */
TEST(what_came_goes_on)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p - p % 2; rank++) {
            const coll_plan plan = exchange(p, COLL_FLAG_IN_PLACE);
            const walk *w = walk_of(&plan, rank);
            size_t came = rank - rank % 2; /* the first block of what is sent next */
            for (size_t a = 0; a < w->n; a++) {
                const coll_action *act = &w->act[a];
                if (is_send(act)) {
                    CHECK_EQ(coll_ref_offset(act->src) / COUNT, w->step[a] == 0 ? rank : came);
                } else if (w->step[a] > 0) {
                    came = coll_ref_offset(act->dst) / COUNT;
                    CHECK_EQ(came % 2, 0);
                }
            }
        }
}

/* Law 3. */
TEST(every_block_comes_once)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_plan plan = exchange(p, COLL_FLAG_IN_PLACE);
            const walk *w = walk_of(&plan, rank);
            uint64_t has = (uint64_t)1 << rank;
            for (size_t a = 0; a < w->n; a++) {
                const coll_action *act = &w->act[a];
                for (size_t k = 0; is_receive(act) && k < act->count / COUNT; k++) {
                    const size_t block = coll_ref_offset(act->dst) / COUNT + k;
                    CHECK(!((has >> block) & 1));
                    has |= (uint64_t)1 << block;
                }
            }
            CHECK_EQ(has, UINT64_MAX >> (64 - p));
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = exchange(p, flags);
            const coll_report cost = cost_of(&plan);
            const uint32_t rounds = (p + 1) / 2, odd = p % 2;
            if (odd == 0) /* two exchanges of one round are one after the other here */
                CHECK_EQ(cost.rounds, rounds);
            for (uint32_t rank = 0; rank < p; rank++) {
                const size_t messages = cost.ranks[rank].messages;
                const size_t blocks = cost.ranks[rank].elements / COUNT;
                const uint32_t less = odd && rounds % 2 == 0 && rank == 0;
                if (odd && rank == p - 1) {
                    CHECK_EQ(messages, rounds / 2 * 2);
                    CHECK_EQ(blocks, p == 1 ? 0 : rounds / 2 * 4 - 2);
                } else {
                    CHECK_EQ(messages, rounds - less);
                    CHECK(blocks + 2 * less == p - 1 || (odd && blocks + 2 * less == p));
                }
                CHECK_EQ(cost.ranks[rank].copied, flags ? 0 : COUNT);
            }
        }
}

int main(void)
{
    RUN(both_ends_agree);
    RUN(what_came_goes_on);
    RUN(every_block_comes_once);
    RUN(costs);
    return check_done();
}
