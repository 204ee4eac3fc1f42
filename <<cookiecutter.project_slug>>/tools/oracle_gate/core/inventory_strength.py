"""How much an assertion says, read from its syntax tree: an order, not a proof (design, section 12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .inventory_names import Scope

#: What cannot fail 0, a truth or difference 1, order and membership 2, equality 3, an exception with its text 4.
_OPERATORS: dict[type[ast.cmpop], int] = {
    ast.Eq: 3, ast.Is: 3, ast.In: 2, ast.Lt: 2, ast.LtE: 2, ast.Gt: 2, ast.GtE: 2,
    ast.NotEq: 1, ast.IsNot: 1, ast.NotIn: 1,
}  # fmt: skip
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn,
}  # fmt: skip
_LOOSE = ("assertIn", "assertGreater", "assertLess", "assertRegex", "assertCountEqual")
#: Exceptions whose expectation says little: they catch everything, or an assertion's own failure.
_BROAD = ("Exception", "BaseException", "AssertionError", "")
_CONTAINERS = (ast.Tuple, ast.List, ast.Set)
_ALWAYS_TRUE = (*_CONTAINERS, ast.Dict, ast.Lambda, ast.GeneratorExp)
_PURE = frozenset(("len", "int", "str", "float", "bool", "bytes", "list", "tuple", "dict", "set", "sorted", "sum",
                   "min", "max", "abs", "repr", "range", "isinstance", "type", "any", "all", "round"))  # fmt: skip
_BUILT = (
    ast.Constant, *_CONTAINERS, ast.Dict, ast.JoinedStr, ast.FormattedValue, ast.UnaryOp, ast.BinOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Starred, ast.Subscript, ast.Slice, ast.Call,
)  # fmt: skip
#: Nodes of a comparison that are too many to search.
_LONG = 200
#: Keywords of approximate comparisons. With `places` and `decimal` less is wider, so they count negative.
_TOLERANCES = {
    "rel": 1,
    "abs": 1,
    "rel_tol": 1,
    "abs_tol": 1,
    "rtol": 1,
    "atol": 1,
    "delta": 1,
    "places": -1,
    "decimal": -1,
}
_POSITIONAL = {"approx": ("", "rel", "abs"), "assertAlmostEqual": ("", "", "places")}


def name_of(node: ast.AST | None, scope: Scope) -> str:
    """The dotted name of a callee; only its last part when it hangs on something without a name."""
    node = node.func if isinstance(node, ast.Call) else node
    return scope.dotted(node) or getattr(node, "attr", "")


def last_name(node: ast.AST | None, scope: Scope) -> str:
    """The last part of `name_of`."""
    return name_of(node, scope).rpartition(".")[2]


def strength(test: ast.expr, scope: Scope, negated: bool = False) -> int:
    """How much it says that `test` is true, or false when `negated`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return strength(test.operand, scope, not negated)
    if constant(test, scope) or isinstance(test, _ALWAYS_TRUE):
        return 0
    if isinstance(test, ast.BoolOp):
        parts = [strength(value, scope, negated) for value in test.values]
        if isinstance(test.op, ast.Or) == negated:  # all of them are asserted
            return max(parts)
        return max(1, min(parts) - 1) if all(parts) else 0
    truth = _truth(test, scope)
    if truth:
        return strength(truth[0], scope, negated != truth[1])
    if isinstance(test, ast.Compare):
        pairs = [_pair_strength(*pair, scope, negated) for pair in _pairs(test)]
        return min(pairs) if negated else max(pairs)
    asserted = call_strength(test, scope) if isinstance(test, ast.Call) and not negated else None
    return 1 if asserted is None else asserted


def equal_sides(test: ast.expr, scope: Scope, negated: bool = False) -> Iterator[ast.expr]:
    """The values that must be equal to another one, for `test` to be true, or false when `negated`."""
    truth = _truth(test, scope)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from equal_sides(test.operand, scope, not negated)
    elif truth:
        yield from equal_sides(truth[0], scope, negated != truth[1])
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) == negated:
        for value in test.values:
            yield from equal_sides(value, scope, negated)
    elif isinstance(test, ast.Compare) and (not negated or len(test.ops) == 1):
        for left, operator, right in _pairs(test):
            if _pair_strength(left, operator, right, scope, negated) == _OPERATORS[ast.Eq]:
                yield from (left, right)
    elif isinstance(test, ast.Call) and not negated and test.args:
        yield from _sides_of_call(test, scope)


def _sides_of_call(test: ast.Call, scope: Scope) -> Iterator[ast.expr]:
    name = last_name(test, scope)
    if name in ("assertTrue", "assertFalse"):
        yield from equal_sides(test.args[0], scope, name == "assertFalse")
    elif name.startswith("assert") and not name.startswith("assertRaises"):
        yield from test.args[:2] if call_strength(test, scope) == _OPERATORS[ast.Eq] else ()


def _pairs(test: ast.Compare) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """The comparisons of a chain."""
    return zip((test.left, *test.comparators), test.ops, test.comparators, strict=False)


def _pair_strength(left: ast.expr, operator: ast.cmpop, right: ast.expr, scope: Scope, negated: bool) -> int:
    kind = _OPPOSITE.get(type(operator), type(operator)) if negated else type(operator)
    if _vacuous(left, right, scope):
        return 0
    return 1 if _of_itself(left, right, scope) else _OPERATORS[kind]


def _of_itself(left: ast.expr, right: ast.expr, scope: Scope) -> bool:
    """Whether one side is made of the other; sides that are constant or long are not looked at."""
    long = sum(1 for side in (left, right) for _ in ast.walk(side)) > _LONG
    if long or constant(left, scope) or constant(right, scope):
        return False
    return any(_made_of(one, ast.dump(other), scope) for one, other in ((left, right), (right, left)))


def _made_of(node: ast.expr, whole: str, scope: Scope) -> bool:
    """Whether a value is made of another one, by its dump, and of constants alone."""
    if ast.dump(node) == whole or constant(node, scope):
        return True
    parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return isinstance(node, (*_BUILT, ast.Attribute)) and all(_made_of(part, whole, scope) for part in parts)


def _truth(test: ast.expr, scope: Scope) -> tuple[ast.expr, bool] | None:
    """The operand of `== True`, `is not False` or `bool()`, and whether it must be false."""
    if isinstance(test, ast.NamedExpr):
        return test.value, False
    if isinstance(test, ast.Call) and len(test.args) == 1 and scope.dotted(test.func) == "bool":
        return test.args[0], False
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return None
    for side, operand in ((test.comparators[0], test.left), (test.left, test.comparators[0])):
        value, _ = scope.value(side)
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            if isinstance(test.ops[0], ast.Eq | ast.Is):
                return operand, not value.value
            if isinstance(test.ops[0], ast.NotEq | ast.IsNot):
                return operand, value.value
    return None


def call_strength(node: ast.Call, scope: Scope) -> int | None:
    """The strength of a call that asserts something by itself; None when it does not."""
    name, arguments = last_name(node, scope), node.args
    if name == "raises" or name.startswith("assertRaises"):
        matched = name.endswith("Regex") or any(word.arg == "match" for word in node.keywords)
        broad = not arguments or scope.dotted(arguments[0]) in _BROAD
        return (1 if broad else 3) + matched
    if name in ("warns", "deprecated_call", "fail"):
        return 3
    if not name.startswith("assert"):
        return None
    if name in ("assertTrue", "assertFalse") and arguments:
        return strength(arguments[0], scope, name == "assertFalse")
    if arguments and all(constant(argument, scope) for argument in arguments[:2]):
        return 0
    if len(arguments) > 1 and _vacuous(arguments[0], arguments[1], scope):
        return 0
    return 1 if "Not" in name else 2 if name.startswith(_LOOSE) else 3


def _vacuous(left: ast.expr, right: ast.expr, scope: Scope) -> bool:
    """Whether a comparison says nothing: both sides the same, or one equal to everything."""
    anything = any(scope.dotted(side).endswith("mock.ANY") for side in (left, right))
    return anything or ast.dump(left) == ast.dump(right)


def constant(node: ast.AST, scope: Scope) -> bool:
    """Whether a value cannot depend on the tested program."""
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is None:
            return node.id in _PURE
        value, place = found[0].node, found[1]
        if node.id not in place.constants:
            place.constants[node.id] = False  # a name that stands for itself
            place.constants[node.id] = isinstance(value, ast.expr) and constant(value, place)
        return place.constants[node.id]
    if isinstance(node, ast.NamedExpr):
        return constant(node.value, scope)
    parts = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return isinstance(node, _BUILT) and all(constant(part, scope) for part in parts)


def tolerances(node: ast.Call | ast.Compare, scope: Scope) -> Iterator[tuple[str, float]]:
    """How much a comparison lets through: by keyword, or `in` and how many values a literal holds."""
    if isinstance(node, ast.Compare):
        values, _ = scope.value(node.comparators[0])
        if isinstance(node.ops[0], ast.In) and isinstance(values, _CONTAINERS):
            yield "in", len(values.elts)
        return
    positional = zip(_POSITIONAL.get(last_name(node, scope), ()), node.args, strict=False)
    for kind, argument in (*positional, *((word.arg, word.value) for word in node.keywords)):
        value, _ = scope.value(argument)
        number = value.value if isinstance(value, ast.Constant) else float("inf")
        if kind in _TOLERANCES and isinstance(number, int | float):
            yield str(kind), number * _TOLERANCES[str(kind)]
