/* tools/select.c — coll select: which algorithm and parameters the rules choose, and why; or the
 * rules themselves, as a table that can be read back, or one of another library */
#include <stdio.h>
#include <stdlib.h>

#include "coll/lab/tables.h"
#include "coll/select/clusters.h"
#include "coll/select/inter_node.h"
#include "coll/table.h"
#include "commands.h"
#include "memory.h"
#include "names.h"
#include "nodes.h"
#include "options.h"
#include "output.h"

enum { RULES_MOST = 4096, TABLE_RANKS_MOST = 1 << 24 };

struct asked {
    const char *collective, *capabilities;
    struct nodes_words nodes;
    uint64_t p, bytes, root;
    bool non_commutative, in_place, identical;
};

/* ---- rules ------------------------------------------------------------------------------- */

static void print_rules(const char *title, const coll_rule_list *list, uint32_t collectives)
{
    char text[COLL_RULE_TEXT];
    printf("# %s\n", title);
    for (size_t i = 0; i < list->n; i++)
        if (list->rules[i].collectives & collectives) {
            coll_rule_text(&list->rules[i], text, sizeof text);
            puts(text);
        }
}

/* ---- clusters ---------------------------------------------------------------------------- */

/* The rules for several nodes: of a cluster, or of none. */
static const coll_rule_list *rules_of_cluster(const char *name)
{
    static const char *const names[] = {"ethernet", "roce", "infiniband", "crowded"};
    static const coll_rule_list *const lists[] = {&coll_cluster_ethernet, &coll_cluster_roce,
                                                  &coll_cluster_infiniband,
                                                  &coll_cluster_crowded};
    return name ? lists[name_index("cluster", name, names, 4)] : &coll_rules_of_nodes;
}

/* ---- tables of other libraries ----------------------------------------------------------- */

static const struct foreign {
    const char *name;
    coll_export_result (*write)(coll_table_job *job);
} foreigns[] = {
    {"mpich_json", coll_write_mpich_json},     {"openmpi_rules", coll_write_openmpi_rules},
    {"openmpi_json", coll_write_openmpi_json}, {"ucc_scores", coll_write_ucc_scores},
    {"nccl_csv", coll_write_nccl_csv},
};
enum { FOREIGNS = sizeof foreigns / sizeof foreigns[0] };

static void say(void *arg, const char *sentence)
{
    (void)arg;
    fprintf(stderr, "coll select: %s\n", sentence);
}

/* Writes the rules of the lists in a format; only those of one collective, if it is given. */
static int write_foreign(const coll_rule_list *lists, const char *format, uint32_t collectives,
                         const char *path, const char *protocol, uint32_t p, bool in_order)
{
    static coll_table_job job;
    static const char *const protocols[] = {"simple", "ll", "ll128"};
    const char *names[FOREIGNS];
    coll_export_result result;
    struct output file;
    size_t k;
    for (size_t i = 0; i < FOREIGNS; i++)
        names[i] = foreigns[i].name;
    k = name_index("format", format, names, FOREIGNS);
    if (protocol && foreigns[k].write != coll_write_nccl_csv)
        refuse("--protocol is for nccl_csv, not for %s", names[k]);
    if (in_order && foreigns[k].write != coll_write_openmpi_rules &&
        foreigns[k].write != coll_write_openmpi_json)
        refuse("--non-commutative is for openmpi_rules and openmpi_json: %s %s", names[k],
               foreigns[k].write == coll_write_mpich_json ? "tells operators apart by itself"
                                                          : "has no such operators");
    output_open(&file, path);
    coll_table_job_init(&job, lists, file.file);
    job.collectives = collectives;
    job.p_most = p;
    job.in_order = in_order;
    job.note = say;
    if (protocol)
        job.protocol = protocols[name_index("protocol", protocol, protocols, 3)];
    result = foreigns[k].write(&job);
    if (result == COLL_EXPORT_REFUSED)
        refuse("%s", job.sentence);
    return output_close(&file) ? 0 : 1;
}

/* ---- the problem ------------------------------------------------------------------------- */

/* Bytes that all ranks know of a problem, one for each element. */
static void size_problem(const struct asked *asked, coll_problem *problem, size_t **tables)
{
    const coll_collective c = problem->collective;
    const uint32_t unknown = COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) | COLL_PAIRED |
                             COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) |
                             COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                             COLL_BIT(COLL_NEIGHBOR_ALLTOALLW);
    const bool given = asked->bytes != UINT64_MAX;
    if (coll_is(unknown, c) && given)
        refuse("not all ranks know the sizes of %s, so --bytes has no meaning",
               coll_collective_name(c));
    if (c == COLL_BARRIER && given)
        refuse("barrier moves no elements, so it has no bytes");
    if (!coll_is(unknown, c) && c != COLL_BARRIER && !given)
        refuse("--bytes N, of the vector or of a block, is missing");
    problem->count = given ? (size_t)asked->bytes : 0;
    if (c != COLL_ALLGATHERV && c != COLL_REDUCE_SCATTER)
        return;
    if (problem->p > TABLE_RANKS_MOST || problem->count > SIZE_MAX / 4 / problem->p)
        refuse("the tables of %s are made for at most %d ranks, and smaller blocks",
               coll_collective_name(c), TABLE_RANKS_MOST);
    *tables = memory_of(problem->p, 2 * sizeof **tables);
    for (uint32_t i = 0; i < problem->p; i++) {
        (*tables)[i] = problem->count;
        (*tables)[problem->p + i] = problem->count * i;
    }
    if (c == COLL_ALLGATHERV) {
        problem->out.counts = *tables;
        problem->out.displs = *tables + problem->p;
    } else {
        problem->in.counts = *tables;
        problem->in.displs = *tables + problem->p;
    }
}

static void make_problem(const struct asked *asked, coll_problem *problem)
{
    const coll_collective c = collective_named(asked->collective);
    const char *name = coll_collective_name(c);
    if (asked->p == UINT64_MAX)
        refuse("-p P, the number of ranks, is missing");
    if (asked->root != UINT64_MAX && !coll_is(COLL_ROOTED, c))
        refuse("%s has no root", name);
    if (asked->root != UINT64_MAX && asked->root >= asked->p)
        refuse("the root is a rank from 0 to %u, not %u", (unsigned)asked->p - 1,
               (unsigned)asked->root);
    if (asked->non_commutative && !coll_is(COLL_REDUCING, c))
        refuse("%s has no operator", name);
    if (asked->in_place && (c == COLL_BARRIER || coll_is(COLL_NEIGHBORLY, c)))
        refuse("%s cannot be in place", name);
    if (asked->identical && c != COLL_ALLREDUCE)
        refuse("%s gives no two ranks the same sum, so --identical has no meaning", name);
    coll_problem_init(problem, c, (uint32_t)asked->p, 0, 1);
    problem->root = asked->root == UINT64_MAX ? 0 : (uint32_t)asked->root;
    if (coll_is(COLL_REDUCING, c) && !asked->non_commutative)
        problem->flags |= COLL_FLAG_COMMUTATIVE;
    if (asked->in_place)
        problem->flags |= COLL_FLAG_IN_PLACE;
}

static unsigned read_offers(const char *words)
{
    static const char *const names[] = {"shared", "multicast", "network_reduce",
                                        "network_barrier"};
    static const unsigned needs[] = {COLL_NEEDS_SHARED, COLL_NEEDS_MULTICAST,
                                     COLL_NEEDS_NETWORK_REDUCE, COLL_NEEDS_NETWORK_BARRIER};
    unsigned capabilities = 0;
    while (words) {
        const size_t length = strcspn(words, ",");
        char word[64];
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 63, words);
        capabilities |= needs[name_index("capability", word, names, 4)];
        words = words[length] ? words + length + 1 : NULL;
    }
    return capabilities;
}

/* ---- the choice -------------------------------------------------------------------------- */

static void print_problem(const coll_problem *problem, size_t bytes)
{
    char number[24];
    printf("%s", coll_collective_name(problem->collective));
    if (bytes > 0)
        printf(" of %s bytes", coll_number_text(bytes, number));
    printf(" on %u rank%s", problem->p, problem->p == 1 ? "" : "s");
    if (problem->nodes.count > 0)
        printf(" of %u node%s", problem->nodes.count, problem->nodes.count == 1 ? "" : "s");
    if (coll_is(COLL_REDUCING, problem->collective) &&
        !(problem->flags & COLL_FLAG_COMMUTATIVE))
        printf(", operands in rank order");
    if (problem->flags & COLL_FLAG_IN_PLACE)
        printf(", in place");
}

/* Prints the rules that come before the chosen one and are for such problems, and what is against
 * them. */
static void print_passed(const coll_rule_list *lists, const coll_problem *problem,
                         const coll_conditions *conditions, coll_workspace *workspace,
                         const coll_rule *chosen)
{
    const size_t bytes = coll_problem_bytes(problem);
    for (; lists; lists = lists->next)
        for (size_t i = 0; i < lists->n; i++) {
            const coll_rule *rule = &lists->rules[i];
            const coll_rule_list one = {rule, 1, NULL};
            char text[COLL_RULE_TEXT];
            coll_plan plan;
            if (rule == chosen)
                return;
            if (!coll_i_rule_covers(rule, problem, bytes))
                continue;
            coll_rule_text(rule, text, sizeof text);
            printf("not      %s\n         %s\n", text,
                   coll_status_text(
                       coll_select_from(&one, problem, conditions, workspace, &plan, NULL)));
        }
}

static void choose(const coll_rule_list *lists, const struct asked *asked)
{
    static struct nodes_memory nodes;
    coll_workspace *workspace;
    void *memory;
    const uint32_t around[] = {(uint32_t)asked->p};
    char text[COLL_RULE_TEXT];
    coll_conditions conditions;
    coll_problem problem;
    coll_graph graph;
    coll_plan plan;
    coll_status status;
    const coll_rule *rule;
    size_t *tables = NULL;
    make_problem(asked, &problem);
    nodes_place(&problem, &asked->nodes, &nodes);
    size_problem(asked, &problem, &tables);
    conditions.capabilities = read_offers(asked->capabilities);
    if (problem.collective == COLL_REDUCE_SCATTER) /* a call of it has no displacements */
        conditions.capabilities |= COLL_NEEDS_PACKED;
    conditions.requirements = asked->identical ? (unsigned)COLL_GIVES_IDENTICAL : 0;
    if (coll_is(COLL_NEIGHBORLY, problem.collective)) {
        (void)coll_graph_mesh(&graph, 1, around, 1);
        problem.graph = &graph;
    }
    memory = memory_of(1, coll_workspace_bytes(&problem));
    workspace = coll_workspace_in(memory, &problem, 0);
    status = coll_select_from(lists, &problem, &conditions, workspace, &plan, &rule);
    if (status != COLL_OK)
        refuse("%s is impossible: %s", coll_collective_name(problem.collective),
               coll_status_text(status));
    print_problem(&problem, coll_problem_bytes(&problem));
    printf(": %s", rule->algorithm->name);
    for (uint32_t i = 0; i < rule->algorithm->n_params; i++)
        printf(" %s=%u", rule->algorithm->params[i].name, plan.param[i]);
    coll_rule_text(rule, text, sizeof text);
    printf("\nrule     %s\n", text);
    print_passed(lists, &problem, &conditions, workspace, rule);
    free(memory);
    free(tables);
    nodes_free(&nodes);
}

/* ---- the subcommand ---------------------------------------------------------------------- */

int select_main(int argc, char **argv)
{
    struct asked asked = {.p = UINT64_MAX, .bytes = UINT64_MAX, .root = UINT64_MAX};
    const char *choice = NULL, *file = NULL, *format = NULL, *path = NULL, *protocol = NULL,
               *cluster = NULL;
    bool print = false;
    int code = 0;
    const struct option options[] = {
        OPTIONAL("COLLECTIVE", "which collective; needed without --print", &asked.collective),
        NUMBER('p', "ranks", "P", "number of ranks", &asked.p, 1, UINT32_MAX),
        NUMBER('b', "bytes", "N", "bytes of the vector, or of a block", &asked.bytes, 0,
               SIZE_MAX / 4),
        NUMBER('r', "root", "R", "root of a rooted collective (0)", &asked.root, 0, UINT32_MAX),
        FLAG("non-commutative", "operands must stay in rank order", &asked.non_commutative),
        FLAG("in-place", "the input is in OUT", &asked.in_place),
        FLAG("identical", "of an allreduce: on all ranks, of inexact operators too",
             &asked.identical),
        NODES_OPTIONS(asked.nodes),
        WORD("capabilities", "A,B,...",
             "of the transport: shared, multicast, network_reduce, network_barrier",
             &asked.capabilities),
        WORD("choice", "C;C;...", "choices before all rules: allreduce:fnomial:k=4", &choice),
        WORD("table", "FILE", "rules before the built-in ones, after the choices", &file),
        WORD("cluster", "NAME",
             "rules for several nodes of such a cluster: ethernet, roce, infiniband or crowded",
             &cluster),
        FLAG("print", "print the rules, as a table", &print),
        WORD("as", "FORMAT",
             "write the choices and the table (without both: the built-in rules) as "
             "mpich_json, openmpi_rules, openmpi_json, ucc_scores or nccl_csv; -p: numbers "
             "of ranks up to P (64) are told apart",
             &format),
        {OPTION_WORD, 'o', "output", "FILE", "--as: write this file", &path, 0, 0},
        WORD("protocol", "P", "nccl_csv: simple, ll or ll128 (simple)", &protocol),
    };
    const struct command command = {
        "select", "tell which algorithm the rules choose, and why",
        "The first rule that fits is taken. A rule is a line of a table:\n"
        "  allreduce,scan  p 4..8  bytes 4k..<1M  fnomial:k=4  # why\n"
        "Elements are bytes here, and neighbours a ring that has no route.",
        options, sizeof options / sizeof options[0]};
    const size_t bytes = COLL_TABLE_BYTES(RULES_MOST);
    coll_table chosen, table;
    coll_sentence old;
    void *memory[2];
    options_read(&command, argc, argv);
    if (!format && (path || protocol))
        refuse("--%s goes with --as alone", path ? "output" : "protocol");
    if (format && (print || asked.bytes != UINT64_MAX || asked.root != UINT64_MAX ||
                   asked.in_place || asked.identical || asked.nodes.nodes ||
                   asked.nodes.rails || asked.nodes.groups || asked.capabilities || cluster))
        refuse("--as goes with -p, --non-commutative, --choice, --table, --output and "
               "--protocol alone");
    if (format && asked.p != UINT64_MAX && (asked.p < 2 || asked.p > 4096))
        refuse("with --as, -p is a number of ranks from 2 to 4096, not %llu",
               (unsigned long long)asked.p);
    if (!print && !format && !asked.collective)
        refuse("COLLECTIVE is missing; coll select --help shows the usage");
    if (print && (asked.p != UINT64_MAX || asked.bytes != UINT64_MAX ||
                  asked.root != UINT64_MAX || asked.non_commutative || asked.in_place ||
                  asked.identical || asked.nodes.nodes || asked.capabilities))
        refuse("--print goes with --choice, --table and --cluster alone");
    memory[0] = memory_of(1, bytes);
    memory[1] = memory_of(1, bytes);
    coll_table_init(&chosen, memory[0], bytes);
    coll_table_init(&table, memory[1], bytes);
    if (!coll_table_choose(&chosen, "--choice", choice))
        refuse("%s", chosen.error.text);
    if (file && !coll_table_load(&table, file))
        refuse("%s", table.error.text);
    if (coll_old_words_text(chosen.old | table.old, &old))
        fprintf(stderr, "coll select: %s\n", old.text);
    chosen.list.next = &table.list;
    table.list.next = rules_of_cluster(cluster);
    if (format) {
        const bool given = chosen.list.n + table.list.n > 0;
        table.list.next = NULL;
        code = write_foreign(
            given ? &chosen.list : &coll_rules_built_in, format,
            asked.collective ? COLL_BIT(collective_named(asked.collective)) : UINT32_MAX, path,
            protocol, asked.p == UINT64_MAX ? 64 : (uint32_t)asked.p, asked.non_commutative);
    } else if (print) {
        const uint32_t collectives =
            asked.collective ? COLL_BIT(collective_named(asked.collective)) : UINT32_MAX;
        if (choice)
            print_rules("--choice", &chosen.list, collectives);
        if (file)
            print_rules(file, &table.list, collectives);
        print_rules("rules of several nodes", rules_of_cluster(cluster), collectives);
        print_rules("built-in rules", &coll_rules_built_in, collectives);
    } else {
        choose(&chosen.list, &asked);
    }
    free(memory[0]);
    free(memory[1]);
    return code;
}
