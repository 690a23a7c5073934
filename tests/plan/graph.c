/* Graphs: the arithmetic of meshes and stencils, the order of lists, which block is which. */
#include <stdlib.h>

#include "support/check.h"
#include "coll/lab/verify/graphs.h"

/* ---- sorting ----------------------------------------------------------------------------- */

static bool less(const void *of, uint32_t a, uint32_t b)
{
    const uint32_t *keys = (const uint32_t *)of;
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
}

TEST(sorts)
{
    uint64_t random = 1;
    for (uint32_t n = 0; n <= 200; n++) {
        uint32_t keys[200], items[200];
        bool seen[200] = {false};
        for (uint32_t i = 0; i < n; i++) {
            keys[i] = coll_i_random_below(&random, 1 + n / 2);
            items[i] = i;
        }
        coll_i_sort(items, n, less, keys);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(!seen[items[i]]);
            seen[items[i]] = true;
            CHECK(i == 0 || less(keys, items[i - 1], items[i]));
        }
    }
}

/* ---- meshes and stencils ----------------------------------------------------------------- */

static const uint32_t shapes[][4] = {{1, 0},       {2, 0},       {5, 0},
                                     {1, 1, 0},    {2, 1, 0},    {3, 4, 0},
                                     {2, 2, 2, 0}, {3, 1, 5, 0}, {4, 3, 2, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* How many dimensions; *p: how many ranks. */
static uint32_t dims_of(const uint32_t *dims, uint32_t *p)
{
    uint32_t n = 0;
    for (*p = 1; n < 4 && dims[n] != 0; n++)
        *p *= dims[n];
    return n;
}

/* The coordinates of a rank, by division. */
static void coordinates(const uint32_t *dims, uint32_t n, uint32_t rank, int64_t *at)
{
    while (n-- > 0) {
        at[n] = rank % dims[n];
        rank /= dims[n];
    }
}

/* The rank at these coordinates, or COLL_RANK_NONE beyond an end. */
static uint32_t rank_at(const uint32_t *dims, uint32_t n, uint32_t periodic, const int64_t *at)
{
    uint32_t rank = 0;
    for (uint32_t d = 0; d < n; d++) {
        int64_t x = at[d];
        if ((periodic >> d) & 1u)
            x = (x % dims[d] + dims[d]) % dims[d];
        else if (x < 0 || x >= dims[d])
            return COLL_RANK_NONE;
        rank = rank * dims[d] + (uint32_t)x;
    }
    return rank;
}

/* The neighbours of a stencil are at its vectors from here, wherever it wraps round. */
TEST(stencils_by_coordinates)
{
    static const int32_t numbers[] = {0, 1, -1, 2, -7, 30, -1000001, INT32_MAX, INT32_MIN};
    int32_t vectors[40][4];
    uint64_t random = 2;
    for (uint32_t s = 0; s < SHAPES; s++) {
        uint32_t p;
        const uint32_t n = dims_of(shapes[s], &p);
        for (uint32_t periodic = 0; periodic < 1u << n; periodic++) {
            coll_graph graph;
            for (uint32_t i = 0; i < 40 * n; i++)
                (&vectors[0][0])[i] = numbers[coll_i_random_below(&random, 9)];
            CHECK_STATUS(coll_graph_stencil(&graph, n, shapes[s], periodic, &vectors[0][0], 40),
                         COLL_OK);
            CHECK_STATUS(coll_graph_check(&graph, p), COLL_OK);
            CHECK_STATUS(coll_graph_check(&graph, p + 1), COLL_ERR_GRAPH);
            for (uint32_t rank = 0; rank < p; rank++)
                for (uint32_t i = 0; i < 40; i++) {
                    int64_t there[4], back[4];
                    coordinates(shapes[s], n, rank, there);
                    coordinates(shapes[s], n, rank, back);
                    for (uint32_t d = 0; d < n; d++) {
                        CHECK_EQ(coll_graph_component(&graph, i, d),
                                 (&vectors[0][0])[i * n + d]);
                        there[d] += (&vectors[0][0])[i * n + d];
                        back[d] -= (&vectors[0][0])[i * n + d];
                    }
                    CHECK_EQ(coll_graph_destination(&graph, rank, i),
                             rank_at(shapes[s], n, periodic, there));
                    CHECK_EQ(coll_graph_source(&graph, rank, i),
                             rank_at(shapes[s], n, periodic, back));
                }
        }
    }
}

/* −1 and +1 of each dimension in turn, both ways. */
TEST(meshes_by_coordinates)
{
    for (uint32_t s = 0; s < SHAPES; s++) {
        uint32_t p;
        const uint32_t n = dims_of(shapes[s], &p);
        for (uint32_t periodic = 0; periodic < 1u << n; periodic++) {
            coll_graph graph;
            CHECK_STATUS(coll_graph_mesh(&graph, n, shapes[s], periodic), COLL_OK);
            CHECK_EQ(graph.n_in, 2 * n);
            CHECK_EQ(graph.n_out, 2 * n);
            for (uint32_t rank = 0; rank < p; rank++)
                for (uint32_t i = 0; i < 2 * n; i++) {
                    int64_t at[4];
                    coordinates(shapes[s], n, rank, at);
                    at[i / 2] += i % 2 ? 1 : -1;
                    CHECK_EQ(coll_graph_destination(&graph, rank, i),
                             rank_at(shapes[s], n, periodic, at));
                    CHECK_EQ(coll_graph_source(&graph, rank, i),
                             coll_graph_destination(&graph, rank, i));
                    CHECK_EQ(coll_graph_component(&graph, i, i / 2), i % 2 ? 1 : -1);
                    CHECK_EQ(coll_graph_component(&graph, i, (i / 2 + 1) % 8), 0);
                }
        }
    }
}

/* ---- all graphs -------------------------------------------------------------------------- */

/* Every block of IN that goes somewhere is one block of OUT there, and the other way round. */
TEST(blocks_pair_up)
{
    coll_i_graphs graphs;
    memset(&graphs, 0, sizeof graphs);
    for (uint32_t p = 1; p <= 64; p++)
        for (unsigned which = 1; which < COLL_GRID_GRAPHS; which++) {
            uint32_t in = 0, out = 0;
            CHECK(coll_i_graphs_make(&graphs, (coll_grid_graph)which, p));
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_graph *mine = coll_i_graph_of(&graphs, rank);
                CHECK_STATUS(coll_graph_check(mine, p), COLL_OK);
                for (uint32_t i = 0; i < mine->n_out; i++)
                    out += coll_graph_destination(mine, rank, i) != COLL_RANK_NONE;
                for (uint32_t i = 0; i < mine->n_in; i++) {
                    const uint32_t from = coll_graph_source(mine, rank, i);
                    const coll_graph *theirs;
                    uint32_t block;
                    if (from == COLL_RANK_NONE)
                        continue;
                    in++;
                    theirs = coll_i_graph_of(&graphs, from);
                    block = coll_graph_origin(mine, rank, i, theirs);
                    if (!CHECK(block < theirs->n_out))
                        continue;
                    CHECK_EQ(coll_graph_destination(theirs, from, block), rank);
                    for (uint32_t k = 0; k < i; k++)
                        CHECK(coll_graph_source(mine, rank, k) != from ||
                              coll_graph_origin(mine, rank, k, theirs) != block);
                }
            }
            CHECK_EQ(in, out);
        }
    coll_i_graphs_release(&graphs);
}

/* MPI's rule where both neighbours in a dimension are one rank, or the rank itself: what was sent
 * to the −1 neighbour is received as what comes from the +1 neighbour. */
TEST(opposite_directions)
{
    static const uint32_t dims[2] = {2, 1};
    coll_graph graph;
    CHECK_STATUS(coll_graph_mesh(&graph, 2, dims, 3), COLL_OK);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(coll_graph_destination(&graph, 1, i), i < 2 ? 0 : 1);
        CHECK_EQ(coll_graph_origin(&graph, 1, i, &graph), i ^ 1u);
    }
}

/* ---- lists ------------------------------------------------------------------------------- */

/* The way of an entry of the order. */
static uint32_t way_of(const coll_graph *graph, uint32_t p, uint32_t e)
{
    const uint32_t block = graph->order[e] >> 1;
    return graph->order[e] & 1 ? (graph->rank + p - graph->sources[block]) % p
                               : (graph->destinations[block] + p - graph->rank) % p;
}

/* The order has every block once; ways never get shorter; along one way, sends and receives take
 * turns, each kind in the order of the lists. */
TEST(order_of_lists)
{
    coll_i_graphs graphs;
    memset(&graphs, 0, sizeof graphs);
    for (uint32_t p = 1; p <= 64; p++)
        for (unsigned which = COLL_GRID_SPARSE; which <= COLL_GRID_DENSE; which++) {
            CHECK(coll_i_graphs_make(&graphs, (coll_grid_graph)which, p));
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_graph *graph = coll_i_graph_of(&graphs, rank);
                const uint32_t n = graph->n_in + graph->n_out;
                bool seen[2][256] = {{false}};
                uint32_t end;
                CHECK(graph->n_in <= 256 && graph->n_out <= 256);
                for (uint32_t first = 0; first < n; first = end) {
                    uint32_t kinds[2] = {0, 0}, next[2] = {0, 0}, turns;
                    for (end = first;
                         end < n && way_of(graph, p, end) == way_of(graph, p, first); end++)
                        kinds[graph->order[end] & 1]++;
                    CHECK(end == n || way_of(graph, p, end) > way_of(graph, p, first));
                    turns = 2 * (kinds[0] < kinds[1] ? kinds[0] : kinds[1]);
                    CHECK(way_of(graph, p, first) != 0 || kinds[0] == kinds[1]); /* loops */
                    for (uint32_t e = first; e < end; e++) {
                        const uint32_t kind = graph->order[e] & 1, block = graph->order[e] >> 1;
                        CHECK(block < (kind ? graph->n_in : graph->n_out));
                        CHECK(!seen[kind][block] && block >= next[kind]);
                        CHECK_EQ(kind,
                                 e - first < turns ? (e - first) & 1 : kinds[1] > kinds[0]);
                        seen[kind][block] = true;
                        next[kind] = block + 1;
                    }
                }
            }
        }
    coll_i_graphs_release(&graphs);
}

/* Five messages to the next rank, and two from the one before. */
TEST(turns)
{
    static const uint32_t next[6] = {1, 1, 1, 2, 1, 1}, before[2] = {3, 3};
    static const uint32_t want[8] = {0, 1, 2, 3, 4, 8, 10, 6};
    const coll_neighbors lists = {2, before, 6, next};
    uint32_t order[8];
    coll_graph graph;
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 0, 4, order), COLL_OK);
    for (uint32_t e = 0; e < 8; e++)
        CHECK_EQ(order[e], want[e]);
}

TEST(errors)
{
    static const uint32_t dims[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, zero[1] = {0},
                          large[2] = {1u << 16, 1u << 16}, peers[2] = {0, 1};
    const int32_t vector[2] = {1, 1};
    coll_neighbors lists = {1, peers, 2, peers};
    uint32_t order[4];
    coll_graph graph, other;
    CHECK_STATUS(coll_graph_mesh(NULL, 1, dims, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_mesh(&graph, 1, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_mesh(&graph, 0, dims, 0), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_mesh(&graph, 9, dims, 0), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_mesh(&graph, 1, zero, 0), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_mesh(&graph, 2, large, 0), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_mesh(&graph, 8, dims, 0), COLL_OK);
    CHECK_STATUS(coll_graph_check(&graph, 256), COLL_OK);
    CHECK_STATUS(coll_graph_stencil(&graph, 2, dims, 0, NULL, 1), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_stencil(&graph, 0, dims, 0, vector, 1), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_stencil(&graph, 2, dims, 0, vector, 1), COLL_OK);
    CHECK_STATUS(coll_graph_lists(NULL, &lists, 0, 2, order), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_lists(&graph, NULL, 0, 2, order), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 0, 2, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 2, 2, order), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 0, 1, order), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 1, 2, order), COLL_ERR_GRAPH); /* loops */
    CHECK_STATUS(coll_graph_lists(&graph, &lists, 0, 2, order), COLL_OK);
    CHECK_STATUS(coll_graph_check(&graph, 2), COLL_OK);
    CHECK_STATUS(coll_graph_check(&graph, 1), COLL_ERR_GRAPH);
    CHECK_STATUS(coll_graph_check(NULL, 1), COLL_ERR_GRAPH);
    lists.n_out = 0;
    CHECK_STATUS(coll_graph_lists(&other, &lists, 1, 2, order), COLL_OK);
    CHECK_EQ(coll_graph_origin(&other, 1, 0, &graph), 1);
    CHECK_EQ(coll_graph_origin(&graph, 0, 0, &other), COLL_RANK_NONE); /* it knows of no edge */
}

int main(void)
{
    RUN(sorts);
    RUN(stencils_by_coordinates);
    RUN(meshes_by_coordinates);
    RUN(blocks_pair_up);
    RUN(opposite_directions);
    RUN(order_of_lists);
    RUN(turns);
    RUN(errors);
    return check_done();
}
