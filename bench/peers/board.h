/* bench/peers/board.h — contestants in several programs take turns, and write down their times
 *
 * The board is a file that all processes map. It lists cells: a collective, a size, and whether each
 * call has the same buffers or ones that were not used for long. A turn is a cell of one contestant
 * in one round; contestants follow each other within a cell, so that what changes on the machine hits
 * all of them alike. Every rank of every program goes through the same list of turns. It sleeps until
 * one of its own comes up, and the last of the p ranks that is done with it wakes the next.
 *
 * In its turn a contestant makes calls back to back behind a barrier of its own, the root moving on
 * with each, so that no rank runs ahead of the others. The time of a call is the mean on the slowest
 * rank. The first round only finds out how many calls fit into a turn.
 */
#ifndef COLL_BENCH_PEERS_BOARD_H
#define COLL_BENCH_PEERS_BOARD_H

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bench.h"
#include "coll/types.h"

enum peers_contestant {
    PEERS_THREADS,
    PEERS_PROCESSES,
    PEERS_SEGMENT, /* processes whose buffers lie in memory that they share */
    PEERS_MPICH,
    PEERS_MPICH_LAYER,
    PEERS_MPICH_SEGMENT, /* … under libcollheap.so, so that all ranks can read the buffers */
    PEERS_OPENMPI,
    PEERS_OPENMPI_LAYER,
    PEERS_OPENMPI_SEGMENT,
    PEERS_TCP, /* processes joined by a network: bench/networks.c */
    PEERS_UCX,
    PEERS_OFI,
    PEERS_JOIN, /* by shared memory within a node, and TCP between nodes; by the rules for nodes … */
    PEERS_FLAT,  /* … by those for ranks of no nodes … */
    PEERS_DPML,  /* … allreduce by dpml … */
    PEERS_MIXED, /* … bcast and allgather by mixed */
    PEERS_LESS,  /* processes, one of whose constants is a third … */
    PEERS_MORE,  /* … or three times as much: bench/constants.sh */
    PEERS_FLOOR, /* what the machine allows */
    PEERS_CONTESTANTS
};

static const char *const peers_names[PEERS_CONTESTANTS] = {
    "threads", "processes",     "segment",
    "mpich",   "mpich_layer",   "mpich_segment",
    "openmpi", "openmpi_layer", "openmpi_segment",
    "tcp",     "ucx",           "ofi",
    "join",    "flat",          "dpml",
    "mixed",   "less",          "more",
    "floor"};

/* What the floor does instead of collectives; in cells of so few bytes it throws a line. */
enum { PEERS_COPY = COLL_COLLECTIVES, PEERS_ADD, PEERS_WORKS };
enum { PEERS_SHORT = 8 };

enum {
    PEERS_CELLS = 512,
    PEERS_ROUNDS = 32,
    PEERS_RANKS = 8,
    PEERS_LARGEST = 4 << 20,
    PEERS_ARENA = 2 * PEERS_RANKS * PEERS_LARGEST + 64 /* bytes: two of the largest buffers */
};

typedef struct peers_cell {
    uint32_t work; /* a coll_collective, or one of the floor's */
    uint32_t rotated;
    size_t bytes; /* of the vector, or of one block */
} peers_cell;

typedef struct peers_board {
    uint32_t p, rounds, present; /* mask of contestants */
    uint32_t n_cells;
    uint32_t there;      /* ranks that have come, of all programs */
    uint32_t turn, done; /* ranks that are done with this turn */
    peers_cell cells[PEERS_CELLS];
    /* Nanoseconds of a call, as the bits of a double: of these, too, the largest is the largest. */
    uint64_t ns[PEERS_ROUNDS + 1][PEERS_CELLS][PEERS_CONTESTANTS];
} peers_board;

static inline const char *peers_work_name(uint32_t work)
{
    return work < COLL_COLLECTIVES ? coll_collective_name((coll_collective)work)
           : work == PEERS_COPY    ? "copy"
                                   : "add";
}

/* ---- collectives ------------------------------------------------------------------------- */

#define PEERS_SET(a) COLL_BIT(COLL_##a)

/* Those whose size is that of a vector, and, of these, those in which it is cut into blocks. */
enum {
    PEERS_VECTORS = PEERS_SET(BCAST) | PEERS_SET(REDUCE) | PEERS_SET(ALLREDUCE) |
                    PEERS_SET(SCAN) | PEERS_SET(EXSCAN),
    PEERS_CUTS = PEERS_SET(REDUCE_SCATTER) | PEERS_SET(REDUCE_SCATTER_BLOCK)
};

/* Floats of the vector, or of a block. */
static inline size_t peers_count(const peers_cell *cell, uint32_t p)
{
    const size_t n = cell->bytes / sizeof(float);
    return cell->work < COLL_COLLECTIVES && (PEERS_CUTS & COLL_BIT(cell->work)) != 0
               ? (n + p - 1) / p
               : n;
}

/* Bytes of the larger buffer. */
static inline size_t peers_extent(const peers_cell *cell, uint32_t p)
{
    const size_t bytes = peers_count(cell, p) * sizeof(float);
    if (cell->work >= COLL_COLLECTIVES)
        return cell->work == PEERS_ADD ? 2 * bytes
                                       : bytes; /* two vectors, one behind the other */
    return (PEERS_VECTORS & COLL_BIT(cell->work)) != 0 ? bytes : p * bytes;
}

/* ---- the board --------------------------------------------------------------------------- */

/* Maps the board, or ends the program. */
static inline peers_board *peers_open(const char *path, bool create)
{
    const int file = open(path, create ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0600);
    void *at = MAP_FAILED;
    if (file >= 0 && (!create || ftruncate(file, sizeof(peers_board)) == 0))
        at = mmap(NULL, sizeof(peers_board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(file);
    return at;
}

/* Does a contestant have turns in a cell? */
static inline bool peers_plays(const peers_board *board, const peers_cell *cell, uint32_t who)
{
    if ((board->present & COLL_BIT(who)) == 0)
        return false;
    switch (who) {
    case PEERS_FLOOR:
        return cell->work >= COLL_COLLECTIVES || cell->bytes <= PEERS_SHORT;
    case PEERS_DPML:
        return cell->work == COLL_ALLREDUCE;
    case PEERS_MIXED:
        return cell->work == COLL_BCAST || cell->work == COLL_ALLGATHER;
    default:
        return cell->work < COLL_COLLECTIVES;
    }
}

static inline double peers_ns(const peers_board *board, uint32_t round, uint32_t cell,
                              uint32_t who)
{
    double ns;
    memcpy(&ns, &board->ns[round][cell][who], sizeof ns);
    return ns;
}

/* ---- turns ------------------------------------------------------------------------------- */

/* A rank of a program. */
typedef struct peers_member {
    peers_board *board;
    uint32_t rank;
    uint32_t mine;   /* mask of contestants that the program plays */
    uint32_t warm;   /* … that have had a turn */
    float *in, *out; /* PEERS_ARENA bytes each */
    /* One call. */
    void (*call)(struct peers_member *me, uint32_t who, const peers_cell *cell, uint32_t root,
                 const float *in, float *out);
    void *own;
} peers_member;

static inline void peers_sleep_until(peers_board *board, uint32_t turn)
{
    uint32_t now;
    while ((now = __atomic_load_n(&board->turn, __ATOMIC_ACQUIRE)) != turn)
        (void)syscall(SYS_futex, &board->turn, FUTEX_WAIT, now, NULL, NULL, 0);
}

/* This rank is done with the turn; the last one is followed by the next turn. */
static inline void peers_pass_on(peers_board *board, uint32_t turn)
{
    if (__atomic_add_fetch(&board->done, 1, __ATOMIC_ACQ_REL) < board->p)
        return;
    board->done = 0;
    __atomic_store_n(&board->turn, turn + 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &board->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Each rank and the one after it exchange 4 MiB; and what stands before each turn. */
static const peers_cell peers_warm_up = {COLL_NEIGHBOR_ALLGATHER, 0, PEERS_LARGEST},
                        peers_barrier = {COLL_BARRIER, 0, 0};

/* A contestant sends all of its memory, a few times, before its first turn: channels are open then,
 * and pages there, known to the network or larger, as they would be in a program that runs for long. */
static inline void peers_touch(peers_member *me, uint32_t who)
{
    const size_t step = PEERS_LARGEST / sizeof(float), end = PEERS_ARENA / sizeof(float);
    for (int pass = 0; pass < 3; pass++)
        for (size_t at = 0; at + step <= end; at += step) {
            me->call(me, who, &peers_warm_up, 0, me->in + at, me->out);
            me->call(me, who, &peers_warm_up, 0, me->out + at, me->in);
        }
}

/* Nanoseconds of a call on this rank. */
static inline double peers_measure(peers_member *me, uint32_t who, const peers_cell *cell,
                                   size_t calls)
{
    const uint32_t p = me->board->p;
    const size_t step = (peers_extent(cell, p) + 63) / 64 * 64;
    const size_t warm = 2;
    size_t at = 0;
    uint32_t root = 0;
    double begin = 0;
    if (!(me->warm & COLL_BIT(who)) && who != PEERS_FLOOR)
        peers_touch(me, who);
    for (size_t i = 0; i < warm + calls; i++) {
        if (i == warm) {
            me->call(me, who, &peers_barrier, 0, me->in, me->out);
            begin = bench_now();
        }
        me->call(me, who, cell, root, me->in + at / sizeof(float),
                 me->out + at / sizeof(float));
        root = root + 1 == p ? 0 : root + 1;
        at = cell->rotated && at + 2 * step <= PEERS_ARENA ? at + step : 0;
    }
    me->warm |= COLL_BIT(who);
    return (bench_now() - begin) / (double)calls;
}

/* Calls that fit into a turn, as the fastest round so far says: a rank that came late to a turn of
 * few calls makes them slow, and turns of few calls would follow. */
static inline size_t peers_calls(const peers_board *board, uint32_t round, uint32_t cell,
                                 uint32_t who)
{
    const double turn_ns = 3e6;
    double ns = turn_ns / 4;
    for (uint32_t earlier = 0; earlier < round; earlier++) {
        const double then = peers_ns(board, earlier, cell, who);
        ns = then < ns ? then : ns;
    }
    return (size_t)(turn_ns / ns);
}

/* Gives rank `rank` of p a processor of its own; where there are fewer, as many ranks to each. Where the
 * system puts ranks that wake at once is luck, and may last longer than a turn. */
static inline void peers_settle(uint32_t rank, uint32_t p)
{
    cpu_set_t all, mine;
    uint32_t seen = 0, there;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    there = (uint32_t)CPU_COUNT(&all) < p ? (uint32_t)CPU_COUNT(&all) : p;
    CPU_ZERO(&mine);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == rank * there / p)
            CPU_SET(cpu, &mine);
    (void)sched_setaffinity(0, sizeof mine, &mine);
}

/* Waits for the ranks of all programs: those that still start would take processors from the first
 * turns, which tell how many calls fit into the others. */
static inline void peers_meet(peers_board *board)
{
    static const uint32_t programs[] = {COLL_BIT(PEERS_THREADS),
                                        COLL_BIT(PEERS_PROCESSES),
                                        COLL_BIT(PEERS_SEGMENT),
                                        COLL_BIT(PEERS_LESS),
                                        COLL_BIT(PEERS_MORE),
                                        COLL_BIT(PEERS_FLOOR),
                                        COLL_BIT(PEERS_MPICH) | COLL_BIT(PEERS_MPICH_LAYER),
                                        COLL_BIT(PEERS_MPICH_SEGMENT),
                                        COLL_BIT(PEERS_OPENMPI) | COLL_BIT(PEERS_OPENMPI_LAYER),
                                        COLL_BIT(PEERS_OPENMPI_SEGMENT),
                                        COLL_BIT(PEERS_TCP),
                                        COLL_BIT(PEERS_UCX),
                                        COLL_BIT(PEERS_OFI),
                                        COLL_BIT(PEERS_JOIN) | COLL_BIT(PEERS_FLAT) |
                                            COLL_BIT(PEERS_DPML) | COLL_BIT(PEERS_MIXED)};
    uint32_t expected = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        expected += (board->present & programs[i]) != 0 ? board->p : 0;
    (void)__atomic_add_fetch(&board->there, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&board->there, __ATOMIC_ACQUIRE) < expected)
        (void)poll(NULL, 0, 1);
}

/* Goes through all turns. */
static inline void peers_take_turns(peers_member *me)
{
    peers_board *board = me->board;
    uint32_t turn = 0;
    peers_settle(me->rank, board->p);
    peers_meet(board);
    for (uint32_t round = 0; round <= board->rounds; round++)
        for (uint32_t cell = 0; cell < board->n_cells; cell++)
            for (uint32_t who = 0; who < PEERS_CONTESTANTS; who++) {
                uint64_t *most = &board->ns[round][cell][who], seen, bits;
                double ns;
                if (!peers_plays(board, &board->cells[cell], who))
                    continue;
                if (!(me->mine & COLL_BIT(who))) {
                    turn++;
                    continue;
                }
                peers_sleep_until(board, turn);
                ns = peers_measure(me, who, &board->cells[cell],
                                   peers_calls(board, round, cell, who));
                memcpy(&bits, &ns, sizeof bits);
                seen = __atomic_load_n(most, __ATOMIC_RELAXED);
                while (seen < bits &&
                       !__atomic_compare_exchange_n(most, &seen, bits, false, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED))
                    ;
                peers_pass_on(board, turn++);
            }
}

#endif /* COLL_BENCH_PEERS_BOARD_H */
