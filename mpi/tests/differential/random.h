/* mpi/tests/differential/random.h — random numbers that all ranks agree on
 *
 * A stream is a number; streams of the same key are the same on all ranks. What all ranks must know is
 * drawn from a stream whose key does not name a rank; what is a rank's own comes from one that does.
 */
#ifndef DIFFERENTIAL_RANDOM_H
#define DIFFERENTIAL_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stream {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t draw(struct stream *s)
{
    uint64_t x = s->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline struct stream stream_of(uint64_t a, uint64_t b, uint64_t c)
{
    struct stream s = {a};
    s.state = draw(&s) ^ b * 0xff51afd7ed558ccdu;
    s.state = draw(&s) ^ c * 0xc4ceb9fe1a85ec53u;
    draw(&s);
    return s;
}

/* 0 … n−1; 0 if n is. */
static inline int below(struct stream *s, int n)
{
    return n > 0 ? (int)(draw(s) % (uint64_t)n) : 0;
}

static inline bool chance(struct stream *s, int percent)
{
    return below(s, 100) < percent;
}

static inline void shuffle(struct stream *s, int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = below(s, i + 1), t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}

static inline void permutation(struct stream *s, int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = i;
    shuffle(s, a, n);
}

static inline void random_bytes(struct stream *s, unsigned char *at, size_t n)
{
    for (; n >= 8; n -= 8, at += 8) {
        const uint64_t x = draw(s);
        memcpy(at, &x, 8);
    }
    const uint64_t x = draw(s);
    memcpy(at, &x, n);
}

#endif
