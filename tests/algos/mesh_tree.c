/* tests/algos/mesh_tree.c — the laws of coll/algos/mesh_tree.h */
#include "coll/algos/mesh_tree.h"

#include "coll/algos/fnomial.h"
#include "support/mesh.h"

static mesh_traffic traffic;

static const coll_algorithm *const solved[] = {&coll_mesh_tree_bcast, &coll_mesh_tree_reduce,
                                               &coll_mesh_tree_allreduce};
static const coll_collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE};

static coll_plan tree(size_t which, uint32_t p, uint32_t width, uint32_t flags, uint32_t root)
{
    return plan_with(solved[which], collectives[which], p, 5, flags, root, &width);
}

/* Puts the messages of a plan on the links of a mesh. Every rank sends or receives one message a
 * step: the first step in which both ends of the next message have nothing else to do. */
static void one_at_a_time(const coll_plan *plan, uint32_t width)
{
    const uint32_t p = plan->problem.p;
    size_t at[WALK_RANKS] = {0}, step[WALK_RANKS] = {0};
    const walk *w[WALK_RANKS];
    bool moved = true;
    mesh_begin(&traffic, p, width);
    for (uint32_t rank = 0; rank < p; rank++)
        w[rank] = walk_of(plan, rank);
    while (moved) {
        moved = false;
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_action *a, *b;
            uint32_t peer;
            while (at[rank] < w[rank]->n && !is_send(&w[rank]->act[at[rank]]) &&
                   !is_receive(&w[rank]->act[at[rank]]))
                at[rank]++;
            if (at[rank] == w[rank]->n)
                continue;
            a = &w[rank]->act[at[rank]];
            peer = a->peer;
            if (!is_send(a) || at[peer] == w[peer]->n)
                continue;
            b = &w[peer]->act[at[peer]];
            if (!is_receive(b) || b->peer != rank)
                continue;
            step[rank] = step[peer] = step[rank] > step[peer] ? step[rank] : step[peer];
            mesh_message(&traffic, rank, peer, step[rank]);
            step[rank]++;
            step[peer]++;
            at[rank]++;
            at[peer]++;
            moved = true;
        }
    }
    for (uint32_t rank = 0; rank < p; rank++)
        CHECK_EQ(at[rank], w[rank]->n);
}

/* Laws 1 to 3. */
TEST(no_link_carries_two_messages)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t which = 0; which < 3 && p % width == 0; which++)
                for (uint32_t root = 0; root < (which == 2 ? 1 : p); root++)
                    for (uint32_t flags = 0; flags <= COLL_FLAG_COMMUTATIVE;
                         flags += COLL_FLAG_COMMUTATIVE) {
                        const coll_plan plan = tree(which, p, width, flags, root);
                        const bool detour = which == 1 && flags == 0 && root > 0;
                        const uint32_t steps =
                            coll_log2_ceil(width) + coll_log2_ceil(p / width);
                        one_at_a_time(&plan, width);
                        CHECK_EQ(mesh_conflicts(&traffic), 0);
                        CHECK_EQ(traffic.rounds,
                                 steps * (which == 2 ? 2 : 1) + (detour ? 1 : 0));
                        for (uint32_t rank = 0; rank < p; rank++) {
                            const walk *w = walk_of(&plan, rank);
                            for (size_t i = 0; i < w->n; i++) {
                                const uint32_t peer = w->act[i].peer;
                                if (!is_send(&w->act[i]) || (detour && peer == root))
                                    continue;
                                CHECK(rank / width == peer / width ||
                                      rank % width == peer % width);
                            }
                        }
                    }
}

/* … and this finds those that do: a binary tree whose messages follow each other in segments. */
TEST(a_pipeline_has_conflicts)
{
    static const uint32_t binary[3] = {2, 1, 0};
    for (uint32_t p = 8; p <= CHECK_RANKS; p *= 2) {
        const coll_plan plan = plan_with(&coll_fnomial_reduce, COLL_REDUCE, p, 5,
                                         COLL_FLAG_COMMUTATIVE, 0, binary);
        one_at_a_time(&plan, p);
        CHECK(mesh_conflicts(&traffic) > 0);
    }
}

TEST(meshes_that_do_not_fit)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p + 1; width++)
            for (size_t which = 0; which < 3; which++) {
                coll_problem problem;
                coll_plan plan;
                coll_problem_init(&problem, collectives[which], p, 4, 8);
                CHECK_STATUS(coll_plan_init(&plan, solved[which], &problem, &width),
                             p % width == 0 ? COLL_OK : COLL_ERR_SHAPE);
            }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t width = 1; width <= p; width++)
            for (size_t which = 0; which < 3 && p % width == 0; which++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    const uint32_t root = which == 2 ? 0 : p / 3, height = p / width;
                    const bool ordered = which == 1 && !(flags & COLL_FLAG_COMMUTATIVE);
                    const uint32_t top = ordered ? 0 : root;
                    const coll_plan plan = tree(which, p, width, flags, root);
                    const coll_report cost = cost_of(&plan);
                    uint32_t most = 0;
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const uint32_t x = (rank % width + width - top % width) % width;
                        const uint32_t y = (rank / width + height - top / width) % height;
                        uint32_t children = 0, depth = 0, messages;
                        for (uint32_t k = 1; k < width && (x & k) == 0; k *= 2)
                            children += x + k < width;
                        for (uint32_t k = 1; k < height && (y & k) == 0 && x == 0; k *= 2)
                            children += y + k < height;
                        for (uint32_t k = 1; k < p; k *= 2)
                            depth += ((x & k) != 0 ? 1u : 0u) + ((y & k) != 0 ? 1u : 0u);
                        most = depth > most ? depth : most;
                        messages = which == 1 ? 0 : children;
                        if (which != 0 && (rank != top || (ordered && root != 0)))
                            messages++;
                        CHECK_EQ(cost.ranks[rank].messages, messages);
                        CHECK_EQ(cost.ranks[rank].elements, 5 * messages);
                        CHECK_EQ(cost.ranks[rank].reduced, which == 0 ? 0 : 5 * children);
                        CHECK(children <= coll_log2_ceil(width) + coll_log2_ceil(height));
                        if (x == 0 && y == 0)
                            CHECK_EQ(children, coll_log2_ceil(width) + coll_log2_ceil(height));
                    }
                    CHECK_EQ(most, COLL_HIGHEST_BIT(width) + COLL_HIGHEST_BIT(height));
                    CHECK_EQ(cost.rounds,
                             most * (which == 2 ? 2 : 1) + (ordered && root != 0 ? 1 : 0));
                }
}

int main(void)
{
    RUN(no_link_carries_two_messages);
    RUN(a_pipeline_has_conflicts);
    RUN(meshes_that_do_not_fit);
    RUN(costs);
    return check_done();
}
