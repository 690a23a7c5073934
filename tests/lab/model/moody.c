/* tests/lab/model/moody.c — the formulas of Moody 2003 against its printed numbers, and each
 * other */
#include "coll/lab/model/moody.h"

#include "support/near.h"

static const coll_moody_costs *const every[] = {
    &coll_moody_host_i32_max, &coll_moody_host_i32_add, &coll_moody_host_f64_max,
    &coll_moody_host_f64_add, &coll_moody_nic_i32_max,  &coll_moody_nic_i32_add,
    &coll_moody_nic_f64_max,  &coll_moody_nic_f64_add};
enum { EVERY = sizeof every / sizeof every[0] };

static const coll_moody_costs *const host = &coll_moody_host_f64_add;
static const coll_moody_costs *const nic = &coll_moody_nic_f64_add;

/* Table 4.3, and on straight lines between its columns. */
TEST(combining)
{
    CHECK_SAME(coll_moody_c_us(nic, 1), 1.50);
    CHECK_SAME(coll_moody_c_us(nic, 2), 2.95);
    CHECK_SAME(coll_moody_c_us(nic, 3), (2.95 + 5.80) / 2);
    CHECK_SAME(coll_moody_c_us(nic, 4), 5.80);
    CHECK_SAME(coll_moody_c_us(nic, 8), 11.56);
    CHECK_SAME(coll_moody_c_us(nic, 16), 11.56 + 8 * (11.56 - 5.80) / 4);
    CHECK_SAME(coll_moody_c_us(nic, .5), .75);
    for (unsigned i = 0; i < EVERY; i++)
        for (unsigned e = 1; e < 64; e++)
            CHECK(coll_moody_c_us(every[i], e) <= coll_moody_c_us(every[i], e + 1));
    {
        const coll_moody_costs proportional = {1, 1, 1, .5, 0, 0, 0};
        for (unsigned e = 1; e < 64; e++)
            CHECK_SAME(coll_moody_c_us(&proportional, e), .5 * e);
    }
}

/* Figure 4.4: 3-nomial tree of 16 nodes: three phases, two of them full, one child in the last. */
TEST(tree_of_16)
{
    CHECK_SAME(coll_moody_fnomial_us(nic, 16, 3, 1),
               9.20 + 3 * 2.10 + (.42 + 1.50) * (2 * 2 + 1));
}

/* Section 5.2.3 and figure 5.3: on 31 nodes degree 4 is best for one element, and 2 for more. */
TEST(best_degrees_of_figure_5_3)
{
    CHECK_EQ(coll_moody_best_degree(nic, 31, 1), 4);
    CHECK_EQ(coll_moody_best_degree(nic, 31, 2), 2);
    CHECK_EQ(coll_moody_best_degree(nic, 31, 4), 2);
    CHECK_EQ(coll_moody_best_degree(nic, 31, 8), 2);
}

/* Section 4.2.2, figure 4.3: with the NIC's L and r, the best degree lies between 2 and 6; it is
 * between 5 and 6 where combining costs nothing, and falls with c. */
TEST(real_degrees_of_figure_4_3)
{
    coll_moody_costs m = *nic;
    double before = 6;
    m.c2_us = m.c4_us = m.c8_us = 0;
    m.c1_us = 0;
    CHECK(coll_moody_real_degree(&m, 1) > 5 && coll_moody_real_degree(&m, 1) < 6);
    for (m.c1_us = .05; m.c1_us < 12; m.c1_us += .05) {
        const double f = coll_moody_real_degree(&m, 1);
        CHECK(f < before && f > 1);
        CHECK_NEAR(f * (log(f) - 1) + 1, m.L_us / (m.r_us + m.c1_us), 1e-9);
        before = f;
    }
    CHECK(before < 2); /* where a vector is better split */
}

/* A full tree's time has its minimum at the real degree. */
TEST(real_degree_is_the_minimum)
{
    for (unsigned i = 0; i < EVERY; i++)
        for (double e = 1; e <= 8; e *= 2) {
            const double f = coll_moody_real_degree(every[i], e);
            const double us = coll_moody_full_us(every[i], 4096, f, e);
            for (double g = 1.05; g < 40; g += .05)
                CHECK(coll_moody_full_us(every[i], 4096, g, e) >= us * (1 - 1e-12));
        }
    CHECK_EQ(coll_moody_best_degree(&coll_moody_nic_i32_add, 4096, 1), 4);
    CHECK(fabs(coll_moody_real_degree(&coll_moody_nic_i32_add, 1) - 4.5) < .5);
}

/* Also of very many nodes, and where receiving and combining cost nothing. */
TEST(best_degree_without_a_search)
{
    const coll_moody_costs free_children = {1, 0, 1, 0, 0, 0, 0},
                           nothing = {0, 0, 1, 0, 0, 0, 0};
    CHECK_EQ(coll_moody_best_degree(&free_children, 100, 1), 100);
    CHECK_EQ(coll_moody_best_degree(&nothing, 100, 1), 2);
    CHECK_EQ(coll_moody_best_degree(nic, UINT32_MAX, 8), 2);
}

TEST(identities)
{
    for (unsigned i = 0; i < EVERY; i++) {
        const coll_moody_costs *m = every[i];
        for (uint32_t P = 2; P <= 200; P++) {
            uint32_t best = coll_moody_best_degree(m, P, 1);
            const double child = m->r_us + m->c1_us;
            /* f = 2: ⌈log2 P⌉ phases, one child each */
            CHECK_SAME(coll_moody_fnomial_us(m, P, 2, 1),
                       m->C_us + coll_log_ceil(2, P) * (m->L_us + child));
            /* f ≥ P: all are children of the root */
            CHECK_SAME(coll_moody_fnomial_us(m, P, P, 1), coll_moody_serial_us(m, P, 1));
            CHECK_SAME(coll_moody_fnomial_us(m, P, P + 7, 1), coll_moody_serial_us(m, P, 1));
            for (uint32_t f = 2; f <= P + 1; f++)
                CHECK(coll_moody_fnomial_us(m, P, best, 1) <=
                      coll_moody_fnomial_us(m, P, f, 1));
            /* no split */
            CHECK_SAME(coll_moody_split_us(m, P, 3, 4, 0), coll_moody_fnomial_us(m, P, 3, 4));
        }
        /* full trees */
        for (uint32_t f = 2; f <= 10; f++)
            for (uint32_t P = f, k = 1; P <= 100000; P *= f, k++) {
                CHECK_SAME(coll_moody_fnomial_us(m, P, f, 2), coll_moody_full_us(m, P, f, 2));
                CHECK_EQ(coll_log_ceil(f, P), k);
                CHECK_EQ(coll_log_floor(f, P), k);
            }
    }
    CHECK_EQ(coll_log_ceil(3, 10), 3);
    CHECK_EQ(coll_log_floor(3, 26), 2);
    CHECK_EQ(coll_log_ceil(2, (uint64_t)1 << 40), 40);
    CHECK_EQ(coll_log_ceil(2, UINT64_MAX), 64);
    CHECK_EQ(coll_log_ceil(2, 1), 0);
}

/* The number of children that the root really has in each phase. */
TEST(children_are_counted_right)
{
    const coll_moody_costs m = {0, 1, 0, 0, 0, 0, 0};
    for (uint32_t f = 2; f < 12; f++)
        for (uint32_t P = 2; P < 400; P++) {
            uint32_t children = 0;
            for (uint32_t stride = 1; stride < P; stride *= f)
                for (uint32_t i = 1; i < f && i * stride < P; i++)
                    children++;
            CHECK_SAME(coll_moody_fnomial_us(&m, P, f, 1), (double)children);
        }
}

/* Section 5.3.1: 0.80 us, and what follows for the operations of figure 5.4. */
TEST(host_against_nic)
{
    coll_moody_costs free_host = *host;
    free_host.c1_us = free_host.c2_us = free_host.c4_us = free_host.c8_us = 0;
    CHECK_NEAR(coll_moody_crossing_c_us(&free_host, nic, 2, 1), .80, 1e-9);
    CHECK_EQ(coll_moody_crossing_nodes(host, nic, 2, 1, 1 << 20), 0);
    CHECK(coll_moody_crossing_nodes(&coll_moody_host_f64_max, &coll_moody_nic_f64_max, 2, 1,
                                    (uint32_t)1 << 31) == 0);
    {
        const uint32_t add = coll_moody_crossing_nodes(&coll_moody_host_i32_add,
                                                       &coll_moody_nic_i32_add, 2, 1, 1 << 20);
        /* 6.5 us of start-up against 0.57 us a phase: in the 12th phase */
        CHECK_EQ(add, (1 << 11) + 1);
        for (uint32_t P = add; P < add + 3000; P++)
            CHECK(coll_moody_fnomial_us(&coll_moody_nic_i32_add, P, 2, 1) <
                  coll_moody_fnomial_us(&coll_moody_host_i32_add, P, 2, 1));
        CHECK(coll_moody_fnomial_us(&coll_moody_nic_i32_add, add - 1, 2, 1) >
              coll_moody_fnomial_us(&coll_moody_host_i32_add, add - 1, 2, 1));
    }
    /* At the crossing a phase of both is equally long. */
    for (uint32_t f = 2; f < 8; f++) {
        coll_moody_costs at = *nic;
        at.c1_us = coll_moody_crossing_c_us(host, nic, f, 1);
        CHECK_NEAR(at.L_us + (f - 1) * coll_moody_child_us(&at, 1),
                   host->L_us + (f - 1) * coll_moody_child_us(host, 1), 1e-9);
    }
}

/* Section 5.2.2, figure 5.2: on two nodes the host is about twice as fast, by some 5 us; the
 * optimised version is as fast as the host on two and three, and halves the distance on more. */
TEST(figure_5_2)
{
    const coll_moody_costs *h = &coll_moody_host_i32_add, *n = &coll_moody_nic_i32_add;
    const double h2 = coll_moody_fnomial_us(h, 2, 2, 1), n2 = coll_moody_fnomial_us(n, 2, 2, 1);
    CHECK_NEAR(n2 / h2, 2, .05);
    CHECK_NEAR(n2 - h2, 5, .2);
    for (uint32_t P = 2; P <= 64; P++) {
        const double hybrid = coll_moody_hybrid_us(h, n, P, 2, 1);
        if (P <= 3)
            CHECK_SAME(hybrid, coll_moody_fnomial_us(h, P, 2, 1));
        else
            CHECK_SAME(hybrid, coll_moody_fnomial_us(n, P, 2, 1) - (n->C_us - h->C_us) / 2);
    }
}

/* A node that has a parent, and as a multiple of f children as far as they exist. */
TEST(intermediate_nodes)
{
    for (uint32_t f = 2; f < 12; f++)
        for (uint32_t P = 2; P < 200; P++) {
            bool any = false;
            for (uint32_t rank = 1; rank < P && !any; rank++)
                any = rank % f == 0 && rank + 1 < P;
            CHECK(coll_moody_has_intermediate(P, f) == any);
        }
}

/* Figure 5.1, 512 nodes, sums of doubles: three splits make 8 elements nearly three times as fast,
 * four make 16 more than three times. With the degree 4 that the large measurements use (section
 * 5.4.2) that is so; with binomial trees it is 2.4 and 3.5 times. (One split of two elements is not
 * slower in this model, as it was in the measurement: exchanging halves costs it only L + r.) */
TEST(figure_5_1)
{
    const double eight =
        coll_moody_split_us(nic, 512, 4, 8, 0) / coll_moody_split_us(nic, 512, 4, 8, 3);
    const double sixteen =
        coll_moody_split_us(nic, 512, 4, 16, 0) / coll_moody_split_us(nic, 512, 4, 16, 4);
    CHECK_NEAR(eight, 3, .15);
    CHECK(sixteen > 3);
    CHECK_NEAR(coll_moody_split_us(nic, 512, 2, 8, 0) / coll_moody_split_us(nic, 512, 2, 8, 3),
               2.42, .01);
    CHECK(coll_moody_split_us(nic, 512, 2, 16, 0) / coll_moody_split_us(nic, 512, 2, 16, 4) >
          3);
    /* of 1 node after all splits nothing is left but the last message */
    CHECK_SAME(coll_moody_split_us(nic, 2, 2, 2, 1), 9.20 + (2.10 + .42 + 1.50) + 2.10 + .42);
    CHECK_SAME(coll_moody_split_us(nic, 2, 2, 2, 9), coll_moody_split_us(nic, 2, 2, 2, 1));
}

int main(void)
{
    RUN(combining);
    RUN(tree_of_16);
    RUN(best_degrees_of_figure_5_3);
    RUN(real_degrees_of_figure_4_3);
    RUN(real_degree_is_the_minimum);
    RUN(best_degree_without_a_search);
    RUN(identities);
    RUN(children_are_counted_right);
    RUN(host_against_nic);
    RUN(figure_5_2);
    RUN(intermediate_nodes);
    RUN(figure_5_1);
    return check_done();
}
