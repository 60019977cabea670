// Least squares, min ‖XYᵀ − A‖ for Y, by Cholesky's decomposition of XᵀX, and the lanes where that
// is not safe.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// The same bounds as in the NumPy reference, src/nmfcheck/reference/als.py.
constexpr double safe = 1e8;  // for the condition of XᵀX with columns of X scaled to one length
constexpr double full_rank = 1e26;  // for the condition of XᵀX as it is

// Lanes where one component is so much shorter than the others that the tests below are certain to
// mark them, found without a square root or a division. Where Cholesky's decomposition does not,
// each `rest` is in (G[j,j]/safe, G[j,j]]. So ‖G⁻¹‖ ≥ G⁻¹[j,j] ≥ 1/G[j,j], and lengths times
// inverse_lengths is more than full_rank, with a factor of 2 left for rounding. No NaN can hide it:
// where the lengths are below 1e100, G is finite; L(i,p)² ≤ G[i,i] and L(i,p)·L(i,i) ≤ 1e4, so L
// and L⁻¹ are finite, too, and the squares in inverse_lengths are numbers or ∞. Lanes with a NaN,
// an ∞ or a component of zeros are left to those tests.
template <class Square>
INLINE Mask surely_doubtful(Square &G) {
    V shortest = G(0, 0), lengths = G(0, 0);
    for_each_from(Fixed<1>{}, G.columns, [&](int j) INLINED {
        shortest = minimum(shortest, G(j, j));
        lengths += G(j, j);
    });
    return (shortest > V{}) & (shortest < 0.5 / full_rank * lengths) & (lengths < all(1e100));
}

// Decompose G = LLᵀ; the diagonal of L is replaced by its inverse. A row and column of zeros, from
// a component that is zero, has the inverse 0: it is left out of the equations. Returns lanes not
// to trust, whatever else is found about them: those that are doubtful already, and others.
template <class Square>
INLINE Mask cholesky(Square &G, Square &L, Mask doubtful) {
    constexpr Fixed<0> zero;
    const auto k = G.columns;
    for_each_from(zero, k, [&](auto j) INLINED {
        if (j > 1 && !any(~doubtful)) return;  // nothing of L will be used
        V rest = G(j, j);
        for_each_from(zero, j,
                      [&](int p) INLINED { rest = subtract_product(L(j, p), L(j, p), rest); });
        // Less than nothing is left where squares were too small to be numbers.
        doubtful |= ((G(j, j) > V{}) | (rest < V{})) & (safe * rest <= G(j, j));
        if (j > 0 && !any(~doubtful)) return;
        L(j, j) = quotient(all(1), sqrt(rest));
        for_each_from(after(j), k, [&](int i) INLINED {
            V rest = G(i, j);
            for_each_from(zero, j,
                          [&](int p) INLINED { rest = subtract_product(L(i, p), L(j, p), rest); });
            L(i, j) = rest * L(j, j);
        });
    });
    return doubtful;
}

// The other lanes not to trust. ‖G‖ ≤ ΣG[j,j] and ‖G⁻¹‖ ≤ ΣG⁻¹[j,j], where G⁻¹[j,j] is the
// squared length of column j of L⁻¹; with columns scaled to length 1, ‖G⁻¹‖ ≤ ΣG[j,j]·G⁻¹[j,j].
template <class Square>
INLINE Mask ill_conditioned(Square &G, Square &L, Square &L_inverse) {
    const auto k = G.columns;
    V lengths{}, inverse_lengths{}, scaled{};
    for_each_from(Fixed<0>{}, k, [&](auto j) INLINED {
        V length = L(j, j) * L(j, j);  // of column j of L⁻¹
        L_inverse(j, j) = L(j, j);
        for_each_from(after(j), k, [&](auto i) INLINED {
            V sum{};
            for_each_from(j, i, [&](int p) INLINED { sum = fma(L(i, p), L_inverse(p, j), sum); });
            L_inverse(i, j) = -L(i, i) * sum;
            length = fma(L_inverse(i, j), L_inverse(i, j), length);
        });
        lengths += G(j, j);
        inverse_lengths += length;
        scaled = fma(G(j, j), length, scaled);
    });
    return (double(k) * scaled > safe) | (lengths * inverse_lengths > full_rank);
}

// Solve LLᵀ·y = b for a few rows of a matrix at once, in place.
template <int R, class Square, class Rows>
INLINE void substitute(Square &L, Rows &B, int i) {
    constexpr Fixed<0> zero;
    const auto k = L.columns;
    for_each_from(zero, k, [&](auto c) INLINED {
        UNROLL for (int r = 0; r < R; ++r) {
            V rest = B(i + r, c);
            for_each_from(zero, c, [&](int p) INLINED {
                rest = subtract_product(L(c, p), B(i + r, p), rest);
            });
            B(i + r, c) = rest * L(c, c);
        }
    });
    for_each_down_to(zero, k, [&](auto c) INLINED {
        UNROLL for (int r = 0; r < R; ++r) {
            V rest = B(i + r, c);
            for_each_from(after(c), k, [&](int p) INLINED {
                rest = subtract_product(L(p, c), B(i + r, p), rest);
            });
            B(i + r, c) = rest * L(c, c);
        }
    });
}

}  // namespace nmfcheck::INSTRUCTIONS
