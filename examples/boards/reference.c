/* examples/boards/reference.c — the jobs of a rack on this machine: all ranks in one thread, floats by hardware
 *
 *   reference RANKS BYTES [cards]
 *
 * Prints the lines of all ranks, as they print them (rack.c), or as hosts do whose cards they are (host.c).
 */
#define JOB_COMPOSITES 1
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transports/loopback.h"

enum { SENDS = 4, MESSAGES = JOB_RANKS * (SENDS + 1 + JOB_RANKS), MOST = 1 << 16 };

static struct rank {
    job_call call;
    coll_in_order engine;
    coll_outstanding room[SENDS + 1];
    coll_loopback_rank end;
    uint64_t in[MOST / 8], out[MOST / 8], scratch[MOST / 8];
} ranks[JOB_RANKS];

/* Runs a job on all ranks, in turn, until nobody has anything left to do. */
static coll_status run(uint32_t number, uint32_t p, size_t bytes)
{
    static unsigned char memory[COLL_LOOPBACK_BYTES(MESSAGES)];
    coll_loopback world;
    coll_status status = coll_loopback_init(&world, p, MESSAGES, memory, sizeof memory);
    for (uint32_t r = 0; r < p && status == COLL_OK; r++) {
        struct rank *me = &ranks[r];
        status = job_make(&me->call, number, p, r);
        if (status != COLL_OK)
            return status;
        job_buffers(&me->call, number, me->in, me->out, me->scratch, bytes);
        me->call.task.transport = &coll_loopback_transport;
        me->call.task.ctx = &me->end;
        (void)coll_loopback_attach(&world, r, &me->end);
        status = coll_in_order_init(&me->engine, me->room, SENDS + 1);
        if (status == COLL_OK)
            status = coll_in_order_start(&me->engine, &me->call.task);
    }
    for (uint32_t running = p, quiet = 0; status == COLL_OK && running > 0;) {
        const size_t events = world.events;
        running = 0;
        for (uint32_t r = 0; r < p && status >= 0; r++) {
            status = coll_in_order_progress(&ranks[r].engine);
            running += status == COLL_AGAIN;
        }
        status = status < 0 ? status : COLL_OK;
        quiet = world.events == events ? quiet + 1 : 0;
        if (quiet > 64 && running > 0)
            return COLL_ERR_DEADLOCK;
    }
    return status;
}

int main(int argc, char **argv)
{
    static job_call call;
    const bool cards = argc == 4 && strcmp(argv[3], "cards") == 0, well = argc == 3 || cards;
    const unsigned long p = well ? strtoul(argv[1], NULL, 10) : 0,
                        bytes = well ? strtoul(argv[2], NULL, 10) : 0;
    if (p < 1 || p > JOB_RANKS || bytes < 8 || bytes > MOST) {
        (void)fprintf(
            stderr,
            "usage: reference RANKS BYTES [cards], of 1 to %d ranks and 8 to %d bytes\n",
            JOB_RANKS, MOST);
        return 2;
    }
    for (uint32_t i = 0; i < JOBS; i++) {
        coll_status status;
        if (!job_is_for(i, cards) || !job_fits(&call, i, (uint32_t)p, bytes))
            continue;
        status = run(i, (uint32_t)p, bytes);
        if (status != COLL_OK) {
            (void)fprintf(stderr, "reference: %s: %s\n", jobs[i].name,
                          coll_status_text(status));
            return 1;
        }
        for (uint32_t r = 0; r < p; r++)
            printf("rank %u: %s: %08x\n", (unsigned)r, jobs[i].name,
                   (unsigned)job_sum(&ranks[r].call));
    }
    return 0;
}
