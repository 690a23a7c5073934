/* bench/clusters.h — for clusters.c: the machines, what a choice takes there, and which choices there are */
#ifndef COLL_BENCH_CLUSTERS_H
#define COLL_BENCH_CLUSTERS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "coll/lab/sim.h"
#include "coll/lab/sim/machine.h"
#include "coll/select/inter_node.h"
#include "coll/select/table_write.h"

#include "cluster_machines.h"

enum {
    UNIT = 8,
    CLASSES = 6, /* of ranks a node */
    GROUPS = 6,  /* of ranks: from 4, 8, 16 … on */
    SIZES = 10,  /* 8, 32, 128 … bytes */
    SAMPLES = 2,
    CHOICES = 64, /* of a collective */
    RANKS_MOST = 640
};

static const double losses_most[] = {.05, .09, .15, .2}; /* in turn … */
static const double share_least[] = {.04, .03, .02,
                                     0}; /* … for boxes of so many of the cells */
static const double prune = 1.25;
static const double vector_most = 16 << 20; /* bytes of all blocks */

/* ---- clusters -------------------------------------------------------------------------------- */

/* A machine, and the ranks a node that stand for classes of them. */
typedef struct cluster {
    const struct cluster_machine *machine;
    uint32_t ppn[CLASSES][SAMPLES];
    uint32_t ppn_least[CLASSES], ppn_most; /* of each class; of problems that are checked */
} cluster;

#define FEW_RANKS                                                                              \
    {{1, 1}, {2, 3}, {4, 7}, {8, 13}, {16, 23}, {32, 41}}, {1, 2, 4, 8, 16, 28}, 48
#define MANY_RANKS                                                                             \
    {{2, 3}, {7, 8}, {13, 16}, {32, 27}, {48, 41}, {64, 91}}, {1, 5, 10, 20, 36, 60}, 96
static const cluster clusters[CLUSTERS] = {{&cluster_machines[0], FEW_RANKS},
                                           {&cluster_machines[1], FEW_RANKS},
                                           {&cluster_machines[2], FEW_RANKS},
                                           {&cluster_machines[3], MANY_RANKS}};

static uint32_t group_least(uint32_t group)
{
    return 4u << group;
}

/* Ranks of a sample, of at->ppn[n][which] a node; 0: there is none. */
static uint32_t sample_of(const cluster *at, uint32_t n, uint32_t group, uint32_t which)
{
    const uint32_t wanted = which ? group_least(group) * 45 / 32 : group_least(group);
    const uint32_t ppn = at->ppn[n][which], least = 2 * ppn;
    const uint32_t p = wanted < least ? least : wanted / ppn * ppn;
    return p >= group_least(group) && p < 2 * group_least(group)               ? p
           : p + ppn >= group_least(group) && p + ppn < 2 * group_least(group) ? p + ppn
                                                                               : 0;
}

static size_t bytes_of(uint32_t size)
{
    return (size_t)UNIT << 2 * size; /* 8 bytes … 2 MiB */
}

static bool in_blocks(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLGATHER) |
                       COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                   c);
}

static bool fits(coll_collective c, uint32_t p, size_t bytes)
{
    return (double)bytes * (in_blocks(c) ? p : 1) <= vector_most;
}

/* ---- one simulation ---------------------------------------------------------------------------- */

typedef struct choice {
    const coll_algorithm *algorithm;
    uint32_t param[COLL_PARAM_MAX]; /* sizes in bytes; COLL_DEFAULT */
    size_t index;                   /* in the registry */
} choice;

static coll_sim sim;
static coll_plan plans[RANKS_MOST];
static coll_workspace workspaces[RANKS_MOST];
static size_t *tables;

static void problem_of(coll_problem *problem, coll_collective c, uint32_t p, uint32_t ppn,
                       size_t bytes)
{
    coll_problem_init(problem, c, p, c == COLL_BARRIER ? 0 : bytes / UNIT, UNIT);
    problem->flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem->nodes, p, ppn);
}

/* Microseconds of the plans, or HUGE_VAL if it is more than `most`. */
static double us_of_plans(const cluster *at, const coll_problem *problem, bool per_rank,
                          double most)
{
    static coll_sim_machine machine;
    coll_sim_options options;
    coll_topology nics;
    coll_sentence why;
    coll_status status;
    coll_sim_machine_init(&machine, &problem->nodes, problem->p);
    if (!coll_sim_machine_read(&machine, at->machine->model, &why) ||
        !coll_sim_machine_share(&machine, at->machine->memory, &why)) {
        fprintf(stderr, "clusters: %s\n", why.text);
        exit(1);
    }
    coll_topology_nics(&nics, &problem->nodes, problem->p);
    nics.cost.message = coll_time_of(at->machine->message_us * 1e6);
    nics.cost.byte_ps = at->machine->byte_ns * 1000;
    coll_sim_options_init(&options, &machine.model);
    options.topology = &nics;
    if (most < 1e12)
        options.most = coll_time_of(most * 1e6);
    status = coll_sim_run(&sim, plans, per_rank, &options);
    return status == COLL_OK ? coll_time_us(sim.makespan) : HUGE_VAL;
}

/* By a list of rules; *found: which one. Without memory that ranks share. */
static double us_of_rules(const cluster *at, const coll_problem *problem,
                          const coll_rule_list *rules, const coll_rule **found)
{
    const coll_conditions conditions = {COLL_NEEDS_PACKED, COLL_GIVES_IDENTICAL};
    const size_t room = coll_workspace_tables(problem);
    double us;
    tables = (size_t *)malloc(problem->p * room * sizeof *tables);
    for (uint32_t rank = 0; rank < problem->p; rank++) {
        coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        if (coll_select_from(rules, problem, &conditions, &workspaces[rank], &plans[rank],
                             found) != COLL_OK)
            exit(1);
    }
    us = us_of_plans(at, problem, true, HUGE_VAL);
    free(tables);
    return us;
}

static void rule_of(coll_rule *rule, const choice *one, coll_collective c)
{
    memset(rule, 0, sizeof *rule);
    rule->collectives = COLL_BIT(c);
    rule->p_least = 1;
    rule->p_most = COLL_ANY_P;
    rule->bytes_most = SIZE_MAX;
    rule->algorithm = one->algorithm;
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        rule->param[i] = one->param[i];
        if (i < one->algorithm->n_params && one->param[i] != COLL_DEFAULT &&
            coll_param_is_size(&one->algorithm->params[i]))
            rule->in_bytes |= 1u << i;
    }
    rule->why = "";
}

static double us_of(const cluster *at, const coll_problem *problem, const choice *one,
                    double most)
{
    const bool built = (one->algorithm->traits & COLL_NEEDS_BUILD) != 0;
    coll_rule rule;
    coll_rule_list list = {&rule, 1, NULL};
    const coll_conditions conditions = {COLL_NEEDS_PACKED, COLL_GIVES_IDENTICAL};
    const size_t room = built ? coll_workspace_tables(problem) : 0;
    coll_status status = COLL_OK;
    double us = HUGE_VAL;
    rule_of(&rule, one, problem->collective);
    if (built)
        tables = (size_t *)malloc(problem->p * room * sizeof *tables);
    for (uint32_t rank = 0; status == COLL_OK && rank < (built ? problem->p : 1); rank++) {
        if (built)
            coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        status = coll_select_from(&list, problem, &conditions, built ? &workspaces[rank] : NULL,
                                  &plans[rank], NULL);
    }
    if (status == COLL_OK)
        us = us_of_plans(at, problem, built, most);
    if (built)
        free(tables);
    return us;
}

/* ---- choices ------------------------------------------------------------------------------------- */

static choice choices[CHOICES];
static uint32_t n_choices;

static void vary(choice *one, uint32_t k)
{
    static const uint32_t sizes[] = {COLL_DEFAULT, 8192, 65536}, few[] = {COLL_DEFAULT, 4, 8},
                          leaders[] = {COLL_DEFAULT, 8, 16}, chains[] = {COLL_DEFAULT, 1};
    const coll_algorithm *algorithm = one->algorithm;
    const uint32_t *values = few;
    uint32_t n = 1;
    if (k == algorithm->n_params) {
        if (n_choices == CHOICES) {
            fprintf(stderr, "clusters: more than %d choices\n", CHOICES);
            exit(1);
        }
        choices[n_choices++] = *one;
        return;
    }
    if (coll_param_is_size(&algorithm->params[k])) {
        values = sizes;
        n = 3;
    } else if (strcmp(algorithm->params[k].name, "k") == 0 ||
               strcmp(algorithm->params[k].name, "f") == 0) {
        n = strcmp(algorithm->name, "kary") == 0 ? 1 : 3;
    } else if (strcmp(algorithm->params[k].name, "leaders") == 0) {
        values = leaders;
        n = 3;
    } else if (strcmp(algorithm->params[k].name, "chains") == 0) {
        values = chains;
        n = 2;
    }
    for (uint32_t i = 0; i < n; i++) {
        one->param[k] =
            values[i] == algorithm->params[k].default_value ? COLL_DEFAULT : values[i];
        if (i > 0 && one->param[k] == COLL_DEFAULT)
            one->param[k] = 2; /* which is not the default one either */
        vary(one, k + 1);
    }
    one->param[k] = COLL_DEFAULT;
}

static void find_choices(coll_collective c)
{
    const unsigned needs = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST |
                           COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_NETWORK_BARRIER |
                           COLL_NEEDS_FULL_ROWS | COLL_NEEDS_ROUTE;
    n_choices = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        choice one;
        one.algorithm = coll_registry[i];
        one.index = i;
        if (!coll_is(one.algorithm->collectives, c) || (one.algorithm->traits & needs) ||
            (c == COLL_ALLREDUCE && !(one.algorithm->traits & COLL_GIVES_IDENTICAL)))
            continue;
        for (uint32_t k = 0; k < COLL_PARAM_MAX; k++)
            one.param[k] = COLL_DEFAULT;
        vary(&one, 0);
    }
}

/* Is it worth while with vectors of so many bytes? */
static bool has_sense(const choice *one, size_t bytes)
{
    for (uint32_t k = 0; k < one->algorithm->n_params; k++)
        if (coll_param_is_size(&one->algorithm->params[k]) && one->param[k] != COLL_DEFAULT &&
            one->param[k] >= bytes)
            return false;
    return true;
}

/* Times of all choices, or of those that are wanted, HUGE_VAL where it is much more than the best; `first` is tried first. */
static uint32_t simulate(const cluster *at, const coll_problem *problem, uint32_t first,
                         const bool *wanted, double *us)
{
    const size_t bytes = coll_problem_bytes(problem);
    uint32_t best = n_choices;
    for (uint32_t i = 0; i <= n_choices; i++) {
        const uint32_t k = i == 0 ? first : i - 1;
        if (i > 0 && k == first)
            continue;
        if (k >= n_choices)
            continue;
        us[k] = HUGE_VAL;
        if ((wanted && !wanted[k]) || !has_sense(&choices[k], bytes))
            continue;
        us[k] = us_of(at, problem, &choices[k], best < n_choices ? us[best] * prune : HUGE_VAL);
        if (us[k] < HUGE_VAL && (best == n_choices || us[k] < us[best]))
            best = k;
    }
    return best;
}

#endif /* COLL_BENCH_CLUSTERS_H */
