/* tests/algos/snake.c — the laws of coll/algos/snake.h */
#include "coll/algos/snake.h"

#include "support/mesh.h"

static mesh_traffic traffic;
static unsigned combines[MESH_ROUNDS];

static const coll_algorithm *const solved[] = {&coll_snake_bcast, &coll_snake_reduce,
                                               &coll_snake_allreduce};
static const coll_collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE};

/* `blocks` blocks of an element each. */
static coll_plan snake(size_t which, uint32_t p, uint32_t width, size_t blocks, uint32_t root)
{
    const uint32_t params[2] = {width, 1};
    return plan_with(solved[which], collectives[which], p, blocks, COLL_FLAG_COMMUTATIVE, root,
                     params);
}

/* Law 1. */
TEST(the_line_goes_from_neighbour_to_neighbour)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (uint32_t root = 0; root < p && p % width == 0; root += 1 + p / 5)
                for (size_t which = 0; which < 3; which++) {
                    const coll_plan plan = snake(which, p, width, 1, root);
                    CHECK(mesh_is_local(&plan, width));
                }
}

/* Law 2. */
TEST(no_link_carries_two_messages)
{
    static const size_t blocks[] = {1, 2, 3, 7, 40};
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t k = 0; k < 5 && p % width == 0; k++)
                for (size_t which = 0; which < 3; which++)
                    for (uint32_t root = 0; root < (which == 2 ? 1 : p); root += 1 + p / 3) {
                        const coll_plan plan = snake(which, p, width, blocks[k], root);
                        const uint32_t hops = mesh_flow(&plan, width, &traffic, combines);
                        CHECK_EQ(hops, coll_mesh_snake(&plan.radix, root) > (p - 1) / 2
                                           ? coll_mesh_snake(&plan.radix, root)
                                           : p - 1 - coll_mesh_snake(&plan.radix, root));
                        CHECK_EQ(mesh_conflicts(&traffic), 0);
                        CHECK_EQ(traffic.rounds,
                                 p == 1 ? 0 : blocks[k] - 1 + hops * (which == 2 ? 2 : 1));
                    }
}

/* … and this finds those that do: on a line in rank order, messages from the end of a row to the
 * beginning of the next meet those along the rows. */
TEST(rank_order_has_conflicts)
{
    for (uint32_t width = 2; width <= 32; width++)
        for (uint32_t height = 2; width * height <= 64; height++) {
            const coll_plan plan = snake(2, width * height, 1, 100, 0);
            mesh_flow(&plan, width, &traffic, combines);
            CHECK(mesh_conflicts(&traffic) > 0);
        }
}

/* Law 3. */
TEST(rounds_of_the_paper)
{
    for (uint32_t p = 3; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t blocks = 3; blocks <= 12 && p % width == 0; blocks += 3) {
                const mesh_steps steps[] = {{1, 1}, {p - 2, 2}, {1, 3}, {blocks - 3, 4},
                                            {1, 3}, {p - 2, 2}, {1, 1}};
                const coll_plan plan = snake(2, p, width, blocks, 0);
                mesh_flow(&plan, width, &traffic, combines);
                mesh_check_steps(&traffic, steps, 7);
                for (size_t round = 0; round < traffic.rounds; round++)
                    CHECK_EQ(combines[round], round < p + blocks - 2 ? 2 : 0);
            }
}

TEST(meshes_and_orders_that_do_not_fit)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p + 1; width++)
            for (size_t which = 0; which < 3; which++)
                for (uint32_t flags = 0; flags <= COLL_FLAG_COMMUTATIVE;
                     flags += COLL_FLAG_COMMUTATIVE) {
                    const uint32_t params[2] = {width, 0};
                    const bool fits = p % width == 0;
                    const bool ordered = flags || which == 0 || width == 1 || width == p;
                    coll_problem problem;
                    coll_plan plan;
                    coll_problem_init(&problem, collectives[which], p, 4, 8);
                    problem.flags = flags;
                    CHECK_STATUS(coll_plan_init(&plan, solved[which], &problem, params),
                                 !fits      ? COLL_ERR_SHAPE
                                 : !ordered ? COLL_ERR_ORDER
                                            : COLL_OK);
                }
}

TEST(costs)
{
    static const uint32_t segments[] = {0, 1, 3, 6, 7};
    const size_t count = 6;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
            for (size_t which = 0; which < 3; which++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    const uint32_t root = which == 2 ? 0 : p / 3;
                    const uint32_t params[2] = {
                        p % 4 == 0 && (flags & COLL_FLAG_COMMUTATIVE) ? 4 : 1, segments[k]};
                    const coll_plan plan = plan_with(solved[which], collectives[which], p,
                                                     count, flags, root, params);
                    const coll_fast_divisor width = coll_fast_divisor_of(params[0]);
                    const uint32_t end = coll_mesh_snake(&width, root);
                    const coll_report cost = cost_of(&plan);
                    if (which != 2)
                        CHECK_EQ(cost.rounds, end > (p - 1) / 2 ? end : p - 1 - end);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const uint32_t at = coll_mesh_snake(&width, rank);
                        const uint32_t m = (at > 0 && at <= end ? 1u : 0u) +
                                           (at >= end && at + 1 < p ? 1u : 0u);
                        const bool occupied = (at == end || which == 2) && coll_in_place(&plan);
                        mesh_check_costs(&plan, &cost, rank, m,
                                         (m == 2 ? 1u : 0u) + (occupied ? 1u : 0u));
                    }
                }
}

int main(void)
{
    RUN(the_line_goes_from_neighbour_to_neighbour);
    RUN(no_link_carries_two_messages);
    RUN(rank_order_has_conflicts);
    RUN(rounds_of_the_paper);
    RUN(meshes_and_orders_that_do_not_fit);
    RUN(costs);
    return check_done();
}
