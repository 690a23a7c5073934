/* coll/lab/verify/crash.h — what becomes of a plan when ranks stop, at every point of their programs
 *
 * crash_needs.h says which survivors can end well. Here the real engines run over crash_world.h, and a
 * rank stops after each of its operations in turn: of the in-order engine, with sends that do not wait,
 * exactly those survivors must end well; of the window engine, with sends that wait, no others. When it is
 * noticed, all others must end with an error and have nothing in flight, and if messages are left over,
 * the next collective must not take them. docs/crashes.md says what that proves. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_CRASH_H
#define COLL_LAB_VERIFY_CRASH_H

#include "crash_needs.h"
#include "crash_world.h"

/* Memory that is kept from plan to plan, and the transport, which tests replace by worse ones. */
typedef struct coll_i_crash {
    coll_i_crash_needs needs;
    coll_i_stops stops;
    const coll_transport *transport; /* NULL: coll_i_stops_transport */
    uint64_t random;                 /* of the rank that stops, too, and when */
} coll_i_crash;

/* A way to run a plan. */
typedef struct coll_i_crash_way {
    coll_i_world_way how;
    uint32_t capacity;
    bool early;             /* all are told at once */
    coll_i_crash_how needs; /* whose survivors may end well … */
    bool exact;             /* … and do, if nobody is told */
} coll_i_crash_way;

/* Ranks that stop: each after so many operations. */
typedef struct coll_i_crash_stop {
    uint32_t rank, after;
} coll_i_crash_stop;

enum {
    COLL_I_CRASH_STOPS = 2,
    COLL_I_CRASH_TWO = 8 /* ranks at most, when two of them stop */
};

/* ---- words ------------------------------------------------------------------------------- */

/* Writes who stopped, and when. */
COLL_INLINE const char *coll_i_crash_words(const coll_i_stops *s, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t rank = 0; rank < s->world->p && used < bytes; rank++)
        if (coll_i_stops_has(s, rank)) {
            const uint32_t after = coll_i_stops_at(s, rank)->events;
            used += (size_t)snprintf(
                text + used, bytes - used, "%srank %u stopped after %u operation%s",
                used > 0 ? ", and " : "", rank, after, after == 1 ? "" : "s");
        }
    return text;
}

COLL_INLINE const char *coll_i_crash_engine(const coll_i_crash_way *manner)
{
    return manner->how == COLL_I_WORLD_IN_ORDER ? "in-order engine" : "window engine";
}

/* ---- one run ----------------------------------------------------------------------------- */

/* Starts all ranks that live. False: a finding. */
COLL_INLINE bool coll_i_crash_start(const coll_i_stops *s, const coll_i_data *d,
                                    const coll_i_crash_way *manner, uint32_t tag,
                                    coll_report *report)
{
    const coll_plan *plan = coll_i_rank_at(d, 0)->plan;
    const uint32_t room = manner->how == COLL_I_WORLD_IN_ORDER ? plan->sends : plan->window;
    if (!coll_i_reserve_new(&s->world->slots,
                            s->world->p * coll_i_world_room(room, manner->how)))
        return coll_i_no_memory(report);
    for (uint32_t rank = 0; rank < s->world->p; rank++) {
        coll_task task;
        coll_status status;
        if (coll_i_stops_has(s, rank))
            continue;
        coll_i_world_task(s->world, d, rank, s->transport, coll_i_stops_at(s, rank), &task);
        task.tag = tag;
        status = coll_i_world_start(s->world, rank, &task, room, manner->how);
        if (status == COLL_ERR_MEMORY)
            return coll_i_no_memory(report);
        if (status != COLL_OK && status != COLL_ERR_PEER && status != COLL_ERR_IO &&
            status != COLL_ERR_SIZE)
            return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP, "the %s says: %s",
                                coll_i_crash_engine(manner), coll_status_text(status));
    }
    return true;
}

/* Have all ranks that live ended, with nothing in flight? */
COLL_INLINE bool coll_i_crash_ended(const coll_i_stops *s, const coll_i_crash_way *manner,
                                    coll_report *report)
{
    char words[160];
    for (uint32_t rank = 0; rank < s->world->p; rank++) {
        const coll_status status = coll_i_world_status(s->world, rank, manner->how);
        if (coll_i_stops_has(s, rank))
            continue;
        if (status == COLL_AGAIN)
            return coll_i_found(report, COLL_FOUND_CRASH_HANG, rank, COLL_NO_STEP,
                                "by the %s it never ends: %s", coll_i_crash_engine(manner),
                                coll_i_crash_words(s, words, sizeof words));
        if (coll_i_stops_at(s, rank)->flying != 0)
            return coll_i_found(report, COLL_FOUND_CRASH_BUFFER, rank, COLL_NO_STEP,
                                "by the %s it ended with \"%s\" and %u of its operations in "
                                "flight: %s",
                                coll_i_crash_engine(manner), coll_status_text(status),
                                coll_i_stops_at(s, rank)->flying,
                                coll_i_crash_words(s, words, sizeof words));
    }
    return true;
}

/* Was there memory for all that the ranks did? A rank that lacked it has failed, and nothing is to be learnt. */
COLL_INLINE bool coll_i_crash_had_memory(const coll_i_stops *s, const coll_i_crash_way *manner,
                                         coll_report *report)
{
    for (uint32_t rank = 0; rank < s->world->p; rank++)
        if (coll_i_world_status(s->world, rank, manner->how) == COLL_ERR_MEMORY)
            return coll_i_no_memory(report);
    return true;
}

/* The ranks that can still end well. */
COLL_INLINE uint64_t coll_i_crash_can(const coll_i_crash *c, coll_i_crash_how how)
{
    const coll_i_stops *s = &c->stops;
    uint64_t can = coll_i_crash_all(&c->needs) & ~s->stopped;
    for (uint32_t rank = 0; rank < s->world->p; rank++) {
        coll_i_crash_shown shown;
        if (!coll_i_stops_has(s, rank))
            continue;
        memset(&shown, 0, sizeof shown);
        for (uint32_t to = 0; to < s->world->p; to++)
            shown.sent[to] = coll_i_stops_sent(s, rank, to);
        memcpy(shown.met, coll_i_stops_at(s, rank)->end.meetings, sizeof shown.met);
        can &= ~coll_i_crash_lost(&c->needs, how, rank, &shown);
    }
    return can;
}

/* Have those who ended well a right to, and, if the way is `exact`, all others none? */
COLL_INLINE bool coll_i_crash_well(const coll_i_crash *c, const coll_i_crash_way *manner,
                                   bool exact, uint64_t can, coll_report *report)
{
    const uint64_t well = coll_i_stops_well(&c->stops, manner->how);
    char words[160];
    for (uint32_t rank = 0; rank < c->needs.p; rank++) {
        const bool is = (well >> rank & 1u) != 0, may = (can >> rank & 1u) != 0;
        if (is && !may)
            return coll_i_found(report, COLL_FOUND_CRASH_OK, rank, COLL_NO_STEP,
                                "by the %s it ended well, and needs what did not happen: %s",
                                coll_i_crash_engine(manner),
                                coll_i_crash_words(&c->stops, words, sizeof words));
        if (exact && !is && may)
            return coll_i_found(report, COLL_FOUND_CRASH_HANG, rank, COLL_NO_STEP,
                                "by the %s it does not end, though all that it needs has "
                                "happened: %s",
                                coll_i_crash_engine(manner),
                                coll_i_crash_words(&c->stops, words, sizeof words));
    }
    return true;
}

/* All ranks run the plan once more on the same channels, with new processes for those that stopped, if
 * something is left over there. Nobody may take it, so all end with an error. */
COLL_INLINE bool coll_i_crash_next(coll_i_crash *c, const coll_i_data *d,
                                   const coll_i_crash_way *manner, coll_report *report)
{
    coll_i_stops *s = &c->stops;
    bool no_memory;
    char words[160];
    const bool left = coll_i_stops_keep(s, &no_memory);
    uint32_t mistaken;
    if (no_memory)
        return coll_i_no_memory(report);
    if (!left)
        return true;
    (void)coll_i_crash_words(s, words, sizeof words);
    coll_i_stops_again(s);
    if (!coll_i_crash_start(s, d, manner, COLL_I_STOPS_USE, report))
        return false;
    (void)coll_i_stops_settle(s, manner->how);
    if (!coll_i_crash_had_memory(s, manner, report))
        return false;
    mistaken = coll_i_stops_mistaken(s);
    if (mistaken != COLL_I_NONE)
        return coll_i_found(
            report, COLL_FOUND_CRASH_LEFTOVER, mistaken, COLL_NO_STEP,
            "in the next collective it took a message of the one before, in which "
            "%s",
            words);
    report->crash.leftovers += s->found_leftover ? 1 : 0;
    return coll_i_crash_ended(s, manner, report);
}

/* Runs a plan of which these ranks stop. False: a finding. */
COLL_INLINE bool coll_i_crash_run(coll_i_crash *c, coll_i_world *w, const coll_i_data *d,
                                  const coll_i_crash_way *manner, const coll_i_crash_stop *stop,
                                  uint32_t n_stops, coll_report *report)
{
    coll_i_stops *s = &c->stops;
    uint64_t can;
    uint32_t rounds;
    if (!coll_i_stops_begin_run(s, w, manner->capacity))
        return coll_i_no_memory(report);
    s->transport = c->transport ? c->transport : &coll_i_stops_transport;
    s->early = manner->early;
    for (uint32_t i = 0; i < n_stops; i++)
        coll_i_stops_at(s, stop[i].rank)->last = stop[i].after;
    if (!coll_i_crash_start(s, d, manner, 0, report))
        return false;
    (void)coll_i_stops_settle(s, manner->how);
    if (!coll_i_crash_had_memory(s, manner, report))
        return false;
    if (s->stopped == 0) /* the plan ended before that */
        return coll_i_crash_well(c, manner, true, coll_i_crash_all(&c->needs), report);
    report->crash.runs++;
    can = coll_i_crash_can(c, manner->needs);
    if (!coll_i_crash_well(c, manner, manner->exact, can, report))
        return false;
    s->noticed = !manner->early;
    rounds = coll_i_stops_settle(s, manner->how);
    if (rounds > report->crash.rounds)
        report->crash.rounds = rounds;
    return coll_i_crash_ended(s, manner, report) &&
           coll_i_crash_well(c, manner, false, can, report) &&
           (!manner->exact || coll_i_crash_next(c, d, manner, report));
}

/* ---- all points -------------------------------------------------------------------------- */

/* The ways in which each point is run. */
COLL_TABLE(coll_i_crash_way, coll_i_crash_ways,
           {{COLL_I_WORLD_IN_ORDER, COLL_I_STOPS_EAGER, false, COLL_I_CRASH_IN_ORDER, true},
            {COLL_I_WORLD_WINDOW, 0, false, COLL_I_CRASH_SYNCHRONOUS, false},
            {COLL_I_WORLD_WINDOW, COLL_I_STOPS_EAGER, true, COLL_I_CRASH_WINDOW, false}});
enum { COLL_I_CRASH_WAYS = 3 };

/* Has a rank stop after each of its operations, alone, and if `two` together with another one that is
 * drawn with its point. False: a finding. */
COLL_INLINE bool coll_i_crash_rank(coll_i_crash *c, coll_i_world *w, const coll_i_data *d,
                                   uint32_t rank, bool two, coll_report *report)
{
    for (unsigned i = 0; i < COLL_I_CRASH_WAYS; i++) {
        coll_i_crash_stop stop[COLL_I_CRASH_STOPS];
        stop[0].rank = rank;
        stop[0].after = 0;
        for (bool stopped = true; stopped; stop[0].after++) {
            const coll_i_crash_way *manner = &coll_i_crash_ways[i];
            if (!coll_i_crash_run(c, w, d, manner, stop, 1, report))
                return false;
            stopped = coll_i_stops_has(&c->stops, rank);
            stop[1].rank = (rank + 1 + coll_i_random_below(&c->random, w->p - 1)) % w->p;
            stop[1].after = coll_i_random_below(&c->random, 2 * stop[0].after + 2);
            if (two && stopped && !coll_i_crash_run(c, w, d, manner, stop, 2, report))
                return false;
        }
    }
    return true;
}

/* About how many actions are run when each rank of a plan stops at each point. */
COLL_INLINE uint64_t coll_i_crash_cost(const coll_report *report)
{
    const uint64_t actions = report->total.actions + 1;
    return actions < 0x10000000u ? 2 * COLL_I_CRASH_WAYS * actions * actions : UINT64_MAX;
}

/* Looks at all points of a plan that is proven otherwise: of one rank that stops, and where there are few ranks
 * and `most` is 2, of two. The engines run if that costs at most so much. False: a finding. */
COLL_INLINE bool coll_i_check_crashes(coll_i_crash *c, coll_i_order *order, coll_i_world *w,
                                      const coll_i_data *d, uint32_t most, uint64_t work,
                                      coll_report *report)
{
    if (d->p > COLL_CRASH_RANKS)
        return coll_i_found(report, COLL_FOUND_PLAN, 0, COLL_NO_STEP,
                            "crashes are followed among at most %d ranks; this plan has %u",
                            COLL_CRASH_RANKS, d->p);
    if (!coll_i_order_run(order, d, true, 0, report) ||
        !coll_i_crash_needs_find(&c->needs, order, report))
        return false;
    coll_i_crash_points(&c->needs, &report->crash);
    if (d->p < 2 || coll_i_crash_cost(report) > work)
        return true;
    if (!coll_i_world_begin(w, d, report))
        return false;
    c->random = d->p;
    for (uint32_t rank = 0; rank < d->p; rank++)
        if (!coll_i_crash_rank(c, w, d, rank, most > 1 && d->p > 2 && d->p <= COLL_I_CRASH_TWO,
                               report))
            return false;
    return true;
}

COLL_INLINE void coll_i_crash_release(coll_i_crash *c)
{
    coll_i_crash_needs_release(&c->needs);
    coll_i_stops_release(&c->stops);
}

#endif /* COLL_LAB_VERIFY_CRASH_H */
