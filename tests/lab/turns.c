/* Calls that follow each other and use SHARED in turn: for sequences of two and three of them, of any
 * mix, the rule of node/shared.h lets no rank touch what another still uses; weaker rules do. */
#include "support/check.h"

#include <string.h>

#include "coll/plan/compose.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify.h"

enum { PHASES = 3, COUNT = 6 };

static coll_verifier verifier;

/* ---- sequences --------------------------------------------------------------------------- */

/* Rows that use SHARED on one node, but for those of blocks that have tables. */
static const coll_algorithm *rows[16];
static coll_collective kinds[16];
static unsigned n_rows;

static void find_rows(void)
{
    const unsigned others = COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_REDUCE_SCATTER);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            if ((coll_registry[i]->traits & COLL_NEEDS_SHARED) &&
                !(coll_registry[i]->traits & COLL_USES_NODES) && !(COLL_BIT(c) & others) &&
                coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                CHECK(n_rows < 16)) {
                rows[n_rows] = coll_registry[i];
                kinds[n_rows++] = (coll_collective)c;
            }
}

/* Looks for races in a sequence of rows, with so many places in SHARED, by the rule of so many
 * turns. */
static coll_finding verify(uint32_t p, const unsigned *row, uint32_t n, uint32_t places,
                           uint32_t turns)
{
    const size_t vector = (size_t)COUNT * p;
    coll_plan inner[PHASES], plan;
    coll_phase phase[PHASES];
    coll_composition composition;
    coll_problem outer;
    coll_verify_options options;
    coll_report report;
    size_t shared = 0;
    for (unsigned i = 0; i < n; i++) {
        const coll_collective kind = kinds[row[i]];
        const bool blocks = !coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) |
                                         COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_SCAN),
                                     kind);
        const uint32_t params[3] = {64, 2, 2}; /* several stages */
        coll_problem problem;
        coll_problem_init(&problem, kind, p, blocks ? COUNT : vector, sizeof(uint64_t));
        problem.flags = COLL_FLAG_COMMUTATIVE;
        problem.root = i % p;
        CHECK_STATUS(coll_plan_init(&inner[i], rows[row[i]], &problem, params), COLL_OK);
        coll_phase_init(&phase[i], &inner[i]);
        phase[i].base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        phase[i].base[COLL_SCRATCH] = COLL_AT(COLL_SCRATCH, vector);
        if (coll_plan_shared(&inner[i]) > shared)
            shared = coll_plan_shared(&inner[i]);
    }
    for (unsigned i = 0; i < n; i++)
        phase[i].base[COLL_SHARED] = COLL_AT(COLL_SHARED, i % places * shared);
    coll_problem_init(&outer, COLL_ALLREDUCE, p, vector, sizeof(uint64_t));
    outer.flags = COLL_FLAG_COMMUTATIVE;
    coll_composition_init(&composition, phase, n);
    CHECK_STATUS(coll_plan_compose(&plan, &coll_sequence, &outer, &composition), COLL_OK);
    memset(&options, 0, sizeof options);
    options.verifier = &verifier;
    options.skip = COLL_VERIFY_NO_WINDOW;
    options.turns = turns;
    (void)coll_verify(&plan, &options, &report);
    CHECK_EQ(report.ok, report.finding == COLL_PROVEN);
    if (report.finding != COLL_PROVEN && report.finding != COLL_FOUND_RACE)
        printf("    %s\n", report.sentence);
    return report.finding;
}

/* Visits all sequences of n rows. */
static void each(uint32_t n, uint32_t places, uint32_t turns, coll_finding wanted)
{
    for (uint32_t p = 2; p <= 4; p++) {
        unsigned row[PHASES] = {0};
        for (;;) {
            uint32_t i = 0;
            if (!CHECK_EQ(verify(p, row, n, places, turns), wanted))
                for (uint32_t k = 0; k < n; k++)
                    printf("    %s, p = %u\n", coll_collective_name(kinds[row[k]]), p);
            while (i < n && ++row[i] == n_rows)
                row[i++] = 0;
            if (i == n)
                break;
        }
    }
}

TEST(no_races)
{
    each(2, 1, 1, COLL_PROVEN);
    each(3, 1, 1, COLL_PROVEN);
    each(3, 2, 2, COLL_PROVEN);
    each(3, 3, 3, COLL_PROVEN);
}

/* One turn too many: a part is used again while some rank may still use it. */
TEST(too_early)
{
    each(2, 1, 2, COLL_FOUND_RACE);
    each(3, 1, 2, COLL_FOUND_RACE);
    each(3, 2, 3, COLL_FOUND_RACE);
}

int main(void)
{
    find_rows();
    CHECK(n_rows >= 9);
    RUN(no_races);
    RUN(too_early);
    coll_verifier_release(&verifier);
    return check_done();
}
