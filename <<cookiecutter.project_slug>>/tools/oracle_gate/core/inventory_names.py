"""What the names of a test module stand for, read from syntax trees alone (design, section 12).

Nothing is imported or run. A later definition, assignment, import or `del` wins, as it does in Python.
"""

from __future__ import annotations

import ast
import hashlib
import posixpath
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: How many names are followed to what they stand for: a name may stand for itself.
_DEPTH = 8
_DOTTED = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Binding:
    """What a name stands for at the end: a definition or an assigned expression, or an import's dotted
    name, or neither when it cannot be told; `guards` are the conditions that it stands under."""

    node: ast.AST | None = None
    imported: str = ""
    guards: tuple[str, ...] = ()


Names = dict[str, Binding]


def bindings(body: Iterable[ast.stmt]) -> Names:
    """The names that a module, class or function binds."""
    names: Names = {}
    _bind(body, (), names)
    return names


def _bind(body: Iterable[ast.stmt], guards: tuple[str, ...], names: Names) -> None:
    for statement in body:
        if isinstance(statement, Definition):
            names[statement.name] = Binding(statement, guards=guards)
            continue
        names.update({name: Binding(guards=guards) for name in _stored(statement)})
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names.update({name: Binding(None, dotted, guards) for name, dotted in _imported(statement)})
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names.update(
                {t.id: Binding(statement.value, "", guards) for t in targets if isinstance(t, ast.Name)}
            )
        if isinstance(statement, ast.Delete):
            for target in statement.targets:
                names.pop(getattr(target, "id", ""), None)
        condition = getattr(statement, "test", None)
        kind = f"{type(statement).__name__} {ast.dump(condition) if condition else ''}"
        for number, block in enumerate(blocks(statement)):
            _bind(block, (*guards, f"{kind} {number}"), names)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _stored(statement: ast.stmt) -> Iterator[str]:
    """Names that the statement itself assigns, in whatever way; inner statements not included."""
    patterns = [case.pattern for case in getattr(statement, "cases", ())]
    own = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr | ast.withitem)]
    for part in (*own, *patterns):
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name
    yield from (handler.name for handler in getattr(statement, "handlers", ()) if handler.name)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Bound name and dotted name; a relative import keeps its leading dots."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (f"{statement.module}." if statement.module else "")
            yield alias.asname or alias.name, module + alias.name
        else:
            name = alias.asname or alias.name.partition(".")[0]
            yield name, alias.name if alias.asname else name


@dataclass
class Scope:
    """The names of a module, or of a function inside `parent`.

    `constants` remembers of names whether they are; values may be large, and refer to each other.
    """

    project: Project
    path: str
    names: Names
    body: list[ast.stmt] = field(default_factory=list)
    parent: Scope | None = None
    constants: dict[str, bool] = field(default_factory=dict)
    _spelled: dict[str, str] = field(default_factory=dict)

    def lookup(self, name: str) -> tuple[Binding, Scope] | None:
        """What a name is bound to, and where; None for a builtin or unknown one."""
        if name in self.names:
            return self.names[name], self
        return self.parent.lookup(name) if self.parent else None

    def value(self, node: ast.AST | None) -> tuple[ast.AST | None, Scope]:
        """The expression that a name stands for, names of names followed; other nodes as they are."""
        scope = self
        for _ in range(_DEPTH):
            found = scope.lookup(node.id) if isinstance(node, ast.Name) else None
            if found is None or not isinstance(found[0].node, ast.expr):
                break
            node, scope = found[0].node, found[1]
        return node, scope

    def dotted(self, node: ast.AST | None, depth: int = _DEPTH) -> str:
        """`pytest.mark.skip` for whatever alias spells it; empty for what is not a dotted name."""
        node, scope = self.value(node)
        while isinstance(node, ast.Call):
            node, scope = scope.value(node.func)
        if isinstance(node, ast.Attribute):
            start = scope.dotted(node.value, depth - 1) if depth else ""
            return f"{start}.{node.attr}" if start else ""
        if not isinstance(node, ast.Name):
            return ""
        found = scope.lookup(node.id)
        return found[0].imported if found else node.id

    def find(self, node: ast.AST | None) -> tuple[Definition, Scope] | None:
        """The definition that a name or attribute means, in this module or another one of the tests."""
        node, scope = self.value(node)
        if isinstance(node, ast.Name):
            found = scope.lookup(node.id)
            if found and isinstance(found[0].node, Definition):
                return found[0].node, found[1]
        dotted = scope.dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        return self.project.definition(dotted, scope.path) if dotted else None

    def spelled(self, node: ast.AST) -> str:
        """A text that is the same for the same meaning, whatever aliases spell it; reasons do not count."""
        if isinstance(node, ast.Name):
            return self._spelled_name(node.id)
        if isinstance(node, ast.Attribute):
            start = self.spelled(node.value)
            return f"{start}.{node.attr}" if _DOTTED.fullmatch(start) else f"({start}).{node.attr}"
        fields = [value for name, value in ast.iter_fields(node) if name != "ctx"]
        plain = [repr(value) for value in fields if not isinstance(value, ast.AST | list)]
        inner = (
            self.spelled(child)
            for child in ast.iter_child_nodes(node)
            if not (isinstance(child, ast.keyword) and child.arg == "reason")
        )
        return f"{type(node).__name__}({', '.join([*plain, *inner])})"

    def _spelled_name(self, name: str) -> str:
        """A name by what it stands for; by its digest, unless that is a name again."""
        if name not in self._spelled:
            self._spelled[name] = name
            binding, scope = self.lookup(name) or (Binding(imported=name), self)
            text = binding.imported or name
            if isinstance(binding.node, ast.Name | ast.Attribute):
                text = scope.spelled(binding.node)
            elif binding.node:
                text = (
                    scope.spelled(binding.node)
                    if isinstance(binding.node, ast.expr)
                    else ast.dump(binding.node)
                )
                text = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
            self._spelled[name] = text
        return self._spelled[name]


class Project:
    """The test modules of one tree. `read` gives the source at a path, None for what is no test module."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._modules: dict[str, Scope | None] = {}
        self._begun: dict[tuple[str, str], list[tuple[Scope, list[str]]]] = {}

    def module(self, path: str) -> Scope | None:
        """A module's scope; None when it is not there or cannot be parsed."""
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    def _parse(self, path: str) -> Scope | None:
        source = self._read(path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                body = None if source is None else ast.parse(source).body
            return None if body is None else Scope(self, path, bindings(body), body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def definition(self, dotted: str, path: str) -> tuple[Definition, Scope] | None:
        """The definition that the module at `path` means by a dotted name."""
        for scope, rest in self._modules_of(dotted, path):
            if len(rest) == 1 and rest[0] in scope.names:
                return scope.find(ast.Name(rest[0], ast.Load()))
        return None

    def imports(self, scope: Scope) -> Iterator[Scope]:
        """The test modules that a module imports, and the conftest.py files above it."""
        for binding in scope.names.values():
            yield from (module for module, _ in self._modules_of(binding.imported, scope.path))
        yield from self.conftests(scope.path)

    def conftests(self, path: str) -> Iterator[Scope]:
        """The conftest.py files that pytest reads for a module, the nearest first."""
        for folder in _folders_above(path):
            module = self.module(posixpath.join(folder, "conftest.py"))
            if module:
                yield module

    def _modules_of(self, dotted: str, path: str) -> list[tuple[Scope, list[str]]]:
        """Test modules that a dotted name may begin with, and what is left of it."""
        key = (dotted, posixpath.dirname(path))
        if key not in self._begun:
            self._begun[key] = list(self._find_modules(dotted, path)) if dotted else []
        return self._begun[key]

    def _find_modules(self, dotted: str, path: str) -> Iterator[tuple[Scope, list[str]]]:
        name = dotted.lstrip(".")
        level, parts = len(dotted) - len(name), name.split(".")
        folders = list(_folders_above(path))
        for folder in folders[level - 1 : level] if level else folders:
            for cut in range(len(parts), -1 if level else 0, -1):
                start = posixpath.join(folder, *parts[:cut])
                for candidate in (start + ".py", posixpath.join(start, "__init__.py")):
                    module = self.module(candidate)
                    if module:
                        yield module, parts[cut:]


def _folders_above(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


@dataclass(frozen=True)
class Class:
    """A class with those it inherits from, the nearest first; `unknown` are bases outside the tests."""

    lineage: tuple[tuple[ast.ClassDef, Scope], ...]
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, node: ast.ClassDef, scope: Scope) -> Class:
        """Reads a class and its bases."""
        lineage: list[tuple[ast.ClassDef, Scope]] = []
        unknown: list[str] = []
        pending = [(node, scope)]
        while pending:
            current, place = pending.pop(0)
            if any(current is known for known, _ in lineage):
                continue
            lineage.append((current, place))
            unknown += [place.spelled(keyword) for keyword in current.keywords]
            for base in current.bases:
                found = place.find(base)
                if found and isinstance(found[0], ast.ClassDef):
                    pending.append((found[0], found[1]))
                else:
                    unknown.append(place.spelled(base))
        return cls(tuple(lineage), tuple(unknown))

    def members(self) -> Mapping[str, tuple[Binding, Scope]]:
        """Every attribute that the class bodies bind, inherited ones included."""
        found: dict[str, tuple[Binding, Scope]] = {}
        for node, scope in reversed(self.lineage):
            found.update({name: (binding, scope) for name, binding in bindings(node.body).items()})
        return found

    @property
    def unittest(self) -> bool:
        """Whether unittest's rules hold for it."""
        return any(name.endswith("TestCase") for name in self.unknown)
