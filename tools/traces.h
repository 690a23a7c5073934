/* tools/traces.h — traces and pictures of simulations and of real runs: --trace, --svg, --pdf FILE
 *
 *   struct traces traces = {0};
 *   … TRACES_OPTIONS(traces) …
 *   traces_check(&traces, p);                    // before anything runs
 *   if (traces_are_wanted(&traces))
 *       … traces_write_run(&traces, &job, ranks, seconds) …
 */
#ifndef COLL_TOOLS_TRACES_H
#define COLL_TOOLS_TRACES_H

#include "coll/lab/sim.h"
#include "job.h"

struct traces {
    const char *trace, *svg, *pdf; /* NULL: none */
};

/* Several calls, of which the record has them all. */
struct traces_workload {
    const char *name;
    uint32_t p;
    coll_time end;           /* of all ranks … */
    const coll_time *finish; /* … and of each */
};

enum { TRACES_MOST = 1 << 24 }; /* messages and operations that are shown */

#define TRACES_OPTIONS(traces, what)                                                           \
    WORD("trace", "FILE", "write " what " for ui.perfetto.dev or chrome://tracing",            \
         &(traces).trace),                                                                     \
        WORD("svg", "FILE", "draw it: ranks, time, messages", &(traces).svg),                  \
        WORD("pdf", "FILE", "the same as PDF, by rsvg-convert", &(traces).pdf)

static inline bool traces_are_wanted(const struct traces *traces)
{
    return traces->trace || traces->svg || traces->pdf;
}

/* Refuses names, or so many ranks. */
void traces_check(const struct traces *traces, uint32_t p);

/* Events that each of p ranks of a run may note. */
uint32_t traces_room(uint32_t p);

/* Writes into `title` what stands above a picture: what ran, and how many us it took. */
void traces_title(const struct job *job, int digits, double us, char *title, size_t room);

/* Write the files; false: it was said on stderr that one could not be. Too much is refused. */
bool traces_write_sim(const struct traces *traces, const struct job *job,
                      const coll_sim_record *record, const coll_sim *sim);
bool traces_write_workload(const struct traces *traces, const struct traces_workload *workload,
                           const coll_sim_record *record);
bool traces_write_run(const struct traces *traces, const struct job *job,
                      const coll_real_rank *ranks, double seconds);

#endif /* COLL_TOOLS_TRACES_H */
