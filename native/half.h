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
INLINE void iterate_sized(M m, N n, K k, Block &block, std::int64_t iterations) {
    for (std::int64_t t = 0; t < iterations && !__atomic_load_n(block.stop, __ATOMIC_RELAXED); ++t)
        for (int g = 0; g < block.count; ++g) {
            Group &group = *block.groups[g];
            V *A = (V *)group.A, *At = (V *)group.At, *W = (V *)group.W, *Ht = (V *)group.Ht;
            V *next_W = (V *)group.next_W, *next_Ht = (V *)group.next_Ht;
            V *tolerance = (V *)group.tolerance;
            const Scratch scratch{(V *)block.scratch};
            const Half<M, N, K> for_H{m, n, k, {At, n, m}, block.of_At, {W, m, k}, {Ht, n, k},
                                      {next_Ht, n, k}, tolerance, scratch, block.stop};
            const Half<N, M, K> for_W{n, m, k, {A, m, n}, block.of_A, {next_Ht, n, k}, {W, m, k},
                                      {next_W, m, k}, tolerance + 1, scratch, block.stop};
            if constexpr (tiny<K>) {
                Step::half(for_H);
                Step::half(for_W);
            } else {
                shared_half<Step>(for_H);
                shared_half<Step>(for_W);
            }
            group.W = (double *)next_W, group.next_W = (double *)W;
            group.Ht = (double *)next_Ht, group.next_Ht = (double *)Ht;
        }
}

}  // namespace nmfcheck::INSTRUCTIONS
