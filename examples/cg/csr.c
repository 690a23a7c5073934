/* examples/cg/csr.c — sparse matrices by rows, and the 27-point problem of HPCG */
#include "csr.h"

#include <stdlib.h>

bool csr_make(csr *a, size_t rows, size_t entries)
{
    a->rows = rows;
    a->start = calloc(rows + 1, sizeof *a->start);
    a->column = calloc(entries + 1, sizeof *a->column);
    a->value = calloc(entries + 1, sizeof *a->value);
    if (a->start && a->column && a->value)
        return true;
    csr_free(a);
    return false;
}

void csr_free(csr *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    a->start = NULL;
    a->column = NULL;
    a->value = NULL;
    a->rows = 0;
}

/* The neighbours of coordinate i on an axis of n points: from … to − 1, itself included. */
typedef struct range {
    uint32_t from, to;
} range;

static range around(uint32_t i, uint32_t n)
{
    const range r = {i == 0 ? 0 : i - 1, i + 1 == n ? n : i + 2};
    return r;
}

/* Sums over all points of an axis: pairs of neighbours, each point its own. */
static uint64_t pairs(uint32_t n)
{
    return 3 * (uint64_t)n - 2;
}

bool csr_stencil27(csr *a, uint32_t nx, uint32_t ny, uint32_t nz)
{
    const uint64_t plane = (uint64_t)nx * ny;
    if (nx == 0 || ny == 0 || nz == 0 || plane > (UINT32_MAX - 1) / nz ||
        !csr_make(a, (size_t)(plane * nz), (size_t)(pairs(nx) * pairs(ny) * pairs(nz))))
        return false;
    size_t row = 0, at = 0;
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t y = 0; y < ny; y++)
            for (uint32_t x = 0; x < nx; x++, row++) {
                const range kz = around(z, nz), ky = around(y, ny), kx = around(x, nx);
                for (uint32_t k = kz.from; k < kz.to; k++)
                    for (uint32_t j = ky.from; j < ky.to; j++)
                        for (uint32_t i = kx.from; i < kx.to; i++, at++) {
                            a->column[at] = (uint32_t)(plane * k + (uint64_t)nx * j + i);
                            a->value[at] = a->column[at] == row ? 26 : -1;
                        }
                a->start[row + 1] = at;
            }
    return true;
}

void csr_multiply(const csr *a, size_t first, size_t count, const double *x, double *y)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = a->start[first + i]; k < a->start[first + i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

double csr_at(const csr *a, size_t i, size_t j)
{
    size_t from = a->start[i], to = a->start[i + 1];
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (a->column[middle] == j)
            return a->value[middle];
        if (a->column[middle] < j)
            from = middle + 1;
        else
            to = middle;
    }
    return 0;
}
