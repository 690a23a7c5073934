/* tests/lab/waste.c — nothing is asked for, and nothing done, in vain; and what everything costs
 *
 * The verifier proves that nothing is missing: a plan with more SCRATCH, a larger window, a step too
 * much or a copy that nobody needs is right. Here each row of the registry is looked through for
 * such waste (waste.h); what is found is in a list, with a reason. And what the rows cost over
 * these cases, all in all, stands in costs.h, number by number: a change of an algorithm that
 * makes it cheaper or dearer shows there. `waste --print` writes that file anew.
 *
 * The cases are chosen here, not by lab/verify_grid.h, so that the numbers depend on the
 * algorithms alone.
 */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify/axes.h"
#include "coll/lab/verify/reproduction.h"
#include "support/costs.h"
#include "support/prove.h"
#include "support/waste.h"

/* ---- the cases --------------------------------------------------------------------------- */

enum { SETS = 3, SHAPES = 3, RANKS_MOST = 9 };

/* Sets parameters number k: the default ones, and as many of them as possible 2, or 3. */
static bool params_of(coll_grid_case *of, uint32_t k)
{
    for (uint32_t i = 0; i < of->algorithm->n_params; i++) {
        const coll_param *param = &of->algorithm->params[i];
        const uint32_t wanted = k == 0 ? param->default_value : k + 1;
        of->param[i] = wanted < param->least  ? param->least
                       : wanted > param->most ? param->most
                                              : wanted;
    }
    return k < (of->algorithm->n_params > 0 ? (uint32_t)SETS : 1);
}

/* Sets the counts: three, or three layouts; of neighbours, on three graphs. */
static bool shape_of(coll_grid_case *of, uint32_t k)
{
    static const size_t counts[SHAPES] = {WASTE_MANY, 1, 7};
    static const coll_grid_layout layouts[SHAPES] = {COLL_GRID_UNEVEN, COLL_GRID_GAPS,
                                                     COLL_GRID_ONE};
    if (k >= SHAPES || (of->collective == COLL_BARRIER && k > 0))
        return false;
    of->count = of->collective == COLL_BARRIER ? 0 : counts[k];
    of->layout = COLL_GRID_PLAIN;
    of->graph = COLL_GRID_NO_GRAPH;
    if (coll_i_grid_has_layouts(of->collective)) {
        of->layout = layouts[k];
        of->count = of->p + 1;
    }
    if (coll_is(COLL_NEIGHBORLY, of->collective))
        of->graph = (coll_grid_graph)(1 + k);
    return true;
}

static bool nodes_of(coll_grid_case *of, uint32_t k)
{
    static const uint32_t nodes[] = {0, 2, COLL_GRID_NODES_UNEVEN};
    of->nodes = nodes[k % 3];
    return k < (of->algorithm->traits & COLL_USES_NODES ? 3u : 1u);
}

static bool root_of(coll_grid_case *of, uint32_t k)
{
    of->root = k == 0 ? 0 : k == 1 ? of->p - 1 : of->p / 2;
    return k == 0 || (coll_is(COLL_ROOTED, of->collective) && k < (of->p > 2   ? 3u
                                                                   : of->p > 1 ? 2u
                                                                               : 1u));
}

static bool flags_of(coll_grid_case *of, uint32_t k)
{
    of->flags = (k & 1 ? COLL_FLAG_IN_PLACE : 0) | (k & 2 ? COLL_FLAG_COMMUTATIVE : 0);
    return k < 4;
}

/* Calls `each` with all cases of a row that can be planned. */
static void all_cases(coll_grid_worker *worker, const coll_algorithm *algorithm,
                      coll_collective collective, uint32_t least,
                      void (*each)(void *arg, coll_grid_worker *worker,
                                   const coll_grid_case *of),
                      void *arg)
{
    coll_grid_case of;
    memset(&of, 0, sizeof of);
    of.algorithm = algorithm;
    of.collective = collective;
    for (of.p = least; of.p <= RANKS_MOST; of.p++)
        for (uint32_t n = 0; nodes_of(&of, n); n++)
            for (uint32_t params = 0; params_of(&of, params); params++)
                for (uint32_t root = 0; root_of(&of, root); root++)
                    for (uint32_t shape = 0; shape_of(&of, shape); shape++)
                        for (uint32_t flags = 0; flags_of(&of, flags); flags++)
                            if (coll_i_grid_plans(worker, &of) == COLL_OK)
                                each(arg, worker, &of);
}

/* ---- waste ------------------------------------------------------------------------------- */

#define AT(name)  (1u << WASTE_##name)
#define ONE(name) COLL_BIT(COLL_##name)

/* Why. Where slots are meant, a plan asks for those of the most messages that can be in flight. */
#define SLOTS                                                                                  \
    "one formula for the slots, in place or not; where OUT takes a message they are unused"
#define PAIR    "two slots take turns; a rank that receives once uses one"
#define LARGEST "slots are as large as the largest block, and two where one is enough"
#define PADDED                                                                                 \
    "messages, and slots for them, are as large as the largest; what pads is never read"
#define NUMBERED                                                                               \
    "steps are numbered as on all ranks; this one has no partner, block or piece in it"
#define EQUAL "each rank or buffer has as much room as the largest"
#define HOME  "what the rank has itself comes back to it with the rest"

/* What is known to be in vain, of which rows (0: all collectives of an algorithm), and why. */
static const struct known {
    const char *algorithm;
    uint32_t collectives;
    unsigned kinds;
    const char *why;
} known[] = {
    {"linear", ONE(REDUCE), AT(SCRATCH), "the slot of the root's own operand is not used"},
    {"linear", ONE(SCAN) | ONE(EXSCAN), AT(SCRATCH), PAIR},
    {"serial", ONE(REDUCE), AT(SCRATCH) | AT(UNREAD),
     "the slot of the root's own operand is not used; a permission holds anything"},
    {"fnomial_multicast", 0, AT(SCRATCH), SLOTS},
    {"fnomial", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"kary", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"bine", ONE(REDUCE), AT(SCRATCH), SLOTS},
    {"bine_tree", 0, AT(SCRATCH), SLOTS},
    {"chain", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"tree", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"double_tree", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"fnomial_split", 0, AT(SCRATCH), SLOTS},
    {"binary_tree", 0, AT(SCRATCH), PAIR},
    {"ring", ONE(REDUCE_SCATTER) | ONE(REDUCE_SCATTER_BLOCK) | ONE(ALLREDUCE), AT(SCRATCH),
     PAIR},
    {"ring", ONE(ALLTOALL) | ONE(ALLTOALLV), AT(SCRATCH), LARGEST},
    {"multi_ring", ONE(REDUCE_SCATTER), AT(SCRATCH), LARGEST},
    {"multi_ring", ONE(ALLREDUCE), AT(SCRATCH) | AT(STEP) | AT(LAST) | AT(EMPTY),
     "all pieces have as many steps, and as much room, as the largest"},
    {"prefix", ONE(ALLTOALL) | ONE(ALLTOALLV), AT(SCRATCH), LARGEST},
    {"prefix", 0, AT(STEP) | AT(LAST), NUMBERED},
    {"kprefix", 0, AT(STEP) | AT(LAST), NUMBERED},
    {"kprefix_lb", 0, AT(STEP) | AT(LAST), NUMBERED},
    {"kshift", ONE(ALLTOALL) | ONE(ALLTOALLV), AT(SCRATCH), LARGEST},
    {"kshift", 0, AT(STEP) | AT(LAST), NUMBERED},
    {"recursive_multiplying", ONE(ALLGATHERV), AT(AGAIN), HOME},
    {"circulant", ONE(BCAST) | ONE(REDUCE), AT(STEP) | AT(LAST), NUMBERED},
    {"circulant", ONE(REDUCE), AT(SCRATCH), SLOTS},
    {"swing", ONE(ALLGATHER), AT(STEP), NUMBERED},
    {"swing", ONE(ALLGATHER) | ONE(ALLGATHERV), AT(AGAIN), HOME},
    {"locality_bruck", 0, AT(STEP) | AT(LAST), NUMBERED},
    {"pat", 0, AT(SCRATCH) | AT(UNREAD), PADDED},
    {"bruck", ONE(ALLTOALL), AT(EMPTY), NUMBERED},
    {"bruck", ONE(ALLTOALL), AT(SCRATCH), LARGEST},
    {"bruck", ONE(ALLTOALLV) | ONE(ALLTOALLW), AT(SCRATCH) | AT(UNREAD), PADDED},
    {"pairwise", ONE(ALLTOALL) | ONE(ALLTOALLV) | ONE(ALLTOALLW), AT(SCRATCH), LARGEST},
    {"pairwise", ONE(REDUCE_SCATTER) | ONE(REDUCE_SCATTER_BLOCK), AT(SCRATCH), PAIR},
    {"throttled", 0, AT(SCRATCH), LARGEST},
    {"shm", 0, AT(SHARED), EQUAL},
    {"shm", 0, AT(STEP) | AT(LAST) | AT(EMPTY), NUMBERED},
    {"shm", ONE(ALLTOALL), AT(AGAIN), HOME},
    {"shm_flat", ONE(ALLTOALL) | ONE(ALLGATHERV), AT(SHARED), EQUAL},
    {"shm_flat", ONE(ALLTOALL), AT(LAST) | AT(EMPTY), NUMBERED},
    {"in_network", ONE(REDUCE_SCATTER), AT(UNREAD), "the network gives every rank all blocks"},
    {"two_level", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"two_level", ONE(REDUCE_SCATTER) | ONE(REDUCE_SCATTER_BLOCK), AT(SCRATCH), PAIR},
    {"two_level", ONE(ALLGATHERV), AT(AGAIN), HOME},
    {"two_level", ONE(ALLTOALL), AT(SCRATCH) | AT(AGAIN), LARGEST},
    {"two_level", ONE(ALLTOALLV) | ONE(ALLTOALLW), AT(SCRATCH) | AT(AGAIN) | AT(UNREAD),
     PADDED},
    {"node_leader", 0, AT(SCRATCH), SLOTS},
    {"socket_leader", 0, AT(SCRATCH), SLOTS},
    {"multi_leader", 0, AT(STEP) | AT(LAST) | AT(EMPTY), NUMBERED},
    {"multi_leader", ONE(REDUCE) | ONE(ALLREDUCE), AT(SCRATCH), SLOTS},
    {"multi_leader", ONE(REDUCE_SCATTER) | ONE(REDUCE_SCATTER_BLOCK), AT(SCRATCH), PAIR},
    {"multi_leader", ONE(BCAST) | ONE(ALLGATHER) | ONE(ALLGATHERV), AT(AGAIN), HOME},
    {"multi_leader", ONE(ALLTOALL), AT(SCRATCH) | AT(AGAIN), LARGEST},
    {"multi_leader", ONE(GATHER) | ONE(GATHERV) | ONE(SCATTERV), AT(AGAIN), HOME},
    {"multi_leader", ONE(SCATTER) | ONE(SCATTERV), AT(UNREAD), HOME},
    {"multi_leader", ONE(SCAN) | ONE(EXSCAN), AT(SCRATCH), PAIR},
    {"dpml", 0, AT(SHARED), EQUAL},
    {"dpml", 0, AT(STEP), NUMBERED},
    {"dpml_pipelined", 0, AT(SCRATCH) | AT(SHARED), EQUAL},
    {"dpml_pipelined", 0, AT(STEP), NUMBERED},
    {"mixed", 0, AT(SHARED), EQUAL},
    {"mixed", 0, AT(STEP) | AT(LAST) | AT(EMPTY), NUMBERED},
    {"mixed", ONE(ALLGATHER), AT(AGAIN), HOME},
};

enum { KNOWN = sizeof known / sizeof known[0] };
static unsigned seen[KNOWN]; /* the kinds of each that there are */

static void note_waste(void *arg, coll_grid_worker *worker, const coll_grid_case *of)
{
    unsigned *kinds = (unsigned *)arg, fresh = 0, expected = 0;
    waste found;
    CHECK_STATUS(waste_of(worker, of, &found), COLL_OK);
    for (int kind = 0; kind < WASTE_KINDS; kind++)
        if (found.n[kind] > 0)
            fresh |= 1u << kind;
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].algorithm, of->algorithm->name) == 0 &&
            (known[i].collectives == 0 || coll_is(known[i].collectives, of->collective))) {
            seen[i] |= fresh & known[i].kinds;
            expected |= known[i].kinds;
        }
    fresh &= ~expected;
    fresh &= ~*kinds;
    *kinds |= fresh;
    for (int kind = 0; kind < WASTE_KINDS; kind++) {
        char words[256];
        if (CHECK(!(fresh >> kind & 1u)))
            continue;
        coll_grid_case_words(of, words, sizeof words);
        printf("    %s: rank %u, step or element %zu: %s\n", words, found.rank[kind],
               found.step[kind], waste_words((enum waste_kind)kind));
    }
}

/* Once a row and kind is enough to be told. */
TEST(nothing_is_in_vain)
{
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            unsigned kinds = 0;
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c))
                all_cases(&worker, coll_registry[i], (coll_collective)c, 2, note_waste, &kinds);
        }
    coll_grid_worker_release(&worker);
}

/* What is not wasted any more is to be struck off. */
TEST(the_list_is_true)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (!CHECK_EQ(seen[i], known[i].kinds))
            printf("    %s: %s\n", known[i].algorithm, known[i].why);
}

/* ---- costs ------------------------------------------------------------------------------- */

static const char costs_head[] =
    "/* tests/support/costs.h — what the rows of the registry cost over "
    "the cases of waste.c; written by\n"
    " * `waste --print` */\n"
    "#ifndef COLL_TESTS_COSTS_H\n"
    "#define COLL_TESTS_COSTS_H\n\n"
    "#include <stdint.h>\n\n"
    "enum { COSTS = 12 };\n\n"
    "/* Sums over the cases: steps, actions, messages, elements "
    "sent, reduced, copied, rounds,\n"
    " * elements of SCRATCH, of SHARED, actions of no elements; and the largest window: "
    "of a plan, and of the least that\n"
    " * suffices. */\n"
    "struct costs {\n"
    "    uint64_t of[COSTS];\n"
    "};\n\n"
    "static const struct row {\n"
    "    const char *algorithm, *collective;\n"
    "    struct costs costs;\n"
    "} rows[] = {\n    /* clang-format off */\n";

static uint32_t usual_window;

static void add_costs(void *arg, coll_grid_worker *worker, const coll_grid_case *of)
{
    struct costs *sum = (struct costs *)arg;
    const uint32_t window = coll_i_grid_plan_of(worker, 0)->window;
    bool default_value = true;
    coll_report report;
    waste found;
    for (uint32_t i = 0; i < of->algorithm->n_params; i++)
        default_value =
            default_value &&
            (of->param[i] <= 2 || of->param[i] == of->algorithm->params[i].default_value);
    if (default_value && usual_window < window)
        usual_window = window;
    CHECK_STATUS(waste_of(worker, of, &found), COLL_OK);
    CHECK_STATUS(prove_case(worker, of, &report), COLL_OK);
    CHECK(report.ok);
    {
        const uint64_t more[COSTS] = {found.steps,
                                      report.total.actions,
                                      report.total.messages,
                                      report.total.elements,
                                      report.total.reduced,
                                      report.total.copied,
                                      report.rounds,
                                      found.asked[COLL_SCRATCH],
                                      found.asked[COLL_SHARED],
                                      found.none,
                                      window,
                                      report.window};
        for (int i = 0; i < COSTS; i++)
            if (i < COSTS - 2)
                sum->of[i] += more[i];
            else if (sum->of[i] < more[i])
                sum->of[i] = more[i];
    }
}

static void check_costs(const coll_algorithm *algorithm, coll_collective collective,
                        const struct costs *costs, bool print)
{
    static const char *const what[COSTS] = {
        "steps",  "actions",     "messages", "elements", "reduced",
        "copied", "rounds",      "SCRATCH",  "SHARED",   "actions of no elements",
        "window", "least window"};
    const char *name = coll_collective_name(collective);
    const struct row *row = NULL;
    if (print) {
        printf("    {\"%s\", \"%s\", {{", algorithm->name, name);
        for (int i = 0; i < COSTS; i++)
            printf("%s%llu", i ? ", " : "", (unsigned long long)costs->of[i]);
        printf("}}},\n");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !row; i++)
        if (strcmp(rows[i].algorithm, algorithm->name) == 0 &&
            strcmp(rows[i].collective, name) == 0)
            row = &rows[i];
    /* A plan that is composite has the window that they need. */
    if (!CHECK_EQ(usual_window, algorithm->window))
        printf("    %s %s: window\n", name, algorithm->name);
    if (!CHECK(row != NULL)) {
        printf("    %s %s is not in costs.h\n", name, algorithm->name);
        return;
    }
    for (int i = 0; i < COSTS; i++)
        if (!CHECK_EQ(costs->of[i], row->costs.of[i]))
            printf("    %s %s: %s\n", name, algorithm->name, what[i]);
}

/* What a row costs over all cases; and, with parameters that are usual or 2, the
 * largest window. */
static struct costs costs_of(coll_grid_worker *worker, const coll_algorithm *algorithm,
                             coll_collective collective)
{
    struct costs costs;
    memset(&costs, 0, sizeof costs);
    usual_window = 0;
    all_cases(worker, algorithm, collective, 1, add_costs, &costs);
    return costs;
}

static void all_costs(bool print)
{
    coll_grid_worker worker;
    size_t n = 0;
    coll_grid_worker_init(&worker);
    if (print)
        printf("%s", costs_head);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            struct costs costs;
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            n++;
            costs = costs_of(&worker, coll_registry[i], (coll_collective)c);
            check_costs(coll_registry[i], (coll_collective)c, &costs, print);
        }
    coll_grid_worker_release(&worker);
    if (print)
        printf("    /* clang-format on */\n};\n\n#endif /* COLL_TESTS_COSTS_H */\n");
    else
        CHECK_EQ(n, sizeof rows / sizeof rows[0]);
}

TEST(costs_are_these)
{
    all_costs(false);
}

/* ---- are the numbers such that waste shows? ---------------------------------------------- */

enum wasting {
    SCRATCH_MORE,
    SCRATCH_TWICE,
    EMPTY_LAST,
    EMPTY_FIRST,
    EMPTY_MESSAGE,
    COPIES,
    WASTINGS
};

/* An algorithm that wastes in one way, and else does what it was made from. */
struct wasteful {
    coll_composite composite;
    const coll_algorithm *base;
    enum wasting how;
};

static const struct wasteful *wasteful_of(const coll_plan *plan)
{
    return (const struct wasteful *)(const void *)plan->algorithm;
}

static size_t wasteful_steps(const coll_plan *plan, uint32_t rank)
{
    const struct wasteful *of = wasteful_of(plan);
    return of->base->steps(plan, rank) + (of->how == EMPTY_LAST || of->how == EMPTY_FIRST);
}

static unsigned wasteful_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const struct wasteful *of = wasteful_of(plan);
    unsigned n;
    if (of->how == EMPTY_FIRST && s-- == 0)
        return 0;
    if (of->how == EMPTY_LAST && s == of->base->steps(plan, rank))
        return 0;
    n = of->base->step(plan, rank, s, out);
    if (of->how == EMPTY_MESSAGE && n < COLL_STEP_MAX && plan->problem.p > 1)
        coll_act_send(&out[n++], (rank + 1) % plan->problem.p, COLL_AT(COLL_OUT, 0), 0);
    if (of->how == COPIES && n > 0 && n < COLL_STEP_MAX && out[0].kind == COLL_DO_SEND &&
        out[0].count > 0 && !(plan->traits & COLL_USES_PADDING)) {
        coll_act_copy(&out[n], COLL_AT(COLL_SCRATCH, coll_plan_scratch(plan, rank) - 1),
                      out[0].src, 1);
        n++;
    }
    return n;
}

static size_t wasteful_scratch(const coll_plan *plan, uint32_t rank)
{
    const struct wasteful *of = wasteful_of(plan);
    const size_t scratch = of->base->scratch ? of->base->scratch(plan, rank) : 0;
    return of->how == SCRATCH_TWICE                       ? 2 * scratch
           : of->how == SCRATCH_MORE || of->how == COPIES ? scratch + 1
                                                          : scratch;
}

/* Does any number become larger, and none smaller? */
static bool costs_more(const struct costs *costs, const struct costs *default_value)
{
    bool more = false;
    for (int k = 0; k < COSTS; k++) {
        CHECK(costs->of[k] >= default_value->of[k]);
        more = more || costs->of[k] > default_value->of[k];
    }
    return more;
}

/* A row's algorithm. */
static const coll_algorithm *row_algorithm(const struct row *row, coll_collective *collective)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            *collective = (coll_collective)c;
            if (coll_is(coll_registry[i]->collectives, *collective) &&
                strcmp(coll_registry[i]->name, row->algorithm) == 0 &&
                strcmp(coll_collective_name(*collective), row->collective) == 0)
                return coll_registry[i];
        }
    return NULL;
}

/* Of every fifth row. Twice no SCRATCH is none, and copies are made only beside a first send. */
TEST(waste_shows)
{
    coll_grid_worker worker;
    size_t shown[WASTINGS] = {0}, n = 0;
    coll_grid_worker_init(&worker);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i += 5, n++)
        for (int how = 0; how < WASTINGS; how++) {
            static struct wasteful of;
            coll_collective collective;
            struct costs costs;
            of.base = row_algorithm(&rows[i], &collective);
            if (!CHECK(of.base != NULL))
                continue;
            if (of.base->traits & COLL_NEEDS_BUILD)
                of.composite = *coll_composite_of(of.base);
            of.composite.algorithm = *of.base;
            of.composite.algorithm.steps = wasteful_steps;
            of.composite.algorithm.step = wasteful_step;
            of.composite.algorithm.scratch = wasteful_scratch;
            of.how = (enum wasting)how;
            costs = costs_of(&worker, &of.composite.algorithm, collective);
            shown[how] += costs_more(&costs, &rows[i].costs);
        }
    for (int how = 0; how < WASTINGS; how++)
        if (!CHECK(how == SCRATCH_TWICE || how == COPIES ? shown[how] > n / 4
                                                         : shown[how] == n))
            printf("    %d: %zu of %zu\n", how, shown[how], n);
    coll_grid_worker_release(&worker);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        all_costs(true);
        return 0;
    }
    RUN(nothing_is_in_vain);
    RUN(the_list_is_true);
    RUN(costs_are_these);
    RUN(waste_shows);
    return check_done();
}
