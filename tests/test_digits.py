"""Digits: verdicts at any tolerance, and runs that end as soon as all is certain."""

import contextlib
import json
import math
import re
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import zoo
from nmfcheck import InputError, check
from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import runnable
from nmfcheck.families import Trial, find
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.presenting.drawing import Sheet
from nmfcheck.report.contents import contents
from nmfcheck.report.sections.leaderboard import LeaderboardSection
from nmfcheck.store import Store
from nmfcheck.trials.driver import run_trial
from nmfcheck.trials.suites import QUICK, of_version
from nmfcheck.verdict.baseline import shipped
from nmfcheck.verdict.decision import Decision
from nmfcheck.verdict.regrading import (
    asked_for,
    checked_tolerance,
    passes,
    regraded,
    tolerance_of,
)
from nmfcheck.verdict.stopping import STOPPED, Stopped, Why

SMALL = {"sizes": (2, 3), "trials": 60}


def off_by(error):
    """Return coordinate descent whose H is off by a relative error."""

    def subject(A, rank, *, W0, H0):
        W, H = zoo.descend(A, W0, H0)
        return W, H * (1 + error)

    subject.__qualname__ = f"off_by_{error:g}"
    return subject


class TestRegrading:
    def test_what_is_within_the_tolerance_is_exact(self):
        assert regraded("eufc.x", [0, 1e-7, 1e-9, math.inf, None, None], 1e-8) == "euec.x"

    def test_silence_and_errors_stay_what_they_are(self):
        letters = "".join(outcome.letter for outcome in Outcome)
        silent = [
            o.letter for o in Outcome if o.unanswered or o in (Outcome.ERROR, Outcome.INVALID)
        ]
        after = regraded(letters, [0.0] * len(letters), 0.1)
        assert {a for a, b in zip(after, letters, strict=True) if b in silent} == set(silent)

    @pytest.mark.parametrize("tolerance", [0, 1e-11, 0.2, math.nan, -1])
    def test_tolerances_that_make_no_sense(self, tolerance):
        with pytest.raises(InputError):
            checked_tolerance(tolerance)

    def test_each_digit_is_a_power_of_ten(self):
        assert [tolerance_of(d) for d in (1, 8, 10)] == [1e-1, 1e-8, 1e-10]

    def test_a_baseline_with_digits_follows_the_tolerance(self):
        known, room = shipped("inflated"), find("inflated")
        cell = room.cell("5x4/k=2/dyadic")
        test = room.asks[:2]
        shares = [known.at(tolerance_of(d), test).required(cell.name, test).share for d in (10, 2)]
        assert shares[0] <= shares[1] <= shares[0] + 0.05

    def test_a_baseline_without_digits_stays(self):
        known, room = shipped("bidiagonal"), find("bidiagonal")
        test = room.asks[:2]
        loose = known.at(1e-3, test)
        for cell in room.cells("quick"):
            assert loose.required(cell.name, test) == known.required(cell.name, test)


class TestTheLadderGoesOn:
    """From version 4 on a trial goes on where only digits are missing."""

    def trial(self, version):
        suite = of_version("quick", version)
        return suite.cell("bidiagonal/n=2/ones")[3]

    def test_where_some_digits_are_right(self):
        asks = {
            v: [s.ask.name for s in run_trial(off_by(1e-6), self.trial(v)).stages] for v in (3, 4)
        }
        assert asks == {3: ["eps=0", "eps=0.25"], 4: ["eps=0", "eps=1e-3", "eps=0.25"]}

    def test_but_not_where_none_is(self):
        stages = run_trial(lambda A, rank, *, W0, H0: (W0, H0), self.trial(4)).stages
        assert [stage.ask.name for stage in stages] == ["eps=0", "eps=0.25"]

    def test_what_passes_has_the_same_stages(self):
        def good(A, rank, *, W0, H0):
            return zoo.descend(A, W0, H0)

        assert run_trial(good, self.trial(3)).stages == run_trial(good, self.trial(4)).stages

    def test_trials_by_id_end_as_in_the_paper(self):
        stages = run_trial(off_by(1e-6), Trial.from_id("bidiagonal/n=2/ones/seed=3")).stages
        assert [stage.ask.name for stage in stages] == ["eps=0", "eps=0.25"]


class TestDigits:
    @pytest.mark.parametrize(("error", "digits"), [(3e-9, 8), (3e-7, 6), (3e-4, 3), (3e-2, 1)])
    def test_as_many_as_there_are(self, error, digits):
        report = check(off_by(error), isolate=False, whole=True, **SMALL)
        assert report.decision is Decision.FAIL
        assert report.verdict.passes_at == report.verdict.families[0].digits.digits == digits
        assert report.verdict.families[0].digits.certain
        plural = "digit" if digits == 1 else "digits"
        assert report.verdict.headline == (
            f"FAIL at 1e-10 (the paper's threshold); PASS at {tolerance_of(digits):g}: correct to "
            f"{digits} {plural}"
        ).replace("1e-0", "1e-").replace("at 0.1", "at 0.1").replace("at 0.001", "at 1e-3")

    def test_leaderboards_sort_by_them(self, tmp_path):
        """By verdict first, then by digits, however many trials passed."""
        path = tmp_path / "store.sqlite"
        for error in (3e-4, 3e-9, 10.0, 3e-7):
            check(off_by(error), store=path, isolate=False, whole=True, **SMALL)
        with Store.read(path) as store:
            found = contents([store])
        order = ["off_by_3e-09", "off_by_3e-07", "off_by_0.0003", "off_by_10"]
        assert [each.name.rpartition(":")[2] for each in found.ranked] == order
        screen = Console(file=StringIO(), width=120)
        LeaderboardSection(found).show(screen)
        rows = [line.split() for line in screen.file.getvalue().splitlines() if "off_by" in line]
        assert [row[1:3] for row in rows] == [["FAIL", str(d)] for d in (8, 6, 3, 0)]
        page = LeaderboardSection(found).html(Sheet())
        assert re.findall(r"FAIL</td>\n<td>(\d+)</td>", page) == ["8", "6", "3", "0"]

    def test_ten_of_a_right_one(self):
        report = check("coordinate-descent", **SMALL)
        assert report.verdict.headline == (
            "PASS at 1e-10 (the paper's threshold): correct to 10 digits"
        )

    def test_none_of_a_wrong_one(self):
        report = check(zoo.is_stuck_at_its_start, isolate=False, **SMALL)
        assert report.verdict.headline == "FAIL at every tolerance"
        assert report.verdict.passes_at == 0

    def test_the_exit_code_follows_the_tolerance(self):
        for tolerance, decision in ((1e-7, Decision.PASS), (1e-10, Decision.FAIL)):
            report = check(off_by(3e-9), isolate=False, whole=True, tolerance=tolerance, **SMALL)
            assert report.decision is decision
        assert report.verdict.tolerance == 1e-10

    def test_single_precision(self):
        """A right NMF in float32 passes with the digits that it has."""
        subject = zoo.works_in_single_precision
        report = check(subject, isolate=False, tolerance=1e-5, **SMALL)
        assert report.decision is Decision.PASS
        assert 5 <= report.verdict.passes_at <= 7

    def test_collapse_does_not_depend_on_the_tolerance(self):
        report = check("als", suite="quick@4", sizes=(5,), trials=100)
        shares = {share.part for share, _ in report.verdict.families[0].digits.curve}
        assert max(shares) - min(shares) <= 2  # of 200 trials

    def test_earlier_suites_have_none(self):
        report = check(off_by(3e-9), suite="quick@3", isolate=False, **SMALL)
        assert report.verdict.headline == ""
        assert report.verdict.families[0].digits is None

    def test_identified_stays_what_it_is(self):
        """Where components have to be found, a looser tolerance changes nothing."""
        kwargs = {"isolate": False, "whole": True, "families": "rank-one", "trials": 20}
        for tolerance in (1e-10, 1e-1):
            report = check(off_by(1e-3), tolerance=tolerance, **kwargs)
            assert report.decision is Decision.FAIL
        assert report.verdict.families[0].digits.digits == 2

    @pytest.mark.parametrize(
        ("error", "tolerance", "decision", "headline"),
        [
            (1e-2, 1e-10, Decision.FAIL, "FAIL at 1e-5 (exact in single precision); PASS at 1e-4"),
            (1e-2, 1e-7, Decision.FAIL, "FAIL at 1e-5 (exact in single precision); PASS at 1e-4"),
            (1e-2, 1e-3, Decision.PASS, "PASS at 1e-3: correct to 4 digits"),
            (1e-3, 1e-10, Decision.PASS, "PASS at 1e-5 (exact in single precision): correct to 6"),
            (1e-3, 1e-9, Decision.PASS, "PASS at 1e-5 (exact in single precision): correct to 6"),
        ],
    )
    def test_exact_in_single_follows_a_looser_tolerance_only(
        self, error, tolerance, decision, headline
    ):
        """The excess of the residual is of second order: about the square of the error."""
        kwargs = {"isolate": False, "whole": True, "families": "optima", "trials": 20}
        report = check(off_by(error), tolerance=tolerance, **kwargs)
        assert report.decision is decision
        assert report.verdict.headline.startswith(headline)
        failing = [stage for stage in report.failures if stage.stage.outcome is Outcome.IDENTIFIED]
        assert bool(failing) == (decision is Decision.FAIL)

    def test_a_stage_passes_at_the_same_tolerance(self):
        """Which is what `--fail-fast` looks at."""
        (ask,) = QUICK.part("optima").asks
        looser = {1e-10: False, 1e-5: False, 1e-4: True, 1e-1: True}
        assert {t: passes(ask, Outcome.IDENTIFIED, 5e-5, t) for t in looser} == looser
        assert all(passes(ask, Outcome.SINGLE, 5e-6, t) for t in looser)
        assert not passes(ask, Outcome.INVALID, 0.0, 1e-1)
        assert {t: asked_for(ask, t) for t in looser} == {t: max(t, 1e-5) for t in looser}

    def test_earlier_suites_are_judged_as_they_were(self, tmp_path):
        """A store has what its suite asks for, and a report of it says so again."""
        kwargs = {"isolate": False, "families": "optima", "trials": 20, "whole": True}
        expected = [(5, "identified", Decision.PASS), (6, "exact-in-single", Decision.FAIL)]
        for version, needs, decision in expected:
            path = tmp_path / f"{version}.sqlite"
            check(off_by(1e-2), suite=f"quick@{version}", store=path, **kwargs)
            with Store.read(path) as store:
                (subject,) = contents([store]).subjects
                assert [ask.needs for ask in store.suite.parts[0].asks] == [needs]
            assert subject.verdict.decision is decision
            (family,) = subject.families
            outcomes = {letter for cell in family.tallies for letter in cell.letters["residual"]}
            assert outcomes == {Outcome.IDENTIFIED.letter}

    def test_in_json(self):
        document = json.loads(check(off_by(3e-9), isolate=False, **SMALL).to_json())["subjects"][0]
        assert (document["tolerance"], document["digits"]) == (1e-10, 8)
        family = document["families"][0]["digits"]
        assert family["digits"] == 8
        assert [point["digits"] for point in family["curve"]] == list(range(1, 11))


def wrong_once(A, rank, *, W0, H0, seed):
    """Right, except for one trial of a cell of rank one."""
    W, H = zoo.good(A, rank, W0=W0, H0=H0)
    return (W * 1.1 if seed == 33 and rank == 1 else W), H


def rows_of(path):
    """Return how many stages a store has; 0 where it is not there yet."""
    with contextlib.suppress(InputError), Store.read(path) as store:
        return store.count()
    return 0


class TestEarlyEnds:
    SUITE = QUICK.selected(families=["bidiagonal", "rank-one"], sizes=(2, 3))

    def test_what_fails_at_every_tolerance_ends_soon(self):
        report = check(zoo.is_stuck_at_its_start, self.SUITE, isolate=False)
        stopped = report.verdict.stopped
        assert stopped.why is Why.FAILS
        assert stopped.stages <= 0.1 * self.SUITE.stages
        assert report.decision is Decision.FAIL

    def test_what_is_right_may_end_before_the_suite(self):
        report = check(zoo.good, self.SUITE, isolate=False)
        assert report.decision is Decision.PASS
        assert report.verdict.stopped is None or report.verdict.stopped.why is Why.PASSES
        whole = check(zoo.good, self.SUITE, isolate=False, whole=True)
        assert (whole.decision, whole.verdict.stopped) == (Decision.PASS, None)

    @pytest.mark.slow
    def test_it_does_not_end_with_a_pass_before_all_laws_were_tried(self, tmp_path):
        suite = replace(self.SUITE, laws=("valid",))
        for seconds, why in ((60.0, Why.PASSES), (0.0, None)):
            path = tmp_path / f"{seconds}.sqlite"
            with Store.create_or_open(path, suite) as store:
                campaign = Campaign(suite, isolate=False, law_budget=seconds)
                stored = campaign.run(runnable(zoo.good), store, lambda _: None)
                noted = store.noted(stored, STOPPED)
            assert (noted and Stopped.from_text(noted).why) == why

    def test_digits_are_made_certain(self):
        report = check(off_by(3e-9), self.SUITE.selected(families=["bidiagonal"]), isolate=False)
        assert report.verdict.headline.endswith("PASS at 1e-8: correct to 8 digits")
        assert report.verdict.stopped is None or report.verdict.stopped.why is Why.DIGITS

    def test_digits_are_certain_before_the_first_family_ends(self):
        """They wait for none of the families that are left out, where every trial has to pass."""
        report = check(off_by(3e-9), self.SUITE, isolate=False)
        stopped, (first, _) = report.verdict.stopped, report.verdict.families
        assert stopped.why is Why.DIGITS
        assert first.digits.certain
        assert first.digits.digits == 8
        assert first.test.pool.share.whole <= 0.5 * self.SUITE.part("bidiagonal").trials

    def test_no_tolerance_is_named_where_none_decides(self):
        """Mixed matrices ask for *identified*, whatever counts as exact."""
        report = check("multiplicative-update", families=["mixed"], trials=60)
        assert report.decision is Decision.PASS
        assert re.fullmatch(r"PASS: correct to \d digits", report.verdict.headline)

    @pytest.mark.slow
    def test_when_it_is_certain_that_it_fails_only_the_first_family_goes_on(self, tmp_path):
        """What it ends with does not depend on the number of workers, nor on interruptions."""
        subject = f"py:{zoo.__file__}:adds_1e_9_to_denominators"
        report = check(subject, self.SUITE, jobs=2)
        path = tmp_path / "store.sqlite"
        for budget in (2, None):  # the first ends before
            again = check(subject, self.SUITE, store=path, jobs=1, budget=budget)
        assert again.verdict == report.verdict
        assert report.verdict.stopped.why is Why.DIGITS
        first, other = report.verdict.families
        assert first.digits.certain
        assert report.verdict.digits == first.digits.digits
        assert report.verdict.headline.startswith(
            f"FAIL at 1e-10 (the paper's threshold); bidiagonal PASS at 1e-{first.digits.digits}:"
        )
        assert other.test.pool.share.whole <= 0.1 * sum(self.SUITE.part("rank-one").cells.values())
        assert json.loads(report.to_json())["subjects"][0]["digits"] == first.digits.digits

    def test_where_every_trial_has_to_pass_none_is_spared(self, tmp_path):
        """One wrong answer, late: an early PASS would have missed it."""
        report = check(wrong_once, self.SUITE, isolate=False)
        assert report.decision is Decision.FAIL
        assert report.verdict.of("rank-one").test.decision is Decision.FAIL
        assert report.verdict.of("bidiagonal").test.decision is not Decision.FAIL

    @pytest.mark.slow
    def test_what_a_store_had_before_is_not_overruled(self, tmp_path):
        path = tmp_path / "store.sqlite"
        subject = f"py:{__file__}:wrong_once"
        assert check(subject, self.SUITE, store=path, whole=True).decision is Decision.FAIL
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM stages WHERE family = 'bidiagonal' AND seed > 99")
            connection.commit()
        assert check(subject, self.SUITE, store=path).decision is Decision.FAIL

    @pytest.mark.slow
    def test_the_rows_do_not_depend_on_an_interruption(self, tmp_path):
        """Of a run that is narrowed to its first family, and killed after that."""
        whole, ended = tmp_path / "whole.sqlite", tmp_path / "ended.sqlite"
        subject = f"py:{zoo.__file__}:adds_1e_9_to_denominators"
        check(subject, self.SUITE, store=whole, jobs=2)
        command = [sys.executable, "-m", "nmfcheck", "run", subject, "--store", str(ended)]
        command += ["--family", "bidiagonal,rank-one", "--sizes", "2,3"]
        with subprocess.Popen(command, stdout=-3, stderr=-3) as running:
            while rows_of(ended) < 0.5 * rows_of(whole) and running.poll() is None:
                time.sleep(0.05)
            running.kill()
        check(subject, self.SUITE, store=ended, jobs=1)
        with Store.read(whole) as one, Store.read(ended) as other:
            (first,), (second,) = one.subjects(), other.subjects()
            expected = [(row.cell, row.seed, row.ask) for row in one.results(first).rows()]
            assert [(r.cell, r.seed, r.ask) for r in other.results(second).rows()] == expected

    def test_a_budget(self):
        report = check(zoo.good, self.SUITE, isolate=False, budget=1e-6)
        assert report.verdict.stopped.why is Why.BUDGET
        assert report.decision is Decision.INCONCLUSIVE
        with pytest.raises(InputError, match="budget must be a positive number"):
            check(zoo.good, self.SUITE, isolate=False, budget=0)

    def test_references_run_all_of_it(self):
        report = check("multiplicative-update", self.SUITE, options={"iterations": 1})
        assert report.verdict.stopped is None

    @pytest.mark.slow
    def test_the_store_says_the_same_again(self, tmp_path):
        """Why it ended is kept, and the same call goes on from there."""
        path = tmp_path / "store.sqlite"
        first = check(zoo.is_stuck_at_its_start, self.SUITE, store=path)
        again = check(zoo.is_stuck_at_its_start, self.SUITE, store=path)
        assert first.verdict == again.verdict
        with Store.read(path) as store:
            stages = store.count()
        check(zoo.is_stuck_at_its_start, self.SUITE, store=path, whole=True)
        with Store.read(path) as store:
            assert store.count() > stages

    def test_a_store_is_looked_at_with_another_tolerance(self, tmp_path):
        """What is certain of its first family follows from its trials, not from why it ended."""
        path = tmp_path / "store.sqlite"

        def verdict(tolerance):
            with Store.read(path) as store:
                (subject,) = contents([store], tolerance=tolerance).subjects
            return subject.verdict

        check(off_by(3e-9), self.SUITE, store=path, isolate=False)
        assert verdict(1e-10).stopped.why is Why.DIGITS
        looser = verdict(1e-7)
        first, other = looser.families
        assert first.test.decision is Decision.PASS
        assert first.test.reason.endswith("that is certain with these trials.")
        assert (first.digits.digits, first.digits.certain) == (8, True)
        assert other.test.decision is Decision.INCONCLUSIVE
        assert other.test.further > 0
        assert (
            looser.headline == "INCONCLUSIVE at 1e-7; bidiagonal PASS at 1e-8: correct to 8 digits"
        )
        again = check(off_by(3e-9), self.SUITE, store=path, isolate=False, tolerance=1e-7)
        assert again.decision is Decision.PASS
        assert again.verdict.headline == "PASS at 1e-7: correct to 8 digits"
        paper = verdict(1e-10)
        assert paper.families[0].digits.certain
        assert paper.headline.startswith("FAIL at 1e-10 (the paper's threshold); PASS at 1e-8")

    def test_a_budget_makes_no_pass(self, tmp_path):
        """What is left might fail, however much was run: it was the time that ended it."""
        path = tmp_path / "store.sqlite"
        suite = QUICK.selected(families=["bidiagonal"], sizes=(2,), trials=40)
        check(zoo.good, suite, store=path, isolate=False, whole=True)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM stages WHERE seed >= 36")
            connection.commit()
        report = check(zoo.good, suite, store=path, isolate=False, whole=True, budget=1e-6)
        assert report.verdict.stopped.why is Why.BUDGET
        assert report.decision is Decision.INCONCLUSIVE
        assert "of its trials were not run" in report.verdict.reason

    def test_written_down_and_read_back(self):
        stopped = Stopped(Why.PASSES, 123, 4)
        assert Stopped.from_text(stopped.as_text()) == stopped


class TestGrowth:
    """Trials are added to a store; what was run stays."""

    def run(self, path, trials):
        suite = QUICK.selected(sizes=(2,), trials=trials)
        with Store.create_or_open(path, suite) as store:
            campaign = Campaign(store.suite, isolate=False, whole=True)
            stored = campaign.run(runnable(zoo.good), store, lambda _: None)
            return store.extensions, store.suite.trials, store.results(stored).rows()

    def test_more_trials(self, tmp_path):
        path = tmp_path / "store.sqlite"
        extensions, trials, before = self.run(path, 10)
        assert (extensions, trials) == (0, 20)
        extensions, trials, after = self.run(path, 15)
        assert (extensions, trials) == (1, 30)
        kept = {(row.cell, row.seed, row.ask): row for row in after}
        assert all(kept[row.cell, row.seed, row.ask] == row for row in before)
        extensions, trials, _ = self.run(path, 5)  # they are there
        assert (extensions, trials) == (1, 30)

    def test_other_cells_are_another_suite(self, tmp_path):
        path = tmp_path / "store.sqlite"
        self.run(path, 10)
        with pytest.raises(InputError, match="is of another suite"):
            Store.create_or_open(path, QUICK.selected(sizes=(3,), trials=20))

    def test_earlier_suites_do_not_grow(self, tmp_path):
        path = tmp_path / "store.sqlite"
        old = of_version("quick", 3)
        Store.create_or_open(path, old.selected(sizes=(2,), trials=10)).close()
        with pytest.raises(InputError, match="is of another suite"):
            Store.create_or_open(path, old.selected(sizes=(2,), trials=20))

    def test_grown_suites(self):
        one, other = (QUICK.selected(sizes=(2, 3), trials=n) for n in (10, 20))
        assert one.grown_to(other) == other.grown_to(one) == other
        assert one.grown_to(replace(other, version=3)) is None
        assert one.grown_to(QUICK) is None
        assert np.isclose(one.trials, 40)


class TestDeterminism:
    """What a run ends with does not depend on which of its workers was faster."""

    def rows(self, path, jobs, **more):
        check(zoo.is_stuck_at_its_start, TestEarlyEnds.SUITE, store=path, jobs=jobs, **more)
        with Store.read(path) as store:
            (subject,) = store.subjects()
            rows = store.results(subject).rows()
            return [(r.cell, r.seed, r.ask, r.outcome) for r in rows], store.noted(
                subject, "stopped"
            )

    @pytest.mark.slow
    def test_any_number_of_workers(self, tmp_path):
        one, two = (self.rows(tmp_path / f"{jobs}.sqlite", jobs) for jobs in (1, 2))
        assert one == two
        assert one[1] is not None

    @pytest.mark.slow
    def test_what_was_there_before_stays(self, tmp_path):
        path = tmp_path / "store.sqlite"
        whole, _ = self.rows(path, 2, whole=True)
        again, _ = self.rows(path, 2)
        assert again == whole
