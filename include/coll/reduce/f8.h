/* coll/reduce/f8.h — the predefined operators on floats of 8 bits, E4M3 and E5M2
 *
 * A part of reduce.h, which says what they do. Sums and products are those of f32, narrowed.
 */
#ifndef COLL_REDUCE_F8_H
#define COLL_REDUCE_F8_H

#include "floats.h"

#if COLL_SOFT_FLOAT

#define COLL_I_SUM_F8_E4M3(T, u, v)                                                            \
    coll_f8_e4m3_from_f32(coll_soft_add_f32(coll_f32_from_f8_e4m3(u), coll_f32_from_f8_e4m3(v)))
#define COLL_I_PROD_F8_E4M3(T, u, v)                                                           \
    coll_f8_e4m3_from_f32(coll_soft_mul_f32(coll_f32_from_f8_e4m3(u), coll_f32_from_f8_e4m3(v)))
#define COLL_I_SUM_F8_E5M2(T, u, v)                                                            \
    coll_f8_e5m2_from_f32(coll_soft_add_f32(coll_f32_from_f8_e5m2(u), coll_f32_from_f8_e5m2(v)))
#define COLL_I_PROD_F8_E5M2(T, u, v)                                                           \
    coll_f8_e5m2_from_f32(coll_soft_mul_f32(coll_f32_from_f8_e5m2(u), coll_f32_from_f8_e5m2(v)))

#else

/* The f32 of an E5M2 and of an E4M3, without branches: as those of an f16. */
COLL_INLINE float coll_i_float_from_f8_e5m2(uint8_t x)
{
    return coll_i_float_from_f16((uint16_t)(x << 8));
}

COLL_INLINE float coll_i_float_from_f8_e4m3(uint8_t x)
{
    const uint32_t sign = (x & 0x80u) << 8, rest = x & 0x7fu;
    const float value = coll_i_float_from_f16((uint16_t)(sign | rest << 7)) * 256.0f;
    return coll_i_float(coll_i_bits(value) | (coll_i_below(0x7eu, rest) & 0x7fc00000u));
}

COLL_INLINE uint8_t coll_i_f8_e4m3_from_float(float x)
{
    return (uint8_t)coll_i_narrow(x, 8, 3, 7, 0x43e00000u, 0x7fu);
}

COLL_INLINE uint8_t coll_i_f8_e5m2_from_float(float x)
{
    return (uint8_t)coll_i_narrow(x, 8, 2, 15, 0x47600000u, 0x7eu);
}

#define COLL_I_SUM_F8_E4M3(T, u, v)                                                            \
    coll_i_f8_e4m3_from_float(coll_i_float_from_f8_e4m3(u) + coll_i_float_from_f8_e4m3(v))
#define COLL_I_PROD_F8_E4M3(T, u, v)                                                           \
    coll_i_f8_e4m3_from_float(coll_i_float_from_f8_e4m3(u) * coll_i_float_from_f8_e4m3(v))
#define COLL_I_SUM_F8_E5M2(T, u, v)                                                            \
    coll_i_f8_e5m2_from_float(coll_i_float_from_f8_e5m2(u) + coll_i_float_from_f8_e5m2(v))
#define COLL_I_PROD_F8_E5M2(T, u, v)                                                           \
    coll_i_f8_e5m2_from_float(coll_i_float_from_f8_e5m2(u) * coll_i_float_from_f8_e5m2(v))

#endif /* COLL_SOFT_FLOAT */

#define COLL_I_MIN_F8_E4M3(T, u, v) coll_soft_min_f8_e4m3((u), (v))
#define COLL_I_MAX_F8_E4M3(T, u, v) coll_soft_max_f8_e4m3((u), (v))
#define COLL_I_MIN_F8_E5M2(T, u, v) coll_soft_min_f8_e5m2((u), (v))
#define COLL_I_MAX_F8_E5M2(T, u, v) coll_soft_max_f8_e5m2((u), (v))

#if defined(__clang__) /* as in floats.h */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

COLL_I_KERNEL(sum_f8_e4m3, coll_i_u8, COLL_I_SUM_F8_E4M3)
COLL_I_KERNEL(prod_f8_e4m3, coll_i_u8, COLL_I_PROD_F8_E4M3)
COLL_I_KERNEL(min_f8_e4m3, coll_i_u8, COLL_I_MIN_F8_E4M3)
COLL_I_KERNEL(max_f8_e4m3, coll_i_u8, COLL_I_MAX_F8_E4M3)
COLL_I_KERNEL(sum_f8_e5m2, coll_i_u8, COLL_I_SUM_F8_E5M2)
COLL_I_KERNEL(prod_f8_e5m2, coll_i_u8, COLL_I_PROD_F8_E5M2)
COLL_I_KERNEL(min_f8_e5m2, coll_i_u8, COLL_I_MIN_F8_E5M2)
COLL_I_KERNEL(max_f8_e5m2, coll_i_u8, COLL_I_MAX_F8_E5M2)

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif /* COLL_REDUCE_F8_H */
