"""Records: a stage as it is stored and counted, one flat row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from .arrays import Array
from .outcomes import Flag, Outcome, reaches
from .trials import Rung, Trial, TrialResult, rung_of


@dataclass(frozen=True)
class Record:
    """One stage of one trial.

    Attributes
    ----------
    case, seed : what was asked; with the subject they identify the record.
    n, entries, eps : the parts of the case.
    outcome, message : what became of it, and why.
    form_defect, product_defect, kkt_residual : as in `Judgement`; NaN where nothing was judged.
    word, permutation : as in `Judgement`, the permutation as ``2,0,1``; "" where there is none.
    permutation_changed : whether P is another one than at ε = 0; None where not known.
    seconds : how long the subject took; NaN where that is not known.
    flags, output, digest, W, H : as in `Stage`.
    """

    case: str
    n: int
    entries: str
    seed: int
    eps: float
    outcome: Outcome
    message: str
    form_defect: float = math.nan
    product_defect: float = math.nan
    kkt_residual: float = math.nan
    word: str = ""
    permutation: str = ""
    permutation_changed: bool | None = None
    seconds: float = field(default=math.nan, compare=False)
    flags: tuple[Flag, ...] = ()
    output: str = ""
    digest: str = ""
    W: Array | None = field(default=None, compare=False, repr=False)
    H: Array | None = field(default=None, compare=False, repr=False)

    @property
    def rung(self) -> Rung:
        """The rung of the ladder that it belongs to."""
        return rung_of(self.eps)

    @property
    def trial(self) -> Trial:
        """The trial that it belongs to."""
        return Trial(self.n, self.entries, self.seed)

    @property
    def passed(self) -> bool:
        """Whether the grade that the rung needs was reached."""
        return reaches(self.outcome.grade, self.rung.needs)


def records_of(result: TrialResult) -> Iterator[Record]:
    """Return the records of a trial."""
    for stage in result.stages:
        judged, trial = stage.judgement, result.trial
        measured = {} if judged is None else {
            "form_defect": judged.form_defect,
            "product_defect": judged.product_defect,
            "kkt_residual": judged.kkt_residual,
            "word": judged.word or "",
            "permutation": ",".join(map(str, judged.permutation or ())),
        }  # fmt: skip
        yield Record(
            case=stage.case.id,
            n=trial.n,
            entries=trial.entries,
            seed=trial.seed,
            eps=stage.rung.eps,
            outcome=stage.outcome,
            message=stage.message,
            permutation_changed=stage.permutation_changed,
            seconds=stage.seconds,
            flags=stage.flags,
            output=stage.output,
            digest=stage.digest,
            W=stage.W,
            H=stage.H,
            **measured,  # type: ignore[arg-type]
        )


def not_run(trial: Trial, why: str) -> list[Record]:
    """Return the records of a trial that was not run."""
    return [
        Record(
            trial.case(rung.eps).id, trial.n, trial.entries, trial.seed, rung.eps,
            Outcome.NOT_RUN, why,
        )
        for rung in trial.ladder
    ]  # fmt: skip


def by_trial(records: Iterable[Record]) -> Iterator[tuple[Trial, Sequence[Record]]]:
    """Group records, which must lie trial by trial."""
    for key, members in groupby(
        records, key=lambda record: (record.n, record.entries, record.seed)
    ):
        yield Trial(*key), list(members)
