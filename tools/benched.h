/* tools/benched.h — ranks that measure: threads of this process, or processes, all doing the same
 *
 *   struct benched all = {.command = "calibrate", .transport = "shm", .p = 4, .measure = mine, .arg = &what};
 *   benched_check(&all);
 *   switch (benched_run(&all, argc, argv, &code)) …
 */
#ifndef COLL_TOOLS_BENCHED_H
#define COLL_TOOLS_BENCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "coll/lab/tune/bench.h"
#include "options.h"

enum { BENCHED_RANKS_MOST = 1024 };

/* One of the ranks. `peer`: one on another node, if there is any. */
struct benched_rank {
    const coll_transport *transport;
    void *ctx;
    uint32_t rank, p, tag, peer;
};

struct benched {
    const char *command; /* "calibrate" */
    const char *transport;
    uint64_t p, nodes; /* UINT64_MAX: not said */
    bool bind;         /* each rank stays on one processor */
    coll_status (*measure)(void *arg, const struct benched_rank *me);
    void *arg;
};

#define BENCHED_OPTIONS(all)                                                                   \
    WORD("transport", "T",                                                                     \
         "threads, tcp, join (threads that are ranks); shm, ucx, ofi (processes)",             \
         &(all).transport),                                                                    \
        NUMBER(0, "nodes", "N", "ranks on every node, for join (1)", &(all).nodes, 1,          \
               BENCHED_RANKS_MOST),                                                            \
        FLAG("bind", "each rank stays on one processor", &(all).bind)

enum benched_end {
    BENCHED_HERE,   /* this process had rank 0 */
    BENCHED_OTHER,  /* … another rank */
    BENCHED_STARTED /* … none: it has started processes, whose exit code is *code */
};

/* Refuses what does not fit. */
void benched_check(const struct benched *all);

/* A time such as 20s, in ns; refuses others. */
double benched_nanoseconds(const char *option, const char *text);

/* What the clock of a bench and its progress are. */
coll_bench_options benched_options(const struct benched *all, const char *within);

/* Are the transport's ranks processes? Refuses what is no transport here. */
bool benched_has_processes(const struct benched *all);

/* Has all ranks measure. A failure ends the program. */
enum benched_end benched_run(const struct benched *all, int argc, char **argv, int *code);

#endif /* COLL_TOOLS_BENCHED_H */
