// Cyclic coordinate descent over the components, HALS (Cichocki et al. 2007).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// For one component c after the other: Y[c] ← max(0, Y[c] + (AᵀX − Y·XᵀX)[c] / (XᵀX)[c,c]), and
// Y[c] as it was where the denominator is 0.
//
// The rows of Y do not depend on each other, so a few of them go through all components together.
struct CoordinateDescent {
    static constexpr int straight_up_to = 4;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local XtX(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        Local inverse(Fixed<1>{}, h.k, h.scratch);
        for_each(h.k, [&](int c) INLINED { inverse(0, c) = quotient(all(1), XtX(c, c)); });
        for_each_rows(h, [&](auto R, int i) INLINED {
            Scratch scratch = h.scratch;
            Local AtX(R, h.k, scratch), Y(R, h.k, scratch);
            for_each_part<tile_columns>(h.k, [&](auto S, int j) INLINED {
                const auto tile = product<R, S>(h.At, h.pattern, h.X, i, j);
                tile.for_each([&](int r, int s, V sum) INLINED {
                    AtX(r, j + s) = sum;
                    Y(r, j + s) = h.Y(i + r, j + s);
                });
            });
            for_each(h.k, [&](int c) INLINED {
                product<R, 1>(Y, XtX, 0, c).for_each([&](int r, int, V sum) INLINED {
                    V &y = Y(r, c);
                    y = clipped(y + (AtX(r, c) - sum) * inverse(0, c));
                    h.next(i + r, c) = y;
                });
            });
        });
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
