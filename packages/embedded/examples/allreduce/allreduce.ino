// Four ranks on one board add up a vector by a ring, over the loopback transport. On several boards a transport of
// your own takes its place, and each board runs one engine.
#include <coll.h>
#include <coll/algos/ring.h>
#include <coll/transports/loopback.h>

enum { P = 4, COUNT = 8, WINDOW = 4 };

static int32_t vectors[P][COUNT], sums[P][COUNT];
static unsigned char memory[COLL_LOOPBACK_BYTES(P * WINDOW)];
static coll_loopback world;
static coll_loopback_rank ends[P];
static coll_task tasks[P];
static coll_slot slots[P][WINDOW];
static coll_engine engines[P], *running[P];
static coll_plan plan;

static coll_status allreduce()
{
    static const coll_op sum = COLL_OP(coll_sum_i32, NULL, true, true);
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, COUNT, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_status status = coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL);
    if (status == COLL_OK)
        status = coll_loopback_init(&world, P, P * WINDOW, memory, sizeof memory);
    for (uint32_t r = 0; r < P && status == COLL_OK; r++) {
        running[r] = &engines[r];
        tasks[r].plan = &plan;
        tasks[r].transport = &coll_loopback_transport;
        tasks[r].ctx = &ends[r];
        tasks[r].op = &sum;
        tasks[r].in = vectors[r];
        tasks[r].out = sums[r];
        tasks[r].rank = r;
        status = coll_loopback_attach(&world, r, &ends[r]);
        if (status == COLL_OK)
            status = coll_engine_init(&engines[r], slots[r], WINDOW);
        if (status == COLL_OK)
            status = coll_engine_start(&engines[r], &tasks[r]);
    }
    return status == COLL_OK ? coll_loopback_run(&world, running, P) : status;
}

void setup()
{
    Serial.begin(115200);
    for (int r = 0; r < P; r++)
        for (int i = 0; i < COUNT; i++)
            vectors[r][i] = r + i;
    Serial.println(coll_status_text(allreduce()));
    for (int i = 0; i < COUNT; i++)
        Serial.println(sums[P - 1][i]);
}

void loop()
{
}
