"""The judge's sentences: true, on one line, counting from 1."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import Case, Outcome, bidiagonal, exact_factorization, judge
from nmfcheck.families import find
from nmfcheck.families.inflated.cases import inflated_factors
from strategies import (
    EPSILONS,
    cases,
    factorizations,
    fixed_cases,
    inflated_cases,
    inflated_factorizations,
    right_factors,
)


class TestSentences:
    def said(self, M):
        """Give component k the part M[i, k] of row i, of A = the identity."""
        M = np.array(M, dtype=float)
        n = len(M)
        return judge(bidiagonal(np.ones(n)), np.sqrt(M), np.sqrt(M.T)).explanation

    def test_two_components_for_one_row(self):
        M = np.eye(5)
        M[2, 1], M[2, 4], M[1, 1], M[4, 4], M[1, 2], M[2, 2] = 0.6, 0.4, 0, 0, 1, 0
        said = self.said(M)
        assert said == (
            "components 2 and 5 both explain row 3; nothing explains row 5: a stationary point "
            "that accepted algorithms also reach in some runs."
        )

    def test_three_components_for_one_row(self):
        assert "components 1, 2 and 3 all explain row 1" in self.said(
            [[0.4, 0.3, 0.3], [0, 0, 0], [0, 0, 0]]
        )

    def test_one_component_for_two_rows(self):
        assert "component 1 is spread over rows 1 and 2" in self.said(
            [[0.5, 0, 0], [0.5, 0, 0], [0, 0.5, 0.5]]
        )

    def test_a_component_with_a_small_part(self):
        assert self.said([[0.97, 0.002, 0], [0, 0, 0.99], [0, 0, 0]]).startswith(
            "components 1 and 2 both explain row 1; nothing explains row 3"
        )

    def test_a_component_that_takes_no_part(self):
        """Which is nothing that accepted algorithms are known for."""
        assert self.said([[0.999, 0.0001, 0], [0, 0, 1], [0, 0, 0]]).startswith(
            "component 2 explains next to nothing; nothing explains row 3"
        )

    def test_a_row_that_is_explained_in_part(self):
        said = self.said([[1, 0], [0, 0.3]])
        assert said.startswith("no component explains more than 30 % of row 2, and no stationary")

    def test_one_component_that_explains_most_of_two_rows(self):
        said = self.said([[0.9, 1.0], [0, 1.1]])
        assert said.startswith("component 2 explains the most of rows 1 and 2")

    def test_one_component_for_three_rows(self):
        said = self.said([[0.5, 0, 0, 0], [0.4, 0, 0, 0], [0.4, 0, 0, 0], [0, 0.4, 0.3, 0.3]])
        assert said.startswith(
            "components 2, 3 and 4 all explain row 4; component 1 is spread over rows 1, 2 and 3"
        )

    def test_everything_for_everything(self):
        """No row is left out here, however many components share it."""
        said = self.said(np.full((30, 30), 1 / 30))
        assert said.startswith(
            "30 components all explain row 1; component 1 is spread over rows 1,"
        )
        assert "nothing explains" not in said

    def test_where_the_form_is_broken(self):
        case = bidiagonal([1, 1, 1])
        H = np.eye(3)
        H[0, 2] = 0.01
        # Component 3 is the one of row 1: its row in H as returned is the third.
        said = judge(case, np.eye(3)[:, [1, 2, 0]], H[[1, 2, 0]]).explanation
        assert "H has 0.01 off the pattern at row 3, column 3" in said
        assert "WH misses A by 0.01 at row 1, column 3" in said

    def test_an_inexact_word_is_named(self):
        case = bidiagonal([1, 1, 1], eps=0.25)
        W, H = np.eye(3), np.eye(3)
        W[0, 1] = H[1, 2] = 0.25
        assert judge(case, W, H).explanation.endswith("no exact factorization has the word wh.")

    @given(st.data())
    def test_every_sentence_is_one_line(self, data):
        case = data.draw(cases(eps=(0.0, *EPSILONS)))
        said = judge(case, *data.draw(factorizations(case))).explanation
        assert said.endswith(".")
        assert "\n" not in said
        assert "nan" not in said

    def test_only_what_is_wrong_with_an_inflated_matrix_is_named(self):
        case = Case.from_id("inflated/9x6/k=3/dyadic#7/eps=0.25")
        W, H = inflated_factors(case, *exact_factorization(case.core))
        said = judge(case, W, 1.1 * H).explanation  # all multiples are right, up to rounding
        assert re.search(r"but WH misses A by 0.2 at row 4, column 1 \(KKT residual \S+\)\.$", said)
        W[0] *= 1.1
        said = judge(case, W, H).explanation
        assert "WH misses A by 0.1 at row 1, column 1, and row 1 of W is not 0.53125 times" in said

    @given(st.data())
    def test_every_sentence_on_an_inflated_matrix_is_one_line(self, data):
        case = data.draw(inflated_cases())
        said = judge(case, *data.draw(inflated_factorizations(case))).explanation
        assert said.endswith(".")
        assert "\n" not in said
        assert "nan" not in said

    def test_every_outcome_explains_itself(self):
        for outcome in Outcome:
            assert outcome.explanation.endswith(".")


class TestFixedFamilies:
    """A component that is dead or with another one's half, and mixtures that are none."""

    @pytest.mark.parametrize("family", ["mixed", "noisy"])
    def test_where_a_run_on_a_mixed_matrix_went_wrong(self, family):
        case = Case.from_id(f"{family}/12x10/k=4/dyadic#7/eps=0")
        W, H = right_factors(case)
        rows = [i + 1 for i in case.rows.core]
        dead = W.copy()
        dead[:, 2] = 0
        told = judge(case, dead, H).explanation
        assert told.startswith(
            f"component 3 explains next to nothing; nothing explains row {rows[2]}, and no stat"
        )
        found = judge(case, W, H[[1, 0, 2, 3]])
        first, second = sorted(rows[:2])
        assert f"nothing explains rows {first} and {second}" in found.explanation
        assert "permutation" not in found.labels
        padding = W.copy()
        padding[case.rows.mixed] = 0
        found = judge(case, padding, H)
        assert found.outcome is Outcome.UNCONVERGED
        assert (
            ": no mixed row of W is the mixture of pure ones that it is in A" in found.explanation
        )
        assert found.measures["padding_defect"] > 0.1
        one = H.copy()
        one[:, case.columns.mixed[1]] = 0
        place = case.columns.mixed[1] + 1
        told = f": column {place} of H is not the mixture of pure ones that it is in A ("
        assert told in judge(case, W, one).explanation
        assert judge(case, 0 * W, 0 * H).outcome is Outcome.COLLAPSED

    @pytest.mark.parametrize("family", ["mixed", "noisy"])
    def test_mixtures_are_not_blamed_for_pure_rows_that_are_wrong(self, family):
        case = Case.from_id(f"{family}/12x10/k=4/dyadic#7/eps=0")
        W, H = right_factors(case)
        row, column = case.rows.core[0], case.columns.core[2]
        by_row, by_column, neither = W.copy(), H.copy(), W * [1, 1.3, 1, 1]
        by_row[row] *= 1.3
        by_column[:, column] *= 1.3
        neither[case.rows.mixed] *= 0.9
        for V, G, where in (
            (by_row, H, f"only row {row + 1}, a pure one, is off by a tenth of that or more"),
            (W, by_column, f"only column {column + 1}, a pure one, is off by a tenth of that"),
            (neither, H, f"row {case.rows.core[1] + 1}, column {case.columns.core[1] + 1}, which "),
        ):
            told = judge(case, V, G).explanation
            assert where in told
            assert "mixture" not in told

    def test_what_is_left_of_a_noisy_matrix_is_compared_with_the_least_possible(self):
        case = Case.from_id("noisy/12x10/k=4/dyadic#7/eps=0")
        W, H = right_factors(case)
        told = judge(case, 1.001 * W, H).explanation
        assert re.search(
            r"what is left of A is 1\.00\d+ times the least possible, the noise\.$", told
        )

    def test_less_than_the_noise_is_an_error_in_arithmetic(self):
        case = Case.from_id("noisy/12x10/k=4/dyadic#7/eps=0")
        W, H = right_factors(case)
        faked = replace(case, A=case.A + 0.1 * (case.A - case.exact), exact=0.99 * case.exact)
        found = judge(faked, W, H)
        assert found.measures["residual_over_noise"] < 1
        assert (found.outcome, found.labels["below"]) == (
            Outcome.UNCONVERGED, "below the least possible",
        )  # fmt: skip
        assert "the least possible, the noise: this is an error in arithmetic" in found.explanation

    @given(fixed_cases(), st.sampled_from(["near", "random", "sparse", "zeros", "rounded"]),
           st.integers(0, 2**32))  # fmt: skip
    def test_every_sentence_is_one_line(self, case, kind, seed):
        rng = np.random.default_rng(seed)
        right = right_factors(case)
        W, H = {
            "near": lambda: [X * (1 + 10 ** rng.uniform(-12, 0) * rng.random()) for X in right],
            "random": lambda: [rng.random(X.shape) for X in right],
            "sparse": lambda: [X * (rng.random(X.shape) > 0.3) for X in right],
            "zeros": lambda: [0 * X for X in right],
            "rounded": lambda: [X - 1e-14 * rng.random(X.shape) * (X == 0) for X in right],
        }[kind]()
        found = judge(case, W, H)
        assert re.fullmatch(r"[^\n]+\.", found.explanation)
        assert "nan" not in found.explanation
        measures = list(found.measures.values())
        assert measures
        assert not np.isnan(measures).any()
        lines = list(find(case.family).described(case, found))
        assert all(re.fullmatch(r"[^\n]+", text) for line in lines for text in line)

    @pytest.mark.parametrize(
        ("id", "asked"),
        [
            ("optima/hexagon/k=2/shuffled#7/residual", "the least that is known, up to 1e-3·‖A‖²"),
            ("rank-one/9x6/dyadic#7/beta=2", "the best product, up to 1e-4 of its largest entry"),
        ],
    )
    def test_where_no_component_is_looked_at_none_is_said_to_be_found(self, id, asked):
        case = Case.from_id(id)
        room = find(case.family)
        for outcome in (Outcome.EXACT, Outcome.SINGLE, Outcome.IDENTIFIED, Outcome.COLLAPSED):
            meaning = room.meaning(outcome)
            assert meaning.endswith(".")
            assert "component" not in meaning
        assert asked in room.meaning(Outcome.IDENTIFIED)
        assert room.meaning(Outcome.ERROR) == Outcome.ERROR.explanation
        assert "component" in find("mixed").meaning(Outcome.IDENTIFIED)

    def test_where_a_run_on_rays_went_wrong(self):
        case = Case.from_id("rays/k=4/alpha=0.25/extra=0x3/dyadic#7")
        W, H = right_factors(case)
        found = judge(case, W * [1, 1, 0, 1], H)
        assert found.explanation.startswith(
            "component 3 of the answer is not found: what is nearest has cosine 0.00, and WH misses"
        )
        found = judge(case, W, H[[1, 0, 2, 3]])
        assert found.outcome is Outcome.UNCONVERGED
        assert found.explanation.startswith("components 1 and 2 of the answer are not found: what ")
        assert found.measures["cosine"] < 0.5
        found = judge(case, 0 * W, 0 * H)
        assert found.outcome is Outcome.COLLAPSED
        assert "at a stationary point (KKT residual 0)" in found.explanation
