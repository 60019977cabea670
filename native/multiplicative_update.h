// Algorithm 1 of the paper: multiplicative update (Lee and Seung 2000).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Y ← Y ∘ (AᵀX) / (Y·XᵀX), and 0 where a denominator is 0.
struct MultiplicativeUpdate {
    static constexpr int straight_up_to = 8;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local XtX(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        for_each_tile(h, [&](auto R, int i, auto S, int j) INLINED {
            const auto AtX = product<R, S>(h.At, h.pattern, h.X, i, j);
            AtX.for_each([&](int r, int s, V sum)
                             INLINED { h.next(i + r, j + s) = h.Y(i + r, j + s) * sum; });
            const auto YXtX = product<R, S>(h.Y, XtX, i, j);
            YXtX.for_each([&](int r, int s, V sum) INLINED {
                h.next(i + r, j + s) = quotient(h.next(i + r, j + s), sum);
            });
        });
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
