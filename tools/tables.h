/* tools/tables.h — the tables of a v-collective: how many elements each block has, one behind the
 * other
 *
 * The blocks have the sizes of --counts; or, with a seed, random ones of up to 2·count elements; or
 * else `count` each.
 */
#ifndef COLL_TOOLS_TABLES_H
#define COLL_TOOLS_TABLES_H

#include "ask.h"
#include "coll/lab/verify/graphs.h"

/* The one table that all ranks have, for free(). */
size_t *table_make(const struct ask *ask, uint64_t count, coll_problem *problem);

/* The two tables of a rank of alltoallv, -w, at `at`, of 4p entries: what it has for each rank, and
 * what each has for it. */
void tables_pair(const struct ask *ask, uint64_t count, uint32_t rank, size_t *at,
                 coll_problem *problem);

/* The tables of a rank of a neighbour collective, at `at`. Returns where the next rank's begin. */
size_t *tables_edges(const struct ask *ask, uint64_t count, uint32_t rank,
                     const coll_i_graphs *graphs, size_t *at, coll_problem *problem);

#endif /* COLL_TOOLS_TABLES_H */
