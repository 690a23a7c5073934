/* coll/lab/verify/grid_case.h — the numbers that a plan of a grid is made from, and who makes it
 *
 * Use case.h.
 */
#ifndef COLL_LAB_VERIFY_GRID_CASE_H
#define COLL_LAB_VERIFY_GRID_CASE_H

#include "../../plan/composite.h"
#include "../../plan/graph.h"
#include "../../plan/rank_order.h"
#include "../verify.h"
#include "beyond.h"
#include "graphs.h"
#include "groups.h"

/* How blocks lie in the buffers of a v-collective. One line a layout: name, text, meaning. */
#define COLL_GRID_LAYOUT_LIST(X)                                                               \
    X(COLL_GRID_PLAIN, "plain")   /* no tables: `count` elements in each block */              \
    X(COLL_GRID_UNEVEN, "uneven") /* 0 to 4 elements, one after the other */                   \
    X(COLL_GRID_GAPS, "gaps")     /* 1 to 4 elements, from last to first, with gaps */         \
    X(COLL_GRID_ONE, "one")       /* all in one rank's block */                                \
    X(COLL_GRID_EMPTY, "empty")   /* all blocks empty */

#define COLL_I_GRID_LAYOUT(name, text) name,
/* Where the blocks of a v-collective lie. */
typedef enum coll_grid_layout {
    COLL_GRID_LAYOUT_LIST(COLL_I_GRID_LAYOUT) COLL_GRID_LAYOUTS
} coll_grid_layout;

/* Stands for nodes of 1 to 4 ranks, by a table. */
#define COLL_GRID_NODES_UNEVEN UINT32_MAX

/* What is bound to a level of a composite algorithm (plan/composite.h): all algorithms of this
 * name, for the collectives that they solve. Each takes those of the parameters that it has too. */
typedef struct coll_grid_play {
    const coll_algorithm *algorithm; /* NULL: what usually does */
    uint32_t param[COLL_PARAM_MAX];
} coll_grid_play;

/* One plan of the grid. */
typedef struct coll_grid_case {
    const coll_algorithm *algorithm;
    coll_collective collective;
    uint32_t p, root, flags; /* COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE */
    uint32_t param[COLL_PARAM_MAX];
    size_t count;
    coll_grid_layout layout; /* where blocks lie */
    bool root_only;          /* gatherv, scatterv: only the root has the tables */
    uint32_t nodes;          /* ranks of a node; 0: all, or COLL_GRID_NODES_UNEVEN */
    coll_grid_rails rails;   /* of several nodes, … */
    uint32_t groups;         /* … and nodes of a group; 0: none, or COLL_GRID_NODES_UNEVEN */
    coll_grid_graph graph;   /* neighbour collectives */
    coll_grid_group group;   /* whose plan it is, outside … */
    coll_grid_places places; /* … or ranks on nodes that are no runs, and get places there */
    coll_grid_play play[COLL_LEVELS]; /* what is used inside */
    const coll_binding *bindings;     /* … or, instead of these, all that is used inside */
    uint32_t n_bindings;
    uint32_t lifted; /* traits without which the plan is made */
} coll_grid_case;

/* A case with the default parameters, and nothing else. */
COLL_INLINE void coll_grid_case_init(coll_grid_case *of, const coll_algorithm *algorithm,
                                     coll_collective collective, uint32_t p)
{
    memset(of, 0, sizeof *of);
    of->algorithm = algorithm;
    of->collective = collective;
    of->p = p;
    for (uint32_t i = 0; i < algorithm->n_params; i++)
        of->param[i] = algorithm->params[i].default_value;
}

/* The traits that the case has to do with. */
COLL_INLINE uint32_t coll_i_case_traits(const coll_grid_case *of)
{
    return of->algorithm->traits & ~of->lifted;
}

/* The name of a layout, never NULL. */
COLL_INLINE const char *coll_grid_layout_name(coll_grid_layout layout)
{
#define COLL_I_GRID_LAYOUT_CASE(name, text)                                                    \
    case name:                                                                                 \
        return text;
    switch (layout) {
        COLL_GRID_LAYOUT_LIST(COLL_I_GRID_LAYOUT_CASE)
    case COLL_GRID_LAYOUTS:
        break;
    }
    return "unknown layout";
}

/* The algorithms that may be used inside of others. */
typedef struct coll_grid_pool {
    const coll_algorithm *const *algorithms; /* which */
    uint32_t n;                              /* how many */
} coll_grid_pool;

/* Is that the name of number i, which is no composite algorithm? */
COLL_INLINE bool coll_i_pool_named(const coll_grid_pool *pool, uint32_t i, const char *name)
{
    return !(pool->algorithms[i]->traits & COLL_NEEDS_BUILD) &&
           strcmp(pool->algorithms[i]->name, name) == 0;
}

/* Has number i the name and, as for what is composite, the kind of an algorithm? */
COLL_INLINE bool coll_i_pool_kin(const coll_grid_pool *pool, uint32_t i,
                                 const coll_algorithm *of)
{
    return !((pool->algorithms[i]->traits ^ of->traits) & COLL_NEEDS_BUILD) &&
           strcmp(pool->algorithms[i]->name, of->name) == 0;
}

/* Of the algorithms of this name the one with the most parameters. */
COLL_INLINE const coll_algorithm *coll_i_pool_longest(const coll_grid_pool *pool,
                                                      const char *name)
{
    const coll_algorithm *longest = NULL;
    for (uint32_t i = 0; i < pool->n; i++)
        if (coll_i_pool_named(pool, i, name) &&
            (!longest || pool->algorithms[i]->n_params > longest->n_params))
            longest = pool->algorithms[i];
    return longest;
}

/* Plans of more steps of any rank are not lowered for a NIC. */
enum { COLL_GRID_NIC_STEPS = 1024 };

/* What a case uses inside, as coll_plan_build takes it. */
enum { COLL_I_GRID_USES = 64 };
typedef struct coll_i_grid_bindings {
    coll_binding binding[COLL_I_GRID_USES];
    uint32_t param[COLL_I_GRID_USES][COLL_PARAM_MAX];
    uint32_t n; /* how many */
} coll_i_grid_bindings;

/* What a worker keeps from case to case. */
typedef struct coll_grid_worker {
    /* Called with each case of a grid that is proven next, or was refused, as its plans are said to
     * be; may be NULL. Cases without a trait that forbids them (`lifted`) may be wrong. */
    void (*each)(void *arg, const struct coll_grid_worker *worker, const coll_grid_case *of,
                 coll_status status);
    void *arg;
    coll_grid_pool pool; /* what may be used inside */
    coll_i_grid_bindings bindings;
    coll_verifier verifier; /* memory of the proofs */
    coll_i_memory tables, nodes, plans, workspaces, workspace_tables;
    coll_i_beyond beyond; /* the nodes */
    coll_i_graphs graphs;
    coll_i_groups groups;
    coll_problem asked;         /* before it is placed … */
    bool moved;                 /* … by which ranks get other numbers */
    bool per_rank;              /* the case has a plan for each rank */
    const coll_nic_limits *nic; /* as of coll_verify_options, for plans that are short … */
    uint64_t *nic_random;       /* … likewise */
    uint32_t crashes;           /* as of coll_verify_options, if nothing is lifted … */
    uint64_t crash_work; /* … of all cases together, but for the first that has messages … */
    bool crash_ran;      /* … which has been run */
    uint32_t skip;       /* COLL_VERIFY_NO_… */
    uint64_t random;     /* the state of its random numbers */
} coll_grid_worker;

/* A worker without memory. */
COLL_INLINE void coll_grid_worker_init(coll_grid_worker *worker)
{
    memset(worker, 0, sizeof *worker);
}

/* Frees the memory of a worker. */
COLL_INLINE void coll_grid_worker_release(coll_grid_worker *worker)
{
    coll_verifier_release(&worker->verifier);
    coll_i_release(&worker->tables);
    coll_i_release(&worker->nodes);
    coll_i_beyond_release(&worker->beyond);
    coll_i_release(&worker->plans);
    coll_i_release(&worker->workspaces);
    coll_i_release(&worker->workspace_tables);
    coll_i_graphs_release(&worker->graphs);
    coll_i_groups_release(&worker->groups);
}

#endif /* COLL_LAB_VERIFY_GRID_CASE_H */
