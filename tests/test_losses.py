"""Families with another objective: the same matrices, ids that end in a loss, and who is asked."""

import json

import numpy as np
import pytest

from nmfcheck import Case, InputError, Trial, check, judge, reference
from nmfcheck.checking.runnable import Runnable, objective_of, runnable
from nmfcheck.families import Question, find, room_of
from nmfcheck.families.bidiagonal.cases import bidiagonal
from nmfcheck.families.rank_one.best import best_product
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.subjects import SubjectName
from nmfcheck.subjects.references import accepted
from nmfcheck.trials import suites
from nmfcheck.trials.suites import Suite

UNDER_KL = ("bidiagonal", "inflated", "mixed", "rays", "rank-one")
TRIALS = (
    "bidiagonal/n=3/loguniform#7/seed=7/loss=kl",
    "bidiagonal/n=5/ones/seed=7/loss=kl",
    "inflated/9x6/k=3/dyadic#7/seed=7/loss=kl",
    "mixed/12x10/k=4/dyadic#7/seed=7/loss=kl",
    "mixed/8x6/k=3/dyadic#7/seed=7/start=warm/loss=kl",
    "rays/k=4/alpha=0.25/extra=0x3/dyadic#7/seed=7/loss=kl",
    "rank-one/9x6/dyadic#7/seed=7/loss=kl",
    "rank-one/9x6/dyadic#7/seed=7/loss=itakura-saito",
    "rank-one/9x6/dyadic#7/seed=7/loss=beta=0.5",
    "rank-one/4x3/tiny#7/seed=7/loss=kl",
)


def plain(id):
    return id.partition("/loss=")[0]


class TestIds:
    @pytest.mark.parametrize("id", TRIALS)
    def test_trials_come_back(self, id):
        trial = Trial.from_id(id)
        assert trial.id == id
        loss = id.partition("/loss=")[2]
        assert trial.cell.objective == trial.family.objective == loss
        for ask in trial.asks:
            case = trial.case(ask)
            assert case.objective == loss
            assert case.id.endswith(f"/loss={loss}")
            again = Case.from_id(case.id)
            assert (again, again.objective) == (case, loss)
            assert again.A.tobytes() == case.A.tobytes()
            assert room_of(again) is trial.family

    @pytest.mark.parametrize("id", [id for id in TRIALS if "tiny" not in id])
    def test_matrices_and_starts_are_those_of_the_frobenius_norm(self, id):
        one, other = Trial.from_id(id), Trial.from_id(plain(id))
        if "rank-one" not in id:
            assert [ask.name for ask in one.asks] == [ask.name for ask in other.asks]
        for mine, theirs in zip(one.asks, other.asks, strict=True):
            assert one.case(mine).A.tobytes() == other.case(theirs).A.tobytes()
        assert all(map(np.array_equal, one.start(), other.start()))

    def test_a_matrix_of_its_own(self):
        case = Case.from_id("bidiagonal/n=2/a0=1,2/a1=0.5/eps=0.25/loss=kl")
        assert (case.A == bidiagonal([1, 2], [0.5], 0.25).A).all()
        assert case.objective == "kl"

    @pytest.mark.parametrize("beta", ["1", "0", "1.5"])
    def test_beta_says_the_loss_too(self, beta):
        case = Case.from_id(f"rank-one/9x6/dyadic#7/beta={beta}")
        assert case.id.endswith(f"/loss={case.objective}")
        np.testing.assert_array_equal(case.X, best_product(case.A, float(beta)))

    @pytest.mark.parametrize(
        ("id", "said"),
        [
            ("noisy/12x10/k=4/dyadic#7/seed=7/loss=kl", "answers of the noisy family are not"),
            ("optima/thomas/k=2/shuffled#7/seed=7/loss=kl", "optima family are not known"),
            ("mixed/12x10/k=4/dyadic#7/seed=7/loss=itakura-saito", "mixed family are not known"),
            ("mixed/12x10/k=4/dyadic#7/seed=7/loss=huber", "no objective 'huber'"),
            ("mixed/12x10/k=4/dyadic/loss=kl#7/seed=7", "no objective 'kl#7/seed=7'"),
        ],
    )  # fmt: skip
    def test_no_such(self, id, said):
        with pytest.raises(InputError, match=said):
            Trial.from_id(id)


class TestSuites:
    def test_which_families_are_asked(self):
        assert [part.family for part in suites.find("quick", "kl").parts] == list(UNDER_KL)
        assert [p.family for p in suites.find("full", "beta=0.5").parts] == ["rank-one"]
        assert [p.family for p in suites.find("quick@1", "kl").parts] == ["bidiagonal"]
        with pytest.raises(InputError, match=r"no family of quick@1 has known answers for the It"):
            suites.find("quick@1", "is")

    def test_nothing_changes_for_the_frobenius_norm(self):
        assert suites.find("quick", "frobenius") is suites.QUICK
        assert "objective" not in suites.QUICK.as_text()

    @pytest.mark.parametrize("objective", ["kl", "itakura-saito", "beta=1.5"])
    def test_written_down_and_read_back(self, objective):
        suite = suites.find("standard", objective)
        again = Suite.from_text(suite.as_text())
        assert again == suite
        assert again.objective == objective
        assert next(iter(again)) == next(iter(suite))
        assert json.loads(suite.as_text())["objective"] == objective

    def test_exactness_is_asked_up_to_n_4(self):
        suite = suites.find("standard", "kl")
        for cell in suite.cells:
            for ask in suite.cell(cell)[0].asks:
                if ask.name == "eps=0.25":
                    measured = ask.question is Question.NONE
                    assert measured == (cell.k >= 5)

    def test_options_of_families(self):
        chosen = suites.find("quick", "kl").selected(sizes="2-3", trials=5)
        assert {cell.name for cell in chosen.cells} == {
            f"n={n}/{kind}/loss=kl" for n in (2, 3) for kind in ("ones", "loguniform")
        }
        with pytest.raises(InputError, match="'slopes' is not an option"):
            suites.find("quick", "kl").selected(slopes=True)

    def test_one_cell_only_measures(self):
        room = find("rank-one", "kl")
        required = {c.matrices: room.required_of(c) for c in room.cells("quick")}
        assert np.isnan(required.pop("4x3/tiny"))
        assert set(required.values()) == {1.0}


class TestJudges:
    """What is exact does not depend on the loss; what has collapsed does."""

    @pytest.mark.parametrize("id", [id for id in TRIALS if "rank-one" not in id])
    def test_an_exact_answer_is_exact(self, id):
        trial = Trial.from_id(id)
        for ask in trial.asks:
            case = trial.case(ask)
            run = reference.kl_scalar_newton if "rays" in id else reference.kl_multiplicative_update
            W0, H0 = trial.start()
            plain_case = Case.from_id(plain(case.id))
            found = run(case.A, W0, H0, 3000)
            mine, theirs = judge(case, found.W, found.H), judge(plain_case, found.W, found.H)
            if mine.grade:
                assert (mine.outcome, mine.measures["product_defect"]) == (
                    theirs.outcome,
                    theirs.measures["product_defect"],
                )
            else:
                assert mine.outcome is Outcome.COLLAPSED

    def test_a_collapse_of_another_loss_is_none_of_this(self):
        """A stationary point of KL that is far from all answers is none of the Frobenius norm."""
        outcomes = []
        for i in range(30):
            trial = Trial.from_id(f"bidiagonal/n=4/loguniform#{i}/seed={i}/loss=kl")
            case = trial.case("eps=0")
            W, H, _ = reference.kl_multiplicative_update(case.A, *trial.start(), 2000)
            there = judge(Case.from_id(plain(case.id)), W, H)
            outcomes.append((judge(case, W, H).outcome, there.outcome))
        assert {here for here, _ in outcomes} == {Outcome.EXACT, Outcome.COLLAPSED}
        assert (Outcome.COLLAPSED, Outcome.UNCONVERGED) in outcomes

    def test_the_local_minimum_is_named(self):
        """The word wwhh of docs/theory.md, 15, at a ≡ 1 and ε = ¼."""
        e = 0.25
        w, h = e / (1 + e), e / (1 + e)
        W, H = np.eye(5), np.eye(5)
        total = 1 + 2 * e  # of the block [[e, 0], [1, e]], whose best product is r·cᵀ over this
        W[0, 1] = e
        W[1, 2], W[2, 2] = w, 1.0
        H[2, 2], H[2, 3] = (1 + e) * (1 + e) / total, h * (1 + e) * (1 + e) / total
        H[3, 4] = e
        case = Case.from_id("bidiagonal/n=5/ones/eps=0.25/loss=kl")
        judgement = judge(case, W, H)
        assert judgement.labels["word"] == "wwhh"
        assert judgement.labels["local_minimum"] == "wwhh"
        assert judgement.kkt_residual < 1e-15
        assert "not exact" in judgement.explanation
        there = judge(Case.from_id("bidiagonal/n=5/ones/eps=0.25"), W, H)
        assert "local_minimum" not in there.labels
        assert there.kkt_residual > 1e-3

    @pytest.mark.parametrize("loss", ["kl", "itakura-saito", "beta=0.5", "beta=1.5"])
    def test_rank_one(self, loss):
        trial = Trial.from_id(f"rank-one/9x6/dyadic#3/seed=3/loss={loss}")
        case = trial.case(trial.asks[0])
        found = reference.beta_multiplicative_update(loss)(case.A, *trial.start(), 500)
        assert judge(case, found.W, found.H).outcome is Outcome.EXACT
        other = Trial.from_id("rank-one/9x6/dyadic#3/seed=3")
        judgement = judge(other.case(other.asks[0]), found.W, found.H)
        assert judgement.outcome is Outcome.UNCONVERGED
        named = {"kl": "the Kullback–Leibler divergence", "itakura-saito": "the Itakura–Saito"}
        if loss in named:
            assert judgement.labels["best_for"].startswith(named[loss])

    def test_one_objective_a_batch(self):
        from nmfcheck import judge_batch

        cases = [Case.from_id(f"bidiagonal/n=2/ones/eps=0{x}") for x in ("", "/loss=kl")]
        with pytest.raises(InputError, match="one objective, not frobenius and kl"):
            judge_batch(cases, np.ones((2, 2, 2)), np.ones((2, 2, 2)))


class TestSubjects:
    def test_who_is_accepted(self):
        assert accepted("kl") == ("kl-multiplicative-update", "kl-scalar-newton")
        assert accepted("itakura-saito") == accepted("beta=0.5") == ("beta-multiplicative-update",)
        assert accepted()[:3] == ("multiplicative-update", "als", "gradient-descent")
        assert set(accepted()) == {*accepted(version=4), "anls"}
        assert len(accepted(version=4)) == 5

    @pytest.mark.parametrize(
        ("name", "options", "objective"),
        [
            ("als", {}, "frobenius"), ("kl-scalar-newton", {}, "kl"), ("sklearn-mu-kl", {}, "kl"),
            ("sklearn-mu-is", {}, "itakura-saito"), ("beta-multiplicative-update", {}, None),
            ("py:x:NMF", {"beta_loss": "kullback-leibler"}, "kl"),
            ("py:x:NMF", {"beta_loss": 0.5}, "beta=0.5"), ("py:x:NMF", {"beta_loss": 7}, None),
            ("py:x:NMF", {}, None),
        ],
    )  # fmt: skip
    def test_what_they_say_themselves(self, name, options, objective):
        assert SubjectName(name, options).objective == objective

    def test_an_estimator_by_its_parameter(self):
        from sklearn.decomposition import NMF

        assert runnable(NMF(solver="mu", beta_loss="kullback-leibler")).objective == "kl"
        assert runnable(NMF()).objective is None

    def test_what_is_asked_of_them(self):
        kl, als = (Runnable(SubjectName(name)) for name in ("kl-scalar-newton", "als"))
        own = Runnable(SubjectName("py:x:f"))
        assert objective_of([kl], None) == objective_of([own], "KL") == "kl"
        assert objective_of([als, own], None) == "frobenius"
        with pytest.raises(InputError, match="als minimises frobenius, not kl"):
            objective_of([als], "kl")
        with pytest.raises(InputError, match="run them one by one"):
            objective_of([als, kl], None)

    def test_a_function_may_be_told(self):
        told = []

        def f(A, rank, *, W0, H0, objective):
            told.append(objective)
            found = reference.kl_multiplicative_update(A, W0, H0, 100)
            return found.W, found.H

        check(f, families="rank-one", trials=2, objective="kl", isolate=False)
        assert set(told) == {"kl"}

    def test_a_suite_has_one_already(self):
        suite = suites.find("quick", "kl").selected(families=["rank-one"], trials=1)
        assert check("kl-scalar-newton", suite).verdict.share.value == 1
        with pytest.raises(InputError, match="the suite is for kl, not for frobenius"):
            check(lambda A, rank: (A, A), suite, objective="frobenius", isolate=False)
