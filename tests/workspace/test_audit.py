"""The audit as a command: its report, what it must not obey, what may not stop or exhaust it, its growth."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oracle_gate.core.decode import decode_json
from oracle_gate.core.trees import walk
from oracle_gate.workspace import audit as audit_module
from oracle_gate.workspace import unpack
from oracle_gate.workspace.hidden import Index, windows
from oracle_gate.workspace.report import Audit
from support.gate import run_gate
from support.gitenv import commit_all, git
from support.hosts import SEALED, Host, Made

NOISE = SEALED["sealed/fixtures/f_noise.bin"]


def test_report_names_base_head_and_findings(host: Host, workspace: Made, tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    gate = host.root / "tools/gate.py"
    clean = run_gate(gate, "audit", str(workspace.folder), "--out", str(out), check=0)
    assert clean.stdout.startswith("no finding(s); looked at: ")
    (workspace.folder / "src/x").write_bytes(NOISE)
    git(workspace.folder, "add", "src/x")
    git(workspace.folder, "commit", "--quiet", "--message", "Work")
    first = decode_json(Audit, out.read_bytes(), "audit.json")
    done = run_gate(gate, "audit", str(workspace.folder), "--json", "--out", str(out), check=1)
    report = decode_json(Audit, out.read_bytes(), "audit.json")
    assert json.loads(done.stdout) == json.loads(out.read_bytes())
    assert (report.base, report.snapshot) == (workspace.pins["base"], workspace.pins["snapshot"])
    assert [report.head, report.tree] == git(
        workspace.folder, "rev-parse", "HEAD", "HEAD^{tree}"
    ).decode().split()
    assert (first.findings, first.hidden_sha256) == ((), report.hidden_sha256)
    blob, tree = git(workspace.folder, "rev-parse", "HEAD:src/x", "HEAD:src").decode().split()
    assert {found.detail for found in report.findings} == {"sealed/fixtures/f_noise.bin"}
    assert {(found.kind, found.where) for found in report.findings} == {
        ("hidden copy", "src/x"), ("hidden copy", f"blob {blob}"), ("hidden id", f"tree {tree}"),
        ("hidden id", ".git/index"),
    }  # fmt: skip
    # A log of a continuous integration run may be read by the generator.
    quiet = run_gate(gate, "audit", str(workspace.folder), check=1, env={"CI": "true"})
    assert "hidden copy: 2" in quiet.stdout
    assert "f_noise" not in quiet.stdout + quiet.stderr
    assert (
        "f_noise"
        in run_gate(gate, "audit", str(workspace.folder), "--verbose", check=1, env={"CI": "true"}).stdout
    )


@pytest.mark.parametrize("words", [["no/such"], ["."], [], ["x", "y"]])
def test_usage_errors_are_one_line(words: list[str], host: Host) -> None:
    words = [str(host.root) if word == "." else word for word in words]
    done = run_gate(host.root / "tools/gate.py", "audit", *words, check=2)
    assert done.stderr.startswith("gate: ")
    assert done.stderr.count("\n") == 1


def test_honest_work_gives_no_finding(host: Host, workspace: Made) -> None:
    folder = workspace.folder
    source = folder / "src/replay_demo/fmt.py"
    source.write_text(
        source.read_text().replace("    ", "  ")
        + "\n# sealed, oracle/ and corpus/inputs.jsonl are not mine\n"
    )
    (folder / "tests/public/test_more.py").write_text(
        'def test_more():\n    assert {"rows": [1, 2]} != {"id": 1}\n'
    )
    (folder / "tests/corpus").mkdir()
    (folder / "tests/corpus/own.bin").write_bytes(os.urandom(3000) + bytes(3000))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Handle keys and values; see tests/corpus")
    for setting, value in (
        ("user.name", "Somebody"), ("branch.main.remote", "."), ("branch.main.merge", "refs/heads/topic"),
        ("core.autocrlf", "input"), ("color.ui", "always"), ("advice.detachedHead", "false"), ("diff.noprefix", "true"),
    ):  # fmt: skip
        git(folder, "config", setting, value)
    git(folder, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(folder, "sparse-checkout", "disable")
    git(folder, "switch", "--quiet", "--create", "topic", "--track", "main")
    (folder / "NOTES").write_text(
        r"re.compile(rb'\x28\xb5\x2f\xfd|\u00e9|\0') = 0x3d; a == b; [1, 2, 3] * 40" + "\n"
    )
    (folder / "build/bin").mkdir(parents=True)
    (folder / "build/bin/python").symlink_to(sys.executable)
    (folder / "build/copy").write_bytes(b"# header\n" + source.read_bytes())
    assert host.audit(folder).findings == ()


def test_what_the_base_shows_anyway_is_no_leak(host: Host, tmp_path: Path) -> None:
    trusted = Host(tmp_path / "host")
    shutil.copytree(host.root, trusted.root, symlinks=True)
    shown = SEALED["sealed/properties/p_one.py"].splitlines(keepends=True)[:2]
    digest = hashlib.sha256(NOISE).hexdigest().encode()
    guide = b"".join([*shown, b"See sealed/fixtures/put_ok.bin, sha256 ", digest, b"\n"])
    (trusted.root / "GUIDE.md").write_bytes(guide)
    commit_all(trusted.root, "Show some of it")
    folder = tmp_path / "workspace"
    run_gate(trusted.root / "tools/gate.py", "workspace", "create", str(folder), check=0)
    (folder / "GUIDE.md").write_bytes(guide + b"More words.\n")
    assert trusted.audit(folder).findings == ()
    (folder / "GUIDE.md").write_bytes(guide + SEALED["sealed/properties/p_one.py"])
    assert {found.detail for found in trusted.audit(folder).findings} == {"sealed/properties/p_one.py"}


def canary(folder: Path, name: str) -> str:
    """A program that leaves a trace when somebody runs it."""
    program = folder.parent / f"canary-{name}"
    program.write_text(f"#!/bin/sh\necho ran >>'{folder.parent}/trace'\n")
    program.chmod(0o755)
    return str(program)


def test_nothing_of_the_workspace_is_run_or_followed(host: Host, workspace: Made, tmp_path: Path) -> None:
    folder = workspace.folder
    for name in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "diff.external",
        "filter.x.clean",
        "filter.x.smudge",
    ):
        git(folder, "config", name, canary(folder, name))
    (folder / ".git/info").mkdir()
    (folder / ".git/info/attributes").write_text("* filter=x diff=x\n")
    hooks = folder / ".git/hooks"
    for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(canary(folder, name), hooks / name)
    os.mkfifo(folder / "src/fifo")
    secret = tmp_path / "elsewhere"
    secret.write_bytes(NOISE)
    (folder / "src/link").symlink_to(secret)
    report = host.audit(folder)
    run_gate(host.root / "tools/gate.py", "workspace", "verify", str(folder), check=1)
    assert not (tmp_path / "trace").exists()
    kinds = {(found.kind, found.where) for found in report.findings}
    assert {("link", "src/link"), ("not looked into", "src/fifo"), ("setting", ".git/config")} <= kinds
    assert not [found for found in report.findings if found.kind.startswith("hidden")]


def test_file_that_cannot_be_opened_is_a_finding(
    host: Host, workspace: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def and_a_lost_file(folder: Path) -> Iterator[tuple[bytes, os.stat_result]]:
        yield from walk(folder)
        yield b"src/gone", os.lstat(folder / "README.md")

    monkeypatch.setattr(audit_module, "walk", and_a_lost_file)
    assert {(found.kind, found.where) for found in host.audit(workspace.folder).findings} == {
        ("not looked into", "src/gone")
    }


def test_attributes_that_cannot_be_read_are_a_finding(
    host: Host, workspace: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(number: int) -> Callable[..., list[str]]:
        def listxattr(path: Path, *, follow_symlinks: bool) -> list[str]:
            assert not follow_symlinks
            if path == workspace.folder / "README.md":
                raise OSError(number, os.strerror(number))
            return []

        return listxattr

    monkeypatch.setattr(os, "listxattr", refused(errno.EACCES), raising=False)
    assert [(found.kind, found.where) for found in host.audit(workspace.folder).findings] == [
        ("not looked into", "README.md")
    ]
    monkeypatch.setattr(os, "listxattr", refused(errno.ENOTSUP), raising=False)
    assert host.audit(workspace.folder).findings == ()


def zip_bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"{number}", bytes(1 << 20))
    return file.getvalue()


def nested_bomb() -> bytes:
    data = bytes(4 << 20)
    for _ in range(3):
        data = gzip.compress(data * 2)
    return data


BOMBS: dict[str, Callable[[], bytes]] = {
    "zip": zip_bomb,
    "gzip": lambda: gzip.compress(bytes(40 << 20)),
    "bzip2": lambda: bz2.compress(bytes(40 << 20)),
    "loose object": lambda: zlib.compress(b"blob %d\0" % (40 << 20) + bytes(40 << 20)),
    "many headers": lambda: b"PK\x03\x04" * 5000 + gzip.compress(bytes(1 << 20)) * 200,
    "nested": nested_bomb,
    "a sealed archive": lambda: b"7z\xbc\xaf\x27\x1c" + os.urandom(100),
    "a torn pack": lambda: b"PACK\0\0\0\2\0\0\0\1" + os.urandom(100),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_bounded_and_reported(
    name: str, host: Host, workspace: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = []
    decompress = unpack._decompress

    def counted(data: bytes, at: int, budget: unpack.Budget) -> bytes:
        output = decompress(data, at, budget)
        unpacked.append(len(output))
        return output

    monkeypatch.setattr(unpack, "_decompress", counted)
    monkeypatch.setattr(audit_module, "Budget", lambda: unpack.Budget(total=20 << 20, item=8 << 20))
    (workspace.folder / "src/x").write_bytes(BOMBS[name]())
    kinds = {(found.kind, found.where.split(" ")[0]) for found in host.audit(workspace.folder).findings}
    assert kinds == {("not looked into", "src/x")}
    assert sum(unpacked) < 40 << 20


def test_index_entry_is_not_taken_for_a_packed_stream() -> None:
    """An inode that ends in 5d before mode, user, group and size looks much like the header of an .lzma."""
    budget = unpack.Budget()
    entry = b"\x5d\0\0\x81\xa4" + bytes(8) + (700).to_bytes(4, "big") + bytes(range(1, 60))
    assert [how for how, _ in unpack.inside(b"DIRC" + entry * 9, budget) if how == "packed"] == []
    assert budget.unread == []


def test_pack_of_huge_objects_is_bounded(
    host: Host, workspace: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_module, "LARGEST", 1 << 20)
    git(workspace.folder, "hash-object", "-w", "--stdin", data=bytes(2 << 20))
    git(workspace.folder, "repack", "-a", "-d", "--keep-unreachable", "--quiet")
    found = host.audit(workspace.folder).findings
    assert [(f.kind, f.detail) for f in found] == [("not looked into", f"{2 << 20} bytes")]


def test_large_files_are_read_in_pieces(host: Host, workspace: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_module, "PIECE", 1 << 17)
    filling = os.urandom((1 << 17) - 300)
    (workspace.folder / "src/x").write_bytes(filling + NOISE + filling)
    assert {found.where for found in host.audit(workspace.folder).findings} == {"src/x"}


def test_every_run_of_55_bytes_is_evidence() -> None:
    hidden = "".join(f"{number * 7919 % 100003:x}z" for number in range(400)).encode()
    for step in (8, 1):
        index = Index(step=step)
        index.add(b"sealed/x", "0" * 40, hidden)
        for start in range(200):
            around = b"y" * (start % 9)
            assert index.evidence(around + hidden[start : start + 55] + around), (step, start)
        assert not index.evidence(b"y" + hidden[100:147] + b"y")


def test_windows_start_at_every_step() -> None:
    text = bytes(range(100))
    for width, step in ((16, 8), (48, 8), (48, 1), (20, 1)):
        expected = {text[at : at + width] for at in range(0, 101 - width, step)}
        assert set(windows(text, width, step)) == expected
        assert set(windows(text[: width - 1], width, step)) == set()


def test_work_does_not_grow_with_the_number_of_secrets() -> None:
    """Twenty times the secrets would take twenty times the time if each were searched for."""
    text = b"".join(b"%d %x\n" % (number, number * 7919) for number in range(60_000))

    def seconds(secrets: int) -> float:
        index = Index()
        for number in range(secrets):
            index.add(b"sealed/x%d" % number, f"{number:040x}", os.urandom(200))
        best = []
        for _ in range(3):
            started = time.process_time()
            assert not index.evidence(text)
            best.append(time.process_time() - started)
        return min(best)

    assert seconds(2000) < seconds(100) * 5
