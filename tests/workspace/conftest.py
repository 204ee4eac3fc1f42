"""A host that holds an oracle with a history, and the workspaces made from it; once a worker."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.archives import unpack
from support.baking import bake
from support.gate import armed_repository, run_gate
from support.gitenv import commit_all, git, make_repository
from support.hosts import SEALED, Host, Made


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """The scaffold with sealed files, one of them rewritten, and a branch that knows a later one."""
    root = make_repository(bake(tmp_path_factory.mktemp("host")))
    for path, data in SEALED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    fixture = root / "sealed/fixtures/put_ok.bin"
    fixture.write_bytes(b"KEY=first\nVALUE=an earlier fixture that was replaced since\n" * 3)
    commit_all(root, "Scaffold")
    fixture.write_bytes(SEALED["sealed/fixtures/put_ok.bin"])
    commit_all(root, "Seal")
    git(root, "switch", "--quiet", "--create", "later")
    (root / "sealed/fixtures/f_late.bin").write_bytes(
        b"KEY=late\nVALUE=a fixture of a branch nobody merged yet\n" * 3
    )
    commit_all(root, "A later fixture")
    git(root, "switch", "--quiet", "main")
    return Host(root)


@pytest.fixture(scope="session")
def made(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """One workspace of each mode, to be copied; the tarball is unpacked."""
    folder = tmp_path_factory.mktemp("made")
    result = {}
    for mode, name in (("snapshot", "snapshot"), ("sparse", "sparse"), ("tarball", "t.tar.gz")):
        done = run_gate(
            host.root / "tools/gate.py", "workspace", "create", str(folder / name), "--mode", mode, check=0
        )
        pins = dict(line.split() for line in done.stdout.splitlines())
        place = folder / name
        if mode == "tarball":
            unpack(place, folder / "unpacked")
            place = folder / "unpacked/workspace"
        result[mode] = Made(place, pins)
    return result


@pytest.fixture
def workspace(made: dict[str, Made], tmp_path: Path) -> Made:
    """A snapshot workspace of the test's own."""
    shutil.copytree(made["snapshot"].folder, tmp_path / "workspace", symlinks=True)
    return Made(tmp_path / "workspace", made["snapshot"].pins)


@pytest.fixture(scope="session")
def armed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """An armed repository, to be copied."""
    root = tmp_path_factory.getbasetemp()
    return armed_repository((root if worker_id == "master" else root.parent) / "armed")
