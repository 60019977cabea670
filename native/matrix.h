// Small matrices in lanes, and their products, tile by tile: a tile's sums stay in registers until
// they are complete.
//
// Every sum of a product runs over its index in ascending order, so that its rounding does not
// depend on how the work is cut up.
#pragma once

#include <utility>

#include "kernels.h"
#include "vector.h"

namespace nmfcheck::INSTRUCTIONS {

// A size that the compiler knows, with loops over it written out (`straight`) or not; or any size.
template <int N, bool straight = true>
struct Fixed {
    constexpr operator int() const { return N; }
};
struct Any {
    int size;
    operator int() const { return size; }
};

template <class Size>
constexpr bool straight = false;
template <int N>
constexpr bool straight<Fixed<N, true>> = true;

// Up to here straight code for a whole iteration is short enough to be decoded as fast as it is
// executed. Beyond, the halves of an iteration share their code.
template <class Size>
constexpr bool tiny = false;
template <int N>
constexpr bool tiny<Fixed<N, true>> = N <= 5;

// Call f(first), …, f(size − 1).
template <int first = 0, class Size, class F>
INLINE void for_each(Size size, F f) {
    for (int i = first; i < size; ++i) f(i);
}

template <int first = 0, int N, class F>
INLINE void for_each(Fixed<N, true>, F f) {
    [&]<int... i>(std::integer_sequence<int, i...>)
        INLINED { (f(first + i), ...); }(std::make_integer_sequence<int, N - first>{});
}

// The same from a number on that may be known as well: then f is given numbers that are.
template <class First, class End, class F>
INLINE void for_each_from(First first, End end, F f) {
    for (int i = first; i < end; ++i) f(i);
}

template <int first, int end, class F>
INLINE void for_each_from(Fixed<first>, Fixed<end>, F f) {
    [&]<int... i>(std::integer_sequence<int, i...>)
        INLINED { (f(Fixed<first + i>{}), ...); }(std::make_integer_sequence<int, end - first>{});
}

// Call f(end − 1), …, f(first).
template <class First, class End, class F>
INLINE void for_each_down_to(First first, End end, F f) {
    for (int i = end - 1; i >= first; --i) f(i);
}

template <int first, int end, class F>
INLINE void for_each_down_to(Fixed<first> from, Fixed<end> to, F f) {
    for_each_from(from, to, [&](auto i) INLINED { f(Fixed<first + end - 1 - int(i)>{}); });
}

// i + 1, and the smaller of two numbers, which the compiler knows if it knows those.
INLINE int after(int i) { return i + 1; }
template <int N>
INLINE Fixed<N + 1> after(Fixed<N>) {
    return {};
}
INLINE int smaller(int x, int y) { return x < y ? x : y; }
template <int M, int N>
INLINE Fixed<(M < N ? M : N)> smaller(Fixed<M>, Fixed<N>) {
    return {};
}

// A number that the compiler does not know, so that it does not write out a loop over it.
INLINE int hidden(int n) {
    asm("" : "+r"(n));
    return n;
}

// Call f(size, offset) for each of the parts that a length is cut into.
template <int at_most, int N, bool written_out, class F>
INLINE void for_each_part(Fixed<N, written_out>, F f) {
    constexpr Parts parts(N, at_most);
    constexpr Fixed<parts.shorter> shorter;
    constexpr Fixed<parts.shorter + 1> longer;
    if constexpr (written_out) {
        for_each(Fixed<parts.longer>{}, [&](int i) INLINED { f(longer, parts.offset(i)); });
        for_each(Fixed<parts.count - parts.longer>{},
                 [&](int i) INLINED { f(shorter, parts.offset(parts.longer + i)); });
    } else {
        if constexpr (parts.longer > 0)
            for (int i = 0, end = hidden(parts.longer); i < end; ++i) f(longer, parts.offset(i));
        for (int i = parts.longer, end = hidden(parts.count); i < end; ++i)
            f(shorter, parts.offset(i));
    }
}

template <int at_most, class F>
INLINE void for_each_part(Any length, F f) {
    const Parts parts(length, at_most);
    for (int i = 0; i < parts.count; ++i) {
        const int size = parts.shorter + (i < parts.longer), offset = parts.offset(i);
        [&]<int... before>(std::integer_sequence<int, before...>) INLINED {
            ((size == before + 1 ? f(Fixed<before + 1>{}, offset) : void()), ...);
        }(std::make_integer_sequence<int, at_most>{});
    }
}

// Call f(row size, i, column size, j) for each tile of a matrix of this size.
template <class Rows, class Columns, class F>
INLINE void for_each_tile(Rows rows, Columns columns, F f) {
    for_each_part<tile_rows>(rows, [&](auto R, int i) INLINED {
        for_each_part<tile_columns>(columns, [&](auto S, int j) INLINED { f(R, i, S, j); });
    });
}

template <class Rows, class Columns>
struct Matrix {
    V *data;
    Rows rows;
    Columns columns;

    INLINE V *row(int i) const { return data + i * columns; }
    INLINE V &operator()(int i, int j) const { return data[i * columns + j]; }
};

// Memory for intermediate results whose size the compiler does not know.
struct Scratch {
    V *free;
    INLINE V *take(int size) {
        V *taken = free;
        free += size;
        return taken;
    }
};

// An intermediate result: in registers or on the stack where its size is known.
template <class Rows, class Columns>
struct Local : Matrix<Rows, Columns> {
    INLINE Local(Rows rows, Columns columns, Scratch &scratch)
        : Matrix<Rows, Columns>{scratch.take(rows * columns), rows, columns} {}
};

template <int R, int C, bool straight_R, bool straight_C>
struct Local<Fixed<R, straight_R>, Fixed<C, straight_C>> {
    V data[R * C];
    Fixed<R, straight_R> rows;
    Fixed<C, straight_C> columns;

    INLINE Local(Fixed<R, straight_R>, Fixed<C, straight_C>, Scratch &) {}
    INLINE V *row(int i) { return data + i * C; }
    INLINE V &operator()(int i, int j) { return data[i * C + j]; }
};

// The same, a row.
template <class Size>
struct LocalRow {
    V *data;

    INLINE LocalRow(Size size, Scratch &scratch) : data(scratch.take(size)) {}
    INLINE V &operator[](int i) { return data[i]; }
};

template <int N, bool written_out>
struct LocalRow<Fixed<N, written_out>> {
    V data[N];

    INLINE LocalRow(Fixed<N, written_out>, Scratch &) {}
    INLINE V &operator[](int i) { return data[i]; }
};

// The sums of one tile.
template <int R, int S>
struct Tile {
    V sum[R][S];

    // A column times a row, whose entries are so far apart.
    INLINE Tile(const V *column, int down, const V *row, int across = 1) {
        UNROLL for (int r = 0; r < R; ++r) UNROLL for (int s = 0; s < S; ++s) sum[r][s] =
            column[r * down] * row[s * across];
    }
    INLINE void add(const V *column, int down, const V *row, int across = 1) {
        UNROLL for (int r = 0; r < R; ++r) UNROLL for (int s = 0; s < S; ++s) sum[r][s] =
            fma(column[r * down], row[s * across], sum[r][s]);
    }

    // Call f(r, s, sum) for every entry.
    template <class F>
    INLINE void for_each(F f) const {
        UNROLL for (int r = 0; r < R; ++r) UNROLL for (int s = 0; s < S; ++s) f(r, s, sum[r][s]);
    }
};

// The tile of XY that begins at row i and column j.
template <int R, int S, class Left, class Right>
INLINE Tile<R, S> product(Left &X, Right &Y, int i, int j) {
    Tile<R, S> tile(&X(i, 0), X.columns, &Y(0, j));
    for_each<1>(X.columns, [&](int p) INLINED { tile.add(&X(i, p), X.columns, &Y(p, j)); });
    return tile;
}

// The tile of XYᵀ that begins at row i and column j.
template <int R, int S, class Left, class Right>
INLINE Tile<R, S> product_with_transpose(Left &X, Right &Y, int i, int j) {
    Tile<R, S> tile(&X(i, 0), X.columns, &Y(j, 0), Y.columns);
    for_each<1>(X.columns,
                [&](int p) INLINED { tile.add(&X(i, p), X.columns, &Y(j, p), Y.columns); });
    return tile;
}

// The tile of XY again, skipping what is zero in X in all lanes.
template <int R, int S, class Left, class Right>
INLINE Tile<R, S> product(Left &X, const Pattern &pattern, Right &Y, int i, int j) {
    if (tiny<decltype(X.columns)> || pattern.index == nullptr) return product<R, S>(X, Y, i, j);
    const int *p = pattern.index + pattern.begin[i], *end = pattern.index + pattern.end[i];
    Tile<R, S> tile(&X(i, *p), X.columns, &Y(*p, j));
    while (++p < end) tile.add(&X(i, *p), X.columns, &Y(*p, j));
    return tile;
}

// Call f(p) for each of so many columns that counts in the tile of rows that begins with row 0.
template <class Columns, class F>
INLINE void for_each_counted(Columns columns, const Pattern &pattern, F f) {
    if (tiny<Columns> || pattern.index == nullptr) return for_each(columns, f);
    const int *end = pattern.index + *pattern.end;
    for (const int *p = pattern.index + *pattern.begin; p < end; ++p) f(*p);
}

// The most columns that a tile has, in a matrix with so many columns.
template <class Columns>
constexpr int widest_tile = tile_columns;
template <int N, bool written_out>
constexpr int widest_tile<Fixed<N, written_out>> = N < tile_columns ? N : tile_columns;

// A long sum over tiles as several short ones, one for each of a tile's columns, so that no
// addition waits for the one before it.
template <class Columns>
struct PartialSums {
    static constexpr int count = widest_tile<Columns>;
    V sum[count] = {};

    INLINE void add(int which, V x, V y) { sum[which] = fma(x, y, sum[which]); }
    INLINE V total() const {
        V total = sum[0];
        UNROLL for (int s = 1; s < count; ++s) total += sum[s];
        return total;
    }
};

// G = XᵀX. It is symmetric: tiles below the diagonal are mirrored, not computed.
template <class Left, class Square>
INLINE void gram(Left &X, Square &G) {
    for_each_tile(X.columns, X.columns, [&](auto R, int i, auto S, int j) INLINED {
        if (i >= j + S) return;
        Tile<R, S> tile(&X(0, i), 1, &X(0, j));
        for_each<1>(X.rows, [&](int p) INLINED { tile.add(&X(p, i), 1, &X(p, j)); });
        tile.for_each([&](int r, int s, V sum)
                          INLINED { G(i + r, j + s) = G(j + s, i + r) = sum; });
    });
}

// sums = 1ᵀX, a row.
template <class Left, class Row>
INLINE void add_up_columns(Left &X, Row &sums) {
    for_each(X.columns, [&](int c) INLINED { sums(0, c) = X(0, c); });
    for (int i = 1; i < X.rows; ++i)
        for_each(X.columns, [&](int c) INLINED { sums(0, c) += X(i, c); });
}

}  // namespace nmfcheck::INSTRUCTIONS
