// Half an iteration: `A ≈ XYᵀ`, X is given, Y is to be improved.
//
// For H, X is W and Y is Hᵀ; for W, X is Hᵀ, Y is W, and A is transposed. So each algorithm is
// written down once.
#pragma once

#include "matrix.h"

namespace nmfcheck::INSTRUCTIONS {

template <class M, class N, class K>
struct Half {
    M m;
    N n;
    K k;
    Matrix<N, M> At;    // Aᵀ: row j belongs to row j of Y
    Pattern pattern;    // where Aᵀ is zero
    Matrix<M, K> X;
    Matrix<N, K> Y;
    Matrix<N, K> next;  // where the new Y goes
    V *tolerance;
    Scratch scratch;
    const bool *stop;

    INLINE bool stopped() const { return __atomic_load_n(stop, __ATOMIC_RELAXED); }
};

// Beyond the tiny sizes, both halves share their code.
template <class Step, class M, class N, class K>
__attribute__((noinline)) void shared_half(const Half<M, N, K> &half) {
    Step::half(half);
}

template <class Step, class M, class N, class K>
INLINE void one_half(const Half<M, N, K> &half) {
    if constexpr (tiny<K>) Step::half(half);
    else shared_half<Step>(half);
}

// All groups go through one half before any goes through the next, so that the processor has
// something to do for one group while it waits for another's results.
template <class Step, class M, class N, class K>
INLINE void iterate_sized(M m, N n, K k, Block &block, std::int64_t iterations) {
    const Scratch scratch{(V *)block.scratch};
    for (std::int64_t t = 0; t < iterations && !__atomic_load_n(block.stop, __ATOMIC_RELAXED); ++t) {
        for (int g = 0; g < block.count; ++g) {
            Group &group = *block.groups[g];
            V *At = (V *)group.At, *W = (V *)group.W, *Ht = (V *)group.Ht, *next = (V *)group.next_Ht;
            one_half<Step>(Half<M, N, K>{m, n, k, {At, n, m}, block.of_At, {W, m, k}, {Ht, n, k},
                                         {next, n, k}, (V *)group.tolerance, scratch, block.stop});
            group.Ht = (double *)next, group.next_Ht = (double *)Ht;
        }
        for (int g = 0; g < block.count; ++g) {
            Group &group = *block.groups[g];
            V *A = (V *)group.A, *W = (V *)group.W, *Ht = (V *)group.Ht, *next = (V *)group.next_W;
            one_half<Step>(Half<N, M, K>{n, m, k, {A, m, n}, block.of_A, {Ht, n, k}, {W, m, k},
                                         {next, m, k}, (V *)group.tolerance + 1, scratch, block.stop});
            group.W = (double *)next, group.next_W = (double *)W;
        }
    }
}

}  // namespace nmfcheck::INSTRUCTIONS
