/* coll/lab/verify.h — proves one plan, or says what is wrong with it
 *
 *   coll_report report;
 *   if (coll_verify(&plan, NULL, &report) != COLL_PROVEN)
 *       puts(report.sentence);    // rank 3, step 1: the source is …, but OUT[5] was never written
 *
 * All p ranks are run symbolically: every element is an expression over the ranks' inputs. As
 * messages between two ranks keep their order and receives block, the run's result is that of
 * every interleaving. Checked are
 *   - each action: kind, peer, bounds of IN, OUT, SCRATCH and SHARED, writes to IN or to what
 *     must stay, reads of what nobody wrote, overlapping operands; each function: bounded, pure
 *   - messages: sizes; none left over, none waited for in vain; no deadlock with unbounded
 *     channels, and none with sends that wait for the receiver in a window of the plan's size,
 *     run by the real executor
 *   - results: every element, the exact set of contributions, their order where the operator
 *     does not commute, equal structure on all ranks (identical) and over all elements
 *     (reproducible)
 *   - NIC programs (options.nic): thresholds that are reached by what is needed and nothing else, in
 *     any order of completion; receives that are posted in time; the same results
 *   - crashes (options.crashes): wherever a rank stops, all others end, and those that end well have
 *     their results (docs/crashes.md)
 *   - barriers: every rank ends causally after every rank has entered; SHARED: no races; in
 *     both, a rank's own actions are ordered only as the executor orders them
 *
 * Hosted: needs malloc and stdio. A workspace keeps the memory for the next plan; each thread
 * needs its own.
 */
#ifndef COLL_LAB_VERIFY_H
#define COLL_LAB_VERIFY_H

#include "verify/crash.h"
#include "verify/nic_proof.h"
#include "verify/order.h"
#include "verify/result.h"
#include "verify/window_bound.h"

/* Memory that is kept from plan to plan. Zero it by coll_verifier_init, and release it by
 * coll_verifier_release. */
typedef struct coll_verifier {
    coll_i_data data;
    coll_i_world world;
    coll_i_order order;
    coll_i_fixed fixed;
    coll_i_nic_proof nic;
    coll_i_crash crash;
} coll_verifier;

enum {
    COLL_VERIFY_NO_WINDOW = 1, /* skip the runs of the executor */
    COLL_VERIFY_NO_PURITY = 2  /* ask each step once */
};

/* Zeroed, all of it is optional. */
typedef struct coll_verify_options {
    /* The plans of the ranks, where their tables differ; each pointer is valid until the next
     * call with the same rank. NULL: one plan for all. */
    const coll_plan *(*plan_of)(void *arg, uint32_t rank);
    void *arg;
    coll_verifier *verifier; /* NULL: memory for this call alone, and report.ranks is NULL */
    uint32_t skip;           /* COLL_VERIFY_NO_… */
    uint32_t window, sends;  /* where the search for the least ones starts */
    /* Not 0: the plan, a coll_sequence, stands for calls that follow each other and use SHARED in
     * turn. Nothing orders one call and another, but that a rank begins part i when all ranks are
     * done with the parts up to i − turns. Only races are looked for: what each call computes is
     * to be proven of its own plan, which reads nothing that it has not written. */
    uint32_t turns;
    /* What is asked for, where the plan numbers its ranks in another way
     * (plan/rank_order.h): rank r of the plan is rank coll_group_outer(&plan->group, r) of
     * this problem, which says what it has and what it is to get. NULL: the plan's own problem.
     * The report names the plan's ranks. */
    const coll_problem *asked;
    /* Not NULL: besides, the plan is lowered for a NIC of these limits, and the programs are proven. */
    const coll_nic_limits *nic;
    uint64_t *
        nic_random; /* not NULL: their run takes operations at random, by these numbers' state */
    /* Not 0: besides, so many ranks at most, 1 or 2, stop at any points of their programs (report.crash). For
     * plans of at most COLL_CRASH_RANKS ranks; two of them in plans of at most 8, which stop at points that are
     * drawn. */
    uint32_t crashes;
    uint64_t
        crash_work; /* the engines run at every point, if that is about so many actions or fewer */
    const uint32_t
        *node; /* with `asked`: whose SHARED each rank of it has; NULL: as in the plan */
} coll_verify_options;

/* A verifier without memory. */
COLL_INLINE void coll_verifier_init(coll_verifier *v)
{
    memset(v, 0, sizeof *v);
}

/* Frees the memory of a verifier. */
COLL_INLINE void coll_verifier_release(coll_verifier *v)
{
    coll_i_data_release(&v->data);
    coll_i_world_release(&v->world);
    coll_i_order_release(&v->order);
    coll_i_release(&v->fixed.structures);
    coll_i_nic_proof_release(&v->nic);
    coll_i_crash_release(&v->crash);
    coll_verifier_init(v);
}

/* Forgets the structures that reproducible algorithms had. Within one workspace they must be the
 * same for all plans of one algorithm, p and parameters, whatever root, count and flags are. */
COLL_INLINE void coll_verifier_forget(coll_verifier *v)
{
    v->fixed.algorithm = NULL;
    coll_i_structures_clear(&v->data.structures);
}

/* Adds up what the ranks did. */
COLL_INLINE void coll_i_sum_up(const coll_i_data *d, coll_report *report)
{
    coll_verify_count *total = &report->total, *most = &report->most;
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_verify_count *one = coll_i_count_at(d, rank);
        total->actions += one->actions;
        total->messages += one->messages;
        total->elements += one->elements;
        total->reduced += one->reduced;
        total->copied += one->copied;
        total->scratch += one->scratch;
        most->actions = one->actions > most->actions ? one->actions : most->actions;
        most->messages = one->messages > most->messages ? one->messages : most->messages;
        most->elements = one->elements > most->elements ? one->elements : most->elements;
        most->reduced = one->reduced > most->reduced ? one->reduced : most->reduced;
        most->copied = one->copied > most->copied ? one->copied : most->copied;
        most->scratch = one->scratch > most->scratch ? one->scratch : most->scratch;
        if (coll_i_rank_at(d, rank)->depth > report->rounds)
            report->rounds = coll_i_rank_at(d, rank)->depth;
    }
    report->messages = total->messages;
    report->bytes = total->elements * coll_i_rank_at(d, 0)->plan->problem.elem_bytes;
    report->ranks = (const coll_verify_count *)d->counts.at;
}

/* Proves the NIC programs of plans that were proven by themselves. */
COLL_INLINE bool coll_i_verify_nic(coll_verifier *v, const coll_i_plans *plans,
                                   const coll_verify_options *options, coll_i_check *check)
{
    if (!coll_i_data_begin(&v->data, plans, false, check->report) ||
        !coll_i_nic_prove(&v->nic, &v->data, options->nic, options->nic_random, check->report))
        return false;
    for (check->rank = 0; check->rank < v->data.p; check->rank++)
        if (!coll_i_check_result(check))
            return false;
    return !v->data.structures.out_of_memory || coll_i_no_memory(check->report);
}

COLL_INLINE bool coll_i_verify_with(coll_verifier *v, const coll_i_plans *plans,
                                    const coll_verify_options *options, coll_report *report)
{
    coll_i_check check;
    const coll_plan *plan = coll_i_plan_of(plans, 0);
    const bool barrier = plan->problem.collective == COLL_BARRIER;
    if (options->asked)
        v->fixed.algorithm = NULL; /* its order is one of other ranks */
    if (!coll_i_fixed_begin(&v->fixed, &v->data.structures, plan))
        return coll_i_no_memory(report);
    if (!coll_i_data_begin(&v->data, plans, !(options->skip & COLL_VERIFY_NO_PURITY), report) ||
        !coll_i_check_tables(&v->data, report))
        return false;
    if (coll_i_rank_at(&v->data, 0)->extent[COLL_SHARED] > 0 && !barrier &&
        !coll_i_check_order(&v->order, &v->data, false, options->turns, report))
        return false;
    if (options->turns)
        return true;
    if (!coll_i_data_run(&v->data, report))
        return false;
    coll_i_sum_up(&v->data, report);
    check.data = &v->data;
    check.fixed = &v->fixed;
    check.report = report;
    for (check.rank = 0; check.rank < v->data.p; check.rank++)
        if (!coll_i_check_result(&check))
            return false;
    if (v->data.structures.out_of_memory)
        return coll_i_no_memory(report);
    if (barrier && !coll_i_check_order(&v->order, &v->data, true, 0, report))
        return false;
    if (!(options->skip & COLL_VERIFY_NO_WINDOW) &&
        !coll_i_check_window(&v->world, &v->data, options->window, options->sends, report))
        return false;
    if (options->crashes &&
        !coll_i_check_crashes(&v->crash, &v->order, &v->world, &v->data, options->crashes,
                              options->crash_work, report))
        return false;
    return !options->nic || coll_i_verify_nic(v, plans, options, &check);
}

/* Proves a plan, or finds the first thing that is wrong with it. `plan` may be NULL where
 * options have plan_of; options may be NULL. Writes *report in any case, and returns
 * report->finding. Allocates. */
COLL_INLINE coll_finding coll_verify(const coll_plan *plan, const coll_verify_options *options,
                                     coll_report *report)
{
    coll_verify_options chosen;
    coll_verifier own;
    coll_i_plans plans;
    memset(&chosen, 0, sizeof chosen);
    if (options)
        chosen = *options;
    plans.plan = plan;
    plans.plan_of = chosen.plan_of;
    plans.arg = chosen.arg;
    plans.asked = chosen.asked;
    plans.node = chosen.asked ? chosen.node : NULL;
    memset(report, 0, sizeof *report);
    report->ok = true;
    report->step = COLL_NO_STEP;
    coll_verifier_init(&own);
    if (!coll_i_verify_with(chosen.verifier ? chosen.verifier : &own, &plans, &chosen, report))
        report->ok = false;
    if (report->ok) /* else the sentence says what was found, whatever was done after that */
        snprintf(report->sentence, sizeof report->sentence, "%s",
                 coll_finding_text(COLL_PROVEN));
    if (!chosen.verifier) {
        coll_verifier_release(&own);
        report->ranks = NULL;
    }
    return report->finding;
}

#endif /* COLL_LAB_VERIFY_H */
