"""Statements by humans: which are refused, and why (design, section 10)."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from oracle_gate.core.approvals import Signers, Submitted, read_submitted, verify_all
from oracle_gate.core.errors import GateError
from oracle_gate.core.statements import (
    Repinned,
    Statement,
    covers_path,
    covers_pins,
    parse_statement,
    refusal,
)
from support.approving import CHANGE, NEW, OLD, PARENT, Keys, drift, make_keys

NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # sha256 of no byte


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def signers(keys: Keys, tmp_path: Path) -> Iterator[Signers]:
    yield Signers(keys.allowed_signers.encode(), tmp_path)


def complaint(submitted: Submitted, signers: Signers, overridable: tuple[str, ...] = ()) -> str:
    """Why the statement does not count; empty when it does. It counts exactly when there is no complaint."""
    found = verify_all([submitted], signers, CHANGE, PARENT, overridable)
    (fact,) = found.facts
    assert bool(found.statements) == fact.valid == (not fact.complaint)
    assert bool(found.valid_paths) == fact.valid
    assert fact.accepts == () or fact.valid
    return fact.complaint


def submit(statement: Statement, keys: Keys, signer: str = "owner") -> Submitted:
    return Submitted(
        f"oracle/approvals/{statement.name}.json", statement.data, keys.sign(statement.data, signer)
    )


def test_a_signed_statement_counts(keys: Keys, signers: Signers) -> None:
    found = verify_all([submit(drift(), keys)], signers, CHANGE, PARENT, ())
    assert [(fact.valid, fact.kind, fact.signer, fact.note) for fact in found.facts] == [
        (True, "drift", "owner@example.org", "wanted")
    ]
    name = drift().name
    assert found.valid_paths == {
        f"oracle/approvals/{name}.json".encode(),
        f"oracle/approvals/{name}.sig".encode(),
    }


@pytest.mark.parametrize("signer", ["stranger", "expired", "other_namespace"])
def test_a_key_that_may_not_sign(signer: str, keys: Keys, signers: Signers) -> None:
    assert "no allowed signer" in complaint(submit(drift(), keys, signer), signers)


def test_an_expired_key_was_valid_once(keys: Keys, tmp_path: Path) -> None:
    then = Signers(keys.allowed_signers.encode(), tmp_path, datetime.date(2019, 6, 1))
    assert complaint(submit(drift(), keys, "expired"), then) == ""


def test_a_signature_for_another_namespace(keys: Keys, signers: Signers) -> None:
    signature = keys.sign(drift().data, namespace="git")
    assert "no allowed signer" in complaint(replace(submit(drift(), keys), signature=signature), signers)


def test_nobody_is_allowed(keys: Keys, tmp_path: Path) -> None:
    assert "no allowed signer" in complaint(submit(drift(), keys), Signers(b"# nobody yet\n", tmp_path))


def test_a_missing_signature(keys: Keys, signers: Signers) -> None:
    assert "no allowed signer" in complaint(replace(submit(drift(), keys), signature=b""), signers)


def test_the_signature_of_another_statement(keys: Keys, signers: Signers) -> None:
    other = keys.sign(drift(note="something else").data)
    assert "no allowed signer" in complaint(replace(submit(drift(), keys), signature=other), signers)


def test_a_changed_byte_of_the_signature(keys: Keys, signers: Signers) -> None:
    good = submit(drift(), keys)
    middle = len(good.signature) // 2
    changed = good.signature[:middle] + bytes([good.signature[middle] ^ 1]) + good.signature[middle + 1 :]
    assert "no allowed signer" in complaint(replace(good, signature=changed), signers)


def test_a_changed_byte_of_the_statement(keys: Keys, signers: Signers) -> None:
    good = submit(drift(), keys)
    changed = replace(good, data=good.data.replace(b'"new":"bb', b'"new":"cb'))
    assert changed.data != good.data
    assert "no allowed signer" in complaint(changed, signers)


def test_another_change(keys: Keys, signers: Signers) -> None:
    assert complaint(submit(drift(change_id="0" * 64), keys), signers) == "it is about another change"


def test_another_file_name(keys: Keys, signers: Signers) -> None:
    named = replace(submit(drift(), keys), where="oracle/approvals/0123456789abcdef.json")
    assert complaint(named, signers) == f"the file is not named {drift().name}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"{", b"{ "),
        (b"\n", b""),
        (b'"note":"wanted"', b'"note":"wanted","note":"wanted"'),
        (b'"note":"wanted"', b'"note":"wanted","expires":"never"'),
        (b'"note":"wanted"', b'"note":" "'),
        (b'"kind":"drift"', b'"kind":"everything"'),
        (b'"rules":[]', b'"rules":["tests.lost"]'),
        (b'"new":"bbbb', b'"new":"BBBB'),
        (b'"schema":"oracle-approval-v1"', b'"schema":"oracle-approval-v2"'),
    ],
    ids=[
        "spaces", "no final newline", "a key twice", "an unknown key", "an empty note", "an unknown kind",
        "a part of another kind", "no digest", "another schema",
    ],
)  # fmt: skip
def test_signed_but_not_what_approve_writes(old: bytes, new: bytes, keys: Keys, signers: Signers) -> None:
    data = drift().data.replace(old, new, 1)
    assert data != drift().data
    said = complaint(Submitted("given.json", data, keys.sign(data)), signers)
    assert said
    assert "no allowed signer" not in said


def test_canonical_bytes_are_read_back() -> None:
    assert parse_statement(drift().data, "x") == drift()
    assert json.loads(drift().data)["ids"] == {"upper": {"old": OLD, "new": NEW}}


def test_statements_given_by_file_need_their_signature(tmp_path: Path, keys: Keys) -> None:
    file = tmp_path / "statement.json"
    file.write_bytes(drift().data)
    with pytest.raises(GateError, match=r"statement\.sig: is missing; keep it beside"):
        read_submitted(file)
    file.with_suffix(".sig").write_bytes(keys.sign(drift().data))
    assert read_submitted(file).data == drift().data


def test_a_repin_is_bound_to_its_parent_and_comes_alone() -> None:
    statement = Statement("repin", "new libc", parent=PARENT, ids={"upper": Repinned(OLD, NEW)})
    assert refusal(statement, NOTHING, PARENT, ()) == ""
    assert refusal(statement, NOTHING, "0" * 40, ()) == "it is about another parent"
    assert refusal(statement, CHANGE, PARENT, ()).startswith("a re-pin comes alone")


@pytest.mark.parametrize(
    ("rule", "overridable"),
    [
        ("replay.drift", ()),
        ("relations.broken", ("replay.drift",)),
        ("intake.rejected", ("intake.rejected",)),
        ("intake.forbidden_entry", ("intake.forbidden_entry",)),
        ("sandbox.insufficient", ("sandbox.insufficient",)),
        ("oracle.unarmed", ("oracle.unarmed",)),
        ("approval.invalid", ("approval.invalid",)),
        ("quarantine.expired", ("quarantine.expired",)),
        ("replay.base_mismatch", ("replay.base_mismatch",)),
        ("denylist.hit", ("denylist.hit",)),
        ("freeze_ledger.changed", ("freeze_ledger.changed",)),
        ("setup.failed", ("setup.failed",)),
        ("replay.misbehaved", ("replay.misbehaved",)),
        ("no.such_rule", ("no.such_rule",)),
    ],
)
def test_rules_that_nobody_overrides(rule: str, overridable: tuple[str, ...]) -> None:
    statement = Statement("accept", "read it", CHANGE, rules=("tests.lost", rule))
    assert refusal(statement, CHANGE, PARENT, overridable) == f"{rule} cannot be overridden"


def test_rules_that_a_human_accepts() -> None:
    accept = Statement("accept", "read it", CHANGE, rules=("tests.lost", "dependencies.changed"))
    assert refusal(accept, CHANGE, PARENT, ()) == ""
    blocked = Statement("accept", "read it", CHANGE, rules=("relations.broken",))
    assert refusal(blocked, CHANGE, PARENT, ("relations.broken",)) == ""


def test_no_statement_covers_the_statements() -> None:
    statement = Statement("protected-change", "tidy", CHANGE, paths=("oracle/approvals/0123.json",))
    assert refusal(statement, CHANGE, PARENT, ()) == "no statement covers oracle/approvals/"


def test_pins_need_more_than_a_path() -> None:
    paths = ("oracle/digests.json", "oracle/provenance.json", "oracle/noise.txt")
    statement = Statement("protected-change", "why", CHANGE, paths=paths)
    assert [covers_path([statement], path) for path in paths] == [False, False, True]


@pytest.mark.parametrize(
    ("after", "covered"),
    [
        ({"upper": NEW, "count": OLD}, True),
        ({"upper": OLD, "count": OLD}, True),
        ({"upper": "e" * 64, "count": OLD}, False),
        ({"upper": NEW, "count": NEW}, False),
        ({"upper": NEW}, False),
        ({"upper": NEW, "count": OLD, "more": NEW}, False),
        ({}, False),
    ],
    ids=["as stated", "unchanged", "another digest", "one not stated", "one gone", "one more", "emptied"],
)
def test_pins_under_a_drift_statement(after: dict[str, str], covered: bool) -> None:
    before = {"upper": OLD, "count": OLD}
    assert covers_pins([drift()], before, after) is covered
    assert covers_pins([], before, after) is False


def test_pins_under_a_drift_statement_about_another_old_digest() -> None:
    assert not covers_pins([drift()], {"upper": "e" * 64}, {"upper": NEW})


def test_pins_under_other_statements() -> None:
    amend = Statement("protected-change", "new row", CHANGE, paths=("oracle/digests.json",))
    assert covers_pins([amend], {"upper": OLD}, {"upper": OLD, "more": NEW})
    assert covers_pins([amend], {"upper": OLD, "gone": OLD}, {"upper": OLD})
    assert not covers_pins([amend], {"upper": OLD}, {"upper": NEW})
    accept = Statement("accept", "read it", CHANGE, rules=("tests.lost",))
    assert not covers_pins([accept], {"upper": OLD}, {"upper": OLD})
