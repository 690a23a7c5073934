/* tests/lab/verify.c — the verifier proves what is right, and rejects a mutant for each of its
 * checks */
#include "support/check.h"
#include "support/mutants.h"
#include "support/nic_mutants.h"

static bool seen[COLL_FINDINGS];

/* Proves one plan of an algorithm; the status of coll_plan_init. */
static coll_status prove(const coll_algorithm *algorithm, const struct mutant *of,
                         coll_report *report)
{
    coll_grid_worker worker;
    coll_grid_case one;
    coll_status status;
    coll_grid_case_init(&one, algorithm, of->collective, of->p);
    one.flags = of->flags;
    one.count = of->count;
    one.layout = of->layout;
    coll_grid_worker_init(&worker);
    status = coll_grid_prove(&worker, &one, report);
    coll_grid_worker_release(&worker);
    return status;
}

/* The sentence must be this one, word by word, if any is given. */
static void check_sentence(const coll_report *report, const char *sentence, const char *name)
{
    if (sentence && !CHECK(strcmp(report->sentence, sentence) == 0))
        printf("    %s: %s\n", name, report->sentence);
}

/* A report must be complete, and say what the test expects. */
static void check_finding(const coll_report *report, coll_finding finding, const char *name,
                          uint32_t p)
{
    if (!CHECK_EQ(report->finding, finding))
        printf("    %s: %s: %s\n", name, coll_finding_name(report->finding), report->sentence);
    CHECK_EQ(report->ok, finding == COLL_PROVEN);
    CHECK(report->rank < p);
    CHECK(finding == COLL_PROVEN || strncmp(report->sentence, "rank ", 5) == 0);
    CHECK(strlen(report->sentence) + 1 < sizeof report->sentence);
    seen[report->finding] = true;
}

TEST(mutants_are_rejected)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        struct mutant *mutant = &mutants[i];
        coll_report report;
        CHECK_STATUS(prove(mutant_make(mutant, false), mutant, &report), COLL_OK);
        check_finding(&report, mutant->finding, mutant->name, mutant->p);
        check_sentence(&report, mutant->sentence, mutant->name);
    }
}

/* What a mutant was made from is proven, so that it is the edit that is rejected. */
TEST(their_originals_are_proven)
{
    size_t proven = 0;
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        struct mutant *mutant = &mutants[i];
        coll_report report;
        const coll_status status = prove(mutant_make(mutant, true), mutant, &report);
        if (status == COLL_OK) {
            check_finding(&report, COLL_PROVEN, mutant->name, mutant->p);
            proven++;
        } else { /* the mutant claims to do what the original refuses */
            CHECK(status == COLL_ERR_ORDER || status == COLL_ERR_COLLECTIVE);
        }
    }
    CHECK_EQ(proven, sizeof mutants / sizeof mutants[0] - 2);
}

/* A plan whose tables are wrong in the way that the test wants. */
static const coll_plan *contradicting(void *arg, uint32_t rank)
{
    static const size_t counts[2][2] = {{1, 1}, {2, 1}}, displs[2] = {0, 2};
    coll_plan *plan = (coll_plan *)arg + rank;
    plan->problem.in.counts = plan->problem.out.counts = counts[rank];
    plan->problem.in.displs = plan->problem.out.displs = displs;
    return plan;
}

/* A program is proven, or rejected, as it says. The plans must stay as long as the verifier. */
static void check_program(struct program *program, coll_plan plans[2], coll_verifier *verifier)
{
    coll_verify_options options;
    coll_problem problem;
    coll_report report;
    memset(&options, 0, sizeof options);
    options.verifier = verifier;
    coll_problem_init(&problem, program->collective, program->p, program->count, 8);
    problem.flags = program->flags;
    if (program->ppn)
        coll_nodes_even(&problem.nodes, program->p, program->ppn);
    CHECK_STATUS(coll_plan_init(plans, program_make(program), &problem, NULL), COLL_OK);
    plans[1] = plans[0];
    if (program->collective == COLL_ALLTOALLV) {
        options.plan_of = contradicting;
        options.arg = plans;
    }
    coll_verify(plans, &options, &report);
    check_finding(&report, program->finding, program->name, program->p);
    check_sentence(&report, program->sentence, program->name);
}

TEST(programs_are_proven_or_rejected)
{
    coll_plan plans[2];
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        check_program(&programs[i], plans, NULL);
}

static void words_of(void *arg, const coll_grid_row *row)
{
    *(coll_grid_row *)arg = *row;
}

/* A case in words: all that it has, cut where there is no room. */
TEST(words_of_cases)
{
    static const coll_binding binding = {COLL_INTER, &coll_fnomial_reduce, NULL};
    static const char *const whole[] = {
        "reduce two_level p=12 root=3 count=13 nodes=4 intra=linear,slots=2 inter=fnomial,"
        "f=2,segment=0,order=0 non-commutative in-place",
        "gatherv linear p=12 root=3 count=13 layout=gaps (tables at the root alone) "
        "group=shuffled:15:7",
        "reduce two_level p=12 root=3 count=13 places=dealt:3:1 inter=fnomial commutative"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        coll_grid_case of;
        char text[256];
        memset(&of, 0, sizeof of);
        of.algorithm = &coll_two_level_reduce.algorithm;
        of.collective = COLL_REDUCE;
        of.p = 12;
        of.root = 3;
        of.count = 13;
        if (i == 0) {
            of.nodes = 4;
            of.flags = COLL_FLAG_IN_PLACE;
            of.play[COLL_INTRA].algorithm = &coll_linear_reduce;
            of.play[COLL_INTRA].param[0] = 2;
            of.play[COLL_INTER].algorithm = &coll_fnomial_reduce;
            of.play[COLL_INTER].param[0] = 2;
        } else if (i == 1) {
            of.algorithm = &coll_linear_gather;
            of.collective = COLL_GATHERV;
            of.layout = COLL_GRID_GAPS;
            of.root_only = true;
            of.group.kind = COLL_GRID_SHUFFLED;
            of.group.outer = 15;
            of.group.which = 7;
        } else {
            of.flags = COLL_FLAG_COMMUTATIVE;
            of.places.kind = COLL_GRID_DEALT;
            of.places.nodes = 3;
            of.places.which = 1;
            of.bindings = &binding;
            of.n_bindings = 1;
        }
        coll_grid_case_words(&of, text, sizeof text);
        if (!CHECK(strcmp(text, whole[i]) == 0))
            printf("    %s\n", text);
        for (size_t room = 1; room <= strlen(whole[i]); room++) {
            memset(text, 'x', sizeof text);
            coll_grid_case_words(&of, text, room);
            CHECK(strlen(text) == room - 1 && strncmp(text, whole[i], room - 1) == 0);
            CHECK(text[room] == 'x');
        }
    }
}

/* Counts units, of one row. */
struct told {
    size_t units, done;
    uint64_t plans;
    uint32_t p_most;
};

static void hear(void *arg, const coll_grid_progress *progress)
{
    struct told *told = (struct told *)arg;
    told->done++;
    CHECK_EQ(progress->done, told->done);
    CHECK(progress->plans >= told->plans);
    told->units = progress->units;
    told->plans = progress->plans;
    told->p_most = progress->p > told->p_most ? progress->p : told->p_most;
    CHECK(progress->row->algorithm == &coll_ring_allgather);
}

TEST(progress_is_told)
{
    const coll_algorithm *const algorithm = &coll_ring_allgather;
    coll_grid_options options;
    coll_grid_result result;
    struct told told = {0, 0, 0, 0};
    coll_grid_options_init(&options, &algorithm, 1);
    options.collectives = COLL_BIT(COLL_ALLGATHER);
    options.p_least = 3;
    options.p_most = 9;
    options.random = 2;
    options.random_most = 20;
    options.progress = hear;
    options.arg = &told;
    CHECK(coll_verify_grid(&options, &result));
    CHECK_EQ(told.units, 7 + 2 + 1); /* of a p each, two larger ones, and the record's */
    CHECK_EQ(told.done, told.units);
    CHECK_EQ(told.plans, result.plans);
    CHECK_EQ(told.p_most, 20);
}

/* A mistake at one point of the grid is found, and its reproduction names that point. */
TEST(the_grid_finds_mutants)
{
    for (size_t i = 0; i < sizeof grid_mutants / sizeof grid_mutants[0]; i++) {
        struct mutant *mutant = &grid_mutants[i].of;
        const coll_algorithm *const algorithm = mutant_make(mutant, false);
        for (uint32_t workers = 1; workers <= 2; workers++) {
            coll_grid_options options;
            coll_grid_result result;
            coll_grid_row row;
            coll_grid_options_init(&options, &algorithm, 1);
            options.collectives = COLL_BIT(mutant->collective);
            options.p_most = 7;
            options.random = 0;
            options.workers = workers;
            options.row = words_of;
            options.arg = &row;
            CHECK(!coll_verify_grid(&options, &result));
            CHECK_EQ(result.failed_rows, 1);
            check_finding(&result.failure.report, mutant->finding, mutant->name, 7);
            if (!CHECK(strstr(result.failure.reproduction, grid_mutants[i].words) != NULL))
                printf("    %s\n", result.failure.reproduction);
            CHECK(strcmp(row.reproduction, result.failure.reproduction) == 0);
        }
        mutant_make(mutant, true);
        {
            coll_grid_options options;
            coll_grid_result result;
            coll_grid_options_init(&options, &algorithm, 1);
            options.collectives = COLL_BIT(mutant->collective);
            options.p_most = 7;
            options.random = 0;
            CHECK(coll_verify_grid(&options, &result));
            CHECK(result.plans > 0);
        }
    }
}

/* Of blocks that come out of SHARED in one copy, the last may be the rank's own: in place it is
 * there, whether or not it is copied. */
static bool gets_its_own(const coll_grid_case *of, const coll_action *a, enum spoiling how)
{
    return of->collective == COLL_ALLGATHER && (of->flags & COLL_FLAG_IN_PLACE) &&
           a->kind == COLL_DO_COPY && coll_ref_space(a->src) == COLL_SHARED && how == SHORTENED;
}

/* Spoils each action of a plan in turn; every time the verifier must find something. */
static void spoil_all(coll_grid_worker *worker, const coll_grid_case *of, uint64_t *spoilt)
{
    struct spoiled spoiled;
    coll_grid_case one = *of;
    coll_report report;
    size_t steps;
    memset(&spoiled, 0, sizeof spoiled);
    one.algorithm = &spoiled.composite.algorithm;
    if (of->algorithm->traits & COLL_NEEDS_BUILD)
        spoiled.composite = *coll_composite_of(of->algorithm);
    spoiled.composite.algorithm = *of->algorithm;
    spoiled.base = of->algorithm;
    spoiled.composite.algorithm.step = spoiled_step;
    for (spoiled.rank = 0; spoiled.rank < of->p; spoiled.rank++) {
        if (coll_i_grid_plans(worker, of) != COLL_OK)
            return;
        steps = coll_plan_steps(coll_i_grid_plan_of(worker, spoiled.rank), spoiled.rank);
        for (spoiled.s = 0; spoiled.s < steps; spoiled.s++) {
            coll_action acts[COLL_STEP_MAX];
            unsigned n;
            CHECK_STATUS(coll_i_grid_plans(worker, of), COLL_OK);
            n = coll_plan_step(coll_i_grid_plan_of(worker, spoiled.rank), spoiled.rank,
                               spoiled.s, acts);
            for (spoiled.i = 0; spoiled.i < n; spoiled.i++)
                for (int how = 0; how < SPOILINGS; how++) {
                    spoiled.how = (enum spoiling)how;
                    if (!spoils(&acts[spoiled.i], spoiled.how, of->algorithm->traits) ||
                        gets_its_own(of, &acts[spoiled.i], spoiled.how))
                        continue;
                    CHECK_STATUS(coll_grid_prove(worker, &one, &report), COLL_OK);
                    (*spoilt)++;
                    if (!CHECK(!report.ok)) {
                        char words[200];
                        coll_grid_case_words(of, words, sizeof words);
                        printf("    %s: rank %u step %zu action %u kind %u spoiled by %d\n",
                               words, spoiled.rank, spoiled.s, spoiled.i, acts[spoiled.i].kind,
                               how);
                    }
                }
        }
    }
}

/* No action of any algorithm can be left out, shifted by an element or shortened. */
TEST(spoiled_algorithms_are_rejected)
{
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_case of;
            uint64_t spoilt = 0;
            coll_grid_case_init(&of, coll_registry[i], (coll_collective)c,
                                coll_registry[i]->traits & COLL_NEEDS_POWER_OF_TWO ? 8 : 6);
            if (!coll_is(of.algorithm->collectives, of.collective))
                continue;
            of.root = coll_is(COLL_ROOTED, of.collective) ? 2 : 0;
            of.nodes = of.algorithm->traits & COLL_USES_NODES ? 4 : 0;
            for (uint32_t k = 0; k < of.algorithm->n_params; k++)
                of.param[k] = of.algorithm->params[k].grid[0];
            coll_i_grid_shape(&of, 1);
            if (!coll_i_grid_has_layouts(of.collective) && of.count > 0)
                of.count = 7;
            for (uint32_t flags = 0; coll_i_grid_flags(&of, flags); flags++)
                spoil_all(&worker, &of, &spoilt);
            CHECK(spoilt > 0);
        }
    coll_grid_worker_release(&worker);
}

/* ---- leaders that are not spread over rails ---------------------------------------------- */

/* The same algorithms, which do not look at rails. */
static coll_status dpml_without_rails(coll_plan *plan, coll_workspace *workspace)
{
    workspace->nodes.beyond = NULL;
    return coll_dpml_allreduce.build(plan, workspace);
}

static coll_status reduce_without_rails(coll_plan *plan, coll_workspace *workspace)
{
    workspace->nodes.beyond = NULL;
    return coll_multi_leader_reduce.build(plan, workspace);
}

static coll_status allgather_without_rails(coll_plan *plan, coll_workspace *workspace)
{
    workspace->nodes.beyond = NULL;
    return coll_multi_leader_allgather.build(plan, workspace);
}

TEST(leaders_on_one_rail_are_rejected)
{
    static const struct {
        const coll_composite *base;
        coll_status (*build)(coll_plan *plan, coll_workspace *workspace);
        coll_collective collective;
    } rows[] = {{&coll_dpml_allreduce, dpml_without_rails, COLL_ALLREDUCE},
                {&coll_multi_leader_reduce, reduce_without_rails, COLL_REDUCE},
                {&coll_multi_leader_allgather, allgather_without_rails, COLL_ALLGATHER}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned spoiled = 0; spoiled < 2; spoiled++) {
            coll_composite composite = *rows[i].base;
            const coll_algorithm *algorithm = &composite.algorithm;
            coll_grid_options options;
            coll_grid_result result;
            if (spoiled)
                composite.build = rows[i].build;
            coll_grid_options_init(&options, &algorithm, 1);
            options.collectives = COLL_BIT(rows[i].collective);
            options.p_least = options.p_most = 12;
            options.random = 0;
            CHECK_EQ(coll_verify_grid(&options, &result), !spoiled);
            if (!spoiled)
                continue;
            check_finding(&result.failure.report, COLL_FOUND_RAIL, "without rails", 12);
            if (!CHECK(strstr(result.failure.reproduction, " rails=") != NULL))
                printf("    %s: %s\n", result.failure.reproduction,
                       result.failure.report.sentence);
        }
}

/* So are NIC programs that are wrong in one way; without that, they are proven. */
TEST(nic_mutants_are_rejected)
{
    for (size_t i = 0; i < sizeof nic_mutants / sizeof nic_mutants[0]; i++) {
        const struct nic_mutant *mutant = &nic_mutants[i];
        coll_report report;
        CHECK_STATUS(nic_prove(mutant, true, &report), COLL_OK);
        check_finding(&report, COLL_PROVEN, mutant->name, mutant->p);
        CHECK_STATUS(nic_prove(mutant, false, &report), COLL_OK);
        check_finding(&report, mutant->finding, mutant->name, mutant->p);
    }
}

/* Every check has a mutant: all findings were seen but the lack of memory, and those of crashes, whose
 * mutants are engines and transports (crash.c). */
TEST(every_finding_was_seen)
{
    for (int finding = 0; finding < COLL_FINDINGS; finding++) {
        const bool expected =
            finding != COLL_FOUND_NO_MEMORY &&
            (finding < COLL_FOUND_CRASH_HANG || finding > COLL_FOUND_CRASH_LEFTOVER);
        if (!CHECK_EQ(seen[finding], expected))
            printf("    %s\n", coll_finding_name((coll_finding)finding));
        CHECK(strlen(coll_finding_text((coll_finding)finding)) > 3);
    }
}

/* Does the row need the window, or the sends in flight, that it asks for with more ranks than are
 * tried? */
static bool needs_more_ranks(const coll_grid_row *row)
{
    const char *name = row->algorithm->name; /* a file has records of its own */
    return CHECK_SHARE > 1 || strcmp(name, "locality_bruck") == 0 ||
           (strcmp(name, "double_tree") == 0 && row->collective != COLL_BCAST) ||
           (strcmp(name, "shm") == 0 && row->collective == COLL_ALLTOALL);
}

static void check_row(void *arg, const coll_grid_row *row)
{
    size_t *rows = (size_t *)arg;
    (*rows)++;
    CHECK(row->report.ok);
    if (!row->report.ok)
        printf("    %s\n    %s\n", row->reproduction, row->report.sentence);
    CHECK(row->plans > 0);
    if (!(row->algorithm->traits & COLL_NEEDS_BUILD) && /* whose plans say it */
        !CHECK(needs_more_ranks(row) ? row->window <= row->algorithm->window
                                     : row->window == row->algorithm->window))
        printf("    %s %s: %u slots suffice\n", coll_collective_name(row->collective),
               row->algorithm->name, row->window);
    if (!(row->algorithm->traits & COLL_NEEDS_BUILD) &&
        !CHECK(needs_more_ranks(row) ? row->sends <= row->algorithm->sends
                                     : row->sends == row->algorithm->sends))
        printf("    %s %s: %u sends in flight suffice\n", coll_collective_name(row->collective),
               row->algorithm->name, row->sends);
    CHECK(row->p_most > 9);
}

/* The everyday run of `coll verify` goes to 64 and beyond; this one is a part of it. */
TEST(the_registry_is_proven)
{
    coll_grid_options options;
    coll_grid_result result;
    size_t rows = 0;
    coll_grid_options_init(&options, coll_registry, COLL_REGISTRY_COUNT);
    options.p_most = CHECK_SHARE == 1 ? 9 : 4;
    options.random = 2;
    options.random_most = CHECK_SHARE == 1 ? 40 : 16;
    options.row = check_row;
    options.arg = &rows;
    options.workers = 2;
    CHECK(coll_verify_grid(&options, &result));
    CHECK_EQ(rows, result.rows);
    CHECK_EQ(result.failed_rows, 0);
    CHECK(result.plans > 1000);
}

/* No window is larger than what some plan needs. */
TEST(windows_that_many_ranks_need)
{
    const coll_algorithm *const algorithms[] = {&coll_double_tree_allreduce,
                                                &coll_shm_alltoall};
    /* Thousands of plans for one number, from paths that other tests take: not under a sanitizer. */
    for (int i = 0; i < 2 && CHECK_SHARE == 1; i++) {
        coll_grid_options options;
        coll_grid_result result;
        coll_grid_row row;
        coll_grid_options_init(&options, &algorithms[i], 1);
        options.p_least = options.p_most = 20;
        options.random = 0;
        options.work = UINT64_MAX; /* the plan that needs it may be one of many */
        options.row = words_of;
        options.arg = &row;
        CHECK(coll_verify_grid(&options, &result));
        CHECK_EQ(row.window, row.algorithm->window);
    }
    { /* one plan of as many ranks as may be, if the operator does not commute */
        coll_grid_worker worker;
        coll_grid_case of;
        coll_report report;
        coll_grid_case_init(&of, &coll_double_tree_reduce, COLL_REDUCE,
                            CHECK_SHARE == 1 ? 4096 : 512);
        of.root = of.p / 2 + 1;
        of.count = 200;
        of.param[0] = 1;
        coll_grid_worker_init(&worker);
        CHECK_STATUS(coll_grid_prove(&worker, &of, &report), COLL_OK);
        CHECK(report.ok);
        CHECK(CHECK_SHARE > 1 || report.window == of.algorithm->window);
        CHECK(CHECK_SHARE > 1 || report.sends == of.algorithm->sends);
        of.p = 4097;
        CHECK_STATUS(coll_grid_prove(&worker, &of, &report), COLL_ERR_SHAPE);
        coll_grid_worker_release(&worker);
    }
}

/* Every collective is solved by something that was proven. */
TEST(every_collective_has_an_algorithm)
{
    for (int c = 0; c < COLL_COLLECTIVES; c++) {
        size_t n = 0;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            n += coll_is(coll_registry[i]->collectives, (coll_collective)c);
        CHECK(n > 0);
    }
}

/* What is measured is what can be counted by hand. */
TEST(facts)
{
    coll_problem problem;
    coll_plan plan;
    coll_report report;
    coll_verifier verifier;
    coll_verify_options options;
    memset(&options, 0, sizeof options);
    coll_verifier_init(&verifier);
    options.verifier = &verifier;

    coll_problem_init(&problem, COLL_ALLGATHER, 5, 3, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_PROVEN);
    CHECK_EQ(report.messages, 20);
    CHECK_EQ(report.bytes, 20 * 3 * 8);
    CHECK_EQ(report.rounds, 4);
    CHECK_EQ(report.window, 2);
    CHECK_EQ(report.total.actions, 5 * 9);
    CHECK_EQ(report.total.copied, 5 * 3);
    CHECK_EQ(report.most.messages, 4);
    CHECK_EQ(report.most.scratch, 0);
    for (uint32_t rank = 0; rank < 5; rank++)
        CHECK_EQ(report.ranks[rank].elements, 4 * 3);

    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 8, 4);
    problem.flags = COLL_FLAG_COMMUTATIVE | COLL_FLAG_IN_PLACE;
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_PROVEN);
    CHECK_EQ(report.messages, 24);
    CHECK_EQ(report.bytes, 24 * 2 * 4);
    CHECK_EQ(report.rounds, 6);
    CHECK_EQ(report.total.reduced, 3 * 8);
    CHECK(report.most.scratch > 0 && report.most.scratch <= coll_plan_scratch(&plan, 0));

    coll_problem_init(&problem, COLL_BCAST, 8, 2, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_fnomial_bcast, &problem, NULL), COLL_OK);
    options.skip = COLL_VERIFY_NO_WINDOW;
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_PROVEN);
    CHECK_EQ(report.messages, 7);
    CHECK_EQ(report.rounds, 3);
    CHECK_EQ(report.window, 0);
    CHECK_EQ(report.most.messages, 3);
    coll_verifier_release(&verifier);

    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_PROVEN);
    CHECK(report.ranks == NULL);
    CHECK_EQ(report.window, 1);
}

/* An algorithm that fixes the order must do so over all plans of one workspace. */
TEST(order_is_fixed_over_plans)
{
    static struct mutant mutant = {.base = &coll_fnomial_reduce,
                                   .collective = COLL_REDUCE,
                                   .claims = COLL_GIVES_REPRODUCIBLE};
    coll_problem problem;
    coll_plan plan;
    coll_report report;
    coll_verifier verifier;
    coll_verify_options options;
    memset(&options, 0, sizeof options);
    coll_verifier_init(&verifier);
    options.verifier = &verifier;
    coll_problem_init(&problem, COLL_REDUCE, 5, 2, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, mutant_make(&mutant, false), &problem, NULL), COLL_OK);
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_PROVEN);
    plan.problem.root = 2;
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_FOUND_STRUCTURE);
    coll_verifier_forget(&verifier);
    CHECK_EQ(coll_verify(&plan, &options, &report), COLL_PROVEN);
    coll_verifier_release(&verifier);
}

/* What coll_plan_init would have refused on another rank than the root. */
TEST(counts_that_overflow)
{
    static const size_t counts[2] = {1, SIZE_MAX - 1}, displs[2] = {0, 2};
    coll_problem problem;
    coll_plan plan;
    coll_report report;
    coll_problem_init(&problem, COLL_ALLGATHERV, 2, 1, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    plan.problem.out.counts = counts;
    plan.problem.out.displs = displs;
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_FOUND_PLAN);
}

static const coll_plan *plan_in_array(void *arg, uint32_t rank)
{
    return (const coll_plan *)arg + rank;
}

/* ---- groups and places ------------------------------------------------------------------- */

/* A plan's ranks meet under those of its group, which must be different, and known to it. */
TEST(placed_plans)
{
    static const uint32_t table[3] = {5, 0, 3}, twice[3] = {5, 0, 5};
    static const uint32_t inverse[6] = {1, COLL_RANK_NONE, COLL_RANK_NONE,
                                        2, COLL_RANK_NONE, 0},
                          swapped[6] = {2, COLL_RANK_NONE, COLL_RANK_NONE,
                                        1, COLL_RANK_NONE, 0};
    coll_problem problem;
    coll_plan plan;
    coll_report report;
    coll_group group;
    coll_problem_init(&problem, COLL_ALLGATHER, 3, 2, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    coll_group_affine(&group, UINT32_MAX - 7, 3);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_PROVEN);
    coll_group_table(&group, table, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_PROVEN);
    coll_group_table(&group, table, inverse);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_PROVEN);
    coll_group_table(&group, table, swapped);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_FOUND_PLAN);
    CHECK(strcmp(report.sentence, "rank 1, at the end: its rank outside is 0, and the group "
                                  "knows that as another") == 0);
    coll_group_table(&group, twice, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_FOUND_PLAN);
    CHECK(strcmp(report.sentence, "rank 2, at the end: its rank outside, 5, is that of rank 0, "
                                  "too") == 0);
}

enum { PLACED = 7 };

/* What is found in a plan of a problem that is asked by other ranks, those of a group. */
static coll_finding prove_asked(const coll_algorithm *algorithm, const coll_problem *asked,
                                const coll_problem *placed, const coll_group *group,
                                const uint32_t *node)
{
    coll_verify_options options;
    coll_report report;
    coll_plan plan;
    memset(&options, 0, sizeof options);
    options.asked = asked;
    options.node = node;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, placed, NULL), COLL_OK);
    CHECK_STATUS(coll_plan_place(&plan, group), COLL_OK);
    coll_verify(&plan, &options, &report);
    return report.finding;
}

/* Plans for places are proven by what the ranks ask for: their roots, blocks, operands, and the memory
 * of their nodes. */
TEST(places_are_proven_by_rank)
{
    static const uint32_t node[PLACED] = {0, 1, 1, 0, 1, 0, 1},
                          wrong[PLACED] = {0, 1, 1, 1, 1, 0, 1};
    uint32_t tables[4 * PLACED + 1];
    coll_rank_order places;
    coll_problem asked, placed;
    coll_group group, back;
    coll_rank_order_of(&places, node, PLACED, tables);
    coll_group_places(&group, &places);
    coll_group_table(&back, places.place, places.rank);

    coll_problem_init(&asked, COLL_BCAST, PLACED, 5, 8);
    asked.root = 5;
    placed = asked;
    CHECK(coll_problem_place(&placed, &places));
    CHECK_EQ(prove_asked(&coll_fnomial_bcast, &asked, &placed, &group, node), COLL_PROVEN);
    CHECK_EQ(prove_asked(&coll_mixed_bcast, &asked, &placed, &group, node), COLL_PROVEN);
    CHECK_EQ(prove_asked(&coll_mixed_bcast, &asked, &placed, &group, NULL), COLL_PROVEN);
    CHECK_EQ(prove_asked(&coll_mixed_bcast, &asked, &placed, &group, wrong), COLL_FOUND_RACE);
    CHECK_EQ(prove_asked(&coll_fnomial_bcast, &asked, &placed, &back, node),
             COLL_FOUND_OUTSIDE);
    placed.root = asked.root;
    CHECK_EQ(prove_asked(&coll_fnomial_bcast, &asked, &placed, &group, node),
             COLL_FOUND_OUTSIDE);

    coll_problem_init(&asked, COLL_REDUCE, PLACED, 5, 8);
    asked.root = 4;
    asked.flags = COLL_FLAG_COMMUTATIVE;
    placed = asked;
    CHECK(coll_problem_place(&placed, &places));
    CHECK_EQ(prove_asked(&coll_fnomial_reduce, &asked, &placed, &group, node), COLL_PROVEN);
    asked.flags = placed.flags = 0;
    CHECK_EQ(prove_asked(&coll_fnomial_reduce, &asked, &placed, &group, node),
             COLL_FOUND_ORDER);

    coll_problem_init(&asked, COLL_ALLGATHER, PLACED, 5, 8);
    placed = asked;
    CHECK_EQ(prove_asked(&coll_ring_allgather, &asked, &placed, &group, node),
             COLL_FOUND_WRONG);
    coll_problem_init(&asked, COLL_ALLTOALL, PLACED, 5, 8);
    placed = asked;
    CHECK_EQ(prove_asked(&coll_ring_alltoall, &asked, &placed, &group, node), COLL_FOUND_WRONG);
    coll_problem_init(&asked, COLL_BARRIER, PLACED, 0, 8);
    placed = asked;
    CHECK_EQ(prove_asked(&coll_dissemination_barrier, &asked, &placed, &group, node),
             COLL_PROVEN);
    coll_group_affine(&group, 1, 1);
    CHECK_EQ(prove_asked(&coll_dissemination_barrier, &asked, &placed, &group, node),
             COLL_FOUND_PLAN);
}

/* The choices of p ranks out of so many are numbered, and each is another one. */
TEST(groups_by_number)
{
    coll_i_groups groups;
    memset(&groups, 0, sizeof groups);
    CHECK_EQ(coll_i_choices(100, 98), 4950);
    CHECK_EQ(coll_i_choices(100, 2), 4950);
    CHECK_EQ(coll_i_choices(100, 50), UINT32_MAX);
    for (uint32_t outer = 1; outer <= 8; outer++)
        for (uint32_t p = 1; p <= outer; p++) {
            bool there[256] = {false};
            coll_grid_group of = {COLL_GRID_MISSING, outer, 0};
            uint32_t n = 0;
            for (; coll_i_groups_make(&groups, &of, p) == COLL_OK; of.which++) {
                unsigned members = 0;
                CHECK(coll_group_ascends(&groups.group, p, outer));
                CHECK_EQ(groups.group.inverse != NULL, of.which & 1);
                for (uint32_t rank = 0; rank < p; rank++)
                    members |= 1u << coll_group_outer(&groups.group, rank);
                n += !there[members];
                there[members] = true;
            }
            CHECK_EQ(n, of.which);
            CHECK_EQ(n, coll_i_choices(outer, p));
            of.kind = COLL_GRID_AFFINE;
            for (of.which = 0; coll_i_groups_make(&groups, &of, p) == COLL_OK; of.which++)
                CHECK(coll_group_ascends(&groups.group, p, outer));
            CHECK_EQ(of.which, outer - p + 1);
        }
    for (uint32_t p = 2; p <= 100; p += 7)
        for (uint32_t which = 0; which < 20; which++) {
            coll_grid_group of = {COLL_GRID_SHUFFLED, p + which, which};
            CHECK_STATUS(coll_i_groups_make(&groups, &of, p), COLL_OK);
            CHECK_STATUS(coll_group_check(&groups.group, p, p + which), COLL_OK);
            CHECK(!coll_group_ascends(&groups.group, p, p + which));
            of.kind = COLL_GRID_MISSING;
            of.outer = 2 * p + 40; /* too many choices to number them */
            CHECK_STATUS(coll_i_groups_make(&groups, &of, p), COLL_OK);
            CHECK(coll_group_ascends(&groups.group, p, of.outer));
            of.outer = p - 1;
            CHECK_STATUS(coll_i_groups_make(&groups, &of, p), COLL_ERR_GROUP);
        }
    coll_i_groups_release(&groups);
}

/* Ranks 0 and 1, whose lists or tables do not agree. */
TEST(neighbors_that_disagree)
{
    static const uint32_t zero[2] = {0, 0}, one[2] = {1, 1};
    static const size_t counts[2] = {2, 3}, displs[1] = {0};
    static const struct {
        coll_neighbors lists[2];
        size_t count[2]; /* index of the count at the sender, at the receiver */
        coll_finding finding;
        const char *sentence;
    } cases[] = {{{{0, NULL, 1, one}, {1, zero, 0, NULL}}, {0, 0}, COLL_PROVEN, "proven"},
                 {{{0, NULL, 2, one}, {1, zero, 0, NULL}},
                  {0, 0},
                  COLL_FOUND_PLAN,
                  "rank 0, at the end: the ranks have 1 sources and 2 destinations"},
                 {{{0, NULL, 0, NULL}, {1, zero, 0, NULL}},
                  {0, 0},
                  COLL_FOUND_PLAN,
                  "rank 1, at the end: source 0 of this rank is rank 0, of which it is not the "
                  "destination"},
                 {{{0, NULL, 1, one}, {1, zero, 0, NULL}},
                  {0, 1},
                  COLL_FOUND_PLAN,
                  "rank 1, at the end: this rank has a block of 3 elements from rank 0, which "
                  "has one of 2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t order[2][2];
        coll_graph graphs[2];
        coll_plan plans[2];
        coll_verify_options options;
        coll_report report;
        memset(&options, 0, sizeof options);
        options.plan_of = plan_in_array;
        options.arg = plans;
        for (uint32_t rank = 0; rank < 2; rank++) {
            static const size_t twice[2][2] = {{2, 2}, {3, 3}}, places[2] = {0, 3};
            coll_problem problem;
            CHECK_STATUS(
                coll_graph_lists(&graphs[rank], &cases[i].lists[rank], rank, 2, order[rank]),
                COLL_OK);
            coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALLV, 2, 0, 8);
            problem.graph = &graphs[rank];
            problem.in.counts = twice[cases[i].count[0]];
            problem.in.displs = places;
            problem.out.counts = &counts[cases[i].count[1]];
            problem.out.displs = displs;
            CHECK_STATUS(coll_plan_init(&plans[rank], &coll_linear_neighbor, &problem, NULL),
                         COLL_OK);
        }
        coll_verify(NULL, &options, &report);
        CHECK_EQ(report.finding, cases[i].finding);
        check_sentence(&report, cases[i].sentence, "neighbours");
    }
}

/* What was left of a rank in an earlier proof, of more ranks, is none of this one. */
TEST(ranks_of_before)
{
    static const char *const names[] = {"one waits before it comes to the network",
                                        "one does not come to the network"};
    coll_plan plans[2][2];
    coll_verifier verifier;
    coll_verifier_init(&verifier);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            if (strcmp(programs[i].name, names[k]) == 0)
                check_program(&programs[i], plans[k], &verifier);
    coll_verifier_release(&verifier);
}

/* Proves a row of up to 8 ranks and some larger plans. */
static bool prove_row(const coll_algorithm *algorithm, coll_collective collective,
                      coll_grid_row *row)
{
    coll_grid_options options;
    coll_grid_result result;
    coll_grid_options_init(&options, &algorithm, 1);
    options.collectives = COLL_BIT(collective);
    options.p_most = 8;
    options.random_most = 100;
    options.row = words_of;
    options.arg = row;
    return coll_verify_grid(&options, &result);
}

/* A restriction that nothing needs is found: without it, every plan is right. */
TEST(needless_restrictions)
{
    static const uint32_t traits[] = {COLL_NEEDS_COMMUTATIVE,     COLL_NEEDS_POWER_OF_TWO,
                                      COLL_NEEDS_OUT_OF_PLACE,    COLL_NEEDS_SHARED,
                                      COLL_NEEDS_MULTICAST,       COLL_NEEDS_NETWORK_REDUCE,
                                      COLL_NEEDS_NETWORK_BARRIER, COLL_USES_PADDING};
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++) {
        struct mutant mutant = {.base = &coll_fnomial_reduce, .collective = COLL_REDUCE};
        coll_grid_row row;
        mutant.claims = traits[i];
        CHECK(!prove_row(mutant_make(&mutant, false), COLL_REDUCE, &row));
        check_finding(&row.report, COLL_FOUND_TRAIT, "needless", 2);
        CHECK(strstr(row.report.sentence, "but every plan without it is proven") != NULL);
    }
}

/* A record, without its plans, must be found to be wrong, in these words. */
static void check_record(const coll_algorithm *algorithm, coll_collective collective,
                         const char *words)
{
    coll_grid_options options;
    coll_grid_worker worker;
    coll_grid_row row;
    coll_grid_options_init(&options, &algorithm, 1);
    coll_grid_worker_init(&worker);
    memset(&row, 0, sizeof row);
    row.algorithm = algorithm;
    row.collective = collective;
    row.report.ok = true;
    CHECK(!coll_i_grid_record(&worker, &options, &row));
    CHECK_EQ(row.report.finding, COLL_FOUND_TRAIT);
    if (!CHECK(strstr(row.report.sentence, words) != NULL))
        printf("    %s\n", row.report.sentence);
    coll_grid_worker_release(&worker);
}

/* The same of restrictions that a plan would have to respect first. */
TEST(needless_restrictions_of_records)
{
    static const uint32_t traits[] = {COLL_NEEDS_FULL_ROWS, COLL_NEEDS_LINE, COLL_NEEDS_PACKED,
                                      COLL_NEEDS_COUNTS};
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++) {
        struct mutant mutant = {.base = &coll_linear_scatter, .collective = COLL_SCATTERV};
        mutant.claims = traits[i];
        check_record(mutant_make(&mutant, false), COLL_SCATTERV,
                     "but every plan without it is proven");
    }
}

/* The nodes by which a refusal is expected are those that plans have. */
TEST(nodes_of_cases)
{
    static const uint32_t kinds[] = {0, 1, 2, 4, 7, COLL_GRID_NODES_UNEVEN};
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    for (uint32_t p = 1; p <= 40; p++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            coll_grid_case of;
            coll_problem problem;
            uint32_t largest;
            memset(&of, 0, sizeof of);
            of.p = p;
            of.nodes = kinds[i];
            coll_problem_init(&problem, COLL_BARRIER, p, 0, 8);
            CHECK(coll_i_grid_nodes(&worker, &of, &problem));
            CHECK_EQ(coll_i_case_nodes(&worker, &of, &largest),
                     coll_nodes_count(&problem.nodes));
            CHECK_EQ(largest, coll_nodes_largest(&problem.nodes, p));
        }
    coll_grid_worker_release(&worker);
}

/* … and where ranks are scattered: ten over three nodes, 4, 3, 3, and one alone beyond 2, 5, 4, 1. */
TEST(scattered_nodes_of_cases)
{
    static const struct {
        coll_grid_places places;
        uint32_t nodes, largest;
    } wanted[] = {{{COLL_GRID_DEALT, 3, 1}, 3, 4},
                  {{COLL_GRID_DEALT, 10, 0}, 10, 1},
                  {{COLL_GRID_ALONE, 2, 9}, 3, 5}};
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        coll_grid_case of;
        uint32_t largest;
        coll_grid_case_init(&of, &coll_two_level_reduce.algorithm, COLL_REDUCE, 10);
        of.count = 1;
        of.flags = COLL_FLAG_COMMUTATIVE; /* else the ranks stay where they are */
        of.places = wanted[i].places;
        CHECK_STATUS(coll_i_grid_plans(&worker, &of), COLL_OK);
        CHECK_EQ(coll_i_case_nodes(&worker, &of, &largest), wanted[i].nodes);
        CHECK_EQ(largest, wanted[i].largest);
    }
    coll_grid_worker_release(&worker);
}

/* For what may a composite plan of 12 ranks on nodes of 4 be refused, by what is used inside? */
TEST(refusals_of_what_is_used)
{
    static const uint32_t ordered = 0, any = COLL_FLAG_COMMUTATIVE;
    static struct mutant doubling = {.base = &coll_fnomial_reduce,
                                     .collective = COLL_REDUCE,
                                     .claims = COLL_NEEDS_POWER_OF_TWO};
    static const struct {
        coll_binding binding;
        uint32_t flags;
        coll_status refused; /* COLL_OK: for nothing */
    } cases[] = {
        {{COLL_INTRA, &coll_ring_allreduce, NULL}, any, COLL_OK},
        {{COLL_INTRA, &coll_ring_allreduce, NULL}, ordered, COLL_OK}, /* not its role */
        {{COLL_INTRA, &coll_circulant_reduce, NULL}, ordered, COLL_ERR_ORDER},
        {{COLL_INTER, &coll_ring_allreduce, NULL}, ordered, COLL_ERR_ORDER},
        {{COLL_INTRA, &coll_linear_reduce, NULL}, ordered, COLL_OK},
        {{COLL_INTER, &coll_shm_allreduce, NULL}, any, COLL_ERR_NODES},
        {{COLL_INTRA, &coll_shm_reduce, NULL}, any, COLL_OK},
        {{COLL_INTRA, &doubling.record, NULL}, any, COLL_ERR_SHAPE}, /* of 3, somewhere */
        {{COLL_INTER, &coll_in_network_allreduce, NULL}, any, COLL_ERR_GROUP},
        {{COLL_INTER, &coll_ring_allgather, NULL}, any, COLL_OK}};
    coll_grid_worker worker;
    coll_grid_worker_init(&worker);
    mutant_make(&doubling, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coll_grid_case of;
        uint64_t set;
        coll_grid_case_init(&of, &coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, 12);
        of.nodes = 4;
        of.flags = cases[i].flags;
        set = coll_i_grid_inside(&worker, &of, &cases[i].binding, 1) &
              ~coll_i_status_bit(COLL_ERR_COLLECTIVE);
        if (!CHECK_EQ((long long)set, cases[i].refused == COLL_OK
                                          ? 0
                                          : (long long)coll_i_status_bit(cases[i].refused)))
            printf("    case %zu\n", i);
    }
    coll_grid_worker_release(&worker);
}

/* … and for what it has to solve and they do not. */
TEST(refusals_of_what_is_not_solved)
{
    static const coll_binding bindings[] = {{COLL_INTRA, &coll_fnomial_reduce, NULL},
                                            {COLL_INTRA, &coll_fnomial_bcast, NULL},
                                            {COLL_INTRA, &coll_ring_allreduce, NULL}};
    static const coll_binding more[] = {{COLL_INTRA, &coll_fnomial_reduce, NULL},
                                        {COLL_INTRA, &coll_fnomial_bcast, NULL},
                                        {COLL_INTER, &coll_fnomial_bcast, NULL}};
    coll_grid_worker worker;
    coll_grid_case of;
    coll_grid_worker_init(&worker);
    coll_grid_case_init(&of, &coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, 12);
    of.nodes = 4;
    CHECK_EQ((long long)coll_i_grid_inside(&worker, &of, more, 2), 0);
    for (uint32_t first = 0; first < 3; first++)
        for (uint32_t n = 1; n <= 3 - first; n++)
            CHECK_EQ((long long)coll_i_grid_inside(&worker, &of, &bindings[first], n),
                     first == 0 && n >= 2 ? 0
                                          : (long long)coll_i_status_bit(COLL_ERR_COLLECTIVE));
    coll_grid_worker_release(&worker);
}

/* Checks that refuse, each in its way, what no trait forbids. */
static coll_status refuses_all(const coll_plan *plan)
{
    (void)plan;
    return COLL_ERR_PARAM;
}

static coll_status refuses_seven_ranks(const coll_plan *plan)
{
    return plan->problem.p == 7 ? COLL_ERR_SHAPE : COLL_OK;
}

static coll_status refuses_a_root(const coll_plan *plan)
{
    return plan->problem.p == 5 && plan->problem.root == 3 ? COLL_ERR_SHAPE : COLL_OK;
}

static coll_status refuses_in_place(const coll_plan *plan)
{
    return coll_in_place(plan) ? COLL_ERR_IN_PLACE : COLL_OK;
}

static coll_status refuses_operators(const coll_plan *plan)
{
    return plan->problem.flags & COLL_FLAG_COMMUTATIVE ? COLL_OK : COLL_ERR_ORDER;
}

static coll_status refuses_a_value(const coll_plan *plan)
{
    return plan->param[0] == 5 ? COLL_ERR_PARAM : COLL_OK;
}

static coll_status refuses_a_count(const coll_plan *plan)
{
    return plan->problem.count == 0 ? COLL_ERR_OVERFLOW : COLL_OK;
}

TEST(refusals_that_no_trait_explains)
{
    static coll_status (*const checks[])(const coll_plan *) = {
        refuses_all,       refuses_seven_ranks, refuses_a_root, refuses_in_place,
        refuses_operators, refuses_a_value,     refuses_a_count};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct mutant mutant = {.base = &coll_fnomial_reduce, .collective = COLL_REDUCE};
        coll_grid_row row;
        mutant_make(&mutant, false);
        mutant.record.check = checks[i];
        CHECK(!prove_row(&mutant.record, COLL_REDUCE, &row));
        check_finding(&row.report, COLL_FOUND_REFUSED, "refuses", 2);
        CHECK(strstr(row.report.sentence, "but no trait forbids this") != NULL);
    }
}

/* … and one that lets through a machine that the group does not fit. */
static coll_status refuses_nothing(const coll_plan *plan)
{
    (void)plan;
    return COLL_OK;
}

TEST(no_nodes_to_scatter_over)
{
    coll_grid_worker worker;
    coll_grid_places of = {COLL_GRID_DEALT, 0, 1};
    coll_grid_worker_init(&worker);
    CHECK(!coll_i_rank_order_make(&worker.groups, &of, 3));
    of.nodes = 2;
    CHECK(coll_i_rank_order_make(&worker.groups, &of, 3));
    coll_grid_worker_release(&worker);
}

TEST(groups_that_must_be_refused)
{
    struct mutant mutant = {.base = &coll_prefix_allgather, .collective = COLL_ALLGATHER};
    coll_grid_worker worker;
    coll_grid_case of;
    coll_report report;
    mutant.check = refuses_nothing;
    coll_grid_case_init(&of, mutant_make(&mutant, false), COLL_ALLGATHER, 3);
    of.count = 1;
    of.param[0] = 3;
    of.group.kind = COLL_GRID_AFFINE; /* ranks 1 to 3, of 3 */
    of.group.outer = 4;
    of.group.which = 1;
    coll_grid_worker_init(&worker);
    CHECK_STATUS(coll_grid_prove(&worker, &of, &report), COLL_OK);
    check_finding(&report, COLL_FOUND_TRAIT, "lets through", of.p);
    check_sentence(
        &report,
        "rank 0, at the end: coll_plan_place must say of this group: a group has no "
        "ranks, repeats one, reaches outside, is not in ascending order, or is not the "
        "whole transport",
        "lets through");
    coll_grid_worker_release(&worker);
}

/* A record whose default value, or one to be proven, is out of its range. */
TEST(values_out_of_range)
{
    struct mutant mutant = {.base = &coll_ring_allgather, .collective = COLL_ALLGATHER};
    static const coll_param params[] = {{"k", "", 2, 9, 1, {2, 3, 2, 2}},
                                        {"k", "", 2, 9, 2, {2, 10, 2, 2}}};
    static const char *const sentences[] = {
        "the record gives k the value 1, which is out of its range",
        "the record gives k the value 10, which is out of its range"};
    for (size_t i = 0; i < 2; i++) {
        coll_grid_row row;
        mutant_make(&mutant, false);
        mutant.record.n_params = 1;
        mutant.record.params = &params[i];
        CHECK(!prove_row(&mutant.record, COLL_ALLGATHER, &row));
        check_finding(&row.report, COLL_FOUND_REFUSED, "values", 2); /* its plans are */
        check_record(&mutant.record, COLL_ALLGATHER, sentences[i]);
    }
}

/* Every value of every axis comes in a sample as often as any other, and a walk through all
 * combinations has each once. */
TEST(walks)
{
    coll_grid_worker worker;
    coll_grid_axes axes;
    coll_grid_walk walk;
    coll_grid_case of;
    size_t seen_values[7] = {0};
    bool once[8 * 8 * 8 * 8] = {false};
    coll_grid_worker_init(&worker);
    coll_grid_case_init(&of, &coll_fnomial_reduce, COLL_REDUCE, 7);
    coll_i_axes_make(&axes, &worker, &of, 24);
    CHECK_EQ(axes.n[COLL_AXIS_ROOT], 7);
    coll_i_walk_init(&walk, &axes, COLL_AXES_OF_SETTING, COLL_AXES, 14);
    while (coll_i_walk_next(&walk, &axes, &worker, &of))
        seen_values[of.root]++;
    for (size_t root = 0; root < 7; root++)
        CHECK_EQ(seen_values[root], 2);
    coll_i_walk_init(&walk, &axes, COLL_AXES_OF_SETTING, COLL_AXES, UINT64_MAX);
    CHECK_EQ(walk.wanted, 7 * 6 * 4);
    while (coll_i_walk_next(&walk, &axes, &worker, &of)) {
        const size_t which = (of.root * 64 + of.count) * 4 + of.flags;
        CHECK(!once[which]);
        once[which] = true;
    }
    CHECK_EQ(walk.done, 7 * 6 * 4);
    coll_grid_worker_release(&worker);
}

/* The sentence of a finding, word by word. */
TEST(sentences)
{
    coll_report report;
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++)
        if (mutants[i].change == reduces_twice) {
            prove(mutant_make(&mutants[i], false), &mutants[i], &report);
            CHECK(strcmp(report.sentence,
                         "rank 0, at the end: OUT[3] has the contribution of rank 3 2 times: "
                         "it is element 3 reduced over ranks (1 (0 (4 (3 2 3))))") == 0);
            CHECK_EQ(report.step, COLL_NO_STEP);
        }
}

/* Of a sum of 64 operands in a row there is no room for the first ones, of 63 there is. */
TEST(sums_in_words)
{
    static const char *const words[] = {"(0 1 2 3 ", "(... 2 3 "};
    coll_i_structures structures;
    uint32_t sum = COLL_I_LEAF;
    memset(&structures, 0, sizeof structures);
    for (uint32_t rank = 1; rank < 64; rank++) {
        char text[96];
        sum = coll_i_structure_of(&structures, sum, COLL_I_LEAF + rank);
        coll_i_structure_words(&structures, sum, text, sizeof text);
        CHECK(rank < 4 || strncmp(text, words[rank == 63], 9) == 0);
    }
    coll_i_structures_release(&structures);
}

int main(void)
{
    RUN(mutants_are_rejected);
    RUN(their_originals_are_proven);
    RUN(programs_are_proven_or_rejected);
    RUN(words_of_cases);
    RUN(progress_is_told);
    RUN(the_grid_finds_mutants);
    RUN(spoiled_algorithms_are_rejected);
    RUN(needless_restrictions);
    RUN(needless_restrictions_of_records);
    RUN(nodes_of_cases);
    RUN(scattered_nodes_of_cases);
    RUN(refusals_of_what_is_used);
    RUN(refusals_of_what_is_not_solved);
    RUN(refusals_that_no_trait_explains);
    RUN(no_nodes_to_scatter_over);
    RUN(groups_that_must_be_refused);
    RUN(values_out_of_range);
    RUN(leaders_on_one_rail_are_rejected);
    RUN(nic_mutants_are_rejected);
    RUN(every_finding_was_seen);
    RUN(the_registry_is_proven);
    RUN(windows_that_many_ranks_need);
    RUN(every_collective_has_an_algorithm);
    RUN(facts);
    RUN(order_is_fixed_over_plans);
    RUN(counts_that_overflow);
    RUN(placed_plans);
    RUN(places_are_proven_by_rank);
    RUN(groups_by_number);
    RUN(neighbors_that_disagree);
    RUN(ranks_of_before);
    RUN(walks);
    RUN(sentences);
    RUN(sums_in_words);
    return check_done();
}
