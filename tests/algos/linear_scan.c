/* tests/algos/linear_scan.c — the laws of coll/algos/linear_scan.h */
#include "coll/algos/linear_scan.h"

#include "support/timed.h"

static coll_plan scan_plan(bool scan, uint32_t p, size_t count, uint32_t flags,
                           uint32_t segment)
{
    return plan_with(scan ? &coll_linear_scan : &coll_linear_exscan,
                     scan ? COLL_SCAN : COLL_EXSCAN, p, count, flags, 0, &segment);
}

/* Laws 1 and 2. */
TEST(each_segment_once_along_the_line)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t count = 0; count <= 17; count += 1 + count / 3)
            for (uint32_t segment = 0; segment <= 9; segment++)
                for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE;
                     flags += COLL_FLAG_IN_PLACE)
                    for (unsigned scan = 0; scan < 2; scan++) {
                        const coll_plan plan = scan_plan(scan, p, count, flags, segment);
                        for (uint32_t rank = 0; rank < p; rank += 1 + rank / 3) {
                            const walk *w = walk_of(&plan, rank);
                            size_t received = 0, sent = 0; /* segments */
                            for (size_t i = 0; i < w->n; i++) {
                                const coll_action *a = &w->act[i];
                                const coll_block seg =
                                    coll_segment_block(count, segment, w->step[i]);
                                CHECK_EQ(a->count, seg.count);
                                if (is_receive(a)) {
                                    CHECK_EQ(a->peer, rank - 1);
                                    CHECK_EQ(w->step[i], received++);
                                } else if (is_send(a)) {
                                    CHECK_EQ(a->peer, rank + 1);
                                    CHECK_EQ(w->step[i], sent++);
                                    CHECK(rank == 0 || received == sent);
                                }
                            }
                            const size_t segments = coll_segments(count, segment);
                            CHECK_EQ(received, rank > 0 ? segments : 0);
                            CHECK_EQ(sent, rank + 1 < p ? segments : 0);
                        }
                    }
}

TEST(costs)
{
    const size_t count = 12;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t segment = 0; segment <= 12; segment += 3)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (unsigned scan = 0; scan < 2; scan++) {
                    const coll_plan plan = scan_plan(scan, p, count, flags, segment);
                    const coll_report cost = cost_of(&plan);
                    const size_t segments = coll_segments(count, segment);
                    const size_t slot = segment ? segment : count;
                    CHECK_EQ(cost.rounds, p - 1);
                    CHECK_EQ(time_of(&plan), p > 1 ? p + segments - 2 : 0); /* law 3 */
                    CHECK_EQ(cost.total.messages, (p - 1) * segments);
                    CHECK_EQ(cost.most.messages, p > 1 ? segments : 0);
                    CHECK_EQ(cost.total.elements, (p - 1) * count);
                    CHECK_EQ(coll_plan_scratch(&plan, 0), 0);
                    for (uint32_t rank = 1; rank < p; rank++) {
                        const size_t slots = scan           ? (flags ? 2 : 0)
                                             : rank + 1 < p ? (flags ? 4 : 2)
                                                            : 0;
                        CHECK_EQ(coll_plan_scratch(&plan, rank), slots * slot);
                    }
                }
}

int main(void)
{
    RUN(each_segment_once_along_the_line);
    RUN(costs);
    return check_done();
}
