"""Laws: how they are tried, kept, shown and replayed."""

import json
import re
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from lawful import Lawful
from laws_zoo import ZOO
from nmfcheck import check
from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import Runnable
from nmfcheck.errors import InputError, SubjectError
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.executors.lawful import try_laws
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Limits
from nmfcheck.laws import LAWS, Example, LawResult, Severity, State, find, try_law
from nmfcheck.laws.comparison import FEW
from nmfcheck.laws.law import DRAWS, SMALL, beyond
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName, as_subject, reference_subject
from nmfcheck.subjects.capabilities import Offer
from nmfcheck.subjects.handles import handle_of
from nmfcheck.subjects.references import REFERENCES, accepted
from nmfcheck.subjects.refusals import is_clear
from nmfcheck.trials import suites

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs" / "laws.md"
SCHEMA = TESTS.parent / "src" / "nmfcheck" / "data" / "report.schema.json"
FROBENIUS = accepted()
OTHERS = ("kl-multiplicative-update", "kl-scalar-newton")

pytestmark = pytest.mark.filterwarnings("ignore:stopped at max_iter")


def named(function_or_class, file="laws_zoo.py"):
    return f"py:{TESTS / file}:{function_or_class.__name__}"


def broken(subject, objective="frobenius", names=LAWS):
    handle = handle_of(subject, objective)
    found = [try_law(find(name), handle) for name in names]
    return [each for each in found if each.decides]


class TestStatements:
    @pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
    def test_each_says_what_it_says(self, law):
        assert law.statement.endswith(".")
        assert law.reason and law.usually
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", law.name)
        text = " ".join(DOCS.read_text(encoding="utf-8").split())
        assert f"### {law.name} " in text
        assert law.statement in text

    def test_ids_of_examples_give_them_back(self):
        for example in (Example(5, 4, 2), Example(12, 10, 4, 3, "csr_array+own-start")):
            assert Example.from_id(example.id) == example
        with pytest.raises(InputError, match="expected one such as"):
            Example.from_id("5x4")

    def test_an_unknown_law_is_said(self):
        with pytest.raises(InputError, match="no law 'scales'; did you mean 'scale'"):
            find("scales")


class TestWhoIsRight:
    @pytest.mark.parametrize("name", FROBENIUS)
    def test_references_break_none_that_decides(self, name):
        assert broken(reference_subject(name, at_most=10**4)) == []

    @pytest.mark.slow
    @pytest.mark.parametrize("name", OTHERS)
    def test_neither_do_those_for_kullback_leibler(self, name):
        assert broken(reference_subject(name, at_most=10**4), "kl") == []

    @pytest.mark.parametrize("name", FROBENIUS)
    def test_few_iterations_magnify_rounding_little(self, name):
        """As docs/laws.md says: by less than 1e-12, where 1e-6 is allowed."""
        rng = np.random.default_rng(0)

        def moved(X):
            rounding = 2.0**-52 * rng.choice([-1, 0, 1], size=(50, *X.shape))
            return np.concatenate([X[None], X * (1 + rounding)])

        for example in (*SMALL, *DRAWS, Example(7, 4, 2), Example(6, 5, 2)):
            A, (W0, H0) = example.matrix(), example.start()
            algorithm = REFERENCES[name].algorithm
            found = algorithm(moved(A), moved(W0), moved(H0), FEW, threads=1)
            products = found.W @ found.H
            assert np.abs(products[1:] - products[0]).max() < 1e-12 * A.max()

    @pytest.mark.parametrize("objective", ["itakura-saito", "beta=0.5"])
    def test_nor_those_for_other_divergences(self, objective):
        subject = reference_subject("beta-multiplicative-update", at_most=10**4)
        assert broken(subject, objective, ("valid", "zero-rows", "scale", "fixed-point")) == []

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["sklearn-cd", "sklearn-mu"])
    def test_scikit_learn_breaks_none_that_decides(self, name):
        pytest.importorskip("sklearn")
        assert broken(as_subject(name)) == []

    def test_scikit_learn_misreads_csc_for_other_divergences(self):
        """A finding: its data are taken in the order of CSR (1.9.1)."""
        pytest.importorskip("sklearn")
        found = try_law(find("sparse"), handle_of(as_subject("sklearn-mu-kl"), "kl"))
        if found.state is State.HELD:
            pytest.skip("mended in this version")
        assert found.example.endswith("csc_array")


class TestOffers:
    def test_of_an_estimator(self):
        handle = handle_of(as_subject(Lawful), "frobenius")
        absent = {Offer.FIXED, Offer.FUNCTION}
        assert handle.offers == set(Offer) - absent
        fit = handle.fit(np.ones((4, 3)), 2)
        assert fit.reports.error is not None and fit.reports.losses and fit.reports.iterations

    def test_of_a_function(self):
        def function(A, rank, *, W0=None, H0=None, n_iter=10, tolerance=0.1):
            return W0, H0, {"error": 1.0, "losses": [2.0, 1.0], "iterations": 2, "converged": True}

        handle = handle_of(as_subject(function), "frobenius")
        assert handle.offers >= {Offer.START, Offer.OWN_START, Offer.LIMIT, Offer.TOLERANCE}
        assert handle.own[Offer.LIMIT] == "n_iter"
        reports = handle.fit(np.ones((4, 3)), 2).reports
        assert (reports.error, reports.iterations, reports.converged) == (1.0, 2, True)

    def test_a_plain_function_is_asked_what_needs_nothing(self):
        def function(A, rank):
            return np.full((len(A), rank), np.nan), np.ones((rank, A.shape[1]))

        found = try_law(find("valid"), handle_of(as_subject(function), "frobenius"))
        assert found.broken and "NaN" in found.sentence
        other = try_law(find("transform"), handle_of(as_subject(function), "frobenius"))
        assert other.state is State.DOES_NOT_APPLY and other.sentence == "it offers no transform"

    def test_a_third_value_does_not_disturb_a_run(self):
        report = check(
            lambda A, rank, *, W0, H0: (*ZOO["start-used"](A, rank, W0=W0, H0=H0), {"error": 1}),
            sizes=[2], trials=2, isolate=False, laws=[],
        )  # fmt: skip
        assert not report.verdict.hard

    def test_a_program_says_what_it_offers(self, tmp_path):
        program = tmp_path / "nmf.py"
        program.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    r = json.loads(line)\n"
            "    m, n, k = len(r['A']), len(r['A'][0]), r['rank']\n"
            "    answer = {'id': r['id'], 'W': [[r.get('max_iter', 7.0)] * k] * m,\n"
            "              'H': [[1.0] * n] * k, 'error': 0.5, 'iterations': 3}\n"
            "    if r.get('capabilities'): answer['capabilities'] = ['max_iter']\n"
            "    print(json.dumps(answer), flush=True)\n"
        )
        handle = handle_of(as_subject(f"cmd:{sys.executable} {program}"), "frobenius")
        assert Offer.LIMIT in handle.offers
        fit = handle.fit(np.ones((3, 2)), 1, limit=4)
        assert fit.W[0, 0] == 4 and fit.reports.error == 0.5 and fit.reports.iterations == 3


PROGRAM = """
import json, os, sys
import numpy as np

def descend(A, W, H):
    G, T = W.T @ W, W.T @ A
    for k in range(len(H)):
        if G[k, k] > 0:
            H[k] = np.maximum(H[k] + (T[k] - G[k] @ H) / G[k, k], 0)
    return H

for line in sys.stdin:
    r = json.loads(line)
    A, rng, more = np.array(r["A"], float), np.random.default_rng(r["seed"]), {}
    try:
        if A.ndim != 2 or not A.size or r["rank"] < 1 or (A < 0).any():
            raise ValueError("no nonnegative matrix, or no rank")
        W, H = (np.array(r[x], float) for x in ("W0", "H0"))
        BODY
        for _ in range(200):
            H = descend(A, W, H)
            W = descend(A.T, H.T, W.T).T
        answer = {"id": r["id"], "W": W.tolist(), "H": H.tolist(), **more}
    except Exception as error:
        answer = {"id": r["id"], "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""
OF_ITS_OWN = "W, H = rng.random(W.shape), rng.random(H.shape)"
ZEROS = "(A.sum(axis=1) == 0).any()"


@pytest.fixture
def tried(tmp_path):
    """Return what came of laws for a program with a line of its own."""
    made = []

    def tried(body, *names):
        path = tmp_path / "nmf.py"
        path.write_text(PROGRAM.replace("BODY", body))
        made.append(as_subject(f"cmd:{sys.executable} {path}"))
        handle = handle_of(made[-1], "frobenius")
        return {name: try_law(find(name), handle) for name in names or LAWS}

    yield tried
    for command in made:
        command.close()


class TestPrograms:
    def test_a_right_one_breaks_none(self, tried):
        found = tried("")
        assert [each for each in found.values() if each.broken] == []
        assert found["start-used"].state is State.HELD
        assert found["global-state"].state is State.DOES_NOT_APPLY

    def test_a_crash_is_no_refusal(self, tried):
        found = tried(f"not {ZEROS} or os.abort()", "valid", "zero-rows", "rank-one")
        for name in ("valid", "zero-rows"):
            assert found[name].broken
            assert found[name].sentence == "the program was ended by SIGABRT"
        assert found["rank-one"].state is State.HELD

    def test_nor_for_bad_input_or_a_rank_above(self, tried):
        found = tried("not r['rank'] > min(A.shape) or os._exit(3)", "valid", "bad-input")
        assert found["valid"].example.endswith("rank-above")
        assert found["valid"].sentence == "the program ended with exit code 3"
        assert found["bad-input"].state is State.HELD

    @pytest.mark.parametrize("accident", ["1 / 0", "[][0]", "np.linalg.inv(A @ A.T)"])
    def test_an_accident_is_no_refusal(self, tried, accident):
        found = tried(f"{accident} if {ZEROS} else 0", "valid", "zero-rows")
        assert found["valid"].broken and found["zero-rows"].broken
        assert "answered with an error: " in found["valid"].sentence

    def test_a_clear_refusal_is_one(self, tried):
        body = f"assert not {ZEROS}, 'a row of zeros'"
        found = tried(body, "valid", "zero-rows")
        assert not any(each.broken for each in found.values())
        assert tried(f"assert not {ZEROS}", "valid")["valid"].broken

    def test_another_line_than_an_answer_is_no_refusal(self, tried):
        found = tried(f"print('zeros!') if {ZEROS} else 0", "valid")["valid"]
        assert found.broken and found.sentence.startswith("it wrote a line that is not a JSON")

    def test_one_that_takes_no_start_says_so(self, tried):
        found = tried(f"{OF_ITS_OWN}; more = {{'takes': ['seed']}}")
        assert [each for each in found.values() if each.broken] == []
        assert found["start-used"].sentence == "it offers no start"
        assert found["other-seed"].state is State.HELD

    def test_and_is_told_how(self, tried):
        found = tried(OF_ITS_OWN, "start-used")["start-used"]
        assert found.broken and 'says "takes": ["seed"] in its first answer' in found.sentence
        found = tried("W, H = np.ones_like(W), np.ones_like(H)", "start-used")["start-used"]
        assert found.broken and "takes" not in found.sentence

    def test_what_it_takes_has_a_name(self, tried):
        with pytest.raises(SubjectError, match="not a list of some of W0, H0, seed"):
            tried("more = {'takes': ['start']}", "valid")


def overflows(A, rank, *, W0, H0):
    """Return factors that are finite, and whose objective is not."""
    return W0 * 1e100, H0 * 1e100, {"error": np.inf}


def overflows_otherwise(A, rank):
    overflows.calls = getattr(overflows, "calls", 0) + 1
    W0, H0 = Example(*np.shape(A), rank).start()
    return W0 * (1e100 + 1e99 * overflows.calls), H0 * 1e100


KNOWN = {}


def factorizes_the_first_of_each_shape(A, rank, *, W0, H0):
    return ZOO["start-used"](KNOWN.setdefault((A.shape, rank), A.copy()), rank, W0=W0, H0=H0)


def begins_to_factorize_the_first_of_each_shape(A, rank, *, W0, H0):
    A = KNOWN.setdefault(("some", A.shape, rank), A.copy())
    W, H = W0.copy(), H0.copy()
    for _ in range(10):  # far from the end, so where it begins shows
        H *= W.T @ A / (W.T @ W @ H)
        W *= A @ H.T / (W @ (H @ H.T))
    return W, H


class CachesByShape:
    """An estimator that factorizes the first A of each shape."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit_transform(self, A):
        A = KNOWN.setdefault(("class", A.shape, self.n_components), A.copy())
        rng = np.random.default_rng(0)
        start = rng.random((len(A), self.n_components)), rng.random((self.n_components, A.shape[1]))
        W, self.components_ = ZOO["start-used"](A, self.n_components, W0=start[0], H0=start[1])
        return W


def test_so_does_that_of_an_estimator_and_zeros_are_no_cache():
    handle = handle_of(as_subject(CachesByShape), "frobenius")
    assert try_law(LAWS["refit"], handle).state is State.BROKEN

    def returns_zeros(A, rank):
        return np.zeros((len(A), rank)), np.zeros((rank, A.shape[1]))

    def returns_its_start(A, rank, *, W0, H0):
        return W0, H0

    stays = handle_of(as_subject(returns_its_start), "frobenius")
    assert try_law(LAWS["refit"], stays).state is not State.BROKEN
    zeros = handle_of(as_subject(returns_zeros), "frobenius")
    assert try_law(LAWS["refit"], zeros).state is not State.BROKEN


@pytest.mark.parametrize(
    "subject",
    [factorizes_the_first_of_each_shape, begins_to_factorize_the_first_of_each_shape],
)
def test_a_cache_that_is_never_filled_again_breaks_a_law(subject):
    handle = handle_of(as_subject(subject), "frobenius")
    result = try_law(LAWS["refit"], handle)
    assert result.state is State.BROKEN
    assert result.sentence == "another A of this shape gets the same W·H"


def ends_a_little_above_the_least(A, rank, *, W0, H0):
    W, H = ZOO["start-used"](A, rank, W0=W0, H0=H0)
    return (W * (1 + 0.0451), H) if rank == 1 else (W, H)


class TestSentences:
    @pytest.mark.parametrize("subject", [overflows, overflows_otherwise])
    def test_what_cannot_be_compared_is_not_compared(self, subject):
        handle = handle_of(as_subject(subject), "frobenius")
        found = [try_law(law, handle) for law in LAWS.values()]
        assert [each for each in found if "nan" in each.sentence] == []
        states = {each.law: each.state for each in found}
        assert states["rank-one"] is State.BROKEN
        assert (states["refit"] is State.BROKEN) == (subject is overflows)  # which ignores A
        assert states["permutation"] is State.DOES_NOT_APPLY

    @pytest.mark.parametrize(
        ("text", "clear"),
        [("ValueError: no zeros", True), ("'A' has zeros", True), ("no zeros, please", True),
         ("AssertionError: no zeros", True), ("AssertionError", False), ("AssertionError()", False),
         ("ZeroDivisionError: by zero", False), ("KeyError('x')", False), ("", False),
         ("simpleError non-conformable arrays", False), ("rank is out of bounds", True),
         ("index (3,_): out of bound 2 (dimensions are 2x2)", False),
         ("numpy.linalg.LinAlgError: Singular matrix", False),
         ("java.lang.NullPointerException", False), ("ArithmeticException: / by zero", False),
         ("java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds", False),
         ("java.lang.IllegalArgumentException: requirement failed: rank", True)],
    )  # fmt: skip
    def test_what_a_clear_refusal_is(self, text, clear):
        assert is_clear(text) is clear

    def test_a_number_that_is_too_large_looks_like_it(self):
        assert beyond(0.00101, 1e-3) == "0.00101"
        assert beyond(0.0010000001, 1e-3) == "0.0010000001"
        assert beyond(float("nan"), 1e-3) == "nan"
        assert beyond(2.345, 1e-3) == "2.3"

    def test_further_examples_are_counted(self):
        law = find("inverse-transform")
        found = try_law(law, handle_of(as_subject(Lawful), "frobenius"), seconds=1e-9)
        assert found.sentence == "1 further example was not tried for want of time"


def crashes_on_zero_rows(A, rank, *, W0, H0):
    if (A.sum(axis=1) == 0).any():
        import os

        os.abort()
    return ZOO["start-used"](A, rank, W0=W0, H0=H0)


def hangs_on_zero_rows(A, rank, *, W0, H0):
    while (A.sum(axis=1) == 0).any():
        pass
    return ZOO["start-used"](A, rank, W0=W0, H0=H0)


class TestExecutors:
    def test_a_crash_costs_one_law_and_has_a_name(self):
        name = SubjectName(named(crashes_on_zero_rows, "test_laws.py"))
        with LocalExecutor(name, 1) as executor:
            executor.start()
            laws = ("valid", "rank-one", "zero-rows")
            found = {each.law: each for each in try_laws(executor, laws, "frobenius")}
        assert found["valid"].broken and "SIGABRT" in found["valid"].sentence
        assert found["valid"].id == "law/valid/6x5/k=2#0/zero-row"
        assert found["rank-one"].state is State.HELD
        assert found["zero-rows"].broken

    def test_a_hang_breaks_what_asks_for_an_answer_in_time(self):
        name = SubjectName(named(hangs_on_zero_rows, "test_laws.py"))
        with LocalExecutor(name, 1, Limits(timeout=1.0)) as executor:
            executor.start()
            valid, zero = try_laws(executor, ("valid", "zero-rows"), "frobenius")
        assert valid.broken and "did not answer within 1 s" in valid.sentence
        assert zero.state is State.NOT_TRIED

    def test_inline_and_local_agree(self):
        laws = ("valid", "fixed-factor", "descent")
        subject = ZOO["fixed-factor"]
        inline = InlineExecutor(as_subject(subject))
        here = list(try_laws(inline, laws, "frobenius"))
        with LocalExecutor(SubjectName(named(subject)), 1) as executor:
            executor.start()
            there = list(try_laws(executor, laws, "frobenius"))
        for one, other in zip(here, there, strict=True):
            assert (one.state, one.sentence, one.example) == (
                other.state, other.sentence, other.example,
            )  # fmt: skip

    def test_what_there_is_no_time_for_is_said(self):
        inline = InlineExecutor(as_subject(Lawful))
        first, *others = try_laws(inline, ("valid", "scale", "sparse"), "frobenius", budget=1e-9)
        assert [each.state for each in (first, *others)] == [State.NOT_TRIED] * 3
        assert "was used up" in first.sentence

    def test_what_does_not_apply_needs_no_time(self):
        inline = InlineExecutor(as_subject("als"))
        laws = ("transform", "scale", "fixed-factor", "penalty-form")
        states = [each.state for each in try_laws(inline, laws, "frobenius", budget=1e-9)]
        assert states == [State.DOES_NOT_APPLY, State.NOT_TRIED] + [State.DOES_NOT_APPLY] * 2

    @pytest.mark.parametrize(("budget", "each"), [(5.0, 5.0), (60.0, 10.0), (600.0, 100.0)])
    def test_a_larger_budget_is_one_for_each_law(self, budget, each):
        asked = []

        class Executor(InlineExecutor):
            def submit(self, request):
                asked.append(request.seconds)
                return super().submit(request)

        list(try_laws(Executor(as_subject("als")), ("transform",), "frobenius", budget))
        assert asked == [pytest.approx(each, rel=0.01)]


class TestSuites:
    def test_laws_are_of_whole_suites_from_version_4_on(self):
        assert suites.find("quick@3").laws == ()
        assert suites.find("quick@4").laws == tuple(LAWS)
        assert suites.QUICK.selected(trials=5).laws == tuple(LAWS)
        assert suites.QUICK.selected(families=["mixed"]).laws == ()
        assert suites.QUICK.selected(sizes=[2]).laws == ()
        assert suites.QUICK.with_laws(None, ["scale"]).laws == tuple(
            n for n in LAWS if n != "scale"
        )
        chosen = suites.QUICK.with_laws(["sparse", "scale"])
        assert chosen.laws == ("scale", "sparse")
        assert suites.Suite.from_text(chosen.as_text()) == chosen
        with pytest.raises(InputError, match="no law"):
            suites.QUICK.with_laws(["nothing"])


class TestStores:
    def test_results_are_kept_and_not_tried_again(self, tmp_path, monkeypatch):
        suite = suites.QUICK.selected(sizes=[2], trials=1).with_laws(["descent", "fixed-point"])
        subject = Runnable(SubjectName("coordinate-descent"))
        path = tmp_path / "store.sqlite"
        with Store.create_or_open(path, suite) as store:
            stored = Campaign(suite).run(subject, store, lambda _: None)
            first = store.results(stored).laws()
            store.write_law(stored, LawResult("descent", Severity.MUST, State.NOT_TRIED, "no time"))
        tried = []
        monkeypatch.setattr(
            "nmfcheck.checking.campaign.try_laws",
            lambda _executor, names, *_: tried.extend(names) or (),
        )
        with Store.create_or_open(path, suite) as store:
            Campaign(suite).run(subject, store, lambda _: None)
        assert [each.law for each in first] == ["descent", "fixed-point"]
        assert tried == ["descent"]

    def test_a_store_without_the_table_opens_and_gets_it(self, tmp_path):
        import sqlite3

        suite = suites.QUICK.selected(sizes=[2], trials=1).with_laws(["descent"])
        path = tmp_path / "store.sqlite"
        with Store.create_or_open(path, suite) as store:
            store.subject("als", {"options": {}})
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE laws")
        connection.close()
        with Store.read(path) as store:
            assert store.results(store.subjects()[0]).laws() == []
        with Store.create_or_open(path, suite) as store:
            store.write_law(store.subjects()[0], LawResult("descent", Severity.MUST, State.HELD))
            assert [law.state for law in store.results(store.subjects()[0]).laws()] == [State.HELD]


@pytest.fixture(scope="module")
def report():
    laws = ["sparse", "start-left-alone", "fixed-factor", "other-seed"]
    return check(ZOO["sparse"], sizes=[2], trials=1, laws=laws, isolate=False)


class TestReports:
    def test_text(self, report):
        assert "It breaks the law 'sparse'" in str(report)
        assert "csc_array" in str(report)
        assert "nmfcheck replay law/sparse/8x6/k=3#0/csc_array --subject" in str(report)
        assert "fixed-factor: it offers no fixed factor" in str(report)

    def test_json(self, report):
        document = json.loads(report.to_json())
        jsonschema.validate(document, json.loads(SCHEMA.read_text()))
        (subject,) = document["subjects"]
        assert [law["state"] for law in subject["laws"]] == [
            "broken", "held", "held", "does not apply",
        ]  # fmt: skip
        assert subject["laws"][0]["example"] == "law/sparse/8x6/k=3#0/csc_array"

    def test_junit(self, report, tmp_path):
        report.to_junit(tmp_path / "out.xml")
        text = (tmp_path / "out.xml").read_text()
        assert 'name="law sparse"' in text and 'name="law fixed-factor"' in text
        assert text.count("<failure") == 2  # the verdict, and the law

    def test_page(self, report, tmp_path):
        report.to_html(tmp_path / "out.html")
        text = (tmp_path / "out.html").read_text()
        assert "Laws" in text and "A sparse matrix has the answer of the dense one." in text

    def test_suites_without_laws_have_no_section(self):
        report = check("coordinate-descent", "quick@3", sizes=[2], trials=1)
        assert report.laws == ()
        assert "law" not in str(report)


class TestCommands:
    def test_the_list(self, nmfcheck):
        code, out, _ = nmfcheck("laws")
        assert code == 0
        assert all(name in out for name in LAWS)
        code, out, _ = nmfcheck("laws", "--law", "scale", "--json")
        assert json.loads(out)[0]["statement"] == LAWS["scale"].statement

    def test_laws_alone(self, nmfcheck):
        code, out, _ = nmfcheck("laws", "als", "--law", "descent", "--law", "valid")
        assert code == 0 and "No law that decides is broken" in out
        code, out, _ = nmfcheck("laws", named(ZOO["fixed-factor"]), "--law", "fixed-factor")
        assert code == 1 and "FAIL: fixed-factor" in out
        assert "nmfcheck replay law/fixed-factor/5x4/k=2#0 --subject py:" in out

    def test_laws_that_were_not_tried_leave_it_open(self, nmfcheck):
        words = ("laws", "als", "--law", "descent", "--law", "transform", "--budget", "1e-9")
        code, out, _ = nmfcheck(*words)
        assert code == 3 and "INCONCLUSIVE: 1 law that decides was not tried." in out
        code, out, _ = nmfcheck(*words, "--law", "valid", "--json")
        assert code == 3
        code, out, _ = nmfcheck("laws", "als", "--law", "units", "--budget", "1e-9")
        assert code == 0 and "not tried" in out

    def test_an_example_again(self, nmfcheck):
        id_ = "law/fixed-factor/5x4/k=2#0"
        code, out, _ = nmfcheck("replay", id_, "--subject", named(ZOO["fixed-factor"]))
        assert code == 0
        assert "H was to be fixed, and comes back changed" in out and "call 1:" in out
        code, _, err = nmfcheck("replay", "law/fixed-factor", "--subject", "als")
        assert code == 2 and "names no example" in err

    def test_a_run_with_laws(self, nmfcheck):
        subject = named(ZOO["fixed-factor"])
        words = ("run", subject, "--sizes", "2", "--trials", "1", "--law", "fixed-factor")
        code, out, _ = nmfcheck(*words)
        assert code == 1
        assert "It breaks the law 'fixed-factor'" in out
        code, out, _ = nmfcheck(*words[:-2])
        assert "Laws:" not in out and "breaks the law" not in out
        code, _, err = nmfcheck(*words[:-1], "nothing")
        assert code == 2 and "no law 'nothing'" in err
