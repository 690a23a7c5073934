/* tests/support/chance.h — numbers that look random, the same in each run that begins with the
 * same state: splitmix64, by Sebastiano Vigna */
#ifndef COLL_TESTS_CHANCE_H
#define COLL_TESTS_CHANCE_H

#include <stdint.h>

static inline uint64_t chance_bits(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint32_t chance_of(uint64_t *state, uint32_t below)
{
    return (uint32_t)((chance_bits(state) >> 32) * below >> 32);
}

static uint64_t random_state;

static inline uint32_t chance(uint32_t below)
{
    return chance_of(&random_state, below);
}

#endif /* COLL_TESTS_CHANCE_H */
