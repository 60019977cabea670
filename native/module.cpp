// The engine as the Python module nmfcheck._native. What it is given has been checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "engine.h"

namespace nb = nanobind;
using namespace nmfcheck;

namespace {

using Given = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Algorithm algorithm_of(const std::string &name) {
    if (name == "multiplicative_update") return Algorithm::multiplicative_update;
    if (name == "als") return Algorithm::als;
    if (name == "gradient_descent") return Algorithm::gradient_descent;
    if (name == "nenmf") return Algorithm::nenmf;
    if (name == "coordinate_descent") return Algorithm::coordinate_descent;
    if (name == "anls") return Algorithm::anls;
    if (name == "kl_multiplicative_update") return Algorithm::kl_multiplicative_update;
    if (name == "kl_scalar_newton") return Algorithm::kl_scalar_newton;
    throw std::invalid_argument("no algorithm " + name);
}

const Kernels &kernels_of(const std::string &name) {
    if (const Kernels *kernels = find_kernels(name)) return *kernels;
    throw std::invalid_argument("no instruction set " + name + " on this machine");
}

Problems problems_of(Given A, Given W0, Given H0, Result W, Result H, Counts ran) {
    const auto batch = A.shape(0), m = A.shape(1), n = A.shape(2), k = W0.shape(2);
    const auto fits = [&](const auto &X, std::size_t rows, std::size_t columns) {
        return X.shape(0) == batch && X.shape(1) == rows && X.shape(2) == columns;
    };
    if (!fits(W0, m, k) || !fits(H0, k, n) || !fits(W, m, k) || !fits(H, k, n) ||
        ran.shape(0) != batch)
        throw std::invalid_argument("shapes do not fit together");
    return {.shape = {int(m), int(n), int(k)},
            .count = std::int64_t(batch),
            .iterations = 0,
            .close_orbits = false,
            .A = A.data(),
            .W0 = W0.data(),
            .H0 = H0.data(),
            .W = W.data(),
            .H = H.data(),
            .ran = ran.data()};
}

// Runs without the GIL, but for the reports. Ctrl-C, and whatever `progress` raises, end it.
void run_problems(const std::string &instructions, const std::string &algorithm, Given A, Given W0,
                  Given H0, Result W, Result H, Counts ran, std::int64_t iterations,
                  bool close_orbits, int threads, nb::object progress) {
    Problems problems = problems_of(A, W0, H0, W, H, ran);
    problems.iterations = iterations;
    problems.close_orbits = close_orbits;
    std::int64_t told = 0;
    const auto report = [&](std::int64_t settled) {
        const nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) return false;
        try {
            if (settled > told) progress(settled - told);
        } catch (nb::python_error &error) {
            error.restore();
            return false;
        }
        told = settled;
        return true;
    };
    const Kernels &kernels = kernels_of(instructions);
    const Algorithm which = algorithm_of(algorithm);
    bool completed;
    {
        const nb::gil_scoped_release released;
        completed = run(kernels, which, problems, threads, report);
    }
    if (!completed) throw nb::python_error();
}

std::vector<std::string> instructions() {
    std::vector<std::string> names;
    for (const char *name : {"avx512", "avx2", "baseline"})
        if (find_kernels(name)) names.push_back(name);
    return names;
}

}  // namespace

NB_MODULE(_native, module) {
    module.def("run", &run_problems, nb::arg("instructions"), nb::arg("algorithm"), nb::arg("A"),
               nb::arg("W0"), nb::arg("H0"), nb::arg("W"), nb::arg("H"), nb::arg("ran"),
               nb::arg("iterations"), nb::arg("close_orbits"), nb::arg("threads"),
               nb::arg("progress"));
    module.def("instructions", &instructions,
               "Instruction sets that this machine has, the best first.");
    module.def("lanes", [](const std::string &name) { return kernels_of(name).width; });
    module.def("only_fma", [](const std::string &name, std::int64_t operations) {
        return kernels_of(name).only_fma(operations);
    });
    module.def("only_divide", [](const std::string &name, std::int64_t operations) {
        return kernels_of(name).only_divide(operations);
    });
}
