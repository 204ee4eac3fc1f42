"""Which constants a test's equalities compare with, through names, loops and helpers (design, section 12)."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping

from .inventory_names import Function, Scope
from .inventory_strength import constant, equal_sides, last_name

Loops = Mapping[str, ast.expr]
#: Constants by their text, and the function's own names, each with how often it is compared with.
Compared = tuple[Counter[str], Counter[str]]


def compared(test: ast.expr, scope: Scope, loops: Loops, times: int, negated: bool = False) -> Compared:
    """What an assertion compares with. `loops`: what the names of loops go through."""
    return _sorted(
        part
        for side in equal_sides(test, scope, negated)
        for part in _parts(side, scope, loops, times, set())
    )


def compared_by_call(
    helper: Function, inner: Counter[str], node: ast.Call, scope: Scope, loops: Loops, times: int
) -> Compared:
    """What a call of a helper compares with; `inner` are the names that the helper's equalities mention."""
    return _sorted(
        part
        for name, value in _bound(helper, node)
        if inner[name]
        for part in _parts(value, scope, loops, times * inner[name], set())
    )


def _sorted(parts: Iterator[tuple[str, bool, int]]) -> Compared:
    values: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for text, is_name, times in parts:
        (names if is_name else values)[text] += times
    return values, names


def _parts(
    node: ast.expr, scope: Scope, loops: Loops, times: int, seen: set[str]
) -> Iterator[tuple[str, bool, int]]:
    """Each constant or unbound name that a compared value consists of, whether it is a name, how often.

    `seen` are the names that were followed.
    """
    if constant(node, scope):
        yield _text(node, scope), False, times
    elif isinstance(node, ast.Name):
        found = scope.lookup(node.id) if node.id not in seen else None
        seen.add(node.id)
        if found and isinstance(found[0].node, ast.expr):
            yield from _parts(found[0].node, found[1], loops, times, seen)
        elif found and node.id in loops:  # each of its values is compared with once
            yield from _parts(loops[node.id], scope, loops, 1, seen)
        elif found and found[1] is scope:
            yield node.id, True, times
    else:
        for part in _held(node, scope):
            yield from _parts(part, scope, loops, times, seen)


def _text(node: ast.expr, scope: Scope) -> str:
    """A text that is the same for the same constant, by whatever name."""
    value, place = scope.value(node)
    if isinstance(value, ast.Constant):
        return repr(value.value)
    # Of a name the scope remembers the digest; it is that of its value's text.
    digest = scope.spelled(node) if isinstance(node, ast.Name) else ""
    if value and not digest:
        digest = hashlib.sha256(place.spelled(value).encode("utf-8", "replace")).hexdigest()[:16]
    return f"{type(value).__name__} {digest}"


def _held(node: ast.expr, scope: Scope) -> list[ast.expr]:
    """The values in a literal, the one that is indexed or named, the one of `approx`."""
    if isinstance(node, ast.Subscript) and not isinstance(
        scope.value(node.value)[0], ast.Name | ast.Subscript
    ):
        return []  # which value of a literal that holds others is not followed
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Subscript | ast.NamedExpr | ast.Starred):
        return [node.value]
    return node.args[:1] if isinstance(node, ast.Call) and last_name(node, scope) == "approx" else []


def _bound(helper: Function, node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a helper with what a call, or their default, gives them."""
    given, parameters = helper.args, [*helper.args.posonlyargs, *helper.args.args]
    names = [parameter.arg for parameter in parameters]
    values: dict[str, ast.expr] = dict(
        zip(names[len(names) - len(given.defaults) :], given.defaults, strict=True)
    )
    values |= {
        parameter.arg: default
        for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default
    }
    places = names[1:] if names[:1] in (["self"], ["cls"]) else names
    values |= dict(zip(places, node.args, strict=False))
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        values |= {name: ast.Tuple(list(node.args), ast.Load()) for name in places}
    values |= {word.arg: word.value for word in node.keywords if word.arg}
    yield from values.items()
