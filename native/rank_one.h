// Multiplicative update of rank one where A is too large to lie side by side with others in the
// nearest cache: the problems of a group are iterated one after another, and a vector holds entries
// of one problem.
//
// Every sum has the same terms in the same order as it has side by side, so the bits are the same.
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Long vectors leave a problem too few sums to keep the processor busy: two problems take turns.
constexpr int together = width > 4 ? 2 : 1;
static_assert(width % together == 0);

// With `xᵀx` so many vectors of sums are 12 for all problems, as in a tile.
constexpr int vectors_of_sums = 12 / together - 1;

// Half an iteration for some problems that lie `between` doubles apart: y is to be improved, x is
// given, and for each entry of x there is a row of A, or of its transpose, as long as y.
struct RankOneHalf {
    int terms, length;  // entries of x; doubles of a row, a whole number of vectors
    struct Part {
        double *first;
        std::int64_t between;

        INLINE double *of(int problem) const { return first + problem * between; }
    } A, x, y, next;
};

// y ← y ∘ (Aᵀx) / (y·xᵀx), and 0 where a denominator is 0, for `count` vectors of y.
template <int count>
INLINE void improve(const RankOneHalf &h, int begin) {
    V Atx[together][count], xtx[together];
    const auto term = [&](int p, int i, auto add) INLINED {
        const V *row = (const V *)(h.A.of(p) + std::int64_t(i) * h.length) + begin;
        const V x = repeated(h.x.of(p) + i);
        add(x, x, xtx[p]);
        UNROLL for (int c = 0; c < count; ++c) add(row[c], x, Atx[p][c]);
    };
    const auto first = [](V a, V b, V &sum) INLINED { sum = a * b; };
    const auto further = [](V a, V b, V &sum) INLINED { sum = fma(a, b, sum); };
    UNROLL for (int p = 0; p < together; ++p) term(p, 0, first);
    for (int i = 1; i < h.terms; ++i) {
        UNROLL for (int p = 0; p < together; ++p) term(p, i, further);
    }
    // In the order in which the other half will need them, which need not wait for all.
    UNROLL for (int c = 0; c < count; ++c) UNROLL for (int p = 0; p < together; ++p) {
        const V y = ((const V *)h.y.of(p))[begin + c];
        ((V *)h.next.of(p))[begin + c] = quotient(y * Atx[p][c], y * xtx[p]);
    }
}

__attribute__((noinline)) void improve(const RankOneHalf &h) {
    for_each_part<vectors_of_sums>(Any{h.length / width}, [&](auto count, int begin) INLINED {
        improve<decltype(count){}>(h, begin);
    });
}

void iterate_one_by_one(Block &block, std::int64_t iterations) {
    const int m = block.shape.m, n = block.shape.n;
    const int W_length = whole_vectors(m, width), H_length = whole_vectors(n, width);
    const std::int64_t A_length = std::int64_t(m) * H_length,
                       At_length = std::int64_t(n) * W_length;
    for (int g = 0; g < block.count; ++g) {
        Group &group = *block.groups[g];
        for (int lane = 0; lane < width; lane += together) {
            const auto part = [&](double *data, std::int64_t length) {
                return RankOneHalf::Part{data + lane * length, length};
            };
            const auto A = part(group.A, A_length), At = part(group.At, At_length);
            auto W = part(group.W, W_length), next_W = part(group.next_W, W_length);
            auto H = part(group.Ht, H_length), next_H = part(group.next_Ht, H_length);
            for (std::int64_t t = 0; t < iterations && !is_set(block.stop); ++t) {
                improve({m, H_length, A, W, H, next_H});
                exchange(H.first, next_H.first);
                improve({n, W_length, At, H, W, next_W});
                exchange(W.first, next_W.first);
            }
        }
        if (iterations % 2 == 0) continue;
        exchange(group.W, group.next_W);
        exchange(group.Ht, group.next_Ht);
    }
}

}  // namespace nmfcheck::INSTRUCTIONS
