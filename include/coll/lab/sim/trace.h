/* coll/lab/sim/trace.h — a record as a trace that Perfetto and chrome://tracing show
 *
 * The trace event format of Chrome, in JSON: a process for each rank with four threads, the whole
 * collective until the rank's end, what it sends, receives and computes; and an arrow for each
 * message. Where a rank did several things of one kind at once, as in real runs (real_record.h), it has
 * more threads. Times are microseconds with six digits, so no picosecond is lost. Use lab/sim.h; needs
 * stdio.
 *
 * Source  Trace Event Format, The Chromium Projects, 2016
 */
#ifndef COLL_LAB_SIM_TRACE_H
#define COLL_LAB_SIM_TRACE_H

#include "record.h"
#include "simulate.h"

#include <stdio.h>

COLL_INLINE const char *coll_i_kind_text(coll_kind kind)
{
    static const char *const texts[COLL_KINDS] = {"send",  "receive",   "combine",
                                                  "copy",  "reduce",    "notify",
                                                  "await", "multicast", "network reduce"};
    return (unsigned)kind < COLL_KINDS ? texts[kind] : "?";
}

COLL_INLINE void coll_i_trace_time(FILE *file, const char *name, coll_time time)
{
    fprintf(file, ",\"%s\":%llu.%06llu", name, (unsigned long long)(time / 1000000),
            (unsigned long long)(time % 1000000));
}

/* The thread of a rank's lane. */
COLL_INLINE unsigned coll_i_trace_thread(coll_sim_sight what, uint32_t lane)
{
    enum { SIGHTS = 8 };
    return (unsigned)what + SIGHTS * lane;
}

COLL_INLINE void coll_i_trace_span(const coll_sim_span *span, FILE *file)
{
    fprintf(file, ",\n{\"name\":\"%s", span->name ? span->name : coll_i_kind_text(span->kind));
    if (span->peer != COLL_RANK_NONE)
        fprintf(file, " %s %u", span->what == COLL_SEEN_SEND ? "to" : "from", span->peer);
    fprintf(file, "\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u",
            span->what == COLL_SEEN_SEND      ? "send"
            : span->what == COLL_SEEN_RECEIVE ? "receive"
            : span->what == COLL_SEEN_BEGIN   ? "collective"
                                              : "compute",
            span->rank, coll_i_trace_thread(span->what, span->lane));
    coll_i_trace_time(file, "ts", span->start);
    coll_i_trace_time(file, "dur", span->end - span->start);
    fprintf(file, ",\"args\":{\"bytes\":%llu}}", (unsigned long long)span->bytes);
}

/* An arrow begins in the sender's span and ends in the receiver's. */
COLL_INLINE void coll_i_trace_flight(const coll_sim_flight *flight, size_t number, FILE *file)
{
    static const coll_sim_sight lanes[2] = {COLL_SEEN_SEND, COLL_SEEN_RECEIVE};
    for (unsigned end = 0; end < 2 && flight->end != COLL_NEVER; end++) {
        fprintf(file,
                ",\n{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"%s\",\"id\":%llu,"
                "\"pid\":%u,\"tid\":%u",
                end ? "f\",\"bp\":\"e" : "s", (unsigned long long)number,
                end ? flight->to : flight->from,
                coll_i_trace_thread(lanes[end], end ? flight->to_lane : flight->from_lane));
        coll_i_trace_time(file, "ts", end ? flight->end : flight->start);
        fprintf(file, ",\"args\":{\"bytes\":%llu}}", (unsigned long long)flight->bytes);
    }
}

/* Within a JSON string. */
COLL_INLINE void coll_i_trace_text(const char *text, FILE *file)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    }
}

/* The beginning of a file, and the names of p ranks and their threads: so many lanes of each sight, or one. */
COLL_INLINE void coll_i_trace_head(uint32_t p, const uint32_t *lanes, FILE *file)
{
    static const struct coll_i_lane {
        coll_sim_sight what;
        const char *name;
    } threads[] = {{COLL_SEEN_BEGIN, "collective"},
                   {COLL_SEEN_SEND, "send"},
                   {COLL_SEEN_RECEIVE, "receive"},
                   {COLL_SEEN_COMPUTE, "compute"}};
    const unsigned n = sizeof threads / sizeof threads[0];
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (uint32_t rank = 0; rank < p; rank++) {
        fprintf(file,
                "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":"
                "{\"name\":\"rank\"}}",
                rank ? "," : "", rank);
        fprintf(file,
                ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%u,\"args\":"
                "{\"sort_index\":%u}}",
                rank, rank);
        for (unsigned i = 0; i < n; i++)
            for (uint32_t lane = 0; lane < (lanes ? lanes[threads[i].what] : 1); lane++)
                fprintf(
                    file,
                    ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":"
                    "{\"name\":\"%s\"}}",
                    rank, coll_i_trace_thread(threads[i].what, lane), threads[i].name);
    }
}

/* All spans and messages of a record, and the end of the file. */
COLL_INLINE void coll_i_trace_rest(const coll_sim_record *record, FILE *file)
{
    for (size_t i = 0; i < record->spans.n; i++)
        coll_i_trace_span(coll_sim_span_at(record, i), file);
    for (size_t i = 0; i < record->flights.n; i++)
        coll_i_trace_flight(coll_sim_flight_at(record, i), i, file);
    fprintf(file, "\n]}\n");
}

/* Writes the trace of a simulation that was recorded. Whether all of it was written the file's
 * error flag says. */
COLL_INLINE void coll_sim_trace(const coll_sim_record *record, const coll_sim *sim,
                                const char *title, FILE *file)
{
    coll_i_trace_head(sim->p, NULL, file);
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        fprintf(file, ",\n{\"name\":\"");
        coll_i_trace_text(title, file);
        fprintf(file, "\",\"cat\":\"collective\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u", rank,
                (unsigned)COLL_SEEN_BEGIN);
        coll_i_trace_time(file, "ts", 0);
        coll_i_trace_time(file, "dur", coll_sim_finish(sim, rank));
        fprintf(file, ",\"args\":{}}");
    }
    coll_i_trace_rest(record, file);
}

#endif /* COLL_LAB_SIM_TRACE_H */
