/* node/shared.h: which part of SHARED a use has, and when it begins. Three ranks of a thread each, which
 * this one plays. */
#include "support/check.h"

#include "coll/transports/threads.h"

enum { RANKS = 3, TAG = 5, PART = 3 * COLL_NODE_LINE };

static const coll_transport *const t = &coll_threads_transport;
static coll_threads *world;
static coll_i_node_rank *ranks[RANKS];

static void begin(void)
{
    world = coll_threads_create(RANKS);
    for (uint32_t r = 0; r < RANKS; r++)
        ranks[r] = (coll_i_node_rank *)coll_threads_rank(world, r);
}

/* All ranks have made so many uses, and are done with them. */
static void begin_from(uint32_t uses)
{
    begin();
    CHECK_STATUS(coll_threads_share(world, COLL_NODE_PARTS * PART), COLL_OK);
    for (uint32_t r = 0; r < RANKS; r++) {
        ranks[r]->uses = ranks[r]->done = ranks[r]->all_done = uses;
        ranks[r]->turns[r].done = uses;
    }
}

TEST(parts)
{
    uint32_t use = 1;
    void *memory = &use, *first;
    begin();
    CHECK(t->node_memory->shared(ranks[0], false, &use, &memory) == 0 && use == 0 && !memory);
    CHECK_STATUS(coll_threads_share(world, SIZE_MAX), COLL_ERR_MEMORY);
    CHECK_STATUS(coll_threads_share(world, COLL_NODE_PARTS * PART + COLL_NODE_LINE - 1),
                 COLL_OK);
    CHECK_STATUS(coll_threads_share(world, 1), COLL_ERR_STATE);
    CHECK(t->node_memory->shared(ranks[0], false, &use, &first) == PART && use == 0 && first);
    CHECK_EQ((uintptr_t)first % COLL_NODE_LINE, 0);
    memset(first, 1, COLL_NODE_PARTS * PART + COLL_NODE_LINE - 1); /* all of it is there */
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t i = 0; i < 2 * COLL_NODE_PARTS; i++)
            for (uint32_t take = 0; take < 2; take++) {
                CHECK_EQ(t->node_memory->shared(ranks[r], take == 1, &use, &memory), PART);
                CHECK_EQ(use, i);
                CHECK(memory == (unsigned char *)first + i % COLL_NODE_PARTS * PART);
            }
    coll_threads_recover(world);
    CHECK(t->node_memory->shared(ranks[1], false, &use, &memory) == PART && use == 0 &&
          memory == first);
    coll_threads_destroy(world);
}

/* May a rank enter? */
static bool enters(uint32_t rank, uint32_t use)
{
    const coll_status status = t->node_memory->enter(ranks[rank], TAG, use);
    CHECK(status == COLL_OK || status == COLL_AGAIN);
    return status == COLL_OK;
}

/* A use begins when all are done with those that had its part, and not before; uses are numbered modulo
 * 2^32. */
TEST(turns)
{
    static const uint32_t from[] = {0, 1, 100, UINT32_MAX - 9, UINT32_MAX - 1};
    for (uint32_t k = 0; k < sizeof from / sizeof *from; k++)
        for (uint32_t last = 0; last < RANKS; last++) { /* is the last to be done */
            const uint32_t one = from[k];
            begin_from(one);
            for (uint32_t i = 0; i < 10; i++) {
                const uint32_t use = one + i, next = use + COLL_NODE_PARTS;
                for (uint32_t r = 0; r < RANKS; r++)
                    CHECK(enters(r, use) && enters(r, next - 1) && !enters(r, next));
                for (uint32_t r = 1; r <= RANKS; r++) {
                    const uint32_t rank = (last + r) % RANKS;
                    t->node_memory->leave(ranks[rank], use);
                    CHECK_EQ(ranks[rank]->turns[rank].done, use + 1);
                    for (uint32_t s = 0; s < RANKS; s++)
                        CHECK(enters(s, next) == (r == RANKS));
                }
            }
            coll_threads_destroy(world);
        }
}

/* Uses end in any order: those before the first that has not are over. */
TEST(ends)
{
    begin_from(UINT32_MAX - 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t first = UINT32_MAX - 1;
        t->node_memory->leave(ranks[r], first + 2);
        CHECK_EQ(ranks[r]->turns[r].done, first);
        t->node_memory->leave(ranks[r], first + 63);
        t->node_memory->leave(ranks[r], first);
        CHECK_EQ(ranks[r]->turns[r].done, first + 1);
        t->node_memory->leave(ranks[r], first + 1);
        CHECK_EQ(ranks[r]->turns[r].done, first + 3);
        CHECK_EQ(world->world.aborts, 0);
        for (uint32_t i = 3; i < 63; i++)
            t->node_memory->leave(ranks[r], first + i);
        CHECK_EQ(ranks[r]->turns[r].done, first + 64);
    }
    CHECK(enters(0, UINT32_MAX - 1 + 64 + COLL_NODE_PARTS - 1));
    CHECK(!enters(0, UINT32_MAX - 1 + 64 + COLL_NODE_PARTS));
    t->node_memory->leave(ranks[0],
                          UINT32_MAX - 1 + 64 + 64); /* so far ahead that nobody remembers it */
    CHECK_EQ(world->world.aborts, COLL_I_NODE_ALL);
    CHECK_STATUS(t->node_memory->enter(ranks[1], TAG, 0), COLL_ERR_PEER);
    coll_threads_destroy(world);
}

TEST(aborted)
{
    begin_from(0);
    t->failure->abort(ranks[2], TAG, 1);
    CHECK_STATUS(t->node_memory->enter(ranks[0], TAG, 0), COLL_ERR_PEER);
    CHECK_STATUS(t->node_memory->enter(ranks[0], TAG + 1, 0), COLL_OK);
    coll_threads_destroy(world);
}

/* ---- who is missed ----------------------------------------------------------------------- */

static uint32_t looks;

static void look(coll_i_node_rank *me)
{
    (void)me;
    looks++;
}

/* Whom rank 0 misses in 4096 tests. Bit r: now and then; bit r + 8: each time. */
static uint32_t missed(uint32_t use)
{
    uint32_t ever = 0, always = (1u << RANKS) - 1;
    for (uint32_t i = 0; i < 4096; i++) {
        uint32_t now = 0;
        for (uint32_t r = 1; r < RANKS; r++)
            if (ranks[0]->links[r])
                ranks[0]->links[r]->missed = false;
        CHECK_STATUS(t->node_memory->enter(ranks[0], TAG, use), COLL_AGAIN);
        for (uint32_t r = 1; r < RANKS; r++)
            now |= ranks[0]->links[r] && ranks[0]->links[r]->missed ? 1u << r : 0;
        ever |= now;
        always &= now;
    }
    return ever | always << 8;
}

/* The first that is not done each time, all others now and then, and never itself. */
TEST(who_is_not_done_is_missed)
{
    const uint32_t use = COLL_NODE_PARTS;
    begin_from(0);
    ranks[0]->check_liveness = look;
    looks = 0;
    CHECK_EQ(missed(use), 0x6 | 1u << 1 << 8);
    CHECK_EQ(looks, 4096 / COLL_NODE_MISSES);
    CHECK(!ranks[0]->links[0]);
    t->node_memory->leave(ranks[1], 0);
    CHECK_EQ(missed(use), 0x4 | 1u << 2 << 8);
    ranks[0]->misses = 0;
    looks = 0;
    t->node_memory->leave(ranks[2], 0);
    CHECK_EQ(missed(use), 0); /* it waits for itself */
    CHECK_EQ(looks, 0);
    t->node_memory->leave(ranks[0], 0);
    CHECK(enters(0, use));
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(parts);
    RUN(turns);
    RUN(ends);
    RUN(aborted);
    RUN(who_is_not_done_is_missed);
    return check_done();
}
