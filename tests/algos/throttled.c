/* tests/algos/throttled.c — the laws of coll/algos/throttled.h */
#include "coll/algos/throttled.h"

#include "support/walk.h"

enum { COUNT = 2, BATCHES = 5, SMALL = 9 }; /* elements of a block; ranks of law 3 */

static const uint32_t batches[BATCHES] = {1, 2, 3, 4, 100};

static coll_plan throttled(uint32_t p, uint32_t flags, uint32_t batch)
{
    return plan_with(&coll_throttled_alltoall, COLL_ALLTOALL, p, COUNT, flags, 0, &batch);
}

/* Law 1. */
TEST(rounds_are_those_of_pairwise)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < BATCHES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = throttled(p, flags, batches[i]);
                const coll_plan free =
                    plan_of(&coll_pairwise_alltoall, COLL_ALLTOALL, p, COUNT, flags);
                for (uint32_t rank = 0; rank < p; rank++) {
                    static walk wanted;
                    const walk *w;
                    size_t b = 0;
                    wanted = *walk_of(&free, rank);
                    w = walk_of(&plan, rank);
                    for (size_t a = 0; a < w->n; a++) {
                        if (coll_i_has(COLL_I_TOKENS, &w->act[a]))
                            continue;
                        CHECK(b < wanted.n);
                        CHECK_EQ(w->act[a].kind, wanted.act[b].kind);
                        CHECK_EQ(w->act[a].peer, wanted.act[b].peer);
                        CHECK_EQ(w->act[a].count, wanted.act[b].count);
                        b++;
                    }
                    CHECK_EQ(b, wanted.n);
                }
            }
}

/* Law 2: what permits round i waits for the receive of round i − batch, and the send of round i
 * for what permits it. */
TEST(permissions_come_from_the_round_before)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < BATCHES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = throttled(p, flags, batches[i]);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    for (size_t a = 0; a < w->n; a++) {
                        const coll_action *act = &w->act[a];
                        const uint32_t round = flags ? (act->peer + rank) % p
                                               : is_send(act) && act->kind != COLL_DO_NOTIFY
                                                   ? (act->peer + p - rank) % p
                                                   : (rank + p - act->peer) % p;
                        if (act->kind == COLL_DO_NOTIFY) {
                            uint32_t before = flags ? (round + p - batches[i] - rank) % p
                                                    : (act->peer + batches[i]) % p;
                            if (before == rank) /* in the round that it skips */
                                before = round >= 2 * batches[i]
                                             ? (round + 2 * p - 2 * batches[i] - rank) % p
                                             : act->peer;
                            CHECK(round >= batches[i]);
                            CHECK_EQ(act->src, COLL_AT(COLL_OUT, COUNT * before));
                        } else if (act->kind == COLL_DO_SEND && round >= batches[i] + !flags) {
                            CHECK(a > 0 && w->act[a - 1].kind == COLL_DO_AWAIT);
                            CHECK_EQ(w->act[a - 1].peer, act->peer);
                            CHECK_EQ(w->act[a - 1].dst, act->src);
                        }
                    }
                }
            }
}

/* Law 3: everything that refs and channels allow happens at once, except that messages are
 * received as late as possible. */
typedef struct slow_rank {
    coll_action act[4 * SMALL + 4];
    bool done[4 * SMALL + 4];
    size_t n;
} slow_rank;

static slow_rank slow[SMALL];
static uint32_t posted[SMALL][SMALL], taken[SMALL][SMALL]; /* messages and tokens */

static bool may_start(const slow_rank *at, size_t a)
{
    const coll_action *act = &at->act[a];
    const bool writes = coll_i_has(COLL_I_WRITES_DST, act);
    for (size_t b = 0; b < a; b++) {
        const coll_action *older = &at->act[b];
        if (at->done[b])
            continue;
        if ((coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, act) && older->peer == act->peer &&
             is_send(older) == is_send(act) && older->kind != COLL_DO_COPY) ||
            (writes && coll_i_window_touches(older, act->dst, act->count, true)) ||
            (coll_i_has(COLL_I_READS_SRC, act) &&
             coll_i_window_touches(older, act->src, act->count, false)))
            return false;
    }
    return true;
}

/* Does one action, data receives only if `eager`. False: there is none. */
static bool do_one(uint32_t p, bool eager)
{
    for (uint32_t r = 0; r < p; r++)
        for (size_t a = 0; a < slow[r].n; a++) {
            const coll_action *act = &slow[r].act[a];
            if (slow[r].done[a] || (act->kind == COLL_DO_RECV && !eager) ||
                !may_start(&slow[r], a))
                continue;
            if (is_receive(act) && taken[act->peer][r] == posted[act->peer][r])
                continue;
            if (is_receive(act))
                taken[act->peer][r]++;
            if (is_send(act))
                posted[r][act->peer]++;
            slow[r].done[a] = true;
            return true;
        }
    return false;
}

TEST(few_messages_are_under_way)
{
    for (uint32_t p = 2; p <= SMALL; p++)
        for (int i = 0; i < BATCHES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = throttled(p, flags, batches[i]);
                uint32_t most = 0;
                for (uint32_t r = 0; r < p; r++) {
                    const walk *w = walk_of(&plan, r);
                    slow[r].n = w->n;
                    for (size_t a = 0; a < w->n; a++) {
                        slow[r].act[a] = w->act[a];
                        slow[r].done[a] = false;
                        if (!coll_i_has(COLL_I_WRITES_DST, &w->act[a]))
                            slow[r].act[a].dst = COLL_I_WINDOW_NOWHERE;
                        if (!coll_i_has(COLL_I_READS_SRC, &w->act[a]))
                            slow[r].act[a].src = COLL_I_WINDOW_NOWHERE;
                    }
                    for (uint32_t k = 0; k < p; k++)
                        posted[r][k] = taken[r][k] = 0;
                }
                do {
                    while (do_one(p, false))
                        ;
                    for (uint32_t r = 0; r < p; r++) {
                        uint32_t coming = 0;
                        for (uint32_t k = 0; k < p; k++)
                            for (size_t a = 0; a < slow[k].n; a++)
                                coming += slow[k].act[a].kind == COLL_DO_SEND &&
                                          slow[k].act[a].peer == r && slow[k].done[a];
                        for (size_t a = 0; a < slow[r].n; a++)
                            coming -= slow[r].act[a].kind == COLL_DO_RECV && slow[r].done[a];
                        CHECK(coming <= batches[i]);
                        most = coming > most ? coming : most;
                    }
                } while (do_one(p, true));
                for (uint32_t r = 0; r < p; r++)
                    for (size_t a = 0; a < slow[r].n; a++)
                        CHECK(slow[r].done[a]);
                CHECK_EQ(most, batches[i] < p - 1 ? batches[i] : p - 1);
            }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < BATCHES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t batch = batches[i];
                const coll_plan plan = throttled(p, flags, batch);
                const coll_report cost = cost_of(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t last = flags ? p : p - 1; /* rounds 0 … p−1, or 1 … p−1 */
                    uint32_t permissions = last > batch ? last - batch : 0;
                    if (flags && permissions > 0 && 2 * rank % p >= batch)
                        permissions--; /* the round with itself */
                    CHECK_EQ(cost.ranks[rank].messages, p - 1 + permissions);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             flags ? COUNT * (batch < p ? batch : p) : 0);
                }
            }
}

int main(void)
{
    RUN(rounds_are_those_of_pairwise);
    RUN(permissions_come_from_the_round_before);
    RUN(few_messages_are_under_way);
    RUN(costs);
    return check_done();
}
