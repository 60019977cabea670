// ANLS: alternating nonnegative least squares, each solved exactly by active sets (Kim and Park
// 2008; Lawson and Hanson 1974).
#pragma once

#include "half.h"

namespace nmfcheck::INSTRUCTIONS {

// Solves min ½yᵀGy − bᵀy for y ≥ 0, of one row after the other, with G = XᵀX.
//
// With more and more components in use, y is the best with those and no others. The one whose
// gradient says that it helps most is taken in; where the new best z has one that is not positive,
// y goes towards z as far as the bounds let it, and what has become 0 is out of use again. Lanes do
// not wait for each other: a pass takes each of them a step further in this.
template <class K>
class ActiveSets {
   public:
    K k;
    Local<K, K> G, L;  // L: of Cholesky's decomposition LLᵀ, its diagonal inverted
    Local<Fixed<1>, K> b, y, z;

    INLINE ActiveSets(K k, Scratch &scratch)
        : k(k),
          G(k, k, scratch),
          L(k, k, scratch),
          b(Fixed<1>{}, k, scratch),
          y(Fixed<1>{}, k, scratch),
          z(Fixed<1>{}, k, scratch),
          used_(Fixed<1>{}, k, scratch),
          entered_(Fixed<1>{}, k, scratch),
          refused_(Fixed<1>{}, k, scratch) {}

    // Put the solution for b into y. `rounding`: b − Gy counts as 0 up to this, relative to b.
    INLINE void solve(double rounding, const bool *stop) {
        for (int c = 0; c < k; ++c) {
            y(0, c) = V{};
            used(c) = entered(c) = refused(c) = Mask{};
        }
        Mask going = ~Mask{};
        const int most_passes = 10 * k + 10;
        for (int pass = 0; pass < most_passes && any(going) && !is_set(stop); ++pass) {
            const Mask dependent = find_best();
            const Mask held_back = move(dependent, going);
            const Mask enters = take_in(rounding, going & ~held_back);
            going &= held_back | enters;
        }
    }

   private:
    // Components in use; the one that was taken in by the last pass; those that may not be taken in
    // before y has changed.
    Local<Fixed<1>, K> used_, entered_, refused_;
    INLINE Mask &used(int c) { return (Mask &)used_(0, c); }
    INLINE Mask &entered(int c) { return (Mask &)entered_(0, c); }
    INLINE Mask &refused(int c) { return (Mask &)refused_(0, c); }

    // A column of X whose part across those in use is that short, squared and relative to its own
    // squared length, depends on them: the same bound as in src/nmfcheck/reference/anls.py.
    static constexpr double dependence = 0x1p-40;

    // Solve Gz = b for the components in use, and return the lanes where these depend on each
    // other. What no lane uses is skipped; what some lane does not use is 0 there, whatever G is.
    INLINE Mask find_best() {
        Mask dependent{};
        for (int i = 0; i < k; ++i) {
            z(0, i) = V{};
            if (!any(used(i))) continue;
            V pivot = G(i, i), rest_of_b = b(0, i);
            for (int j = 0; j < i; ++j) {
                if (!any(used(j))) continue;
                V rest = G(i, j);
                for (int p = 0; p < j; ++p)
                    if (any(used(p))) rest = fma(-L(i, p), L(j, p), rest);
                const V entry = keep(used(i) & used(j), rest * L(j, j));
                L(i, j) = entry;
                pivot = fma(-entry, entry, pivot);
                rest_of_b = fma(-entry, z(0, j), rest_of_b);
            }
            dependent |= used(i) & ~(pivot > dependence * G(i, i));
            L(i, i) = keep(used(i) & (pivot > V{}), 1 / sqrt(pivot));
            z(0, i) = keep(used(i), rest_of_b * L(i, i));
        }
        for (int i = k - 1; i >= 0; --i) {
            if (!any(used(i))) continue;
            V rest = z(0, i);
            for (int p = i + 1; p < k; ++p)
                if (any(used(p))) rest = select(used(p), fma(-L(p, i), z(0, p), rest), rest);
            z(0, i) = keep(used(i), rest * L(i, i));
        }
        return dependent;
    }

    // Go from y to z, or as far as the bounds let it: return the lanes where they did not let it.
    // Where the component that was taken in last does not help in spite of its gradient, which is
    // rounding, or depends on others, it is refused and y stays.
    INLINE Mask move(Mask dependent, Mask going) {
        Mask below_any{}, back{}, entered_any{};
        for (int c = 0; c < k; ++c) {
            const Mask below = used(c) & ~(z(0, c) > V{});
            below_any |= below;
            back |= entered(c) & below;
            entered_any |= entered(c);
        }
        back = (back | (entered_any & dependent)) & going;
        const Mask short_of = below_any & ~back & going, whole = going & ~back & ~short_of;
        V step = all(1);
        for (int c = 0; c < k; ++c)
            if (any(used(c))) step = select(lets(c) < step, lets(c), step);
        for (int c = 0; c < k; ++c) {
            const Mask halts = short_of & (lets(c) <= step);
            const V part = fma(step, z(0, c) - y(0, c), y(0, c));
            y(0, c) = select(used(c) & whole, z(0, c), select(used(c) & short_of, part, y(0, c)));
            const Mask out =
                (entered(c) & back) | (halts & used(c)) | (used(c) & short_of & ~(y(0, c) > V{}));
            y(0, c) = keep(~out, y(0, c));
            used(c) &= ~out;
            refused(c) = (back & (refused(c) | entered(c))) | (~back & short_of & refused(c));
            entered(c) = Mask{};
        }
        return short_of;
    }

    // How far y may go towards z until component c is 0, if it is not positive there.
    INLINE V lets(int c) {
        const Mask below = used(c) & ~(z(0, c) > V{});
        return select(below, quotient(y(0, c), y(0, c) - z(0, c)), all(2));
    }

    // Take in the component with the largest gradient, in these lanes; return those that have one.
    INLINE Mask take_in(double rounding, Mask lanes) {
        Mask found{};
        V largest{}, which = all(-1);
        for (int c = 0; c < k; ++c) {
            const Mask free = lanes & ~used(c) & ~refused(c);
            if (!any(free)) continue;
            V Gy{};
            for (int p = 0; p < k; ++p)
                if (any(used(p))) Gy = select(used(p), fma(G(c, p), y(0, p), Gy), Gy);
            const V uphill = b(0, c) - Gy;
            const Mask better = free & (uphill > rounding * b(0, c)) & (uphill > largest);
            largest = select(better, uphill, largest);
            which = select(better, all(c), which);
            found |= better;
        }
        for (int c = 0; c < k; ++c) {
            entered(c) = found & (which == all(c));
            used(c) |= entered(c);
        }
        return found;
    }
};

// Y ← argmin_{Y ≥ 0} ‖XYᵀ − A‖.
struct ANLS {
    template <class M, class N, class K>
    static INLINE void half(Half<M, N, K> h) {
        ActiveSets<K> row(h.k, h.scratch);
        gram(h.X, row.G);
        for_each_tile(h, [&](auto R, int i, auto S, int j) INLINED {
            const auto AtX = product<R, S>(h.At, h.pattern, h.X, i, j);
            AtX.for_each([&](int r, int s, V sum) INLINED { h.next(i + r, j + s) = sum; });
        });
        for (int i = 0; i < h.n; ++i) {
            for (int c = 0; c < h.k; ++c) row.b(0, c) = h.next(i, c);
            row.solve((h.m + h.k) * 0x1p-50, h.stop);
            for (int c = 0; c < h.k; ++c) h.next(i, c) = row.y(0, c);
        }
    }
};

}  // namespace nmfcheck::INSTRUCTIONS
