/* coll/lab/tables.h — rules written down as tables of other libraries
 *
 *   coll_table_job job;
 *   coll_table_job_init(&job, &coll_rules_built_in, stdout);
 *   if (coll_write_mpich_json(&job) == COLL_EXPORT_REFUSED)
 *       fprintf(stderr, "%s\n", job.sentence);
 *
 *   header                  for
 *   tables/mpich_json.h     MPICH 4.0 and later: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE
 *   tables/openmpi_rules.h  Open MPI: coll_tuned_dynamic_rules_filename, as text and as JSON
 *   tables/ucc_scores.h     UCC: UCC_TL_UCP_TUNE
 *   tables/nccl_csv.h       NCCL: its example of a tuner plug-in
 *   tables/choices.h        the job, and what rules choose, in ranges
 *
 * The command is `coll select --as`; docs/selection.md says how each is used. Hosted.
 */
#ifndef COLL_LAB_TABLES_H
#define COLL_LAB_TABLES_H

#include "tables/mpich_json.h"
#include "tables/nccl_csv.h"
#include "tables/openmpi_rules.h"
#include "tables/ucc_scores.h"

#endif /* COLL_LAB_TABLES_H */
