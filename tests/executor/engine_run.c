/* executor/task.h: which messages are cut, and which acquired; sums in chunks. */
#include <string.h>

#include "support/check.h"
#include "coll/executor/task.h"

static coll_plan plan;
static coll_transport transport;
static coll_zero_copy zero_copy;
static coll_task run;

static coll_status no_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                             const void **message, coll_handle *h)
{
    (void)ctx;
    (void)peer;
    (void)tag;
    (void)bytes;
    (void)message;
    (void)h;
    return COLL_ERR_STATE;
}

static coll_status no_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    (void)ctx;
    (void)call;
    (void)h;
    return COLL_ERR_STATE;
}

static void begin(size_t elem_bytes, size_t max_bytes)
{
    memset(&plan, 0, sizeof plan);
    memset(&transport, 0, sizeof transport);
    memset(&run, 0, sizeof run);
    plan.problem.collective = COLL_BCAST;
    plan.problem.elem_bytes = elem_bytes;
    transport.max_bytes = max_bytes;
    memset(&zero_copy, 0, sizeof zero_copy);
    zero_copy.acquire = no_borrow;
    transport.zero_copy = &zero_copy;
    run.plan = &plan;
    run.transport = &transport;
}

static bool is_lent(size_t count)
{
    coll_action a;
    coll_act_recv(&a, 0, 0, count);
    return coll_i_task_is_zero_copy(&run, &a);
}

/* In pieces only if these end with an element, for which elements are as long as a power of two and
 * pieces as some of them. */
TEST(what_is_lent)
{
    static const struct {
        size_t elem_bytes, max_bytes, count;
        bool zero_copy;
    } rows[] = {{8, 0, 9, true},    {12, 0, 9, true},   {8, 72, 9, true},   {8, 64, 9, true},
                {8, 8, 9, true},    {8, 71, 9, false},  {8, 12, 9, false},  {8, 4, 9, false},
                {8, 1, 9, false},   {1, 1, 9, true},    {1, 7, 9, true},    {2, 7, 9, false},
                {12, 16, 9, false}, {12, 36, 9, false}, {12, 108, 9, true}, {3, 4, 9, false},
                {16, 24, 9, false}, {16, 48, 9, true},  {16, 12, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].elem_bytes, rows[i].max_bytes);
        if (!CHECK_EQ(is_lent(rows[i].count), rows[i].zero_copy))
            printf("    elements of %zu bytes in pieces of %zu\n", rows[i].elem_bytes,
                   rows[i].max_bytes);
        transport.unsegmented = COLL_BIT(COLL_BCAST); /* pieces are other collectives' */
        CHECK(is_lent(rows[i].count));
        transport.zero_copy = NULL;
        CHECK(!is_lent(rows[i].count));
    }
}

/* The longest message that is acquired counts by its pieces. */
TEST(the_longest_that_is_lent)
{
    begin(8, 0);
    zero_copy.max_bytes = 64;
    CHECK(is_lent(8));
    CHECK(!is_lent(9));
    transport.max_bytes = 64;
    CHECK(is_lent(9));
    transport.max_bytes = 72;
    CHECK(is_lent(8));
    CHECK(!is_lent(9));
    CHECK(!is_lent(100));
}

/* `done`: bytes of it that are. */
static bool is_cut(coll_action a, size_t done)
{
    a.stride = done;
    return coll_i_task_is_cut(&run, &a);
}

TEST(what_is_cut)
{
    coll_action send, recv, merge, copy, token, reduce;
    begin(8, 24);
    coll_act_send(&send, 1, 0, 7);
    coll_act_recv(&recv, 1, 0, 7);
    coll_act_recv_reduce(&merge, 1, 0, 0, 0, 7);
    coll_act_copy(&copy, 0, 0, 7);
    coll_act_notify(&token, 1, 0, 7);
    coll_act_reduce(&reduce, 0, 0, 0, 7);
    CHECK(is_cut(send, 0) && is_cut(recv, 0) && is_cut(merge, 0));
    CHECK(is_cut(send, 31) && !is_cut(send, 32) && !is_cut(send, 48));
    CHECK(!is_cut(copy, 0) && !is_cut(token, 0));
    CHECK_EQ(coll_i_task_bytes(&run, &send), 56);
    CHECK_EQ(coll_i_task_bytes(&run, &token), 0);
    CHECK_EQ(coll_i_task_piece(&run, &send, 56), 24);
    CHECK_EQ(coll_i_task_piece(&run, &send, 25), 24);
    CHECK_EQ(coll_i_task_piece(&run, &send, 24), 24);
    CHECK_EQ(coll_i_task_piece(&run, &send, 23), 23);
    transport.unsegmented = COLL_BIT(COLL_BCAST);
    CHECK(!is_cut(send, 0));
    CHECK_EQ(coll_i_task_piece(&run, &send, 56), 56);
    transport.unsegmented = ~COLL_BIT(COLL_BCAST);
    CHECK(is_cut(send, 0));
    transport.max_bytes = 0;
    CHECK(!is_cut(send, 0));

    /* A transport reduces one operand at a time. */
    CHECK(!coll_i_task_is_cut(&run, &reduce));
    transport.reduce = no_reduce;
    CHECK(!coll_i_task_is_cut(&run, &reduce));
    reduce.inputs = 2;
    CHECK(coll_i_task_is_cut(&run, &reduce));
    transport.reduce = NULL;
    CHECK(!coll_i_task_is_cut(&run, &reduce));
}

/* ---- sums -------------------------------------------------------------------------------- */

enum { LONGEST = (1 << 19) / 8 + 3 };

static uint64_t in[LONGEST], out[LONGEST + 1], scratch[LONGEST], message[LONGEST];
static size_t calls, longest, words; /* of an element */

/* Not commutative: the left operand counts thrice. */
static void combine(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    uint64_t *to = (uint64_t *)dst;
    const uint64_t *left = (const uint64_t *)a, *right = (const uint64_t *)b;
    CHECK(arg == &calls && count > 0);
    calls++;
    longest = count > longest ? count : longest;
    for (size_t i = 0; i < count * words; i++)
        to[i] = 3 * left[i] + right[i];
}

static const coll_op op = COLL_OP(combine, &calls, false, false);

static void fill(void)
{
    begin(8, 0);
    run.op = &op;
    run.in = in;
    run.out = out;
    run.scratch = scratch;
    for (uint64_t i = 0; i < LONGEST; i++) {
        in[i] = i * i;
        scratch[i] = 5 * i + 1;
        message[i] = i << 32 | (i + 7);
        out[i] = UINT64_MAX;
    }
    out[LONGEST] = UINT64_MAX;
    calls = longest = 0;
    words = 1;
}

/* A message that is acquired, whole or the end of it, in chunks unless it is short, or very long.
 * */
TEST(borrowed_messages_are_combined)
{
    static const struct {
        size_t count, done, calls, longest; /* of the calls of combine */
    } rows[] = {{1, 0, 1, 1},
                {512, 0, 1, 512},
                {513, 0, 3, 256},
                {700, 0, 3, 256},
                {768, 0, 3, 256},
                {700, 100, 3, 256},
                {700, 188, 1, 512},
                {1 << 16, 0, 256, 256},
                {LONGEST, 0, 1, LONGEST},
                {LONGEST, 3, 1, LONGEST - 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned left = 0; left < 2; left++) {
            const size_t count = rows[i].count, done = rows[i].done;
            coll_action a;
            bool right = true;
            fill();
            coll_act_recv_reduce(&a, 0, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), 0, count);
            a.flags = left ? COLL_LEFT : 0;
            coll_i_task_merge(&run, &a, (const unsigned char *)(message + done), done * 8,
                              (count - done) * 8);
            CHECK_EQ(calls, rows[i].calls);
            CHECK_EQ(longest, rows[i].longest);
            for (size_t k = 0; k <= LONGEST; k++)
                right = right && out[k] == (k < done || k >= count ? UINT64_MAX
                                            : left                 ? 3 * message[k] + in[k]
                                                                   : 3 * in[k] + message[k]);
            CHECK(right);
        }
}

/* One that was staged, in one go. */
TEST(staged_messages_are_combined)
{
    const size_t count = 700, at = 5;
    for (unsigned left = 0; left < 2; left++) {
        coll_action a;
        bool right = true;
        fill();
        coll_act_recv_reduce(&a, 0, COLL_AT(COLL_OUT, 1), COLL_AT(COLL_IN, 2),
                             COLL_AT(COLL_SCRATCH, at), count);
        a.flags = left ? COLL_LEFT : 0;
        coll_i_task_merge_staged(&run, &a);
        CHECK_EQ(calls, 1);
        for (size_t k = 0; k < count; k++)
            right = right && out[k + 1] == (left ? 3 * scratch[k + at] + in[k + 2]
                                                 : 3 * in[k + 2] + scratch[k + at]);
        CHECK(right && out[0] == UINT64_MAX && out[count + 1] == UINT64_MAX);
    }
}

/* Elements that are longer than a chunk, and such that do not fill it. */
TEST(long_elements_are_combined)
{
    static const size_t rows[][3] = {/* words, elements, calls */
                                     {300, 4, 4},
                                     {256, 4, 4},
                                     {200, 4, 4},
                                     {100, 12, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t count = rows[i][1];
        coll_action a;
        bool right = true;
        fill();
        words = rows[i][0];
        plan.problem.elem_bytes = words * 8;
        coll_act_recv_reduce(&a, 0, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), 0, count);
        coll_i_task_merge(&run, &a, (const unsigned char *)message, 0, count * words * 8);
        CHECK_EQ(calls, rows[i][2]);
        CHECK_EQ(longest, count / calls);
        for (size_t k = 0; k <= LONGEST; k++)
            right =
                right && out[k] == (k < count * words ? 3 * in[k] + message[k] : UINT64_MAX);
        CHECK(right);
    }
}

/* src and the operands at via, in chunks: as if one operand after the other were combined; dst
 * may be src. */
TEST(operands_are_combined)
{
    static const size_t counts[] = {1, 512, 513, 514, 1026, 1027};
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++)
        for (uint32_t inputs = 1; inputs <= 3; inputs++) {
            const size_t count = counts[i / 2], stride = count + 2;
            const bool apart = i % 2 == 0;
            coll_action a;
            bool right = true;
            fill();
            coll_act_reduce(&a, COLL_AT(COLL_OUT, 0), COLL_AT(apart ? COLL_IN : COLL_OUT, 0),
                            COLL_AT(COLL_SCRATCH, 1), count);
            a.inputs = (uint16_t)inputs;
            a.stride = stride;
            for (size_t k = 0; k < count && !apart; k++)
                out[k] = in[k];
            coll_i_task_reduce(&run, &a);
            for (size_t k = 0; k < count; k++) {
                uint64_t sum = in[k];
                for (uint32_t n = 0; n < inputs; n++)
                    sum = 3 * sum + scratch[1 + n * stride + k];
                right = right && out[k] == sum;
            }
            CHECK(right);
            CHECK_EQ(out[count], UINT64_MAX);
            CHECK_EQ(calls, inputs == 1 ? 1 : (count + 512) / 513 * inputs);
        }
}

/* Where refs lie. */
TEST(spaces)
{
    static uint64_t shared[4];
    fill();
    run.shared = shared;
    CHECK(coll_i_task_source(&run, COLL_AT(COLL_IN, 2)) == (const unsigned char *)&in[2]);
    CHECK(coll_i_task_source(&run, COLL_AT(COLL_OUT, 2)) == (const unsigned char *)&out[2]);
    CHECK(coll_i_task_source(&run, COLL_AT(COLL_SHARED, 3)) ==
          (const unsigned char *)&shared[3]);
    CHECK(coll_i_task_target(&run, COLL_AT(COLL_SCRATCH, 1)) == (unsigned char *)&scratch[1]);
    CHECK(coll_i_task_target(&run, COLL_AT(COLL_OUT, 0)) == (unsigned char *)out);
}

int main(void)
{
    RUN(what_is_lent);
    RUN(the_longest_that_is_lent);
    RUN(what_is_cut);
    RUN(borrowed_messages_are_combined);
    RUN(staged_messages_are_combined);
    RUN(long_elements_are_combined);
    RUN(operands_are_combined);
    RUN(spaces);
    return check_done();
}
