/* node/messages.h, node/multicast_buffer.h: sends that fail, are cancelled, or wait for ranks that are gone. Four
 * ranks of a thread each, which this one plays. */
#include "support/check.h"

#include "coll/transports/threads.h"

enum {
    RANKS = 4,
    TAG = 3,
    BYTES = COLL_NODE_STREAM + 8
}; /* the message is read where it lies */

static const coll_transport *const t = &coll_threads_transport;
static coll_threads *world;
static coll_i_node_rank *ranks[RANKS], *a;
static unsigned char sent[BYTES], got[BYTES];

static void begin(void)
{
    world = coll_threads_create(RANKS);
    for (uint32_t r = 0; r < RANKS; r++) {
        ranks[r] = (coll_i_node_rank *)coll_threads_rank(world, r);
        ranks[r]->oversubscribed = false; /* whatever the machine has */
    }
    a = ranks[0];
    for (uint32_t k = 0; k < BYTES; k++)
        sent[k] = (unsigned char)(k * 7 + 1);
}

static void come(uint32_t rank)
{
    coll_handle h;
    memset(got, 0, sizeof got);
    CHECK_STATUS(t->recv(ranks[rank], 0, TAG, got, BYTES, &h), COLL_OK);
    CHECK(memcmp(got, sent, BYTES) == 0);
}

/* How many sends are free. */
static uint32_t n_free(void)
{
    uint32_t n = 0;
    for (const coll_i_node_op *op = a->free_sends; op; op = op->next)
        n++;
    return n;
}

static uint64_t no_memory(coll_i_node_rank *me, size_t bytes)
{
    (void)me;
    (void)bytes;
    return 0;
}

/* ---- a long message to all --------------------------------------------------------------- */

static uint32_t looks;

static void look(coll_i_node_rank *me)
{
    (void)me;
    looks++;
}

/* Whom the sender misses in 4096 tests: the one that it asks each time, and now and then all others that
 * have not read the message. Bit r: now and then; bit r + 8: each time. */
static uint32_t missed(coll_handle *h)
{
    uint32_t ever = 0, always = (1u << RANKS) - 1;
    for (uint32_t i = 0; i < 4096; i++) {
        uint32_t now = 0;
        for (uint32_t r = 1; r < RANKS; r++)
            a->links[r]->missed = false;
        CHECK_STATUS(t->test(a, h), COLL_AGAIN);
        for (uint32_t r = 1; r < RANKS; r++)
            now |= a->links[r]->missed ? 1u << r : 0;
        ever |= now;
        always &= now;
    }
    return ever | always << 8;
}

TEST(who_has_not_read_it_is_missed)
{
    coll_handle h = {{0, 0}};
    uint32_t before;
    begin();
    a->check_liveness = look;
    looks = 0;
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, BYTES, &h), COLL_STARTED);
    before = n_free();
    CHECK_EQ(missed(&h), 0xE | 1u << 3 << 8);
    CHECK_EQ(looks, 4096 / COLL_NODE_MISSES);
    come(2);
    CHECK_EQ(missed(&h), 0xA | 1u << 3 << 8);
    come(3);
    CHECK_EQ(missed(&h), 0x2 | 1u << 1 << 8);
    come(1);
    CHECK_STATUS(t->test(a, &h), COLL_OK);
    CHECK_EQ(n_free(), before + 3);
    a->check_liveness = NULL;
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, BYTES, &h), COLL_STARTED);
    CHECK_EQ(missed(&h), 1u << 3 | 1u << 3 << 8); /* nobody can be gone */
    coll_threads_destroy(world);
}

/* A short one to all is in their cells. */
TEST(all_are_sent_it)
{
    static const size_t lengths[] = {0, 8, COLL_NODE_INLINE, COLL_NODE_INLINE + 1};
    begin();
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        coll_handle h = {{0, 0}};
        CHECK_STATUS(t->in_network->multicast(a, TAG, sent, lengths[i], &h), COLL_OK);
        for (uint32_t r = 1; r < RANKS; r++) {
            memset(got, 0, sizeof got);
            CHECK_STATUS(t->recv(ranks[r], 0, TAG, got, lengths[i], &h), COLL_OK);
            CHECK(memcmp(got, sent, lengths[i]) == 0 && got[lengths[i]] == 0);
        }
    }
    coll_threads_destroy(world);
}

/* One of medium length lies in a slot until all have taken it, whoever is the last. */
TEST(slots_of_all)
{
    static const uint32_t n = COLL_NODE_SLOTS;
    const size_t bytes = COLL_NODE_INLINE + 1;
    for (uint32_t slow = 1; slow < RANKS; slow++) {
        coll_handle h = {{0, 0}};
        begin();
        for (uint32_t i = 0; i < 3 * n; i++) { /* the slow one is n messages behind */
            if (i >= n) {
                CHECK_STATUS(t->in_network->multicast(a, TAG, sent, bytes, &h), COLL_AGAIN);
                CHECK_STATUS(t->recv(ranks[slow], 0, TAG, got, bytes, &h), COLL_OK);
                CHECK(got[0] == (unsigned char)(i - n) && got[1] == sent[1]);
            }
            sent[0] = (unsigned char)i;
            CHECK_STATUS(t->in_network->multicast(a, TAG, sent, bytes, &h), COLL_OK);
            for (uint32_t r = 1; r < RANKS; r++)
                if (r != slow) {
                    CHECK_STATUS(t->recv(ranks[r], 0, TAG, got, bytes, &h), COLL_OK);
                    CHECK(got[0] == (unsigned char)i && got[1] == sent[1]);
                }
        }
        coll_threads_destroy(world);
    }
}

/* Of a message to all that fails on the way those that were sent are cancelled. */
TEST(too_little_memory_for_all)
{
    coll_handle h = {{0, 0}};
    coll_i_node_op *one;
    begin();
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, BYTES, &h), COLL_STARTED);
    for (uint32_t r = 1; r < RANKS; r++)
        come(r);
    CHECK_STATUS(t->test(a, &h), COLL_OK);
    one = a->free_sends;
    one->next = NULL;
    a->carve = no_memory;
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, BYTES, &h), COLL_ERR_MEMORY);
    CHECK(a->cancelled == one && one->next == NULL && n_free() == 0);
    CHECK_EQ(one->sent->state, COLL_I_NODE_CANCELLED);
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, BYTES, &h), COLL_ERR_MEMORY);
    CHECK(a->cancelled == one && one->next == NULL);
    CHECK_STATUS(t->recv(ranks[1], 0, TAG + 1, got, 1, &h), COLL_STARTED); /* and is dropped */
    CHECK_EQ(one->sent->state, COLL_I_NODE_FORGOTTEN);
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, COLL_NODE_INLINE + 1, &h),
                 COLL_ERR_MEMORY);
    coll_threads_destroy(world);
}

/* No channel, no slots, no operation. */
TEST(too_little_memory_for_one)
{
    coll_handle h = {{0, 0}};
    uint64_t (*carve)(coll_i_node_rank *, size_t);
    begin();
    carve = a->carve;
    a->carve = no_memory;
    CHECK_STATUS(t->send(a, 1, TAG, sent, 1, &h), COLL_ERR_MEMORY);
    CHECK_STATUS(t->recv(a, 1, TAG, got, 1, &h), COLL_ERR_MEMORY);
    CHECK_STATUS(t->in_network->multicast(a, TAG, sent, 1, &h), COLL_ERR_MEMORY);
    a->carve = carve;
    CHECK_STATUS(t->send(a, 1, TAG, sent, 1, &h), COLL_OK);
    a->carve = no_memory;
    CHECK_STATUS(t->send(a, 1, TAG, sent, 200, &h), COLL_ERR_MEMORY);
    CHECK_STATUS(t->send(a, 1, TAG, sent, BYTES, &h), COLL_ERR_MEMORY);
    CHECK_STATUS(t->send(a, 1, TAG, sent, 1, &h), COLL_OK); /* it is not in their way */
    a->carve = carve;
    CHECK_STATUS(t->send(a, 1, TAG, sent, 200, &h), COLL_OK);
    CHECK_STATUS(t->send(a, 1, TAG, sent, BYTES, &h), COLL_STARTED);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_STATUS(t->recv(ranks[1], 0, TAG, got, 1, &h), COLL_OK);
    CHECK_STATUS(t->recv(ranks[1], 0, TAG, got, 200, &h), COLL_OK);
    come(1);
    coll_threads_destroy(world);
}

/* ---- a reader that does not end ---------------------------------------------------------- */

static coll_i_node_op *read_now;
static uint32_t asked;

/* Rank 2 is gone when it is asked for the second time. */
static bool is_gone(coll_i_node_rank *me, uint32_t peer)
{
    CHECK(me == a && peer == 2);
    return ++asked == 2;
}

/* … or has read the message. */
static bool has_read(coll_i_node_rank *me, uint32_t peer)
{
    CHECK(me == a && peer == 2);
    if (++asked == 2)
        read_now->sent->state = COLL_I_NODE_DONE;
    return false;
}

/* A send whose message is being read is cancelled when that is over; if its reader died of it, its memory
 * is used no more. */
TEST(cancelled_while_it_is_read)
{
    coll_handle h = {{0, 0}};
    for (uint32_t dies = 0; dies < 2; dies++) {
        uint32_t before;
        begin();
        asked = 0;
        CHECK_STATUS(t->send(a, 2, TAG, sent, BYTES, &h), COLL_STARTED);
        before = n_free();
        read_now = (coll_i_node_op *)h.word[0];
        read_now->sent->state = COLL_I_NODE_READING;
        a->is_dead = dies ? is_gone : has_read;
        t->failure->abort(a, TAG, 1);
        t->failure->cancel(a, &h);
        CHECK_EQ(asked, 2);
        CHECK_EQ(n_free(), before + !dies);
        CHECK(a->cancelled == NULL);
        a->is_dead = NULL;
        coll_threads_destroy(world);
    }
}

/* A send that nobody reads yet is taken back at once, and its memory used again when its reader has passed it. */
TEST(cancelled_before_it_is_read)
{
    coll_handle h = {{0, 0}};
    coll_i_node_op *op;
    uint32_t before;
    begin();
    CHECK_STATUS(t->send(a, 2, TAG, sent, BYTES, &h), COLL_STARTED);
    op = (coll_i_node_op *)h.word[0];
    before = n_free();
    t->failure->abort(a, TAG, 1);
    t->failure->cancel(a, &h);
    CHECK(a->cancelled == op && n_free() == before);
    CHECK_STATUS(t->recv(ranks[2], 0, TAG, got, BYTES, &h), COLL_ERR_PEER);
    CHECK_STATUS(t->send(a, 2, TAG + 1, sent, 1, &h), COLL_OK);
    CHECK_STATUS(t->recv(ranks[2], 0, TAG + 1, got, 1, &h), COLL_OK);
    CHECK_EQ(op->sent->state, COLL_I_NODE_FORGOTTEN);
    a->free_sends = NULL;
    CHECK_STATUS(t->send(a, 2, TAG + 1, sent, BYTES, &h), COLL_STARTED);
    CHECK((coll_i_node_op *)h.word[0] == op && a->cancelled == NULL);
    coll_threads_destroy(world);
}

/* ---- after a failure --------------------------------------------------------------------- */

static bool nothing_comes(uint32_t tag)
{
    const void *message;
    coll_handle h;
    return t->zero_copy->acquire(ranks[2], 0, tag, 1, &message, &h) == COLL_AGAIN;
}

/* What was on its way, aside, to all, or released by nobody, is forgotten, and as much fits in as
 * at the beginning. */
TEST(all_is_forgotten)
{
    static const size_t lengths[] = {COLL_NODE_PAIRED + 8, COLL_NODE_INLINE + 1,
                                     COLL_NODE_NARROW, BYTES};
    begin();
    for (uint32_t round = 0; round < 6; round++) {
        const size_t bytes = lengths[round % 4];
        const coll_status was = bytes == BYTES ? COLL_STARTED : COLL_OK;
        const uint32_t n =
            bytes > COLL_NODE_INLINE && bytes < BYTES ? COLL_NODE_SLOTS : COLL_NODE_CELLS;
        coll_handle h[COLL_NODE_CELLS], r;
        const void *zero_copy;
        for (uint32_t i = 0; i < n; i++)
            CHECK_STATUS(t->send(a, 2, TAG, sent, bytes, &h[i]), was);
        CHECK_STATUS(t->send(a, 2, TAG, sent, bytes, &r), COLL_AGAIN);
        CHECK(nothing_comes(TAG + 1)); /* all are aside */
        for (uint32_t i = 0; i < 3; i++)
            CHECK_STATUS(t->send(a, 2, TAG, sent, bytes, &r), was);
        CHECK_STATUS(t->zero_copy->acquire(ranks[2], 0, TAG, bytes, &zero_copy, &r), COLL_OK);
        CHECK_STATUS(t->recv(ranks[2], 1, TAG, got, bytes, &r), COLL_STARTED);
        CHECK_STATUS(t->in_network->multicast(ranks[1], TAG, sent, bytes, &r), was);
        coll_threads_recover(world);
        for (uint32_t r2 = 0; r2 < RANKS; r2++)
            for (uint32_t tag = TAG; tag <= TAG + 1; tag++)
                CHECK_STATUS(t->zero_copy->acquire(ranks[r2], (r2 + 1) % RANKS, tag, bytes,
                                                   &zero_copy, &r),
                             COLL_AGAIN);
        CHECK(nothing_comes(TAG) && nothing_comes(TAG + 1));
        for (uint32_t i = 0; i < n; i++) {
            sent[0] = (unsigned char)(i + 1); /* read where it lies only below */
            CHECK_STATUS(t->send(a, 2, TAG, sent, bytes, &h[i]), was);
        }
        for (uint32_t i = 0; i < n; i++) {
            got[0] = got[bytes - 1] = 0;
            CHECK_STATUS(t->recv(ranks[2], 0, TAG, got, bytes, &r), COLL_OK);
            CHECK(got[0] == (was == COLL_OK ? i + 1 : n) && got[bytes - 1] == sent[bytes - 1]);
            if (was == COLL_STARTED)
                CHECK_STATUS(t->test(a, &h[i]), COLL_OK);
        }
        CHECK_STATUS(t->in_network->multicast(ranks[1], TAG, sent, bytes, &h[0]), was);
        for (uint32_t r2 = 0; r2 < RANKS; r2++)
            if (r2 != 1)
                CHECK_STATUS(t->recv(ranks[r2], 1, TAG, got, bytes, &r), COLL_OK);
        if (was == COLL_STARTED)
            CHECK_STATUS(t->test(ranks[1], &h[0]), COLL_OK);
    }
    coll_threads_destroy(world);
}

/* ---- aborts ------------------------------------------------------------------------------ */

static bool is_aborted(uint32_t tag)
{
    const void *message;
    coll_handle h;
    return t->zero_copy->acquire(ranks[1], 2, tag, 1, &message, &h) == COLL_ERR_PEER;
}

static uint32_t n_aborted(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < COLL_NODE_ABORTS; i++)
        n += a->world->aborted[i] != 0;
    return n;
}

/* Ranges, each noted once; those of a longer one are replaced by it; too many are all tags of a communicator. */
TEST(ranges_of_tags)
{
    begin();
    t->failure->abort(a, 10, 5);
    for (uint32_t tag = 8; tag < 18; tag++)
        CHECK(is_aborted(tag) == (tag >= 10 && tag < 15));
    t->failure->abort(ranks[3], 10, 5);
    t->failure->abort(a, 12, 3);
    CHECK_EQ(n_aborted(), 1);
    t->failure->abort(a, 12, 4);
    CHECK(n_aborted() == 2 && is_aborted(15) && !is_aborted(16) && is_aborted(10));
    t->failure->abort(a, 9, 6);
    CHECK(n_aborted() == 2 && is_aborted(9) && is_aborted(15) && !is_aborted(8));
    t->failure->abort(a, UINT32_MAX, 1);
    t->failure->abort(a, 0, 1);
    CHECK(n_aborted() == 4 && is_aborted(UINT32_MAX) && is_aborted(0) && !is_aborted(1));
    coll_threads_recover(world);
    CHECK(n_aborted() == 0 && !is_aborted(12));
    for (uint32_t i = 1; i <= COLL_NODE_ABORTS; i++) {
        CHECK(!is_aborted(100 * i));
        t->failure->abort(a, 100 * i, 1);
        CHECK(n_aborted() == i && is_aborted(100) && is_aborted(100 * i));
        CHECK(!is_aborted(100 * i + 1) && !is_aborted(0));
    }
    t->failure->abort(a, 300, 1);
    CHECK(!is_aborted(1));
    t->failure->abort(a, 7, 1);
    CHECK(is_aborted(1) && is_aborted(7) && is_aborted(COLL_CLAIM_TAGS - 1));
    CHECK(is_aborted((uint32_t)COLL_CLAIMS * COLL_CLAIM_TAGS + 7)); /* in another use */
    CHECK(!is_aborted(COLL_CLAIM_TAGS) && !is_aborted(UINT32_MAX));
    coll_threads_recover(world);
    CHECK(!is_aborted(1) && !is_aborted(100));
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(who_has_not_read_it_is_missed);
    RUN(all_are_sent_it);
    RUN(slots_of_all);
    RUN(too_little_memory_for_all);
    RUN(too_little_memory_for_one);
    RUN(cancelled_while_it_is_read);
    RUN(cancelled_before_it_is_read);
    RUN(all_is_forgotten);
    RUN(ranges_of_tags);
    return check_done();
}
