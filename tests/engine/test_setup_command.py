"""`[subject] setup` and programs in other languages: what it builds joins the tree that rows run in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.engine import record, run_engine
from support.gate import Gate, copy_repository
from support.gitenv import commit_all
from support.objects import write_files
from support.quick import SETTINGS, make_quick, rows_text

#: A build without a compiler: it writes a program, a version file and drops its own input.
BUILD = """\
set -e
sed "s/@version@/$(cat src/VERSION)/" src/prog.in > src/prog
chmod 755 src/prog
mkdir out && cp src/VERSION out/version.txt
rm src/prog.in
"""
PROGRAM = '#!/bin/sh\necho "prog @version@ $(cat out/version.txt)"; ls src\n'
C_PROGRAM = """\
#include <ctype.h>
#include <stdio.h>
int main(void) { for (int c; (c = getchar()) != EOF;) putchar(toupper(c)); return 0; }
"""
NODE_PROGRAM = """\
const data = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(data.map((x) => x.a.b).join(','));
"""


def armed(root: Path, files: dict[str, str], rows: tuple[Mapping[str, object], ...], setup: str = "") -> Gate:
    """A repository with these sources whose rows are pinned."""
    gate = make_quick(root)
    subject = f"[subject]\n{setup}\n" if setup else "[subject]\n"
    write_files(gate.root, {
        **files, "corpus/inputs.jsonl": rows_text(*rows),
        "oracle/gate.toml": SETTINGS.replace("[subject]\n", subject),
    })  # fmt: skip
    commit_all(gate.root, "Sources")
    done = record(gate.root)
    assert done.code == 0, done
    commit_all(gate.root, "Arm the oracle")
    return gate


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"src/build.sh": BUILD, "src/prog.in": PROGRAM, "src/VERSION": "1\n"}
    rows = (
        {"id": "version", "argv": ["src/prog"]},
        {"id": "again", "argv": ["src/prog", "x"], "tags": ["x"]},
    )
    root = tmp_path_factory.mktemp("setup") / "repository"
    return armed(root, files, rows, 'setup = [["sh", "src/build.sh"]]').root


@pytest.fixture
def built(source: Path, tmp_path: Path) -> Gate:
    return copy_repository(source, tmp_path / "repository")


def judge(gate: Gate, code: int) -> dict[str, Any]:
    done = run_engine(gate.root, "judge")
    assert done.code == code, done
    return gate.packet()


def statuses(packet: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in packet["replay"]}


def test_what_setup_makes_changes_and_deletes_is_the_tree(built: Gate) -> None:
    """One row says it all: built program, a folder of its own, a file that is gone."""
    built.edit("src/prog.in", "ls src", "ls src out | tr a-z A-Z")
    packet = judge(built, 1)
    (diff,) = {tuple(row["diff"]) for row in packet["replay"]}
    changed = [line for line in diff if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert sorted(changed) == [
        "+", "+BUILD.SH", "+OUT:", "+PROG", "+PROG.SH", "+SRC:", "+VERSION.TXT", "-build.sh", "-prog", "-prog.sh"
    ]  # fmt: skip


def test_a_source_of_the_build_drifts_where_its_product_does(built: Gate) -> None:
    built.edit("src/VERSION", "1", "2")
    assert statuses(judge(built, 1)) == {"version": "drift", "again": "drift"}


def test_a_comment_in_the_build_drifts_nowhere(built: Gate) -> None:
    built.edit("src/build.sh", "set -e\n", "set -e\n# Stops at the first error.\n")
    assert set(statuses(judge(built, 0)).values()) == {"match"}


@pytest.mark.parametrize(("line", "said"), [
    ("echo broken >&2; exit 3\n", "command 1 (sh src/build.sh) gave exit code 3: broken"),
    ("kill -9 $$\n", "command 1 (sh src/build.sh) gave exit code -9"),
    ("sed -i 1d corpus/data/text\n", "command 1 (sh src/build.sh) writes corpus/data/text"),
    ("rm corpus/data/text\n", "command 1 (sh src/build.sh) writes corpus/data/text"),
    ("mkdir -p src/.git && touch src/.git/x\n", "command 1 (sh src/build.sh) writes src/.git"),
    ("sleep 60 &\n", "command 1 (sh src/build.sh) ended as left_process"),
])  # fmt: skip
def test_a_patch_that_breaks_the_build_is_blocked(built: Gate, line: str, said: str) -> None:
    built.edit("src/build.sh", "set -e\n", line)
    packet = judge(built, 1)
    (reason,) = [reason for reason in packet["reasons"] if reason["rule"] == "setup.failed"]
    assert reason["detail"] == said
    assert packet["lanes"]["replay"]["state"] == "not_run"


def test_a_base_that_does_not_build_holds(built: Gate) -> None:
    built.edit("src/build.sh", "set -e\n", "exit 1\n")
    commit_all(built.root, "Break the build")
    built.edit("src/build.sh", "exit 1\n", "set -e\n")
    packet = judge(built, 4)
    assert {reason["rule"] for reason in packet["reasons"]} >= {"setup.base_failed"}
    assert packet["verdict"] == "hold"


def test_setup_writes_nowhere_but_in_its_copy(built: Gate) -> None:
    before = {path: path.read_bytes() for path in (built.root / "src").iterdir()}
    judge(built, 0)
    assert {path: path.read_bytes() for path in (built.root / "src").iterdir()} == before
    assert not (built.root / "out").exists()


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_a_program_in_c_is_built_and_replayed(tmp_path: Path) -> None:
    setup = 'setup = [["cc", "-o", "src/upper", "src/upper.c"]]'
    rows = ({"id": "upper", "argv": ["src/upper"], "stdin": "straße 1\n"},)
    gate = armed(tmp_path / "c", {"src/upper.c": C_PROGRAM}, rows, setup)
    gate.edit("src/upper.c", "int main", "/* ASCII only. */\nint main")
    assert statuses(judge(gate, 0)) == {"upper": "match"}
    gate.edit("src/upper.c", "toupper(c)", "c == 'e' ? c : toupper(c)")
    assert statuses(judge(gate, 1)) == {"upper": "drift"}


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_a_program_in_javascript_whose_stack_moves_is_the_same(tmp_path: Path) -> None:
    node = Path(str(shutil.which("node"))).resolve().parent
    rows = (
        {
            "id": "good",
            "argv": ["node", "src/join.js"],
            "stdin": json.dumps([{"a": {"b": 1}}, {"a": {"b": 2}}]),
        },
        {"id": "bad", "argv": ["node", "src/join.js"], "stdin": "[{}]"},
    )
    gate = armed(tmp_path / "node", {"src/join.js": NODE_PROGRAM}, rows, f'tools = ["{node}"]')
    gate.edit("src/join.js", "const data", "// Moves every line of the stack.\n\nconst data")
    assert statuses(judge(gate, 0)) == {"good": "match", "bad": "match"}
    gate.edit("src/join.js", "x.a.b", "x.a?.b")
    assert statuses(judge(gate, 1)) == {"good": "match", "bad": "drift"}
