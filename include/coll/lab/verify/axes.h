/* coll/lab/verify/axes.h — what a grid varies: the values of each axis, and which of them are
 * combined
 *
 *   coll_grid_axes axes;
 *   coll_i_axes_make(&axes, worker, &one, all_roots);
 *   for (uint32_t k = 0; k < axes.n[COLL_AXIS_ROOT]; k++)
 *       coll_i_axes_set(&axes, worker, &one, COLL_AXIS_ROOT, k);
 *
 * How many values an axis has depends on the row and on p alone. Those of a setting come first: what
 * is bound to the levels of a composite algorithm, nodes, parameters; then those of a
 * request: root, count or layout, flags. A new axis is a line of the enumeration and two cases.
 *
 * A coll_grid_walk goes through a range of axes: through all combinations, or through a sample in
 * which every value of every axis comes as often as any other. Hosted; allocates nothing.
 */
#ifndef COLL_LAB_VERIFY_AXES_H
#define COLL_LAB_VERIFY_AXES_H

#include "case.h"

/* In what the cases of a grid differ. */
typedef enum coll_grid_axis {
    COLL_AXIS_INTRA, /* what is bound to a level: the default, then any other (see coll_grid_pool) */
    COLL_AXIS_INTER,
    COLL_AXIS_NODES,
    COLL_AXIS_PARAM, /* one for each parameter */
    COLL_AXIS_ROOT = COLL_AXIS_PARAM + COLL_PARAM_MAX,
    COLL_AXIS_SHAPE,
    COLL_AXIS_FLAGS,
    COLL_AXES,
    COLL_AXES_OF_SETTING = COLL_AXIS_ROOT
} coll_grid_axis;

/* ---- parameters -------------------------------------------------------------------------- */

enum {
    COLL_GRID_VALUES = 16, /* of a parameter, at most */
    COLL_I_GRID_SHORT = 64 /* a range so short is proven to its end */
};

COLL_INLINE void coll_i_grid_add(uint32_t values[COLL_GRID_VALUES], uint32_t *n, uint32_t value)
{
    uint32_t k = 0;
    while (k < *n && values[k] != value)
        k++;
    if (k == *n && *n < COLL_GRID_VALUES)
        values[(*n)++] = value;
}

/* The values that a parameter always has in a grid: the default one, those of its record, the
 * ends of its range; how many. */
COLL_INLINE uint32_t coll_grid_values(const coll_param *param,
                                      uint32_t values[COLL_GRID_VALUES])
{
    uint32_t n = 0;
    coll_i_grid_add(values, &n, param->default_value);
    for (uint32_t i = 0; i < sizeof param->grid / sizeof param->grid[0]; i++)
        coll_i_grid_add(values, &n, param->grid[i]);
    coll_i_grid_add(values, &n, param->least);
    if (param->most - param->least <= COLL_I_GRID_SHORT)
        coll_i_grid_add(values, &n, param->most);
    return n;
}

/* Sets the parameters to combination number k of these; false if there are fewer. */
COLL_INLINE bool coll_i_grid_params(coll_grid_case *of, uint32_t k)
{
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        uint32_t values[COLL_GRID_VALUES], n;
        of->param[i] = 0;
        if (i >= of->algorithm->n_params)
            continue;
        n = coll_grid_values(&of->algorithm->params[i], values);
        of->param[i] = values[k % n];
        k /= n;
    }
    return k == 0;
}

/* A number below n, at random. */
COLL_INLINE uint32_t coll_i_grid_random(coll_grid_worker *worker, uint32_t n)
{
    return coll_i_random_below(&worker->random, n);
}

COLL_INLINE uint32_t coll_i_grid_bits(uint32_t x)
{
    uint32_t bits = 0;
    for (; x > 0; x >>= 1)
        bits++;
    return bits;
}

/* A value at random: small ones are as likely as large ones, up to what p ranks, or the counts of
 * the grid, can tell apart. */
COLL_INLINE uint32_t coll_i_grid_chance(coll_grid_worker *worker, const coll_param *param,
                                        uint32_t p)
{
    const uint32_t range = param->most - param->least, far = 2 * p + 3;
    const uint32_t most = range < far ? range : far;
    const uint32_t bits = coll_i_grid_random(worker, coll_i_grid_bits(most) + 1);
    const uint32_t value = coll_i_grid_random(worker, 1u << bits);
    return param->least + (value < most ? value : most);
}

/* Is the parameter the nodes of a machine, whose values are those of groups? */
COLL_INLINE bool coll_i_grid_is_machine(const coll_algorithm *algorithm, uint32_t i)
{
    return i == coll_i_grid_machine(algorithm);
}

/* Those, and two at random. A mesh has all widths that there are, and one that does not divide p. */
COLL_INLINE uint32_t coll_i_grid_param_values(coll_grid_worker *worker,
                                              const coll_grid_case *of, uint32_t i,
                                              uint32_t values[COLL_GRID_VALUES])
{
    const coll_algorithm *algorithm = of->algorithm;
    uint32_t n = coll_grid_values(&algorithm->params[i], values);
    if (i == 0 && (coll_i_case_traits(of) & COLL_NEEDS_FULL_ROWS)) {
        n = 0;
        for (uint32_t width = 1; width <= of->p && n < COLL_GRID_VALUES - 1; width++)
            if (of->p % width == 0)
                coll_i_grid_add(values, &n, width);
        coll_i_grid_add(values, &n, of->p / 2 + 1 < of->p ? of->p / 2 + 1 : of->p + 1);
    } else if (!coll_i_grid_is_machine(algorithm, i)) {
        for (uint32_t k = 0; k < 2; k++)
            coll_i_grid_add(values, &n,
                            coll_i_grid_chance(worker, &algorithm->params[i], of->p));
    }
    return n;
}

/* ---- nodes, and what is used inside -------------------------------------------------------- */

/* All kinds of nodes up to this p; beyond, three of them. */
enum { COLL_I_GRID_ALL_NODES = 20 };

/* Sets nodes number k, with rails or groups; false if there are no more. Rails are for algorithms that
 * choose leaders, which 4 ranks of a node and more do best; groups are for all that are composite. */
COLL_INLINE bool coll_i_grid_with_beyond(coll_grid_case *of, uint32_t k)
{
    static const struct {
        uint32_t nodes, groups;
        coll_grid_rails rails;
    } with[] = {{4, 0, COLL_GRID_RAILS_TURNS},
                {7, 0, COLL_GRID_RAILS_RUNS},
                {11, 0, COLL_GRID_RAILS_UNEQUAL},
                {COLL_GRID_NODES_UNEVEN, 0, COLL_GRID_RAILS_TURNS},
                {2, 2, COLL_GRID_NO_RAILS},
                {COLL_GRID_NODES_UNEVEN, COLL_GRID_NODES_UNEVEN, COLL_GRID_NO_RAILS},
                {3, 2, COLL_GRID_RAILS_UNEQUAL}};
    const uint32_t n = sizeof with / sizeof with[0];
    if (of->p < 3 || !(of->algorithm->traits & COLL_NEEDS_BUILD))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (with[i].rails != COLL_GRID_NO_RAILS && coll_i_grid_leaders(of) == 0)
            continue;
        if (k-- > 0)
            continue;
        of->nodes = with[i].nodes;
        of->groups = with[i].groups;
        of->rails = with[i].rails;
        return true;
    }
    return false;
}

/* Sets nodes number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_on_nodes(coll_grid_case *of, uint32_t k)
{
    static const uint32_t nodes[] = {0, 1, COLL_GRID_NODES_UNEVEN, 4, 2};
    const uint32_t n = !(of->algorithm->traits & COLL_USES_NODES) || of->p == 1 ? 1
                       : of->p == 2                                             ? 2
                       : of->p <= COLL_I_GRID_ALL_NODES                         ? 5
                                                                                : 3;
    of->rails = COLL_GRID_NO_RAILS;
    of->groups = 0;
    of->nodes = nodes[k < n ? k : 0];
    if (n == 3 && k == 1) /* one of those with even ones */
        of->nodes = nodes[of->p % 3 == 0 ? 1 : of->p % 3 + 2];
    return k < n || coll_i_grid_with_beyond(of, k - n);
}

/* Is there an algorithm of this name before number i? */
COLL_INLINE bool coll_i_pool_repeats(const coll_grid_pool *pool, uint32_t i)
{
    uint32_t k = 0;
    while (strcmp(pool->algorithms[k]->name, pool->algorithms[i]->name) != 0)
        k++;
    return k < i;
}

/* What may have to be solved at a level: what those solve that are bound to it by default. */
COLL_INLINE uint32_t coll_i_grid_solves(const coll_algorithm *algorithm, coll_level level)
{
    const coll_composite *composite = coll_composite_of(algorithm);
    uint32_t solves = 0;
    for (uint32_t i = 0; i < composite->n_defaults; i++)
        if (composite->defaults[i].level == level)
            solves |= composite->defaults[i].algorithm->collectives;
    return solves;
}

/* May an algorithm of this name be used inside? Its algorithms solve something that the level has to
 * solve, and are not composite. */
COLL_INLINE bool coll_i_grid_plays(const coll_grid_case *of, const coll_grid_pool *pool,
                                   uint32_t i, coll_level level)
{
    const uint32_t solves = coll_i_grid_solves(of->algorithm, level);
    for (uint32_t k = i; k < pool->n; k++)
        if (coll_i_pool_named(pool, k, pool->algorithms[i]->name) &&
            (pool->algorithms[k]->collectives & solves))
            return !coll_i_pool_repeats(pool, i);
    return false;
}

/* ---- requests ---------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_grid_has_layouts(coll_collective collective)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                       COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   collective);
}

/* Of few ranks, and a parameter that is a number of elements: a count that it cuts into three, if no
 * other is so large, and else the double of the largest. 0: there is no such parameter. */
COLL_INLINE size_t coll_i_grid_long(const coll_grid_case *of)
{
    size_t most = 0;
    for (uint32_t i = 0; i < of->algorithm->n_params && of->p <= 5; i++) {
        const char *name = of->algorithm->params[i].name;
        const size_t value = of->param[i] < 4096 ? of->param[i] : 4096, least = 2 * of->p + 3;
        if (strcmp(name, "segment") == 0 || strcmp(name, "buffer") == 0)
            most = 2 * (value > least ? value : least) + 3;
    }
    return most;
}

/* Sets count number k, or layout; false if there are fewer. */
COLL_INLINE bool coll_i_grid_shape(coll_grid_case *of, uint32_t k)
{
    const size_t p = of->p;
    of->layout = COLL_GRID_PLAIN;
    of->root_only = false;
    if (coll_is(COLL_NEIGHBORLY, of->collective)) {
        const size_t counts[] = {1, 3, 0};
        const uint32_t graphs = COLL_GRID_GRAPHS - 1, n = k / graphs;
        const bool v = coll_i_grid_has_layouts(of->collective);
        of->graph = (coll_grid_graph)(1 + k % graphs);
        of->layout = v ? (coll_grid_layout)(1 + n) : COLL_GRID_PLAIN;
        of->count = v ? p + 1 : n < 3 ? counts[n] : 0;
        return n < (v ? COLL_GRID_LAYOUTS - 1 : 3u);
    }
    if (of->collective == COLL_BARRIER) {
        of->count = 0;
        return k == 0;
    }
    if (coll_i_grid_has_layouts(of->collective)) {
        const uint32_t layouts = COLL_GRID_LAYOUTS - 1;
        const bool rooted = coll_is(COLL_ROOTED, of->collective);
        of->layout = (coll_grid_layout)(1 + k % layouts);
        of->count = p + 1;
        of->root_only = k >= layouts;
        return k < layouts ||
               (rooted && k < 2 * layouts && !(coll_i_case_traits(of) & COLL_NEEDS_COUNTS));
    }
    {
        const size_t counts[] = {0, 1, p - 1, p, p + 1, 2 * p + 3};
        const uint32_t skipped = p == 1 ? 2 : p == 2 ? 1 : 0; /* twice in the list */
        k += k >= 2 - (p == 1) ? skipped : 0;
        if (k < sizeof counts / sizeof counts[0]) {
            of->count = counts[k];
            return true;
        }
        of->count = coll_i_grid_long(of);
        return of->count > 0 && k == sizeof counts / sizeof counts[0];
    }
}

/* Sets flags number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_flags(coll_grid_case *of, uint32_t k)
{
    const bool reduces = coll_is(COLL_REDUCING, of->collective);
    const uint32_t traits = coll_i_case_traits(of);
    const uint32_t places = coll_is(COLL_BIT(COLL_BARRIER) | COLL_NEIGHBORLY, of->collective) ||
                                    (traits & COLL_NEEDS_OUT_OF_PLACE)
                                ? 1
                                : 2;
    const uint32_t orders = !reduces || (traits & COLL_NEEDS_COMMUTATIVE) ? 1 : 2;
    of->flags = (k % places ? COLL_FLAG_IN_PLACE : 0) |
                (reduces && k / places % orders == 0 ? COLL_FLAG_COMMUTATIVE : 0);
    return k < places * orders;
}

/* Sets root number k; false if there are fewer. */
COLL_INLINE bool coll_i_grid_root(coll_grid_worker *worker, coll_grid_case *of, uint32_t k,
                                  uint32_t all_roots)
{
    const uint32_t p = of->p;
    of->root = 0;
    if (!coll_is(COLL_ROOTED, of->collective))
        return k == 0;
    if (p <= all_roots || p <= 3) {
        of->root = k;
        return k < p;
    }
    of->root = k == 0 ? 0 : k == 1 ? p - 1 : 1 + coll_i_grid_random(worker, p - 2);
    return k < 3;
}

/* ---- all axes ---------------------------------------------------------------------------- */

/* Algorithms that may be bound to a level, at most, and composite ones. */
enum { COLL_I_GRID_PLAYS = 63, COLL_I_GRID_NESTS = 4 };

/* The values of each axis. */
typedef struct coll_grid_axes {
    uint32_t all_roots;    /* all roots up to this p */
    uint32_t n[COLL_AXES]; /* values of each axis */
    uint32_t value[COLL_PARAM_MAX][COLL_GRID_VALUES];
    const coll_algorithm
        *play[COLL_LEVELS][COLL_I_GRID_PLAYS]; /* inner algorithms of each level */
    /* … and composite ones, which are used in turn among nodes that have groups */
    const coll_algorithm *nest[COLL_I_GRID_NESTS];
    uint32_t n_nest;
} coll_grid_axes;

/* Finds all that may be bound to a level besides the defaults; how many. */
COLL_INLINE uint32_t coll_i_grid_all_plays(const coll_grid_pool *pool, const coll_grid_case *of,
                                           coll_level level,
                                           const coll_algorithm *play[COLL_I_GRID_PLAYS])
{
    uint32_t n = 0;
    if (!(of->algorithm->traits & COLL_NEEDS_BUILD) || of->n_bindings > 0)
        return 0;
    for (uint32_t i = 0; i < pool->n && n < COLL_I_GRID_PLAYS; i++)
        if (coll_i_grid_plays(of, pool, i, level))
            play[n++] = coll_i_pool_longest(pool, pool->algorithms[i]->name);
    return n;
}

/* Finds the names of composite algorithms that may be bound among nodes that have groups. */
COLL_INLINE void coll_i_grid_all_nests(coll_grid_axes *axes, const coll_grid_pool *pool,
                                       const coll_grid_case *of)
{
    const uint32_t never = COLL_NEEDS_SHARED | COLL_I_NEEDS_GROUP;
    axes->n_nest = 0;
    if (!(of->algorithm->traits & COLL_NEEDS_BUILD) || of->n_bindings > 0)
        return;
    for (uint32_t i = 0; i < pool->n && axes->n_nest < COLL_I_GRID_NESTS; i++) {
        const coll_algorithm *algorithm = pool->algorithms[i];
        uint32_t before = 0;
        if (!(algorithm->traits & COLL_NEEDS_BUILD) || (algorithm->traits & never) ||
            !(algorithm->collectives & coll_i_grid_solves(of->algorithm, COLL_INTER)))
            continue;
        while (before < axes->n_nest && strcmp(axes->nest[before]->name, algorithm->name) != 0)
            before++;
        if (before == axes->n_nest)
            axes->nest[axes->n_nest++] = algorithm;
    }
}

/* A value that all algorithms of a name have in the range of their parameter. */
COLL_INLINE uint32_t coll_i_pool_fit(const coll_grid_pool *pool, const coll_algorithm *of,
                                     const char *param, uint32_t value)
{
    for (uint32_t i = 0; i < pool->n; i++)
        for (uint32_t k = 0; k < pool->algorithms[i]->n_params; k++) {
            const coll_param *other = &pool->algorithms[i]->params[k];
            if (!coll_i_pool_named(pool, i, of->name) || strcmp(other->name, param) != 0)
                continue;
            value = value < other->least ? other->least : value;
            value = value > other->most ? other->most : value;
        }
    return value;
}

/* Binds number k to a level; 0: the defaults. Of few ranks it has its default
 * parameters; else each other time some at random. */
COLL_INLINE void coll_i_grid_play(const coll_grid_axes *axes, coll_grid_worker *worker,
                                  coll_grid_case *of, coll_level level, uint32_t k)
{
    coll_grid_play *play = &of->play[level];
    memset(play, 0, sizeof *play);
    if (level == COLL_INTER && of->groups != 0 && axes->n_nest > 0) {
        play->algorithm = axes->nest[k % axes->n_nest];
        for (uint32_t i = 0; i < play->algorithm->n_params; i++)
            play->param[i] = play->algorithm->params[i].grid[k / axes->n_nest % 4];
        return;
    }
    if (k == 0)
        return;
    play->algorithm = axes->play[level][k - 1];
    for (uint32_t i = 0; i < play->algorithm->n_params; i++) {
        const coll_param *param = &play->algorithm->params[i];
        play->param[i] = of->p <= 4 || coll_i_grid_is_machine(play->algorithm, i) ||
                                 coll_i_grid_random(worker, 2)
                             ? param->default_value
                             : coll_i_grid_chance(worker, param, of->p);
        play->param[i] =
            coll_i_pool_fit(&worker->pool, play->algorithm, param->name, play->param[i]);
    }
}

/* Sets an axis of a case to value number k, which it has. */
COLL_INLINE void coll_i_axes_set(const coll_grid_axes *axes, coll_grid_worker *worker,
                                 coll_grid_case *of, uint32_t axis, uint32_t k)
{
    switch (axis) {
    case COLL_AXIS_INTRA:
        coll_i_grid_play(axes, worker, of, COLL_INTRA, k);
        break;
    case COLL_AXIS_INTER:
        coll_i_grid_play(axes, worker, of, COLL_INTER, k);
        break;
    case COLL_AXIS_NODES:
        coll_i_grid_on_nodes(of, k);
        break;
    case COLL_AXIS_ROOT:
        coll_i_grid_root(worker, of, k, axes->all_roots);
        break;
    case COLL_AXIS_SHAPE:
        coll_i_grid_shape(of, k);
        break;
    case COLL_AXIS_FLAGS:
        coll_i_grid_flags(of, k);
        break;
    default:
        of->param[axis - COLL_AXIS_PARAM] = axes->value[axis - COLL_AXIS_PARAM][k];
    }
}

/* Counts the values of all axes for a case's algorithm, collective and p, and sets it to the first of
 * each. What is at random is drawn here, so that all combinations have the same. */
COLL_INLINE void coll_i_axes_make(coll_grid_axes *axes, coll_grid_worker *worker,
                                  coll_grid_case *of, uint32_t all_roots)
{
    uint32_t n;
    axes->all_roots = all_roots;
    for (unsigned level = 0; level < COLL_LEVELS; level++)
        axes->n[COLL_AXIS_INTRA + level] =
            1 + coll_i_grid_all_plays(&worker->pool, of, (coll_level)level, axes->play[level]);
    coll_i_grid_all_nests(axes, &worker->pool, of);
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        axes->value[i][0] = 0;
        axes->n[COLL_AXIS_PARAM + i] =
            i < of->algorithm->n_params
                ? coll_i_grid_param_values(worker, of, i, axes->value[i])
                : 1;
    }
    for (n = 0; coll_i_grid_on_nodes(of, n); n++)
        axes->n[COLL_AXIS_NODES] = n + 1;
    for (n = 0; coll_i_grid_root(worker, of, n, all_roots); n++)
        axes->n[COLL_AXIS_ROOT] = n + 1;
    for (n = 0; coll_i_grid_shape(of, n); n++)
        axes->n[COLL_AXIS_SHAPE] = n + 1;
    for (n = 0; coll_i_grid_flags(of, n); n++)
        axes->n[COLL_AXIS_FLAGS] = n + 1;
    for (uint32_t axis = 0; axis < COLL_AXES; axis++)
        coll_i_axes_set(axes, worker, of, axis, 0);
}

/* ---- combinations ------------------------------------------------------------------------ */

/* A walk through the axes from `first` to before `end`. */
typedef struct coll_grid_walk {
    uint32_t first, end;
    uint64_t all;     /* combinations */
    uint32_t longest; /* values of the longest axis */
    uint64_t wanted;  /* cases; fewer than all: a sample of them */
    bool plain;    /* not a sample: in their order, so that the first to fail is a simple one */
    uint64_t done; /* cases so far */
    uint64_t number, stride;               /* of all: the last one, and the way to the next */
    uint32_t at[COLL_AXES], by[COLL_AXES]; /* of a sample: value of each axis, and the stride */
} coll_grid_walk;

/* Up to `most` cases, but more if the longest axis has more values. */
COLL_INLINE void coll_i_walk_init(coll_grid_walk *way, const coll_grid_axes *axes,
                                  uint32_t first, uint32_t end, uint64_t most)
{
    way->first = first;
    way->end = end;
    way->all = 1;
    way->longest = 1;
    way->done = 0;
    way->plain = false;
    for (uint32_t axis = first; axis < end; axis++) {
        way->all *= axes->n[axis];
        if (way->longest < axes->n[axis])
            way->longest = axes->n[axis];
    }
    if (most < way->longest)
        most = way->longest;
    way->wanted = way->all < most ? way->all : most;
}

COLL_INLINE uint64_t coll_i_common(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The next value of an axis in a sample: all of them in some order, then all in another one. */
COLL_INLINE uint32_t coll_i_walk_draw(coll_grid_walk *way, const coll_grid_axes *axes,
                                      coll_grid_worker *worker, uint32_t axis)
{
    const uint32_t n = axes->n[axis];
    if (way->done % n == 0) {
        do
            way->by[axis] = n == 1 ? 1 : 1 + coll_i_grid_random(worker, n - 1);
        while (coll_i_common(way->by[axis], n) != 1);
        way->at[axis] = coll_i_grid_random(worker, n);
    } else {
        way->at[axis] = (uint32_t)(((uint64_t)way->at[axis] + way->by[axis]) % n);
    }
    return way->at[axis];
}

/* Which of all combinations comes next: the first ones are spread over all of them, so that one may
 * stop early. The stride is near the golden section, and has no factor in common with their number. */
COLL_INLINE uint64_t coll_i_walk_number(coll_grid_walk *way, coll_grid_worker *worker)
{
    if (way->plain)
        return way->done;
    if (way->done == 0) {
        way->number = coll_i_random_below(&worker->random, UINT32_MAX) % way->all;
        way->stride = way->all * 377 / 610 + 1;
        while (coll_i_common(way->stride, way->all) != 1)
            way->stride++;
    } else {
        way->number = (way->number + way->stride) % way->all;
    }
    return way->number;
}

/* Sets a case to the next combination; false if there is none. */
COLL_INLINE bool coll_i_walk_next(coll_grid_walk *way, const coll_grid_axes *axes,
                                  coll_grid_worker *worker, coll_grid_case *of)
{
    const bool sample = way->wanted < way->all;
    uint64_t number;
    if (way->done == way->wanted)
        return false;
    number = sample ? 0 : coll_i_walk_number(way, worker);
    for (uint32_t axis = way->end; axis-- > way->first;) {
        uint32_t k = (uint32_t)(number % axes->n[axis]);
        number /= axes->n[axis];
        if (sample)
            k = coll_i_walk_draw(way, axes, worker, axis);
        coll_i_axes_set(axes, worker, of, axis, k);
    }
    way->done++;
    return true;
}

#endif /* COLL_LAB_VERIFY_AXES_H */
