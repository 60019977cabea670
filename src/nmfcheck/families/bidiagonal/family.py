"""The bidiagonal family: which cells and asks there are, and how they are called."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...arrays import Array, frozen, real_number, whole_number
from ...errors import InputError
from ...judging.judgement import Judgement, permutation_of
from ...judging.objectives import KL
from ...judging.outcomes import Outcome
from ...judging.tolerances import TOLERANCE
from ...text import decimal
from ..family import Drawn, Family, Nearest, Option
from ..trial import Ask, Case, Cell, Question, Trial, check_size
from .cases import KINDS_OF_ENTRIES, LOGUNIFORM, NAME, ONES, BidiagonalCase, case_from_id, case_of
from .given import OPTIONS, case_given
from .judge import BidiagonalJudgement, judged
from .nearest import nearest_exact
from .slopes import EPS, SEEDS, N
from .tolerances import FORM

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ...presenting.section import Material, Section
    from ...trials.stage import Stage

SMALL = 0.01
"""Up to here an ε belongs to the paper's test, in which ε is small; above, exactness is asked."""

LARGEST_SIZE = 200
"""The largest size that the command line takes."""

SIZES = {
    "quick": (2, 3, 4, 5),
    "standard": (2, 3, 4, 5, 6, 7, 8),
    "full": (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20),
}
TRIALS = {"quick": 100, "standard": 100, "full": 60}
MORE_TRIALS = {"quick": (4, 130)}
"""Trials of each cell from a version on, so that an algorithm at what is required everywhere passes
in 95 % of runs although some of the levels is spent early (docs/verdict.md)."""

SLOPES = "slopes"
"""The cell whose trials measure the slopes of the parameters in ε."""


def ask_of(eps: float) -> Ask:
    """Return what is asked at an ε.

    The paper's test is exact at ε = 0, first-order or better at a small ε; above that, a stationary
    point of the right form is exact (Theorem 2).
    """
    name, called = f"eps={decimal(eps)}", f"ε = {decimal(eps)}"
    if eps == 0:
        return Ask(name, "exact", called=called)
    if eps <= SMALL:
        return Ask(name, "first-order", called=called)
    return Ask(name, "exact", Question.EXACTNESS, called=called)


def eps_of(ask: Ask | str) -> float:
    """Return the ε of an ask."""
    return _eps_named(ask if isinstance(ask, str) else ask.name)


@lru_cache
def _eps_named(name: str) -> float:
    return float(name.removeprefix(f"{SLOPES}:").removeprefix("eps="))


LADDER = (ask_of(0.0), ask_of(1e-3), ask_of(0.25))
"""The paper's test, and exactness."""

SLOPE_ASKS = tuple(
    Ask(f"{SLOPES}:eps={decimal(eps)}", "exact", Question.NONE, keeps=True) for eps in (0.0, *EPS)
)


@lru_cache(maxsize=4096)
def starting_point(n: int, seed: int) -> tuple[Array, Array]:
    """Return W0 and then H0, uniform in (0, 1), from PCG64 seeded with [n, seed]; read-only."""
    rng = np.random.Generator(np.random.PCG64([n, seed]))
    return frozen(rng.random((n, n))), frozen(rng.random((n, n)))


def cell_of(n: int, kind: str) -> Cell:
    """Return the cell of a size and a kind of entries."""
    n = whole_number("n", n, 1)
    check_size(n, n)
    if kind not in KINDS_OF_ENTRIES:
        raise InputError(f"no entries {kind!r}; there are {', '.join(KINDS_OF_ENTRIES)}")
    return Cell(NAME, f"n={n}/{kind}", n, n, n, (str(n), kind), one_case=kind == ONES)


def kind_of(cell: Cell) -> str:
    """Return a cell's kind of entries, ``ones`` or ``loguniform``."""
    return cell.matrices.rpartition("/")[2]


@lru_cache(maxsize=4096)
def _case_named(n: int, matrices: str, draw: int | None, ask: str) -> BidiagonalCase:
    """Return the case of an ask, all of it by name: what is looked up for every stage."""
    kind = ONES if matrices == SLOPES else matrices.rpartition("/")[2]
    return case_of(n, kind if draw is None else f"{kind}#{draw}", eps_of(ask))


def trial_of(n: int, entries: str, seed: int, asks: tuple[Ask, ...] = LADDER) -> Trial:
    """Return the trial with entries ``ones`` or ``loguniform#7`` (draw 7), and a seed."""
    match = re.fullmatch(rf"{ONES}|({LOGUNIFORM})#(0|[1-9]\d{{0,17}})", str(entries))
    if match is None:
        raise InputError(f"no entries {entries!r}; expected 'ones' or 'loguniform#7'")
    cell = cell_of(n, match[1] or ONES)
    return Trial(cell, int(match[2]) if match[2] else None, seed, asks)


class Bidiagonal(Family):
    """The paper's family: square matrices of full rank with two diagonals."""

    name = NAME
    summary = "the paper's matrices: square, full rank, a diagonal and a small superdiagonal"
    headings = ("n", "entries")
    example = "bidiagonal/n=3/loguniform#7/seed=7"
    asks = LADDER
    judgement = BidiagonalJudgement
    nearest_called = "nearest exact"
    counted_labels: ClassVar[tuple[str, ...]] = ("word",)
    # A run of ALS that has not come to rest by then goes round and round: ten times as many, the
    # paper's number, take ten times as long and hardly change an outcome (docs/verdict.md).
    baseline_iterations: ClassVar[Mapping[str, int]] = {"als": 10**5}
    options: ClassVar[tuple[Option, ...]] = (
        Option("sizes", "The sizes n of the bidiagonal family, such as 2-5,8.", "SIZES"),
        Option(
            "entries",
            "The kinds of entries of the bidiagonal family: ones, loguniform, or both.",
            "KINDS",
        ),
        Option(
            "eps",
            "The values of ε of the bidiagonal family. Up to 0.01 they belong to the paper's test, "
            "which needs 0 and one more; above, exactness is asked for.",
            "ε,ε,…",
            of_asks=True,
        ),
        Option(
            "slopes",
            "Also measure the slopes of its parameters in ε, the paper's Figure 1: 1000 runs.",
        ),
    )
    case_options = OPTIONS
    starts_at_answer = (  # with zeros, and with small entries
        Drawn("n=3/loguniform", 0, ("eps=0", "eps=1e-3", "eps=1e-6")),
        Drawn("n=4/loguniform", 1, ("eps=0", "eps=0.25")),
    )
    smoke_trials = tuple(
        f"{NAME}/{trial}"
        for trial in ("n=3/ones/seed=0", "n=3/ones/seed=1", "n=2/loguniform#0/seed=0")
    )

    def under(self, objective: str) -> Family | None:
        """Return the family for the Kullback–Leibler divergence, or itself."""
        if objective != KL.name:
            return super().under(objective)
        from .kl import UNDER_KL  # which is made from this

        return UNDER_KL

    @property
    def baseline(self) -> Traversable | None:
        """What the references did."""
        from importlib import resources  # late: it takes long to import

        return resources.files(__package__) / "baseline.json"

    def baseline_trials(self, cell: Cell) -> int:
        """Return 1000 for the sizes of the standard suite, 200 for larger ones."""
        return 1000 if cell.n in SIZES["standard"] else 200

    def cells(self, suite: str) -> Mapping[Cell, int]:
        """Return each size with both kinds of entries."""
        trials = TRIALS[suite]
        return {cell_of(n, kind): trials for n in SIZES[suite] for kind in KINDS_OF_ENTRIES}

    def trials_of(self, suite: str, version: int) -> int | None:
        """Return more than before from some version on."""
        since, trials = MORE_TRIALS.get(suite, (math.inf, None))
        return trials if version >= since else None

    def cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``n=3/loguniform``."""
        if name == SLOPES:
            return Cell(NAME, SLOPES, N, N, N, (str(N), SLOPES), one_case=True)
        match = re.fullmatch(rf"n=([1-9]\d{{0,3}})/({'|'.join(KINDS_OF_ENTRIES)})", name)
        if match is None:
            raise InputError(f"no cell {name!r} of {NAME}; expected one such as 'n=3/loguniform'")
        return cell_of(int(match[1]), match[2])

    def ask(self, name: str) -> Ask:
        """Return the ask of any ε."""
        known = next((ask for ask in (*self.asks, *SLOPE_ASKS) if ask.name == name), None)
        if known is not None:
            return known
        try:
            return ask_of(eps_of(name))
        except ValueError:
            raise InputError(
                f"no ask {name!r} of {NAME}; expected one such as 'eps=1e-3'"
            ) from None

    def asks_of(self, cell: Cell) -> tuple[Ask, ...]:
        """Return the ladder of ε, or that of the slopes."""
        return SLOPE_ASKS if cell.matrices == SLOPES else self.asks

    def case(self, trial: Trial, ask: Ask) -> BidiagonalCase:
        """Return the matrix of a draw at an ε."""
        cell = trial.cell
        return _case_named(cell.n, cell.matrices, trial.draw, ask.name)

    def case_from_id(self, id: str) -> Case:
        """Return the case that has this id; those of other entries than a suite's, too."""
        return case_from_id(id)

    def case_given(self, given: Mapping[str, str]) -> Case:
        """Return the case of a diagonal, a superdiagonal and its size."""
        return case_given(given)

    def start(self, trial: Trial) -> tuple[Array, Array]:
        """Return W0 and H0 from the size and the seed."""
        return starting_point(trial.cell.n, trial.seed)

    def unit(self, case: Case) -> float:
        """Return the largest entry of the diagonal."""
        assert isinstance(case, BidiagonalCase)
        return float(case.a0.max())

    def judge(self, cases: Sequence[BidiagonalCase], W: Array, H: Array) -> list[Judgement]:
        """Judge against the complete solution set."""
        return judged(cases, W, H)

    def finished(self, stages: Sequence[Stage]) -> Sequence[Stage]:
        """Say of each stage whether its permutation is another one than at ε = 0.

        Where W, H have the form under the P of ε = 0, M shows that P and no other (robust form of
        Theorem 1): it fits if and only if it is the permutation that the run itself shows.
        """
        for first in stages:
            if _eps_named(first.ask.name) == 0:
                break
        else:
            return stages
        before = first.labels.get("permutation")
        for stage in stages if before else ():
            if stage is not first and (now := stage.labels.get("permutation")):
                stage.measures["permutation_changed"] = float(now != before)
        return stages

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, what it means and what bounds it."""
        if judgement.outcome is Outcome.INVALID:
            return
        yield from described(case, BidiagonalJudgement.of(judgement))

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest:
        """Return the nearest point of the solution set."""
        return nearest_exact(case, W, H).as_answer()

    def exact_answer(self, case: Any) -> tuple[Array, Array]:
        """Return the diagonal `√a0` as W, and `W⁻¹·A` as H."""
        root = np.sqrt(case.a0)
        return np.diag(root), case.A / root[:, None]

    def single_products(self, stage: Stage) -> tuple[Array, Array, Array] | None:
        """Return w0, h0 and what is left of a0, at ε = 0, where each row has its component."""
        of = permutation_of(stage.labels)
        if stage.W is None or stage.H is None or of is None or eps_of(stage.ask) != 0:
            return None
        rows = np.arange(len(of))
        w, h = stage.W[rows, list(of)], stage.H[list(of), rows]
        case = stage.case
        assert isinstance(case, BidiagonalCase)
        return w, h, case.a0 - (stage.W @ stage.H)[rows, rows]

    def select(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], chosen: Mapping[str, Any]
    ) -> tuple[Mapping[Cell, int], tuple[Ask, ...]]:
        """Return other sizes, kinds of entries or values of ε."""
        sizes, kinds, eps = (chosen.get(option) for option in ("sizes", "entries", "eps"))
        if eps is not None:
            asks = _asks(eps)
        if sizes is not None or kinds is not None:
            trials = next(iter(cells.values()), 1)
            listed = (
                list(dict.fromkeys(cell.n for cell in cells)) if sizes is None else _sizes(sizes)
            )
            named = list(dict.fromkeys(map(kind_of, cells))) if kinds is None else _kinds(kinds)
            cells = {cell_of(n, kind): trials for n in listed for kind in named}
        return cells, asks

    def extra(self, chosen: Mapping[str, Any]) -> Mapping[Cell, int]:
        """Return the runs for slopes, if they are asked for."""
        return {self.cell(SLOPES): SEEDS} if chosen.get(SLOPES) else {}

    def selection(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], extra: Sequence[Cell] = ()
    ) -> Mapping[str, str]:
        """Return sizes, kinds of entries, ε and slopes as options."""
        slopes = {SLOPES: ""} if extra else {}
        return {
            "sizes": ",".join(dict.fromkeys(str(cell.n) for cell in cells)),
            "entries": ",".join(dict.fromkeys(map(kind_of, cells))),
            "eps": ",".join(decimal(eps_of(ask)) for ask in asks),
        } | slopes

    def sections(self, material: Material) -> Sequence[Section]:
        """Return the words of n = 3, and the slopes."""
        from .sections import sections  # late: figures take long to import

        return sections(material)


def described(case: BidiagonalCase, judgement: BidiagonalJudgement) -> Iterator[tuple[str, str]]:
    """Say what was measured of a run on a bidiagonal matrix."""
    first_order = float(FORM.first_order(case.a0[None], case.e[None])[0])
    bounds = f"exact up to {TOLERANCE.exact:g}" + (
        f", first-order up to {first_order:.2g}" if first_order > 0 else ""
    )
    yield "product defect", f"{judgement.product_defect:.3g}  (max|A − WH| / max a0; {bounds})"
    if judgement.permutation is None:
        yield "form defect", "none: no permutation gives W and H the form"
    else:
        yield (
            "form defect",
            f"{judgement.form_defect:.3g}  (largest balanced entry off the pattern)",
        )
    yield "KKT residual", f"{judgement.kkt_residual:.3g}  (0 at a stationary point)"
    if judgement.permutation is not None:
        listed = ", ".join(f"{i + 1}: {k + 1}" for i, k in enumerate(judgement.permutation))
        yield "permutation", f"{listed}  (row: component)"
    if judgement.word:
        kind = f", the paper's Type {judgement.type}" if judgement.type else ""
        larger = " by the larger shares" if judgement.type and "b" in judgement.word else ""
        letters = "where each superdiagonal entry comes from: h H, w W, b both, - neither"
        yield "word", f"{judgement.word}{kind}{larger}  ({letters})"


def _sizes(given: Any) -> list[int]:
    """Return the sizes of ``2-5,8``, or of a list."""
    if not isinstance(given, str):
        return sorted({whole_number("a size", n, 1) for n in given})
    sizes: set[int] = set()
    for part in given.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= LARGEST_SIZE:
            expected = f"sizes from 1 to {LARGEST_SIZE} such as 2-5,8"
            raise InputError(f"--sizes is {given!r}; expected {expected}")
        sizes.update(range(first, last + 1))
    return sorted(sizes)


def _kinds(given: Any) -> list[str]:
    named = [kind.strip() for kind in given.split(",")] if isinstance(given, str) else list(given)
    for kind in named:
        if kind not in KINDS_OF_ENTRIES:
            raise InputError(f"no entries {kind!r}; there are {', '.join(KINDS_OF_ENTRIES)}")
    return [kind for kind in KINDS_OF_ENTRIES if kind in named]


def _asks(given: Any) -> tuple[Ask, ...]:
    """Return the asks of ``0,1e-3``, or of a list of numbers."""
    values = parse_eps(given) if isinstance(given, str) else [real_number("ε", x) for x in given]
    ladder = sorted(set(values))
    if not ladder or ladder[0] < 0:
        value = decimal(ladder[0]) if ladder else "missing"
        raise InputError(f"ε is {value}; it must be at least 0")
    return tuple(map(ask_of, ladder))


def parse_eps(text: str) -> list[float]:
    """Return numbers between commas."""
    try:
        numbers = [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        raise InputError(f"--eps is {text!r}; expected numbers between commas") from None
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError(f"--eps is {text!r}; expected finite numbers between commas")
    return numbers


FAMILY = Bidiagonal()
