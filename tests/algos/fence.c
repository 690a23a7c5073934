/* tests/algos/fence.c — the laws of coll/algos/fence.h */
#include "coll/algos/fence.h"

#include "support/mesh.h"

static mesh_traffic traffic;
static unsigned combines[MESH_ROUNDS];

static const coll_algorithm *const solved[] = {&coll_fence_bcast, &coll_fence_reduce,
                                               &coll_fence_allreduce};
static const coll_collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE};

/* `blocks` blocks of an element each. */
static coll_plan fence(size_t which, uint32_t p, uint32_t width, size_t blocks, uint32_t root)
{
    const uint32_t params[2] = {width, 1};
    return plan_with(solved[which], collectives[which], p, blocks, COLL_FLAG_COMMUTATIVE, root,
                     params);
}

/* From a rank to the one that is furthest away. */
static uint32_t eccentricity(uint32_t p, uint32_t width, uint32_t rank)
{
    uint32_t most = 0;
    for (uint32_t other = 0; other < p; other++) {
        const uint32_t distance = mesh_distance(width, rank, other);
        most = distance > most ? distance : most;
    }
    return most;
}

/* Laws 1 and 2. */
TEST(no_link_carries_two_messages)
{
    static const size_t blocks[] = {1, 2, 3, 7, 40};
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t k = 0; k < 5 && p % width == 0; k++)
                for (size_t which = 0; which < 3; which++)
                    for (uint32_t root = 0; root < (which == 2 ? 1 : p); root += 1 + p / 5) {
                        const coll_plan plan = fence(which, p, width, blocks[k], root);
                        const uint32_t hops = mesh_flow(&plan, width, &traffic, combines);
                        CHECK(mesh_is_local(&plan, width));
                        CHECK_EQ(hops, eccentricity(p, width, root));
                        CHECK_EQ(mesh_conflicts(&traffic), 0);
                        CHECK_EQ(traffic.rounds,
                                 p == 1 ? 0 : blocks[k] - 1 + hops * (which == 2 ? 2 : 1));
                    }
}

/* … and this finds those that do: the fence of a mesh of another width. */
TEST(other_meshes_have_conflicts)
{
    for (uint32_t height = 2; height <= 8; height++)
        for (uint32_t width = height + 1; width * height <= 64; width++) {
            const coll_plan plan = fence(2, width * height, height, 100, 0);
            mesh_flow(&plan, width, &traffic, combines);
            CHECK(mesh_conflicts(&traffic) > 0);
        }
}

/* Law 3. The block that turns the corner meets two others there: the appendix counts its
 * combining of three with the combinings of two before it. */
TEST(rounds_of_the_paper)
{
    for (uint32_t width = 3; width <= 32; width++)
        for (uint32_t height = 2; height * width <= 64; height++)
            for (size_t blocks = 3; blocks <= 12; blocks += 3) {
                const mesh_steps steps[] = {{1, 1},         {height - 1, 2}, {width - 2, 3},
                                            {1, 4},         {blocks - 3, 6}, {1, 4},
                                            {width - 2, 3}, {height - 1, 2}, {1, 1}};
                const size_t end = width + height + blocks - 3; /* of combining */
                const coll_plan plan = fence(2, width * height, width, blocks, 0);
                mesh_flow(&plan, width, &traffic, combines);
                mesh_check_steps(&traffic, steps, 9);
                for (size_t round = 0; round < traffic.rounds; round++)
                    CHECK_EQ(combines[round], round >= end ? 0 : round < height - 1 ? 2 : 3);
            }
}

/* Law 4. */
TEST(operands_meet_in_one_pass)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (uint32_t root = 0; root < p && p % width == 0; root += 1 + p / 7) {
                const coll_plan plan = fence(1, p, width, 5, root);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    size_t passes = 0;
                    for (size_t i = 0; i < w->n; i++)
                        passes += w->act[i].kind == COLL_DO_REDUCE ||
                                  w->act[i].kind == COLL_DO_RECV_REDUCE;
                    CHECK(passes == 0 || passes == 5);
                }
            }
}

TEST(meshes_that_do_not_fit)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p + 1; width++)
            for (size_t which = 0; which < 3; which++) {
                const uint32_t params[2] = {width, 0};
                coll_problem problem;
                coll_plan plan;
                coll_problem_init(&problem, collectives[which], p, 4, 8);
                problem.flags = COLL_FLAG_COMMUTATIVE;
                CHECK_STATUS(coll_plan_init(&plan, solved[which], &problem, params),
                             p % width == 0 ? COLL_OK : COLL_ERR_SHAPE);
            }
}

/* Neighbours of a rank that are one hop further away from the root, and on its way. */
static uint32_t children_of(uint32_t p, uint32_t width, uint32_t root, uint32_t rank)
{
    const uint32_t x = rank % width, y = rank / width, rx = root % width, ry = root / width;
    uint32_t children = 0;
    children += y == ry && x >= rx && x + 1 < width;
    children += y == ry && x <= rx && x > 0;
    children += y >= ry && y + 1 < p / width;
    children += y <= ry && y > 0;
    return children;
}

TEST(costs)
{
    static const uint32_t segments[] = {0, 1, 4, 6, 7};
    const size_t count = 6;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t which = 0; which < 3 && p % width == 0; which++) {
                const uint32_t root = which == 2 ? 0 : p / 3;
                const uint32_t segment = segments[(p + width) % 5];
                const uint32_t flags =
                    COLL_FLAG_COMMUTATIVE | ((p + width) / 5 % 2 ? COLL_FLAG_IN_PLACE : 0);
                const uint32_t params[2] = {width, segment};
                const coll_plan plan =
                    plan_with(solved[which], collectives[which], p, count, flags, root, params);
                const coll_report cost = cost_of(&plan);
                if (which != 2)
                    CHECK_EQ(cost.rounds, eccentricity(p, width, root));
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t m = children_of(p, width, root, rank);
                    const bool occupied = (rank == root || which == 2) && coll_in_place(&plan);
                    mesh_check_costs(&plan, &cost, rank, m, m > 1 ? m : occupied ? 1 : 0);
                }
            }
}

int main(void)
{
    RUN(no_link_carries_two_messages);
    RUN(other_meshes_have_conflicts);
    RUN(rounds_of_the_paper);
    RUN(operands_meet_in_one_pass);
    RUN(meshes_that_do_not_fit);
    RUN(costs);
    return check_done();
}
