/* bench/collectives.c — latency and bandwidth of each collective over threads, beside memcpy
 * and add
 *
 *   cc -O3 -Iinclude bench/collectives.c -o collectives -lpthread && ./collectives > collectives.csv
 *   ./collectives allreduce allgather      only these
 *   ./collectives all allreduce            every algorithm, not only the one that the library chooses
 *
 * `bytes` is a rank's vector, or the larger of its two buffers: the p blocks of an allgather,
 * say. Calls follow each other without a pause, the root moving on with each; the time is that
 * of the slowest rank, per call. GB_per_s is bytes / time. memcpy and add (a = b + c of
 * doubles, 3 streams) are what one thread does alone with so many bytes; x_memcpy and x_add say
 * how many of these fit into the time of the collective. All rows are measured in turn, round
 * by round; columns are medians over the rounds, `least` the best of them.
 */
#include <pthread.h>

#include "coll/neighbor.h"
#include "coll/algos/registry.h"
#include "coll/transports/threads.h"
#include "coll/lab/verify/graphs.h"

#include "bench.h"

enum { RANKS = 8, MOST = 1 << 22, ROWS = 1 << 12, SIZES = 8 };
static const size_t sizes[SIZES] = {8, 64, 512, 4096, 32768, 262144, 1 << 20, MOST};
enum { POINTS = 12 }; /* neighbours of the stencil that neighbour collectives have */
static const double round_ns = 2e6; /* a row is run for so long in a round */

typedef struct row {
    coll_collective collective;
    const coll_algorithm *forced; /* NULL: the library chooses */
    size_t size;                  /* index */
    size_t requests;              /* in a round; 0: not calibrated yet */
    const char *algorithm;
    double ns[BENCH_ROUNDS];
    coll_i_graphs graphs; /* of a neighbour collective */
} row;

/* What the ranks share. */
static struct {
    uint32_t p;
    coll_threads *threads;
    pthread_barrier_t gate; /* sleeps, so that what runs alone has the machine */
    row rows[ROWS];
    size_t n_rows;
    double ns[RANKS];
    double copy_ns[SIZES][BENCH_ROUNDS], add_ns[SIZES][BENCH_ROUNDS];
} world;

typedef struct member {
    uint32_t rank;
    coll_comm comm;
    unsigned char cache[COLL_CACHE_BYTES(8)];
    double *in, *out;
    size_t counts[POINTS], displs[POINTS]; /* of RANKS blocks, or POINTS */
} member;

static void stop(coll_status status)
{
    if (status < 0) {
        fprintf(stderr, "failed: %s\n", coll_status_text(status));
        exit(1);
    }
}

/* How many blocks a row has, if it has blocks. */
static uint32_t blocks_of(const row *of, uint32_t p)
{
    return coll_is(COLL_NEIGHBORLY, of->collective) ? POINTS : p;
}

/* The elements of a row, in all its blocks if it has blocks; 0: it does not exist. */
static size_t elements(const row *of, uint32_t p)
{
    const size_t n = sizes[of->size] / sizeof(double);
    const uint32_t blocks = blocks_of(of, p);
    switch (of->collective) {
    case COLL_BARRIER:
        return of->size == 0;
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return n;
    default:
        return n / blocks * blocks;
    }
}

static coll_args arguments(member *m, const row *of, uint32_t root)
{
    const uint32_t p = world.p, blocks = blocks_of(of, p);
    const size_t n = elements(of, p), block = n / blocks;
    coll_args args;
    coll_args_init(&args, of->collective);
    if (coll_is(COLL_NEIGHBORLY, of->collective))
        args.graph = coll_i_graph_of(&of->graphs, m->rank);
    for (uint32_t i = 0; i < blocks; i++) {
        m->counts[i] = block;
        m->displs[i] = i * block;
    }
    args.in = m->in;
    args.out = m->out;
    args.type = COLL_F64;
    args.root = root;
    args.in_counts = args.out_counts = m->counts;
    args.out_displs = m->displs;
    args.in_displs = of->collective == COLL_REDUCE_SCATTER ? NULL : m->displs;
    args.count =
        coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
                    COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN),
                of->collective)
            ? n
            : block;
    return args;
}

/* Runs a row `calls` times, on every rank at once; returns this rank's ns. */
static double run_row(member *m, row *of, size_t requests)
{
    coll_args args = arguments(m, of, 0);
    stop(coll_comm_set_algorithm(&m->comm, of->collective, of->forced, NULL));
    stop(coll_barrier(&m->comm));
    const double start = bench_now();
    for (size_t i = 0; i < requests; i++) {
        coll_request request;
        stop(coll_post(&m->comm, &args, &request));
        if (m->rank == 0)
            of->algorithm = request.engine.task.plan->algorithm->name;
        stop(coll_wait(&request));
        args.root = args.root + 1 == world.p ? 0 : args.root + 1;
    }
    return bench_now() - start;
}

/* The time of the slowest rank; on all ranks. */
static double slowest(member *m, double ns)
{
    double most = 0;
    world.ns[m->rank] = ns;
    pthread_barrier_wait(&world.gate);
    for (uint32_t r = 0; r < world.p; r++)
        if (most < world.ns[r])
            most = world.ns[r];
    pthread_barrier_wait(&world.gate);
    return most;
}

static void measure(member *m, row *of, size_t round)
{
    size_t requests = of->requests;
    pthread_barrier_wait(&world.gate);
    if (requests == 0) {
        (void)slowest(m, run_row(m, of, 1));
        const double once = slowest(m, run_row(m, of, 4)) / 4;
        requests = once > round_ns ? 1 : (size_t)(round_ns / once);
        if (m->rank == 0)
            of->requests = requests;
    }
    const double ns = slowest(m, run_row(m, of, requests)) / (double)requests;
    if (m->rank == 0)
        of->ns[round] = ns;
}

/* One thread's memcpy and add while the others sleep. */
static void measure_memory(const member *m, size_t size, size_t round)
{
    const size_t bytes = sizes[size], n = bytes / sizeof(double);
    const size_t repeat = 1 + (size_t)(round_ns / 2 / (20 + (double)bytes / 8));
    double *const restrict a = m->out;
    const double *const b = m->in, *const c = m->in + n;
    double start = bench_now();
    for (size_t i = 0; i < repeat; i++) {
        memcpy(a, b, bytes);
        bench_use(a);
    }
    world.copy_ns[size][round] = (bench_now() - start) / (double)repeat;
    start = bench_now();
    for (size_t i = 0; i < repeat; i++) {
        for (size_t k = 0; k < n; k++)
            a[k] = b[k] + c[k];
        bench_use(a);
    }
    world.add_ns[size][round] = (bench_now() - start) / (double)repeat;
}

/* Bytes of scratch that the greediest row needs. */
static size_t scratch_bytes(member *m)
{
    size_t most = 0, need = 0;
    for (size_t i = 0; i < world.n_rows; i++)
        for (uint32_t root = 0; root < world.p; root++) {
            const coll_args args = arguments(m, &world.rows[i], root);
            stop(
                coll_comm_set_algorithm(&m->comm, args.collective, world.rows[i].forced, NULL));
            stop(coll_comm_bytes(&m->comm, &args, &need));
            if (most < need)
                most = need;
        }
    return most + COLL_ARENA_ALIGN;
}

static void open_comm(member *m, void *memory, size_t bytes)
{
    stop(coll_comm_init(&m->comm, &coll_threads_transport,
                        coll_threads_rank(world.threads, m->rank), m->rank, world.p, memory,
                        bytes));
    stop(coll_comm_set_cache(&m->comm, m->cache, sizeof m->cache));
}

static void *member_main(void *arg)
{
    member *m = arg;
    m->in = bench_memory(2 * (size_t)MOST);
    m->out = bench_memory(MOST);
    open_comm(m, NULL, 0);
    const size_t bytes = scratch_bytes(m);
    void *memory = bench_memory(bytes);
    open_comm(m, memory, bytes);
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        for (size_t size = 0; size < SIZES; size++) {
            pthread_barrier_wait(&world.gate);
            if (m->rank == 0)
                measure_memory(m, size, round);
            pthread_barrier_wait(&world.gate);
        }
        for (size_t i = 0; i < world.n_rows; i++)
            measure(m, &world.rows[i], round);
        if (m->rank == 0)
            fprintf(stderr, "p = %u: round %zu of %d\n", world.p, round + 1, BENCH_ROUNDS);
    }
    stop(coll_comm_free(&m->comm));
    free(memory);
    free(m->in);
    free(m->out);
    return NULL;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Gives a row its graph, with the routes that its algorithm needs, two ranks a node. */
static void give_neighbors(row *of)
{
    coll_problem problem;
    coll_problem_init(&problem, of->collective, world.p, 1, sizeof(double));
    coll_nodes_even(&problem.nodes, world.p, 2);
    if (!coll_i_graphs_make(&of->graphs, COLL_GRID_STENCIL, world.p))
        stop(COLL_ERR_MEMORY);
    if (of->forced)
        stop(coll_i_graphs_equip(&of->graphs, &problem, of->forced));
}

static void add_rows(coll_collective collective, const coll_algorithm *forced)
{
    for (size_t size = 0; size < SIZES; size++) {
        row of;
        memset(&of, 0, sizeof of);
        of.collective = collective;
        of.forced = forced;
        of.size = size;
        if (elements(&of, world.p) == 0 || world.n_rows == ROWS)
            continue;
        if (coll_is(COLL_NEIGHBORLY, collective))
            give_neighbors(&of);
        world.rows[world.n_rows++] = of;
    }
}

/* Do calls over threads, on one node, run the algorithm? */
static bool runs_here(const coll_algorithm *algorithm, uint32_t p)
{
    return !(algorithm->traits & (COLL_NEEDS_SHARED | COLL_NEEDS_BUILD | COLL_I_NEEDS_GROUP)) &&
           (!(algorithm->traits & COLL_NEEDS_POWER_OF_TWO) || (p & (p - 1)) == 0);
}

static void choose_rows(bool all, char **names, int n_names)
{
    for (size_t i = 0; i < world.n_rows; i++)
        coll_i_graphs_release(&world.rows[i].graphs);
    world.n_rows = 0;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        bool wanted = n_names == 0;
        for (int i = 0; i < n_names; i++)
            wanted |= strcmp(names[i], coll_collective_name((coll_collective)c)) == 0;
        if (!wanted)
            continue;
        for (size_t i = 0; all && i < COLL_REGISTRY_COUNT; i++)
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                runs_here(coll_registry[i], world.p))
                add_rows((coll_collective)c, coll_registry[i]);
        if (!all)
            add_rows((coll_collective)c, NULL);
    }
}

static void print_rows(void)
{
    for (size_t size = 0; size < SIZES; size++) {
        world.copy_ns[size][0] = bench_median(world.copy_ns[size], BENCH_ROUNDS);
        world.add_ns[size][0] = bench_median(world.add_ns[size], BENCH_ROUNDS);
    }
    for (size_t i = 0; i < world.n_rows; i++) {
        row *of = &world.rows[i];
        const size_t bytes = elements(of, world.p) * sizeof(double);
        const double ns = bench_median(of->ns, BENCH_ROUNDS), copy = world.copy_ns[of->size][0],
                     add = world.add_ns[of->size][0];
        printf("%s,%s,%u,%zu,%.3f,%.3f,%.3f,%.3f,%.3f,%.2f,%.2f\n",
               coll_collective_name(of->collective), of->algorithm, world.p,
               of->collective == COLL_BARRIER ? 0 : bytes, ns / 1e3, of->ns[0] / 1e3,
               of->collective == COLL_BARRIER ? 0 : (double)bytes / ns, copy / 1e3, add / 1e3,
               ns / copy, ns / add);
    }
}

int main(int argc, char **argv)
{
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    printf(
        "collective,algorithm,p,bytes,us_per_call,us_per_call_least,GB_per_s,memcpy_us,add_us,"
        "x_memcpy,x_add\n");
    for (world.p = 2; world.p <= RANKS; world.p *= 2) {
        static member members[RANKS];
        pthread_t threads[RANKS];
        choose_rows(all, argv + 1 + all, argc - 1 - all);
        if (world.n_rows == 0) {
            fprintf(stderr, "no such collective\n");
            return 2;
        }
        world.threads = coll_threads_create(world.p);
        if (!world.threads || pthread_barrier_init(&world.gate, NULL, world.p) != 0) {
            fprintf(stderr, "no memory\n");
            return 1;
        }
        for (uint32_t r = 0; r < world.p; r++) {
            members[r].rank = r;
            if (pthread_create(&threads[r], NULL, member_main, &members[r]) != 0) {
                fprintf(stderr, "cannot start thread %u\n", r);
                return 1;
            }
        }
        for (uint32_t r = 0; r < world.p; r++)
            pthread_join(threads[r], NULL);
        print_rows();
        fflush(stdout);
        pthread_barrier_destroy(&world.gate);
        coll_threads_destroy(world.threads);
    }
    return 0;
}
