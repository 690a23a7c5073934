/* tests/support/comm_world.h — all ranks of a communicator in one thread, and a case of
 * comm_cases.h run on them, in an arena of exactly the size that coll_comm_bytes says
 *
 *   world *w = world_new(p);
 *   w->nodes = &nodes;                    // or NULL
 *   const bool built = run_case(w, &it);  // by a plan that is composite?
 *   free(w->messages);
 */
#ifndef COLL_TESTS_COMM_WORLD_H
#define COLL_TESTS_COMM_WORLD_H

#include "check.h"
#include "coll/comm/multi_node.h"
#include "coll/transports/loopback.h"
#include "comm_cases.h"
#include "records.h"

typedef struct world {
    coll_transport
        transport; /* loopback's, without claims: ranks make as many communicators as they like */
    records own;
    coll_loopback loopback;
    coll_loopback_rank ends[COMM_MOST];
    coll_comm comms[COMM_MOST];
    unsigned char caches[COMM_MOST][COLL_CACHE_BYTES(8)];
    coll_op_entry ops[COMM_MOST];
    coll_request requests[COMM_MOST];
    void *messages, *arenas[COMM_MOST];
    uint32_t p;
    const coll_nodes *nodes;         /* of coll_comm_nodes; NULL: none */
    const coll_rule_list *rules;     /* … and of coll_comm_rules after it; NULL: none */
    const coll_algorithm *algorithm; /* that is forced; NULL: none */
} world;

static world the_world;

static inline world *world_new(uint32_t p)
{
    const uint32_t messages = p * 64;
    const size_t bytes = COLL_LOOPBACK_BYTES(messages);
    memset(&the_world, 0, sizeof the_world);
    the_world.transport = coll_loopback_transport;
    records_of(&the_world.own, &the_world.transport);
    the_world.own.tag_ranges.claim = NULL;
    the_world.own.tag_ranges.unclaim = NULL;
    records_use(&the_world.own, &the_world.transport);
    the_world.p = p;
    the_world.messages = malloc(bytes);
    CHECK_STATUS(
        coll_loopback_init(&the_world.loopback, p, messages, the_world.messages, bytes),
        COLL_OK);
    for (uint32_t r = 0; r < p; r++)
        CHECK_STATUS(coll_loopback_attach(&the_world.loopback, r, &the_world.ends[r]), COLL_OK);
    return &the_world;
}

/* Makes the communicator of a rank, with `bytes` of arena, a cache, the operator of
 * comm_cases.h, and what of nodes, rules and algorithm there is. */
static inline void world_comm(world *w, uint32_t r, size_t bytes)
{
    const coll_op op = COLL_OP(comm_multiply, NULL, false, true);
    coll_operator number = 0;
    memset(&w->comms[r], 0xA5, sizeof w->comms[r]); /* memory that holds anything */
    w->arenas[r] = bytes ? malloc(bytes) : NULL;
    CHECK_STATUS(
        coll_comm_init(&w->comms[r], &w->transport, &w->ends[r], r, w->p, w->arenas[r], bytes),
        COLL_OK);
    CHECK_STATUS(coll_comm_set_cache(&w->comms[r], w->caches[r], sizeof w->caches[r]), COLL_OK);
    CHECK_STATUS(coll_comm_add_op(&w->comms[r], &w->ops[r], &op, COLL_OPAQUE(32), &number),
                 COLL_OK);
    CHECK_EQ(number, COLL_USER_OP);
    if (w->nodes)
        CHECK_STATUS(coll_comm_nodes(&w->comms[r], w->nodes), COLL_OK);
    if (w->rules)
        CHECK_STATUS(coll_comm_rules(&w->comms[r], w->rules), COLL_OK);
    for (unsigned c = 0; w->algorithm && c < COLL_COLLECTIVES; c++)
        if (coll_is(w->algorithm->collectives, c))
            CHECK_STATUS(
                coll_comm_set_algorithm(&w->comms[r], (coll_collective)c, w->algorithm, NULL),
                COLL_OK);
}

/* The bytes of the arena that a call takes; *exact: not a bound. Where a plan is made to find out, the
 * arena must have as many as the question says. */
static inline size_t world_bytes(world *w, uint32_t r, const coll_args *args, bool *exact)
{
    size_t bytes = 0, asks;
    coll_status status;
    world_comm(w, r, 0);
    status = coll_comm_bytes(&w->comms[r], args, &bytes);
    *exact = status == COLL_ERR_MEMORY || args->collective != COLL_REDUCE_SCATTER;
    if (status == COLL_OK || !CHECK_STATUS(status, COLL_ERR_MEMORY) || !CHECK(w->nodes))
        return bytes;
    asks = bytes;
    world_comm(w, r, asks - 1);
    CHECK_STATUS(coll_comm_bytes(&w->comms[r], args, &bytes), COLL_ERR_MEMORY);
    CHECK_EQ(bytes, asks);
    free(w->arenas[r]);
    world_comm(w, r, asks);
    CHECK_STATUS(coll_comm_bytes(&w->comms[r], args, &bytes), COLL_OK);
    CHECK(bytes >= asks && w->comms[r].arena.units.first == NULL);
    free(w->arenas[r]);
    return bytes;
}

/* Tests all calls in turn until all are done. */
static inline void finish_all(world *w)
{
    bool open[COMM_MOST];
    uint32_t left = w->p;
    memset(open, 1, sizeof open);
    for (unsigned round = 0; left > 0 && round < 100000; round++)
        for (uint32_t r = 0; r < w->p; r++)
            if (open[r]) {
                const coll_status status = coll_test(&w->requests[r]);
                if (status == COLL_AGAIN)
                    continue;
                CHECK_STATUS(status, COLL_OK);
                open[r] = false;
                left--;
            }
    CHECK_EQ(left, 0);
}

/* Runs a case once nonblocking, and twice by a persistent call. Returns whether the plan was made of
 * others. */
static inline bool run_case(world *w, const comm_case *it)
{
    comm_rank *ranks[COMM_MOST];
    const coll_plan *first;
    for (uint32_t r = 0; r < w->p; r++) {
        coll_args args;
        size_t bytes;
        bool exact;
        ranks[r] = comm_rank_new(it, r);
        args = comm_args(it, ranks[r]);
        bytes = world_bytes(w, r, &args, &exact);
        for (unsigned k = 0; bytes > 0 && exact && k < 2; k++) {
            world_comm(w, r, bytes - 1);
            CHECK_STATUS(comm_issue(it, ranks[r], k ? COMM_PERSISTENT : COMM_NONBLOCKING,
                                    &w->comms[r], &w->requests[r]),
                         COLL_ERR_MEMORY);
            CHECK(w->comms[r].arena.units.first == NULL && w->comms[r].tags.first == NULL);
            coll_loopback_recover(&w->loopback);
            free(w->arenas[r]);
        }
        world_comm(w, r, bytes ? bytes + COLL_ARENA_ALIGN - 1 : 0);
    }
    for (uint32_t r = 0; r < w->p; r++)
        CHECK_STATUS(comm_issue(it, ranks[r], COMM_NONBLOCKING, &w->comms[r], &w->requests[r]),
                     COLL_OK);
    first = w->requests[0].engine.task.plan;
    for (uint32_t r = 0; r < w->p; r++)
        CHECK(w->requests[r].engine.task.plan->algorithm == first->algorithm &&
              w->requests[r].engine.task.plan->traits == first->traits);
    finish_all(w);
    for (uint32_t r = 0; r < w->p; r++) {
        if (!CHECK(comm_right(ranks[r])))
            printf("    %s by %s, p = %u, rank %u, root %u, count %zu, type %s, %s\n",
                   coll_collective_name(it->collective), first->algorithm->name, it->p, r,
                   it->root, it->count, coll_type_name(it->sort->type),
                   it->in_place ? "in place" : "");
        CHECK(w->comms[r].arena.units.first == NULL);
        CHECK_STATUS(comm_issue(it, ranks[r], COMM_PERSISTENT, &w->comms[r], &w->requests[r]),
                     COLL_OK);
    }
    for (int again = 0; again < 2; again++) {
        for (uint32_t r = 0; r < w->p; r++) {
            comm_rank_fill(it, ranks[r]);
            CHECK_STATUS(coll_start(&w->requests[r]), COLL_OK);
        }
        finish_all(w);
        for (uint32_t r = 0; r < w->p; r++)
            CHECK(comm_right(ranks[r]));
    }
    for (uint32_t r = 0; r < w->p; r++) {
        CHECK_STATUS(coll_comm_free(&w->comms[r]), COLL_ERR_BUSY);
        CHECK_STATUS(coll_request_free(&w->requests[r]), COLL_OK);
        CHECK(w->comms[r].arena.units.first == NULL);
        CHECK_STATUS(coll_comm_free(&w->comms[r]), COLL_OK);
        free(w->arenas[r]);
        comm_rank_free(ranks[r]);
    }
    return (first->traits & COLL_NEEDS_BUILD) != 0;
}

#endif /* COLL_TESTS_COMM_WORLD_H */
