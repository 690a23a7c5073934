/* tools/measured.h — a file of what coll tune has measured, a line each, which a later run goes on from
 *
 *   # coll tune over shm
 *   p 4  allreduce  bytes 1024  ring:segment=512e  ns 8120.0
 *
 * A line is a pass, and is added when that ends; one that was cut short, as the run was ended, is passed over.
 */
#ifndef COLL_TOOLS_MEASURED_H
#define COLL_TOOLS_MEASURED_H

#include <stdio.h>

#include "coll/lab/tune/tuner.h"

struct measured_line;

struct measured {
    FILE *file; /* to which new ones are added */
    struct measured_line *lines;
    size_t n, room;
};

/* Opens the file, and reads what it has. Refuses one that is of another transport, or no such file. */
void measured_open(struct measured *all, const char *path, const char *transport);

/* Adds the passes that the file has of a choice. */
void measured_known(const struct measured *all, const coll_tuner_cell *cell,
                    coll_candidate *one);

/* What the i-th of all->n lines is about; false: no collective of this library. */
bool measured_about(const struct measured *all, size_t i, coll_collective *collective,
                    uint32_t *p, size_t *bytes);

/* One more pass. */
void measured_add(const struct measured *all, const coll_tuner_cell *cell,
                  const coll_candidate *one, double ns);

void measured_close(struct measured *all);

#endif /* COLL_TOOLS_MEASURED_H */
