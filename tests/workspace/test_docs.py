"""docs/workspace.md, executed: from the workspace to the pushed branch of a pull request."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from support.baking import SCAFFOLD, TEMPLATE
from support.gate import copy_repository
from support.gitenv import git, git_env


def test_the_documented_way_leads_to_a_pull_request(armed: Path, tmp_path: Path) -> None:
    gate = copy_repository(armed, tmp_path / "repository")
    git(gate.root, "init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    git(gate.root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    transfer = tmp_path / "transfer"
    transfer.mkdir()
    for name in ("verify.sh", "export.sh"):
        shutil.copy(SCAFFOLD / "tools/workspace" / name, transfer)
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", (TEMPLATE / "docs/workspace.md").read_text())
    assert len(blocks) == 6
    places = {"REPOSITORY": gate.root, "WORKSPACE": tmp_path / "workspace", "TRANSFER": transfer}
    done = subprocess.run(
        ["sh", "-ec", "\n".join(blocks)], env=git_env() | {name: str(place) for name, place in places.items()},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing hidden by name" in done.stdout
    assert "no finding(s)" in done.stdout
    by_patch, by_bundle = (line for line in done.stdout.splitlines() if line.startswith("verdict "))
    assert by_patch.startswith("verdict eligible")
    assert "UNVERIFIED" not in by_patch
    assert by_bundle.startswith("verdict eligible")
    assert "workspace UNVERIFIED" in by_bundle
    pushed = git(tmp_path / "origin.git", "log", "--format=%s", "-2", "reviewed-change").decode().splitlines()
    assert pushed == ["Say that it was reviewed", "Arm the oracle"]
    assert git(gate.root, "diff", "--stat", "main", "reviewed-change").decode().count("README.md") == 1
