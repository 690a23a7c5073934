/* tools/rows.c — see rows.h */
#include "rows.h"

#include "coll/algos/registry.h"

/* In the order of the table; the last one is none. */
static const struct origin rows[] = {
#ifdef COLL_ORIGINS
#define ORIGIN(header, symbol) {header, symbol},
#include "origins.h"
#undef ORIGIN
#endif
    {NULL, NULL}};
#ifdef COLL_ORIGINS
_Static_assert(sizeof rows / sizeof rows[0] == COLL_REGISTRY_COUNT + 1,
               "a row of the table was not found: one a line, as in &coll_ring_allreduce,");
#endif

const struct origin *origin_of(const coll_algorithm *algorithm)
{
    for (size_t i = 0; i + 1 < sizeof rows / sizeof rows[0]; i++)
        if (coll_registry[i] == algorithm)
            return &rows[i];
    return NULL;
}
