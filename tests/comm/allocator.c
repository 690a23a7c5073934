/* Memory of an allocator, where a communicator's arena has too little (coll/comm/arena.h): found,
 * used again, given back; and what happens if there is none, at each allocation in turn. */
#include "coll/comm/multi_node.h"
#include "support/comm_loopback.h"

enum { MESSAGES = 256, COUNT = 400 };

/* Counts what it gives; the allocation `fails` gets nothing, 0 being the first. */
typedef struct counter {
    unsigned given, taken_back, fails;
    size_t bytes; /* that are out */
} counter;

static counter counters[P];

static void *give(void *ctx, size_t bytes, size_t align)
{
    counter *it = (counter *)ctx;
    void *memory;
    CHECK(align >= sizeof(void *) && (align & (align - 1)) == 0);
    if (it->given++ == it->fails)
        return NULL;
    memory = aligned_alloc(align, (bytes + align - 1) / align * align);
    memset(memory, 0xA5, bytes);
    it->bytes += bytes;
    return memory;
}

static void take_back(void *ctx, void *memory, size_t bytes)
{
    counter *it = (counter *)ctx;
    it->taken_back++;
    it->bytes -= bytes;
    memset(memory, 0x5A, bytes);
    free(memory);
}

/* Of communicators without any memory. */
static void begin(unsigned fails)
{
    loopback_begin(MESSAGES, coll_loopback_transport.tags, 0xA5);
    for (uint32_t r = 0; r < P; r++) {
        memset(&counters[r], 0, sizeof counters[r]);
        counters[r].fails = r == 1 ? fails : UINT32_MAX;
        CHECK_STATUS(coll_comm_init(&comms[r], &transport, &ends[r], r, P, NULL, 0), COLL_OK);
    }
}

static void end(void)
{
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        CHECK_EQ(counters[r].bytes, 0);
        CHECK(comms[r].arena.more == NULL);
    }
    coll_loopback_recover(&loopback);
    free(messages);
}

static coll_status allocators(void)
{
    coll_status worst = COLL_OK;
    for (uint32_t r = 0; r < P; r++) {
        const coll_allocator one = {give, take_back, &counters[r]};
        const coll_status status = coll_comm_set_allocator(&comms[r], &one);
        CHECK(status == COLL_OK || (r == 1 && status == COLL_ERR_MEMORY));
        worst = status == COLL_OK ? worst : status;
    }
    return worst;
}

static double x[P][COUNT * P], y[P][COUNT * P];
static coll_request requests[P], kept[P];

/* Ends calls that were started on the ranks whose status is COLL_OK. */
static coll_status finish(coll_request *calls, coll_status *status)
{
    coll_status worst = COLL_OK;
    for (unsigned round = 0; round < 10000; round++)
        for (uint32_t r = 0; r < P; r++)
            if (status[r] == COLL_OK && calls[r].state != COLL_REQUEST_OVER &&
                calls[r].state != COLL_REQUEST_READY) {
                const coll_status now = coll_test(&calls[r]);
                if (now != COLL_AGAIN)
                    status[r] = now;
            }
    for (uint32_t r = 0; r < P; r++)
        if (status[r] == COLL_ERR_MEMORY || worst == COLL_OK)
            worst = status[r];
    return worst;
}

/* Makes a call of each kind that takes memory, until one fails; *made: persistent calls there
 * are. */
static coll_status calls(coll_comm *all, bool *made)
{
    static const size_t counts[P] = {COUNT, 1, COUNT};
    const coll_algorithm *const ring = &coll_ring_allreduce;
    coll_status status[P], worst = COLL_OK;
    for (unsigned i = 0; i < 4 && worst == COLL_OK; i++) {
        for (uint32_t r = 0; r < P; r++) {
            for (size_t k = 0; k < COUNT * P; k++)
                x[r][k] = (double)(k + r);
            (void)coll_comm_set_algorithm(&all[r], COLL_ALLREDUCE, ring, NULL);
            status[r] = i < 2 ? coll_iallreduce(&all[r], COLL_IN_PLACE, x[r], COUNT, COLL_F64,
                                                COLL_SUM, &requests[r])
                        : i == 2 ? coll_ireduce_scatter(&all[r], x[r], y[r], counts, COLL_F64,
                                                        COLL_SUM, &requests[r])
                                 : coll_allreduce_init(&all[r], COLL_IN_PLACE, x[r], COUNT,
                                                       COLL_F64, COLL_SUM, &kept[r]);
            made[r] = made[r] || (i == 3 && status[r] == COLL_OK);
        }
        worst = finish(i == 3 ? kept : requests, status);
        for (uint32_t r = 0; r < P && worst == COLL_OK && i < 3; r++)
            for (size_t k = 0; k < (i < 2 ? COUNT : counts[r]); k++) {
                const size_t at = i < 2 ? k : k + (r > 0 ? COUNT : 0) + (r > 1 ? 1 : 0);
                CHECK((i < 2 ? x[r][k] : y[r][k]) == 3. * (double)at + 3);
            }
    }
    return worst;
}

/* What takes memory: a cache, scratch, displacements, a group's table, a persistent call's
 * scratch. */
static coll_status program(void)
{
    static const uint32_t order[P] = {2, 0, 1}, back[P] = {1, 2, 0};
    coll_comm subs[P], seconds[P];
    bool made[P] = {false, false, false}, sub[P], second[P];
    coll_group group, again;
    coll_status worst = allocators();
    if (worst != COLL_OK)
        return worst;
    worst = calls(comms, made);
    coll_group_table(&group, order, NULL);
    coll_group_table(&again, back, NULL);
    for (uint32_t r = 0; r < P; r++) {
        coll_status status = worst == COLL_OK
                                 ? coll_comm_create(&subs[r], &comms[r], &group, P, 16)
                                 : COLL_ERR_STATE;
        sub[r] = status == COLL_OK;
        if (sub[r])
            status = coll_comm_create(&seconds[r], &subs[r], &again, P, 4);
        second[r] = sub[r] && status == COLL_OK;
        if (status == COLL_ERR_MEMORY)
            worst = status;
    }
    for (uint32_t r = 0; r < P; r++) {
        if (second[r])
            CHECK_STATUS(coll_comm_free(&seconds[r]), COLL_OK);
        if (sub[r])
            CHECK_STATUS(coll_comm_free(&subs[r]), COLL_OK);
        if (made[r])
            CHECK_STATUS(coll_request_free(&kept[r]), COLL_OK);
    }
    return worst;
}

TEST(each_allocation_fails_once)
{
    unsigned failed = 0, all = 0;
    coll_status status;
    for (int with_cache = 0; with_cache < 2;
         with_cache++, failed = 0) /* without a cache of the allocator's */
        do {
            begin(failed);
            for (uint32_t r = 0; r < P && with_cache; r++)
                CHECK_STATUS(coll_comm_set_cache(&comms[r], caches[r], sizeof caches[r]),
                             COLL_OK);
            status = program();
            CHECK(status == COLL_OK || status == COLL_ERR_MEMORY);
            CHECK(status == COLL_OK || counters[1].given == failed + 1);
            end();
        } while (status != COLL_OK && ++failed < 50 && ++all);
    CHECK(all >= 4);
    CHECK_EQ(counters[0].given, counters[0].taken_back);
}

/* The same calls again take nothing more, and what the arena has is not asked for. */
TEST(memory_is_used_again)
{
    static unsigned char memory[P][COLL_CACHE_BYTES(COLL_CACHED_CALLS) + (1 << 15)];
    bool made[P] = {false, false, false};
    unsigned given = 0;
    begin(UINT32_MAX);
    CHECK_STATUS(allocators(), COLL_OK);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_STATUS(calls(comms, made), COLL_OK);
        for (uint32_t r = 0; r < P; r++)
            CHECK_STATUS(coll_request_free(&kept[r]), COLL_OK);
        CHECK(i == 0 || given == counters[1].given);
        given = counters[1].given;
        CHECK(comms[0].cache.n == COLL_CACHED_CALLS);
    }
    end();
    begin(UINT32_MAX);
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(
            coll_comm_init(&comms[r], &transport, &ends[r], r, P, memory[r], sizeof memory[r]),
            COLL_OK);
    CHECK_STATUS(allocators(), COLL_OK);
    CHECK_STATUS(calls(comms, made), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(counters[r].given, 0);
        CHECK_STATUS(coll_request_free(&kept[r]), COLL_OK);
    }
    end();
}

TEST(what_is_refused)
{
    const coll_allocator one = {give, take_back, &counters[0]}, none = {NULL, take_back, NULL},
                         forgetful = {give, NULL, NULL};
    coll_piece piece;
    begin(UINT32_MAX);
    CHECK_STATUS(coll_comm_set_allocator(NULL, &one), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_allocator(&comms[0], NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_allocator(&comms[0], &none), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_allocator(&comms[0], &forgetful), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_allocator(&comms[0], &one), COLL_OK);
    CHECK_STATUS(coll_comm_set_allocator(&comms[0], &one), COLL_ERR_BUSY);
    CHECK_STATUS(coll_arena_take(&comms[0].arena, SIZE_MAX, &piece), COLL_ERR_MEMORY);
    end();
}

int main(void)
{
    RUN(each_allocation_fails_once);
    RUN(memory_is_used_again);
    RUN(what_is_refused);
    return check_done();
}
