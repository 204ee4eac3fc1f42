"""The packet: the same facts give the same bytes, nothing of the machine is in it, and it can be judged again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.gate import Gate, copy_repository
from support.gitenv import commit_all


def leaves(value: Any) -> Iterator[Any]:
    """Every value of a document that holds no other, and every key."""
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def packet_bytes(gate: Gate) -> bytes:
    return (gate.root / ".gate/merge_packet.json").read_bytes()


def honest(gate: Gate) -> None:
    gate.edit("src/prog.sh", "esac", "esac # as before")


def drifting(gate: Gate) -> None:
    gate.edit("src/prog.sh", "a-z A-Z", "a-n A-N")


def unsteady(gate: Gate) -> None:
    gate.edit("src/prog.sh", "tr a-z A-Z ;;", "date +%N; echo $$ ;;")


@pytest.mark.parametrize(
    ("edit", "code"), [(honest, 0), (drifting, 1), (unsteady, 1)], ids=["honest", "drifting", "unsteady"]
)
def test_two_runs_and_other_workers_give_the_same_bytes(
    quick: Gate, tmp_path: Path, edit: Any, code: int
) -> None:
    edit(quick)
    other = copy_repository(quick.root, tmp_path / "elsewhere, with a longer name" / "repository")
    quick.judge("--workers", "1", check=code)
    first = packet_bytes(quick)
    other.judge("--workers", "2", check=code)
    if edit is unsteady:  # what was observed wavers, what is said of it does not
        first, second = (re.sub(rb'"observed": "\w*"|"diff": \[[^]]*\]', b"", data)
                         for data in (first, packet_bytes(other)))  # fmt: skip
        assert first == second
    else:
        assert first == packet_bytes(other)


def test_the_sample_project_gives_the_same_bytes_again(gate: Gate) -> None:
    """All lanes, the public tests' timings included."""
    gate.edit("src/replay_demo/fmt.py", "_block(", "_bracketed(")
    gate.judge("--workers", "1", check=0)
    first = packet_bytes(gate)
    packet = gate.judge("--workers", "2", check=0)
    assert packet_bytes(gate) == first
    assert not any(isinstance(value, float) for value in leaves(packet))
    assert str(gate.root).encode() not in first


def test_nothing_of_the_machine_is_in_it(quick: Gate) -> None:
    drifting(quick)
    quick.write("conftest.py", "")
    packet = quick.judge("--now", "2031-02-03", check=1)
    text = packet_bytes(quick).decode()
    assert str(quick.root) not in text
    assert os.uname().nodename not in text
    assert not any(isinstance(value, float) for value in leaves(packet))
    assert not [
        value for value in leaves(packet) if isinstance(value, str) and value.startswith(("/tmp", "/root"))
    ]
    assert packet["inputs"].pop("evaluated_on") == "2031-02-03"
    assert not re.search(r"\d\d:\d\d:\d\d|20\d\d-\d\d-\d\d", json.dumps(packet))
    assert set(packet["inputs"]) >= {
        "oracle",
        "corpus",
        "denylist",
        "noise",
        "settings",
        "engine",
        "requirements",
    }
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in packet["inputs"].values())
    meta = json.loads((quick.root / ".gate/run_meta.json").read_bytes())
    assert isinstance(meta["seconds"], float)


def test_it_says_what_was_judged(quick: Gate) -> None:
    quick.edit("README.md", "quick", "changed")
    quick.write("src/n\u00e9w.sh", "x\n")
    packet = quick.judge(check=0)
    assert packet["schema"] == "merge-packet-v1"
    for name in ("parent_sha", "tree_before", "tree_after"):
        assert re.fullmatch("[0-9a-f]{40}", packet[name])
    assert packet["tree_before"] != packet["tree_after"]
    assert [tuple(change[name] for name in ("path", "status", "before_mode", "after_mode"))
            for change in packet["changes"]] == [
        ("README.md", "M", "100644", "100644"), ("src/n\u00e9w.sh", "A", "000000", "100644"),
    ]  # fmt: skip
    assert [row["id"] for row in packet["replay"]] == ["upper", "count", "write", "upper-more"]
    assert {row["status"] for row in packet["replay"]} == {"match"}
    assert all(row["expected"] == row["observed"] != "" for row in packet["replay"])
    assert packet["workspace"]["verified"] is False
    # article B's fields are there, also when there is nothing to say
    assert {"manifest_sha256", "fixtures", "properties", "freezes", "merge_ok"} <= packet.keys()
    commit = commit_all(quick.root, "On the base branch")
    assert quick.judge(check=0)["parent_sha"] == commit


def test_a_denied_change_has_an_identity_and_paths(quick: Gate) -> None:
    drifting(quick)
    quick.write("corpus/data/x", "x")
    denied = quick.judge(check=1)
    assert [hit["subject"] for hit in denied["denylist"]["hits"]] == ["corpus/data/x"]
    assert [change["path"] for change in denied["changes"]] == ["corpus/data/x", "src/prog.sh"]
    assert re.fullmatch("[0-9a-f]{64}", denied["change_id"])
    assert denied["replay"] == []
    assert denied["lanes"]["replay"]["state"] == "not_run"
    quick.write("corpus/data/x", "y")
    assert quick.judge(check=1)["change_id"] != denied["change_id"]


def test_out_puts_it_elsewhere(quick: Gate, tmp_path: Path) -> None:
    out = tmp_path / "new/folder/packet.json"
    quick.run("judge", "--out", str(out), check=0)
    assert {path.name for path in out.parent.iterdir()} >= {"packet.json", "packet.public.json", "results"}
    assert json.loads(out.read_bytes())["mode"] == "self-check"
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_a_stored_packet_is_judged_by_its_facts(quick: Gate, tmp_path: Path) -> None:
    drifting(quick)
    packet = quick.judge(check=1)
    stored = quick.root / ".gate/merge_packet.json"
    again = quick.run("verdict", str(stored), check=1)
    assert again.stdout.splitlines()[-1].startswith("verdict block: replay.drift x")
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**packet, "verdict": "eligible", "reasons": [], "merge_ok": True}))
    assert quick.run("verdict", str(forged), check=1).stdout == again.stdout


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"extra": 1}, "unknown key 'extra'"),
        ({"schema": "merge-packet-v2"}, "schema is not one of 'merge-packet-v1'"),
        ({"intake": [{"rule": "intake.nonsense", "subject": "x"}]}, "unknown rule 'intake.nonsense'"),
        ("{", "not JSON"),
        ("\xff", "not UTF-8"),
    ],
)
def test_a_packet_of_another_form_is_refused(
    quick: Gate, tmp_path: Path, change: Any, complaint: str
) -> None:
    file = tmp_path / "packet.json"
    if isinstance(change, dict):
        minimal = dict.fromkeys(
            (
                "mode",
                "trust",
                "parent_sha",
                "base_from",
                "patch_sha256",
                "change_id",
                "tree_before",
                "tree_after",
            ),
            "x",
        )
        file.write_text(json.dumps({**minimal, "inputs": {}, "counts": {"pins": 1}, **change}))
    else:
        file.write_bytes(change.encode("latin-1"))
    done = quick.run("verdict", str(file), check=2)
    assert done.stdout == ""
    assert done.stderr.startswith("gate: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
