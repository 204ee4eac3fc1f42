"""The freeze ledger: its reader, the lane, and which tests a freeze means."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.commands.judging_sealed import is_ancestor
from oracle_gate.core.errors import GateError
from oracle_gate.core.freeze_ledger import Frozen, parse_freezes, resolve_test_id
from oracle_gate.core.gitdb import ObjectStore, Repository
from oracle_gate.core.packet import Freeze
from oracle_gate.lanes.freezes import freezes, frozen_ids
from support.article_b import FREEZES
from support.gitenv import commit_all, git, make_repository

MOMENT = datetime.datetime(2026, 9, 27, 12, tzinfo=datetime.UTC)
NODES = (
    "tests/public/test_net.py::test_network_retry[1.5]",
    "tests/public/test_net.py::test_network_retry[a::b]",
    "tests/public/test_net.py::TestNet::test_once",
    "tests/public/test_fmt.py::test_once",
    "tests/private/test_net.py::test_slow",
)


def ledger(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"schema": "freeze-ledger-v1", "entries": entries}).encode()


def test_the_articles_ledger_loads_word_for_word() -> None:
    assert parse_freezes(FREEZES) == (
        Frozen(
            "public.test_network_retry",
            "parent flake, not patch-induced",
            "platform-ci",
            "2026-09-28T00:00:00Z",
            "REPLACE_WITH_PARENT_SHA",
            3,
        ),
    )
    assert parse_freezes(b'{"schema": "freeze-ledger-v1"}') == ()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b'{"entries": []}', "schema is missing"),
        (b'{"schema": "freeze-ledger-v2"}', "schema is not one of"),
        (ledger({"owner": "x"}), r"test_id is missing"),
        (ledger({"test_id": " "}), "is no test id"),
        (ledger({"test_id": "a\nb"}), "is no test id"),
        (ledger({"test_id": "a"}, {"test_id": "a"}), "'a' is a duplicate test id"),
        (ledger({"test_id": "a", "mute": True}), "unknown key"),
        *(
            (ledger({"test_id": "a", "expires_utc": text}), "not a moment")
            for text in ("2026-09-28", "2026-09-28T00:00:00", "2026-09-28T00:00:00+00:00", "2026-02-30T00:00:00Z",
                         "\u0662026-09-28T00:00:00Z", "soon", "2026-W39-1T00:00:00Z")
        ),
    ],
)  # fmt: skip
def test_a_malformed_ledger_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(GateError, match=complaint):
        parse_freezes(data)


@pytest.mark.parametrize(
    ("expires", "expired"),
    [
        ("2026-09-27T12:00:01Z", False),
        ("2026-09-27T12:01Z", False),
        ("2026-09-27T12:00:00Z", True),
        ("2026-09-27T11:59:59.9Z", True),
        ("2025-12-31T00:00:00Z", True),
        ("", True),
    ],
)
def test_a_freeze_ends_at_its_moment(expires: str, expired: bool) -> None:
    (row,) = freezes([Frozen("t", "r", "o", expires, "p")], MOMENT, lambda _: True)
    assert row == Freeze("t", True, expired, True)


def test_each_lack_is_a_fact() -> None:
    until = "2027-01-01T00:00:00Z"
    answers = {"known": True, "unknown": None, "": False, "foreign": False}
    found = freezes(
        [
            Frozen("ownerless", "r", " \t", until, "known"),
            Frozen("parentless", "r", "o", until, ""),
            Frozen("foreign", "r", "o", until, "foreign"),
            Frozen("shallow", "r", "o", until, "unknown"),
        ],
        MOMENT,
        answers.__getitem__,
    )
    assert found == (
        Freeze("ownerless", False, False, True),
        Freeze("parentless", True, False, False),
        Freeze("foreign", True, False, False),
        Freeze("shallow", True, False, False, parent_unknown=True),
    )


@pytest.mark.parametrize(
    ("test_id", "nodes"),
    [
        ("public.test_network_retry", NODES[:2]),
        ("test_network_retry", NODES[:2]),
        ("tests.public.test_net.test_network_retry", NODES[:2]),
        ("tests/public/test_net.py::test_network_retry", NODES[:2]),
        (NODES[0], NODES[:1]),
        ("TestNet.test_once", NODES[2:3]),
        ("test_fmt.test_once", NODES[3:4]),
        (NODES[3], NODES[3:4]),
        ("public.test_slow", ()),
        ("private.test_slow", NODES[4:]),
        ("public.network_retry", ()),
        ("public.test_network", ()),
        ("ublic.test_network_retry", ()),
        ("public.test_net", ()),
        ("test_net.public.test_network_retry", ()),
        ("tests/public/test_net.py::test_onc", ()),
    ],
)
def test_ids_resolve_by_whole_components(test_id: str, nodes: tuple[str, ...]) -> None:
    assert resolve_test_id(test_id, NODES) == nodes


@pytest.mark.parametrize("test_id", ["test_once", "public.test_once"])
def test_an_id_of_two_tests_is_refused(test_id: str) -> None:
    with pytest.raises(
        GateError, match=r"means tests/public/test_fmt\.py::test_once and .*TestNet::test_once"
    ):
        resolve_test_id(test_id, NODES)


def test_only_valid_freezes_set_tests_apart() -> None:
    retry = Freeze("public.test_network_retry", True, False, True)
    assert frozen_ids([retry], NODES) == set(NODES[:2])
    for broken in (
        Freeze(retry.test_id, False, False, True),
        Freeze(retry.test_id, True, True, True),
        Freeze(retry.test_id, True, False, False),
        Freeze(retry.test_id, True, False, False, parent_unknown=True),
    ):
        assert frozen_ids([broken], NODES) == frozenset()


def store_of(path: Path, scratch: Path) -> ObjectStore:
    return ObjectStore(scratch, Repository.discover(path))


def test_a_parent_is_an_ancestor_of_the_base(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root")
    first, second = commit_all(root, "One"), commit_all(root, "Two")
    git(root, "switch", "--quiet", "--detach", first)
    aside = commit_all(root, "Aside")
    store = store_of(root, tmp_path / "store")
    assert is_ancestor(store, second, first) is True
    assert is_ancestor(store, second, second) is True
    assert is_ancestor(store, second, aside) is False
    assert is_ancestor(store, first, second) is False
    for text in (
        "",
        "HEAD",
        "main",
        first[:12],
        "f" * 40,
        "REPLACE_WITH_PARENT_SHA",
        f"{first}^",
        first.upper(),
    ):
        assert is_ancestor(store, second, text) is False, text
    git(
        root,
        "clone",
        "--quiet",
        "--depth=1",
        "--no-local",
        "--branch=main",
        str(root),
        str(tmp_path / "shallow"),
    )
    shallow = store_of(tmp_path / "shallow", tmp_path / "shallow-store")
    assert is_ancestor(shallow, second, first) is None
    assert is_ancestor(shallow, second, second) is True
    assert is_ancestor(shallow, second, "HEAD") is False
