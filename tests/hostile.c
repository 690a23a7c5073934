/* Plans that an enemy asks for: whatever coll_plan_init, coll_plan_build or coll_plan_unpack takes stays
 * within the memory that the plan asks for, and everything else is refused. */
#include <stdlib.h>
#include <string.h>

#include "support/bounds.h"
#include "support/check.h"
#include "coll/plan/pack.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify/graphs.h"

/* ---- tables that a collective does not have ------------------------------------------------ */

/* Of gather and its kin all blocks have one size: where tables say otherwise, ranks would agree neither on
 * sizes nor on places. */
TEST(tables_are_refused_where_the_collective_has_none)
{
    static const size_t counts[4] = {1, 1, 1, 1}, displs[4] = {900, 2, 1, 0};
    unsigned refused = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        const coll_algorithm *algorithm = coll_registry[i];
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
            const coll_collective collective = (coll_collective)c;
            if (!coll_is(algorithm->collectives, collective) ||
                coll_is(COLL_NEIGHBORLY, collective))
                continue;
            for (int side = 0; side < 2; side++) {
                coll_problem problem;
                coll_plan plan;
                coll_workspace workspace;
                size_t tables[64];
                coll_problem_init(&problem, collective, 4, 1, 8);
                problem.flags = COLL_FLAG_COMMUTATIVE;
                coll_workspace_init(&workspace, 0, tables, 64);
                *(side ? &problem.out.counts : &problem.in.counts) = counts;
                *(side ? &problem.out.displs : &problem.in.displs) = displs;
                if (coll_is(side ? COLL_TABLES_OUT : COLL_TABLES_IN, collective))
                    continue;
                CHECK_STATUS(coll_plan_build(&plan, algorithm, &problem, NULL, &workspace),
                             COLL_ERR_COUNTS);
                refused++;
            }
        }
    }
    CHECK(refused > 200);
}

/* Puts tables for OUT into a descriptor that has none, behind the parameters. */
static size_t forge_tables(unsigned char *wire, size_t bytes, const size_t *counts,
                           const size_t *displs, uint32_t p)
{
    coll_i_wire to;
    to.out = wire;
    to.in = NULL;
    to.bytes = bytes + 16 * (size_t)p;
    to.at = 8;
    coll_i_put(&to, to.bytes, 4);
    to.at = COLL_I_PACK_HEAD - 8;
    coll_i_put(&to, COLL_I_PACK_OUT, 4);
    to.at = bytes - 4;
    for (uint32_t i = 0; i < p; i++)
        coll_i_put(&to, counts[i], 8);
    for (uint32_t i = 0; i < p; i++)
        coll_i_put(&to, displs[i], 8);
    coll_i_put(&to, coll_i_hash(COLL_I_HASH_START, wire, to.at), 4);
    return to.bytes;
}

TEST(tables_are_refused_in_a_descriptor)
{
    static const coll_algorithm *const one[] = {&coll_bine_gather};
    static const size_t counts[4] = {1, 1, 1, 1}, displs[4] = {900, 2, 1, 0};
    unsigned char wire[COLL_PACK_BYTES + 64];
    size_t tables[8], bytes;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_GATHER, 4, 1, 8);
    CHECK_STATUS(coll_plan_init(&plan, one[0], &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_pack(&plan, wire, sizeof wire, &bytes), COLL_OK);
    CHECK_STATUS(coll_plan_unpack(&plan, wire, bytes, one, 1, tables, sizeof tables), COLL_OK);
    bytes = forge_tables(wire, bytes, counts, displs, 4);
    CHECK_STATUS(coll_plan_unpack(&plan, wire, bytes, one, 1, tables, sizeof tables),
                 COLL_ERR_COUNTS);
}

/* A barrier has a token for each rank, and where size_t has 32 bits SCRATCH has no place for 2³¹. */
TEST(tokens_fit_the_machine)
{
    const uint32_t k = 2147483647;
    coll_problem problem;
    coll_plan plan;
    coll_action acts[COLL_STEP_MAX];
    size_t steps;
    coll_problem_init(&problem, COLL_BARRIER, 2147483647, 0, 1);
    if (coll_plan_init(&plan, &coll_dissemination_barrier, &problem, &k) != COLL_OK) {
        CHECK(sizeof(size_t) == 4);
        return;
    }
    steps = coll_plan_steps(&plan, 5);
    for (unsigned n = coll_plan_step(&plan, 5, steps - 1, acts); n-- > 0;)
        CHECK(coll_ref_space(acts[n].kind == COLL_DO_NOTIFY ? acts[n].src : acts[n].dst) ==
              COLL_SCRATCH);
}

/* ---- anything at all ----------------------------------------------------------------------- */

enum { RANKS_MOST = 300 };

/* Numbers near which sums and products go wrong. */
static size_t number(size_t near)
{
    static const size_t edges[] = {0,
                                   1,
                                   2,
                                   7,
                                   1000,
                                   SIZE_MAX,
                                   SIZE_MAX / 2,
                                   SIZE_MAX / 4,
                                   SIZE_MAX / 8,
                                   SIZE_MAX / 64,
                                   COLL_REF_LIMIT,
                                   COLL_REF_LIMIT / 4,
                                   (size_t)1 << (sizeof(size_t) * 4),
                                   (size_t)1 << (sizeof(size_t) * 6)};
    const size_t edge = edges[chance(sizeof edges / sizeof edges[0])];
    switch (chance(6)) {
    case 0:
        return edge;
    case 1:
        return edge / near - chance(3) + 1;
    case 2:
        return (size_t)chance_bits(&random_state) >> chance(sizeof(size_t) * 8);
    default:
        return chance(3) ? chance(40) : chance(5000);
    }
}

static uint32_t ranks(void)
{
    static const uint32_t edges[] = {1,       2,       3,           4,           7,
                                     8,       16,      17,          64,          100,
                                     0xffffu, 0x10000, 0x7fffffffu, 0x80000000u, 0xffffffffu};
    return chance(3) ? 1 + chance(20) : edges[chance(sizeof edges / sizeof edges[0])];
}

/* What a problem points to, each in memory of exactly its size. */
typedef struct enemy {
    coll_problem problem;
    size_t *tables[4];
    uint32_t *first, *of;
    coll_i_graphs graphs;
    uint32_t param[COLL_PARAM_MAX];
    uint32_t rank;
    coll_binding bindings[2];
    uint32_t n_bindings, use_param[2][COLL_PARAM_MAX];
    coll_group group;
    uint32_t *group_table;
} enemy;

static void *block(size_t entries, size_t bytes)
{
    void *at = malloc(entries * bytes + 1);
    if (!at)
        abort();
    return at;
}

static void make_layout(coll_layout *layout, size_t **counts, size_t **displs, uint32_t n)
{
    const unsigned kind = chance(5);
    size_t at = 0;
    *counts = block(n, sizeof **counts);
    *displs = block(n, sizeof **displs);
    for (uint32_t i = 0; i < n; i++) {
        (*counts)[i] = kind == 0 ? number(n) : chance(9);
        (*displs)[i] = kind < 2 ? number(n) : kind == 2 ? chance(90) : at;
        at += (*counts)[i];
    }
    layout->counts = chance(30) ? *counts : NULL;
    layout->displs = chance(30) ? *displs : NULL;
}

static void make_nodes(enemy *it)
{
    coll_problem *problem = &it->problem;
    const uint32_t p = problem->p;
    uint32_t n = 0;
    if (chance(2) == 0) {
        coll_nodes_even(&problem->nodes, chance(9) ? p : ranks(), 1 + chance(9));
        return;
    }
    if (p > RANKS_MOST)
        return;
    it->first = block(p + (size_t)1, sizeof *it->first);
    it->of = block(p, sizeof *it->of);
    it->first[0] = 0;
    while (it->first[n] < p) {
        const uint32_t end = it->first[n] + 1 + chance(p);
        it->first[++n] = end < p ? end : p;
    }
    for (uint32_t node = 0; node < n; node++)
        for (uint32_t r = it->first[node]; r < it->first[node + 1]; r++)
            it->of[r] = node;
    if (chance(4) == 0)
        it->first[chance(n + 1)] = chance(2) ? chance(p + 2) : ranks();
    if (chance(4) == 0)
        it->of[chance(p)] = chance(2) ? chance(n + 1) : ranks();
    coll_nodes_table(&problem->nodes, n, it->first, chance(2) ? it->of : NULL);
}

static bool make_graph(enemy *it, const coll_algorithm *algorithm)
{
    coll_problem *problem = &it->problem;
    const coll_grid_graph which = (coll_grid_graph)(1 + chance(COLL_GRID_GRAPHS - 1));
    const uint32_t p = problem->p;
    if (!coll_i_graphs_make(&it->graphs, which, p))
        return false;
    it->rank = chance(p);
    problem->graph = coll_i_graph_of(&it->graphs, it->rank);
    if (algorithm->traits & COLL_NEEDS_ROUTE) {
        coll_problem other;
        coll_i_problem_assign(&other, problem);
        if (!coll_nodes_check(&other.nodes, p))
            coll_nodes_even(&other.nodes, p, 3);
        if (chance(9) == 0)
            other.collective = chance(2) ? COLL_NEIGHBOR_ALLGATHER : COLL_NEIGHBOR_ALLTOALL;
        if (coll_i_graphs_equip(&it->graphs, &other, algorithm) != COLL_OK)
            return false;
    }
    problem->graph = chance(20) ? coll_i_graph_of(&it->graphs, it->rank) : NULL;
    if (chance(9) == 0 && !it->first) /* a table of nodes is as long as p says */
        problem->p = ranks();
    return true;
}

static void make_params(const coll_algorithm *algorithm, uint32_t *param)
{
    for (uint32_t i = 0; i < algorithm->n_params && i < COLL_PARAM_MAX; i++) {
        const uint32_t least = algorithm->params[i].least, most = algorithm->params[i].most;
        const uint32_t range = most - least;
        switch (chance(6)) {
        case 0:
            param[i] = chance(2) ? least : most;
            break;
        case 1:
            param[i] = least + (range < UINT32_MAX ? chance(range + 1) : ranks());
            break;
        case 2:
            param[i] = ranks();
            break;
        case 3:
            param[i] = algorithm->params[i].default_value;
            break;
        default:
            param[i] = least + chance(range < 8 ? range + 1 : 9);
        }
    }
}

/* Ranks of a machine, in any order if they are few. */
static void make_group(enemy *it)
{
    const uint32_t p = it->problem.p;
    uint32_t at = chance(3);
    coll_group_affine(&it->group, chance(4) ? chance(40) : ranks(), chance(4));
    if (p > RANKS_MOST || chance(2))
        return;
    it->group_table = block(p, sizeof *it->group_table);
    for (uint32_t i = 0; i < p; i++, at += 1 + chance(3))
        it->group_table[i] = at;
    if (chance(4) == 0)
        it->group_table[chance(p)] = ranks();
    coll_group_table(&it->group, it->group_table, NULL);
}

static bool make_enemy(enemy *it, const coll_algorithm *algorithm)
{
    coll_problem *problem = &it->problem;
    coll_collective collective;
    memset(it, 0, sizeof *it);
    do
        collective = (coll_collective)chance(COLL_COLLECTIVES);
    while (!coll_is(algorithm->collectives, collective));
    coll_problem_init(problem, collective, ranks(), 0, chance(4) ? 8 : number(1));
    if (algorithm->traits & COLL_NEEDS_BUILD && problem->p > RANKS_MOST)
        problem->p = 1 + chance(RANKS_MOST);
    if (coll_is(COLL_NEIGHBORLY, collective))
        problem->p = 1 + chance(30);
    problem->count = number(problem->p);
    problem->flags = chance(4);
    if (chance(3) == 0)
        make_nodes(it);
    if (coll_is(COLL_NEIGHBORLY, collective) && !make_graph(it, algorithm))
        return false;
    problem->root = chance(20) ? chance(problem->p) : ranks();
    if (!problem->graph || chance(2))
        it->rank = chance(3) ? chance(problem->p) : chance(2) ? problem->root : problem->p - 1;
    for (int side = 0; side < 2; side++) {
        const bool has = coll_is(side ? COLL_TABLES_OUT : COLL_TABLES_IN, collective)
                             ? chance(9)
                             : !chance(50);
        if (has && problem->p <= RANKS_MOST)
            make_layout(side ? &problem->out : &problem->in, &it->tables[2 * side],
                        &it->tables[2 * side + 1],
                        side ? coll_out_blocks(problem) : coll_in_blocks(problem));
    }
    make_params(algorithm, it->param);
    for (; (algorithm->traits & COLL_NEEDS_BUILD) && it->n_bindings < chance(3);
         it->n_bindings++) {
        coll_binding *binding = &it->bindings[it->n_bindings];
        binding->level = (coll_level)chance(COLL_LEVELS);
        binding->algorithm = coll_registry[chance((uint32_t)COLL_REGISTRY_COUNT)];
        binding->params = chance(2) ? it->use_param[it->n_bindings] : NULL;
        make_params(binding->algorithm, it->use_param[it->n_bindings]);
        if (binding->algorithm->traits & COLL_NEEDS_BUILD)
            break;
    }
    make_group(it);
    return true;
}

static void release(enemy *it)
{
    for (int i = 0; i < 4; i++)
        free(it->tables[i]);
    free(it->first);
    free(it->of);
    free(it->group_table);
    coll_i_graphs_release(&it->graphs);
}

/* A plan, with memory for what it may be made of; refused: false. */
static bool plan_of(const enemy *it, const coll_algorithm *algorithm, coll_plan *plan,
                    coll_workspace *workspace, size_t **workspace_tables)
{
    const bool built = (algorithm->traits & COLL_NEEDS_BUILD) != 0;
    const bool legal = it->problem.p > 0 && coll_nodes_check(&it->problem.nodes, it->problem.p);
    const size_t room = built && legal ? coll_workspace_tables(&it->problem) : 0;
    coll_status status;
    *workspace_tables = block(room, sizeof **workspace_tables);
    coll_workspace_init(workspace, it->rank, *workspace_tables, room);
    workspace->bindings = it->bindings;
    workspace->n_bindings = it->n_bindings;
    status = coll_plan_build(plan, algorithm, &it->problem, it->param, workspace);
    if (status == COLL_OK && (plan->traits & COLL_USES_GROUP) &&
        coll_group_check(&it->group, it->problem.p, UINT32_MAX) == COLL_OK && chance(2))
        status = coll_plan_place(plan, &it->group);
    CHECK(status <= COLL_OK);
    return status == COLL_OK;
}

static void say(const enemy *it, const coll_algorithm *algorithm, const char *why)
{
    const coll_problem *of = &it->problem;
    printf("    %s %s, p = %u, root %u, rank %u, count %zu of %zu bytes, flags %u, %u nodes "
           "(ppn %u), parameters %u %u %u: %s\n",
           coll_collective_name(of->collective), algorithm->name, of->p, of->root, it->rank,
           of->count, of->elem_bytes, of->flags, of->nodes.count, of->nodes.by_ppn.by,
           it->param[0], it->param[1], it->param[2], why);
    for (uint32_t i = 0; i < of->p && i < 8 && (of->in.counts || of->out.counts); i++)
        printf("      in %zu at %zu, out %zu at %zu\n", of->in.counts ? of->in.counts[i] : 0,
               of->in.counts ? of->in.displs[i] : 0, of->out.counts ? of->out.counts[i] : 0,
               of->out.counts ? of->out.displs[i] : 0);
}

TEST(plans_stay_within_their_memory)
{
    const char *rounds_word = getenv("COLL_ROUNDS"), *only = getenv("COLL_ONLY");
    const unsigned rounds =
        rounds_word ? (unsigned)strtoul(rounds_word, NULL, 10) : 1000 / CHECK_SHARE;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        const coll_algorithm *algorithm = coll_registry[i];
        unsigned taken = 0;
        if (only && strcmp(only, algorithm->name) != 0)
            continue;
        for (unsigned round = 0; round < rounds; round++) {
            enemy it;
            random_state = (i << 32) + round;
            random_state = chance_bits(&random_state); /* else streams that overlap */
            if (make_enemy(&it, algorithm)) {
                coll_plan plan;
                coll_workspace workspace;
                size_t *tables;
                char why[BOUNDS_TEXT];
                if (plan_of(&it, algorithm, &plan, &workspace, &tables) &&
                    coll_plan_check_rank(&plan, it.rank) == COLL_OK) {
                    taken++;
                    if (!CHECK(bounds_kept(&plan, it.rank, &random_state, why)))
                        say(&it, algorithm, why);
                }
                free(tables);
            }
            release(&it);
        }
        if (!CHECK(taken >= rounds / 100))
            printf("    %s: %u of %u\n", algorithm->name, taken, rounds);
    }
}

int main(void)
{
    RUN(tables_are_refused_where_the_collective_has_none);
    RUN(tables_are_refused_in_a_descriptor);
    RUN(tokens_fit_the_machine);
    RUN(plans_stay_within_their_memory);
    return check_done();
}
