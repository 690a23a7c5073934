/* bench/order_free.c — order-free sums of f64, and sums in one order, beside ordinary ones, over threads
 *
 *   cc -O3 -Iinclude bench/order_free.c -o order_free -lpthread && ./order_free > order_free.csv
 *   ./order_free 2 4          these numbers of ranks; usually 2 and 4
 *
 * `ordinary` is coll_allreduce with COLL_SUM, `order_free` is coll_order_free_allreduce with 256 KiB of
 * memory, `one_order` coll_one_sum_allreduce of one operand a rank, in microseconds a call of the slowest rank; `_times`
 * is how many of the first the others take.
 * Values: `near`, from 1 to 2 and of both signs; `uniform`, from 0 to 1, of which a few are small; `wide`,
 * over 200 binary orders. All are measured in turn, round by round; columns are medians. Rows of `one sum` add
 * a vector of so many bytes to one number, by a loop and an allreduce of 8 bytes, and by coll_order_free_sum.
 */
#include <pthread.h>

#include "coll/comm/one_sum.h"
#include "coll/comm/order_free.h"
#include "coll/transports/threads.h"

#include "bench.h"

enum { RANKS = 8, MOST = 1 << 22, MEMORY = 1 << 18, KINDS = 3, SIZES = 5 };
static const size_t sizes[SIZES] = {8, 1024, 32768, 1 << 18, MOST};
static const char *const kinds[KINDS] = {"near", "uniform", "wide"};
static const double round_ns = 4e6; /* a row is run for so long in a round */

static struct {
    uint32_t p;
    coll_threads *threads;
    pthread_barrier_t gate;
    double ns[RANKS];
} world;

typedef struct member {
    uint32_t rank;
    coll_comm comm;
    unsigned char cache[COLL_CACHE_BYTES(32)];
    double *in, *out, *memory;
    unsigned char *room; /* of one_order */
    size_t room_bytes;
} member;

typedef enum way { ORDINARY, ORDER_FREE, ONE_ORDER, WAYS } way;

static void stop(coll_status status)
{
    if (status < 0) {
        fprintf(stderr, "failed: %s\n", coll_status_text(status));
        exit(1);
    }
}

static void fill(double *x, size_t n, int kind, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const double unit = (double)bench_random(&seed) / 2147483648.0;
        const double sign = bench_random(&seed) % 2 ? 1 : -1;
        x[i] = kind == 1 ? unit : sign * (1 + unit);
        for (uint32_t k = kind == 2 ? bench_random(&seed) % 200 : 0; k > 0; k--)
            x[i] /= 2;
    }
}

static void call(member *m, way how, bool one, size_t n)
{
    if (one && how == ORDER_FREE) {
        stop(coll_order_free_sum(&m->comm, m->in, n, m->out, COLL_F64));
    } else if (one) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += m->in[i];
        stop(coll_allreduce(&m->comm, &sum, m->out, 1, COLL_F64, COLL_SUM));
    } else if (how == ONE_ORDER) {
        stop(coll_one_sum_allreduce(&m->comm, NULL, m->in, m->out, n, COLL_F64, COLL_SUM,
                                    m->room, m->room_bytes));
    } else if (how == ORDER_FREE) {
        stop(
            coll_order_free_allreduce(&m->comm, m->in, m->out, n, COLL_F64, m->memory, MEMORY));
    } else {
        stop(coll_allreduce(&m->comm, m->in, m->out, n, COLL_F64, COLL_SUM));
    }
}

/* Nanoseconds a call, of the slowest rank; on all ranks. */
static double run(member *m, way how, bool one, size_t n, size_t calls)
{
    double start, most = 0;
    stop(coll_barrier(&m->comm));
    start = bench_now();
    for (size_t i = 0; i < calls; i++)
        call(m, how, one, n);
    world.ns[m->rank] = (bench_now() - start) / (double)calls;
    pthread_barrier_wait(&world.gate);
    for (uint32_t r = 0; r < world.p; r++)
        most = world.ns[r] > most ? world.ns[r] : most;
    pthread_barrier_wait(&world.gate);
    return most;
}

static void row(member *m, int kind, bool one, size_t bytes)
{
    const size_t n = bytes / sizeof(double);
    const way ways = one ? ONE_ORDER : WAYS;
    double ns[WAYS][BENCH_ROUNDS], median[WAYS];
    size_t calls[WAYS];
    fill(m->in, n, kind, m->rank + 1);
    for (way w = 0; w < ways; w++) {
        const double first = run(m, w, one, n, 2);
        calls[w] = first > round_ns ? 1 : (size_t)(round_ns / first);
    }
    for (int round = 0; round < BENCH_ROUNDS; round++)
        for (way w = 0; w < ways; w++)
            ns[w][round] = run(m, w, one, n, calls[w]);
    for (way w = 0; w < ways; w++)
        median[w] = bench_median(ns[w], BENCH_ROUNDS) / 1e3;
    if (m->rank > 0)
        return;
    printf("%u,%s,%s,%zu,%.2f,%.2f,%.2f,", world.p, one ? "one sum" : "vector", kinds[kind],
           bytes, median[ORDINARY], median[ORDER_FREE], median[ORDER_FREE] / median[ORDINARY]);
    if (!one)
        printf("%.2f,%.2f", median[ONE_ORDER], median[ONE_ORDER] / median[ORDINARY]);
    printf(one ? ",\n" : "\n");
}

static void *work(void *arg)
{
    member *m = (member *)arg;
    void *arena = bench_memory(4 * MOST);
    m->in = (double *)bench_memory(MOST);
    m->out = (double *)bench_memory(MOST);
    m->memory = (double *)bench_memory(MEMORY);
    m->room_bytes = coll_one_sum_bytes(NULL, world.p, MOST / sizeof(double), COLL_F64);
    m->room = (unsigned char *)bench_memory(m->room_bytes);
    stop(coll_comm_init(&m->comm, &coll_threads_transport,
                        coll_threads_rank(world.threads, m->rank), m->rank, world.p, arena,
                        4 * MOST));
    stop(coll_comm_set_cache(&m->comm, m->cache, sizeof m->cache));
    for (int kind = 0; kind < KINDS; kind++)
        for (int s = 0; s < SIZES; s++)
            row(m, kind, false, sizes[s]);
    for (int s = 0; s < SIZES; s++)
        row(m, 1, true, sizes[s]);
    stop(coll_comm_free(&m->comm));
    free(m->memory);
    free(m->room);
    free(m->out);
    free(m->in);
    free(arena);
    return NULL;
}

static void ranks(uint32_t p)
{
    static member members[RANKS];
    pthread_t thread[RANKS];
    world.p = p;
    world.threads = coll_threads_create(p);
    pthread_barrier_init(&world.gate, NULL, p);
    for (uint32_t r = 0; r < p; r++) {
        members[r].rank = r;
        if (pthread_create(&thread[r], NULL, work, &members[r]) != 0)
            exit(1);
    }
    for (uint32_t r = 0; r < p; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&world.gate);
    coll_threads_destroy(world.threads);
}

int main(int argc, char **argv)
{
    printf("ranks,what,values,bytes,ordinary_us,order_free_us,order_free_times,one_order_us,"
           "one_order_times\n");
    for (int i = 1; i < argc; i++) {
        const long p = strtol(argv[i], NULL, 10);
        if (p < 1 || p > RANKS) {
            fprintf(stderr, "order_free: ranks are 1 to %d\n", RANKS);
            return 1;
        }
        ranks((uint32_t)p);
    }
    if (argc < 2) {
        ranks(2);
        ranks(4);
    }
    return 0;
}
