/* tests/lab/model/loggp.c — LogGP forms against the numbers that LogGOPSim prints, and each other
 * */
#include "coll/lab/model/loggp.h"

#include "support/near.h"

/* Two machines on which LogGOPSim was run: L + 2 o = 1400 with g below it, and a gap of 5000. */
static const coll_loggp_costs A = {1000, 200, 300, 1, 0, 65535, 0};
static const coll_loggp_costs B = {1000, 100, 5000, 1, 0, 65535, 0};

TEST(numbers_of_loggopsim)
{
    CHECK_SAME(coll_loggp_message_ns(&A, 8), 1407);
    CHECK_SAME(coll_loggp_binomial_ns(&A, 1024, 8), 14070);
    CHECK_SAME(coll_loggp_message_ns(&B, 8), 1207);
    CHECK_SAME(coll_loggp_gap_ns(&B, 8), 5007);
    CHECK_SAME(coll_loggp_binomial_ns(&B, 1024, 8), 46270);
    CHECK_SAME(coll_loggp_halving_doubling_ns(&A, 1024, 8192), 44348);
    CHECK_SAME(coll_loggp_ring_allreduce_ns(&A, 1024, 1 << 20), 4957458);
}

TEST(identities)
{
    coll_loggp_costs m = coll_loggp_loggopsim;
    CHECK_SAME(coll_loggp_message_ns(&m, 1), 5500);
    CHECK_SAME(coll_loggp_gap_ns(&m, 1), 1500); /* the processor's o is more than the NIC's g */
    m.O_ns_per_byte = 10;
    CHECK_SAME(coll_loggp_message_ns(&m, 11), 5600);
    CHECK_SAME(coll_loggp_binomial_ns(&m, 1, 8), 0);
    for (uint32_t P = 2; P <= 1 << 20; P *= 2) {
        CHECK_SAME(coll_loggp_binomial_ns(&m, P, 8), coll_loggp_binomial_ns(&m, P / 2 + 1, 8));
        CHECK(coll_loggp_binomial_ns(&m, 2 * P, 8) > coll_loggp_binomial_ns(&m, P, 8));
    }
    /* Two ranks: one message; an allreduce of half the vector each way. */
    CHECK_SAME(coll_loggp_binomial_ns(&A, 2, 64), coll_loggp_message_ns(&A, 64));
    CHECK_SAME(coll_loggp_ring_allreduce_ns(&A, 2, 64), 2 * coll_loggp_message_ns(&A, 32));
    CHECK_SAME(coll_loggp_halving_doubling_ns(&A, 2, 64),
               coll_loggp_ring_allreduce_ns(&A, 2, 64));
}

/* The last child of a binomial tree's root, played: a rank sends to its children one gap after the
 * other, the one with the largest subtree first. */
static double tree_ns(const coll_loggp_costs *m, unsigned phases, double bytes)
{
    double last = 0;
    for (unsigned i = 0; i < phases; i++) {
        const double end = i * coll_loggp_gap_ns(m, bytes) + coll_loggp_message_ns(m, bytes) +
                           tree_ns(m, phases - 1 - i, bytes);
        last = end > last ? end : last;
    }
    return last;
}

TEST(binomial_tree_played)
{
    for (double g = 0; g < 6000; g += 250)
        for (unsigned k = 0; k <= 10; k++) {
            const coll_loggp_costs m = {1000, 200, g, 2, 0, 65535, 0};
            CHECK_SAME(coll_loggp_binomial_ns(&m, 1u << k, 100), tree_ns(&m, k, 100));
        }
}

int main(void)
{
    RUN(numbers_of_loggopsim);
    RUN(identities);
    RUN(binomial_tree_played);
    return check_done();
}
