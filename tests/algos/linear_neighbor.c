/* tests/algos/linear_neighbor.c — the laws of coll/algos/linear_neighbor.h */
#include "coll/algos/linear_neighbor.h"
#include "coll/lab/verify/case.h"

#include "support/walk.h"

static coll_grid_worker worker;

/* Makes the plans of a case, blocks of one element. */
static void make_plans(coll_collective collective, coll_grid_graph graph, uint32_t p,
                       coll_grid_case *of)
{
    memset(of, 0, sizeof *of);
    of->algorithm = &coll_linear_neighbor;
    of->collective = collective;
    of->graph = graph;
    of->p = p;
    of->count = 1;
    CHECK_STATUS(coll_i_grid_plans(&worker, of), COLL_OK);
}

/* Laws 1 and 2. */
TEST(messages_are_the_right_blocks)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned which = 1; which < COLL_GRID_GRAPHS; which++) {
            coll_grid_case of;
            make_plans(COLL_NEIGHBOR_ALLTOALL, (coll_grid_graph)which, p, &of);
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_graph *graph = coll_i_graph_of(&worker.graphs, rank);
                const walk *w = walk_of(coll_i_grid_plan_of(&worker, rank), rank);
                uint32_t sends = 0, receives = 0;
                for (uint32_t i = 0; i < graph->n_out; i++) {
                    const uint32_t to = coll_graph_destination(graph, rank, i);
                    sends += to != COLL_RANK_NONE && to != rank;
                }
                for (size_t i = 0; i < w->n; i++) {
                    const uint32_t from = w->act[i].peer;
                    const uint32_t block = (uint32_t)coll_ref_offset(w->act[i].dst);
                    const walk *theirs;
                    size_t k = 0, found = 0;
                    sends -= is_send(&w->act[i]);
                    if (!is_receive(&w->act[i]))
                        continue;
                    CHECK_EQ(coll_graph_source(graph, rank, block), from);
                    for (size_t j = 0; j < i; j++) /* it is message number k of its channel */
                        k += is_receive(&w->act[j]) && w->act[j].peer == from;
                    theirs = walk_of(coll_i_grid_plan_of(&worker, from), from);
                    for (size_t j = 0; j < theirs->n; j++)
                        if (is_send(&theirs->act[j]) && theirs->act[j].peer == rank &&
                            found++ == k)
                            CHECK_EQ(coll_ref_offset(theirs->act[j].src),
                                     coll_graph_origin(graph, rank, block,
                                                       coll_i_graph_of(&worker.graphs, from)));
                    CHECK(found > k);
                    receives++;
                }
                CHECK_EQ(sends, 0);
                for (uint32_t i = 0; i < graph->n_in; i++) {
                    const uint32_t from = coll_graph_source(graph, rank, i);
                    receives -= from != COLL_RANK_NONE && from != rank;
                }
                CHECK_EQ(receives, 0);
            }
        }
}

/* Law 3: what both ends agree on, and go by. */
static uint32_t turn_of(const coll_graph *graph, uint32_t p, uint32_t rank,
                        const coll_action *a)
{
    const size_t block = coll_ref_offset(is_send(a) ? a->src : a->dst);
    if (graph->n_dims == 0)
        return is_send(a) ? (a->peer + p - rank) % p : (rank + p - a->peer) % p;
    return is_send(a) ? (uint32_t)block : coll_graph_opposite(graph, (uint32_t)block);
}

TEST(both_ends_keep_one_order)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned which = 1; which < COLL_GRID_GRAPHS; which++) {
            coll_grid_case of;
            make_plans(COLL_NEIGHBOR_ALLTOALL, (coll_grid_graph)which, p, &of);
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_graph *graph = coll_i_graph_of(&worker.graphs, rank);
                const walk *w = walk_of(coll_i_grid_plan_of(&worker, rank), rank);
                uint32_t turn = 0;
                for (size_t i = 0; i < w->n; i++) {
                    if (!is_send(&w->act[i]) && !is_receive(&w->act[i]))
                        continue;
                    CHECK(turn_of(graph, p, rank, &w->act[i]) >= turn);
                    turn = turn_of(graph, p, rank, &w->act[i]);
                }
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned which = 1; which < COLL_GRID_GRAPHS; which++)
            for (int all = 0; all < 2; all++) {
                coll_report report;
                coll_grid_case of;
                uint32_t used[64] = {0}; /* how often: directions, or ways */
                uint64_t loops = 0, rounds = 0;
                make_plans(all ? COLL_NEIGHBOR_ALLTOALL : COLL_NEIGHBOR_ALLGATHER,
                           (coll_grid_graph)which, p, &of);
                of.count = 3;
                CHECK_STATUS(prove_case(&worker, &of, &report), COLL_OK);
                CHECK(report.ok);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const coll_graph *graph = coll_i_graph_of(&worker.graphs, rank);
                    uint32_t mine = 0, times[64] = {0};
                    const size_t ends = graph->n_in + (size_t)graph->n_out;
                    const size_t steps =
                        coll_plan_steps(coll_i_grid_plan_of(&worker, rank), rank);
                    CHECK(graph->n_dims > 0 || (4 * steps >= ends && 4 * steps < ends + 4));
                    for (uint32_t i = 0; i < graph->n_out; i++) {
                        const uint32_t to = coll_graph_destination(graph, rank, i);
                        mine += to != COLL_RANK_NONE && to != rank;
                        loops += to == rank;
                        if (to != COLL_RANK_NONE && to != rank)
                            times[graph->n_dims ? i : (to + p - rank) % p]++;
                    }
                    for (uint32_t i = 0; i < 64; i++)
                        used[i] = times[i] > used[i] ? times[i] : used[i];
                    CHECK_EQ(report.ranks[rank].messages, mine);
                    CHECK_EQ(report.ranks[rank].elements, 3 * mine);
                }
                for (uint32_t i = 0; i < 64; i++)
                    rounds += used[i];
                CHECK(report.rounds <= rounds && (report.rounds > 0) == (rounds > 0));
                if (which == COLL_GRID_RING || which == COLL_GRID_TORUS ||
                    which == COLL_GRID_STENCIL)
                    CHECK_EQ(report.rounds, rounds);
                CHECK_EQ(report.total.copied, 3 * loops);
                CHECK_EQ(report.most.scratch, 0);
            }
}

static const coll_plan *plan_in_array(void *arg, uint32_t rank)
{
    return (const coll_plan *)arg + rank;
}

/* Everyone with everyone, proven with the order of the lists; without it, all would wait for
 * others to receive. */
TEST(the_order_matters)
{
    enum { R = 5, N = R - 1 };
    for (int ordered = 0; ordered < 2; ordered++) {
        uint32_t peers[R][N], order[R][2 * N];
        coll_graph graphs[R];
        coll_plan plans[R];
        coll_verify_options options;
        coll_report report;
        memset(&options, 0, sizeof options);
        options.plan_of = plan_in_array;
        options.arg = plans;
        for (uint32_t rank = 0; rank < R; rank++) {
            coll_neighbors lists;
            coll_problem problem;
            for (uint32_t i = 0; i < N; i++)
                peers[rank][i] = i < rank ? i : i + 1;
            lists.n_in = lists.n_out = N;
            lists.sources = lists.destinations = peers[rank];
            CHECK_STATUS(coll_graph_lists(&graphs[rank], &lists, rank, R, order[rank]),
                         COLL_OK);
            for (uint32_t i = 0; i < N && !ordered; i++) {
                order[rank][i] = 2 * i;
                order[rank][N + i] = 2 * i + 1;
            }
            coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, R, 1, 8);
            problem.graph = &graphs[rank];
            CHECK_STATUS(coll_plan_init(&plans[rank], &coll_linear_neighbor, &problem, NULL),
                         COLL_OK);
        }
        prove_plan(NULL, &options, &report);
        CHECK_EQ(report.finding, ordered ? COLL_PROVEN : COLL_FOUND_WINDOW);
    }
}

int main(void)
{
    RUN(messages_are_the_right_blocks);
    RUN(both_ends_keep_one_order);
    RUN(the_order_matters);
    RUN(costs);
    coll_grid_worker_release(&worker);
    return check_done();
}
