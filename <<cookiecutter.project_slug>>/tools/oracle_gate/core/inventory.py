"""The judge's own inventory of a project's tests: exact node ids, and what keeps each from running or failing.

Read with `ast` from blobs, so that no code of the change can speak into it (design, section 12; article A,
"Quarantine is an identity check"). It knows pytest's defaults; what it cannot tell, the collection tells.
"""

from __future__ import annotations

import ast
import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .gitdb import Entries, ObjectStore
from .inventory_checks import Checks, Members, Reader, is_lazy, own_nodes
from .inventory_marks import Marks, keywords
from .inventory_names import Binding, Class, Definition, Function, Project, Scope

_SETUP = ("setUp", "setUpClass", "asyncSetUp", "setup_method", "setup_class")
_MODULE_SETUP = ("setUpModule", "setup_module", "setup_function")
#: Ways to change a test from outside of it.
_DYNAMIC = frozenset(
    {"globals", "locals", "vars", "setattr", "delattr", "exec", "eval", "compile", "__import__"}
)
_INNER = frozenset({"__code__", "__dict__", "__wrapped__", "__globals__", "modules", "_getframe"})
_SETTINGS = ("collect_ignore", "collect_ignore_glob", "pytest_plugins")


@dataclass(frozen=True)
class Test:
    """One test function. `cases` are the bracketed parts of its ids: empty when it is not parametrised,
    None when they cannot be told. `marks` are decorators, marks and bases, each with whether it can skip;
    `surroundings` counts what may change the test from outside."""

    id: str
    cases: tuple[str, ...] | None
    number_of_cases: int
    marks: Mapping[str, bool]
    checks: Checks
    lazy: bool
    parameters: int
    guards: frozenset[str]
    surroundings: Mapping[str, int]

    @property
    def ids(self) -> tuple[str, ...]:
        """Node ids; the one without brackets when the cases cannot be told."""
        return tuple(f"{self.id}[{case}]" for case in self.cases) if self.cases else (self.id,)


Inventory = Mapping[str, Test]


def function_id(id: str) -> str:
    """A node id without its case."""
    path, colons, name = id.partition("::")
    return path + colons + name.partition("[")[0]


def ids_of(tests: Inventory) -> set[str]:
    """Every node id of an inventory."""
    return {id for test in tests.values() for id in test.ids}


def stands(id: str, tests: Inventory) -> bool:
    """Whether an exact id is there; a case of a test whose cases cannot be told is."""
    test = tests.get(function_id(id))
    return test is not None and (id in test.ids or (test.cases is None and id != test.id))


def is_test_file(path: str, folders: Iterable[str]) -> bool:
    """Whether pytest looks for tests there: its default file names, below the public folders."""
    name = posixpath.basename(path)
    named = name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py"))
    return named and is_below(path, folders)


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path lies in one of the folders; "." holds everything."""
    return any(
        folder.rstrip("/") in (".", path) or path.startswith(folder.rstrip("/") + "/") for folder in folders
    )


def read_inventory(store: ObjectStore, entries: Entries, folders: tuple[str, ...]) -> dict[str, Test]:
    """The tests below the public folders of a tree, by the id without brackets."""
    files = {
        path.decode("utf-8", "replace"): entry.oid
        for path, entry in entries.items()
        if path.endswith(b".py") and entry.mode.startswith("100")
    }

    def read(path: str) -> bytes | None:
        known = path in files and (is_below(path, folders) or posixpath.basename(path) == "conftest.py")
        return store.read(files[path], "blob") if known else None

    lister = _Lister(Project(read))
    return {
        test.id: test for path in sorted(files) if is_test_file(path, folders) for test in lister.file(path)
    }


@dataclass(frozen=True)
class _Container:
    """A module, or a class in it with those around it, the outermost first: what holds for all tests in it."""

    id: str
    module: Scope
    members: Members
    classes: tuple[Class, ...] = ()
    guards: frozenset[str] = frozenset()


#: The attributes of what is no class.
_NONE: Members = {}


class _Lister:
    """Lists the tests of one project's files."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reader = Reader()
        self._outside: dict[str, tuple[Counter[str], Counter[str]]] = {}

    def file(self, path: str) -> list[Test]:
        """The tests of one file; none when it cannot be parsed."""
        scope = self._project.module(path)
        try:
            members = {name: (binding, scope) for name, binding in scope.names.items()} if scope else {}
            return list(self._inside(_Container(path, scope, members))) if scope else []
        except (RecursionError, ValueError):  # too deep, or a number too long to be written
            return []

    def _inside(self, around: _Container) -> Iterator[Test]:
        """The tests of a module or class."""
        if _is_false(around.members.get("__test__")):
            return
        for name, (binding, scope) in around.members.items():
            node, place = _meant(binding, scope) or (None, scope)
            guards = around.guards | set(binding.guards)
            if isinstance(node, ast.ClassDef):
                inner = Class.of(node, place)
                members = inner.members()
                if inner.unittest or (
                    name.startswith("Test") and not {"__init__", "__new__"} & members.keys()
                ):
                    classes = (*around.classes, inner)
                    yield from self._inside(
                        _Container(f"{around.id}::{name}", around.module, members, classes, guards)
                    )
            elif node and name.startswith("test"):
                yield self._test(name, node, place, replace(around, guards=guards))

    def _test(self, name: str, node: Function, scope: Scope, around: _Container) -> Test:
        members, module = around.members if around.classes else _NONE, around.module
        marks = Marks()
        for decorator in reversed(node.decorator_list):  # the order in which pytest joins cases
            marks.add(decorator, scope)
        for inherited in reversed(around.classes):
            marks.add_class(inherited)
        marks.add_list(module.names.get("pytestmark"), module)
        own = self._reader.function(node, scope, members)
        checks = Checks(calls=own.calls)
        fixtures = Checks()
        for fixture, place in self._fixtures(node, members, module, marks.fixtures):
            fixtures.add(self._reader.function(fixture, place, members))
            marks.varied |= any(
                word.arg == "params" for call in fixture.decorator_list for word in keywords(call)
            )
        checks.add(own)
        checks.add(fixtures)
        for part, place in (pair for inherited in around.classes for pair in inherited.lineage):
            body = Scope(place.project, place.path, {}, part.body, place)
            checks.leaving += self._reader.statements(body, _NONE).leaving
        surroundings, leaving = self._surroundings(module)
        checks.leaving += leaving
        # What a fixture uses does not make up for what the test itself does not use any more.
        checks.uses = own.uses | {f"{package} in its fixtures" for package in fixtures.uses}
        cases, count = ((), 1) if around.classes and around.classes[-1].unittest else marks.cases(module)
        return Test(
            f"{around.id}::{name}", cases, count, marks.found, checks, is_lazy(node), len(_arguments(node)),
            around.guards, surroundings,
        )  # fmt: skip

    def _fixtures(
        self, node: Function, members: Members, module: Scope, named: set[str]
    ) -> Iterator[tuple[Function, Scope]]:
        """The fixtures and set-up functions that run before a test, as far as the tests define them."""
        places: list[Members] = [members]
        for scope in (module, *self._project.conftests(module.path)):
            places.append({name: (binding, scope) for name, binding in scope.names.items()})
        wanted = [*named, *_SETUP, *_MODULE_SETUP, *_arguments(node)]
        wanted += [name for place in places for name, (binding, _) in place.items() if _is_automatic(binding)]
        seen: set[str] = set()
        for name in wanted:
            place = next((place for place in places if name in place), {})
            binding, scope = place.get(name, (Binding(), module))
            if name not in seen and isinstance(binding.node, Function):
                seen.add(name)
                wanted += _arguments(binding.node)
                yield binding.node, scope

    def _surroundings(self, module: Scope) -> tuple[Counter[str], Counter[str]]:
        """For all tests of a module: what may change them from outside (in it, in the modules that it imports,
        in conftest.py above), and how it may leave while it is imported."""
        if module.path not in self._outside:
            found = Counter(f"{type(node).__name__} at import" for node in _effects(module.body))
            reached = {module.path: module}
            pending = [module]
            while pending:
                scope = pending.pop()
                found.update(_suspicious(scope))
                further = {
                    other.path: other for other in self._project.imports(scope) if other.path not in reached
                }
                reached |= further
                pending += further.values()
            self._outside[module.path] = (found, self._reader.statements(module, _NONE).leaving)
        return self._outside[module.path]


def _meant(binding: Binding, scope: Scope) -> tuple[Definition, Scope] | None:
    """The definition of a member, if it is one that pytest may collect."""
    if isinstance(binding.node, Definition):
        return binding.node, scope
    if binding.imported:
        return scope.project.definition(binding.imported, scope.path)
    return scope.find(binding.node) if isinstance(binding.node, ast.Name | ast.Attribute) else None


def _is_false(member: tuple[Binding, Scope] | None) -> bool:
    value = member[0].node if member else None
    return isinstance(value, ast.Constant) and not value.value


def _arguments(node: Function) -> list[str]:
    """The names of its fixtures: pytest leaves arguments with a default alone."""
    plain = node.args.args[: len(node.args.args) - len(node.args.defaults)]
    further = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [
        argument.arg for argument in (*plain, *(argument for argument, default in further if default is None))
    ]


def _is_automatic(binding: Binding) -> bool:
    """Whether it is a fixture that runs unasked."""
    decorators = binding.node.decorator_list if isinstance(binding.node, Function) else []
    return any(word.arg == "autouse" for decorator in decorators for word in keywords(decorator))


def _effects(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What a module or class body does beside defining: calls for their effect, raise, del, assert."""
    for node in own_nodes(ast.Module(body, [])):
        if isinstance(node, ast.ClassDef):
            yield from _effects(node.body)
        docstring = isinstance(getattr(node, "value", None), ast.Constant)
        if isinstance(node, ast.Raise | ast.Delete | ast.Assert | ast.Expr) and not docstring:
            yield node


def _suspicious(scope: Scope) -> Iterator[str]:
    """Ways in which a module may change other code, hook into pytest or choose what it collects."""
    for name in _SETTINGS:
        if name in scope.names and getattr(
            scope.names[name].node, "elts", True
        ):  # an empty list says nothing
            yield f"{name} = {scope.spelled(ast.Name(name, ast.Load()))}"
    for node in ast.walk(ast.Module(scope.body, [])):
        if isinstance(node, ast.Name) and node.id in _DYNAMIC:
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in _INNER:
            yield node.attr
        elif isinstance(node, ast.Global):
            yield "global"
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield f"import * from {node.module}"
        elif isinstance(node, Function) and node.name.startswith("pytest_"):
            yield f"{node.name} {hashlib.sha256(ast.dump(node).encode('utf-8', 'replace')).hexdigest()[:16]}"
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from _foreign_target(node, scope)


def _foreign_target(target: ast.expr, scope: Scope) -> Iterator[str]:
    """The name of something imported or defined that is assigned to or deleted from; os.environ may be."""
    names = []
    while isinstance(target, ast.Attribute | ast.Subscript):
        names.append(getattr(target, "attr", ""))
        target = target.value
    found = scope.names.get(target.id) if isinstance(target, ast.Name) else None
    if found and (found.imported or isinstance(found.node, Definition)) and "environ" not in names:
        yield f"a change of {getattr(target, 'id', '')}"
