"""The guard lets a commit through that verified statements cover, and no other (design, section 10)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_gate.core.gitdb import ObjectStore, Repository
from oracle_gate.core.statements import Repinned, Statement
from oracle_gate.core.submission import change_id, difference
from support.approving import NEW, Keys, make_keys, put
from support.gitenv import commit_all
from support.guarding import FILES, Guarded, guarded

DIGESTS = "oracle/digests.json"
ZERO = "0" * 64


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def repository(tmp_path: Path, keys: Keys) -> Guarded:
    files = {**FILES, "oracle/allowed_signers": keys.allowed_signers, "oracle/approvals/.gitkeep": ""}
    return guarded(tmp_path / "repository", files)


def identity(repository: Guarded, start: str = "HEAD") -> str:
    """The change from `start` to the index, as the engine identifies it."""
    index = repository.git("write-tree").decode().strip()
    found = Repository.discover(repository.root)
    store = ObjectStore(repository.root.parent / "store.git", found)
    try:
        before = store.entries(store.tree_of(found.resolve(start) or ""))
        return change_id(store, difference(before, store.entries(index)))
    finally:
        store.close()


def stage(repository: Guarded, keys: Keys, state: Callable[[str], Statement], signer: str = "owner") -> None:
    repository.git("add", "--all")
    put(repository.root, state(identity(repository)), keys, signer)
    repository.git("add", "--all")


def protecting(*paths: str) -> Callable[[str], Statement]:
    return lambda change: Statement("protected-change", "wanted", change, paths=paths)


def drifting(change: str) -> Statement:
    return Statement("drift", "wanted", change, ids={"row": Repinned(ZERO, NEW)})


def test_a_stated_path_passes(repository: Guarded, keys: Keys) -> None:
    repository.write("oracle/quarantine.json", '{"t": {}}\n')
    stage(repository, keys, protecting("oracle/quarantine.json"))
    assert repository.attempt("commit", "-m", "Renew").returncode == 0


def test_stated_pins_pass(repository: Guarded, keys: Keys) -> None:
    repository.write("src/app.py", "print(2)\n")
    repository.write(DIGESTS, json.dumps({"row": NEW}))
    stage(repository, keys, drifting)
    assert repository.attempt("commit", "-m", "Drift").returncode == 0


def test_pins_of_a_moved_machine_pass(repository: Guarded, keys: Keys) -> None:
    parent = repository.git("rev-parse", "HEAD").decode().strip()
    repository.write(DIGESTS, json.dumps({"row": NEW}))
    ids = {"row": Repinned(ZERO, NEW)}
    stage(repository, keys, lambda _: Statement("repin", "new libc", parent=parent, ids=ids))
    assert repository.attempt("commit", "-m", "Re-pin").returncode == 0


def test_a_branch_of_several_commits_passes(repository: Guarded, keys: Keys) -> None:
    """The statement is about the change from the protected branch, which began commits ago."""
    repository.git("switch", "--quiet", "--create", "change")
    repository.write("src/app.py", "print(2)\n")
    commit_all(repository.root, "The program")
    put(repository.root, drifting(identity(repository, "main")), keys)
    repository.git("add", "--all")
    assert repository.attempt("commit", "-m", "Approve").returncode == 0
    repository.write(DIGESTS, json.dumps({"row": NEW}))
    repository.git("add", "--all")
    assert repository.attempt("commit", "-m", "Pin").returncode == 0


@pytest.mark.parametrize("signer", ["stranger", "expired", "other_namespace"])
def test_a_key_that_may_not_sign(signer: str, repository: Guarded, keys: Keys) -> None:
    repository.write("oracle/quarantine.json", '{"t": {}}\n')
    stage(repository, keys, protecting("oracle/quarantine.json"), signer)
    refused = repository.attempt("commit", "-m", "Renew")
    assert refused.returncode == 1
    assert "M oracle/quarantine.json" in refused.stderr


def test_a_signer_that_the_commit_adds(repository: Guarded, keys: Keys) -> None:
    public = keys.path("stranger").with_suffix(".pub").read_text()
    repository.write("oracle/allowed_signers", f"{keys.allowed_signers}x {public}")
    stage(repository, keys, protecting("oracle/allowed_signers"), "stranger")
    assert repository.attempt("commit", "-m", "Sign myself").returncode == 1


def test_one_byte_after_the_signature(repository: Guarded, keys: Keys) -> None:
    repository.write("oracle/quarantine.json", '{"t": {}}\n')
    stage(repository, keys, protecting("oracle/quarantine.json"))
    repository.write("src/app.py", "print(2)\n")
    repository.git("add", "--all")
    assert repository.attempt("commit", "-m", "More").returncode == 1


@pytest.mark.parametrize("after", [{"row": "e" * 64}, {}, {"row": NEW, "more": NEW}])
def test_other_pins_than_stated(after: dict[str, str], repository: Guarded, keys: Keys) -> None:
    repository.write(DIGESTS, json.dumps(after))
    stage(repository, keys, drifting)
    refused = repository.attempt("commit", "-m", "Pins")
    assert refused.returncode == 1
    assert f"M {DIGESTS}" in refused.stderr


@pytest.mark.parametrize("lacking", [".sig", ".json"])
def test_half_a_statement(lacking: str, repository: Guarded, keys: Keys) -> None:
    repository.write("oracle/quarantine.json", '{"t": {}}\n')
    stage(repository, keys, protecting("oracle/quarantine.json"))
    for file in (repository.root / "oracle/approvals").glob(f"*{lacking}"):
        file.unlink()
    repository.git("add", "--all")
    assert repository.attempt("commit", "-m", "Half").returncode == 1
