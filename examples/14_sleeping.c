/* examples/14_sleeping.c — a runtime's event loop, over the transport that its argument names: tcp (if nothing is said),
 * ucx or ofi, whose ranks sleep on a descriptor (coll_events)
 *
 *   coll launch -n 4 build/examples/14_sleeping tcp
 *   coll launch -n 4 build/examples/14_sleeping ucx
 *   coll launch -n 4 build/examples/14_sleeping ofi
 *
 * Each rank adds a number in ten rounds. A call that is over is told (coll_request_on_done), and its function
 * posts the next one; but half-way the last rank waits for a timer of its own, while the others have nothing to do. In
 * between, ranks sleep in poll, where a program would have its sockets, too, and use no processor. The loop is
 * the same for all transports. One without a descriptor (shm, join) is looked after each millisecond.
 */
#include <poll.h>
#include <time.h>

#include "networks.h"

enum { ROUNDS = 10, PAUSE = 200 }; /* ms */

typedef struct runtime {
    coll_comm comm;
    coll_request request;
    double mine, sum;
    uint32_t rounds;
    uint64_t resume; /* when the next call is to be posted, in ms; 0: no timer runs */
    coll_status status;
    bool right;
} runtime;

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void over(coll_request *request, coll_status status, void *arg);

static void post(runtime *me)
{
    me->resume = 0;
    me->mine = me->comm.rank + me->rounds;
    me->status =
        coll_iallreduce(&me->comm, &me->mine, &me->sum, 1, COLL_F64, COLL_SUM, &me->request);
    if (me->status == COLL_OK)
        me->status = coll_request_on_done(&me->request, over, me);
}

/* A call is over: its request is free, also for the next one. */
static void over(coll_request *request, coll_status status, void *arg)
{
    runtime *me = (runtime *)arg;
    const uint32_t p = me->comm.p;
    (void)request;
    me->status = status;
    if (status != COLL_OK)
        return;
    me->right = me->right && me->sum == p * (p - 1) / 2.0 + (double)p * me->rounds;
    if (++me->rounds == ROUNDS / 2 && me->comm.rank == p - 1)
        me->resume = now() + PAUSE;
    else if (me->rounds < ROUNDS)
        post(me);
}

/* Sleeps until the transport, or the timer, has something to do. */
static void sleep_once(runtime *me)
{
    struct pollfd set = {-1, POLLIN, 0};
    int most = -1; /* ms; −1: for ever */
    set.fd = coll_comm_descriptor(&me->comm);
    if (me->resume != 0) {
        const uint64_t time = now();
        most = time < me->resume ? (int)(me->resume - time) : 0;
    }
    if (set.fd < 0) { /* there is none */
        coll_progress(&me->comm);
        most = 1;
    } else {
        const coll_status status = coll_comm_arm(&me->comm); /* makes progress, too */
        if (status == COLL_AGAIN)
            return;
        if (status != COLL_OK)
            me->status = status;
    }
    if (me->status == COLL_OK && me->rounds < ROUNDS) /* `over` may have been called */
        (void)poll(&set, 1, most);
}

static void run(runtime *me)
{
    post(me);
    while (me->status == COLL_OK && me->rounds < ROUNDS) {
        if (me->resume != 0 && now() >= me->resume)
            post(me);
        else
            sleep_once(me);
    }
}

int main(int argc, char **argv)
{
    static unsigned char memory[1 << 16];
    static runtime me;
    static end its;
    const char *name = argc > 1 ? argv[1] : "tcp";
    const struct network *network = network_named("14_sleeping", name);
    char why[JOINED_WHY];
    if (!network)
        return 2;
    if (!network->open(&its, why)) {
        fprintf(stderr, "14_sleeping: %s\n", why);
        return 1;
    }
    me.right = true;
    me.status = coll_comm_init(&me.comm, its.transport, its.ctx, its.rank, its.p, memory,
                               sizeof memory);
    if (me.status == COLL_OK)
        run(&me);
    if (me.status != COLL_OK)
        fprintf(stderr, "rank %u: %s\n", its.rank, coll_status_text(me.status));
    else if (its.rank == 0)
        printf("%u rank%s over %s: %d sums are %s; there is %sdescriptor to sleep on\n", its.p,
               its.p == 1 ? "" : "s", name, ROUNDS, me.right ? "right" : "wrong",
               coll_comm_descriptor(&me.comm) < 0 ? "no " : "a ");
    if (me.status == COLL_OK)
        me.status = coll_comm_free(&me.comm);
    network->close(its.ctx);
    return me.status == COLL_OK && me.right ? 0 : 1;
}
