// Where the entries of a group's matrices lie: of all problems side by side, or one by one.
#pragma once

#include "kernels.h"

namespace nmfcheck {

// Entry (i, j) in lane l is at i·row + j·column + l·lane.
struct Layout {
    std::int64_t row, column, lane, all;  // `all` doubles for all lanes together

    std::int64_t at(int i, int j, int l) const { return i * row + j * column + l * lane; }
};

constexpr Layout side_by_side(std::int64_t rows, std::int64_t columns, int width) {
    return {columns * width, width, 1, rows * columns * width};
}

// Rows of whole vectors.
constexpr Layout one_by_one(std::int64_t rows, int columns, int width) {
    const std::int64_t row = whole_vectors(columns, width);
    return {row, 1, rows * row, rows * row * width};
}

struct GroupLayout {
    Layout A, At, W, Ht;
};

constexpr GroupLayout layout_of(Algorithm algorithm, Shape s, int width) {
    const auto [m, n, k] = s;
    if (!is_one_by_one(algorithm, s, width))
        return {side_by_side(m, n, width), side_by_side(n, m, width), side_by_side(m, k, width),
                side_by_side(n, k, width)};
    // Of rank one, so W and Hᵀ have one column each: it lies as a row does.
    Layout W = one_by_one(1, m, width), Ht = one_by_one(1, n, width);
    W.row = Ht.row = 1;
    return {one_by_one(m, n, width), one_by_one(n, m, width), W, Ht};
}

}  // namespace nmfcheck
