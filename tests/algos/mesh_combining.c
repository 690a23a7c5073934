/* tests/algos/mesh_combining.c — the laws of coll/algos/mesh_combining.h, on stencils at random, and
 * of combining.h */
#include "coll/algos/mesh_combining.h"
#include "coll/lab/verify/graphs.h"

#include "support/sized_words.h"
#include "support/walk.h"

enum { DIMS = 4, VECTORS = 30 };

/* A stencil, as the test sees it. */
typedef struct stencil {
    uint32_t n_dims, dims[DIMS], periodic, p;
    uint32_t n;
    int32_t vectors[VECTORS * DIMS];
} stencil;

static coll_i_graphs graphs;
static coll_plan plans[WALK_RANKS];

static const coll_plan *plan_at(void *arg, uint32_t rank)
{
    (void)arg;
    return &plans[rank];
}

/* Makes the plans of all ranks, and proves them. */
static coll_report prove(const stencil *of, coll_collective collective, size_t count)
{
    static coll_verifier memory;
    coll_verify_options options;
    coll_problem problem;
    coll_report report;
    coll_problem_init(&problem, collective, of->p, count, 8);
    graphs.per_rank = false;
    CHECK(coll_i_reserve_new(&graphs.graphs, sizeof(coll_graph)) != NULL);
    CHECK_STATUS(coll_graph_stencil((coll_graph *)graphs.graphs.at, of->n_dims, of->dims,
                                    of->periodic, of->vectors, of->n),
                 COLL_OK);
    CHECK_STATUS(coll_i_graphs_route(&graphs, &problem, false), COLL_OK);
    for (uint32_t rank = 0; rank < of->p; rank++) {
        problem.graph = coll_i_graph_of(&graphs, rank);
        CHECK_STATUS(coll_plan_init(&plans[rank], &coll_mesh_combining, &problem, NULL),
                     COLL_OK);
    }
    memset(&options, 0, sizeof options);
    options.verifier = &memory;
    options.plan_of = plan_at;
    if (!CHECK(prove_plan(NULL, &options, &report) == COLL_PROVEN))
        printf("    %s\n", report.sentence);
    return report;
}

/* ---- coordinates ------------------------------------------------------------------------- */

static void coordinates(const stencil *of, uint32_t rank, int64_t *at)
{
    for (uint32_t d = of->n_dims; d-- > 0; rank /= of->dims[d])
        at[d] = rank % of->dims[d];
}

static bool wraps(const stencil *of, uint32_t d)
{
    return (of->periodic >> d) & 1u;
}

/* How far vector i goes in dimension d: 0 if nowhere, the same for all that go equally far. */
static int64_t distance(const stencil *of, uint32_t i, uint32_t d)
{
    const int64_t c = of->vectors[i * of->n_dims + d], size = of->dims[d];
    return wraps(of, d) ? (c % size + size) % size : c;
}

/* Does vector i send a block over this rank along dimension d? */
static bool sends(const stencil *of, uint32_t rank, uint32_t i, uint32_t d)
{
    int64_t at[DIMS];
    coordinates(of, rank, at);
    for (uint32_t e = 0; e < of->n_dims; e++) {
        const int64_t c = of->vectors[i * of->n_dims + e];
        const int64_t other = e < d ? at[e] - c : at[e] + c; /* origin, or destination */
        if (!wraps(of, e) && (other < 0 || other >= of->dims[e]))
            return false;
    }
    return distance(of, i, d) != 0;
}

/* The dimension in which two ranks differ, if there is exactly one. */
static uint32_t dimension_between(const stencil *of, uint32_t a, uint32_t b)
{
    int64_t x[DIMS], y[DIMS];
    uint32_t found = COLL_RANK_NONE;
    coordinates(of, a, x);
    coordinates(of, b, y);
    for (uint32_t d = 0; d < of->n_dims; d++)
        if (x[d] != y[d]) {
            CHECK(found == COLL_RANK_NONE);
            found = d;
        }
    CHECK(found != COLL_RANK_NONE);
    return found;
}

/* Blocks in the message of a rank along dimension d at this distance: those of all vectors, or of
 * all beginnings of vectors. */
static uint32_t blocks_at(const stencil *of, uint32_t rank, uint32_t d, int64_t far,
                          bool beginnings)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        bool counted = false;
        if (!sends(of, rank, i, d) || distance(of, i, d) != far)
            continue;
        for (uint32_t k = 0; k < i && beginnings && !counted; k++) {
            counted = sends(of, rank, k, d);
            for (uint32_t e = 0; e <= d; e++)
                counted = counted && distance(of, i, e) == distance(of, k, e);
        }
        n += !counted;
    }
    return n;
}

/* ---- laws -------------------------------------------------------------------------------- */

typedef bool ways_of[DIMS][WALK_RANKS]; /* that a message of a dimension goes */

/* What a rank sends and receives, of `count` elements a block. */
static void check_rank(const stencil *of, uint32_t rank, bool all, size_t count,
                       const coll_report *report, ways_of ways)
{
    const walk *w = walk_of(&plans[rank], rank);
    bool sent[WALK_RANKS] = {false}, received[WALK_RANKS] = {false};
    uint32_t messages = 0, last = 0;
    uint64_t elements = 0, took = 0;
    for (size_t k = 0; k < w->n; k++) {
        const coll_action *a = &w->act[k];
        const uint32_t other = a->peer;
        int64_t here[DIMS], there[DIMS], far;
        uint32_t d;
        if (!is_send(a) && !is_receive(a))
            continue;
        d = dimension_between(of, rank, other);
        CHECK(d >= last);
        last = d;
        if (is_receive(a)) {
            CHECK(!received[other]);
            received[other] = true;
            took += a->count;
            continue;
        }
        CHECK(!sent[other]);
        sent[other] = true;
        ways[d][(other + of->p - rank) % of->p] = true;
        coordinates(of, rank, here);
        coordinates(of, other, there);
        far = there[d] - here[d];
        far = wraps(of, d) && far < 0 ? far + of->dims[d] : far;
        CHECK_EQ(a->count, count * blocks_at(of, rank, d, far, !all));
        messages++;
        elements += a->count;
    }
    for (uint32_t d = 0; d < of->n_dims; d++)
        for (uint32_t i = 0; i < of->n; i++) { /* no distance is missing */
            bool first = sends(of, rank, i, d);
            for (uint32_t k = 0; k < i && first; k++)
                first = !sends(of, rank, k, d) || distance(of, k, d) != distance(of, i, d);
            messages -= first;
        }
    CHECK_EQ(messages, 0);
    CHECK_EQ(report->ranks[rank].elements, elements);
    CHECK(coll_plan_scratch(&plans[rank], rank) <= elements + took);
}

static void check_stencil(const stencil *of)
{
    for (int all = 0; all < 2; all++) {
        const size_t count = 3;
        const coll_report report =
            prove(of, all ? COLL_NEIGHBOR_ALLTOALL : COLL_NEIGHBOR_ALLGATHER, count);
        ways_of ways = {{false}};
        uint32_t most = 0;
        for (uint32_t rank = 0; rank < of->p; rank++)
            check_rank(of, rank, all, count, &report, ways);
        for (uint32_t d = 0; d < of->n_dims; d++)
            for (uint32_t way = 0; way < of->p; way++)
                most += ways[d][way];
        CHECK(report.rounds <= most && (report.rounds > 0) == (most > 0));
    }
}

/* Blocks of any sizes by the same routes: the sizes first, and then a proof with what each rank has seen. */
static void check_sizes(const stencil *of, uint64_t *random)
{
    static uint64_t in[WALK_RANKS][VECTORS + 1], out[WALK_RANKS][VECTORS + 1];
    static size_t table[WALK_RANKS][4][VECTORS + 1];
    static coll_route routes[WALK_RANKS];
    static coll_sized_route sized[WALK_RANKS];
    static coll_verifier memory;
    coll_verify_options options;
    coll_report report = prove(of, COLL_NEIGHBOR_ALLTOALL, 1); /* makes the routes */
    const uint64_t messages = report.messages;
    uint64_t *ins[WALK_RANKS], *outs[WALK_RANKS];
    size_t *offsets[WALK_RANKS];
    for (int words = 1; words >= 0; words--) {
        for (uint32_t rank = 0; rank < of->p; rank++) {
            size_t(*t)[VECTORS + 1] = table[rank], at[2] = {0, 0};
            coll_problem problem;
            coll_problem_init(&problem,
                              words ? COLL_NEIGHBOR_ALLTOALL : COLL_NEIGHBOR_ALLTOALLV, of->p,
                              words ? 1u : 0u, 8);
            problem.graph = coll_i_graph_of(&graphs, rank);
            routes[rank] = *problem.graph->alltoall;
            sized[rank].route = &routes[rank];
            sized[rank].at = words ? NULL : offsets[rank];
            for (uint32_t i = 0; i < of->n && words; i++) {
                in[rank][i] =
                    coll_i_random_below(random, 3) ? coll_i_random_below(random, 4) : 0;
                out[rank][i] = 0;
            }
            for (uint32_t i = 0; i < of->n && !words; i++) {
                t[0][i] = (size_t)in[rank][i];
                t[1][i] = at[0];
                t[2][i] = (size_t)out[rank][i];
                t[3][i] = at[1];
                at[0] += t[0][i];
                at[1] += t[2][i];
            }
            problem.in.counts = words ? NULL : t[0];
            problem.in.displs = words ? NULL : t[1];
            problem.out.counts = words ? NULL : t[2];
            problem.out.displs = words ? NULL : t[3];
            CHECK_STATUS(coll_plan_by_sizes(&plans[rank], &problem, &sized[rank]), COLL_OK);
            if (words)
                offsets[rank] = malloc((routes[rank].scratch + (size_t)1) * sizeof(size_t));
            ins[rank] = in[rank];
            outs[rank] = out[rank];
        }
        if (words)
            sized_words(of->p, plans, ins, outs, routes, offsets);
    }
    memset(&options, 0, sizeof options);
    options.verifier = &memory;
    options.plan_of = plan_at;
    if (!CHECK(prove_plan(NULL, &options, &report) == COLL_PROVEN))
        printf("    %s\n", report.sentence);
    CHECK(report.messages <= messages); /* those of no elements are not sent */
    for (uint32_t rank = 0; rank < of->p; rank++)
        free(offsets[rank]);
}

TEST(stencils_at_random)
{
    uint64_t random = 3;
    for (uint32_t round = 0; round < 400; round++) {
        const uint32_t most = coll_i_random_below(&random, 5);
        stencil of;
        of.n_dims = 1 + coll_i_random_below(&random, DIMS);
        of.p = 1;
        for (uint32_t d = 0; d < of.n_dims; d++) {
            of.dims[d] =
                1 + coll_i_random_below(&random, WALK_RANKS / of.p < 6 ? WALK_RANKS / of.p : 6);
            of.p *= of.dims[d];
        }
        of.periodic = coll_i_random_below(&random, 1u << of.n_dims);
        of.n = coll_i_random_below(&random, VECTORS + 1);
        for (uint32_t i = 0; i < of.n * of.n_dims; i++)
            of.vectors[i] = (int32_t)coll_i_random_below(&random, 2 * most + 1) - (int32_t)most;
        check_stencil(&of);
        if (of.n > 0)
            check_sizes(&of, &random);
    }
}

/* All ranks around one, on a torus: 2 messages for each dimension instead of 3^n − 1. */
TEST(costs_of_ranks_around)
{
    for (uint32_t n = 1; n <= 3; n++) {
        static const uint32_t neighbors[4] = {0, 2, 8, 26}, moved[4] = {0, 2, 12, 54};
        coll_report report;
        stencil of;
        of.n_dims = n;
        of.periodic = 7;
        of.p = 1;
        of.n = 0;
        for (uint32_t d = 0; d < n; d++)
            of.p *= of.dims[d] = 3 + (d == 0);
        for (uint32_t i = 0; i <= neighbors[n]; i++) {
            uint32_t digits = i;
            if (2 * i == neighbors[n])
                continue;
            for (uint32_t d = 0; d < n; d++, digits /= 3)
                of.vectors[of.n * n + d] = (int32_t)(digits % 3) - 1;
            of.n++;
        }
        CHECK_EQ(of.n, neighbors[n]);
        report = prove(&of, COLL_NEIGHBOR_ALLTOALL, 5);
        CHECK_EQ(report.most.messages, 2 * n);
        CHECK_EQ(report.messages, of.p * 2 * n);
        CHECK_EQ(report.most.elements, 5 * moved[n]);
        report = prove(&of, COLL_NEIGHBOR_ALLGATHER, 5);
        CHECK_EQ(report.most.messages, 2 * n);
        CHECK_EQ(report.most.elements, 5 * neighbors[n]);
        CHECK_EQ(report.rounds, 2 * n);
        check_stencil(&of);
    }
}

/* Meshes of nearest neighbours have nothing to combine, and nothing is copied or sent twice. */
TEST(nearest_neighbors)
{
    static const uint32_t dims[2] = {3, 4};
    for (uint32_t periodic = 0; periodic < 4; periodic++) {
        coll_problem problem;
        coll_i_graphs one;
        memset(&one, 0, sizeof one);
        coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, 12, 1, 8);
        CHECK(coll_i_reserve_new(&one.graphs, sizeof(coll_graph)) != NULL);
        CHECK_STATUS(coll_graph_mesh((coll_graph *)one.graphs.at, 2, dims, periodic), COLL_OK);
        CHECK_STATUS(coll_i_graphs_route(&one, &problem, false), COLL_OK);
        for (uint32_t rank = 0; rank < 12; rank++) {
            const coll_route *route = coll_i_graph_of(&one, rank)->alltoall;
            uint32_t edges = 0;
            for (uint32_t i = 0; i < 4; i++)
                edges += coll_graph_destination(coll_i_graph_of(&one, rank), rank, i) !=
                         COLL_RANK_NONE;
            CHECK_EQ(route->n, 2 * edges);
            CHECK_EQ(route->scratch, 0);
        }
        coll_i_graphs_release(&one);
    }
}

TEST(errors)
{
    static const uint32_t dims[1] = {4}, peers[1] = {0};
    static const coll_neighbors lists = {1, peers, 1, peers};
    uint32_t memory[400], order[2];
    const size_t bytes = sizeof memory;
    coll_graph ring, loop;
    coll_route route, other;
    coll_problem problem;
    coll_plan plan;
    CHECK_STATUS(coll_graph_mesh(&ring, 1, dims, 1), COLL_OK);
    coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, 4, 1, 8);
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 0, memory, bytes), COLL_ERR_GRAPH);
    problem.graph = &ring;
    CHECK_STATUS(coll_plan_init(&plan, &coll_mesh_combining, &problem, NULL), COLL_ERR_ROUTE);
    CHECK_STATUS(coll_route_by_mesh(NULL, &problem, 0, memory, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_mesh(&route, NULL, 0, memory, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 0, NULL, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 4, memory, bytes), COLL_ERR_RANK);
    CHECK(coll_route_mesh_bytes(&ring) <= bytes && coll_route_mesh_bytes(&ring) > 0);
    CHECK_STATUS(
        coll_route_by_mesh(&route, &problem, 0, memory, coll_route_mesh_bytes(&ring) - 1),
        COLL_ERR_MEMORY);
    problem.collective = COLL_NEIGHBOR_ALLTOALLV;
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 0, memory, bytes), COLL_ERR_COLLECTIVE);
    problem.collective = COLL_NEIGHBOR_ALLTOALL;
    problem.p = 5;
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 0, memory, bytes), COLL_ERR_GRAPH);
    problem.p = 4;
    CHECK_STATUS(coll_graph_lists(&loop, &lists, 0, 4, order), COLL_OK);
    problem.graph = &loop;
    CHECK_EQ(coll_route_mesh_bytes(&loop), 0);
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 0, memory, bytes), COLL_ERR_GRAPH);
    problem.graph = &ring;
    CHECK_STATUS(coll_route_by_mesh(&route, &problem, 1, memory, bytes), COLL_OK);
    CHECK_STATUS(coll_graph_add_route(NULL, &route), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_add_route(&ring, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_add_route(&ring, &route), COLL_OK);
    other = route;
    other.rank = 2;
    CHECK_STATUS(coll_graph_add_route(&ring, &other), COLL_ERR_ROUTE);
    CHECK_STATUS(coll_plan_init(&plan, &coll_mesh_combining, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_check_rank(&plan, 1), COLL_OK);
    CHECK_STATUS(coll_plan_check_rank(&plan, 2), COLL_ERR_GRAPH);
    problem.collective = COLL_NEIGHBOR_ALLGATHER; /* the route is the other's */
    CHECK_STATUS(coll_plan_init(&plan, &coll_mesh_combining, &problem, NULL), COLL_ERR_ROUTE);
}

int main(void)
{
    RUN(stencils_at_random);
    RUN(costs_of_ranks_around);
    RUN(nearest_neighbors);
    RUN(errors);
    coll_i_graphs_release(&graphs);
    return check_done();
}
