/* tests/algos/bruck.c — the laws of coll/algos/bruck.h */
#include "coll/algos/bruck.h"

#include "support/walk.h"

enum { COUNT = 2, RADICES = 5 }; /* elements of a block */

static const uint32_t radices[RADICES] = {2, 3, 4, 7, 100};

static coll_plan bruck(uint32_t p, uint32_t flags, uint32_t k)
{
    return plan_with(&coll_bruck_allgather, COLL_ALLGATHER, p, COUNT, flags, 0, &k);
}

/* The largest power of k that is at most `distance`: the stride of its round. */
static uint32_t stride_of(uint32_t k, uint32_t distance)
{
    uint32_t stride = 1;
    while (distance / k >= stride)
        stride *= k;
    return stride;
}

/* Law 1: the messages of a step, in their order, are those that the peer expects. */
TEST(both_ends_cut_messages_alike)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < RADICES; i++) {
            const coll_plan plan = bruck(p, 0, radices[i]);
            for (uint32_t rank = 0; rank < p; rank++)
                for (size_t s = 0; s < coll_plan_steps(&plan, rank); s++) {
                    coll_action mine[COLL_STEP_MAX], theirs[COLL_STEP_MAX];
                    const unsigned n = coll_plan_step(&plan, rank, s, mine);
                    unsigned m = 0, k = 0;
                    for (unsigned a = 0; a < n; a++) {
                        if (!is_send(&mine[a]))
                            continue;
                        if (a == 0)
                            m = coll_plan_step(&plan, mine[a].peer, s, theirs);
                        while (k < m && !is_receive(&theirs[k]))
                            k++;
                        CHECK(k < m && theirs[k].peer == rank &&
                              theirs[k].count == mine[a].count);
                        k++;
                    }
                }
        }
}

/* Laws 2 and 3. */
TEST(runs_grow)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < RADICES; i++) {
            const coll_plan plan = bruck(p, COLL_FLAG_IN_PLACE, radices[i]);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                bool has[64] = {false};
                uint32_t n = 1;
                has[rank] = true;
                for (size_t a = 0; a < w->n; a++) {
                    const coll_action *act = &w->act[a];
                    const bool sends = is_send(act);
                    const size_t first = coll_ref_offset(sends ? act->src : act->dst) / COUNT;
                    const uint32_t peer = act->peer;
                    const uint32_t distance = (sends ? rank + p - peer : peer + p - rank) % p;
                    const uint32_t stride = stride_of(radices[i], distance);
                    for (size_t b = first; b < first + act->count / COUNT; b++) {
                        const uint32_t at = (uint32_t)(b + p - rank) % p; /* of the run */
                        if (sends) {
                            CHECK(has[b] && at < stride);
                        } else {
                            CHECK(!has[b] && at >= distance && at < distance + stride);
                            has[b] = true;
                            n++;
                        }
                    }
                }
                CHECK_EQ(n, p);
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
            for (int i = 0; i < RADICES; i++) {
                const uint32_t k = radices[i];
                const coll_plan plan = bruck(p, flags, k);
                const coll_report cost = cost_of(&plan);
                uint32_t rounds = 0, stride = 1; /* of the last round, in the end */
                while (stride < p) {
                    rounds++;
                    stride *= k;
                }
                stride /= rounds > 0 ? k : 1;
                if (k == 2) /* a larger k takes its messages of a round one after the other */
                    CHECK_EQ(cost.rounds, rounds);
                for (uint32_t rank = 0; rank < p; rank++) {
                    uint32_t messages = 0;
                    if (p > 1)
                        messages = (k - 1) * (rounds - 1) + (p - 1) / stride;
                    for (uint32_t d = 1; d < p; d++) { /* messages that wrap around */
                        const uint32_t run = stride_of(k, d);
                        const uint32_t blocks = run < p - d ? run : p - d;
                        messages += d % run == 0 && rank + blocks > p ? 1 : 0;
                    }
                    CHECK_EQ(cost.ranks[rank].messages, messages);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(cost.ranks[rank].copied, flags ? 0 : COUNT);
                }
            }
}

int main(void)
{
    RUN(both_ends_cut_messages_alike);
    RUN(runs_grow);
    RUN(costs);
    return check_done();
}
