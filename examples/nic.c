/* examples/nic.c — host and NIC, end to end: hosts post words, NICs run collectives, hosts sleep until they are told
 *
 *   coll launch -n 4 build/examples/nic tcp          or shm, and how many rounds, and whose NIC dies half way
 *
 * Each rank is two processes, which share a window of memory and nothing else: the host has no network, and the
 * NIC (nic/device.c) knows only what the host has put there. The host lowers a plan for its rank once, and hands it to
 * the NIC as a descriptor with the first call; later calls are one word. Three calls run at once, which every host
 * posts in an order of its own. Reductions of a kilobyte and more are the host's, between messages of the NIC. Every
 * result is compared. Started by itself, the program is the only rank.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/algos/bruck.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "coll/algos/two_level.h"
#include "coll/nic/host_queue.h"
#include "coll/nic/lower.h"
#include "coll/nic/nic_descriptor.h"
#include "coll/nic/nic_place.h"
#include "coll/plan/composite.h"
#include "coll/reduce.h"

#include "nic/window.h"

enum {
    PATIENCE = 20000, /* ms */
    LOWERED = 1 << 18,
    DESCRIPTOR = 1 << 14,
    BUFFER = 1 << 17,
    LONG = 1024 /* from so many bytes on the host reduces */
};

/* What is called. Each has a line of the NIC's memory. */
static const struct job {
    const char *name;
    const coll_algorithm *algorithm;
    coll_collective collective;
    coll_operator op;
    coll_type type;
    size_t count;
} jobs[] = {
    {"allreduce ring", &coll_ring_allreduce, COLL_ALLREDUCE, COLL_SUM, COLL_F64, 1000},
    {"allreduce recursive_doubling", &coll_recursive_doubling_allreduce, COLL_ALLREDUCE,
     COLL_MAX, COLL_I64, 3},
    {"allreduce two_level", &coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, COLL_SUM,
     COLL_I32, 100},
    {"bcast fnomial", &coll_fnomial_bcast, COLL_BCAST, COLL_NIC_NO_OPERATOR, COLL_I64, 2000},
    {"reduce fnomial", &coll_fnomial_reduce, COLL_REDUCE, COLL_SUM, COLL_F64, 8},
    {"allgather bruck", &coll_bruck_allgather, COLL_ALLGATHER, COLL_NIC_NO_OPERATOR, COLL_I32,
     50},
    {"alltoall pairwise", &coll_pairwise_alltoall, COLL_ALLTOALL, COLL_NIC_NO_OPERATOR,
     COLL_I64, 20},
    {"barrier dissemination", &coll_dissemination_barrier, COLL_BARRIER, COLL_NIC_NO_OPERATOR,
     COLL_I32, 0}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* In the memory that the NIC reaches. */
typedef struct room {
    uint64_t in[CHANNELS][BUFFER / 8], out[CHANNELS][BUFFER / 8], scratch[CHANNELS][BUFFER / 8];
    unsigned char descriptor[JOBS][DESCRIPTOR];
} room;
typedef char coll_i_room_fits[sizeof(room) <= MEMORY ? 1 : -1];

/* This rank. */
static struct {
    uint32_t rank, p;
    window *shared;
    room *at;
    coll_nic_queue queue;
    coll_nic_call calls[CHANNELS];
    coll_nic_program programs[JOBS];
    coll_op ops[JOBS];
    size_t lowered[JOBS][LOWERED / sizeof(size_t)];
    size_t described[JOBS]; /* bytes; 0: not yet */
    unsigned placed;        /* operations that the host does */
    int nic;                /* the NIC wakes us by a byte */
    pid_t pid;              /* its process */
    unsigned slept;
} me;

/* ---- values ------------------------------------------------------------------------------ */

/* Element i of what a rank puts in. */
static int64_t value(uint32_t rank, size_t i, uint32_t round)
{
    return (int64_t)(rank * 31 + i * 7 + round) % 1000;
}

static void put(const struct job *it, void *buffer, size_t i, int64_t x)
{
    if (it->type == COLL_F64)
        ((double *)buffer)[i] = (double)x;
    else if (it->type == COLL_I64)
        ((int64_t *)buffer)[i] = x;
    else
        ((int32_t *)buffer)[i] = (int32_t)x;
}

static int64_t get(const struct job *it, const void *buffer, size_t i)
{
    return it->type == COLL_F64   ? (int64_t)((const double *)buffer)[i]
           : it->type == COLL_I64 ? ((const int64_t *)buffer)[i]
                                  : ((const int32_t *)buffer)[i];
}

/* Element i of this rank's result. */
static int64_t wanted(const struct job *it, size_t i, uint32_t round)
{
    int64_t result = 0;
    if (it->collective == COLL_BCAST)
        return value(0, i, round);
    if (it->collective == COLL_ALLGATHER)
        return value((uint32_t)(i / it->count), i % it->count, round);
    if (it->collective == COLL_ALLTOALL)
        return value((uint32_t)(i / it->count), me.rank * it->count + i % it->count, round);
    for (uint32_t r = 0; r < me.p; r++) {
        const int64_t x = value(r, i, round);
        result = it->op == COLL_SUM ? result + x : x > result ? x : result;
    }
    return result;
}

static void fill(const struct job *it, uint32_t channel, uint32_t round)
{
    const size_t n = it->collective == COLL_ALLTOALL ? it->count * me.p : it->count;
    memset(me.at->out[channel], 0xff, sizeof me.at->out[channel]);
    for (size_t i = 0; i < n; i++)
        put(it, me.at->in[channel], i, value(me.rank, i, round));
}

static bool is_right(const struct job *it, uint32_t channel, uint32_t round)
{
    const bool blocks = it->collective == COLL_ALLGATHER || it->collective == COLL_ALLTOALL;
    const size_t n = it->collective == COLL_REDUCE && me.rank != 0 ? 0
                     : blocks                                      ? it->count * me.p
                                                                   : it->count;
    for (size_t i = 0; i < n; i++)
        if (get(it, me.at->out[channel], i) != wanted(it, i, round))
            return false;
    return true;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Lowers a job for this rank, and writes its descriptor. */
static coll_status describe(uint32_t job)
{
    const struct job *it = &jobs[job];
    static size_t tables[4096];
    static coll_action actions[4096];
    coll_workspace workspace;
    coll_problem problem;
    coll_plan plan;
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_nic_program *program = &me.programs[job];
    coll_nic_memory memory = {me.lowered[job], sizeof me.lowered[job], 0};
    coll_status status;
    coll_problem_init(&problem, it->collective, me.p, it->count, coll_type_bytes(it->type));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, me.p, 2);
    coll_workspace_init(&workspace, me.rank, tables, 4096);
    coll_nic_queue_limits(&me.queue, &limits);
    status = coll_plan_build(&plan, it->algorithm, &problem, NULL, &workspace);
    if (status == COLL_OK)
        status = coll_schedule_write(&schedule, &plan, me.rank, actions, 4096);
    if (status == COLL_OK)
        status = coll_nic_lower(program, &plan, &schedule, &limits, &memory);
    if (status == COLL_OK && coll_nic_refusal(&program->needs, &limits)) {
        fprintf(stderr, "nic: %s: %s\n", it->name, coll_nic_refusal(&program->needs, &limits));
        return COLL_ERR_CAPABILITY;
    }
    if (status == COLL_OK && it->op != COLL_NIC_NO_OPERATOR)
        status = coll_op_builtin(&me.ops[job], it->op, it->type);
    if (status == COLL_OK)
        me.placed += coll_nic_place(program, &memory, problem.elem_bytes, LONG);
    return status != COLL_OK
               ? status
               : coll_nic_describe(program, &plan, me.rank, me.at->descriptor[job], DESCRIPTOR,
                                   &me.described[job]);
}

static coll_status post(uint32_t channel, uint32_t job)
{
    const struct job *it = &jobs[job];
    coll_nic_request request;
    coll_nic_request_init(&request, it->collective, it->op, it->type);
    request.line = job;
    if (me.described[job] == 0) {
        const coll_status status = describe(job);
        if (status != COLL_OK)
            return status;
        request.descriptor = me.at->descriptor[job];
        request.descriptor_bytes = me.described[job];
    }
    request.program = &me.programs[job]; /* for what is the host's */
    request.combine = &me.ops[job];
    request.in = me.at->in[channel];
    request.in_bytes = sizeof me.at->in[channel];
    request.out = me.at->out[channel];
    request.out_bytes = sizeof me.at->out[channel];
    request.scratch = me.at->scratch[channel];
    request.scratch_bytes = sizeof me.at->scratch[channel];
    return coll_nic_queue_post(&me.queue, channel, &request);
}

/* Sleeps until the NIC has something to say, or for so many milliseconds. False: it said nothing. */
static bool sleep_until_told(int milliseconds)
{
    struct pollfd descriptor = {me.nic, POLLIN, 0};
    char bytes[64];
    me.slept++;
    return poll(&descriptor, 1, milliseconds) > 0 &&
           recv(me.nic, bytes, sizeof bytes, MSG_DONTWAIT) != 0;
}

/* Waits for a channel's call, for at most PATIENCE; then the NIC gives the buffers back. */
static coll_status finish(uint32_t channel)
{
    coll_status status = COLL_AGAIN;
    for (bool told = true; status == COLL_AGAIN;) {
        if (!told)
            (void)coll_nic_queue_give_up(&me.queue, channel);
        coll_nic_queue_sleeps(&me.queue, true);
        status = coll_nic_queue_test(&me.queue, channel);
        if (status == COLL_AGAIN && !sleep_until_told(PATIENCE)) {
            if (!told) /* not even that: it is gone */
                return COLL_ERR_PEER;
            told = false;
        }
    }
    coll_nic_queue_sleeps(&me.queue, false);
    return status;
}

static coll_status round_of_calls(uint32_t round)
{
    uint32_t job[CHANNELS];
    coll_status first = COLL_OK;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        job[c] = (round + 3 * c) % JOBS;
        fill(&jobs[job[c]], c, round);
    }
    for (uint32_t k = 0; k < CHANNELS && first == COLL_OK; k++) {
        const uint32_t c = (k + me.rank) % CHANNELS;
        first = post(c, job[c]);
        if (first != COLL_OK)
            fprintf(stderr, "nic: rank %u, %s: %s\n", me.rank, jobs[job[c]].name,
                    coll_status_text(first));
    }
    for (uint32_t c = 0; c < CHANNELS && first == COLL_OK; c++) {
        const char *what = jobs[job[c]].name;
        first = finish(c);
        if (first != COLL_OK) {
            fprintf(stderr, "nic: rank %u, %s: %s\n", me.rank, what,
                    coll_nic_queue_why(&me.queue, c));
        } else if (!is_right(&jobs[job[c]], c, round)) {
            fprintf(stderr, "nic: rank %u, %s: the result is wrong\n", me.rank, what);
            first = COLL_ERR_STATE;
        }
    }
    return first;
}

/* ---- the two processes ------------------------------------------------------------------- */

/* Starts the NIC, and waits until it is there. */
static bool plug_in(const char *transport)
{
    int ends[2];
    coll_status status = COLL_AGAIN;
    me.shared = (window *)mmap(NULL, sizeof *me.shared, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (me.shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return false;
    me.pid = fork();
    if (me.pid < 0)
        return false;
    if (me.pid == 0) {
        (void)close(ends[0]);
        _exit(device_main(me.shared, ends[1], transport));
    }
    (void)close(ends[1]);
    me.nic = ends[0];
    me.at = (room *)(void *)me.shared->memory;
    for (int ms = 0; status == COLL_AGAIN && ms < PATIENCE; ms++) {
        struct pollfd gone = {me.nic, 0, 0};
        status = coll_nic_queue_open(&me.queue, me.shared->words, sizeof me.shared->words,
                                     me.calls, CHANNELS, me.at, sizeof me.shared->memory);
        if (status == COLL_AGAIN && poll(&gone, 1, 1) > 0)
            break;
    }
    me.rank = status == COLL_OK ? coll_nic_queue_rank(&me.queue) : 0;
    me.p = status == COLL_OK ? coll_nic_queue_ranks(&me.queue) : 0;
    return status == COLL_OK;
}

int main(int argc, char **argv)
{
    const char *transport = argc > 1 ? argv[1] : "tcp";
    const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
    const long dies = argc > 3 ? strtol(argv[3], NULL, 10) : -1;
    coll_status status = COLL_OK;
    int code = 0;
    if ((strcmp(transport, "tcp") != 0 && strcmp(transport, "shm") != 0) || rounds < 1 ||
        rounds > 1000000) {
        fprintf(
            stderr,
            "usage: nic [tcp|shm [ROUNDS [RANK]]], with 1 to 1000000 rounds; the NIC of RANK "
            "dies half way\n");
        return 2;
    }
    if (!plug_in(transport)) {
        fprintf(stderr, "nic: the NIC does not start\n");
        return 1;
    }
    if (me.p > 64) {
        fprintf(stderr, "nic: the buffers are for 64 ranks, not %u\n", me.p);
        status = COLL_ERR_RANKS;
    }
    for (long round = 0; round < rounds && status == COLL_OK; round++) {
        if (round == rounds / 2 && dies == (long)me.rank)
            (void)kill(me.pid, SIGKILL);
        status = round_of_calls((uint32_t)round);
    }
    (void)close(me.nic);
    if (waitpid(me.pid, &code, 0) != me.pid || (code != 0 && dies != (long)me.rank))
        status = COLL_ERR_PEER;
    if (dies >= 0 &&
        dies < (long)me.p) { /* then it is right that a call has failed, on every rank */
        if (me.rank == 0)
            printf("%u ranks over %s: the NIC of rank %ld died, and %s\n", me.p, transport,
                   dies, status == COLL_OK ? "nobody noticed" : "calls end");
        return status == COLL_OK ? 1 : 0;
    }
    if (status == COLL_OK && me.rank == 0)
        printf("%u rank%s over %s: %ld calls of %d collectives are right; the host %s\n", me.p,
               me.p == 1 ? "" : "s", transport, rounds * CHANNELS, JOBS,
               me.placed > 0 && me.slept > 0 ? "reduced and slept"
               : me.slept > 0                ? "slept"
                                             : "never slept");
    return status == COLL_OK ? 0 : 1;
}
