/* The proof of all rows, as `coll verify -p A..B --random N` gives it; here the headers that it runs count
 * their lines. Arguments: A B N. */
#include <stdio.h>
#include <stdlib.h>

#include "coll/algos/registry.h"
#if !defined(__clang__)
#pragma GCC optimize("O2") /* the verifier, whose lines are not counted */
#endif
#include "coll/lab/verify_grid.h"

static uint32_t number(const char *word)
{
    return (uint32_t)strtoul(word, NULL, 10);
}

int main(int argc, char **argv)
{
    coll_grid_options options;
    coll_grid_result result;
    if (argc != 4)
        return 2;
    coll_grid_options_init(&options, coll_registry, COLL_REGISTRY_COUNT);
    options.inside.algorithms = coll_registry;
    options.inside.n = COLL_REGISTRY_COUNT;
    options.p_least = number(argv[1]);
    options.p_most = number(argv[2]);
    options.random = number(argv[3]);
    options.steps /= 64; /* of each plan at random, so that they are small */
    options.elements /= 64;
    options.workers = 1; /* counting is not atomic */
    if (!coll_verify_grid(&options, &result))
        printf("%s\n%s\n", result.failure.report.sentence, result.failure.reproduction);
    return result.ok ? 0 : 1;
}
