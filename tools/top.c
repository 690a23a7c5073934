/* tools/top.c — coll top: which calls the ranks of this machine's running jobs are in, and who is waited for
 *
 * Jobs publish what they do in pages (coll/comm/published.h). A page is copied first, and what is said of a job is
 * true of that copy. Why a rank waits is found and said as by explain.h, of the call that some rank has waited for
 * longest.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/comm.h"
#include "coll/comm/published.h"
#include "coll/select/names.h"
#include "commands.h"
#include "memory.h"
#include "options.h"
#include "output.h"

/* Waits that are explained. */
enum { LONG_NS = 100 * 1000 * 1000 };

/* A rank, as its line says. */
struct seen {
    bool told, inside, waits; /* something; is in a call; has waited in it for some time */
    uint64_t call, comm, bytes, since;
    uint32_t what, root, peer; /* COLL_RANK_NONE: nobody knows */
    uint32_t message;          /* of the peer: from 0 on, or COLL_I_EXPLAIN_SENDS … */
    bool has_message;          /* … if that is known */
    coll_compared args;        /* as of compare.h */
    uint32_t process;          /* 0: none, on this machine */
    bool dead;
};

/* A job, at one time. */
struct shown {
    coll_page_head head;
    struct seen *ranks;
    uint64_t now;
};

/* ---- reading ----------------------------------------------------------------------------- */

static void read_comm(const coll_told *told, struct seen *its)
{
    const uint32_t state = (uint32_t)(told->word[0] & 0xff);
    its->call = (told->word[0] >> 16) - (told->word[0] >> 8 & 0xff);
    its->inside = state >= COLL_I_EXPLAIN_INSIDE;
    its->waits = state == COLL_I_EXPLAIN_WAITS;
    its->args.word[0] = told->word[1];
    its->args.word[1] = told->word[2];
    its->what = (uint32_t)coll_compared_value(&its->args, COLL_COMPARE_COLLECTIVE);
    its->bytes = coll_compared_value(&its->args, COLL_COMPARE_COUNT);
    its->since = its->waits ? told->word[4] : 0;
    its->peer = its->waits ? (uint32_t)(told->word[5] >> 32) : COLL_RANK_NONE;
    its->message = (uint32_t)told->word[5];
    its->has_message = its->waits;
}

/* What a line of the MPI layer says is in mpi/layer/late.c. */
static void read_mpi(const coll_told *told, struct seen *its)
{
    enum { CALL, COMM, WHAT, BYTES, ROOT, INSIDE, SINCE };
    const uint32_t peer = (uint32_t)(told->word[INSIDE] >> 8);
    its->call = told->word[CALL] & UINT32_MAX;
    its->comm = told->word[COMM];
    its->inside = its->waits = (told->word[INSIDE] & 0xff) != 0;
    its->what = (uint32_t)told->word[WHAT];
    its->bytes = told->word[BYTES];
    its->since = told->word[SINCE];
    its->peer = its->inside && peer != 0 ? peer - 1 : COLL_RANK_NONE;
    coll_i_compared_set(&its->args, COLL_COMPARE_COLLECTIVE, told->word[WHAT]);
    coll_i_compared_set(&its->args, COLL_COMPARE_ROOT, told->word[ROOT]);
    coll_i_compared_set(&its->args, COLL_COMPARE_COUNT, told->word[BYTES]);
}

/* Copies a page. False: it is none, or nobody is there any more, and then it is removed. */
static bool read_page(const char *path, struct shown *job)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat state;
    unsigned char *memory = MAP_FAILED;
    const coll_page_head *head;
    uint32_t alive = 0;
    coll_board board;
    job->ranks = NULL;
    if (fd >= 0 && fstat(fd, &state) == 0 && state.st_size >= COLL_PAGE_HEAD)
        memory = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return false;
    head = (const coll_page_head *)(void *)memory;
    if (__atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) == COLL_PAGE_MAGIC &&
        head->format < COLL_PAGE_FORMATS && head->p > 0 &&
        coll_page_bytes(head->p) <= (size_t)state.st_size) {
        job->head = *head;
        job->ranks = memory_of(head->p, sizeof *job->ranks);
        coll_board_init(&board, (uint64_t *)(void *)(memory + COLL_PAGE_HEAD), 0, head->p);
        for (uint32_t r = 0; r < job->head.p; r++) {
            struct seen *its = &job->ranks[r];
            coll_told told;
            memset(its, 0, sizeof *its);
            its->peer = COLL_RANK_NONE;
            its->process = coll_page_processes(memory, job->head.p)[r];
            its->dead =
                its->process != 0 && kill((pid_t)its->process, 0) != 0 && errno == ESRCH;
            alive += its->process != 0 && !its->dead;
            its->told = coll_board_ask(&board, r, &told);
            if (its->told && job->head.format == COLL_PAGE_MPI)
                read_mpi(&told, its);
            else if (its->told)
                read_comm(&told, its);
        }
        job->now = coll_page_now(NULL);
        if (alive == 0)
            (void)unlink(path);
    }
    munmap(memory, (size_t)state.st_size);
    if (alive > 0)
        return true;
    free(job->ranks);
    return false;
}

/* ---- why --------------------------------------------------------------------------------- */

static bool is_dead(void *ctx, uint32_t rank)
{
    return ((const struct shown *)ctx)->ranks[rank].dead;
}

/* How long a rank has been in its call, as far as that is known. */
static uint64_t waited(const struct shown *job, const struct seen *its)
{
    return its->since != 0 && job->now > its->since ? job->now - its->since : 0;
}

/* The rank that has waited longest, if that is long. */
static uint32_t longest(const struct shown *job)
{
    uint32_t rank = COLL_RANK_NONE;
    uint64_t most = LONG_NS;
    for (uint32_t r = 0; r < job->head.p; r++)
        if (job->ranks[r].waits && !job->ranks[r].dead && waited(job, &job->ranks[r]) >= most) {
            most = waited(job, &job->ranks[r]);
            rank = r;
        }
    return rank;
}

/* At the end of the chain of those who wait for each other: a rank that waits for nobody, or COLL_RANK_NONE. */
static uint32_t end_of_chain(const struct shown *job, uint32_t from)
{
    for (uint32_t hops = 0; hops < job->head.p; hops++) {
        from = job->ranks[from].peer;
        if (from >= job->head.p)
            return COLL_RANK_NONE;
        if (!job->ranks[from].waits)
            return from;
    }
    return COLL_RANK_NONE;
}

static void say(coll_explain *explain, const struct seen *own, const coll_i_explain_line *its)
{
    char text[400];
    coll_i_pending_words to;
    coll_i_pending_begin(&to, text, sizeof text);
    coll_i_explain_reason(&to, explain, its);
    printf("  call %" PRIu64 ", %s%s\n", own->call,
           coll_collective_name((coll_collective)own->what), text);
}

/* Says of the call that is waited for longest what is wrong with other ranks. */
static void explain_job(struct shown *job)
{
    enum { SAID = 8 };
    const uint32_t p = job->head.p, rank = longest(job);
    uint64_t *memory = memory_of((size_t)p * COLL_BOARD_WORDS, sizeof *memory);
    coll_failure failure = {0};
    coll_transport transport = {0};
    coll_comm comm;
    coll_explain explain;
    coll_i_explain_line its;
    uint32_t said = 0;
    if (rank == COLL_RANK_NONE) {
        free(memory);
        return;
    }
    memset(&comm, 0, sizeof comm);
    memset(&explain, 0, sizeof explain);
    failure.dead = is_dead;
    transport.failure = &failure;
    comm.transport = &transport;
    comm.ctx = job;
    comm.rank = rank;
    comm.p = p;
    explain.comm = &comm;
    explain.options.unit = "ns";
    explain.told.word[1] = job->ranks[rank].args.word[0];
    explain.told.word[2] = job->ranks[rank].args.word[1];
    for (uint32_t r = 0; r < p; r++) {
        const struct seen *from = &job->ranks[r];
        const coll_told told = {
            {from->call << 16 |
                 (uint64_t)(from->inside ? COLL_I_EXPLAIN_INSIDE : COLL_I_EXPLAIN_OUTSIDE),
             from->args.word[0], from->args.word[1], 0, 0, 0, 0}};
        coll_board_init(&explain.board, memory, r, p);
        if (from->told && from->comm == job->ranks[rank].comm)
            coll_board_tell(&explain.board, &told);
    }
    for (uint32_t r = 0; r < p; r++) {
        const struct seen *from = &job->ranks[r];
        if (r == rank || from->process == 0)
            continue;
        explain.rank = r;
        explain.cause = coll_i_explain_of(&explain, r, job->ranks[rank].call, true, &its);
        if (explain.cause == COLL_EXPLAIN_NOTHING || said++ >= SAID)
            continue;
        if (from->told && from->comm != job->ranks[rank].comm && !from->dead)
            printf("  call %" PRIu64 ", %s: rank %u has not called it; %s of another "
                   "communicator, %s\n",
                   job->ranks[rank].call,
                   coll_collective_name((coll_collective)job->ranks[rank].what), r,
                   from->inside ? "it is in a call" : "its last call was",
                   coll_collective_name((coll_collective)from->what));
        else
            say(&explain, &job->ranks[rank], &its);
    }
    if (said > SAID)
        printf("  … and %u more ranks\n", said - SAID);
    explain.rank = said == 0 ? end_of_chain(job, rank) : COLL_RANK_NONE;
    if (explain.rank != COLL_RANK_NONE) {
        explain.cause = COLL_EXPLAIN_SLOW;
        say(&explain, &job->ranks[rank], &its);
    }
    free(memory);
}

/* ---- showing ----------------------------------------------------------------------------- */

static void print_rank(const struct shown *job, uint32_t r)
{
    const struct seen *its = &job->ranks[r];
    printf("%6u %9u ", r, its->process);
    if (its->dead) {
        printf("is dead\n");
        return;
    }
    if (!its->told) {
        printf("has called nothing\n");
        return;
    }
    printf("%8" PRIu64 "  %-20s %12" PRIu64, its->call,
           coll_collective_name((coll_collective)its->what), its->bytes);
    if (!its->inside)
        printf("  is over");
    else if (waited(job, its) == 0)
        printf("  is in it");
    else
        printf("  for %.3f s", (double)waited(job, its) / 1e9);
    if (its->peer != COLL_RANK_NONE && its->has_message && its->message == COLL_I_EXPLAIN_SENDS)
        printf(", until rank %u takes its message", its->peer);
    else if (its->peer != COLL_RANK_NONE && its->has_message)
        printf(", message %u from rank %u", its->message + 1, its->peer);
    else if (its->peer != COLL_RANK_NONE)
        printf(", a message to or from rank %u", its->peer);
    putchar('\n');
}

static void print_job(struct shown *job)
{
    uint32_t elsewhere = 0;
    printf("job %016" PRIx64 ", %u rank%s%s\n", job->head.job, job->head.p,
           job->head.p == 1 ? "" : "s", job->head.format == COLL_PAGE_MPI ? ", MPI" : "");
    printf("  rank   process     call  %-20s %12s\n", "collective",
           job->head.format == COLL_PAGE_MPI ? "bytes" : "count");
    for (uint32_t r = 0; r < job->head.p; r++)
        if (job->ranks[r].process != 0)
            print_rank(job, r);
        else
            elsewhere++;
    if (elsewhere > 0)
        printf("  %u rank%s on other machines, or at the end\n", elsewhere,
               elsewhere == 1 ? " is" : "s are");
    explain_job(job);
}

/* All jobs of this machine, whose pages this user may read. Returns how many. */
static unsigned print_all(const char *only)
{
    DIR *folder = opendir(COLL_PAGE_FOLDER);
    const struct dirent *entry;
    unsigned n = 0;
    if (!folder)
        refuse("%s cannot be read: %s", COLL_PAGE_FOLDER, strerror(errno));
    while ((entry = readdir(folder)) != NULL) {
        const size_t begins = strlen(COLL_PAGE_PREFIX);
        char path[sizeof COLL_PAGE_FOLDER + sizeof entry->d_name + 1];
        struct shown job;
        if (strncmp(entry->d_name, COLL_PAGE_PREFIX, begins) != 0 ||
            (only && strcmp(entry->d_name + begins, only) != 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", COLL_PAGE_FOLDER, entry->d_name);
        if (!read_page(path, &job))
            continue;
        print_job(&job);
        free(job.ranks);
        n++;
    }
    closedir(folder);
    return n;
}

int top_main(int argc, char **argv)
{
    const char *only = NULL;
    uint64_t every = 1;
    bool once = false;
    const struct option options[] = {
        OPTIONAL("JOB", "the number of a job; all jobs without", &only),
        FLAG("once", "print one table, and end", &once),
        NUMBER('s', "seconds", "S", "print the next one after so many seconds (1)", &every, 1,
               3600),
    };
    const struct command top = {
        "top", "show which calls the ranks of running jobs are in, and who is waited for",
        "Jobs are shown that publish what they do, on this machine: MPI programs under the "
        "layer, "
        "with COLL_TOP=1,\nand programs with coll_comm_publish (coll/comm/published.h), "
        "started "
        "by coll launch --top. Of jobs on several\nmachines each machine shows its own ranks.",
        options, sizeof options / sizeof options[0]};
    options_read(&top, argc, argv);
    for (;;) {
        const bool screen = !once && isatty(STDOUT_FILENO);
        if (screen)
            printf("\033[H\033[2J");
        if (print_all(only) == 0)
            printf(only ? "there is no job %s\n" : "no job publishes what it does\n", only);
        fflush(stdout);
        if (once || ferror(stdout))
            return 0;
        sleep((unsigned)every);
    }
}
