/* coll/lab/verify/cause.h — says why a symbolic run cannot go on: what an element lacks, which
 * message is missing, and which one nobody receives
 *
 * A rank that waits shows only where the mistake came to light. What the ranks would still do is
 * read from their steps, so that the message that never comes is told from one that comes too
 * late, and a message that lies in a channel from one that is never received. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_CAUSE_H
#define COLL_LAB_VERIFY_CAUSE_H

#include "check.h"

/* ---- elements ---------------------------------------------------------------------------- */

/* Writes why SPACE[offset] has nothing that the rank could read. */
COLL_INLINE void coll_i_lack_words(const coll_i_data *d, uint32_t rank, coll_ref ref,
                                   char *text, size_t bytes)
{
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_space space = coll_ref_space(ref);
    const size_t offset = coll_ref_offset(ref);
    const coll_i_value value = at->at[space][offset];
    const bool input_in_in = space == COLL_OUT && at->extent[COLL_IN] > 0;
    if (coll_i_structure(value) == COLL_I_GAP)
        snprintf(text, bytes, "%s[%zu] is in no block", coll_space_name(space), offset);
    else if (value == COLL_I_STALE)
        snprintf(text, bytes, "%s[%zu] may hold anything: a message was staged there",
                 coll_space_name(space), offset);
    else
        snprintf(text, bytes, "%s[%zu] was never written by %s%s", coll_space_name(space),
                 offset, space == COLL_SHARED ? "a rank of this node" : "this rank",
                 input_in_in ? " (its input is in IN: the plan is not in place)" : "");
}

/* Has the rank something to read in all of [ref, ref + count)? `what` names the operand. */
COLL_INLINE bool coll_i_check_set(const coll_i_data *d, uint32_t rank, size_t s, coll_ref ref,
                                  size_t count, const char *what, coll_report *report)
{
    const size_t i = coll_i_first_unset(coll_i_values_at(coll_i_rank_at(d, rank), ref), count);
    char lack[128];
    if (i == count)
        return true;
    coll_i_lack_words(d, rank, ref + i, lack, sizeof lack);
    return coll_i_found(
        report, COLL_FOUND_UNWRITTEN, rank, s, "%s is %s[%zu], %zu elements, but %s", what,
        coll_space_name(coll_ref_space(ref)), coll_ref_offset(ref), count, lack);
}

/* An operand of a reduction: where its values are, and where a rank has them. */
typedef struct coll_i_operand {
    const coll_i_value *at;
    uint32_t rank, from; /* COLL_I_NONE: the rank has it at `ref`; else it is the message … */
    coll_ref ref;
    size_t step; /* … that `from` sent at this step */
} coll_i_operand;

COLL_INLINE coll_i_operand coll_i_operand_at(const coll_i_data *d, uint32_t rank, coll_ref ref)
{
    coll_i_operand operand;
    operand.at = coll_i_values_at(coll_i_rank_at(d, rank), ref);
    operand.rank = rank;
    operand.from = COLL_I_NONE;
    operand.ref = ref;
    operand.step = 0;
    return operand;
}

/* Writes which operand it is. */
COLL_INLINE void coll_i_operand_words(const coll_i_operand *operand, char *text, size_t bytes)
{
    if (operand->from != COLL_I_NONE)
        snprintf(text, bytes, "the message of rank %u (its step %zu)", operand->from,
                 operand->step);
    else
        snprintf(text, bytes, "%s[%zu]", coll_space_name(coll_ref_space(operand->ref)),
                 coll_ref_offset(operand->ref));
}

/* Element i of two operands of `count` cannot be combined: says why. */
COLL_INLINE bool coll_i_found_operands(const coll_i_data *d, size_t s,
                                       const coll_i_operand operands[2], size_t i, size_t count,
                                       coll_report *report)
{
    const uint32_t rank = operands[0].rank;
    char name[2][64], held[2][136], lack[128];
    for (int k = 0; k < 2; k++) {
        coll_i_operand_words(&operands[k], name[k], sizeof name[k]);
        coll_i_value_words(&d->structures, operands[k].at[i], held[k], sizeof held[k]);
    }
    for (int k = 0; k < 2; k++) {
        if (coll_i_structure(operands[k].at[i]) >= COLL_I_LEAF)
            continue;
        if (operands[k].from == COLL_I_NONE)
            coll_i_lack_words(d, rank, operands[k].ref + i, lack, sizeof lack);
        else
            snprintf(lack, sizeof lack, "its element %zu is padding, which nobody wrote", i);
        return coll_i_found(report, COLL_FOUND_UNWRITTEN, rank, s,
                            "an operand is %s, %zu elements, but %s; the other one there is %s",
                            name[k], count, lack, held[1 - k]);
    }
    return coll_i_found(report, COLL_FOUND_MIXED, rank, s,
                        "operand element %zu of %zu combines %s, in %s, with %s, in %s", i,
                        count, held[0], name[0], held[1], name[1]);
}

/* ---- what a rank would still do ---------------------------------------------------------- */

/* Reads the rest of a rank's program, from the action that it waits in on. */
typedef struct coll_i_rest {
    coll_i_data *d;
    uint32_t rank;
    const coll_action *acts;
    uint32_t i, n;
    size_t step; /* the step after that of acts */
} coll_i_rest;

COLL_INLINE coll_i_rest coll_i_rest_of(coll_i_data *d, uint32_t rank)
{
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_i_rest rest;
    rest.d = d;
    rest.rank = rank;
    rest.acts = at->acts;
    rest.i = at->next;
    rest.n = at->n;
    rest.step = at->step;
    return rest;
}

/* Its next action, or NULL. A step of too many actions ends it: that is another finding. */
COLL_INLINE const coll_action *coll_i_rest_next(coll_i_rest *rest)
{
    const coll_i_rank *at = coll_i_rank_at(rest->d, rest->rank);
    while (rest->i >= rest->n) {
        if (rest->step >= at->steps)
            return NULL;
        rest->n = coll_plan_step(at->plan, rest->rank, rest->step++, rest->d->first);
        rest->i = 0;
        rest->acts = rest->d->first;
        if (rest->n > COLL_STEP_MAX) {
            rest->n = 0;
            rest->step = at->steps;
        }
    }
    return &rest->acts[rest->i++];
}

/* How many messages the rank would still send to the peer, or receive of it, and the step of the
 * first. */
COLL_INLINE uint32_t coll_i_still(coll_i_data *d, uint32_t rank, uint32_t peer, bool sends,
                                  size_t *step)
{
    const uint32_t kinds = sends ? COLL_I_SENDS : COLL_I_RECEIVES;
    coll_i_rest rest = coll_i_rest_of(d, rank);
    const coll_action *a;
    uint32_t n = 0;
    while ((a = coll_i_rest_next(&rest)) != NULL)
        if (a->count > 0 && coll_i_has(kinds, a) &&
            (a->kind == COLL_DO_MULTICAST || a->peer == peer) && n++ == 0)
            *step = rest.step - 1;
    return n;
}

/* Would the rank still come to a group's reduction? */
COLL_INLINE bool coll_i_still_meets(coll_i_data *d, uint32_t rank, uint32_t group, size_t *step)
{
    coll_i_rest rest = coll_i_rest_of(d, rank);
    const coll_action *a;
    while ((a = coll_i_rest_next(&rest)) != NULL)
        if (a->count > 0 && a->kind == COLL_DO_NETWORK_REDUCE && a->peer == group) {
            *step = rest.step - 1;
            return true;
        }
    return false;
}

/* ---- messages that nobody receives ------------------------------------------------------- */

/* Writes what a message of `count` elements is, after what it is called if it is none of 0. */
COLL_INLINE void coll_i_message_words(const char *name, size_t count, char *text, size_t bytes)
{
    if (count == 0)
        snprintf(text, bytes, "a notification");
    else
        snprintf(text, bytes, "%s%zu element%s", name, count, count == 1 ? "" : "s");
}

COLL_INLINE bool coll_i_found_size(uint32_t rank, size_t s, const coll_action *a,
                                   const coll_i_message *message, coll_report *report)
{
    char wanted[48], sent[48];
    coll_i_message_words("", a->kind == COLL_DO_AWAIT ? 0 : a->count, wanted, sizeof wanted);
    coll_i_message_words("", message->count, sent, sizeof sent);
    return coll_i_found(report, COLL_FOUND_SIZE, rank, s,
                        "expects %s from rank %u, which sent %s at its step %zu", wanted,
                        a->peer, sent, message->step);
}

/* The first message in a channel that its receiver would never receive; NULL: there is none. */
COLL_INLINE const coll_i_message *coll_i_left_over(coll_i_data *d,
                                                   const coll_i_channel *channel)
{
    uint32_t index = channel->head, still;
    size_t step;
    if (index == COLL_I_NONE)
        return NULL;
    for (still = coll_i_still(d, channel->to, channel->from, false, &step);
         still > 0 && index != COLL_I_NONE; still--)
        index = coll_i_message_at(d, index)->next;
    return index == COLL_I_NONE ? NULL : coll_i_message_at(d, index);
}

/* Writes which message is left over that has most to do with `rank` waiting for `other`: one
 * that was sent to it, or else by the other, or else any. */
COLL_INLINE void coll_i_left_over_words(coll_i_data *d, uint32_t rank, uint32_t other,
                                        char *text, size_t bytes)
{
    char what[64];
    text[0] = '\0';
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t c = 0; c < d->channels.n; c++) {
            const coll_i_channel *channel = coll_i_channel_at(&d->channels, c);
            const coll_i_message *message;
            if ((pass == 0 && channel->to != rank) || (pass == 1 && channel->from != other))
                continue;
            message = coll_i_left_over(d, channel);
            if (!message)
                continue;
            coll_i_message_words("a message of ", message->count, what, sizeof what);
            snprintf(text, bytes,
                     "; rank %u has sent rank %u %s (its step %zu) that nobody receives",
                     channel->from, channel->to, what, message->step);
            return;
        }
}

/* All ranks have ended, and the channel's first message is still there: says how many are. */
COLL_INLINE bool coll_i_found_unreceived(const coll_i_data *d, const coll_i_channel *channel,
                                         coll_report *report)
{
    const coll_i_message *message = coll_i_message_at(d, channel->head);
    char what[64];
    coll_i_message_words("a message of ", message->count, what, sizeof what);
    return coll_i_found(
        report, COLL_FOUND_UNRECEIVED, channel->from, message->step,
        "sends rank %u %s that nobody receives: of %u messages from here rank %u, "
        "which has ended after %zu steps, receives %u",
        channel->to, what, channel->sent, channel->to, coll_i_rank_at(d, channel->to)->steps,
        channel->received);
}

/* ---- ranks that wait --------------------------------------------------------------------- */

/* Whom a waiting rank waits for, and whether that one would still do its part, at which step. */
typedef struct coll_i_wait {
    uint32_t other; /* COLL_I_NONE: no rank would come to the group */
    bool comes;
    size_t step;
} coll_i_wait;

COLL_INLINE coll_i_wait coll_i_wait_of(coll_i_data *d, uint32_t rank)
{
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    coll_i_wait wait;
    if (at->state == COLL_I_WAITS) {
        wait.other = at->peer;
        wait.comes = coll_i_still(d, wait.other, rank, true, &wait.step) > 0;
        return wait;
    }
    for (wait.other = 0; wait.other < d->p; wait.other++) {
        const coll_i_rank *other = coll_i_rank_at(d, wait.other);
        wait.comes = (other->state != COLL_I_WAITS_ALL || other->peer != at->peer) &&
                     coll_i_still_meets(d, wait.other, at->peer, &wait.step);
        if (wait.comes)
            return wait;
    }
    wait.comes = false;
    wait.other = COLL_I_NONE;
    return wait;
}

/* What the rank waits for will never come. */
COLL_INLINE bool coll_i_found_missing(coll_i_data *d, uint32_t rank, uint32_t other,
                                      coll_report *report)
{
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_action *a = &at->acts[at->next];
    char what[64], left[128];
    uint32_t sent;
    coll_i_left_over_words(d, rank, other, left, sizeof left);
    if (other == COLL_I_NONE)
        return coll_i_found(report, COLL_FOUND_UNSENT, rank, at->step - 1,
                            "waits for the %u ranks of group %u, to which %u have come, and no "
                            "other rank comes%s",
                            d->meetings[at->peer].members, at->peer, d->meetings[at->peer].met,
                            left);
    sent = coll_i_channel_at(&d->channels, coll_i_channel_of(&d->channels, other, rank))->sent;
    coll_i_message_words("a message of ", a->kind == COLL_DO_AWAIT ? 0 : a->count, what,
                         sizeof what);
    return coll_i_found(report, COLL_FOUND_UNSENT, rank, at->step - 1,
                        "waits for %s of rank %u, which sends it %s%s%s", what, other,
                        sent == 0   ? "none at all"
                        : sent == 1 ? "no second one"
                                    : "no more than those before",
                        coll_i_rank_at(d, other)->state == COLL_I_ENDED ? " and has ended" : "",
                        left);
}

/* Says why ranks are left that wait: what one of them waits for never comes, or they wait in a
 * circle, each for what another does only afterwards. */
COLL_INLINE bool coll_i_found_stuck(coll_i_data *d, uint32_t rank, coll_report *report)
{
    char circle[192];
    size_t used = 0;
    bool meets = false;
    coll_i_wait wait;
    uint32_t at = rank;
    for (uint32_t hops = 0; hops < d->p; hops++) {
        wait = coll_i_wait_of(d, at);
        if (!wait.comes)
            return coll_i_found_missing(d, at, wait.other, report);
        at = wait.other;
    }
    rank = at; /* on the circle by now */
    do {
        wait = coll_i_wait_of(d, at);
        if (used + 48 < sizeof circle)
            used += (size_t)snprintf(circle + used, sizeof circle - used,
                                     ", which waits for rank %u (step %zu)", wait.other,
                                     coll_i_rank_at(d, wait.other)->step - 1);
        else if (circle[used - 1] == ')')
            used += (size_t)snprintf(circle + used, sizeof circle - used, ", ...");
        meets = meets || coll_i_rank_at(d, at)->state == COLL_I_WAITS_ALL;
        at = wait.other;
    } while (at != rank);
    wait = coll_i_wait_of(d, rank);
    return coll_i_found(report, COLL_FOUND_DEADLOCK, rank, coll_i_rank_at(d, rank)->step - 1,
                        "%s; none of them has %s yet, and each does only after its own wait: "
                        "rank %u in its step %zu",
                        circle + strlen(", which "), meets ? "sent or met" : "sent", wait.other,
                        wait.step);
}

#endif /* COLL_LAB_VERIFY_CAUSE_H */
