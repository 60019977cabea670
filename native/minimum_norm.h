// Least squares of minimum norm, min ‖XYᵀ − A‖ for Y, where X may be singular: by a QR
// decomposition of X with pivoting.
//
// One copy for all shapes: the compiler knows no size here. No operation mixes lanes, and no lane
// has another result where a step is left out that it does not need.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

using AnyMatrix = Matrix<Any, Any>;

// Singular values up to this, relative to the largest, count as zero, as in LAPACK's least squares.
INLINE double relative_cutoff(int m, int k) { return (m > k ? m : k) * 0x1p-52; }

// Call f(size, offset) for parts of a length: fours, and what is left.
template <class F>
INLINE void in_fours(int length, F f) {
    int i = 0;
    for (; i + 4 <= length; i += 4) f(Fixed<4>{}, i);
    if (length - i == 3) f(Fixed<3>{}, i);
    if (length - i == 2) f(Fixed<2>{}, i);
    if (length - i == 1) f(Fixed<1>{}, i);
}

// Mix the entries of each row by a reflection, x − 2(x·v)/(v·v)·v with v = (1, 2, …, k).
//
// Without it, equal columns would be worked on with equal roundings, and twin components would stay
// twins to the last bit. Runs that collapse would then stay where they leave with LAPACK, whose
// errors are relative to the longest column, and shares would depend on the engine
// (docs/design.md).
INLINE void reflect(const AnyMatrix &rows) {
    const int k = rows.columns;
    const V scale = all(12 / (double(k) * (k + 1) * (2.0 * k + 1)));
    for (int i = 0; i < rows.rows; ++i) {
        V *x = rows.row(i), x_dot_v{};
        for (int c = 0; c < k; ++c) x_dot_v = fma(x[c], all(c + 1), x_dot_v);
        x_dot_v *= -scale;
        for (int c = 0; c < k; ++c) x[c] = fma(x_dot_v, all(c + 1), x[c]);
    }
}

INLINE void exchange(Mask where, V &x, V &y) {
    const V old = x;
    x = select(where, y, x);
    y = select(where, old, y);
}

// x − (x·u)·u for a unit vector u whose entries are 0 behind entry j.
INLINE void subtract_projection(V *x, const V *u, int j) {
    V dot{};
    for (int i = 0; i <= j; ++i) dot = fma(x[i], u[i], dot);
    for (int i = 0; i <= j; ++i) x[i] = fma(-dot, u[i], x[i]);
}

// X·P = QR, where P mixes and permutes the columns, each lane in its own way.
struct Triangle {
    AnyMatrix U;  // above the diagonal R; from it downwards the vectors u of Q's reflections
    AnyMatrix P;  // k×k, orthogonal; later without what is in the null space
    AnyMatrix N;  // in row j the vector of the null space that column j adds, or 0
    V *factor;    // of the reflections: 2/(u·u)
    V *diagonal;  // of R
    V *inverse;   // 1/diagonal, 0 where it counts as zero
    V *squared;   // lengths of the columns, of what is left of them
    V *x, *y;     // room for vectors
    int steps;    // reflections
    int from;     // every column before counts, in all lanes
    int until;    // no column from here on counts, in any lane

    INLINE Triangle(int m, int k, Scratch &scratch)
        : U{scratch.take(m * k), {m}, {k}},
          P{scratch.take(k * k), {k}, {k}},
          N{scratch.take(k * k), {k}, {k}},
          factor(scratch.take(k)),
          diagonal(scratch.take(k)),
          inverse(scratch.take(k)),
          squared(scratch.take(k)),
          x(scratch.take(k)),
          y(scratch.take(k)),
          steps(m < k ? m : k),
          from(k),
          until(0) {}
};

// Exchange column j, in each of these lanes, with the longest of those behind it.
INLINE void pivot(Triangle &t, int j, Mask lanes) {
    const int k = t.U.columns;
    V longest = t.squared[j];
    Mask which = Mask{} + j;
    for (int c = j + 1; c < k; ++c) {
        const Mask longer = lanes & (t.squared[c] > longest);
        longest = select(longer, t.squared[c], longest);
        which = longer ? Mask{} + c : which;
    }
    for (int c = j + 1; c < k; ++c) {
        const Mask here = which == c;
        if (!any(here)) continue;
        exchange(here, t.squared[j], t.squared[c]);
        for (int i = 0; i < t.U.rows; ++i) exchange(here, t.U(i, j), t.U(i, c));
        for (int i = 0; i < k; ++i) exchange(here, t.P(i, j), t.P(i, c));
    }
}

// Reflect columns c, …, c + S − 1 as column j is reflected.
template <int S>
INLINE void turn(Triangle &t, int j, int c) {
    const AnyMatrix &U = t.U;
    V dot[S] = {}, squared[S] = {};
    for (int i = j; i < U.rows; ++i)
        UNROLL for (int s = 0; s < S; ++s) dot[s] = fma(U(i, j), U(i, c + s), dot[s]);
    UNROLL for (int s = 0; s < S; ++s) {
        dot[s] *= -t.factor[j];
        U(j, c + s) = fma(dot[s], U(j, j), U(j, c + s));
    }
    for (int i = j + 1; i < U.rows; ++i) UNROLL for (int s = 0; s < S; ++s) {
            const V rest = fma(dot[s], U(i, j), U(i, c + s));
            squared[s] = fma(rest, rest, squared[s]);
            U(i, c + s) = rest;
        }
    UNROLL for (int s = 0; s < S; ++s) t.squared[c + s] = squared[s];
}

// One after another, columns are reflected onto their first entry from the diagonal on.
inline void decompose(Triangle &t, Mask lanes, const bool *stop) {
    const int m = t.U.rows, k = t.U.columns;
    const AnyMatrix &U = t.U;
    for (int c = 0; c < k; ++c) t.squared[c] = t.inverse[c] = t.diagonal[c] = V{};
    for (int i = 0; i < m; ++i)
        for (int c = 0; c < k; ++c) t.squared[c] = fma(U(i, c), U(i, c), t.squared[c]);
    for (int j = 0; j < t.steps && !is_set(stop); ++j) {
        pivot(t, j, lanes);
        const V first = U(j, j), length = sqrt(t.squared[j]), sum = length + absolute(first);
        const V factor = quotient(all(1), length * sum);
        const Mask negative = first < V{};
        t.factor[j] = factor;
        t.diagonal[j] = select(negative, length, -length);
        t.inverse[j] = factor * select(negative, sum, -sum);
        U(j, j) = select(negative, -sum, sum);
        in_fours(k - j - 1, [&](auto S, int c) INLINED { turn<S>(t, j, j + 1 + c); });
    }
}

// ‖R‖², from below: by the power method, from the first row, which is the longest or nearly so.
INLINE V squared_norm(Triangle &t) {
    const int k = t.U.columns;
    V *x = t.x, *y = t.y, squared_x{}, squared_y{};
    const auto times_R = [&] {
        squared_y = V{};
        for (int i = 0; i < t.steps; ++i) {
            V sum = t.diagonal[i] * x[i];
            for (int c = i + 1; c < k; ++c) sum = fma(t.U(i, c), x[c], sum);
            y[i] = sum;
            squared_y = fma(sum, sum, squared_y);
        }
    };
    x[0] = t.diagonal[0];
    for (int c = 1; c < k; ++c) x[c] = t.U(0, c);
    times_R();
    for (int c = 0; c < k; ++c) x[c] = c < t.steps ? t.diagonal[c] * y[c] : V{};
    for (int i = 0; i < t.steps; ++i)
        for (int c = i + 1; c < k; ++c) x[c] = fma(t.U(i, c), y[i], x[c]);
    for (int c = 0; c < k; ++c) squared_x = fma(x[c], x[c], squared_x);
    times_R();
    return quotient(squared_y, squared_x);
}

// Decide which columns count. The columns before column j leave R[j,j] of it, and with w for the
// combination of them that comes nearest to it, R maps (−w, 1) to that: R[j,j]/‖(−w, 1)‖ is a
// singular value, as nearly as it is small beside the others. Where it counts as zero, (−w, 1) is
// in the null space: it is taken out of the rows of P, which solutions are made of.
inline void find_null_space(Triangle &t, Mask lanes) {
    const int m = t.U.rows, k = t.U.columns;
    const double relative = relative_cutoff(m, k);
    const V cutoff = (relative * relative) * squared_norm(t);
    Mask counts = lanes;
    double farthest = 4;  // ‖(−w, 1)‖² is less than a quarter of it, because of the pivoting
    for (int j = 0; j < k; ++j, farthest *= 4) {
        const V square = t.diagonal[j] * t.diagonal[j];
        const Mask safe = square > farthest * cutoff;
        if (!any(lanes & ~(safe & counts))) {
            t.until = j + 1;
            continue;
        }
        V *null = t.N.row(j), squared = all(1);
        for (int i = 0; i < k; ++i) null[i] = all(i == j);
        const int before = j < t.steps ? j : t.steps;
        for (int i = 0; i < before; ++i) null[i] = -t.U(i, j);
        for (int c = before - 1; c >= 0; --c) {
            null[c] *= t.inverse[c];
            for (int i = 0; i < c; ++i) null[i] = fma(-t.U(i, c), null[c], null[i]);
            squared = fma(null[c], null[c], squared);
        }
        counts &= safe | (square > squared * cutoff);
        t.inverse[j] = keep(counts, t.inverse[j]);
        if (any(counts)) t.until = j + 1;
        const Mask dropped = lanes & ~counts;
        if (!any(dropped)) continue;
        if (t.from > j) t.from = j;
        for (int i = 0; i <= j; ++i) null[i] = keep(dropped, null[i]);
        for (int other = t.from; other < j; ++other)
            subtract_projection(null, t.N.row(other), other);
        squared = V{};
        for (int i = 0; i <= j; ++i) squared = fma(null[i], null[i], squared);
        const V scale = quotient(all(1), sqrt(squared));
        for (int i = 0; i <= j; ++i) null[i] *= scale;
        for (int i = 0; i < k; ++i) subtract_projection(t.P.row(i), null, j);
    }
}

// Solve for R columns a of A at once, whose entries lie side by side in `rows`: Qᵀa, then by R, as
// far as columns count, then by P.
template <int R, class F>
INLINE void solve(const Triangle &t, V *rows, F put) {
    const int m = t.U.rows, k = t.U.columns, until = t.until < t.steps ? t.until : t.steps;
    for (int c = 0; c < until; ++c) {
        V dot[R] = {};
        for (int i = c; i < m; ++i)
            UNROLL for (int r = 0; r < R; ++r) dot[r] = fma(t.U(i, c), rows[i * R + r], dot[r]);
        UNROLL for (int r = 0; r < R; ++r) dot[r] *= -t.factor[c];
        for (int i = c; i < m; ++i)
            UNROLL for (int r = 0; r < R; ++r) rows[i * R + r] =
                fma(dot[r], t.U(i, c), rows[i * R + r]);
    }
    for (int c = until - 1; c >= 0; --c) {
        V rest[R];
        UNROLL for (int r = 0; r < R; ++r) rest[r] = rows[c * R + r];
        for (int p = c + 1; p < until; ++p)
            UNROLL for (int r = 0; r < R; ++r) rest[r] = fma(-t.U(c, p), rows[p * R + r], rest[r]);
        const Mask counts = t.inverse[c] != V{};
        UNROLL for (int r = 0; r < R; ++r) rows[c * R + r] = keep(counts, rest[r] * t.inverse[c]);
    }
    for (int i = 0; i < k; ++i) {
        V y[R] = {};
        for (int c = 0; c < until; ++c)
            UNROLL for (int r = 0; r < R; ++r) y[r] = fma(t.P(i, c), rows[c * R + r], y[r]);
        UNROLL for (int r = 0; r < R; ++r) put(r, i, y[r]);
    }
}

// Put the solution of minimum norm into `h.next` in these lanes. A component that is zero stays so,
// in spite of rounding.
__attribute__((noinline)) inline void minimum_norm(Half<Any, Any, Any> h, Mask lanes) {
    const int m = h.m, n = h.n, k = h.k;
    Triangle t(m, k, h.scratch);
    V *alive = h.scratch.take(k), *rows = h.scratch.take(4 * (m > k ? m : k));
    V largest{};
    for (int i = 0; i < m; ++i)
        for (int c = 0; c < k; ++c) largest = maximum(largest, h.X(i, c));
    const V scale = 1 / power_of_two(largest);  // so that no square overflows or vanishes
    for (int i = 0; i < m; ++i)
        for (int c = 0; c < k; ++c) t.U(i, c) = scale * h.X(i, c);
    for (int i = 0; i < k; ++i)
        for (int c = 0; c < k; ++c) t.P(i, c) = all(i == c);
    for (int c = 0; c < k; ++c) {
        Mask nonzero{};
        for (int i = 0; i < m; ++i) nonzero |= h.X(i, c) != V{};
        alive[c] = keep(nonzero, scale);
    }
    reflect(t.U);
    reflect(t.P);
    decompose(t, lanes, h.stop);
    find_null_space(t, lanes);
    // Where numbers overflow, nothing is left to solve, and nothing may depend on other lanes.
    const Mask sound = absolute(largest) <= all(__DBL_MAX__);
    in_fours(n, [&](auto R, int j) INLINED {
        for (int i = 0; i < m; ++i)
            for (int r = 0; r < R; ++r) rows[i * R + r] = h.At(j + r, i);
        solve<R>(t, rows, [&](int r, int i, V y) INLINED {
            const V solution = select(sound, alive[i] * y, all(__builtin_nan("")));
            h.next(j + r, i) = select(lanes, solution, h.next(j + r, i));
        });
    });
}

}  // namespace nmfcheck::INSTRUCTIONS
