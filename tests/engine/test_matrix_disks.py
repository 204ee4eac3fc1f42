"""A full disk and folders that cannot be written: one line, no verdict, nothing half written."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from oracle_gate.core.patching import submit_patch
from oracle_gate.core.settings import Settings
from support.disks import Place, can_mount, read_only, small_disk, small_files
from support.engine import state
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git_env
from support.objects import opened, repository
from support.patch_forms import new


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def run(gate: Gate, place: Place, temporary: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(gate.root / "tools/gate.py"), *words]
    return place.run(command, git_env() | {"TMPDIR": str(temporary)})


def no_verdict(done: subprocess.CompletedProcess[str], gate: Gate, *causes: str) -> None:
    """Exit 2, one line that names a cause, no packet and nothing that was being written."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("gate: "), done.stderr
    assert done.stderr.count("\n") == 1
    assert "; " in done.stderr
    assert any(cause in done.stderr for cause in causes), done.stderr
    assert not (gate.root / ".gate/merge_packet.json").exists()
    assert not list((gate.root / ".gate").rglob("*.json.*"))


#: KiB that fill up while the bootstrap makes its folder, exports the engine, while trees are written.
@pytest.mark.parametrize("kibibytes", [16, 200, 2600])
def test_judge_with_a_full_temporary_disk(quick: Gate, temporary: Path, kibibytes: int) -> None:
    quick.edit("README.md", "quick", "fast")
    place = small_disk(temporary, kibibytes) if can_mount() else small_files(4)
    before = state(quick.root / "oracle")
    no_verdict(
        run(quick, place, temporary, "judge"), quick, "No space left", "File too large", "No such file"
    )
    assert state(quick.root / "oracle") == before
    assert list(temporary.iterdir()) == [] or not can_mount()


@pytest.mark.parametrize("kibibytes", [2, 8])
def test_judge_where_no_file_may_grow(quick: Gate, temporary: Path, kibibytes: int) -> None:
    """Another errno, without a mount: files of the engine, or of git, are cut off."""
    quick.edit("README.md", "quick", "fast")
    no_verdict(
        run(quick, small_files(kibibytes), temporary, "judge"), quick, "File too large", "missing or forged"
    )


def test_judge_with_no_room_for_the_packet(quick: Gate, temporary: Path) -> None:
    (quick.root / ".gate").mkdir(exist_ok=True)
    quick.edit("README.md", "quick", "fast")
    if can_mount():
        done = run(quick, small_disk(quick.root / ".gate", 8), temporary, "judge")
    else:
        done = run(quick, small_files(256), temporary, "judge", "--out", "/dev/full/packet.json")
    no_verdict(done, quick, "No space left", "Not a directory")


def test_a_packet_folder_that_cannot_be_written(quick: Gate, temporary: Path) -> None:
    (quick.root / ".gate").mkdir(exist_ok=True)
    quick.edit("README.md", "quick", "fast")
    with read_only(quick.root / ".gate", temporary) as place:
        no_verdict(run(quick, place, temporary, "judge"), quick, "Read-only file system", "Permission denied")


def test_record_in_an_oracle_that_cannot_be_written(quick: Gate, temporary: Path) -> None:
    for name in ("digests", "provenance"):
        quick.write(f"oracle/{name}.json", "{}\n")
    commit_all(quick.root, "Unarmed")
    digest = quick.run("record", "--print-digest", check=0).stdout.strip()
    words = ("record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest)
    before = state(quick.root / "oracle")
    with read_only(quick.root / "oracle", temporary) as place:
        done = run(quick, place, temporary, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert "Read-only file system" in last or "Permission denied" in last
    assert last.startswith("gate: ")
    assert state(quick.root / "oracle") == before


def test_a_repository_that_cannot_be_written_is_judged(quick: Gate, temporary: Path) -> None:
    """With the packet elsewhere, nothing has to be written there."""
    quick.edit("README.md", "quick", "fast")
    out = temporary / "packet.json"
    with read_only(quick.root, temporary) as place:
        done = run(quick, place, temporary, "judge", "--out", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(out.read_bytes())["verdict"] == "eligible"


def test_a_full_disk_is_no_fault_of_the_patch(tmp_path: Path) -> None:
    """git dies in its own way when it cannot write; the patch must not be blocked for it."""
    base = repository(tmp_path / "r", {"a": "1\n"})
    patch = new("b", "".join(f"{random.Random(number).random()}\n" for number in range(20_000)))
    with opened(tmp_path / "store", tmp_path / "r") as store:
        assert submit_patch(store, tmp_path / "first", base, patch, Settings()).problems == ()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, hard))
        try:
            with pytest.raises(OSError, match="File too large"):
                submit_patch(store, tmp_path / "second", base, patch, Settings())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
