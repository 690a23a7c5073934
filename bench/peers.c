/* bench/peers.c — collectives of one node, beside those of MPICH and Open MPI: bench/peers.sh runs it
 *
 *   peers create BOARD P ROUNDS CONTESTANTS [COLLECTIVE…]   makes the board; CONTESTANTS: threads,mpich,…
 *   peers threads BOARD           plays as threads, and measures what the machine allows
 *   peers processes BOARD         as processes, which it forks; `segment`, not `processes`: whose
 *                                 buffers lie in memory that they share; `less`, `more`: as
 *                                 processes, of a program that bench/constants.sh built with another constant
 *   peers report BOARD            prints the times as CSV
 *
 * mpi/bench/peers.c plays in MPI programs, networks.c over networks.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "coll/transports/shm.h"
#include "coll/transports/threads.h"
#include "peers/members.h"

static const size_t sizes[] = {PEERS_SHORT, 64, 1024, 16384, 262144, PEERS_LARGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---- the floor --------------------------------------------------------------------------- */

/* A line that two threads write in turn. */
static struct {
    uint32_t count __attribute__((aligned(128)));
    uint32_t behind __attribute__((aligned(128)));
} line;

/* Two threads, the first and the last, which have processors of their own (peers_settle), throw a
 * line from one to the other, or copy, or add, both at once; the others look on. */
static void floor_call(peers_member *me, uint32_t who, const peers_cell *cell, uint32_t root,
                       const float *in, float *out)
{
    const size_t n = cell->bytes / sizeof(float);
    static uint32_t expected[2];
    const uint32_t side = me->rank > 0;
    (void)who, (void)root;
    if (side && me->rank + 1 < me->board->p)
        return;
    if (cell->work == PEERS_COPY) {
        memcpy(out, in, cell->bytes);
    } else if (cell->work == PEERS_ADD) {
        coll_op sum;
        peers_stop(coll_op_builtin(&sum, COLL_SUM, COLL_F32));
        sum.combine(out, in, in + n, n, NULL);
    } else { /* there and back */
        if (!side)
            __atomic_store_n(&line.count, expected[0] + 1, __ATOMIC_RELEASE);
        expected[side] += side ? 1 : 2;
        while (__atomic_load_n(&line.count, __ATOMIC_ACQUIRE) != expected[side])
            ;
        if (side)
            __atomic_store_n(&line.count, ++expected[1], __ATOMIC_RELEASE);
    }
    bench_use(out);
}

/* ---- threads ----------------------------------------------------------------------------- */

static peers_board *board;
static coll_threads *world;
static struct {
    pthread_t thread;
    uint32_t rank;
} ranks[2 * PEERS_RANKS];

static void *play(void *arg)
{
    const uint32_t rank = *(const uint32_t *)arg;
    const peers_way way = {PEERS_THREADS,
                           coll_node_rules(coll_threads_is_oversubscribed(world), true), NULL,
                           NULL};
    peers_play(board, rank, &coll_threads_transport, coll_threads_rank(world, rank), &way, 1,
               NULL);
    return NULL;
}

static void *play_floor(void *arg)
{
    peers_member me = {
        board, *(const uint32_t *)arg, COLL_BIT(PEERS_FLOOR), 0, NULL, NULL, floor_call, NULL};
    me.in = bench_memory(PEERS_ARENA);
    me.out = bench_memory(PEERS_ARENA);
    peers_take_turns(&me);
    free(me.in);
    free(me.out);
    return NULL;
}

static int play_threads(const char *path)
{
    board = peers_open(path, false);
    world = coll_threads_create(board->p);
    if (world)
        peers_stop(coll_threads_share(world, 16 << 20)); /* as much as `coll launch` gives */
    for (uint32_t i = 0; i < 2 * board->p; i++) {
        ranks[i].rank = i % board->p;
        if (!world || pthread_create(&ranks[i].thread, NULL, i < board->p ? play : play_floor,
                                     &ranks[i].rank) != 0) {
            fprintf(stderr, "cannot start thread %u\n", i);
            return 1;
        }
    }
    for (uint32_t i = 0; i < 2 * board->p; i++)
        pthread_join(ranks[i].thread, NULL);
    coll_threads_destroy(world);
    return 0;
}

/* ---- processes --------------------------------------------------------------------------- */

/* This process is rank 0, and forks the others, which end when it does. */
static coll_shm *fork_ranks(uint32_t p, char *why)
{
    enum { SHARED = 16 << 20 }; /* as much as `coll launch` gives */
    const int fd = coll_shm_create(NULL, p, SHARED, why);
    uint32_t rank = p;
    while (fd >= 0 && --rank > 0) {
        const pid_t child = fork();
        if (child < 0)
            perror("fork");
        if (child <= 0)
            break;
    }
    (void)prctl(PR_SET_PDEATHSIG, rank > 0 ? SIGKILL : 0);
    return fd < 0 ? NULL : coll_shm_attach(fd, rank, p, SHARED, why);
}

static int play_process(const char *path, uint32_t who)
{
    const bool in_segment = who == PEERS_SEGMENT;
    char why[COLL_SHM_WHY];
    coll_shm *shm;
    int status = 0;
    board = peers_open(path, false);
    shm = fork_ranks(board->p, why);
    if (shm && in_segment)
        coll_shm_ask_zero_copy(shm);
    if (!shm || !coll_shm_join(shm, 10000, why)) {
        fprintf(stderr, "peers: %s\n", why);
        return 1;
    }
    const peers_way way = {
        who, coll_node_rules(coll_shm_is_oversubscribed(shm), coll_shm_is_zero_copy(shm)), NULL,
        NULL};
    peers_play(board, coll_shm_rank(shm), coll_shm_transport(shm), shm, &way, 1,
               in_segment ? shm : NULL);
    coll_shm_detach(shm);
    for (int ended; wait(&ended) > 0;)
        status |= ended;
    return status != 0;
}

/* ---- creation ---------------------------------------------------------------------------- */

static void add_cells(uint32_t work)
{
    const bool sized = work != COLL_BARRIER;
    for (size_t size = 0; size < (sized ? SIZES : 1); size++)
        for (uint32_t rotated = 0; rotated < (sized ? 2 : 1); rotated++) {
            peers_cell *cell = &board->cells[board->n_cells++];
            cell->work = work;
            cell->rotated = rotated;
            cell->bytes = sized ? sizes[size] : 0;
        }
}

static bool named(char **names, const char *name)
{
    bool found = !*names;
    for (; *names; names++)
        found = found || strcmp(*names, name) == 0;
    return found;
}

static int create(const char *path, const char *p, const char *rounds, char *contestants,
                  char **names)
{
    board = peers_open(path, true);
    board->p = (uint32_t)atoi(p);
    board->rounds = (uint32_t)atoi(rounds);
    for (char *word = strtok(contestants, ","); word; word = strtok(NULL, ",")) {
        uint32_t who = 0;
        while (who < PEERS_CONTESTANTS && strcmp(word, peers_names[who]) != 0)
            who++;
        if (who == PEERS_CONTESTANTS) {
            fprintf(stderr, "there is no contestant %s\n", word);
            return 2;
        }
        board->present |= COLL_BIT(who);
    }
    if (board->p < 2 || board->p > PEERS_RANKS || board->rounds < 1 ||
        board->rounds > PEERS_ROUNDS) {
        fprintf(stderr, "2 to %d ranks and 1 to %d rounds can be measured\n", PEERS_RANKS,
                PEERS_ROUNDS);
        return 2;
    }
    for (uint32_t work = COLL_COLLECTIVES; work < PEERS_WORKS; work++)
        add_cells(work);
    for (uint32_t work = 0; work < COLL_COLLECTIVES; work++)
        if (named(names, peers_work_name(work)))
            add_cells(work);
    return 0;
}

/* ---- the report -------------------------------------------------------------------------- */

/* The median over the rounds; 0: it did not play. */
static double median_of(uint32_t cell, uint32_t who)
{
    double values[PEERS_ROUNDS];
    if (!peers_plays(board, &board->cells[cell], who))
        return 0;
    for (uint32_t round = 1; round <= board->rounds; round++)
        values[round - 1] = peers_ns(board, round, cell, who);
    return bench_median(values, board->rounds);
}

/* How much faster `who` is than the peer that is the faster one, the median over the rounds. */
static double ratio_of(uint32_t cell, uint32_t who)
{
    const double mpich = median_of(cell, PEERS_MPICH), openmpi = median_of(cell, PEERS_OPENMPI);
    const uint32_t peer =
        openmpi == 0 || (mpich != 0 && mpich < openmpi) ? PEERS_MPICH : PEERS_OPENMPI;
    double ratio[PEERS_ROUNDS];
    if (mpich + openmpi == 0 || median_of(cell, who) == 0)
        return 0;
    for (uint32_t round = 1; round <= board->rounds; round++)
        ratio[round - 1] =
            peers_ns(board, round, cell, peer) / peers_ns(board, round, cell, who);
    return bench_median(ratio, board->rounds);
}

static int report(const char *path)
{
    board = peers_open(path, false);
    printf("ranks,work,bytes,buffers");
    for (uint32_t who = 0; who < PEERS_CONTESTANTS; who++)
        printf(",%s_us", peers_names[who]);
    for (uint32_t who = 0; who < PEERS_FLOOR; who++)
        if (who != PEERS_MPICH && who != PEERS_OPENMPI)
            printf(",%s_x", peers_names[who]);
    printf("\n");
    for (uint32_t cell = 0; cell < board->n_cells; cell++) {
        const peers_cell *c = &board->cells[cell];
        printf("%u,%s,%zu,%s", board->p, peers_work_name(c->work), c->bytes,
               c->rotated ? "rotated" : "reused");
        for (uint32_t who = 0; who < PEERS_CONTESTANTS; who++) {
            const bool throws = who == PEERS_FLOOR && c->work < COLL_COLLECTIVES;
            const double ns = median_of(cell, who) / (throws ? 2 : 1); /* one way */
            printf(ns == 0 ? "," : ",%.3f", ns / 1e3);
        }
        for (uint32_t who = 0; who < PEERS_FLOOR; who++)
            if (who != PEERS_MPICH && who != PEERS_OPENMPI) {
                const double ratio = ratio_of(cell, who);
                printf(ratio == 0 ? "," : ",%.3f", ratio);
            }
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 6 && strcmp(argv[1], "create") == 0)
        return create(argv[2], argv[3], argv[4], argv[5], argv + 6);
    if (argc == 3 && strcmp(argv[1], "threads") == 0)
        return play_threads(argv[2]);
    static const uint32_t processes[] = {PEERS_PROCESSES, PEERS_SEGMENT, PEERS_LESS,
                                         PEERS_MORE};
    for (size_t i = 0; argc == 3 && i < sizeof processes / sizeof *processes; i++)
        if (strcmp(argv[1], peers_names[processes[i]]) == 0)
            return play_process(argv[2], processes[i]);
    if (argc == 3 && strcmp(argv[1], "report") == 0)
        return report(argv[2]);
    fprintf(stderr, "bench/peers.sh runs this program\n");
    return 2;
}
