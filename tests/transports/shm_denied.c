/* The transport of processes where the system refuses something: to read the memory of another
 * process, or more memory. */
#include "support/check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "coll/comm.h"
#include "support/processes.h"

enum { RANKS = 3, LONG = 1 << 20, NOT_ALLOWED = 77 };

/* Has the kernel refuse process_vm_readv to this process, as a container may. */
static bool deny_reading(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter;
    filter.len = sizeof program / sizeof *program;
    filter.filter = program;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

/* A rank that asks for ways to read the others. Rank `denied` may not. */
static int talk(int fd, uint32_t rank, uint32_t denied, uint32_t ways)
{
    static double in[LONG / sizeof(double)], out[LONG / sizeof(double)];
    static unsigned char scratch[2 * LONG];
    const size_t n = sizeof in / sizeof *in;
    coll_shm *shm = coll_shm_attach(fd, rank, RANKS, 0, NULL);
    coll_comm comm;
    if (!shm || (rank == denied && !deny_reading()))
        return 1;
    ask(shm, ways);
    if (!coll_shm_join(shm, PROCESSES_PATIENCE, NULL))
        return 2;
    if (shm->ways != 0 || coll_shm_transport(shm)->max_bytes != COLL_SHM_SLOT ||
        coll_shm_transport(shm)->whole_from || coll_shm_transport(shm)->zero_copy->read)
        return 3;
    for (size_t i = 0; i < n; i++)
        in[i] = (double)(i + rank);
    if (coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, RANKS, scratch,
                       sizeof scratch) != COLL_OK ||
        coll_allreduce(&comm, in, out, n, COLL_F64, COLL_SUM) != COLL_OK)
        return 4;
    for (size_t i = 0; i < n; i++)
        if (out[i] != (double)(RANKS * i + RANKS * (RANKS - 1) / 2))
            return 5;
    if (coll_barrier(&comm) != COLL_OK)
        return 6;
    coll_shm_detach(shm);
    return 0;
}

/* One rank that is denied to read makes all of them stage. */
TEST(reading_is_denied)
{
    static const uint32_t ways[] = {COLL_I_IPC_DIRECT, COLL_I_IPC_WHOLE,
                                    COLL_I_IPC_DIRECT | COLL_I_IPC_WHOLE,
                                    COLL_I_IPC_DIRECT | COLL_I_IPC_IN_PLACE};
    for (uint32_t i = 0; i < 4 * RANKS; i++) {
        const int fd = coll_shm_create(NULL, RANKS, 0, NULL);
        pid_t pid[RANKS];
        for (uint32_t r = 0; r < RANKS; r++) {
            pid[r] = fork();
            if (pid[r] == 0)
                _exit(talk(fd, r, i % RANKS, ways[i / RANKS]));
        }
        for (uint32_t r = 0; r < RANKS; r++)
            CHECK_EQ(process_end(pid[r], PROCESSES_PATIENCE), 0);
        (void)close(fd);
    }
}

/* Gives this process a /dev/shm of so many bytes; false: it may not. */
static bool shrink(const char *size)
{
    return syscall(SYS_unshare, CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev/shm", "tmpfs", 0, size) == 0;
}

/* A full disk is a sentence, nothing is left of the name, and a message for which there is no memory
 * any more is an error, not a signal. */
static int fill_up(void)
{
    static const char name[] = "/coll-test-full";
    static unsigned char message[COLL_SHM_SLOT];
    char why[COLL_SHM_WHY];
    coll_shm *shm;
    coll_handle h;
    int fd;
    if (!shrink("size=65536"))
        return NOT_ALLOWED;
    if (coll_shm_create(name, 2, 1 << 20, why) != -1 ||
        strncmp(why, "there is no space for a segment of ", 35) != 0)
        return 1;
    if (coll_shm_open(name, 0, why) != -1 || strncmp(why, "nobody has made", 15) != 0)
        return 2;
    fd = coll_shm_create(name, 2, 0, why);
    shm = coll_shm_attach(fd, 0, 2, 0, why);
    if (!shm)
        return 3;
    for (int i = 0; i < 3; i++)
        if (coll_shm_transport(shm)->send(shm, 1, 0, message, sizeof message, &h) !=
            COLL_ERR_MEMORY)
            return 4;
    if (coll_shm_transport(shm)->send(shm, 1, 0, message, 8, &h) != COLL_OK)
        return 5;
    coll_shm_detach(shm);
    coll_shm_unlink(name);
    (void)close(fd);
    return coll_shm_open(name, 0, NULL) == -1 ? 0 : 6;
}

/* Memory that programs ask for leaves what messages need, and is released where it fails. */
static int ask_for_all(void)
{
    static const char name[] = "/coll-test-full";
    static unsigned char message[COLL_SHM_SLOT];
    unsigned char *memory[2], *small;
    struct stat before, after;
    coll_shm *shm;
    coll_handle h;
    int fd;
    if (!shrink("size=8m"))
        return NOT_ALLOWED;
    fd = coll_shm_create(name, 2, 0, NULL);
    shm = coll_shm_attach(fd, 0, 2, 0, NULL);
    memory[0] = shm ? (unsigned char *)coll_shm_alloc(shm, 1 << 20) : NULL;
    if (!memory[0] || fstat(shm->fd, &before) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (coll_shm_alloc(shm, 16 << 20) || coll_shm_alloc(shm, 6 << 20))
            return 2; /* more than there is, and more than is to spare */
    if (fstat(shm->fd, &after) != 0 || after.st_blocks != before.st_blocks ||
        shm->segment->space != shm->space + (1 << 20))
        return 6; /* something stays of that */
    small = (unsigned char *)coll_shm_alloc(shm, 1 << 20);
    if (small != memory[0] + (1 << 20))
        return 3;
    while ((memory[1] = (unsigned char *)coll_shm_alloc(shm, 1 << 16)) != NULL)
        memset(memory[1], 1, 1 << 16);
    if (coll_shm_transport(shm)->send(shm, 1, 0, message, 1024, &h) != COLL_OK ||
        coll_shm_transport(shm)->send(shm, 1, 0, message, sizeof message, &h) != COLL_OK)
        return 4;
    if (!coll_shm_free(shm, memory[0]) || coll_shm_alloc(shm, 1 << 20) != memory[0])
        return 5;
    coll_shm_detach(shm);
    coll_shm_unlink(name);
    (void)close(fd);
    return 0;
}

/* What a process did that may have not been allowed to mount anything. */
static void check_mounted(int (*run)(void))
{
    const char *all = getenv("COLL_REQUIRE_ALL");
    const pid_t pid = fork();
    int code;
    if (pid == 0)
        _exit(run());
    code = process_end(pid, PROCESSES_PATIENCE);
    if (code == NOT_ALLOWED && !(all && strcmp(all, "1") == 0)) {
        CHECK_EQ(code, NOT_ALLOWED);
        printf("skipped: a full /dev/shm, as only root may mount a small one\n");
    } else {
        CHECK_EQ(code, 0);
    }
}

TEST(no_space)
{
    check_mounted(fill_up);
    check_mounted(ask_for_all);
}

int main(void)
{
    RUN(reading_is_denied);
    RUN(no_space);
    return check_done();
}
