"""Mending: small changes of a subject's source, which are put in, tried, and taken out again."""

import ast
import contextlib
import inspect
import itertools
import json
import linecache
import math
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mendable
from nmfcheck import check
from nmfcheck.diagnosis import Cause
from nmfcheck.diagnosis.experiments import SECONDS, Begin, Run, choosing
from nmfcheck.diagnosis.experiments.mending import FEWEST, KEEPS, MENDS, NAME, suspects
from nmfcheck.diagnosis.experiments.record import Experiment
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.executors.local import LocalExecutor, request_all
from nmfcheck.executors.protocol import Request
from nmfcheck.families import Trial
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.store import Store
from nmfcheck.store.results import Row
from nmfcheck.subjects import Problem, SubjectName, load
from nmfcheck.subjects.mending import Edit, Found, Order, UnfitError, What, found, swapped
from nmfcheck.subjects.mending.proposing import proposed
from nmfcheck.subjects.mending.swapping import _as_it_stands, forget, lines_of, parts
from nmfcheck.subjects.mending.trying import TimeUpError, limited, tried
from nmfcheck.subjects.mending.values import changes
from nmfcheck.trials.driver import run_trial

FILE = Path(mendable.__file__).resolve()
SOURCE = FILE.read_text()
TRIAL = Trial.from_id("mixed/6x5/k=2/dyadic#0/seed=0")
FAULTY = (
    "leaves_its_own_term_out", "uses_the_first_factor", "has_a_floor", "penalises_by_default",
    "divides_by_what_is_to_multiply", "Fitted",
)  # fmt: skip


def fault(name):
    """Return the line that a fault is in."""
    lines = SOURCE.splitlines()
    for number, line in enumerate(lines, 1):
        if line.endswith(f"# FAULT of {name}"):
            return number
    first = next(i for i, line in enumerate(lines) if re.match(rf"(def|class) {name}\b", line))
    return next(i for i, line in enumerate(lines[first:], first + 1) if line.endswith("# FAULT"))


def subject_of(name):
    subject = load(SubjectName(f"py:{FILE}:{name}", {}))
    forget()  # the functions of another one of this file
    return subject


def problem(trial=TRIAL):
    case = trial.case(trial.asks[0])
    return Problem(case.A, case.rank, *trial.start(), trial.seed, case.objective)


def edit_of(old, new, within="", said="so"):
    """Return the edit that replaces the first such text, behind another one."""
    place = SOURCE.index(old, SOURCE.index(within))
    before = SOURCE[:place].encode()
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n") - 1
    return Edit(str(FILE), (line, column), (line, column + len(old.encode())), new, said)


def solved(subject, edit=None):
    if edit is None:
        (answer,) = subject.solve([problem()], lambda _: None)
    else:
        with swapped(edit):
            (answer,) = subject.solve([problem()], lambda _: None)
    return answer


class TestEdits:
    @given(st.text("aß\n ", max_size=20), st.text("xö\n"), st.data())
    def test_a_piece_is_replaced_and_nothing_else(self, text, new, data):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, len(text)))
        lines = text.encode().splitlines(keepends=True)
        if not lines or text.endswith("\n"):
            lines.append(b"")

        def spot(place):
            before = text[:place].encode()
            return before.count(b"\n") + 1, len(before) - before.rfind(b"\n") - 1

        edit = Edit("", spot(begin), spot(end), new, "")
        assert b"".join(edit.applied(lines)).decode() == text[:begin] + new + text[end:]

    def test_written_down_and_read(self):
        edit = edit_of("150", "15", said="line 7 as `ö`")
        assert Edit.from_data(edit.as_data()) == edit
        order = Order(What.TRY, (None, edit), 0.5, 0.25)
        assert Order.from_data(order.as_data()) == order
        back = Found((edit,), ((math.inf, True), (0.5, False)))
        assert Found.from_data(back.as_data()) == back

    def test_a_run_with_one(self):
        run = Run(TRIAL, TRIAL.asks[0], Begin.GIVEN, *TRIAL.start(), 0, edit=edit_of("150", "1"),
                  outcome=Outcome.EXACT)  # fmt: skip
        again = Run.from_data(run.as_data())
        assert (again.edit, again.outcome) == (run.edit, Outcome.EXACT)


class TestSwapping:
    @pytest.mark.parametrize(
        ("name", "edit"),
        [
            ("divides_by_what_is_to_multiply", edit_of("H / s[:, None]", "H * s[:, None]")),
            ("has_a_floor", edit_of("0.5", "0.0", "FLOOR")),
            ("penalises_by_default", edit_of("alpha=0.1", "alpha=0.0")),
            ("uses_the_first_factor", edit_of("H0 @ A.T", "H @ A.T")),
            ("Fitted", edit_of("B[j] + G[j]", "B[j] - G[j]", "class Fitted")),
        ],
    )
    def test_it_is_in_place_and_then_no_more(self, name, edit):
        subject = subject_of(name)
        before, mended, after = solved(subject), solved(subject, edit), solved(subject)
        assert np.array_equal(before.W, after.W)
        assert np.array_equal(before.H, after.H)
        A = problem().A
        assert abs(A - before.W @ before.H).max() > 1e-3
        assert abs(A - mended.W @ mended.H).max() < 1e-9
        assert FILE.read_text() == SOURCE

    def test_functions_that_others_call(self):
        """A default of a helper, which the subject itself does not name."""
        subject = subject_of("right")
        assert abs(problem().A - np.matmul(*_factors(solved(subject)))).max() < 1e-9
        short = solved(subject, edit_of("sweeps=150", "sweeps=1"))
        assert abs(problem().A - np.matmul(*_factors(short))).max() > 1e-3

    @pytest.mark.parametrize(
        "edit",
        [
            edit_of("W / s, ", "W / / s, "),
            edit_of("W / s, ", "(yield from ("),
            Edit(str(FILE), (1, 0), (1, 3), "", ""),
            Edit(str(FILE), (10**6, 0), (10**6, 0), "", ""),
            edit_of("FLOOR = 0.5", "FLOOR = print"),
        ],
    )
    def test_what_cannot_be_put_in(self, edit):
        subject = subject_of("divides_by_what_is_to_multiply")
        before = solved(subject)
        with pytest.raises(UnfitError), swapped(edit):
            raise AssertionError("it is in place")
        assert np.array_equal(before.W, solved(subject).W)

    def test_it_is_taken_out_where_the_run_fails(self):
        subject = subject_of("right")
        with pytest.raises(ZeroDivisionError), swapped(edit_of("sweeps=150", "sweeps=0")):
            raise ZeroDivisionError
        assert abs(problem().A - np.matmul(*_factors(solved(subject)))).max() < 1e-9

    def test_it_can_compute_and_do_nothing_else(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        subject_of("right")
        (tmp_path / "kept").write_text("read")
        refused = [
            lambda: Path("written").write_text("x"), lambda: Path("kept").unlink(),
            lambda: shutil.rmtree(tmp_path), lambda: Path("folder").mkdir(), os.fork,
            lambda: Path("kept").rename("other"), lambda: np.save("saved", np.ones(2)),
            lambda: subprocess.run(["touch", "by_another"], check=True), lambda: os.system("true"),
            lambda: socket.create_connection(("127.0.0.1", 9)), lambda: sqlite3.connect("base"),
            lambda: os.open("made", os.O_CREAT | os.O_RDWR), lambda: os.kill(os.getpid(), 0),
        ]  # fmt: skip
        opened = (tmp_path / "opened").open("w")
        with swapped(edit_of("sweeps=150", "sweeps=1")):
            opened.write("x")
            with pytest.raises(OSError, match="too large"):
                opened.flush()
            os.environ["MENDABLE"] = "set"
            for act in refused:
                with pytest.raises(PermissionError):
                    act()
            with pytest.raises(MemoryError):
                np.ones(1 << 29)
            assert Path("kept").read_text() == "read"
            Path(os.devnull).write_text("anything")
        assert {each.name for each in tmp_path.iterdir()} == {"kept", "opened"}
        assert (tmp_path / "opened").read_text() == ""
        assert "MENDABLE" not in os.environ
        opened.close()
        refused[0]()
        assert Path("written").exists()

    def test_a_file_that_has_changed_since_it_was_loaded(self, tmp_path):
        path = tmp_path / "subject.py"
        path.write_text("def nmf(A, rank, *, W0, H0):\n    return W0 * 0.5, H0\n")
        subject = load(SubjectName(f"py:{path}:nmf", {}))
        edit = Edit(str(path), (2, 16), (2, 19), "1.5", "")
        with swapped(edit):
            pass
        path.write_text("def nmf(A, rank, *, W0, H0):\n    return W0 * 0.7, H0\n")
        linecache.checkcache()
        for cached in (lines_of, parts, _as_it_stands):
            cached.cache_clear()
        forget()
        with pytest.raises(UnfitError, match="changed since"), swapped(edit):
            raise AssertionError("it is in place")
        (answer,) = subject.solve([problem()], lambda _: None)
        assert np.array_equal(answer.W, 0.5 * problem().W0)

    def test_of_closures_that_live_the_others_are_made_anew(self):
        """With its fault left out it has other free variables than the one that runs."""
        subject = subject_of("sweeps_by_itself")
        as_it_is = solved(subject)
        mended = solved(subject, edit_of("H[0] * (rank / 9)", "H[0]", "def sweeps_by"))
        assert abs(problem().A - mended.W @ mended.H).max() < 1e-9
        assert np.array_equal(solved(subject).W, as_it_is.W)

    def test_files_in_another_encoding(self, tmp_path):
        path = tmp_path / "latin.py"
        text = (
            "# -*- coding: latin-1 -*-\n"
            "def nmf(A, rank, *, W0, H0):\n    größe = 'ääää'; W = W0 * 0.5\n    return W, H0\n"
        )
        path.write_bytes(text.encode("latin-1"))
        subject = load(SubjectName(f"py:{path}:nmf", {}))
        edits = proposed(subject, problem(), 0, 5.0)
        (edit,) = [e for e in edits if e.said.endswith("`größe = 'ääää'; W = W0`")]
        with swapped(edit):
            (answer,) = subject.solve([problem()], lambda _: None)
        assert np.array_equal(answer.W, problem().W0)

    def test_columns_count_bytes(self):
        subject = subject_of("leaves_the_given_arrays")
        mended = solved(subject, edit_of('both["äöü"][1] * 0.5', 'both["äöü"][1]'))
        assert np.array_equal(mended.H, problem().H0)


def _factors(answer):
    return answer.W, answer.H


class TestProposing:
    @pytest.mark.parametrize(
        ("name", "statement"),
        [
            ("leaves_its_own_term_out",
             "H[j] = np.maximum(0.0, (H[j] + (B[j] - G[j] @ H) / (G[j, j] + 1e-300)))"),
            ("divides_by_what_is_to_multiply", "return W / s, H * s[:, None]"),
            ("Fitted", "X[j] = np.maximum(0.0, X[j] + (B[j] - G[j] @ X) / (G[j, j] + 1e-300))"),
        ],
    )  # fmt: skip
    def test_what_mends_it_is_among_them(self, name, statement):
        edits = proposed(subject_of(name), problem(), 0, 5.0)
        with_it = {_statement(edit, fault(name)) for edit in edits if edit.begin[0] == fault(name)}
        assert statement in with_it

    def test_defaults_and_constants(self):
        of_default = proposed(subject_of("penalises_by_default"), problem(), 0, 5.0)
        line = fault("penalises_by_default")
        assert f"`alpha=0.0` by default (line {line})" in [edit.said for edit in of_default]
        of_constant = proposed(subject_of("has_a_floor"), problem(), 0, 5.0)
        assert f"line {fault('has_a_floor')} as `FLOOR = 0.0`" in [e.said for e in of_constant]

    @pytest.mark.parametrize("name", FAULTY)
    def test_all_are_of_what_ran_and_most_are_python(self, name):
        edits = proposed(subject_of(name), problem(), 0, 5.0)
        tops = [node for node in ast.parse(SOURCE).body if hasattr(node, "name")]
        names = {"start", "hals", name}
        spans = [(node.lineno, node.end_lineno) for node in tops if node.name in names]
        spans.append((fault("has_a_floor"),) * 2)
        assert edits
        assert len({(edit.begin, edit.end, edit.new) for edit in edits}) == len(edits)
        for edit in edits:
            assert any(first <= edit.begin[0] <= last for first, last in spans), edit
        fit = sum(_parses(edit) for edit in edits)
        assert fit > 0.95 * len(edits)

    def test_by_rank(self):
        ranks = [edit.rank for edit in proposed(subject_of("Fitted"), problem(), 0, 5.0)]
        assert ranks == sorted(ranks)

    def test_of_long_statements_what_is_around_the_change_is_shown(self, tmp_path):
        terms = " + ".join(f"(A @ A.T @ A)[:, {i}:{i + 1}] @ H[:1]" for i in range(3))
        (tmp_path / "subject.py").write_text(
            f"def long(A, rank, *, W0, H0):\n    H = H0 + 0\n    B = {terms}  # all of it\n"
            "    return A @ B.T @ H.T, H\n"
        )
        subject = load(SubjectName(f"py:{tmp_path}/subject.py:long", {}))
        shown = [e for e in proposed(subject, problem(), 0, 5.0) if "…" in e.said]
        changed = [e for e in shown if e.said.startswith("line 3 as ") and "\n" not in e.new]
        assert {e.said[len("line 3 as `")] == "…" for e in changed} == {True, False}
        assert len({e.said for e in changed}) == len(changed)
        for edit in shown:
            assert "#" not in edit.said
            assert len(edit.said) <= len("``… once more before line 2") + 80

    def test_functions_that_do_more_than_compute_are_left_alone(self):
        assert proposed(subject_of("writes_a_file"), problem(), 0, 5.0) == []

    def test_nor_are_those_changed_that_call_them(self):
        """With `if True` for `if wanted` a file would be written that nobody asked for."""
        edits = proposed(subject_of("has_a_helper_that_writes"), problem(), 0, 5.0)
        changed = {_inside(edit) for edit in edits}
        assert changed == {"hals"}

    def test_statements_are_shown_whole_and_targets_stay(self, tmp_path):
        (tmp_path / "subject.py").write_text(
            "import numpy as np\n\ndef nmf(A, rank, *, W0, H0):\n    W = (\n        W0\n"
            "        * 0.5\n    )\n    H = H0 + 0\n    H[0] = 2 * H[1]\n"
            "    if rank < 1:\n        H = H0\n    elif rank > 1:\n        W = W + 0\n"
            "    return W, H\n"
        )
        subject = load(SubjectName(f"py:{tmp_path}/subject.py:nmf", {}))
        said = [edit.said for edit in proposed(subject, problem(), 0, 5.0)]
        assert "line 4, `W = ( W0 * 0.5 )`, left out" in said
        assert "line 12, `elif rank > 1`, never so" in said
        assert "line 9 as `H[1] = 2 * H[1]`" in said
        assert "line 9 as `H[0] = 2 * H[0]`" in said
        assert not [each for each in said if "copy()[0] =" in each or "W0[0] =" in each]

    def test_nor_what_acting_functions_read_and_what_makes_acting_objects(self, tmp_path):
        (tmp_path / "subject.py").write_text(
            "import io; LOG = io.StringIO()\nKEEP, FACTOR = 64, 1\nLEFT = 64\nHALF = 0.5\n\n"
            "class Tidy:\n    def __init__(self, number):\n        if number < LEFT:\n"
            "            LOG.truncate(number)\n\n"
            "class Tidier(Tidy):\n    def __init__(self, by):\n"
            "        super().__init__(100 * by)\n\n"
            "def tidied(W):\n    Tidier(1)\n    return W\n\n"
            "def nmf(A, rank, *, W0, H0):\n    W = tidied(W0 * 1)\n    return W * HALF, H0\n\n"
            "def half(A, rank, *, W0, H0):\n    return W0 * HALF, H0\n"
        )
        edits = proposed(load(SubjectName(f"py:{tmp_path}/subject.py:nmf", {})), problem(), 0, 5.0)
        assert edits == []
        forget()
        edits = proposed(load(SubjectName(f"py:{tmp_path}/subject.py:half", {})), problem(), 0, 5.0)
        assert {edit.begin[0] for edit in edits} == {24}

    def test_nor_who_does_more_than_compute_as_it_is(self, tmp_path):
        (tmp_path / "subject.py").write_text(
            "import importlib\n\ndef nmf(A, rank, *, W0, H0):\n"
            f"    importlib.import_module('os').mkdir({str(tmp_path / 'made')!r})\n"
            f"    importlib.import_module('os').rmdir({str(tmp_path / 'made')!r})\n"
            "    return W0 * 0.5, H0\n"
        )
        subject = load(SubjectName(f"py:{tmp_path}/subject.py:nmf", {}))
        assert proposed(subject, problem(), 0, 5.0) == []

    def test_references_have_none(self):
        assert proposed(load(SubjectName("als", {})), problem(), 0, 5.0) == []


def _inside(edit):
    """Return the name of the function that an edit is in."""
    tops = [node for node in ast.parse(SOURCE).body if hasattr(node, "name")]
    return next(n.name for n in tops if n.lineno <= edit.begin[0] <= n.end_lineno)


def _statement(edit, number):
    """Return a statement as it reads with an edit."""
    line = b"".join(edit.applied([line.encode() for line in linecache.getlines(str(FILE))]))
    return line.decode().splitlines()[number - 1].partition("#")[0].strip()


def _parses(edit):
    lines = edit.applied([line.encode() for line in linecache.getlines(str(FILE))])
    try:
        ast.parse(b"".join(lines))
    except SyntaxError:
        return False
    return True


class TestChoosing:
    def cell(self, passing, failing, collapsed=0):
        outcomes = passing * ["exact"] + failing * ["unconverged"] + collapsed * ["collapsed"]
        rows = [Row(i, TRIAL.cell.id, 0, i, "", o) for i, o in enumerate(outcomes)]
        of = [(row.outcome == "exact", row) for row in rows]
        return choosing.OfCell(TRIAL.cell, of, may_collapse=collapsed > 0)

    def test_what_chance_would_do(self):
        """At most: by the bound of Clopper and Pearson, of which 0 of n has a closed form."""
        none = 1 - 0.025 ** (1 / 11)
        assert choosing.chances([self.cell(0, 9), self.cell(0, 2)]) == pytest.approx([none] * 2)
        (half,) = choosing.chances([self.cell(10, 9)])
        assert 0.75 < half < 0.76
        high, low = choosing.chances([self.cell(9, 1), self.cell(0, 30)])
        assert low == pytest.approx(1 - 0.0125 ** (1 / 30))
        assert high > 0.95
        (counted,) = choosing.chances([self.cell(0, 4, collapsed=5)])
        assert counted == pytest.approx(1 - 0.025 ** (1 / 4))
        assert choosing.chances([]) == []

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data())
    def test_so_many_or_more_by_chance(self, shares, data):
        """Another way: all outcomes, one by one."""
        runs = [Run(Trial.from_id(f"mixed/6x5/k=2/dyadic#{i}/seed={i}"), TRIAL.asks[0],
                    Begin.GIVEN, *TRIAL.start(), 0) for i in range(len(shares))]  # fmt: skip
        known = dict(zip(map(choosing.question, runs), shares, strict=True))
        right = data.draw(st.integers(0, len(shares)))
        expected = sum(
            math.prod(p if came else 1 - p for p, came in zip(shares, all_, strict=True))
            for all_ in itertools.product((False, True), repeat=len(shares))
            if sum(all_) >= right
        )
        chosen = choosing.Chosen(runs, (), known)
        assert chosen.chance(runs, right) == pytest.approx(expected, abs=1e-12)

    @given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), max_size=60))
    def test_as_many_as_chance_would_not_mend(self, runs):
        number = choosing.enough(runs)
        assert min(len(runs), choosing.FAILING) <= number <= len(runs)
        assert number <= choosing.AT_MOST
        lucky = math.prod(p**0.5 if may_collapse else p for p, may_collapse in runs[1:number])
        short = number < min(len(runs), choosing.AT_MOST)
        assert lucky <= choosing.CHANCE / choosing.CHANGES * (1 + 1e-9) or not short

    def test_those_that_fail_always_need_no_more(self):
        each = choosing.CHANCE / choosing.CHANGES
        assert choosing.enough([(0.05, False)] * 30) == choosing.FAILING
        assert choosing.enough([(0.05, True)] * 30) == 1 + math.ceil(
            math.log(each) / math.log(0.05**0.5)
        )
        assert choosing.enough([(0.5, False)] * 30) == 1 + math.ceil(math.log2(1 / each))
        assert choosing.enough([(0.9, False)] * 30) == choosing.AT_MOST

    @pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
    @pytest.mark.parametrize("trials", [2, 5, 20])
    def test_what_only_begins_elsewhere_does_not_mend(self, share, trials):
        """Simulated: 12 cells of a family, whose runs are right by chance; a change draws anew.

        That all 300 changes draw by themselves is the worst that can be.
        """
        rng = np.random.default_rng([int(10 * share), trials])
        told, tries = 0, 300
        for _ in range(200):
            drawn = rng.random((12, trials)) < share
            cells = [self.cell(n := int(row.sum()), trials - n) for row in drawn]
            by_cell = sorted(zip(cells, choosing.chances(cells), strict=True),
                             key=lambda each: len(each[0].passing))  # fmt: skip
            runs = [(p, False) for cell, p in by_cell for _ in cell.failing[: choosing.OF_EACH]]
            number = choosing.enough(runs)
            others = np.array([p for p, _ in runs[1:number]])
            right = (rng.random((tries, len(others))) < share).sum(axis=1)
            # The first is right, since a change is chosen by it.
            for many in right[rng.random(tries) < share]:
                tail = np.ones(1)
                for p in others:
                    tail = np.convolve(tail, [1 - p, p])
                enough = many + 1 >= max(MENDS * number, FEWEST)
                if enough and tail[many:].sum() <= choosing.CHANCE / tries:
                    told += 1
                    break
        assert told <= 6  # of 200, at 1 %: more than 6 in 0.5 % of such tests


class TestTrying:
    def test_how_far_each_comes(self):
        subject = subject_of("divides_by_what_is_to_multiply")
        edits = [None, edit_of("H / s[:, None]", "H * s[:, None]"), edit_of("W / s, ", "W / / s, ")]
        (as_it_is, one), (mended, two), (unfit, three) = tried(subject, problem(), 0, edits, 5, 9)
        assert as_it_is > 1e-2
        assert mended < 1e-9
        assert unfit == math.inf
        assert one and two and three

    def test_an_endless_one_is_cut_and_looked_at_on_the_way(self):
        subject = subject_of("never_ends_with_a_change")
        begin = time.monotonic()
        ((error, ended),) = tried(subject, problem(), 0, [edit_of("done += 1", "pass")], 0.05, 9)
        assert time.monotonic() - begin < 5
        assert not ended
        assert 0 < error < math.inf

    def test_no_other_is_begun_when_the_time_is_up(self):
        assert tried(subject_of("right"), problem(), 0, [None, None], 1.0, -1.0) == []

    def test_a_limit_holds_where_exceptions_are_caught(self):
        begin = time.monotonic()
        with pytest.raises(TimeUpError), limited(0.05):
            while True:
                with contextlib.suppress(Exception):
                    time.sleep(0.01)
        assert time.monotonic() - begin < 5
        time.sleep(0.1)  # and rings no more

    def test_what_others_compute_meanwhile_is_not_part_of_it(self, monkeypatch):
        monkeypatch.setattr(time, "process_time", lambda: 0.0)
        begin = time.monotonic()
        with pytest.raises(TimeUpError), limited(0.02):
            while True:
                pass
        assert time.monotonic() - begin > 0.06

    def test_negative_and_missing_answers_are_infinitely_far(self):
        subject = subject_of("right")
        for new in ("return -W, H", "return W", "raise ValueError"):
            edit = edit_of("return W, H", new, "def hals")
            assert tried(subject, problem(), 0, [edit], 5.0, 9.0) == [(math.inf, True)]

    def test_an_order_is_carried_out(self):
        subject = subject_of("Fitted")
        assert found(subject, problem(), 0, Order(What.PROPOSE, each=5.0)).edits
        errors = found(subject, problem(), 0, Order(What.TRY, (None,), 5.0, 5.0)).errors
        assert len(errors) == 1


class TestThroughExecutors:
    def test_in_a_worker(self):
        name = SubjectName(f"py:{FILE}:divides_by_what_is_to_multiply", {})
        mends = edit_of("H / s[:, None]", "H * s[:, None]")
        orders = [
            Order(What.RUN, (mends,), 5.0), Order(What.RUN, (None,), 5.0), Order(What.PROPOSE),
            Order(What.TRY, (mends, None), 5.0, 5.0),
            Order(What.RUN, (edit_of("150", "10000000"),), 0.1),
            Order(What.RUN, (edit_of("W / s, ", "W / / s, "),), 1.0),
        ]  # fmt: skip
        requests = [Request(i, problem(), mending=order) for i, order in enumerate(orders)]
        requests.append(Request(len(orders), problem()))
        with LocalExecutor(name, 2) as executor:
            replies = request_all(executor, requests)
        A = problem().A
        assert abs(A - replies[0].answer.W @ replies[0].answer.H).max() < 1e-9
        assert abs(A - replies[1].answer.W @ replies[1].answer.H).max() > 1e-3
        assert len(replies[2].found.edits) > 50
        assert [ended for _, ended in replies[3].found.errors] == [True, True]
        assert "TimeUp" in replies[4].answer.error
        assert "Unfit" in replies[5].answer.error
        assert np.array_equal(replies[6].answer.W, replies[1].answer.W)

    def test_in_this_process_nothing_is_changed(self):
        order = Order(What.RUN, (edit_of("sweeps=150", "sweeps=1"),))
        with InlineExecutor(subject_of("right")) as executor:
            executor.submit(Request(0, problem(), mending=order))
            (reply,) = executor.replies(0)
        assert reply.answer.error is not None


CHOSEN = {"families": ["mixed", "rays", "rank-one"], "trials": 6, "laws": []}


class TestFindings:
    @pytest.mark.parametrize("name", FAULTY)
    def test_the_first_finding_names_the_line_and_what_mends_it(self, name, tmp_path, patient):
        store = tmp_path / "run.sqlite"
        report = check(f"py:{FILE}:{name}", store=store, **CHOSEN)
        first = report.findings[0]
        assert "come out right" in first.sentence
        assert "made it right" in first.evidence
        assert (first.cause is Cause.MENDED) == (not first.certain)
        number = fault(name)
        assert re.search(rf"line {number}\b", first.sentence), (number, first.sentence)
        assert all(finding.certain for finding in report.findings[1:])
        experiment = next(e for e in report._subject.experiments if e.name == NAME)
        assert experiment.runs >= 3
        assert not experiment.replay  # without the change it is what it was
        assert FILE.read_text() == SOURCE
        with Store.read(store) as again:
            (stored,) = again.subjects()
            recorded = again.results(stored).experiments()[NAME]
        runs = [Run.from_data(each) for each in recorded["runs"]]
        assert {run.outcome for run in runs} & {Outcome.EXACT, Outcome.SINGLE}

    def test_what_is_said_is_so(self, patient):
        """The change that is told, made in the file, mends it."""
        report = check(f"py:{FILE}:divides_by_what_is_to_multiply", **CHOSEN)
        (new,) = re.findall(r"with line \d+ as `(.*?)`, all ", report.findings[0].sentence)
        number = fault("divides_by_what_is_to_multiply")
        lines = SOURCE.splitlines()
        lines[number - 1] = "    " + new
        known = {}
        exec(compile("\n".join(lines), "changed", "exec"), known)
        result = run_trial(known["divides_by_what_is_to_multiply"], TRIAL)
        assert result.stages[0].outcome is Outcome.EXACT

    def test_what_may_be_chance_is_not_told(self, tmp_path, patient):
        """Half of its runs are right, as its start has it: any other start would mend as many."""
        store = tmp_path / "run.sqlite"
        name = "is_right_or_not_by_its_start"
        chosen = CHOSEN | {"trials": 20}
        report = check(f"py:{FILE}:{name}", store=store, whole=True, **chosen)
        with Store.read(store) as again:
            (stored,) = again.subjects()
            recorded = again.results(stored).experiments()[NAME]
        runs = [Run.from_data(each) for each in recorded["runs"]]
        lines = {run.edit.begin[0] for run in runs}
        assert fault(name) in lines
        assert lines <= {fault(name), fault(name) + 1, fault(name) - 1}
        assert len({run.trial.id for run in runs}) > 10
        assert f"line {fault(name)} " in report.findings[0].sentence

    def test_nothing_is_written_that_it_does_not_write_by_itself(
        self, tmp_path, monkeypatch, patient
    ):
        monkeypatch.setenv("MENDABLE", str(tmp_path))
        (tmp_path / "kept").write_text("")
        report = check(f"py:{FILE}:writes_and_is_wrong", **CHOSEN)
        assert NAME in [each.name for each in report._subject.experiments]
        assert {each.name for each in tmp_path.iterdir()} == {"kept", "results"}

    def test_what_passes_is_not_spoiled(self, tmp_path, patient):
        """With the condition the other way round it would be wrong for all wide matrices."""
        store = tmp_path / "run.sqlite"
        name = f"py:{FILE}:is_wrong_where_there_are_more_rows"
        check(name, store=store, whole=True, **CHOSEN | {"trials": 12})
        with Store.read(store) as again:
            (stored,) = again.subjects()
            recorded = again.results(stored).experiments()[NAME]
        told = {Run.from_data(each).edit.new for each in recorded["runs"]}
        assert told
        assert not told & {"True", "A.shape[0] < A.shape[1]", "A.shape[0] <= A.shape[1]"}

    def test_what_is_kept_from_one_run_to_the_next_is_no_change(self, tmp_path, patient):
        report = check(f"py:{FILE}:is_right_after_many_calls", jobs=1, **CHOSEN)
        (made,) = [each for each in report._subject.experiments if each.name == NAME]
        assert made.runs == 0
        assert made.left_out == KEEPS
        assert "come right" not in report.findings[0].sentence

    def test_answers_that_are_not_valid_are_told_with_it(self, patient):
        report = check(f"py:{FILE}:divides_by_lengths_that_may_be_0", families=["inflated"])
        first = report.findings[0]
        assert first.cause is Cause.HARD
        assert f"line {fault('divides_by_lengths_that_may_be_0')} " in first.sentence

    @pytest.mark.parametrize(
        "options",
        [
            ("--budget", "0.001", "--law", "valid"),
            ("--eps", "0.25", "--trials", "4"),
        ],
    )
    def test_where_a_family_has_no_runs_or_no_test(self, nmfcheck, tmp_path, options):
        (tmp_path / "negative.py").write_text("def nmf(A, rank, *, W0, H0):\n    return -W0, H0\n")
        chosen = ("--family", "bidiagonal,mixed", "--sizes", "2", "--jobs", "1", *options)
        code, _, err = nmfcheck("run", f"py:{tmp_path}/negative.py:nmf", *chosen)
        assert code == 1, err

    def test_right_ones_are_not_changed(self):
        report = check(f"py:{FILE}:right", **CHOSEN)
        assert NAME not in [each.name for each in report._subject.experiments]

    def test_in_this_process_it_is_not_tried(self):
        report = check(mendable.has_a_floor, isolate=False, **CHOSEN)
        assert NAME not in [each.name for each in report._subject.experiments]

    def test_nor_where_that_is_not_wanted(self, nmfcheck, tmp_path):
        report = check(f"py:{FILE}:has_a_floor", mend=False, **CHOSEN)
        assert NAME not in [each.name for each in report._subject.experiments]
        out = tmp_path / "out.json"
        chosen = ("--family", "mixed", "--trials", 6, "--no-mend")
        code, _, err = nmfcheck("run", f"py:{FILE}:has_a_floor", *chosen, "--json", out)
        assert code == 1, err
        (subject,) = json.loads(out.read_text())["subjects"]
        made = [each["name"] for each in subject["experiments"]]
        assert "line by line" in made
        assert NAME not in made

    def test_nor_where_one_question_has_two_answers(self, tmp_path):
        (tmp_path / "draws.py").write_text(
            "import numpy as np\n\ndef nmf(A, rank, *, seed):\n"
            "    rng = np.random.default_rng()\n"
            "    return rng.random((len(A), rank)), rng.random((rank, A.shape[1]))\n"
        )
        report = check(f"py:{tmp_path}/draws.py:nmf", **CHOSEN)
        assert NAME not in [each.name for each in report._subject.experiments]

    def test_the_time_is_kept(self, tmp_path):
        """With runs of 50 ms, none of which a change of a few characters mends."""
        (tmp_path / "slow.py").write_text(
            "import time\nimport numpy as np\n\ndef nmf(A, rank, *, W0, H0):\n"
            "    for _ in range(50):\n        time.sleep(0.001)\n"
            + 40 * "        W0, H0 = W0 + 0.001 * W0 / 3.0, H0 - 0.001 * H0 / 7.0\n"
            + "    return W0 % 0.7, H0 % 0.3\n"
        )
        begin = time.monotonic()
        report = check(f"py:{tmp_path}/slow.py:nmf", families=["mixed"], trials=9, laws=[])
        took = time.monotonic() - begin
        made = {each.name: each for each in report._subject.experiments}
        assert made[NAME].runs == 0
        assert re.search(r"changes were not tried.*: the time was up", made[NAME].left_out)
        assert took < SECONDS + 30  # what loading and a few trials take on a busy machine

    def test_lines_that_stood_out_come_first(self):
        report = check(f"py:{FILE}:divides_by_what_is_to_multiply", **CHOSEN)
        followed = next(e for e in report._subject.experiments if e.name == "line by line")
        assert followed.runs
        assert suspects(Experiment("none")) == set()


def test_functions_of_the_file_are_those_that_are_swapped():
    """What the tests above change is what stands in the file."""
    assert inspect.getsourcefile(mendable.right) == str(FILE)


def test_stores_without_it_are_read(tmp_path, patient):
    store = tmp_path / "run.sqlite"
    check(f"py:{FILE}:has_a_floor", store=store, **CHOSEN)
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM experiments WHERE name = ?", (NAME,))
    connection.close()
    again = check(f"py:{FILE}:has_a_floor", store=store, **CHOSEN)
    assert "come out right" in again.findings[0].sentence


class TestValues:
    @given(st.data())
    def test_changes_are_put_in_where_they_belong(self, data):
        """Whatever an expression is: with a change it means what its tree says."""
        text = data.draw(expressions)
        node = ast.parse(text, mode="eval").body
        texts = {
            piece: ast.get_source_segment(text, piece)
            for piece in ast.walk(node)
            if isinstance(piece, ast.expr)
        }
        for piece, new, _ in changes(node, {}, texts):
            if not isinstance(piece, ast.BinOp):
                continue
            wanted = {
                ast.unparse(ast.parse(each, mode="eval"))
                for each in _replaced(text, piece, _alternatives(piece))
            }
            before, after = _around(text, piece)
            assert ast.unparse(ast.parse(before + new + after, mode="eval")) in wanted

    @pytest.mark.parametrize(
        ("text", "changed"),
        [
            ('solver == "cd"', set()),
            ('not init == "random"', set()),
            ('x == "a" and y == "b"', set()),
            ('{"kl": 1, "mu": 2}', set()),
            ('W if init == "random" else 2', {"W", "2"}),
        ],
    )
    def test_options_choose_what_they_chose(self, text, changed):
        """Another algorithm may be right, and says nothing of this one."""
        node = ast.parse(text, mode="eval").body
        pieces = [piece for piece in ast.walk(node) if isinstance(piece, ast.expr)]
        texts = {piece: ast.get_source_segment(text, piece) for piece in pieces}
        kinds = dict.fromkeys(("W", "V"), ("array", (2, 2), "f"))
        assert {texts[piece] for piece, _, _ in changes(node, kinds, texts)} == changed


names = st.sampled_from(["a", "b", "c", "2"])
expressions = st.recursive(
    names,
    lambda inner: st.builds(
        lambda form, one, op, other: form.format(one, op, other),
        st.sampled_from(["{} {} {}", "({}) {} {}", "{} {} ({})", "({}) {} ({})"]),
        inner, st.sampled_from(["+", "-", "*", "/", "@", "**"]), inner,
    ),
    max_leaves=5,
)  # fmt: skip


def _around(text, piece):
    return text[: piece.col_offset], text[piece.end_col_offset :]


def _alternatives(piece):
    """Return what may stand for a binary operation, as trees say it."""
    one, other = piece.left, piece.right
    swaps = {ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult]}
    yield one
    yield other
    yield ast.BinOp(other, piece.op, one)
    if isinstance(piece.op, ast.Div):
        yield ast.BinOp(one, piece.op, ast.BinOp(other, ast.Add(), ast.Constant(1e-300)))
    for op in swaps.get(type(piece.op), ()):
        yield ast.BinOp(one, op(), other)


def _replaced(text, piece, alternatives):
    before, after = _around(text, piece)
    return [f"{before}({ast.unparse(each)}){after}" for each in alternatives]
