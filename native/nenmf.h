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
    const auto for_each_entry = [&](auto f) INLINED {
        for_each(k, [&](int i) INLINED { for_each(k, [&](int j) INLINED { f(i, j); }); });
    };
    const auto trace_of_product = [&](Square &X, Square &Y) INLINED {
        V sum{};
        for_each_entry([&](int i, int j) INLINED { sum = fma(X(i, j), Y(i, j), sum); });
        return sum;
    };
    V trace{};
    for_each(k, [&](int i) INLINED { trace += G(i, i); });
    for_each_entry([&](int i, int j) INLINED { B(i, j) = quotient(G(i, j), trace); });
    Mask going = trace > V{};
    for (int s = 0; s < most_squarings && any(going) && !is_set(stop); ++s) {
        const V scale = 1 / trace_of_product(B, B);  // tr B²
        gram(B, BB);
        for_each_entry([&](int i, int j)
                           INLINED { B(i, j) = select(going, BB(i, j) * scale, B(i, j)); });
        going &= scale > 1 + 1e-14;  // this lane's last squaring is then the one just done
    }
    V trace_B{};
    for_each(k, [&](int i) INLINED { trace_B += B(i, i); });
    return select(trace > V{}, trace_of_product(G, B) / trace_B, all(1));
}

// Y ← nearly argmin_{Y ≥ 0} ‖XYᵀ − A‖. From Z = Y and α = 1 on, with D = Z·XᵀX − AᵀX and L =
// ‖XᵀX‖₂:
//
//     Y⁺ = max(Z − D/L, 0),   α⁺ = (1 + √(1 + 4α²))/2,   Z = Y⁺ + (α − 1)/α⁺·(Y⁺ − Y),
//
// 10 times at least and 1000 times at most, until the projected gradient at Z is within the
// tolerance. Where 10 were enough, the next tolerance is a tenth. A lane's Y is kept when it is
// done; that it goes on with the others does not matter then, and no step waits for the lanes to be
// told apart.
struct NeNMF {
    static constexpr int straight_up_to = 4;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local XtX(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        Half<M, N, K> borrowed = h;  // its scratch is used again below
        Local B(h.k, h.k, borrowed.scratch), BB(h.k, h.k, borrowed.scratch);
        const V inverse_L = 1 / largest_eigenvalue(XtX, B, BB, h.stop);
        Local AtX(h.n, h.k, h.scratch), Z(h.n, h.k, h.scratch), next_Y(h.n, h.k, h.scratch);
        for_each_tile(h, [&](auto R, int i, auto S, int j) INLINED {
            const auto tile = product<R, S>(h.At, h.pattern, h.X, i, j);
            tile.for_each([&](int r, int s, V sum) INLINED {
                AtX(i + r, j + s) = sum;
                Z(i + r, j + s) = h.Y(i + r, j + s);
            });
        });
        PartialSums<K> squares;  // of what of D the bound Z ≥ 0 does not hold back
        const auto descend = [&](auto R, int i) INLINED {  // from a few rows of Z to those of Y⁺
            const V *z = Z.row(i), *a = AtX.row(i);
            V *next_y = next_Y.row(i);
            for_each_part<tile_columns>(h.k, [&](auto S, int j) INLINED {
                product<R, S>(Z, XtX, i, j).for_each([&](int r, int s, V sum) INLINED {
                    const int e = r * h.k + j + s;
                    const V d = sum - a[e], free = keep((d < V{}) | (z[e] > V{}), d);
                    squares.add(s, free, free);
                    next_y[e] = clipped(fma(-d, inverse_L, z[e]));
                });
            });
        };
        for_each_part<tile_rows>(h.n, descend);
        const auto keep_where = [&](Mask lanes) INLINED {
            for (int e = 0; e < h.n * h.k; ++e)
                h.next.data[e] = select(lanes, h.Y.data[e], h.next.data[e]);
        };
        Mask going = ~Mask{};
        double alpha = 1;
        for (int step = 1; step <= most_steps && any(going) && !h.stopped(); ++step) {
            const double next_alpha = (1 + __builtin_sqrt(1 + 4 * alpha * alpha)) / 2;
            const V momentum = all((alpha - 1) / next_alpha);
            alpha = next_alpha;
            squares = {};
            Mask moved{};
            for_each_part<tile_rows>(h.n, [&](auto R, int i) INLINED {
                V *y = h.Y.row(i), *z = Z.row(i);
                const V *next_y = next_Y.row(i);
                const auto move = [&](int e) INLINED {
                    const V next_z = fma(momentum, next_y[e] - y[e], next_y[e]);
                    moved |= differing_bits(next_y[e], y[e]) | differing_bits(next_z, z[e]);
                    y[e] = next_y[e];
                    z[e] = next_z;
                };
                for_each(R, [&](int r) INLINED {
                    for_each(h.k, [&](int c) INLINED { move(r * h.k + c); });
                });
                descend(R, i);
            });
            if (step < fewest_steps) continue;
            const Mask reached = sqrt(squares.total()) <= *h.tolerance;
            if (step == fewest_steps) {
                const V tolerance = *h.tolerance;
                *h.tolerance = select(reached, tolerance / 10, tolerance);
            }
            // Where nothing moves, no later step would move anything.
            const Mask done = going & (reached | (moved == Mask{}));
            if (any(done)) keep_where(done);
            going &= ~done;
        }
        keep_where(going);
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
