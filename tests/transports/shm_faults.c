/* The transport of processes when something goes wrong: a rank killed at any moment, ranks that
 * leave in the middle, segments of runs that crashed. */
#include "support/check.h"

#include <string.h>
#include <sys/stat.h>

#include "support/chance.h"
#include "support/mixed_calls.h"
#include "support/processes.h"
#include "support/records.h"

#include "coll/select/intra_node.h"

enum { RANKS = 3, SHARED = 4 << 20, KILLS = 200 / CHECK_SHARE, TOLD = 42, NOT_JOINED = 43 };

/* Calls collectives until one ends with an error. TOLD: the one that a lost rank gives. */
static int call_on(coll_shm *shm, uint32_t victim)
{
    static mixed_memory mine;
    mixed_memory *const memory = shm->ways & COLL_I_IPC_IN_PLACE
                                     ? (mixed_memory *)coll_shm_alloc(shm, sizeof mine)
                                     : &mine;
    coll_comm comm;
    double x = 1, y;
    coll_status status = COLL_OK;
    if (!memory ||
        coll_comm_init(&comm, coll_shm_transport(shm), shm, shm->node.rank, RANKS,
                       memory->scratch, sizeof memory->scratch) != COLL_OK ||
        (victim == 1 && coll_comm_rules(&comm, coll_node_rules(true, false)) != COLL_OK))
        return 1;
    for (uint64_t seed = 1; status == COLL_OK; seed++)
        if (mixed_calls(&comm, memory, seed, 50) != 0)
            status = COLL_ERR_PEER;
    if (coll_shm_lost(shm) != victim)
        return 2;
    status = coll_allreduce(&comm, &x, &y, 1, COLL_F64, COLL_SUM);
    return status == COLL_ERR_PEER ? TOLD : 3;
}

/* A rank from its beginning: with a name, rank 0 makes the segment. */
static int live(const char *name, int fd, uint32_t rank, uint32_t victim, uint32_t ways)
{
    coll_shm *shm;
    int code;
    if (name)
        fd = rank == 0 ? coll_shm_create(name, RANKS, SHARED, NULL)
                       : coll_shm_open(name, 300, NULL);
    if (fd < 0)
        return rank == 0 ? 4 : NOT_JOINED;
    shm = coll_shm_attach(fd, rank, RANKS, SHARED, NULL);
    if (!shm) /* rank 0 may have ended before it was attached */
        return name && rank != 0 && victim == 0 ? NOT_JOINED : 5;
    (void)close(fd);
    ask(shm, ways);
    if (!coll_shm_join(shm, 300, NULL))
        return NOT_JOINED;
    code = call_on(shm, victim);
    coll_shm_detach(shm);
    return code;
}

/* Starts ranks, and kills one after so many microseconds. Nobody reaps it until the others have
 * noticed. */
static void kill_one(const char *name, uint32_t victim, uint32_t after)
{
    const int fd = name ? -1 : coll_shm_create(NULL, RANKS, SHARED, NULL);
    const struct timespec moment = {0, (long)after * 1000};
    pid_t pid[RANKS];
    for (uint32_t r = 0; r < RANKS; r++) {
        pid[r] = fork();
        if (pid[r] < 0)
            abort();
        if (pid[r] == 0)
            _exit(live(name, fd, r, victim, after % 8));
    }
    if (fd >= 0)
        (void)close(fd);
    (void)nanosleep(&moment, NULL);
    (void)kill(pid[victim], SIGKILL);
    for (uint32_t r = 0; r < RANKS; r++) {
        const int code = r == victim ? TOLD : process_end(pid[r], PROCESSES_PATIENCE);
        if (!CHECK(code == TOLD || code == NOT_JOINED))
            printf("    rank %u ended with %d, rank %u killed after %u µs\n", r, code, victim,
                   after);
    }
    CHECK_EQ(process_end(pid[victim], 0), 1000 + SIGKILL);
}

static unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(a_rank_is_killed)
{
    char name[40];
    const unsigned before = open_files();
    (void)snprintf(name, sizeof name, "/coll-kill-%ld", (long)getpid());
    (void)fflush(stdout);
    for (int i = 0; i < KILLS; i++) {
        const bool named = i % 5 == 0; /* the next one finds what this one leaves */
        kill_one(named ? name : NULL, named ? 0 : chance(RANKS), chance(chance(10000) + 1));
    }
    coll_shm_unlink(name);
    CHECK_EQ(open_files(), before);
}

/* Receives a message of nothing. */
static bool hears(coll_shm *shm, uint32_t peer)
{
    const coll_transport *t = coll_shm_transport(shm);
    coll_handle h = {{0, 0}};
    coll_status status = t->recv(shm, peer, 1, NULL, 0, &h);
    for (uint32_t idle = 0; status == COLL_STARTED || status == COLL_AGAIN; idle++) {
        status = t->test(shm, &h);
        t->wait(shm, idle);
    }
    return status == COLL_OK;
}

static bool tells(coll_shm *shm, uint32_t peer)
{
    coll_handle h = {{0, 0}};
    return coll_shm_transport(shm)->send(shm, peer, 1, NULL, 0, &h) == COLL_OK;
}

/* Leaves while the others wait for it, in a barrier or (arg) where the last one combines for all. They tell
 * it that they are there: none may still be in a call before when another one finds that it has left,
 * which ends all calls. */
static int leave(coll_shm *shm, void *arg)
{
    static mixed_memory memory;
    double x = 1, y;
    coll_comm comm;
    if (coll_comm_init(&comm, coll_shm_transport(shm), shm, shm->node.rank, RANKS,
                       memory.scratch, sizeof memory.scratch) != COLL_OK ||
        mixed_calls(&comm, &memory, 5, 20) != 0)
        return 1;
    if (shm->node.rank == 1)
        return hears(shm, 0) && hears(shm, 2) ? 0 : 4;
    if (!tells(shm, 1))
        return 4;
    if (arg && coll_comm_set_algorithm(&comm, COLL_ALLREDUCE, &coll_in_network_allreduce,
                                       NULL) != COLL_OK)
        return 3;
    return (arg ? coll_allreduce(&comm, &x, &y, 1, COLL_F64, COLL_SUM) : coll_barrier(&comm)) ==
                       COLL_ERR_PEER &&
                   coll_shm_lost(shm) == 1
               ? 0
               : 2;
}

/* Leaves before anybody has sent it anything, while the others wait where the last one combines for all. */
static int leave_at_once(coll_shm *shm, void *arg)
{
    static double scratch[64];
    double x = 1, y;
    coll_comm comm;
    (void)arg;
    if (shm->node.rank == 1)
        return 0;
    if (coll_comm_init(&comm, coll_shm_transport(shm), shm, shm->node.rank, RANKS, scratch,
                       sizeof scratch) != COLL_OK ||
        coll_comm_set_algorithm(&comm, COLL_ALLREDUCE, &coll_in_network_allreduce, NULL) !=
            COLL_OK)
        return 1;
    return coll_allreduce(&comm, &x, &y, 1, COLL_F64, COLL_SUM) == COLL_ERR_PEER &&
                   coll_shm_lost(shm) == 1
               ? 0
               : 2;
}

/* Ranks 0 and 2 are a group; rank 1, which is no member, may leave, and rank 2 not while 0 waits. */
static int leave_a_group(coll_shm *shm, void *arg)
{
    const coll_transport *t = coll_shm_transport(shm);
    const coll_network_group two = {COLL_GROUP_NODES, 2};
    double x = 1, y = 0;
    coll_op sum;
    (void)arg;
    if (coll_op_builtin(&sum, COLL_SUM, COLL_F64) != COLL_OK)
        return 1;
    for (int round = 0; round < 2; round++) {
        coll_handle h = {{0, 0}};
        coll_status status;
        if (shm->node.rank == 1 || (round == 1 && shm->node.rank == 2))
            return 0;
        status = network_reduce(t, shm, 3, two, &sum, &y, &x, 1, sizeof x, &h);
        for (uint32_t idle = 0; status == COLL_STARTED || status == COLL_AGAIN; idle++) {
            status = t->test(shm, &h);
            t->wait(shm, idle);
        }
        if (round == 0 && (status != COLL_OK || y != 2))
            return 2;
        if (round == 1)
            return status == COLL_ERR_PEER && coll_shm_lost(shm) == 2 ? 0 : 3;
    }
    return 4;
}

/* Ends well although another left long ago. */
static int stay(coll_shm *shm, void *arg)
{
    static mixed_memory memory;
    const struct timespec long_time = {0, 100 * 1000 * 1000};
    coll_comm comm;
    (void)arg;
    if (coll_comm_init(&comm, coll_shm_transport(shm), shm, shm->node.rank, RANKS,
                       memory.scratch, sizeof memory.scratch) != COLL_OK ||
        mixed_calls(&comm, &memory, 5, 20) != 0)
        return 1;
    if (shm->node.rank == 0) {
        (void)nanosleep(&long_time, NULL);
        return tells(shm, 2) ? 0 : 2;
    }
    return shm->node.rank == 1 || hears(shm, 0) ? 0 : 3;
}

TEST(a_rank_leaves)
{
    pid_t pid[RANKS];
    processes_start(pid, RANKS, SHARED, 0, leave, NULL);
    CHECK(processes_end(pid, RANKS));
    processes_start(pid, RANKS, SHARED, 0, leave, pid);
    CHECK(processes_end(pid, RANKS));
    processes_start(pid, RANKS, SHARED, 0, leave_at_once, NULL);
    CHECK(processes_end(pid, RANKS));
    processes_start(pid, RANKS, SHARED, 0, leave_a_group, NULL);
    CHECK(processes_end(pid, RANKS));
    processes_start(pid, RANKS, SHARED, 0, stay, NULL);
    CHECK(processes_end(pid, RANKS));
}

int main(void)
{
    random_state = 11;
    RUN(a_rank_is_killed);
    RUN(a_rank_leaves);
    return check_done();
}
