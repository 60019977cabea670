// Algorithm 2 of the paper: alternating least squares, clipped at zero (Berry et al. 2007).
#pragma once

#include "least_squares.h"
#include "minimum_norm.h"

namespace nmfcheck::INSTRUCTIONS {

// Whether to look for lanes that are surely doubtful before anything is decomposed. It makes no
// difference to results. Where W is singular for long at n = 3, that is half of all steps; at n = 2
// and 4 regular starts took up to 5 % longer.
template <class M>
constexpr bool looks_first = false;
template <>
constexpr bool looks_first<Fixed<3>> = true;

// Y ← max(0, argmin ‖XYᵀ − A‖), by XᵀX·y = Xᵀa for each row y of Y and column a of A.
struct ALS {
    static constexpr int straight_up_to = 4;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        const Scratch scratch = h.scratch;  // which is free again by the end
        Local XtX(h.k, h.k, h.scratch);
        Local L(h.k, h.k, h.scratch);
        Local L_inverse(h.k, h.k, h.scratch);
        gram(h.X, XtX);
        Mask doubtful{};
        if constexpr (looks_first<M>) doubtful = surely_doubtful(XtX);
        // What would not be used in any lane is left out.
        if (!looks_first<M> || any(~doubtful)) doubtful = cholesky(XtX, L, doubtful);
        if (any(~doubtful)) doubtful |= ill_conditioned(XtX, L, L_inverse);
        if (any(~doubtful)) {
            for_each_tile(h, [&](auto R, int i, auto S, int j) INLINED {
                const auto AtX = product<R, S>(h.At, h.pattern, h.X, i, j);
                AtX.for_each([&](int r, int s, V sum) INLINED { h.next(i + r, j + s) = sum; });
            });
            for_each_part<tile_rows>(h.n,
                                     [&](auto R, int i) INLINED { substitute<R>(L, h.next, i); });
        }
        if (any(doubtful)) minimum_norm(h, scratch, doubtful);
        for_each(h.n, [&](int i) INLINED {
            for_each(h.k, [&](int c) INLINED { h.next(i, c) = clipped(h.next(i, c)); });
        });
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
