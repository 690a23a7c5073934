/* tools/rows.h — where the rows of the table of algorithms come from: cmake/origins.cmake */
#ifndef COLL_TOOLS_ROWS_H
#define COLL_TOOLS_ROWS_H

#include "coll/plan.h"

struct origin {
    const char *header, *symbol; /* "algos/ring.h", "coll_ring_allreduce" */
};

/* NULL: nothing is known, as it is none of the table's, or the command was not built by CMake. */
const struct origin *origin_of(const coll_algorithm *algorithm);

#endif /* COLL_TOOLS_ROWS_H */
