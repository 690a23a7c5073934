/* tests/support/virtual.h — ranks on a simulated machine: a transport and a clock whose time is computed, from
 * the costs of a model of lab/sim.h
 *
 *   virtual_run(p, &model, program, arg);     // program(rank, transport, ctx, clock, arg) on each rank
 *
 * Each rank is a thread, but one runs at a time, the one whose clock is least; so the order is that of the
 * simulated time, and two runs are the same. A message takes its sender's processor and port, is on its way, and
 * takes the receiver's port and processor once it is tested there. Reading the clock takes `tick`.
 */
#ifndef COLL_TESTS_VIRTUAL_H
#define COLL_TESTS_VIRTUAL_H

#include <pthread.h>
#include <stdlib.h>

#include "coll/lab/sim.h"
#include "coll/lab/tune.h"

enum { VIRTUAL_RANKS = 8, VIRTUAL_MESSAGES = 64, VIRTUAL_IDLE = 256 };

typedef struct virtual_message {
    coll_time arrives;
    size_t bytes;
    unsigned char copy[64]; /* what short ones say */
    bool here;
} virtual_message;

typedef struct virtual_world virtual_world;

typedef struct virtual_rank {
    virtual_world *world;
    uint32_t rank;
    coll_time clock, out_port, in_port;
    double offset_ns; /* what its clock shows at the time 0 */
    bool over, waits; /* for a message that has not been sent */
    uint32_t idle;    /* tests that found nothing */
    pthread_t thread;
} virtual_rank;

typedef struct virtual_program {
    void (*run)(uint32_t rank, const coll_transport *transport, void *ctx,
                const coll_bench_clock *clock, void *arg);
    void *arg;
} virtual_program;

struct virtual_world {
    uint32_t p, runs; /* who runs */
    const coll_cost_model *model;
    const coll_noise *noise; /* NULL: none */
    virtual_program program;
    coll_time tick;
    pthread_mutex_t lock;
    pthread_cond_t turn[VIRTUAL_RANKS];
    virtual_rank ranks[VIRTUAL_RANKS];
    struct {
        virtual_message at[VIRTUAL_MESSAGES];
        uint64_t sent, received, started;
    } channel[VIRTUAL_RANKS][VIRTUAL_RANKS];
};

/* Gives the processor to the rank whose time is least; returns when this one has it again. */
static void virtual_yield(virtual_rank *me)
{
    virtual_world *w = me->world;
    uint32_t next = w->p;
    for (uint32_t r = 0; r < w->p; r++)
        if (!w->ranks[r].over && !w->ranks[r].waits &&
            (next == w->p || w->ranks[r].clock < w->ranks[next].clock))
            next = r;
    if (next == w->p) {
        for (uint32_t r = 0; r < w->p; r++)
            if (!w->ranks[r].over) {
                printf("the simulated ranks wait for each other\n");
                exit(1);
            }
        return;
    }
    w->runs = next;
    if (next != me->rank)
        pthread_cond_signal(&w->turn[next]);
    while (!me->over && w->runs != me->rank)
        pthread_cond_wait(&w->turn[me->rank], &w->lock);
}

/* The processor works. */
static void virtual_work(virtual_rank *me, coll_time work)
{
    const virtual_world *w = me->world;
    me->clock =
        w->noise ? coll_noise_end(w->noise, me->rank, me->clock, work) : me->clock + work;
}

static coll_status virtual_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    virtual_rank *me = (virtual_rank *)ctx;
    virtual_world *w = me->world;
    const coll_message message = {me->rank, peer, bytes, true};
    coll_cost cost;
    virtual_message *m;
    coll_time start;
    (void)tag, (void)h;
    me->idle = 0;
    virtual_yield(me);
    if (w->channel[me->rank][peer].sent - w->channel[me->rank][peer].received ==
        VIRTUAL_MESSAGES) {
        me->clock = coll_later(me->clock, w->ranks[peer].clock + 1); /* it goes first */
        return COLL_AGAIN;
    }
    m = &w->channel[me->rank][peer].at[w->channel[me->rank][peer].sent++ % VIRTUAL_MESSAGES];
    coll_i_cost_clear(&cost);
    w->model->send(w->model, &message, &cost);
    start = coll_later(me->clock, me->out_port);
    me->clock = start;
    virtual_work(me, cost.cpu);
    me->out_port = start + cost.port;
    m->arrives = start + cost.wire;
    m->bytes = bytes;
    if (bytes > 0)
        memcpy(m->copy, buf, bytes < sizeof m->copy ? bytes : sizeof m->copy);
    w->ranks[peer].waits = false;
    return COLL_OK;
}

static coll_status virtual_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    virtual_rank *me = (virtual_rank *)ctx;
    (void)tag, (void)bytes;
    h->word[0] = (uintptr_t)peer;
    h->word[1] = (uintptr_t)buf;
    me->world->channel[peer][me->rank].started++;
    me->idle = 0;
    return COLL_STARTED;
}

/* A rank that finds nothing may have more to do, and waits for a message only after some tests. */
static coll_status virtual_test(void *ctx, coll_handle *h)
{
    virtual_rank *me = (virtual_rank *)ctx;
    virtual_world *w = me->world;
    const uint32_t peer = (uint32_t)h->word[0];
    coll_message message = {peer, me->rank, 0, true};
    virtual_message *m;
    coll_cost cost;
    coll_time start;
    virtual_yield(me);
    while (w->channel[peer][me->rank].sent == w->channel[peer][me->rank].received) {
        if (++me->idle < VIRTUAL_IDLE)
            return COLL_AGAIN;
        me->waits = true;
        virtual_yield(me);
        me->idle = 0;
    }
    me->idle = 0;
    m = &w->channel[peer][me->rank].at[w->channel[peer][me->rank].received % VIRTUAL_MESSAGES];
    message.bytes = m->bytes;
    coll_i_cost_clear(&cost);
    w->model->receive(w->model, &message, &cost);
    start = coll_later(coll_later(me->clock, m->arrives), me->in_port);
    if (start > me->clock) { /* others may do something first */
        me->clock = start;
        virtual_yield(me);
    }
    virtual_work(me, cost.cpu);
    me->clock = coll_later(me->clock, start + cost.done);
    me->in_port = start + cost.port;
    if (m->bytes > 0)
        memcpy((void *)h->word[1], m->copy,
               m->bytes < sizeof m->copy ? m->bytes : sizeof m->copy);
    w->channel[peer][me->rank].received++;
    return COLL_OK;
}

static coll_status virtual_compute(virtual_rank *me, unsigned kind, size_t count,
                                   size_t elem_bytes)
{
    const virtual_world *w = me->world;
    coll_action a;
    coll_cost cost;
    if (!w->model->compute)
        return COLL_OK;
    memset(&a, 0, sizeof a);
    a.kind = (uint8_t)kind;
    a.count = count;
    a.inputs = 1;
    a.src = COLL_AT(COLL_IN, 0);
    a.dst = COLL_AT(COLL_OUT, 0);
    coll_i_cost_clear(&cost);
    w->model->compute(w->model, me->rank, &a, elem_bytes, &cost);
    virtual_work(me, cost.cpu);
    return COLL_OK;
}

static coll_status virtual_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                coll_handle *h)
{
    (void)dst, (void)src, (void)h;
    return virtual_compute((virtual_rank *)ctx, COLL_DO_COPY, bytes, 1);
}

static coll_status virtual_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    (void)h;
    return virtual_compute((virtual_rank *)ctx, COLL_DO_REDUCE, call->count, call->elem_bytes);
}

static const coll_transport virtual_transport = {.send = virtual_send,
                                                 .recv = virtual_recv,
                                                 .test = virtual_test,
                                                 .copy = virtual_copy,
                                                 .reduce = virtual_reduce};

static double virtual_now(void *arg)
{
    virtual_rank *me = (virtual_rank *)arg;
    virtual_work(me, me->world->tick);
    return (double)me->clock / 1000 + me->offset_ns;
}

static void virtual_until(void *arg, double ns)
{
    virtual_rank *me = (virtual_rank *)arg;
    const double at = (ns - me->offset_ns) * 1000;
    if (at > (double)me->clock)
        me->clock = (coll_time)at;
    virtual_yield(me);
}

static void *virtual_main(void *arg)
{
    virtual_rank *me = (virtual_rank *)arg;
    const coll_bench_clock clock = {virtual_now, virtual_until, me};
    pthread_mutex_lock(&me->world->lock);
    while (me->world->runs != me->rank)
        pthread_cond_wait(&me->world->turn[me->rank], &me->world->lock);
    me->world->program.run(me->rank, &virtual_transport, me, &clock, me->world->program.arg);
    me->over = true;
    virtual_yield(me);
    pthread_mutex_unlock(&me->world->lock);
    return NULL;
}

/* Runs a program on p ranks of a machine; offsets_ns: of their clocks, or NULL. */
static void virtual_run(uint32_t p, const coll_cost_model *model, const coll_noise *noise,
                        const double *offsets_ns, virtual_program program)
{
    virtual_world *w = (virtual_world *)calloc(1, sizeof *w);
    if (!w || p > VIRTUAL_RANKS)
        exit(1);
    w->p = p;
    w->model = model;
    w->noise = noise;
    w->program = program;
    w->tick = 1000;
    pthread_mutex_init(&w->lock, NULL);
    for (uint32_t r = 0; r < p; r++) {
        w->ranks[r].world = w;
        w->ranks[r].rank = r;
        w->ranks[r].offset_ns = offsets_ns ? offsets_ns[r] : 0;
        pthread_cond_init(&w->turn[r], NULL);
    }
    for (uint32_t r = 0; r < p; r++)
        if (pthread_create(&w->ranks[r].thread, NULL, virtual_main, &w->ranks[r]) != 0)
            exit(1);
    for (uint32_t r = 0; r < p; r++)
        pthread_join(w->ranks[r].thread, NULL);
    free(w);
}

#endif /* COLL_TESTS_VIRTUAL_H */
