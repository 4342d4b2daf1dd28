/* Registers of floats, whatever their size: what all kernels are written in. */

#ifndef GNARL_VECTORS_H
#define GNARL_VECTORS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) /* 32 registers */
#define LANES 16         /* floats in a register */
#define WIDE 4
#elif defined(__AVX2__)
#define LANES 8
#define WIDE 2
#else
#define LANES 4
#define WIDE 2
#endif
#define PAIR (2 * LANES) /* floats; divides 32 */
#define ALIGNMENT 64
#define USUAL_WIDTH 64 /* loops over it are unrolled */
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vec load(const float *from) { return *(const vec *)from; }
static inline void store(float *to, vec value) { *(vec *)to = value; }
static inline vec all(float value) { return value - (vec){0}; }
static inline mask load_numbers(const int32_t *from) { return *(const mask *)from; }
static inline void store_numbers(int32_t *to, mask value) { *(mask *)to = value; }
static inline mask all_numbers(int32_t value) { return value - (mask){0}; }

/* x where it is not below 0: a NaN stays one */
static inline vec relu(vec x) { return (vec)((mask)x & ~(mask)(x < (vec){0})); }

/* x where y is above 0 */
static inline vec where_positive(vec x, vec y) {
#if defined(__AVX512F__)
    return (vec)_mm512_maskz_mov_ps(
        _mm512_cmp_ps_mask((__m512)y, _mm512_setzero_ps(), _CMP_GT_OQ), (__m512)x);
#else
    return (vec)((mask)x & (mask)(y > (vec){0}));
#endif
}

/* One bit per lane: whether it holds anything but 0. */
static inline uint64_t nonzero_lanes(mask x) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x);
#elif defined(__AVX2__)
    return (uint64_t)_mm256_movemask_ps((__m256)(x != (mask){0}));
#elif defined(__SSE2__)
    return (uint64_t)_mm_movemask_ps((__m128)(x != (mask){0}));
#else
    uint64_t bits = 0;
    for (int i = 0; i < LANES; i++) bits |= (uint64_t)(x[i] != 0) << i;
    return bits;
#endif
}

/* A value meets the largest so far; ties stay with the one that came first. */
static inline void keep_larger(vec x, mask number, vec *best, mask *winner) {
#if defined(__AVX512F__)
    __mmask16 larger = _mm512_cmp_ps_mask((__m512)x, (__m512)*best, _CMP_GT_OQ);
    *best = (vec)_mm512_mask_mov_ps((__m512)*best, larger, (__m512)x);
    *winner = (mask)_mm512_mask_mov_epi32((__m512i)*winner, larger, (__m512i)number);
#else
    mask larger = x > *best;
    *best = (vec)((larger & (mask)x) | (~larger & (mask)*best));
    *winner = (larger & number) | (~larger & *winner);
#endif
}

/* The sum of all lanes, in halves. */
static inline float total(vec x) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)x);
#endif
    float lane[LANES];
    store(lane, x);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

static inline size_t floats(int64_t count) { return sizeof(float) * (size_t)count; }

static inline void relu_all(float *values, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) store(values + i, relu(load(values + i)));
}

static inline void add_row(float *restrict sum, const float *restrict row, int64_t width) {
    for (int64_t c = 0; c < width; c += LANES) store(sum + c, load(sum + c) + load(row + c));
}

#endif
