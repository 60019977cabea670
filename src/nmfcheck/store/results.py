"""What a store has of one subject, as the verdict, the diagnosis and the report ask for it.

All questions are answered from columns, in SQL: 100,000 stages take a moment, where as many `Stage`
values would take a minute.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import fields
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..families import Ask, Cell, find
from ..judging.outcomes import Outcome
from ..laws import LawResult
from ..trials.stage import Stage
from ..trials.suites import Suite
from .file import in_words
from .rows import COLUMNS, stage_of

NOTHING = "TRUE"


class Row(NamedTuple):
    """A stage, as far as its place and its outcome go."""

    id: int
    cell: str
    """With its family: ``bidiagonal/n=3/ones``."""
    draw: int | None
    seed: int
    ask: str
    outcome: str


class Results:
    """The stages of one subject in a store."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, suite: Suite, subject: int
    ) -> None:
        self._path = path
        self._connection = connection
        self._subject = subject
        self._suite = suite

    def rows(self, where: str = NOTHING, *values: Any) -> list[Row]:
        """Return stages, trial by trial, in the order of the suite's cells and asks."""
        selected = self._select(
            "rowid, family || '/' || cell, draw, seed, ask, outcome", where, *values
        )
        order = {cell.id: place for place, cell in enumerate(self._cells)}
        asks = {
            (part.family, ask.name): place
            for part in self._suite.parts
            for place, ask in enumerate(part.asks)
        }
        last = len(order)
        rows = list(map(Row._make, selected))
        self._check({row.outcome for row in rows})
        rows.sort(
            key=lambda row: (
                order.get(row.cell, last),
                row.cell,
                row.seed,
                asks.get((row.cell.partition("/")[0], row.ask), last),
                row.ask,
            )
        )
        return rows

    def outcomes(self) -> list[tuple[str, int, str, str]]:
        """Return cell, seed, ask and outcome of each stage, in any order: the quickest look."""
        rows = self._select("family || '/' || cell, seed, ask, outcome", NOTHING)
        self._check({outcome for _, _, _, outcome in rows})
        return rows

    def _check(self, outcomes: Set[str]) -> None:
        """Say so if there is an outcome that nobody knows."""
        if strange := outcomes - set(Outcome):
            raise InputError(f"{str(self._path)!r} is damaged: no outcome {min(strange)!r}")

    def of_the_suite(self) -> list[Row]:
        """Return the stages of the suite's cells, without what was only measured besides."""
        ids = {cell.id for cell in self._suite.cells}
        return [row for row in self.rows() if row.cell in ids]

    def done(self, cell: Cell) -> dict[int, list[Outcome]]:
        """Return the outcomes of the trials of a cell that are there, by their seeds."""
        rows = self._select(
            "seed, outcome", "family = ? AND cell = ? ORDER BY seed, rowid", cell.family, cell.name
        )
        outcomes: dict[int, list[Outcome]] = {}
        for seed, outcome in rows:
            outcomes.setdefault(seed, []).append(Outcome(outcome))
        return outcomes

    def numbers(self, measure: str) -> list[tuple[str, str, float]]:
        """Return cell, ask and a measure of each stage that has it."""
        return self._connection_rows(
            "SELECT family || '/' || cell, ask, json_extract(measures, ?) AS x FROM stages "
            "WHERE subject = ? AND x IS NOT NULL",
            (f"$.{measure}", self._subject),
        )

    def defects(
        self,
        family: str,
        asks: Collection[Ask],
        outcomes: Collection[Outcome],
        *,
        formed: bool = True,
    ) -> list[tuple[str, float]]:
        """Return cell and product defect of the stages of some asks and outcomes.

        Parameters
        ----------
        formed : only of stages none of whose measures is infinite: they have the right form.
        """
        named = ", ".join("?" * len(asks))
        among = ", ".join("?" * len(outcomes))
        form = "AND measures NOT LIKE '%9e999%'" if formed else ""
        return self._select(
            "family || '/' || cell, json_extract(measures, '$.product_defect') AS x",
            f"family = ? AND ask IN ({named}) AND outcome IN ({among}) AND x IS NOT NULL {form}",
            family,
            *(ask.name for ask in asks),
            *map(str, outcomes),
        )

    def largest_defects(self) -> list[tuple[str, str, int, float]]:
        """Return cell, ask, seed and the largest of all defects of each stage that has one.

        A form defect that is infinite, where there is no form, does not count.
        """
        return self._connection_rows(
            "SELECT family || '/' || cell, ask, seed, max(value) FROM stages, json_each(measures) "
            "WHERE subject = ? AND key LIKE '%\\_defect' ESCAPE '\\' AND value < 9e999 "
            "GROUP BY stages.rowid",
            (self._subject,),
        )

    def graded_defects(
        self, family: str, names: Sequence[str]
    ) -> list[tuple[str, str, int, float]]:
        """Return cell, ask, seed and the largest of some measures of each stage of a family.

        Parameters
        ----------
        names : of the measures; all that end in ``_defect`` if there are none.
        """
        among = f"IN ({', '.join('?' * len(names))})" if names else "LIKE '%\\_defect' ESCAPE '\\'"
        return self._connection_rows(
            "SELECT family || '/' || cell, ask, seed, max(value) FROM stages, json_each(measures) "
            f"WHERE subject = ? AND family = ? AND key {among} GROUP BY stages.rowid",
            (self._subject, family, *names),
        )

    def texts(self, label: str) -> dict[tuple[str, str], dict[str, int]]:
        """Return how often each text of a label occurred, for each cell and ask."""
        rows = self._connection_rows(
            "SELECT family || '/' || cell, ask, json_extract(labels, ?) AS x, count(*) FROM stages "
            "WHERE subject = ? AND x IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (f"$.{label}", self._subject),
        )
        counts: dict[tuple[str, str], dict[str, int]] = {}
        for cell, ask, text, number in rows:
            counts.setdefault((cell, ask), {})[text] = number
        return counts

    def digests(self) -> list[tuple[str, str, str]]:
        """Return the different digests of each cell and ask."""
        columns = "DISTINCT family || '/' || cell, ask, digest"
        return self._select(columns, "digest != ''")

    def digests_by_seed(self) -> list[tuple[str, str, int, str]]:
        """Return the digest of each stage that has one."""
        return self._select("family || '/' || cell, ask, seed, digest", "digest != ''")

    def flagged(self) -> list[tuple[Row, tuple[str, ...]]]:
        """Return the stages that are flagged or invalid, with their flags."""
        where = "flags != '' OR outcome = 'invalid'"
        flags = dict(self._select("rowid, flags", where))
        return [
            (row, tuple(flag for flag in flags[row.id].split(",") if flag))
            for row in self.rows(where)
        ]

    def messages(self, outcomes: Collection[Outcome], family: str) -> Counter[str]:
        """Return how often each message of some outcomes occurred on a family."""
        marks = ", ".join("?" * len(outcomes))
        where = f"family = ? AND outcome IN ({marks})"
        rows = self._select("message", where, family, *map(str, outcomes))
        return Counter(message for (message,) in rows)

    def kept(
        self, family: str, wanted: Mapping[str, Collection[Outcome]], cells: Collection[str]
    ) -> list[int]:
        """Return the stages of some cells that came to some outcomes, and whose W and H are there.

        Parameters
        ----------
        wanted : the outcomes, for each ask by its name.
        """
        pairs = [(ask, str(outcome)) for ask, outcomes in wanted.items() for outcome in outcomes]
        marks = ", ".join(["(?, ?)"] * len(pairs))
        where = f"W IS NOT NULL AND family = ? AND (ask, outcome) IN (VALUES {marks})"
        rows = self.rows(where, family, *chain.from_iterable(pairs)) if pairs else []
        return [row.id for row in rows if row.cell.partition("/")[2] in cells]

    def stages(self, ids: Sequence[int]) -> list[Stage]:
        """Return some stages, with W and H."""
        return [stage for id_ in ids for stage in self._stages(COLUMNS, "rowid = ?", id_)]

    def asked(self) -> list[tuple[int, int, int, int, str, bool]]:
        """Return id, m, n, k and outcome of each stage, and whether its W and H are there."""
        rows = self._select("rowid, m, n, k, outcome, W IS NOT NULL AND H IS NOT NULL", NOTHING)
        return [(*row[:5], bool(row[5])) for row in rows]

    def stages_with(self, outcome: Outcome, family: str) -> Iterator[Stage]:
        """Return all stages of a family that came to an outcome, with W and H."""
        return self._stages(COLUMNS, "family = ? AND outcome = ?", family, str(outcome))

    def printed(self, message: str) -> list[str]:
        """Return what was printed in stages with this message."""
        rows = self._select("output", "message = ? AND output != ''", message)
        return [output for (output,) in rows]

    def stages_of(self, cell: Cell, *, matrices: bool = False) -> Iterator[Stage]:
        """Return the stages of a cell, trial by trial, W and H only where asked for."""
        wanted = COLUMNS if matrices else COLUMNS[:-2]
        where = "family = ? AND cell = ? ORDER BY seed, rowid"
        return self._stages(wanted, where, cell.family, cell.name)

    def laws(self) -> list[LawResult]:
        """Return what came of the suite's laws, in its order; none in a store without laws."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'laws'"
        if not self._suite.laws or not self._connection_rows(query, ()):
            return []
        names = [field.name for field in fields(LawResult)]
        sql = f"SELECT {', '.join(names)} FROM laws WHERE subject = ?"
        try:
            results = [
                LawResult.from_fields(dict(zip(names, row, strict=True)))
                for row in self._connection_rows(sql, (self._subject,))
            ]
        except (ValueError, TypeError) as error:
            raise InputError(f"{str(self._path)!r} is damaged: {error}") from None
        order = {name: place for place, name in enumerate(self._suite.laws)}
        return sorted((each for each in results if each.law in order), key=lambda e: order[e.law])

    def experiments(self) -> dict[str, Any]:
        """Return what was written down of each experiment; stores made before have none."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'experiments'"
        if not self._connection_rows(query, ()):
            return {}
        rows = self._connection_rows(
            "SELECT name, record FROM experiments WHERE subject = ? ORDER BY rowid",
            (self._subject,),
        )
        try:
            return {name: json.loads(record) for name, record in rows}
        except ValueError as error:
            raise InputError(f"{str(self._path)!r} is damaged: {error}") from None

    @property
    def _cells(self) -> list[Cell]:
        return list(self._suite.cells)

    @cached_property
    def _asks(self) -> dict[str, tuple[Ask, ...]]:
        return {part.family: part.asks for part in self._suite.parts}

    def _stages(self, columns: Sequence[str], where: str, *values: Any) -> Iterator[Stage]:
        for row in self._select(", ".join(columns), where, *values):
            named = dict(zip(columns, row, strict=True))
            try:
                yield self._stage(named)
            except InputError as error:
                raise InputError(f"{str(self._path)!r} cannot be read here: {error}") from None
            except (ValueError, TypeError, AttributeError, zlib.error) as error:
                raise InputError(f"{str(self._path)!r} is damaged: {error}") from None

    def _stage(self, row: dict[str, Any]) -> Stage:
        """Return the stage of a row; its asks are the suite's, or those of a cell besides."""
        room = find(row["family"], self._suite.objective)
        cell = room.cell(row["cell"])
        asks = room.asked(cell, self._asks.get(room.name, room.asks))
        if row["ask"] not in {ask.name for ask in asks}:
            asks = room.asks_of(cell)
        ask = next((ask for ask in asks if ask.name == row["ask"]), None)
        return stage_of(row, cell, asks, ask or room.ask(row["ask"]))

    def _select(self, columns: str, where: str, *values: Any) -> list[tuple[Any, ...]]:
        condition, order, rest = where.partition(" ORDER BY ")
        sql = f"SELECT {columns} FROM stages WHERE subject = ? AND ({condition}){order}{rest}"
        return self._connection_rows(sql, (self._subject, *values))

    def _connection_rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with in_words(self._path):
            return self._connection.execute(sql, values).fetchall()
