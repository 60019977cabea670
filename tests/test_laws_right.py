"""Right implementations of many kinds: no law that decides says that they are wrong."""

import pytest

from laws_right import RIGHT
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
