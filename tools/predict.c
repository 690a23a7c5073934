/* tools/predict.c — see predict.h */
#include "predict.h"

#include <stdio.h>
#include <string.h>

#include "names.h"

/* Algorithms of messages alone, of all shapes: trees, chains, rings, butterflies. */
static const struct entry {
    coll_collective collective;
    const char *algorithm;
} entries[] = {{COLL_BARRIER, "dissemination"},
               {COLL_BCAST, "fnomial"},
               {COLL_BCAST, "chain"},
               {COLL_BCAST, "scatter_allgather"},
               {COLL_REDUCE, "fnomial"},
               {COLL_ALLREDUCE, "recursive_doubling"},
               {COLL_ALLREDUCE, "rabenseifner"},
               {COLL_ALLREDUCE, "ring"},
               {COLL_GATHER, "fnomial"},
               {COLL_SCATTER, "linear"},
               {COLL_ALLGATHER, "bruck"},
               {COLL_ALLGATHER, "ring"},
               {COLL_ALLTOALL, "pairwise"},
               {COLL_REDUCE_SCATTER_BLOCK, "recursive_halving"}};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

static const size_t sizes[] = {8, 1 << 10, 1 << 13, 1 << 16,
                               1 << 19}; /* bytes of a rank's vector */
enum { SIZES = sizeof sizes / sizeof sizes[0], SEGMENT = 1024 };

/* The vectors of these have a block for each rank. */
static bool in_blocks(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLGATHER) |
                       COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                   c);
}

/* false: there is no such plan for so many ranks. Of 0 bytes it has no messages, but in a barrier. */
static bool make(coll_plan *plan, const struct entry *entry, uint32_t p, size_t bytes)
{
    const size_t count = bytes / sizeof(double), block = count / p ? count / p : 1;
    coll_problem problem;
    coll_pick pick;
    algorithm_named(entry->collective, entry->algorithm, &pick);
    coll_problem_init(&problem, entry->collective, p,
                      in_blocks(entry->collective) ? block : count, sizeof(double));
    if (entry->collective == COLL_BARRIER || bytes == 0)
        problem.count = 0;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    for (uint32_t i = 0; i < pick.algorithm->n_params; i++) {
        const coll_param *row = &pick.algorithm->params[i];
        if (strcmp(row->name, "segment") == 0 && strcmp(entry->algorithm, "chain") == 0)
            pick.param[i] = SEGMENT; /* a chain is for segments */
        else if (pick.param[i] == COLL_DEFAULT)
            pick.param[i] = row->default_value;
    }
    return coll_plan_init(plan, pick.algorithm, &problem, pick.param) == COLL_OK;
}

/* Nanoseconds that a call takes beside its messages: those of one without any. */
static coll_status empty_call(coll_bench *b, const coll_machine_file *machine, double *ns)
{
    static const struct entry bcast = {COLL_BCAST, "fnomial"};
    coll_estimate is = {0, 0, 0, 0, 0};
    coll_plan plan;
    coll_status status = COLL_OK;
    if (make(&plan, &bcast, b->p, 0))
        status = coll_tune_time(b, &plan, NULL, coll_i_tune_margin(b, machine), &is);
    *ns = is.median;
    return status;
}

coll_status predict_check(coll_bench *b, const coll_machine_file *machine)
{
    double call = 0;
    coll_sample errors;
    coll_op op;
    coll_status status = coll_op_builtin(&op, COLL_SUM, COLL_F64);
    coll_sample_clear(&errors);
    coll_bench_clocks(b, NULL, b->options.within_ns / 200);
    b->deadline = coll_bench_now(b) + b->options.within_ns / 4;
    b->left = ENTRIES * SIZES + 1;
    if (status == COLL_OK)
        status = empty_call(b, machine, &call);
    if (b->rank == 0)
        printf("%-22s %-20s %9s %12s %12s %8s\n", "collective", "algorithm", "bytes",
               "measured us", "predicted us", "error");
    for (size_t i = 0; i < ENTRIES && status == COLL_OK; i++)
        for (size_t s = 0; s < SIZES && status == COLL_OK; s++) {
            const struct entry *e = &entries[i];
            coll_plan plan;
            coll_estimate is = {0, 0, 0, 0, 0};
            double ns, error;
            if ((e->collective == COLL_BARRIER && s > 0) || sizes[s] > b->options.largest ||
                !make(&plan, e, b->p, sizes[s]))
                continue;
            coll_bench_say(b, coll_collective_name(e->collective));
            status =
                coll_tune_time(b, &plan, coll_is(COLL_REDUCING, e->collective) ? &op : NULL,
                               coll_i_tune_margin(b, machine), &is);
            if (status == COLL_ERR_CAPABILITY)
                status = b->status; /* not here */
            if (b->rank > 0 || status != COLL_OK || is.n == 0 ||
                coll_tune_predict(machine, &plan, &ns) != COLL_OK || !(ns > 0))
                continue;
            ns += call;
            error = ns > is.median ? ns / is.median - 1 : is.median / ns - 1;
            coll_sample_add(&errors, error);
            printf("%-22s %-20s %9zu %12.4g %12.4g %+7.0f%%\n",
                   coll_collective_name(e->collective), e->algorithm,
                   e->collective == COLL_BARRIER ? (size_t)0 : sizes[s], is.median / 1000,
                   ns / 1000, 100 * (ns / is.median - 1));
        }
    if (b->rank == 0 && errors.n > 0) {
        const coll_estimate e = coll_sample_estimate(&errors);
        printf("median error %.0f%%, of a quarter of all %u above %.0f%%; predictions have the "
               "%.3g us of a call without messages\n",
               100 * e.median, e.n, 100 * coll_i_sample_quantile(&errors, .75), call / 1000);
    }
    return status;
}
