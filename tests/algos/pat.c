/* tests/algos/pat.c — the laws of coll/algos/pat.h */
#include "coll/algos/pat.h"

#include "support/pat_trees.h"

enum { COUNT = 2 }; /* elements of a block */

static coll_plan pat(uint32_t p, uint32_t flags, uint32_t aggregate)
{
    return plan_with(&coll_pat_allgather, COLL_ALLGATHER, p, COUNT, flags, 0, &aggregate);
}

/* Law 2 but for the order, and law 3, of the messages themselves. */
TEST(vertices_after_their_parents)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++) {
            const trees t = trees_of(p, trees_aggregates[i]);
            uint64_t has = 1;
            for (uint32_t k = 0; k < t.n; k++) {
                const trees_message *m = &t.message[k];
                CHECK(m->blocks >= 1 && m->blocks <= trees_aggregates[i]);
                for (uint32_t b = 0; b < m->blocks; b++) {
                    const uint32_t x = m->x + b * m->apart;
                    CHECK_EQ(x & (x - 1), x - m->distance);
                    CHECK((has >> (x - m->distance)) & 1);
                    CHECK(!((has >> x) & 1));
                    has |= (uint64_t)1 << x;
                }
            }
            CHECK_EQ(has, UINT64_MAX >> (64 - p));
        }
}

/* Laws 1 and 2: a rank's list is that of the messages, each with its blocks. */
TEST(messages_of_the_trees)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++) {
            const trees t = trees_of(p, trees_aggregates[i]);
            const coll_plan plan = pat(p, COLL_FLAG_IN_PLACE, trees_aggregates[i]);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                size_t a = 0;
                for (uint32_t k = 0; k < t.n; k++) {
                    const trees_message *m = &t.message[k];
                    const bool packed = m->blocks > 1;
                    const coll_action *act = &w->act[a];
                    for (uint32_t b = 0; packed && b < m->blocks; b++, act++) {
                        const uint32_t x = m->x + b * m->apart - m->distance;
                        CHECK_EQ(act->kind, COLL_DO_COPY);
                        CHECK_EQ(act->src, COLL_AT(COLL_OUT, COUNT * ((rank + p - x) % p)));
                    }
                    CHECK_EQ(act->kind, COLL_DO_SEND);
                    CHECK_EQ(act->peer, (rank + m->distance) % p);
                    CHECK_EQ(act->count, COUNT * m->blocks);
                    act++;
                    CHECK_EQ(act->kind, COLL_DO_RECV);
                    CHECK_EQ(act->peer, (rank + p - m->distance) % p);
                    CHECK_EQ(act->count, COUNT * m->blocks);
                    act++;
                    for (uint32_t b = 0; packed && b < m->blocks; b++, act++) {
                        const uint32_t x = m->x + b * m->apart;
                        CHECK_EQ(act->kind, COLL_DO_COPY);
                        CHECK_EQ(act->dst, COLL_AT(COLL_OUT, COUNT * ((rank + p - x) % p)));
                    }
                    a = (size_t)(act - w->act);
                }
                CHECK_EQ(a, w->n);
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
                CHECK_EQ(cost.rounds, t.top + (t.delta < p ? t.delta : p) - 1);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages,
                             t.top + (t.delta < p ? t.delta : p) - 1);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(cost.ranks[rank].copied,
                             COUNT * (2 * trees_packed(&t) + (flags ? 0 : 1)));
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             t.delta < p ? COUNT * 4 * ((p - 1) / t.delta + 1) : 0);
                }
            }
}

/* Blocks that differ travel alone with their own size, together with that of the largest. */
TEST(costs_of_uneven_blocks)
{
    size_t counts[64], displs[64];
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (int i = 0; i < TREES_AGGREGATES; i++) {
            const trees t = trees_of(p, trees_aggregates[i]);
            coll_problem problem;
            coll_plan plan;
            coll_report cost;
            coll_problem_init(&problem, COLL_ALLGATHERV, p, 0, 8);
            for (uint32_t k = 0, at = 0; k < p; k++) {
                counts[k] = 1 + k % 4;
                displs[k] = at;
                at += 1 + k % 4;
            }
            problem.out.counts = counts;
            problem.out.displs = displs;
            CHECK_STATUS(
                coll_plan_init(&plan, &coll_pat_allgather, &problem, &trees_aggregates[i]),
                COLL_OK);
            cost = cost_of(&plan);
            for (uint32_t rank = 0; rank < p; rank++) {
                size_t elements = 0;
                for (uint32_t k = 0; k < t.n; k++) {
                    const trees_message *m = &t.message[k];
                    elements += m->blocks > 1 ? m->blocks * plan.largest
                                              : counts[(rank + p - (m->x - m->distance)) % p];
                }
                CHECK_EQ(cost.ranks[rank].elements, elements);
            }
        }
}

int main(void)
{
    RUN(vertices_after_their_parents);
    RUN(messages_of_the_trees);
    RUN(costs);
    RUN(costs_of_uneven_blocks);
    return check_done();
}
