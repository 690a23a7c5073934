/* tests/nic/ethernet.c — NICs on an Ethernet that loses, repeats and reorders frames, and their hosts: as a board is the NIC
 * of a process */
#include "support/nic_jobs.h"

#include "support/ethernet_wire.h"

enum { TURNS = 1000000 };

/* Asks for the calls of all hosts, which do their part then. Have all been told of their ends? */
static bool all_told(void)
{
    uint32_t running = 0;
    for (uint32_t r = 0; r < hosts.p; r++)
        for (uint32_t c = 0; c < 2; c++)
            running += coll_nic_queue_test(&hosts.at[r].queue, c) == COLL_AGAIN;
    return running == 0;
}

static void run_jobs(uint32_t p, uint32_t w)
{
    void *ctx[HOSTS];
    for (uint32_t r = 0; r < p; r++)
        ctx[r] = &wire_ranks[r];
    wire_init(p, 10 * p + w);
    wire_blow(w);
    wire_open_all(120, 3); /* operations: more than a program has at once */
    hosts_open_over(p, &coll_ethernet_transport, ctx);
    for (uint32_t k = 0; k < JOBS; k++) {
        uint32_t turns = 0;
        for (uint32_t c = 0; c < 2; c++) {
            const job *it = &jobs[(k + 5 * c) % JOBS];
            describe(c, it, c != 0);
            fill(k + c, c);
            for (uint32_t r = 0; r < p; r++) {
                coll_nic_request request;
                hosts_request(r, c, &request, it->collective, it->op, COLL_I64, c);
                hosts_bring(r, &request, c);
                request.combine = &hosts.ops[it->op == COLL_MAX ? 2 : 1];
                CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, c, &request), COLL_OK);
            }
        }
        while (!all_told() && turns++ < TURNS)
            for (uint32_t r = 0; r < p; r++)
                (void)coll_nic_firmware_progress(&hosts.at[r].firmware);
        for (uint32_t c = 0; c < 2; c++)
            if (!CHECK(all_well(c)) || !CHECK(is_right(&jobs[(k + 5 * c) % JOBS], k + c, c)))
                printf("    p = %u, weather %u, job %u\n", p, w, (k + 5 * c) % JOBS);
    }
    hosts_close();
    wire_close();
}

TEST(collectives)
{
    for (uint32_t p = 2; p <= 5; p++)
        for (uint32_t w = 0; w < WIRE_WEATHERS; w++)
            run_jobs(p, w);
}

int main(void)
{
    RUN(collectives);
    return check_done();
}
