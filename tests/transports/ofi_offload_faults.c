/* NIC programs as deferred work of libfabric: operations one by one, errors that give all buffers back, what is refused */
#include <sys/mman.h>

#include "support/offloaded.h"

/* ---- operations, one by one -------------------------------------------------------------- */

enum { N = 20000 };

static coll_nic_op operation(coll_nic_kind kind, uint16_t trigger, uint32_t threshold,
                             uint16_t done)
{
    coll_nic_op op;
    memset(&op, 0, sizeof op);
    op.kind = (uint8_t)kind;
    op.trigger = trigger;
    op.threshold = threshold;
    op.done = done;
    op.count = N;
    op.inputs = 1;
    return op;
}

/* A program of one rank: several operands, which an atomic does not combine at once; operands that are swapped. */
static int by_itself(void)
{
    static double in[4 * N], out[N], scratch[N], sum[N];
    coll_nic_op ops[] = {operation(COLL_NIC_REDUCE, COLL_NIC_NONE, 0, 0),
                         operation(COLL_NIC_COPY, 0, 1, 1), operation(COLL_NIC_REDUCE, 1, 1, 0),
                         operation(COLL_NIC_ADD, 0, 2, 1),
                         operation(COLL_NIC_END, 1, 2, COLL_NIC_NONE)};
    const uint32_t counts[] = {2, 2};
    coll_nic_program program = {ops, counts, NULL, 0, 0, 0, {5, 2, 0, 0}};
    coll_op op;
    coll_ofi_offload_needs needs;
    coll_ofi_offload *o;
    coll_ofi_buffers buffers = {&op, in, out, scratch, sizeof(double)};
    char why[COLL_OFI_WHY] = "";
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_F64), COLL_OK);
    ops[0].dst = COLL_AT(COLL_OUT, 0);
    ops[0].src = COLL_AT(COLL_IN, 0);
    ops[0].via = COLL_AT(COLL_IN, N);
    ops[0].inputs = 3;
    ops[0].stride = N;
    ops[1].dst = ops[2].dst = ops[2].via = COLL_AT(COLL_SCRATCH, 0);
    ops[1].src = COLL_AT(COLL_OUT, 0);
    ops[2].src = COLL_AT(COLL_IN, 0);
    CHECK(coll_ofi_offload_needs_of(me.nic, &program, &op, sizeof(double), &needs) == NULL);
    o = coll_ofi_offload_open(me.nic, &program, &buffers, 3, why);
    if (!CHECK(o != NULL)) {
        printf("    %s\n", why);
        return 1;
    }
    CHECK(memcmp(&needs, coll_ofi_offload_has(o), sizeof needs) == 0);
    for (uint32_t start = 0; start < 3; start++) {
        for (size_t i = 0; i < 4 * N; i++)
            in[i] = (double)((i + start) % 1013) / 3;
        for (size_t i = 0; i < N; i++) {
            sum[i] = ((in[i] + in[N + i]) + in[2 * N + i]) + in[3 * N + i];
            out[i] = scratch[i] = -1;
        }
        CHECK_STATUS(coll_ofi_offload_arm(o, 1, start + 1), COLL_OK);
        CHECK_STATUS(coll_ofi_offload_start(o), COLL_OK);
        CHECK_STATUS(coll_ofi_offload_start(o), COLL_ERR_STATE);
        CHECK_STATUS(coll_ofi_offload_wait(o, OFFLOADED_PATIENCE), COLL_OK);
        CHECK(memcmp(out, sum, sizeof sum) == 0);
        for (size_t i = 0; i < N; i++)
            sum[i] = in[i] + sum[i];
        CHECK(memcmp(scratch, sum, sizeof sum) == 0);
    }
    o->epoch = (uint32_t)INT32_MAX / 2;
    CHECK_STATUS(coll_ofi_offload_start(o), COLL_ERR_OVERFLOW);
    coll_ofi_offload_close(o);
    CHECK_EQ(me.nic->counters, 0);
    return 0;
}

TEST(operations)
{
    offloaded(1, by_itself);
}

/* ---- what is refused --------------------------------------------------------------------- */

static const char *refused(coll_collective collective, const char *algorithm, coll_type type,
                           coll_operator which)
{
    static char why[COLL_OFI_WHY];
    offloaded_call c = call_by(collective, algorithm, type, 10);
    c.operator_ = which;
    CHECK(c.algorithm && call_plan(&c) && !call_open(&c, 1));
    memcpy(why, c.why, sizeof why);
    call_end(&c);
    return why;
}

static void call_open_signals(offloaded_call *c, const coll_nic_program *program,
                              uint32_t slots)
{
    CHECK(program->signals > 0);
    call_open_program(c, program, slots);
}

static int refusals(void)
{
    static const coll_operator none[] = {COLL_MIN, COLL_MAX};
    coll_nic_limits limits;
    offloaded_call c;
    const uint32_t open = me.nic->counters;
    for (size_t i = 0; i < 2; i++)
        CHECK(strstr(refused(COLL_ALLREDUCE, "ring", COLL_F64, none[i]), "no such operator"));
    CHECK(strstr(refused(COLL_ALLREDUCE, "ring", COLL_F16, COLL_SUM), "no such operator"));
    CHECK(strstr(refused(COLL_ALLREDUCE, "ring", COLL_F64_I32, COLL_MINLOC), "no such op"));
    me.nic->counters = (uint32_t)me.nic->info->domain_attr->cntr_cnt - 1;
    CHECK(strstr(refused(COLL_ALLREDUCE, "ring", COLL_I32, COLL_SUM), "more counters"));
    me.nic->counters = open;
    c = call_by(COLL_ALLREDUCE, "ring", COLL_I32, 10);
    CHECK(call_plan(&c));
    coll_nic_limits_init(&limits);
    limits.unexpected = false;
    call_lower(&c, &limits, call_open_signals, 1);
    CHECK(c.offload == NULL && strstr(c.why, "signals its peers"));
    call_end(&c);
    return 0;
}

TEST(what_is_refused)
{
    char why[COLL_OFI_WHY];
    coll_ofi_options options = {0};
    offloaded(2, refusals);
    options.provider = "tcp;ofi_rxm";
    options.source = "127.0.0.1";
    CHECK(coll_ofi_nic_open(0, 2, &options, why) == NULL);
    CHECK(strstr(why, "has not triggered operations") != NULL);
    CHECK(coll_ofi_nic_open(2, 2, &options, why) == NULL);
    CHECK(strstr(why, "no rank 2 of 2") != NULL);
}

/* ---- errors ------------------------------------------------------------------------------ */

/* Opens an allreduce whose buffers are pages of their own. */
static bool open_sums(offloaded_call *c, uint32_t slots, size_t count)
{
    memset(c, 0, sizeof *c);
    c->collective = COLL_ALLREDUCE;
    c->algorithm = coll_find(COLL_ALLREDUCE, "recursive_doubling");
    c->type = COLL_I32;
    c->count = count;
    return CHECK(call_plan(c)) && CHECK(call_open(c, slots));
}

/* Memory that is gone at once where anybody still touches it. */
static void move_to_pages(offloaded_call *c)
{
    unsigned char **const all[] = {&c->in, &c->out, &c->scratch};
    const size_t bytes[] = {c->in_bytes, c->out_bytes, c->scratch_bytes};
    for (size_t i = 0; i < 3; i++) {
        free(*all[i]);
        *all[i] = mmap(NULL, bytes[i] + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        CHECK(*all[i] != MAP_FAILED);
    }
}

static void unmap(offloaded_call *c)
{
    (void)munmap(c->in, c->in_bytes + 1);
    (void)munmap(c->out, c->out_bytes + 1);
    (void)munmap(c->scratch, c->scratch_bytes + 1);
    c->in = c->out = c->scratch = NULL;
}

/* One rank never starts. The others give up, and have their buffers back: these are unmapped while the messages of
 * those that were too fast are on their way. Then all open anew. */
static int a_rank_is_missing(void)
{
    offloaded_call c = call_by(COLL_ALLREDUCE, "recursive_doubling", COLL_I32, 100000);
    CHECK(call_plan(&c));
    move_to_pages(&c);
    CHECK(call_open(&c, 1));
    if (me.rank != 2) {
        CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
        CHECK_STATUS(coll_ofi_offload_wait(c.offload, 300), COLL_AGAIN);
        CHECK_STATUS(coll_ofi_offload_cancel(c.offload, COLL_OK), COLL_ERR_STATE);
        CHECK_STATUS(coll_ofi_offload_cancel(c.offload, COLL_ERR_CANCELLED), COLL_OK);
        CHECK_STATUS(coll_ofi_offload_test(c.offload), COLL_ERR_CANCELLED);
        CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_ERR_CANCELLED);
        unmap(&c);
    }
    CHECK_STATUS(coll_barrier(&me.comm), COLL_OK);
    if (me.rank == 2)
        unmap(&c);
    call_end(&c);
    coll_ofi_nic_close(me.nic);
    if (!nic_open() || !open_sums(&c, 1, 10))
        return 1;
    call_fill(&c, 5);
    CHECK(call_by_host(&c));
    CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
    CHECK_STATUS(coll_ofi_offload_wait(c.offload, OFFLOADED_PATIENCE), COLL_OK);
    CHECK(call_is_right(&c));
    call_end(&c);
    return 0;
}

TEST(time_outs_give_every_buffer_back)
{
    offloaded(4, a_rank_is_missing);
}

/* A rank's process ends while a thousand epochs run: nobody waits for ever, nor ends well. */
static int a_rank_ends(void)
{
    enum { EPOCHS = 1000 };
    offloaded_call c;
    coll_status status;
    if (!open_sums(&c, EPOCHS, 1000))
        return 1;
    call_fill(&c, 1);
    CHECK_STATUS(coll_ofi_offload_arm(c.offload, 1, EPOCHS), COLL_OK);
    status = coll_barrier(&me.comm);
    if (me.rank == 2)
        _exit(0); /* perhaps before the others have all that the barrier sent them */
    CHECK(status == COLL_OK || status == COLL_ERR_PEER);
    CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
    status = coll_ofi_offload_wait(c.offload, 1500);
    CHECK(status == COLL_AGAIN || status == COLL_ERR_IO);
    if (status == COLL_AGAIN)
        CHECK_STATUS(coll_ofi_offload_cancel(c.offload, COLL_ERR_PEER), COLL_OK);
    call_end(&c);
    coll_ofi_nic_close(me.nic);
    return 1;
}

TEST(a_process_ends)
{
    offloaded(3, a_rank_ends);
}

/* A message that is longer than its receive. */
static void call_open_shorter(offloaded_call *c, const coll_nic_program *program,
                              uint32_t slots)
{
    for (uint32_t i = 0; me.rank == 1 && i < program->needs.ops; i++)
        if (program->ops[i].kind == COLL_NIC_RECV)
            ((coll_nic_op *)(uintptr_t)&program->ops[i])->count--;
    call_open_program(c, program, slots);
}

static int a_long_message(void)
{
    coll_nic_limits limits;
    offloaded_call c = call_by(COLL_ALLREDUCE, "ring", COLL_I32, 100);
    CHECK(call_plan(&c));
    coll_ofi_nic_limits(me.nic, &limits);
    call_lower(&c, &limits, call_open_shorter, 1);
    if (!CHECK(c.offload != NULL))
        return 1;
    CHECK_STATUS(coll_ofi_offload_start(c.offload), COLL_OK);
    if (me.rank == 1)
        CHECK_STATUS(coll_ofi_offload_wait(c.offload, OFFLOADED_PATIENCE), COLL_ERR_SIZE);
    CHECK_STATUS(coll_barrier(&me.comm), COLL_OK);
    call_end(&c);
    return 0;
}

TEST(a_message_of_another_size)
{
    offloaded(2, a_long_message);
}

int main(void)
{
    RUN(operations);
    RUN(what_is_refused);
    RUN(time_outs_give_every_buffer_back);
    RUN(a_process_ends);
    RUN(a_message_of_another_size);
    return check_done();
}
