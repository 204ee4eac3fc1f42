"""What a path alone says of a change: build, tests' configuration, dependencies, agents' instructions
(design, section 11, the inspect rules)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from ..core.gitdb import ObjectStore
from ..core.packet import ChangedPath
from ..core.paths import fold, printable
from ..core.submission import ABSENT, Change, Changed

_BY_NAME = {
    "build.changed": re.compile(
        r"setup\.py|build\.rs|cmakelists\.txt|meson\.build|manifest\.in|\.npmrc|\.yarnrc\.yml|binding\.gyp|hatch_build\.py"
    ),
    "test_config.changed": re.compile(r"conftest\.py|\.?pytest\.(ini|toml)|tox\.ini|setup\.cfg"),
    "dependencies.changed": re.compile(
        r"[\w.-]*(requirements|constraints)[\w.-]*\.(txt|in)|setup\.(py|cfg)|pipfile(\.lock)?"
        r"|(poetry|uv|pdm|cargo|composer)\.lock|(package-lock|npm-shrinkwrap)\.json|yarn\.lock|pnpm-lock\.yaml"
        r"|go\.(mod|sum)|gemfile(\.lock)?|environment\.ya?ml|cargo\.toml|pylock[\w.]*\.toml"
    ),
    "agent_config.changed": re.compile(
        r"(agents|claude|gemini)\.md|\.mcp\.json|\.envrc|\.(cursor|windsurf)rules"
    ),
}
_BY_FOLDER = {
    "build.changed": {".cargo", ".husky"},
    "agent_config.changed": {".claude", ".cursor", ".vscode"},
}
_TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "pyproject.toml": {
        "build.changed": ("build-system", "tool.setuptools", "tool.hatch.build"),
        "test_config.changed": ("tool.pytest",),
        "dependencies.changed": (
            "project.dependencies", "project.optional-dependencies", "project.requires-python",
            "dependency-groups", "tool.poetry", "tool.uv", "tool.pdm", "build-system.requires",
        ),
    },
    "package.json": {
        "build.changed": ("scripts",),
        "dependencies.changed": (
            "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides",
        ),
    },
}  # fmt: skip
_PARSERS: dict[str, Callable[[str], Any]] = {"pyproject.toml": tomllib.loads, "package.json": json.loads}


def changed_paths(change: Change, store: ObjectStore) -> tuple[ChangedPath, ...]:
    """Every net change, with the rules that its path or its tables speak for."""
    return tuple(
        ChangedPath(
            printable(item.path), item.status, item.before.mode, item.after.mode, item.before.oid, item.after.oid,
            tuple(sorted(_kinds(item, store))),
        )
        for item in change.changed
    )  # fmt: skip


def _kinds(item: Changed, store: ObjectStore) -> set[str]:
    folders = fold(item.path).split("/")
    name = folders[-1]
    kinds = {kind for kind, pattern in _BY_NAME.items() if pattern.fullmatch(name)}
    if folders[0] == "requirements":
        kinds.add("dependencies.changed")
    kinds |= {kind for kind, names in _BY_FOLDER.items() if names & set(folders)}
    if name in _TABLES:
        kinds |= _changed_tables(name, _load(name, item, store, 0), _load(name, item, store, 1))
    return kinds


def _load(name: str, item: Changed, store: ObjectStore, side: int) -> Mapping[str, Any] | None:
    """The document before (0) or after (1); None when it cannot be read as one."""
    entry = (item.before, item.after)[side]
    if entry == ABSENT:
        return {}
    if not entry.mode.startswith("100"):
        return None
    try:
        document = _PARSERS[name](store.read(entry.oid, "blob").decode())
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _changed_tables(name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> set[str]:
    if before is None or after is None:
        return set(_TABLES[name])
    return {
        kind
        for kind, tables in _TABLES[name].items()
        if any(_table(before, table) != _table(after, table) for table in tables)
    }


def _table(document: Mapping[str, Any], dotted: str) -> Any:
    value: Any = document
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
