"""Edits within a statement: another variable, number or operator, one operand or call less."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import singledispatch

from .ground import Kind

Change = tuple[ast.expr, str, int]
"""A piece of an expression, what stands there instead, and the rank of that."""

Instead = Iterator[tuple[str, int]]
"""What may stand somewhere, with its rank."""

Texts = Mapping[ast.expr, str]
"""What stands in the file, of each piece."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.MatMult: "@",
    ast.Pow: "**", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip

SWAPS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("-",), ast.Sub: ("+",), ast.Mult: ("/",), ast.Div: ("*",), ast.FloorDiv: ("/",),
    ast.BitAnd: ("|",), ast.BitOr: ("&",), ast.Lt: (">", "<="), ast.Gt: ("<", ">="),
    ast.LtE: (">=", "<"), ast.GtE: ("<=", ">"), ast.Eq: ("!=",), ast.NotEq: ("==",),
    ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
"""What may stand for an operator."""

CALLS = {
    "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "argmax": "argmin",
    "argmin": "argmax", "any": "all", "all": "any", "zeros": "ones", "zeros_like": "ones_like",
    "empty": "ones", "mean": "sum", "floor": "ceil", "amax": "amin", "amin": "amax",
}  # fmt: skip
"""What may be called instead of something."""

BINDS: dict[type[ast.AST], int] = {
    ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.FloorDiv: 2, ast.MatMult: 2, ast.Mod: 2,
    ast.Pow: 3,
}  # fmt: skip
"""How strongly operators bind."""

KEPT = ("range", "len", "zip", "enumerate", "isinstance", "print", "super", "list", "tuple", "dict")
"""Calls that are not left out: what they are given is of another kind than what they return."""

BOUNDS = ("maximum", "minimum", "where", "clip", "max", "min")
"""Calls of which either operand may stand alone."""

GUARD = "1e-300"
"""What may be added to a denominator, so that 0/0 is 0."""

COARSE = ("float32", "float16", "half", "single", "int64", "int32", "intp")
"""Types of numbers that lose digits."""

NORMS = {"sum": "np.linalg.norm", "norm": "np.sum"}
"""What may be meant by a size."""

MODULES = ("np", "numpy", "math", "scipy", "linalg", "np.linalg", "sla")

WORK = re.compile(
    r"iter|step|sweep|round|epoch|pass|inner|outer|max|patience|n_init", re.IGNORECASE
)
"""Names of numbers that are often too small."""

CHOOSING = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp)

ATOMS = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List)


def changes(
    node: ast.expr, kinds: Mapping[str, Kind], texts: Texts, *, counts: bool = False
) -> Iterator[Change]:
    """Return what may stand in place of the pieces of an expression.

    What is called, and what a name or an option stands for in a mapping, is left as it is.

    Parameters
    ----------
    kinds : of the variables of its function.
    counts : whether it says how often, or where something is, so that its whole numbers matter.
    """
    pieces = list(ast.walk(node))
    left = {id(each.func) for each in pieces if isinstance(each, ast.Call)}
    left |= {id(value) for each in pieces if isinstance(each, ast.Dict) for value in each.values}
    for piece in pieces:
        if not isinstance(piece, ast.expr) or id(piece) in left:
            continue
        if isinstance(piece, CHOOSING) and is_option(piece):
            continue
        of_names = _names(piece, kinds, texts, counts=counts)
        for new, rank in (*_instead(piece, texts), *of_names):
            if new != texts[piece]:
                yield piece, _bare(new) if piece is node else new, rank


def numbers(value: object, name: str = "") -> Instead:
    """Return other numbers.

    Parameters
    ----------
    name : what the number is called, if it has a name.
    """
    match value:
        case bool():
            yield str(not value), 1
        case str() if value in COARSE:
            yield '"float64"', 1
        case float():
            yield from (("0.0", 0), (repr(value * 1e-8), 0), ("1.0", 1), (repr(-value), 1))
            yield from ((repr(value * 100), 2), (repr(value * 2), 2), (repr(value / 2), 2))
        case int():
            much = 0 if WORK.search(name) else 2
            yield from ((str(value + 1), 1), (str(max(value - 1, 0)), 1), (str(value * 100), much))
            yield from (("0", 1), ("1", 1), (f"(-{value})", 2), (str(2 * value), 2))
            yield str(value // 2), 2
        case _:
            return


def is_option(node: ast.expr) -> bool:
    """Say whether something is compared with a text: ``solver == "cd"``.

    Another algorithm may be right, and says nothing of this one.
    """
    return any(
        isinstance(piece, ast.Constant) and isinstance(piece.value, str)
        for compare in ast.walk(node)
        if isinstance(compare, ast.Compare)
        for piece in ast.walk(compare)
    )


def _bare(text: str) -> str:
    """Return an expression without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")) or "\n" in text:
        return text
    try:
        ast.parse(text[1:-1], mode="eval")
    except SyntaxError:  # they belong to its ends
        return text
    return text[1:-1]


def _in(node: ast.expr, texts: Texts) -> str:
    """Return an operand so that it can stand anywhere."""
    return texts[node] if isinstance(node, ATOMS) else f"({texts[node]})"


def _beside(node: ast.expr, op: ast.operator, texts: Texts, *, right: bool = False) -> str:
    """Return an operand so that it can stand beside an operator, and in place of both."""
    if not isinstance(node, ast.BinOp):
        return _in(node, texts)
    own, other = (BINDS.get(type(each), 0) for each in (node.op, op))
    return texts[node] if own > other or (own == other and not right) else f"({texts[node]})"


@singledispatch
def _instead(piece: ast.expr, texts: Texts) -> Instead:  # noqa: ARG001 - of what is not listed
    """Return what may stand in place of a piece, whatever it is about."""
    yield from ()


@_instead.register
def _(piece: ast.Constant, texts: Texts) -> Instead:  # noqa: ARG001
    yield from numbers(piece.value)


@_instead.register
def _(piece: ast.BinOp, texts: Texts) -> Instead:
    one = _beside(piece.left, piece.op, texts)
    other = _beside(piece.right, piece.op, texts, right=True)
    yield one, 0
    if not isinstance(piece.op, ast.Div | ast.FloorDiv | ast.Pow | ast.MatMult):
        yield other, 0
    for sign in SWAPS.get(type(piece.op), ()):
        yield f"{one} {sign} {other}", 1
    if isinstance(piece.op, ast.Div):
        yield f"{one} / ({texts[piece.right]} + {GUARD})", 1
    if isinstance(piece.op, ast.Sub | ast.Div | ast.MatMult):
        first = _beside(piece.right, piece.op, texts)
        last = _beside(piece.left, piece.op, texts, right=True)
        yield f"{first} {OPERATORS[type(piece.op)]} {last}", 2


@_instead.register
def _(piece: ast.Compare, texts: Texts) -> Instead:
    operands = (piece.left, *piece.comparators)
    if len(operands) > 2:
        return
    one, other = (texts[each] for each in operands)
    (op,) = piece.ops
    for sign in SWAPS.get(type(op), ()):
        yield f"{one} {sign} {other}", 1
    yield f"{one} {OPERATORS[type(op)]} {_in(operands[1], texts)} ** 2", 2
    yield f"{_in(piece.left, texts)} ** 2 {OPERATORS[type(op)]} {other}", 2
    yield f"abs({one}) {OPERATORS[type(op)]} {other}", 2


@_instead.register
def _(piece: ast.BoolOp, texts: Texts) -> Instead:
    yield from ((_in(value, texts), 1) for value in piece.values)
    other = " or " if isinstance(piece.op, ast.And) else " and "
    yield f"({other.join(_in(value, texts) for value in piece.values)})", 1


@_instead.register
def _(piece: ast.UnaryOp, texts: Texts) -> Instead:
    yield _in(piece.operand, texts), 0


@_instead.register
def _(piece: ast.IfExp, texts: Texts) -> Instead:
    yield from ((_in(each, texts), 1) for each in (piece.body, piece.orelse))


@_instead.register
def _(piece: ast.Tuple, texts: Texts) -> Instead:
    if isinstance(piece.ctx, ast.Load) and len(piece.elts) == 2:
        yield f"({texts[piece.elts[1]]}, {texts[piece.elts[0]]})", 1


@_instead.register
def _(piece: ast.Subscript, texts: Texts) -> Instead:
    if isinstance(piece.ctx, ast.Load):
        yield texts[piece.value], 2


@_instead.register
def _(piece: ast.Attribute, texts: Texts) -> Instead:
    if piece.attr == "T" and isinstance(piece.ctx, ast.Load):
        yield _in(piece.value, texts), 1
    if piece.attr in COARSE:
        yield f"{texts[piece.value]}.float64", 1


@_instead.register
def _(piece: ast.Call, texts: Texts) -> Instead:
    """Leave a call out, or call something else."""
    func, args, whole = piece.func, piece.args, texts[piece]
    of = texts[func.value] if isinstance(func, ast.Attribute) else ""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if any(isinstance(each, ast.Starred) for each in args):
        return
    if args and name not in KEPT:
        yield _in(args[0], texts), 0
    if len(args) == 2 and name in BOUNDS:
        yield _in(args[1], texts), 2
    if of and of not in MODULES and of != "self":
        yield of, 0
        if name in ("reshape", "ravel", "view"):
            yield f"{of}.T", 1
    rest = whole[len(texts[func]) :]
    if name in CALLS:
        yield texts[func].removesuffix(name) + CALLS[name] + rest, 1
    if args and name in ("abs", "absolute", "fabs", "clip"):
        yield f"np.maximum({texts[args[0]]}, 0)", 1
    if name in NORMS:
        yield from ((f"({whole}) ** 2", 2), (f"np.sqrt({whole})", 2))
        own = f"{of}, " if of and of not in MODULES and of != "self" else ""
        yield f"{NORMS[name]}({own}{rest[1:]}".replace(", )", ")"), 2
    if len(args) == 2 and not piece.keywords and name not in KEPT:
        yield f"{texts[func]}({texts[args[1]]}, {texts[args[0]]})", 2


def _names(piece: ast.expr, kinds: Mapping[str, Kind], texts: Texts, *, counts: bool) -> Instead:
    """Return other variables of the same kind, and this one turned, squared or as its root."""
    kind = kinds.get(texts[piece])
    if not isinstance(piece, ast.Name | ast.Attribute) or kind is None:
        return
    if not isinstance(piece.ctx, ast.Load):
        return
    name = texts[piece]
    others = [(other, of) for other, of in kinds.items() if other != name]
    if kind[0] == "array":
        yield from _arrays(name, kind, others)
        return
    near = 1 if counts and kind == ("int",) else 2
    yield from ((other, near) for other, of in others if of == kind and of != ("bool",))
    if kind[0] in OF_KIND:
        yield from OF_KIND[kind[0]](name)


def _arrays(name: str, kind: Kind, others: list[tuple[str, Kind]]) -> Instead:
    shape = kind[1]
    assert isinstance(shape, tuple)
    turned: Kind = (kind[0], shape[::-1], *kind[2:])
    yield from ((other, 1) for other, of in others if of == kind)
    if len(shape) == 2:
        yield from ((f"{other}.T", 2) for other, of in others if of == turned != kind)
        yield from ((f"{name}.T", 1), (f"{name}.copy()", 3))


def _of_floats(name: str) -> Instead:
    yield from ((f"{name} ** 2", 2), (f"{name} ** 0.5", 3), ("0.0", 2))


def _of_ints(name: str) -> Instead:
    yield from ((f"({name} + 1)", 2), (f"({name} - 1)", 2))


def _of_bools(name: str) -> Instead:
    yield f"(not {name})", 1


OF_KIND: dict[object, Callable[[str], Instead]] = {
    "float": _of_floats, "int": _of_ints, "bool": _of_bools,
}  # fmt: skip
