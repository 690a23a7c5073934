/* Engines without what bare metal leaves out by default: over a transport that offers all of it, they receive, and
 * combine by this processor. */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_ZERO_COPY  0
#define COLL_ARRIVAL    0
#define COLL_IN_NETWORK 0
#include "coll/algos/fnomial.h"
#include "coll/algos/ring.h"
#include "coll/executor.h"
#include "coll/executor/in_order.h"
#include "coll/transports/loopback.h"
#include "support/check.h"

enum { P = 5, N = 12, MESSAGES = 256 };

static unsigned asked; /* how often the transport was asked for what engines do not use */

static coll_status acquire(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                           const void **message, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)bytes, (void)message, (void)h;
    asked++;
    return COLL_ERR_IO;
}

static void release(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    asked++;
}

static coll_status recv_reduce(void *ctx, const coll_arrival_call *call, coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    asked++;
    return COLL_ERR_IO;
}

static void add(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)dst)[i] = ((const int32_t *)a)[i] + ((const int32_t *)b)[i];
}

static const coll_op op = COLL_OP(add, NULL, true, true);
static const coll_zero_copy zero_copy = {acquire, release, 0, NULL, 0, 0};
static const coll_arrival arrival = {recv_reduce};
static coll_transport transport;
static coll_loopback loopback;
static coll_loopback_rank ends[P];
static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
static int32_t in[P][N], out[P][N], scratch[P][4 * N];

static void begin(const coll_algorithm *algorithm, coll_plan *plan, coll_task *tasks)
{
    coll_problem problem;
    transport = coll_loopback_transport;
    transport.zero_copy = &zero_copy;
    transport.arrival = &arrival;
    asked = 0;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, N, sizeof in[0][0]);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(plan, algorithm, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_loopback_init(&loopback, P, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        coll_task_init(&tasks[r], plan, r, &transport, &ends[r]);
        tasks[r].op = &op;
        tasks[r].in = in[r];
        tasks[r].out = out[r];
        tasks[r].scratch = scratch[r];
        tasks[r].scratch_bytes = sizeof scratch[r];
        for (int32_t i = 0; i < N; i++) {
            in[r][i] = (int32_t)r * 100 + i;
            out[r][i] = -1;
        }
    }
}

static void check_sums(void)
{
    for (uint32_t r = 0; r < P; r++)
        for (int32_t i = 0; i < N; i++)
            CHECK_EQ(out[r][i], 1000 + P * i);
    CHECK_EQ(asked, 0);
}

static const coll_algorithm *const algorithms[] = {&coll_ring_allreduce,
                                                   &coll_fnomial_allreduce};

TEST(window_engine)
{
    for (unsigned which = 0; which < 2; which++) {
        coll_plan plan;
        coll_task tasks[P];
        coll_engine engines[P];
        coll_slot slots[P][COLL_WINDOW];
        uint32_t left = P;
        begin(algorithms[which], &plan, tasks);
        for (uint32_t r = 0; r < P; r++) {
            CHECK_STATUS(coll_engine_init(&engines[r], slots[r], COLL_WINDOW), COLL_OK);
            CHECK_STATUS(coll_engine_start(&engines[r], &tasks[r]), COLL_OK);
        }
        for (unsigned turn = 0; turn < 1000 && left > 0; turn++) {
            left = 0;
            for (uint32_t r = 0; r < P; r++)
                left += coll_engine_progress(&engines[r]) == COLL_AGAIN;
        }
        CHECK_EQ(left, 0);
        check_sums();
    }
}

TEST(in_order_engine)
{
    for (unsigned which = 0; which < 2; which++) {
        enum { OPS = 3 };
        coll_plan plan;
        coll_task tasks[P];
        coll_in_order engines[P];
        coll_outstanding ops[P][OPS];
        uint32_t left = P;
        begin(algorithms[which], &plan, tasks);
        for (uint32_t r = 0; r < P; r++) {
            CHECK_STATUS(coll_in_order_init(&engines[r], ops[r], OPS), COLL_OK);
            CHECK_STATUS(coll_in_order_start(&engines[r], &tasks[r]), COLL_OK);
        }
        for (unsigned turn = 0; turn < 1000 && left > 0; turn++) {
            left = 0;
            for (uint32_t r = 0; r < P; r++)
                left += coll_in_order_progress(&engines[r]) == COLL_AGAIN;
        }
        CHECK_EQ(left, 0);
        check_sums();
    }
}

/* A record that is not whole is a mistake all the same, for who asks. */
TEST(records_are_checked)
{
    static const coll_zero_copy half = {acquire, NULL, 0, NULL, 0, 0};
    transport = coll_loopback_transport;
    CHECK_STATUS(coll_transport_check(&transport), COLL_OK);
    transport.zero_copy = &half;
    CHECK_STATUS(coll_transport_check(&transport), COLL_ERR_TRANSPORT);
}

int main(void)
{
    RUN(window_engine);
    RUN(in_order_engine);
    RUN(records_are_checked);
    return check_done();
}
