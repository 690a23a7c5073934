/* tests/lab/crash.c — ranks that stop: what is counted by hand, worse engines and transports, real data */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"
#include "support/records.h"
#include "support/rig.h"

/* ---- what the verifier counts ------------------------------------------------------------ */

/* A broadcast in a line: 0 → 1 → … → p − 1. */
static size_t line_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 || rank == plan->problem.p - 1 ? 1 : 2;
}

static unsigned line_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    if (rank > 0 && s == 0)
        coll_act_recv(out, rank - 1, COLL_AT(COLL_OUT, 0), plan->problem.count);
    else
        coll_act_send(out, rank + 1, COLL_AT(COLL_OUT, 0), plan->problem.count);
    return 1;
}

COLL_STATIC_ALGORITHM(line, "line", "", COLL_BIT(COLL_BCAST), 0,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, line_steps, line_step);

/* All ranks tell the last one, which combines what they have, and nobody hears of it. */
static size_t funnel_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? plan->problem.p - 1 : 1;
}

static unsigned funnel_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const coll_ref to = COLL_AT(COLL_OUT, 0), from = COLL_AT(COLL_OUT, 0);
    if (rank == 0)
        coll_act_recv_reduce(out, (uint32_t)s + 1, to, from, COLL_AT(COLL_SCRATCH, 0),
                             plan->problem.count);
    else
        coll_act_send(out, 0, COLL_AT(COLL_IN, 0), plan->problem.count);
    return 1;
}

static size_t funnel_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? plan->problem.count : 0;
}

COLL_STATIC_ALGORITHM(funnel, "funnel", "", COLL_BIT(COLL_REDUCE), 0,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, funnel_steps, funnel_step,
                      funnel_scratch);

/* Looks at all points of a plan of root 0, over this transport (NULL: the one that is right). */
static void look(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                 uint32_t flags, const coll_transport *transport, coll_report *report)
{
    coll_grid_worker worker;
    coll_grid_case of;
    coll_grid_worker_init(&worker);
    coll_grid_case_init(&of, algorithm, collective, p);
    of.count = collective == COLL_BARRIER ? 0 : 2 * p;
    of.flags = flags;
    for (uint32_t k = 0; k < algorithm->n_params; k++)
        of.param[k] = algorithm->params[k].default_value;
    worker.crashes = 2;
    worker.crash_work = UINT64_MAX;
    worker.verifier.crash.transport = transport;
    CHECK_STATUS(coll_grid_prove(&worker, &of, report), COLL_OK);
    coll_grid_worker_release(&worker);
}

static void check_points(const coll_report *report, uint64_t all, uint64_t some, uint64_t none,
                         bool uniform)
{
    const coll_crash_count *count = &report->crash;
    if (!CHECK(report->ok))
        printf("    %s\n", report->sentence);
    CHECK_EQ(count->plans, 1);
    CHECK_EQ(count->points, all + some + none);
    CHECK_EQ(count->all, all);
    CHECK_EQ(count->some, some);
    CHECK_EQ(count->none, none);
    CHECK_EQ(count->uniform, uniform);
    CHECK(count->runs >= count->points - all);
}

TEST(points_by_hand)
{
    coll_report report;
    /* Rank 0 before its send: nobody; after it: all. Rank 1 before its receive, and between this and its
     * send: rank 0; then all. Rank 2, whom nobody needs, twice all. */
    look(&line, COLL_BCAST, 3, COLL_FLAG_IN_PLACE, NULL, &report);
    check_points(&report, 4, 2, 1, false);
    CHECK_EQ(report.crash.several, 1);
    /* Two ranks: there is one survivor. */
    look(&line, COLL_BCAST, 2, COLL_FLAG_IN_PLACE, NULL, &report);
    check_points(&report, 3, 0, 1, false);
    CHECK_EQ(report.crash.several, 0);
    /* Ranks 1 and 2 are needed by rank 0 alone, which nobody needs: it has five points, as what it
     * received is not yet combined. */
    look(&funnel, COLL_REDUCE, 3, COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE, NULL, &report);
    check_points(&report, 7, 2, 0, false);
    /* The network has all or nobody. */
    look(&coll_in_network_barrier, COLL_BARRIER, 4, 0, NULL, &report);
    check_points(&report, 4, 0, 4, true);
}

/* A survivor that waits for the stopped rank may have a message of another one in a channel: the next
 * collective meets it. */
TEST(leftovers_are_met)
{
    coll_report report;
    look(&coll_fnomial_allreduce, COLL_ALLREDUCE, 5, COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE,
         NULL, &report);
    CHECK(report.ok);
    CHECK(report.crash.leftovers > 0);
    CHECK(report.crash.rounds >= 1 && report.crash.rounds <= 2);
    /* Whoever waits in a ring waits for the only one that sends to it. */
    look(&coll_ring_allreduce, COLL_ALLREDUCE, 5, COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE,
         NULL, &report);
    CHECK(report.ok);
    CHECK_EQ(report.crash.leftovers, 0);
}

/* More ranks than there are bits in a word. */
TEST(too_many_ranks)
{
    coll_report report;
    look(&line, COLL_BCAST, COLL_CRASH_RANKS + 1, COLL_FLAG_IN_PLACE, NULL, &report);
    CHECK_EQ(report.finding, COLL_FOUND_PLAN);
    CHECK(strcmp(report.sentence, "rank 0, at the end: crashes are followed among at most 64 "
                                  "ranks; this plan has 65") == 0);
}

/* ---- worse engines and transports -------------------------------------------------------- */

static void forget_abort(void *ctx, uint32_t first, uint32_t tags)
{
    (void)ctx, (void)first, (void)tags;
}

static void forget_cancel(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
}

/* Nobody notices that a rank stopped. */
static coll_status unnoticing_test(void *ctx, coll_handle *h)
{
    const coll_status status = coll_i_stops_test(ctx, h);
    return status == COLL_ERR_IO ? COLL_AGAIN : status;
}

/* What waits for a rank that stopped is taken for done. */
static coll_status hopeful_test(void *ctx, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_test(ctx, h);
    me->flying -= status == COLL_ERR_IO ? 1 : 0;
    return status == COLL_ERR_IO ? COLL_OK : status;
}

/* It does not look at the use of a tag. */
static coll_status useless_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    return coll_i_stops_recv(ctx, peer, tag % COLL_I_STOPS_USE, buf, bytes, h);
}

/* Messages that have come are not handed out any more, once a rank stopped. */
static coll_status timid_test(void *ctx, coll_handle *h)
{
    const coll_i_stops *s = ((const coll_i_stops_rank *)ctx)->of;
    return s->stopped != 0 && !s->noticed ? COLL_AGAIN : coll_i_stops_test(ctx, h);
}

static coll_status timid_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                              coll_handle *h)
{
    const coll_i_stops *s = ((const coll_i_stops_rank *)ctx)->of;
    return s->stopped != 0 && !s->noticed ? COLL_AGAIN
                                          : coll_i_stops_recv(ctx, peer, tag, buf, bytes, h);
}

/* What is wrong, and what the verifier finds. */
static const struct {
    const char *name;
    coll_finding finding;
    const char *sentence;
    coll_status (*recv)(void *, uint32_t, uint32_t, void *, size_t, coll_handle *);
    coll_status (*test)(void *, coll_handle *);
    void (*abort)(void *, uint32_t, uint32_t);
    void (*cancel)(void *, coll_handle *);
    bool no_cancel;
} mutants[] = {
    {"forgets an abort", COLL_FOUND_CRASH_HANG,
     "rank 3, at the end: by the in-order engine it never ends: rank 0 stopped after 0 "
     "operations",
     NULL, NULL, forget_abort, NULL, false},
    {"never notices", COLL_FOUND_CRASH_HANG,
     "rank 1, at the end: by the in-order engine it never ends: rank 0 stopped after 0 "
     "operations",
     NULL, unnoticing_test, NULL, NULL, false},
    {"holds back what has come", COLL_FOUND_CRASH_HANG,
     "rank 2, at the end: by the window engine it never ends: rank 0 stopped after 0 "
     "operations",
     timid_recv, timid_test, NULL, NULL, false},
    {"takes a dead rank's message for there", COLL_FOUND_CRASH_OK,
     "rank 1, at the end: by the in-order engine it ended well, and needs what did not happen: "
     "rank 0 stopped after 0 operations",
     NULL, hopeful_test, NULL, NULL, false},
    {"goes on after cancel", COLL_FOUND_CRASH_BUFFER,
     "rank 1, at the end: by the in-order engine it ended with \"the transport failed\" and 1 "
     "of "
     "its operations in flight: rank 0 stopped after 0 operations",
     NULL, NULL, NULL, forget_cancel, false},
    {"is never told to cancel", COLL_FOUND_CRASH_BUFFER,
     "rank 1, at the end: by the in-order engine it ended with \"the transport failed\" and 1 "
     "of "
     "its operations in flight: rank 0 stopped after 0 operations",
     NULL, NULL, NULL, NULL, true},
    {"does not tell calls apart", COLL_FOUND_CRASH_LEFTOVER,
     "rank 0, at the end: in the next collective it took a message of the one before, in which "
     "rank 2 stopped after 1 operation",
     useless_recv, NULL, NULL, NULL, false},
};
enum { MUTANTS = sizeof mutants / sizeof mutants[0] };

/* Among five ranks, of which some wait for others than the one that stopped. */
TEST(mutants_are_rejected)
{
    for (size_t i = 0; i < MUTANTS; i++) {
        coll_transport transport = coll_i_stops_transport;
        coll_report report;
        records own;
        records_of(&own, &transport);
        if (mutants[i].recv)
            transport.recv = mutants[i].recv;
        if (mutants[i].test)
            transport.test = mutants[i].test;
        if (mutants[i].abort)
            own.failure.abort = mutants[i].abort;
        if (mutants[i].cancel || mutants[i].no_cancel)
            own.failure.cancel = mutants[i].cancel;
        records_use(&own, &transport);
        look(&coll_fnomial_allreduce, COLL_ALLREDUCE, 5,
             COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE, &transport, &report);
        CHECK(!report.ok);
        if (!CHECK_EQ(report.finding, mutants[i].finding) ||
            !CHECK(strcmp(report.sentence, mutants[i].sentence) == 0))
            printf("    %s: %s: %s\n", mutants[i].name, coll_finding_name(report.finding),
                   report.sentence);
        CHECK(strncmp(report.sentence, "rank ", 5) == 0);
        CHECK(strlen(report.sentence) + 1 < sizeof report.sentence);
    }
}

/* ---- all rows ---------------------------------------------------------------------------- */

/* Rows of which all survivors end well, or none, wherever a rank stops. */
static bool is_uniform(const coll_grid_row *row)
{
    return strcmp(row->algorithm->name, "in_network") == 0 ||
           strcmp(row->algorithm->name, "shm_flat") == 0;
}

static void check_row(void *arg, const coll_grid_row *row)
{
    const coll_crash_count *count = &row->crash;
    unsigned *rows = (unsigned *)arg;
    const bool uniform = count->several > 0 && count->uniform == count->several;
    if (!CHECK(row->report.ok))
        printf("    %s %s: %s\n    %s\n", coll_collective_name(row->collective),
               row->algorithm->name, row->report.sentence, row->reproduction);
    CHECK(count->plans > 0 && count->points > 0 && count->runs > 0);
    CHECK_EQ(count->points, count->all + count->some + count->none);
    if (!CHECK_EQ(uniform, is_uniform(row)))
        printf("    %s %s\n", coll_collective_name(row->collective), row->algorithm->name);
    (*rows)++;
}

TEST(all_rows)
{
    coll_grid_options options;
    coll_grid_result result;
    unsigned rows = 0;
    coll_grid_options_init(&options, coll_registry, COLL_REGISTRY_COUNT);
    options.inside.algorithms = coll_registry;
    options.inside.n = COLL_REGISTRY_COUNT;
    options.p_most = CHECK_SHARE > 1 ? 4 : 5;
    options.random = 0;
    options.work = 3000;
    options.crashes = 2;
    options.crash_work = 20000;
    options.row = check_row;
    options.arg = &rows;
    CHECK(coll_verify_grid(&options, &result));
    CHECK_EQ(rows, result.rows);
}

/* ---- real data --------------------------------------------------------------------------- */

/* Loopback, of which one rank stops after so many operations that began or ended. */
static struct {
    uint32_t rank;
    unsigned long left;
    bool stopped;
} stop;

static bool stops(const void *ctx)
{
    const bool it = ((const coll_loopback_rank *)ctx)->rank == stop.rank;
    stop.stopped = stop.stopped || (it && stop.left == 0);
    return it && stop.left == 0;
}

static coll_status counted(const void *ctx, coll_status status)
{
    stop.left -= ((const coll_loopback_rank *)ctx)->rank == stop.rank &&
                 (status == COLL_OK || status == COLL_STARTED);
    return status;
}

static coll_status stop_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    return stops(ctx)
               ? COLL_AGAIN
               : counted(ctx, coll_loopback_transport.send(ctx, peer, tag, buf, bytes, h));
}

static coll_status stop_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                             coll_handle *h)
{
    return stops(ctx)
               ? COLL_AGAIN
               : counted(ctx, coll_loopback_transport.recv(ctx, peer, tag, buf, bytes, h));
}

static coll_status stop_test(void *ctx, coll_handle *h)
{
    return stops(ctx) ? COLL_AGAIN : counted(ctx, coll_loopback_transport.test(ctx, h));
}

static coll_status stop_acquire(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                const void **message, coll_handle *h)
{
    return stops(ctx) ? COLL_AGAIN
                      : counted(ctx, coll_loopback_transport.zero_copy->acquire(
                                         ctx, peer, tag, bytes, message, h));
}

static coll_status stop_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                  coll_handle *h)
{
    return stops(ctx) ? COLL_AGAIN
                      : counted(ctx, coll_loopback_transport.in_network->multicast(
                                         ctx, tag, buf, bytes, h));
}

static coll_status stop_reduce(void *ctx, const coll_network_call *call, coll_handle *h)
{
    return stops(ctx) ? COLL_AGAIN
                      : counted(ctx, coll_loopback_transport.in_network->reduce(ctx, call, h));
}

/* Does a rank hold its result? */
static bool has_result(const rig_rank *me)
{
    for (size_t k = 0; k < me->out.count; k++)
        if (me->wanted[k] && me->out.raw[RIG_GUARD + k] != me->want[k])
            return false;
    return true;
}

/* Who ended well has its result; all others end once somebody aborts; and what they then have in their
 * buffers stays. */
static bool stopped_well(rig *it, const coll_transport *transport)
{
    const uint32_t n_free = it->world.n_free, other = stop.rank == 0 ? 1 : 0;
    bool well = true;
    rig_fill(it);
    (void)rig_start(it, transport, it->ranks[0].plan.window + 1);
    (void)coll_loopback_run(&it->world, it->requests, it->p);
    for (uint32_t r = 0; r < it->p; r++)
        if (it->ranks[r].engine.status == COLL_OK)
            well = well && has_result(&it->ranks[r]);
    if (stop.stopped) {
        coll_loopback_transport.failure->abort(&it->ranks[other].end, it->ranks[other].run.tag,
                                               1);
        (void)coll_loopback_run(&it->world, it->requests, it->p);
    }
    for (uint32_t r = 0; r < it->p; r++) {
        const rig_rank *me = &it->ranks[r];
        if (r == stop.rank && stop.stopped)
            well = well && me->engine.status == COLL_AGAIN;
        else if (me->engine.status == COLL_OK)
            well = well && has_result(me);
        else
            well = well && me->engine.status == COLL_ERR_PEER && stop.stopped;
        for (size_t k = 0; r != stop.rank && me->engine.status != COLL_OK && k < me->out.count;
             k++)
            me->out.raw[RIG_GUARD + k] = RIG_POISON;
    }
    if (stop.stopped) { /* whatever becomes of its process */
        stop.left = 1000;
        (void)coll_engine_progress(&it->ranks[stop.rank].engine);
        (void)coll_engine_cancel(&it->ranks[stop.rank].engine);
    }
    for (uint32_t r = 0; r < it->p; r++) {
        const rig_rank *me = &it->ranks[r];
        for (size_t k = 0; r != stop.rank && me->engine.status != COLL_OK && k < me->out.count;
             k++)
            well = well && me->out.raw[RIG_GUARD + k] == RIG_POISON;
    }
    coll_loopback_recover(&it->world);
    return well && rig_unharmed(it) && it->world.n_free == n_free;
}

static void visit_stops(rig *it, const char *what, void *arg)
{
    static records own;
    static coll_transport transport;
    unsigned long *runs = (unsigned long *)arg;
    transport = coll_loopback_transport;
    records_of(&own, &transport);
    transport.send = stop_send;
    transport.recv = stop_recv;
    transport.test = stop_test;
    own.zero_copy.acquire = stop_acquire;
    own.in_network.multicast = stop_multicast;
    own.in_network.reduce = stop_reduce;
    records_use(&own, &transport);
    it->world.quiet = COLL_I_WINDOW_PATIENCE + 2;
    for (uint32_t rank = 0; rank < it->p; rank++) {
        unsigned long after = rank % CHECK_SHARE;
        do {
            stop.rank = rank;
            stop.left = after;
            stop.stopped = false;
            if (!CHECK(stopped_well(it, &transport)))
                printf("    %s %s p=%u: rank %u stops after %lu\n", what,
                       it->ranks[0].plan.algorithm->name, it->p, rank, after);
            after += CHECK_SHARE;
            (*runs)++;
        } while (stop.stopped);
    }
}

TEST(survivors_have_their_results)
{
    unsigned long runs = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        CHECK(rig_each(coll_registry[i], 4, 5, visit_stops, &runs));
    CHECK(runs > 1000);
}

int main(void)
{
    RUN(points_by_hand);
    RUN(leftovers_are_met);
    RUN(too_many_ranks);
    RUN(mutants_are_rejected);
    RUN_ALONE(all_rows);
    RUN_ALONE(survivors_have_their_results);
    return check_done();
}
