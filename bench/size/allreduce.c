/* bench/size/allreduce.c — what firmware has of the library: an engine, an algorithm, an operator, a plan for
 * any p and count, and a function that runs it; for bench/size.sh
 *
 * HEADER and ALGORITHM name the algorithm, COLLECTIVE what it is for. IN_ORDER: the engine. DUMP: what it waits for: 1 in words, 2 as
 * records; 3: a status in words.
 */
#ifndef HEADER
#define HEADER    "coll/algos/ring.h"
#define ALGORITHM coll_ring_allreduce
#endif
#ifndef COLLECTIVE
#define COLLECTIVE COLL_ALLREDUCE
#endif
#include HEADER
#if DUMP
#include "coll/executor/pending.h"
#endif
#if IN_ORDER
#include "coll/executor/in_order.h"
typedef coll_in_order engine_type;
#define MEMORY(memory) coll_outstanding memory[2]
#define INIT           coll_in_order_init(&coll_size_engine, coll_size_memory, 2)
#define START          coll_in_order_start
#define WAIT           coll_in_order_wait
#define WORDS          coll_in_order_dump
#define RECORDS        coll_in_order_pending
#else
#include "coll/executor.h"
typedef coll_engine engine_type;
#define MEMORY(memory) coll_slot memory[8]
#define INIT           coll_engine_init(&coll_size_engine, coll_size_memory, 8)
#define START          coll_engine_start
#define WAIT           coll_engine_wait
#define WORDS          coll_engine_dump
#define RECORDS        coll_engine_pending
#endif

extern engine_type coll_size_engine;
extern MEMORY(coll_size_memory);
extern coll_plan coll_size_plan;
coll_status coll_size_allreduce(coll_task *task, uint32_t p, size_t count);

static void sum(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)dst)[i] = ((const int32_t *)a)[i] + ((const int32_t *)b)[i];
}

/* The caller's side: a plan for any p and count, run to its end. */
coll_status coll_size_allreduce(coll_task *task, uint32_t p, size_t count)
{
    static const coll_op op = COLL_OP(sum, NULL, true, true);
    coll_problem problem;
    coll_status status;
    coll_problem_init(&problem, COLLECTIVE, p, count, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(&coll_size_plan, &ALGORITHM, &problem, NULL);
    if (status != COLL_OK)
        return status;
    task->plan = &coll_size_plan;
    task->op = &op;
    (void)INIT;
    status = START(&coll_size_engine, task);
#if DUMP == 3
    *(const char **)task->scratch = coll_status_text(status);
#elif DUMP == 2
    (void)RECORDS(&coll_size_engine, (coll_pending *)task->scratch, 4);
#elif DUMP
    (void)WORDS(&coll_size_engine, (char *)task->scratch, task->scratch_bytes);
#endif
    return status == COLL_OK ? WAIT(&coll_size_engine) : status;
}

engine_type coll_size_engine;
MEMORY(coll_size_memory);
coll_plan coll_size_plan;
