"""The guard is one file and repeats what the engine says of paths: both must say the same."""

from __future__ import annotations

import oracle_guard
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_gate.core.denyrules import always_denied, match, parse_rules
from oracle_gate.core.errors import GateError
from oracle_gate.core.paths import fold
from support.respelling import respelled

_NAMES = (
    "oracle", "corpus", "sealed", "tools", "gate.py", "replay_gate.py", "replay_harness.py", "metamorphic.py",
    "oracle_guard.py", "workspace", "oracle_gate", "noxfile.py", "Makefile", "GNUmakefile",
    ".pre-commit-config.yaml",
    ".circleci", ".gitea", ".forgejo", ".woodpecker", ".woodpecker.yml", "azure-pipelines.yml", "Jenkinsfile",
    ".travis.yml", "bitbucket-pipelines.yml",
    ".github", ".gitlab", ".gitlab-ci.yml", "CODEOWNERS", "docs", ".cruft.json", ".gate", ".gitattributes",
    ".gitmodules",
    "sitecustomize.py", "usercustomize", "x.dist-info", "x.egg-info", "x.pth", "src", "lib", "py", "a",
    "b.py", "",
)  # fmt: skip
_PATHS = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3).map("/".join)
_ANY_PATH = st.one_of(_PATHS, _PATHS.flatmap(respelled), st.text())
_RULES = st.lists(st.sampled_from(["src/a", "docs", "Lib/", "a", "tools/", "b.py", "src/x.pth"]), max_size=3)
_FOLDERS = st.lists(st.sampled_from(["src", "lib/py/", ".", "Src", "a"]), max_size=3)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(), st.binary(), _ANY_PATH))
def test_fold(path: str | bytes) -> None:
    assert oracle_guard.fold(path) == fold(path)


@settings(max_examples=400, deadline=None)
@given(_ANY_PATH, _RULES, _FOLDERS)
def test_what_is_denied(path: str, lines: list[str], folders: list[str]) -> None:
    listed = "\n".join(lines).encode()
    name = path.encode("utf-8", "surrogatepass")
    engine = bool(match(name, parse_rules(listed)) or always_denied(name, folders))
    assert oracle_guard.denied(name, oracle_guard.parse_rules(listed), tuple(map(fold, folders))) == engine


def test_what_is_denied_for_every_short_path() -> None:
    names = [name for name in _NAMES if name]
    paths = [*names, *(f"{folder}/{name}" for folder in names for name in names)]
    engine = {path for path in paths if always_denied(path, ["src", "lib"])}
    assert {path for path in paths if oracle_guard.denied(path, (), ("src", "lib"))} == engine
    assert 200 < len(engine) < len(paths) - 200


_LINE = st.one_of(
    st.sampled_from(["oracle/", "# note", "", "*.py", "!a", "/a", "../a", "a//b", "./a", ".", "a/ # b", "a\\b", "a:b"]),
    st.text(max_size=8),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(_LINE, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_which_rules_a_denylist_holds(lines: list[str], end: str) -> None:
    assume(not any("\ufffd" in line for line in lines))
    data = end.join(lines).encode("utf-8", "surrogatepass")
    try:
        engine = tuple(rule.folded for rule in parse_rules(data))
    except GateError as error:
        engine = None
        place = str(error).split(": ")[0]
    try:
        guard = oracle_guard.parse_rules(data)
    except oracle_guard.GuardError as error:
        guard = None
        assert engine is not None or str(error).startswith(f"{place}: ")
    assert guard == engine
