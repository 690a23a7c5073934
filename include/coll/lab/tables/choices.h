/* coll/lab/tables/choices.h — what rules choose, in ranges of ranks and bytes, as tables of others
 * have them
 *
 *   coll_table_job job;
 *   coll_table_job_init(&job, &table.list, stdout);
 *   job.note = say;                              // what could not be written as it is, in sentences
 *   result = coll_write_openmpi_rules(&job);     // openmpi_rules.h; the others alike
 *
 * A table of another library names its algorithms. Each writer has a list of pairs: ours, and the
 * one of theirs that is the same, with the radix that it must have. Where there is none, the pair
 * may name the nearest; otherwise the library's own choice stays. Both are noted.
 *
 * What the rules choose is asked of coll_select_from, so that rules which fit no such problem are
 * passed over as in a program. Numbers of ranks up to p_most are asked one by one; above them the
 * powers of two and the ends of the rules' ranges are, and those between are taken to be like the
 * one below. Rules for several nodes, of composite algorithms, and of algorithms that need shared
 * memory or more of a network than messages are passed over, and noted. Blocks count as
 * packed: the algorithms of others do not care.
 */
#ifndef COLL_LAB_TABLES_CHOICES_H
#define COLL_LAB_TABLES_CHOICES_H

#include "../../select/table_write.h"
#include "../export/writer.h"

#include <stdlib.h>

enum { COLL_I_TABLE_CELLS = 96, COLL_I_TABLE_NOTED = 512, COLL_I_TABLE_RANKS_MOST = 1 << 20 };

/* What is written, and where to. */
typedef struct coll_table_job {
    const coll_rule_list *rules; /* searched in this order, with those behind it */
    uint32_t collectives;        /* mask of COLL_BIT: those that are written (all) */
    uint32_t p_most;             /* numbers of ranks that are told apart one by one (64) */
    uint32_t elem_bytes;         /* of sizes that rules give in elements (8) */
    bool in_order;               /* Open MPI: for operators that do not commute, too (false) */
    const char *protocol;        /* of NCCL: "simple", "ll" or "ll128" ("simple") */
    coll_writer to;
    /* Is told in a sentence what is not written as it is; NULL: nobody is. */
    void (*note)(void *arg, const char *sentence);
    void *arg;
    char sentence[320]; /* why it was not written; "" if it was */
    const char *peer;   /* what the library is called */
    /* Rules and pairs of which something was said: the writer's. */
    const void *noted[COLL_I_TABLE_NOTED][2];
    size_t n_noted; /* how many */
} coll_table_job;

/* A job that writes all collectives to a file. Rules and file stay the caller's. */
COLL_INLINE void coll_table_job_init(coll_table_job *job, const coll_rule_list *rules, FILE *to)
{
    memset(job, 0, sizeof *job);
    job->rules = rules;
    job->collectives = UINT32_MAX;
    job->p_most = 64;
    job->elem_bytes = 8;
    job->protocol = "simple";
    coll_writer_init(&job->to, to);
}

/* What lists of pairs call the collectives: enum { COLL_I_TABLE_MASKS }; within their functions. */
#define COLL_I_TABLE_MASKS                                                                     \
    BARRIER = COLL_BIT(COLL_BARRIER), BCAST = COLL_BIT(COLL_BCAST),                            \
    REDUCE = COLL_BIT(COLL_REDUCE), ALLREDUCE = COLL_BIT(COLL_ALLREDUCE),                      \
    GATHER = COLL_BIT(COLL_GATHER), SCATTER = COLL_BIT(COLL_SCATTER),                          \
    VECTORS = COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV),                                \
    ALLGATHER = COLL_BIT(COLL_ALLGATHER), ALLGATHERV = COLL_BIT(COLL_ALLGATHERV),              \
    ALLTOALL = COLL_BIT(COLL_ALLTOALL), ALLTOALLV = COLL_BIT(COLL_ALLTOALLV),                  \
    ALLTOALLW = COLL_BIT(COLL_ALLTOALLW), SCATTERED = COLL_BIT(COLL_REDUCE_SCATTER),           \
    BLOCKS = COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),                                              \
    SCANS = COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN)

/* How a pair relates, and what of ours theirs has. */
enum {
    COLL_I_TABLE_NEAR = 1,      /* the nearest, not the same */
    COLL_I_TABLE_RADIX = 2,     /* it takes the radix, or how many chains or messages at once */
    COLL_I_TABLE_SEGMENT = 4,   /* it takes a length of segments */
    COLL_I_TABLE_WHOLE = 8,     /* this pair is for vectors in one piece alone */
    COLL_I_TABLE_POWER = 16,    /* for powers of two alone */
    COLL_I_TABLE_OPERATOR = 32, /* built-in operators, and as many elements as ranks, alone */
    COLL_I_TABLE_REGULAR = 64,  /* blocks of one size alone */
    COLL_I_TABLE_COMMUTES = 128 /* operators that commute alone, which it does not check */
};

/* An algorithm of ours and theirs. */
typedef struct coll_i_table_pair {
    uint32_t collectives;
    const char *ours;
    uint32_t radix; /* 0: of any radix; else of this one alone */
    const char *theirs;
    unsigned traits;
    const char
        *other; /* a second name: MPICH's of nonblocking calls, UCC's knob of the radix */
} coll_i_table_pair;

/* What is chosen from so many bytes on. */
typedef struct coll_i_table_cell {
    size_t from;
    const coll_i_table_pair *pair; /* NULL: their own choice */
    uint32_t radix;
    size_t segment; /* bytes */
} coll_i_table_cell;

/* For these numbers of ranks all cells are alike. */
typedef struct coll_i_table_span {
    uint32_t p, p_end; /* p_end: the last one, COLL_ANY_P in the last span */
    size_t n;
    coll_i_table_cell cell[COLL_I_TABLE_CELLS];
} coll_i_table_span;

/* A list of pairs. */
typedef struct coll_i_table_pairs {
    const coll_i_table_pair *pair;
    size_t n;
} coll_i_table_pairs;

/* ---- notes ------------------------------------------------------------------------------- */

/* Says something once of a rule and a pair. */
COLL_INLINE COLL_I_PRINTF(4, 5) void coll_i_table_note(coll_table_job *job, const void *rule,
                                                       const void *pair, const char *format,
                                                       ...)
{
    char text[480];
    va_list arguments;
    for (size_t i = 0; i < job->n_noted; i++)
        if (job->noted[i][0] == rule && job->noted[i][1] == pair)
            return;
    if (!job->note || job->n_noted == COLL_I_TABLE_NOTED)
        return;
    job->noted[job->n_noted][0] = rule;
    job->noted[job->n_noted++][1] = pair;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job->note(job->arg, text);
}

/* A rule without its reason. */
COLL_INLINE const char *coll_i_table_rule_words(const coll_rule *rule, char *text, size_t bytes)
{
    coll_rule bare = *rule;
    bare.why = NULL;
    (void)coll_rule_text(&bare, text, bytes);
    return text;
}

/* Notes the rules that no problem of one node with messages alone has. */
COLL_INLINE void coll_i_table_note_passed(coll_table_job *job, uint32_t collectives)
{
    const unsigned more = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_NEEDS_NETWORK_REDUCE |
                          COLL_NEEDS_NETWORK_BARRIER;
    for (const coll_rule_list *list = job->rules; list; list = list->next)
        for (size_t i = 0; i < list->n; i++) {
            const coll_rule *rule = &list->rules[i];
            const unsigned traits = rule->algorithm->traits;
            char text[COLL_RULE_TEXT];
            if (!(rule->collectives & collectives & job->collectives))
                continue;
            if (rule->ppn_most > 0 || (traits & COLL_NEEDS_BUILD))
                coll_i_table_note(
                    job, rule, job,
                    "\"%.200s\" is for several nodes, which the tables of %s are not "
                    "written for: it is left out",
                    coll_i_table_rule_words(rule, text, sizeof text), job->peer);
            else if (traits & more)
                coll_i_table_note(
                    job, rule, job,
                    "\"%.200s\" needs %s, and %s sends messages alone: it is left out",
                    coll_i_table_rule_words(rule, text, sizeof text),
                    coll_capability_text(traits & more), job->peer);
        }
}

/* ---- one choice -------------------------------------------------------------------------- */

/* The rule for a problem, or NULL. */
COLL_INLINE const coll_rule *coll_i_table_choice(const coll_table_job *job, coll_collective c,
                                                 uint32_t p, size_t bytes, bool commutative)
{
    const bool sized = c == COLL_ALLGATHERV || c == COLL_REDUCE_SCATTER;
    const coll_rule *rule = NULL;
    size_t *counts = NULL;
    coll_conditions conditions;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, c, p, bytes, 1);
    conditions.capabilities = COLL_NEEDS_PACKED;
    conditions.requirements = 0;
    if (commutative && coll_is(COLL_REDUCING, c))
        problem.flags |= COLL_FLAG_COMMUTATIVE;
    if (sized) {
        coll_layout layout;
        counts = (size_t *)malloc(2 * (size_t)p * sizeof *counts);
        if (!counts)
            return NULL;
        for (size_t i = 0; i < p; i++) {
            counts[i] = bytes;
            counts[p + i] = bytes * i;
        }
        layout.counts = counts;
        layout.displs = counts + p;
        if (c == COLL_ALLGATHERV)
            problem.out = layout;
        else
            problem.in = layout;
    }
    (void)coll_select_from(job->rules, &problem, &conditions, NULL, &plan, &rule);
    free(counts);
    return rule;
}

/* A parameter in elements or bytes, as it is used. */
COLL_INLINE uint32_t coll_i_table_choice_param(const coll_rule *rule, uint32_t i)
{
    return rule->param[i] == COLL_DEFAULT ? rule->algorithm->params[i].default_value
                                          : rule->param[i];
}

COLL_INLINE uint32_t coll_i_table_choice_radix(const coll_rule *rule)
{
    static const char *const names[] = {"f", "k", "chains", "batch", "aggregate"};
    for (uint32_t i = 0; i < rule->algorithm->n_params; i++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            if (strcmp(rule->algorithm->params[i].name, names[n]) == 0)
                return coll_i_table_choice_param(rule, i);
    return 0;
}

/* In bytes; 0: none. */
COLL_INLINE size_t coll_i_table_choice_segment(const coll_table_job *job, const coll_rule *rule)
{
    for (uint32_t i = 0; i < rule->algorithm->n_params; i++)
        if (strcmp(rule->algorithm->params[i].name, "segment") == 0) {
            const size_t length = coll_i_table_choice_param(rule, i);
            return ((rule->in_bytes >> i) & 1u) && rule->param[i] != COLL_DEFAULT
                       ? length
                       : length * job->elem_bytes;
        }
    return 0;
}

/* The pair of a rule, or NULL. */
COLL_INLINE const coll_i_table_pair *coll_i_table_pair_of(const coll_table_job *job,
                                                          const coll_i_table_pairs *pairs,
                                                          coll_collective c,
                                                          const coll_rule *rule)
{
    const size_t segment = coll_i_table_choice_segment(job, rule);
    const uint32_t radix = coll_i_table_choice_radix(rule);
    for (size_t i = 0; i < pairs->n; i++) {
        const coll_i_table_pair *pair = &pairs->pair[i];
        if (job->in_order && (pair->traits & COLL_I_TABLE_COMMUTES))
            continue;
        if (coll_is(pair->collectives, c) && strcmp(pair->ours, rule->algorithm->name) == 0 &&
            (pair->radix == 0 || pair->radix == radix) &&
            (segment == 0 || !(pair->traits & COLL_I_TABLE_WHOLE)))
            return pair;
    }
    return NULL;
}

COLL_INLINE void coll_i_table_cell_note(coll_table_job *job, coll_collective c,
                                        const coll_rule *rule, const coll_i_table_pair *pair)
{
    char text[COLL_RULE_TEXT];
    const char *words = text;
    (void)coll_rule_algorithm_text(rule, text, sizeof text);
    if (!pair)
        coll_i_table_note(
            job, rule, coll_collective_name(c),
            "%s %.120s: %s has no such algorithm%s, so its own choice stays",
            coll_collective_name(c), words, job->peer,
            job->in_order && coll_is(COLL_REDUCING, c) ? " that keeps operands in order" : "");
    else if (pair->traits & COLL_I_TABLE_NEAR)
        coll_i_table_note(job, rule, coll_collective_name(c),
                          "%s %.120s: %s has no such algorithm; the nearest is written, %s",
                          coll_collective_name(c), words, job->peer,
                          pair->theirs ? pair->theirs : pair->other);
    else if (coll_i_table_choice_segment(job, rule) > 0 &&
             !(pair->traits & COLL_I_TABLE_SEGMENT))
        coll_i_table_note(job, rule, coll_collective_name(c),
                          "%s %.120s: %s takes no segments in %s, so their length is left out",
                          coll_collective_name(c), words, job->peer,
                          pair->theirs ? pair->theirs : pair->other);
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* From which number of bytes on another rule may be taken; SIZE_MAX: none. */
COLL_INLINE size_t coll_i_table_bytes_next(const coll_table_job *job, coll_collective c,
                                           uint32_t p, size_t bytes)
{
    size_t next = SIZE_MAX;
    for (const coll_rule_list *list = job->rules; list; list = list->next)
        for (size_t i = 0; i < list->n; i++) {
            const coll_rule *rule = &list->rules[i];
            if (!coll_is(rule->collectives, c) || p < rule->p_least || p > rule->p_most)
                continue;
            if (rule->bytes_least > bytes && rule->bytes_least < next)
                next = rule->bytes_least;
            if (rule->bytes_most != SIZE_MAX && rule->bytes_most >= bytes &&
                rule->bytes_most + 1 < next)
                next = rule->bytes_most + 1;
        }
    return next;
}

/* The next number of ranks that is asked for; 0: there is none. */
COLL_INLINE uint32_t coll_i_table_ranks_next(const coll_table_job *job, uint32_t p)
{
    uint32_t next = 1;
    if (p < job->p_most)
        return p + 1;
    while (next <= p && next < COLL_I_TABLE_RANKS_MOST)
        next *= 2;
    if (next <= p)
        return 0;
    for (const coll_rule_list *list = job->rules; list; list = list->next)
        for (size_t i = 0; i < list->n; i++) {
            const coll_rule *rule = &list->rules[i];
            if (rule->p_least > p && rule->p_least < next)
                next = rule->p_least;
            if (rule->p_most >= p && rule->p_most < next - 1)
                next = rule->p_most + 1;
        }
    return next;
}

/* The cells of so many ranks. Their number, or 0 where there are too many. */
COLL_INLINE size_t coll_i_table_cells(coll_table_job *job, const coll_i_table_pairs *pairs,
                                      coll_collective c, uint32_t p, bool commutative,
                                      coll_i_table_cell *cell)
{
    size_t n = 0;
    for (size_t bytes = 0; bytes != SIZE_MAX;
         bytes = coll_i_table_bytes_next(job, c, p, bytes)) {
        const coll_rule *rule = coll_i_table_choice(job, c, p, bytes, commutative);
        const coll_i_table_pair *pair = rule ? coll_i_table_pair_of(job, pairs, c, rule) : NULL;
        coll_i_table_cell now;
        now.from = bytes;
        now.pair = pair;
        now.radix =
            pair && (pair->traits & COLL_I_TABLE_RADIX) ? coll_i_table_choice_radix(rule) : 0;
        now.segment = pair && (pair->traits & COLL_I_TABLE_SEGMENT)
                          ? coll_i_table_choice_segment(job, rule)
                          : 0;
        if (rule)
            coll_i_table_cell_note(job, c, rule, pair);
        if (n > 0 && cell[n - 1].pair == pair && cell[n - 1].radix == now.radix &&
            cell[n - 1].segment == now.segment)
            continue;
        if (n == COLL_I_TABLE_CELLS) {
            (void)snprintf(job->sentence, sizeof job->sentence,
                           "%s has more than %d ranges of bytes on %lu ranks: write a table "
                           "with fewer rules",
                           coll_collective_name(c), COLL_I_TABLE_CELLS, (unsigned long)p);
            return 0;
        }
        cell[n++] = now;
    }
    return n;
}

/* Are these cells the same? `total`: their sizes are written times p, so they are not unless there
 * is but one. */
COLL_INLINE bool coll_i_table_cells_same(const coll_i_table_span *span,
                                         const coll_i_table_cell *cell, size_t n, bool total)
{
    if (n != span->n || (total && n > 1))
        return false;
    for (size_t i = 0; i < n; i++)
        if (cell[i].from != span->cell[i].from || cell[i].pair != span->cell[i].pair ||
            cell[i].radix != span->cell[i].radix || cell[i].segment != span->cell[i].segment)
            return false;
    return true;
}

/* The span that begins with `p` ranks. false: there is an error. */
COLL_INLINE bool coll_i_table_span_at(coll_table_job *job, const coll_i_table_pairs *pairs,
                                      coll_collective c, bool commutative, bool total,
                                      uint32_t p, coll_i_table_span *span)
{
    coll_i_table_cell cell[COLL_I_TABLE_CELLS];
    uint32_t next = p;
    span->p = p;
    span->n = coll_i_table_cells(job, pairs, c, p, commutative, span->cell);
    if (span->n == 0)
        return false;
    for (;;) {
        size_t n;
        next = coll_i_table_ranks_next(job, next);
        if (next == 0) {
            span->p_end = COLL_ANY_P;
            return true;
        }
        n = coll_i_table_cells(job, pairs, c, next, commutative, cell);
        if (n == 0)
            return false;
        if (!coll_i_table_cells_same(span, cell, n, total)) {
            span->p_end = next - 1;
            return true;
        }
    }
}

/* Has a rule of the lists this collective? */
COLL_INLINE bool coll_i_table_has_rules(const coll_table_job *job, coll_collective c)
{
    if (!coll_is(job->collectives, c))
        return false;
    for (const coll_rule_list *list = job->rules; list; list = list->next)
        for (size_t i = 0; i < list->n; i++)
            if (coll_is(list->rules[i].collectives, c))
                return true;
    return false;
}

/* bytes × ranks, or SIZE_MAX. */
COLL_INLINE size_t coll_i_table_times(size_t bytes, size_t ranks)
{
    return bytes > SIZE_MAX / ranks ? SIZE_MAX : bytes * ranks;
}

/* How the writing ended. */
COLL_INLINE coll_export_result coll_i_table_end(const coll_table_job *job)
{
    return job->sentence[0] ? COLL_EXPORT_REFUSED
           : job->to.failed ? COLL_EXPORT_NOT_WRITTEN
                            : COLL_EXPORTED;
}

#endif /* COLL_LAB_TABLES_CHOICES_H */
