/* coll/algos/tuna.h — routes of alltoallv by digits: two radices, within nodes and across them
 *
 *   bytes = coll_tuna_route_bytes(&problem, intra, inter);
 *   status = coll_tuna_route(&route, &problem, rank, intra, inter, memory, bytes);
 *
 * A block's way is first to the place in its node that its rank has there, then from node to node.
 * Both distances are written in digits, to the base `intra` and to the base `inter`, and the block
 * travels digit by digit, the highest first. Blocks with the same digit share a message. So all
 * that a rank's node has for a node crosses the network in messages of all its ranks, each of one
 * peer. On one node there are only digits of `intra`; where nodes have different numbers of ranks,
 * distances are those between ranks, in digits of `inter`.
 *
 *   2 nodes of 3 ranks, intra = 2, inter = 2: places and nodes ahead of the blocks of a message
 *       in the node, 2 places on     2,0 2,1
 *       in the node, 1 place on      1,0 1,1
 *       1 node on                    0,1 1,1 2,1
 *
 * With a radix of 2 a level has the fewest rounds, with one of its size or more a single one, in
 * which blocks go straight. Sizes are no part of a route (kit/sized_route.h); by
 * comm/tuna_alltoallv.h they travel first.
 *
 * Laws (tests/algos/tuna.c)
 *   (1) a rank sends, and receives, one message for each digit e·k^t below the size of a level
 *   (2) a block is in as many messages as its distances have digits other than 0
 *   (3) a message of one block that has not moved, or ends here, is sent from IN, or received in OUT
 *   (4) where each message is one block, SCRATCH has blocks in place alone
 * Cost    rounds ⌈log_k q⌉ + ⌈log_k n⌉ of k−1 messages each, on n nodes of q ranks. scratch: at
 *         most what is sent and received, in place once more all blocks. A block that is not alone
 *         in its messages is copied at most once a round, and to its place
 * Source  Fan, Domke, Ba, Kumar 2024 (TuNA), arXiv 2411.02581; 2025, doi:10.1145/3731545.3731590
 */
#ifndef COLL_ALGOS_TUNA_H
#define COLL_ALGOS_TUNA_H

#include "kit/digit_level.h"
#include "kit/router.h"

/* A block's number is places·n + nodes that it has to go. So the digits of both levels, from the
 * highest down, are those of a number, and blocks that differ in lower ones lie together. */
typedef struct coll_i_tuna {
    coll_i_router router; /* moves and places */
    uint32_t p, q, n;     /* ranks; of a node; nodes */
    uint32_t node, local; /* where this rank is */
    uint32_t *place;      /* of the block in hand that has this number */
    uint32_t *list;       /* the blocks of a message */
} coll_i_tuna;

/* The ranks of each node, where all have as many; else 1. */
COLL_INLINE uint32_t coll_i_tuna_ppn(const coll_problem *problem)
{
    const uint32_t most = coll_nodes_largest(&problem->nodes, problem->p);
    return coll_nodes_smallest(&problem->nodes, problem->p) == most ? most : 1;
}

COLL_INLINE bool coll_i_tuna_in_place(const coll_problem *problem)
{
    return (problem->flags & COLL_FLAG_IN_PLACE) != 0;
}

/* Cuts the memory; *scratch: at most so many blocks. */
COLL_INLINE size_t coll_i_tuna_cut(coll_i_tuna *it, const coll_problem *problem, uint32_t intra,
                                   uint32_t inter, void *memory, size_t *scratch)
{
    size_t messages = 0, blocks = 0;
    coll_i_digit_level level;
    coll_i_cutter cutter;
    it->p = problem->p;
    it->q = coll_i_tuna_ppn(problem);
    it->n = it->p / it->q;
    coll_i_digit_level_of(&level, it->q, it->n, false, intra);
    coll_i_digit_count(&level, &messages, &blocks);
    coll_i_digit_level_of(&level, it->q, it->n, true, inter);
    coll_i_digit_count(&level, &messages, &blocks);
    cutter.at = (unsigned char *)memory;
    cutter.used = 0;
    it->router.moves = (coll_move *)coll_i_cut(
        &cutter, 2 * messages + blocks + 2 * (size_t)it->p, sizeof *it->router.moves);
    it->place = (uint32_t *)coll_i_cut(&cutter, it->p, sizeof(uint32_t));
    it->list = (uint32_t *)coll_i_cut(&cutter, it->p, sizeof(uint32_t));
    *scratch = 2 * blocks + (coll_i_tuna_in_place(problem) ? it->p : 0);
    return cutter.used;
}

/* The rank so many places and nodes ahead, or behind. */
COLL_INLINE uint32_t coll_i_tuna_rank(const coll_i_tuna *it, uint32_t places, uint32_t nodes,
                                      bool back)
{
    const uint32_t local =
        back ? coll_mod_sub(it->local, places, it->q) : coll_mod_add(it->local, places, it->q);
    return (back ? coll_mod_sub(it->node, nodes, it->n)
                 : coll_mod_add(it->node, nodes, it->n)) *
               it->q +
           local;
}

/* The rank to which block b of this rank goes, and the one from which such a block comes. */
COLL_INLINE uint32_t coll_i_tuna_end(const coll_i_tuna *it, uint32_t b, bool back)
{
    return coll_i_tuna_rank(it, b / it->n, b % it->n, back);
}

/* Lists the blocks with digit e of this weight; *ends: they have no digits left after it. */
COLL_INLINE uint32_t coll_i_tuna_list(const coll_i_tuna *it, const coll_i_digit_level *level,
                                      uint32_t weight, uint32_t e, bool *ends)
{
    const uint32_t span = level->size * level->unit, run = weight * level->unit;
    uint32_t blocks = 0;
    for (uint32_t copy = 0; copy < level->copies; copy++)
        for (uint32_t high = 0; high <= (level->size - 1) / weight / level->k; high++) {
            const uint32_t first = (high * level->k + e) * run;
            for (uint32_t i = first; i - first < run && i < span; i++)
                it->list[blocks++] = copy * span + i;
        }
    *ends = blocks == 1 && it->list[0] % span % run == 0;
    return blocks;
}

/* Sends the blocks of the list from where they lie, or together, and receives as many. */
COLL_INLINE void coll_i_tuna_message(coll_i_tuna *it, uint32_t blocks, uint32_t to,
                                     uint32_t from, bool ends)
{
    coll_i_router *router = &it->router;
    uint32_t at = it->place[it->list[0]];
    bool together = blocks == 1 || at >> 30 == COLL_SCRATCH;
    for (uint32_t i = 1; i < blocks; i++)
        together = together && it->place[it->list[i]] == at + i;
    if (!together) {
        at = COLL_PLACE(COLL_SCRATCH, router->scratch);
        router->scratch += blocks;
        for (uint32_t i = 0; i < blocks; i++) {
            const uint32_t place = it->place[it->list[i]];
            if (place >> 30 == COLL_SCRATCH)
                coll_i_route_copy(router, place, at + i);
            else /* its neighbour in IN may lie elsewhere */
                coll_i_route_move(router, COLL_RANK_NONE, place, at + i, 1);
        }
    }
    coll_i_route_move(router, to, at, COLL_RANK_NONE, blocks);
    at = COLL_PLACE(COLL_SCRATCH, router->scratch);
    if (ends)
        at = COLL_PLACE(COLL_OUT, coll_i_tuna_end(it, it->list[0], true));
    else
        router->scratch += blocks;
    coll_i_route_move(router, from, COLL_RANK_NONE, at, blocks);
    for (uint32_t i = 0; i < blocks; i++)
        it->place[it->list[i]] = at + i;
}

/* All digits of a level. */
COLL_INLINE void coll_i_tuna_travel(coll_i_tuna *it, bool inter, uint32_t k)
{
    coll_i_digit_level level;
    coll_i_digit_level_of(&level, it->q, it->n, inter, k);
    for (uint32_t weight = coll_i_digit_top(&level); weight > 0; weight /= level.k)
        for (uint32_t e = 1; e < level.k && e <= (level.size - 1) / weight; e++) {
            const uint32_t way = e * weight;
            const uint32_t places = inter ? 0 : way, nodes = inter ? way : 0;
            bool ends;
            const uint32_t blocks = coll_i_tuna_list(it, &level, weight, e, &ends);
            coll_i_tuna_message(it, blocks, coll_i_tuna_rank(it, places, nodes, false),
                                coll_i_tuna_rank(it, places, nodes, true), ends);
        }
}

/* The most ranks of a route: places have 30 bits. */
#define COLL_TUNA_RANKS (1u << 22)

/* Bytes of memory that coll_tuna_route needs on any rank; 0: p is 0, or more than COLL_TUNA_RANKS,
 * or a radix is 1. */
COLL_INLINE size_t coll_tuna_route_bytes(const coll_problem *problem, uint32_t intra,
                                         uint32_t inter)
{
    coll_i_tuna it;
    size_t scratch;
    if (!problem || problem->p == 0 || problem->p > COLL_TUNA_RANKS || intra == 1 ||
        inter == 1 || !coll_nodes_check(&problem->nodes, problem->p))
        return 0;
    return coll_i_tuna_cut(&it, problem, intra, inter, NULL, &scratch);
}

/* At most so many blocks of SCRATCH has a route that coll_tuna_route makes, on any rank. */
COLL_INLINE size_t coll_tuna_route_scratch(const coll_problem *problem, uint32_t intra,
                                           uint32_t inter)
{
    coll_i_tuna it;
    size_t scratch;
    (void)coll_i_tuna_cut(&it, problem, intra, inter, NULL, &scratch);
    return scratch;
}

/* Makes a rank's route for an alltoallv or alltoall, whatever the sizes are: in place, if the
 * problem is. `intra` and `inter` are radices, at least 2, or 0 for two rounds. `memory`, aligned as
 * uint32_t, begins with the moves of the route, which are to be kept; the rest is free again. All
 * ranks give the same problem but for tables, and the same radices. COLL_ERR_PARAM: a radix is 1;
 * COLL_ERR_NODES: they are not those of p ranks; COLL_ERR_OVERFLOW: more than COLL_TUNA_RANKS ranks;
 * COLL_ERR_MEMORY: fewer bytes than coll_tuna_route_bytes. */
COLL_INLINE coll_status coll_tuna_route(coll_route *route, const coll_problem *problem,
                                        uint32_t rank, uint32_t intra, uint32_t inter,
                                        void *memory, size_t bytes)
{
    const uint32_t own = COLL_PLACE(COLL_OUT, rank);
    coll_i_tuna it;
    size_t scratch;
    if (!route || !problem || !memory)
        return COLL_ERR_NULL;
    if (!coll_is(COLL_BIT(COLL_ALLTOALL) | COLL_PAIRED, problem->collective))
        return COLL_ERR_COLLECTIVE;
    if (rank >= problem->p)
        return COLL_ERR_RANK;
    if (problem->p > COLL_TUNA_RANKS)
        return COLL_ERR_OVERFLOW;
    if (intra == 1 || inter == 1)
        return COLL_ERR_PARAM;
    if (!coll_nodes_check(&problem->nodes, problem->p))
        return COLL_ERR_NODES;
    if (bytes < coll_tuna_route_bytes(problem, intra, inter))
        return COLL_ERR_MEMORY;
    (void)coll_i_tuna_cut(&it, problem, intra, inter, memory, &scratch);
    it.node = rank / it.q;
    it.local = rank % it.q;
    coll_i_route_init(&it.router, problem, rank);
    for (uint32_t b = 0; b < it.p; b++) {
        const uint32_t to = coll_i_tuna_end(&it, b, false);
        it.place[b] = COLL_PLACE(COLL_IN, to);
        if (coll_i_tuna_in_place(problem) && b > 0) { /* others will be written over it */
            it.place[b] = COLL_PLACE(COLL_SCRATCH, it.router.scratch++);
            coll_i_route_move(&it.router, COLL_RANK_NONE, COLL_PLACE(COLL_OUT, to), it.place[b],
                              1);
        }
    }
    if (!coll_i_tuna_in_place(problem))
        coll_i_route_move(&it.router, COLL_RANK_NONE, it.place[0], own, 1);
    coll_i_tuna_travel(&it, false, intra);
    coll_i_tuna_travel(&it, true, inter);
    for (uint32_t b = 1; b < it.p; b++)
        if (it.place[b] >> 30 == COLL_SCRATCH)
            coll_i_route_move(&it.router, COLL_RANK_NONE, it.place[b],
                              COLL_PLACE(COLL_OUT, coll_i_tuna_end(&it, b, true)), 1);
    coll_i_route_end(&it.router, route, problem, COLL_ROUTE_BY_DIGITS);
    return COLL_OK;
}

#endif /* COLL_ALGOS_TUNA_H */
