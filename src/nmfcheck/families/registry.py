"""The families that there are: those of the house, and those that installed packages offer."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

from ..errors import InputError
from ..judging.objectives import FROBENIUS
from ..judging.objectives import find as find_objective
from .family import Family
from .trial import Case

ENTRY_POINTS = "nmfcheck.families"

HOUSE = {
    "bidiagonal": ".bidiagonal",
    "inflated": ".inflated",
    "mixed": ".mixed",
    "noisy": ".noisy",
    "rays": ".rays",
    "rank-one": ".rank_one",
    "optima": ".optima",
}
"""The module of each family of the house, which has the object `FAMILY`."""


def names() -> list[str]:
    """Return the names of all families, the house's first."""
    return [*HOUSE, *(name for name in _offered() if name not in HOUSE)]


def house(objective: str = FROBENIUS.name) -> Iterator[Family]:
    """Return the families of the house whose answers are known for an objective."""
    for name in HOUSE:
        if _plain(name).under(find_objective(objective).name) is not None:
            yield find(name, objective)


@lru_cache
def find(name: str, objective: str = FROBENIUS.name) -> Family:
    """Return the family of this name, with an objective for which its answers are known."""
    plain = _plain(name)
    family = plain.under(find_objective(objective).name)
    if family is None:
        title = find_objective(objective).title
        raise InputError(f"the answers of the {name} family are not known for {title}")
    return family


def room_of(case: Case) -> Family:
    """Return the family of a case."""
    return find(case.family, case.objective)


def _plain(name: str) -> Family:
    """Return the family of this name as it is."""
    if name in HOUSE:
        return _of_house(HOUSE[name])
    if name in _offered():
        return _loaded(name)
    close = difflib.get_close_matches(name, names(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names())}"
    raise InputError(f"no family {name!r}; {hint}")


@lru_cache
def _of_house(module: str) -> Family:
    """Return the family of one of this package's modules; every trial looks for its own."""
    family = import_module(module, __package__).FAMILY
    assert isinstance(family, Family)
    return family


def of_id(kind: str, id: object) -> Family:
    """Return the family that an id of a case or a trial begins with."""
    name, _, rest = str(id).partition("/")
    _, loss, objective = rest.rpartition("/loss=")
    if name not in HOUSE and name not in names():
        example = "bidiagonal/n=3/ones/eps=1e-3" if kind == "case" else find("bidiagonal").example
        raise InputError(
            f"no {kind} {id!r}; it begins with a family ({', '.join(names())}), as in {example!r}"
        )
    return find(name, objective) if loss else find(name)


@lru_cache
def _offered() -> dict[str, str]:
    """Return the families of installed packages: name, and what the entry point names."""
    from importlib import metadata  # late: it takes long to import

    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINTS)}


def _loaded(name: str) -> Family:
    """Import a family that an installed package offers, or say in a line why it is none."""
    from importlib import metadata

    point = next(p for p in metadata.entry_points(group=ENTRY_POINTS) if p.name == name)
    try:
        thing = point.load()
        family = thing() if isinstance(thing, type) else thing
    except Exception as error:  # a foreign module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"the family {name!r} ({point.value}) cannot be loaded: {reason}"
        ) from error
    if not isinstance(family, Family) or family.name != name:
        raise InputError(f"{point.value} is not a family of the name {name!r}, but {family!r:.60}")
    return family
