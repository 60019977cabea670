// Least squares of minimum norm, min ‖XYᵀ − A‖ for Y, where X may be singular: by a QR
// decomposition of X with pivoting, and the null space that it shows.
//
// No operation mixes lanes, and what is left out because no lane needs it would not change any.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Singular values up to this, relative to the largest, count as zero, as in LAPACK's least squares.
INLINE double relative_cutoff(int m, int k) { return (m > k ? m : k) * 0x1p-52; }

// As many rows or columns are worked on at once: no addition waits for the one before it.
constexpr int at_once = 6;

// The columns of X, in an order that each lane has for itself, are QR.
template <class M, class K>
struct Triangle {
    M m;
    K k;
    decltype(smaller(M{}, K{})) steps;  // reflections that Q is made of
    int until;                          // no column from here on counts, in any lane
    int first_null;                     // every column before counts, in all lanes
    Local<M, K> U;         // above the diagonal R, from it downwards the reflections' vectors u
    Local<K, K> N;         // in row j what column j adds to the null space
    Local<K, K> P;         // puts a solution into the order of X's columns
    LocalRow<K> factor;    // of the reflections: 2/(u·u)
    LocalRow<K> diagonal;  // of R
    LocalRow<K> inverse;   // 1/diagonal, 0 where it counts as zero
    LocalRow<K> squared;   // lengths: of what is left of the columns, then 1/length of N's rows
    LocalRow<K> column;    // which one of X it is, as a mask

    INLINE Triangle(M m, K k, Scratch &scratch)
        : m(m),
          k(k),
          steps(smaller(m, k)),
          until(0),
          first_null(k),
          U(m, k, scratch),
          N(k, k, scratch),
          P(k, k, scratch),
          factor(k, scratch),
          diagonal(k, scratch),
          inverse(k, scratch),
          squared(k, scratch),
          column(k, scratch) {}
};

// Exchange column j, in each of these lanes, with the longest of those behind it.
template <class M, class K, class Index>
INLINE void pivot(Triangle<M, K> &t, Index j, Mask lanes) {
    V longest = t.squared[j];
    Mask which{}, number{};
    for_each_from(after(j), t.k, [&](auto c) INLINED {
        number += 1;
        which = t.squared[c] > longest ? number : which;
        longest = maximum(longest, t.squared[c]);
    });
    number = Mask{};
    for_each_from(after(j), t.k, [&](auto c) INLINED {
        number += 1;
        const Mask here = which == number;
        if constexpr (!straight<K>)  // which would be hard to foresee
            if (!any(here & lanes)) return;
        const auto exchange = [&](V &x, V &y) INLINED {
            const V old = x;
            x = select(here, y, old);
            y = select(here, old, y);
        };
        exchange(t.squared[j], t.squared[c]);
        exchange(t.column[j], t.column[c]);
        for_each(t.m, [&](int i) INLINED { exchange(t.U(i, j), t.U(i, c)); });
    });
}

// Reflect S columns, from c on, as column j is reflected.
template <int S, class M, class K, class Index>
INLINE void turn(Triangle<M, K> &t, Index j, int c) {
    V dot[S], squared[S] = {};
    UNROLL for (int s = 0; s < S; ++s) dot[s] = t.U(j, j) * t.U(j, c + s);
    for_each_from(after(j), t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) dot[s] = fma(t.U(i, j), t.U(i, c + s), dot[s]);
    });
    UNROLL for (int s = 0; s < S; ++s) {
        dot[s] *= t.factor[j];
        t.U(j, c + s) = subtract_product(dot[s], t.U(j, j), t.U(j, c + s));
    }
    for_each_from(after(j), t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) {
            V &x = t.U(i, c + s);
            x = subtract_product(dot[s], t.U(i, j), x);
            squared[s] = fma(x, x, squared[s]);
        }
    });
    UNROLL for (int s = 0; s < S; ++s) t.squared[c + s] = squared[s];
}

// Reflect all columns behind column j, whose number the compiler may know.
template <class M, class K>
INLINE void turn_all(Triangle<M, K> &t, int j) {
    if (t.k - j > 1)
        for_each_part<at_once>(Any{t.k - j - 1},
                               [&](auto S, int c) INLINED { turn<S>(t, j, j + 1 + c); });
}
template <class M, int N, int j>
INLINE void turn_all(Triangle<M, Fixed<N>> &t, Fixed<j> index) {
    if constexpr (j + 1 < N) turn<N - 1 - j>(t, index, j + 1);
}

// Reflect column j onto its first entry from the diagonal on. Those behind it are
// reflected, too.
template <class M, class K, class Index>
INLINE void reflect(Triangle<M, K> &t, Index j, Mask lanes) {
    pivot(t, j, lanes);
    V &first = t.U(j, j);
    // Of a single entry x it is |x|: the square root of x², rounded, is no other number.
    const V length = j + 1 < t.m ? sqrt(t.squared[j]) : keep(t.squared[j] != V{}, absolute(first));
    const V sum = length + absolute(first);
    const Mask negative = first < V{};
    t.factor[j] = quotient(all(1), length * sum);
    t.diagonal[j] = select(negative, length, -length);
    t.inverse[j] = t.factor[j] * select(negative, sum, -sum);
    first = select(negative, -sum, sum);
    turn_all(t, j);
}

template <class M, class K>
INLINE void decompose(Triangle<M, K> &t, Mask lanes, const bool *stop) {
    for_each_from(Fixed<0>{}, t.steps, [&](auto j) INLINED {
        if constexpr (!straight<K>)
            if (is_set(stop)) return;
        reflect(t, j, lanes);
    });
    for (int j = t.steps; j < t.k; ++j) t.factor[j] = t.diagonal[j] = t.inverse[j] = V{};
}

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
        for_each_down(columns, [&](auto c) INLINED {
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

// Solve for R columns a of A at once, whose entries lie side by side: Qᵀa, then by R, as far as
// columns count; then nothing is left in the null space, and entries are put into their order.
// Calls put(r, i, entry i of the solution).
template <int R, class M, class K, class Columns, class F>
INLINE void solve(Triangle<M, K> &t, Columns &a, F put) {
    constexpr Fixed<0> zero;
    const auto k = t.k;
    const int until = t.until < t.steps ? t.until : t.steps;
    for_each_from(zero, t.steps, [&](auto c) INLINED {
        if (c >= until) return;
        V dot[R];
        UNROLL for (int r = 0; r < R; ++r) dot[r] = t.U(c, c) * a[c * R + r];
        for_each_from(after(c), t.m, [&](int i) INLINED {
            UNROLL for (int r = 0; r < R; ++r) dot[r] = fma(t.U(i, c), a[i * R + r], dot[r]);
        });
        UNROLL for (int r = 0; r < R; ++r) dot[r] *= t.factor[c];
        for_each_from(c, t.m, [&](int i) INLINED {
            UNROLL for (int r = 0; r < R; ++r) a[i * R + r] =
                subtract_product(dot[r], t.U(i, c), a[i * R + r]);
        });
    });
    for_each_down(t.steps, [&](auto c) INLINED {
        if (c >= until) return;
        V rest[R];
        UNROLL for (int r = 0; r < R; ++r) rest[r] = a[c * R + r];
        for_each_from(after(c), t.steps, [&](int p) INLINED {
            if (p >= until) return;
            UNROLL for (int r = 0; r < R; ++r) rest[r] =
                subtract_product(t.U(c, p), a[p * R + r], rest[r]);
        });
        const Mask counts = t.inverse[c] != V{};
        UNROLL for (int r = 0; r < R; ++r) a[c * R + r] = keep(counts, rest[r] * t.inverse[c]);
    });
    for_each_from(zero, k, [&](int c) INLINED {
        if (c >= until) UNROLL for (int r = 0; r < R; ++r) a[c * R + r] = V{};
    });
    for_each_from(zero, k, [&](auto j) INLINED {
        if (j < t.first_null) return;
        V dot[R] = {};
        for_each_from(zero, after(j), [&](int c) INLINED {
            UNROLL for (int r = 0; r < R; ++r) dot[r] = fma(t.N(j, c), a[c * R + r], dot[r]);
        });
        UNROLL for (int r = 0; r < R; ++r) dot[r] *= t.squared[j];
        for_each_from(zero, after(j), [&](int c) INLINED {
            UNROLL for (int r = 0; r < R; ++r) a[c * R + r] =
                subtract_product(dot[r], t.N(j, c), a[c * R + r]);
        });
    });
    for_each_from(zero, k, [&](int i) INLINED {
        V y[R] = {};
        for_each_from(zero, k, [&](int c) INLINED {
            UNROLL for (int r = 0; r < R; ++r) y[r] = fma(t.P(i, c), a[c * R + r], y[r]);
        });
        UNROLL for (int r = 0; r < R; ++r) put(r, i, y[r]);
    });
}

// S columns, from c on: their largest entries.
template <int S, class Left>
INLINE V largest_entry(const Left &X, int c) {
    V found[S] = {};
    for_each(X.rows, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) found[s] = maximum(found[s], X(i, c + s));
    });
    UNROLL for (int s = 1; s < S; ++s) found[0] = maximum(found[0], found[s]);
    return found[0];
}

// S columns of X, from c on, as they are to begin with.
template <int S, class M, class K, class Left>
INLINE void load(Triangle<M, K> &t, const Left &X, V scale, int c) {
    V sum[S] = {};
    for_each(t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) {
            const V x = t.U(i, c + s) = scale * X(i, c + s);
            sum[s] = fma(x, x, sum[s]);
        }
    });
    UNROLL for (int s = 0; s < S; ++s) {
        t.squared[c + s] = sum[s];
        t.column[c + s] = (V)(Mask{} + (c + s));
    }
}

// R columns of A, from j on, side by side.
template <int R, class Left, class Columns>
INLINE void gather(const Left &At, int j, Columns &a) {
    for_each(At.columns, [&](int i) INLINED {
        UNROLL for (int r = 0; r < R; ++r) a[i * R + r] = At(j + r, i);
    });
}

template <int N, bool written_out>
INLINE constexpr Fixed<N * at_once> room_for(Fixed<N, written_out>, Fixed<N, written_out>) {
    return {};
}
INLINE Any room_for(Any m, Any k) { return {at_once * (m > k ? m : k)}; }

// Put the solution of minimum norm into `next` in these lanes. Pointers, which fit into registers:
// a structure would have to be written to memory and read again, for which reading it waits until
// all that comes before is done.
template <class M, class N, class K>
__attribute__((noinline)) void solve_minimum_norm(M m, N n, K k, V *at_At, V *at_X, V *at_next,
                                                  V *free, const bool *stop, Mask lanes) {
    const Matrix<N, M> At{at_At, n, m};
    const Matrix<M, K> X{at_X, m, k};
    const Matrix<N, K> next{at_next, n, k};
    Scratch scratch{free};
    Triangle t(m, k, scratch);
    LocalRow a(room_for(m, k), scratch);
    V largest{};
    for_each_part<at_once>(
        k, [&](auto S, int c) INLINED { largest = maximum(largest, largest_entry<S>(X, c)); });
    // So that no square overflows or vanishes.
    const V scale = (V)(0x7FE0000000000000 - (Mask)power_of_two(largest));
    for_each_part<at_once>(k, [&](auto S, int c) INLINED { load<S>(t, X, scale, c); });
    decompose(t, lanes, stop);
    find_null_space(t, lanes, stop);
    for_each(k, [&](int i) INLINED {
        for_each(k, [&](int c) INLINED { t.P(i, c) = keep((Mask)t.column[c] == i, scale); });
    });
    for_each_part<at_once>(n, [&](auto R, int j) INLINED {
        if (is_set(stop)) return;
        gather<R>(At, j, a);
        solve<R>(t, a, [&](int r, int i, V y) INLINED {
            next(j + r, i) = select(lanes, y, next(j + r, i));
        });
    });
    // Where numbers overflow, nothing is left to solve, and nothing may depend on other lanes.
    const Mask unsound = lanes & ~(largest <= all(__DBL_MAX__));
    if (any(unsound))
        for (int i = 0; i < n * k; ++i)
            next.data[i] = select(unsound, all(__builtin_nan("")), next.data[i]);
}

// A rank for which square problems have code of their own here, and not elsewhere; 0 for others.
template <class K>
constexpr int small_square = 0;
template <int N, bool written_out>
constexpr int small_square<Fixed<N, written_out>> = N == 5 || N == 6 ? N : 0;

// The same for half an iteration, with this scratch. There is code for small square problems, and
// code for all others.
template <class M, class N, class K>
INLINE void minimum_norm(const Half<M, N, K> &h, Scratch scratch, Mask lanes) {
    const auto solve = [&](auto m, auto n, auto k) INLINED {
        solve_minimum_norm(m, n, k, h.At.data, h.X.data, h.next.data, scratch.free, h.stop, lanes);
    };
    if constexpr (straight<M>) {
        solve(h.m, h.n, h.k);
    } else {
        if constexpr (small_square<K> > 0) {
            constexpr Fixed<small_square<K>> k;
            if (h.m == k && h.n == k) return solve(k, k, k);
        }
        solve(Any{h.m}, Any{h.n}, Any{h.k});
    }
}

}  // namespace nmfcheck::INSTRUCTIONS
