/* tests/nic/queue.c — hosts post, NICs run, hosts are told: collectives, several at once, refusals, errors, time-outs,
 * work of the host */
#include "coll/algos/bruck.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/fnomial_gather.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/recursive_multiplying_scan.h"
#include "coll/algos/ring.h"
#include "coll/algos/two_level.h"
#include "coll/plan/composite.h"
#include "support/nic_hosts.h"

/* A collective on 64-bit integers. */
typedef struct job {
    const coll_algorithm *algorithm;
    coll_collective collective;
    coll_operator op;
} job;

static const job jobs[] = {{&coll_ring_allreduce, COLL_ALLREDUCE, COLL_SUM},
                           {&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, COLL_MAX},
                           {&coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, COLL_SUM},
                           {&coll_dissemination_barrier, COLL_BARRIER, COLL_NIC_NO_OPERATOR},
                           {&coll_fnomial_bcast, COLL_BCAST, COLL_NIC_NO_OPERATOR},
                           {&coll_fnomial_reduce, COLL_REDUCE, COLL_SUM},
                           {&coll_bruck_allgather, COLL_ALLGATHER, COLL_NIC_NO_OPERATOR},
                           {&coll_pairwise_alltoall, COLL_ALLTOALL, COLL_NIC_NO_OPERATOR},
                           {&coll_recursive_doubling_scan, COLL_SCAN, COLL_SUM},
                           {&coll_fnomial_gather, COLL_GATHER, COLL_NIC_NO_OPERATOR},
                           {&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, COLL_SUM}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* Has all hosts describe a job in a slot. */
static void describe(uint32_t slot, const job *it, bool place)
{
    coll_problem problem;
    coll_problem_init(&problem, it->collective, hosts.p, COUNT, sizeof(int64_t));
    problem.root = hosts.p - 1;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, hosts.p, 2);
    for (uint32_t r = 0; r < hosts.p; r++) {
        static size_t tables[4096];
        coll_workspace workspace;
        coll_plan plan;
        coll_workspace_init(&workspace, r, tables, 4096);
        CHECK_STATUS(coll_plan_build(&plan, it->algorithm, &problem, NULL, &workspace),
                     COLL_OK);
        CHECK_STATUS(hosts_describe(r, slot, &plan, place), COLL_OK);
    }
}

static int64_t value(uint32_t salt, uint32_t rank, uint32_t i)
{
    return (int64_t)salt * 100000 + rank * 1000 + i * 7;
}

static void fill(uint32_t salt, uint32_t channel)
{
    for (uint32_t r = 0; r < hosts.p; r++)
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            hosts.at[r].memory->in[channel][i] = value(salt, r, i);
            hosts.at[r].memory->out[channel][i] = -1;
        }
}

/* Element i of a rank's result. */
static int64_t wanted(const job *it, uint32_t salt, uint32_t rank, uint32_t i)
{
    const uint32_t last = it->collective == COLL_SCAN ? rank : hosts.p - 1;
    const uint32_t own = it->collective == COLL_REDUCE_SCATTER_BLOCK ? rank * COUNT : 0;
    int64_t sum = 0;
    switch (it->collective) {
    case COLL_ALLGATHER:
    case COLL_GATHER:
        return value(salt, i / COUNT, i % COUNT);
    case COLL_ALLTOALL:
        return value(salt, i / COUNT, rank * COUNT + i % COUNT);
    case COLL_BCAST:
        return value(salt, hosts.p - 1, i);
    default:
        for (uint32_t r = 0; r <= last; r++)
            sum = it->op == COLL_MAX ? value(salt, r, i) : sum + value(salt, r, own + i);
        return sum;
    }
}

static bool is_right(const job *it, uint32_t salt, uint32_t channel)
{
    const bool blocks = it->collective == COLL_ALLGATHER || it->collective == COLL_ALLTOALL ||
                        it->collective == COLL_GATHER;
    const uint32_t n = it->collective == COLL_BARRIER ? 0 : blocks ? COUNT * hosts.p : COUNT;
    for (uint32_t r = 0; r < hosts.p; r++) {
        const bool has = (it->collective != COLL_GATHER && it->collective != COLL_REDUCE) ||
                         r == hosts.p - 1;
        for (uint32_t i = 0; i < n && has; i++)
            if (hosts.at[r].memory->out[channel][i] != wanted(it, salt, r, i))
                return false;
    }
    return true;
}

/* A host posts a job; `slot`: with its descriptor, else the line has it. */
static coll_status post(uint32_t r, uint32_t channel, const job *it, uint32_t line,
                        uint32_t slot)
{
    coll_nic_request request;
    hosts_request(r, channel, &request, it->collective, it->op, COLL_I64, line);
    request.combine = &hosts.ops[it->op == COLL_MAX ? 2 : 1];
    request.program = &hosts.at[r].program[line < SLOTS ? line : 0];
    if (slot < SLOTS)
        hosts_bring(r, &request, slot);
    return coll_nic_queue_post(&hosts.at[r].queue, channel, &request);
}

/* All hosts have been told that a channel's call is over, and well. */
static bool all_well(uint32_t channel)
{
    bool well = true;
    for (uint32_t r = 0; r < hosts.p; r++)
        if (coll_nic_queue_test(&hosts.at[r].queue, channel) != COLL_OK) {
            printf("    rank %u: %s\n", r, coll_nic_queue_why(&hosts.at[r].queue, channel));
            well = false;
        }
    return well;
}

TEST(collectives)
{
    for (uint32_t p = 1; p <= HOSTS; p++) {
        hosts_open(p);
        for (uint32_t k = 0; k < JOBS; k++) {
            describe(0, &jobs[k], false);
            for (uint32_t round = 0; round < 4; round++) {
                fill(round, 1);
                for (uint32_t r = 0; r < p; r++)
                    CHECK_STATUS(post(r, 1, &jobs[k], k % LINES, round == 0 ? 0 : SLOTS),
                                 COLL_OK);
                hosts_run();
                if (!CHECK(all_well(1)) || !CHECK(is_right(&jobs[k], round, 1)))
                    printf("    %s %s, p = %u, round %u\n",
                           coll_collective_name(jobs[k].collective), jobs[k].algorithm->name, p,
                           round);
            }
        }
        hosts_close();
    }
}

/* Hosts post on three channels, each in an order of its own. */
TEST(three_at_once)
{
    hosts_open(5);
    for (uint32_t round = 0; round < 60; round++) {
        const job *these[3];
        for (uint32_t c = 0; c < 3; c++) {
            these[c] = &jobs[(round + 3 * c) % JOBS];
            fill(round + c, c);
            describe(c, these[c], round % 2 != 0);
        }
        for (uint32_t r = 0; r < hosts.p; r++)
            for (uint32_t k = 0; k < 3; k++) {
                const uint32_t c = (k + r + round) % 3;
                CHECK_STATUS(post(r, c, these[c], c, c), COLL_OK);
                CHECK_STATUS(post(r, c, these[c], c, c), COLL_ERR_STATE); /* it has a call */
                if (chance_of(&hosts.random, 2))
                    (void)coll_nic_firmware_progress(&hosts.at[r].firmware);
            }
        hosts_run();
        for (uint32_t c = 0; c < 3; c++)
            CHECK(all_well(c) && is_right(these[c], round + c, c));
    }
    hosts_close();
}

/* A program that two channels run at once, each with its buffers. */
TEST(one_program_on_two_channels)
{
    hosts_open(4);
    describe(2, &jobs[0], false);
    for (uint32_t r = 0; r < hosts.p; r++) { /* only put there */
        coll_nic_request request;
        hosts_request(r, 3, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 2);
        hosts_bring(r, &request, 2);
        request.run = false;
        CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, 3, &request), COLL_OK);
    }
    hosts_run();
    CHECK(all_well(3));
    fill(1, 0);
    fill(2, 3);
    for (uint32_t r = 0; r < hosts.p; r++) {
        CHECK_STATUS(post(r, 0, &jobs[0], 2, SLOTS), COLL_OK);
        CHECK_STATUS(post(r, 3, &jobs[0], 2, SLOTS), COLL_OK);
    }
    hosts_run();
    CHECK(all_well(0) && is_right(&jobs[0], 1, 0));
    CHECK(all_well(3) && is_right(&jobs[0], 2, 3));
    hosts_close();
}

/* Operations that are placed on the host are done by it, and no others. */
TEST(the_host_works)
{
    hosts_open(4);
    for (uint32_t k = 0; k < JOBS; k++) {
        uint32_t placed = 0, worked = 0, before[HOSTS];
        describe(1, &jobs[k], true);
        fill(k, 2);
        for (uint32_t r = 0; r < hosts.p; r++) {
            before[r] = hosts.at[r].firmware.channels[2].work;
            CHECK_STATUS(post(r, 2, &jobs[k], 1, 1), COLL_OK);
            for (uint32_t i = 0; i < hosts.at[r].program[1].needs.ops; i++)
                placed += hosts.at[r].program[1].ops[i].kind == COLL_NIC_REDUCE ||
                          hosts.at[r].program[1].ops[i].kind == COLL_NIC_COPY;
        }
        hosts_run();
        CHECK(all_well(2) && is_right(&jobs[k], k, 2));
        for (uint32_t r = 0; r < hosts.p; r++)
            worked += (hosts.at[r].firmware.channels[2].work - before[r]) & 0xff;
        CHECK_EQ(worked, placed);
    }
    hosts_close();
}

/* The host gets what is long enough. */
TEST(places)
{
    const coll_nic_rates nic = {10, 5000}, host = {4000, 50};
    const size_t bytes = coll_nic_crossing_bytes(&nic, &host, 6000000);
    coll_nic_memory memory;
    hosts_open(4);
    describe(0, &jobs[0], false);
    memory.at = hosts.at[1].lowered[0];
    CHECK_EQ(bytes, (6000000 + 4000 - 10) / (5000 - 50) + 1);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, SIZE_MAX), 0);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 17),
             0); /* of 2 elements each */
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 16), 1);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 0), 3);
    CHECK_EQ(coll_nic_crossing_bytes(&host, &nic, 1), SIZE_MAX);
    CHECK_EQ(coll_nic_crossing_bytes(&nic, &nic, 1), SIZE_MAX);
    CHECK_EQ(coll_nic_crossing_bytes(&nic, &nic, 0), 0);
    hosts_close();
}

/* ---- refusals ---------------------------------------------------------------------------- */

/* A call of rank 0 alone; what comes of it. */
static coll_status alone(const coll_nic_request *request, const char *sentence)
{
    host *h = &hosts.at[0];
    coll_status status = coll_nic_queue_post(&h->queue, 0, request);
    CHECK_STATUS(status, COLL_OK);
    hosts_run();
    status = coll_nic_queue_test(&h->queue, 0);
    if (!CHECK(strstr(coll_nic_queue_why(&h->queue, 0), sentence) != NULL))
        printf("    \"%s\" instead of \"%s\"\n", coll_nic_queue_why(&h->queue, 0), sentence);
    return status;
}

/* An allreduce of rank 0. */
static void request_of(coll_nic_request *request)
{
    hosts_request(0, 0, request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
    hosts_bring(0, request, 0);
}

/* The same, of hosts and NICs that have done nothing yet. */
static void fresh(coll_nic_request *request)
{
    hosts_close();
    hosts_open(3);
    describe(0, &jobs[0], false);
    request_of(request);
}

TEST(refusals_of_calls)
{
    coll_nic_request request;
    hosts_open(3);
    fresh(&request);
    request.descriptor = NULL;
    CHECK_STATUS(alone(&request, "there is no program in this line"), COLL_ERR_STATE);
    fresh(&request);
    request.line = LINES;
    CHECK_STATUS(alone(&request, "fewer lines"), COLL_ERR_CAPABILITY);
    fresh(&request);
    request.collective = COLL_SCAN;
    CHECK_STATUS(alone(&request, "another collective"), COLL_ERR_STATE);
    fresh(&request);
    request.op = COLL_PROD;
    CHECK_STATUS(alone(&request, "not this operator"), COLL_ERR_OP);
    fresh(&request);
    request.op = COLL_NIC_NO_OPERATOR;
    CHECK_STATUS(alone(&request, "not this operator"), COLL_ERR_OP);
    fresh(&request);
    request.type = COLL_F32;
    CHECK_STATUS(alone(&request, "not this operator"), COLL_ERR_OP);
    fresh(&request);
    request.type = COLL_OPAQUE(8);
    CHECK_STATUS(alone(&request, "not this operator"), COLL_ERR_OP);
    fresh(&request);
    request.in_bytes = COUNT * sizeof(int64_t) - 1;
    CHECK_STATUS(alone(&request, "a buffer is shorter"), COLL_ERR_SIZE);
    fresh(&request);
    request.in_bytes = 0;
    CHECK_STATUS(alone(&request, "a buffer is shorter"), COLL_ERR_SIZE);
    fresh(&request);
    request.out = (char *)hosts.at[0].memory->out[0] + 4;
    request.out_bytes -= 4;
    CHECK_STATUS(alone(&request, "not aligned"), COLL_ERR_SIZE);
    fresh(&request);
    describe(0, &jobs[JOBS - 1], false);
    hosts_bring(0, &request, 0);
    request.collective = COLL_REDUCE_SCATTER_BLOCK;
    request.scratch_bytes = 8;
    CHECK_STATUS(alone(&request, "a buffer is shorter"), COLL_ERR_SIZE);
    request_of(&request); /* of the channel that has failed */
    CHECK_STATUS(alone(&request, "all ranks have to open it anew"), COLL_ERR_STATE);
    describe(0, &jobs[0], false);
    for (uint32_t r = 0; r < hosts.p; r++) /* and then they do */
        CHECK_EQ(hosts.at[r].firmware.running, 0);
    fill(3, 0);
    for (uint32_t r = 0; r < hosts.p; r++) {
        hosts_request(r, 0, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
        hosts_bring(r, &request, 0);
        request.use = 1;
        CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, 0, &request), COLL_OK);
    }
    hosts_run();
    CHECK(all_well(0) && is_right(&jobs[0], 3, 0));
    hosts_close();
}

/* The host finds out by itself what cannot be posted. */
TEST(refusals_of_the_host)
{
    coll_nic_request request;
    host *h = &hosts.at[0];
    hosts_open(1);
    describe(0, &jobs[0], false);
    request_of(&request);
    CHECK_STATUS(coll_nic_queue_post(NULL, 0, &request), COLL_ERR_NULL);
    CHECK_STATUS(coll_nic_queue_post(&h->queue, CHANNELS, &request), COLL_ERR_COUNTS);
    CHECK_STATUS(coll_nic_queue_test(&h->queue, CHANNELS), COLL_ERR_COUNTS);
    CHECK_STATUS(coll_nic_queue_give_up(&h->queue, 0), COLL_ERR_STATE);
    request.line = COLL_NIC_LINES_MOST;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_COUNTS);
    request_of(&request);
    request.op = COLL_USER_OP;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_OP);
    request_of(&request);
    request.type = COLL_TYPES;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_TYPE);
    request_of(&request);
    request.in = &request;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_PLACE);
    request_of(&request);
    request.out = (unsigned char *)h->memory + sizeof *h->memory - 8;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_PLACE);
    request_of(&request);
    request.descriptor = NULL;
    request.run = false;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_ERR_STATE);
    hosts_close();
}

/* Writes the sum of a descriptor that was changed. */
static void seal(unsigned char *descriptor, size_t bytes)
{
    const uint32_t sum = coll_i_hash(COLL_I_HASH_START, descriptor, bytes - 4);
    for (unsigned i = 0; i < 4; i++)
        descriptor[bytes - 4 + i] = (unsigned char)(sum >> 8 * i);
}

TEST(refusals_of_descriptors)
{
    coll_nic_request request;
    unsigned char *descriptor;
    size_t bytes;
    hosts_open(3);
    describe(0, &jobs[0], false);
    descriptor = hosts.at[0].memory->descriptor[0];
    bytes = hosts.at[0].described[0];
    for (size_t at = 0; at < bytes; at++) { /* one bit, wherever it is */
        descriptor[at] ^= (unsigned char)(1 << at % 8);
        request_of(&request);
        CHECK_STATUS(alone(&request, "the descriptor is damaged"), COLL_ERR_FORMAT);
        descriptor[at] ^= (unsigned char)(1 << at % 8);
    }
    for (size_t n = 0; n < bytes; n += 7) {
        request_of(&request);
        request.descriptor_bytes = n;
        CHECK_STATUS(alone(&request, n == 0 ? "a buffer is" : "the descriptor is damaged"),
                     n == 0 ? COLL_ERR_SIZE : COLL_ERR_FORMAT);
    }
    descriptor[COLL_I_NIC_DESCRIPTOR_HEAD] = 77; /* a version that there is not, with its sum */
    seal(descriptor, bytes);
    request_of(&request);
    CHECK_STATUS(alone(&request, "the program leads beyond"), COLL_ERR_FORMAT);
    describe(0, &jobs[0], false);
    descriptor[16] = 1; /* IN has one element */
    seal(descriptor, bytes);
    request_of(&request);
    CHECK_STATUS(alone(&request, "the program leads beyond"), COLL_ERR_FORMAT);
    describe(0, &jobs[0], false); /* that of another rank */
    memcpy(descriptor, hosts.at[1].memory->descriptor[0], DESCRIPTOR);
    hosts.at[0].described[0] = hosts.at[1].described[0];
    request_of(&request);
    CHECK_STATUS(alone(&request, "of another rank"), COLL_ERR_RANK);
    CHECK_STATUS(hosts.at[0].firmware.lines[0].outline.collective == COLL_COLLECTIVES
                     ? COLL_OK
                     : COLL_ERR_STATE,
                 COLL_OK);
    hosts_close();
}

TEST(what_a_nic_has_is_not_enough)
{
    coll_nic_request request;
    coll_problem problem;
    coll_plan plan;
    coll_schedule schedule;
    coll_action actions[64];
    coll_nic_limits limits;
    coll_nic_memory memory;
    host *h = &hosts.at[0];
    hosts_open(3);
    describe(0, &jobs[0], false);
    h->options.limits.receives = 0; /* a NIC that holds less than it said */
    request_of(&request);
    CHECK_STATUS(alone(&request, "takes more than the NIC has"), COLL_ERR_MEMORY);
    h->options.limits.receives = UINT32_MAX;
    h->firmware.lines[0].memory.bytes = 64;
    request_of(&request);
    CHECK_STATUS(alone(&request, "takes more than the NIC has"), COLL_ERR_MEMORY);
    coll_problem_init(&problem, COLL_ALLREDUCE, 3, COUNT, sizeof(int64_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, actions, 64), COLL_OK);
    coll_nic_queue_limits(&h->queue, &limits);
    limits.unexpected = false;
    memory.at = h->lowered[0];
    memory.bytes = sizeof h->lowered[0];
    memory.used = 0;
    CHECK_STATUS(coll_nic_lower(&h->program[0], &plan, &schedule, &limits, &memory), COLL_OK);
    CHECK_STATUS(coll_nic_describe(&h->program[0], &plan, 0, h->memory->descriptor[0],
                                   DESCRIPTOR, &h->described[0]),
                 COLL_OK);
    request_of(&request);
    request.line = 1;
    CHECK_STATUS(alone(&request, "signals its receives"), COLL_ERR_CAPABILITY);
    hosts_close();
}

/* Posts that are no posts harm nobody, and are counted. */
TEST(strays)
{
    host *h = &hosts.at[0];
    uint32_t strays;
    hosts_open(1);
    describe(0, &jobs[0], false);
    for (uint32_t k = 0; k < 10000; k++) {
        uint32_t word = (uint32_t)chance_bits(&hosts.random);
        if (word == 0)
            continue;
        coll_i_nic_word_set(coll_i_nic_bell(h->words, CHANNELS, h->firmware.taken), word);
        while (coll_nic_firmware_progress(&h->firmware) == COLL_OK)
            ;
        CHECK_EQ(h->firmware.running, 0);
    }
    strays = coll_nic_queue_strays(&h->queue);
    CHECK(strays > 0 && strays < 10000);
    h->firmware.strays = 0;
    coll_i_nic_word_set(&h->words[COLL_I_NIC_HEAD_STRAYS], 0);
    hosts_close();
}

/* ---- errors ------------------------------------------------------------------------------ */

/* A rank never comes: the others give up, have their buffers back, and the channel is closed until all open it
 * anew. */
TEST(giving_up)
{
    coll_nic_request request;
    hosts_open(4);
    describe(0, &jobs[0], false);
    fill(1, 0);
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(coll_nic_queue_test(&hosts.at[r].queue, 0), COLL_AGAIN);
    CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[2].queue, 0), COLL_OK);
    CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[2].queue, 0), COLL_OK); /* once is enough */
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[2].queue, 0), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[1].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[3].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(post(0, 0, &jobs[0], 0, 0), COLL_OK); /* too late */
    CHECK_STATUS(post(2, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[0].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[2].queue, 0), COLL_ERR_STATE);
    for (uint32_t use = 1; use < 4; use++) {
        fill(use, 0);
        for (uint32_t r = 0; r < hosts.p; r++) {
            hosts_request(r, 0, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
            hosts_bring(r, &request, 0);
            request.use = use;
            CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, 0, &request), COLL_OK);
            if (use == 2) /* before the NIC has heard of it */
                CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[r].queue, 0), COLL_OK);
        }
        hosts_run();
        for (uint32_t r = 0; r < hosts.p && use == 2; r++)
            CHECK(coll_nic_queue_test(&hosts.at[r].queue, 0) < 0);
        if (use != 2)
            CHECK(all_well(0) && is_right(&jobs[0], use, 0));
    }
    hosts_close();
}

/* A line whose program runs is not overwritten. */
TEST(a_line_in_use)
{
    coll_nic_request request;
    host *h = &hosts.at[1];
    hosts_open(2);
    describe(0, &jobs[0], false);
    fill(1, 0);
    CHECK_STATUS(post(1, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    hosts_request(1, 1, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
    hosts_bring(1, &request, 0);
    request.run = false;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 1, &request), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&h->queue, 1), COLL_ERR_STATE);
    CHECK(strstr(coll_nic_queue_why(&h->queue, 1), "is running") != NULL);
    CHECK_STATUS(post(0, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    CHECK(all_well(0) && is_right(&jobs[0], 1, 0));
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 1, &request), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&h->queue, 1), COLL_OK);
    hosts_close();
}

/* A NIC that is closed ends its calls, and has nothing of them. */
TEST(closing)
{
    hosts_open(3);
    describe(0, &jobs[0], true);
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    coll_nic_firmware_close(&hosts.at[1].firmware);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[1].queue, 0), COLL_ERR_CANCELLED);
    hosts_close();
}

/* A host is woken when it asked for that, and only then. */
TEST(sleeping)
{
    hosts_open(2);
    describe(0, &jobs[0], false);
    for (uint32_t round = 0; round < 3; round++) {
        const unsigned long before = hosts.at[1].woken;
        fill(round, 0);
        coll_nic_queue_sleeps(&hosts.at[1].queue, round == 1);
        for (uint32_t r = 0; r < hosts.p; r++)
            CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
        hosts_run();
        CHECK(all_well(0));
        CHECK_EQ(hosts.at[1].woken - before, round == 1 ? 1 : 0);
    }
    hosts_close();
}

/* ---- words ------------------------------------------------------------------------------- */

TEST(words)
{
    for (uint32_t k = 1; k < 20000; k++) {
        const uint32_t word = (uint32_t)chance_bits(&hosts.random);
        coll_nic_post it;
        coll_nic_post_read(&it, word);
        CHECK(coll_nic_post_word(&it) == word);
    }
    for (int reason = 0; reason <= COLL_NIC_REASONS + 1; reason++) {
        CHECK(strlen(coll_nic_reason_text((coll_nic_reason)reason)) > 10);
        CHECK((coll_nic_reason_status((coll_nic_reason)reason) == COLL_OK) == (reason == 0));
    }
    for (int status = COLL_ERR_PLACE; status <= 0; status++)
        CHECK_EQ(coll_i_nic_answer_status(
                     coll_i_nic_answer_word((coll_status)status, COLL_NIC_WHY_WORD, 0xffff)),
                 status);
}

TEST(queues_that_are_none)
{
    uint32_t words[COLL_NIC_QUEUE_BYTES(CHANNELS) / 4];
    coll_nic_queue queue;
    coll_nic_call calls[CHANNELS];
    hosts_open(1);
    memcpy(words, hosts.at[0].words, sizeof words);
    CHECK_STATUS(
        coll_nic_queue_open(&queue, words, sizeof words, calls, CHANNELS - 1, words, 1),
        COLL_ERR_MEMORY);
    CHECK_STATUS(
        coll_nic_queue_open(&queue, words, sizeof words - 1, calls, CHANNELS, words, 1),
        COLL_ERR_MEMORY);
    CHECK_STATUS(coll_nic_queue_open(&queue, words, 8, calls, CHANNELS, words, 1),
                 COLL_ERR_MEMORY);
    words[COLL_I_NIC_HEAD_CHANNELS] = 0;
    CHECK_STATUS(coll_nic_queue_open(&queue, words, sizeof words, calls, CHANNELS, words, 1),
                 COLL_ERR_FORMAT);
    words[COLL_I_NIC_HEAD_MAGIC]++;
    CHECK_STATUS(coll_nic_queue_open(&queue, words, sizeof words, calls, CHANNELS, words, 1),
                 COLL_ERR_FORMAT);
    hosts_close();
}

/* Options that cannot be. */
TEST(options)
{
    coll_nic_firmware firmware;
    coll_nic_firmware_options o;
    static size_t memory[1 << 14];
    hosts_open(1);
    o = hosts.at[0].options;
    o.channels = 0;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_COUNTS);
    o.channels = COLL_NIC_CHANNELS_MOST + 1;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_COUNTS);
    o = hosts.at[0].options;
    o.lines = COLL_NIC_LINES_MOST + 1;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_COUNTS);
    o = hosts.at[0].options;
    o.rank = 1;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_RANK);
    o = hosts.at[0].options;
    o.words = NULL;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_NULL);
    o = hosts.at[0].options;
    hosts.transport.tag_ranges = NULL;
    hosts.transport.tags = CHANNELS - 1;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory), COLL_ERR_TAG);
    hosts.transport.failure = NULL;
    CHECK_STATUS(coll_nic_firmware_open(&firmware, &o, memory, sizeof memory),
                 COLL_ERR_CAPABILITY);
    hosts.transport = coll_loopback_transport;
    hosts_close();
}

int main(void)
{
    RUN(collectives);
    RUN(three_at_once);
    RUN(one_program_on_two_channels);
    RUN(the_host_works);
    RUN(places);
    RUN(refusals_of_calls);
    RUN(refusals_of_the_host);
    RUN(refusals_of_descriptors);
    RUN(what_a_nic_has_is_not_enough);
    RUN(strays);
    RUN(giving_up);
    RUN(a_line_in_use);
    RUN(closing);
    RUN(sleeping);
    RUN(words);
    RUN(queues_that_are_none);
    RUN(options);
    return check_done();
}
