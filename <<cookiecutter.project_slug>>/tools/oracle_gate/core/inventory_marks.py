"""What decorates a test: marks for comparison, parametrisation for its ids (design, section 12)."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from .inventory_names import Binding, Class, Scope

#: Words of a mark or decorator that keeps a test from running, or from failing.
_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "importorskip"})


class Marks:
    """Collects what decorates a test: `found` for comparison, parametrisation for its ids."""

    def __init__(self) -> None:
        self.found: dict[str, bool] = {}
        self.fixtures: set[str] = set()
        self.varied = False
        self._parametrised: list[tuple[ast.Call, Scope]] = []

    def add(self, mark: ast.expr, scope: Scope) -> None:
        name = scope.dotted(mark)
        if name.endswith("usefixtures") and isinstance(mark, ast.Call):
            self.fixtures |= {str(getattr(argument, "value", "")) for argument in mark.args}
        if name.endswith("mark.parametrize") and isinstance(mark, ast.Call):
            self._parametrised.append((mark, scope))
            for call in ast.walk(mark):
                if any(word.arg == "marks" for word in keywords(call)):
                    self.found[scope.spelled(call)] = _can_skip(call, scope)
            return
        self.found[scope.spelled(mark)] = _can_skip(mark, scope)

    def add_list(self, binding: Binding | None, scope: Scope) -> None:
        """What `pytestmark` holds."""
        value, _ = scope.value(binding.node) if binding else (None, scope)
        for mark in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            if isinstance(mark, ast.expr):
                self.add(mark, scope)
        if binding and value is None:
            self.found["pytestmark"] = True

    def add_class(self, inherited: Class) -> None:
        self.found.update({f"base {name}": False for name in inherited.unknown})
        for node, scope in inherited.lineage:
            for decorator in node.decorator_list:
                self.add(decorator, scope)
        binding, scope = inherited.members().get("pytestmark", (None, inherited.lineage[0][1]))
        self.add_list(binding, scope)

    def cases(self, module: Scope) -> tuple[tuple[str, ...] | None, int]:
        """The bracketed parts of the ids, None when they cannot be told, and how many there are."""
        lists, count = [], 1
        for call, scope in self._parametrised:
            values = scope.value(_argument(call, 1, "argvalues"))[0]
            count *= len(values.elts) if isinstance(values, ast.List | ast.Tuple) else 1
            lists.append(list(_case_ids(call, values)))
        told = all(ids and None not in ids and len(set(ids)) == len(ids) for ids in lists)
        if not told or self.varied or "pytest_generate_tests" in module.names:
            return None, count
        return tuple("-".join(map(str, parts)) for parts in itertools.product(*lists)) if lists else (), count


def _case_ids(call: ast.Call, values: ast.AST | None) -> Iterator[str | None]:
    """pytest's id of each literal value; None for what only running tells."""
    names, ids = _argument(call, 0, "argnames"), _argument(call, 2, "ids")
    if isinstance(names, ast.Constant) and isinstance(names.value, str):
        arguments = [name.strip() for name in names.value.split(",") if name.strip()]
    else:
        arguments = [str(getattr(name, "value", "")) for name in getattr(names, "elts", ())]
    listed = values.elts if isinstance(values, ast.List | ast.Tuple) else []
    named = ids.elts if isinstance(ids, ast.List | ast.Tuple) else [None] * len(listed)
    if not (
        listed and arguments and len(named) == len(listed) and isinstance(ids, ast.List | ast.Tuple | None)
    ):
        yield None
        return
    for number, (value, name) in enumerate(zip(listed, named, strict=True)):
        parts = [name] if name else list(getattr(value, "elts", ())) if len(arguments) > 1 else [value]
        if not name and len(parts) != len(arguments):
            yield None
            continue
        told = [
            _value_id(part, f"{argument}{number}") for part, argument in zip(parts, arguments, strict=False)
        ]
        yield None if None in told else "-".join(map(str, told))


def _value_id(node: ast.expr, otherwise: str) -> str | None:
    if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set):
        return otherwise
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return f"-{node.operand.value!s}"
    value = node.value if isinstance(node, ast.Constant) else ...
    if isinstance(value, str):
        plain = value.isascii() and value.isprintable() and "\\" not in value and 0 < len(value) <= 100
        return value if plain else None
    return str(value) if isinstance(value, bool | int | float | None) else None


def _can_skip(mark: ast.AST, scope: Scope) -> bool:
    """Whether a mark or decorator names a skip, itself or in what it stands for."""
    pending: list[tuple[ast.AST, Scope]] = [(mark, scope)]
    seen: list[ast.AST] = []
    while pending:
        part, place = pending.pop()
        seen.append(part)
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and node.attr in _SKIPS:
                return True
            found = place.lookup(node.id) if isinstance(node, ast.Name) else None
            if isinstance(node, ast.Name) and _SKIPS & set(place.dotted(node).split(".")):
                return True
            if found and found[0].node and not any(found[0].node is known for known in seen):
                pending.append((found[0].node, found[1]))
    return False


def keywords(node: ast.AST) -> list[ast.keyword]:
    return node.keywords if isinstance(node, ast.Call) else []


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    given = next((word.value for word in call.keywords if word.arg == name), None)
    return given or (call.args[position] if len(call.args) > position else None)
