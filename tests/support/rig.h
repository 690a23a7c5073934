/* tests/support/rig.h — a collective on real data: p ranks with their memory, and what each must
 * hold in the end
 *
 *   rig it;
 *   if (rig_init(&it, algorithm, &problem, params) == COLL_OK) {
 *       rig_fill(&it);                     // inputs, guards; again before every run
 *       CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, window, seed), COLL_OK);
 *       CHECK(rig_right(&it));             // every rank's OUT, guards around OUT and SCRATCH, IN
 *       untouched
 *       rig_free(&it);
 *   }
 *
 * Elements have 8 bytes. A commutative problem adds them up; another one composes affine maps,
 * which is associative and not commutative. The rig makes the tables of v-collectives itself,
 * uneven and with gaps, so problem.in and problem.out stay empty; the graphs of neighbour
 * collectives (rig_init_on); and the workspaces of composite algorithms. One transport tag
 * a rig.
 */
#ifndef COLL_TESTS_RIG_H
#define COLL_TESTS_RIG_H

#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "coll/plan/composite.h"
#include "coll/transports/loopback.h"
#include "coll/lab/verify/graphs.h"

enum { RIG_GUARD = 4 }; /* elements before and after each buffer */

static const uint64_t RIG_POISON = 0xA5A5A5A5DEADBEEFu;

/* Guarded elements; what they held after rig_fill. */
typedef struct rig_area {
    uint64_t *raw, *before;
    size_t count;
} rig_area;

typedef struct rig_rank {
    coll_plan plan; /* the same on all ranks but for the tables */
    coll_workspace
        *workspace; /* … unless it is composite; the workspace's tables lie behind it */
    coll_task run;
    coll_engine engine;
    coll_slot slots[32];
    coll_loopback_rank end;
    rig_area in, out, scratch;
    uint64_t *want; /* what OUT must hold … */
    bool *wanted;   /* … where that is known */
    size_t *tables; /* counts and displacements of IN, then of OUT */
} rig_rank;

typedef struct rig {
    coll_problem problem;
    coll_op op;
    uint32_t p;
    rig_rank *ranks;
    uint64_t *shared;
    coll_engine **requests;
    coll_loopback world;
    void *memory;
    coll_i_graphs graphs;
} rig;

/* ---- operators and values ---------------------------------------------------------------- */

static inline void rig_add(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    uint64_t *to = (uint64_t *)dst;
    const uint64_t *left = (const uint64_t *)a, *right = (const uint64_t *)b;
    (void)arg;
    for (size_t i = 0; i < count; i++)
        to[i] = left[i] + right[i];
}

/* x ↦ m·x + c with m in the upper half; the left map is applied last. */
static inline void rig_compose(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    uint64_t *to = (uint64_t *)dst;
    const uint64_t *left = (const uint64_t *)a, *right = (const uint64_t *)b;
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        const uint32_t m = (uint32_t)(left[i] >> 32), c = (uint32_t)left[i];
        const uint32_t n = (uint32_t)(right[i] >> 32), d = (uint32_t)right[i];
        to[i] = (uint64_t)(m * n) << 32 | (uint32_t)(m * d + c);
    }
}

/* Element k of the block that a rank has for rank `block` (0 for vectors). Odd in the upper
 * half, as a map that can be undone. */
static inline uint64_t rig_value(uint32_t rank, uint32_t block, size_t k)
{
    uint64_t x = (uint64_t)rank << 40 ^ (uint64_t)block << 20 ^ k;
    return chance_bits(&x) | (uint64_t)1 << 32;
}

/* Element k of the reduction of ranks first … last. */
static inline uint64_t rig_sum(const rig *it, uint32_t first, uint32_t last, uint32_t block,
                               size_t k)
{
    uint64_t sum = rig_value(first, block, k);
    for (uint32_t r = first + 1; r <= last; r++) {
        const uint64_t next = rig_value(r, block, k);
        it->op.combine(&sum, &sum, &next, 1, it->op.arg);
    }
    return sum;
}

/* Elements that rank `from` has for rank `to`, in a v-collective. */
static inline size_t rig_uneven(const coll_problem *of, uint32_t from, uint32_t to)
{
    const uint32_t a = from < to ? from : to, b = from < to ? to : from;
    return ((size_t)a * 3 + (size_t)b * 5 + of->count) % (of->count + 2);
}

/* ---- layout ------------------------------------------------------------------------------ */

static inline void rig_table(const coll_problem *of, const coll_algorithm *algorithm,
                             coll_layout *layout, size_t *table, uint32_t rank)
{
    const bool pairs = coll_is(COLL_PAIRED, of->collective);
    const bool gaps =
        of->collective != COLL_REDUCE_SCATTER && !(algorithm->traits & COLL_NEEDS_PACKED);
    size_t at = 0;
    for (uint32_t i = 0; i < of->p; i++) {
        table[i] = rig_uneven(of, pairs ? rank : 0, i);
        table[of->p + i] = at;
        at += table[i] + (gaps ? i & 1 : 0);
    }
    layout->counts = table;
    layout->displs = table + of->p;
}

/* Elements of block i of the IN of a rank of a neighbour collective; of an allgather, of its only
 * one. */
static inline size_t rig_edge(const coll_problem *of, uint32_t rank, uint32_t i)
{
    return rig_uneven(of, rank, of->collective == COLL_NEIGHBOR_ALLGATHERV ? 0 : i);
}

/* The source of block i of a rank's OUT, or COLL_RANK_NONE, and which block of its IN it is. */
static inline uint32_t rig_origin(const rig *it, uint32_t rank, uint32_t i, uint32_t *block)
{
    const coll_graph *graph = coll_i_graph_of(&it->graphs, rank);
    const uint32_t from = coll_graph_source(graph, rank, i);
    *block = from == COLL_RANK_NONE
                 ? 0
                 : coll_graph_origin(graph, rank, i, coll_i_graph_of(&it->graphs, from));
    return from;
}

/* The graph, and where there are tables these, of a rank of a neighbour collective. */
static inline void rig_neighbors(rig *it, uint32_t rank, coll_problem *mine)
{
    const coll_graph *graph = coll_i_graph_of(&it->graphs, rank);
    const uint32_t n_in = graph->n_in, n_out = graph->n_out;
    size_t *in = (size_t *)calloc(2 * (n_in + n_out) + 1, sizeof(size_t)),
           *out = in + 2 * n_out;
    it->ranks[rank].tables = in;
    mine->graph = graph;
    if (mine->collective == COLL_NEIGHBOR_ALLGATHER ||
        mine->collective == COLL_NEIGHBOR_ALLTOALL)
        return;
    for (uint32_t i = 0; i < n_out; i++) {
        in[i] = rig_edge(mine, rank, i);
        in[n_out + i] = i == 0 ? 0 : in[n_out + i - 1] + in[i - 1] + (i & 1);
    }
    for (uint32_t i = 0; i < n_in; i++) {
        uint32_t block;
        const uint32_t from = rig_origin(it, rank, i, &block);
        out[i] = from == COLL_RANK_NONE ? 2 : rig_edge(mine, from, block);
        out[n_in + i] = i == 0 ? 0 : out[n_in + i - 1] + out[i - 1] + (i & 1);
    }
    mine->out.counts = out;
    mine->out.displs = out + n_in;
    if (mine->collective == COLL_NEIGHBOR_ALLGATHERV) {
        mine->count = rig_edge(mine, rank, 0);
    } else {
        mine->in.counts = in;
        mine->in.displs = in + n_out;
    }
}

static inline void rig_area_new(rig_area *area, size_t count)
{
    area->count = count;
    area->raw = (uint64_t *)malloc((count + 2 * RIG_GUARD) * sizeof(uint64_t));
    area->before = (uint64_t *)malloc((count + 2 * RIG_GUARD) * sizeof(uint64_t));
}

static inline void rig_free(rig *it)
{
    for (uint32_t r = 0; r < it->p; r++) {
        rig_area *areas[3] = {&it->ranks[r].in, &it->ranks[r].out, &it->ranks[r].scratch};
        for (int i = 0; i < 3; i++) {
            free(areas[i]->raw);
            free(areas[i]->before);
        }
        free(it->ranks[r].want);
        free(it->ranks[r].wanted);
        free(it->ranks[r].tables);
        free(it->ranks[r].workspace);
    }
    free(it->ranks);
    free(it->shared);
    free(it->requests);
    free(it->memory);
    coll_i_graphs_release(&it->graphs);
}

/* A workspace for a rank, in memory of its own. */
static inline coll_workspace *rig_kit(const coll_problem *problem, uint32_t rank)
{
    return coll_workspace_in(malloc(coll_workspace_bytes(problem)), problem, rank);
}

/* Makes p ranks for the problem, of a neighbour collective on this graph. An error is that of
 * coll_plan_build, and nothing to free then. */
static inline coll_status rig_init_on(rig *it, coll_grid_graph graph,
                                      const coll_algorithm *algorithm,
                                      const coll_problem *problem, const uint32_t *params)
{
    const uint32_t p = problem->p, messages = p * 40;
    const bool v =
        coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLGATHERV) |
                    COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER),
                problem->collective);
    coll_status status = COLL_OK;
    memset(it, 0, sizeof *it);
    it->problem = *problem;
    it->problem.elem_bytes = sizeof(uint64_t);
    it->p = p;
    it->op.combine = problem->flags & COLL_FLAG_COMMUTATIVE ? rig_add : rig_compose;
    it->op.commutative = (problem->flags & COLL_FLAG_COMMUTATIVE) != 0;
    it->op.exact = true;
    it->ranks = (rig_rank *)calloc(p, sizeof *it->ranks);
    it->requests = (coll_engine **)calloc(p, sizeof *it->requests);
    if (graph != COLL_GRID_NO_GRAPH)
        status = coll_i_graphs_make(&it->graphs, graph, p)
                     ? coll_i_graphs_equip(&it->graphs, &it->problem, algorithm)
                     : COLL_ERR_MEMORY;
    for (uint32_t r = 0; r < p && status == COLL_OK; r++) {
        rig_rank *me = &it->ranks[r];
        coll_problem mine = it->problem;
        coll_extents extents;
        if (graph != COLL_GRID_NO_GRAPH)
            rig_neighbors(it, r, &mine);
        if (v) {
            me->tables = (size_t *)calloc(4 * (size_t)p, sizeof(size_t));
            if (problem->collective != COLL_GATHERV && problem->collective != COLL_ALLGATHERV)
                rig_table(&mine, algorithm, &mine.in, me->tables, r);
            if (problem->collective != COLL_SCATTERV &&
                problem->collective != COLL_REDUCE_SCATTER)
                rig_table(&mine, algorithm, &mine.out, me->tables + 2 * (size_t)p, r);
        }
        if (algorithm->traits & COLL_NEEDS_BUILD)
            me->workspace = rig_kit(&mine, r);
        status = coll_plan_build(&me->plan, algorithm, &mine, params, me->workspace);
        if (status != COLL_OK)
            break;
        extents = coll_plan_extents(&me->plan, r);
        rig_area_new(&me->in, extents.in);
        rig_area_new(&me->out, extents.out);
        rig_area_new(&me->scratch, coll_plan_scratch(&me->plan, r));
        me->want = (uint64_t *)malloc((extents.out + 1) * sizeof(uint64_t));
        me->wanted = (bool *)malloc(extents.out + 1);
        me->run.plan = &me->plan;
        me->run.op = &it->op;
        me->run.in = me->in.count ? me->in.raw + RIG_GUARD : NULL;
        me->run.out = me->out.count ? me->out.raw + RIG_GUARD : NULL;
        me->run.scratch = me->scratch.count ? me->scratch.raw + RIG_GUARD : NULL;
        me->run.scratch_bytes = me->scratch.count * sizeof(uint64_t);
        me->run.shared_bytes = coll_plan_shared(&me->plan) * sizeof(uint64_t);
        me->run.rank = r;
        it->requests[r] = &me->engine;
    }
    if (status == COLL_OK) {
        const size_t shared = it->ranks[0].run.shared_bytes; /* of each node */
        const coll_nodes *nodes = &it->problem.nodes;
        it->memory = malloc(COLL_LOOPBACK_BYTES(messages));
        status = coll_loopback_init(&it->world, p, messages, it->memory,
                                    COLL_LOOPBACK_BYTES(messages));
        it->shared = shared ? (uint64_t *)calloc(coll_nodes_count(nodes), shared) : NULL;
        for (uint32_t r = 0; r < p; r++) {
            (void)coll_loopback_attach(&it->world, r, &it->ranks[r].end);
            it->ranks[r].run.ctx = &it->ranks[r].end;
            if (shared)
                it->ranks[r].run.shared =
                    (char *)it->shared + coll_node_of(nodes, p, r).index * shared;
        }
    }
    if (status != COLL_OK)
        rig_free(it);
    return status;
}

static inline coll_status rig_init(rig *it, const coll_algorithm *algorithm,
                                   const coll_problem *problem, const uint32_t *params)
{
    return rig_init_on(it, COLL_GRID_NO_GRAPH, algorithm, problem, params);
}

/* ---- data -------------------------------------------------------------------------------- */

static inline void rig_area_clear(rig_area *area)
{
    for (size_t i = 0; i < area->count + 2 * RIG_GUARD; i++)
        area->raw[i] = RIG_POISON ^ i;
}

/* Wants element k of a block of OUT to be so. */
static inline void rig_want(rig_rank *me, size_t at, uint64_t value)
{
    me->want[at] = value;
    me->wanted[at] = true;
}

/* The blocks of input that a rank starts from, at their place in IN or OUT. */
static inline void rig_fill_input(rig *it, uint32_t r)
{
    rig_rank *me = &it->ranks[r];
    const coll_problem *of = &me->plan.problem;
    const bool in_place = coll_in_place(&me->plan), root = r == of->root;
    const bool rooted = coll_is(COLL_ROOTED, of->collective);
    const bool scatter = of->collective == COLL_SCATTER || of->collective == COLL_SCATTERV;
    const bool in_out = in_place && !scatter && (root || !rooted);
    uint64_t *base = (in_out ? me->out.raw : me->in.raw) + RIG_GUARD;
    uint32_t blocks = it->p;
    switch (of->collective) {
    case COLL_BARRIER:
        return;
    case COLL_BCAST:
    case COLL_SCATTER:
    case COLL_SCATTERV:
        if (!root)
            return;
        blocks = scatter ? blocks : 1;
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        blocks = coll_in_blocks(of);
        break;
    default:
        blocks = 1;
        break;
    }
    for (uint32_t j = 0; j < blocks; j++) {
        coll_block block = coll_in_block(&me->plan, j);
        if (blocks == 1 && !of->graph) {
            const bool gather =
                coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV) |
                            COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
                        of->collective);
            block.offset = gather && in_out ? coll_out_block(&me->plan, r).offset : 0;
            block.count = gather ? coll_own_count(&me->plan, r) : of->count;
        } else if (in_out && of->in.counts == NULL && of->out.counts) {
            block = coll_out_block(&me->plan, j);
        }
        for (size_t k = 0; k < block.count; k++)
            base[block.offset + k] = rig_value(r, j, k);
    }
}

/* What OUT of a rank must hold at the end of a neighbour collective. */
static inline void rig_want_neighbors(rig *it, uint32_t r)
{
    rig_rank *me = &it->ranks[r];
    const coll_problem *of = &me->plan.problem;
    const bool all =
        of->collective != COLL_NEIGHBOR_ALLGATHER && of->collective != COLL_NEIGHBOR_ALLGATHERV;
    for (uint32_t i = 0; i < of->graph->n_in; i++) {
        uint32_t block;
        const uint32_t from = rig_origin(it, r, i, &block);
        const coll_block to = coll_out_block(&me->plan, i);
        for (size_t k = 0; from != COLL_RANK_NONE && k < to.count; k++)
            rig_want(me, to.offset + k, rig_value(from, all ? block : 0, k));
    }
}

/* What OUT of a rank must hold in the end. Elements that no block covers must stay. */
static inline void rig_fill_want(rig *it, uint32_t r)
{
    rig_rank *me = &it->ranks[r];
    const coll_problem *of = &me->plan.problem;
    const uint64_t *out = me->out.raw + RIG_GUARD;
    const uint32_t p = it->p;
    const bool shrinks =
        of->collective == COLL_REDUCE_SCATTER || of->collective == COLL_REDUCE_SCATTER_BLOCK;
    for (size_t i = 0; i < me->out.count; i++) {
        me->want[i] = out[i];
        me->wanted[i] = !shrinks || !coll_in_place(&me->plan);
    }
    for (size_t k = 0; k < of->count && me->out.count; k++) {
        if (of->collective == COLL_BCAST)
            rig_want(me, k, rig_value(of->root, 0, k));
        else if (of->collective == COLL_ALLREDUCE || of->collective == COLL_REDUCE)
            rig_want(me, k, rig_sum(it, 0, p - 1, 0, k));
        else if (of->collective == COLL_SCAN)
            rig_want(me, k, rig_sum(it, 0, r, 0, k));
        else if (of->collective == COLL_EXSCAN && r > 0)
            rig_want(me, k, rig_sum(it, 0, r - 1, 0, k));
    }
    if (shrinks || of->collective == COLL_SCATTER || of->collective == COLL_SCATTERV)
        for (size_t k = 0; k < coll_own_count(&me->plan, r) && me->out.count; k++)
            rig_want(me, k, shrinks ? rig_sum(it, 0, p - 1, r, k) : rig_value(of->root, r, k));
    if (coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLGATHER) |
                    COLL_BIT(COLL_ALLGATHERV) | COLL_EXCHANGING,
                of->collective) &&
        me->out.count)
        for (uint32_t j = 0; j < p; j++) {
            const coll_block block = coll_out_block(&me->plan, j);
            const bool all = coll_is(COLL_EXCHANGING, of->collective);
            for (size_t k = 0; k < block.count; k++)
                rig_want(me, block.offset + k, rig_value(j, all ? r : 0, k));
        }
    if (of->graph)
        rig_want_neighbors(it, r);
}

/* Writes inputs and guards, and works out the results. */
static inline void rig_fill(rig *it)
{
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        rig_area *areas[3] = {&me->in, &me->out, &me->scratch};
        for (int i = 0; i < 3; i++)
            rig_area_clear(areas[i]);
        rig_fill_input(it, r);
        for (int i = 0; i < 3; i++)
            memcpy(areas[i]->before, areas[i]->raw,
                   (areas[i]->count + 2 * RIG_GUARD) * sizeof(uint64_t));
        rig_fill_want(it, r);
    }
}

/* Is what nobody may write as it was? */
static inline bool rig_unharmed(const rig *it)
{
    for (uint32_t r = 0; r < it->p; r++) {
        const rig_rank *me = &it->ranks[r];
        const rig_area *areas[3] = {&me->in, &me->out, &me->scratch};
        for (int i = 0; i < 3; i++) {
            const size_t n = areas[i]->count;
            for (size_t k = 0; k < n + 2 * RIG_GUARD; k++)
                if ((i == 0 || k < RIG_GUARD || k >= n + RIG_GUARD) &&
                    areas[i]->raw[k] != areas[i]->before[k])
                    return false;
        }
    }
    return true;
}

/* Does every rank hold its result, with nothing else touched? */
static inline bool rig_right(const rig *it)
{
    for (uint32_t r = 0; r < it->p; r++) {
        const rig_rank *me = &it->ranks[r];
        for (size_t k = 0; k < me->out.count; k++)
            if (me->wanted[k] && me->out.raw[RIG_GUARD + k] != me->want[k])
                return false;
    }
    return rig_unharmed(it);
}

/* ---- running ----------------------------------------------------------------------------- */

/* Gives every rank its window and starts it; the first error. A rank that failed to start is
 * not running. */
static inline coll_status rig_start(rig *it, const coll_transport *transport, uint32_t window)
{
    coll_status first = COLL_OK;
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        coll_status status;
        me->run.transport = transport;
        status = coll_engine_init(&me->engine, me->slots, window);
        if (status == COLL_OK)
            status = coll_engine_start(&me->engine, &me->run);
        first = first == COLL_OK ? status : first;
    }
    return first;
}

/* Runs the collective once in this thread, on all ranks to their end; the first error. Also
 * COLL_ERR_MEMORY if an operation is left over in the world. */
static inline coll_status rig_loopback(rig *it, const coll_transport *transport,
                                       uint32_t window, uint32_t seed)
{
    const uint32_t n_free = it->world.n_free;
    const coll_status started = rig_start(it, transport, window);
    coll_status status;
    it->world.seed = seed;
    status = coll_loopback_run(&it->world, it->requests, it->p);
    if (it->world.n_free != n_free)
        return COLL_ERR_MEMORY;
    return started != COLL_OK ? started : status;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* What to do with a rig; `what` says which. */
typedef void (*rig_visit)(rig *it, const char *what, void *arg);

/* May a row with these traits refuse a problem for this reason? */
static inline bool rig_may_refuse(uint32_t traits, coll_status reason)
{
    switch (reason) {
    case COLL_ERR_ORDER:
        return (traits & (COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_LINE)) != 0;
    case COLL_ERR_IN_PLACE:
        return (traits & COLL_NEEDS_OUT_OF_PLACE) != 0;
    case COLL_ERR_SHAPE:
        return (traits & (COLL_NEEDS_POWER_OF_TWO | COLL_NEEDS_FULL_ROWS)) != 0;
    case COLL_ERR_GRAPH:
        return (traits & COLL_NEEDS_CARTESIAN) != 0;
    default:
        return false;
    }
}

/* Visits the problems that a row of the registry solves with p ranks: its collectives, in and
 * out of place, first and last root, operators that commute and not, all graphs, for one count.
 * False if it refuses one that its traits do not exclude. */
static inline bool rig_each(const coll_algorithm *row, uint32_t p, size_t count,
                            rig_visit visit, void *arg)
{
    bool well = true;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (uint32_t variant = 0; variant < 8; variant++) {
            const coll_collective collective = (coll_collective)c;
            const bool neighbors = coll_is(COLL_NEIGHBORLY, collective);
            const uint32_t root = variant & 1 ? p - 1 : 0;
            coll_grid_graph graph = COLL_GRID_NO_GRAPH;
            coll_problem problem;
            coll_status status;
            rig it;
            if (!coll_is(row->collectives, collective))
                continue;
            coll_problem_init(&problem, collective, p, count, sizeof(uint64_t));
            if (neighbors) {
                graph = (coll_grid_graph)(1 + variant);
                coll_nodes_even(&problem.nodes, p, 1 + p % 3); /* for routes by nodes */
            } else if ((variant & 1 && (p == 1 || !coll_is(COLL_ROOTED, collective))) ||
                       (variant & 2 && collective == COLL_BARRIER) ||
                       (variant & 4 && !coll_is(COLL_REDUCING, collective))) {
                continue;
            }
            problem.root = root;
            if (row->traits & COLL_USES_NODES)
                coll_nodes_even(&problem.nodes, p, 3);
            problem.flags =
                (variant & 2 && !neighbors ? COLL_FLAG_IN_PLACE : 0u) |
                (variant & 4 || !coll_is(COLL_REDUCING, collective) ? COLL_FLAG_COMMUTATIVE
                                                                    : 0u);
            status = rig_init_on(&it, graph, row, &problem, NULL);
            if (status != COLL_OK) {
                well = well && rig_may_refuse(row->traits, status);
                continue;
            }
            visit(&it, coll_collective_name(collective), arg);
            rig_free(&it);
        }
    return well;
}

#endif /* COLL_TESTS_RIG_H */
