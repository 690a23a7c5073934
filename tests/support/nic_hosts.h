/* tests/support/nic_hosts.h — hosts and their NICs, all in one thread over loopback, with memory that both see
 *
 *   hosts_open(5);                                     // 5 ranks, each a host and a NIC
 *   hosts_describe(rank, slot, &coll_ring_allreduce, COLL_ALLREDUCE, …);
 *   …
 *   hosts_run();                                       // until nothing moves any more
 */
#ifndef COLL_TESTS_NIC_HOSTS_H
#define COLL_TESTS_NIC_HOSTS_H

#include <stdlib.h>
#include <string.h>

#include "coll/nic.h"
#include "coll/reduce.h"
#include "coll/transports/loopback.h"
#include "support/chance.h"
#include "support/check.h"

enum {
    HOSTS = 6,    /* ranks, at most */
    CHANNELS = 4, /* calls at once */
    LINES = 5,    /* programs that a NIC keeps */
    SLOTS = 8,    /* programs that a host has */
    COUNT = 6,    /* elements of a vector, or of a block */
    ELEMENTS = COUNT * HOSTS,
    SCRATCH = 1024, /* elements */
    DESCRIPTOR = 2048,
    MESSAGES = 4096,
    PROGRAM = 1 << 14
};

/* What a host lets its NIC reach. */
typedef struct host_memory {
    int64_t in[CHANNELS][ELEMENTS], out[CHANNELS][ELEMENTS], scratch[CHANNELS][SCRATCH];
    unsigned char descriptor[SLOTS][DESCRIPTOR];
} host_memory;

/* A rank: its host, and its NIC. */
typedef struct host {
    host_memory *memory;
    uint32_t words[COLL_NIC_QUEUE_BYTES(CHANNELS) / 4];
    coll_nic_queue queue;
    coll_nic_call calls[CHANNELS];
    coll_nic_program program[SLOTS];
    size_t described[SLOTS], lowered[SLOTS][PROGRAM / sizeof(size_t)];
    coll_nic_firmware firmware;
    coll_nic_firmware_options options;
    void *nic;
    coll_loopback_rank end;
    unsigned long woken;
} host;

static struct {
    host at[HOSTS];
    uint32_t p;
    coll_loopback world;
    coll_transport transport;
    coll_failure failure;
    unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
    coll_op ops[4];
    uint64_t random;
} hosts;

static void hosts_wake(void *ctx)
{
    ((host *)ctx)->woken++;
}

/* Opens p hosts and NICs, over loopback, or over another transport, whose ranks are at ctx[…]. */
static void hosts_open_over(uint32_t p, const coll_transport *transport, void *const *ctx)
{
    hosts.p = p;
    if (hosts.random == 0)
        hosts.random = 5;
    hosts.transport = transport ? *transport : coll_loopback_transport;
    CHECK_STATUS(coll_op_builtin(&hosts.ops[0], COLL_SUM, COLL_I32), COLL_OK);
    CHECK_STATUS(coll_op_builtin(&hosts.ops[1], COLL_SUM, COLL_I64), COLL_OK);
    CHECK_STATUS(coll_op_builtin(&hosts.ops[2], COLL_MAX, COLL_I64), COLL_OK);
    CHECK_STATUS(coll_op_builtin(&hosts.ops[3], COLL_SUM, COLL_F64), COLL_OK);
    CHECK_STATUS(
        coll_loopback_init(&hosts.world, p, MESSAGES, hosts.messages, sizeof hosts.messages),
        COLL_OK);
    for (uint32_t r = 0; r < p; r++) {
        host *h = &hosts.at[r];
        size_t bytes;
        coll_nic_firmware_options *o = &h->options;
        h->woken = 0;
        h->memory = (host_memory *)malloc(sizeof *h->memory);
        memset(h->memory, 0, sizeof *h->memory);
        memset(h->words, 0, sizeof h->words);
        CHECK_STATUS(coll_loopback_attach(&hosts.world, r, &h->end), COLL_OK);
        CHECK_STATUS(coll_nic_queue_open(&h->queue, h->words, sizeof h->words, h->calls,
                                         CHANNELS, h->memory, sizeof *h->memory),
                     COLL_AGAIN);
        coll_nic_firmware_init_options(o, r, p, &hosts.transport, transport ? ctx[r] : &h->end);
        o->channels = CHANNELS;
        o->lines = LINES;
        o->limits.ops = 100;
        o->limits.counters = 40;
        o->ops = hosts.ops;
        o->n_ops = 4;
        o->words = h->words;
        o->reach = h->memory;
        o->reach_bytes = sizeof *h->memory;
        o->interrupt = hosts_wake;
        o->interrupt_ctx = h;
        bytes = coll_nic_firmware_bytes(o);
        h->nic = malloc(bytes); /* a sanitizer sees who goes beyond it */
        CHECK_STATUS(coll_nic_firmware_open(&h->firmware, o, h->nic, bytes - 1),
                     COLL_ERR_MEMORY);
        CHECK_STATUS(coll_nic_firmware_open(&h->firmware, o, h->nic, bytes), COLL_OK);
        CHECK_STATUS(coll_nic_queue_open(&h->queue, h->words, sizeof h->words, h->calls,
                                         CHANNELS, h->memory, sizeof *h->memory),
                     COLL_OK);
        CHECK_EQ(coll_nic_queue_rank(&h->queue), r);
        CHECK_EQ(coll_nic_queue_ranks(&h->queue), p);
        CHECK_EQ(coll_nic_queue_lines(&h->queue), LINES);
    }
}

static inline void hosts_open(uint32_t p)
{
    hosts_open_over(p, NULL, NULL);
}

static void hosts_close(void)
{
    for (uint32_t r = 0; r < hosts.p; r++) {
        coll_nic_firmware_close(&hosts.at[r].firmware);
        CHECK_EQ(coll_nic_queue_strays(&hosts.at[r].queue), 0);
        free(hosts.at[r].nic);
        free(hosts.at[r].memory);
    }
    CHECK_EQ(hosts.world.n_free, MESSAGES);
}

/* Has a host make a program for one of its slots, and its descriptor. `place`: the host does what it may. */
static coll_status hosts_describe(uint32_t r, uint32_t slot, const coll_plan *plan, bool place)
{
    host *h = &hosts.at[r];
    coll_action actions[256];
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_nic_memory memory;
    coll_status status;
    memory.at = h->lowered[slot];
    memory.bytes = sizeof h->lowered[slot];
    memory.used = 0;
    coll_nic_queue_limits(&h->queue, &limits);
    status = coll_schedule_write(&schedule, plan, r, actions, 256);
    if (status == COLL_OK)
        status = coll_nic_lower(&h->program[slot], plan, &schedule, &limits, &memory);
    if (status != COLL_OK)
        return status;
    (void)coll_nic_place(&h->program[slot], &memory, sizeof(int64_t), place ? 1 : SIZE_MAX);
    return coll_nic_describe(&h->program[slot], plan, r, h->memory->descriptor[slot],
                             DESCRIPTOR, &h->described[slot]);
}

/* A request with a channel's buffers. */
static void hosts_request(uint32_t r, uint32_t channel, coll_nic_request *request,
                          coll_collective collective, coll_operator op, coll_type type,
                          uint32_t line)
{
    host_memory *memory = hosts.at[r].memory;
    coll_nic_request_init(request, collective, op, type);
    request->line = line;
    request->in = memory->in[channel];
    request->in_bytes = sizeof memory->in[channel];
    request->out = memory->out[channel];
    request->out_bytes = sizeof memory->out[channel];
    request->scratch = memory->scratch[channel];
    request->scratch_bytes = sizeof memory->scratch[channel];
}

/* … and the descriptor of a slot. */
static void hosts_bring(uint32_t r, coll_nic_request *request, uint32_t slot)
{
    request->descriptor = hosts.at[r].memory->descriptor[slot];
    request->descriptor_bytes = hosts.at[r].described[slot];
    request->program = &hosts.at[r].program[slot];
}

/* Has NICs and hosts take turns at random until nothing has moved for a long time. */
static inline void hosts_run(void)
{
    for (uint32_t quiet = 0; quiet < 50 * hosts.p;) {
        host *h = &hosts.at[chance_of(&hosts.random, hosts.p)];
        bool moved = false;
        if (chance_of(&hosts.random, 3) > 0)
            moved = coll_nic_firmware_progress(&h->firmware) == COLL_OK;
        else
            for (uint32_t c = 0; c < CHANNELS; c++) {
                const uint32_t worked = h->calls[c].worked;
                (void)coll_nic_queue_test(&h->queue, c);
                moved = moved || worked != h->calls[c].worked;
            }
        quiet = moved ? 0 : quiet + 1;
    }
}

#endif /* COLL_TESTS_NIC_HOSTS_H */
