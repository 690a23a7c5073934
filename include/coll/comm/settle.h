/* coll/comm/settle.h — calls that come again try several algorithms, and settle on the fastest
 *
 *   static coll_settle settle;                       // caller's memory, as long as the communicator
 *   static coll_settle_entry entries[16];            // … for so many problems
 *   coll_settle_options options;
 *   coll_settle_options_init(&options);
 *   options.clock.now = my_nanoseconds;              // any unit
 *   options.alternatives = &table.list;              // of table.h, say; NULL: the communicator's own rules
 *   status = coll_comm_settle(&comm, &settle, entries, 16, &options);
 *   for (…)
 *       status = coll_allreduce(&comm, x, y, n, COLL_I32, COLL_SUM);   // as ever
 *
 * Opt in: comm.h does not include this header, and a program without it has none of its code. All
 * ranks make the same call with the same options, alternatives and number of entries.
 *
 * A problem is a collective with its type, operator, root and class of bytes (a quarter of an
 * octave). After `after` blocking calls of it, its candidates are tried in turn: first what the
 * communicator's rules choose, then the alternatives, which are the other rules that cover the
 * problem, in their order. A turn is a call that is not timed, as its plan may be made then, and
 * `repeats` that are; their median counts, and the least one of `passes` turns. All ranks make the
 * same calls in the same order, so which candidate is next needs no message. The next call begins
 * with one allreduce that finds the largest time of all ranks for each candidate. It is a maximum of whole
 * numbers, so all ranks have the same ones, and settle on the same candidate: the first one, unless
 * another takes `gain` percent less. From then on there are no messages and no clock, unless
 * `again` says after how many calls the trials are repeated.
 *
 * What is tried and what is not:
 *   - Blocking calls of collectives whose blocks have one size. Nonblocking and persistent calls are
 *     not timed, as their time has the caller's work in it, and a persistent call has one plan. They
 *     are made as the problem has settled by then.
 *   - Sums stay what they are: where rounding depends on the order of operands (coll_op.exact is
 *     false), nothing is tried unless options.rounding allows it. A user's operator must have the
 *     same `exact` on all ranks.
 *   - Nothing is tried where the caller chose an algorithm (coll_comm_set_algorithm), nor when all
 *     entries are taken. A candidate that cannot solve the problem is left out on all ranks alike.
 *   - A call that fails ends the trials of its problem: the first candidate stays, if the
 *     communicator does.
 *   - New rules (coll_comm_rules) begin everything anew.
 *
 * The arena must have room for each candidate, and for the allreduce of COLL_SETTLE_MOST numbers:
 * coll_settle_bytes. The cache should have room for a problem's candidates, or plans are timed, too. A
 * rank that comes late to a call is waited for, and all candidates look slower, on all ranks
 * alike: times are right as far as ranks come together.
 */
#ifndef COLL_COMM_SETTLE_H
#define COLL_COMM_SETTLE_H

#include "trials.h"

/* ---- what a communicator calls --------------------------------------------------------------- */

/* What is due before a call of the problem: its trials begin, or the ranks agree on them. An error: the call
 * is not to be made. What is done is done once, though the call may be BUSY and come again. */
COLL_INLINE coll_status coll_i_settle_due(coll_settle *settle, coll_settle_entry *entry,
                                          coll_comm *comm, const coll_args *args)
{
    const coll_settle_options *options = &settle->options;
    coll_status status;
    if (entry->state == COLL_SETTLE_WAITS && entry->calls >= options->after &&
        !coll_i_settle_begin(settle, entry, comm, args))
        entry->state = COLL_SETTLE_ENDED;
    if (entry->state == COLL_SETTLE_SETTLED && options->again > 0 &&
        entry->calls >= options->again) {
        for (uint32_t i = 0; i < entry->n; i++)
            entry->one[i].took = UINT64_MAX;
        entry->now = entry->pass = entry->calls = 0;
        entry->state = COLL_SETTLE_TRIES;
    }
    if (entry->state != COLL_SETTLE_TRIES || entry->pass < options->passes)
        return COLL_OK;
    status = coll_i_settle_agree(settle, entry, comm);
    if (status == COLL_OK || status == COLL_ERR_BUSY)
        return status;
    entry->state = COLL_SETTLE_ENDED;
    return comm->status;
}

/* Runs a collective from start to end. */
COLL_INLINE coll_status coll_i_settle_run(coll_comm *comm, const coll_args *args)
{
    coll_settle *settle = comm->settle;
    coll_settle_entry *entry =
        comm->status == COLL_OK ? coll_i_settle_find(settle, comm, args, true) : NULL;
    coll_status status = COLL_OK;
    coll_request request;
    if (entry)
        status = coll_i_settle_due(settle, entry, comm, args);
    if (status != COLL_OK)
        return status;
    if (entry && entry->state == COLL_SETTLE_TRIES)
        return coll_i_settle_try(settle, entry, comm, args);
    status = coll_post(comm, args, &request);
    if (status == COLL_OK)
        status = coll_wait(&request);
    if (status == COLL_OK && entry && entry->calls < UINT32_MAX)
        entry->calls++;
    return status;
}

/* Puts the candidate that a call takes before the rules, until the plan is made. */
COLL_INLINE void coll_i_settle_choose(coll_comm *comm, const coll_args *args)
{
    coll_settle *settle = comm->settle;
    const coll_settle_entry *entry = settle->runs;
    uint32_t which;
    if (!entry) {
        entry = coll_i_settle_find(settle, comm, args, false);
        if (!entry || entry->chosen == 0 || entry->state < COLL_SETTLE_TRIES ||
            entry->state == COLL_SETTLE_ENDED)
            return;
    }
    which = settle->runs ? entry->now : entry->chosen;
    if (!entry->one[which].rule)
        return;
    settle->list.rules = entry->one[which].rule;
    settle->list.n = 1;
    settle->list.next = comm->rules;
    comm->rules = &settle->list;
    comm->settled = entry->one[which].number;
}

COLL_CONST(coll_i_comm_settler, coll_i_settle_calls, {coll_i_settle_run, coll_i_settle_choose});

/* Has a communicator try, from the next call on. Every rank makes the same call. `settle` and
 * `entries`, of which there are n, stay the caller's, in place, until the communicator is freed or
 * is told otherwise; options are copied, the alternatives' lists stay the caller's as well.
 * Communicators made from this one do not try. settle NULL: no more trials, and the rules choose
 * again. COLL_ERR_NULL: no clock, or no entries; COLL_ERR_PARAM: repeats beyond 1 to
 * COLL_SETTLE_REPEATS, passes 0, or gain above 99; COLL_ERR_RANK: this rank is no member; COLL_ERR_STATE: it is
 * to be called before coll_comm_trace and coll_comm_compare. */
COLL_INLINE coll_status coll_comm_settle(coll_comm *comm, coll_settle *settle,
                                         coll_settle_entry *entries, uint32_t n,
                                         const coll_settle_options *options)
{
    if (!comm || (settle && (!entries || !options || !options->clock.now)))
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (comm->settler && comm->settler != &coll_i_settle_calls)
        return COLL_ERR_STATE;
    if (settle && (options->repeats == 0 || options->repeats > COLL_SETTLE_REPEATS ||
                   options->passes == 0 || options->gain > 99 || n == 0))
        return COLL_ERR_PARAM;
    coll_i_cache_forget(&comm->cache, comm); /* plans of candidates of before */
    comm->settle = settle;
    comm->settler = settle ? &coll_i_settle_calls : NULL;
    if (!settle)
        return COLL_OK;
    COLL_COPY(&settle->options, options, sizeof *options);
    settle->rules = comm->rules;
    settle->entries = entries;
    settle->n = n;
    settle->runs = NULL;
    for (uint32_t i = 0; i < n; i++)
        entries[i].state = COLL_SETTLE_FREE;
    return COLL_OK;
}

/* How the problem of such a call stands: its candidates, what they took, which one was chosen. NULL:
 * it has none, as there was no blocking call of it, or it is not tried. */
COLL_INLINE const coll_settle_entry *coll_settle_of(coll_comm *comm, const coll_args *args)
{
    return comm && args && comm->settle ? coll_i_settle_find(comm->settle, comm, args, false)
                                        : NULL;
}

/* As coll_comm_bytes (args.h) of a call that may take any candidate, and of the allreduce by which
 * ranks agree. Called after coll_comm_settle. */
COLL_INLINE coll_status coll_settle_bytes(coll_comm *comm, const coll_args *args, size_t *bytes)
{
    const coll_rule_list *rules = comm ? comm->rules : NULL;
    coll_settle_entry entry;
    coll_args agreement;
    coll_status status;
    size_t its = 0, most;
    if (!comm || !args || !bytes || !comm->settle)
        return COLL_ERR_NULL;
    entry.n = 0;
    status = coll_comm_bytes(comm, args, bytes);
    if (status != COLL_OK)
        return status;
    most = *bytes;
    coll_i_reducing(&agreement, COLL_ALLREDUCE, COLL_IN_PLACE, NULL, COLL_SETTLE_MOST, COLL_U64,
                    COLL_MAX, 0);
    if (!comm->choice[args->collective].algorithm)
        (void)coll_i_settle_begin(comm->settle, &entry, comm, args);
    for (uint32_t i = 1; i < entry.n && status == COLL_OK; i++) {
        comm->settle->list.rules = entry.one[i].rule;
        comm->settle->list.n = 1;
        comm->settle->list.next = rules;
        comm->rules = &comm->settle->list;
        status = coll_comm_bytes(comm, args, &its);
        comm->rules = rules;
        most = its > most ? its : most;
    }
    if (status == COLL_OK)
        status = coll_comm_bytes(comm, &agreement, &its);
    *bytes = its > most ? its : most;
    return status;
}

#endif /* COLL_COMM_SETTLE_H */
