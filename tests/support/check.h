/* tests/support/check.h — the few words that tests are written in
 *
 *   TEST(ring_is_a_ring) { CHECK_EQ(next(4, 3), 0); }
 *   int main(void) { RUN(ring_is_a_ring); return check_done(); }
 *
 * A check that fails prints where and what, and the test goes on. ctest runs the executables.
 */
#ifndef COLL_TESTS_CHECK_H
#define COLL_TESTS_CHECK_H

#include <stdio.h>

#include "coll/types.h"

static unsigned long check_count, check_failures;

/* Under a sanitizer, which looks at memory and not at numbers, tests do less of the same; what they prove is proven
 * by the ordinary build.
 *
 *   CHECK_SHARE   those that take long do one part of so many of their repetitions: with every third row of the
 *                 registry, an error in every third call
 *   CHECK_RANKS   laws are checked for all numbers of ranks up to this one; eight ranks execute every line of
 *                 the algorithms (tests/gates/coverage.sh) */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED 1
#elif __has_feature(thread_sanitizer)
#define CHECK_RACES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_SANITIZED 1
#elif defined(__SANITIZE_THREAD__)
#define CHECK_RACES 1
#endif
#if defined(CHECK_SANITIZED) || defined(CHECK_RACES)
enum { CHECK_SHARE = 3, CHECK_RANKS = 16 };
#else
enum { CHECK_SHARE = 1, CHECK_RANKS = 64 };
#endif

#define TEST(name) static void name(void)

#define RUN(name)                                                                              \
    do {                                                                                       \
        const unsigned long failures_before = check_failures, checks_before = check_count;     \
        name();                                                                                \
        printf("%s %s (%lu checks)\n",                                                         \
               check_failures == failures_before ? "ok    " : "FAILED", #name,                 \
               check_count - checks_before);                                                   \
        if (check_count == checks_before) {                                                    \
            printf("FAILED %s checked nothing\n", #name);                                      \
            check_failures++;                                                                  \
        }                                                                                      \
        fflush(stdout);                                                                        \
    } while (0)

/* RUN_ALONE: of a test in one thread, where ThreadSanitizer has nothing to find. */
#ifdef CHECK_RACES
#define RUN_ALONE(name) ((void)(name))
#else
#define RUN_ALONE(name) RUN(name)
#endif

/* Counts a check; prints at most a hundred failures. Returns whether it held. */
static inline bool check_that(bool held, const char *file, int line, const char *what)
{
    check_count++;
    if (!held && check_failures++ < 100)
        printf("%s:%d: does not hold: %s\n", file, line, what);
    return held;
}

#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)

static inline bool check_equal(long long a, long long b, const char *file, int line,
                               const char *what)
{
    const bool held = check_that(a == b, file, line, what);
    if (!held && check_failures < 100)
        printf("    %lld is not %lld\n", a, b);
    return held;
}

#define CHECK_EQ(a, b)                                                                         \
    check_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)

static inline bool check_status(coll_status is, coll_status wanted, const char *file, int line,
                                const char *what)
{
    const bool held = check_that(is == wanted, file, line, what);
    if (!held && check_failures < 100)
        printf("    \"%s\" instead of \"%s\"\n", coll_status_text(is),
               coll_status_text(wanted));
    return held;
}

#define CHECK_STATUS(expression, wanted)                                                       \
    check_status((expression), (wanted), __FILE__, __LINE__, #expression " gives " #wanted)

/* The exit code of a test program. */
static inline int check_done(void)
{
    printf("%lu checks, %lu failed\n", check_count, check_failures);
    return check_failures == 0 && check_count > 0 ? 0 : 1;
}

#endif /* COLL_TESTS_CHECK_H */
