/* tests/algos/recursive_doubling.c — the laws of coll/algos/recursive_doubling.h */
#include "coll/algos/recursive_doubling.h"

#include "walk.h"

/* The round of a step of a rank that is not idle; UINT32_MAX for what folding adds. */
static uint32_t round_of(coll_i_doubling part, size_t step)
{
    const size_t before = part.folded ? 1 : 0;
    return step < before || step >= before + part.rounds ? UINT32_MAX
                                                         : (uint32_t)(step - before);
}

/* Laws 1 and 2 of allgather: messages are the blocks of a rank's set, next to each other in a
 * pair. */
TEST(sets_of_ranks_double)
{
    for (uint32_t p = 1; p <= 64; p++) {
        const coll_plan plan =
            plan_of(&coll_recursive_doubling_allgather, COLL_ALLGATHER, p, 1, COLL_IN_PLACE);
        uint64_t has[64], next[64]; /* blocks, by what the messages carry */
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_i_doubling part = coll_i_doubling_of(&plan, rank);
            has[rank] = (uint64_t)1 << rank;
            if (part.folded)
                has[rank] |= (uint64_t)1 << (rank - 1);
        }
        for (uint32_t k = 0; k < coll_i_doubling_of(&plan, 0).rounds; k++) {
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_i_doubling part = coll_i_doubling_of(&plan, rank);
                const walk *w = walk_of(&plan, rank);
                uint32_t to = COLL_NOBODY, from = COLL_NOBODY;
                next[rank] = has[rank];
                if (part.idle)
                    continue;
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    const size_t first = coll_ref_offset(is_send(a) ? a->src : a->dst);
                    const uint64_t run = (UINT64_MAX >> (64 - a->count)) << first;
                    if (round_of(part, w->step[i]) != k)
                        continue;
                    if (is_send(a)) {
                        to = a->peer;
                        CHECK_EQ(run, has[rank]);
                    } else {
                        from = a->peer;
                        CHECK_EQ(run, has[from]);
                        CHECK_EQ(run & has[rank], 0);
                        next[rank] |= run;
                    }
                }
                CHECK(to != COLL_NOBODY && to == from);
                CHECK_EQ(coll_fold_number(part.fold, to) ^ coll_fold_number(part.fold, rank),
                         (uint32_t)1 << k);
                /* one run: adding its lowest bit leaves a single one */
                CHECK_EQ((next[rank] + (next[rank] & (0 - next[rank]))) & next[rank], 0);
            }
            for (uint32_t rank = 0; rank < p; rank++)
                has[rank] = next[rank];
        }
        for (uint32_t rank = 0; rank < p; rank++)
            if (!coll_i_doubling_of(&plan, rank).idle)
                CHECK_EQ(has[rank], UINT64_MAX >> (64 - p));
    }
}

/* Laws 1 and 3 of allreduce, and the side of the operands. */
TEST(rounds_write_where_they_do_not_read)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE) {
            const coll_plan plan =
                plan_of(&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, p, 1, flags);
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_i_doubling part = coll_i_doubling_of(&plan, rank);
                const walk *w = walk_of(&plan, rank);
                coll_ref last = 0;
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (a->kind != COLL_DO_RECV_REDUCE)
                        continue;
                    last = a->dst;
                    CHECK_EQ((a->flags & COLL_LEFT) != 0, a->peer < rank);
                    if (round_of(part, w->step[i]) == UINT32_MAX)
                        continue;
                    CHECK(a->dst != a->src && a->via == a->dst);
                    CHECK(i > 0 && is_send(&w->act[i - 1]));
                    CHECK_EQ(w->act[i - 1].peer, a->peer);
                    CHECK_EQ(w->act[i - 1].src, a->src);
                }
                if (p > 1 && !part.idle)
                    CHECK_EQ(last, COLL_AT(COLL_OUT, 0));
            }
        }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE) {
            const coll_fold fold = coll_fold_of(p);
            const uint32_t log = coll_log2_ceil(fold.core), folds = fold.extra > 0 ? 2 : 0;
            coll_plan plan =
                plan_of(&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, p, count, flags);
            coll_report cost = cost_of(&plan);
            CHECK(cost.rounds <= log + folds && cost.rounds >= log + folds / 2);
            CHECK_EQ(cost.most.messages, log + folds / 2);
            CHECK_EQ(cost.total.messages, fold.core * log + 2 * fold.extra);
            CHECK(cost.most.scratch <= count);
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK(coll_plan_scratch(&plan, rank) <= count);
            plan = plan_of(&coll_recursive_doubling_allgather, COLL_ALLGATHER, p, count, flags);
            cost = cost_of(&plan);
            CHECK(cost.rounds <= log + folds && cost.rounds >= log + folds / 2);
            CHECK_EQ(cost.total.elements, count * (fold.core * (p - 1) + fold.extra * p));
            CHECK_EQ(cost.total.scratch, 0);
        }
}

int main(void)
{
    RUN(sets_of_ranks_double);
    RUN(rounds_write_where_they_do_not_read);
    RUN(costs);
    return check_done();
}
