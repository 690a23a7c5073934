/* coll/lab/tune/tuner.h — which algorithm is the fastest where: simulated, then measured, most doubtful first
 *
 *   coll_tuner tuner;
 *   coll_tuner_init(&tuner, &bench, machine, algorithms, n);     // all ranks; machine: rank 0's
 *   coll_tuner_add(&tuner, &problem);                            // …
 *   status = coll_tuner_run(&tuner);
 *   … on rank 0: tuner.cell[i] … tuned_rules.h makes rules of them
 *   coll_tuner_free(&tuner);
 *
 * A cell is a problem. Of each one's candidates (candidates.h) rank 0 keeps those that the simulator finds near
 * the best, and the choice of the rules so far; all ranks measure these, in passes over all cells, as machines have
 * better and worse moments: a choice is judged by the median of its passes. Then, as long as there is time, those are
 * measured again that may turn out better than the best of their cell by more than `loss`: where that would
 * save most, first. All ranks do what rank 0 says.
 *
 * The filters of ATCOM (lab/model/atcom.h) leave out sizes of segments that no measurement of the machine
 * speaks for; here the simulator does that, for any parameter.
 *
 * Source: Wu 2005, section 4.6, for the order: micro-benchmarks, a model that filters, few measurements.
 */
#ifndef COLL_LAB_TUNE_TUNER_H
#define COLL_LAB_TUNE_TUNER_H

#include "candidates.h"

enum {
    COLL_TUNER_KEPT = 8,  /* candidates of a cell that are measured */
    COLL_I_TUNER_FEW = 8, /* repetitions that are a pass */
    COLL_I_TUNER_ALL = 6, /* passes in which all are measured */
    COLL_I_TUNER_TOLD = 8 /* numbers by which rank 0 says what is next */
};

/* A problem, and what is known of its candidates. */
typedef struct coll_tuner_cell {
    coll_problem problem;                /* what is to be done */
    coll_candidate one[COLL_TUNER_KEPT]; /* what is measured for it … */
    uint32_t n;                          /* … so many */
    uint32_t considered;                 /* candidates that were simulated */
} coll_tuner_cell;

/* All of it. */
typedef struct coll_tuner {
    coll_bench *bench;                       /* the caller's */
    const coll_machine_file *machine;        /* on rank 0 */
    const coll_algorithm *const *algorithms; /* of which one is chosen … */
    size_t n_algorithms;                     /* … so many */
    const coll_rule_list *rules;             /* that hold so far: the built-in ones */
    coll_tuner_cell *cell;                   /* problems … */
    uint32_t n, room; /* … so many, of so many that there is memory for */
    double near;      /* candidates within so many times the best prediction are kept */
    double loss;      /* so much more time than the best takes does not matter */
    double margin_ns; /* before ranks start together */
    double left;      /* what may still be gained somewhere, as a part; after coll_tuner_run */
    bool in_time;     /* all was measured before the time was over */
    /* On rank 0: adds the passes that are known from before (coll_candidate_pass). NULL: none are. */
    void (*known)(void *arg, const coll_tuner_cell *cell, coll_candidate *one);
    /* On rank 0: a pass took so many ns. NULL: nobody listens. */
    void (*measured)(void *arg, const coll_tuner_cell *cell, const coll_candidate *one,
                     double ns);
    void *arg;
} coll_tuner;

/* On all ranks; `algorithms` are the same and in the same order. A loss of 2 %. */
COLL_INLINE void coll_tuner_init(coll_tuner *t, coll_bench *bench,
                                 const coll_machine_file *machine,
                                 const coll_algorithm *const *algorithms, size_t n)
{
    memset(t, 0, sizeof *t);
    t->bench = bench;
    t->machine = machine;
    t->algorithms = algorithms;
    t->n_algorithms = n;
    t->rules = &coll_rules_built_in;
    t->near = 1.5;
    t->loss = .02;
}

/* Frees its memory. */
COLL_INLINE void coll_tuner_free(coll_tuner *t)
{
    free(t->cell);
    t->cell = NULL;
    t->n = t->room = 0;
}

/* One more problem, of the bench's ranks. */
COLL_INLINE coll_status coll_tuner_add(coll_tuner *t, const coll_problem *problem)
{
    if (t->n == t->room) {
        const uint32_t room = t->room ? 2 * t->room : 64;
        coll_tuner_cell *moved = (coll_tuner_cell *)realloc(t->cell, room * sizeof *t->cell);
        if (!moved)
            return COLL_ERR_MEMORY;
        t->cell = moved;
        t->room = room;
    }
    memset(&t->cell[t->n], 0, sizeof t->cell[0]);
    t->cell[t->n++].problem = *problem;
    return COLL_OK;
}

/* The fastest candidate that is measured, or else as predicted; cell->n: there is none. */
COLL_INLINE uint32_t coll_tuner_best(const coll_tuner_cell *cell)
{
    uint32_t best = cell->n;
    bool measured = false;
    for (uint32_t i = 0; i < cell->n; i++) {
        const coll_candidate *one = &cell->one[i];
        const bool is = one->is.n > 0;
        if (one->fails || (!is && (measured || one->predicted_ns < 0)))
            continue;
        if (best == cell->n || (is && !measured) ||
            (is ? one->is.median < cell->one[best].is.median
                : one->predicted_ns < cell->one[best].predicted_ns))
            best = i;
        measured = measured || is;
    }
    return best;
}

/* How much less time than the best one another may take, as a part; *which. */
COLL_INLINE double coll_tuner_doubt(const coll_tuner_cell *cell, uint32_t *which)
{
    const uint32_t best = coll_tuner_best(cell);
    double most = 0;
    *which = best;
    if (best == cell->n || cell->one[best].is.n == 0)
        return 0;
    for (uint32_t i = 0; i < cell->n; i++) {
        const coll_candidate *one = &cell->one[i];
        const double gain = 1 - one->is.low / cell->one[best].is.median;
        if (i == best || one->fails || one->is.n == 0 || gain <= most)
            continue;
        most = gain;
        *which = i;
    }
    return most;
}

/* ---- on rank 0: what is next --------------------------------------------------------------- */

/* Simulates the candidates of all cells, and keeps the best. */
COLL_INLINE coll_status coll_i_tuner_plan(coll_tuner *t)
{
    coll_candidates *all = (coll_candidates *)malloc(sizeof *all);
    if (!all)
        return COLL_ERR_MEMORY;
    for (uint32_t c = 0; c < t->n; c++) {
        coll_tuner_cell *cell = &t->cell[c];
        coll_bench_say(t->bench, coll_collective_name(cell->problem.collective));
        coll_candidates_find(all, t->rules, t->algorithms, t->n_algorithms, &cell->problem, 0);
        cell->considered = all->n;
        coll_candidates_predict(all, t->machine);
        coll_candidates_keep(all, t->near, COLL_TUNER_KEPT);
        cell->n = all->n;
        memcpy(cell->one, all->one, all->n * sizeof all->one[0]);
        for (uint32_t i = 0; i < cell->n && t->known; i++)
            t->known(t->arg, cell, &cell->one[i]);
    }
    free(all);
    return COLL_OK;
}

/* The next candidate that has too few passes; *c goes through the cells, pass by pass. */
COLL_INLINE coll_candidate *coll_i_tuner_first(coll_tuner *t, uint32_t *c)
{
    for (; *c < t->n * COLL_I_TUNER_ALL; ++*c) {
        coll_tuner_cell *cell = &t->cell[*c % t->n];
        for (uint32_t i = 0; i < cell->n; i++)
            if (cell->one[i].is.n <= *c / t->n && !cell->one[i].fails)
                return &cell->one[i];
    }
    return NULL;
}

/* The one that is most in doubt, or the best one that it is compared with; NULL: none is. */
COLL_INLINE coll_candidate *coll_i_tuner_doubtful(coll_tuner *t, uint32_t *c)
{
    coll_candidate *found = NULL;
    t->left = t->loss;
    for (uint32_t i = 0; i < t->n; i++) {
        coll_tuner_cell *cell = &t->cell[i];
        uint32_t rival;
        const double doubt = coll_tuner_doubt(cell, &rival);
        const uint32_t best = coll_tuner_best(cell);
        coll_candidate *one;
        if (doubt <= t->left)
            continue;
        one = cell->one[best].is.n <= cell->one[rival].is.n ? &cell->one[best]
                                                            : &cell->one[rival];
        if (one->is.n == COLL_CANDIDATE_PASSES)
            continue; /* more passes do not tell them apart */
        t->left = doubt;
        found = one;
        *c = i;
    }
    return found;
}

COLL_INLINE uint32_t coll_i_tuner_missing(const coll_tuner *t)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < t->n; c++)
        for (uint32_t i = 0; i < t->cell[c].n; i++)
            if (t->cell[c].one[i].is.n < COLL_I_TUNER_ALL && !t->cell[c].one[i].fails)
                n += COLL_I_TUNER_ALL - t->cell[c].one[i].is.n;
    return n;
}

/* ---- all ranks ------------------------------------------------------------------------------ */

/* Measures what rank 0 says, which has it in its cell. */
COLL_INLINE coll_status coll_i_tuner_measure(coll_tuner *t, const coll_problem *problem,
                                             const double *told, coll_estimate *is)
{
    coll_bench *b = t->bench;
    const coll_algorithm *algorithm = t->algorithms[(size_t)told[1]];
    uint32_t param[COLL_PARAM_MAX];
    coll_plan plan;
    coll_op op;
    coll_status status = coll_op_builtin(&op, COLL_SUM, COLL_F64);
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++)
        param[i] = (uint32_t)told[2 + i];
    b->options.least = b->options.most = (uint32_t)told[6];
    if (status == COLL_OK)
        status = coll_plan_init(&plan, algorithm, problem, param);
    if (status == COLL_OK)
        status = coll_tune_time(
            b, &plan, coll_is(COLL_REDUCING, problem->collective) ? &op : NULL, told[7], is);
    return status;
}

/* Where the candidate's algorithm is among all; names are those of a collective. */
COLL_INLINE size_t coll_i_tuner_index(const coll_tuner *t, const coll_problem *problem,
                                      const coll_algorithm *algorithm)
{
    size_t i = 0;
    while (i < t->n_algorithms &&
           !(coll_is(t->algorithms[i]->collectives, problem->collective) &&
             strcmp(t->algorithms[i]->name, algorithm->name) == 0))
        i++;
    return i;
}

/* Decides what is next, on rank 0: told[0] is the cell, or t->n: it is done. */
COLL_INLINE coll_candidate *coll_i_tuner_next(coll_tuner *t, uint32_t *first, double *told)
{
    coll_bench *b = t->bench;
    uint32_t c = 0;
    coll_candidate *one = coll_i_tuner_first(t, first);
    t->in_time = coll_bench_now(b) < b->deadline;
    told[0] = t->n;
    if (one) {
        c = *first % t->n;
        b->left = coll_i_tuner_missing(t);
    } else {
        one = coll_i_tuner_doubtful(t, &c);
        b->left = 1;
    }
    if (!one || !t->in_time)
        return NULL;
    told[0] = c;
    told[1] = (double)coll_i_tuner_index(t, &t->cell[c].problem, one->algorithm);
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++)
        told[2 + i] = one->param[i];
    told[6] = COLL_I_TUNER_FEW;
    told[7] = t->margin_ns;
    return one;
}

/* Measures until the answers are sure, or the bench's time is over. On rank 0 the cells have them. */
COLL_INLINE coll_status coll_tuner_run(coll_tuner *t)
{
    coll_bench *b = t->bench;
    double told[COLL_I_TUNER_TOLD] = {0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t first = 0;
    coll_status status = COLL_OK;
    if (b->rank == 0) {
        status = coll_i_tuner_plan(t);
        t->margin_ns = coll_i_tune_margin(b, t->machine);
    }
    told[0] = status;
    coll_bench_tell(b, told, 1);
    if (told[0] < 0 || b->status != COLL_OK)
        return told[0] < 0 ? (coll_status)(int)told[0] : b->status;
    coll_bench_clocks(b, NULL, b->options.within_ns / 200);
    while (b->status == COLL_OK) {
        coll_candidate *one = b->rank == 0 ? coll_i_tuner_next(t, &first, told) : NULL;
        coll_estimate is = {0, 0, 0, 0, 0};
        uint32_t c;
        coll_bench_tell(b, told, COLL_I_TUNER_TOLD);
        if (b->status != COLL_OK || told[0] >= t->n)
            break;
        c = (uint32_t)told[0];
        coll_bench_say(b, coll_collective_name(t->cell[c].problem.collective));
        status = coll_i_tuner_measure(t, &t->cell[c].problem, told, &is);
        if (status != COLL_OK && b->status != COLL_OK)
            break;
        if (!one)
            continue;
        one->fails = status != COLL_OK || is.n == 0;
        if (!one->fails)
            coll_candidate_pass(one, is.median);
        if (!one->fails && t->measured)
            t->measured(t->arg, &t->cell[c], one, is.median);
    }
    return b->status;
}

#endif /* COLL_LAB_TUNE_TUNER_H */
