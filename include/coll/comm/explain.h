/* coll/comm/explain.h — deadlines, and who is waited for, for what, and why, in one sentence
 *
 *   static uint64_t memory[COLL_BOARD_WORDS * P];    // board.h: in common to all ranks, and zero
 *   coll_board_init(&board, memory, rank, P);
 *   coll_explain_options options = {{my_milliseconds, NULL}, 30000, 2000, "ms", late, NULL};
 *   status = coll_comm_explain(&comm, &explain, &board, &options);      // on all ranks
 *
 *   static bool late(coll_explain *explain, void *arg)                  // after 30 s, and each 30 s more
 *   {
 *       char text[500];
 *       (void)coll_explain_text(explain, text, sizeof text);
 *       puts(text);
 *       return true;                                  // false: give the call up (coll_cancel)
 *   }
 *
 *   call 17, allreduce by ring, waits for 30000 ms for message 2 from rank 3: rank 5 has not called it; its last
 *   call was number 16, bcast
 *
 * Each rank tells on the board which call it is in, what it gave to it (compare.h), and, once it waits for
 * some time, for which message of whom. So a rank that waits sees which ranks are dead, are in another call,
 * gave other arguments, or have not called. If there are none, it follows who waits for whom: by the plan it
 * knows which message that is, and whether its sender has come past it. Then the message was lost; or the
 * chain ends at a rank that waits for nobody and is slow, or was stopped.
 *
 * Deadlines are of coll_wait and of all calls that block; the clock is looked at every few rounds of waiting.
 * Ranks are to have one clock, or clocks that are set alike, for what is told of ranks that were stopped. The
 * communicator is of all ranks of its transport, and only one of them at a time has a deadline. A call costs
 * two notes on a line of memory of the rank's own. Opt in: comm.h does not include this header.
 */
#ifndef COLL_COMM_EXPLAIN_H
#define COLL_COMM_EXPLAIN_H

#include "explain_line.h"

/* ---- why --------------------------------------------------------------------------------- */

/* What is wrong with a rank, as far as its own line says, about call number `calls` of this one, which is the last
 * one if `last`. */
COLL_INLINE coll_explain_cause coll_i_explain_of(const coll_explain *explain, uint32_t rank,
                                                 uint64_t calls, bool last,
                                                 coll_i_explain_line *its)
{
    const coll_failure *failure = explain->comm->transport->failure;
    its->calls = 0;
    its->ago = 0;
    its->state = COLL_I_EXPLAIN_OUTSIDE;
    if (rank != explain->comm->rank && failure && failure->dead &&
        failure->dead(explain->comm->ctx, rank))
        return COLL_EXPLAIN_DEAD;
    (void)coll_i_explain_ask(explain, rank, its);
    if (its->calls < calls)
        return its->state <= COLL_I_EXPLAIN_APART ? COLL_EXPLAIN_NOT_CALLED
                                                  : COLL_EXPLAIN_BEHIND;
    if (last && its->calls == calls &&
        (its->args.word[0] != explain->told.word[1] ||
         its->args.word[1] != explain->told.word[2]))
        return COLL_EXPLAIN_MISMATCH;
    return COLL_EXPLAIN_NOTHING;
}

/* Do more ranks that are in this call differ from this one than agree with it? */
COLL_INLINE bool coll_i_explain_is_alone(const coll_explain *explain, uint64_t calls)
{
    uint32_t alike = 0, others = 0;
    for (uint32_t r = 0; r < explain->comm->p; r++) {
        coll_i_explain_line its;
        if (!coll_i_explain_ask(explain, r, &its) || its.calls != calls)
            continue;
        if (its.args.word[0] == explain->told.word[1] &&
            its.args.word[1] == explain->told.word[2])
            alike++;
        else
            others++;
    }
    return alike < others;
}

/* Who is waited for at the end of the chain that begins at this rank, and why: of ranks that are all in the call. */
COLL_INLINE coll_explain_cause coll_i_explain_chain(const coll_explain *explain,
                                                    const coll_request *request, uint64_t calls,
                                                    uint32_t *rank)
{
    const coll_plan *plan = request->engine.task.plan;
    const uint64_t now = explain->told.word[3];
    uint32_t from = explain->comm->rank;
    coll_i_explain_line line, its;
    coll_i_explain_look(request, &line);
    for (uint32_t hops = 0; hops < explain->comm->p; hops++) {
        const uint32_t peer = line.peer;
        *rank = peer;
        if (peer == COLL_RANK_NONE)
            return COLL_EXPLAIN_NOTHING; /* for the network, say */
        if (!coll_i_explain_ask(explain, peer, &its))
            return COLL_EXPLAIN_NOTHING;
        if (its.calls - its.ago > calls || its.state == COLL_I_EXPLAIN_OUTSIDE)
            return COLL_EXPLAIN_LOST; /* it has left the call */
        if (its.state != COLL_I_EXPLAIN_WAITS)
            return its.state == COLL_I_EXPLAIN_APART ? COLL_EXPLAIN_APART : COLL_EXPLAIN_SLOW;
        if (coll_i_explain_place(plan, peer, from, line.j) < its.sent)
            return COLL_EXPLAIN_LOST;
        if (now > its.now && now - its.now >= explain->options.stopped)
            return COLL_EXPLAIN_STOPPED;
        from = peer;
        line.peer = its.peer;
        line.j = its.j;
    }
    *rank = COLL_RANK_NONE;
    return COLL_EXPLAIN_NOTHING;
}

/* ---- words ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_explain_unit(coll_i_pending_words *to, const coll_explain *explain,
                                     const char *text, uint64_t time)
{
    coll_i_pending_number(to, text, (size_t)time);
    if (*explain->options.unit)
        coll_i_pending_text(to, " ");
    coll_i_pending_text(to, explain->options.unit);
}

/* What a rank does instead. */
COLL_INLINE void coll_i_explain_reason(coll_i_pending_words *to, const coll_explain *explain,
                                       const coll_i_explain_line *its)
{
    const uint32_t rank = explain->rank;
    coll_compared both[2];
    coll_compare compare;
    unsigned own;
    coll_i_pending_number(to, ": rank ", rank);
    switch (explain->cause) {
    case COLL_EXPLAIN_DEAD:
        coll_i_pending_text(to, " is dead");
        break;
    case COLL_EXPLAIN_NOT_CALLED:
    case COLL_EXPLAIN_BEHIND:
        coll_i_pending_text(to, explain->cause == COLL_EXPLAIN_BEHIND
                                    ? " has not called it, as it is in"
                                    : " has not called it; its last call was");
        if (its->calls == 0) {
            coll_i_pending_text(to, " none");
            break;
        }
        coll_i_pending_number(to, " number ", (size_t)its->calls);
        coll_i_pending_text(to, ", ");
        coll_i_pending_text(to, coll_collective_name((coll_collective)coll_compared_value(
                                    &its->args, COLL_COMPARE_COLLECTIVE)));
        break;
    case COLL_EXPLAIN_MISMATCH:
        own = rank == explain->comm->rank ? 1 : 0; /* the one that is named is 1 */
        both[own].word[0] = explain->told.word[1];
        both[own].word[1] = explain->told.word[2];
        both[1 - own].word[0] = its->args.word[0];
        both[1 - own].word[1] = its->args.word[1];
        compare.all = both;
        compare.p = 2;
        compare.found = coll_i_compare_find(&compare);
        coll_i_compare_value(to, &compare, 1, false, true);
        coll_i_pending_text(to, coll_i_compare_is_number(&compare, 1) ? " than others"
                                                                      : ", others");
        if (!coll_i_compare_is_number(&compare, 1))
            coll_i_compare_value(to, &compare, 0, false, false);
        break;
    case COLL_EXPLAIN_LOST:
        coll_i_pending_text(to, " has sent what is waited for, and it has not arrived");
        break;
    case COLL_EXPLAIN_STOPPED:
        coll_i_explain_unit(to, explain, " is in it, and has told nothing for ",
                            explain->told.word[3] - its->now);
        break;
    case COLL_EXPLAIN_APART:
        coll_i_pending_text(to, " has started it, and does not wait for it");
        break;
    case COLL_EXPLAIN_SLOW:
        coll_i_pending_text(to, " is in it, is slow, and waits for no message");
        break;
    case COLL_EXPLAIN_NOTHING:
        break;
    }
}

/* Which call it is, and for how long it has been waited for. */
COLL_INLINE void coll_i_explain_what(coll_i_pending_words *to, const coll_explain *explain,
                                     const coll_request *request)
{
    coll_compared own;
    own.word[0] = explain->told.word[1];
    own.word[1] = explain->told.word[2];
    if (!request) {
        coll_i_pending_text(to, coll_collective_name((coll_collective)coll_compared_value(
                                    &own, COLL_COMPARE_COLLECTIVE)));
        return;
    }
    coll_i_pending_text(to,
                        coll_collective_name(coll_request_plan(request)->problem.collective));
    coll_i_pending_text(to, " by ");
    coll_i_pending_text(to, coll_request_plan(request)->algorithm->name);
    coll_i_explain_unit(to, explain, ", waits for ", explain->told.word[3] - explain->since);
}

/* Writes what a call that is waited for waits for, and why, as text of `room` bytes with its end; returns the length
 * of the whole, which may be longer. NULL and 0 ask for that. For `late`, which is called in a wait, and for a call
 * that failed, as long as no other one is made: of that it says how ranks differ. cause and rank then say the
 * same. */
COLL_INLINE size_t coll_explain_text(coll_explain *explain, char *text, size_t room)
{
    const coll_comm *root_comm = explain->comm->root_comm;
    const coll_request *request = /* which may be over, and gone */
        coll_i_request_listed(root_comm, explain->request) ? explain->request : NULL;
    const uint64_t ago = request ? coll_i_explain_ago(explain) : 0,
                   calls = explain->calls - ago;
    coll_i_explain_line line, its, its_now;
    coll_i_pending_words to;
    coll_i_pending_begin(&to, text, room);
    explain->cause = COLL_EXPLAIN_NOTHING;
    explain->rank = COLL_RANK_NONE;
    line.peer = COLL_RANK_NONE;
    its.calls = its.now = its.args.word[0] = its.args.word[1] = 0;
    if (request)
        coll_i_explain_look(request, &line);
    for (uint32_t r = 0; r < explain->comm->p; r++) {
        const coll_explain_cause cause =
            coll_i_explain_of(explain, r, calls, ago == 0, &its_now);
        /* of ranks that are behind, the one that is most so is not the one that waits */
        if (cause < explain->cause || cause == COLL_EXPLAIN_NOTHING ||
            (cause == explain->cause && its_now.calls >= its.calls))
            continue;
        explain->cause = cause;
        explain->rank = r;
        its = its_now;
    }
    if (explain->cause == COLL_EXPLAIN_MISMATCH && coll_i_explain_is_alone(explain, calls))
        explain->rank = explain->comm->rank;
    if (explain->cause == COLL_EXPLAIN_NOTHING && request &&
        request->state == COLL_REQUEST_RUNNING) {
        explain->cause = coll_i_explain_chain(explain, request, calls, &explain->rank);
        if (explain->rank != COLL_RANK_NONE)
            (void)coll_i_explain_ask(explain, explain->rank, &its);
    }
    coll_i_pending_number(&to, "call ", (size_t)calls);
    coll_i_pending_text(&to, ", ");
    coll_i_explain_what(&to, explain, request);
    if (line.peer != COLL_RANK_NONE && line.j == COLL_I_EXPLAIN_SENDS) {
        coll_i_pending_number(&to, " until its message is taken by rank ", line.peer);
    } else if (line.peer != COLL_RANK_NONE) {
        coll_i_pending_number(&to, " for message ", (size_t)line.j + 1);
        coll_i_pending_number(&to, " from rank ", line.peer);
    }
    if (explain->cause != COLL_EXPLAIN_NOTHING)
        coll_i_explain_reason(&to, explain, &its);
    return to.length;
}

/* ---- watching ---------------------------------------------------------------------------- */

/* Has a communicator explain waits that take too long, until it is freed. All ranks do so at the same place among
 * their calls, after coll_comm_compare, coll_comm_trace and coll_comm_settle, as far as they are called. `explain` stays the
 * caller's, in place, until then; the board and options are copied. COLL_ERR_GROUP: it is not of all ranks of its
 * transport, in their order; COLL_ERR_RANKS: the board has not its number of ranks; COLL_ERR_STATE: it has a
 * deadline. */
COLL_INLINE coll_status coll_comm_explain(coll_comm *comm, coll_explain *explain,
                                          const coll_board *board,
                                          const coll_explain_options *options)
{
    if (!comm || !explain || !board || !options || !options->clock.now || !options->unit)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (board->p != comm->p || board->rank != comm->rank)
        return COLL_ERR_RANKS;
    if (comm->group.table || comm->group.base != 0 || comm->group.stride != 1)
        return COLL_ERR_GROUP;
    if (comm->watch)
        return COLL_ERR_STATE;
    explain->cause = COLL_EXPLAIN_NOTHING;
    explain->rank = COLL_RANK_NONE;
    explain->comm = comm;
    explain->board = *board;
    explain->options = *options;
    explain->calls = 0;
    explain->request = NULL;
    explain->rounds = 0;
    explain->inside = false;
    for (uint32_t i = 0; i < COLL_BOARD_WORDS - 1; i++)
        explain->told.word[i] = 0;
    explain->watch.waits = coll_i_explain_waits;
    explain->watch.over = coll_i_explain_over;
    explain->watch.of = explain;
    comm->watch = &explain->watch;
    coll_i_around_put(comm, &explain->around, coll_i_explain_run, coll_i_explain_choose);
    return COLL_OK;
}

#endif /* COLL_COMM_EXPLAIN_H */
