/* tools/try.c — coll try: the algorithms of one header, compiled alone, proven, drawn and
 * simulated */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/algos/registry.h"
#include "commands.h"
#include "loaded.h"
#include "memory.h"
#include "names.h"
#include "options.h"
#include "progress.h"
#include "proof.h"

enum {
    P_SMALL = 8,  /* proven first */
    P_QUICK = 16, /* with --quick, all that is */
    P_USUAL = 64,
    WORDS_MOST = 64
};

/* Subcommands that may follow the file, and work on its algorithms. */
static const struct follower {
    const char *name;
    int (*run)(int argc, char **argv);
} followers[] = {
    {"list", list_main}, {"show", show_main},     {"verify", verify_main}, {"run", run_main},
    {"sim", sim_main},   {"export", export_main}, {"report", report_main},
};
enum { FOLLOWERS = sizeof followers / sizeof followers[0] };

static const struct follower *follower_named(const char *word)
{
    for (size_t i = 0; i < FOLLOWERS; i++)
        if (strcmp(followers[i].name, word) == 0)
            return &followers[i];
    return NULL;
}

struct trial {
    struct loaded loaded;
    bool quick;
    uint32_t jobs;
};

/* ---- in a process of its own ------------------------------------------------------------- */

/* What a process leaves behind that an algorithm ends: the case that was proven then, or just
 * before. */
static char *last_words;
static _Thread_local coll_grid_case at;
static _Thread_local bool is_at;

static void note_case(void *arg, const coll_grid_worker *worker, const coll_grid_case *of,
                      coll_status status)
{
    (void)arg, (void)worker;
    at = *of;
    is_at = status == COLL_OK;
}

static void leave_words(int number)
{
    if (is_at)
        proof_command(&at, NULL, last_words);
    signal(number, SIG_DFL);
    raise(number);
}

struct task {
    int (*run)(int argc, char **argv);
    int argc;
    char **argv;
    bool quiet; /* it is only asked how it ends */
};

/* Runs it where it can do no harm. Returns its exit code, or 1 and a sentence if it was ended by a
 * signal. */
static int run_apart(const struct task *task)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    int state = 0;
    pid_t child;
    last_words[0] = '\0';
    fflush(NULL);
    child = fork();
    if (child < 0)
        refuse("no process can be started");
    if (child == 0) {
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
            signal(signals[i], leave_words);
        if (task->quiet &&
            (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
            _exit(2);
        exit(output_end(task->run(task->argc, task->argv)));
    }
    while (waitpid(child, &state, 0) < 0)
        ;
    if (WIFEXITED(state))
        return WEXITSTATUS(state);
    if (WTERMSIG(state) == SIGINT || WTERMSIG(state) == SIGTERM)
        raise(WTERMSIG(state));
    if (!task->quiet) {
        printf("coll try: an algorithm ends the program with signal %d, %s", WTERMSIG(state),
               strsignal(WTERMSIG(state)));
        if (last_words[0])
            printf(", in this plan or right after it:\n  coll %sshow %s", algorithms_from(),
                   last_words);
        printf("\n");
    }
    return 1;
}

/* A subcommand with words that blanks separate. */
static int run_words(int (*run)(int argc, char **argv), const char *words, bool quiet)
{
    char *copy = memory_must(strdup(words)), *argv[WORDS_MOST + 1], *rest = copy;
    struct task task = {run, 0, argv, quiet};
    int code;
    for (char *word; task.argc < WORDS_MOST && (word = strsep(&rest, " ")) != NULL;)
        if (*word)
            argv[task.argc++] = word;
    argv[task.argc] = NULL;
    code = run_apart(&task);
    free(copy);
    return code;
}

/* ---- the proof --------------------------------------------------------------------------- */

static const struct trial *trial; /* of the process in which it runs */

static void grid_of(coll_grid_options *options, uint32_t p_most)
{
    coll_grid_options_init(options, trial->loaded.algorithms, trial->loaded.n);
    options->p_most = p_most;
    options->random = p_most < P_USUAL ? 0 : options->random;
    options->workers = trial->jobs;
    options->inside.algorithms = coll_registry;
    options->inside.n = COLL_REGISTRY_COUNT;
    options->each = note_case;
}

/* Proves a row, and draws the plan if one fails. */
static bool prove(coll_grid_options *options, coll_collective c,
                  const coll_algorithm *const *algorithm, coll_grid_row *row)
{
    char words[PROOF_COMMAND + 8] = "show ";
    if (proof_row(options, c, algorithm, NULL, row))
        return true;
    proof_command(&row->failed, NULL, words + 5);
    if (row->report.finding != COLL_FOUND_TRAIT && row->report.finding != COLL_FOUND_REFUSED &&
        row->failed.algorithm && run_words(show_main, words, true) != 2) {
        printf("\n");
        (void)run_words(show_main, words, false);
    }
    return false;
}

/* All rows: few ranks first, so that a mistake shows at once; then as coll verify does. */
static int prove_all(int argc, char **argv)
{
    const double start = seconds_now();
    const struct loaded *loaded = &trial->loaded;
    coll_grid_options options;
    coll_grid_result result;
    coll_grid_row row;
    uint64_t plans = 0, rows = 0, failed = 0;
    (void)argc, (void)argv;
    proof_head();
    fflush(stdout);
    grid_of(&options, P_SMALL);
    if (!coll_verify_grid(&options, &result)) {
        const coll_algorithm *wrong = result.failure.algorithm;
        grid_of(&options, P_SMALL);
        (void)prove(&options, result.failure.collective, &wrong, &row);
        printf("\n%zu of %zu line%s FAILED with up to %d ranks, so no more are tried\n",
               result.failed_rows, result.rows, result.rows == 1 ? "" : "s", P_SMALL);
        return 1;
    }
    for (size_t i = 0; i < loaded->n; i++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
            if (!coll_is(loaded->algorithms[i]->collectives, (coll_collective)c))
                continue;
            grid_of(&options, trial->quick ? P_QUICK : P_USUAL);
            rows++;
            failed += !prove(&options, (coll_collective)c, &loaded->algorithms[i], &row);
            plans += row.plans;
        }
    printf("%" PRIu64 " plan%s of %" PRIu64 " line%s", plans, plans == 1 ? "" : "s", rows,
           rows == 1 ? "" : "s");
    if (failed)
        printf(", of which %" PRIu64 " FAILED", failed);
    else
        printf(" proven in %.1f s", seconds_now() - start);
    printf("\n");
    return failed || plans == 0 ? 1 : 0;
}

/* ---- a picture, and a simulation --------------------------------------------------------- */

/* Runs a subcommand on the first row, among the first number of ranks that it takes. */
static int show_off(int (*run)(int argc, char **argv), const char *name, const uint32_t *p,
                    size_t n, bool rank, const char *more)
{
    const coll_algorithm *algorithm = trial->loaded.algorithms[0];
    char words[512];
    unsigned c = 0;
    while (c < COLL_COLLECTIVES && !coll_is(algorithm->collectives, (coll_collective)c))
        c++;
    if (c == COLL_COLLECTIVES)
        return 0;
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(words, sizeof words, "%s %s %s -p %u", name,
                              coll_collective_name((coll_collective)c), algorithm->name, p[i]);
        if (rank)
            length +=
                snprintf(words + length, sizeof words - (size_t)length, " --rank %u", p[i] / 3);
        if (algorithm->traits & COLL_USES_NODES)
            length += snprintf(words + length, sizeof words - (size_t)length, " --nodes %u",
                               p[i] < 16 ? 2 : 8);
        snprintf(words + length, sizeof words - (size_t)length, "%s", more);
        if (run_words(run, words, true) == 2)
            continue;
        printf("\n$ coll %s%s\n", algorithms_from(), words);
        return run_words(run, words, false);
    }
    printf("\ncoll %s%s … takes numbers of ranks that are not tried here\n", algorithms_from(),
           name);
    return 0;
}

static int draw_and_simulate(void)
{
    static const uint32_t few[] = {6, 8, 4, 3, 2}, many[] = {64, 60, 16, 8, 4, 2};
    const uint32_t traits = trial->loaded.algorithms[0]->traits;
    const char *model = traits & (COLL_NEEDS_SHARED | COLL_I_NEEDS_GROUP | COLL_USES_NODES)
                            ? " --model hockney:alpha=1us,beta=1 --memory "
                              "shm:a=0.2us,b=0.1,a_fabric=2us,b_fabric=0.5"
                            : " --model loggp:L=1us,o=200,g=300,G=0.5";
    const int drawn = show_off(show_main, "show", few, sizeof few / sizeof few[0], true, ""),
              simulated =
                  show_off(sim_main, "sim", many, sizeof many / sizeof many[0], false, model);
    return drawn > simulated ? drawn : simulated;
}

int try_main(int argc, char **argv)
{
    static struct trial t;
    const char *file = NULL;
    uint64_t jobs = proof_processors();
    const struct option options[] = {
        OPERAND("FILE.h", "a header that defines algorithms, in the tree or anywhere", &file),
        FLAG("quick", "prove up to 16 ranks only", &t.quick),
        NUMBER('j', "jobs", "N", "threads (one a processor)", &jobs, 1, PROOF_JOBS_MOST),
    };
    const struct command command = {
        "try", "prove, draw and simulate the algorithms of one header",
        "The header alone is compiled, with COLL_CC, CC or cc, so that an edit is proven "
        "within "
        "seconds.\n"
        "Each of its records is proven, among few ranks first; then the first one is drawn and "
        "simulated.\n"
        "A subcommand behind the file works on its algorithms: coll try FILE.h show bcast mine "
        "-p 6; so\n"
        "do list, verify, run, sim, export and report. COLL_INCLUDE names the folder of "
        "coll/plan.h,\n"
        "where that is not found. Exit code 1 if a proof fails, or if an algorithm crashes.",
        options, sizeof options / sizeof options[0]};
    const struct follower *follower = NULL;
    int own = argc, code;
    char from[1024];
    struct task proof = {prove_all, 0, NULL, false};
    for (int i = 2; i < argc && !follower; i++) {
        follower = follower_named(argv[i]);
        own = follower ? i : own;
    }
    options_read(&command, own, argv);
    t.jobs = (uint32_t)jobs;
    last_words =
        mmap(NULL, PROOF_COMMAND, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (last_words == MAP_FAILED)
        refuse("there is not enough memory for this");
    loaded_make(&t.loaded, file);
    snprintf(from, sizeof from, "try %s ", file);
    algorithms_set(t.loaded.algorithms, t.loaded.n, from);
    trial = &t;
    if (follower) {
        const struct task task = {follower->run, argc - own, argv + own, false};
        return run_apart(&task);
    }
    printf("%zu algorithm%s of %s, compiled in %.1f s\n\n", t.loaded.n,
           t.loaded.n == 1 ? "" : "s", file, t.loaded.seconds);
    code = run_apart(&proof);
    return code ? code : draw_and_simulate();
}
