"""Planted leaks: the audit finds all but encrypted ones, verify, once pinned, all; clean workspaces give none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.gitenv import git
from support.hosts import Host, Made, run_script
from support.leaks import BESIDE_THE_TREE, ENCRYPTED, LEAKS, Plant


@pytest.mark.parametrize("name", LEAKS)
def test_planted_leak_is_found(name: str, host: Host, workspace: Made) -> None:
    LEAKS[name](Plant(workspace.folder, host))
    pin = workspace.pins["snapshot"]
    audited = host.audit(workspace.folder).findings
    assert bool(audited) == (name not in ENCRYPTED), audited
    script = run_script("verify", "--expect-commit", pin, str(workspace.folder))
    seen = name not in BESIDE_THE_TREE
    assert (script.returncode, script.stderr) == (int(seen), ""), script.stdout
    assert ("ORACLE LEAK" in script.stdout) == seen


@pytest.mark.parametrize("mode", ["snapshot", "sparse", "tarball"])
def test_clean_workspace_gives_no_finding(mode: str, host: Host, made: dict[str, Made]) -> None:
    workspace = made[mode]
    pin = workspace.pins["tree" if mode == "tarball" else "snapshot"]
    report = host.audit(workspace.folder)
    assert report.findings == ()
    assert report.counts["hidden"] > 8
    assert report.tree == ("" if mode == "tarball" else workspace.pins["tree"])
    for words in (["--expect-commit", pin], []):
        script = run_script("verify", *words, str(workspace.folder))
        assert (script.returncode, script.stderr) == (0, ""), script.stdout


CLONES = {
    "sparse checkout": ["--sparse"],
    "no blobs": ["--filter=blob:none", "--no-checkout"],
    "no trees": ["--filter=tree:0", "--no-checkout"],
    "depth 1": ["--depth=1"],
    "shared": ["--shared"],
    "bare": ["--bare"],
}


@pytest.mark.parametrize("form", CLONES)
def test_the_clones_that_leak_are_found(form: str, host: Host, made: dict[str, Made], tmp_path: Path) -> None:
    git(host.root, "config", "uploadpack.allowFilter", "true")
    git(
        tmp_path, "clone", "--quiet", *CLONES[form], f"file://{host.root}", "clone"
    ) if form != "shared" else git(tmp_path, "clone", "--quiet", "--shared", str(host.root), "clone")
    assert host.audit(tmp_path / "clone").findings
    pin = made["snapshot"].pins["snapshot"]
    assert run_script("verify", "--expect-commit", pin, str(tmp_path / "clone")).returncode == 1


def test_removing_and_committing_hides_nothing(host: Host, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--single-branch", f"file://{host.root}", "clone")
    git(tmp_path / "clone", "rm", "-r", "--quiet", "sealed", "oracle", "corpus")
    git(tmp_path / "clone", "commit", "--quiet", "--message", "Hide")
    found = host.audit(tmp_path / "clone").findings
    assert any(finding.kind == "hidden copy" and finding.where.startswith("blob ") for finding in found)


@pytest.mark.parametrize("name", ["committed_copy", "in_gzip", "name_in_a_document"])
def test_tarball_with_a_leak_is_found(name: str, host: Host, made: dict[str, Made], tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    shutil.copytree(made["tarball"].folder, folder)
    git(folder, "init", "--quiet")
    LEAKS[name](Plant(folder, host))
    assert host.audit(folder).findings
    shutil.rmtree(folder / ".git")
    assert run_script("verify", "--expect-commit", made["tarball"].pins["tree"], str(folder)).returncode == 1
