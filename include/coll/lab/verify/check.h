/* coll/lab/verify/check.h — takes a rank's next step, and checks each of its actions by itself
 *
 * Pure and bounded functions, known kinds, peers that exist, refs within their space and apart
 * from each other: all that can be told without running the other ranks. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_CHECK_H
#define COLL_LAB_VERIFY_CHECK_H

#include "symbolic.h"

/* ---- the next action --------------------------------------------------------------------- */

/* Takes the rank's next step. The algorithm is asked twice, with another question in between. */
COLL_INLINE bool coll_i_take_step(coll_i_data *d, uint32_t rank, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    const size_t s = at->step;
    unsigned char *beyond = (unsigned char *)(d->first + COLL_STEP_MAX);
    unsigned n, room;
    memset(d->first, 0xa5, sizeof(coll_action) * (COLL_STEP_MAX + 1));
    n = coll_plan_step(at->plan, rank, s, d->first);
    for (room = 0; room < sizeof(coll_action) && beyond[room] == 0xa5; room++)
        ;
    if (n > COLL_STEP_MAX || room < sizeof(coll_action))
        return coll_i_found(report, COLL_FOUND_ACTIONS, rank, s,
                            "yields %u actions; COLL_STEP_MAX is %d%s", n, COLL_STEP_MAX,
                            n > COLL_STEP_MAX ? "" : ", and more were written");
    if (d->pure) {
        const uint32_t other = ++d->decoy & 1 ? rank : (d->decoy * 0x9e3779b9u >> 8) % d->p;
        const coll_i_rank *decoy = coll_i_rank_at(d, other);
        unsigned m;
        if (decoy->steps > 0)
            coll_plan_step(decoy->plan, other, decoy->steps - 1 - s % decoy->steps, d->again);
        memset(d->again, 0x5a, sizeof(coll_action) * COLL_STEP_MAX);
        m = coll_plan_step(at->plan, rank, s, d->again);
        if (m != n || memcmp(d->first, d->again, n * sizeof(coll_action)) != 0)
            return coll_i_found(report, COLL_FOUND_IMPURE, rank, s,
                                "asked again, the step gives other actions");
    }
    memcpy(at->acts, d->first, n * sizeof(coll_action));
    at->n = n;
    at->next = 0;
    at->step++;
    return true;
}

/* ---- is the action legal by itself? ------------------------------------------------------ */

/* May the rank touch [ref, ref + count)? `what` names the operand. */
COLL_INLINE bool coll_i_check_range(const coll_i_data *d, uint32_t rank, size_t s, coll_ref ref,
                                    size_t count, bool writes, const char *what,
                                    coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_space space = coll_ref_space(ref);
    const size_t offset = coll_ref_offset(ref), extent = at->extent[space];
    if (writes && space == COLL_IN)
        return coll_i_found(report, COLL_FOUND_WRITES_IN, rank, s,
                            "%s is IN[%zu], %zu elements", what, offset, count);
    if (count > extent || offset > extent - count)
        return coll_i_found(report, COLL_FOUND_OUTSIDE, rank, s,
                            "%s is %s[%zu], %zu elements, but %s has %zu%s", what,
                            coll_space_name(coll_ref_space(ref)), offset, count,
                            coll_space_name(coll_ref_space(ref)), extent,
                            space == COLL_IN && extent == 0 && coll_in_place(at->plan)
                                ? " (in place: the input is in OUT)"
                                : "");
    if (writes && space == COLL_OUT && (at->gaps || at->frozen)) {
        const size_t gap = at->frozen ? 0 : coll_i_first_gap(at->at[space] + offset, count);
        if (gap < count)
            return coll_i_found(report, COLL_FOUND_GAP, rank, s,
                                "%s is OUT[%zu], %zu elements, but OUT[%zu] must stay as it is",
                                what, offset, count, offset + gap);
    }
    if (space == COLL_SCRATCH) {
        at->low = offset < at->low ? offset : at->low;
        at->high = offset + count > at->high ? offset + count : at->high;
    }
    return true;
}

/* Refs that are no exact copies of each other must not overlap. */
COLL_INLINE bool coll_i_check_apart(uint32_t rank, size_t s, coll_ref a, coll_ref b,
                                    size_t count, size_t b_count, bool equal_is_fine,
                                    const char *what, coll_report *report)
{
    if ((a == b && equal_is_fine) || !(a - b < b_count || b - a < count))
        return true;
    return coll_i_found(report, COLL_FOUND_OVERLAP, rank, s,
                        "%s overlap: %s[%zu], %zu elements, and %s[%zu], %zu elements", what,
                        coll_space_name(coll_ref_space(a)), coll_ref_offset(a), count,
                        coll_space_name(coll_ref_space(b)), coll_ref_offset(b), b_count);
}

COLL_INLINE bool coll_i_check_kind(const coll_i_data *d, uint32_t rank, size_t s,
                                   const coll_action *a, coll_report *report)
{
    const coll_plan *plan = coll_i_rank_at(d, rank)->plan;
    if (a->kind >= COLL_KINDS)
        return coll_i_found(report, COLL_FOUND_KIND, rank, s, "there is no kind of action %u",
                            a->kind);
    if (coll_i_has_peer(a) && (a->peer >= d->p || a->peer == rank))
        return coll_i_found(report, COLL_FOUND_PEER, rank, s, "the peer is rank %u of %u%s",
                            a->peer, d->p, a->peer == rank ? ", itself" : "");
    if (a->kind == COLL_DO_REDUCE && a->inputs == 0)
        return coll_i_found(report, COLL_FOUND_INPUTS, rank, s, "reduces 0 operands");
    if (a->kind == COLL_DO_NETWORK_REDUCE &&
        (a->peer >= COLL_NETWORK_GROUPS || a->stride == 0 || a->stride > d->p ||
         (a->peer == COLL_GROUP_ALL && a->stride != d->p)))
        return coll_i_found(report, COLL_FOUND_PEER, rank, s,
                            "meets group %u of %zu ranks, in a plan of %u", a->peer, a->stride,
                            d->p);
    if ((a->stride != 0 && a->kind != COLL_DO_REDUCE && a->kind != COLL_DO_NETWORK_REDUCE) ||
        (a->flags != 0 && (a->kind != COLL_DO_RECV_REDUCE || a->flags != COLL_LEFT) &&
         (a->kind != COLL_DO_NETWORK_REDUCE || a->flags != COLL_NETWORK_BARRIER)))
        return coll_i_found(report, COLL_FOUND_FIELD, rank, s,
                            "stride is %zu and flags are %u in an action of kind %u", a->stride,
                            a->flags, a->kind);
    if ((a->kind == COLL_DO_MULTICAST && !(plan->traits & COLL_NEEDS_MULTICAST)) ||
        (a->kind == COLL_DO_NETWORK_REDUCE &&
         !(plan->traits & (a->flags & COLL_NETWORK_BARRIER ? COLL_NEEDS_NETWORK_BARRIER
                                                           : COLL_NEEDS_NETWORK_REDUCE))))
        return coll_i_found(report, COLL_FOUND_TRAIT, rank, s,
                            "a %s, but the algorithm does not say that it needs one",
                            a->kind == COLL_DO_MULTICAST      ? "multicast"
                            : a->flags & COLL_NETWORK_BARRIER ? "meeting in the network"
                                                              : "network reduction");
    return true;
}

/* Everything about an action, of at least one element, that does not depend on other actions. */
COLL_INLINE bool coll_i_check_action(const coll_i_data *d, uint32_t rank, size_t s,
                                     const coll_action *a, coll_report *report)
{
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    if (coll_i_is_token(a)) { /* of a meeting dst and src are the same */
        const coll_ref ref = coll_i_has(COLL_I_READS_SRC, a) ? a->src : a->dst;
        return coll_ref_space(ref) != COLL_SHARED ||
               coll_i_check_range(d, rank, s, ref, a->count, true, "the token", report);
    }
    if (coll_i_has(COLL_I_READS_SRC, a) &&
        !coll_i_check_range(d, rank, s, a->src, a->count, false, "the source", report))
        return false;
    if (coll_i_has(COLL_I_WRITES_DST, a) &&
        !coll_i_check_range(d, rank, s, a->dst, a->count, true, "the destination", report))
        return false;
    if (coll_i_has(COLL_I_READS_SRC & COLL_I_WRITES_DST, a) &&
        !coll_i_check_apart(rank, s, a->dst, a->src, a->count, a->count, true,
                            "destination and source", report))
        return false;
    if (merges)
        return coll_i_check_range(d, rank, s, a->via, a->count, true, "the staging", report) &&
               coll_i_check_apart(rank, s, a->via, a->src, a->count, a->count, false,
                                  "staging and source", report) &&
               coll_i_check_apart(rank, s, a->dst, a->via, a->count, a->count, true,
                                  "destination and staging", report);
    for (uint32_t i = 0; a->kind == COLL_DO_REDUCE && i < a->inputs; i++)
        if (!coll_i_check_range(d, rank, s, a->via + i * a->stride, a->count, false,
                                "an operand", report) ||
            !coll_i_check_apart(rank, s, a->dst, a->via + i * a->stride, a->count, a->count,
                                a->inputs == 1, "destination and operand", report))
            return false;
    return true;
}

#endif /* COLL_LAB_VERIFY_CHECK_H */
