/* node/messages.h: messages that stream. Two ranks of a thread each, which this one plays; they
 * share a processor, or do not, whatever the machine has. */
#include "support/chance.h"
#include "support/check.h"

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

static void begin(bool oversubscribed)
{
    world = coll_threads_create(2);
    a = (coll_i_node_rank *)coll_threads_rank(world, 0);
    b = (coll_i_node_rank *)coll_threads_rank(world, 1);
    a->oversubscribed = b->oversubscribed = oversubscribed;
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

/* Messages of a stream are set aside for others, acquired, and dropped, as any in slots. */
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
        CHECK_STATUS(t->zero_copy->acquire(b, 0, 0, BYTES, &message, &h), COLL_OK);
        CHECK(memcmp(message, sent[i], BYTES) == 0);
        CHECK(i >= FIRST || message == sent[i]);
        t->zero_copy->release(b, &h);
        if (i < FIRST)
            CHECK_STATUS(t->test(a, &handles[i]), COLL_OK);
    }
    CHECK_STATUS(post(0, 2, BYTES), COLL_OK);
    CHECK_STATUS(t->zero_copy->acquire(b, 0, 2, BYTES, &message, &h), COLL_OK);
    CHECK(message != sent[0] && memcmp(message, sent[0], BYTES) == 0);
    t->zero_copy->release(b, &h);
    CHECK_STATUS(post(0, 3, BYTES), COLL_OK);
    CHECK_STATUS(t->recv(b, 0, 3, got, BYTES - 1, &h), COLL_ERR_SIZE);
    t->failure->abort(a, 3, 1);
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
    CHECK_STATUS(t->in_network->multicast(a, 0, sent[N], BYTES, &handles[N]), COLL_STARTED);
    for (uint32_t i = 0; i <= N; i++)
        come(i, 0, BYTES, i < FIRST || i == N ? COLL_STARTED : COLL_OK);
    coll_threads_destroy(world);
}

/* After a failure its slots are free, whatever was in them. */
TEST(forgotten)
{
    begin(true);
    for (uint32_t i = 0; i < N; i++)
        CHECK_STATUS(post(i, 0, BYTES), i < FIRST ? COLL_STARTED : COLL_OK);
    for (uint32_t i = 0; i < FIRST; i++)
        come(i, 0, BYTES, COLL_STARTED);
    coll_i_node_forget(a);
    coll_i_node_forget(b);
    for (uint32_t i = 0; i < COLL_NODE_SLOTS; i++)
        CHECK_STATUS(post(i, 0, BYTES), COLL_OK);
    CHECK_STATUS(post(N, 0, BYTES), COLL_AGAIN);
    for (uint32_t i = 0; i < COLL_NODE_SLOTS; i++)
        come(i, 0, BYTES, COLL_OK);
    coll_threads_destroy(world);
}

/* Nonsense in a cell: a place that is none, or more than a slot holds, of a tag that nobody wants yet. */
TEST(nonsense)
{
    coll_handle h = {{0, 0}};
    for (uint32_t i = 0; i < 2; i++) {
        coll_i_node_entry *entry;
        begin(true);
        CHECK_STATUS(t->recv(b, 0, 1, got, 1, &h), COLL_STARTED);
        entry = coll_i_node_head(b->links[0]);
        entry->tag = 0;
        entry->bytes = i == 0 ? BYTES : BYTES + 1;
        entry->payload.slot =
            i == 0 ? 0 : (uint64_t)(uintptr_t)sent / COLL_NODE_LINE * COLL_NODE_LINE;
        __atomic_store_n(&entry->turn, 1, __ATOMIC_RELEASE);
        CHECK_STATUS(t->test(b, &h), COLL_ERR_IO);
        t->failure->cancel(b, &h);
        coll_threads_destroy(world);
    }
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Short messages that stream, of ranks with a processor each, go two in a cell. */
TEST(pairs)
{
    enum { MOST = FIRST + 2 * (COLL_NODE_CELLS - FIRST) };
    const coll_i_node_link *link;
    coll_handle h;
    begin(false);
    for (uint32_t i = 0; i < MOST; i++)
        CHECK_STATUS(post(i % N, 0, i % (COLL_NODE_PAIRED + 1)), COLL_OK);
    link = a->links[1];
    CHECK_EQ(link->tail, COLL_NODE_CELLS);
    CHECK_STATUS(post(0, 0, 1), COLL_AGAIN); /* the cells are full */
    for (uint32_t i = 0; i < MOST; i++)
        come(i % N, 0, i % (COLL_NODE_PAIRED + 1), COLL_OK);
    CHECK_STATUS(post(0, 0, 1), COLL_OK); /* and round */
    CHECK_STATUS(post(1, 0, 2), COLL_OK);
    CHECK_EQ(link->tail, COLL_NODE_CELLS + 1);
    CHECK_STATUS(post(2, 0, 3), COLL_OK);
    CHECK_STATUS(post(3, 0, COLL_NODE_PAIRED + 1),
                 COLL_OK); /* too long for the rest of a line */
    CHECK_EQ(link->tail, COLL_NODE_CELLS + 3);
    for (uint32_t i = 0; i < 4; i++)
        come(i, 0, i < 3 ? i + 1 : COLL_NODE_PAIRED + 1, COLL_OK);
    CHECK_STATUS(t->send(b, 0, 0, sent[0], 1, &h), COLL_OK); /* an answer */
    CHECK_STATUS(t->recv(a, 1, 0, got, 1, &h), COLL_OK);
    for (uint32_t i = 0; i <= FIRST; i++) {
        CHECK_STATUS(post(i, 0, 1), COLL_OK);
        come(i, 0, 1, COLL_OK);
    }
    CHECK_EQ(link->tail, COLL_NODE_CELLS + 3 + FIRST + 1);
    for (uint32_t read = 0; read < 2; read++) { /* all is forgotten in the middle of a pair */
        for (uint32_t i = 0; !link->open && i < N; i++) {
            CHECK_STATUS(post(i, 0, 1), COLL_OK);
            if (read || !link->open)
                come(i, 0, 1, COLL_OK);
        }
        CHECK(link->open);
        coll_i_node_forget(a);
        coll_i_node_forget(b);
        CHECK_STATUS(post(2, 0, 2), COLL_OK);
        CHECK_STATUS(post(3, 0, 3), COLL_OK);
        come(2, 0, 2, COLL_OK);
        come(3, 0, 3, COLL_OK);
    }
    coll_threads_destroy(world);
    begin(true); /* who shares a processor may be asked to look at a line */
    for (uint32_t i = 0; i < COLL_NODE_CELLS; i++)
        CHECK_STATUS(post(i % N, 0, 1), COLL_OK);
    CHECK_STATUS(post(0, 0, 1), COLL_AGAIN);
    coll_threads_destroy(world);
}

/* The ways in which a model of the channel, a list of messages for each tag, and the channel could
 * come apart. */
enum { TAGS = 3, WAITING = 24, LONGEST = 300 };

typedef struct letter {
    uint32_t tag, number;
    size_t bytes;
    coll_handle h;
    bool waits;
    unsigned char text[LONGEST];
} letter;

static letter letters[WAITING];
static uint32_t n_letters;

static void write_one(uint32_t number, uint32_t tag, size_t bytes)
{
    letter *it = &letters[n_letters];
    coll_status status;
    it->tag = tag;
    it->number = number;
    it->bytes = bytes;
    for (size_t k = 0; k < LONGEST; k++)
        it->text[k] = (unsigned char)(number * 31 + k);
    status = t->send(a, 1, tag, it->text, bytes, &it->h);
    CHECK(status == COLL_OK || status == COLL_STARTED);
    it->waits = status == COLL_STARTED;
    n_letters++;
}

/* Letters that lie elsewhere are read where they are, so they do not move until they were. */
static void read_one(uint32_t tag, bool borrows)
{
    uint32_t i = 0;
    const void *message = got;
    coll_handle h;
    while (i < n_letters && (letters[i].tag != tag || letters[i].number == UINT32_MAX))
        i++;
    memset(got, 0, LONGEST);
    if (i == n_letters) {
        CHECK_STATUS(t->zero_copy->acquire(b, 0, tag, 1, &message, &h), COLL_AGAIN);
        return;
    }
    if (borrows)
        CHECK_STATUS(t->zero_copy->acquire(b, 0, tag, letters[i].bytes, &message, &h), COLL_OK);
    else
        CHECK_STATUS(t->recv(b, 0, tag, got, letters[i].bytes, &h), COLL_OK);
    CHECK(memcmp(message, letters[i].text, letters[i].bytes) == 0);
    if (borrows)
        t->zero_copy->release(b, &h);
    if (letters[i].waits)
        CHECK_STATUS(t->test(a, &letters[i].h), COLL_OK);
    letters[i].number = UINT32_MAX;
    while (n_letters > 0 && letters[n_letters - 1].number == UINT32_MAX)
        n_letters--;
}

TEST(any_order)
{
    static const size_t lengths[] = {0, 1, 8, 16, 16, 17, 48, 49, 112, 113, LONGEST};
    for (uint32_t world_seed = 1; world_seed <= 40; world_seed++) {
        uint32_t most = 5;
        random_state = world_seed;
        begin(world_seed % 4 == 0);
        for (uint32_t i = 0; i < 3000; i++) {
            coll_handle h;
            if (chance(64) == 0) /* for a while all are short, or any may come */
                most = chance(2) ? 5 : sizeof lengths / sizeof *lengths;
            if (chance(2) && n_letters < WAITING)
                write_one(i, chance(16) ? 0 : chance(TAGS), lengths[chance(most)]);
            else
                read_one(chance(8) ? 0 : chance(TAGS), chance(2));
            if (chance(200) == 0) {
                CHECK_STATUS(t->send(b, 0, 0, sent[0], 1, &h), COLL_OK);
                CHECK_STATUS(t->recv(a, 1, 0, got, 1, &h), COLL_OK);
            }
        }
        while (n_letters > 0)
            for (uint32_t tag = 0; tag < TAGS; tag++)
                read_one(tag, false);
        coll_threads_destroy(world);
    }
}

int main(void)
{
    RUN(streams);
    RUN(no_streams);
    RUN(aside_and_borrowed);
    RUN(to_all);
    RUN(forgotten);
    RUN(nonsense);
    RUN(pairs);
    RUN(any_order);
    return check_done();
}
