/* Schedules: counting, writing out, sends first. */
#include <string.h>

#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/executor/schedule.h"
#include "coll/lab/verify.h"
#include "support/rig.h"
#include "support/replay.h"
#include "support/same_actions.h"

/* ---- all rows of the registry ------------------------------------------------------------ */

/* Counts and writes out the rig's plans, and runs what was written. */
static void write_out(rig *it, const char *what, void *arg)
{
    coll_schedule *schedules = malloc(it->p * sizeof *schedules);
    coll_action **actions = calloc(it->p, sizeof *actions);
    size_t sent = 0, received = 0, bytes_sent = 0, bytes_received = 0;
    const size_t more = it->p - (size_t)2; /* receivers of a multicast beyond one; wraps */
    (void)what;
    (void)arg;
    memset(schedules, 0xFF, it->p * sizeof *schedules);
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        coll_plan again;
        coll_counts counts;
        size_t total = 0;
        CHECK_STATUS(coll_plan_count(&me->plan, r, &counts), COLL_OK);
        for (unsigned kind = 0; kind < COLL_KINDS; kind++)
            total += counts.actions[kind];
        CHECK_EQ(total, counts.total);
        sent += counts.messages_sent + counts.actions[COLL_DO_MULTICAST] * more;
        received += counts.messages_received;
        bytes_sent += counts.bytes_sent +
                      counts.elements[COLL_DO_MULTICAST] * more * me->plan.problem.elem_bytes;
        bytes_received += counts.bytes_received;
        actions[r] = calloc(total + 1, sizeof **actions);
        if (total > 0)
            CHECK_STATUS(
                coll_schedule_write(&schedules[r], &me->plan, r, actions[r], total - 1),
                COLL_ERR_MEMORY);
        CHECK_STATUS(coll_schedule_write(&schedules[r], &me->plan, r, actions[r], total),
                     COLL_OK);
        CHECK_EQ(schedules[r].n, total);
        CHECK_EQ(schedules[r].scratch, coll_plan_scratch(&me->plan, r));
        CHECK_EQ(schedules[r].shared, coll_plan_shared(&me->plan));
        CHECK_EQ(schedules[r].rank, r);
        CHECK_EQ(schedules[r].window, me->plan.window);
        CHECK_EQ(schedules[r].sends, me->plan.sends);
        again = replay_plan(&me->plan, &schedules[r]);
        CHECK(same_actions(&again, &me->plan, r));
        me->run.schedule = &schedules[r];
    }
    if (!(it->ranks[0].plan.traits & COLL_NEEDS_MULTICAST)) { /* sent once, received by all */
        CHECK_EQ(sent, received);
        CHECK_EQ(bytes_sent, bytes_received);
    }
    rig_fill(it);
    CHECK_STATUS(rig_loopback(it, &coll_loopback_transport, 16, 1), COLL_OK);
    CHECK(rig_right(it));
    for (uint32_t r = 0; r < it->p; r++) {
        it->ranks[r].run.schedule = NULL;
        free(actions[r]);
    }
    free(actions);
    free(schedules);
}

TEST(schedules_do_the_same)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 7; p++)
            for (size_t count = 0; count <= 9; count += 3)
                CHECK(rig_each(coll_registry[i], p, count, write_out, NULL));
}

/* ---- sends first ------------------------------------------------------------------------- */

static size_t passed; /* schedules whose sends passed something */

static const coll_plan *plan_at(void *arg, uint32_t rank)
{
    return (const coll_plan *)arg + rank;
}

/* The plans of the ranks are replays; those in `ranks` (a bit each) have their sends first. */
static void prove_with(rig *it, const char *what, coll_verifier *verifier, uint32_t ranks)
{
    coll_schedule *schedules = calloc(it->p, sizeof *schedules);
    coll_action **actions = calloc(it->p, sizeof *actions);
    coll_plan *plans = calloc(it->p, sizeof *plans);
    coll_verify_options options = {0};
    coll_report report;
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_plan *plan = &it->ranks[r].plan;
        coll_counts counts;
        CHECK_STATUS(coll_plan_count(plan, r, &counts), COLL_OK);
        actions[r] = calloc(counts.total + 1, sizeof **actions);
        CHECK_STATUS(coll_schedule_write(&schedules[r], plan, r, actions[r], counts.total),
                     COLL_OK);
        if (ranks >> r & 1)
            coll_schedule_sends_first(&schedules[r], actions[r]);
        plans[r] = replay_plan(plan, &schedules[r]);
        plans[0].window = plans[r].window > plans[0].window ? plans[r].window : plans[0].window;
        plans[0].sends = plans[r].sends > plans[0].sends ? plans[r].sends : plans[0].sends;
        passed += !same_actions(&plans[r], plan, r);
    }
    options.plan_of = plan_at;
    options.arg = plans;
    options.verifier = verifier;
    coll_verifier_forget(verifier);
    if (!CHECK(coll_verify(NULL, &options, &report) == COLL_PROVEN))
        printf("    %s %s p=%u count=%zu first=%x: %s\n", what,
               it->ranks[0].plan.algorithm->name, it->p, it->problem.count, ranks,
               report.sentence);
    for (uint32_t r = 0; r < it->p; r++)
        free(actions[r]);
    free(actions);
    free(schedules);
    free(plans);
}

/* What it makes of the ranks' programs is proven like the plan itself; a rank whose program is too
 * long to be written out may do as the plan says. */
static void prove_first(rig *it, const char *what, void *arg)
{
    prove_with(it, what, (coll_verifier *)arg, UINT32_MAX);
    prove_with(it, what, (coll_verifier *)arg, 0x55555555);
}

TEST(schedules_with_sends_first_are_proven)
{
    coll_verifier verifier;
    coll_verifier_init(&verifier);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 7; p++)
            for (size_t count = 1; count <= 8; count += 7)
                CHECK(rig_each(coll_registry[i], p, count, prove_first, &verifier));
    coll_verifier_release(&verifier);
    CHECK(passed > 100);
}

/* Moves the sends of a schedule of actions that letters stand for, and writes the letters in their new
 * order. s, u: sends of OUT[0], IN[0] to rank 1; t, v: of OUT[1], IN[1] to rank 2; b: of IN[1] to all; r, q: receives of OUT[0], OUT[1]; m: sum in OUT[1] of
 * what is staged in OUT[0]; c: a copy to OUT[0]; f: a sum by the network; n, w: tokens. */
static const char *sends_first(const char *letters)
{
    static const char all_letters[] = "stuvbcrqmfnw";
    static char result[16];
    const coll_network_group all = {0, 2};
    coll_schedule schedule = {NULL, 0, 0, 0, 0, 3, 1};
    coll_action actions[8];
    size_t n = 0, sends = 1;
    for (; letters[n]; n++) {
        const coll_ref zero = COLL_AT(COLL_OUT, 0), one = COLL_AT(COLL_OUT, 1);
        coll_action *a = &actions[n];
        switch (letters[n]) {
        case 's':
        case 't':
            coll_act_send(a, letters[n] == 's' ? 1 : 2, letters[n] == 's' ? zero : one, 1);
            break;
        case 'u':
            coll_act_send(a, 1, COLL_AT(COLL_IN, 0), 1);
            break;
        case 'v':
            coll_act_send(a, 2, COLL_AT(COLL_IN, 1), 1);
            break;
        case 'b':
            coll_act_multicast(a, COLL_AT(COLL_IN, 1), 1);
            break;
        case 'c':
            coll_act_copy(a, zero, COLL_AT(COLL_IN, 0), 1);
            break;
        case 'm':
            coll_act_recv_reduce(a, 1, one, one, zero, 1);
            break;
        case 'f':
            coll_act_network_reduce(a, all, zero, zero, 1);
            break;
        case 'n':
            coll_act_notify(a, 1, COLL_AT(COLL_IN, 0), 8);
            break;
        case 'w':
            coll_act_await(a, 1, zero, 8);
            break;
        default:
            coll_act_recv(a, 1, letters[n] == 'q' ? one : zero, 1);
        }
        sends += strchr("stuvbnf", letters[n]) != NULL;
        a->stride = (size_t)(strchr(all_letters, letters[n]) - all_letters);
    }
    schedule.actions = actions;
    schedule.n = n;
    coll_schedule_sends_first(&schedule, actions);
    CHECK_EQ(schedule.window, 3 + n);
    CHECK_EQ(schedule.sends, sends);
    for (size_t i = 0; i < n; i++)
        result[i] = all_letters[actions[i].stride];
    result[n] = 0;
    return result;
}

TEST(sends_that_pass)
{
    static const char *const cases[][2] = {
        {"", ""},         {"ur", "ur"},
        {"ru", "ur"},     {"rutq", "utrq"},
        {"rusq", "ursq"}, /* what is sent has to be received first, … */
        {"ms", "ms"},     /* … staged, … */
        {"mt", "mt"},     /* … combined, … */
        {"cs", "cs"},     /* … or copied */
        {"cu", "uc"},     {"curq", "ucrq"},
        {"rfq", "rfq"},   {"rfqu", "rfuq"}, /* a sum by the network is not passed */
        {"srqt", "srqt"}, {"wn", "nw"},     /* tokens likewise */
        {"urqv", "uvrq"}, {"rsqv", "rsvq"},
        {"rb", "br"},     {"urur", "urur"},
        {"rsqu", "rsqu"}, {"urqb", "urqb"}, /* behind another one to the same peer */
        {"brqu", "brqu"}, {"mu", "um"},
        {"mv", "vm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = sends_first(cases[i][0]);
        if (!CHECK(strcmp(got, cases[i][1]) == 0))
            printf("    %s: %s, not %s\n", cases[i][0], got, cases[i][1]);
    }
}

/* ---- counting ---------------------------------------------------------------------------- */

TEST(tallies)
{
    coll_problem problem;
    coll_plan plan;
    coll_counts counts;
    coll_action reduce;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 8, 4);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    memset(&counts, 0xFF, sizeof counts);
    CHECK_STATUS(coll_plan_count(&plan, 2, &counts), COLL_OK);
    CHECK_EQ(counts.steps, coll_plan_steps(&plan, 2));
    CHECK_EQ(counts.total, 12);
    CHECK_EQ(counts.elements[COLL_DO_RECV], 6);
    CHECK_EQ(counts.elements[COLL_DO_RECV_REDUCE], 6);
    for (unsigned kind = COLL_DO_RECV_REDUCE + 1; kind < COLL_KINDS; kind++)
        CHECK(counts.actions[kind] == 0 && counts.elements[kind] == 0);
    CHECK_EQ(counts.messages_received, 6);
    CHECK_EQ(counts.actions[COLL_DO_SEND], 6);
    CHECK_EQ(counts.elements[COLL_DO_SEND], 12);
    CHECK_EQ(counts.actions[COLL_DO_RECV], 3);
    CHECK_EQ(counts.actions[COLL_DO_RECV_REDUCE], 3);
    CHECK_EQ(counts.messages_sent, 6);
    CHECK_EQ(counts.bytes_sent, 48);
    CHECK_EQ(counts.bytes_received, 48);

    coll_problem_init(&problem, COLL_BARRIER, 4, 0, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_dissemination_barrier, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_count(&plan, 0, &counts), COLL_OK);
    CHECK_EQ(counts.messages_sent, 2);
    CHECK_EQ(counts.bytes_sent, 0);

    memset(&counts, 0, sizeof counts);
    coll_act_reduce(&reduce, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_OUT, 0),
                    COLL_AT(COLL_SCRATCH, 0), 5);
    reduce.inputs = 3;
    reduce.stride = 6;
    coll_i_schedule_count(&counts, &reduce, 8);
    CHECK_EQ(counts.elements[COLL_DO_REDUCE], 15);
    CHECK(counts.bytes_sent == 0 && counts.bytes_received == 0);

    CHECK_STATUS(coll_plan_count(&plan, 4, &counts), COLL_ERR_RANK);
    CHECK_STATUS(coll_plan_count(NULL, 0, &counts), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_count(&plan, 0, NULL), COLL_ERR_NULL);
    CHECK(coll_i_schedule_saturate(1, SIZE_MAX, 2) == SIZE_MAX);
    CHECK(coll_i_schedule_saturate(2, SIZE_MAX, 1) == SIZE_MAX);
    CHECK(coll_i_schedule_saturate(1, 2, 3) == 7);
    CHECK(coll_i_schedule_saturate(SIZE_MAX - 5, 2, 3) == SIZE_MAX);
    CHECK(coll_i_schedule_saturate(SIZE_MAX - 7, 2, 3) == SIZE_MAX - 1);
}

TEST(writing_errors)
{
    coll_problem problem;
    coll_plan plan, again;
    coll_schedule schedule;
    coll_action actions[4];
    coll_problem_init(&problem, COLL_BCAST, 3, 8, 4);
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_bcast, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_schedule_write(NULL, &plan, 0, actions, 4), COLL_ERR_NULL);
    CHECK_STATUS(coll_schedule_write(&schedule, NULL, 0, actions, 4), COLL_ERR_NULL);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, NULL, 4), COLL_ERR_NULL);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 3, actions, 4), COLL_ERR_RANK);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, actions, 2), COLL_ERR_MEMORY);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, actions, 3), COLL_OK);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 1, actions, 1), COLL_OK);
    problem.count = 0; /* nothing to write out, and nowhere */
    CHECK_STATUS(coll_plan_init(&again, &coll_linear_bcast, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_schedule_write(&schedule, &again, 0, NULL, 0), COLL_OK);
    CHECK_EQ(schedule.n, 0);
}

int main(void)
{
    RUN(schedules_do_the_same);
    RUN(schedules_with_sends_first_are_proven);
    RUN(sends_that_pass);
    RUN(tallies);
    RUN(writing_errors);
    return check_done();
}
