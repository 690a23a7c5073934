/* tests/algos/shm.c — the laws of coll/algos/kit/shared_buffers.h, and of shm_bcast.h, shm_rooted.h,
 * shm_allgather.h, shm_alltoall.h, shm_reduce.h */
#include "coll/algos/shm_allgather.h"
#include "coll/algos/shm_alltoall.h"
#include "coll/algos/shm_barrier.h"
#include "coll/algos/shm_bcast.h"
#include "coll/algos/shm_reduce.h"
#include "coll/algos/shm_rooted.h"

#include "support/walk.h"

enum { F = 3 };

typedef struct row {
    coll_collective collective;
    const coll_algorithm *algorithm;
} row;

static const row rows[] = {
    {COLL_BCAST, &coll_shm_bcast},         {COLL_SCATTER, &coll_shm_scatter},
    {COLL_GATHER, &coll_shm_gather},       {COLL_ALLGATHER, &coll_shm_allgather},
    {COLL_ALLTOALL, &coll_shm_alltoall},   {COLL_REDUCE, &coll_shm_reduce},
    {COLL_ALLREDUCE, &coll_shm_allreduce},
};
enum { ROWS = sizeof rows / sizeof *rows };

static coll_plan shm(const row *of, uint32_t p, uint32_t root, size_t count, uint32_t buffers,
                     uint32_t buffer, uint32_t flags)
{
    const uint32_t params[] = {F, buffers, buffer};
    return plan_with(of->algorithm, of->collective, p, count, flags, root, params);
}

static bool puts_in(const coll_action *a)
{
    return a->kind == COLL_DO_COPY && a->count > 0 && coll_ref_space(a->dst) == COLL_SHARED;
}

static bool gets_out(const coll_action *a)
{
    return (a->kind == COLL_DO_COPY || a->kind == COLL_DO_REDUCE) && a->count > 0 &&
           coll_ref_space(a->src) == COLL_SHARED;
}

/* Law 1 of shm_rooted.h. */
TEST(only_the_root_puts_or_gets)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t which = 0; which < 3; which++)
            for (uint32_t buffer = 2; buffer <= 512; buffer *= 16) {
                const uint32_t root = p / 2;
                const coll_plan plan = shm(&rows[which], p, root, 5, 2, buffer, 0);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    for (size_t i = 0; i < w->n; i++) {
                        if (puts_in(&w->act[i]))
                            CHECK_EQ(rank == root, rows[which].collective != COLL_GATHER);
                        if (gets_out(&w->act[i]))
                            CHECK_EQ(rank == root, rows[which].collective == COLL_GATHER);
                    }
                }
            }
}

/* Law 3 of shm_rooted.h, and its kin: what is in SHARED is bounded by the parameters, whatever
 * the count. */
TEST(shared_is_limited)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t which = 0; which < ROWS; which++)
            for (uint32_t buffers = 1; buffers <= 4; buffers++)
                for (uint32_t buffer = 1; buffer <= 64; buffer *= 8)
                    for (size_t count = 0; count < 100; count += 7) {
                        const coll_plan plan = shm(&rows[which], p, 0, count, buffers, buffer,
                                                   COLL_FLAG_COMMUTATIVE);
                        const coll_collective c = rows[which].collective;
                        const size_t parts = c == COLL_ALLTOALL || c == COLL_REDUCE ? p
                                             : c == COLL_ALLREDUCE                  ? p + 1
                                                                                    : 1;
                        CHECK(coll_plan_shared(&plan) <= (size_t)buffers * buffer * parts);
                    }
}

/* Law 1 of shm_allgather.h. */
TEST(owners_take_turns)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan = shm(&rows[3], p, 0, 5, 2, 2, 0); /* 3 segments */
        CHECK(!coll_i_shm_at_once(&plan));
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *w = walk_of(&plan, rank);
            size_t stage = 0;
            for (size_t i = 0; i < w->n; i++) {
                if (puts_in(&w->act[i])) {
                    CHECK_EQ(stage % p, rank);
                    CHECK_EQ(w->act[i].src, COLL_AT(COLL_IN, 2 * (stage / p)));
                    stage++;
                }
                if (gets_out(&w->act[i])) {
                    CHECK_EQ(w->act[i].dst, COLL_AT(COLL_OUT, stage % p * 5 + 2 * (stage / p)));
                    stage++;
                }
            }
            CHECK_EQ(stage, 3 * p);
        }
    }
}

/* Law 1 of shm_alltoall.h. */
TEST(partners)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            bool seen[64] = {false};
            for (uint32_t block = 0; block < p - 1; block++) {
                const coll_i_shm_pair pair = coll_i_shm_pair_of(p, rank, block);
                const uint32_t its = coll_i_shm_block_of(p, pair.with, pair.round);
                CHECK(pair.with < p && pair.with != rank && !seen[pair.with]);
                seen[pair.with] = true;
                CHECK_EQ(coll_i_shm_block_of(p, rank, pair.round), block);
                CHECK_EQ(coll_i_shm_pair_of(p, pair.with, its).with, rank);
                CHECK_EQ(coll_i_shm_pair_of(p, pair.with, its).round, pair.round);
            }
        }
}

/* Laws 1 and 2 of shm_reduce.h. */
TEST(slots_are_combined_in_rank_order)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t which = 5; which < ROWS; which++) {
            const coll_plan plan = shm(&rows[which], p, p - 1, 10, 2, 7, 0);
            size_t combined = 0;
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (a->kind != COLL_DO_REDUCE || a->count == 0)
                        continue;
                    combined += a->count;
                    CHECK_EQ(a->inputs, p - 1);
                    CHECK_EQ(a->via, a->src + a->stride);
                    CHECK_EQ(a->stride, 7);
                    CHECK(which == 6 || rank == p - 1);
                }
            }
            CHECK_EQ(combined, 10);
        }
}

/* What the laws say of buffers that are free: no race, with few small buffers too, where the
 * grid of the proofs has only large ones. */
TEST(a_buffer_is_used_again_when_it_is_free)
{
    for (uint32_t p = 1; p <= 9; p++)
        for (size_t which = 0; which < ROWS; which++)
            for (uint32_t buffers = 1; buffers <= 4; buffers++)
                for (uint32_t buffer = 1; buffer <= 3; buffer += 2)
                    for (size_t count = 0; count <= 7; count++)
                        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags++) {
                            const coll_plan plan = shm(&rows[which], p, p / 2, count, buffers,
                                                       buffer, COLL_FLAG_COMMUTATIVE | flags);
                            cost_of(&plan);
                        }
}

/* ---- costs ------------------------------------------------------------------------------- */

static size_t less(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

typedef struct cost {
    size_t copied, messages; /* of all ranks */
    size_t copied_by_other;  /* a rank that is not the root */
    size_t rounds, at_most;  /* … or more of them, up to this many */
} cost;

/* By the formulas of the files' heads. */
static cost wanted(coll_collective c, size_t p, size_t n, size_t B, size_t buffer, bool own)
{
    const size_t S = n == 0 ? 1 : (n + buffer - 1) / buffer, mine = own ? n : 0;
    const size_t T = (p - 1) * S, R = p * S, h = fnomial_height((uint32_t)p, F);
    const bool at_once = p * n <= B * buffer;
    size_t g;
    cost of = {own ? n : 0, 0, 0, 0, 0};
    if (p == 1)
        return of;
    switch (c) {
    case COLL_BCAST:
        of.copied = n * p + mine;
        of.messages = (p - 1) * (S + less(S, B));
        of.copied_by_other = n;
        of.rounds = h * (2 * less(S, B) + 1);
        break;
    case COLL_SCATTER:
        of.copied = (at_once ? p : p - 1) * n + (p - 1) * n + mine;
        of.messages = at_once ? p - 1 : T + less(T, B);
        of.copied_by_other = n;
        g = 1 + (B - 1) % (p - 1);
        of.rounds = at_once ? h : 2 * ((less(T, B) + g - 1) / g) + 1;
        break;
    case COLL_GATHER:
        of.copied = 2 * (p - 1) * n + mine;
        of.messages = at_once ? p - 1 : T + less(T, B);
        of.copied_by_other = n;
        of.rounds = at_once ? h : 2 * less(T, B) + 1;
        break;
    case COLL_ALLGATHER:
        of.copied_by_other = at_once ? (p + 1) * n : p * n + mine;
        of.copied = p * of.copied_by_other;
        of.messages = at_once ? 2 * (p - 1) : (p - 1) * (R + less(R, B));
        of.rounds = at_once ? 2 * h : p == 2 ? R : 2 * R - B;
        break;
    case COLL_ALLTOALL:
        of.copied_by_other = at_once ? 2 * p * n : 2 * (p - 1) * n + mine;
        of.copied = p * of.copied_by_other;
        of.messages = at_once ? 2 * (p - 1) : p * (T + less(T, B < p - 1 ? B : p - 1));
        of.rounds = at_once ? 2 * h : p == 2 ? 2 * S - 1 : B > 1 ? R : 2 * T;
        of.at_most = !at_once && p > 2 && B == 1 ? 2 * T + S - 1 : 0;
        break;
    case COLL_REDUCE:
        of.copied = p * n;
        of.messages = (p - 1) * (S + less(S, B));
        of.copied_by_other = n;
        of.rounds = h * (2 * less(S, B) + 1);
        break;
    default:
        of.copied = 2 * p * n;
        of.messages = (p - 1) * (4 * S + less(S, B));
        of.copied_by_other = 2 * n;
        of.rounds = 4 * h * S;
        break;
    }
    if (n == 0)
        of.messages = of.rounds = of.at_most = 0;
    of.at_most = of.at_most > of.rounds ? of.at_most : of.rounds;
    return of;
}

static void check_cost(const row *of, uint32_t p, size_t n, uint32_t B, uint32_t buffer,
                       uint32_t flags)
{
    const coll_plan plan = shm(of, p, 0, n, B, buffer, COLL_FLAG_COMMUTATIVE | flags);
    const coll_report report = cost_of(&plan);
    const cost want = wanted(of->collective, p, n, B, buffer, flags == 0);
    CHECK_EQ(report.total.copied, want.copied);
    CHECK_EQ(report.total.messages, want.messages);
    CHECK(report.rounds >= want.rounds && report.rounds <= want.at_most);
    CHECK_EQ(report.total.elements, 0);
    CHECK_EQ(report.total.scratch, 0);
    for (uint32_t rank = 1; rank < p; rank++)
        CHECK_EQ(report.ranks[rank].copied, want.copied_by_other);
    if (coll_is(COLL_REDUCING, of->collective))
        CHECK_EQ(report.total.reduced, n * (p - 1));
    if (of->collective == COLL_ALLREDUCE && n <= buffer)
        CHECK_EQ(report.most.reduced, (n + p - 1) / p * (p - 1));
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t which = 0; which < ROWS; which++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags++) {
                check_cost(&rows[which], p, 5, 2, 2, flags);
                if (flags == p % 2)
                    check_cost(&rows[which], p, 3, 1 + p % 7, 2 - p % 2, flags);
                check_cost(&rows[which], p, 3, 3, 64, flags);
                check_cost(&rows[which], p, 0, 1, 4, flags);
            }
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const uint32_t f = F;
        const coll_plan plan = plan_with(&coll_shm_barrier, COLL_BARRIER, p, 0, 0, 0, &f);
        const coll_report report = cost_of(&plan);
        CHECK_EQ(report.total.messages, 2 * (p - 1));
        CHECK_EQ(report.rounds, 2 * fnomial_height(p, F));
    }
}

TEST(refusals)
{
    const uint32_t small[] = {F, 1, 1};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_SCATTER, 8, (size_t)1 << 32, 1); /* too many stages */
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_scatter, &problem, small), COLL_ERR_PARAM);
    coll_problem_init(&problem, COLL_REDUCE, 0x10001, 1, 1); /* too many operands of a pass */
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_reduce, &problem, NULL), COLL_ERR_SHAPE);
    coll_problem_init(&problem, COLL_BCAST, 8, 1, 1); /* not one memory */
    coll_nodes_even(&problem.nodes, 8, 4);
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_bcast, &problem, NULL), COLL_ERR_NODES);
    plan =
        shm(&rows[5], 4, 0, 8, 4, 2, COLL_FLAG_COMMUTATIVE); /* four buffers of two elements */
    CHECK_STATUS(coll_i_shm_check(&plan, 1, 4), COLL_OK);
    CHECK_STATUS(coll_i_shm_check(&plan, 1, SIZE_MAX / 2 + 1), COLL_ERR_OVERFLOW);
    CHECK_STATUS(coll_i_shm_check(&plan, 1, SIZE_MAX / 8 + 1), COLL_ERR_OVERFLOW);
    CHECK_STATUS(coll_i_shm_check(&plan, 1, SIZE_MAX / 16), COLL_ERR_OVERFLOW);
}

int main(void)
{
    RUN(only_the_root_puts_or_gets);
    RUN(shared_is_limited);
    RUN(owners_take_turns);
    RUN(partners);
    RUN(slots_are_combined_in_rank_order);
    RUN(a_buffer_is_used_again_when_it_is_free);
    RUN(costs);
    RUN(refusals);
    return check_done();
}
