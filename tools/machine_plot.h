/* tools/machine_plot.h — a calibrated machine as a page of pictures: measured values and what was fitted */
#ifndef COLL_TOOLS_MACHINE_PLOT_H
#define COLL_TOOLS_MACHINE_PLOT_H

#include "coll/lab/model.h"

/* How far the line of Hockney and LogGP is from the round trips: the median of relative errors; 0 if nothing was
 * measured. */
double machine_fit_error(const coll_machine_file *machine);

/* Draws it, or refuses. */
void machine_plot(const coll_machine_file *machine, const char *path);

#endif /* COLL_TOOLS_MACHINE_PLOT_H */
