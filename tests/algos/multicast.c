/* tests/algos/multicast.c — the laws of coll/algos/multicast.h */
#include "coll/algos/multicast.h"
#include "coll/algos/in_network.h"

#include "support/walk.h"

static coll_plan serial(coll_collective collective, uint32_t p, size_t count, uint32_t flags,
                        uint32_t root, uint32_t slots)
{
    return plan_with(collective == COLL_REDUCE ? &coll_serial_reduce : &coll_serial_allreduce,
                     collective, p, count, flags, root, &slots);
}

/* Law 1: the root multicasts, once; after that message, no rank sends. Returns its elements. */
static size_t check_one_multicast(const coll_plan *plan)
{
    const uint32_t root = plan->problem.root;
    size_t elements = 0, multicasts = 0;
    for (uint32_t rank = 0; rank < plan->problem.p; rank++) {
        const walk *w = walk_of(plan, rank);
        bool over = false;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            CHECK(!over || !is_send(a));
            if (a->kind == COLL_DO_MULTICAST) {
                CHECK_EQ(rank, root);
                multicasts++;
                elements = a->count;
                over = true;
            }
            over = over || (a->kind == COLL_DO_RECV && rank != root); /* others it combines */
        }
        CHECK(over);
    }
    CHECK_EQ(multicasts, 1);
    return elements;
}

TEST(a_multicast_is_the_last_message)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root++) {
            const coll_plan bcast =
                plan_with(&coll_multicast_bcast, COLL_BCAST, p, 3, 0, root, NULL);
            const coll_plan reduce = serial(COLL_REDUCE, p, 3, 0, root, 2);
            const coll_plan allreduce = serial(COLL_ALLREDUCE, p, 3, 0, 0, 2);
            const uint32_t params[2] = {2 + root % 3, root % 4};
            const coll_plan fnomial = plan_with(&coll_fnomial_multicast_allreduce,
                                                COLL_ALLREDUCE, p, 3, 0, 0, params);
            CHECK_EQ(check_one_multicast(&bcast), 3);
            CHECK_EQ(check_one_multicast(&reduce), 1);
            CHECK_EQ(check_one_multicast(&allreduce), 3);
            CHECK_EQ(check_one_multicast(&fnomial), 3);
        }
}

/* Law 2. */
TEST(the_root_combines_in_rank_order)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root++)
            for (uint32_t slots = 1; slots <= 65536; slots *= 16) {
                const coll_plan plan = serial(COLL_REDUCE, p, 3, 0, root, slots);
                uint32_t next = 0;
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    for (size_t i = 0; i < w->n && rank != root; i++)
                        CHECK(!is_send(&w->act[i]) || (i == 0 && w->act[i].peer == root));
                    for (size_t i = 0; i < w->n && rank == root; i++) {
                        next += next == root; /* its own operand */
                        if (is_receive(&w->act[i]))
                            CHECK_EQ(w->act[i].peer, next++);
                    }
                }
                CHECK_EQ(next, p);
            }
}

/* Law 3. */
TEST(the_way_up_is_an_f_nomial_reduction)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t f = 2; f <= 5; f++)
            for (uint32_t segment = 0; segment <= 2; segment++) {
                const uint32_t params[3] = {f, segment, 0};
                const coll_plan plan = plan_with(&coll_fnomial_multicast_allreduce,
                                                 COLL_ALLREDUCE, p, 5, 0, 0, params);
                const coll_plan up =
                    plan_with(&coll_fnomial_reduce, COLL_REDUCE, p, 5, 0, 0, params);
                for (uint32_t rank = 0; rank < p; rank++) {
                    static walk before;
                    const walk *w = walk_of(&plan, rank);
                    before = *w;
                    w = walk_of(&up, rank);
                    if (!CHECK_EQ(before.n, w->n + 1))
                        continue;
                    for (size_t i = 0; i < w->n; i++) {
                        CHECK_EQ(before.act[i].kind, w->act[i].kind);
                        CHECK_EQ(before.act[i].peer, w->act[i].peer);
                        CHECK_EQ(before.act[i].count, w->act[i].count);
                    }
                }
            }
}

/* Levels of an f-nomial tree below its root: the most digits of a rank that are not 0. */
static uint32_t height(uint32_t p, uint32_t f)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < p; v++) {
        uint32_t digits = 0;
        for (uint32_t left = v; left > 0; left /= f)
            digits += left % f > 0;
        most = digits > most ? digits : most;
    }
    return most;
}

TEST(costs)
{
    const size_t count = 5;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const uint32_t root = p / 3, rounds = p > 1 ? 1 : 0;
            coll_plan plan =
                plan_with(&coll_multicast_bcast, COLL_BCAST, p, count, flags, root, NULL);
            coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, rounds);
            CHECK_EQ(cost.total.messages, 1);
            CHECK_EQ(cost.total.elements, count);
            for (uint32_t f = 2; f <= 6; f++) {
                const uint32_t params[2] = {f, f == 4 ? 2 : 0}, segments = f == 4 ? 3 : 1;
                plan = plan_with(&coll_fnomial_multicast_allreduce, COLL_ALLREDUCE, p, count,
                                 flags, 0, params);
                cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, height(p, f) + rounds);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages, rank == 0 ? 1 : segments);
                    CHECK_EQ(cost.ranks[rank].elements, count);
                }
            }
            for (int spreads = 0; spreads <= 1; spreads++) {
                const uint32_t at = spreads ? 0 : root;
                plan =
                    serial(spreads ? COLL_ALLREDUCE : COLL_REDUCE, p, count, flags, at, 65536);
                cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, 2 * rounds);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages, 1);
                    CHECK_EQ(cost.ranks[rank].elements, rank == at && !spreads ? 1 : count);
                    CHECK_EQ(cost.ranks[rank].reduced, rank == at ? (p - 1) * count : 0);
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             rank != at ? (spreads ? 0 : 1)
                                        : (p - 1 + (flags && at > 0 ? 1 : 0)) * count);
                }
            }
        }
}

/* Placed where a rank of the transport would be missing, it is refused: that rank would get a message
 * which nobody receives there. */
TEST(it_reaches_the_whole_transport)
{
    static const uint32_t turned[4] = {2, 0, 3, 1}, apart[4] = {0, 1, 2, 4};
    for (uint32_t p = 1; p <= 4; p++) {
        coll_plan plan = plan_with(&coll_multicast_bcast, COLL_BCAST, p, 3, 0, 0, NULL);
        coll_group group;
        coll_group_identity(&group);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
        coll_group_affine(&group, 1, 1);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
        coll_group_affine(&group, 0, 2);
        CHECK_STATUS(coll_plan_place(&plan, &group), p == 1 ? COLL_OK : COLL_ERR_GROUP);
        coll_group_table(&group, apart, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), p < 4 ? COLL_OK : COLL_ERR_GROUP);
        coll_group_table(&group, turned, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), p == 4 ? COLL_OK : COLL_ERR_GROUP);
        plan = plan_with(&coll_in_network_allreduce, COLL_ALLREDUCE, p, 3,
                         COLL_FLAG_COMMUTATIVE, 0, NULL);
        coll_group_affine(&group, 1, 1);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
        coll_group_table(&group, turned, NULL); /* it combines in the order of the transport */
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
        coll_group_identity(&group);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    }
}

int main(void)
{
    RUN(it_reaches_the_whole_transport);
    RUN(a_multicast_is_the_last_message);
    RUN(the_root_combines_in_rank_order);
    RUN(the_way_up_is_an_f_nomial_reduction);
    RUN(costs);
    return check_done();
}
