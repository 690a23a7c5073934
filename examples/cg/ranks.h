/* examples/cg/ranks.h — running the solver on many ranks
 *
 * ranks_run has one thread a rank, which talks to the others through the library alone: before
 * the product with the matrix an allgatherv of the search vector, and for the dot products
 * allreduces of 1, 2 and 3 sums. ranks_replay has one thread for all of them, and adds up in
 * the same order, through the same algorithm over the loopback transport: its answer must have
 * the same bits.
 */
#ifndef COLL_EXAMPLES_CG_RANKS_H
#define COLL_EXAMPLES_CG_RANKS_H

#include "coll/comm.h"
#include "coll/algos/registry.h"
#include "solver.h"

/* The collectives of a run. Number k, 1 … 3, is the allreduce of k sums. */
enum { RANKS_GATHER, RANKS_USES = 1 + SOLVER_SUMS };

/* Row pieces of a reproducible run, whatever the number of ranks. */
enum { RANKS_PIECES = 64 };

typedef struct ranks_job {
    const csr *a;
    double tolerance;
    size_t max_iterations;
    uint32_t ranks;
    bool reproducible;       /* the same bits for any number of ranks */
    coll_choice gather, sum; /* algorithms; NULL in them: the library chooses */
    /* Hears of the relative residual after each iteration, on rank 0; NULL: nobody does. */
    void (*residual)(void *arg, size_t iteration, double relative);
} ranks_job;

/* How one of the collectives was used. */
typedef struct ranks_use {
    coll_plan plan; /* rank 0's */
    size_t requests;
    size_t messages, bytes;            /* sent by all ranks together, in one call */
    double mean_seconds, most_seconds; /* in all calls, over the ranks */
} ranks_use;

typedef struct ranks_outcome {
    solver_result result; /* largest_error: of all ranks */
    double seconds;       /* of the slowest rank */
    ranks_use use[RANKS_USES];
} ranks_outcome;

/* Solves; x gets all rows of the answer. */
ranks_outcome ranks_run(const ranks_job *job, double *x);

/* The same answer from one thread; `was` is the outcome of the run, which was not reproducible. */
solver_result ranks_replay(const ranks_job *job, const ranks_outcome *was, double *x);

#endif /* COLL_EXAMPLES_CG_RANKS_H */
