"""Other spellings of the tricks, 200 of each kind. Those of skips: tests/engine/test_quarantine_spellings.py."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_gate.core.approvals import Signers, Submitted, verify_all
from oracle_gate.core.commits import submit_head
from oracle_gate.core.denyrules import always_denied
from oracle_gate.core.errors import GateError
from oracle_gate.core.gitdb import ObjectStore
from oracle_gate.core.mailbox import split_mails
from oracle_gate.core.noise import parse_noise
from oracle_gate.core.patchscan import scan
from oracle_gate.core.settings import Limits, Settings
from support.approving import CHANGE, PARENT, Keys, drift, make_keys
from support.objects import entries, opened
from support.patch_forms import delete, edit, mailbox, new

MANY = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
HONEST = "src/a.py"


def is_denied(path: bytes) -> bool:
    return bool(always_denied(path, ("src",)))


# Headers that lie

DENIED = st.sampled_from(
    ["oracle/digests.json", "corpus/x", "sealed/f", "Oracle/x", "ORACLE", "tools/gate.py", "Makefile"]
)
PREFIXES = st.sampled_from(
    [("a/", "b/"), ("b/", "a/"), ("i/", "w/"), ("c/", "o/"), ("x/", "y/"), ("./", "./")]
)


def octal(name: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in name.encode()) + '"'


@st.composite
def lying_patches(draw: st.DrawFn) -> bytes:
    """A patch of one file, at least one of whose headers names a denied path."""
    before, after = draw(PREFIXES)
    denied, quote = draw(DENIED), octal if draw(st.booleans()) else str
    where = draw(
        st.sampled_from(["git", "sides", "old", "new", "rename from", "rename to", "copy from", "copy to"])
    )

    def named(field: str, prefix: str) -> str:
        lies = field in where or where == "sides"
        return quote(prefix + denied) if lies else prefix + HONEST

    if where == "git":  # a mode alone: no other header names a path
        both = f"{quote(before + denied)} {quote(after + denied)}"
        return f"diff --git {both}\nold mode 100644\nnew mode 100755\n".encode()
    lines = [f"diff --git {before}{HONEST} {after}{HONEST}"] if draw(st.booleans()) or " " in where else []
    if " " in where:
        verb, side = where.split()
        names = {"from": HONEST, "to": HONEST, side: quote(denied)}
        lines += ["similarity index 100%", *(f"{verb} {end} {names[end]}" for end in ("from", "to"))]
    else:
        lines += [f"--- {named('old', before)}", f"+++ {named('new', after)}", "@@ -1 +1 @@", "-a", "+b"]
    return "".join(line + draw(st.just("\n")) for line in lines).encode()


@MANY
@given(lying_patches(), st.booleans())
def test_no_header_that_lies_hides_a_denied_path(patch: bytes, among_others: bool) -> None:
    found = scan(new("src/b.py") + patch + new("src/c.py") if among_others else patch, Limits())
    assert found.problems or any(map(is_denied, found.paths)), found


# Orders of mails and commits

WRITES, REVERTS = new("oracle/x"), delete("oracle/x", "x\n")


@MANY
@given(
    st.permutations([WRITES, REVERTS, new("src/b.py"), new("src/c.py"), edit("src/a.py", "a", "b")]),
    st.integers(1, 5),
)
def test_no_order_of_mails_hides_one_that_a_later_one_reverts(patches: list[bytes], kept: int) -> None:
    chosen = patches[:kept]
    mails = split_mails(mailbox(*chosen))
    assert len(mails) == kept
    found = {path for mail in mails for path in scan(mail, Limits()).paths}
    assert any(map(is_denied, found)) == bool({WRITES, REVERTS} & set(chosen))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with opened(tmp_path_factory.mktemp("store") / "store") as store:
        yield store


#: States of a tree that commits go through; some hold an edit of the oracle.
STATES: tuple[dict[str, bytes | str], ...] = (
    {HONEST: "a\n", "oracle/pins": "1\n"},
    {HONEST: "b\n", "oracle/pins": "1\n"},
    {HONEST: "a\n", "src/new.py": "c\n", "oracle/pins": "1\n"},
    {HONEST: "a\n", "oracle/pins": "2\n"},
    {HONEST: "a\n"},
    {HONEST: "a\n", "oracle/pins": "1\n", "Sealed/x": "y\n"},
)
TAMPERED = {3, 4, 5}


def committed(store: ObjectStore, state: int, *parents: str) -> str:
    lines = [
        f"tree {store.write_tree(entries(store, STATES[state]))}",
        *(f"parent {parent}" for parent in parents),
    ]
    lines += ["author A <a@b> 0 +0000", "committer A <a@b> 0 +0000", "", "x"]
    return store.write("commit", "\n".join(lines).encode())


@MANY
@given(st.lists(st.integers(0, len(STATES) - 1), min_size=1, max_size=5), st.booleans())
def test_no_order_of_commits_hides_one_that_a_later_one_reverts(
    store: ObjectStore, states: list[int], merged: bool
) -> None:
    base = head = committed(store, 0)
    for state in [*states, 0]:
        head = committed(store, state, head)
    if merged:  # the branch comes in by a merge that looks like the base
        head = committed(store, 0, committed(store, 1, base), head)
    with tempfile.TemporaryDirectory() as folder:
        change = submit_head(store, Path(folder), base, head, Settings())
    assert any(map(is_denied, change.touched)) == bool(TAMPERED & set(states))


# Noise rules

ALWAYS = st.sampled_from(
    [".", ".*", ".+", "^", "$", "()", "[^~]", "(?s:.)", "^.", ".$", "x*", "\\S|\\s", "(?!~~~)", "\\w|\\W"]
)
ANY_RULE = st.sampled_from(["took [0-9]+ ms", "^pid ", "x+y", "\\d{4}-\\d\\d"])
CATCH_ALL = st.recursive(
    ALWAYS,
    lambda inner: st.one_of(
        inner.map("({})".format), inner.map("(?:{})".format), inner.map("(?i:{})".format),
        st.tuples(ANY_RULE, inner).map("{0[0]}|{0[1]}".format), st.tuples(inner, ANY_RULE).map("{0[0]}|{0[1]}".format),
    ),
    max_leaves=4,
)  # fmt: skip


@MANY
@given(CATCH_ALL, st.lists(ANY_RULE, max_size=2))
def test_no_spelling_of_a_noise_rule_that_drops_everything_is_taken(rule: str, others: list[str]) -> None:
    with pytest.raises(GateError, match=f"noise.txt:{len(others) + 1}: "):
        parse_noise("\n".join([*others, rule]).encode())


# Statements


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def signature(keys: Keys) -> bytes:
    return keys.sign(drift().data)


def counts(data: bytes, signature: bytes, keys: Keys, folder: Path) -> bool:
    name = f"oracle/approvals/{drift().name}.json"
    signers = Signers(keys.allowed_signers.encode(), folder)
    return bool(verify_all([Submitted(name, data, signature)], signers, CHANGE, PARENT, ()).statements)


@MANY
@given(st.integers(0, len(drift().data) - 1), st.integers(1, 255))
def test_a_statement_with_a_flipped_byte_does_not_count(
    keys: Keys, signature: bytes, tmp_path: Path, at: int, flip: int
) -> None:
    data = bytearray(drift().data)
    data[at] ^= flip
    assert not counts(bytes(data), signature, keys, tmp_path)


def test_the_statement_itself_counts(keys: Keys, signature: bytes, tmp_path: Path) -> None:
    assert counts(drift().data, signature, keys, tmp_path)
