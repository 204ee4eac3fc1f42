"""A baked project follows the template with cruft, which looks for other delimiters than the template's."""

from __future__ import annotations

import json
from pathlib import Path

from support.baking import bake
from support.cruft import cruft, first_version, second_version
from support.gitenv import commit_all, git, make_repository
from support.trees import contents


def test_cruft_makes_what_cookiecutter_makes_and_brings_what_is_new(tmp_path: Path) -> None:
    template = first_version(tmp_path)
    cruft(tmp_path, "create", str(template), "--no-input", cwd=tmp_path)
    project = tmp_path / "replay-demo"
    made = contents(project)
    state = json.loads(made.pop(".cruft.json"))
    assert made == contents(bake(tmp_path / "plain"))
    make_repository(project)
    # Their own work stays: corpus, a README, a file of the template that they do without.
    (project / "README.md").write_text("Ours\n")
    (project / "corpus/inputs.jsonl").write_text("")
    (project / "AGENTS.md").unlink()
    ours = commit_all(project, "Start")
    newer = second_version(template)
    cruft(tmp_path, "update", "--skip-apply-ask", cwd=project)
    git(project, "add", "--all")
    changed = git(project, "diff", "--cached", "--name-only", ours).decode().split()
    assert changed == [
        ".cruft.json", ".gitignore", "tools/oracle_gate/render/more.py", "tools/oracle_gate/render/terminal.py",
    ]  # fmt: skip
    assert json.loads((project / ".cruft.json").read_bytes())["commit"] == newer != state["commit"]
    assert "x = 1 << 3 >> 1" in (project / "tools/oracle_gate/render/more.py").read_text()
    assert not [name for name in contents(project) if name.endswith((".rej", ".orig"))]
