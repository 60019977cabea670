// Least squares, min ‖XYᵀ − A‖ for Y: by Cholesky's decomposition of XᵀX where that is safe, and of
// minimum norm, by the singular values of X, in the lanes where it is not.
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

// Singular values up to this, relative to the largest, count as zero, as in LAPACK's least squares.
INLINE double relative_cutoff(int m, int k) { return (m > k ? m : k) * 0x1p-52; }

template <class Tall>
INLINE V squared_length(Tall &U, int column) {
    V sum{};
    for (int i = 0; i < U.rows; ++i) sum = fma(U(i, column), U(i, column), sum);
    return sum;
}

// Mix the columns of U and of V by a reflection, x − 2(x·v)/(v·v)·v with v = (1, 2, …, k).
//
// The rotations below would be more accurate than the reference: errors would be relative to each
// column, those of LAPACK are relative to the longest. And equal columns would be turned with equal
// roundings, twin components would stay twins to the last bit. Runs that collapse would then stay
// where they leave with LAPACK, and shares would depend on the engine (docs/design.md).
template <class Tall, class Square>
INLINE void reflect(Tall &U, Square &V_) {
    const int k = U.columns;
    const V scale = all(12 / (double(k) * (k + 1) * (2.0 * k + 1)));
    const auto reflect_row = [&](V *x) INLINED {
        V x_dot_v{};
        for (int c = 0; c < k; ++c) x_dot_v = fma(x[c], all(c + 1), x_dot_v);
        for (int c = 0; c < k; ++c) x[c] = fma(-scale * x_dot_v, all(c + 1), x[c]);
    };
    for (int i = 0; i < U.rows; ++i) reflect_row(U.row(i));
    for (int i = 0; i < k; ++i) reflect_row(V_.row(i));
}

// Turn the columns of U, in these lanes, until they are orthogonal: with X for U as it was, U = XV
// then, and the lengths of U's columns are the singular values of X. One-sided Jacobi (Hestenes
// 1958). Columns so short that they count as zero are left as they are.
template <class Tall, class Square>
void orthogonalize(Tall &U, Square &V_, Mask lanes, const bool *stop) {
    constexpr int most_sweeps = 60;
    const int k = U.columns;
    const double cutoff = relative_cutoff(U.rows, k), right_angle = U.rows * 0x1p-52;
    for (int i = 0; i < k; ++i)
        for (int c = 0; c < k; ++c) V_(i, c) = all(i == c);
    reflect(U, V_);
    for (int sweep = 0; sweep < most_sweeps && any(lanes); ++sweep) {
        V longest{};
        for (int c = 0; c < k; ++c) longest = maximum(longest, squared_length(U, c));
        const V shortest = (cutoff * cutoff) * longest;
        Mask turned{};
        for (int p = 0; p < k && !is_set(stop); ++p)
            for (int q = p + 1; q < k; ++q) {
                const V pp = squared_length(U, p), qq = squared_length(U, q);
                V pq{};
                for (int i = 0; i < U.rows; ++i) pq = fma(U(i, p), U(i, q), pq);
                const Mask turn = lanes & (absolute(pq) > right_angle * (sqrt(pp) * sqrt(qq))) &
                                  (pp > shortest) & (qq > shortest);
                if (!any(turn)) continue;
                turned |= turn;
                const V zeta = (qq - pp) / (2 * pq);
                const V root = absolute(zeta) + sqrt(fma(zeta, zeta, all(1)));
                const V tangent = select(zeta < V{}, all(-1), all(1)) / root;
                const V cosine = 1 / sqrt(fma(tangent, tangent, all(1))), sine = cosine * tangent;
                const auto rotate = [&](V &x, V &y) INLINED {
                    const V new_x = fma(cosine, x, -sine * y), new_y = fma(sine, x, cosine * y);
                    x = select(turn, new_x, x);
                    y = select(turn, new_y, y);
                };
                for (int i = 0; i < U.rows; ++i) rotate(U(i, p), U(i, q));
                for (int i = 0; i < k; ++i) rotate(V_(i, p), V_(i, q));
            }
        lanes &= turned;
    }
}

// Put the solution of minimum norm into `h.next` in these lanes: y = Σ v·(u·a)/σ² over the singular
// values σ that do not count as zero. A component that is zero stays so, in spite of rounding.
template <class M, class N, class K>
__attribute__((noinline)) void minimum_norm(Half<M, N, K> h, Mask lanes) {
    Local U(h.m, h.k, h.scratch);
    Local V_(h.k, h.k, h.scratch);
    Local squares(Fixed<1>{}, h.k, h.scratch), share(Fixed<1>{}, h.k, h.scratch);
    V largest_entry{};
    for (int i = 0; i < h.m; ++i)
        for (int c = 0; c < h.k; ++c) largest_entry = maximum(largest_entry, h.X(i, c));
    const V scale = 1 / power_of_two(largest_entry);  // so that no square overflows or vanishes
    for (int i = 0; i < h.m; ++i)
        for (int c = 0; c < h.k; ++c) U(i, c) = scale * h.X(i, c);
    orthogonalize(U, V_, lanes, h.stop);
    V largest{};
    for (int c = 0; c < h.k; ++c) {
        squares(0, c) = squared_length(U, c);
        largest = maximum(largest, squares(0, c));
    }
    const V cutoff = relative_cutoff(h.m, h.k) * sqrt(largest);
    Local alive(Fixed<1>{}, h.k, h.scratch);
    for (int c = 0; c < h.k; ++c) {
        Mask nonzero{};
        for (int i = 0; i < h.m; ++i) nonzero |= h.X(i, c) != V{};
        alive(0, c) = keep(nonzero, scale);
    }
    for (int j = 0; j < h.n; ++j) {
        for (int c = 0; c < h.k; ++c) {
            V u_dot_a{};
            for (int i = 0; i < h.m; ++i) u_dot_a = fma(U(i, c), h.At(j, i), u_dot_a);
            share(0, c) = keep(sqrt(squares(0, c)) > cutoff, u_dot_a / squares(0, c));
        }
        for (int i = 0; i < h.k; ++i) {
            V y{};
            for (int c = 0; c < h.k; ++c) y = fma(V_(i, c), share(0, c), y);
            h.next(j, i) = select(lanes, alive(0, i) * y, h.next(j, i));
        }
    }
}

}  // namespace nmfcheck::INSTRUCTIONS
