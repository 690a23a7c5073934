/* coll/lab/export.h — plans written down for others: what each format is for, and all of them
 *
 *   coll_export job;
 *   coll_export_init(&job, &plan, stdout);              // or plan_of and a writer of one's own
 *   if (coll_export_json(&job) == COLL_EXPORT_REFUSED)
 *       fprintf(stderr, "%s\n", job.sentence);
 *
 *   header          for
 *   export/json.h   programs: everything about a plan, and what each action must come after
 *   export/goal.h   LogGOPSim and other simulators of GOAL programs
 *   export/dot.h    eyes: Graphviz draws it
 *   export/msccl.h  the executors of MSCCL, in NCCL and RCCL
 *   export/c_tables.h  firmware without a planner: NIC programs as constant tables in C
 *   export/action_words.h  an action in words
 *
 * The command is `coll export`; docs/formats.md says what is in the files. Hosted.
 */
#ifndef COLL_LAB_EXPORT_H
#define COLL_LAB_EXPORT_H

#include "export/action_words.h"
#include "export/c_tables.h"
#include "export/dot.h"
#include "export/goal.h"
#include "export/json.h"
#include "export/msccl.h"

#endif /* COLL_LAB_EXPORT_H */
