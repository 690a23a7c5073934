/* tools/predict.h — a calibrated machine's predictions beside measurements: coll calibrate --check */
#ifndef COLL_TOOLS_PREDICT_H
#define COLL_TOOLS_PREDICT_H

#include "coll/lab/tune/plan_times.h"

/* On all ranks: measures some algorithms of some sizes. Rank 0 prints what the simulator says of each beside it, and
 * the median error. */
coll_status predict_check(coll_bench *bench, const coll_machine_file *machine);

#endif /* COLL_TOOLS_PREDICT_H */
