/* coll/lab/tables/mpich_json.h — rules for MPICH's selection of algorithms, as its JSON
 *
 *   coll_write_mpich_json(&job);
 *
 *   MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE MPIR_CVAR_DEVICE_COLLECTIVES=none mpiexec …
 *
 * A file is nested objects: a key is a condition, what is in it is tried if that holds, and the
 * next key otherwise. A file replaces all that MPICH knows, and a call that finds nothing ends the
 * program. So it has all collectives, and where no rule is, or MPICH has no such algorithm, what
 * MPICH 4.0 chooses by itself (mpich_names.h). The nonblocking calls follow the same rules.
 *
 * MPICH counts the bytes of a vector, of a block of alltoall, and of all blocks of allgather(v) and
 * reduce_scatter(_block); in the others it knows none, so what the rules choose for 0 bytes is
 * written for all. It reads numbers as int: thresholds above 2 GiB are left out. A leaf has all the
 * parameters that its algorithm reads, as MPICH sets none of them itself. Rules for operators that
 * commute and those that do not stand apart, as ours differ in that.
 */
#ifndef COLL_LAB_TABLES_MPICH_JSON_H
#define COLL_LAB_TABLES_MPICH_JSON_H

#include "mpich_names.h"

/* Nested objects. */
typedef struct coll_i_table_nest {
    coll_writer *to;
    unsigned depth;
    bool empty; /* nothing stands in the innermost yet */
} coll_i_table_nest;

COLL_INLINE COLL_I_PRINTF(2, 3) void coll_i_table_nest_open(coll_i_table_nest *nest,
                                                            const char *format, ...)
{
    char key[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(key, sizeof key, format, arguments);
    va_end(arguments);
    coll_i_write(nest->to, "%s\n%*s", nest->empty ? "" : ",", (int)(2 * nest->depth), "");
    coll_write_quoted(nest->to, key);
    coll_i_write_text(nest->to, ": {");
    nest->depth++;
    nest->empty = true;
}

COLL_INLINE void coll_i_table_nest_close(coll_i_table_nest *nest)
{
    nest->depth--;
    if (nest->empty)
        coll_i_write_text(nest->to, "}");
    else
        coll_i_write(nest->to, "\n%*s}", (int)(2 * nest->depth), "");
    nest->empty = false;
}

/* ---- leaves ------------------------------------------------------------------------------ */

/* What is being written. */
typedef struct coll_i_mpich {
    coll_table_job *job;
    coll_i_table_nest nest;
    coll_collective c;
    bool nonblocking, commutative;
} coll_i_mpich;

/* `MPIR_` and what the call is named: Bcast, or Ibcast. */
COLL_INLINE void coll_i_mpich_call(const coll_i_mpich *m, char *text, size_t bytes)
{
    const char *name = coll_collective_name(m->c);
    (void)snprintf(text, bytes, "MPIR_%s%s", m->nonblocking ? "I" : "", name);
    if (!m->nonblocking && bytes > 5)
        text[5] = (char)(name[0] - 'a' + 'A');
}

/* No parameters. */
COLL_INLINE void coll_i_mpich_named(coll_i_mpich *m, const char *kind, const char *name)
{
    char call[64];
    coll_i_mpich_call(m, call, sizeof call);
    coll_i_table_nest_open(&m->nest, "algorithm=%s_%s_%s", call, kind, name);
    coll_i_table_nest_close(&m->nest);
}

/* The algorithm of a pair, for a communicator and an operator that it may be used for. */
COLL_INLINE void coll_i_mpich_leaf(coll_i_mpich *m, const coll_i_table_pair *pair,
                                   uint32_t radix, size_t segment)
{
    const bool vectors = m->c == COLL_GATHERV || m->c == COLL_SCATTERV;
    const bool tree = strcmp(pair->other, "tsp_tree") == 0;
    const bool ring = strcmp(pair->other, "tsp_ring") == 0 && m->c != COLL_ALLREDUCE;
    char call[64];
    if (!m->nonblocking) {
        if (pair->theirs)
            /* exscan has one algorithm for all communicators, as those of vectors have */
            coll_i_mpich_named(m, vectors ? "allcomm" : "intra", pair->theirs);
        else
            coll_i_mpich_named(m, "allcomm", "nb");
        return;
    }
    coll_i_mpich_call(m, call, sizeof call);
    coll_i_table_nest_open(&m->nest, "algorithm=%s_%s_%s", call, vectors ? "allcomm" : "intra",
                           pair->other);
    if (tree) {
        coll_i_table_nest_open(&m->nest, "tree_type=%s",
                               strcmp(pair->ours, "kary") == 0 ? "kary" : "knomial_1");
        coll_i_table_nest_close(&m->nest);
    }
    if (pair->traits & COLL_I_TABLE_RADIX) {
        coll_i_table_nest_open(&m->nest, "k=%lu", (unsigned long)radix);
        coll_i_table_nest_close(&m->nest);
    }
    if (tree || ring) {
        coll_i_table_nest_open(&m->nest, "chunk_size=%lu",
                               (unsigned long)(segment > INT32_MAX ? 0 : segment));
        coll_i_table_nest_close(&m->nest);
    }
    if ((tree || ring) && m->c != COLL_BCAST) {
        coll_i_table_nest_open(&m->nest, "buffer_per_child=0");
        coll_i_table_nest_close(&m->nest);
    }
    coll_i_table_nest_close(&m->nest);
}

/* The same for all operators and layouts. */
COLL_INLINE void coll_i_mpich_operators(coll_i_mpich *m, const coll_i_table_cell *cell)
{
    const coll_i_table_pair *pair = cell->pair;
    const coll_i_table_pair *instead = coll_i_mpich_instead(m->c);
    if (pair->traits & COLL_I_TABLE_OPERATOR) {
        coll_i_table_nest_open(&m->nest, "is_op_built_in=yes");
        coll_i_table_nest_open(&m->nest, "count<pow2");
        coll_i_mpich_leaf(m, instead, 0, 0);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "count=any");
        coll_i_mpich_leaf(m, pair, cell->radix, cell->segment);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "is_op_built_in=no");
        coll_i_mpich_leaf(m, instead, 0, 0);
        coll_i_table_nest_close(&m->nest);
    } else if ((pair->traits & COLL_I_TABLE_REGULAR) && m->c == COLL_REDUCE_SCATTER) {
        coll_i_table_nest_open(&m->nest, "is_block_regular=yes");
        coll_i_mpich_leaf(m, pair, cell->radix, cell->segment);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "is_block_regular=no");
        coll_i_mpich_leaf(m, instead, 0, 0);
        coll_i_table_nest_close(&m->nest);
    } else
        coll_i_mpich_leaf(m, pair, cell->radix, cell->segment);
}

/* The same for p … p_end ranks. */
COLL_INLINE void coll_i_mpich_ranks(coll_i_mpich *m, const coll_i_table_cell *cell, uint32_t p,
                                    uint32_t p_end)
{
    coll_i_table_cell instead;
    instead.from = cell->from;
    instead.pair = coll_i_mpich_instead(m->c);
    instead.radix = 0;
    instead.segment = 0;
    if (!m->commutative && (cell->pair->traits & COLL_I_TABLE_COMMUTES))
        coll_i_mpich_operators(m, &instead);
    else if (!(cell->pair->traits & COLL_I_TABLE_POWER) || (p == p_end && (p & (p - 1)) == 0))
        coll_i_mpich_operators(m, cell);
    else if (p == p_end)
        coll_i_mpich_operators(m, &instead);
    else {
        coll_i_table_nest_open(&m->nest, "comm_size=pow2");
        coll_i_mpich_operators(m, cell);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "comm_size=any");
        coll_i_mpich_operators(m, &instead);
        coll_i_table_nest_close(&m->nest);
    }
}

/* ---- sizes ------------------------------------------------------------------------------- */

/* What MPICH calls the bytes of this collective; NULL: it does not know them. */
COLL_INLINE const char *coll_i_mpich_size(coll_collective c)
{
    if (coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
                    COLL_BIT(COLL_ALLTOALL),
                c))
        return "avg_msg_size";
    if (coll_is(COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV) |
                    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                c))
        return "total_msg_size";
    return NULL;
}

COLL_INLINE bool coll_i_mpich_total(coll_collective c)
{
    const char *size = coll_i_mpich_size(c);
    return size && size[0] == 't';
}

/* What MPICH chooses by itself. */
COLL_INLINE void coll_i_mpich_own_choice(coll_i_mpich *m)
{
    const char *size = coll_i_mpich_size(m->c), *group = NULL;
    size_t n;
    const coll_i_mpich_own *own = coll_i_mpich_owns(&n);
    if (m->c == COLL_BARRIER && !m->nonblocking) {
        coll_i_table_nest_open(&m->nest, "comm_hierarchy=parent");
        coll_i_mpich_named(m, "intra", "smp");
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "comm_hierarchy=any");
    } else if (m->c == COLL_SCAN && !m->nonblocking) {
        coll_i_table_nest_open(&m->nest, "is_node_consecutive=yes");
        coll_i_mpich_named(m, "intra", "smp");
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "is_node_consecutive=no");
    }
    for (size_t i = 0; i < n; i++) {
        coll_i_table_cell cell;
        if (!coll_is(own[i].collectives, m->c))
            continue;
        cell.from = 0;
        cell.pair = coll_i_mpich_pair(m->c, own[i].ours);
        cell.radix = 2;
        cell.segment = 0;
        if (!m->commutative &&
            coll_is(COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                    m->c)) {
            cell.pair = coll_i_mpich_pair(m->c, "butterfly");
            if (own[i].bytes != -1)
                continue; /* of all sizes */
        }
        if (!size) {
            coll_i_mpich_ranks(m, &cell, 1, COLL_ANY_P);
            break;
        }
        if (group != own[i].ranks && (!group || strcmp(group, own[i].ranks) != 0)) {
            if (group)
                coll_i_table_nest_close(&m->nest);
            group = own[i].ranks;
            coll_i_table_nest_open(&m->nest, "%s", group);
        }
        if (own[i].bytes == -1)
            coll_i_table_nest_open(&m->nest, "%s=any", size);
        else
            coll_i_table_nest_open(&m->nest, "%s<=%d", size, own[i].bytes);
        if (strcmp(group, "comm_size=pow2") == 0)
            coll_i_mpich_operators(m, &cell);
        else
            coll_i_mpich_ranks(m, &cell, 1, COLL_ANY_P);
        coll_i_table_nest_close(&m->nest);
    }
    if (group)
        coll_i_table_nest_close(&m->nest);
    if (!m->nonblocking && (m->c == COLL_BARRIER || m->c == COLL_SCAN))
        coll_i_table_nest_close(&m->nest);
}

COLL_INLINE void coll_i_mpich_cell(coll_i_mpich *m, const coll_i_table_span *span, size_t i)
{
    if (span->cell[i].pair)
        coll_i_mpich_ranks(m, &span->cell[i], span->p, span->p_end);
    else
        coll_i_mpich_own_choice(m);
}

/* The cells of a span, by bytes. */
COLL_INLINE void coll_i_mpich_cells(coll_i_mpich *m, const coll_i_table_span *span)
{
    const char *size = coll_i_mpich_size(m->c);
    const size_t p = coll_i_mpich_total(m->c) ? span->p : 1;
    size_t i = 0;
    if (!size) {
        coll_i_mpich_cell(m, span, 0);
        return;
    }
    for (; i + 1 < span->n; i++) {
        const size_t end = coll_i_table_times(span->cell[i + 1].from, p);
        if (end > INT32_MAX)
            break;
        coll_i_table_nest_open(&m->nest, "%s<=%lu", size, (unsigned long)end - 1);
        coll_i_mpich_cell(m, span, i);
        coll_i_table_nest_close(&m->nest);
    }
    coll_i_table_nest_open(&m->nest, "%s=any", size);
    coll_i_mpich_cell(m, span, i);
    coll_i_table_nest_close(&m->nest);
}

/* ---- collectives ------------------------------------------------------------------------- */

/* All numbers of ranks. */
COLL_INLINE bool coll_i_mpich_spans(coll_i_mpich *m)
{
    const coll_i_table_pairs pairs = coll_i_mpich_pairs();
    coll_i_table_span span;
    if (!coll_i_table_has_rules(m->job, m->c)) {
        coll_i_mpich_own_choice(m);
        return true;
    }
    coll_i_table_nest_open(&m->nest, "comm_size<=1");
    coll_i_mpich_own_choice(m);
    coll_i_table_nest_close(&m->nest);
    for (uint32_t p = 2; p != 0; p = span.p_end == COLL_ANY_P ? 0 : span.p_end + 1) {
        if (!coll_i_table_span_at(m->job, &pairs, m->c, m->commutative,
                                  coll_i_mpich_total(m->c), p, &span))
            return false;
        if (!coll_i_mpich_size(m->c) && span.n > 1)
            coll_i_table_note(
                m->job, coll_collective_name(m->c), m->job,
                "%s: MPICH does not know its bytes, so what the rules choose for the "
                "shortest is written for all",
                coll_collective_name(m->c));
        if (span.p_end == COLL_ANY_P)
            coll_i_table_nest_open(&m->nest, "comm_size=any");
        else
            coll_i_table_nest_open(&m->nest, "comm_size<=%lu", (unsigned long)span.p_end);
        coll_i_mpich_cells(m, &span);
        coll_i_table_nest_close(&m->nest);
    }
    return true;
}

/* Operators that commute and those that do not; calls in place that have an algorithm of their own. */
COLL_INLINE bool coll_i_mpich_inside(coll_i_mpich *m)
{
    const bool replaced = coll_is(COLL_BIT(COLL_ALLTOALL) | COLL_PAIRED, m->c);
    bool good = true;
    m->commutative = true;
    if (replaced) {
        coll_i_table_nest_open(&m->nest, "is_sendbuf_inplace=yes");
        coll_i_mpich_named(m, "intra",
                           m->nonblocking ? "sched_inplace" : "pairwise_sendrecv_replace");
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "is_sendbuf_inplace=no");
        good = coll_i_mpich_spans(m);
        coll_i_table_nest_close(&m->nest);
    } else if (coll_is(COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
                           COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                       m->c)) {
        coll_i_table_nest_open(&m->nest, "is_commutative=yes");
        good = coll_i_mpich_spans(m);
        coll_i_table_nest_close(&m->nest);
        m->commutative = false;
        coll_i_table_nest_open(&m->nest, "is_commutative=no");
        good = good && coll_i_mpich_spans(m);
        coll_i_table_nest_close(&m->nest);
    } else
        good = coll_i_mpich_spans(m);
    return good;
}

COLL_INLINE bool coll_i_mpich_collective(coll_i_mpich *m)
{
    const char *between = coll_i_mpich_between(m->c, m->nonblocking);
    bool good = true;
    coll_i_table_nest_open(&m->nest, "collective=%s%s", m->nonblocking ? "i" : "",
                           coll_collective_name(m->c));
    if (coll_is(COLL_NEIGHBORLY, m->c))
        coll_i_mpich_named(m, "allcomm", m->nonblocking ? "sched_linear" : "nb");
    else if (!between)
        good = coll_i_mpich_inside(m);
    else {
        coll_i_table_nest_open(&m->nest, "comm_type=intra");
        good = coll_i_mpich_inside(m);
        coll_i_table_nest_close(&m->nest);
        coll_i_table_nest_open(&m->nest, "comm_type=inter");
        coll_i_mpich_named(m, "inter", between);
        coll_i_table_nest_close(&m->nest);
    }
    coll_i_table_nest_close(&m->nest);
    return good;
}

/* Writes the JSON. The result's sentence is job->sentence. */
COLL_INLINE coll_export_result coll_write_mpich_json(coll_table_job *job)
{
    coll_i_mpich m;
    job->peer = "MPICH";
    job->sentence[0] = '\0';
    job->n_noted = 0;
    coll_i_table_note_passed(job, UINT32_MAX);
    memset(&m, 0, sizeof m);
    m.job = job;
    m.nest.to = &job->to;
    m.nest.depth = 1;
    m.nest.empty = true;
    coll_i_write_text(&job->to, "{");
    for (unsigned k = 0; k < 2 * COLL_COLLECTIVES; k++) {
        m.c = (coll_collective)(k % COLL_COLLECTIVES);
        m.nonblocking = k >= COLL_COLLECTIVES;
        if (!coll_i_mpich_collective(&m))
            break;
    }
    coll_i_write_text(&job->to, "\n}\n");
    return coll_i_table_end(job);
}

#endif /* COLL_LAB_TABLES_MPICH_JSON_H */
