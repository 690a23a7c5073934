/* Ranks find out what messages between their nodes cost: on simulated machines, whose costs are known; on
 * threads, with clocks that only count; and where it cannot be. */
#include "coll/coll.h"
#include "coll/comm/find_cluster.h"
#include "coll/comm/multi_node.h"
#include "coll/lab/sim/machine.h"
#include "coll/transports/threads.h"
#include "support/check.h"
#include "support/virtual.h"

#include "../../bench/cluster_machines.h"

enum { ARENA = 1 << 17, MANY = 8 };

static unsigned char arenas[MANY][ARENA];
static coll_cluster found[MANY];
static coll_status statuses[MANY];

/* ---- the call, on one rank ------------------------------------------------------------------- */

static void find_as(uint32_t rank, uint32_t p, const coll_transport *transport, void *ctx,
                    const coll_nodes *nodes, const coll_clock *clock)
{
    coll_comm comm;
    int32_t sum = 0, one = 1;
    coll_status *status = &statuses[rank];
    *status = coll_comm_init(&comm, transport, ctx, rank, p, arenas[rank], ARENA);
    if (*status == COLL_OK)
        *status = coll_comm_nodes(&comm, nodes);
    if (*status == COLL_OK)
        *status = coll_comm_find_cluster(&comm, clock, &found[rank]);
    if (*status == COLL_OK) /* and the communicator is as good as before */
        *status = coll_comm_rules(
            &comm, coll_cluster_rules(&found[rank], coll_nodes_largest(nodes, p)));
    if (*status == COLL_OK)
        *status = coll_allreduce(&comm, &one, &sum, 1, COLL_I32, COLL_SUM);
    if (*status == COLL_OK && sum != (int32_t)p)
        *status = COLL_ERR_STATE;
    if (*status == COLL_OK)
        *status = coll_comm_free(&comm);
}

static void check_alike(uint32_t p)
{
    for (uint32_t r = 0; r < p; r++) {
        CHECK_STATUS(statuses[r], COLL_OK);
        CHECK_EQ(found[r].message_ns, found[0].message_ns);
        CHECK_EQ(found[r].gap_ns, found[0].gap_ns);
    }
}

/* ---- simulated machines ---------------------------------------------------------------------- */

static coll_transport carrying;

static uint64_t ticks(void *arg)
{
    const coll_bench_clock *clock = (const coll_bench_clock *)arg;
    return (uint64_t)clock->now(clock->arg);
}

static void simulated(uint32_t rank, const coll_transport *transport, void *ctx,
                      const coll_bench_clock *clock, void *arg)
{
    coll_bench_clock own = *clock;
    const coll_clock its = {ticks, &own};
    const uint32_t p = ((virtual_rank *)ctx)->world->p;
    (void)transport;
    find_as(rank, p, &carrying, ctx, (const coll_nodes *)arg, &its);
}

/* Each machine is found to be what it is. */
TEST(finds_clusters)
{
    const struct {
        uint32_t p, ppn;
    } shapes[] = {{2, 1}, {4, 2}, {6, 3}, {5, 2}, {8, 2}};
    carrying = virtual_transport;
    carrying.copy = NULL; /* the processor does both, so that sums are right */
    carrying.reduce = NULL;
    for (uint32_t m = 0; m < CLUSTERS; m++)
        for (uint32_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            const struct cluster_machine *at = &cluster_machines[m];
            static coll_sim_machine machine;
            coll_nodes nodes;
            virtual_program program = {simulated, &nodes};
            coll_sentence why;
            coll_nodes_even(&nodes, shapes[s].p, shapes[s].ppn);
            coll_sim_machine_init(&machine, &nodes, shapes[s].p);
            if (!CHECK(coll_sim_machine_read(&machine, at->model, &why)))
                continue;
            memset(found, 0, sizeof found);
            virtual_run(shapes[s].p, &machine.model, NULL, NULL, program);
            check_alike(shapes[s].p);
            CHECK(found[0].gap_ns > 0);
            if (at->list == &coll_cluster_crowded) /* here each rank has a NIC */
                continue;
            if (!CHECK(coll_cluster_rules(&found[0], shapes[s].ppn) == at->list))
                printf("%s: %u and %u ns\n", at->name, found[0].message_ns, found[0].gap_ns);
        }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A rank that is a thread. */
typedef struct member {
    coll_threads *world;
    coll_nodes nodes;
    uint32_t rank, p;
    uint64_t ns;
} member;

/* Each look takes 1 us, whatever happens: a round trip takes one, a message half of one. */
static uint64_t counts(void *arg)
{
    uint64_t *ns = (uint64_t *)arg;
    return *ns += 1000;
}

static coll_transport failing;
static void *fails; /* whose sends fail, after so many: only that rank's thread counts */
static uint32_t sends_left;

static coll_status failing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    if (ctx == fails && sends_left-- == 0)
        return COLL_ERR_IO;
    return coll_threads_transport.send(ctx, peer, tag, buf, bytes, h);
}

static void *on_thread(void *arg)
{
    member *me = (member *)arg;
    const coll_clock clock = {counts, &me->ns};
    find_as(me->rank, me->p, &failing, coll_threads_rank(me->world, me->rank), &me->nodes,
            &clock);
    return NULL;
}

static void on_threads(const coll_nodes *nodes, uint32_t p, uint32_t failing_rank)
{
    static member members[MANY];
    pthread_t threads[MANY];
    coll_threads *world = coll_threads_create(p);
    if (!CHECK(world != NULL))
        return;
    memset(found, 0, sizeof found);
    failing = coll_threads_transport;
    failing.send = failing_send;
    failing.in_network = NULL;
    fails = failing_rank < p ? coll_threads_rank(world, failing_rank) : NULL;
    for (uint32_t r = 0; r < p; r++) {
        const member its = {world, *nodes, r, p, r};
        members[r] = its;
        CHECK(pthread_create(&threads[r], NULL, on_thread, &members[r]) == 0);
    }
    for (uint32_t r = 0; r < p; r++)
        (void)pthread_join(threads[r], NULL);
    coll_threads_destroy(world);
}

TEST(all_ranks_find_the_same)
{
    static const uint32_t first[] = {0, 3, 4, 8};
    coll_nodes nodes;
    for (uint32_t p = 2; p <= MANY; p++)
        for (uint32_t ppn = 1; ppn < p; ppn++) {
            const uint32_t last = p - ppn < ppn ? p - ppn : ppn; /* ranks of the second node */
            coll_nodes_even(&nodes, p, ppn);
            on_threads(&nodes, p, COLL_RANK_NONE);
            check_alike(p);
            CHECK_EQ(found[0].message_ns, 500);
            CHECK_EQ(found[0].gap_ns, 1000 / 32 / last > 0 ? 1000 / 32 / last : 1);
        }
    coll_nodes_table(&nodes, 3, first, NULL);
    on_threads(&nodes, 8, COLL_RANK_NONE);
    check_alike(8);
    CHECK_EQ(found[0].message_ns, 500);
    CHECK_EQ(found[0].gap_ns, 31); /* one pair */
}

TEST(one_node_has_no_other)
{
    coll_nodes nodes;
    coll_nodes_even(&nodes, 4, 4);
    on_threads(&nodes, 4, COLL_RANK_NONE);
    check_alike(4);
    CHECK_EQ(found[0].message_ns, 0);
    CHECK_EQ(found[0].gap_ns, 0);
}

/* A rank that cannot send ends the call of all of them. */
TEST(failures_end_it)
{
    static const uint32_t failing_ranks[] = {0, 1, 2, 3};
    coll_nodes nodes;
    coll_nodes_even(&nodes, 4, 2);
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t after = 0; after < 3;
             after++) { /* each sends at least these before the last call */
            sends_left = after;
            on_threads(&nodes, 4, failing_ranks[k]);
            CHECK_STATUS(statuses[failing_ranks[k]], COLL_ERR_IO);
            for (uint32_t r = 0; r < 4; r++)
                CHECK(statuses[r] == COLL_ERR_IO || statuses[r] == COLL_ERR_PEER);
        }
}

TEST(arguments)
{
    coll_comm comm;
    coll_cluster its;
    uint64_t ns = 0;
    const coll_clock clock = {counts, &ns}, none = {NULL, NULL};
    CHECK_STATUS(coll_comm_init(&comm, &virtual_transport, NULL, 0, 2, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_comm_find_cluster(NULL, &clock, &its), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_find_cluster(&comm, NULL, &its), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_find_cluster(&comm, &none, &its), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_find_cluster(&comm, &clock, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_find_cluster(&comm, &clock, &its), COLL_OK); /* no nodes */
    CHECK_EQ(its.message_ns, 0);
    CHECK_STATUS(coll_comm_free(&comm), COLL_OK);
}

int main(void)
{
    RUN(finds_clusters);
    RUN(all_ranks_find_the_same);
    RUN(one_node_has_no_other);
    RUN(failures_end_it);
    RUN(arguments);
    return check_done();
}
