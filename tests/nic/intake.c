/* tests/nic/intake.c — what a NIC refuses, and with which sentence; and what cannot be posted or opened */
#include "support/nic_jobs.h"

/* ---- posts that are refused ---------------------------------------------------------------- */

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
    request.out = (char *)hosts.at[0].memory->in[0] + 8;
    CHECK_STATUS(alone(&request, "overlaps another"), COLL_ERR_SIZE);
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
    RUN(refusals_of_calls);
    RUN(refusals_of_the_host);
    RUN(refusals_of_descriptors);
    RUN(what_a_nic_has_is_not_enough);
    RUN(strays);
    RUN(queues_that_are_none);
    RUN(options);
    return check_done();
}
