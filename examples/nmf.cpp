// A program that keeps to nmfcheck's command protocol: cmd:./nmf, after
//
//     c++ -std=c++20 -O2 -o nmf examples/nmf.cpp
//
// It needs nlohmann/json (Debian: nlohmann-json3-dev).
//
// It reads one JSON object a line, {"id", "A", "rank", "W0", "H0", "seed"}, and answers each with a
// line {"id", "W", "H"}. Anything that is not an answer goes to standard error.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using Json = nlohmann::json;
using Matrix = std::vector<std::vector<double>>;

constexpr int iterations = 2000;

Matrix transposed(const Matrix &X) {
    Matrix Y(X[0].size(), std::vector<double>(X.size()));
    for (std::size_t i = 0; i < X.size(); ++i)
        for (std::size_t j = 0; j < X[0].size(); ++j) Y[j][i] = X[i][j];
    return Y;
}

// Minimise ‖A − WH‖ over one row of H after the other, keeping it nonnegative.
void descend(const Matrix &A, const Matrix &W, Matrix &H) {
    const std::size_t m = A.size(), n = A[0].size(), rank = H.size();
    for (std::size_t k = 0; k < rank; ++k) {
        double square = 0;
        for (std::size_t i = 0; i < m; ++i) square += W[i][k] * W[i][k];
        if (square <= 0) continue;
        for (std::size_t j = 0; j < n; ++j) {
            double slope = 0;
            for (std::size_t i = 0; i < m; ++i) {
                double residual = A[i][j];
                for (std::size_t l = 0; l < rank; ++l) residual -= W[i][l] * H[l][j];
                slope += W[i][k] * residual;
            }
            H[k][j] = std::max(H[k][j] + slope / square, 0.0);
        }
    }
}

// Cyclic coordinate descent (HALS) from W, H.
void factorize(const Matrix &A, Matrix &W, Matrix &H) {
    const Matrix At = transposed(A);
    for (int i = 0; i < iterations; ++i) {
        descend(A, W, H);
        Matrix Wt = transposed(W);
        descend(At, transposed(H), Wt);
        W = transposed(Wt);
    }
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const Json request = Json::parse(line);
        Json answer{{"id", request["id"]}};
        try {
            const auto A = request["A"].get<Matrix>();
            auto W = request["W0"].get<Matrix>(), H = request["H0"].get<Matrix>();
            factorize(A, W, H);
            answer["W"] = W;
            answer["H"] = H;
        } catch (const std::exception &failure) {
            answer["error"] = failure.what();
        }
        std::cout << answer.dump() << std::endl;
    }
}
