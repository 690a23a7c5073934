/* coll/comm/explain_line.h — what a rank that may be waited for tells of itself: its line on the board
 *
 * Use explain.h.
 */
#ifndef COLL_COMM_EXPLAIN_LINE_H
#define COLL_COMM_EXPLAIN_LINE_H

#include "board.h"
#include "compare.h"

struct coll_explain;

/* What is wanted. */
typedef struct coll_explain_options {
    coll_clock clock; /* in any unit */
    uint64_t within;  /* how long a wait may take until it is explained, and how often again */
    uint64_t stopped; /* a rank that waits and has told nothing for so long was stopped */
    const char *unit; /* of the clock, for the text; "" if it has none */
    /* Called in a wait that takes too long. False: the call is given up, as by coll_cancel. It may call
     * coll_explain_text, and nothing else of the communicator. */
    bool (*late)(struct coll_explain *explain, void *arg);
    void *arg;
} coll_explain_options;

/* Why a rank is waited for. */
typedef enum coll_explain_cause {
    COLL_EXPLAIN_NOTHING,    /* nothing is known */
    COLL_EXPLAIN_SLOW,       /* it is in the call, and does not wait */
    COLL_EXPLAIN_APART,      /* it has started the call, and does something else */
    COLL_EXPLAIN_STOPPED,    /* it waits, but has told nothing for some time */
    COLL_EXPLAIN_LOST,       /* it sent the message, which did not arrive */
    COLL_EXPLAIN_BEHIND,     /* it is in an older call */
    COLL_EXPLAIN_NOT_CALLED, /* it has left its last call, and has not made this one */
    COLL_EXPLAIN_MISMATCH,   /* it makes another call, or gives other arguments */
    COLL_EXPLAIN_DEAD        /* its transport knows that it is */
} coll_explain_cause;

/* Calls whose tags are known, to tell which one is waited for. */
enum { COLL_I_EXPLAIN_CALLS = 16 };

/* Watches one communicator. Read cause and rank; the rest is private. */
typedef struct coll_explain {
    coll_i_around around;     /* the first member */
    coll_i_comm_watch watch;  /* what coll_wait tells */
    coll_explain_cause cause; /* what the last text said … */
    uint32_t rank;            /* … of this rank; COLL_RANK_NONE: of none */
    coll_comm *comm;
    coll_board board;
    coll_explain_options options;
    uint64_t calls;                      /* made so far */
    uint32_t tags[COLL_I_EXPLAIN_CALLS]; /* of call n, at n modulo so many */
    coll_told told;
    struct coll_request *request; /* that is waited for, or NULL … */
    uint32_t tag;                 /* … with this tag … */
    uint64_t since, late;         /* … since, and the next time that this is too long */
    uint32_t rounds;
    bool inside; /* in a call that blocks */
} coll_explain;

/* ---- what ranks tell --------------------------------------------------------------------- */

/* Where a rank is. */
typedef enum coll_i_explain_state {
    COLL_I_EXPLAIN_OUTSIDE = 1, /* its calls are over */
    COLL_I_EXPLAIN_APART,       /* it has started calls, of which it has not seen the end */
    COLL_I_EXPLAIN_INSIDE,      /* in a call that blocks */
    COLL_I_EXPLAIN_WAITS        /* has waited for some time */
} coll_i_explain_state;

/* In place of a message's number: it waits until its own has been taken. */
#define COLL_I_EXPLAIN_SENDS UINT32_MAX

/* What a rank told, taken apart. */
typedef struct coll_i_explain_line {
    uint64_t calls, now, since;
    uint32_t ago; /* which call it waits for: that many before its last one */
    uint32_t peer,
        j; /* for message j of this rank, from 0 on, or … _SENDS; COLL_RANK_NONE: nobody */
    uint32_t sent; /* messages that it sent in that call, in the order of its plan */
    coll_i_explain_state state;
    coll_compared args; /* of its last call */
} coll_i_explain_line;

COLL_INLINE void coll_i_explain_tell(coll_explain *explain, coll_i_explain_state state,
                                     uint64_t ago)
{
    explain->told.word[0] = explain->calls << 16 | ago << 8 | (uint64_t)state;
    coll_board_tell(&explain->board, &explain->told);
}

/* False: the rank has told nothing. */
COLL_INLINE bool coll_i_explain_ask(const coll_explain *explain, uint32_t rank,
                                    coll_i_explain_line *its)
{
    coll_told told;
    if (!coll_board_ask(&explain->board, rank, &told))
        return false;
    its->calls = told.word[0] >> 16;
    its->ago = (uint32_t)(told.word[0] >> 8 & 0xff);
    its->state = (coll_i_explain_state)(told.word[0] & 0xff);
    its->args.word[0] = told.word[1];
    its->args.word[1] = told.word[2];
    its->now = told.word[3];
    its->since = told.word[4];
    its->peer = (uint32_t)(told.word[5] >> 32);
    its->j = (uint32_t)told.word[5];
    its->sent = (uint32_t)told.word[6];
    return true;
}

/* Outside of what blocks: are there calls that run? */
COLL_INLINE void coll_i_explain_leave(coll_explain *explain)
{
    coll_i_explain_state state = COLL_I_EXPLAIN_OUTSIDE;
    for (const coll_request *request = explain->comm->root_comm->requests; request;
         request = request->next)
        if (request->comm == explain->comm && request->state != COLL_REQUEST_DONE)
            state = COLL_I_EXPLAIN_APART;
    coll_i_explain_tell(explain, state, 0);
}

/* A call is made: its arguments are told with the next line. */
COLL_INLINE void coll_i_explain_call(coll_comm *comm, coll_explain *explain,
                                     const coll_args *args)
{
    coll_compared own;
    explain->request = NULL;
    explain->calls++;
    explain->tags[explain->calls % COLL_I_EXPLAIN_CALLS] =
        comm->first_tag + comm->turn + comm->use;
    coll_i_compare_args(comm, args, 0, &own);
    explain->told.word[1] = own.word[0];
    explain->told.word[2] = own.word[1];
}

COLL_INLINE coll_status coll_i_explain_run(coll_comm *comm, const coll_args *args)
{
    coll_explain *explain = (coll_explain *)(void *)coll_i_around_of(comm);
    coll_status status;
    coll_i_explain_call(comm, explain, args);
    explain->inside = true;
    coll_i_explain_tell(explain, COLL_I_EXPLAIN_INSIDE, 0);
    status = coll_i_around_run(comm, &explain->around, args);
    explain->inside = false;
    coll_i_explain_leave(explain);
    return status;
}

COLL_INLINE void coll_i_explain_choose(coll_comm *comm, const coll_args *args)
{
    coll_explain *explain = (coll_explain *)(void *)coll_i_around_of(comm);
    coll_i_explain_call(comm, explain, args);
    coll_i_explain_tell(explain, COLL_I_EXPLAIN_APART, 0);
    coll_i_around_choose(comm, &explain->around, args);
}

/* ---- what a request waits for ------------------------------------------------------------ */

/* How many of the actions that a task has begun send, or receive (`kinds`), a message to or from a peer;
 * COLL_RANK_NONE: any. */
COLL_INLINE uint32_t coll_i_explain_count(const coll_engine *e, unsigned kinds, uint32_t peer)
{
    const coll_window *w = &e->window;
    coll_action room[COLL_STEP_MAX];
    const coll_action *acts;
    uint32_t n = 0;
    for (size_t s = 0; s < w->step + (w->skip != 0); s++) {
        const unsigned all = coll_i_task_step(&e->task, s, room, &acts);
        for (unsigned i = 0; i < (s < w->step ? all : w->skip); i++)
            n += coll_i_has(kinds, &acts[i]) &&
                 (peer == COLL_RANK_NONE || acts[i].kind == COLL_DO_MULTICAST ||
                  coll_group_outer(&e->task.plan->group, acts[i].peer) == peer);
    }
    return n;
}

/* The place of a rank's message j to a peer among all that it sends; UINT32_MAX: it does not send so many. */
COLL_INLINE uint32_t coll_i_explain_place(const coll_plan *plan, uint32_t rank, uint32_t peer,
                                          uint32_t j)
{
    const size_t steps = coll_plan_steps(plan, rank);
    uint32_t n = 0;
    coll_action acts[COLL_STEP_MAX];
    for (size_t s = 0; s < steps; s++) {
        const unsigned all = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < all; i++) {
            if (!coll_i_has(COLL_I_SENDS, &acts[i]))
                continue;
            if ((acts[i].kind == COLL_DO_MULTICAST ||
                 coll_group_outer(&plan->group, acts[i].peer) == peer) &&
                j-- == 0)
                return n;
            n++;
        }
    }
    return UINT32_MAX;
}

/* Writes into the line which message a running call waits for, and how many it has sent. */
COLL_INLINE void coll_i_explain_look(const coll_request *request, coll_i_explain_line *line)
{
    const coll_engine *e = &request->engine;
    coll_pending pending[32];
    uint32_t n, held = 0, same = 0;
    line->peer = COLL_RANK_NONE;
    line->j = line->sent = 0;
    if (request->state != COLL_REQUEST_RUNNING)
        return;
    n = coll_engine_pending(e, pending, 32);
    for (uint32_t i = 0; i < n && i < 32; i++) {
        const bool sends = (COLL_I_SENDS >> pending[i].kind & 1u) != 0;
        const bool receives = (COLL_I_RECEIVES >> pending[i].kind & 1u) != 0;
        held += sends && pending[i].state != COLL_PENDING_IN_FLIGHT;
        if (pending[i].state == COLL_PENDING_HELD ||
            (line->j == 0 && line->peer != COLL_RANK_NONE))
            continue;
        if (sends || receives) { /* rather a receive */
            line->peer = pending[i].peer;
            line->j = receives ? 0 : COLL_I_EXPLAIN_SENDS;
        }
    }
    for (uint32_t i = 0; i < n && i < 32; i++)
        same += (COLL_I_RECEIVES >> pending[i].kind & 1u) != 0 && pending[i].peer == line->peer;
    line->sent = coll_i_explain_count(e, COLL_I_SENDS, COLL_RANK_NONE) - held;
    if (line->peer != COLL_RANK_NONE && line->j == 0)
        line->j = coll_i_explain_count(e, COLL_I_RECEIVES, line->peer) - same;
}

/* How many calls ago the request was made that is waited for. */
COLL_INLINE uint64_t coll_i_explain_ago(const coll_explain *explain)
{
    for (uint64_t ago = 0; ago < COLL_I_EXPLAIN_CALLS && ago < explain->calls; ago++)
        if (explain->tags[(explain->calls - ago) % COLL_I_EXPLAIN_CALLS] == explain->tag)
            return ago;
    return 0;
}

/* In coll_wait, when nothing has happened. */
COLL_INLINE void coll_i_explain_waits(const coll_i_comm_watch *watch, coll_request *request)
{
    enum { SELDOM = 64 }; /* the clock is read */
    coll_explain *explain = (coll_explain *)watch->of;
    coll_i_explain_line line;
    uint64_t now;
    if (explain->request == request && explain->tag == request->engine.task.tag &&
        ++explain->rounds % SELDOM != 0)
        return;
    if (explain->request != request || explain->tag != request->engine.task.tag) {
        explain->request = request;
        explain->tag = request->engine.task.tag;
        explain->rounds = 0;
        return;
    }
    now = explain->options.clock.now(explain->options.clock.arg);
    if (explain->rounds == SELDOM) { /* it has waited for so long that it is worth a look */
        explain->since = now;
        explain->late = now + explain->options.within;
    }
    coll_i_explain_look(request, &line);
    explain->told.word[3] = now;
    explain->told.word[4] = explain->since;
    explain->told.word[5] = (uint64_t)line.peer << 32 | line.j;
    explain->told.word[6] = line.sent;
    coll_i_explain_tell(explain, COLL_I_EXPLAIN_WAITS, coll_i_explain_ago(explain));
    if (now < explain->late)
        return;
    explain->late = now + explain->options.within;
    if (explain->options.late && !explain->options.late(explain, explain->options.arg))
        (void)coll_cancel(request);
}

/* A call is over. */
COLL_INLINE void coll_i_explain_over(const coll_i_comm_watch *watch)
{
    coll_explain *explain = (coll_explain *)watch->of;
    explain->request = NULL;
    if (!explain->inside)
        coll_i_explain_leave(explain);
    else if ((explain->told.word[0] & 0xff) == COLL_I_EXPLAIN_WAITS)
        coll_i_explain_tell(explain, COLL_I_EXPLAIN_INSIDE, 0);
}

#endif /* COLL_COMM_EXPLAIN_LINE_H */
