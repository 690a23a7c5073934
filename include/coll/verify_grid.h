/* coll/verify_grid.h — proves algorithms for whole ranges of ranks, roots, counts, layouts and
 * parameters
 *
 *   coll_grid_options options;
 *   coll_grid_result result;
 *   coll_grid_options_init(&options, coll_registry, COLL_REGISTRY_COUNT);
 *   options.workers = 2;
 *   if (!coll_verify_grid(&options, &result))
 *       printf("%s\n%s\n", result.failure.report.sentence, result.failure.reproduction);
 *
 * A row is an algorithm and a collective that it solves. For each row and each p, the grid has
 *   parameters   all combinations of the values that the algorithm's table gives
 *   counts       0, 1, p−1, p, p+1, 2p+3; where blocks may differ, layouts (COLL_GRID_LAYOUT_LIST)
 *   graphs       of neighbour collectives (COLL_GRID_GRAPH_LIST), with counts 1, 3, 0 or layouts
 *   nodes        all ranks on one, and, where the algorithm uses nodes, uneven ones and those of 1,
 *                2, 4 ranks; for larger p one of these three
 *   groups       a few, that have other ranks between theirs and in any order; where the algorithm
 *                computes on them, machines with every choice of ranks missing, for small p, and
 *                machines that are to be refused (verify/outside.h)
 *   places       where it uses nodes: ranks that are dealt out to nodes in turn or at random
 *   in place     and not; commutative and not, unless the algorithm needs one of them and then
 *   the other must be refused
 *   roots        all for p ≤ all_roots, beyond that the first, the last and one at random
 * and beyond that range a few larger p, with parameters, counts, roots and flags at random, as
 * far as a budget of steps and elements allows. Failures are found in the same order whatever
 * the number of workers.
 *
 * Hosted: POSIX threads; allocates.
 */
#ifndef COLL_VERIFY_GRID_H
#define COLL_VERIFY_GRID_H

#include "verify/outside.h"

#include <pthread.h>

/* What has been proven of an algorithm for a collective. */
typedef struct coll_grid_row {
    const coll_algorithm *algorithm;
    coll_collective collective;
    uint64_t plans, refused; /* proven; refused by coll_plan_build, as they may be */
    uint64_t actions;        /* of the proven plans */
    uint32_t p_most;         /* the most ranks of a proven plan */
    uint32_t window;         /* the least window that suffices for all of them */
    coll_report report;      /* of the first plan that failed; else ok */
    coll_grid_case failed;   /* … which is this one, */
    char reproduction[256];  /* in words */
} coll_grid_row;

typedef struct coll_grid_result {
    bool ok;
    size_t rows, failed_rows;
    uint64_t plans, refused, actions;
    coll_grid_row failure; /* the first row that failed */
} coll_grid_result;

typedef struct coll_grid_progress {
    size_t done, units;       /* units of work: a row and a p */
    uint64_t plans;           /* proven so far */
    const coll_grid_row *row; /* of the unit that was done last */
    uint32_t p;
} coll_grid_progress;

typedef struct coll_grid_options {
    const coll_algorithm *const *algorithms;
    size_t n_algorithms;
    uint32_t collectives; /* mask of COLL_BIT */
    uint32_t p_least, p_most;
    uint32_t all_roots;       /* all roots up to this p */
    uint32_t random;          /* larger p for each row … */
    uint32_t random_most;     /* … up to this one */
    uint64_t steps, elements; /* the most of one of these; a smaller p is taken to keep it */
    uint64_t seed;
    const coll_use *uses; /* by algorithms that are made of others; none: the usual ones */
    uint32_t n_uses;
    uint32_t workers; /* threads, this one included */
    /* Called one at a time, from any worker; may be NULL. `row`: a row is finished. */
    void (*progress)(void *arg, const coll_grid_progress *progress);
    void (*row)(void *arg, const coll_grid_row *row);
    void *arg;
} coll_grid_options;

/* The everyday run: all collectives, p ≤ 64, all roots up to 24, three larger p up to 4096, one
 * worker. For the exhaustive one set all_roots = UINT32_MAX. */
COLL_INLINE void coll_grid_options_init(coll_grid_options *options,
                                        const coll_algorithm *const *algorithms, size_t n)
{
    memset(options, 0, sizeof *options);
    options->algorithms = algorithms;
    options->n_algorithms = n;
    options->collectives = (uint32_t)COLL_BIT(COLL_COLLECTIVES) - 1;
    options->p_least = 1;
    options->p_most = 64;
    options->all_roots = 24;
    options->random = 3;
    options->random_most = 4096;
    options->steps = 300000;
    options->elements = 20000000;
    options->seed = 1;
    options->workers = 1;
}

/* ---- the axes of the grid ---------------------------------------------------------------- */

/* The values of a parameter to prove; how many. */
COLL_INLINE uint32_t coll_grid_values(const coll_param *param, uint32_t values[4])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 4 && (i == 0 || param->grid[i] != param->grid[0]); i++) {
        uint32_t value = param->grid[i] < param->least ? param->least : param->grid[i];
        bool known = false;
        value = value > param->most ? param->most : value;
        for (uint32_t k = 0; k < n; k++)
            known = known || values[k] == value;
        if (!known)
            values[n++] = value;
    }
    return n;
}

/* Sets the parameters to combination number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_params(coll_grid_case *of, uint32_t k)
{
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        uint32_t values[4], n;
        of->param[i] = 0;
        if (i >= of->algorithm->n_params)
            continue;
        n = coll_grid_values(&of->algorithm->params[i], values);
        of->param[i] = values[k % n];
        k /= n;
    }
    return k == 0;
}

COLL_INLINE bool coll_i_grid_has_layouts(coll_collective collective)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                       COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   collective);
}

/* Sets count number k, or layout; false if there are fewer. */
COLL_INLINE bool coll_i_grid_shape(coll_grid_case *of, uint32_t k)
{
    const size_t p = of->p;
    of->layout = COLL_GRID_PLAIN;
    of->root_only = false;
    if (coll_is(COLL_NEIGHBORLY, of->collective)) {
        const size_t counts[] = {1, 3, 0};
        const uint32_t graphs = COLL_GRID_GRAPHS - 1, n = k / graphs;
        const bool v = coll_i_grid_has_layouts(of->collective);
        of->graph = (coll_grid_graph)(1 + k % graphs);
        of->layout = v ? (coll_grid_layout)(1 + n) : COLL_GRID_PLAIN;
        of->count = v ? p + 1 : n < 3 ? counts[n] : 0;
        return n < (v ? COLL_GRID_LAYOUTS - 1 : 3u);
    }
    if (of->collective == COLL_BARRIER) {
        of->count = 0;
        return k == 0;
    }
    if (coll_i_grid_has_layouts(of->collective)) {
        const uint32_t layouts = COLL_GRID_LAYOUTS - 1;
        const bool rooted = coll_is(COLL_ROOTED, of->collective);
        of->layout = (coll_grid_layout)(1 + k % layouts);
        of->count = p + 1;
        of->root_only = k >= layouts;
        return k < layouts ||
               (rooted && k < 2 * layouts && !(of->algorithm->traits & COLL_NEEDS_COUNTS));
    }
    {
        const size_t counts[] = {0, 1, p - 1, p, p + 1, 2 * p + 3};
        const uint32_t skipped = p == 1 ? 2 : p == 2 ? 1 : 0; /* twice in the list */
        k += k >= 2 - (p == 1) ? skipped : 0;
        if (k >= sizeof counts / sizeof counts[0])
            return false;
        of->count = counts[k];
        return true;
    }
}

/* All kinds of nodes up to this p; beyond, three of them. */
enum { COLL_I_GRID_ALL_NODES = 20 };

/* Sets nodes number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_on_nodes(coll_grid_case *of, uint32_t k)
{
    static const uint32_t nodes[] = {0, 1, COLL_GRID_NODES_UNEVEN, 4, 2};
    const uint32_t n = !(of->algorithm->traits & COLL_USES_NODES) || of->p == 1 ? 1
                       : of->p == 2                                             ? 2
                       : of->p <= COLL_I_GRID_ALL_NODES                         ? 5
                                                                                : 3;
    of->nodes = nodes[k < n ? k : 0];
    if (n == 3 && k == 1) /* one of those with even ones */
        of->nodes = nodes[of->p % 3 == 0 ? 1 : of->p % 3 + 2];
    return k < n;
}

/* Sets flags number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_flags(coll_grid_case *of, uint32_t k)
{
    const bool reduces = coll_is(COLL_REDUCING, of->collective);
    const uint32_t traits = of->algorithm->traits;
    const uint32_t places = coll_is(COLL_BIT(COLL_BARRIER) | COLL_NEIGHBORLY, of->collective) ||
                                    (traits & COLL_NEEDS_OUT_OF_PLACE)
                                ? 1
                                : 2;
    const uint32_t orders = !reduces || (traits & COLL_NEEDS_COMMUTATIVE) ? 1 : 2;
    of->flags = (k % places ? COLL_IN_PLACE : 0) |
                (reduces && k / places % orders == 0 ? COLL_COMMUTATIVE : 0);
    return k < places * orders;
}

/* A number below n, at random. */
COLL_INLINE uint32_t coll_i_grid_random(coll_grid_worker *worker, uint32_t n)
{
    return coll_i_random_below(&worker->random, n);
}

/* Sets root number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_root(coll_grid_worker *worker, coll_grid_case *of, uint32_t k,
                                  uint32_t all_roots)
{
    const uint32_t p = of->p;
    of->root = 0;
    if (!coll_is(COLL_ROOTED, of->collective))
        return k == 0;
    if (p <= all_roots || p <= 3) {
        of->root = k;
        return k < p;
    }
    of->root = k == 0 ? 0 : k == 1 ? p - 1 : 1 + coll_i_grid_random(worker, p - 2);
    return k < 3;
}

/* ---- units: a row and a p ---------------------------------------------------------------- */

typedef struct coll_i_grid {
    const coll_grid_options *options;
    coll_grid_row *rows;
    size_t *left, *failed; /* by row: units to do; the unit that failed, or SIZE_MAX */
    size_t n_rows, units, next, done;
    uint64_t plans;
    pthread_mutex_t lock;
} coll_i_grid;

/* Proves a case and counts it. False: it failed. */
COLL_INLINE bool coll_i_grid_case(coll_grid_worker *worker, const coll_grid_case *of,
                                  coll_grid_row *row)
{
    coll_report *report = &row->report;
    const coll_status status = coll_grid_prove(worker, of, row->window, report);
    if (status == COLL_ERR_GROUP && coll_i_grid_machine(of->algorithm) < COLL_PARAM_MAX &&
        coll_i_grid_group_status(worker, of) == COLL_OK) {
        coll_i_found(report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,
                     "coll_plan_place says of this group, which fits: %s",
                     coll_status_text(status));
    } else if (status == COLL_ERR_MEMORY) {
        coll_i_no_memory(report);
    } else if (status != COLL_OK) {
        row->refused++;
        return true;
    }
    if (!report->ok) {
        row->failed = *of;
        coll_grid_case_words(of, row->reproduction, sizeof row->reproduction);
        return false;
    }
    row->plans++;
    row->actions += report->total.actions;
    row->window = report->window > row->window ? report->window : row->window;
    row->p_most = of->p > row->p_most ? of->p : row->p_most;
    return true;
}

/* What a trait forbids must be refused, with the right status. */
COLL_INLINE bool coll_i_grid_refusals(coll_grid_worker *worker, coll_grid_case *of,
                                      coll_grid_row *row)
{
    const uint32_t traits = of->algorithm->traits;
    const bool power = (of->p & (of->p - 1)) == 0;
    coll_status expected[3], status;
    uint32_t flags[3], n = 0;
    if ((traits & COLL_NEEDS_COMMUTATIVE) && coll_is(COLL_REDUCING, of->collective)) {
        flags[n] = 0;
        expected[n++] = COLL_ERR_ORDER;
    }
    if ((traits & COLL_NEEDS_OUT_OF_PLACE) || coll_is(COLL_NEIGHBORLY, of->collective)) {
        flags[n] = COLL_COMMUTATIVE | COLL_IN_PLACE;
        expected[n++] = COLL_ERR_IN_PLACE;
    }
    if ((traits & COLL_NEEDS_POWER_OF_TWO) && !power) {
        flags[n] = COLL_COMMUTATIVE;
        expected[n++] = COLL_ERR_SHAPE;
    }
    for (uint32_t i = 0; i < n; i++) {
        of->flags = flags[i];
        status = coll_i_grid_plans(worker, of);
        if (status == expected[i])
            continue;
        coll_i_found(&row->report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,
                     "coll_plan_build must refuse this with \"%s\" and says \"%s\"",
                     coll_status_text(expected[i]), coll_status_text(status));
        row->failed = *of;
        coll_grid_case_words(of, row->reproduction, sizeof row->reproduction);
        return false;
    }
    return true;
}

/* Sets parameters, count or layout, flags and root at random. */
COLL_INLINE void coll_i_grid_any(coll_grid_worker *worker, coll_grid_case *of)
{
    uint32_t k = 0;
    while (coll_i_grid_params(of, k + 1))
        k++;
    coll_i_grid_params(of, coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_shape(of, k + 1); k++)
        ;
    coll_i_grid_shape(of, coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_flags(of, k + 1); k++)
        ;
    coll_i_grid_flags(of, coll_i_grid_random(worker, k + 1));
    of->root = coll_is(COLL_ROOTED, of->collective) ? coll_i_grid_random(worker, of->p) : 0;
}

/* Groups and places of a row and a p. Where an algorithm computes on groups, and p is small: all of
 * them, with all parameters and flags and two counts or layouts. Else what there is beside each is at
 * random, and for larger p the group, too. */
COLL_INLINE bool coll_i_grid_outside(coll_grid_worker *worker, coll_grid_case *of,
                                     coll_grid_row *row)
{
    const bool computes = coll_i_grid_machine(of->algorithm) < COLL_PARAM_MAX;
    const uint32_t apart = of->p <= 2 * COLL_I_GRID_MACHINE ? 1 : computes ? 4 : 2;
    worker->skip = COLL_VERIFY_NO_PURITY;
    coll_i_grid_on_nodes(of, 0);
    of->root = 0;
    for (uint32_t params = 0; computes && apart == 1 && coll_i_grid_params(of, params);
         params++)
        for (uint32_t shape = 1; coll_i_grid_shape(of, shape) && shape <= 2; shape++)
            for (uint32_t flags = 0; coll_i_grid_flags(of, flags); flags++)
                for (uint32_t group = 0; coll_i_grid_group(worker, of, group); group++)
                    if (!coll_i_grid_case(worker, of, row))
                        return false;
    for (uint32_t group = of->p % apart; coll_i_grid_group(worker, of, group); group += apart) {
        coll_i_grid_any(worker, of);
        if (!computes)
            coll_i_grid_shape(of, of->collective == COLL_BARRIER ? 0 : 1);
        coll_i_grid_group(worker, of, group);
        if (!coll_i_grid_case(worker, of, row))
            return false;
    }
    coll_i_grid_group_set(of, COLL_GRID_NO_GROUP, 0, 0);
    coll_i_grid_any(worker, of);
    for (uint32_t params = 0; coll_i_grid_scatters(of) && coll_i_grid_params(of, params);
         params++)
        for (uint32_t places = apart == 1 ? 0 : params % 5;
             coll_i_grid_placing(worker, of, places); places += apart == 1 ? 1 : 5) {
            coll_i_grid_any(worker, of);
            coll_i_grid_params(of, params);
            if (!coll_i_grid_case(worker, of, row))
                return false;
        }
    of->places.kind = COLL_GRID_NO_PLACES;
    return true;
}

/* All cases of a row and a p. */
COLL_INLINE bool coll_i_grid_all(coll_grid_worker *worker, const coll_grid_options *options,
                                 uint32_t p, coll_grid_row *row)
{
    coll_grid_case of;
    memset(&of, 0, sizeof of);
    of.algorithm = row->algorithm;
    of.collective = row->collective;
    of.uses = options->uses;
    of.n_uses = options->n_uses;
    of.p = p;
    coll_i_grid_params(&of, 0);
    coll_i_grid_shape(&of, 0);
    if (!coll_i_grid_refusals(worker, &of, row))
        return false;
    for (uint32_t nodes = 0; coll_i_grid_on_nodes(&of, nodes); nodes++)
        for (uint32_t params = 0; coll_i_grid_params(&of, params); params++)
            for (uint32_t root = 0; coll_i_grid_root(worker, &of, root, options->all_roots);
                 root++) {
                worker->skip = root > 1 ? COLL_VERIFY_NO_PURITY : 0; /* seen with two roots */
                for (uint32_t shape = 0; coll_i_grid_shape(&of, shape); shape++)
                    for (uint32_t flags = 0; coll_i_grid_flags(&of, flags); flags++)
                        if (!coll_i_grid_case(worker, &of, row))
                            return false;
            }
    return coll_i_grid_outside(worker, &of, row);
}

/* Is the case within the budget? Its plans are made. */
COLL_INLINE bool coll_i_grid_affordable(const coll_grid_worker *worker,
                                        const coll_grid_case *of,
                                        const coll_grid_options *options)
{
    uint64_t steps = 0, elements = 0;
    for (uint32_t rank = 0; rank < of->p; rank++) {
        const coll_plan *plan =
            (const coll_plan *)worker->plans.at + (worker->per_rank ? rank : 0);
        const coll_extents extents = coll_plan_extents(plan, rank);
        const uint64_t own = coll_plan_steps(plan, rank);
        steps += own;
        if (of->collective == COLL_BARRIER) /* every rank must know of every other */
            steps += own * of->p / 64;
        elements += extents.in + extents.out + coll_plan_scratch(plan, rank);
        if (steps > options->steps || elements > options->elements)
            return false;
    }
    return true;
}

/* A case at random with many ranks: number 0 has as many as wanted, number 1 one less. */
COLL_INLINE bool coll_i_grid_large(coll_grid_worker *worker, const coll_grid_options *options,
                                   uint32_t number, coll_grid_row *row)
{
    const uint32_t most = options->random_most;
    uint32_t k = 0;
    coll_grid_case of;
    memset(&of, 0, sizeof of);
    of.algorithm = row->algorithm;
    of.collective = row->collective;
    of.uses = options->uses;
    of.n_uses = options->n_uses;
    of.p = number < 2
               ? most - number
               : options->p_most + 1 + coll_i_grid_random(worker, most - options->p_most);
    while (coll_i_grid_params(&of, k + 1))
        k++;
    coll_i_grid_params(&of, number == 0 ? 0 : coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_on_nodes(&of, k + 1); k++)
        ;
    coll_i_grid_on_nodes(&of, coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_flags(&of, k + 1); k++)
        ;
    coll_i_grid_flags(&of, coll_i_grid_random(worker, k + 1));
    for (; of.p > options->p_most; of.p -= (of.p + 3) / 4) {
        coll_status status;
        if (row->algorithm->traits & COLL_NEEDS_POWER_OF_TWO)
            of.p = coll_pow2_floor(of.p);
        if (coll_is(COLL_PAIRED, of.collective) &&
            (uint64_t)of.p * of.p * 4 > options->elements)
            continue;
        of.root = coll_is(COLL_ROOTED, of.collective) ? coll_i_grid_random(worker, of.p) : 0;
        if (coll_is(COLL_NEIGHBORLY, of.collective))
            coll_i_grid_shape(&of, coll_i_grid_random(worker, 2 * (COLL_GRID_GRAPHS - 1)));
        else if (coll_i_grid_has_layouts(of.collective))
            coll_i_grid_shape(&of, coll_i_grid_random(worker, 3));
        else
            of.count = of.collective == COLL_BARRIER ? 0
                       : number == 0                 ? 1
                                                     : 1 + coll_i_grid_random(worker, 2);
        coll_i_grid_outside_any(worker, &of);
        status = coll_i_grid_plans(worker, &of);
        if (status == COLL_OK && coll_i_grid_affordable(worker, &of, options))
            return coll_i_grid_case(worker, &of, row);
    }
    return true;
}

/* Does unit after unit, until none is left. */
COLL_INLINE void *coll_i_grid_work(void *arg)
{
    coll_i_grid *grid = (coll_i_grid *)arg;
    const coll_grid_options *options = grid->options;
    const size_t small = (options->p_most - options->p_least + (size_t)1) * grid->n_rows;
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    pthread_mutex_lock(&grid->lock);
    while (grid->next < grid->units) {
        const size_t unit = grid->next++, r = unit % grid->n_rows;
        coll_grid_row *row = &grid->rows[r], mine = *row;
        const uint32_t p =
            unit < small ? options->p_least + (uint32_t)(unit / grid->n_rows) : 0;
        bool held = true;
        if (unit < grid->failed[r]) {
            pthread_mutex_unlock(&grid->lock);
            mine.plans = mine.refused = mine.actions = 0;
            worker.random = options->seed * 0x2545f4914f6cdd1du + unit;
            worker.skip = 0;
            coll_verifier_forget(&worker.verifier);
            held = p > 0 ? coll_i_grid_all(&worker, options, p, &mine)
                         : coll_i_grid_large(&worker, options,
                                             (uint32_t)((unit - small) / grid->n_rows), &mine);
            pthread_mutex_lock(&grid->lock);
            row->plans += mine.plans;
            row->refused += mine.refused;
            row->actions += mine.actions;
            row->window = mine.window > row->window ? mine.window : row->window;
            row->p_most = mine.p_most > row->p_most ? mine.p_most : row->p_most;
            grid->plans += mine.plans;
        }
        if (!held && unit < grid->failed[r]) {
            grid->failed[r] = unit;
            row->report = mine.report;
            row->failed = mine.failed;
            memcpy(row->reproduction, mine.reproduction, sizeof row->reproduction);
        }
        grid->done++;
        if (options->progress) {
            coll_grid_progress progress;
            progress.done = grid->done;
            progress.units = grid->units;
            progress.plans = grid->plans;
            progress.row = row;
            progress.p = p > 0 ? p : mine.p_most;
            options->progress(options->arg, &progress);
        }
        if (--grid->left[r] == 0 && options->row)
            options->row(options->arg, row);
    }
    pthread_mutex_unlock(&grid->lock);
    coll_grid_worker_release(&worker);
    return NULL;
}

/* Sets up the rows; how many there are. */
COLL_INLINE size_t coll_i_grid_rows(const coll_grid_options *options, coll_grid_row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < options->n_algorithms; i++)
        for (uint32_t c = 0; c < COLL_COLLECTIVES; c++) {
            if (!coll_is(options->algorithms[i]->collectives & options->collectives,
                         (coll_collective)c))
                continue;
            if (rows) {
                memset(&rows[n], 0, sizeof rows[n]);
                rows[n].algorithm = options->algorithms[i];
                rows[n].collective = (coll_collective)c;
                rows[n].report.ok = true;
            }
            n++;
        }
    return n;
}

/* Proves all rows. Returns whether all plans were proven; *result says how many, or what is
 * wrong. */
COLL_INLINE bool coll_verify_grid(const coll_grid_options *options, coll_grid_result *result)
{
    enum { WORKERS = 64 };
    pthread_t threads[WORKERS];
    uint32_t n_threads = 0;
    coll_i_grid grid;
    memset(&grid, 0, sizeof grid);
    memset(result, 0, sizeof *result);
    grid.options = options;
    grid.n_rows = result->rows = coll_i_grid_rows(options, NULL);
    if (grid.n_rows == 0 || options->p_least == 0 || options->p_least > options->p_most)
        return result->ok = true;
    grid.rows = (coll_grid_row *)calloc(grid.n_rows, sizeof *grid.rows);
    grid.left = (size_t *)calloc(2 * grid.n_rows, sizeof *grid.left);
    if (!grid.rows || !grid.left) {
        coll_i_no_memory(&result->failure.report);
        free(grid.rows);
        free(grid.left);
        return false;
    }
    coll_i_grid_rows(options, grid.rows);
    grid.units = options->p_most - options->p_least + (size_t)1;
    grid.units += options->random_most > options->p_most ? options->random : 0;
    grid.failed = grid.left + grid.n_rows;
    for (size_t r = 0; r < grid.n_rows; r++) {
        grid.left[r] = grid.units;
        grid.failed[r] = SIZE_MAX;
    }
    grid.units *= grid.n_rows;
    pthread_mutex_init(&grid.lock, NULL);
    while (n_threads + 1 < options->workers && n_threads < WORKERS &&
           pthread_create(&threads[n_threads], NULL, coll_i_grid_work, &grid) == 0)
        n_threads++;
    coll_i_grid_work(&grid);
    while (n_threads > 0)
        pthread_join(threads[--n_threads], NULL);
    pthread_mutex_destroy(&grid.lock);
    for (size_t r = 0; r < grid.n_rows; r++) {
        const coll_grid_row *row = &grid.rows[r];
        result->plans += row->plans;
        result->refused += row->refused;
        result->actions += row->actions;
        if (!row->report.ok && result->failed_rows++ == 0)
            result->failure = *row;
    }
    free(grid.rows);
    free(grid.left);
    return result->ok = result->failed_rows == 0;
}

#endif /* COLL_VERIFY_GRID_H */
