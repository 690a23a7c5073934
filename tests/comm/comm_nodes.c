/* Calls of communicators on several nodes, of one size and of others: in levels, where rules or a
 * forced algorithm say so, in an arena of exactly the size that coll_comm_bytes says. */
#include <pthread.h>

#include "coll/transports/threads.h"
#include "support/comm_world.h"
#include "support/mixed_calls.h"

enum { P_MOST = 16 };

static const uint32_t crowd[] = {0, 12, 16}, uneven[] = {0, 1, 4, 6, 9}, pair[] = {0, 7, 9};

/* Nodes number k of so many ranks; false: there are no more. */
static bool nodes_of(coll_nodes *nodes, uint32_t p, uint32_t k)
{
    if (k < 4) {
        coll_nodes_even(nodes, p, k == 0 ? p : k + 1);
    } else if (p == P_MOST) {
        coll_nodes_table(nodes, 2, crowd, NULL);
    } else if (p == 9) {
        coll_nodes_table(nodes, k == 4 ? 4 : 2, k == 4 ? uneven : pair, NULL);
    }
    return k < 4 || (p == P_MOST && k < 5) || (p == 9 && k < 6);
}

/* ---- all ranks in one thread ------------------------------------------------------------- */

/* By the rules of nodes: in levels wherever they say so, and right wherever. */
TEST(every_collective_by_the_rules_of_nodes)
{
    static const size_t counts[] = {0, 1, 40, 300, 9000};
    static const uint32_t ps[] = {1, 2, 9, P_MOST};
    uint32_t built[COLL_COLLECTIVES] = {0};
    for (unsigned i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        coll_nodes nodes;
        world *w = world_new(ps[i]);
        w->nodes = &nodes;
        for (uint32_t k = 0; nodes_of(&nodes, w->p, k); k++)
            for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
                for (unsigned n = 0; n < 5 * 4 * 2; n++) {
                    const bool long_one = n / 8 >= 3;
                    const comm_case it = {(coll_collective)c,
                                          w->p,
                                          n & 1 ? w->p - 1 : 0,
                                          counts[n / 8],
                                          (n & 2) != 0,
                                          &comm_sorts[(n & 4) / 4],
                                          false,
                                          NULL};
                    if (!comm_valid(&it) || (n & 1 && w->p == 1) ||
                        (long_one && (w->p != P_MOST || k < 4 || n & 2)) ||
                        (n / 8 == 4 &&
                         !coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE), c)))
                        continue;
                    if (run_case(w, &it))
                        built[c]++;
                    CHECK(k > 0 || coll_nodes_count(&nodes) == 1);
                }
        free(w->messages);
    }
    for (size_t r = 0; r < coll_rules_of_nodes.n; r++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            if (coll_is(coll_nodes_rules[r].collectives, c) &&
                (coll_nodes_rules[r].algorithm->traits & COLL_NEEDS_BUILD) &&
                coll_nodes_rules[r].ppn_least <= 12 && !CHECK(built[c] > 0))
                printf("    %s never in levels\n", coll_collective_name((coll_collective)c));
}

/* No memory is taken for what no rule is for. */
TEST(other_calls_take_what_they_took)
{
    static const size_t counts[] = {1, 1023, 1024, 8191, 8192};
    world *w = world_new(9);
    coll_nodes nodes;
    coll_nodes_even(&nodes, 9, 3);
    for (unsigned i = 0; i < 5 * COLL_COLLECTIVES; i++) {
        coll_args args;
        size_t bytes[2] = {0, 0};
        coll_status status;
        if (coll_is(COLL_NEIGHBORLY | COLL_PAIRED, i / 5) ||
            comm_is_v((coll_collective)(i / 5)))
            continue;
        coll_i_reducing(&args, (coll_collective)(i / 5), NULL, NULL, counts[i % 5], COLL_F64,
                        COLL_SUM, 0);
        w->nodes = NULL;
        world_comm(w, 4, 0);
        CHECK_STATUS(coll_comm_bytes(&w->comms[4], &args, &bytes[0]), COLL_OK);
        w->nodes = &nodes;
        world_comm(w, 4, 0);
        status = coll_comm_bytes(&w->comms[4], &args, &bytes[1]);
        if (args.collective == COLL_BARRIER || (args.collective == COLL_BCAST && i % 5 < 2) ||
            (args.collective == COLL_REDUCE && i % 5 < 1)) {
            CHECK_STATUS(status, COLL_ERR_MEMORY);
        } else {
            CHECK_STATUS(status, COLL_OK);
            CHECK_EQ(bytes[0], bytes[1]);
        }
    }
    free(w->messages);
}

/* A call that is refused, as there is no memory that ranks share, and leaves nothing in the arena. */
static void refused(world *w, const comm_case *it)
{
    comm_rank *mine = comm_rank_new(it, 0);
    world_comm(w, 0, 1 << 16);
    CHECK_STATUS(comm_issue(it, mine, COMM_NONBLOCKING, &w->comms[0], &w->requests[0]),
                 COLL_ERR_CAPABILITY);
    CHECK(w->comms[0].arena.units.first == NULL);
    free(w->arenas[0]);
    comm_rank_free(mine);
}

/* Every composite algorithm, forced: right, or refused. */
TEST(every_algorithm_in_levels_can_be_chosen)
{
    static const size_t counts[] = {0, 1, 6, 50};
    for (uint32_t k = 0; k < 6; k++) {
        world *w = world_new(9);
        coll_nodes nodes;
        CHECK(nodes_of(&nodes, w->p, k));
        w->nodes = &nodes;
        for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
            for (unsigned i = 0; i < COLL_COLLECTIVES * 4 * 8; i++) {
                const uint32_t traits = coll_registry[row]->traits;
                const unsigned n = i % 32;
                const comm_case it = {
                    (coll_collective)(i / 32), w->p, n & 1 ? 4 : 0, counts[n / 8], (n & 2) != 0,
                    &comm_sorts[n / 4 % 2],    true, NULL};
                w->algorithm = coll_registry[row];
                if (!(traits & COLL_NEEDS_BUILD) || !comm_valid(&it) ||
                    !coll_is(w->algorithm->collectives, it.collective))
                    continue;
                if (traits & COLL_NEEDS_SHARED)
                    refused(w, &it);
                else
                    CHECK(run_case(w, &it));
            }
        free(w->messages);
    }
}

/* Without nodes such an algorithm is refused as before, and its rules are passed over. */
TEST(who_does_not_ask_gets_none)
{
    static const coll_rule levels = {COLL_BIT(COLL_ALLREDUCE),
                                     1,
                                     COLL_ANY_P,
                                     0,
                                     SIZE_MAX,
                                     &coll_two_level_allreduce.algorithm,
                                     COLL_DEFAULTS("for the test")};
    static const coll_rule_list rules = {&levels, 1, &coll_rules_built_in};
    const coll_group all = {0, 1, NULL, NULL};
    coll_nodes nodes, broken;
    coll_comm sub, *comm;
    coll_request request;
    double x = 1, y = 0;
    world *w = world_new(1);
    coll_nodes_even(&nodes, 1, 1);
    coll_nodes_even(&broken, 5, 2);
    world_comm(w, 0, 8192);
    comm = &w->comms[0];
    CHECK_STATUS(coll_comm_nodes(NULL, &nodes), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_nodes(comm, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_nodes(comm, &broken), COLL_ERR_NODES);
    for (unsigned asks = 0; asks < 3; asks++) {
        coll_comm *const at = asks == 2 ? &sub : comm;
        const bool built = asks == 1;
        if (asks == 1)
            CHECK_STATUS(coll_comm_nodes(comm, &nodes), COLL_OK);
        CHECK_STATUS(coll_comm_rules(comm, &rules), COLL_OK);
        if (asks == 2) /* has the rules, but not the nodes */
            CHECK_STATUS(coll_comm_create(&sub, comm, &all, 1, 4), COLL_OK);
        CHECK_STATUS(coll_iallreduce(at, &x, &y, 1, COLL_F64, COLL_SUM, &request), COLL_OK);
        CHECK(
            request.engine.task.plan->algorithm ==
            (built ? &coll_two_level_allreduce.algorithm : &coll_recursive_doubling_allreduce));
        CHECK_STATUS(coll_wait(&request), COLL_OK);
        CHECK_STATUS(
            coll_comm_set_algorithm(at, COLL_BARRIER, &coll_two_level_barrier.algorithm, NULL),
            COLL_OK);
        CHECK_STATUS(coll_barrier(at), built ? COLL_OK : COLL_ERR_BUILD);
        CHECK(comm->arena.units.first == NULL);
    }
    CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    free(w->arenas[0]);
    free(w->messages);
}

/* An algorithm that takes a power of two of ranks. */
static coll_status only_powers(const coll_plan *plan)
{
    return (plan->problem.p & (plan->problem.p - 1)) == 0 ? COLL_OK : COLL_ERR_SHAPE;
}

/* On nodes of 1, 3, 2 and 3 ranks only some ranks would see that an inner algorithm does not like a
 * node of three; on nodes of 4, 4 and 1 it likes all. */
TEST(all_ranks_choose_alike)
{
    coll_algorithm powers = coll_fnomial_bcast;
    const coll_binding intra = {COLL_INTRA, &powers, NULL};
    const coll_rule rule = {COLL_BIT(COLL_BCAST),
                            1,
                            COLL_ANY_P,
                            0,
                            SIZE_MAX,
                            &coll_two_level_bcast.algorithm,
                            {COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT},
                            0,
                            "",
                            &intra,
                            1,
                            0,
                            0};
    const coll_rule_list rules = {&rule, 1, &coll_rules_built_in};
    const comm_case it = {COLL_BCAST, 9, 0, 5, false, &comm_sorts[0], false, NULL};
    world *w = world_new(9);
    coll_nodes nodes;
    powers.check = only_powers;
    w->nodes = &nodes;
    w->rules = &rules;
    coll_nodes_table(&nodes, 4, uneven, NULL);
    CHECK(!run_case(w, &it));
    coll_nodes_even(&nodes, 9, 4);
    CHECK(run_case(w, &it));
    free(w->messages);
}

/* A call that is made again runs by what its rank did before, written out, if that is little, and
 * without a plan in the arena; else its plan is made again. */
TEST(calls_made_again)
{
    enum { P = 4 };
    world *w = world_new(P);
    coll_nodes nodes;
    double x[P][80], y[P][80];
    coll_nodes_even(&nodes, P, 2);
    w->nodes = &nodes;
    w->algorithm = &coll_two_level_allreduce.algorithm;
    for (uint32_t r = 0; r < P; r++)
        world_comm(w, r, 1 << 14);
    for (unsigned i = 0; i < 12; i++) {
        const size_t count = 1 + i / 4;
        for (uint32_t r = 0; r < P; r++) {
            for (unsigned k = 0; k < count; k++)
                x[r][k] = i + 10 * k + 100 * r;
            memset(w->arenas[r], 0xA5, 1 << 14); /* nothing of a plan is left there */
            CHECK_STATUS(coll_iallreduce(&w->comms[r], x[r], y[r], count, COLL_F64, COLL_SUM,
                                         &w->requests[r]),
                         COLL_OK);
            CHECK(w->requests[r].engine.task.plan->algorithm == w->algorithm);
            CHECK((w->requests[r].tables.span.count == 0) ==
                  (COLL_CACHED_ACTIONS > 0 && i % 4 != 0));
            CHECK((w->requests[r].engine.task.schedule != NULL) ==
                  (COLL_CACHED_ACTIONS > 0 && i % 4 != 0));
        }
        finish_all(w);
        for (uint32_t r = 0; r < P; r++)
            for (unsigned k = 0; k < count; k++)
                CHECK(y[r][k] == P * (i + 10. * k) + 600);
    }
    for (uint32_t r = 0; r < P; r++)
        free(w->arenas[r]);
    free(w->messages);
}

/* Parts of a communicator have nodes of their own. */
TEST(parts_in_levels)
{
    enum { P = 9, ODD = 4 };
    static coll_comm subs[P];
    static coll_nodes nodes[2];
    double x[P], y[P];
    world *w = world_new(P);
    coll_nodes_even(&nodes[0], P - ODD, 2);
    coll_nodes_even(&nodes[1], ODD, 3);
    for (uint32_t r = 0; r < P; r++) {
        coll_group group;
        coll_group_affine(&group, r & 1, 2);
        world_comm(w, r, 1 << 14);
        CHECK_STATUS(coll_comm_create(&subs[r], &w->comms[r], &group, r & 1 ? ODD : P - ODD, 4),
                     COLL_OK);
        CHECK_STATUS(coll_comm_nodes(&subs[r], &nodes[r & 1]), COLL_OK);
        CHECK_STATUS(
            coll_comm_set_algorithm(&subs[r], COLL_SCAN, &coll_two_level_scan.algorithm, NULL),
            COLL_OK);
        x[r] = r;
        CHECK_STATUS(coll_iscan(&subs[r], &x[r], &y[r], 1, COLL_F64, COLL_SUM, &w->requests[r]),
                     COLL_OK);
        CHECK(w->requests[r].engine.task.plan->algorithm == &coll_two_level_scan.algorithm);
    }
    finish_all(w);
    for (uint32_t r = 0; r < P; r++) {
        double sum = 0;
        for (uint32_t of = r & 1; of <= r; of += 2)
            sum += of;
        CHECK(y[r] == sum);
        CHECK_STATUS(coll_comm_free(&subs[r]), COLL_OK);
        free(w->arenas[r]);
    }
    free(w->messages);
}

/* ---- a rank a thread --------------------------------------------------------------------- */

#define IN_LEVELS(collective, composite)                                                       \
    {                                                                                          \
        COLL_BIT(collective), 1, COLL_ANY_P, 0, SIZE_MAX, &composite.algorithm,                \
            COLL_DEFAULTS("for the test")                                                      \
    }

static const coll_rule always[] = {
    IN_LEVELS(COLL_BARRIER, coll_two_level_barrier),
    IN_LEVELS(COLL_BCAST, coll_multi_leader_bcast),
    IN_LEVELS(COLL_REDUCE, coll_two_level_reduce),
    IN_LEVELS(COLL_ALLREDUCE, coll_two_level_allreduce),
    IN_LEVELS(COLL_GATHER, coll_two_level_gather),
    IN_LEVELS(COLL_SCATTER, coll_two_level_scatter),
    IN_LEVELS(COLL_ALLGATHER, coll_multi_leader_allgather),
    IN_LEVELS(COLL_ALLTOALL, coll_two_level_alltoall),
    IN_LEVELS(COLL_SCAN, coll_two_level_scan),
};
static const coll_rule_list always_rules = {always, sizeof always / sizeof always[0],
                                            &coll_rules_built_in};

typedef struct member {
    coll_threads *threads;
    uint32_t rank, wrong, built;
    pthread_t thread;
    coll_comm comm;
    unsigned char cache[COLL_CACHE_BYTES(8)];
    mixed_memory memory;
} member;

/* Back to back, up to three at once, all but one in levels. */
static void *mixed_in_levels(void *arg)
{
    static const uint32_t first[] = {0, 3, 4, 8};
    member *me = (member *)arg;
    coll_nodes nodes;
    coll_request request;
    coll_nodes_table(&nodes, 3, first, NULL);
    me->wrong += coll_comm_init(&me->comm, &coll_threads_transport,
                                coll_threads_rank(me->threads, me->rank), me->rank, 8,
                                me->memory.scratch, sizeof me->memory.scratch) != COLL_OK;
    me->wrong += coll_comm_set_cache(&me->comm, me->cache, sizeof me->cache) != COLL_OK;
    me->wrong += coll_comm_nodes(&me->comm, &nodes) != COLL_OK;
    me->wrong += coll_comm_rules(&me->comm, &always_rules) != COLL_OK;
    if (me->wrong == 0)
        me->wrong = mixed_calls(&me->comm, &me->memory, 7, 3000);
    me->wrong += coll_comm_set_algorithm(&me->comm, COLL_BARRIER, NULL, NULL) != COLL_OK;
    if (me->wrong == 0 && coll_ibarrier(&me->comm, &request) == COLL_OK) {
        me->built = request.engine.task.plan->traits & COLL_NEEDS_BUILD;
        me->wrong += coll_wait(&request) != COLL_OK;
    }
    me->wrong += me->comm.arena.units.first != NULL;
    me->wrong += coll_comm_free(&me->comm) != COLL_OK;
    return NULL;
}

/* With memory that nodes have in common half of the calls use it: DPML, mixed broadcasts … */
static void mixed_on_threads(size_t shared_bytes)
{
    enum { P = 8 };
    coll_threads *threads = coll_threads_create(P);
    member *members = (member *)calloc(P, sizeof *members);
    if (shared_bytes)
        CHECK_STATUS(coll_threads_share(threads, shared_bytes), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        members[r].threads = threads;
        members[r].rank = r;
        CHECK_EQ(pthread_create(&members[r].thread, NULL, mixed_in_levels, &members[r]), 0);
    }
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(pthread_join(members[r].thread, NULL), 0);
        CHECK_EQ(members[r].wrong, 0);
        CHECK(members[r].built != 0);
    }
    free(members);
    coll_threads_destroy(threads);
}

TEST(mixed_calls_on_threads)
{
    mixed_on_threads(0);
}

TEST(mixed_calls_in_shared_memory)
{
    mixed_on_threads(16 << 20);
}

/* A transport of one rank whose memory nodes share as `its_nodes` says. */
static coll_nodes its_nodes;

static const coll_nodes *nodes_of_memory(void *ctx)
{
    (void)ctx;
    return &its_nodes;
}

/* Each node has an equal share of the memory that it lies in, and none if its ranks have none in common. */
TEST(shares_of_memory)
{
    enum { P = 12, PART = (1 << 20) / 4 };
    static const struct {
        uint32_t memory, ppn, shares; /* ranks that have memory in common, ranks of a node */
    } cases[] = {{12, 12, 1}, {12, 4, 3}, {12, 3, 4}, {12, 5, 3}, {6, 6, 1}, {6, 3, 2},
                 {6, 12, 0},  {6, 4, 0},  {8, 4, 2},  {4, 4, 1},  {5, 5, 1}};
    coll_threads *threads = coll_threads_create(P);
    CHECK_STATUS(coll_threads_share(threads, 1 << 20), COLL_OK);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint32_t rank = 0; rank < P; rank++) {
            coll_transport transport = coll_threads_transport;
            coll_node_memory memory = *transport.node_memory;
            const uint32_t of = cases[c].memory, ppn = cases[c].ppn, shares = cases[c].shares;
            const size_t bytes = shares ? PART / shares / 64 * 64 : 0;
            void *whole, *part = NULL;
            coll_nodes nodes;
            coll_comm comm;
            uint32_t use;
            coll_nodes_even(&its_nodes, P, of);
            coll_nodes_even(&nodes, P, ppn);
            transport.node_memory = &memory;
            memory.nodes = of == P ? NULL : nodes_of_memory;
            CHECK_STATUS(coll_comm_init(&comm, &transport, coll_threads_rank(threads, rank),
                                        rank, P, NULL, 0),
                         COLL_OK);
            CHECK_EQ(coll_i_comm_shared(&comm), of == P ? PART : 0);
            CHECK_STATUS(coll_comm_nodes(&comm, &nodes), COLL_OK);
            CHECK_EQ(coll_i_comm_shared(&comm), bytes);
            if (shares) {
                (void)memory.shared(comm.ctx, false, &use, &whole);
                (void)coll_i_comm_part(&comm, false, &use, &part);
                CHECK_EQ((size_t)((char *)part - (char *)whole),
                         rank % of / ppn * (shares > 1 ? bytes : 0));
            }
            CHECK_STATUS(coll_comm_free(&comm), COLL_OK);
        }
    coll_threads_destroy(threads);
}

int main(void)
{
    RUN_ALONE(every_collective_by_the_rules_of_nodes);
    RUN(other_calls_take_what_they_took);
    RUN_ALONE(every_algorithm_in_levels_can_be_chosen);
    RUN(who_does_not_ask_gets_none);
    RUN_ALONE(all_ranks_choose_alike);
    RUN(calls_made_again);
    RUN(parts_in_levels);
    RUN(mixed_calls_on_threads);
    RUN(shares_of_memory);
    RUN_ALONE(mixed_calls_in_shared_memory);
    return check_done();
}
