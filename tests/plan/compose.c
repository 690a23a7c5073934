/* Compositions: each is proven, and run on real data; and what must be refused is. */
#include "support/check.h"
#include "coll/plan/compose.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify.h"
#include "support/rig.h"

enum { MAX_PHASES = 8 };

/* The inner plans and parts of one composition. */
typedef struct built {
    coll_plan inner[MAX_PHASES], plan;
    coll_phase phase[MAX_PHASES];
    coll_composition composition;
    uint32_t n;
} built;

static coll_verifier verifier;

static coll_problem problem_of(coll_collective collective, uint32_t p, size_t count,
                               uint32_t flags)
{
    coll_problem problem;
    coll_problem_init(&problem, collective, p, count, sizeof(uint64_t));
    problem.flags = flags;
    return problem;
}

/* Adds a phase that has the outer plan's spaces and ranks; its place is changed afterwards. */
static coll_phase *add(built *b, const coll_algorithm *algorithm, const coll_problem *problem)
{
    CHECK_STATUS(coll_plan_init(&b->inner[b->n], algorithm, problem, NULL), COLL_OK);
    coll_phase_init(&b->phase[b->n], &b->inner[b->n]);
    return &b->phase[b->n++];
}

static coll_status compose(built *b, const coll_algorithm *kind, const coll_problem *problem)
{
    coll_composition_init(&b->composition, b->phase, b->n);
    return coll_plan_compose(&b->plan, kind, problem, &b->composition);
}

/* Is the plan proven? Says why not. */
static bool proven(const coll_plan *plan, const char *what)
{
    coll_verify_options options;
    coll_report report;
    memset(&options, 0, sizeof options);
    options.verifier = &verifier;
    if (coll_verify(plan, &options, &report) == COLL_PROVEN)
        return true;
    printf("%s, p = %u, count = %zu, flags %u: %s\n", what, plan->problem.p,
           plan->problem.count, plan->problem.flags, report.sentence);
    return false;
}

/* Runs the plan on real data: the rig is made for a plain algorithm of the same collective,
 * then given this plan. */
static void run(const coll_plan *plan, const coll_algorithm *plain)
{
    rig it;
    if (!CHECK_STATUS(rig_init(&it, plain, &plan->problem, NULL), COLL_OK))
        return;
    for (uint32_t r = 0; r < it.p; r++) {
        rig_rank *me = &it.ranks[r];
        me->plan = *plan;
        free(me->scratch.raw);
        free(me->scratch.before);
        rig_area_new(&me->scratch, coll_plan_scratch(plan, r));
        me->run.scratch = me->scratch.count ? me->scratch.raw + RIG_GUARD : NULL;
        me->run.scratch_bytes = me->scratch.count * sizeof(uint64_t);
    }
    for (uint32_t seed = 0; seed < 2; seed++) {
        rig_fill(&it);
        CHECK_STATUS(
            rig_loopback(&it, &coll_loopback_transport, seed == 1 ? 32 : plan->window, seed),
            COLL_OK);
        CHECK(rig_right(&it));
    }
    rig_free(&it);
}

static void prove_and_run(const built *b, const char *what)
{
    if (CHECK(proven(&b->plan, what)))
        run(&b->plan, b->plan.problem.collective == COLL_BARRIER ? &coll_linear_barrier
                                                                 : &coll_linear_allreduce);
}

static const size_t counts[] = {0, 1, 5, 17};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* ---- allreduces -------------------------------------------------------------------------- */

/* Reduce to rank 0, then bcast from it. Outside in place means that every rank's operand is in
 * OUT. */
static coll_status reduce_bcast(built *b, uint32_t p, size_t count, uint32_t flags)
{
    coll_problem outer = problem_of(COLL_ALLREDUCE, p, count, flags);
    const coll_problem reduce = problem_of(COLL_REDUCE, p, count, flags);
    const coll_problem bcast = problem_of(COLL_BCAST, p, count, COLL_FLAG_IN_PLACE);
    b->n = 0;
    if (flags & COLL_FLAG_IN_PLACE)
        add(b, &coll_fnomial_reduce, &reduce)->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
    else
        add(b, &coll_fnomial_reduce, &reduce);
    add(b, &coll_fnomial_bcast, &bcast);
    return compose(b, &coll_sequence, &outer);
}

TEST(reduce_then_bcast)
{
    built b;
    for (uint32_t p = 1; p <= 9; p++)
        for (size_t i = 0; i < COUNTS; i++)
            for (uint32_t flags = 0; flags < 4; flags++)
                if (CHECK_STATUS(reduce_bcast(&b, p, counts[i], flags), COLL_OK)) {
                    CHECK_EQ(b.composition.depth, 1);
                    prove_and_run(&b, "reduce, bcast");
                }
}

/* Rabenseifner's allreduce: the sums of the parts are made in SCRATCH, where the allgather
 * takes them. */
TEST(reduce_scatter_then_allgather)
{
    size_t parts[64], places[64];
    for (uint32_t p = 1; p <= 9; p++)
        for (size_t i = 0; i < COUNTS; i++)
            for (uint32_t flags = COLL_FLAG_COMMUTATIVE; flags < 4; flags++) {
                const size_t most = counts[i] / p + 1;
                const coll_problem outer = problem_of(COLL_ALLREDUCE, p, counts[i], flags);
                coll_problem scatter =
                    problem_of(COLL_REDUCE_SCATTER, p, 0, COLL_FLAG_COMMUTATIVE);
                coll_problem gather = problem_of(COLL_ALLGATHERV, p, 0, 0);
                coll_phase *phase;
                built b;
                for (uint32_t r = 0; r < p; r++) {
                    const coll_block block =
                        coll_part_block(coll_partition_of(counts[i], p), r);
                    parts[r] = block.count;
                    places[r] = block.offset;
                }
                scatter.in.counts = gather.out.counts = parts;
                scatter.in.displs = gather.out.displs = places;
                b.n = 0;
                phase = add(&b, &coll_ring_reduce_scatter, &scatter);
                if (flags & COLL_FLAG_IN_PLACE)
                    phase->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
                phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
                phase->base[COLL_SCRATCH] = COLL_AT(COLL_SCRATCH, most);
                phase = add(&b, &coll_ring_allgather, &gather);
                phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
                phase->base[COLL_SCRATCH] = COLL_AT(COLL_SCRATCH, most);
                CHECK_STATUS(compose(&b, &coll_sequence, &outer), COLL_OK);
                CHECK(b.plan.traits & COLL_NEEDS_COMMUTATIVE);
                prove_and_run(&b, "reduce_scatter, allgatherv");
            }
}

/* k allreduces of k pieces of the vector, side by side, by ways[0], ways[next], ways[2·next],
 * … */
static const coll_algorithm *const ways[] = {&coll_ring_allreduce,
                                             &coll_recursive_doubling_allreduce,
                                             &coll_linear_allreduce, &coll_fnomial_allreduce};

static coll_status pieces(built *b, const coll_algorithm *const *way, uint32_t next, uint32_t k,
                          const coll_problem *outer)
{
    b->n = 0;
    for (uint32_t j = 0; j < k; j++) {
        const coll_block block = coll_part_block(coll_partition_of(outer->count, k), j);
        const coll_problem piece =
            problem_of(COLL_ALLREDUCE, outer->p, block.count, outer->flags);
        coll_phase *phase = add(b, way[j * next], &piece);
        phase->base[COLL_IN] += block.offset;
        phase->base[COLL_OUT] += block.offset;
    }
    return compose(b, &coll_interleave, outer);
}

TEST(interleaved_pieces)
{
    built b;
    for (uint32_t p = 1; p <= 9; p++)
        for (size_t i = 0; i < COUNTS; i++)
            for (uint32_t k = 1; k <= 4; k += k)
                for (uint32_t way = 0; way < 6; way++) {
                    const coll_problem outer = problem_of(COLL_ALLREDUCE, p, counts[i],
                                                          COLL_FLAG_COMMUTATIVE | (way & 1));
                    CHECK_STATUS(pieces(&b, &ways[way / 2], 0, k, &outer), COLL_OK);
                    prove_and_run(&b, ways[way / 2]->name);
                }
}

/* Within nodes of m ranks, among their first ranks, within nodes: all nodes share two plans. */
TEST(two_levels_of_equal_nodes)
{
    for (uint32_t nodes = 1; nodes <= 4; nodes++)
        for (uint32_t m = 1; m <= 4; m++)
            for (size_t i = 0; i < COUNTS; i++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    const uint32_t in_place = flags | COLL_FLAG_IN_PLACE;
                    const coll_problem outer =
                        problem_of(COLL_ALLREDUCE, nodes * m, counts[i], flags);
                    const coll_problem up = problem_of(COLL_REDUCE, m, counts[i], flags);
                    const coll_problem inter =
                        problem_of(COLL_ALLREDUCE, nodes, counts[i], in_place);
                    const coll_problem down =
                        problem_of(COLL_BCAST, m, counts[i], COLL_FLAG_IN_PLACE);
                    coll_phase *phase;
                    built b;
                    b.n = 0;
                    phase = add(&b, &coll_fnomial_reduce, &up);
                    phase->map.copies = nodes;
                    phase->map.spacing = m;
                    if (flags & COLL_FLAG_IN_PLACE)
                        phase->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
                    phase = add(&b, &coll_recursive_doubling_allreduce, &inter);
                    phase->map.group.stride = m;
                    phase = add(&b, &coll_fnomial_bcast, &down);
                    phase->map.copies = nodes;
                    phase->map.spacing = m;
                    CHECK_STATUS(compose(&b, &coll_sequence, &outer), COLL_OK);
                    prove_and_run(&b, "two levels");
                }
}

/* Along the rows of a grid, then along its columns, which lie side by side in rank order. */
TEST(rows_then_columns)
{
    for (uint32_t rows = 1; rows <= 4; rows++)
        for (uint32_t columns = 1; columns <= 4; columns++)
            for (uint32_t flags = 0; flags < 4; flags++) {
                const coll_problem outer = problem_of(COLL_ALLREDUCE, rows * columns, 5, flags);
                const coll_problem row = problem_of(COLL_ALLREDUCE, columns, 5, flags);
                const coll_problem column =
                    problem_of(COLL_ALLREDUCE, rows, 5, flags | COLL_FLAG_IN_PLACE);
                coll_phase *phase;
                built b;
                b.n = 0;
                phase = add(&b, &coll_fnomial_allreduce, &row);
                phase->map.copies = rows;
                phase->map.spacing = columns;
                phase = add(&b, &coll_fnomial_allreduce, &column);
                phase->map.group.stride = columns;
                phase->map.copies = columns;
                phase->map.spacing = 1;
                CHECK_STATUS(compose(&b, &coll_sequence, &outer), COLL_OK);
                prove_and_run(&b, "rows, columns");
            }
}

/* Nodes of different sizes whose ranks are scattered: groups are tables, and each level is an
 * interleaving in the sequence of the levels. */
TEST(two_levels_of_scattered_nodes)
{
    enum { P = 9, NODES = 3 };
    static const uint32_t node_of[P] = {1, 0, 0, 2, 1, 0, 2, 1, 1};
    uint32_t table[NODES][P], inverse[NODES][P], first[NODES], firsts[P],
        sizes[NODES] = {0, 0, 0};
    for (uint32_t r = 0; r < P; r++) {
        firsts[r] = COLL_RANK_NONE;
        for (uint32_t k = 0; k < NODES; k++)
            inverse[k][r] = node_of[r] == k ? sizes[k] : COLL_RANK_NONE;
        table[node_of[r]][sizes[node_of[r]]++] = r;
    }
    for (uint32_t k = 0; k < NODES; k++) {
        first[k] = table[k][0];
        firsts[first[k]] = k;
    }
    for (size_t i = 0; i < COUNTS; i++)
        for (uint32_t flags = COLL_FLAG_COMMUTATIVE; flags < 4; flags++) {
            const size_t n = counts[i];
            const coll_problem outer = problem_of(COLL_ALLREDUCE, P, n, flags);
            const coll_problem inter =
                problem_of(COLL_ALLREDUCE, NODES, n, flags | COLL_FLAG_IN_PLACE);
            built up, down, all;
            up.n = down.n = all.n = 0;
            for (uint32_t k = 0; k < NODES; k++) {
                const coll_problem reduce = problem_of(COLL_REDUCE, sizes[k], n, flags);
                const coll_problem bcast =
                    problem_of(COLL_BCAST, sizes[k], n, COLL_FLAG_IN_PLACE);
                coll_phase *phase = add(&up, &coll_fnomial_reduce, &reduce);
                if (flags & COLL_FLAG_IN_PLACE)
                    phase->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
                coll_group_table(&phase->map.group, table[k], inverse[k]);
                phase = add(&down, &coll_fnomial_bcast, &bcast);
                coll_group_table(&phase->map.group, table[k], inverse[k]);
            }
            /* what a level alone computes has no name, so any collective will do for it */
            CHECK_STATUS(compose(&up, &coll_interleave, &outer), COLL_OK);
            CHECK_STATUS(compose(&down, &coll_interleave, &outer), COLL_OK);
            coll_phase_init(&all.phase[all.n++], &up.plan);
            coll_group_table(&add(&all, &coll_fnomial_allreduce, &inter)->map.group, first,
                             firsts);
            coll_phase_init(&all.phase[all.n++], &down.plan);
            CHECK_STATUS(compose(&all, &coll_sequence, &outer), COLL_OK);
            CHECK_EQ(all.composition.depth, 2);
            prove_and_run(&all, "scattered nodes");
        }
}

/* ---- barriers ---------------------------------------------------------------------------- */

/* Of the nodes, across them by messages or in the network, and of the nodes again. */
static void barriers(uint32_t nodes, uint32_t m, bool network)
{
    const coll_problem outer = problem_of(COLL_BARRIER, nodes * m, 0, 0);
    const coll_problem local = problem_of(COLL_BARRIER, m, 0, 0);
    const coll_problem inter = problem_of(COLL_BARRIER, nodes, 0, 0);
    built b;
    b.n = 0;
    for (int i = 0; i < 3; i++) {
        coll_phase *phase = i != 1    ? add(&b, &coll_fnomial_barrier, &local)
                            : network ? add(&b, &coll_in_network_barrier, &inter)
                                      : add(&b, &coll_dissemination_barrier, &inter);
        phase->map.group.stride = i == 1 ? m : 1;
        phase->map.copies = i == 1 ? 1 : nodes;
        phase->map.spacing = m;
        phase->group = network ? COLL_GROUP_NODES : COLL_GROUP_ALL;
    }
    CHECK_STATUS(compose(&b, &coll_sequence, &outer), COLL_OK);
    prove_and_run(&b, "barrier");
}

TEST(barrier_of_barriers)
{
    for (uint32_t nodes = 1; nodes <= 4; nodes++)
        for (uint32_t m = 1; m <= 4; m++) {
            barriers(nodes, m, false);
            barriers(nodes, m, true);
        }
}

/* ---- properties -------------------------------------------------------------------------- */

/* Each rank has a seat in exactly the copies that hold it, whatever the geometry. */
TEST(seats)
{
    coll_plan inner;
    coll_phase phase;
    unsigned geometries = 0;
    memset(&inner, 0, sizeof inner);
    coll_phase_init(&phase, &inner);
    for (uint32_t p = 1; p <= 4; p++)
        for (uint32_t base = 0; base <= 2; base++)
            for (uint32_t stride = 1; stride <= 4; stride++)
                for (uint32_t copies = 1; copies <= 4; copies++)
                    for (uint32_t spacing = 1; spacing <= 5; spacing++) {
                        uint32_t members[32] = {0}, twice = 0;
                        inner.problem.p = p;
                        coll_group_affine(&phase.map.group, base, stride);
                        phase.map.copies = copies;
                        phase.map.spacing = spacing;
                        for (uint32_t c = 0; c < copies; c++)
                            for (uint32_t i = 0; i < p; i++)
                                twice |= members[base + c * spacing + i * stride]++;
                        if (coll_i_rank_map_check(&phase.map, p, 32) != COLL_OK)
                            continue;
                        geometries++;
                        CHECK_EQ(twice, 0);
                        for (uint32_t r = 0; r < 32; r++) {
                            const coll_i_seat seat = coll_i_rank_map_seat(&phase.map, p, r);
                            CHECK_EQ(seat.rank != COLL_RANK_NONE, members[r]);
                            if (seat.rank != COLL_RANK_NONE)
                                CHECK_EQ(
                                    coll_i_rank_map_outer(&phase.map, seat.copy, seat.rank), r);
                        }
                    }
    CHECK(geometries > 300);
}

/* A phase's actions come in its own order, once each, whatever is between them. */
TEST(interleaving_keeps_every_step)
{
    built b;
    const coll_problem outer = problem_of(COLL_ALLREDUCE, 7, 30, COLL_FLAG_COMMUTATIVE);
    const coll_problem piece = problem_of(COLL_ALLREDUCE, 7, 10, COLL_FLAG_COMMUTATIVE);
    b.n = 0;
    add(&b, &coll_ring_allreduce, &piece);
    add(&b, &coll_fnomial_allreduce, &piece)->base[COLL_OUT] += 10;
    add(&b, &coll_linear_allreduce, &piece)->base[COLL_OUT] += 20;
    CHECK_STATUS(compose(&b, &coll_interleave, &outer), COLL_OK);
    for (uint32_t r = 0; r < 7; r++) {
        size_t steps = 0, skip = 0;
        for (uint32_t i = 0; i < 3; i++)
            if (steps < coll_plan_steps(&b.inner[i], r))
                steps = coll_plan_steps(&b.inner[i], r);
        CHECK_EQ(coll_plan_steps(&b.plan, r), 3 * steps);
        for (uint32_t i = 0; i < 3; i++) {
            for (size_t s = 0; s < steps; s++) {
                coll_action outside[COLL_STEP_MAX], inside[COLL_STEP_MAX];
                const unsigned n = coll_plan_step(&b.plan, r, 3 * s + i, outside);
                const unsigned m = s < coll_plan_steps(&b.inner[i], r)
                                       ? coll_plan_step(&b.inner[i], r, s, inside)
                                       : 0;
                CHECK_EQ(n, m);
                for (unsigned a = 0; a < n && a < m; a++) {
                    CHECK_EQ(outside[a].kind, inside[a].kind);
                    CHECK_EQ(outside[a].count, inside[a].count);
                    if (coll_ref_space(inside[a].dst) == COLL_OUT)
                        CHECK_EQ(outside[a].dst - inside[a].dst, 10 * i);
                    if (coll_ref_space(inside[a].via) == COLL_SCRATCH)
                        CHECK_EQ(outside[a].via - inside[a].via, skip);
                }
            }
            skip += coll_plan_scratch(&b.inner[i], r);
        }
        CHECK_EQ(coll_plan_scratch(&b.plan, r), skip);
    }
}

/* The verifier sees a composition that is wrong. */
TEST(wrong_compositions_are_not_proven)
{
    const coll_problem outer = problem_of(COLL_ALLREDUCE, 6, 17, COLL_FLAG_COMMUTATIVE);
    built b;
    coll_report report;
    CHECK_STATUS(reduce_bcast(&b, 6, 5, COLL_FLAG_COMMUTATIVE), COLL_OK);
    b.phase[1].base[COLL_OUT] = COLL_AT(COLL_OUT, 1); /* beyond the end */
    CHECK(coll_verify(&b.plan, NULL, &report) != COLL_PROVEN);
    CHECK_STATUS(reduce_bcast(&b, 6, 5, COLL_FLAG_COMMUTATIVE), COLL_OK);
    b.inner[1].problem.root = 1; /* which has no sum */
    CHECK(coll_verify(&b.plan, NULL, &report) != COLL_PROVEN);
    CHECK_STATUS(reduce_bcast(&b, 6, 5, COLL_FLAG_COMMUTATIVE), COLL_OK);
    b.composition.n = 1; /* nobody tells the others */
    CHECK(coll_verify(&b.plan, NULL, &report) != COLL_PROVEN);
    CHECK_STATUS(pieces(&b, ways, 1, 3, &outer), COLL_OK); /* two patterns on one channel */
    CHECK(coll_verify(&b.plan, NULL, &report) != COLL_PROVEN);
    CHECK_STATUS(pieces(&b, &ways[3], 0, 2, &outer), COLL_OK); /* receives before it sends */
    CHECK_EQ(coll_verify(&b.plan, NULL, &report), COLL_FOUND_DEADLOCK);
    CHECK_STATUS(reduce_bcast(&b, 6, 5, COLL_FLAG_COMMUTATIVE), COLL_OK);
    CHECK(coll_verify(&b.plan, NULL, &report) == COLL_PROVEN);
}

/* ---- errors ------------------------------------------------------------------------------ */

TEST(what_cannot_be_composed)
{
    static const uint32_t twice[3] = {0, 4, 4}, some[2] = {1, 3};
    built b, deep[COLL_COMPOSE_DEPTH + 1];
    const coll_problem outer = problem_of(COLL_ALLREDUCE, 6, 5, 0);
    coll_problem other;
    CHECK_STATUS(reduce_bcast(&b, 6, 5, 0), COLL_OK);
    CHECK_STATUS(coll_plan_compose(&b.plan, &coll_sequence, &outer, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_compose(NULL, &coll_sequence, &outer, &b.composition),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_compose(&b.plan, &coll_fnomial_allreduce, &outer, &b.composition),
                 COLL_ERR_PARAM);
    b.composition.n = 0;
    CHECK_STATUS(coll_plan_compose(&b.plan, &coll_sequence, &outer, &b.composition),
                 COLL_ERR_PARAM);

#define REFUSED(change, status)                                                                \
    CHECK_STATUS(reduce_bcast(&b, 6, 5, 0), COLL_OK);                                          \
    change;                                                                                    \
    CHECK_STATUS(coll_plan_compose(&b.plan, &coll_sequence, &outer, &b.composition), status)
    REFUSED(b.phase[1].plan = NULL, COLL_ERR_NULL);
    REFUSED(b.phase[1].map.group.base = 1, COLL_ERR_GROUP);
    REFUSED(b.phase[1].map.group.stride = 0, COLL_ERR_GROUP);
    REFUSED(b.phase[1].map.group.stride = 2, COLL_ERR_GROUP);
    REFUSED(b.phase[1].map.copies = 0, COLL_ERR_GROUP);
    REFUSED(b.phase[1].map.nodes = &outer.nodes, COLL_ERR_GROUP);
    REFUSED(b.phase[1].map.copies = 2, COLL_ERR_GROUP);
    REFUSED(coll_group_table(&b.phase[0].map.group, twice, NULL);
            b.inner[0].problem.p = 3, COLL_ERR_GROUP);
    REFUSED(coll_group_table(&b.phase[0].map.group, some, NULL);
            b.inner[0].problem.p = 2, COLL_ERR_GROUP);
    REFUSED(b.inner[1].problem.elem_bytes = 4, COLL_ERR_TYPE);
    REFUSED(b.inner[1].traits |= COLL_NEEDS_COMMUTATIVE, COLL_ERR_ORDER);
    REFUSED(b.phase[1].base[COLL_OUT] = COLL_AT(COLL_IN, 0), COLL_ERR_PARAM);
    REFUSED(b.phase[1].base[COLL_SCRATCH] = COLL_AT(COLL_SHARED, 0), COLL_ERR_PARAM);
    REFUSED(b.phase[1].base[COLL_SHARED] = COLL_AT(COLL_SCRATCH, 0), COLL_ERR_PARAM);
    REFUSED(b.phase[1].base[COLL_OUT] += COLL_REF_LIMIT - 1, COLL_ERR_OVERFLOW);
    REFUSED(b.inner[1].window = 33, COLL_ERR_WINDOW);
    REFUSED(b.composition.window = 40, COLL_ERR_WINDOW);
    REFUSED(b.inner[1].traits |= COLL_NEEDS_MULTICAST;
            b.inner[1].problem.p = 5, COLL_ERR_GROUP);

    other = problem_of(COLL_ALLREDUCE, 0, 5, 0);
    CHECK_STATUS(coll_plan_compose(&b.plan, &coll_sequence, &other, &b.composition),
                 COLL_ERR_RANKS);

    CHECK_STATUS(reduce_bcast(&deep[0], 6, 5, 0), COLL_OK);
    for (uint32_t level = 1; level <= COLL_COMPOSE_DEPTH; level++) {
        deep[level].n = 1;
        coll_phase_init(&deep[level].phase[0], &deep[level - 1].plan);
        CHECK_STATUS(
            compose(&deep[level], level & 1 ? &coll_interleave : &coll_sequence, &outer),
            level < COLL_COMPOSE_DEPTH ? COLL_OK : COLL_ERR_SHAPE);
        if (level < COLL_COMPOSE_DEPTH)
            prove_and_run(&deep[level], "nested");
    }
}

int main(void)
{
    coll_verifier_init(&verifier);
    RUN(reduce_then_bcast);
    RUN(reduce_scatter_then_allgather);
    RUN(interleaved_pieces);
    RUN(two_levels_of_equal_nodes);
    RUN(rows_then_columns);
    RUN(two_levels_of_scattered_nodes);
    RUN(barrier_of_barriers);
    RUN(seats);
    RUN(interleaving_keeps_every_step);
    RUN(wrong_compositions_are_not_proven);
    RUN(what_cannot_be_composed);
    coll_verifier_release(&verifier);
    return check_done();
}
