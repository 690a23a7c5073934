/* coll/transports/tcp/siphash.h — a keyed checksum of 64 bits: who does not know the key cannot make it
 *
 * SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012), which is made for short inputs.
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_SIPHASH_H
#define COLL_TRANSPORTS_TCP_SIPHASH_H

#include "../../config.h"

COLL_INLINE uint64_t coll_i_sip_rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* A round on the four words of the state (the paper, figure 2.1). */
COLL_INLINE void coll_i_sip_round(uint64_t *v)
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = coll_i_sip_rotate(v[1], 13) ^ v[0];
    v[3] = coll_i_sip_rotate(v[3], 16) ^ v[2];
    v[0] = coll_i_sip_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = coll_i_sip_rotate(v[1], 17) ^ v[2];
    v[3] = coll_i_sip_rotate(v[3], 21) ^ v[0];
    v[2] = coll_i_sip_rotate(v[2], 32);
}

/* The little-endian number in n ≤ 8 bytes. */
COLL_INLINE uint64_t coll_i_sip_word(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

/* Of n bytes, with a key of 16. */
COLL_INLINE uint64_t coll_i_siphash(const unsigned char *key, const unsigned char *bytes,
                                    size_t n)
{
    const uint64_t k0 = coll_i_sip_word(key, 8), k1 = coll_i_sip_word(key + 8, 8);
    uint64_t v[4];
    v[0] = k0 ^ 0x736f6d6570736575u;
    v[1] = k1 ^ 0x646f72616e646f6du;
    v[2] = k0 ^ 0x6c7967656e657261u;
    v[3] = k1 ^ 0x7465646279746573u;
    for (size_t at = 0; at <= n; at += 8) {
        const bool last = n - at < 8;
        const uint64_t word =
            coll_i_sip_word(bytes + at, last ? n - at : 8) | (last ? (uint64_t)n << 56 : 0);
        v[3] ^= word;
        coll_i_sip_round(v);
        coll_i_sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (unsigned i = 0; i < 4; i++)
        coll_i_sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* COLL_TRANSPORTS_TCP_SIPHASH_H */
