/* tests/lab/model/kumar.c — the cost equation of Kumar 2004 against its table, after one fit */
#include "coll/lab/model/kumar.h"

#include "../../../bench/reproduce/slide_23.h"
#include "support/near.h"

static const coll_kumar_costs *const lemieux = &coll_kumar_lemieux;

static coll_kumar_terms terms(coll_kumar_algorithm algorithm, uint32_t P)
{
    return coll_kumar_terms_of(algorithm, P, 8, 8);
}

static double us(coll_kumar_algorithm algorithm, uint32_t P, double bytes)
{
    const coll_kumar_terms t = terms(algorithm, P);
    return coll_kumar_us(lemieux, &t, bytes);
}

TEST(terms_of_the_algorithms)
{
    for (uint32_t P = 2; P < 300; P++) {
        CHECK_SAME(terms(COLL_KUMAR_RING, P).messages, P - 1.);
        CHECK_SAME(terms(COLL_KUMAR_RING, P).copies,
                   P - 1.); /* its own, and all but the last */
        CHECK_SAME(terms(COLL_KUMAR_PREFIX, P).copies, 1);
        CHECK_SAME(terms(COLL_KUMAR_KPREFIX, P).copies, (P + 7) / 8);
        CHECK_SAME(terms(COLL_KUMAR_KPREFIX_LB, P).barriers, (P - 1) / 8);
        /* in partitions of all nodes, only one's own message */
        CHECK_SAME(coll_kumar_terms_of(COLL_KUMAR_KPREFIX, P, P, 1).copies, 1);
        /* ring is k-prefix in partitions of one, but the last message is not forwarded */
        CHECK_SAME(coll_kumar_terms_of(COLL_KUMAR_KPREFIX, P, 1, 1).copies - 1,
                   terms(COLL_KUMAR_RING, P).copies);
    }
}

/* Slide 3, with β of the network and of both copies. */
TEST(direct)
{
    CHECK_SAME(us(COLL_KUMAR_DIRECT, 64, 1e6), 63 * (9 + 1e6 * 3 / 294));
}

/* With the values of slide 27 long messages approach 294 MB/s by prefix, 8/9 of it by k-prefix, a
 * half in a ring and a third from main memory; on slide 19 the NIC's memory is 2.5 times faster. */
TEST(long_messages)
{
    const coll_kumar_terms prefix = terms(COLL_KUMAR_PREFIX, 1024),
                           kprefix = terms(COLL_KUMAR_KPREFIX, 1024),
                           ring = terms(COLL_KUMAR_RING, 1024),
                           direct = terms(COLL_KUMAR_DIRECT, 1024);
    CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &prefix, 1e9), 294, .01);
    CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &kprefix, 1e9), 294 * 8 / 9., .01);
    CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &ring, 1e9), 147, .01);
    CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &direct, 1e9), 98, .01);
    CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &kprefix, 1e9), 2.5 * 98, .1);
    /* Unfitted, that is already near the table's k-prefix: 265, 259, 261, 256. */
    for (int i = 7; i < CELLS; i++) {
        const coll_kumar_terms t = terms(COLL_KUMAR_KPREFIX, slide_23[i].P);
        CHECK_NEAR(coll_kumar_MB_per_s(lemieux, &t, 1 << 20), slide_23[i].MB_per_s, .03);
    }
}

/* Slide 23 within 15 % a cell, from one β_em, δ and α_b for all; α is the one of slide 27. The
 * length of the messages is not told: any will do, and α_b is the 15 us of slide 27 at 20 KB. */
TEST(slide_23_after_one_fit)
{
    for (double bytes = 10e3; bytes <= 1e6; bytes *= 1.1) {
        coll_kumar_costs fitted = *lemieux;
        coll_kumar_cell cells[CELLS];
        double worst;
        for (int i = 0; i < CELLS; i++) {
            cells[i].terms = terms(slide_23[i].algorithm, slide_23[i].P);
            cells[i].MB_per_s = slide_23[i].MB_per_s;
        }
        worst = coll_kumar_fit(&fitted, cells, CELLS, bytes);
        CHECK(worst > 0 && worst < .15);
        for (int i = 0; i < CELLS; i++)
            CHECK_NEAR(coll_kumar_MB_per_s(&fitted, &cells[i].terms, bytes),
                       slide_23[i].MB_per_s,
                       slide_23[i].algorithm == COLL_KUMAR_KPREFIX ? .025 : .15);
        CHECK_SAME(fitted.alpha_us, 9);
        if (bytes > 19e3 && bytes < 21e3) {
            CHECK_NEAR(fitted.alpha_b_us, 15, .1);
            CHECK_NEAR(1000 / fitted.delta_ns_per_byte, 294, .16);
            CHECK_NEAR(1000 / fitted.beta_em_ns_per_byte, 294, .16);
        }
    }
}

/* The fit gives back the costs from which cells were made; and it says when cells are too few. */
TEST(fit_of_a_known_machine)
{
    coll_kumar_costs fitted = *lemieux;
    coll_kumar_cell cells[CELLS];
    for (int i = 0; i < CELLS; i++) {
        cells[i].terms = terms(slide_23[i].algorithm, slide_23[i].P);
        cells[i].MB_per_s = coll_kumar_MB_per_s(lemieux, &cells[i].terms, 40000);
    }
    fitted.alpha_b_us = fitted.beta_em_ns_per_byte = fitted.delta_ns_per_byte = 0;
    CHECK(fabs(coll_kumar_fit(&fitted, cells, CELLS, 40000)) < 1e-9);
    CHECK_NEAR(fitted.alpha_b_us, 15, 1e-6);
    CHECK_NEAR(fitted.beta_em_ns_per_byte, 1000 / 294., 1e-6);
    CHECK_NEAR(fitted.delta_ns_per_byte, 1000 / 294., 1e-6);
    CHECK(coll_kumar_fit(&fitted, cells, 4, 40000) < 0); /* direct alone */
    CHECK(coll_kumar_fit(&fitted, cells, COLL_KUMAR_CELLS + 1, 40000) < 0);
}

int main(void)
{
    RUN(terms_of_the_algorithms);
    RUN(direct);
    RUN(long_messages);
    RUN(slide_23_after_one_fit);
    RUN(fit_of_a_known_machine);
    return check_done();
}
