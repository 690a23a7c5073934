/* mpi/layer/control.c — what the environment asks for
 *
 *   COLL_ALGORITHM=allreduce:fnomial:k=4;bcast:chain:segment=8192   these, where they can
 *   COLL_TABLE=file     rules, a line each: coll/table.h
 *   COLL_OFF=alltoall,… the library's own collectives
 *   COLL_VERBOSE=1      what was chosen and why, and what it took
 *   COLL_DEADLINE=30s   who is waited for, and why, after so long
 *   COLL_TOP=1          calls are told to coll top
 *   COLL_TRACE=file     a trace of calls, for Perfetto; .svg: a picture
 *   COLL_TRACE_CALLS=N  … of the latest N of each rank
 *   COLL_TRACE_EVERY=N  … of short ones each Nth
 *   COLL_PPN=4          as if so many ranks that follow each other were a node
 *   COLL_SHM=0          messages within a node are the library's too
 *   COLL_NEAR=0         long ones of those are copied by the kernel; 1: not
 *   COLL_HUGE=0         memory that they are sent from is not moved to huge pages
 *   COLL_ZERO_COPY=1     memory of MPI_Alloc_mem is read where it lies by the ranks of a node
 *
 * What it does not understand ends the program with a sentence: a run with other algorithms than
 * one believes is worse than none. All ranks must be asked for the same.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "coll/select/inter_node.h"
#include "coll/table.h"
#include "layer.h"

enum { RULES_MOST = 1000 };

static coll_table forced, table, tuned;
/* The first two once more: before the rules of a node, and those of several. */
static coll_rule_list intra[2], spread[2];
static void *memory[3];

static coll_sentence error;

static const char *asked(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* The same of a variable that had another name. The first rank says so. */
static const char *asked_as(const char *name, const char *before)
{
    const char *value = asked(before);
    int rank;
    if (!*value || *asked(name))
        return asked(name);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "coll: %s is called %s now\n", before, name);
    return value;
}

/* ---- rules ------------------------------------------------------------------------------- */

static bool begin(coll_table *rules, void **room)
{
    *room = malloc(COLL_TABLE_BYTES(RULES_MOST));
    if (!*room)
        return coll_refuse(&error, "there is no memory for rules");
    coll_table_init(rules, *room, COLL_TABLE_BYTES(RULES_MOST));
    if (!settings.shm)
        rules->lacks = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP;
    return true;
}

/* What the user asks for, before other rules. */
static const coll_rule_list *asked_before(coll_rule_list lists[2], const coll_rule_list *others)
{
    lists[0] = forced.list;
    lists[1] = table.list;
    lists[0].next = &lists[1];
    lists[1].next = others;
    return &lists[0];
}

/* The collectives for which the user's rules name an algorithm of this trait. */
static uint32_t asked_with(unsigned trait)
{
    const coll_rule_list *asked_for[2] = {&forced.list, &table.list};
    uint32_t mask = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < asked_for[k]->n; i++)
            if (asked_for[k]->rules[i].algorithm->traits & trait)
                mask |= asked_for[k]->rules[i].collectives;
    return mask;
}

static bool read_rules(void)
{
    const char *file = asked("COLL_TABLE");
    if (!begin(&forced, &memory[0]) || !begin(&table, &memory[1]) || !begin(&tuned, &memory[2]))
        return false;
    if (!coll_table_choose(&forced, "COLL_ALGORITHM", asked("COLL_ALGORITHM")))
        return coll_refuse(&error, "%s", forced.error.text);
    if (*file && !coll_table_load(&table, file))
        return coll_refuse(&error, "COLL_TABLE: %s", table.error.text);
    if (!coll_table_read(&tuned, "tuned.h", tuned_rules))
        return coll_refuse(&error, "%s", tuned.error.text);
    forced.list.next = &table.list;
    table.list.next = &tuned.list;
    tuned.list.next = &coll_rules_built_in;
    settings.rules = &forced.list;
    settings.node_rules = asked_before(intra, nodes_rules());
    settings.spread_rules = asked_before(spread, &coll_rules_of_nodes);
    settings.packs = COLL_BIT(COLL_REDUCE_SCATTER) /* MPI has no displacements for it */
                     | (asked_with(COLL_NEEDS_PACKED) & COLL_BIT(COLL_ALLGATHERV));
    return true;
}

/* ---- the rest ---------------------------------------------------------------------------- */

static coll_huge pages;

/* Is the value of a variable that is 0 or 1 one of them, or not set? */
static bool is_switch(const char *name, const char *value)
{
    return !*value || strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ||
           coll_refuse(&error, "%s is 0 or 1, not \"%.60s\"", name, value);
}

/* Seconds: a number with s, ms or m. */
static bool read_deadline(const char *word, double *seconds)
{
    char *end = NULL;
    const double number = strtod(word, &end);
    const double unit = strcmp(end, "s") == 0    ? 1
                        : strcmp(end, "ms") == 0 ? 1e-3
                        : strcmp(end, "m") == 0  ? 60
                                                 : 0;
    *seconds = *word ? number * unit : 0;
    return !*word || (end != word && *seconds > 0 && *seconds < 1e9) ||
           coll_refuse(&error,
                       "COLL_DEADLINE is a time such as 30s, 500ms or 2m, not \"%.60s\"", word);
}

static bool read_words(void)
{
    const char *off = asked("COLL_OFF"), *verbose = asked("COLL_VERBOSE");
    const char *ppn = asked("COLL_PPN"), *shm = asked("COLL_SHM"), *near = asked("COLL_NEAR");
    const char *huge = asked("COLL_HUGE"),
               *zero_copy = asked_as("COLL_ZERO_COPY", "COLL_IN_PLACE"),
               *top = asked("COLL_TOP"), *one_sum = asked("COLL_ONE_SUM");
    coll_sentence why;
    uint64_t number = 0;
    if (*off && !coll_collectives_read(off, &settings.off, &why))
        return coll_refuse(&error, "COLL_OFF: %s", why.text);
    if (*ppn && (!coll_number_read(ppn, &number) || number == 0 || number > INT_MAX))
        return coll_refuse(&error, "COLL_PPN is a number of ranks from 1 on, not \"%.60s\"",
                           ppn);
    if (!is_switch("COLL_VERBOSE", verbose) || !is_switch("COLL_SHM", shm) ||
        !is_switch("COLL_NEAR", near) || !is_switch("COLL_HUGE", huge) ||
        !is_switch("COLL_ZERO_COPY", zero_copy) || !is_switch("COLL_TOP", top) ||
        !is_switch("COLL_ONE_SUM", one_sum) ||
        !read_deadline(asked("COLL_DEADLINE"), &settings.deadline) ||
        !trace_ask(asked("COLL_TRACE"), asked("COLL_TRACE_CALLS"), asked("COLL_TRACE_EVERY"),
                   &error))
        return false;
    settings.ppn = (uint32_t)number;
    settings.top = strcmp(top, "1") == 0;
    settings.tells = settings.top || settings.deadline > 0;
    settings.one_sum = strcmp(one_sum, "1") == 0;
    settings.verbose = strcmp(verbose, "1") == 0;
    settings.shm = strcmp(shm, "0") != 0;
    settings.zero_copy = strcmp(zero_copy, "1") == 0;
    settings.near = *near ? strcmp(near, "1") == 0 : UNASKED;
    if (strcmp(huge, "0") != 0 && coll_huge_is_possible())
        settings.pages = &pages;
    return true;
}

static uint64_t mixed(uint64_t sum, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const unsigned char *)data)[i]) * 0x100000001B3u;
    return sum;
}

/* A number for all that was asked for, which differs where that does. */
static uint64_t digest(void)
{
    uint64_t sum = mixed(0xCBF29CE484222325u, &settings.off, sizeof settings.off);
    sum = mixed(sum, &settings.ppn, sizeof settings.ppn);
    sum = mixed(sum, &settings.shm, sizeof settings.shm);
    sum = mixed(sum, &settings.near, sizeof settings.near);
    sum = mixed(sum, &settings.zero_copy, sizeof settings.zero_copy);
    sum = mixed(sum, &settings.deadline, sizeof settings.deadline);
    sum = mixed(sum, &settings.top, sizeof settings.top);
    sum = mixed(sum, &settings.one_sum, sizeof settings.one_sum);
    sum = mixed(sum, asked("COLL_TRACE"), strlen(asked("COLL_TRACE")));
    sum = mixed(sum, asked("COLL_TRACE_EVERY"), strlen(asked("COLL_TRACE_EVERY")));
    for (const coll_rule_list *list = settings.rules; list; list = list->next)
        for (size_t i = 0; i < list->n; i++) {
            char line[1024];
            coll_rule_text(&list->rules[i], line, sizeof line);
            sum = mixed(sum, line, strlen(line));
        }
    return sum >> 1;
}

/* Do all ranks understand, and are they asked for the same? If not, one of them says so, and
 * all of them end. */
static void agree(bool understood)
{
    int64_t mine[3], least[3];
    int rank, p;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p);
    mine[0] = understood ? (int64_t)digest() : 0;
    mine[1] = -mine[0];
    mine[2] = understood ? p : rank;
    PMPI_Allreduce(mine, least, 3, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[2] == p && least[0] == -least[1])
        return;
    if (least[2] == rank)
        fprintf(stderr, "coll: %s\n", error.text);
    else if (least[2] == p && rank == 0)
        fprintf(stderr,
                "coll: the ranks were started with different settings in COLL_ALGORITHM, "
                "COLL_TABLE, COLL_OFF, COLL_PPN, COLL_SHM, COLL_NEAR, COLL_ZERO_COPY, "
                "COLL_DEADLINE, COLL_TOP, COLL_ONE_SUM or COLL_TRACE\n");
    PMPI_Finalize();
    exit(2);
}

/* Words of before are read, and told once. */
static void tell_old_words(void)
{
    coll_sentence old;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (coll_old_words_text(forced.old | table.old, &old) && rank == 0)
        fprintf(stderr, "coll: %s\n", old.text);
}

void control_init(void)
{
    agree(read_words() && read_rules());
    tell_old_words();
}

void control_end(void)
{
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}

/* ---- for plans, and the report ----------------------------------------------------------- */

static bool is_of(const coll_rule_list *list, const coll_rule *rule)
{
    return rule >= list->rules && rule < list->rules + list->n;
}

bool control_asked_for(const coll_rule *rule)
{
    return is_of(&forced.list, rule) || is_of(&table.list, rule);
}

coll_status control_passed_over(const coll_problem *problem, const coll_conditions *conditions,
                                coll_workspace *workspace, const coll_rule *taken)
{
    const coll_rule_list *asked_for[2] = {&forced.list, &table.list};
    coll_status status = COLL_OK;
    for (int i = 0; i < 2 && status == COLL_OK; i++) {
        const coll_rule_list alone = {asked_for[i]->rules, asked_for[i]->n, NULL};
        coll_plan plan;
        if (is_of(&alone, taken))
            return COLL_OK;
        if (alone.n > 0)
            status = coll_select_from(&alone, problem, conditions, workspace, &plan, NULL);
        if (status == COLL_ERR_COLLECTIVE)
            status = COLL_OK; /* nothing was asked for here */
    }
    return status;
}
