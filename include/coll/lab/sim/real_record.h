/* coll/lab/sim/real_record.h — what ranks noted of a real run, as a trace or a picture like a simulation's
 *
 *   coll_real_rank ranks[P];
 *   for each rank r:                               // all in this process, or gathered from others
 *       ranks[r] = coll_real_rank_of(&traced[r]);  // transports/traced.h
 *   coll_real_run run;
 *   if (coll_real_run_make(&run, ranks, P, 1000) == COLL_OK) {  // its clock counts nanoseconds: 1000 ps
 *       coll_real_run_trace(&run, file);                        // for Perfetto
 *       coll_real_run_svg(&run, "ring", file);                  // a picture
 *   }
 *   coll_real_run_free(&run);
 *
 * Time 0 is the first event of any rank. The k-th message of a channel (sender, receiver, tag) is that of the
 * k-th receive; where a rank's memory held its latest events only, they are counted from the last one back,
 * which is right once all messages have been received. What was in flight at the end is drawn up to there.
 * Clocks of ranks are to agree, or `ahead` is what they differ by (lab/tune/clock_offsets.h measures it).
 *
 * Use lab/sim.h; hosted: allocates.
 */
#ifndef COLL_LAB_SIM_REAL_RECORD_H
#define COLL_LAB_SIM_REAL_RECORD_H

#include "../../transports/traced.h"
#include "svg.h"
#include "trace.h"

/* What one rank noted: a ring of events. */
typedef struct coll_real_rank {
    const coll_traced_event *events; /* memory for them … */
    uint32_t room;                   /* … for so many … */
    uint32_t first, n;               /* … of which there are n, from this one on */
    bool dropped;                    /* there were older ones */
    int64_t ahead;                   /* of rank 0's clock, in its unit */
} coll_real_rank;

/* A real run. Read all; the rest is coll_real_run_free's. */
typedef struct coll_real_run {
    coll_sim_record record; /* what happened */
    coll_time *finish;      /* of each rank's last event */
    coll_time end;          /* of the last one */
    uint32_t p;             /* ranks */
    uint32_t lanes[8];      /* the most that any rank has, of each coll_sim_sight */
} coll_real_run;

/* An end of a message: of a send, or of a receive. Private. */
typedef struct coll_i_real_end {
    uint32_t from, to, tag;
    size_t span; /* of the record */
    bool over;
} coll_i_real_end;

/* Lanes of a rank beyond which spans are drawn over each other. */
enum { COLL_I_REAL_LANES = 64 };

/* What a traced transport of this process noted; it must not be used as long as the rank is. */
COLL_INLINE coll_real_rank coll_real_rank_of(const coll_traced *traced)
{
    coll_real_rank rank;
    rank.events = traced->events;
    rank.room = traced->room;
    rank.n = coll_traced_kept(traced);
    rank.dropped = traced->n > traced->room;
    rank.first = rank.dropped ? traced->at : 0;
    rank.ahead = 0;
    return rank;
}

COLL_INLINE const coll_traced_event *coll_i_real_event(const coll_real_rank *rank, uint32_t i)
{
    const uint32_t left = rank->room - rank->first;
    return &rank->events[i < left ? rank->first + i : i - left];
}

/* ---- spans ------------------------------------------------------------------------------- */

/* A time of a rank's clock on that of rank 0. */
COLL_INLINE uint64_t coll_i_real_time(const coll_real_rank *rank, uint64_t time)
{
    return time - (uint64_t)rank->ahead;
}

/* When the first event of all began, and the last one ended, as far as it did. */
COLL_INLINE void coll_i_real_bounds(const coll_real_rank *ranks, uint32_t p, uint64_t *first,
                                    uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t r = 0; r < p; r++)
        for (uint32_t i = 0; i < ranks[r].n; i++) {
            const coll_traced_event *event = coll_i_real_event(&ranks[r], i);
            const uint64_t start = coll_i_real_time(&ranks[r], event->start);
            const uint64_t end = coll_i_real_time(&ranks[r], event->end);
            *first = start < *first ? start : *first;
            *last = end > *last ? end : *last;
        }
}

COLL_INLINE coll_sim_sight coll_i_real_sight(coll_traced_kind kind)
{
    switch (kind) {
    case COLL_TRACED_CALL:
        return COLL_SEEN_BEGIN;
    case COLL_TRACED_SEND:
    case COLL_TRACED_MULTICAST:
        return COLL_SEEN_SEND;
    case COLL_TRACED_RECV:
    case COLL_TRACED_ACQUIRE:
    case COLL_TRACED_RECV_REDUCE:
        return COLL_SEEN_RECEIVE;
    case COLL_TRACED_NETWORK_REDUCE:
    case COLL_TRACED_COPY:
    case COLL_TRACED_REDUCE:
    case COLL_TRACED_KINDS:
        break;
    }
    return COLL_SEEN_COMPUTE;
}

COLL_INLINE coll_kind coll_i_real_kind(coll_traced_kind kind)
{
    static const coll_kind kinds[COLL_TRACED_KINDS] = {
        COLL_DO_SEND,           COLL_DO_SEND,        COLL_DO_RECV,
        COLL_DO_RECV_REDUCE,    COLL_DO_RECV_REDUCE, COLL_DO_MULTICAST,
        COLL_DO_NETWORK_REDUCE, COLL_DO_COPY,        COLL_DO_REDUCE};
    return kinds[kind];
}

/* The first lane that is free at a time, which is taken until another. */
COLL_INLINE uint32_t coll_i_real_lane(coll_time *until, coll_time start, coll_time end)
{
    uint32_t lane = 0;
    while (lane + 1 < COLL_I_REAL_LANES && until[lane] > start)
        lane++;
    until[lane] = coll_later(until[lane], end);
    return lane;
}

/* A call that was not seen to end lasts as long as its messages, the latest ones with its tag. */
COLL_INLINE void coll_i_real_stretch(coll_real_run *run, size_t first, uint32_t tag,
                                     coll_time end)
{
    enum { NEAR = 256 };
    coll_sim_span *spans = (coll_sim_span *)run->record.spans.at;
    size_t i = run->record.spans.n - 1; /* which is the message itself */
    for (uint32_t seen = 0; i > first && seen < NEAR; seen++) {
        coll_sim_span *span = &spans[--i];
        if (span->what != COLL_SEEN_BEGIN || span->lane != tag)
            continue;
        if (span->kind == COLL_DO_RECV) /* in flight: see coll_i_real_span */
            span->end = coll_later(span->end, end);
        return;
    }
}

/* Event i of a rank as a span; those of calls keep their tag in `lane`, and whether they were not seen to end in
 * `kind`, until coll_i_real_set_lanes. */
COLL_INLINE bool coll_i_real_span(coll_real_run *run, uint32_t rank,
                                  const coll_traced_event *event, coll_time start,
                                  coll_time end)
{
    const bool call = event->kind == COLL_TRACED_CALL, flies = event->status == COLL_STARTED;
    coll_sim_span *span;
    if (!coll_i_array_reserve(&run->record.spans, run->record.spans.n + 1, sizeof *span))
        return false;
    span = (coll_sim_span *)run->record.spans.at + run->record.spans.n++;
    span->start = start;
    span->end = call || !flies ? coll_later(start, end) : coll_later(start, run->end);
    span->bytes = event->bytes;
    span->rank = rank;
    span->peer = event->peer;
    span->what = coll_i_real_sight((coll_traced_kind)event->kind);
    span->kind = call && flies ? COLL_DO_RECV : coll_i_real_kind((coll_traced_kind)event->kind);
    span->lane = call ? event->tag : 0;
    span->name = !call ? NULL
                 : event->which == COLL_COLLECTIVES
                     ? "program"
                     : coll_collective_name((coll_collective)event->which);
    return true;
}

/* The spans of a rank, from `first` on, on lanes. */
COLL_INLINE void coll_i_real_set_lanes(coll_real_run *run, size_t first)
{
    coll_time until[COLL_SEEN_COMPUTE + 1][COLL_I_REAL_LANES];
    memset(until, 0, sizeof until);
    for (size_t i = first; i < run->record.spans.n; i++) {
        coll_sim_span *span = (coll_sim_span *)run->record.spans.at + i;
        span->lane = coll_i_real_lane(until[span->what], span->start, span->end);
        if (run->lanes[span->what] < span->lane + 1)
            run->lanes[span->what] = span->lane + 1;
        run->finish[span->rank] = coll_later(run->finish[span->rank], span->end);
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE int coll_i_real_compare(const void *one, const void *other)
{
    const coll_i_real_end *a = (const coll_i_real_end *)one;
    const coll_i_real_end *b = (const coll_i_real_end *)other;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

COLL_INLINE bool coll_i_real_is_channel(const coll_i_real_end *a, const coll_i_real_end *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag;
}

/* The ends of messages that an event is: sends, or receives, but for those that were given up. */
COLL_INLINE bool coll_i_real_ends(const coll_real_run *run, uint32_t rank,
                                  const coll_traced_event *event, coll_i_array *sends,
                                  coll_i_array *receives)
{
    const bool all = event->kind == COLL_TRACED_MULTICAST;
    const coll_sim_sight what = coll_i_real_sight((coll_traced_kind)event->kind);
    coll_i_array *array = what == COLL_SEEN_SEND ? sends : receives;
    if ((what != COLL_SEEN_SEND && what != COLL_SEEN_RECEIVE) ||
        (what == COLL_SEEN_RECEIVE && event->status < 0))
        return true;
    for (uint32_t peer = all ? 0 : event->peer; peer < (all ? run->p : event->peer + 1);
         peer++) {
        coll_i_real_end *end;
        if (peer == rank)
            continue;
        if (!coll_i_array_reserve(array, array->n + 1, sizeof *end))
            return false;
        end = (coll_i_real_end *)array->at + array->n++;
        end->from = what == COLL_SEEN_SEND ? rank : peer;
        end->to = what == COLL_SEEN_SEND ? peer : rank;
        end->tag = event->tag;
        end->span = run->record.spans.n - 1;
        end->over = event->status == COLL_OK;
    }
    return true;
}

/* A message, from the span that sent it to the one that received it; NULL: none did. */
COLL_INLINE bool coll_i_real_flight(coll_real_run *run, const coll_i_real_end *send,
                                    const coll_i_real_end *receive)
{
    const coll_sim_span *from = coll_sim_span_at(&run->record, send->span);
    const coll_sim_span *to =
        receive && receive->over ? coll_sim_span_at(&run->record, receive->span) : NULL;
    coll_sim_flight *flight;
    if (!coll_i_array_reserve(&run->record.flights, run->record.flights.n + 1, sizeof *flight))
        return false;
    flight = (coll_sim_flight *)run->record.flights.at + run->record.flights.n++;
    flight->start = from->start;
    /* within the span, as those who draw it look for a span at this time */
    flight->end =
        to ? coll_later(from->start, to->end > to->start ? to->end - 1 : to->end) : COLL_NEVER;
    flight->bytes = from->bytes;
    flight->from = send->from;
    flight->to = send->to;
    flight->from_lane = from->lane;
    flight->to_lane = to ? to->lane : 0;
    return true;
}

/* Pairs the sends of each channel with its receives. */
COLL_INLINE bool coll_i_real_match(coll_real_run *run, const coll_real_rank *ranks,
                                   const coll_i_array *sends, const coll_i_array *receives)
{
    const coll_i_real_end *send = (const coll_i_real_end *)sends->at;
    const coll_i_real_end *receive = (const coll_i_real_end *)receives->at;
    size_t r = 0;
    for (size_t s = 0; s < sends->n;) {
        const bool last = ranks[send[s].from].dropped || ranks[send[s].to].dropped;
        size_t n = 1, m = 0;
        while (s + n < sends->n && coll_i_real_is_channel(&send[s], &send[s + n]))
            n++;
        while (r < receives->n && coll_i_real_compare(&receive[r], &send[s]) < 0 &&
               !coll_i_real_is_channel(&receive[r], &send[s]))
            r++;
        while (r + m < receives->n && coll_i_real_is_channel(&receive[r + m], &send[s]))
            m++;
        for (size_t i = 0; i < n;
             i++) { /* the last one is that of the last receive, or the first one */
            const size_t skip = last ? n : m; /* i + m − n, or i */
            if (!coll_i_real_flight(
                    run, &send[s + i],
                    i + m >= skip && i + m - skip < m ? &receive[r + i + m - skip] : NULL))
                return false;
        }
        s += n;
        r += m;
    }
    return true;
}

/* ---- a run ------------------------------------------------------------------------------- */

/* Frees what a run holds. */
COLL_INLINE void coll_real_run_free(coll_real_run *run)
{
    coll_sim_record_free(&run->record);
    free(run->finish);
    run->finish = NULL;
}

COLL_INLINE coll_status coll_i_real_add(coll_real_run *run, const coll_real_rank *ranks,
                                        double ps, coll_i_array *sends, coll_i_array *receives)
{
    uint64_t first, last;
    coll_i_real_bounds(ranks, run->p, &first, &last);
    run->end = last > first ? coll_time_of((double)(last - first) * ps) : 0;
    for (uint32_t r = 0; r < run->p; r++) {
        const size_t begin = run->record.spans.n;
        for (uint32_t i = 0; i < ranks[r].n; i++) {
            const coll_traced_event *event = coll_i_real_event(&ranks[r], i);
            const coll_time start =
                coll_time_of((double)(coll_i_real_time(&ranks[r], event->start) - first) * ps);
            const coll_time end =
                coll_time_of((double)(coll_i_real_time(&ranks[r], event->end) - first) * ps);
            coll_sim_sight what;
            if (event->kind >= COLL_TRACED_KINDS)
                return COLL_ERR_FORMAT;
            what = coll_i_real_sight((coll_traced_kind)event->kind);
            if ((what == COLL_SEEN_SEND || what == COLL_SEEN_RECEIVE) &&
                event->kind != COLL_TRACED_MULTICAST && event->peer >= run->p)
                return COLL_ERR_RANK;
            if (!coll_i_real_span(run, r, event, start, end) ||
                !coll_i_real_ends(run, r, event, sends, receives))
                return COLL_ERR_MEMORY;
            if (what == COLL_SEEN_SEND || what == COLL_SEEN_RECEIVE)
                coll_i_real_stretch(
                    run, begin, event->tag,
                    coll_sim_span_at(&run->record, run->record.spans.n - 1)->end);
        }
        coll_i_real_set_lanes(run, begin);
    }
    return COLL_OK;
}

/* Makes a run of what p ranks noted, by clocks that count so many picoseconds; in any case coll_real_run_free frees
 * it. The ranks' events are not needed any more. COLL_ERR_RANK: a message has a peer that is none of them;
 * COLL_ERR_FORMAT: these are no events; COLL_ERR_MEMORY. */
COLL_INLINE coll_status coll_real_run_make(coll_real_run *run, const coll_real_rank *ranks,
                                           uint32_t p, double ps)
{
    coll_i_array sends, receives;
    coll_status status;
    memset(run, 0, sizeof *run);
    memset(&sends, 0, sizeof sends);
    memset(&receives, 0, sizeof receives);
    run->p = p;
    for (unsigned i = 0; i < sizeof run->lanes / sizeof run->lanes[0]; i++)
        run->lanes[i] = 1;
    run->finish = (coll_time *)calloc(p ? p : 1, sizeof *run->finish);
    status = run->finish ? coll_i_real_add(run, ranks, ps, &sends, &receives) : COLL_ERR_MEMORY;
    if (status == COLL_OK && sends.n > 0)
        qsort(sends.at, sends.n, sizeof(coll_i_real_end), coll_i_real_compare);
    if (status == COLL_OK && receives.n > 0)
        qsort(receives.at, receives.n, sizeof(coll_i_real_end), coll_i_real_compare);
    if (status == COLL_OK && !coll_i_real_match(run, ranks, &sends, &receives))
        status = COLL_ERR_MEMORY;
    coll_i_array_free(&sends);
    coll_i_array_free(&receives);
    return status;
}

/* Writes a run as a trace, as coll_sim_trace writes a simulation. */
COLL_INLINE void coll_real_run_trace(const coll_real_run *run, FILE *file)
{
    coll_i_trace_head(run->p, run->lanes, file);
    coll_i_trace_rest(&run->record, file);
}

COLL_INLINE coll_time coll_i_real_finish(const void *of, uint32_t rank)
{
    return ((const coll_real_run *)of)->finish[rank];
}

/* Writes a run as a picture, as coll_sim_svg draws a simulation. */
COLL_INLINE void coll_real_run_svg(const coll_real_run *run, const char *title, FILE *file)
{
    coll_i_svg_shown shown;
    shown.record = &run->record;
    shown.p = run->p;
    shown.end = run->end;
    shown.finish = coll_i_real_finish;
    shown.of = run;
    shown.title = title;
    shown.halves = true;
    coll_i_svg_draw(&shown, file);
}

#endif /* COLL_LAB_SIM_REAL_RECORD_H */
