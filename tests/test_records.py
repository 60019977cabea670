"""Records that are made without calling their class hold the same."""

import pytest

from nmfcheck.executors.protocol import Reply, made_reply
from nmfcheck.families.bidiagonal.judge import BidiagonalJudgement
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.records import maker
from nmfcheck.subjects import Answer, Problem


@pytest.mark.parametrize(
    ("record", "given"),
    [
        (Problem, (1, 2, 3, 4, 5, "kl")),
        (Reply, (7, Answer(), ("list", "list"), None, (), "", None, None)),
        (BidiagonalJudgement, (Outcome.EXACT, "so", {"a_defect": 0.0}, {"word": "h"}, True)),
    ],
)
def test_they_hold_what_others_do(record, given):
    made = maker(record)(*given)
    assert type(made) is record
    assert made == record(*given)
    assert repr(made) == repr(record(*given))


def test_all_fields_have_to_be_given():
    with pytest.raises(TypeError):
        made_reply(7, Answer())
