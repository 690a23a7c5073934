/* alltoallv whose sizes travel first: every byte, for all p up to 33, several radices, nodes and sizes, in place and
 * not, on threads; and what ends a call on one rank ends it on all. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/comm/multi_node.h"
#include "coll/comm/tuna_alltoallv.h"
#include "coll/transports/threads.h"
#include "support/chance.h"
#include "support/check.h"
#include "support/heap.h"

enum { MOST = 33, GUARD = 7 };

/* What goes wrong on one rank. */
typedef enum trouble {
    NOTHING,
    OTHER_SIZE, /* a block is longer than its receiver says */
    NO_TABLE,
    NO_MEMORY, /* its arena has no room for the words … */
    NO_ROOM,   /* … or for the blocks */
    GIVEN_UP,
    NO_BUFFER,
    TROUBLES
} trouble;

static struct {
    uint32_t p, ppn, intra, inter, victim;
    bool in_place, tagless;
    int sizes;
    uint64_t seed;
    trouble trouble;
    size_t missing;
} now;

typedef struct rank {
    pthread_t thread;
    uint32_t r;
    coll_status status, later;
    bool right, well; /* the bytes; all else that was asked for */
} rank;
static rank ranks[MOST];
static coll_threads *world;

static size_t size_of(uint32_t from, uint32_t to)
{
    const uint32_t low = now.in_place && from > to ? to : from,
                   high = now.in_place && from > to ? from : to;
    uint64_t seed = now.seed + low * MOST + high;
    switch (now.sizes) {
    case 0:
        return 3;
    case 1:
        return 0;
    case 4:
        return 100;
    case 2:
        return low % 5 == 0 && high % 3 == 1 ? 200 : 0;
    default:
        return chance_of(&seed, 2) ? 0 : chance_of(&seed, 40);
    }
}

static uint16_t element(uint32_t from, uint32_t to, size_t i)
{
    return (uint16_t)(from * 977 + to * 31 + i * 7 + 1);
}

/* A rank's tables and buffers. */
typedef struct buffers {
    size_t in_counts[MOST], in_displs[MOST], out_counts[MOST], out_displs[MOST];
    size_t in_n, out_n;
    uint16_t *in, *out, *want;
} buffers;

static void fill(buffers *b, uint32_t r)
{
    b->in_n = b->out_n = GUARD;
    for (uint32_t k = 0; k < now.p; k++) {
        const uint32_t i = now.p - 1 - k; /* IN lies the other way round */
        b->in_counts[i] = size_of(r, i);
        b->in_displs[i] = b->in_n;
        b->in_n += b->in_counts[i] + k % 2;
        b->out_counts[k] = size_of(k, r);
        b->out_displs[k] = b->out_n;
        b->out_n += b->out_counts[k] + GUARD;
    }
    b->in = malloc(b->in_n * sizeof *b->in);
    b->out = malloc(b->out_n * sizeof *b->out);
    b->want = malloc(b->out_n * sizeof *b->want);
    memset(b->in, 0x5A, b->in_n * sizeof *b->in);
    memset(b->out, 0xA5, b->out_n * sizeof *b->out);
    memset(b->want, 0xA5, b->out_n * sizeof *b->want);
    for (uint32_t k = 0; k < now.p; k++) {
        for (size_t i = 0; i < b->in_counts[k]; i++)
            b->in[b->in_displs[k] + i] = element(r, k, i);
        for (size_t i = 0; i < b->out_counts[k]; i++) {
            b->want[b->out_displs[k] + i] = element(k, r, i);
            if (now.in_place)
                b->out[b->out_displs[k] + i] = element(r, k, i);
        }
    }
}

static bool right(const buffers *b)
{
    return memcmp(b->out, b->want, b->out_n * sizeof *b->out) == 0;
}

static coll_status call(coll_comm *comm, buffers *b, void *memory, size_t bytes)
{
    return coll_tuna_alltoallv(comm, now.in_place ? COLL_IN_PLACE : b->in,
                               now.in_place ? NULL : b->in_counts,
                               now.in_place ? NULL : b->in_displs, b->out, b->out_counts,
                               b->out_displs, COLL_U16, now.intra, now.inter, memory, bytes);
}

static void spoil(coll_comm *comm, buffers *b)
{
    switch (now.trouble) {
    case OTHER_SIZE:
        b->out_counts[(now.victim + 1) % now.p]++;
        break;
    case GIVEN_UP:
        (void)coll_comm_abort(comm, COLL_ERR_FORMAT);
        break;
    default:
        break;
    }
}

static void *work(void *arg)
{
    static const size_t rooms[TROUBLES] = {[NO_MEMORY] = 16, [NO_ROOM] = 600};
    rank *me = (rank *)arg;
    const bool spoiled = me->r == now.victim && now.trouble != NOTHING;
    const bool small = spoiled && rooms[now.trouble] > 0;
    coll_transport transport = coll_threads_transport;
    static unsigned char arenas[MOST][4096];
    unsigned char cache[COLL_CACHE_BYTES(4)];
    coll_nodes nodes;
    coll_comm comm;
    buffers b;
    void *memory;
    size_t bytes;
    me->well = true;
    fill(&b, me->r);
    if (now.tagless)
        transport.tags = 0;
    me->status =
        coll_comm_init(&comm, &transport, coll_threads_rank(world, me->r), me->r, now.p,
                       small ? arenas[me->r] : NULL, small ? rooms[now.trouble] : 0);
    me->well &= me->status == COLL_OK;
    if (!small)
        me->well &= coll_comm_set_allocator(&comm, &heap) == COLL_OK;
    me->well &= coll_comm_set_cache(&comm, cache, sizeof cache) == COLL_OK;
    coll_nodes_even(&nodes, now.p, now.ppn);
    if (now.ppn < now.p)
        me->well &= coll_comm_nodes(&comm, &nodes) == COLL_OK;
    bytes = coll_tuna_alltoallv_bytes(&comm, now.intra, now.inter);
    me->well &= bytes > 0;
    memory = malloc(bytes + 1);
    if (spoiled)
        spoil(&comm, &b);
    if (spoiled && now.trouble == NO_TABLE)
        me->status =
            coll_tuna_alltoallv(&comm, b.in, NULL, b.in_displs, b.out, b.out_counts,
                                b.out_displs, COLL_U16, now.intra, now.inter, memory, bytes);
    else if (spoiled && now.trouble == NO_BUFFER)
        me->status =
            coll_tuna_alltoallv(&comm, b.in, b.in_counts, b.in_displs, NULL, b.out_counts,
                                b.out_displs, COLL_U16, now.intra, now.inter, memory, bytes);
    else
        me->status = call(&comm, &b, (unsigned char *)memory + me->r % 2, bytes - now.missing);
    me->right = right(&b);
    me->later = COLL_OK;
    if (me->status == COLL_OK &&
        now.trouble == NOTHING) { /* the same again, by whatever the communicator takes */
        for (size_t i = 0; i < b.out_n && !now.in_place; i++)
            b.out[i] = 0xA5A5;
        me->later = coll_alltoallv(&comm, now.in_place ? COLL_IN_PLACE : b.in, b.in_counts,
                                   b.in_displs, b.out, b.out_counts, b.out_displs, COLL_U16);
        if (now.in_place) /* there and back */
            me->later = call(&comm, &b, memory, bytes);
        me->well &= me->later == COLL_OK;
        me->right = me->right && right(&b);
        me->well &= comm.builder == NULL || now.ppn < now.p;
        me->well &= comm.tags.first == NULL && comm.arena.units.first == NULL;
        me->well &= coll_barrier(&comm) == COLL_OK;
    } else {
        me->later = now.missing ? COLL_OK : coll_barrier(&comm);
    }
    (void)coll_comm_free(&comm);
    free(memory);
    free(b.in);
    free(b.out);
    free(b.want);
    return NULL;
}

static void run_ranks(void)
{
    now.seed++;
    CHECK((world = coll_threads_create(now.p)) != NULL);
    for (uint32_t r = 0; r < now.p; r++) {
        ranks[r].r = r;
        CHECK(pthread_create(&ranks[r].thread, NULL, work, &ranks[r]) == 0);
    }
    for (uint32_t r = 0; r < now.p; r++)
        pthread_join(ranks[r].thread, NULL);
    for (uint32_t r = 0; r < now.p; r++)
        CHECK(ranks[r].well);
    coll_threads_destroy(world);
}

static void case_is_right(void)
{
    run_ranks();
    for (uint32_t r = 0; r < now.p; r++)
        if (!CHECK(ranks[r].status == COLL_OK && ranks[r].right))
            printf(
                "    p = %u, %u a node, radices %u, %u, sizes %d, in place %d, rank %u: %s\n",
                (unsigned)now.p, (unsigned)now.ppn, (unsigned)now.intra, (unsigned)now.inter,
                now.sizes, now.in_place, (unsigned)r, coll_status_text(ranks[r].status));
}

TEST(every_byte_arrives)
{
    static const uint32_t radices[] = {2, 0, 3, 40};
    for (now.p = 1; now.p <= MOST; now.p++)
        for (uint32_t i = 0; i < 8; i++) {
            if (now.p > 9 && (now.p + i) % 4 != 0)
                continue;
            now.intra = radices[i % 4];
            now.inter = radices[(i / 2 + now.p) % 4];
            now.ppn = i % 2 ? now.p : 1 + (now.p - 1) / (1 + i % 3);
            now.sizes = (int)((i + now.p) % 4);
            now.in_place = (i + now.p / 4) % 3 == 0;
            now.tagless = i == 5;
            case_is_right();
        }
    now.tagless = false;
}

/* What one rank finds, and what the others are told. */
TEST(trouble_of_one_rank_ends_all)
{
    static const coll_status errors[TROUBLES] = {
        COLL_OK,         COLL_ERR_SIZE,   COLL_ERR_COUNTS, COLL_ERR_MEMORY,
        COLL_ERR_MEMORY, COLL_ERR_FORMAT, COLL_ERR_NULL};
    now.in_place = false;
    now.sizes = 4;
    for (now.trouble = OTHER_SIZE; now.trouble < TROUBLES; now.trouble++)
        for (now.p = 4; now.p <= 8; now.p++) {
            now.ppn = now.p % 2 ? now.p : 2;
            now.intra = now.inter = 2;
            now.victim = chance(now.p);
            run_ranks();
            for (uint32_t r = 0; r < now.p; r++) {
                if (r == now.victim)
                    CHECK_STATUS(ranks[r].status, errors[now.trouble]);
                else if (ranks[r].status != COLL_OK) /* it was through before it was told */
                    CHECK_STATUS(ranks[r].status, COLL_ERR_PEER);
                if (r == now.victim || ranks[r].status != COLL_OK)
                    CHECK(ranks[r].later < 0);
                CHECK(ranks[r].status != COLL_OK || ranks[r].right);
            }
        }
    now.trouble = NOTHING;
}

/* All find it, and may go on. */
TEST(what_all_ranks_find)
{
    coll_comm comm;
    size_t counts[1] = {1}, at[1] = {0};
    uint64_t memory[64];
    uint16_t in = 5, out = 0;
    now.p = 3;
    now.missing = 1;
    run_ranks();
    now.missing = 0;
    for (uint32_t r = 0; r < now.p; r++)
        CHECK_STATUS(ranks[r].status, COLL_ERR_MEMORY);
    CHECK((world = coll_threads_create(1)) != NULL);
    CHECK_STATUS(coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, 0), 0,
                                1, NULL, 0),
                 COLL_OK);
    CHECK_STATUS(coll_comm_set_allocator(&comm, &heap), COLL_OK);
    CHECK_EQ(coll_tuna_alltoallv_bytes(&comm, 1, 2), 0);
    CHECK_EQ(coll_tuna_alltoallv_bytes(NULL, 2, 2), 0);
    CHECK_STATUS(coll_tuna_alltoallv(NULL, &in, counts, at, &out, counts, at, COLL_U16, 2, 2,
                                     memory, sizeof memory),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_tuna_alltoallv(&comm, &in, counts, at, &out, counts, at, COLL_U16, 1, 2,
                                     memory, sizeof memory),
                 COLL_ERR_PARAM);
    CHECK_STATUS(coll_tuna_alltoallv(&comm, &in, counts, at, &out, counts, at, COLL_TYPES, 2, 2,
                                     memory, sizeof memory),
                 COLL_ERR_TYPE);
    CHECK_STATUS(coll_tuna_alltoallv(&comm, &in, counts, at, &out, counts, at, COLL_U16, 2, 2,
                                     memory, sizeof memory),
                 COLL_OK);
    CHECK_EQ(out, 5);
    CHECK_STATUS(coll_tuna_alltoallv(&comm, &in, counts, at, COLL_IN_PLACE, counts, at,
                                     COLL_U16, 2, 2, memory, sizeof memory),
                 COLL_ERR_IN_PLACE);
    CHECK_STATUS(coll_tuna_alltoallv(&comm, &in, counts, at, &out, counts, at, COLL_U16, 2, 2,
                                     memory, sizeof memory),
                 COLL_ERR_IN_PLACE); /* it has failed */
    (void)coll_comm_free(&comm);
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(every_byte_arrives);
    RUN(trouble_of_one_rank_ends_all);
    RUN(what_all_ranks_find);
    return check_done();
}
