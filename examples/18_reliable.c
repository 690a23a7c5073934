/* examples/18_reliable.c — five processes add up their ranks, and one that dies does not stop them
 *
 * In each round the ranks broadcast a number and add up. Rank 2 kills itself in one of them. No
 * call of the others fails: what they get is right, and they know whose contributions are in it.
 * Prints
 *
 *   rank 0: the sum is 10
 *   rank 0: the sum is 8; without rank 2
 *
 *   cc -O2 -Iinclude examples/18_reliable.c -o 18 && ./18
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "coll/comm.h"
#include "coll/comm/reliable.h"
#include "coll/transports/shm.h"

enum { P = 5, F = 1, VICTIM = 2, ROUNDS = 100, DIES_IN = 50, TAGS = 32 };

static int fail(const char *what, coll_status status)
{
    fprintf(stderr, "18_reliable: %s: %s\n", what, coll_status_text(status));
    return 1;
}

/* Says what the sum is, and who is not in it. */
static void say(const coll_reliable *reliable, int32_t sum)
{
    printf("rank 0: the sum is %d", sum);
    for (uint32_t r = 0; r < P; r++)
        if (!coll_reliable_has(reliable, r))
            printf("; without rank %u", r);
    printf("\n");
}

static int run(coll_shm *shm)
{
    static uint64_t recovery_room[COLL_RECOVERY_BYTES(P) / 8 + 1];
    static uint64_t room[COLL_RELIABLE_BYTES(P, F, sizeof(int32_t)) / 8 + 1];
    const uint32_t rank = coll_shm_rank(shm);
    coll_comm comm;
    coll_recovery recovery;
    coll_reliable reliable;
    int32_t own = (int32_t)rank, sum = 0, round = 0;
    coll_status status = coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, P, NULL, 0);
    if (status == COLL_OK)
        status =
            coll_recovery_init(&recovery, &comm, TAGS, recovery_room, sizeof recovery_room);
    if (status == COLL_OK)
        status = coll_reliable_init(&reliable, &recovery, F, room, sizeof room);
    if (status != COLL_OK)
        return fail("cannot begin", status);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == VICTIM && i == DIES_IN)
            (void)raise(SIGKILL);
        round = rank == 0 ? i : -1;
        status = coll_reliable_bcast(&reliable, &round, 1, COLL_I32, 0);
        if (status == COLL_OK)
            status = coll_reliable_allreduce(&reliable, &own, &sum, 1, COLL_I32, COLL_SUM);
        if (status != COLL_OK || round != i)
            return fail("a crash was not survived", status);
        if (rank == 0 && (i == 0 || i == ROUNDS - 1))
            say(&reliable, sum);
    }
    (void)coll_reliable_free(&reliable);
    (void)coll_recovery_free(&recovery);
    (void)coll_comm_free(&comm);
    return sum == 0 + 1 + 3 + 4 ? 0 : 1;
}

int main(void)
{
    char why[COLL_SHM_WHY];
    const int fd = coll_shm_create(NULL, P, 1 << 16, why);
    pid_t pid[P];
    int result = 0;
    if (fd < 0) {
        fprintf(stderr, "18_reliable: %s\n", why);
        return 1;
    }
    for (uint32_t r = 0; r < P; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            coll_shm *shm = coll_shm_attach(fd, r, P, 1 << 16, why);
            if (!shm || !coll_shm_join(shm, 10000, why)) {
                fprintf(stderr, "18_reliable: %s\n", why);
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
