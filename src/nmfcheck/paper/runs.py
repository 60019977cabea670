"""Runs, kept in a folder: what is there is not made again, however the last run ended.

A file for each batch, which appears whole or not at all. It says what it holds and which engine and
version made it; one that says something else is made again.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..arrays import Array, Bools
from ..families.bidiagonal.cases import BidiagonalCase
from ..families.bidiagonal.form import align, portions
from ..families.bidiagonal.judge import CaseStack, Judgements, judge_batch
from ..judging.tolerances import TOLERANCE
from ..reference.engine import chosen, cores, instructions
from ..report.files import replace_file
from ..subjects.references import REFERENCES
from .plan import ALS, CD, GD, MU, NENMF, Batch

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Runs:
    """What came of a batch.

    Attributes
    ----------
    W, H : the factors, a run each.
    """

    batch: Batch
    W: Array
    H: Array

    def __len__(self) -> int:
        return len(self.W)

    @cached_property
    def cases(self) -> list[BidiagonalCase]:
        """The case of each run."""
        return self.batch.cases()

    @cached_property
    def judged(self) -> Judgements:
        """What each run is worth."""
        return judge_batch(self.cases, self.W, self.H)

    @property
    def matched(self) -> Bools:
        """Whether M shows a permutation."""
        matched: Bools = self.judged.permutation[:, 0] >= 0
        return matched

    @cached_property
    def aligned(self) -> tuple[Array, Array]:
        """W and H, their components in the order of the rows; as they are where M shows none."""
        permutation = self.judged.permutation.copy()
        permutation[~self.matched] = np.arange(self.batch.n)
        return align(self.W, self.H, permutation)

    @cached_property
    def portions(self) -> tuple[Array, Array]:
        """The part of each superdiagonal entry that comes from W, and from H."""
        return portions(*self.aligned, CaseStack.of(self.cases).e)

    @property
    def negligible(self) -> Array:
        """What the paper neglects, O(ε²): `2·max(e)²/(min a0 · max a0)`, for any ε."""
        stack = CaseStack.of(self.cases)
        top = stack.e.max(axis=1)
        negligible: Array = 2 * top / stack.a0.min(axis=1) * (top / stack.a0.max(axis=1))
        return negligible

    @property
    def formed(self) -> Bools:
        """Whether form and product are right but for what the paper neglects; at ε = 0, exact."""
        return self.within(self.negligible if self.batch.eps else TOLERANCE.exact)

    @property
    def exact(self) -> Bools:
        """Whether form and product are right to 1e-10."""
        return self.within(TOLERANCE.exact)

    def within(self, tolerance: Array | float) -> Bools:
        """Say of each run whether form and product are right to within a tolerance."""
        within: Bools = (self.judged.form_defect <= tolerance) & (
            self.judged.product_defect <= tolerance
        )
        return within


class Folder:
    """A folder of runs."""

    def __init__(self, path: Path, *, engine: str = "auto", threads: int | None = None) -> None:
        self.path = path
        self.engine = chosen(engine)
        self.threads = threads

    @property
    def made_by(self) -> dict[str, str]:
        """What the bits of a run depend on."""
        return made_by(self.engine)

    def complete(
        self,
        batches: Iterable[Batch],
        progress: Progress,
        cluster: Client | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Make all runs that are not there.

        Parameters
        ----------
        cluster : where they are made; None for this machine.
        tell : called with a line for the user.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        left = []
        for batch in batches:
            if self._there(batch):
                progress(cost(batch))
            else:
                left.append(batch)
        left.sort(key=cost, reverse=True)  # the longest first, so that none is left to the end
        if cluster is None:
            self._make_here(left, progress)
            return
        from .elsewhere import made_elsewhere  # late: few need it

        for runs in made_elsewhere(cluster, left, self.engine, self.made_by, tell):
            self._write(runs)
            progress(cost(runs.batch))

    def _make_here(self, batches: Iterable[Batch], progress: Progress) -> None:
        stopped, lock = Event(), Lock()

        def report(done: float) -> None:
            if stopped.is_set():
                raise CancelledError
            with lock:
                progress(done)

        # A core for each batch: within a batch, all would wait for its slowest run.
        with ThreadPoolExecutor(self.threads or cores()) as pool:
            making = [pool.submit(self._make, batch, report) for batch in batches]
            try:
                for each in as_completed(making):
                    each.result()
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _make(self, batch: Batch, progress: Progress) -> None:
        self._write(run_batch(batch, self.engine, progress))

    def runs(self, batch: Batch) -> Runs:
        """Return the runs of a batch, which must be there."""
        with np.load(self._file(batch)) as file:
            return Runs(batch, file["W"], file["H"])

    def _file(self, batch: Batch) -> Path:
        return self.path / f"{batch.name}.npz"

    def _about(self, batch: Batch) -> str:
        A, W0, H0 = _problems(batch)
        problems = hashlib.sha256(A.tobytes() + W0.tobytes() + H0.tobytes()).hexdigest()
        solver = _solver(self.engine)
        about = {**asdict(batch), **self.made_by, "problems": problems, "solver": solver}
        return json.dumps(about, sort_keys=True)

    def _there(self, batch: Batch) -> bool:
        try:
            # Opened here: np.load leaves a damaged file open.
            with self._file(batch).open("rb") as opened, np.load(opened) as file:
                shapes = {file["W"].shape, file["H"].shape}  # read whole: neither is damaged
                whole = shapes == {(batch.seeds, batch.n, batch.n)}
                return whole and str(file["about"]) == self._about(batch)
        except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile):
            return False

    def _write(self, runs: Runs) -> None:
        out = io.BytesIO()
        np.savez_compressed(out, W=runs.W, H=runs.H, about=np.array(self._about(runs.batch)))
        replace_file(self._file(runs.batch), out.getvalue())


def made_by(engine: str) -> dict[str, str]:
    """Return what the bits of a run depend on, here."""
    detail = instructions() if engine == "native" else np.__version__
    return {"nmfcheck": __version__, "engine": engine, "detail": detail}


def run_batch(batch: Batch, engine: str, progress: Progress) -> Runs:
    """Make the runs of a batch, on one core."""
    algorithm = REFERENCES[batch.algorithm].algorithm
    A, W0, H0 = _problems(batch)
    each = cost(batch) / max(batch.seeds * batch.iterations, 1)
    factors = algorithm(
        A,
        W0,
        H0,
        batch.iterations,
        progress=lambda settled: progress(settled * each),
        engine=engine,
        threads=1,
    )
    return Runs(batch, factors.W, factors.H)


def _problems(batch: Batch) -> tuple[Array, Array, Array]:
    """Return A, W0 and H0 of all runs."""
    return np.stack([case.A for case in batch.cases()]), *batch.starts()


@cache
def _solver(engine: str) -> str:
    """Return a digest of the code that makes the runs."""
    module = import_module("nmfcheck._native" if engine == "native" else "nmfcheck.reference")
    file = Path(str(module.__file__))
    sources = [file] if engine == "native" else sorted(file.parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


RATES = {MU: (0.4, 0.07), ALS: (1.7, 1.7), GD: (0.95, 0.3), CD: (0.3, 0.1), NENMF: (140.0, 140.0)}
"""Nanoseconds of an iteration, over n³ + 10, and at ε = 0, where many runs close their orbit."""

SMALL = 3
ALS_CLOSES = 0.6
"""ALS closes most orbits up to this size, and so takes such a part of that."""


def cost(batch: Batch) -> float:
    """Return about how many seconds of one core a batch takes: for progress, no more."""
    beyond_zero, at_zero = RATES[batch.algorithm]
    rate = beyond_zero if batch.eps else at_zero
    if batch.algorithm == ALS and batch.n <= SMALL:
        rate *= ALS_CLOSES
    return 1e-9 * rate * batch.seeds * batch.iterations * (batch.n**3 + 10)
