# A program that keeps to nmfcheck's command protocol: cmd:"Rscript examples/nmf.R".
# It needs the package jsonlite (Debian: r-cran-jsonlite).
#
# It reads one JSON object a line, {"id", "A", "rank", "W0", "H0", "seed"}, and answers each with a
# line {"id", "W", "H"}. Anything that is not an answer goes to standard error.

iterations <- 2000

# Minimise ||A - WH|| over one row of H after the other, keeping it nonnegative.
descend <- function(A, W, H) {
  gram <- crossprod(W)
  target <- crossprod(W, A)
  for (k in seq_len(nrow(H))) {
    if (gram[k, k] > 0) {
      H[k, ] <- pmax(H[k, ] + (target[k, ] - gram[k, ] %*% H) / gram[k, k], 0)
    }
  }
  H
}

# Cyclic coordinate descent (HALS) from W, H.
factorize <- function(A, W, H) {
  for (i in seq_len(iterations)) {
    H <- descend(A, W, H)
    W <- t(descend(t(A), t(H), t(W)))
  }
  list(W = W, H = H)
}

input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  request <- jsonlite::fromJSON(line)
  answer <- tryCatch(
    c(list(id = request$id), factorize(request$A, request$W0, request$H0)),
    error = function(e) list(id = request$id, error = conditionMessage(e))
  )
  # digits = NA: all of them
  cat(jsonlite::toJSON(answer, digits = NA, auto_unbox = TRUE, matrix = "rowmajor"), "\n", sep = "")
  flush(stdout())
}
