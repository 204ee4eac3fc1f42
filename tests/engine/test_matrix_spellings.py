"""However a denied path is spelled, quoted and hidden among header lines, the patch is denied."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.denyrules import always_denied, match, parse_rules
from oracle_gate.core.gitdb import ObjectStore
from oracle_gate.core.patching import submit_patch
from oracle_gate.core.patchscan import scan
from oracle_gate.core.settings import Limits, Settings
from support.objects import opened, repository
from support.patch_forms import mailbox
from support.patches import FilePatch, patch_text
from support.respelling import respelled

RULES = parse_rules(b"docs/human only.md\nsrc/caf\xc3\xa9/\n")
DENIED = [
    "oracle/digests.json", "oracle", "corpus/inputs.jsonl", "sealed/fixtures/x.bin", "tools/metamorphic.py",
    "tools/oracle_gate/core/policy.py", "tools/gate.py", "noxfile.py", "Makefile", ".github/workflows/gate.yml",
    "CODEOWNERS", ".gate/merge_packet.json", ".gitattributes", "src/.gitattributes", "src/deep/.gitmodules",
    "sitecustomize.py", "src/sitecustomize.py", "src/x.pth", "src/x-1.dist-info/RECORD", "docs/human only.md",
    "src/caf\u00e9/x.txt",
]  # fmt: skip
FILES = {"src/a.py": "one\n", "src/b.py": "two\n", "oracle/digests.json": "{}\n"}


def denied(path: bytes) -> bool:
    return bool(match(path, RULES) or always_denied(path, ["src"]))


@st.composite
def patches(draw: st.DrawFn) -> bytes:
    """A patch in which one name is another spelling of a denied path, alone or among honest files."""
    spelling = draw(respelled(draw(st.sampled_from(DENIED)))).encode()
    kind = draw(st.sampled_from(["edit", "new", "deleted", "rename", "copy", "mode", "binary"]))
    names = (spelling, spelling)
    if kind in ("rename", "copy"):
        names = draw(st.sampled_from([(spelling, b"src/c.py"), (b"src/a.py", spelling)]))
    evil = patch_text(FilePatch(kind, *names, draw(st.booleans()), ("one",), ("two",)))
    honest = patch_text(FilePatch("edit", b"src/b.py", b"src/b.py", False, ("two",), ("three",)))
    parts = draw(st.permutations([evil, honest]))[: draw(st.integers(1, 2))]
    parts = parts if evil in parts else [evil]
    patch = mailbox(*parts) if draw(st.booleans()) else b"".join(parts)
    return patch.replace(b"\n", b"\r\n") if draw(st.booleans()) and kind != "binary" else patch


@settings(max_examples=600, deadline=None)
@given(patches())
def test_the_scan_finds_every_spelling(patch: bytes) -> None:
    found = scan(patch, Limits())
    assert any(map(denied, found.paths)), (found.paths, patch)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("spellings") / "r"
    return root, repository(root, FILES)


@pytest.fixture(scope="module")
def store(base: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with opened(tmp_path_factory.mktemp("store") / "store", base[0]) as store:
        yield store


_NUMBERS = itertools.count()


@settings(max_examples=200, deadline=None)
@given(patch=patches())
def test_the_whole_way_denies_every_spelling(
    base: tuple[Path, str], store: ObjectStore, tmp_path_factory: pytest.TempPathFactory, patch: bytes
) -> None:
    """Through git as well: what it applies, and what it refuses, is denied by the paths it names."""
    workplace = tmp_path_factory.getbasetemp() / f"spelling-{next(_NUMBERS)}"
    change = submit_patch(store, workplace, base[1], patch, Settings())
    assert any(map(denied, change.touched)), (change.touched, patch)
    assert {item.path for item in change.changed} <= set(change.touched)


def test_honest_names_are_not_denied() -> None:
    """The same ways of writing a patch, of a path that nobody denies."""
    for kind in ("edit", "new", "deleted", "rename", "copy", "mode", "binary"):
        for quote in (True, False):
            name = "src/caf\u00e9 au lait/oracle notes.txt".encode()
            patch = patch_text(
                FilePatch(
                    kind, name, name if kind not in ("rename", "copy") else b"src/x", quote, ("a",), ("b",)
                )
            )
            assert not any(map(denied, scan(patch, Limits()).paths)), patch
