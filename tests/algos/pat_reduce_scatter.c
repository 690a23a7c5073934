/* tests/algos/pat_reduce_scatter.c — the laws of coll/algos/pat_reduce_scatter.h */
#include "coll/algos/pat_reduce_scatter.h"

#include "support/pat_trees.h"

enum { COUNT = 2 }; /* elements of a block */

static coll_plan pat(uint32_t p, uint32_t flags, uint32_t aggregate)
{
    return plan_with(&coll_pat_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, COUNT,
                     flags | COLL_FLAG_COMMUTATIVE, 0, &aggregate);
}

/* Laws 1 and 2: the messages of the trees backwards, each with its blocks. */
TEST(messages_of_the_trees_backwards)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++) {
            const trees t = trees_of(p, trees_aggregates[i]);
            const coll_plan plan = pat(p, 0, trees_aggregates[i]);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                const coll_action *act = w->act;
                for (uint32_t k = t.n; k-- > 0;) {
                    const trees_message *m = &t.message[k];
                    const bool packed = m->blocks > 1;
                    for (uint32_t b = 0; packed && b < m->blocks; b++, act++)
                        CHECK_EQ(act->kind, COLL_DO_COPY);
                    CHECK_EQ(act->kind, COLL_DO_SEND);
                    CHECK_EQ(act->peer, (rank + p - m->distance) % p);
                    CHECK_EQ(act->count, COUNT * m->blocks);
                    act++;
                    CHECK_EQ(act->kind, packed ? COLL_DO_RECV : COLL_DO_RECV_REDUCE);
                    CHECK_EQ(act->peer, (rank + m->distance) % p);
                    CHECK_EQ(act->count, COUNT * m->blocks);
                    act++;
                    for (uint32_t b = 0; packed && b < m->blocks; b++, act++)
                        CHECK_EQ(act->kind, COLL_DO_REDUCE);
                }
                CHECK_EQ(act - w->act, w->n - (p == 1 ? 1 : 0));
            }
        }
}

/* Law 3: a vertex begins with its operand, then only its sum is read; and where that lies is not
 * written for another one until it is sent. */
TEST(sums_are_complete_before_they_leave)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++) {
            const trees t = trees_of(p, trees_aggregates[i]);
            const coll_plan plan = pat(p, 0, trees_aggregates[i]);
            const uint32_t rank = p / 3;
            const walk *w = walk_of(&plan, rank);
            const coll_action *act = w->act;
            static uint32_t owner[64 * 64]; /* of an element of SCRATCH: the vertex, or 0 */
            uint32_t children[64] = {0};
            memset(owner, 0, sizeof owner);
            for (uint32_t k = t.n; k-- > 0;) {
                const trees_message *m = &t.message[k];
                const bool packed = m->blocks > 1;
                for (uint32_t b = 0; b < m->blocks; b++, act++) { /* leave */
                    const uint32_t x = m->x + b * m->apart;
                    const size_t at = coll_ref_offset(act->src);
                    uint32_t wanted = 0;
                    for (uint32_t d = 1; d < (x & (0 - x)) && x + d < p; d *= 2)
                        wanted++;
                    CHECK_EQ(children[x], wanted);
                    if (wanted == 0) {
                        CHECK_EQ(act->src, COLL_AT(COLL_IN, COUNT * ((rank + p - x) % p)));
                    } else {
                        CHECK_EQ(owner[at], x);
                        owner[at] = 0;
                    }
                }
                act += packed ? 2 : 0;                            /* the message */
                for (uint32_t b = 0; b < m->blocks; b++, act++) { /* are taken up */
                    const uint32_t x = m->x + b * m->apart - m->distance;
                    const size_t at = coll_ref_offset(act->dst);
                    if (x == 0) {
                        CHECK_EQ(act->dst, COLL_AT(COLL_OUT, 0));
                    } else {
                        CHECK_EQ(owner[at], children[x] == 0 ? 0 : x);
                        owner[at] = x;
                    }
                    CHECK_EQ(act->src, children[x] == 0
                                           ? COLL_AT(COLL_IN, COUNT * ((rank + p - x) % p))
                                           : act->dst);
                    children[x]++;
                }
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const trees t = trees_of(p, trees_aggregates[i]);
                const coll_plan plan = pat(p, flags, trees_aggregates[i]);
                const coll_report cost = cost_of(&plan);
                const uint32_t most = (p - 1) / t.delta + 1;
                uint32_t bits = 0;
                while (t.delta >> bits > 1)
                    bits++;
                CHECK_EQ(cost.rounds, t.top + (t.delta < p ? t.delta : p) - 1);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages,
                             t.top + (t.delta < p ? t.delta : p) - 1);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(cost.ranks[rank].reduced, COUNT * (p - 1));
                    if (p > 1)
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 COUNT * ((most > 1 ? 4 * most : 2) + bits * most));
                }
            }
}

int main(void)
{
    RUN(messages_of_the_trees_backwards);
    RUN(sums_are_complete_before_they_leave);
    RUN(costs);
    return check_done();
}
