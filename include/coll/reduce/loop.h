/* coll/reduce/loop.h — what the predefined operators are made of: elements, and the loop over them
 *
 * A part of reduce.h, whose end undefines these macros. COLL_I_KERNEL(name, T, OP) defines
 * coll_<name>, on elements of T, with OP(T, u, v) as u ⊕ v, and the same on wider vectors.
 */
#ifndef COLL_REDUCE_LOOP_H
#define COLL_REDUCE_LOOP_H

#include "../types.h"

#if defined(__GNUC__) || defined(__clang__)
#define COLL_I_ALIAS    __attribute__((may_alias))
#define COLL_I_ALIGN(n) __attribute__((aligned(n)))
#else
#define COLL_I_ALIAS
#define COLL_I_ALIGN(n)
#endif

/* ---- elements as the loops see them ------------------------------------------------------ */

typedef int8_t coll_i_i8 COLL_I_ALIAS;
typedef int16_t coll_i_i16 COLL_I_ALIAS;
typedef int32_t coll_i_i32 COLL_I_ALIAS;
typedef int64_t coll_i_i64 COLL_I_ALIAS;
typedef uint8_t coll_i_u8 COLL_I_ALIAS;
typedef uint16_t coll_i_u16 COLL_I_ALIAS;
typedef uint32_t coll_i_u32 COLL_I_ALIAS;
typedef uint64_t coll_i_u64 COLL_I_ALIAS;
typedef float coll_i_f32 COLL_I_ALIAS;
typedef double coll_i_f64 COLL_I_ALIAS;

/* ---- the loop ---------------------------------------------------------------------------- */

/* No element depends on another, whatever dst is. Compilers cannot know, and fall back to one
 * element at a time where dst is an operand, the common case; so they are told. gcc at -O2 uses
 * vectors only where the count is known: hence blocks of some bytes; and it does not unroll by itself,
 * when the time depends on where the loop happens to lie. clang uses none where the count is known.
 * Where size matters, none of this. */
#if defined(__OPTIMIZE_SIZE__)
#define COLL_I_INDEPENDENT
#elif defined(__clang__)
#define COLL_I_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define COLL_I_INDEPENDENT _Pragma("GCC ivdep")
#define COLL_I_UNROLLED    COLL_I_INDEPENDENT _Pragma("GCC unroll 2")
#define COLL_I_BLOCKS(T, OP, bytes)                                                            \
    for (; count - i >= (bytes) / sizeof(T); i += (bytes) / sizeof(T)) {                       \
        COLL_I_UNROLLED                                                                        \
        for (size_t k = 0; k < (bytes) / sizeof(T); k++)                                       \
            to[i + k] = OP(T, x[i + k], y[i + k]);                                             \
    }
#else
#define COLL_I_INDEPENDENT
#endif
#ifndef COLL_I_BLOCKS
#define COLL_I_BLOCKS(T, OP, bytes)
#endif

/* Blocks are of `bytes`. Those of long operands begin at multiples of `aligned` bytes of dst: what comes
 * before is done one at a time. `target`: an attribute, or nothing. */
#define COLL_I_LOOP(target, name, T, OP, bytes, aligned)                                       \
    COLL_INLINE target void name(void *dst, const void *a, const void *b, size_t count,        \
                                 void *arg)                                                    \
    {                                                                                          \
        T *to = (T *)dst;                                                                      \
        const T *x = (const T *)a, *y = (const T *)b;                                          \
        const size_t head = (0 - (uintptr_t)to) % (aligned) / sizeof(T);                       \
        size_t i = 0;                                                                          \
        (void)arg;                                                                             \
        if (count >= 4096 / sizeof(T))                                                         \
            for (; i < head; i++)                                                              \
                to[i] = OP(T, x[i], y[i]);                                                     \
        COLL_I_BLOCKS(T, OP, bytes)                                                            \
        COLL_I_INDEPENDENT                                                                     \
        for (; i < count; i++)                                                                 \
            to[i] = OP(T, x[i], y[i]);                                                         \
    }

/* The same on wider vectors (COLL_WIDE_LOOPS, config.h), which write whole cache lines: in the first
 * level of the cache that takes half to two thirds of the time; beyond it, on vectors of 64 bytes, what
 * does not takes up to half as long again. */
#define COLL_I_WIDE(name, T, OP)
#define COLL_I_WIDEST(name, T, OP)
#define COLL_I_WIDE_OF(name)   NULL
#define COLL_I_WIDEST_OF(name) NULL
#if COLL_WIDE_LOOPS >= 32
#undef COLL_I_WIDE
#define COLL_I_WIDE(name, T, OP)                                                               \
    COLL_I_LOOP(__attribute__((target("avx2"))), coll_i_wide_##name, T, OP, 64, 64)
#undef COLL_I_WIDE_OF
#define COLL_I_WIDE_OF(name) coll_i_wide_##name
#endif
#if COLL_WIDE_LOOPS >= 64
#if defined(__clang__)
#define COLL_I_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define COLL_I_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif
#undef COLL_I_WIDEST
#define COLL_I_WIDEST(name, T, OP)                                                             \
    COLL_I_LOOP(__attribute__((target(COLL_I_AVX512))), coll_i_widest_##name, T, OP, 64, 64)
#undef COLL_I_WIDEST_OF
#define COLL_I_WIDEST_OF(name) coll_i_widest_##name
#endif

/* One operator on one type: its loops. */
typedef struct coll_i_loops {
    coll_combine plain, wide, widest; /* NULL: there is none */
} coll_i_loops;

#define COLL_I_KERNEL(name, T, OP)                                                             \
    COLL_I_LOOP(, coll_##name, T, OP, 128, 1)                                                  \
    COLL_I_WIDE(name, T, OP)                                                                   \
    COLL_I_WIDEST(name, T, OP)                                                                 \
    COLL_CONST(coll_i_loops, coll_i_loops_##name,                                              \
               {coll_##name, COLL_I_WIDE_OF(name), COLL_I_WIDEST_OF(name)});

#endif /* COLL_REDUCE_LOOP_H */
