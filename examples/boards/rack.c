/* examples/boards/rack.c — boards on one Ethernet run collectives together, and say what came out
 *
 * Arguments: this board's rank, how many boards there are, milliseconds after which a silent board is dead, and
 * after which a message is sent again, a session, and how many bytes a buffer may have: collectives that need
 * more are left out. The same on all boards, but for the rank.
 *
 * For each job of jobs.h a line: rank, what it was, and the checksum of its result, which reference.c computes
 * on a host. Exit code 0: all were run. 2: the arguments are wrong. 3: there is no network card. 4: a
 * collective failed, or the boards could not be left in peace.
 */
#include "jobs.h"
#include "nic.h"

#ifndef RACK_BYTES
#define RACK_BYTES 8192 /* of each buffer of a rank */
#endif

enum { OPS = JOB_RANKS + 4, EARLY = 4, SENDS = 4 };

static coll_ethernet ethernet;
static unsigned char memory[COLL_ETHERNET_BYTES(JOB_RANKS, OPS, EARLY)];
static uint64_t in[RACK_BYTES / 8], out[RACK_BYTES / 8], scratch[RACK_BYTES / 8];

static void wait_for_frames(void *ctx, uint32_t idle)
{
    (void)ctx, (void)idle;
    nic_wait();
}

static uint64_t ticks(void *arg)
{
    (void)arg;
    return board_now();
}

static void print_sum(uint32_t sum)
{
    char text[9];
    for (uint32_t i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[sum >> (28 - 4 * i) & 15];
    text[8] = '\0';
    board_print(text);
}

static void print_rank(uint32_t rank, const char *what)
{
    board_print("rank ");
    board_print_number(rank);
    board_print(": ");
    board_print(what);
}

/* Runs a job. A board that is gone is found by the transport; the deadline is for all else. */
static coll_status run(job_call *call, const coll_transport *transport, uint64_t deadline)
{
    static const coll_clock clock = {ticks, NULL};
    static coll_outstanding room[SENDS + 1];
    static coll_in_order engine;
    coll_status status = coll_in_order_init(&engine, room, SENDS + 1);
    call->task.transport = transport;
    call->task.ctx = &ethernet;
    if (status == COLL_OK)
        status = coll_in_order_start(&engine, &call->task);
    if (status == COLL_OK)
        status = coll_in_order_wait_until(&engine, &clock, deadline);
    if (status == COLL_AGAIN) {
        (void)coll_in_order_cancel(&engine);
        status = engine.status;
    }
    return status;
}

/* Opens card and transport. */
static coll_status open(uint32_t rank, uint32_t p, uint32_t ms, uint32_t retry_ms,
                        uint32_t session)
{
    const uint32_t tick = board_hz / 1000;
    coll_ethernet_options options;
    unsigned char address[6];
    options.driver = &nic_driver;
    options.nic = NULL;
    options.rank = rank;
    options.p = p;
    options.session = session;
    options.retry = retry_ms * tick;
    options.patience = ms * tick;
    options.ops = OPS;
    options.early = EARLY;
    coll_ethernet_address(session, rank, address);
    return nic_open(address) ? coll_ethernet_init(&ethernet, &options, memory, sizeof memory)
                             : COLL_ERR_IO;
}

int main(void)
{
    static job_call call;
    static coll_transport transport;
    uint32_t argument[6], done = 0;
    coll_status status;
    if (board_arguments(argument, 6) != 6 || argument[0] >= argument[1] ||
        argument[1] > JOB_RANKS || argument[5] > RACK_BYTES) {
        board_print("arguments: RANK RANKS MILLISECONDS RETRY SESSION BYTES\n");
        return 2;
    }
    status = open(argument[0], argument[1], argument[2], argument[3], argument[4]);
    if (status != COLL_OK) {
        print_rank(argument[0], status == COLL_ERR_IO ? "there is no network card\n"
                                                      : coll_status_text(status));
        return 3;
    }
    COLL_COPY(&transport, &coll_ethernet_transport, sizeof transport);
    transport.wait = wait_for_frames;
    for (uint32_t i = 0; i < JOBS && status == COLL_OK; i++) {
        if (!job_fits(&call, i, argument[1], argument[5]))
            continue;
        status = job_make(&call, i, argument[1], argument[0]);
        job_buffers(&call, i, in, out, scratch, argument[5]);
        if (status == COLL_OK)
            status = run(&call, &transport,
                         board_now() + (uint64_t)argument[2] * 4 * (board_hz / 1000));
        print_rank(argument[0], jobs[i].name);
        board_print(": ");
        if (status == COLL_OK)
            print_sum(job_sum(&call));
        else
            board_print(coll_status_text(status));
        board_print("\n");
        done += status == COLL_OK;
    }
    while (coll_ethernet_leave(&ethernet) == COLL_AGAIN)
        nic_wait();
    board_print(board_name);
    board_print(", ");
    print_rank(argument[0], "");
    board_print_number(done);
    board_print(" collectives, ");
    board_print_number(board_stack_used());
    board_print(" bytes of stack\n");
    return status != COLL_OK ? 4 : 0;
}
