// NeNMF: alternating nonnegative least squares, each solved by Nesterov's method (Guan, Tao, Luo
// and Yuan 2012).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

constexpr int fewest_steps = 10, most_steps = 1000;

// ‖G‖₂ of a positive semidefinite G, and 1 where G is 0.
//
// B = G^(2^s), scaled to trace 1, tends to the projection on the eigenvectors of the largest
// eigenvalue; it has arrived when tr B² = 1. Then ‖G‖₂ = tr GB. Where the two largest eigenvalues
// differ by less than 2⁻⁴⁸ it does not arrive, and either of them will do.
template <class Square>
INLINE V largest_eigenvalue(Square &G, Square &B, Square &BB, const bool *stop) {
    constexpr int most_squarings = 50;
    const auto k = G.columns;
    const auto trace_of_product = [&](Square &X, Square &Y) INLINED {
        V sum{};
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < k; ++j) sum = fma(X(i, j), Y(i, j), sum);
        return sum;
    };
    V trace{};
    for (int i = 0; i < k; ++i) trace += G(i, i);
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) B(i, j) = quotient(G(i, j), trace);
    Mask going = trace > V{};
    for (int s = 0; s < most_squarings && any(going) && !is_set(stop); ++s) {
        const V scale = 1 / trace_of_product(B, B);  // tr B²
        gram(B, BB);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < k; ++j) B(i, j) = select(going, BB(i, j) * scale, B(i, j));
        going &= scale > 1 + 1e-14;  // this lane's last squaring is then the one just done
    }
    V trace_B{};
    for (int i = 0; i < k; ++i) trace_B += B(i, i);
    return select(trace > V{}, trace_of_product(G, B) / trace_B, all(1));
}

// Y ← nearly argmin_{Y ≥ 0} ‖XYᵀ − A‖. From Z = Y and α = 1 on, with D = Z·XᵀX − AᵀX and L =
// ‖XᵀX‖₂:
//
//     Y⁺ = max(Z − D/L, 0),   α⁺ = (1 + √(1 + 4α²))/2,   Z = Y⁺ + (α − 1)/α⁺·(Y⁺ − Y),
//
// 10 times at least and 1000 times at most, until the projected gradient at Z is within the
// tolerance. Where 10 were enough, the next tolerance is a tenth. A lane that is done keeps its Y.
struct NeNMF {
    static constexpr int straight_up_to = 4;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local XtX(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        Half<M, N, K> borrowed = h;  // its scratch is used again below
        Local B(h.k, h.k, borrowed.scratch), BB(h.k, h.k, borrowed.scratch);
        const V inverse_L = 1 / largest_eigenvalue(XtX, B, BB, h.stop);
        Local AtX(h.n, h.k, h.scratch), Z(h.n, h.k, h.scratch), D(h.n, h.k, h.scratch);
        for_each_tile(h.n, h.k, [&](auto R, int i, auto S, int j) INLINED {
            const auto tile = product<R, S>(h.At, h.pattern, h.X, i, j);
            tile.for_each([&](int r, int s, V sum) INLINED {
                AtX(i + r, j + s) = sum;
                h.next(i + r, j + s) = Z(i + r, j + s) = h.Y(i + r, j + s);
            });
        });
        gradient(XtX, AtX, Z, D);
        Mask going = ~Mask{};
        double alpha = 1;
        for (int step = 1; step <= most_steps && any(going) && !h.stopped(); ++step) {
            const double next_alpha = (1 + __builtin_sqrt(1 + 4 * alpha * alpha)) / 2;
            const V momentum = all((alpha - 1) / next_alpha);
            alpha = next_alpha;
            Mask moved{};
            for_each(h.n, [&](int i) INLINED {
                for_each(h.k, [&](int c) INLINED {
                    const V y = h.next(i, c), z = Z(i, c);
                    const V next_y = clipped(fma(-D(i, c), inverse_L, z));
                    const V next_z = fma(momentum, next_y - y, next_y);
                    moved |= differs(next_y, y) | differs(next_z, z);
                    h.next(i, c) = select(going, next_y, y);
                    Z(i, c) = next_z;
                });
            });
            const V projected_norm = sqrt(gradient(XtX, AtX, Z, D));
            if (step < fewest_steps) continue;
            const Mask reached = projected_norm <= *h.tolerance;
            if (step == fewest_steps) {
                const V tolerance = *h.tolerance;
                *h.tolerance = select(reached, tolerance / 10, tolerance);
            }
            going &= ~reached & moved;  // where nothing moves, no later step would move anything
        }
    }

    // D = Z·XᵀX − AᵀX. Returns the squared length of what of it the bound Z ≥ 0 does not hold back.
    template <class Square, class Tall>
    static INLINE V gradient(Square &XtX, Tall &AtX, Tall &Z, Tall &D) {
        PartialSums<decltype(Z.columns)> squares;
        for_each_tile(Z.rows, Z.columns, [&](auto R, int i, auto S, int j) INLINED {
            product<R, S>(Z, XtX, i, j).for_each([&](int r, int s, V sum) INLINED {
                const V d = sum - AtX(i + r, j + s);
                D(i + r, j + s) = d;
                const V free = keep((d < V{}) | (Z(i + r, j + s) > V{}), d);
                squares.add(s, free, free);
            });
        });
        return squares.total();
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
