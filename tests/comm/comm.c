/* All collectives through comm.h, on loopback and threads: values, guards, in place, any root,
 * zero counts, an arena of exactly the size that coll_comm_bytes says. */
#include <pthread.h>

#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/select/intra_node.h"
#include "coll/transports/threads.h"
#include "support/comm_world.h"
#include "support/records.h"

/* ---- all ranks in one thread ------------------------------------------------------------- */

TEST(every_collective_on_loopback)
{
    static const size_t counts[] = {0, 1, 5};
    for (uint32_t p = 1; p <= 9; p++) {
        world *w = world_new(p);
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            for (unsigned i = 0; i < 3 * COMM_SORTS * 4; i++) {
                comm_case it = {(coll_collective)c,
                                p,
                                i & 1 ? p - 1 : 0,
                                counts[i / 4 % 3],
                                (i & 2) != 0,
                                &comm_sorts[i / 12],
                                false,
                                NULL};
                if (comm_valid(&it) && !(i & 1 && p == 1) && (i < 12 || it.count == 5))
                    run_case(w, &it);
            }
        free(w->messages);
    }
}

/* Long vectors, for which selection has other rules. */
TEST(long_vectors_on_loopback)
{
    static const size_t counts[] = {300, 2500, 9000, 34000};
    world *w = world_new(5);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (unsigned i = 0; i < 4 * 2; i++) {
            comm_case it = {(coll_collective)c,     5,     0,   counts[i / 2], (i & 1) != 0,
                            &comm_sorts[i / 2 % 2], false, NULL};
            if (comm_valid(&it) &&
                (it.count < 5000 ||
                 coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN) |
                             COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE),
                         it.collective)))
                run_case(w, &it);
        }
    free(w->messages);
}

/* ---- a rank a thread --------------------------------------------------------------------- */

typedef struct member {
    coll_threads *threads;
    uint32_t rank, p;
    pthread_t thread;
    unsigned long wrong, done;
    coll_comm comm;
    coll_op_entry op;
    unsigned char arena[1 << 18], cache[COLL_CACHE_BYTES(8)];
} member;

/* All cases, blocking, one after the other without any other synchronisation. */
static void *blocking_cases(void *arg)
{
    member *me = (member *)arg;
    static const size_t counts[] = {0, 1, 7, 300};
    const coll_op op = COLL_OP(comm_multiply, NULL, false, true);
    coll_operator number = 0;
    me->wrong += coll_comm_init(&me->comm, &coll_threads_transport,
                                coll_threads_rank(me->threads, me->rank), me->rank, me->p,
                                me->arena, sizeof me->arena) != COLL_OK;
    me->wrong += coll_comm_set_cache(&me->comm, me->cache, sizeof me->cache) != COLL_OK;
    me->wrong += coll_comm_add_op(&me->comm, &me->op, &op, COLL_OPAQUE(32), &number) != COLL_OK;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (unsigned i = 0; i < 4 * COMM_SORTS * 4; i++) {
            comm_case it = {(coll_collective)c,
                            me->p,
                            i & 1 ? me->p - 1 : 0,
                            counts[i / 4 % 4],
                            (i & 2) != 0,
                            &comm_sorts[i / 16],
                            false,
                            NULL};
            comm_rank *mine;
            if (!comm_valid(&it))
                continue;
            mine = comm_rank_new(&it, me->rank);
            me->wrong += comm_issue(&it, mine, COMM_BLOCKING, &me->comm, NULL) != COLL_OK;
            me->wrong += !comm_right(mine);
            me->done++;
            comm_rank_free(mine);
        }
    me->wrong += coll_comm_free(&me->comm) != COLL_OK;
    return NULL;
}

TEST(every_collective_on_threads)
{
    static const uint32_t ps[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        coll_threads *threads = coll_threads_create(ps[i]);
        member *members = (member *)calloc(ps[i], sizeof *members);
        for (uint32_t r = 0; r < ps[i]; r++) {
            members[r].threads = threads;
            members[r].rank = r;
            members[r].p = ps[i];
            CHECK_EQ(pthread_create(&members[r].thread, NULL, blocking_cases, &members[r]), 0);
        }
        for (uint32_t r = 0; r < ps[i]; r++) {
            CHECK_EQ(pthread_join(members[r].thread, NULL), 0);
            CHECK_EQ(members[r].wrong, 0);
            CHECK(members[r].done > 100);
        }
        free(members);
        coll_threads_destroy(threads);
    }
}

/* ---- forced algorithms ------------------------------------------------------------------- */

/* What a forced algorithm of these traits says. */
static coll_status status_of(const comm_case *it, uint32_t traits)
{
    if (traits & COLL_NEEDS_SHARED)
        return COLL_ERR_CAPABILITY;
    if (traits & COLL_NEEDS_BUILD)
        return COLL_ERR_BUILD;
    if (it->sort->op == COLL_USER_OP && coll_is(COLL_REDUCING, it->collective) &&
        traits & COLL_NEEDS_COMMUTATIVE)
        return COLL_ERR_ORDER;
    if (comm_is_v(it->collective) && !it->packed && it->p > 1 &&
        it->collective != COLL_REDUCE_SCATTER && traits & COLL_NEEDS_PACKED)
        return COLL_ERR_LAYOUT;
    if ((traits & COLL_NEEDS_POWER_OF_TWO) && (it->p & (it->p - 1)) != 0)
        return COLL_ERR_SHAPE;
    return COLL_OK;
}

/* Every row of the registry through the communicator: works, or is refused with the row's own
 * reason. */
TEST(every_algorithm_can_be_chosen)
{
    for (uint32_t p = 1; p <= 6; p += 5) {
        world *w = world_new(p);
        for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
            for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
                for (unsigned i = 0; i < 8; i++) {
                    const uint32_t traits = coll_registry[row]->traits;
                    comm_case it = {(coll_collective)c,     p,      0,   6, (i & 1) != 0,
                                    &comm_sorts[i / 2 % 2], i >= 4, NULL};
                    comm_rank *ranks[COMM_MOST];
                    coll_status status = COLL_OK;
                    if (!coll_is(coll_registry[row]->collectives, it.collective) ||
                        !comm_valid(&it))
                        continue;
                    if (traits & COLL_NEEDS_ROUTE)
                        it.routed = coll_registry[row];
                    for (uint32_t r = 0; r < p; r++) {
                        ranks[r] = comm_rank_new(&it, r);
                        world_comm(w, r, 1 << 19);
                        CHECK_STATUS(coll_comm_set_algorithm(&w->comms[r], it.collective,
                                                             coll_registry[row], NULL),
                                     COLL_OK);
                        status = comm_issue(&it, ranks[r], COMM_NONBLOCKING, &w->comms[r],
                                            &w->requests[r]);
                        CHECK_STATUS(status, status_of(&it, traits));
                    }
                    if (status == COLL_OK)
                        finish_all(w);
                    for (uint32_t r = 0; r < p; r++) {
                        CHECK(status != COLL_OK ||
                              w->requests[r].own.plan.algorithm == coll_registry[row]);
                        CHECK(status != COLL_OK || comm_right(ranks[r]));
                        CHECK_STATUS(coll_comm_free(&w->comms[r]), COLL_OK);
                        comm_rank_free(ranks[r]);
                        free(w->arenas[r]);
                    }
                    coll_loopback_recover(&w->loopback);
                }
        free(w->messages);
    }
}

/* Runs a reduce_scatter with the arena that coll_comm_bytes says, and returns its algorithm. */
static const coll_algorithm *reduce_scatter(world *w, const coll_transport *transport,
                                            const coll_rule_list *rules, const size_t *counts,
                                            const comm_sort *sort)
{
    enum { MOST = 200 * COMM_ELEMENT };
    static unsigned char in[COMM_MOST][MOST], out[COMM_MOST][MOST], right[2][COMM_ELEMENT];
    const size_t element = coll_type_bytes(sort->type);
    const coll_algorithm *chosen = NULL;
    coll_op op;
    for (uint32_t r = 0; r < w->p; r++) {
        coll_args args;
        size_t bytes = 0, at = 0;
        coll_i_reduce_scatter_args(&args, in[r], out[r], counts, sort->type, sort->op);
        for (uint32_t i = 0; i < w->p; i++)
            for (size_t k = 0; k < counts[i]; k++)
                comm_value(sort, r, i, k, in[r] + at++ * element);
        for (unsigned k = 0; k < 2; k++) {
            world_comm(w, r, k == 0 ? 0 : bytes + COLL_ARENA_ALIGN - 1);
            w->comms[r].transport = transport;
            CHECK_STATUS(coll_comm_rules(&w->comms[r], rules), COLL_OK);
            CHECK_STATUS(coll_comm_bytes(&w->comms[r], &args, &bytes), COLL_OK);
        }
        CHECK_STATUS(coll_post(&w->comms[r], &args, &w->requests[r]), COLL_OK);
        CHECK(!chosen || chosen == w->requests[r].own.plan.algorithm);
        chosen = w->requests[r].own.plan.algorithm;
    }
    finish_all(w);
    CHECK_STATUS(coll_comm_op(&w->comms[0], sort->op, sort->type, &op), COLL_OK);
    for (uint32_t r = 0; r < w->p; r++)
        for (size_t k = 0; k < counts[r]; k++) {
            comm_value(sort, 0, r, k, right[0]);
            for (uint32_t from = 1; from < w->p; from++) {
                comm_value(sort, from, r, k, right[1]);
                op.combine(right[0], right[0], right[1], 1, op.arg);
            }
            CHECK(memcmp(out[r] + k * element, right[0], element) == 0);
        }
    for (uint32_t r = 0; r < w->p; r++) {
        CHECK_STATUS(coll_comm_free(&w->comms[r]), COLL_OK);
        free(w->arenas[r]);
    }
    return chosen;
}

/* What takes less memory is for short vectors. */
static const coll_rule by_length[] = {
    {COLL_BIT(COLL_REDUCE_SCATTER), 1, COLL_ANY_P, 0, 64, &coll_pairwise_reduce_scatter,
     COLL_DEFAULTS("short")},
    {COLL_BIT(COLL_REDUCE_SCATTER), 1, COLL_ANY_P, 65, SIZE_MAX, &coll_linear_reduce_scatter,
     COLL_DEFAULTS("long")},
};
static const coll_rule_list lists_by_length = {by_length, 2, &coll_rules_built_in};

/* All ranks know that its blocks lie one after the other, and so may an algorithm. The arena that
 * it takes is bounded where the largest block is for another one. */
TEST(reduce_scatter_of_packed_blocks)
{
    enum { P = 5 };
    static const size_t counts[][P] = {{1, 1, 1, 1, 1},  {0, 0, 0, 0, 0}, {0, 3, 0, 2, 1},
                                       {0, 0, 0, 0, 7},  {2, 0, 0, 0, 0}, {190, 1, 0, 2, 1},
                                       {2, 0, 150, 3, 9}};
    world *w = world_new(P);
    coll_transport small = coll_loopback_transport;
    records own;
    unsigned lengths[2] = {0, 0};
    records_of(&own, &small);
    records_use(&own, &small);
    own.in_network.max_bytes = 2 * COMM_ELEMENT;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t s = 0; s < COMM_SORTS; s++) {
            const comm_sort *sort = &comm_sorts[s];
            const coll_algorithm *chosen;
            const size_t element = coll_type_bytes(sort->type);
            size_t elements = 0;
            for (uint32_t r = 0; r < P; r++)
                elements += counts[i][r];
            chosen = reduce_scatter(w, &coll_loopback_transport,
                                    &coll_node_oversubscribed_rules, counts[i], sort);
            CHECK(chosen == &coll_in_network_reduce_scatter);
            chosen =
                reduce_scatter(w, &small, &coll_node_oversubscribed_rules, counts[i], sort);
            CHECK(chosen == (elements * element <= own.in_network.max_bytes
                                 ? &coll_in_network_reduce_scatter
                             : elements / P * element <= 1024 ? &coll_linear_reduce_scatter
                                                              : &coll_pairwise_reduce_scatter));
            chosen = reduce_scatter(w, &small, &lists_by_length, counts[i], sort);
            CHECK(chosen == &coll_pairwise_reduce_scatter ||
                  chosen == &coll_linear_reduce_scatter);
            lengths[chosen == &coll_linear_reduce_scatter]++;
            chosen = reduce_scatter(w, &small, &coll_rules_built_in, counts[i], sort);
            CHECK(chosen == (sort->op == COLL_USER_OP
                                 ? &coll_butterfly_reduce_scatter
                                 : &coll_recursive_halving_reduce_scatter));
        }
    CHECK(lengths[0] > 0 && lengths[1] > 0);
    free(w->messages);
}

TEST(forcing)
{
    const uint32_t params[3] = {3, 5, 0};
    world *w = world_new(1);
    coll_comm *comm;
    double x = 1, y = 0;
    world_comm(w, 0, 0);
    comm = &w->comms[0];
    CHECK_STATUS(coll_comm_set_algorithm(NULL, COLL_BCAST, NULL, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_algorithm(comm, COLL_COLLECTIVES, NULL, NULL),
                 COLL_ERR_COLLECTIVE);
    CHECK_STATUS(coll_comm_set_algorithm(comm, COLL_BCAST, &coll_ring_allreduce, NULL),
                 COLL_ERR_COLLECTIVE);
    CHECK_STATUS(coll_comm_set_algorithm(comm, COLL_ALLREDUCE, &coll_fnomial_allreduce, params),
                 COLL_OK);
    CHECK_STATUS(coll_iallreduce(comm, &x, &y, 1, COLL_F64, COLL_SUM, &w->requests[0]),
                 COLL_OK);
    CHECK_STATUS(coll_wait(&w->requests[0]), COLL_OK);
    CHECK_EQ(w->requests[0].engine.task.plan->param[0], 3);
    CHECK_EQ(w->requests[0].engine.task.plan->param[1], 5);
    CHECK_STATUS(coll_comm_set_algorithm(comm, COLL_ALLREDUCE, NULL, NULL), COLL_OK);
    CHECK_STATUS(coll_iallreduce(comm, &x, &y, 1, COLL_F64, COLL_SUM, &w->requests[0]),
                 COLL_OK);
    CHECK_STATUS(coll_wait(&w->requests[0]), COLL_OK);
    CHECK(w->requests[0].engine.task.plan->algorithm != &coll_fnomial_allreduce);
    free(w->messages);
}

TEST(rules)
{
    static const coll_rule mine[] = {
        {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, 8, &coll_shm_allreduce,
         COLL_DEFAULTS("calls have no SHARED memory here")},
        {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, 8, &coll_linear_allreduce,
         COLL_DEFAULTS("short")},
    };
    static const coll_rule_list lists = {mine, 2, &coll_rules_built_in};
    static const coll_rule_list alone = {mine, 1, NULL};
    const coll_group all = {0, 1, NULL, NULL};
    world *w = world_new(1);
    coll_comm *comm, sub;
    double x[2] = {1, 2}, y[2] = {0, 0};
    coll_request request;
    world_comm(w, 0, 0);
    comm = &w->comms[0];
    CHECK_STATUS(coll_comm_rules(NULL, &lists), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_rules(comm, &lists), COLL_OK);
    CHECK_STATUS(coll_comm_create(&sub, comm, &all, 1, 4), COLL_OK);
    for (int turn = 0; turn < 2; turn++) {
        coll_comm *const at = turn ? &sub : comm;
        CHECK_STATUS(coll_iallreduce(at, x, y, 1, COLL_F64, COLL_SUM, &request), COLL_OK);
        CHECK_STATUS(coll_wait(&request), COLL_OK);
        CHECK(request.engine.task.plan->algorithm == &coll_linear_allreduce);
        CHECK_STATUS(coll_iallreduce(at, x, y, 2, COLL_F64, COLL_SUM, &request), COLL_OK);
        CHECK_STATUS(coll_wait(&request), COLL_OK);
        CHECK(request.engine.task.plan->algorithm == &coll_recursive_doubling_allreduce);
    }
    CHECK(y[0] == 1 && y[1] == 2);
    CHECK_STATUS(coll_comm_rules(comm, &alone), COLL_OK);
    CHECK_STATUS(coll_allreduce(comm, x, y, 1, COLL_F64, COLL_SUM), COLL_ERR_CAPABILITY);
    CHECK_STATUS(coll_comm_rules(comm, NULL), COLL_OK);
    CHECK_STATUS(coll_iallreduce(comm, x, y, 1, COLL_F64, COLL_SUM, &request), COLL_OK);
    CHECK_STATUS(coll_wait(&request), COLL_OK);
    CHECK(request.engine.task.plan->algorithm == &coll_recursive_doubling_allreduce);
    CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    free(w->messages);
}

/* Calls that are made again are those that were made, with other buffers: by the same plan, and by
 * what it does here, written out. */
TEST(calls_made_again)
{
    static const coll_algorithm *const forced[] = {NULL, &coll_linear_allreduce, NULL};
    world *w = world_new(2);
    double x[2][3], y[2][3];
    world_comm(w, 0, 256);
    world_comm(w, 1, 256);
    for (unsigned i = 0; i < 72; i++) {
        const size_t count = 1 + i / 4 % 3;
        const coll_operator op = i / 12 % 2 ? COLL_SUM : COLL_MAX;
        for (uint32_t r = 0; r < 2; r++) {
            for (unsigned k = 0; k < 3; k++)
                x[r][k] = 10 * i + k + r;
            if (i % 24 == 0)
                CHECK_STATUS(
                    coll_comm_set_algorithm(&w->comms[r], COLL_ALLREDUCE, forced[i / 24], NULL),
                    COLL_OK);
            CHECK_STATUS(
                coll_iallreduce(&w->comms[r], NULL, y[r], count, COLL_F64, op, &w->requests[r]),
                COLL_ERR_NULL);
            CHECK_STATUS(w->comms[r].status, COLL_ERR_NULL);
            w->comms[r].status = COLL_OK;
            coll_loopback_recover(&w->loopback);
            CHECK_STATUS(
                coll_iallreduce(&w->comms[r], x[r], y[r], count, COLL_F64, op, &w->requests[r]),
                COLL_OK);
        }
        CHECK(w->requests[0].engine.task.plan->algorithm ==
              (i / 24 == 1 ? &coll_linear_allreduce : &coll_recursive_doubling_allreduce));
        CHECK((w->requests[0].engine.task.schedule != NULL) ==
              (COLL_CACHED_ACTIONS > 0 && i % 4 != 0));
        CHECK_EQ(w->requests[1].engine.task.plan->problem.count, count);
        for (bool runs = true; runs;) {
            runs = coll_test(&w->requests[0]) == COLL_AGAIN;
            runs = coll_test(&w->requests[1]) == COLL_AGAIN || runs;
        }
        for (uint32_t r = 0; r < 2; r++)
            for (unsigned k = 0; k < count; k++)
                CHECK(y[r][k] == (op == COLL_SUM ? 20. * i + 2 * k + 1 : 10. * i + k + 1));
    }
    free(w->arenas[0]);
    free(w->arenas[1]);
    free(w->messages);
}

/* A plan by which a call runs is not written over, and one that was made for other neighbours, or for
 * an operator that is gone, is not used. */
TEST(plans_that_are_remembered)
{
    const uint32_t one = 1;
    world *w = world_new(2);
    double x[2] = {3, 4}, y[2] = {0, 0};
    coll_request held, other;
    size_t counts[1] = {1}, displs[1];
    coll_graph graph;
    coll_op op;
    coll_op_entry entry;
    coll_operator number = 0;
    coll_comm *comm;
    world_comm(w, 0, 256);
    comm = &w->comms[0];
    CHECK_STATUS(coll_iallreduce(comm, x, y, 2, COLL_F64, COLL_SUM, &other), COLL_OK);
    CHECK_STATUS(coll_iallreduce(comm, x, y, 2, COLL_F64, COLL_SUM, &held), COLL_OK);
    CHECK(held.engine.task.plan != &held.own.plan && other.engine.task.plan == &other.own.plan);
    CHECK_STATUS(coll_comm_set_algorithm(comm, COLL_ALLREDUCE, &coll_linear_allreduce, NULL),
                 COLL_OK);
    CHECK_STATUS(coll_iallreduce(comm, x, y, 1, COLL_F64, COLL_SUM, &w->requests[0]), COLL_OK);
    CHECK(held.engine.task.plan->problem.count == 2 &&
          held.engine.task.plan->algorithm != &coll_linear_allreduce &&
          w->requests[0].engine.task.plan->algorithm == &coll_linear_allreduce);
    free(w->arenas[0]);
    free(w->messages);

    w = world_new(1);
    world_comm(w, 0, 256);
    comm = &w->comms[0];
    CHECK_STATUS(coll_graph_mesh(&graph, 1, &one, 1), COLL_OK);
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(coll_neighbor_allgather(comm, &graph, x, y, 1, COLL_F64), COLL_OK);
    CHECK(y[0] == 3 && y[1] == 3);
    for (uint32_t root = 0; root < 3; root++) { /* which an allreduce has none of */
        coll_args args;
        coll_i_reducing(&args, COLL_ALLREDUCE, x, y, 1, COLL_F64, COLL_SUM, root);
        CHECK_STATUS(coll_post(comm, &args, &held), COLL_OK);
        CHECK((held.engine.task.plan != &held.own.plan) == (root > 0));
        CHECK_STATUS(coll_wait(&held), COLL_OK);
    }
    { /* the graph of the plan that is remembered is its own: the caller's may change */
        static const uint32_t wide = 7;
        coll_graph same = graph;
        CHECK_STATUS(coll_comm_rules(comm, NULL), COLL_OK); /* forgets it */
        CHECK_STATUS(coll_neighbor_allgather(comm, &graph, x, y, 1, COLL_F64), COLL_OK);
        CHECK_STATUS(coll_graph_mesh(&graph, 1, &wide, 0), COLL_OK);
        y[0] = y[1] = 0;
        CHECK_STATUS(coll_ineighbor_allgather(comm, &same, x, y, 1, COLL_F64, &held), COLL_OK);
        CHECK(held.engine.task.plan != &held.own.plan);
        CHECK_STATUS(coll_wait(&held), COLL_OK);
        CHECK(y[0] == 3 && y[1] == 3);
    }
    CHECK_STATUS(coll_graph_mesh(&graph, 1, &one, 0), COLL_OK); /* it has ends now */
    y[0] = y[1] = 0;
    CHECK_STATUS(coll_neighbor_allgather(comm, &graph, x, y, 1, COLL_F64), COLL_OK);
    CHECK(y[0] == 0 && y[1] == 0);

    for (int i = 0; i < 4; i++) { /* tables that change where they lie */
        displs[0] = (size_t)(i & 1);
        y[0] = y[1] = 0;
        CHECK_STATUS(coll_allgatherv(comm, x, 1, y, counts, displs, COLL_F64), COLL_OK);
        CHECK(y[i & 1] == 3 && y[!(i & 1)] == 0);
        y[0] = y[1] = 0;
        counts[0] = 1 + (size_t)(i >> 1);
        CHECK_STATUS(coll_reduce_scatter(comm, x, y, counts, COLL_F64, COLL_SUM), COLL_OK);
        CHECK(y[0] == 3 && y[1] == (i >> 1 ? 4 : 0));
        counts[0] = 1;
    }
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_F64), COLL_OK);
    CHECK_STATUS(coll_comm_add_op(comm, &entry, &op, COLL_F64, &number), COLL_OK);
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(coll_allreduce(comm, x, y, 1, COLL_F64, number), COLL_OK);
    CHECK_STATUS(coll_comm_remove_op(comm, number), COLL_OK);
    CHECK_STATUS(coll_allreduce(comm, x, y, 1, COLL_F64, number), COLL_ERR_OP);
    free(w->arenas[0]);
    free(w->messages);
}

/* Of a plan of more actions than are kept none is. */
TEST(actions_that_are_kept)
{
    enum { MOST = 40 };
    const uint32_t segment[1] = {1};
    world *w = world_new(2);
    double x[MOST], y[MOST], first[MOST];
    coll_counts tally = {0};
    bool some = false, too_many = false;
    for (uint32_t r = 0; r < 2; r++) {
        world_comm(w, r, 4096);
        CHECK_STATUS(
            coll_comm_set_algorithm(&w->comms[r], COLL_SCAN, &coll_linear_scan, segment),
            COLL_OK);
    }
    for (unsigned i = 0; i < 3 * MOST; i++) {
        const size_t count = 1 + i / 3;
        for (unsigned k = 0; k < MOST; k++)
            x[k] = i + k;
        for (uint32_t r = 0; r < 2; r++)
            CHECK_STATUS(coll_iscan(&w->comms[r], x, r == 0 ? first : y, count, COLL_F64,
                                    COLL_SUM, &w->requests[r]),
                         COLL_OK);
        CHECK_STATUS(coll_plan_count(w->requests[1].engine.task.plan, 1, &tally), COLL_OK);
        if (i % 3 != 0)
            CHECK((w->requests[1].engine.task.schedule != NULL) ==
                  (tally.total <= COLL_CACHED_ACTIONS));
        some = some || w->requests[1].engine.task.schedule;
        too_many = too_many || tally.total > COLL_CACHED_ACTIONS;
        finish_all(w);
        for (unsigned k = 0; k < count; k++)
            CHECK(y[k] == 2. * (i + k));
    }
    CHECK(too_many && some == (COLL_CACHED_ACTIONS > 0));
    free(w->arenas[0]);
    free(w->arenas[1]);
    free(w->messages);
}

/* The displacements that a reduce_scatter makes for itself are one for each block, and no more. */
TEST(displacements_of_packed_blocks)
{
    const size_t counts[3] = {1, 1, SIZE_MAX}; /* the last one is of no rank */
    world *w = world_new(2);
    double x[2][2] = {{1, 2}, {30, 40}}, y[2] = {0, 0};
    for (uint32_t r = 0; r < 2; r++) {
        world_comm(w, r, 4096);
        CHECK_STATUS(coll_ireduce_scatter(&w->comms[r], x[r], &y[r], counts, COLL_F64, COLL_SUM,
                                          &w->requests[r]),
                     COLL_OK);
        CHECK_EQ(w->requests[r].tables.span.count, (2 * sizeof(size_t) + 15) / 16);
    }
    finish_all(w);
    CHECK(y[0] == 31 && y[1] == 42);
    free(w->arenas[0]);
    free(w->arenas[1]);
    free(w->messages);
}

/* Of SHARED there is too little for the algorithm of a rule: the next one that needs none is taken;
 * a forced one is refused, on all ranks. */
TEST(too_little_shared)
{
    enum { BYTES = 8 * COLL_NODE_PARTS * COLL_NODE_LINE, MOST = 40000 };
    static const coll_rule mine = {
        COLL_BIT(COLL_ALLREDUCE),  1, COLL_ANY_P, 0, SIZE_MAX, &coll_shm_allreduce,
        COLL_DEFAULTS("in SHARED")};
    static const coll_rule_list lists = {&mine, 1, &coll_rules_built_in};
    static double x[MOST], y[2][MOST];
    static unsigned char scratch[2][MOST * sizeof(double)];
    coll_threads *threads = coll_threads_create(2);
    coll_comm comm[2];
    coll_request request[2];
    CHECK_STATUS(coll_threads_share(threads, BYTES), COLL_OK);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK_STATUS(coll_comm_init(&comm[r], &coll_threads_transport,
                                    coll_threads_rank(threads, r), r, 2, scratch[r],
                                    sizeof scratch[r]),
                     COLL_OK);
        CHECK_STATUS(coll_comm_rules(&comm[r], &lists), COLL_OK);
    }
    for (size_t count = 1; count <= MOST; count += MOST - 1) {
        bool runs = true;
        x[count - 1] = 5;
        for (uint32_t r = 0; r < 2; r++) {
            CHECK_STATUS(
                coll_iallreduce(&comm[r], x, y[r], count, COLL_F64, COLL_SUM, &request[r]),
                COLL_OK);
            CHECK((request[r].engine.task.plan->algorithm == &coll_shm_allreduce) ==
                  (count == 1));
        }
        while (runs) {
            runs = coll_test(&request[0]) == COLL_AGAIN;
            runs = coll_test(&request[1]) == COLL_AGAIN || runs;
        }
        CHECK(y[0][count - 1] == 10 && y[1][count - 1] == 10);
    }
    for (uint32_t r = 0; r < 2; r++) {
        CHECK_STATUS(
            coll_comm_set_algorithm(&comm[r], COLL_ALLREDUCE, &coll_shm_allreduce, NULL),
            COLL_OK);
        CHECK_STATUS(coll_allreduce(&comm[r], x, y[r], MOST, COLL_F64, COLL_SUM),
                     COLL_ERR_SHARED);
        CHECK_STATUS(comm[r].status, COLL_OK);
        CHECK_STATUS(coll_comm_free(&comm[r]), COLL_OK);
    }
    coll_threads_destroy(threads);
}

int main(void)
{
    RUN_ALONE(every_collective_on_loopback);
    RUN_ALONE(long_vectors_on_loopback);
    RUN(every_collective_on_threads);
    RUN_ALONE(every_algorithm_can_be_chosen);
    RUN(reduce_scatter_of_packed_blocks);
    RUN(forcing);
    RUN(rules);
    RUN(calls_made_again);
    RUN(plans_that_are_remembered);
    RUN(actions_that_are_kept);
    RUN(displacements_of_packed_blocks);
    RUN(too_little_shared);
    return check_done();
}
