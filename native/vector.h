// The vector type that all kernels are written in: one double for each of `width` problems.
//
// This header and those that build on it are compiled once for each instruction set, into a
// namespace of its own (INSTRUCTIONS), so that nothing built for one machine is run on another.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INLINED __attribute__((always_inline))
#define INLINE inline INLINED
#define UNROLL _Pragma("GCC unroll 16")

namespace nmfcheck::INSTRUCTIONS {

#if defined(__AVX512F__)
constexpr int width = 8;
#elif defined(__AVX2__)
constexpr int width = 4;
#else
constexpr int width = 2;
#endif

typedef double V __attribute__((vector_size(8 * width), may_alias));
typedef std::int64_t Mask __attribute__((vector_size(8 * width), may_alias));  // all bits or none

INLINE V all(double x) { return V{} + x; }

// One number from memory for all lanes, which nothing is computed for.
INLINE V repeated(const double *x) {
#if defined(__AVX512F__)
    return _mm512_set1_pd(*x);
#elif defined(__AVX2__)
    return _mm256_broadcast_sd(x);
#else
    V all;
    UNROLL for (int lane = 0; lane < width; ++lane) all[lane] = *x;
    return all;
#endif
}

// a·b + c, rounded once where the machine can. Nothing else is fused: the build forbids it.
INLINE V fma(V a, V b, V c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#else
    return a * b + c;
#endif
}

// c − a·b: the same as fma(−a, b, c), without a change of sign.
INLINE V subtract_product(V a, V b, V c) {
#if defined(__AVX512F__)
    return _mm512_fnmadd_pd(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fnmadd_pd(a, b, c);
#elif defined(__aarch64__)
    return vfmsq_f64(c, a, b);
#else
    return c - a * b;
#endif
}

INLINE V sqrt(V x) {
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(x);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__)
    return _mm_sqrt_pd(x);
#elif defined(__aarch64__)
    return vsqrtq_f64(x);
#else
    for (int lane = 0; lane < width; ++lane) x[lane] = __builtin_sqrt(x[lane]);
    return x;
#endif
}

INLINE V select(Mask where, V yes, V no) { return where ? yes : no; }
INLINE V keep(Mask where, V x) { return (V)(where & (Mask)x); }  // and 0 elsewhere
INLINE V absolute(V x) { return (V)((Mask)x & INT64_MAX); }

// The larger and the smaller, and x where x is NaN: that is what the instructions do with their
// second operand.
#if defined(__AVX512F__)
INLINE V maximum(V x, V y) { return _mm512_max_pd(y, x); }
INLINE V minimum(V x, V y) { return _mm512_min_pd(y, x); }
#elif defined(__AVX2__)
INLINE V maximum(V x, V y) { return _mm256_max_pd(y, x); }
INLINE V minimum(V x, V y) { return _mm256_min_pd(y, x); }
#elif defined(__x86_64__)
INLINE V maximum(V x, V y) { return _mm_max_pd(y, x); }
INLINE V minimum(V x, V y) { return _mm_min_pd(y, x); }
#else
INLINE V maximum(V x, V y) { return select(x < y, y, x); }
INLINE V minimum(V x, V y) { return select(x > y, y, x); }
#endif

// x where it is positive, otherwise 0, and never −0. NaN stays NaN.
INLINE V clipped(V x) { return maximum(x, V{}) + V{}; }

// The largest power of two up to x, but not more than 2¹⁰⁰⁰, and 1 where x is 0.
INLINE V power_of_two(V x) {
    const V power = (V)((Mask)x & 0x7FF0000000000000);
    return select(x > V{}, minimum(power, all(0x1p1000)), all(1));
}

// x / y, and 0 wherever the denominator is 0.
INLINE V quotient(V x, V y) { return keep(y != V{}, x / y); }

INLINE Mask differing_bits(V x, V y) { return (Mask)x ^ (Mask)y; }

INLINE bool any(Mask mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#endif
    std::int64_t bits = 0;
    UNROLL for (int lane = 0; lane < width; ++lane) bits |= mask[lane];
    return bits != 0;
}

}  // namespace nmfcheck::INSTRUCTIONS
