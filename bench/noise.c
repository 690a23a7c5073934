/* bench/noise.c — how much collectives disturb a program that computes: offloaded to a NIC, and driven by the host
 *
 *   noise [RANKS [ROUNDS [AHEAD [HOST NIC]]]]      4 ranks, 7 rounds, 1000 calls ahead, on processors 1 and 0
 *
 * Moody's process interference (Moody 2003, 5.4), on this machine. Processor HOST has the ranks' threads and a
 * program that computes; processor NIC has the threads that play the ranks' NICs: those of libfabric's provider
 * sockets. 1000 allreduces of 8 bytes run while the program computes: by NIC programs that were armed before
 * (transports/ofi_offload.h), while the ranks sleep; by the ranks themselves over the same provider; and over TCP.
 * With fewer than 1000 calls AHEAD, ranks wake up to arm and start the next ones. (sockets keeps what it has queued in
 * lists, and goes through them each time a counter changes, so that many calls ahead are slow.)
 * "nothing" are ranks that sleep. CSV: the medians of all rounds, in which the ways take turns. A percentage is of
 * one processor; that of the NICs has what plays them, the ranks' other threads. Arming is what a rank's host does
 * for each call before the first one starts. Where other programs run, too, the growth of the clock is theirs as well:
 * what the ranks take of the computing program is then the growth of its own processor time, and the hosts' part.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/coll.h"
#include "coll/nic.h"
#include "coll/reduce.h"

#if !COLL_WITH_OFI
int main(void)
{
    fprintf(stderr, "noise: it was compiled without libfabric: install it (libfabric-dev), and "
                    "build again\n");
    return 1;
}
#else
#include "coll/transports/ofi.h"
#include "coll/transports/ofi_offload.h"
#include "coll/transports/tcp.h"

enum { MOST = 16, CALLS = 1000, WARM = 50, ROUNDS_MOST = 99, PATIENCE = 60000 };
enum { NOTHING, OFFLOADED, BY_OFI, BY_TCP, WAYS, LEAVE = WAYS };

static const char *const way_names[WAYS] = {"nothing", "offloaded", "host_sockets", "host_tcp"};

/* What all processes see. */
typedef struct noise_board {
    atomic_uint met, ready, done, failed;
    double host_ns[MOST], nic_ns[MOST], arm_ns[MOST];
    unsigned char addresses[3][MOST][1024];
} noise_board;

static noise_board *board;
static uint32_t p = 4, ahead = CALLS;
static int commands[MOST][2];

/* One rank. */
static struct {
    uint32_t rank;
    coll_ofi_nic *nic;
    coll_ofi_offload *offload;
    coll_ofi *ofi;
    coll_tcp *tcp;
    coll_comm by_ofi, by_tcp;
    double in, out, scratch[4];
    unsigned char memory[2][1 << 16];
} me;

static void fail(const char *why)
{
    fprintf(stderr, "noise: rank %u: %s\n", (unsigned)me.rank, why);
    atomic_store(&board->failed, 1);
    _exit(1);
}

/* Puts this thread on a processor. */
static void pin(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("noise: sched_setaffinity");
}

/* Nanoseconds that the other threads of this process have had a processor. */
static double others_busy(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const long own = syscall(SYS_gettid);
    double sum = 0;
    for (const struct dirent *one; tasks && (one = readdir(tasks)) != NULL;) {
        char path[300];
        unsigned long long ns;
        FILE *file;
        if (one->d_name[0] == '.' || atol(one->d_name) == own)
            continue;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", one->d_name);
        file = fopen(path, "r");
        if (file && fscanf(file, "%llu", &ns) == 1)
            sum += (double)ns;
        if (file)
            (void)fclose(file);
    }
    if (tasks)
        (void)closedir(tasks);
    return sum;
}

/* All ranks have come here. */
static void meet(void)
{
    const unsigned before = atomic_load(&board->met) / p * p;
    atomic_fetch_add(&board->met, 1);
    while (atomic_load(&board->met) < before + p && !atomic_load(&board->failed))
        (void)poll(NULL, 0, 1);
}

/* All ranks write `bytes` bytes, and read those of all. */
static bool gather(void *ctx, const void *mine, size_t bytes, void *all)
{
    unsigned char(*places)[1024] = ctx;
    memcpy(places[me.rank], mine, bytes);
    meet();
    for (uint32_t r = 0; r < p; r++)
        memcpy((unsigned char *)all + r * bytes, places[r], bytes);
    meet();
    return !atomic_load(&board->failed);
}

/* Lowers an allreduce of a double for the NIC, and opens it. */
static void open_program(char *why)
{
    static coll_action actions[64];
    static size_t room[1 << 14];
    coll_nic_memory memory = {room, sizeof room, 0};
    coll_problem problem;
    coll_plan plan;
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_nic_program program;
    coll_op op;
    const coll_ofi_buffers buffers = {&op, &me.in, &me.out, me.scratch, sizeof me.in};
    coll_problem_init(&problem, COLL_ALLREDUCE, p, 1, sizeof me.in);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_ofi_nic_limits(me.nic, &limits);
    if (coll_op_builtin(&op, COLL_SUM, COLL_F64) != COLL_OK ||
        coll_plan_init(&plan, &coll_recursive_doubling_allreduce, &problem, NULL) != COLL_OK ||
        coll_plan_scratch(&plan, me.rank) > 4 ||
        coll_schedule_write(&schedule, &plan, me.rank, actions, 64) != COLL_OK ||
        coll_nic_lower(&program, &plan, &schedule, &limits, &memory) != COLL_OK)
        fail("the allreduce is not lowered");
    me.offload = coll_ofi_offload_open(me.nic, &program, &buffers, CALLS, why);
    if (!me.offload)
        fail(why);
}

static void open_rank(void)
{
    char why[COLL_OFI_WHY];
    coll_ofi_options ofi = {0};
    coll_tcp_options tcp = {0};
    ofi.provider = "sockets";
    ofi.source = tcp.interfaces = "127.0.0.1";
    ofi.ranks_here = tcp.ranks_here = p;
    ofi.patience = tcp.patience = PATIENCE;
    me.in = me.rank + 0.5;
    me.nic = coll_ofi_nic_start(me.rank, p, &ofi, gather, board->addresses[0], why);
    if (!me.nic)
        fail(why);
    open_program(why);
    me.ofi = coll_ofi_start(me.rank, p, &ofi, gather, board->addresses[1], why);
    if (!me.ofi)
        fail(why);
    me.tcp = coll_tcp_start(me.rank, p, &tcp, gather, board->addresses[2], why);
    if (!me.tcp)
        fail(why);
    if (coll_comm_init(&me.by_ofi, &coll_ofi_transport, me.ofi, me.rank, p, me.memory[0],
                       sizeof me.memory[0]) != COLL_OK ||
        coll_comm_init(&me.by_tcp, &coll_tcp_transport, me.tcp, me.rank, p, me.memory[1],
                       sizeof me.memory[1]) != COLL_OK ||
        coll_comm_set_algorithm(&me.by_ofi, COLL_ALLREDUCE, &coll_recursive_doubling_allreduce,
                                NULL) != COLL_OK ||
        coll_comm_set_algorithm(&me.by_tcp, COLL_ALLREDUCE, &coll_recursive_doubling_allreduce,
                                NULL) != COLL_OK)
        fail("a communicator is not made");
}

/* What is done before the clock runs. */
static void prepare(int way)
{
    if (way == OFFLOADED && coll_ofi_offload_arm(me.offload, 1, ahead) != COLL_OK)
        fail("the program is not armed");
    me.out = 0;
}

static void act(int way)
{
    coll_status status = COLL_OK;
    if (way == NOTHING)
        (void)poll(NULL, 0, 300);
    for (uint32_t i = 0; way == OFFLOADED && i < CALLS && status == COLL_OK; i += ahead) {
        if (i > 0)
            status = coll_ofi_offload_arm(me.offload, 1, ahead);
        if (status == COLL_OK)
            status = coll_ofi_offload_start(me.offload);
        if (status == COLL_OK)
            status = coll_ofi_offload_wait(me.offload, PATIENCE);
    }
    for (uint32_t i = 0; way > OFFLOADED && i < CALLS && status == COLL_OK; i++)
        status = coll_allreduce(way == BY_OFI ? &me.by_ofi : &me.by_tcp, &me.in, &me.out, 1,
                                COLL_F64, COLL_SUM);
    if (status != COLL_OK)
        fail(coll_status_text(status));
    if (way != NOTHING && me.out != p * (p - 1) / 2 + p * 0.5)
        fail("a wrong sum");
}

/* A rank's process: does what it is told. */
static int rank_main(uint32_t rank, int host)
{
    unsigned char way;
    me.rank = rank;
    open_rank();
    pin(host);
    atomic_fetch_add(&board->ready, 1);
    while (read(commands[rank][0], &way, 1) == 1 && way != LEAVE) {
        double host_ns = bench_busy(), nic_ns;
        prepare(way);
        board->arm_ns[rank] = bench_busy() - host_ns;
        nic_ns = others_busy();
        atomic_fetch_add(&board->ready, 1);
        if (read(commands[rank][0], &way, 1) != 1)
            break;
        host_ns = bench_busy();
        act(way);
        board->host_ns[rank] = bench_busy() - host_ns;
        atomic_fetch_add(&board->done, 1);
        while (atomic_load(&board->done) < p) /* the others' need this one's NIC */
            (void)poll(NULL, 0, 1);
        board->nic_ns[rank] = others_busy() - nic_ns;
        atomic_fetch_add(&board->ready, 1);
    }
    coll_ofi_offload_close(me.offload);
    coll_ofi_nic_close(me.nic);
    (void)coll_comm_free(&me.by_ofi);
    (void)coll_comm_free(&me.by_tcp);
    coll_ofi_close(me.ofi);
    coll_tcp_close(me.tcp);
    return 0;
}

/* Tells all ranks something. */
static void tell(int what)
{
    const unsigned char byte = (unsigned char)what;
    for (uint32_t r = 0; r < p; r++)
        if (write(commands[r][1], &byte, 1) != 1)
            exit(1);
}

static void wait_for(atomic_uint *what)
{
    while (atomic_load(what) < p && !atomic_load(&board->failed))
        (void)poll(NULL, 0, 1);
    if (atomic_load(&board->failed))
        exit(1);
    atomic_store(what, 0);
}

/* What the program computes: some tens of microseconds. */
static void compute(void)
{
    static uint64_t x = 1;
    for (unsigned i = 0; i < 50000; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    bench_use(&x);
}

/* What is measured of a way: microseconds of a call, and of what is computed; percents of a processor of the ranks, and
 * of what plays their NICs; microseconds that a rank took for a call before it started; and what computing takes more
 * than in the same round of "nothing", in percent: of the clock, and of the processor's time that it had. */
enum { CALL, CHUNK, HOSTS, NICS, ARMING, GROWTH, OWN, OWN_GROWTH, FIELDS };

static double all[WAYS][FIELDS][ROUNDS_MOST];

/* One round of one way, while this process computes. */
static void measure(int way, unsigned round)
{
    double begin, end, own, ns[3] = {0, 0, 0};
    unsigned chunks = 0;
    tell(way);
    wait_for(&board->ready);
    atomic_store(&board->done, 0);
    own = bench_busy();
    begin = bench_now();
    tell(way);
    do {
        compute();
        chunks++;
    } while (atomic_load(&board->done) < p && !atomic_load(&board->failed));
    end = bench_now();
    own = bench_busy() - own;
    wait_for(&board->ready);
    fprintf(stderr, "%s: %.0f ms\n", way_names[way], (end - begin) / 1e6);
    for (uint32_t r = 0; r < p; r++) {
        ns[0] += board->host_ns[r];
        ns[1] += board->nic_ns[r];
        ns[2] += board->arm_ns[r];
    }
    all[way][CALL][round] = way == NOTHING ? 0 : (end - begin) / 1e3 / CALLS;
    all[way][CHUNK][round] = (end - begin) / 1e3 / chunks;
    all[way][HOSTS][round] = ns[0] / (end - begin) * 100;
    all[way][NICS][round] = ns[1] / (end - begin) * 100;
    all[way][ARMING][round] = way == OFFLOADED ? ns[2] / 1e3 / ahead / p : 0;
    all[way][GROWTH][round] = (all[way][CHUNK][round] / all[NOTHING][CHUNK][round] - 1) * 100;
    all[way][OWN][round] = own / 1e3 / chunks;
    all[way][OWN_GROWTH][round] = (all[way][OWN][round] / all[NOTHING][OWN][round] - 1) * 100;
}

/* A line of the table: medians, and the least time to compute. */
static void print(int way, unsigned rounds)
{
    double medians[FIELDS];
    for (int field = 0; field < FIELDS; field++)
        medians[field] = bench_median(all[way][field], rounds); /* sorted, from now on */
    printf("%s,%u,%d,%.1f,%.2f,%.2f,%.1f,%.1f,%.3f,%.1f,%.2f\n", way_names[way], (unsigned)p,
           way == NOTHING ? 0 : CALLS, medians[CALL], medians[CHUNK], all[way][CHUNK][0],
           medians[GROWTH], medians[OWN_GROWTH], medians[HOSTS], medians[NICS],
           medians[ARMING]);
}

/* Runs the ranks, and rounds of all ways. */
static void run(unsigned rounds, int host)
{
    for (uint32_t r = 0; r < p; r++)
        if (pipe(commands[r]) != 0)
            exit(1);
    for (uint32_t r = 0; r < p; r++)
        if (fork() == 0)
            _exit(rank_main(r, host));
    pin(host);
    wait_for(&board->ready);
    for (int way = NOTHING; way < WAYS; way++) /* once before, to connect */
        measure(way, 0);
    for (unsigned round = 0; round < rounds; round++)
        for (int way = NOTHING; way < WAYS; way++)
            measure(way, round);
    tell(LEAVE);
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : BENCH_ROUNDS;
    p = argc > 1 ? (uint32_t)atoi(argv[1]) : p;
    ahead = argc > 3 ? (uint32_t)atoi(argv[3]) : ahead;
    if (p < 2 || p > MOST || rounds < 1 || rounds > ROUNDS_MOST || ahead < 1 ||
        CALLS % ahead != 0) {
        fprintf(stderr,
                "usage: noise [RANKS [ROUNDS [AHEAD [HOST NIC]]]], of 2 to %d ranks, and AHEAD "
                "a divisor of %d\n",
                MOST, CALLS);
        return 2;
    }
    (void)setenv("FI_SOCKETS_PE_AFFINITY", argc > 5 ? argv[5] : "0", 1);
    (void)setenv("FI_SOCKETS_PE_WAITTIME", "0", 0);
    board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 1;
    run(rounds, argc > 4 ? atoi(argv[4]) : 1);
    puts("way,ranks,calls,us_a_call,computing_us,computing_least_us,growth_percent,own_growth_"
         "percent,"
         "hosts_percent,nics_percent,arming_us_a_call");
    for (int way = NOTHING; way < WAYS; way++)
        print(way, rounds);
    return 0;
}
#endif
