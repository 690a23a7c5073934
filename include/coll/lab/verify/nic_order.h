/* coll/lab/verify/nic_order.h — a rank's NIC program means one order of its operations, whatever the order in
 * which they complete
 *
 * One order of completion is followed: everything completes as soon as it has started. Let S be the operations that
 * a counter has counted when it comes to a threshold there. If every other one that it counts begins only after
 * all of S are complete, then in any order the threshold is reached if and only if all of S are: as long as none of
 * the others has begun, a counter that shows as many has counted S, and the first of the others to begin does so
 * after S, by the same argument for its own counter. So each operation waits for a known set, and the program is a
 * partial order. Where all operations that touch the same memory are in that order, and all messages have
 * numbers, any run computes what one run does. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_NIC_ORDER_H
#define COLL_LAB_VERIFY_NIC_ORDER_H

#include "../../nic/nic_program.h"
#include "report.h"

/* Notes on one program. An event is an operation, or, behind all of them, a signal that comes, or, behind those, a put.
 *
 * A put comes after the signal that says that its memory is free: its sender waits for that, which is checked there; and
 * after the put before it, as its sender puts in order, too. So it comes after all that its signal waits for. */
typedef struct coll_i_nic_order {
    const coll_nic_program *program;
    coll_i_memory rows, counted, places, values, used;
    uint32_t *known; /* rows of bits: what is complete when an event begins */
    uint32_t
        *counts; /* by counter: the events that it counts, in the order that is followed … */
    uint32_t *first; /* … from here on; one more than counters */
    uint32_t *value; /* counted so far; SIZE_MAX: operations that have not begun */
    uint32_t n, events, words;
    uint32_t rank;
} coll_i_nic_order;

COLL_INLINE uint32_t *coll_i_nic_known(const coll_i_nic_order *o, uint32_t event)
{
    return o->known + (size_t)event * o->words;
}

COLL_INLINE bool coll_i_nic_is_known(const coll_i_nic_order *o, uint32_t event, uint32_t other)
{
    return (coll_i_nic_known(o, event)[other / 32] >> other % 32 & 1u) != 0;
}

/* An event begins after another one is complete, and so all that this one began after. */
COLL_INLINE void coll_i_nic_learn(const coll_i_nic_order *o, uint32_t event, uint32_t other)
{
    uint32_t *row = coll_i_nic_known(o, event);
    const uint32_t *more = coll_i_nic_known(o, other);
    for (uint32_t i = 0; i < o->words; i++)
        row[i] |= more[i];
    row[other / 32] |= (uint32_t)1 << other % 32;
}

COLL_INLINE bool coll_i_nic_found(const coll_i_nic_order *o, coll_report *report,
                                  coll_finding finding, uint32_t i, const char *what)
{
    const coll_nic_op *op = &o->program->ops[i];
    return coll_i_found(report, finding, o->rank, COLL_NO_STEP,
                        "operation %u of its NIC program, %s, %s", i,
                        coll_nic_kind_name((coll_nic_kind)op->kind), what);
}

/* Does a signal ask for a put: that of the ARRIVE right after it? */
COLL_INLINE bool coll_i_nic_asks(const coll_nic_program *program, uint32_t i)
{
    return i + 1 < program->needs.ops && program->ops[i + 1].kind == COLL_NIC_ARRIVE &&
           program->ops[i + 1].peer == program->ops[i].peer;
}

/* Is a counter one of what comes from other ranks? */
COLL_INLINE bool coll_i_nic_is_outer(const coll_nic_program *program, uint32_t c)
{
    return c < program->signals || c >= program->needs.counters - program->arrivals;
}

/* ---- the program by itself --------------------------------------------------------------- */

COLL_INLINE bool coll_i_nic_check_fields(const coll_i_nic_order *o, coll_report *report)
{
    const coll_nic_program *program = o->program;
    for (uint32_t i = 0; i < o->n; i++) {
        const coll_nic_op *op = &program->ops[i];
        const bool last = i + 1 == o->n;
        if (op->kind >= COLL_NIC_KINDS || (op->kind == COLL_NIC_END) != last)
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_FIELD, i,
                                    "is of no kind that may stand there");
        if (op->trigger != COLL_NIC_NONE && op->trigger >= program->needs.counters)
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_FIELD, i,
                                    "waits for a counter that the program does not have");
        if (last ? op->done != COLL_NIC_NONE
                 : op->done < program->signals ||
                       op->done >= program->needs.counters - program->arrivals)
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_FIELD, i,
                                    "is counted by a counter that may not count it");
        if ((op->kind == COLL_NIC_COPY || op->kind == COLL_NIC_REDUCE) &&
            op->peer > COLL_NIC_BY_HOST)
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_FIELD, i,
                                    "is placed on neither the NIC nor the host");
        if (op->kind == COLL_NIC_ARRIVE &&
            (i == 0 || program->ops[i - 1].kind != COLL_NIC_SIGNAL ||
             program->ops[i - 1].peer != op->peer || op->threshold != op->number + 1 ||
             op->trigger == COLL_NIC_NONE ||
             op->trigger != coll_i_nic_arrivals_of(program, op->peer)))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                    "does not wait for the put that its signal asks for");
        if (op->kind == COLL_NIC_SIGNAL && !coll_i_nic_asks(program, i) &&
            (i == 0 || program->ops[i - 1].kind != COLL_NIC_RECV ||
             program->ops[i - 1].peer != op->peer ||
             program->ops[i - 1].trigger != op->trigger ||
             program->ops[i - 1].threshold != op->threshold))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                    "may signal a receive that is not posted");
    }
    return true;
}

/* Makes room for the notes. False: there is none. */
COLL_INLINE bool coll_i_nic_order_begin(coll_i_nic_order *o, const coll_nic_program *program,
                                        uint32_t rank)
{
    const uint32_t counters = program->needs.counters;
    uint32_t total = 0;
    o->program = program;
    o->rank = rank;
    o->n = o->events = program->needs.ops;
    for (uint32_t c = 0; c < counters; c++) {
        o->events += coll_i_nic_is_outer(program, c) ? program->counts[c] : 0;
        total += program->counts[c];
    }
    o->words = (o->events + 31) / 32;
    o->known = (uint32_t *)coll_i_reserve_new(&o->rows,
                                              (size_t)o->events * o->words * sizeof *o->known);
    o->counts =
        (uint32_t *)coll_i_reserve_new(&o->counted, (total + (size_t)1) * sizeof *o->counts);
    o->first =
        (uint32_t *)coll_i_reserve_new(&o->places, (counters + (size_t)1) * sizeof *o->first);
    o->value = (uint32_t *)coll_i_reserve_new(&o->values,
                                              ((size_t)counters + o->n) * sizeof *o->value);
    if (!o->known || !o->counts || !o->first || !o->value ||
        !coll_i_reserve_new(&o->used, total + (size_t)1))
        return false;
    memset(o->known, 0, (size_t)o->events * o->words * sizeof *o->known);
    memset(o->value, 0, ((size_t)counters + o->n) * sizeof *o->value);
    memset(o->used.at, 0, total + (size_t)1);
    total = 0;
    for (uint32_t c = 0, signal = o->n; c <= counters; c++) {
        o->first[c] = total;
        for (uint32_t k = 0;
             c < counters && coll_i_nic_is_outer(program, c) && k < program->counts[c];
             k++, signal++) {
            o->counts[total + k] = signal;
            if (c < program->signals && k > 0) /* the peer posts in order */
                coll_i_nic_learn(o, signal, signal - 1);
        }
        if (c < program->signals)
            o->value[c] = program->counts[c];
        total += c < counters ? program->counts[c] : 0;
    }
    return true;
}

/* ---- the order that is followed ---------------------------------------------------------- */

/* The put that a signal asks for comes, after all that the signal waits for, and after the put before it. */
COLL_INLINE void coll_i_nic_bring(coll_i_nic_order *o, uint32_t signal)
{
    const uint32_t c = coll_i_nic_arrivals_of(o->program, o->program->ops[signal].peer);
    const uint32_t *from = coll_i_nic_known(o, signal);
    uint32_t *row;
    if (c == COLL_NIC_NONE || o->value[c] == o->program->counts[c])
        return; /* then the ARRIVE waits in vain */
    row = coll_i_nic_known(o, o->counts[o->first[c] + o->value[c]]);
    for (uint32_t i = 0; i < o->words; i++)
        row[i] |= from[i];
    if (o->value[c] > 0)
        coll_i_nic_learn(o, o->counts[o->first[c] + o->value[c]],
                         o->counts[o->first[c] + o->value[c] - 1]);
    o->value[c]++;
}

/* An operation begins, and completes at once. */
COLL_INLINE bool coll_i_nic_begin(coll_i_nic_order *o, uint32_t i, coll_report *report)
{
    const coll_nic_op *op = &o->program->ops[i];
    const uint32_t c = op->done;
    for (uint32_t k = op->trigger != COLL_NIC_NONE ? op->threshold : 0; k-- > 0;) {
        const uint32_t at = o->first[op->trigger] + k;
        if (k + 1 < op->threshold && ((const unsigned char *)o->used.at)[at])
            break; /* those after it know the rest, or the threshold is not exact */
        coll_i_nic_learn(o, i, o->counts[at]);
    }
    o->value[o->program->needs.counters + i] = 1;
    if (op->kind == COLL_NIC_SIGNAL && coll_i_nic_asks(o->program, i))
        coll_i_nic_bring(o, i);
    if (c == COLL_NIC_NONE)
        return true;
    if (o->value[c] == o->program->counts[c])
        return coll_i_nic_found(o, report, COLL_FOUND_NIC_COUNT, i,
                                "is counted by a counter that counts less in an epoch");
    o->counts[o->first[c] + o->value[c]++] = i;
    return true;
}

/* Follows one order to the end. */
COLL_INLINE bool coll_i_nic_follow_one(coll_i_nic_order *o, coll_report *report)
{
    const uint32_t counters = o->program->needs.counters;
    bool moved = true;
    for (uint32_t i = 0; i < o->n; i++) {
        const coll_nic_op *op = &o->program->ops[i];
        if (op->trigger != COLL_NIC_NONE && op->threshold > 0 &&
            op->threshold <= o->program->counts[op->trigger])
            ((unsigned char *)o->used.at)[o->first[op->trigger] + op->threshold - 1] = 1;
    }
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < o->n; i++) {
            const coll_nic_op *op = &o->program->ops[i];
            if (o->value[counters + i] ||
                (op->trigger != COLL_NIC_NONE && o->value[op->trigger] < op->threshold))
                continue;
            if (!coll_i_nic_begin(o, i, report))
                return false;
            moved = true;
        }
    }
    for (uint32_t i = 0; i < o->n; i++)
        if (!o->value[counters + i])
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_COUNT, i,
                                    "waits for more than its counter ever counts");
    for (uint32_t c = 0; c < counters; c++)
        if (o->value[c] != o->program->counts[c])
            return coll_i_found(report, COLL_FOUND_NIC_COUNT, o->rank, COLL_NO_STEP,
                                "counter %u of its NIC program counts %u in an epoch, and the "
                                "next one begins at %u",
                                c, o->value[c], o->program->counts[c]);
    return true;
}

/* Is every threshold reached by what it was reached by in the order that was followed, in all orders? */
COLL_INLINE bool coll_i_nic_check_exact(const coll_i_nic_order *o, coll_report *report)
{
    const unsigned char *used = (const unsigned char *)o->used.at;
    for (uint32_t c = o->program->signals; c < o->program->needs.counters; c++) {
        const uint32_t *counts = o->counts + o->first[c];
        uint32_t least = 0,
                 most = 0; /* the last group before this event, which knows the others */
        for (uint32_t k = 0; k < o->program->counts[c]; k++) {
            for (uint32_t i = least; i < most; i++)
                if (!coll_i_nic_is_known(o, counts[k], counts[i]))
                    return coll_i_found(report, COLL_FOUND_NIC_COUNT, o->rank, COLL_NO_STEP,
                                        "counter %u of its NIC program may come to %u by "
                                        "operation %u instead of %u",
                                        c, most, counts[k], counts[i]);
            if (used[o->first[c] + k]) {
                least = most;
                most = k + 1;
            }
        }
    }
    return true;
}

/* ---- what the order must hold ------------------------------------------------------------ */

COLL_INLINE bool coll_i_nic_check_memory(const coll_i_nic_order *o, coll_report *report)
{
    for (uint32_t i = 0; i < o->n; i++) {
        /* what is put is written from the signal on */
        const uint32_t begins = o->program->ops[i].kind == COLL_NIC_ARRIVE ? i - 1 : i;
        for (uint32_t k = 0; k < i; k++)
            if (!coll_i_nic_is_known(o, begins, k) &&
                coll_i_nic_conflict(&o->program->ops[k], &o->program->ops[i]))
                return coll_i_found(report, COLL_FOUND_NIC_RACE, o->rank, COLL_NO_STEP,
                                    "operation %u of its NIC program touches memory of "
                                    "operation %u and does not wait for it",
                                    i, k);
    }
    for (uint32_t i = 0; i + 1 < o->n; i++)
        if (!coll_i_nic_is_known(o, o->n - 1, i))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_RACE, i,
                                    "may run after the end of the program");
    return true;
}

/* The number of the message that a signal asks for. */
COLL_INLINE uint32_t coll_i_nic_asked(const coll_nic_program *program, uint32_t signal)
{
    return program->ops[coll_i_nic_asks(program, signal) ? signal + 1 : signal - 1].number;
}

/* Is a message sent only when its receive is posted? The signal of that is among those that the send waits for;
 * and the receiver posts the receives of one peer in order. */
COLL_INLINE bool coll_i_nic_check_posted(const coll_i_nic_order *o, coll_report *report)
{
    const coll_nic_program *program = o->program;
    for (uint32_t i = 0; i < o->n; i++) {
        const coll_nic_op *op = &program->ops[i];
        uint32_t c = 0, k;
        if (op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_PUT) {
            while (c < program->signals && program->signal_peers[c] != op->peer)
                c++;
            if (c == program->signals || op->number >= program->counts[c] ||
                !coll_i_nic_is_known(o, i, o->counts[o->first[c] + op->number]))
                return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                        "may send a message whose receive is not posted");
        }
        if (op->kind == COLL_NIC_PUT && op->number > 0) {
            for (k = i; k-- > 0;)
                if (program->ops[k].kind == COLL_NIC_PUT && program->ops[k].peer == op->peer)
                    break;
            if (k == UINT32_MAX || program->ops[k].number + 1 != op->number ||
                !coll_i_nic_is_known(o, i, k))
                return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                        "may be put before an older one to its peer");
        }
        if (op->kind == COLL_NIC_RECV && program->ops[i + 1].kind != COLL_NIC_SIGNAL)
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i, "has no signal");
        if (op->kind != COLL_NIC_SIGNAL)
            continue;
        for (k = i; k-- > 0;)
            if (program->ops[k].kind == COLL_NIC_SIGNAL && program->ops[k].peer == op->peer)
                break;
        if (k != UINT32_MAX && ((program->ops[k].trigger != op->trigger ||
                                 program->ops[k].threshold != op->threshold) &&
                                !coll_i_nic_is_known(o, i, k)))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                    "may come before the one of an older receive");
        if (coll_i_nic_asked(program, i) !=
            (k == UINT32_MAX ? 0 : coll_i_nic_asked(program, k) + 1))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_UNPOSTED, i,
                                    "is not the one of the next receive of its peer");
    }
    return true;
}

/* In plans whose ranks share memory, or meet in a barrier, messages of one direction between two ranks bring each
 * other's past along, as those of an engine do: what lab/verify/order.h finds holds here, too. */
COLL_INLINE bool coll_i_nic_check_channels(const coll_i_nic_order *o, coll_report *report)
{
    for (uint32_t i = 0; i < o->n; i++) {
        const coll_nic_op *op = &o->program->ops[i];
        uint32_t k = i;
        if (op->kind != COLL_NIC_SEND && op->kind != COLL_NIC_RECV &&
            op->kind != COLL_NIC_PUT && op->kind != COLL_NIC_ARRIVE)
            continue;
        while (k-- > 0)
            if (o->program->ops[k].kind == op->kind && o->program->ops[k].peer == op->peer)
                break;
        if (k == UINT32_MAX)
            continue;
        for (uint32_t other = 0;
             (op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_PUT) && other < o->events;
             other++)
            if (coll_i_nic_is_known(o, k, other) && !coll_i_nic_is_known(o, i, other) &&
                (other >= o->n || o->program->ops[other].kind != COLL_NIC_ADD))
                return coll_i_nic_found(
                    o, report, COLL_FOUND_NIC_RACE, i,
                    "does not wait for what an older one to its peer waits for");
        if ((op->kind == COLL_NIC_RECV || op->kind == COLL_NIC_ARRIVE) &&
            !coll_i_nic_is_known(o, i, k))
            return coll_i_nic_found(o, report, COLL_FOUND_NIC_RACE, i,
                                    "does not wait for an older one of its peer");
    }
    return true;
}

/* Does each receive wait for the one so many before it? Then no more of them are posted at one time. */
COLL_INLINE bool coll_i_nic_takes_turns(const coll_i_nic_order *o, const uint32_t *receives,
                                        uint32_t n, uint32_t turns)
{
    for (uint32_t i = turns; i < n; i++)
        if (!coll_i_nic_is_known(o, receives[i], receives[i - turns]))
            return false;
    return true;
}

/* Are at most so many receives posted at one time as the program says? They take turns, or are in so many chains
 * of such as follow each other. */
COLL_INLINE bool coll_i_nic_check_receives(const coll_i_nic_order *o, coll_report *report)
{
    uint32_t *receives = o->value, *tails = o->counts; /* nobody needs what is there any more */
    uint32_t chains = 0, n = 0;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->program->ops[i].kind == COLL_NIC_RECV)
            receives[n++] = i;
    if (coll_i_nic_takes_turns(o, receives, n, o->program->needs.receives))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t chain = 0;
        while (chain < chains && !coll_i_nic_is_known(o, receives[i], tails[chain]))
            chain++;
        if (chain == chains)
            chains++;
        tails[chain] = receives[i];
    }
    return chains <= o->program->needs.receives ||
           coll_i_found(report, COLL_FOUND_NIC_NEEDS, o->rank, COLL_NO_STEP,
                        "its NIC program may post %u receives at one time; it says %u", chains,
                        o->program->needs.receives);
}

/* Checks a rank's program by itself. `unexpected`: messages may come before their receives; `channels`: as of
 * coll_i_nic_check_channels. */
COLL_INLINE bool coll_i_nic_check_order(coll_i_nic_order *o, const coll_nic_program *program,
                                        uint32_t rank, bool unexpected, bool channels,
                                        coll_report *report)
{
    o->program = program;
    o->n = program->needs.ops;
    o->rank = rank;
    if (!coll_i_nic_check_fields(o, report))
        return false;
    if (!coll_i_nic_order_begin(o, program, rank))
        return coll_i_found(report, COLL_FOUND_NO_MEMORY, rank, COLL_NO_STEP,
                            "there is no memory for the order of its NIC program");
    return coll_i_nic_follow_one(o, report) && coll_i_nic_check_exact(o, report) &&
           coll_i_nic_check_memory(o, report) &&
           (unexpected || coll_i_nic_check_posted(o, report)) &&
           (!channels || coll_i_nic_check_channels(o, report)) &&
           coll_i_nic_check_receives(o, report);
}

COLL_INLINE void coll_i_nic_order_release(coll_i_nic_order *o)
{
    coll_i_release(&o->rows);
    coll_i_release(&o->counted);
    coll_i_release(&o->places);
    coll_i_release(&o->values);
    coll_i_release(&o->used);
}

#endif /* COLL_LAB_VERIFY_NIC_ORDER_H */
