/* tools/job.h — the plans of what show, run, sim and export are asked for
 *
 *   struct ask ask = ASK_NOTHING;
 *   const struct option options[] = {ASK_OPTIONS(ask), …};
 *   options_read(&command, argc, argv);
 *   struct job job;
 *   job_make(&job, &ask, sizeof(double));
 *   … job_plan(&job, rank) …
 *   job_free(&job);
 */
#ifndef COLL_TOOLS_JOB_H
#define COLL_TOOLS_JOB_H

#include "coll/plan.h"
#include "ask.h"
#include "groups.h"

struct job {
    coll_collective collective;
    const coll_algorithm *algorithm;
    uint32_t p;
    coll_plan *plans;
    bool per_rank; /* each rank has a plan of its own; else there is one */
    size_t *tables;
    const char *graph;             /* in words, of a neighbour collective */
    struct inner inner;            /* of a composite algorithm … */
    char *workspaces;              /* … and what its plans are in, … */
    size_t workspace_bytes;        /* … so much of it each rank's */
    struct nodes_memory nodes;     /* what --nodes, --rails and --groups say */
    coll_i_groups groups;          /* of the plans, with --group or --places … */
    const char *placed;            /* … in words; NULL: they are not placed */
    struct coll_import *import;    /* of a schedule that was read: whose the plans are */
    struct coll_grid_worker *grid; /* whose the graphs are; with --layout, the plans too */
};

/* Makes the plans, or refuses the request. A v-collective's blocks have the sizes of --counts;
 * or lie as --layout says, with a name of lab/verify_grid.h; or have, with a seed, random sizes of
 * up to 2·count elements; or else `count` each. Neighbours are those of --graph (neighbors.h). */
void job_make(struct job *job, const struct ask *ask, size_t elem_bytes);
/* The same, but what the algorithm refuses is returned; the job is to be freed all the same. */
coll_status job_try(struct job *job, const struct ask *ask, size_t elem_bytes);
/* Writes what the job is, in a line without its end. */
void job_print(const struct job *job, FILE *to);

void job_free(struct job *job);

static inline const coll_plan *job_plan(const struct job *job, uint32_t rank)
{
    return &job->plans[job->per_rank ? rank : 0];
}

/* Takes step s of a rank, or refuses an algorithm that yields more than COLL_STEP_MAX actions. One
 * thread at a time. */
unsigned job_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *acts);

/* Writes a rank, and its number outside if the plans are placed. */
void job_print_rank(const struct job *job, uint32_t rank, FILE *to);

#endif /* COLL_TOOLS_JOB_H */
