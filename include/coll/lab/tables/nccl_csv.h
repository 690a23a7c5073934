/* coll/lab/tables/nccl_csv.h — rules for the tuner plug-in of NCCL that reads a table
 *
 *   coll_write_nccl_csv(&job);
 *
 *   NCCL_TUNER_PLUGIN=… NCCL_TUNER_CONFIG_FILE=FILE program
 *
 * A line has a collective, the least and the most bytes, an algorithm, a protocol, and -1 for what
 * it does not decide: channels, nodes, pipelined operations and registered buffers. NCCL counts the
 * bytes of all blocks. The plug-in knows numbers of ranks, and no ranges of them: there are lines
 * for 2 to p_most ranks, and one for any number where all of these are alike. The protocol is the
 * job's, as rules of this library have none. The first line that fits is taken; where none does,
 * NCCL's own model chooses.
 */
#ifndef COLL_LAB_TABLES_NCCL_CSV_H
#define COLL_LAB_TABLES_NCCL_CSV_H

#include "choices.h"

/* Ours and theirs. */
COLL_INLINE coll_i_table_pairs coll_i_nccl_pairs(void)
{
    enum { COLL_I_TABLE_MASKS };
    static const coll_i_table_pair pair[] = {
        {BCAST | REDUCE, "chain", 1, "ring", 0, NULL},
        {BCAST, "scatter_ring", 0, "ring", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "double_tree", 0, "tree", 0, NULL},
        {ALLREDUCE, "fnomial", 0, "tree", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "kary", 0, "tree", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "recursive_doubling", 0, "tree", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "recursive_multiplying", 0, "tree", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE, "rabenseifner", 0, "ring", COLL_I_TABLE_NEAR, NULL},
        {ALLREDUCE | ALLGATHER | BLOCKS, "ring", 0, "ring", 0, NULL},
        {ALLGATHER | BLOCKS, "pat", 0, "pat", 0, NULL},
        {ALLGATHER, "bruck", 0, "pat", COLL_I_TABLE_NEAR, NULL},
        {ALLGATHER, "recursive_doubling", 0, "pat", COLL_I_TABLE_NEAR, NULL},
        {BLOCKS, "recursive_halving", 0, "pat", COLL_I_TABLE_NEAR, NULL},
        {BLOCKS, "butterfly", 0, "pat", COLL_I_TABLE_NEAR, NULL},
    };
    coll_i_table_pairs pairs;
    pairs.pair = pair;
    pairs.n = sizeof pair / sizeof pair[0];
    return pairs;
}

COLL_INLINE void coll_i_nccl_lines(coll_table_job *job, const char *name, bool total,
                                   const coll_i_table_span *span, long ranks)
{
    const size_t p = total && ranks > 0 ? (size_t)ranks : 1;
    for (size_t i = 0; i < span->n; i++) {
        const size_t most =
            i + 1 < span->n ? coll_i_table_times(span->cell[i + 1].from, p) - 1 : SIZE_MAX;
        if (span->cell[i].pair)
            coll_i_write(&job->to, "%s,%lu,%lu,%s,%s,-1,-1,%ld,-1,-1\n", name,
                         (unsigned long)coll_i_table_times(span->cell[i].from, p),
                         (unsigned long)most, span->cell[i].pair->theirs, job->protocol, ranks);
    }
}

/* Writes the table. The result's sentence is job->sentence. */
COLL_INLINE coll_export_result coll_write_nccl_csv(coll_table_job *job)
{
    static const struct {
        coll_collective collective;
        const char *name;
        bool total;
    } of[] = {{COLL_BCAST, "broadcast", false},
              {COLL_REDUCE, "reduce", false},
              {COLL_ALLGATHER, "allgather", true},
              {COLL_REDUCE_SCATTER_BLOCK, "reducescatter", true},
              {COLL_ALLREDUCE, "allreduce", false}};
    const coll_i_table_pairs pairs = coll_i_nccl_pairs();
    uint32_t collectives = 0;
    coll_i_table_span span;
    job->peer = "NCCL";
    job->sentence[0] = '\0';
    job->n_noted = 0;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        collectives |= COLL_BIT(of[k].collective);
    coll_i_table_note_passed(job, collectives);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (!coll_is(collectives, (coll_collective)c) &&
            coll_i_table_has_rules(job, (coll_collective)c))
            coll_i_table_note(job, coll_collective_name((coll_collective)c), NULL,
                              "the tuner of NCCL does not know %s: its rules are left out",
                              coll_collective_name((coll_collective)c));
    coll_i_write_text(&job->to, "# collective,bytes from,to,algorithm,protocol,channels,nodes,"
                                "ranks,pipelined,registered\n");
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        const coll_collective c = of[k].collective;
        if (!coll_i_table_has_rules(job, c))
            continue;
        for (uint32_t p = 2; p != 0 && p <= job->p_most;) {
            if (!coll_i_table_span_at(job, &pairs, c, true, of[k].total, p, &span))
                return coll_i_table_end(job);
            if (p == 2 && span.p_end == COLL_ANY_P) {
                coll_i_nccl_lines(job, of[k].name, of[k].total, &span, -1);
                break;
            }
            for (; p <= span.p_end && p <= job->p_most; p++)
                coll_i_nccl_lines(job, of[k].name, of[k].total, &span, (long)p);
        }
    }
    return coll_i_table_end(job);
}

#endif /* COLL_LAB_TABLES_NCCL_CSV_H */
