"""The denylist's format, what a rule matches, and what is denied without being listed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.denyrules import always_denied, has_rules, match, parse_rules
from oracle_gate.core.errors import GateError
from support.respelling import respelled

_LISTED = b"# human-owned\noracle/\n\n  corpus/  \r\n#tools/\nDocs/Release Notes.md\r\nsrc/caf\xc3\xa9/\n"


def test_rules_are_lines_without_comments_and_blanks() -> None:
    rules = parse_rules(_LISTED)
    assert [rule.text for rule in rules] == ["oracle/", "corpus/", "Docs/Release Notes.md", "src/caf\u00e9/"]
    assert [rule.folded for rule in rules] == ["oracle", "corpus", "docs/release notes.md", "src/caf\u00e9"]
    assert has_rules(rules)


def test_a_windows_checkout_means_the_same() -> None:
    unix = _LISTED.replace(b"\r\n", b"\n")
    assert parse_rules(unix) == parse_rules(unix.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# oracle/\n   # tools/\n", b"\r\n"])
def test_a_list_of_comments_has_no_rules(data: bytes) -> None:
    assert not has_rules(parse_rules(data))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"*.py", "pattern"), (b"src/?.py", "pattern"), (b"src/[ab].py", "pattern"),
        (b"**/oracle", "pattern"),
        (b"!src/", "negation"), (b"/oracle/", "leading /"), (b"/", "leading /"),
        (b"../oracle", ".. component"),
        (b"src/../oracle", ".. component"), (b".", ". or .."), (b"./oracle", ". or .."), (b"src//x", "empty"),
        (b"oracle/ # ours", "comment"), (b"src\\x", "backslash"), (b"C:/x", "colon"),
        (b"ora\xe2\x80\x8bcle/", "invisible"),
        (b"ora\x00cle", "invisible"), (b"ora\xffcle", "UTF-8"), (b"...", "component"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_literal_path_is_refused_with_its_number(line: bytes, complaint: str) -> None:
    with pytest.raises(GateError, match=r"^here\.txt:3: .*") as caught:
        parse_rules(b"# first\noracle/\n" + line + b"\nlast/\n", where="here.txt")
    assert complaint in str(caught.value)


def test_the_default_place_is_the_denylist() -> None:
    with pytest.raises(GateError, match=r"^oracle/denylist\.txt:1: "):
        parse_rules(b"*")


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (b"oracle", "oracle/"), (b"oracle/x", "oracle/"), (b"oracle/a/b", "oracle/"),
        (b"ORACLE/x", "oracle/"),
        (b"oracle.", "oracle/"), (b"oracle\\x", "oracle/"), (b"corpus", "corpus/"),
        (b"docs/release notes.md", "Docs/Release Notes.md"),
        (b"docs/release notes.md/x", "Docs/Release Notes.md"),
        ("src/cafe\u0301/x".encode(), "src/caf\u00e9/"),
        (b"oracles", None), (b"oracl", None), (b"src/oracle/x", None), (b"docs", None),
        (b"docs/release notes.md.bak", None),
        (b"tools/x", None), (b"src/caf", None), (b"", None), (b"oracle\xff/x", None),
    ],
)  # fmt: skip
def test_a_rule_matches_its_path_and_everything_below(path: bytes, rule: str | None) -> None:
    found = match(path, parse_rules(_LISTED))
    assert (found.text if found else None) == rule


_ALWAYS = [
    "oracle", "oracle/digests.json", "corpus/inputs.jsonl", "sealed/MANIFEST.json", "tools/gate.py",
    "tools/replay_gate.py",
    "tools/replay_harness.py", "tools/metamorphic.py", "tools/oracle_guard.py", "tools/workspace/clone.sh",
    "tools/oracle_gate/core/paths.py", "tools/oracle_gate", "noxfile.py", "Makefile", "GNUmakefile",
    "makefile",
    ".pre-commit-config.yaml", ".github/workflows/gate.yml", ".github/CODEOWNERS", ".gitlab-ci.yml",
    "CODEOWNERS",
    "docs/CODEOWNERS", ".gitlab/CODEOWNERS", ".cruft.json", ".gate/env/x", ".gitattributes",
    "src/deep/.gitattributes",
    ".gitmodules", "src/.gitmodules", "sitecustomize.py", "usercustomize.py", "sitecustomize/__init__.py",
    "src/sitecustomize.py", "src/sitecustomize.cpython-311-x86_64-linux-gnu.so", "src/usercustomize.pyc",
    "evil.pth",
    "src/evil.pth", "pytest_x-1.0.dist-info/entry_points.txt", "src/x.egg-info/PKG-INFO", "x.dist-info",
    "lib/py/evil.pth", ".circleci/config.yml", ".gitea/workflows/a.yml", ".forgejo/workflows/a.yml",
    ".woodpecker/a.yml", ".woodpecker.yml", "azure-pipelines.yml", "Jenkinsfile", "jenkinsfile", ".travis.yml",
    "bitbucket-pipelines.yml",
    "lib/py/sitecustomize.py", "NOXFILE.PY", "src/SiteCustomize.py", "X.DIST-INFO/RECORD",
]  # fmt: skip


@pytest.mark.parametrize("path", _ALWAYS)
def test_denied_without_being_listed(path: str) -> None:
    assert always_denied(path.encode(), ["src", "lib/py/"])


@pytest.mark.parametrize(
    "path",
    [
        "src/demo/fmt.py", "README.md", "tools/helper.py", "tools", "docs/index.md", "src/oracle/x.py",
        "src/noxfile.py",
        "tests/public/test_a.py", "src/demo/sitecustomize.py", "src/demo/x.pth", "lib/evil.pth",
        "docs/x.egg-info/y",
        "src/my_sitecustomize.py", "src/sitecustomizer.py", "pyproject.toml", ".gitignore", "oracles/x",
        "src/pth",
        "tools/gate.pyi", "tools/workspaces/x", "docs/Makefile", "src/dist-info", "conftest.py", ".gitlab/x",
        "",
    ],
)  # fmt: skip
def test_not_denied_unless_listed(path: str) -> None:
    assert always_denied(path.encode(), ["src", "lib/py/"]) is None


def test_the_root_is_an_import_folder_whatever_the_settings() -> None:
    assert always_denied(b"sitecustomize.py", [])
    assert always_denied(b"src/sitecustomize.py", []) is None
    assert always_denied(b"sitecustomize.py", ["."])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_respelling_of_a_denied_path_is_denied(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(_ALWAYS))
    spelling = data.draw(respelled(path))
    assert always_denied(spelling.encode(), ["src", "lib/py/"]), spelling
    rule = parse_rules(b"Docs/Release Notes.md\nsrc/caf\xc3\xa9/\n")
    listed = data.draw(respelled(data.draw(st.sampled_from(["docs/Release notes.md", "src/caf\u00e9/x"]))))
    assert match(listed.encode(), rule), listed
