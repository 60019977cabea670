// Half an iteration: `A ≈ XYᵀ`, X is given, Y is to be improved.
//
// For H, X is W and Y is Hᵀ; for W, X is Hᵀ, Y is W, and A is transposed. So each algorithm is
// written down once.
#pragma once

#include "matrix.h"

namespace nmfcheck::INSTRUCTIONS {

// Not the standard library's: the linker might choose a copy of that for everybody which was
// compiled for one instruction set.
INLINE void exchange(double *&x, double *&y) {
    double *old = x;
    x = y;
    y = old;
}
INLINE bool is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }

template <class M, class N, class K>
struct Half {
    M m;
    N n;
    K k;
    Matrix<N, M> At;  // Aᵀ: row j belongs to row j of Y
    Pattern pattern;  // where Aᵀ is zero
    Matrix<M, K> X;
    Matrix<N, K> Y;
    Matrix<N, K> next;  // where the new Y goes
    V *tolerance;
    Scratch scratch;
    const bool *stop;

    INLINE bool stopped() const { return is_set(stop); }
};

// Where the compiler knows no size but a rank of one or two, tiles of A with more rows are as wide:
// they keep the processor as busy as others do. Not where zeros are skipped: those are listed for
// tiles of the usual height.
constexpr int tall_tile_rows = 6;
template <class N, class K>
constexpr bool tall = false;
template <bool written_out>
constexpr bool tall<Any, Fixed<1, written_out>> = true;
template <bool written_out>
constexpr bool tall<Any, Fixed<2, written_out>> = true;

// Call f(size, i) for parts of the rows of Y and of Aᵀ.
template <class M, class N, class K, class F>
INLINE void for_each_rows(const Half<M, N, K> &h, F f) {
    if constexpr (tall<N, K>)
        if (h.pattern.index == nullptr) return for_each_part<tall_tile_rows>(h.n, f);
    for_each_part<tile_rows>(h.n, f);
}

// Call f(row size, i, column size, j) for tiles of Y and of AᵀX.
template <class M, class N, class K, class F>
INLINE void for_each_tile(const Half<M, N, K> &h, F f) {
    for_each_rows(h, [&](auto R, int i) INLINED {
        for_each_part<tile_columns>(h.k, [&](auto S, int j) INLINED { f(R, i, S, j); });
    });
}

// Beyond the tiny sizes, both halves share their code.
template <class Step, class M, class N, class K>
__attribute__((noinline)) void shared_half(const Half<M, N, K> &half) {
    Step::half(half);
}

template <class Step, class M, class N, class K>
INLINE void one_half(const Half<M, N, K> &half) {
    if constexpr (tiny<M>) Step::half(half);
    else shared_half<Step>(half);
}

// All groups go through one half before any goes through the next, so that the processor has
// something to do for one group while it waits for another's results.
template <class Step, class M, class N, class K>
INLINE void iterate_sized(M m, N n, K k, Block &block, std::int64_t iterations) {
    const Scratch scratch{(V *)block.scratch};
    for (std::int64_t t = 0; t < iterations && !is_set(block.stop); ++t) {
        for (int g = 0; g < block.count; ++g) {
            Group &group = *block.groups[g];
            const Matrix<N, M> At{(V *)group.At, n, m};
            const Matrix<M, K> W{(V *)group.W, m, k};
            const Matrix<N, K> Ht{(V *)group.Ht, n, k}, next{(V *)group.next_Ht, n, k};
            V *tolerance = (V *)group.tolerance;
            one_half<Step>(Half<M, N, K>{m, n, k, At, block.of_At, W, Ht, next, tolerance, scratch,
                                         block.stop});
            exchange(group.Ht, group.next_Ht);
        }
        for (int g = 0; g < block.count; ++g) {
            Group &group = *block.groups[g];
            const Matrix<M, N> A{(V *)group.A, m, n};
            const Matrix<N, K> Ht{(V *)group.Ht, n, k};
            const Matrix<M, K> W{(V *)group.W, m, k}, next{(V *)group.next_W, m, k};
            V *tolerance = (V *)group.tolerance + 1;
            one_half<Step>(
                Half<N, M, K>{n, m, k, A, block.of_A, Ht, W, next, tolerance, scratch, block.stop});
            exchange(group.W, group.next_W);
        }
    }
}

}  // namespace nmfcheck::INSTRUCTIONS
