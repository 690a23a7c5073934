/* tests/lab/model/hockney.c — the formulas with α, β, γ against each other and against minima */
#include "coll/lab/model/hockney.h"

#include "support/near.h"

static const coll_hockney_costs m = {5, 2, 1}; /* us, ns/byte, ns/byte */

TEST(two_ranks)
{
    const double n = 4000; /* 8 us of transfer, 4 us of combining */
    CHECK_SAME(coll_hockney_message_us(&m, n), 13);
    CHECK_SAME(coll_hockney_flat_us(&m, 2, n), 13);
    CHECK_SAME(coll_hockney_binomial_us(&m, 2, n), 13);
    CHECK_SAME(coll_hockney_chain_us(&m, 2, n, n), 13);
    CHECK_SAME(coll_hockney_scatter_ring_us(&m, 2, n), 2 * (5 + 4));
    CHECK_SAME(coll_hockney_bruck_us(&m, 2, n), 5 + 4);
    CHECK_SAME(coll_hockney_ring_us(&m, 2, n), 5 + 4);
    CHECK_SAME(coll_hockney_recursive_doubling_us(&m, 2, n), 17);
    CHECK_SAME(coll_hockney_rabenseifner_us(&m, 2, n), 2 * 5 + 8 + 2);
    CHECK_SAME(coll_hockney_ring_allreduce_us(&m, 2, n), 2 * 5 + 8 + 2);
}

TEST(eight_ranks)
{
    const double n = 8000;
    CHECK_SAME(coll_hockney_flat_us(&m, 8, n), 7 * 21);
    CHECK_SAME(coll_hockney_binomial_us(&m, 8, n), 3 * 21);
    CHECK_SAME(coll_hockney_scatter_ring_us(&m, 8, n), (3 + 7) * 5 + 2 * 14);
    CHECK_SAME(coll_hockney_chain_us(&m, 8, n, 1000), (6 + 8) * 7);
    CHECK_SAME(coll_hockney_rabenseifner_us(&m, 8, n), 6 * 5 + 28 + 7);
    CHECK_SAME(coll_hockney_ring_allreduce_us(&m, 8, n), 14 * 5 + 28 + 7);
}

/* Short vectors: rounds count; long ones: bytes do. */
TEST(limits)
{
    for (uint32_t P = 4; P <= 4096; P *= 2) {
        CHECK(coll_hockney_recursive_doubling_us(&m, P, 8) <
              coll_hockney_rabenseifner_us(&m, P, 8));
        CHECK(coll_hockney_rabenseifner_us(&m, P, 8) <
              coll_hockney_ring_allreduce_us(&m, P, 8));
        CHECK_NEAR(coll_hockney_rabenseifner_us(&m, P, 1e12),
                   coll_hockney_ring_allreduce_us(&m, P, 1e12), 1e-4);
        CHECK_NEAR(coll_hockney_scatter_ring_us(&m, P, 1e12),
                   2 * coll_hockney_ring_us(&m, P, 1e12), 1e-4);
        CHECK_NEAR(coll_hockney_bruck_us(&m, P, 1e12), coll_hockney_ring_us(&m, P, 1e12), 1e-4);
    }
}

/* The segment of a chain is where its time is least, and longer vectors have longer ones. */
TEST(chain_segment)
{
    for (uint32_t P = 3; P < 2000; P = P * 3 / 2)
        for (double n = 1e6; n < 1e9; n *= 10) {
            const double s = coll_hockney_chain_segment_bytes(&m, P, n);
            const double us = (P - 2 + n / s) * coll_hockney_message_us(&m, s);
            for (double other = s / 8; other < s * 8; other *= 1.1)
                CHECK((P - 2 + n / other) * coll_hockney_message_us(&m, other) >=
                      us * (1 - 1e-12));
            CHECK_NEAR(coll_hockney_chain_segment_bytes(&m, P, 4 * n), 2 * s, 1e-9);
        }
    CHECK_SAME(coll_hockney_chain_segment_bytes(&m, 2, 1000), 1000);
    CHECK_SAME(coll_hockney_chain_segment_bytes(&m, 3, 10), 10);
}

int main(void)
{
    RUN(two_ranks);
    RUN(eight_ranks);
    RUN(limits);
    RUN(chain_segment);
    return check_done();
}
