/* tests/lab/verify_cases.c — which plans a grid consists of
 *
 * A grid that leaves something out proves less, and says nothing of it. So its cases are counted here for rows of
 * every kind, and hashed: what each is called, and its tables, neighbours, group, and places. If the grid is meant to
 * change, the lines that the test prints are the new ones of its table.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"

/* What a grid has of a row. `lifted`: without a trait, to see whether it is needed. */
struct cases {
    const coll_algorithm *algorithm;
    coll_collective collective;
    uint64_t work; /* of a p */
    uint64_t planned, refused, lifted, actions, hash;
};

/* clang-format off */
static struct cases rows[] = {
    {&coll_fnomial_reduce, COLL_REDUCE, 16000, 2320, 0, 0, 55818, 0x52a3a7d42a65261b},
    {&coll_dissemination_barrier, COLL_BARRIER, 80000, 174, 0, 0, 47726, 0x2ccf532af4c5928f},
    {&coll_kprefix_allgather, COLL_ALLGATHER, 40000, 12225, 770, 0, 888710, 0x749616cc1ff31354},
    {&coll_mesh_tree_allreduce, COLL_ALLREDUCE, 40000, 839, 654, 1, 25718, 0x5366b81a09720728},
    {&coll_linear_gather, COLL_GATHERV, 40000, 999, 0, 0, 9241, 0xa9b3dd035287d598},
    {&coll_linear_scatter, COLL_SCATTERV, 16000, 778, 0, 0, 5953, 0xe258d447244ac82d},
    {&coll_ring_allgather, COLL_ALLGATHERV, 40000, 198, 0, 0, 66190, 0xb2f7dea6ecfb8f4a},
    {&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER, 40000, 196, 0, 1, 64534, 0x867667aad6d20c5c},
    {&coll_bruck_alltoallv, COLL_ALLTOALLV, 40000, 970, 0, 1, 215813, 0xe6c58fdc83c344f},
    {&coll_linear_neighbor, COLL_NEIGHBOR_ALLGATHER, 40000, 497, 0, 0, 38588, 0x56eec9b920f3864b},
    {&coll_linear_neighbor, COLL_NEIGHBOR_ALLGATHERV, 40000, 551, 0, 0, 26683, 0x87a4a5b5cbcaa500},
    {&coll_linear_neighbor, COLL_NEIGHBOR_ALLTOALLW, 40000, 544, 0, 0, 26604, 0xbe5648c4df203cc3},
    {&coll_shm_bcast, COLL_BCAST, 160000, 5418, 0, 1, 247206, 0x4c758c5d26575e77},
    {&coll_shm_reduce, COLL_REDUCE, 40000, 2172, 0, 1, 88995, 0x22599ba6d851ebbc},
    {&coll_two_level_reduce.algorithm, COLL_REDUCE, 80000, 9144, 0, 0, 105513, 0xd7f068f57d293e58},
    {&coll_two_level_allgatherv.algorithm, COLL_ALLGATHERV, 40000, 2368, 1068, 0, 50754, 0xe6b40a84697e37e6},
    {&coll_mesh_combining, COLL_NEIGHBOR_ALLTOALL, 16000, 301, 73, 1, 24543, 0x23c9c9d941e0b863},
};
/* clang-format on */

static void hash(struct cases *row, uint64_t value)
{
    row->hash = (row->hash ^ value) * 0x100000001b3u;
    row->hash ^= row->hash >> 29;
}

/* Counts and displacements of a layout of n blocks. */
static void hash_layout(struct cases *row, const coll_layout *layout, uint32_t n)
{
    for (uint32_t i = 0; layout->counts && i < n; i++) {
        hash(row, layout->counts[i]);
        hash(row, layout->displs[i]);
    }
}

static void hash_plan(struct cases *row, const coll_plan *plan, uint32_t rank)
{
    const coll_problem *problem = &plan->problem;
    const coll_graph *graph = problem->graph;
    hash(row, problem->root);
    hash(row, problem->count);
    hash(row, coll_group_outer(&plan->group, rank));
    hash_layout(row, &problem->in, graph ? graph->n_out : problem->p);
    hash_layout(row, &problem->out, graph ? graph->n_in : problem->p);
    for (uint32_t i = 0; graph && i < graph->n_in; i++)
        hash(row, coll_graph_source(graph, rank, i));
    for (uint32_t i = 0; graph && i < graph->n_out; i++)
        hash(row, coll_graph_destination(graph, rank, i));
    for (uint32_t i = 0; i < coll_nodes_count(&problem->nodes); i++)
        hash(row, coll_nodes_first(&problem->nodes, problem->p, i));
    hash(row, problem->nodes.of ? problem->nodes.of[rank] : UINT32_MAX);
}

static void count_case(void *arg, const coll_grid_worker *worker, const coll_grid_case *of,
                       coll_status status)
{
    struct cases *row = (struct cases *)arg;
    char words[512];
    coll_grid_case_words(of, words, sizeof words);
    for (const char *c = words; *c; c++)
        hash(row, (unsigned char)*c);
    hash(row, of->lifted);
    hash(row, (uint64_t)-status);
    row->lifted += of->lifted != 0;
    row->refused += !of->lifted && status != COLL_OK;
    row->planned += !of->lifted && status == COLL_OK;
    for (uint32_t rank = 0; status == COLL_OK && rank < of->p; rank++)
        hash_plan(row, (const coll_plan *)worker->plans.at + (worker->per_rank ? rank : 0),
                  rank);
}

/* Two algorithms of one name, of which the second has more parameters; one of another; what is
 * composite. */
static const coll_algorithm *const inside[] = {&coll_fnomial_bcast,
                                               &coll_fnomial_reduce,
                                               &coll_linear_reduce,
                                               &coll_ring_allgather,
                                               &coll_two_level_bcast.algorithm,
                                               &coll_chain_reduce,
                                               &coll_linear_gather};

static void count_row(struct cases *row, uint64_t *planned)
{
    coll_grid_options options;
    coll_grid_result result;
    row->hash = 0xcbf29ce484222325u;
    coll_grid_options_init(&options, &row->algorithm, 1);
    options.collectives = COLL_BIT(row->collective);
    options.p_most = 27;
    options.random_most = 90;
    options.steps = 20000;
    options.elements = 500000;
    options.work = row->work;
    options.inside.algorithms = inside;
    options.inside.n = sizeof inside / sizeof *inside;
    options.each = count_case;
    options.arg = row;
    CHECK(coll_verify_grid(&options, &result));
    row->actions = result.actions;
    *planned = result.plans;
    CHECK_EQ(result.refused, row->refused);
}

/* As it stands in the table. */
static void print_row(const struct cases *row)
{
    printf("%s %s: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", 0x%" PRIx64 "\n",
           coll_collective_name(row->collective), row->algorithm->name, row->planned,
           row->refused, row->lifted, row->actions, row->hash);
}

TEST(the_cases_of_a_grid)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cases *was = &rows[i];
        struct cases now = {was->algorithm, was->collective, was->work, 0, 0, 0, 0, 0};
        uint64_t planned;
        count_row(&now, &planned);
        CHECK_EQ(planned, now.planned);
        if (!CHECK(now.planned == was->planned && now.refused == was->refused &&
                   now.lifted == was->lifted && now.actions == was->actions &&
                   now.hash == was->hash))
            print_row(&now);
    }
}

int main(void)
{
    RUN(the_cases_of_a_grid);
    return check_done();
}
