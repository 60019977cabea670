"""Orbit closing: the same bits as running on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines import each_engine  # noqa: F401 - used by all tests here
from nmfcheck import bidiagonal, reference
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.reference.lanes import same_bits
from nmfcheck.reference.orbits import LONGEST_PERIOD, iterate


def rho(tails, periods):
    """Make a map on whole numbers whose lanes run down a tail and then around a circle."""

    def step(A, state):
        (place,) = state
        after = place + 1
        return (np.where(after >= tails + periods, tails, after),)

    return step


def run(step, start, iterations, close_orbits, progress=lambda _: None, A=None):
    return iterate(
        step,
        np.zeros((1, 1, start.shape[-1])) if A is None else A,
        (start,),
        iterations,
        reads=(0,),
        close_orbits=close_orbits,
        progress=progress,
    )


@given(st.integers(0, 600), st.integers(1, 60), st.integers(0, 3000))
def test_the_end_of_an_orbit_is_known(tail, period, iterations):
    step = rho(float(tail), float(period))
    start = np.zeros((1, 1, 1))
    (closed,), ran = run(step, start, iterations, close_orbits=True)
    place = iterations if iterations < tail else tail + (iterations - tail) % period
    assert closed[0, 0, 0] == place
    assert ran[0] <= iterations
    if period <= LONGEST_PERIOD:
        # The look that catches it begins within 256 iterations of the tail's end.
        assert ran[0] <= tail + 256 + 2 * LONGEST_PERIOD + period


def test_lanes_end_on_their_own():
    tails = np.array([0.0, 3.0, 100.0, 5000.0])
    periods = np.array([1.0, 2.0, 7.0, 1.0])

    def step(A, state):
        (place,) = state
        tail, period = A[0], A[1]  # what belongs to a lane moves with it
        after = place + 1
        return (np.where(after >= tail + period, tail, after),)

    A = np.stack([tails, periods])[:, None, :]
    start = np.zeros((1, 1, 4))
    (closed,), ran = run(step, start, 1001, close_orbits=True, A=A)
    (open_,), all_ran = run(step, start, 1001, close_orbits=False, A=A)
    np.testing.assert_array_equal(closed, open_)
    assert (all_ran == 1001).all()
    assert ran[0] < 10
    assert ran[0] < ran[2] < ran[3] == 1001


def test_progress_adds_up_to_everything():
    told = []
    A = np.stack([[0.0, 3.0, 100.0, 5000.0], [1.0, 2.0, 7.0, 1.0]])[:, None, :]

    def step(A, state):
        after = state[0] + 1
        return (np.where(after >= A[0] + A[1], A[0], after),)

    for iterations in (1, 63, 64, 1001):
        told.clear()
        run(step, np.zeros((1, 1, 4)), iterations, True, told.append, A)
        assert sum(told) == 4 * iterations


ALGORITHMS = {
    "multiplicative_update": (reference.multiplicative_update, 1500),
    "als": (reference.als, 700),
    "gradient_descent": (reference.gradient_descent, 700),
    "coordinate_descent": (reference.coordinate_descent, 700),
    "nenmf": (reference.nenmf, 12),
    "anls": (reference.anls, 150),
}


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("eps", [0.0, 1e-3])
def test_the_same_bits_as_running_on(name, eps):
    algorithm, iterations = ALGORITHMS[name]
    n = 3
    case = bidiagonal(np.ones(n), eps=eps)
    pairs = [starting_point(n, seed) for seed in range(20 if name == "nenmf" else 60)]
    W0, H0 = [W for W, _ in pairs], [H for _, H in pairs]
    for count in (iterations, iterations + 1, iterations + 2):
        closed = algorithm(case.A, W0, H0, count)
        run_on = algorithm(case.A, W0, H0, count, close_orbits=False)
        assert closed.W.tobytes() == run_on.W.tobytes()
        assert closed.H.tobytes() == run_on.H.tobytes()
        assert (run_on.iterations == count).all()
        assert (closed.iterations <= count).all()
    if eps == 0 and name != "nenmf":
        # Of ANLS some runs that collapse go on, and 18 % collapse.
        assert np.mean(closed.iterations < count) > {"anls": 0.8}.get(name, 0.9)


def test_multiplicative_update_at_eps_0_closes_early():
    """A million iterations for the price of about five hundred, for a ≡ 1 and n = 3."""
    case = bidiagonal([1, 1, 1])
    pairs = [starting_point(3, seed) for seed in range(20)]
    found = reference.multiplicative_update(case.A, [W for W, _ in pairs], [H for _, H in pairs])
    assert np.median(found.iterations) < 800


@pytest.mark.slow
def test_nenmf_closes_with_the_same_bits():
    """Its tolerances belong to its state: they go on shrinking after W and H have come to rest."""
    case = bidiagonal([1, 1])
    pairs = [starting_point(2, seed) for seed in range(12)]
    W0, H0 = [W for W, _ in pairs], [H for _, H in pairs]
    closed = reference.nenmf(case.A, W0, H0, 60)
    assert (closed.iterations < 60).any()
    run_on = reference.nenmf(case.A, W0, H0, 60, close_orbits=False)
    assert closed.W.tobytes() == run_on.W.tobytes()
    assert closed.H.tobytes() == run_on.H.tobytes()


def test_bits_tell_zeros_apart():
    X = np.array([[[0.0, 0.0, np.nan, 1.0]]])
    Y = np.array([[[0.0, -0.0, np.nan, 2.0]]])
    assert same_bits(X, Y).tolist() == [True, False, True, False]
