/* coll/comm/compare_counts.h — what ranks say of the counts of a call, so that these can be compared
 *
 * Private to compare.h, which has 48 bits of each rank for them. Where all ranks give one count, or one table, it
 * is that, or a number for the table.
 *
 * In a gatherv or scatterv the root has a table, and each other rank the one count that should be in it. There
 * the numbers of the ranks are added up modulo 2⁴⁸: each rank adds h(r, its count), and the root subtracts
 * h(r, count r of its table) for all r. The sum is zero if they agree; if not, it is zero once in 2⁴⁸.
 * Then all ranks tell their counts, and the root the first that is not what it expected.
 */
#ifndef COLL_COMM_COMPARE_COUNTS_H
#define COLL_COMM_COMPARE_COUNTS_H

#include "args.h"

/* A rank whose count is not what the root's table says, and that; p: the root has no table. */
typedef struct coll_i_expected {
    uint64_t rank, count;
} coll_i_expected;

/* A number that depends on another one, and on all of `value` (FNV-1a, by words). */
COLL_INLINE uint64_t coll_i_compare_mix(uint64_t number, uint64_t value)
{
    number = (number ^ value) * UINT64_C(0x100000001b3);
    return number ^ number >> 32;
}

/* Has the root a table of what the others give or take? */
COLL_INLINE bool coll_i_compare_is_table_of_root(coll_collective collective)
{
    return collective == COLL_GATHERV || collective == COLL_SCATTERV;
}

/* The table of counts that all ranks, or that of the root, give; NULL: there is none. */
COLL_INLINE const size_t *coll_i_compare_table(const coll_args *args)
{
    return args->collective == COLL_ALLGATHERV || args->collective == COLL_GATHERV
               ? args->out_counts
           : args->collective == COLL_REDUCE_SCATTER || args->collective == COLL_SCATTERV
               ? args->in_counts
               : NULL;
}

/* What this rank gives in a gatherv, or takes in a scatterv. In place it is what the root's table says. */
COLL_INLINE uint64_t coll_i_compare_own(const coll_args *args, uint32_t rank)
{
    const size_t *table = coll_i_compare_table(args);
    const void *own = args->collective == COLL_GATHERV ? args->in : args->out;
    return rank == args->root && table && own == COLL_IN_PLACE ? table[rank] : args->count;
}

/* h(r, count), of a gatherv or scatterv. */
COLL_INLINE uint64_t coll_i_compare_share(uint32_t r, uint64_t count)
{
    return coll_i_compare_mix(coll_i_compare_mix(UINT64_C(0xcbf29ce484222325), r), count) &
           ((UINT64_C(1) << 48) - 1);
}

/* Of a gatherv or scatterv. */
COLL_INLINE uint64_t coll_i_compare_sum(const coll_args *args, uint32_t rank, uint32_t p)
{
    const size_t *table = coll_i_compare_table(args);
    uint64_t sum = coll_i_compare_share(rank, coll_i_compare_own(args, rank));
    for (uint32_t r = 0; table && rank == args->root && r < p; r++)
        sum -= coll_i_compare_share(r, table[r]);
    return sum & ((UINT64_C(1) << 48) - 1);
}

/* The root's table against the count of rank r: written if they differ, or there is no table. */
COLL_INLINE void coll_i_compare_expected(const coll_args *args, uint32_t r, uint64_t count,
                                         coll_i_expected *expected)
{
    const size_t *table = coll_i_compare_table(args);
    if (!table || (table[r] & ((UINT64_C(1) << 48) - 1)) == count)
        return;
    expected->rank = r;
    expected->count = table[r];
}

/* What a rank gives that, over all ranks, is the same or adds up to zero. */
COLL_INLINE uint64_t coll_i_compare_count(const coll_args *args, uint32_t rank, uint32_t p)
{
    const unsigned own = COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_ALLGATHERV) |
                         COLL_BIT(COLL_REDUCE_SCATTER) | COLL_PAIRED | COLL_NEIGHBORLY;
    const size_t *table = coll_i_compare_table(args);
    uint64_t number = UINT64_C(0xcbf29ce484222325);
    if (coll_i_compare_is_table_of_root(args->collective))
        return coll_i_compare_sum(args, rank, p);
    for (uint32_t i = 0; table && i < p; i++)
        number = coll_i_compare_mix(number, table[i]);
    return table ? number : coll_is(own, args->collective) ? 0 : args->count;
}

#endif /* COLL_COMM_COMPARE_COUNTS_H */
