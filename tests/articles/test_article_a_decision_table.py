"""Article A's decision table, row by row, through the command line."""

from __future__ import annotations

import json

import pytest
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git
from support.quarantined import EXPIRES, FILE, FMT, ID, rules

BEFORE = ("--now", "2026-10-01")
BODY = '    check(format_bytes(b"[1]"), b"[\\n  1\\n]\\n")\n    assert format_bytes(b"[]") == b"[]\\n"\n'


def test_digests_match_denylist_clean_quarantine_intact_passes(gate: Gate) -> None:
    """The change is an honest one everywhere: in the source, and in the quarantined test's own file."""
    gate.edit(FMT, "_block(", "_bracketed(")
    gate.edit(FILE, "check(", "check_equal(")
    gate.edit(FILE, '    assert format_bytes(b"[]")', '    # empty\n    assert format_bytes(b"[]")')
    gate.write(
        FILE, (gate.root / FILE).read_text() + "\n\ndef test_more() -> None:\n    assert format_bytes(b'1')\n"
    )
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=0)
    assert (packet["verdict"], packet["merge_ok"], packet["reasons"]) == ("eligible", True, [])
    assert packet["quarantine"] == [{"id": ID, "status": "kept", "detail": ""}]
    assert packet["tests"]["added"] == [f"{FILE}::test_more"]
    assert packet["public"]["label"] == "claim_of_patched_code"
    assert packet["public"]["own_tests"]["passed"] == packet["public"]["green_on_base"] + 1


def test_digest_drifts_on_one_corpus_id_fails(gate: Gate) -> None:
    gate.edit(FMT, "import sys\n", "import sys\n\n_DRIFT = 'fmt-numbers-as-written'\n")
    gate.edit(FMT, "def format_bytes(", "def _format_bytes(")
    drifting = (
        "\n\ndef format_bytes(data: bytes) -> bytes:\n"
        "    return _format_bytes(data).replace(b'0.1000', b'0.1')\n"
    )
    source = (gate.root / FMT).read_text()
    gate.write(FMT, source.replace("\n\ndef main(", drifting + "\n\ndef main(", 1))
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=1)
    drifted = [row["id"] for row in packet["replay"] if row["status"] != "match"]
    assert drifted == ["fmt-numbers-as-written"]
    assert packet["verdict"] == "block"
    assert "amend the corpus; do not rewrite a test" in packet["reasons"][0]["next_step"]


@pytest.mark.parametrize(
    "path", ["oracle/digests.json", "oracle/quarantine.json", "oracle/new.txt", "tools/replay_gate.py"]
)
def test_agent_edits_oracle_or_replay_gate_fails(path: str, gate: Gate) -> None:
    file = gate.root / path
    gate.write(path, (file.read_text() if file.exists() else "") + "\n")
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=1)
    assert rules(packet) == {"denylist.hit"}
    assert packet["reasons"][0]["next_step"].startswith("Drop the patch")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"def test_retry_window() -> None:\n{BODY}", ""),
        ("def test_retry_window(", "def test_retry_window_of_time("),
        (
            "def test_retry_window(",
            "import pytest\n\n\n@pytest.mark.skipif(1 < 2, reason='x')\ndef test_retry_window(",
        ),
        (BODY, "    return\n"),
    ],
    ids=["deleted", "renamed to a longer name", "an always-true skip", "emptied"],
)
def test_quarantine_identity_missing_fails(old: str, new: str, gate: Gate) -> None:
    gate.edit(FILE, old, new)
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=1)
    assert rules(packet) & {"quarantine.missing", "quarantine.neutered"}
    assert packet["reasons"][0]["subject"] == ID
    assert packet["verdict"] == "block"


def test_quarantine_expiry_in_the_past_holds_the_pipeline(gate: Gate) -> None:
    gate.edit(FMT, "_block(", "_bracketed(")
    patch = gate.cut_patch()
    assert gate.judge_patch(patch, "--now", EXPIRES, check=0)["verdict"] == "eligible"
    packet = gate.judge_patch(patch, "--now", "2026-10-07", check=4)
    assert (packet["verdict"], packet["merge_ok"], rules(packet)) == ("hold", False, {"quarantine.expired"})
    assert packet["reasons"][0]["next_step"] == "Re-triage the flake; a human extends it."


def test_output_that_cannot_be_canonicalized_holds(gate: Gate) -> None:
    row = {"id": "random-1", "argv": ["python", "-c", "import random; print('a\\n', random.random())"]}
    with (gate.root / "corpus/inputs.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    gate.write("oracle/digests.json", "{}\n")
    gate.write("oracle/provenance.json", "{}\n")
    commit_all(gate.root, "Add a row that wavers")
    digest = gate.run("record", "--print-digest", check=0).stdout.strip()
    done = gate.run("record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest, check=4)
    told = done.stdout + done.stderr
    assert "random-1" in told
    assert "0." in told, "the first differing line is not shown"
    assert git(gate.root, "status", "--porcelain", "oracle") == b"", "a refused record wrote pins"
