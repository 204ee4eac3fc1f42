"""Rows that run again in another envelope: a program that recognises the gate's is found out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest
from engine.test_replay_lane import BAD, GOOD, OTHER, Scripted
from oracle_gate.core.corpus import Row
from oracle_gate.core.packet import ReplayRow
from oracle_gate.core.statements import Repinned, Statement
from oracle_gate.lanes.replay import Replayers, replay_elsewhere
from oracle_gate.sandbox.bubblewrap import Bubblewrap
from oracle_gate.sandbox.choice import moved
from oracle_gate.sandbox.layer import Layer, Visible
from support.approving import allow, make_keys, put
from support.engine import run_engine
from support.gate import Gate
from support.gitenv import commit_all, git
from support.quick import make_quick, record, rows_text
from support.sealing import seal_folder

IDS = [f"row-{number:03}" for number in range(100)]
ROWS = [Row(id, ("program",)) for id in IDS]
MATCHED = [ReplayRow(id, "match", GOOD, GOOD) for id in IDS]
#: Where every row gives its pin.
HERE = Replayers(Scripted(), Scripted(), Scripted())
Script = Mapping[str, Sequence[str]]


def elsewhere(
    patch: Script, base: Script, *, again: Script | None = None, sensitive: Sequence[str] = (), seed: int = 1
) -> tuple[dict[str, ReplayRow], list[str]]:
    """The rows that no longer match, and which ones ran."""
    replayers = Replayers(
        asked := Scripted(patch), Scripted(patch if again is None else again), Scripted(base)
    )
    found = replay_elsewhere(ROWS, MATCHED, sensitive, (), seed, HERE, replayers)
    assert [row.id for row in found] == IDS
    return {row.id: row for row in found if row.status != "match"}, asked.asked


EVERY_BAD: Script = dict.fromkeys(IDS, (BAD,))


def test_a_patch_that_differs_there_and_a_base_that_does_not_is_drift() -> None:
    found, asked = elsewhere(EVERY_BAD, {})
    assert sorted(found) == sorted(asked)
    assert {(row.status, row.detail, row.observed) for row in found.values()} == {
        ("drift", "in another envelope", BAD)
    }


def test_what_the_base_gives_there_as_well_is_no_fault_of_the_patch() -> None:
    assert elsewhere(EVERY_BAD, EVERY_BAD)[0] == {}
    assert elsewhere({}, {})[0] == {}


def test_a_base_that_misbehaves_there_holds() -> None:
    found, asked = elsewhere(EVERY_BAD, dict.fromkeys(IDS, ("timeout",)))
    assert sorted(found) == sorted(asked)
    assert {(row.status, row.detail) for row in found.values()} == {
        ("base_mismatch", "the base misbehaves: timeout in another envelope")
    }


def test_a_patch_that_wavers_or_hangs_there_is_told_apart() -> None:
    found, _ = elsewhere(EVERY_BAD, {}, again=dict.fromkeys(IDS, (OTHER,)))
    assert {row.status for row in found.values()} == {"unstable"}
    found, _ = elsewhere(dict.fromkeys(IDS, ("timeout",)), {})
    assert {(row.status, row.detail) for row in found.values()} == {
        ("misbehaved", "timeout in another envelope")
    }


def test_the_sample_is_the_seeds_and_leaves_sensitive_rows_out() -> None:
    samples = [elsewhere({}, {}, seed=seed)[1] for seed in (1, 1, 2)]
    assert [len(sample) for sample in samples] == [5, 5, 5]  # 5 % of 100 rows
    assert samples[0] == samples[1] != samples[2]
    assert elsewhere({}, {}, sensitive=IDS[2:])[1] in ([*IDS[:2]], [*IDS[1::-1]])


@pytest.mark.parametrize("status", ["match", "approved"])
@pytest.mark.parametrize(
    ("base_there", "wanted"), [(OTHER, "drift"), (BAD, "excused"), ("timeout", "base_mismatch")]
)
def test_what_is_new_is_always_asked_and_excused_by_the_base_alone(
    status: Literal["match", "approved"], base_there: str, wanted: str
) -> None:
    """A new pin, or a statement, is a human's word for what was seen here: no row of these may differ there."""
    judged = [ReplayRow(id, status, GOOD if status == "match" else OTHER, GOOD) for id in IDS[:9]]
    changed = IDS[:9] if status == "match" else ()
    here = Replayers(Scripted(), Scripted(), Scripted(dict.fromkeys(IDS, (OTHER,))))
    there = Replayers(
        asked := Scripted(EVERY_BAD), Scripted(EVERY_BAD), Scripted(dict.fromkeys(IDS, (base_there,)))
    )
    found = replay_elsewhere(ROWS, judged, IDS, changed, 1, here, there)
    assert asked.asked == IDS[:9]
    assert {row.status for row in found} == {status if wanted == "excused" else wanted}


def test_rows_that_do_not_match_are_not_asked_again() -> None:
    judged = [ReplayRow(id, "drift", GOOD, BAD) for id in IDS]
    replayers = Replayers(asked := Scripted(), Scripted(), Scripted())
    assert replay_elsewhere(ROWS, judged, (), IDS, 1, HERE, replayers) == tuple(judged)
    assert asked.asked == []


def test_paths_inside_a_sandbox_are_others_of_the_same_length(tmp_path: Path) -> None:
    visible = Visible(tmp_path, tmp_path, tmp_path)
    layers: list[Layer] = [Bubblewrap("bwrap"), moved(Bubblewrap("bwrap"))]
    one, other = (layer.launch(visible).inside.tree for layer in layers)
    assert one != other
    assert len(one) == len(other)


KNOWS_THE_GATE = {
    "SOURCE_DATE_EPOCH": '#!/bin/sh\ntest "$SOURCE_DATE_EPOCH" = 0 || exit 3\n',
    "hash seed": '#!/bin/sh\ntest "$PYTHONHASHSEED" = 0 || exit 3\n',
}


@pytest.mark.parametrize("sign", KNOWS_THE_GATE)
def test_a_program_that_recognises_the_gate_drifts(sign: str, quick: Gate) -> None:
    quick.edit("src/prog.sh", "#!/bin/sh\n", KNOWS_THE_GATE[sign])
    packet = quick.judge_patch(quick.cut_patch(), check=1)
    assert {(r["rule"], r["detail"]) for r in packet["reasons"]} == {("replay.drift", "in another envelope")}
    assert len(packet["reasons"]) == 3


def test_the_seed_is_the_hosts_alone_and_an_honest_packet_does_not_depend_on_it(quick: Gate) -> None:
    quick.edit("src/prog.sh", "tr a-z A-Z ;;\ncount", "tr 'a-z' 'A-Z' ;;\ncount")
    patch, seen = quick.cut_patch(), []
    for _ in range(2):
        quick.judge_patch(patch, check=0)
        meta = json.loads((quick.root / ".gate/run_meta.json").read_bytes())
        seen.append(((quick.root / ".gate/merge_packet.json").read_bytes(), meta["envelope_seed"]))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]
    assert b"seed" not in seen[0][0]


def test_record_names_the_rows_that_depend_on_the_envelope(tmp_path: Path) -> None:
    gate = make_quick(tmp_path / "quick")
    gate.edit("src/prog.sh", "upper)", 'dated) echo "${SOURCE_DATE_EPOCH-now}" ;;\nupper)')
    gate.write(
        "corpus/inputs.jsonl",
        rows_text(
            {"id": "dated", "argv": ["src/prog.sh", "dated"]},
            {"id": "upper", "argv": ["src/prog.sh", "upper"], "stdin": "a\n"},
        ),
    )
    commit_all(gate.root, "Program")
    record(gate)
    provenance = json.loads((gate.root / "oracle/provenance.json").read_bytes())
    assert provenance["envelope_sensitive"] == ["dated"]
    gate.write("README.md", "more\n")
    packet = gate.judge_patch(gate.cut_patch(), check=0)
    assert [row["status"] for row in packet["replay"]] == ["match", "match"]


def test_neither_a_statement_nor_provenance_covers_another_envelope(quick: Gate, tmp_path: Path) -> None:
    """What humans sign is what they saw here; provenance.json, which nobody signs, excuses no row."""
    keys = make_keys(tmp_path / "keys")
    allow(quick, keys)
    git(quick.root, "switch", "--quiet", "--create", "work")
    knows = 'upper) test "$SOURCE_DATE_EPOCH" = 0 && { tr a-z A-Z; echo wanted; } || echo stolen ;;'
    quick.edit("src/prog.sh", "upper) tr a-z A-Z ;;", knows)
    assert run_engine(quick.root, "judge").code == 1
    packet = quick.packet()
    ids = {
        r["id"]: Repinned(r["expected"], r["observed"]) for r in packet["replay"] if r["status"] == "drift"
    }
    stem = put(quick.root, Statement("drift", note="wanted", change_id=packet["change_id"], ids=ids), keys)
    elsewhere = {("replay.drift", "in another envelope")}
    for step in ("stated", "pinned", "excused"):
        if step == "pinned":
            commit_all(quick.root, "Say that it is wanted")
            assert run_engine(quick.root, "record", "--approval", str(quick.root / f"{stem}.json")).code == 0
        if step == "excused":
            provenance = json.loads((quick.root / "oracle/provenance.json").read_bytes())
            provenance["envelope_sensitive"] = sorted(row["id"] for row in packet["replay"])
            quick.write("oracle/provenance.json", json.dumps(provenance))
        assert run_engine(quick.root, "judge", base="main").code == 1, step
        wanted = {("denylist.hit", "denied by oracle/")} if step == "excused" else elsewhere
        assert {(r["rule"], r["detail"]) for r in quick.packet()["reasons"]} == wanted, step


def test_provenance_does_not_change_by_itself(quick: Gate, tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys")
    allow(quick, keys)
    quick.write("sealed/extra.txt", "x\n")
    assert run_engine(quick.root, "judge").code == 1
    change = quick.packet()["change_id"]
    put(
        quick.root,
        Statement("protected-change", note="x", change_id=change, paths=("sealed/extra.txt",)),
        keys,
    )
    assert run_engine(quick.root, "judge").code == 0
    provenance = json.loads((quick.root / "oracle/provenance.json").read_bytes())
    quick.write("oracle/provenance.json", json.dumps({**provenance, "envelope_sensitive": ["upper"]}))
    assert run_engine(quick.root, "judge").code == 1
    assert [r["subject"] for r in quick.packet()["reasons"]] == ["oracle/provenance.json"]


def test_provenance_beside_approved_inputs_excuses_no_row_more(quick: Gate, tmp_path: Path) -> None:
    """Merged, the list would be the base's, and hide a later program that recognises the gate."""
    keys = make_keys(tmp_path / "keys")
    allow(quick, keys)
    git(quick.root, "switch", "--quiet", "--create", "work")
    quick.write("corpus/data/extra", "x\n")
    assert run_engine(quick.root, "judge").code == 1
    change = quick.packet()["change_id"]
    put(
        quick.root,
        Statement("protected-change", note="x", change_id=change, paths=("corpus/data/extra",)),
        keys,
    )
    made = json.loads((quick.root / "oracle/provenance.json").read_bytes())
    made["corpus_sha256"] = run_engine(quick.root, "record", "--print-digest").stdout.strip()
    for excused, subjects in (([], []), (["upper"], ["oracle/provenance.json"])):
        quick.write("oracle/provenance.json", json.dumps({**made, "envelope_sensitive": excused}))
        assert run_engine(quick.root, "judge").code == bool(subjects)
        assert [r["subject"] for r in quick.packet()["reasons"]] == subjects


RELATION = '''\
def relation_lower(run):
    """Lower case twice is lower case once."""
    once = run(["src/prog.sh", "lower"], input=b"AbC")
    assert once.returncode == 0 and once.stdout == b"abc"
'''
PROPERTY = """\
def holds(fixture_bytes, run):
    return run(["src/prog.sh", "lower"], input=fixture_bytes).stdout == fixture_bytes.lower()
"""


@pytest.mark.parametrize(
    ("program", "code"),
    [("tr 'A-Z' 'a-z'", 0), ("cat", 1), ('test "$SOURCE_DATE_EPOCH" = 0 && tr A-Z a-z || cat', 1)],
)
def test_relations_and_properties_are_asked_there_as_well(
    quick: Gate, tmp_path: Path, program: str, code: int
) -> None:
    """No row reaches what they are about."""
    quick.edit("src/prog.sh", "upper)", "lower) tr A-Z a-z ;;\nupper)")
    quick.write("tools/metamorphic.py", RELATION)
    commit_all(quick.root, "A relation")
    sealed = str(seal_folder(tmp_path / "sealed", {"p_lower": PROPERTY}, {"f_one": b"One", "f_two": b"tWo"}))
    quick.edit("src/prog.sh", "lower) tr A-Z a-z", f"lower) {program}")
    assert run_engine(quick.root, "judge", "--sealed", sealed).code == code
    packet = quick.packet()
    rules = {r["rule"]: r["detail"] for r in packet["reasons"]}
    assert rules.keys() == ({"relations.broken", "properties.failed"} if code else set())
    if "SOURCE_DATE_EPOCH" in program:
        assert rules["relations.broken"].startswith("in another envelope: ")
        assert rules["properties.failed"] == "in another envelope, f_one, f_two"
        assert packet["verdict"] == "block"
