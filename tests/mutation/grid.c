/* tests/mutation/grid.c — proves the algorithms of one header, as far as a number of actions goes
 *
 *   grid P_MOST RANDOM ACTIONS
 *
 * It is linked with a file that lists them (programs.py writes it), so that a mutant of an algorithm
 * compiles that one alone. Ends at the first plan that fails.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/lab/verify_grid.h"

extern const coll_algorithm *const mutation_rows[];
extern const size_t mutation_n_rows;

enum { ROWS = 1024 };

static uint64_t left; /* actions to prove */

static void watch(void *arg, const coll_grid_progress *progress)
{
    static struct {
        const coll_grid_row *row;
        uint64_t actions;
    } seen[ROWS];
    const coll_grid_row *row = progress->row;
    size_t i = 0;
    (void)arg;
    if (!row->report.ok) {
        printf("%s %s: %s (%s)\n", coll_collective_name(row->collective), row->algorithm->name,
               row->report.sentence, row->reproduction);
        fflush(stdout);
        _Exit(1);
    }
    while (i + 1 < ROWS && seen[i].row && seen[i].row != row)
        i++;
    left -= row->actions - seen[i].actions < left ? row->actions - seen[i].actions : left;
    seen[i].row = row;
    seen[i].actions = row->actions;
    if (left == 0)
        _Exit(0);
}

int main(int argc, char **argv)
{
    coll_grid_options options;
    coll_grid_result result;
    if (argc != 4)
        return 2;
    coll_grid_options_init(&options, mutation_rows, mutation_n_rows);
    options.p_most = (uint32_t)atoi(argv[1]);
    options.random = (uint32_t)atoi(argv[2]);
    options.random_most = 4 * options.p_most;
    options.all_roots = 12;
    left = strtoull(argv[3], NULL, 10);
    options.progress = watch;
    if (!coll_verify_grid(&options, &result)) {
        printf("%s\n", result.failure.report.sentence);
        return 1;
    }
    printf("%llu plans, %llu refused, %llu actions\n", (unsigned long long)result.plans,
           (unsigned long long)result.refused, (unsigned long long)result.actions);
    return result.plans > 0 ? 0 : 1;
}
