"""`seal` through the command line: what it fills, refuses and warns of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from support.article_b import OR_TRUE
from support.gate import Gate
from support.gitenv import commit_all, git
from support.sealing import digest

VACUOUS = {
    "p_placeholder": OR_TRUE.decode(),
    "p_constant": "def holds(fixture_bytes, run):\n    return True\n",
    "p_hashes": "import hashlib\n\n\ndef holds(fixture_bytes, run):\n"
    "    run(['python', '-m', 'replay_demo.fmt', '-'])\n"
    "    return hashlib.sha256(fixture_bytes).hexdigest() != ''\n",
}
#: One argument: it imports the program.
IMPORTED = """\
from replay_demo.fmt import format_bytes


def holds(fixture_bytes: bytes) -> bool:
    return format_bytes(format_bytes(fixture_bytes)) == format_bytes(fixture_bytes)
"""


def manifest(gate: Gate) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((gate.root / "sealed/MANIFEST.json").read_bytes())
    return document


def add_property(gate: Gate, id: str, source: str, **fields: Any) -> None:
    gate.write(f"sealed/properties/{id}.py", source)
    document = manifest(gate)
    document["properties"].append({"id": id, "path": f"properties/{id}.py", **fields})
    gate.write("sealed/MANIFEST.json", json.dumps(document))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_vacuous_property_is_refused_by_name_and_nothing_is_written(gate: Gate) -> None:
    for id, source in VACUOUS.items():
        add_property(gate, id, source)
    before = files(gate.root / "sealed")
    done = gate.run("seal", check=4)
    lines = done.stderr.splitlines()
    assert "gate: p_placeholder accepts a tree without sources: vacuous" in lines
    for id in ("p_constant", "p_hashes"):
        assert f"gate: {id} accepts empty, echo, constant, random, crash: vacuous" in lines
    assert lines[-1].startswith(
        "gate: sealed/MANIFEST.json: 3 vacuous: p_placeholder, p_constant, p_hashes; "
    )
    assert "p_stable_format" not in done.stderr
    assert files(gate.root / "sealed") == before
    # Judged all the same, they hold the change.
    document = manifest(gate)
    for item in document["properties"]:
        item["sha256"] = digest((gate.root / "sealed" / item["path"]).read_bytes())
        item["in_process"] = item["id"] == "p_placeholder"
    gate.write("sealed/MANIFEST.json", json.dumps(document))
    commit_all(gate.root, "Seal by hand")
    done = gate.run("harness", check=4)
    packet = json.loads((gate.root / ".gate/harness_packet.json").read_bytes())
    assert {reason["rule"] for reason in packet["reasons"]} == {"properties.vacuous"}
    assert {reason["subject"] for reason in packet["reasons"]} == VACUOUS.keys()
    assert (packet["verdict"], packet["merge_ok"]) == ("hold", False)


def test_seal_fills_every_digest_and_warns(gate: Gate) -> None:
    first = manifest(gate)
    arming = git(gate.root, "rev-parse", "HEAD~1").decode().strip()
    assert first["parent_sha_at_lock"] == arming
    add_property(gate, "p_imported", IMPORTED, fixtures=["umlauts"])
    shared = 'SHARED = "ends with exit code 2 for broken"\n'
    add_property(
        gate, "p_wrong", shared + VACUOUS["p_constant"].replace("True", "run(['python']).stdout == b'x'")
    )
    gate.write("sealed/fixtures/forgotten.bin", "x")
    entry = {"test_id": "public.test_x", "owner": "ci", "expires_utc": "2099-01-01T00:00:00Z"}
    gate.write("sealed/freeze.json", json.dumps({"schema": "freeze-ledger-v1", "entries": [entry]}))
    visible = (gate.root / "sealed/fixtures/weights.json").read_text()
    git(gate.root, "stash", "--quiet", "--include-untracked")
    gate.write("tests/public/test_copy.py", f"COPY = r'''\n{visible}'''\n")
    gate.edit("src/replay_demo/fmt.py", "class Malformed", shared + "\n\nclass Malformed")
    commit_all(gate.root, "Leak")
    git(gate.root, "stash", "pop", "--quiet")
    warnings = gate.run("seal", check=0).stderr.splitlines()
    assert sorted(warnings) == [
        "gate: warning: p_wrong does not hold here: umlauts, weights, cut_short, name_twice",
        "gate: warning: p_wrong shares the literal 'ends with exit code 2 for broken' with src/replay_demo/fmt.py",
        "gate: warning: sealed/fixtures/forgotten.bin is not in the manifest: nothing looks at it",
        "gate: warning: the bytes of fixture weights stand in tests/public/test_copy.py, which generators see",
        "gate: warning: the freeze of public.test_x gives no reason",
    ]
    document = manifest(gate)
    for item in (*document["properties"], *document["fixtures"]):
        assert item["sha256"] == digest((gate.root / "sealed" / item["path"]).read_bytes()), item
    assert document["freeze_sha256"] == digest((gate.root / "sealed/freeze.json").read_bytes())
    assert document["parent_sha_at_lock"] == git(gate.root, "rev-parse", "HEAD").decode().strip() != arming
    assert {item["id"]: item["in_process"] for item in document["properties"] if item["in_process"]} == {
        "p_imported": True
    }
    assert {item["id"]: item["fixtures"] for item in document["properties"]}["p_wrong"] is None
    # A second time nothing changes, the parent included.
    before = files(gate.root / "sealed")
    commit_all(gate.root, "Seal")
    gate.run("seal", check=0)
    assert files(gate.root / "sealed") == before


def test_what_cannot_be_sealed_is_one_line(gate: Gate) -> None:
    def refused(said: str) -> None:
        before = (gate.root / "sealed/MANIFEST.json").read_bytes()
        done = gate.run("seal", check=2)
        assert done.stderr.splitlines() == [done.stderr.rstrip("\n")]
        assert said in done.stderr
        assert (gate.root / "sealed/MANIFEST.json").read_bytes() == before
        git(gate.root, "checkout", "--quiet", ".")
        git(gate.root, "clean", "--quiet", "--force", "-d")

    (gate.root / "sealed/fixtures/weights.json").unlink()
    refused("sealed/fixtures/weights.json: is missing; add it, or drop 'weights'")
    add_property(gate, "p_none", "def hold():\n    pass\n")
    refused("sealed/properties/p_none.py: has no holds(fixture_bytes, run)")
    add_property(gate, "p_bare", VACUOUS["p_constant"], fixtures=[])
    refused("'p_bare' has no fixture")
    gate.edit("sealed/MANIFEST.json", "fixtures/weights.json", "../weights.json")
    refused("'weights' names '../weights.json', not a file of its own inside the sealed folder")
    gate.write("src/replay_demo/new.py", "")
    refused("the work tree differs from HEAD in src/replay_demo/new.py")
    (gate.root / "sealed/MANIFEST.json").write_text("{")
    refused("sealed/MANIFEST.json:1: not JSON")


def test_an_outside_folder_is_sealed_where_it_lies(gate: Gate, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    shutil.copytree(gate.root / "sealed", folder)
    document = manifest(gate)
    for item in (*document["properties"], *document["fixtures"]):
        item["sha256"] = ""
    document["properties"] = document["properties"][:1]
    (folder / "MANIFEST.json").write_text(json.dumps(document))
    before = (gate.root / "sealed/MANIFEST.json").read_bytes()
    done = gate.run("seal", "--sealed", str(folder), check=0)
    assert "1 properties, 4 fixtures" in done.stdout
    sealed = json.loads((folder / "MANIFEST.json").read_bytes())
    assert all(item["sha256"] for item in (*sealed["properties"], *sealed["fixtures"]))
    assert (gate.root / "sealed/MANIFEST.json").read_bytes() == before
    assert (
        "inside the judged work tree"
        in gate.run("seal", "--sealed", str(gate.root / "sealed"), check=2).stderr
    )
    (folder / "MANIFEST.json").unlink()
    assert "MANIFEST.json: is missing" in gate.run("seal", "--sealed", str(folder), check=2).stderr
