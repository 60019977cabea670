// What passes between the engine, compiled once, and its kernels, compiled for each instruction
// set.
#pragma once

#include <cstdint>

namespace nmfcheck {

enum class Algorithm {
    multiplicative_update,
    als,
    gradient_descent,
    nenmf,
    coordinate_descent,
    anls,
    kl_multiplicative_update,
    kl_scalar_newton
};

// A is m×n, W is m×k, H is k×n.
struct Shape {
    int m, n, k;
};

// A length cut into as few parts as possible of at most `at_most`, all equal or differing by one.
struct Parts {
    int count, shorter, longer;  // `longer` parts of shorter + 1 come first

    __attribute__((always_inline)) constexpr Parts(int length, int at_most)
        : count((length + at_most - 1) / at_most),
          shorter(length / count),
          longer(length % count) {}

    __attribute__((always_inline)) constexpr int offset(int part) const {
        return part * shorter + (part < longer ? part : longer);
    }
};

// Products are computed in tiles of at most this many rows and columns: 12 sums, which together
// with one row and one column of operands is what 16 vector registers hold.
constexpr int tile_rows = 3;
constexpr int tile_columns = 4;

// Where a matrix is zero in all lanes: of the tile of rows that begins with row i, only the columns
// index[begin[i]], …, index[end[i] − 1] count, one at least. Without an index, all do.
struct Pattern {
    const int *begin, *end, *index;

    // That of the rows from row i on.
    __attribute__((always_inline)) Pattern from(int i) const {
        return index == nullptr ? *this : Pattern{begin + i, end + i, index};
    }
};

// A length rounded up to whole vectors.
__attribute__((always_inline)) constexpr int whole_vectors(int length, int width) {
    return (length + width - 1) / width * width;
}

// Problems that fill the nearest cache of most machines, with A and its transpose, are not laid
// side by side if their kernel can do without. Results do not depend on it, bit for bit.
constexpr std::int64_t nearest_cache = 48 << 10;
__attribute__((always_inline)) constexpr bool is_one_by_one(Algorithm algorithm, Shape s,
                                                            int width) {
    return algorithm == Algorithm::multiplicative_update && s.k == 1 &&
           std::int64_t{2 * sizeof(double)} * width * s.m * s.n > nearest_cache;
}

// `width` problems. Side by side, entry (i, j) of an m×n matrix, in lane l, is at (i·n + j)·width +
// l. One by one, each lane has its own memory, with rows of whole vectors; W and H, of rank one,
// are such rows.
struct Group {
    double *A, *At;  // m×n, and its transpose
    double *W, *Ht;  // m×k, and the transpose of H, n×k: each half of an iteration looks alike
    double *next_W, *next_Ht;  // where an iteration puts its result; then they change places
    double *tolerance;         // NeNMF's two: for H, for W
};

struct Block {
    Shape shape;
    Group **groups;
    int count;  // of groups
    Pattern of_At, of_A;
    double *scratch;   // scratch_vectors(shape) · width doubles
    const bool *stop;  // somebody else sets it to end the run early; results are then void
};

constexpr std::int64_t scratch_vectors(Shape s) {
    const std::int64_t longest = s.m > s.n ? s.m : s.n, k = s.k;
    return 4 * k * k + 3 * longest * k + 8 * (longest + k) + 16;
}

using Iterate = void (*)(Block &, std::int64_t iterations);

struct Kernels {
    const char *name;
    int width;
    Iterate (*find)(Algorithm, Shape);
    // Do nothing but this many operations, side by side, for measuring the machine.
    double (*only_fma)(std::int64_t);
    double (*only_divide)(std::int64_t);
};

extern const Kernels baseline_kernels;
#if defined(__x86_64__)
extern const Kernels avx2_kernels, avx512_kernels;
#endif

}  // namespace nmfcheck
