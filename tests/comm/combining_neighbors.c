/* Neighbour collectives of blocks of any sizes, combined: what comes is what goes straight brings, by
 * routes over meshes and over nodes, on threads; and sizes that do not agree end all ranks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/mesh_combining.h"
#include "coll/algos/node_combining.h"
#include "coll/coll.h"
#include "coll/comm/combining_neighbors.h"
#include "coll/transports/threads.h"
#include "support/chance.h"
#include "support/check.h"
#include "support/heap.h"

enum { MOST = 12, VECTORS = 26, DIMS = 3 };

static struct {
    uint32_t p, n_dims, dims[DIMS], periodic, n, victim;
    int32_t vectors[VECTORS * DIMS];
    coll_collective collective;
    bool by_nodes, gap; /* the victim's blocks have a gap */
    bool differs;       /* … or it expects one more */
    uint64_t seed;
} now;

typedef struct rank {
    pthread_t thread;
    uint32_t r;
    coll_status status;
    bool same, clean; /* what has come; without it, nothing has changed */
    size_t messages;
} rank;
static rank ranks[MOST];
static coll_threads *world;

/* Elements of the block that a rank has along a vector; of an allgather all of its blocks are one. */
static size_t size_of(uint32_t from, uint32_t vector)
{
    uint64_t seed =
        now.seed + from * 64 + (now.collective == COLL_NEIGHBOR_ALLGATHERV ? 0 : vector);
    return chance_of(&seed, 3) == 0 ? 0 : chance_of(&seed, 50);
}

/* A rank's graph, with a route. */
static bool graph_of(coll_graph *graph, coll_route *route, uint32_t r, void **moves)
{
    coll_problem problem;
    coll_nodes nodes;
    size_t bytes;
    bool well = coll_graph_stencil(graph, now.n_dims, now.dims, now.periodic, now.vectors,
                                   now.n) == COLL_OK;
    coll_problem_init(&problem,
                      now.collective == COLL_NEIGHBOR_ALLGATHERV ? COLL_NEIGHBOR_ALLGATHER
                                                                 : COLL_NEIGHBOR_ALLTOALL,
                      now.p, 1, 1);
    problem.graph = graph;
    coll_nodes_even(&nodes, now.p, 3);
    if (now.p > 3)
        problem.nodes = nodes;
    bytes =
        now.by_nodes ? coll_route_nodes_bytes(&problem, r, NULL) : coll_route_mesh_bytes(graph);
    *moves = malloc(bytes + 1);
    well = well &&
           (now.by_nodes ? coll_route_by_nodes(route, &problem, r, NULL, *moves, bytes)
                         : coll_route_by_mesh(route, &problem, r, *moves, bytes)) == COLL_OK;
    return well && coll_graph_add_route(graph, route) == COLL_OK;
}

/* The rank that is source i of another, or COLL_RANK_NONE. */
static uint32_t source_of(const coll_graph *graph, uint32_t r, uint32_t i, uint32_t *vector)
{
    *vector = coll_graph_opposite(graph, i);
    uint32_t at = r;
    for (uint32_t d = 0; d < graph->n_dims && at != COLL_RANK_NONE; d++) {
        const int32_t component = coll_graph_component(graph, *vector, d);
        at = coll_mesh_shift(graph, at, d, coll_i_distance(component), component > 0);
    }
    return at;
}

typedef struct tables {
    size_t in[VECTORS], in_at[VECTORS], out[VECTORS], out_at[VECTORS];
} tables;

static coll_status call(coll_comm *comm, const coll_graph *graph, const tables *t,
                        const unsigned char *in, unsigned char *out, void *memory, size_t bytes)
{
    switch (now.collective) {
    case COLL_NEIGHBOR_ALLGATHERV:
        return coll_combining_neighbor_allgatherv(comm, graph, in, size_of(comm->rank, 0), out,
                                                  t->out, t->out_at, COLL_U8, memory, bytes);
    case COLL_NEIGHBOR_ALLTOALLV:
        return coll_combining_neighbor_alltoallv(comm, graph, in, t->in, t->in_at, out, t->out,
                                                 t->out_at, COLL_U8, memory, bytes);
    default:
        return coll_combining_neighbor_alltoallw(comm, graph, in, t->in, t->in_at, out, t->out,
                                                 t->out_at, memory, bytes);
    }
}

static coll_status straight(coll_comm *comm, const coll_graph *graph, const tables *t,
                            const unsigned char *in, unsigned char *out)
{
    if (now.collective == COLL_NEIGHBOR_ALLGATHERV)
        return coll_neighbor_allgatherv(comm, graph, in, size_of(comm->rank, 0), out, t->out,
                                        t->out_at, COLL_U8);
    return coll_neighbor_alltoallv(comm, graph, in, t->in, t->in_at, out, t->out, t->out_at,
                                   COLL_U8);
}

static void *work(void *arg)
{
    enum { ROOM = VECTORS * 51 + 1 };
    rank *me = (rank *)arg;
    const bool spoiled = me->r == now.victim && (now.gap || now.differs);
    unsigned char in[ROOM], out[ROOM], want[ROOM];
    coll_graph graph;
    coll_route route;
    coll_comm comm;
    tables t;
    void *moves = NULL, *memory;
    size_t bytes, at = 0;
    me->same = graph_of(&graph, &route, me->r, &moves);
    for (uint32_t i = 0; i < graph.n_out; i++) {
        t.in[i] = size_of(me->r, i);
        t.in_at[i] = at;
        at += t.in[i];
    }
    at = 0;
    for (uint32_t i = 0; i < graph.n_in; i++) {
        uint32_t vector, from = source_of(&graph, me->r, i, &vector);
        t.out[i] = from == COLL_RANK_NONE ? 3 : size_of(from, vector);
        t.out_at[i] = at;
        at += t.out[i];
    }
    if (spoiled && now.gap)
        t.out_at[graph.n_in - 1]++;
    if (spoiled && now.differs)
        t.out[graph.n_in - 1]++;
    for (size_t i = 0; i < ROOM; i++) {
        in[i] = (unsigned char)(me->r * 41 + i * 3 + 1);
        out[i] = want[i] = 0xA5;
    }
    me->same = me->same &&
               coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, me->r),
                              me->r, now.p, NULL, 0) == COLL_OK &&
               coll_comm_set_allocator(&comm, &heap) == COLL_OK;
    bytes = coll_combining_bytes(&graph, now.collective);
    memory = malloc(bytes);
    me->status = call(&comm, &graph, &t, in, out, memory, bytes);
    me->clean = memcmp(out, want, ROOM) == 0;
    if (me->status == COLL_OK) {
        me->same = me->same && straight(&comm, &graph, &t, in, want) == COLL_OK;
        me->same = me->same && memcmp(out, want, ROOM) == 0;
    }
    (void)coll_comm_free(&comm);
    free(memory);
    free(moves);
    return NULL;
}

static void run_ranks(void)
{
    now.seed += 1000;
    CHECK((world = coll_threads_create(now.p)) != NULL);
    for (uint32_t r = 0; r < now.p; r++) {
        ranks[r].r = r;
        CHECK(pthread_create(&ranks[r].thread, NULL, work, &ranks[r]) == 0);
    }
    for (uint32_t r = 0; r < now.p; r++)
        pthread_join(ranks[r].thread, NULL);
    coll_threads_destroy(world);
}

/* A stencil of all vectors whose components are −1 to 1, or of some at random. */
static void stencil(uint32_t n_dims, const uint32_t *dims, bool all)
{
    now.n_dims = n_dims;
    now.p = 1;
    for (uint32_t d = 0; d < n_dims; d++) {
        now.dims[d] = dims[d];
        now.p *= dims[d];
    }
    now.n = 0;
    for (uint32_t i = 0; i < 27 && now.n < VECTORS; i++) {
        int32_t *vector = &now.vectors[now.n * n_dims];
        uint32_t digits = i;
        for (uint32_t d = 0; d < n_dims; d++, digits /= 3)
            vector[d] = all ? (int32_t)(digits % 3) - 1 : (int32_t)chance(5) - 2;
        now.n += digits == 0 && (!all || i != (n_dims == 2 ? 4 : 13)) && (all || i % 2) ? 1 : 0;
    }
    now.periodic = chance(1u << n_dims);
}

TEST(all_blocks_arrive)
{
    static const uint32_t shapes[][DIMS] = {{3, 4, 0}, {2, 2, 3}, {1, 5, 0}, {2, 2, 2}};
    static const coll_collective collectives[] = {
        COLL_NEIGHBOR_ALLTOALLV, COLL_NEIGHBOR_ALLGATHERV, COLL_NEIGHBOR_ALLTOALLW};
    for (unsigned i = 0; i < 96; i++) {
        const uint32_t *dims = shapes[i % 4];
        stencil(dims[2] ? 3 : 2, dims, i / 4 % 2 == 0);
        now.collective = collectives[i / 8 % 3];
        now.by_nodes = i / 24 % 2 == 1;
        run_ranks();
        for (uint32_t r = 0; r < now.p; r++) {
            CHECK_STATUS(ranks[r].status, COLL_OK);
            if (!CHECK(ranks[r].same))
                printf("    case %u, %s, rank %u of %u\n", i,
                       coll_collective_name(now.collective), (unsigned)r, (unsigned)now.p);
        }
    }
}

TEST(what_one_rank_gets_wrong)
{
    static const uint32_t dims[] = {3, 4};
    now.collective = COLL_NEIGHBOR_ALLTOALLV;
    now.by_nodes = false;
    for (int differs = 0; differs < 2; differs++)
        for (unsigned i = 0; i < 8; i++) {
            stencil(2, dims, true);
            now.periodic = 3;
            now.victim = chance(now.p);
            now.differs = differs == 1;
            now.gap = differs == 0;
            run_ranks();
            for (uint32_t r = 0; r < now.p; r++) {
                if (r == now.victim)
                    CHECK_STATUS(ranks[r].status, differs ? COLL_ERR_SIZE : COLL_ERR_LAYOUT);
                else if (ranks[r].status != COLL_OK)
                    CHECK_STATUS(ranks[r].status, COLL_ERR_PEER);
            }
            CHECK(ranks[now.victim].clean);
        }
    now.gap = now.differs = false;
}

TEST(what_is_refused)
{
    static const uint32_t dims[] = {3, 4};
    coll_graph graph;
    stencil(2, dims, true);
    CHECK_STATUS(coll_graph_stencil(&graph, 2, now.dims, 3, now.vectors, now.n), COLL_OK);
    CHECK_EQ(coll_combining_bytes(&graph, COLL_NEIGHBOR_ALLTOALLV), 0);
    CHECK_EQ(coll_combining_bytes(NULL, COLL_NEIGHBOR_ALLTOALLV), 0);
    CHECK_STATUS(coll_combining_neighbor_alltoallw(NULL, &graph, NULL, NULL, NULL, NULL, NULL,
                                                   NULL, NULL, 0),
                 COLL_ERR_NULL);
}

int main(void)
{
    RUN(all_blocks_arrive);
    RUN(what_one_rank_gets_wrong);
    RUN(what_is_refused);
    return check_done();
}
