/* tests/lab/nic.c — every line of the table becomes NIC programs, which are proven; and what a NIC has is
 * enough for what they say that they need */
#include <stdlib.h>

#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"
#include "support/check.h"

/* A case of a row: default parameters, nodes where it uses them. */
static void row_case(coll_grid_case *of, size_t row, coll_collective c, uint32_t p)
{
    coll_grid_case_init(of, coll_registry[row], c, p);
    of->nodes = of->algorithm->traits & COLL_USES_NODES ? 4 : 0;
    of->root = coll_is(COLL_ROOTED, c) ? p / 2 : 0;
}

static void failed(const coll_grid_case *of, const coll_report *report)
{
    char words[256];
    coll_grid_case_words(of, words, sizeof words);
    printf("    %s: %s\n", words, report->sentence);
}

/* Proves a row for p ranks, with two counts or layouts and all flags. How many plans there were. */
static uint64_t prove_row(coll_grid_worker *worker, size_t row, coll_collective c, uint32_t p,
                          coll_nic_needs *most)
{
    uint64_t plans = 0;
    for (uint32_t shape = 1; shape <= (c == COLL_BARRIER ? 1u : 2u); shape++)
        for (uint32_t flags = 0;; flags++) {
            coll_grid_case of;
            coll_report report;
            row_case(&of, row, c, p);
            coll_i_grid_shape(&of, shape);
            if (!coll_i_grid_flags(&of, flags))
                break;
            if (coll_grid_prove(worker, &of, &report) != COLL_OK)
                continue;
            if (!CHECK(report.ok))
                failed(&of, &report);
            coll_i_grid_nic_most(most, &report.nic);
            plans++;
        }
    return plans;
}

static void begin(coll_grid_worker *worker, const coll_nic_limits *limits)
{
    coll_grid_worker_init(worker);
    worker->nic = limits;
    worker->skip =
        COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY; /* they are proven elsewhere */
}

TEST(every_line_of_the_table_is_proven)
{
    coll_nic_limits limits;
    coll_nic_limits_init(&limits);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_worker worker;
            uint64_t plans = 0;
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            begin(&worker, &limits);
            for (uint32_t p = 1; p <= 16; p++) {
                coll_nic_needs most = {0, 0, 0, 0};
                limits.unexpected = p % 2 == 0 || p % 3 == 0;
                plans += prove_row(&worker, i, (coll_collective)c, p, &most);
            }
            CHECK(plans > 0);
            coll_grid_worker_release(&worker);
        }
}

/* Operations start in an order at random, and so do messages arrive. */
TEST(results_do_not_depend_on_the_order_of_arrival)
{
    coll_nic_limits limits;
    uint64_t random = 1;
    coll_nic_limits_init(&limits);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_worker worker;
            coll_nic_needs most = {0, 0, 0, 0};
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            begin(&worker, &limits);
            worker.nic_random = &random;
            for (uint32_t p = 4; p <= 9; p += 5) {
                limits.unexpected = !limits.unexpected;
                (void)prove_row(&worker, i, (coll_collective)c, p, &most);
            }
            coll_grid_worker_release(&worker);
        }
}

/* Whatever the host does instead of the NIC, and however late. */
TEST(hosts_may_do_their_part)
{
    coll_nic_limits limits;
    uint64_t random = 2;
    coll_nic_limits_init(&limits);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_worker worker;
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            begin(&worker, &limits);
            for (uint32_t p = 2; p <= 9; p++) {
                coll_nic_needs most = {0, 0, 0, 0};
                worker.nic_random = p % 2 ? &random : NULL;
                worker.verifier.nic.host = 1 + p % 3;
                (void)prove_row(&worker, i, (coll_collective)c, p, &most);
            }
            coll_grid_worker_release(&worker);
        }
}

/* No receive is posted: messages are put, in whatever order ranks come to it. */
TEST(puts_are_proven)
{
    coll_nic_limits limits;
    uint64_t random = 3;
    coll_nic_limits_init(&limits);
    limits.puts = true;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_worker worker;
            uint64_t plans = 0;
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            begin(&worker, &limits);
            for (uint32_t p = 1; p <= 9; p++) {
                coll_nic_needs most = {0, 0, 0, 0};
                worker.nic_random = p % 2 ? &random : NULL;
                plans += prove_row(&worker, i, (coll_collective)c, p, &most);
                CHECK_EQ(most.receives, 0);
            }
            CHECK(plans > 0);
            coll_grid_worker_release(&worker);
        }
}

/* Algorithms of at most ⌈log₂ p⌉ steps. */
TEST(log_steps_need_log_counters)
{
    static const struct {
        const coll_algorithm *algorithm;
        coll_collective collective;
    } rows[] = {{&coll_dissemination_barrier, COLL_BARRIER},
                {&coll_fnomial_bcast, COLL_BCAST},
                {&coll_fnomial_reduce, COLL_REDUCE},
                {&coll_fnomial_allreduce, COLL_ALLREDUCE},
                {&coll_fnomial_gather, COLL_GATHER},
                {&coll_fnomial_gather, COLL_SCATTER},
                {&coll_recursive_doubling_allreduce, COLL_ALLREDUCE},
                {&coll_recursive_doubling_scan, COLL_SCAN},
                {&coll_bruck_allgather, COLL_ALLGATHER},
                {&coll_recursive_halving_reduce_scatter, COLL_REDUCE_SCATTER}};
    coll_nic_limits limits;
    coll_nic_limits_init(&limits);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
            coll_grid_worker worker;
            coll_grid_case of;
            coll_report report;
            begin(&worker, &limits);
            coll_grid_case_init(&of, rows[i].algorithm, rows[i].collective, p);
            coll_i_grid_shape(&of, rows[i].collective == COLL_BARRIER ? 0 : 1);
            coll_i_grid_flags(&of, 0);
            if (coll_grid_prove(&worker, &of, &report) == COLL_OK) {
                if (!CHECK(report.ok))
                    failed(&of, &report);
                if (!CHECK(report.nic.counters <= 4 + coll_log2_ceil(p)))
                    printf("    %s, p = %u: %u counters\n", rows[i].algorithm->name, p,
                           report.nic.counters);
            }
            coll_grid_worker_release(&worker);
        }
}

/* What a NIC has is enough, or the program is refused with a sentence. */
TEST(limits_are_obeyed_or_refused)
{
    static const uint32_t few[] = {1, 2, 4, 8};
    uint64_t proven = 0, refused = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++)
            for (size_t k = 0; k < 2 * sizeof few / sizeof *few; k++) {
                coll_grid_worker worker;
                coll_grid_case of;
                coll_report report;
                coll_nic_limits limits;
                if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                    continue;
                coll_nic_limits_init(&limits);
                limits.counters = k % 2 == 0 ? few[k / 2] : UINT32_MAX;
                limits.receives = k % 2 == 1 ? few[k / 2] : UINT32_MAX;
                begin(&worker, &limits);
                row_case(&of, i, (coll_collective)c, 9);
                coll_i_grid_shape(&of, c == COLL_BARRIER ? 0 : 1);
                coll_i_grid_flags(&of, 0);
                if (coll_grid_prove(&worker, &of, &report) == COLL_OK) {
                    const bool fits = report.nic.counters <= limits.counters &&
                                      report.nic.receives <= limits.receives;
                    if (report.ok) {
                        proven++;
                        CHECK(fits);
                    } else {
                        refused++;
                        if (!CHECK_EQ(report.finding, COLL_FOUND_NIC_NEEDS))
                            failed(&of, &report);
                        CHECK(limits.counters <= 2);
                        CHECK(strstr(report.sentence, "more counters than the NIC has") !=
                              NULL);
                    }
                }
                coll_grid_worker_release(&worker);
            }
    printf("    %u programs fit, %u are refused\n", (unsigned)proven, (unsigned)refused);
    CHECK(proven > 12 * refused);
}

/* Changes one number of one operation. */
struct change {
    uint32_t rank, op;
    int what;
};
enum { LOWER, ELSEWHERE, EARLIER, CHANGES };

static void change(void *arg, coll_nic_program *program, coll_nic_op *ops)
{
    const struct change *it = (const struct change *)arg;
    coll_nic_op *op = &ops[it->op < program->needs.ops ? it->op : 0];
    if (program->rank != it->rank)
        return;
    if (it->what == LOWER && op->threshold > 0)
        op->threshold--;
    else if (it->what == EARLIER)
        op->trigger = COLL_NIC_NONE;
    else if (it->what == ELSEWHERE && op->done != COLL_NIC_NONE)
        op->done = (uint16_t)((op->done + 1u) % program->needs.counters);
}

/* No threshold may be lower, no operation may start with the program, and none may be counted by another counter. */
TEST(every_number_is_needed)
{
    coll_nic_limits limits;
    uint64_t changed = 0;
    coll_nic_limits_init(&limits);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (int c = 0; c < COLL_COLLECTIVES; c++) {
            coll_grid_worker worker;
            coll_grid_case of;
            coll_report report;
            struct change it;
            uint32_t ops[6];
            if (!coll_is(coll_registry[i]->collectives, (coll_collective)c))
                continue;
            begin(&worker, &limits);
            limits.unexpected = !limits.unexpected;
            row_case(&of, i, (coll_collective)c, 6);
            coll_i_grid_shape(&of, c == COLL_BARRIER ? 0 : 1);
            coll_i_grid_flags(&of, 0);
            if (coll_grid_prove(&worker, &of, &report) != COLL_OK || !CHECK(report.ok)) {
                coll_grid_worker_release(&worker);
                continue;
            }
            for (uint32_t rank = 0; rank < 6; rank++)
                ops[rank] = coll_i_nic_program_at(&worker.verifier.nic, rank)->needs.ops;
            worker.verifier.nic.spoil = change;
            worker.verifier.nic.arg = &it;
            for (it.rank = 0; it.rank < 6; it.rank++)
                for (it.op = 0; it.op < ops[it.rank]; it.op++)
                    for (it.what = 0; it.what < CHANGES; it.what++) {
                        const coll_nic_program *program;
                        coll_nic_op original;
                        bool same;
                        worker.verifier.nic.spoil = NULL;
                        CHECK_STATUS(coll_grid_prove(&worker, &of, &report), COLL_OK);
                        program = coll_i_nic_program_at(&worker.verifier.nic, it.rank);
                        original = program->ops[it.op];
                        same = it.what == ELSEWHERE ? program->needs.counters == 1 ||
                                                          original.done == COLL_NIC_NONE
                                                    : original.trigger == COLL_NIC_NONE;
                        if (same)
                            continue;
                        worker.verifier.nic.spoil = change;
                        CHECK_STATUS(coll_grid_prove(&worker, &of, &report), COLL_OK);
                        changed++;
                        if (!CHECK(!report.ok)) {
                            failed(&of, &report);
                            printf("    rank %u op %u (%s) change %d\n", it.rank, it.op,
                                   coll_nic_kind_name((coll_nic_kind)original.kind), it.what);
                        }
                    }
            coll_grid_worker_release(&worker);
        }
    printf("    %u changes\n", (unsigned)changed);
    CHECK(changed > 1000);
}

int main(void)
{
    RUN(every_line_of_the_table_is_proven);
    RUN(results_do_not_depend_on_the_order_of_arrival);
    RUN(hosts_may_do_their_part);
    RUN(puts_are_proven);
    RUN(log_steps_need_log_counters);
    RUN(limits_are_obeyed_or_refused);
    RUN(every_number_is_needed);
    return check_done();
}
