/* tools/job.h — the request that show and run have in common, and the plans that it makes
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
#include "groups.h"
#include "inner.h"
#include "nodes.h"
#include "options.h"

/* What the user asks for, as written; numbers that are not given are UINT64_MAX. */
struct ask {
    const char *collective, *algorithm;
    const char *counts, *layout, *nodes, *graph, *group, *places;
    uint64_t p, count, root, seed;
    struct option_words params, inner;
    bool in_place, non_commutative, root_tables;
    bool seeds_more; /* the seed is not that of blocks' sizes alone */
};

#define ASK_NOTHING                                                                            \
    {                                                                                          \
        .p = UINT64_MAX, .count = UINT64_MAX, .root = UINT64_MAX, .seed = UINT64_MAX           \
    }

#define ASK_OPTIONS(ask)                                                                       \
    OPERAND("COLLECTIVE", "which collective", &(ask).collective),                              \
        OPERAND("ALGORITHM", "one of its algorithms: coll list COLLECTIVE", &(ask).algorithm), \
        NUMBER('p', "ranks", "P", "number of ranks", &(ask).p, 1, UINT32_MAX),                 \
        NUMBER('n', "count", "N", "elements of the vector, or of a block", &(ask).count, 0,    \
               SIZE_MAX / 2),                                                                  \
        NUMBER('r', "root", "R", "root of a rooted collective (0)", &(ask).root, 0,            \
               UINT32_MAX),                                                                    \
        WORDS("param", "K=V", "a parameter of the algorithm", &(ask).params),                  \
        INNER_OPTION((ask).inner), FLAG("in-place", "the input is in OUT", &(ask).in_place),   \
        FLAG("non-commutative", "operands must stay in rank order", &(ask).non_commutative),   \
        NODES_OPTION((ask).nodes),                                                             \
        WORD("graph", "G", "neighbours: ring, mesh, torus, stencil, sparse, ..., torus:4x3",   \
             &(ask).graph),                                                                    \
        WORD("counts", "A,B,...", "elements of each block of a v-collective", &(ask).counts)

#define LAYOUT_OPTIONS(ask)                                                                    \
    WORD("layout", "L", "blocks as the proofs have them: uneven, gaps, one, empty",            \
         &(ask).layout),                                                                       \
        FLAG("root-tables", "with --layout: only the root knows the sizes",                    \
             &(ask).root_tables)

struct job {
    coll_collective collective;
    const coll_algorithm *algorithm;
    uint32_t p;
    coll_plan *plans;
    bool per_rank; /* each rank has a plan of its own; else there is one */
    size_t *tables;
    const char *graph;          /* in words, of a neighbour collective */
    struct inner inner;         /* of a composite algorithm … */
    coll_workspace *workspaces; /* … and what its plans are in */
    size_t *workspace_tables;
    uint32_t *nodes;               /* first rank of each, with a list */
    coll_i_groups groups;          /* of the plans, with --group or --places … */
    const char *placed;            /* … in words; NULL: they are not placed */
    struct coll_grid_worker *grid; /* whose the graphs are; with --layout, the plans too */
};

/* Makes the plans, or refuses the request. A v-collective's blocks have the sizes of --counts;
 * or lie as --layout says, with a name of lab/verify_grid.h; or have, with a seed, random sizes of
 * up to 2·count elements; or else `count` each. Neighbours are those of --graph (neighbors.h). */
void job_make(struct job *job, const struct ask *ask, size_t elem_bytes);
/* Prints what the job is, in a line without its end. */
void job_print(const struct job *job);

void job_free(struct job *job);

static inline const coll_plan *job_plan(const struct job *job, uint32_t rank)
{
    return &job->plans[job->per_rank ? rank : 0];
}

/* Prints a rank, and its number outside if the plans are placed. */
void job_print_rank(const struct job *job, uint32_t rank);

/* Memory, or an end with a sentence. */
void *memory_of(size_t elements, size_t bytes);

#endif /* COLL_TOOLS_JOB_H */
