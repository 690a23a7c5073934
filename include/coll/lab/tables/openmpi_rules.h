/* coll/lab/tables/openmpi_rules.h — rules for the component `tuned` of Open MPI, in both formats
 *
 *   coll_write_openmpi_rules(&job);      // the text of all releases: coll select --as openmpi_rules
 *   coll_write_openmpi_json(&job);       // version 3, of Open MPI 6
 *
 *   mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE …
 *
 * The text has, for each collective, sets of rows by the least number of ranks; a row has the least
 * number of bytes, the number of the algorithm, a fan-out and the bytes of a segment. Algorithm 0
 * is Open MPI's own choice. `tuned` counts the bytes of all blocks of allgather, alltoall, gather,
 * scatter and reduce_scatter(_block), and of one (on average) of allgatherv; it does not count
 * those of barrier and alltoallv, and in scan and exscan (4.1.4) an element times the ranks: what
 * the rules choose for 0 bytes is written for all.
 *
 * Open MPI chooses by itself what keeps operands in order for operators that do not commute; by a
 * table it takes what is written, and its trees, rings and recursive_halving then give wrong
 * results (4.1.4). With `in_order` in the job those are not written.
 *
 * Open MPI 4.1.4 numbers and names algorithms so; the numbers of later releases are the same.
 */
#ifndef COLL_LAB_TABLES_OPENMPI_RULES_H
#define COLL_LAB_TABLES_OPENMPI_RULES_H

#include "choices.h"

/* Ours and theirs, as NUMBER:NAME. */
COLL_INLINE coll_i_table_pairs coll_i_openmpi_pairs(void)
{
    enum { COLL_I_TABLE_MASKS };
    static const coll_i_table_pair pair[] = {
        {BARRIER, "linear", 0, "1:linear", 0, NULL},
        {BARRIER, "double_ring", 0, "2:double_ring", 0, NULL},
        {BARRIER, "fnomial", 2, "6:tree", 0, NULL},
        {BARRIER, "fnomial", 0, "6:tree", COLL_I_TABLE_NEAR, NULL},
        {BARRIER, "kary", 0, "6:tree", COLL_I_TABLE_NEAR, NULL},
        {BARRIER, "recursive_multiplying", 2, "3:recursive_doubling", 0, NULL},
        {BARRIER, "recursive_multiplying", 0, "3:recursive_doubling", COLL_I_TABLE_NEAR, NULL},
        {BARRIER, "dissemination", 2, "4:bruck", 0, NULL},
        {BARRIER, "dissemination", 0, "4:bruck", COLL_I_TABLE_NEAR, NULL},

        {BCAST, "linear", 0, "1:basic_linear", 0, NULL},
        {BCAST, "chain", 1, "3:pipeline", COLL_I_TABLE_SEGMENT, NULL},
        {BCAST, "chain", 0, "2:chain", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_RADIX, NULL},
        {BCAST, "split_binary", 0, "4:split_binary_tree", COLL_I_TABLE_SEGMENT, NULL},
        {BCAST, "kary", 2, "5:binary_tree", COLL_I_TABLE_SEGMENT, NULL},
        {BCAST, "kary", 0, "5:binary_tree", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR, NULL},
        {BCAST, "fnomial", 2, "6:binomial", COLL_I_TABLE_SEGMENT, NULL},
        {BCAST, "fnomial", 4, "7:knomial", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_RADIX, NULL},
        {BCAST, "fnomial", 0, "7:knomial",
         COLL_I_TABLE_SEGMENT | COLL_I_TABLE_RADIX | COLL_I_TABLE_NEAR, NULL},
        {BCAST, "bine", 0, "6:binomial", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR, NULL},
        {BCAST, "scatter_allgather", 2, "8:scatter_allgather", 0, NULL},
        {BCAST, "scatter_allgather", 0, "8:scatter_allgather", COLL_I_TABLE_NEAR, NULL},
        {BCAST, "scatter_ring", 0, "9:scatter_allgather_ring", 0, NULL},

        {REDUCE, "linear", 0, "1:linear", 0, NULL},
        {REDUCE, "chain", 1, "3:pipeline", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "chain", 0, "2:chain",
         COLL_I_TABLE_SEGMENT | COLL_I_TABLE_RADIX | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "kary", 2, "4:binary", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "kary", 0, "4:binary",
         COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "fnomial", 2, "5:binomial", COLL_I_TABLE_SEGMENT | COLL_I_TABLE_COMMUTES,
         NULL},
        {REDUCE, "fnomial", 0, "5:binomial",
         COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "bine", 0, "5:binomial",
         COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES, NULL},
        {REDUCE, "rabenseifner", 2, "7:rabenseifner", 0, NULL},
        {REDUCE, "rabenseifner", 0, "7:rabenseifner", COLL_I_TABLE_NEAR, NULL},

        {ALLREDUCE, "linear", 0, "1:basic_linear", 0, NULL},
        {ALLREDUCE, "recursive_doubling", 0, "3:recursive_doubling", 0, NULL},
        {ALLREDUCE, "recursive_multiplying", 2, "3:recursive_doubling", 0, NULL},
        {ALLREDUCE, "recursive_multiplying", 0, "3:recursive_doubling", COLL_I_TABLE_NEAR,
         NULL},
        {ALLREDUCE, "swing_latency", 0, "3:recursive_doubling", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "ring", 0, "4:ring", COLL_I_TABLE_COMMUTES, NULL},
        {ALLREDUCE, "rabenseifner", 2, "6:rabenseifner", 0, NULL},
        {ALLREDUCE, "rabenseifner", 0, "6:rabenseifner", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "circulant", 0, "6:rabenseifner", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "swing", 0, "6:rabenseifner", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "bine", 0, "6:rabenseifner", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "fnomial", 0, "2:nonoverlapping", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "kary", 0, "2:nonoverlapping", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "chain", 0, "2:nonoverlapping", COLL_I_TABLE_NEAR, NULL},

        {GATHER | SCATTER, "linear", 0, "1:basic_linear", 0, NULL},
        {GATHER | SCATTER, "fnomial", 2, "2:binomial", 0, NULL},
        {GATHER | SCATTER, "fnomial", 0, "2:binomial", COLL_I_TABLE_NEAR, NULL},
        {GATHER | SCATTER, "bine", 0, "2:binomial", COLL_I_TABLE_NEAR, NULL},

        {ALLGATHER, "bruck", 2, "2:bruck", 0, NULL},
        {ALLGATHER, "bruck", 0, "2:bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHER, "circulant", 0, "2:bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHER, "recursive_doubling", 0, "3:recursive_doubling", 0, NULL},
        {ALLGATHER, "recursive_multiplying", 2, "3:recursive_doubling", 0, NULL},
        {ALLGATHER, "recursive_multiplying", 0, "3:recursive_doubling", COLL_I_TABLE_NEAR,
         NULL},
        {ALLGATHER, "ring", 0, "4:ring", 0, NULL},
        {ALLGATHER, "neighbor_exchange", 0, "5:neighbor", 0, NULL},
        {ALLGATHERV, "bruck", 2, "2:bruck", 0, NULL},
        {ALLGATHERV, "bruck", 0, "2:bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHERV, "circulant", 0, "2:bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHERV, "ring", 0, "3:ring", 0, NULL},
        {ALLGATHERV, "neighbor_exchange", 0, "4:neighbor", 0, NULL},

        {ALLTOALL, "pairwise", 0, "2:pairwise", 0, NULL},
        {ALLTOALL, "bruck", 2, "3:modified_bruck", 0, NULL},
        {ALLTOALL, "bruck", 0, "3:modified_bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLTOALL, "throttled", 0, "4:linear_sync", COLL_I_TABLE_RADIX, NULL},
        {ALLTOALLV, "pairwise", 0, "2:pairwise", 0, NULL},
        {ALLTOALLV, "throttled", 0, "1:basic_linear", COLL_I_TABLE_NEAR, NULL},

        {SCATTERED, "linear", 0, "1:non-overlapping", 0, NULL},
        {SCATTERED, "recursive_halving", 2, "2:recursive_halving", COLL_I_TABLE_COMMUTES, NULL},
        {SCATTERED, "recursive_halving", 0, "2:recursive_halving",
         COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES, NULL},
        {SCATTERED, "ring", 0, "3:ring", COLL_I_TABLE_COMMUTES, NULL},
        {SCATTERED, "butterfly", 2, "4:butterfly", 0, NULL},
        {SCATTERED, "butterfly", 0, "4:butterfly", COLL_I_TABLE_NEAR, NULL},
        {BLOCKS, "linear", 0, "1:basic_linear", 0, NULL},
        {BLOCKS, "recursive_halving", 2, "3:recursive_halving", 0, NULL},
        {BLOCKS, "recursive_halving", 0, "3:recursive_halving", COLL_I_TABLE_NEAR, NULL},
        {BLOCKS, "butterfly", 2, "4:butterfly", 0, NULL},
        {BLOCKS, "butterfly", 0, "4:butterfly", COLL_I_TABLE_NEAR, NULL},

        {SCANS, "linear", 0, "1:linear", 0, NULL},
        {SCANS, "recursive_doubling", 0, "2:recursive_doubling", 0, NULL},
        {SCANS, "recursive_multiplying", 0, "2:recursive_doubling", COLL_I_TABLE_NEAR, NULL},
    };
    coll_i_table_pairs pairs;
    pairs.pair = pair;
    pairs.n = sizeof pair / sizeof pair[0];
    return pairs;
}

/* The collectives that `tuned` has rules for, by its own numbers. */
COLL_INLINE bool coll_i_openmpi_number(coll_collective c, int *number)
{
    static const coll_collective of[] = {COLL_ALLGATHER,      COLL_ALLGATHERV,
                                         COLL_ALLREDUCE,      COLL_ALLTOALL,
                                         COLL_ALLTOALLV,      COLL_ALLTOALLW,
                                         COLL_BARRIER,        COLL_BCAST,
                                         COLL_EXSCAN,         COLL_GATHER,
                                         COLL_GATHERV,        COLL_REDUCE,
                                         COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK,
                                         COLL_SCAN,           COLL_SCATTER};
    *number = 0;
    if (c == COLL_ALLTOALLW || c == COLL_GATHERV)
        return false;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (of[i] == c) {
            *number = (int)i;
            return true;
        }
    return false;
}

/* Does it count the bytes of all blocks? */
COLL_INLINE bool coll_i_openmpi_total(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_GATHER) |
                       COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                   c);
}

/* The next span; those without sizes have the cell of 0 bytes alone. */
COLL_INLINE bool coll_i_openmpi_span(coll_table_job *job, coll_collective c, uint32_t p,
                                     coll_i_table_span *span)
{
    const coll_i_table_pairs pairs = coll_i_openmpi_pairs();
    if (!coll_i_table_span_at(job, &pairs, c, !job->in_order, coll_i_openmpi_total(c), p, span))
        return false;
    if ((c == COLL_SCAN || c == COLL_EXSCAN) && span->n > 1) {
        coll_i_table_note(
            job, coll_collective_name(c), job,
            "%s: Open MPI does not choose by its bytes, so what the rules choose for the "
            "shortest is written for all",
            coll_collective_name(c));
        span->n = 1;
    }
    for (size_t i = 0; i < span->n; i++) {
        const coll_i_table_pair *pair = span->cell[i].pair;
        if (pair && (pair->traits & COLL_I_TABLE_COMMUTES))
            coll_i_table_note(
                job, pairs.pair, NULL,
                "Open MPI does not see whether operators commute when a table "
                "chooses, and some of these algorithms reorder operands: programs "
                "with operators of their own that do not need a table with "
                "--non-commutative");
        if (pair && strcmp(pair->theirs, "7:knomial") == 0 && span->cell[i].radix != 4)
            coll_i_table_note(
                job, pair, NULL,
                "bcast fnomial:f=%lu: the radix of Open MPI's knomial is 4 unless it runs "
                "with --mca coll_tuned_bcast_knomial_radix %lu",
                (unsigned long)span->cell[i].radix, (unsigned long)span->cell[i].radix);
        if (pair && strcmp(pair->theirs, "4:linear_sync") == 0)
            coll_i_table_note(
                job, pair, NULL,
                "alltoall throttled:batch=%lu: the text has no such number; run with --mca "
                "coll_tuned_alltoall_algorithm_max_requests %lu",
                (unsigned long)span->cell[i].radix, (unsigned long)span->cell[i].radix);
    }
    return true;
}

COLL_INLINE uint32_t coll_i_table_span_after(const coll_i_table_span *span)
{
    return span->p_end == COLL_ANY_P ? 0 : span->p_end + 1;
}

/* How many collectives, and which: bit c. */
COLL_INLINE uint32_t coll_i_openmpi_collectives(const coll_table_job *job, unsigned *n)
{
    uint32_t mask = 0;
    int number;
    *n = 0;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (coll_i_openmpi_number((coll_collective)c, &number) &&
            coll_i_table_has_rules(job, (coll_collective)c)) {
            mask |= COLL_BIT(c);
            ++*n;
        }
    return mask;
}

COLL_INLINE void coll_i_openmpi_begin(coll_table_job *job)
{
    job->peer = "Open MPI";
    job->sentence[0] = '\0';
    job->n_noted = 0;
    coll_i_table_note_passed(job, UINT32_MAX & ~COLL_NEIGHBORLY);
}

COLL_INLINE bool coll_i_openmpi_collective(coll_table_job *job, coll_collective c)
{
    const bool total = coll_i_openmpi_total(c);
    unsigned spans = 0;
    int number = 0;
    coll_i_table_span span;
    for (uint32_t p = 2; p != 0; p = coll_i_table_span_after(&span), spans++)
        if (!coll_i_openmpi_span(job, c, p, &span))
            return false;
    (void)coll_i_openmpi_number(c, &number);
    coll_i_write(&job->to, "%d # %s\n%u # sets of ranks\n", number, coll_collective_name(c),
                 spans);
    for (uint32_t p = 2; p != 0; p = coll_i_table_span_after(&span)) {
        if (!coll_i_openmpi_span(job, c, p, &span))
            return false;
        coll_i_write(&job->to, "%lu # ranks at least\n%lu # sizes\n", (unsigned long)p,
                     (unsigned long)span.n);
        for (size_t i = 0; i < span.n; i++) {
            const coll_i_table_cell *cell = &span.cell[i];
            const char *name = cell->pair ? cell->pair->theirs : "0:its own choice";
            const unsigned fan = cell->pair && strcmp(name, "2:chain") == 0 ? cell->radix : 0;
            coll_i_write(
                &job->to, "%lu %.*s %u %lu # %s\n",
                (unsigned long)(total ? coll_i_table_times(cell->from, p) : cell->from),
                (int)strcspn(name, ":"), name, fan, (unsigned long)cell->segment,
                strchr(name, ':') + 1);
        }
    }
    return true;
}

/* Writes the text. The result's sentence is job->sentence. */
COLL_INLINE coll_export_result coll_write_openmpi_rules(coll_table_job *job)
{
    unsigned n;
    uint32_t mask;
    coll_i_openmpi_begin(job);
    mask = coll_i_openmpi_collectives(job, &n);
    coll_i_write(&job->to, "%u # collectives; rows: bytes, algorithm, fan-out, segment\n", n);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (coll_is(mask, (coll_collective)c) &&
            !coll_i_openmpi_collective(job, (coll_collective)c))
            break;
    return coll_i_table_end(job);
}

COLL_INLINE void coll_i_openmpi_row(coll_table_job *job, const coll_i_table_span *span,
                                    size_t i, bool total, const char **between)
{
    const coll_i_table_cell *cell = &span->cell[i];
    const size_t p = total ? span->p : 1;
    if (!cell->pair)
        return;
    coll_i_write(&job->to, "%s\n          {\"msg_size_min\": %lu", *between,
                 (unsigned long)coll_i_table_times(cell->from, p));
    if (i + 1 < span->n)
        coll_i_write(&job->to, ", \"msg_size_max\": %lu",
                     (unsigned long)coll_i_table_times(cell[1].from, p) - 1);
    else
        coll_i_write_text(&job->to, ", \"msg_size_max\": \"inf\"");
    coll_i_write(&job->to, ", \"alg\": \"%s\"", strchr(cell->pair->theirs, ':') + 1);
    if (strcmp(cell->pair->theirs, "2:chain") == 0)
        coll_i_write(&job->to, ", \"faninout\": %lu", (unsigned long)cell->radix);
    if (strcmp(cell->pair->theirs, "4:linear_sync") == 0)
        coll_i_write(&job->to, ", \"reqs\": %lu", (unsigned long)cell->radix);
    if (cell->segment > 0)
        coll_i_write(&job->to, ", \"seg_size\": %lu", (unsigned long)cell->segment);
    coll_i_write_text(&job->to, "}");
    *between = ",";
}

/* Writes the JSON. The result's sentence is job->sentence. */
COLL_INLINE coll_export_result coll_write_openmpi_json(coll_table_job *job)
{
    const char *next = "";
    unsigned n;
    uint32_t mask;
    coll_i_table_span span;
    coll_i_openmpi_begin(job);
    mask = coll_i_openmpi_collectives(job, &n);
    coll_i_write_text(&job->to, "{\n  \"rule_file_version\": 3,\n  \"module\": \"tuned\",\n"
                                "  \"collectives\": {");
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        const char *set = "";
        if (!coll_is(mask, (coll_collective)c))
            continue;
        coll_i_write(&job->to, "%s\n    \"%s\": [", next,
                     coll_collective_name((coll_collective)c));
        for (uint32_t p = 2; p != 0; p = coll_i_table_span_after(&span)) {
            const char *between = "";
            if (!coll_i_openmpi_span(job, (coll_collective)c, p, &span))
                return coll_i_table_end(job);
            coll_i_write(&job->to, "%s\n      {\"comm_size_min\": %lu", set, (unsigned long)p);
            if (span.p_end != COLL_ANY_P)
                coll_i_write(&job->to, ", \"comm_size_max\": %lu", (unsigned long)span.p_end);
            coll_i_write_text(&job->to, ", \"rules\": [");
            for (size_t i = 0; i < span.n; i++)
                coll_i_openmpi_row(job, &span, i, coll_i_openmpi_total((coll_collective)c),
                                   &between);
            coll_i_write_text(&job->to, "]}");
            set = ",";
        }
        coll_i_write_text(&job->to, "]");
        next = ",";
    }
    coll_i_write_text(&job->to, "\n  }\n}\n");
    return coll_i_table_end(job);
}

#endif /* COLL_LAB_TABLES_OPENMPI_RULES_H */
