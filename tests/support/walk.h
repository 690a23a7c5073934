/* tests/support/walk.h — plans by one call, and the actions of a rank as one list
 *
 *   const coll_plan plan = plan_of(&coll_ring_allreduce, COLL_ALLREDUCE, p, count, COLL_FLAG_COMMUTATIVE);
 *   const walk *w = walk_of(&plan, rank);
 *   for (size_t i = 0; i < w->n; i++)
 *       … w->act[i], w->step[i] …
 *
 * Laws are checked on these lists; what an algorithm costs is counted by the verifier: cost_of.
 */
#ifndef COLL_TESTS_ALGOS_WALK_H
#define COLL_TESTS_ALGOS_WALK_H

#include "check.h"
#include "prove.h"

enum { WALK_MAX = 8192, WALK_RANKS = 64 };

typedef struct walk {
    size_t n;
    coll_action act[WALK_MAX];
    size_t step[WALK_MAX];
} walk;

/* A plan with chosen root and parameters; all of it must be legal. */
static inline coll_plan plan_with(const coll_algorithm *algorithm, coll_collective collective,
                                  uint32_t p, size_t count, uint32_t flags, uint32_t root,
                                  const uint32_t *params)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, collective, p, count, 8);
    problem.flags = flags;
    problem.root = root;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, params), COLL_OK);
    return plan;
}

static inline coll_plan plan_of(const coll_algorithm *algorithm, coll_collective collective,
                                uint32_t p, size_t count, uint32_t flags)
{
    return plan_with(algorithm, collective, p, count, flags, 0, NULL);
}

/* The actions of a rank in order; the list is overwritten by the next call for the same rank
 * modulo WALK_RANKS. */
static inline const walk *walk_of(const coll_plan *plan, uint32_t rank)
{
    static walk lists[WALK_RANKS];
    walk *w = &lists[rank % WALK_RANKS];
    const size_t steps = coll_plan_steps(plan, rank);
    w->n = 0;
    for (size_t s = 0; s < steps && w->n + COLL_STEP_MAX <= WALK_MAX; s++) {
        const unsigned n = coll_plan_step(plan, rank, s, &w->act[w->n]);
        CHECK(n <= COLL_STEP_MAX);
        for (unsigned i = 0; i < n; i++)
            w->step[w->n++] = s;
    }
    CHECK(w->n + COLL_STEP_MAX <= WALK_MAX);
    return w;
}

static inline bool is_send(const coll_action *a)
{
    return coll_i_has(COLL_I_SENDS, a);
}

static inline bool is_receive(const coll_action *a)
{
    return coll_i_has(COLL_I_RECEIVES, a);
}

/* The height of an f-nomial tree: the most digits other than 0 of a number below p. */
static inline uint32_t fnomial_height(uint32_t p, uint32_t f)
{
    uint32_t most = 0;
    for (uint32_t v = 1; v < p; v++) {
        uint32_t depth = 0;
        for (uint32_t digits = v; digits > 0; digits /= f)
            depth += digits % f != 0;
        most = depth > most ? depth : most;
    }
    return most;
}

/* Every message that a rank sends at step s is what its peer receives from it at step s, and
 * the other way round. */
static inline void check_step_by_step(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    for (uint32_t rank = 0; rank < p; rank++) {
        const size_t steps = coll_plan_steps(plan, rank);
        for (size_t s = 0; s < steps; s++) {
            coll_action mine[COLL_STEP_MAX], theirs[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(plan, rank, s, mine);
            for (unsigned i = 0; i < n; i++) {
                unsigned matches = 0, m = 0;
                if (!is_send(&mine[i]) && !is_receive(&mine[i]))
                    continue;
                if (CHECK(mine[i].peer < p) && CHECK(s < coll_plan_steps(plan, mine[i].peer)))
                    m = coll_plan_step(plan, mine[i].peer, s, theirs);
                for (unsigned k = 0; k < m; k++)
                    if (theirs[k].peer == rank &&
                        (coll_i_has(COLL_I_TOKENS, &mine[i]) ||
                         theirs[k].count == mine[i].count) &&
                        (is_send(&mine[i]) ? is_receive(&theirs[k]) : is_send(&theirs[k])))
                        matches++;
                CHECK_EQ(matches, 1);
            }
        }
    }
}

/* Elements sent, each times how far it goes round the circle of ranks. */
static inline size_t element_hops(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    size_t hops = 0;
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(plan, rank);
        for (size_t i = 0; i < w->n; i++)
            if (is_send(&w->act[i])) {
                const uint32_t up = (w->act[i].peer + p - rank) % p;
                hops += w->act[i].count * (up < p - up ? up : p - up);
            }
    }
    return hops;
}

/* Proves the plan, and returns what it costs. */
static inline coll_report cost_of(const coll_plan *plan)
{
    static coll_verifier memory;
    static coll_verify_options options;
    coll_report report;
    options.verifier = &memory;
    if (!CHECK(prove_plan(plan, &options, &report) == COLL_PROVEN))
        printf("    %s %s, p = %u, %zu elements: %s\n", plan->algorithm->name,
               coll_collective_name(plan->problem.collective), plan->problem.p,
               plan->problem.count, report.sentence);
    return report;
}

#endif /* COLL_TESTS_ALGOS_WALK_H */
