/* tests/support/levels.h — composite algorithms: cases of the verifier's grid, with
 * what is used inside
 *
 *   coll_grid_case of = level_case(&coll_dpml_allreduce.algorithm, COLL_ALLREDUCE, p, count,
 *   flags);
 *   of.nodes = 4;
 *   const coll_report report = level_cost(&of);       // proven
 *   … level_plan(rank), of the case that was made last
 */
#ifndef COLL_TESTS_ALGOS_LEVELS_H
#define COLL_TESTS_ALGOS_LEVELS_H

#include "walk.h"

#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"

static coll_grid_worker level_worker;

static inline coll_grid_case level_case(const coll_algorithm *algorithm,
                                        coll_collective collective, uint32_t p, size_t count,
                                        uint32_t flags)
{
    coll_grid_case of;
    coll_grid_case_init(&of, algorithm, collective, p);
    of.count = count;
    of.flags = flags;
    return of;
}

/* What coll_plan_build says; proven if that is COLL_OK. */
static inline coll_status level_prove(const coll_grid_case *of, coll_report *report)
{
    const coll_status status = prove_case(&level_worker, of, report);
    if (status == COLL_OK && !CHECK(report->ok)) {
        char words[256];
        coll_grid_case_words(of, words, sizeof words);
        printf("    %s: %s\n", words, report->sentence);
    }
    return status;
}

/* With many ranks, how wide a window must be is left to the proof of all. */
static inline coll_report level_cost(const coll_grid_case *of)
{
    coll_report report;
    memset(&report, 0, sizeof report);
    level_worker.skip = of->p > 16 ? COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY : 0;
    CHECK_STATUS(level_prove(of, &report), COLL_OK);
    level_worker.skip = 0;
    return report;
}

static inline const coll_plan *level_plan(uint32_t rank)
{
    return coll_i_grid_plan_of(&level_worker, rank);
}

static inline const coll_workspace *level_kit(uint32_t rank)
{
    return coll_i_workspace(level_plan(rank));
}

/* What must be said of an algorithm across `nodes` nodes of which one has more than one rank
 * (flat: none has), with an operator; COLL_OK: it is right. `group`: the ranks across are one. */
static inline coll_status level_expected(const coll_algorithm *inner, uint32_t nodes, bool flat,
                                         bool group, uint32_t flags)
{
    if ((inner->traits & COLL_NEEDS_MULTICAST) && !flat)
        return COLL_ERR_GROUP;
    if ((inner->traits & COLL_I_NEEDS_GROUP) && !flat && !group)
        return COLL_ERR_GROUP;
    if ((inner->traits & COLL_NEEDS_COMMUTATIVE) && !(flags & COLL_FLAG_COMMUTATIVE))
        return COLL_ERR_ORDER;
    if ((inner->traits & COLL_NEEDS_POWER_OF_TWO) && (nodes & (nodes - 1)) != 0)
        return COLL_ERR_SHAPE;
    if ((inner->traits & COLL_NEEDS_SHARED) && nodes > 1)
        return COLL_ERR_NODES;
    return COLL_OK;
}

static const uint32_t level_nodes[] = {0, 1, 2, 3, 4, COLL_GRID_NODES_UNEVEN};
enum { LEVEL_NODES = sizeof level_nodes / sizeof level_nodes[0] };

/* ---- what is inside, apart --------------------------------------------------------------- */

/* What a plan inside costs by itself; the counts of its ranks last until the next call. */
typedef struct level_part {
    uint32_t rounds;
    coll_verify_count ranks[WALK_RANKS];
} level_part;

/* A problem in numbers; unused ones are 0. */
typedef struct level_key {
    const coll_algorithm *algorithm;
    size_t collective, p, root, flags, count, counts[WALK_RANKS];
} level_key;

/* Counts what an algorithm does, which is proven elsewhere; the same is asked for often. */
static inline const level_part *level_apart(const coll_algorithm *algorithm,
                                            const coll_problem *problem)
{
    enum { KNOWN = 512 };
    static struct {
        level_key key;
        level_part part;
    } known[KNOWN];
    static coll_verifier memory;
    static coll_verify_options options;
    const size_t *counts = problem->in.counts ? problem->in.counts : problem->out.counts;
    coll_report report;
    coll_plan plan;
    level_key key;
    uint64_t hash = 14695981039346656037u;
    memset(&key, 0, sizeof key);
    key.algorithm = algorithm;
    key.collective = (size_t)problem->collective;
    key.p = problem->p;
    key.root = problem->root;
    key.flags = problem->flags;
    key.count = counts ? 0 : problem->count;
    for (uint32_t i = 0; counts && i < problem->p; i++)
        key.counts[i] = counts[i];
    for (size_t i = 0; i < sizeof key; i++)
        hash = (hash ^ ((const unsigned char *)&key)[i]) * 1099511628211u;
    hash = (hash >> 32) % KNOWN;
    if (memcmp(&known[hash].key, &key, sizeof key) == 0)
        return &known[hash].part;
    options.verifier = &memory;
    options.skip = COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, problem, NULL), COLL_OK);
    if (!CHECK(prove_plan(&plan, &options, &report) == COLL_PROVEN))
        printf("    %s, p = %u: %s\n", algorithm->name, problem->p, report.sentence);
    known[hash].key = key;
    known[hash].part.rounds = report.rounds;
    memcpy(known[hash].part.ranks, report.ranks, problem->p * sizeof *report.ranks);
    for (uint32_t r = 0; r < problem->p; r++) /* what it asks for */
        known[hash].part.ranks[r].scratch = coll_plan_scratch(&plan, r);
    return &known[hash].part;
}

/* The default algorithm of a role. */
static inline const coll_algorithm *level_usual(const coll_composite *composite,
                                                coll_level level, coll_collective collective)
{
    for (uint32_t i = 0; i < composite->n_defaults; i++)
        if (composite->defaults[i].level == level &&
            coll_is(composite->defaults[i].algorithm->collectives, collective))
            return composite->defaults[i].algorithm;
    CHECK(false);
    return NULL;
}

/* A level follows the other; in each, nodes or leaders do theirs at the same time. */
typedef enum level_stage { LEVEL_BEFORE, LEVEL_ACROSS, LEVEL_AFTER, LEVEL_STAGES } level_stage;

typedef struct level_sum {
    coll_verify_count ranks[WALK_RANKS];
    uint32_t rounds[LEVEL_STAGES]; /* the most of any part */
} level_sum;

/* Adds what rank number `number` of a part does, which is this one of all. */
static inline void level_add(level_sum *sum, level_stage phase, uint32_t rank,
                             const level_part *part, uint32_t number)
{
    sum->ranks[rank].messages += part->ranks[number].messages;
    sum->ranks[rank].elements += part->ranks[number].elements;
    sum->ranks[rank].reduced += part->ranks[number].reduced;
    sum->ranks[rank].copied += part->ranks[number].copied;
    if (sum->ranks[rank].scratch < part->ranks[number].scratch) /* one after the other */
        sum->ranks[rank].scratch = part->ranks[number].scratch;
    if (sum->rounds[phase] < part->rounds)
        sum->rounds[phase] = part->rounds;
}

/* Are all nodes of one size? */
static inline bool level_even(uint32_t p)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    return coll_nodes_smallest(nodes, p) == coll_nodes_largest(nodes, p);
}

/* Is that what all cost together? Rounds are at most the sum of those of the stages; `exact`: just
 * that. */
static inline void level_check(const coll_report *whole, const level_sum *sum, uint32_t p,
                               bool exact)
{
    uint32_t rounds = 0;
    for (uint32_t phase = 0; phase < LEVEL_STAGES; phase++)
        rounds += sum->rounds[phase];
    CHECK(whole->rounds <= rounds);
    if (exact)
        CHECK_EQ(whole->rounds, rounds);
    for (uint32_t r = 0; r < p; r++) {
        CHECK_EQ(whole->ranks[r].messages, sum->ranks[r].messages);
        CHECK_EQ(whole->ranks[r].elements, sum->ranks[r].elements);
        CHECK_EQ(whole->ranks[r].reduced, sum->ranks[r].reduced);
    }
}

/* Messages of a rank to ranks of other nodes, and their elements. */
static inline coll_verify_count level_outward(uint32_t r)
{
    const coll_workspace *workspace = level_kit(r);
    const walk *w = walk_of(level_plan(r), r);
    coll_verify_count sum;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < w->n; i++) {
        const coll_action *a = &w->act[i];
        if (a->count == 0 || !is_send(a) ||
            coll_node_of(&workspace->nodes, workspace->p, a->peer).index ==
                coll_node_of(&workspace->nodes, workspace->p, r).index)
            continue;
        sum.messages++;
        sum.elements += coll_i_has(COLL_I_TOKENS, a) ? 0 : a->count;
    }
    return sum;
}

/* Sorting is copies: each moves other elements to other places, and all are moved. */
static inline void level_check_sorting(const coll_plan *sorts, size_t elements)
{
    static unsigned char from[8192], to[8192];
    const size_t steps = coll_plan_steps(sorts, 0);
    size_t moved = 0;
    memset(from, 0, sizeof from);
    memset(to, 0, sizeof to);
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(sorts, 0, s, acts);
        for (unsigned i = 0; i < n; i++)
            for (size_t k = 0; k < acts[i].count; k++) {
                CHECK_EQ(acts[i].kind, COLL_DO_COPY);
                CHECK(from[coll_ref_offset(acts[i].src) + k]++ == 0);
                CHECK(to[coll_ref_offset(acts[i].dst) + k]++ == 0);
                moved++;
            }
    }
    CHECK_EQ(moved, elements);
}

/* May coll_plan_build say this because of what is inside? */
static inline bool level_explains(const coll_algorithm *inner, coll_status status)
{
    switch (status) {
    case COLL_OK:
        return true;
    case COLL_ERR_ORDER:
        return (inner->traits & COLL_NEEDS_COMMUTATIVE) != 0;
    case COLL_ERR_SHAPE:
        return (inner->traits & COLL_NEEDS_POWER_OF_TWO) || inner->check;
    case COLL_ERR_IN_PLACE:
        return (inner->traits & COLL_NEEDS_OUT_OF_PLACE) != 0;
    case COLL_ERR_NODES:
    case COLL_ERR_SHARED:
        return (inner->traits & COLL_NEEDS_SHARED) != 0;
    case COLL_ERR_GROUP:
        return (inner->traits & (COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP)) != 0;
    case COLL_ERR_COLLECTIVE: /* blocks of one size only, or of different sizes only */
        return true;
    default:
        return false;
    }
}

/* Puts one algorithm into one role, on all kinds of nodes, in and out of place, commutative and
 * not: proven, or refused for a reason. It must do something for some p. */
static inline void level_try(const coll_composite *composite, coll_collective collective,
                             coll_level level, const coll_algorithm *inner)
{
    const coll_binding binding = {level, inner, NULL};
    unsigned long proven = 0;
    for (uint32_t p = 1; p <= 13; p += p < 7 ? 1 : 3)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t shape = 0; shape < 3; shape++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    coll_grid_case of =
                        level_case(&composite->algorithm, collective, p, 0, flags);
                    coll_report report;
                    coll_status status;
                    if (!coll_i_grid_shape(&of, 2 * shape) ||
                        (flags != 0 && collective == COLL_BARRIER))
                        continue;
                    of.root = coll_is(COLL_ROOTED, collective) ? (p + flags) / 2 % p : 0;
                    of.nodes = level_nodes[kind];
                    of.bindings = &binding;
                    of.n_bindings = 1;
                    status = level_prove(&of, &report);
                    proven += status == COLL_OK;
                    if (!CHECK(level_explains(inner, status)))
                        printf("    %s in %s, p = %u: %s\n", inner->name,
                               composite->algorithm.name, p, coll_status_text(status));
                }
    if (!CHECK(proven > 0))
        printf("    %s is of no use in %s\n", inner->name, composite->algorithm.name);
}

/* Does it for all algorithms that solve what a role's default ones do. */
static inline void level_try_all(const coll_composite *composite, coll_collective collective)
{
    for (uint32_t level = 0; level < COLL_LEVELS; level++) {
        uint32_t wanted = 0, found = 0;
        for (uint32_t i = 0; i < composite->n_defaults; i++)
            if (composite->defaults[i].level == (coll_level)level)
                wanted |= composite->defaults[i].algorithm->collectives;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if ((coll_registry[i]->collectives & wanted) &&
                !(coll_registry[i]->traits & COLL_NEEDS_BUILD) && found++ % CHECK_SHARE == 0)
                level_try(composite, collective, (coll_level)level, coll_registry[i]);
    }
}

#endif /* COLL_TESTS_ALGOS_LEVELS_H */
