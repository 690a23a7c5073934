/* One rank is stopped (SIGSTOP) while the others send to it and wait for it: the library allocates next to nothing
 * meanwhile, on no rank, and all calls end when it goes on. */
#include "support/counted.h"

#include "support/check.h"

#include "coll/comm.h"
#include "support/launched.h"

enum { P = 4, SHORT = 1000, LONG = 100000, TURNS = 300, STOPPED_MS = 1000, MORE = 1 << 20 };

/* A transport whose ranks are processes. */
typedef struct kind {
    const char *name;
    const coll_transport *transport;
    void *(*open)(uint32_t *rank, char *why); /* why: of COLL_TCP_WHY bytes */
    void (*close)(void *ctx);
} kind;

static void *open_tcp(uint32_t *rank, char *why)
{
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    if (tcp)
        *rank = coll_tcp_rank(tcp);
    return tcp;
}

static void close_tcp(void *ctx)
{
    coll_tcp_close((coll_tcp *)ctx);
}

static const kind kinds[] = {{"tcp", &coll_tcp_transport, open_tcp, close_tcp}};

typedef struct stop {
    const kind *by;
    int ready[2], over[2]; /* pipes: ranks are in their calls; the stopped one goes on */
} stop;

/* Messages that run ahead of who does not receive: one after the other to all, from all to one, long ones. */
static coll_status calls(coll_comm *comm)
{
    static unsigned char a[P * LONG], b[P * LONG];
    coll_status status = COLL_OK;
    for (uint32_t i = 0; i < TURNS && status == COLL_OK; i++) {
        status = coll_bcast(comm, a, SHORT, COLL_U8, i % P);
        if (status == COLL_OK)
            status = coll_gather(comm, b, a, SHORT, COLL_U8, (i + 1) % P);
        if (status == COLL_OK && i % 30 == 0)
            status = coll_alltoall(comm, a, b, LONG, COLL_U8);
    }
    return status;
}

/* 1: it does not start; 2: a call fails; 3: the library has allocated too much. */
static int body(void *argument)
{
    static unsigned char memory[8 << 20];
    stop *const its = argument;
    char why[COLL_TCP_WHY], byte = 0;
    uint32_t rank = 0;
    void *const ctx = its->by->open(&rank, why);
    coll_comm comm;
    coll_status status;
    int32_t over = 0, all = 0;
    size_t before;
    if (!ctx || coll_comm_init(&comm, its->by->transport, ctx, rank, P, memory,
                               sizeof memory) != COLL_OK)
        return 1;
    status = calls(&comm);
    before = counted_now;
    if (write(its->ready[1], &byte, 1) != 1)
        return 1;
    while (status == COLL_OK && all == 0) {
        struct pollfd polled = {its->over[0], POLLIN, 0};
        over = rank == 0 && poll(&polled, 1, 0) > 0;
        status = calls(&comm);
        if (status == COLL_OK)
            status = coll_allreduce(&comm, &over, &all, 1, COLL_I32, COLL_MAX);
    }
    if (status == COLL_OK)
        status = coll_comm_free(&comm);
    its->by->close(ctx);
    return status != COLL_OK ? 2 : counted_most - before > MORE ? 3 : 0;
}

TEST(who_is_stopped)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (uint32_t victim = 0; victim < P; victim += 2) {
            pid_t rank[P];
            stop its;
            char bytes[P];
            size_t n = 0;
            its.by = &kinds[k];
            if (!CHECK(pipe(its.ready) == 0 && pipe(its.over) == 0))
                return;
            launched_start(rank, P, 1, body, &its);
            (void)close(its.ready[1]);
            while (n < P) {
                const ssize_t more = read(its.ready[0], bytes + n, P - n);
                if (more <= 0)
                    break;
                n += (size_t)more;
            }
            CHECK_EQ(n, P);
            (void)kill(rank[victim], SIGSTOP);
            (void)poll(NULL, 0, STOPPED_MS);
            (void)kill(rank[victim], SIGCONT);
            CHECK(write(its.over[1], bytes, 1) == 1);
            if (!CHECK(launched_end(rank, P, 60)))
                printf("    %s, rank %u was stopped\n", its.by->name, victim);
            (void)close(its.ready[0]);
            (void)close(its.over[0]);
            (void)close(its.over[1]);
        }
}

int main(void)
{
    RUN(who_is_stopped);
    return check_done();
}
