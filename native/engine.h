// The engine: many problems, several threads, one instruction set.
#pragma once

#include <functional>
#include <string>

#include "problems.h"

namespace nmfcheck {

// The kernels of this name, or the best that this machine supports if there is no name.
// nullptr if there are none, or none that would run here.
const Kernels *find_kernels(const std::string &name = "");

// Called now and then, with the number of iterations × problems that are settled; false stops the
// run.
using Report = std::function<bool(std::int64_t)>;

// Run every problem to its end. Returns false if it was stopped; results are then void.
bool run(const Kernels &kernels, Algorithm algorithm, const Problems &problems, int threads,
         const Report &report);

}  // namespace nmfcheck
