/* The transport of processes in a strange place: names of something else, streams that are closed, processes
 * that are not those that attached. */
#include "support/check.h"

#include <string.h>
#include <sys/stat.h>

#include "coll/comm.h"
#include "support/processes.h"

static char why[COLL_SHM_WHY];

static const char *own_name(void)
{
    static char name[40];
    (void)snprintf(name, sizeof name, "/coll-strange-%ld", (long)getpid());
    return name;
}

/* What has the name but is no segment stays, and is not waited for but for the time that was given. */
TEST(what_is_not_ours)
{
    static const char theirs[] = "of another program";
    const char *const name = own_name();
    char path[60], read_back[sizeof theirs];
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    CHECK(pwrite(fd, theirs, sizeof theirs, 0) == (ssize_t)sizeof theirs);
    CHECK_EQ(coll_shm_create(name, 2, 0, why), -1);
    CHECK(strstr(why, " is no segment, and stays: choose another name") != NULL);
    CHECK_EQ(coll_shm_open(name, 0, why), -1);
    (void)close(fd);
    fd = shm_open(name, O_RDWR, 0);
    CHECK(fd >= 0 && pread(fd, read_back, sizeof read_back, 0) == (ssize_t)sizeof read_back &&
          memcmp(read_back, theirs, sizeof theirs) == 0);
    CHECK(pwrite(fd, "\0\0\0\0\0\0\0", 8, 0) == 8); /* as if its maker had been killed */
    (void)close(fd);
    fd = coll_shm_create(name, 2, 0, why);
    CHECK(fd >= 0);
    (void)close(fd);
    coll_shm_unlink(name);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_EQ(coll_shm_create(name, 2, 0, why), -1);
    CHECK(strstr(why, " is no segment, and stays: choose another name") != NULL);
    CHECK_EQ(coll_shm_open(name, 3, why), -1);
    CHECK_EQ(unlink(path), 0);
}

/* Who waits for a segment is not given the one that a crashed run left, not even while it is removed. */
TEST(what_is_being_removed)
{
    enum { TIMES = 3000 };
    const char *const name = own_name();
    int old = 0;
    for (int i = 0; i < TIMES; i++) {
        int fd = coll_shm_create(name, 2, 0, NULL);
        pid_t pid;
        (void)close(fd);
        pid = fork();
        if (pid == 0) {
            coll_i_ipc_segment its;
            fd = coll_shm_open(name, PROCESSES_PATIENCE, NULL);
            _exit(pread(fd, &its, sizeof its, 0) == (ssize_t)sizeof its && its.p == 3 ? 0 : 1);
        }
        (void)usleep((unsigned)i * 37 % 400);
        fd = coll_shm_create(name, 3, 0, why);
        old += process_end(pid, PROCESSES_PATIENCE);
        coll_shm_unlink(name);
        (void)close(fd);
    }
    CHECK_EQ(old, 0);
}

/* The sentence about a name of any length says what is wrong with it. */
TEST(long_names)
{
    char name[256];
    memset(name, 'a', sizeof name - 1);
    name[0] = '/';
    name[255] = 0;
    CHECK_EQ(coll_shm_open(name, 0, why), -1);
    CHECK(strncmp(why, "nobody has made the segment /aaa", 32) == 0);
    CHECK_EQ(strlen(why), 28 + 255);
}

/* Where a program has closed its standard streams, no segment becomes one of them. */
TEST(standard_streams)
{
    const char *const name = own_name();
    const pid_t pid = fork();
    if (pid == 0) {
        int fd[3];
        coll_shm *shm;
        (void)close(0);
        (void)close(1);
        (void)close(2);
        fd[0] = coll_shm_create(NULL, 2, 0, NULL);
        fd[1] = coll_shm_create(name, 2, 0, NULL);
        fd[2] = coll_shm_open(name, 0, NULL);
        coll_shm_unlink(name);
        shm = coll_shm_attach(fd[0], 0, 2, 0, NULL);
        for (int i = 0; i < 3; i++)
            if (fd[i] < 3 || (fcntl(fd[i], F_GETFD) == FD_CLOEXEC) != (i > 0))
                _exit(1);
        _exit(shm && shm->fd > 2 && fcntl(shm->fd, F_GETFD) == FD_CLOEXEC ? 0 : 2);
    }
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 0);
}

/* Who asks for the launched rank twice is refused, and keeps a file that has the segment's number now. */
TEST(launched_twice)
{
    const int fd = coll_shm_create(NULL, 1, 0, NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        char number[20];
        (void)snprintf(number, sizeof number, "%d", fd);
        uint64_t value = 0;
        (void)setenv("COLL_RANK", "1098", 1);
        if (!coll_i_ipc_variable("COLL_RANK", 1098, &value, why) || value != 1098 ||
            coll_i_ipc_variable("COLL_RANK", 1097, &value, why))
            _exit(4);
        (void)setenv("COLL_RANK", "0", 1);
        (void)setenv("COLL_SIZE", "1", 1);
        (void)setenv("COLL_SHARED", "0", 1);
        (void)setenv("COLL_SEGMENT", number, 1);
        if (!coll_shm_launched(100, why) || fcntl(fd, F_GETFD) != -1)
            _exit(1);
        if (open("/dev/null", O_RDWR) != fd || coll_shm_launched(100, why))
            _exit(2);
        _exit(fcntl(fd, F_GETFD) == -1 ? 3 : 0);
    }
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 0);
    (void)close(fd);
}

/* A rank has ended, and its number is another process's, which has other things there. */
TEST(memory_of_another)
{
    static unsigned char buf[COLL_SHM_SLOT + 1];
    struct flock lock = coll_i_liveness_lock(0, 1);
    const coll_transport *t;
    coll_shm *end[2];
    coll_handle h;
    pid_t pid;
    if (!CHECK(ends_make(end, 2, 0, COLL_I_IPC_WHOLE)))
        return;
    t = coll_shm_transport(end[0]);
    CHECK_STATUS(t->send(end[0], 1, 0, buf, sizeof buf, &h), COLL_STARTED);
    pid = fork();
    if (pid == 0)
        for (;;)
            (void)poll(NULL, 0, -1);
    end[1]->members[0].pid = (int32_t)pid;
    lock.l_type = F_UNLCK; /* as when its process ends */
    CHECK_EQ(fcntl(end[0]->fd, COLL_I_LIVENESS_SETLK, &lock), 0);
    CHECK_STATUS(t->recv(end[1], 0, 0, buf, sizeof buf, &h), COLL_ERR_PEER);
    CHECK_EQ(coll_shm_lost(end[1]), 0);
    (void)kill(pid, SIGKILL);
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 1000 + SIGKILL);
    ends_free(end, 2);
}

/* Ranks that one process attached, and its children use: the others would read its memory. */
TEST(attached_by_the_parent)
{
    static unsigned char in[2][COLL_SHM_SLOT + 1], out[2][COLL_SHM_SLOT + 1];
    const int fd = coll_shm_create(NULL, 2, 0, NULL);
    coll_shm *end[2];
    pid_t pid[2];
    for (uint32_t r = 0; r < 2; r++)
        end[r] = coll_shm_attach(fd, r, 2, 0, NULL);
    for (uint32_t r = 0; r < 2; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            coll_comm comm;
            memset(in, (int)r + 1, sizeof in);
            _exit(!coll_shm_join(end[r], PROCESSES_PATIENCE, NULL)                           ? 1
                  : coll_comm_init(&comm, coll_shm_transport(end[r]), end[r], r, 2, NULL, 0) ? 2
                  : coll_alltoall(&comm, in, out, sizeof in[0], COLL_U8)                     ? 3
                  : out[0][0] != 1 || out[1][0] != 2                                         ? 4
                                                     : 0);
        }
    }
    for (uint32_t r = 0; r < 2; r++)
        CHECK_EQ(process_end(pid[r], PROCESSES_PATIENCE), 0);
    ends_free(end, 2);
    (void)close(fd);
}

int main(void)
{
    RUN(what_is_not_ours);
    RUN(what_is_being_removed);
    RUN(long_names);
    RUN(standard_streams);
    RUN(launched_twice);
    RUN(memory_of_another);
    RUN(attached_by_the_parent);
    return check_done();
}
