"""Folding, refused names and printable names of paths."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.paths import below, fold, forbidden_name, printable
from support.gitenv import git, git_env, make_repository

#: Characters with a story: separators, dots, ignorables, case folding that grows, compatibility forms.
_STRANGE = (
    "aA./\\: ~-\n\t\x7f\u200b\u200e\u3164\ufe0f\u0130\u0131\u017f\u00df\u1e9e\u0390\u0345\ufb01"
    "\uff0f\uff0e\uff1a\uff3c\u2100\u2026\u00a8\u0301\ud800"
)
_TEXT = st.one_of(st.text(), st.text(alphabet=st.sampled_from(_STRANGE)))


@settings(max_examples=400, deadline=None)
@given(st.one_of(_TEXT, st.binary()))
def test_fold_is_idempotent(path: str | bytes) -> None:
    once = fold(path)
    assert fold(once) == once


def test_fold_of_every_character_is_stable() -> None:
    changed = [
        code
        for code in (*range(0x2FFFF), *range(0xE0000, 0xE1000))
        if unicodedata.category(chr(code)) not in ("Cn", "Lo", "So")
        or unicodedata.normalize("NFKC", chr(code)) != chr(code)
    ]
    assert len(changed) > 10_000
    assert [code for code in changed if fold(fold(chr(code) + "x")) != fold(chr(code) + "x")] == []


@pytest.mark.parametrize(
    "spelling",
    [
        "oracle/x", "ORACLE/X", "Oracle/x", "oracle\\x", "oracle//x", "./oracle/x", "oracle/./x", "oracle./x",
        "oracle . ./x.", "oracle /x", "oracle:stream/x", "oracle::$INDEX_ALLOCATION/x::$DATA", "oracle/x/",
        "or\u200cacle/x", "\ufefforacle/x", "oracle\u00ad/x\u2060", "oracle\u3164/x", "or\U000e0061acle/x",
        "\uff4f\uff52\uff41\uff43\uff4c\uff45/x", "oracle\uff0fx", "oracle\uff3cx", "oracle\uff0e/x",
        "ora\u217dle/x",
        "\u24de\u24e1\u24d0\u24d2\u24db\u24d4/\u24e7", "/oracle/x",
    ],
)  # fmt: skip
def test_spellings_that_some_file_system_takes_for_the_same(spelling: str) -> None:
    assert fold(spelling) == "oracle/x"
    assert fold(spelling.encode()) == "oracle/x"


@pytest.mark.parametrize(
    ("path", "folded"),
    [
        ("\u017fealed/x", "sealed/x"), ("STRASSE", "strasse"), ("stra\u00dfe", "strasse"), ("\u212a", "k"),
        ("cafe\u0301.txt", "caf\u00e9.txt"), ("CAF\u00c9.txt", "caf\u00e9.txt"), ("..", ""), ("", ""),
        ("a b.c", "a b.c"),
        (".gitattributes", ".gitattributes"), ("src/..hidden", "src/..hidden"), ("-x", "-x"),
    ],
)  # fmt: skip
def test_what_folding_makes_of_names(path: str, folded: str) -> None:
    assert fold(path) == folded


@pytest.mark.parametrize(
    "other", ["oraclex/x", "0racle/x", "src/oracle/x", "\u043eracle/x", "oracle", "oracle/x1"]
)
def test_names_that_are_not_the_same_stay_apart(other: str) -> None:
    assert fold(other) != "oracle/x"


def test_bytes_that_are_not_utf8_stay_apart() -> None:
    assert len({fold(b"src/\xff"), fold(b"src/\xfe"), fold("src/\u00ff".encode()), fold(b"src/")}) == 4


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("oracle", "oracle/"), ("oracle/a/b", "oracle/"), ("ORACLE./a", "oracle/"), ("oracles/a", None),
        ("src/oracle", None), ("tools/metamorphic.py", "Tools/Metamorphic.py"),
        ("tools/metamorphic.pyc", None),
        ("tools", None), ("tools/metamorphic.py/x", "Tools/Metamorphic.py"),
    ],
)  # fmt: skip
def test_below_matches_whole_components(path: str, found: str | None) -> None:
    assert below(path, ["oracle/", "Tools/Metamorphic.py"]) == found
    assert below(path.encode(), ["oracle/", "Tools/Metamorphic.py"]) == found


def test_everything_lies_below_the_root() -> None:
    assert below("a/b", ["."]) == "."


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (b"src/\xff.py", "UTF-8"), (b"src/a\nb", "invisible"), (b"src/a\x7f", "invisible"),
        (b"src/\x1b[31m", "invisible"),
        ("src/\u202egnp.py".encode(), "invisible"), ("src/a\u200b.py".encode(), "invisible"),
        ("src/a\ufe0f.py".encode(), "invisible"), ("src/\u3164.py".encode(), "invisible"),
        ("src/a\u2028b".encode(), "invisible"), ("src/\ue000".encode(), "invisible"),
        (b"src/a:b", "colon"), (b"src\\a", "backslash"), (b":(exclude)x", "colon"),
        (b"ORACLE~1/x", "short name"), (b"src/LONGNA~2.TXT", "short name"),
        (b"src/__pycache__/a.cpython-311.pyc", "compiled"), (b"src/__PyCache__/a", "compiled"),
        (b"src/a.PYC", "compiled"),
        (b"src/a.pyo", "compiled"), ("src/a.\uff50yc".encode(), "compiled"),
        (b"-rf", "dash"), (b"src/--help", "dash"), (b"src/a.", "trailing"), (b"src/a /b", "trailing"),
        (b"", "relative"), (b"/etc/passwd", "relative"), (b"../x", "relative"), (b"src/./x", "relative"),
        (b"src//x", "relative"), (b"src/", "relative"), (b"src/..", "relative"),
        (b".git/hooks/pre-commit", ".git"), (b"src/.GIT/config", ".git"), (b".git./config", ".git"),
        (b".git /config", ".git"), (b"src/.git", ".git"), ("\uff0egit/config".encode(), ".git"),
        (b"a" * 256, "255"), (b"src/" + b"\xc3\xa9" * 128, "255"), (b"a/" * 512 + b"ab", "1024"),
    ],
)  # fmt: skip
def test_names_that_no_change_may_bring(path: bytes, reason: str) -> None:
    refused = forbidden_name(path)
    assert refused is not None
    assert reason in refused
    assert "\n" not in refused


@pytest.mark.parametrize(
    "path",
    [
        "src/caf\u00e9.py", "src/cafe\u0301.py", "docs/\u65e5\u672c\u8a9e.md",
        "docs/\u05e9\u05dc\u05d5\u05dd.md",
        "src/\u0394x.py", "a b/c d.txt", ".gitignore", ".github/x", "src/.hidden", "a~b", "backup~",
        "a-b/c--d",
        "src/..x", "a=b+c,d;e&f", "src/gitk.py", ".gitt/x", "git/x", "\U0001f600.txt", "a" * 255, "con.txt",
        "{{a}}",
    ],
)  # fmt: skip
def test_ordinary_names_are_fine(path: str) -> None:
    assert forbidden_name(path.encode()) is None


@pytest.mark.parametrize(
    "path",
    [
        b".git/x", b".GIT/x", b".git./x", b".git ./x", b".git::$INDEX_ALLOCATION/x", b"git~1/x", b"GIT~1/x",
        b".git\\x/y", b".g\xe2\x80\x8cit/x", b".gi\xe2\x80\xaat/x", b"a/.git", b"../x", b"./x", b"a//x",
        b"/x", b"a/",
    ],
)  # fmt: skip
def test_what_git_itself_refuses_is_refused(path: bytes, tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    blob = git(repository, "hash-object", "-w", "--stdin", data=b"").strip()
    protection = ["-c", "core.protectNTFS=true", "-c", "core.protectHFS=true"]
    command = ["git", *protection, "update-index", "--index-info", "-z"]
    line = b"100644 %s\t%s\0" % (blob, path)
    answer = subprocess.run(
        command, cwd=repository, env=git_env(), input=line, capture_output=True, check=False
    )
    assert answer.returncode != 0 or b"nvalid path" in answer.stderr, "git accepts this name"
    assert forbidden_name(path) is not None


def _unescaped(text: str) -> bytes:
    named = {"\\": b"\\", "n": b"\n", "r": b"\r", "t": b"\t"}
    parts = re.findall(r"\\x[0-9a-f]{2}|\\.|[^\\]", text)
    return b"".join(
        bytes.fromhex(part[2:]) if part[:2] == "\\x" else named[part[1]] if part[0] == "\\" else part.encode()
        for part in parts
    )


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(), _TEXT.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_printable_loses_nothing_and_shows_everything(path: bytes) -> None:
    shown = printable(path)
    assert _unescaped(shown) == path
    assert shown.isprintable()
    assert json.loads(json.dumps(shown)) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"src/a.py", "src/a.py"), ("src/caf\u00e9".encode(), "src/caf\u00e9"), (b"a\nb", "a\\nb"),
        (b"a\\nb", "a\\\\nb"),
        (b"\xff\x1b[0m", "\\xff\\x1b[0m"), ("a\u202eb".encode(), "a\\xe2\\x80\\xaeb"),
        ("\u3164".encode(), "\\xe3\\x85\\xa4"), (b"a\tb\r", "a\\tb\\r"),
    ],
)  # fmt: skip
def test_printable_forms(path: bytes, shown: str) -> None:
    assert printable(path) == shown
