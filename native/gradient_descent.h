// Algorithm 3 of the paper: fast gradient descent (Guan, Tao, Luo and Yuan 2011).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Y ← Y + s·G with G = Y ∘ (Q − 1), Q = (AᵀX) / (Y·XᵀX): the step of multiplicative update, as long
// as pays off. With D = AᵀX − Y·XᵀX, which points downhill,
//
//     s* = ⟨D, G⟩ / ‖GXᵀ‖² minimises the objective along G,
//     s_max = min −Y/G over G < 0, which is 1 / (1 − min Q), is where Y reaches the boundary,
//     s = max(1, min(s*, 0.99·s_max)).
struct GradientDescent {
    static constexpr int straight_up_to = 5;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local XtX(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        Local G(h.n, h.k, h.scratch);
        PartialSums<K> D_dot_G;
        PartialSums<M> GXt_dot_GXt;
        V least_Q = all(1);
        for_each_tile(h, [&](auto R, int i, auto S, int j) INLINED {
            const auto AtX = product<R, S>(h.At, h.pattern, h.X, i, j);
            AtX.for_each([&](int r, int s, V sum) INLINED { h.next(i + r, j + s) = sum; });
            const auto YXtX = product<R, S>(h.Y, XtX, i, j);
            YXtX.for_each([&](int r, int s, V sum) INLINED {
                const V Y = h.Y(i + r, j + s), AtX = h.next(i + r, j + s);
                const V Q = quotient(AtX, sum), g = Y * (Q - 1);
                G(i + r, j + s) = g;
                D_dot_G.add(s, AtX - sum, g);
                least_Q = minimum(least_Q, select(g < V{}, Q, all(1)));
            });
        });
        for_each_tile(h.n, h.m, [&](auto R, int i, auto S, int p) INLINED {
            const auto GXt = product_with_transpose<R, S>(G, h.X, i, p);
            GXt.for_each([&](int, int s, V sum) INLINED { GXt_dot_GXt.add(s, sum, sum); });
        });
        const V best = quotient(D_dot_G.total(), GXt_dot_GXt.total());
        const V boundary = 1 / (1 - least_Q);
        const V s = maximum(minimum(best, 0.99 * boundary), all(1));
        for_each(h.n, [&](int i) INLINED {
            for_each(h.k, [&](int c) INLINED { h.next(i, c) = fma(s, G(i, c), h.Y(i, c)); });
        });
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
