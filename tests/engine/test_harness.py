"""The harness through the command line: where sealed files come from, what never gives merge_ok."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from support.gate import Gate, run_gate
from support.gitenv import commit_all, git_env
from support.sealing import fmt_property, seal_folder

FMT = "src/replay_demo/fmt.py"
#: What one of the sample's properties rejects.
ACCEPTS_DUPLICATES = ('raise Malformed("duplicate key in an object")', "pass")
HOLDS = fmt_property("done.returncode == 0 and json.loads(done.stdout) == json.loads(fixture_bytes)")
FIXTURES = {"f_list": b'[1, 2, "a fixture long enough to be told from chance"]', "f_none": b"null"}


def harness(gate: Gate, *words: str, check: int) -> dict[str, Any]:
    """The packet of a harness run; what is printed is article B's one line, and true to the packet."""
    done = gate.run("harness", *words, check=check)
    packet: dict[str, Any] = json.loads((gate.root / ".gate/harness_packet.json").read_bytes())
    assert json.loads(done.stdout) == {"merge_ok": packet["merge_ok"]}
    assert packet["mode"] == "harness"
    assert packet["merge_ok"] is (check == 0)
    assert packet["verdict"] != "eligible"
    return packet


def rules(packet: dict[str, Any]) -> set[tuple[str, str]]:
    return {(reason["rule"], reason["subject"]) for reason in packet["reasons"]}


def patch(gate: Gate, *edits: tuple[str, str]) -> str:
    """A patch file with edits of the formatter, each an old and a new text."""
    for old, new in edits:
        gate.edit(FMT, old, new)
    file = gate.root.parent / "change.patch"
    file.write_bytes(gate.cut_patch())
    return str(file)


def test_the_articles_command_line_prints_merge_ok(gate: Gate) -> None:
    done = run_gate(gate.root / "tools/replay_harness.py", check=0)
    assert done.stdout == '{\n  "merge_ok": true\n}\n'
    packet = json.loads((gate.root / ".gate/harness_packet.json").read_bytes())
    assert (packet["mode"], packet["verdict"], packet["reasons"]) == ("harness", "none", [])
    assert packet["lanes"].keys() == {"denylist", "sealed"}
    assert packet["replay"] == packet["relations"] == []
    assert len(packet["properties"]) == 3
    assert not (gate.root / ".gate/merge_packet.json").exists()
    bad = patch(gate, ACCEPTS_DUPLICATES)
    done = run_gate(gate.root / "tools/replay_harness.py", "--patch", bad, check=1)
    assert done.stdout == '{\n  "merge_ok": false\n}\n'
    assert "properties.failed" in done.stderr
    assert "p_refuses_broken" not in done.stdout + done.stderr


#: What a property may do instead of answering, by its id.
SILENT = {
    "p_raises": "    raise ValueError(fixture_bytes)\n",
    "p_none": "    return None\n",
    "p_one": "    return 1\n",
    "p_text": "    return 'False'\n",
    "p_exit": "    raise SystemExit(0)\n",
    "p_os_exit": "    import os\n    os._exit(0)\n",
}


def test_a_property_that_does_not_answer_never_gives_merge_ok(gate: Gate, tmp_path: Path) -> None:
    head = "def holds(fixture_bytes, run):\n"
    sources = {id: head + body for id, body in SILENT.items()}
    sources |= {
        "p_coroutine": "async " + head + "    return True\n",
        "p_missing": head + "    return True\n",
        "p_broken": head + "return True\n",
        "p_inside": "def holds(fixture_bytes):\n    import os, replay_demo\n    os._exit(0)\n",
    }
    folder = seal_folder(tmp_path / "sealed", sources, FIXTURES, in_process=("p_inside",))
    (folder / "properties/p_missing.py").unlink()
    packet = harness(gate, "--sealed", str(folder), check=1)
    rows = {row["id"]: row for row in packet["properties"]}
    assert {id for id, row in rows.items() if row["ran"] or row["ok"]} == set()
    assert rules(packet) == {("properties.not_run", id) for id in rows}
    asked = {id for id, row in rows.items() if row["failed_fixtures"] == ["f_list"]}
    assert asked == rows.keys() - {"p_missing", "p_broken"}
    assert rows["p_inside"]["in_process"] is True
    assert b"long enough" not in (gate.root / ".gate/harness_packet.json").read_bytes()


def test_a_folder_from_elsewhere(gate: Gate, tmp_path: Path) -> None:
    good = seal_folder(tmp_path / "good", {"p_same": HOLDS}, FIXTURES)
    packet = harness(gate, "--sealed", str(good), check=0)
    assert [row["id"] for row in packet["properties"]] == ["p_same"]
    # A file behind a link is not there, and what is not there blocks.
    (good / "fixtures/f_none.bin").unlink()
    (good / "fixtures/f_none.bin").symlink_to(tmp_path / "null")
    (tmp_path / "null").write_bytes(b"null")
    (good / "freeze.json").write_text('{"schema": "freeze-ledger-v1", "entries": []} ')
    packet = harness(gate, "--sealed", str(good), check=1)
    assert rules(packet) == {
        ("fixtures.missing", "f_none"),
        ("fixtures.digest_mismatch", "sealed/freeze.json"),
        ("properties.not_run", "p_same"),
    }
    assert "inside the judged work tree" in gate.run("harness", "--sealed", str(gate.root), check=2).stderr


def test_a_folder_that_nobody_sealed_says_so(gate: Gate) -> None:
    document = json.loads((gate.root / "sealed/MANIFEST.json").read_bytes())
    document["freeze_sha256"] = ""
    gate.write("sealed/MANIFEST.json", json.dumps(document))
    commit_all(gate.root, "Unseal")
    (reason,) = harness(gate, check=1)["reasons"]
    assert reason["detail"] == "was never sealed: run `seal`"


def test_an_absent_or_empty_folder_holds(gate: Gate, tmp_path: Path) -> None:
    empty = seal_folder(tmp_path / "empty", {}, FIXTURES)
    assert rules(harness(gate, "--sealed", str(empty), check=4)) == {("sealed.empty", "sealed/MANIFEST.json")}
    gate.edit(
        "oracle/gate.toml", "[lanes]", f"[sealed]\ndir = {json.dumps(str(tmp_path / 'none'))}\n\n[lanes]"
    )
    gate.edit("oracle/gate.toml", ', "relations", "sealed"]', "]")  # the harness requires it all the same
    commit_all(gate.root, "Name a folder outside")
    assert rules(harness(gate, check=4)) == {("sealed.absent", "sealed/MANIFEST.json")}
    seal_folder(tmp_path / "none", {"p_same": HOLDS}, FIXTURES)
    assert [row["id"] for row in harness(gate, check=0)["properties"]] == ["p_same"]


def test_a_folder_that_changes_during_the_run_blocks(gate: Gate, tmp_path: Path) -> None:
    """Every property sees the bytes that were read at first; that they are others now is noticed."""
    victim = tmp_path / "sealed/fixtures/f_none.bin"
    source = "from pathlib import Path\n\n" + HOLDS.replace(
        "    done =", f"    Path({str(victim)!r}).write_text('0')\n    done =", 1
    )
    folder = seal_folder(tmp_path / "sealed", {"p_writes": source}, FIXTURES)
    packet = harness(gate, "--sealed", str(folder), check=1)
    assert victim.read_bytes() != FIXTURES["f_none"]
    assert [row["digest_match"] for row in packet["fixtures"]] == [True, True]
    assert [row["ok"] for row in packet["properties"]] == [True]
    assert rules(packet) == {("fixtures.digest_mismatch", "sealed/fixtures/f_none.bin")}


def test_no_packet_is_left_behind_that_was_not_made_now(gate: Gate, tmp_path: Path) -> None:
    own = gate.root / ".gate"
    own.mkdir(exist_ok=True)
    stale = ("harness_packet.json", "packet.public.json", "results/properties.json")

    def plant() -> None:
        (own / "results").mkdir(exist_ok=True)
        for name in stale:
            (own / name).write_text('{"merge_ok": true}')

    # Stale: nothing could be judged.
    plant()
    folder = seal_folder(
        tmp_path / "sealed", {"p_slow": "import time\n\n\ndef holds(a, b):\n    time.sleep(20)\n"}, FIXTURES
    )
    manifest = (folder / "MANIFEST.json").read_bytes()
    (folder / "MANIFEST.json").write_bytes(b"{}")
    assert "is missing" in gate.run("harness", "--sealed", str(folder), check=2).stderr
    assert not any((own / name).exists() for name in stale)
    # Killed midway.
    (folder / "MANIFEST.json").write_bytes(manifest)
    plant()
    command = [sys.executable, str(gate.root / "tools/gate.py"), "harness", "--sealed", str(folder)]
    environment = {**git_env(), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        end = time.monotonic() + 60
        while (own / stale[0]).exists() and time.monotonic() < end:
            time.sleep(0.02)
        running.kill()
        assert running.communicate()[0] == b""
    assert not any((own / name).exists() for name in stale)
    # Through a link.
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    done = gate.run("harness", "--out", str(tmp_path / "link/packet.json"), check=2)
    assert "is a symbolic link" in done.stderr
    assert list((tmp_path / "target").iterdir()) == []
    (tmp_path / "target/fixtures.json").write_text("not ours")
    for name in ("results", "artifacts"):
        shutil.rmtree(own / name, ignore_errors=True)
        (own / name).symlink_to(tmp_path / "target")
        assert "is a symbolic link" in gate.run("harness", check=2).stderr
        assert not (own / "harness_packet.json").exists()
        assert [path.name for path in (tmp_path / "target").iterdir()] == ["fixtures.json"]
        (own / name).unlink()


def test_a_patch_can_neither_bring_nor_write_a_packet_nor_lie_its_way_through(gate: Gate) -> None:
    own = gate.root / ".gate"
    forged = '{"schema": "merge-packet-v1", "verdict": "eligible", "merge_ok": true}'
    text = (
        "diff --git a/.gate/harness_packet.json b/.gate/harness_packet.json\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/.gate/harness_packet.json\n@@ -0,0 +1 @@\n+{forged}\n"
    )
    file = gate.root.parent / "forged.patch"
    file.write_text(text)
    assert {rule for rule, _ in rules(harness(gate, "--patch", str(file), check=1))} == {"denylist.hit"}
    # One that writes packets while it runs, and whose builtins lie in its own process.
    lies = (
        "import builtins\nimport contextlib\n\n"
        "with contextlib.suppress(OSError):\n"
        f"    for name in ('harness_packet.json', 'merge_packet.json', 'results/properties.json'):\n"
        f"        Path({str(own)!r}, name).write_text({forged!r})\n"
        "builtins.all = builtins.any = lambda *_: True\n"
        "class Liar(bytes):\n    __eq__ = lambda *_: True\n    __hash__ = bytes.__hash__\n"
        "builtins.bytes = Liar\n\n\ndef parse(data: bytes)"
    )
    bad = patch(gate, ("def parse(data: bytes)", lies), ACCEPTS_DUPLICATES)
    packet = harness(gate, "--patch", bad, check=1)
    assert rules(packet) == {("properties.failed", "p_refuses_broken")}
    assert json.loads((own / "results/properties.json").read_bytes())["properties"] == packet["properties"]


def test_nothing_sealed_crosses_back(gate: Gate) -> None:
    """What a generator may read names no id, no digest and no 16 bytes of a fixture; the packet names them."""
    files = {path.name: path.read_bytes() for path in (gate.root / "sealed/fixtures").iterdir()}
    manifest = json.loads((gate.root / "sealed/MANIFEST.json").read_bytes())
    ids = [item["id"] for item in (*manifest["properties"], *manifest["fixtures"])]
    digests = [item["sha256"] for item in (*manifest["properties"], *manifest["fixtures"])]
    bad = patch(gate, ACCEPTS_DUPLICATES)
    done = gate.run("judge", "--patch", bad, check=1, env={"CI": "true"})
    own = gate.root / ".gate"
    packet = (own / "merge_packet.json").read_bytes()
    assert all(id.encode() in packet for id in ids)
    assert all(digest.encode() in packet for digest in digests[3:])
    shared = {name: (own / name).read_bytes() for name in ("packet.public.json", "report.md")}
    shared |= {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    assert "properties.failed x1" in done.stdout
    shrunk = (own / "artifacts/counterexamples/001.bin").read_bytes()
    facts = json.loads((own / "artifacts/counterexamples/001.json").read_bytes())
    assert (facts["property"], facts["fixture"]) == ("p_refuses_broken", "name_twice")
    assert len(shrunk) == facts["shrunk_bytes"] < facts["fixture_bytes"]
    for name, text in shared.items():
        assert not [id for id in ids if id.encode() in text], name
        assert not [digest for digest in digests if digest[:12].encode() in text], name
        for data in files.values():
            windows = {data[at : at + 16] for at in range(len(data) - 15)}
            assert not [window for window in windows if window in text], name
        assert shrunk not in text, name
    assert shrunk not in packet


def test_a_counterexample_of_64_kib_is_shrunk(gate: Gate, tmp_path: Path) -> None:
    """The cause is five bytes in a JSON string; what is left must still be a document that the base formats."""
    gate.edit("oracle/gate.toml", "[lanes]", "[sealed]\nshrink_s = 1000\n\n[lanes]")
    commit_all(gate.root, "Time to shrink")
    fixture = b'"' + b"x" * 40_000 + b"CAUSE" + b"y" * 25_529 + b'"'
    assert len(fixture) == 64 << 10
    folder = seal_folder(tmp_path / "sealed", {"p_same": HOLDS}, {"f_large": fixture})
    bad = patch(
        gate, ("    return _scalar(value)\n", "    return _scalar(value).replace('CAUSE', 'cause')\n")
    )
    packet = harness(gate, "--sealed", str(folder), "--patch", bad, check=1)
    (row,) = packet["properties"]
    assert (row["failed_fixtures"], row["counterexample"]) == (["f_large"], "001.bin")
    assert (gate.root / ".gate/artifacts/counterexamples/001.bin").read_bytes() == b'"CAUSE"'
    # The next green run leaves none behind.
    assert harness(gate, "--sealed", str(folder), check=0)["properties"][0]["counterexample"] == ""
    assert not (gate.root / ".gate/artifacts/counterexamples").exists()
