"""The zoo of laws: for each law an NMF that breaks it, and at most one other beside it.

Most are estimators with scikit-learn's interface (`lawful.py`), wrong in one way each.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from lawful import TINY, Lawful
from nmfcheck import reference

ZOO = {}
"""The animal of each law."""


def breaks(law):
    def keep(animal):
        ZOO[law] = animal
        return animal

    return keep


def descend(A, W0, H0, iterations=2000):
    found = reference.coordinate_descent(A, W0, H0, iterations, threads=1)
    return found.W, found.H


@breaks("valid")
class DividesByTheLargestEntry(Lawful):
    """A = 0 becomes NaN."""

    def start(self, A, W, H):
        W, H = super().start(A, W, H)
        return W / A.max(), H * A.max()


@breaks("layouts")
class ReadsMemoryInCOrder(Lawful):
    def read(self, X):
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.f_contiguous:
            X = np.frombuffer(X.tobytes("A")).reshape(X.shape)
        return super().read(X)


@breaks("bad-input")
class ChecksNothing(Lawful):
    def read(self, X):
        return X.toarray() if sparse.issparse(X) else np.array(X, dtype=np.float64)


@breaks("rank-one")
def averages_rows_at_rank_one(A, rank, *, seed):
    if rank == 1:
        return np.ones((len(A), 1)), A.mean(axis=0)[None]
    rng = np.random.default_rng(seed)
    return descend(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])))


@breaks("zero-rows")
class SkipsZeroRows(Lawful):
    """As one does for speed: their rows of W stay where they started."""

    def run(self, A, V, W, H):
        W0, zero = W.copy(), A.sum(axis=1) == 0
        H0, empty = H.copy(), A.sum(axis=0) == 0
        W, H = super().run(A, V, W, H)
        return np.where(zero[:, None], W0, W), np.where(empty, H0, H)


@breaks("scale")
class SetsEntriesBelow2e3To0(Lawful):
    def read(self, X):
        A = super().read(X)
        A[A < 2e-3] = 0
        return A


@breaks("units")
class SetsEntriesBelow3e7To0(Lawful):
    def read(self, X):
        A = super().read(X)
        A[A < 3e-7] = 0
        return A


def solve_in_turn(A, W, solve, sweeps=10):
    """Alternate between the columns of H and the rows of W."""
    for _ in range(sweeps):
        H = np.array([solve(W, a) for a in A.T]).T
        W = np.array([solve(H.T, a) for a in A])
    return W, H


def takes_no_step_below_1e_7(A, rank, *, seed):
    """Spark 4.3: its least squares stay at 0 where a step is short, or 1e-20 is large."""

    def solve(W, a):
        g = W.T @ a
        square = (W @ g) @ (W @ g)
        moves = square > 1e-20 and g @ g >= 1e-7 * square
        return nnls(W, a)[0] if moves else np.zeros(len(g))

    W = np.random.default_rng(seed).random((len(A), rank))
    return solve_in_turn(A, W, solve)


def starts_on_both_sides_of_zero(A, rank, *, seed):
    """Spark 4.3: a component whose start is mostly negative is dead; how many are is chance."""
    W = np.random.default_rng(seed).standard_normal((len(A), rank))
    return solve_in_turn(A, W, lambda W, a: nnls(W, a)[0])


@breaks("permutation")
def works_on_rows_in_pairs(A, rank, *, seed):
    """And gives both rows of a pair the same row of W."""
    rng = np.random.default_rng(seed)
    W, H = descend(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])))
    if rank > 1:
        W[1::2] = W[: len(A) - 1 : 2]
    return W, H


def takes_the_first_row_for_symmetry(A, rank, *, seed):
    """As RcppML 0.3.7: where the first row is the first column, A stands for its transpose."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((len(A), rank)), rng.random((rank, A.shape[1]))
    symmetric = A.shape[0] == A.shape[1] and np.array_equal(A[0], A[:, 0])
    for _ in range(100):
        H = descend_W(A if symmetric else A.T, H.T.copy(), W.T, 3).T
        W = descend_W(A, W, H, 3)
    return W, H


def descend_W(A, W, H, sweeps=300):
    for _ in range(sweeps):
        for k in range(len(H)):
            size = H[k] @ H[k]
            if size > 0:
                W[:, k] = np.maximum(W[:, k] + (A @ H[k] - W @ (H @ H[k])) / size, 0)
    return W


@breaks("rows-alike")
class UpdatesHAfterEachRow(Lawful):
    """Right, but the order of the rows matters."""

    def step(self, A, V, W, H):
        W = W.copy()
        for i in range(len(A)):
            H = self.step_H(A, V, W, H)
            W[i] = self.step_W(A, V, W, H)[0][i]
        return W, H


@breaks("transposition")
def forgets_columns_beyond_the_rows(A, rank, *, seed):
    """Loop to m where it should go to n: a wide A keeps the start in its last columns."""
    rng, m = np.random.default_rng(seed), len(A)
    W, H = rng.random((m, rank)), rng.random((rank, A.shape[1]))
    W, H[:, :m] = descend(A[:, :m], W, H[:, :m].copy())
    return W, H


def loses_a_component_of_wide_ones(A, rank, *, seed):
    wide = A.shape[1] > len(A) and rank > 1
    W = np.random.default_rng(seed).random((len(A), rank - wide))
    W, H = solve_in_turn(A, W, lambda W, a: nnls(W, a)[0])
    return np.pad(W, ((0, 0), (0, wide))), np.pad(H, ((0, wide), (0, 0)))


@breaks("sparse")
class ReadsCscAsCsr(Lawful):
    """As scikit-learn 1.9.1 does for other divergences than the Frobenius norm."""

    def read(self, X):
        if sparse.issparse(X) and X.format == "csc":
            order = X.tocsr().tocoo()
            X = sparse.csr_array((X.data, (order.row, order.col)), shape=X.shape)
        return super().read(X)


@breaks("start-used")
def ignores_the_start(A, rank, *, W0, H0):
    rng = np.random.default_rng(1)
    return descend(A, rng.random(W0.shape), rng.random(H0.shape))


@breaks("start-left-alone")
class UpdatesTheCallersStart(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        found = super().fit_transform(X, W, H, weights, mask)
        if W is not None:
            W[...], H[...] = found, self.components_
        return found


@breaks("inits-valid")
class AsksTheSvdForTooMany(Lawful):
    """scikit-learn #11650: allowed where k is at most n, and not at most min(m, n)."""

    def own_start(self, A, init):
        if init != "nndsvd":
            return super().own_start(A, init)
        U, s, V = np.linalg.svd(A, full_matrices=False)
        ks = range(self.n_components)
        W = np.stack([np.sqrt(s[k]) * abs(U[:, k]) for k in ks], axis=1)
        return W + 0.01, np.stack([np.sqrt(s[k]) * abs(V[k]) for k in ks]) + 0.01


@breaks("inits-good")
class StartsWithEqualComponents(Lawful):
    """They stay equal for ever."""

    def own_start(self, A, init):
        if init != "nndsvd":
            return super().own_start(A, init)
        size = np.sqrt(A.mean() / self.n_components)
        return [np.full(shape, size) for shape in ((len(A), self.n_components),
                                                   (self.n_components, A.shape[1]))]  # fmt: skip


@breaks("entry-points")
class FitsHalfAsLong(Lawful):
    def fit(self, X):
        self.max_iter = self.max_iter // 2
        self.fit_transform(X)
        self.max_iter *= 2
        return self


@breaks("seed")
class DrawsFromTheGlobalState(Lawful):
    def own_start(self, A, init):
        W, H = super().own_start(A, init)
        return W * (1 + 0.1 * np.random.random(W.shape)), H  # noqa: NPY002


@breaks("other-seed")
class HasOneSeedForAll(Lawful):
    def own_start(self, A, init):
        kept, self.random_state = self.random_state, 0
        start = super().own_start(A, init)
        self.random_state = kept
        return start


@breaks("global-state")
class SeedsTheGlobalState(Lawful):
    def own_start(self, A, init):
        np.random.seed(self.random_state)  # noqa: NPY002
        return super().own_start(A, init)


@breaks("input")
class ReplacesZerosInPlace(Lawful):
    def read(self, X):
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X[X == 0] = 1e-12
        return super().read(X)


@breaks("parameters")
class OverwritesItsDefaults(Lawful):
    def start(self, A, W, H):
        self.init = self.init or "random"
        return super().start(A, W, H)


@breaks("refit")
class RemembersTheLastMatrix(Lawful):
    def read(self, X):
        A = super().read(X)
        last, self.last = getattr(self, "last", A), A.copy()
        return (A + last) / 2 if last.shape == A.shape else A


@breaks("reported-error")
class ReportsTheErrorBefore(Lawful):
    """tensorly #271: the error of the step before the last."""

    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        found = super().fit_transform(X, W, H, weights, mask)
        self.reconstruction_err_ = [self.losses_[0], *self.losses_][-2]
        return found


@breaks("exact-error")
class TakesTheRootOfADifference(Lawful):
    """scikit-learn #7190: ‖A‖² + ‖WH‖² − 2⟨A, WH⟩ may be a rounding error below zero."""

    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        W = super().fit_transform(X, W, H, weights, mask)
        A = self.read(X)
        H = self.components_
        square = np.sum(A**2) + np.sum((W.T @ W) * (H @ H.T)) - 2 * np.sum((A @ H.T) * W)
        with np.errstate(invalid="ignore"):
            self.reconstruction_err_ = float(np.sqrt(square))
        return W


@breaks("loss-trace")
class TracesAnotherLoss(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        self.losses_ = [1.1 * loss for loss in self.losses_]
        return W, H


@breaks("iteration-count")
class CountsOneTooMany(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        self.n_iter_ += 1
        return W, H


@breaks("limit-used")
class IgnoresMaxIter(Lawful):
    def run(self, A, V, W, H):
        limit, self.max_iter = self.max_iter, 100
        W, H = super().run(A, V, W, H)
        self.max_iter, self.n_iter_ = limit, min(self.n_iter_, limit)
        return W, H


@breaks("tolerance-used")
class IgnoresTol(Lawful):
    def stops(self, before, now, first):
        return False


@breaks("smaller-tolerance")
class DividesByTol(Lawful):
    """The smaller the tolerance, the earlier it stops."""

    def stops(self, before, now, first):
        return before - now < min(1e-11 / self.tol, 1e-4) * first


@breaks("convergence-said")
class SaysThatItConverged(Lawful):
    def run(self, A, V, W, H):
        W, H = super().run(A, V, W, H)
        self.converged_ = True
        return W, H


@breaks("transform")
class ClipsLeastSquares(Lawful):
    """rsparse #36."""

    def transform(self, X):
        return np.maximum(self.read(X) @ np.linalg.pinv(self.components_), 0)


@breaks("inverse-transform")
class NormalisesOnTheWayBack(Lawful):
    def inverse_transform(self, W):
        return W @ (self.components_ / self.components_.sum(axis=1, keepdims=True))


@breaks("fixed-factor")
def normalises_the_fixed_factor(A, rank, *, W0, H0, update_H=True):
    W, H = descend(A, W0, H0) if update_H else (descend_W(A, W0.copy(), H0), H0)
    size = H.sum(axis=1)
    return W * size, H / size[:, None]


@breaks("descent")
def loses_the_rows_after_the_tenth(A, rank, *, W0, H0):
    """Blocks of ten rows, of which the last is not worked on."""
    W, H = descend(A, W0, H0)
    W[10:] = 10 * W0[10:]
    return W, H


@breaks("monotone")
class TakesStepsThatAreTooLong(Lawful):
    def ratio(self, above, below):
        return super().ratio(above, below) ** (1.8 if self.n_components > 1 else 1.0)


class AddsAConstantToDenominators(Lawful):
    """In units of A, so that scale and units do not show it."""

    constant = 0.0

    def half(self, A, V, W, H, alpha):
        constant = self.constant * float(((V * (W @ H)) @ H.T).mean())
        below = (V * (W @ H)) @ H.T + alpha * (self.l1_ratio + (1 - self.l1_ratio) * W)
        return W * ((V * A) @ H.T) / (below + constant + TINY)


@breaks("fixed-point")
def adds_a_tenth_to_denominators(A, rank, *, W0, H0):
    Lawful(rank).read(A)
    W, H = W0, H0
    for _ in range(200):
        for _ in range(2):
            below = W @ H @ H.T
            W = W * (A @ H.T) / (below + 0.1 * below.mean() + TINY)
            A, W, H = A.T, H.T, W.T
    return W, H


@breaks("exact-start")
class AddsALittleToDenominators(AddsAConstantToDenominators):
    constant = 1e-4


@breaks("penalty")
class IgnoresThePenalty(Lawful):
    def penalties(self, A):
        return 0.0, 0.0


@breaks("penalty-form")
class ForgetsTheShapeInThePenalty(Lawful):
    """Of H alone; who leaves it out of both has another penalty, and not a wrong one."""

    def penalties(self, A):
        alpha_W, alpha_H = super().penalties(A)
        return alpha_W, alpha_H / A.shape[0]


@breaks("weights")
class WeighsOnlyW(Lawful):
    def fit_transform(self, X, W=None, H=None, weights=None):
        return super().fit_transform(X, W, H, weights)

    def step_H(self, A, V, W, H):
        return super().step_H(A, np.ones_like(V), W, H)


@breaks("missing")
class MasksOnlyW(Lawful):
    def fit_transform(self, X, W=None, H=None, mask=None):
        return super().fit_transform(X, W, H, None, mask)

    def step_H(self, A, V, W, H):
        return super().step_H(A, np.ones_like(V), W, H)
