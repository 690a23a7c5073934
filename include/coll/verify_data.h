/* coll/verify_data.h — runs all ranks of a plan symbolically, in program order, and checks every access
 *
 * Sends do not block and channels are unbounded, receives block: a Kahn network, whose result does not depend
 * on who runs when. Use verify.h.
 */
#ifndef COLL_VERIFY_DATA_H
#define COLL_VERIFY_DATA_H

#include "verify_values.h"

/* Where each rank's plan comes from. */
typedef struct coll_i_plans {
    const coll_plan *plan;
    const coll_plan *(*plan_of)(void *arg, uint32_t rank); /* NULL: `plan` for all */
    void *arg;
} coll_i_plans;

COLL_INLINE const coll_plan *coll_i_plan_of(const coll_i_plans *plans, uint32_t rank)
{
    return plans->plan_of ? plans->plan_of(plans->arg, rank) : plans->plan;
}

enum { COLL_I_READY, COLL_I_WAITS, COLL_I_WAITS_ALL, COLL_I_ENDED };

typedef struct coll_i_rank {
    const coll_plan *plan;
    coll_i_value *at[COLL_SPACES];
    size_t extent[COLL_SPACES];
    size_t step, steps; /* the step after those that were taken */
    size_t low, high;   /* SCRATCH touched */
    uint32_t n, next;   /* actions of the step that is being run, and the next one of them */
    uint32_t state, peer;
    uint32_t depth; /* messages in the longest chain that ends here */
    bool gaps;      /* OUT has elements that must not be written … */
    bool frozen;    /* … or all are such, though readable */
    bool checked;   /* the next action is legal by itself */
    coll_action acts[COLL_STEP_MAX];
} coll_i_rank;

typedef struct coll_i_message {
    size_t step;  /* of the sender */
    size_t count; /* elements; 0: a notification */
    size_t at;    /* the elements, in `payload` */
    uint32_t next, depth;
} coll_i_message;

enum { COLL_I_CLASSES = 48, COLL_I_ROOM = 4 * COLL_STEP_MAX };

typedef struct coll_i_data {
    coll_i_structures structures;
    coll_i_channels channels;
    coll_i_memory ranks, counts, elements, messages, payload, ready, meeting;
    uint32_t p, n_ready;
    uint32_t n_messages, free_message;
    size_t payload_used, free_payload[COLL_I_CLASSES]; /* by the power of two; SIZE_MAX: none */
    uint32_t met; /* ranks in the current FABRIC_REDUCE, of `meeting_count` elements */
    size_t meeting_count;
    uint32_t decoy;
    uint32_t kinds; /* mask of the kinds of all actions */
    bool pure;      /* look for impure functions too */
    coll_action first[COLL_STEP_MAX + COLL_I_ROOM], again[COLL_STEP_MAX + COLL_I_ROOM];
} coll_i_data;

COLL_INLINE coll_i_rank *coll_i_rank_at(const coll_i_data *d, uint32_t rank)
{
    return (coll_i_rank *)d->ranks.at + rank;
}

COLL_INLINE coll_verify_count *coll_i_count_at(const coll_i_data *d, uint32_t rank)
{
    return (coll_verify_count *)d->counts.at + rank;
}

COLL_INLINE bool coll_i_no_memory(coll_report *report)
{
    return coll_i_found(report, COLL_FOUND_NO_MEMORY, 0, COLL_NO_STEP,
                        "the verifier ran out of memory");
}

COLL_INLINE const char *coll_i_space_name(coll_ref ref)
{
    static const char *const names[] = {"IN", "OUT", "SCRATCH", "SHARED"};
    return names[coll_ref_space(ref)];
}

/* ---- what the ranks start from ----------------------------------------------------------- */

/* Marks as not the algorithm's what lies between the blocks of a layout. */
COLL_INLINE bool coll_i_mark_gaps(coll_i_value *values, size_t extent,
                                  const coll_layout *layout, uint32_t p, size_t head)
{
    bool gaps = false;
    if (!layout->counts)
        return false;
    for (size_t i = head; i < extent; i++)
        values[i] = coll_i_value_of(COLL_I_GAP, 0);
    for (uint32_t b = 0; b < p; b++)
        for (size_t i = 0; i < layout->counts[b]; i++)
            values[layout->displs[b] + i] = 0;
    for (size_t i = 0; i < extent && !gaps; i++)
        gaps = coll_i_structure(values[i]) == COLL_I_GAP;
    return gaps;
}

/* The elements that a rank starts with, at their place in IN or OUT. */
COLL_INLINE void coll_i_load_rank(coll_i_rank *at, uint32_t rank)
{
    const coll_plan *plan = at->plan;
    const coll_problem *of = &plan->problem;
    const bool root = rank == of->root;
    const bool in_place =
        coll_in_place(plan) && (root || !coll_is(COLL_ROOTED, of->collective));
    coll_i_value *in = at->at[COLL_IN], *out = at->at[COLL_OUT];
    coll_i_value *from = in_place ? out : in;
    at->gaps = at->frozen = false;
    switch (of->collective) {
    case COLL_BCAST:
        if (root)
            coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_EXSCAN:
        at->frozen = rank == 0;
        coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
        coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        if (at->extent[COLL_OUT] > 0)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], &of->out, of->p, 0);
        coll_i_fill_values(in_place ? out + coll_out_block(plan, rank).offset : in,
                           coll_own_count(plan, rank), rank, 0);
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        if (root) {
            coll_i_mark_gaps(in, at->extent[COLL_IN], &of->in, of->p, 0);
            for (uint32_t b = 0; b < of->p; b++) {
                const coll_block block = coll_in_block(plan, b);
                coll_i_fill_values(in + block.offset, block.count, rank, block.offset);
            }
        }
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: {
        const bool exchange =
            of->collective == COLL_ALLTOALL || of->collective == COLL_ALLTOALLV;
        const coll_layout *input = in_place && exchange ? &of->out : &of->in;
        if (in_place)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], input, of->p,
                                        exchange ? 0 : coll_own_count(plan, rank));
        else
            coll_i_mark_gaps(in, at->extent[COLL_IN], input, of->p, 0);
        if (!in_place && exchange)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], &of->out, of->p, 0);
        for (uint32_t b = 0; b < of->p; b++) {
            const coll_block block = coll_i_layout_block(input, of->count, b);
            coll_i_fill_values(from + block.offset, block.count, rank, block.offset);
        }
        break;
    }
    case COLL_BARRIER:
    case COLL_COLLECTIVES:
        break;
    }
}

COLL_INLINE void coll_i_make_ready(coll_i_data *d, uint32_t rank)
{
    coll_i_rank_at(d, rank)->state = COLL_I_READY;
    ((uint32_t *)d->ready.at)[d->n_ready++] = rank;
}

/* Sets up all ranks with their memory. */
COLL_INLINE bool coll_i_data_begin(coll_i_data *d, const coll_i_plans *plans, bool pure,
                                   coll_report *report)
{
    const uint32_t p = d->p = coll_i_plan_of(plans, 0)->problem.p;
    size_t total = 0, shared = 0;
    coll_i_value *values;
    if (!coll_i_reserve_new(&d->ranks, p * sizeof(coll_i_rank)) ||
        !coll_i_reserve_new(&d->counts, p * sizeof(coll_verify_count)) ||
        !coll_i_reserve_new(&d->ready, p * sizeof(uint32_t)))
        return coll_i_no_memory(report);
    memset(d->counts.at, 0, p * sizeof(coll_verify_count));
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_i_rank *at = coll_i_rank_at(d, rank);
        const coll_plan *plan = coll_i_plan_of(plans, rank);
        const coll_status status = plan ? coll_plan_check_rank(plan, rank) : COLL_ERR_NULL;
        coll_extents extents;
        if (status != COLL_OK || plan->problem.p != p)
            return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                "the plan cannot run on this rank: %s",
                                status != COLL_OK ? coll_status_text(status)
                                                  : "it has another number of ranks");
        extents = coll_plan_extents(plan, rank);
        if (!extents.fits)
            return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP, "%s",
                                coll_status_text(COLL_ERR_OVERFLOW));
        at->plan = plan;
        at->extent[COLL_IN] = extents.in;
        at->extent[COLL_OUT] = extents.out;
        at->extent[COLL_SCRATCH] = coll_plan_scratch(plan, rank);
        at->extent[COLL_SHARED] = coll_plan_shared(plan);
        if (rank == 0)
            shared = at->extent[COLL_SHARED];
        if (coll_plan_scratch(plan, rank) != at->extent[COLL_SCRATCH] ||
            at->extent[COLL_SHARED] != shared)
            return coll_i_found(report, COLL_FOUND_IMPURE, rank, COLL_NO_STEP,
                                "scratch or shared gives a second answer");
        if (shared > 0 && !(plan->traits & COLL_NEEDS_SHARED))
            return coll_i_found(report, COLL_FOUND_TRAIT, rank, COLL_NO_STEP,
                                "the algorithm wants SHARED without COLL_NEEDS_SHARED");
        total += extents.in + extents.out + at->extent[COLL_SCRATCH];
    }
    values = (coll_i_value *)coll_i_reserve_new(&d->elements,
                                                (total + shared) * sizeof(coll_i_value));
    if (!values)
        return coll_i_no_memory(report);
    memset(values, 0, (total + shared) * sizeof(coll_i_value));
    d->n_ready = 0;
    for (uint32_t rank = p; rank-- > 0;) {
        coll_i_rank *at = coll_i_rank_at(d, rank);
        for (int space = COLL_IN; space < COLL_SHARED; space++) {
            at->at[space] = values;
            values += at->extent[space];
        }
        at->at[COLL_SHARED] = (coll_i_value *)d->elements.at + total;
        at->step = 0;
        at->steps = coll_plan_steps(at->plan, rank);
        at->checked = false;
        if (coll_plan_steps(at->plan, rank) != at->steps)
            return coll_i_found(report, COLL_FOUND_IMPURE, rank, COLL_NO_STEP,
                                "steps gives a second answer");
        at->low = SIZE_MAX;
        at->high = 0;
        at->n = at->next = at->peer = at->depth = 0;
        coll_i_load_rank(at, rank);
        coll_i_make_ready(d, rank);
    }
    coll_i_channels_clear(&d->channels);
    d->n_messages = 0;
    d->free_message = COLL_I_NONE;
    d->payload_used = 0;
    for (int i = 0; i < COLL_I_CLASSES; i++)
        d->free_payload[i] = SIZE_MAX;
    d->met = 0;
    d->pure = pure;
    d->kinds = 0;
    return true;
}

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
        return coll_i_found(
            report, COLL_FOUND_OUTSIDE, rank, s, "%s is %s[%zu], %zu elements, but %s has %zu",
            what, coll_i_space_name(ref), offset, count, coll_i_space_name(ref), extent);
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
                        coll_i_space_name(a), coll_ref_offset(a), count, coll_i_space_name(b),
                        coll_ref_offset(b), b_count);
}

COLL_INLINE bool coll_i_check_kind(const coll_i_data *d, uint32_t rank, size_t s,
                                   const coll_action *a, coll_report *report)
{
    const coll_plan *plan = coll_i_rank_at(d, rank)->plan;
    const unsigned peers = (COLL_I_SENDS & ~COLL_I_KIND(MULTICAST)) | COLL_I_RECEIVES;
    if (a->kind >= COLL_KINDS)
        return coll_i_found(report, COLL_FOUND_KIND, rank, s, "there is no kind of action %u",
                            a->kind);
    if (coll_i_has(peers, a) && (a->peer >= d->p || a->peer == rank))
        return coll_i_found(report, COLL_FOUND_PEER, rank, s, "the peer is rank %u of %u%s",
                            a->peer, d->p, a->peer == rank ? ", itself" : "");
    if (a->kind == COLL_DO_REDUCE && a->inputs == 0)
        return coll_i_found(report, COLL_FOUND_INPUTS, rank, s, "reduces 0 operands");
    if ((a->stride != 0 && a->kind != COLL_DO_REDUCE) ||
        (a->flags != 0 && (a->kind != COLL_DO_RECV_REDUCE || a->flags != COLL_LEFT)))
        return coll_i_found(report, COLL_FOUND_FIELD, rank, s,
                            "stride is %zu and flags are %u in an action of kind %u", a->stride,
                            a->flags, a->kind);
    if ((a->kind == COLL_DO_MULTICAST && !(plan->traits & COLL_NEEDS_MULTICAST)) ||
        (a->kind == COLL_DO_FABRIC_REDUCE && !(plan->traits & COLL_NEEDS_FABRIC_REDUCE)))
        return coll_i_found(report, COLL_FOUND_TRAIT, rank, s,
                            "a %s, but the algorithm does not say that it needs one",
                            a->kind == COLL_DO_MULTICAST ? "multicast" : "fabric reduction");
    return true;
}

/* Everything about an action, of at least one element, that does not depend on other actions. */
COLL_INLINE bool coll_i_check_action(const coll_i_data *d, uint32_t rank, size_t s,
                                     const coll_action *a, coll_report *report)
{
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    if (coll_i_has(COLL_I_TOKENS, a)) {
        const coll_ref ref = a->kind == COLL_DO_NOTIFY ? a->src : a->dst;
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

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE uint32_t coll_i_class_of(size_t count)
{
    uint32_t k = 0;
    while (((size_t)1 << k) < count)
        k++;
    return k;
}

/* Where 2^k elements can be kept; SIZE_MAX: no memory. */
COLL_INLINE size_t coll_i_payload_take(coll_i_data *d, uint32_t k)
{
    size_t at = d->free_payload[k];
    if (at != SIZE_MAX) {
        d->free_payload[k] = (size_t)((coll_i_value *)d->payload.at)[at] - 1;
        return at;
    }
    at = d->payload_used;
    if (!coll_i_reserve(&d->payload, (at + ((size_t)1 << k)) * sizeof(coll_i_value)))
        return SIZE_MAX;
    d->payload_used += (size_t)1 << k;
    return at;
}

COLL_INLINE coll_i_message *coll_i_message_at(const coll_i_data *d, uint32_t index)
{
    return (coll_i_message *)d->messages.at + index;
}

/* Puts a message into the channel, and wakes its receiver if that waits for it. */
COLL_INLINE bool coll_i_post(coll_i_data *d, uint32_t from, uint32_t to, size_t step,
                             const coll_i_value *values, size_t count)
{
    const uint32_t c = coll_i_channel_of(&d->channels, from, to);
    coll_i_rank *receiver = coll_i_rank_at(d, to);
    coll_i_channel *channel;
    coll_i_message *message;
    uint32_t index = d->free_message;
    if (c == COLL_I_NONE)
        return false;
    if (index != COLL_I_NONE) {
        d->free_message = coll_i_message_at(d, index)->next;
    } else {
        index = d->n_messages;
        if (!coll_i_reserve(&d->messages, (index + (size_t)1) * sizeof(coll_i_message)))
            return false;
        d->n_messages++;
    }
    message = coll_i_message_at(d, index);
    message->step = step;
    message->count = count;
    message->depth = coll_i_rank_at(d, from)->depth + 1;
    message->next = COLL_I_NONE;
    message->at = 0;
    if (count > 0) {
        message->at = coll_i_payload_take(d, coll_i_class_of(count));
        if (message->at == SIZE_MAX)
            return false;
        memcpy((coll_i_value *)d->payload.at + message->at, values,
               count * sizeof(coll_i_value));
    }
    channel = coll_i_channel_at(&d->channels, c);
    if (channel->head == COLL_I_NONE)
        channel->head = index;
    else
        coll_i_message_at(d, channel->tail)->next = index;
    channel->tail = index;
    if (receiver->state == COLL_I_WAITS && receiver->peer == from)
        coll_i_make_ready(d, to);
    return true;
}

/* The memory of the channel's first message is free again; its elements last until the next post. */
COLL_INLINE void coll_i_drop(coll_i_data *d, coll_i_channel *channel)
{
    const uint32_t index = channel->head;
    coll_i_message *message = coll_i_message_at(d, index);
    channel->head = message->next;
    message->next = d->free_message;
    d->free_message = index;
    if (message->count > 0) {
        const uint32_t k = coll_i_class_of(message->count);
        ((coll_i_value *)d->payload.at)[message->at] = (coll_i_value)d->free_payload[k] + 1;
        d->free_payload[k] = message->at;
    }
}

/* ---- running an action ------------------------------------------------------------------- */

COLL_INLINE coll_i_value *coll_i_values_at(const coll_i_rank *at, coll_ref ref)
{
    return at->at[coll_ref_space(ref)] + coll_ref_offset(ref);
}

COLL_INLINE bool coll_i_check_set(const coll_i_data *d, uint32_t rank, size_t s, coll_ref ref,
                                  size_t count, const char *what, coll_report *report)
{
    const size_t i = coll_i_first_unset(coll_i_values_at(coll_i_rank_at(d, rank), ref), count);
    if (i == count)
        return true;
    return coll_i_found(report, COLL_FOUND_UNWRITTEN, rank, s,
                        "%s is %s[%zu], %zu elements, but %s[%zu] holds nothing yet", what,
                        coll_i_space_name(ref), coll_ref_offset(ref), count,
                        coll_i_space_name(ref), coll_ref_offset(ref) + i);
}

/* dst = a ⊕ b, or what is wrong with that. */
COLL_INLINE bool coll_i_merge_values(coll_i_data *d, uint32_t rank, size_t s, coll_i_value *dst,
                                     const coll_i_value *a, const coll_i_value *b, size_t count,
                                     coll_report *report)
{
    const size_t i = coll_i_combine_values(&d->structures, dst, a, b, count);
    char left[128], right[128];
    coll_i_count_at(d, rank)->reduced += count;
    if (d->structures.out_of_memory)
        return coll_i_no_memory(report);
    if (i == count)
        return true;
    coll_i_value_words(&d->structures, a[i], left, sizeof left);
    coll_i_value_words(&d->structures, b[i], right, sizeof right);
    return coll_i_found(
        report,
        coll_i_structure(a[i]) < COLL_I_LEAF || coll_i_structure(b[i]) < COLL_I_LEAF
            ? COLL_FOUND_UNWRITTEN
            : COLL_FOUND_MIXED,
        rank, s, "operand element %zu of %zu combines %s with %s", i, count, left, right);
}

/* Receives into the action's dst. False: nothing there yet, or a finding. */
COLL_INLINE bool coll_i_run_receive(coll_i_data *d, uint32_t rank, size_t s,
                                    const coll_action *a, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    const uint32_t c = coll_i_channel_of(&d->channels, a->peer, rank);
    const size_t count = a->kind == COLL_DO_AWAIT ? 0 : a->count;
    coll_i_channel *channel;
    const coll_i_message *message;
    const coll_i_value *values;
    if (c == COLL_I_NONE)
        return coll_i_no_memory(report);
    channel = coll_i_channel_at(&d->channels, c);
    if (channel->head == COLL_I_NONE) {
        at->state = COLL_I_WAITS;
        at->peer = a->peer;
        return false;
    }
    message = coll_i_message_at(d, channel->head);
    if (message->count != count)
        return coll_i_found(report, COLL_FOUND_SIZE, rank, s,
                            "expects %zu elements from rank %u, which sent %zu at step %zu",
                            count, a->peer, message->count, message->step);
    at->depth = message->depth > at->depth ? message->depth : at->depth;
    values = (const coll_i_value *)d->payload.at + message->at;
    if (a->kind == COLL_DO_RECV) {
        memcpy(coll_i_values_at(at, a->dst), values, count * sizeof(coll_i_value));
    } else if (a->kind == COLL_DO_RECV_REDUCE) {
        const coll_i_value *src = coll_i_values_at(at, a->src);
        const bool left = (a->flags & COLL_LEFT) != 0;
        if (!coll_i_merge_values(d, rank, s, coll_i_values_at(at, a->dst), left ? values : src,
                                 left ? src : values, count, report))
            return false;
        if (a->via != a->dst) /* may hold the message, or what it held before */
            memset(coll_i_values_at(at, a->via), 0, count * sizeof(coll_i_value));
    }
    coll_i_drop(d, channel);
    return true;
}

/* One more rank meets the others in a FABRIC_REDUCE; the last one ends it for all. */
COLL_INLINE bool coll_i_run_meeting(coll_i_data *d, uint32_t rank, size_t s,
                                    const coll_action *a, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_i_value *values, *sum;
    uint32_t depth = 0;
    if (d->met == 0)
        d->meeting_count = a->count;
    if (a->count != d->meeting_count)
        return coll_i_found(report, COLL_FOUND_SIZE, rank, s,
                            "a fabric reduction of %zu elements meets others of %zu", a->count,
                            d->meeting_count);
    values = (coll_i_value *)coll_i_reserve(&d->meeting, (d->p + (size_t)1) * a->count *
                                                             sizeof(coll_i_value));
    if (!values)
        return coll_i_no_memory(report);
    memcpy(values + rank * a->count, coll_i_values_at(at, a->src),
           a->count * sizeof(coll_i_value));
    at->state = COLL_I_WAITS_ALL;
    if (++d->met < d->p)
        return false;
    sum = values + d->p * a->count;
    memcpy(sum, values, a->count * sizeof(coll_i_value));
    for (uint32_t r = 1; r < d->p; r++)
        if (!coll_i_merge_values(d, rank, s, sum, sum, values + r * a->count, a->count, report))
            return false;
    for (uint32_t r = 0; r < d->p; r++)
        if (coll_i_rank_at(d, r)->depth >= depth)
            depth = coll_i_rank_at(d, r)->depth + 1;
    for (uint32_t r = 0; r < d->p; r++) {
        coll_i_rank *other = coll_i_rank_at(d, r);
        memcpy(coll_i_values_at(other, other->acts[other->next].dst), sum,
               a->count * sizeof(coll_i_value));
        other->depth = depth;
        other->state = COLL_I_READY;
        if (r != rank) {
            other->next++;
            other->checked = false;
            coll_i_make_ready(d, r);
        }
    }
    d->met = 0;
    return true;
}

/* Runs one action. False: it must wait (the state of the rank says so), or there is a finding. */
COLL_INLINE bool coll_i_run_action(coll_i_data *d, uint32_t rank, size_t s,
                                   const coll_action *a, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_verify_count *count = coll_i_count_at(d, rank);
    const bool token = coll_i_has(COLL_I_TOKENS, a);
    const unsigned reads = COLL_I_KIND(SEND) | COLL_I_KIND(COPY) | COLL_I_KIND(MULTICAST) |
                           COLL_I_KIND(FABRIC_REDUCE);
    if (coll_i_has(reads, a) &&
        !coll_i_check_set(d, rank, s, a->src, a->count, "the source", report))
        return false;
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
    case COLL_DO_NOTIFY:
    case COLL_DO_MULTICAST: {
        const bool all = a->kind == COLL_DO_MULTICAST;
        for (uint32_t to = all ? 0 : a->peer; to <= (all ? d->p - 1 : a->peer); to++)
            if (to != rank &&
                !coll_i_post(d, rank, to, s, token ? NULL : coll_i_values_at(at, a->src),
                             token ? 0 : a->count))
                return coll_i_no_memory(report);
        count->messages++;
        count->elements += token ? 0 : a->count;
        return true;
    }
    case COLL_DO_RECV:
    case COLL_DO_RECV_REDUCE:
    case COLL_DO_AWAIT:
        return coll_i_run_receive(d, rank, s, a, report);
    case COLL_DO_COPY:
        if (a->dst != a->src)
            memcpy(coll_i_values_at(at, a->dst), coll_i_values_at(at, a->src),
                   a->count * sizeof(coll_i_value));
        count->copied += a->dst != a->src ? a->count : 0;
        return true;
    case COLL_DO_REDUCE:
        for (uint32_t i = 0; i < a->inputs; i++)
            if (!coll_i_merge_values(d, rank, s, coll_i_values_at(at, a->dst),
                                     coll_i_values_at(at, i == 0 ? a->src : a->dst),
                                     coll_i_values_at(at, a->via + i * a->stride), a->count,
                                     report))
                return false;
        return true;
    case COLL_DO_FABRIC_REDUCE:
        return coll_i_run_meeting(d, rank, s, a, report);
    case COLL_KINDS:
        break;
    }
    return true;
}

/* Runs a rank until it ends or must wait. False: a finding. */
COLL_INLINE bool coll_i_run_rank(coll_i_data *d, uint32_t rank, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    for (;;) {
        for (; at->next < at->n; at->next++) {
            const coll_action *a = &at->acts[at->next];
            const size_t s = at->step - 1;
            if (!at->checked) {
                if (!coll_i_check_kind(d, rank, s, a, report))
                    return false;
                if (a->count == 0)
                    continue;
                if (!coll_i_check_action(d, rank, s, a, report))
                    return false;
                d->kinds |= 1u << a->kind;
                coll_i_count_at(d, rank)->actions++;
            }
            at->checked = true;
            if (!coll_i_run_action(d, rank, s, a, report))
                return at->state != COLL_I_READY && report->ok;
            at->checked = false;
        }
        if (at->step == at->steps)
            break;
        if (!coll_i_take_step(d, rank, report))
            return false;
    }
    at->state = COLL_I_ENDED;
    coll_i_count_at(d, rank)->scratch = at->high > at->low ? at->high - at->low : 0;
    return true;
}

/* ---- how it ends ------------------------------------------------------------------------- */

/* The rank that a waiting rank waits for. */
COLL_INLINE uint32_t coll_i_waits_for(const coll_i_data *d, uint32_t rank)
{
    uint32_t other = coll_i_rank_at(d, rank)->peer;
    if (coll_i_rank_at(d, rank)->state == COLL_I_WAITS_ALL)
        for (other = 0; coll_i_rank_at(d, other)->state == COLL_I_WAITS_ALL; other++)
            ;
    return other;
}

/* Says why ranks are left that wait: one waits for a rank that has ended, or they wait in a circle. */
COLL_INLINE bool coll_i_found_stuck(const coll_i_data *d, uint32_t rank, coll_report *report)
{
    char circle[160];
    size_t used = 0;
    uint32_t at = rank;
    for (uint32_t hops = 0; hops < d->p; hops++) {
        const uint32_t other = coll_i_waits_for(d, at);
        if (coll_i_rank_at(d, other)->state == COLL_I_ENDED)
            return coll_i_found(report, COLL_FOUND_UNSENT, at, coll_i_rank_at(d, at)->step - 1,
                                "waits for a message of rank %u, which has ended", other);
        at = other;
    }
    rank = at; /* on the circle by now */
    do {
        const uint32_t other = coll_i_waits_for(d, at);
        if (used + 48 < sizeof circle)
            used += (size_t)snprintf(circle + used, sizeof circle - used,
                                     ", which waits for rank %u (step %zu)", other,
                                     coll_i_rank_at(d, other)->step - 1);
        at = other;
    } while (at != rank);
    return coll_i_found(report, COLL_FOUND_DEADLOCK, rank, coll_i_rank_at(d, rank)->step - 1,
                        "%s", circle + strlen(", which "));
}

/* Runs everything. False: a finding. */
COLL_INLINE bool coll_i_data_run(coll_i_data *d, coll_report *report)
{
    while (d->n_ready > 0)
        if (!coll_i_run_rank(d, ((uint32_t *)d->ready.at)[--d->n_ready], report))
            return false;
    for (uint32_t rank = 0; rank < d->p; rank++)
        if (coll_i_rank_at(d, rank)->state != COLL_I_ENDED)
            return coll_i_found_stuck(d, rank, report);
    for (uint32_t c = 0; c < d->channels.n; c++) {
        const coll_i_channel *channel = coll_i_channel_at(&d->channels, c);
        if (channel->head != COLL_I_NONE) {
            const coll_i_message *message = coll_i_message_at(d, channel->head);
            return coll_i_found(report, COLL_FOUND_UNRECEIVED, channel->from, message->step,
                                "sends %zu elements to rank %u, which never receives them",
                                message->count, channel->to);
        }
    }
    return true;
}

COLL_INLINE void coll_i_data_release(coll_i_data *d)
{
    coll_i_structures_release(&d->structures);
    coll_i_channels_release(&d->channels);
    coll_i_release(&d->ranks);
    coll_i_release(&d->counts);
    coll_i_release(&d->elements);
    coll_i_release(&d->messages);
    coll_i_release(&d->payload);
    coll_i_release(&d->ready);
    coll_i_release(&d->meeting);
}

#endif /* COLL_VERIFY_DATA_H */
