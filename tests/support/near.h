/* tests/support/near.h — checks of numbers that are not whole */
#ifndef COLL_TESTS_MODEL_NEAR_H
#define COLL_TESTS_MODEL_NEAR_H

#include <math.h>

#include "check.h"

static inline bool check_near(double is, double wanted, double share, const char *file,
                              int line, const char *what)
{
    const bool held = check_that(fabs(is - wanted) <= share * fabs(wanted), file, line, what);
    if (!held && check_failures < 100)
        printf("    %.9g is not within %g %% of %.9g\n", is, 100 * share, wanted);
    return held;
}

/* Equal but for a share of the second, 0.01 for a hundredth. */
#define CHECK_NEAR(is, wanted, share)                                                          \
    check_near((is), (wanted), (share), __FILE__, __LINE__, #is " is near " #wanted)

/* Equal but for rounding. */
#define CHECK_SAME(is, wanted) CHECK_NEAR(is, wanted, 1e-12)

#endif /* COLL_TESTS_MODEL_NEAR_H */
