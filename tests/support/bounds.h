/* tests/support/bounds.h — does what a plan does stay within the memory that it asks for?
 *
 *   char why[BOUNDS_TEXT];
 *   CHECK(bounds_kept(&plan, rank, &random, why));      // else `why` is a sentence
 *
 * Every action is looked at by itself, as an executor with memory of coll_plan_extents,
 * coll_plan_scratch and coll_plan_shared would touch it. Ranks with very many steps are asked for
 * the first, the last and some at random.
 */
#ifndef COLL_TESTS_BOUNDS_H
#define COLL_TESTS_BOUNDS_H

#include <stdio.h>

#include "chance.h"
#include "coll/plan.h"

enum { BOUNDS_TEXT = 160, BOUNDS_STEPS = 1000 };

static inline bool bounds_outside(size_t extent, size_t offset, size_t count)
{
    return count > extent || offset > extent - count;
}

/* May a rank touch [ref, ref + count)? */
static inline bool bounds_of(const size_t *extents, size_t s, const char *what, coll_ref ref,
                             size_t count, bool writes, char *why)
{
    const coll_space space = coll_ref_space(ref);
    const size_t offset = coll_ref_offset(ref);
    if (writes && space == COLL_IN)
        return snprintf(why, BOUNDS_TEXT, "step %zu writes IN", s) < 0;
    if (!bounds_outside(extents[space], offset, count))
        return true;
    return snprintf(why, BOUNDS_TEXT, "step %zu: %s is %s[%zu], %zu elements, of %zu", s, what,
                    coll_space_name(space), offset, count, extents[space]) < 0;
}

static inline bool bounds_act(const coll_plan *plan, uint32_t rank, const size_t *extents,
                              size_t s, const coll_action *a, char *why)
{
    if (a->kind >= COLL_KINDS)
        return snprintf(why, BOUNDS_TEXT, "step %zu: kind %u", s, a->kind) < 0;
    if (coll_i_has_peer(a) && (a->peer >= plan->problem.p || a->peer == rank))
        return snprintf(why, BOUNDS_TEXT, "step %zu: a %s with rank %u", s,
                        coll_kind_name((coll_kind)a->kind), a->peer) < 0;
    if (a->count == 0)
        return true; /* no action at all */
    if (coll_i_is_token(a)) {
        const coll_ref ref = coll_i_has(COLL_I_READS_SRC, a) ? a->src : a->dst;
        return coll_ref_space(ref) != COLL_SHARED ||
               bounds_of(extents, s, "a token", ref, a->count, true, why);
    }
    if ((coll_i_has(COLL_I_READS_SRC, a) &&
         !bounds_of(extents, s, "a source", a->src, a->count, false, why)) ||
        (coll_i_has(COLL_I_WRITES_DST, a) &&
         !bounds_of(extents, s, "a destination", a->dst, a->count, true, why)) ||
        (a->kind == COLL_DO_RECV_REDUCE &&
         !bounds_of(extents, s, "a staging", a->via, a->count, true, why)))
        return false;
    for (uint32_t i = 0; a->kind == COLL_DO_REDUCE && i < a->inputs; i++)
        if (!bounds_of(extents, s, "an operand", a->via + i * a->stride, a->count, false, why))
            return false;
    return true;
}

static inline bool bounds_kept(const coll_plan *plan, uint32_t rank, uint64_t *random,
                               char *why)
{
    const coll_extents need = coll_plan_extents(plan, rank);
    const size_t steps = coll_plan_steps(plan, rank), elem_bytes = plan->problem.elem_bytes;
    size_t extents[COLL_SPACES], bytes;
    extents[COLL_IN] = need.in;
    extents[COLL_OUT] = need.out;
    extents[COLL_SCRATCH] = coll_plan_scratch(plan, rank);
    extents[COLL_SHARED] = coll_plan_shared(plan);
    for (unsigned space = 0; space < COLL_SPACES; space++)
        if (!need.fits || !coll_multiply(extents[space], elem_bytes, &bytes))
            return true; /* nobody has such memory, and coll_task_check knows */
    for (size_t i = 0; i < steps && i < 3 * (size_t)BOUNDS_STEPS; i++) {
        coll_action acts[COLL_STEP_MAX + 1];
        size_t s = i;
        unsigned n;
        if (steps > 3 * (size_t)BOUNDS_STEPS && i >= BOUNDS_STEPS)
            s = i < 2 * (size_t)BOUNDS_STEPS ? steps - 1 - (i - BOUNDS_STEPS)
                                             : (size_t)(chance_bits(random) % steps);
        acts[COLL_STEP_MAX].kind = 0xa5;
        n = coll_plan_step(plan, rank, s, acts);
        if (n > COLL_STEP_MAX || acts[COLL_STEP_MAX].kind != 0xa5)
            return snprintf(why, BOUNDS_TEXT, "step %zu has %u actions", s, n) < 0;
        for (unsigned k = 0; k < n; k++)
            if (!bounds_act(plan, rank, extents, s, &acts[k], why))
                return false;
    }
    return true;
}

#endif /* COLL_TESTS_BOUNDS_H */
