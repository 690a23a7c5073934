/* node/copies.h: what is copied, whatever the places and lengths, and which memory is cold. */
#include "support/check.h"

#include "coll/transports/threads.h"

enum { MOST = 3 * COLL_I_NODE_PLACE, GUARD = COLL_NODE_LINE };

static unsigned char from[MOST + 2 * GUARD], to[MOST + 2 * GUARD];

/* Copies so many bytes from and to so many bytes behind a line, by each way, and looks that they
 * arrived and no others did. */
static void copy(coll_i_node_rank *me, size_t bytes, size_t source, size_t target)
{
    for (int way = 0; way < 4; way++) {
        unsigned char *at = (unsigned char *)coll_i_node_line(to) + target;
        unsigned char *its = (unsigned char *)coll_i_node_line(from) + source;
        size_t beside = 0;
        coll_handle h;
        for (size_t i = 0; i < sizeof from; i++)
            from[i] = (unsigned char)(i * 31 + bytes + (size_t)way);
        memset(to, 0xee, sizeof to);
        if (way == 0)
            coll_i_node_copy_past(at, its, bytes);
        else if (way == 1)
            CHECK_STATUS(coll_i_node_local(me, at, its, bytes, &h), COLL_OK);
        else
            coll_i_node_take_out(me, at, its, bytes, way == 3);
        if (way == 3) /* which the reader has written to */
            for (size_t i = 0; i < sizeof from; i++)
                from[i] = (unsigned char)(i * 31 + bytes + (size_t)way);
        CHECK(memcmp(at, its, bytes) == 0);
        for (size_t i = 0; i < sizeof to; i++)
            beside += (to + i < at || to + i >= at + bytes) && to[i] != 0xee;
        CHECK(beside == 0);
    }
}

TEST(copies)
{
    static const size_t lengths[] = {200, 1024, 2048, COLL_I_NODE_PLACE,
                                     2 * COLL_I_NODE_PLACE + 77};
    coll_threads *world = coll_threads_create(2);
    coll_i_node_rank *me = (coll_i_node_rank *)coll_threads_rank(world, 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t target = 0; target < GUARD; target += target < 3 ? 1 : 20)
            for (size_t source = 0; source < GUARD; source += source < 2 ? 2 : 30)
                copy(me, lengths[i], source, target);
    copy(me, MOST, 0, 0);
    coll_threads_destroy(world);
}

/* A message of `places` places, to one `at` places behind. No memory is touched. */
static bool cold(coll_i_node_rank *me, uintptr_t at, size_t places)
{
    return coll_i_node_is_cold(me, (const void *)(at * COLL_I_NODE_PLACE),
                               places * COLL_I_NODE_PLACE);
}

TEST(cold_memory)
{
#if defined(__SSE2__)
    coll_threads *world = coll_threads_create(4);
    coll_i_node_rank *me = (coll_i_node_rank *)coll_threads_rank(world, 0);
    const size_t share = COLL_NODE_CACHES / 4 / COLL_I_NODE_PLACE;
    CHECK(!cold(me, 100, 1)); /* unknown */
    CHECK(!cold(me, 100, 1)); /* just written */
    CHECK(!cold(me, 200, share - 1));
    CHECK(!cold(me, 100, 1)); /* after as much as fits */
    CHECK(!cold(me, 300, share));
    CHECK(cold(me, 100, 1));  /* after more */
    CHECK(!cold(me, 100, 1)); /* which brought it back, for all that is known */
    CHECK(!cold(me, 100 + COLL_I_NODE_PLACES, 4 * share)); /* takes its row in the table */
    CHECK(!cold(me, 100, 1));
    me->writes += (uint64_t)1 << 45; /* numbers wrap */
    CHECK(cold(me, 200, 1));
    CHECK(!coll_i_node_is_cold(me, (const void *)((uintptr_t)300 * COLL_I_NODE_PLACE),
                               COLL_I_NODE_PLACE - 1)); /* short */
    CHECK(cold(me, 300, 1));
    coll_threads_destroy(world);
#endif
}

int main(void)
{
    RUN(copies);
    RUN(cold_memory);
    return check_done();
}
