/* Memory of persistent calls: the transport keeps it (coll_registration) from coll_request_init to
 * coll_request_free, whatever becomes of the call; by nobody else, and by each of two transports that are joined. */
#include "coll/transports/join.h"
#include "support/comm_loopback.h"

enum { COUNT = 24, MOST = 64 };

/* What is kept, of all ranks. */
static struct range {
    const void *ctx, *memory;
    size_t bytes;
    bool writes;
} kept[MOST];
static uint32_t n_kept, keeps, strangers;

static void note_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    const struct range its = {ctx, memory, bytes, writes};
    if (CHECK(n_kept < MOST) && CHECK(memory != NULL && bytes != 0))
        kept[n_kept++] = its;
    keeps++;
}

static void note_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    for (uint32_t i = 0; i < n_kept; i++)
        if (kept[i].ctx == ctx && kept[i].memory == memory && kept[i].bytes == bytes &&
            kept[i].writes == writes) {
            kept[i] = kept[--n_kept];
            return;
        }
    strangers++;
}

static const coll_registration notes = {note_keep, note_forget};

static bool has(uint32_t rank, const void *memory, size_t bytes, bool writes)
{
    for (uint32_t i = 0; i < n_kept; i++)
        if (kept[i].ctx == &ends[rank] && kept[i].memory == memory && kept[i].bytes == bytes &&
            kept[i].writes == writes)
            return true;
    return false;
}

static void begin(uint32_t tags)
{
    loopback_begin(64, tags, 0xA5);
    transport.registration = &notes;
    n_kept = keeps = strangers = 0;
}

static int32_t in[P][P * COUNT], out[P][P * COUNT];
static coll_request requests[P];

static coll_args arguments(uint32_t r, coll_collective collective)
{
    coll_args args;
    coll_args_init(&args, collective);
    args.in = in[r];
    args.out = out[r];
    args.count = COUNT;
    args.type = COLL_I32;
    args.op = COLL_SUM;
    return args;
}

static void init(uint32_t r, coll_collective collective)
{
    const coll_args args = arguments(r, collective);
    CHECK_STATUS(coll_request_init(&comms[r], &args, &requests[r]), COLL_OK);
}

/* Starts the calls of all ranks, and drives them to their end. */
static void run_all(void)
{
    bool open[P] = {true, true, true};
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_start(&requests[r]), COLL_OK);
    for (uint32_t turn = 0; turn < 10000; turn++)
        if (open[turn % P]) {
            const coll_status status = coll_test(&requests[turn % P]);
            open[turn % P] = status == COLL_AGAIN;
            CHECK(status >= 0);
        }
    CHECK(!open[0] && !open[1] && !open[2]);
}

/* Buffers as far as elements reach, and scratch, once for all starts. */
TEST(ranges)
{
    begin(16);
    for (uint32_t r = 0; r < P; r++)
        init(r, COLL_ALLGATHER);
    for (uint32_t r = 0; r < P; r++) {
        const size_t scratch = requests[r].engine.task.scratch_bytes;
        CHECK(has(r, in[r], COUNT * sizeof(int32_t), false));
        CHECK(has(r, out[r], P * COUNT * sizeof(int32_t), true));
        CHECK(scratch == 0 || has(r, requests[r].engine.task.scratch, scratch, true));
    }
    for (unsigned i = 0; i < 5; i++)
        run_all();
    CHECK_EQ(keeps, n_kept);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_ERR_BUSY);
        CHECK_STATUS(coll_request_free(&requests[r]), COLL_OK);
        CHECK_STATUS(coll_request_free(&requests[r]), COLL_OK); /* has no effect */
    }
    CHECK_EQ(n_kept, 0);
    CHECK_EQ(strangers, 0);
    loopback_end();
}

/* All are given back, and with them what is kept. */
static void free_all(void)
{
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_request_free(&requests[r]), COLL_OK);
    CHECK_EQ(n_kept, 0);
    CHECK_EQ(strangers, 0);
}

/* What a rank does not have, or has in place, is not kept; nor is what other calls use. */
TEST(less)
{
    begin(16);
    for (uint32_t r = 0; r < P; r++) {
        coll_args args = arguments(r, COLL_GATHER);
        args.root = 1;
        CHECK_STATUS(coll_request_init(&comms[r], &args, &requests[r]), COLL_OK);
        CHECK(has(r, in[r], COUNT * sizeof(int32_t), false));
        CHECK(has(r, out[r], P * COUNT * sizeof(int32_t), true) == (r == 1));
    }
    run_all();
    free_all();
    for (uint32_t r = 0; r < P; r++) {
        coll_args args = arguments(r, COLL_ALLREDUCE);
        args.in = COLL_IN_PLACE;
        CHECK_STATUS(coll_request_init(&comms[r], &args, &requests[r]), COLL_OK);
        CHECK(has(r, out[r], COUNT * sizeof(int32_t), true));
    }
    CHECK_EQ(n_kept, P + (requests[0].engine.task.scratch_bytes != 0) +
                         (requests[1].engine.task.scratch_bytes != 0) +
                         (requests[2].engine.task.scratch_bytes != 0));
    run_all();
    free_all();
    for (uint32_t r = 0; r < P; r++)
        init(r, COLL_BARRIER);
    CHECK_EQ(n_kept, 0);
    run_all();
    free_all();
    keeps = 0;
    for (uint32_t r = 0; r < P; r++) {
        const coll_args args = arguments(r, COLL_ALLREDUCE);
        CHECK_STATUS(coll_post(&comms[r], &args, &requests[r]), COLL_OK);
    }
    for (uint32_t turn = 0; turn < 1000; turn++)
        CHECK(coll_test(&requests[turn % P]) >= 0);
    CHECK_EQ(keeps, 0);
    loopback_end();
}

/* A call that cannot be prepared keeps nothing. */
TEST(errors)
{
    enum { TAGS = 4, LEFT = TAGS - 2 };
    coll_request more[LEFT];
    coll_args args;
    begin(TAGS);
    args = arguments(0, COLL_ALLREDUCE);
    for (uint32_t i = 0; i < LEFT; i++)
        CHECK_STATUS(coll_request_init(&comms[0], &args, &more[i]), COLL_OK);
    keeps = 0;
    CHECK_STATUS(coll_request_init(&comms[0], &args, &requests[0]), COLL_ERR_TAG);
    for (uint32_t i = 0; i < LEFT; i++)
        CHECK_STATUS(coll_request_free(&more[i]), COLL_OK);
    args.out = NULL;
    CHECK_STATUS(coll_request_init(&comms[0], &args, &requests[0]), COLL_ERR_NULL);
    CHECK_EQ(keeps, 0);
    CHECK_EQ(n_kept, 0);
    CHECK_STATUS(coll_request_free(&requests[0]), COLL_OK);
    CHECK_EQ(strangers, 0);
    loopback_end();
}

/* A call that failed, or whose communicator has, keeps its memory until it is freed. */
TEST(failures)
{
    uint32_t before;
    begin(16);
    for (uint32_t r = 0; r < P; r++)
        init(r, COLL_ALLREDUCE);
    before = n_kept;
    CHECK_STATUS(coll_start(&requests[0]), COLL_OK);
    CHECK_STATUS(coll_cancel(&requests[0]), COLL_OK);
    CHECK_STATUS(coll_request_free(&requests[0]), COLL_ERR_BUSY);
    CHECK_EQ(n_kept, before);
    CHECK_STATUS(coll_wait(&requests[0]), COLL_ERR_CANCELLED);
    free_all();
    loopback_end();
}

/* Without tags, too, a root communicator is not freed before the calls whose memory is kept. */
TEST(without_tags)
{
    begin(0);
    for (uint32_t r = 0; r < P; r++)
        init(r, COLL_ALLREDUCE);
    run_all();
    CHECK_STATUS(coll_comm_free(&comms[0]), COLL_ERR_BUSY);
    free_all();
    loopback_end();
}

/* Of two transports that are joined, each that can keeps. */
TEST(joined)
{
    coll_nodes nodes;
    coll_nodes_even(&nodes, P, 2);
    for (unsigned which = 0; which < 4; which++) {
        coll_transport with = coll_loopback_transport;
        coll_join join;
        with.registration = &notes;
        memset(&join, 0xA5, sizeof join);
        n_kept = strangers = 0;
        CHECK_STATUS(coll_join_init(&join, 0, P, &nodes,
                                    which & 1 ? &with : &coll_loopback_transport, &ends[0],
                                    which & 2 ? &with : &coll_loopback_transport, &ends[1]),
                     COLL_OK);
        if (!CHECK((coll_join_transport(&join)->registration != NULL) == (which != 0)) ||
            which == 0)
            continue;
        coll_join_transport(&join)->registration->keep(&join, in, sizeof in, true);
        CHECK(has(0, in, sizeof in, true) == (which & 1));
        CHECK(has(1, in, sizeof in, true) == (which >> 1));
        coll_join_transport(&join)->registration->forget(&join, in, sizeof in, true);
        CHECK_EQ(n_kept, 0);
        CHECK_EQ(strangers, 0);
    }
}

int main(void)
{
    RUN(ranges);
    RUN(less);
    RUN(errors);
    RUN(failures);
    RUN(without_tags);
    RUN(joined);
    return check_done();
}
