/* tests/plan/plan.c — what plans refuse, beyond what the grid of the verifier asks for; sizes of
 * buffers; groups */
#include "coll/plan.h"
#include "coll/plan/rank_order.h"

#include <string.h>

#include "support/check.h"

static size_t no_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 0;
}

COLL_STATIC_ALGORITHM(packed, "packed", "", COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLTOALLV),
                      COLL_NEEDS_PACKED,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, no_steps, NULL);

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

/* ---- problems ---------------------------------------------------------------------------- */

static const coll_param two_params[] = {{"a", "", 1, 3, 2, {1, 2, 3, 0}},
                                        {"b", "", 0, 5, 4, {0, 4, 5, 0}}};

static coll_status no_check(const coll_plan *plan)
{
    return plan->param[1] == 5 ? COLL_ERR_SHAPE : COLL_OK;
}

/* Of all collectives; what else it wants is set by the test. */
static coll_algorithm any = {"any",
                             "",
                             COLL_BIT(COLL_COLLECTIVES) - 1,
                             0,
                             3,
                             1,
                             COLL_PARAMS(2, two_params),
                             no_steps,
                             NULL,
                             NULL,
                             no_check,
                             NULL,
                             NULL};

TEST(what_is_refused)
{
    const size_t table[8] = {0};
    coll_problem problem;
    coll_plan plan;
    const uint32_t least[2] = {1, 0}, most[2] = {3, 4}, below[2] = {0, 0}, above[2] = {3, 6},
                   checked[2] = {1, 5};
#define INIT(change, status)                                                                   \
    do {                                                                                       \
        any.traits = 0;                                                                        \
        any.n_params = 2;                                                                      \
        any.collectives = COLL_BIT(COLL_COLLECTIVES) - 1;                                      \
        coll_problem_init(&problem, COLL_REDUCE, 6, 5, 8);                                     \
        change;                                                                                \
        CHECK_STATUS(coll_plan_init(&plan, &any, &problem, NULL), status);                     \
    } while (0)
    INIT((void)0, COLL_OK);
    CHECK(plan.param[0] == 2 && plan.param[1] == 4 && plan.window == 3 && plan.inner == NULL);
    CHECK(plan.group.base == 0 && plan.group.stride == 1 && !plan.group.table);
    CHECK_STATUS(coll_plan_init(NULL, &any, &problem, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_init(&plan, NULL, &problem, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_init(&plan, &any, NULL, NULL), COLL_ERR_NULL);
    INIT(problem.p = 0, COLL_ERR_RANKS);
    INIT(problem.collective = COLL_COLLECTIVES, COLL_ERR_COLLECTIVE);
    INIT(any.collectives = COLL_BIT(COLL_BCAST), COLL_ERR_COLLECTIVE);
    INIT(problem.root = 6, COLL_ERR_ROOT);
    INIT(problem.root = 5, COLL_OK);
    CHECK_EQ(plan.problem.root, 5);
    INIT(problem.root = 6; problem.collective = COLL_ALLREDUCE, COLL_OK);
    CHECK_EQ(plan.problem.root, 0); /* there is none */
    INIT(problem.elem_bytes = 0, COLL_ERR_TYPE);
    INIT(problem.in.counts = problem.in.displs = table, COLL_ERR_COUNTS);
    INIT(problem.out.counts = problem.out.displs = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_ALLTOALLV; problem.in.counts = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_ALLTOALLV; problem.in.displs = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_ALLTOALLV; problem.out.counts = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_ALLTOALLV; problem.out.displs = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_GATHERV;
         problem.in.counts = problem.in.displs = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_SCATTERV;
         problem.out.counts = problem.out.displs = table, COLL_ERR_COUNTS);
    INIT(problem.collective = COLL_NEIGHBOR_ALLGATHER, COLL_ERR_GRAPH);
    INIT(any.traits = COLL_NEEDS_COMMUTATIVE, COLL_ERR_ORDER);
    INIT(any.traits = COLL_NEEDS_COMMUTATIVE; problem.flags = COLL_FLAG_COMMUTATIVE, COLL_OK);
    INIT(any.traits = COLL_NEEDS_OUT_OF_PLACE; problem.flags = COLL_FLAG_COMMUTATIVE, COLL_OK);
    INIT(any.traits = COLL_NEEDS_OUT_OF_PLACE;
         problem.flags = COLL_FLAG_IN_PLACE, COLL_ERR_IN_PLACE);
    INIT(any.traits = COLL_NEEDS_POWER_OF_TWO, COLL_ERR_SHAPE);
    INIT(any.traits = COLL_NEEDS_POWER_OF_TWO; problem.p = 8, COLL_OK);
    INIT(any.traits = COLL_NEEDS_SHARED; coll_nodes_even(&problem.nodes, 6, 3), COLL_ERR_NODES);
    INIT(any.traits = COLL_NEEDS_SHARED; coll_nodes_even(&problem.nodes, 6, 6), COLL_OK);
    INIT(any.traits = COLL_NEEDS_SHARED | COLL_USES_NODES;
         coll_nodes_even(&problem.nodes, 6, 3), COLL_OK);
    INIT(any.traits = COLL_NEEDS_BUILD, COLL_ERR_BUILD);
    INIT(any.n_params = COLL_PARAM_MAX + 1, COLL_ERR_PARAM);
    INIT(problem.count = SIZE_MAX / 16, COLL_ERR_OVERFLOW);
    INIT(problem.count = SIZE_MAX / 16; problem.flags = COLL_FLAG_IN_PLACE, COLL_ERR_OVERFLOW);
    INIT(problem.collective = COLL_ALLTOALL; problem.count = SIZE_MAX / 4, COLL_ERR_OVERFLOW);
    INIT((void)0, COLL_OK);
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, least), COLL_OK);
    CHECK(plan.param[0] == 1 && plan.param[1] == 0);
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, most), COLL_OK);
    CHECK(plan.param[0] == 3);
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, below), COLL_ERR_PARAM);
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, above), COLL_ERR_PARAM);
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, checked), COLL_ERR_SHAPE);
}

/* Which tables a rank must have: those of IN and of OUT on the root, and on the others. */
TEST(tables_of_a_rank)
{
    static const struct {
        coll_collective collective;
        bool in_root, in_other, out_root, out_other;
    } rows[] = {{COLL_GATHERV, false, false, true, false},
                {COLL_SCATTERV, true, false, false, false},
                {COLL_ALLGATHERV, false, false, true, true},
                {COLL_ALLTOALLV, true, true, true, true},
                {COLL_ALLTOALLW, true, true, true, true},
                {COLL_REDUCE_SCATTER, true, true, false, false},
                {COLL_ALLREDUCE, false, false, false, false}};
    const size_t counts[3] = {1, 2, 3}, other[3] = {1, 2, 4}, displs[3] = {0, 4, 8};
    coll_problem problem;
    coll_plan plan;
    any.traits = 0;
    any.n_params = 0;
    any.collectives = COLL_BIT(COLL_COLLECTIVES) - 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned has = 0; has < 4; has++)
            for (uint32_t rank = 0; rank < 4; rank++) {
                const bool root = rank == 1, everywhere = rank == 3;
                const uint32_t r = everywhere ? 0 : rank;
                const bool in = root ? rows[i].in_root : rows[i].in_other,
                           out = root ? rows[i].out_root : rows[i].out_other;
                coll_problem_init(&problem, rows[i].collective, 3, 5, 8);
                problem.root = 1;
                if ((has & 1) && coll_is(COLL_TABLES_IN, problem.collective)) {
                    problem.in.counts = counts;
                    problem.in.displs = displs;
                }
                if ((has & 2) && coll_is(COLL_TABLES_OUT, problem.collective)) {
                    problem.out.counts = counts;
                    problem.out.displs = displs;
                }
                CHECK_STATUS(coll_plan_init(&plan, &any, &problem, NULL), COLL_OK);
                CHECK_STATUS(coll_plan_check_rank(&plan, 3), COLL_ERR_RANK);
                if (everywhere) {
                    plan.traits = COLL_NEEDS_COUNTS;
                    CHECK_STATUS(
                        coll_plan_check_rank(&plan, r),
                        ((rows[i].in_root && !(has & 1)) || (rows[i].out_root && !(has & 2)))
                            ? COLL_ERR_COUNTS
                            : COLL_OK);
                } else {
                    CHECK_STATUS(coll_plan_check_rank(&plan, r),
                                 ((in && !(has & 1)) || (out && !(has & 2))) ? COLL_ERR_COUNTS
                                                                             : COLL_OK);
                }
            }
    coll_problem_init(&problem, COLL_ALLTOALLV, 3, 5, 8); /* a block for itself */
    problem.in.counts = counts;
    problem.out.counts = other;
    problem.in.displs = problem.out.displs = displs;
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_check_rank(&plan, 0), COLL_OK);
    CHECK_STATUS(coll_plan_check_rank(&plan, 2), COLL_ERR_SIZE);
    problem.in.counts = problem.in.displs = NULL; /* in place those of OUT are all */
    problem.flags = COLL_FLAG_IN_PLACE;
    CHECK_STATUS(coll_plan_init(&plan, &any, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_check_rank(&plan, 2), COLL_OK);
    CHECK(plan.problem.in.counts == other);
}

/* Elements of IN and OUT, out of place and in place, of the root and of the others. */
TEST(sizes_of_buffers)
{
    static const struct {
        coll_collective collective;
        size_t in[2], out[2];             /* root, others */
        size_t in_place[2], out_there[2]; /* the same in place */
    } rows[] = {{COLL_BCAST, {5, 0}, {5, 5}, {0, 0}, {5, 5}},
                {COLL_REDUCE, {5, 5}, {5, 0}, {0, 5}, {5, 0}},
                {COLL_ALLREDUCE, {5, 5}, {5, 5}, {0, 0}, {5, 5}},
                {COLL_SCAN, {5, 5}, {5, 5}, {0, 0}, {5, 5}},
                {COLL_EXSCAN, {5, 5}, {5, 5}, {0, 0}, {5, 5}},
                {COLL_GATHER, {5, 5}, {15, 0}, {0, 5}, {15, 0}},
                {COLL_SCATTER, {15, 0}, {5, 5}, {15, 0}, {0, 5}},
                {COLL_ALLGATHER, {5, 5}, {15, 15}, {0, 0}, {15, 15}},
                {COLL_ALLTOALL, {15, 15}, {15, 15}, {0, 0}, {15, 15}},
                {COLL_REDUCE_SCATTER_BLOCK, {15, 15}, {5, 5}, {0, 0}, {15, 15}},
                {COLL_BARRIER, {0, 0}, {0, 0}, {0, 0}, {0, 0}}};
    any.traits = 0;
    any.n_params = 0;
    any.collectives = COLL_BIT(COLL_COLLECTIVES) - 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t rank = k & 1 ? 2 : 1, at = k & 1;
            const bool there = (k & 2) != 0;
            coll_problem problem;
            coll_plan plan;
            coll_extents extents;
            coll_problem_init(&problem, rows[i].collective, 3, 5, 8);
            problem.root = 1;
            problem.flags = there ? COLL_FLAG_IN_PLACE : 0;
            CHECK_STATUS(coll_plan_init(&plan, &any, &problem, NULL), COLL_OK);
            if (!coll_is(COLL_ROOTED, problem.collective))
                CHECK_EQ(plan.problem.root, 0);
            extents = coll_plan_extents(&plan, rank);
            CHECK(extents.fits);
            CHECK_EQ(extents.in, there ? rows[i].in_place[at] : rows[i].in[at]);
            CHECK_EQ(extents.out, there ? rows[i].out_there[at] : rows[i].out[at]);
        }
}

/* Tables: as far as the last block reaches, and the largest of them. */
TEST(sizes_by_tables)
{
    const size_t counts[3] = {2, 4, 0}, displs[3] = {7, 1, 20}, large[3] = {2, SIZE_MAX - 1, 1},
                 too_large[2] = {2, SIZE_MAX};
    const coll_layout layout = {counts, displs}, even = {NULL, NULL}, wrong = {large, displs},
                      endless = {too_large, displs};
    size_t extent;
    CHECK(coll_i_layout_extent(&layout, 5, 3, &extent));
    CHECK_EQ(extent, 9); /* an empty block reaches nowhere */
    CHECK(coll_i_layout_extent(&even, 5, 3, &extent));
    CHECK_EQ(extent, 15);
    CHECK(coll_i_layout_extent(&wrong, 5, 2, &extent)); /* 1 + SIZE_MAX - 1 */
    CHECK(extent == SIZE_MAX);
    CHECK(!coll_i_layout_extent(&endless, 5, 2, &extent));
    CHECK_EQ(coll_i_layout_largest(&layout, 5, 3), 4);
    CHECK_EQ(coll_i_layout_largest(&even, 5, 3), 5);
    CHECK_EQ(coll_i_layout_elements(&layout, 5, 3), 6);
    CHECK_EQ(coll_i_layout_elements(&even, 5, 3), 15);
    CHECK(coll_i_layout_elements(&wrong, 5, 3) == SIZE_MAX);
    CHECK(coll_i_layout_elements(&even, SIZE_MAX / 2, 3) == SIZE_MAX);
}

/* A plan keeps a copy of its problem, whatever happens to that. */
TEST(problems_are_copied)
{
    coll_problem problem, copy;
    memset(&copy, 0xFF, sizeof copy);
    memset(&problem, 0x11, sizeof problem);
    problem.in.counts = &problem.count;
    problem.out.displs = &problem.count;
    coll_i_problem_assign(&copy, &problem);
    CHECK(copy.collective == problem.collective && copy.p == problem.p &&
          copy.root == problem.root && copy.flags == problem.flags &&
          copy.count == problem.count && copy.elem_bytes == problem.elem_bytes &&
          copy.graph == problem.graph);
    CHECK(copy.in.counts == problem.in.counts && copy.in.displs == problem.in.displs &&
          copy.out.counts == problem.out.counts && copy.out.displs == problem.out.displs);
    CHECK(copy.nodes.count == problem.nodes.count &&
          copy.nodes.beyond == problem.nodes.beyond && copy.nodes.most == problem.nodes.most &&
          copy.nodes.first == problem.nodes.first && copy.nodes.of == problem.nodes.of &&
          copy.nodes.by_ppn.by == problem.nodes.by_ppn.by &&
          copy.nodes.by_ppn.multiplier == problem.nodes.by_ppn.multiplier &&
          copy.nodes.by_ppn.shift1 == problem.nodes.by_ppn.shift1 &&
          copy.nodes.by_ppn.shift2 == problem.nodes.by_ppn.shift2);
    memset(&copy, 0xFF, sizeof copy);
    coll_problem_init(&copy, COLL_SCAN, 3, 4, 8);
    CHECK(copy.collective == COLL_SCAN && copy.p == 3 && copy.root == 0 && copy.flags == 0 &&
          copy.count == 4 && copy.elem_bytes == 8 && !copy.graph);
    CHECK(!copy.in.counts && !copy.in.displs && !copy.out.counts && !copy.out.displs);
    CHECK(copy.nodes.count == 0 && !copy.nodes.beyond && copy.nodes.most == 0 &&
          !copy.nodes.first && !copy.nodes.of && coll_divide(7, &copy.nodes.by_ppn) == 7);
}

/* ---- groups ------------------------------------------------------------------------------ */

/* All that is asked of a group, against its ranks one by one. */
static void check_group(const coll_group *group, uint32_t p, uint32_t outer_p,
                        const uint32_t *outer)
{
    bool well = true, ascends = true;
    for (uint32_t i = 0; i < p; i++) {
        well = well && outer[i] < outer_p;
        ascends = ascends && outer[i] < outer_p && (i == 0 || outer[i - 1] < outer[i]);
        for (uint32_t k = 0; k < i; k++)
            well = well && outer[k] != outer[i];
        CHECK_EQ(coll_group_outer(group, i), outer[i]);
    }
    CHECK_STATUS(coll_group_check(group, p, outer_p), well ? COLL_OK : COLL_ERR_GROUP);
    CHECK_EQ(coll_group_ascends(group, p, outer_p), ascends);
    for (uint32_t o = 0; well && o <= outer_p; o++) {
        uint32_t rank = COLL_RANK_NONE, below = 0;
        for (uint32_t i = 0; i < p; i++) {
            rank = outer[i] == o ? i : rank;
            below += outer[i] < o;
        }
        if (o < outer_p)
            CHECK_EQ(coll_group_rank(group, p, o), rank);
        if (ascends)
            CHECK_EQ(coll_group_below(group, p, outer_p, o), below);
    }
}

TEST(groups)
{
    static const uint32_t tables[][4] = {
        {0, 1, 2, 3},  {5, 1, 6, 2}, {1, 4, 5, 9},  {1, 4, 4, 9}, {9, 8, 7, 6},
        {0, 2, 4, 10}, {6, 7, 8, 9}, {10, 1, 2, 3}, {1, 5, 1, 6}, {5, 1, 6, 9}};
    coll_group group, copy;
    uint32_t outer[12], order[4], inverse[12];
    coll_rank_order places;
    for (uint32_t base = 0; base < 10; base++)
        for (uint32_t stride = 1; stride < 5; stride++)
            for (uint32_t p = 1; p <= 10; p++) {
                coll_group_affine(&group, base, stride);
                for (uint32_t i = 0; i < p; i++)
                    outer[i] = base + i * stride;
                check_group(&group, p, 10, outer);
            }
    coll_group_affine(&group, 3, 2);
    memset(&copy, 0xFF, sizeof copy);
    coll_group_assign(&copy, &group);
    CHECK(copy.base == 3 && copy.stride == 2 && !copy.table && !copy.inverse);
    coll_group_table(&group, tables[1], tables[2]);
    coll_group_assign(&copy, &group);
    CHECK(copy.base == 0 && copy.stride == 0 && copy.table == tables[1] &&
          copy.inverse == tables[2]);
    memset(&places, 0, sizeof places);
    coll_group_places(&group, &places);
    CHECK(group.base == 0 && group.stride == 1 && !group.table && !group.inverse);
    places.rank = order;
    places.place = inverse;
    coll_group_places(&group, &places);
    CHECK(group.table == order && group.inverse == inverse);
    coll_group_affine(&group, 0, 0);
    CHECK_STATUS(coll_group_check(&group, 1, 10), COLL_ERR_GROUP);
    CHECK_STATUS(coll_group_check(&group, 0, 10), COLL_ERR_GROUP);
    coll_group_affine(&group, UINT32_MAX, 2); /* wraps around to 1 */
    CHECK_STATUS(coll_group_check(&group, 2, 10), COLL_ERR_GROUP);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        coll_group_table(&group, tables[i], NULL);
        for (uint32_t p = 1; p <= 4; p++)
            check_group(&group, p, 10, tables[i]);
        CHECK_STATUS(coll_group_check(&group, 0, 10), COLL_ERR_GROUP);
        CHECK(!coll_group_ascends(&group, 0, 10));
        if (coll_group_check(&group, 4, 10) != COLL_OK)
            continue;
        for (uint32_t o = 0; o < 12; o++)
            inverse[o] = COLL_RANK_NONE;
        for (uint32_t k = 0; k < 4; k++)
            inverse[tables[i][k]] = k;
        coll_group_table(&group, tables[i], inverse);
        check_group(&group, 4, 10, tables[i]);
        inverse[tables[i][3]] = 2;
        CHECK_STATUS(coll_group_check(&group, 4, 10), COLL_ERR_GROUP);
    }
}

int main(void)
{
    RUN(tables_that_are_not_packed);
    RUN(either_side_that_is_not_packed);
    RUN(what_is_refused);
    RUN(tables_of_a_rank);
    RUN(sizes_of_buffers);
    RUN(sizes_by_tables);
    RUN(problems_are_copied);
    RUN(groups);
    return check_done();
}
