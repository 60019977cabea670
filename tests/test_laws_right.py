"""Right implementations of many kinds: no law that decides says that they are wrong."""

import pytest

from laws_right import RIGHT, solves_least_squares_in_turn, varies_from_call_to_call
from nmfcheck.laws import LAWS, State, try_law
from nmfcheck.subjects import as_subject
from nmfcheck.subjects.handles import handle_of

pytestmark = pytest.mark.filterwarnings("ignore:stopped at max_iter")  # in this process

MUST = [law for law in LAWS.values() if law.severity == "must"]


@pytest.mark.parametrize(("subject", "objective"), RIGHT, ids=lambda x: getattr(x, "__name__", x))
def test_it_breaks_none_that_decides(subject, objective):
    handle = handle_of(as_subject(subject), objective)
    found = [try_law(law, handle) for law in MUST]
    assert [each for each in found if each.decides or each.state is State.NOT_TRIED] == []


@pytest.mark.parametrize("seed", range(5))
def test_other_units_need_no_start_to_be_right(seed):
    def subject(A, rank):
        return solves_least_squares_in_turn(A, rank, seed=seed)

    for each in (subject, solves_least_squares_in_turn, varies_from_call_to_call):
        assert try_law(LAWS["units"], handle_of(as_subject(each), "frobenius")).state is State.HELD
