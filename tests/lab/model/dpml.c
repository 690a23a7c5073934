/* tests/lab/model/dpml.c — the formulas of Bayatpour et al. 2017: identities, and the shapes of
 * figures 1 and 4 to 8 */
#include "coll/lab/model/dpml_model.h"

#include "support/near.h"

static const coll_dpml_costs plain = {2, 1, .5, .25, .125, 0, 0, 0, 0};

/* The sum of equations 2 to 6, by hand: h = 4, ppn = 8, l = 2, n = 8000. */
TEST(equations)
{
    CHECK_SAME(coll_dpml_copy_us(&plain, 2, 8000), 2 * (.5 + .25 * 4));
    CHECK_SAME(coll_dpml_compute_us(&plain, 8, 2, 8000), 7 * 4 * .125);
    CHECK_SAME(coll_dpml_exchange_us(&plain, 4, 2, 8000, 1), 2 * (2 + 4 + 4 * .125));
    CHECK_SAME(coll_dpml_exchange_us(&plain, 4, 2, 8000, 5), 2 * (2 * 5 + 4 + 4 * .125));
    CHECK_SAME(coll_dpml_us(&plain, 4, 8, 2, 8000, 1), 2 * 3 + 3.5 + 13);
    CHECK_SAME(coll_dpml_recursive_doubling_us(&plain, 32, 8000), 5 * (2 + 8 + 1));
    CHECK_SAME(coll_dpml_recursive_doubling_us(&plain, (uint64_t)1 << 40, 8000), 40 * 11);
}

/* One process a node and no copies: equation 7 is equation 1. */
TEST(identities)
{
    coll_dpml_costs m = plain;
    m.a_shm_us = m.b_shm_ns_per_byte = 0;
    for (uint32_t h = 2; h <= 300; h++)
        CHECK_SAME(coll_dpml_us(&m, h, 1, 1, 5000, 1),
                   coll_dpml_recursive_doubling_us(&m, h, 5000));
    for (uint32_t k = 1; k < 20; k++) /* equation 5 − equation 4 */
        CHECK_NEAR(coll_dpml_us(&plain, 16, 8, 4, 1e6, k) -
                       coll_dpml_us(&plain, 16, 8, 4, 1e6, 1),
                   4 * 2. * (k - 1), 1e-9);
    CHECK_SAME(coll_dpml_fabric_us(&plain, 1, &coll_dpml_two_sockets, 1, 100), 0);
}

/* dT/dl = 0, and the whole number that is best is one of its two neighbours. */
TEST(leaders)
{
    for (uint32_t h = 2; h <= 128; h *= 2)
        for (uint32_t ppn = 2; ppn <= 64; ppn += 13)
            for (double n = 64; n < 1e7; n *= 3) {
                const double real = coll_dpml_real_leaders(&plain, h, ppn, n);
                const uint32_t best = coll_dpml_best_leaders(&plain, h, ppn, n, ppn, false);
                for (uint32_t l = 1; l <= ppn; l++)
                    CHECK(coll_dpml_us(&plain, h, ppn, best, n, 1) <=
                          coll_dpml_us(&plain, h, ppn, l, n, 1));
                if (real < 1)
                    CHECK_EQ(best, 1);
                else if (real > ppn)
                    CHECK_EQ(best, ppn);
                else
                    CHECK(fabs(best - real) < 1);
            }
    CHECK_EQ(coll_dpml_best_leaders(&plain, 2, UINT32_MAX, 1e15, UINT32_MAX, true),
             (uint32_t)1 << 31);
}

/* Figure 1: on InfiniBand-like networks processes do not get into each other's way; on
 * Omni-Path-like ones short messages scale, long ones do not, and between them lies zone B. */
TEST(zones)
{
    char before = 'A';
    for (double n = 1; n <= 1 << 22; n *= 2) {
        const char zone = coll_dpml_zone(&coll_dpml_omni_path, 16, n);
        CHECK_EQ(coll_dpml_zone(&coll_dpml_infiniband, 16, n), 'A');
        CHECK(zone >= before);
        CHECK(coll_dpml_relative_throughput(&coll_dpml_omni_path, 16, n) <= 16);
        before = zone;
    }
    CHECK_EQ(coll_dpml_zone(&coll_dpml_omni_path, 16, 256), 'A');
    CHECK_EQ(coll_dpml_zone(&coll_dpml_omni_path, 16, 4096), 'B');
    CHECK_EQ(coll_dpml_zone(&coll_dpml_omni_path, 16, 65536), 'C'); /* 1 MB by 16 leaders */
}

/* Section 6.2: figures 4 to 7. */
TEST(figures_4_to_7)
{
    static const struct {
        const coll_dpml_costs *m;
        uint32_t h, ppn, best_of_8k;
    } clusters[] = {{&coll_dpml_infiniband, 16, 28, 4},
                    {&coll_dpml_infiniband, 64, 28, 4},
                    {&coll_dpml_omni_path, 64, 28, 16},
                    {&coll_dpml_knl_omni_path, 32, 32, 16}};
    for (int i = 0; i < 4; i++) {
        const coll_dpml_costs *m = clusters[i].m;
        const uint32_t h = clusters[i].h, ppn = clusters[i].ppn;
        uint32_t before = 1;
        for (double n = 4; n <= 1 << 20; n *= 2) {
            const uint32_t best = coll_dpml_best_leaders(m, h, ppn, n, 16, true);
            CHECK(best >= before); /* it moves with the size */
            before = best;
            if (n < 1024) /* below 1 KB more leaders bring next to nothing, and 16 cost */
                CHECK(coll_dpml_us(m, h, ppn, best, n, 1) >
                          .85 * coll_dpml_us(m, h, ppn, 1, n, 1) &&
                      coll_dpml_us(m, h, ppn, 16, n, 1) > coll_dpml_us(m, h, ppn, 1, n, 1));
        }
        CHECK_EQ(coll_dpml_best_leaders(m, h, ppn, 8192, 16, true), clusters[i].best_of_8k);
        CHECK_EQ(before, 16);
    }
    /* 512 KB, 16 leaders against one: 4.9 times on cluster B, 4.3 times on C */
    CHECK_NEAR(coll_dpml_us(&coll_dpml_infiniband, 64, 28, 1, 524288, 1) /
                   coll_dpml_us(&coll_dpml_infiniband, 64, 28, 16, 524288, 1),
               4.9, .02);
    CHECK_NEAR(coll_dpml_us(&coll_dpml_omni_path, 64, 28, 1, 524288, 1) /
                   coll_dpml_us(&coll_dpml_omni_path, 64, 28, 16, 524288, 1),
               4.3, .02);
}

/* Section 6.3, figure 8, 16 nodes: reductions by the network are faster than the best host-based
 * one below 2 KB and slower from 4 KB on, with one process a node up to 2.5 times faster; socket
 * leaders are better than node leaders. */
TEST(figure_8)
{
    const coll_dpml_costs *m = &coll_dpml_infiniband;
    const coll_dpml_sockets *s = &coll_dpml_two_sockets;
    for (uint32_t ppn = 1; ppn <= 28; ppn = ppn == 1 ? 4 : ppn + 24)
        for (double n = 4; n <= 65536; n *= 2) {
            const uint32_t l = coll_dpml_best_leaders(m, 16, ppn, n, 16, true);
            const double host = ppn == 1 ? 4 * (m->a_us + n * (.1 + .09) / 1000)
                                         : coll_dpml_us(m, 16, ppn, l, n, 1);
            const double node = coll_dpml_fabric_us(m, ppn, s, 1, n);
            const double socket = coll_dpml_fabric_us(m, ppn, s, ppn > 1 ? s->n : 1, n);
            CHECK(ppn == 1 ? socket <= node && node <= socket : socket < node);
            if (n < 2048)
                CHECK(node < host && socket < host);
            if (n >= 4096)
                CHECK(node > host && socket > host);
            if (n <= 16 && ppn == 1)
                CHECK_NEAR(host / node, 2.5, .03);
            if (n <= 16 && ppn == 4)
                CHECK_NEAR(host / node, 1.8, .1), CHECK_NEAR(host / socket, 2, .05);
        }
}

/* Copies cross as long as a socket has no leader, twice. */
TEST(copies_that_cross)
{
    const coll_dpml_sockets near = {4, 1}, far = {4, 3};
    const double copy = coll_dpml_copy_us(&plain, 1, 1000);
    for (uint32_t leaders = 1; leaders <= 8; leaders++)
        CHECK_NEAR(coll_dpml_fabric_us(&plain, 16, &far, leaders, 1000) -
                       coll_dpml_fabric_us(&plain, 16, &near, leaders, 1000),
                   leaders < 4 ? 2 * (3 - 1) * copy : 0, 1e-9);
}

int main(void)
{
    RUN(equations);
    RUN(identities);
    RUN(leaders);
    RUN(zones);
    RUN(figures_4_to_7);
    RUN(figure_8);
    RUN(copies_that_cross);
    return check_done();
}
