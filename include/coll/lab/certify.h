/* coll/lab/certify.h — proofs for every p up to a million: certificates
 *
 *   coll_certificate c;
 *   coll_certificate_init(&c, COLL_ALLGATHER, coll_find(COLL_ALLGATHER, "bruck"));
 *   c.p_last = 1048576;
 *   if (!coll_certify(&c))
 *       … c.report says p, rank, step and what is wrong …
 *
 * coll_verify runs all ranks of a plan, so its cost grows with p and more. A certificate says of every
 * message of every plan what it carries, in closed form, by one of five arguments:
 *
 *   rotation    what rank 0 does, moved on by r         certify/by_rotation.h
 *   digits      who folds, and the digits of a number   certify/by_digits.h
 *   subtrees    a run of ranks, and its size            certify/by_subtree.h
 *   exchanges   a step from the one before          certify/by_exchange.h
 *   root        the same, of the root               certify/by_root.h
 *
 * Then a plan is right if each rank, alone, keeps what is claimed: certify/local_proof.h proves this of
 * one rank in O(log p), or of one of p − 1 steps in O(1), and says why. Up to p = `whole` it is proven of
 * all ranks, and all steps. Beyond that it is proven of some ranks of each p that stand for all: those at
 * the ends of every range in which the argument's arithmetic is one formula, and some at random; and of
 * some steps alike. docs/certificates.md says what follows, and what does not.
 *
 * Hosted: POSIX threads; allocates nothing.
 */
#ifndef COLL_LAB_CERTIFY_H
#define COLL_LAB_CERTIFY_H

#include "certify/by_digits.h"
#include "certify/by_exchange.h"
#include "certify/by_root.h"
#include "certify/by_rotation.h"
#include "certify/by_subtree.h"

#include <pthread.h>

enum {
    COLL_CERTIFY_MOST = 1 << 20, /* ranks, at most */
    COLL_CERTIFY_WHOLE_STEPS =
        512 /* … all of whose steps are taken, if their programs have p − 1 */
};

/* The families of arguments. */
typedef enum coll_argument {
    COLL_ARGUMENT_NONE, /* there is no certificate of such an algorithm */
    COLL_ARGUMENT_ROTATION,
    COLL_ARGUMENT_DIGITS,
    COLL_ARGUMENT_SUBTREES,
    COLL_ARGUMENT_EXCHANGES,
    COLL_ARGUMENT_ROOT,
    COLL_ARGUMENTS
} coll_argument;

/* Its name, never NULL; static storage. */
COLL_INLINE const char *coll_argument_name(coll_argument argument)
{
    switch (argument) {
    case COLL_ARGUMENT_ROTATION:
        return "rotation";
    case COLL_ARGUMENT_DIGITS:
        return "digits";
    case COLL_ARGUMENT_SUBTREES:
        return "subtrees";
    case COLL_ARGUMENT_EXCHANGES:
        return "exchanges";
    case COLL_ARGUMENT_ROOT:
        return "root";
    case COLL_ARGUMENT_NONE:
    case COLL_ARGUMENTS:
        break;
    }
    return "none";
}

#define COLL_I_TREE_COLLECTIVES                                                                \
    (COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) |                   \
     COLL_BIT(COLL_ALLREDUCE))

/* Which algorithms, by name, have which argument, for which collectives. */
typedef struct coll_argument_row {
    const char *name;
    coll_argument argument;
    uint32_t collectives; /* mask of COLL_BIT */
} coll_argument_row;

COLL_TABLE(coll_argument_row, coll_i_arguments, {
    {"dissemination", COLL_ARGUMENT_ROTATION, COLL_BIT(COLL_BARRIER)},
    {"bruck", COLL_ARGUMENT_ROTATION, COLL_BIT(COLL_ALLGATHER)},
    {"circulant", COLL_ARGUMENT_ROTATION, COLL_BIT(COLL_ALLGATHER)},
    {"recursive_doubling", COLL_ARGUMENT_DIGITS, COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_ALLGATHER)},
    {"recursive_multiplying", COLL_ARGUMENT_DIGITS,
     COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_BARRIER)},
    {"recursive_halving", COLL_ARGUMENT_DIGITS, COLL_BIT(COLL_REDUCE_SCATTER_BLOCK)},
    {"fnomial", COLL_ARGUMENT_SUBTREES,
     COLL_I_TREE_COLLECTIVES | COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER)},
    {"kary", COLL_ARGUMENT_SUBTREES, COLL_I_TREE_COLLECTIVES},
    {"chain", COLL_ARGUMENT_SUBTREES, COLL_I_TREE_COLLECTIVES & ~COLL_BIT(COLL_BARRIER)},
    {"ring", COLL_ARGUMENT_EXCHANGES,
     COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK) |
         COLL_BIT(COLL_ALLREDUCE)},
    {"pairwise", COLL_ARGUMENT_EXCHANGES,
     COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK)},
    {"neighbor_exchange", COLL_ARGUMENT_EXCHANGES, COLL_BIT(COLL_ALLGATHER)},
    {"linear", COLL_ARGUMENT_EXCHANGES, COLL_BIT(COLL_ALLGATHER)},
    {"linear", COLL_ARGUMENT_ROOT,
     COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
         COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER)},
});

/* The argument for an algorithm of a collective; COLL_ARGUMENT_NONE if there is none. */
COLL_INLINE coll_argument coll_argument_of(coll_collective c, const coll_algorithm *algorithm)
{
    for (size_t i = 0; i < sizeof coll_i_arguments / sizeof coll_i_arguments[0]; i++)
        if (coll_is(coll_i_arguments[i].collectives, c) &&
            strcmp(coll_i_arguments[i].name, algorithm->name) == 0)
            return coll_i_arguments[i].argument;
    return COLL_ARGUMENT_NONE;
}

/* What is to be proven, and what came of it. */
typedef struct coll_certificate {
    coll_collective collective;
    const coll_algorithm *algorithm;
    uint32_t p_first, p_last; /* for these numbers of ranks, with the default parameters, … */
    uint32_t whole;           /* … of all ranks up to this p, and of some beyond; if their
                                 programs have p − 1 steps, up to COLL_CERTIFY_WHOLE_STEPS */
    uint32_t workers;         /* threads, this one included */
    uint64_t plans, ranks;    /* proven … */
    uint64_t
        claims; /* … and a digest of what was claimed of their messages, whatever the order */
    coll_certificate_report report; /* the least p that failed, if one did */
} coll_certificate;

/* For p = 1 … 4096, all ranks up to 256, by one thread. */
COLL_INLINE void coll_certificate_init(coll_certificate *certificate,
                                       coll_collective collective,
                                       const coll_algorithm *algorithm)
{
    memset(certificate, 0, sizeof *certificate);
    certificate->collective = collective;
    certificate->algorithm = algorithm;
    certificate->p_first = 1;
    certificate->p_last = 4096;
    certificate->whole = 256;
    certificate->workers = 1;
    certificate->report.ok = true;
}

/* ---- one plan ---------------------------------------------------------------------------- */

COLL_INLINE const coll_i_claims *coll_i_claims_of(coll_argument argument)
{
    switch (argument) {
    case COLL_ARGUMENT_ROTATION:
        return &coll_i_by_rotation;
    case COLL_ARGUMENT_DIGITS:
        return &coll_i_by_digits;
    case COLL_ARGUMENT_SUBTREES:
        return &coll_i_by_subtree;
    case COLL_ARGUMENT_EXCHANGES:
        return &coll_i_by_exchange;
    case COLL_ARGUMENT_ROOT:
        return &coll_i_by_root;
    case COLL_ARGUMENT_NONE:
    case COLL_ARGUMENTS:
        break;
    }
    return NULL;
}

/* One element a block; of what is not cut in blocks, one in all, or one for each rank's part. */
COLL_INLINE bool coll_i_theorem_set(coll_i_theorem *of, coll_plan *plan,
                                    const coll_certificate *certificate, uint32_t p,
                                    uint32_t root)
{
    const coll_collective c = certificate->collective;
    const coll_argument argument = coll_argument_of(c, certificate->algorithm);
    const unsigned blocks = COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLTOALL) |
                            COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK);
    const bool ordered =
        root == 0 && !(certificate->algorithm->traits & COLL_NEEDS_COMMUTATIVE);
    const bool parts = argument == COLL_ARGUMENT_EXCHANGES && c == COLL_ALLREDUCE;
    coll_problem problem;
    coll_problem_init(&problem, c, p, parts ? p : 1, 1);
    problem.root = root;
    problem.flags = ordered ? 0 : COLL_FLAG_COMMUTATIVE;
    if (argument == COLL_ARGUMENT_NONE ||
        coll_plan_init(plan, certificate->algorithm, &problem, NULL) != COLL_OK)
        return false;
    of->plan = plan;
    of->claims = coll_i_claims_of(argument);
    of->learned = 0;
    of->in.p = p;
    of->in.core = argument == COLL_ARGUMENT_DIGITS && coll_is(blocks, c) ? plan->fold.core : 0;
    of->in.elements = parts || coll_is(blocks, c) ? p : 1;
    of->in.commutes = !ordered;
    of->in.merges = c == COLL_BARRIER;
    return true;
}

enum { COLL_I_STEPS_MOST = 5 };

/* The steps that stand for all of a rank: the first, or one where the first half ends or the second begins; the
 * last; those about which the blocks or peers go past rank p−1, upward and downward; any one. */
COLL_INLINE unsigned coll_i_certify_steps(uint32_t p, uint32_t rank, size_t steps, size_t *step)
{
    const uint32_t drawn = coll_i_drawn(p, rank ^ 8, 16), near = drawn % 4;
    const size_t half = steps / 2, wraps = (drawn & 4 ? half : 0) + steps;
    unsigned n = 0;
    if (steps <= COLL_I_STEPS_MOST) {
        for (; n < steps; n++)
            step[n] = n;
        return n;
    }
    step[n++] = drawn < 8 ? 0 : half + near - 2;
    step[n++] = steps - 1;
    step[n++] = (wraps + rank + (near == 2) - (near == 3)) % steps;
    step[n++] = (wraps + (p - 1 - rank) + (near == 2) - (near == 3)) % steps;
    step[n++] = coll_i_drawn(p, rank ^ 16, (uint32_t)steps);
    return n;
}

/* Proves a rank: its program, or of programs of p − 1 steps each step alone, or those that stand for all. Returns
 * how many proofs that were; 0: see the report. */
COLL_INLINE uint32_t coll_i_certify_rank(coll_i_local *local, uint32_t rank, bool whole)
{
    const coll_i_theorem *of = local->of;
    const size_t steps = of->plan->algorithm->steps(of->plan, rank);
    size_t step[COLL_I_STEPS_MOST], n = steps;
    if (!of->claims->before || steps == 0)
        return coll_i_local_prove(local, rank, 0, SIZE_MAX) ? 1 : 0;
    if (!whole)
        n = coll_i_certify_steps(of->in.p, rank, steps, step);
    for (size_t i = 0; i < n; i++) {
        const size_t s = whole ? i : step[i];
        if (!coll_i_local_prove(local, rank, s, s + 1))
            return 0;
    }
    return (uint32_t)n;
}

/* Proves the ranks that stand for all of one plan, or all. Returns how many proofs; 0: see the report. */
COLL_INLINE uint32_t coll_i_certify_plan(coll_i_theorem *of, bool whole,
                                         coll_certificate_report *report)
{
    const uint32_t p = of->in.p;
    uint32_t rank[COLL_I_CLASSES_MOST], n = p, proofs = 0;
    coll_i_local local;
    local.of = of;
    local.report = report;
    local.learns = of->claims->rotates;
    if (local.learns) {
        if (!coll_i_local_prove(&local, 0, 0, SIZE_MAX))
            return 0;
        local.learns = false;
    }
    if (!whole)
        n = of->claims->classes(of, rank);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t made = coll_i_certify_rank(&local, whole ? i : rank[i], whole);
        if (made == 0)
            return 0;
        proofs += made;
    }
    return proofs;
}

/* All plans of one p. */
COLL_INLINE bool coll_i_certify_p(const coll_certificate *certificate, uint32_t p,
                                  coll_i_theorem *of, uint64_t *plans, uint64_t *ranks,
                                  coll_certificate_report *report)
{
    const coll_i_claims *claims =
        coll_i_claims_of(coll_argument_of(certificate->collective, certificate->algorithm));
    const bool stepwise = claims && claims->before;
    const bool whole =
        p < 4 || (p <= certificate->whole && (!stepwise || p <= COLL_CERTIFY_WHOLE_STEPS));
    const bool rooted = coll_is(COLL_ROOTED, certificate->collective) && p > 1;
    const unsigned other = rooted && !whole ? coll_i_drawn(p, 4, 2) : 0; /* one root, or both */
    coll_plan plan;
    for (unsigned i = other; i <= (rooted && whole ? 1 : other); i++) {
        const uint32_t root = i == 0 ? 0 : 1 + coll_i_drawn(p, 3, p - 1);
        uint32_t n;
        if (!coll_i_theorem_set(of, &plan, certificate, p, root)) {
            report->ok = false;
            report->p = p;
            report->what = "there is no such plan, or no argument for it";
            return false;
        }
        n = coll_i_certify_plan(of, whole, report);
        if (n == 0)
            return false;
        *ranks += n;
        ++*plans;
    }
    return true;
}

/* ---- a range of plans -------------------------------------------------------------------- */

enum { COLL_I_CERTIFY_TAKES = 256, COLL_I_CERTIFY_WORKERS = 64 };

typedef struct coll_i_certifying {
    coll_certificate *certificate;
    uint64_t next; /* p that nobody has taken */
    pthread_mutex_t lock;
} coll_i_certifying;

/* Takes some p after the other, until none is left or one failed. */
COLL_INLINE void *coll_i_certify_work(void *arg)
{
    coll_i_certifying *all = (coll_i_certifying *)arg;
    coll_certificate *certificate = all->certificate;
    coll_i_theorem of;
    pthread_mutex_lock(&all->lock);
    while (all->next <= certificate->p_last && certificate->report.ok) {
        const uint64_t first = all->next, end = first + COLL_I_CERTIFY_TAKES;
        uint64_t plans = 0, ranks = 0;
        of.digest = 0;
        coll_certificate_report report;
        memset(&report, 0, sizeof report);
        report.ok = true;
        all->next = end;
        pthread_mutex_unlock(&all->lock);
        for (uint64_t p = first; p < end && p <= certificate->p_last && report.ok; p++)
            (void)coll_i_certify_p(certificate, (uint32_t)p, &of, &plans, &ranks, &report);
        pthread_mutex_lock(&all->lock);
        certificate->plans += plans;
        certificate->ranks += ranks;
        certificate->claims += of.digest;
        if (!report.ok && (certificate->report.ok || report.p < certificate->report.p))
            certificate->report = report;
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Proves; false: certificate->report says what is wrong. */
COLL_INLINE bool coll_certify(coll_certificate *certificate)
{
    coll_i_certifying all;
    pthread_t threads[COLL_I_CERTIFY_WORKERS];
    uint32_t n = 0;
    all.certificate = certificate;
    all.next = certificate->p_first;
    certificate->plans = certificate->ranks = certificate->claims = 0;
    certificate->report.ok = true;
    pthread_mutex_init(&all.lock, NULL);
    while (n + 1 < certificate->workers && n < COLL_I_CERTIFY_WORKERS &&
           pthread_create(&threads[n], NULL, coll_i_certify_work, &all) == 0)
        n++;
    (void)coll_i_certify_work(&all);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&all.lock);
    return certificate->report.ok;
}

#endif /* COLL_LAB_CERTIFY_H */
