/* tests/gates/modes/firmware.c — a ring on a processor without an operating system, whose network
 * is three registers' worth of functions that are somewhere else: here they do nothing */
#include "coll_ring.h"

enum { P = 4, COUNT = 64, WINDOW = 4 };

static coll_status put(void *ctx, uint32_t peer, uint32_t tag, const void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_OK;
}

static coll_status get(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                       coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_OK;
}

static coll_status test(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    return COLL_OK;
}

static void add(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)dst)[i] = ((const int32_t *)a)[i] + ((const int32_t *)b)[i];
}

static int32_t in[COUNT], out[COUNT];
static coll_slot slots[WINDOW];
static coll_engine request;
static coll_transport transport;
static coll_plan plan;
static coll_task run;

int start(void);

int start(void)
{
    static const coll_op op = COLL_OP(add, NULL, true, true);
    coll_problem problem;
    coll_status status;
    transport.send = put;
    transport.recv = get;
    transport.test = test;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, COUNT, sizeof in[0]);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL);
    run.plan = &plan;
    run.transport = &transport;
    run.op = &op;
    run.in = in;
    run.out = out;
    if (status == COLL_OK)
        status = coll_engine_init(&request, slots, WINDOW);
    if (status == COLL_OK)
        status = coll_engine_start(&request, &run);
    while (status == COLL_OK && request.status == COLL_AGAIN)
        status = coll_engine_progress(&request) < 0 ? COLL_ERR_IO : COLL_OK;
    return status;
}
