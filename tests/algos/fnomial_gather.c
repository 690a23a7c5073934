/* tests/algos/fnomial_gather.c — the laws of coll/algos/fnomial_gather.h */
#include "coll/algos/fnomial_gather.h"

#include "walk.h"

static const uint32_t degrees[] = {2, 3, 4, 5, 8, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees, COUNT = 2 };

static coll_plan blocks(bool gathers, uint32_t p, uint32_t flags, uint32_t root, uint32_t f)
{
    return plan_with(&coll_fnomial_gather, gathers ? COLL_GATHER : COLL_SCATTER, p, COUNT,
                     flags, root, &f);
}

/* Law 1, for what is kept in SCRATCH and in the root's buffer: every block comes, or goes, once. */
TEST(subtrees_tile_the_interval)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t root = 0; root < p; root += 1 + p / 4)
                for (unsigned gathers = 0; gathers < 2; gathers++) {
                    const coll_plan plan = blocks(gathers, p, 0, root, degrees[d]);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const walk *w = walk_of(&plan, rank);
                        const coll_i_fnomial_blocks role =
                            coll_i_fnomial_blocks_of(&plan, rank);
                        const uint32_t span =
                            coll_i_fnomial_span(&plan, role.place.v, role.place.at.stride);
                        uint64_t met = role.place.at.children == 0 && rank != root ? 1 : 0;
                        for (size_t i = 0; i < w->n; i++) {
                            const coll_action *a = &w->act[i];
                            const bool up =
                                !is_send(a) && !is_receive(a)
                                    ? false
                                    : rank != root &&
                                          a->peer == coll_i_fnomial_parent(&plan, &role.place);
                            const coll_ref at = gathers ? a->dst : a->src;
                            if (up)
                                continue;
                            CHECK_EQ(coll_ref_offset(at) % COUNT, 0);
                            for (size_t b = 0; b < a->count / COUNT; b++) {
                                const size_t block = coll_ref_offset(at) / COUNT + b;
                                CHECK(block < 64 && !((met >> block) & 1u));
                                met |= (uint64_t)1 << block;
                            }
                        }
                        CHECK_EQ(met, UINT64_MAX >> (64 - span));
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 rank != root && role.place.at.children > 0 ? span * COUNT : 0);
                    }
                }
}

/* Laws 2 and 3. */
TEST(both_ends_cut_messages_alike)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t root = 0; root < p; root += 1 + p / 9)
                for (unsigned gathers = 0; gathers < 2; gathers++) {
                    const coll_plan plan = blocks(gathers, p, 0, root, degrees[d]);
                    uint32_t wrapped = 0;
                    for (uint32_t rank = 0; rank < p; rank++)
                        walk_of(&plan, rank);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const coll_i_fnomial place = coll_i_fnomial_place(&plan, root, rank);
                        const uint32_t parent = coll_i_fnomial_parent(&plan, &place);
                        const walk *mine = walk_of(&plan, rank),
                                   *theirs = walk_of(&plan, parent);
                        size_t k = 0, messages = 0;
                        if (rank == root)
                            continue;
                        for (size_t i = 0; i < mine->n; i++) {
                            const coll_action *a = &mine->act[i];
                            if ((!is_send(a) && !is_receive(a)) || a->peer != parent)
                                continue;
                            CHECK_EQ(is_send(a), gathers);
                            while (k < theirs->n && (theirs->act[k].peer != rank ||
                                                     (gathers ? !is_receive(&theirs->act[k])
                                                              : !is_send(&theirs->act[k]))))
                                k++;
                            if (CHECK(k < theirs->n))
                                CHECK_EQ(theirs->act[k].count, a->count);
                            k++;
                            messages++;
                        }
                        CHECK(messages == 1 || (messages == 2 && parent == root));
                        wrapped += messages == 2 ? 1 : 0;
                    }
                    CHECK(wrapped <= 1);
                }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE)
                for (unsigned gathers = 0; gathers < 2; gathers++) {
                    const uint32_t root = (p + (uint32_t)d) / 2 % p;
                    const coll_plan plan = blocks(gathers, p, flags, root, degrees[d]);
                    const coll_report cost = cost_of(&plan);
                    uint64_t hops = 0; /* of all blocks */
                    uint32_t phases = 0;
                    for (uint64_t reach = 1; reach < p; reach *= degrees[d])
                        phases++;
                    for (uint32_t v = 1; v < p; v++) {
                        const coll_fnomial at = coll_fnomial_of(p, &plan.radix, v);
                        hops += coll_i_fnomial_span(&plan, v, at.stride);
                    }
                    CHECK(cost.total.messages == p - 1 || cost.total.messages == p);
                    CHECK_EQ(cost.total.elements, hops * COUNT);
                    CHECK(cost.rounds <= phases);
                }
}

int main(void)
{
    RUN(subtrees_tile_the_interval);
    RUN(both_ends_cut_messages_alike);
    RUN(costs);
    return check_done();
}
