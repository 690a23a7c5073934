/* examples/cg/solver.h — one rank's part of a conjugate-gradient solver
 *
 * Solves A·x = b for a symmetric positive definite A, preconditioned by the diagonal, with b =
 * A·1, so that the exact solution is all ones. Rows, and all vectors with them, are distributed
 * over the ranks. What the ranks must tell each other goes through two functions, once and
 * twice an iteration, so that the solver does not know how it is run: the search vector is
 * gathered before it meets the matrix, and the terms of dot products are summed.
 *
 * The rows are cut into pieces, and a dot product is one sum a piece before the ranks' sums are
 * combined. With one piece a rank the result depends, in its last bits, on the number of ranks
 * and the order in which the library combines. With a number of pieces that does not depend on
 * the ranks it does not.
 */
#ifndef COLL_EXAMPLES_CG_SOLVER_H
#define COLL_EXAMPLES_CG_SOLVER_H

#include "coll/plan/topo.h"
#include "csr.h"

enum { SOLVER_SUMS = 3 }; /* most dot products that are summed at once */

/* The other ranks, as this rank sees them. All functions return COLL_OK or what went wrong. */
typedef struct solver_group {
    void *arg;
    double *full; /* a vector of all rows, for gather */
    /* Those rows of full that are this rank's are there; those of all others come in. */
    coll_status (*gather)(void *arg);
    /* terms[i·k + j] is this rank's i-th piece of the j-th dot product; sums[j] gets the sum
     * over all pieces of all ranks, the same bits on each of them. */
    coll_status (*sum)(void *arg, const double *terms, uint32_t k, double *sums);
    /* Hears of the relative residual after each iteration; NULL: nobody does. */
    void (*residual)(void *arg, size_t iteration, double relative);
} solver_group;

typedef struct solver_problem {
    const csr *a;
    coll_partition cut; /* the rows in pieces */
    double tolerance;   /* ends when ‖r‖ ≤ tolerance·‖b‖ */
    size_t max_iterations;
} solver_problem;

typedef enum solver_end {
    SOLVER_CONVERGED,
    SOLVER_TIRED,      /* not after max_iterations */
    SOLVER_INDEFINITE, /* p·Ap ≤ 0: the matrix is not positive definite */
    SOLVER_OVERFLOW,   /* numbers became infinite */
    SOLVER_NO_MEMORY,
    SOLVER_BROKEN /* communication failed */
} solver_end;

typedef struct solver_result {
    solver_end end;
    coll_status status; /* of SOLVER_BROKEN */
    size_t iterations;
    double residual;      /* ‖b − A·x‖ / ‖b‖, from x, not from the recurrence */
    double error;         /* ‖x − 1‖ / ‖1‖ */
    double largest_error; /* of this rank's rows: max |x − 1| */
} solver_result;

/* Solves for the rows of the pieces first … first + pieces − 1; x has all rows of the matrix,
 * of which only this rank's are written. Every rank calls it with the same problem; all end
 * alike, but for SOLVER_NO_MEMORY and SOLVER_BROKEN. */
solver_result solver_run(const solver_problem *problem, const solver_group *group,
                         uint32_t first, uint32_t pieces, double *x);

#endif /* COLL_EXAMPLES_CG_SOLVER_H */
