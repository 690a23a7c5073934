/* What a machine's copies take: what follows from it, in which file it is kept, how it is measured; and that
 * all ranks of a segment use the same, and get right results whatever it is. */
#include "support/check.h"

#include "coll/transports/threads.h"

#include "coll/comm.h"
#include "support/machine_costs.h"
#include "support/processes.h"

/* ---- what follows ------------------------------------------------------------------------- */

enum { DIRECTIONS = 4 };

TEST(lengths)
{
    coll_node_costs costs = coll_node_costs_usual();
    CHECK(coll_node_costs_are_well(&costs));
    costs.line_ns = 50;
    costs.kernel_ns = 900;
    costs.slot_ps = 100;
    costs.swap_ps = 200;
    costs.small_ps = 95; /* it would have to save more than a twentieth */
    costs.small_swap_ps = 150;
    costs.huge_ps = 50;
    costs.huge_swap_ps = 80;
    costs.copy_ps = 10;
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_WAY, false), SIZE_MAX);
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_WAY, true), 20001); /* 1 µs / 50 ps */
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_BOTH_WAYS, false), 20001);
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_BOTH_WAYS, true), 8334);
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_COMBINED, true), 20001);
    costs.small_ps = 94; /* … which combining makes less of */
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_WAY, false), 166667);
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_COMBINED, false), 166667);
    costs.copy_ps = 21;
    CHECK_EQ(coll_node_kernel_from(&costs, COLL_NODE_ONE_COMBINED, false), SIZE_MAX);
    for (int d = 0; d < DIRECTIONS; d++)
        for (int huge = 0; huge < 2; huge++) {
            const coll_node_direction direction = (coll_node_direction)d;
            coll_node_costs its = costs;
            size_t from = coll_node_kernel_from(&its, direction, huge != 0), later;
            its.kernel_ns *= 2;
            later = coll_node_kernel_from(&its, direction, huge != 0);
            CHECK(later >= from); /* a dearer call pays later */
            its = costs;
            its.slot_ps *= 2;
            its.swap_ps *= 2;
            CHECK(coll_node_kernel_from(&its, direction, huge != 0) <= from);
            its.kernel_ns = 0; /* there is none */
            CHECK_EQ(coll_node_kernel_from(&its, direction, huge != 0), SIZE_MAX);
            its = costs;
            its.huge_ps = its.huge_swap_ps = 0; /* no huge pages: as small ones */
            CHECK_EQ(coll_node_kernel_from(&its, direction, huge != 0),
                     coll_node_kernel_from(&costs, direction, false));
        }
}

TEST(parts_and_looks)
{
    coll_node_costs costs = coll_node_costs_usual();
    for (uint32_t ns = 1; ns < COLL_NODE_COST_MOST; ns *= 3) {
        size_t part;
        costs.kernel_ns = ns;
        part = coll_node_part_bytes(&costs, true);
        CHECK((part & (part - 1)) == 0 && part >= COLL_NODE_PART_LEAST &&
              part <= COLL_NODE_PART_MOST);
    }
    costs.kernel_ns = 300;
    costs.huge_ps = 40;
    CHECK_EQ(coll_node_part_bytes(&costs, true), 32768); /* 4 · 300 ns / 40 ps = 30,000 */
    costs.huge_ps = costs.small_ps = 0;
    CHECK_EQ(coll_node_part_bytes(&costs, true), COLL_NODE_PART_LEAST);
    costs.look_ns = 40;
    CHECK_EQ(coll_node_looks(&costs, 150000), 3750);
    CHECK_EQ(coll_node_looks(&costs, 1), 1);
    costs.look_ns = 0; /* nonsense divides by nothing */
    CHECK(coll_node_looks(&costs, 7) == 7 && coll_node_looks(&costs, 0) == 1 &&
          coll_node_looks(&costs, UINT64_MAX) == UINT32_MAX);
}

TEST(huge_gain)
{
    coll_node_costs costs = coll_node_costs_usual();
    costs.small_ps = 110;
    costs.huge_ps = 10;
    CHECK_EQ(coll_node_huge_gain_ps(&costs), 100);
    costs.huge_ps = 110;
    CHECK_EQ(coll_node_huge_gain_ps(&costs), 0);
    costs.huge_ps = 0;
    CHECK_EQ(coll_node_huge_gain_ps(&costs), 0);
}

/* ---- files -------------------------------------------------------------------------------- */

static bool same(const coll_node_costs *a, const coll_node_costs *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static char text[COLL_I_NODE_COSTS_TEXT];

/* Is the text with `from` replaced by `to` refused? */
static bool refused(const char *from, const char *to, const char *machine)
{
    char other[2 * COLL_I_NODE_COSTS_TEXT];
    const char *at = strstr(text, from);
    coll_node_costs costs;
    if (!at)
        return false;
    (void)snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, to,
                   at + strlen(from));
    return !coll_node_costs_read(&costs, other, machine);
}

TEST(texts)
{
    const coll_node_costs costs = costs_like(COSTS_PARTS);
    coll_node_costs read;
    const size_t n = coll_node_costs_write(&costs, "one", text, sizeof text);
    CHECK_EQ(n, strlen(text));
    CHECK(coll_node_costs_read(&read, text, "one") && same(&read, &costs));
    CHECK(coll_node_costs_read(&read, text, NULL));
    CHECK(!coll_node_costs_read(&read, text, "on") &&
          !coll_node_costs_read(&read, text, "one2"));
    for (size_t room = 0; room <= n; room++)
        CHECK_EQ(coll_node_costs_write(&costs, "one", text, room), 0);
    CHECK_EQ(coll_node_costs_write(&costs, "one", text, n + 1), n);
    for (size_t cut = 0; cut < n; cut++) { /* of half a file nothing is taken */
        char half[sizeof text];
        memcpy(half, text, cut);
        half[cut] = 0;
        CHECK(!coll_node_costs_read(&read, half, NULL));
    }
    CHECK(refused("coll-node-costs 1", "coll-node-costs 2", NULL));
    CHECK(refused("machine", "engine", NULL));
    CHECK(refused("line_ns ", "line_ns\t", NULL));
    CHECK(refused("line_ns ", "line_ns -", NULL));
    CHECK(refused("line_ns ", "line_ns 1.", NULL));
    CHECK(refused("line_ns ", "line_ns 0000000000", NULL));
    CHECK(refused("line_ns 10", "line_ns 0", NULL));
    CHECK(refused("line_ns 10", "line_ns ", NULL));
    CHECK(refused("line_ns", "look_ns", NULL)); /* there twice */
    CHECK(refused("line_ns", "lines", NULL));
    CHECK(refused("line_ns", "\nline_ns", NULL));
    CHECK(refused("huge_ps 11", "huge_ps 0", NULL)); /* both or none */
    CHECK(refused("small_ps 11", "small_ps 0", NULL));
    CHECK(!refused("line_ns 10", "line_ns 999999999", NULL));
}

/* Writes a file as it comes. */
static void put(const char *path, const char *what, size_t bytes, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    CHECK(fd >= 0 && write(fd, what, bytes) == (ssize_t)bytes && fchmod(fd, mode) == 0);
    (void)close(fd);
}

TEST(files)
{
    const coll_node_costs costs = costs_like(COSTS_KERNEL);
    char path[COSTS_PATH], link[COSTS_PATH + 8];
    coll_node_costs read = coll_node_costs_usual();
    const coll_node_costs before = read;
    const mode_t own = S_IRUSR | S_IWUSR;
    size_t n;
    CHECK(costs_write(path, &costs));
    CHECK(coll_node_costs_load(&read, path, "another machine") && same(&read, &costs));
    read = before;
    CHECK(!coll_node_costs_load(&read, path, "this one"));
    CHECK(chmod(path, own | S_IWGRP) == 0 && !coll_node_costs_load(&read, path, NULL));
    CHECK(chmod(path, own | S_IWOTH) == 0 && !coll_node_costs_load(&read, path, NULL));
    CHECK(chmod(path, own) == 0);
    (void)snprintf(link, sizeof link, "%s.link", path);
    CHECK(symlink(path, link) == 0 && !coll_node_costs_load(&read, link, NULL));
    CHECK(unlink(link) == 0 && !coll_node_costs_load(&read, link, NULL));
    CHECK(mkfifo(link, own) == 0 &&
          !coll_node_costs_load(&read, link, NULL)); /* waits for nobody */
    CHECK(unlink(link) == 0 && mkdir(link, S_IRWXU) == 0 &&
          !coll_node_costs_load(&read, link, NULL) &&
          !coll_node_costs_store(&costs, link, "no file can be renamed to this"));
    CHECK(rmdir(link) == 0);
    if (geteuid() == 0) { /* another user's */
        CHECK(chown(path, 65534, 65534) == 0 && !coll_node_costs_load(&read, path, NULL));
        CHECK(chown(path, 0, 0) == 0 && coll_node_costs_load(&read, path, NULL));
        read = before;
    }
    n = coll_node_costs_write(&costs, "m", text, sizeof text);
    put(path, text, n - 1, own);
    CHECK(!coll_node_costs_load(&read, path, NULL));
    memset(text + n, '\n', sizeof text - n);
    put(path, text, sizeof text, own); /* too long */
    CHECK(!coll_node_costs_load(&read, path, NULL));
    text[n - 2] = 0;
    put(path, text, n, own);
    CHECK(!coll_node_costs_load(&read, path, NULL));
    put(path, "", 0, own);
    CHECK(!coll_node_costs_load(&read, path, NULL));
    CHECK(same(&read, &before)); /* nothing of all that was taken */
    (void)unlink(path);
}

/* ---- finding ------------------------------------------------------------------------------ */

static void remove_cache(const char *cache, const char *file)
{
    char path[COSTS_PATH + 8];
    (void)snprintf(path, sizeof path, "%s/coll", cache);
    (void)unlink(file);
    coll_i_node_set_busy(file, false);
    CHECK(rmdir(path) == 0 && rmdir(cache) == 0); /* there is nothing else in it */
}

/* The machine's own file is made, read, and made anew when it is none. */
TEST(own_file)
{
    char cache[] = "/tmp/coll-cache-XXXXXX", machine[COLL_NODE_MACHINE];
    char file[COLL_I_NODE_COSTS_PATH];
    coll_node_costs found, kept = costs_like(COSTS_LONG);
    (void)unsetenv("COLL_MACHINE");
    if (!CHECK(mkdtemp(cache) != NULL && setenv("XDG_CACHE_HOME", cache, 1) == 0))
        return;
    coll_node_machine(machine);
    CHECK(strlen(machine) > 20 && !strchr(machine, '\n'));
    CHECK(coll_i_node_costs_path(file, sizeof file, machine));
    CHECK(strncmp(file, cache, strlen(cache)) == 0);
    CHECK(coll_node_costs_find(&found, NULL) && coll_node_costs_are_well(&found));
    CHECK(coll_node_costs_store(&kept, file, machine));
    CHECK(coll_node_costs_find(&found, NULL) && same(&found, &kept));
    CHECK(coll_node_costs_store(&kept, file, "another machine whose name has the same hash"));
    CHECK(coll_node_costs_find(&found, NULL) && !same(&found, &kept));
    put(file, "nonsense", 8, S_IRUSR | S_IWUSR);
    coll_i_node_set_busy(file, false);
    CHECK(coll_node_costs_find(&found, NULL));
    if (!coll_node_costs_load(&kept, file, machine)) { /* others run, and it did not end */
        CHECK(coll_i_node_was_busy(file));
        kept = coll_node_costs_usual();
    }
    CHECK(same(&found, &kept));
    CHECK(coll_node_costs_find(&found, NULL) && same(&found, &kept));
    CHECK(setenv("COLL_MACHINE", "off", 1) == 0 && coll_node_costs_find(&found, NULL));
    kept = coll_node_costs_usual();
    CHECK(same(&found, &kept));
    CHECK(setenv("COLL_MACHINE", "", 1) == 0 && coll_node_costs_find(&found, NULL));
    remove_cache(cache, file);
}

/* Where others had the processors lately nothing is measured. */
TEST(busy)
{
    char cache[] = "/tmp/coll-cache-XXXXXX", machine[COLL_NODE_MACHINE];
    char file[COLL_I_NODE_COSTS_PATH], mark[COLL_I_NODE_COSTS_PATH + 8];
    const coll_node_costs usual = coll_node_costs_usual();
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    coll_node_costs found;
    struct stat its;
    (void)unsetenv("COLL_MACHINE");
    if (!CHECK(mkdtemp(cache) != NULL && setenv("XDG_CACHE_HOME", cache, 1) == 0))
        return;
    coll_node_machine(machine);
    CHECK(coll_i_node_costs_path(file, sizeof file, machine) && !coll_i_node_was_busy(file));
    coll_i_node_set_busy(file, true);
    coll_i_node_set_busy(file, true);
    CHECK(coll_i_node_was_busy(file));
    CHECK(coll_node_costs_find(&found, NULL) && same(&found, &usual));
    CHECK(stat(file, &its) != 0);
    coll_i_node_busy_path(file, mark);
    CHECK(utimensat(AT_FDCWD, mark, long_ago, 0) == 0 && !coll_i_node_was_busy(file));
    CHECK(coll_node_costs_find(&found, NULL)); /* it is measured, or busy again */
    CHECK((stat(file, &its) == 0) != coll_i_node_was_busy(file));
    CHECK(setenv("COLL_MACHINE", "off", 1) == 0);
    remove_cache(cache, file);
}

/* Where nothing can be kept nothing is measured. */
TEST(nowhere)
{
    const coll_node_costs usual = coll_node_costs_usual();
    static const char *const homes[] = {"", "relative", "/proc/no/such"};
    coll_node_costs found;
    CHECK(unsetenv("COLL_MACHINE") == 0 && unsetenv("XDG_CACHE_HOME") == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(setenv("HOME", homes[i], 1) == 0);
        CHECK(coll_node_costs_find(&found, NULL) && same(&found, &usual));
    }
    CHECK(setenv("COLL_MACHINE", "off", 1) == 0);
}

/* A file that a user names is an error if it is none. */
TEST(asked)
{
    char path[COSTS_PATH], why[COLL_SHM_WHY] = "";
    coll_node_costs found;
    const coll_node_costs wanted = costs_like(COSTS_KERNEL);
    CHECK(costs_force(path, COSTS_KERNEL));
    CHECK(coll_node_costs_find(&found, why) && same(&found, &wanted));
    put(path, "coll", 4, S_IRUSR | S_IWUSR);
    CHECK(!coll_node_costs_find(&found, why) &&
          strstr(why, "is no file of a machine's costs: ") != NULL);
    why[0] = 0;
    CHECK(coll_shm_create(NULL, 2, 0, why) == -1 && strstr(why, path) != NULL);
    CHECK(!coll_threads_create(2));
    costs_forget(path);
}

/* ---- measuring ----------------------------------------------------------------------------- */

/* It ends, whatever else runs, and what it says is possible. */
TEST(measuring)
{
    const coll_node_costs usual = coll_node_costs_usual();
    coll_node_costs costs = usual;
    uint64_t before[COLL_PROCESSORS_WORDS] = {0}, after[COLL_PROCESSORS_WORDS] = {0};
    bool all = false;
    coll_processors_add(before);
    for (int tries = 0; tries < 20 && !all; tries++)
        all = coll_node_costs_measure(&costs);
    coll_processors_add(after);
    CHECK(memcmp(before, after, sizeof before) == 0); /* it may run where it could before */
    CHECK(coll_node_costs_are_well(&costs));
    CHECK(!all || costs.look_ns < 100000);
    CHECK(!all || costs.huge_ps == 0 || costs.kernel_ns > 0);
}

/* … on one processor, too, where nothing travels. */
TEST(one_processor)
{
    coll_node_costs costs = coll_node_costs_usual();
    const pid_t pid = fork();
    if (pid == 0) {
        unsigned here = 0;
        if (syscall(SYS_getcpu, &here, NULL, NULL) == 0)
            coll_i_node_pin((int32_t)here);
        for (int tries = 0; tries < 20; tries++)
            if (coll_node_costs_measure(&costs))
                _exit(costs.slot_ps == coll_node_costs_usual().slot_ps ? 0 : 1);
        _exit(0);
    }
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 0);
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* The values are the segment's: whatever a rank would find itself, it uses those. */
TEST(both_ends_agree)
{
    char path[2][COSTS_PATH];
    coll_shm *end[2];
    pthread_t thread;
    void *joined = NULL;
    int fd;
    CHECK(costs_force(path[0], COSTS_KERNEL));
    fd = coll_shm_create(NULL, 2, 0, NULL);
    CHECK(costs_force(path[1], COSTS_SLOTS));
    for (uint32_t r = 0; r < 2; r++)
        end[r] = coll_shm_attach(fd, r, 2, 0, NULL);
    (void)close(fd);
    if (!CHECK(end[0] && end[1] && pthread_create(&thread, NULL, ends_join, end[1]) == 0))
        return;
    CHECK(ends_join(end[0]) != NULL);
    (void)pthread_join(thread, &joined);
    CHECK(joined != NULL);
    for (uint32_t r = 0; r < 2; r++) {
        const coll_node_costs its = end[r]->segment->costs, wanted = costs_like(COSTS_KERNEL);
        CHECK(same(&its, &wanted));
    }
    CHECK(memcmp(end[0]->whole_from, end[1]->whole_from, sizeof end[0]->whole_from) == 0);
    CHECK(end[0]->node.medium == end[1]->node.medium &&
          end[0]->node.part == end[1]->node.part && end[0]->node.spins == end[1]->node.spins &&
          end[0]->transport.max_bytes == end[1]->transport.max_bytes);
    CHECK(!end[0]->node.pull || end[0]->node.oversubscribed ||
          end[0]->node.medium == COLL_I_IPC_MEDIUM_LEAST);
    ends_free(end, 2);
    (void)unlink(path[0]);
    costs_forget(path[1]);
}

enum { MOST = 300000 }; /* of more than COLL_NODE_READ bytes */

/* What rank r brings as element i. */
static uint32_t brought(uint32_t r, size_t i)
{
    return (uint32_t)i * 7 + r * 1000;
}

/* All ranks call collectives of several lengths, and look at what comes. */
static int rank_main(coll_shm *shm, void *arg)
{
    static const size_t counts[] = {1, 300, 2100, 9000, 33000, MOST};
    static const coll_collective whats[] = {COLL_REDUCE, COLL_ALLREDUCE, COLL_ALLTOALL,
                                            COLL_SCATTER};
    static uint32_t in[4 * MOST], out[4 * MOST], scratch[12 * MOST];
    const uint32_t rank = coll_shm_rank(shm), p = coll_shm_size(shm);
    coll_comm comm;
    (void)arg;
    if (coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, scratch, sizeof scratch) !=
        COLL_OK)
        return 1;
    for (uint32_t c = 0; c < 4 * sizeof counts / sizeof *counts; c++) {
        const coll_collective what = whats[c % 4];
        const size_t n = counts[c / 4], came = what == COLL_ALLTOALL ? p * n : n;
        coll_args args;
        coll_request request;
        for (size_t i = 0; i < p * n; i++) {
            in[i] = brought(rank, i);
            out[i] = 99;
        }
        coll_args_init(&args, what);
        args.in = in;
        args.out = out;
        args.count = n;
        args.type = COLL_U32;
        args.op = COLL_SUM;
        args.root = p - 1;
        if (coll_post(&comm, &args, &request) < 0 || coll_wait(&request) != COLL_OK)
            return 2;
        for (size_t i = 0; i < came && (what != COLL_REDUCE || rank == p - 1); i++) {
            uint32_t wanted = 0;
            for (uint32_t r = 0; r < p; r++)
                wanted += brought(r, i);
            if (what == COLL_ALLTOALL)
                wanted = brought((uint32_t)(i / n), rank * n + i % n);
            if (what == COLL_SCATTER)
                wanted = brought(p - 1, rank * n + i);
            if (out[i] != wanted)
                return 3;
        }
    }
    return coll_comm_free(&comm) == COLL_OK ? 0 : 4;
}

TEST(every_way)
{
    for (uint32_t kind = 0; kind < COSTS_KINDS; kind++)
        for (uint32_t p = 2; p <= 4; p++) {
            char path[COSTS_PATH];
            pid_t pid[PROCESSES_MOST];
            CHECK(costs_force(path, (costs_of)kind));
            processes_start(pid, p, 4096, p == 3 ? DIRECT | WHOLE : WHOLE, rank_main, NULL);
            CHECK(processes_end(pid, p));
            costs_forget(path);
        }
}

int main(void)
{
    RUN(lengths);
    RUN(parts_and_looks);
    RUN(huge_gain);
    RUN(texts);
    RUN(files);
    RUN(own_file);
    RUN(busy);
    RUN(nowhere);
    RUN(asked);
    RUN(measuring);
    RUN(one_processor);
    RUN(both_ends_agree);
    RUN(every_way);
    return check_done();
}
