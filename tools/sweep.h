/* tools/sweep.h — what coll sweep finds out of a cell, and what is done with it */
#ifndef COLL_TOOLS_SWEEP_H
#define COLL_TOOLS_SWEEP_H

#include "sweep_cells.h"

/* Of the makespans of all seeds, in us. */
struct sweep_times {
    uint64_t runs; /* 0: the cell was refused, or is not done */
    double mean, half, least,
        most; /* half: of the 95 % interval of confidence of the mean; < 0: of one run there is
                                       none */
    uint64_t messages, bytes; /* of the first seed */
};

/* Simulates a cell, with each seed; or refuses. In a process of its own (workers.h), as machines are large and stay. */
void sweep_simulate(const struct sweep *sweep, size_t i, struct sweep_times *times);

/* Draws the times over the axis that has several numbers; or refuses, where there is none, or more than one. */
void sweep_check_plot(const struct sweep *sweep, const char *path);
void sweep_plot(const struct sweep *sweep, const struct sweep_times *times, const char *path);

/* Prints the means to stdout, in us, to four digits: a row for each algorithm, its parameters and its machine, a column
 * for each number of ranks and count; the least of a collective has a *, and what was refused is a -. Refuses too many
 * columns. */
void sweep_check_table(const struct sweep *sweep);
void sweep_table(const struct sweep *sweep, const struct sweep_times *times);

/* Lines of a picture, and rows of a table: cells that differ in ranks and counts alone, and in the parameter k if the
 * axis is SWEEP_AXIS_PARAMS + k. */
enum { SWEEP_AXIS_PARAMS = 2 };
bool sweep_same_line(const struct sweep *sweep, size_t axis, const struct sweep_cell *a,
                     const struct sweep_cell *b);

/* Writes what tells the line of a cell from the others. `room` is that of a line of all parameters. */
void sweep_line_title(const struct sweep *sweep, size_t axis, const struct sweep_cell *cell,
                      char *text, size_t room);

#endif /* COLL_TOOLS_SWEEP_H */
