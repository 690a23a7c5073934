/* tests/chance.h — numbers that look random, the same in each run that begins with the same state */
#ifndef COLL_TESTS_CHANCE_H
#define COLL_TESTS_CHANCE_H

#include <stdint.h>

static uint32_t random_state;

static inline uint32_t chance(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state ^ random_state >> 15) * below >> 32);
}

#endif /* COLL_TESTS_CHANCE_H */
