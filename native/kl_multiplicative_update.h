// Multiplicative update for the Kullback–Leibler divergence (Lee and Seung 2000).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Y ← Y ∘ (QX) / (1ᵀX) with Q = Aᵀ/(YXᵀ), and 0 where a denominator is 0.
//
// Q is 0 where A is: it is computed for a few rows of Y at a time, and nowhere else.
struct KLMultiplicativeUpdate {
    static constexpr int straight_up_to = 0;

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local sums(Fixed<1>{}, h.k, h.scratch);
        add_up_columns(h.X, sums);
        for_each_part<tile_rows>(h.n, [&](auto R, int i) INLINED {
            Scratch scratch = h.scratch;
            Local Q(R, h.m, scratch);
            const Pattern pattern = h.pattern.from(i);
            for_each_counted(h.m, pattern, [&](int p) INLINED {
                const auto YXt = product_with_transpose<R, 1>(h.Y, h.X, i, p);
                YXt.for_each([&](int r, int, V sum)
                                 INLINED { Q(r, p) = quotient(h.At(i + r, p), sum); });
            });
            for_each_part<tile_columns>(h.k, [&](auto S, int j) INLINED {
                product<R, S>(Q, pattern, h.X, 0, j).for_each([&](int r, int s, V sum) INLINED {
                    h.next(i + r, j + s) = quotient(h.Y(i + r, j + s) * sum, sums(0, j + s));
                });
            });
        });
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
