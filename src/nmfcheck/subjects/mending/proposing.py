"""Which edits are tried: of the statements that ran, in functions that do nothing but compute."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, takewhile
from types import CodeType

from ..problem import Problem, Subject, seed_global_states
from ..watching import entry
from ..watching.source import own_files
from .acting import Acting, acting, mentioned
from .edit import Edit, Spot
from .ground import Ground, Kind, surveyed
from .guard import computing_only
from .swapping import Function, defaults_of, lines_of, parts
from .trying import TimeUpError, limited
from .values import GUARD, changes, is_option, numbers

STARTS = ("W0", "H0")
"""What a start is called."""

LONGEST = 80
"""So much of a statement is shown."""

MOMENT = 0.25
"""For so many seconds at most a subject is watched for more than computing."""

AT_MOST = 4000
"""So many edits are proposed, at most."""


@dataclass(frozen=True)
class Place:
    """A function that ran.

    Attributes
    ----------
    lines : of its file, as they stand there.
    kinds : of its variables.
    """

    file: str
    node: Function
    lines: Sequence[bytes]
    kinds: Mapping[str, Kind]

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return what stands in the file."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        pieces = self.lines[node.lineno - 1 : node.end_lineno]
        joined = [*pieces[:-1], pieces[-1][: node.end_col_offset]]
        return b"".join([joined[0][node.col_offset :], *joined[1:]]).decode()

    def edit(self, node: ast.expr | ast.stmt, new: str, said: str, rank: int) -> Edit:
        """Return an edit that puts something else in place of a node."""
        begin, end = _span(node)
        return Edit(self.file, begin, end, new, said, rank)


def proposed(subject: Subject, problem: Problem, seed: int, seconds: float) -> list[Edit]:
    """Run a subject once, and return the edits that may mend it; none without a source.

    Parameters
    ----------
    seconds : the run is looked at for so long at most, and only as far as it comes in this time.
    """
    code = entry(subject)
    if code is None:
        return []
    grounds: dict[CodeType, Ground] = {}
    with surveyed(own_files(code), grounds, seconds):
        _run(subject, problem, seed)
    with suppress(TimeUpError), computing_only() as refused, limited(min(seconds, MOMENT)):
        _run(subject, problem, seed)
    if refused:  # it does more than compute; with a change it could not, either
        return []
    edits: dict[tuple[Spot, Spot, str], Edit] = {}
    never = acting(own_files(code), {ground.co_filename for ground in grounds})
    within = (edit for place, ran in _places(grounds, never) for edit in _of(place, ran))
    for edit in chain(within, _constants(grounds, never.read)):
        edits.setdefault((edit.begin, edit.end, edit.new), edit)
    return sorted(edits.values(), key=lambda edit: edit.rank)[:AT_MOST]


def _run(subject: Subject, problem: Problem, seed: int) -> None:
    seed_global_states(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject.solve([problem.copied()], lambda _: None)


def _places(grounds: Mapping[CodeType, Ground], never: Acting) -> Iterator[tuple[Place, set[int]]]:
    for code, ground in grounds.items():
        file = code.co_filename
        try:
            tops = parts(file)
        except (SyntaxError, ValueError):
            continue
        for top in tops:
            for node in ast.walk(top.node):
                first = getattr(node, "lineno", 0)
                if not isinstance(node, Function) or node.name != code.co_name:
                    continue
                first = min([first, *(d.lineno for d in node.decorator_list)])
                if first == code.co_firstlineno and never.names.isdisjoint(mentioned(node)):
                    yield Place(file, node, lines_of(file), ground.kinds), ground.lines


def _of(place: Place, ran: set[int]) -> Iterator[Edit]:
    for name, default in defaults_of(place.node):
        if isinstance(default, ast.Constant):
            for new, rank in numbers(default.value, name):
                said = f"`{name}={new}` by default (line {default.lineno})"
                yield place.edit(default, new, said, rank)
    for block, loop in _blocks(place.node):
        for i, statement in enumerate(block):
            if isinstance(statement, Function | ast.ClassDef):
                continue
            if not ran.isdisjoint(range(*_head(statement))):
                yield from _within(place, statement)
                yield from _instead(place, statement)
                yield from _around(place, block, i, loop)


Block = tuple[list[ast.stmt], ast.stmt | None]
"""Statements one behind the other, and the loop whose body they are."""


def _blocks(node: ast.stmt) -> Iterator[Block]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            loop = node if isinstance(node, ast.For | ast.While) and name == "body" else None
            yield block, loop
            for inner in block:
                if not isinstance(inner, Function | ast.ClassDef):
                    yield from _blocks(inner)
    for handler in getattr(node, "handlers", ()):
        yield from _blocks(handler)


def _head(statement: ast.stmt) -> tuple[int, int]:
    """Return the lines of a statement, without those of its body."""
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body:
        last = max(statement.lineno, body[0].lineno - 1)
    return statement.lineno, last + 1


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Return the expressions of a statement, but for those within its body."""
    for name, value in ast.iter_fields(statement):
        if name in ("body", "orelse", "finalbody", "handlers", "annotation"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.expr):
                yield each


def _texts(place: Place, node: ast.expr) -> dict[ast.expr, str]:
    pieces = (n for n in ast.walk(node) if isinstance(n, ast.expr) and hasattr(n, "lineno"))
    return {piece: place.text(piece) for piece in pieces}


def _within(place: Place, statement: ast.stmt) -> Iterator[Edit]:
    targets = set(_targets(statement))
    for expression in _expressions(statement):
        texts = _texts(place, expression)
        counts = isinstance(statement, ast.For) or any(
            isinstance(piece, ast.Slice) for piece in ast.walk(expression)
        )
        # From another start wrong ones come right by chance.
        begins = any(text in STARTS for text in texts.values())
        for piece, new, rank in changes(expression, place.kinds, texts, counts=counts):
            if piece in targets and not new.isidentifier():
                continue  # what is changed is another thing then, such as a copy
            yield place.edit(piece, new, _rewritten(place, statement, piece, new), rank + begins)


def _targets(statement: ast.stmt) -> Iterator[ast.AST]:
    """Return what an assignment changes, `X` of `X[i] = …`, with all its pieces."""
    assigned = getattr(statement, "targets", [getattr(statement, "target", None)])
    for piece in chain.from_iterable(ast.walk(each) for each in assigned if each is not None):
        if isinstance(piece, ast.Subscript | ast.Attribute):
            yield from ast.walk(piece.value)


def _rewritten(place: Place, statement: ast.stmt, piece: ast.expr, new: str) -> str:
    """Say how a statement reads with an edit."""
    first, stop = _head(statement)
    begin, end = _span(piece)
    lines = Edit("", begin, end, new, "").applied(place.lines)
    longer = len(lines) - len(place.lines)
    text = b"".join(lines[first - 1 : stop - 1 + longer]).decode()
    was = b"".join(place.lines[first - 1 : stop - 1]).decode()
    return f"line {statement.lineno} as {_shown(text, was)}"


def _shown(text: str, was: str = "") -> str:
    """Return a statement in one line, without comments; of a long one what is changed in it.

    Parameters
    ----------
    was : the statement as it stands there.
    """
    text, was = _in_one_line(text), _in_one_line(was)
    if len(text) <= LONGEST:
        return f"`{text}`"
    same = _same(text, was)
    behind = _same(text[same:][::-1], was[same:][::-1])
    middle = (same + len(text) - behind) // 2 if was else 0
    begin = max(0, min(middle - LONGEST // 2, len(text) - LONGEST))
    piece = text[begin : begin + LONGEST]
    return f"`{'…' * (begin > 0)}{piece}{'…' * (begin + LONGEST < len(text))}`"


def _same(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _in_one_line(text: str) -> str:
    """Return the text of a statement without comments and the ends of its lines."""
    with suppress(tokenize.TokenError, IndentationError, SyntaxError):
        tokens = tokenize.generate_tokens(io.StringIO(text.lstrip()).readline)
        for comment in [token.string for token in tokens if token.type == tokenize.COMMENT]:
            text = text.replace(comment, "")
    return " ".join(text.split())


def _span(node: ast.expr | ast.stmt) -> tuple[Spot, Spot]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _instead(place: Place, statement: ast.stmt) -> Iterator[Edit]:
    """Leave a statement out, or do something else with its value."""
    text, line = place.text(statement), f"line {statement.lineno}"
    left_out = f"{line}, {_shown(text)}, left out"

    def instead(new: str, rank: int) -> Edit:
        return place.edit(statement, new, f"{line} as {_shown(new)}", rank)

    match statement:
        case ast.Assign(targets=[target], value=value):
            yield place.edit(statement, "pass", left_out, 0)
            to, of = place.text(target), place.text(value)
            for sign in "+-*":
                yield instead(f"{to} = {to} {sign} ({of})", 1)
            if _computes(statement):
                yield instead(f"{to} = np.maximum({of}, 0)", 2)
                yield instead(f"{to} = ({of}).T", 2)
                yield instead(f"{to} = 2 * ({of})", 2)
            yield from _own_term(place, statement, to)
            if isinstance(value, ast.Name | ast.Attribute):
                yield instead(f"{to} = {of}.copy()", 2)
        case ast.AugAssign(target=target, op=op, value=value):
            yield place.edit(statement, "pass", left_out, 0)
            to, of = place.text(target), place.text(value)
            for sign in {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}.get(type(op), ""):
                yield instead(f"{to} {sign}= {of}", 1)
            if isinstance(op, ast.Div):
                yield instead(f"{to} /= {of} + {GUARD}", 1)
            yield instead(f"{to} = {of}", 1)
        case ast.Expr() | ast.Break() | ast.Continue():
            yield place.edit(statement, "pass", left_out, 0)
        case ast.If(test=test) if not is_option(test):
            word = "elif" if text.startswith("elif") else "if"
            asked = f"{line}, `{word} {' '.join(place.text(test).split())}`"
            yield place.edit(test, "False", f"{asked}, never so", 0)
            yield place.edit(test, "True", f"{asked}, always so", 1)
        case _:
            pass


def _own_term(place: Place, statement: ast.Assign, to: str) -> Iterator[Edit]:
    """Add to a quotient, or to what is bounded, what is assigned to."""
    for piece in ast.walk(statement.value):
        quotient = isinstance(piece, ast.BinOp) and isinstance(piece.op, ast.Div)
        bounded = isinstance(piece, ast.Call) and len(piece.args) == 2
        inner = piece if quotient else piece.args[0] if bounded else None  # type: ignore[attr-defined]
        if isinstance(inner, ast.expr):
            new = f"({to} + {place.text(inner)})"
            said = _rewritten(place, statement, inner, new)
            yield place.edit(inner, new, said, 1)


def _around(place: Place, block: list[ast.stmt], i: int, loop: ast.stmt | None) -> Iterator[Edit]:
    """Change the order of two statements, repeat one, or take the last one out of its loop."""
    one = block[i]
    indent = " " * one.col_offset
    alone = place.lines[one.lineno - 1][: one.col_offset].isspace() or not one.col_offset
    if not alone:
        return
    if i + 1 < len(block) and _simple(one) and _simple(block[i + 1]):
        other = block[i + 1]
        (begin, _), (_, end) = _span(one), _span(other)
        new = f"{place.text(other)}\n{indent}{place.text(one)}"
        said = f"lines {one.lineno} and {other.lineno} the other way round"
        yield Edit(place.file, begin, end, new, said, 2)
    if isinstance(one, ast.Assign) and _computes(one):
        for later in block[:i] + block[i + 2 :]:
            if isinstance(later, ast.Assign | ast.AugAssign | ast.If | ast.Return | ast.Expr):
                begin = (later.lineno, later.col_offset)
                said = f"{_shown(place.text(one))} once more before line {later.lineno}"
                new = f"{place.text(one)}\n{' ' * later.col_offset}"
                yield Edit(place.file, begin, begin, new, said, 2)
    if isinstance(one, ast.Assign):
        for later in block[i + 1 :]:
            if isinstance(later, ast.For | ast.While):
                yield from _again_in(place, one, later)
    if loop is not None and i == len(block) - 1 and len(block) > 1:
        (begin, end), outer = _span(one), " " * loop.col_offset
        text = ("\n" + outer).join(
            line.removeprefix(indent) for line in place.text(one).splitlines()
        )
        said = f"line {one.lineno} behind the loop of line {loop.lineno}"
        yield Edit(place.file, begin, end, f"pass\n{outer}{text}", said, 2)


def _again_in(place: Place, one: ast.Assign, loop: ast.For | ast.While) -> Iterator[Edit]:
    """Repeat what stands before a loop within it, first or last."""
    first, last = loop.body[0], loop.body[-1]
    if first.lineno == loop.lineno:
        return
    text, indent = place.text(one), " " * first.col_offset
    for (begin, _), new, where in (
        (_span(first), f"{text}\n{indent}", "beginning"),
        (_span(last)[::-1], f"\n{indent}{text}", "end"),
    ):
        said = f"{_shown(text)} once more at the {where} of the loop of line {loop.lineno}"
        yield Edit(place.file, begin, begin, new, said, 2)


def _simple(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr)


def _computes(statement: ast.Assign) -> bool:
    return any(isinstance(n, ast.BinOp | ast.Call) for n in ast.walk(statement.value))


def _constants(grounds: Mapping[CodeType, Ground], never: frozenset[str]) -> Iterator[Edit]:
    """Change numbers that stand at the top of a file, and that what ran reads.

    Parameters
    ----------
    never : names of those that are left alone.
    """
    read: dict[str, set[str]] = {}
    for code in grounds:
        read.setdefault(code.co_filename, set()).update(code.co_names)
    for file, names in read.items():
        try:
            tops = parts(file)
        except (SyntaxError, ValueError):
            continue
        for top in tops:
            node = top.node
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)):
                continue
            (target,) = node.targets[:1]
            if isinstance(target, ast.Name) and target.id in names - never:
                begin, end = _span(node.value)
                for new, rank in numbers(node.value.value, target.id):
                    said = f"line {node.lineno} as `{target.id} = {new}`"
                    yield Edit(file, begin, end, new, said, rank)
