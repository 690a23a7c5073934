/* Back-to-back collectives of any mix, in SHARED and by messages, several at a time and no barrier
 * between them: over threads, and over processes, by the rules for a node; of processes, with long
 * messages in pieces, and read whole by the kernel.
 *
 * COLL_MIXED_CALLS: how many (20000); a million takes about a minute. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>

#include "coll/select/intra_node.h"
#include "coll/transports/threads.h"
#include "support/mixed_calls.h"
#include "support/processes.h"

enum { SHARED = 4 << 20, CALLS = 20000 };

static uint32_t calls(void)
{
    const char *const text = getenv("COLL_MIXED_CALLS");
    return text ? (uint32_t)strtoul(text, NULL, 10) : CALLS;
}

/* Runs a rank's calls; false: it says which went wrong. */
static bool run(const coll_transport *transport, void *ctx, uint32_t rank, uint32_t p)
{
    mixed_memory *const memory = (mixed_memory *)malloc(sizeof *memory);
    coll_comm comm;
    uint32_t wrong;
    unsigned char cache[COLL_CACHE_BYTES(4)];
    if (!memory ||
        coll_comm_init(&comm, transport, ctx, rank, p, memory->scratch,
                       sizeof memory->scratch) != COLL_OK ||
        coll_comm_set_cache(&comm, cache, sizeof cache) != COLL_OK ||
        coll_comm_rules(&comm, coll_node_rules(p > 2, transport->zero_copy->max_bytes == 0)) !=
            COLL_OK)
        return false;
    wrong = mixed_calls(&comm, memory, p, calls() / 4);
    if (wrong > 0)
        printf("    rank %u of %u: call %u\n", rank, p, wrong - 1);
    free(memory);
    return wrong == 0 && coll_comm_free(&comm) == COLL_OK;
}

/* ---- threads ----------------------------------------------------------------------------- */

static coll_threads *world;

static void *thread_main(void *arg)
{
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    return run(&coll_threads_transport, coll_threads_rank(world, rank), rank, world->p) ? arg
                                                                                        : world;
}

TEST(threads)
{
    for (uint32_t p = 2; p <= 4; p += 2) {
        pthread_t thread[4];
        world = coll_threads_create(p);
        CHECK_STATUS(coll_threads_share(world, SIZE_MAX), COLL_ERR_MEMORY);
        CHECK_STATUS(coll_threads_share(world, SHARED), COLL_OK);
        CHECK_STATUS(coll_threads_share(world, SHARED), COLL_ERR_STATE);
        for (uintptr_t r = 0; r < p; r++)
            if (pthread_create(&thread[r], NULL, thread_main, (void *)r) != 0)
                abort();
        for (uint32_t r = 0; r < p; r++) {
            void *is;
            (void)pthread_join(thread[r], &is);
            CHECK(is != world);
        }
        coll_threads_destroy(world);
    }
}

/* ---- processes --------------------------------------------------------------------------- */

/* `arg`: as ranks that share processors and have huge pages, whether or not there are some; or NULL. */
static int process_main(coll_shm *shm, void *arg)
{
    if (arg && shm->node.pull) {
        shm->ways |= COLL_I_IPC_FROM_HUGE;
        coll_i_ipc_choose(shm);
    }
    if (coll_shm_size(shm) > 2 && !coll_shm_is_oversubscribed(shm))
        return 2;
    return run(coll_shm_transport(shm), shm, coll_shm_rank(shm), coll_shm_size(shm)) ? 0 : 1;
}

/* Lets this process run on two of its processors, so that three ranks share them. */
static void stay_on_two(void)
{
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    uint32_t n = 0;
    coll_processors_add(set);
    for (uint32_t i = 0; i < 64 * COLL_PROCESSORS_WORDS; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;
        if (set[i / 64] & bit && ++n > 2)
            set[i / 64] &= ~bit;
    }
    CHECK(syscall(SYS_sched_setaffinity, 0l, sizeof set, set) == 0);
}

TEST(processes)
{
    stay_on_two();
    for (uint32_t p = 2; p <= 3; p++)
        for (uint32_t ways = 0; ways <= COLL_I_IPC_WHOLE; ways += COLL_I_IPC_WHOLE) {
            static char huge;
            pid_t pid[PROCESSES_MOST];
            processes_start(pid, p, SHARED, ways, process_main, ways && p > 2 ? &huge : NULL);
            CHECK(processes_end(pid, p));
        }
}

/* ---- turns ------------------------------------------------------------------------------- */

/* A part of SHARED is used again when all ranks are done with it, in whatever order they end. */
TEST(turns)
{
    const coll_transport *const t = &coll_threads_transport;
    coll_threads *const two = coll_threads_create(2);
    void *a = coll_threads_rank(two, 0), *b = coll_threads_rank(two, 1), *memory, *first = NULL;
    uint32_t use;
    CHECK_EQ(t->node_memory->shared(a, false, &use, &memory), 0);
    CHECK_STATUS(coll_threads_share(two, 4 * COLL_NODE_PARTS * COLL_NODE_LINE), COLL_OK);
    for (uint32_t i = 0; i <= COLL_NODE_PARTS; i++) {
        CHECK_EQ(t->node_memory->shared(a, false, &use, &memory), 4 * COLL_NODE_LINE);
        CHECK_EQ(t->node_memory->shared(a, true, &use, &memory), 4 * COLL_NODE_LINE);
        CHECK_EQ(use, i);
        first = i == 0 ? memory : first;
        CHECK((memory == first) == (i % COLL_NODE_PARTS == 0));
        CHECK_STATUS(t->node_memory->enter(a, 0, i),
                     i < COLL_NODE_PARTS ? COLL_OK : COLL_AGAIN);
    }
    t->node_memory->leave(a, 1);
    t->node_memory->leave(b, 0);
    CHECK_STATUS(t->node_memory->enter(a, 0, COLL_NODE_PARTS),
                 COLL_AGAIN); /* rank 0 is not done itself */
    CHECK_STATUS(t->node_memory->enter(b, 0, COLL_NODE_PARTS), COLL_AGAIN);
    t->node_memory->leave(a, 0);
    CHECK_STATUS(t->node_memory->enter(a, 0, COLL_NODE_PARTS), COLL_OK);
    CHECK_STATUS(t->node_memory->enter(b, 0, COLL_NODE_PARTS), COLL_OK);
    CHECK_STATUS(t->node_memory->enter(a, 0, COLL_NODE_PARTS + 1), COLL_AGAIN);
    t->node_memory->leave(b, 1);
    CHECK_STATUS(t->node_memory->enter(a, 0, COLL_NODE_PARTS + 1), COLL_OK);
    t->failure->abort(b, 7, 1);
    CHECK_STATUS(t->node_memory->enter(a, 7, COLL_NODE_PARTS + 2), COLL_ERR_PEER);
    coll_threads_destroy(two);
}

int main(void)
{
    RUN(turns);
    RUN(threads);
    RUN(processes);
    return check_done();
}
