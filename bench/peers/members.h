/* bench/peers/members.h — ranks that play by coll's own calls, over any transport */
#ifndef COLL_BENCH_PEERS_MEMBERS_H
#define COLL_BENCH_PEERS_MEMBERS_H

#include "board.h"
#include "coll/comm/multi_node.h"
#include "coll/neighbor.h"
#include "coll/select/intra_node.h"
#include "coll/transports/shm.h"

/* One contestant of those that a program plays. */
typedef struct peers_way {
    uint32_t who;
    const coll_rule_list *rules; /* NULL: those that a communicator has by itself */
    const coll_nodes *nodes;     /* NULL: it knows of none */
    const char *only; /* the algorithm of all of its cells; NULL: whatever the rules say */
} peers_way;

enum { PEERS_WAYS = 4, PEERS_PLANS = 1 << 18 /* bytes that a plan takes, at the most */ };

typedef struct peers_coll {
    peers_way way;
    coll_comm comm;
    coll_graph ring; /* each rank and the one after it are neighbours */
    size_t counts[PEERS_RANKS], displs[PEERS_RANKS];
    void *memory, *cache;
} peers_coll;

static inline void peers_stop(coll_status status)
{
    if (status < 0) {
        fprintf(stderr, "failed: %s\n", coll_status_text(status));
        exit(1);
    }
}

static inline coll_args peers_args(peers_coll *coll, const peers_cell *cell, uint32_t root)
{
    const bool in_bytes = cell->work == COLL_ALLTOALLW || cell->work == COLL_NEIGHBOR_ALLTOALLW;
    const size_t n = peers_count(cell, coll->comm.p) * (in_bytes ? sizeof(float) : 1);
    coll_args args;
    coll_args_init(&args, (coll_collective)cell->work);
    for (uint32_t i = 0; i < PEERS_RANKS; i++) {
        coll->counts[i] = n;
        coll->displs[i] = i * n;
    }
    args.type = in_bytes ? COLL_U8 : COLL_F32;
    args.root = root;
    args.count = n;
    args.in_counts = args.out_counts = coll->counts;
    args.out_displs = coll->displs;
    args.in_displs = cell->work == COLL_REDUCE_SCATTER ? NULL : coll->displs;
    args.graph = &coll->ring;
    return args;
}

static inline void peers_coll_call(peers_member *me, uint32_t who, const peers_cell *cell,
                                   uint32_t root, const float *in, float *out)
{
    peers_coll *coll = me->own;
    while (coll->way.who != who)
        coll++;
    coll_args args = peers_args(coll, cell, root);
    coll_request request;
    args.in = in;
    args.out = out;
    peers_stop(coll_post(&coll->comm, &args, &request));
    const char *its = request.engine.task.plan->algorithm->name;
    if (coll->way.only && peers_plays(me->board, cell, who) && cell->work != COLL_BARRIER &&
        strcmp(its, coll->way.only) != 0) {
        fprintf(
            stderr,
            "%s of %zu bytes would be %s, not %s: the nodes have not enough memory in common\n",
            peers_work_name(cell->work), cell->bytes, its, coll->way.only);
        exit(1);
    }
    peers_stop(coll_wait(&request));
}

/* Memory of the segment, or the rank's own (NULL). */
static inline void *peers_memory(coll_shm *segment, size_t bytes)
{
    void *const memory = segment ? coll_shm_alloc(segment, bytes) : bench_memory(bytes);
    peers_stop(memory ? COLL_OK : COLL_ERR_MEMORY);
    if (segment)
        memset(memory, 0, bytes);
    return memory;
}

/* A communicator of a contestant, with so much memory. */
static inline void peers_begin(peers_coll *coll, const coll_transport *transport, void *ctx,
                               uint32_t rank, uint32_t p, void *memory, size_t bytes)
{
    peers_stop(coll_comm_init(&coll->comm, transport, ctx, rank, p, memory, bytes));
    if (coll->way.nodes)
        peers_stop(coll_comm_nodes(&coll->comm, coll->way.nodes));
    if (coll->way.rules)
        peers_stop(coll_comm_rules(&coll->comm, coll->way.rules));
}

/* How many bytes a contestant's calls need at the most. */
static inline size_t peers_need(peers_board *board, peers_coll *coll)
{
    size_t most = 0, need = 0;
    for (uint32_t cell = 0; cell < board->n_cells + 2; cell++)
        for (uint32_t root = 0; root < board->p; root++) {
            const bool own = cell < board->n_cells;
            const peers_cell *its = own                     ? &board->cells[cell]
                                    : cell > board->n_cells ? &peers_barrier
                                                            : &peers_warm_up;
            if (!own || peers_plays(board, its, coll->way.who)) {
                coll_args args = peers_args(coll, its, root);
                args.in = args.out = coll->counts; /* anything but NULL */
                peers_stop(coll_comm_bytes(&coll->comm, &args, &need));
                most = most < need ? need : most;
            }
        }
    return most + COLL_ARENA_ALIGN;
}

/* Plays all turns of these contestants, at most PEERS_WAYS, as one rank. */
static inline void peers_play(peers_board *board, uint32_t rank,
                              const coll_transport *transport, void *ctx, const peers_way *ways,
                              size_t n_ways, coll_shm *segment)
{
    const uint32_t dims[1] = {board->p};
    peers_coll colls[PEERS_WAYS];
    peers_member me = {board, rank, 0, 0, NULL, NULL, peers_coll_call, colls};
    me.in = peers_memory(segment, PEERS_ARENA);
    me.out = peers_memory(segment, PEERS_ARENA);
    for (size_t i = 0; i < n_ways; i++) {
        peers_coll *coll = &colls[i];
        size_t bytes;
        coll->way = ways[i];
        me.mine |= COLL_BIT(coll->way.who);
        peers_stop(coll_graph_mesh(&coll->ring, 1, dims, 1));
        coll->memory = bench_memory(PEERS_PLANS);
        peers_begin(coll, transport, ctx, rank, board->p, coll->memory, PEERS_PLANS);
        bytes = peers_need(board, coll);
        peers_stop(coll_comm_free(&coll->comm));
        free(coll->memory);
        coll->memory = peers_memory(segment, bytes);
        coll->cache = bench_memory(COLL_CACHE_BYTES(8));
        peers_begin(coll, transport, ctx, rank, board->p, coll->memory, bytes);
        peers_stop(coll_comm_set_cache(&coll->comm, coll->cache, COLL_CACHE_BYTES(8)));
    }
    peers_take_turns(&me);
    for (size_t i = 0; i < n_ways; i++) {
        peers_stop(coll_comm_free(&colls[i].comm));
        free(colls[i].cache);
        if (!segment)
            free(colls[i].memory);
    }
    if (segment)
        return;
    free(me.in);
    free(me.out);
}

#endif /* COLL_BENCH_PEERS_MEMBERS_H */
