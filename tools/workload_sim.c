/* tools/workload_sim.c — simulates workloads, see workload.h
 *
 * Calls follow each other rank by rank: a rank begins a call when it has computed after its last one, and the simulator
 * is told when each begins. Calls do not compete with each other for ports and links.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memory.h"
#include "progress.h"
#include "workload.h"

/* What a rank has done so far. */
struct rank_time {
    coll_time now, entered;
    double computing, inside, waiting; /* us */
    uint64_t last;                     /* calls that it came to after all others */
};

struct timeline {
    struct workload *w;
    struct rank_time *ranks;
    coll_time *starts, latest;
    coll_sim sim;
    coll_sim_record *record;                             /* NULL: none is wanted */
    uint64_t seed, step, calls, messages, bytes, events; /* step: how many were taken */
};

/* ---- a step ------------------------------------------------------------------------------ */

/* Notes that a rank computed, or was in a call. The name must stay. */
static void note(struct timeline *t, coll_sim_sight what, uint32_t rank, coll_time end,
                 const char *name)
{
    coll_sim_span *span;
    if (!t->record || t->record->full ||
        !coll_i_record_room(t->record, &t->record->spans, sizeof *span))
        return;
    span = (coll_sim_span *)t->record->spans.at + t->record->spans.n++;
    memset(span, 0, sizeof *span);
    span->start = t->ranks[rank].now;
    span->end = end;
    span->rank = rank;
    span->peer = COLL_RANK_NONE;
    span->what = what;
    span->name = name;
}

/* Microseconds that a rank takes longer than the others. */
static double more_of(const struct timeline *t, const struct workload_step *step, uint32_t rank)
{
    const uint64_t anew = coll_i_mixed(t->seed, rank, t->step),
                   always = coll_i_mixed(t->seed, rank, (uint64_t)step->line << 32);
    const uint32_t p = t->w->p;
    switch (step->pattern) {
    case WORKLOAD_RANDOM:
        return step->more_us * coll_i_fraction(anew);
    case WORKLOAD_EXPONENTIAL:
        return step->more_us * -log(1 - coll_i_fraction(anew));
    case WORKLOAD_IMBALANCE:
        return step->more_us * coll_i_fraction(always);
    case WORKLOAD_RAMP:
        return p > 1 ? step->more_us * rank / (p - 1) : 0;
    case WORKLOAD_RANK:
        return rank == step->rank ? step->more_us : 0;
    case WORKLOAD_SAME:
        break;
    }
    return 0;
}

static void compute(struct timeline *t, const struct workload_step *step,
                    const coll_noise *noise, const uint32_t *places)
{
    for (uint32_t rank = 0; rank < t->w->p; rank++) {
        struct rank_time *me = &t->ranks[rank];
        const coll_time work = coll_time_of((step->us + more_of(t, step, rank)) * 1e6);
        const coll_time end =
            noise ? coll_noise_end(noise, places ? places[rank] : rank, me->now, work)
                  : me->now + work;
        if (end >= COLL_TIME_LIMIT)
            refuse("it takes longer than 26 days, which is as far as the simulator counts");
        me->computing += coll_time_us(end - me->now);
        note(t, COLL_SEEN_COMPUTE, rank, end, "compute");
        me->now = end;
    }
}

static void call(struct timeline *t, struct workload_step *step)
{
    struct workload_cost *cost = &step->cost;
    coll_time first = COLL_NEVER, last = 0, end = 0;
    uint32_t latecomer = 0;
    coll_status status;
    for (uint32_t rank = 0; rank < t->w->p; rank++) {
        t->starts[rank] = t->ranks[rank].now;
        first = t->starts[rank] < first ? t->starts[rank] : first;
        if (t->starts[rank] > last) {
            last = t->starts[rank];
            latecomer = rank;
        }
    }
    step->on.options.skew = t->starts;
    status = coll_sim_run(&t->sim, step->job.plans, step->job.per_rank, &step->on.options);
    if (status != COLL_OK)
        simulated_fail(&t->sim, status);
    for (uint32_t rank = 0; rank < t->w->p; rank++) {
        struct rank_time *me = &t->ranks[rank];
        const coll_time left = coll_sim_finish(&t->sim, rank), begin = me->now;
        const double waited = left > begin && last > begin
                                  ? coll_time_us((left < last ? left : last) - begin)
                                  : 0;
        note(t, COLL_SEEN_BEGIN, rank, coll_later(left, begin), step->label);
        me->now = coll_later(left, begin);
        me->inside += coll_time_us(me->now - begin);
        me->waiting += waited;
        cost->inside += coll_time_us(me->now - begin);
        cost->waiting += waited;
        end = coll_later(end, me->now);
    }
    if (last > first)
        t->ranks[latecomer].last++;
    cost->calls++;
    cost->after_last += coll_time_us(end - last);
    t->calls++;
    t->messages += t->sim.messages;
    t->bytes += t->sim.bytes;
    t->events += t->sim.events;
}

static void run(struct timeline *t)
{
    const struct workload *w = t->w;
    const struct workload_step *any = NULL; /* a call, which has the machine that all have */
    for (size_t i = 0; i < w->n; i++) {
        w->steps[i]->left = w->steps[i]->times;
        if (!any && w->steps[i]->kind == WORKLOAD_CALL)
            any = w->steps[i];
    }
    for (size_t i = 0; i < w->n; i++, t->step++) {
        struct workload_step *step = w->steps[i];
        if (step->kind == WORKLOAD_COMPUTE)
            compute(t, step, any->on.options.noise, any->on.places);
        else if (step->kind == WORKLOAD_CALL)
            call(t, step);
        else if (step->kind == WORKLOAD_END) {
            struct workload_step *begin = w->steps[step->other];
            if (--begin->left > 0)
                i = step->other; /* and on behind it */
            else
                begin->left = begin->times; /* for the repeat around it */
        }
        progress_say("coll sim: %" PRIu64 " of %" PRIu64 " calls", t->calls, w->calls);
    }
    progress_clear();
    for (uint32_t rank = 0; rank < w->p; rank++)
        t->latest = coll_later(t->latest, t->ranks[rank].now);
}

/* ---- what comes out ---------------------------------------------------------------------- */

static const struct timeline *sorted; /* by qsort */

static int by_waiting(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const double wx = sorted->ranks[x].waiting, wy = sorted->ranks[y].waiting;
    return wx < wy ? -1 : wx > wy ? 1 : (x > y) - (x < y);
}

static void print_rank(const struct timeline *t, uint32_t rank)
{
    const struct rank_time *me = &t->ranks[rank];
    printf("%10" PRIu32 " %12.7g %12.7g %12.7g %8" PRIu64 "\n", rank, me->computing, me->inside,
           me->waiting, me->last);
}

/* All ranks if they are few; else those that wait least, whom the others wait for, and those that wait most. */
static void print_ranks(const struct timeline *t)
{
    enum { ALL = 16, SOME = 5 };
    const uint32_t p = t->w->p;
    uint32_t *order = memory_of(p, sizeof *order);
    for (uint32_t rank = 0; rank < p; rank++)
        order[rank] = rank;
    printf("\n%10s %12s %12s %12s %8s\n", "rank", "computes us", "in calls us", "waits us",
           "last in");
    if (p > ALL) {
        sorted = t;
        qsort(order, p, sizeof *order, by_waiting);
    }
    for (uint32_t i = 0; i < p; i++)
        if (p <= ALL || i < SOME || i >= p - SOME)
            print_rank(t, order[i]);
        else if (i == SOME)
            printf("%10s\n", "…");
    free(order);
}

static void print_report(const struct timeline *t, const struct simulated *on, double seconds)
{
    const struct workload *w = t->w;
    const double p = w->p, makespan = coll_time_us(t->latest);
    double computing = 0, inside = 0, waiting = 0;
    char text[600];
    (void)coll_sim_machine_text(&on->machine, text, sizeof text);
    printf("%s: %" PRIu32 " rank%s, %" PRIu64 " call%s\n%s", w->path, w->p,
           w->p == 1 ? "" : "s", t->calls, t->calls == 1 ? "" : "s", text);
    simulated_print(on, stdout);
    for (uint32_t rank = 0; rank < w->p; rank++) {
        computing += t->ranks[rank].computing / p;
        inside += t->ranks[rank].inside / p;
        waiting += t->ranks[rank].waiting / p;
    }
    printf("\n\nmakespan   %.12g us\n", makespan);
    printf("ranks      compute %.7g us in the mean, are in calls %.7g us, and wait %.7g us of "
           "these for the last one to come\n",
           computing, inside, waiting);
    printf("messages   %" PRIu64 ", of %" PRIu64 " bytes\n", t->messages, t->bytes);
    printf("\n%10s %8s %12s %12s %12s  %s\n", "line", "calls", "from last us", "in call us",
           "waits us", "in the mean of all calls and ranks");
    for (size_t i = 0; i < w->n; i++) {
        const struct workload_step *step = w->steps[i];
        const double n = (double)step->cost.calls;
        if (step->kind != WORKLOAD_CALL)
            continue;
        printf("%10" PRIu32 " %8" PRIu64 " %12.7g %12.7g %12.7g  ", step->line,
               step->cost.calls, step->cost.after_last / n, step->cost.inside / n / p,
               step->cost.waiting / n / p);
        job_print(&step->job, stdout);
        putchar('\n');
    }
    print_ranks(t);
    printf("\nsimulated  %" PRIu64 " events in %.3g s\n", t->events, seconds);
}

static void print_json(const struct timeline *t, const struct simulated *on)
{
    const struct workload *w = t->w;
    const char *comma = "";
    char text[600];
    (void)coll_sim_machine_text(&on->machine, text, sizeof text);
    printf("{\"workload\": ");
    json_string(w->path);
    printf(", \"ranks\": %" PRIu32 ", \"seed\": %" PRIu64 ", \"model\": ", w->p, t->seed);
    json_string(text);
    printf(",\n \"makespan_us\": %.17g, \"calls\": %" PRIu64 ", \"messages\": %" PRIu64
           ", \"bytes\": %" PRIu64 ",\n \"lines\": [",
           coll_time_us(t->latest), t->calls, t->messages, t->bytes);
    for (size_t i = 0; i < w->n; i++) {
        const struct workload_step *step = w->steps[i];
        if (step->kind != WORKLOAD_CALL)
            continue;
        printf("%s\n  {\"line\": %" PRIu32 ", \"collective\": \"%s\", \"algorithm\": \"%s\", "
               "\"calls\": %" PRIu64 ", \"from_last_us\": %.17g, \"in_calls_us\": %.17g, "
               "\"waiting_us\": %.17g}",
               comma, step->line, coll_collective_name(step->job.collective),
               step->job.algorithm->name, step->cost.calls, step->cost.after_last,
               step->cost.inside, step->cost.waiting);
        comma = ",";
    }
    printf("],\n \"by_rank\": [");
    for (uint32_t rank = 0; rank < w->p; rank++)
        printf("%s\n  {\"computing_us\": %.17g, \"in_calls_us\": %.17g, \"waiting_us\": %.17g, "
               "\"last\": %" PRIu64 "}",
               rank ? "," : "", t->ranks[rank].computing, t->ranks[rank].inside,
               t->ranks[rank].waiting, t->ranks[rank].last);
    printf("]}\n");
}

static bool write_traces(const struct timeline *t, const struct traces *traces)
{
    const struct workload *w = t->w;
    coll_time *finish = memory_of(w->p, sizeof *finish);
    const struct traces_workload shown = {w->path, w->p, t->latest, finish};
    bool good;
    for (uint32_t rank = 0; rank < w->p; rank++)
        finish[rank] = t->ranks[rank].now;
    good = traces_write_workload(traces, &shown, t->record);
    free(finish);
    return good;
}

bool workload_sim(struct workload *w, const struct simulated *on, uint32_t window,
                  uint64_t seed, bool json, const struct traces *traces)
{
    static struct timeline t;
    static coll_sim_record record;
    bool good = true;
    const struct simulated *machine = NULL;
    const double start = seconds_now();
    t.w = w;
    t.seed = seed;
    t.ranks = memory_of(w->p, sizeof *t.ranks);
    t.starts = memory_of(w->p, sizeof *t.starts);
    coll_sim_init(&t.sim);
    if (traces_are_wanted(traces)) {
        coll_sim_record_init(&record, TRACES_MOST);
        t.record = &record;
    }
    for (size_t i = 0; i < w->n; i++) {
        struct workload_step *step = w->steps[i];
        const uint32_t n = step->job.per_rank ? w->p : 1;
        if (step->kind != WORKLOAD_CALL)
            continue;
        step->on = *on;
        snprintf(step->label, sizeof step->label, "%s %s",
                 coll_collective_name(step->job.collective), step->job.algorithm->name);
        simulated_prepare(&step->on, step->job.plans, n, w->p, seed);
        for (uint32_t k = 0; k < n; k++)
            if (window < step->job.plans[k].window)
                refuse("%s, line %" PRIu32 ": %s needs a window of at least %u", w->path,
                       step->line, step->job.algorithm->name, step->job.plans[k].window);
        step->on.options.window = window;
        step->on.options.see = t.record ? coll_sim_record_see : NULL;
        step->on.options.arg = t.record;
        machine = &step->on;
    }
    run(&t);
    if (t.record)
        good = write_traces(&t, traces);
    if (json)
        print_json(&t, machine);
    else
        print_report(&t, machine, seconds_now() - start);
    coll_sim_free(&t.sim);
    coll_sim_record_free(&record);
    free(t.starts);
    free(t.ranks);
    return good;
}
