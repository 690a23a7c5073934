/* tools/run.c — coll run: the collective on real data, checked and timed */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/reduce.h"
#include "commands.h"
#include "memory.h"
#include "names.h"
#include "progress.h"
#include "world.h"

enum { REPEAT = 10, REPEAT_MAX = 10000000, THREADS_MAX = 4096, LOOPBACK_MAX = 16384, SEED = 1 };

/* ---- the request ------------------------------------------------------------------------- */

/* Fills in the operator, or says where it is defined. */
static void choose_operator(struct data *data, coll_type type, const char *word)
{
    const bool reduces = coll_is(COLL_REDUCING, data->job->collective);
    char types[160];
    int n = 0;
    data->which = COLL_SUM;
    if (!reduces && word)
        refuse("%s has no operator, so --op has no meaning",
               coll_collective_name(data->job->collective));
    if (!reduces)
        return;
    if (word)
        data->which = operator_named(word);
    else if (type > COLL_F64)
        data->which = COLL_MINLOC;
    if (coll_op_builtin(&data->op, data->which, type) == COLL_OK)
        return;
    for (coll_type t = 0; t < COLL_TYPES && n < (int)sizeof types; t++) {
        coll_op op;
        if (coll_op_builtin(&op, data->which, t) == COLL_OK)
            n += snprintf(types + n, sizeof types - (size_t)n, "%s%s", n ? ", " : "",
                          coll_type_name(t));
    }
    refuse("%s is not defined on %s; it is on %s", coll_operator_name(data->which),
           coll_type_name(type), types);
}

static enum world_kind kind_named(const char *word, uint32_t p)
{
    static const char *const names[] = {"threads", "loopback", "tcp"};
    const enum world_kind kind = (enum world_kind)name_index("transport", word, names, 3);
    const uint32_t most = kind == WORLD_LOOPBACK ? LOOPBACK_MAX : THREADS_MAX;
    if (p > most)
        refuse("the transport %s runs at most %u ranks here, not %u", names[kind], most, p);
    return kind;
}

static void check_memory(const struct data *data, uint32_t window)
{
    const uint64_t machine =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t bytes = world_bytes(data, window);
    if (bytes > machine / 4 * 3)
        refuse("the buffers of %u ranks need %.3g GB, and this machine has %.3g GB",
               data->job->p, (double)bytes / 1e9, (double)machine / 1e9);
}

static uint32_t choose_window(const struct job *job, uint64_t asked)
{
    const uint32_t least = job_plan(job, 0)->window;
    const uint32_t default_value = least > COLL_WINDOW ? least : COLL_WINDOW;
    if (asked == UINT64_MAX)
        return default_value;
    if (asked < least)
        refuse("%s needs a window of at least %u", job->algorithm->name, least);
    return (uint32_t)asked;
}

/* ---- the report -------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_time(const char *name, double seconds)
{
    const char *unit = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    printf("%s %.4g %s", name, seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1), unit);
}

static void print_bytes(const char *before, double bytes, const char *after)
{
    const int unit = bytes < 1e3 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    printf("%s%s%.4g %s%s", before, *before ? " " : "", bytes / scale[unit], units[unit],
           after);
}

/* Bytes of the largest buffer that any rank gives or gets. */
static double largest_buffer(const struct data *data)
{
    size_t most = 0;
    for (uint32_t rank = 0; rank < data->job->p; rank++) {
        const coll_extents extents = coll_plan_extents(job_plan(data->job, rank), rank);
        most = extents.in > most ? extents.in : most;
        most = extents.out > most ? extents.out : most;
    }
    return (double)most * (double)data->elem_bytes;
}

static void print_report(const struct data *data, double *times, uint64_t n)
{
    const double bytes = largest_buffer(data);
    double median;
    qsort(times, n, sizeof *times, by_size);
    median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    printf("result     right on all ranks, in the first and the last of %" PRIu64
           " repetition%s\n",
           n, n == 1 ? "" : "s");
    print_time("time       least", times[0]);
    print_time(", median", median);
    putchar('\n');
    if (bytes > 0 && median > 0) {
        print_bytes("bandwidth ", bytes / median, "/s, the largest buffer of a rank, ");
        print_bytes("", bytes, ", in the median time\n");
    }
}

static void print_head(const struct data *data, enum world_kind kind)
{
    job_print(data->job);
    if (data->job->collective != COLL_BARRIER)
        printf("; %s", coll_type_name(data->type));
    if (coll_is(COLL_REDUCING, data->job->collective))
        printf(", %s", coll_operator_name(data->which));
    printf("; %s\n", kind == WORLD_LOOPBACK ? "all ranks in one thread"
                     : kind == WORLD_TCP    ? "a thread a rank, by TCP"
                                            : "a thread a rank");
    fflush(stdout);
}

/* ---- the repetitions --------------------------------------------------------------------- */

/* Runs and checks. Returns the exit code. */
static int repeat_it(struct world *world, uint64_t n, double *times)
{
    const struct data *data = world->data;
    const bool in_place = coll_in_place(job_plan(data->job, 0));
    for (uint64_t i = 0; i < n; i++) {
        const bool checked = i == 0 || i + 1 == n;
        char why[256] = "a rank left the barrier before all had come";
        const coll_status status = world_run(world, checked || in_place, &times[i]);
        if (status != COLL_OK) {
            progress_clear();
            fprintf(stderr, "coll run: rank %u failed in repetition %" PRIu64 ": %s\n",
                    world->failed, i + 1, coll_status_text(status));
            return 1;
        }
        if (world->barrier_broken ||
            (checked && !data_check(data, world->in, world->out, why, sizeof why))) {
            progress_clear();
            fprintf(stderr, "coll run: the result of repetition %" PRIu64 " is wrong: %s\n",
                    i + 1, why);
            return 1;
        }
        progress_say("coll run: repetition %" PRIu64 " of %" PRIu64, i + 1, n);
    }
    progress_clear();
    return 0;
}

int run_main(int argc, char **argv)
{
    struct ask ask = ASK_NOTHING;
    uint64_t repeat = REPEAT, window = UINT64_MAX;
    const char *type_word = "f64", *op = NULL, *transport = "threads";
    const struct option options[] = {
        ASK_OPTIONS(ask),
        WORD("type", "T",
             "element type (f64): i8 … i64, u8 … u64, f16, bf16, f32, f64, i32_i32 …",
             &type_word),
        WORD("op", "OP", "operator (sum): sum, prod, min, max, band … lxor, minloc, maxloc",
             &op),
        WORD("transport", "T",
             "threads (one a rank), tcp (between those), or loopback (all ranks in one thread)",
             &transport),
        NUMBER(0, "repeat", "N", "repetitions (10)", &repeat, 1, REPEAT_MAX),
        NUMBER('w', "window", "W", "actions in flight of a rank (16)", &window, 1, 32),
        NUMBER(0, "seed", "S", "of the data, and of a v-collective's sizes (1)", &ask.seed, 0,
               UINT64_MAX - 1),
    };
    const struct command run = {"run", "run an algorithm on data, check the result and measure",
                                "Without --count a vector has P elements, and a block one.\n"
                                "Without --counts the blocks of a v-collective have random "
                                "sizes, up to 2·count elements.",
                                options, sizeof options / sizeof options[0]};
    struct job job;
    struct data data = {.job = &job};
    struct world world;
    enum world_kind kind;
    double *times;
    int code;
    options_read(&run, argc, argv);
    if (ask.seed == UINT64_MAX)
        ask.seed = SEED;
    ask.seeds_more = true;
    data.seed = ask.seed;
    data.type = type_named(type_word);
    data.elem_bytes = coll_type_bytes(data.type);
    job_make(&job, &ask, data.elem_bytes);
    kind = kind_named(transport, job.p);
    choose_operator(&data, data.type, op);
    window = choose_window(&job, window);
    check_memory(&data, (uint32_t)window);

    times = memory_of(repeat, sizeof *times);
    world_make(&world, &data, kind, (uint32_t)window);
    print_head(&data, kind);
    code = repeat_it(&world, repeat, times);
    if (code == 0)
        print_report(&data, times, repeat);
    world_free(&world);
    free(times);
    job_free(&job);
    return code;
}
