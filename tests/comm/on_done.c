/* Calls that are told of instead of asked about (coll_request_on_done): once, with the status, by whichever
 * progress finds them over; whose functions make and start calls, and free their memory. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "coll/comm.h"
#include "coll/transports/loopback.h"

enum { P = 3, CALLS = 5, MESSAGES = 512, ARENA = 1 << 14 };

static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_comm comms[P];
static unsigned char arenas[P][ARENA], messages[COLL_LOOPBACK_BYTES(MESSAGES)];

static void begin(void)
{
    CHECK_STATUS(coll_loopback_init(&loopback, P, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(coll_comm_init(&comms[r], &coll_loopback_transport, &ends[r], r, P,
                                    arenas[r], ARENA),
                     COLL_OK);
    }
}

static void progress(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        for (uint32_t r = 0; r < P; r++)
            coll_progress(&comms[r]);
}

static void end(void)
{
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
}

/* What a function was told. */
typedef struct told {
    unsigned times;
    coll_status status;
    coll_request *request;
} told;

static void note(coll_request *request, coll_status status, void *arg)
{
    told *it = (told *)arg;
    it->times++;
    it->status = status;
    it->request = request;
}

static int32_t in[P][CALLS], out[P][CALLS];
static coll_request requests[P][CALLS];
static told notes[P][CALLS];

static void post(uint32_t r, uint32_t i)
{
    in[r][i] = (int32_t)(r + 10 * i);
    notes[r][i].times = 0;
    CHECK_STATUS(coll_iallreduce(&comms[r], &in[r][i], &out[r][i], 1, COLL_I32, COLL_SUM,
                                 &requests[r][i]),
                 COLL_OK);
}

/* All are told of once, those in whose place nobody asked; the others wait to be asked about. */
TEST(told_once)
{
    begin();
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < CALLS; i++) {
            post(r, i);
            if (i != 2)
                CHECK_STATUS(coll_request_on_done(&requests[r][i], note, &notes[r][i]),
                             COLL_OK);
        }
    progress(100);
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < CALLS; i++) {
            CHECK_EQ(notes[r][i].times, i != 2);
            CHECK_EQ(out[r][i], 3 + 30 * (int32_t)i);
            if (i != 2) {
                CHECK_STATUS(notes[r][i].status, COLL_OK);
                CHECK(notes[r][i].request == &requests[r][i]);
            }
            CHECK_STATUS(coll_test(&requests[r][i]), COLL_OK);
        }
    end();
}

/* A function that comes late is told by the next progress, and one that is taken back never. */
TEST(late)
{
    begin();
    for (uint32_t r = 0; r < P; r++) {
        post(r, 0);
        post(r, 1);
        CHECK_STATUS(coll_request_on_done(&requests[r][1], note, &notes[r][1]), COLL_OK);
    }
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_request_on_done(&requests[r][1], NULL, NULL), COLL_OK);
    progress(100);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(requests[r][0].state, COLL_REQUEST_DONE);
        CHECK_STATUS(coll_request_on_done(&requests[r][0], note, &notes[r][0]), COLL_OK);
        CHECK_EQ(notes[r][0].times, 0);
        coll_progress(&comms[r]);
        CHECK_EQ(comms[r].idle, 0); /* something happened */
        CHECK_EQ(notes[r][0].times, 1);
        CHECK_EQ(notes[r][1].times, 0);
        CHECK_STATUS(coll_wait(&requests[r][1]), COLL_OK);
        CHECK_STATUS(coll_request_on_done(&requests[r][0], note, NULL), COLL_ERR_STATE);
    }
    CHECK_STATUS(coll_request_on_done(NULL, note, NULL), COLL_ERR_NULL);
    end();
}

/* A chain: each function makes the next call, in memory of its own that it frees. */
typedef struct chain {
    coll_comm *comm;
    coll_request *request;
    int32_t value, sum;
    unsigned left;
    coll_status status;
} chain;

static void next_of(coll_request *request, coll_status status, void *arg)
{
    chain *it = (chain *)arg;
    free(request);
    it->request = NULL;
    it->status = status;
    if (status != COLL_OK || it->left == 0)
        return;
    it->left--;
    it->value = it->sum;
    it->request = (coll_request *)malloc(sizeof *it->request);
    if (!it->request)
        abort();
    it->status =
        coll_iallreduce(it->comm, &it->value, &it->sum, 1, COLL_I32, COLL_SUM, it->request);
    if (it->status == COLL_OK)
        it->status = coll_request_on_done(it->request, next_of, it);
}

TEST(chains)
{
    static chain chains[P];
    begin();
    for (uint32_t r = 0; r < P; r++) {
        chains[r].comm = &comms[r];
        chains[r].sum = (int32_t)r;
        chains[r].left = 6;
        next_of(NULL, COLL_OK, &chains[r]);
    }
    progress(1000);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(chains[r].status, COLL_OK);
        CHECK_EQ(chains[r].left, 0);
        CHECK(chains[r].request == NULL);
        CHECK_EQ(chains[r].sum, 3 * 3 * 3 * 3 * 3 * 3);
    }
    end();
}

/* A persistent call is started again by its function, which stays. */
static void again(coll_request *request, coll_status status, void *arg)
{
    told *it = (told *)arg;
    it->times++;
    it->status = status;
    if (status == COLL_OK && it->times < 4)
        it->status = coll_start(request);
}

TEST(persistent)
{
    begin();
    for (uint32_t r = 0; r < P; r++) {
        memset(&notes[r][0], 0, sizeof notes[r][0]);
        in[r][0] = (int32_t)r;
        CHECK_STATUS(coll_allreduce_init(&comms[r], &in[r][0], &out[r][0], 1, COLL_I32,
                                         COLL_SUM, &requests[r][0]),
                     COLL_OK);
        CHECK_STATUS(coll_request_on_done(&requests[r][0], again, &notes[r][0]), COLL_OK);
        CHECK_STATUS(coll_start(&requests[r][0]), COLL_OK);
    }
    progress(1000);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(notes[r][0].times, 4);
        CHECK_STATUS(notes[r][0].status, COLL_OK);
        CHECK_STATUS(coll_request_free(&requests[r][0]), COLL_OK);
    }
    end();
}

/* Whoever asks about a call with a function has it told, and hears the same. */
TEST(asked)
{
    begin();
    for (uint32_t r = 0; r < P; r++) {
        post(r, 0);
        CHECK_STATUS(coll_request_on_done(&requests[r][0], note, &notes[r][0]), COLL_OK);
    }
    for (unsigned round = 0; round < 100; round++)
        for (uint32_t r = 0; r < P; r++)
            if (notes[r][0].times == 0) {
                const coll_status status = coll_test(&requests[r][0]);
                CHECK_STATUS(status, notes[r][0].times ? COLL_OK : COLL_AGAIN);
            }
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(notes[r][0].times, 1);
        CHECK_STATUS(coll_wait(&requests[r][0]), COLL_OK);
    }
    end();
}

/* Calls that are cancelled, and those of a communicator that fails, are told why. */
TEST(failures)
{
    begin();
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < 2 && r != 1; i++) {
            post(r, i);
            CHECK_STATUS(coll_request_on_done(&requests[r][i], note, &notes[r][i]), COLL_OK);
        }
    CHECK_STATUS(coll_cancel(&requests[0][1]), COLL_OK);
    CHECK_EQ(notes[0][0].times + notes[0][1].times, 0);
    progress(100);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(notes[0][i].times, 1);
        CHECK_STATUS(notes[0][i].status, COLL_ERR_CANCELLED);
        CHECK_EQ(notes[2][i].times, 1);
        CHECK_STATUS(notes[2][i].status, COLL_ERR_PEER);
    }
    end();
}

/* Over a transport without a descriptor there is none. */
TEST(no_descriptor)
{
    begin();
    CHECK_EQ(coll_comm_descriptor(&comms[0]), -1);
    CHECK_EQ(coll_comm_descriptor(NULL), -1);
    CHECK_STATUS(coll_comm_arm(&comms[0]), COLL_ERR_CAPABILITY);
    CHECK_STATUS(coll_comm_arm(NULL), COLL_ERR_NULL);
    end();
}

int main(void)
{
    RUN(told_once);
    RUN(late);
    RUN(chains);
    RUN(persistent);
    RUN(asked);
    RUN(failures);
    RUN(no_descriptor);
    return check_done();
}
