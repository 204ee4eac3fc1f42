"""What a test's body checks, read from its syntax tree: which assertions it holds, which of them are certain
to run, what leaves before them (design, section 12; red-team catalogue, group T)."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .inventory_names import Binding, Function, Scope, bindings
from .inventory_strength import call_strength, constant, last_name, name_of, strength, tolerances
from .inventory_values import Compared, compared, compared_by_call

Members = Mapping[str, tuple[Binding, Scope]]
#: Calls and exceptions that end a test without a failure.
_LEAVING = (
    "skipTest", "importorskip", "pytest.skip", "pytest.xfail", "pytest.exit", "sys.exit", "os._exit", "os.abort",
    "SkipTest", "Skipped", "SystemExit", "KeyboardInterrupt", "skipException", "skip.Exception",
    "xfail.Exception", "exit.Exception", "outcomes.skip", "outcomes.xfail", "outcomes.exit",
)  # fmt: skip
#: Contexts that swallow no exception; any other one might.
_HARMLESS = frozenset(
    {"open", "subTest", "catch_warnings", "TemporaryDirectory", "chdir", "warns", "context"}
)
#: Fixtures that exchange what is tested.
_REPLACING = ("monkeypatch", "mocker")
_LATER = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Checks:
    """What a body checks, with the helpers that it calls.

    `certain` and `possible` count assertions by strength, `possible` also those that may not run; `calls`
    counts calls that must run, `leaving` skips and exits, `replacing` mentions of what exchanges tested
    code; `uses` are packages that are not the tests'; `values` are the constants that equalities compare
    with, `names` the parameters.
    """

    certain: Counter[int] = field(default_factory=Counter)
    possible: Counter[int] = field(default_factory=Counter)
    leaving: Counter[str] = field(default_factory=Counter)
    tolerances: Counter[tuple[str, float]] = field(default_factory=Counter)
    uses: set[str] = field(default_factory=set)
    values: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    replacing: int = 0

    def assertion(self, strength: int | None, certain: bool, times: int) -> None:
        if strength:
            self.possible[strength] += times
            self.certain[strength] += times * certain

    def compares(self, found: Compared) -> None:
        self.values += found[0]
        self.names += found[1]

    def add(self, other: Checks, certain: bool = True, times: int = 1) -> None:
        """Takes in what a called function checks."""
        for value, count in other.possible.items():
            self.possible[value] += count * times
        for value, count in other.certain.items():
            self.certain[value] += count * times * certain
        for text, count in other.values.items():
            self.values[text] += count * times
        self.leaving += other.leaving
        self.tolerances |= other.tolerances
        self.uses |= other.uses
        self.replacing += other.replacing


class Reader:
    """Reads the bodies of functions, each one once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Checks, Members]] = {}

    def function(self, node: Function, scope: Scope, members: Members) -> Checks:
        """What a function checks; `members` are the attributes of its class."""
        key = (id(node), id(members))
        if key not in self._known:
            self._known[key] = (Checks(), members)  # a recursive helper adds nothing to itself
            parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            names = {parameter.arg: Binding() for parameter in parameters} | bindings(node.body)
            inner = Scope(scope.project, scope.path, names, node.body, scope)
            self._known[key] = (self.statements(inner, members), members)
        return self._known[key][0]

    def statements(self, scope: Scope, members: Members) -> Checks:
        """What the body of a scope checks when it runs; definitions in it do not run."""
        reading = _Body(self, scope, members)
        reading.block(scope.body, True)
        return reading.checks


class _Body:
    """One walk over a body. `certain`: what is looked at runs whenever the body runs."""

    def __init__(self, reader: Reader, scope: Scope, members: Members) -> None:
        self.reader, self.scope, self.members = reader, scope, members
        self.checks = Checks()
        self.times = 1
        self.loops: dict[str, ast.expr] = {}

    def block(self, body: list[ast.stmt], certain: bool) -> bool | None:
        """Whether what follows is certain to run; None when it cannot run."""
        following: bool | None = certain
        for statement in body:
            if following is None:
                break
            following = self._statement(statement, following)
        return following

    def _statement(self, statement: ast.stmt, certain: bool) -> bool | None:
        if isinstance(statement, _DEFINITIONS):
            return certain
        special = _STATEMENTS.get(type(statement))
        if special:
            return special(self, statement, certain)
        for child in ast.iter_child_nodes(statement):
            self._expression(child, certain, dropped=isinstance(statement, ast.Expr))
        return None if isinstance(statement, ast.Return | ast.Break | ast.Continue) else certain

    def _assert(self, statement: ast.Assert, certain: bool) -> bool:
        self._asserted(statement.test, certain)
        self._expression(statement.test, certain)
        return certain

    def _asserted(self, test: ast.expr, certain: bool, negated: bool = False) -> None:
        self.checks.assertion(strength(test, self.scope, negated), certain, self.times)
        self.checks.compares(compared(test, self.scope, self.loops, self.times, negated))

    def _raise(self, statement: ast.Raise, certain: bool) -> None:
        if self._leaves(statement.exc):
            self.checks.leaving[name_of(statement.exc, self.scope)] += 1
        else:
            self.checks.assertion(3, certain, self.times)

    def _if(self, statement: ast.If, certain: bool) -> bool:
        self._expression(statement.test, certain)
        for body, negated in ((statement.body, True), (statement.orelse, False)):
            if self._fails(body):  # `if a != b: raise AssertionError` asserts that a == b
                self._asserted(statement.test, certain, negated)
            self.block(body, False)
        return certain and not _jumps(statement)

    def _fails(self, body: list[ast.stmt]) -> bool:
        last = body[-1] if body else None
        if isinstance(last, ast.Raise):
            return not self._leaves(last.exc)
        return isinstance(last, ast.Expr) and last_name(last.value, self.scope) == "fail"

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, certain: bool) -> bool:
        head = statement.test if isinstance(statement, ast.While) else statement.iter
        self._expression(head, certain)
        values, _ = self.scope.value(head)
        listed = isinstance(values, ast.Tuple | ast.List) and not isinstance(statement, ast.While)
        rounds = len(values.elts) if listed else 0  # type: ignore[union-attr]
        if not isinstance(statement, ast.While):
            names = (node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name))
            self.loops |= dict.fromkeys(names, statement.iter)
        before, self.times = self.times, self.times * max(rounds, 1)
        self.block(statement.body, certain and rounds > 0)
        self.times = before
        self.block(statement.orelse, False)
        return certain and not _jumps(statement, ast.Return)

    def _with(self, statement: ast.With | ast.AsyncWith, certain: bool) -> bool | None:
        swallows = False
        for item in statement.items:
            self._expression(item.context_expr, certain)
            swallows |= last_name(item.context_expr, self.scope) not in _HARMLESS
        following = self.block(statement.body, certain and not swallows)
        return None if following is None and not swallows else certain and not _jumps(statement)

    def _try(self, statement: ast.Try, certain: bool) -> bool:
        inside = certain and not statement.handlers
        self.block(statement.body, inside)
        self.block(statement.orelse, inside)
        for handler in statement.handlers:
            self.block(handler.body, False)
        self.block(statement.finalbody, certain)
        return certain and not _jumps(statement)

    def _match(self, statement: ast.Match, certain: bool) -> bool:
        self._expression(statement.subject, certain)
        for case in statement.cases:
            self.block(case.body, False)
        return certain and not _jumps(statement)

    def _expression(self, node: ast.AST, certain: bool, dropped: bool = False) -> None:
        """Looks at calls, comparisons and names. `dropped`: the value is thrown away."""
        if isinstance(node, ast.Call):
            self._call(node, certain, dropped)
        if isinstance(node, ast.Call | ast.Compare):
            self.checks.tolerances.update(tolerances(node, self.scope))
        if isinstance(node, ast.Name):
            self._use(node)
        for number, child in enumerate(ast.iter_child_nodes(node)):
            first = isinstance(node, ast.BoolOp)  # its operator is its first child
            maybe = isinstance(node, _LATER) or (isinstance(node, ast.BoolOp | ast.IfExp) and number > first)
            self._expression(child, certain and not maybe)

    def _call(self, node: ast.Call, certain: bool, dropped: bool) -> None:
        self.checks.calls += certain
        helper = self._helper(node.func)
        if self._leaves(node):
            self.checks.leaving[name_of(node, self.scope)] += 1
        elif helper is None:
            self.checks.assertion(call_strength(node, self.scope), certain, self.times)
            if call_strength(node, self.scope):
                self.checks.compares(compared(node, self.scope, self.loops, self.times))
        elif not (dropped and is_lazy(helper[0])):  # nobody awaits or iterates it: nothing runs
            found = self.reader.function(*helper, self.members)
            says = bool(found.uses) or not self._is_vacuous(node)
            self.checks.add(found, certain and says, self.times)
            if says:
                helper_names = (helper[0], found.names)
                self.checks.compares(
                    compared_by_call(*helper_names, node, self.scope, self.loops, self.times)
                )

    def _is_vacuous(self, node: ast.Call) -> bool:
        """Whether a helper is called with nothing that depends on the program, or with one value twice."""
        arguments = [*node.args, *(word.value for word in node.keywords)]
        same = len(arguments) > 1 and len({ast.dump(argument) for argument in arguments}) == 1
        return same or (bool(arguments) and all(constant(argument, self.scope) for argument in arguments))

    def _helper(self, callee: ast.expr) -> tuple[Function, Scope] | None:
        """The function of the tests that is called."""
        found = self.scope.find(callee)
        node, scope = found or (None, self.scope)
        if isinstance(callee, ast.Attribute) and getattr(callee.value, "id", "") in ("self", "cls"):
            binding, scope = self.members.get(callee.attr, (Binding(), scope))
            return (binding.node, scope) if isinstance(binding.node, Function) else None
        return (node, scope) if isinstance(node, Function) else None

    def _use(self, node: ast.Name) -> None:
        found = self.scope.lookup(node.id)
        imported = found[0].imported if found else ""
        self.checks.replacing += node.id in _REPLACING or imported.startswith("unittest.mock")
        package = imported.partition(".")[0]
        own = {"", "pytest", "_pytest", self.scope.path.partition("/")[0]}
        if package not in own | sys.stdlib_module_names and not self.scope.find(node):
            self.checks.uses.add(package)

    def _leaves(self, node: ast.AST | None) -> bool:
        name = "." + name_of(node, self.scope)
        return name in (".exit", ".quit") or any(name.endswith("." + word) for word in _LEAVING)


_STATEMENTS: dict[type[ast.stmt], Callable[..., bool | None]] = {
    ast.Assert: _Body._assert, ast.Raise: _Body._raise, ast.If: _Body._if, ast.For: _Body._loop,
    ast.AsyncFor: _Body._loop, ast.While: _Body._loop, ast.With: _Body._with, ast.AsyncWith: _Body._with,
    ast.Try: _Body._try, ast.TryStar: _Body._try, ast.Match: _Body._match,
}  # fmt: skip


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Everything below a node but what is inside a further function or class."""
    found: list[ast.AST] = []
    pending = [node]
    while pending:
        children = list(ast.iter_child_nodes(pending.pop()))
        found += children
        pending += [child for child in children if not isinstance(child, (*_DEFINITIONS, ast.Lambda))]
    return found


def _jumps(statement: ast.stmt, *kinds: type[ast.stmt]) -> bool:
    """Whether a statement may leave the block that it stands in without a failure."""
    return any(
        isinstance(node, kinds or (ast.Return, ast.Break, ast.Continue)) for node in own_nodes(statement)
    )


def is_lazy(function: Function) -> bool:
    """Whether a call alone runs nothing of it: a coroutine or a generator."""
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function))
    return yields or isinstance(function, ast.AsyncFunctionDef)
