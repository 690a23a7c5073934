/* The conformance kit: over the transports of the library, whose ranks are driven by one thread,
 * each by a thread of its own, or each by a process; and over transports of which each breaks the
 * contract in one way, which the check that is named after it finds, in a sentence. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transports/conformance.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/machine_costs.h"
#include "support/faulty.h"
#include "support/processes.h"

/* Messages in flight that fill every queue; rounds of one thread, and of ranks that drive themselves. */
enum { MOST = 8, DEEP = 150, FEW_ROUNDS = 500, MANY_ROUNDS = 30000 };

/* A kit for rank r of p, with memory of its own. */
static bool prepare(coll_conformance *kit, const coll_transport *transport, void *ctx,
                    uint32_t r, uint32_t p, size_t longest, uint32_t depth, uint32_t patience,
                    uint32_t skip)
{
    coll_conformance_task task = {transport, ctx,      r,    p,    longest,
                                  depth,     patience, skip, NULL, 0};
    task.bytes = coll_conformance_bytes(&task);
    task.memory = malloc(task.bytes);
    return CHECK(task.memory != NULL) &&
           CHECK_STATUS(coll_conformance_init(kit, &task), COLL_OK);
}

#define ABSENT(check) (1u << COLL_CONFORMANCE_##check)
/* Of processes: the kit's memory is private, into which nobody puts. */
#define PRIVATE ABSENT(PUTS)

/* Did all that is there pass? `absent`: mask of what is not. Where each rank drives itself, queues are
 * full by chance. */
static void passed(const coll_conformance *kits, uint32_t n, uint32_t absent, bool by_chance)
{
    const char *sentence = coll_conformance_sentence(kits, n);
    if (!CHECK(*sentence == 0))
        printf("    %s\n", sentence);
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS && *sentence == 0; c++) {
        const coll_conformance_check check = (coll_conformance_check)c;
        const coll_conformance_result result = coll_conformance_result_of(kits, n, check);
        if (!CHECK(result == (absent >> c & 1u ? COLL_CONFORMANCE_NOT_THERE
                                               : COLL_CONFORMANCE_PASSED) ||
                   (by_chance && check == COLL_CONFORMANCE_REFUSAL)))
            printf("    %s, p = %u: %s\n", coll_conformance_name(check), (unsigned)kits->task.p,
                   coll_conformance_result_text(result));
    }
}

static void discard(coll_conformance *kits, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        free(kits[r].task.memory);
}

static uint32_t slow_is_absent(uint32_t p)
{
    return p < 3 ? ABSENT(SLOW_PEER) : 0;
}

/* ---- one thread -------------------------------------------------------------------------- */

static coll_conformance kit[MOST];
static coll_loopback_rank end[MOST];
static void *world_memory;

/* Prepares the kits of p ranks over a world of loopback. */
static bool fresh(const coll_transport *transport, uint32_t p, size_t longest)
{
    const size_t bytes = COLL_LOOPBACK_BYTES(FAULTY_MESSAGES);
    bool well;
    world_memory = calloc(1, bytes); /* some faults look at entries that were never used */
    well =
        CHECK(world_memory != NULL) &&
        CHECK_STATUS(coll_loopback_init(&faulty_world, p, FAULTY_MESSAGES, world_memory, bytes),
                     COLL_OK);
    for (uint32_t r = 0; r < p && well; r++)
        well = CHECK_STATUS(coll_loopback_attach(&faulty_world, r, &end[r]), COLL_OK) &&
               prepare(&kit[r], transport, &end[r], r, p, longest, 0, FEW_ROUNDS, 0);
    for (uint32_t r = 0; r < p && well; r++)
        coll_conformance_set_readable(&kit[r], faulty_readable);
    return well;
}

static void stale(uint32_t p)
{
    discard(kit, p);
    free(world_memory);
}

enum {
    LOCAL = ABSENT(COPY) | ABSENT(REDUCE),
    ARRIVAL = ABSENT(ARRIVAL),
    CLAIMS = ABSENT(USES) | ABSENT(CLAIMS),
    SHARED = ABSENT(SHARED) | ABSENT(TURNS),
    NOT_LOCAL =
        ABSENT(EVENTS) | ABSENT(KEPT), /* what transports within a machine do not have */
    FAILURES = ABSENT(CANCEL_RECV) | ABSENT(CANCEL_SEND) | ABSENT(ABORT) | ABSENT(SIZE_ERROR)
};

/* What cannot be prepared; what there is to be read before anything runs. */
TEST(preparing)
{
    static unsigned char memory[1 << 16];
    coll_conformance_task task = {
        &coll_loopback_transport, &end[0], 1, 2, 0, 0, 1, 0, memory, 0};
    task.bytes = coll_conformance_bytes(&task);
    CHECK(task.bytes < sizeof memory);
    CHECK_STATUS(coll_conformance_init(NULL, &task), COLL_ERR_NULL);
    CHECK_STATUS(coll_conformance_init(kit, NULL), COLL_ERR_NULL);
    task.memory = NULL;
    CHECK_STATUS(coll_conformance_init(kit, &task), COLL_ERR_NULL);
    task.memory = memory + 1;
    CHECK_STATUS(coll_conformance_init(kit, &task), COLL_OK);
    CHECK((unsigned char *)kit->ops - memory <= (ptrdiff_t)sizeof(void *));
    CHECK_EQ(kit->task.patience, 256);
    CHECK_STATUS(kit->status, COLL_AGAIN);
    CHECK_EQ(coll_conformance_result_of(kit, 1, COLL_CONFORMANCE_ORDER),
             COLL_CONFORMANCE_NOT_RUN);
    CHECK_EQ(*coll_conformance_sentence(kit, 1), 0);
    task.bytes--;
    CHECK_STATUS(coll_conformance_init(kit, &task), COLL_ERR_MEMORY);
    task.rank = 2;
    CHECK_STATUS(coll_conformance_init(kit, &task), COLL_ERR_RANK);
    task.p = 1;
    CHECK_STATUS(coll_conformance_init(kit, &task), COLL_ERR_RANKS);
    for (uint32_t c = 0; c <= COLL_CONFORMANCE_CHECKS; c++) {
        const bool is = c < COLL_CONFORMANCE_CHECKS;
        const coll_conformance_check check = (coll_conformance_check)c;
        CHECK((strcmp(coll_conformance_name(check), "unknown check") != 0) == is);
        CHECK((strcmp(coll_conformance_text(check), "unknown check") != 0) == is);
    }
}

TEST(loopback)
{
    for (uint32_t p = 2; p <= MOST; p++) {
        if (fresh(&coll_loopback_transport, p, 1 << (p + 4))) {
            CHECK_STATUS(coll_conformance_run(kit, p), COLL_OK);
            passed(kit, p,
                   LOCAL | SHARED | ARRIVAL | ABSENT(DEAD) | ABSENT(REFUSAL) | NOT_LOCAL |
                       slow_is_absent(p),
                   false);
            CHECK_EQ(faulty_world.n_free, FAULTY_MESSAGES); /* nothing is left over */
        }
        stale(p);
    }
}

/* Transports that keep the contract, in other ways. */
TEST(sound)
{
    for (uint32_t k = 0; k < 7; k++) {
        const uint32_t refused = ABSENT(ACQUIRE) | ABSENT(REDUCE) | ABSENT(NETWORK_REDUCE);
        uint32_t absent = SHARED | ARRIVAL | ABSENT(DEAD) | ABSENT(REFUSAL);
        coll_transport t;
        records own;
        faulty_sound(&t, &own);
        switch (k) {
        case 0: /* nothing but what is needed, one tag, short messages */
            memset(&own, 0, sizeof own);
            t.copy = NULL, t.reduce = NULL;
            t.tags = 0, t.max_bytes = 3;
            absent |= LOCAL | FAILURES | CLAIMS | refused | ABSENT(MULTICAST) | ABSENT(TAGS) |
                      NOT_LOCAL | ABSENT(TAGS_APART) | ABSENT(PUTS);
            break;
        case 1:
            t.send = narrow_send;
            absent &= ~(uint32_t)ABSENT(REFUSAL);
            break;
        case 2:
            own.zero_copy.acquire = refusing_acquire, t.reduce = refusing_reduce;
            own.in_network.reduce = refusing_network_reduce;
            own.arrival.recv_reduce = refusing_recv_reduce;
            absent |= refused;
            break;
        case 3:
            t.tags = 2, t.max_bytes = 1;
            absent |= CLAIMS | (FAILURES & ~(uint32_t)ABSENT(SIZE_ERROR));
            break;
        case 4:
            t.tags = 5, own.zero_copy.max_bytes = 9, own.in_network.max_bytes = 17;
            absent |= CLAIMS | (FAILURES & ~(uint32_t)ABSENT(SIZE_ERROR));
            break;
        case 5: /* messages are combined as they arrive */
            t.test = arriving_test;
            own.arrival.recv_reduce = sound_recv_reduce;
            absent &= ~(uint32_t)ARRIVAL;
            break;
        default: /* errors are told by messages in flight alone */
            own.failure.cancel = NULL;
            absent |= FAILURES & ~(uint32_t)ABSENT(SIZE_ERROR);
        }
        records_use(&own, &t);
        if (fresh(&t, FAULTY_RANKS, 0)) {
            CHECK_STATUS(coll_conformance_run(kit, FAULTY_RANKS), COLL_OK);
            passed(kit, FAULTY_RANKS, absent, false);
            CHECK(faulty.kept == 0 && (faulty.keeps != 0) == (k != 0));
        }
        stale(FAULTY_RANKS);
    }
}

/* Is this the one check that fails, with this sentence? */
static void failed(uint32_t p, coll_conformance_check check, const char *sentence)
{
    char whole[COLL_CONFORMANCE_SENTENCE];
    (void)snprintf(whole, sizeof whole, "%s (%s): %s", coll_conformance_name(check),
                   coll_conformance_text(check), sentence);
    CHECK_STATUS(coll_conformance_run(kit, p), COLL_ERR_IO);
    if (!CHECK(strcmp(coll_conformance_sentence(kit, p), whole) == 0))
        printf("    %s\n", coll_conformance_sentence(kit, p));
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS; c++)
        CHECK((coll_conformance_result_of(kit, p, (coll_conformance_check)c) ==
               COLL_CONFORMANCE_FAILED) == (c == (uint32_t)check));
}

TEST(broken)
{
    for (uint32_t i = 0; i < FAULTS; i++) {
        coll_transport t;
        records own;
        faulty_make(&t, &own, &faults[i]);
        printf("    %s\n", faults[i].name);
        if (fresh(&t, FAULTY_RANKS, 0))
            failed(FAULTY_RANKS, faults[i].check, faults[i].sentence);
        stale(FAULTY_RANKS);
    }
}

/* ---- SHARED ------------------------------------------------------------------------------ */

/* Over threads, in one thread. */
static bool fresh_threads(coll_threads **world, const coll_transport *t, uint32_t p,
                          uint32_t patience, uint32_t skip)
{
    bool well = CHECK((*world = coll_threads_create(p)) != NULL) &&
                CHECK_STATUS(coll_threads_share(*world, 4096), COLL_OK);
    for (uint32_t r = 0; r < p && well; r++)
        well = prepare(&kit[r], t, coll_threads_rank(*world, r), r, p, 20000, DEEP, patience,
                       skip);
    return well;
}

static coll_status early_enter(void *ctx, uint32_t tag, uint32_t use)
{
    (void)ctx, (void)tag, (void)use;
    return COLL_OK;
}

static size_t private_part(void *ctx, bool take, uint32_t *use, void **memory)
{
    static uint32_t mine[MOST][256];
    const size_t bytes = coll_threads_transport.node_memory->shared(ctx, take, use, memory);
    *memory = mine[((const coll_i_node_rank *)ctx)->rank];
    return bytes;
}

static size_t no_part(void *ctx, bool take, uint32_t *use, void **memory)
{
    (void)ctx, (void)take, (void)use, (void)memory;
    return 0;
}

TEST(shared)
{
    const coll_conformance_check only[] = {COLL_CONFORMANCE_SHARED, COLL_CONFORMANCE_TURNS};
    const char *sentences[] = {"rank 0, in SHARED: word 1 of use 0 is 0 instead of 1048576",
                               "rank 0, in SHARED: word 0 of use 3 is 1012 instead of 1000"};
    coll_threads *world;
    coll_transport t;
    records own;
    for (uint32_t i = 0; i < 2; i++) {
        t = coll_threads_transport;
        records_of(&own, &t);
        if (i == 0)
            own.node_memory.shared = private_part;
        else
            own.node_memory.enter = early_enter;
        records_use(&own, &t);
        if (fresh_threads(&world, &t, 3, FEW_ROUNDS, ABSENT(SIZES)))
            failed(3, only[i], sentences[i]);
        CHECK_EQ(coll_conformance_result_of(kit, 3, COLL_CONFORMANCE_SIZES),
                 COLL_CONFORMANCE_NOT_RUN);
        discard(kit, 3);
        coll_threads_destroy(world);
    }
    t = coll_threads_transport;
    records_of(&own, &t);
    own.node_memory.shared = no_part;
    records_use(&own, &t);
    if (fresh_threads(&world, &t, 2, FEW_ROUNDS, 0)) {
        CHECK_STATUS(coll_conformance_run(kit, 2), COLL_OK);
        passed(kit, 2, SHARED | ARRIVAL | NOT_LOCAL | ABSENT(REDUCE) | slow_is_absent(2),
               false);
    }
    discard(kit, 2);
    coll_threads_destroy(world);
}

/* ---- ranks that drive themselves --------------------------------------------------------- */

static void *drive(void *arg)
{
    (void)coll_conformance_run((coll_conformance *)arg, 1);
    return NULL;
}

TEST(threads)
{
    for (uint32_t p = 2; p <= 4; p++) {
        for (int alone = 0; alone < 2; alone++) {
            pthread_t thread[MOST];
            coll_threads *world;
            if (fresh_threads(&world, &coll_threads_transport, p,
                              alone ? MANY_ROUNDS : FEW_ROUNDS, 0)) {
                for (uint32_t r = 0; r < p && alone; r++)
                    if (pthread_create(&thread[r], NULL, drive, &kit[r]) != 0)
                        abort();
                for (uint32_t r = 0; r < p && alone; r++)
                    (void)pthread_join(thread[r], NULL);
                if (!alone)
                    CHECK_STATUS(coll_conformance_run(kit, p), COLL_OK);
                passed(kit, p, ARRIVAL | NOT_LOCAL | ABSENT(REDUCE) | slow_is_absent(p), alone);
            }
            discard(kit, p);
            coll_threads_destroy(world);
        }
    }
}

static const uint32_t ways[] = {0, DIRECT, WHOLE, ZERO_COPY | WHOLE};

static int drive_process(coll_shm *shm, void *arg)
{
    const uint32_t p = coll_shm_size(shm);
    if (arg) /* messages that have no address are read in parts */
        shm->node.read_from = 0;
    check_failures = check_count = 0;
    if (prepare(kit, coll_shm_transport(shm), shm, coll_shm_rank(shm), p, 200000, DEEP,
                MANY_ROUNDS, 0)) {
        (void)coll_conformance_run(kit, 1);
        passed(kit, 1, ARRIVAL | NOT_LOCAL | PRIVATE | ABSENT(REDUCE) | slow_is_absent(p),
               true);
    }
    discard(kit, 1);
    return check_failures != 0;
}

TEST(processes)
{
    for (uint32_t p = 2; p <= 4; p += 2) {
        for (uint32_t k = 0; k < 4; k++) {
            pid_t pid[MOST];
            processes_start(pid, p, 4096, ways[k], drive_process, NULL);
            CHECK(processes_end(pid, p));
        }
    }
}

TEST(segment)
{
    for (uint32_t k = 0; k < 4; k++) {
        coll_shm *shm[MOST];
        bool well = CHECK(ends_make(shm, 3, 4096, ways[k]));
        for (uint32_t r = 0; r < 3 && well; r++)
            well = prepare(&kit[r], coll_shm_transport(shm[r]), shm[r], r, 3, 200000, DEEP,
                           FEW_ROUNDS, 0);
        if (well) {
            CHECK_STATUS(coll_conformance_run(kit, 3), COLL_OK);
            passed(kit, 3, ARRIVAL | NOT_LOCAL | PRIVATE | ABSENT(REDUCE), false);
        }
        discard(kit, 3);
        ends_free(shm, 3);
    }
}

/* … and whatever the machine's copies take: each machine's ways, out of a file. */
TEST(other_machines)
{
    for (uint32_t kind = 0; kind < COSTS_KINDS; kind++)
        for (uint32_t k = 1; k < 4; k++) {
            char path[COSTS_PATH];
            pid_t pid[MOST];
            CHECK(costs_force(path, (costs_of)kind));
            processes_start(pid, 2 + k % 2, 4096, ways[k], drive_process, path);
            CHECK(processes_end(pid, 2 + k % 2));
            costs_forget(path);
        }
}

int main(void)
{
    RUN(preparing);
    RUN(loopback);
    RUN(sound);
    RUN(broken);
    RUN(shared);
    RUN(threads);
    RUN(segment);
    RUN(processes);
    RUN(other_machines);
    return check_done();
}
