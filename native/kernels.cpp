// All kernels for one instruction set: INSTRUCTIONS names it, and the build's flags switch it on.
// LARGEST_FIXED and LARGEST_STRAIGHT keep the build short where speed matters less.
#include "als.h"
#include "coordinate_descent.h"
#include "gradient_descent.h"
#include "multiplicative_update.h"
#include "nenmf.h"
#include "throughput.h"

namespace nmfcheck {
namespace INSTRUCTIONS {

template <class Step>
void iterate_any(Block &block, std::int64_t iterations) {
    const auto [m, n, k] = block.shape;
    iterate_sized<Step>(Any{m}, Any{n}, Any{k}, block, iterations);
}

template <class Step, int N>
void iterate_fixed(Block &block, std::int64_t iterations) {
    constexpr Fixed<N, (N <= Step::straight_up_to && N <= LARGEST_STRAIGHT)> n;
    iterate_sized<Step>(n, n, n, block, iterations);
}

template <class Step, int largest>
Iterate find_step(Shape shape) {
    const bool square = shape.m == shape.n && shape.m == shape.k;
    return [&]<int... before>(std::integer_sequence<int, before...>) {
        Iterate found = iterate_any<Step>;
        ((square && shape.n == before + 1 ? void(found = iterate_fixed<Step, before + 1>) : void()),
         ...);
        return found;
    }(std::make_integer_sequence<int, (largest < LARGEST_FIXED ? largest : LARGEST_FIXED)>{});
}

// Square problems up to these sizes have code of their own.
Iterate find(Algorithm algorithm, Shape shape) {
    switch (algorithm) {
        case Algorithm::multiplicative_update: return find_step<MultiplicativeUpdate, 20>(shape);
        case Algorithm::gradient_descent: return find_step<GradientDescent, 8>(shape);
        case Algorithm::als: return find_step<ALS, 8>(shape);
        case Algorithm::nenmf: return find_step<NeNMF, 8>(shape);
        case Algorithm::coordinate_descent: return find_step<CoordinateDescent, 8>(shape);
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
