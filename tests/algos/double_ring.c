/* tests/algos/double_ring.c — the laws of coll/algos/double_ring.h */
#include "coll/algos/double_ring.h"

#include "support/walk.h"

/* Laws 1 and 2: all messages, found by following the token from rank 0. */
TEST(a_token_goes_round_twice)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan = plan_of(&coll_double_ring_barrier, COLL_BARRIER, p, 0, 0);
        size_t next[64] = {0}; /* the action of a rank that is its turn */
        coll_ref awaited = COLL_AT(COLL_SCRATCH, 0);
        for (uint32_t hop = 0; hop < 2 * p - 1; hop++) {
            const uint32_t from = hop % p, to = (hop + 1) % p;
            const walk *sender = walk_of(&plan, from), *receiver = walk_of(&plan, to);
            const coll_action *send, *receive;
            if (!CHECK(next[from] < sender->n && next[to] < receiver->n))
                return;
            send = &sender->act[next[from]++];
            receive = &receiver->act[next[to]++];
            CHECK_EQ(send->kind, COLL_DO_NOTIFY);
            CHECK_EQ(send->peer, to);
            CHECK_EQ(receive->kind, COLL_DO_AWAIT);
            CHECK_EQ(receive->peer, from);
            CHECK(send->src <= awaited && awaited < send->src + send->count);
            awaited = receive->dst;
        }
        for (uint32_t rank = 0; rank < p; rank++)
            CHECK_EQ(next[rank], walk_of(&plan, rank)->n);
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const coll_plan plan = plan_of(&coll_double_ring_barrier, COLL_BARRIER, p, 0, 0);
        const coll_report cost = cost_of(&plan);
        CHECK_EQ(cost.total.messages, p == 1 ? 0 : 2 * p - 1);
        CHECK_EQ(cost.rounds, p == 1 ? 0 : 2 * p - 1);
    }
}

int main(void)
{
    RUN(a_token_goes_round_twice);
    RUN(costs);
    return check_done();
}
