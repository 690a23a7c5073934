/* mpi/layer/trace.c — COLL_TRACE: which collectives each rank called, and when
 *
 * A rank keeps its latest calls in memory that it takes once: 40 bytes a call, each new one in the place of the
 * oldest. At MPI_Finalize the ranks' clocks are compared, rank 0 gets all calls, and writes one file: a trace for
 * Perfetto, or a picture if its name ends with ".svg" (coll/lab/sim/real_record.h).
 *
 * A short call takes some hundred nanoseconds, so times are ticks (ticks_now), which the end of the
 * run makes nanoseconds, by two readings of the system's clock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll/lab/sim.h"
#include "coll/lab/sim/real_record.h"
#include "coll/lab/tune/bench.h"
#include "coll/lab/tune/clock_offsets.h"
#include "layer.h"
#include "ticks.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum {
    KEPT = 1 << 16,     /* calls of a rank, unless the user says so … */
    KEPT_ALL = 1 << 22, /* … and of all */
    DRAWN = 1 << 17,    /* … in a picture, which has at most so many ranks: */
    DRAWN_RANKS = 1024,
    CLOCKS_TAG = 1 /* of messages that compare clocks, on a communicator of their own */
};

bool ticks_are_even;
struct trace trace;

static FILE *file; /* of rank 0 */
static bool draws;
static const char *name;
static struct {
    uint64_t ticks, ns;
} first;

/* ---- clocks ------------------------------------------------------------------------------ */

uint64_t ticks_of_system(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Does the processor count at one rate, whatever it does, alike on all cores? */
static bool counts_evenly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1u) != 0;
#else
    return true;
#endif
}

/* The same moment by both clocks: of some readings those that were closest to each other. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    enum { TRIES = 8 };
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = ticks_now(), now = ticks_of_system(), after = ticks_now();
        if (after - before >= closest)
            continue;
        closest = after - before;
        *ticks = before + closest / 2;
        *ns = now;
    }
}

static double system_ns(void *unused)
{
    (void)unused;
    return (double)ticks_of_system();
}

/* By how many nanoseconds this rank's system clock is ahead of rank 0's: none, on one machine. Collective. */
static int64_t find_ahead(void)
{
    MPI_Comm machine, leaders;
    int rank, lowest = 0;
    int64_t ahead = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    PMPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, machine);
    PMPI_Comm_split(MPI_COMM_WORLD, rank == lowest ? 0 : MPI_UNDEFINED, rank, &leaders);
    if (leaders != MPI_COMM_NULL) {
        coll_bench_options options;
        coll_bench bench;
        coll_mpi mpi;
        int mine, p;
        PMPI_Comm_rank(leaders, &mine);
        PMPI_Comm_size(leaders, &p);
        PMPI_Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
        coll_mpi_init(&mpi, leaders);
        mpi.oversubscribed = settings.oversubscribed;
        coll_bench_options_init(&options);
        options.clock.now = system_ns;
        options.largest = 0;
        if (p > 1 && coll_bench_init(&bench, &coll_mpi_transport, &mpi, (uint32_t)mine,
                                     (uint32_t)p, CLOCKS_TAG, &options) == COLL_OK) {
            coll_bench_clocks(&bench, NULL, 1e6);
            if (bench.status == COLL_OK)
                ahead = (int64_t)bench.ahead;
            coll_bench_free(&bench);
        }
        coll_mpi_free(&mpi);
        PMPI_Comm_free(&leaders);
    }
    PMPI_Bcast(&ahead, 1, MPI_INT64_T, 0, machine);
    PMPI_Comm_free(&machine);
    return ahead;
}

/* ---- beginning --------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A number of calls that a variable gives, or 0. */
static bool read_calls(const char *variable, const char *value, uint64_t *number,
                       coll_sentence *error)
{
    *number = 0;
    return !*value || (coll_number_read(value, number) && *number > 0 && *number <= KEPT_ALL) ||
           coll_refuse(error, "%s is a number of calls from 1 to %d, not \"%.60s\"", variable,
                       KEPT_ALL, value);
}

bool trace_ask(const char *path, const char *kept, const char *every, coll_sentence *error)
{
    uint64_t number, step;
    int rank, p;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p);
    if (!read_calls("COLL_TRACE_CALLS", kept, &number, error) ||
        !read_calls("COLL_TRACE_EVERY", every, &step, error))
        return false;
    while (trace.left + 1 < step)
        trace.left = 2 * trace.left + 1;
    if (!*path)
        return true;
    name = path;
    draws = ends_with(path, ".svg");
    if (draws && p > DRAWN_RANKS)
        return coll_refuse(error, "COLL_TRACE: a picture shows at most %d ranks, not %d",
                           DRAWN_RANKS, p);
    trace.room = number > 0                      ? (uint32_t)number
                 : (uint64_t)p * KEPT > KEPT_ALL ? KEPT_ALL / (uint32_t)p + 1
                                                 : KEPT;
    if (rank > 0)
        return true;
    file = fopen(path, "w");
    return file || coll_refuse(error, "COLL_TRACE: %.400s cannot be written: %s", path,
                               strerror(errno));
}

void trace_start(void)
{
    if (trace.room == 0)
        return;
    trace.events = malloc(trace.room * sizeof *trace.events);
    if (!trace.events)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    memset(trace.events, 0, trace.room * sizeof *trace.events); /* its pages are there, then */
    ticks_are_even = counts_evenly();
    read_both(&first.ticks, &first.ns);
    settings.trace = true;
}

/* ---- calls of the library's own ---------------------------------------------------------- */

/* Bytes of a side, as far as they are one number. */
static uint64_t side_bytes(const struct side *side)
{
    int size = 0;
    if (side->counts || side->types || side->count <= 0 ||
        PMPI_Type_size(side->type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return (uint64_t)side->count * (uint64_t)size;
}

void trace_own(const struct call *call, uint64_t begun, int error)
{
    const uint64_t in = side_bytes(&call->in), out = side_bytes(&call->out);
    lock();
    trace_note(call->what, in > out ? in : out, begun, error == MPI_SUCCESS);
    unlock();
}

/* ---- the end ----------------------------------------------------------------------------- */

/* This rank's calls, oldest first and by the system's clock, in new memory; the last `most` of them. */
static coll_traced_event *take_events(uint32_t most, uint32_t *n)
{
    const uint32_t kept = trace.n < trace.room ? (uint32_t)trace.n : trace.room;
    coll_traced_event *events;
    uint64_t ticks = 0, ns = 0;
    double rate;
    read_both(&ticks, &ns);
    rate = ticks > first.ticks ? (double)(ns - first.ns) / (double)(ticks - first.ticks) : 1;
    *n = kept < most ? kept : most;
    events = malloc((*n ? *n : 1) * sizeof *events);
    if (!events)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (uint32_t i = 0; i < *n; i++) {
        coll_traced_event *event = &events[i];
        *event = trace.events[(trace.at + trace.room - *n + i) % trace.room];
        event->start = first.ns + (uint64_t)(rate * (double)(event->start - first.ticks));
        event->end = first.ns + (uint64_t)(rate * (double)(event->end - first.ticks));
    }
    return events;
}

/* Rank 0 writes what all have called. */
static void write_all(const coll_real_rank *ranks, uint32_t p, uint64_t calls, uint64_t lost)
{
    coll_real_run run;
    const coll_status status = coll_real_run_make(&run, ranks, p, 1000);
    bool good = status == COLL_OK;
    char title[100];
    snprintf(title, sizeof title, "%llu collectives of %u ranks", (unsigned long long)calls, p);
    if (good && draws)
        coll_real_run_svg(&run, title, file);
    else if (good)
        coll_real_run_trace(&run, file);
    good = fclose(file) == 0 && good;
    file = NULL;
    coll_real_run_free(&run);
    if (!good)
        fprintf(stderr, "coll: COLL_TRACE: %s was not written: %s\n", name,
                status == COLL_OK ? strerror(errno) : coll_status_text(status));
    else if (lost > 0)
        fprintf(stderr,
                "coll: COLL_TRACE: %s has the latest %llu of %llu calls; the %llu older ones "
                "were dropped (COLL_TRACE_CALLS is how many a rank keeps)\n",
                name, (unsigned long long)(calls - lost), (unsigned long long)calls,
                (unsigned long long)lost);
}

/* What rank 0 gets of a rank: how far its clock is ahead, and how many calls it sends, of how many. */
enum { AHEAD, SENT, MADE, NUMBERS, PART = 1 << 14, TAG = 2 };

/* Sends this rank's calls to rank 0. */
static void send_events(MPI_Comm world, const int64_t numbers[NUMBERS],
                        const coll_traced_event *events)
{
    PMPI_Send(numbers, NUMBERS, MPI_INT64_T, 0, TAG, world);
    for (int64_t i = 0, n = numbers[SENT]; i < n; i += PART)
        PMPI_Send(events + i, (int)sizeof *events * (int)(n - i < PART ? n - i : PART),
                  MPI_BYTE, 0, TAG, world);
}

/* Receives those of another, in new memory. */
static coll_traced_event *recv_events(MPI_Comm world, int from, int64_t numbers[NUMBERS])
{
    coll_traced_event *events;
    PMPI_Recv(numbers, NUMBERS, MPI_INT64_T, from, TAG, world, MPI_STATUS_IGNORE);
    events = malloc(((size_t)numbers[SENT] + 1) * sizeof *events);
    if (!events)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0, n = numbers[SENT]; i < n; i += PART)
        PMPI_Recv(events + i, (int)sizeof *events * (int)(n - i < PART ? n - i : PART),
                  MPI_BYTE, from, TAG, world, MPI_STATUS_IGNORE);
    return events;
}

/* Rank 0 takes the calls of all ranks, and writes them. */
static void gather(MPI_Comm world, int p, const int64_t own[NUMBERS],
                   coll_traced_event *own_events)
{
    coll_real_rank *ranks = calloc((size_t)p, sizeof *ranks);
    uint64_t made = 0, sent = 0;
    if (!ranks)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (int from = 0; from < p; from++) {
        int64_t its[NUMBERS] = {own[AHEAD], own[SENT], own[MADE]};
        ranks[from].events = from == 0 ? own_events : recv_events(world, from, its);
        ranks[from].n = (uint32_t)its[SENT];
        ranks[from].room = its[SENT] > 0 ? (uint32_t)its[SENT] : 1;
        ranks[from].dropped = its[MADE] > its[SENT];
        ranks[from].ahead = its[AHEAD];
        made += (uint64_t)its[MADE];
        sent += (uint64_t)its[SENT];
    }
    write_all(ranks, (uint32_t)p, made, made - sent);
    for (int from = 1; from < p; from++)
        free((void *)(uintptr_t)ranks[from].events);
    free(ranks);
}

void trace_end(void)
{
    int64_t numbers[NUMBERS];
    coll_traced_event *events;
    MPI_Comm world;
    uint32_t n;
    int rank, p;
    if (!settings.trace)
        return;
    settings.trace = false;
    PMPI_Comm_dup(MPI_COMM_WORLD, &world);
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &p);
    events = take_events(draws ? (uint32_t)(DRAWN / p) : UINT32_MAX, &n);
    numbers[AHEAD] = find_ahead();
    numbers[SENT] = (int64_t)n;
    numbers[MADE] = (int64_t)trace.n;
    if (rank == 0)
        gather(world, p, numbers, events);
    else
        send_events(world, numbers, events);
    PMPI_Comm_free(&world);
    free(events);
    free(trace.events);
    trace.events = NULL;
}
