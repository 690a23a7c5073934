/* coll/lab/sim/record.h — what happened in a simulation, kept for traces and pictures
 *
 *   coll_sim_record record;
 *   coll_sim_record_init(&record, 1 << 20);     // at most so many things
 *   options.see = coll_sim_record_see;
 *   options.arg = &record;
 *   … coll_sim_run …
 *   coll_sim_trace(&record, &sim, "ring", file); // trace.h: for Perfetto
 *   coll_sim_svg(&record, &sim, "ring", file);   // svg.h: a picture
 *   coll_sim_record_free(&record);
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_RECORD_H
#define COLL_LAB_SIM_RECORD_H

#include "simulation.h"

/* A rank was busy with something: sent, received or computed (COLL_SEEN_…). */
typedef struct coll_sim_span {
    coll_time start, end;
    uint64_t bytes;
    uint32_t rank, peer; /* peer of a message; COLL_RANK_NONE: all, or none */
    coll_sim_sight
        what;       /* what happened; COLL_SEEN_BEGIN: a call of a real run, from end to end */
    coll_kind kind; /* of the action; a received message's is COLL_DO_RECV */
    uint32_t
        lane; /* no two spans of a rank, a lane and one `what` overlap; 0 in a simulation */
    const char *name; /* in place of the kind's; static; or NULL */
} coll_sim_span;

/* A message: when it set out and was taken in. */
typedef struct coll_sim_flight {
    coll_time start, end; /* end: COLL_NEVER if it never was */
    uint64_t bytes;
    uint32_t from, to;
    uint32_t from_lane, to_lane; /* of the spans at its ends */
} coll_sim_flight;

/* What happened in a simulation, in the order of its ends. */
typedef struct coll_sim_record {
    coll_i_array spans;   /* of coll_sim_span */
    coll_i_array flights; /* of coll_sim_flight */
    coll_i_array way;     /* of uint32_t: the last flight of each number */
    size_t most;          /* entries that are kept */
    bool full;            /* something is missing: more than `most`, or no memory */
} coll_sim_record;

/* An empty record, of at most so many entries. */
COLL_INLINE void coll_sim_record_init(coll_sim_record *record, size_t most)
{
    memset(record, 0, sizeof *record);
    record->most = most;
}

/* Frees what a record holds. */
COLL_INLINE void coll_sim_record_free(coll_sim_record *record)
{
    coll_i_array_free(&record->spans);
    coll_i_array_free(&record->flights);
    coll_i_array_free(&record->way);
}

/* Span i. */
COLL_INLINE const coll_sim_span *coll_sim_span_at(const coll_sim_record *record, size_t i)
{
    return (const coll_sim_span *)record->spans.at + i;
}

/* Flight i. */
COLL_INLINE const coll_sim_flight *coll_sim_flight_at(const coll_sim_record *record, size_t i)
{
    return (const coll_sim_flight *)record->flights.at + i;
}

/* Room for one more, or what is missing is noted. */
COLL_INLINE bool coll_i_record_room(coll_sim_record *record, coll_i_array *array, size_t bytes)
{
    if (record->spans.n + record->flights.n >= record->most ||
        !coll_i_array_reserve(array, array->n + 1, bytes))
        record->full = true;
    return !record->full;
}

COLL_INLINE void coll_i_record_flight(coll_sim_record *record, const coll_seen *seen)
{
    coll_sim_flight *flight;
    if (!coll_i_record_room(record, &record->flights, sizeof *flight) ||
        !coll_i_array_reserve(&record->way, seen->message + (size_t)1, sizeof(uint32_t))) {
        record->full = true;
        return;
    }
    flight = (coll_sim_flight *)record->flights.at + record->flights.n;
    flight->start = seen->start;
    flight->end = COLL_NEVER;
    flight->bytes = seen->bytes;
    flight->from = seen->from;
    flight->to = seen->to;
    flight->from_lane = flight->to_lane = 0;
    ((uint32_t *)record->way.at)[seen->message] = (uint32_t)record->flights.n++;
}

COLL_INLINE void coll_i_record_span(coll_sim_record *record, const coll_seen *seen)
{
    const coll_action *a = seen->action;
    coll_sim_span *span;
    if (!coll_i_record_room(record, &record->spans, sizeof *span))
        return;
    span = (coll_sim_span *)record->spans.at + record->spans.n++;
    span->start = seen->start;
    span->end = seen->end;
    span->rank = seen->rank;
    span->what = seen->what;
    span->bytes = seen->bytes;
    span->lane = 0;
    span->name = NULL;
    span->kind = a ? (coll_kind)a->kind : COLL_DO_RECV;
    span->peer = COLL_RANK_NONE;
    if (seen->what == COLL_SEEN_RECEIVE) {
        span->peer = seen->from;
        ((coll_sim_flight *)record->flights.at)[((uint32_t *)record->way.at)[seen->message]]
            .end = seen->start;
    } else if (seen->what == COLL_SEEN_SEND && span->kind != COLL_DO_MULTICAST) {
        span->peer = a->peer;
    }
}

/* The observer. */
COLL_INLINE void coll_sim_record_see(void *arg, const coll_seen *seen)
{
    coll_sim_record *record = (coll_sim_record *)arg;
    if (record->full)
        return;
    if (seen->what == COLL_SEEN_LEAVE)
        coll_i_record_flight(record, seen);
    else if (seen->what != COLL_SEEN_BEGIN)
        coll_i_record_span(record, seen);
}

#endif /* COLL_LAB_SIM_RECORD_H */
