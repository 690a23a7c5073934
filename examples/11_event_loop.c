/* examples/11_event_loop.c — a runtime's own engine: an event loop that drives collectives without communicators
 *
 * Four ranks joined by TCP, each a thread with a loop, average six vectors and find their norms: an allreduce of a vector,
 * then local work on the sum, then an allreduce of one number. The loop has three engines of the executor
 * for these twelve collectives; it moves all engines on in turn, and does local work in between. Plans are
 * made once, before any rank runs; all ranks use the same. A loop with nothing to do sleeps in poll, on a
 * descriptor of the transport (coll_events), beside which a program has its own. With communicators this is
 * coll_comm_arm and coll_request_on_done (comm/request.h).
 *
 * Two rules keep such a loop right:
 *   - collectives start in one order, the same on all ranks. There are more of them than engines, and ranks
 *     that had given their engines to different ones would wait for each other for ever.
 *   - the tag of a collective is the same on all ranks, and no other's that runs: here its place in that
 *     order.
 *
 *   cc -O2 -Iinclude examples/11_event_loop.c -o 11 -lpthread && ./11
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "coll/executor.h"
#include "coll/reduce.h"
#include "coll/transports/tcp.h"

enum { P = 4, VECTORS = 6, JOBS = 2 * VECTORS, COUNT = 1000, ENGINES = 3, WINDOW = 8 };

/* ---- the loop ---------------------------------------------------------------------------- */

typedef enum job_state { WAITING, RUNNING, WORKING, DONE } job_state;

typedef struct job {
    const coll_plan *plan;        /* a collective … */
    double *x;                    /* … in place */
    double *scratch;              /* of COUNT; coll_plan_scratch says how much it takes */
    const struct job *after;      /* it starts when this one is done; NULL: at once */
    void (*work)(struct job *of); /* local, on what it gave; NULL: none */
    double *norm;                 /* … and where that writes */
    job_state state;
} job;

typedef struct loop {
    uint32_t rank;
    void *ctx; /* the transport's */
    job *jobs; /* in the order in which they start … */
    uint32_t n, started, done, sleeps;
    coll_engine engine[ENGINES];
    coll_slot slots[ENGINES][WINDOW];
    job *runs[ENGINES]; /* what an engine runs; NULL: it is free */
} loop;

/* Starts the next job, if there is one that may start and an engine for it. */
static coll_status loop_start(loop *l)
{
    static const coll_op sum = COLL_OP(coll_sum_f64, NULL, true, false);
    job *next = &l->jobs[l->started];
    coll_task task;
    uint32_t e = 0;
    while (e < ENGINES && l->runs[e])
        e++;
    if (l->started == l->n || e == ENGINES || (next->after && next->after->state != DONE))
        return COLL_AGAIN;
    coll_task_init(&task, next->plan, l->rank, &coll_tcp_transport, l->ctx);
    task.op = &sum;
    task.out = next->x;
    task.scratch = next->scratch;
    task.scratch_bytes = COUNT * sizeof(double);
    task.tag = l->started++;
    next->state = RUNNING;
    l->runs[e] = next;
    return coll_engine_start(&l->engine[e], &task);
}

static void loop_end(loop *l, job *one)
{
    one->state = DONE;
    l->done++;
}

/* Moves an engine on. */
static coll_status loop_progress(loop *l, uint32_t e)
{
    const coll_status status = coll_engine_progress(&l->engine[e]);
    job *one = l->runs[e];
    if (status != COLL_OK)
        return status;
    l->runs[e] = NULL;
    if (one->work)
        one->state = WORKING;
    else
        loop_end(l, one);
    return COLL_OK;
}

/* Does one piece of local work. */
static coll_status loop_work(loop *l)
{
    for (uint32_t i = 0; i < l->started; i++)
        if (l->jobs[i].state == WORKING) {
            l->jobs[i].work(&l->jobs[i]);
            loop_end(l, &l->jobs[i]);
            return COLL_OK;
        }
    return COLL_AGAIN;
}

/* Nothing has moved. Sleeps until something has come, unless it has come in the meantime. A program would
 * have its sockets in the set, and its next timer in the place of −1. */
static coll_status loop_sleep(loop *l)
{
    const coll_events *events = coll_tcp_transport.events;
    struct pollfd set = {-1, POLLIN, 0};
    coll_status status;
    if (!events) { /* this system has no such descriptor */
        coll_tcp_transport.wait(l->ctx, UINT32_MAX);
        return COLL_OK;
    }
    status = events->arm(l->ctx);
    if (status != COLL_OK)
        return status == COLL_AGAIN ? COLL_OK : status;
    set.fd = events->descriptor(l->ctx);
    l->sleeps++;
    (void)poll(&set, 1, -1);
    return COLL_OK;
}

/* Until all jobs are done, or one fails. */
static coll_status loop_run(loop *l)
{
    while (l->done < l->n) {
        bool moved = false;
        coll_status status = loop_start(l);
        moved = moved || status == COLL_OK;
        for (uint32_t e = 0; e < ENGINES && status >= 0; e++)
            if (l->runs[e]) {
                status = loop_progress(l, e);
                moved = moved || status == COLL_OK;
            }
        if (status < 0)
            return status;
        moved = loop_work(l) == COLL_OK || moved;
        if (!moved)
            status = loop_sleep(l);
        if (status < 0)
            return status;
    }
    return COLL_OK;
}

/* ---- the jobs of a rank ------------------------------------------------------------------ */

static coll_plan vector_plan, number_plan;

typedef struct rank_state {
    loop its;
    job jobs[JOBS];
    double x[VECTORS][COUNT], norm[VECTORS], scratch[VECTORS][COUNT];
    coll_tcp *tcp;
    coll_status status;
} rank_state;

/* Makes an average of a sum, and of the squares this rank's part of their sum. */
static void average(job *of)
{
    for (int i = 0; i < COUNT; i++) {
        of->x[i] /= P;
        *of->norm += of->x[i] * of->x[i] / P;
    }
}

static void *run(void *arg)
{
    rank_state *me = (rank_state *)arg;
    loop *l = &me->its;
    l->ctx = me->tcp;
    l->jobs = me->jobs;
    l->n = JOBS;
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < COUNT; i++)
            me->x[v][i] = (v + 1) * (double)(l->rank + 1);
        me->jobs[v].plan = &vector_plan;
        me->jobs[v].x = me->x[v];
        me->jobs[v].work = average;
        me->jobs[v].norm = &me->norm[v];
        me->jobs[VECTORS + v].plan = &number_plan;
        me->jobs[VECTORS + v].x = &me->norm[v];
        me->jobs[v].scratch = me->jobs[VECTORS + v].scratch = me->scratch[v];
        me->jobs[VECTORS + v].after = &me->jobs[v];
    }
    me->status = COLL_OK;
    for (int e = 0; e < ENGINES && me->status == COLL_OK; e++)
        me->status = coll_engine_init(&l->engine[e], l->slots[e], WINDOW);
    if (me->status == COLL_OK)
        me->status = loop_run(l);
    coll_tcp_close(me->tcp);
    return NULL;
}

static coll_status make_plan(coll_plan *plan, const coll_algorithm *algorithm, size_t count)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, count, sizeof(double));
    problem.flags = COLL_FLAG_COMMUTATIVE | COLL_FLAG_IN_PLACE;
    return coll_plan_init(plan, algorithm, &problem, NULL);
}

/* Ranks whose addresses are exchanged in memory; processes have coll_tcp_launched (12_tcp_processes.c). */
static bool join(rank_state *rank)
{
    coll_tcp_options options = {"127.0.0.0/8", 0, NULL, 0, 0};
    coll_tcp_address all[P];
    char why[COLL_TCP_WHY];
    for (uint32_t r = 0; r < P; r++) {
        rank[r].tcp = coll_tcp_open(r, P, &options, why);
        if (!rank[r].tcp) {
            puts(why);
            return false;
        }
        all[r] = coll_tcp_own_address(rank[r].tcp);
    }
    for (uint32_t r = 0; r < P; r++)
        if (!coll_tcp_join(rank[r].tcp, all, why)) {
            puts(why);
            return false;
        }
    return true;
}

int main(void)
{
    static rank_state rank[P];
    pthread_t thread[P];
    int wrong = 0;
    if (!join(rank) || make_plan(&vector_plan, &coll_ring_allreduce, COUNT) != COLL_OK ||
        make_plan(&number_plan, &coll_recursive_doubling_allreduce, 1) != COLL_OK)
        return 1;
    for (uint32_t r = 0; r < P; r++) {
        rank[r].its.rank = r;
        if (pthread_create(&thread[r], NULL, run, &rank[r]) != 0)
            return 1;
    }
    for (uint32_t r = 0; r < P; r++) {
        pthread_join(thread[r], NULL);
        if (rank[r].status != COLL_OK)
            printf("rank %u: %s\n", r, coll_status_text(rank[r].status));
        wrong += rank[r].status != COLL_OK;
    }
    for (int v = 0; v < VECTORS; v++) {
        const double mean = (v + 1) * 2.5;
        for (uint32_t r = 0; r < P; r++)
            wrong += rank[r].x[v][COUNT - 1] != mean || rank[r].norm[v] != COUNT * mean * mean;
        printf("vector %d: mean %g, norm² %g\n", v, rank[0].x[v][0], rank[0].norm[v]);
    }
    return wrong != 0;
}
