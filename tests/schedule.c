/* Schedules: counting, writing out, replaying. */
#include "check.h"
#include "coll/registry.h"
#include "coll/schedule.h"
#include "coll/verify.h"
#include "rig.h"
#include "same_actions.h"

/* ---- all rows of the registry ------------------------------------------------------------ */

/* Counts, writes out and replays the rig's plans, and runs the replays. */
static void replay(rig *it, const char *what, void *arg)
{
    coll_schedule *schedules = calloc(it->p, sizeof *schedules);
    coll_action **actions = calloc(it->p, sizeof *actions);
    size_t sent = 0, received = 0, bytes_sent = 0, bytes_received = 0;
    const size_t more = it->p - (size_t)2; /* receivers of a multicast beyond one; wraps */
    (void)what;
    (void)arg;
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        coll_plan again;
        coll_tally tally;
        size_t total = 0;
        CHECK_STATUS(coll_plan_tally(&me->plan, r, &tally), COLL_OK);
        for (unsigned kind = 0; kind < COLL_KINDS; kind++)
            total += tally.actions[kind];
        CHECK_EQ(total, tally.total);
        sent += tally.messages_sent + tally.actions[COLL_DO_MULTICAST] * more;
        received += tally.messages_received;
        bytes_sent += tally.bytes_sent +
                      tally.elements[COLL_DO_MULTICAST] * more * me->plan.problem.elem_bytes;
        bytes_received += tally.bytes_received;
        actions[r] = calloc(total + 1, sizeof **actions);
        if (total > 0)
            CHECK_STATUS(
                coll_schedule_write(&schedules[r], &me->plan, r, actions[r], total - 1),
                COLL_ERR_MEMORY);
        CHECK_STATUS(coll_schedule_write(&schedules[r], &me->plan, r, actions[r], total),
                     COLL_OK);
        CHECK_EQ(schedules[r].n, total);
        CHECK_STATUS(coll_plan_replay(&again, &me->plan, &schedules[r]), COLL_OK);
        CHECK(same_actions(&again, &me->plan, r));
        CHECK_EQ(coll_plan_steps(&again, (r + 1) % it->p),
                 it->p == 1 ? coll_plan_steps(&again, r) : 0);
        me->plan = again;
    }
    if (!(it->ranks[0].plan.traits & COLL_NEEDS_MULTICAST)) { /* sent once, received by all */
        CHECK_EQ(sent, received);
        CHECK_EQ(bytes_sent, bytes_received);
    }
    rig_fill(it);
    CHECK_STATUS(rig_loopback(it, &coll_loopback_transport, 16, 1), COLL_OK);
    CHECK(rig_right(it));
    for (uint32_t r = 0; r < it->p; r++)
        free(actions[r]);
    free(actions);
    free(schedules);
}

TEST(replays_do_the_same)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 7; p++)
            for (size_t count = 0; count <= 9; count += 3)
                CHECK(rig_each(coll_registry[i], p, count, replay, NULL));
}

/* ---- closed ------------------------------------------------------------------------------ */

static size_t passed; /* schedules whose sends passed something */

static const coll_plan *plan_at(void *arg, uint32_t rank)
{
    return (const coll_plan *)arg + rank;
}

/* The plans of the ranks are replays; those in `ranks` (a bit each) are closed. */
static void prove_with(rig *it, const char *what, coll_verifier *verifier, uint32_t ranks)
{
    coll_schedule *schedules = calloc(it->p, sizeof *schedules);
    coll_action **actions = calloc(it->p, sizeof *actions);
    coll_plan *plans = calloc(it->p, sizeof *plans);
    coll_verify_options options = {0};
    coll_report report;
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_plan *plan = &it->ranks[r].plan;
        coll_tally tally;
        CHECK_STATUS(coll_plan_tally(plan, r, &tally), COLL_OK);
        actions[r] = calloc(tally.total + 1, sizeof **actions);
        CHECK_STATUS(coll_schedule_write(&schedules[r], plan, r, actions[r], tally.total),
                     COLL_OK);
        if (ranks >> r & 1)
            coll_schedule_close(&schedules[r], plan, actions[r], SIZE_MAX,
                                plan->window + (uint32_t)tally.total);
        CHECK_STATUS(coll_plan_replay(&plans[r], plan, &schedules[r]), COLL_OK);
        passed += !same_actions(&plans[r], plan, r);
    }
    options.plan_of = plan_at;
    options.arg = plans;
    options.verifier = verifier;
    coll_verifier_forget(verifier);
    if (!CHECK(coll_verify(NULL, &options, &report) == COLL_PROVEN))
        printf("    %s %s p=%u count=%zu closed=%x: %s\n", what,
               it->ranks[0].plan.algorithm->name, it->p, it->problem.count, ranks,
               report.sentence);
    for (uint32_t r = 0; r < it->p; r++)
        free(actions[r]);
    free(actions);
    free(schedules);
    free(plans);
}

/* What closing makes of the ranks' programs is proven like the plan itself; a rank whose program is
 * too long to be written out may do as the plan says. */
static void prove_closed(rig *it, const char *what, void *arg)
{
    prove_with(it, what, (coll_verifier *)arg, UINT32_MAX);
    prove_with(it, what, (coll_verifier *)arg, 0x55555555);
}

TEST(closed_schedules_are_proven)
{
    coll_verifier verifier;
    coll_verifier_init(&verifier);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 7; p++)
            for (size_t count = 1; count <= 8; count += 7)
                CHECK(rig_each(coll_registry[i], p, count, prove_closed, &verifier));
    coll_verifier_release(&verifier);
    CHECK(passed > 100);
}

/* ---- counting ---------------------------------------------------------------------------- */

TEST(tallies)
{
    coll_problem problem;
    coll_plan plan;
    coll_tally tally;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 8, 4);
    problem.flags = COLL_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_tally(&plan, 2, &tally), COLL_OK);
    CHECK_EQ(tally.total, 12);
    CHECK_EQ(tally.actions[COLL_DO_SEND], 6);
    CHECK_EQ(tally.elements[COLL_DO_SEND], 12);
    CHECK_EQ(tally.actions[COLL_DO_RECV], 3);
    CHECK_EQ(tally.actions[COLL_DO_RECV_REDUCE], 3);
    CHECK_EQ(tally.messages_sent, 6);
    CHECK_EQ(tally.bytes_sent, 48);
    CHECK_EQ(tally.bytes_received, 48);

    coll_problem_init(&problem, COLL_BARRIER, 4, 0, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_dissemination_barrier, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_tally(&plan, 0, &tally), COLL_OK);
    CHECK_EQ(tally.messages_sent, 2);
    CHECK_EQ(tally.bytes_sent, 0);

    CHECK_STATUS(coll_plan_tally(&plan, 4, &tally), COLL_ERR_RANK);
    CHECK_STATUS(coll_plan_tally(NULL, 0, &tally), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_tally(&plan, 0, NULL), COLL_ERR_NULL);
    CHECK(coll_i_saturate(1, SIZE_MAX, 2) == SIZE_MAX);
    CHECK(coll_i_saturate(2, SIZE_MAX, 1) == SIZE_MAX);
    CHECK(coll_i_saturate(1, 2, 3) == 7);
}

TEST(writing_and_replaying_errors)
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
    CHECK_STATUS(coll_plan_replay(&again, &plan, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_replay(&again, NULL, &schedule), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_replay(NULL, &plan, &schedule), COLL_ERR_NULL);
    schedule.rank = 3;
    CHECK_STATUS(coll_plan_replay(&again, &plan, &schedule), COLL_ERR_RANK);
}

int main(void)
{
    RUN(replays_do_the_same);
    RUN(closed_schedules_are_proven);
    RUN(tallies);
    RUN(writing_and_replaying_errors);
    return check_done();
}
