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

/* Draws the times over the axis that has several numbers; or refuses, where there is none, or more than one. */
void sweep_check_plot(const struct sweep *sweep, const char *path);
void sweep_plot(const struct sweep *sweep, const struct sweep_times *times, const char *path);

#endif /* COLL_TOOLS_SWEEP_H */
