#include "problems.h"

#include <map>
#include <string>

namespace nmfcheck {

namespace {

// Whether each entry of A is zero, row by row, where at least a third are; otherwise nothing: then
// skipping them would not pay.
std::string zeros_of(Shape shape, const double *A) {
    std::string is_zero(std::size_t(shape.m) * shape.n, '\0');
    std::size_t zeros = 0;
    for (std::size_t e = 0; e < is_zero.size(); ++e) zeros += is_zero[e] = A[e] == 0;
    return 3 * zeros >= is_zero.size() ? is_zero : std::string();
}

}  // namespace

Zeros::Zeros(Shape) {}

Zeros::Zeros(Shape shape, const double *A) {
    const auto list = [](Lists &lists, int rows, int columns, auto is_zero) {
        lists.begin.resize(rows);
        lists.end.resize(rows);
        const Parts parts(rows, tile_rows);
        for (int part = 0; part < parts.count; ++part) {
            const int first = parts.offset(part), last = parts.offset(part + 1);
            lists.begin[first] = int(lists.index.size());
            for (int j = 0; j < columns; ++j) {
                bool needed = false;
                for (int i = first; i < last; ++i) needed |= !is_zero(i, j);
                if (needed) lists.index.push_back(j);
            }
            if (lists.begin[first] == int(lists.index.size()))
                lists.index.push_back(0);  // one at least
            lists.end[first] = int(lists.index.size());
        }
    };
    list(rows_, shape.m, shape.n, [&](int i, int j) { return A[i * shape.n + j] == 0; });
    list(columns_, shape.n, shape.m, [&](int j, int i) { return A[i * shape.n + j] == 0; });
}

Queue::Queue(const Problems &problems) {
    std::map<std::string, std::size_t> known;
    const auto size = std::int64_t(problems.shape.m) * problems.shape.n;
    for (std::int64_t i = 0; i < problems.count; ++i) {
        const double *A = problems.A + i * size;
        const std::string zeros = zeros_of(problems.shape, A);
        const auto [at, is_new] = known.try_emplace(zeros, classes_.size());
        if (is_new)
            classes_.push_back(
                {zeros.empty() ? Zeros(problems.shape) : Zeros(problems.shape, A), {}});
        classes_[at->second].problems.push_back(i);
    }
}

const Queue::Class *Queue::next_class() {
    const std::lock_guard lock(mutex_);
    return current_ < classes_.size() ? &classes_[current_] : nullptr;
}

std::int64_t Queue::next_problem(const Class *of) {
    const std::lock_guard lock(mutex_);
    if (current_ == classes_.size() || of != &classes_[current_]) return -1;
    const std::int64_t problem = of->problems[taken_++];
    if (taken_ == of->problems.size()) {
        ++current_;
        taken_ = 0;
    }
    return problem;
}

}  // namespace nmfcheck
