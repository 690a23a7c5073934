/* tests/support/replay.h — a schedule as a plan of one rank, to be proven, drawn, compared: on the others
 * there is nothing to do
 */
#ifndef COLL_TESTS_REPLAY_H
#define COLL_TESTS_REPLAY_H

#include "coll/executor/schedule.h"

static inline const coll_schedule *replay_of(const coll_plan *plan)
{
    return (const coll_schedule *)plan->inner;
}

/* As many actions a step as fit. */
static inline size_t replay_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_schedule *of = replay_of(plan);
    return rank == of->rank ? (of->n + COLL_STEP_MAX - 1) / COLL_STEP_MAX : 0;
}

static inline unsigned replay_step(const coll_plan *plan, uint32_t rank, size_t s,
                                   coll_action *out)
{
    const coll_schedule *of = replay_of(plan);
    unsigned n = 0;
    (void)rank;
    for (size_t i = s * COLL_STEP_MAX; n < COLL_STEP_MAX && i < of->n; i++)
        out[n++] = of->actions[i];
    return n;
}

static inline size_t replay_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == replay_of(plan)->rank ? replay_of(plan)->scratch : 0;
}

static inline size_t replay_shared(const coll_plan *plan)
{
    return replay_of(plan)->shared;
}

static const coll_algorithm replay_algorithm = {"replay",
                                                "a schedule that was written out",
                                                COLL_BIT(COLL_COLLECTIVES) - 1,
                                                0, /* traits: those of the plan */
                                                1,
                                                1,
                                                COLL_NO_PARAMS,
                                                replay_steps,
                                                replay_step,
                                                replay_scratch,
                                                NULL,
                                                replay_shared,
                                                NULL};

/* A plan that does on the schedule's rank what `plan`, of which it was written, does there. */
static inline coll_plan replay_plan(const coll_plan *plan, const coll_schedule *schedule)
{
    coll_plan replay = *plan;
    replay.algorithm = &replay_algorithm;
    replay.window = (uint16_t)schedule->window;
    replay.sends = (uint16_t)schedule->sends;
    replay.inner = schedule;
    return replay;
}

#endif /* COLL_TESTS_REPLAY_H */
