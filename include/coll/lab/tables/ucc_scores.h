/* coll/lab/tables/ucc_scores.h — rules for the transport `ucp` of UCC, as settings
 *
 *   coll_write_ucc_scores(&job);
 *
 *   env $(grep ^UCC FILE) program            or the lines in a file that UCC_CONFIG_FILE names
 *
 * UCC_TL_UCP_TUNE has entries COLLECTIVE:BYTES:MEMORY:[RANKS]:SCORE:@ALGORITHM with # between
 * them; a score of inf is above all others. A range of bytes ends before its second number. UCC
 * counts the bytes of all blocks of allgather(v), alltoall, gather and reduce_scatterv, and of one
 * of reduce_scatter. Radices are settings of their own, one for all ranks and bytes: where the
 * rules have several for one, the first is written. Names are those of UCC 1.3 and later.
 */
#ifndef COLL_LAB_TABLES_UCC_SCORES_H
#define COLL_LAB_TABLES_UCC_SCORES_H

#include "choices.h"

/* Ours and theirs, and the setting of the radix. */
COLL_INLINE coll_i_table_pairs coll_i_ucc_pairs(void)
{
    enum { COLL_I_TABLE_MASKS };
    static const coll_i_table_pair pair[] = {
        {BARRIER, "recursive_multiplying", 0, "knomial", COLL_I_TABLE_RADIX,
         "BARRIER_KN_RADIX"},
        {BARRIER, "dissemination", 0, "knomial", COLL_I_TABLE_RADIX | COLL_I_TABLE_NEAR,
         "BARRIER_KN_RADIX"},
        {BCAST, "fnomial", 0, "knomial", COLL_I_TABLE_RADIX, "BCAST_KN_RADIX"},
        {BCAST, "scatter_allgather", 0, "sag_knomial", COLL_I_TABLE_RADIX,
         "BCAST_SAG_KN_RADIX"},
        {BCAST, "scatter_ring", 0, "sag_knomial", COLL_I_TABLE_NEAR, NULL},
        {BCAST | REDUCE | ALLREDUCE, "double_tree", 0, "dbt", 0, NULL},
        {REDUCE, "fnomial", 0, "knomial", COLL_I_TABLE_RADIX, "REDUCE_KN_RADIX"},
        {REDUCE, "rabenseifner", 0, "srg", COLL_I_TABLE_RADIX, "REDUCE_SRG_KN_RADIX"},
        {ALLREDUCE, "recursive_multiplying", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLREDUCE_KN_RADIX"},
        {ALLREDUCE, "recursive_doubling", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLREDUCE_KN_RADIX"},
        {ALLREDUCE, "rabenseifner", 0, "sra_knomial", COLL_I_TABLE_RADIX,
         "ALLREDUCE_SRA_KN_RADIX"},
        {ALLREDUCE, "ring", 0, "sra_knomial", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "circulant", 0, "sra_knomial", COLL_I_TABLE_NEAR, NULL},
        {GATHER, "fnomial", 0, "knomial", COLL_I_TABLE_RADIX, "GATHER_KN_RADIX"},
        {VECTORS, "linear", 0, "linear", 0, NULL},
        {ALLGATHER, "recursive_multiplying", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLGATHER_KN_RADIX"},
        {ALLGATHER, "recursive_doubling", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLGATHER_KN_RADIX"},
        {ALLGATHER, "ring", 0, "ring", 0, NULL},
        {ALLGATHER, "neighbor_exchange", 0, "neighbor", 0, NULL},
        {ALLGATHER, "bruck", 2, "bruck", 0, NULL},
        {ALLGATHER, "bruck", 0, "bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHER, "circulant", 0, "bruck", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHER, "sparbit", 0, "sparbit", 0, NULL},
        {ALLGATHER, "linear", 0, "linear", 0, NULL},
        {ALLGATHERV, "ring", 0, "ring", 0, NULL},
        {ALLGATHERV, "recursive_multiplying", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLGATHER_KN_RADIX"},
        {ALLGATHERV, "recursive_doubling", 0, "knomial", COLL_I_TABLE_RADIX,
         "ALLGATHER_KN_RADIX"},
        {ALLTOALL | ALLTOALLV, "pairwise", 0, "pairwise", 0, NULL},
        {ALLTOALL, "bruck", 2, "bruck", 0, NULL},
        {ALLTOALL, "bruck", 0, "bruck", COLL_I_TABLE_NEAR, NULL},
        {SCATTERED | BLOCKS, "ring", 0, "ring", 0, NULL},
        {BLOCKS, "recursive_halving", 0, "knomial", COLL_I_TABLE_RADIX,
         "REDUCE_SCATTER_KN_RADIX"},
        {BLOCKS, "butterfly", 0, "knomial", COLL_I_TABLE_RADIX | COLL_I_TABLE_NEAR,
         "REDUCE_SCATTER_KN_RADIX"},
    };
    coll_i_table_pairs pairs;
    pairs.pair = pair;
    pairs.n = sizeof pair / sizeof pair[0];
    return pairs;
}

/* A setting of a radix that was met. */
typedef struct coll_i_ucc_radix {
    const char *name;
    uint32_t radix;
} coll_i_ucc_radix;

enum { COLL_I_UCC_RADICES = 16 };

COLL_INLINE void coll_i_ucc_meet(coll_table_job *job, const coll_i_table_cell *cell,
                                 coll_i_ucc_radix *met)
{
    const uint32_t radix = cell->radix > 0 ? cell->radix : 2; /* recursive doubling */
    size_t i = 0;
    if (!cell->pair || !(cell->pair->traits & COLL_I_TABLE_RADIX))
        return;
    while (i + 1 < COLL_I_UCC_RADICES && met[i].name &&
           strcmp(met[i].name, cell->pair->other) != 0)
        i++;
    if (!met[i].name) {
        met[i].name = cell->pair->other;
        met[i].radix = radix;
    } else if (met[i].radix != radix)
        coll_i_table_note(
            job, met[i].name, NULL,
            "UCC_TL_UCP_%s is one number for all ranks and bytes, and the rules have more: "
            "%lu is written, not %lu",
            met[i].name, (unsigned long)met[i].radix, (unsigned long)radix);
}

/* The entries of a collective. */
COLL_INLINE bool coll_i_ucc_entries(coll_table_job *job, coll_collective c, const char *name,
                                    bool total, const char **between, coll_i_ucc_radix *met)
{
    const coll_i_table_pairs pairs = coll_i_ucc_pairs();
    coll_i_table_span span;
    for (uint32_t p = 2; p != 0; p = span.p_end == COLL_ANY_P ? 0 : span.p_end + 1) {
        if (!coll_i_table_span_at(job, &pairs, c, true, total, p, &span))
            return false;
        for (size_t i = 0; i < span.n; i++) {
            const coll_i_table_cell *cell = &span.cell[i];
            const size_t times = total ? p : 1;
            coll_i_ucc_meet(job, cell, met);
            if (!cell->pair)
                continue;
            coll_i_write(&job->to, "%s%s:%lu-", *between, name,
                         (unsigned long)coll_i_table_times(cell->from, times));
            if (i + 1 < span.n)
                coll_i_write(&job->to, "%lu",
                             (unsigned long)coll_i_table_times(cell[1].from, times));
            else
                coll_i_write_text(&job->to, "inf");
            coll_i_write(&job->to, ":host:[%lu-", (unsigned long)p);
            if (span.p_end == COLL_ANY_P)
                coll_i_write_text(&job->to, "inf");
            else
                coll_i_write(&job->to, "%lu", (unsigned long)span.p_end);
            coll_i_write(&job->to, "]:inf:@%s", cell->pair->theirs);
            *between = "#";
        }
    }
    return true;
}

/* Writes the settings. The result's sentence is job->sentence. */
COLL_INLINE coll_export_result coll_write_ucc_scores(coll_table_job *job)
{
    static const struct {
        coll_collective collective;
        const char *name;
        bool total;
    } of[] = {{COLL_BARRIER, "barrier", false},
              {COLL_BCAST, "bcast", false},
              {COLL_REDUCE, "reduce", false},
              {COLL_ALLREDUCE, "allreduce", false},
              {COLL_GATHER, "gather", true},
              {COLL_GATHERV, "gatherv", false},
              {COLL_SCATTERV, "scatterv", false},
              {COLL_ALLGATHER, "allgather", true},
              {COLL_ALLGATHERV, "allgatherv", true},
              {COLL_ALLTOALL, "alltoall", true},
              {COLL_ALLTOALLV, "alltoallv", false},
              {COLL_REDUCE_SCATTER, "reduce_scatterv", true},
              {COLL_REDUCE_SCATTER_BLOCK, "reduce_scatter", false}};
    coll_i_ucc_radix met[COLL_I_UCC_RADICES];
    uint32_t collectives = 0;
    const char *between = "";
    memset(met, 0, sizeof met);
    job->peer = "UCC";
    job->sentence[0] = '\0';
    job->n_noted = 0;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        collectives |= COLL_BIT(of[k].collective);
    coll_i_table_note_passed(job, collectives);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (!coll_is(collectives | COLL_NEIGHBORLY, (coll_collective)c) &&
            coll_i_table_has_rules(job, (coll_collective)c))
            coll_i_table_note(
                job, coll_collective_name((coll_collective)c), NULL,
                "the transport ucp of UCC has no choice of %s: its rules are left out",
                coll_collective_name((coll_collective)c));
    coll_i_write_text(&job->to, "UCC_TL_UCP_TUNE=");
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        if (coll_i_table_has_rules(job, of[k].collective) &&
            !coll_i_ucc_entries(job, of[k].collective, of[k].name, of[k].total, &between, met))
            return coll_i_table_end(job);
    coll_i_write_text(&job->to, "\n");
    for (size_t i = 0; i < COLL_I_UCC_RADICES && met[i].name; i++)
        coll_i_write(&job->to, "UCC_TL_UCP_%s=%lu\n", met[i].name, (unsigned long)met[i].radix);
    return coll_i_table_end(job);
}

#endif /* COLL_LAB_TABLES_UCC_SCORES_H */
