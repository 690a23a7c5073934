/* coll/lab/sim/basics.h — what the parts of the simulator share: time, memory, numbers that look
 * random
 *
 * Use lab/sim.h. This header is hosted, as all of sim/.
 */
#ifndef COLL_LAB_SIM_BASICS_H
#define COLL_LAB_SIM_BASICS_H

#include "../../plan/topo.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Picoseconds since the start of the collective. */
typedef uint64_t coll_time;

/* A time that does not come. */
#define COLL_NEVER UINT64_MAX
/* Simulated times stay below this, 26 days. */
#define COLL_TIME_LIMIT ((coll_time)1 << 61)

/* A cost in picoseconds, rounded to the nearest; at most the limit, which no simulation reaches. */
COLL_INLINE coll_time coll_time_of(double ps)
{
    return ps < (double)COLL_TIME_LIMIT ? (coll_time)(ps + 0.5) : COLL_TIME_LIMIT;
}

/* The later of two times. */
COLL_INLINE coll_time coll_later(coll_time a, coll_time b)
{
    return a > b ? a : b;
}

/* A time in microseconds. */
COLL_INLINE double coll_time_us(coll_time t)
{
    return (double)t * 1e-6;
}

/* The index of the highest bit that is set; x is not zero. */
COLL_INLINE uint32_t coll_i_highest_bit64(uint64_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    return 63u - (uint32_t)__builtin_clzll(x);
#else
    const uint32_t high = (uint32_t)(x >> 32);
    return high ? 32 + COLL_HIGHEST_BIT(high) : COLL_HIGHEST_BIT((uint32_t)x);
#endif
}

/* How functions are declared that are seldom called, so that those which call them keep small. */
#if COLL_I_MODE == 0 && !defined(__cplusplus) && (defined(__GNUC__) || defined(__clang__))
#define COLL_I_RARE static __attribute__((noinline, unused))
#else
#define COLL_I_RARE COLL_INLINE
#endif

/* Memory that will be used soon. */
#if defined(__GNUC__) || defined(__clang__)
#define COLL_I_PREFETCH(p) __builtin_prefetch((p), 1)
#else
#define COLL_I_PREFETCH(p) ((void)(p))
#endif

/* A number that looks random, of three others: the finalizer of splitmix64, by Sebastiano Vigna, on
 * a sum that tells the three apart. */
COLL_INLINE uint64_t coll_i_mixed(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + a * 0xD1B54A32D192ED03u +
                 b * 0x8CB92BA72F3D8DD7u + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 0 ≤ x < 1, of 53 bits of such a number. */
COLL_INLINE double coll_i_fraction(uint64_t number)
{
    return (double)(number >> 11) * (1.0 / 9007199254740992.0);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Things begin where lines of the cache do, so that none has more of them than it must. */
enum { COLL_I_CACHE_LINE = 64 };

/* The first line in memory that has room for one more. */
COLL_INLINE void *coll_i_cache_line(void *memory)
{
    return (char *)memory +
           (COLL_I_CACHE_LINE - (uintptr_t)memory % COLL_I_CACHE_LINE) % COLL_I_CACHE_LINE;
}

/* Asks for large pages, where a system has them and the memory is larger than they are: at a
 * million ranks, each event is on a few pages of its own. */
COLL_I_RARE void coll_i_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21, at = (uintptr_t)memory;
    const uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;
    if (memory && first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

/* An array that grows; elements may move. */
typedef struct coll_i_array {
    void *at;
    size_t n, room; /* elements */
    void *memory;
} coll_i_array;

/* Has room for so many elements in all; false: there is no memory. */
COLL_I_RARE bool coll_i_array_resize(coll_i_array *array, size_t room, size_t bytes)
{
    const size_t before = array->room ? (size_t)((char *)array->at - (char *)array->memory) : 0;
    void *memory = realloc(array->memory, room * bytes + COLL_I_CACHE_LINE);
    if (!memory)
        return false;
    coll_i_large_pages(memory, room * bytes);
    array->memory = memory;
    array->at = coll_i_cache_line(memory);
    if (array->at != (char *)memory + before)
        memmove(array->at, (char *)memory + before, array->room * bytes);
    array->room = room;
    return true;
}

/* Makes room for n elements in all; false: there is no memory. */
COLL_INLINE bool coll_i_array_reserve(coll_i_array *array, size_t n, size_t bytes)
{
    size_t room = array->room ? array->room : 16;
    if (n <= array->room)
        return true;
    while (room < n)
        room += room / 2 + 16;
    return coll_i_array_resize(array, room, bytes);
}

COLL_INLINE void coll_i_array_free(coll_i_array *array)
{
    free(array->memory);
    array->at = array->memory = NULL;
    array->n = array->room = 0;
}

#endif /* COLL_LAB_SIM_BASICS_H */
