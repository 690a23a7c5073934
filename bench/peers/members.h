/* bench/peers/members.h — ranks that play by coll's own calls, over any transport */
#ifndef COLL_BENCH_PEERS_MEMBERS_H
#define COLL_BENCH_PEERS_MEMBERS_H

#include "board.h"
#include "coll/neighbor.h"
#include "coll/select/intra_node.h"
#include "coll/transports/shm.h"

typedef struct peers_coll {
    coll_comm comm;
    coll_graph ring; /* each rank and the one after it are neighbours */
    size_t counts[PEERS_RANKS], displs[PEERS_RANKS];
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
    coll_args args = peers_args(coll, cell, root);
    (void)who;
    args.in = in;
    args.out = out;
    peers_stop(coll_run(&coll->comm, &args));
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

/* Plays all turns as one rank. rules: NULL for the built-in ones. */
static inline void peers_play(peers_board *board, uint32_t who, uint32_t rank,
                              const coll_transport *transport, void *ctx,
                              const coll_rule_list *rules, coll_shm *segment)
{
    const uint32_t dims[1] = {board->p};
    peers_coll coll;
    peers_member me = {board, rank, COLL_BIT(who), 0, NULL, NULL, peers_coll_call, &coll};
    size_t most = 0, need = 0;
    void *memory, *cache;
    peers_stop(coll_comm_init(&coll.comm, transport, ctx, rank, board->p, NULL, 0));
    if (rules)
        peers_stop(coll_comm_rules(&coll.comm, rules));
    peers_stop(coll_graph_mesh(&coll.ring, 1, dims, 1));
    for (uint32_t cell = 0; cell <= board->n_cells; cell++)
        for (uint32_t root = 0; root < board->p; root++) {
            const peers_cell *its =
                cell < board->n_cells ? &board->cells[cell] : &peers_warm_up;
            if (peers_plays(board, its, who)) {
                coll_args args = peers_args(&coll, its, root);
                args.in = args.out = coll.counts; /* anything but NULL */
                peers_stop(coll_comm_bytes(&coll.comm, &args, &need));
                most = most < need ? need : most;
            }
        }
    memory = peers_memory(segment, most + COLL_ARENA_ALIGN);
    me.in = peers_memory(segment, PEERS_ARENA);
    me.out = peers_memory(segment, PEERS_ARENA);
    peers_stop(coll_comm_init(&coll.comm, transport, ctx, rank, board->p, memory,
                              most + COLL_ARENA_ALIGN));
    cache = bench_memory(COLL_CACHE_BYTES(8));
    peers_stop(coll_comm_set_cache(&coll.comm, cache, COLL_CACHE_BYTES(8)));
    if (rules)
        peers_stop(coll_comm_rules(&coll.comm, rules));
    peers_take_turns(&me);
    peers_stop(coll_comm_free(&coll.comm));
    free(cache);
    if (segment)
        return;
    free(me.in);
    free(me.out);
    free(memory);
}

#endif /* COLL_BENCH_PEERS_MEMBERS_H */
