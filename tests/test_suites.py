"""Suites: the numbers, and what they promise."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.families import Question, Trial
from nmfcheck.families.bidiagonal.family import LADDER, ask_of, cell_of, eps_of, kind_of
from nmfcheck.store import Store
from nmfcheck.subjects import REFERENCES, reference_subject
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan
from nmfcheck.trials.stage import TrialResult, by_trial
from nmfcheck.trials.suites import Part, Suite
from nmfcheck.verdict.counts import count
from nmfcheck.verdict.tally import tally

SIZES = {
    "quick": (2, 3, 4, 5),
    "standard": (2, 3, 4, 5, 6, 7, 8),
    "full": (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20),
}
SHAPES = {
    "quick": (
        "6x4/k=1/dyadic", "5x4/k=2/dyadic", "9x6/k=3/dyadic", "4x7/k=3/dyadic", "6x5/k=2/zeros",
    ),
    "standard": ("12x10/k=4/dyadic", "8x9/k=3/zeros"),
    "full": ("5x12/k=4/dyadic", "15x13/k=5/dyadic"),
}  # fmt: skip
"""Of the inflated family; each suite has those of the one before, too."""

FAMILIES = ["bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"]
OF_VERSION = {1: FAMILIES[:1], 2: FAMILIES[:2], 3: FAMILIES}


@pytest.mark.parametrize("version", OF_VERSION)
@pytest.mark.parametrize(
    ("name", "trials", "iterations"),
    [("quick", 100, 10**4), ("standard", 100, None), ("full", 60, None)],
)
def test_the_numbers(name, trials, iterations, version):
    suite, sizes = suites.find(f"{name}@{version}"), SIZES[name]
    assert (suite.name, suite.version, suite.reference_iterations) == (name, version, iterations)
    part = suite.part("bidiagonal")
    assert part is suite.parts[0]
    assert list(part.cells) == [cell_of(n, kind) for n in sizes for kind in ("ones", "loguniform")]
    assert set(part.cells.values()) == {trials}
    assert [eps_of(ask) for ask in part.asks] == [0.0, 1e-3, 0.25]
    assert part.trials == len(sizes) * 2 * trials
    assert [part.family for part in suite.parts] == OF_VERSION[version]
    assert len(list(suite)) == suite.trials


@pytest.mark.parametrize(("name", "trials"), [("quick", 250), ("standard", 200), ("full", 150)])
def test_the_numbers_of_the_inflated_family(name, trials):
    part = suites.find(name).part("inflated")
    names = list(SHAPES)
    expected = [shape for each in names[: names.index(name) + 1] for shape in SHAPES[each]]
    assert {cell.name: number for cell, number in part.cells.items()} == dict.fromkeys(
        expected, trials
    )
    assert part.asks == LADDER


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "stages", "digest"),
    [
        ("quick@1", 2400, "07ec10adf06e7e3003fb55b57c27b89728f6328cc913ae3b28d84122856aaab0"),
        ("standard@1", 4200, "20d30d6f1002deb80cde8ef871377819d9f704becbfd518610dcf8db23a5e6ea"),
        ("full@1", 3960, "c4927be7e483dc97fa72c5e72ab12361a2dac7aadf8566e6a2930a8b10859893"),
        ("quick@2", 6150, "9be34a43a40afddbfb3ad3c7bbb68b5417712eb5484e1efd57b0b4d6cc19d85e"),
        ("standard@2", 8400, "85812a51c36837299091034c8e0c37137ab279547e23bd31301429c5fc03b14d"),
        ("full@2", 8010, "6a2f787be098c6cf134aae88ad40dcf7b6b399a3e6c6759086f50b9403d0ac50"),
        ("quick@3", 8590, "c717da5e9029dc0dbef98f92a12bd62c1d7108d9fd2d2e31b5197ae017eef030"),
        ("standard@3", 11640, "8aefb8136cfb8b2099f4ef0caf3959f62416aeab55cb239ada8356209d10b2e0"),
        ("full@3", 11680, "ed45e7a6a523df85664d2457c315f669984ae22bb0ca371f77db7c4e9d49e6ec"),
        ("quick@4", 9310, "12a6bed0a604f9c1ab0b9bc2e93c4aa8bc6dd6c67c6d63794c7c3f580be6358c"),
        ("standard@4", 11640, "8aefb8136cfb8b2099f4ef0caf3959f62416aeab55cb239ada8356209d10b2e0"),
        ("full@4", 11680, "ed45e7a6a523df85664d2457c315f669984ae22bb0ca371f77db7c4e9d49e6ec"),
        ("quick@5", 9310, "12a6bed0a604f9c1ab0b9bc2e93c4aa8bc6dd6c67c6d63794c7c3f580be6358c"),
        ("standard@5", 11640, "8aefb8136cfb8b2099f4ef0caf3959f62416aeab55cb239ada8356209d10b2e0"),
        ("full@5", 11680, "ed45e7a6a523df85664d2457c315f669984ae22bb0ca371f77db7c4e9d49e6ec"),
    ],
)
def test_earlier_versions_never_change(title, stages, digest):
    """Every trial, what is asked of it and what it needs, in order: pinned by a hash."""
    suite = suites.find(title)
    lines = [
        f"{trial.id} {trial.case(ask).id} {ask.needs} {ask.question}"
        for trial in suite
        for ask in trial.asks
    ]
    assert len(lines) == suite.stages == stages
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == digest


def test_a_name_is_that_of_the_newest_version():
    for name in SIZES:
        assert suites.find(name) == suites.SUITES[name] == suites.find(f"{name}@6")
        assert suites.find(name).title == f"{name}@6"


def test_trial_i_uses_draw_i_and_seed_i():
    for trial in suites.QUICK.cell("bidiagonal/n=3/loguniform"):
        assert trial.drawn == f"n=3/loguniform#{trial.seed}"
    for trial in suites.QUICK.cell("inflated/9x6/k=3/dyadic"):
        assert trial.drawn == f"9x6/k=3/dyadic#{trial.seed}"


def test_trial_i_of_a_cell_is_the_same_in_every_suite():
    for cell in suites.QUICK.cells:
        quick, standard, full = (suites.find(name).cell(cell) for name in SIZES)
        smallest = min(map(len, (quick, standard, full)))
        # These two have fewer trials of more cells in larger suites.
        fewer = {"bidiagonal": 60, "inflated": 150}
        assert smallest == fewer.get(cell.family, len(quick))
        assert quick[:smallest] == standard[:smallest] == full[:smallest]
    for cell in suites.find("quick@1").cells:
        assert suites.find("quick@1").cell(cell) == suites.STANDARD.cell(cell)
        assert suites.FULL.cell(cell) == suites.STANDARD.cell(cell)[:60]


def test_ids_are_unique():
    for suite in suites.SUITES.values():
        assert len({trial.id for trial in suite}) == len(list(suite))


def test_the_quick_suite_limits_every_reference():
    """To 10⁴ iterations; NeNMF keeps its 10³, each of which has up to 2000 steps inside."""
    for name, each in REFERENCES.items():
        limit, papers = suites.QUICK.reference_iterations, each.iterations
        assert reference_subject(name, at_most=limit).iterations == min(papers, 10**4)
        assert reference_subject(name).iterations == papers


def test_a_suite_hands_its_asks_to_its_trials():
    cells = {cell_of(2, kind): 1 for kind in ("ones", "loguniform")}
    short = Suite("short", 1, (Part("bidiagonal", 1, cells, (ask_of(0.0),)),), None, "for tests")
    assert [trial.asks for trial in short] == [(ask_of(0.0),)] * 2


def test_an_unknown_suite():
    with pytest.raises(InputError, match="no suite 'fast'; there are quick, standard, full"):
        suites.find("fast")


@pytest.mark.parametrize("version", ["0", "7", "", "-1", "one", "1.0", "²"])
def test_an_unknown_version(version):
    with pytest.raises(InputError) as caught:
        suites.find(f"quick@{version}")
    known = "quick@1, quick@2, quick@3, quick@4, quick@5, quick@6"
    assert str(caught.value) == f"no suite 'quick@{version}'; there are {known}"


class TestTheLeastResidual:
    """From version 6 on it has to be reached up to 1e-5, before up to 1e-3."""

    @pytest.mark.parametrize("name", SIZES)
    def test_what_it_needs_in_each_version(self, name):
        needs = dict.fromkeys((3, 4, 5), "identified") | {6: "exact-in-single"}
        for version, needed in needs.items():
            (ask,) = suites.find(f"{name}@{version}").part("optima").asks
            assert ask.needs == needed

    @pytest.mark.parametrize("name", SIZES)
    def test_nothing_else_is_new(self, name):
        five, six = (suites.find(f"{name}@{version}") for version in (5, 6))
        assert five.parts[:-1] == six.parts[:-1]
        assert five.parts[-1].cells == six.parts[-1].cells
        assert five.laws == six.laws
        for objective in ("kl", "itakura-saito"):
            other = (suites.find(f"{name}@{version}", objective).parts for version in (5, 6))
            assert next(other) == next(other)

    def test_it_is_written_down_and_read_again(self):
        for version in (5, 6):
            suite = suites.find(f"quick@{version}")
            again = Suite.from_text(suite.as_text())
            assert again == suite
            assert again.part("optima").asks == suite.part("optima").asks

    def test_a_family_that_is_added_to_an_earlier_version_is_asked_as_it_was(self):
        (part,) = suites.find("quick@1").selected(families=["optima"]).parts
        assert part == suites.find("quick@5").part("optima")
        (part,) = suites.QUICK.selected(families=["optima"]).parts
        assert part == suites.QUICK.part("optima")

    def test_a_trial_by_its_id_is_asked_as_in_the_newest_suite(self):
        trial = suites.QUICK.cell("optima/hexagon/k=2/shuffled")[7]
        assert Trial.from_id(trial.id).asks == trial.asks


class TestSelection:
    def test_families(self):
        some = suites.QUICK.selected(families=["inflated"])
        assert some.parts == (suites.QUICK.part("inflated"),)
        both = suites.QUICK.selected(families=["inflated", "bidiagonal", "inflated"])
        assert [part.family for part in both.parts] == ["inflated", "bidiagonal"]

    def test_a_family_that_the_version_does_not_have(self):
        more = suites.find("quick@1").selected(families=["bidiagonal", "inflated"])
        assert more.parts == suites.find("quick@2").parts
        assert more != suites.find("quick@2")  # it still is version 1

    @pytest.mark.parametrize(
        ("family", "options"),
        [
            ("bidiagonal", {"sizes": "2-3"}),
            ("bidiagonal", {"sizes": [2, 3], "entries": ["ones"]}),
            ("bidiagonal", {"eps": [0.0]}),
            ("bidiagonal", {"slopes": True}),
            ("inflated", {"shapes": "9x6/k=3"}),
            ("inflated", {"shapes": ["9x6/k=3/dyadic"]}),
        ],
    )
    def test_an_option_of_one_family_restricts_to_it(self, family, options):
        assert [part.family for part in suites.QUICK.selected(**options).parts] == [family]

    def test_it_does_not_where_families_are_named(self):
        both = suites.QUICK.selected(families=["bidiagonal", "inflated"], sizes=[2])
        assert {cell.n for cell in both.part("bidiagonal").cells} == {2}
        assert both.part("inflated") == suites.QUICK.part("inflated")

    def test_options_that_were_not_given_choose_nothing(self):
        nothing = {"sizes": None, "entries": None, "eps": None, "slopes": False, "shapes": None}
        assert suites.QUICK.selected(families=None, trials=None, **nothing) == suites.QUICK

    def test_what_is_chosen(self):
        suite = suites.QUICK.selected(sizes="3,2,7-8", entries="ones", eps="0.25,0,1e-4", trials=5)
        (part,) = suite.parts
        assert {cell.name: trials for cell, trials in part.cells.items()} == dict.fromkeys(
            ["n=2/ones", "n=3/ones", "n=7/ones", "n=8/ones"], 5
        )
        assert [ask.name for ask in part.asks] == ["eps=0", "eps=1e-4", "eps=0.25"]
        assert [ask.question for ask in part.asks] == [
            Question.TEST, Question.TEST, Question.EXACTNESS,
        ]  # fmt: skip
        (part,) = suites.QUICK.selected(shapes="7x8/k=2, 6x5/k=2/zeros").parts
        assert {cell.name: trials for cell, trials in part.cells.items()} == {
            "7x8/k=2/dyadic": 250,
            "6x5/k=2/zeros": 250,
        }

    def test_slopes_are_measured_besides(self):
        suite = suites.find("quick@1").selected(slopes=True)
        assert suite == suites.find("quick@1")
        ((cell, trials),) = suite.extra.items()
        assert cell.id == "bidiagonal/slopes"
        assert len(suite.cell(cell)) == trials
        assert suite.stages == 2400 + trials * len(suite.cell(cell)[0].asks)
        assert {ask.question for ask in suite.cell(cell)[0].asks} == {Question.NONE}
        assert suites.QUICK.extra == {}

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"families": ["bidiagnal"]}, "no family 'bidiagnal'; did you mean 'bidiagonal'?"),
            ({"families": ["sparse"]}, "no family 'sparse'; there are bidiagonal, inflated"),
            ({"families": []}, "no family was named; there are bidiagonal, inflated, mixed, noisy"),
            ({"size": [2]}, "'size' is not an option of the bidiagonal, inflated, mixed, noisy, "),
            (
                {"families": ["bidiagonal", "inflated"], "size": [2]},
                "'size' is not an option of the bidiagonal and inflated families",
            ),
            (
                {"families": ["inflated"], "sizes": [2]},
                "'sizes' is not an option of the inflated family",
            ),
            ({"trials": 0}, "trials must be a whole number of at least 1, not 0"),
            ({"sizes": [0]}, "a size must be a whole number of at least 1, not 0"),
            ({"entries": "twos"}, "no entries 'twos'; there are ones, loguniform"),
            ({"eps": [-1.0]}, "ε is -1; it must be at least 0"),
            ({"sizes": []}, "no cell of the bidiagonal family is chosen"),
            ({"entries": []}, "no cell of the bidiagonal family is chosen"),
            ({"shapes": []}, "no cell of the inflated family is chosen"),
            ({"shapes": "9x6"}, "no cell '9x6/dyadic' of inflated; expected one such as"),
            ({"shapes": "3x4/k=4"}, "no rank 4 of a 3×4 matrix; expected 1 to 3"),
        ],
    )
    def test_what_there_is_not(self, options, said):
        with pytest.raises(InputError) as caught:
            suites.QUICK.selected(**options)
        assert str(caught.value).startswith(said)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--family", "bidiagnal"), "no family 'bidiagnal'; did you mean 'bidiagonal'?"),
            (("--family", ""), "no family ''; there are bidiagonal, inflated"),
            (("--family", "inflated", "--sizes", "2"), "'sizes' is not an option of the inflated"),
            (("--suite", "quick@1", "--shapes", "3x2/k=1"), "'shapes' is not an option of the"),
            (
                ("--suite", "quick@7"),
                "there are quick@1, quick@2, quick@3, quick@4, quick@5, quick@6",
            ),
            (("--size", "2"), "No such option"),
            (("--shapes", "9x6/k=3/ones"), "no cell '9x6/k=3/ones' of inflated"),
        ],
    )
    def test_on_the_command_line(self, nmfcheck, tmp_path, arguments, said):
        code, out, err = nmfcheck("run", "als", *arguments)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    def test_a_family_on_the_command_line(self, nmfcheck, tmp_path):
        for arguments, families in (
            (("--family", "inflated"), {"inflated"}),
            (("--family", "inflated, bidiagonal"), {"inflated", "bidiagonal"}),
            (("--shapes", "3x4/k=2"), {"inflated"}),
            (("--sizes", "2"), {"bidiagonal"}),
            (("--suite", "quick@2"), {"inflated", "bidiagonal"}),
            (("--family", "rays"), {"rays"}),
            ((), set(FAMILIES)),
        ):
            folder = tmp_path / "-".join(["problems", *arguments]).replace("/", "-")
            few = ("--trials", "1", "--format", "json")
            code, _, err = nmfcheck("cases", folder, *arguments, *few)
            assert (code, err) == (0, "")
            told = json.loads((folder / "suite.json").read_text())["suite"]
            assert {part["family"] for part in told["families"]} == families


@st.composite
def selections(draw):
    """Draw any of the suites, and some of it."""
    title = st.sampled_from(["", "@1", "@2"])
    whole = suites.find(draw(st.sampled_from(list(SIZES))) + draw(title))
    lengths = st.integers(1, len(FAMILIES))
    some = st.tuples(st.permutations(FAMILIES), lengths).map(lambda both: both[0][: both[1]])
    named = draw(st.none() | some)
    there = named or [part.family for part in whole.parts]
    chosen = {}
    if "bidiagonal" in there:
        chosen["sizes"] = draw(st.none() | st.lists(st.integers(1, 200), min_size=1, max_size=5))
        kinds = st.lists(st.sampled_from(["ones", "loguniform"]), min_size=1)
        chosen["entries"] = draw(st.none() | kinds)
        small = st.floats(0, allow_infinity=False)
        chosen["eps"] = draw(st.none() | st.lists(small, min_size=1, max_size=5))
        chosen["slopes"] = draw(st.booleans())
    if "inflated" in there:
        sides = st.tuples(st.integers(1, 30), st.integers(1, 30)).flatmap(
            lambda mn: st.integers(1, min(mn)).map(lambda k: f"{mn[0]}x{mn[1]}/k={k}")
        )
        chosen["shapes"] = draw(st.none() | st.lists(sides, min_size=1, max_size=4))
    return whole.selected(families=named, trials=draw(st.none() | st.integers(1, 9)), **chosen)


class TestAsText:
    @given(selections())
    def test_any_selection_round_trips(self, suite):
        again = Suite.from_text(suite.as_text())
        assert again == suite
        assert again.as_text() == suite.as_text()
        assert (again.summary, again.title, again.scope) == (
            suite.summary, suite.title, suite.scope,
        )  # fmt: skip
        for one, other in zip(again.parts, suite.parts, strict=True):
            assert list(one.cells.items()) == list(other.cells.items())
            assert [ask.title for ask in one.asks] == [ask.title for ask in other.asks]
            for a, b in zip(one.cells, other.cells, strict=True):
                assert (a.columns, a.one_case) == (b.columns, b.one_case)

    @given(selections(), selections())
    def test_different_suites_have_different_texts(self, one, other):
        assert (one == other) == (one.as_text() == other.as_text())

    def test_what_the_versions_are_never_changes(self):
        """Stores name their suites by this text, and are refused where it is another one."""
        told = json.loads(suites.find("quick@1").selected(sizes=[2], trials=3).as_text())
        asks = [("eps=0", "exact", "test"), ("eps=1e-3", "first-order", "test"),
                ("eps=0.25", "exact", "exactness")]  # fmt: skip
        assert told == {
            "name": "quick",
            "version": 1,
            "reference_iterations": 10000,
            "families": [
                {
                    "family": "bidiagonal",
                    "version": 1,
                    "asks": [
                        dict(zip(("name", "needs", "question"), ask, strict=True)) for ask in asks
                    ],
                    "cells": {"n=2/ones": 3, "n=2/loguniform": 3},
                }
            ],
        }

    @pytest.mark.parametrize(
        "change",
        [
            {"families": None},
            {"families": [{"family": "bidiagonal"}]},
            {"version": "two"},
            {"name": None, "families": 3},
        ],
    )
    def test_what_is_no_suite(self, change):
        told = json.loads(suites.QUICK.as_text()) | change
        with pytest.raises((KeyError, TypeError, ValueError)):
            Suite.from_text(json.dumps(told))

    @pytest.mark.parametrize(
        ("family", "ask", "said"),
        [
            ("sparse", {}, "no family 'sparse'"),
            ("bidiagonal", {"name": "mu=3"}, "no ask 'mu=3' of bidiagonal"),
            ("bidiagonal", {"needs": "splendid"}, "no grade 'splendid'"),
            ("bidiagonal", {"question": "why"}, "'why' is not a valid Question"),
        ],
    )
    def test_a_suite_of_what_there_is_not(self, family, ask, said):
        told = json.loads(suites.find("quick@1").as_text())
        told["families"][0]["family"] = family
        told["families"][0]["asks"][0] |= ask
        with pytest.raises((InputError, ValueError), match=said):
            Suite.from_text(json.dumps(told))


TINY = replace(
    suites.find("quick@1").selected(sizes=[2, 4], trials=6), name="tiny", reference_iterations=200
)


def in_batches(jobs, progress=None):
    """Run TINY on two subjects; return the results of each by name, in the suite's order."""
    results = {}
    for name in ("multiplicative-update", "als"):
        subject = reference_subject(name, at_most=200)
        plans = [Plan(TINY.cell(cell)) for cell in TINY.cells]
        with InlineExecutor(subject, progress, processes=jobs) as executor:
            driver = Driver(executor, plans, progress, counts=False)
            stages = [stage for some in driver for stage in some]
        found = {trial: TrialResult(trial, tuple(own)) for trial, own in by_trial(stages)}
        results[name] = [found[trial] for trial in TINY]
    return results


@pytest.fixture(scope="module")
def tiny_results():
    return in_batches(jobs=1)


def test_results_do_not_depend_on_the_number_of_processes(tiny_results):
    told = []
    assert in_batches(jobs=2, progress=told.append) == tiny_results
    assert sum(told) == pytest.approx(2 * 4 * 6 * 3)


def changed(stage):
    return stage.measures.get("permutation_changed") == 1.0


def test_some_permutations_change(tiny_results):
    """So that the counts below count something."""
    stages = [s for results in tiny_results.values() for r in results for s in r.stages]
    assert any(map(changed, stages))


def test_counts(tiny_results):
    for name, results in tiny_results.items():
        with Store.in_memory(TINY) as store:
            subject = store.subject(name, {"options": {}})
            store.write(subject, [stage for result in results for stage in result.stages])
            found = store.results(subject)
            cells = count(found, TINY, tally(found, TINY))
            moved = [row[:2] for row in found.numbers("permutation_changed") if row[2] == 1.0]
        assert [f"{cell.family}/{cell.cell}" for cell in cells] == [cell.id for cell in TINY.cells]
        for cell in cells:
            members = [r for r in results if r.trial.cell.name == cell.cell]
            assert cell.columns == (str(members[0].trial.cell.n), kind_of(members[0].trial.cell))
            assert cell.trials == len(members) == 6
            assert cell.passed == sum(r.passed for r in members)
            for stage in cell.stages:
                run = [s for r in members for s in r.stages if s.ask == stage.ask]
                assert stage.ran == len(run) == sum(stage.outcomes.values())
                assert stage.exact == sum(s.outcome == "exact" for s in run)
                assert stage.reaching("first-order") >= stage.exact
                assert stage.passed == sum(s.passed for s in run)
                place = f"{cell.family}/{cell.cell}", stage.ask.name
                assert moved.count(place) == sum(map(changed, run))
                defects = [s.measures["product_defect"] for s in run]
                assert stage.median_defect == np.median(defects)
                for name_, number in stage.outcomes.items():
                    assert number == sum(s.outcome == name_ for s in run)
