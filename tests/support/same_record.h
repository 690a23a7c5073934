/* tests/support/same_record.h — whether two records are of one algorithm
 *
 * Records that a test names are its own copies; the table's are elsewhere (COLL_ONE_REGISTRY).
 */
#ifndef COLL_TESTS_SAME_RECORD_H
#define COLL_TESTS_SAME_RECORD_H

#include <string.h>

#include "coll/plan.h"

static inline bool same_record(const coll_algorithm *a, const coll_algorithm *b)
{
    return a && b && strcmp(a->name, b->name) == 0 && a->collectives == b->collectives;
}

#endif /* COLL_TESTS_SAME_RECORD_H */
