/* coll/lab/verify/data.h — runs all ranks of a plan symbolically, in program order
 *
 * Sends do not block and channels are unbounded, receives block: a Kahn network, whose result
 * does not depend on who runs when. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_DATA_H
#define COLL_LAB_VERIFY_DATA_H

#include "cause.h"

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
    channel->sent++;
    if (receiver->state == COLL_I_WAITS && receiver->peer == from)
        coll_i_make_ready(d, to);
    return true;
}

/* The memory of the channel's first message is free again; its elements last until the next
 * post. */
COLL_INLINE void coll_i_drop(coll_i_data *d, coll_i_channel *channel)
{
    const uint32_t index = channel->head;
    coll_i_message *message = coll_i_message_at(d, index);
    channel->received++;
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

/* dst = a ⊕ b, or what is wrong with that. */
COLL_INLINE bool coll_i_merge_values(coll_i_data *d, size_t s, coll_i_value *dst,
                                     const coll_i_operand operands[2], size_t count,
                                     coll_report *report)
{
    const size_t i =
        coll_i_combine_values(&d->structures, dst, operands[0].at, operands[1].at, count);
    coll_i_count_at(d, operands[0].rank)->reduced += count;
    if (d->structures.out_of_memory)
        return coll_i_no_memory(report);
    return i == count || coll_i_found_operands(d, s, operands, i, count, report);
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
        return coll_i_found_size(rank, s, a, message, report);
    at->depth = message->depth > at->depth ? message->depth : at->depth;
    values = (const coll_i_value *)d->payload.at + message->at;
    if (a->kind == COLL_DO_RECV) {
        memcpy(coll_i_values_at(at, a->dst), values, count * sizeof(coll_i_value));
    } else if (a->kind == COLL_DO_RECV_REDUCE) {
        const bool left = (a->flags & COLL_LEFT) != 0;
        coll_i_operand operands[2];
        operands[left] = coll_i_operand_at(d, rank, a->src);
        operands[!left] = operands[left];
        operands[!left].at = values;
        operands[!left].from = a->peer;
        operands[!left].step = message->step;
        if (!coll_i_merge_values(d, s, coll_i_values_at(at, a->dst), operands, count, report))
            return false;
        for (size_t i = 0; i < count && a->via != a->dst; i++)
            coll_i_values_at(at, a->via)[i] = COLL_I_STALE;
    }
    coll_i_drop(d, channel);
    return true;
}

/* The last rank of a group has come: reduces in rank order, and lets all go on. What the others have
 * to give is still where it was, or it was overwritten in no order with that. */
COLL_INLINE bool coll_i_end_meeting(coll_i_data *d, uint32_t rank, size_t s,
                                    const coll_action *a, coll_report *report)
{
    coll_i_meeting *m = &d->meetings[a->peer];
    const size_t count = m->count;
    coll_i_value *sum =
        (coll_i_value *)coll_i_reserve_new(&m->sum, count * sizeof(coll_i_value));
    const uint32_t number = coll_i_rank_at(d, rank)->meetings[a->peer];
    uint32_t depth = 0, n = 0;
    coll_i_operand operands[2];
    if (!sum)
        return coll_i_no_memory(report);
    for (uint32_t r = 0; r < d->p; r++) {
        const coll_i_rank *other = coll_i_rank_at(d, r);
        if (other->state != COLL_I_WAITS_ALL || other->peer != a->peer)
            continue;
        if (other->meetings[a->peer] != number)
            return coll_i_found(report, COLL_FOUND_GROUP, rank, s,
                                "its meeting %u with group %u is meeting %u of rank %u", number,
                                a->peer, other->meetings[a->peer], r);
        depth = other->depth >= depth ? other->depth + 1 : depth;
        operands[1] = coll_i_operand_at(d, r, other->acts[other->next].src);
        if (n++ == 0) {
            operands[0] = operands[1];
            operands[0].rank = rank;
            operands[0].at = sum;
            if (count != 0)
                memcpy(sum, operands[1].at, count * sizeof(coll_i_value));
        } else if (!coll_i_merge_values(d, s, sum, operands, count, report)) {
            return false;
        }
    }
    for (uint32_t r = 0; r < d->p; r++) {
        coll_i_rank *other = coll_i_rank_at(d, r);
        if (other->state != COLL_I_WAITS_ALL || other->peer != a->peer)
            continue;
        if (count != 0)
            memcpy(coll_i_values_at(other, other->acts[other->next].dst), sum,
                   count * sizeof(coll_i_value));
        other->depth = depth;
        other->state = COLL_I_READY;
        if (r != rank) {
            other->next++;
            other->checked = false;
            coll_i_make_ready(d, r);
        }
    }
    m->met = 0;
    return true;
}

/* One more rank meets its group in a NETWORK_REDUCE; the last one ends it for all. */
COLL_INLINE bool coll_i_run_meeting(coll_i_data *d, uint32_t rank, size_t s,
                                    const coll_action *a, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_i_meeting *m = &d->meetings[a->peer];
    const size_t count = coll_i_is_token(a) ? 0 : a->count;
    if (m->met == 0) {
        m->count = count;
        m->members = (uint32_t)a->stride;
    }
    if (count != m->count || a->stride != m->members)
        return coll_i_found(report, COLL_FOUND_SIZE, rank, s,
                            "a network reduction of %zu elements among %zu ranks meets one of "
                            "%zu among %u",
                            count, a->stride, m->count, m->members);
    at->state = COLL_I_WAITS_ALL;
    at->peer = a->peer;
    at->meetings[a->peer]++;
    return ++m->met == m->members && coll_i_end_meeting(d, rank, s, a, report);
}

/* May elements of the action's source hold nothing yet? Padding that may: it stays out of OUT. */
COLL_INLINE bool coll_i_may_pad(const coll_i_rank *at, const coll_action *a)
{
    const unsigned src = coll_ref_space(a->src), dst = coll_ref_space(a->dst);
    return (at->plan->traits & COLL_USES_PADDING) &&
           (a->kind == COLL_DO_SEND ? src == COLL_SCRATCH
                                    : a->kind == COLL_DO_COPY && dst != COLL_OUT &&
                                          (src == COLL_SCRATCH || src == COLL_SHARED));
}

/* Runs one action. False: it must wait (the state of the rank says so), or there is a finding. */
COLL_INLINE bool coll_i_run_action(coll_i_data *d, uint32_t rank, size_t s,
                                   const coll_action *a, coll_report *report)
{
    coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_verify_count *count = coll_i_count_at(d, rank);
    const bool token = coll_i_is_token(a);
    const unsigned reads = COLL_I_KIND(SEND) | COLL_I_KIND(COPY) | COLL_I_KIND(MULTICAST) |
                           COLL_I_KIND(NETWORK_REDUCE);
    if (coll_i_has(reads, a) && !token && !coll_i_may_pad(at, a) &&
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
        for (uint32_t i = 0; i < a->inputs; i++) {
            coll_i_operand operands[2];
            operands[0] = coll_i_operand_at(d, rank, i == 0 ? a->src : a->dst);
            operands[1] = coll_i_operand_at(d, rank, a->via + i * a->stride);
            if (!coll_i_merge_values(d, s, coll_i_values_at(at, a->dst), operands, a->count,
                                     report))
                return false;
        }
        return true;
    case COLL_DO_NETWORK_REDUCE:
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
        if (channel->head != COLL_I_NONE)
            return coll_i_found_unreceived(d, channel, report);
    }
    return true;
}

#endif /* COLL_LAB_VERIFY_DATA_H */
