/* tests/plan.c — what coll_plan_init refuses, beyond what the grid of the verifier asks for */
#include "coll/plan.h"

#include "check.h"

static size_t no_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 0;
}

static const coll_algorithm packed = {"packed",
                                      "",
                                      COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLTOALLV),
                                      COLL_NEEDS_PACKED,
                                      1,
                                      0,
                                      NULL,
                                      NULL,
                                      no_steps,
                                      NULL,
                                      NULL,
                                      NULL};

static coll_status gatherv(const size_t *counts, const size_t *displs)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_GATHERV, 4, 0, 8);
    problem.out.counts = counts;
    problem.out.displs = displs;
    return coll_plan_init(&plan, &packed, &problem, NULL);
}

/* Blocks i … k−1 of packed tables are one run, so even an empty block has its place. */
TEST(tables_that_are_not_packed)
{
    const size_t counts[4] = {3, 0, 2, 1}, right[4] = {0, 3, 3, 5}, gap[4] = {0, 3, 4, 6},
                 late[4] = {1, 4, 4, 6}, empty[4] = {0, 0, 3, 5}, swapped[4] = {2, 5, 0, 5},
                 overlap[4] = {0, 3, 3, 4};
    coll_layout layout;
    CHECK_STATUS(gatherv(NULL, NULL), COLL_OK);
    CHECK_STATUS(gatherv(counts, right), COLL_OK);
    CHECK_STATUS(gatherv(counts, gap), COLL_ERR_LAYOUT);
    CHECK_STATUS(gatherv(counts, late), COLL_ERR_LAYOUT);
    CHECK_STATUS(gatherv(counts, empty), COLL_ERR_LAYOUT);
    CHECK_STATUS(gatherv(counts, swapped), COLL_ERR_LAYOUT);
    CHECK_STATUS(gatherv(counts, overlap), COLL_ERR_LAYOUT);
    layout.counts = counts;
    layout.displs = right;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(coll_i_layout_at(&layout, 0, 4, i), right[i]);
        CHECK_EQ(coll_i_layout_at(&layout, 0, 4, i + 1), right[i] + counts[i]);
    }
    layout.counts = layout.displs = NULL;
    for (uint32_t i = 0; i <= 4; i++)
        CHECK_EQ(coll_i_layout_at(&layout, 7, 4, i), 7 * i);
}

/* Both layouts of an alltoallv are looked at. */
TEST(either_side_that_is_not_packed)
{
    const size_t counts[2] = {1, 1}, right[2] = {0, 1}, wrong[2] = {0, 2};
    for (unsigned sides = 0; sides < 4; sides++) {
        coll_problem problem;
        coll_plan plan;
        coll_problem_init(&problem, COLL_ALLTOALLV, 2, 0, 8);
        problem.in.counts = problem.out.counts = counts;
        problem.in.displs = (sides & 1) ? wrong : right;
        problem.out.displs = (sides & 2) ? wrong : right;
        CHECK_STATUS(coll_plan_init(&plan, &packed, &problem, NULL),
                     sides ? COLL_ERR_LAYOUT : COLL_OK);
    }
}

int main(void)
{
    RUN(tables_that_are_not_packed);
    RUN(either_side_that_is_not_packed);
    return check_done();
}
