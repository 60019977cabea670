"""The paper's experiments: the plan, the runs and their folder, rules, claims, files and page."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

from browser import check_page, needs_browser, opened
from nmfcheck.families.bidiagonal.cases import case_of
from nmfcheck.families.bidiagonal.exact import exact_factorization
from nmfcheck.families.bidiagonal.family import FAMILY, cell_of
from nmfcheck.intervals import Share
from nmfcheck.paper import larger, pure_types, splitting, three_by_three
from nmfcheck.paper.files import as_csv, as_json, write_all
from nmfcheck.paper.plan import (
    ALGORITHMS,
    ALS,
    CD,
    GD,
    LADDER,
    MU,
    SIZES,
    TENTH,
    WHOLE,
    Batch,
    Scale,
    type_iv,
)
from nmfcheck.paper.reproduce import reproduce
from nmfcheck.paper.rules import (
    all_of,
    any_of,
    differ,
    grows,
    mean_interval,
    more_often,
    settled,
    within,
)
from nmfcheck.paper.rules import larger as share_is_larger
from nmfcheck.paper.runs import Folder, Runs, cost
from nmfcheck.paper.section import Evidence, Status, Table, graded
from nmfcheck.reference.engine import chosen

TINY = Scale("tiny", 0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if chosen("auto") != "native":
        pytest.skip("NO NATIVE ENGINE, and with NumPy these runs take too long")
    found = Folder(tmp_path_factory.mktemp("paper") / "runs")
    found.complete(TINY.batches(), lambda _: None)
    return found


@pytest.fixture(scope="module")
def found(folder):
    return reproduce(Evidence(TINY, folder), folder.made_by)


class TestPlan:
    def test_the_full_scale_is_what_the_paper_has_or_more(self):
        assert [WHOLE.seeds(n) for n in SIZES] == [1000] * 2 + [200] * 5 + [50] * 12
        assert [WHOLE.iterations(a, 2) for a in ALGORITHMS] == [10**6, 10**6, 10**4]
        assert [WHOLE.iterations(a, 3) for a in ALGORITHMS] == [10**6, 10**6, 10**4]
        assert len([eps for eps in LADDER if 1e-5 <= eps <= 0.1]) >= 7

    def test_quick_is_a_tenth(self):
        assert [TENTH.seeds(n) for n in SIZES] == [100] * 2 + [20] * 5 + [5] * 12
        assert TENTH.iterations(MU, 3) == 10**5

    @pytest.mark.parametrize("scale", [WHOLE, TENTH, TINY])
    def test_every_batch_has_a_file_of_its_own(self, scale):
        names = [batch.name for batch in scale.batches()]
        assert len(names) == len(set(names))
        assert all(name.isascii() and "/" not in name for name in names)

    def test_starts_and_entries_are_those_of_the_suites(self):
        batch = Batch(MU, 3, "loguniform", 1e-3, 5, 10)
        trial = FAMILY.trial(cell_of(3, "loguniform"), 4)
        np.testing.assert_array_equal(batch.cases()[4].A, trial.case("eps=1e-3").A)
        for X, expected in zip(batch.starts(), trial.start(), strict=True):
            np.testing.assert_array_equal(X[4], expected)

    def test_outside_the_assumption_one_entry_is_of_another_order(self):
        small, large = (Batch(MU, 3, k, 1e-3, 1, 1).cases()[0] for k in ("small a0", "large a1"))
        assert small.a0.tolist() == [1, 1e-3, 1]
        assert large.a1.tolist() == pytest.approx([1000, 1])


class TestFolder:
    BATCHES = tuple(Batch(MU, 2, "ones", eps, 4, 100) for eps in (0.0, 0.1, 0.01))

    def contents(self, path):
        """Return the bytes of all W and H in a folder."""
        found = {}
        for file in path.glob("*.npz"):
            with np.load(file) as loaded:
                found[file.name] = loaded["W"].tobytes(), loaded["H"].tobytes()
        return found

    def test_what_is_there_is_not_made_again(self, tmp_path):
        folder = Folder(tmp_path / "a")
        folder.complete(self.BATCHES, lambda _: None)
        before = {f: f.stat().st_mtime_ns for f in (tmp_path / "a").iterdir()}
        done = []
        folder.complete(self.BATCHES, done.append)
        assert {f: f.stat().st_mtime_ns for f in (tmp_path / "a").iterdir()} == before
        assert sum(done) == pytest.approx(sum(map(cost, self.BATCHES)))

    def test_progress_reaches_the_end(self, tmp_path):
        done = []
        Folder(tmp_path / "a").complete(self.BATCHES, done.append)
        assert sum(done) == pytest.approx(sum(map(cost, self.BATCHES)))

    @pytest.mark.parametrize(
        "damaged",
        [
            lambda content: content[:100],
            lambda _: b"",
            lambda _: b"nonsense",
            lambda content: content[:60] + b"x" * 40 + content[100:],
        ],
    )
    def test_a_damaged_file_is_made_again(self, tmp_path, damaged):
        folder = Folder(tmp_path / "a")
        folder.complete(self.BATCHES, lambda _: None)
        whole = self.contents(tmp_path / "a")
        victim = sorted((tmp_path / "a").iterdir())[0]
        victim.write_bytes(damaged(victim.read_bytes()))
        folder.complete(self.BATCHES, lambda _: None)
        assert self.contents(tmp_path / "a") == whole

    def test_runs_of_another_engine_are_not_taken(self, tmp_path):
        Folder(tmp_path / "a", engine="numpy").complete(self.BATCHES[:1], lambda _: None)
        there = Folder(tmp_path / "a", engine="numpy")._there(self.BATCHES[0])
        assert there
        other = Folder(tmp_path / "a", engine="numpy")
        other.engine = "another"
        assert not other._there(self.BATCHES[0])

    def test_runs_of_other_problems_are_not_taken(self, tmp_path, monkeypatch):
        folder = Folder(tmp_path / "a")
        folder.complete(self.BATCHES[:1], lambda _: None)
        assert folder._there(self.BATCHES[0])
        monkeypatch.setattr(
            "nmfcheck.paper.plan.starting_point", lambda n, _: (np.ones((n, n)),) * 2
        )
        assert not folder._there(self.BATCHES[0])

    @pytest.mark.slow
    def test_killed_and_begun_again_it_ends_the_same(self, tmp_path):
        script = (
            "import sys; from pathlib import Path\n"
            "from nmfcheck.paper.runs import Folder; from nmfcheck.paper.plan import Batch, MU\n"
            "Folder(Path(sys.argv[1])).complete([Batch(MU, 3, 'ones', e, 40, 200000) for e in "
            "(.1, .05, .02, .01)], lambda _: None)\n"
        )
        command = [sys.executable, "-c", script]
        subprocess.run([*command, tmp_path / "whole"], check=True)
        process = subprocess.Popen([*command, tmp_path / "cut"])
        while not (tmp_path / "cut").exists() or not any((tmp_path / "cut").glob("*.npz")):
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        subprocess.run([*command, tmp_path / "cut"], check=True)
        assert self.contents(tmp_path / "cut") == self.contents(tmp_path / "whole")


class TestRules:
    def test_fishers_test(self):
        # The lady tasting tea: 3 of 4 against 1 of 4.
        assert share_is_larger(Share(3, 4), Share(1, 4)) == pytest.approx(17 / 70)
        assert differ(Share(3, 4), Share(1, 4)) == pytest.approx(34 / 70)

    def test_a_trend_is_the_cochran_armitage_test(self):
        counts, sizes = [2, 5, 9], [1, 2, 3]
        happened = [np.arange(20) < c for c in counts]
        n, whole = 20.0, 60.0
        p = sum(counts) / whole
        t = sum(s * (c - n * p) for s, c in zip(sizes, counts, strict=True))
        spread = n * sum(s * s for s in sizes) - (n * sum(sizes)) ** 2 / whole
        z = t / np.sqrt(p * (1 - p) * spread)
        assert grows(sizes, happened) == pytest.approx(stats.norm.sf(z), rel=0.1)
        assert grows(sizes, happened[::-1]) > 0.9

    def test_no_trend_where_nothing_happens(self):
        assert grows([1, 2], [np.zeros(5, bool)] * 2) == 1

    def test_pairs_that_agree_say_nothing(self):
        one, other = np.array([1, 1, 1, 0], bool), np.array([1, 0, 0, 0], bool)
        assert more_often(one, other) == pytest.approx(0.25)
        assert more_often(one, one) == 1

    def test_three_answers(self):
        assert Share(90, 100).is_above(0.5)
        assert Share(10, 100).is_above(0.5) is False
        assert Share(52, 100).is_above(0.5) is None
        assert all_of([True, None]) is None
        assert all_of([None, False]) is False
        assert all_of([True, True])

    def test_some_and_settled(self):
        assert any_of([None, True])
        assert any_of([None, False]) is None
        assert any_of([False, False]) is False
        assert settled(0.001, 0.999, 0.01)
        assert settled(0.999, 0.001, 0.01) is False
        assert settled(0.5, 0.5, 0.01) is None
        assert settled(1.0, 1.0, 0.01) is None  # nothing happened

    def test_a_mean_within_bounds(self):
        values = np.tile([0.0, 1.0], 500)
        interval = mean_interval(values)
        assert interval[0] == 0.5
        assert interval[2] - interval[0] == pytest.approx(1.96 * 0.5 / np.sqrt(1000), rel=1e-3)
        assert within(interval, 0.4, 0.6)
        assert within(interval, 0.5, 0.6) is None
        assert within(interval, 0.6, 0.7) is False

    def test_statuses(self):
        assert graded(whole=True, part=None) is Status.REPRODUCED
        assert graded(whole=False, part=True) is Status.CORRECTED
        assert graded(whole=False, part=False) is Status.NOT_REPRODUCED
        assert graded(whole=False, part=None) is Status.UNDECIDED


def exact_runs(entries, **more):
    """Return exact factorizations as runs, one for each word hh, hw and ww."""
    batch = Batch(MU, 3, entries, 1e-3, 3, 1)
    points = [(2, 0.0), (1, 0.0), (1, 1.0)]
    pairs = [
        exact_factorization(case, switch=s, theta=t, **more)
        for case, (s, t) in zip(batch.cases(), points, strict=True)
    ]
    return Runs(batch, np.stack([W for W, _ in pairs]), np.stack([H for _, H in pairs]))


@pytest.mark.slow
class TestExperiments:
    def test_the_formulas_of_the_pure_types_hold_for_exact_solutions(self):
        for entries in ("ones", "loguniform"):
            runs = exact_runs(entries, w0=[0.3, 2.0, 1.1], permutation=[2, 0, 1])
            assert pure_types.deviations(runs).max() < 1e-12
            assert len(pure_types.deviations(runs)) == 6
        assert pure_types.deviations(exact_runs("ones"), general=False).max() < 1e-12
        assert pure_types.deviations(exact_runs("loguniform"), general=False).max() > 0.1

    def test_types_are_counted(self):
        assert three_by_three._types(exact_runs("ones")) == {"I": 1, "II": 1, "III": 1, "IV": 0}

    def test_the_pattern_and_changed_permutations(self):
        straight, turned = exact_runs("ones"), exact_runs("ones", permutation=[1, 0, 2])
        assert larger.has_pattern(straight).all()
        assert larger.changed(straight, turned).tolist() == [True] * 3
        assert larger.changed(straight, straight).tolist() == [False] * 3

    def test_type_iv_is_off_by_eps_squared_in_the_corner(self):
        W, H = type_iv(1e-3)
        off = W @ H - case_of(3, "ones", 1e-3).A
        assert off[0, 2] == pytest.approx(1e-6)
        assert np.count_nonzero(np.abs(off) > 1e-15) == 1

    @pytest.mark.parametrize(
        ("counts", "status"),
        [
            ({"I": 100, "II": 300, "III": 50, "IV": 50}, Status.REPRODUCED),
            ({"I": 300, "II": 100, "III": 50, "IV": 50}, Status.NOT_REPRODUCED),
            ({"I": 200, "II": 205, "III": 50, "IV": 50}, Status.UNDECIDED),
        ],
    )
    def test_the_most_common_type(self, counts, status):
        from collections import Counter

        clear = Counter({"I": 0, "II": 500, "III": 0, "IV": 0})
        claim = three_by_three._most_common({MU: Counter(counts), ALS: clear, GD: clear})
        assert claim.status is status

    @pytest.mark.parametrize(
        ("large", "small", "status"),
        [
            (10, 5, Status.REPRODUCED),
            (600, 5, Status.CORRECTED),
            (600, 400, Status.NOT_REPRODUCED),
            (600, 100, Status.UNDECIDED),
        ],
    )
    def test_splitting(self, large, small, status):
        split = {
            (a, eps): Share(large if eps > 1e-3 else small, 1000)
            for a in ALGORITHMS
            for eps in LADDER
        }
        assert splitting._claim("id", "where", "said", split).status is status

    def test_the_law_of_the_escape(self, found):
        text = next(s.text for s in found.beyond if s.title == "The way out of Type IV")
        rows = [r for s in found.beyond for t in s.tables if t.name == "escape" for r in t.rows]
        followed = [(c, law) for a, _, c, law in rows if a == CD]
        assert max(abs(c / law - 1) for c, law in followed) < 0.02
        for a in (MU, ALS, GD):
            corners = [c for name, _, c, _ in rows if name == a]
            assert corners == pytest.approx([1e-4] * len(corners), rel=1e-3)
            assert np.ptp(corners) < 1e-10
            assert a in text

    def test_the_law_of_the_decay(self, found):
        rows = [r for s in found.beyond for t in s.tables if t.name == "decay" for r in t.rows]
        last, before = rows[-1], rows[-3]
        ratio = np.log10(last[3] / before[3]) / np.log10(last[0] / before[0])
        assert ratio == pytest.approx(-1, abs=0.03)


@pytest.mark.slow
class TestReproduction:
    def test_every_claim_has_a_rule_and_numbers(self, found):
        assert len({claim.id for claim in found.claims}) == len(found.claims) >= 18
        for claim in found.claims:
            assert claim.rule
            assert any(c.isdigit() for c in claim.evidence)

    def test_form_9_is_always_found(self, found):
        claim = next(claim for claim in found.claims if claim.id == "form-9")
        assert claim.status is Status.REPRODUCED

    def test_every_misprint_has_evidence(self, found):
        assert len(found.misprints) == 9
        assert all(any(c.isdigit() for c in each.evidence) for each in found.misprints)

    def test_every_section_has_a_figure_and_a_table(self, found):
        for section in (*found.sections, *found.beyond):
            assert section.drawings
            assert section.tables

    def test_files(self, found, tmp_path):
        written = write_all(found, tmp_path)
        assert written[0] == tmp_path / "paper.html"
        names = {path.name for path in written}
        for section in (*found.sections, *found.beyond):
            for drawing in section.drawings:
                for end in ("svg", "png"):
                    assert f"{drawing.name}.{end}" in names
                    assert 1000 < (tmp_path / f"{drawing.name}.{end}").stat().st_size < 200_000
        text = (tmp_path / "paper.md").read_text()
        for name in re.findall(r"\]\(([\w-]+\.(?:svg|csv))\)", text):
            assert (tmp_path / name).exists()
        assert text.count("*Rule.*") == len(found.claims)
        document = json.loads((tmp_path / "claims.json").read_text())
        assert [claim["id"] for claim in document["claims"]] == [c.id for c in found.claims]
        assert document["scale"] == "tiny"

    def test_the_same_runs_give_the_same_numbers(self, found, folder):
        again = reproduce(Evidence(TINY, Folder(folder.path)), folder.made_by)
        assert as_json(again) == as_json(found)
        for one, other in zip(again.sections, found.sections, strict=True):
            assert [as_csv(t) for t in one.tables] == [as_csv(t) for t in other.tables]

    def test_numbers_read_back_to_the_same_bits(self):
        table = Table("t", ("x", "y"), [(0.1 + 0.2, float("nan")), (np.float64(1e-300), 3)])
        header, *rows = csv.reader(io.StringIO(as_csv(table)))
        assert header == ["x", "y"]
        assert [float(rows[0][0]), rows[0][1]] == [0.1 + 0.2, ""]
        assert [float(rows[1][0]), int(rows[1][1])] == [1e-300, 3]


@pytest.mark.slow
class TestCommandLine:
    def test_a_file_is_no_folder(self, nmfcheck, tmp_path):
        (tmp_path / "f").write_text("")
        code, _, err = nmfcheck("paper", "--out", "f")
        assert code == 2
        assert "--out is 'f', which is a file" in err
        assert err.count("\n") == 1

    def test_all_of_it(self, nmfcheck, monkeypatch, folder):
        monkeypatch.setattr("nmfcheck.paper.plan.TENTH", TINY)
        out = folder.path.parent
        code, told, err = nmfcheck("paper", "--quick", "--out", out)
        assert code == 0
        assert "equation (9)" in told
        assert f"Written to {out / 'paper.html'}" in err
        assert (out / "claims.json").exists()


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(browser, found, tmp_path, scheme):
    from nmfcheck.paper.page import as_page, drawn

    (tmp_path / "paper.html").write_text(as_page(found, drawn(found)), encoding="utf-8")
    with opened(browser, tmp_path / "paper.html", scheme) as (tab, said, asked):
        check_page(tab, said, asked, figures=13)
        assert "Type II is the most common" in tab.inner_text("body")
