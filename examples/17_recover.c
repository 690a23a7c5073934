/* examples/17_recover.c — four processes, of which one dies; the others go on without it
 *
 * Each adds up the ranks of all, again and again. Rank 2 kills itself on the way. The calls of the others end
 * with an error, they agree that not all was well, and make a communicator of those that are left. Prints
 *
 *   rank 0: 4 ranks, the sum is 6
 *   rank 0: 3 ranks, the sum is 4; without rank 2
 *
 *   cc -O2 -Iinclude examples/17_recover.c -o 17 && ./17
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "coll/comm.h"
#include "coll/comm/recover.h"
#include "coll/transports/shm.h"

enum { P = 4, VICTIM = 2, ROUNDS = 100, DIES_IN = 50, TAGS = 1000, FEW = 64 };

/* Adds up the ranks. */
static coll_status add(coll_comm *comm, int32_t rank, int32_t *sum)
{
    return coll_allreduce(comm, &rank, sum, 1, COLL_I32, COLL_SUM);
}

static int fail(const char *what, coll_status status)
{
    fprintf(stderr, "17_recover: %s: %s\n", what, coll_status_text(status));
    return 1;
}

/* Makes a communicator of the survivors, until one is well. */
static coll_status recover(coll_recovery *recovery, coll_comm *smaller, int32_t rank,
                           int32_t *sum)
{
    for (;;) {
        coll_status status = coll_comm_shrink(recovery, smaller, FEW);
        uint64_t well;
        if (status != COLL_OK)
            return status;
        well = add(smaller, rank, sum) == COLL_OK;
        status = coll_comm_agree(recovery, &well);
        if (status != COLL_OK || well)
            return status;
        (void)coll_comm_free(smaller); /* another one died meanwhile */
    }
}

static int run(coll_shm *shm)
{
    static uint64_t memory[1 << 14], room[COLL_RECOVERY_BYTES(P) / 8 + 1];
    const uint32_t rank = coll_shm_rank(shm);
    coll_comm comm, smaller;
    coll_recovery recovery;
    int32_t sum = 0;
    coll_status status =
        coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, P, memory, sizeof memory);
    if (status == COLL_OK)
        status = coll_recovery_init(&recovery, &comm, TAGS, room, sizeof room);
    if (status != COLL_OK)
        return fail("cannot begin", status);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t well;
        if (rank == VICTIM && i == DIES_IN)
            (void)raise(SIGKILL);
        status = add(&comm, (int32_t)rank, &sum);
        if (i == 0 && rank == 0)
            printf("rank 0: %d ranks, the sum is %d\n", P, sum);
        if (status != COLL_OK)
            (void)coll_comm_revoke(&recovery); /* so that nobody waits for this rank */
        well = status == COLL_OK;
        status = coll_comm_agree(&recovery, &well);
        if (status != COLL_OK)
            return fail("cannot agree", status);
        if (!well)
            break;
    }
    status = recover(&recovery, &smaller, (int32_t)rank, &sum);
    if (status != COLL_OK)
        return fail("cannot recover", status);
    if (rank == 0) {
        printf("rank 0: %u ranks, the sum is %d; without", smaller.p, sum);
        for (uint32_t r = 0; r < P; r++)
            if (coll_recovery_is_lost(&recovery, r))
                printf(" rank %u", r);
        printf("\n");
    }
    (void)coll_comm_free(&smaller);
    (void)coll_recovery_free(&recovery);
    (void)coll_comm_free(&comm);
    return sum == 0 + 1 + 3 ? 0 : 1;
}

int main(void)
{
    char why[COLL_SHM_WHY];
    const int fd = coll_shm_create(NULL, P, 1 << 16, why);
    pid_t pid[P];
    int result = 0;
    if (fd < 0) {
        fprintf(stderr, "17_recover: %s\n", why);
        return 1;
    }
    for (uint32_t r = 0; r < P; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            coll_shm *shm = coll_shm_attach(fd, r, P, 1 << 16, why);
            if (!shm || !coll_shm_join(shm, 10000, why)) {
                fprintf(stderr, "17_recover: %s\n", why);
                _exit(1);
            }
            result = run(shm);
            (void)fflush(stdout);
            coll_shm_detach(shm);
            _exit(result);
        }
    }
    for (uint32_t r = 0; r < P; r++) {
        int state = 0;
        const bool killed = waitpid(pid[r], &state, 0) == pid[r] && WIFSIGNALED(state);
        if (r == VICTIM ? !killed : !WIFEXITED(state) || WEXITSTATUS(state) != 0)
            result = 1;
    }
    return result;
}
