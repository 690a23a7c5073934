/* bench/reproduce/wu_matrix.h — the matrix that Wu 2005 measured, and what its filters leave of it
 *
 * Broadcasts of 8 MB to 8 nodes of 16. (The text of table 4.1 says 2 MB; but the times are those of
 * figure 4.9 and of table 4.7, whose exhaustive search they nearly are.)
 */
#ifndef COLL_BENCH_REPRODUCE_WU_MATRIX_H
#define COLL_BENCH_REPRODUCE_WU_MATRIX_H

#include "coll/lab/model/atcom.h"

/* Table 4.1, seconds; columns: segments of 16K to 2M, rows: overlaps from 1K on. */
static const double table_4_1[12][8] = {{.19, .20, .17, .16, .16, .15, .15, .13},
                                        {.18, .19, .17, .16, .16, .15, .15, .17},
                                        {.18, .18, .17, .16, .16, .15, .15, .17},
                                        {.18, .18, .16, .15, .16, .15, .15, .17},
                                        {.16, .18, .16, .15, .16, .15, .15, .18},
                                        {0, .16, .15, .14, .15, .15, .16, .18},
                                        {0, 0, .14, .14, .15, .15, .16, .18},
                                        {0, 0, 0, .14, .16, .16, .16, .19},
                                        {0, 0, 0, 0, .16, .17, .18, .20},
                                        {0, 0, 0, 0, 0, .18, .21, .22},
                                        {0, 0, 0, 0, 0, 0, .23, .27},
                                        {0, 0, 0, 0, 0, 0, 0, .35}};

/* Tables 4.4, 4.5 and 4.6 in one, a row for an overlap from 1K on, a column for a segment from 16K
 * on. x: left by filter 1 and dropped by 2; o: left by filter 2 and not reached by 3; X: measured,
 * c: computed. */
static const char *const marks[14] = {"..........", "..........", "x.........", "xx........",
                                      "xxc.......", ".xcc......", "..Xcc.....", "...Xcc....",
                                      "....Xco...", ".....Xoo..", "......oox.", ".......oxx",
                                      "........xx", ".........x"};
static const char mark_letters[] = ".xocX"; /* of coll_atcom_mark */

static inline double inter(void *ctx, uint64_t segment)
{
    return coll_plogp_chain_us(&coll_plogp_ibm, 8, (double)*(const uint64_t *)ctx,
                               (double)segment);
}

static inline double within(void *ctx, uint64_t bytes)
{
    (void)ctx;
    return coll_plogp_us(&coll_plogp_ibm, COLL_PLOGP_SMCC, (double)bytes);
}

static inline coll_atcom_terms terms(void *ctx, uint64_t segment, uint64_t overlap)
{
    return coll_atcom_chain(&coll_plogp_ibm, 8, (double)*(const uint64_t *)ctx, (double)segment,
                            (double)overlap);
}

/* What was measured; and beyond the table, what equation 4.6 says, as in table 4.2. */
static inline double mixed(void *ctx, uint64_t segment, uint64_t overlap)
{
    const uint32_t column = coll_log_ceil(2, segment) - 14,
                   row = coll_log_ceil(2, overlap) - 10;
    const coll_atcom_terms t = terms(ctx, segment, overlap);
    return column < 8 ? table_4_1[row][column] * 1e6 : coll_atcom_penalty_us(&t);
}

static inline coll_atcom_tuning tuning(uint64_t *bytes)
{
    const coll_atcom_tuning t = {*bytes, 1 << 14, 1 << 10, inter, within, mixed, terms, bytes};
    return t;
}

#endif /* COLL_BENCH_REPRODUCE_WU_MATRIX_H */
