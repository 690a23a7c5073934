/* NIC programs as deferred work of libfabric, between processes on this machine: results are those of the host's
 * engine; what the host calls meanwhile; errors that give all buffers back; what is refused. */
#include <unistd.h>

#include "support/offloaded.h"

/* ---- results ----------------------------------------------------------------------------- */

/* Starts a program for one epoch after the other, and compares. */
static void starts(offloaded_call *c, uint32_t from, uint32_t n)
{
    for (uint32_t epoch = from; epoch < from + n; epoch++) {
        call_fill(c, epoch);
        CHECK(call_by_host(c));
        if (!CHECK_STATUS(coll_ofi_offload_start(c->offload), COLL_OK) ||
            !CHECK_STATUS(coll_ofi_offload_wait(c->offload, OFFLOADED_PATIENCE), COLL_OK) ||
            !CHECK(call_is_right(c))) {
            printf("    %s %s, %u of %u, %zu elements, epoch %u\n",
                   coll_collective_name(c->collective), c->algorithm->name, (unsigned)me.rank,
                   (unsigned)me.p, c->count, (unsigned)epoch);
            (void)fflush(stdout);
            _exit(3);
        }
    }
}

/* One at a time, several that are armed ahead, and several by one start. */
static void all_ways(offloaded_call *c)
{
    starts(c, 0, 2);
    CHECK_STATUS(coll_ofi_offload_arm(c->offload, 3, 1), COLL_OK);
    CHECK_STATUS(coll_ofi_offload_arm(c->offload, 1, 1), COLL_ERR_STATE);
    starts(c, 2, 3);
    CHECK_STATUS(coll_ofi_offload_arm(c->offload, 2, 2), COLL_OK);
    starts(c, 5, 2);
    CHECK_STATUS(coll_ofi_offload_arm(c->offload, 2, 3), COLL_ERR_MEMORY);
}

static const struct {
    coll_collective collective;
    const char *algorithm;
    coll_type type;
    size_t count;
} calls[] = {
    {COLL_BARRIER, "dissemination", COLL_U8, 0},
    {COLL_BCAST, "fnomial", COLL_U8, 8},
    {COLL_BCAST, "fnomial", COLL_F64, 1000},
    {COLL_BCAST, "chain", COLL_U8, 100000},
    {COLL_ALLGATHER, "ring", COLL_F64, 1000},
    {COLL_ALLGATHER, "bruck", COLL_I32, 2},
    {COLL_ALLTOALL, "pairwise", COLL_F64, 1000},
    {COLL_ALLTOALL, "bruck", COLL_I32, 2},
    {COLL_ALLREDUCE, "recursive_doubling", COLL_I32, 2},
    {COLL_ALLREDUCE, "recursive_doubling", COLL_F64, 1},
    {COLL_ALLREDUCE, "recursive_doubling", COLL_F64, 1000},
    {COLL_ALLREDUCE, "recursive_doubling", COLL_F64, 20000},
    {COLL_ALLREDUCE, "rabenseifner", COLL_I32, 1000},
    {COLL_ALLREDUCE, "rabenseifner", COLL_F64, 1000},
    {COLL_ALLREDUCE, "ring", COLL_F64, 5000},
    {COLL_ALLREDUCE, "fnomial", COLL_F64, 1},
    {COLL_ALLREDUCE, "fnomial", COLL_I32, 1000},
    {COLL_REDUCE, "fnomial", COLL_F64, 1000},
};

static int chosen(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (uint32_t root = 0; root < me.p; root += me.p - 1) {
            offloaded_call c =
                call_by(calls[i].collective, calls[i].algorithm, calls[i].type, calls[i].count);
            c.root = root;
            if (CHECK(c.algorithm != NULL) && CHECK(call_plan(&c)) && CHECK(call_open(&c, 4)))
                all_ways(&c);
            else
                printf("    %s %s: %s\n", coll_collective_name(calls[i].collective),
                       calls[i].algorithm, c.why);
            call_end(&c);
            if (!coll_is(COLL_ROOTED, calls[i].collective))
                break;
        }
    return 0;
}

TEST(results_of_the_host)
{
    for (uint32_t p = 2; p <= 5; p++)
        offloaded(p, chosen);
}

/* Every line of the table that deferred work can do, on integers. */
static int every_line(void)
{
    static const coll_collective collectives[] = {COLL_BARRIER, COLL_BCAST, COLL_ALLGATHER,
                                                  COLL_ALLTOALL, COLL_ALLREDUCE};
    uint32_t ran = 0, refused = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (size_t k = 0; k < sizeof collectives / sizeof collectives[0]; k++) {
            offloaded_call c;
            memset(&c, 0, sizeof c);
            c.collective = collectives[k];
            c.algorithm = coll_registry[i];
            c.type = COLL_I32;
            c.count = c.collective == COLL_BARRIER ? 0 : 300;
            if (!coll_is(c.algorithm->collectives, c.collective))
                continue;
            if (all_say(call_plan(&c)) && all_say((call_fill(&c, 0), call_by_host(&c)))) {
                if (call_open(&c, 2)) {
                    starts(&c, 0, 2);
                    CHECK_STATUS(coll_ofi_offload_arm(c.offload, 1, 2), COLL_OK);
                    starts(&c, 2, 1);
                    ran++;
                } else {
                    refused++;
                }
            }
            call_end(&c);
        }
    if (me.rank == 0)
        printf("    %u ranks: %u lines ran, %u were refused\n", (unsigned)me.p, (unsigned)ran,
               (unsigned)refused);
    CHECK(ran > 20 / CHECK_SHARE);
    return 0;
}

TEST(every_line_that_can)
{
    offloaded(4, every_line);
    offloaded(5, every_line);
}

/* ---- what the host calls ----------------------------------------------------------------- */

/* Counts calls of libfabric that this thread makes, and tells by a pipe that the end counter was added to: which
 * the provider's thread does. */
static struct {
    pthread_t host;
    uint32_t calls;
    struct fid_cntr *end;
    int told[2];
    struct fi_ops_cntr counter, its_counter;
    struct fi_ops domain, its_domain;
    struct fi_ops_cq queue, its_queue;
} watched;

static void count_call(void)
{
    if (pthread_equal(pthread_self(), watched.host))
        watched.calls++;
}

static int watched_add(struct fid_cntr *counter, uint64_t value)
{
    int code;
    count_call();
    code = watched.its_counter.add(counter, value);
    if (counter == watched.end && write(watched.told[1], "", 1) != 1)
        abort();
    return code;
}

static uint64_t watched_read(struct fid_cntr *counter)
{
    count_call();
    return watched.its_counter.read(counter);
}

static int watched_wait(struct fid_cntr *counter, uint64_t threshold, int timeout)
{
    count_call();
    return watched.its_counter.wait(counter, threshold, timeout);
}

static int watched_control(struct fid *fid, int command, void *arg)
{
    count_call();
    return watched.its_domain.control(fid, command, arg);
}

static ssize_t watched_queue(struct fid_cq *cq, void *entries, size_t n)
{
    count_call();
    return watched.its_queue.read(cq, entries, n);
}

static void watch(coll_ofi_offload *o)
{
    CHECK(pipe(watched.told) == 0);
    watched.host = pthread_self();
    watched.end = o->counters[o->end];
    watched.its_counter = watched.counter = *watched.end->ops;
    watched.counter.add = watched_add;
    watched.counter.read = watched_read;
    watched.counter.wait = watched_wait;
    watched.its_domain = watched.domain = *me.nic->domain->fid.ops;
    watched.domain.control = watched_control;
    watched.its_queue = watched.queue = *me.nic->cq->ops;
    watched.queue.read = watched_queue;
    for (uint32_t c = 0; c < o->needs.counters; c++)
        o->counters[c]->ops = &watched.counter;
    me.nic->domain->fid.ops = &watched.domain;
    me.nic->cq->ops = &watched.queue;
}

/* Sleeps until the end counter was added to. */
static bool told(void)
{
    char byte;
    struct pollfd one = {watched.told[0], POLLIN, 0};
    return poll(&one, 1, OFFLOADED_PATIENCE) == 1 && read(watched.told[0], &byte, 1) == 1;
}

static int sleeping(void)
{
    enum { STARTS = 20, EPOCHS = 100 };
    offloaded_call c = call_by(COLL_ALLREDUCE, "recursive_doubling", COLL_F64, 1);
    if (!CHECK(call_plan(&c)) || !CHECK(call_open(&c, EPOCHS)))
        return 1;
    watch(c.offload);
    call_fill(&c, 1);
    CHECK(call_by_host(&c));
    /* many epochs by one start: between that and the end, no call */
    CHECK_STATUS(coll_ofi_offload_arm(c.offload, 1, EPOCHS), COLL_OK);
    watched.calls = 0;
    CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
    CHECK(told());
    CHECK_EQ(watched.calls, 1);
    CHECK_STATUS(coll_ofi_offload_test(c.offload), COLL_OK);
    CHECK_EQ(watched.calls, 2);
    CHECK(call_is_right(&c));
    /* a start of what is armed is one call */
    CHECK_STATUS(coll_ofi_offload_arm(c.offload, STARTS, 1), COLL_OK);
    for (uint32_t i = 0; i < STARTS; i++) {
        call_fill(&c, 100 + i);
        CHECK(call_by_host(&c));
        watched.calls = 0;
        CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
        CHECK(told());
        CHECK_EQ(watched.calls, 1);
        CHECK_STATUS(coll_ofi_offload_test(c.offload), COLL_OK);
        CHECK(call_is_right(&c));
    }
    me.nic->domain->fid.ops = &watched.its_domain;
    me.nic->cq->ops = &watched.its_queue;
    call_end(&c);
    return 0;
}

TEST(the_host_calls_nothing)
{
    for (uint32_t p = 2; p <= 5; p++)
        offloaded(p, sleeping);
}

int main(void)
{
    RUN(results_of_the_host);
    RUN(every_line_that_can);
    RUN(the_host_calls_nothing);
    return check_done();
}
