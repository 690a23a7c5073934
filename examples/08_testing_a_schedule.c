/* examples/08_testing_a_schedule.c — a unit test of a schedule of one's own, without a network
 *
 * relay.h is a broadcast that the author of a runtime wrote. Its laws are checked step by step, its plans
 * are proven, it runs over loopback.h with real data, and a mistake in it is found.
 *
 *   cc -O2 -Iinclude examples/08_testing_a_schedule.c -o 08 -lpthread && ./08
 */
#include <stdio.h>
#include <string.h>

#include "coll/executor.h"
#include "coll/lab/verify_grid.h"
#include "coll/transports/loopback.h"
#include "relay.h"

enum { MOST = 64, P = 7, COUNT = 5, WINDOW = 4 };

static coll_status make_plan(coll_plan *plan, const coll_algorithm *algorithm, uint32_t p,
                             uint32_t root)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_BCAST, p, COUNT, sizeof(int));
    problem.root = root;
    return coll_plan_init(plan, algorithm, &problem, NULL);
}

/* The laws of relay.h: a step function is called like any other function. */
static bool laws_hold(uint32_t p, uint32_t root)
{
    uint32_t from[MOST], to[MOST], received = 0;
    coll_action act[COLL_STEP_MAX];
    coll_plan plan;
    if (make_plan(&plan, &relay_bcast, p, root) != COLL_OK)
        return false;
    for (uint32_t r = 0; r < p; r++)
        from[r] = to[r] = COLL_RANK_NONE;
    for (uint32_t r = 0; r < p; r++) {
        uint32_t sent = 0;
        for (size_t s = 0; s < relay_steps(&plan, r); s++) {
            (void)relay_step(&plan, r, s, act);
            if (act->kind == COLL_DO_SEND) {
                if (to[act->peer] != COLL_RANK_NONE)
                    return false; /* (1) */
                to[act->peer] = r;
                sent++;
            } else if (act->kind == COLL_DO_RECV) {
                from[r] = act->peer;
                received++;
            }
        }
        if (sent > (p + 1) / 2)
            return false; /* (2) */
    }
    return received == p - 1 && memcmp(from, to, p * sizeof *from) == 0; /* (1) */
}

/* All p ≤ 64, roots, counts, in place and not, for all interleavings; and some larger p. */
static bool is_proven(void)
{
    static const coll_algorithm *const algorithms[] = {&relay_bcast};
    coll_grid_options options;
    coll_grid_result result;
    coll_grid_options_init(&options, algorithms, 1);
    if (!coll_verify_grid(&options, &result)) {
        printf("%s\n%s\n", result.failure.report.sentence, result.failure.reproduction);
        return false;
    }
    printf("proven for %llu plans\n", (unsigned long long)result.plans);
    return true;
}

/* Real messages and data, all ranks in this thread, which move on in the order that the seed gives. */
static bool runs(uint32_t root, uint32_t seed)
{
    static unsigned char memory[COLL_LOOPBACK_BYTES(P * WINDOW)];
    static coll_slot slots[P][WINDOW];
    static coll_engine engine[P];
    static const int in[COUNT] = {3, 1, 4, 1, 5};
    int out[P][COUNT] = {{0}};
    coll_loopback world;
    coll_loopback_rank end[P];
    coll_engine *engines[P];
    coll_plan plan;
    coll_status status = make_plan(&plan, &relay_bcast, P, root);
    if (status == COLL_OK)
        status = coll_loopback_init(&world, P, P * WINDOW, memory, sizeof memory);
    world.seed = seed;
    for (uint32_t r = 0; r < P && status == COLL_OK; r++) {
        const coll_task task = {.plan = &plan,
                                .transport = &coll_loopback_transport,
                                .ctx = &end[r],
                                .in = r == root ? in : NULL,
                                .out = out[r],
                                .rank = r};
        (void)coll_loopback_attach(&world, r, &end[r]);
        (void)coll_engine_init(&engine[r], slots[r], WINDOW);
        status = coll_engine_start(&engine[r], &task);
        engines[r] = &engine[r];
    }
    if (status == COLL_OK)
        status = coll_loopback_run(&world, engines, P);
    for (uint32_t r = 0; r < P && status == COLL_OK; r++)
        if (memcmp(out[r], in, sizeof in) != 0)
            return false;
    return status == COLL_OK;
}

/* A mistake: the relay is left out where the root comes to it. */
static unsigned mistaken_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const unsigned n = relay_step(plan, rank, s, out);
    if (rank == plan->problem.root && s == 1)
        out->peer = relay_rank(plan, 2);
    return n;
}

static bool finds_mistakes(void)
{
    coll_algorithm mistaken = relay_bcast;
    coll_report report;
    coll_plan plan;
    mistaken.step = mistaken_step;
    if (make_plan(&plan, &mistaken, P, 0) != COLL_OK)
        return false;
    const coll_finding finding = coll_verify(&plan, NULL, &report);
    printf("a mistake: %s\n", report.sentence);
    return finding == COLL_FOUND_UNSENT;
}

int main(void)
{
    bool well = true;
    for (uint32_t p = 1; p <= MOST; p++)
        for (uint32_t root = 0; root < p; root++)
            well = laws_hold(p, root) && well;
    printf("laws: %s\n", well ? "they hold" : "BROKEN");
    well = is_proven() && well;
    for (uint32_t root = 0; root < P; root++)
        for (uint32_t seed = 0; seed < 20; seed++)
            well = runs(root, seed) && well;
    printf("over loopback: %s\n", well ? "the root's elements everywhere" : "WRONG");
    well = finds_mistakes() && well;
    return well ? 0 : 1;
}
