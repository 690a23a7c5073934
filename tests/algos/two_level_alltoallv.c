/* tests/algos/two_level_alltoallv.c — the laws of coll/algos/two_level_alltoallv.h */
#include "support/levels.h"
#include "support/padded.h"

enum { BLOCKS = 4 };

static const uint32_t blocks[BLOCKS] = {0, 1, 2, 40};
static bool rides(size_t count, uint32_t block)
{
    return count > 0 && count <= block;
}

/* (2) Copies from the input to SCRATCH's first row are those of blocks that ride; from the second
 * row to OUT likewise. */
static void check_slots(uint32_t rank, uint32_t p, uint32_t block)
{
    const coll_plan *plan = padded_plan(rank);
    const size_t row = (size_t)p * block;
    const walk *w = walk_of(plan, rank);
    unsigned char filled[64] = {0}, emptied[64] = {0};
    for (size_t a = 0; a < w->n && block > 0; a++) {
        const coll_action *act = &w->act[a];
        const size_t dst = coll_ref_offset(act->dst), src = coll_ref_offset(act->src);
        if (act->kind != COLL_DO_COPY || act->count == 0)
            continue;
        if (coll_ref_space(act->src) != COLL_SCRATCH && dst < row &&
            coll_ref_space(act->dst) == COLL_SCRATCH) {
            CHECK_EQ(dst % block, 0);
            CHECK_EQ(act->count, padded_gives(rank, (uint32_t)(dst / block)));
            filled[dst / block]++;
        } else if (coll_ref_space(act->dst) == COLL_OUT &&
                   coll_ref_space(act->src) == COLL_SCRATCH) {
            CHECK(src >= row && src < 2 * row && src % block == 0);
            CHECK_EQ(act->count, coll_out_block(plan, (uint32_t)((src - row) / block)).count);
            emptied[(src - row) / block]++;
        }
    }
    for (uint32_t other = 0; other < p; other++) {
        const size_t from = coll_out_block(plan, other).count;
        CHECK_EQ(filled[other], other != rank && rides(padded_gives(rank, other), block));
        CHECK_EQ(emptied[other], other != rank && rides(from, block));
    }
}

static void check_scratch(uint32_t rank, uint32_t p, uint32_t block)
{
    const coll_plan *plan = padded_plan(rank);
    const size_t straight = coll_in_place(plan) ? 2 * plan->largest : 0;
    const size_t ride = p > 1 && block > 0 ? coll_plan_scratch(padded_riding(rank), rank) : 0;
    CHECK_EQ(coll_plan_scratch(plan, rank),
             (p > 1 ? 2 * (size_t)p * block : 0) + (ride > straight ? ride : straight));
}

/* (1), (2) and the costs. Tables have 0 to 4 elements, or p+1 for one rank of each. */
static void check_case(uint32_t p, uint32_t block, uint32_t nodes, uint32_t flags,
                       coll_grid_layout layout)
{
    coll_grid_case of =
        level_case(&coll_two_level_alltoallv.algorithm, COLL_ALLTOALLV, p, p + 1, flags);
    coll_grid_case slots =
        level_case(&coll_two_level_alltoall.algorithm, COLL_ALLTOALL, p, block, 0);
    of.nodes = slots.nodes = nodes;
    of.layout = layout;
    of.param[0] = block;
    padded_check(&of, &slots, block);
    for (uint32_t rank = 0; rank < p; rank++) {
        check_slots(rank, p, block);
        check_scratch(rank, p, block);
    }
}

TEST(short_blocks_ride_and_long_ones_do_not)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t i = 0; i < BLOCKS * LEVEL_NODES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (int layout = COLL_GRID_UNEVEN; layout < COLL_GRID_LAYOUTS; layout++)
                    if (p <= 12 || (p + i + (uint32_t)layout) % 17 == 0)
                        check_case(p, blocks[i % BLOCKS], level_nodes[i / BLOCKS], flags,
                                   (coll_grid_layout)layout);
}

/* Slots that the machine cannot address are refused. */
TEST(slots_that_are_too_large)
{
    static size_t tables[64];
    const uint32_t block = UINT32_MAX;
    coll_problem problem;
    coll_plan plan;
    coll_workspace workspace;
    coll_problem_init(&problem, COLL_ALLTOALLV, 4, 0, SIZE_MAX / UINT32_MAX);
    coll_workspace_init(&workspace, 0, tables, 64);
    CHECK_STATUS(coll_plan_build(&plan, &coll_two_level_alltoallv.algorithm, &problem, &block,
                                 &workspace),
                 COLL_ERR_OVERFLOW);
}

TEST(every_algorithm_in_both_roles)
{
    level_try_all(&coll_two_level_alltoallv, COLL_ALLTOALLV);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(short_blocks_ride_and_long_ones_do_not);
    RUN(slots_that_are_too_large);
    RUN(every_algorithm_in_both_roles);
    padded_release();
    coll_grid_worker_release(&level_worker);
    return check_done();
}
