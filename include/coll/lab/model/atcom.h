/* coll/lab/model/atcom.h — broadcast on clusters of SMP nodes that overlaps messages with copies in
 * shared memory, and which of its sizes to try
 *
 * A message of M bytes goes from coordinator to coordinator in k = M/m_i segments. While a segment
 * is under way, m_s ≤ m_i bytes of the one before go through the node's shared memory, smcc(m_s);
 * what is left of all, m_r = M − m_s k, goes at the end. How well that works tells one of three
 * equations; which one holds is found by measuring. p nodes, ℒ the time between nodes alone.
 *
 * Tuning: a matrix with a column a segment size and a row an overlap, in powers of two. Instead of
 * measuring all, three filters leave a few entries to measure, and some more to compute.
 *
 *   coll_atcom_tuning t = {8 << 20, 16 << 10, 1 << 10, inter, within, mixed, terms, ctx};
 *   coll_atcom_result r;
 *   coll_atcom_tune(&t, &r);        // r.segment, r.overlap, r.spent_us
 *
 * Source: Wu 2005, Performance tuning of collective communications on SMP clusters, sections 4.5,
 * 4.6.
 */
#ifndef COLL_LAB_MODEL_ATCOM_H
#define COLL_LAB_MODEL_ATCOM_H

#include "plogp.h"

/* ---- the performance model (section 4.5) ------------------------------------------------- */

/* What the equations are made of. */
typedef struct coll_atcom_terms {
    double inter_us;                      /* ℒ */
    double os_us, g_us;                   /* of a segment */
    double smcc_overlap_us, smcc_rest_us; /* smcc(m_s), smcc(m_r) */
    double penalty_us;                    /* ovp(m_s), at most smcc(m_s) */
    double segments;                      /* k */
    uint32_t p;
} coll_atcom_terms;

/* Equation 4.3, overlapping: ℒ + (os(m_i) + smcc(m_s) − g(m_i))(k − 1) + smcc(m_s) + smcc(m_r). */
COLL_INLINE double coll_atcom_overlapping_us(const coll_atcom_terms *t)
{
    return t->inter_us + (t->os_us + t->smcc_overlap_us - t->g_us) * (t->segments - 1) +
           t->smcc_overlap_us + t->smcc_rest_us;
}

/* Equation 4.4, complete overlapping: ℒ + smcc(m_s) + smcc(m_r). */
COLL_INLINE double coll_atcom_complete_us(const coll_atcom_terms *t)
{
    return t->inter_us + t->smcc_overlap_us + t->smcc_rest_us;
}

/* Equation 4.5, penalty: ℒ + ovp(m_s)(2 k − 1 + p − 2) + smcc(m_s) + smcc(m_r); equation 4.6 with
 * ovp(m_s) = smcc(m_s). */
COLL_INLINE double coll_atcom_penalty_us(const coll_atcom_terms *t)
{
    return t->inter_us + t->penalty_us * (2 * t->segments - 1 + t->p - 2) + t->smcc_overlap_us +
           t->smcc_rest_us;
}

/* Equations 4.1 and 4.2, one segment to one node: L + g(m_i) + ovp(m_s) + smcc(m_s) + smcc(m_r),
 * without the penalty in 4.1. */
COLL_INLINE double coll_atcom_segment_us(const coll_plogp_costs *m, double segment,
                                         double overlap, double penalty_us)
{
    const double rest = segment - overlap;
    return coll_plogp_message_us(m, segment) + penalty_us +
           (overlap > 0 ? coll_plogp_us(m, COLL_PLOGP_SMCC, overlap) : 0) +
           (rest > 0 ? coll_plogp_us(m, COLL_PLOGP_SMCC, rest) : 0);
}

/* The terms of a chain of p nodes. */
COLL_INLINE coll_atcom_terms coll_atcom_chain(const coll_plogp_costs *m, uint32_t p,
                                              double bytes, double segment, double overlap)
{
    coll_atcom_terms t;
    double rest;
    t.segments = ceil(bytes / segment);
    rest = bytes - overlap * t.segments;
    t.inter_us = coll_plogp_chain_us(m, p, bytes, segment);
    t.os_us = coll_plogp_us(m, COLL_PLOGP_OS, segment);
    t.g_us = coll_plogp_us(m, COLL_PLOGP_G, segment);
    t.smcc_overlap_us = overlap > 0 ? coll_plogp_us(m, COLL_PLOGP_SMCC, overlap) : 0;
    t.smcc_rest_us = rest > 0 ? coll_plogp_us(m, COLL_PLOGP_SMCC, rest) : 0;
    t.penalty_us = t.smcc_overlap_us;
    t.p = p;
    return t;
}

/* What of a broadcast overlaps, as its equations have it. */
typedef enum coll_atcom_mode {
    COLL_ATCOM_OVERLAPPING, /* equation 4.3 */
    COLL_ATCOM_COMPLETE,    /* 4.4 */
    COLL_ATCOM_PENALTY,     /* 4.6 */
    COLL_ATCOM_MODES
} coll_atcom_mode;

/* Microseconds by the equation of a mode. */
COLL_INLINE double coll_atcom_us(const coll_atcom_terms *t, coll_atcom_mode mode)
{
    return mode == COLL_ATCOM_OVERLAPPING ? coll_atcom_overlapping_us(t)
           : mode == COLL_ATCOM_COMPLETE  ? coll_atcom_complete_us(t)
                                          : coll_atcom_penalty_us(t);
}

/* The equation whose time is nearest to a measured one; the first of several. */
COLL_INLINE coll_atcom_mode coll_atcom_mode_of(const coll_atcom_terms *t, double measured_us)
{
    coll_atcom_mode best = COLL_ATCOM_OVERLAPPING;
    double least = HUGE_VAL;
    for (unsigned i = 0; i < COLL_ATCOM_MODES; i++) {
        const double away = fabs(coll_atcom_us(t, (coll_atcom_mode)i) - measured_us);
        if (away < least) {
            least = away;
            best = (coll_atcom_mode)i;
        }
    }
    return best;
}

/* ---- tuning (section 4.6) ---------------------------------------------------------------- */

enum { COLL_ATCOM_SIZES = 32 }; /* rows, and columns, at most */

/* What is to be tuned; sizes are powers of two, overlap_least ≤ segment_least ≤ bytes. The
 * functions measure, but for `terms`, which computes. */
typedef struct coll_atcom_tuning {
    uint64_t bytes;                        /* of the message: segments are no longer */
    uint64_t segment_least, overlap_least; /* bytes of column 0 and of row 0 */
    double (*inter_us)(void *ctx, uint64_t segment); /* between nodes alone */
    double (*within_us)(void *ctx, uint64_t bytes);  /* in shared memory alone */
    double (*mixed_us)(void *ctx, uint64_t segment, uint64_t overlap); /* both, overlapped */
    /* What the equations need. */
    coll_atcom_terms (*terms)(void *ctx, uint64_t segment, uint64_t overlap);
    void *ctx;
} coll_atcom_tuning;

/* What became of an entry of the table. */
typedef enum coll_atcom_mark {
    COLL_ATCOM_NONE,     /* no such entry, or dropped by filter 1 */
    COLL_ATCOM_FEW,      /* left by filter 1, dropped by filter 2 */
    COLL_ATCOM_POSSIBLE, /* left by filter 2, not reached by filter 3 */
    COLL_ATCOM_COMPUTED,
    COLL_ATCOM_MEASURED
} coll_atcom_mark;

/* What tuning chose, and what it took. */
typedef struct coll_atcom_result {
    uint32_t columns, rows; /* segment sizes, and overlap sizes with none */
    unsigned char mark[COLL_ATCOM_SIZES][COLL_ATCOM_SIZES]; /* [row][column] */
    uint64_t segment, overlap; /* the choice; overlap 0: not to overlap */
    double us;                 /* measured or computed */
    double spent_us;           /* by all measurements, each made once */
    uint32_t measured;         /* entries that were measured */
} coll_atcom_result;

/* Bytes of a segment of a column. */
COLL_INLINE uint64_t coll_atcom_segment(const coll_atcom_tuning *t, uint32_t column)
{
    return t->segment_least << column;
}

/* Bytes of overlap of a row. */
COLL_INLINE uint64_t coll_atcom_overlap(const coll_atcom_tuning *t, uint32_t row)
{
    return t->overlap_least << row;
}

COLL_INLINE void coll_i_atcom_better(coll_atcom_result *r, uint64_t segment, uint64_t overlap,
                                     double us)
{
    if (us < r->us) {
        r->us = us;
        r->segment = segment;
        r->overlap = overlap;
    }
}

/* Finds segment and overlap by the three filters. Filter 1 keeps the three largest overlaps of each
 * column. Filter 2 drops columns whose ℒ alone is longer than the best time without overlapping,
 * min ℒ + smcc(M). Filter 3 goes through the columns from the shortest segment on, measures the
 * largest overlap, takes the equation that is nearest to it for the other two, and ends with the
 * first column where that is the one with the penalty. (Ours: an equation that is too low at the
 * first entry is scaled up for the other two, or else it would be preferred to measurements.) */
COLL_INLINE void coll_atcom_tune(const coll_atcom_tuning *t, coll_atcom_result *r)
{
    bool done = false;
    double inter[COLL_ATCOM_SIZES];
    const double within = t->within_us(t->ctx, t->bytes);
    memset(r, 0, sizeof *r);
    r->us = HUGE_VAL;
    r->spent_us = within;
    while (r->columns < COLL_ATCOM_SIZES && coll_atcom_segment(t, r->columns) <= t->bytes) {
        const uint64_t segment = coll_atcom_segment(t, r->columns);
        inter[r->columns] = t->inter_us(t->ctx, segment);
        r->spent_us += inter[r->columns++];
        coll_i_atcom_better(r, segment, 0, inter[r->columns - 1] + within);
    }
    {
        const double plain = r->us;
        for (uint32_t c = 0; c < r->columns; c++) {
            const uint64_t segment = coll_atcom_segment(t, c);
            coll_atcom_mode mode = COLL_ATCOM_OVERLAPPING;
            double off = 1;
            uint32_t bottom = 0;
            while (bottom + 1 < COLL_ATCOM_SIZES &&
                   coll_atcom_overlap(t, bottom + 1) <= segment)
                bottom++;
            r->rows = bottom + 1;
            for (uint32_t i = 0; i < 3 && i <= bottom; i++) {
                const uint64_t overlap = coll_atcom_overlap(t, bottom - i);
                unsigned char *mark = &r->mark[bottom - i][c];
                const coll_atcom_terms terms = t->terms(t->ctx, segment, overlap);
                double us;
                *mark = inter[c] > plain ? COLL_ATCOM_FEW : COLL_ATCOM_POSSIBLE;
                if (inter[c] > plain || done)
                    continue;
                *mark = i == 0 ? COLL_ATCOM_MEASURED : COLL_ATCOM_COMPUTED;
                if (i == 0) {
                    us = t->mixed_us(t->ctx, segment, overlap);
                    mode = coll_atcom_mode_of(&terms, us);
                    off = us / coll_atcom_us(&terms, mode);
                    off = off > 1 ? off : 1;
                    r->spent_us += us;
                    r->measured++;
                } else {
                    us = off * coll_atcom_us(&terms, mode);
                }
                coll_i_atcom_better(r, segment, overlap, us);
            }
            done = done || mode == COLL_ATCOM_PENALTY;
        }
    }
}

/* Measures every entry: what tuning costs without filters. The best time without overlapping is
 * taken for granted. */
COLL_INLINE void coll_atcom_tune_exhaustively(const coll_atcom_tuning *t, coll_atcom_result *r)
{
    memset(r, 0, sizeof *r);
    r->us = HUGE_VAL;
    for (; r->columns < COLL_ATCOM_SIZES && coll_atcom_segment(t, r->columns) <= t->bytes;
         r->columns++) {
        const uint64_t segment = coll_atcom_segment(t, r->columns);
        for (uint32_t row = 0; row < COLL_ATCOM_SIZES && coll_atcom_overlap(t, row) <= segment;
             row++) {
            const double us = t->mixed_us(t->ctx, segment, coll_atcom_overlap(t, row));
            r->rows = row + 1;
            r->mark[row][r->columns] = COLL_ATCOM_MEASURED;
            r->spent_us += us;
            r->measured++;
            coll_i_atcom_better(r, segment, coll_atcom_overlap(t, row), us);
        }
        coll_i_atcom_better(r, segment, 0,
                            t->inter_us(t->ctx, segment) + t->within_us(t->ctx, t->bytes));
    }
}

#endif /* COLL_LAB_MODEL_ATCOM_H */
