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
    int steps;       // reflections that Q is made of
    int until;       // no column from here on counts, in any lane
    int first_null;  // every column before counts, in all lanes
    V *U;            // m×k: above the diagonal R, from it downwards the reflections' vectors u
    V *N;            // k×k: in row j what column j adds to the null space
    V *P;            // k×k: puts a solution into the order of X's columns
    V *factor;       // of the reflections: 2/(u·u)
    V *diagonal;     // of R
    V *inverse;      // 1/diagonal, 0 where it counts as zero
    V *squared;      // lengths: of what is left of the columns, then 1/length of the rows of N
    Mask *column;    // which one of X it is

    INLINE Triangle(M m, K k, Scratch &scratch)
        : m(m),
          k(k),
          steps(m < k ? m : k),
          until(0),
          first_null(k),
          U(scratch.take(m * k)),
          N(scratch.take(k * k)),
          P(scratch.take(k * k)),
          factor(scratch.take(k)),
          diagonal(scratch.take(k)),
          inverse(scratch.take(k)),
          squared(scratch.take(k)),
          column((Mask *)scratch.take(k)) {}
};

// Exchange column j, in each of these lanes, with the longest of those behind it.
template <class M, class K>
INLINE void pivot(const Triangle<M, K> &t, int j, Mask lanes) {
    V longest = t.squared[j];
    Mask which{}, number{};
    for (int c = j + 1; c < t.k; ++c) {
        number += 1;
        const Mask longer = t.squared[c] > longest;
        longest = select(longer, t.squared[c], longest);
        which = longer ? number : which;
    }
    which &= lanes;
    number = Mask{};
    for (int c = j + 1; c < t.k; ++c) {
        number += 1;
        const Mask here = which == number;
        if (!any(here)) continue;
        const auto exchange = [&](V &x, V &y) INLINED {
            const V old = x;
            x = select(here, y, old);
            y = select(here, old, y);
        };
        exchange(t.squared[j], t.squared[c]);
        exchange((V &)t.column[j], (V &)t.column[c]);
        V *x = t.U + j, *y = t.U + c;
        for (int i = 0; i < t.m; ++i, x += t.k, y += t.k) exchange(*x, *y);
    }
}

// Reflect S columns, from c on, as column j is reflected.
template <int S, class M, class K>
INLINE void turn(const Triangle<M, K> &t, int j, int c) {
    V *const u = t.U + j * t.k + j, *const x = t.U + j * t.k + c;
    V dot[S], squared[S] = {};
    UNROLL for (int s = 0; s < S; ++s) dot[s] = *u * x[s];
    for (int i = t.k, end = (t.m - j) * t.k; i < end; i += t.k)
        UNROLL for (int s = 0; s < S; ++s) dot[s] = fma(u[i], x[i + s], dot[s]);
    UNROLL for (int s = 0; s < S; ++s) {
        dot[s] *= -t.factor[j];
        x[s] = fma(dot[s], *u, x[s]);
    }
    for (int i = t.k, end = (t.m - j) * t.k; i < end; i += t.k) UNROLL for (int s = 0; s < S; ++s) {
            x[i + s] = fma(dot[s], u[i], x[i + s]);
            squared[s] = fma(x[i + s], x[i + s], squared[s]);
        }
    UNROLL for (int s = 0; s < S; ++s) t.squared[c + s] = squared[s];
}

// Reflect all columns behind column j, whose number the compiler may know.
template <class M, class K>
INLINE void turn_all(const Triangle<M, K> &t, int j, Any behind) {
    if (behind > 0)
        for_each_part<at_once>(behind, [&](auto S, int c) INLINED { turn<S>(t, j, j + 1 + c); });
}
template <class M, class K, int S>
INLINE void turn_all(const Triangle<M, K> &t, int j, Fixed<S>) {
    if constexpr (S > 0) turn<S>(t, j, j + 1);
}

// Reflect column j onto its first entry from the diagonal on. Those behind it are
// reflected, too.
template <class M, class K, class Size>
INLINE void reflect(const Triangle<M, K> &t, int j, Size behind, Mask lanes) {
    pivot(t, j, lanes);
    V &first = t.U[j * t.k + j];
    const V length = sqrt(t.squared[j]), sum = length + absolute(first);
    const Mask negative = first < V{};
    t.factor[j] = quotient(all(1), length * sum);
    t.diagonal[j] = select(negative, length, -length);
    t.inverse[j] = t.factor[j] * select(negative, sum, -sum);
    first = select(negative, -sum, sum);
    turn_all(t, j, behind);
}

template <class M, class K>
INLINE void decompose(const Triangle<M, K> &t, Mask lanes, const bool *stop) {
    for (int j = 0; j < t.steps && !is_set(stop); ++j) reflect(t, j, Any{t.k - j - 1}, lanes);
    for (int j = t.steps; j < t.k; ++j) t.factor[j] = t.diagonal[j] = t.inverse[j] = V{};
}

template <int N>
INLINE void decompose(const Triangle<Fixed<N>, Fixed<N>> &t, Mask lanes, const bool *) {
    [&]<int... j>(std::integer_sequence<int, j...>) INLINED {
        (reflect(t, j, Fixed<N - 1 - j>{}, lanes), ...);
    }(std::make_integer_sequence<int, N>{});
}

// x − (x·u)/(u·u)·u for a vector u whose entries are 0 behind entry j.
INLINE void subtract_projection(V *x, const V *u, V inverse_square, int j) {
    V dot{};
    for (int i = 0; i <= j; ++i) dot = fma(x[i], u[i], dot);
    dot *= -inverse_square;
    for (int i = 0; i <= j; ++i) x[i] = fma(dot, u[i], x[i]);
}

// Decide which columns count. The columns before column j leave R[j,j] of it, and with w for the
// combination of them that comes nearest to it, R maps (−w, 1) to that: R[j,j]/‖(−w, 1)‖ is a
// singular value, as nearly as it is small beside the others. Where it counts as zero, (−w, 1) is
// in the null space. The largest singular value is found by one step of the power method, ‖Rx‖/‖x‖,
// from the first row of R: never too large, to 1 % for most dense X, up to a third too small for
// sparse ones.
template <class M, class K>
INLINE void find_null_space(Triangle<M, K> &t, Mask lanes, const bool *stop) {
    const int k = t.k;
    V *const x = t.N, *const R = t.U, squared_x{}, squared_Rx{};
    x[0] = t.diagonal[0];
    for (int c = 1; c < k; ++c) x[c] = R[c];
    for (int i = 0; i < t.steps; ++i) {
        V sum = t.diagonal[i] * x[i];
        for (int c = i + 1; c < k; ++c) sum = fma(R[i * k + c], x[c], sum);
        squared_Rx = fma(sum, sum, squared_Rx);
    }
    for (int c = 0; c < k; ++c) squared_x = fma(x[c], x[c], squared_x);
    const double relative = relative_cutoff(t.m, k);
    const V cutoff = quotient((relative * relative) * squared_Rx, squared_x);
    Mask counts = lanes;
    double farthest = 4;  // four times what ‖(−w, 1)‖² is at most, because of the pivoting
    for (int j = 0; j < k && !is_set(stop); ++j, farthest *= 4) {
        const V square = t.diagonal[j] * t.diagonal[j];
        const Mask surely = counts & (square > farthest * cutoff);
        t.squared[j] = V{};
        if (!any(lanes & ~surely)) {
            t.until = j + 1;
            continue;
        }
        V *const null = t.N + j * k, squared = all(1);
        const int columns = j < t.steps ? j : t.steps;
        for (int i = 0; i < columns; ++i) null[i] = -R[i * k + j];
        for (int i = columns; i < k; ++i) null[i] = all(i == j);
        for (int c = columns - 1; c >= 0; --c) {
            null[c] *= t.inverse[c];
            for (int i = 0; i < c; ++i) null[i] = fma(-R[i * k + c], null[c], null[i]);
            squared = fma(null[c], null[c], squared);
        }
        counts = surely | (counts & (square > squared * cutoff));
        t.inverse[j] = keep(counts, t.inverse[j]);
        if (any(counts)) t.until = j + 1;
        const Mask dropped = lanes & ~counts;
        for (int i = 0; i <= j; ++i) null[i] = keep(dropped, null[i]);
        if (!any(dropped)) continue;
        if (t.first_null > j) t.first_null = j;
        for (int other = t.first_null; other < j; ++other)
            subtract_projection(null, t.N + other * k, t.squared[other], other);
        squared = V{};  // in the same order, whether or not another lane has such vectors before
        for (int i = 0; i <= j; ++i) squared = fma(null[i], null[i], squared);
        t.squared[j] = keep(dropped, 1 / squared);
    }
}

// Solve for R columns a of A at once, whose entries lie side by side: Qᵀa, then by R, as far as
// columns count; then nothing is left in the null space, and entries are put into their order.
// Calls put(r, i, entry i of the solution).
template <int R, class M, class K, class F>
INLINE void solve(const Triangle<M, K> &t, V *a, F put) {
    const int k = t.k, until = t.until < t.steps ? t.until : t.steps;
    for (int c = 0; c < until; ++c) {
        const V *const u = t.U + c * k + c;
        V *const x = a + c * R, dot[R];
        UNROLL for (int r = 0; r < R; ++r) dot[r] = *u * x[r];
        for (int i = 1; i < t.m - c; ++i)
            UNROLL for (int r = 0; r < R; ++r) dot[r] = fma(u[i * k], x[i * R + r], dot[r]);
        UNROLL for (int r = 0; r < R; ++r) dot[r] *= -t.factor[c];
        for (int i = 0; i < t.m - c; ++i)
            UNROLL for (int r = 0; r < R; ++r) x[i * R + r] = fma(dot[r], u[i * k], x[i * R + r]);
    }
    for (int c = until - 1; c >= 0; --c) {
        V *const x = a + c * R, rest[R];
        UNROLL for (int r = 0; r < R; ++r) rest[r] = x[r];
        for (int p = c + 1; p < until; ++p)
            UNROLL for (int r = 0; r < R; ++r) rest[r] =
                fma(-t.U[c * k + p], a[p * R + r], rest[r]);
        const Mask counts = t.inverse[c] != V{};
        UNROLL for (int r = 0; r < R; ++r) x[r] = keep(counts, rest[r] * t.inverse[c]);
    }
    for (int c = until; c < k; ++c) UNROLL for (int r = 0; r < R; ++r) a[c * R + r] = V{};
    for (int j = t.first_null; j < k; ++j) {
        const V *const null = t.N + j * k;
        V dot[R] = {};
        for (int c = 0; c <= j; ++c)
            UNROLL for (int r = 0; r < R; ++r) dot[r] = fma(null[c], a[c * R + r], dot[r]);
        UNROLL for (int r = 0; r < R; ++r) dot[r] *= -t.squared[j];
        for (int c = 0; c <= j; ++c)
            UNROLL for (int r = 0; r < R; ++r) a[c * R + r] = fma(dot[r], null[c], a[c * R + r]);
    }
    for (int i = 0; i < k; ++i) {
        V y[R] = {};
        for (int c = 0; c < k; ++c)
            UNROLL for (int r = 0; r < R; ++r) y[r] = fma(t.P[i * k + c], a[c * R + r], y[r]);
        UNROLL for (int r = 0; r < R; ++r) put(r, i, y[r]);
    }
}

// S columns, from c on: their largest entries.
template <int S, class Left>
INLINE V largest_entry(const Left &X, int c) {
    V found[S] = {};
    for (int i = 0; i < X.rows; ++i)
        UNROLL for (int s = 0; s < S; ++s) found[s] = maximum(found[s], X(i, c + s));
    UNROLL for (int s = 1; s < S; ++s) found[0] = maximum(found[0], found[s]);
    return found[0];
}

// S columns of X, from c on, as they are to begin with.
template <int S, class M, class K, class Left>
INLINE void load(const Triangle<M, K> &t, const Left &X, V scale, int c) {
    V sum[S] = {};
    for (int i = 0; i < t.m; ++i) UNROLL for (int s = 0; s < S; ++s) {
            const V x = t.U[i * t.k + c + s] = scale * X(i, c + s);
            sum[s] = fma(x, x, sum[s]);
        }
    UNROLL for (int s = 0; s < S; ++s) {
        t.squared[c + s] = sum[s];
        t.column[c + s] = Mask{} + (c + s);
    }
}

// R columns of A, from j on, side by side.
template <int R, class Left>
INLINE void gather(const Left &At, int j, V *a) {
    for (int i = 0; i < At.columns; ++i)
        UNROLL for (int r = 0; r < R; ++r) a[i * R + r] = At(j + r, i);
}

// Put the solution of minimum norm into `h.next` in these lanes.
template <class M, class N, class K>
__attribute__((noinline)) void solve_minimum_norm(Half<M, N, K> h, Mask lanes) {
    Triangle t(h.m, h.k, h.scratch);
    V *a = h.scratch.take(at_once * (h.m > h.k ? h.m : h.k)), largest{};
    for_each_part<at_once>(
        h.k, [&](auto S, int c) INLINED { largest = maximum(largest, largest_entry<S>(h.X, c)); });
    // So that no square overflows or vanishes.
    const V scale = (V)(0x7FE0000000000000 - (Mask)power_of_two(largest));
    for_each_part<at_once>(h.k, [&](auto S, int c) INLINED { load<S>(t, h.X, scale, c); });
    decompose(t, lanes, h.stop);
    find_null_space(t, lanes, h.stop);
    for (int i = 0; i < h.k; ++i)
        for (int c = 0; c < h.k; ++c) t.P[i * h.k + c] = keep(t.column[c] == i, scale);
    // Where numbers overflow, nothing is left to solve, and nothing may depend on other lanes.
    const Mask sound = largest <= all(__DBL_MAX__);
    for_each_part<at_once>(h.n, [&](auto R, int j) INLINED {
        if (is_set(h.stop)) return;
        gather<R>(h.At, j, a);
        solve<R>(t, a, [&](int r, int i, V y) INLINED {
            const V solution = select(sound, y, all(__builtin_nan("")));
            h.next(j + r, i) = select(lanes, solution, h.next(j + r, i));
        });
    });
}

// A rank for which square problems have code of their own here, and not elsewhere; 0 for others.
template <class K>
constexpr int small_square = 0;
template <int N, bool written_out>
constexpr int small_square<Fixed<N, written_out>> = N == 5 || N == 6 ? N : 0;

// The same with other sizes, which say the same, and this scratch.
template <class Size, class M, class N, class K>
INLINE void with_sizes(Size m, Size n, Size k, Half<M, N, K> h, Scratch scratch, Mask lanes) {
    const Matrix<Size, Size> At{h.At.data, n, m}, X{h.X.data, m, k}, Y{h.Y.data, n, k};
    const Matrix<Size, Size> next{h.next.data, n, k};
    solve_minimum_norm(
        Half<Size, Size, Size>{m, n, k, At, h.pattern, X, Y, next, h.tolerance, scratch, h.stop},
        lanes);
}

// The same, with this scratch. There is code for small square problems, and code for all others.
template <class M, class N, class K>
INLINE void minimum_norm(Half<M, N, K> h, Scratch scratch, Mask lanes) {
    constexpr int square = small_square<K>;
    if constexpr (straight<M>) {
        h.scratch = scratch;
        solve_minimum_norm(h, lanes);
        return;
    } else if constexpr (square > 0) {
        constexpr Fixed<square> k;
        if (h.m == k && h.n == k) return with_sizes(k, k, k, h, scratch, lanes);
    }
    if constexpr (!straight<M>) with_sizes(Any{h.m}, Any{h.n}, Any{h.k}, h, scratch, lanes);
}

}  // namespace nmfcheck::INSTRUCTIONS
