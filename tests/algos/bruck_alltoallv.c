/* tests/algos/bruck_alltoallv.c — the laws of coll/algos/bruck_alltoallv.h */
#include "coll/algos/bruck_alltoallv.h"

#include "support/padded.h"

enum { RADICES = 3, BLOCKS = 4 };

static const uint32_t radices[RADICES] = {2, 3, 7}, blocks[BLOCKS] = {0, 1, 2, 40};

/* Laws 1 and 2, and the costs. Tables have 0 to 4 elements, or p+1 for one rank of each. */
static void check_case(uint32_t p, uint32_t k, uint32_t block, uint32_t flags,
                       coll_grid_layout layout)
{
    coll_grid_case of, slots;
    memset(&slots, 0, sizeof slots);
    slots.algorithm = &coll_bruck_alltoall;
    slots.collective = COLL_ALLTOALL;
    slots.p = p;
    slots.count = block;
    slots.param[0] = k;
    of = slots;
    of.algorithm = &coll_bruck_alltoallv;
    of.collective = COLL_ALLTOALLV;
    of.flags = flags;
    of.count = p + 1;
    of.layout = layout;
    of.param[1] = block;
    padded_check(&of, &slots, block);
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_plan *plan = padded_plan(rank);
        CHECK_EQ(coll_plan_scratch(plan, rank),
                 coll_plan_scratch(padded_riding(rank), rank) +
                     (coll_in_place(plan) ? 2 * plan->largest : 0));
    }
}

TEST(short_blocks_ride_and_long_ones_do_not)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t i = 0; i < RADICES * BLOCKS; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (int layout = COLL_GRID_UNEVEN; layout < COLL_GRID_LAYOUTS; layout++)
                    if (p <= 16 || (p + i + (uint32_t)layout) % 6 == 0)
                        check_case(p, radices[i % RADICES], blocks[i / RADICES], flags,
                                   (coll_grid_layout)layout);
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
    padded_release();
    return check_done();
}
