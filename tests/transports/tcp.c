/* Ranks joined by TCP, over loopback: the conformance kit, collectives, and what others may do wrong. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/chain.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/coll.h"
#include "coll/plan/peers.h"
#include "support/network_calls.h"
#include "support/network_tcp.h"

enum { MOST = NETWORK_MOST };

static coll_tcp *rank_of(uint32_t r)
{
    return (coll_tcp *)ranks[r];
}

/* ---- with whom --------------------------------------------------------------------------- */

static void *connect_peers(void *arg)
{
    calls *me = (calls *)arg;
    uint32_t peers[MOST];
    coll_plan plan;
    coll_problem problem;
    uint32_t n;
    coll_problem_init(&problem, COLL_ALLREDUCE, me->p, 1, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    me->status = coll_plan_init(&plan, &coll_recursive_doubling_allreduce, &problem, NULL);
    n = coll_plan_peers(&plan, me->rank, peers, MOST);
    if (me->status == COLL_OK)
        me->status = coll_tcp_connect((coll_tcp *)me->ctx, peers, n);
    return NULL;
}

/* As many connections as the plan has peers, before anything is sent. */
TEST(connected_before)
{
    calls all[MOST];
    void *args[MOST] = {NULL};
    if (!begin(8, 0))
        return;
    for (uint32_t r = 0; r < 8; r++) {
        all[r].ctx = ranks[r];
        all[r].rank = r;
        all[r].p = 8;
        args[r] = &all[r];
    }
    on_threads(connect_peers, args, 8);
    for (uint32_t r = 0; r < 8; r++) {
        CHECK_STATUS(all[r].status, COLL_OK);
        CHECK_EQ(rank_of(r)->n_links, 3);
        for (uint32_t i = 0; i < rank_of(r)->n_links; i++)
            CHECK_EQ(rank_of(r)->list[i]->stage, COLL_I_TCP_UP);
    }
    end();
}

/* ---- two ranks, call by call ------------------------------------------------------------- */

/* Moves both on until the operation is over. */
static coll_status over(coll_tcp *mine, coll_handle *h)
{
    coll_status status = COLL_AGAIN;
    for (unsigned turn = 0; turn < 200000 && status == COLL_AGAIN; turn++) {
        for (uint32_t r = 0; r < n_ranks; r++)
            if (ranks[r] != mine && ranks[r])
                (void)coll_i_tcp_sweep(ranks[r], 0);
        status = coll_tcp_transport.test(mine, h);
        if (status == COLL_AGAIN && turn > 1000)
            coll_tcp_transport.wait(mine, 1 << 20);
    }
    return status;
}

static coll_handle handles[2][2048];

static coll_status start_send(uint32_t r, uint32_t i, uint32_t tag, const void *buf,
                              size_t bytes)
{
    return coll_tcp_transport.send(ranks[r], 1 - r, tag, buf, bytes, &handles[r][i]);
}

static coll_status start_recv(uint32_t r, uint32_t i, uint32_t tag, void *buf, size_t bytes)
{
    return coll_tcp_transport.recv(ranks[r], 1 - r, tag, buf, bytes, &handles[r][i]);
}

/* Brings a connection up. */
static bool meet(void)
{
    char x = 1, y = 0;
    const coll_status sent = start_send(0, 0, 0, &x, 1), received = start_recv(1, 0, 0, &y, 1);
    return CHECK_STATUS(received == COLL_STARTED ? over(ranks[1], &handles[1][0]) : received,
                        COLL_OK) &&
           CHECK_STATUS(sent == COLL_STARTED ? over(ranks[0], &handles[0][0]) : sent,
                        COLL_OK) &&
           CHECK_EQ(y, 1);
}

/* A rank that receives nothing keeps no more than the credit of each peer, whatever is sent, and messages
 * of other tags come through; then all is received. */
TEST(a_rank_that_receives_nothing)
{
    enum { MESSAGES = 1000, BYTES = 3000, LONG = 1 << 20 };
    static unsigned char sent[BYTES], got[BYTES], far[LONG], arrived[LONG];
    unsigned open = 0;
    if (!begin(2, 0) || !meet())
        return;
    for (size_t i = 0; i < LONG; i++)
        far[i] = (unsigned char)(i / 7);
    memset(sent, 7, sizeof sent);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const coll_status status = start_send(0, i, 5, sent, BYTES);
        CHECK(status == COLL_OK || status == COLL_STARTED);
        open += status == COLL_STARTED;
        if (status == COLL_OK)
            handles[0][i].word[0] = 0;
    }
    CHECK(open > MESSAGES / 2);
    for (unsigned i = 0; i < 100; i++)
        (void)coll_i_tcp_sweep(ranks[1], 0);
    CHECK(rank_of(1)->kept <= coll_tcp_credit(rank_of(1)->p));
    CHECK_STATUS(start_recv(1, 2000, 6, arrived, LONG), COLL_STARTED);
    CHECK_STATUS(start_send(0, 2000, 6, far, LONG), COLL_STARTED);
    CHECK_STATUS(over(ranks[1], &handles[1][2000]), COLL_OK);
    CHECK_STATUS(over(ranks[0], &handles[0][2000]), COLL_OK);
    CHECK(memcmp(far, arrived, LONG) == 0);
    open = 0;
    for (uint32_t i = 1000; i < 1100;
         i++) { /* the last of these empty ones have to wait, too */
        CHECK_STATUS(start_recv(1, i, 7, NULL, 0), COLL_STARTED);
        handles[0][i].word[0] = 0;
        open += start_send(0, i, 7, NULL, 0) == COLL_STARTED;
    }
    CHECK(open > 0);
    for (uint32_t i = 1000; i < 1100; i++) {
        CHECK_STATUS(over(ranks[1], &handles[1][i]), COLL_OK);
        if (handles[0][i].word[0])
            CHECK_STATUS(over(ranks[0], &handles[0][i]), COLL_OK);
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        coll_status status = start_recv(1, i, 5, got, BYTES);
        if (status == COLL_STARTED)
            status = over(ranks[1], &handles[1][i]);
        CHECK_STATUS(status, COLL_OK);
        CHECK(memcmp(sent, got, BYTES) == 0);
        memset(got, 0, sizeof got);
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (handles[0][i].word[0])
            CHECK_STATUS(over(ranks[0], &handles[0][i]), COLL_OK);
    CHECK_EQ(rank_of(1)->kept, 0);
    end();
}

/* Two ranks that exchange long messages at full speed. A receiver may say that it is there while its sender still
 * has a part of the first frame, which does not fit into the connection. */
typedef struct exchange {
    uint32_t r;
    coll_status status;
} exchange;

static void *exchange_long(void *arg)
{
    enum { LONG = 4 << 20, TIMES = 100, HANGS = 60000 };
    exchange *me = (exchange *)arg;
    unsigned char *sent = malloc(LONG), *got = malloc(LONG);
    const uint64_t until = coll_i_tcp_now() + HANGS;
    for (uint32_t i = 0; i < TIMES && me->status == COLL_OK; i++) {
        coll_status status[2] = {COLL_AGAIN, COLL_AGAIN};
        memset(sent, (int)(2 * i + me->r), LONG);
        status[0] = start_recv(me->r, 0, 1, got, LONG);
        status[1] = start_send(me->r, 1, 1, sent, LONG);
        while ((status[0] > 0 || status[1] > 0) && coll_i_tcp_now() < until)
            for (uint32_t k = 0; k < 2; k++)
                if (status[k] > 0)
                    status[k] = coll_tcp_transport.test(ranks[me->r], &handles[me->r][k]);
        if (status[0] != COLL_OK || status[1] != COLL_OK)
            me->status = COLL_ERR_STATE;
        else if (got[0] != (unsigned char)(2 * i + 1 - me->r) ||
                 memcmp(got, got + 1, LONG - 1) != 0)
            me->status = COLL_ERR_IO;
    }
    free(sent);
    free(got);
    return NULL;
}

TEST(long_exchanges)
{
    exchange both[2] = {{0, COLL_OK}, {1, COLL_OK}};
    void *args[2] = {&both[0], &both[1]};
    if (!begin(2, 0) || !meet())
        return;
    on_threads(exchange_long, args, 2);
    CHECK_STATUS(both[0].status, COLL_OK);
    CHECK_STATUS(both[1].status, COLL_OK);
    end();
}

/* What was sent before a rank left is received after that; what it does not send any more is an error. */
TEST(a_rank_leaves)
{
    static unsigned char sent[30000], got[30000];
    for (unsigned well = 0; well < 2; well++) {
        if (!begin(2, 2000) || !meet())
            return;
        memset(sent, 9, sizeof sent);
        CHECK_STATUS(start_send(0, 1, 3, sent, sizeof sent), COLL_OK);
        CHECK_STATUS(start_recv(1, 2, 4, got, 100), COLL_STARTED);
        if (well)
            coll_tcp_close(ranks[0]);
        else
            coll_tcp_abandon(ranks[0]);
        ranks[0] = NULL;
        CHECK_STATUS(over(ranks[1], &handles[1][2]), COLL_ERR_IO);
        coll_tcp_transport.failure->cancel(ranks[1], &handles[1][2]);
        CHECK(coll_tcp_transport.failure->dead(ranks[1], 0));
        CHECK_STATUS(start_recv(1, 1, 3, got, sizeof got), COLL_OK);
        CHECK(memcmp(sent, got, sizeof sent) == 0);
        CHECK_STATUS(start_recv(1, 1, 3, got, 8), COLL_ERR_IO);
        CHECK_STATUS(start_send(1, 1, 3, got, 8), COLL_ERR_IO);
        coll_tcp_close(ranks[1]);
        n_ranks = 0;
    }
}

/* A rank that was never there, or is gone before anybody talks with it. */
TEST(a_rank_that_is_not_there)
{
    char x = 0;
    if (!begin(2, 300))
        return;
    coll_tcp_abandon(ranks[1]);
    ranks[1] = NULL;
    CHECK_STATUS(start_recv(0, 0, 0, &x, 1), COLL_STARTED);
    CHECK_STATUS(over(ranks[0], &handles[0][0]), COLL_ERR_IO);
    coll_tcp_transport.failure->cancel(ranks[0], &handles[0][0]);
    coll_tcp_close(ranks[0]);
}

/* A rank waits for one that waits for one that is gone: all learn of it. */
TEST(a_chain_of_waits)
{
    enum { RANKS = 3, ARENA = 1 << 14 };
    static unsigned char arenas[RANKS][ARENA];
    static int32_t x[RANKS][4];
    static const uint32_t one_chain[] = {1, 0};
    coll_comm comms[RANKS];
    coll_request requests[RANKS];
    coll_status ends[2] = {COLL_AGAIN, COLL_AGAIN};
    if (!begin(RANKS, 2000))
        return;
    for (uint32_t r = 0; r < RANKS; r++) {
        CHECK_STATUS(coll_comm_init(&comms[r], &coll_tcp_transport, ranks[r], r, RANKS,
                                    arenas[r], ARENA),
                     COLL_OK);
        CHECK_STATUS(
            coll_comm_set_algorithm(&comms[r], COLL_BCAST, &coll_chain_bcast, one_chain),
            COLL_OK);
    }
    coll_tcp_abandon(ranks[2]); /* the root */
    ranks[2] = NULL;
    for (uint32_t r = 2; r-- > 0;) { /* rank 0 may find out at once */
        const coll_status status = coll_ibcast(&comms[r], x[r], 4, COLL_I32, 2, &requests[r]);
        ends[r] = status == COLL_OK ? COLL_AGAIN : status;
    }
    for (unsigned turn = 0; turn < 100000 && (ends[0] == COLL_AGAIN || ends[1] == COLL_AGAIN);
         turn++)
        for (uint32_t r = 0; r < 2; r++)
            if (ends[r] == COLL_AGAIN)
                ends[r] = coll_test(&requests[r]);
            else
                (void)coll_i_tcp_sweep(ranks[r], 0);
    CHECK_STATUS(ends[0], COLL_ERR_IO);
    CHECK_STATUS(ends[1], COLL_ERR_PEER);
    for (uint32_t r = 0; r < 2; r++)
        CHECK(coll_barrier(&comms[r]) < 0);
    coll_tcp_abandon(ranks[0]);
    coll_tcp_abandon(ranks[1]);
}

/* ---- strangers --------------------------------------------------------------------------- */

/* Connects to a rank as anybody can. */
static int stranger(uint32_t r)
{
    struct sockaddr_storage address;
    const coll_tcp_address its = coll_tcp_address_of(ranks[r == 0], r);
    const socklen_t length = coll_i_tcp_socket_address(&its, &address);
    const int fd = socket(address.ss_family, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&address, length) == 0);
    (void)coll_i_tcp_sweep(ranks[r], 100);
    return fd;
}

/* Says something, and finds out whether the connection is ended for it. */
static bool is_turned_away(uint32_t r, int fd, const void *bytes, size_t n)
{
    const uint32_t before = rank_of(r)->turned_away;
    CHECK_EQ(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
    for (unsigned i = 0; i < 10 && rank_of(r)->turned_away == before; i++)
        (void)coll_i_tcp_sweep(ranks[r], 20);
    return rank_of(r)->turned_away != before;
}

TEST(strangers)
{
    unsigned char noise[64], challenge[COLL_I_TCP_CHALLENGE_BYTES];
    unsigned char said[COLL_I_TCP_GREETING_BYTES];
    coll_tcp *forger;
    int fd;
    if (!begin(3, 0) || !meet())
        return;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)(i * 37);
    fd = stranger(2);
    CHECK(is_turned_away(2, fd, noise, sizeof noise));
    (void)close(fd);
    fd = stranger(2); /* a port scanner */
    (void)close(fd);
    CHECK(rank_of(2)->n_strangers > 0);
    for (unsigned i = 0; i < 10 && rank_of(2)->n_strangers > 0; i++)
        (void)coll_i_tcp_sweep(ranks[2], 20);
    CHECK_EQ(rank_of(2)->n_strangers, 0);

    /* A greeting that is right but for one field; then the right one, twice. */
    for (unsigned wrong = 0; wrong <= 6; wrong++) {
        uint32_t from = 0, to = 2, p = 3;
        unsigned char key[COLL_TCP_SECRET];
        memcpy(key, secret, sizeof key);
        fd = stranger(2);
        CHECK_EQ(recv(fd, challenge, sizeof challenge, MSG_WAITALL), (ssize_t)sizeof challenge);
        from = wrong == 0 ? 2 : wrong == 1 ? 3 : 0;
        to = wrong == 2 ? 1 : 2;
        p = wrong == 3 ? 4 : 3;
        key[5] ^= wrong == 4;
        forger = calloc(1, sizeof *forger);
        memcpy(forger->secret, key, sizeof key);
        forger->p = p;
        coll_i_tcp_put(said, from, 4);
        coll_i_tcp_put(said + 4, to, 4);
        coll_i_tcp_put(said + 8, p, 4);
        memset(said + 12, 'x', COLL_I_TCP_RANDOM);
        if (wrong != 6) /* else a recorded one */
            coll_i_tcp_put(
                said + 12 + COLL_I_TCP_RANDOM,
                coll_i_tcp_checksum(forger, 'G', 0, from, to, challenge + 8, said + 12), 8);
        if (wrong == 5) {
            CHECK(!is_turned_away(2, fd, said, sizeof said));
            CHECK(rank_of(2)->links[0] && rank_of(2)->links[0]->stage == COLL_I_TCP_UP);
        } else {
            CHECK(is_turned_away(2, fd, said, sizeof said));
            (void)close(fd);
        }
        free(forger);
    }
    /* More than are listened to: the first ones have to go. */
    {
        int fds[COLL_I_TCP_STRANGERS + 4];
        for (unsigned i = 0; i < COLL_I_TCP_STRANGERS + 4; i++)
            fds[i] = stranger(1);
        for (unsigned i = 0; i < 10; i++)
            (void)coll_i_tcp_sweep(ranks[1], 1);
        CHECK_EQ(rank_of(1)->n_strangers, COLL_I_TCP_STRANGERS);
        for (unsigned i = 0; i < COLL_I_TCP_STRANGERS + 4; i++)
            (void)close(fds[i]);
    }
    CHECK(meet()); /* the job goes on */
    for (uint32_t r = 0; r < 3; r++)
        coll_tcp_abandon(ranks[r]);
}

/* Frames that no rank sends end the connection, and nothing else. */
TEST(malformed_frames)
{
    static const coll_i_tcp_frame frames[] = {
        {0, 0, 0, 0, 0, 0, 0},                /* no kind */
        {99, 0, 0, 0, 0, 0, 0},               /* … */
        {COLL_I_TCP_WHOLE, 0, 0, 0, 0, 8, 9}, /* not whole */
        {COLL_I_TCP_WHOLE, 0, 0, 0, 0, 2 * COLL_TCP_CREDIT + 1, 2 * COLL_TCP_CREDIT + 1},
        {COLL_I_TCP_BEGIN, 0, 0, 0, 0, 8, 8},              /* … but whole */
        {COLL_I_TCP_BEGIN, 0, 0, 0, 0, 9, 8},              /* more than all */
        {COLL_I_TCP_REST, 0, 0, 0, 12345, 8, 8},           /* of no receive */
        {COLL_I_TCP_READY, 0, 0, 0, 0, 8, 0},              /* with a body */
        {COLL_I_TCP_CREDIT, 1, 0, 0, 0, 0, 0},             /* more than was used */
        {COLL_I_TCP_ABORT, 0, COLL_CLAIM_ALL, 0, 1, 0, 0}, /* no tags */
        {COLL_I_TCP_ABORT, 0, 1, 0, COLL_CLAIM_ALL, 0, 0},
    };
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        unsigned char head[COLL_I_TCP_HEAD];
        char x = 0;
        if (!begin(2, 0) || !meet())
            return;
        coll_i_tcp_put_frame(head, &frames[i]);
        CHECK_STATUS(start_recv(1, 1, 3, &x, 1), COLL_STARTED);
        CHECK_EQ(send(rank_of(0)->list[0]->fd, head, sizeof head, MSG_NOSIGNAL),
                 (ssize_t)sizeof head);
        if (!CHECK_STATUS(over(ranks[1], &handles[1][1]), COLL_ERR_IO))
            printf("    frame %u\n", (unsigned)i);
        coll_tcp_transport.failure->cancel(ranks[1], &handles[1][1]);
        coll_tcp_abandon(ranks[0]);
        coll_tcp_abandon(ranks[1]);
    }
}

/* ---- addresses --------------------------------------------------------------------------- */

TEST(addresses)
{
    static const struct {
        const char *interfaces;
        uint16_t family;
    } words[] = {{"lo", 4},
                 {"127.0.0.1", 4},
                 {"nothing,127.0.0.0/8", 4},
                 {"nothing", 0},
                 {"10.255.255.0/30", 0},
                 {"127.0.0.0/33", 0},
                 {"127.0.0.0/8x", 0},
                 {"", 4},
                 {"::/0,127.0.0.0/8", 4}};
    char why[COLL_TCP_WHY];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        coll_tcp_options options = {0};
        coll_tcp *tcp;
        options.interfaces = words[i].interfaces;
        tcp = coll_tcp_open(0, 2, &options, why);
        if (!CHECK((tcp != NULL) == (words[i].family != 0)))
            printf("    %s: %s\n", words[i].interfaces, why);
        CHECK((tcp != NULL) == (*why == 0));
        if (tcp) {
            const coll_tcp_address its = coll_tcp_own_address(tcp);
            CHECK(its.family == 4 || its.family == 6);
            CHECK(its.port != 0);
            options.port = its.port; /* it is taken */
            CHECK(coll_tcp_open(1, 2, &options, why) == NULL);
            CHECK(strstr(why, "cannot listen at port") != NULL);
        }
        coll_tcp_abandon(tcp);
    }
    CHECK(coll_tcp_open(2, 2, NULL, why) == NULL);
    CHECK(strstr(why, "no rank 2 of 2") != NULL);
}

/* Ranks of this machine share its processors also where each has an address of its own, as containers have. */
TEST(ranks_of_this_machine)
{
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    char why[COLL_TCP_WHY];
    uint32_t p;
    coll_tcp_address *all;
    coll_processors_add(set);
    p = coll_processors_count(set) + 1;
    all = (coll_tcp_address *)calloc(p, sizeof *all);
    for (unsigned here = 0; here < 2 && CHECK(all != NULL); here++) {
        coll_tcp *tcp = coll_tcp_open(0, p, NULL, why);
        if (!CHECK(tcp != NULL))
            break;
        for (uint32_t r = 0; r < p; r++) {
            all[r] = coll_tcp_own_address(tcp);
            all[r].ip[3] = (uint8_t)(all[r].ip[3] + r);
            if (r > 0 && !here)
                all[r].machine = 0;
        }
        CHECK(coll_tcp_join(tcp, all, why));
        CHECK((tcp->idle.spins == 0) == (here && all[0].machine != 0));
        coll_tcp_abandon(tcp);
    }
    free(all);
}

int main(void)
{
    network = &network_tcp;
    RUN(conformance);
    RUN(collectives);
    RUN(connected_before);
    RUN(a_rank_that_receives_nothing);
    RUN(long_exchanges);
    RUN(a_rank_leaves);
    RUN(a_rank_that_is_not_there);
    RUN(a_chain_of_waits);
    RUN(strangers);
    RUN(malformed_frames);
    RUN(addresses);
    RUN(ranks_of_this_machine);
    return check_done();
}
