// When to look whether a run's orbit has closed.
//
// An iteration is a deterministic map on doubles. If the state after t iterations is the one after
// t − gap, bit for bit, then it comes back every `gap` iterations, and the state after T iterations
// is the one after t + (T − t) mod gap. A gap of 12, 120, … catches every period that divides it.
#pragma once

#include <cstdint>

namespace nmfcheck {

constexpr std::int64_t beat = 12;
constexpr std::int64_t gaps[] = {12, 120, 840, 2520};  // 2520 is divisible by 1, …, 10

// The gap between a look after t iterations and the next: the longest within an eighth of t.
constexpr std::int64_t gap_after(std::int64_t t) {
    std::int64_t longest = beat;
    for (const std::int64_t gap : gaps)
        if (8 * gap <= t) longest = gap;
    return longest;
}

}  // namespace nmfcheck
