/* A traced transport: it keeps the contract as the inner one does; what it notes of calls, and of the latest
 * operations alone; what all ranks noted as one run, whose messages are all there. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll/comm.h"
#include "coll/comm/trace_calls.h"
#include "coll/lab/sim/real_record.h"
#include "coll/transports/conformance.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/check.h"

enum { P = 4, EVENTS = 4096, MESSAGES = 512, FEW_ROUNDS = 500, ARENA = 1 << 16, LONG = 20000 };

static coll_traced traced[P];
static coll_traced_event events[P][EVENTS];
static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];

/* A clock that goes on by one each time it is read. */
static uint64_t ticks(void *arg)
{
    return ++*(uint64_t *)arg;
}

static uint64_t nanoseconds(void *arg)
{
    struct timespec t;
    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Wraps the transport of a rank. */
static void wrap(uint32_t r, const coll_transport *inner, void *ctx, uint32_t room,
                 uint64_t (*now)(void *arg), void *arg)
{
    coll_clock clock;
    clock.now = now;
    clock.arg = arg;
    CHECK_STATUS(coll_traced_init(&traced[r], inner, ctx, &clock, events[r], room), COLL_OK);
}

/* ---- the contract ------------------------------------------------------------------------ */

static coll_conformance kits[P];

static void prepare(uint32_t r, uint32_t p, const coll_transport *transport, void *ctx,
                    size_t longest)
{
    coll_conformance_task task = {transport, ctx, r, p, longest, 0, FEW_ROUNDS, 0, NULL, 0};
    task.bytes = coll_conformance_bytes(&task);
    task.memory = malloc(task.bytes);
    CHECK(task.memory != NULL);
    CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
}

/* Runs the kit, whose results are those of the transport without a trace. */
static void conforms(uint32_t p, coll_conformance_result *results, bool compares)
{
    CHECK_STATUS(coll_conformance_run(kits, p), COLL_OK);
    if (!CHECK(*coll_conformance_sentence(kits, p) == 0))
        printf("    %s\n", coll_conformance_sentence(kits, p));
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS; c++) {
        const coll_conformance_result is =
            coll_conformance_result_of(kits, p, (coll_conformance_check)c);
        if (compares)
            CHECK_EQ(is, results[c]);
        results[c] = is;
    }
    for (uint32_t r = 0; r < p; r++)
        free(kits[r].task.memory);
}

TEST(contract_of_loopback)
{
    for (uint32_t p = 2; p <= P; p++) {
        coll_conformance_result results[COLL_CONFORMANCE_CHECKS];
        for (int with = 0; with < 2; with++) {
            coll_loopback world;
            coll_loopback_rank ends[P];
            uint64_t time = 0;
            memset(messages, 0, sizeof messages);
            CHECK_STATUS(coll_loopback_init(&world, p, MESSAGES, messages, sizeof messages),
                         COLL_OK);
            for (uint32_t r = 0; r < p; r++) {
                CHECK_STATUS(coll_loopback_attach(&world, r, &ends[r]), COLL_OK);
                wrap(r, &coll_loopback_transport, &ends[r], EVENTS, ticks, &time);
                prepare(r, p,
                        with ? coll_traced_transport(&traced[r]) : &coll_loopback_transport,
                        with ? (void *)&traced[r] : (void *)&ends[r], 1000);
            }
            conforms(p, results, with != 0);
            CHECK_EQ(world.n_free, MESSAGES);
            CHECK((traced[0].n > 1000) == (with != 0));
        }
    }
}

TEST(contract_of_threads)
{
    for (uint32_t p = 2; p <= P; p++) {
        coll_conformance_result results[COLL_CONFORMANCE_CHECKS];
        for (int with = 0; with < 2; with++) {
            coll_threads *world = coll_threads_create(p);
            uint64_t time = 0;
            if (!CHECK(world != NULL))
                return;
            CHECK_STATUS(coll_threads_share(world, 4096), COLL_OK);
            for (uint32_t r = 0; r < p; r++) {
                void *ctx = coll_threads_rank(world, r);
                wrap(r, &coll_threads_transport, ctx, EVENTS, ticks, &time);
                prepare(r, p,
                        with ? coll_traced_transport(&traced[r]) : &coll_threads_transport,
                        with ? (void *)&traced[r] : ctx, LONG);
            }
            conforms(p, results, with != 0);
            coll_threads_destroy(world);
        }
    }
}

TEST(refusals)
{
    const coll_clock none = {NULL, NULL}, clock = {nanoseconds, NULL};
    coll_transport broken = coll_loopback_transport;
    broken.test = NULL;
    CHECK_STATUS(coll_traced_init(NULL, &coll_loopback_transport, NULL, &clock, events[0], 1),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_traced_init(&traced[0], NULL, NULL, &clock, events[0], 1), COLL_ERR_NULL);
    CHECK_STATUS(
        coll_traced_init(&traced[0], &coll_loopback_transport, NULL, &none, events[0], 1),
        COLL_ERR_NULL);
    CHECK_STATUS(coll_traced_init(&traced[0], &coll_loopback_transport, NULL, &clock, NULL, 1),
                 COLL_ERR_NULL);
    CHECK_STATUS(
        coll_traced_init(&traced[0], &coll_loopback_transport, NULL, &clock, events[0], 0),
        COLL_ERR_NULL);
    CHECK_STATUS(coll_traced_init(&traced[0], &broken, NULL, &clock, events[0], 1),
                 COLL_ERR_TRANSPORT);
    CHECK_STATUS(coll_comm_trace(NULL, NULL, NULL), COLL_ERR_NULL);
}

/* ---- what is noted ----------------------------------------------------------------------- */

static void is_event(uint32_t r, uint32_t i, coll_traced_kind kind, uint32_t peer,
                     uint64_t start, uint64_t end, coll_status status)
{
    const coll_traced_event *event = coll_traced_at(&traced[r], i);
    CHECK_EQ(event->kind, kind);
    CHECK_EQ(event->peer, peer);
    CHECK_EQ(event->start, start);
    CHECK_EQ(event->end, end);
    CHECK_EQ(event->status, status);
}

/* Operations by hand, whose times are known. */
TEST(operations)
{
    static char buf[100];
    const coll_transport *t;
    coll_loopback world;
    coll_loopback_rank ends[2];
    coll_handle h[2] = {{{0, 0}}, {{0, 0}}};
    uint64_t time = 0, call;
    CHECK_STATUS(coll_loopback_init(&world, 2, MESSAGES, messages, sizeof messages), COLL_OK);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK_STATUS(coll_loopback_attach(&world, r, &ends[r]), COLL_OK);
        wrap(r, &coll_loopback_transport, &ends[r], 3, ticks, &time);
    }
    t = coll_traced_transport(&traced[0]);
    call = coll_traced_begin(&traced[0], COLL_BCAST, 7, 100);               /* 1 */
    CHECK_STATUS(t->send(&traced[0], 1, 7, buf, 100, &h[0]), COLL_STARTED); /* 2 */
    CHECK_STATUS(t->recv(&traced[1], 0, 7, buf, 100, &h[1]), COLL_STARTED); /* 3 */
    CHECK_STATUS(t->test(&traced[0], &h[0]), COLL_AGAIN);
    CHECK_STATUS(t->test(&traced[1], &h[1]), COLL_OK); /* 4 */
    is_event(0, 1, COLL_TRACED_SEND, 1, 2, 2, COLL_STARTED);
    CHECK_STATUS(t->test(&traced[0], &h[0]), COLL_OK); /* 5 */
    coll_traced_end(&traced[0], call, COLL_OK);        /* 6 */
    CHECK_EQ(traced[0].n, 2);
    CHECK_EQ(coll_traced_kept(&traced[0]), 2);
    is_event(0, 0, COLL_TRACED_CALL, COLL_RANK_NONE, 1, 6, COLL_OK);
    CHECK_EQ(coll_traced_at(&traced[0], 0)->which, COLL_BCAST);
    is_event(0, 1, COLL_TRACED_SEND, 1, 2, 5, COLL_OK);
    CHECK_EQ(coll_traced_at(&traced[0], 1)->bytes, 100);
    CHECK_EQ(coll_traced_at(&traced[0], 1)->tag, 7);
    is_event(1, 0, COLL_TRACED_RECV, 0, 3, 4, COLL_OK);

    /* what is given up, and what is in flight when its event is replaced */
    CHECK_STATUS(t->recv(&traced[1], 0, 7, buf, 1, &h[1]), COLL_STARTED); /* 7 */
    t->failure->cancel(&traced[1], &h[1]);                                /* 8 */
    is_event(1, 1, COLL_TRACED_RECV, 0, 7, 8, COLL_ERR_CANCELLED);
    CHECK_STATUS(t->recv(&traced[1], 0, 8, buf, 1, &h[1]), COLL_STARTED); /* 9 */
    for (uint64_t i = 0; i < 3; i++) {
        h[0].word[0] = h[0].word[1] = 0;
        CHECK_STATUS(t->recv(&traced[1], 0, 9, buf, 1, &h[0]), COLL_STARTED); /* 10 12 14 */
        t->failure->cancel(&traced[1], &h[0]);                                /* 11 13 15 */
    }
    CHECK_EQ(coll_traced_kept(&traced[1]), 3);
    CHECK_EQ(traced[1].n, 6);
    t->failure->cancel(&traced[1], &h[1]); /* of which there is no event any more */
    CHECK_EQ(time, 15);
    for (uint32_t i = 0; i < 3; i++)
        is_event(1, i, COLL_TRACED_RECV, 0, 10 + 2 * i, 11 + 2 * i, COLL_ERR_CANCELLED);
    CHECK_EQ(traced[1].flying, 0);
    CHECK_EQ(world.n_free, MESSAGES);

    /* more in flight than is followed */
    {
        static coll_handle many[COLL_TRACED_FLIGHTS + 1];
        wrap(1, &coll_loopback_transport, &ends[1], EVENTS, ticks, &time);
        for (uint32_t i = 0; i <= COLL_TRACED_FLIGHTS; i++)
            CHECK_STATUS(t->recv(&traced[1], 0, 1, buf, 1, &many[i]), COLL_STARTED);
        for (uint32_t i = 0; i <= COLL_TRACED_FLIGHTS; i++)
            t->failure->cancel(&traced[1], &many[i]);
        for (uint32_t i = 0; i <= COLL_TRACED_FLIGHTS; i++)
            CHECK_EQ(coll_traced_at(&traced[1], i)->status,
                     i < COLL_TRACED_FLIGHTS ? COLL_ERR_CANCELLED : COLL_STARTED);
        coll_traced_clear(&traced[1]);
        CHECK_EQ(coll_traced_kept(&traced[1]), 0);
    }
}

/* ---- calls, of threads ------------------------------------------------------------------- */

enum { CALLS = 6 };

static coll_status statuses[P];
static unsigned char arenas[P][ARENA];
static double in[P][LONG], out[P][LONG];
static coll_trace_calls calls[P];

static void *work(void *arg)
{
    const uint32_t r = (uint32_t)(uintptr_t)arg;
    coll_comm comm;
    coll_request request;
    coll_status status = coll_comm_init(&comm, coll_traced_transport(&traced[r]), &traced[r], r,
                                        P, arenas[r], ARENA);
    if (status == COLL_OK)
        status = coll_comm_trace(&comm, &calls[r], &traced[r]);
    for (size_t i = 0; i < LONG; i++)
        in[r][i] = r + 1;
    if (status == COLL_OK)
        status = coll_allreduce(&comm, in[r], out[r], 1, COLL_F64, COLL_SUM);
    if (status == COLL_OK)
        status = coll_barrier(&comm);
    if (status == COLL_OK)
        status = coll_bcast(&comm, in[r], LONG, COLL_F64, 1);
    if (status == COLL_OK)
        status = coll_reduce(&comm, in[r], out[r], 3, COLL_F64, COLL_MAX, 2);
    if (status == COLL_OK)
        status = coll_iallreduce(&comm, in[r], out[r], 5, COLL_F64, COLL_SUM, &request);
    if (status == COLL_OK)
        status = coll_wait(&request);
    if (status == COLL_OK)
        status = coll_allgather(&comm, in[r], out[r], 2, COLL_F64);
    statuses[r] = status;
    (void)coll_comm_free(&comm);
    return NULL;
}

/* How often a text occurs in a file. */
static unsigned count(FILE *file, const char *text)
{
    static char all[1 << 20];
    unsigned n = 0;
    rewind(file);
    all[fread(all, 1, sizeof all - 1, file)] = '\0';
    for (const char *at = all; (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

static void written(const coll_real_run *run, size_t sent)
{
    FILE *trace = tmpfile(), *svg = tmpfile();
    if (!CHECK(trace && svg))
        return;
    coll_real_run_trace(run, trace);
    CHECK_EQ(count(trace, "\"ph\":\"X\""), run->record.spans.n);
    CHECK_EQ(count(trace, "\"ph\":\"s\""), sent);
    CHECK_EQ(count(trace, "\"ph\":\"f\""), sent);
    CHECK_EQ(count(trace, "process_name"), P);
    CHECK_EQ(count(trace, "\"name\":\"reduce\""), P);
    CHECK_EQ(count(trace, "\"name\":\"allreduce\""), 2 * P);
    coll_real_run_svg(run, "six calls", svg);
    CHECK_EQ(count(svg, "</svg>"), 1);
    CHECK_EQ(count(svg, "six calls"), 1);
    CHECK(count(svg, "<rect") > CALLS * P);
    fclose(trace);
    fclose(svg);
}

TEST(calls_and_a_run)
{
    static const coll_collective which[CALLS] = {
        COLL_ALLREDUCE, COLL_BARRIER, COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE, COLL_ALLGATHER};
    pthread_t threads[P];
    coll_real_rank ranks[P];
    coll_real_run run;
    size_t sent = 0, received = 0;
    coll_threads *const world = coll_threads_create(P);
    if (!CHECK(world != NULL))
        return;
    for (uint32_t r = 0; r < P; r++)
        wrap(r, &coll_threads_transport, coll_threads_rank(world, r), EVENTS, nanoseconds,
             NULL);
    for (uint32_t r = 0; r < P; r++)
        if (pthread_create(&threads[r], NULL, work, (void *)(uintptr_t)r) != 0)
            abort();
    for (uint32_t r = 0; r < P; r++) {
        (void)pthread_join(threads[r], NULL);
        CHECK_STATUS(statuses[r], COLL_OK);
    }
    for (uint32_t r = 0; r < P; r++) {
        uint32_t n = 0;
        uint64_t before = 0;
        for (uint32_t i = 0; i < coll_traced_kept(&traced[r]); i++) {
            const coll_traced_event *event = coll_traced_at(&traced[r], i);
            CHECK(event->start >= before && event->end >= event->start);
            before = event->start;
            sent += event->kind == COLL_TRACED_SEND;
            received += event->kind == COLL_TRACED_RECV || event->kind == COLL_TRACED_ACQUIRE;
            if (event->kind != COLL_TRACED_CALL) {
                CHECK_STATUS((coll_status)event->status, COLL_OK);
                continue;
            }
            if (CHECK(n < CALLS))
                CHECK_EQ(event->which, which[n]);
            CHECK_EQ(event->status, n == 4 ? COLL_STARTED : COLL_OK);
            CHECK_EQ(event->tag % COLL_CLAIM_TAGS, n);
            n++;
        }
        CHECK_EQ(n, CALLS);
        CHECK_EQ(traced[r].flying, 0);
        ranks[r] = coll_real_rank_of(&traced[r]);
    }
    CHECK(sent > 0);
    CHECK_EQ(sent, received);
    CHECK_STATUS(coll_real_run_make(&run, ranks, P, 1000), COLL_OK);
    CHECK_EQ(run.record.flights.n, sent);
    for (size_t i = 0; i < run.record.flights.n; i++) {
        const coll_sim_flight *flight = coll_sim_flight_at(&run.record, i);
        CHECK(flight->end != COLL_NEVER && flight->end >= flight->start);
        CHECK(flight->from != flight->to);
    }
    for (size_t i = 0; i < run.record.spans.n; i++) { /* a nonblocking call, by its messages */
        const coll_sim_span *span = coll_sim_span_at(&run.record, i);
        if (span->what == COLL_SEEN_BEGIN)
            CHECK(span->end > span->start);
        CHECK(span->end <= run.finish[span->rank] && run.finish[span->rank] <= run.end);
    }
    written(&run, sent);
    coll_real_run_free(&run);
    coll_threads_destroy(world);
}

/* ---- runs by hand ------------------------------------------------------------------------ */

static coll_traced_event made(coll_traced_kind kind, uint32_t peer, uint64_t start,
                              uint64_t end, coll_status status)
{
    coll_traced_event event;
    memset(&event, 0, sizeof event);
    event.kind = (uint16_t)kind;
    event.which = (uint16_t)COLL_BCAST;
    event.peer = peer;
    event.start = start;
    event.end = end;
    event.status = status;
    event.bytes = start;
    return event;
}

static bool flies(const coll_real_run *run, size_t i, coll_time start, coll_time end)
{
    const coll_sim_flight *flight = coll_sim_flight_at(&run->record, i);
    const bool starts = CHECK_EQ(flight->start, start);
    return CHECK_EQ(flight->end, end) && starts;
}

TEST(runs)
{
    /* rank 0: a call, and three messages; the clock of rank 1 is 1000 ahead */
    const coll_traced_event first[] = {made(COLL_TRACED_CALL, COLL_RANK_NONE, 10, 40, COLL_OK),
                                       made(COLL_TRACED_SEND, 1, 11, 13, COLL_OK),
                                       made(COLL_TRACED_SEND, 1, 12, 14, COLL_OK),
                                       made(COLL_TRACED_SEND, 1, 20, 20, COLL_STARTED)};
    const coll_traced_event second[] = {made(COLL_TRACED_RECV, 0, 1010, 1016, COLL_OK),
                                        made(COLL_TRACED_RECV, 0, 1012, 1018, COLL_OK),
                                        made(COLL_TRACED_RECV, 0, 1017, 1017, COLL_STARTED)};
    coll_real_rank ranks[2] = {{first, 4, 0, 4, false, 0}, {second, 3, 0, 3, false, 1000}};
    coll_real_run run;
    CHECK_STATUS(coll_real_run_make(&run, ranks, 2, 1000), COLL_OK);
    CHECK_EQ(run.end, 30000);
    CHECK_EQ(run.record.spans.n, 7);
    CHECK_EQ(run.lanes[COLL_SEEN_SEND], 2);
    CHECK_EQ(run.lanes[COLL_SEEN_RECEIVE], 2);
    CHECK_EQ(run.record.flights.n, 3);
    CHECK(flies(&run, 0, 1000, 5999));
    CHECK(flies(&run, 1, 2000, 7999));
    CHECK(flies(&run, 2, 10000, COLL_NEVER)); /* is still awaited */
    CHECK_EQ(coll_sim_span_at(&run.record, 6)->end, 30000);
    coll_real_run_free(&run);

    /* rank 0 has its latest events alone: the last send is that of the last receive */
    ranks[0].events = &first[2];
    ranks[0].n = ranks[0].room = 1;
    ranks[0].dropped = true;
    ranks[1].n = 2;
    CHECK_STATUS(coll_real_run_make(&run, ranks, 2, 1000), COLL_OK);
    CHECK_EQ(run.record.flights.n, 1);
    CHECK(flies(&run, 0, 2000, 7999));
    coll_real_run_free(&run);

    /* … and so has rank 1 */
    ranks[0].events = first;
    ranks[0].n = 3;
    ranks[0].room = 4;
    ranks[0].dropped = false;
    ranks[1].first = 1;
    ranks[1].n = 1;
    ranks[1].dropped = true;
    CHECK_STATUS(coll_real_run_make(&run, ranks, 2, 1000), COLL_OK);
    CHECK_EQ(run.record.flights.n, 2);
    CHECK(flies(&run, 0, 1000, COLL_NEVER));
    CHECK(flies(&run, 1, 2000, 7999));
    coll_real_run_free(&run);

    CHECK_STATUS(coll_real_run_make(&run, ranks, 1, 1000), COLL_ERR_RANK);
    coll_real_run_free(&run);
    CHECK_STATUS(coll_real_run_make(&run, ranks, 0, 1000), COLL_OK); /* nobody */
    CHECK_EQ(run.end, 0);
    coll_real_run_free(&run);
}

int main(void)
{
    RUN_ALONE(contract_of_loopback);
    RUN_ALONE(contract_of_threads);
    RUN_ALONE(refusals);
    RUN_ALONE(operations);
    RUN(calls_and_a_run);
    RUN_ALONE(runs);
    return check_done();
}
