/* coll/lab/tune/candidates.h — what a tuner has to choose from: algorithms and parameters for one problem
 *
 *   coll_candidates all;
 *   coll_candidates_find(&all, &coll_rules_built_in, algorithms, n, &problem, 0);
 *   coll_candidates_predict(&all, machine);
 *   coll_candidates_keep(&all, 1.5, 8);                         // those that are near the best
 *
 * Every algorithm for the collective is one, with each of its parameters at the default value, at its least, and
 * at powers of two; pieces of a vector are of 4 KiB to 1 MiB, and shorter than it. Those that a plan refuses are
 * none. Composite algorithms, and those that need the network's help or a node's memory, hold for a place, not for a
 * transport: they are among them if the caller has what they need.
 */
#ifndef COLL_LAB_TUNE_CANDIDATES_H
#define COLL_LAB_TUNE_CANDIDATES_H

#include "../../select.h"
#include "../../select/table_words.h"
#include "plan_times.h"

enum {
    COLL_CANDIDATES_MOST = 256, /* of one problem */
    COLL_CANDIDATE_PASSES = 32, /* in which one is measured, at most */
    COLL_I_CANDIDATE_VALUES = 8 /* of one parameter */
};

/* One choice, and what is known of it. */
typedef struct coll_candidate {
    const coll_algorithm *algorithm;
    uint32_t param[COLL_PARAM_MAX];     /* in elements, where the parameter is a size */
    double predicted_ns;                /* < 0: the simulator does not say */
    double pass[COLL_CANDIDATE_PASSES]; /* ns, each the median of a pass of measurements */
    coll_estimate is;                   /* the median of those; is.n 0: there are none yet */
    bool by_rules;                      /* the rules choose it */
    bool fails;                         /* the transport cannot run it */
} coll_candidate;

/* The choices for a problem. */
typedef struct coll_candidates {
    coll_problem problem;                     /* what is to be done */
    coll_candidate one[COLL_CANDIDATES_MOST]; /* its choices … */
    uint32_t n;                               /* … so many */
} coll_candidates;

COLL_INLINE bool coll_i_candidate_is(const coll_candidate *one, const coll_algorithm *algorithm,
                                     const uint32_t *param)
{
    bool same = strcmp(one->algorithm->name, algorithm->name) == 0;
    for (uint32_t i = 0; same && i < algorithm->n_params; i++)
        same = one->param[i] == param[i];
    return same;
}

/* Adds a choice, if it makes a plan and is not there. */
COLL_INLINE void coll_i_candidate_add(coll_candidates *all, const coll_algorithm *algorithm,
                                      const uint32_t *param, bool by_rules)
{
    coll_candidate *one;
    coll_plan plan;
    for (uint32_t i = 0; i < all->n; i++)
        if (coll_i_candidate_is(&all->one[i], algorithm, param)) {
            all->one[i].by_rules = all->one[i].by_rules || by_rules;
            return;
        }
    if (all->n == COLL_CANDIDATES_MOST ||
        ((algorithm->traits & COLL_NEEDS_BUILD) == 0 &&
         coll_plan_init(&plan, algorithm, &all->problem, param) != COLL_OK))
        return;
    one = &all->one[all->n++];
    memset(one, 0, sizeof *one);
    one->algorithm = algorithm;
    memcpy(one->param, param, sizeof one->param);
    one->predicted_ns = -1;
    one->by_rules = by_rules;
}

/* The values of a parameter that are tried, the default one first. */
COLL_INLINE uint32_t coll_i_candidate_values(const coll_candidates *all, const coll_param *row,
                                             uint32_t *values)
{
    const size_t elem = all->problem.elem_bytes, bytes = coll_problem_bytes(&all->problem);
    uint32_t n = 0;
    values[n++] = row->default_value;
    if (coll_param_is_size(row)) {
        for (size_t piece = 4096; piece <= (size_t)1 << 20 && piece < bytes; piece *= 4)
            values[n++] = (uint32_t)(piece / elem);
        return n;
    }
    for (uint32_t value = row->least; n < COLL_I_CANDIDATE_VALUES && value <= row->most;
         value = value < 2 ? value + 1 : 2 * value) {
        if (value > all->problem.p && value > row->least)
            break;
        if (value != row->default_value)
            values[n++] = value;
    }
    return n;
}

/* All values of all parameters from the k-th on. */
COLL_INLINE void coll_i_candidates_vary(coll_candidates *all, const coll_algorithm *algorithm,
                                        uint32_t k, uint32_t *param)
{
    uint32_t values[COLL_I_CANDIDATE_VALUES], n;
    if (k == algorithm->n_params) {
        coll_i_candidate_add(all, algorithm, param, false);
        return;
    }
    n = coll_i_candidate_values(all, &algorithm->params[k], values);
    for (uint32_t i = 0; i < n; i++) {
        param[k] = values[i];
        coll_i_candidates_vary(all, algorithm, k + 1, param);
    }
}

/* Finds all choices for a problem among the algorithms; what the rules say is the first. `capabilities`: those of
 * COLL_NEEDS_SHARED, COLL_NEEDS_MULTICAST, COLL_NEEDS_NETWORK_REDUCE and COLL_NEEDS_NETWORK_BARRIER that the ranks have, and
 * COLL_NEEDS_BUILD where the caller makes plans of composite algorithms, for each rank its own. */
COLL_INLINE void coll_candidates_find(coll_candidates *all, const coll_rule_list *rules,
                                      const coll_algorithm *const *algorithms, size_t n,
                                      const coll_problem *problem, unsigned capabilities)
{
    static const coll_conditions conditions = {0, 0};
    const coll_rule *rule;
    const unsigned needs = COLL_NEEDS_BUILD | COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST |
                           COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_NETWORK_BARRIER |
                           COLL_NEEDS_ROUTE;
    uint32_t param[COLL_PARAM_MAX] = {0, 0, 0, 0};
    coll_plan plan;
    all->problem = *problem;
    all->n = 0;
    if (coll_select_from(rules, problem, &conditions, NULL, &plan, &rule) == COLL_OK)
        coll_i_candidate_add(all, plan.algorithm, plan.param, true);
    for (size_t i = 0; i < n; i++) {
        if (!coll_is(algorithms[i]->collectives, problem->collective) ||
            (algorithms[i]->traits & needs & ~capabilities) != 0)
            continue;
        memset(param, 0, sizeof param);
        coll_i_candidates_vary(all, algorithms[i], 0, param);
    }
}

/* The plan of a choice. */
COLL_INLINE coll_status coll_candidate_plan(const coll_candidates *all, uint32_t i,
                                            coll_plan *plan)
{
    return coll_plan_init(plan, all->one[i].algorithm, &all->problem, all->one[i].param);
}

/* Asks the simulator what each takes on a calibrated machine. */
COLL_INLINE void coll_candidates_predict(coll_candidates *all, const coll_machine_file *machine)
{
    for (uint32_t i = 0; i < all->n; i++) {
        coll_plan plan;
        double ns;
        if (coll_candidate_plan(all, i, &plan) == COLL_OK &&
            coll_tune_predict(machine, &plan, &ns) == COLL_OK)
            all->one[i].predicted_ns = ns;
    }
}

/* Adds a pass: ns in the median of it. */
COLL_INLINE void coll_candidate_pass(coll_candidate *one, double ns)
{
    coll_sample sample;
    if (one->is.n == COLL_CANDIDATE_PASSES)
        return;
    one->pass[one->is.n] = ns;
    coll_sample_clear(&sample);
    for (uint32_t i = 0; i <= one->is.n; i++)
        coll_sample_add(&sample, one->pass[i]);
    one->is = coll_sample_estimate(&sample);
}

/* Which of two is to be preferred as far as is predicted? */
COLL_INLINE int coll_i_candidate_order(const void *a, const void *b)
{
    const coll_candidate *x = (const coll_candidate *)a, *y = (const coll_candidate *)b;
    if (x->by_rules != y->by_rules)
        return x->by_rules ? -1 : 1;
    return x->predicted_ns < y->predicted_ns ? -1 : x->predicted_ns > y->predicted_ns;
}

/* Does the simulator see no difference between it and one that is kept, of the same algorithm? */
COLL_INLINE bool coll_i_candidate_repeats(const coll_candidates *all, uint32_t kept,
                                          const coll_candidate *one)
{
    for (uint32_t i = 0; i < kept; i++)
        if (all->one[i].algorithm == one->algorithm && one->predicted_ns >= 0 &&
            fabs(all->one[i].predicted_ns - one->predicted_ns) <= 1e-6 * one->predicted_ns)
            return true;
    return false;
}

/* Keeps the choice of the rules, and those that are predicted within `near` times the best one, `most`
 * in all; one of those of an algorithm that are predicted alike. */
COLL_INLINE void coll_candidates_keep(coll_candidates *all, double near, uint32_t most)
{
    double best = HUGE_VAL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->one[i].predicted_ns >= 0 && all->one[i].predicted_ns < best)
            best = all->one[i].predicted_ns;
    qsort(all->one, all->n, sizeof all->one[0], coll_i_candidate_order);
    for (uint32_t i = 0; i < all->n && kept < most; i++) {
        const coll_candidate one = all->one[i];
        if (one.by_rules || (one.predicted_ns >= 0 && one.predicted_ns <= near * best &&
                             !coll_i_candidate_repeats(all, kept, &one)))
            all->one[kept++] = one;
    }
    all->n = kept;
}

#endif /* COLL_LAB_TUNE_CANDIDATES_H */
