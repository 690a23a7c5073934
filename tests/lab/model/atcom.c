/* tests/lab/model/atcom.c — the equations of Wu 2005 and its filters: tables 4.4 to 4.6 from the
 * measured times of table 4.1 */
#include "coll/lab/model/atcom.h"

#include "../../../bench/reproduce/wu_matrix.h"
#include "support/near.h"

/* ---- equations ---------------------------------------------------------------------------- */

TEST(equations)
{
    const coll_atcom_terms t = {1000, 3, 20, 40, 7, 5, 10, 8};
    CHECK_SAME(coll_atcom_complete_us(&t), 1047);
    CHECK_SAME(coll_atcom_overlapping_us(&t), 1047 + (3 + 40 - 20) * 9);
    CHECK_SAME(coll_atcom_penalty_us(&t),
               1047 + 5 * 10 + 5 * 9 + 5 * 6); /* (4.5), term by term */
    CHECK_EQ(coll_atcom_mode_of(&t, 1047), COLL_ATCOM_COMPLETE);
    CHECK_EQ(coll_atcom_mode_of(&t, 1170), COLL_ATCOM_PENALTY);
    CHECK_EQ(coll_atcom_mode_of(&t, 1250), COLL_ATCOM_OVERLAPPING);
}

/* One segment to the second of two nodes is the chain without neighbours. */
TEST(identities)
{
    const coll_plogp_costs *m = &coll_plogp_ibm;
    for (double bytes = 1 << 14; bytes <= 1 << 23; bytes *= 2) {
        for (double overlap = 1 << 10; overlap <= bytes; overlap *= 2) {
            const coll_atcom_terms one = coll_atcom_chain(m, 2, bytes, bytes, overlap);
            CHECK_SAME(coll_atcom_complete_us(&one),
                       coll_atcom_segment_us(m, bytes, overlap, 0));
            CHECK_SAME(coll_atcom_overlapping_us(&one),
                       coll_atcom_complete_us(&one)); /* k = 1 */
            CHECK_SAME(coll_atcom_penalty_us(&one),
                       coll_atcom_segment_us(m, bytes, overlap, one.smcc_overlap_us));
        }
        {
            const coll_atcom_terms none = coll_atcom_chain(m, 8, 1 << 23, bytes, 0);
            CHECK_SAME(coll_atcom_complete_us(&none),
                       none.inter_us + coll_plogp_us(m, COLL_PLOGP_SMCC, 1 << 23));
            CHECK_SAME(coll_atcom_penalty_us(&none), coll_atcom_complete_us(&none));
        }
    }
}

/* ---- the thesis's matrix ------------------------------------------------------------------- */

TEST(tables_4_4_to_4_6)
{
    uint64_t bytes = 8 << 20;
    const coll_atcom_tuning t = tuning(&bytes);
    coll_atcom_result r;
    coll_atcom_tune(&t, &r);
    CHECK_EQ(r.columns, 10);
    CHECK_EQ(r.rows, 14);
    for (int row = 0; row < 14; row++)
        for (int column = 0; column < 10; column++)
            if (!CHECK_EQ(mark_letters[r.mark[row][column]], marks[row][column]))
                printf("    row %d, column %d\n", row, column);
    CHECK_EQ(r.measured, 4);
    /* The choice: 64K or 128K, wholly overlapped, as figure 4.9 has it. */
    CHECK(r.segment == 1 << 16 || r.segment == 1 << 17);
}

/* The choice is as good as that of the exhaustive search but for the 5 to 10 % of figure 4.19, for
 * 5.6 to 10.8 % of its time (tables 4.7, 4.8). */
TEST(loss_and_cost)
{
    uint64_t bytes = 8 << 20;
    const coll_atcom_tuning t = tuning(&bytes);
    coll_atcom_result filtered, exhaustive;
    coll_atcom_tune(&t, &filtered);
    coll_atcom_tune_exhaustively(&t, &exhaustive);
    CHECK(mixed(&bytes, filtered.segment, filtered.overlap) <= 1.1 * exhaustive.us);
    CHECK(filtered.spent_us >= .056 * exhaustive.spent_us);
    CHECK(filtered.spent_us <= .108 * exhaustive.spent_us);
    CHECK_EQ(exhaustive.measured, 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14);
}

/* Where the model is right, whatever is left out is no loss. */
static double modelled(void *ctx, uint64_t segment, uint64_t overlap)
{
    const coll_atcom_terms t = terms(ctx, segment, overlap);
    return segment < 1 << 19 ? coll_atcom_complete_us(&t) : coll_atcom_penalty_us(&t);
}

TEST(no_loss_where_the_model_is_right)
{
    for (uint64_t bytes = 1 << 14; bytes <= 1 << 23; bytes *= 2) {
        coll_atcom_tuning t = tuning(&bytes);
        coll_atcom_result filtered, exhaustive;
        t.mixed_us = modelled;
        coll_atcom_tune(&t, &filtered);
        coll_atcom_tune_exhaustively(&t, &exhaustive);
        CHECK_NEAR(filtered.us, exhaustive.us, .01);
        CHECK(filtered.us >= exhaustive.us * (1 - 1e-12));
        CHECK(filtered.measured < exhaustive.measured);
        for (uint32_t row = 0; row < filtered.rows; row++)
            for (uint32_t column = 0; column < filtered.columns; column++)
                CHECK(filtered.mark[row][column] == COLL_ATCOM_NONE ||
                      exhaustive.mark[row][column] == COLL_ATCOM_MEASURED);
    }
}

int main(void)
{
    RUN(equations);
    RUN(identities);
    RUN(tables_4_4_to_4_6);
    RUN(loss_and_cost);
    RUN(no_loss_where_the_model_is_right);
    return check_done();
}
