/* tests/support/tagged.h — what transports over a library with tagged messages are asked, each by its record
 *
 *   static const struct network mine = {"ucx", &coll_ucx_transport, open_rank, address, join, close, …};
 *   int main(void) { network_tests(&mine); return check_done(); }
 */
#ifndef COLL_TESTS_TAGGED_H
#define COLL_TESTS_TAGGED_H

#include <sys/mman.h>

#include "coll/transports/tagged/membership.h"
#include "network_calls.h"

/* ---- two ranks, call by call ------------------------------------------------------------- */

static coll_handle handles[2][2048];

/* Moves all on for some rounds. */
static void move_all(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        for (uint32_t r = 0; r < n_ranks; r++)
            if (ranks[r])
                coll_i_tagged_move((coll_i_tagged *)ranks[r]);
}

/* Moves both on until the operation is over. */
static coll_status over(uint32_t r, coll_handle *h)
{
    coll_status status = COLL_AGAIN;
    const uint64_t until = coll_i_tcp_now() + 20000;
    for (unsigned turn = 0; status == COLL_AGAIN && coll_i_tcp_now() < until; turn++) {
        move_all(1);
        status = network->transport->test(ranks[r], h);
        if (turn > 1000)
            (void)poll(NULL, 0, 1);
    }
    return status;
}

static coll_status start_send(uint32_t r, uint32_t i, uint32_t tag, const void *buf,
                              size_t bytes)
{
    coll_status status = COLL_AGAIN;
    for (unsigned turn = 0; status == COLL_AGAIN && turn < 100000; turn++) {
        status = network->transport->send(ranks[r], 1 - r, tag, buf, bytes, &handles[r][i]);
        if (status == COLL_AGAIN) /* a connection is being made */
            move_all(1);
    }
    return status;
}

static coll_status start_recv(uint32_t r, uint32_t i, uint32_t tag, void *buf, size_t bytes)
{
    return network->transport->recv(ranks[r], 1 - r, tag, buf, bytes, &handles[r][i]);
}

/* A rank that receives nothing is sent no more than its credit, whatever is sent, and messages of other
 * tags come through; then all is received. */
TEST(a_rank_that_receives_nothing)
{
    enum { MESSAGES = 1000, BYTES = 3000, LONG = 1 << 20 };
    static unsigned char sent[BYTES], got[BYTES], far[LONG], arrived[LONG];
    unsigned open = 0;
    if (!begin(2, 0))
        return;
    for (size_t i = 0; i < LONG; i++)
        far[i] = (unsigned char)(i / 7);
    memset(sent, 7, sizeof sent);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const coll_status status = start_send(0, i, 5, sent, BYTES);
        CHECK(status == COLL_OK || status == COLL_STARTED);
        handles[0][i].word[1] = status == COLL_STARTED;
    }
    move_all(200);
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (handles[0][i].word[1])
            open +=
                ((coll_i_tagged_op *)handles[0][i].word[0])->state == COLL_I_TAGGED_ANNOUNCED;
    CHECK(open >= MESSAGES - COLL_TAGGED_CREDIT / BYTES);
    CHECK_STATUS(start_recv(1, 2000, 6, arrived, LONG), COLL_STARTED);
    CHECK_STATUS(start_send(0, 2000, 6, far, LONG), COLL_STARTED);
    CHECK_STATUS(over(1, &handles[1][2000]), COLL_OK);
    CHECK_STATUS(over(0, &handles[0][2000]), COLL_OK);
    CHECK(memcmp(far, arrived, LONG) == 0);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        coll_status status = start_recv(1, i, 5, got, BYTES);
        if (status == COLL_STARTED)
            status = over(1, &handles[1][i]);
        CHECK_STATUS(status, COLL_OK);
        CHECK(memcmp(sent, got, BYTES) == 0);
        memset(got, 0, sizeof got);
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (handles[0][i].word[1])
            CHECK_STATUS(over(0, &handles[0][i]), COLL_OK);
    move_all(200);
    CHECK(((coll_i_tagged *)ranks[0])->links[1]->credit >= COLL_I_TAGGED_UNITS / 2);
    end();
}

/* What does not fit is told, whatever its length and that of the receive. */
TEST(misfits)
{
    static const size_t lengths[] = {0, 7, 8, 15, 16, 24, 1000, 16384, 16385, 100000};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0], MOST = 100000 };
    static unsigned char sent[MOST], got[MOST];
    if (!begin(2, 0))
        return;
    for (uint32_t s = 0; s < LENGTHS; s++)
        for (uint32_t r = 0; r < LENGTHS; r++)
            for (uint32_t use = 0; use < 2; use++) {
                const uint32_t tag = (s * LENGTHS + r) * 2 + use + 1;
                const uint32_t its = tag + use * 3u * COLL_CLAIM_ALL;
                const bool first = (s + r) % 2 == 0; /* the receive */
                coll_status received = COLL_OK, status;
                coll_misfit misfit;
                if (first)
                    received = start_recv(1, 0, tag, got, lengths[r]);
                status = start_send(0, 0, its, sent, lengths[s]);
                CHECK(status == COLL_OK || status == COLL_STARTED);
                if (!first) {
                    move_all(50);
                    received = start_recv(1, 0, tag, got, lengths[r]);
                }
                if (received == COLL_STARTED) {
                    received = over(1, &handles[1][0]);
                    if (received < 0)
                        network->transport->failure->cancel(ranks[1], &handles[1][0]);
                }
                if (!CHECK_STATUS(received, r == s && use == 0 ? COLL_OK : COLL_ERR_SIZE))
                    printf("    %u bytes for %u, use %u\n", (unsigned)lengths[s],
                           (unsigned)lengths[r], (unsigned)use);
                if (received == COLL_ERR_SIZE) {
                    network->transport->tag_ranges->misfit(ranks[1], &misfit);
                    CHECK_EQ(misfit.peer, 0);
                    CHECK_EQ(misfit.tag, tag);
                    CHECK_EQ(misfit.its_tag, its);
                    CHECK_EQ(misfit.expected, lengths[r]);
                    if (!CHECK_EQ(misfit.bytes, lengths[s]))
                        printf("    %s\n", first ? "the receive came first" : "");
                }
                if (status == COLL_STARTED && received == COLL_OK)
                    CHECK_STATUS(over(0, &handles[0][0]), COLL_OK);
                else if (status == COLL_STARTED)
                    network->transport->failure->cancel(ranks[0], &handles[0][0]);
            }
    end();
}

/* What was sent before a rank left is received after that; what it does not send any more is an error. */
TEST(a_rank_leaves)
{
    static unsigned char sent[3000], got[3000];
    pthread_t thread;
    if (!begin(2, 2000))
        return;
    memset(sent, 9, sizeof sent);
    {
        const coll_status status = start_send(0, 1, 3, sent, sizeof sent);
        if (status != COLL_OK)
            CHECK_STATUS(over(0, &handles[0][1]), COLL_OK);
    }
    CHECK_STATUS(start_recv(1, 2, 4, got, 100), COLL_STARTED);
    CHECK_EQ(pthread_create(&thread, NULL, leave, ranks[0]), 0);
    ranks[0] = NULL;
    CHECK_STATUS(over(1, &handles[1][2]), COLL_ERR_IO);
    (void)pthread_join(thread, NULL);
    network->transport->failure->cancel(ranks[1], &handles[1][2]);
    CHECK(network->transport->failure->dead(ranks[1], 0));
    {
        coll_status status = start_recv(1, 1, 3, got, sizeof got);
        if (status == COLL_STARTED)
            status = over(1, &handles[1][1]);
        CHECK_STATUS(status, COLL_OK);
    }
    CHECK(memcmp(sent, got, sizeof sent) == 0);
    CHECK_STATUS(start_recv(1, 1, 3, got, 8), COLL_STARTED);
    CHECK_STATUS(over(1, &handles[1][1]), COLL_ERR_IO);
    network->transport->failure->cancel(ranks[1], &handles[1][1]);
    CHECK_STATUS(start_send(1, 1, 3, got, 8), COLL_ERR_IO);
    network->close(ranks[1]);
    n_ranks = 0;
}

static bool cancelled;

static void *move_rank(void *rank)
{
    while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
        coll_i_tagged_move((coll_i_tagged *)rank);
    return NULL;
}

/* Cancels an operation while the other rank moves on. */
static void cancel(uint32_t r, coll_handle *h)
{
    pthread_t thread;
    cancelled = false;
    CHECK_EQ(pthread_create(&thread, NULL, move_rank, ranks[1 - r]), 0);
    network->transport->failure->cancel(ranks[r], h);
    __atomic_store_n(&cancelled, true, __ATOMIC_RELEASE);
    (void)pthread_join(thread, NULL);
}

/* Long messages that either side gives up, before and while they come. */
TEST(given_up)
{
    enum { LONG = 1 << 20 };
    static unsigned char sent[LONG], got[LONG];
    unsigned char x = 5, y = 0;
    coll_status status;
    if (!begin(2, 0))
        return;
    for (unsigned moves = 0; moves < 12; moves++)
        for (unsigned who = 0; who < 3; who++) {
            const uint32_t tag = moves * 3 + who;
            CHECK_STATUS(start_send(0, 0, tag, sent, LONG), COLL_STARTED);
            CHECK_STATUS(start_recv(1, 0, tag, got, LONG), COLL_STARTED);
            move_all(moves);
            if (who != 1) { /* the receiver, or both */
                cancel(1, &handles[1][0]);
                memset(got, 1, LONG);
            }
            if (who != 0 && who != 2)
                cancel(0, &handles[0][0]);
            move_all(20);
            if (who == 2)
                cancel(0, &handles[0][0]);
            else if (who == 0 && network->transport->test(ranks[0], &handles[0][0]) != COLL_OK)
                cancel(0, &handles[0][0]);
            if (who == 1 && network->transport->test(ranks[1], &handles[1][0]) != COLL_OK)
                cancel(1, &handles[1][0]);
            for (size_t i = 0; i < LONG && who != 1; i++)
                if (got[i] != 1) {
                    CHECK_EQ(got[i], 1);
                    break;
                }
        }
    status = start_recv(1, 0, 1000, &y, 1);
    CHECK(start_send(0, 0, 1000, &x, 1) >= 0); /* they still talk */
    CHECK_STATUS(status == COLL_STARTED ? over(1, &handles[1][0]) : status, COLL_OK);
    CHECK_EQ(y, 5);
    end();
}

/* ---- memory that is kept ------------------------------------------------------------------- */

enum {
    KEPT_COUNT = 30000,
    KEPT_STARTS = 100
}; /* elements of messages that wait for their receive */

typedef struct prepared {
    coll_i_tagged *net;
    coll_status status;
    const char *wrong; /* what has not the value that it should have */
} prepared;

/* Arguments of a call: k of some collectives. */
static bool prepared_args(coll_args *args, unsigned k, int32_t *in, int32_t *out)
{
    static const coll_collective all[] = {COLL_ALLREDUCE, COLL_ALLGATHER, COLL_BCAST,
                                          COLL_ALLTOALL,  COLL_REDUCE,    COLL_ALLREDUCE};
    if (k == sizeof all / sizeof all[0])
        return false;
    coll_args_init(args, all[k]);
    args->in = k == 2 ? NULL : k == 5 ? COLL_IN_PLACE : in;
    args->out = out;
    args->count = KEPT_COUNT;
    args->type = COLL_I32;
    args->op = COLL_MAX;
    return true;
}

/* A call that is started many times registers its memory once, if the library keeps it; then nothing is
 * registered any more. What is not prepared is registered each time, if the library asks for it. */
static const char *prepared_calls(prepared *me, coll_comm *comm, int32_t *in, int32_t *out)
{
    coll_i_tagged *net = me->net;
    coll_args args;
    for (unsigned k = 0; prepared_args(&args, k, in, out); k++) {
        coll_request request, same;
        uint32_t before = net->pins, kept;
        me->status = coll_run(comm, &args);
        if (me->status < 0)
            return "a call";
        if ((net->pins != before) != net->registers || net->pinned != 0)
            return "registered for a call that is not prepared";
        before = net->pins;
        me->status = coll_request_init(comm, &args, &request);
        kept = net->pinned;
        if (me->status < 0)
            return "the preparation";
        if ((kept != 0) != net->keeps || kept > 3 || net->pins - before != kept)
            return "registered for a prepared call";
        for (unsigned i = 0; i < (k ? KEPT_STARTS / 10 : KEPT_STARTS) && me->status >= 0; i++) {
            for (size_t at = 0; at < KEPT_COUNT; at++)
                in[at] = (int32_t)(at + i + net->rank);
            memset(out, 0, (size_t)KEPT_COUNT * 2 * sizeof *out);
            me->status = coll_start(&request);
            if (me->status == COLL_OK)
                me->status = coll_wait(&request);
            if (k == 0 && out[5] != (int32_t)(5 + i + 1))
                return "a result";
        }
        if (me->status < 0)
            return "a prepared call";
        if (net->pins - before != kept || net->pinned != kept)
            return "registered while a prepared call was used";
        me->status = coll_request_init(comm, &args, &same); /* but for scratch of its own */
        if (me->status < 0 || net->pinned > kept + 1)
            return "registered for a second prepared call";
        if (coll_request_free(&request) != COLL_OK || (net->keeps && net->pinned == 0) ||
            coll_request_free(&same) != COLL_OK || net->pinned != 0 || net->n_kept != 0)
            return "registered when it was freed";
    }
    return NULL;
}

static void *prepare_all(void *arg)
{
    prepared *me = (prepared *)arg;
    unsigned char *memory = malloc(1 << 20);
    int32_t *in = malloc(2 * KEPT_COUNT * sizeof *in),
            *out = malloc(2 * KEPT_COUNT * sizeof *out);
    coll_comm comm;
    memset(in, 1, 2 * KEPT_COUNT * sizeof *in);
    me->status = coll_comm_init(&comm, network->transport, me->net, me->net->rank, me->net->p,
                                memory, 1 << 20);
    if (me->status == COLL_OK)
        me->wrong = prepared_calls(me, &comm, in, out);
    if (me->status == COLL_OK && !me->wrong)
        me->status = coll_comm_free(&comm);
    free(memory);
    free(in);
    free(out);
    return NULL;
}

TEST(prepared_calls_register_once)
{
    static prepared all[2];
    void *args[2] = {&all[0], &all[1]};
    if (!begin(2, 0))
        return;
    for (uint32_t r = 0; r < 2; r++) {
        all[r].net = (coll_i_tagged *)ranks[r];
        all[r].status = COLL_OK;
        all[r].wrong = NULL;
    }
    on_threads(prepare_all, args, 2);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK_STATUS(all[r].status, COLL_OK);
        if (!CHECK(all[r].wrong == NULL))
            printf("    rank %u: %s\n", (unsigned)r, all[r].wrong);
    }
    printf("    registered %u times\n", (unsigned)all[0].net->pins);
    end();
}

/* Long messages in memory that is kept, and is forgotten before and while they come, or given up. */
TEST(forgotten_in_flight)
{
    enum { LONG = 1 << 20, MOVES = 12 };
    static unsigned char sent[LONG], got[LONG];
    const coll_registration *kept = network->transport->registration;
    if (!begin(2, 0))
        return;
    for (unsigned moves = 0; moves < 2 * MOVES; moves++) {
        const coll_i_tagged *net[2] = {ranks[0], ranks[1]};
        const bool gives_up = moves >= MOVES;
        memset(sent, (int)moves + 1, LONG);
        kept->keep(ranks[0], sent, LONG, false);
        kept->keep(ranks[1], got, LONG, true);
        CHECK_STATUS(start_send(0, 0, moves, sent, LONG), COLL_STARTED);
        CHECK_STATUS(start_recv(1, 0, moves, got, LONG), COLL_STARTED);
        move_all(moves % MOVES);
        kept->forget(ranks[0], sent, LONG, false);
        kept->forget(ranks[1], got, LONG, true);
        if (gives_up) {
            cancel(1, &handles[1][0]);
            if (network->transport->test(ranks[0], &handles[0][0]) != COLL_OK)
                cancel(0, &handles[0][0]);
            move_all(20);
        } else {
            CHECK_STATUS(over(1, &handles[1][0]), COLL_OK);
            CHECK_STATUS(over(0, &handles[0][0]), COLL_OK);
            CHECK(memcmp(sent, got, LONG) == 0);
        }
        for (uint32_t r = 0; r < 2; r++)
            CHECK(net[r]->n_kept == 0 && (gives_up || net[r]->pinned == 0));
    }
    kept->keep(ranks[0], sent, LONG, false); /* and never forgotten */
    end();
}

/* Memory that is only sent from may be read-only. */
TEST(read_only)
{
    enum { LONG = 1 << 20 };
    static unsigned char got[LONG];
    unsigned char *sent =
        mmap(NULL, LONG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* it reads as 0 */
    const coll_registration *kept = network->transport->registration;
    if (!CHECK(sent != MAP_FAILED) || !begin(2, 0))
        return;
    memset(got, 1, LONG);
    kept->keep(ranks[0], sent, LONG, false);
    CHECK_STATUS(start_send(0, 0, 1, sent, LONG), COLL_STARTED);
    CHECK_STATUS(start_recv(1, 0, 1, got, LONG), COLL_STARTED);
    CHECK_STATUS(over(1, &handles[1][0]), COLL_OK);
    CHECK_STATUS(over(0, &handles[0][0]), COLL_OK);
    CHECK(got[0] == 0 && got[LONG - 1] == 0);
    kept->forget(ranks[0], sent, LONG, false);
    end();
    (void)munmap(sent, LONG);
}

static void network_tests(const struct network *its)
{
    network = its;
    printf("%s\n", its->name);
    RUN(conformance);
    if (its->stalls)
        return;
    RUN(collectives);
    RUN(a_rank_that_receives_nothing);
    RUN(misfits);
    RUN(a_rank_leaves);
    RUN(given_up);
    RUN(prepared_calls_register_once);
    RUN(forgotten_in_flight);
    RUN(read_only);
}

#endif /* COLL_TESTS_TAGGED_H */
