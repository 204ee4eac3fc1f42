"""What a path or a table of a file says of a change: build, tests' configuration, dependencies, agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle_gate.core.gitdb import Entry, ObjectStore
from oracle_gate.core.submission import finish
from oracle_gate.lanes.changed_paths import changed_paths
from support.objects import change, entries

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "x"
version = "1"
dependencies = ["a"]
requires-python = ">=3.11"
[tool.pytest.ini_options]
addopts = "-q"
[tool.ruff]
line-length = 110
"""
PACKAGE = '{"name": "x", "version": "1", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}'


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "store", None)


def kinds(
    store: ObjectStore, path: str, before: bytes | str | None, after: bytes | str | None
) -> tuple[str, ...]:
    """The kinds of a change of one file; None for no file."""
    sides = [{} if content is None else {path: content} for content in (before, after)]
    (found,) = changed_paths(change(store, sides[0], sides[1]), store)
    assert found.path == path
    return found.kinds


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("conftest.py", "test_config"), ("tests/public/conftest.py", "test_config"), ("Conftest.py", "test_config"),
        ("pytest.ini", "test_config"), (".pytest.ini", "test_config"), ("tox.ini", "test_config"),
        ("setup.cfg", "dependencies test_config"), ("setup.py", "build dependencies"),
        ("sub/setup.py", "build dependencies"),
        ("build.rs", "build"), ("crate/build.rs", "build"), ("MANIFEST.in", "build"),
        ("requirements.txt", "dependencies"), ("requirements-dev.txt", "dependencies"),
        ("dev_requirements.in", "dependencies"),
        ("requirements/subject.txt", "dependencies"), ("requirements/anything", "dependencies"),
        ("constraints.txt", "dependencies"), ("poetry.lock", "dependencies"), ("uv.lock", "dependencies"),
        ("Cargo.toml", "dependencies"), ("Cargo.lock", "dependencies"), ("go.mod", "dependencies"),
        ("package-lock.json", "dependencies"), ("yarn.lock", "dependencies"), ("Gemfile", "dependencies"),
        ("environment.yml", "dependencies"), ("Pipfile.lock", "dependencies"),
        ("AGENTS.md", "agent_config"), ("docs/agents.md", "agent_config"), ("CLAUDE.md", "agent_config"),
        (".claude/settings.json", "agent_config"), (".claude", "agent_config"), (".cursor/rules/a.mdc", "agent_config"),
        (".mcp.json", "agent_config"), (".vscode/tasks.json", "agent_config"), ("sub/.envrc", "agent_config"),
        (".npmrc", "build"), (".yarnrc.yml", "build"), (".cargo/config.toml", "build"), ("sub/.cargo", "build"),
        ("binding.gyp", "build"), ("hatch_build.py", "build"), (".husky/pre-commit", "build"),
        (".cursorrules", "agent_config"), ("GEMINI.md", "agent_config"), (".windsurfrules", "agent_config"),
        ("src/npmrc", ""), ("docs/husky/a.md", ""), ("cursorrules", ""),
        ("src/conftest.py.txt", ""), ("src/my_conftest.py", ""), ("docs/requirements.md", ""), ("src/setup_x.py", ""),
        ("src/cursor/x.py", ""), ("README.md", ""), ("src/a.py", ""), ("src/claude.py", ""),
    ],
)  # fmt: skip
def test_a_path_speaks_for_itself(store: ObjectStore, path: str, expected: str) -> None:
    wanted = tuple(f"{kind}.changed" for kind in expected.split())
    assert kinds(store, path, None, "x\n") == wanted
    assert kinds(store, path, "x\n", "y\n") == wanted
    assert kinds(store, path, "x\n", None) == wanted


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('version = "1"', 'version = "2"', ""),
        ("line-length = 110", "line-length = 100", ""),
        ('dependencies = ["a"]', 'dependencies = ["a", "b"]', "dependencies"),
        (">=3.11", ">=3.12", "dependencies"),
        ('requires = ["hatchling"]', 'requires = ["hatchling", "x"]', "build dependencies"),
        ('"hatchling.build"', '"x"', "build"),
        ('addopts = "-q"', 'addopts = "-p evil"', "test_config"),
        ("[tool.ruff]", "[tool.pytest]\nx = 1\n[tool.ruff]", "test_config"),
        ("[tool.ruff]", '[dependency-groups]\ndev = ["x"]\n[tool.ruff]', "dependencies"),
        ("[tool.ruff]", '[project.optional-dependencies]\nx = ["y"]\n[tool.ruff]', "dependencies"),
        ("[tool.ruff]", '[tool.uv.sources]\nx = "y"\n[tool.ruff]', "dependencies"),
        ("[tool.ruff]", "[tool.setuptools]\nx = 1\n[tool.ruff]", "build"),
        ("[tool.ruff]", "[tool.ruff", "build dependencies test_config"),
        ("[tool.ruff]", "[tool.ruff]\n[tool.ruff]", "build dependencies test_config"),
    ],
)
def test_pyproject_is_read_table_by_table(store: ObjectStore, old: str, new: str, expected: str) -> None:
    assert old in PYPROJECT
    wanted = tuple(f"{kind}.changed" for kind in expected.split())
    assert kinds(store, "pyproject.toml", PYPROJECT, PYPROJECT.replace(old, new)) == wanted
    assert kinds(store, "lib/PyProject.toml", PYPROJECT.replace(old, new), PYPROJECT) == wanted


@pytest.mark.parametrize(
    "broken", [b"\xff", b"\xef\xbb\xbf[tool]", b"[", b"a = " + b"[" * 99_999, b"[a]\n[a]\n"]
)
def test_a_pyproject_that_cannot_be_read_may_change_anything(store: ObjectStore, broken: bytes) -> None:
    everything = ("build.changed", "dependencies.changed", "test_config.changed")
    assert kinds(store, "pyproject.toml", PYPROJECT, broken) == everything
    assert kinds(store, "pyproject.toml", broken, PYPROJECT) == everything
    assert kinds(store, "pyproject.toml", None, broken) == everything


def test_a_pyproject_that_comes_or_goes_brings_or_takes_its_tables(store: ObjectStore) -> None:
    everything = ("build.changed", "dependencies.changed", "test_config.changed")
    assert kinds(store, "pyproject.toml", None, PYPROJECT) == everything
    assert kinds(store, "pyproject.toml", PYPROJECT, None) == everything
    assert kinds(store, "pyproject.toml", None, "[tool.ruff]\nx = 1\n") == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"version": "1"', '"version": "2"', ""),
        ('"jest"', '"rm"', "build"),
        ('{"a": "1"}', '{"a": "2"}', "dependencies"),
        ('"name"', '"devDependencies": {"z": "1"}, "name"', "dependencies"),
        ('"name"', '"overrides": {"z": "1"}, "name"', "dependencies"),
        ("{", "[", "build dependencies"),
        (PACKAGE, "[]", "build dependencies"),
        (PACKAGE, "1" * 5000, "build dependencies"),
        (PACKAGE, "[" * 99_999, "build dependencies"),
    ],
)
def test_package_json_is_read_table_by_table(store: ObjectStore, old: str, new: str, expected: str) -> None:
    assert old in PACKAGE
    wanted = tuple(f"{kind}.changed" for kind in expected.split())
    assert kinds(store, "package.json", PACKAGE, PACKAGE.replace(old, new, 1)) == wanted


def test_a_mode_change_and_a_link_are_told(store: ObjectStore) -> None:
    before = entries(store, {"pyproject.toml": PYPROJECT, "run": "x", "f": "x"})
    after = {
        b"pyproject.toml": Entry("120000", before[b"pyproject.toml"].oid),
        b"run": Entry("100755", before[b"run"].oid),
        b"n\n\xff": Entry("100644", before[b"f"].oid),
    }
    found = {item.path: item for item in changed_paths(finish("0", before, after, (), ()), store)}
    assert {path: item.status for path, item in found.items()} == {
        "pyproject.toml": "T", "run": "M", "f": "D", "n\\n\\xff": "A",
    }  # fmt: skip
    assert found["pyproject.toml"].kinds == ("build.changed", "dependencies.changed", "test_config.changed")
    assert (found["run"].before_mode, found["run"].after_mode, found["run"].kinds) == ("100644", "100755", ())
    assert (found["f"].after_mode, found["f"].after) == ("000000", "")
