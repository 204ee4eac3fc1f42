"""Article B's merge decision table, a test for each row, through the command line.

The packet's fields are the article's; a verdict is `block` where it says Block, `inspect` where it says not to
merge automatically, `eligible` where it says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.gate import Gate, copy_repository
from support.gitenv import commit_all, git

FMT = "src/replay_demo/fmt.py"


@pytest.fixture
def host(armed: Path, tmp_path: Path) -> Gate:
    """The sample project, sealed and armed."""
    return copy_repository(armed, tmp_path / "host")


def honest(host: Gate) -> bytes:
    host.edit(FMT, "_block(", "_bracketed(")
    return host.cut_patch()


def rules(packet: dict[str, Any], prefix: str = "") -> dict[str, set[str]]:
    """Rule -> what it was found on, for the rules of one kind."""
    found: dict[str, set[str]] = {}
    for reason in packet["reasons"]:
        if reason["rule"].startswith(prefix):
            found.setdefault(reason["rule"], set()).add(reason["subject"])
    return found


def freeze(host: Gate, **entries: dict[str, str]) -> None:
    """A human commits a ledger of these entries, by test id, and seals it."""
    parent = git(host.root, "rev-parse", "HEAD").decode().strip()
    usual = {"reason": "flake", "owner": "ci", "expires_utc": "2099-01-01T00:00:00Z", "parent_sha": parent}
    ledger = {
        "schema": "freeze-ledger-v1",
        "entries": [{"test_id": id, **usual, **changes} for id, changes in entries.items()],
    }
    host.write("sealed/freeze.json", json.dumps(ledger))
    host.run("seal", check=0)
    commit_all(host.root, "Freeze")


def test_fixture_missing_or_digest_mismatch_blocks(host: Gate) -> None:
    (host.root / "sealed/fixtures/umlauts.json").unlink()
    fixture = host.root / "sealed/fixtures/cut_short.json"
    fixture.write_bytes(bytes([fixture.read_bytes()[0] ^ 1]) + fixture.read_bytes()[1:])
    commit_all(host.root, "Drift of the inventory")
    packet = host.judge_patch(honest(host), check=1)
    rows = {row["id"]: (row["hit"], row["digest_match"]) for row in packet["fixtures"]}
    assert rows == {
        "umlauts": (False, False),
        "cut_short": (True, False),
        "weights": (True, True),
        "name_twice": (True, True),
    }
    assert rules(packet, "fixtures.") == {
        "fixtures.missing": {"umlauts"},
        "fixtures.digest_mismatch": {"cut_short"},
    }
    # A property is not asked about less than it was sealed with.
    assert {row["id"]: row["ran"] for row in packet["properties"]} == dict.fromkeys(
        ("p_stable_format", "p_sum_of_members", "p_refuses_broken"), False
    )
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)


def test_property_returns_false_on_any_sealed_fixture_blocks(host: Gate) -> None:
    host.edit(FMT, '        raise Malformed("duplicate key in an object")\n', "        pass\n")
    packet = host.judge_patch(host.cut_patch(), check=1)
    rows = {row["id"]: row for row in packet["properties"]}
    failed = rows["p_refuses_broken"]
    assert (failed["ran"], failed["failed_fixtures"], failed["ok"]) == (True, ["name_twice"], False)
    assert all(rows[id]["ok"] and not rows[id]["failed_fixtures"] for id in rows if id != "p_refuses_broken")
    assert rules(packet, "properties.") == {"properties.failed": {"p_refuses_broken"}}
    assert all(row["digest_match"] for row in packet["fixtures"])
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)


def test_property_never_loaded_blocks(host: Gate) -> None:
    properties = host.root / "sealed/properties"
    (properties / "p_stable_format.py").unlink()
    host.edit("sealed/properties/p_refuses_broken.py", "def holds", "def held")
    commit_all(host.root, "Lose two properties")
    packet = host.judge_patch(honest(host), check=1)
    rows = {row["id"]: (row["ran"], row["ok"], row["note"]) for row in packet["properties"]}
    assert rows == {
        "p_stable_format": (False, False, "is missing"),
        "p_refuses_broken": (False, False, "has other bytes than were sealed"),
        "p_sum_of_members": (True, True, ""),
    }
    assert rules(packet, "properties.") == {"properties.not_run": {"p_stable_format", "p_refuses_broken"}}
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)


def test_freeze_expired_or_owner_blank_blocks(host: Gate) -> None:
    freeze(
        host,
        expired={"expires_utc": "2026-01-31T00:00:00Z"},
        ownerless={"owner": ""},
        parentless={"parent_sha": "REPLACE_WITH_PARENT_SHA"},
        valid={},
    )
    packet = host.judge_patch(honest(host), "--now", "2026-01-31", check=1)
    rows = {
        row["test_id"]: (row["expired"], row["has_owner"], row["parent_sha_present"])
        for row in packet["freezes"]
    }
    assert rows == {
        "expired": (True, True, True),
        "ownerless": (False, False, True),
        "parentless": (False, True, False),
        "valid": (False, True, True),
    }
    assert rules(packet) == {
        "freezes.expired": {"expired"},
        "freezes.no_owner": {"ownerless"},
        "freezes.no_parent": {"parentless"},
    }
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)


def test_freeze_ledger_changed_in_the_agent_diff_blocks(host: Gate) -> None:
    host.edit("sealed/freeze.json", "[]", '[{"test_id": "public.test_fmt"}]')
    packet = host.judge_patch(host.cut_patch(), check=1)
    assert rules(packet) == {"freeze_ledger.changed": {"sealed/freeze.json"}}
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)
    assert packet["sandbox"]["mode"] == "not_run"


def test_public_tests_fail_while_the_sealed_packet_is_green_is_inspected(host: Gate) -> None:
    test = "def test_{}() -> None:\n    assert hasattr(fmt, '_block')\n"
    body = "\n\n".join(test.format(name) for name in ("counts", "frozen"))
    host.write("tests/public/test_names.py", f"from replay_demo import fmt\n\n\n{body}")
    commit_all(host.root, "Tests of a name")
    freeze(host, **{"public.test_frozen": {}})
    packet = host.judge_patch(honest(host), check=5)
    assert rules(packet) == {"public.failed": {"tests/public/test_names.py::test_counts"}}
    for run in (packet["public"]["base_tests"], packet["public"]["own_tests"]):
        assert run["failed"] == ["tests/public/test_names.py::test_counts"]
        assert run["apart"] == ["tests/public/test_names.py::test_frozen"]  # a valid freeze does not count
    assert all(row["ok"] for row in packet["properties"])
    assert (packet["verdict"], packet["merge_ok"]) == ("inspect", True)


def test_sealed_packet_green_and_freeze_ledger_untouched_is_eligible(host: Gate) -> None:
    packet = host.judge_patch(honest(host), check=0)
    assert [row["hit"] and row["digest_match"] for row in packet["fixtures"]] == [True] * 4
    assert [(row["ran"], row["failed_fixtures"], row["ok"]) for row in packet["properties"]] == [
        (True, [], True)
    ] * 3
    assert packet["freezes"] == []
    assert (packet["verdict"], packet["merge_ok"], packet["reasons"]) == ("eligible", True, [])
    assert packet["schema"] == "merge-packet-v1"
    # Three result files, not one colour.
    for name in ("fixtures", "properties", "freezes"):
        document = json.loads((host.root / f".gate/results/{name}.json").read_bytes())
        assert document == {name: packet[name]}
