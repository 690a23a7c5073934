/* Two transports as one: the conformance kit, calls in levels with memory of the nodes, limits of each
 * peer, aborts that go on from one transport to the other. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/comm/multi_node.h"
#include "coll/transports/conformance.h"
#include "coll/transports/join.h"
#include "coll/transports/tcp.h"
#include "coll/transports/threads.h"
#include "support/mixed_calls.h"

enum { MOST = 12, NODES = 4, SHARED = 4 << 20 };

/* A cluster in this process: nodes of threads, and between them threads or TCP. */
typedef struct cluster {
    uint32_t p;
    coll_nodes nodes;
    coll_threads *near[MOST], *far; /* of each node */
    coll_tcp *tcp[MOST];
    coll_transport near_table; /* of all nodes, with limits that a test may set */
    coll_join joins[MOST];
} cluster;

static cluster it;

static bool begin_tcp(void)
{
    coll_tcp_options options = {0};
    coll_tcp_address all[MOST];
    char why[COLL_TCP_WHY];
    bool well = true;
    options.interfaces = "127.0.0.0/8";
    for (uint32_t r = 0; r < it.p; r++) {
        it.tcp[r] = coll_tcp_open(r, it.p, &options, why);
        if (!it.tcp[r])
            return false;
        all[r] = coll_tcp_own_address(it.tcp[r]);
    }
    for (uint32_t r = 0; r < it.p; r++)
        well = well && coll_tcp_join(it.tcp[r], all, why);
    return well;
}

/* Nodes of ppn ranks, the last with what is left; `first`: a table instead. */
static bool begin(uint32_t p, uint32_t ppn, const uint32_t *first, uint32_t n, bool tcp)
{
    it.p = p;
    it.far = NULL;
    if (first)
        coll_nodes_table(&it.nodes, n, first, NULL);
    else
        coll_nodes_even(&it.nodes, p, ppn);
    if (it.near_table.send == NULL)
        it.near_table = coll_threads_transport;
    for (uint32_t k = 0; k < coll_nodes_count(&it.nodes); k++) {
        it.near[k] = coll_threads_create(coll_node_at(&it.nodes, p, k, 0).ranks);
        if (!CHECK(it.near[k] != NULL) ||
            !CHECK_STATUS(coll_threads_share(it.near[k], SHARED), COLL_OK))
            return false;
    }
    if (tcp) {
        if (!CHECK(begin_tcp()))
            return false;
    } else {
        it.far = coll_threads_create(p);
    }
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(&it.nodes, p, r);
        if (!CHECK_STATUS(
                coll_join_init(&it.joins[r], r, p, &it.nodes, &it.near_table,
                               coll_threads_rank(it.near[at.index], at.local),
                               tcp ? &coll_tcp_transport : &coll_threads_transport,
                               tcp ? (void *)it.tcp[r] : coll_threads_rank(it.far, r)),
                COLL_OK))
            return false;
    }
    return true;
}

static void *leave(void *rank)
{
    coll_tcp_close(it.tcp[(uintptr_t)rank]);
    return NULL;
}

/* Each rank by a thread of its own. */
static void on_threads(void *(*body)(void *rank))
{
    pthread_t threads[MOST];
    for (uint32_t r = 0; r < it.p; r++)
        CHECK_EQ(pthread_create(&threads[r], NULL, body, (void *)(uintptr_t)r), 0);
    for (uint32_t r = 0; r < it.p; r++)
        (void)pthread_join(threads[r], NULL);
}

static void end(void)
{
    if (it.far)
        coll_threads_destroy(it.far);
    else
        on_threads(leave);
    for (uint32_t k = 0; k < coll_nodes_count(&it.nodes); k++)
        coll_threads_destroy(it.near[k]);
    it.near_table.send = NULL;
}

/* ---- the contract ------------------------------------------------------------------------ */

static coll_conformance kits[MOST];

static void *drive(void *rank)
{
    (void)coll_conformance_run(&kits[(uintptr_t)rank], 1);
    return NULL;
}

static void conform(uint32_t p, uint32_t ppn, bool tcp, size_t longest)
{
    const char *sentence;
    if (!begin(p, ppn, NULL, 0, tcp))
        return;
    for (uint32_t r = 0; r < p; r++) {
        coll_conformance_task task = {coll_join_transport(&it.joins[r]),
                                      &it.joins[r],
                                      r,
                                      p,
                                      longest,
                                      0,
                                      60000,
                                      0,
                                      NULL,
                                      0};
        /* a part of SHARED is a node's */
        task.skip = 1u << COLL_CONFORMANCE_SHARED | 1u << COLL_CONFORMANCE_TURNS;
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
    }
    on_threads(drive);
    sentence = coll_conformance_sentence(kits, p);
    if (!CHECK(*sentence == 0))
        printf("    p = %u, ppn = %u: %s\n", (unsigned)p, (unsigned)ppn, sentence);
    CHECK_EQ(coll_conformance_result_of(kits, p, COLL_CONFORMANCE_ACQUIRE),
             COLL_CONFORMANCE_PASSED);
    CHECK_EQ(coll_conformance_result_of(kits, p, COLL_CONFORMANCE_MULTICAST),
             COLL_CONFORMANCE_NOT_THERE);
    for (uint32_t r = 0; r < p; r++)
        free(kits[r].task.memory);
    end();
}

TEST(conformance)
{
    conform(2, 2, false, 100000);
    conform(4, 2, false, 100000);
    conform(5, 2, false, 70000);
    conform(4, 2, true, 300000);
    conform(5, 3, true, 70000);
}

/* ---- calls ------------------------------------------------------------------------------- */

static uint32_t wrong[MOST];
static uint32_t calls;

/* Back to back, several at a time, half of them by the algorithms that use the nodes' memory. */
static void *call(void *arg)
{
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    coll_join *join = &it.joins[rank];
    mixed_memory *memory = (mixed_memory *)malloc(sizeof *memory);
    unsigned char cache[COLL_CACHE_BYTES(8)];
    coll_comm comm;
    wrong[rank] = !memory || coll_comm_init(&comm, coll_join_transport(join), join, rank, it.p,
                                            memory->scratch, sizeof memory->scratch) != COLL_OK;
    if (wrong[rank] == 0) {
        wrong[rank] += coll_i_comm_shared(&comm) != 0; /* not before it knows the nodes */
        wrong[rank] += coll_comm_set_cache(&comm, cache, sizeof cache) != COLL_OK;
        wrong[rank] += coll_comm_nodes(&comm, &it.nodes) != COLL_OK;
        wrong[rank] += coll_i_comm_shared(&comm) == 0;
        if (wrong[rank] == 0)
            wrong[rank] = mixed_calls(&comm, memory, 5, calls);
        wrong[rank] += coll_comm_free(&comm) != COLL_OK;
    }
    free(memory);
    return NULL;
}

static void call_all(bool tcp)
{
    on_threads(call);
    for (uint32_t r = 0; r < it.p; r++)
        if (!CHECK_EQ(wrong[r], 0))
            printf("    rank %u of %u%s\n", (unsigned)r, (unsigned)it.p, tcp ? ", by TCP" : "");
    end();
}

TEST(calls_in_levels)
{
    static const uint32_t first[] = {0, 3, 4, 8};
    for (unsigned tcp = 0; tcp < 2; tcp++) {
        calls = tcp ? 800 : 2000;
        if (begin(8, 4, NULL, 0, tcp != 0))
            call_all(tcp != 0);
        if (begin(8, 0, first, 3, tcp != 0))
            call_all(tcp != 0);
        if (begin(6, 1, NULL, 0, tcp != 0))
            call_all(tcp != 0);
    }
}

static unsigned too_long,
    longer; /* messages within nodes, and between them, of more than 64 bytes */

static coll_status near_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    if (bytes > 64)
        __atomic_add_fetch(&too_long, 1, __ATOMIC_RELAXED);
    return coll_threads_transport.send(ctx, peer, tag, buf, bytes, h);
}

static coll_status far_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                            size_t bytes, coll_handle *h)
{
    if (bytes > 64)
        __atomic_add_fetch(&longer, 1, __ATOMIC_RELAXED);
    return coll_threads_transport.send(ctx, peer, tag, buf, bytes, h);
}

/* Messages within a node are cut at 64 bytes, those between nodes are not. */
TEST(limits_of_each_peer)
{
    coll_transport far = coll_threads_transport;
    static const coll_zero_copy few = {
        coll_i_node_acquire, coll_i_node_release_message, 64, NULL, 0, 0};
    it.near_table = coll_threads_transport;
    it.near_table.max_bytes = 64;
    it.near_table.zero_copy = &few;
    it.near_table.send = near_send;
    far.send = far_send;
    too_long = longer = 0;
    calls = 1000;
    if (!begin(8, 4, NULL, 0, false))
        return;
    for (uint32_t r = 0; r < 8; r++)
        it.joins[r].far = &far;
    for (uint32_t peer = 1; peer < 8; peer++) {
        const coll_transport *route = it.joins[0].transport.routes->to(&it.joins[0], peer);
        CHECK(route == (peer < 4 ? &it.near_table : &far));
    }
    call_all(false);
    CHECK_EQ(too_long, 0);
    CHECK(longer > 0);
}

/* ---- one of three ------------------------------------------------------------------------ */

/* Sockets of 3, 2 and 1 ranks on a node, of 2 and 2 on the other: 10 ranks on 2 machines. */
enum { P = 10, MACHINES = 2, SOCKETS = 5 };
static const uint32_t machine_first[] = {0, 6, 10}, socket_first[] = {0, 3, 5, 6, 8, 10};
static const uint32_t first_on[MACHINES][4] = {{0, 3, 5, 6}, {0, 2, 4, 4}};
static const uint32_t sockets_on[MACHINES] = {3, 2}, machine_sockets[] = {0, 3, 5};
static coll_join inner[P];
static coll_nodes sockets, machines, on[MACHINES];
static coll_beyond beyond = {NULL, &machines};
static coll_threads *socket_threads[SOCKETS], *node_threads[MACHINES], *far_away;

/* A join whose near transport is one: within a socket through SHARED of its own, between the sockets of a
 * node, and between nodes. */
static bool begin_three(void)
{
    it.p = P;
    coll_nodes_table(&it.nodes, MACHINES, machine_first, NULL);
    coll_nodes_table(&sockets, SOCKETS, socket_first, NULL);
    coll_nodes_table(&machines, MACHINES, machine_sockets, NULL);
    sockets.beyond = &beyond;
    far_away = coll_threads_create(P);
    for (uint32_t k = 0; k < SOCKETS; k++) {
        socket_threads[k] = coll_threads_create(socket_first[k + 1] - socket_first[k]);
        if (!CHECK_STATUS(coll_threads_share(socket_threads[k], SHARED), COLL_OK))
            return false;
    }
    for (uint32_t k = 0; k < MACHINES; k++) {
        node_threads[k] = coll_threads_create(machine_first[k + 1] - machine_first[k]);
        coll_nodes_table(&on[k], sockets_on[k], first_on[k], NULL);
    }
    for (uint32_t r = 0; r < P; r++) {
        const coll_node at = coll_node_of(&it.nodes, P, r), in = coll_node_of(&sockets, P, r);
        if (!CHECK_STATUS(coll_join_init(&inner[r], at.local, at.ranks, &on[at.index],
                                         &coll_threads_transport,
                                         coll_threads_rank(socket_threads[in.index], in.local),
                                         &coll_threads_transport,
                                         coll_threads_rank(node_threads[at.index], at.local)),
                          COLL_OK) ||
            !CHECK_STATUS(coll_join_init(&it.joins[r], r, P, &it.nodes,
                                         coll_join_transport(&inner[r]), &inner[r],
                                         &coll_threads_transport,
                                         coll_threads_rank(far_away, r)),
                          COLL_OK))
            return false;
        CHECK(it.joins[r].mark != inner[r].mark);
        CHECK(it.joins[r].transport.node_memory == NULL);
        CHECK_STATUS(coll_join_parts(&it.joins[r], &sockets), COLL_OK);
        CHECK(it.joins[r].transport.node_memory->nodes(&it.joins[r]) == &sockets);
        CHECK(it.joins[r].transport.routes->to(&it.joins[r], (r + 5) % P) ==
              &coll_threads_transport);
    }
    return true;
}

static void end_three(void)
{
    for (uint32_t k = 0; k < SOCKETS; k++)
        coll_threads_destroy(socket_threads[k]);
    for (uint32_t k = 0; k < MACHINES; k++)
        coll_threads_destroy(node_threads[k]);
    coll_threads_destroy(far_away);
}

TEST(three_levels)
{
    if (!begin_three())
        return;
    for (uint32_t r = 0; r < P; r++) {
        coll_conformance_task task = {
            coll_join_transport(&it.joins[r]), &it.joins[r], r, P, 3000, 0, 60000, 0, NULL, 0};
        task.skip = 1u << COLL_CONFORMANCE_SHARED | 1u << COLL_CONFORMANCE_TURNS;
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
    }
    on_threads(drive);
    if (!CHECK(*coll_conformance_sentence(kits, P) == 0))
        printf("    %s\n", coll_conformance_sentence(kits, P));
    for (uint32_t r = 0; r < P; r++)
        free(kits[r].task.memory);
    end_three();
}

/* Through the memory of a socket, by messages between the sockets of a node, and between nodes. */
static const coll_binding dpml_inside[] = {
    {COLL_INTER, &coll_two_level_allreduce.algorithm, NULL}};
static const coll_binding bcast_inside[] = {
    {COLL_INTRA, &coll_shm_bcast, NULL},
    {COLL_INTER, &coll_multi_leader_bcast.algorithm, NULL}};
static const coll_binding barrier_inside[] = {
    {COLL_INTRA, &coll_shm_barrier, NULL},
    {COLL_INTER, &coll_two_level_barrier.algorithm, NULL}};
static const coll_rule three_rules[] = {{COLL_BIT(COLL_ALLREDUCE),
                                         1,
                                         UINT32_MAX,
                                         0,
                                         SIZE_MAX,
                                         &coll_dpml_allreduce.algorithm,
                                         {2},
                                         0,
                                         "three levels",
                                         dpml_inside,
                                         1,
                                         0,
                                         0},
                                        {COLL_BIT(COLL_BCAST),
                                         1,
                                         UINT32_MAX,
                                         0,
                                         SIZE_MAX,
                                         &coll_two_level_bcast.algorithm,
                                         {0},
                                         0,
                                         "three levels",
                                         bcast_inside,
                                         2,
                                         0,
                                         0},
                                        {COLL_BIT(COLL_BARRIER),
                                         1,
                                         UINT32_MAX,
                                         0,
                                         SIZE_MAX,
                                         &coll_two_level_barrier.algorithm,
                                         {0},
                                         0,
                                         "three levels",
                                         barrier_inside,
                                         2,
                                         0,
                                         0}};
static const coll_rule_list three = {three_rules, 3, NULL};

/* Rules that name nothing else: what they name is what runs. */
static void *call_in_three(void *arg)
{
    enum { MOST_OF_THEM = 3000 };
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    coll_join *join = &it.joins[rank];
    unsigned char *memory = (unsigned char *)malloc(1 << 20);
    uint64_t *in = (uint64_t *)calloc(2 * MOST_OF_THEM, sizeof *in), *out = in + MOST_OF_THEM;
    coll_comm comm;
    uint64_t random = 7;
    wrong[rank] = coll_comm_init(&comm, coll_join_transport(join), join, rank, P, memory,
                                 1 << 20) != COLL_OK;
    wrong[rank] += coll_comm_nodes(&comm, &sockets) != COLL_OK;
    wrong[rank] += coll_i_comm_shared(&comm) == 0;
    wrong[rank] += coll_comm_rules(&comm, &three) != COLL_OK;
    for (uint32_t i = 0; i < 600 && wrong[rank] == 0; i++) {
        const size_t n = chance_of(&random, i % 10 ? 40 : MOST_OF_THEM);
        const uint32_t root = i % P;
        for (size_t k = 0; k < n; k++)
            in[k] = (rank + 1) * (k + i);
        wrong[rank] += coll_allreduce(&comm, in, out, n, COLL_U64, COLL_SUM) != COLL_OK;
        for (size_t k = 0; k < n; k++)
            wrong[rank] += out[k] != P * (P + 1) / 2 * (k + i);
        wrong[rank] += coll_barrier(&comm) != COLL_OK;
        wrong[rank] += coll_bcast(&comm, in, n, COLL_U64, root) != COLL_OK;
        for (size_t k = 0; k < n; k++)
            wrong[rank] += in[k] != (root + 1) * (k + i);
    }
    wrong[rank] += coll_comm_free(&comm) != COLL_OK;
    free(in);
    free(memory);
    return NULL;
}

TEST(calls_in_three_levels)
{
    if (!begin_three())
        return;
    on_threads(call_in_three);
    for (uint32_t r = 0; r < P; r++)
        CHECK_EQ(wrong[r], 0);
    end_three();
}

/* Parts are those of the near join, within nodes, of all ranks. */
TEST(parts_that_do_not_fit)
{
    static const uint32_t across[] = {0, 3, 5, 7, 10}, others[] = {0, 2, 5, 6, 8, 10},
                          few[] = {0, 3, 5, 6, 10}, last[] = {0, 6, 7, 10};
    coll_nodes nodes;
    coll_join flat;
    if (!begin_three())
        return;
    CHECK_STATUS(coll_join_parts(NULL, &sockets), COLL_ERR_NULL);
    CHECK_STATUS(coll_join_parts(&it.joins[0], NULL), COLL_ERR_NULL);
    coll_nodes_table(&nodes, 4, across, NULL);
    CHECK_STATUS(coll_join_parts(&it.joins[0], &nodes), COLL_ERR_NODES);
    coll_nodes_table(&nodes, 5, others, NULL);
    CHECK_STATUS(coll_join_parts(&it.joins[0], &nodes), COLL_ERR_NODES);
    CHECK_STATUS(coll_join_parts(&it.joins[6], &nodes), COLL_OK); /* its own are right */
    coll_nodes_table(&nodes, 4, few, NULL);
    CHECK_STATUS(coll_join_parts(&it.joins[6], &nodes), COLL_ERR_NODES);
    coll_nodes_table(&nodes, 3, last, NULL);
    CHECK_STATUS(coll_join_parts(&it.joins[6], &nodes), COLL_ERR_NODES);
    coll_nodes_even(&nodes, P - 1, 3);
    CHECK_STATUS(coll_join_parts(&it.joins[0], &nodes), COLL_ERR_NODES);
    coll_nodes_even(&nodes, P, 5);
    CHECK_STATUS(coll_join_init(&flat, 0, P, &nodes, &coll_threads_transport,
                                coll_threads_rank(node_threads[0], 0), &coll_threads_transport,
                                coll_threads_rank(far_away, 0)),
                 COLL_OK);
    CHECK_STATUS(coll_join_parts(&flat, &nodes), COLL_ERR_TRANSPORT);
    end_three();
}

/* ---- failures ---------------------------------------------------------------------------- */

static coll_status ended[MOST];
static uint32_t fails;

/* Rank `fails` gives the wrong size, or nothing at all; the others' calls end, too, whomever they have to
 * do with. */
static void *call_until_it_fails(void *arg)
{
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    coll_join *join = &it.joins[rank];
    unsigned char *memory = (unsigned char *)malloc(1 << 20);
    coll_comm comm;
    double x = 1, y = 0;
    ended[rank] =
        coll_comm_init(&comm, coll_join_transport(join), join, rank, it.p, memory, 1 << 20);
    if (ended[rank] == COLL_OK)
        ended[rank] = coll_comm_nodes(&comm, &it.nodes);
    for (uint32_t i = 0; i < 200 && ended[rank] == COLL_OK; i++)
        if (i == 50 && rank == fails)
            ended[rank] = coll_allreduce(&comm, NULL, NULL, 1, COLL_F64, COLL_SUM);
        else
            ended[rank] = coll_allreduce(&comm, &x, &y, 1, COLL_F64, COLL_SUM);
    (void)coll_comm_free(&comm);
    free(memory);
    return NULL;
}

TEST(aborts_reach_all)
{
    for (unsigned k = 0; k < 2 * 9; k++) {
        fails = k % 9;
        if (!begin(9, 3, NULL, 0, k >= 9))
            return;
        on_threads(call_until_it_fails);
        for (uint32_t r = 0; r < it.p; r++)
            CHECK_STATUS(ended[r], r == fails ? COLL_ERR_NULL : COLL_ERR_PEER);
        end();
    }
}

/* ---- what is refused --------------------------------------------------------------------- */

TEST(refusals)
{
    static const coll_routes nowhere = {NULL};
    static coll_join join;
    coll_transport none = coll_threads_transport;
    coll_threads *threads = coll_threads_create(2);
    void *ctx = coll_threads_rank(threads, 0);
    const coll_transport *t = &coll_threads_transport;
    coll_nodes nodes;
    const uint32_t seats[] = {0, COLL_RANK_NONE, 1};
    coll_nodes_even(&nodes, 4, 2);
    none.routes = &nowhere;
    CHECK_STATUS(coll_transport_check(&none), COLL_ERR_TRANSPORT);
    none.routes = NULL;
    none.test = NULL;
    CHECK_STATUS(coll_join_init(NULL, 0, 4, &nodes, t, ctx, t, ctx), COLL_ERR_NULL);
    CHECK_STATUS(coll_join_init(&join, 0, 4, NULL, t, ctx, t, ctx), COLL_ERR_NULL);
    CHECK_STATUS(coll_join_init(&join, 0, 4, &nodes, NULL, ctx, t, ctx), COLL_ERR_NULL);
    CHECK_STATUS(coll_join_init(&join, 0, 4, &nodes, t, ctx, &none, ctx), COLL_ERR_TRANSPORT);
    CHECK_STATUS(coll_join_init(&join, 4, 4, &nodes, t, ctx, t, ctx), COLL_ERR_RANK);
    CHECK_STATUS(coll_join_init(&join, 0, 0, &nodes, t, ctx, t, ctx), COLL_ERR_RANKS);
    CHECK_STATUS(coll_join_init(&join, 0, 5, &nodes, t, ctx, t, ctx), COLL_ERR_NODES);
    CHECK_STATUS(coll_join_seats(&join, 3, NULL, 0, t, ctx, t, ctx), COLL_ERR_NULL);
    CHECK_STATUS(coll_join_seats(&join, 3, seats, 0, t, ctx, t, ctx), COLL_OK);
    CHECK(coll_join_transport(&join)->node_memory == NULL);
    CHECK_STATUS(coll_transport_check(coll_join_transport(&join)), COLL_OK);
    coll_threads_destroy(threads);
}

int main(void)
{
    RUN(refusals);
    RUN(conformance);
    RUN(calls_in_levels);
    RUN(limits_of_each_peer);
    RUN(three_levels);
    RUN(calls_in_three_levels);
    RUN(parts_that_do_not_fit);
    RUN(aborts_reach_all);
    return check_done();
}
