"""The native engine: the NumPy references' results, whatever else is in the batch."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import needs_native
from nmfcheck import InputError, bidiagonal, reference
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.reference import engine

ALGORITHMS = [
    *("multiplicative_update", "als", "gradient_descent", "nenmf", "coordinate_descent", "anls"),
    *("kl_multiplicative_update", "kl_scalar_newton"),
]
SHAPES = [
    *((n, n, n) for n in range(1, 34)),
    *((4, 7, 1), (7, 4, 1), (1, 1, 5), (5, 3, 2), (3, 9, 4), (6, 5, 5), (30, 4, 3), (2, 25, 2)),
]
each_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
pytestmark = needs_native


def problems(m, n, k, batch=7, seed=0):
    rng = np.random.default_rng([m, n, k, seed])
    return rng.random((batch, m, n)), rng.random((batch, m, k)), rng.random((batch, k, n))


def run(name, *arguments, **keywords):
    return getattr(reference, name)(*arguments, engine="native", **keywords)


def largest(stack):
    return np.abs(stack).max(axis=(1, 2))


def same(one, other):
    return one.W.tobytes() == other.W.tobytes() and one.H.tobytes() == other.H.tobytes()


@pytest.fixture(params=engine.instruction_sets())
def each_instruction_set(request, monkeypatch):
    monkeypatch.setenv("NMFCHECK_INSTRUCTIONS", request.param)


class TestAgreementWithNumPy:
    """Equal up to rounding, after one iteration from the same start."""

    @pytest.mark.parametrize(
        ("name", "shape"),
        [
            pytest.param(name, shape, id=f"{name}-{shape}")
            for name in ALGORITHMS
            for shape in SHAPES
            if name != "anls" or shape[2] <= 12  # of which NumPy's takes long
        ],
    )
    @pytest.mark.parametrize("zeros", [0.0, 0.5])
    def test_one_iteration(self, name, shape, zeros, each_instruction_set):
        A, W0, H0 = problems(*shape)
        A[np.random.default_rng(3).random(A.shape) < zeros] = 0
        if name in ("als", "coordinate_descent"):  # which divide by what may be small
            W0 = W0 + np.eye(*shape[::2]) * shape[0]
        native, numpy = (
            getattr(reference, name)(A, W0, H0, 1, engine=engine) for engine in ("native", "numpy")
        )

        def size(start, end):  # rounding is relative to what is added up, which may cancel out
            return np.maximum(largest(start), largest(end))

        condition = np.linalg.cond(W0) if name == "als" else np.ones(len(A))
        bound = 1e-14 * condition**2 + 1e-12
        assert (bound < 1e-7).all()
        assert (largest(native.H - numpy.H) <= bound * size(H0, numpy.H)).all()
        # W's half starts from that H, whose own condition counts: only where it is good enough.
        sigma = np.linalg.svd(numpy.H, compute_uv=False)
        good = sigma[:, 0] < 100 * sigma[:, -1]
        assert (largest(native.W - numpy.W) <= 1e-10 * size(W0, numpy.W))[good].all()


@pytest.fixture(scope="module")
def mixed():
    """Dense problems and sparse ones, of two patterns, in one batch."""
    cases = [bidiagonal(np.ones(7), eps=eps).A for eps in (0, 0.25)]
    dense = np.random.default_rng(1).random((7, 7))
    A = np.array([[*cases, dense][i % 3] for i in range(41)])
    pairs = [starting_point(7, seed) for seed in range(41)]
    return A, np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])


class TestBits:
    """What comes out for a problem depends on nothing but the problem."""

    @each_algorithm
    def test_any_number_of_threads(self, name, mixed):
        once = run(name, *mixed, 50, threads=1)
        for threads in (2, 3, 7, 64):
            again = run(name, *mixed, 50, threads=threads)
            assert same(once, again)
            assert (once.iterations == again.iterations).all()

    @each_algorithm
    @settings(max_examples=20)
    @given(data=st.data())
    def test_any_batch_and_any_position(self, name, mixed, data):
        whole = run(name, *mixed, 40)
        chosen = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=41))
        part = run(name, *(X[chosen] for X in mixed), 40, threads=data.draw(st.integers(1, 3)))
        assert part.W.tobytes() == whole.W[chosen].tobytes()
        assert part.H.tobytes() == whole.H[chosen].tobytes()
        assert (part.iterations == whole.iterations[chosen]).all()

    @each_algorithm
    def test_lanes_that_are_refilled(self, name):
        """Runs of very different lengths, far more than there are lanes."""
        A = [bidiagonal([1, 1], eps=eps).A for eps in (0, 0.1)] * 60
        pairs = [starting_point(2, seed) for seed in range(120)]
        W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
        iterations = {"nenmf": 150}.get(name, 1001)
        whole = run(name, A, W0, H0, iterations)
        for i in range(0, 120, 17):
            alone = run(name, A[i], W0[i], H0[i], iterations)
            assert alone.W.tobytes() == whole.W[i].tobytes()
            assert alone.iterations == whole.iterations[i]
        if name != "kl_scalar_newton":  # whose runs are all at rest when they are first looked at
            assert len(set(whole.iterations.tolist())) > 1

    @each_algorithm
    @pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e300])
    def test_overflow_and_underflow(self, name, size):
        """Where 0·∞ is not 0, skipped zeros would show."""
        A = np.array([bidiagonal(np.ones(6), eps=eps).A * size for eps in (0, 0.25)] * 9)
        A[-1] = size
        pairs = [starting_point(6, seed) for seed in range(18)]
        W0, H0 = np.array([W for W, _ in pairs]) * size, np.array([H for _, H in pairs])
        whole = run(name, A, W0, H0, 5)
        for i in range(18):
            alone = run(name, A[i], W0[i], H0[i], 5)
            assert alone.W.tobytes() == whole.W[i].tobytes()
            assert alone.H.tobytes() == whole.H[i].tobytes()

    @each_algorithm
    def test_fused_instruction_sets_agree(self, name, monkeypatch):
        """AVX2 and AVX-512 do the same operations in the same order."""
        sets = [s for s in engine.instruction_sets() if s != "baseline"]
        if len(sets) < 2:
            pytest.skip("this machine has only one of them")
        results = []
        for instructions in sets:
            monkeypatch.setenv("NMFCHECK_INSTRUCTIONS", instructions)
            results.append(run(name, *problems(5, 5, 5, batch=20), 30))
        assert all(same(results[0], other) for other in results)


ONE_BY_ONE = [(30, 40), (40, 30), (33, 71), (1, 1700), (1700, 1), (57, 55), (201, 9)]


class TestOneByOne:
    """Multiplicative update of rank one has other code for large shapes, and the same bits."""

    @pytest.mark.parametrize("shape", ONE_BY_ONE, ids=str)
    @pytest.mark.parametrize("iterations", [1, 2, 41])
    @pytest.mark.parametrize("zeros", [0.0, 0.5])
    def test_as_rank_two_with_a_component_of_zeros(
        self, shape, iterations, zeros, each_instruction_set
    ):
        A, W0, H0 = problems(*shape, 1, batch=11)
        A[np.random.default_rng(3).random(A.shape) < zeros] = 0
        one = run("multiplicative_update", A, W0, H0, iterations)
        W0, H0 = np.concatenate([W0, 0 * W0], axis=2), np.concatenate([H0, 0 * H0], axis=1)
        two = run("multiplicative_update", A, W0, H0, iterations)
        assert one.W.tobytes() == two.W[:, :, :1].tobytes()
        assert one.H.tobytes() == two.H[:, :1].tobytes()
        assert one.W.any() and not two.W[:, :, 1].any()

    def test_lanes_are_refilled_and_orbits_closed(self, each_instruction_set):
        A, W0, H0 = problems(40, 57, 1, batch=29)
        A[::3] = W0[::3] @ H0[::3]  # where it is soon at rest
        whole = run("multiplicative_update", A, W0, H0, 3001)
        open_ = run("multiplicative_update", A, W0, H0, 3001, close_orbits=False)
        assert same(whole, open_)
        for i in range(0, 29, 5):
            alone = run("multiplicative_update", A[i], W0[i], H0[i], 3001)
            assert alone.W.tobytes() == whole.W[i].tobytes()
            assert alone.H.tobytes() == whole.H[i].tobytes()
            assert alone.iterations == whole.iterations[i]
        assert len(set(whole.iterations.tolist())) > 1


class TestOrbits:
    @each_algorithm
    @pytest.mark.parametrize(
        "n",
        [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow), 9],
    )
    @pytest.mark.parametrize("eps", [0.0, 1e-3])
    def test_the_same_bits_as_running_on(self, name, n, eps, each_instruction_set):
        case = bidiagonal(np.ones(n), eps=eps)
        pairs = [starting_point(n, seed) for seed in range(30)]
        W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
        base = {"nenmf": 30}.get(name, 1500)
        for iterations in (1, 11, 12, 13, base, base + 1, base + 5):
            closed = run(name, case.A, W0, H0, iterations)
            run_on = run(name, case.A, W0, H0, iterations, close_orbits=False)
            assert same(closed, run_on)
            assert (run_on.iterations == iterations).all()
            assert (closed.iterations <= iterations).all()
        if eps == 0 and name != "nenmf":
            assert (closed.iterations < iterations).mean() > 0.6

    def test_longer_runs(self):
        """Through all gaps between looks."""
        case = bidiagonal([1, 1], eps=1e-3)
        pairs = [starting_point(2, seed) for seed in range(64)]
        W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
        for name in ("als", "gradient_descent", "coordinate_descent"):
            closed = run(name, case.A, W0, H0, 100_003)
            assert same(closed, run(name, case.A, W0, H0, 100_003, close_orbits=False))


class TestWhileItRuns:
    def test_progress_adds_up(self):
        A, W0, H0 = problems(3, 3, 3, batch=50)
        for iterations in (1, 1000, 60_000):
            told = []
            run("multiplicative_update", A, W0, H0, iterations, progress=told.append)
            assert sum(told) == 50 * iterations
            assert min(told) > 0

    def test_what_progress_raises_ends_it(self):
        def enough(_):
            raise LookupError

        with pytest.raises(LookupError):
            run("multiplicative_update", *problems(4, 4, 4), 10**12, progress=enough)

    def test_ctrl_c_ends_it(self):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run("multiplicative_update", *problems(4, 4, 4), 10**12, close_orbits=False)

    def test_other_threads_go_on(self):
        stop, turns = threading.Event(), []

        def tick():
            while not stop.wait(0.001):
                turns.append(1)

        def enough(_):
            if len(turns) > 20:
                raise StopIteration

        other = threading.Thread(target=tick)
        other.start()
        try:
            with pytest.raises(StopIteration):
                run("nenmf", *problems(4, 4, 4), 10**12, close_orbits=False, progress=enough)
        finally:
            stop.set()
            other.join()


class TestDenormals:
    """They are flushed: numbers below 2.2e-308 count as 0, and none comes out."""

    @each_algorithm
    def test_none_comes_out(self, name):
        A, W0, H0 = problems(4, 4, 4, batch=40)
        found = run(name, A * 1e-305, W0 * 1e-304, H0 * 1e-3, 20)
        for X in (found.W, found.H):
            assert (np.isfinite(X) & ((X == 0) | (np.finfo(float).tiny <= X))).all()

    def test_decaying_entries_cost_nothing(self):
        case = bidiagonal(np.ones(4))
        pairs = [starting_point(4, seed) for seed in range(16)]
        W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])

        def seconds(A):
            times = []
            for _ in range(5):
                start = time.perf_counter()
                run("multiplicative_update", A, W0, H0, 20_000, close_orbits=False, threads=1)
                times.append(time.perf_counter() - start)
            return min(times)

        assert seconds(case.A) < 5 * seconds(case.A + 0.1)


class TestLeastSquares:
    """ALS's first half from W0 is `max(0, lstsq(W0, A))`, singular or not."""

    def check(self, W0, A, tolerance):
        W0, A = np.asarray(W0, float), np.asarray(A, float)
        H = run("als", A, W0, np.ones((W0.shape[1], A.shape[1])), 1).H
        expected = np.maximum(np.linalg.lstsq(W0, A, rcond=None)[0], 0)
        np.testing.assert_allclose(H, expected, rtol=0, atol=tolerance * (1 + expected.max()))

    @settings(max_examples=200)
    @given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32))
    def test_generic(self, m, n, k, seed):
        rng = np.random.default_rng(seed)
        W, A = rng.random((m, k)), rng.random((m, n))
        sigma = np.linalg.svd(W, compute_uv=False)
        self.check(W, A, 1e-13 * (sigma[0] / sigma[-1]) ** 2)

    @pytest.mark.parametrize("k", [3, 10])
    def test_dead_and_twin_components(self, k, each_instruction_set):
        rng = np.random.default_rng(k)
        A = rng.random((k + 1, 5))
        dead, twin, both = (rng.random((k + 1, k)) for _ in range(3))
        dead[:, 1] = both[:, 1] = 0
        twin[:, 2] = 3 * twin[:, 0]
        both[:, 2] = both[:, 0]
        for W in (dead, twin, both):
            self.check(W, A, 1e-11)

    @pytest.mark.parametrize("rank", [1, 2, 4])
    def test_low_rank(self, rank):
        rng = np.random.default_rng(rank)
        W = rng.random((8, rank)) @ rng.random((rank, 6))
        self.check(W, rng.random((8, 3)), 1e-11)

    def test_nearly_twin_components(self):
        """Where the normal equations would lose all digits."""
        rng = np.random.default_rng(3)
        W, A = rng.random((4, 2)), rng.random((4, 3))
        W[:, 1] = W[:, 0] + 1e-9 * W[:, 1]
        self.check(W, A, 1e-6)

    def test_all_zero(self):
        self.check(np.zeros((3, 2)), np.ones((3, 3)), 0)

    @pytest.mark.slow
    def test_many_components(self):
        rng = np.random.default_rng(8)
        self.check(rng.random((2, 1100)), rng.random((2, 2)), 1e-10)

    @pytest.mark.parametrize("size", [1e155, 1e200, 1e-140])
    def test_extreme_sizes(self, size):
        """Squares overflow or lose digits, the solution does not."""
        rng = np.random.default_rng(9)
        W, A = rng.random((3, 3)), rng.random((3, 3))
        found = run("als", A, W * size, np.ones((3, 3)), 1).H * size
        expected = np.maximum(np.linalg.lstsq(W, A, rcond=None)[0], 0)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def twin(X, rng):
    X[:, 1] = X[:, 0]


def proportional(X, rng):
    X[:, -1] = 3 * X[:, 0]


def unequal_twins(X, rng):
    X[:, 1] = 1e-7 * X[:, 0]


def sum_of_two(X, rng):
    X[:, 2] = X[:, 0] + X[:, 1]


def three_of_a_kind(X, rng):
    X[:, 1:3] = X[:, :1] * [2, 5]


def two_pairs(X, rng):
    X[:, 1], X[:, 3] = X[:, 0], 7 * X[:, 2]


def dead_and_twin(X, rng):
    X[:, 1], X[:, 2] = 0, 2 * X[:, 0]


def rank_one(X, rng):
    X[:] = X[:, :1] * rng.random(X.shape[1])


def half_rank(X, rng):
    X[:] = X[:, : X.shape[1] // 2] @ rng.random((X.shape[1] // 2, X.shape[1]))


def nearly_twin(X, rng):
    X[:, 1] = X[:, 0] + 1e-6 * X[:, 1]


def nothing(X, rng):
    X[:] = 0


def regular(X, rng):
    X += np.eye(*X.shape)


SINGULAR = [
    *(twin, proportional, unequal_twins, sum_of_two, three_of_a_kind, two_pairs, dead_and_twin),
    *(rank_one, half_rank, nothing),
]


class TestSingularSteps:
    """Side by side in lanes, each with another null space."""

    @pytest.mark.parametrize("shape", [(4, 4, 4), (6, 6, 6), (11, 11, 11), (9, 5, 6), (5, 7, 8)])
    @pytest.mark.parametrize("size", [1, 1e120, 1e-90])
    def test_minimum_norm(self, shape, size, each_instruction_set):
        m, n, k = shape
        rng = np.random.default_rng(shape)
        kinds = [*SINGULAR, nearly_twin, regular] * 3
        A, W0 = rng.random((len(kinds), m, n)), rng.random((len(kinds), m, k))
        for kind, X in zip(kinds, W0, strict=True):
            kind(X, rng)
        H0 = np.ones((len(kinds), k, n))
        found = run("als", A, size * W0, H0, 1)
        for i, kind in enumerate(kinds):
            solution, _, _, sigma = np.linalg.lstsq(W0[i], A[i], rcond=None)
            counting = sigma[sigma > max(m, k) * 2**-52 * sigma[0]]
            condition = counting[0] / counting[-1] if len(counting) else 1
            # The residual of the problem is not small: the square of the condition counts.
            bound = 1e-14 * condition * (1e7 if kind is nearly_twin else condition)
            difference = np.abs(size * found.H[i] - np.maximum(solution, 0)).max()
            assert difference <= min(bound, 1e-2) * (1 + np.abs(solution).max()), kind.__name__
            assert not found.H[i][~W0[i].any(axis=0)].any()
            alone = run("als", A[i], size * W0[i], H0[i], 1)
            assert alone.H.tobytes() == found.H[i].tobytes()
            assert alone.W.tobytes() == found.W[i].tobytes()

    @pytest.mark.parametrize("s", [1e-3, 1e-5, 1e-7])
    def test_angles_that_add_up(self, s, each_instruction_set):
        """No two columns are nearly parallel, and yet the normal equations lose every digit."""
        W = np.array([[1, 1, 0.3], [0, s, 1], [0, 0, s]])
        expected = np.random.default_rng(6).random((3, 4))
        found = run("als", W @ expected, W, np.ones((3, 4)), 1).H
        assert np.abs(found - expected).max() < 1e-14 / s

    @pytest.mark.parametrize("n", [2, 3, 5, 8])
    @pytest.mark.parametrize("times", [0.25, 4])
    def test_the_same_cutoff_as_lstsq(self, n, times, each_instruction_set):
        """A singular value that is so many times the cutoff."""
        rng = np.random.default_rng(n)
        W = np.eye(n) + rng.random((n, n))
        small = times * n * 2**-52 * np.linalg.norm(W[:, :-1], 2)
        W[:, -1] *= small  # as a column of its own: rounding does not move this singular value
        sigma = np.linalg.svd(W, compute_uv=False)
        W[:, -1] *= small / sigma[-1]
        sigma = np.linalg.svd(W, compute_uv=False)
        H = run("als", np.eye(n), W, np.ones((n, n)), 1).H
        assert (H.max() > 1e10) == (sigma[-1] > n * 2**-52 * sigma[0]) == (times > 1)

    def test_a_component_of_rounding_size_counts_as_zero(self, each_instruction_set):
        rng = np.random.default_rng(5)
        W, A = rng.random((4, 3)), rng.random((4, 5))
        W[:, 1] *= 1e-16
        H = run("als", A, W, np.ones((3, 5)), 1).H
        expected = np.maximum(np.linalg.lstsq(W, A, rcond=None)[0], 0)
        np.testing.assert_allclose(H, expected, atol=1e-13)

    def test_graded_columns_keep_their_digits(self, each_instruction_set):
        """As with LAPACK: what is small in a solution is not drowned by what is large."""
        W = np.array([[0.8, 0, 0], [0.37, 0.024, 3.8e-16], [0, 0.05, 3.8e-16 * 0.05 / 0.024]])
        A = bidiagonal(np.ones(3), eps=0.25).A
        H = run("als", A, W, np.ones((3, 3)), 1).H
        expected = np.maximum(np.linalg.pinv(W, rcond=3 * 2**-52) @ A, 0)
        np.testing.assert_allclose(H, expected, rtol=1e-12)


class TestNeNMF:
    def test_multiple_eigenvalues(self):
        """`‖WᵀW‖₂` where the largest eigenvalue is a double one, or all of them are the same."""
        A, _, H0 = problems(4, 4, 4)
        for diagonal in ([1, 1, 1, 1], [2, 2, 1, 0.5], [3, 3 - 1e-13, 1, 1]):
            W0 = np.broadcast_to(np.diag(diagonal), A.shape).copy()
            native, numpy = (
                reference.nenmf(A, W0, H0, 1, engine=engine) for engine in ("native", "numpy")
            )
            np.testing.assert_allclose(native.H, numpy.H, rtol=1e-12, atol=1e-13)


class TestWhatItIsGiven:
    @each_algorithm
    def test_nan_is_told_before_it_starts(self, name):
        A, W0, H0 = problems(3, 3, 3)
        for X in (A, W0, H0):
            X[2, 1, 1], kept = np.nan, X[2, 1, 1]
            with pytest.raises(InputError, match="must be finite"):
                run(name, A, W0, H0, 10**12)
            X[2, 1, 1] = kept

    @each_algorithm
    def test_an_empty_batch_and_a_single_problem(self, name):
        A, W0, H0 = problems(3, 4, 2)
        empty = run(name, A[:0], W0[:0], H0[:0], 10)
        assert (empty.W.shape, empty.H.shape, empty.iterations.shape) == (
            (0, 3, 2),
            (0, 2, 4),
            (0,),
        )
        single = run(name, A[0], W0[0], H0[0], 10)
        assert single.W.tobytes() == run(name, A, W0, H0, 10).W[0].tobytes()

    def test_inputs_are_left_alone(self):
        A, W0, H0 = problems(3, 3, 3)
        copies = [X.copy() for X in (A, W0, H0)]
        run("als", A, W0, H0, 5)
        for X, copy in zip((A, W0, H0), copies, strict=True):
            np.testing.assert_array_equal(X, copy)

    def test_fortran_order_and_views(self):
        A, W0, H0 = problems(4, 4, 4, batch=8)
        expected = run("coordinate_descent", A[::2], W0[::2], H0[::2], 9)
        strange = run("coordinate_descent", *(np.asfortranarray(X)[::2] for X in (A, W0, H0)), 9)
        assert same(expected, strange)

    @pytest.mark.parametrize(
        ("keywords", "said"),
        [
            ({"engine": "cuda"}, "no engine 'cuda'; expected one of auto, native, numpy"),
            ({"threads": 0}, "at least 1, not 0"),
            ({"threads": 1.5}, "whole number"),
            ({"progress": 5}, "progress must be a function of a number, not 5"),
        ],
    )
    def test_bad_choices(self, keywords, said):
        with pytest.raises(InputError, match=said):
            reference.als(*problems(2, 2, 2), 1, **keywords)

    def test_too_much_to_count(self):
        with pytest.raises(InputError, match="the most that the native engine takes"):
            run("als", *problems(2, 2, 2), 10**20)

    def test_unknown_instructions(self, monkeypatch):
        monkeypatch.setenv("NMFCHECK_INSTRUCTIONS", "mmx")
        with pytest.raises(InputError, match="NMFCHECK_INSTRUCTIONS is 'mmx'; this machine has"):
            run("als", *problems(2, 2, 2), 1)
