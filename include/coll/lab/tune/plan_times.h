/* coll/lab/tune/plan_times.h — how long a plan takes on the bench, and what a calibrated machine predicts
 *
 *   coll_tune_time(&bench, &plan, &op, &e);             // all ranks: measures it
 *   coll_tune_predict(machine, &plan, &ns);             // simulates it, on one rank
 *
 * All ranks begin at the same time, with IN in the state that options.data says, and it is over when the
 * last one has ended.
 */
#ifndef COLL_LAB_TUNE_PLAN_TIMES_H
#define COLL_LAB_TUNE_PLAN_TIMES_H

#include "../../executor.h"
#include "../sim.h"
#include "calibrate.h"

/* A plan and what this rank needs to run it. */
typedef struct coll_i_tune_run {
    coll_task task;
    coll_engine engine;
    coll_slot slots[COLL_WINDOW];
    size_t in_bytes;
    double wait_ns;
} coll_i_tune_run;

COLL_INLINE double coll_i_tune_plan_round(coll_bench *b, const void *arg)
{
    coll_i_tune_run *run = *(coll_i_tune_run *const *)arg;
    coll_status status;
    double start;
    coll_bench_prepare(b, b->out, run->in_bytes);
    start = coll_bench_meet(b, run->wait_ns);
    if (b->status != COLL_OK)
        return 0;
    status = coll_engine_start(&run->engine, &run->task);
    if (status == COLL_OK)
        status = coll_engine_wait(&run->engine);
    if (status != COLL_OK)
        coll_i_bench_fail(b, status);
    return coll_bench_took(b, start, coll_bench_now(b));
}

/* Makes this rank's part of a plan; what is wrong with it otherwise. */
COLL_INLINE coll_status coll_i_tune_run_init(coll_i_tune_run *run, coll_bench *b,
                                             const coll_plan *plan, const coll_op *op)
{
    const coll_extents extents = coll_plan_extents(plan, b->rank);
    const size_t elem_bytes = plan->problem.elem_bytes,
                 scratch = coll_plan_scratch(plan, b->rank);
    if (extents.in * elem_bytes > b->options.largest ||
        extents.out * elem_bytes > b->options.largest)
        return COLL_ERR_MEMORY;
    coll_task_init(&run->task, plan, b->rank, b->transport, b->ctx);
    run->task.op = op;
    run->task.in = extents.in ? b->out : NULL;
    run->task.out = b->in;
    run->task.scratch_bytes = scratch * elem_bytes;
    run->task.scratch = malloc(run->task.scratch_bytes + 1);
    run->task.tag = b->tag;
    run->in_bytes = extents.in * elem_bytes;
    if (!run->task.scratch)
        return COLL_ERR_MEMORY;
    (void)coll_engine_init(&run->engine, run->slots, COLL_WINDOW);
    return coll_engine_check(&run->task, COLL_WINDOW);
}

/* Measures a plan whose IN and OUT have options.largest bytes at most, and which uses no SHARED memory. margin_ns:
 * how long before they start together ranks are told so. COLL_ERR_CAPABILITY, on all ranks: one of them cannot run
 * it, and nothing was sent. */
COLL_INLINE coll_status coll_tune_time(coll_bench *b, const coll_plan *plan, const coll_op *op,
                                       double margin_ns, coll_estimate *is)
{
    coll_i_tune_run *run;
    double wrong;
    if (b->status != COLL_OK)
        return b->status;
    run = (coll_i_tune_run *)calloc(1, sizeof *run);
    wrong = run && coll_i_tune_run_init(run, b, plan, op) == COLL_OK ? 0 : 1;
    coll_bench_largest(b, &wrong, 1);
    coll_bench_tell(b, &wrong, 1);
    if (b->status == COLL_OK && wrong <= 0) {
        run->wait_ns = margin_ns;
        *is = coll_bench_measure(b, coll_i_tune_plan_round, &run, COLL_BENCH_SLOWEST);
    }
    if (run)
        free(run->task.scratch);
    free(run);
    return b->status == COLL_OK && wrong > 0 ? COLL_ERR_CAPABILITY : b->status;
}

/* What the machine's P-LogP says that the plan takes. An error of the simulator, or COLL_ERR_CAPABILITY: the machine
 * has no table. */
COLL_INLINE coll_status coll_tune_predict(const coll_machine_file *machine,
                                          const coll_plan *plan, double *ns)
{
    coll_cost_model model;
    coll_sim_options options;
    coll_sim sim;
    coll_status status;
    if (machine->plogp.n == 0)
        return COLL_ERR_CAPABILITY;
    coll_sim_plogp_init(&model, &machine->plogp);
    coll_sim_options_init(&options, &model);
    coll_sim_init(&sim);
    status = coll_sim_run(&sim, plan, false, &options);
    *ns = status == COLL_OK ? (double)sim.makespan / 1000 : 0;
    coll_sim_free(&sim);
    return status;
}

#endif /* COLL_LAB_TUNE_PLAN_TIMES_H */
