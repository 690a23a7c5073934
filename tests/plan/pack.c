/* Plans as bytes: descriptors do the same, keep all tables, and are refused when they were cut, damaged
 * or forged. */
#include "support/check.h"
#include "coll/plan/pack.h"
#include "coll/algos/registry.h"
#include "support/replay.h"
#include "support/rig.h"
#include "support/same_actions.h"

/* Packs and unpacks the plan of every rank, whose tables differ. */
static void pack(rig *it, const char *what, void *arg)
{
    static unsigned char wire[4096];
    static size_t memory[512];
    (void)what;
    (void)arg;
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_plan *plan = &it->ranks[r].plan;
        size_t bytes = 0, asked = 0;
        coll_plan again;
        if (plan->traits & (COLL_NEEDS_BUILD | COLL_NEEDS_ROUTE)) {
            CHECK_STATUS(coll_plan_pack(plan, wire, sizeof wire, &bytes), COLL_ERR_COMPOSED);
            continue;
        }
        CHECK_STATUS(coll_plan_pack(plan, NULL, 0, &asked), COLL_ERR_MEMORY);
        CHECK_STATUS(coll_plan_pack(plan, wire, asked - 1, &bytes), COLL_ERR_MEMORY);
        CHECK_STATUS(coll_plan_pack(plan, wire, asked, &bytes), COLL_OK);
        CHECK_EQ(asked, bytes);
        if (!plan->problem.in.counts && !plan->problem.out.counts && !plan->problem.graph &&
            !plan->problem.nodes.count)
            CHECK(bytes <= COLL_PACK_BYTES);
        CHECK_STATUS(coll_plan_unpack(&again, wire, bytes, coll_registry, COLL_REGISTRY_COUNT,
                                      memory, sizeof memory),
                     COLL_OK);
        CHECK(again.algorithm == plan->algorithm);
        CHECK(again.problem.elem_bytes == plan->problem.elem_bytes);
        CHECK_EQ(again.window, plan->window);
        CHECK_EQ(again.traits, plan->traits);
        CHECK(same_actions(&again, plan, r));
        CHECK_EQ(coll_plan_scratch(&again, r), coll_plan_scratch(plan, r));
    }
}

TEST(packed_plans_do_the_same)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 7; p += 2)
            for (size_t count = 0; count <= 9; count += 9)
                CHECK(rig_each(coll_registry[i], p, count, pack, NULL));
}

/* ---- descriptors ------------------------------------------------------------------------- */

/* A plan with tables, a graph and a group that is a table, packed. */
typedef struct packed {
    size_t counts[5], displs[5];
    uint32_t table[5], order[5];
    coll_graph graph;
    coll_plan plan;
    unsigned char wire[512];
    size_t bytes;
} packed;

static const coll_algorithm *const few[] = {&coll_linear_reduce_scatter, &coll_fnomial_bcast,
                                            &coll_ring_allgather, &coll_linear_neighbor};
static size_t tables[128];

static void make_packed(packed *it)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLGATHERV, 5, 0, 8);
    for (uint32_t i = 0; i < 5; i++) {
        it->counts[i] = i + 1;
        it->displs[i] = 10 * i;
        it->table[i] = 100 - i;
    }
    problem.out.counts = it->counts;
    problem.out.displs = it->displs;
    CHECK_STATUS(coll_plan_init(&it->plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    coll_group_table(&it->plan.group, it->table, NULL);
    CHECK_STATUS(coll_plan_pack(&it->plan, it->wire, sizeof it->wire, &it->bytes), COLL_OK);
}

/* A neighbor_alltoallv of rank 1 of 6: on a stencil, a mesh, or lists. */
enum { ON_STENCIL = 1, ON_MESH, ON_LISTS, PACKED_KINDS };

static void make_packed_graph(packed *it, int kind)
{
    static const uint32_t dims[2] = {2, 3}, one_dim[1] = {6}, sources[3] = {5, 1, 5},
                          destinations[2] = {1, 4};
    static const int32_t vectors[2][2] = {{1, -1}, {0, 2}};
    static const coll_neighbors lists = {3, sources, 2, destinations};
    coll_problem problem;
    if (kind == ON_STENCIL)
        CHECK_STATUS(coll_graph_stencil(&it->graph, 2, dims, 2, &vectors[0][0], 2), COLL_OK);
    else if (kind == ON_MESH)
        CHECK_STATUS(coll_graph_mesh(&it->graph, 1, one_dim, 0), COLL_OK);
    else
        CHECK_STATUS(coll_graph_lists(&it->graph, &lists, 1, 6, it->order), COLL_OK);
    for (uint32_t i = 0; i < 5; i++) {
        it->counts[i] = i + 1;
        it->displs[i] = 10 * i;
    }
    coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALLV, 6, 0, 8);
    problem.graph = &it->graph;
    problem.in.counts = problem.out.counts = it->counts;
    problem.in.displs = problem.out.displs = it->displs;
    CHECK_STATUS(coll_plan_init(&it->plan, &coll_linear_neighbor, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_pack(&it->plan, it->wire, sizeof it->wire, &it->bytes), COLL_OK);
}

/* Gives a changed descriptor the right check sum. */
static void seal(unsigned char *wire, size_t bytes)
{
    const uint32_t hash = coll_i_hash(COLL_I_HASH_START, wire, bytes - 4);
    for (unsigned i = 0; i < 4; i++)
        wire[bytes - 4 + i] = (unsigned char)(hash >> (8 * i));
}

static coll_status unpack(coll_plan *plan, const unsigned char *wire, size_t bytes)
{
    return coll_plan_unpack(plan, wire, bytes, few, sizeof few / sizeof few[0], tables,
                            sizeof tables);
}

TEST(descriptors_keep_groups_and_tables)
{
    packed it;
    coll_plan again;
    coll_problem problem;
    uint32_t params[3] = {3, 7, 0};
    make_packed(&it);
    CHECK_STATUS(unpack(&again, it.wire, it.bytes), COLL_OK);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQ(coll_group_outer(&again.group, i), 100 - i);
        CHECK_EQ(coll_group_rank(&again.group, 5, 100 - i), i); /* a member finds itself … */
        CHECK_EQ(again.problem.out.counts[i], i + 1);
        CHECK_EQ(again.problem.out.displs[i], 10 * i);
    }
    CHECK_EQ(coll_group_rank(&again.group, 5, 95), COLL_RANK_NONE); /* … and nobody else */
    CHECK_EQ(coll_group_rank(&again.group, 5, 101), COLL_RANK_NONE);
    CHECK_STATUS(coll_plan_unpack(&again, it.wire, it.bytes, few, 3, tables,
                                  5 * (2 * sizeof(size_t) + 4) - 1),
                 COLL_ERR_MEMORY);
    CHECK_STATUS(
        coll_plan_unpack(&again, it.wire, it.bytes, few, 3, tables, 5 * 2 * sizeof(size_t) - 1),
        COLL_ERR_MEMORY);
    CHECK_STATUS(coll_plan_unpack(&again, it.wire, it.bytes, few, 2, tables, sizeof tables),
                 COLL_ERR_UNKNOWN);

    coll_problem_init(&problem, COLL_BCAST, 9, 1000, 8);
    problem.root = 4;
    CHECK_STATUS(coll_plan_init(&it.plan, &coll_fnomial_bcast, &problem, params), COLL_OK);
    coll_group_affine(&it.plan.group, 5, 3);
    CHECK_STATUS(coll_plan_pack(&it.plan, it.wire, sizeof it.wire, &it.bytes), COLL_OK);
    CHECK_STATUS(coll_plan_unpack(&again, it.wire, it.bytes, few, 3, NULL, 0), COLL_OK);
    CHECK_EQ(again.param[0], 3);
    CHECK_EQ(again.param[1], 7);
    CHECK_EQ(again.problem.root, 4);
    CHECK_EQ(coll_group_outer(&again.group, 2), 11);
    for (uint32_t r = 0; r < 9; r++)
        CHECK(same_actions(&again, &it.plan, r));
}

TEST(descriptors_keep_graphs)
{
    for (int kind = ON_STENCIL; kind < PACKED_KINDS; kind++) {
        packed it;
        coll_plan again;
        size_t least = 0;
        make_packed_graph(&it, kind);
        while (coll_plan_unpack(&again, it.wire, it.bytes, few, 4, tables, least) ==
               COLL_ERR_MEMORY)
            least++;
        CHECK(least >= sizeof(coll_graph) && least < sizeof(coll_graph) + 200);
        CHECK_STATUS(unpack(&again, it.wire, it.bytes), COLL_OK);
        CHECK_EQ(again.problem.graph->n_in, it.graph.n_in);
        CHECK_EQ(again.problem.graph->n_out, it.graph.n_out);
        for (uint32_t r = kind == ON_LISTS ? 1 : 0; r < (kind == ON_LISTS ? 2 : 6); r++)
            CHECK(same_actions(&again, &it.plan, r));
    }
}

/* A bcast of 6 ranks on nodes: two of 3, or by a table. */
static coll_status nodes_again(coll_plan *again, unsigned char *wire, size_t *bytes, bool table,
                               size_t room)
{
    static const uint32_t first[3] = {0, 1, 6};
    static const coll_algorithm *const one[] = {&coll_fnomial_bcast};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_BCAST, 6, 10, 4);
    if (table)
        coll_nodes_table(&problem.nodes, 2, first, NULL);
    else
        coll_nodes_even(&problem.nodes, 6, 3);
    CHECK_STATUS(coll_plan_init(&plan, one[0], &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_pack(&plan, wire, 512, bytes), COLL_OK);
    return coll_plan_unpack(again, wire, *bytes, one, 1, room ? tables : NULL, room);
}

TEST(descriptors_keep_nodes)
{
    static const coll_algorithm *const one[] = {&coll_fnomial_bcast};
    unsigned char wire[512];
    size_t bytes, nodes;
    coll_plan again;
    CHECK_STATUS(nodes_again(&again, wire, &bytes, false, 0), COLL_OK);
    CHECK_EQ(again.problem.nodes.by_ppn.by, 3);
    CHECK_EQ(coll_node_of(&again.problem.nodes, 6, 4).first, 3);
    nodes = COLL_I_PACK_HEAD + 4 * (size_t)again.algorithm->n_params;
    wire[nodes] = 3; /* of three ranks each, there are two */
    seal(wire, bytes);
    CHECK_STATUS(coll_plan_unpack(&again, wire, bytes, one, 1, NULL, 0), COLL_ERR_NODES);

    CHECK_STATUS(nodes_again(&again, wire, &bytes, true, 3 * sizeof(uint32_t) - 1),
                 COLL_ERR_MEMORY);
    CHECK_STATUS(nodes_again(&again, wire, &bytes, true, 3 * sizeof(uint32_t)), COLL_OK);
    CHECK_EQ(coll_node_of(&again.problem.nodes, 6, 4).ranks, 5);
    CHECK_EQ(again.problem.nodes.most, 5);
    for (unsigned last = 0; last < 9; last++) {
        wire[nodes + 8 + 8] = (unsigned char)last;
        seal(wire, bytes);
        CHECK_STATUS(coll_plan_unpack(&again, wire, bytes, one, 1, tables, sizeof tables),
                     last == 6 ? COLL_OK : COLL_ERR_NODES);
    }
}

TEST(no_ranks_at_all)
{
    packed it;
    coll_plan again;
    make_packed(&it);
    it.wire[20] = 0; /* p */
    it.bytes -= 5 * (16 + 4);
    it.wire[8] = (unsigned char)it.bytes;
    it.wire[9] = 0;
    seal(it.wire, it.bytes);
    CHECK_STATUS(coll_plan_unpack(&again, it.wire, it.bytes, few, 4, NULL, 0), COLL_ERR_RANKS);
}

/* A group is checked in little time, however many ranks it has, and kept in its order. */
TEST(large_groups)
{
    const uint32_t p =
        1000000; /* of which 500,000,000,000 pairs would take until ctest ends it */
    const coll_algorithm *const one[] = {&coll_fnomial_bcast};
    uint32_t *table = malloc(p * sizeof *table), *memory = malloc(p * sizeof *memory);
    unsigned char *wire = malloc(4 * (size_t)p + COLL_PACK_BYTES);
    coll_problem problem;
    coll_plan plan, again;
    size_t bytes;
    for (uint32_t i = 0; i < p; i++)
        table[i] = (uint32_t)((uint64_t)i * 99991 % 2097143);
    coll_problem_init(&problem, COLL_BCAST, p, 10, 4);
    CHECK_STATUS(coll_plan_init(&plan, one[0], &problem, NULL), COLL_OK);
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 1)
            table[p / 2] = table[p - 1];
        if (kind == 2)
            table[p / 2] = COLL_RANK_NONE;
        coll_group_table(&plan.group, table, NULL);
        CHECK_STATUS(coll_plan_pack(&plan, wire, 4 * (size_t)p + COLL_PACK_BYTES, &bytes),
                     COLL_OK);
        CHECK_STATUS(
            coll_plan_unpack(&again, wire, bytes, one, 1, memory, p * sizeof *memory - 1),
            COLL_ERR_MEMORY);
        CHECK_STATUS(coll_plan_unpack(&again, wire, bytes, one, 1, memory, p * sizeof *memory),
                     kind ? COLL_ERR_GROUP : COLL_OK);
        if (kind == 0)
            CHECK(memcmp(memory, table, p * sizeof *memory) == 0);
    }
    free(table);
    free(memory);
    free(wire);
}

/* Where the algorithm computes on the group, the group that came with it must suit it. */
TEST(descriptors_of_a_machine)
{
    static const coll_algorithm *const one[] = {&coll_prefix_allgather};
    static const uint32_t up[4] = {1, 2, 5, 7}, down[4] = {7, 5, 2, 1}, nodes = 8;
    coll_problem problem;
    coll_plan plan, again;
    unsigned char wire[512];
    size_t bytes;
    coll_problem_init(&problem, COLL_ALLGATHER, 4, 3, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_prefix_allgather, &problem, &nodes), COLL_OK);
    for (unsigned k = 0; k < 2; k++) {
        coll_group_table(&plan.group, k ? down : up, NULL);
        CHECK_STATUS(coll_plan_pack(&plan, wire, sizeof wire, &bytes), COLL_OK);
        CHECK_STATUS(coll_plan_unpack(&again, wire, bytes, one, 1, tables, sizeof tables),
                     k ? COLL_ERR_GROUP : COLL_OK);
        for (uint32_t r = 0; k == 0 && r < 4; r++)
            CHECK(same_actions(&again, &plan, r));
    }
}

static void make_packed_kind(packed *it, int kind)
{
    if (kind == 0)
        make_packed(it);
    else
        make_packed_graph(it, kind);
}

TEST(damaged_descriptors_are_refused)
{
    for (int kind = 0; kind < PACKED_KINDS; kind++) {
        packed it;
        coll_plan again;
        make_packed_kind(&it, kind);
        for (size_t bytes = 0; bytes < it.bytes; bytes++) {
            unsigned char *copy = malloc(bytes + 1); /* reading beyond the end is noticed */
            memcpy(copy, it.wire, bytes);
            CHECK_STATUS(unpack(&again, copy, bytes), COLL_ERR_FORMAT);
            if (bytes >= 16) {
                copy[8] = (unsigned char)bytes; /* as if it were meant to be so short */
                copy[9] = (unsigned char)(bytes >> 8);
                seal(copy, bytes);
                CHECK(unpack(&again, copy, bytes) < 0);
            }
            free(copy);
        }
        CHECK_STATUS(unpack(&again, it.wire, it.bytes + 1), COLL_ERR_FORMAT);
        for (size_t bit = 0; bit < 8 * it.bytes; bit++) {
            it.wire[bit / 8] ^= (unsigned char)(1u << bit % 8);
            CHECK_STATUS(unpack(&again, it.wire, it.bytes), COLL_ERR_FORMAT);
            it.wire[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        CHECK_STATUS(unpack(&again, it.wire, it.bytes), COLL_OK);
    }
}

/* Descriptors of right check sum but wrong content: refused, or a plan that can be asked for
 * its steps. */
static void forge(int kind, unsigned *valid, unsigned *refused)
{
    packed it;
    uint64_t random = 1;
    make_packed_kind(&it, kind);
    for (unsigned round = 0; round < 60000; round++) {
        unsigned char wire[512];
        coll_plan again;
        coll_status status;
        memcpy(wire, it.wire, it.bytes);
        if (round < 8 * it.bytes) {
            wire[round / 8] ^= (unsigned char)(1u << round % 8);
        } else {
            for (int i = 0; i < 3; i++) {
                const uint32_t at = chance_of(&random, (uint32_t)it.bytes - 16);
                wire[12 + at] = (unsigned char)chance_of(&random, 256);
            }
        }
        seal(wire, it.bytes);
        status = unpack(&again, wire, it.bytes);
        if (status != COLL_OK) {
            CHECK(status < 0);
            (*refused)++;
            continue;
        }
        (*valid)++;
        CHECK(again.problem.p > 0 && again.problem.root < again.problem.p);
        CHECK(again.problem.elem_bytes > 0);
        for (uint32_t r = 0; r < again.problem.p && r < 5; r++) {
            coll_action acts[COLL_STEP_MAX];
            const size_t steps = coll_plan_steps(&again, r);
            for (size_t s = 0; s < steps && s < 8 && coll_plan_check_rank(&again, r) == COLL_OK;
                 s++)
                CHECK(coll_plan_step(&again, r, s, acts) <= COLL_STEP_MAX);
        }
    }
}

TEST(forged_descriptors_are_refused_or_valid)
{
    for (int kind = 0; kind < PACKED_KINDS; kind++) {
        unsigned valid = 0, refused = 0;
        forge(kind, &valid, &refused);
        CHECK(valid > 100);
        CHECK(refused > 100);
    }
}

TEST(what_cannot_be_packed)
{
    coll_problem problem;
    coll_plan plan, again;
    coll_schedule schedule;
    coll_action actions[8];
    unsigned char wire[COLL_PACK_BYTES];
    size_t bytes;
    coll_problem_init(&problem, COLL_BCAST, 3, 8, 4);
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_bcast, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_pack(NULL, wire, sizeof wire, &bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_pack(&plan, wire, sizeof wire, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_pack(&plan, NULL, 1, &bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, actions, 8), COLL_OK);
    again = replay_plan(&plan, &schedule);
    CHECK_STATUS(coll_plan_pack(&again, wire, sizeof wire, &bytes), COLL_ERR_COMPOSED);
    CHECK_STATUS(coll_plan_unpack(NULL, wire, 4, few, 3, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_unpack(&plan, NULL, 4, few, 3, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_unpack(&plan, wire, 4, NULL, 3, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_unpack(&plan, wire, 4, few, 3, NULL, 9), COLL_ERR_NULL);
}

/* The bytes are the same on every machine and in every version that says 1. */
TEST(the_format_is_fixed)
{
    static const unsigned char wanted[] = {
        'c', 'o', 'l', 'l', 1, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0, 0, /* hash: below */
        1,   0,   0,   0,   9, 0, 0, 0, 4,  0, 0, 0, 1, 0, 0, 0, /* bcast, p, root, flags */
        232, 3,   0,   0,   0, 0, 0, 0, 8,  0, 0, 0, 0, 0, 0, 0, /* count, elem_bytes */
        0,   0,   0,   0,   1, 0, 0, 0, 0,  0, 0, 0, 2, 0, 0, 0, /* group, tables, params */
        3,   0,   0,   0,   7, 0, 0, 0};
    const uint32_t params[2] = {3, 7};
    unsigned char wire[COLL_PACK_BYTES];
    coll_problem problem;
    coll_plan plan;
    size_t bytes;
    coll_problem_init(&problem, COLL_BCAST, 9, 1000, 8);
    problem.root = 4;
    problem.flags = COLL_FLAG_IN_PLACE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_chain_bcast, &problem, params), COLL_OK);
    CHECK_STATUS(coll_plan_pack(&plan, wire, sizeof wire, &bytes), COLL_OK);
    CHECK_EQ(bytes, sizeof wanted + 4);
    for (size_t i = 0; i < sizeof wanted; i++)
        if (i < 12 || i >= 16)
            CHECK_EQ(wire[i], wanted[i]);
    CHECK_EQ(coll_i_hash(COLL_I_HASH_START, (const unsigned char *)"a", 1), 0xe40c292c);
}

int main(void)
{
    RUN(packed_plans_do_the_same);
    RUN(descriptors_keep_groups_and_tables);
    RUN(descriptors_keep_graphs);
    RUN(descriptors_keep_nodes);
    RUN(no_ranks_at_all);
    RUN(large_groups);
    RUN(descriptors_of_a_machine);
    RUN(damaged_descriptors_are_refused);
    RUN(forged_descriptors_are_refused_or_valid);
    RUN(what_cannot_be_packed);
    RUN(the_format_is_fixed);
    return check_done();
}
