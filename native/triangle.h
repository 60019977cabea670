// A QR decomposition of X by reflections, with pivoting.
//
// Loops are written out where the compiler knows the sizes: all is then in registers or on the
// stack, and what is done in any case takes less time than branches that are hard to foresee.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// As many rows or columns are worked on at once: no addition waits for the one before it.
constexpr int at_once = 6;

// The columns of X, in an order that each lane has for itself, are QR.
template <class M, class K>
struct Triangle {
    M m;
    K k;
    decltype(smaller(M{}, K{})) steps;  // reflections that Q is made of
    int until;                          // no column from here on counts, in any lane
    int first_null;                     // every column before counts, in all lanes
    Local<M, K> U;         // above the diagonal R, from it downwards the reflections' vectors u
    Local<K, K> N;         // in row j what column j adds to the null space
    Local<K, K> P;         // puts a solution into the order of X's columns
    LocalRow<K> factor;    // of the reflections: 2/(u·u)
    LocalRow<K> diagonal;  // of R
    LocalRow<K> inverse;   // 1/diagonal, 0 where it counts as zero
    LocalRow<K> squared;   // lengths: of what is left of the columns, then 1/length of N's rows
    LocalRow<K> column;    // which one of X it is, as a mask

    INLINE Triangle(M m, K k, Scratch &scratch)
        : m(m),
          k(k),
          steps(smaller(m, k)),
          until(0),
          first_null(k),
          U(m, k, scratch),
          N(k, k, scratch),
          P(k, k, scratch),
          factor(k, scratch),
          diagonal(k, scratch),
          inverse(k, scratch),
          squared(k, scratch),
          column(k, scratch) {}
};

// S columns of X, from c on, as they are to begin with.
template <int S, class M, class K, class Left>
INLINE void load(Triangle<M, K> &t, const Left &X, V scale, int c) {
    V sum[S] = {};
    for_each(t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) {
            const V x = t.U(i, c + s) = scale * X(i, c + s);
            sum[s] = fma(x, x, sum[s]);
        }
    });
    UNROLL for (int s = 0; s < S; ++s) {
        t.squared[c + s] = sum[s];
        t.column[c + s] = (V)(Mask{} + (c + s));
    }
}

// Exchange column j, in each of these lanes, with the longest of those behind it.
template <class M, class K, class Index>
INLINE void pivot(Triangle<M, K> &t, Index j, Mask lanes) {
    V longest = t.squared[j];
    Mask which{}, number{};
    for_each_from(after(j), t.k, [&](auto c) INLINED {
        number += 1;
        which = t.squared[c] > longest ? number : which;
        longest = maximum(longest, t.squared[c]);
    });
    number = Mask{};
    for_each_from(after(j), t.k, [&](auto c) INLINED {
        number += 1;
        const Mask here = which == number;
        if constexpr (!straight<K>)  // there it is quicker to exchange than to foresee it
            if (!any(here & lanes)) return;
        const auto exchange = [&](V &x, V &y) INLINED {
            const V old = x;
            x = select(here, y, old);
            y = select(here, old, y);
        };
        exchange(t.squared[j], t.squared[c]);
        exchange(t.column[j], t.column[c]);
        for_each(t.m, [&](int i) INLINED { exchange(t.U(i, j), t.U(i, c)); });
    });
}

// Reflect S columns, from c on, as column j is reflected.
template <int S, class M, class K, class Index>
INLINE void turn(Triangle<M, K> &t, Index j, int c) {
    V dot[S], squared[S] = {};
    UNROLL for (int s = 0; s < S; ++s) dot[s] = t.U(j, j) * t.U(j, c + s);
    for_each_from(after(j), t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) dot[s] = fma(t.U(i, j), t.U(i, c + s), dot[s]);
    });
    UNROLL for (int s = 0; s < S; ++s) {
        dot[s] *= t.factor[j];
        t.U(j, c + s) = subtract_product(dot[s], t.U(j, j), t.U(j, c + s));
    }
    for_each_from(after(j), t.m, [&](int i) INLINED {
        UNROLL for (int s = 0; s < S; ++s) {
            V &x = t.U(i, c + s);
            x = subtract_product(dot[s], t.U(i, j), x);
            squared[s] = fma(x, x, squared[s]);
        }
    });
    UNROLL for (int s = 0; s < S; ++s) t.squared[c + s] = squared[s];
}

// Reflect all columns behind column j, whose number the compiler may know.
template <class M, class K>
INLINE void turn_all(Triangle<M, K> &t, int j) {
    if (t.k - j > 1)
        for_each_part<at_once>(Any{t.k - j - 1},
                               [&](auto S, int c) INLINED { turn<S>(t, j, j + 1 + c); });
}
template <class M, int N, int j>
INLINE void turn_all(Triangle<M, Fixed<N>> &t, Fixed<j> index) {
    if constexpr (j + 1 < N) turn<N - 1 - j>(t, index, j + 1);
}

// Reflect column j onto its first entry from the diagonal on. Those behind it are
// reflected, too.
template <class M, class K, class Index>
INLINE void reflect(Triangle<M, K> &t, Index j, Mask lanes) {
    pivot(t, j, lanes);
    V &first = t.U(j, j);
    // Of a single entry x it is |x|: the square root of x², rounded, is no other number.
    const V length = j + 1 < t.m ? sqrt(t.squared[j]) : keep(t.squared[j] != V{}, absolute(first));
    const V sum = length + absolute(first);
    const Mask negative = first < V{};
    t.factor[j] = quotient(all(1), length * sum);
    t.diagonal[j] = select(negative, length, -length);
    t.inverse[j] = t.factor[j] * select(negative, sum, -sum);
    first = select(negative, -sum, sum);
    turn_all(t, j);
}

// Decompose, and call reflected(j) after each reflection.
template <class M, class K, class F>
INLINE void decompose(Triangle<M, K> &t, Mask lanes, const bool *stop, F reflected) {
    for_each_from(Fixed<0>{}, t.steps, [&](auto j) INLINED {
        if constexpr (!straight<K>)
            if (is_set(stop)) return;
        reflect(t, j, lanes);
        reflected(j);
    });
    for (int j = t.steps; j < t.k; ++j) t.factor[j] = t.diagonal[j] = t.inverse[j] = V{};
}

}  // namespace nmfcheck::INSTRUCTIONS
