/* tests/algos/scatter_allgather.c — the laws of coll/algos/scatter_allgather.h */
#include "coll/algos/scatter_allgather.h"

#include "support/walk.h"

static const uint32_t degrees[] = {2, 3, 4, 5, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees, MOST = 200 };

static coll_plan bcast(bool ring, uint32_t p, size_t count, uint32_t flags, uint32_t root,
                       uint32_t f)
{
    return plan_with(ring ? &coll_scatter_ring_bcast : &coll_scatter_allgather_bcast,
                     COLL_BCAST, p, count, flags, root, &f);
}

static size_t scatter_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_scatter_role_of(plan, rank).steps;
}

/* Law 1: the same round after each rank's own scatter, and the same elements. */
TEST(what_is_sent_is_expected)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (unsigned ring = 0; ring < 2; ring++) {
                const coll_plan plan = bcast(ring, p, 3 * p + 2, 0, p / 3, degrees[d]);
                size_t sent = 0, received = 0;
                for (uint32_t rank = 0; rank < p; rank++)
                    walk_of(&plan, rank);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *mine = walk_of(&plan, rank);
                    const size_t first = scatter_steps(&plan, rank);
                    for (size_t i = 0; i < mine->n; i++) {
                        const coll_action *a = &mine->act[i];
                        const walk *theirs;
                        size_t matches = 0;
                        if (mine->step[i] < first)
                            continue;
                        sent += is_send(a);
                        received += is_receive(a);
                        if (!is_send(a))
                            continue;
                        theirs = walk_of(&plan, a->peer);
                        for (size_t k = 0; k < theirs->n; k++)
                            matches += is_receive(&theirs->act[k]) &&
                                       theirs->act[k].peer == rank &&
                                       theirs->step[k] - scatter_steps(&plan, a->peer) ==
                                           mine->step[i] - first &&
                                       coll_ref_offset(theirs->act[k].dst) ==
                                           coll_ref_offset(a->src) &&
                                       theirs->act[k].count == a->count;
                        CHECK_EQ(matches, 1);
                    }
                }
                CHECK_EQ(sent, received);
            }
}

/* Law 2. */
TEST(every_element_comes_once)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (unsigned ring = 0; ring < 2; ring++)
                for (size_t count = 0; count <= 2 * p + 1; count += 1 + p / 2) {
                    const uint32_t root = p - 1;
                    const coll_plan plan = bcast(ring, p, count, 0, root, degrees[d]);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const walk *w = walk_of(&plan, rank);
                        bool met[MOST] = {false};
                        size_t n = 0;
                        for (size_t i = 0; i < w->n; i++)
                            for (size_t e = 0; is_receive(&w->act[i]) && e < w->act[i].count;
                                 e++, n++) {
                                const size_t at = coll_ref_offset(w->act[i].dst) + e;
                                if (CHECK(at < count && !met[at]))
                                    met[at] = true;
                            }
                        CHECK_EQ(n, rank == root ? 0 : count);
                    }
                }
}

/* Parts that rank v has from the scatter: those of the largest power of f that divides v. */
static uint32_t scattered(uint32_t p, uint32_t f, uint32_t v)
{
    uint64_t stride = 1;
    while (stride < p && v % (stride * f) == 0)
        stride *= f;
    return stride < p - v ? (uint32_t)stride : p - v;
}

/* Messages of rank v in the rounds that multiply: to rank v − i·s the parts i·s … (i+1)·s − 1 from
 * its own on that the scatter did not bring; two where they go on from part p−1 to part 0. */
static uint32_t gathering(uint32_t p, uint32_t f, uint32_t v)
{
    uint32_t messages = 0;
    for (uint64_t s = 1; s < p; s *= f)
        for (uint64_t i = 1; i < f && i * s < p; i++) {
            const uint32_t skip = (uint32_t)(i * s), to = (v + p - skip) % p;
            const uint32_t had = scattered(p, f, to), begin = had > skip ? had : skip;
            const uint32_t end = skip + s < p ? skip + (uint32_t)s : p;
            if (begin < end)
                messages += (to + begin) % p + (end - begin) > p ? 2 : 1;
        }
    return messages;
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (unsigned ring = 0; ring < 2; ring++) {
                    const uint32_t f = degrees[d], root = (p + (uint32_t)d) / 2 % p;
                    const coll_plan plan = bcast(ring, p, 3 * p, flags, root, f);
                    const coll_report cost = cost_of(&plan);
                    uint32_t phases = 0;
                    uint64_t power;
                    for (uint64_t reach = 1; reach < p; reach *= f)
                        phases++;
                    CHECK_EQ(cost.total.elements, 3 * p * (p - 1));
                    CHECK_EQ(cost.total.scratch, 0);
                    CHECK_EQ(cost.total.copied, flags ? 0 : 3 * p);
                    power = f;
                    while (power < p)
                        power *= f;
                    if (ring)
                        CHECK_EQ(cost.rounds, p - 1);
                    else if (f == 2 && p > 1)
                        CHECK_EQ(cost.rounds, 2 * phases - (p + 1 < power ? 2 : 1));
                    else if (p > 1 && p == power) /* the most; one less for a power of two */
                        CHECK_EQ(cost.rounds, f * phases - (f & (f - 1) ? 0 : 1));
                    CHECK(cost.rounds <= (uint64_t)f * phases || ring);
                    for (uint32_t v = 0; v < p; v++) {
                        const coll_verify_count *here = &cost.ranks[(v + root) % p];
                        const uint32_t children = coll_fnomial_of(p, &plan.radix, v).children;
                        if (!ring) {
                            CHECK_EQ(here->messages, children + gathering(p, f, v));
                            continue;
                        }
                        CHECK_EQ(here->messages, children + p - scattered(p, f, (v + 1) % p));
                        CHECK_EQ(here->elements, 3 * (scattered(p, f, v) - 1 + p -
                                                      scattered(p, f, (v + 1) % p)));
                    }
                    /* the root: all but its own part in both halves; nobody sends more */
                    CHECK_EQ(cost.ranks[root].elements, 2 * (p - 1) * 3);
                    CHECK_EQ(cost.most.elements, 2 * (p - 1) * 3);
                }
}

int main(void)
{
    RUN(what_is_sent_is_expected);
    RUN(every_element_comes_once);
    RUN(costs);
    return check_done();
}
