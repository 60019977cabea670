// The problems that one thread works on side by side, one in each lane.
//
// Every lane has its own clock, and a lane that has finished is given the next waiting problem. New
// problems start only at multiples of `beat` on the thread's clock, so that lanes are due to be
// looked at together.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "layout.h"
#include "orbit.h"
#include "problems.h"

namespace nmfcheck {

class Lanes {
   public:
    // Room for at most this many problems at a time. `settled` counts iterations × problems.
    Lanes(const Kernels &kernels, Algorithm algorithm, const Problems &problems, std::int64_t room,
          const bool *stop, std::atomic<std::int64_t> &settled);

    // Work until no problem is waiting, or until stopped.
    void run(Queue &queue);

   private:
    struct Lane {
        std::int64_t problem = -1;
        std::int64_t t = 0;      // iterations done
        std::int64_t end = 0;    // … and to be done
        std::int64_t since = 0;  // when its state was remembered
        std::int64_t look = 0;   // when to compare with that; not in the future: never
        bool busy() const { return problem >= 0; }
    };

    void start(int lane, std::int64_t problem);
    void finish(int lane);
    std::int64_t until_something_is_due(bool may_refill) const;
    void iterate(std::int64_t iterations);
    void look_at_orbit(int lane);
    bool remember(int lane);
    double first_tolerance(std::int64_t problem) const;

    bool stopped() const { return __atomic_load_n(stop_, __ATOMIC_RELAXED); }
    // Call f(entry in this lane) for all that the next iteration depends on.
    template <class F>
    void for_each_state_entry(int lane, F f);

    const Kernels &kernels_;
    const Algorithm algorithm_;
    const Problems &problems_;
    const Shape shape_;
    const Iterate iterate_;
    const bool *stop_;
    std::atomic<std::int64_t> &settled_;
    const GroupLayout layout_;
    std::vector<Group> groups_;
    std::vector<Lane> lanes_;
    std::unique_ptr<double, decltype(&std::free)> memory_;
    std::int64_t state_entries_ = 0;
    std::vector<double> remembered_;  // the states of the lanes when they were last looked at
    std::vector<Group *> working_;    // the groups with a busy lane
    Block block_;
    std::int64_t clock_ = 0;
};

}  // namespace nmfcheck
