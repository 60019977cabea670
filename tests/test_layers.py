"""The house has one direction: no module reaches back up the flow that docs/design.md draws."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import nmfcheck
from nmfcheck.families.registry import HOUSE

PACKAGE = Path(nmfcheck.__file__).parent
DESIGN = Path(__file__).parent.parent / "docs" / "design.md"


def flow():
    """Return the rooms in the order that docs/design.md draws, each line of rooms as one level."""
    text = DESIGN.read_text(encoding="utf-8")
    block = re.search(r"<!-- flow -->\n```\n(.*?)```", text, re.DOTALL)
    assert block is not None, "docs/design.md draws no flow"
    return [line.partition("│")[0].split() for line in block[1].splitlines() if line.strip()]


LEVELS = {room: level for level, rooms in enumerate(flow()) for room in rooms}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    """Return the room of a module such as ``families.bidiagonal.cases``: its first part."""
    return module.partition(".")[0]


def name_of(path: Path) -> str:
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path):
    """Return the modules of the package that a file imports, except for the sake of types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    of_types = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    package = (
        name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    )
    package = [part for part in package if part]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level or node in of_types:
            continue
        base = package[: len(package) - node.level + 1]
        target = [*base, *(node.module.split(".") if node.module else [])]
        for alias in node.names:
            whole = [*target, alias.name]
            file = PACKAGE.joinpath(*whole)
            is_module = file.with_suffix(".py").is_file() or file.is_dir()
            yield ".".join(whole if is_module else target), node.lineno


def test_every_room_is_drawn_and_every_drawn_room_is_there():
    rooms = {room_of(name_of(path)) for path in modules()} - {"", "__main__"}
    assert rooms == set(LEVELS)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_module_reaches_back_up_the_flow(path):
    own = room_of(name_of(path))
    if own in ("", "__main__"):  # the public names are gathered from everywhere
        return
    for target, line in imports(path):
        room = room_of(target)
        if room and room != own:
            assert LEVELS[room] < LEVELS[own], f"{path}, line {line}: {own} imports {target}"


ABOUT_THE_PAPER = {
    "": "the public names are gathered from everywhere",
    "perturbation": "the slopes in ε, which are public",
    "tools.perturbation": "the slopes in ε of any subject",
    "store.migration": "stores of before there were families, which knew ε",
}
"""What may import from inside a family's room and knows its parameters, beside the room `paper`."""

NAMING = {
    "trials.suites": "the families of each version of the suites",
    "laws.best": "a law of this name, which has nothing to do with the family",
    "laws.valid": "a kind of matrix of this name, which has nothing to do with the family",
}
"""What has names of families in its texts, beside those above."""


def knows_a_family(module: str) -> bool:
    """Families, and what is about the paper's alone, may know what is in a family's room."""
    return room_of(module) in ("families", "paper") or module in ABOUT_THE_PAPER


def strangers():
    return [path for path in modules() if not knows_a_family(name_of(path))]


def test_every_exception_is_one():
    assert {name_of(path) for path in modules()} >= {*ABOUT_THE_PAPER, *NAMING}


def rooms_of_families():
    return {f"families.{path.parent.name}" for path in PACKAGE.glob("families/*/__init__.py")}


def test_every_family_has_a_room():
    assert {f"families.{name.replace('-', '_')}" for name in HOUSE} == rooms_of_families()


@pytest.mark.parametrize("path", strangers(), ids=name_of)
def test_no_room_but_the_familys_knows_what_is_in_it(path):
    inside = [t for t, _ in imports(path) if ".".join(t.split(".")[:2]) in rooms_of_families()]
    assert not inside


@pytest.mark.parametrize("path", strangers(), ids=name_of)
def test_no_room_but_the_familys_knows_its_parameters(path):
    if name_of(path) == "reference.als":
        return  # asks for NumPy's finfo(…).eps
    assert not re.search(r"\b(a0|a1|eps)\b", _code(path)), "a family's parameters"


@pytest.mark.parametrize("path", strangers(), ids=name_of)
def test_no_text_but_the_familys_has_its_name_or_parameters(path):
    patterns = [r"\b(eps|alpha|extra|n)=", r"\b(loguniform|dyadic)\b"]
    if name_of(path) not in NAMING:
        patterns.append(rf"\b({'|'.join(HOUSE)})\b")
    known = re.compile("|".join(patterns))
    assert [text for text in _texts(path) if known.search(text)] == []


def _texts(path: Path):
    """Return the constant texts of a file, those within f-strings too; not what is for readers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.value


def _code(path: Path) -> str:
    """Return the names that a file uses, without its texts and comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return " ".join(names)


def test_files_stay_small():
    long = {name_of(p): n for p in modules() if (n := len(p.read_text().splitlines())) > 400}
    assert not long


def test_little_stands_at_the_root():
    assert sum(1 for _ in PACKAGE.glob("*.py")) <= 8


def test_all_sql_stands_in_the_store():
    for path in modules():
        if room_of(name_of(path)) != "store":
            assert not re.search(r'"(SELECT|INSERT|UPDATE|DELETE) ', path.read_text()), path
