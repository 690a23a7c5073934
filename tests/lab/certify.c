/* Certificates: each row that has an argument is certified, of all ranks and of those that stand for them. What the
 * checker accepts is right: each action of each rank is changed in turn, and whatever passes is proven by the
 * verifier, which runs all ranks. Mistakes of a class of ranks are found among more ranks than that. */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/lab/certify.h"
#include "coll/lab/verify.h"

/* ---- mutants ----------------------------------------------------------------------------- */

typedef enum how { DROPPED, TWICE, PEER, SRC, DST, VIA, LONGER, SHORTER, SIDE, KIND, HOWS } how;

/* An algorithm of the library with one action changed, at one step of one rank, or of a class of ranks. */
static struct {
    coll_algorithm record;
    const coll_algorithm *base;
    uint32_t rank;
    bool (*is_of)(const coll_plan *plan, uint32_t rank); /* NULL: that rank alone */
    size_t step;
    bool (*is_at)(const coll_plan *plan, uint32_t rank, size_t s); /* NULL: that step alone */
    unsigned action;
    how how;
    bool changed; /* it was asked for, and is another action */
} mutant;

static void change(const coll_plan *plan, coll_action *a, how as)
{
    const coll_action old = *a;
    switch (as) {
    case PEER:
        a->peer = coll_i_has_peer(a) ? (a->peer + 1) % plan->problem.p : a->peer;
        break;
    case SRC:
        a->src ^= coll_i_has(COLL_I_READS_SRC, a) ? 1 : 0;
        break;
    case DST:
        a->dst ^= coll_i_has(COLL_I_WRITES_DST, a) ? 1 : 0;
        break;
    case VIA:
        a->via ^= a->kind == COLL_DO_REDUCE || a->kind == COLL_DO_RECV_REDUCE ? 1 : 0;
        break;
    case LONGER:
        a->count++;
        break;
    case SHORTER:
        a->count--;
        break;
    case SIDE:
        a->flags ^= a->kind == COLL_DO_RECV_REDUCE ? COLL_LEFT : 0;
        break;
    case KIND:
        a->kind = a->kind == COLL_DO_RECV_REDUCE ? COLL_DO_RECV : a->kind;
        a->src = a->kind == COLL_DO_RECV ? 0 : a->src;
        a->via = a->kind == COLL_DO_RECV ? 0 : a->via;
        a->flags = a->kind == COLL_DO_RECV ? 0 : a->flags;
        break;
    case DROPPED:
    case TWICE:
    case HOWS:
        break;
    }
    mutant.changed |= memcmp(&old, a, sizeof old) != 0;
}

static unsigned mutant_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    unsigned n = mutant.base->step(plan, rank, s, out), i = mutant.action;
    if (!(mutant.is_at ? mutant.is_at(plan, rank, s) : s == mutant.step) || i >= n ||
        (mutant.is_of ? !mutant.is_of(plan, rank) : rank != mutant.rank))
        return n;
    if (mutant.how == DROPPED || (mutant.how == TWICE && n < COLL_STEP_MAX)) {
        const bool twice = mutant.how == TWICE;
        mutant.changed = true;
        memmove(&out[twice ? i + 1 : i], &out[twice ? i : i + 1],
                (n - i - (twice ? 0 : 1)) * sizeof out[0]);
        return twice ? n + 1 : n - 1;
    }
    change(plan, &out[i], mutant.how);
    return n;
}

static void make(const coll_algorithm *base)
{
    mutant.base = base;
    mutant.record = *base;
    mutant.record.step = mutant_step;
    mutant.is_of = NULL;
    mutant.is_at = NULL;
}

/* ---- rows -------------------------------------------------------------------------------- */

typedef void each_row(coll_collective c, const coll_algorithm *algorithm);

static unsigned of_all_rows(each_row *each)
{
    unsigned rows = 0;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                coll_argument_of((coll_collective)c, coll_registry[i]) != COLL_ARGUMENT_NONE) {
                each((coll_collective)c, coll_registry[i]);
                rows++;
            }
    return rows;
}

static bool certifies(coll_certificate *of, uint32_t p_first, uint32_t p_last, uint32_t whole)
{
    of->p_first = p_first;
    of->p_last = p_last;
    of->whole = whole;
    return coll_certify(of);
}

static void says(const coll_certificate *of)
{
    printf("    %s %s, p = %u, rank %u, step %zu: %s\n", coll_collective_name(of->collective),
           of->algorithm->name, of->report.p, of->report.rank, of->report.step,
           of->report.what);
}

static void row_is_right(coll_collective c, const coll_algorithm *algorithm)
{
    static const uint32_t from[] = {1021, 4095, 65535, 1048570};
    coll_certificate of;
    coll_certificate_init(&of, c, algorithm);
    if (!CHECK(certifies(&of, 1, CHECK_RANKS, CHECK_RANKS)))
        says(&of);
    CHECK(of.ranks >= (uint64_t)CHECK_RANKS * (CHECK_RANKS + 1) / 2);
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
        if (!CHECK(certifies(&of, from[i], from[i] + 6, 0)))
            says(&of);
}

TEST(every_row)
{
    CHECK(of_all_rows(row_is_right) >= 35);
}

/* ---- what is accepted is right ----------------------------------------------------------- */

static unsigned long made, refuted, accepted;
static coll_verifier verifier;

/* What a certificate does not claim: which bits come of a sum. */
static bool is_beyond(coll_finding finding)
{
    return finding == COLL_FOUND_BITS || finding == COLL_FOUND_STRUCTURE;
}

static void mutant_is_found(coll_i_theorem *of, const coll_plan *plan)
{
    coll_certificate_report report;
    coll_verify_options options;
    coll_report said;
    memset(&report, 0, sizeof report);
    report.ok = true;
    mutant.changed = false;
    (void)coll_i_certify_plan(of, true, &report);
    if (!mutant.changed)
        return;
    made++;
    refuted += !report.ok;
    if (!report.ok)
        return;
    memset(&options, 0, sizeof options);
    options.verifier = &verifier;
    options.skip = COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY;
    coll_verifier_forget(&verifier);
    (void)coll_verify(plan, &options, &said);
    accepted++;
    if (!CHECK(said.finding == COLL_PROVEN || is_beyond(said.finding)))
        printf("    %s %s p = %u: action %u of step %zu of rank %u, changed as %d, is "
               "accepted: %s\n",
               coll_collective_name(plan->problem.collective), plan->algorithm->name,
               plan->problem.p, mutant.action, mutant.step, mutant.rank, (int)mutant.how,
               said.sentence);
}

static void row_has_no_wrong_plan(coll_collective c, const coll_algorithm *algorithm)
{
    static coll_i_theorem of;
    static const uint32_t ranks[] = {2, 3, 4, 6, 7, 8, 11};
    coll_certificate row;
    coll_plan plan;
    make(algorithm);
    coll_certificate_init(&row, c, &mutant.record);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const uint32_t root = coll_is(COLL_ROOTED, c) && i % 2 == 1 ? 1 : 0;
        CHECK(coll_i_theorem_set(&of, &plan, &row, ranks[i], root));
        for (mutant.rank = 0; mutant.rank < ranks[i]; mutant.rank++) {
            const size_t steps = algorithm->steps(&plan, mutant.rank);
            for (mutant.step = 0; mutant.step < steps; mutant.step++)
                for (mutant.action = 0; mutant.action < COLL_STEP_MAX; mutant.action++)
                    for (unsigned as = 0; as < HOWS; as++) {
                        mutant.how = (how)as;
                        mutant_is_found(&of, &plan);
                    }
        }
    }
}

TEST(mutants)
{
    coll_verifier_init(&verifier);
    of_all_rows(row_has_no_wrong_plan);
    coll_verifier_release(&verifier);
    printf("    %lu mutants, %lu refuted, %lu accepted and proven\n", made, refuted, accepted);
    CHECK(made > 10000);
    CHECK(accepted * 10 < made);
}

/* ---- classes of ranks -------------------------------------------------------------------- */

static bool is_last(const coll_plan *plan, uint32_t rank)
{
    return rank == plan->problem.p - 1;
}

static bool is_odd(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    return rank % 2 == 1;
}

static bool is_in_upper_half(const coll_plan *plan, uint32_t rank)
{
    return rank >= plan->problem.p / 2;
}

/* Everyone, which alone shows no rank to differ from another. */
static bool is_any(const coll_plan *plan, uint32_t rank)
{
    (void)plan, (void)rank;
    return true;
}

/* Does the edit change what some rank does? */
static bool changes(coll_collective c, uint32_t p)
{
    static coll_i_theorem of;
    coll_certificate row;
    coll_plan plan;
    coll_certificate_init(&row, c, &mutant.record);
    mutant.changed = false;
    CHECK(coll_i_theorem_set(&of, &plan, &row, p, 0));
    for (uint32_t rank = 0; rank < p && !mutant.changed; rank++) {
        coll_action a[COLL_STEP_MAX];
        if (mutant.base->steps(&plan, rank) > 0)
            (void)mutant_step(&plan, rank, 0, a);
    }
    return mutant.changed;
}

static void row_finds_classes(coll_collective c, const coll_algorithm *algorithm)
{
    static bool (*const classes[])(const coll_plan *, uint32_t) = {is_last, is_odd,
                                                                   is_in_upper_half, is_any};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        for (unsigned as = DROPPED; as <= PEER; as += PEER - DROPPED) {
            coll_certificate of;
            make(algorithm);
            mutant.is_of = classes[i];
            mutant.step = 0;
            mutant.action = 0;
            mutant.how = (how)as;
            coll_certificate_init(&of, c, &mutant.record);
            if (!changes(c, 5000))
                continue;
            if (!CHECK(!certifies(&of, 5000, 5063, 0)) ||
                !CHECK(!certifies(&of, 1000001, 1000064, 0)))
                printf("    %s %s, class %zu, changed as %u\n", coll_collective_name(c),
                       algorithm->name, i, as);
        }
}

TEST(classes)
{
    of_all_rows(row_finds_classes);
}

/* ---- classes of steps -------------------------------------------------------------------- */

static bool is_last_step(const coll_plan *plan, uint32_t rank, size_t s)
{
    return s + 1 == mutant.base->steps(plan, rank);
}

static bool is_odd_step(const coll_plan *plan, uint32_t rank, size_t s)
{
    (void)plan, (void)rank;
    return s % 2 == 1;
}

static bool is_in_second_half(const coll_plan *plan, uint32_t rank, size_t s)
{
    return s >= mutant.base->steps(plan, rank) / 2;
}

/* Where the blocks of a rank's own number have been, and those from the last one on follow. */
static bool is_at_wrap(const coll_plan *plan, uint32_t rank, size_t s)
{
    (void)plan;
    return s == rank;
}

static unsigned step_classes;

static void row_finds_steps(coll_collective c, const coll_algorithm *algorithm)
{
    static bool (*const classes[])(const coll_plan *, uint32_t, size_t) = {
        is_last_step, is_odd_step, is_in_second_half, is_at_wrap};
    const coll_argument argument = coll_argument_of(c, algorithm);
    if (argument != COLL_ARGUMENT_EXCHANGES && argument != COLL_ARGUMENT_ROOT)
        return; /* programs of O(log p) steps are followed whole */
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        for (unsigned as = DROPPED; as < HOWS; as++) {
            coll_certificate of;
            if (as == VIA)
                continue; /* another staging slot may do as well */
            make(algorithm);
            mutant.is_of = is_any;
            mutant.is_at = classes[i];
            mutant.action = 0;
            mutant.how = (how)as;
            coll_certificate_init(&of, c, &mutant.record);
            mutant.changed = false;
            (void)certifies(&of, 5000, 5063, 0);
            if (!mutant.changed)
                continue;
            step_classes++;
            if (!CHECK(!of.report.ok) || !CHECK(!certifies(&of, 1000001, 1000064, 0)))
                printf("    %s %s, class %zu, changed as %u\n", coll_collective_name(c),
                       algorithm->name, i, as);
        }
}

TEST(steps)
{
    of_all_rows(row_finds_steps);
    printf("    %u classes of steps of rows, each found\n", step_classes);
    CHECK(step_classes > 100);
}

/* ---- many threads ------------------------------------------------------------------------ */

TEST(threads)
{
    coll_certificate one, many;
    coll_certificate_init(&one, COLL_ALLGATHER, coll_find(COLL_ALLGATHER, "bruck"));
    many = one;
    many.workers = 3;
    CHECK(certifies(&one, 1, 1500, 32));
    CHECK(certifies(&many, 1, 1500, 32));
    CHECK_EQ(one.plans, 1500);
    CHECK_EQ(one.plans, many.plans);
    CHECK_EQ(one.ranks, many.ranks);
    CHECK(one.claims == many.claims && one.claims != 0);
    CHECK(certifies(&many, 1, 1499, 32));
    CHECK(one.claims != many.claims);
}

int main(void)
{
    RUN(every_row);
    RUN(mutants);
    RUN(classes);
    RUN(steps);
    RUN(threads);
    return check_done();
}
