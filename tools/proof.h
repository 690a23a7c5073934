/* tools/proof.h — the grid of one algorithm proven, and a line that says how it went
 *
 *   coll_grid_options options;
 *   coll_grid_options_init(&options, NULL, 0);
 *   proof_head();
 *   if (!proof_row(&options, COLL_BCAST, &algorithm, &inner, &row))
 *       … row.failed is the plan that failed …
 */
#ifndef COLL_TOOLS_PROOF_H
#define COLL_TOOLS_PROOF_H

#include "coll/lab/verify_grid.h"
#include "inner.h"

enum { PROOF_JOBS_MOST = 64, PROOF_COMMAND = 1024 };

/* Threads, one a processor. */
uint32_t proof_processors(void);

/* Proves a row of the table, and says on stderr how far it is. Returns whether it held; the row says
 * how many plans there were. Options but algorithms, collectives and callbacks are the caller's. */
bool proof_make(coll_grid_options *options, coll_collective c,
                const coll_algorithm *const *algorithm, coll_grid_row *row);

/* Prints the head of the lines. */
void proof_head(void);

/* … and prints its line; if it fails, what is wrong, and the command that shows the plan. inner: of
 * --inner, in words. */
bool proof_row(coll_grid_options *options, coll_collective c,
               const coll_algorithm *const *algorithm, const struct inner *inner,
               coll_grid_row *row);

/* Writes what coll show takes after its name to show a case, in at most PROOF_COMMAND bytes. */
void proof_command(const coll_grid_case *of, const struct inner *inner, char *text);

#endif /* COLL_TOOLS_PROOF_H */
