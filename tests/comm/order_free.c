/* Sums that do not depend on order: the same bits on any number of ranks, in any order of them, by several
 * algorithms and memories, for values of which ordinary sums lose nearly everything. Ranks are threads. */
#include <pthread.h>
#include <stdlib.h>

#include "coll/algos/linear.h"
#include "coll/algos/ring.h"
#include "coll/algos/snake.h"
#include "coll/coll.h"
#include "coll/comm/order_free.h"
#include "coll/transports/threads.h"
#include "support/check.h"
#include "support/exact_reference.h"
#include "support/heap.h"

enum { MOST = 8, COUNT = 2200, ALL = 1000 };

static const coll_algorithm *const algorithms[] = {
    NULL, &coll_ring_allreduce, &coll_recursive_doubling_allreduce, &coll_snake_allreduce};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* Elements of a vector, as bits. */
typedef union vector {
    uint64_t f64[COUNT];
    uint32_t f32[COUNT];
} vector;

/* One call, of all ranks. */
typedef struct call {
    size_t count, memory; /* bytes of memory */
    const coll_algorithm *algorithm;
    bool f64, in_place, to_root, whole; /* whole: the sum of all elements of all ranks */
    uint32_t p, root, of[MOST];         /* of[r]: whose values rank r has */
} call;

static call now;
static vector values[MOST], want;
static uint64_t all[ALL]; /* of a vector that is distributed over the ranks */
static uint32_t narrow[ALL];
static coll_threads *worlds[MOST + 1];

/* ---- ranks ---------------------------------------------------------------------------------- */

typedef struct rank {
    pthread_t thread;
    uint32_t r;
    coll_status status;
    vector in, out;
    uint64_t total; /* bits of an f64 */
    float total_f32;
} rank;

static rank ranks[MOST];

/* Where the part of a rank begins. */
static uint32_t begins(uint32_t r)
{
    return r == now.p ? ALL : r * r * ALL / (now.p * now.p + 1);
}

static void *work(void *arg)
{
    rank *me = (rank *)arg;
    const size_t bytes = now.count * (now.f64 ? 8 : 4);
    const coll_type type = now.f64 ? COLL_F64 : COLL_F32;
    const bool in_place = now.in_place && (!now.to_root || me->r == now.root);
    unsigned char *memory = malloc(now.memory + 4) /* which is not aligned, on some ranks */,
                  *start = memory + me->r % 2 * 4;
    const void *in = in_place ? COLL_IN_PLACE : (void *)&me->in;
    coll_comm comm;
    memcpy(&me->in, &values[now.of[me->r]], sizeof me->in);
    memset(&me->out, 0xA5, sizeof me->out);
    if (in_place)
        memcpy(&me->out, &me->in, bytes);
    me->status = coll_comm_init(&comm, &coll_threads_transport,
                                coll_threads_rank(worlds[now.p], me->r), me->r, now.p, NULL, 0);
    if (me->status == COLL_OK)
        me->status = coll_comm_set_allocator(&comm, &heap);
    if (me->status == COLL_OK && now.algorithm)
        me->status = coll_comm_set_algorithm(&comm, COLL_ALLREDUCE, now.algorithm, NULL);
    if (me->status == COLL_OK && now.whole) {
        const uint32_t first = begins(me->r);
        const void *mine = now.f64 ? (const void *)(all + first) : narrow + first;
        void *total = now.f64 ? (void *)&me->total : &me->total_f32;
        me->status = coll_order_free_sum(&comm, mine, begins(me->r + 1) - first, total, type);
    } else if (me->status == COLL_OK && now.to_root) {
        me->status = coll_order_free_reduce(&comm, in, me->r == now.root ? &me->out : NULL,
                                            now.count, type, now.root, start, now.memory);
    } else if (me->status == COLL_OK) {
        me->status =
            coll_order_free_allreduce(&comm, in, &me->out, now.count, type, start, now.memory);
    }
    (void)coll_comm_free(&comm);
    free(memory);
    return NULL;
}

/* Makes the call; all ranks end with the status. */
static void make(coll_status status)
{
    for (uint32_t r = 0; r < now.p; r++) {
        ranks[r].r = r;
        CHECK(pthread_create(&ranks[r].thread, NULL, work, &ranks[r]) == 0);
    }
    for (uint32_t r = 0; r < now.p; r++) {
        pthread_join(ranks[r].thread, NULL);
        CHECK_STATUS(ranks[r].status, status);
    }
}

/* ---- vectors -------------------------------------------------------------------------------- */

/* Draws the values of p ranks, and works out what their sums are. `kind` REFERENCE_KINDS: of all kinds,
 * a hundred elements each. */
static void draw(uint32_t p, uint32_t kind)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t its = kind < REFERENCE_KINDS ? kind : i / 100 % (REFERENCE_KINDS + 1);
        reference right;
        reference_begin(&right, now.f64);
        for (uint32_t r = 0; r < p; r++) {
            const uint64_t before = r == 0    ? 0
                                    : now.f64 ? values[r - 1].f64[i]
                                              : values[r - 1].f32[i];
            const uint64_t x =
                its == REFERENCE_KINDS ? 0 : reference_value(now.f64, its, before);
            if (now.f64)
                values[r].f64[i] = x;
            else
                values[r].f32[i] = (uint32_t)x;
            reference_add(&right, x);
        }
        if (now.f64)
            want.f64[i] = reference_read(&right);
        else
            want.f32[i] = (uint32_t)reference_read(&right);
    }
}

static void shuffle(uint32_t p)
{
    for (uint32_t r = 0; r < p; r++)
        now.of[r] = r;
    for (uint32_t r = p; r > 1; r--) {
        const uint32_t k = chance(r), other = now.of[r - 1];
        now.of[r - 1] = now.of[k];
        now.of[k] = other;
    }
}

static void right(void)
{
    const size_t bytes = now.count * (now.f64 ? 8 : 4);
    vector untouched;
    memset(&untouched, 0xA5, sizeof untouched);
    for (uint32_t r = 0; r < now.p; r++) {
        const bool mine = !now.to_root || r == now.root;
        const unsigned char *out = (const unsigned char *)&ranks[r].out;
        CHECK(memcmp(out, mine ? (void *)&want : (void *)&untouched, bytes) == 0);
        CHECK(memcmp(out + bytes, (unsigned char *)&untouched + bytes, sizeof want - bytes) ==
              0);
        CHECK(memcmp(&ranks[r].in, &values[now.of[r]], sizeof want) == 0);
    }
}

static void vectors(bool f64)
{
    static const size_t counts[] = {1, 4, 5, 64, 65, 640, COUNT};
    const coll_type type = f64 ? COLL_F64 : COLL_F32;
    now.f64 = f64;
    now.whole = false;
    for (now.p = 1; now.p <= MOST; now.p++)
        for (uint32_t kind = 0; kind <= REFERENCE_KINDS; kind++) {
            draw(now.p, kind);
            const bool every = kind == REFERENCE_KINDS; /* algorithm */
            for (uint32_t turn = 0; turn < (every ? ALGORITHMS : 2); turn++) {
                now.algorithm = algorithms[(turn + kind) % ALGORITHMS];
                now.count = counts[chance(7)];
                now.memory = coll_order_free_bytes(now.count, type);
                now.memory += chance(2) ? 0 : chance(1 << 17);
                now.to_root = turn == 1;
                now.root = chance(now.p);
                now.in_place = chance(2) != 0;
                shuffle(now.p);
                make(COLL_OK);
                right();
            }
            if (kind < 7)
                continue;
            now.count = COUNT; /* the whole of it, by two collectives where it pays */
            now.to_root = false;
            now.algorithm = NULL;
            now.memory = (size_t)1 << 18;
            make(COLL_OK);
            right();
        }
}

TEST(vectors_of_f32)
{
    vectors(false);
}
TEST(vectors_of_f64)
{
    vectors(true);
}

/* ---- one sum -------------------------------------------------------------------------------- */

/* However a vector is distributed, its sum is the same. */
TEST(distributed)
{
    now.whole = true;
    for (uint32_t turn = 0; turn < 2 * REFERENCE_KINDS; turn++) {
        reference right;
        uint64_t total;
        now.f64 = turn % 2 != 0;
        reference_begin(&right, now.f64);
        for (uint32_t i = 0; i < ALL; i++) {
            all[i] = reference_value(now.f64, turn / 2, i % 2 ? all[i - 1] : 0);
            narrow[i] = (uint32_t)all[i];
            reference_add(&right, all[i]);
        }
        total = reference_read(&right);
        for (now.p = 1; now.p <= MOST; now.p++) {
            now.algorithm = algorithms[chance(ALGORITHMS)];
            make(COLL_OK);
            for (uint32_t r = 0; r < now.p; r++)
                CHECK_EQ(now.f64 ? ranks[r].total : bits_of_f32(ranks[r].total_f32), total);
        }
    }
    now.whole = false;
}

/* ---- digits --------------------------------------------------------------------------------- */

/* Digits of the greatest values of as many ranks as may be stay within a word, with room for a carry. */
TEST(room)
{
    for (uint32_t p = 1; p <= COLL_I_ORDER_FREE_RANKS; p = p < 100 ? p + 1 : p * 2 - p % 2) {
        const uint32_t bits = coll_i_order_free_bits(p);
        CHECK(bits >= 42 && bits <= 62);
        CHECK((((uint64_t)1 << bits) - 1) <= ((uint64_t)1 << 62) / p);
    }
    CHECK_EQ(coll_order_free_bytes(1, COLL_I64), 0);
    CHECK(coll_order_free_bytes(SIZE_MAX, COLL_F64) <= 32768);
}

/* Many ranks: each has the same values, and the sum of digits is a product. */
TEST(many_ranks)
{
    const uint32_t p = COLL_I_ORDER_FREE_RANKS;
    const coll_i_float_format format = coll_i_order_free_format(COLL_F64);
    const coll_i_order_free_loops *loops = coll_i_order_free_loops_of(true);
    static int64_t word[64 * 52];
    uint64_t x[64], out[64];
    for (uint32_t kind = 0; kind < REFERENCE_KINDS; kind++) {
        coll_i_block_window window;
        coll_i_block_digits digits;
        for (uint32_t i = 0; i < 64; i++)
            x[i] = reference_value(true, kind, 0);
        coll_i_order_free_window_f64(&window, loops, x, 64);
        digits = coll_i_order_free_digits(&window, coll_i_order_free_bits(p), format);
        CHECK(coll_i_order_free_planes(&digits) <= 51);
        coll_i_order_free_write_f64(loops, &digits, x, 64, word);
        for (size_t k = 0; k < 64 * coll_i_order_free_planes(&digits); k++)
            word[k] *= p;
        coll_i_order_free_read_f64(loops, &digits, p, word, 64, out);
        for (uint32_t i = 0; i < 64; i++) {
            reference right;
            reference_begin(&right, true);
            reference_add(&right, x[i]);
            for (uint32_t k = 0; k < REFERENCE_BITS; k++)
                right.occurs[k] *= p;
            CHECK_EQ(out[i], reference_read(&right));
        }
    }
}

/* ---- mistakes ------------------------------------------------------------------------------- */

TEST(refused)
{
    unsigned char memory[64];
    double x = 1;
    coll_comm comm;
    now.f64 = true;
    now.whole = now.to_root = false;
    now.p = 3;
    now.count = 5;
    now.algorithm = NULL;
    shuffle(now.p);
    now.memory = coll_order_free_bytes(5, COLL_F64) - 1;
    make(COLL_ERR_MEMORY);
    now.memory++;
    now.to_root = true;
    now.root = 3;
    make(COLL_ERR_ROOT);
    now.root = 0;
    now.to_root = false;
    CHECK_STATUS(coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(worlds[1], 0),
                                0, 1, NULL, 0),
                 COLL_OK);
    CHECK_STATUS(coll_order_free_allreduce(NULL, &x, &x, 1, COLL_F64, memory, 64),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_order_free_allreduce(&comm, &x, &x, 1, COLL_I64, memory, 64),
                 COLL_ERR_TYPE);
    CHECK_STATUS(coll_order_free_sum(&comm, &x, 1, &x, COLL_F16), COLL_ERR_TYPE);
    CHECK_STATUS(coll_order_free_sum(NULL, &x, 1, &x, COLL_F64), COLL_ERR_NULL);
    CHECK_STATUS(coll_order_free_allreduce(&comm, NULL, NULL, 0, COLL_F64, memory, 64),
                 COLL_OK);
    CHECK_STATUS(coll_order_free_allreduce(&comm, NULL, &x, 1, COLL_F64, memory, 1 << 16),
                 COLL_ERR_NULL); /* ends the communicator */
    CHECK_STATUS(coll_barrier(&comm), COLL_ERR_NULL);
    (void)coll_comm_free(&comm);
}

int main(void)
{
    for (uint32_t p = 1; p <= MOST; p++)
        worlds[p] = coll_threads_create(p);
    RUN(vectors_of_f32);
    RUN(vectors_of_f64);
    RUN(distributed);
    RUN(room);
    RUN(many_ranks);
    RUN(refused);
    for (uint32_t p = 1; p <= MOST; p++)
        coll_threads_destroy(worlds[p]);
    return check_done();
}
