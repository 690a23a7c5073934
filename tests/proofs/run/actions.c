/* tests/proofs/run/actions.c — what the shipped algorithms do, as numbers, for tests/proofs/run/compare.ml
 *
 *   actions sample SEED     actions all
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
 * and of rows with a parameter several of its values. With -DWRONG=row that row alone is written, and one
 * action of it, of p = 23, is another one: so that the test can see that it would notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/dissemination.h"
#include "coll/algos/ring.h"
#include "tests/support/chance.h"

#ifndef WRONG
#define WRONG (-1)
#endif

enum { MOST = 4096, WHOLE = 0x7fffffff };

/* In the order of compare.ml. */
static const struct row {
    const coll_algorithm *algorithm;
    coll_collective collective;
    bool is_long;           /* about p steps */
    uint32_t parameters[3]; /* values of f; 0: none, or the default */
} rows[] = {
    {&coll_ring_allgather, COLL_ALLGATHER, true, {0}},
    {&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, true, {0}},
    {&coll_ring_allreduce, COLL_ALLREDUCE, true, {0}},
    {&coll_dissemination_barrier, COLL_BARRIER, false, {2, 3, 7}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

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
    if ((int)row == WRONG && plan->problem.p == 23 && rank == 17 && s == 0)
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
    problem.flags |= COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(plan, row->algorithm, &problem,
                            row->algorithm->n_params ? &parameter : NULL);
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

int main(int argc, char **argv)
{
    const bool all = argc == 2 && strcmp(argv[1], "all") == 0;
    if (!all && !(argc == 3 && strcmp(argv[1], "sample") == 0)) {
        fputs("usage: actions sample SEED | actions all\n", stderr);
        return 2;
    }
    random_state = all ? 1 : strtoull(argv[2], NULL, 10);
    for (uint32_t row = WRONG < 0 ? 0 : WRONG; row < (WRONG < 0 ? ROWS : WRONG + 1); row++) {
        const uint32_t first = rows[row].is_long ? all ? 256 : 48 : all ? MOST : 96;
        for (uint32_t i = 1; i <= (all ? MOST : first + 12); i++) {
            const uint32_t p = i <= first || all ? i : first + 1 + chance(MOST - first);
            for (uint32_t j = 0; j < 3 && (j == 0 || rows[row].parameters[j]); j++)
                ranks(row, p, rows[row].parameters[j], i > first && rows[row].is_long);
        }
    }
    number(ROWS);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
