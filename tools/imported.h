/* tools/imported.h — the schedule of a file that --import names
 *
 *   coll_import it;
 *   imported_read(&it, &ask, file, 8);     // or the request is refused
 */
#ifndef COLL_TOOLS_IMPORTED_H
#define COLL_TOOLS_IMPORTED_H

#include "coll/lab/import.h"
#include "ask.h"

/* Bytes of a file that is read. */
#define IMPORTED_MOST ((size_t)1 << 30)

/* Reads a file, for elements of so many bytes where it does not say so; `count` elements of the vector, or of a
 * block, or UINT64_MAX: as it stands. What is no schedule is refused; what was read and cannot run is in the report. */
coll_import_result imported_read(coll_import *it, const char *file, uint64_t count,
                                 size_t elem_bytes, bool in_place);

/* Refuses a schedule without data, for what needs them. */
void imported_has_data(const coll_import *it, const char *file);

/* Refuses options that a schedule answers by itself. */
void imported_check(const struct ask *ask);

/* coll verify --import: proves it, and says what came of it. Returns the exit code. */
int imported_verify(const char *file);

#endif /* COLL_TOOLS_IMPORTED_H */
