/* A simulated machine is tuned: what is measured there is what the simulator says, so the best choice is known; and
 * what rules are made of cells whose times are made up. */
#include "coll/lab/tune/tuned_rules.h"
#include "coll/table.h"
#include "support/check.h"
#include "support/virtual.h"

static const coll_collective collectives[] = {COLL_BCAST, COLL_ALLREDUCE, COLL_ALLTOALL,
                                              COLL_BARRIER};
enum { COLLECTIVES = sizeof collectives / sizeof collectives[0], SIZES = 4 };

static coll_machine_file machine;

typedef struct outcome {
    coll_status status[VIRTUAL_RANKS];
    coll_tuner tuner;           /* rank 0's */
    coll_bench bench;           /* … and its bench */
    double within_ns, passes;   /* … asked for, and made */
    bool keeps_none, knows_all; /* no candidates; all passes from before */
} outcome;

static void known(void *arg, const coll_tuner_cell *cell, coll_candidate *one)
{
    (void)arg;
    (void)cell;
    for (unsigned i = 0; i < COLL_I_TUNER_ALL; i++)
        coll_candidate_pass(one, one->by_rules ? 100 : 200);
}

static void count(void *arg, const coll_tuner_cell *cell, const coll_candidate *one, double ns)
{
    (void)cell;
    CHECK(one->is.n > 0 && !one->fails);
    CHECK(ns > 0);
    ((outcome *)arg)->passes++;
}

static void program(uint32_t rank, const coll_transport *transport, void *ctx,
                    const coll_bench_clock *clock, void *arg)
{
    outcome *its = (outcome *)arg;
    const uint32_t p = ((virtual_rank *)ctx)->world->p;
    coll_bench bench;
    coll_tuner tuner;
    coll_bench_options options;
    coll_bench_options_init(&options);
    options.clock = *clock;
    options.within_ns = its->within_ns;
    options.largest = 1 << 18;
    its->status[rank] = coll_bench_init(&bench, transport, ctx, rank, p, 0, &options);
    if (its->status[rank] != COLL_OK)
        return;
    coll_tuner_init(&tuner, &bench, &machine, coll_registry, COLL_REGISTRY_COUNT);
    tuner.known = its->knows_all ? known : NULL;
    tuner.measured = count;
    tuner.arg = its;
    for (size_t c = 0; c < COLLECTIVES; c++)
        for (size_t bytes = 8, n = 0; n < SIZES; bytes *= 16, n++) {
            coll_problem problem;
            if (collectives[c] == COLL_BARRIER && n > 0)
                continue;
            coll_problem_init(&problem, collectives[c], p,
                              collectives[c] == COLL_BARRIER ? 0 : bytes / 8, 8);
            problem.flags = COLL_FLAG_COMMUTATIVE;
            CHECK_STATUS(coll_tuner_add(&tuner, &problem), COLL_OK);
        }
    its->status[rank] = coll_tuner_run(&tuner);
    coll_bench_free(&bench);
    if (rank == 0)
        its->tuner = tuner;
    else
        coll_tuner_free(&tuner);
}

static void tune(outcome *its, uint32_t p, double within_ns)
{
    const virtual_program tunes = {program, its};
    coll_cost_model model;
    machine.plogp = coll_plogp_ibm;
    for (uint32_t i = 0; i < machine.plogp.n; i++)
        machine.plogp.row[i].us[COLL_PLOGP_C] = machine.plogp.row[i].bytes * .001;
    coll_sim_plogp_init(&model, &machine.plogp);
    its->within_ns = within_ns;
    virtual_run(p, &model, NULL, NULL, tunes);
    for (uint32_t rank = 0; rank < p; rank++)
        CHECK_STATUS(its->status[rank], COLL_OK);
}

/* What wins was measured, and nothing that was measured is faster. */
static void check_cell(const coll_tuner_cell *cell)
{
    const uint32_t best = coll_tuner_best(cell);
    unsigned by_rules = 0;
    if (!CHECK(best < cell->n))
        return;
    CHECK(cell->considered >= cell->n);
    CHECK(cell->n <= COLL_TUNER_KEPT);
    for (uint32_t i = 0; i < cell->n; i++) {
        const coll_candidate *one = &cell->one[i];
        by_rules += one->by_rules;
        CHECK(!one->fails);
        CHECK(one->is.n >= COLL_I_TUNER_ALL);
        CHECK(one->is.median >= cell->one[best].is.median);
        CHECK(one->is.low <= one->is.median && one->is.median <= one->is.high);
    }
    CHECK_EQ(by_rules, 1);
}

TEST(the_best_is_found)
{
    for (uint32_t p = 2; p <= 5; p++) {
        static outcome its;
        memset(&its, 0, sizeof its);
        tune(&its, p, 60e9);
        CHECK_EQ(its.tuner.n, (COLLECTIVES - 1) * SIZES + 1);
        for (uint32_t i = 0; i < its.tuner.n; i++)
            check_cell(&its.tuner.cell[i]);
        CHECK(its.tuner.in_time);
        CHECK(its.tuner.left <= its.tuner.loss);
        CHECK(its.passes >= its.tuner.n * COLL_I_TUNER_ALL);
        coll_tuner_free(&its.tuner);
    }
}

/* Where there is no time, the predictions decide, and it says so. */
TEST(no_time)
{
    static outcome its;
    memset(&its, 0, sizeof its);
    tune(&its, 4, 1000);
    CHECK(!its.tuner.in_time);
    CHECK(its.passes <= 1);
    for (uint32_t i = 1; i < its.tuner.n; i++) {
        const coll_tuner_cell *cell = &its.tuner.cell[i];
        const uint32_t best = coll_tuner_best(cell);
        CHECK(best < cell->n);
        for (uint32_t k = 0; best < cell->n && k < cell->n; k++)
            CHECK(cell->one[k].predicted_ns >= cell->one[best].predicted_ns);
    }
    coll_tuner_free(&its.tuner);
}

/* What is known from before is not measured again. */
TEST(known_from_before)
{
    static outcome its;
    memset(&its, 0, sizeof its);
    its.knows_all = true;
    tune(&its, 3, 60e9);
    CHECK(its.passes <= 0);
    for (uint32_t i = 0; i < its.tuner.n; i++) {
        const coll_tuner_cell *cell = &its.tuner.cell[i];
        CHECK(cell->one[coll_tuner_best(cell)].by_rules);
    }
    coll_tuner_free(&its.tuner);
}

/* ---- rules ------------------------------------------------------------------------------------ */

static coll_tuned_rules rules;
static coll_tuner_cell cells[32];
static uint32_t n_cells;

/* A cell of bcast, for which linear and fnomial take so long. */
static void cell(uint32_t p, size_t bytes, double linear, double fnomial)
{
    coll_tuner_cell *its = &cells[n_cells++];
    memset(its, 0, sizeof *its);
    coll_problem_init(&its->problem, COLL_BCAST, p, bytes / 8, 8);
    its->n = 2;
    its->one[0].algorithm = &coll_linear_bcast;
    its->one[1].algorithm = &coll_fnomial_bcast;
    for (unsigned k = 0; k < 2; k++) {
        const coll_algorithm *algorithm = its->one[k].algorithm;
        for (uint32_t i = 0; i < algorithm->n_params; i++)
            its->one[k].param[i] = algorithm->params[i].default_value;
        its->one[k].predicted_ns = 1;
        coll_candidate_pass(&its->one[k], k == 0 ? linear : fnomial);
    }
}

static void rule_is(uint32_t i, uint32_t p_least, uint32_t p_most, size_t least, size_t most,
                    const char *algorithm)
{
    if (!CHECK(i < rules.n))
        return;
    CHECK_EQ(rules.rule[i].p_least, p_least);
    CHECK_EQ(rules.rule[i].p_most, p_most);
    CHECK_EQ(rules.rule[i].bytes_least, least);
    CHECK_EQ(rules.rule[i].bytes_most, most);
    CHECK(strcmp(rules.rule[i].algorithm->name, algorithm) == 0);
}

TEST(rules_are_few)
{
    n_cells = 0;
    cell(4, 16, 100, 101); /* within the loss of the next two */
    cell(4, 64, 100, 90);
    cell(4, 256, 100, 90);
    cell(4, 1024, 100, 150);
    coll_tuned_rules_make(&rules, cells, n_cells, .02);
    CHECK_EQ(rules.n, 2);
    rule_is(0, 3, 6, 0, 511, "fnomial");
    rule_is(1, 3, 6, 512, SIZE_MAX, "linear");
    coll_tuned_rules_make(&rules, cells, n_cells, .001);
    CHECK_EQ(rules.n, 3);
    rule_is(0, 3, 6, 0, 31, "linear");
}

/* What the rules have is kept where it is good enough. */
TEST(the_incumbent_stays)
{
    n_cells = 0;
    cell(4, 16, 100, 101);
    cells[0].one[1].by_rules = true;
    coll_tuned_rules_make(&rules, cells, n_cells, .02);
    rule_is(0, 3, 6, 0, SIZE_MAX, "fnomial");
    CHECK(strstr(rules.rule[0].why, "built-in rules have it") != NULL);
}

/* Numbers of ranks share a rule that says the same for both; between them it ends half way. */
TEST(numbers_of_ranks)
{
    n_cells = 0;
    cell(4, 16, 100, 200);
    cell(8, 16, 100, 200);
    cell(16, 16, 200, 100);
    coll_tuned_rules_make(&rules, cells, n_cells, .02);
    CHECK_EQ(rules.n, 2);
    rule_is(0, 3, 11, 0, SIZE_MAX, "linear");
    rule_is(1, 12, 24, 0, SIZE_MAX, "fnomial");
}

/* A choice has a rule for each row of cells in which it may be as fast as the best one. */
TEST(near_ties)
{
    n_cells = 0;
    cell(4, 16, 100, 101);
    cell(4, 64, 100, 101.5);
    cell(4, 256, 100, 150);
    cell(4, 1024, 104, 103);
    cells[2].one[1].is.low = 103; /* measurements were not sure, but of that */
    coll_tuned_near_ties_make(&rules, cells, n_cells, .02);
    CHECK_EQ(rules.n, 3);
    rule_is(0, 3, 6, 0, SIZE_MAX, "linear");
    rule_is(1, 3, 6, 0, 127, "fnomial");
    rule_is(2, 3, 6, 512, SIZE_MAX, "fnomial");
    cells[2].one[1].is.low = 102;
    coll_tuned_near_ties_make(&rules, cells, n_cells, .02);
    CHECK_EQ(rules.n, 2);
    cells[3].one[1].fails = true;
    coll_tuned_near_ties_make(&rules, cells, n_cells, .02);
    rule_is(1, 3, 6, 0, 511, "fnomial");
}

/* The text of the rules is read back as the same rules. */
TEST(rules_are_read_back)
{
    static char memory[COLL_TABLE_BYTES(32)];
    static char text[32 * COLL_RULE_TEXT];
    coll_table table;
    size_t n = 0;
    n_cells = 0;
    cell(4, 16, 100, 200);
    cell(4, 1 << 20, 300, 200);
    cells[1].one[1].param[1] = 512; /* elements of a segment */
    coll_tuned_rules_make(&rules, cells, n_cells, .02);
    CHECK_EQ(rules.n, 2);
    coll_table_init(&table, memory, sizeof memory);
    for (uint32_t i = 0; i < rules.n; i++) {
        n += coll_rule_text(&rules.rule[i], text + n, sizeof text - n);
        text[n++] = '\n';
    }
    text[n] = '\0';
    if (!CHECK(coll_table_read(&table, "tuned", text)))
        printf("    %s\n", table.error.text);
    CHECK_EQ(table.list.n, rules.n);
    for (uint32_t i = 0; i < rules.n && i < table.list.n; i++) {
        const coll_rule *is = &table.list.rules[i], *was = &rules.rule[i];
        CHECK_EQ(is->collectives, was->collectives);
        CHECK_EQ(is->p_least, was->p_least);
        CHECK_EQ(is->p_most, was->p_most);
        CHECK_EQ(is->bytes_least, was->bytes_least);
        CHECK_EQ(is->bytes_most, was->bytes_most);
        CHECK(strcmp(is->algorithm->name, was->algorithm->name) == 0);
        CHECK(strcmp(is->why, was->why) == 0);
        for (uint32_t k = 0; k < was->algorithm->n_params; k++)
            CHECK_EQ(is->param[k], was->param[k]);
        CHECK_EQ(is->in_bytes, was->in_bytes);
    }
}

int main(void)
{
    RUN(the_best_is_found);
    RUN(no_time);
    RUN(known_from_before);
    RUN(rules_are_few);
    RUN(the_incumbent_stays);
    RUN(numbers_of_ranks);
    RUN(near_ties);
    RUN(rules_are_read_back);
    return check_done();
}
