/* tests/algos/multi_leader.c — the laws of coll/algos/multi_leader.h, and every algorithm in both
 * roles */
#include "levels.h"

static const coll_recipe *const rows[] = {&coll_multi_leader_bcast, &coll_multi_leader_reduce,
                                          &coll_multi_leader_allreduce};
static const coll_collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Where leader number j's partition begins. */
static size_t part_at(const coll_grid_case *of, uint32_t j)
{
    const size_t pieces = (size_t)of->param[0] * of->param[1];
    const size_t at = j * of->param[1] * ((of->count + pieces - 1) / pieces);
    return at < of->count ? at : of->count;
}

/* Adds what a level within costs a rank; blocks are the partitions that a rank leads. */
static void add_within(const coll_grid_case *of, const coll_algorithm *algorithm,
                       coll_collective it, const coll_node *at, uint32_t root,
                       coll_verify_count *sum)
{
    size_t counts[64], displs[64];
    coll_problem problem;
    coll_report report;
    const bool in = it == COLL_SCATTERV || it == COLL_REDUCE_SCATTER;
    coll_problem_init(&problem, it, at->ranks, 0, 8);
    problem.root = root;
    problem.flags = COLL_COMMUTATIVE;
    for (uint32_t t = 0; t < at->ranks; t++) {
        displs[t] = part_at(of, coll_leaders_below(at->ranks, t, of->param[0]));
        counts[t] = part_at(of, coll_leaders_below(at->ranks, t + 1, of->param[0])) - displs[t];
    }
    if (in)
        problem.in.counts = counts;
    else
        problem.out.counts = counts;
    if (in)
        problem.in.displs = displs;
    else
        problem.out.displs = displs;
    report = level_apart(algorithm, &problem);
    level_add(sum, &report.ranks[at->local]);
}

/* … and what is across, piece by piece. */
static void add_across(const coll_grid_case *of, const coll_algorithm *algorithm,
                       uint32_t nodes, uint32_t root, const coll_node *at,
                       coll_verify_count *sum)
{
    const uint32_t l = of->param[0];
    const size_t piece = (of->count + l * of->param[1] - 1) / (l * of->param[1]);
    const size_t end = part_at(of, coll_leaders_below(at->ranks, at->local + 1, l));
    for (size_t i = part_at(of, coll_leaders_below(at->ranks, at->local, l)); i < end;
         i += piece) {
        coll_problem problem;
        coll_report report;
        coll_problem_init(&problem, of->collective, nodes, end - i < piece ? end - i : piece,
                          8);
        problem.flags = COLL_COMMUTATIVE;
        problem.root = root;
        report = level_apart(algorithm, &problem);
        level_add(sum, &report.ranks[at->index]);
    }
}

/* (1) and the costs. */
static void check_case(const coll_grid_case *of, const coll_recipe *recipe)
{
    const coll_report whole = level_cost(of);
    coll_verify_count own[64];
    const coll_kit *kit = level_kit(0);
    const uint32_t nodes = coll_nodes_count(&kit->nodes);
    const coll_node root = coll_node_of(&kit->nodes, of->p, of->root);
    const bool within = !coll_i_kit_flat(kit);
    memcpy(own, whole.ranks, of->p * sizeof own[0]);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(&kit->nodes, of->p, r);
        const bool here = at.index == root.index;
        const coll_verify_count outward = level_outward(r);
        coll_verify_count sum;
        memset(&sum, 0, sizeof sum);
        add_across(of, recipe->usual[2].algorithm, nodes, root.index, &at, &sum);
        CHECK_EQ(outward.messages, sum.messages);
        CHECK_EQ(outward.elements, sum.elements);
        if (within && (of->collective != COLL_BCAST || here))
            add_within(of, recipe->usual[0].algorithm,
                       of->collective == COLL_BCAST ? COLL_SCATTERV : COLL_REDUCE_SCATTER, &at,
                       of->collective == COLL_BCAST ? root.local : 0, &sum);
        if (within && (of->collective != COLL_REDUCE || here))
            add_within(of, recipe->usual[1].algorithm,
                       of->collective == COLL_REDUCE ? COLL_GATHERV : COLL_ALLGATHERV, &at,
                       of->collective == COLL_REDUCE ? root.local : 0, &sum);
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(own[r].reduced, sum.reduced);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 8 ? 1 : 14)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
                for (uint32_t l = 1; l <= 5; l += 2)
                    for (uint32_t k = 1; k <= 3; k += 2) {
                        coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row],
                                                       p, 17, COLL_COMMUTATIVE);
                        of.nodes = level_nodes[kind];
                        of.root = row < 2 ? p / 2 : 0;
                        of.param[0] = l;
                        of.param[1] = k;
                        check_case(&of, rows[row]);
                    }
}

/* (2) */
TEST(blocks_within_are_packed)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= 9; l += 2) {
                coll_grid_case of = level_case(&coll_multi_leader_allreduce.algorithm,
                                               COLL_ALLREDUCE, p, 31, COLL_COMMUTATIVE);
                of.nodes = level_nodes[kind];
                of.param[0] = l;
                CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK);
                for (uint32_t r = 0; r < p && !coll_i_kit_flat(level_kit(r)); r++) {
                    const coll_problem *first = &level_kit(r)->stages[0].plan->problem;
                    const uint32_t m = first->p;
                    CHECK(coll_i_layout_packed(&first->in, m));
                    CHECK_EQ(first->in.displs[m - 1] + first->in.counts[m - 1], of.count);
                }
            }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < ROWS; row++)
        level_try_all(rows[row], collectives[row]);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(costs);
    RUN(blocks_within_are_packed);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
