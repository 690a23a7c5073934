/* tests/model/quadrics.c — Kumar 2004 in the simulator: its table, its drops, its missing nodes */
#include "../bench/reproduce/quadrics.h"

#include "near.h"

/* Slide 23, within 15 % a cell. */
TEST(slide_23)
{
    static const struct {
        const char *row;
        coll_kumar_algorithm algorithm;
        uint32_t P;
        double MB_per_s;
    } cells[] = {
        {"linear", COLL_KUMAR_DIRECT, 64, 123},    {"linear", COLL_KUMAR_DIRECT, 128, 99},
        {"linear", COLL_KUMAR_DIRECT, 144, 94},    {"linear", COLL_KUMAR_DIRECT, 256, 95},
        {"prefix", COLL_KUMAR_PREFIX, 64, 260},    {"prefix", COLL_KUMAR_PREFIX, 128, 224},
        {"prefix", COLL_KUMAR_PREFIX, 256, 215},   {"kprefix", COLL_KUMAR_KPREFIX, 64, 265},
        {"kprefix", COLL_KUMAR_KPREFIX, 128, 259}, {"kprefix", COLL_KUMAR_KPREFIX, 144, 261},
        {"kprefix", COLL_KUMAR_KPREFIX, 256, 256}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        CHECK_NEAR(
            quadrics_MB_per_s(cells[i].row, cells[i].algorithm, cells[i].P, QUADRICS_NONE),
            cells[i].MB_per_s, .15);
}

/* Slide 15: the bandwidth of a permutation falls where its partners are in subtrees of another
 * level, at 4, 16 and 64, and nowhere else. */
TEST(slide_15)
{
    double before = quadrics_permutation_MB_per_s(1);
    for (uint32_t k = 2; k < 256; k += k < 20 ? 1 : 11) {
        const double now = quadrics_permutation_MB_per_s(k);
        if (k == 4 || k == 16 || (k >= 64 && k < 75))
            CHECK(now < .96 * before);
        else
            CHECK_NEAR(now, before, 1e-9);
        before = now;
    }
}

/* Slides 28 and 29. On 128 nodes k-prefix hardly meets itself, wherever the hole is: there it is as
 * fast as k-shift, which the talk does not say. */
TEST(one_node_is_missing)
{
    for (uint32_t P = 128; P <= 240; P += 112) {
        const double direct = quadrics_MB_per_s("linear", COLL_KUMAR_DIRECT, P, 29);
        const double prefix = quadrics_MB_per_s("prefix", COLL_KUMAR_PREFIX, P, 29);
        const double kprefix = quadrics_MB_per_s("kprefix", COLL_KUMAR_KPREFIX, P, 29);
        const double kshift = quadrics_MB_per_s("kshift", COLL_KUMAR_KPREFIX, P, 29);
        CHECK(kshift > (P == 128 ? .97 : 1) * kprefix && kprefix > prefix && prefix > direct);
        CHECK_NEAR(kshift, 197, .15);
        if (P == 240)
            CHECK_NEAR(kprefix, 173, .15);
    }
}

int main(void)
{
    RUN(slide_23);
    RUN(slide_15);
    RUN(one_node_is_missing);
    return check_done();
}
