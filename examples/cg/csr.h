/* examples/cg/csr.h — sparse matrices by rows
 *
 * A matrix of `rows` rows and columns; the entries of row i are those from start[i] up to
 * start[i + 1], by increasing column. Every function here may run on many threads at once.
 */
#ifndef COLL_EXAMPLES_CG_CSR_H
#define COLL_EXAMPLES_CG_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct csr {
    size_t rows;
    size_t *start;    /* rows + 1 */
    uint32_t *column; /* start[rows] */
    double *value;    /* start[rows] */
} csr;

/* Memory for the entries whose number is start[rows] in the end; a->start is all zero. False:
 * there is not enough, and nothing is held. */
bool csr_make(csr *a, size_t rows, size_t entries);

void csr_free(csr *a);

/* HPCG's problem on a grid: 26 on the diagonal, −1 for each of the up to 26 neighbours of a
 * point. False: no memory, or more than 2³² − 2 points. */
bool csr_stencil27(csr *a, uint32_t nx, uint32_t ny, uint32_t nz);

/* y[0 … count) = rows first … first + count − 1 of the matrix, times x. */
void csr_multiply(const csr *a, size_t first, size_t count, const double *x, double *y);

/* The entry in row i on column j; 0 where there is none. */
double csr_at(const csr *a, size_t i, size_t j);

#endif /* COLL_EXAMPLES_CG_CSR_H */
