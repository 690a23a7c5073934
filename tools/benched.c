/* tools/benched.c — see benched.h */
#include "benched.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bind.h"
#include "commands.h"
#include "ends.h"
#include "member.h"
#include "memory.h"
#include "names.h"
#include "progress.h"

enum { STACK = 1 << 20 };

/* All ranks of this process. */
struct run {
    const struct benched *of;
    struct ends ends;
    coll_nodes nodes;
    struct rank *ranks;
    uint32_t p, peer;
};

struct rank {
    struct run *run;
    uint32_t number;
    coll_status status;
    pthread_t thread;
};

/* ---- what is asked for ------------------------------------------------------------------------- */

double benched_nanoseconds(const char *option, const char *text)
{
    static const coll_parameter row = {"", "s", COLL_PARAMETER_NUMBER, 0, .001, 1e6, 0, ""};
    double s;
    if (!coll_i_parameter_number(&row, text, &s))
        refuse("%s is a time from 1ms to 1000000s such as 20s, not \"%.60s\"", option, text);
    return s * 1e9;
}

bool benched_has_processes(const struct benched *all)
{
    static const char *const names[] = {"threads", "tcp", "join", "shm", "ucx", "ofi"};
    const size_t i =
        name_index("transport", all->transport, names, sizeof names / sizeof names[0]);
    if (i >= 3 && !member_knows(names[i]))
        refuse("this command was built without %s: cmake -DCOLL_WITH_%s=ON builds it with that",
               i == 4 ? "UCX" : "libfabric", i == 4 ? "UCX" : "OFI");
    return i >= 3;
}

void benched_check(const struct benched *all)
{
    if (!all->transport)
        refuse("--transport is missing: threads, shm, tcp, join, ucx or ofi");
    if (all->nodes != UINT64_MAX && strcmp(all->transport, "join") != 0)
        refuse("--nodes is for --transport join, whose ranks are on several");
    if (all->p == UINT64_MAX && !member_is_launched(all->transport))
        refuse("-p P, the number of ranks, is missing");
    if (strcmp(all->transport, "join") == 0 && all->nodes != UINT64_MAX &&
        all->p != UINT64_MAX && all->nodes >= all->p)
        refuse("with %" PRIu64 " ranks a node, all %" PRIu64 " are on one: --transport threads",
               all->nodes, all->p);
}

static void say(void *arg, const char *what)
{
    const struct benched *all = arg;
    progress_say("coll %s: %s", all->command, what);
}

coll_bench_options benched_options(const struct benched *all, const char *within)
{
    coll_bench_options options;
    coll_bench_options_init(&options);
    options.clock.now = member_now_ns;
    options.within_ns = benched_nanoseconds("--within", within);
    options.say = say;
    options.arg = (void *)(uintptr_t)all;
    return options;
}

/* ---- ranks -------------------------------------------------------------------------------------- */

static _Noreturn void fail(const struct benched *all, uint32_t rank, coll_status status)
{
    progress_clear();
    fprintf(stderr, "coll %s: rank %u: %s\n", all->command, rank, coll_status_text(status));
    exit(1);
}

static void *rank_main(void *argument)
{
    struct rank *rank = argument;
    const struct run *run = rank->run;
    struct benched_rank me = {.rank = rank->number, .p = run->p, .peer = run->peer};
    me.transport = ends_of(&run->ends, me.rank, &me.ctx);
    if (run->of->bind)
        bind_rank(me.rank);
    rank->status = run->of->measure(run->of->arg, &me);
    return NULL;
}

/* Ranks are threads of this process. */
static void run_threads(const struct benched *all)
{
    struct run run = {.of = all, .p = (uint32_t)all->p, .peer = 1};
    const uint32_t per_node = all->nodes == UINT64_MAX ? 1 : (uint32_t)all->nodes;
    const bool join = strcmp(all->transport, "join") == 0;
    pthread_attr_t attributes;
    coll_nodes_even(&run.nodes, run.p, per_node);
    if (join)
        run.peer = per_node; /* the first on another node */
    ends_make(&run.ends,
              join                                 ? ENDS_JOIN
              : strcmp(all->transport, "tcp") == 0 ? ENDS_TCP
                                                   : ENDS_THREADS,
              run.p, &run.nodes);
    run.ranks = memory_of(run.p, sizeof *run.ranks);
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK) != 0)
        refuse("there is not enough memory for %u threads", run.p);
    for (uint32_t r = 0; r < run.p; r++) {
        struct rank *rank = &run.ranks[r];
        rank->run = &run;
        rank->number = r;
        if (pthread_create(&rank->thread, &attributes, rank_main, rank) != 0)
            refuse("this machine does not start %u threads", run.p);
    }
    pthread_attr_destroy(&attributes);
    for (uint32_t r = 0; r < run.p; r++)
        pthread_join(run.ranks[r].thread, NULL);
    for (uint32_t r = 0; r < run.p; r++)
        if (run.ranks[r].status != COLL_OK)
            fail(all, r, run.ranks[r].status);
    ends_free(&run.ends);
    free(run.ranks);
}

/* This process is a rank. true: it is rank 0. */
static bool run_member(const struct benched *all)
{
    struct benched_rank me = {.peer = 1};
    struct member member;
    coll_status status;
    if (all->bind && getenv("COLL_RANK")) /* mpiexec and srun bind better */
        bind_rank(strtoull(getenv("COLL_RANK"), NULL, 10));
    member_join(&member, all->transport);
    if (all->p != UINT64_MAX && all->p != member.p)
        refuse("the job has %u ranks, not %" PRIu64, member.p, all->p);
    me.transport = member.transport;
    me.ctx = member.ctx;
    me.rank = member.rank;
    me.p = member.p;
    me.tag = member.tag;
    status = all->measure(all->arg, &me);
    if (status != COLL_OK)
        fail(all, me.rank, status);
    member_leave(&member);
    return me.rank == 0;
}

/* Starts ranks that are processes: this command, once for each. */
static int run_launched(const struct benched *all, int argc, char **argv)
{
    static char own[4096], launch[] = "launch", n[] = "-n", ranks[24];
    char **arguments = memory_of((size_t)argc + 6, sizeof *arguments);
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        refuse("ranks by %s are processes: coll launch -n P coll %s …", all->transport,
               all->command);
    snprintf(ranks, sizeof ranks, "%" PRIu64, all->p);
    arguments[0] = launch;
    arguments[1] = n;
    arguments[2] = ranks;
    arguments[3] = own;
    memcpy(&arguments[4], argv, (size_t)argc * sizeof *argv); /* argv[0]: the subcommand */
    return launch_main(argc + 4, arguments);
}

enum benched_end benched_run(const struct benched *all, int argc, char **argv, int *code)
{
    const bool processes = benched_has_processes(all);
    *code = 0;
    if (member_is_launched(all->transport))
        return run_member(all) ? BENCHED_HERE : BENCHED_OTHER;
    if (processes) {
        *code = run_launched(all, argc, argv);
        return BENCHED_STARTED;
    }
    run_threads(all);
    return BENCHED_HERE;
}
