/* Ranks that sleep on a descriptor (coll_events), over TCP: with nothing else to do, while a peer is still to
 * connect, and with a communicator that several threads use under one lock. A rank that is not woken would
 * sleep for ever, and is told so after a while. */
#include "support/check.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "support/network_tcp.h"

enum { MOST = 4, HANGS = 60000 /* ms */ };

/* Sleeps until something is to be done. False: nobody wakes it. */
static bool sleep_on(int descriptor)
{
    struct pollfd it = {descriptor, POLLIN, 0};
    return poll(&it, 1, HANGS) > 0;
}

/* ---- the transport ----------------------------------------------------------------------- */

/* A receive is waited for by sleep alone, while the peer does nothing for a while, not even connect. */
TEST(call_by_call)
{
    const coll_events *events = coll_tcp_transport.events;
    coll_handle h, sent;
    char x = 7, y = 0;
    unsigned sleeps = 0;
    coll_status status = COLL_AGAIN, its;
    if (!CHECK(events != NULL) || !begin(2, 0))
        return;
    CHECK(events->descriptor(ranks[0]) >= 0);
    CHECK_EQ(events->descriptor(ranks[0]), events->descriptor(ranks[0]));
    CHECK_STATUS(events->arm(ranks[0]), COLL_OK);
    CHECK(!coll_is_readable(events->descriptor(ranks[0])));
    CHECK_STATUS(coll_tcp_transport.recv(ranks[1], 0, 3, &y, 1, &h), COLL_STARTED);
    CHECK_STATUS(events->arm(ranks[1]), COLL_OK);
    CHECK(sleep_on(events->descriptor(ranks[1]))); /* the peer has not connected in time */
    while ((its = events->arm(ranks[1])) == COLL_AGAIN)
        CHECK_STATUS(coll_tcp_transport.test(ranks[1], &h), COLL_AGAIN);
    CHECK_STATUS(its, COLL_OK);
    CHECK_STATUS(coll_tcp_transport.send(ranks[0], 1, 3, &x, 1, &sent), COLL_STARTED);
    its = COLL_AGAIN;
    for (unsigned turn = 0; turn < 1000 && (status == COLL_AGAIN || its == COLL_AGAIN);
         turn++) {
        if (its == COLL_AGAIN)
            its = coll_tcp_transport.test(ranks[0], &sent);
        if (status == COLL_AGAIN && coll_is_readable(events->descriptor(ranks[1]))) {
            sleeps++;
            do
                status = coll_tcp_transport.test(ranks[1], &h);
            while (status == COLL_AGAIN && events->arm(ranks[1]) == COLL_AGAIN);
        }
        coll_tcp_transport.wait(ranks[0], 1 << 20);
    }
    CHECK_STATUS(its, COLL_OK);
    CHECK_STATUS(status, COLL_OK);
    CHECK_EQ(y, 7);
    CHECK(sleeps > 0);
    end();
}

/* ---- an event loop ----------------------------------------------------------------------- */

enum { CALLS = 24, LONG = 300000 };

typedef struct loop {
    coll_tcp *tcp;
    uint32_t rank, p, left;
    unsigned sleeps;
    coll_status status;
} loop;

static size_t length_of(uint32_t call)
{
    return call % 4 == 3 ? (size_t)LONG : call % 4 == 2 ? (size_t)5000 : (size_t)(1 + call);
}

static void one_less(coll_request *request, coll_status status, void *arg)
{
    loop *me = (loop *)arg;
    (void)request;
    me->left--;
    if (me->status == COLL_OK)
        me->status = status;
}

static unsigned slept; /* rank 1 has; rank 0 waits for it */

/* Many calls, short ones and such as fill sockets, with one of the ranks late. */
static void *run_loop(void *arg)
{
    loop *me = (loop *)arg;
    const size_t bytes = (size_t)1 << 24;
    void *memory = malloc(bytes);
    int32_t *values = calloc(CALLS * (size_t)LONG, sizeof *values);
    coll_request *requests = malloc(CALLS * sizeof *requests);
    coll_comm comm;
    me->status =
        coll_comm_init(&comm, &coll_tcp_transport, me->tcp, me->rank, me->p, memory, bytes);
    for (unsigned i = 0;
         me->rank == 0 && !__atomic_load_n(&slept, __ATOMIC_ACQUIRE) && i < 10000; i++)
        (void)poll(NULL, 0, 1);
    for (uint32_t c = 0; c < CALLS && me->status == COLL_OK; c++) {
        int32_t *x = values + c * (size_t)LONG;
        for (size_t i = 0; i < length_of(c); i++)
            x[i] = (int32_t)(me->rank + i + c);
        me->status = coll_iallreduce(&comm, COLL_IN_PLACE, x, length_of(c), COLL_I32, COLL_SUM,
                                     &requests[c]);
        me->left += me->status == COLL_OK;
        if (me->status == COLL_OK)
            me->status = coll_request_on_done(&requests[c], one_less, me);
    }
    while (me->left > 0 && me->status == COLL_OK) {
        coll_status armed;
        while ((armed = coll_comm_arm(&comm)) == COLL_AGAIN)
            ;
        if (armed < 0)
            me->status = armed;
        if (me->left == 0 || me->status != COLL_OK)
            break;
        me->sleeps++;
        if (me->rank == 1)
            __atomic_store_n(&slept, 1, __ATOMIC_RELEASE);
        if (!sleep_on(coll_comm_descriptor(&comm)))
            me->status = COLL_ERR_STATE;
    }
    for (uint32_t c = 0; c < CALLS && me->status == COLL_OK; c++)
        for (size_t i = 0; i < length_of(c); i++)
            if (values[c * (size_t)LONG + i] !=
                (int32_t)(me->p * (me->p - 1) / 2 + me->p * (i + c)))
                me->status = COLL_ERR_IO;
    if (me->status == COLL_OK)
        me->status = coll_comm_free(&comm);
    free(memory);
    free(values);
    free(requests);
    return NULL;
}

TEST(event_loops)
{
    for (uint32_t p = 2; p <= MOST; p++) {
        loop all[MOST];
        void *args[MOST] = {NULL};
        memset(all, 0, sizeof all);
        __atomic_store_n(&slept, 0, __ATOMIC_RELEASE);
        if (!begin(p, 0))
            return;
        for (uint32_t r = 0; r < p; r++) {
            all[r].tcp = ranks[r];
            all[r].rank = r;
            all[r].p = p;
            args[r] = &all[r];
        }
        on_threads(run_loop, args, p);
        for (uint32_t r = 0; r < p; r++) {
            CHECK_STATUS(all[r].status, COLL_OK);
            CHECK_EQ(all[r].left, 0);
        }
        CHECK(all[1].sleeps > 0);
        end();
    }
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { USERS = 3, TURNS = 20 };

typedef struct shared_rank {
    pthread_mutex_t lock;
    coll_comm comm, subs[USERS];
    int wake[2];
    struct user *users;
    unsigned busy; /* users that are not done */
    coll_status status;
} shared_rank;

typedef struct user {
    shared_rank *of;
    coll_comm *comm;
    pthread_cond_t told;
    bool done;
    coll_status status;
} user;

static void tell(coll_request *request, coll_status status, void *arg)
{
    user *me = (user *)arg;
    (void)request;
    me->done = true;
    me->status = status;
    (void)pthread_cond_signal(&me->told);
}

/* Before the lock is given back: all that moves is moved, and the descriptor tells of what comes. */
static void settle(shared_rank *of)
{
    coll_status status;
    while ((status = coll_comm_arm(&of->comm)) == COLL_AGAIN)
        ;
    if (status < 0 && of->status == COLL_OK)
        of->status = status;
}

/* A thread with a communicator of its own, as calls of one are in the same order on all ranks. */
static void *use(void *arg)
{
    user *me = (user *)arg;
    shared_rank *of = me->of;
    static const size_t lengths[] = {1, 3000, 100000};
    int32_t *x = calloc(lengths[2], sizeof *x);
    coll_request *request = malloc(sizeof *request);
    me->status = x && request ? COLL_OK : COLL_ERR_MEMORY;
    for (unsigned turn = 0; turn < TURNS && me->status == COLL_OK; turn++) {
        const size_t n = lengths[turn % 3];
        for (size_t i = 0; i < n; i++)
            x[i] = (int32_t)(of->comm.rank + turn + i);
        (void)pthread_mutex_lock(&of->lock);
        me->done = false;
        me->status =
            coll_iallreduce(me->comm, COLL_IN_PLACE, x, n, COLL_I32, COLL_SUM, request);
        if (me->status == COLL_OK)
            me->status = coll_request_on_done(request, tell, me);
        settle(of);
        while (!me->done && me->status == COLL_OK && of->status == COLL_OK)
            (void)pthread_cond_wait(&me->told, &of->lock);
        if (me->status == COLL_OK)
            me->status = of->status;
        (void)pthread_mutex_unlock(&of->lock);
        for (size_t i = 0; i < n && me->status == COLL_OK; i++)
            if (x[i] != (int32_t)(of->comm.p * (of->comm.p - 1) / 2 + of->comm.p * (turn + i)))
                me->status = COLL_ERR_IO;
    }
    (void)pthread_mutex_lock(&of->lock);
    if (--of->busy == 0 && write(of->wake[1], "", 1) != 1)
        of->status = COLL_ERR_IO;
    (void)pthread_mutex_unlock(&of->lock);
    free(x);
    free(request);
    return NULL;
}

/* The thread that sleeps, and makes progress when something comes. */
static void *serve(void *arg)
{
    shared_rank *of = (shared_rank *)arg;
    bool busy = true;
    while (busy) {
        struct pollfd both[2];
        (void)pthread_mutex_lock(&of->lock);
        settle(of);
        both[0].fd = coll_comm_descriptor(&of->comm);
        (void)pthread_mutex_unlock(&of->lock);
        both[1].fd = of->wake[0];
        both[0].events = both[1].events = POLLIN;
        both[0].revents = both[1].revents = 0;
        busy = poll(both, 2, HANGS) > 0 && !both[1].revents;
        if (!busy && !both[1].revents) {
            (void)pthread_mutex_lock(&of->lock);
            of->status = COLL_ERR_STATE;
            for (uint32_t u = 0; u < USERS; u++)
                (void)pthread_cond_signal(&of->users[u].told);
            (void)pthread_mutex_unlock(&of->lock);
        }
    }
    return NULL;
}

/* Several threads of each rank, and one that sleeps outside of the lock. */
TEST(threads_under_a_lock)
{
    enum { P = 3, ARENA = 1 << 23 };
    static shared_rank its[P];
    static user users[P][USERS];
    pthread_t threads[P][USERS], servers[P];
    void *memory[P];
    if (!begin(P, 0))
        return;
    for (uint32_t r = 0; r < P; r++) {
        memory[r] = malloc(ARENA);
        CHECK_EQ(pthread_mutex_init(&its[r].lock, NULL), 0);
        CHECK_EQ(pipe(its[r].wake), 0);
        its[r].busy = USERS;
        its[r].users = users[r];
        CHECK_STATUS(
            coll_comm_init(&its[r].comm, &coll_tcp_transport, ranks[r], r, P, memory[r], ARENA),
            COLL_OK);
        for (uint32_t u = 0; u < USERS; u++) {
            CHECK_STATUS(coll_comm_dup(&its[r].subs[u], &its[r].comm, 4), COLL_OK);
            CHECK_EQ(pthread_cond_init(&users[r][u].told, NULL), 0);
            users[r][u].of = &its[r];
            users[r][u].comm = &its[r].subs[u];
        }
    }
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t u = 0; u < USERS; u++)
            CHECK_EQ(pthread_create(&threads[r][u], NULL, use, &users[r][u]), 0);
        CHECK_EQ(pthread_create(&servers[r], NULL, serve, &its[r]), 0);
    }
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t u = 0; u < USERS; u++) {
            (void)pthread_join(threads[r][u], NULL);
            CHECK_STATUS(users[r][u].status, COLL_OK);
        }
        (void)pthread_join(servers[r], NULL);
        CHECK_STATUS(its[r].status, COLL_OK);
    }
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t u = 0; u < USERS; u++) {
            CHECK_STATUS(coll_comm_free(&its[r].subs[u]), COLL_OK);
            (void)pthread_cond_destroy(&users[r][u].told);
        }
        CHECK_STATUS(coll_comm_free(&its[r].comm), COLL_OK);
        (void)pthread_mutex_destroy(&its[r].lock);
        (void)close(its[r].wake[0]);
        (void)close(its[r].wake[1]);
        free(memory[r]);
    }
    end();
}

int main(void)
{
    network = &network_tcp;
    RUN(call_by_call);
    RUN(event_loops);
    RUN(threads_under_a_lock);
    return check_done();
}
