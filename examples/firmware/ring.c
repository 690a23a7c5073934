/* examples/firmware/ring.c — boards on a ring of UARTs add up vectors
 *
 * Arguments: this board's rank, how many boards there are, and after how many milliseconds to give up.
 * An allreduce of integers runs with the in-order engine, one of floats, computed without floating point,
 * with the window engine; a program of one's own takes one of the two. Each has a deadline, and says what
 * it waits for when that passes.
 *
 * Exit code 0: both sums are right. 1: one is wrong. 2: the arguments are. 3: a collective failed.
 */
#ifdef COLL_ONE_FILE /* made by coll amalgamate */
#include COLL_ONE_FILE
#else
#include "coll/algos/ring.h"
#include "coll/executor/pending.h"
#include "coll/reduce.h"
#endif

#include "uart_ring.h"

enum { COUNT = 100, SLOTS = 4 };

static uint64_t ticks(void *arg)
{
    (void)arg;
    return board_now();
}

static const coll_clock the_clock = {ticks, NULL};

/* Runs a task to its end, in order. */
static coll_status run_in_order(const coll_task *task, uint64_t deadline)
{
    static coll_outstanding room[2]; /* the action that blocks, and a send in flight */
    static coll_in_order engine;
    static char text[240];
    coll_status status = coll_in_order_init(&engine, room, 2);
    if (status == COLL_OK)
        status = coll_in_order_start(&engine, task);
    if (status == COLL_OK)
        status = coll_in_order_wait_until(&engine, &the_clock, deadline);
    if (status == COLL_AGAIN) {
        (void)coll_in_order_dump(&engine, text, sizeof text);
        board_print(text);
        board_print("\n");
        (void)coll_in_order_cancel(&engine);
        status = engine.status;
    }
    return status;
}

/* The same with the window engine, which takes more memory, and starts what does not depend on what
 * still runs. */
static coll_status run_in_window(const coll_task *task, uint64_t deadline)
{
    static coll_slot slots[SLOTS];
    static coll_engine engine;
    coll_status status = coll_engine_init(&engine, slots, SLOTS);
    if (status == COLL_OK)
        status = coll_engine_start(&engine, task);
    if (status == COLL_OK)
        status = coll_engine_wait_until(&engine, &the_clock, deadline);
    if (status == COLL_AGAIN)
        (void)coll_engine_cancel(&engine);
    return engine.status;
}

/* A plan is the same for all types of this size. */
static coll_status make_plan(coll_plan *plan, uint32_t p)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, p, COUNT, 4);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    return coll_plan_init(plan, &coll_ring_allreduce, &problem, NULL);
}

static int32_t in[COUNT], out[COUNT];
static uint32_t float_in[COUNT], float_out[COUNT]; /* their bits */

/* The bits of the float that is this integer, of 1 … 2²⁴: conversions of the compiler's would link its
 * floats. */
static uint32_t float_bits(uint32_t integer)
{
    uint32_t exponent = 0;
    while (integer >> exponent > 1)
        exponent++;
    return (exponent + 127) << 23 | (integer << (23 - exponent) & 0x7fffff);
}

int main(void)
{
    static const coll_op add = COLL_OP(coll_sum_i32, NULL, true, true);
    static const coll_op add_floats = COLL_OP(coll_sum_f32, NULL, true, false);
    static uart_ring wire;
    static coll_plan plan;
    coll_task task;
    coll_status status;
    uint32_t argument[3], right = 0;
    uint64_t deadline;
    if (board_arguments(argument, 3) != 3 || argument[0] >= argument[1]) {
        board_print("arguments: RANK RANKS MILLISECONDS\n");
        return 2;
    }
    deadline = board_now() + (uint64_t)argument[2] * (board_hz / 1000);
    for (int32_t i = 0; i < COUNT; i++) {
        in[i] = (int32_t)(argument[0] + 1) * (i - 9);
        float_in[i] = float_bits((argument[0] + 1) * (uint32_t)(i + 1));
    }

    uart_ring_init(&wire, argument[0], argument[1]);
    status = make_plan(&plan, argument[1]);
    coll_task_init(&task, &plan, argument[0], &uart_ring_transport, &wire);
    if (status == COLL_OK) {
        task.op = &add;
        task.in = in;
        task.out = out;
        status = run_in_order(&task, deadline);
    }
    if (status == COLL_OK) {
        task.op = &add_floats;
        task.in = float_in;
        task.out = float_out;
        status = run_in_window(&task, deadline);
    }
    if (status == COLL_OK) {
        const uint32_t all = argument[1] * (argument[1] + 1) / 2; /* 1 + … + p */
        for (int32_t i = 0; i < COUNT; i++)
            right += (out[i] == (int32_t)all * (i - 9) &&
                      float_out[i] == float_bits(all * (uint32_t)(i + 1)));
    }

    board_print(board_name);
    board_print(", rank ");
    board_print_number(argument[0]);
    board_print(" of ");
    board_print_number(argument[1]);
    board_print(": ");
    board_print(coll_status_text(status));
    board_print(", ");
    board_print_number(right);
    board_print(" sums of integers and of floats are right, ");
    board_print_number(board_stack_used());
    board_print(" bytes of stack\n");
    return status != COLL_OK ? 3 : right != COUNT;
}
