/* COLL_IN_NETWORK=0, the default on bare metal: over a transport whose network multicasts and reduces, calls go
 * by messages, and what needs the network is refused before anything is started. */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_IN_NETWORK 0
#include "coll/algos/in_network.h"
#include "coll/algos/multicast.h"
#include "coll/comm.h"
#include "coll/transports/loopback.h"
#include "support/check.h"

enum { P = 4, MESSAGES = 256 };

static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_comm comms[P];
static unsigned char arenas[P][4096], messages[COLL_LOOPBACK_BYTES(MESSAGES)];
static coll_request requests[P];

static void begin(void)
{
    CHECK_STATUS(coll_loopback_init(&loopback, P, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(coll_comm_init(&comms[r], &coll_loopback_transport, &ends[r], r, P,
                                    arenas[r], sizeof arenas[r]),
                     COLL_OK);
    }
}

/* Tests the ranks' requests in turn until all are done. */
static void finish(void)
{
    uint32_t left = P;
    for (uint32_t turn = 0; turn < 1000 && left > 0; turn++) {
        left = 0;
        for (uint32_t r = 0; r < P; r++) {
            const coll_status status = coll_test(&requests[r]);
            CHECK(status == COLL_OK || status == COLL_AGAIN);
            left += status == COLL_AGAIN;
        }
    }
    CHECK_EQ(left, 0);
}

TEST(calls_go_by_messages)
{
    int32_t in[P], out[P] = {0};
    begin();
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_ibarrier(&comms[r], &requests[r]), COLL_OK);
    finish();
    for (uint32_t r = 0; r < P; r++) {
        in[r] = 1 << r;
        CHECK_STATUS(
            coll_iallreduce(&comms[r], &in[r], &out[r], 1, COLL_I32, COLL_SUM, &requests[r]),
            COLL_OK);
        CHECK(!(coll_request_plan(&requests[r])->traits &
                (COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP)));
    }
    finish();
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(out[r], 15);
        CHECK_STATUS(coll_ibcast(&comms[r], &in[r], 1, COLL_I32, 2, &requests[r]), COLL_OK);
    }
    finish();
    for (uint32_t r = 0; r < P; r++)
        CHECK_EQ(in[r], 4);
}

/* Rules that name what the network does are passed over. */
TEST(rules_are_passed_over)
{
    static const coll_rule rules[] = {{COLL_BIT(COLL_BCAST), 1, COLL_ANY_P, 0, SIZE_MAX,
                                       &coll_multicast_bcast, COLL_DEFAULTS("it is fast")},
                                      {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX,
                                       &coll_in_network_allreduce,
                                       COLL_DEFAULTS("it is, too")}};
    const coll_rule_list list = {rules, 2, &coll_rules_built_in};
    int32_t in[P], out[P] = {0};
    begin();
    for (uint32_t r = 0; r < P; r++) {
        in[r] = 1 << r;
        CHECK_STATUS(coll_comm_rules(&comms[r], &list), COLL_OK);
        CHECK_STATUS(
            coll_iallreduce(&comms[r], &in[r], &out[r], 1, COLL_I32, COLL_SUM, &requests[r]),
            COLL_OK);
    }
    finish();
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(out[r], 15);
        CHECK_STATUS(coll_ibcast(&comms[r], &in[r], 1, COLL_I32, 2, &requests[r]), COLL_OK);
    }
    finish();
    for (uint32_t r = 0; r < P; r++)
        CHECK_EQ(in[r], 4);
}

TEST(what_needs_the_network_is_refused)
{
    static const struct {
        coll_collective collective;
        const coll_algorithm *algorithm;
    } rows[] = {{COLL_BARRIER, &coll_in_network_barrier},
                {COLL_ALLREDUCE, &coll_in_network_allreduce},
                {COLL_BCAST, &coll_multicast_bcast}};
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t x = 1, y;
        coll_args args;
        coll_args_init(&args, rows[i].collective);
        args.in = &x;
        args.out = &y;
        args.count = rows[i].collective == COLL_BARRIER ? 0 : 1;
        args.type = COLL_I32;
        CHECK_STATUS(
            coll_comm_set_algorithm(&comms[0], rows[i].collective, rows[i].algorithm, NULL),
            COLL_OK);
        CHECK_STATUS(coll_post(&comms[0], &args, &requests[0]), COLL_ERR_CAPABILITY);
    }
    CHECK_EQ(loopback.n_free, MESSAGES);
}

int main(void)
{
    RUN(calls_go_by_messages);
    RUN(rules_are_passed_over);
    RUN(what_needs_the_network_is_refused);
    return check_done();
}
