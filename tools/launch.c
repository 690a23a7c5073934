/* tools/launch.c — coll launch: starts processes that share memory, and ends them */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coll/transports/bootstrap.h"
#include "coll/transports/shm.h"
#include "bind.h"
#include "commands.h"
#include "options.h"

enum { RANKS_MAX = 1024, SHARED = 16 << 20, TERM_MS = 500, KILL_MS = 2500 };
enum {
    RANKS_A_ROOT = 64, /* that find each other: fewer descriptors than any limit */
    ROOTS_MAX = RANKS_MAX / RANKS_A_ROOT
};

struct launch {
    uint64_t p, shared;
    bool bind, top;
    char **program;
    int segment, rendezvous[ROOTS_MAX]; /* what each root listens at */
    uint32_t roots;
    char where[ROOTS_MAX * COLL_RENDEZVOUS_TEXT], secret[COLL_RENDEZVOUS_SECRET];
    pid_t *pid; /* 0: it has ended */
    uint32_t left;
    int code;        /* of the first rank that failed, or 0 */
    uint64_t failed; /* when, in milliseconds; 0: nobody has */
    int sent;        /* the last signal that was sent for it, or 0 */
};

static uint64_t milliseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void signal_all(const struct launch *l, int number)
{
    for (uint64_t r = 0; r < l->p; r++)
        if (l->pid[r] > 0)
            kill(l->pid[r], number);
}

/* Signals that end the launcher, or that programs use: they are for the ranks. */
static void watched(sigset_t *set)
{
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(set, numbers[i]);
}

/* ---- starting ---------------------------------------------------------------------------- */

static void set_number(const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    setenv(name, text, 1);
}

/* Becomes a rank; tells why not through the pipe. */
static _Noreturn void become(const struct launch *l, uint64_t rank, int pipe, pid_t parent)
{
    sigset_t set;
    int error;
    watched(&set);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* where the launcher is killed, and cannot do it */
    if (getppid() != parent)
        _exit(1);
    if (rank > 0) { /* the first has the standard input */
        const int null = open("/dev/null", O_RDONLY);
        if (null > STDIN_FILENO) { /* else there was none, and this is it */
            dup2(null, STDIN_FILENO);
            close(null);
        }
    }
    if (l->bind)
        bind_rank(rank);
    if (l->top)
        setenv("COLL_TOP", "1", 1);
    set_number("COLL_RANK", rank);
    set_number("COLL_SIZE", l->p);
    set_number("COLL_SEGMENT", (uint64_t)l->segment);
    set_number("COLL_SHARED", l->shared);
    setenv("COLL_RENDEZVOUS", l->where, 1);
    setenv("COLL_SECRET", l->secret, 1);
    unsetenv("COLL_RENDEZVOUS_FD");
    for (uint32_t root = 0; root < l->roots; root++)
        if (rank == coll_rendezvous_rank((uint32_t)l->p, l->roots, root) &&
            fcntl(l->rendezvous[root], F_SETFD, 0) == 0)
            set_number("COLL_RENDEZVOUS_FD", (uint64_t)l->rendezvous[root]);
    execvp(l->program[0], l->program);
    error = errno;
    _exit(write(pipe, &error, sizeof error) == (ssize_t)sizeof error ? 127 : 126);
}

/* Ends the ranks that were started, and refuses. */
static _Noreturn void give_up(struct launch *l, const char *what, int error)
{
    signal_all(l, SIGKILL);
    for (uint64_t r = 0; r < l->p; r++) /* not what else is a child of this process */
        if (l->pid[r] > 0)
            (void)waitpid(l->pid[r], NULL, 0);
    refuse("%s: %s", what, strerror(error));
}

static void start(struct launch *l)
{
    char what[200];
    const pid_t parent = getpid();
    int ends[2], error;
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0)
        refuse("no pipe can be made: %s", strerror(errno));
    fflush(NULL);
    for (uint64_t r = 0; r < l->p; r++) {
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            become(l, r, ends[1], parent);
        }
        if (pid < 0) {
            snprintf(what, sizeof what, "rank %" PRIu64 " cannot be started", r);
            give_up(l, what, errno);
        }
        l->pid[r] = pid;
        l->left++;
    }
    close(ends[1]);
    close(l->segment);
    for (uint32_t root = 0; root < l->roots; root++)
        close(l->rendezvous[root]);
    if (read(ends[0], &error, sizeof error) == (ssize_t)sizeof error) {
        snprintf(what, sizeof what, "%.120s cannot be started", l->program[0]);
        give_up(l, what, error);
    }
    close(ends[0]);
}

/* ---- to the end -------------------------------------------------------------------------- */

/* A rank has ended. The first that failed gives the exit code; what others do then is its
 * consequence. */
static void ended(struct launch *l, pid_t pid, int state)
{
    uint64_t rank = 0;
    const int code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    while (rank < l->p && l->pid[rank] != pid)
        rank++;
    if (rank == l->p)
        return;
    l->pid[rank] = 0;
    l->left--;
    if (code == 0 || l->failed)
        return;
    l->code = code;
    l->failed = milliseconds_now();
    if (WIFEXITED(state))
        fprintf(stderr, "coll launch: rank %" PRIu64 " ended with exit code %d\n", rank, code);
    else
        fprintf(stderr, "coll launch: rank %" PRIu64 " was ended by signal %d, %s\n", rank,
                WTERMSIG(state), strsignal(WTERMSIG(state)));
}

/* After a failure the others have a moment to say what they know, and one to clean up. */
static void end_others(struct launch *l)
{
    const uint64_t since = milliseconds_now() - l->failed;
    const int number = since >= KILL_MS ? SIGKILL : since >= TERM_MS ? SIGTERM : 0;
    if (number != l->sent)
        signal_all(l, number);
    l->sent = number;
}

static void reap(struct launch *l)
{
    const struct timespec moment = {0, 50 * 1000 * 1000};
    sigset_t set;
    watched(&set);
    while (l->left > 0) {
        const int number =
            l->failed ? sigtimedwait(&set, NULL, &moment) : sigwaitinfo(&set, NULL);
        pid_t pid;
        int state;
        if (number > 0 && number != SIGCHLD)
            signal_all(l, number);
        while ((pid = waitpid(-1, &state, WNOHANG)) > 0)
            ended(l, pid, state);
        if (l->failed)
            end_others(l);
    }
}

/* Where ranks find each other; descriptors that are no standard streams, which may be closed. */
static void open_rendezvous(struct launch *l)
{
    size_t n = 0;
    l->roots = (uint32_t)((l->p + RANKS_A_ROOT - 1) / RANKS_A_ROOT);
    for (uint32_t root = 0; root < l->roots; root++) {
        char *const where = l->where + n;
        const int fd =
            root == 0 ? coll_rendezvous_open(where, l->secret) : coll_rendezvous_listen(where);
        l->rendezvous[root] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (l->rendezvous[root] < 0)
            refuse("ranks have no place to find each other: %s", strerror(errno));
        close(fd);
        n += strlen(where);
        if (root + 1 < l->roots)
            l->where[n++] = ',';
    }
}

int launch_main(int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct launch l = {.p = cores > 0 ? (uint64_t)cores : 1, .shared = SHARED};
    const struct option options[] = {
        REST("PROGRAM", "what each rank runs, with its arguments", &l.program),
        NUMBER('n', "ranks", "P", "number of ranks (that of the processors)", &l.p, 1,
               RANKS_MAX),
        NUMBER(0, "shared", "BYTES", "SHARED memory of all ranks together (16M)", &l.shared, 0,
               SIZE_MAX / 2),
        FLAG("bind", "each rank stays on one processor", &l.bind),
        FLAG("top", "set COLL_TOP=1, so that coll top shows programs that publish what they do",
             &l.top),
    };
    const struct command launch = {"launch",
                                   "start processes that share memory, or talk by TCP",
                                   "The ranks find COLL_RANK, COLL_SIZE, COLL_SEGMENT and "
                                   "COLL_SHARED in their environment; "
                                   "coll_shm_launched\nof coll/transports/shm.h reads them. "
                                   "COLL_RENDEZVOUS and COLL_SECRET are for coll_tcp_launched\n"
                                   "of coll/transports/bootstrap.h. "
                                   "The first has the standard input. "
                                   "Signals are passed on to all.\nAfter a rank has failed the "
                                   "others are ended. The exit code "
                                   "is that of the first rank that failed,\n128 and the number "
                                   "of the signal if it was one. "
                                   "The segment has no name: nothing is left behind.",
                                   options, sizeof options / sizeof options[0]};
    char why[COLL_SHM_WHY];
    sigset_t set;
    options_read(&launch, argc, argv);
    l.segment = coll_shm_create(NULL, (uint32_t)l.p, (size_t)l.shared, why);
    if (l.segment < 0)
        refuse("%s", why);
    open_rendezvous(&l);
    l.pid = calloc(l.p, sizeof *l.pid);
    if (!l.pid)
        refuse("there is not enough memory");
    watched(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody is told how ranks end */
    start(&l);
    reap(&l);
    free(l.pid);
    return l.code;
}
