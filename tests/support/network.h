/* tests/support/network.h — what transports over a library with tagged messages are asked, each by its record
 *
 *   static const struct network mine = {"ucx", &coll_ucx_transport, open_rank, address, join, close, abandon};
 *   int main(void) { network_tests(&mine); return check_done(); }
 */
#ifndef COLL_TESTS_NETWORK_H
#define COLL_TESTS_NETWORK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/coll.h"
#include "coll/transports/conformance.h"
#include "coll/transports/tagged/membership.h"

enum { NETWORK_MOST = 8 };

struct network {
    const char *name;
    const coll_transport *transport;
    void *(*open)(uint32_t rank, uint32_t p, uint32_t patience, char *why);
    const void *(*address)(const void *rank, size_t *bytes);
    bool (*join)(void *rank, const void *all, size_t bytes, char *why);
    void (*close)(void *rank);
    void (*abandon)(void *rank);
    void (*describe)(const void *rank, char *text, size_t bytes);
};

static const struct network *network;
static void *ranks[NETWORK_MOST];
static uint32_t n_ranks;

/* Each rank by a thread of its own, as one may wait for another. */
static void on_threads(void *(*body)(void *), void *const *args, uint32_t n)
{
    pthread_t threads[NETWORK_MOST];
    for (uint32_t r = 0; r < n; r++)
        CHECK_EQ(pthread_create(&threads[r], NULL, body, args[r]), 0);
    for (uint32_t r = 0; r < n; r++)
        (void)pthread_join(threads[r], NULL);
}

/* Opens and joins p ranks. */
static bool begin(uint32_t p, uint32_t patience)
{
    char why[COLL_TCP_WHY] = "";
    unsigned char *all;
    size_t most = 0, bytes;
    bool well = true;
    n_ranks = p;
    for (uint32_t r = 0; r < p; r++) {
        ranks[r] = network->open(r, p, patience, why);
        if (!CHECK(ranks[r] != NULL)) {
            printf("    %s\n", why);
            return false;
        }
        (void)network->address(ranks[r], &bytes);
        most = bytes > most ? bytes : most;
    }
    all = calloc(p, most);
    for (uint32_t r = 0; r < p; r++) {
        const void *its = network->address(ranks[r], &bytes);
        memcpy(all + r * most, its, bytes);
    }
    for (uint32_t r = 0; r < p; r++)
        if (!CHECK(network->join(ranks[r], all, most, why))) {
            printf("    %s\n", why);
            well = false;
        }
    free(all);
    return well;
}

static void *leave(void *rank)
{
    network->close(rank);
    return NULL;
}

static void end(void)
{
    on_threads(leave, ranks, n_ranks);
}

/* ---- the contract ------------------------------------------------------------------------ */

static void *drive(void *kit)
{
    (void)coll_conformance_run((coll_conformance *)kit, 1);
    return NULL;
}

static void conform(uint32_t p, size_t longest, uint32_t depth)
{
    static coll_conformance kits[NETWORK_MOST];
    void *args[NETWORK_MOST] = {NULL};
    const char *sentence;
    if (!begin(p, 0))
        return;
    for (uint32_t r = 0; r < p; r++) {
        coll_conformance_task task = {
            network->transport, ranks[r], r, p, longest, depth, 30000, 0, NULL, 0};
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
        args[r] = &kits[r];
    }
    on_threads(drive, args, p);
    sentence = coll_conformance_sentence(kits, p);
    if (!CHECK(*sentence == 0))
        for (uint32_t r = 0; r < p; r++)
            printf("    %s, p = %u: %s\n", network->name, (unsigned)p,
                   coll_conformance_sentence(&kits[r], 1));
    for (unsigned c = 0; c < COLL_CONFORMANCE_CHECKS && *sentence == 0; c++) {
        const coll_conformance_check check = (coll_conformance_check)c;
        const coll_conformance_result result = coll_conformance_result_of(kits, p, check);
        const bool absent =
            check == COLL_CONFORMANCE_COPY || check == COLL_CONFORMANCE_REDUCE ||
            check == COLL_CONFORMANCE_ACQUIRE || check == COLL_CONFORMANCE_ARRIVAL ||
            check == COLL_CONFORMANCE_MULTICAST || check == COLL_CONFORMANCE_NETWORK_REDUCE ||
            check == COLL_CONFORMANCE_SHARED || check == COLL_CONFORMANCE_TURNS ||
            check == COLL_CONFORMANCE_EVENTS ||
            (check == COLL_CONFORMANCE_SLOW_PEER && p < 3) ||
            (check == COLL_CONFORMANCE_REFUSAL &&
             result == COLL_CONFORMANCE_NOT_THERE); /* the library's queues may never be full */
        if (!CHECK_EQ(result, absent ? COLL_CONFORMANCE_NOT_THERE : COLL_CONFORMANCE_PASSED))
            printf("    %s: %s\n", network->name, coll_conformance_name(check));
    }
    for (uint32_t r = 0; r < p; r++)
        free(kits[r].task.memory);
    end();
}

TEST(conformance)
{
    conform(2, 300000, 0);
    conform(2, 2000000, 200);
    conform(3, 100000, 0);
    conform(5, 70000, 0);
}

/* ---- collectives ------------------------------------------------------------------------- */

typedef struct calls {
    void *ctx;
    uint32_t rank, p;
    coll_status status;
    char text[300];
} calls;

/* Calls of all lengths, and two communicators; none of the results is another rank's. */
static void *call_all(void *arg)
{
    enum { COUNT = 40000 };
    calls *me = (calls *)arg;
    static const size_t counts[] = {0, 1, 7, 1000, COUNT};
    unsigned char *memory = malloc(1 << 22);
    int32_t *in = malloc(COUNT * sizeof *in),
            *out = malloc((size_t)COUNT * NETWORK_MOST * sizeof *out);
    coll_comm comm, other;
    me->status =
        coll_comm_init(&comm, network->transport, me->ctx, me->rank, me->p, memory, 1 << 22);
    if (me->status == COLL_OK)
        me->status = coll_comm_dup(&other, &comm, 8);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && me->status == COLL_OK; c++) {
        const size_t n = counts[c];
        coll_request request;
        for (size_t i = 0; i < n; i++)
            in[i] = (int32_t)(i % 1000 * (me->rank + 1));
        me->status = coll_iallreduce(&other, in, out + COUNT, n, COLL_I32, COLL_SUM, &request);
        if (me->status == COLL_OK)
            me->status = coll_allreduce(&comm, in, out, n, COLL_I32, COLL_SUM);
        if (me->status == COLL_OK)
            me->status = coll_wait(&request);
        for (size_t i = 0; i < n && me->status == COLL_OK; i++)
            if (out[i] != (int32_t)(i % 1000 * me->p * (me->p + 1) / 2) ||
                out[COUNT + i] != out[i])
                me->status = COLL_ERR_STATE;
        if (me->status == COLL_OK)
            me->status = coll_allgather(&comm, in, out, n, COLL_I32);
        for (size_t i = 0; i < n * me->p && me->status == COLL_OK; i++)
            if (out[i] != (int32_t)(i % n % 1000 * (i / n + 1)))
                me->status = COLL_ERR_STATE;
        if (me->status == COLL_OK)
            me->status = coll_barrier(&comm);
    }
    network->describe(me->ctx, me->text, sizeof me->text);
    if (me->status == COLL_OK)
        me->status = coll_comm_free(&other);
    if (me->status == COLL_OK)
        me->status = coll_comm_free(&comm);
    free(memory);
    free(in);
    free(out);
    return NULL;
}

TEST(collectives)
{
    for (uint32_t p = 1; p <= NETWORK_MOST; p += p == 1 ? 1 : 3) {
        static calls all[NETWORK_MOST];
        void *args[NETWORK_MOST] = {NULL};
        if (!begin(p, 0))
            return;
        for (uint32_t r = 0; r < p; r++) {
            all[r].ctx = ranks[r];
            all[r].rank = r;
            all[r].p = p;
            args[r] = &all[r];
        }
        on_threads(call_all, args, p);
        for (uint32_t r = 0; r < p; r++)
            CHECK_STATUS(all[r].status, COLL_OK);
        if (p == 2)
            printf("    %s\n", all[0].text);
        end();
    }
}

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

static void network_tests(const struct network *its)
{
    network = its;
    printf("%s\n", its->name);
    RUN(conformance);
    RUN(collectives);
    RUN(a_rank_that_receives_nothing);
    RUN(misfits);
    RUN(a_rank_leaves);
    RUN(given_up);
}

#endif /* COLL_TESTS_NETWORK_H */
