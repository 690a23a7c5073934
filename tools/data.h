/* tools/data.h — random data for a job, and the serial result that each rank must end with
 *
 * Every element is a function of the seed, its rank and its place, so nothing need be kept.
 * Floats are chosen so that every partial result is exact, whatever the order: results must
 * agree in all bits.
 */
#ifndef COLL_TOOLS_DATA_H
#define COLL_TOOLS_DATA_H

#include "job.h"

struct data {
    const struct job *job;
    coll_type type;
    coll_operator which;
    coll_op op;                                        /* where the collective reduces */
    void (*divide)(void *x, size_t count, uint32_t n); /* an average's results; else NULL */
    uint64_t seed;
    size_t elem_bytes;
};

/* Elements of IN that a rank has when it is not in place, and hence of its input wherever that
 * is. */
size_t data_input_count(const struct data *data, uint32_t rank);

/* Writes a rank's input to where it belongs, and a pattern to the rest of OUT. */
void data_fill(const struct data *data, uint32_t rank, void *in, void *out);

/* After the collective: divides what it left in a rank's OUT, if it is to be an average, by the number of operands in
 * it, as communicators do (coll/comm/scaled.h). */
void data_divide(const struct data *data, uint32_t rank, void *out);

/* Checks some ranks after the collective, whose buffers are given from the first of them on. Returns
 * false, and the reason in `why`, if a result is wrong, or IN has changed. */
bool data_check(const struct data *data, uint32_t first, uint32_t ranks, void *const *in,
                void *const *out, char *why, size_t why_bytes);

#endif /* COLL_TOOLS_DATA_H */
