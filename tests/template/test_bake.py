"""Baking: every kind of answer gives a whole project, with and without hooks, twice the same."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.baking import bake, bake_from
from support.gitenv import commit_all, git, make_repository
from support.trees import contents, executables

SAMPLE = {
    "corpus/data/broken.json",
    "corpus/data/nested.json",
    "corpus/data/numbers.json",
    "corpus/data/permuted.json",
    "sealed/fixtures/cut_short.json",
    "sealed/fixtures/name_twice.json",
    "sealed/fixtures/umlauts.json",
    "sealed/fixtures/weights.json",
    "sealed/properties/p_refuses_broken.py",
    "sealed/properties/p_stable_format.py",
    "sealed/properties/p_sum_of_members.py",
    "src/replay_demo/fmt.py",
    "src/replay_demo/sum_json.py",
    "tests/public/test_fmt.py",
    "tests/public/test_sum_json.py",
}
ODD_TEXT = 'Zo\u00eb "Z" O\'Neil \'\'\' """ # ${{ x }} {# \\ \U0001f600 end\\'
VARIANTS: list[dict[str, Any]] = [
    {},
    {"sample_program": "no"},
    {"author": ODD_TEXT, "description": ODD_TEXT, "project_name": ODD_TEXT},
    {"project_slug": "My.App_1", "package_name": "App1", "license": "BSD-3-Clause"},
    {"license": "Proprietary"},
]


@pytest.mark.parametrize("answers", VARIANTS)
def test_every_file_is_rendered(answers: dict[str, Any], tmp_path: Path) -> None:
    project = bake(tmp_path / "a folder with spaces", **answers)
    tree = contents(project)
    for name, data in tree.items():
        if not name.startswith("tools/"):
            assert b"cookiecutter" not in data + name.encode(), name
    assert tree["LICENSE"].strip()
    may_be_empty = ("inputs.jsonl", ".gitkeep", "__init__.py")
    assert [name for name, data in tree.items() if not data and not name.endswith(may_be_empty)] == []
    metadata = tomllib.loads(tree["pyproject.toml"].decode())["project"]
    assert metadata["authors"] == [{"name": answers.get("author", "The Replay Demo authors")}]
    assert metadata["description"] == answers.get("description", metadata["description"])
    assert metadata["name"] == project.name


def test_name_leads_to_slug_and_package(tmp_path: Path) -> None:
    project = bake(tmp_path, project_name="\u00dcber uns!")
    assert project.name == "uber-uns"
    assert (project / "src/uber_uns/fmt.py").is_file()


def test_bakes_are_byte_equal(tmp_path: Path) -> None:
    first, second = bake(tmp_path / "one"), bake(tmp_path / "two")
    assert contents(first) == contents(second)
    assert executables(first) == executables(second)


@pytest.mark.parametrize("sample", ["yes", "no"])
def test_hooks_change_no_content(sample: str, tmp_path: Path) -> None:
    checked = bake(tmp_path / "with", sample_program=sample)
    unchecked = bake(tmp_path / "without", sample_program=sample, accept_hooks=False)
    assert contents(checked) == contents(unchecked)


def test_sample_program_is_all_or_nothing(tmp_path: Path) -> None:
    with_sample, without = bake(tmp_path / "yes"), bake(tmp_path / "no", sample_program="no")
    assert set(contents(with_sample)) - set(contents(without)) == SAMPLE
    assert set(contents(without)) <= set(contents(with_sample))
    assert (without / "corpus/inputs.jsonl").read_bytes() == b""
    assert (without / "corpus/data").is_dir()
    assert b"fmt" not in (without / "README.md").read_bytes()


def test_run_bits_come_back(template: Path, tmp_path: Path) -> None:
    script = template / "<<cookiecutter.project_slug>>/tools/workspace/probe.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o644)
    assert "tools/workspace/probe.sh" in executables(bake_from(template, tmp_path / "out"))


def test_replay_file_bakes_the_same_again(template: Path, tmp_path: Path) -> None:
    answers = {"author": ODD_TEXT, "sample_program": "no"}
    first = bake_from(template, tmp_path / "first", extra_context=answers)
    replay = tmp_path / "replay/template.json"
    assert json.loads(replay.read_bytes())["cookiecutter"]["author"] == ODD_TEXT
    second = bake_from(template, tmp_path / "second", replay=str(replay))
    assert contents(first) == contents(second)


def test_home_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    assert (bake(tmp_path) / "tools/gate.py").is_file()


def test_the_first_commit_holds_every_file(tmp_path: Path) -> None:
    """No rule of the scaffold's .gitignore swallows a file of the scaffold."""
    project = make_repository(bake(tmp_path))
    baked = {name for name in contents(project) if not name.startswith(".git/")}
    commit_all(project, "Start from the template")
    assert set(git(project, "ls-files", "-z").decode().split("\0")) - {""} == baked
