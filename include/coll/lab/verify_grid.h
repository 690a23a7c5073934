/* coll/lab/verify_grid.h — proves algorithms for whole ranges of ranks, roots, counts, layouts and
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
 *   inside       of a composite algorithm: at each level each algorithm that may be bound
 *                it, of more than four ranks also with parameters at random
 *   nodes        all ranks on one, and, where the algorithm uses nodes, uneven ones and those of 1,
 *                2, 4 ranks; for larger p one of these three
 *   groups       a few, that have other ranks between theirs and in any order; where the algorithm
 *                computes on them, machines with every choice of ranks missing, for small p, and
 *                machines that are to be refused (verify/outside.h)
 *   places       where it uses nodes: ranks that are dealt out to nodes in turn or at random
 *   parameters   the default value, those of the record, the ends of the range, two at random
 *   roots        all for p ≤ all_roots, beyond that the first, the last and one at random
 *   counts       0, 1, p−1, p, p+1, 2p+3, of few ranks some that segments cut; where blocks may
 *                differ, layouts (COLL_GRID_LAYOUT_LIST)
 *   graphs       of neighbour collectives (COLL_GRID_GRAPH_LIST), with counts 1, 3, 0 or layouts
 *   flags        in place and not; commutative and not
 * (verify/axes.h), all combined as far as `work` allows, and else a sample with every value of every
 * axis; and beyond that range a few larger p, with all of this at random, as far as a budget of
 * steps and elements allows. Failures are found in the same order whatever the number of workers.
 *
 * What the traits forbid must be refused, with the right status, and nothing else may be
 * (verify/expect.h). Without any of its restrictions, some plan of a record must be wrong. A row
 * without a plan has failed.
 *
 * Hosted: POSIX threads; allocates.
 */
#ifndef COLL_LAB_VERIFY_GRID_H
#define COLL_LAB_VERIFY_GRID_H

#include "verify/row.h"

#include <pthread.h>

/* What came of it. */
typedef struct coll_grid_result {
    bool ok;                  /* nothing failed */
    size_t rows, failed_rows; /* algorithms of collectives, and those that failed */
    /* Plans that were proven, and refused as a trait says; actions that were executed. */
    uint64_t plans, refused, actions;
    coll_grid_row failure; /* the first row that failed */
} coll_grid_result;

/* ---- units: a row and a p ---------------------------------------------------------------- */

typedef struct coll_i_grid {
    const coll_grid_options *options;
    coll_grid_row *rows;
    size_t *left, *failed; /* by row: units to do; the unit that failed, or SIZE_MAX */
    size_t n_rows, units, next, done;
    uint64_t plans;
    pthread_mutex_t lock;
} coll_i_grid;

/* Does unit after unit, until none is left. */
COLL_INLINE void *coll_i_grid_work(void *arg)
{
    coll_i_grid *grid = (coll_i_grid *)arg;
    const coll_grid_options *options = grid->options;
    const size_t small = (options->p_most - options->p_least + (size_t)1) * grid->n_rows;
    const uint32_t random = (uint32_t)((grid->units - small) / grid->n_rows) - 1;
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    worker.pool = options->inside;
    worker.nic = options->nic;
    worker.crashes = options->crashes;
    worker.each = options->each;
    worker.arg = options->arg;
    pthread_mutex_lock(&grid->lock);
    while (grid->next < grid->units) {
        const size_t unit = grid->next++, r = unit % grid->n_rows;
        coll_grid_row *row = &grid->rows[r], mine = *row;
        const uint32_t p =
            unit < small ? options->p_least + (uint32_t)(unit / grid->n_rows) : 0;
        const uint32_t number = p > 0 ? 0 : (uint32_t)((unit - small) / grid->n_rows);
        bool held = true;
        if (unit < grid->failed[r]) {
            pthread_mutex_unlock(&grid->lock);
            mine.plans = mine.refused = mine.actions = mine.nic_plans = 0;
            memset(&mine.crash, 0, sizeof mine.crash);
            worker.crash_work = options->crash_work;
            worker.crash_ran = false;
            worker.random = options->seed * 0x2545f4914f6cdd1du + unit;
            worker.skip = 0;
            coll_verifier_forget(&worker.verifier);
            held = p > 0              ? coll_i_grid_all(&worker, options, p, &mine)
                   : number == random ? coll_i_grid_record(&worker, options, &mine)
                                      : coll_i_grid_large(&worker, options, number, &mine);
            pthread_mutex_lock(&grid->lock);
            row->plans += mine.plans;
            row->refused += mine.refused;
            row->nic_plans += mine.nic_plans;
            row->actions += mine.actions;
            row->window = mine.window > row->window ? mine.window : row->window;
            row->sends = mine.sends > row->sends ? mine.sends : row->sends;
            coll_i_grid_nic_most(&row->nic, &mine.nic);
            row->nic_bytes = mine.nic_bytes > row->nic_bytes ? mine.nic_bytes : row->nic_bytes;
            coll_i_grid_crash_add(&row->crash, &mine.crash);
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
        if (--grid->left[r] == 0) {
            coll_i_grid_end(options, row);
            if (options->row)
                options->row(options->arg, row);
        }
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
    grid.units++; /* of the record */
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

#endif /* COLL_LAB_VERIFY_GRID_H */
