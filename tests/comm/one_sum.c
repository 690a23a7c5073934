/* Reductions in one order: the same bits as a recursion over the operands, however these are distributed over any
 * number of ranks, for short vectors and long ones; on threads, and, by the merging alone, up to 4,096 ranks. */
#include <pthread.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "coll/comm/one_sum.h"
#include "coll/transports/threads.h"
#include "support/chance.h"
#include "support/check.h"
#include "support/heap.h"

enum { MOST = 8, OPERANDS = 37, COUNT = 1500, MANY = 5000, RANKS = 4096 };

typedef enum which { ALLREDUCE, REDUCE, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, WHICH } which;

static float operand[OPERANDS][COUNT]; /* of sums that lose most of their digits */

/* One call, of all ranks. */
static struct {
    which which;
    uint32_t p, root;
    size_t counts[MOST], first[MOST + 1]; /* operands of each, and before it */
    bool one_each;                        /* counts is NULL */
    size_t count;                         /* of a vector, or of a block */
    size_t missing;                       /* bytes of memory */
    coll_operator op;
    coll_type type;
} now;
static coll_threads *worlds[MOST + 1];

typedef struct rank {
    pthread_t thread;
    uint32_t r;
    coll_status status;
    float out[COUNT];
} rank;
static rank ranks[MOST];

static coll_status call(rank *me, coll_comm *comm, const float *in, void *memory, size_t bytes)
{
    const size_t *counts = now.one_each ? NULL : now.counts;
    switch (now.which) {
    case ALLREDUCE:
        return coll_one_sum_allreduce(comm, counts, in, me->out, now.count, now.type, now.op,
                                      memory, bytes);
    case REDUCE:
        return coll_one_sum_reduce(comm, counts, in, me->r == now.root ? me->out : NULL,
                                   now.count, now.type, now.op, now.root, memory, bytes);
    case REDUCE_SCATTER_BLOCK:
        return coll_one_sum_reduce_scatter_block(comm, counts, in, me->out, now.count, now.type,
                                                 now.op, memory, bytes);
    case SCAN:
        return coll_one_sum_scan(comm, counts, in, me->out, now.count, now.type, now.op, memory,
                                 bytes);
    default:
        return coll_one_sum_exscan(comm, counts, in, me->out, now.count, now.type, now.op,
                                   memory, bytes);
    }
}

/* Elements of a vector. */
static size_t extent(void)
{
    return now.count * (now.which == REDUCE_SCATTER_BLOCK ? now.p : 1);
}

static void *work(void *arg)
{
    rank *me = (rank *)arg;
    const size_t *counts = now.one_each ? NULL : now.counts;
    const size_t bytes = coll_one_sum_bytes(counts, now.p, extent(), COLL_F32) - now.missing;
    const size_t mine = now.counts[me->r], n = extent();
    unsigned char *memory = malloc(bytes + 4), *start = memory + me->r % 2 * 4;
    float *in = malloc((mine * n + 1) * sizeof *in);
    coll_comm comm;
    for (size_t k = 0; k < mine; k++)
        memcpy(in + k * n, operand[now.first[me->r] + k], n * sizeof *in);
    memset(me->out, 0xA5, sizeof me->out);
    me->status = coll_comm_init(&comm, &coll_threads_transport,
                                coll_threads_rank(worlds[now.p], me->r), me->r, now.p, NULL, 0);
    if (me->status == COLL_OK)
        me->status = coll_comm_set_allocator(&comm, &heap);
    if (me->status == COLL_OK)
        me->status = call(me, &comm, in, start, bytes);
    (void)coll_comm_free(&comm);
    free(memory);
    free(in);
    return NULL;
}

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

/* ---- what is right ---------------------------------------------------------------------------------- */

/* Of element i of n > 0 operands from `first` on: the left part is the largest power of two that leaves a right one. Rounded
 * after each step, where registers have more digits, too. */
static float tree(size_t first, size_t n, size_t i)
{
    volatile float value;
    size_t left = 1;
    float a, b;
    if (n == 1)
        return operand[first][i];
    while (2 * left < n)
        left *= 2;
    a = tree(first, left, i);
    b = tree(first + left, n - left, i);
    value = now.op == COLL_SUM ? a + b : now.op == COLL_MAX ? (a > b ? a : b) : a * b;
    return value;
}

static void right(void)
{
    for (uint32_t r = 0; r < now.p; r++) {
        const size_t n = now.which == SCAN     ? now.first[r + 1]
                         : now.which == EXSCAN ? now.first[r]
                                               : now.first[now.p];
        const size_t skip = now.which == REDUCE_SCATTER_BLOCK ? r * now.count : 0;
        const bool mine = n > 0 && (now.which != REDUCE || r == now.root);
        float want[COUNT];
        memset(want, 0xA5, sizeof want);
        for (size_t i = 0; i < now.count && mine; i++)
            want[i] = tree(0, n, skip + i);
        CHECK(memcmp(ranks[r].out, want, sizeof want) == 0);
    }
}

/* ---- cases ------------------------------------------------------------------------------------------- */

static void distribute(size_t operands)
{
    memset(now.counts, 0, sizeof now.counts);
    for (size_t k = 0; k < operands; k++)
        now.counts[now.one_each ? k : chance(now.p)]++;
    for (uint32_t r = 0; r < now.p; r++)
        now.first[r + 1] = now.first[r] + now.counts[r];
}

/* So many a rank. */
static void share(size_t each)
{
    distribute(0);
    for (uint32_t r = 0; r < now.p; r++) {
        now.counts[r] = each;
        now.first[r + 1] = now.first[r] + each;
    }
}

static void on_threads(void)
{
    static const size_t operands[] = {1, 2, 5, 8, 16, OPERANDS},
                        counts[] = {0, 1, 7, 125, 1400};
    for (now.p = 1; now.p <= MOST; now.p++)
        for (now.which = 0; now.which < WHICH; now.which++)
            for (size_t n = 0; n < 9; n++)
                for (size_t c = 0; c < 5; c++) {
                    now.one_each = n == 6;
                    now.count = counts[c];
                    if (now.which == REDUCE_SCATTER_BLOCK)
                        now.count = (now.count + now.p - 1) / now.p;
                    now.root = chance(now.p);
                    now.op = c == 3 ? COLL_PROD : c == 2 ? COLL_MAX : COLL_SUM;
                    if (n > 6) /* blocks of one size: 2 and 4 operands */
                        share(n == 7 ? 2 : 4);
                    else
                        distribute(now.one_each ? now.p : operands[n]);
                    make(COLL_OK);
                    right();
                }
    now.one_each = false;
    now.op = COLL_SUM;
}

/* The order matters: from left to right other bits come out, in most elements. */
static void orders_differ(void)
{
    size_t differ = 0;
    now.op = COLL_SUM;
    for (size_t i = 0; i < COUNT; i++) {
        float sum = operand[0][i];
        for (size_t k = 1; k < OPERANDS; k++)
            sum += operand[k][i];
        differ += sum != tree(0, OPERANDS, i);
    }
    CHECK(differ > COUNT / 2);
}

/* ---- ranks that fold ------------------------------------------------------------------------------------- */

/* A name for a ⊕ b of two that have names. */
static uint64_t joined(uint64_t a, uint64_t b)
{
    return (a * 0x9E3779B97F4A7C15u ^ b) * 0xD1342543DE82EF95u + 1;
}

static uint64_t tree_name(uint32_t first, uint32_t n)
{
    uint32_t left = 1;
    if (n == 1)
        return first + 1;
    while (2 * left < n)
        left *= 2;
    return joined(tree_name(first, left), tree_name(first + left, n - left));
}

/* What recursive doubling and halving combine, of ranks that fold to a core: the tree where it is said that they
 * do, and nowhere else. */
static void folds(void)
{
    static uint64_t name[RANKS];
    for (uint32_t p = 1; p <= RANKS; p++) {
        const coll_fold fold = coll_fold_of(p, &coll_fast_divisor_two);
        for (uint32_t i = 0; i < fold.core; i++) {
            const uint32_t first = coll_fold_first(&fold, i); /* of the pair, if there is one */
            const uint32_t last = coll_fold_rank(&fold, i);
            name[i] = first < last ? joined(first + 1, last + 1) : last + (uint64_t)1;
        }
        for (uint32_t n = fold.core; n > 1; n /= 2)
            for (uint32_t i = 0; i < n / 2; i++)
                name[i] = joined(name[2 * i], name[2 * i + 1]);
        CHECK_EQ(name[0] == tree_name(0, p), coll_i_one_sum_folds(p));
    }
}

/* Of beside_others, one of each rank: checks are not for threads. */
static bool well[2];
static uint32_t entries_of_doubling[2], entries_of_linear[2];

/* Calls in one order beside others on a communicator whose caller chose algorithms of another order. */
static void *beside(void *arg)
{
    static float out[2][COUNT], plain[2][COUNT];
    static unsigned char cached[2][COLL_CACHE_BYTES(4)];
    const uint32_t r = ((rank *)arg)->r;
    const size_t bytes = coll_one_sum_bytes(NULL, 2, COUNT, COLL_F32);
    unsigned char *memory = malloc(bytes);
    coll_comm comm;
    well[r] =
        memory &&
        coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(worlds[2], r), r, 2,
                       NULL, 0) == COLL_OK &&
        coll_comm_set_allocator(&comm, &heap) == COLL_OK &&
        coll_comm_set_cache(&comm, cached[r], sizeof cached[r]) == COLL_OK &&
        coll_comm_set_algorithm(&comm, COLL_ALLREDUCE, &coll_linear_allreduce, NULL) == COLL_OK;
    for (int i = 0; i < 3 && well[r]; i++)
        well[r] =
            coll_one_sum_allreduce(&comm, NULL, operand[r], out[r], COUNT, COLL_F32, COLL_SUM,
                                   memory, bytes) == COLL_OK &&
            comm.choice[COLL_ALLREDUCE].algorithm == &coll_linear_allreduce &&
            coll_allreduce(&comm, operand[r], plain[r], COUNT, COLL_F32, COLL_SUM) == COLL_OK &&
            memcmp(out[r], plain[r], sizeof out[r]) == 0;
    for (uint32_t i = 0; well[r] && i < comm.cache.n; i++)
        if (comm.cache.entries[i].key.comm == &comm) {
            const coll_algorithm *is = comm.cache.entries[i].call.plan.algorithm;
            entries_of_doubling[r] += is == &coll_recursive_doubling_allreduce;
            entries_of_linear[r] += is == &coll_linear_allreduce;
        }
    if (well[r])
        (void)coll_comm_free(&comm);
    free(memory);
    return NULL;
}

static void beside_others(void)
{
    pthread_t thread[2];
    for (uint32_t r = 0; r < 2; r++) {
        ranks[r].r = r;
        CHECK(pthread_create(&thread[r], NULL, beside, &ranks[r]) == 0);
    }
    for (uint32_t r = 0; r < 2; r++)
        pthread_join(thread[r], NULL);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK(well[r]);
        CHECK_EQ(entries_of_doubling[r], 1); /* each has an entry of its own */
        CHECK_EQ(entries_of_linear[r], 1);
    }
}

/* Many ranks, without messages: each merges its own, then all blocks are merged. */
static void on_many_ranks(void)
{
    static float value[MANY], blocks[RANKS * 64], out, first_out;
    static size_t counts[RANKS];
    static unsigned char room[64 * sizeof(float)];
    coll_comm comm;
    coll_i_one_sum_call it;
    memset(&comm, 0, sizeof comm);
    memset(&it, 0, sizeof it);
    CHECK_STATUS(coll_op_builtin(&it.op, COLL_SUM, COLL_F32), COLL_OK);
    it.comm = &comm;
    it.counts = counts;
    it.count = 1;
    it.elem_bytes = sizeof(float);
    it.room = room;
    it.piece = sizeof(float);
    it.parts = (unsigned char *)blocks;
    for (uint32_t i = 0; i < MANY; i++)
        value[i] = ((float)chance(1 << 24) - (1 << 23)) / (float)(1u << chance(24));
    for (uint32_t p = 1; p <= RANKS; p = p < 70                               ? p + 1
                                         : p * 9 / 8 + 1 > RANKS && p < RANKS ? RANKS
                                                                              : p * 9 / 8 + 1) {
        uint64_t operands = 0, all = 0;
        size_t at = 0;
        comm.p = p;
        memset(counts, 0, sizeof counts);
        for (uint32_t i = 0; i < MANY; i++)
            counts[chance(p)]++;
        for (uint32_t r = 0; r < p; r++) {
            comm.rank = r;
            CHECK(coll_i_one_sum_count(counts, p, r, &it.first, &operands, &all));
            CHECK_EQ(operands, MANY);
            it.in = (const unsigned char *)(value + it.first);
            coll_i_one_sum_own(&it, 0, 1, (unsigned char *)(blocks + at));
            at += coll_i_one_sum_blocks(it.first, counts[r]);
        }
        CHECK_EQ(at, all);
        coll_i_one_sum_merge(&it, 1, 0, 1, COLL_I_ONE_SUM_ALL, 0, (unsigned char *)&out);
        if (p == 1)
            first_out = out;
        CHECK(memcmp(&out, &first_out, sizeof out) == 0);
    }
}

static void errors(void)
{
    const uint64_t half = (uint64_t)1 << 47; /* of what there may be; 32 bits cannot say it */
    const size_t large[2] = {(size_t)half, (size_t)half}, none[2] = {0, 0};
    now.p = 2;
    now.which = REDUCE;
    now.count = 9;
    now.root = 0;
    distribute(3);
    now.op = COLL_BAND;
    make(COLL_ERR_OP);
    now.op = COLL_SUM;
    now.type = COLL_TYPES;
    make(COLL_ERR_TYPE);
    now.type = COLL_F32;
    now.missing = 1;
    make(COLL_ERR_MEMORY);
    now.missing = 0;
    now.root = 2;
    make(COLL_ERR_ROOT);
    now.root = 0;
    distribute(0);
    make(COLL_ERR_SIZE);
    if (sizeof(size_t) > 4)
        CHECK_EQ(coll_one_sum_bytes(large, 2, 1, COLL_F32), 0);
    CHECK_EQ(coll_one_sum_bytes(NULL, 2, SIZE_MAX / 2, COLL_F32), 0);
    CHECK_EQ(coll_one_sum_bytes(NULL, 2, 1, COLL_TYPES), 0);
    CHECK(coll_one_sum_bytes(none, 2, 1, COLL_F32) > 0);
    CHECK_STATUS(coll_one_sum_allreduce(NULL, NULL, NULL, NULL, 1, COLL_F32, COLL_SUM, NULL, 0),
                 COLL_ERR_NULL);
}

int main(void)
{
    for (uint32_t p = 1; p <= MOST; p++)
        CHECK((worlds[p] = coll_threads_create(p)) != NULL);
    for (size_t k = 0; k < OPERANDS; k++)
        for (size_t i = 0; i < COUNT; i++)
            operand[k][i] = ((float)chance(1 << 24) - (1 << 23)) / (float)(1u << chance(24));
    now.type = COLL_F32;
    orders_differ();
    on_threads();
    folds();
    beside_others();
    on_many_ranks();
    errors();
    for (uint32_t p = 1; p <= MOST; p++)
        coll_threads_destroy(worlds[p]);
    return check_done();
}
