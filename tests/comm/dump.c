/* comm/dump.h: what a request says of itself, however it stands; and waiting with a deadline. Two ranks
 * over loopback, in one thread. */
#include <string.h>

#include "coll/algos/linear.h"
#include "coll/comm.h"
#include "coll/comm/dump.h"
#include "coll/transports/loopback.h"
#include "support/check.h"

enum { P = 2, MESSAGES = 64 };

static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_comm comms[P];
static unsigned char arenas[P][4096], messages[COLL_LOOPBACK_BYTES(MESSAGES)];
static coll_request requests[P][2];
static double out[P][1000];
static char text[500];

static void begin(void)
{
    CHECK_STATUS(coll_loopback_init(&loopback, P, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    memset(requests, 0xA5, sizeof requests);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(coll_comm_init(&comms[r], &coll_loopback_transport, &ends[r], r, P,
                                    arenas[r], sizeof arenas[r]),
                     COLL_OK);
    }
}

static void end(void)
{
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
    CHECK_EQ(loopback.n_free, MESSAGES);
}

/* A bcast of 1000 f64 from rank 0, by the one algorithm that all calls here have. */
static coll_args bcast(uint32_t r)
{
    coll_args args;
    coll_args_init(&args, COLL_BCAST);
    args.out = out[r];
    args.count = 1000;
    args.type = COLL_F64;
    CHECK_STATUS(coll_comm_set_algorithm(&comms[r], COLL_BCAST, &coll_linear_bcast, NULL),
                 COLL_OK);
    return args;
}

static void says(const coll_request *request, const char *words)
{
    memset(text, 'x', sizeof text);
    CHECK_EQ(coll_dump(request, text, sizeof text), strlen(words));
    if (!CHECK(strcmp(text, words) == 0))
        printf("    %s\n", text);
    CHECK_EQ(coll_dump(request, NULL, 0), strlen(words));
}

static const char what[] =
    "bcast by linear, rank 1 of 2, root 0, 1000 elements of 8 bytes, tag 0: ";

static void says_of_rank_1(const coll_request *request, const char *how)
{
    char words[300];
    (void)snprintf(words, sizeof words, "%s%s", what, how);
    says(request, words);
}

/* From the start to the end: two calls with one tag. */
TEST(states)
{
    coll_transport one = coll_loopback_transport;
    coll_args args;
    one.tags = 1;
    one.tag_ranges = NULL;
    begin();
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        CHECK_STATUS(
            coll_comm_init(&comms[r], &one, &ends[r], r, P, arenas[r], sizeof arenas[r]),
            COLL_OK);
    }
    args = bcast(1);
    for (uint32_t k = 0; k < 2; k++)
        CHECK_STATUS(coll_post(&comms[1], &args, &requests[1][k]), COLL_OK);
    says_of_rank_1(&requests[1][0],
                   "1 of 1 steps begun\n  recv from rank 0, 0 of 8000 bytes: in flight");
    says_of_rank_1(&requests[1][1], "waits for an older call with its tag");
    args = bcast(0);
    CHECK_STATUS(coll_post(&comms[0], &args, &requests[0][0]), COLL_OK);
    CHECK_STATUS(coll_test(&requests[1][1]), COLL_AGAIN);
    CHECK_STATUS(coll_test(&requests[0][0]), COLL_OK);
    says(&requests[0][0], "a call: over, done");
    says(&requests[1][0], "a call: over, done");
    says_of_rank_1(&requests[1][1],
                   "1 of 1 steps begun\n  recv from rank 0, 0 of 8000 bytes: in flight");
    CHECK_STATUS(coll_post(&comms[0], &args, &requests[0][1]), COLL_OK);
    CHECK_STATUS(coll_test(&requests[1][1]), COLL_OK);
    CHECK_STATUS(coll_test(&requests[0][1]), COLL_OK);
    CHECK_STATUS(coll_test(&requests[1][0]), COLL_OK);
    end();
}

/* A persistent call has its plan as long as it is there. */
TEST(persistent)
{
    coll_args args;
    char words[300];
    begin();
    args = bcast(1);
    CHECK_STATUS(coll_request_init(&comms[1], &args, &requests[1][0]), COLL_OK);
    (void)coll_dump(&requests[1][0], words, sizeof words);
    CHECK(strncmp(words, what, strlen(what) - 3) == 0);
    CHECK(strcmp(words + strlen(words) - 13, ": not started") == 0);
    CHECK_STATUS(coll_start(&requests[1][0]), COLL_OK);
    CHECK_STATUS(coll_cancel(&requests[1][0]), COLL_OK);
    (void)coll_dump(&requests[1][0], words, sizeof words);
    CHECK(strncmp(words, what, strlen(what) - 3) == 0);
    CHECK(strstr(words, ": over, the collective was cancelled"));
    CHECK_STATUS(coll_wait(&requests[1][0]), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_request_free(&requests[1][0]), COLL_OK);
    says(&requests[1][0], "a call: over, the collective was cancelled");
    end();
}

/* Ranks that do not agree on the count: the one that finds out says of which message. */
TEST(other_sizes)
{
    coll_args args;
    begin();
    args = bcast(1);
    args.count = 999;
    CHECK_STATUS(coll_post(&comms[1], &args, &requests[1][0]), COLL_OK);
    args = bcast(0);
    CHECK_STATUS(coll_post(&comms[0], &args, &requests[0][0]), COLL_OK);
    CHECK_STATUS(coll_test(&requests[1][0]), COLL_ERR_SIZE);
    says(&requests[1][0], "a call: over, a message has another size than its receiver expects: "
                          "a message from rank 0 has 8000 bytes, where this rank expects 7992");
    CHECK_STATUS(coll_test(&requests[0][0]), COLL_ERR_PEER);
    (void)coll_dump(&requests[0][0], text, sizeof text);
    CHECK(strstr(text, "expects 7992") == NULL);
    end();
}

static uint64_t ticks(void *arg)
{
    return (*(uint64_t *)arg)++;
}

/* Until the deadline; then the call goes on, or is given up. */
TEST(deadlines)
{
    uint64_t time = 0;
    coll_clock clock;
    coll_args args;
    clock.now = ticks;
    clock.arg = &time;
    begin();
    args = bcast(1);
    CHECK_STATUS(coll_wait_until(NULL, &clock, 5), COLL_ERR_NULL);
    CHECK_STATUS(coll_post(&comms[1], &args, &requests[1][0]), COLL_OK);
    CHECK_STATUS(coll_wait_until(&requests[1][0], &clock, 5), COLL_AGAIN);
    CHECK_EQ(time, 6);
    args = bcast(0);
    CHECK_STATUS(coll_post(&comms[0], &args, &requests[0][0]), COLL_OK);
    CHECK_STATUS(coll_wait_until(&requests[1][0], &clock, 5), COLL_OK);
    CHECK_EQ(time, 6);
    CHECK_STATUS(coll_wait_until(&requests[1][0], &clock, 5), COLL_OK);
    CHECK_STATUS(coll_wait_until(&requests[0][0], &clock, 0), COLL_OK);
    CHECK_STATUS(coll_post(&comms[0], &args, &requests[0][0]), COLL_OK);
    CHECK_STATUS(coll_wait_until(&requests[0][0], &clock, 0), COLL_AGAIN);
    CHECK_STATUS(coll_cancel(&requests[0][0]), COLL_OK);
    says(&requests[0][0], "a call: over, the collective was cancelled");
    CHECK_STATUS(coll_wait_until(&requests[0][0], &clock, 0), COLL_ERR_CANCELLED);
    end();
}

int main(void)
{
    RUN(states);
    RUN(persistent);
    RUN(other_sizes);
    RUN(deadlines);
    return check_done();
}
