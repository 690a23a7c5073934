/* tests/algos/two_level_alltoallv.c — the laws of coll/algos/two_level_alltoallv.h */
#include "levels.h"

enum { BLOCKS = 4 };

static const uint32_t blocks[BLOCKS] = {0, 1, 2, 40};
static coll_grid_worker even; /* the alltoall of slots */

/* Proves an alltoallv (tables: 0 to 4 elements, or p+1 for one rank of each), and the alltoall
 * that it is compared with; both stay in their workers. */
static coll_report prove(uint32_t p, uint32_t block, uint32_t nodes, uint32_t flags,
                         coll_grid_layout layout, coll_report *slots)
{
    coll_grid_case of =
        level_case(&coll_two_level_alltoall.algorithm, COLL_ALLTOALL, p, block, 0);
    of.nodes = nodes;
    CHECK_STATUS(coll_grid_prove(&even, &of, 0, slots), COLL_OK);
    of = level_case(&coll_two_level_alltoallv.algorithm, COLL_ALLTOALLV, p, p + 1, flags);
    of.nodes = nodes;
    of.layout = layout;
    of.param[0] = block;
    return level_cost(&of);
}

/* Elements that a rank has for another. */
static size_t gives(uint32_t rank, uint32_t to)
{
    const coll_plan *plan = level_plan(rank);
    return (coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to)).count;
}

static bool rides(size_t count, uint32_t block)
{
    return count > 0 && count <= block;
}

/* (1) First the messages of the alltoall, then those of the longer blocks. */
static void check_messages(uint32_t rank, uint32_t p, uint32_t block)
{
    static coll_action riding[WALK_MAX];
    const walk *w = walk_of(coll_i_grid_plan_of(&even, rank), rank);
    size_t n = 0, i = 0;
    uint64_t straight = 0;
    for (size_t a = 0; a < w->n && block > 0; a++)
        if (w->act[a].count > 0 && (is_send(&w->act[a]) || is_receive(&w->act[a])))
            riding[n++] = w->act[a];
    w = walk_of(level_plan(rank), rank);
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

/* (2) Copies from the input to SCRATCH's first row are those of blocks that ride; from the second
 * row to OUT likewise. */
static void check_slots(uint32_t rank, uint32_t p, uint32_t block)
{
    const coll_plan *plan = level_plan(rank);
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
            CHECK_EQ(act->count, gives(rank, (uint32_t)(dst / block)));
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
        CHECK_EQ(filled[other], other != rank && rides(gives(rank, other), block));
        CHECK_EQ(emptied[other], other != rank && rides(from, block));
    }
}

static void check_costs(const coll_report *cost, const coll_report *slots, uint32_t rank,
                        uint32_t p, uint32_t block)
{
    const coll_plan *plan = level_plan(rank), *riding = coll_i_grid_plan_of(&even, rank);
    const size_t straight = coll_in_place(plan) ? 2 * plan->largest : 0;
    const size_t ride = p > 1 && block > 0 ? coll_plan_scratch(riding, rank) : 0;
    size_t messages = 0, elements = 0;
    if (p > 1 && block > 0) {
        messages = slots->ranks[rank].messages;
        elements = slots->ranks[rank].elements;
    }
    for (uint32_t to = 0; to < p; to++)
        if (to != rank && gives(rank, to) > block) {
            messages++;
            elements += gives(rank, to);
        }
    CHECK_EQ(cost->ranks[rank].messages, messages);
    CHECK_EQ(cost->ranks[rank].elements, elements);
    CHECK_EQ(coll_plan_scratch(plan, rank),
             (p > 1 ? 2 * (size_t)p * block : 0) + (ride > straight ? ride : straight));
}

TEST(short_blocks_ride_and_long_ones_do_not)
{
    for (uint32_t p = 1; p <= 64; p += p < 16 ? 1 : 16)
        for (uint32_t i = 0; i < BLOCKS * LEVEL_NODES; i++)
            for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE)
                for (int layout = COLL_GRID_UNEVEN; layout < COLL_GRID_LAYOUTS; layout++) {
                    const uint32_t block = blocks[i % BLOCKS], nodes = level_nodes[i / BLOCKS];
                    coll_report slots;
                    const coll_report cost =
                        prove(p, block, nodes, flags, (coll_grid_layout)layout, &slots);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        check_messages(rank, p, block);
                        check_slots(rank, p, block);
                        check_costs(&cost, &slots, rank, p, block);
                    }
                }
}

/* Slots that the machine cannot address are refused. */
TEST(slots_that_are_too_large)
{
    static size_t tables[64];
    const uint32_t block = UINT32_MAX;
    coll_problem problem;
    coll_plan plan;
    coll_kit kit;
    coll_problem_init(&problem, COLL_ALLTOALLV, 4, 0, SIZE_MAX / UINT32_MAX);
    coll_kit_init(&kit, 0, tables, 64);
    CHECK_STATUS(
        coll_plan_build(&plan, &coll_two_level_alltoallv.algorithm, &problem, &block, &kit),
        COLL_ERR_OVERFLOW);
}

TEST(every_algorithm_in_both_roles)
{
    level_try_all(&coll_two_level_alltoallv, COLL_ALLTOALLV);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    coll_grid_worker_init(&even);
    RUN(short_blocks_ride_and_long_ones_do_not);
    RUN(slots_that_are_too_large);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&even);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
