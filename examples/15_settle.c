/* examples/15_settle.c — calls that come again find the fastest algorithm
 *
 * A program makes the same allreduce over and over. Nobody knows which algorithm is the fastest here, so
 * its first calls try some: those that a table names, in text as coll_table_load reads it. Then the ranks
 * agree by one message each, and all later calls take the fastest one.
 *
 *   cc -O2 -Iinclude examples/15_settle.c -o 15 -lpthread && ./15
 */
#include "coll/comm/settle.h"
#include "coll/table.h"
#include "on_threads.h"

enum { ROUNDS = 100, COUNT = 8192, CACHED = 8 };

static const char near[] = "allreduce  ring                     # near ties\n"
                           "allreduce  rabenseifner\n"
                           "allreduce  recursive_doubling\n"
                           "allreduce  linear\n";

static uint64_t nanoseconds(void *arg)
{
    (void)arg;
    return (uint64_t)(on_threads_now() * 1e9);
}

/* Prints what was tried, and what it took. */
static void print(const coll_settle_entry *entry)
{
    for (uint32_t i = 0; i < entry->n; i++)
        printf("%-20s %8.1f us%s\n", entry->one[i].algorithm->name,
               (double)entry->one[i].took / 1000, i == entry->chosen ? "  <- settled" : "");
}

static int rank_main(coll_comm *comm)
{
    static char words[ON_THREADS_MOST][COLL_TABLE_BYTES(8)];
    static coll_settle_entry entries[ON_THREADS_MOST][4];
    static int32_t in[ON_THREADS_MOST][COUNT], out[ON_THREADS_MOST][COUNT];
    const int32_t p = (int32_t)comm->p, rank = (int32_t)comm->rank;
    int32_t *mine = in[rank], *sums = out[rank];
    coll_settle settle;
    coll_settle_options options;
    coll_table table;
    coll_args args;
    int failed = 0;

    coll_table_init(&table, words[rank], sizeof words[rank]);
    coll_settle_options_init(&options);
    options.clock.now = nanoseconds;
    options.alternatives = &table.list;
    if (!coll_table_read(&table, "near ties", near)) {
        printf("%s\n", table.error.text);
        return 1;
    }
    failed |= coll_comm_settle(comm, &settle, entries[rank], 4, &options) != COLL_OK;

    for (int32_t i = 0; i < ROUNDS && !failed; i++) {
        for (int32_t k = 0; k < COUNT; k++)
            mine[k] = rank + i + k;
        failed |= coll_allreduce(comm, mine, sums, COUNT, COLL_I32, COLL_SUM) != COLL_OK;
        for (int32_t k = 0; k < COUNT; k++)
            failed |= sums[k] != p * (i + k) + p * (p - 1) / 2;
    }

    coll_args_init(&args, COLL_ALLREDUCE);
    args.in = mine;
    args.count = COUNT;
    args.type = COLL_I32;
    failed |= coll_settle_of(comm, &args) == NULL ||
              coll_settle_of(comm, &args)->state != COLL_SETTLE_SETTLED;
    if (rank == 0 && !failed)
        print(coll_settle_of(comm, &args));
    if (rank == 0)
        printf("%d allreduces on %d ranks: %s\n", ROUNDS, (int)p, failed ? "WRONG" : "right");
    return failed;
}

int main(void)
{
    return on_threads(4, rank_main);
}
