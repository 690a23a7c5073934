/* tests/comm/scaled.c — averages and premultiplied sums: every reducing collective, in place and not, once and again,
 * in memory of exactly the size that coll_comm_bytes says */
#include <stdlib.h>
#include <string.h>

#include "coll/comm.h"
#include "coll/comm/scaled.h"
#include "coll/transports/loopback.h"
#include "support/check.h"

enum { P = 5, N = 150, ROUNDS = 100000 }; /* N: more than factors that lie side by side */

static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_comm comms[P];
static unsigned char messages[COLL_LOOPBACK_BYTES(512)];
static coll_scaled_op memory[P];
static coll_operator numbers[P];
static coll_request requests[P];
static double in[P][P * N], out[P][P * N];

static const coll_collective collectives[] = {COLL_REDUCE,         COLL_ALLREDUCE,
                                              COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK,
                                              COLL_SCAN,           COLL_EXSCAN};
static const size_t counts[P] = {N, 0, N / 2, 1, N};

/* An operand: small integers, so that sums and products are exact; and the factor of a rank. */
static double operand(uint32_t rank, size_t i)
{
    return (double)(int)((rank * 31 + i * 7) % 41) - 20;
}

static double factor_of(uint32_t rank)
{
    return rank % 2 ? -0.5 : (double)rank + 1;
}

static void open_comms(const size_t *bytes, void **arenas)
{
    CHECK_STATUS(coll_loopback_init(&loopback, P, 512, messages, sizeof messages), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        arenas[r] = bytes ? malloc(bytes[r] + 1) : malloc(1 << 16);
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(coll_comm_init(&comms[r], &coll_loopback_transport, &ends[r], r, P,
                                    arenas[r], bytes ? bytes[r] : 1 << 16),
                     COLL_OK);
    }
}

static void add(bool average)
{
    for (uint32_t r = 0; r < P; r++) {
        const double factor = factor_of(r);
        CHECK_STATUS(average
                         ? coll_comm_add_average(&comms[r], &memory[r], COLL_F64, &numbers[r])
                         : coll_comm_add_premul_sum(&comms[r], &memory[r], &factor, COLL_F64,
                                                    &numbers[r]),
                     COLL_OK);
    }
}

static void args_of(coll_args *args, coll_collective it, bool in_place, uint32_t r)
{
    coll_args_init(args, it);
    args->in = in_place && (it != COLL_REDUCE || r == 2) ? COLL_IN_PLACE : in[r];
    args->out = out[r];
    args->count = it == COLL_REDUCE_SCATTER ? 0 : N;
    args->in_counts = it == COLL_REDUCE_SCATTER ? counts : NULL;
    args->type = COLL_F64;
    args->op = numbers[r];
    args->root = it == COLL_REDUCE ? 2 : 0;
}

static void fill(void)
{
    for (uint32_t r = 0; r < P; r++)
        for (size_t i = 0; i < P * N; i++)
            in[r][i] = out[r][i] = operand(r, i);
}

static void wait_all(void)
{
    bool over = false;
    for (unsigned i = 0; i < ROUNDS && !over; i++) {
        over = true;
        for (uint32_t r = 0; r < P; r++) {
            const coll_status status = coll_test(&requests[r]);
            CHECK(status == COLL_OK || status == COLL_AGAIN);
            over = over && status == COLL_OK;
        }
    }
    CHECK(over);
}

/* What rank r must have at i of its result, of so many operands. */
static double wanted(coll_collective it, bool average, uint32_t r, size_t i, uint32_t *operands)
{
    const uint32_t n = it == COLL_SCAN ? r + 1 : it == COLL_EXSCAN ? r : P;
    size_t at = i;
    double sum = 0;
    for (uint32_t k = 0; k < r && it == COLL_REDUCE_SCATTER; k++)
        at += counts[k];
    if (it == COLL_REDUCE_SCATTER_BLOCK)
        at += r * (size_t)N;
    for (uint32_t k = 0; k < n; k++)
        sum += average ? operand(k, at) : factor_of(k) * operand(k, at);
    *operands = n;
    return average && n > 0 ? sum / n : sum;
}

static void check(coll_collective it, bool average)
{
    for (uint32_t r = 0; r < P; r++) {
        const size_t count = it == COLL_REDUCE_SCATTER     ? counts[r]
                             : it == COLL_REDUCE && r != 2 ? 0
                                                           : N;
        bool right = true;
        for (size_t i = 0; i < count && right; i++) {
            uint32_t operands;
            const double want = wanted(it, average, r, i, &operands);
            right = operands == 0 || !(out[r][i] < want || out[r][i] > want);
            if (!right)
                printf("    %s, rank %u: %g at %u instead of %g\n", coll_collective_name(it),
                       (unsigned)r, out[r][i], (unsigned)i, want);
        }
        CHECK(right);
    }
}

/* in[] is left alone. */
static void check_inputs(void)
{
    size_t changed = 0;
    for (uint32_t r = 0; r < P; r++)
        for (size_t i = 0; i < P * N; i++)
            changed += in[r][i] < operand(r, i) || in[r][i] > operand(r, i);
    CHECK_EQ(changed, 0);
}

/* One collective: measured in a communicator with room, run in one that has exactly that. */
static void one(coll_collective it, bool average, bool in_place, bool persistent)
{
    void *arenas[P];
    size_t bytes[P];
    coll_args args;
    open_comms(NULL, arenas);
    add(average);
    for (uint32_t r = 0; r < P; r++) {
        args_of(&args, it, in_place, r);
        CHECK_STATUS(coll_comm_bytes(&comms[r], &args, &bytes[r]), COLL_OK);
        bytes[r] += COLL_ARENA_ALIGN - 1;
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        free(arenas[r]);
    }
    open_comms(bytes, arenas);
    add(average);
    for (int round = 0; round < 2; round++) {
        fill();
        for (uint32_t r = 0; r < P; r++) {
            args_of(&args, it, in_place, r);
            if (persistent && round == 0)
                CHECK_STATUS(coll_request_init(&comms[r], &args, &requests[r]), COLL_OK);
            CHECK_STATUS(persistent ? coll_start(&requests[r])
                                    : coll_post(&comms[r], &args, &requests[r]),
                         COLL_OK);
        }
        wait_all();
        check(it, average);
        check_inputs();
    }
    for (uint32_t r = 0; r < P; r++) {
        if (persistent)
            CHECK_STATUS(coll_request_free(&requests[r]), COLL_OK);
        CHECK_STATUS(coll_comm_remove_op(&comms[r], numbers[r]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        free(arenas[r]);
    }
}

TEST(every_collective)
{
    for (size_t c = 0; c < sizeof collectives / sizeof collectives[0]; c++)
        for (int how = 0; how < 8; how++)
            one(collectives[c], how & 1, how & 2, how & 4);
}

/* Of one rank: the division as the head of scaled.h says, on each type. */
#define QUOTIENT(NAME, T, sum, n, is)                                                          \
    do {                                                                                       \
        T x[2] = {sum, sum};                                                                   \
        coll_i_divide_of(COLL_##NAME)(x, 1, n);                                                \
        CHECK(x[0] == (T)(is) && x[1] == (T)(sum));                                            \
    } while (0)

TEST(division)
{
    QUOTIENT(I8, int8_t, -7, 2, -3);
    QUOTIENT(I16, int16_t, -700, 3, -233);
    QUOTIENT(I32, int32_t, INT32_MIN, 2, -1073741824);
    QUOTIENT(I64, int64_t, -7, 4000000000u, 0);
    QUOTIENT(U8, uint8_t, 255, 2, 127);
    QUOTIENT(U16, uint16_t, 65535, 256, 255);
    QUOTIENT(U32, uint32_t, UINT32_MAX, 2, 2147483647u);
    QUOTIENT(U64, uint64_t, UINT64_MAX, 2, UINT64_MAX / 2);
    QUOTIENT(F16, uint16_t, 0x4200, 2, 0x3e00); /* 3 / 2 */
    QUOTIENT(BF16, uint16_t, 0x4040, 2, 0x3fc0);
    QUOTIENT(F8_E4M3, uint8_t, 0x44, 2, 0x3c);
    QUOTIENT(F8_E5M2, uint8_t, 0x42, 2, 0x3e);
    QUOTIENT(F32, uint32_t, 0x40400000u, 2, 0x3fc00000u);
    QUOTIENT(F64, uint64_t, 0x4008000000000000u, 2, 0x3ff8000000000000u);
    coll_cf32 z = {3, -5};
    coll_cf64 w = {3, -5};
    coll_i_divide_of(COLL_CF32)(&z, 1, 2);
    coll_i_divide_of(COLL_CF64)(&w, 1, 2);
    CHECK(z.re == 1.5f && z.im == -2.5f && w.re == 1.5 && w.im == -2.5);
}

TEST(refusals)
{
    coll_operator number;
    const double factor = 2;
    void *arenas[P];
    open_comms(NULL, arenas);
    CHECK_STATUS(coll_comm_add_average(NULL, &memory[0], COLL_F64, &number), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_average(&comms[0], NULL, COLL_F64, &number), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_average(&comms[0], &memory[0], COLL_F64, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_average(&comms[0], &memory[0], COLL_TYPES, &number),
                 COLL_ERR_TYPE);
    CHECK_STATUS(coll_comm_add_average(&comms[0], &memory[0], COLL_F64_I32, &number),
                 COLL_ERR_OP);
    CHECK_STATUS(coll_comm_add_premul_sum(&comms[0], &memory[0], NULL, COLL_F64, &number),
                 COLL_ERR_NULL);
    CHECK_STATUS(
        coll_comm_add_premul_sum(&comms[0], &memory[0], &factor, COLL_I32_I32, &number),
        COLL_ERR_OP);
    CHECK_STATUS(
        coll_comm_add_premul_sum(&comms[0], &memory[0], &factor, COLL_OPAQUE(8), &number),
        COLL_ERR_TYPE);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        free(arenas[r]);
    }
}

int main(void)
{
    RUN(every_collective);
    RUN(division);
    RUN(refusals);
    return check_done();
}
