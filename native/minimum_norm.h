// Least squares of minimum norm, min ‖XYᵀ − A‖ for Y, where X may be singular: by a QR
// decomposition of X with pivoting, and the null space that it shows.
//
// No operation mixes lanes, and what is left out because no lane needs it would not change any.
#pragma once

#include "null_space.h"

namespace nmfcheck::INSTRUCTIONS {

// Reflect R columns a of A, whose entries lie side by side, as column c of X was.
template <int R, class M, class K, class Index, class Columns>
INLINE void reflect_columns(Triangle<M, K> &t, Index c, Columns &a) {
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
}

// Solve for R columns a of A at once: Qᵀa, unless they are reflected already, then by R, as far as
// columns count; then nothing is left in the null space, and entries are put into their order.
// Calls put(r, i, entry i of the solution).
template <int R, bool reflected, class M, class K, class Columns, class F>
INLINE void solve(Triangle<M, K> &t, Columns &a, F put) {
    constexpr Fixed<0> zero;
    const auto k = t.k;
    const int until = t.until < t.steps ? t.until : t.steps;
    if constexpr (!reflected)
        for_each_from(zero, t.steps, [&](auto c) INLINED {
            if (c < until) reflect_columns<R>(t, c, a);
        });
    for_each_down_to(zero, t.steps, [&](auto c) INLINED {
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

// R columns of A, from j on, side by side.
template <int R, class Left, class Columns>
INLINE void gather(const Left &At, int j, Columns &a) {
    for_each(At.columns, [&](int i) INLINED {
        UNROLL for (int r = 0; r < R; ++r) a[i * R + r] = At(j + r, i);
    });
}

// As many columns of A are solved for at once. Where loops are written out, more would not fit into
// the registers.
template <class K>
constexpr int columns_at_once = straight<K> ? 4 : at_once;

// Whether that is all of them. Then they are reflected together with X: the processor has something
// to do while it waits for a square root and a division. It makes no difference that columns of X
// that do not count are reflected by: what they change is not used.
template <class K>
constexpr bool all_at_once = false;
template <int N>
constexpr bool all_at_once<Fixed<N>> = N <= columns_at_once<Fixed<N>>;

// Room for so many columns, and their number, over which no loop is to be written out.
INLINE Any room_for(Any m, Any k) { return {at_once * (m > k ? m : k)}; }
INLINE Any in_turns(Any n) { return n; }
template <int N>
INLINE Fixed<columns_at_once<Fixed<N>> * N> room_for(Fixed<N>, Fixed<N>) {
    return {};
}
template <int N>
INLINE Fixed<N, false> in_turns(Fixed<N>) {
    return {};
}

// Put the solution of minimum norm into `next` in these lanes. It takes pointers, which are passed
// in registers: a structure, written to memory in small parts and read in larger ones, is read only
// when all that was begun before is done, Cholesky's decomposition among it. Nor does anything wait
// for `lanes` but branches, and the choice at the end: the two decompositions overlap.
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
    constexpr bool together = all_at_once<K>;
    if constexpr (together) gather<K{}>(At, 0, a);
    decompose(t, lanes, stop, [&](auto c) INLINED {
        if constexpr (together) reflect_columns<K{}>(t, c, a);
    });
    find_null_space(t, lanes, stop);
    for_each(k, [&](int i) INLINED {
        for_each(k, [&](int c) INLINED { t.P(i, c) = keep((Mask)t.column[c] == i, scale); });
    });
    const auto solve_for = [&](auto R, int j) INLINED {
        solve<R, together>(t, a, [&](int r, int i, V y) INLINED {
            next(j + r, i) = select(lanes, y, next(j + r, i));
        });
    };
    if constexpr (together) solve_for(n, 0);
    else
        for_each_part<columns_at_once<K>>(in_turns(n), [&](auto R, int j) INLINED {
            if (is_set(stop)) return;
            gather<R>(At, j, a);
            solve_for(R, j);
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
