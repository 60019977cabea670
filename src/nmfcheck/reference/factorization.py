"""What every reference algorithm takes and returns, whatever it does in between."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints, real_array, whole_number
from ..errors import InputError
from ..judging.objectives import FROBENIUS
from .engine import LARGEST_MATRIX, chosen, fits, run_native
from .lanes import T, from_lanes, to_lanes
from .orbits import Progress, State, Step, iterate

LANE_ENTRIES = 16384
"""Entries of one array that are worked on at a time: enough to drown NumPy's overhead, and few
enough to stay in the cache."""


class Factorization(NamedTuple):
    """The result of a reference algorithm.

    Attributes
    ----------
    W, H : the factors, with the leading dimensions of the input.
    iterations : how many iterations each problem really ran; fewer than asked for where its orbit
        closed, and then the result is the one that all of them would have given. The engines do not
        look at the same times, and their numbers differ.
    """

    W: Array
    H: Array
    iterations: Any


def alternate(half: Callable[[Array, Array, Array], Array]) -> Step:
    """Make an iteration out of its first half: H by `half`, then W by transposition.

    `A ≈ WH` means `Aᵀ ≈ HᵀWᵀ`, so an update of H given W is an update of W given H as well.
    """

    def step(A: Array, state: State) -> State:
        W, H = state
        H = half(A, W, H)
        W = T(half(T(A), T(H), T(W)))
        return W, H

    return step


@dataclass(frozen=True, eq=False, repr=False)
class Algorithm:
    """A reference algorithm, to be called as a function.

    Attributes
    ----------
    name : what it is called, here and in the native engine.
    step : one iteration on a state that begins with W, H.
    iterations : how many it runs, unless told: the paper's number where it has one.
    about : what it does, in a sentence or two.
    reads : the parts of the state that an iteration depends on.
    remember : what the state holds beside W and H at the start.
    objective : the name of what it minimises.
    native : whether the native engine has it, too.
    """

    name: str
    step: Step
    iterations: int
    about: str
    reads: Sequence[int] = (0, 1)
    remember: Callable[[Array, Array, Array], State] = lambda _A, _W, _H: ()
    objective: str = FROBENIUS.name
    native: bool = True

    def __post_init__(self) -> None:
        for attribute, value in {
            "__name__": self.name,
            "__qualname__": self.name,
            "__module__": f"{__package__}.{self.name}",
            "__doc__": f"{self.about}\n\n{self._parameters()}",
        }.items():
            object.__setattr__(self, attribute, value)

    def _parameters(self) -> str:
        """Return what is said of the parameters of a call, with its own number of iterations."""
        text = inspect.getdoc(Algorithm.__call__) or ""
        return text.replace("the algorithm's own number if None", f"{self.iterations:,} if None")

    def __repr__(self) -> str:
        return f"<reference algorithm {self.name}>"

    def __reduce__(self) -> str:
        return self.name

    def __call__(
        self,
        A: npt.ArrayLike,
        W0: npt.ArrayLike,
        H0: npt.ArrayLike,
        iterations: int | None = None,
        *,
        close_orbits: bool = True,
        progress: Progress | None = None,
        engine: str = "auto",
        threads: int | None = None,
    ) -> Factorization:
        """Factorize A, or a stack of them; H is updated first, then W.

        See `Factorization` for what is returned.

        Parameters
        ----------
        A, W0, H0 : shapes (..., m, n), (..., m, k), (..., k, n); leading dimensions broadcast.
        iterations : how many; the algorithm's own number if None.
        close_orbits : end a problem early where its final state is known; the result is the same.
        progress : called now and then with the number of iterations × problems newly settled.
        engine : ``native``, ``numpy``, or ``auto``: native where it was built.
        threads : of the native engine; as many as there are cores if None. NumPy has one.
        """
        return factorize(
            self,
            A,
            W0,
            H0,
            self.iterations if iterations is None else iterations,
            close_orbits=close_orbits,
            progress=progress,
            engine=engine,
            threads=threads,
        )


def factorize(
    algorithm: Algorithm,
    A: npt.ArrayLike,
    W0: npt.ArrayLike,
    H0: npt.ArrayLike,
    iterations: int,
    *,
    close_orbits: bool,
    progress: Progress | None,
    engine: str,
    threads: int | None,
) -> Factorization:
    """Run an algorithm on stacks of problems with any leading dimensions."""
    iterations = whole_number("iterations", iterations, 0)
    if not (progress is None or callable(progress)):
        raise InputError(f"progress must be a function of a number, not {progress!r:.60}")
    if threads is not None:
        threads = whole_number("threads", threads, 1)
    where = chosen(engine) if algorithm.native else "numpy"
    if engine == "native" and not algorithm.native:
        raise InputError(f"the native engine does not have {algorithm.name}; expected 'numpy'")
    problems_A, problems_W, problems_H = _checked(A, W0, H0)
    leading = problems_A.shape[:-2]
    stacks = (X.reshape(-1, *X.shape[-2:]) for X in (problems_A, problems_W, problems_H))
    stack_A, stack_W, stack_H = stacks
    report = progress or (lambda _: None)
    if where == "native" and not fits(iterations, stack_A, stack_W, stack_H):
        if engine == "native":
            raise InputError(
                f"matrices of {LARGEST_MATRIX} entries and 2⁶² iterations × problems are the most "
                "that the native engine takes; expected fewer, or engine 'numpy'"
            )
        where = "numpy"
    if where == "native" and iterations > 0:
        W, H, ran = run_native(
            algorithm.name,
            stack_A,
            stack_W,
            stack_H,
            iterations,
            close_orbits=bool(close_orbits),
            threads=threads,
            progress=report,
        )
    else:
        W, H, ran = _run_numpy(
            algorithm, stack_A, stack_W, stack_H, iterations, close_orbits, report
        )
    return Factorization(
        W.reshape(*leading, *W.shape[-2:]),
        H.reshape(*leading, *H.shape[-2:]),
        ran.reshape(leading)[()],
    )


def _run_numpy(
    algorithm: Algorithm,
    A: Array,
    W0: Array,
    H0: Array,
    iterations: int,
    close_orbits: bool,
    progress: Progress,
) -> tuple[Array, Array, Ints]:
    W, H = np.empty(W0.shape), np.empty(H0.shape)
    ran: Ints = np.empty(len(A), dtype=np.int64)
    length = max(1, LANE_ENTRIES // max(X.shape[1] * X.shape[2] for X in (A, W0, H0)))
    for start in range(0, len(A), length):
        chunk = slice(start, start + length)
        lanes_A, lanes_W, lanes_H = (to_lanes(stack[chunk]) for stack in (A, W0, H0))
        # A run may diverge, and is judged all the same: no warnings on the way.
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            state, ran[chunk] = iterate(
                algorithm.step,
                lanes_A,
                (lanes_W, lanes_H, *algorithm.remember(lanes_A, lanes_W, lanes_H)),
                iterations,
                reads=algorithm.reads,
                close_orbits=close_orbits,
                progress=progress,
            )
        W[chunk], H[chunk] = from_lanes(state[0]), from_lanes(state[1])
    return W, H, ran


def _checked(A: Any, W0: Any, H0: Any) -> tuple[Array, Array, Array]:
    named = {"A": real_array("A", A), "W0": real_array("W0", W0), "H0": real_array("H0", H0)}
    for name, X in named.items():
        if X.ndim < 2 or 0 in X.shape[-2:]:
            hint = "the rank must be at least 1" if X.ndim > 1 and name != "A" else ""
            expected = hint or "expected at least one row and one column"
            raise InputError(f"{name} has shape {X.shape}; {expected}")
        if (X < 0).any():
            raise InputError(f"{name} has a negative entry, {X[X < 0][0]:g}; expected none")
    (m, n), (mw, k), (kh, nh) = (X.shape[-2:] for X in named.values())
    if (m, n, k) != (mw, nh, kh):
        raise InputError(
            f"W0 and H0 of shapes {(mw, k)} and {(kh, nh)} do not make a matrix of A's shape "
            f"{(m, n)}; expected ({m}, k) and (k, {n})"
        )
    try:
        leading = np.broadcast_shapes(*(X.shape[:-2] for X in named.values()))
    except ValueError:
        shapes = ", ".join(str(X.shape[:-2]) for X in named.values())
        raise InputError(
            f"the leading dimensions {shapes} of A, W0 and H0 do not fit together"
        ) from None
    A, W0, H0 = (np.broadcast_to(X, leading + X.shape[-2:]) for X in named.values())
    return A, W0, H0
