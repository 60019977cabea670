#include "lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <utility>

namespace nmfcheck {

namespace {

constexpr std::int64_t cache_line = 64;
constexpr std::int64_t longest_chunk = 200'000'000;  // multiplications between two reports

// Tiny problems have too short a way through the processor to keep it busy: several groups take
// turns, and their iterations overlap.
std::int64_t most_groups(Shape s) {
    return std::max({s.m, s.n, s.k}) <= (s.k == 1 ? 6 : 5) ? 4 : 1;
}

std::int64_t multiplications(Shape s) { return 5 * std::int64_t(s.m) * s.n * s.k; }

}  // namespace

template <class F>
void Lanes::for_each_state_entry(int lane, F f) {
    const auto [m, n, k] = shape_;
    const int width = kernels_.width, l = lane % width;
    const Group &group = groups_[lane / width];
    for (int i = 0; i < m; ++i)
        for (int c = 0; c < k; ++c) f(group.W[layout_.W.at(i, c, l)]);
    if (algorithm_ != Algorithm::als && algorithm_ != Algorithm::anls)  // which do not read H
        for (int j = 0; j < n; ++j)
            for (int c = 0; c < k; ++c) f(group.Ht[layout_.Ht.at(j, c, l)]);
    if (algorithm_ == Algorithm::nenmf)
        for (int e = 0; e < 2; ++e) f(group.tolerance[e * width + l]);
}

Lanes::Lanes(const Kernels &kernels, Algorithm algorithm, const Problems &problems,
             std::int64_t room, const bool *stop, std::atomic<std::int64_t> &settled)
    : kernels_(kernels),
      algorithm_(algorithm),
      problems_(problems),
      shape_(problems.shape),
      iterate_(kernels.find(algorithm, problems.shape)),
      stop_(stop),
      settled_(settled),
      layout_(layout_of(algorithm, problems.shape, kernels.width)),
      memory_(nullptr, &std::free) {
    const std::int64_t width = kernels_.width;
    const std::int64_t count =
        std::clamp<std::int64_t>((room + width - 1) / width, 1, most_groups(shape_));
    groups_.resize(count);
    lanes_.resize(count * width);

    const auto whole_lines = [&](std::int64_t doubles) {
        const std::int64_t line = cache_line / sizeof(double);
        return (doubles + line - 1) / line * line;
    };
    const std::int64_t A = whole_lines(layout_.A.all), At = whole_lines(layout_.At.all),
                       W = whole_lines(layout_.W.all), H = whole_lines(layout_.Ht.all),
                       tolerances = whole_lines(2 * width),
                       scratch = whole_lines(scratch_vectors(shape_) * width);
    const std::int64_t each = A + At + 2 * W + 2 * H + tolerances, total = count * each + scratch;
    memory_.reset(static_cast<double *>(std::aligned_alloc(cache_line, total * sizeof(double))));
    if (!memory_) throw std::bad_alloc();
    std::fill_n(memory_.get(), total, 0.0);  // lanes that are never used are all zero

    double *next = memory_.get();
    const auto take = [&](std::int64_t doubles) { return std::exchange(next, next + doubles); };
    for (Group &g : groups_)
        g = {take(A), take(At), take(W), take(H), take(W), take(H), take(tolerances)};
    block_ = {shape_, nullptr, 0, {}, {}, take(scratch), stop_};
    for_each_state_entry(0, [&](double) { ++state_entries_; });
    remembered_.resize(lanes_.size() * state_entries_);
}

void Lanes::run(Queue &queue) {
    while (const Queue::Class *current = queue.next_class()) {
        block_.of_A = current->zeros.of_A();
        block_.of_At = current->zeros.of_At();
        for (bool more = true;;) {  // problems of this class may be waiting
            for (int lane = 0; more && clock_ % beat == 0 && lane < int(lanes_.size()); ++lane) {
                if (lanes_[lane].busy()) continue;
                const std::int64_t problem = queue.next_problem(current);
                more = problem >= 0;
                if (more) start(lane, problem);
            }
            if (!more && std::ranges::none_of(lanes_, &Lane::busy)) break;
            iterate(until_something_is_due(more));
            if (stopped()) return;
            for (int lane = 0; lane < int(lanes_.size()); ++lane) {
                if (!lanes_[lane].busy()) continue;
                if (lanes_[lane].t == lanes_[lane].end) finish(lane);
                else if (lanes_[lane].t == lanes_[lane].look) look_at_orbit(lane);
            }
        }
    }
}

std::int64_t Lanes::until_something_is_due(bool may_refill) const {
    const std::int64_t lanes = lanes_.size();
    std::int64_t least =
        std::max<std::int64_t>(1, longest_chunk / (multiplications(shape_) * lanes));
    for (const Lane &lane : lanes_) {
        if (lane.busy()) {
            least = std::min(least, lane.end - lane.t);
            if (lane.look > lane.t) least = std::min(least, lane.look - lane.t);
        } else if (may_refill) {
            least = std::min(least, beat - clock_ % beat);
        }
    }
    return least;
}

void Lanes::iterate(std::int64_t iterations) {
    working_.clear();
    std::int64_t busy = 0;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        if (!lanes_[lane].busy()) continue;
        Group *group = &groups_[lane / kernels_.width];
        if (working_.empty() || working_.back() != group) working_.push_back(group);
        lanes_[lane].t += iterations;
        ++busy;
    }
    block_.groups = working_.data();
    block_.count = int(working_.size());
    iterate_(block_, iterations);
    clock_ += iterations;
    settled_ += iterations * busy;
}

// Remember the lane's state, and say whether it is the one that was remembered, bit for bit.
bool Lanes::remember(int lane) {
    double *old = remembered_.data() + lane * state_entries_;
    std::uint64_t differing = 0;
    for_each_state_entry(lane, [&](double now) {
        differing |= std::bit_cast<std::uint64_t>(now) ^ std::bit_cast<std::uint64_t>(*old);
        *old++ = now;
    });
    lanes_[lane].since = lanes_[lane].t;
    return differing == 0;
}

void Lanes::look_at_orbit(int index) {
    Lane &lane = lanes_[index];
    const std::int64_t gap = lane.t - lane.since;
    lane.look = lane.t + gap_after(lane.t);
    if (!remember(index)) return;
    lane.look = 0;
    lane.end = lane.t + (problems_.iterations - lane.t) % gap;
    settled_ += problems_.iterations - lane.end;
    if (lane.end == lane.t) finish(index);
}

void Lanes::start(int lane, std::int64_t problem) {
    const auto [m, n, k] = shape_;
    const int width = kernels_.width, l = lane % width;
    Group &group = groups_[lane / width];
    const double *A = problems_.A + problem * m * n, *W0 = problems_.W0 + problem * m * k,
                 *H0 = problems_.H0 + problem * k * n;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            group.A[layout_.A.at(i, j, l)] = group.At[layout_.At.at(j, i, l)] = A[i * n + j];
    for (int c = 0; c < k; ++c) {
        for (int i = 0; i < m; ++i) group.W[layout_.W.at(i, c, l)] = W0[i * k + c];
        for (int j = 0; j < n; ++j) group.Ht[layout_.Ht.at(j, c, l)] = H0[c * n + j];
    }
    if (algorithm_ == Algorithm::nenmf)
        group.tolerance[l] = group.tolerance[width + l] = first_tolerance(problem);
    lanes_[lane] = {.problem = problem, .end = problems_.iterations};
    if (!problems_.close_orbits) return;
    remember(lane);
    lanes_[lane].look = gap_after(0);
}

void Lanes::finish(int lane) {
    const auto [m, n, k] = shape_;
    const int width = kernels_.width, l = lane % width;
    const Group &group = groups_[lane / width];
    const std::int64_t problem = std::exchange(lanes_[lane].problem, -1);
    double *W = problems_.W + problem * m * k, *H = problems_.H + problem * k * n;
    for (int c = 0; c < k; ++c) {
        for (int i = 0; i < m; ++i) W[i * k + c] = group.W[layout_.W.at(i, c, l)];
        for (int j = 0; j < n; ++j) H[c * n + j] = group.Ht[layout_.Ht.at(j, c, l)];
    }
    problems_.ran[problem] = lanes_[lane].end;
}

// NeNMF's: a thousandth of the projected gradient's norm at the start, for H and W together.
double Lanes::first_tolerance(std::int64_t problem) const {
    const auto [m, n, k] = shape_;
    const double *A = problems_.A + problem * m * n, *W = problems_.W0 + problem * m * k,
                 *H = problems_.H0 + problem * k * n;
    std::vector<double> R(std::size_t(m) * n);  // WH − A
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            R[i * n + j] = -A[i * n + j];
            for (int c = 0; c < k; ++c) R[i * n + j] += W[i * k + c] * H[c * n + j];
        }
    double squares = 0;
    const auto add = [&](double x, double gradient) {
        if (gradient < 0 || x > 0) squares += gradient * gradient;
    };
    for (int c = 0; c < k; ++c) {
        for (int j = 0; j < n; ++j) {
            double gradient = 0;  // WᵀR
            for (int i = 0; i < m; ++i) gradient += W[i * k + c] * R[i * n + j];
            add(H[c * n + j], gradient);
        }
        for (int i = 0; i < m; ++i) {
            double gradient = 0;  // RHᵀ
            for (int j = 0; j < n; ++j) gradient += R[i * n + j] * H[c * n + j];
            add(W[i * k + c], gradient);
        }
    }
    return 1e-3 * std::sqrt(squares);
}

}  // namespace nmfcheck
