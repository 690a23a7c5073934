/* coll/lab/verify/row.h — the proof of a row: all its cases of so many ranks, and what only all
 * of them show
 *
 * A row is an algorithm and a collective that it solves. Use lab/verify_grid.h, which says what
 * is combined.
 */
#ifndef COLL_LAB_VERIFY_ROW_H
#define COLL_LAB_VERIFY_ROW_H

#include "expect.h"
#include "outside.h"
#include "reproduction.h"

/* What has been proven of an algorithm for a collective. */
typedef struct coll_grid_row {
    const coll_algorithm *algorithm;
    coll_collective collective;
    uint64_t plans, refused; /* proven; refused by coll_plan_build, as they may be */
    uint64_t actions;        /* of the proven plans */
    uint32_t p_most;         /* the most ranks of a proven plan */
    uint32_t window, sends;  /* the least ones that suffice for all of them */
    uint64_t nic_plans;      /* of which NIC programs were proven, too */
    coll_nic_needs nic;      /* the most of any NIC program, each for itself … */
    size_t nic_bytes;        /* … and of one that is packed */
    coll_crash_count crash;  /* of crashes: sums, and the most rounds of any plan */
    coll_report report;      /* of the first plan that failed; else ok */
    coll_grid_case failed;   /* … which is this one, */
    char reproduction[256];  /* in words */
} coll_grid_row;

/* How far the work is. */
typedef struct coll_grid_progress {
    size_t done, units;       /* units of work: a row and a p */
    uint64_t plans;           /* proven so far */
    const coll_grid_row *row; /* of the unit that was done last */
    uint32_t p;
} coll_grid_progress;

/* What to prove, by how many threads, and whom to tell. */
typedef struct coll_grid_options {
    const coll_algorithm *const *algorithms; /* which algorithms */
    size_t n_algorithms;
    uint32_t collectives; /* mask of COLL_BIT */
    uint32_t p_least, p_most;
    uint32_t all_roots;       /* all roots up to this p */
    uint32_t random;          /* larger p for each row … */
    uint32_t random_most;     /* … up to this one */
    uint64_t steps, elements; /* the most of one of these; a smaller p is taken to keep it */
    uint64_t seed;
    uint64_t work; /* of a row and a p, as coll_i_grid_cost counts it; UINT64_MAX: … */
    uint32_t all;  /* … all combinations; up to this p eight times as much */
    const coll_nic_limits *nic; /* not NULL: as of coll_verify_options */
    uint32_t crashes;           /* as of coll_verify_options … */
    uint64_t crash_work;   /* … of all plans of a row and a p; one of them is always run */
    coll_grid_pool inside; /* what may be used inside; none: the default ones alone */
    const coll_binding *bindings; /* not none: all that is used inside */
    uint32_t n_bindings;
    uint32_t workers; /* threads, this one included */
    /* Called one at a time, from any worker; may be NULL. `row`: a row is finished. */
    void (*progress)(void *arg, const coll_grid_progress *progress);
    void (*row)(void *arg, const coll_grid_row *row); /* see progress */
    /* Called with each case, by all workers at the same time; may be NULL. See coll_grid_worker. */
    void (*each)(void *arg, const coll_grid_worker *worker, const coll_grid_case *of,
                 coll_status status);
    void *arg;
} coll_grid_options;

/* The everyday run: all collectives, p ≤ 64, all roots up to 24, three larger p up to 4096, one
 * worker. For the exhaustive one set all_roots = UINT32_MAX. */
COLL_INLINE void coll_grid_options_init(coll_grid_options *options,
                                        const coll_algorithm *const *algorithms, size_t n)
{
    memset(options, 0, sizeof *options);
    options->algorithms = algorithms;
    options->n_algorithms = n;
    options->collectives = (uint32_t)COLL_BIT(COLL_COLLECTIVES) - 1;
    options->p_least = 1;
    options->p_most = 64;
    options->all_roots = 24;
    options->work = 300000;
    options->all = 8;
    options->random = 3;
    options->random_most = 4096;
    options->steps = 100000;
    options->elements = 5000000;
    options->seed = 1;
    options->crash_work = 1000000;
    options->workers = 1;
}

/* ---- cases ------------------------------------------------------------------------------- */

/* Notes that a case failed. False. */
COLL_INLINE bool coll_i_grid_failed(const coll_grid_case *of, coll_grid_row *row)
{
    row->failed = *of;
    coll_grid_case_words(of, row->reproduction, sizeof row->reproduction);
    return false;
}

/* Is a status what the case's traits make one expect? */
COLL_INLINE bool coll_i_grid_check_status(const coll_grid_worker *worker,
                                          const coll_grid_case *of, coll_status status,
                                          coll_grid_row *row)
{
    coll_grid_expected expected;
    if (status == COLL_ERR_MEMORY) {
        coll_i_no_memory(&row->report);
        return coll_i_grid_failed(of, row);
    }
    expected = coll_i_grid_expect(worker, of);
    if (coll_i_grid_is_expected(&expected, status))
        return true;
    if (expected.must)
        coll_i_found(&row->report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,
                     "coll_plan_build must refuse this with \"%s\" and says \"%s\"",
                     coll_status_text(coll_i_grid_first_expected(&expected)),
                     coll_status_text(status));
    else
        coll_i_found(&row->report, COLL_FOUND_REFUSED, 0, COLL_NO_STEP,
                     "coll_plan_build says \"%s\", but no trait forbids this",
                     coll_status_text(status));
    return coll_i_grid_failed(of, row);
}

/* What the proof of a case will cost, in about the time of an element. Its plans are made. */
COLL_INLINE uint64_t coll_i_grid_cost(coll_grid_worker *worker, const coll_grid_case *of,
                                      uint64_t most)
{
    const uint64_t step = of->algorithm->traits & COLL_NEEDS_SHARED ? 128 : 32;
    uint64_t cost = 0;
    for (uint32_t rank = 0; rank < of->p && cost <= most; rank++) {
        const coll_plan *plan = coll_i_grid_plan_of(worker, rank);
        const coll_extents extents = coll_plan_extents(plan, rank);
        cost += 64 + step * coll_plan_steps(plan, rank) + extents.in + extents.out +
                coll_plan_scratch(plan, rank);
    }
    return cost;
}

/* The most of two NIC programs, each for itself. */
COLL_INLINE void coll_i_grid_nic_most(coll_nic_needs *most, const coll_nic_needs *other)
{
    most->ops = other->ops > most->ops ? other->ops : most->ops;
    most->counters = other->counters > most->counters ? other->counters : most->counters;
    most->receives = other->receives > most->receives ? other->receives : most->receives;
    most->actions = other->actions > most->actions ? other->actions : most->actions;
}

/* Adds up what was found of crashes. */
COLL_INLINE void coll_i_grid_crash_add(coll_crash_count *sum, const coll_crash_count *one)
{
    sum->plans += one->plans;
    sum->several += one->several;
    sum->uniform += one->uniform;
    sum->points += one->points;
    sum->all += one->all;
    sum->some += one->some;
    sum->none += one->none;
    sum->runs += one->runs;
    sum->leftovers += one->leftovers;
    sum->rounds = one->rounds > sum->rounds ? one->rounds : sum->rounds;
}

/* Proves a case and counts it, and takes what it costs from *left. One that costs more than `most` is
 * left out, unless it is the first of its unit. False: it failed. */
COLL_INLINE bool coll_i_grid_case(coll_grid_worker *worker, const coll_grid_case *of,
                                  uint64_t most, uint64_t *left, coll_grid_row *row)
{
    coll_report *report = &row->report;
    const coll_status status = coll_i_grid_plans(worker, of);
    const uint64_t cost = status == COLL_OK ? coll_i_grid_cost(worker, of, most) : of->p;
    *left -= cost < *left ? cost : *left;
    if (!coll_i_grid_check_status(worker, of, status, row))
        return false;
    if (status == COLL_OK && cost > most && row->plans > 0)
        return true;
    if (worker->each)
        worker->each(worker->arg, worker, of, status);
    if (status != COLL_OK) {
        row->refused++;
        return true;
    }
    coll_i_grid_prove_plans(worker, of, row->window, row->sends, report);
    if (!report->ok)
        return coll_i_grid_failed(of, row);
    row->plans++;
    row->actions += report->total.actions;
    row->window = report->window > row->window ? report->window : row->window;
    row->sends = report->sends > row->sends ? report->sends : row->sends;
    row->nic_plans += report->nic.ops > 0 ? 1 : 0;
    coll_i_grid_nic_most(&row->nic, &report->nic);
    row->nic_bytes = report->nic_bytes > row->nic_bytes ? report->nic_bytes : row->nic_bytes;
    coll_i_grid_crash_add(&row->crash, &report->crash);
    row->p_most = of->p > row->p_most ? of->p : row->p_most;
    return true;
}

/* A case of a row and so many ranks. */
COLL_INLINE void coll_i_grid_begin(const coll_grid_options *options, const coll_grid_row *row,
                                   uint32_t p, coll_grid_case *of)
{
    coll_grid_case_init(of, row->algorithm, row->collective, p);
    of->bindings = options->bindings;
    of->n_bindings = options->n_bindings;
}

/* What a trait forbids must be refused: operators that do not commute, and in place. */
COLL_INLINE bool coll_i_grid_refusals(coll_grid_worker *worker, coll_grid_case *of,
                                      coll_grid_row *row)
{
    const bool reduces = coll_is(COLL_REDUCING, of->collective);
    const uint32_t commutes = reduces ? COLL_FLAG_COMMUTATIVE : 0;
    const uint32_t flags[] = {0, COLL_FLAG_IN_PLACE, commutes, commutes | COLL_FLAG_IN_PLACE};
    for (uint32_t i = 0; i < 4; i++) {
        of->flags = flags[i];
        if (of->collective == COLL_BARRIER && of->flags)
            continue;
        if (!coll_i_grid_check_status(worker, of, coll_i_grid_plans(worker, of), row))
            return false;
    }
    return true;
}

/* Sets parameters, count or layout, flags and root at random. */
COLL_INLINE void coll_i_grid_any(coll_grid_worker *worker, coll_grid_case *of)
{
    uint32_t k = 0;
    while (coll_i_grid_params(of, k + 1))
        k++;
    coll_i_grid_params(of, coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_shape(of, k + 1); k++)
        ;
    coll_i_grid_shape(of, coll_i_grid_random(worker, k + 1));
    for (k = 0; coll_i_grid_flags(of, k + 1); k++)
        ;
    coll_i_grid_flags(of, coll_i_grid_random(worker, k + 1));
    of->root = coll_is(COLL_ROOTED, of->collective) ? coll_i_grid_random(worker, of->p) : 0;
}

/* Groups and places of a row and a p. Where an algorithm computes on groups, and p is small: all of
 * them, with all parameters and flags and two counts or layouts. Else what there is beside each is at
 * random, and for larger p the group, too. */
COLL_INLINE bool coll_i_grid_outside(coll_grid_worker *worker, coll_grid_case *of,
                                     uint64_t most, coll_grid_row *row)
{
    const bool computes = coll_i_grid_machine(of->algorithm) < COLL_PARAM_MAX;
    const uint32_t apart = of->p <= 2 * COLL_I_GRID_MACHINE ? 1 : computes ? 4 : 2;
    uint64_t left = UINT64_MAX;
    worker->skip = COLL_VERIFY_NO_PURITY;
    coll_i_grid_on_nodes(of, 0);
    for (uint32_t params = 0; computes && apart == 1 && coll_i_grid_params(of, params);
         params++)
        for (uint32_t shape = 1; coll_i_grid_shape(of, shape) && shape <= 2; shape++)
            for (uint32_t flags = 0; coll_i_grid_flags(of, flags); flags++)
                for (uint32_t group = 0; coll_i_grid_group(worker, of, group); group++)
                    if (!coll_i_grid_case(worker, of, most, &left, row))
                        return false;
    for (uint32_t group = of->p % apart; coll_i_grid_group(worker, of, group); group += apart) {
        coll_i_grid_any(worker, of);
        if (!computes)
            coll_i_grid_shape(of, of->collective == COLL_BARRIER ? 0 : 1);
        coll_i_grid_group(worker, of, group);
        if (!coll_i_grid_case(worker, of, most, &left, row))
            return false;
    }
    coll_i_grid_group_set(of, COLL_GRID_NO_GROUP, 0, 0);
    for (uint32_t k = 0; k < 15 / apart; k++) { /* three of each kind, or one or two */
        coll_i_grid_any(worker, of);
        if (!coll_i_grid_scatters(of))
            break;
        coll_i_grid_placing(worker, of, (k + of->p) % 5);
        if (!coll_i_grid_case(worker, of, most, &left, row))
            return false;
    }
    of->places.kind = COLL_GRID_NO_PLACES;
    return true;
}

/* All combinations of a row and a p, or as many as there is work for: some settings, so many that
 * every value of every axis is in one, and for each of them some requests. */
COLL_INLINE bool coll_i_grid_all(coll_grid_worker *worker, const coll_grid_options *options,
                                 uint32_t p, coll_grid_row *row)
{
    enum { LEAST = 2, SETTINGS = 32, MANY = 8, ABOUT = 256 /* cost of a rank */ };
    const uint32_t times = p <= options->all ? MANY : 1;
    const bool all = options->work == UINT64_MAX;
    const uint64_t most = all ? UINT64_MAX : 2 * options->work;
    uint64_t left = all ? UINT64_MAX : options->work * times;
    coll_grid_axes axes;
    coll_grid_walk settings, requests;
    coll_grid_case of;
    coll_i_grid_begin(options, row, p, &of);
    coll_i_axes_make(&axes, worker, &of, options->all_roots);
    if (!coll_i_grid_refusals(worker, &of, row))
        return false;
    coll_i_walk_init(&settings, &axes, 0, COLL_AXES_OF_SETTING,
                     all ? UINT64_MAX : (uint64_t)SETTINGS * times);
    while ((left > 0 || settings.done < settings.longest) &&
           coll_i_walk_next(&settings, &axes, worker, &of)) {
        const uint64_t others = left - left / (settings.wanted - settings.done + 1);
        coll_i_walk_init(&requests, &axes, COLL_AXES_OF_SETTING, COLL_AXES, UINT64_MAX);
        requests.plain = requests.all * settings.wanted * p * ABOUT < left;
        while ((left > others || requests.done < LEAST) &&
               coll_i_walk_next(&requests, &axes, worker, &of)) {
            worker->skip = requests.done > 2 ? COLL_VERIFY_NO_PURITY : 0;
            if (!coll_i_grid_case(worker, &of, most, &left, row))
                return false;
        }
    }
    coll_i_grid_begin(options, row, p, &of);
    return coll_i_grid_outside(worker, &of, most, row);
}

/* Is the case within the budget? Its plans are made. */
COLL_INLINE bool coll_i_grid_affordable(const coll_grid_worker *worker,
                                        const coll_grid_case *of,
                                        const coll_grid_options *options)
{
    uint64_t steps = 0, elements = 0;
    for (uint32_t rank = 0; rank < of->p; rank++) {
        const coll_plan *plan =
            (const coll_plan *)worker->plans.at + (worker->per_rank ? rank : 0);
        const coll_extents extents = coll_plan_extents(plan, rank);
        const uint64_t own = coll_plan_steps(plan, rank);
        steps += own;
        if (of->collective == COLL_BARRIER) /* every rank must know of every other */
            steps += own * of->p / 64;
        elements += extents.in + extents.out + coll_plan_scratch(plan, rank);
        if (steps > options->steps || elements > options->elements)
            return false;
    }
    return true;
}

/* A case at random with many ranks: number 0 has as many as wanted, number 1 one less, but fewer
 * where the plan costs too much. */
COLL_INLINE bool coll_i_grid_large(coll_grid_worker *worker, const coll_grid_options *options,
                                   uint32_t number, coll_grid_row *row)
{
    const uint32_t most = options->random_most;
    uint64_t left = UINT64_MAX;
    coll_grid_axes axes;
    coll_grid_case of;
    uint32_t p = number < 2
                     ? most - number
                     : options->p_most + 1 + coll_i_grid_random(worker, most - options->p_most);
    for (; p > options->p_most; p -= (p + 3) / 4) {
        coll_status status;
        coll_i_grid_begin(options, row, p, &of);
        if (row->algorithm->traits & COLL_NEEDS_POWER_OF_TWO)
            p = of.p = coll_pow2_floor(p);
        if (coll_is(COLL_PAIRED, of.collective) && (uint64_t)p * p * 4 > options->elements)
            continue;
        coll_i_axes_make(&axes, worker, &of, 0);
        for (uint32_t axis = 0; axis < COLL_AXES; axis++) {
            const bool default_value = axis < COLL_AXES_OF_SETTING && axis != COLL_AXIS_NODES;
            const bool shape = axis == COLL_AXIS_SHAPE;
            uint32_t n = number == 0 && default_value ? 1 : axes.n[axis];
            if (shape && coll_is(COLL_NEIGHBORLY, of.collective))
                n = 2 * (COLL_GRID_GRAPHS - 1);
            else if (shape && coll_i_grid_has_layouts(of.collective))
                n = 3;
            coll_i_axes_set(&axes, worker, &of, axis, coll_i_grid_random(worker, n));
        }
        if (coll_is(COLL_ROOTED, of.collective))
            of.root = coll_i_grid_random(worker, p);
        if (of.layout == COLL_GRID_PLAIN && of.graph == COLL_GRID_NO_GRAPH &&
            of.collective != COLL_BARRIER)
            of.count = number == 0 ? 1 : 1 + coll_i_grid_random(worker, 2);
        coll_i_grid_outside_any(worker, &of);
        status = coll_i_grid_plans(worker, &of);
        if (!coll_i_grid_check_status(worker, &of, status, row))
            return false;
        if (status != COLL_OK)
            p += (p + 3) / 4; /* another case of as many ranks */
        else if (coll_i_grid_affordable(worker, &of, options))
            return coll_i_grid_case(worker, &of, UINT64_MAX, &left, row);
    }
    coll_i_found(&row->report, COLL_FOUND_REFUSED, 0, COLL_NO_STEP,
                 "no plan of more than %u ranks is within the budget", options->p_most);
    return coll_i_grid_failed(&of, row);
}

/* ---- what only the whole row shows ------------------------------------------------------- */

/* Traits that forbid something. Those of a composite algorithm that speak of the transport are
 * those of what it uses inside. */
COLL_INLINE uint32_t coll_i_grid_restrictions(const coll_algorithm *algorithm)
{
    const uint32_t always = COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_POWER_OF_TWO |
                            COLL_NEEDS_OUT_OF_PLACE | COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED |
                            COLL_NEEDS_FULL_ROWS | COLL_NEEDS_LINE | COLL_NEEDS_CARTESIAN;
    const uint32_t transport = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP |
                               COLL_NEEDS_ROUTE | COLL_USES_PADDING;
    return algorithm->traits &
           (algorithm->traits & COLL_NEEDS_BUILD ? always : always | transport);
}

/* Would some plan of a row be wrong without a trait? Where there was no memory to say, row->report
 * tells; a wrong plan may have absurd sizes. */
COLL_INLINE bool coll_i_grid_row_needs(coll_grid_worker *worker,
                                       const coll_grid_options *options, uint32_t trait,
                                       coll_grid_row *row)
{
    enum { MOST = 9, SETTINGS = 12, REQUESTS = 24 };
    for (uint32_t p = 2; p <= MOST; p++) {
        coll_grid_axes axes;
        coll_grid_walk settings, requests;
        uint64_t left = UINT64_MAX;
        coll_grid_case of;
        coll_i_grid_begin(options, row, p, &of);
        of.lifted = trait;
        coll_i_axes_make(&axes, worker, &of, UINT32_MAX);
        coll_i_walk_init(&settings, &axes, 0, COLL_AXES_OF_SETTING, SETTINGS);
        while (coll_i_walk_next(&settings, &axes, worker, &of)) {
            coll_i_walk_init(&requests, &axes, COLL_AXES_OF_SETTING, COLL_AXES, REQUESTS);
            while (coll_i_walk_next(&requests, &axes, worker, &of)) {
                coll_grid_row other = *row;
                if (coll_i_grid_case(worker, &of, UINT64_MAX, &left, &other))
                    continue;
                if (other.report.finding != COLL_FOUND_NO_MEMORY)
                    return true;
                *row = other;
            }
        }
    }
    return false;
}

/* Would some plan of the record, for any of its collectives? */
COLL_INLINE bool coll_i_grid_needs(coll_grid_worker *worker, const coll_grid_options *options,
                                   uint32_t trait, coll_grid_row *row)
{
    coll_grid_row any = *row;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        any.collective = (coll_collective)c;
        if (coll_is(row->algorithm->collectives, any.collective) &&
            coll_i_grid_row_needs(worker, options, trait, &any))
            return true;
    }
    any.collective = row->collective;
    *row = any;
    return false;
}

/* Are the record's values within their ranges, and is every restriction needed? */
COLL_INLINE bool coll_i_grid_record(coll_grid_worker *worker, const coll_grid_options *options,
                                    coll_grid_row *row)
{
    const coll_algorithm *algorithm = row->algorithm;
    const uint32_t restrictions = coll_i_grid_restrictions(algorithm);
    coll_grid_case of;
    coll_i_grid_begin(options, row, 1, &of);
    for (uint32_t i = 0; i < algorithm->n_params; i++) {
        const coll_param *param = &algorithm->params[i];
        uint32_t values[COLL_GRID_VALUES], n = coll_grid_values(param, values);
        while (n-- > 0)
            if (values[n] < param->least || values[n] > param->most) {
                coll_i_found(&row->report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,
                             "the record gives %s the value %u, which is out of its range",
                             param->name, values[n]);
                return coll_i_grid_failed(&of, row);
            }
    }
#define COLL_I_GRID_RESTRICTION(trait, text)                                                   \
    if ((restrictions & (uint32_t)(trait)) &&                                                  \
        !coll_i_grid_needs(worker, options, (uint32_t)(trait), row)) {                         \
        if (!row->report.ok)                                                                   \
            return false;                                                                      \
        coll_i_found(&row->report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,                          \
                     "the record says %s, but every plan without it is proven", text);         \
        return coll_i_grid_failed(&of, row);                                                   \
    }
    COLL_TRAIT_LIST(COLL_I_GRID_RESTRICTION)
#undef COLL_I_GRID_RESTRICTION
    return true;
}

/* At its end: has a row plans? */
COLL_INLINE void coll_i_grid_end(const coll_grid_options *options, coll_grid_row *row)
{
    coll_grid_case of;
    if (!row->report.ok || row->plans > 0)
        return;
    coll_i_grid_begin(options, row, options->p_least, &of);
    coll_i_found(&row->report, COLL_FOUND_REFUSED, 0, COLL_NO_STEP,
                 "of %u to %u ranks, no plan can be made", options->p_least, options->p_most);
    coll_i_grid_failed(&of, row);
}

#endif /* COLL_LAB_VERIFY_ROW_H */
