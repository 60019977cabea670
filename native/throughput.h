// What the machine can do at best: nothing but multiplications and additions, or divisions, as many
// at a time as it takes to keep it busy.
#pragma once

#include "vector.h"

namespace nmfcheck::INSTRUCTIONS {

template <class Operation>
INLINE double only(std::int64_t operations, Operation operation) {
    constexpr int at_a_time = 12;
    V x[at_a_time];
    UNROLL for (int i = 0; i < at_a_time; ++i) x[i] = all(1 + i);
    for (std::int64_t done = 0; done < operations; done += at_a_time * width)
        UNROLL for (int i = 0; i < at_a_time; ++i) x[i] = operation(x[i]);
    V sum{};
    UNROLL for (int i = 0; i < at_a_time; ++i) sum += x[i];
    double total = 0;
    for (int lane = 0; lane < width; ++lane) total += sum[lane];
    return total;  // so that nothing is optimised away
}

double only_fma(std::int64_t operations) {
    const V factor = all(0.999), summand = all(1e-3);
    return only(operations, [&](V x) INLINED { return fma(x, factor, summand); });
}

double only_divide(std::int64_t operations) {
    const V divisor = all(1.0000001);
    return only(operations, [&](V x) INLINED { return x / divisor; });
}

}  // namespace nmfcheck::INSTRUCTIONS
