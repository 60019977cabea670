# A program that keeps to nmfcheck's command protocol: cmd:"julia examples/nmf.jl".
# It needs the package JSON.
#
# It reads one JSON object a line, {"id", "A", "rank", "W0", "H0", "seed"}, and answers each with a
# line {"id", "W", "H"}. Anything that is not an answer goes to standard error.

import JSON

const iterations = 2000

matrix(rows) = permutedims(reduce(hcat, [Float64.(row) for row in rows]))
rows(X) = [X[i, :] for i in axes(X, 1)]

# Minimise ‖A − WH‖ over one row of H after the other, keeping it nonnegative.
function descend!(A, W, H)
    gram, target = W' * W, W' * A
    for k in axes(H, 1)
        gram[k, k] > 0 || continue
        H[k, :] = max.(H[k, :] + (target[k, :] - H' * gram[k, :]) / gram[k, k], 0)
    end
    return H
end

# Cyclic coordinate descent (HALS) from W, H.
function factorize(A, W, H)
    for _ in 1:iterations
        H = descend!(A, W, H)
        W = permutedims(descend!(permutedims(A), permutedims(H), permutedims(W)))
    end
    return W, H
end

for line in eachline(stdin)
    request = JSON.parse(line)
    answer = try
        W, H = factorize(matrix(request["A"]), matrix(request["W0"]), matrix(request["H0"]))
        Dict("id" => request["id"], "W" => rows(W), "H" => rows(H))
    catch failure
        Dict("id" => request["id"], "error" => sprint(showerror, failure))
    end
    println(JSON.json(answer))
    flush(stdout)
end
