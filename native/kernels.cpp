// All kernels for one instruction set: INSTRUCTIONS names it, and the build's flags switch it on.
// LARGEST_SQUARE, LARGEST_RANK and LARGEST_STRAIGHT keep the build short where speed matters less.
#include "als.h"
#include "anls.h"
#include "coordinate_descent.h"
#include "gradient_descent.h"
#include "kl_multiplicative_update.h"
#include "kl_scalar_newton.h"
#include "multiplicative_update.h"
#include "nenmf.h"
#include "rank_one.h"
#include "throughput.h"

namespace nmfcheck {
namespace INSTRUCTIONS {

template <class Step>
void iterate_any(Block &block, std::int64_t iterations) {
    const auto [m, n, k] = block.shape;
    iterate_sized<Step>(Any{m}, Any{n}, Any{k}, block, iterations);
}

template <class Step, int K>
void iterate_rank(Block &block, std::int64_t iterations) {
    constexpr Fixed<K, (K <= LARGEST_STRAIGHT)> k;
    iterate_sized<Step>(Any{block.shape.m}, Any{block.shape.n}, k, block, iterations);
}

template <class Step, int M, int N>
void iterate_rank_one(Block &block, std::int64_t iterations) {
    iterate_sized<Step>(Fixed<M>{}, Fixed<N>{}, Fixed<1>{}, block, iterations);
}

template <class Step, int N>
void iterate_square(Block &block, std::int64_t iterations) {
    constexpr Fixed<N, (N <= Step::straight_up_to && N <= LARGEST_STRAIGHT)> n;
    iterate_sized<Step>(n, n, n, block, iterations);
}

// f(Fixed<size>{}) for a size from 1 to `largest`, otherwise what is given for all others.
template <int largest, class F>
Iterate fixed_up_to(int size, Iterate others, F f) {
    return [&]<int... before>(std::integer_sequence<int, before...>) {
        Iterate found = others;
        ((size == before + 1 ? void(found = f(Fixed<before + 1>{})) : void()), ...);
        return found;
    }(std::make_integer_sequence<int, largest>{});
}

// Square problems of full rank have code of their own up to a size, and all others up to a rank:
// that one number is enough for the compiler to keep a tile's columns in registers.
template <class Step, int largest_square = Step::straight_up_to>
Iterate find_step(Shape shape) {
    constexpr int largest = largest_square < LARGEST_SQUARE ? largest_square : LARGEST_SQUARE;
    const Iterate found = fixed_up_to<LARGEST_RANK>(
        shape.k, iterate_any<Step>, [](auto k) { return Iterate(iterate_rank<Step, int(k)>); });
    if (shape.m != shape.k || shape.n != shape.k) return found;
    return fixed_up_to<largest>(shape.k, found,
                                [](auto n) { return Iterate(iterate_square<Step, int(n)>); });
}

// For rank one it has so little to compute that counting loops would take as long: small shapes
// have code of their own.
Iterate find_coordinate_descent(Shape shape) {
    constexpr int largest = LARGEST_STRAIGHT < 6 ? LARGEST_STRAIGHT : 6;
    const Iterate others = find_step<CoordinateDescent>(shape);
    if (shape.k != 1) return others;
    return fixed_up_to<largest>(shape.m, others, [&](auto m) {
        return fixed_up_to<largest>(shape.n, others, [](auto n) {
            return Iterate(iterate_rank_one<CoordinateDescent, decltype(m){}, decltype(n){}>);
        });
    });
}

Iterate find(Algorithm algorithm, Shape shape) {
    if (is_one_by_one(algorithm, shape, width)) return iterate_one_by_one;
    switch (algorithm) {
        case Algorithm::multiplicative_update: return find_step<MultiplicativeUpdate, 20>(shape);
        case Algorithm::gradient_descent: return find_step<GradientDescent>(shape);
        case Algorithm::als: return find_step<ALS>(shape);
        case Algorithm::nenmf: return find_step<NeNMF>(shape);
        case Algorithm::coordinate_descent: return find_coordinate_descent(shape);
        case Algorithm::anls: return iterate_any<ANLS>;
        case Algorithm::kl_multiplicative_update: return find_step<KLMultiplicativeUpdate>(shape);
        case Algorithm::kl_scalar_newton: return find_step<KLScalarNewton>(shape);
    }
    return nullptr;
}

}  // namespace INSTRUCTIONS

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define STRING(a) #a
#define QUOTED(a) STRING(a)

extern const Kernels NAMED(INSTRUCTIONS, _kernels) = {
    QUOTED(INSTRUCTIONS),   INSTRUCTIONS::width,       INSTRUCTIONS::find,
    INSTRUCTIONS::only_fma, INSTRUCTIONS::only_divide,
};

}  // namespace nmfcheck
