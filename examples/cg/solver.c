/* examples/cg/solver.c — one rank's part of a conjugate-gradient solver */
#include "solver.h"

#include <math.h>
#include <stdlib.h>

/* A rank's rows: pieces of the cut, as one run of `count` rows from `offset` on. */
typedef struct share {
    const solver_problem *problem;
    const solver_group *group;
    uint32_t first, pieces;
    size_t offset, count;
    double *diagonal, *b, *r, *z, *q; /* `count` elements */
    double *terms;                    /* pieces · SOLVER_SUMS */
} share;

static bool share_make(share *s)
{
    s->offset = coll_part_offset(s->problem->cut, s->first);
    s->count = coll_part_offset(s->problem->cut, s->first + s->pieces) - s->offset;
    double *memory = calloc(5 * s->count + SOLVER_SUMS * (size_t)s->pieces + 1, sizeof *memory);
    if (!memory)
        return false;
    s->diagonal = memory;
    s->b = memory + s->count;
    s->r = s->b + s->count;
    s->z = s->r + s->count;
    s->q = s->z + s->count;
    s->terms = s->q + s->count;
    return true;
}

/* terms[·, j] of k = the pieces of u·v. */
static void dot(const share *s, uint32_t k, uint32_t j, const double *u, const double *v)
{
    for (uint32_t i = 0; i < s->pieces; i++) {
        const coll_block piece = coll_part_block(s->problem->cut, s->first + i);
        const size_t from = piece.offset - s->offset;
        double sum = 0;
        for (size_t row = from; row < from + piece.count; row++)
            sum += u[row] * v[row];
        s->terms[i * k + j] = sum;
    }
}

static coll_status add_up(const share *s, uint32_t k, double *sums)
{
    return s->group->sum(s->group->arg, s->terms, k, sums);
}

/* q = A · full, once full is gathered. */
static coll_status gather_multiply(const share *s)
{
    const coll_status status = s->group->gather(s->group->arg);
    if (status == COLL_OK)
        csr_multiply(s->problem->a, s->offset, s->count, s->group->full, s->q);
    return status;
}

static solver_result broken(solver_result result, coll_status status)
{
    result.end = SOLVER_BROKEN;
    result.status = status;
    return result;
}

/* The iterations; x is this rank's rows of the solution, zero at first. */
static solver_result iterate(const share *s, double *x)
{
    const size_t n = s->count;
    double *const p = s->group->full + s->offset; /* this rank's rows of the search vector */
    double sums[SOLVER_SUMS], rz, bb;
    solver_result result = {SOLVER_TIRED, COLL_OK, 0, 0, 0, 0};
    coll_status status;
    for (size_t i = 0; i < n; i++) {
        s->r[i] = s->b[i];
        p[i] = s->z[i] = s->r[i] / s->diagonal[i];
    }
    dot(s, 2, 0, s->r, s->z);
    dot(s, 2, 1, s->b, s->b);
    status = add_up(s, 2, sums);
    if (status != COLL_OK)
        return broken(result, status);
    rz = sums[0];
    bb = sums[1];
    if (!isfinite(rz) || !isfinite(bb)) {
        result.end = SOLVER_OVERFLOW;
        return result;
    }
    if (bb == 0) { /* A·1 = 0 */
        result.end = SOLVER_INDEFINITE;
        return result;
    }
    if (s->group->residual)
        s->group->residual(s->group->arg, 0, 1);
    while (result.iterations < s->problem->max_iterations) {
        status = gather_multiply(s);
        if (status != COLL_OK)
            return broken(result, status);
        dot(s, 1, 0, p, s->q);
        status = add_up(s, 1, sums);
        if (status != COLL_OK)
            return broken(result, status);
        if (!isfinite(sums[0])) {
            result.end = SOLVER_OVERFLOW;
            return result;
        }
        if (!(sums[0] > 0)) {
            result.end = SOLVER_INDEFINITE;
            return result;
        }
        const double alpha = rz / sums[0];
        for (size_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            s->r[i] -= alpha * s->q[i];
            s->z[i] = s->r[i] / s->diagonal[i];
        }
        dot(s, 2, 0, s->r, s->z);
        dot(s, 2, 1, s->r, s->r);
        status = add_up(s, 2, sums);
        if (status != COLL_OK)
            return broken(result, status);
        result.iterations++;
        const double relative = sqrt(sums[1] / bb);
        if (!isfinite(relative)) {
            result.end = SOLVER_OVERFLOW;
            return result;
        }
        if (s->group->residual)
            s->group->residual(s->group->arg, result.iterations, relative);
        if (relative <= s->problem->tolerance) {
            result.end = SOLVER_CONVERGED;
            return result;
        }
        const double beta = sums[0] / rz;
        rz = sums[0];
        for (size_t i = 0; i < n; i++)
            p[i] = s->z[i] + beta * p[i];
    }
    return result;
}

/* How good is x really? One more product with the matrix, and three sums. */
static solver_result judge(const share *s, const double *x, solver_result result)
{
    double sums[SOLVER_SUMS];
    coll_status status;
    for (size_t i = 0; i < s->count; i++)
        s->group->full[s->offset + i] = x[i];
    status = gather_multiply(s);
    if (status != COLL_OK)
        return broken(result, status);
    for (size_t i = 0; i < s->count; i++) {
        s->r[i] = s->b[i] - s->q[i];
        s->z[i] = x[i] - 1;
        if (fabs(s->z[i]) > result.largest_error)
            result.largest_error = fabs(s->z[i]);
    }
    dot(s, 3, 0, s->r, s->r);
    dot(s, 3, 1, s->b, s->b);
    dot(s, 3, 2, s->z, s->z);
    status = add_up(s, 3, sums);
    if (status != COLL_OK)
        return broken(result, status);
    result.residual = sqrt(sums[0] / sums[1]);
    result.error = sqrt(sums[2] / (double)s->problem->a->rows);
    return result;
}

solver_result solver_run(const solver_problem *problem, const solver_group *group,
                         uint32_t first, uint32_t pieces, double *x)
{
    const csr *a = problem->a;
    share s = {.problem = problem, .group = group, .first = first, .pieces = pieces};
    solver_result result = {SOLVER_NO_MEMORY, COLL_OK, 0, 0, 0, 0};
    if (!share_make(&s))
        return result;
    for (size_t i = 0; i < s.count; i++) { /* b = A·1: the sums of the rows */
        const size_t row = s.offset + i;
        for (size_t k = a->start[row]; k < a->start[row + 1]; k++)
            s.b[i] += a->value[k];
        s.diagonal[i] = csr_at(a, row, row);
        x[row] = 0;
    }
    result = iterate(&s, x + s.offset);
    if (result.end == SOLVER_CONVERGED || result.end == SOLVER_TIRED)
        result = judge(&s, x + s.offset, result);
    free(s.diagonal);
    return result;
}
