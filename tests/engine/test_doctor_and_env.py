"""doctor, explain and env: what is active, what a rule means, and an environment that is built once."""

from __future__ import annotations

import json
from pathlib import Path

from oracle_gate.core.policy import RULES
from support.engine import run_engine, state
from support.gate import Gate
from support.gitenv import commit_all, git
from support.objects import write_files
from support.quick import ROWS, rows_text


def checked(gate: Gate, code: int) -> dict[str, str]:
    """The state of each of doctor's checks, as `state text`."""
    done = run_engine(gate.root, "doctor")
    assert (done.code, done.stderr) == (code, ""), done
    lines = [line.split(None, 2) for line in done.stdout.splitlines()]
    return {name: f"{state_name} {text}" for state_name, name, text in lines}


def test_doctor_of_an_armed_repository(quick: Gate) -> None:
    found = checked(quick, 0)
    assert list(found) == ["tools", "base", "oracle", "environment", "machine", "sandbox", "guard"]
    for name in ("tools", "base", "oracle", "environment", "machine"):
        assert found[name].startswith("ok "), found[name]
    assert found["oracle"] == "ok 4 pin(s), 4 row(s), 0 without a pin"
    assert found["sandbox"].startswith("warning ")  # the quick repository asks for no isolation
    assert found["guard"].startswith("warning no pre-commit, pre-merge-commit, pre-push hook here")
    for name in ("pre-commit", "pre-merge-commit", "pre-push"):
        write_files(quick.root, {f".git/hooks/{name}": "#!/bin/sh\nexec pre-commit hook-impl\n"})
        (quick.root / ".git/hooks" / name).chmod(0o755)
    assert checked(quick, 0)["guard"] == "ok installed: pre-commit, pre-merge-commit, pre-push"
    (quick.root / ".git/hooks/pre-push").chmod(0o644)
    (quick.root / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    assert checked(quick, 0)["guard"].startswith("warning no pre-commit, pre-push hook here: run `pre-commit")
    git(quick.root, "config", "core.hooksPath", "elsewhere")
    assert checked(quick, 0)["guard"].startswith("warning core.hooksPath leads git to other hooks: run `git")


def test_doctor_names_what_stands_in_the_way_of_a_verdict(quick: Gate) -> None:
    provenance = quick.root / "oracle/provenance.json"
    provenance.write_text(json.dumps({**json.loads(provenance.read_bytes()), "python": "3.99"}))
    quick.write("corpus/inputs.jsonl", rows_text(*ROWS, {"id": "new", "argv": ["src/prog.sh"]}))
    commit_all(quick.root, "A row, made elsewhere")
    found = checked(quick, 0)
    assert found["oracle"] == "warning 4 pin(s), 5 row(s), 1 without a pin"
    assert "pins were recorded on" in found["machine"] and found["machine"].startswith("warning ")

    settings = (quick.root / "oracle/gate.toml").read_text()
    quick.write("oracle/gate.toml", "\n".join(line for line in settings.splitlines() if "python" not in line))
    quick.write("oracle/digests.json", "{}\n")
    commit_all(quick.root, "No interpreter, no pins")
    found = checked(quick, 2)
    assert found["oracle"].startswith("failed unarmed: ")
    assert found["environment"].startswith("failed ")
    assert "run `python3 tools/gate.py env`" in found["environment"]

    quick.write("oracle/gate.toml", "\n[replay]\nworkers = 'two'\n")
    commit_all(quick.root, "Bad settings")
    assert checked(quick, 2)["oracle"].startswith(
        "failed oracle/gate.toml:3: replay.workers is not a whole number"
    )


def test_explain_knows_every_rule(quick: Gate) -> None:
    listed = run_engine(quick.root, "explain")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(RULES)
    one = run_engine(quick.root, "explain", "replay.drift")
    assert one.stdout.splitlines() == [
        "replay.drift: block", "meaning: a pinned input gives another result",
        f"next step: {RULES['replay.drift'].next_step}",
    ]  # fmt: skip


def test_an_environment_is_built_once(gate: Gate) -> None:
    (folder,) = (gate.root / ".gate/env").iterdir()
    before = state(folder)
    done = run_engine(gate.root, "env")
    assert (done.code, done.stdout) == (0, f"env: ready in {folder}\n")
    assert state(folder) == before


def test_a_named_interpreter_needs_no_environment(quick: Gate) -> None:
    done = run_engine(quick.root, "env")
    assert (done.code, done.stdout) == (0, "env: [subject] python names an interpreter; nothing to build\n")
    assert not (quick.root / ".gate/env").exists()


def without_interpreter(quick: Gate, requirements: str) -> None:
    settings = (quick.root / "oracle/gate.toml").read_text()
    quick.write("oracle/gate.toml", "\n".join(line for line in settings.splitlines() if "python" not in line))
    quick.write("requirements/subject.txt", requirements)
    commit_all(quick.root, "An environment is needed")


def test_an_environment_that_cannot_be_built_leaves_nothing(quick: Gate, tmp_path: Path) -> None:
    without_interpreter(quick, "absent==1.0 --hash=sha256:" + "0" * 64 + "\n")
    done = run_engine(quick.root, "env", "--wheelhouse", str(tmp_path / "absent"))
    assert (done.code, done.stderr) == (
        2,
        f"gate: {tmp_path}/absent: no such folder; name a folder of wheels\n",
    )
    (tmp_path / "wheels").mkdir()
    pip = quick.run("env", "--wheelhouse", str(tmp_path / "wheels"), check=2)
    assert pip.stderr.splitlines()[-1] == (
        "gate: requirements/subject.txt: pip could not install; see its message above"
    )
    assert list((quick.root / ".gate/env").iterdir()) == []


def test_an_environment_is_not_built_through_a_link(quick: Gate, tmp_path: Path) -> None:
    without_interpreter(quick, "")
    (tmp_path / "outside").mkdir()
    (quick.root / ".gate").symlink_to(tmp_path / "outside")
    done = run_engine(quick.root, "env")
    assert (done.code, done.stderr.count("\n")) == (2, 1)
    assert f"{quick.root}/.gate: is a symbolic link" in done.stderr
    assert list((tmp_path / "outside").iterdir()) == []
