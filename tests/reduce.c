/* tests/reduce.c — every predefined operator on every type, against one element at a time done
 * slowly
 *
 * The same tests run with floats computed in integers (reduce_soft.c), and with loops on narrower vectors
 * than this processor may have (reduce_wide.c).
 */
#include "coll/reduce.h"

#include <stdlib.h>

#include "support/check.h"
#include "support/floats.h"

/* ---- all loops by name --------------------------------------------------------------------- */

typedef struct loop {
    coll_combine combine;
    coll_operator op;
    coll_type type;
} loop;

#define LOOP(op, OP, type, TYPE) {coll_##op##_##type, COLL_##OP, COLL_##TYPE},
#define INTEGERS(op, OP)                                                                       \
    LOOP(op, OP, i8, I8)                                                                       \
    LOOP(op, OP, i16, I16)                                                                     \
    LOOP(op, OP, i32, I32)                                                                     \
    LOOP(op, OP, i64, I64)                                                                     \
    LOOP(op, OP, u8, U8)                                                                       \
    LOOP(op, OP, u16, U16)                                                                     \
    LOOP(op, OP, u32, U32)                                                                     \
    LOOP(op, OP, u64, U64)
#define NUMBERS(op, OP)                                                                        \
    INTEGERS(op, OP)                                                                           \
    LOOP(op, OP, f16, F16)                                                                     \
    LOOP(op, OP, bf16, BF16)                                                                   \
    LOOP(op, OP, f32, F32)                                                                     \
    LOOP(op, OP, f64, F64)
#define PAIRS(op, OP)                                                                          \
    LOOP(op, OP, i16_i32, I16_I32)                                                             \
    LOOP(op, OP, i32_i32, I32_I32)                                                             \
    LOOP(op, OP, i64_i32, I64_I32)                                                             \
    LOOP(op, OP, f32_i32, F32_I32)                                                             \
    LOOP(op, OP, f64_i32, F64_I32)

/* clang-format off */
static const loop loops[] = {
    NUMBERS(sum, SUM) NUMBERS(prod, PROD) NUMBERS(min, MIN) NUMBERS(max, MAX)
    INTEGERS(band, BAND) INTEGERS(bor, BOR) INTEGERS(bxor, BXOR)
    INTEGERS(land, LAND) INTEGERS(lor, LOR) INTEGERS(lxor, LXOR)
    PAIRS(minloc, MINLOC) PAIRS(maxloc, MAXLOC)
};
/* clang-format on */
enum { LOOPS = sizeof loops / sizeof loops[0] };

static bool is_float(coll_type type)
{
    return type >= COLL_F16 && type <= COLL_F64;
}

static bool is_signed(coll_type type)
{
    return type <= COLL_I64;
}

/* ---- elements as bits: value and, in a pair, index ------------------------------------------- */

typedef struct element {
    uint64_t bits; /* of the value, zero above it */
    int32_t index;
} element;

static unsigned value_bits(coll_type type)
{
    static const unsigned pair[] = {16, 32, 64, 32, 64};
    return type >= COLL_I16_I32 ? pair[type - COLL_I16_I32]
                                : (unsigned)coll_type_bytes(type) * 8;
}

static size_t index_offset(coll_type type)
{
    return value_bits(type) <= 32 ? 4 : 8;
}

static element get(coll_type type, const unsigned char *at)
{
    element e = {0, 0};
    uint8_t v8;
    uint16_t v16;
    uint32_t v32;
    switch (value_bits(type)) {
    case 8:
        memcpy(&v8, at, 1);
        e.bits = v8;
        break;
    case 16:
        memcpy(&v16, at, 2);
        e.bits = v16;
        break;
    case 32:
        memcpy(&v32, at, 4);
        e.bits = v32;
        break;
    default:
        memcpy(&e.bits, at, 8);
    }
    if (type >= COLL_I16_I32)
        memcpy(&e.index, at + index_offset(type), 4);
    return e;
}

static void put(coll_type type, unsigned char *at, element e)
{
    const uint8_t v8 = (uint8_t)e.bits;
    const uint16_t v16 = (uint16_t)e.bits;
    const uint32_t v32 = (uint32_t)e.bits;
    switch (value_bits(type)) {
    case 8:
        memcpy(at, &v8, 1);
        break;
    case 16:
        memcpy(at, &v16, 2);
        break;
    case 32:
        memcpy(at, &v32, 4);
        break;
    default:
        memcpy(at, &e.bits, 8);
    }
    if (type >= COLL_I16_I32)
        memcpy(at + index_offset(type), &e.index, 4);
}

/* ---- the oracle ---------------------------------------------------------------------------- */

static int64_t as_signed(uint64_t bits, unsigned width)
{
    const uint64_t top = (uint64_t)1 << (width - 1);
    return (int64_t)((bits ^ top) - top);
}

static uint64_t truncated(uint64_t bits, unsigned width)
{
    return width == 64 ? bits : bits & (((uint64_t)1 << width) - 1);
}

static double number(coll_type type, uint64_t bits)
{
    switch (type) {
    case COLL_F16:
        return small_value(&format_f16, (unsigned)bits);
    case COLL_BF16:
        return small_value(&format_bf16, (unsigned)bits);
    case COLL_F32:
    case COLL_F32_I32:
        return (double)f32_of((uint32_t)bits);
    default:
        return f64_of(bits);
    }
}

static uint64_t default_nan(coll_type type)
{
    return type == COLL_F16    ? 0x7e00u
           : type == COLL_BF16 ? 0x7fc0u
           : type == COLL_F32  ? 0x7fc00000u
                               : 0x7ff8000000000000u;
}

/* Sums of f16 and bf16 operands are rounded once; of bf16 that are far apart the double is not
 * exact, but lies on the right side of every middle after it is nudged away from the greater
 * operand. */
static double sum_for_rounding(double x, double y)
{
    const double sum = x + y, big = fabs(x) > fabs(y) ? x : y,
                 small = fabs(x) > fabs(y) ? y : x;
    if (sum == big && small != 0 && isfinite(big))
        return nextafter(sum, signbit(small) ? -(double)INFINITY : (double)INFINITY);
    return sum;
}

static uint64_t float_oracle(coll_operator op, coll_type type, uint64_t a, uint64_t b)
{
    const double x = number(type, a), y = number(type, b);
    if (op == COLL_MIN || op == COLL_MAX) {
        const bool a_lower = x < y || (x == y && signbit(x));
        if (isnan(x) || isnan(y))
            return default_nan(type);
        return a_lower == (op == COLL_MIN) ? a : b;
    }
    switch (type) {
    case COLL_F16:
        return small_nearest(&format_f16, op == COLL_SUM ? x + y : x * y);
    case COLL_BF16:
        return small_nearest(&format_bf16, op == COLL_SUM ? sum_for_rounding(x, y) : x * y);
    case COLL_F32:
        return bits_of_f32(op == COLL_SUM ? (float)x + (float)y : (float)x * (float)y);
    default:
        return bits_of_f64(op == COLL_SUM ? x + y : x * y);
    }
}

static uint64_t integer_oracle(coll_operator op, coll_type type, uint64_t a, uint64_t b)
{
    const unsigned width = value_bits(type);
    const bool a_lower = is_signed(type) ? as_signed(a, width) < as_signed(b, width) : a < b;
    switch (op) {
    case COLL_SUM:
        return truncated(a + b, width);
    case COLL_PROD:
        return truncated(a * b, width);
    case COLL_MIN:
        return a_lower ? a : b;
    case COLL_MAX:
        return a_lower ? b : a;
    case COLL_BAND:
        return a & b;
    case COLL_BOR:
        return a | b;
    case COLL_BXOR:
        return a ^ b;
    case COLL_LAND:
        return a != 0 && b != 0;
    case COLL_LOR:
        return a != 0 || b != 0;
    default:
        return (a != 0) != (b != 0);
    }
}

/* −1 if a's value comes before b's, 1 after, 0 if they are one value. */
static int compare_values(coll_operator op, coll_type type, uint64_t a, uint64_t b)
{
    if (type == COLL_F32_I32 || type == COLL_F64_I32) {
        const double x = number(type, a), y = number(type, b);
        if (isnan(x) || isnan(y))
            return isnan(x) && isnan(y) ? 0 : isnan(x) ? -1 : 1;
        return x == y ? 0 : (x < y) == (op == COLL_MINLOC) ? -1 : 1;
    } else {
        const int64_t x = as_signed(a, value_bits(type)), y = as_signed(b, value_bits(type));
        return x == y ? 0 : (x < y) == (op == COLL_MINLOC) ? -1 : 1;
    }
}

static element oracle(coll_operator op, coll_type type, element a, element b)
{
    element e = {0, 0};
    if (type >= COLL_I16_I32) {
        const int order = compare_values(op, type, a.bits, b.bits);
        if (order == 0 && a.index == b.index && a.bits != b.bits)
            return as_signed(a.bits, value_bits(type)) < as_signed(b.bits, value_bits(type))
                       ? a
                       : b;
        return order < 0 || (order == 0 && a.index <= b.index) ? a : b;
    }
    e.bits = is_float(type) ? float_oracle(op, type, a.bits, b.bits)
                            : integer_oracle(op, type, a.bits, b.bits);
    return e;
}

/* Equal, or both a NaN that the machine made. */
static bool agree(coll_operator op, coll_type type, element a, element b)
{
    if (a.bits == b.bits && a.index == b.index)
        return true;
    return (op == COLL_SUM || op == COLL_PROD) && (type == COLL_F32 || type == COLL_F64) &&
           isnan(number(type, a.bits)) && isnan(number(type, b.bits));
}

/* ---- operands ------------------------------------------------------------------------------ */

static const uint16_t special_f16[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400,
                                       0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                       0x7e00, 0xfe01, 0x7c01, 0x1400};
static const uint32_t special_f32[] = {0,          0x80000000, 1,          0x80000001,
                                       0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
                                       0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0xffc00001, 0x7f800001, 0x33800000};

/* The type whose bits make the values of a pair; any other type is its own. */
static coll_type value_type(coll_type type)
{
    static const coll_type of[] = {COLL_I16, COLL_I32, COLL_I64, COLL_F32, COLL_F64};
    return type >= COLL_I16_I32 ? of[type - COLL_I16_I32] : type;
}

static element random_element(coll_type type)
{
    const unsigned width = value_bits(type);
    const coll_type values = value_type(type);
    const uint64_t how = chance_bits(&random_state), some = chance_bits(&random_state);
    element e = {0, 0};
    e.index = how & 64 ? (int32_t)(how >> 8 & 3) : (int32_t)(uint32_t)(how >> 16);
    switch (how & 3) {
    case 0:
        e.bits = truncated(some, width);
        break;
    case 1: /* the edges */
        if (is_float(values)) {
            const unsigned i = some & 15;
            e.bits = values == COLL_F64    ? bits_of_f64((double)f32_of(special_f32[i]))
                     : values == COLL_F32  ? special_f32[i]
                     : values == COLL_BF16 ? special_f32[i] >> 16
                                           : special_f16[i];
        } else {
            const uint64_t top = (uint64_t)1 << (width - 1);
            const uint64_t edges[] = {0, 1, top - 1, top, top + 1, 2 * (top - 1) + 1};
            e.bits = edges[some % 6];
        }
        break;
    default: /* small numbers, often the same */
        if (is_float(values)) {
            const double small = (double)((int64_t)(some & 15) - 8) / (how & 16 ? 1 : 8);
            e.bits = values == COLL_F64    ? bits_of_f64(small)
                     : values == COLL_F32  ? bits_of_f32((float)small)
                     : values == COLL_BF16 ? small_nearest(&format_bf16, small)
                                           : small_nearest(&format_f16, small);
        } else {
            e.bits = truncated((some & 15) - (how & 16 ? 8 : 0), width);
        }
    }
    return e;
}

enum { MOST = 1100, MARGIN = 8 };

typedef struct vector {
    uint64_t words[2 * (MOST + 2 * MARGIN)]; /* aligned for every type */
} vector;

static void fill(vector *v, coll_type type)
{
    const size_t bytes = coll_type_bytes(type);
    memset(v, 0x5a, sizeof *v);
    for (size_t i = 0; i < MOST + 2 * MARGIN; i++)
        put(type, (unsigned char *)v + i * bytes, random_element(type));
}

/* ---- tests --------------------------------------------------------------------------------- */

static void report(const loop *l, size_t count, element a, element b, element is,
                   element wanted)
{
    if (check_failures < 100)
        printf("    %s %s, %lu elements: %llx,%ld and %llx,%ld give %llx,%ld instead of "
               "%llx,%ld\n",
               coll_operator_name(l->op), coll_type_name(l->type), (unsigned long)count,
               (unsigned long long)a.bits, (long)a.index, (unsigned long long)b.bits,
               (long)b.index, (unsigned long long)is.bits, (long)is.index,
               (unsigned long long)wanted.bits, (long)wanted.index);
}

/* Runs count elements at the given offsets, dst apart from the operands (0), on a (1), on b (2)
 * or on both (3), and checks results, operands and what lies around dst. */
static void check_loop(const loop *l, size_t count, const size_t offsets[3], int alias,
                       const vector *a, const vector *b)
{
    static vector left, right, apart;
    static unsigned char before[sizeof(vector)];
    const size_t bytes = coll_type_bytes(l->type);
    left = *a;
    right = *b;
    unsigned char *const x = (unsigned char *)&left + offsets[0] * bytes;
    unsigned char *const y = alias == 3 ? x : (unsigned char *)&right + offsets[1] * bytes;
    unsigned char *const to = alias == 0   ? (unsigned char *)&apart + offsets[2] * bytes
                              : alias == 2 ? y
                                           : x;
    vector *const whole = alias == 0 ? &apart : alias == 2 ? &right : &left;
    const unsigned char *const u = (const unsigned char *)a + offsets[0] * bytes;
    const unsigned char *const v =
        alias == 3 ? u : (const unsigned char *)b + offsets[1] * bytes;
    memset(&apart, 0xa5, sizeof apart);
    memcpy(before, whole, sizeof before);
    l->combine(to, x, y, count, NULL);
    bool held = true;
    for (size_t i = 0; i < count; i++) {
        const element p = get(l->type, u + i * bytes), q = get(l->type, v + i * bytes);
        const element is = get(l->type, to + i * bytes), wanted = oracle(l->op, l->type, p, q);
        if (!agree(l->op, l->type, is, wanted)) {
            held = false;
            report(l, count, p, q, is, wanted);
            break;
        }
    }
    const size_t start = (size_t)(to - (unsigned char *)whole), end = start + count * bytes;
    CHECK(held);
    CHECK(memcmp(whole, before, start) == 0);
    CHECK(memcmp((unsigned char *)whole + end, before + end, sizeof(vector) - end) == 0);
    CHECK(whole == &left || memcmp(&left, a, sizeof left) == 0);
    CHECK(whole == &right || memcmp(&right, b, sizeof right) == 0);
}

TEST(every_loop)
{
    static const size_t counts[] = {0,  1,  2,  3,  4,  5,  7,   8,   9,   15,  16,   17,
                                    31, 32, 33, 63, 65, 96, 127, 129, 255, 260, 1000, 1100};
    static const size_t offsets[][3] = {{0, 0, 0}, {1, 0, 3}, {5, 7, 2}};
    static vector a, b;
    for (size_t i = 0; i < LOOPS; i++) {
        const loop *const l = &loops[i];
        coll_op op;
        if (!CHECK(coll_op_builtin(&op, l->op, l->type) == COLL_OK))
            continue;
        const loop chosen = {op.combine, l->op, l->type}; /* perhaps on wider vectors */
        for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
            fill(&a, l->type);
            fill(&b, l->type);
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
                for (int alias = 0; alias < 4; alias++) {
                    check_loop(l, counts[c], offsets[k], alias, &a, &b);
                    check_loop(&chosen, counts[c], offsets[k], alias, &a, &b);
                }
        }
    }
}

/* Whether op is to be defined on type: the table at the head of reduce.h. */
static bool defined_on(coll_operator op, coll_type type)
{
    for (size_t i = 0; i < LOOPS; i++)
        if (loops[i].op == op && loops[i].type == type)
            return true;
    return false;
}

TEST(choice)
{
    static vector a, b;
    unsigned defined = 0;
    for (coll_operator op = 0; op < COLL_OPERATORS; op++) {
        for (coll_type type = 0; type <= COLL_F64_I32; type++) { /* others: reduce_complex.c */
            static const size_t offsets[3] = {1, 2, 3};
            coll_op chosen = COLL_OP(NULL, &a, false, false);
            coll_operator told_op;
            coll_type told_type;
            CHECK(!coll_op_predefined(&chosen, &told_op, &told_type));
            if (!defined_on(op, type)) {
                CHECK_STATUS(coll_op_builtin(&chosen, op, type), COLL_ERR_OP);
                CHECK(chosen.combine == NULL && chosen.arg == &a);
                continue;
            }
            CHECK_STATUS(coll_op_builtin(&chosen, op, type), COLL_OK);
            CHECK(chosen.arg == NULL && chosen.commutative);
            CHECK(coll_op_predefined(&chosen, &told_op, &told_type) && told_op == op &&
                  told_type == type);
            CHECK_EQ(chosen.exact, !(is_float(type) && (op == COLL_SUM || op == COLL_PROD)));
            if (CHECK(chosen.combine != NULL)) {
                const loop l = {chosen.combine, op, type};
                fill(&a, type);
                fill(&b, type);
                check_loop(&l, 333, offsets, 0, &a, &b);
            }
            defined++;
        }
    }
    CHECK_EQ(defined, 8 * 10 + 4 * 4 + 5 * 2);
}

TEST(refusals)
{
    coll_op op;
    CHECK_STATUS(coll_op_builtin(NULL, COLL_SUM, COLL_F64), COLL_ERR_NULL);
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_TYPES), COLL_ERR_TYPE);
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_OPAQUE(8)), COLL_ERR_TYPE);
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, UINT32_MAX), COLL_ERR_TYPE);
    CHECK_STATUS(coll_op_builtin(&op, COLL_OPERATORS, COLL_I32), COLL_ERR_OP);
    CHECK_STATUS(coll_op_builtin(&op, COLL_USER_OP, COLL_I32), COLL_ERR_OP);
    CHECK_STATUS(coll_op_builtin(&op, UINT32_MAX, COLL_I32), COLL_ERR_OP);
    CHECK_STATUS(coll_op_builtin(&op, COLL_LAND, COLL_F32), COLL_ERR_OP);
    CHECK_STATUS(coll_op_builtin(&op, COLL_MINLOC, COLL_F64), COLL_ERR_OP);
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_F64_I32), COLL_ERR_OP);
}

/* What the flags promise holds, bit for bit; and a rounded operator is not exact indeed. */
TEST(flags)
{
    static vector a, b, c, ab, ba, ab_c, bc, a_bc;
    for (size_t i = 0; i < LOOPS; i++) {
        const loop *const l = &loops[i];
        const size_t bytes = coll_type_bytes(l->type);
        coll_op op;
        if (!CHECK(coll_op_builtin(&op, l->op, l->type) == COLL_OK))
            continue;
        bool differs = false;
        for (unsigned round = 0; round < 4; round++) {
            fill(&a, l->type);
            fill(&b, l->type);
            fill(&c, l->type);
            l->combine(&ab, &a, &b, MOST, NULL);
            l->combine(&ba, &b, &a, MOST, NULL);
            l->combine(&ab_c, &ab, &c, MOST, NULL);
            l->combine(&bc, &b, &c, MOST, NULL);
            l->combine(&a_bc, &a, &bc, MOST, NULL);
            for (size_t k = 0; k < MOST; k++) {
                const element x = get(l->type, (unsigned char *)&ab + k * bytes);
                const element y = get(l->type, (unsigned char *)&ba + k * bytes);
                const element u = get(l->type, (unsigned char *)&ab_c + k * bytes);
                const element v = get(l->type, (unsigned char *)&a_bc + k * bytes);
                if (!CHECK(agree(l->op, l->type, x, y)) ||
                    (op.exact && !CHECK(u.bits == v.bits && u.index == v.index))) {
                    printf("    %s %s\n", coll_operator_name(l->op), coll_type_name(l->type));
                    break;
                }
                differs |= !agree(l->op, l->type, u, v);
            }
        }
        CHECK_EQ(differs, !op.exact);
    }
}

/* Every f16 with a spread of others: the sums and products as the loops make them. */
TEST(small_floats)
{
    enum { BLOCK = 1024 };
    static uint16_t a[BLOCK], b[BLOCK], to[BLOCK];
    static const loop small[] = {{coll_sum_f16, COLL_SUM, COLL_F16},
                                 {coll_prod_f16, COLL_PROD, COLL_F16},
                                 {coll_sum_bf16, COLL_SUM, COLL_BF16},
                                 {coll_prod_bf16, COLL_PROD, COLL_BF16}};
    for (unsigned first = 0; first < 0x10000; first += BLOCK) {
        for (unsigned other = 0; other < 0x10000; other += 4093) {
            for (unsigned i = 0; i < BLOCK; i++) {
                a[i] = (uint16_t)(first + i);
                b[i] = (uint16_t)(other + 257 * i);
            }
            for (unsigned k = 0; k < 4; k++) {
                bool held = true;
                small[k].combine(to, a, b, BLOCK, NULL);
                for (unsigned i = 0; i < BLOCK && held; i++) {
                    const uint64_t wanted =
                        float_oracle(small[k].op, small[k].type, a[i], b[i]);
                    held = to[i] == wanted;
                    if (!held)
                        printf("    %s %s: %x and %x give %x instead of %x\n",
                               coll_operator_name(small[k].op), coll_type_name(small[k].type),
                               a[i], b[i], to[i], (unsigned)wanted);
                }
                CHECK(held);
            }
        }
    }
}

/* The rules of the head comment, in values that a reader can follow. */
TEST(rules)
{
    const int8_t x8[] = {127, -128, 100, -1}, y8[] = {1, -1, 100, -1};
    int8_t z8[4];
    coll_sum_i8(z8, x8, y8, 4, NULL);
    CHECK(z8[0] == -128 && z8[1] == 127 && z8[2] == -56 && z8[3] == -2);
    coll_land_i8(z8, x8, y8, 4, NULL);
    CHECK(z8[0] == 1 && z8[1] == 1);

    const uint16_t x16[] = {65535, 300}, y16[] = {65535, 300};
    uint16_t z16[2];
    coll_prod_u16(z16, x16, y16, 2, NULL);
    CHECK(z16[0] == 1 && z16[1] == 90000 - 65536);

    const double x[] = {0.0, -0.0, (double)NAN, 1.0}, y[] = {-0.0, 0.0, 1.0, (double)NAN};
    double z[4];
    coll_min_f64(z, x, y, 4, NULL);
    CHECK(signbit(z[0]) && signbit(z[1]) && isnan(z[2]) && isnan(z[3]));
    coll_max_f64(z, x, y, 4, NULL);
    CHECK(!signbit(z[0]) && !signbit(z[1]) && isnan(z[2]) && isnan(z[3]));

    const coll_f64_i32 p[] = {{3.0, 7}, {2.0, 7}, {0.0, 1}, {(double)NAN, 9}, {5.0, 0}};
    const coll_f64_i32 q[] = {{3.0, 5}, {3.0, 5}, {-0.0, 2}, {-1.0, 3}, {(double)NAN, 4}};
    coll_f64_i32 r[5];
    coll_minloc_f64_i32(r, p, q, 5, NULL);
    CHECK(r[0].index == 5 && r[1].index == 7 && r[2].index == 1);
    CHECK(isnan(r[3].value) && r[3].index == 9 && isnan(r[4].value) && r[4].index == 4);
    coll_maxloc_f64_i32(r, p, q, 5, NULL);
    CHECK(r[0].index == 5 && r[1].index == 5 && r[2].index == 1);
    CHECK(isnan(r[3].value) && r[3].index == 9 && isnan(r[4].value) && r[4].index == 4);
}

/* The structures have the sizes that types.h gives, and the layout of a C pair. */
TEST(layout)
{
    CHECK_EQ(sizeof(coll_i16_i32), coll_type_bytes(COLL_I16_I32));
    CHECK_EQ(sizeof(coll_i32_i32), coll_type_bytes(COLL_I32_I32));
    CHECK_EQ(sizeof(coll_i64_i32), coll_type_bytes(COLL_I64_I32));
    CHECK_EQ(sizeof(coll_f32_i32), coll_type_bytes(COLL_F32_I32));
    CHECK_EQ(sizeof(coll_f64_i32), coll_type_bytes(COLL_F64_I32));
    CHECK_EQ(offsetof(coll_i16_i32, index), 4);
    CHECK_EQ(offsetof(coll_i64_i32, index), 8);
    CHECK_EQ(offsetof(coll_f64_i32, index), 8);
}

int main(void)
{
    RUN(every_loop);
    RUN(choice);
    RUN(refusals);
    RUN(flags);
    RUN(small_floats);
    RUN(rules);
    RUN(layout);
    return check_done();
}
