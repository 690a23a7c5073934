/* node/messages.h: messages that stream. Two ranks of a thread each, which this one plays; they
 * share a processor, or do not, whatever the machine has. */
#include "check.h"

#include "coll/transports/threads.h"

enum {
    FIRST = 7,
    BYTES = COLL_NODE_STREAM,
    N = FIRST + COLL_NODE_SLOTS
}; /* before it is a stream */

static const coll_transport *const t = &coll_threads_transport;
static coll_threads *world;
static coll_i_node_rank *a, *b;
static unsigned char sent[N + 1][BYTES + 1], got[BYTES + 1];
static coll_handle handles[N + 1];

static void begin(bool crowded)
{
    world = coll_threads_create(2);
    a = (coll_i_node_rank *)coll_threads_rank(world, 0);
    b = (coll_i_node_rank *)coll_threads_rank(world, 1);
    a->crowded = b->crowded = crowded;
    for (uint32_t i = 0; i <= N; i++)
        for (uint32_t k = 0; k <= BYTES; k++)
            sent[i][k] = (unsigned char)(k * 7 + i + 1);
}

static coll_status post(uint32_t i, uint32_t tag, size_t bytes)
{
    return t->send(a, 1, tag, sent[i], bytes, &handles[i]);
}

/* Message i comes, and its sender hears so if it waits. */
static void come(uint32_t i, uint32_t tag, size_t bytes, coll_status was)
{
    coll_handle h;
    memset(got, 0, sizeof got);
    CHECK_STATUS(t->recv(b, 0, tag, got, bytes, &h), COLL_OK);
    CHECK(memcmp(got, sent[i], bytes) == 0);
    if (was == COLL_STARTED)
        CHECK_STATUS(t->test(a, &handles[i]), COLL_OK);
}

TEST(streams)
{
    begin(true);
    for (uint32_t i = 0; i < N; i++)
        CHECK_STATUS(post(i, 0, BYTES), i < FIRST ? COLL_STARTED : COLL_OK);
    CHECK_STATUS(post(N, 0, BYTES), COLL_AGAIN); /* the slots are full */
    come(0, 0, BYTES, COLL_STARTED);
    for (uint32_t i = 1; i < N; i++)
        come(i, 0, BYTES, i < FIRST ? COLL_STARTED : COLL_OK);
    for (uint32_t i = 0; i < 3 * COLL_NODE_SLOTS; i++) { /* and round */
        CHECK_STATUS(post(i % N, 0, BYTES - i), COLL_OK);
        come(i % N, 0, BYTES - i, COLL_OK);
    }
    coll_threads_destroy(world);
}

/* Who was answered waits again; and so does who sends longer ones, or has a processor of its own. */
TEST(no_streams)
{
    coll_handle h;
    begin(true);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < N; i++) {
            const bool waits =
                i < FIRST + (round > 0); /* one more is the first after an answer */
            const coll_status was = waits ? COLL_STARTED : COLL_OK;
            CHECK_STATUS(post(0, 0, BYTES), was);
            come(0, 0, BYTES, was);
        }
        CHECK_STATUS(t->send(b, 0, 0, sent[0], 1, &h), COLL_OK);
        CHECK_STATUS(t->recv(a, 1, 0, got, 1, &h), COLL_OK);
    }
    for (uint32_t i = 0; i < 2 * N; i++) {
        CHECK_STATUS(post(0, 0, BYTES + 1), COLL_STARTED);
        come(0, 0, BYTES + 1, COLL_STARTED);
    }
    coll_threads_destroy(world);
    begin(false);
    for (uint32_t i = 0; i < 2 * N; i++) {
        CHECK_STATUS(post(0, 0, BYTES), COLL_STARTED);
        come(0, 0, BYTES, COLL_STARTED);
    }
    coll_threads_destroy(world);
}

/* Messages of a stream are set aside for others, borrowed, and dropped, as any in slots. */
TEST(aside_and_borrowed)
{
    const void *message = NULL;
    coll_handle h;
    begin(true);
    for (uint32_t i = 0; i < N; i++)
        CHECK_STATUS(post(i, i % 2, BYTES), i < FIRST ? COLL_STARTED : COLL_OK);
    for (uint32_t i = 1; i < N; i += 2)
        come(i, 1, BYTES, i < FIRST ? COLL_STARTED : COLL_OK);
    for (uint32_t i = 0; i < N; i += 2) {
        CHECK_STATUS(t->borrow(b, 0, 0, BYTES, &message, &h), COLL_OK);
        CHECK(memcmp(message, sent[i], BYTES) == 0);
        CHECK(i >= FIRST || message == sent[i]);
        t->give_back(b, &h);
        if (i < FIRST)
            CHECK_STATUS(t->test(a, &handles[i]), COLL_OK);
    }
    CHECK_STATUS(post(0, 2, BYTES), COLL_OK);
    CHECK_STATUS(t->borrow(b, 0, 2, BYTES, &message, &h), COLL_OK);
    CHECK(message != sent[0] && memcmp(message, sent[0], BYTES) == 0);
    t->give_back(b, &h);
    CHECK_STATUS(post(0, 3, BYTES), COLL_OK);
    CHECK_STATUS(t->recv(b, 0, 3, got, BYTES - 1, &h), COLL_ERR_SIZE);
    t->abort(a, 3);
    CHECK_STATUS(post(1, 4, BYTES), COLL_OK);
    come(1, 4, BYTES, COLL_OK);
    coll_threads_destroy(world);
}

/* A message to all takes no slot of a stream, as there might be none for the next rank. */
TEST(to_all)
{
    begin(true);
    for (uint32_t i = 0; i < N; i++)
        CHECK_STATUS(post(i, 0, BYTES), i < FIRST ? COLL_STARTED : COLL_OK);
    CHECK_STATUS(t->multicast(a, 0, sent[N], BYTES, &handles[N]), COLL_STARTED);
    for (uint32_t i = 0; i <= N; i++)
        come(i, 0, BYTES, i < FIRST || i == N ? COLL_STARTED : COLL_OK);
    coll_threads_destroy(world);
}

/* Nonsense in a cell: a place that is none, or more than a slot holds, of a tag that nobody wants yet. */
TEST(nonsense)
{
    coll_handle h = {{0, 0}};
    for (uint32_t i = 0; i < 2; i++) {
        coll_i_node_cell *cell;
        begin(true);
        CHECK_STATUS(t->recv(b, 0, 1, got, 1, &h), COLL_STARTED);
        cell = coll_i_node_head(b->links[0]);
        cell->tag = 0;
        cell->bytes = i == 0 ? BYTES : BYTES + 1;
        cell->payload.slot =
            i == 0 ? 0 : (uint64_t)(uintptr_t)sent / COLL_NODE_LINE * COLL_NODE_LINE;
        __atomic_store_n(&cell->turn, 1, __ATOMIC_RELEASE);
        CHECK_STATUS(t->test(b, &h), COLL_ERR_IO);
        t->cancel(b, &h);
        coll_threads_destroy(world);
    }
}

int main(void)
{
    RUN(streams);
    RUN(no_streams);
    RUN(aside_and_borrowed);
    RUN(to_all);
    RUN(nonsense);
    return check_done();
}
