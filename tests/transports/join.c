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
    static const coll_zero_copy few = {coll_i_node_acquire, coll_i_node_release_message, 64};
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

/* Sockets of 2, nodes of 4, a cluster of 8: a join whose near transport is one. */
TEST(three_levels)
{
    enum { P = 8 };
    static coll_join inner[P];
    static coll_nodes sockets;
    coll_threads *socket[4], *node[2], *far = coll_threads_create(P);
    calls = 1000;
    it.p = P;
    coll_nodes_even(&sockets, 4, 2);
    coll_nodes_even(&it.nodes, P, 4);
    for (uint32_t k = 0; k < 4; k++)
        socket[k] = coll_threads_create(2);
    for (uint32_t k = 0; k < 2; k++)
        node[k] = coll_threads_create(4);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_join_init(&inner[r], r % 4, 4, &sockets, &coll_threads_transport,
                                    coll_threads_rank(socket[r / 2], r % 2),
                                    &coll_threads_transport,
                                    coll_threads_rank(node[r / 4], r % 4)),
                     COLL_OK);
        CHECK_STATUS(coll_join_init(&it.joins[r], r, P, &it.nodes,
                                    coll_join_transport(&inner[r]), &inner[r],
                                    &coll_threads_transport, coll_threads_rank(far, r)),
                     COLL_OK);
        CHECK(it.joins[r].mark != inner[r].mark);
        CHECK(it.joins[r].transport.node_memory == NULL);
        CHECK(it.joins[r].transport.routes->to(&it.joins[r], (r + 4) % P) ==
              &coll_threads_transport);
    }
    for (uint32_t r = 0; r < P; r++) {
        coll_conformance_task task = {
            coll_join_transport(&it.joins[r]), &it.joins[r], r, P, 3000, 0, 60000, 0, NULL, 0};
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
    }
    on_threads(drive);
    if (!CHECK(*coll_conformance_sentence(kits, P) == 0))
        printf("    %s\n", coll_conformance_sentence(kits, P));
    for (uint32_t r = 0; r < P; r++)
        free(kits[r].task.memory);
    for (uint32_t k = 0; k < 4; k++)
        coll_threads_destroy(socket[k]);
    for (uint32_t k = 0; k < 2; k++)
        coll_threads_destroy(node[k]);
    coll_threads_destroy(far);
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
    RUN(aborts_reach_all);
    return check_done();
}
