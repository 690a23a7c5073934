/* tests/algos/tree.c — the laws of coll/algos/kit/tree_walk.h that speak of segments
 *
 * Law 1 is checked shape by shape, in fnomial.c, kary.c and chain.c. */
#include "coll/algos/chain.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/kary.h"

#include "support/timed.h"

static const coll_algorithm *const allreduces[] = {&coll_fnomial_allreduce,
                                                   &coll_kary_allreduce, &coll_chain_allreduce};
static const coll_algorithm *const reduces[] = {&coll_fnomial_reduce, &coll_kary_reduce,
                                                &coll_chain_reduce};
static const coll_algorithm *const bcasts[] = {&coll_fnomial_bcast, &coll_kary_bcast,
                                               &coll_chain_bcast};
enum { SHAPES = 3 };

/* `segments` segments of two elements. */
static coll_plan plan_on(const coll_algorithm *algorithm, coll_collective collective,
                         uint32_t p, uint32_t degree, size_t segments)
{
    const uint32_t params[3] = {degree, 2, 0};
    return plan_with(algorithm, collective, p, 2 * segments, 0, 0, params);
}

/* Law 2, by the messages: the depth is the number of parents. */
TEST(results_come_when_they_are_due)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t shape = 0; shape < SHAPES; shape++)
            for (uint32_t degree = 2; degree <= 5; degree += 3)
                for (size_t segments = 1; segments <= 40; segments = 3 * segments + 1) {
                    const coll_plan plan =
                        plan_on(allreduces[shape], COLL_ALLREDUCE, p, degree, segments);
                    uint32_t depth[64] = {0};
                    for (uint32_t rank = 1; rank < p; rank++) {
                        const walk *w = walk_of(&plan, rank);
                        uint32_t parent = COLL_RANK_NONE;
                        size_t up = 0, down = 0;
                        for (size_t i = 0; i < w->n; i++)
                            if (w->act[i].kind == COLL_DO_RECV)
                                parent = w->act[i].peer;
                        CHECK(parent < rank);
                        depth[rank] = depth[parent] + 1;
                        for (size_t i = 0; i < w->n; i++) {
                            if (w->act[i].kind == COLL_DO_SEND && w->act[i].peer == parent)
                                CHECK_EQ(coll_ref_offset(w->act[i].src), 2 * up++);
                            if (w->act[i].kind != COLL_DO_RECV)
                                continue;
                            CHECK_EQ(coll_ref_offset(w->act[i].dst), 2 * down);
                            CHECK_EQ(up, down + 2 * depth[rank] + 1 < segments
                                             ? down + 2 * depth[rank] + 1
                                             : segments);
                            down++;
                        }
                        CHECK_EQ(up, segments);
                        CHECK_EQ(down, segments);
                    }
                }
}

enum { SEGMENTS = 40 };

/* Law 3. A reduction takes the height of the tree and a unit more for every further segment, and so
 * does a broadcast; an allreduce takes twice the height and a unit more for every further segment.
 */
TEST(the_way_down_overlaps_the_way_up)
{
    for (uint32_t p = 2; p <= TIMED_RANKS; p++)
        for (size_t shape = 0; shape < SHAPES; shape++)
            for (uint32_t degree = 2; degree <= 4; degree++) {
                const coll_plan one = plan_on(reduces[shape], COLL_REDUCE, p, degree, 1);
                const coll_plan up = plan_on(reduces[shape], COLL_REDUCE, p, degree, SEGMENTS);
                const coll_plan down = plan_on(bcasts[shape], COLL_BCAST, p, degree, SEGMENTS);
                const coll_plan both =
                    plan_on(allreduces[shape], COLL_ALLREDUCE, p, degree, SEGMENTS);
                const size_t height = time_of(&one);
                CHECK(height > 0);
                CHECK_EQ(time_of(&up), height + SEGMENTS - 1);
                CHECK_EQ(time_of(&down), height + SEGMENTS - 1);
                CHECK_EQ(time_of(&both), 2 * height + SEGMENTS - 1);
            }
}

/* Law 4: the window in the records, which the verifier finds to suffice and not to be too large. */
TEST(a_window_of_three_suffices)
{
    for (size_t shape = 0; shape < SHAPES; shape++) {
        uint32_t most = 0;
        CHECK_EQ(allreduces[shape]->window, 3);
        for (uint32_t p = 2; p <= CHECK_RANKS; p++)
            for (uint32_t degree = 2; degree <= 64; degree = 5 * degree + 1) {
                const coll_plan plan =
                    plan_on(allreduces[shape], COLL_ALLREDUCE, p, degree, SEGMENTS);
                const coll_report cost = cost_of(&plan);
                most = cost.window > most ? cost.window : most;
            }
        CHECK_EQ(most, 3);
    }
}

int main(void)
{
    RUN(results_come_when_they_are_due);
    RUN(the_way_down_overlaps_the_way_up);
    RUN(a_window_of_three_suffices);
    return check_done();
}
