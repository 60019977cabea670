// Least squares, min ‖XYᵀ − A‖ for Y: by Cholesky's decomposition of XᵀX where that is safe, and of
// minimum norm, by a complete orthogonal decomposition of X, in the lanes where it is not.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// The same bounds as in the NumPy reference, src/nmfcheck/reference/als.py.
constexpr double safe = 1e8;  // for the condition of XᵀX with columns of X scaled to one length
constexpr double full_rank = 1e26;  // for the condition of XᵀX as it is

// Decompose G = LLᵀ; the diagonal of L is replaced by its inverse. A row and column of zeros, from
// a component that is zero, has the inverse 0: it is left out of the equations.
//
// Returns the lanes not to trust. ‖G‖ ≤ ΣG[j,j] and ‖G⁻¹‖ ≤ ΣG⁻¹[j,j], where G⁻¹[j,j] is the
// squared length of column j of L⁻¹; with columns scaled to length 1, ‖G⁻¹‖ ≤ ΣG[j,j]·G⁻¹[j,j].
template <class Square>
INLINE Mask cholesky(Square &G, Square &L, Square &L_inverse) {
    const auto k = G.columns;
    Mask doubtful{};
    for_each(k, [&](int j) INLINED {
        for (int i = j; i < k; ++i) {
            V rest = G(i, j);
            for (int p = 0; p < j; ++p) rest = fma(-L(i, p), L(j, p), rest);
            if (i == j) {
                doubtful |= (G(j, j) > V{}) & (safe * rest <= G(j, j));
                L(j, j) = quotient(all(1), sqrt(rest));
            } else {
                L(i, j) = rest * L(j, j);
            }
        }
    });
    V lengths{}, inverse_lengths{}, scaled{};
    for_each(k, [&](int j) INLINED {
        V length = L(j, j) * L(j, j);  // of column j of L⁻¹
        L_inverse(j, j) = L(j, j);
        for (int i = j + 1; i < k; ++i) {
            V sum{};
            for (int p = j; p < i; ++p) sum = fma(L(i, p), L_inverse(p, j), sum);
            L_inverse(i, j) = -L(i, i) * sum;
            length = fma(L_inverse(i, j), L_inverse(i, j), length);
        }
        lengths += G(j, j);
        inverse_lengths += length;
        scaled = fma(G(j, j), length, scaled);
    });
    return doubtful | (double(k) * scaled > safe) | (lengths * inverse_lengths > full_rank);
}

// Solve LLᵀ·y = b for a few rows of a matrix at once, in place.
template <int R, class Square, class Rows>
INLINE void substitute(Square &L, Rows &B, int i) {
    const auto k = L.columns;
    for_each(k, [&](int c) INLINED {
        UNROLL for (int r = 0; r < R; ++r) {
            V rest = B(i + r, c);
            for (int p = 0; p < c; ++p) rest = fma(-L(c, p), B(i + r, p), rest);
            B(i + r, c) = rest * L(c, c);
        }
    });
    for_each(k, [&](int upwards) INLINED {
        const int c = k - 1 - upwards;
        UNROLL for (int r = 0; r < R; ++r) {
            V rest = B(i + r, c);
            for (int p = c + 1; p < k; ++p) rest = fma(-L(p, c), B(i + r, p), rest);
            B(i + r, c) = rest * L(c, c);
        }
    });
}

// What counts as zero, relative to the whole, as in LAPACK's least squares.
INLINE double relative_cutoff(int m, int k) { return (m > k ? m : k) * 0x1p-52; }

// Mix the entries of x by a reflection, x − 2(x·v)/(v·v)·v with v = (1, 2, …, k).
//
// Without it, equal columns of X would be treated with equal roundings, and twin components would
// stay twins to the last bit. Runs that collapse would then stay where they leave with LAPACK, and
// shares would depend on the engine (docs/design.md).
INLINE void mix(V *x, int k) {
    const V scale = all(12 / (double(k) * (k + 1) * (2.0 * k + 1)));
    V x_dot_v{};
    for (int c = 0; c < k; ++c) x_dot_v = fma(x[c], all(c + 1), x_dot_v);
    for (int c = 0; c < k; ++c) x[c] = fma(-scale * x_dot_v, all(c + 1), x[c]);
}

// Householder's reflection x − factor·(v·x)·v.
struct Reflection {
    const V *v;
    int size;
    V factor;

    // Reflect R vectors, so far apart.
    template <class Count>
    INLINE void apply(Count R, V *x, int apart) const {
        V v_dot_x[int(Count{})] = {};
        for (int i = 0; i < size; ++i)
            for_each(R,
                     [&](int r) INLINED { v_dot_x[r] = fma(v[i], x[r * apart + i], v_dot_x[r]); });
        for_each(R, [&](int r) INLINED { v_dot_x[r] *= -factor; });
        for (int i = 0; i < size; ++i)
            for_each(R, [&](int r) INLINED {
                x[r * apart + i] = fma(v_dot_x[r], v[i], x[r * apart + i]);
            });
    }
};

// The reflection that takes x, whose squared length is given, to (end, 0, …): v takes the place of
// x. Where x is 0 it does nothing.
struct Taken {
    V factor, end;
};
INLINE Taken take_to_first(V *x, V square) {
    const V length = sqrt(square), end = select(x[0] > V{}, -length, length);
    const V factor = quotient(all(1), length * (length + absolute(x[0])));
    x[0] -= end;
    return {factor, end};
}

// QᵀX = (T; 0) by Householder's reflections, in place, with the longest column that is left next in
// every lane; it ends where none is longer than what counts as zero, so that T has full rank. Its
// columns stay where they are. The reflections are left in the rows of `reflectors`.
template <class Tall, class Wide, class Row>
INLINE void reduce(Tall &U, Wide &reflectors, Row &factors) {
    const int m = U.rows, k = U.columns, steps = m < k ? m : k;
    V smallest{};
    for (int s = 0; s < steps; ++s) {
        V longest{}, pivot{}, total{};
        for_each_part<tile_columns>(U.columns, [&](auto S, int j) INLINED {
            V square[S] = {};
            for (int i = s; i < m; ++i)
                for_each(S, [&](int c)
                                INLINED { square[c] = fma(U(i, j + c), U(i, j + c), square[c]); });
            for_each(S, [&](int c) INLINED {
                pivot = select(square[c] > longest, all(j + c), pivot);
                longest = maximum(longest, square[c]);
                total += square[c];
            });
        });
        const double cutoff = relative_cutoff(m, k);
        if (s == 0) smallest = (cutoff * cutoff) * total;
        const Mask left = longest > smallest;
        V *x = reflectors.row(s);
        for (int i = s; i < m; ++i) x[i] = V{};
        for_each(U.columns, [&](int c) INLINED {
            const Mask chosen = left & (pivot == all(c));
            for (int i = s; i < m; ++i) x[i] = select(chosen, U(i, c), x[i]);
        });
        const V factor = factors(0, s) = take_to_first(x + s, keep(left, longest)).factor;
        for_each_part<tile_columns>(U.columns, [&](auto S, int j) INLINED {
            V dot[S] = {};
            for (int i = s; i < m; ++i)
                for_each(S, [&](int c) INLINED { dot[c] = fma(x[i], U(i, j + c), dot[c]); });
            for_each(S, [&](int c) INLINED { dot[c] *= -factor; });
            for (int i = s; i < m; ++i)
                for_each(S, [&](int c) INLINED {
                    const Mask stays = i == s ? left : left & (pivot != all(j + c));
                    U(i, j + c) = keep(stays, fma(dot[c], x[i], U(i, j + c)));
                });
        });
    }
}

// Put the solution of minimum norm into `h.next` in these lanes, by a complete orthogonal
// decomposition: QᵀX = (T; 0) with T of full rank, TZ = L, a triangle, and y = Z·L⁻¹·(Qᵀa). A
// component that is zero stays so, in spite of rounding.
template <class M, class N, class K>
__attribute__((noinline)) void minimum_norm(Half<M, N, K> h, Mask lanes) {
    const int m = h.m, k = h.k, steps = m < k ? m : k;
    Local U(h.m, h.k, h.scratch);
    Local reflectors(h.k, h.m, h.scratch);
    Local factors(Fixed<1>{}, h.k, h.scratch), inverse(Fixed<1>{}, h.k, h.scratch);
    Local Z_factors(Fixed<1>{}, h.k, h.scratch), alive(Fixed<1>{}, h.k, h.scratch);
    V largest_entry{};
    for (int i = 0; i < m; ++i)
        for (int c = 0; c < k; ++c) largest_entry = maximum(largest_entry, h.X(i, c));
    const V scale = 1 / power_of_two(largest_entry);  // so that no square overflows or vanishes
    for (int c = 0; c < k; ++c) alive(0, c) = V{};
    for (int i = 0; i < m; ++i) {
        for (int c = 0; c < k; ++c) {
            U(i, c) = scale * h.X(i, c);
            alive(0, c) = select(h.X(i, c) != V{}, scale, alive(0, c));
        }
        mix(U.row(i), k);
    }
    reduce(U, reflectors, factors);
    // The reflections that make up Z take the place of T's rows, from the diagonal on.
    for (int s = 0; s < steps; ++s) {
        V square{};
        for (int c = s; c < k; ++c) square = fma(U(s, c), U(s, c), square);
        const auto [factor, end] = take_to_first(&U(s, s), square);
        inverse(0, s) = quotient(all(1), end);
        Z_factors(0, s) = factor;
        if (s + 1 == steps) break;
        const Reflection reflection{&U(s, s), k - s, factor};
        for_each_part<tile_rows>(Any{steps - s - 1}, [&](auto R, int i) INLINED {
            reflection.apply(R, &U(s + 1 + i, s), k);
        });
    }
    for_each_part<tile_rows>(h.n, [&](auto R, int j) INLINED {
        const int length = m > k ? m : k;
        Scratch scratch = h.scratch;
        V *y = scratch.take(R * length);
        for_each(R, [&](int r) INLINED {
            for (int i = 0; i < m; ++i) y[r * length + i] = h.At(j + r, i);
            for (int i = m; i < k; ++i) y[r * length + i] = V{};
        });
        for (int s = 0; s < steps; ++s)
            Reflection{reflectors.row(s) + s, m - s, factors(0, s)}.apply(R, y + s, length);
        for (int s = 0; s < steps; ++s)
            for_each(R, [&](int r) INLINED {
                V rest = y[r * length + s];
                for (int p = 0; p < s; ++p) rest = fma(-U(s, p), y[r * length + p], rest);
                y[r * length + s] = rest * inverse(0, s);
            });
        for_each(R, [&](int r) INLINED {
            for (int c = steps; c < k; ++c) y[r * length + c] = V{};
        });
        for (int s = steps - 1; s >= 0; --s)
            Reflection{&U(s, s), k - s, Z_factors(0, s)}.apply(R, y + s, length);
        for_each(R, [&](int r) INLINED {
            mix(y + r * length, k);
            for (int c = 0; c < k; ++c)
                h.next(j + r, c) = select(lanes, alive(0, c) * y[r * length + c], h.next(j + r, c));
        });
    });
}

}  // namespace nmfcheck::INSTRUCTIONS
