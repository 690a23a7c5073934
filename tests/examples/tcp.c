/* examples/tcp.h keeps the contract of transport.h, over roomy and over narrow sockets; and its ranks
 * notice when one of them fails or dies. */
#include "support/check.h"

#include <signal.h>
#include <sys/wait.h>

#include "../../examples/tcp.h"
#include "coll/comm.h"
#include "coll/transports/conformance.h"

enum { MOST = 4, DEPTH = 600, PATIENT = 2000000, BYTES = 1 << 20 };

static tcp rank_of[MOST];
static coll_conformance kit[MOST];
static unsigned char memory[MOST][BYTES];

/* The system takes so little of what is sent that messages go in parts, and are refused. */
static void make_narrow(const tcp *me)
{
    const int bytes = 1; /* means: the least */
    for (uint32_t peer = 0; peer < me->p; peer++)
        if (peer != me->rank)
            CHECK(setsockopt(me->fd[peer].fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) ==
                  0);
}

/* One thread drives all ranks. Where the system's clocks may be waited for it is patient, and none of the
 * ranks is slow, which would then take long. */
static void conforms(uint32_t p, bool is_narrow)
{
    const uint32_t slow = 1u << COLL_CONFORMANCE_SLOW_PEER;
    const uint32_t absent =
        1u << COLL_CONFORMANCE_COPY | 1u << COLL_CONFORMANCE_REDUCE |
        1u << COLL_CONFORMANCE_ACQUIRE | 1u << COLL_CONFORMANCE_ARRIVAL |
        1u << COLL_CONFORMANCE_MULTICAST | 1u << COLL_CONFORMANCE_NETWORK_REDUCE |
        1u << COLL_CONFORMANCE_SHARED | 1u << COLL_CONFORMANCE_TURNS |
        1u << COLL_CONFORMANCE_EVENTS | 1u << COLL_CONFORMANCE_KEPT |
        1u << COLL_CONFORMANCE_PUTS | (is_narrow ? 0 : 1u << COLL_CONFORMANCE_REFUSAL) |
        (is_narrow || p < 3 ? slow : 0);
    int fd[MOST * MOST] = {0};
    CHECK(tcp_connect_all(p, fd));
    for (uint32_t r = 0; r < p; r++) {
        coll_conformance_task task = {&tcp_transport, &rank_of[r], r, p, TCP_BYTES, 0, 0, 0,
                                      memory[r],      BYTES};
        CHECK(tcp_init(&rank_of[r], r, p, &fd[r * p]));
        if (is_narrow) {
            make_narrow(&rank_of[r]);
            task.depth = DEPTH;
            task.patience = PATIENT;
            task.skip = slow;
        }
        CHECK_STATUS(coll_conformance_init(&kit[r], &task), COLL_OK);
    }
    if (!CHECK_STATUS(coll_conformance_run(kit, p), COLL_OK))
        printf("    %s\n", coll_conformance_sentence(kit, p));
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS; c++)
        if (!CHECK((coll_conformance_result_of(kit, p, (coll_conformance_check)c) ==
                    COLL_CONFORMANCE_PASSED) == !(absent >> c & 1u)))
            printf("    %s\n", coll_conformance_name((coll_conformance_check)c));
    for (uint32_t r = 0; r < p; r++)
        tcp_close(&rank_of[r]);
}

TEST(conformance)
{
    conforms(2, false);
    conforms(3, false);
}

TEST(narrow_sockets)
{
    conforms(3, true);
}

static coll_comm comm[MOST];
static coll_request request[MOST];
static double x[MOST][1000];

/* Ranks of one thread, each with a communicator. */
static void begin(uint32_t p)
{
    int fd[MOST * MOST] = {0};
    CHECK(tcp_connect_all(p, fd));
    for (uint32_t r = 0; r < p; r++) {
        CHECK(tcp_init(&rank_of[r], r, p, &fd[r * p]));
        CHECK_STATUS(
            coll_comm_init(&comm[r], &tcp_transport, &rank_of[r], r, p, memory[r], BYTES),
            COLL_OK);
    }
}

static coll_status post(uint32_t r, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[r][i] = r + 1;
    return coll_iallreduce(&comm[r], COLL_IN_PLACE, x[r], count, COLL_F64, COLL_SUM,
                           &request[r]);
}

/* All requests of a set of ranks end, with this status; or, of whoever notices, with that one. */
static void end_with(uint32_t ranks, coll_status wanted, coll_status noticed)
{
    bool is_noticed = wanted == noticed;
    coll_status status[MOST] = {COLL_AGAIN, COLL_AGAIN, COLL_AGAIN, COLL_AGAIN};
    uint32_t left = ranks;
    for (uint32_t i = 0; i < 1000000 && left; i++)
        for (uint32_t r = 0; r < MOST; r++) {
            if (left >> r & 1)
                status[r] = coll_test(&request[r]);
            if (status[r] != COLL_AGAIN)
                left &= ~(1u << r);
        }
    for (uint32_t r = 0; r < MOST; r++)
        if (ranks >> r & 1) {
            CHECK_STATUS(status[r], status[r] == noticed ? noticed : wanted);
            is_noticed = is_noticed || status[r] == noticed;
        }
    CHECK(is_noticed);
}

/* A rank that ends, however it does, is missed by those that wait for it; the others hear of it. */
TEST(death)
{
    begin(4);
    for (uint32_t r = 0; r < 3; r++)
        CHECK_STATUS(post(r, 1000), COLL_OK);
    CHECK(!tcp_failure.dead(&rank_of[0], 3));
    tcp_close(&rank_of[3]); /* all that the others see of a process that is killed */
    end_with(7, COLL_ERR_PEER, COLL_ERR_IO);
    CHECK(tcp_failure.dead(&rank_of[0], 3));
    CHECK(!tcp_failure.dead(&rank_of[0], 0) && !tcp_failure.dead(&rank_of[0], 1));
    for (uint32_t r = 0; r < 3; r++)
        tcp_close(&rank_of[r]);
}

/* What a rank gives up, all do; a communicator that is made then is not affected. */
TEST(abort_and_begin_again)
{
    begin(3);
    CHECK_STATUS(post(0, 1000), COLL_OK);
    CHECK_STATUS(post(2, 1000), COLL_OK);
    CHECK_STATUS(coll_comm_abort(&comm[1], COLL_ERR_CANCELLED), COLL_OK);
    end_with(5, COLL_ERR_PEER, COLL_ERR_PEER);
    for (uint32_t r = 0; r < 3; r++) {
        CHECK_STATUS(coll_comm_free(&comm[r]), COLL_OK);
        CHECK_STATUS(
            coll_comm_init(&comm[r], &tcp_transport, &rank_of[r], r, 3, memory[r], BYTES),
            COLL_OK);
    }
    for (uint32_t r = 0; r < 3; r++)
        CHECK_STATUS(post(r, 1000), COLL_OK);
    end_with(7, COLL_OK, COLL_OK);
    for (uint32_t r = 0; r < 3; r++) {
        CHECK(x[r][0] == 6 && x[r][999] == 6);
        tcp_close(&rank_of[r]);
    }
}

/* Ranks that do not agree on a size are told which message did not fit. */
TEST(sizes)
{
    begin(2);
    (void)(post(0, 2) + post(1, 3)); /* the second may find it at once */
    for (uint32_t i = 0; i < 1000000 && comm[0].status == COLL_OK; i++)
        (void)(coll_test(&request[0]) + coll_test(&request[1]));
    const uint32_t r = comm[0].status == COLL_ERR_SIZE ? 0 : 1;
    const coll_misfit *its = coll_comm_misfit(&comm[r]);
    CHECK_STATUS(comm[r].status, COLL_ERR_SIZE);
    CHECK(its && its->peer == 1 - r && its->bytes + its->expected == 5 * sizeof(double));
    tcp_close(&rank_of[0]);
    tcp_close(&rank_of[1]);
}

int main(void)
{
    RUN(conformance);
    RUN(narrow_sockets);
    RUN(death);
    RUN(abort_and_begin_again);
    RUN(sizes);
    return check_done();
}
