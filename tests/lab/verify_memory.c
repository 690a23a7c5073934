/* tests/lab/verify_memory.c — the verifier in want of memory, and whose memory it is afterwards
 *
 * Each allocation fails once, in proofs that go through all that allocates. What is found must be that there was no
 * memory, and nothing else; the same memory must do for the next proof; and all of it must be free at the end.
 */
#undef COLL_EXTERN /* it has bodies of its own */
#include <stdlib.h>

/* The allocation number `fails` returns NULL. */
static struct {
    size_t n, fails, live;
} heap;

static void *heap_calloc(size_t n, size_t bytes)
{
    void *at = heap.n++ == heap.fails ? NULL : calloc(n, bytes);
    heap.live += at != NULL;
    return at;
}

static void *heap_realloc(void *old, size_t bytes)
{
    void *at = heap.n++ == heap.fails ? NULL : realloc(old, bytes);
    heap.live += at && !old;
    return at;
}

static void heap_free(void *at)
{
    heap.live -= at != NULL;
    free(at);
}

#define calloc  heap_calloc
#define realloc heap_realloc
#define free    heap_free
#include "support/check.h"
#include "coll/plan/compose.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"

static const coll_algorithm *const inside[] = {&coll_fnomial_bcast, &coll_fnomial_reduce,
                                               &coll_linear_reduce, &coll_ring_allgather};

static coll_grid_case case_of(const coll_algorithm *algorithm, coll_collective collective,
                              uint32_t p)
{
    coll_grid_case of;
    coll_grid_case_init(&of, algorithm, collective, p);
    of.count = collective == COLL_BARRIER ? 0 : p + 1;
    return of;
}

enum { CASES = 17 };

/* Cases that together use all that the verifier has. */
static void make_cases(coll_grid_case of[CASES])
{
    of[0] = case_of(&coll_fnomial_reduce, COLL_REDUCE, 9);
    of[1] = case_of(&coll_dissemination_barrier, COLL_BARRIER, 7);
    of[2] = case_of(&coll_bruck_alltoallv, COLL_ALLTOALLV, 6);
    of[2].layout = COLL_GRID_GAPS;
    of[3] = case_of(&coll_linear_neighbor, COLL_NEIGHBOR_ALLTOALLW, 9);
    of[3].layout = COLL_GRID_UNEVEN;
    of[3].graph = COLL_GRID_SPARSE;
    of[4] = case_of(&coll_mesh_combining, COLL_NEIGHBOR_ALLTOALL, 12);
    of[4].graph = COLL_GRID_STENCIL;
    of[5] = case_of(&coll_two_level_reduce.algorithm, COLL_REDUCE, 9);
    of[5].play[COLL_INTRA].algorithm = &coll_linear_reduce;
    of[5].play[COLL_INTRA].param[0] = 1;
    of[5].nodes = COLL_GRID_NODES_UNEVEN;
    of[6] = of[5];
    of[6].nodes = 0;
    of[6].places.kind = COLL_GRID_DEALT;
    of[6].places.nodes = 3;
    of[7] = case_of(&coll_kprefix_allgather, COLL_ALLGATHER, 5);
    of[7].group.kind = COLL_GRID_SHUFFLED;
    of[7].group.outer = 9;
    of[8] = case_of(&coll_shm_reduce, COLL_REDUCE, 6);
    of[9] = case_of(&coll_shm_barrier, COLL_BARRIER, 6);
    of[10] = case_of(&coll_ring_allreduce, COLL_ALLREDUCE, 40); /* whose notes grow */
    of[10].flags = COLL_FLAG_COMMUTATIVE;
    of[11] = case_of(&coll_in_network_allreduce, COLL_ALLREDUCE, 5);
    of[12] = case_of(&coll_node_combining, COLL_NEIGHBOR_ALLTOALL, 9);
    of[12].graph = COLL_GRID_DENSE;
    of[12].nodes = COLL_GRID_NODES_UNEVEN;
    of[13] = case_of(&coll_linear_gather, COLL_GATHER, 12); /* channels come with receives … */
    of[14] = case_of(&coll_linear_reduce, COLL_REDUCE, 12);
    of[15] = case_of(&coll_multicast_bcast, COLL_BCAST, 12); /* … or all at once */
    of[16] = case_of(&coll_multicast_allgather, COLL_ALLGATHER, 12);
}

/* Proves a case. Was there no memory? */
static bool is_starved(coll_grid_worker *worker, const coll_grid_case *of)
{
    coll_report report;
    const coll_status status = coll_grid_prove(worker, of, &report);
    if (!CHECK(status == COLL_OK || status == COLL_ERR_MEMORY))
        printf("    %s: %s\n", of->algorithm->name, coll_status_text(status));
    if (status == COLL_ERR_MEMORY)
        return true;
    if (!CHECK(report.finding == COLL_PROVEN || report.finding == COLL_FOUND_NO_MEMORY))
        printf("    %s: %s\n", of->algorithm->name, report.sentence);
    CHECK_EQ(report.ok, report.finding == COLL_PROVEN);
    return !report.ok;
}

TEST(each_allocation_of_a_proof_fails)
{
    coll_grid_case cases[CASES];
    make_cases(cases);
    for (size_t i = 0; i < CASES; i++) {
        size_t allocations;
        bool starved = true;
        for (size_t fails = 0; starved; fails++) {
            coll_grid_worker worker;
            coll_grid_worker_init(&worker);
            worker.pool.algorithms = inside;
            worker.pool.n = sizeof inside / sizeof *inside;
            worker.crashes = cases[i].p <= 7 ? 2 : 0;
            worker.crash_work = UINT64_MAX;
            heap.n = 0;
            heap.fails = fails;
            starved = is_starved(&worker, &cases[i]);
            allocations = heap.n;
            CHECK_EQ(starved, allocations > fails);
            if (starved) { /* it has grown enough, but for what failed */
                heap.n = 0;
                heap.fails = SIZE_MAX;
                CHECK(!is_starved(&worker, &cases[i]));
            }
            heap.n = 0;
            heap.fails = 0; /* and now it suffices */
            CHECK(!is_starved(&worker, &cases[i]));
            CHECK_EQ(heap.n, 0);
            coll_grid_worker_release(&worker);
            CHECK_EQ(heap.live, 0);
        }
        CHECK(allocations > 10);
    }
}

/* Three calls that use SHARED in turn. */
static void starve_sequence(uint32_t p)
{
    enum { PHASES = 3, COUNT = 5 };
    coll_plan inner[PHASES], plan;
    coll_phase phase[PHASES];
    coll_composition composition;
    coll_problem problem;
    coll_verify_options options;
    coll_report report;
    memset(&options, 0, sizeof options);
    options.turns = 1;
    coll_problem_init(&problem, COLL_REDUCE, p, COUNT, 8);
    for (uint32_t i = 0; i < PHASES; i++) {
        problem.root = i % p;
        CHECK_STATUS(coll_plan_init(&inner[i], &coll_shm_reduce, &problem, NULL), COLL_OK);
        coll_phase_init(&phase[i], &inner[i]);
        phase[i].base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        phase[i].base[COLL_SCRATCH] = COLL_AT(COLL_SCRATCH, COUNT);
    }
    coll_composition_init(&composition, phase, PHASES);
    coll_problem_init(&problem, COLL_ALLREDUCE, p, COUNT, 8);
    CHECK_STATUS(coll_plan_compose(&plan, &coll_sequence, &problem, &composition), COLL_OK);
    for (size_t fails = 0;; fails++) {
        heap.n = 0;
        heap.fails = fails;
        coll_verify(&plan, &options, &report);
        CHECK_EQ(heap.live, 0);
        CHECK_EQ(report.finding, heap.n <= fails ? COLL_PROVEN : COLL_FOUND_NO_MEMORY);
        if (heap.n <= fails)
            break;
    }
    CHECK(heap.n > 20);
}

TEST(each_allocation_of_a_sequence_fails)
{
    for (uint32_t p = 2; p < 9; p++)
        starve_sequence(p);
}

/* What a message takes is used again when it has been received. */
TEST(messages_are_reused)
{
    enum { P = 40 };
    coll_grid_worker worker;
    const coll_grid_case of = case_of(&coll_ring_allgather, COLL_ALLGATHER, P);
    heap.fails = SIZE_MAX;
    coll_grid_worker_init(&worker);
    CHECK(!is_starved(&worker, &of));
    CHECK(worker.verifier.data.messages.bytes < 4 * (size_t)P * sizeof(coll_i_message));
    CHECK(worker.verifier.data.payload.bytes < 4 * (size_t)P * (P + 1) * sizeof(coll_i_value));
    coll_grid_worker_release(&worker);
}

/* Channels can be used again when they were released. */
TEST(released_channels)
{
    coll_i_channels channels;
    heap.fails = SIZE_MAX;
    memset(&channels, 0, sizeof channels);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++)
            CHECK_EQ(coll_i_channel_of(&channels, i, 2 * i), i);
        for (uint32_t i = 0; i < 1000; i++)
            CHECK_EQ(coll_i_channel_of(&channels, i, 2 * i), i);
        coll_i_channels_release(&channels);
        CHECK_EQ(heap.live, 0);
    }
}

/* Of coll_verify, without a workspace. */
TEST(nothing_is_kept)
{
    coll_problem problem;
    coll_plan plan;
    coll_report report;
    size_t allocations;
    coll_problem_init(&problem, COLL_ALLGATHER, 5, 3, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    heap.n = 0;
    heap.fails = SIZE_MAX;
    CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_PROVEN);
    CHECK(heap.n > 0);
    CHECK_EQ(heap.live, 0);
    CHECK(report.ranks == NULL);
    allocations = heap.n;
    for (size_t fails = 0; fails < allocations; fails++) {
        heap.n = 0;
        heap.fails = fails;
        CHECK_EQ(coll_verify(&plan, NULL, &report), COLL_FOUND_NO_MEMORY);
        CHECK_EQ(heap.live, 0);
    }
}

TEST(each_allocation_of_a_grid_fails)
{
    static const coll_algorithm *const rows[] = {
        &coll_two_level_reduce.algorithm, &coll_mesh_combining, &coll_shm_bcast,
        &coll_kprefix_allgather, &coll_bruck_alltoallv};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        coll_grid_options options;
        coll_grid_result result, whole;
        size_t starved = 0;
        coll_grid_options_init(&options, &rows[i], 1);
        options.p_most = 4;
        options.work = 500;
        options.random = 1;
        options.random_most = 9;
        options.inside.algorithms = inside;
        options.inside.n = sizeof inside / sizeof *inside;
        heap.fails = SIZE_MAX;
        CHECK(coll_verify_grid(&options, &whole));
        for (size_t fails = i % CHECK_SHARE;; fails += CHECK_SHARE) {
            heap.n = 0;
            heap.fails = fails;
            coll_verify_grid(&options, &result);
            CHECK_EQ(heap.live, 0);
            if (heap.n <= fails)
                break;
            if (result.ok) { /* other plans show that a trait is needed, too */
                CHECK(result.plans == whole.plans && result.actions == whole.actions);
                continue;
            }
            starved++;
            if (!CHECK_EQ(result.failure.report.finding, COLL_FOUND_NO_MEMORY))
                printf("    %s: %s\n", rows[i]->name, result.failure.report.sentence);
        }
        CHECK(result.ok);
        CHECK(starved > heap.n / 2 / CHECK_SHARE);
    }
}

int main(void)
{
    RUN(each_allocation_of_a_proof_fails);
    RUN(each_allocation_of_a_sequence_fails);
    RUN(messages_are_reused);
    RUN(released_channels);
    RUN(nothing_is_kept);
    RUN(each_allocation_of_a_grid_fails);
    return check_done();
}
