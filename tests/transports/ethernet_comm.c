/* Communicators whose ranks are on an Ethernet that loses frames: rules choose the algorithms, and several calls
 * run at once. */
#include "support/ethernet_wire.h"

#include "coll/coll.h"

enum { COUNT = 700, CALLS = 4 };

static struct member {
    coll_comm comm;
    coll_request request[CALLS];
    double in[COUNT], sum[COUNT], largest[COUNT], all[WIRE_RANKS * COUNT], copy[COUNT];
    unsigned char memory[1 << 17];
} members[WIRE_RANKS];

static void begin(uint32_t rank)
{
    struct member *me = &members[rank];
    CHECK_STATUS(coll_comm_init(&me->comm, &coll_ethernet_transport, &wire_ranks[rank], rank,
                                ether.p, me->memory, sizeof me->memory),
                 COLL_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        me->in[i] = i + 1000.0 * rank;
        me->copy[i] = rank == 1 ? (double)i : -1;
    }
    CHECK_STATUS(
        coll_iallreduce(&me->comm, me->in, me->sum, COUNT, COLL_F64, COLL_SUM, &me->request[0]),
        COLL_OK);
    CHECK_STATUS(coll_iallgather(&me->comm, me->in, me->all, COUNT, COLL_F64, &me->request[1]),
                 COLL_OK);
    CHECK_STATUS(coll_ibcast(&me->comm, me->copy, COUNT, COLL_F64, 1, &me->request[2]),
                 COLL_OK);
    CHECK_STATUS(
        coll_iallreduce(&me->comm, me->in, me->largest, 3, COLL_F64, COLL_MAX, &me->request[3]),
        COLL_OK);
}

/* Has this rank what it must have? */
static bool is_right(uint32_t rank)
{
    const struct member *me = &members[rank];
    const double p = ether.p;
    bool right = me->largest[2] == 2 + 1000 * (p - 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        right = right && me->sum[i] == p * i + 500 * p * (p - 1) && me->copy[i] == i;
        for (uint32_t r = 0; r < ether.p; r++)
            right = right && me->all[r * COUNT + i] == i + 1000.0 * r;
    }
    return right;
}

TEST(calls)
{
    for (uint32_t p = 2; p <= 5; p++)
        for (uint32_t w = 0; w < WIRE_WEATHERS; w++) {
            uint32_t running = 1, rounds = 0;
            wire_init(p, 10 * p + w);
            wire_blow(w);
            wire_open_all(200, 4);
            for (uint32_t r = 0; r < p; r++)
                begin(r);
            while (running > 0 && rounds++ < 1000000) {
                running = 0;
                for (uint32_t r = 0; r < p; r++) {
                    for (uint32_t k = 0; k < CALLS; k++)
                        running += coll_test(&members[r].request[k]) == COLL_AGAIN;
                    coll_ethernet_transport.progress(&wire_ranks[r]);
                }
            }
            CHECK_EQ(running, 0);
            for (uint32_t r = 0; r < p; r++) {
                CHECK(is_right(r));
                coll_comm_free(&members[r].comm);
            }
            wire_close();
        }
}

int main(void)
{
    RUN(calls);
    return check_done();
}
