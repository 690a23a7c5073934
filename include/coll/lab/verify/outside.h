/* coll/lab/verify/outside.h — the groups and places of the grid, and what a plan must say of them
 *
 * An algorithm that computes on the ranks outside (COLL_USES_GROUP) has them all proven: machines of
 * up to COLL_I_GRID_MACHINE ranks with every choice of members, larger ones at random, and groups
 * that do not fit, which it must refuse. For others a group is the executor's business, and a few
 * are enough. Ranks on scattered nodes are for algorithms that use nodes. Use lab/verify_grid.h.
 */
#ifndef COLL_LAB_VERIFY_OUTSIDE_H
#define COLL_LAB_VERIFY_OUTSIDE_H

#include "case.h"

enum { COLL_I_GRID_MACHINE = 8 };

COLL_INLINE void coll_i_grid_group_set(coll_grid_case *of, coll_grid_grouping kind,
                                       uint32_t outer, uint32_t which)
{
    of->group.kind = kind;
    of->group.outer = outer;
    of->group.which = which;
}

/* A choice of p out of `outer`, at random. */
COLL_INLINE void coll_i_grid_group_missing(coll_grid_worker *worker, coll_grid_case *of,
                                           uint32_t outer)
{
    coll_i_grid_group_set(of, COLL_GRID_MISSING, outer,
                          coll_i_random_below(&worker->random, coll_i_choices(outer, of->p)));
}

/* Sets group number k of those that are the same for all algorithms; false if there are fewer. */
COLL_INLINE bool coll_i_grid_any_group(coll_grid_worker *worker, coll_grid_case *of, uint32_t k)
{
    const uint32_t p = of->p, more = coll_i_random_below(&worker->random, p + 1);
    if (k == 0)
        coll_i_grid_group_set(of, COLL_GRID_AFFINE, 2 * p + 1, more);
    else
        coll_i_grid_group_set(of, COLL_GRID_SHUFFLED, p + more,
                              coll_i_random_below(&worker->random, UINT32_MAX));
    return k < 2;
}

/* Sets group and machine number k of an algorithm that computes on them; false if there are fewer. */
COLL_INLINE bool coll_i_grid_group(coll_grid_worker *worker, coll_grid_case *of, uint32_t k)
{
    const uint32_t i = coll_i_grid_machine(of->algorithm), p = of->p;
    const uint32_t any = coll_i_random_below(&worker->random, p + 1);
    uint32_t *machine = &of->param[i];
    if (i == COLL_PARAM_MAX)
        return coll_i_grid_any_group(worker, of, k);
    coll_i_grid_group_set(of, COLL_GRID_NO_GROUP, 0, 0);
    for (*machine = p; *machine <= COLL_I_GRID_MACHINE; ++*machine) {
        const uint32_t choices = coll_i_choices(*machine, p);
        if (k < choices) {
            coll_i_grid_group_set(of, COLL_GRID_MISSING, *machine, k);
            return true;
        }
        k -= choices;
    }
    switch (k) {
    case 0: /* not placed: the ranks outside are the ranks, and others are missing at the end */
        *machine = p + any;
        break;
    case 1:
        *machine = 2 * coll_pow2_floor(p);
        break;
    case 2: /* … or they do not fit */
        *machine = p - 1;
        break;
    case 3:
    case 4: /* half of them are missing, in turn */
        *machine = 2 * p + k - 3;
        coll_i_grid_group_set(of, COLL_GRID_AFFINE, *machine, k - 3);
        break;
    case 5: /* two thirds and more */
        *machine = 4 * coll_pow2_floor(p);
        coll_i_grid_group_set(of, COLL_GRID_AFFINE, 3 * p, any);
        break;
    case 6: /* one, some, half, most */
    case 7:
    case 8:
    case 9:
        *machine = k == 6 ? p + 1 : k == 7 ? p + 1 + any / 4 : k == 8 ? 2 * p : 4 * p + any;
        coll_i_grid_group_missing(worker, of, *machine);
        break;
    case 10: /* those at the end, too */
        *machine = 2 * p + 2 * any;
        coll_i_grid_group_missing(worker, of, p + any);
        break;
    case 11: /* it does not fit, by one or more */
        *machine = p + any;
        coll_i_grid_group_missing(worker, of, p + any + 1);
        break;
    case 12: /* it does not ascend: which may matter, */
        *machine = p + any;
        coll_i_grid_group_set(of, COLL_GRID_SHUFFLED, p + any, any);
        break;
    default: /* or not */
        *machine = 0;
        coll_i_grid_group_set(of, COLL_GRID_SHUFFLED, p + any, any);
        break;
    }
    return k <= 13;
}

/* Does the grid have ranks on scattered nodes for this algorithm and collective? */
COLL_INLINE bool coll_i_grid_scatters(const coll_grid_case *of)
{
    return (of->algorithm->traits & COLL_USES_NODES) && of->layout == COLL_GRID_PLAIN &&
           !coll_is(COLL_NEIGHBORLY, of->collective);
}

/* Sets places number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_placing(coll_grid_worker *worker, coll_grid_case *of, uint32_t k)
{
    static const coll_grid_placing kinds[] = {
        COLL_GRID_DEALT, COLL_GRID_STREWN, COLL_GRID_LUMPY, COLL_GRID_ALONE, COLL_GRID_DEALT};
    const uint32_t n = sizeof kinds / sizeof *kinds, any = of->p < 8 ? of->p : 8;
    of->nodes = 0;
    of->places.kind = kinds[k % n];
    of->places.nodes = k == 0 ? 2 : 1 + coll_i_random_below(&worker->random, any);
    of->places.which = coll_i_random_below(&worker->random, of->p);
    return k < n;
}

/* Places a case, or not, at random. */
COLL_INLINE void coll_i_grid_outside_any(coll_grid_worker *worker, coll_grid_case *of)
{
    const bool computes = coll_i_grid_machine(of->algorithm) < COLL_PARAM_MAX;
    of->places.kind = COLL_GRID_NO_PLACES;
    coll_i_grid_group_set(of, COLL_GRID_NO_GROUP, 0, 0);
    if (coll_i_grid_scatters(of) && coll_i_random_below(&worker->random, 2) == 0)
        coll_i_grid_placing(worker, of, coll_i_random_below(&worker->random, 5));
    else if (computes || coll_i_random_below(&worker->random, 4) == 0)
        coll_i_grid_group(worker, of, coll_i_random_below(&worker->random, computes ? 14 : 2));
}

#endif /* COLL_LAB_VERIFY_OUTSIDE_H */
