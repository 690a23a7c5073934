/* tests/support/processes.h — ranks in shared memory: all in this process, or one a process
 *
 *   coll_shm *end[4];
 *   CHECK(ends_make(end, 4, 0, 0));       // attached and joined, to be used by one thread
 *   ends_free(end, 4);
 *
 *   pid_t pid[4];
 *   processes_start(pid, 4, 0, 0, rank_main, argument);   // int rank_main(coll_shm *shm, void *argument)
 *   CHECK(processes_end(pid, 4));                         // all returned 0
 *
 * The last 0 before: COLL_I_IPC_…, which ways of long messages all ask for; 0 is slots alone.
 */
#ifndef COLL_TESTS_PROCESSES_H
#define COLL_TESTS_PROCESSES_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "coll/transports/shm.h"

enum { PROCESSES_MOST = 16, PROCESSES_PATIENCE = 20000 };

/* Costs are the usual ones, of whatever machine, but where a test or a user says others. */
static inline void usual_costs(void)
{
    (void)setenv("COLL_MACHINE", "off", 0);
}

/* Ways of long messages. */
enum {
    DIRECT = COLL_I_IPC_DIRECT,
    ZERO_COPY = COLL_I_IPC_IN_PLACE,
    WHOLE = COLL_I_IPC_WHOLE,
    PULLS = DIRECT | WHOLE,
    ALL_WAYS = DIRECT | ZERO_COPY | WHOLE,
    FROM_HUGE = COLL_I_IPC_FROM_HUGE /* comes with WHOLE, where the system has it */
};

static inline void ask(coll_shm *shm, uint32_t ways)
{
    if (!(ways & COLL_I_IPC_WHOLE)) /* which nobody need ask for */
        coll_shm_ask_slots(shm);
    if (ways & COLL_I_IPC_DIRECT)
        coll_shm_ask_direct(shm);
    if (ways & COLL_I_IPC_IN_PLACE)
        coll_shm_ask_zero_copy(shm);
}

static inline void *ends_join(void *arg)
{
    return coll_shm_join((coll_shm *)arg, PROCESSES_PATIENCE, NULL) ? arg : NULL;
}

static inline void ends_free(coll_shm **end, uint32_t p)
{
    for (uint32_t r = 0; r < p; r++)
        coll_shm_detach(end[r]);
}

/* Makes a segment and attaches all ranks to it. */
static inline bool ends_make(coll_shm **end, uint32_t p, size_t shared_bytes, uint32_t ways)
{
    const int fd = (usual_costs(), coll_shm_create(NULL, p, shared_bytes, NULL));
    pthread_t thread[PROCESSES_MOST];
    bool well = fd >= 0;
    for (uint32_t r = 0; r < p; r++) {
        end[r] = coll_shm_attach(fd, r, p, shared_bytes, NULL);
        well = well && end[r];
        if (end[r])
            ask(end[r], ways);
    }
    (void)close(fd);
    for (uint32_t r = 0; r < p && well; r++)
        if (pthread_create(&thread[r], NULL, ends_join, end[r]) != 0)
            abort();
    for (uint32_t r = 0; r < p && well; r++) {
        void *joined;
        (void)pthread_join(thread[r], &joined);
        well = well && joined;
    }
    return well;
}

typedef int (*processes_main)(coll_shm *shm, void *arg);

/* Starts p processes; each leaves with what rank_main returns. */
static inline void processes_start(pid_t *pid, uint32_t p, size_t shared_bytes, uint32_t ways,
                                   processes_main rank_main, void *arg)
{
    const int fd = (usual_costs(), coll_shm_create(NULL, p, shared_bytes, NULL));
    (void)fflush(stdout);
    for (uint32_t r = 0; r < p; r++) {
        pid[r] = fork();
        if (pid[r] < 0)
            abort();
        if (pid[r] == 0) {
            char why[COLL_SHM_WHY];
            coll_shm *shm = coll_shm_attach(fd, r, p, shared_bytes, why);
            int code = 99;
            (void)close(fd);
            if (shm)
                ask(shm, ways);
            if (shm && coll_shm_join(shm, PROCESSES_PATIENCE, why))
                code = rank_main(shm, arg);
            else
                printf("    rank %u: %s\n", r, why);
            coll_shm_detach(shm);
            (void)fflush(stdout);
            _exit(code);
        }
    }
    (void)close(fd);
}

/* How a process has ended: its exit code, or the signal + 1000. Kills it after so many
 * milliseconds. */
static inline int process_end(pid_t pid, uint32_t milliseconds)
{
    int state;
    for (uint32_t waited = 0; waitpid(pid, &state, WNOHANG) == 0; waited++) {
        if (waited == milliseconds)
            (void)kill(pid, SIGKILL);
        (void)poll(NULL, 0, 1);
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1000 + WTERMSIG(state);
}

/* Have all returned 0? */
static inline bool processes_end(const pid_t *pid, uint32_t p)
{
    bool well = true;
    for (uint32_t r = 0; r < p; r++) {
        const int code = process_end(pid[r], 3 * PROCESSES_PATIENCE);
        if (code != 0)
            printf("    rank %u ended with %d\n", r, code);
        well = well && code == 0;
    }
    return well;
}

#endif /* COLL_TESTS_PROCESSES_H */
