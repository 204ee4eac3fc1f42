"""What follows from the statements that a change brings: which denied paths are approved, which oracle judges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_gate.commands.judging_approvals import Granted, grant
from oracle_gate.core.statements import Repinned, Statement
from oracle_gate.core.submission import change_id
from support.approving import NEW, Keys, allow, make_keys, put, work_tree_case
from support.gate import Gate, copy_repository
from support.gitenv import commit_all

DIGESTS, PROVENANCE = "oracle/digests.json", "oracle/provenance.json"
#: What is stated about a change, from its identity.
Stating = Callable[[str], Statement]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def source(quick_source: Path, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An armed repository whose base names the signers."""
    repository = copy_repository(quick_source, tmp_path_factory.mktemp("signed") / "repository")
    allow(repository, keys)
    return repository.root


@pytest.fixture
def repository(source: Path, tmp_path: Path) -> Gate:
    return copy_repository(source, tmp_path / "repository")


def granted(repository: Gate, keys: Keys, state: Stating | None = None, signer: str = "owner") -> Granted:
    """What the work tree is granted, after `state` has been signed about it."""
    fresh = repository.root.parent / "fresh"
    if state:
        with work_tree_case(repository, fresh) as case:
            identity = change_id(case.context.store, case.change.changed)
        put(repository.root, state(identity), keys, signer)
    with work_tree_case(repository, fresh) as case:
        return grant(case)


def open_hits(found: Granted) -> set[str]:
    return {hit.subject for hit in found.denied.hits if not hit.subject.startswith("oracle/approvals/")}


def pins(repository: Gate) -> dict[str, str]:
    document: dict[str, str] = json.loads((repository.root / DIGESTS).read_bytes())
    return document


def protecting(*paths: str) -> Stating:
    return lambda identity: Statement("protected-change", "wanted", identity, paths=paths)


def test_a_stated_path_is_read_from_the_change(repository: Gate, keys: Keys) -> None:
    repository.write("oracle/noise.txt", "^took ")
    found = granted(repository, keys, protecting("oracle/noise.txt"))
    assert found.denied.hits == ()
    assert {hit.subject for hit in found.denied.approved} > {"oracle/noise.txt"}
    assert [rule.pattern.pattern for rule in found.oracle.noise.rules] == [b"^took "]


def test_nothing_stated(repository: Gate, keys: Keys) -> None:
    repository.write("oracle/noise.txt", "^took ")
    found = granted(repository, keys)
    assert open_hits(found) == {"oracle/noise.txt"}
    assert found.oracle.noise.rules == ()


def test_one_path_of_two_is_stated(repository: Gate, keys: Keys) -> None:
    repository.write("oracle/noise.txt", "^took ")
    repository.write("sealed/extra.txt", "x")
    found = granted(repository, keys, protecting("oracle/noise.txt"))
    assert open_hits(found) == {"sealed/extra.txt"}
    assert found.oracle.noise.rules == ()


def test_the_change_adds_its_own_signer(repository: Gate, keys: Keys) -> None:
    public = keys.path("stranger").with_suffix(".pub").read_text()
    repository.write("oracle/allowed_signers", f"{keys.allowed_signers}stranger@example.org {public}")
    repository.write("oracle/noise.txt", "^took ")
    paths = "oracle/allowed_signers", "oracle/noise.txt"
    found = granted(repository, keys, protecting(*paths), "stranger")
    assert open_hits(found) == {*paths}
    assert [fact.valid for fact in found.verified.facts] == [False]
    assert any(hit.subject.startswith("oracle/approvals/") for hit in found.denied.hits)


def test_what_decides_stays_the_base_s(repository: Gate, keys: Keys) -> None:
    repository.edit("oracle/gate.toml", 'required = ["denylist", "replay"]', "required = []")
    repository.write("oracle/denylist.txt", "docs/\n")
    paths = "oracle/gate.toml", "oracle/denylist.txt"
    found = granted(repository, keys, protecting(*paths))
    assert found.denied.hits == ()
    assert found.oracle.settings.lanes.required == ("denylist", "replay")
    assert "oracle" in [rule.text.strip("/") for rule in found.oracle.rules]


def test_a_statement_without_its_signature(repository: Gate, keys: Keys) -> None:
    repository.write("oracle/noise.txt", "^took ")
    granted(repository, keys, protecting("oracle/noise.txt"))
    for signature in (repository.root / "oracle/approvals").glob("*.sig"):
        signature.unlink()
    found = granted(repository, keys)
    assert open_hits(found) == {"oracle/noise.txt"}
    assert [fact.valid for fact in found.verified.facts] == [False]


@pytest.mark.parametrize("how", ["changed", "deleted"])
def test_a_statement_of_the_base_is_history(how: str, repository: Gate, keys: Keys) -> None:
    stem = put(repository.root, Statement("accept", "old", "0" * 64, rules=("tests.lost",)), keys)
    commit_all(repository.root, "An earlier approval")
    file = repository.root / f"{stem}.json"
    if how == "deleted":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes().replace(b'"old"', b'"new"'))
    found = granted(repository, keys, protecting(f"{stem}.json"))
    assert f"{stem}.json" in {hit.subject for hit in found.denied.hits}


def test_an_earlier_statement_says_nothing_about_this_change(repository: Gate, keys: Keys) -> None:
    repository.write("oracle/noise.txt", "^took ")
    granted(repository, keys, protecting("oracle/noise.txt"))
    repository.write("oracle/noise.txt", "^other ")
    found = granted(repository, keys)
    assert open_hits(found) == {"oracle/noise.txt"}
    assert [fact.complaint for fact in found.verified.facts] == ["it is about another change"]


def test_pins_as_stated(repository: Gate, keys: Keys) -> None:
    old = pins(repository)
    repository.write("src/new.sh", "")
    repository.write(DIGESTS, json.dumps({**old, "upper": NEW}))
    ids = {"upper": Repinned(old["upper"], NEW)}
    found = granted(repository, keys, lambda identity: Statement("drift", "wanted", identity, ids=ids))
    assert found.denied.hits == ()
    assert found.oracle.pins == {**old, "upper": NEW}


@pytest.mark.parametrize("pin", ["count", "more", "gone"])
def test_pins_beyond_what_is_stated(pin: str, repository: Gate, keys: Keys) -> None:
    old = pins(repository)
    changed = {**old, "upper": NEW, pin: NEW}
    if pin == "gone":
        del changed["gone"], changed["count"]
    repository.write(DIGESTS, json.dumps(changed))
    ids = {"upper": Repinned(old["upper"], NEW)}
    found = granted(repository, keys, lambda identity: Statement("drift", "wanted", identity, ids=ids))
    assert open_hits(found) == {DIGESTS}
    assert found.oracle.pins == old


def test_a_path_does_not_state_a_pin(repository: Gate, keys: Keys) -> None:
    """The pins are no part of a change's identity: they could be exchanged after the signature."""
    old = pins(repository)
    repository.write("oracle/noise.txt", "^took ")
    repository.write(DIGESTS, json.dumps({**old, "upper": NEW}))
    found = granted(repository, keys, protecting(DIGESTS, "oracle/noise.txt"))
    assert open_hits(found) == {DIGESTS}
    assert found.oracle.pins == old


@pytest.mark.parametrize("text", ["{", "[]", '{"upper": 1}'])
def test_pins_that_cannot_be_read(text: str, repository: Gate, keys: Keys) -> None:
    repository.write(DIGESTS, text)
    assert open_hits(granted(repository, keys, protecting(DIGESTS))) == {DIGESTS}


def test_pins_of_a_repin_with_other_changes(repository: Gate, keys: Keys) -> None:
    old = pins(repository)
    repository.write(DIGESTS, json.dumps({**old, "upper": NEW}))
    repository.edit("src/prog.sh", "a-z A-Z", "a-z a-z")
    with work_tree_case(repository, repository.root.parent / "fresh") as case:
        parent = case.change.base
    ids = {"upper": Repinned(old["upper"], NEW)}
    found = granted(repository, keys, lambda _: Statement("repin", "new libc", parent=parent, ids=ids))
    assert open_hits(found) == {DIGESTS}
    assert [fact.valid for fact in found.verified.facts] == [False]


def test_no_statement_hides_noise(repository: Gate, keys: Keys) -> None:
    """provenance.json is bound by no statement: the counts of rows that keep their pins stay the base's."""
    repository.write("corpus/data/extra", "x")
    provenance = json.loads((repository.root / PROVENANCE).read_bytes())
    repository.write(PROVENANCE, json.dumps({**provenance, "noise_lines": {"upper": 7}}))
    found = granted(repository, keys, protecting("corpus/data/extra"))
    assert found.denied.hits == ()
    assert found.oracle.provenance is not None
    assert found.oracle.provenance.noise_lines == {}
