/* bench/by_hand.c — what the library costs: a transport's allreduce beside the same schedule written by hand over the
 * same interface
 *
 *   coll launch -n 4 build/bench/by_hand tcp       transports/tcp.h beside sockets that do not block; ucx: ucx.h
 *                                                  beside UCX's tagged calls; ofi: ofi.h beside libfabric's
 *
 * Allreduce of 8 bytes and of 1 MiB, of floats, for any number of ranks whose schedule is known here: recursive
 * doubling of powers of two, and the ring. What is written by hand takes the rounds of the algorithm that the rules
 * choose, over connections of its own that were made before; it combines by the same function, and waits as politely.
 * The two take turns in the same processes; a turn's time is the mean of its calls on the slowest rank. Rank 0 prints
 * CSV: medians over the turns, and coll's time through that by hand, of the turns' ratios the median.
 */
#define _GNU_SOURCE
#include "coll/coll.h"
#include "coll/transports/bootstrap.h"
#if COLL_WITH_UCX
#include "by_hand/tagged_ucx.h"
#include "coll/transports/ucx.h"
#endif
#if COLL_WITH_OFI
#include "by_hand/tagged_ofi.h"
#include "coll/transports/ofi.h"
#endif
#include "by_hand/sockets.h"
#include "peers/board.h"

enum { TURNS = 31, LONGEST = 1 << 20, SPARE = 1 << 16 };

static struct {
    hand hand;
    coll_comm comm;
    coll_op sum;
    float *in, *out, *got;
} me;

/* ---- the schedules ----------------------------------------------------------------------- */

/* Adds what came to what there is, the lower rank's first. */
static void combine(float *sum, const float *own, const float *got, size_t n, uint32_t from)
{
    const bool is_lower = from < me.hand.rank;
    me.sum.combine(sum, is_lower ? got : own, is_lower ? own : got, n, me.sum.arg);
}

static void recursive_doubling(size_t n)
{
    const float *own = me.in;
    for (uint32_t distance = 1; distance < me.hand.p; distance *= 2) {
        const uint32_t peer = me.hand.rank ^ distance;
        me.hand.exchange(&me.hand, peer, own, peer, me.got, n * sizeof *own);
        combine(me.out, own, me.got, n, peer);
        own = me.out;
    }
}

static void ring(size_t n)
{
    const uint32_t p = me.hand.p, next = (me.hand.rank + 1) % p,
                   before = (me.hand.rank + p - 1) % p;
    const size_t block = n / p;
    for (uint32_t step = 0; step + 1 < p; step++) {
        const size_t mine = (me.hand.rank + p - step) % p * block;
        const size_t its = (me.hand.rank + 2 * p - step - 1) % p * block;
        me.hand.exchange(&me.hand, next, (step == 0 ? me.in : me.out) + mine, before, me.got,
                         block * sizeof *me.out);
        combine(me.out + its, me.in + its, me.got, block, before);
    }
    for (uint32_t step = 0; step + 1 < p; step++) {
        const size_t mine = (me.hand.rank + p + 1 - step) % p * block;
        const size_t its = (me.hand.rank + p - step) % p * block;
        me.hand.exchange(&me.hand, next, me.out + mine, before, me.out + its,
                         block * sizeof *me.out);
    }
}

static const struct schedule {
    const char *algorithm;
    void (*run)(size_t n);
    bool halves; /* for powers of two alone */
} schedules[] = {{"recursive_doubling", recursive_doubling, true}, {"ring", ring, false}};

/* ---- measuring --------------------------------------------------------------------------- */

static void well(coll_status status)
{
    hand_stop(status == COLL_OK, coll_status_text(status));
}

/* The largest of all ranks' numbers. */
static double largest(double mine)
{
    double most = 0;
    well(coll_allreduce(&me.comm, &mine, &most, 1, COLL_F64, COLL_MAX));
    return most;
}

/* Has the library do it, and says how. */
static const char *by_coll(size_t n)
{
    coll_request request;
    const char *algorithm;
    well(coll_iallreduce(&me.comm, me.in, me.out, n, COLL_F32, COLL_SUM, &request));
    algorithm = request.engine.task.plan->algorithm->name;
    well(coll_wait(&request));
    return algorithm;
}

static void check(size_t n, const char *who)
{
    for (size_t i = 0; i < n; i++)
        hand_stop(me.out[i] == (float)(me.hand.p * (me.hand.p - 1) / 2), who);
    memset(me.out, 0, n * sizeof *me.out);
}

/* Nanoseconds of a call on the slowest rank; of calls by hand, if there is a schedule. */
static double turn(const struct schedule *its, size_t n, size_t calls)
{
    double begin;
    well(coll_barrier(&me.comm));
    begin = bench_now();
    for (size_t i = 0; i < calls; i++)
        if (its)
            its->run(n);
        else
            (void)by_coll(n);
    return largest((bench_now() - begin) / (double)calls);
}

static void measure(const char *network, size_t bytes)
{
    const size_t n = bytes / sizeof(float);
    const char *algorithm = by_coll(n);
    const struct schedule *its = NULL;
    double by_hand[TURNS], coll[TURNS], ratio[TURNS], most = 0;
    size_t calls;
    check(n, "the library's sum is wrong");
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
        if (strcmp(schedules[i].algorithm, algorithm) == 0 &&
            (!schedules[i].halves || (me.hand.p & (me.hand.p - 1)) == 0) &&
            (schedules[i].halves || n % me.hand.p == 0))
            its = &schedules[i];
    if (!its) {
        fprintf(stderr, "by_hand: %zu bytes on %u ranks: %s is not written by hand\n", bytes,
                (unsigned)me.hand.p, algorithm);
        exit(1);
    }
    its->run(n);
    check(n, "the sum by hand is wrong");
    for (int i = 0; i < 3; i++) { /* pages and connections are warm then */
        const double a = turn(its, n, 8), b = turn(NULL, n, 8);
        most = a > b ? a : b;
    }
    calls = 1 + (size_t)(4e6 / most);
    for (int i = 0; i < TURNS; i++) {
        const bool first = i % 2 == 0;
        if (first)
            by_hand[i] = turn(its, n, calls);
        coll[i] = turn(NULL, n, calls);
        if (!first)
            by_hand[i] = turn(its, n, calls);
        ratio[i] = coll[i] / by_hand[i];
    }
    if (me.hand.rank == 0)
        printf("%s,%u,%zu,%s,%.2f,%.2f,%.3f\n", network, (unsigned)me.hand.p, bytes, algorithm,
               bench_median(by_hand, TURNS) / 1e3, bench_median(coll, TURNS) / 1e3,
               bench_median(ratio, TURNS));
}

/* ---- networks ---------------------------------------------------------------------------- */

struct network {
    const char *name;
    void *(*launched)(char *why); /* the transport's rank, of COLL_TCP_WHY bytes */
    void (*leave)(void *ctx);
    const coll_transport *transport;
    void (*open)(hand *me, hand_address *mine);
    void (*connect)(hand *me, const hand_address *all);
    void (*close)(hand *me);
};

#define LAUNCHED(network)                                                                      \
    static void *launched_##network(char *why)                                                 \
    {                                                                                          \
        coll_##network *its = coll_##network##_launched(NULL, why);                            \
        if (its) {                                                                             \
            me.hand.rank = coll_##network##_rank(its);                                         \
            me.hand.p = coll_##network##_size(its);                                            \
        }                                                                                      \
        return its;                                                                            \
    }                                                                                          \
    static void leave_##network(void *ctx)                                                     \
    {                                                                                          \
        coll_##network##_close((coll_##network *)ctx);                                         \
    }

LAUNCHED(tcp)
#if COLL_WITH_UCX
LAUNCHED(ucx)
#endif
#if COLL_WITH_OFI
LAUNCHED(ofi)
#endif

static const struct network networks[] = {
    {"tcp", launched_tcp, leave_tcp, &coll_tcp_transport, sockets_open, sockets_connect,
     sockets_close},
#if COLL_WITH_UCX
    {"ucx", launched_ucx, leave_ucx, &coll_ucx_transport, ucx_open, ucx_connect, ucx_close},
#endif
#if COLL_WITH_OFI
    {"ofi", launched_ofi, leave_ofi, &coll_ofi_transport, ofi_open, ofi_connect, ofi_close},
#endif
};

static void play(const struct network *its, void *ctx)
{
    static hand_address mine, all[HAND_RANKS];
    const size_t bytes = LONGEST + SPARE;
    void *memory = bench_memory(bytes), *cache = bench_memory(COLL_CACHE_BYTES(8));
    cpu_set_t processors;
    hand_stop(me.hand.p >= 2 && me.hand.p <= HAND_RANKS,
              "there are 2 to 8 ranks, by coll launch");
    CPU_ZERO(&processors);
    (void)sched_getaffinity(0, sizeof processors, &processors);
    me.hand.yields = (uint32_t)CPU_COUNT(&processors) < me.hand.p;
    peers_settle(me.hand.rank, me.hand.p);
    well(coll_op_builtin(&me.sum, COLL_SUM, COLL_F32));
    well(coll_comm_init(&me.comm, its->transport, ctx, me.hand.rank, me.hand.p, memory, bytes));
    well(coll_comm_set_cache(&me.comm, cache, COLL_CACHE_BYTES(8)));
    its->open(&me.hand, &mine);
    well(coll_allgather(&me.comm, &mine, all, sizeof mine, COLL_U8));
    its->connect(&me.hand, all);
    me.in = bench_memory(LONGEST);
    me.out = bench_memory(LONGEST);
    me.got = bench_memory(LONGEST);
    for (size_t i = 0; i < LONGEST / sizeof *me.in; i++)
        me.in[i] = (float)me.hand.rank;
    if (me.hand.rank == 0)
        puts("transport,ranks,bytes,algorithm,hand_us,coll_us,ratio");
    measure(its->name, 8);
    measure(its->name, LONGEST);
    well(coll_barrier(&me.comm));
    its->close(&me.hand);
    well(coll_comm_free(&me.comm));
    free(me.in);
    free(me.out);
    free(me.got);
    free(memory);
    free(cache);
}

int main(int argc, char **argv)
{
    char why[COLL_TCP_WHY];
    for (size_t i = 0; argc == 2 && i < sizeof networks / sizeof networks[0]; i++)
        if (strcmp(argv[1], networks[i].name) == 0) {
            void *ctx = networks[i].launched(why);
            hand_stop(ctx != NULL, why);
            play(&networks[i], ctx);
            networks[i].leave(ctx);
            return 0;
        }
    fputs("usage: coll launch -n P by_hand NETWORK; this one has", stderr);
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        fprintf(stderr, " %s", networks[i].name);
    fputc('\n', stderr);
    return 2;
}
