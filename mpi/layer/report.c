/* mpi/layer/report.c — COLL_VERBOSE: what was chosen and why, and what it took */
#include <stdio.h>
#include <stdlib.h>

#include "../heap/heap.h"
#include "coll/table.h"
#include "layer.h"

static struct {
    uint64_t calls, bytes;
    double seconds;
} spent[COLL_COLLECTIVES];
static struct {
    uint64_t calls, bytes;
} asked[2][2]; /* of MPI_Alloc_mem, and of malloc: of other memory, and the node's */

/* A choice is told once for each collective, number of ranks, and power of two of bytes. */
static bool is_new(coll_collective collective, uint32_t p, size_t bytes)
{
    static struct {
        uint64_t *word;
        size_t n, room;
    } told;
    const uint64_t word = (uint64_t)collective << 40 | (uint64_t)p << 8 |
                          (bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0u);
    for (size_t i = 0; i < told.n; i++)
        if (told.word[i] == word)
            return false;
    if (told.n == told.room) {
        const size_t more = told.room ? 2 * told.room : 64;
        uint64_t *table = realloc(told.word, more * sizeof *table);
        if (!table)
            return false;
        told.word = table;
        told.room = more;
    }
    told.word[told.n++] = word;
    return true;
}

void report_choice(const coll_problem *problem, const coll_rule *rule, coll_status against)
{
    const size_t bytes = coll_problem_bytes(problem);
    char algorithm[256];
    if (!is_new(problem->collective, problem->p, bytes))
        return;
    coll_rule_algorithm_text(rule, algorithm, sizeof algorithm);
    fprintf(stderr, "coll: %s, %u ranks, %zu bytes: %s (%s)\n",
            coll_collective_name(problem->collective), problem->p, bytes, algorithm, rule->why);
    if (against != COLL_OK)
        fprintf(stderr, "coll:     not what was asked for: %s\n", coll_status_text(against));
}

void report_declined(const struct call *call, const char *why)
{
    static uint32_t told;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !coll_is(told, call->what))
        fprintf(stderr, "coll: %s: the library's own, as %s\n",
                coll_collective_name(call->what), why);
    told |= COLL_BIT(call->what);
}

void report_zero_copy(const char *why_not)
{
    fprintf(stderr, "coll: MPI_Alloc_mem gives memory of the %s%s\n",
            why_not ? "library, as " : "node, which all of its ranks can read",
            why_not ? why_not : "");
    if (&collheap_least && !why_not)
        fprintf(stderr, "coll: so does malloc, from %zu bytes on\n", collheap_least);
}

void report_ways(const coll_mpi_ways *ways)
{
    const char *const name[2] = {"the kernel's copy", "the library's memory"};
    if (settings.near != UNASKED)
        fprintf(stderr, "coll: long messages within a node: %s (COLL_NEAR)\n",
                name[settings.near]);
    else if (ways->times[0] > 0)
        fprintf(stderr,
                "coll: long messages within a node: %s (%d bytes each way by %s: %.1f us, by "
                "%s: %.1f us; in pieces up to %zu bytes)\n",
                name[ways->near], COLL_MPI_TRIED, name[0], ways->times[0] * 1e6, name[1],
                ways->times[1] * 1e6, ways->cut);
}

void report_job(const struct job *job)
{
    const coll_collective what = job->prepared->plan.problem.collective;
    spent[what].calls++;
    spent[what].bytes += job->bytes;
    spent[what].seconds += PMPI_Wtime() - job->started;
}

void report_memory(bool of_malloc, bool of_node, size_t bytes)
{
    __atomic_fetch_add(&asked[of_malloc][of_node].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&asked[of_malloc][of_node].bytes, bytes, __ATOMIC_RELAXED);
}

void report_end(void)
{
    static const char *const whose[4] = {"MPI_Alloc_mem, the library's",
                                         "MPI_Alloc_mem, the node's", "malloc, the library's",
                                         "malloc, the node's"};
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    fprintf(stderr, "coll: rank 0 %21s %12s %16s %12s\n", "", "calls", "bytes", "seconds");
    for (unsigned what = 0; what < COLL_COLLECTIVES; what++)
        if (spent[what].calls > 0)
            fprintf(stderr, "coll: %-28s %12llu %16llu %12.6f\n",
                    coll_collective_name((coll_collective)what),
                    (unsigned long long)spent[what].calls,
                    (unsigned long long)spent[what].bytes, spent[what].seconds);
    for (int who = 0; who < 4; who++) {
        const uint64_t calls =
            __atomic_load_n(&asked[who / 2][who % 2].calls, __ATOMIC_RELAXED);
        if (calls > 0)
            fprintf(stderr, "coll: %-28s %12llu %16llu\n", whose[who],
                    (unsigned long long)calls,
                    (unsigned long long)__atomic_load_n(&asked[who / 2][who % 2].bytes,
                                                        __ATOMIC_RELAXED));
    }
}
