/* tests/lab/model/quadrics.c — Kumar 2004 in the simulator: its table, its drops, its missing
 * nodes */
#include "../../../bench/reproduce/quadrics.h"

#include "../../../bench/reproduce/slide_23.h"
#include "support/near.h"

/* Slide 23, within 5 % a cell, with the bus as printed; but MPI's bandwidth does not fall with
 * the nodes. */
TEST(table)
{
    for (int i = 0; i < CELLS; i++) {
        const bool falls = slide_23[i].algorithm == COLL_KUMAR_DIRECT && slide_23[i].P > 64;
        CHECK_NEAR(quadrics_MB_per_s(row_of(slide_23[i].algorithm),
                                     from_of(slide_23[i].algorithm), slide_23[i].P,
                                     quadrics_whole),
                   falls ? 123 : slide_23[i].MB_per_s, .05);
    }
}

/* Slides 16 and 19: messages out of the NIC's memory are 2.5 times as fast. */
TEST(slide_19)
{
    CHECK_NEAR(quadrics_exchange_MB_per_s(1, QUADRICS_NETWORK) /
                   quadrics_exchange_MB_per_s(1, QUADRICS_MAIN),
               2.5, .02);
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

/* MB/s of a row in the mean over so many blocks of P nodes with a hole. */
static double with_a_hole(const char *row, quadrics_from from, uint32_t P, uint32_t blocks)
{
    double MB_per_s = 0;
    for (uint32_t n = 0; n < blocks; n++)
        MB_per_s += quadrics_MB_per_s(row, from, P, quadrics_somewhere(P, 4, n)) / blocks;
    return MB_per_s;
}

/* Slides 28 and 29: in the mean over blocks of nodes anywhere on the machine. */
TEST(one_node_is_missing)
{
    for (uint32_t P = 128; P <= (CHECK_SHARE == 1 ? 240 : 128); P += 112) {
        const double direct = with_a_hole("linear", QUADRICS_MAIN, P, 1);
        const double prefix = with_a_hole("prefix", QUADRICS_KEPT, P, 8);
        const double kprefix = with_a_hole("kprefix", QUADRICS_KEPT, P, 8);
        const double kshift = with_a_hole("kshift", QUADRICS_KEPT, P, 8);
        CHECK(kshift > 1.02 * kprefix && kprefix > 1.1 * prefix && prefix > 1.2 * direct);
        CHECK_NEAR(kshift, 197, .15);
        if (P == 240)
            CHECK_NEAR(kprefix, 173, .15);
    }
}

/* What binds them is how far the farthest rank is from those that send to it: in k-prefix the
 * last member of a partition that the hole has pushed into another subtree, which gets
 * everything over the top, here that of 64 nodes; in k-shift a rank beside that end, which has
 * neighbours on its side. */
TEST(the_way_to_the_farthest_rank)
{
    static const quadrics_block whole = {264, 0}, hole = {264, 59};
    CHECK(quadrics_longest_way("kprefix", 128, whole) < 4);
    CHECK_NEAR(quadrics_longest_way("kprefix", 128, hole), 8, 1e-9);
    CHECK_NEAR(quadrics_longest_way("kshift", 128, whole), 6, .05);
    CHECK_NEAR(quadrics_longest_way("kshift", 128, hole), 6, .01);
}

/* In a block that begins at node 0 the hole puts the last of 128 ranks alone in the other half
 * of the tree: that binds both. */
TEST(a_node_alone_beyond_the_top)
{
    static const quadrics_block block = {0, 29};
    CHECK_NEAR(quadrics_longest_way("kprefix", 128, block), 8, 1e-9);
    CHECK_NEAR(quadrics_longest_way("kshift", 128, block), 8, 1e-9);
    CHECK_NEAR(quadrics_MB_per_s("kshift", QUADRICS_KEPT, 128, block),
               quadrics_MB_per_s("kprefix", QUADRICS_KEPT, 128, block), .01);
}

int main(void)
{
    RUN(table);
    RUN(slide_19);
    RUN(slide_15);
    RUN(one_node_is_missing);
    RUN(the_way_to_the_farthest_rank);
    RUN(a_node_alone_beyond_the_top);
    return check_done();
}
