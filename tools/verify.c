/* tools/verify.c — coll verify: proves every plan of the grid of an algorithm, or of all */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coll/algos/registry.h"
#include "certified.h"
#include "commands.h"
#include "imported.h"
#include "inner.h"
#include "names.h"
#include "options.h"
#include "progress.h"
#include "proof.h"

enum {
    P_MOST = 1024, /* of the grid, whose cost grows with the third power of p */
    P_USUAL = 64,
    P_CERTIFIED = 4096, /* with --certify, whose cost grows with the number of p */
    P_WHOLE = 256,
    P_WHOLE_EXHAUSTIVE = 4096,
    P_CRASH = 16, /* with --crash, of whose points there are as many as actions of all ranks */
    ROOTS_USUAL = 24,
    VALUE_BYTES = 8 /* of a symbolic element */
};

/* What composite algorithms use inside. */
static struct inner inner;

/* ---- words ------------------------------------------------------------------------------- */

/* A plan that is proven next. */
static void list_case(void *arg, const coll_grid_worker *worker, const coll_grid_case *of,
                      coll_status status)
{
    char words[256];
    (void)arg, (void)worker;
    coll_grid_case_words(of, words, sizeof words);
    if (!of->lifted && status == COLL_OK)
        printf("  %s\n", words);
}

/* ---- the proofs -------------------------------------------------------------------------- */

/* Elements that all ranks hold together in the largest plan of the grid, 2p + 3 elements a
 * block. */
static double most_elements(coll_collective c, uint64_t p)
{
    const double blocks = coll_is(COLL_EXCHANGING, c)                                 ? 2
                          : coll_is(COLL_ROOTED, c) || c == COLL_BARRIER              ? 0
                          : coll_is(COLL_NEIGHBORLY, c)                               ? 0
                          : c == COLL_ALLREDUCE || c == COLL_SCAN || c == COLL_EXSCAN ? 0
                                                                                      : 1;
    return (blocks * (double)p + 4) * (double)p * (double)(2 * p + 3);
}

static void check_memory(coll_collective c, uint64_t p, uint32_t workers)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double bytes = most_elements(c, p) * VALUE_BYTES * workers;
    if (bytes > machine / 4 * 3)
        refuse("proving %s among %" PRIu64 " ranks with %u jobs needs about %.3g GB, and this "
               "machine has %.3g GB",
               coll_collective_name(c), p, workers, bytes / 1e9, machine / 1e9);
}

/* Is a row of the table among those asked for? */
static bool is_asked(coll_collective one, const char *only, coll_collective c,
                     const coll_algorithm *algorithm)
{
    return (one == COLL_COLLECTIVES || c == one) &&
           (!only || strcmp(algorithm->name, only) == 0) &&
           coll_is(algorithm->collectives, c) &&
           (inner.bindings.n == 0 || (algorithm->traits & COLL_NEEDS_BUILD));
}

int verify_main(int argc, char **argv)
{
    const char *collective = NULL, *algorithm = NULL, *import = NULL, *certificate = NULL,
               *check = NULL;
    struct option_words inner_words = {{NULL}, 0};
    struct option_range range = {0, 0}; /* until -p is read, or not */
    uint64_t jobs = proof_processors(), random = UINT64_MAX, seed = 1;
    bool exhaustive = false, list = false, nic = false, nic_posted = false, nic_puts = false,
         crash = false, certify = false;
    uint64_t crash_work = UINT64_MAX;
    uint64_t nic_counters = UINT32_MAX, nic_receives = UINT32_MAX;
    const struct option verify_options[] = {
        OPTIONAL("COLLECTIVE", "only this one", &collective),
        OPTIONAL("ALGORITHM", "only this one of its algorithms", &algorithm),
        WORD("import", "FILE", "instead of these, a schedule: JSON, XML for MSCCL, GOAL",
             &import),
        INNER_OPTION(inner_words),
        RANGE('p', "ranks", "A..B", "numbers of ranks (1..64, and at random up to 4096)",
              &range, 1, COLL_CERTIFY_MOST),
        FLAG("exhaustive",
             "all roots, not three from 25 ranks on; 64 times the work; larger plans at random",
             &exhaustive),
        FLAG("list", "print every plan that is proven, in words", &list),
        FLAG("nic", "besides, lower each plan to programs of a NIC, and prove these", &nic),
        FLAG("nic-posted", "that NIC keeps no message that meets no posted receive",
             &nic_posted),
        FLAG("nic-puts", "that NIC puts messages into the memory of their receivers",
             &nic_puts),
        NUMBER(0, "nic-counters", "N", "it has so many counters (no limit)", &nic_counters, 1,
               UINT32_MAX),
        NUMBER(0, "nic-receives", "N", "it posts so many receives at one time (no limit)",
               &nic_receives, 1, UINT32_MAX),
        FLAG("crash",
             "besides, have ranks stop at every point of a plan (-p 1..16), of few ranks two",
             &crash),
        NUMBER(
            0, "crash-work", "N",
            "the engines run at every point of one plan of each p, and of others while that is "
            "N actions (1000000); 0: of none",
            &crash_work, 0, UINT64_MAX - 1),
        NUMBER(
            0, "random", "N",
            "plans at random, of up to 4096 ranks, for each algorithm (3; 0 with -p, --nic or "
            "--crash)",
            &random, 0, 1000),
        NUMBER(0, "seed", "S", "of what is at random (1)", &seed, 0, UINT64_MAX - 1),
        FLAG("certify",
             "instead, for each p of -p A..B (1..4096, at most 1M), prove some ranks that "
             "stand for all; "
             "all ranks up to p = 256, with --exhaustive 4096",
             &certify),
        WORD("certificate", "FILE", "with --certify: write there what is proven", &certificate),
        WORD("check-certificate", "FILE", "instead, prove what such a file says is proven",
             &check),
        NUMBER('j', "jobs", "N", "threads (one a processor)", &jobs, 1, PROOF_JOBS_MOST),
    };
    const struct command verify = {
        "verify", "prove that algorithms are right",
        "For each number of ranks: parameters, what is used inside, nodes, counts, layouts, "
        "roots,\n"
        "in place and not, commutative and not; all combinations of them, or a sample. What "
        "no\n"
        "trait forbids must be taken. Exit code 1 if a proof fails, or if there is no plan.\n"
        "With --nic each line ends with how many plans were lowered, those of at most 1024 "
        "steps\n"
        "a rank, and with the most that any rank's program takes.\n"
        "With --crash each line ends with how many points there are, after which of them all "
        "survivors,\n"
        "some or none can end well, and with what COLL_OK then means: docs/crashes.md.\n"
        "What --certify proves, and what it does not: docs/certificates.md.",
        verify_options, sizeof verify_options / sizeof verify_options[0]};
    coll_grid_options options;
    coll_nic_limits limits;
    const char *only = NULL;
    coll_pick pick;
    size_t n_algorithms;
    const coll_algorithm *const *algorithms = algorithms_known(&n_algorithms);
    coll_collective one = COLL_COLLECTIVES;
    const double start = seconds_now();
    uint64_t rows = 0, failed = 0, plans = 0;
    coll_crash_count crashes;
    options_read(&verify, argc, argv);
    if (import && (collective || algorithm || inner_words.n || range.first || exhaustive ||
                   list || nic || crash || random != UINT64_MAX))
        refuse("--import FILE says what is done, and is proven alone: leave the rest out");
    if (import)
        return imported_verify(import);
    if (certificate && !certify)
        refuse("--certificate FILE says where certificates are written: give --certify, too");
    if ((certify || check) && (inner_words.n || list || nic || crash || random != UINT64_MAX))
        refuse("--certify and --check-certificate prove plans of one kind: leave --inner, "
               "--list, --nic, "
               "--crash and --random out");
    if (check && (certify || collective || algorithm || range.first || exhaustive))
        refuse("--check-certificate FILE says what is proven: leave the rest out");
    if (check)
        return certified_check(check, (uint32_t)jobs);
    if (!certify && range.last > P_MOST)
        refuse(
            "all ranks are run among at most %d: give -p A..B with B at most %d, or --certify",
            P_MOST, P_MOST);
    if (!nic &&
        (nic_posted || nic_puts || nic_counters != UINT32_MAX || nic_receives != UINT32_MAX))
        refuse(
            "--nic-posted, --nic-puts, --nic-counters and --nic-receives say what a NIC has: "
            "give --nic, too");
    if (nic_puts && (nic_posted || nic_receives != UINT32_MAX))
        refuse(
            "with --nic-puts no receive is posted: leave --nic-posted and --nic-receives out");
    if (!crash && crash_work != UINT64_MAX)
        refuse("--crash-work says how much is run at the points of crashes: give --crash, too");
    if (crash && random != UINT64_MAX && random > 0)
        refuse("--random makes plans of more ranks than the %d whose crashes are followed: "
               "leave it "
               "out with --crash",
               COLL_CRASH_RANKS);
    if (crash && range.last > COLL_CRASH_RANKS)
        refuse("crashes are followed among at most %d ranks: give -p A..B with B at most %d",
               COLL_CRASH_RANKS, COLL_CRASH_RANKS);
    coll_nic_limits_init(&limits);
    limits.unexpected = !nic_posted;
    limits.puts = nic_puts;
    limits.counters = (uint32_t)nic_counters;
    limits.receives = (uint32_t)nic_receives;
    if (collective)
        one = collective_named(collective);
    if (algorithm) {
        algorithm_named(one, algorithm, &pick);
        only = pick.algorithm->name;
    }
    if (certify) {
        const struct certify what = {one,
                                     only,
                                     range.first ? (uint32_t)range.first : 1,
                                     range.first ? (uint32_t)range.last : P_CERTIFIED,
                                     exhaustive ? P_WHOLE_EXHAUSTIVE : P_WHOLE,
                                     (uint32_t)jobs,
                                     certificate};
        return certified_prove(&what);
    }
    coll_grid_options_init(&options, NULL, 0);
    if (random == UINT64_MAX)
        random = range.first == 0 && !nic && !crash ? options.random : 0;
    if (range.first == 0) {
        range.first = 1;
        range.last = crash ? P_CRASH : P_USUAL;
    }
    options.p_least = (uint32_t)range.first;
    options.p_most = (uint32_t)range.last;
    options.all_roots = exhaustive ? UINT32_MAX : ROOTS_USUAL;
    options.random = (uint32_t)random;
    if (exhaustive) { /* so that rings, too, are proven among thousands of ranks */
        options.steps *= 384;
        options.elements *= 32;
        options.work *= 64;
    }
    inner_read(&inner, &inner_words);
    options.inside.algorithms = coll_registry;
    options.inside.n = COLL_REGISTRY_COUNT;
    options.bindings = inner.bindings.binding;
    options.n_bindings = inner.bindings.n;
    options.seed = seed;
    options.workers = (uint32_t)jobs;
    options.each = list ? list_case : NULL;
    options.nic = nic ? &limits : NULL;
    options.crashes = crash ? 2 : 0;
    if (crash_work != UINT64_MAX)
        options.crash_work = crash_work;

    /* What must be refused is refused before the first proof. */
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < n_algorithms; i++)
            if (is_asked(one, only, (coll_collective)c, algorithms[i])) {
                check_memory((coll_collective)c, range.last, options.workers);
                rows++;
            }
    memset(&crashes, 0, sizeof crashes);
    proof_head();
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < n_algorithms; i++) {
            coll_grid_row row;
            if (!is_asked(one, only, (coll_collective)c, algorithms[i]))
                continue;
            if (!proof_row(&options, (coll_collective)c, &algorithms[i], &inner, &row))
                failed++;
            plans += row.plans;
            coll_i_grid_crash_add(&crashes, &row.crash);
        }
    printf("%" PRIu64 " plan%s of %" PRIu64 " line%s of the table", plans,
           plans == 1 ? "" : "s", rows, rows == 1 ? "" : "s");
    if (failed)
        printf(", of which %" PRIu64 " FAILED", failed);
    else
        printf(" proven in %.1f s", seconds_now() - start);
    printf("\n");
    if (crash && !failed)
        printf("a rank stops at %" PRIu64 " points, and in %" PRIu64
               " runs of the engines, in which every survivor ends\n",
               crashes.points, crashes.runs);
    return failed || plans == 0 ? 1 : 0;
}
