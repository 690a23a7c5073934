/* tests/algos/trivance_blocks.c — the laws of coll/algos/trivance_blocks.h */
#include "coll/algos/trivance_blocks.h"

#include "support/walk.h"

enum { COUNT = 3 }; /* elements of a block */

static coll_plan thirds(coll_collective collective, uint32_t p, uint32_t flags)
{
    return plan_of(collective == COLL_ALLGATHER ? &coll_trivance_allgather
                                                : &coll_trivance_reduce_scatter,
                   collective, p, COUNT, flags | COLL_FLAG_COMMUTATIVE);
}

static uint32_t third(uint32_t n)
{
    return n / 3 + (n % 3 ? 1 : 0);
}

/* A turn, by definition. */
typedef struct turn {
    uint32_t before, keep, blocks; /* blocks before the round, after it; of the message */
    bool down;
} turn;

static uint32_t turns_of(uint32_t p, turn *turns)
{
    uint32_t n = 0;
    for (uint32_t before = p; before > 1; before = third(before)) {
        const uint32_t keep = third(before);
        turns[n].before = before;
        turns[n].keep = turns[n].blocks = keep;
        turns[n++].down = false;
        if (before > 2 * keep) {
            turns[n] = turns[n - 1];
            turns[n].blocks = before - 2 * keep;
            turns[n++].down = true;
        }
    }
    return n;
}

/* How many of the blocks before a round are below the rank's own: those of all lower thirds from
 * there on. */
static uint32_t below(uint32_t before)
{
    uint32_t blocks = 0;
    for (; before > 1; before = third(before))
        blocks += before - 2 * third(before);
    return blocks;
}

/* Laws 1 and 3, of the messages as they come by steps: which blocks a rank has, and gives. */
TEST(the_middle_third_stays)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = thirds(COLL_REDUCE_SCATTER_BLOCK, p, flags);
            turn turns[16];
            const uint32_t n_turns = turns_of(p, turns);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                bool sent[64] = {false};
                size_t given[16] = {0}, taken[16] = {0};
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    const size_t s = w->step[i];
                    if (!is_send(a) && !is_receive(a))
                        continue;
                    if (!CHECK(s < n_turns))
                        break;
                    CHECK_EQ(a->peer, (rank + (turns[s].down == is_send(a) ? p - turns[s].keep
                                                                           : turns[s].keep)) %
                                          p);
                    *(is_send(a) ? &given[s] : &taken[s]) += a->count / COUNT;
                    if (is_send(a) && turns[s].before == p) {
                        const size_t first = coll_ref_offset(a->src) / COUNT;
                        for (size_t b = 0; b < a->count / COUNT; b++)
                            CHECK(first + b < p && !sent[first + b]);
                    }
                }
                for (uint32_t s = 0; s < n_turns; s++) {
                    const uint32_t first = rank + p - below(turns[s].before); /* that it has */
                    CHECK_EQ(given[s], turns[s].blocks);
                    CHECK_EQ(taken[s], turns[s].blocks);
                    for (uint32_t b = 0; b < turns[s].blocks; b++) {
                        const uint32_t skip =
                            turns[s].down ? 0 : turns[s].before - turns[s].keep;
                        bool *block = &sent[(first + skip + b) % p];
                        CHECK(!*block);
                        *block = true;
                    }
                }
                for (uint32_t b = 0; b < p; b++)
                    CHECK_EQ(sent[b], b != rank);
            }
        }
}

/* Law 1, where blocks lie: those of round 0 in the input, those that are received where the kept
 * ones do; found again by following the sums in SCRATCH from there. */
TEST(round_0_gives_the_outer_thirds)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan = thirds(COLL_REDUCE_SCATTER_BLOCK, p, 0);
        const uint32_t keep = third(p);
        for (uint32_t rank = 0; rank < p; rank++) {
            const uint32_t first = rank + p - below(p); /* of all that it has */
            const walk *w = walk_of(&plan, rank);
            uint32_t up = 0, down = 0;
            for (size_t i = 0; i < w->n && w->step[i] < (p > 2 * keep ? 2 : 1); i++) {
                const coll_action *a = &w->act[i];
                uint32_t *done = w->step[i] == 0 ? &up : &down;
                if (!is_send(a))
                    continue;
                CHECK_EQ(coll_ref_space(a->src), COLL_IN);
                CHECK_EQ(coll_ref_offset(a->src),
                         (first + (w->step[i] == 0 ? p - keep : 0) + *done) % p * COUNT);
                *done += (uint32_t)(a->count / COUNT);
            }
            CHECK_EQ(up + down, p - keep);
        }
    }
}

/* Law 2. */
TEST(an_allgather_goes_backwards)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan = thirds(COLL_ALLGATHER, p, COLL_FLAG_IN_PLACE);
        turn turns[16];
        const uint32_t n_turns = turns_of(p, turns);
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *w = walk_of(&plan, rank);
            size_t given[16] = {0}, taken[16] = {0};
            CHECK_EQ(coll_plan_steps(&plan, rank), n_turns);
            for (size_t i = 0; i < w->n; i++) {
                const coll_action *a = &w->act[i];
                const turn *at = &turns[n_turns - 1 - w->step[i]];
                const uint32_t kept = rank + p - below(at->keep);
                size_t *done = is_send(a) ? &given[w->step[i]] : &taken[w->step[i]];
                const uint32_t first = is_send(a)
                                           ? kept + (at->down ? at->keep - at->blocks : 0)
                                       : at->down ? kept + p - at->blocks
                                                  : kept + at->keep;
                CHECK_EQ(a->peer,
                         (rank + (at->down == is_send(a) ? at->keep : p - at->keep)) % p);
                CHECK_EQ(coll_ref_offset(is_send(a) ? a->src : a->dst),
                         (first + *done) % p * COUNT);
                *done += a->count / COUNT;
            }
            for (uint32_t s = 0; s < n_turns; s++) {
                CHECK_EQ(given[s], turns[n_turns - 1 - s].blocks);
                CHECK_EQ(taken[s], given[s]);
            }
        }
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan scatter = thirds(COLL_REDUCE_SCATTER_BLOCK, p, flags);
            const coll_plan gather = thirds(COLL_ALLGATHER, p, flags);
            const coll_report cost = cost_of(&scatter);
            turn turns[16];
            const uint32_t n_turns = turns_of(p, turns);
            uint32_t lower = 0, second = third(third(p));
            for (uint32_t s = 0; s < n_turns; s++)
                lower = turns[s].down && turns[s].blocks > lower ? turns[s].blocks : lower;
            CHECK_EQ(cost.total.reduced, COUNT * p * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++) {
                const size_t sums = p > 3 || (p > 1 && flags) ? third(p) : 0;
                CHECK(cost.ranks[rank].messages >= n_turns &&
                      cost.ranks[rank].messages <= n_turns + 1);
                CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                CHECK_EQ(coll_plan_scratch(&scatter, rank),
                         COUNT * (sums + (second > 1 ? second : 0) + lower));
            }
            {
                const coll_report other = cost_of(&gather);
                CHECK_EQ(other.total.scratch, 0);
                for (uint32_t rank = 0; rank < p; rank++)
                    CHECK_EQ(other.ranks[rank].elements, COUNT * (p - 1));
            }
        }
}

int main(void)
{
    RUN(the_middle_third_stays);
    RUN(round_0_gives_the_outer_thirds);
    RUN(an_allgather_goes_backwards);
    RUN(costs);
    return check_done();
}
