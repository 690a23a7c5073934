/* tests/nic/machine.c — the counter machine: results on real memory, epochs, errors that give all buffers back, limits */
#include "support/nic_ranks.h"

/* One call of the host starts the program again, as often as it likes, with no counter opened anew. */
TEST(epochs)
{
    uint64_t random = 7;
    for (size_t a = 0; a < sizeof sums / sizeof *sums; a++)
        for (int unexpected = 0; unexpected < 2; unexpected++) {
            make(sums[a], COLL_ALLREDUCE, unexpected != 0);
            for (uint32_t epoch = 1; epoch <= 40; epoch++) {
                fill(epoch);
                CHECK_STATUS(coll_nic_world_start(&all.world, epoch % 2 ? &random : NULL),
                             COLL_OK);
                CHECK(sums_are_right(epoch));
                for (uint32_t r = 0; r < P; r++)
                    for (uint32_t c = 0; c < all.programs[r].needs.counters; c++)
                        CHECK_EQ(all.counters[r][c], epoch * all.programs[r].counts[c]);
            }
        }
}

/* Ranks start when they like: one that is ahead by an epoch disturbs nobody. And numbers may come to their end. */
TEST(ranks_that_are_ahead)
{
    enum { EPOCHS = 9 };
    for (int unexpected = 0; unexpected < 2; unexpected++) {
        uint32_t begun[P] = {0}, done = 0, most = 0;
        make(&coll_ring_allreduce, COLL_ALLREDUCE, unexpected != 0);
        for (uint32_t r = 0; r < P; r++) { /* three epochs before they wrap */
            all.machines[r].epoch = UINT32_MAX - 3;
            for (uint32_t c = 0; c < all.programs[r].needs.counters; c++)
                all.counters[r][c] = (UINT32_MAX - 3) * all.programs[r].counts[c];
        }
        for (uint32_t k = 0; done < P; k++) {
            const uint32_t r = k * 5 / 7 % P;
            if (all.machines[r].status == COLL_OK && begun[r] <= EPOCHS) {
                CHECK(begun[r] == 0 || sum_is_right(r, begun[r]));
                if (begun[r]++ == EPOCHS) {
                    done++;
                    continue;
                }
                fill_rank(r, begun[r]);
                CHECK_STATUS(coll_nic_start(&all.machines[r]), COLL_OK);
                for (uint32_t o = 0; o < P; o++)
                    most = begun[r] - begun[o] <= EPOCHS && begun[r] - begun[o] > most
                               ? begun[r] - begun[o]
                               : most;
            }
            if (all.machines[r].status == COLL_AGAIN &&
                !CHECK(coll_nic_progress(&all.machines[r]) >= 0))
                return;
        }
        CHECK(most > 0);
    }
}

TEST(broadcast)
{
    make(&coll_fnomial_bcast, COLL_BCAST, true);
    fill(1);
    CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_OK);
    for (uint32_t r = 0; r < P; r++)
        CHECK(memcmp(all.out[r], all.in[0], sizeof all.in[0]) == 0);
}

/* ---- errors ------------------------------------------------------------------------------ */

/* A wire that completes nothing by itself, and counts what it has. Its n-th call fails. */
static struct {
    uint32_t calls, fails, has, taken_back, told;
    uint32_t room; /* calls for which there is none */
    coll_status last;
} broken;

static coll_status broken_message(void *ctx, const coll_nic_message *message)
{
    (void)ctx, (void)message;
    if (broken.room > 0) {
        broken.room--;
        return COLL_AGAIN;
    }
    if (broken.calls++ == broken.fails)
        return COLL_ERR_IO;
    broken.has++;
    return COLL_STARTED;
}

static void broken_cancel(void *ctx, uint32_t op)
{
    (void)ctx, (void)op;
    broken.has--;
    broken.taken_back++;
}

static void broken_notify(void *ctx, coll_status status)
{
    (void)ctx;
    broken.told++;
    broken.last = status;
}

static const coll_nic_wire broken_wire = {
    broken_message, broken_message, NULL, NULL, NULL, NULL, broken_cancel, broken_notify, NULL};

static void break_at(uint32_t fails)
{
    memset(&broken, 0, sizeof broken);
    broken.fails = fails;
}

/* Whatever ends a program, an error at once or later, or the host's patience: the wire has nothing of it then. */
TEST(errors_give_every_buffer_back)
{
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    for (uint32_t fails = 0; fails < 4; fails++) {
        open_all(&broken_wire);
        break_at(fails);
        CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_ERR_IO);
        CHECK_STATUS(all.machines[0].status, COLL_ERR_IO);
        CHECK_EQ(broken.taken_back, fails);
        CHECK_EQ(broken.has, 0);
        CHECK_EQ(broken.told, 1);
        CHECK_STATUS(broken.last, COLL_ERR_IO);
        CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_ERR_STATE);
        CHECK_STATUS(coll_nic_progress(&all.machines[0]), COLL_ERR_IO);
        CHECK_STATUS(coll_nic_cancel(&all.machines[0], COLL_ERR_CANCELLED), COLL_ERR_STATE);
    }
    open_all(&broken_wire);
    break_at(UINT32_MAX);
    CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_OK);
    CHECK(broken.has > 1);
    CHECK_STATUS(coll_nic_cancel(&all.machines[0], COLL_OK), COLL_ERR_STATE);
    CHECK_STATUS(coll_nic_cancel(&all.machines[0], COLL_ERR_CANCELLED), COLL_OK);
    CHECK_EQ(broken.has, 0);
    CHECK_STATUS(broken.last, COLL_ERR_CANCELLED);
    for (uint32_t op = 0; op < all.programs[0].needs.ops + 2;
         op++) /* too late: nobody listens */
        coll_nic_complete(&all.machines[0], op, COLL_OK);
    CHECK_EQ(broken.told, 1);

    open_all(&broken_wire);
    break_at(UINT32_MAX);
    CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_OK);
    for (uint32_t op = 0, first = 1; op < all.programs[0].needs.ops && first; op++)
        if (all.states[0][op] == COLL_I_NIC_STARTED) {
            broken.has--; /* the wire is done with it */
            coll_nic_complete(&all.machines[0], op, COLL_ERR_PEER);
            first = 0;
        }
    CHECK_EQ(broken.has, 0);
    CHECK_STATUS(all.machines[0].status, COLL_ERR_PEER);

    fill(3); /* and all that was needed is to open them anew */
    open_all(&coll_nic_loopback);
    CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_OK);
    CHECK(sums_are_right(3));
}

/* An operation for which there is no room is asked for again, and nothing passes it. */
TEST(no_room_now)
{
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    open_all(&broken_wire);
    break_at(UINT32_MAX);
    broken.room = 3;
    CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_OK);
    CHECK_EQ(broken.has, 0);
    CHECK_STATUS(coll_nic_progress(&all.machines[0]), COLL_AGAIN);
    CHECK_STATUS(coll_nic_progress(&all.machines[0]), COLL_AGAIN);
    CHECK_EQ(broken.has, 0);
    CHECK_STATUS(coll_nic_progress(&all.machines[0]), COLL_AGAIN);
    CHECK(broken.has > 1);
    CHECK_STATUS(coll_nic_cancel(&all.machines[0], COLL_ERR_CANCELLED), COLL_OK);
}

/* A rank that never starts: the others do not end, and have their buffers back when they give up. */
TEST(a_rank_is_missing)
{
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    fill(1);
    for (uint32_t r = 1; r < P; r++)
        CHECK_STATUS(coll_nic_start(&all.machines[r]), COLL_OK);
    CHECK_STATUS(coll_nic_world_run(&all.world, NULL), COLL_ERR_DEADLOCK);
    for (uint32_t r = 1; r < P; r++) {
        CHECK_STATUS(coll_nic_cancel(&all.machines[r], COLL_ERR_CANCELLED), COLL_OK);
        for (uint32_t op = 0; op < all.programs[r].needs.ops; op++)
            CHECK(all.states[r][op] != COLL_I_NIC_STARTED);
    }
    CHECK_STATUS(coll_nic_start(&all.machines[0]), COLL_OK); /* nobody is there any more */
    CHECK_STATUS(coll_nic_progress(&all.machines[0]), COLL_AGAIN);
}

TEST(a_message_of_another_size)
{
    coll_nic_op *op;
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    op = (coll_nic_op *)(void *)all.memory[2];
    while (op->kind != COLL_NIC_SEND)
        op++;
    op->count--;
    fill(1);
    CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_ERR_SIZE);
}

/* ---- what is asked for ------------------------------------------------------------------- */

TEST(memory_that_it_takes)
{
    coll_nic_limits limits;
    size_t least = 0;
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    coll_nic_limits_init(&limits);
    for (size_t bytes = 8; bytes < sizeof all.memory[0]; bytes += 8) {
        coll_nic_memory memory;
        coll_status status;
        memory.at = malloc(bytes); /* a sanitizer sees who goes beyond it */
        memory.bytes = bytes;
        memory.used = 0;
        status = lower(0, &limits, &memory);
        free(memory.at);
        if (status == COLL_OK) {
            least = bytes;
            break;
        }
        CHECK_STATUS(status, COLL_ERR_MEMORY);
        CHECK(memory.used > bytes);
    }
    CHECK(least > 0);
}

TEST(refusals)
{
    coll_nic_limits limits;
    coll_nic_memory memory;
    coll_nic_needs needs;
    make(&coll_ring_allreduce, COLL_ALLREDUCE, true);
    needs = all.programs[1].needs;
    coll_nic_limits_init(&limits);
    CHECK(coll_nic_refusal(&needs, &limits) == NULL);
    limits.ops = needs.ops;
    limits.counters = needs.counters;
    limits.receives = needs.receives;
    CHECK(coll_nic_refusal(&needs, &limits) == NULL);
    limits.ops--;
    CHECK(strstr(coll_nic_refusal(&needs, &limits), "more operations") != NULL);
    limits.ops++;
    limits.counters--;
    CHECK(strstr(coll_nic_refusal(&needs, &limits), "more counters") != NULL);
    memory.at = all.memory[1];
    memory.bytes = sizeof all.memory[1];
    CHECK_STATUS(lower(1, &limits, &memory), COLL_OK); /* and so it takes one less */
    CHECK(coll_nic_refusal(&all.programs[1].needs, &limits) == NULL);
    limits.counters = UINT32_MAX;
    limits.receives = 1;
    CHECK(strstr(coll_nic_refusal(&needs, &limits), "more receives") != NULL);
    CHECK_STATUS(lower(1, &limits, &memory), COLL_OK);
    CHECK_EQ(all.programs[1].needs.receives, 1);
    CHECK_STATUS(coll_nic_lower(NULL, NULL, NULL, NULL, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_nic_open(NULL, NULL, NULL, NULL, NULL, NULL), COLL_ERR_NULL);
}

TEST(names)
{
    for (int kind = 0; kind <= COLL_NIC_KINDS; kind++)
        CHECK((strcmp(coll_nic_kind_name((coll_nic_kind)kind), "unknown kind") == 0) ==
              (kind == COLL_NIC_KINDS));
}

int main(void)
{
    RUN(epochs);
    RUN(ranks_that_are_ahead);
    RUN(broadcast);
    RUN(errors_give_every_buffer_back);
    RUN(no_room_now);
    RUN(a_rank_is_missing);
    RUN(a_message_of_another_size);
    RUN(memory_that_it_takes);
    RUN(refusals);
    RUN(names);
    return check_done();
}
