/* coll/config.h — every knob of the library, and the few words that differ between compilers
 *
 * Define a knob before the first include (or with -D) to override it. Transports have a few more,
 * each where it is used; nothing else in the library may be configured. All translation units of
 * a program must agree on COLL_STEP_MAX, COLL_PARAM_MAX, COLL_WINDOW and COLL_CACHED_…, because
 * they size structures.
 *
 * This is the only header that includes anything from the toolchain, and it includes only what a
 * freestanding C99 implementation has.
 */
#ifndef COLL_CONFIG_H
#define COLL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version. Minor versions change the interface, patches do not. */
#define COLL_VERSION_MAJOR 0
/* see COLL_VERSION_MAJOR */
#define COLL_VERSION_MINOR 1
/* see COLL_VERSION_MAJOR */
#define COLL_VERSION_PATCH 0

/* ---- build modes ------------------------------------------------------------------------- */

/* Nothing defined: every file that includes the headers has what it uses, as inline functions.
 *
 * COLL_EXTERN (the same in all files of a program): files see declarations, and exactly one file
 * defines COLL_IMPLEMENTATION, too, before it includes all headers that the program uses. That
 * file may be C or C++; all symbols have C linkage. Compilers still read the bodies, but drop
 * them.
 *
 *   COLL_INLINE, COLL_HOT_INLINE   in front of functions; the latter of those that every action passes
 *                                  through, so that the compiler drops what a caller does not use
 *   COLL_CONST(type, name, {…})    a constant structure; the same object in all files in C++ and with
 *   COLL_TABLE(type, name, {…})    COLL_EXTERN, else one a file; and an array of such
 *
 * In C++ a constant is the static member of a template, which C++11 has where C++17 has inline
 * variables, and its name a reference to it. So inline functions of the user's may use all of the
 * headers. */
#if defined(COLL_IMPLEMENTATION)
#define COLL_I_MODE 2
#elif defined(COLL_EXTERN)
#define COLL_I_MODE 1
#else
#define COLL_I_MODE 0
#endif

#ifdef __cplusplus
#define COLL_I_C extern "C"
#else
#define COLL_I_C extern
#endif

/* With -Os clang makes functions that are declared inline a part of their callers nearly as with -O2, unless
 * told: code of half as much again as gcc's. */
#if defined(__clang__) && defined(__OPTIMIZE_SIZE__)
#define COLL_I_SMALL __attribute__((minsize))
#else
#define COLL_I_SMALL
#endif

#ifndef COLL_INLINE
#if COLL_I_MODE == 0
#ifdef __cplusplus
#define COLL_INLINE COLL_I_SMALL inline
#else
#define COLL_INLINE COLL_I_SMALL static inline
#endif
#elif COLL_I_MODE == 1 /* whatever the level, gcc does not look into functions of -O0 */
#if defined(__clang__)
#define COLL_INLINE COLL_I_C inline __attribute__((gnu_inline, noinline))
#elif defined(__GNUC__)
#define COLL_INLINE COLL_I_C inline __attribute__((gnu_inline, optimize(0)))
#else
#define COLL_INLINE COLL_I_C inline
#endif
#else
#define COLL_INLINE COLL_I_C COLL_I_SMALL
#endif
#endif
#if COLL_I_MODE == 1 && defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic ignored "-Wgnu-inline-cpp-without-extern" /* it is extern "C" */
#endif

#ifndef COLL_HOT_INLINE /* firmware is smaller without, and with -Og gcc would call memcpy for arguments */
#if COLL_I_MODE == 1 || !(defined(__GNUC__) || defined(__clang__)) ||                          \
    defined(__OPTIMIZE_SIZE__) || !__STDC_HOSTED__
#define COLL_HOT_INLINE COLL_INLINE
#elif COLL_I_MODE == 0 && defined(__cplusplus)
#define COLL_HOT_INLINE inline __attribute__((always_inline))
#elif COLL_I_MODE == 0
#define COLL_HOT_INLINE static inline __attribute__((always_inline))
#else
#define COLL_HOT_INLINE COLL_I_C inline __attribute__((always_inline, used))
#endif
#endif

/* In front of functions that several small ones call: a call is less code than another copy of it. */
#if COLL_I_MODE == 0 && (defined(__GNUC__) || defined(__clang__)) && defined(__OPTIMIZE_SIZE__)
#define COLL_I_APART COLL_I_SMALL static __attribute__((noinline, unused))
#else
#define COLL_I_APART COLL_INLINE
#endif

/* … of which every action passes through one: elsewhere a part of its callers. */
#if COLL_I_MODE == 0 && (defined(__GNUC__) || defined(__clang__)) && defined(__OPTIMIZE_SIZE__)
#define COLL_I_HOT_APART COLL_I_APART
#else
#define COLL_I_HOT_APART COLL_HOT_INLINE
#endif

/* Without optimization gcc keeps constants that nobody uses, and what they point to, unless told.
 * */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__) && COLL_I_MODE == 0
#define COLL_I_IF_USED     _Pragma("GCC push_options") _Pragma("GCC optimize(\"toplevel-reorder\")")
#define COLL_I_IF_USED_END _Pragma("GCC pop_options")
#else
#define COLL_I_IF_USED
#define COLL_I_IF_USED_END
#endif
#if defined(__GNUC__) || defined(__clang__)
#define COLL_I_UNUSED               __attribute__((unused))
#define COLL_I_PRINTF(text, values) __attribute__((format(printf, text, values)))
#else
#define COLL_I_UNUSED
#define COLL_I_PRINTF(text, values)
#endif

#ifdef __cplusplus /* how many there are between the braces */
template <class type, size_t n> char (&coll_i_rows(type (&)[n]))[n];
#define COLL_I_ROWS(type, ...) sizeof(coll_i_rows<const type>(__VA_ARGS__))
#else
#define COLL_I_ROWS(type, ...) (sizeof((const type[])__VA_ARGS__) / sizeof(type))
#endif

#if COLL_I_MODE == 0 && defined(__cplusplus)
#define COLL_I_MEMBER(type, name, reference, array, ...)                                       \
    COLL_I_IF_USED                                                                             \
    template <class coll_i_any> struct coll_i_of_##name {                                      \
        static const type value array;                                                         \
    };                                                                                         \
    template <class coll_i_any>                                                                \
    const type coll_i_of_##name<coll_i_any>::value array = __VA_ARGS__;                        \
    static const type reference array COLL_I_UNUSED = coll_i_of_##name<void>::value;           \
    COLL_I_IF_USED_END struct coll_i_semicolon
#define COLL_CONST(type, name, ...) COLL_I_MEMBER(type, name, &name, , __VA_ARGS__)
#define COLL_TABLE(type, name, ...)                                                            \
    COLL_I_MEMBER(type, name, (&name), [COLL_I_ROWS(type, __VA_ARGS__)], __VA_ARGS__)
#elif COLL_I_MODE == 0
/* A constant structure; see above. */
#define COLL_CONST(type, name, ...)                                                            \
    COLL_I_IF_USED static const type name COLL_I_UNUSED = __VA_ARGS__;                         \
    COLL_I_IF_USED_END struct coll_i_semicolon
/* A constant array; see above. */
#define COLL_TABLE(type, name, ...)                                                            \
    COLL_I_IF_USED static const type name[] COLL_I_UNUSED = __VA_ARGS__;                       \
    COLL_I_IF_USED_END struct coll_i_semicolon
#elif COLL_I_MODE == 1
#define COLL_CONST(type, name, ...) COLL_I_C const type name
#define COLL_TABLE(type, name, ...) COLL_I_C const type name[COLL_I_ROWS(type, __VA_ARGS__)]
#else
#define COLL_CONST(type, name, ...)                                                            \
    COLL_I_C const type name;                                                                  \
    const type name = __VA_ARGS__
#define COLL_TABLE(type, name, ...)                                                            \
    COLL_I_C const type name[COLL_I_ROWS(type, __VA_ARGS__)];                                  \
    const type name[COLL_I_ROWS(type, __VA_ARGS__)] = __VA_ARGS__
#endif

/* ---- knobs ------------------------------------------------------------------------------- */

/* In a program of several files each file that uses the table of algorithms (algos/registry.h)
 * has all of them once more. With 1 only one of the files does, which defines COLL_REGISTRY_HERE
 * before it includes that header. */
#ifndef COLL_ONE_REGISTRY
#define COLL_ONE_REGISTRY 0
#endif

/* The most actions that one step of an algorithm yields; at least 4, as many as those of the
 * library do. */
#ifndef COLL_STEP_MAX
#define COLL_STEP_MAX 4
#endif

/* The most parameters that an algorithm has; likewise. */
#ifndef COLL_PARAM_MAX
#define COLL_PARAM_MAX 4
#endif

/* Actions in flight of a call made through comm.h. Requests of one's own choose freely, up to
 * 32. */
#ifndef COLL_WINDOW
#define COLL_WINDOW 16
#endif

/* Calls in the cache that a communicator makes itself, of memory of an allocator. */
#ifndef COLL_CACHED_CALLS
#define COLL_CACHED_CALLS 16
#endif

/* The most blocks of calls with tables of counts that a communicator keeps in its cache
 * (comm/prepared.h); at least one. */
#ifndef COLL_CACHED_BLOCKS
#define COLL_CACHED_BLOCKS 8
#endif

#if COLL_STEP_MAX < 4 || COLL_PARAM_MAX < 4 || COLL_WINDOW < 1 || COLL_WINDOW > 32 ||          \
    COLL_CACHED_CALLS < 1 || COLL_CACHED_BLOCKS < 1
#error "COLL_STEP_MAX, COLL_PARAM_MAX, COLL_WINDOW or a COLL_CACHED_… is out of its range"
#endif

/* 1 computes floats in integers (softfloat.h): for processors or contexts without floating
 * point. */
#ifndef COLL_SOFT_FLOAT
#define COLL_SOFT_FLOAT 0
#endif

/* 32 or 64: the loops of the predefined operators, but for those of pairs, exist again on vectors of up
 * to so many bytes (AVX2, AVX-512), for coll_op_builtin to pick where the processor has them; 0: they
 * do not. The results are the same, bit by bit. */
#ifndef COLL_WIDE_LOOPS
#if defined(__x86_64__) && defined(__SSE2__) && !defined(__AVX2__) && defined(__GNUC__) &&     \
    defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && __STDC_HOSTED__
#if defined(__clang__) || __GNUC__ >= 9
#define COLL_WIDE_LOOPS 64
#else
#define COLL_WIDE_LOOPS 32
#endif
#else
#define COLL_WIDE_LOOPS 0
#endif
#endif
#if COLL_WIDE_LOOPS != 0 && COLL_WIDE_LOOPS != 32 && COLL_WIDE_LOOPS != 64
#error "COLL_WIDE_LOOPS is 0, 32 or 64"
#endif

/* 0: coll_plan_init does not look for overflow, and coll_engine_start does not check its run.
 * For firmware that runs what was checked on a host; saves 300 to 600 bytes of code. */
#ifndef COLL_CHECKS
#define COLL_CHECKS 1
#endif

/* 1: of two ways to one result the library compiles the one of fewer bytes, though it takes more time: for
 * microcontrollers. Freestanding, the default. */
#ifndef COLL_SMALL
#define COLL_SMALL (!__STDC_HOSTED__)
#endif

/* 0: plans have neither tables of counts nor graphs: v- and w-collectives and those along a graph are refused
 * (COLL_ERR_COUNTS, COLL_ERR_GRAPH). Saves 500 bytes of code. Freestanding, the default; programs with
 * communicators (comm.h) ask for 1. */
#ifndef COLL_IRREGULAR
#define COLL_IRREGULAR __STDC_HOSTED__
#endif

/* 0: records of algorithms have neither their source nor what parameters mean, nor the values of the proof:
 * what tools print. Freestanding, the default. */
#ifndef COLL_DESCRIPTIONS
#define COLL_DESCRIPTIONS __STDC_HOSTED__
#endif

/* 0: the processor has no division, as a Cortex-M0+: the library divides by a loop then, of 30 bytes, where
 * the compiler's function has 270. */
#ifndef COLL_DIVIDES
#if COLL_SMALL && ((defined(__arm__) && !defined(__ARM_FEATURE_IDIV)) ||                       \
                   (defined(__riscv) && !defined(__riscv_div)))
#define COLL_DIVIDES 0
#else
#define COLL_DIVIDES 1
#endif
#endif

/* 1: division by a number that stays the same is a multiplication (coll_fast_divisor). To prepare that takes a
 * division of 64 bits, which 32-bit processors have as a function of 500 bytes or more; with 0 they divide. */
#ifndef COLL_FAST_DIVISION
#define COLL_FAST_DIVISION (!COLL_SMALL || UINTPTR_MAX > 0xffffffffu)
#endif

/* 0: engines take the limits of the transport for all peers (coll_routes of transport.h). Freestanding, the
 * usual: firmware that joins two transports asks for 1. */
#ifndef COLL_ROUTES
#define COLL_ROUTES __STDC_HOSTED__
#endif

/* 0: engines do not use coll_arrival of a transport: they receive, and combine by this processor. Saves
 * 300 bytes of code, 400 of the in-order engine. Freestanding, the usual: a transport that combines as
 * messages arrive asks for 1. */
#ifndef COLL_ARRIVAL
#define COLL_ARRIVAL __STDC_HOSTED__
#endif

/* 0: the window engine does not use coll_zero_copy of a transport: it receives messages that are to be
 * combined into scratch. Saves 700 bytes of code. Freestanding, the default: a transport whose messages
 * lie in memory asks for 1. */
#ifndef COLL_ZERO_COPY
#define COLL_ZERO_COPY __STDC_HOSTED__
#endif

/* The most actions of its rank that a communicator writes out beside a plan in its cache, once
 * the plan is used again; 48 bytes each with 64-bit pointers, 0: none. A plan of no more takes 5 to
 * 17 % less time then, if its messages are short and its ranks share memory. */
#ifndef COLL_CACHED_ACTIONS
#if defined(__STDC_HOSTED__) && __STDC_HOSTED__
#define COLL_CACHED_ACTIONS 16
#else
#define COLL_CACHED_ACTIONS 0
#endif
#endif

/* 0: engines do not use coll_in_network of a transport, and plans that need it are not started
 * (COLL_ERR_CAPABILITY). Saves 130 bytes of code. Freestanding, the default: a network that multicasts or
 * reduces asks for 1. */
#ifndef COLL_IN_NETWORK
#define COLL_IN_NETWORK __STDC_HOSTED__
#endif

/* 1: the library's own copy, of freestanding programs, moves words where both areas are aligned: a quarter of
 * the instructions on 32-bit processors, and some 40 bytes of code more. */
#ifndef COLL_COPY_WORDS
#define COLL_COPY_WORDS 0
#endif

/* Copies bytes between areas that do not overlap. A hosted compiler knows memcpy; on bare metal
 * the library brings a loop that the compiler must not turn back into a call of memcpy. */
#ifndef COLL_COPY
#if defined(__STDC_HOSTED__) && __STDC_HOSTED__ && (defined(__GNUC__) || defined(__clang__))
#define COLL_COPY(dst, src, bytes) ((void)__builtin_memcpy((dst), (src), (bytes)))
#else
#define COLL_COPY(dst, src, bytes) coll_i_copy((dst), (src), (bytes))
#endif
#endif

/* A word, which may be of any type. */
#if defined(__GNUC__) || defined(__clang__)
typedef size_t __attribute__((__may_alias__)) coll_i_word;
#else
typedef unsigned char coll_i_word;
#endif

COLL_I_APART void coll_i_copy(void *dst, const void *src, size_t bytes)
{
    volatile unsigned char *to = (volatile unsigned char *)dst;
    const unsigned char *from = (const unsigned char *)src;
    const size_t odd = sizeof(coll_i_word) - 1;
    size_t i = 0;
    if (COLL_COPY_WORDS && (((uintptr_t)dst | (uintptr_t)src) & odd) == 0)
        for (; i < (bytes & ~odd); i += sizeof(coll_i_word))
            *(volatile coll_i_word *)(volatile void *)(to + i) =
                *(const coll_i_word *)(const void *)(from + i);
    for (; i < bytes; i++)
        to[i] = from[i];
}

/* *to = *from: structures of so many bytes, all of words. A loop, as compilers call memcpy for the assignment on
 * bare metal, and field by field it is 4 bytes of code a word in each place. */
COLL_I_APART void coll_i_assign(void *to, const void *from, size_t bytes)
{
    volatile coll_i_word *words = (volatile coll_i_word *)to;
    const coll_i_word *these = (const coll_i_word *)from;
    for (size_t i = 0; i < bytes / sizeof(coll_i_word); i++)
        words[i] = these[i];
}

/* The condition is nearly always true: what follows if it is lies in one run. */
#ifndef COLL_LIKELY
#if defined(__GNUC__) || defined(__clang__)
#define COLL_LIKELY(condition) (__builtin_expect(!!(condition), 1))
#else
#define COLL_LIKELY(condition) (condition)
#endif
#endif

/* The line of memory at p will be read soon. */
#ifndef COLL_PREFETCH
#if defined(__GNUC__) || defined(__clang__)
#define COLL_PREFETCH(p) __builtin_prefetch(p)
#else
#define COLL_PREFETCH(p) ((void)0)
#endif
#endif

/* Has the processor an instruction that counts zeros? Where it has none, as a Cortex-M0+, compilers call
 * their runtime, which is larger and, for the low bits of a window, not faster than a loop. */
#if !(defined(__GNUC__) || defined(__clang__)) ||                                              \
    (defined(__arm__) && !defined(__ARM_FEATURE_CLZ)) ||                                       \
    (defined(__riscv) && __riscv_xlen == 32 && !defined(__riscv_zbb))
#define COLL_I_COUNTS_ZEROS 0
#else
#define COLL_I_COUNTS_ZEROS 1
#endif

/* The index of the lowest bit that is set; x is not zero. */
#ifndef COLL_LOWEST_BIT
#if COLL_I_COUNTS_ZEROS
#define COLL_LOWEST_BIT(x) ((uint32_t)__builtin_ctz(x))
#else
#define COLL_LOWEST_BIT(x) coll_i_lowest_bit(x)
#endif
#endif

COLL_I_APART uint32_t coll_i_lowest_bit(uint32_t x)
{
    uint32_t bit = 0;
    while (!(x & 1u)) {
        x >>= 1;
        bit++;
    }
    return bit;
}

/* The index of the highest bit that is set; x is not zero. */
#ifndef COLL_HIGHEST_BIT
#if COLL_I_COUNTS_ZEROS
#define COLL_HIGHEST_BIT(x) (31u - (uint32_t)__builtin_clz(x))
#else
#define COLL_HIGHEST_BIT(x) coll_i_highest_bit(x)
#endif
#endif

COLL_INLINE uint32_t coll_i_highest_bit(uint32_t x)
{
    uint32_t bit = 0;
    while (x >>= 1)
        bit++;
    return bit;
}

#endif /* COLL_CONFIG_H */
