/* examples/nic/device.c — the NIC: a processor that has the network, and nothing but the window of its host */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "coll/nic/firmware.h"
#include "coll/reduce.h"
#include "coll/transports/bootstrap.h"
#include "coll/transports/shm.h"

#include "window.h"

/* The network of this rank. */
typedef struct network {
    const coll_transport *transport;
    void *ctx;
    coll_tcp *tcp;
    coll_shm *shm;
    uint32_t rank, p;
} network;

static bool join(network *net, const char *name)
{
    char why[COLL_TCP_WHY + COLL_SHM_WHY] = "";
    memset(net, 0, sizeof *net);
    if (strcmp(name, "shm") == 0) {
        net->shm = coll_shm_launched(10000, why);
        if (net->shm) {
            net->ctx = net->shm;
            net->transport = coll_shm_transport(net->shm);
            net->rank = coll_shm_rank(net->shm);
            net->p = coll_shm_size(net->shm);
        }
    } else {
        net->tcp = coll_tcp_launched(NULL, why);
        if (net->tcp) {
            net->ctx = net->tcp;
            net->transport = &coll_tcp_transport;
            net->rank = coll_tcp_rank(net->tcp);
            net->p = coll_tcp_size(net->tcp);
        }
    }
    if (!net->ctx)
        fprintf(stderr, "nic: %s\n", why);
    return net->ctx != NULL;
}

static void leave(network *net)
{
    if (net->shm)
        coll_shm_detach(net->shm);
    if (net->tcp)
        coll_tcp_close(net->tcp);
}

static void interrupt(void *ctx)
{
    const char byte = 0;
    (void)!send(*(int *)ctx, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* full: it is awake */
}

/* Has the host gone, or closed the card? */
static bool is_over(int host)
{
    struct pollfd descriptor;
    descriptor.fd = host;
    descriptor.events = POLLIN;
    descriptor.revents = 0;
    return poll(&descriptor, 1, 0) != 0;
}

int device_main(window *shared, int host, const char *transport)
{
    static const struct {
        coll_operator op;
        coll_type type;
    } able[] = {{COLL_SUM, COLL_F64}, {COLL_SUM, COLL_I32}, {COLL_MAX, COLL_I64}};
    enum { ABLE = sizeof able / sizeof *able, LOOKS = 64 };
    coll_op ops[ABLE];
    coll_nic_firmware firmware;
    coll_nic_firmware_options options;
    network net;
    coll_status status = COLL_OK;
    void *memory;
    size_t bytes;
    if (!join(&net, transport))
        return 1;
    for (size_t i = 0; i < ABLE && status == COLL_OK; i++)
        status = coll_op_builtin(&ops[i], able[i].op, able[i].type);
    coll_nic_firmware_init_options(&options, net.rank, net.p, net.transport, net.ctx);
    options.channels = CHANNELS;
    options.lines = LINES;
    options.limits.ops = OPS;
    options.limits.counters = COUNTERS;
    options.ops = ops;
    options.n_ops = ABLE;
    options.words = shared->words;
    options.reach = shared->memory;
    options.reach_bytes = sizeof shared->memory;
    options.interrupt = interrupt;
    options.interrupt_ctx = &host;
    bytes = coll_nic_firmware_bytes(&options);
    memory = malloc(bytes);
    if (status == COLL_OK)
        status = memory ? coll_nic_firmware_open(&firmware, &options, memory, bytes)
                        : COLL_ERR_MEMORY;
    if (status == COLL_OK) {
        for (uint32_t idle = 0, turn = 0; turn++ % LOOKS != 0 || !is_over(host);) {
            idle = coll_nic_firmware_progress(&firmware) == COLL_OK ? 0 : idle + 1;
            if (idle > 0 && net.transport->wait)
                net.transport->wait(net.ctx, idle);
        }
        coll_nic_firmware_close(&firmware);
    } else {
        fprintf(stderr, "nic of rank %u: %s\n", net.rank, coll_status_text(status));
    }
    leave(&net);
    free(memory);
    return status == COLL_OK ? 0 : 1;
}
