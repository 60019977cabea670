// Scalar Newton steps for the Kullback–Leibler divergence (Hien and Gillis 2021, their SN).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// For one component c after the other, with Q = Aᵀ/(YXᵀ): the divergence has, in Y[j,c], the
// derivatives
//
//     g = Σ X[p,c]·(1 − Q[j,p]),   f = Σ X[p,c]²·Q[j,p]/(YXᵀ)[j,p],   both over p,
//
// and Y[j,c] ← Y[j,c] + d with d = max(−Y[j,c], −g/f), divided by 1 + λ where g > 0 and λ =
// √(f/min A[·,j])·|d| is not small. Where f = 0 nothing of A depends on the entry, it becomes 0;
// and where X[·,c] = 0 it stays.
//
// The rows of Y do not depend on each other, so a few of them go through all components together.
struct KLScalarNewton {
    static constexpr int straight_up_to = 0;
    static constexpr double whole = 0.683802;  // up to this λ, a whole step does not go uphill

    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        Local sums(Fixed<1>{}, h.k, h.scratch);
        add_up_columns(h.X, sums);
        for_each_part<tile_rows>(h.n, [&](auto R, int i) INLINED {
            Scratch scratch = h.scratch;
            Local YXt(R, h.m, scratch);
            const Pattern pattern = h.pattern.from(i);
            V least[R];  // positive entry of A
            for_each(R, [&](int r) INLINED { least[r] = all(__builtin_inf()); });
            for_each_counted(h.m, pattern, [&](int p) INLINED {
                const auto tile = product_with_transpose<R, 1>(h.Y, h.X, i, p);
                tile.for_each([&](int r, int, V sum) INLINED {
                    const V a = h.At(i + r, p);
                    YXt(r, p) = sum;
                    least[r] = select(a > V{}, minimum(a, least[r]), least[r]);
                });
            });
            for (int c = 0; c < h.k; ++c) {
                V XtQ[R] = {}, f[R] = {}, d[R];
                for_each_counted(h.m, pattern, [&](int p) INLINED {
                    const V x = h.X(p, c);
                    for_each(R, [&](int r) INLINED {
                        const V inverse = quotient(all(1), YXt(r, p));
                        const V xQ = x * (h.At(i + r, p) * inverse);
                        XtQ[r] += xQ;
                        f[r] = fma(x * inverse, xQ, f[r]);
                    });
                });
                for_each(R, [&](int r) INLINED {
                    const V y = h.Y(i + r, c);
                    d[r] = step(y, sums(0, c), XtQ[r], f[r], least[r]);
                    h.next(i + r, c) = y + d[r];
                });
                // Rounded twice, so that what a component has given is taken back to the last bit.
                for_each_counted(h.m, pattern, [&](int p) INLINED {
                    for_each(R, [&](int r) INLINED { YXt(r, p) += h.X(p, c) * d[r]; });
                });
            }
        });
    }

    static INLINE V step(V y, V sum, V XtQ, V f, V least) {
        const V g = sum - XtQ;
        const V d = select(f > V{}, maximum(-quotient(g, f), -y), keep(sum > V{}, -y));
        const V length = sqrt(quotient(f, least)) * absolute(d);
        return select((g > V{}) & (length > whole), d / (1 + length), d);
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
