"""The ways of docs/approvals.md, through the command line, with keys made here."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from support.approving import Keys, allow, make_keys
from support.gate import REVIEWER, Gate, copy_repository
from support.gitenv import commit_all, git
from support.quick import ROWS, rows_text


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def source(quick_source: Path, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = copy_repository(quick_source, tmp_path_factory.mktemp("signed") / "repository")
    allow(repository, keys)
    return repository.root


@pytest.fixture
def repository(source: Path, tmp_path: Path) -> Gate:
    """Armed, signers on main, a branch checked out."""
    copy = copy_repository(source, tmp_path / "repository")
    git(copy.root, "switch", "--quiet", "--create", "change")
    return copy


def approve(repository: Gate, keys: Keys, *words: str, key: str = "owner", check: int = 0) -> str:
    """Signs what the last packet says; returns the statement's path, or what was complained of."""
    packet = str(repository.root / ".gate/merge_packet.json")
    done = repository.run(
        "approve", "--packet", packet, "--note", "wanted", "--key", str(keys.path(key)), *words, check=check
    )
    return done.stderr if check else done.stdout.split()[1]


def rules(packet: dict[str, object]) -> list[str]:
    reasons = packet["reasons"]
    assert isinstance(reasons, list)
    return [reason["rule"] for reason in reasons]


def pins(repository: Gate) -> dict[str, str]:
    document: dict[str, str] = json.loads((repository.root / "oracle/digests.json").read_bytes())
    return document


def test_a_drift_is_approved_and_pinned_in_the_same_change(repository: Gate, keys: Keys) -> None:
    before = pins(repository)
    repository.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    commit_all(repository.root, "Count bytes")
    assert rules(repository.judge(check=1)) == ["replay.drift"]
    statement = approve(repository, keys)
    packet = repository.judge(check=0)
    assert {row["id"]: row["status"] for row in packet["replay"]}["count"] == "approved"
    assert [fact["signer"] for fact in packet["approvals"]] == ["owner@example.org"]
    commit_all(repository.root, "Approve it")
    repository.run("record", "--approval", str(repository.root / statement), check=0)
    after = pins(repository)
    assert {row for row in before if before[row] != after[row]} == {"count"}
    commit_all(repository.root, "Pin it")
    packet = repository.judge(check=0)
    assert (packet["verdict"], {row["status"] for row in packet["replay"]}) == ("eligible", {"match"})
    # The same statement does not carry one byte more.
    repository.edit("src/prog.sh", "wc -c < ", "cksum < ")
    assert "denylist.hit" in rules(repository.judge(check=1))


def test_a_stranger_approves_nothing(repository: Gate, keys: Keys) -> None:
    repository.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    repository.judge(check=1)
    statement = approve(repository, keys, key="stranger")
    packet = repository.judge(check=1)
    assert set(rules(packet)) == {"approval.invalid", "denylist.hit"}
    commit_all(repository.root, "Try")
    done = repository.run("record", "--approval", str(repository.root / statement), check=2)
    assert "no allowed signer" in done.stderr


def test_an_expired_key_counts_as_of_its_time_only(repository: Gate, keys: Keys) -> None:
    repository.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    repository.judge(check=1)
    approve(repository, keys, key="expired")
    assert "approval.invalid" in rules(repository.judge(check=1))
    assert rules(repository.judge("--now", "2019-06-01", check=0)) == []


def test_a_row_is_added(repository: Gate, keys: Keys) -> None:
    more = {"id": "lower", "argv": ["src/prog.sh", "upper"], "stdin": "new row\n"}
    repository.write("corpus/inputs.jsonl", rows_text(*ROWS, more))
    digest = repository.run("record", "--print-digest", check=0).stdout.strip()
    repository.run("record", "--add", "--reviewed-by", REVIEWER, "--corpus-sha256", digest, check=0)
    assert set(rules(repository.judge(check=1))) == {"denylist.hit"}
    approve(repository, keys, "--kind", "protected-change")
    packet = repository.judge(check=0)
    assert (packet["counts"]["pins"], packet["verdict"]) == (len(ROWS) + 1, "eligible")
    # The approved row is no way in for another pin of an old one.
    document = pins(repository)
    repository.write("oracle/digests.json", json.dumps({**document, "upper": document["count"]}))
    assert "denylist.hit" in rules(repository.judge(check=1))


def test_a_rule_is_accepted(repository: Gate, keys: Keys) -> None:
    repository.write("conftest.py", "")
    assert rules(repository.judge(check=5)) == ["test_config.changed"]
    approve(repository, keys, "--kind", "accept", "--rule", "test_config.changed")
    packet = repository.judge(check=0)
    assert [fact["accepts"] for fact in packet["approvals"]] == [["test_config.changed"]]
    repository.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    assert {"approval.invalid", "test_config.changed"} <= set(rules(repository.judge(check=1)))


def test_the_machine_moved(repository: Gate, keys: Keys) -> None:
    git(repository.root, "switch", "--quiet", "main")
    right = pins(repository)
    repository.write("oracle/digests.json", json.dumps({**right, "upper": "f" * 64}))
    commit_all(repository.root, "As if another machine had pinned it")
    git(repository.root, "switch", "--quiet", "--create", "moved")
    packet = repository.judge(check=4)
    assert rules(packet) == ["replay.base_mismatch"]
    statement = approve(repository, keys, "--kind", "repin", "--id", "upper")
    repository.run("record", "--approval", str(repository.root / statement), check=0)
    assert pins(repository) == right
    commit_all(repository.root, "Re-pin")
    packet = repository.judge(check=0)
    assert (packet["verdict"], {row["status"] for row in packet["replay"]}) == ("eligible", {"match"})


def test_an_expired_entry_is_renewed(repository: Gate, keys: Keys) -> None:
    git(repository.root, "switch", "--quiet", "main")
    today = datetime.date(2026, 3, 1)
    test_id = "tests/test_flaky.py::test_flaky"
    repository.write("tests/test_flaky.py", "def test_flaky():\n    assert 1 + 1 == 2\n")
    entry = {"reason": "waits for the network", "expires": "2026-02-28"}
    repository.write("oracle/quarantine.json", json.dumps({test_id: entry}))
    commit_all(repository.root, "A flaky test")
    git(repository.root, "switch", "--quiet", "--create", "renew")
    repository.write("oracle/quarantine.json", json.dumps({test_id: {**entry, "expires": "2026-04-30"}}))
    now = ("--now", today.isoformat())
    assert rules(repository.judge(*now, check=1)) == ["denylist.hit"]
    approve(repository, keys, "--kind", "protected-change")
    packet = repository.judge(*now, check=0)
    assert [row["status"] for row in packet["quarantine"]] == ["kept"]
    assert rules(repository.judge("--now", "2026-05-01", check=4)) == ["quarantine.expired"]


def test_a_statement_about_a_given_patch(repository: Gate, keys: Keys) -> None:
    """A fork's pull request, approved in a maintainer's clone: the statement lies beside, not in the patch."""
    repository.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    patch = repository.cut_patch()
    assert rules(repository.judge_patch(patch, check=1)) == ["replay.drift"]
    statement = approve(repository, keys)
    kept = repository.root.parent / Path(statement).name
    for suffix in (".json", ".sig"):
        (repository.root / statement).with_suffix(suffix).rename(kept.with_suffix(suffix))
    packet = repository.judge_patch(patch, "--approval", str(kept), check=0)
    assert "approved" in {row["status"] for row in packet["replay"]}
    other = patch.replace(b"wc -c", b"wc -m")
    assert "approval.invalid" in rules(repository.judge_patch(other, "--approval", str(kept), check=1))
    kept.with_suffix(".sig").unlink()
    done = repository.run("judge", "--approval", str(kept), check=2)
    assert "is missing; keep it beside" in done.stderr
