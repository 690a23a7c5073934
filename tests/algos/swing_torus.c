/* tests/algos/swing_torus.c — the laws of coll/algos/swing_torus.h */
#include "coll/algos/swing.h"
#include "coll/algos/swing_torus.h"

#include "support/core.h"

static coll_plan torus(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                       uint32_t width, size_t count)
{
    return plan_with(algorithm, collective, p, count, COLL_FLAG_COMMUTATIVE, 0, &width);
}

/* 1 − 2 + 4 − … ± 2^t. */
static int64_t rho(uint32_t t)
{
    int64_t sum = 0, term = 1;
    for (uint32_t i = 0; i <= t; i++, term *= -2)
        sum += term;
    return sum;
}

/* Whom a place meets in round t of a ring. */
static uint32_t swung(uint32_t size, uint32_t place, uint32_t t)
{
    const int64_t n = size, to = place + (place % 2 ? -rho(t) : rho(t));
    return (uint32_t)((to % n + n) % n);
}

/* The partner in round t: rows and columns take turns while both have rounds left. */
static uint32_t partner(uint32_t p, uint32_t width, uint32_t rank, uint32_t t)
{
    const uint32_t height = p / width;
    uint32_t done[2] = {0, 0}, left[2], next = 0;
    left[0] = coll_log2_ceil(width);
    left[1] = coll_log2_ceil(height);
    for (uint32_t i = 0;; i++) {
        const uint32_t dimension = left[next] > 0 ? next : 1 - next;
        if (i == t)
            return dimension == 0 ? rank / width * width + swung(width, rank % width, done[0])
                                  : swung(height, rank / width, done[1]) * width + rank % width;
        done[dimension]++;
        left[dimension]--;
        next = 1 - dimension;
    }
}

/* The rank itself, and all that it reaches from round t on. */
static uint64_t reach(uint32_t p, uint32_t width, uint32_t rank, uint32_t t)
{
    if (t == coll_log2_ceil(p))
        return (uint64_t)1 << rank;
    return reach(p, width, rank, t + 1) | reach(p, width, partner(p, width, rank, t), t + 1);
}

/* Law 1. */
TEST(rows_and_columns_take_turns)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p *= 2)
        for (uint32_t width = 1; width <= p; width *= 2) {
            const uint32_t rounds = coll_log2_ceil(p);
            const coll_plan plans[] = {
                torus(&coll_swing_torus_allreduce, COLL_ALLREDUCE, p, width, p),
                torus(&coll_swing_torus_latency_allreduce, COLL_ALLREDUCE, p, width, 3),
                torus(&coll_swing_torus_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, width,
                      3)};
            for (uint32_t rank = 0; rank < p; rank++)
                for (uint32_t t = 0; t < rounds; t++)
                    for (uint32_t which = 0; which < 4; which++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n = coll_plan_step(
                            &plans[which % 3], rank, which == 3 ? 2 * rounds - 1 - t : t, acts);
                        CHECK_EQ(core_message(acts, n, true)->peer, partner(p, width, rank, t));
                        CHECK_EQ(core_message(acts, n, false)->peer,
                                 partner(p, width, rank, t));
                    }
        }
}

/* Law 2: one element a piece, so that offsets are slots. */
TEST(what_is_given_is_for_those_behind_the_partner)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p *= 2)
        for (uint32_t width = 1; width <= p; width *= 2) {
            const coll_plan plan =
                torus(&coll_swing_torus_allreduce, COLL_ALLREDUCE, p, width, p);
            for (uint32_t rank = 0; rank < p; rank++) {
                CHECK_EQ(coll_i_torus_number(&plan, coll_i_torus_slot(&plan, rank)), rank);
                for (uint32_t t = 0; t < coll_log2_ceil(p); t++) {
                    coll_action acts[COLL_STEP_MAX];
                    const unsigned n = coll_plan_step(&plan, rank, t, acts);
                    const coll_action *send = core_message(acts, n, true);
                    const size_t first = coll_ref_offset(send->src);
                    uint64_t ranks = 0;
                    for (size_t slot = first; slot < first + send->count; slot++)
                        ranks |= (uint64_t)1 << coll_i_torus_number(&plan, (uint32_t)slot);
                    CHECK_EQ(ranks, reach(p, width, send->peer, t + 1));
                }
            }
        }
}

/* Elements sent, each times the links that it crosses on a torus. */
static size_t torus_hops(const coll_plan *plan, uint32_t width)
{
    const uint32_t p = plan->problem.p, size[] = {width, p / width};
    size_t hops = 0;
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(plan, rank);
        for (size_t i = 0; i < w->n; i++)
            for (uint32_t d = 0; d < 2 && is_send(&w->act[i]); d++) {
                const uint32_t from = d ? rank / width : rank % width;
                const uint32_t to = d ? w->act[i].peer / width : w->act[i].peer % width;
                const uint32_t up = (to + size[d] - from) % size[d];
                hops += w->act[i].count * (up < size[d] - up ? up : size[d] - up);
            }
    }
    return hops;
}

/* Law 3. */
TEST(messages_cross_fewer_links)
{
    for (uint32_t p = 16; p <= CHECK_RANKS; p *= 2)
        for (uint32_t width = 4; width <= p / 4; width *= 2) {
            const coll_plan near =
                torus(&coll_swing_torus_allreduce, COLL_ALLREDUCE, p, width, 2 * (size_t)p);
            const coll_plan far = plan_of(&coll_swing_allreduce, COLL_ALLREDUCE, p,
                                          2 * (size_t)p, COLL_FLAG_COMMUTATIVE);
            const coll_plan near_whole =
                torus(&coll_swing_torus_latency_allreduce, COLL_ALLREDUCE, p, width, 1);
            const coll_plan far_whole = plan_of(&coll_swing_latency_allreduce, COLL_ALLREDUCE,
                                                p, 1, COLL_FLAG_COMMUTATIVE);
            CHECK(torus_hops(&near, width) < torus_hops(&far, width));
            CHECK(torus_hops(&near_whole, width) < torus_hops(&far_whole, width));
        }
}

/* As on one ring. */
TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p *= 2)
        for (uint32_t width = 1; width <= p; width *= 2) {
            const size_t count = 2 * (size_t)p;
            const coll_plan plan =
                torus(&coll_swing_torus_allreduce, COLL_ALLREDUCE, p, width, count);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, 2 * coll_log2_ceil(p));
            for (uint32_t rank = 0; rank < p; rank++) {
                CHECK_EQ(cost.ranks[rank].messages, 2 * coll_log2_ceil(p));
                CHECK_EQ(cost.ranks[rank].elements, 2 * (count - count / p));
            }
        }
}

/* What is not a torus of powers of two is refused. */
TEST(other_tori_are_refused)
{
    coll_problem problem;
    coll_plan plan;
    uint32_t width = 3;
    coll_problem_init(&problem, COLL_ALLREDUCE, 12, 8, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_swing_torus_allreduce, &problem, &width),
                 COLL_ERR_SHAPE);
    problem.p = 8;
    CHECK_STATUS(coll_plan_init(&plan, &coll_swing_torus_allreduce, &problem, &width),
                 COLL_ERR_SHAPE);
}

int main(void)
{
    RUN(rows_and_columns_take_turns);
    RUN(what_is_given_is_for_those_behind_the_partner);
    RUN(messages_cross_fewer_links);
    RUN(costs);
    RUN(other_tori_are_refused);
    return check_done();
}
