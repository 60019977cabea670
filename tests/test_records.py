"""Records that are made quickly are dataclasses like others."""

from dataclasses import FrozenInstanceError, dataclass, field
from inspect import signature

import pytest

from nmfcheck.records import quickly_made


@dataclass(frozen=True)
class Usual:
    name: str
    number: float = 1.5
    labels: dict[str, str] = field(default_factory=dict)


@quickly_made
@dataclass(frozen=True)
class Quick:
    name: str
    number: float = 1.5
    labels: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize("given", [("a",), ("a", 2.0), ("a", 2.0, {"b": "c"})])
def test_they_hold_what_others_do(given):
    assert vars(Quick(*given)) == vars(Usual(*given))
    assert Quick(*given) == Quick(*given)
    assert repr(Quick(*given)).removeprefix("Quick") == repr(Usual(*given)).removeprefix("Usual")


def test_they_take_the_same_arguments():
    assert list(signature(Quick).parameters) == list(signature(Usual).parameters)
    for wrong in ({}, {"name": "a", "other": 1}):
        with pytest.raises(TypeError):
            Quick(**wrong)


def test_a_default_is_made_anew_and_nothing_can_be_changed():
    one, other = Quick("a"), Quick("a")
    assert one.labels is not other.labels
    with pytest.raises(FrozenInstanceError):
        one.name = "b"
