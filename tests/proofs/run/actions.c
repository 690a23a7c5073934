/* tests/proofs/run/actions.c — what the shipped algorithms do, as numbers, for tests/proofs/run/compare.ml
 *
 *   actions sample SEED     actions all     actions wrong ROW
 *
 * Writes programs of ranks: a head of six numbers (row, p, parameter, rank, first step, how many actions;
 * first step is WHOLE for all that the rank does), then seven numbers an action: kind, peer, count, dst,
 * src, via, flags. A number is four bytes, the highest first; a ref is its space · 2^28 + its offset. The
 * parameter is the root, or f. After the last program comes a head with the row ROWS. Blocks and vectors
 * are of one element, out of place. What is written:
 *
 *   rows with about log p steps   all ranks of each p ≤ 4,096 (sample: ≤ 96, and of 12 others)
 *   rows with about p steps       all ranks of each p ≤ 256 (sample: ≤ 48), whole; of each p ≤ 4,096
 *                                 (sample: 12 of them) two ranks, whole, and of each rank the first
 *                                 step, the last, and two others
 *
 * The parameter has three or four values for p ≤ 96, and else one at random. `wrong` writes a sample of one
 * row, where one action, of p = 23, has another peer: so that the test can see that it would notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "support/chance.h"

enum { MOST = 4096, WHOLE = 0x7fffffff };

/* In the order of compare.ml. */
static const struct row {
    const coll_algorithm *algorithm;
    coll_collective collective;
    bool is_long; /* about p steps */
    enum { NO_PARAM, PARAM_F, PARAM_ROOT } parameter;
    bool commutative;
} rows[] = {
    {&coll_ring_allgather, COLL_ALLGATHER, true, NO_PARAM, true},
    {&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, true, NO_PARAM, true},
    {&coll_ring_allreduce, COLL_ALLREDUCE, true, NO_PARAM, true},
    {&coll_dissemination_barrier, COLL_BARRIER, false, PARAM_F, true},
    {&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, false, NO_PARAM, false},
    {&coll_fnomial_bcast, COLL_BCAST, false, PARAM_ROOT, true},
    {&coll_fnomial_reduce, COLL_REDUCE, false, PARAM_ROOT, true},
    {&coll_fnomial_reduce, COLL_REDUCE, false, PARAM_ROOT, false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static uint32_t wrong = UINT32_MAX; /* the row with another peer */

static void number(size_t x)
{
    const unsigned char bytes[4] = {(unsigned char)(x >> 24), (unsigned char)(x >> 16),
                                    (unsigned char)(x >> 8), (unsigned char)x};
    fwrite(bytes, 1, sizeof bytes, stdout);
}

static size_t place(coll_ref ref)
{
    return ((size_t)coll_ref_space(ref) << 28) + coll_ref_offset(ref);
}

static void head(uint32_t row, const coll_plan *plan, uint32_t parameter, uint32_t rank,
                 size_t step, size_t n)
{
    const size_t numbers[] = {row, plan->problem.p, parameter, rank, step, n};
    for (size_t i = 0; i < 6; i++)
        number(numbers[i]);
}

static void action(const coll_action *a)
{
    const size_t numbers[] = {a->kind,       a->peer,       a->count, place(a->dst),
                              place(a->src), place(a->via), a->flags};
    for (size_t i = 0; i < 7; i++)
        number(numbers[i]);
}

static unsigned step(const coll_plan *plan, uint32_t row, uint32_t rank, size_t s,
                     coll_action *out)
{
    const unsigned n = coll_plan_step(plan, rank, s, out);
    if (row == wrong && plan->problem.p == 23 && rank == 17 && s == 0)
        out[0].peer = (out[0].peer + 1) % 23;
    return n;
}

static void whole(const coll_plan *plan, uint32_t row, uint32_t parameter, uint32_t rank)
{
    coll_action actions[COLL_STEP_MAX];
    const size_t steps = coll_plan_steps(plan, rank);
    size_t n = 0;
    for (size_t s = 0; s < steps; s++)
        n += step(plan, row, rank, s, actions);
    head(row, plan, parameter, rank, WHOLE, n);
    for (size_t s = 0; s < steps; s++) {
        n = step(plan, row, rank, s, actions);
        for (size_t i = 0; i < n; i++)
            action(&actions[i]);
    }
}

static void one_step(const coll_plan *plan, uint32_t row, uint32_t rank, size_t s)
{
    coll_action actions[COLL_STEP_MAX];
    const size_t n = step(plan, row, rank, s, actions);
    head(row, plan, 0, rank, s, n);
    for (size_t i = 0; i < n; i++)
        action(&actions[i]);
}

static void plan_of(coll_plan *plan, const struct row *row, uint32_t p, uint32_t parameter)
{
    coll_problem problem;
    coll_status status;
    coll_problem_init(&problem, row->collective, p,
                      row->algorithm == &coll_ring_allreduce ? p : 1, 1);
    problem.flags |= row->commutative ? COLL_FLAG_COMMUTATIVE : 0;
    if (row->parameter == PARAM_ROOT)
        problem.root = parameter;
    status = coll_plan_init(plan, row->algorithm, &problem,
                            row->parameter == PARAM_F ? &parameter : NULL);
    if (status == COLL_OK)
        return;
    fprintf(stderr, "%s, p = %u: %s\n", row->algorithm->name, (unsigned)p,
            coll_status_text(status));
    exit(1);
}

static void ranks(uint32_t row, uint32_t p, uint32_t parameter, bool sampled)
{
    coll_plan plan;
    plan_of(&plan, &rows[row], p, parameter);
    if (!sampled) {
        for (uint32_t rank = 0; rank < p; rank++)
            whole(&plan, row, parameter, rank);
        return;
    }
    whole(&plan, row, parameter, chance(p));
    whole(&plan, row, parameter, chance(p));
    for (uint32_t rank = 0; rank < p; rank++) {
        const size_t steps = coll_plan_steps(&plan, rank);
        one_step(&plan, row, rank, 0);
        one_step(&plan, row, rank, steps - 1);
        one_step(&plan, row, rank, chance((uint32_t)steps));
        one_step(&plan, row, rank, chance((uint32_t)steps));
    }
}

/* The values of a row's parameter for p ranks; returns how many. */
static uint32_t values(const struct row *row, uint32_t p, uint32_t value[4])
{
    switch (row->parameter) {
    case PARAM_F: /* of few ranks, several; else one */
        value[0] = p <= 96 ? 2 : 2 + chance(7);
        value[1] = 3;
        value[2] = 7;
        return p <= 96 ? 3 : 1;
    case PARAM_ROOT:
        value[0] = p <= 96 ? 0 : chance(p);
        value[1] = p / 3;
        value[2] = p / 2;
        value[3] = p - 1;
        return p <= 2 ? p : p <= 96 ? 4 : 1;
    case NO_PARAM:
        break;
    }
    value[0] = 0;
    return 1;
}

int main(int argc, char **argv)
{
    const bool all = argc == 2 && strcmp(argv[1], "all") == 0;
    const bool one = argc == 3 && strcmp(argv[1], "wrong") == 0;
    if (!all && !one && !(argc == 3 && strcmp(argv[1], "sample") == 0)) {
        fputs("usage: actions sample SEED | actions all | actions wrong ROW\n", stderr);
        return 2;
    }
    random_state = all || one ? 1 : strtoull(argv[2], NULL, 10);
    if (one)
        wrong = (uint32_t)strtoul(argv[2], NULL, 10);
    for (uint32_t row = one ? wrong : 0; row < (one ? wrong + 1 : ROWS) && row < ROWS; row++) {
        const uint32_t first = rows[row].is_long ? all ? 256 : 48 : all ? MOST : 96;
        for (uint32_t i = 1; i <= (all ? MOST : first + 12); i++) {
            const uint32_t p = i <= first || all ? i : first + 1 + chance(MOST - first);
            uint32_t value[4];
            const uint32_t n = values(&rows[row], p, value);
            for (uint32_t j = 0; j < n; j++)
                ranks(row, p, value[j], i > first && rows[row].is_long);
        }
    }
    number(ROWS);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
