/* tests/algos/bruck_alltoallv.c — the laws of coll/algos/bruck_alltoallv.h */
#include "coll/algos/bruck_alltoallv.h"

#include "coll/verify/case.h"
#include "walk.h"

enum { RADICES = 3, BLOCKS = 4 };

static const uint32_t radices[RADICES] = {2, 3, 7}, blocks[BLOCKS] = {0, 1, 2, 40};
static coll_grid_worker worker; /* its tables: 0 to 4 elements, or p+1 for one rank of each */

/* Proves an alltoallv of these parameters; the plans stay in `worker`. */
static coll_report prove(uint32_t p, uint32_t k, uint32_t block, uint32_t flags,
                         coll_grid_layout layout)
{
    coll_grid_case of;
    coll_report report;
    memset(&of, 0, sizeof of);
    of.algorithm = &coll_bruck_alltoallv;
    of.collective = COLL_ALLTOALLV;
    of.p = p;
    of.flags = flags;
    of.count = p + 1;
    of.layout = layout;
    of.param[0] = k;
    of.param[1] = block;
    CHECK_STATUS(coll_grid_prove(&worker, &of, 0, &report), COLL_OK);
    if (!CHECK(report.ok))
        printf("    p = %u, k = %u, block = %u: %s\n", p, k, block, report.sentence);
    return report;
}

/* Elements that a rank has for another. */
static size_t gives(uint32_t rank, uint32_t to)
{
    const coll_plan *plan = coll_i_grid_plan_of(&worker, rank);
    return (coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to)).count;
}

/* Laws 1 and 2: first the messages of an alltoall, then those of the longer blocks. */
static void check_messages(const coll_plan *even, uint32_t rank)
{
    const coll_plan *plan = coll_i_grid_plan_of(&worker, rank);
    const uint32_t p = plan->problem.p, block = plan->param[1];
    const walk *w;
    static coll_action riding[WALK_MAX];
    size_t n = 0, i = 0;
    uint64_t straight = 0;
    w = walk_of(even, rank);
    for (size_t a = 0; a < w->n; a++)
        if (is_send(&w->act[a]) || is_receive(&w->act[a]))
            riding[n++] = w->act[a];
    if (block == 0)
        n = 0;
    w = walk_of(plan, rank);
    for (size_t a = 0; a < w->n; a++) {
        const coll_action *act = &w->act[a];
        if (act->kind == COLL_DO_COPY || act->count == 0)
            continue;
        if (i < n) {
            CHECK_EQ(act->kind, riding[i].kind);
            CHECK_EQ(act->peer, riding[i].peer);
            CHECK_EQ(act->count, riding[i].count);
            i++;
        } else if (is_send(act)) {
            CHECK(act->count > block);
            CHECK_EQ(act->count, gives(rank, act->peer));
            straight |= (uint64_t)1 << act->peer;
        }
    }
    CHECK_EQ(i, n);
    for (uint32_t to = 0; to < p; to++)
        CHECK_EQ((straight >> to) & 1, to != rank && gives(rank, to) > block);
}

static void check_costs(const coll_plan *even, const coll_report *cost, uint32_t rank)
{
    const coll_plan *plan = coll_i_grid_plan_of(&worker, rank);
    const uint32_t p = plan->problem.p, block = plan->param[1];
    const walk *w = walk_of(even, rank);
    size_t messages = 0, elements = 0;
    for (size_t a = 0; a < w->n && block > 0; a++)
        if (is_send(&w->act[a])) {
            messages++;
            elements += w->act[a].count;
        }
    for (uint32_t to = 0; to < p; to++)
        if (to != rank && gives(rank, to) > block) {
            messages++;
            elements += gives(rank, to);
        }
    CHECK_EQ(cost->ranks[rank].messages, messages);
    CHECK_EQ(cost->ranks[rank].elements, elements);
    CHECK_EQ(coll_plan_scratch(plan, rank),
             coll_plan_scratch(even, rank) + (coll_in_place(plan) ? 2 * plan->largest : 0));
}

/* Those of the alltoall, and then at most the ones of pairwise.h in which somebody has a block. */
static void check_rounds(const coll_plan *even, uint64_t rounds)
{
    const coll_plan *plan = coll_i_grid_plan_of(&worker, 0);
    const uint32_t p = plan->problem.p, block = plan->param[1];
    const coll_report riding = cost_of(even);
    const uint64_t before = block > 0 ? riding.rounds : 0;
    bool any[64] = {false};
    uint32_t straight = 0;
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t to = 0; to < p; to++)
            if (to != rank && gives(rank, to) > block)
                any[(coll_in_place(plan) ? to + rank : to + p - rank) % p] = true;
    for (uint32_t i = 0; i < p; i++)
        straight += any[i];
    CHECK(rounds >= before && rounds <= before + straight);
}

TEST(short_blocks_ride_and_long_ones_do_not)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (int i = 0; i < RADICES * BLOCKS; i++)
            for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE)
                for (int layout = COLL_GRID_UNEVEN; layout < COLL_GRID_LAYOUTS; layout++) {
                    const uint32_t k = radices[i % RADICES], block = blocks[i / RADICES];
                    if (p > 16 && (p + (uint32_t)i + (uint32_t)layout) % 6 != 0)
                        continue;
                    const coll_plan even =
                        plan_with(&coll_bruck_alltoall, COLL_ALLTOALL, p, block, 0, 0, &k);
                    const coll_report cost =
                        prove(p, k, block, flags, (coll_grid_layout)layout);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        check_messages(&even, rank);
                        check_costs(&even, &cost, rank);
                    }
                    check_rounds(&even, cost.rounds);
                }
}

/* Slots that the machine cannot address are refused. */
TEST(slots_that_are_too_large)
{
    const uint32_t params[2] = {2, UINT32_MAX};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLTOALLV, UINT32_MAX / 2, 0, SIZE_MAX / UINT32_MAX);
    CHECK_STATUS(coll_plan_init(&plan, &coll_bruck_alltoallv, &problem, params),
                 COLL_ERR_OVERFLOW);
}

int main(void)
{
    RUN(short_blocks_ride_and_long_ones_do_not);
    RUN(slots_that_are_too_large);
    coll_grid_worker_release(&worker);
    return check_done();
}
