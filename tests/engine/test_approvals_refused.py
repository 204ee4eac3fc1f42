"""Statements that the command line refuses, with keys made here: one change, one true statement, many false ones."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.core.statements import FOLDER, Repinned, Statement, parse_statement
from support.approving import Keys, allow, make_keys
from support.engine import run_engine
from support.gate import Gate, copy_repository
from support.gitenv import commit_all, git


@dataclass(frozen=True)
class Scene:
    """A repository with a change that drifts, and the statement by the owner that lets it through."""

    gate: Gate
    keys: Keys
    truth: Statement
    packet: Path

    def judged(self, code: int) -> dict[str, Any]:
        """Judges the work tree; the exit code must be this one."""
        done = run_engine(self.gate.root, "judge", base="main")
        assert done.code == code, done.stdout + done.stderr
        return self.gate.packet()


@pytest.fixture(scope="module")
def shared(quick_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("refused")
    gate, keys = copy_repository(quick_source, folder / "repository"), make_keys(folder / "keys")
    gate.edit("oracle/gate.toml", "[sandbox]", '[approvals]\noverridable = ["intake.rejected"]\n[sandbox]')
    allow(gate, keys)
    old = Statement("accept", "long ago", "0" * 64, rules=("tests.lost",))
    gate.write(f"{FOLDER}{old.name}.json", old.data.decode())
    gate.write(f"{FOLDER}{old.name}.sig", keys.sign(old.data).decode())
    commit_all(gate.root, "A statement of before")
    git(gate.root, "switch", "--quiet", "--create", "change")
    gate.edit("src/prog.sh", "wc -l < ", "wc -c < ")
    commit_all(gate.root, "Count bytes")
    assert run_engine(gate.root, "judge", base="main").code == 1
    packet = Path(shutil.copy(gate.root / ".gate/merge_packet.json", folder))
    words = ("approve", "--packet", str(packet), "--note", "wanted", "--key", str(keys.path()))
    assert run_engine(gate.root, *words, base="main").code == 0
    [written] = [file for file in (gate.root / FOLDER).glob("*.json") if file.stem != old.name]
    truth = parse_statement(written.read_bytes(), "x")
    git(gate.root, "clean", "--quiet", "--force", FOLDER)
    return Scene(gate, keys, truth, packet)


@pytest.fixture
def scene(shared: Scene) -> Scene:
    git(shared.gate.root, "reset", "--quiet", "--hard")
    git(shared.gate.root, "clean", "--quiet", "--force", "-d")
    return shared


@dataclass(frozen=True)
class Given:
    """What is put beside the change: a statement's bytes, how they are signed, its file name without suffix."""

    data: bytes
    signer: str = "owner"
    namespace: str = "oracle-approval"
    signed: bytes | None = None
    stem: str = ""

    def put(self, scene: Scene, folder: Path | None = None) -> Path:
        """Writes both files, where a change brings them if no folder is named."""
        signature = scene.keys.sign(self.signed or self.data, self.signer, self.namespace)
        stem = self.stem or hashlib.sha256(self.data).hexdigest()[:16]
        file = (folder or scene.gate.root / FOLDER) / f"{stem}.json"
        file.write_bytes(self.data)
        file.with_suffix(".sig").write_bytes(signature)
        return file


Making = Callable[[Statement], Given]


def stating(**fields: object) -> Making:
    """The true statement with other fields."""
    return lambda truth: Given(replace(truth, **fields).data)  # type: ignore[arg-type]


def spelt(old: bytes, new: bytes) -> Making:
    """The true statement's bytes with a text replaced, signed as they then are."""

    def make(truth: Statement) -> Given:
        assert old in truth.data
        return Given(truth.data.replace(old, new, 1))

    return make


def of_kind(kind: str, **fields: object) -> Making:
    """A statement of another kind about the same change."""
    return lambda truth: Given(
        Statement(kind, "wanted", **{"change_id": truth.change_id, **fields}).data  # type: ignore[arg-type]
    )


ANOTHER = "no allowed signer"
PIN = {"upper": Repinned("a" * 64, "b" * 64)}
REFUSED: dict[str, tuple[Making, str]] = {
    "an unknown key": (lambda truth: Given(truth.data, "stranger"), ANOTHER),
    "an expired key": (lambda truth: Given(truth.data, "expired"), ANOTHER),
    "a key for another purpose": (lambda truth: Given(truth.data, "other_namespace"), ANOTHER),
    "a signature for another namespace": (lambda truth: Given(truth.data, namespace="git"), ANOTHER),
    "a signature of other bytes": (lambda truth: Given(truth.data, signed=b"{}\n"), ANOTHER),
    "a byte changed after signing": (
        lambda truth: Given(truth.data.replace(b"wanted", b"Wanted"), signed=truth.data), ANOTHER,
    ),
    "a digest changed after signing": (
        lambda truth: Given(replace(truth, ids=PIN).data, signed=truth.data), ANOTHER,
    ),
    "another change": (stating(change_id="0" * 64), "it is about another change"),
    "another file name": (lambda truth: Given(truth.data, stem="0" * 16), "the file is not named "),
    "spaces": (spelt(b"{", b"{ "), "not canonical JSON"),
    "no final newline": (lambda truth: Given(truth.data[:-1]), "not canonical JSON"),
    "a key twice": (spelt(b'"note":"wanted"', b'"note":"wanted","note":"wanted"'), "note"),
    "an unknown field": (spelt(b'"note"', b'"for":"all","note"'), "for"),
    "an unknown kind": (spelt(b'"kind":"drift"', b'"kind":"all"'), "kind"),
    "another schema": (spelt(b"approval-v1", b"approval-v2"), "schema"),
    "no note": (stating(note=" "), "the note is empty"),
    "no row": (stating(ids={}), "a drift statement needs ids"),
    "a part of another kind": (stating(rules=("tests.lost",)), "a drift statement has no rules"),
    "no digest": (stating(ids={"count": Repinned("1", "2")}), "a digest is not 64 hex digits"),
    "a drift accepted": (of_kind("accept", rules=("replay.drift",)), "replay.drift cannot be overridden"),
    "a listed rule of intake": (
        of_kind("accept", rules=("intake.rejected",)), "intake.rejected cannot be overridden",
    ),
    "a rule of the sandbox": (
        of_kind("accept", rules=("sandbox.insufficient",)), "sandbox.insufficient cannot be overridden",
    ),
    "no such rule": (of_kind("accept", rules=("no.such",)), "no.such cannot be overridden"),
    "the statements themselves": (
        of_kind("protected-change", paths=(FOLDER + "x",)), "no statement covers oracle/approvals/",
    ),
    "a re-pin of another parent": (
        of_kind("repin", change_id="", parent="0" * 40, ids=PIN), "it is about another parent",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_statement_is_refused(name: str, scene: Scene) -> None:
    make, complaint = REFUSED[name]
    make(scene.truth).put(scene)
    packet = scene.judged(1)
    [fact] = packet["approvals"]
    assert (fact["valid"], fact["accepts"]) == (False, [])
    assert complaint in fact["complaint"]
    # It neither counts nor is let in as a file.
    assert {reason["rule"] for reason in packet["reasons"]} == {"approval.invalid", "denylist.hit"}


def test_the_true_statement_is_not(scene: Scene) -> None:
    Given(scene.truth.data).put(scene)
    packet = scene.judged(0)
    assert [fact["valid"] for fact in packet["approvals"]] == [True]


def rules(packet: dict[str, Any]) -> set[str]:
    return {reason["rule"] for reason in packet["reasons"]}


def test_a_byte_more_in_the_change(scene: Scene) -> None:
    Given(scene.truth.data).put(scene)
    scene.gate.write("README.md", "quick.\n")
    packet = scene.judged(1)
    assert "it is about another change" in json.dumps(packet["approvals"])


@pytest.mark.parametrize("field", ["old", "new", "id"])
def test_other_rows_or_digests_than_these(field: str, scene: Scene) -> None:
    """A statement that is in order, about what did not happen: the drift stands."""
    [(row, pin)] = scene.truth.ids.items()
    ids = {"upper": pin} if field == "id" else {row: replace(pin, **{field: "e" * 64})}
    Given(replace(scene.truth, ids=ids).data).put(scene)
    assert rules(scene.judged(1)) == {"replay.drift"}


def test_other_pins_than_stated(scene: Scene) -> None:
    Given(scene.truth.data).put(scene)
    pins = json.loads((scene.gate.root / "oracle/digests.json").read_bytes())
    scene.gate.write("oracle/digests.json", json.dumps({**pins, "count": "e" * 64}))
    assert rules(scene.judged(1)) == {"denylist.hit"}


def test_a_signer_that_the_change_adds(scene: Scene) -> None:
    public = scene.keys.path("stranger").with_suffix(".pub").read_text()
    scene.gate.write("oracle/allowed_signers", f"{scene.keys.allowed_signers}s@example.org {public}")
    Given(scene.truth.data, "stranger").put(scene)
    packet = scene.judged(1)
    assert ANOTHER in json.dumps(packet["approvals"])
    assert "oracle/allowed_signers" in json.dumps(packet["denylist"])


def test_half_a_statement(scene: Scene) -> None:
    Given(scene.truth.data).put(scene)
    (scene.gate.root / f"{FOLDER}{scene.truth.name}.sig").unlink()
    assert rules(scene.judged(1)) == {"approval.invalid", "denylist.hit"}


@pytest.mark.parametrize("how", ["changed", "deleted"])
def test_what_was_stated_before_stays(how: str, scene: Scene) -> None:
    [old] = (scene.gate.root / FOLDER).glob("*.json")
    if how == "changed":
        old.write_bytes(old.read_bytes().replace(b"long ago", b"just now"))
    else:
        old.unlink()
    Given(scene.truth.data).put(scene)
    assert rules(scene.judged(1)) == {"denylist.hit"}


APPROVE = {
    "a rule that nobody overrides": (["--kind", "accept", "--rule", "replay.drift"], "cannot be overridden"),
    "no such row": (["--id", "nothing"], "no row 'nothing' with status drift"),
    "a row that matches": (["--id", "upper"], "no row 'upper' with status drift"),
    "nothing that moved": (["--kind", "repin"], "no row with status base_mismatch"),
    "no denied path": (["--kind", "protected-change"], "needs paths"),
    "no rule": (["--kind", "accept"], "needs rules"),
    "no words": (["--note", " "], "the note is empty"),
    "no such key": (["--key", "/nonexistent/key"], "no such key"),
    "what is no key": (["--key", __file__], "ssh-keygen: "),
}


@pytest.mark.parametrize("name", APPROVE)
def test_what_approve_does_not_sign(name: str, scene: Scene) -> None:
    before = sorted((scene.gate.root / FOLDER).iterdir())
    words, complaint = APPROVE[name]
    common = ["--packet", str(scene.packet), "--note", "wanted"]
    done = run_engine(
        scene.gate.root, "approve", *common, "--key", str(scene.keys.path()), *words, base="main"
    )
    assert (done.code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr
    assert sorted((scene.gate.root / FOLDER).iterdir()) == before


RECORD: dict[str, tuple[Making, int, str]] = {
    "an unknown key": (lambda truth: Given(truth.data, "stranger"), 2, "no allowed signer's signature"),
    "no pin": (of_kind("accept", rules=("tests.lost",)), 2, "names no pin"),
    "another old digest": (stating(ids=PIN), 2, "the pin of 'upper' is not the old one stated"),
    "a new digest that no run gives": (
        lambda truth: Given(
            replace(truth, ids={row: replace(pin, new="e" * 64) for row, pin in truth.ids.items()}).data
        ),
        4, "1 moved row(s)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORD)
def test_what_record_does_not_pin(name: str, scene: Scene, tmp_path: Path) -> None:
    make, code, complaint = RECORD[name]
    before = (scene.gate.root / "oracle/digests.json").read_bytes()
    done = run_engine(scene.gate.root, "record", "--approval", str(make(scene.truth).put(scene, tmp_path)))
    assert (done.code, done.stdout) == (code, "")
    assert complaint in done.stderr
    assert (scene.gate.root / "oracle/digests.json").read_bytes() == before
