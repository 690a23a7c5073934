/* tests/tools/broken.h — a registry of algorithms that are wrong, in place of the real one
 *
 * Compiled into the command by -include, it shows that proofs fail, that wrong results are
 * found, and that ranks which wait for each other are told of.
 */
#ifndef COLL_TESTS_TOOLS_BROKEN_H
#define COLL_TESTS_TOOLS_BROKEN_H

#include <string.h>

/* The real one stays there for the rules of select.h, under other names. */
#define coll_registry   coll_whole_registry
#define coll_find       coll_whole_find
#define coll_aliases    coll_whole_aliases
#define coll_find_alias coll_whole_find_alias
#define coll_resolve    coll_whole_resolve
#include "coll/algos/registry.h"
#undef coll_registry
#undef coll_find
#undef coll_aliases
#undef coll_find_alias
#undef coll_resolve
#undef COLL_REGISTRY_COUNT
#undef COLL_ALIAS_COUNT

/* bcast: the root sends all but the last element. */
static inline size_t short_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == plan->problem.root ? plan->problem.p : 1;
}

static inline unsigned short_step(const coll_plan *plan, uint32_t rank, size_t s,
                                  coll_action *out)
{
    const size_t count = plan->problem.count ? plan->problem.count - 1 : 0;
    if (rank != plan->problem.root)
        coll_act_recv(out, plan->problem.root, COLL_AT(COLL_OUT, 0), count);
    else if (s == rank)
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count);
    else
        coll_act_send(out, (uint32_t)s, coll_input(plan), count);
    return 1;
}

COLL_ALGORITHM(short_bcast, "short", "",
    COLL_BIT(COLL_BCAST), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    short_steps, short_step);

/* bcast, allreduce: every rank waits for the next one, and none sends. */
static inline size_t one_step(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 1;
}

static inline unsigned silent_step(const coll_plan *plan, uint32_t rank, size_t s,
                                   coll_action *out)
{
    (void)s;
    coll_act_recv(out, coll_mod_add(rank, 1 % plan->problem.p, plan->problem.p),
                  COLL_AT(COLL_OUT, 0), plan->problem.count);
    return plan->problem.p > 1;
}

COLL_ALGORITHM(silent, "silent", "",
    COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    one_step, silent_step);

/* allreduce: every rank keeps its own operand. */
static inline unsigned selfish_step(const coll_plan *plan, uint32_t rank, size_t s,
                                    coll_action *out)
{
    (void)rank;
    (void)s;
    coll_act_copy(out, COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count);
    return 1;
}

COLL_ALGORITHM(selfish_allreduce, "selfish", "",
    COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    one_step, selfish_step);

/* barrier: nobody waits. */
static inline size_t no_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 0;
}

static inline unsigned no_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan;
    (void)rank;
    (void)s;
    (void)out;
    return 0;
}

COLL_ALGORITHM(open_barrier, "open", "",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    no_steps, no_step);

/* gatherv: the blocks stay where they are. */
COLL_ALGORITHM(idle_gatherv, "idle", "",
    COLL_BIT(COLL_GATHERV), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    no_steps, no_step);

/* scan: rank 0 talks to a rank that does not exist. */
static inline unsigned astray_step(const coll_plan *plan, uint32_t rank, size_t s,
                                   coll_action *out)
{
    (void)rank;
    (void)s;
    coll_act_send(out, plan->problem.p, coll_input(plan), plan->problem.count);
    return 1;
}

COLL_ALGORITHM(astray_scan, "astray", "",
    COLL_BIT(COLL_SCAN), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    one_step, astray_step);

/* alltoall: a step is one message a rank, however many there are. */
static inline unsigned crowded_step(const coll_plan *plan, uint32_t rank, size_t s,
                                    coll_action *out)
{
    (void)rank;
    (void)s;
    for (uint32_t to = 0; to < plan->problem.p; to++)
        coll_act_copy(&out[to], COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count);
    return plan->problem.p;
}

COLL_ALGORITHM(crowded_alltoall, "crowded", "",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    one_step, crowded_step);

static const coll_algorithm *const coll_registry[] = {
    &short_bcast,  &silent,      &selfish_allreduce, &open_barrier,
    &idle_gatherv, &astray_scan, &crowded_alltoall,
};

#define COLL_REGISTRY_COUNT (sizeof coll_registry / sizeof coll_registry[0])

static inline const coll_algorithm *coll_find(coll_collective collective, const char *name)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective) &&
            strcmp(coll_registry[i]->name, name) == 0)
            return coll_registry[i];
    return NULL;
}

/* No other names. */
static const coll_alias coll_aliases[] = {{"", "", 0, 0}};

#define COLL_ALIAS_COUNT 1

static inline const coll_alias *coll_find_alias(coll_collective collective, const char *name)
{
    (void)collective;
    (void)name;
    return NULL;
}

static inline const coll_algorithm *coll_resolve(coll_collective collective, const char *name,
                                                 uint32_t *params)
{
    const coll_algorithm *algorithm = coll_find(collective, name);
    for (uint32_t i = 0; algorithm && i < algorithm->n_params; i++)
        params[i] = algorithm->params[i].default_value;
    return algorithm;
}

#endif /* COLL_TESTS_TOOLS_BROKEN_H */
