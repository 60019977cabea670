// Which columns of a triangle count, and the null space of those that do not.
#pragma once

#include "triangle.h"

namespace nmfcheck::INSTRUCTIONS {

// Singular values up to this, relative to the largest, count as zero, as in LAPACK's least squares.
INLINE double relative_cutoff(int m, int k) { return (m > k ? m : k) * 0x1p-52; }

// x − (x·u)/(u·u)·u for rows x and u of a matrix, where entries of u are 0 behind entry j.
template <class Rows, class Index>
INLINE void subtract_projection(Rows &rows, int x, int u, V inverse_square, Index j) {
    V dot{};
    for_each_from(Fixed<0>{}, after(j),
                  [&](int i) INLINED { dot = fma(rows(x, i), rows(u, i), dot); });
    dot *= inverse_square;
    for_each_from(Fixed<0>{}, after(j), [&](int i) INLINED {
        rows(x, i) = subtract_product(dot, rows(u, i), rows(x, i));
    });
}

// Decide which columns count. The columns before column j leave R[j,j] of it, and with w for the
// combination of them that comes nearest to it, R maps (−w, 1) to that: R[j,j]/‖(−w, 1)‖ is a
// singular value, as nearly as it is small beside the others. Where it counts as zero, (−w, 1) is
// in the null space. The largest singular value is found by one step of the power method, ‖Rx‖/‖x‖,
// from the first row of R: never too large, to 1 % for most dense X, up to a third too small for
// sparse ones.
template <class M, class K>
INLINE void find_null_space(Triangle<M, K> &t, Mask lanes, const bool *stop) {
    constexpr Fixed<0> zero;
    const auto k = t.k;
    auto &N = t.N;
    auto &R = t.U;
    V squared_x{}, squared_Rx{};
    N(0, 0) = t.diagonal[0];  // row 0 is free: it holds x
    for_each_from(Fixed<1>{}, k, [&](int c) INLINED { N(0, c) = R(0, c); });
    for_each_from(zero, t.steps, [&](auto i) INLINED {
        V sum = t.diagonal[i] * N(0, i);
        for_each_from(after(i), k, [&](int c) INLINED { sum = fma(R(i, c), N(0, c), sum); });
        squared_Rx = fma(sum, sum, squared_Rx);
    });
    for_each_from(zero, k, [&](int c) INLINED { squared_x = fma(N(0, c), N(0, c), squared_x); });
    const double relative = relative_cutoff(t.m, k);
    const V cutoff = quotient((relative * relative) * squared_Rx, squared_x);
    Mask counts = ~Mask{};
    double farthest = 1;
    for_each_from(zero, k, [&](auto j) INLINED {
        if constexpr (!straight<K>)
            if (is_set(stop)) return;
        farthest *= 4;  // four times what ‖(−w, 1)‖² is at most, because of the pivoting
        const V square = t.diagonal[j] * t.diagonal[j];
        const Mask surely = counts & (square > farthest * cutoff);
        t.squared[j] = V{};
        if (!any(lanes & ~surely)) {
            t.until = j + 1;
            return;
        }
        V squared = all(1);
        const auto columns = smaller(j, t.steps);
        for_each_from(zero, columns, [&](int i) INLINED { N(j, i) = -R(i, j); });
        for_each_from(columns, k, [&](int i) INLINED { N(j, i) = all(i == j); });
        for_each_down_to(zero, columns, [&](auto c) INLINED {
            N(j, c) *= t.inverse[c];
            for_each_from(zero, c, [&](int i) INLINED {
                N(j, i) = subtract_product(R(i, c), N(j, c), N(j, i));
            });
            squared = fma(N(j, c), N(j, c), squared);
        });
        counts = surely | (counts & (square > squared * cutoff));
        t.inverse[j] = keep(counts, t.inverse[j]);
        if (any(counts)) t.until = j + 1;
        const Mask dropped = ~counts;
        if (any(lanes & dropped)) {
            if (t.first_null > j) t.first_null = j;
            for_each_from(zero, j, [&](auto other) INLINED {
                if (other >= t.first_null)
                    subtract_projection(N, j, other, t.squared[other], other);
            });
            // In the same order, whether or not another lane has such vectors before.
            squared = V{};
            for_each_from(zero, after(j),
                          [&](int i) INLINED { squared = fma(N(j, i), N(j, i), squared); });
            t.squared[j] = keep(dropped, 1 / squared);
        }
        for_each_from(zero, after(j), [&](int i) INLINED { N(j, i) = keep(dropped, N(j, i)); });
    });
}

}  // namespace nmfcheck::INSTRUCTIONS
