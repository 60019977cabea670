// The problems of one call, as they come from and go back to Python, and the order they are taken
// in.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels.h"

namespace nmfcheck {

// `count` problems of one shape, each matrix after the other in rows.
struct Problems {
    Shape shape;
    std::int64_t count;
    std::int64_t iterations;
    bool close_orbits;
    const double *A, *W0, *H0;
    double *W, *H;
    std::int64_t *ran;  // how many iterations each problem really ran
};

// The zeros of A that are skipped: those of a single problem, so that its result does not depend on
// what else is in the batch, not even where numbers overflow and 0·∞ is not 0.
class Zeros {
   public:
    explicit Zeros(Shape shape);
    Zeros(Shape shape, const double *A);
    Pattern of_A() const { return rows_.pattern(); }
    Pattern of_At() const { return columns_.pattern(); }

   private:
    struct Lists {
        std::vector<int> begin, end, index;
        Pattern pattern() const {
            return {begin.data(), end.data(), index.empty() ? nullptr : index.data()};
        }
    };
    Lists rows_, columns_;
};

// Hands out problems to threads: those with zeros in the same places together, since they can be
// worked on side by side.
class Queue {
   public:
    struct Class {
        Zeros zeros;
        std::vector<std::int64_t> problems;
    };

    explicit Queue(const Problems &problems);

    // The class of the next waiting problem, or nullptr if none is waiting.
    const Class *next_class();
    // The next problem, if it is of this class; −1 if none is.
    std::int64_t next_problem(const Class *of);

   private:
    std::mutex mutex_;
    std::vector<Class> classes_;
    std::size_t current_ = 0, taken_ = 0;
};

}  // namespace nmfcheck
