/* bench/executor.c — ns per action of the executor, and the memory that it needs
 *
 *   cc -O2 -Iinclude bench/executor.c -o executor && ./executor > executor.csv
 *   ./executor late allreduce ring 4096 16    only this transport, collective, algorithm, p, window; the last
 *                                             ones may be left out, and - stands for any
 *
 * The transports do nothing, so what is measured is the request and the step function:
 *   null      send and recv are done at once, the case that the target of 25 ns an action is for
 *   started   send and recv start, and the first test finds them done
 *   late      as started, but the first test of every operation fails
 *   loopback  all ranks in this thread, messages of one element really copied
 * Column `step` is the step function alone, measured in turn with the rest; `executor` is the
 * total without it. The reductions do nothing on the null transports. One rank runs there, rank
 * 0, and all of them on loopback. `bytes_request` is a request with its slots, `bytes` all the
 * memory that a running collective of a rank needs: plan, run, request, slots and scratch.
 */
#include "coll/algos/registry.h"
#include "coll/executor.h"
#include "coll/transports/loopback.h"

#include "bench.h"

enum { WINDOW_MOST = 32, LOOPBACK_MOST = 64 };
static const uint32_t windows[] = {1, 2, 4, 8, 16, 32};
enum { N_WINDOWS = sizeof windows / sizeof *windows };

/* ---- transports that do nothing ----------------------------------------------------------- */

static coll_status null_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_OK;
}

static coll_status null_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                             coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_OK;
}

static coll_status null_test(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    return COLL_OK;
}

static coll_status started_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes;
    h->word[0] = 1;
    return COLL_STARTED;
}

static coll_status started_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes;
    h->word[0] = 1;
    return COLL_STARTED;
}

static coll_status late_test(void *ctx, coll_handle *h)
{
    (void)ctx;
    return h->word[0]-- == 1 ? COLL_AGAIN : COLL_OK;
}

static void null_combine(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)dst, (void)a, (void)b, (void)count, (void)arg;
}

static void sum_u64(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)dst)[i] = ((const uint64_t *)a)[i] + ((const uint64_t *)b)[i];
}

typedef struct transport_case {
    const char *name;
    coll_transport transport;
} transport_case;

/* ---- one rank over a null transport ------------------------------------------------------- */

typedef struct job {
    coll_collective collective;
    const char *algorithm;
    uint32_t p;
} job;

static const job jobs[] = {{COLL_BARRIER, "fnomial", 64},
                           {COLL_BARRIER, "dissemination", 64},
                           {COLL_BCAST, "fnomial", 64},
                           {COLL_REDUCE, "fnomial", 64},
                           {COLL_ALLREDUCE, "fnomial", 2},
                           {COLL_ALLREDUCE, "fnomial", 64},
                           {COLL_ALLREDUCE, "fnomial", 4096},
                           {COLL_ALLREDUCE, "recursive_doubling", 2},
                           {COLL_ALLREDUCE, "recursive_doubling", 64},
                           {COLL_ALLREDUCE, "recursive_doubling", 4096},
                           {COLL_ALLREDUCE, "ring", 4},
                           {COLL_ALLREDUCE, "ring", 64},
                           {COLL_ALLREDUCE, "ring", 4096},
                           {COLL_ALLGATHER, "ring", 64},
                           {COLL_ALLGATHER, "ring", 4096},
                           {COLL_REDUCE_SCATTER_BLOCK, "ring", 4096},
                           {COLL_ALLTOALL, "pairwise", 4096},
                           {COLL_SCAN, "recursive_doubling", 64}};
enum { N_JOBS = sizeof jobs / sizeof *jobs };

/* What the command line asks for. */
static char **asked;
static int n_asked;

static bool wanted(int i, const char *text)
{
    return i >= n_asked || strcmp(asked[i], "-") == 0 || strcmp(asked[i], text) == 0;
}

static bool wanted_number(int i, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    return wanted(i, text);
}

static bool wanted_window(const coll_plan *plan, size_t w)
{
    return windows[w] >= plan->window && wanted_number(4, windows[w]);
}

static const coll_algorithm *find(coll_collective collective, const char *name)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective) &&
            strcmp(coll_registry[i]->name, name) == 0)
            return coll_registry[i];
    return NULL;
}

/* Buffers for a rank of any job. */
typedef struct memory {
    void *in, *out, *scratch;
    size_t scratch_bytes;
} memory;

static memory memory_for(const coll_plan *plan, uint32_t rank)
{
    const coll_extents need = coll_plan_extents(plan, rank);
    const size_t elem_bytes = plan->problem.elem_bytes;
    memory m;
    m.in = bench_memory((need.in + 1) * elem_bytes);
    m.out = bench_memory((need.out + 1) * elem_bytes);
    m.scratch_bytes = coll_plan_scratch(plan, rank) * elem_bytes;
    m.scratch = bench_memory(m.scratch_bytes);
    return m;
}

static void memory_free(const memory *m)
{
    free(m->in);
    free(m->out);
    free(m->scratch);
}

static void run_fill(coll_task *run, const coll_plan *plan, const coll_op *op, const memory *m,
                     uint32_t rank)
{
    memset(run, 0, sizeof *run);
    run->plan = plan;
    run->op = op;
    run->in = m->in;
    run->out = m->out;
    run->scratch = m->scratch;
    run->scratch_bytes = m->scratch_bytes;
    run->rank = rank;
}

/* The steps of one rank; returns the actions that are not empty. */
static size_t walk(const coll_plan *plan, uint32_t rank)
{
    const size_t steps = coll_plan_steps(plan, rank);
    size_t actions = 0;
    for (size_t s = 0; s < steps; s++) {
        coll_action out[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, rank, s, out);
        for (unsigned i = 0; i < n; i++)
            actions += out[i].count != 0;
        bench_use(out);
    }
    return actions;
}

static void check(coll_status status)
{
    if (status != COLL_OK) {
        fprintf(stderr, "failed: %s\n", coll_status_text(status));
        exit(1);
    }
}

/* The means at the end: all rows of a transport, each of the same weight. */
static struct {
    const char *transport;
    size_t rows;
    double all, alone, least;
} means[4];

static void add_to_mean(const char *transport, double all, double alone, double least)
{
    size_t i = 0;
    while (means[i].transport && strcmp(means[i].transport, transport) != 0)
        i++;
    means[i].transport = transport;
    means[i].rows++;
    means[i].all += all;
    means[i].alone += alone;
    means[i].least += least;
}

static void print_row(const char *transport, const coll_plan *plan, uint32_t window,
                      size_t actions, size_t bytes, double *total, double *step)
{
    const double all = bench_median(total, BENCH_ROUNDS),
                 alone = bench_median(step, BENCH_ROUNDS);
    const double least = total[0] - step[0];
    add_to_mean(transport, all, alone, least);
    printf("%s,%s,%s,%u,%u,%zu,%.1f,%.1f,%.1f,%.1f,%.0f,%zu,%zu\n", transport,
           coll_collective_name(plan->problem.collective), plan->algorithm->name,
           plan->problem.p, window, actions, all, alone, all - alone, least,
           all * (double)actions, sizeof(coll_engine) + window * sizeof(coll_slot), bytes);
}

static bool make_plan(coll_plan *plan, const job *of)
{
    const coll_algorithm *algorithm = find(of->collective, of->algorithm);
    coll_problem problem;
    const bool cut = of->collective == COLL_ALLREDUCE && strcmp(of->algorithm, "ring") == 0;
    coll_problem_init(&problem, of->collective, of->p, cut ? of->p : 1, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    return algorithm && coll_plan_init(plan, algorithm, &problem, NULL) == COLL_OK;
}

static void bench_null(const transport_case *over, const job *of)
{
    coll_plan plan;
    if (!make_plan(&plan, of))
        return;
    const uint32_t rank = 0;
    const coll_op op = COLL_OP(null_combine, NULL, true, true);
    const memory m = memory_for(&plan, rank);
    const size_t actions = walk(&plan, rank), repeat = 1 + 40000 / (actions + 1);
    double total[N_WINDOWS][BENCH_ROUNDS], step[BENCH_ROUNDS];
    coll_task run;
    run_fill(&run, &plan, &op, &m, rank);
    run.transport = &over->transport;
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        double start = bench_busy();
        for (size_t i = 0; i < repeat; i++)
            walk(&plan, rank);
        step[round] = (bench_busy() - start) / (double)(repeat * actions);
        for (size_t w = 0; w < N_WINDOWS; w++) {
            coll_slot slots[WINDOW_MOST];
            coll_engine engine;
            if (!wanted_window(&plan, w))
                continue;
            check(coll_engine_init(&engine, slots, windows[w]));
            start = bench_busy();
            for (size_t i = 0; i < repeat; i++) {
                check(coll_engine_start(&engine, &run));
                check(coll_engine_wait(&engine));
            }
            total[w][round] = (bench_busy() - start) / (double)(repeat * actions);
        }
    }
    for (size_t w = 0; w < N_WINDOWS; w++)
        if (wanted_window(&plan, w))
            print_row(over->name, &plan, windows[w], actions,
                      sizeof(coll_plan) + sizeof(coll_task) + sizeof(coll_engine) +
                          windows[w] * sizeof(coll_slot) + m.scratch_bytes,
                      total[w], step);
    memory_free(&m);
}

/* ---- all ranks over loopback -------------------------------------------------------------- */

static void bench_loopback(const job *of)
{
    static coll_task run[LOOPBACK_MOST];
    static coll_engine engine[LOOPBACK_MOST], *requests[LOOPBACK_MOST];
    static coll_slot slots[LOOPBACK_MOST][WINDOW_MOST];
    static coll_loopback_rank endpoint[LOOPBACK_MOST];
    static memory m[LOOPBACK_MOST];
    coll_plan plan;
    if (of->p > LOOPBACK_MOST || !make_plan(&plan, of))
        return;
    const coll_op op = COLL_OP(sum_u64, NULL, true, true);
    const uint32_t p = of->p;
    const size_t bytes = COLL_LOOPBACK_BYTES(p * WINDOW_MOST);
    void *arena = bench_memory(bytes);
    coll_loopback world;
    size_t actions = 0;
    double total[N_WINDOWS][BENCH_ROUNDS], step[BENCH_ROUNDS];
    check(coll_loopback_init(&world, p, p * WINDOW_MOST, arena, bytes));
    for (uint32_t r = 0; r < p; r++) {
        m[r] = memory_for(&plan, r);
        check(coll_loopback_attach(&world, r, &endpoint[r]));
        run_fill(&run[r], &plan, &op, &m[r], r);
        run[r].transport = &coll_loopback_transport;
        run[r].ctx = &endpoint[r];
        requests[r] = &engine[r];
        actions += walk(&plan, r);
    }
    const size_t repeat = 1 + 20000 / (actions + 1);
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        double start = bench_busy();
        for (size_t i = 0; i < repeat; i++)
            for (uint32_t r = 0; r < p; r++)
                walk(&plan, r);
        step[round] = (bench_busy() - start) / (double)(repeat * actions);
        for (size_t w = 0; w < N_WINDOWS; w++) {
            if (!wanted_window(&plan, w))
                continue;
            for (uint32_t r = 0; r < p; r++)
                check(coll_engine_init(&engine[r], slots[r], windows[w]));
            start = bench_busy();
            for (size_t i = 0; i < repeat; i++) {
                for (uint32_t r = 0; r < p; r++)
                    check(coll_engine_start(&engine[r], &run[r]));
                check(coll_loopback_run(&world, requests, p));
            }
            total[w][round] = (bench_busy() - start) / (double)(repeat * actions);
        }
    }
    for (size_t w = 0; w < N_WINDOWS; w++)
        if (wanted_window(&plan, w))
            print_row("loopback", &plan, windows[w], actions,
                      sizeof(coll_plan) + sizeof(coll_task) + sizeof(coll_engine) +
                          windows[w] * sizeof(coll_slot) + m[0].scratch_bytes,
                      total[w], step);
    for (uint32_t r = 0; r < p; r++)
        memory_free(&m[r]);
    free(arena);
}

int main(int argc, char **argv)
{
    transport_case cases[] = {
        {"null", {.send = null_send, .recv = null_recv, .test = null_test}},
        {"started", {.send = started_send, .recv = started_recv, .test = null_test}},
        {"late", {.send = started_send, .recv = started_recv, .test = late_test}},
    };
    printf("transport,collective,algorithm,p,window,actions,ns_per_action,ns_per_action_step,"
           "ns_per_action_executor,ns_per_action_executor_least,ns_per_collective,bytes_"
           "request,bytes\n");
    asked = argv + 1;
    n_asked = argc - 1;
    for (size_t i = 0; i < N_JOBS; i++) {
        if (!wanted(1, coll_collective_name(jobs[i].collective)) ||
            !wanted(2, jobs[i].algorithm) || !wanted_number(3, jobs[i].p))
            continue;
        fprintf(stderr, "%s %s p=%u\n", coll_collective_name(jobs[i].collective),
                jobs[i].algorithm, jobs[i].p);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            if (wanted(0, cases[c].name))
                bench_null(&cases[c], &jobs[i]);
        if (wanted(0, "loopback"))
            bench_loopback(&jobs[i]);
    }
    if (!means[0].transport) {
        fprintf(stderr, "no row of this benchmark is called so\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof means / sizeof *means && means[i].transport; i++) {
        const double n = (double)means[i].rows;
        printf("mean of %s,,,,,%zu rows,%.1f,%.1f,%.1f,%.1f,,,\n", means[i].transport,
               means[i].rows, means[i].all / n, means[i].alone / n,
               (means[i].all - means[i].alone) / n, means[i].least / n);
    }
    return 0;
}
