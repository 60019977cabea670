#include "engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nmfcheck {

namespace {

constexpr std::chrono::milliseconds between_reports(50);

// From here on, in this thread, numbers too small to have all their digits count as 0, and none
// comes out: they take a hundred times as long on some machines, and runs are full of entries that
// decay.
void flush_denormals() {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    std::uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    asm volatile("msr fpcr, %0" : : "r"(control | (1 << 24)));
#endif
}

// Threads that are told to stop, and waited for, however their work is left.
struct Crew {
    explicit Crew(bool *stop) : stop(stop) {}
    ~Crew() {
        if (leaving_early) __atomic_store_n(stop, true, __ATOMIC_RELAXED);
        for (std::thread &thread : threads) thread.join();
    }
    bool *stop;
    bool leaving_early = true;
    std::vector<std::thread> threads;
};

}  // namespace

const Kernels *find_kernels(const std::string &name) {
    const auto wanted = [&](const Kernels &kernels) {
        return name.empty() || name == kernels.name;
    };
#if defined(__x86_64__)
    const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f") && wanted(avx512_kernels)) return &avx512_kernels;
    if (fma && wanted(avx2_kernels)) return &avx2_kernels;
#endif
    return wanted(baseline_kernels) ? &baseline_kernels : nullptr;
}

bool run(const Kernels &kernels, Algorithm algorithm, const Problems &problems, int threads,
         const Report &report) {
    if (problems.count == 0) return true;
    Queue queue(problems);
    const std::int64_t workers = std::min<std::int64_t>(threads, problems.count);
    const std::int64_t room = (problems.count + workers - 1) / workers;

    // Read in every iteration and written now and then: not in one cache line.
    alignas(64) bool stop = false;
    alignas(64) std::atomic<std::int64_t> settled = 0;
    std::mutex mutex;
    std::condition_variable ended;
    std::int64_t working = workers;
    std::exception_ptr failure;

    const auto work = [&] {
        std::exception_ptr caught;
        try {
            flush_denormals();
            Lanes(kernels, algorithm, problems, room, &stop, settled).run(queue);
        } catch (...) {
            caught = std::current_exception();
            __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
        }
        const std::lock_guard lock(mutex);
        if (caught) failure = caught;
        --working;
        ended.notify_one();
    };
    {
        Crew crew(&stop);
        for (std::int64_t i = 0; i < workers; ++i) crew.threads.emplace_back(work);
        std::unique_lock lock(mutex);
        while (!ended.wait_for(lock, between_reports, [&] { return working == 0; })) {
            lock.unlock();
            if (!report(settled)) return false;
            lock.lock();
        }
        crew.leaving_early = false;
    }
    if (failure) std::rethrow_exception(failure);
    return report(settled);
}

}  // namespace nmfcheck
